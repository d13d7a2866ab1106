"""Couplings between coordinates: against the dense equations in NumPy, closed forms, and other engines."""
from itertools import combinations

import numpy as np
import pytest

import bough
from bough.errors import DescriptionError, ModelError, StateError
from tests.support.compare import EPS, ROUNDINGS, assert_same, assert_within, loop_rounding, solving
from tests.support.flexible_trees import random_states, random_twin
from tests.support.held_systems import given_accelerations, random_motions, solved, with_motions
from tests.support.random_systems import random_state, random_system
from tests.support.tolerance import CANCELLING, FORMULA, PRODUCTS, STEPPED, SWEEP

METHODS = ("order-n", "dense")


def matrix(model):
    """(couplings, nv): the factors as they are described."""
    C, names = np.zeros((len(model.system.couplings), model.nv)), list(model.names.v)
    for row, coupling in zip(C, model.system.couplings.values(), strict=True):
        row[[names.index(name) for name in coupling.coordinates(model.system)]] = list(coupling.terms.values())
    return C


def couple(rng, system, n):
    """The same system with up to n random couplings of two to four coordinates each, which share coordinates."""
    new = system.copy()
    able = [name for body in new.bodies.values() for i, name in enumerate(body.speed_names[:body.joint.n_v])
            if not (body.joint.spherical and i >= len(body.joint.translations))]
    for i in range(n):
        chosen = rng.choice(able, min(len(able), rng.integers(2, 5)), replace=False)
        if len(chosen) > 1 and len(able) > n + 1:
            new.coupling(f"c{i}", dict(zip(map(str, chosen), rng.uniform(0.3, 2.0, len(chosen)), strict=True)), offset=rng.normal())
    return new


@pytest.mark.parametrize("seed", range(8))
def test_coupled_trees(seed):
    """M a - C^T l = tau - h, C a = 0; and with the coordinates eliminated by hand: N^T M N z' = N^T (tau - h), C N = 0.  One state,
    and five in lanes; forces by name; the inverse dynamics gives torques of the same effect."""
    rng = np.random.default_rng(seed)
    system = random_system(rng, 6 + seed % 3, root="free" if seed % 2 else "revolute", massless=0.0)
    tree, model = system.compile(), couple(rng, system, 3).compile()
    q, v = random_state(tree, rng, 5)
    q, v = model.assemble(q, v)
    tau, C = rng.normal(size=v.shape), matrix(model)
    together = [model.forward_dynamics(q, v, tau, dynamics=method) for method in METHODS]
    forces = model.constraint_forces(q, v, tau)
    N = np.linalg.svd(C)[2][np.linalg.matrix_rank(C):].T
    for i in range(5):
        M, h = tree.mass_matrix(q[i]), tree.bias(q[i], v[i])
        reduced = N @ np.linalg.solve(N.T @ M @ N, N.T @ (tau[i] - h))
        a, _ = solved(M, h, tau[i], np.zeros(model.nv), np.ones(model.nv, bool), C, np.zeros(len(C)))
        bound = loop_rounding(M, C, a, v[i], tau[i], h)
        for method, many in zip(METHODS, together, strict=True):
            for found in (model.forward_dynamics(q[i], v[i], tau[i], dynamics=method), many[i]):
                assert_within(found, a, bound.accelerations)
                assert_within(found, reduced, 2*bound.accelerations)
        multipliers = np.linalg.lstsq(C.T, M @ a + h - tau[i], rcond=None)[0]
        for row, name, multiplier in zip(C, model.system.couplings, multipliers, strict=True):
            factors = row[[model.names.v.index(each) for each in model.system.couplings[name].coordinates(model.system)]]
            np.testing.assert_allclose(forces[name][i], multiplier*factors, rtol=0,
                                       atol=float((bound.multipliers*np.abs(C).max(axis=1)).max()))
        needed = model.inverse_dynamics(q[i], v[i], together[0][i])
        assert_within(model.forward_dynamics(q[i], v[i], needed), together[0][i], 2*bound.accelerations)
        gaps = [np.abs(gap).max() for gap in model.loop_gaps(q[i]).values()]
        assert max(gaps) < 1e-11                                        # assembly closes to 1e-12 of the row's largest factor


