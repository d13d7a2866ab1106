"""The momentum cloud against the general sweeps: trees, bases, unknown hinges, wheels, loads, loops, lanes, runs, errors."""
import numpy as np
import pytest

import bough
from bough.bench.momentum_bench import turbine
from tests.support.compare import assert_same, solving
from tests.support.given_motion import BASES, EULER, given_system, states
from tests.support.random_systems import JOINTS
from tests.support.tolerance import CLOSED, STEPPED

SINGLE = tuple(kind for kind in JOINTS if kind not in ("spherical", "general"))        # unknown ones turn about single axes


def system_of(*bodies):
    s = bough.System("odd")
    for name, parent, joint in bodies:
        s.body(name, parent=parent, joint=joint, mass=1.0, inertia=(0.1,)*3, at=(0.3, 0.1, 0.2) if parent else (0, 0, 0))
    return s


TURN = bough.Revolute("z", motion=bough.motion.Rate(1.0))


def tolerance(model, q):
    """Of accelerations by two methods: what rounding may leave of the equations of what is free."""
    free = np.flatnonzero(model.free)
    return solving(model.mass_matrix(q)[np.ix_(free, free)])


def assert_agrees(model, q, v, tau, t, **keywords):
    one = q if q.ndim == 1 else q[0]
    ours = model.forward_dynamics(q, v, tau, t=t, dynamics="cloud", **keywords)
    for method in ("order-n", "dense"):
        assert_same(ours, model.forward_dynamics(q, v, tau, t=t, dynamics=method, **keywords), tolerance(model, one))
    return ours


@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize("seed", range(4))
def test_prescribed_tree(seed, base):
    rng = np.random.default_rng(seed)
    model = given_system(rng, 9, base=base).compile()
    assert model.resolve_dynamics("auto") == "cloud"
    assert_agrees(model, *states(model, rng))


@pytest.mark.parametrize("unknown", [(3,), (1, 2), (1, 4, 6), (1, 2, 3, 4, 5, 6, 7)])
@pytest.mark.parametrize("branched", [False, True], ids=["nested", "branches"])
def test_unknown_hinges(unknown, branched):
    rng = np.random.default_rng(len(unknown))
    model = given_system(rng, 8, base="euler", unknown=unknown, branched=branched, kinds=SINGLE[:-1]).compile()
    assert model.free.sum() == 6 + len(unknown)
    assert_agrees(model, *states(model, rng))


@pytest.mark.parametrize(("unknown", "way"), [(0, "cloud"), (3, "cloud"), (4, "order-n")])
def test_it_is_chosen_where_most_is_given(unknown, way):
    bodies = [("b0", None, bough.Free())]
    bodies += [(f"b{k}", f"b{k - 1}", bough.Revolute("xyz"[k % 3]) if k <= unknown else TURN) for k in range(1, 12)]
    assert system_of(*bodies).compile().resolve_dynamics("auto") == way


def test_springs_and_servos_drive_unknown_hinges():
    """Control equations of the paper's section 6: a spring, and a torque that the caller gives."""
    s = bough.System("panel", gravity=(0, 0, -3))
    s.body("bus", joint=bough.Free(), mass=50.0, inertia=(4, 5, 6), com=(0.1, 0, 0))
    s.body("yoke", parent="bus", joint=bough.Revolute("z", motion=bough.motion.Harmonics([(0.3, 2.0, 0.1)])), at=(1, 0, 0),
           mass=2.0, inertia=(0.3,)*3)
    s.body("panel", parent="yoke", joint=bough.Revolute("x", stiffness=20.0, damping=0.4), at=(0.2, 0, 0), mass=4.0, com=(0, 1, 0),
           inertia=(0.5,)*3)
    s.body("mast", parent="panel", joint=bough.Prismatic("y", stiffness=5.0), at=(0, 2, 0), mass=1.0, inertia=(0.1,)*3)
    model, rng = s.compile(), np.random.default_rng(3)
    q, v = model.follow(model.q0 + 0.2, rng.normal(size=model.nv), 0.4)
    tau = np.zeros(model.nv)
    tau[-2] = 1.5
    assert_agrees(model, q, v, tau, 0.4)


def test_wheels_and_wrenches():
    rng = np.random.default_rng(5)
    s = given_system(rng, 7, unknown=(2, 5), massless=0.0, kinds=SINGLE[:-1])
    for name in ("b0", "b3", "b6"):
        s.wheel(f"held {name}", body=name, axis=rng.normal(size=3), inertia=1e-3, speed=200.0)
        s.wheel(f"driven {name}", body=name, axis=rng.normal(size=3), inertia=1e-3, speed=-100.0, torque=0.2)
    s.wrench("thruster", body="b0", force=(1, 2, 3), moment=(0.3, 0, 0.1), at=(0.1, 0.2, 0))
    s.wrench("wind", body="b5", force=(0, -4, 1), frame="world")
    model = s.compile()
    q, v, tau, t = states(model, rng)
    given = {"wrenches": {"b5": rng.normal(size=6), "b2": rng.normal(size=6)}, "frame": "world"}
    assert_agrees(model, q, v, tau, t, **given)
    wheels = [model.wheel_accelerations(q, v, tau, t=t, dynamics=method, **given) for method in ("cloud", "order-n")]
    assert_same(*wheels, tolerance(model, q))


