"""Abaqus's ways of writing: parts and instances, systems, transforms, supports, internal dofs, substructures."""

import numpy as np
import pytest
from scipy.linalg import block_diag

from bough.errors import DescriptionError
from bough.flex import Superelement, read_abaqus, superelement
from bough.flex.deck import read_deck
from tests.flex.test_readers import assert_same, expected, shaft
from tests.flex.test_superelements import ROUNDED, craig_bampton, tower
from tests.support.tolerance import FORMULA


def deck(tmp_path, text, name="model.inp"):
    (tmp_path / name).write_text(text)
    return read_deck(tmp_path / name, "read_abaqus")


# ---- input files -----------------------------------------------------------------------------------------------------------
def test_instances_are_placed(tmp_path):
    """Moved along, then turned about an axis that does not go through the origin."""
    part = "*Part, name=bar\n*Node, nset=both\n 3, 1., 0., 0.\n 5, 2., 0., 0.\n*Element, type=B31, elset=bars\n1, 3, 5\n*End Part\n"
    place = "*Assembly, name=A\n*Instance, name=bar-1, part=bar\n 0., 0., 1.\n 1., 0., 0., 1., 0., 5., 90.\n*End Instance\n"
    found = deck(tmp_path, part + place + "*Nset, nset=END, instance=bar-1\n 5,\n*Nset, nset=OTHER\n bar-1.3,\n*End Assembly\n")
    assert found.labels.tolist() == [3, 5]
    assert found.position == pytest.approx(np.array([[1.0, 0, 1], [1, 1, 1]]))
    assert {name: each.tolist() for name, each in found.node_sets.items()} == {"BOTH": [3, 5], "END": [5], "OTHER": [3]}
    assert not found.renumbered
    twice = part + place + place.replace("bar-1", "bar-2").replace("*Assembly, name=A\n", "").replace("0., 0., 1.", "7., 0., 0.")
    found = deck(tmp_path, twice + "*Nset, nset=END, instance=bar-2\n 5,\n")
    assert found.labels.tolist() == [1, 2, 3, 4]
    assert found.node_sets["END"].tolist() == [4]
    assert found.renumbered
    assert found.elements[1][2] == [[3, 4]]


def test_systems_includes_generated_nodes_and_long_lines(tmp_path):
    (tmp_path / "more.csv").write_text("21, 0.5, 90., 2.\n")
    text = """*HEADING
 anything, even * stars
*SYSTEM
 1., 0., 0., 1., 1., 0., 0., 0., 0.
*NODE,
 NSET=FIRST
 1, 1.0D0
 4, 4.0
*SYSTEM
*NODE, SYSTEM=C, INPUT=more.csv
*NODE, SYSTEM=S
 22, 2., 0., 90.
*NGEN, NSET=LINE
 1, 4, 1
*ELEMENT, TYPE=C3D20, ELSET=SOLID
 7, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
 16, 17, 18, 19, 20
*NSET, NSET=OF, ELSET=SOLID
*NSET, NSET=ALL, GENERATE
 1, 22, 7
*NSET, NSET=BOTH
 LINE, 21
"""
    found = deck(tmp_path, text)
    places = dict(zip(found.labels.tolist(), found.position.tolist(), strict=True))
    assert places[1] == pytest.approx([1, 1, 0])  # x along y
    assert places[3] == pytest.approx([1, 3, 0])
    assert places[21] == pytest.approx([0, 0.5, 2])
    assert places[22] == pytest.approx([0, 0, 2])
    sets = {name: each.tolist() for name, each in found.node_sets.items()}
    assert sets.pop("OF") == list(range(1, 21))
    assert sets == {"FIRST": [1, 4], "LINE": [1, 2, 3, 4], "ALL": [1, 8, 15, 22], "BOTH": [1, 2, 3, 4, 21]}
    for wrong, match in (
        ("*NODE\n1, x\n", "a line under .NODE that is not numeric"),
        ("*NODE\n1, 0.\n1, 1.\n", "node 1 is defined twice, at different places"),
        ("*NODE\n1\n*NCOPY\n", r"makes its mesh by \*NCOPY, which is not supported"),
        ("*ELEMENT, TYPE=B31\n1, 1, 2\n", r"has no \*NODE"),
        ("*INCLUDE, INPUT=model.inp\n", "includes itself"),
    ):
        with pytest.raises(DescriptionError, match=match):
            deck(tmp_path, wrong)


