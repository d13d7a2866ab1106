"""Closed loops at one instant: accelerations and forces against maximal coordinates, Pinocchio, and bough cut elsewhere.

How far two solutions may be apart follows from the equations of each state: see `tests.support.compare.loop_rounding`. It is 1e-13
to 1e-11 of the accelerations here. Two results of bough's, rounded each, may be twice as far apart as one is from the truth."""
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import bough
from tests.oracles.test_maximal_oracle import EXPRESSIBLE
from tests.support import maximal
from tests.support.closed_loops import (
    apart,
    assert_wrenches_within,
    closed,
    copied,
    from_behind,
    gaps,
    in_order,
    loop_jacobian,
    loop_size,
    rounding,
    turned,
    witness,
)
from tests.support.compare import EPS, ROUNDINGS, assert_same, assert_within
from tests.support.mechanisms import (
    CUTS,
    JOINTS,
    MECHANISMS,
    bennett,
    cut_elsewhere,
    floating_loop,
    four_bar,
    n_four_bar,
    two_bodies,
)
from tests.support.peers import peer as engine
from tests.support.tolerance import CANCELLING, FORMULA, SWEEP

METHODS = ("order-n", "dense")
g = 9.81
STATES = range(3)
PLANAR = ("four-bar, revolute", "four-bar, spherical", "double loop, revolute", "5-four-bar", "slider-crank, revolute",
          "slider-crank, prismatic", "quick return", "twin pins")


# ---- maximal coordinates ------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", MECHANISMS)
def test_accelerations(name):
    _, model, q, v, tau = closed(name)
    for i in STATES:
        want = witness(name, i)[0]
        bound, _ = rounding(model, q[i], v[i], tau[i], want)
        for method in METHODS:
            assert_within(model.forward_dynamics(q[i], v[i], tau[i], dynamics=method), want, bound)


@pytest.mark.parametrize("name", MECHANISMS)
def test_forces(name):
    """Of redundant loops those of least norm. Forces that hardly matter to the motion are what is left of the tree's own."""
    _, model, q, v, tau = closed(name)
    for i in STATES:
        a, want, _ = witness(name, i)
        _, bound = rounding(model, q[i], v[i], tau[i], a)
        for method in METHODS:
            got = model.constraint_forces(q[i], v[i], tau[i], dynamics=method)
            assert_wrenches_within(got, want, bound)


@pytest.mark.parametrize("name", MECHANISMS)
def test_reactions(name):
    """Newton and Euler for all bodies outboard of a joint, with the witness's accelerations and loop forces."""
    case, model, q, v, tau = closed(name)
    s, q, v, tau = case.system, q[0], v[0], tau[0]
    a, forces, _ = witness(name, 0)
    got, want = model.reactions(q, v, a, tau), loads(s, q, v, a, forces)
    bound = rounding(model, q, v, tau, a)[1]*len(forces)                # each loop's force is off by so much
    assert_within(got, want, bound*(1.0 + loop_size(model)) + ROUNDINGS*EPS*np.abs(want).max())


def loads(system, q, v, a, forces):
    """(bodies, 6): [moment, force] through the inboard joints, at the bodies' origins and in their axes."""
    stands = maximal.places(system, q, v, a)
    needs = {}
    for name, body in system.bodies.items():
        M, f = maximal.newton_euler(system, body, stands)
        needs[name] = M @ stands[name].acceleration - f
    for loop in maximal.loop_constraints(system):
        b = tuple(loop.sides(stands))[1]
        world = np.concatenate([b.rotation.value @ part for part in np.split(forces[loop.name], 2)])
        held = [(body, sign*shifted(world, b, stands[body])) for body, sign in ((loop.a[0], -1.0), (loop.b[0], 1.0))]
        for body, wrench in [*held, *maximal.exerted(loop, stands)]:
            if body != "world":
                needs[body] = needs[body] - wrench
    found = []
    for name in system.bodies:
        total = sum(shifted(needs[outer], stands[outer], stands[name]) for outer in outboard(system, name))
        found.append(np.concatenate([part @ stands[name].rotation.value for part in np.split(total, 2)]))
    return np.array(found)


def shifted(wrench, here, there):
    """[moment, force] at one place, seen from another."""
    arm = here.position.value - there.position.value
    return wrench + np.append(np.cross(arm, wrench[3:]), np.zeros(3))


