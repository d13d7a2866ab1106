"""Against a real solver: a plate with a hole and a stiffened bracket, meshed here, solved and exported by CalculiX.

Tolerances: CalculiX prints 7 digits, of which half a unit of the last is at most 5e-7 of a number: 1e-6; sums of dozens of
printed forces 0.1 of 2e4 N.
"""

import numpy as np
import pytest

from bough.flex import read_calculix
from tests.support.calculix import deck, frequencies, grid, needs_ccx, node_set, plate_with_hole, run, table

pytestmark = [needs_ccx, pytest.mark.oracle]
STORE = ["*STEP\n*FREQUENCY, SOLVER=MATRIXSTORAGE\n1\n*END STEP"]
FREE = ["*STEP\n*FREQUENCY\n12\n*END STEP"]


def load(nodes, force):
    return "*CLOAD\n" + "\n".join(f"{node + 1}, {i + 1}, {f / len(nodes):.15g}" for node in nodes for i, f in enumerate(force) if f)


def fixed_steps(sets, held, static):
    names = "\n".join(f"{name}, 1, 3" for name in held)
    prints = "*NODE PRINT, NSET=ALL\nU, RF\n*EL PRINT, ELSET=SOLID\nS"
    return [*sets, f"*BOUNDARY\n{names}", "*STEP\n*FREQUENCY\n6\n*END STEP", f"*STEP\n*STATIC\n{static}\n{prints}\n*END STEP"]


@pytest.fixture(scope="module")
def plate(tmp_path_factory):
    folder = tmp_path_factory.mktemp("plate")
    places, elements = plate_with_hole()
    left, right = (np.flatnonzero(np.isclose(places[:, 0], x)) for x in (-0.2, 0.2))
    sets = [node_set("LEFT", left), node_set("RIGHT", right)]
    run(folder, "plate", deck(places, elements, [*sets, *STORE]))
    free = run(folder, "free", deck(places, elements, FREE))
    fixed = run(folder, "fixed", deck(places, elements, fixed_steps(sets, ["LEFT"], load(right, (2e4, 0.0, 3e2)))))
    return folder / "plate", places, elements, left, right, free, fixed


def test_plate_frequencies(plate):
    job, *_, free, fixed = plate
    model = read_calculix(job, attach={"left": "LEFT", "right": "RIGHT"}, inboard="left", declared_mass=None)
    found = model.reduce("free-free", modes=6).frequencies
    assert found == pytest.approx(frequencies(free)[6:12], rel=1e-6)  # asked for: 1e-4
    assert model.reduce("cantilever", modes=6).frequencies == pytest.approx(frequencies(fixed), rel=1e-6)
    assert model.check(modes=4).zero_modes == 6


def test_plate_static_deflection_and_stress(plate):
    job, places, elements, left, right, _, fixed = plate
    near = [int(each) for each in np.argsort(np.linalg.norm(places[elements].mean(axis=1)[:, :2] - [0, 0.06], axis=1))[:4] + 1]
    model = read_calculix(job, attach={"left": "LEFT", "right": "RIGHT"}, inboard="left")
    body = model.reduce("cantilever", modes=2, static=["right"], recover=near)
    eta = body.static_deflection("right", force=(2e4, 0.0, 3e2))
    moved = table(fixed, "displacements (vx,vy,vz)")
    mean = moved[right, 1:].mean(axis=0)
    assert body.displacement(eta)["right"] == pytest.approx(mean, rel=1e-6, abs=1e-6 * np.abs(mean).max())
    stress = table(fixed, "stresses (elem, integ.pnt.")
    for number, found in body.stress(eta).items():
        own = stress[stress[:, 0] == int(number)]
        expected = own[13, 2:][[0, 1, 2, 3, 5, 4]]  # at the center; CalculiX's order is xx, yy, zz, xy, xz, yz
        assert np.abs(found - expected).max() < 1e-6 * np.abs(expected).max()
    reaction = table(fixed, "forces (fx,fy,fz)")[left, 1:].sum(axis=0)
    assert reaction == pytest.approx([-2e4, 0, -3e2], abs=0.1)


