"""What is told about a structure before anything runs, and the commands that tell it."""

import warnings

import numpy as np
import pytest
from scipy.linalg import block_diag

from bough.cli import main
from bough.errors import DescriptionError
from bough.flex import beam_model, from_matrices, matrices_model
from bough.flex.structure_check import check_modes, check_superelement
from bough.flex.structure_files import read_structure
from tests.flex.test_readers import bulk_text, dmig, shaft


def girder(elements=6):
    model = beam_model(2.0, E=7e10, G=2.7e10, area=1e-3, Iy=8e-8, Iz=5e-8, J=1e-7, density=2700.0, elements=elements)
    return model.mass.toarray(), model.stiffness.toarray(), model.position


def test_free_structure():
    M, K, place = girder()
    report = matrices_model(M, K, place, attach={"root": 0}, inboard="root").check(
        modes=12, mass=5.4, com=(1.0, 0, 0), inertia=np.diag([2700 * 1.3e-7 * 2, 1.8, 1.8])
    )
    assert not report.problems
    assert report.zero_modes == 6
    assert report.mass == pytest.approx(5.4)
    assert report.left_out[0] == pytest.approx(1.0)  # no axial mode is among twelve
    assert report.left_out[1:3].max() < 0.05  # beyond six modes a plane 4/b^2 are 0.07, part of it held at the root
    assert (report.left_out >= 0).all()
    text = repr(report)
    for piece in ("7 nodes, 42 dofs", "mass          5.4 kg", "6 at zero", "left out", "rx"):
        assert piece in text


def test_declared_values_that_differ_are_named():
    M, K, place = girder()
    report = matrices_model(M, K, place).check(modes=2, mass=5.4e-3, com=(0.9, 0, 0), inertia=(1.0, 1.0, 1.0))
    assert [text.split(" is ")[0] for text in report.problems] == ["the mass", "the mass center", "the inertia"]
    assert "check units" in report.problems[0]


def test_grounding_is_named_with_its_dofs():
    M, K, place = girder()
    K[6 * 3 + 2, 6 * 3 + 2] += 1e6  # a spring to the ground along z at node 3
    model = matrices_model(M, K, place)
    [along, about] = model.check(modes=2).problems
    assert "rigid motion z is not free" in along
    assert "grounded at node 3, z" in along
    assert "rigid motion ry is not free" in about
    assert any("grounded at node 3, z" in note for note in model.notes)  # on reading, too


def test_loose_part_is_named():
    M, K, place = girder(elements=2)
    report = matrices_model(block_diag(M, M), block_diag(K, K), np.vstack([place, place + np.array([0, 1.0, 0])])).check(modes=8)
    assert report.zero_modes == 12
    assert "6 more than rigid motion: parts are loose, above all node" in report.problems[0]


def test_modes_with_masses_are_checked():
    """Of a fixed beam: what modes leave out; told without its inboard node, the nodes that rest are named."""
    from bough.flex.given_modes import GivenModes, placed_modes
    from tests.flex.test_superelements import report

    body, place, lumps, shapes, inertias = report(fixed=True)
    none = np.zeros((len(place), 3))
    given = GivenModes("from_modes", np.arange(1, len(place) + 1), place, lumps, inertias, none, body.frequencies, shapes)
    found = check_modes(placed_modes(given, {"root": 0}, "root", None), mass=5.4)
    assert not found.problems
    assert found.mass == pytest.approx(5.4)
    assert found.com == pytest.approx([0, 0, 1])
    assert found.fixed == pytest.approx(body.frequencies)
    by_hand = 1 - (body.integrals.t**2).sum(axis=0) / (5.4 - 0.27)
    assert found.left_out[:3] == pytest.approx(by_hand)
    loose = check_modes(given, mass=5.0)
    assert "the mass is 5.4 kg by the matrices, but 5 is declared" in loose.problems[0]
    assert "nodes 1 rest: give attach={'root': [1]} and inboard='root'" in loose.problems[1]
    assert "rigid modes   0 at zero\n" in repr(loose)