def outboard(system, name):
    found = [name]
    for inner in found:
        found += [body.name for body in system.bodies.values() if body.parent == inner]
    return found


# ---- bough against itself -----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", MECHANISMS)
def test_methods_agree_and_lanes_are_single_states(name):
    """In any company: what a lane gives is the same, bit for bit."""
    case, model, q, v, tau = closed(name)
    found = {method: model.forward_dynamics(q, v, tau, dynamics=method) for method in METHODS}
    bounds = [rounding(model, *state) for state in zip(q, v, tau, found["dense"], strict=True)]
    bound = 2*np.array([each for each, _ in bounds])
    assert_within(found["order-n"], found["dense"], bound)
    for method, many in found.items():
        one = np.array([model.forward_dynamics(*state, dynamics=method) for state in zip(q, v, tau, strict=True)])
        assert_within(many, one, bound)
        assert np.array_equal(model.forward_dynamics(q[::-1], v[::-1], tau[::-1], dynamics=method), many[::-1])
    forces = model.constraint_forces(q, v, tau)
    single = [model.constraint_forces(*state) for state in zip(q, v, tau, strict=True)]
    for loop, rows in forces.items():
        assert_within(rows, [each[loop] for each in single], 2*max(force for _, force in bounds))
    many, one = gaps(model, q, case.v), np.concatenate([gaps(model, each, case.v) for each in q])
    assert_same(many, one, ROUNDINGS*EPS, scale=loop_size(model)*np.abs(case.v).max())


@pytest.mark.parametrize("name", MECHANISMS)
def test_assembled_states_are_closed(name):
    """To rounding, in position and in speed, by bough's own gaps and by the witness's; and closed states stay as they are."""
    case, model, q, v, _ = closed(name)
    speed = 1.0 + np.abs(v).max()
    assert np.abs(gaps(model, q)).max() < FORMULA
    assert np.abs(gaps(model, q, v)).max() < FORMULA*speed
    for i in STATES:
        stands = maximal.places(case.system, q[i], v[i])
        for loop in maximal.loop_constraints(case.system):
            now = loop.residual(stands)
            assert np.abs(now.value).max() < FORMULA
            assert np.abs(now.rate).max() < SWEEP*speed
    again = model.assemble(q, v)
    np.testing.assert_allclose(again[0], q, rtol=0, atol=FORMULA)
    np.testing.assert_allclose(again[1], v, rtol=0, atol=SWEEP*speed)


@pytest.mark.parametrize("name", PLANAR)
@pytest.mark.parametrize("seed", range(5))
def test_turned_in_space(name, seed):
    """Planar mechanisms in any plane, whose loops are seen from any frames: redundant directions are then nowhere along axes."""
    case, model, q, v, tau = closed(name)
    other = turned(case.system, *(Rotation.random(random_state=s) for s in (seed, 100 + seed))).compile()
    np.testing.assert_allclose(gaps(other, q), 0.0, atol=FORMULA)
    for method in METHODS:
        here, there = (each.forward_dynamics(q, v, tau, dynamics=method) for each in (model, other))
        for a, again, *state in zip(here, there, q, v, tau, strict=True):
            assert_within(again, a, 2*rounding(model, *state, a)[0])
    for state in q:
        assert other.freedom(state).degrees == case.motions
        assert other.freedom(state).rank == model.freedom(state).rank


@pytest.mark.parametrize("name", ["double loop, revolute", "5-four-bar", "twin pins", "stewart", "limbed platform", "quick return"])
def test_the_order_of_loops_does_not_matter(name):
    """Nor from which end they are seen; what a exerts on b is then what b exerted on a."""
    case, model, q, v, tau = closed(name)
    want, forces = model.forward_dynamics(q, v, tau), model.constraint_forces(q, v, tau)
    bounds = [rounding(model, *state) for state in zip(q, v, tau, want, strict=True)]
    bound, force = 2*np.array([each for each, _ in bounds]), 2*max(each for _, each in bounds)
    for names in (list(forces)[::-1], np.random.default_rng(0).permutation(list(forces))):
        other = in_order(case.system, names).compile()
        assert_within(other.forward_dynamics(q, v, tau), want, bound)
        assert_wrenches_within(other.constraint_forces(q, v, tau), forces, force)
    if name != "quick return":                                      # whose slot is not the same joint from its other side
        assert_within(from_behind(case.system).compile().forward_dynamics(q, v, tau), want, bound)