@pytest.mark.parametrize("seed", range(4))
def test_couplings_of_flexible_bodies_with_held_coordinates(seed):
    """The same where bodies bend, and some coordinates are locked or prescribed: C a = 0 with given accelerations among a."""
    rng, coupled = np.random.default_rng(100 + seed), bough.System()
    while len(coupled.couplings) < 2:
        system = random_twin(rng, 6).system
        coupled = couple(rng, system, 2)
    free = {system_body(system, name) for coupling in coupled.couplings.values() for name in coupling.coordinates(coupled)[:2]}
    held = {name: motion for name, motion in random_motions(rng, system, 0.8).items() if name not in free}
    model, loose = with_motions(coupled, held).compile(), system.compile()
    q, v = random_states(loose, rng, 5, size=0.1)
    tau, t, C = rng.normal(size=v.shape), rng.uniform(0, 2, 5), matrix(model)
    together = [model.forward_dynamics(q, v, tau, t=t, dynamics=method) for method in METHODS]
    for i in range(5):
        M, h, given = loose.mass_matrix(q[i]), loose.bias(q[i], v[i]), given_accelerations(model, t[i])
        free = model.free
        a, _ = solved(M, h, tau[i], given, free, C, np.zeros(len(C)))
        rows, unknown = np.flatnonzero(np.abs(C[:, free]).max(axis=1) > 0), np.ix_(free, free)
        bound = loop_rounding(M[unknown], C[np.ix_(rows, free)], a[free], v[i][free], tau[i][free], h[free], (M @ given)[free])
        slack = ROUNDINGS*EPS*np.abs(given).max(initial=0.0)
        for method, many in zip(METHODS, together, strict=True):
            for found in (model.forward_dynamics(q[i], v[i], tau[i], t=t[i], dynamics=method), many[i]):
                assert_within(found[free], a[free], bound.accelerations + slack)


def system_body(system, name):
    return next(body.name for body in system.bodies.values() if name in body.speed_names)


def test_many_local_couplings_cost_in_proportion():
    """A chain of geared pairs: the length of all fronts together is proportional to the number of couplings."""
    lengths = []
    for n in (20, 40, 80):
        s = bough.System("chain")
        for k in range(n):
            parent = f"link{k - 1}" if k else None
            s.body(f"link{k}", parent=parent, joint=bough.Revolute("y"), at=(0.5, 0, 0), mass=1.0, inertia=(1, 1, 1))
            s.body(f"rotor{k}", parent=parent, joint=bough.Revolute("y"), at=(0.5, 0, 0), mass=0.1, inertia=(1e-3, 1e-3, 1e-3))
            s.coupling(f"gear{k}", bough.Gear(f"rotor{k}", f"link{k}", ratio=100))
        lengths.append(s.compile().tables.sections["ws"]["fronts"].size)
    assert lengths[2] - lengths[1] == 2*(lengths[1] - lengths[0])


# ---- closed forms ---------------------------------------------------------------------------------------------------------
def train(ratio, inertias):
    """Sun, ring and carrier on one axis, with planets that are part of the carrier's inertia."""
    s = bough.System("planetary")
    for name, inertia in zip(("sun", "ring", "carrier"), inertias, strict=True):
        s.body(name, joint=bough.Revolute("z"), mass=1.0, inertia=(1.0, 1.0, inertia))
    s.coupling("gear", bough.Planetary("sun", "ring", "carrier", ratio=ratio))
    return s


def test_planetary_gear_train():
    """Willis: w_s + r w_r = (1 + r) w_c. With l the multiplier, J_i w_i' = T_i + c_i l and sum c_i w_i' = 0 give
    l = - (sum c_i T_i/J_i)/(sum c_i^2/J_i); with the ring locked the sun turns 1 + r times as fast as the carrier."""
    ratio, J, T = 3.0, np.array([0.01, 0.4, 0.2]), np.array([0.5, -0.3, 1.1])
    c = np.array([1.0, ratio, -1.0 - ratio])
    multiplier = -(c*T/J).sum()/(c*c/J).sum()
    model = train(ratio, J).compile()
    a = model.forward_dynamics(np.zeros(3), np.zeros(3), T)
    np.testing.assert_allclose(a, (T + c*multiplier)/J, rtol=CANCELLING)
    np.testing.assert_allclose(model.constraint_forces(np.zeros(3), np.zeros(3), T)["gear"], c*multiplier, rtol=CANCELLING)
    held = train(ratio, J)
    held.bodies["ring"] = held.bodies["ring"].model_copy(update={"joint": bough.Revolute("z", motion="locked")})
    model = held.compile()
    a = model.forward_dynamics(np.zeros(3), np.zeros(3), T)
    carrier = (T[2] + (1 + ratio)*T[0])/(J[2] + (1 + ratio)**2*J[0])    # sun reflected by the ratio squared
    np.testing.assert_allclose(a, [(1 + ratio)*carrier, 0.0, carrier], rtol=CANCELLING)
    sun = J[0]*a[0] - T[0]
    np.testing.assert_allclose(model.constraint_forces(np.zeros(3), np.zeros(3), T)["gear"], sun*c, rtol=CANCELLING)
    np.testing.assert_allclose(model.drive_forces(np.zeros(3), np.zeros(3), T)["ring.rz"], -T[1] - ratio*sun, rtol=CANCELLING)