def test_superelements_are_checked():
    from bough.flex.superelements import Superelement
    from tests.flex.test_superelements import craig_bampton, tower

    M, K, place = tower()
    T = craig_bampton(M, K, np.r_[0:6, len(K) - 6 : len(K)], 5)
    node, component = np.r_[[0] * 6, [1] * 6, [-1] * 5], np.r_[0:6, 0:6, [0] * 5]
    given = Superelement("superelement", ("root", "tip"), place[[0, -1]], node, component, T.T @ M @ T, T.T @ K @ T)
    found = check_superelement(given, modes=3, mass=5.4)
    assert found.zero_modes == 6
    assert len(found.free) == 3
    assert found.com == pytest.approx([0, 0, 1])
    assert "2 interfaces, 17 coordinates, 5 of them modal" in repr(found)
    assert "not determined: inertia terms of second order" in found.notes
    given.stiffness[7, 7] *= 2
    wrong = check_superelement(given)
    assert wrong.zero_modes is None
    assert "resists rigid motion" in wrong.problems[0]


# ---- commands --------------------------------------------------------------------------------------------------------------
@pytest.fixture
def deck(tmp_path):
    place, M, K = shaft(elements=3)
    text, _ = bulk_text([1, 2, 3, 4], place, [(0, 0)] * 4)
    rows = [(label, i) for label in (1, 2, 3, 4) for i in range(1, 7)]
    (tmp_path / "shaft.bdf").write_text("\n".join([text, dmig("KGG", K, rows), dmig("MGG", M, rows)]))
    return tmp_path / "shaft.bdf"


def run(capsys, *arguments):
    with pytest.raises(SystemExit) as caught:
        main(list(map(str, arguments)))
    return caught.value.code or 0, capsys.readouterr()


def test_flex_check(deck, capsys):
    code, said = run(capsys, "flex", "check", deck, "--inboard", "1", "--modes", "3", "--mass", "4.05")
    assert code == 0
    assert "4 nodes, 24 dofs" in said.out
    assert "left out" in said.out
    code, said = run(capsys, "flex", "check", deck, "--units", "mm-t-s", "--mass", "4.05")
    assert code == 1
    assert "PROBLEMS      the mass is 4050 kg by the matrices, but 4.05 is declared; check units" in said.out


def test_flex_modes(deck, capsys):
    code, said = run(capsys, "flex", "modes", deck, "--inboard", "1", "--modes", "2")
    assert code == 0
    assert "2 cantilever modes" in said.out
    assert said.out.count("%") >= 6


def test_flex_modes_are_animated(deck, capsys):
    """A page with the shapes to choose from; nothing is said of steps or stability, though the modes are fast."""
    page = deck.parent / "modes.html"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        code, said = run(capsys, "flex", "modes", deck, "--modes", "12", "--replay", page)
    assert code == 0
    assert said.err == ""
    assert "wrote" in said.out
    assert '"modes":12' in page.read_text().replace(" ", "")


def test_flex_of_a_yaml_file(deck, capsys):
    body = deck.parent / "body.yaml"
    body.write_text("nastran: {bulk: shaft.bdf, attach: {root: 1, tip: [4]}, inboard: root, modes: 3}\n")
    code, said = run(capsys, "flex", "check", body)
    assert code == 0
    assert "3 cantilever modes" in said.out
    system = deck.parent / "system.yaml"
    system.write_text(
        "name: craft\nbodies:\n  - name: boom\n    joint: weld\n"
        "    flexible: {nastran: {bulk: shaft.bdf, attach: {root: 1, tip: 4}, inboard: root, modes: 3, static: [tip]}}\n"
    )
    code, said = run(capsys, "flex", "modes", system)
    assert code == 0, said.err
    assert "boom: FlexibleBody(9 cantilever modes" in said.out


def test_unknown_files_are_named(tmp_path):
    with pytest.raises(DescriptionError, match="there is no such file"):
        read_structure(tmp_path / "none.bdf")
    (tmp_path / "part.step").write_text("")
    with pytest.raises(DescriptionError, match=r"files ending in '.step' are not known; give .bdf"):
        read_structure(tmp_path / "part.step")


def test_body_of_a_file(tmp_path):
    M, K, place = girder()
    body = from_matrices(M, K, place, attach={"root": 0}, inboard="root", modes=2)
    body.save(tmp_path / "girder.npz")
    assert read_structure(tmp_path / "girder.npz") == body