# ---- matrices --------------------------------------------------------------------------------------------------------------
def write_model(tmp_path, place, K, M, extra="", dofs=None):
    """Named dofs, lower triangle, as MATRIX INPUT has them."""
    nodes = "\n".join(f"{i + 1}, " + ", ".join(f"{each:.17g}" for each in spot) for i, spot in enumerate(place))
    (tmp_path / "shaft.inp").write_text(f"*NODE, NSET=ALL\n{nodes}\n*NSET, NSET=MID\n 3, 4\n{extra}")
    dofs = dofs or [(i + 1, k) for i in range(len(place)) for k in range(1, 7)]
    for kind, matrix in (("STIF", K), ("MASS", M)):
        lines = [
            f"{a},{b}, {c},{d}, {matrix[i, j]:.15e}"
            for i, (a, b) in enumerate(dofs) for j, (c, d) in enumerate(dofs[: i + 1]) if matrix[i, j]
        ]  # fmt: skip
        (tmp_path / f"shaft_{kind}2.mtx").write_text("\n".join(lines))
    return tmp_path / "shaft.inp"


OPTIONS = {"attach": {"root": 1, "tip": 7}, "inboard": "root"}


def test_supports_are_lifted(tmp_path):
    """1e36 on the diagonal of clamped dofs, translations and rotations: the free body comes back."""
    place, M, K = shaft()
    held = K.copy()
    for dof in (*range(6), 38, 40):
        held[dof, dof] = 1e36
    model = read_abaqus(write_model(tmp_path, place, held, M), **OPTIONS)
    assert_same(model.reduce(modes=5), expected(place, M, K))
    assert model.check(modes=2).zero_modes == 6
    assert model.notes == ("8 dofs have supports (*BOUNDARY), which are removed: the body is free",)


@pytest.mark.parametrize("kind", ["R", "C", "S"])
def test_transformed_dofs(tmp_path, kind):
    """Nodes 3 and 4 have dofs along axes of their own, one of them supported."""
    place, M, K = shaft()
    a, b = np.array([0.3, -0.2, 0.5]), np.array([0.1, 0.9, -0.4])
    local = np.eye(3)[None].repeat(len(place), axis=0)
    for node in (2, 3):
        x, y = (a, b) if kind == "R" else (place[node] - a, b - a)
        if kind == "R":
            e1 = x / np.linalg.norm(x)
            e3 = np.cross(x, y) / np.linalg.norm(np.cross(x, y))
            e2 = np.cross(e3, e1)
        else:
            axis = y / np.linalg.norm(y)
            out = x - axis * (axis @ x) if kind == "C" else x
            e1 = out / np.linalg.norm(out)
            e2 = np.cross(axis, x) / np.linalg.norm(np.cross(axis, x))
            e3 = axis if kind == "C" else np.cross(e1, e2)
        local[node] = np.stack([e1, e2, e3])
    turn = block_diag(*(each for pair in local for each in (pair, pair)))
    stiffness = turn @ K @ turn.T
    stiffness[13, 13] = stiffness[22, 22] = 1e36
    extra = f"*TRANSFORM, NSET=MID, TYPE={kind}\n" + ", ".join(f"{each}" for each in (*a, *b)) + "\n"
    model = read_abaqus(write_model(tmp_path, place, stiffness, turn @ M @ turn.T, extra), **OPTIONS)
    assert_same(model.reduce(modes=5), expected(place, M, K))


def test_internal_dofs_are_condensed(tmp_path):
    """Two dofs of node -1 without mass, as beams have: exact; with mass they are refused."""
    place, M, K = shaft()
    rng = np.random.default_rng(0)
    inner, link = np.diag([3e6, 5e6]), 1e4 * rng.normal(size=(2, len(K)))
    whole = np.block([[inner, link], [link.T, K + link.T @ np.linalg.solve(inner, link)]])
    dofs = [(-1, 1), (-1, 2), *((i + 1, k) for i in range(len(place)) for k in range(1, 7))]
    model = read_abaqus(write_model(tmp_path, place, whole, block_diag(np.zeros((2, 2)), M), dofs=dofs), **OPTIONS)
    assert_same(model.reduce(modes=5), expected(place, M, K))
    assert model.notes == ("2 internal dofs without mass are condensed",)
    path = write_model(tmp_path, place, whole, block_diag(np.eye(2), M), dofs=dofs)
    with pytest.raises(DescriptionError, match="dof 1 of node -1 is an internal one and has mass"):
        read_abaqus(path)
    whole[0, 0] = 0.0
    path = write_model(tmp_path, place, whole, block_diag(np.zeros((2, 2)), M), dofs=dofs)
    with pytest.raises(DescriptionError, match="is an internal one that the stiffness does not determine"):
        read_abaqus(path)


