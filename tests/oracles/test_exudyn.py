"""Flexible bodies against Exudyn: another formulation (redundant coordinates, multipliers), another integrator, other code.

Exudyn works in a floating frame with reduced modes, as we do, so that both tell the same equations: accelerations agree to
rounding. How a node that turns in space moves its joint is an approximation in Exudyn (see bough.peers.exudyn): there,
accelerations are compared in states in which nodes that carry a joint have not turned.
"""
import numpy as np
import pytest

from bough import Revolute, System
from bough.flex import beam, box, reduce, solid_model
from bough.integrate import integrate
from tests.support.compare import assert_same, solving

pytest.importorskip("exudyn")
from bough.bench.mechanisms import flexible_arm
from bough.peers.exudyn import METHOD, ExudynArm, mesh_of_elements
from tests.support.exudyn_oracle import Exudyn

FACES = {"root": ("x", 0.0), "tip": ("x", 1.0)}
STEPS = 1000, 2000, 4000
STATES = range(5)


def chain(links, axes, flexible, gravity=(0.0, 0.0, -9.81)):
    """Equal links, each at the tip of the one before."""
    system = System("chain", gravity=gravity)
    for k in range(links):
        seat = {"parent": f"b{k - 1}", "node": "tip"} if k else {}
        system.body(f"b{k}", joint=Revolute(axes[k]), flexible=flexible, **seat)
    return system


def rod(modes=3, EI=(4.0, 4e6), **described):
    """A meter of half a kilogram that bends in the plane xz, so much that its integrals of second order count."""
    return beam(1.0, EI=EI, mass_per_length=0.5, modes=modes, geometric_stiffness=False, elements=16, **described)


def block(**options):
    """A soft block of quadratic hexahedra: bends, twists and stretches."""
    model = solid_model(box((1.0, 0.1, 0.05), (6, 1, 1)), E=5e7, nu=0.3, density=1000.0, attach=FACES, inboard="root", **options)
    return model, reduce(model, "cantilever", modes=5, damping=0.01, stiffening=False)


def random_state(model, rng, *, inner_bent=1.0):
    """Angles of a radian, each mode a tenth or two of a meter, times a factor for all links but the last; rates likewise."""
    q, v = rng.normal(size=model.nq), rng.normal(size=model.nv)
    for k, (name, (at_q, at_v)) in enumerate(model.places.items()):
        flexible = model.system.bodies[name].flexible
        n, size = flexible.n_modes, 0.1/np.abs(flexible.points.phi if flexible.points else flexible.outline.phi).max(axis=(0, 1))
        q[at_q + 1:at_q + 1 + n] *= size*(1.0 if k == len(model.places) - 1 else inner_bent)
        v[at_v + 1:at_v + 1 + n] *= 5*size
    return q, v


# ---- accelerations -------------------------------------------------------------------------------------------------------
IN_PLANE = {
    "pendulum": lambda: chain(1, "y", rod()),
    "arm": lambda: chain(3, "yyy", rod(damping=0.02)),
    "free-free": lambda: chain(3, "yyy", rod(boundary="free-free")),
    "pinned": lambda: chain(2, "yy", rod(boundary="pinned")),
}
IN_SPACE = {
    "pendulum": (lambda: chain(1, "z", rod(6, (4.0, 5.0)), (1.0, 2.0, -9.0)), {}),
    "arm": (lambda: chain(3, "zyz", rod(6, (4.0, 5.0)), (1.0, 2.0, -9.0)), {"inner_bent": 0.0}),
    "arm of boxes": (lambda: flexible_arm(3, 8), {"inner_bent": 0.0}),
}


@pytest.mark.parametrize("name", IN_PLANE)
def test_accelerations_in_a_plane(name):
    check_accelerations(IN_PLANE[name]())


@pytest.mark.parametrize("name", IN_SPACE)
def test_accelerations_in_space(name):
    make, options = IN_SPACE[name]
    check_accelerations(make(), **options)


def check_accelerations(system, **options):
    peer, rng = Exudyn(system), np.random.default_rng(2)
    for _ in STATES:
        q, v = random_state(peer.model, rng, **options)
        assert_same(peer.model.forward_dynamics(q, v), peer.forward_dynamics(q, v), solving(peer.model.mass_matrix(q)))


def test_a_mesh_and_its_modes():
    """Solid elements of which Exudyn computes modes and integrals: the same frequencies, the same space, the same accelerations."""
    model, flexible = block()
    fem, _ = mesh_of_elements(model, flexible.n_modes)
    assert_same(np.sqrt(fem.eigenValues[:flexible.n_modes])/(2*np.pi), flexible.frequencies, 1e-8)     # of its eigensolver
    shared = fem.modeBasis["matrix"].T @ (model.mass @ flexible.outline.phi.reshape(model.n_dofs, -1))
    assert_same(shared.T @ shared, np.eye(flexible.n_modes), 1e-8)                         # as above
    system = chain(2, "zy", flexible)
    peer, rng = Exudyn(system, meshes=dict.fromkeys(system.bodies, model)), np.random.default_rng(3)
    for _ in STATES:
        q, v = random_state(peer.model, rng, inner_bent=0.0)
        assert_same(peer.model.forward_dynamics(q, v), peer.forward_dynamics(q, v), 1e-7)       # Exudyn's modes are good to 1e-8


