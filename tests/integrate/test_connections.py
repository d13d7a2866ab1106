"""Events that connect and part: captures and separations against closed forms and two runs joined by hand.

Tolerances: moments of events to the 1e-9 s that the guide promises (docs/guides/capture.md); 0.011 is a sample's distance.
"""
import json
import re

import numpy as np
import pytest

import bough
from bough import Attach, Close, Condition, Detach, Frame, Open
from bough.errors import DescriptionError, ModelError, SimulationError
from tests.support.tolerance import CANCELLING, CLOSED, EVENT, STEPPED, SWEEP, summed

RUN = {"until": 1.0, "dt": 1e-3, "record": ["state", "energy", "momentum", "loops"], "sample_rate": 100}


def two_bodies(joint=None, spin=(0.1, 0.2, -0.3), **attach):
    """Two rigid bodies on their way."""
    s = bough.System("capture")
    s.body("chaser", joint=bough.Free(v0=[0.2, 0.0, 0.05, 0.0, 0.1, 0.05]), mass=120.0, com=(0.1, 0, 0), inertia=(20, 25, 30))
    s.body("target", joint=bough.Free(q0=[2.0, 0.1, -0.2, 0, 0, 0, 1], v0=[-0.1, 0.03, 0.0, *spin]), mass=80.0, inertia=(9, 6, 7))
    s.event("capture", at=0.4, do=[Attach(Frame("chaser", at=(1, 0, 0)), Frame("target", at=(-0.8, 0, 0)), joint, **attach)])
    return s


def servicer(flexible=True):
    """A spacecraft with an arm, a flexible panel and a driven wheel, and a target with a flexible boom of its own."""
    s = bough.System("servicer")
    s.body("bus", joint=bough.Free(v0=[0.02, 0, 0, 0.01, 0.03, -0.02]), mass=400.0, inertia=(90, 110, 120))
    s.wheel("rw", body="bus", axis="x", inertia=0.4, speed=120.0, torque=0.0)
    s.body("upper", parent="bus", at=(0.6, 0, 0), joint=bough.Revolute("y", q0=0.4, v0=0.1), mass=12.0, com=(0.8, 0, 0),
           inertia=(0.2, 3, 3))
    s.body("lower", parent="upper", at=(1.6, 0, 0), joint=bough.Universal("zy", q0=(0.2, -0.3), v0=(0.05, -0.1)), mass=8.0,
           com=(0.7, 0, 0), inertia=(0.2, 2, 2))
    s.body("target", joint=bough.Free(q0=[4.0, 0.2, -0.1, 0, 0, 0, 1], v0=[-0.02, 0.01, 0.0, 0.05, -0.08, 0.1]), mass=250.0,
           inertia=(60, 70, 50))
    if flexible:
        panel = bough.beam(4.0, EI=900.0, mass_per_length=2.0, modes=3)
        s.body("panel", parent="bus", at=(0, 0.7, 0), orient={"axis": "z", "degrees": 90}, flexible=panel, eta0=[0.05, 0, 0])
        s.body("boom", parent="target", at=(0.5, 0, 0), flexible=bough.beam(3.0, EI=500.0, mass_per_length=1.5, modes=2))
    return s


def pose(model, q, body):
    """(4, 4): from the body to the world."""
    found = np.eye(4)
    found[:3, 3], found[:3, :3] = model.pose(q, body)
    return found


def momentum(result):
    """[angular about the mass center, linear] at all samples."""
    return np.concatenate([result.data.angular_momentum.values, result.data.linear_momentum.values], axis=-1)


def test_plastic_capture_of_two_rigid_bodies():
    """Closed form: the pair goes on with the momenta of both; the energy lost is half the reduced quantities' rates squared."""
    result = bough.simulate(two_bodies(), **RUN)
    (event,) = result.events
    kept = momentum(result)
    np.testing.assert_allclose(kept, np.broadcast_to(kept[0], kept.shape), rtol=0, atol=STEPPED*np.linalg.norm(kept[0]))
    joined = bough.System("joined")                                 # the same pair as one body, at the pose that it had then
    at = result.data.isel(time=40)
    q = at.q.values
    model = result.model
    x_c, x_t = pose(model, q, "chaser"), pose(model, q, "target")
    relative = np.linalg.inv(x_c) @ x_t
    joined.body("chaser", joint=bough.Free(), mass=120.0, com=(0.1, 0, 0), inertia=(20, 25, 30))
    joined.body("target", parent="chaser", at=relative[:3, 3], orient=relative[:3, :3], mass=80.0, inertia=(9, 6, 7))
    whole = joined.compile()
    M = whole.mass_matrix(q[:7])
    before = event.jump.speeds_before
    rates = {name: event.jump.speeds_after[name] for name in whole.names.v}
    v = np.array(list(rates.values()))
    P = whole.momentum(q[:7], v)                                    # what the two had together
    np.testing.assert_allclose(P, model.momentum(q, np.array([before[name] for name in model.names.v])),
                               atol=CANCELLING*np.linalg.norm(P))
    assert event.jump.energy_after == pytest.approx(0.5*v @ M @ v, rel=CANCELLING)
    assert event.jump.energy_lost > 0.0


def test_central_impact_has_its_closed_form():
    """m1 = 3, m2 = 1 at 2 m/s: together 1.5 m/s, reduced mass 3/4 times 4/2 J are lost, and 1.5 N s go through."""
    s = bough.System("head on")
    s.body("a", joint=bough.Prismatic("x", v0=2.0), mass=3.0)
    s.body("b", joint=bough.Prismatic("x", q0=4.0), mass=1.0)
    s.output("gap", distance=["a", "b"])
    s.event("bump", when="gap", crosses=1.0, direction="falling", do=[Attach("a", "b")])
    result = bough.simulate(s, until=3.0, dt=0.01)
    (event,) = result.events
    assert event.time == pytest.approx(1.5, abs=1e-9)
    assert event.jump.energy_lost == pytest.approx(1.5, rel=CANCELLING)
    assert event.jump.impulses["bump.fx"] == pytest.approx(1.5, rel=CANCELLING)
    np.testing.assert_allclose(result.data.v.values[-1], 1.5, rtol=STEPPED)