def test_rows_of_solids_and_shells_together(tmp_path):
    """COORDINATE format: three dofs for nodes of a solid, six where a shell or a beam is."""
    place = shaft()[0]
    keep = [i for i in range(42) if i // 6 not in (5, 6) or i % 6 < 3]
    lines = [f"{i + 1}, {', '.join(map(str, spot))}" for i, spot in enumerate(place.tolist())]
    beams = "\n".join(f"{i}, {i}, {i + 1}" for i in range(1, 5))
    mesh = f"\n*ELEMENT, TYPE=B31\n{beams}\n*ELEMENT, TYPE=T3D2\n5, 5, 6\n6, 6, 7\n"
    (tmp_path / "mix.inp").write_text("*NODE\n" + "\n".join(lines) + mesh)
    truss = np.zeros((42, 42))
    for a in (4, 5):
        along = (place[a + 1] - place[a]) / np.linalg.norm(place[a + 1] - place[a])
        ends = np.zeros(42)
        ends[6 * a : 6 * a + 3], ends[6 * a + 6 : 6 * a + 9] = along, -along
        truss += 1e6 * np.outer(ends, ends)
    beam = shaft(elements=6)[2]
    beam[30:] = 0.0
    beam[:, 30:] = 0.0
    whole = (beam + truss)[np.ix_(keep, keep)]
    mass = np.diag([2.0 if i % 6 < 3 else 0.01 for i in keep])
    for name, matrix in (("STIF1", whole), ("MASS1", mass)):
        rows = [f"{i + 1} {j + 1} {matrix[i, j]:.15e}" for i in range(len(keep)) for j in range(len(keep)) if matrix[i, j]]
        (tmp_path / f"mix{name}.mtx").write_text("\n".join(rows))  # without an underscore
    model = read_abaqus(tmp_path / "mix.inp")
    found = model.stiffness.toarray()
    assert found == pytest.approx(beam + truss, abs=FORMULA * np.abs(found).max())


def test_wrong_lines_and_formats_are_named(tmp_path):
    place, M, K = shaft()
    path = write_model(tmp_path, place, K, M)
    (tmp_path / "shaft_STIF2.mtx").write_text("1,1, 1,1, 5.0\n1,2, 1,1, oops\n")
    with pytest.raises(DescriptionError, match=r"shaft_STIF2.mtx, line 2 of its data, is not numeric"):
        read_abaqus(path)
    (tmp_path / "shaft_STIF2.mtx").write_text("1,1, 1,1, 5.0\n1,2, 1,1\n")
    with pytest.raises(DescriptionError, match=r"shaft_STIF2.mtx is not a stif matrix"):
        read_abaqus(path)
    (tmp_path / "shaft_STIF2.mtx").write_text("1 1 5.0\n")
    with pytest.raises(DescriptionError, match="stiffness and mass have different formats"):
        read_abaqus(path)


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("*NODE\n1, 0,5, 0,5, 0,5", "seven numbers a line, and none a decimal point .*; write decimal points, not commas"),
        ("*NODE\n1 0 0 0", r"has a line under \*NODE that is not numeric"),
        ("*NODE\n1, nan, 0., 0.", r"has a line under \*NODE that is not numeric"),
        ("*NODE\n1, 0., 0., 0.\n*NGEN\n1, 5, 1", r"\*NGEN goes from node 1 to 5; give node 5"),
        ("*NODE\n1, 0., 0., 0.\n*NSET, NSET=A, GENERATE\n1, 999999999, 1", r"has a line under \*NSET"),
        ("*NODE\n1, 0., 0., 0.\n*INCLUDE, INPUT=none.inp", r"none.inp' does not exist; copy it beside model.inp"),
    ],
)
def test_input_files_that_no_tool_writes(tmp_path, text, match):
    with pytest.raises(DescriptionError, match=match):
        deck(tmp_path, text)