# ---- simulation ----------------------------------------------------------------------------------------------------------
def pendulum_of_a_mesh():
    model, flexible = block()
    return chain(1, "y", flexible, (0.0, 4.0, -9.0)), [0.3], {"b0": model}


FALLS = {       # systems and initial angles; a mesh, where Exudyn makes the body of it
    "pendulum": lambda: (chain(1, "y", rod(damping=0.01)), [0.3], {}),
    "pendulum in space": lambda: (chain(1, "z", rod(4, (4.0, 5.0), damping=0.02), (3.0, 5.0, -9.0)), [0.3], {}),
    "pendulum of a mesh": pendulum_of_a_mesh,
    "two-link arm": lambda: (chain(2, "yy", rod(damping=0.01)), [0.3, 0.8], {}),
}


@pytest.mark.parametrize("method", ["TrapezoidalIndex2", "GeneralizedAlpha"])
@pytest.mark.parametrize("name", FALLS)
def test_a_fall_from_rest(name, method):
    """One second: Exudyn converges to us, with the second order of its integrators.

    Their errors are even in the step, so that halving it twice allows two extrapolations. What the second one changes is how good
    Exudyn's result is by its own account: we are nearer to it than that."""
    system, angles, meshes = FALLS[name]()
    peer = Exudyn(system, meshes=meshes)
    q = np.zeros(peer.model.nq)
    q[[at for at, _ in peer.model.places.values()]] = angles
    ours = observed(peer.model, q)
    runs = [peer.simulate(q, np.zeros(peer.model.nv), 1.0, steps, method=getattr(METHOD, method)) for steps in STEPS]
    for key, wanted in ours.items():
        coarse, middle, fine = (run[key] for run in runs)
        errors = [np.abs(theirs - wanted).max() for theirs in (coarse, middle, fine)]
        assert 3.0 < errors[1]/errors[2] < 5.0, f"{key}: errors {errors}"
        first, second = (4*middle - coarse)/3, (4*fine - middle)/3
        best = (16*second - first)/15
        error, own = np.abs(best - wanted).max(), np.abs(best - second).max()
        assert error < own < errors[2]/10, f"{key}: {error:.3g} after extrapolations, of which the last changed {own:.3g}"


@pytest.mark.parametrize("EI", [(12.0, 15.0), (120.0, 150.0)])
def test_a_fall_in_space(EI):
    """Where the outer joint's node turns in space, the engines' kinematics differ: with the square of its rotation, of which
    it is 0.012 to 0.015 at either stiffness, at most 0.02."""
    peer = Exudyn(chain(2, "zy", rod(4, EI, damping=0.02), (3.0, 5.0, -9.0)))
    q, v = np.zeros(peer.model.nq), np.zeros(peer.model.nv)
    q[[at for at, _ in peer.model.places.values()]] = [0.3, 0.8]
    ours = observed(peer.model, q)
    coarse, fine = (peer.simulate(q, v, 1.0, steps, method=METHOD.GeneralizedAlpha) for steps in (1000, 2000))
    flexible = peer.system.bodies["b0"].flexible
    theta = np.linalg.norm(fine["b0", "modes"] @ flexible.nodes.psi[flexible.nodes.index("tip")].T, axis=1).max()
    for key, wanted in ours.items():
        error = np.abs((4*fine[key] - coarse[key])/3 - wanted).max()
        assert error < 0.02*theta**2, f"{key}: {error:.3g} where the node turns by {theta:.3g} rad"


def observed(model, q, samples=10):
    """Angles and places of the tips in our run, of which the steps are so small that its error does not count."""
    x = integrate(model, q0=q, v0=np.zeros(model.nv), until=1.0, dt=2e-5, sample_rate=samples).x[0]
    q, frames, seen = x[:, :model.nq], model.bodies(x[:, :model.nq]).frames, {}
    for k, (name, body) in enumerate(model.system.bodies.items()):
        at, tip = model.places[name][0], body.flexible.nodes.index("tip")
        place = body.flexible.nodes.position[tip] + q[:, at + 1:at + 1 + body.n_modes] @ body.flexible.nodes.phi[tip].T
        seen[name, "angle"] = q[:, at]
        seen[name, "tip"] = frames.position[:, k] + np.einsum("bij,bj->bi", frames.attitude[:, k], place)
    return seen


# ---- speed ---------------------------------------------------------------------------------------------------------------
def test_times():
    """The times are positive and grow with the number of links."""
    one, four = (ExudynArm(flexible_arm(links, 2)) for links in (1, 4))
    assert 0.0 < one.time_per_evaluation(rounds=2) < four.time_per_evaluation(rounds=2)
    assert one.time_per_implicit_step(rounds=2) > 0.0