def test_two_chains_of_rods_have_their_closed_form():
    """Four rods in line, hinged in pairs, move across the line; the pairs are welded end to end.  With y and turn of every rod as
    coordinates, M is diagonal and J v = 0 says that ends meet: v+ = v - M^-1 J^T (J M^-1 J^T)^-1 J v."""
    length, mass = 1.5, np.array([2.0, 1.0, 3.0, 0.5])
    inertia = mass*length**2/12
    before = {"a1.y": 0.7, "a1.wz": -0.2, "a2.rz": 0.5, "b1.y": -0.4, "b1.wz": 0.3, "b2.rz": -0.6}
    s = bough.System("rods")
    for i, (name, at) in enumerate((("a", 0.0), ("b", 2*length))):
        m, I = mass[2*i:2*i + 2], inertia[2*i:2*i + 2]
        speeds = [0, before[f"{name}1.y"], 0, 0, 0, before[f"{name}1.wz"]]
        s.body(f"{name}1", joint=bough.Free(q0=[at, 0, 0, 0, 0, 0, 1], v0=speeds),
               mass=m[0], inertia=(1e-3, I[0], I[0]))
        s.body(f"{name}2", parent=f"{name}1", at=(length/2, 0, 0), joint=bough.Revolute("z", v0=before[f"{name}2.rz"]), mass=m[1],
               com=(length/2, 0, 0), inertia=(1e-3, I[1], I[1]))
    s.event("weld", at=0.0, do=[Attach(bough.Frame("a2", at=(length, 0, 0)), bough.Frame("b1", at=(-length/2, 0, 0)))])
    (event,) = bough.simulate(s, until=0.01, dt=1e-3).events

    turn = np.array([before["a1.wz"], before["a1.wz"] + before["a2.rz"], before["b1.wz"], before["b1.wz"] + before["b2.rz"]])
    y = np.array([before["a1.y"], 0.0, before["b1.y"], 0.0])
    y[1::2] = y[::2] + length/2*(turn[::2] + turn[1::2])
    v, W = np.concatenate([y, turn]), np.concatenate([1/mass, 1/inertia])
    meet = np.diff(np.eye(4), axis=0)                                       # of rods that touch: the outer one less the inner
    J = np.vstack([np.hstack([meet, -length/2*np.abs(meet)]), np.append(np.zeros(4), meet[1])])
    A = (J*W) @ J.T
    found = v - W*(J.T @ np.linalg.solve(A, J @ v))
    y, turn = found[:4], found[4:]
    after = {"a1.y": y[0], "a1.wz": turn[0], "a2.rz": turn[1] - turn[0], "b1.y": y[2], "b1.wz": turn[2], "b2.rz": turn[3] - turn[2]}
    assert {name: event.jump.speeds_after[name] for name in after} == pytest.approx(after, rel=CANCELLING, abs=SWEEP)
    assert event.jump.energy_lost == pytest.approx(0.5*(J @ v) @ np.linalg.solve(A, J @ v), rel=CANCELLING)


@pytest.mark.parametrize("flexible", [False, True])
def test_two_chains_keep_their_momenta(flexible):
    s = servicer(flexible)
    s.event("grapple", at=0.3, do=[Attach("lower", "target")])
    result = bough.simulate(s, **RUN)
    kept = momentum(result)
    size = np.linalg.norm(kept[0])
    np.testing.assert_allclose(kept, np.broadcast_to(kept[0], kept.shape), atol=STEPPED*max(size, 120.0*0.4))
    (event,) = result.events
    assert event.jump.energy_lost > 0.0
    if flexible:
        assert any(abs(event.jump.speeds[name]) > 1e-6 for name in event.jump.speeds if "mode" in name)
    assert np.nanmax(result.data.loop_gap.values) < CLOSED
    before, after = result.data.constraint_force.sel(time=slice(0, 0.295)), result.data.constraint_force.sel(time=slice(0.31, 1))
    assert np.isnan(before.values).all()
    assert np.isfinite(after.values).all()


@pytest.mark.parametrize("method", [{"dt": 1e-3}, {"dt": None, "method": "dopri5", "rtol": 1e-11},
                                    {"dt": 5e-4, "method": "imex4"}])
def test_a_run_with_attach_is_two_runs_joined_by_hand(method):
    """By hand: stop at the event, let dv solve the dense saddle point problem, go on with a loop that was always closed."""
    options = RUN | method | {"record": ["state"]}
    result = bough.simulate(two_bodies(), **options)
    before = two_bodies()
    before.events.clear()
    before.loops.clear()
    first = bough.simulate(before, **options | {"until": 0.4})
    q, v = first.data.q.values[-1], first.data.v.values[-1]
    model = before.compile()
    a, b = (np.linalg.inv(pose(model, q, name)) for name in ("chaser", "target"))
    point = pose(model, q, "chaser") @ [1.0, 0, 0, 1]                # where frame a is
    own = b @ point
    turn = b[:3, :3] @ np.linalg.inv(a)[:3, :3]
    after = two_bodies()
    after.events.clear()
    after.loops.clear()
    after.loop("capture", bough.Weld(), Frame("chaser", at=(1, 0, 0)), Frame("target", at=own[:3], orient=turn))
    closed = after.compile()
    M, J = closed.mass_matrix(q), loop_jacobian(closed, q)
    saddle = np.block([[M, J.T], [J, np.zeros((6, 6))]])
    dv = np.linalg.solve(saddle, np.concatenate([np.zeros(12), -J @ v]))[:12]
    second = bough.simulate(closed, q0=q, v0=v + dv, **options | {"until": 1.0, "t0": 0.4})
    there = result.data.sel(time=1.0)
    scale = 1e-9 if "rtol" in method else 1e-10          # steps end elsewhere: their rtol; else rounding by the saddle point
    np.testing.assert_allclose(there.q.values, second.data.q.values[-1], atol=scale)
    np.testing.assert_allclose(there.v.values, second.data.v.values[-1], atol=scale)


