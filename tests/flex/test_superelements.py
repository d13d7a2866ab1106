"""Reduced superelements, and modes with masses: the same body told in fewer numbers."""

import numpy as np
import pytest
from scipy.sparse import csr_array

import bough
from bough.errors import DescriptionError
from bough.flex import FlexibleBody, beam_model, from_matrices, from_modes, read_nastran, superelement
from bough.flex.reduction import mode_shapes
from tests.flex.test_readers import bulk_text, dmig
from tests.support.compare import solving
from tests.support.tolerance import SWEEP


def tower(elements=10):
    model = beam_model(
        2.0, E=7e10, G=2.7e10, area=1e-3, Iy=8e-8, Iz=5e-8, J=1e-7, density=2700.0, elements=elements, timoshenko=True, axis="z"
    )
    return model.mass.toarray(), model.stiffness.toarray(), model.position


ROUNDED = solving(tower()[1][6:, 6:])          # what a tower clamped at its root does


def craig_bampton(M, K, ends, modes):
    """By the book: the transformation (dofs, 12 + modes) of static and fixed-interface modes."""
    from scipy.linalg import eigh

    inner = np.setdiff1d(np.arange(len(K)), ends)
    T = np.zeros((len(K), len(ends) + modes))
    T[ends, np.arange(len(ends))] = 1.0
    T[np.ix_(inner, np.arange(len(ends)))] = -np.linalg.solve(K[np.ix_(inner, inner)], K[np.ix_(inner, ends)])
    T[np.ix_(inner, len(ends) + np.arange(modes))] = eigh(K[np.ix_(inner, inner)], M[np.ix_(inner, inner)])[1][:, :modes]
    return T


@pytest.fixture(scope="module")
def reduced():
    M, K, place = tower()
    ends = np.r_[0:6, len(K) - 6 : len(K)]
    T = craig_bampton(M, K, ends, 5)
    return M, K, place, T, T.T @ M @ T, T.T @ K @ T, {"root": place[0], "tip": place[-1]}


def test_superelement_is_the_same_body_read_whole(reduced):
    M, K, place, _, m, k, nodes = reduced
    body = superelement(m, k, nodes, inboard="root")
    whole = from_matrices(
        M, K, place, attach={"root": 0, "tip": 10}, inboard="root", reduction="craig-bampton", interfaces=["tip"], modes=5,
        variant="zeroth_order",
    )  # fmt: skip
    assert body.frequencies == pytest.approx(whole.frequencies, rel=ROUNDED)
    for name in ("m", "s0", "I0", "Mff"):
        expected = getattr(whole.integrals, name)
        assert np.allclose(getattr(body.integrals, name), expected, rtol=0, atol=ROUNDED * np.abs(expected).max()), name
    for name in ("t", "h"):                     # but for the signs of the modes
        expected = np.abs(getattr(whole.integrals, name))
        assert np.allclose(np.abs(getattr(body.integrals, name)), expected, rtol=0, atol=ROUNDED * expected.max()), name


def test_what_is_not_determined_is_said_and_refused(reduced):
    *_, m, k, nodes = reduced
    body = superelement(m, k, nodes, inboard="root")
    assert body.variant == "zeroth_order"
    assert "not determined: inertia terms of second order; motion-induced stiffness; shapes between interfaces" in repr(body)
    with pytest.raises(DescriptionError, match=r"variant 'full' needs inertia terms of second order.*give points="):
        superelement(m, k, nodes, inboard="root", variant="full")
    assert FlexibleBody.from_arrays(body.to_arrays()) == body


def swings(body, joint, load, **start):
    system = bough.System("tower")
    system.body("tower", joint=joint, flexible=body)
    force, moment = load * np.array([3.0, -2.0, 1.0]), load * np.array([0.1, 0.2, -0.1])
    system.wrench("push", body="tower", node="tip", force=force, moment=moment)
    result = bough.simulate(system.compile(), until=0.02, dt=2e-5, sample_rate=1000, record=["state", "nodes"], **start)
    return result.data.node_deflection.sel(node="tower.tip").values


def test_superelement_moves_as_the_body_read_whole(reduced):
    """Held at its root, half a micrometer of motion: the same. On a hinge that spins: apart by what it says it does not know."""
    M, K, place, _, m, k, nodes = reduced
    options = {"attach": {"root": 0, "tip": 10}, "inboard": "root", "reduction": "craig-bampton", "interfaces": ["tip"], "modes": 5}
    whole, body = from_matrices(M, K, place, **options), superelement(m, k, nodes, inboard="root")
    known, found = (swings(each, bough.Weld(), 1e-3) for each in (whole, body))
    assert np.abs(known).max() > 5e-7
    assert np.abs(found - known).max() < ROUNDED * np.abs(known).max()
    spin = {"v0": np.r_[20.0, np.zeros(body.n_modes)]}
    known, found = (swings(each, bough.Revolute("x"), 1.0, **spin) for each in (whole, body))
    apart = np.abs(found - known).max() / np.abs(known).max()
    assert 0.01 < apart < 0.5
    assert body.limits[0] == "inertia terms of second order"


