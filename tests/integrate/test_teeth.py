"""Elastic teeth with play in fixed steps that are too long for their bounces: contacts are found inside the steps [B 38]."""
import math
import warnings

import numpy as np
import pytest

import bough
from bough.errors import StepWarning
from tests.support.tolerance import STEPPED

K, PLAY, J = 1e4, 0.02, (0.1, 0.3)
W = math.sqrt(K*(1/J[0] + 1/J[1]))                                      # rad/s, of the contact
ORDERS = {"rk4": (4, 0.125), "imex4": (4, 0.125), "imex2": (2, 0.05), "euler-cromer": (1, 0.01)}     # and rad in a part of a step


def toothed(d=0.0, load=0.0, **options):
    """Two wheels on elastic teeth with play, the first one turning."""
    s = bough.System("teeth", gravity=(0, 0, 0))
    for name, inertia, v0 in zip("ab", J, (1.0, 0.0), strict=True):
        s.body(name, joint=bough.Revolute("z", v0=v0), mass=1.0, inertia=(1, 1, inertia))
    s.coupling("teeth", {"a": 2.0, "b": -2.0}, stiffness=K/4, damping=d/4, backlash=2*PLAY, **options)
    if load:
        s.wrench("forward", body="a", moment=(0, 0, load))
        s.wrench("back", body="b", moment=(0, 0, -load))
    return s


