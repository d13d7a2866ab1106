"""Bushings: closed forms, the law in plain NumPy, energy and momentum at large angles, and the weld that a stiff one becomes."""
import numpy as np
import pytest
from scipy.linalg import eigh
from scipy.spatial.transform import Rotation

import bough
import bough.model
from bough.analyze.loop_constraints import moved
from tests.support import element_laws as laws
from tests.support.compare import EPS, assert_same
from tests.support.element_systems import chain
from tests.support.random_systems import random_state
from tests.support.tolerance import CANCELLING, SWEEP, oscillation, quotient
from tests.sweeps.test_force_elements import BARE, acceleration_bound, generalized, gradient, gradient_bound


def matrix(seed, size):
    """Symmetric, positive definite and fully coupled."""
    A = np.random.default_rng(seed).normal(size=(6, 6))
    return size*(A @ A.T + np.eye(6))


STIFFNESS, DAMPING = matrix(0, 20.0), matrix(1, 0.3)
REST = ((0.1, -0.2, 0.05), {"axis": (1, 2, 3), "degrees": 25})
APART = [0, 0, 0, 0, 0, 0, 1, 0.3, -0.2, 0.1, 0, 0, 0, 1]
TURNED = {"axis": (0, 1, 1), "degrees": 50}


def add_bushings(s, damping=DAMPING):
    """Between branches, to the world either way round, within a branch, on a welded body."""
    tool, arm = bough.Frame("tool", at=(0.2, -0.1, 0.3), orient=TURNED), bough.Frame("arm", at=(0.4, 0, 0.1))
    s.bushing("across", a=tool, b=arm, stiffness=STIFFNESS, damping=damping, rest=REST)
    s.bushing("mount", a=bough.Frame("world", at=(1, 0, 0), orient=TURNED), b="plate", stiffness=([7, 8, 9], 40), damping=damping)
    s.bushing("held", a=bough.Frame("bus", at=(0, 0, 1)), b="world", stiffness=STIFFNESS, damping=damping, rest=(0.3, 0, 0))
    s.bushing("inside", a="bus", b=bough.Frame("tool", orient=TURNED), stiffness=STIFFNESS[::-1, ::-1], damping=damping)


def wrenches(model, bare, q, v):
    found = {}
    for bushing in model.system.bushings.values():
        for place, wrench in laws.bushing(bare, q, v, bushing)[2]:
            found[place] = found.get(place, 0.0) + wrench
    return found


def test_as_wrenches_on_the_bare_model():
    """By both methods, for one state and in lanes: accelerations, loads, energies, inverse dynamics, reactions."""
    model = chain(add_bushings).compile()
    q, v = random_state(model, np.random.default_rng(1), 6)
    forces = model.element_forces(q, v)
    for method in ("order-n", "dense"):
        lanes = model.forward_dynamics(q, v, method=method)
        for i in range(6):
            by = wrenches(model, BARE, q[i], v[i])
            a, bound = BARE.forward_dynamics(q[i], v[i], wrenches=by, frame="world"), acceleration_bound(BARE, q[i], by)
            for ours in (lanes[i], model.forward_dynamics(q[i], v[i], method=method)):
                np.testing.assert_allclose(ours, a, rtol=0, atol=bound)
            f = BARE.reactions(q[i], v[i], a, wrenches=by, frame="world")
            assert_same(model.reactions(q[i], v[i], a), f, CANCELLING)
    for i in range(6):
        energy = model.potential_energy(q[i]) - BARE.potential_energy(q[i])
        expected = [laws.bushing(BARE, q[i], v[i], each) for each in model.system.bushings.values()]
        assert_same(energy, sum(each[1] for each in expected), CANCELLING)
        alone = model.element_forces(q[i], v[i])
        for (name, bushing), (load, _, _) in zip(model.system.bushings.items(), expected, strict=True):
            own = Rotation.from_quat(bushing.b.orient).as_matrix()
            axes = laws.motion(BARE, q[i], v[i], bushing.b.body, (0, 0, 0), bushing.b.node)[1] @ own
            assert_same(forces[name][i], np.concatenate([axes.T @ load[:3], axes.T @ load[3:]]), CANCELLING)
            assert_same(alone[name], forces[name][i], 100*EPS*60)               # sums of some dozens of terms, in another order


