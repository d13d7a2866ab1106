"""What mechanics says of every tree with flexible bodies, with all they have: own inertia of points, geometric stiffness, damping.

Hypothesis draws the trees, body by body (`tests.support.strategies`). What needs the inverse of the mass matrix is asked at small
deformations, or of bodies without geometric stiffness: see `test_geometric_stiffness_may_cost_the_mass_matrix_its_sign`.

Tolerances: differences by two steps (`difference`) leave h^4 times the fourth power of rates of up to 60/s and eps/h, 1e-9 of a
speed and of its square: 1e-8 for velocities, ten terms of which add up, and 1e-7 for accelerations and rates of Jacobians,
which have a rate more.
"""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given

import bough
from bough.analyze.equations_of_motion import forward
from bough.flex.integrals import no_spins
from tests.support.compare import EPS, assert_same, solved_scale, solving
from tests.support.effort import examples
from tests.support.flexible_trees import (
    amplitudes,
    bodies,
    modal_places,
    moved,
    random_states,
    random_twin,
    rebuilt,
    reordered,
)
from tests.support.strategies import MODERATE, SMALL, flexible_trees
from tests.support.tolerance import CANCELLING, SWEEP

few = examples(25)
METHODS = ("order-n", "dense")


# ---- round trips ----------------------------------------------------------------------------------------------------------
@few
@given(flexible_trees())
def test_forward_of_inverse_gives_the_acceleration(tree):
    """The torques and modal forces that inverse dynamics finds for an acceleration produce it; both methods agree."""
    system, model, q, v, rng = tree
    a, wrench = rng.normal(size=model.nv), rng.normal(size=6)
    last = list(system.bodies.values())[-1]
    wrenches = {(last.name, last.flexible.nodes.names[-1]) if last.flexible else last.name: wrench}
    tau = model.inverse_dynamics(q, v, a, wrenches=wrenches)
    M, bias = model.mass_matrix(q), model.bias(q, v, wrenches=wrenches)
    found = {method: model.forward_dynamics(q, v, tau, wrenches=wrenches, dynamics=method) for method in METHODS}
    scale = solved_scale(M, tau, bias).max()
    for again in found.values():
        assert_same(again, a, solving(M), scale)
    assert_same(found["order-n"], found["dense"], solving(M), scale)
    assert_same(M @ a + bias, tau, CANCELLING, (np.abs(M) @ np.abs(a) + np.abs(bias)).max())


@few
@given(flexible_trees())
def test_mass_matrix_is_symmetric_and_positive(tree):
    _, model, q, _, _ = tree
    M = model.mass_matrix(q)
    assert_same(M, M.T, 4 * EPS)
    assert np.linalg.eigvalsh(M)[0] > 0


@pytest.mark.parametrize("modes", [6, 10])
@pytest.mark.parametrize("deflection", [0.02, 0.12, 0.5])
def test_geometric_stiffness_keeps_the_mass_matrix_positive(modes, deflection):
    """A beam on a hinge without a hub, bent in both planes: the modes leave the hinge little inertia of its own, so that what the
    shortening of the beam takes from its inertia must be found in the coupling and in the modal mass too."""
    beam = bough.beam(1.0, EI=1.0, mass_per_length=1.0, modes=modes)
    s = bough.System("arm")
    s.body("arm", joint=bough.Revolute("z"), flexible=beam)
    eta = beam.static_deflection("tip", force=(0.0, 1.0, 0.3))
    eta *= deflection / np.linalg.norm(beam.displacement(eta)["tip"])
    assert np.linalg.eigvalsh(s.compile().mass_matrix([0.0, *eta]))[0] > 0


# ---- energy, power, kinematics ----------------------------------------------------------------------------------------------
@few
@given(flexible_trees(deformation=MODERATE))
def test_kinetic_energy_is_half_v_M_v(tree):
    """The bodies' own kinetic energies, from their deformed integrals, sum to v'Mv/2."""
    _, model, q, v, _ = tree
    assert_same(model.kinetic_energy(q, v), 0.5 * v @ model.mass_matrix(q) @ v, SWEEP)


def difference(function, h=1e-4):
    """The derivative at 0, by Richardson's extrapolation of central differences: c h^4 + eps/h remain, relative to what is told."""
    slopes = [(function(step) - function(-step)) / (2 * step) for step in (h, 2 * h)]
    return (4 * slopes[0] - slopes[1]) / 3


