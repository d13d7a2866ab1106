"""Stresses and strains: of bough's own solids and beams against closed forms, given ones, and in results, plots and the replay."""

import numpy as np
import pytest

import bough
from bough.errors import DescriptionError
from bough.flex import FlexibleBody, beam, box, from_matrices, solid, von_mises
from bough.flex.recovery import SolidElements, center_slopes, recover_solids, strain_rows
from bough.flex.solids import solid_model

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
    for each in stress.values():
        assert each == pytest.approx([1000.0 / 0.005, 0, 0, 0, 0, 0], abs=1e-4 * 2e5)


def _traction(order):
    """Forces of a uniform pull at the end: those of a mean that weighs nodes by their share of the face."""
    model = solid_model(
        box((1.0, 0.1, 0.05), (4, 2, 1)), attach={"root": ("x", 0.0), "tip": ("x", 1.0)}, inboard="root", order=order, **ALUMINUM
    )
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
    with pytest.raises(DescriptionError, match=r"stresses need the material; give E"):
        beam(1.0, EI=10.0, mass_per_length=1.0, recover=fibers)
    with pytest.raises(DescriptionError, match=r"the fiber 'far' is at x = 2 m; give a place from 0 to 1 m"):
        beam(1.0, recover={"far": (2.0, 0, 0)}, **section)


@pytest.mark.parametrize("kind", ["4", "8", "10", "20"])
def test_elements_of_decks_have_linear_fields(kind):
    """The strain of u = L x is the symmetric part of L, in any affine element."""
    rng = np.random.default_rng(3)
    slopes = center_slopes(kind)
    assert slopes.sum(axis=0) == pytest.approx(0.0, abs=1e-12)
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
    assert '"stress":{' in page.replace(" ", "") or '"stress":[' in page.replace(" ", "")
    assert "equivalentStress" in page


def test_systems_without_recovery_record_no_stress():
    system = bough.System("rod")
    system.body("rod", joint=bough.Revolute("y"), mass=1.0, com=(1, 0, 0))
    with pytest.raises(bough.StateError, match="'stress', but system 'rod' has no bodies that recover stresses; leave it out"):
        bough.simulate(system.compile(), until=0.01, dt=0.01, record=["stress"])