def loop_jacobian(model, q):
    """Rows of rates of frame b against frame a, by differences of poses along the speeds, which are linear in them."""
    rows = np.zeros((6, model.nv))
    for i, v in enumerate(np.eye(model.nv)):
        a, b = (model.velocity(q, v, name) for name in ("chaser", "target"))
        x_a, x_b = (pose(model, q, name) for name in ("chaser", "target"))
        at = x_a @ [1.0, 0, 0, 1]
        v_a = a[3:] + np.cross(a[:3], at[:3] - x_a[:3, 3])
        v_b = b[3:] + np.cross(b[:3], at[:3] - x_b[:3, 3])
        rows[:, i] = np.concatenate([b[:3] - a[:3], v_b - v_a])
    return rows


def test_attach_then_detach_at_rest_changes_nothing():
    s = servicer()
    still = bough.System.from_yaml(s.to_yaml())
    for system in (s, still):
        for name, body in system.bodies.items():
            still_joint = body.joint.model_copy(update={"v0": None})
            system.bodies[name] = body.model_copy(update={"joint": still_joint, "eta0": None})
        system.wheels.clear()
    s.event("grapple", at=0.2, do=[Attach("lower", "target")])
    s.event("let go", at=0.5, do=[Detach("grapple")])
    one, other = (bough.simulate(system, **RUN | {"record": ["state"]}) for system in (s, still))
    np.testing.assert_allclose(one.data.q.values, other.data.q.values, atol=SWEEP)
    np.testing.assert_allclose(one.data.v.values, 0.0, atol=SWEEP)


def test_detaching_a_weld_and_a_joint_keeps_every_speed():
    """A spinning stage of two parts lets both go: each flies on as it moved, momenta and energy stay."""
    s = bough.System("stack")
    s.body("booster", joint=bough.Free(v0=[0, 0, 0, 0.0, 0.1, 0.5]), mass=200.0, inertia=(80, 80, 30))
    s.body("stage", parent="booster", at=(0, 0, 2), mass=60.0, com=(0, 0, 0.2), inertia=(10, 11, 6))
    s.body("door", parent="stage", at=(0.4, 0, 0.5), joint=bough.Revolute("y", q0=0.3, v0=0.7), mass=5.0, com=(0.2, 0, 0),
           inertia=(0.1, 0.2, 0.1))
    s.event("separation", at=0.3, do=[Detach("stage")])
    s.event("jettison", at=0.6, do=[Detach("door")])
    result = bough.simulate(s, **RUN | {"record": ["state", "energy", "momentum", "pose", "velocity"]})
    kept = momentum(result)
    np.testing.assert_allclose(kept, np.broadcast_to(kept[0], kept.shape), atol=STEPPED*np.linalg.norm(kept[0]))
    energy = result.data.total_energy.values
    np.testing.assert_allclose(energy, energy[0], rtol=CANCELLING)
    assert {"stage.x", "door_separation.x"} <= set(result.data.q_name.values.tolist())
    assert np.isnan(result.data.v.sel(v_name="door.ry").values[-1])
    late = result.data.sel(time=slice(0.62, 1.0))
    turning = late.omega.sel(body="door").values if "omega" in late else late.angular_velocity.sel(body="door").values
    assert np.isfinite(turning).all()


def rotor(parent):
    """What carries a load on a hinge: a tumbling bus, a flexible boom of it, a hub that is driven."""
    s = bough.System(parent)
    if parent == "hub":
        s.body("hub", joint=bough.Revolute("z", motion=[bough.motion.Rate(2.0)]), mass=50.0, inertia=(8, 9, 6))
    else:
        s.body("bus", joint=bough.Free(v0=[0.1, 0, 0, 0.3, 0.4, 0.5]), mass=50.0, inertia=(8, 9, 6))
        s.body("boom", parent="bus", flexible=bough.beam(3.0, EI=300.0, mass_per_length=1.5, modes=2), eta0=[0.1, 0])
    s.body("load", parent=parent, node="tip" if parent == "boom" else None, at=(0.4, 0.1, 0.5),
           joint=bough.Spherical(v0=(0.1, 0.2, -0.3)), mass=5.0, com=(0.2, 0, 0), inertia=(0.3, 0.2, 0.1))
    s.event("go", at=0.3, do=[Detach("load")])
    return s


@pytest.mark.parametrize("parent", ["bus", "boom", "hub"])
def test_a_detached_body_flies_as_a_free_one(parent):
    """Its coordinates are against its parent, whatever that does; in the world it moves as if alone."""
    whole = bough.simulate(rotor(parent), **RUN | {"record": ["state", "pose", "velocity"]})
    assert whole.events[0].jump is None                                 # nothing acts on it
    load = whole.data.sel(body="load")
    then = load.isel(time=31)
    alone = bough.System("alone")
    alone.body("load", joint=bough.Free(), mass=5.0, com=(0.2, 0, 0), inertia=(0.3, 0.2, 0.1))
    R = bough.describe.orientation.rotation_matrix(then.attitude.values)
    q0, v0 = [*then.position.values, *then.attitude.values], [*then.velocity.values, *(R.T @ then.angular_velocity.values)]
    other = bough.simulate(alone, q0=q0, v0=v0, t0=0.31, **RUN | {"record": ["pose"]}).data.sel(body="load")
    np.testing.assert_allclose(load.position.values[31:], other.position.values, atol=2e-11)        # its parent's steps
    np.testing.assert_allclose(np.abs((load.attitude.values[31:]*other.attitude.values).sum(axis=1)), 1.0, atol=SWEEP)


