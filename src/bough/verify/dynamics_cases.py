"""Every algorithm on every joint and part, one state and four lanes, against mechanics written a second time.

The digits required are those that rounding leaves: solving with a mass matrix of condition 1e3 to 1e4 leaves 11 to 12 of 16, a
loop one or two less; a plain sum leaves 13.
"""

from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import Any

import numpy as np

from bough.analyze.balance import moved_along
from bough.analyze.parameters import STENCIL
from bough.compile.layout import Floats
from bough.describe import Free, Harmonics, Polynomial, Rate, Revolute, System, Universal
from bough.describe.part import depth_first
from bough.model import Model
from bough.verify import systems
from bough.verify.case import Cases, Pairs
from bough.verify.witnesses import maximal, nodal

NEWTON = "Newton's and Euler's equations of each body in maximal coordinates, dense"
KANE = "Kane's equations summed over every mass point, dense"
OWN = "written for bough from the description alone, in NumPy: bough.verify.witnesses"
NUMPY = "NumPy's linear solver on bough's mass matrix and bias"
METHODS = ("order-n", "dense")
CASES = Cases("dynamics")


@cache
def states(build: Callable[[], System], n: int = 5, modal: float = 1.0) -> tuple[Model, Floats, Floats, Floats]:
    """A model, states (a group of four lanes and one more) and torques."""
    model = build().compile()
    q, v = systems.random_state(model, n, modal=modal)
    if model.holds:
        q, v = model.follow(q, v, 0.3)
    return model, q, v, np.random.default_rng(9).normal(size=v.shape)


def by_methods(model: Model, q: Floats, v: Floats, tau: Floats, theirs: Floats, size: float, t: float = 0.0,
               methods: Sequence[str] = METHODS) -> Pairs:
    """Accelerations of the first and the last state by themselves, and of all in lanes."""
    for method in methods:
        for rows in (0, -1, slice(None)):
            yield model.forward_dynamics(q[rows], v[rows], tau[rows], t=t, dynamics=method), theirs[rows], size


def scale_of(M: Floats, f: Floats) -> float:
    """The size of accelerations before their terms cancel."""
    return float((np.abs(np.linalg.inv(M)) @ np.abs(f)).max())


# ---- trees -----------------------------------------------------------------------------------------------------------------
@cache
def tree_witness(build: Callable[[], System]) -> tuple[Floats, Floats, Floats, float]:
    """Mass matrices, forces, accelerations and their size."""
    model, q, v, tau = states(build)
    speeds = [{name: wheel.speed for name, wheel in model.system.wheels.items()}] * len(q)
    parts = [maximal.tree_equations(model.system, q[i], v[i], tau[i], wheels=speeds[i]) for i in range(len(q))]
    M, f = np.array([part[0] for part in parts]), np.array([part[1] for part in parts])
    a = np.array([np.linalg.solve(M[i], f[i]) for i in range(len(q))])
    return M, f, a, max(scale_of(M[i], f[i]) for i in range(len(q)))


def trees(build: Callable[[], System], method: str) -> Pairs:
    model, q, v, tau = states(build)
    _, _, a, size = tree_witness(build)
    yield from by_methods(model, q, v, tau, a, size, methods=(method,))


for _method in METHODS:
    for _name, _build in (("every joint", systems.tree), ("wheels, driven and held", systems.wheeled)):
        CASES.add(f"{_name}, {_method}", "accelerations, one state and four lanes", NEWTON, OWN, 11.0,
                  partial(trees, _build, _method))


@CASES.case("every joint, mass matrix", "mass matrix, one state and four lanes", NEWTON, OWN, 13.0)
def mass_matrix() -> Pairs:
    model, q, _, _ = states(systems.tree)
    M = tree_witness(systems.tree)[0]
    yield model.mass_matrix(q), M
    yield model.mass_matrix(q[0]), M[0]


@CASES.case("every joint, inverse dynamics", "joint torques and bias, one state and four lanes", NEWTON, OWN, 13.0)
def inverse_dynamics() -> Pairs:
    model, q, v, tau = states(systems.tree)
    M, f, _, _ = tree_witness(systems.tree)
    a = np.random.default_rng(4).normal(size=v.shape)
    theirs = np.einsum("bij,bj->bi", M, a) - f + tau
    yield model.inverse_dynamics(q, v, a), theirs
    yield model.inverse_dynamics(q[0], v[0], a[0]), theirs[0]
    yield model.bias(q, v), tau - f