@pytest.mark.parametrize("seed", range(4))
def test_loads_are_the_gradient_of_the_potential(seed):
    model = chain(lambda s: add_bushings(s, damping=(0, 0))).compile()
    q, _ = random_state(model, np.random.default_rng(seed))
    Q = generalized(model, BARE, q, np.zeros(model.nv))
    np.testing.assert_allclose(Q, -gradient(model, BARE, q), rtol=0, atol=gradient_bound(model, BARE, q, Q))


@pytest.mark.parametrize("seed", range(3))
def test_dampers_take_what_the_energy_loses(seed):
    """Power = -dU/dt - w.D w, with w the angular velocity and velocity of b against a, in the axes of a at rest."""
    def damped(s):
        s.bushing("mount", a=bough.Frame("tool", orient=TURNED), b="arm", stiffness=STIFFNESS, damping=DAMPING, rest=REST)
    model = chain(damped).compile()
    q, v = random_state(model, np.random.default_rng(seed))
    still = laws.bushing(BARE, q, 0*v, model.system.bushings["mount"])[0]
    drag = (laws.bushing(BARE, q, v, model.system.bushings["mount"])[0] - still).reshape(2, 3)
    a, b = (BARE.bodies(q[None], v[None]).place(name, None) for name in ("tool", "arm"))
    axes = a.attitude[0] @ Rotation.from_quat(model.system.bushings["mount"].a.orient).as_matrix()
    axes = axes @ Rotation.from_quat(model.system.bushings["mount"].rest.orient).as_matrix()
    w = np.linalg.solve(DAMPING, -(drag @ axes).ravel())
    assert_same(w[:3], axes.T @ (b.rate[0] - a.rate[0]), CANCELLING*np.linalg.cond(DAMPING))
    Q, lost = generalized(model, BARE, q, v), -gradient(model, BARE, q) @ v
    bound = gradient_bound(model, BARE, q, Q)*np.abs(v).sum()
    np.testing.assert_allclose(Q @ v, lost - w @ DAMPING @ w, rtol=0, atol=bound)


def pair(**bushing):
    """Two free bodies that a bushing joins."""
    s = bough.System("pair")
    s.body("one", joint=bough.Free(), mass=2.0, com=(0.1, 0, 0.2), inertia=(1.0, 1.2, 1.5))
    s.body("two", joint=bough.Free(), mass=3.0, com=(0, 0.1, 0), inertia=(2.0, 1.1, 1.5))
    s.bushing("mount", a=bough.Frame("one", at=(0.3, 0.1, 0), orient=TURNED), b=bough.Frame("two", at=(0, 0.2, 0.1)),
              **{"stiffness": STIFFNESS, "rest": REST} | bushing)
    return s


def test_energy_and_momentum_at_large_angles():
    """Turns of 130 degrees and back: what rk4 leaves of energy and momenta falls with dt^4 and more."""
    model = pair().compile()
    turned = Rotation.from_rotvec([1.2, -0.9, 1.1]).as_quat()
    q = np.concatenate([[0, 0, 0, 0, 0, 0, 1], [0.3, -0.2, 0.1], turned])
    v = np.array([0.3, 0, 0.1, 0.2, -0.5, 0.4, 0, 0.2, 0, -0.3, 0.6, 0.1])
    drifts = []
    for dt in (4e-3, 2e-3):
        data = bough.simulate(model, q0=q, v0=v, until=2.0, dt=dt).data
        assert not data.bushing_limit.values.any()
        drifts.append([np.abs(data[name] - data[name][0]).max().item() for name in
                       ("total_energy", "angular_momentum", "linear_momentum")])
    assert np.all(np.array(drifts[1]) < np.array(drifts[0])/12 + SWEEP)            # 16 in the limit
    w = np.sqrt(eigh(STIFFNESS, np.diag([1.0, 1.1, 1.5, 1.2, 1.2, 1.2]), eigvals_only=True)[-1])   # of lesser masses: faster
    assert drifts[1][0] < 2*oscillation("rk4", w, dt, 2.0)*np.ptp(data.kinetic_energy.values)      # twice, being of a square
    angles = Rotation.from_quat(data.attitude.sel(body="one")).inv()*Rotation.from_quat(data.attitude.sel(body="two"))
    assert angles.magnitude().max() > np.deg2rad(120)
    a, h = model.forward_dynamics(q, v), 1e-5                                     # action and reaction cancel
    before, later = (model.momentum(moved(model, q, t*v), v + t*a) for t in (-h, h))
    bound = quotient(h, np.abs(later).max(), np.abs(model.element_forces(q, v)["mount"]).max(), rate=2.0)
    np.testing.assert_allclose((later - before)/(2*h), 0.0, atol=bound)