def test_a_body_detached_in_orbit_has_an_orbit_of_its_own():
    """Against Kepler's problem by another integrator, 60 m apart."""
    from scipy.integrate import solve_ivp
    s = in_orbit(bough.System("orbit"))
    s.body("bus", joint=bough.Free(v0=[0, 0, 0, 0.01, 0.04, 0.05]), mass=50.0, inertia=(8, 9, 6))
    s.body("load", parent="bus", at=(20, 0, 0), joint=bough.Revolute("y", v0=0.02), mass=5.0, inertia=(0.3, 0.2, 0.1))
    s.event("go", at=1.0, do=[Detach("load")])
    data = bough.simulate(s, until=60.0, dt=0.05, sample_rate=1, record=["state", "pose", "velocity", "orbit"]).data
    x = data.orbit_position.values + data.position.sel(body="load").values
    v = data.orbit_velocity.values + data.velocity.sel(body="load").values
    kepler = solve_ivp(lambda t, y: np.append(y[3:], -3.986e14*y[:3]/np.linalg.norm(y[:3])**3), (2.0, 60.0), [*x[2], *v[2]],
                       rtol=1e-13, atol=1e-9, method="DOP853")
    assert np.linalg.norm(x[-1] - kepler.y[:3, -1]) < 1e-7              # of 7e6 m: some times rounding
    assert np.linalg.norm(data.position.values[-1, 0] - data.position.values[-1, 1]) > 50.0


def test_coordinates_of_a_joint_that_let_go_are_nan_and_say_so(tmp_path):
    result = bough.simulate(rotor("bus"), **RUN | {"record": ["state", "drives"]})
    own = ["load.qx", "load.qy", "load.qz", "load.qw"]
    q, v = result.data.q.sel(q_name=own), result.data.v.sel(v_name=["load.wx", "load.wy", "load.wz"])
    for series in (q, v):
        assert np.isfinite(series.values[:31]).all()
        assert np.isnan(series.values[31:]).all()
    assert "its joint has let go: load.qx after 0.3 s" in result.data.q.attrs["long_name"]
    others = result.data.drop_sel(q_name=own, v_name=["load.wx", "load.wy", "load.wz"])
    assert np.isfinite(others.q.values).all()
    assert "load.wx, load.wy, load.wz, load.qx" in str(result.events[0])
    assert "gone" in result.summary
    assert result.audit.fine
    result.plot("state", tmp_path / "state.png")
    result.save(tmp_path / "run.nc")
    read = bough.open_result(tmp_path / "run.nc")
    np.testing.assert_array_equal(read.array("q"), result.array("q"))
    from bough.look.frames import frames_of
    for report in (result, read):                                       # a replay goes on to the end, where the body is
        frames = frames_of(report, 0, None, 0, lambda share: None)
        assert len(frames.samples) == len(result.time)
        there = result.model.bodies(result.trajectory.state.q[0, -1:]).position[0]
        np.testing.assert_allclose(frames.position[-1], there, atol=CANCELLING)


def test_pulled_to_the_nominal_pose():
    s = two_bodies(pose="nominal", gap=0.5, angle=0.5)
    result = bough.simulate(s, **RUN)
    gaps = result.data.loop_gap.sel(time=slice(0.41, 1.0)).values
    assert np.nanmax(gaps) < CLOSED
    frames = [pose(result.model, result.data.q.values[-1], name) for name in ("chaser", "target")]
    ends = frames[0] @ [1.0, 0, 0, 1], frames[1] @ [-0.8, 0, 0, 1]
    np.testing.assert_allclose(ends[0], ends[1], atol=CANCELLING)
    center = result.data.center_of_mass.values                         # which goes on straight, through the pull, too
    np.testing.assert_allclose(np.diff(center, n=2, axis=0), 0.0, atol=SWEEP)
    kept = momentum(result)
    np.testing.assert_allclose(kept, np.broadcast_to(kept[0], kept.shape), atol=STEPPED*np.linalg.norm(kept[0]))
    assert np.all(np.diff(result.data.total_energy.values) < STEPPED*result.data.total_energy.values[0])


def test_a_capture_that_is_too_far_is_named_and_what_was_recorded_is_kept():
    with pytest.raises(SimulationError, match=r"'capture'.*0\.\d+ m apart, more than 0.1; let it happen nearer") as error:
        bough.simulate(two_bodies(pose="nominal"), **RUN)
    assert error.value.result.time[-1] == pytest.approx(0.4, abs=0.011)


def test_the_remedy_of_a_capture_that_is_too_far_is_enough():
    """What the message says to allow is no less than what is needed."""
    allowed = {}
    for what in ("gap", "angle"):
        with pytest.raises(SimulationError, match=rf"or allow {what}=") as error:
            bough.simulate(two_bodies(pose="nominal", **allowed), until=0.5, dt=0.01)
        allowed[what] = float(re.search(rf"allow {what}=([0-9.]+)", str(error.value))[1])
    assert bough.simulate(two_bodies(pose="nominal", **allowed), until=0.5, dt=0.01).events


def test_a_capture_that_other_attachments_contradict_is_named():
    s = two_bodies()
    ends = Frame("chaser", at=(1, 0, 0)), Frame("target", at=(-0.8, 0.5, 0))
    s.event("other", at=0.6, do=[Attach(*ends, pose="nominal", gap=9.0, angle=3.0)])
    with pytest.raises(SimulationError, match="closes all loops; open what contradicts it first, or attach at pose='present'"):
        bough.simulate(s, until=1.0, dt=0.01)