def run(system, method, dt, until=1.0, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return bough.simulate(system, method=method, dt=dt, until=until, sample_rate=200, progress=False, **options)


def bounced(t):
    """a - b of wheels that start in the middle of their play: straight lines between half sines, of period 2 play/v + 2 pi/W."""
    s, half = t % (2*PLAY + 2*math.pi/W), PLAY + math.pi/W
    sign, s = (1.0, s) if s < PLAY/2 + math.pi/W else (-1.0, s - half)
    if s < PLAY/2:
        return sign*s
    return sign*(PLAY/2 + math.sin(W*(s - PLAY/2))/W) if s < PLAY/2 + math.pi/W else -sign*(s - half)


@pytest.mark.parametrize("method", ORDERS)
@pytest.mark.parametrize("dt", [5e-3, 2e-2])
def test_teeth_bounce_as_in_closed_form(method, dt):
    """Teeth that touch for 8.6 ms, in steps of 5 and of 20 ms.  In parts of theta rad a method of order p leaves an error of
    theta^(p+1) in each contact; nothing is lost but that, momentum stays to rounding, and the run knows each contact."""
    found = run(toothed(), method, dt)
    t, x, (order, theta) = found.trajectory.t, found.trajectory.x[0], ORDERS[method]
    contacts = [each.time for each in found.trajectory.events[0] if each.what == "touches"]
    period = 2*PLAY + 2*math.pi/W
    assert len(contacts) == math.floor((1.0 - PLAY/2)/(period/2)) + 1
    allowed = len(contacts)*theta**(order + 1)
    assert contacts == pytest.approx(PLAY/2 + period/2*np.arange(len(contacts)), abs=allowed*period)
    np.testing.assert_allclose(x[:, 0] - x[:, 1], [bounced(each) for each in t], rtol=0, atol=allowed*period)     # late, at 1 rad/s
    assert found.data.total_energy.values[-1] == pytest.approx(0.05, rel=2*allowed)
    np.testing.assert_allclose(x[:, 2:4] @ J, J[0], rtol=0, atol=STEPPED)
    assert found.trajectory.steps < 2.0*len(contacts)*math.pi/theta + 1.0/dt


@pytest.mark.parametrize("method", ["imex2", "imex4", "rk4"])
def test_teeth_under_a_load_settle_on_a_flank(method):
    """Pressed together by 2 N m, with damping: they bounce, stay, and end at rest relative to each other, beside short steps, which
    see a contact late by one of them, at 1 rad/s."""
    system = toothed(d=4.0, load=2.0)
    fine = run(system, "rk4", 1e-4, 0.6).trajectory.x[0]
    found = run(system, method, 5e-3, 0.6)
    events, (order, theta) = [each.what for each in found.trajectory.events[0]], ORDERS[method]
    allowed = events.count("touches")*theta**(order + 1)*PLAY
    assert events[-1] == "touches"
    assert len(events) > 1
    off = found.trajectory.x[0, :, :2] @ [1.0, -1.0] - fine[:, :2] @ [1.0, -1.0]
    assert np.abs(off).max() < allowed + 1e-4                       # the short step
    assert np.abs(off[-20:]).max() < allowed


def test_preloaded_teeth_stay_on_their_flank():
    """No contact is lost or made anew, steps are whole, and the teeth give way by preload/stiffness."""
    found = run(toothed(d=20.0, preload=5.0), "imex2", 5e-3, 0.5, q0=[0.0113, 0.0], v0=[0.0, 0.0])
    assert found.trajectory.events == ((),)
    assert found.trajectory.steps == 100
    assert 2.0*(found.data.q.values[-1] @ [1.0, -1.0]) == pytest.approx(PLAY + 5.0/(K/4), rel=STEPPED)


def test_runs_of_teeth_go_on_bit_for_bit(tmp_path):
    """A run that stops in the middle of a contact, in a part of a step, and goes on from a file; and one looked at in between."""
    model = toothed().compile()
    whole, part = (bough.Simulator(model, method="imex4", dt=5e-3) for _ in range(2))
    whole.advance(until=0.2)
    for until in (0.0123, 0.0147):
        part.advance(until=until)
    part.save(tmp_path / "part.nc")
    again = bough.resume(tmp_path / "part.nc")
    again.advance(until=0.2)
    assert again.state.q.tolist() == whole.state.q.tolist()
    assert again.state.v.tolist() == whole.state.v.tolist()


def test_a_batch_of_teeth_is_its_runs():
    model, speeds = toothed().compile(), np.array([[1.0, 0.0], [0.7, 0.0], [1.0, -0.5]])
    batch = run(model, "imex4", 5e-3, 0.3, v0=speeds)
    for i, v0 in enumerate(speeds):
        alone = run(model, "imex4", 5e-3, 0.3, v0=v0)
        assert batch.trajectory.x[i].tolist() == alone.trajectory.x[0].tolist()


def test_a_gearbox_with_play_and_a_sampled_law():
    """Contacts between samples of a law at 50 Hz that drives the motor to and fro; beside short steps."""
    s = bough.System("drive", gravity=(0, 0, -9.81))
    s.body("link", joint=bough.Revolute("y"), mass=4.0, com=(0.2, 0, 0), inertia=(0.05, 0.3, 0.3))
    s.gearbox("motor", "link", ratio=50, inertia=2e-4, stiffness=2e4, damping=30.0, backlash=4e-3)
    s.input("torque", coordinate="motor")
    s.output("speed", rate="motor")
    law = bough.Law(lambda t, y: {"torque": -0.157 + 0.3*math.sin(9*t) - 2e-3*y["speed"]}, outputs=["speed"], inputs=["torque"],
                    period=0.02)
    fine = run(s, "rk4", 1e-4, 1.0, laws=[law]).data.q.values
    found = run(s, "imex4", 5e-3, 1.0, laws=[law])
    events, (order, theta) = [each.what for each in found.trajectory.events[0]], ORDERS["imex4"]
    assert "parts" in events
    allowed = events.count("touches")*theta**(order + 1)
    assert (np.abs(found.data.q.values - fine).max(axis=0)/np.abs(fine).max(axis=0)).max() < allowed


def test_teeth_of_three_coordinates_are_told():
    """Of a planetary gear: a run can watch two coordinates; it says by name that its steps are too long."""
    s = bough.System("planetary")
    for name, v0 in (("sun", 3.0), ("ring", 0.0), ("carrier", 0.0)):
        s.body(name, joint=bough.Revolute("z", v0=v0), mass=1.0, inertia=(0.1, 0.1, 0.1))
    s.coupling("teeth", bough.Planetary("sun", "ring", "carrier", ratio=3.0), stiffness=1e4, backlash=0.02)
    with pytest.warns(StepWarning, match="coupling 'teeth': its teeth touch for .* which steps above .* s do not follow"):
        bough.simulate(s, method="imex2", dt=5e-3, until=0.5, progress=False)