@CASES.case("every joint, kinematics", "poses, velocities, accelerations and Jacobians of all bodies",
            "jets of the tree's kinematics", OWN, 13.0)
def kinematics() -> Pairs:
    model, q, v, tau = states(systems.tree)
    for i in (0, 4):
        stands = maximal.places(model.system, q[i], v[i], tau[i])
        for name in model.names.bodies:
            position, attitude = model.pose(q[i], name)
            yield position, stands[name].position.value, 1.0
            yield attitude, stands[name].rotation.value
            yield model.velocity(q[i], v[i], name), stands[name].velocity
            yield model.acceleration(q[i], v[i], tau[i], name), stands[name].acceleration
    columns = maximal.jacobians(model.system, q[1])[0]
    for name in model.names.bodies:
        yield model.jacobian(q[1], name), columns[name]
        bias = maximal.places(model.system, q[1], v[1])[name].acceleration
        yield model.jacobian_rate(q[1], v[1], name) @ v[1], bias, 1.0


@CASES.case("every joint, reactions", "loads through all joints, one state and four lanes",
            "Newton's and Euler's equations of all that hangs on a joint", OWN, 12.0)
def joint_reactions() -> Pairs:
    model, q, v, tau = states(systems.tree)
    together = model.reactions(q, v, tau)
    for i in (0, 4):
        theirs = subtree_loads(model.system, q[i], v[i], tau[i])
        yield model.reactions(q[i], v[i], tau[i]), theirs
        yield together[i], theirs


def subtree_loads(system: System, q: Floats, v: Floats, a: Floats) -> Floats:
    """(bodies, 6): at each body's origin, in its axes, what the bodies outboard of its joint need beyond gravity."""
    stands, needs = maximal.places(system, q, v, a), {}
    for name, body in system.bodies.items():
        M, f = maximal.newton_euler(system, body, stands)
        needs[name] = M @ stands[name].acceleration - f
    found = []
    for name in system.bodies:
        total, at, turn = np.zeros(6), stands[name].position.value, stands[name].rotation.value
        for other in (name, *(body.name for body in depth_first(system, name))):
            arm = stands[other].position.value - at
            total += needs[other] + np.append(np.cross(arm, needs[other][3:]), np.zeros(3))
        found.append(np.concatenate([total[:3] @ turn, total[3:] @ turn]))
    return np.array(found)


@CASES.case("every joint, operators", "M^-1 by spatial operators, partitioned and over whole joints", NUMPY,
            "the spatial operators of Jain and Rodriguez", 10.0)
def operators() -> Pairs:
    model, q, v, _ = states(systems.tree)
    theirs = np.linalg.solve(model.mass_matrix(q[0]), v[0])
    for whole in (False, True):
        yield model.operators(q[0], v[0], whole=whole).inverse @ v[0], theirs


@CASES.case("every joint, derivatives", "derivatives of the accelerations by q, v and tau",
            "differences of fourth order along single speeds", "the accelerations of the first case", 8.0)
def derivatives() -> Pairs:
    model, q, v, tau = states(systems.tree)
    yield from differenced(systems.tree)
    yield model.forward_dynamics_derivatives(q[0], v[0], tau[0]).dtau, np.linalg.inv(model.mass_matrix(q[0]))


def differenced(build: Callable[[], System], modal: float = 1.0) -> Pairs:
    """Derivatives by q and v at the first state, along five of the speeds."""
    model, states_q, states_v, torques = states(build, modal=modal)
    q, v, tau, h = states_q[0], states_v[0], torques[0], 1e-3 * max(modal, 0.1)
    ours = model.forward_dynamics_derivatives(q, v, tau)
    for j in np.unique(np.linspace(0, model.nv - 1, 5).astype(int)):
        yield ours.dq[:, j], slope_by_q(model, q, v, tau, j, h), float(np.abs(ours.dq).max())
        yield ours.dv[:, j], slope_by_v(model, q, v, tau, j, h), float(np.abs(ours.dv).max())


def slope_by_q(model: Model, q: Floats, v: Floats, tau: Floats, j: int, h: float, t: float = 0.0) -> Any:
    """Derivative of the accelerations by the position along entry j of v: differences of fourth order."""
    along = np.eye(model.nv)[[j]]
    moved = ((weight, moved_along(model, q[None], s * h * along)[0]) for s, weight in STENCIL)
    return sum(weight * model.forward_dynamics(there, v, tau, t=t) for weight, there in moved) / h