def test_matrices_in_other_letters_and_none(tmp_path):
    deck(tmp_path, "*NODE\n1, 0., 0., 0.\n2, 1., 0., 0.\n")
    entries = "\n".join(f"{node} , {dof} , {node} , {dof} , 1.0d+0" for node in (1, 2) for dof in (1, 2, 3))
    for name in ("k", "m"):
        (tmp_path / f"{name}.mtx").write_bytes(entries.replace("\n", "\r\n").encode("utf-16"))
    assert read_abaqus(tmp_path / "model.inp", tmp_path / "k.mtx", tmp_path / "m.mtx").n_dofs == 6
    (tmp_path / "k.mtx").write_text("** nothing\n")
    with pytest.raises(DescriptionError, match=r"k.mtx is not a stif matrix of \*MATRIX OUTPUT"):
        read_abaqus(tmp_path / "model.inp", tmp_path / "k.mtx", tmp_path / "m.mtx")


# ---- substructures ---------------------------------------------------------------------------------------------------------
def numbered_lines(matrix, whole=False):
    """Lower triangle by rows, each begun on a new line of at most four numbers; or, UNSYMM, all columns."""
    lines = []
    for i in range(len(matrix)):
        row = [f"{each: .16E}    " for each in (matrix[:, i] if whole else matrix[i, : i + 1])]
        for j in range(0, len(row), 4):
            lines.append(",".join(row[j : j + 4]) + ("," if len(row) - j == 1 else ""))
    return lines


def user_element(nodes, dofs, matrices, whole=False):
    """A file of *SUBSTRUCTURE MATRIX OUTPUT: ten nodes a line, dofs from a node on, then the matrices."""
    text = ["**", "** GENERATION OF SUBSTRUCTURE Z1      ", f"*USER ELEMENT, NODES= {len(nodes):9d}, LINEAR" + ", UNSYMM" * whole]
    rows = ["**" + ", ".join(f"{each:11d}" for each in nodes[i : i + 10]) for i in range(0, len(nodes), 10)]
    text += ["** ELEMENT NODES", ", \n".join(rows), "** NODE NUMBERS WHICH ARE NOT POSITIVE INDICATE Abaqus INTERNAL NODES."]
    text += [", ".join(f"{each:11d}" for each in line) for line in dofs]
    for kind, matrix in matrices.items():
        text += [f"*MATRIX,TYPE={kind}", *numbered_lines(matrix, whole)]
    return "\n".join(text) + "\n"


def substructure():
    """A tower with its ends kept and 15 modes: nodes 1 and 11, and internal ones; its matrices and the places of its nodes."""
    M, K, place = tower()
    T = craig_bampton(M, K, np.r_[0:6, len(K) - 6 : len(K)], 15)
    return {"STIFFNESS": T.T @ K @ T, "MASS": T.T @ M @ T}, place


NODES = [1, 11, *range(-1, -16, -1)]
DOFS = [[1, 2, 3, 4, 5, 6], [3, 1]]


def inp(path, place, more=""):
    path.write_text("*NODE\n" + "\n".join(f"{i + 1}, {x}, {y}, {z}" for i, (x, y, z) in enumerate(place)) + more)
    return path


@pytest.mark.parametrize(
    "kind", ["plain", "lower case", "windows", "unsymmetric", "damped", "other file", "by dofs", "transformed"]
)
def test_substructure_with_modes(tmp_path, kind):
    matrices, place = substructure()
    model, nodes, dofs = inp(tmp_path / "tower.inp", place), NODES, DOFS
    if kind == "damped":
        matrices["VISCOUS DAMPING"] = 1e-4 * matrices["STIFFNESS"]
    if kind == "by dofs":  # as CalculiX lists them: a node for each dof
        nodes, dofs = [1] * 6 + [11] * 6 + NODES[2:], [[1], *([i + 1, i % 6 + 1] for i in range(1, 12)), [13, 1]]
    known = {name: each.copy() for name, each in matrices.items()}
    if kind == "transformed":
        inp(model, place, "\n*NSET, NSET=TIP\n11\n*TRANSFORM, NSET=TIP\n0., 1., 0., -1., 0., 0.\n")
        turn = block_diag(np.eye(6), *[np.array([[0.0, 1, 0], [-1, 0, 0], [0, 0, 1]])] * 2, np.eye(15))
        matrices = {name: turn @ each @ turn.T for name, each in matrices.items()}
    text = user_element(nodes, dofs, matrices, whole=kind == "unsymmetric")
    if kind == "other file":
        text, mass = text.split("*MATRIX,TYPE=MASS\n")
        (tmp_path / "mass.txt").write_text(mass)
        text += "*MATRIX, INPUT=mass.txt, TYPE=MASS\n"
    text = {"lower case": text.lower(), "windows": text.replace("\n", "\r\n")}.get(kind, text)
    (tmp_path / "sub.mtx").write_bytes(text.encode())
    found = read_abaqus(model, substructure=tmp_path / "sub.mtx", attach={"root": 1, "tip": 11}, inboard="root")
    assert isinstance(found, Superelement)
    viscous = known.get("VISCOUS DAMPING")
    other = superelement(known["MASS"], known["STIFFNESS"], {"root": place[0], "tip": place[-1]}, inboard="root", C=viscous)
    body = found.reduce()
    assert body.frequencies == pytest.approx(other.frequencies, rel=ROUNDED)
    assert body.mass == pytest.approx(other.mass, rel=FORMULA)
    assert np.abs(body.D - other.D).max() <= ROUNDED * np.abs(other.D).max()