def latched():
    """A pendulum that is caught by a strut as it passes, and let go."""
    s = bough.System("latch", gravity=(0, 0, -9.81))
    s.body("arm", joint=bough.Revolute("y", q0=0.5), mass=2.0, com=(0, 0, -1), inertia=(0.1, 0.1, 0.01))
    s.body("slider", joint=bough.Prismatic("x"), mass=1.0)
    s.loop("hook", bough.PointOnLine("z"), Frame("slider"), Frame("arm", at=(0, 0, -1)), open=True)
    s.event("catch", when="arm.ry", crosses=0.0, direction="falling", do=[Close("hook")])
    s.event("release", at=0.8, do=[Open("hook")])
    return s


def test_closing_and_opening_a_described_loop():
    """Energy only falls."""
    result = bough.simulate(latched(), **RUN)
    assert [event.name for event in result.events] == ["catch", "release"]
    energy = result.data.total_energy.values
    assert energy[-1] < energy[0]
    moved = result.data.v.sel(v_name="slider.x").values
    assert moved[0] == 0.0
    assert abs(moved[-1]) > 0.1
    assert np.ptp(moved[-15:]) < SWEEP                                  # free again


def test_a_bolt_breaks_at_its_load():
    """Driven by 1 N m, a mass at 1 m of a hub pulls with m w^2: at 0.5 N, w = sqrt(0.5), t = w I."""
    s = bough.System("bolt")
    s.body("hub", joint=bough.Revolute("z", torque=1.0), mass=1.0, inertia=(1, 1, 1))
    s.body("tip", parent="hub", at=(1, 0, 0), mass=1.0, inertia=(0.01, 0.01, 0.01))
    s.output("pull", load="tip", component="fx")
    s.event("break", when="pull", crosses=-0.5, do=[Detach("tip")])
    for options in ({"dt": 0.01}, {"method": "dopri5"}):
        (event,) = bough.simulate(s, until=3.0, **options).events
        assert event.time == pytest.approx(np.sqrt(0.5)*2.01, abs=1e-9)


@pytest.mark.parametrize("options", [{"dt": 0.01}, {"method": "dopri5"}, {"dt": 0.01, "method": "imex4"}])
def test_several_conditions_together(options):
    """They pass 5 cm at 9.5 s, and are slow and aligned all the time but for what a spin undoes until 9.7 s."""
    s = bough.System("approach")
    s.body("chaser", joint=bough.Free(v0=[0.1, 0, 0, 0, 0, 0]), mass=100.0, inertia=(20, 25, 30))
    s.body("target", joint=bough.Free(q0=[2, 0, 0, 0.0, 0, np.sin(-0.06), np.cos(0.06)], v0=[0, 0, 0, 0, 0, 0.01]), mass=50.0,
           inertia=(5, 6, 7))
    ends = [Frame("chaser", at=(1, 0, 0)), Frame("target")]
    s.output("gap", distance=ends)
    s.output("speed", relative_speed=ends)
    s.output("angle", relative_angle=ends)
    s.event("capture", do=[Attach(*ends)], when=[Condition("gap", below=0.05), Condition("speed", below=0.2),
                                                 Condition("angle", below=0.12 - 0.097)])
    (event,) = bough.simulate(s, until=12.0, **options).events
    assert event.time == pytest.approx(9.7, abs=1e-9)


@pytest.mark.parametrize("options", [{"dt": 0.1}, {"method": "dopri5"}, {"dt": 0.01, "method": "imex4"}])
def test_windows_much_shorter_than_a_step(options):
    """Two quantities are right together for 10 us; one passes its value and returns after 0.2 ms; no end of a step sees it."""
    moment, near = 1.2345678, np.sqrt(0.05**2 - 0.0001**2)
    s = bough.System("windows")
    s.body("a", joint=bough.Free(q0=[-moment, near, 0, 0, 0, 0, 1], v0=[1, 0, 0, 0, 0, 0]), mass=1.0, inertia=(1, 1, 1))
    s.body("b", joint=bough.Prismatic("y", v0=-2.0), mass=1.0)
    s.body("c", joint=bough.Prismatic("z", v0=1.0), mass=1.0)
    s.output("gap", distance=["world", "a"])
    s.event("both", when=[Condition("a.x", above=0.0), Condition("b.y", above=-2.0*(moment + 1e-5))], do=[bough.Release("c")])
    s.event("never", when=[Condition("a.x", above=0.0), Condition("b.y", above=-2.0*(moment - 1e-5))], do=[bough.Release("c")])
    s.event("passing", when=[Condition("gap", below=0.05)], do=[bough.Release("c")])
    s.event("crossing", when="gap", crosses=0.05, direction="falling", do=[bough.Release("c")])
    s.event("too far", when="gap", crosses=near - 1e-5, do=[bough.Release("c")])
    found = {event.name: event.time for event in bough.simulate(s, until=2.0, **options).events}
    assert found.keys() == {"both", "passing", "crossing"}
    assert found["both"] == pytest.approx(moment, abs=1e-9)
    assert found["passing"] == found["crossing"] == pytest.approx(moment - 0.0001, abs=1e-9)


def test_a_law_says_when():
    s = bough.System("signal")
    s.body("cart", joint=bough.Prismatic("x", v0=1.0), mass=1.0)
    s.body("load", parent="cart", at=(1, 0, 0), mass=1.0, inertia=(0.01, 0.01, 0.01))
    s.input("fire", signal=True)
    s.output("x", coordinate="cart.x")
    s.event("drop", when="fire", crosses=0.5, direction="rising", do=[Detach("load")])
    law = bough.Law(lambda t, y: {"fire": float(y["x"] > 1.04)}, period=0.1)
    for options in ({"dt": 0.01}, {"method": "dopri5"}):
        (event,) = bough.simulate(s, until=2.0, laws=[law], **options).events
        assert event.time == pytest.approx(1.1, abs=EVENT)