def test_dissipation_is_what_the_energy_loses():
    result = bough.simulate(pair(damping=DAMPING), q0=APART, until=3.0, dt=1e-3)
    total = result.data.total_energy.values
    assert np.all(np.diff(total) <= CANCELLING*total[0])
    assert total[-1] < 0.5*total[0]
    assert "(dampers)" in result.summary
    assert "momentum" in result.summary                                           # which a bushing between bodies keeps


def test_small_oscillations():
    """Frequencies of a mass on a fully coupled mount: those of K against M."""
    s = bough.System("mounted")
    s.body("mass", joint=bough.Free(), mass=4.0, inertia=(0.3, 0.5, 0.7))
    s.bushing("mount", a="world", b="mass", stiffness=STIFFNESS)
    model = s.compile()
    squares, shapes = eigh(STIFFNESS, np.diag([0.3, 0.5, 0.7, 4.0, 4.0, 4.0]))
    small = 1e-6
    for square, shape in zip(squares, shapes.T, strict=True):
        turn = Rotation.from_rotvec(small*shape[:3]).as_quat()
        a = model.forward_dynamics(np.concatenate([small*shape[3:], turn]), np.zeros(6))
        assert_same(a/small, -square*np.concatenate([shape[3:], shape[:3]]), 1e-5)  # v: translations first; of second order


@pytest.mark.parametrize("degrees", [1e-9, 1e-4, 1.0, 90.0, 170.0])
def test_moment_is_linear_in_the_angle(degrees):
    """About one axis, however far: k times the angle; and at rest nothing."""
    s = bough.System("torsion")
    s.body("disc", joint=bough.Revolute("z"), mass=1.0, inertia=(1, 1, 2))
    s.bushing("spring", a="world", b="disc", stiffness=(5.0, 1.0))
    model, angle = s.compile(), np.deg2rad(degrees)
    assert_same(model.forward_dynamics([angle], [0.0]), [-5.0*angle/2.0], SWEEP)
    assert_same(model.potential_energy([angle]), 0.5*5.0*angle**2, SWEEP)
    assert model.forward_dynamics([0.0], [0.0]) == 0.0


def test_half_a_turn_is_told():
    s = bough.System("torsion")
    s.body("disc", joint=bough.Revolute("z", q0=3.0, v0=0.5), mass=1.0, inertia=(1, 1, 2))
    s.bushing("spring", a="world", b="disc", stiffness=(0.01, 1.0))
    result = bough.simulate(s, until=0.5, dt=0.01)
    assert "bushing spring" in result.summary
    assert "it turns by more than 175 deg" in result.summary