@few
@given(flexible_trees(deformation=MODERATE))
def test_power_in_is_the_rate_of_energy(tree):
    """d(T + V)/dt = tau.v - eta'.D eta' + power of wrenches, T and V by central differences along the motion.

    Along q(dt), v + a dt the energy agrees with that of the true motion to first order in dt. The modes' rates reach 60/s (of
    stiff ones, in units of their amplitude); h^4 times the fourth power of that is 1e-9 of the energies, eps/h is 1e-12."""
    system, model, q, v, rng = tree
    body = list(system.bodies.values())[-1]
    place = (body.name, body.flexible.nodes.names[-1]) if body.flexible else body.name
    a, wrench = rng.normal(size=model.nv), rng.normal(size=6)
    tau = model.inverse_dynamics(q, v, a, wrenches={place: wrench}, frame="world")
    lost = 0.0
    for other in system.bodies.values():
        if other.flexible is not None:
            speed = model.places[other.name][1] + other.joint.n_v
            rate = v[speed : speed + other.n_modes]
            lost += rate @ other.flexible.D @ rate

    def energy(dt):
        return model.kinetic_energy(moved(model, q, v, dt), v + dt * a) + model.potential_energy(moved(model, q, v, dt))

    seen = model.bodies(q, v)
    if body.flexible:
        at = seen.node(*place)
        rate, velocity = at.rate[0], at.velocity[0]
    else:
        rate, velocity = np.split(model.velocity(q, v, place), 2)
    power = tau @ v - lost + rate @ wrench[:3] + velocity @ wrench[3:]
    sizes = np.abs(tau) @ np.abs(v) + model.kinetic_energy(q, v) + abs(model.potential_energy(q))
    assert_same(difference(energy), power, 1e-7, sizes)         # 1e-9 in each of up to a hundred modes


@few
@given(flexible_trees(deformation=MODERATE))
def test_velocities_are_rates_of_places(tree):
    """Of every node and of every body's frames: velocity, spin and acceleration by differences of place, attitude and velocity."""
    system, model, q, v, rng = tree
    a = rng.normal(size=model.nv)
    nodes = [(body.name, node) for body in system.bodies.values() if body.flexible for node in body.flexible.nodes.names]

    def told(dt, acceleration=0.0):
        """Places (k, 3), attitudes (k, 3, 3), velocities and spins (k, 3) of nodes, then of bodies."""
        seen = model.bodies(moved(model, q, v + dt * acceleration / 2, dt), v + dt * acceleration)
        found = [seen.node(*place) for place in nodes]
        told_of = []
        for name in ("position", "attitude", "velocity", "rate"):
            of_bodies = [getattr(seen, name)[0], getattr(seen.frames, name)[0]]
            told_of.append(np.concatenate([*(getattr(each, name) for each in found), *of_bodies]))
        return told_of

    _, attitude, velocity, rate = told(0.0)
    speed = max(1.0, np.abs(velocity).max(), np.abs(rate).max())
    assert_same(difference(lambda dt: told(dt)[0]), velocity, 1e-8, speed)
    spin = difference(lambda dt: told(dt)[1]) @ attitude.transpose(0, 2, 1)
    assert_same(np.stack([spin[:, 2, 1], spin[:, 0, 2], spin[:, 1, 0]], axis=1), rate, 1e-8, speed)
    seen = model.bodies(q, v, a)
    ours = seen.acceleration[0]
    rates = [difference(lambda dt, k=k: told(dt, a)[k])[len(nodes) : len(nodes) + len(system.bodies)] for k in (3, 2)]
    assert_same(np.concatenate(rates, axis=1), ours, 1e-7, speed**2)


@few
@given(flexible_trees(deformation=MODERATE))
def test_points_of_nodes_move_as_their_jacobians_say(tree):
    """Of a point off each place: J v is its velocity, J a + J' v its acceleration, and J' what differences along the motion say."""
    system, model, q, v, rng = tree
    a, point = rng.normal(size=model.nv), rng.uniform(-1, 1, 3)
    places = [*system.bodies, *((body.name, node) for body in system.bodies.values() if body.flexible
                                for node in body.flexible.nodes.names)]
    positions, attitudes = model.frames(q, places)
    for k, place in enumerate(places):
        position, attitude = model.pose(q, place, point)
        assert_same(position, positions[k] + attitudes[k] @ point, SWEEP, 1.0)
        np.testing.assert_array_equal(attitude, attitudes[k])
        J, velocity = model.jacobian(q, place, point), model.velocity(q, v, place, point)
        assert_same(J @ v, velocity, CANCELLING, np.abs(v).max())
        changed = difference(lambda dt, place=place: model.jacobian(moved(model, q, v, dt), place, point))
        rate, size = changed @ v, max(1.0, np.abs(v).max())**2
        assert_same(model.jacobian_rate(q, v, place, point), changed, 1e-7, size)
        assert_same(model.jacobian_rate(q, v, place, point) @ v, model.acceleration(q, v, None, place, point), CANCELLING, size)
        assert_same(model.acceleration(q, v, None, place, point), rate, 1e-7, size)
        assert_same(model.acceleration(q, v, a, place, point), J @ a + rate, 1e-7, size)