def test_points_complete_it(reduced):
    M, K, place, T, m, k, nodes = reduced
    share = np.array([M[6 * i : 6 * i + 3].reshape(3, -1, 6)[0, :, 0].sum() for i in range(len(place))])
    points = {"position": place, "mass": share, "recovery": T}
    body = superelement(m, k, nodes, inboard="root", points=points)
    assert body.variant == "full"
    assert body.limits == ("motion-induced stiffness",)
    whole = from_matrices(
        M, K, place, attach={"root": 0, "tip": 10}, inboard="root", reduction="craig-bampton", interfaces=["tip"], modes=5
    )
    expected = whole.integrals.I2[0, 0]
    assert np.allclose(body.integrals.I2[0, 0], expected, atol=0.02 * np.abs(expected).max())  # lumped against consistent
    with pytest.raises(DescriptionError, match=r"its points weigh .* kg, its mass matrix 5.4 kg"):
        superelement(m, k, nodes, inboard="root", points=points | {"mass": 2 * share})
    with pytest.raises(DescriptionError, match=r"recovery has shape \(66, 16\); give \(33, 17\) or \(66, 17\)"):
        superelement(m, k, nodes, inboard="root", points=points | {"recovery": T[:, :-1]})


def test_free_superelement_carries_no_momentum(reduced):
    *_, m, k, nodes = reduced
    body = superelement(m, k, nodes)
    assert body.n_modes == 17 - 6
    assert np.abs(body.integrals.t).max() < ROUNDED
    assert np.abs(body.integrals.h).max() < ROUNDED


def test_modal_coordinates_that_move_with_the_interfaces(reduced):
    """Any other basis of the same space: modal coordinates shifted by interface motion; the physics is the same."""
    *_, m, k, nodes = reduced
    mix = np.eye(17)
    mix[12:, :12] = np.random.default_rng(0).normal(size=(5, 12)) * 0.1
    body, other = superelement(m, k, nodes, inboard="root"), superelement(mix.T @ m @ mix, mix.T @ k @ mix, nodes, inboard="root")
    assert other.frequencies == pytest.approx(body.frequencies, rel=ROUNDED)
    assert other.mass == pytest.approx(body.mass)
    assert other.com == pytest.approx(body.com, abs=ROUNDED)


def test_external_superelement_of_nastran(reduced, tmp_path):
    """EXTSEOUT: interface grid points, scalar points for the modes, KAAX and MAAX as DMIG."""
    _, _, place, _, m, k, nodes = reduced
    text, _ = bulk_text([101, 205], [place[0], place[-1]], [(0, 0), (0, 0)])
    rows = [(101, i) for i in range(1, 7)] + [(205, i) for i in range(1, 7)] + [(9000 + i, 0) for i in range(1, 6)]
    deck = [text, "SPOINT,9001,THRU,9005", dmig("KAAX", k, rows), dmig("MAAX", m, rows), dmig("BAAX", 1e-4 * k, rows)]
    (tmp_path / "ext.pch").write_text("\n".join(deck))
    element = read_nastran(tmp_path / "ext.pch", attach={"root": 101, "tip": 205}, inboard="root")
    body, expected = element.reduce(), superelement(m, k, nodes, inboard="root")
    assert body.frequencies == pytest.approx(expected.frequencies, rel=1e-5)  # ten digits in the file
    assert np.diagonal(body.D) == pytest.approx(1e-4 * np.diagonal(body.K), rel=ROUNDED)  # the same digits
    assert body.nodes.names == ("root", "tip")
    with pytest.raises(DescriptionError, match=r"node 'hub': the superelement has no interface 7; it has 101, 205"):
        read_nastran(tmp_path / "ext.pch", attach={"hub": 7})


def test_bad_superelements_are_named(reduced):
    *_, m, k, nodes = reduced
    with pytest.raises(DescriptionError, match="the matrices have 17 coordinates for 3 interfaces; give 6 for each"):
        superelement(m, k, nodes | {"more": (0, 0, 1)})
    with pytest.raises(DescriptionError, match="the stiffness resists rigid motion"):
        superelement(m, k + np.eye(17) * k.max(), nodes)
    with pytest.raises(DescriptionError, match="the mass matrix is indefinite"):
        superelement(m - np.eye(17), k, nodes)
    with pytest.raises(DescriptionError, match="no node 'hub'; its nodes are 'root', 'tip'"):
        superelement(m, k, nodes, inboard="hub")


# ---- modes with masses -----------------------------------------------------------------------------------------------------
def report(fixed):
    """What a supplier's modal report has: a lumped beam's modes."""
    _, K, place = tower()
    lumps = np.full(len(place), 0.54)
    lumps[[0, -1]] = 0.27
    M = np.kron(np.diag(lumps), np.diag([1.0, 1, 1, 1e-4, 1e-4, 1e-4]))
    options = {"attach": {"root": 0, "tip": 10}, "inboard": "root" if fixed else None}
    options["reduction"] = "cantilever" if fixed else "free-free"
    body = from_matrices(csr_array(M), K, place, modes=4, **options)
    from bough.flex import matrices_model

    model = matrices_model(csr_array(M), K, place, attach=options["attach"], inboard=options["inboard"])
    shapes = mode_shapes(model, options["reduction"], modes=4)[1]
    return body, place, lumps, shapes.reshape(len(place), 6, 4), lumps[:, None, None] * 1e-4 * np.eye(3)