def screw(lead=0.01, mass=4.0, inertia=3e-4):
    s = bough.System("screw", gravity=(0, 0, -9.81))
    s.body("spindle", joint=bough.Revolute("z"), mass=1.0, inertia=(1e-3, 1e-3, inertia))
    s.body("nut", joint=bough.Prismatic("z"), mass=mass)
    s.coupling("thread", bough.Screw("spindle", "nut", lead=lead))
    return s


@pytest.mark.parametrize("method", ["rk4", "euler-cromer", "dopri5"])
def test_a_screw_that_falls(method):
    """The nut drives the spindle: (m + J k^2) z'' = - m g, k = 2 pi/lead; energy is kept, and the coupling to rounding."""
    lead, mass, inertia = 0.01, 4.0, 3e-4
    k = 2*np.pi/lead
    model = screw(lead, mass, inertia).compile()
    a = -mass*9.81/(mass + inertia*k*k)
    step = {} if method == "dopri5" else {"dt": 1e-3}
    result = bough.simulate(model, until=1.0, method=method, sample_rate=20, **step)
    t = result.data.time.values
    exact = 0.5*a*t*t
    if method == "euler-cromer":
        exact = 0.5*a*t*(t + 1e-3)                                      # its own solution of a constant acceleration
    np.testing.assert_allclose(result.data.q.sel(q_name="nut.z"), exact, rtol=0, atol=STEPPED)
    np.testing.assert_allclose(result.data.q.sel(q_name="spindle.rz"), k*exact, rtol=0, atol=STEPPED*k)
    force = result.data.coupling_force
    assert list(force.coupled.values) == ["thread: nut.z", "thread: spindle.rz"]
    assert list(force.coupled_unit.values) == ["N", "N m"]
    np.testing.assert_allclose(force[:, 0], mass*(a + 9.81), rtol=SWEEP)
    np.testing.assert_allclose(force[:, 1], inertia*k*a, rtol=SWEEP)
    assert float(np.abs(result.data.coupling_gap).max()) < PRODUCTS*k
    if method == "rk4":
        # rk4 is exact for a constant acceleration
        assert np.ptp(result.data.total_energy.values) < STEPPED*abs(mass*9.81*exact[-1]) + FORMULA
        assert "kept to" in str(result)


def test_power_and_reactions_through_a_gear():
    """What a gear gives to one side it takes from the other; the reaction of each shaft is its torque about the axis, and the frame
    bears both: driven by T at the motor, T - J_m w_m' goes in and n times as much comes out."""
    n, J = 50.0, (2e-5, 0.3)
    s = bough.System("reducer")
    s.body("frame", mass=2.0, inertia=(1, 1, 1))
    s.body("motor", parent="frame", joint=bough.Revolute("z"), mass=0.1, inertia=(1e-5, 1e-5, J[0]))
    s.body("link", parent="frame", joint=bough.Revolute("z"), mass=1.0, inertia=(0.3, 0.3, J[1]))
    s.coupling("gear", bough.Gear("motor", "link", ratio=n))
    model = s.compile()
    tau, v = np.array([0.2, -1.5]), np.array([n*0.4, 0.4])
    a = model.forward_dynamics(np.zeros(2), v, tau)
    link = (tau[1] + n*tau[0])/(J[1] + n*n*J[0])
    np.testing.assert_allclose(a, [n*link, link], rtol=CANCELLING)
    force = model.constraint_forces(np.zeros(2), v, tau)["gear"]
    np.testing.assert_allclose(force, [J[0]*a[0] - tau[0], J[1]*a[1] - tau[1]], rtol=CANCELLING)
    assert abs(force @ v) < FORMULA*np.abs(force*v).max()
    reactions = model.reactions(np.zeros(2), v, a, tau=tau)
    np.testing.assert_allclose(reactions[[1, 2], 2], tau + force, rtol=CANCELLING)
    np.testing.assert_allclose(reactions[0, 2], (tau + force).sum(), rtol=CANCELLING)