def test_substructures_that_are_not_understood_are_named(tmp_path):
    matrices, place = substructure()
    model = inp(tmp_path / "tower.inp", place)
    whole = user_element(NODES, DOFS, matrices)

    def refused(text, match, deck=model):
        (tmp_path / "sub.mtx").write_text(text)
        with pytest.raises(DescriptionError, match=match):
            read_abaqus(deck, substructure=tmp_path / "sub.mtx")

    refused(whole[: len(whole) // 3], r"the stiffness matrix of sub.mtx holds \d+ numbers, not 378 for 27 dofs; give the whole")
    refused(whole.split("*MATRIX,TYPE=MASS")[0], "the mass matrix of sub.mtx holds 0 numbers, .*; write it with MASS=YES")
    refused(whole + whole, r"sub.mtx holds 2 \*USER ELEMENT, not one; give .* of one substructure")
    refused("1, 1, 3.0\n", r"sub.mtx holds 0 \*USER ELEMENT")
    refused(whole.replace("** ELEMENT NODES", "**"), "sub.mtx lists 0 ELEMENT NODES in its comments, not 17; give the whole")
    refused(whole.replace(" 1.", " x1.", 1), "sub.mtx has a line that is not numeric")
    refused(user_element([1, 12, *NODES[2:]], DOFS, matrices), "node 12 of sub.mtx has no coordinates in the input file")
    warm = [[1, 2, 3, 4, 5, 11], [2, 1, 2, 3, 4, 5, 6], [3, 1]]
    refused(user_element(NODES, warm, matrices), "node 1 of sub.mtx keeps dof 11, not one of a motion; .* dofs 1 to 6")
    damped = matrices | {"STRUCTURAL DAMPING": 0.01 * matrices["STIFFNESS"]}
    refused(user_element(NODES, DOFS, damped), "has a matrix of type STRUCTURAL DAMPING, which is not supported; write it without")
    turned = inp(tmp_path / "turned.inp", place, "\n*NSET, NSET=TIP\n11\n*TRANSFORM, NSET=TIP\n0., 1., 0., -1., 0., 0.\n")
    some = np.r_[0:8, 12:27]
    few = {name: each[np.ix_(some, some)] for name, each in matrices.items()}
    less = [[1, 2, 3, 4, 5, 6], [2, 1, 2], [3, 1]]
    refused(user_element(NODES, less, few), "interface 11 has axes of its own, and of three dofs only x, y; keep all three", turned)
    with pytest.raises(DescriptionError, match=r"none.mtx' does not exist; give the path of a .mtx file"):
        read_abaqus(model, substructure=tmp_path / "none.mtx")


def test_keywords_that_a_substructure_cannot_use_are_refused(tmp_path):
    matrices, place = substructure()
    model, files = inp(tmp_path / "tower.inp", place), tmp_path / "sub.mtx"
    files.write_text(user_element(NODES, DOFS, matrices))
    with pytest.raises(DescriptionError, match="spiders need the matrices of the whole structure"):
        read_abaqus(model, substructure=files, spiders={"hub": [1, 11]})
    mass = read_abaqus(model, substructure=files).reduce().mass
    assert read_abaqus(model, substructure=files, declared_mass=mass).reduce().mass == mass
    with pytest.raises(DescriptionError, match=r"mass is 1 kg but the mass matrix holds .* kg; check the units"):
        read_abaqus(model, substructure=files, declared_mass=1.0)