@pytest.mark.parametrize("fixed", [True, False])
def test_modes_with_masses_are_the_body(fixed):
    body, place, lumps, shapes, inertias = report(fixed)
    scaled = shapes * np.array([1.0, -3.0, 0.2, 7.0])
    frequencies, moved = body.frequencies, scaled
    if not fixed:  # with rigid-body modes, as tools print them
        rigid = np.zeros((len(place), 6, 2))
        rigid[:, 1, 0] = rigid[:, 0, 1] = 1.0
        frequencies, moved = np.r_[1e-4, 2e-4, frequencies], np.concatenate([rigid, scaled], axis=2)
    found = from_modes(
        frequencies, moved, place, lumps, inertias=inertias, attach={"root": 0, "tip": 10}, inboard="root" if fixed else None
    )
    assert found.reduction == ("cantilever" if fixed else "free-free")
    assert found.frequencies == pytest.approx(body.frequencies)
    for name in ("m", "I0", "Mff"):
        expected = getattr(body.integrals, name)
        assert np.allclose(getattr(found.integrals, name), expected, rtol=0, atol=SWEEP * np.abs(expected).max()), name
    size = np.abs(body.integrals.I2).max()
    assert np.allclose(np.abs(found.integrals.I2), np.abs(body.integrals.I2), rtol=0, atol=10 * SWEEP * size)  # modes times modes


def test_bad_modal_reports_are_named():
    body, place, lumps, shapes, _ = report(True)
    given = {"attach": {"root": 0, "tip": 10}, "inboard": "root"}
    with pytest.raises(DescriptionError, match=r"11 nodes, 3 frequencies, shapes \(11, 6, 4\)"):
        from_modes(body.frequencies[:3], shapes, place, lumps, **given)
    with pytest.raises(DescriptionError, match=r"mode 0 has the modal mass 0\.99\d+ by the nodal masses, but 2 is given"):
        from_modes(body.frequencies, shapes, place, lumps, modal_masses=[2.0, 1, 1, 1], **given)
    with pytest.raises(DescriptionError, match=r"the mass of node 3 is -1"):
        from_modes(body.frequencies, shapes, place, np.where(np.arange(11) == 3, -1.0, lumps), **given)
    wrong = lumps.copy()
    wrong[8:] = 50.0
    with pytest.raises(DescriptionError, match="are not orthogonal"):
        from_modes(body.frequencies, shapes, place, wrong, **given)
    with pytest.raises(DescriptionError, match="moves the inboard node and carries momentum"):
        from_modes(body.frequencies, shapes + 0.3, place, lumps, **given)


# ---- several interfaces ----------------------------------------------------------------------------------------------------
def test_every_interface_carries_whatever_it_is_given():
    """A joint, a body, a wheel, a load, a line and a loop, each at a node of its own: the superelement as the body read whole."""
    M, K, place = tower(elements=4)
    names = {name: place[i] for i, name in enumerate("abcde")}
    points = {"position": place, "mass": np.full(5, 5.4 / 5), "recovery": np.eye(30)}
    bodies = (
        superelement(M, K, names, inboard="a", points=points),
        from_matrices(M, K, place, attach={name: i for i, name in enumerate("abcde")}, inboard="a", modes=24),
    )
    found = []
    for body in bodies:
        system = bough.System("craft")
        system.body("bus", mass=80.0, inertia=(12.0, 13.0, 14.0), joint=bough.Free())
        system.body("boom", parent="bus", joint=bough.Revolute("y"), at=(0.5, 0, 0), flexible=body)
        system.body("dish", parent="boom", node="e", joint=bough.Revolute("z"), mass=2.0, com=(0.1, 0, 0), inertia=(0.1, 0.1, 0.1))
        system.wheel("gyro", body="boom", node="b", axis="x", inertia=1e-6, speed=100.0, torque=2.0)
        system.wrench("push", body="boom", node="c", force=(1.0, 2.0, 3.0), moment=(0.1, 0.2, 0.3))
        system.line("stay", a=bough.Frame("bus", at=(0, 1.0, 0)), b=bough.Frame("boom", node="d"), stiffness=50.0, length=0.1)
        length = float(np.linalg.norm(place[2] + [0.5, 0, 0]))
        system.loop("strut", joint=bough.Distance(length), a=bough.Frame("boom", node="c"), b="bus")
        model = system.compile()
        found.append(model.forward_dynamics(model.q0, np.zeros(model.nv)))
    assert np.abs(found[0][:7]).min() > 1e-4  # the bus, and the hinge of the boom
    assert found[0][:7] == pytest.approx(found[1][:7], rel=ROUNDED)