def test_a_differential_and_a_cable_share_as_they_should():
    """A differential gives both sides the same torque, whatever their speeds; a cable over pulleys pulls with one tension."""
    s = bough.System("axle")
    for name, inertia in (("left", 0.2), ("right", 0.5), ("carrier", 0.1)):
        s.body(name, joint=bough.Revolute("y"), mass=1.0, inertia=(1.0, inertia, 1.0))
    s.coupling("differential", bough.Differential("left", "right", "carrier"))
    model = s.compile()
    force = model.constraint_forces(np.zeros(3), [1.0, 3.0, 2.0], [0.0, 0.0, 7.0])["differential"]
    assert force[0] == pytest.approx(force[1], rel=SWEEP)
    assert force[2] == pytest.approx(-2*force[0], rel=SWEEP)
    s = bough.System("cable")
    for name in ("shoulder", "elbow"):
        s.body(name, joint=bough.Revolute("y"), mass=1.0, inertia=(1.0, 0.3, 1.0))
    s.coupling("cable", {"shoulder": 0.03, "elbow": -0.02})
    tension = s.compile().constraint_forces(np.zeros(2), np.zeros(2), [1.0, 0.0])["cable"]
    assert tension[0]/0.03 == pytest.approx(-tension[1]/0.02, rel=SWEEP)


# ---- runs -----------------------------------------------------------------------------------------------------------------
def test_start_reference_and_assembly():
    s = bough.System("two")
    s.body("a", joint=bough.Revolute("z", q0=0.3), mass=1.0, inertia=(1, 1, 1))
    s.body("b", joint=bough.Revolute("z", q0=-0.2), mass=1.0, inertia=(1, 1, 1))
    s.coupling("gear", bough.Gear("a", "b", ratio=-2.0), reference="initial")
    model = s.compile()
    assert abs(model.loop_gaps(model.q0)["gear"][0]) < 1e-16                  # one rounding of 0.7 rad: 6e-17
    q, v = model.assemble([0.3, 0.0], [1.0, 0.0])
    assert q[0] + 2*q[1] == pytest.approx(0.3 - 0.4, abs=SWEEP)
    assert v[0] + 2*v[1] == pytest.approx(0.0, abs=FORMULA)
    np.testing.assert_allclose(v, [0.8, -0.4], atol=FORMULA)             # the least kinetic energy of change: J^T along (1, 2)
    assert model.freedom().degrees == 1
    held, _ = model.assemble([0.3, 0.0], hold=["a"])
    np.testing.assert_allclose(held, [0.3, -0.2], atol=SWEEP)


def test_batches_and_baumgarte_follow_the_closed_form():
    """Rows with initial states of their own, in lanes; and by Baumgarte's stabilization."""
    model = screw().compile()
    k = 2*np.pi/0.01
    z = np.linspace(-0.1, 0.1, 6)
    a = -4.0*9.81/(4.0 + 3e-4*k*k)
    for options in ({}, {"stabilize": "baumgarte"}):
        result = bough.simulate(model, q0=np.stack([k*z, z], axis=1), until=0.2, dt=1e-3, sample_rate=5, **options)
        np.testing.assert_allclose(result.data.q.sel(q_name="nut.z").isel(time=-1), z + 0.5*a*0.04, atol=STEPPED)


def test_an_event_locks_one_of_two_coupled_shafts():
    """When the link is locked, the motor stands too, and all of its momentum is gone at once."""
    s = bough.System("brake")
    s.body("motor", joint=bough.Revolute("z", v0=100.0), mass=0.1, inertia=(1e-3, 1e-3, 1e-3))
    s.body("link", joint=bough.Revolute("z", v0=2.0), mass=1.0, inertia=(1, 1, 1))
    s.coupling("gear", bough.Gear("motor", "link", ratio=50))
    s.event("brake", at=0.5, do=[bough.Lock("link")])
    result = bough.simulate(s.compile(), until=1.0, dt=1e-2, sample_rate=10)
    v = result.data.v.values
    np.testing.assert_allclose(v[:5], np.tile([100.0, 2.0], (5, 1)), rtol=CANCELLING)
    np.testing.assert_allclose(v[6:], 0.0, atol=CANCELLING)