def slope_by_v(model: Model, q: Floats, v: Floats, tau: Floats, j: int, h: float, t: float = 0.0) -> Any:
    """The same by entry j of v itself."""
    along = np.eye(model.nv)[j]
    return sum(weight * model.forward_dynamics(q, v + s * h * along, tau, t=t) for s, weight in STENCIL) / h


# ---- held ------------------------------------------------------------------------------------------------------------------
def held() -> System:
    """Locked coordinates, and motions of several kinds."""
    s = System("held", gravity=systems.DOWN)
    joints = (
        Free(),
        Revolute("y", motion=Harmonics([(0.3, 2.0, 0.1)])),
        Universal("xz", motion=[None, Polynomial([0.1, 0.2, 0.3])]),
        Revolute("z", motion="locked"),
        Revolute("x"),
    )
    for k, joint in enumerate(joints):
        s.body(f"b{k}", parent=f"b{k - 1}" if k else None, joint=joint, **systems.placement(k), **systems.mass_properties(k))
    return s


@CASES.case("held coordinates", "accelerations and drive forces, O(N) and dense, one state and four lanes",
            "M a + h = tau + drives, solved for what is free and for the drives", NUMPY, 11.0)
def held_coordinates() -> Pairs:
    model, q, v, tau = states(held)
    free, t = np.asarray(model.free), 0.3
    given = np.zeros(model.nv)
    for name, (_, _, acceleration) in model.motion(t).items():
        given[list(model.names.v).index(name)] = acceleration
    a, needed = np.tile(given, (len(q), 1)), np.zeros((len(q), model.nv))
    for i in range(len(q)):
        M, h, _, _ = maximal.tree_equations(model.system, q[i], v[i], tau[i])
        a[i, free] = np.linalg.solve(M[np.ix_(free, free)], (h - M @ given)[free])
        needed[i] = M @ a[i] - h
    size = float(np.abs(a).max())
    yield from by_methods(model, q, v, tau, a, size, t)
    drives = model.drive_forces(q, v, tau, t=t)
    for name, force in drives.items():
        yield force, needed[:, list(model.names.v).index(name)], float(np.abs(needed).max())


def given_tree() -> System:
    """A tree with all relative motions prescribed, for the momentum cloud."""
    s = System("given", gravity=systems.DOWN)
    s.body("b0", joint=Free(), **systems.mass_properties(0))
    for k in range(1, 9):
        motion = Rate(0.3 * k) if k % 2 else Harmonics([(0.2, 1.0 + k, 0.3)])
        s.body(f"b{k}", parent=f"b{(k - 1) // 2}", joint=Revolute("xyz"[k % 3], motion=motion), **systems.placement(k),
               **systems.mass_properties(k))
    return s


@CASES.case("momentum cloud", "accelerations of a floating base, one state and four lanes",
            "the equations of the base, solved densely", OWN, 11.0)
def momentum_cloud() -> Pairs:
    model, q, v, tau = states(given_tree)
    tau = tau * np.asarray(model.free)
    given = np.array([model.motion(0.3)[name][2] if name in model.holds else 0.0 for name in model.names.v])
    a = np.tile(given, (len(q), 1))
    for i in range(len(q)):
        M, f, _, _ = maximal.tree_equations(model.system, q[i], v[i], tau[i])
        a[i, :6] = np.linalg.solve(M[:6, :6], (f - M @ given)[:6])
    yield from by_methods(model, q, v, tau, a, float(np.abs(a).max()), 0.3, methods=("cloud",))