@pytest.mark.parametrize("name", CUTS)
def test_the_cut_does_not_matter(name):
    """Bodies accelerate as they did when the loop is cut at another of its joints; and its forces are that joint's load."""
    make, loop, cut = CUTS[name]
    case, rng = make(), np.random.default_rng(3)
    s, model = case.system, case.system.compile()
    other = cut_elsewhere(s, loop, cut)
    there = other.system.compile()
    for _ in range(2):
        q = maximal.retracted(s, case.q, 0.02*rng.normal(size=model.nv))
        q, v = model.assemble(q, case.v + 0.2*rng.normal(size=model.nv))
        new_q, new_v = other.state(s, q, v)
        np.testing.assert_allclose(gaps(there, new_q), 0.0, atol=SWEEP) if there.system.loops else None
        for method in METHODS:
            a = model.forward_dynamics(q, v, dynamics=method)
            new = there.forward_dynamics(new_q, new_v, dynamics=method)
            want = other.carry(*maximal.motion(s, q, v, a))[2]
            got = maximal.motion(other.system, new_q, new_v, new)[2]
            assert apart(got, want) < 1e-10                         # states are carried over to 1e-14 of meters, and multiplied


# ---- another engine -----------------------------------------------------------------------------------------------------------
@pytest.mark.oracle
@pytest.mark.parametrize("name", EXPRESSIBLE)
def test_pinocchio_agrees(name):
    """Its constraintDynamics iterates until forces change by 1e-14; of redundant loops it too finds the least forces."""
    case, model, q, v, tau = closed(name)
    s, peer = case.system, engine("ClosedPinocchio", case.system)
    spin = {wheel.body: wheel.inertia*wheel.speed*np.array(wheel.axis) for wheel in s.wheels.values()}
    for i in STATES:
        poses, velocities, _ = maximal.motion(s, q[i], v[i])
        wrenches = {body: np.append(-np.cross(velocities[body][:3] @ poses[body][1], h), np.zeros(3)) for body, h in spin.items()}
        force = tau[i] + maximal.spring_forces(s, q[i], v[i])
        bound, of_forces = rounding(model, q[i], v[i], tau[i], witness(name, i)[0])
        assert_within(model.forward_dynamics(q[i], v[i], tau[i]), peer.closed_dynamics(q[i], v[i], force, wrenches), 2*bound)
        theirs = peer.constraint_forces(q[i], v[i], force, wrenches)
        assert_wrenches_within(model.constraint_forces(q[i], v[i], tau[i]), theirs, 2*of_forces)


# ---- freedom ------------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", MECHANISMS)
def test_freedom(name):
    """Degrees of freedom, how many directions are redundant, and that the ones named are: without them the rank is the same."""
    case, model, q, _, _ = closed(name)
    for state in q:
        freedom = model.freedom(state)
        assert (freedom.tree, freedom.degrees) == (model.nv, case.motions)
        assert (freedom.rows - freedom.rank, len(freedom.redundant)) == (case.redundant, case.redundant)
        names = [f"{c.name}.{label}" for c in model.tables.fronts.closures for label in c.labels]
        J, needed = loop_jacobian(model, state), [name not in freedom.redundant for name in names]
        assert maximal.rank(J[needed]) == freedom.rank == sum(needed)


def test_idle_loops():
    """Either of the twin pins would do; both loops of the double loop are needed."""
    assert closed("twin pins").model.freedom(closed("twin pins").q[0]).idle == ("pin", "second pin")
    assert closed("double loop, revolute").model.freedom(closed("double loop, revolute").q[0]).idle == ()


@pytest.mark.parametrize("n", [1, 2, 3])
def test_a_flat_parallelogram_is_freer(n):
    """Where all links lie in a line, parallelograms may go on as antiparallelograms: the loops' rank is less."""
    case = n_four_bar(n)
    model, flat = case.system.compile(), np.pi/2*upright(case)
    J = maximal.jacobians(case.system, flat)[1]
    assert model.freedom(flat).degrees == model.nv - maximal.rank(J) > 1
    assert model.freedom(case.q).degrees == 1