# ---- lanes, parameters, order ------------------------------------------------------------------------------------------------
@few
@given(flexible_trees())
def test_a_lane_is_the_single_evaluation(tree):
    """A state of a batch gives what it gives alone; one and four lanes are compiled apart, so a few roundings may differ."""
    _, model, _, _, rng = tree
    q, v = random_states(model, rng, 5, size=SMALL)
    tau = rng.normal(size=v.shape)
    forward, inverse, M = model.forward_dynamics(q, v, tau), model.inverse_dynamics(q, v, tau), model.mass_matrix(q)
    for i in (0, 3, 4):
        bias = model.bias(q[i], v[i])
        weight = np.abs(M[i]) @ np.abs(tau[i]) + np.abs(bias)
        scale = solved_scale(M[i], tau[i], bias).max()
        assert_same(forward[i], model.forward_dynamics(q[i], v[i], tau[i]), max(SWEEP, solving(M[i], 0.0) / 10), scale)
        assert_same(inverse[i], model.inverse_dynamics(q[i], v[i], tau[i]), SWEEP, weight.max())
        assert_same(M[i], model.mass_matrix(q[i]), SWEEP)
        assert_same(model.momentum(q, v)[i], model.momentum(q[i], v[i]), SWEEP, np.abs(model.momentum(q, v)).max())
        assert_same(model.kinetic_energy(q, v)[i], model.kinetic_energy(q[i], v[i]), SWEEP)


@examples(10)
@given(flexible_trees(root="free"))
def test_each_lane_may_have_its_own_places_and_masses(tree):
    """Places of all bodies, and masses of rigid ones, that differ from state to state: each as in a model of its own."""
    system, model, _, _, rng = tree
    n = 5
    q, v = random_states(model, rng, n, size=SMALL)
    changes = {f"{name}.at": rng.uniform(-0.3, 0.3, (n, 3)) for name in system.bodies}
    changes |= {f"{name}.mass": body.mass * rng.uniform(0.5, 2, n) for name, body in system.bodies.items() if body.flexible is None}
    batch = model.batch(q, v)
    batch = replace(batch, tables=replace(batch.tables, pars=model.parameter_tables(changes)))
    together = forward(model, batch, "order-n").rows
    for i in range(n):
        own = model.with_parameters({key: values[i] for key, values in changes.items()})
        M, bias = own.mass_matrix(q[i]), own.bias(q[i], v[i])
        assert_same(together[i], own.forward_dynamics(q[i], v[i]), solving(M), solved_scale(M, bias).max())


@few
@given(flexible_trees())
def test_order_of_description_does_not_matter(tree):
    system, model, q, v, rng = tree
    tau = rng.normal(size=model.nv)
    other = rebuilt(system, order=[str(name) for name in rng.permutation(list(system.bodies))]).compile()
    iq, iv = reordered(model, other, "q"), reordered(model, other, "v")
    M, bias = model.mass_matrix(q), model.bias(q, v)
    theirs = model.forward_dynamics(q, v, tau)[iv]
    assert_same(other.forward_dynamics(q[iq], v[iv], tau[iv]), theirs, solving(M), solved_scale(M, tau, bias).max())
    assert_same(other.mass_matrix(q[iq]), M[np.ix_(iv, iv)], SWEEP)


# ---- flexible and rigid -----------------------------------------------------------------------------------------------------
def without_modes(body):
    """A flexible body with no modes at all."""
    nodes, none = body.nodes, np.zeros((len(body.nodes), 3, 0))
    i, n = body.integrals, 0
    integrals = replace(i, t=i.t[:n], I1=i.I1[:n], I2=i.I2[:n, :n], h=i.h[:n], k=i.k[:n, :n], Mff=i.Mff[:n, :n], **no_spins(n))
    return replace(
        body, integrals=integrals, nodes=replace(nodes, phi=none, psi=none), K=body.K[:n, :n], D=body.D[:n, :n], geometric=None,
        frequencies=body.frequencies[:n], points=None, outline=None, recipe=None,
    )  # fmt: skip