@pytest.fixture(scope="module")
def bracket(tmp_path_factory):
    """An angle with a rib: base, upright, rib; interfaces at the base's end, at the top and at the other end of the base."""
    folder = tmp_path_factory.mktemp("bracket")
    xs, ys, zs = np.linspace(0, 0.2, 9), [0, 0.04, 0.05, 0.09], [0, 0.01, *np.linspace(0.04, 0.16, 5)]

    def keep(center):
        x, y, z = center
        rib = 0.04 < y < 0.05 and x + z < 0.19
        return z < 0.01 or x < 0.025 or rib

    places, elements = grid(xs, ys, zs, keep)
    faces = {
        "BASE": np.flatnonzero(np.isclose(places[:, 2], 0) & (places[:, 0] < 0.051)),
        "TOP": np.flatnonzero(np.isclose(places[:, 2], 0.16)),
        "TOE": np.flatnonzero(np.isclose(places[:, 0], 0.2)),
    }
    sets = [node_set(name, nodes) for name, nodes in faces.items()]
    run(folder, "bracket", deck(places, elements, [*sets, *STORE]))
    free = run(folder, "free", deck(places, elements, FREE))
    held = run(folder, "held", deck(places, elements, fixed_steps(sets, ["BASE", "TOP"], load(faces["TOE"], (10.0, 50.0, -300.0)))))
    return folder / "bracket", places, faces, free, held


def test_bracket_with_three_interfaces(bracket):
    """Held at two of its three interfaces: frequencies, deflection, and what each interface bears."""
    job, places, faces, free, held = bracket
    model = read_calculix(job, attach={"base": "BASE", "top": "TOP", "toe": "TOE"}, inboard="base")
    assert model.reduce("free-free", modes=6).frequencies == pytest.approx(frequencies(free)[6:12], rel=1e-6)
    body = model.reduce("craig-bampton", interfaces=["top"], modes=6, static=["toe"])
    at, force = body.nodes.index, np.array([10.0, 50.0, -300.0])
    clamp = np.vstack([body.nodes.phi[at("top")], body.nodes.psi[at("top")]])  # the top stays where it is
    n = body.n_modes
    system = np.block([[body.K, clamp.T], [clamp, np.zeros((6, 6))]])
    solved = np.linalg.solve(system, np.r_[body.nodes.phi[at("toe")].T @ force, np.zeros(6)])
    moved = table(held, "displacements (vx,vy,vz)")[faces["TOE"], 1:].mean(axis=0)
    assert body.nodes.phi[at("toe")] @ solved[:n] == pytest.approx(moved, rel=1e-6, abs=1e-6 * np.abs(moved).max())
    forces = table(held, "forces (fx,fy,fz)")[:, 1:]
    arm = places[faces["TOP"]] - places[faces["TOP"]].mean(axis=0)
    borne = np.r_[forces[faces["TOP"]].sum(axis=0), np.cross(arm, forces[faces["TOP"]]).sum(axis=0)]
    reaction = -solved[n:]
    for part in (slice(0, 3), slice(3, 6)):  # of the largest force and moment: seven digits of each node's force are printed
        assert reaction[part] == pytest.approx(borne[part], abs=1e-6 * np.abs(borne[part]).max())
    base = -force - reaction[:3]
    assert base == pytest.approx(forces[faces["BASE"]].sum(axis=0), abs=1e-6 * np.abs(base).max())
    squares = np.linalg.eigvalsh(_constrained(body.K, clamp))
    assert np.sqrt(squares[:2]) / (2 * np.pi) == pytest.approx(frequencies(held)[:2], rel=1e-6)


def _constrained(K, rows):
    from scipy.linalg import null_space

    basis = null_space(rows / np.abs(rows).max(axis=1, keepdims=True))
    return basis.T @ K @ basis