def upright(case):
    """Coordinates of parallelograms whose uprights turn by 1 rad."""
    return np.array([1.0 if name[0] == "v" else -1.0 for name in case.system.bodies])


@pytest.mark.parametrize("n", [1, 2, 5, 12, 40])
def test_parallelograms(n):
    """(n+1)/3 + n kg m^2 turn under (n+1)/2 + n kg at the height cos t; even 1e-5 rad from flat, where freedom changes."""
    case = n_four_bar(n)
    model, turn = case.system.compile(), upright(case)
    for t in (0.3, -1.2, 2.5, np.pi/2 + 1e-3, np.pi/2 - 1e-5, -np.pi/2 + 1e-5):
        want = g*((n + 1)/2 + n)*np.sin(t)/((n + 1)/3 + n)*turn
        for method in METHODS:
            bound, _ = rounding(model, t*turn, 2.0*turn, 0.0*turn, want)
            assert_within(model.forward_dynamics(t*turn, 2.0*turn, dynamics=method), want, bound)


@pytest.mark.parametrize("n", [2, 5])
@pytest.mark.parametrize("order", ["after", "mixed"])
def test_doubled_pins(n, order):
    """Every pin held twice, 0.2 m apart, in any plane: nothing is left for the second loops, wherever they are eliminated."""
    case, rng = n_four_bar(n), np.random.default_rng(n)
    s, turn = copied(case.system), upright(case)
    for loop in case.system.loops.values():
        ends = (bough.Frame(frame.body, at=np.add(frame.at, (0, 0, 0.2))) for frame in (loop.a, loop.b))
        s.loop(f"{loop.name} again", joint=loop.joint, **dict(zip("ab", ends, strict=True)))
    names = list(s.loops) if order == "after" else rng.permutation(list(s.loops))
    model = turned(in_order(s, names), *(Rotation.random(random_state=k) for k in (n, 50 + n))).compile()
    assert model.freedom(0.3*turn).degrees == 1
    assert sorted(model.freedom(0.3*turn).idle) == sorted(s.loops)
    t = np.linspace(-1.4, 1.4, 9)[:, None]
    for method in METHODS:
        want = g*((n + 1)/2 + n)*np.sin(t)/((n + 1)/3 + n)*turn
        bound = [rounding(model, angle*turn, 2.0*turn, 0.0*turn, a)[0] for angle, a in zip(t, want, strict=True)]
        assert_within(model.forward_dynamics(t*turn, np.tile(2.0*turn, (9, 1)), dynamics=method), want, np.array(bound))


def test_a_tree_has_no_loops():
    s = bough.System("tree")
    s.body("bus", joint=bough.Free(), mass=1.0, inertia=(1, 1, 1))
    model = s.compile()
    freedom = model.freedom()
    assert (freedom.degrees, freedom.rows, freedom.rank, freedom.redundant, freedom.idle) == (6, 0, 0, (), ())
    assert model.constraint_forces(model.q0, model.v0) == model.loop_gaps(model.q0) == {}


# ---- hard cases ---------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("place", [0.0, np.pi])
@pytest.mark.parametrize("off", [1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 0.0])
def test_flat_bennett(place, off):
    """Where Bennett's links lie in a plane other directions become redundant than elsewhere; near there pivots are of the order of
    off^2, and rounding is enlarged by their inverse, until they count as redundant."""
    case = bennett(place + max(off, 1e-300))
    model, q = case.system.compile(), case.q
    v = 5.0*np.linalg.svd(loop_jacobian(model, q))[2][-1]
    poses, velocities, _ = maximal.motion(case.system, q, v)
    want = maximal.joint_accelerations(case.system, q, v, maximal.solve(case.system, poses, velocities).accelerations)
    assert model.freedom(q).degrees == 1
    for method in METHODS:
        assert_same(model.forward_dynamics(q, v, dynamics=method), want, CANCELLING)