@few
@given(flexible_trees(root="free"))
def test_no_modes_make_a_rigid_body(tree):
    """Flexible bodies without modes, and what hangs on their nodes: the rigid bodies of the same mass, to rounding."""
    system, _, _, _, rng = tree
    still = rebuilt(system, flexible=lambda body: without_modes(body.flexible)).compile()
    rigid = rebuilt(system, flexible=lambda body: None).compile()
    assert still.names.v == rigid.names.v
    q, v = random_states(rigid, rng)
    tau, M, bias = rng.normal(size=rigid.nv), rigid.mass_matrix(q), rigid.bias(q, v)
    scale = solved_scale(M, tau, bias).max()
    for method in METHODS:
        assert_same(still.forward_dynamics(q, v, tau, dynamics=method), rigid.forward_dynamics(q, v, tau), solving(M), scale)
    assert_same(still.mass_matrix(q), M, CANCELLING)
    assert_same(still.inverse_dynamics(q, v, tau), tau @ M + bias, CANCELLING, (np.abs(M) @ np.abs(tau) + np.abs(bias)).max())
    assert_same(still.momentum(q, v), rigid.momentum(q, v), CANCELLING, 1.0)
    assert_same(still.kinetic_energy(q, v), rigid.kinetic_energy(q, v), CANCELLING)
    assert_same(still.center_of_mass(q), rigid.center_of_mass(q), CANCELLING, 1.0)


def at_rest_in_motion(model, q, v, tau):
    """The joints' accelerations with modes that do not accelerate at these joint speeds: eta -= K^-1 (modal force that is missing).

    Each step leaves a factor |dforce/deta|/K of the error, 1e-4 here at the least stiff."""
    modal, modal_q, q = modal_places(model), modal_places(model, "q"), q.copy()
    K = np.zeros((model.nv, model.nv))
    for body in model.system.bodies.values():
        if body.flexible is not None:
            at = model.places[body.name][1] + body.joint.n_v
            K[at : at + body.n_modes, at : at + body.n_modes] = body.flexible.K
    a = np.zeros(model.nv)
    for _ in range(8):
        M, h = model.mass_matrix(q), model.bias(q, v)
        a[~modal] = np.linalg.solve(M[np.ix_(~modal, ~modal)], (tau - h)[~modal])
        missing = (M @ a + h)[modal]
        q[modal_q] -= np.linalg.solve(K[np.ix_(modal, modal)], missing)
    return a[~modal]


@pytest.mark.parametrize("seed", range(4))
def test_stiff_bodies_are_rigid(seed):
    """With stiffness s times larger, deformation at rest and with it the joints' accelerations approach those of rigid bodies
    as 1/s."""
    rng = np.random.default_rng(seed)
    system = random_twin(rng, 5, chosen=bodies(), root="free", rests=0.0).system
    rigid = rebuilt(system, flexible=lambda body: None).compile()
    q, v = random_states(rigid, rng)
    tau, errors = rng.normal(size=rigid.nv), []
    exact = rigid.forward_dynamics(q, v, tau)
    for factor in (1e6, 1e8):
        stiffer = rebuilt(system, flexible=lambda body, s=factor: replace(body.flexible, K=s * body.flexible.K, recipe=None))
        model = stiffer.compile()
        whole_q, whole_v, whole_tau = np.zeros(model.nq), np.zeros(model.nv), np.zeros(model.nv)
        joints_q, joints = ~modal_places(model, "q"), ~modal_places(model)
        whole_q[joints_q], whole_v[joints], whole_tau[joints] = q, v, tau
        a = at_rest_in_motion(model, whole_q, whole_v, whole_tau)
        errors.append(np.abs(a - exact).max() / np.abs(exact).max())
    assert errors[0] / errors[1] == pytest.approx(100, rel=0.05)  # 1/s, but for the square


def test_amplitudes_are_those_of_nodes():
    """The helper's unit: each mode moves or turns some node by `size`."""
    for body in bodies().values():
        moves = np.abs(np.concatenate([body.nodes.phi, body.nodes.psi], axis=1) * amplitudes(body, 0.2)).max(axis=(0, 1))
        assert moves == pytest.approx(np.full(body.n_modes, 0.2))