# ---- flexible --------------------------------------------------------------------------------------------------------------
def nodal_oracle(system: System, q: Floats, v: Floats) -> Any:
    """The witness of a system whose flexible bodies have their mass in points."""
    names, bodies = list(system.bodies), []

    def node_of(body: Any, name: str | None) -> Any:
        if body is None or body.flexible is None:
            return None
        j = body.flexible.nodes.index(name or body.flexible.inboard)
        return nodal.Node(body.flexible.nodes.position[j], body.flexible.nodes.phi[j], body.flexible.nodes.psi[j])

    for body in system.bodies.values():
        parent = system.bodies.get(body.parent or "")
        words = {
            "translations": body.joint.translations,
            "rotations": body.joint.rotations,
            "at": np.array(body.at, float),
            "orient": maximal.quaternion_matrix(body.orient),
            "at_node": node_of(parent, body.node),
        }
        if body.flexible is None:
            none = np.zeros((1, 3, 0))
            points = nodal.MassPoints(np.array([body.com]), np.array([body.mass]), np.zeros((1, 3)), np.array([body.inertia]), none,
                                      none)
        else:
            inboard = node_of(body, None)
            assert body.flexible.points is not None
            points = body.flexible.points
            words |= {"K": body.flexible.K, "D": body.flexible.D, "inboard": inboard, "hold": -inboard.position}
        bodies.append(nodal.TreeBody(points, -1 if parent is None else names.index(parent.name), **words))
    return nodal.NodalOracle(bodies, q, v, gravity=system.gravity)


def flexible_bodies(method: str) -> Pairs:
    model, q, v, tau = states(systems.flexible, modal=0.05)
    oracles = [nodal_oracle(model.system, q[i], v[i]) for i in range(len(q))]
    a = np.array([oracle.forward_dynamics(tau[i]) for i, oracle in enumerate(oracles)])
    size = max(scale_of(oracle.mass_matrix(), oracle.forces(tau[i])) for i, oracle in enumerate(oracles))
    yield from by_methods(model, q, v, tau, a, size, methods=(method,))
    yield model.mass_matrix(q[0]), oracles[0].mass_matrix()
    yield model.kinetic_energy(q[0], v[0]), oracles[0].kinetic_energy()


for _method in METHODS:
    CASES.add(f"flexible bodies, {_method}", "accelerations, mass matrix and energy, one state and four lanes", KANE, OWN, 9.0,
              partial(flexible_bodies, _method))


# ---- loops -----------------------------------------------------------------------------------------------------------------
def closed_by(name: str) -> Pairs:
    """Accelerations and loop forces, O(N) and dense, one state and in lanes."""
    model, q, v = systems.closed(name)
    system, tau, a = model.system, np.random.default_rng(6).normal(size=v.shape), np.zeros_like(v)
    for i in range(len(q)):
        poses, velocities, _ = maximal.motion(system, q[i], v[i])
        solved = maximal.solve(system, poses, velocities, tau[i])
        a[i] = maximal.joint_accelerations(system, q[i], v[i], solved.accelerations)
    M, f, _, _ = maximal.tree_equations(system, q[0], v[0], tau[0])
    size = max(float(np.abs(a).max()), scale_of(M, f))
    yield from by_methods(model, q, v, tau, a, size)
    force = maximal.loop_forces(system, q[0], v[0], a[0], tau[0])[0]["loop"]
    yield model.constraint_forces(q[0], v[0], tau[0])["loop"], force


for _name in (*systems.LOOPED, "distance"):
    CASES.add(f"a loop closed by {_name}", "accelerations and loop forces, O(N) and dense, one state and four lanes", NEWTON, OWN,
              8.0, partial(closed_by, _name))


def geared() -> System:
    s = System("geared", gravity=systems.DOWN)
    for k in range(4):
        s.body(f"b{k}", parent=f"b{k - 1}" if k else None, joint=Revolute("xyz"[k % 3]), **systems.placement(k),
               **systems.mass_properties(k))
    s.coupling("gears", {"b0": 1.0, "b1": -3.0})
    s.coupling("differential", {"b1": 1.0, "b2": 2.0, "b3": -1.5})
    return s


@CASES.case("couplings", "accelerations of coupled coordinates, O(N) and dense, one state and four lanes",
            "coordinates eliminated by hand: N'MN z' = N'(tau - h)", NUMPY, 10.0)
def couplings() -> Pairs:
    model = geared().compile()
    q, v = systems.random_state(model, 5)
    q, v = model.assemble(q, v)
    C, tau = np.array([[1.0, -3, 0, 0], [0, 1.0, 2.0, -1.5]]), np.random.default_rng(2).normal(size=v.shape)
    N = np.linalg.svd(C)[2][2:].T
    a = []
    for i in range(len(q)):
        M, f, _, _ = maximal.tree_equations(model.system, q[i], v[i], tau[i])
        a.append(N @ np.linalg.solve(N.T @ M @ N, N.T @ f))
    yield from by_methods(model, q, v, tau, np.array(a), float(np.abs(a).max()))