@pytest.mark.parametrize("kind", ["universal", "skew universal", "revolute", "planar", "spherical", "distance"])
def test_forces_shared_with_a_weld(kind):
    """A weld beside a loop leaves it nothing to do alone: its directions are held twice, and the least squares share them."""
    case = floating_loop(JOINTS[kind]())
    model = case.system.compile()
    q, v = model.assemble(case.q, case.v)
    loop, stands = case.system.loops["grip"], maximal.places(case.system, q)
    a, body = stands[loop.a.body].on(loop.a.at, loop.a.orient), stands[loop.b.body]
    place = {"at": body.rotation.value.T @ (a.position.value - body.position.value),
             "orient": Rotation.from_matrix(body.rotation.value.T @ a.rotation.value).as_quat()}
    both = copied(case.system, "held twice")
    both.loop("weld", joint=bough.Weld(), a=loop.a, b=bough.Frame(loop.b.body, **place))
    model = both.compile()
    q, v = model.assemble(q, v)
    poses, velocities, _ = maximal.motion(both, q, v)
    want = maximal.joint_accelerations(both, q, v, maximal.solve(both, poses, velocities).accelerations)
    assert model.freedom(q).rank == 6
    assert "grip" in model.freedom(q).idle
    bound, of_forces = rounding(model, q, v, 0*v, want)
    for method in METHODS:
        assert_within(model.forward_dynamics(q, v, dynamics=method), want, bound)
        assert_wrenches_within(model.constraint_forces(q, v, dynamics=method), maximal.loop_forces(both, q, v, want)[0], of_forces)


def test_loop_on_welded_bodies():
    """Bodies welded to others carry loops as those others do; a loop between two parts of one rigid body is refused."""
    whole = four_bar("revolute")
    s = copied(whole.system, "with an eye")
    s.body("eye", parent="coupler", at=(1.0, 0, 0), orient=(0, 1, 0, 0), joint=bough.Weld())
    s.body("lug", parent="rocker", at=(0.5, 0, 0), joint=bough.Weld())
    s.loops.clear()
    s.loop("pin", joint=bough.Revolute("y"), a=bough.Frame("eye", orient=(0, 1, 0, 0)), b=bough.Frame("lug", at=(0.3, 0, 0)))
    model, plain = s.compile(), whole.system.compile()
    q, v = plain.assemble(whole.q, whole.v)
    np.testing.assert_allclose(model.assemble(q, v), [q, v], rtol=0, atol=FORMULA)
    for method in METHODS:
        a, forces = plain.forward_dynamics(q, v, dynamics=method), plain.constraint_forces(q, v, dynamics=method)
        bound, of_forces = rounding(plain, q, v, 0*v, a)
        assert_within(model.forward_dynamics(q, v, dynamics=method), a, 2*bound)
        assert_wrenches_within(model.constraint_forces(q, v, dynamics=method), forces, 2*of_forces)
    s.loop("within", joint=bough.Weld(), a=bough.Frame("eye"), b=bough.Frame("coupler", at=(1.0, 0, 0), orient=(0, 1, 0, 0)))
    with pytest.raises(bough.ModelError, match="loop 'within' removes no freedom: its two bodies cannot move against each other"):
        s.compile()
    del s.loops["within"]
    s.body("post", joint=bough.Weld())
    s.loop("standing", joint=bough.Revolute("y"), a=bough.Frame("world"), b=bough.Frame("post"))
    with pytest.raises(bough.ModelError, match="loop 'standing' removes no freedom"):
        s.compile()


@pytest.mark.parametrize("ratio", [1e-6, 1e-3, 1e3, 1e6])
def test_light_and_heavy_links(ratio):
    """Masses far apart: no row of a loop may be taken for redundant. The condition of the mass matrix is the ratio's."""
    case = two_bodies(bough.Weld())
    heavy = copied(case.system, "heavy", body=lambda body: {"mass": ratio*body.mass, "inertia": ratio*np.array(body.inertia)}
                   if body.name == "one" else {})
    model = heavy.compile()
    q, v = model.assemble(case.q, case.v)
    poses, velocities, _ = maximal.motion(heavy, q, v)
    want = maximal.joint_accelerations(heavy, q, v, maximal.solve(heavy, poses, velocities).accelerations)
    bound, _ = rounding(model, q, v, 0*v, want)
    for method in METHODS:
        assert_within(model.forward_dynamics(q, v, dynamics=method), want, 2*bound)     # the witness is rounded as well


# ---- what it refuses ----------------------------------------------------------------------------------------------------------
def test_bad_method():
    _, model, q, v, _ = closed("four-bar, revolute")
    with pytest.raises(bough.StateError, match=r"dynamics is 'densely' \(did you mean 'dense'"):
        model.constraint_forces(q[0], v[0], dynamics="densely")
