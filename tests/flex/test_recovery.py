"""Stresses and strains: of bough's own solids and beams against closed forms, given ones, and in results, plots and the replay."""

import numpy as np
import pytest

import bough
from bough.errors import DescriptionError
from bough.flex import FlexibleBody, beam, box, from_matrices, solid, von_mises
from bough.flex.recovery import SolidElements, center_slopes, recover_solids, strain_rows
from bough.flex.solids import solid_model
from tests.support.compare import clamped, solving
from tests.support.tolerance import FORMULA

ALUMINUM = {"E": 7e10, "nu": 0.0, "density": 2700.0}


@pytest.mark.parametrize("order", [1, 2])
def test_solid_in_tension(order):
    """sigma = F/A, with the static shape of the load."""
    body = solid(
        box((1.0, 0.1, 0.05), (4, 2, 1)), attach={"root": ("x", 0.0), "tip": ("x", 1.0)}, inboard="root", order=order, modes=1,
        static=[_traction(order)], recover="all", **ALUMINUM,
    )  # fmt: skip
    eta = np.linalg.solve(body.K, body.nodes.phi[1].T @ [1.0, 0, 0] * 1000.0)
    stress = body.stress(eta)
    assert len(stress) == 8
    bound = clamped(_bar(order))
    for each in stress.values():
        assert each == pytest.approx([1000.0 / 0.005, 0, 0, 0, 0, 0], abs=bound * 2e5)


def _bar(order):
    return solid_model(
        box((1.0, 0.1, 0.05), (4, 2, 1)), attach={"root": ("x", 0.0), "tip": ("x", 1.0)}, inboard="root", order=order, **ALUMINUM
    )


def _traction(order):
    """Forces of a uniform pull at the end: those of a mean that weighs nodes by their share of the face."""
    model = _bar(order)
    stretched = np.zeros((len(model.position), 3))
    stretched[:, 0] = model.position[:, 0]
    force = model.stiffness @ stretched.ravel()
    force[model.dofs_of("root")] = 0.0
    return force


def test_beam_fibers():
    """sigma = M y / I and F / A at the root of a cantilever."""
    section = {"E": 7e10, "G": 2.7e10, "area": 1e-4, "Iy": 2e-10, "Iz": 8e-10, "J": 1e-9, "density": 2700.0}
    fibers = {"top": (0.0, 0.01, 0.0), "side": (0.0, 0.0, 0.005), "middle top": (0.5, 0.01, 0.0)}
    body = beam(1.0, modes=2, static=["tip"], recover=fibers, **section)
    bent = body.stress(body.static_deflection("tip", force=(0, 3.0, 0)))
    assert bent["top"][0] == pytest.approx(-3.0 * 1.0 * 0.01 / 8e-10)
    assert bent["middle top"][0] == pytest.approx(-3.0 * 0.5 * 0.01 / 8e-10)
    assert bent["side"][0] == pytest.approx(0.0, abs=1.0)
    across = body.stress(body.static_deflection("tip", force=(5.0, 0, 2.0)))
    assert across["side"][0] == pytest.approx(-2.0 * 1.0 * 0.005 / 2e-10 + 5.0 / 1e-4)
    bare = beam(1.0, EI=(7e10 * 2e-10, 7e10 * 8e-10), mass_per_length=0.27, modes=2, static=["tip"], recover=fibers)
    eta = bare.static_deflection("tip", force=(0, 3.0, 0))
    assert bare.strain(eta)["top"][0] == pytest.approx(bent["top"][0] / 7e10)
    with pytest.raises(DescriptionError, match="it recovers no stresses"):  # strains need no E
        bare.stress(eta)
    assert FlexibleBody.from_arrays(bare.to_arrays()) == bare
    with pytest.raises(DescriptionError, match=r"'recovery.strain' has 2 elements; give as many as names, 3"):
        FlexibleBody.from_arrays(bare.to_arrays() | {"recovery.strain": bare.recovery.strain[:2]})
    along = beam(1.0, modes=2, static=["tip"], axis="-z", recover=fibers, **section)
    axial = along.stress(along.static_deflection("tip", force=(0, 0, -5.0)))["side"]
    assert axial == pytest.approx([0, 0, 5.0 / 1e-4, 0, 0, 0])  # in the body's axes
    with pytest.raises(DescriptionError, match=r"the fiber 'far' is at x = 2 m; give a place from 0 to 1 m"):
        beam(1.0, recover={"far": (2.0, 0, 0)}, **section)