# ---- what is refused ------------------------------------------------------------------------------------------------------
def shafts(n=3, **joints):
    s = bough.System("shafts")
    for i in range(n):
        s.body("abc"[i], joint=joints.get("abc"[i], bough.Revolute("z")), mass=1.0, inertia=(1, 1, 1))
    return s


def test_errors_by_name():
    with pytest.raises(DescriptionError, match=r"ratio is 0.0; give a number that is not zero"):
        bough.Gear("a", "b", ratio=0)
    with pytest.raises(DescriptionError, match=r"coupling 'g': relation has a factor of 'b' that is 0.0"):
        shafts().coupling("g", {"a": 1, "b": 0})
    refused = [({"a": 1, "x": 2}, "coupling 'g': coordinate 'x' names no coordinate"),
               ({"a": 1}, "its relation has 1 coordinates; give two or more"),
               ({"a": 1, "a.rz": 2}, "coordinate 'a.rz' is named twice")]
    for relation, text in refused:
        s = shafts()
        s.coupling("g", relation)
        with pytest.raises(ModelError, match=text):
            s.compile()
    s = shafts(a=bough.Revolute("z", motion="locked"), b=bough.Revolute("z", motion=bough.motion.Rate(1.0)))
    s.coupling("g", bough.Gear("a", "b", ratio=2))
    with pytest.raises(ModelError, match=r"coupling 'g': its coordinates a.rz, b.rz are all locked or prescribed"):
        s.compile()
    s = shafts(a=bough.Spherical())
    s.coupling("g", {"a.wx": 1, "b": 1})
    with pytest.raises(ModelError, match=r"coordinate 'a.wx' belongs to a spherical rotation"):
        s.compile()


def test_contradictions_by_name():
    s = shafts()
    s.coupling("g1", bough.Gear("a", "b", ratio=2))
    s.coupling("g2", bough.Gear("a", "b", ratio=2), offset=0.1)
    with pytest.raises(ModelError, match="couplings 'g1' and 'g2' contradict each other: no position keeps all of them"):
        s.compile()
    s = shafts()
    for i, (one, other) in enumerate(combinations("abc", 2)):
        s.coupling(f"g{i}", bough.Gear(one, other, ratio=-1))
    with pytest.raises(ModelError, match=r"contradict each other: together they leave 'a.rz' nowhere to move"):
        s.compile()                                                     # three wheels in mesh do not turn
    s = shafts()
    s.coupling("g1", bough.Gear("a", "b", ratio=2))
    s.coupling("g2", {"a": 0.5, "b": -1.0})                             # the same in other words
    model = s.compile()
    assert model.freedom().rank == 1
    assert model.freedom().redundant
    a = model.forward_dynamics(np.zeros(3), np.zeros(3), [1.0, 0.0, 0.0])
    np.testing.assert_allclose(a, [0.8, 0.4, 0.0], atol=FORMULA)
    with pytest.raises(StateError, match="coupling"):
        model.inverse_dynamics(np.zeros(3), np.zeros(3), [1.0, 0.0, 0.0])


def test_yaml_round_trip():
    s = shafts()
    s.coupling("gear", bough.Gear("a", "b", ratio=-2.5), reference="initial")
    s.coupling("sum", {"a": 1.0, "b": 2.0, "c": -1.0}, offset=0.1)
    again = bough.System.from_yaml(s.to_yaml())
    assert again == s
    assert again.couplings["gear"].relation == bough.Gear("a", "b", ratio=-2.5)
    with pytest.raises(DescriptionError, match="did you mean 'gear'"):
        bough.System.from_dict(s.to_dict() | {"couplings": [{"name": "g", "relation": {"type": "geer"}}]})