def test_events_of_one_moment_happen_in_the_order_of_the_description():
    s = two_bodies()
    s.event("let go", at=0.4, do=[Detach("capture")])
    assert [event.name for event in bough.simulate(s, **RUN).events] == ["capture", "let go"]
    wrong = bough.System("wrong")
    for body in two_bodies().bodies.values():
        wrong.bodies[body.name] = body
    wrong.event("let go", at=0.4, do=[Detach("capture")])
    wrong.event("capture", at=0.4, do=[Attach("chaser", "target")])
    with pytest.raises(SimulationError, match="'let go' detaches 'capture', which is not closed at that time; let it happen after"):
        bough.simulate(wrong, **RUN)


def test_an_attachment_that_never_comes_is_named():
    s = two_bodies()
    s.output("gap", distance=["chaser", "target"])
    s.event("dock", when=[Condition("gap", below=0.001)], do=[Attach("chaser", "target", name="dock")])
    assert "dock did not happen" in str(bough.simulate(s, **RUN))


@pytest.mark.parametrize("method", ["rk4", "dopri5"])
def test_saved_resumed_and_in_pieces(method, tmp_path):
    s = servicer()
    s.event("grapple", at=0.3, do=[Attach("lower", "target")])
    s.event("let go", at=0.7, do=[Detach("grapple")])
    options = RUN | ({"dt": 1e-3} if method == "rk4" else {"dt": None, "method": method})
    whole = bough.simulate(s, **options)
    part = bough.simulate(s, **options | {"until": 0.5})
    part.save(tmp_path / "part.nc")
    resumed = bough.resume(tmp_path / "part.nc")
    resumed.advance(until=1.0)
    np.testing.assert_array_equal(resumed.result().data.q.values[-1], whole.data.q.values[-1])
    whole.save(tmp_path / "whole.nc")
    read = bough.open_result(tmp_path / "whole.nc")
    np.testing.assert_array_equal(read.array("constraint_force"), whole.array("constraint_force"))
    assert json.loads(read.facts.events)[0][0]["jump"]["impulses"].keys() >= {"grapple.fx"}
    sim = bough.Simulator(s.compile(), method=method, **({"dt": 1e-3} if method == "rk4" else {}))
    for t in (0.111, 0.3, 0.512, 0.9, 1.0):
        sim.advance(until=t)
    np.testing.assert_array_equal(sim.state.q, whole.data.q.values[-1])


def test_batches_meet_their_own_events():
    s = two_bodies()
    speeds = np.array([[0.2 + 0.1*i, 0, 0.05, 0, 0.1, 0.05, -0.1, 0.03, 0, 0.1, 0.2, -0.3] for i in range(3)])
    together = bough.simulate(s, v0=speeds, **RUN)
    for i, v0 in enumerate(speeds):
        alone = bough.simulate(s, v0=v0, **RUN)
        np.testing.assert_array_equal(together.data.q.values[i], alone.data.q.values)
    assert len({run[0].jump.energy_lost for run in together.events}) == 3


def test_capture_in_orbit_keeps_the_orbit():
    s = bough.System("orbit", gravity=bough.CentralGravity(mu=3.986e14, position=(7e6, 0, 0), velocity=(0, 7546.0, 0)))
    for body in servicer().bodies.values():
        s.bodies[body.name] = body
    s.event("grapple", at=0.3, do=[Attach("lower", "target")])
    result = bough.simulate(s, **RUN)
    free = bough.System("free", gravity=s.gravity)
    for body in servicer().bodies.values():
        free.bodies[body.name] = body
    other = bough.simulate(free, **RUN | {"record": ["state", "energy", "momentum"]})
    names = [name for name in result.data if "orbit" in name]
    assert names
    for name in names:                                                  # internal impulses do not move the mass center
        np.testing.assert_allclose(result.data[name].values, other.data[name].values, rtol=STEPPED, atol=STEPPED)


@pytest.mark.parametrize(("action", "said"), [
    (lambda: Attach("arm", "arm"), "a loop between body 'arm' and itself closes nothing"),
    (lambda: Attach("bus", "arm"), "attaches 'arm' to 'bus', which carries it already; give joint=Weld()"),
    (lambda: Detach("bus"), "names a body that nothing holds: its joint is free"),
    (lambda: Detach("boat"), "names no loop, attachment or body"),
    (lambda: Open("hook"), "names no loop of the system"),
    (lambda: Attach("bus", "amr"), "is not a body of the system, did you mean 'arm'"),
])
def test_bad_actions_are_named(action, said):
    s = bough.System("bad")
    s.body("bus", joint=bough.Free(), mass=10.0, inertia=(1, 1, 1))
    s.body("arm", parent="bus", joint=bough.Revolute("y"), mass=1.0, inertia=(1, 1, 1))
    with pytest.raises((DescriptionError, ModelError), match=said.replace("(", r"\(").replace(")", r"\)")):
        with_event(s, action()).compile()


def with_event(system, action):
    system.event("it", at=1.0, do=[action])
    return system


def test_attachments_that_contradict_each_other_are_named():
    """Two prescribed sliders move against each other: nothing can weld them."""
    s = bough.System("contradiction")
    for name, rate in (("left", 1.0), ("right", -1.0)):
        s.body(name, joint=bough.Prismatic("x", motion=bough.motion.Rate(rate)), mass=1.0)
    s.body("free", joint=bough.Prismatic("y"), mass=1.0)
    s.event("weld", at=0.5, do=[Attach("left", "right")])
    with pytest.raises(SimulationError, match=r"'weld' at t = 0.5 s: nothing can stop .*contradict") as error:
        bough.simulate(s, until=1.0, dt=0.01)
    assert error.value.result is not None