@pytest.mark.parametrize("kind", ["4", "8", "10", "20"])
def test_elements_of_decks_have_linear_fields(kind):
    """The strain of u = L x is the symmetric part of L, in any affine element."""
    rng = np.random.default_rng(3)
    slopes = center_slopes(kind)
    assert slopes.sum(axis=0) == pytest.approx(0.0, abs=FORMULA)
    corners = {"4": np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]), "8": None}
    edges = ((0, 1), (1, 2), (2, 0), (0, 3), (1, 3), (2, 3))
    cube = np.array([[-1, -1, -1], [1, -1, -1], [1, 1, -1], [-1, 1, -1], [-1, -1, 1], [1, -1, 1], [1, 1, 1], [-1, 1, 1]]) * 1.0
    rim = ((0, 1), (1, 2), (2, 3), (3, 0), (4, 5), (5, 6), (6, 7), (7, 4), (0, 4), (1, 5), (2, 6), (3, 7))
    base = corners["4"] if kind in ("4", "10") else cube
    ends = edges if kind == "10" else rim if kind == "20" else ()
    nodes = np.vstack([base, *[[(base[a] + base[b]) / 2] for a, b in ends]]) @ (np.eye(3) + 0.2 * rng.normal(size=(3, 3)))
    L = rng.normal(size=(3, 3))
    strain = np.einsum("ecki,ki->ec", strain_rows(kind, nodes[None]), nodes @ L.T)[0]
    sym = (L + L.T) / 2
    assert strain == pytest.approx([sym[0, 0], sym[1, 1], sym[2, 2], 2 * sym[0, 1], 2 * sym[1, 2], 2 * sym[2, 0]])
    group = SolidElements(kind, np.array([7]), np.arange(len(nodes))[None], 1.0, 0.0)
    found = recover_solids([group], nodes, (nodes @ L.T).reshape(-1, 1), 3, [7])
    assert found.stress[0, :3, 0] == pytest.approx(strain[:3])
    with pytest.raises(DescriptionError, match="there is no solid element 8 with an elastic material; give numbers from 7 to 7"):
        recover_solids([group], nodes, (nodes @ L.T).reshape(-1, 1), 3, [8])


def test_given_recovery_and_files(tmp_path):
    K = np.kron([[1.0, -1.0], [-1.0, 1.0]], np.eye(3)) * 1e4
    rows = np.zeros((6, 6))
    rows[0, 3] = 5e6  # sigma_xx = 5 MPa/m of the tip's x
    wanted = {"names": ["strut"], "stress": rows}
    body = from_matrices(np.eye(6), K, [(0, 0, 0), (1, 0, 0)], attach={"a": 0, "b": 1}, inboard="a", modes=3, recover=wanted)
    eta = body.static_deflection("b", force=(100.0, 0, 0))
    assert body.stress(eta)["strut"] == pytest.approx([5e4, 0, 0, 0, 0, 0])
    body.save(tmp_path / "strut.npz")
    assert FlexibleBody.load(tmp_path / "strut.npz") == body
    with pytest.raises(DescriptionError, match=r"the stress matrix is \(5, 6\), but there are 1 elements and 6 dofs"):
        from_matrices(np.eye(6), K, [(0, 0, 0), (1, 0, 0)], attach={"a": 0}, inboard="a", modes=3,
                      recover={"names": ["strut"], "stress": rows[:5]})  # fmt: skip
    with pytest.raises(DescriptionError, match="this model does not know its elements' stresses"):
        from_matrices(np.eye(6), K, [(0, 0, 0), (1, 0, 0)], attach={"a": 0}, inboard="a", modes=3, recover="all")
    with pytest.raises(DescriptionError, match="it recovers no stresses"):
        beam(1.0, EI=1.0, mass_per_length=1.0, modes=1).stress([1.0])