# ---- other engines --------------------------------------------------------------------------------------------------------
GRIPPER = """<robot name="gripper"><link name="world"/>{links}
  <joint name="wrist" type="revolute"><parent link="world"/><child link="palm"/><origin xyz="0 0 1" rpy="0.2 -0.4 0.1"/>
    <axis xyz="0 1 0"/><limit effort="9" velocity="9"/></joint>
  <joint name="left" type="revolute"><parent link="palm"/><child link="finger1"/><origin xyz="0.1 0.05 0" rpy="0 0 0.3"/>
    <axis xyz="0 0 1"/><limit effort="9" velocity="9"/></joint>
  <joint name="left_tip" type="revolute"><parent link="finger1"/><child link="tip1"/><origin xyz="0.2 0 0"/>
    <axis xyz="0.6 0 0.8"/><limit effort="9" velocity="9"/><mimic joint="left" multiplier="0.7" offset="0.2"/></joint>
  <joint name="right" type="prismatic"><parent link="palm"/><child link="finger2"/><origin xyz="0.1 -0.05 0"/>
    <axis xyz="0 1 0"/><limit effort="9" velocity="9"/><mimic joint="left" multiplier="-0.3"/></joint>
  <joint name="spin" type="continuous"><parent link="finger2"/><child link="tip2"/><origin xyz="0 0.1 0.1"/>
    <axis xyz="1 0 0"/></joint></robot>"""


@pytest.fixture
def gripper(tmp_path):
    body = ('<link name="{}"><inertial><origin xyz="{} 0.02 0.01"/><mass value="{}"/><inertia ixx="0.02" iyy="0.03" izz="0.04" '
            'ixy="0.002" ixz="0" iyz="0"/></inertial></link>')
    names = "palm", "finger1", "tip1", "finger2", "tip2"
    links = "".join(body.format(name, 0.1 + 0.05*i, 1.0 + 0.3*i) for i, name in enumerate(names))
    path = tmp_path / "gripper.urdf"
    path.write_text(GRIPPER.format(links=links))
    return path


@pytest.mark.oracle
def test_mimic_joints_as_in_pinocchio(gripper):
    """Pinocchio's mimic joints have no coordinates of their own: mass matrix and bias of what is left are N^T M N and N^T h."""
    pin = pytest.importorskip("pinocchio")
    theirs = pin.buildModelFromUrdf(str(gripper), mimic=True)
    model = bough.load_urdf(gripper).compile()
    assert model.nv == 5
    assert model.freedom().degrees == theirs.nv == 3
    rng, names = np.random.default_rng(2), list(model.names.v)
    independent = [names.index(name) for name in ("wrist.ry", "left.rz", "spin.rx")]
    for _ in range(3):
        start = np.zeros(model.nq)
        start[independent] = rng.uniform(-1, 1, 3)
        q, v = model.assemble(start, hold=["wrist", "left", "spin"])
        v[independent] = rng.uniform(-1, 1, 3)
        _, v = model.assemble(q, v, hold=["wrist", "left", "spin"])
        turn = q[names.index("spin.rx")]
        q_pin = np.array([q[names.index("wrist.ry")], q[names.index("left.rz")], np.cos(turn), np.sin(turn)])
        data = theirs.createData()                                      # crba adds to what it finds there
        M, h = pin.crba(theirs, data, q_pin), pin.rnea(theirs, data, q_pin, v[independent], np.zeros(3))
        M = np.triu(M) + np.triu(M, 1).T
        tau = rng.uniform(-1, 1, 3)
        given = np.zeros(5)
        given[independent] = tau
        a = np.linalg.solve(M, tau - h)
        assert_same(model.forward_dynamics(q, v, given)[independent], a, solving(M))
        assert_same(model.forward_dynamics(q, v, given, dynamics="dense")[independent], a, solving(M))


@pytest.mark.parametrize("method", METHODS)
def test_one_that_gives_way_beside_a_loop(method):
    """Its torques are those of a spring and a damper on the sum, given by hand."""
    s = bough.System("linkage", gravity=(0, 0, -9.81))
    for name, x in (("crank", 0.0), ("rocker", 0.8)):
        s.body(name, at=(x, 0, 0), joint=bough.Revolute("y", q0=1.0), mass=1.0, com=(0, 0, -0.25), inertia=(0.1, 0.1, 0.1))
    s.loop("rod", joint=bough.Distance(0.8), a=bough.Frame("crank", at=(0, 0, -0.5)), b=bough.Frame("rocker", at=(0, 0, -0.5)))
    without = s.compile()
    s.coupling("teeth", {"crank": 1.0, "rocker": -3.0}, stiffness=40.0, damping=2.0)
    q, v = without.assemble(np.array([1.0, 0.9]), np.array([0.3, 0.2]))
    C = np.array([1.0, -3.0])
    torques = -C*(40.0*C@q + 2.0*C@v)
    a = s.compile().forward_dynamics(q, v, dynamics=method)
    np.testing.assert_allclose(a, without.forward_dynamics(q, v, torques, dynamics=method), rtol=CANCELLING)