def test_outputs_of_an_attachment_are_nan_while_it_is_open():
    s = two_bodies()
    s.output("interface", load="capture")
    result = bough.simulate(s, **RUN | {"record": ["state", "outputs", "loops"]})
    values = result.data.outputs.values
    assert np.isnan(values[:40]).all()
    np.testing.assert_allclose(np.abs(values[45:]), np.abs(result.data.constraint_force.values[45:, 0]), atol=1e-9)


OFF = Frame("target", at=(-0.4, 0.1, 0), orient={"axis": "y", "degrees": 30})
TIP = Frame("boom", node="tip")                                 # beyond a body that deforms: the other tree is turned round


def attached(*ends, joint=None, system=None, **options):
    s = system or servicer()
    s.event("grapple", at=0.3, do=[Attach(*ends, joint, **options)])
    return s


def turned():
    """The arm carries its bus: its joints are free, locked, prescribed and sprung, and an event changes that."""
    s = servicer()
    upper = bough.Joint("x", "zy", stiffness=30.0, damping=2.0, rest=(0.1, 0.2, 0.3), v0=(0.1, 0.2, 0.1))
    s.bodies["upper"] = s.bodies["upper"].model_copy(update={"joint": upper})
    lower = bough.Universal("zy", motion=[bough.motion.Rate(0.1), "locked"])
    s.bodies["lower"] = s.bodies["lower"].model_copy(update={"joint": lower})
    s.event("free", at=0.5, do=[bough.Release("lower")])
    s.event("hold", at=0.7, do=[bough.Lock("lower")])
    return attached("lower", TIP, system=s)


def three():
    """A chain of trees, the last of which closes a loop; by joints, from either side."""
    s = servicer()
    s.body("third", joint=bough.Free(q0=[6, 0, 0, 0, 0, 0, 1], v0=[0, 0, 0.1, 0.2, 0.1, 0]), mass=20.0, inertia=(1, 2, 3))
    s.event("two", at=0.5, do=[Attach("third", TIP, bough.Revolute("y"))])
    s.event("three", at=0.7, do=[Attach("third", "bus", bough.Spherical())])
    return attached("lower", "target", system=s)


@pytest.mark.parametrize(("make", "options"), [
    (lambda: attached("lower", OFF), {}), (lambda: attached("lower", OFF), {"dt": None, "method": "dopri5"}),
    (lambda: attached("lower", OFF), {"dt": 5e-4, "method": "imex4"}),
    (lambda: attached("lower", OFF, system=in_orbit(servicer())), {}),
    (lambda: attached("lower", TIP), {}), (lambda: attached(TIP, "lower", joint=bough.Universal("xz")), {}),
    (lambda: attached("lower", OFF, joint=bough.PointOnLine("x"), system=in_orbit(servicer())), {}),
    (lambda: attached(OFF, Frame("panel", node="tip"), joint=bough.Planar("xy")), {}),
    (lambda: attached("world", "lower", joint=bough.Revolute("z")), {}), (turned, {}), (three, {}),
])
def test_mounted_and_looped_forms_agree(make, options, monkeypatch):
    """The steps of one tree, and those of two with the loop between them."""
    s, found = make(), []
    choose = bough.integrate.mounted_run.mounted_trees
    monkeypatch.setattr("bough.integrate.mounted_run.mounted_trees", lambda *given: found.append(choose(*given)) or found[-1])
    mounted = bough.simulate(s, **RUN | options)
    monkeypatch.setattr("bough.integrate.mounted_run.mounted_trees", lambda *given: [])
    looped = bough.simulate(s, **RUN | options)
    assert found[-1]
    for name in ("q", "v", "constraint_force"):
        one, other = mounted.data[name].values, looped.data[name].values
        np.testing.assert_allclose(one, other, atol=STEPPED*max(1.0, np.nanmax(np.abs(other))))
    assert not np.array_equal(mounted.data.v.values[-1], looped.data.v.values[-1])            # they are computed differently


@pytest.mark.parametrize("options", [{"dt": 1e-3}, {"method": "dopri5"}])
def test_trees_mounted_by_joints_go_on_bit_for_bit(options, tmp_path):
    """What stands for the root's coordinates in the meantime is kept, too."""
    s = attached("lower", OFF, joint=bough.Universal("xz"))
    whole = bough.simulate(s, until=0.6, **options)
    bough.simulate(s, until=0.45, **options).save(tmp_path / "part.nc")
    resumed = bough.resume(tmp_path / "part.nc")
    resumed.advance(until=0.6)
    sim = bough.Simulator(s.compile(), **options)
    for t in (0.111, 0.3, 0.412, 0.55, 0.6):
        sim.advance(until=t)
    for state in (resumed.state, sim.state):
        np.testing.assert_array_equal(state.q, whole.data.q.values[-1])
        np.testing.assert_array_equal(state.v, whole.data.v.values[-1])


@pytest.mark.parametrize("ends", [("visitor", "base"), ("base", "visitor")])            # a is mounted, or b, which is where it was
@pytest.mark.parametrize("joint", [None, bough.Revolute("y"), bough.Universal("xz"), bough.Joint("y", "spherical")])
def test_runs_of_one_model_are_mounted_where_they_are_attached(ends, joint):
    """Tables are kept with the model; where frame b holds is in the state, or in a few of their numbers."""
    s = bough.System("kept")
    s.body("base", joint=bough.Revolute("z", v0=0.1), mass=5.0, inertia=(1, 1, 1))
    s.body("visitor", joint=bough.Free(q0=[1, 0, 0, 0, 0, 0, 1]), mass=1.0, inertia=(1, 1, 1))
    s.event("dock", at=0.2, do=[Attach(*ends, joint)])
    model = s.compile()
    for speed in (0.0, 0.5):
        v0 = [0.1, 0, speed, 0, 0, 0, 0]
        one, other = bough.simulate(model, v0=v0, **RUN), bough.simulate(s, v0=v0, **RUN)
        np.testing.assert_array_equal(one.data.q.values, other.data.q.values)