def four_bar(motion):
    """A parallelogram on a floating bus, all its angles prescribed so that it stays one."""
    turned = bough.motion.Harmonics([(-a, w, p) for a, w, p in motion.terms], mean=-motion.mean)
    s = bough.System("parallelogram", gravity=(0, 0, -9.81))
    s.body("bus", joint=bough.Free(), mass=20.0, inertia=(2, 3, 4))
    for side, x in (("left", 0.0), ("right", 1.0)):
        s.body(side, parent="bus", joint=bough.Revolute("y", motion=motion), at=(x, 0, 0.5), mass=1.0, com=(0, 0, 0.4),
               inertia=(0.1,)*3)
    s.body("coupler", parent="left", joint=bough.Revolute("y", motion=turned), at=(0, 0, 0.8), mass=2.0, com=(0.5, 0, 0),
           inertia=(0.2,)*3)
    s.loop("pin", joint=bough.Revolute("y"), a=bough.Frame("coupler", at=(1, 0, 0)), b=bough.Frame("right", at=(0, 0, 0.8)))
    return s


@pytest.mark.parametrize("base", ["free", "euler"])
@pytest.mark.parametrize("unknown", [(), (2, 4)])
def test_force_elements(base, unknown):
    """Lines, restoring forces and buoyancy on the base and on bodies that it carries."""
    rng = np.random.default_rng(11)
    system = given_system(rng, base=base, unknown=unknown, massless=0.0, kinds=SINGLE[:-1])
    system.gravity = (0, 0, -9.81)
    system.line("moored", a=bough.Frame("world", at=(3, 1, -2)), b=bough.Frame("b0", at=(0, 0.2, 0)), stiffness=20.0, length=1.0,
                damping=2.0)
    system.line("across", a="b3", b=bough.Frame("b6", at=(0.1, 0, 0)), stiffness=30.0, length=0.2, damping=1.0)
    system.restoring("tether", body="b5", at=(0.1, -0.2, 0.5), stiffness=(5, 6, 7, 3, 2, 1), force=(1, 2, 3))
    system.buoyancy("float", body="b7", sections=[(-0.5, 0.4, 0.3, 0.3)], level=0.4)
    model = system.compile()
    assert_agrees(model, *states(model, rng))
    assert_agrees(model, *states(model, rng, 4))


def test_closed_chain_of_given_motions():
    model = four_bar(bough.motion.Harmonics([(0.4, 3.0, 0.2)], mean=0.3)).compile()
    rng = np.random.default_rng(7)
    q, v = model.follow(model.q0, rng.normal(size=model.nv), 0.7)
    assert max(np.abs(gap).max() for gap in model.loop_gaps(q, v).values()) < CLOSED
    assert model.resolve_dynamics("auto") == "cloud"
    ours = model.forward_dynamics(q, v, t=0.7, dynamics="cloud")
    assert_same(ours, model.forward_dynamics(q, v, t=0.7, dynamics="order-n"), tolerance(model, q))
    runs = [bough.simulate(model, until=1.0, dt=1e-2, dynamics=way).data.q.to_numpy() for way in ("cloud", "order-n")]
    assert_same(*runs, STEPPED)
    assert set(model.constraint_forces(q, v, t=0.7)) == {"pin"}
    with pytest.raises(bough.StateError, match="'cloud' finds no forces of loops"):
        model.constraint_forces(q, v, t=0.7, dynamics="cloud")


def test_lanes_are_as_one_state():
    rng = np.random.default_rng(11)
    model = given_system(rng, 8, base="euler", unknown=(2, 4), kinds=SINGLE).compile()
    q, v, tau, t = states(model, rng, 6)
    many = assert_agrees(model, q, v, tau, t)
    for i in range(6):
        assert_same(many[i], model.forward_dynamics(q[i], v[i], tau[i], t=t, dynamics="cloud"), tolerance(model, q[i]))


@pytest.mark.parametrize("method", ["rk4", "dopri5"])
def test_runs_agree(method):
    """Both are the same equations: what differs is the rounding of accelerations, over a second."""
    rng = np.random.default_rng(13)
    model = given_system(rng, 6, unknown=(3,), kinds=("revolute", "universal")).compile()
    q, v, _, _ = states(model, rng)
    q, v = model.follow(q, v, 0.0)
    given = {"q0": q, "v0": v, "until": 1.0, "method": method} | ({"dt": 1e-2} if method == "rk4" else {"first_step": 1e-2})
    runs = [bough.simulate(model, **given, dynamics=way).data.q.to_numpy() for way in ("auto", "cloud", "order-n")]
    assert (runs[0] == runs[1]).all()
    assert_same(runs[1], runs[2], tolerance(model, q))