@pytest.fixture(scope="module")
def swung():
    """A plate on a hinge, let go: its stresses over time."""
    plate = solid(
        box((1.0, 0.3, 0.01), (5, 2, 1)), attach={"root": ("x", 0.0), "tip": ("x", 1.0)}, inboard="root", order=1, modes=3,
        recover=[0, 4, 9], **ALUMINUM,
    )  # fmt: skip
    system = bough.System("swing", gravity=(0, 0, -9.81))
    system.body("plate", joint=bough.Revolute("y"), flexible=plate)
    return bough.simulate(system.compile(), until=0.05, dt=1e-4, sample_rate=200)


def test_stress_is_recorded_summed_up_and_drawn(swung, tmp_path):
    data = swung.data
    assert data.stress.dims == ("time", "stressed", "tensor")
    assert data.von_mises.units == "MPa"
    assert data.stressed.values.tolist() == ["plate.0", "plate.4", "plate.9"]
    eta = data.q.values[-1, 1:]
    body = swung.system.bodies["plate"].flexible
    assert data.von_mises.values[-1, 1] == pytest.approx(1e-6 * von_mises(body.stress(eta)["4"]))
    peak = data.von_mises.max("time")
    assert f"peak {float(peak.max()):.4g} MPa in element" in swung.summary
    swung.plot("stress", tmp_path / "stress.png")
    assert (tmp_path / "stress.png").stat().st_size > 5000
    page = swung.view(tmp_path / "swing.html", open=False).path.read_text()
    for what in ("stress", "strain"):
        assert f'"{what}":{{' in page.replace(" ", "") or f'"{what}":[' in page.replace(" ", "")


def test_systems_without_recovery_record_no_stress():
    system = bough.System("rod")
    system.body("rod", joint=bough.Revolute("y"), mass=1.0, com=(1, 0, 0))
    with pytest.raises(bough.StateError, match="'stress', but system 'rod' has no bodies that recover stresses; leave it out"):
        bough.simulate(system.compile(), until=0.01, dt=0.01, record=["stress"])


# ---- recovery of reduced bodies --------------------------------------------------------------------------------------------
def reduced_rod():
    """A rod of five springs and six masses along x, and the same as a superelement: ends and two modal coordinates."""
    from tests.flex.test_superelements import craig_bampton

    n, k, m, h = 6, 3e5, 0.5, 0.2
    K = np.zeros((3 * n, 3 * n))
    for i in range(n - 1):
        at = np.r_[3 * i : 3 * i + 3, 3 * i + 3 : 3 * i + 6]
        K[np.ix_(at, at)] += np.kron([[1, -1], [-1, 1]], np.diag([k, k / 9, k / 16]))
    place = np.outer(np.arange(n) * 0.0, [1, 0, 0])  # all at one place: shear of points, without rotations
    rows = np.zeros((6, 3 * n))
    rows[0, 9], rows[0, 6], rows[3, 10] = 5e9 / h, -5e9 / h, 1e9
    T = craig_bampton(m * np.eye(3 * n), K, np.r_[0:3, 3 * n - 3 : 3 * n], 12)
    return m * np.eye(3 * n), K, place, rows, T