def in_orbit(system):
    system.gravity = bough.CentralGravity(mu=3.986e14, position=(7e6, 0, 0), velocity=(0, 7546.0, 0))
    return system


def compliant():
    """A bushing takes hold softly, is stiffened, and hands over to a weld."""
    s = bough.System("compliant")
    s.body("chaser", joint=bough.Free(v0=[0.1, 0, 0, 0, 0, 0]), mass=100.0, inertia=(20, 25, 30))
    s.body("target", joint=bough.Free(q0=[2, 0.01, 0, 0, 0, 0, 1]), mass=50.0, inertia=(5, 6, 7))
    ends = Frame("chaser", at=(0.5, 0, 0)), Frame("target", at=(-0.5, 0, 0))
    s.bushing("grip", *ends, stiffness=(2000.0, 4000.0), damping=(800.0, 1600.0), scale=0.0)
    s.output("gap", distance=ends)
    s.event("soft", when="gap", crosses=0.05, direction="falling", do=[bough.Stiffen("grip", 0.05)])
    s.event("firm", at=20.0, do=[bough.Stiffen("grip", 1.0)])
    s.event("rigid", at=25.0, do=[Attach(*ends), bough.Stiffen("grip", 0.0)])
    return s


def test_a_compliant_capture_keeps_momenta_and_needs_hardly_an_impulse():
    result = bough.simulate(compliant(), until=30.0, dt=0.005, record=["state", "momentum", "elements", "energy"], sample_rate=10)
    assert [event.name for event in result.events] == ["soft", "firm", "rigid"]
    kept = momentum(result)
    rounded = summed(2*6000)*np.linalg.norm(kept[0])                    # positions and speeds, at each step
    np.testing.assert_allclose(kept, np.broadcast_to(kept[0], kept.shape), rtol=0, atol=rounded)
    pull = np.linalg.norm(result.data.bushing_force.values[:, 0, 3:], axis=1)
    assert (pull[:90] == 0.0).all()                                     # it waits
    assert 1.0 < pull.max() < 50.0                                      # an impulse of 3.3 N s in a second or so
    assert abs(result.events[-1].jump.impulses["rigid.fx"]) < 1e-3      # a plastic one would have been 3.3 N s
    assert result.data.v.values[-1, [0, 6]] @ [100.0, 50.0] == pytest.approx(10.0, rel=STEPPED)


def test_stiffened_bushings_resume(tmp_path):
    options = {"dt": 0.005, "record": ["state"], "sample_rate": 10}
    whole = bough.simulate(compliant(), until=26.0, **options)
    bough.simulate(compliant(), until=22.0, **options).save(tmp_path / "part.nc")
    sim = bough.resume(tmp_path / "part.nc")
    sim.advance(until=26.0)
    np.testing.assert_array_equal(sim.state.q, whole.data.q.values[-1])


def test_pulling_a_second_loop_keeps_momenta():
    """Grappled by the arm, then latched to the bus a little off: the loop of the arm moves, too."""
    s = servicer()
    s.event("grapple", at=0.2, do=[Attach("lower", "target")])
    port = Frame("bus", at=(3.9, 0.25, -0.15))
    s.event("latch", at=0.6, do=[Attach(port, "target", bough.Spherical(), pose="nominal", gap=1.0)])
    result = bough.simulate(s, **RUN)
    kept = momentum(result)
    np.testing.assert_allclose(kept, np.broadcast_to(kept[0], kept.shape), atol=STEPPED*np.linalg.norm(kept[0]))
    assert np.nanmax(result.data.loop_gap.values) < CLOSED
    assert set(result.events[-1].jump.impulses) == {f"latch.{part}" for part in ("mx", "my", "mz", "fx", "fy", "fz")}


def dropped(joint):
    s = servicer()
    s.body("payload", parent="bus", at=(0, 0, 0.5), mass=2.0, inertia=(1, 1, 1), joint=joint)
    s.event("drop", at=0.3, do=[Detach("payload")])
    return s


def again(joint):
    """Attached, let go, and attached for good."""
    s = attached("lower", OFF, joint=joint)
    s.event("let go", at=0.4, do=[Detach("grapple")])
    s.event("again", at=0.5, do=[Attach("lower", OFF, joint, name="grapple")])
    return s


@pytest.mark.parametrize(("make", "options"), [
    (lambda: attached("lower", OFF), {}), (lambda: attached("lower", OFF, joint=bough.Revolute("y")), {}),
    (lambda: attached(TIP, "lower", joint=bough.Spherical()), {"dt": 5e-4, "method": "imex4"}),
    (lambda: attached("lower", TIP, joint=bough.Distance(1.0)), {}), (lambda: again(None), {}),
    (lambda: again(bough.Revolute("z")), {"dt": None, "method": "dopri5"}), (lambda: dropped(bough.Weld()), {}),
    (lambda: dropped(bough.Revolute("z", v0=0.3)), {}), (compliant, {"until": 30.0, "dt": 0.005}), (three, {}),
    (latched, {}), (lambda: attached(Frame("lower", at=(1.4, 0, 0)), OFF, pose="nominal", gap=9.0, angle=3.0), {}),
])
def test_no_change_builds_tables_in_mid_run(make, options, monkeypatch):
    """All that a change needs is built when the run starts, so that it takes no time for it."""
    chosen = RUN | options
    sim = bough.Simulator(make().compile(), **{name: chosen[name] for name in ("dt", "method") if chosen.get(name) is not None})
    sim.advance(until=0.1)
    build, built = bough.compile.compiled_model.build_tables, []
    monkeypatch.setattr("bough.compile.compiled_model.build_tables",
                        lambda system, **given: built.append(given) or build(system, **given))
    sim.advance(until=chosen["until"])
    assert not built
    assert sim.result().events