def test_the_turbine_for_five_minutes():
    """The paper's example on Euler angles, moored by springs: rounding is all that may differ, and moorings do not let it grow."""
    described, s = turbine(), bough.System("moored", gravity=(0, 0, -9.80665))
    mooring = bough.Joint("xyz", "xyz", stiffness=(4e4, 4e4, 2e6, 2e9, 2e9, 1e8), damping=(1e5, 1e5, 1e5, 1e8, 1e8, 1e7))
    for body in described.bodies.values():
        s.body(body.name, parent=body.parent, joint=body.joint if body.parent else mooring, at=body.at, orient=body.orient,
               mass=body.mass, com=body.com, inertia=body.inertia)
    runs = [bough.simulate(s, until=300.0, dt=0.02, sample_rate=1, dynamics=way).data.q.to_numpy() for way in ("auto", "order-n")]
    assert_same(*runs, STEPPED)


def test_an_event_that_frees_a_joint_changes_the_method():
    rng = np.random.default_rng(17)
    s = given_system(rng, 3, kinds=("revolute",))
    s.event("let go", at=0.5, do=[bough.Release("b1")])
    s.event("catch", at=0.8, do=[bough.Lock("b0")])                 # the base is held: no cloud
    model = s.compile()
    runs = [bough.simulate(model, until=1.2, dt=5e-3, dynamics=way).data.q.to_numpy() for way in ("auto", "order-n")]
    assert_same(*runs, tolerance(model, model.q0))
    assert np.ptp(runs[0][:, -1]) > 0.1
    with pytest.raises(bough.StateError, match="'b0' of the base is held"):
        bough.simulate(model, until=1.2, dt=5e-3, dynamics="cloud")


@pytest.mark.parametrize(("system", "said"), [
    (system_of(("a", None, bough.Revolute("z"))), "joint 'a' of the base leaves it fewer than three"),
    (system_of(("a", None, bough.Free()), ("b", None, bough.Revolute("x"))), "joint 'b' puts a second tree on the world"),
    (system_of(("a", None, bough.Free()), ("b", "a", bough.Spherical())), "joint 'b' is spherical and free"),
    (system_of(("a", None, bough.Joint("xyz", "xyz", motion=[*[None]*5, "locked"])), ("b", "a", TURN)), "'a' of the base is held"),
])
def test_where_it_does_not_apply(system, said):
    model = system.compile()
    assert model.resolve_dynamics("auto") != "cloud"
    with pytest.raises(bough.StateError, match=said):
        model.forward_dynamics(model.q0, model.v0, dynamics="cloud")
    with pytest.raises(bough.StateError, match=said):
        bough.simulate(model, until=0.1, dt=0.01, dynamics="cloud")


def test_a_loop_through_an_unknown_joint():
    s = four_bar(bough.motion.Harmonics([(0.4, 3.0, 0.2)], mean=0.3))
    loose = bough.System("loose")
    for body in s.bodies.values():
        joint = bough.Revolute("y") if body.name == "coupler" else body.joint
        loose.body(body.name, parent=body.parent, joint=joint, at=body.at, mass=body.mass, com=body.com, inertia=body.inertia)
    loose.loops.update(s.loops)
    assert "loop 'pin' holds joint 'coupler'" in loose.compile().no_cloud


def test_orbit_and_flexible_bodies():
    s = bough.System("orbit", gravity=bough.CentralGravity(mu=3.986e14, position=(7e6, 0, 0), velocity=(0, 7.5e3, 0)))
    s.body("bus", joint=bough.Free(), mass=10.0, inertia=(1.0,)*3)
    assert s.compile().no_cloud == "gravity is central"
    s = bough.System("boom")
    s.body("bus", joint=bough.Free(), mass=10.0, inertia=(1, 1, 1))
    s.body("boom", parent="bus", flexible=bough.beam(2.0, EI=100, mass_per_length=1.5, modes=2))
    assert s.compile().no_cloud == "body 'boom' is flexible"


def test_stiff_methods_do_not_offer_it():
    model = system_of(("a", None, bough.Free()), ("b", "a", TURN)).compile()
    with pytest.raises(bough.StateError, match="dynamics 'cloud' is not offered with the method 'radau'"):
        bough.simulate(model, until=0.1, dynamics="cloud", method="radau")
    bough.simulate(model, until=0.1, method="radau")


def test_the_singular_attitude_of_euler_angles_is_named():
    model = system_of(("a", None, EULER), ("b", "a", TURN)).compile()
    q = model.q0.copy()
    q[4] = np.pi/2
    with pytest.raises(bough.StateError, match=r"joint 'a'.*singular"):
        model.forward_dynamics(q, np.ones(model.nv), dynamics="cloud")