def test_recovery_of_superelements_is_that_of_the_whole():
    M, K, place, rows, T = reduced_rod()
    whole = from_matrices(
        M, K, place, attach={"a": 0, "middle": 3, "b": 5}, inboard="a", modes=15, variant="zeroth_order",
        recover={"names": ["link"], "stress": rows, "strain": rows / 7e10},
    )  # fmt: skip
    element = flex_superelement(T, M, K)
    given = {"names": ["link"], "stress": rows @ T, "strain": rows @ T / 7e10}
    given |= {"points": {"middle": (0, 0, 0)}, "displacement": T[9:12]}
    body = element.reduce(recover=given)
    force = (300.0, -20.0, 5.0)
    eta, other = body.static_deflection("b", force=force), whole.static_deflection("b", force=force)
    assert body.stress(eta)["link"] == pytest.approx(whole.stress(other)["link"], rel=solving(K[3:, 3:]))
    assert body.strain(eta)["link"] == pytest.approx(whole.strain(other)["link"], rel=solving(K[3:, 3:]))
    assert body.displacement(eta)["middle"] == pytest.approx(whole.displacement(other)["middle"], rel=solving(K[3:, 3:]))
    with pytest.raises(DescriptionError, match="recover is 'all', but reduced matrices know no elements"):
        element.reduce(recover="all")
    with pytest.raises(DescriptionError, match=r"matrix is \(5, 18\), but there are 1 elements and 18 dofs; give \(6, 18\)"):
        element.reduce(recover=given | {"stress": (rows @ T)[:5]})
    with pytest.raises(DescriptionError, match=r"recovery: 'strains' is not known \(did you mean 'strain'"):
        element.reduce(recover=given | {"strains": 1})
    with pytest.raises(DescriptionError, match="the point 'b' has the name of a node"):
        element.reduce(recover=given | {"points": {"b": (0, 0, 0)}})


def flex_superelement(T, M, K):
    from bough.flex import Superelement

    node, component = np.r_[[0] * 3, [1] * 3, [-1] * 12], np.r_[0, 1, 2, 0, 1, 2, np.zeros(12, dtype=int)]
    return Superelement("rod", ("a", "b"), np.zeros((2, 3)), node, component, T.T @ M @ T, T.T @ K @ T, inboard="a")


def test_recovery_of_given_modes():
    """Stresses of the modes, in other units and scales, with rigid ones among them."""
    from bough.flex import from_modes

    M, K, place, rows, _ = reduced_rod()
    options = {"attach": {"a": 0, "b": 5}, "inboard": "a"}
    whole = from_matrices(M, K, place, modes=4, recover={"names": ["link"], "stress": rows}, **options)
    from bough.flex import matrices_model
    from bough.flex.reduction import mode_shapes

    shapes = mode_shapes(matrices_model(M, K, place, **options), "cantilever", modes=4)[1]
    scale = np.array([1.0, -2.0, 0.5, 3.0])
    told = (shapes * scale).reshape(6, 3, 4)
    stresses = {"names": ["link"], "stress": rows @ (shapes * scale)}
    body = from_modes(whole.frequencies, told, place, np.full(6, 0.5), recover=stresses, **options)
    force = (300.0, -20.0, 5.0)
    expected = whole.stress(whole.static_deflection("b", force=force))["link"]
    assert body.stress(body.static_deflection("b", force=force))["link"] == pytest.approx(expected, rel=solving(K[3:, 3:]))
    in_mm = from_modes(
        whole.frequencies, told, place * 1e3, np.full(6, 0.5e-3), units="mm-t-s",
        recover={"names": ["link"], "stress": rows @ (shapes * scale) * 1e-6 * 1e-3}, **options,
    )  # fmt: skip  MPa, of shapes in mm
    assert in_mm.stress(in_mm.static_deflection("b", force=force))["link"] == pytest.approx(expected, rel=solving(K[3:, 3:]))
    with pytest.raises(DescriptionError, match="recover is 'all', but modes alone know no elements"):
        from_modes(whole.frequencies, told, place, np.full(6, 0.5), recover="all", **options)


def test_strains_are_recorded_and_drawn(swung, tmp_path):
    result = bough.simulate(swung.system.compile(), until=0.01, dt=1e-4, record=["state", "strains"])
    strain = result.data.element_strain
    assert strain.dims == ("time", "strained", "tensor")
    body = swung.system.bodies["plate"].flexible
    assert strain.values[-1, 1] == pytest.approx(body.strain(result.data.q.values[-1, 1:])["4"])
    result.plot("strains", tmp_path / "strains.png")
    assert (tmp_path / "strains.png").stat().st_size > 5000
