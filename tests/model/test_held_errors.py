"""What is wrong with motions, events and stops is said by name, with a remedy."""
import numpy as np
import pytest

import bough
from bough.describe import Constant, Lock, Pieces, Polynomial, Prescribe, Rate, Release
from bough.integrate import integrate
from tests.support.held_systems import with_motions
from tests.support.mechanisms import four_bar


def arm():
    s = bough.System("arm")
    s.body("bus", joint=bough.Free(), mass=10.0, inertia=(1, 1, 1))
    s.body("boom", parent="bus", joint=bough.Revolute("y"), mass=1.0, com=(1, 0, 0), inertia=(0.1, 0.1, 0.1))
    s.body("ball", parent="boom", joint=bough.Spherical(), mass=1.0, com=(1, 0, 0), inertia=(0.1, 0.1, 0.1))
    s.body("tip", parent="boom", joint=bough.Universal("xy", name="hinge"), mass=1.0, com=(1, 0, 0), inertia=(0.1, 0.1, 0.1))
    return s


def test_a_motion_that_jumps():
    with pytest.raises(bough.DescriptionError, match=r"position jumps by 0\.3 at 1\.0 s; start piece 2 .*, c0 = 0\.5"):
        Pieces([0, 1], [[0, 0, 0.5], [0.8, 1]])
    with pytest.raises(bough.DescriptionError, match=r"rate jumps by -1 at 1\.0 s, which would take an impulse"):
        Pieces([0, 1], [[0, 0, 0.5], [0.5, 0]])


EVENTS = {
    "an unknown name": ({"at": 1.0, "do": Lock("bom.ry")}, r"event 'e': lock 'bom\.ry' names no coordinate.*'boom\.ry'"),
    "an unknown quantity": ({"when": "boom.rx", "crosses": 1.0, "do": Lock("boom")}, r"event 'e': when 'boom\.rx'.*'boom\.ry'"),
    "no value": ({"when": "boom.ry", "do": Lock("boom")}, r"event 'e': crosses is missing"),
    "two triggers": ({"at": 1.0, "when": "boom.ry", "crosses": 0.0, "do": Lock("boom")}, r"event 'e': both at and when"),
    "one of three": ({"at": 1.0, "do": Lock("ball.wx")}, r"event 'e': lock 'ball\.wx'.*only change together"),
    "no angles": ({"at": 1.0, "do": Prescribe("ball", Rate(1.0))}, r"event 'e'.*spherical rotation.*Gimbal"),
    "several coordinates": ({"at": 1.0, "do": Prescribe("hinge", Rate(1.0))},
                            r"event 'e'.*names 2 coordinates; prescribe each: hinge\.rx"),
    "a clash": ({"at": 1.0, "do": [Lock("boom"), Release("boom.ry")]}, r"event 'e': lock 'boom' and release 'boom\.ry' both act"),
    "nothing": ({"at": 1.0, "do": []}, r"event 'e'.*nothing would happen"),
}


@pytest.mark.parametrize("words", list(EVENTS))
def test_events_that_cannot_be(words):
    given, text = EVENTS[words]

    def describe():
        s = arm()
        s.event("e", **given)
        s.compile()

    with pytest.raises(bough.BoughError, match=text):
        describe()


@pytest.mark.parametrize("motion", ["locked", Constant(0.3)])
def test_an_event_that_can_never_happen(motion):
    s = with_motions(arm(), {"boom": [motion]})
    s.event("e", when="boom.ry", crosses=1.0, do=Lock("boom"))
    with pytest.raises(bough.ModelError, match=r"event 'e'.*never happen: 'boom\.ry' does not move.*no event releases"):
        s.compile()
    s.event("go", at=1.0, do=Release("boom"))
    s.compile()


def test_stops_that_cannot_be():
    s = arm()
    s.stop("s", coordinate="ball.wx", above=1.0, stiffness=10.0)
    with pytest.raises(bough.ModelError, match=r"stop 's': coordinate 'ball\.wx' belongs to a spherical rotation.*Gimbal"):
        s.compile()


def test_a_spherical_rotation_partly_locked_and_a_list_too_short():
    with pytest.raises(bough.DescriptionError, match=r"not angles; let them be free, or all three 'locked', or use Gimbal"):
        bough.Spherical(motion=["locked", None, None])
    with pytest.raises(bough.DescriptionError, match=r"give 2, one for each dof"):
        bough.Universal("xy", motion=["locked"])
    with pytest.raises(bough.DescriptionError, match=r"weld"):
        bough.Joint(motion="locked")


def test_a_start_beside_what_is_prescribed():
    model = with_motions(arm(), {"boom": [Polynomial([0.5, 1.0])]}).compile()
    assert model.q0[7] == 0.5
    q = model.q0.copy()
    q[7] = 0.2
    with pytest.raises(bough.StateError, match=r"q0 of 'boom\.ry' is 0\.2.*starts with 0\.5.*model\.follow"):
        integrate(model, q0=q, until=1.0, dt=0.1)
    v = model.v0.copy()
    v[6] = 0.0
    with pytest.raises(bough.StateError, match=r"v0 of 'boom\.ry' is 0.*starts with 1"):
        integrate(model, v0=v, until=1.0, dt=0.1)


def test_motions_that_a_loop_contradicts():
    """Crank and rocker of a four-bar cannot both be told how to move: at once if the start cannot close, else where it opens."""
    case = four_bar("revolute")
    q, v = case.system.compile().assemble(case.q, case.v)
    apart = with_motions(case.system, {"crank": [Rate(1.0, start=q[0])], "rocker": [Constant(0.7)]}).compile()
    with pytest.raises(bough.StateError, match=r"loop 'pin'.*crank.*held"):
        integrate(apart, until=0.5, dt=1e-3)
    both = with_motions(case.system, {"crank": [Polynomial([q[0], v[0]])], "rocker": [Polynomial([q[2], v[2]])]}).compile()
    r = integrate(both, q0=q, v0=v, until=0.5, dt=1e-3)
    assert all(word in r.failure for word in ("loop 'pin' is pulled open", "crank.ry", "rocker.ry", "contradict", "free"))


def test_a_batch_with_events_and_a_python_controller():
    s = arm()
    s.event("e", at=0.5, do=Lock("boom"))
    model = s.compile()
    with pytest.raises(bough.StateError, match=r"batch with events.*one by one.*bough\.controller"):
        integrate(model, q0=np.tile(model.q0, (2, 1)), until=1.0, dt=0.1, control=lambda *_: None)