def test_nodes_of_flexible_bodies():
    """On nodes of a beam, to the world and to a rigid body: the law, and the gradient of the potential."""
    def beamed(bushings):
        s = bough.System("boom", gravity=(0, 0, -9.81))
        boom = bough.beam(4.0, EI=800, GJ=300, polar_inertia=0.02, mass_per_length=1.5, modes=4, nodes={"middle": 2.0})
        s.body("hub", joint=bough.Revolute("z"), mass=5.0, inertia=(1, 1, 1))
        s.body("boom", parent="hub", joint=bough.Revolute("y"), flexible=boom)
        if bushings:
            s.bushing("stay", a=bough.Frame("world", at=(1, 2, 3)), b=bough.Frame("boom", node="middle", at=(0, 0.1, 0)),
                      stiffness=STIFFNESS)
            s.bushing("tip", a=bough.Frame("boom", node="tip", orient=TURNED), b="hub", stiffness=STIFFNESS, rest=REST)
            s.bushing("brace", a=bough.Frame("boom", node="middle"), b=bough.Frame("boom", node="tip"), stiffness=STIFFNESS)
        return s.compile()
    model, bare = beamed(True), beamed(False)
    for seed in range(3):
        rng = np.random.default_rng(seed)
        q, v = rng.uniform(-0.5, 0.5, model.nq), rng.normal(size=model.nv)
        q[2:] *= 0.05
        by = wrenches(model, bare, q, v)
        theirs, bound = bare.forward_dynamics(q, v, wrenches=by, frame="world"), acceleration_bound(bare, q, by)
        for method in ("order-n", "dense"):
            np.testing.assert_allclose(model.forward_dynamics(q, v, method=method), theirs, rtol=0, atol=bound)
        Q = generalized(model, bare, q, np.zeros(model.nv))
        np.testing.assert_allclose(Q, -gradient(model, bare, q), rtol=0, atol=gradient_bound(model, bare, q, Q))


def test_a_stiff_bushing_is_a_weld():
    """Accelerations of the pair, forced by a load on one of them, approach those of the welded pair as 1/stiffness."""
    welded = bough.System("pair")
    welded.body("one", joint=bough.Free(), mass=2.0, com=(0.1, 0, 0.2), inertia=(1.0, 1.2, 1.5))
    welded.body("two", parent="one", at=(0.3, 0.1, 0), mass=3.0, com=(0, 0.1, 0), inertia=(2.0, 1.1, 1.5))
    push = np.array([0.3, -0.2, 0.5, 1.0, 2.0, -1.0])
    rigid = welded.compile()
    expected = rigid.forward_dynamics(rigid.q0, rigid.v0, wrenches={"one": push})
    errors = []
    for k in (1e4, 1e5):
        s = welded.copy()
        s.bodies["two"] = bough.Body("two", joint=bough.Free(q0=(0.3, 0.1, 0, 0, 0, 0, 1)), mass=3.0, com=(0, 0.1, 0),
                                     inertia=(2.0, 1.1, 1.5))
        s.bushing("mount", a=bough.Frame("one", at=(0.3, 0.1, 0)), b="two", stiffness=(k, k), damping=(2*np.sqrt(k), 2*np.sqrt(k)))
        s.wrench("push", body="one", moment=push[:3], force=push[3:])
        data = bough.simulate(s, until=1.0, method="radau", rtol=1e-9, atol=1e-11, record=["state", "acceleration"]).data
        steady = data.a.values[-1, :6]
        reference = bough.simulate(_pushed(welded, push), until=1.0, dt=1e-3, record=["state", "acceleration"]).data.a.values[-1]
        errors.append(np.abs(steady - reference).max())
    assert np.abs(expected).max() > 0.1
    assert errors[0] < 3.0/1e4*np.abs(reference).max()      # it yields by m/k a, on arms of a meter
    assert errors[1] < errors[0]/5


def _pushed(system, push):
    s = system.copy()
    s.wrench("push", body="one", moment=push[:3], force=push[3:])
    return s


def test_recorded_saved_plotted_and_drawn(tmp_path):
    s = pair(damping=DAMPING)
    result = bough.simulate(s, q0=APART, until=0.05, dt=0.01)
    data, model = result.data, result.trajectory.model
    assert data.bushing_force.dims == ("time", "bushing", "component")
    assert data.bushing_force.attrs["units"] == "N m, N"
    assert_same(data.bushing_force.values[:, 0], model.element_forces(data.q.values, data.v.values)["mount"], CANCELLING)
    assert "bushing mount" in result.summary
    again = bough.open_result(result.save(tmp_path / "run.nc"))
    assert again.system == result.system
    assert again.summary == result.summary
    assert len(result.plot("elements", tmp_path / "elements.png").axes) == 2
    assert "1 bushing" in repr(model)
    result.view(tmp_path / "run.html", open=False)
    assert (tmp_path / "run.html").exists()
    assert [each["kind"] for each in s.bushings["mount"].drawing()] == ["line", "spring"]
