"""Events, latches and stops as people describe them: what is kept, refused, written and read."""

import copy
import pickle

import pytest

from bough.describe import (
    Constant,
    Event,
    Free,
    Latch,
    Lock,
    Prescribe,
    Rate,
    Release,
    Revolute,
    Spherical,
    Stop,
    System,
    Universal,
)
from bough.describe.checks import reference_problems
from bough.errors import DescriptionError, ModelError
from bough.flex import beam


def arm(**motion):
    """A free bus with a boom on a shoulder, a hand, a ball, a welded box, a flexible mast and two wheels."""
    system = System("arm")
    system.body("bus", joint=Free(), mass=100, inertia=(9, 9, 9))
    system.body("boom", parent="bus", joint=Revolute("y", name="shoulder", **motion), mass=8, com=(1, 0, 0), inertia=(0, 3, 3))
    system.body("hand", parent="boom", joint=Universal("xz"), mass=1, com=(1, 0, 0), inertia=(1, 1, 1))
    system.body("ball", parent="hand", joint=Spherical(), mass=1, inertia=(1, 1, 1))
    system.body("box", parent="bus")
    system.body("mast", parent="bus", joint=Revolute("x"), flexible=beam(4.0, EI=800, mass_per_length=1.5, modes=2))
    system.wheel("held", body="bus", axis="x", inertia=0.1, speed=10)
    system.wheel("driven", body="bus", axis="y", inertia=0.1, torque=0)
    return system


def test_collected_copied_and_written():
    system = arm()
    event = system.event("go", at=12, do=[Release("shoulder.ry"), Prescribe("hand.rx", Rate(0.1))])
    slow = system.event("slow", when="shoulder.ry", crosses=0.1, quantity="rate", direction="falling", do=Lock("hand"), repeat=True)
    latch = system.latch("caught", coordinate="shoulder.ry", at=1.57, direction="rising")
    stop = system.stop("bumper", coordinate="hand.rz", below=-1, stiffness=500, damping=2)
    assert system.events == {"go": event, "slow": slow, "caught": latch}
    assert system.stops == {"bumper": stop}
    assert (event.at, slow.do, stop.below, stop.above) == (12, (Lock("hand"),), -1, None)
    assert latch == Event("caught", when="shoulder.ry", crosses=1.57, direction="rising", do=[Lock("shoulder.ry")])
    assert (latch.latch, slow.latch, event.latch) == (True, False, False)
    assert reference_problems(system) == []
    assert system.copy() == system == System.from_yaml(system.to_yaml())
    assert "2 wheels, 3 events, 1 stop" in repr(system)
    assert system.to_dict()["events"] == [
        {"name": "go", "at": 12.0, "do": [
            {"release": "shoulder.ry"}, {"prescribe": {"target": "hand.rx", "motion": {"rate": 0.1}}}]},
        {"name": "slow", "when": "shoulder.ry", "crosses": 0.1, "direction": "falling", "quantity": "rate", "repeat": True,
         "do": [{"lock": "hand"}]},
        {"name": "caught", "latch": {"coordinate": "shoulder.ry", "at": 1.57, "direction": "rising"}},
    ]  # fmt: skip
    twin = system.copy()
    twin.latch("other", coordinate="hand.rx", at=1)
    assert twin != system
    with pytest.raises(DescriptionError, match="event 'go': there is an event of this name already"):
        system.event("go", at=1, do=Lock("hand"))


def test_events_are_values():
    event = Event("go", at=1, do=Prescribe("hand.rx", Rate(0.1)))
    assert pickle.loads(pickle.dumps(event)) == copy.deepcopy(event) == event
    assert len({event, copy.copy(event), Latch("go", "hand.rx", 1)}) == 2
    with pytest.raises(DescriptionError, match="event 'go': at cannot become 3"):
        event.at = 3


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Event("e", do=Lock("a")), "event 'e': neither at nor when is given; give the time at, or the coordinate when"),
        (lambda: Event("e", 1, "a.x", 2, do=Lock("a")), "event 'e': both at and when are given; give the time at, or"),
        (lambda: Event("e", when="a.x", do=Lock("a")), "event 'e': crosses is missing; give the value that 'a.x' has to pass"),
        (lambda: Event("e", at=-1, do=Lock("a")), "event 'e': at is -1.0 s; give a number >= 0"),
        (lambda: Event("e", at=1, crosses=2, do=Lock("a")), "event 'e': crosses is 2.0, but the event happens at 1.0 s; leave it"),
        (lambda: Event("e", at=1, direction="rising", do=Lock("a")), "direction is 'rising', but the event happens at 1.0 s"),
        (lambda: Event("e", at=1, quantity="rate", do=Lock("a")), "quantity is 'rate', but the event happens at 1.0 s"),
        (lambda: Event("e", at=1, repeat=True, do=Lock("a")), "repeat is True, but the event happens at 1.0 s"),
        (lambda: Event("e", when="a.x", crosses=1, direction="up", do=Lock("a")), "direction is 'up'; give one of rising, falling"),
        (lambda: Event("e", when="a.x", crosses=1, quantity="rat", do=Lock("a")), "quantity is 'rat'; did you mean 'rate'?"),
        (lambda: Event("e", at=1), "event 'e': do is (), so that nothing would happen; give a list of actions"),
        (lambda: Event("e", at=1, do=["lock"]), "event 'e': do is ['lock'], where an entry is 'lock'; give Lock(target)"),
        (lambda: Event("e", at=1, do={"loc": "a"}), "unknown key 'loc'; did you mean 'lock'?"),
        (lambda: Event("e", at=1, do={"lock": 3}), "target is 3; give a text"),
        (lambda: Event("e", at=1, do={"prescribe": "a"}), "is 'a'; give a mapping of keys to values, at least target, motion"),
        (lambda: Prescribe("a.x", "locked"), "prescribe: motion is 'locked'; give a motion, such as Rate(0.02)"),
        (lambda: Stop("s", "a.x", stiffness=1), "stop 's': neither above nor below is given; give one of them"),
        (lambda: Stop("s", "a.x", above=1, below=0, stiffness=1), "above is 1.0 and below is 0.0; give one of them"),
        (lambda: Stop("s", "a.x", above=1, stiffness=0), "stiffness is 0.0 N/m or N m/rad; give a number > 0"),
        (lambda: Stop("s", "a.x", above=1, stiffness=1, damping=-1), "damping is -1.0 N s/m or N m s/rad; give a number >= 0"),
        (lambda: Event.from_mapping({"name": "l", "latch": "a.x"}), "event 'l': latch is 'a.x'; give a mapping with coordinate"),
        (lambda: Event.from_mapping({"name": "l", "latch": {"coordinate": "a.x", "at": 1, "side": 2}}), "give a mapping with"),
        (lambda: Event.from_mapping({"name": "l", "at": 1, "latch": {}}), "event 'l': unknown key 'at'; the keys are name, latch"),
        (lambda: Event.from_mapping({"latch": {"coordinate": "a.x", "at": 1}}), "event: name is missing; give it"),
    ],
)
def test_bad_events_and_stops(make, message):
    with pytest.raises(DescriptionError) as caught:
        make()
    assert message in str(caught.value)


SPEEDS = "ball.wx, ball.wy, ball.wz"


@pytest.mark.parametrize(
    ("do", "message"),
    [
        (Lock("sholder.ry"), "lock 'sholder.ry' names no coordinate, joint or body of the system, did you mean 'shoulder.ry'?"),
        (Lock("zebra"), "lock 'zebra' names no coordinate, joint or body of the system; there are bus.x, bus.y, "),
        (Release("box"), "release 'box' names a weld, which has no coordinates; name a body whose joint moves"),
        (Lock("mast.mode1"), "lock 'mast.mode1' names a modal coordinate, which is always free; name a coordinate of a joint"),
        (Lock("ball.qx"), f"lock 'ball.qx' names an entry of a quaternion; name the three speeds {SPEEDS}, or give its body"),
        (Release("ball.wx"), "release 'ball.wx' names one of the three speeds of a spherical rotation, which only change together; "
                             f"release {SPEEDS}, or give its body Gimbal"),
        (Prescribe("ball.wx", Rate(1)), "prescribe 'ball.wx' names a spherical rotation, which has no angles to prescribe; give"),
        (Prescribe("bus", Rate(1)), "prescribe 'bus' names a spherical rotation"),
        (Prescribe("hand", Rate(1)), "prescribe 'hand' names 2 coordinates; prescribe each: hand.rx, hand.rz"),
        ([Lock("hand"), Release("hand.rz")], "lock 'hand' and release 'hand.rz' both act on 'hand.rz'; keep one"),
    ],
)  # fmt: skip
def test_bad_targets(do, message):
    system = arm()
    system.event("e", at=1, do=do)
    (problem,) = reference_problems(system)
    assert str(problem).startswith(f"event 'e': {message}")
    assert problem.path[:3] == ("events", 0, "do")
    with pytest.raises(ModelError, match="event 'e': "):
        system.compile()


@pytest.mark.parametrize(
    "do",
    [
        Lock("bus"), Lock("ball"), Lock("boom"), Lock("shoulder"), Lock("mast"), Prescribe("boom", Rate(1)),
        Prescribe("bus.z", Rate(1)),
        [Lock("ball.wx"), Lock("ball.wy"), Lock("ball.wz"), Release("hand.rx"), Lock("hand.rz")],
    ],
)  # fmt: skip
def test_good_targets(do):
    system = arm()
    system.event("e", at=1, do=do)
    assert reference_problems(system) == []


def test_a_name_of_two_joints_is_ambiguous():
    system = System()
    system.body("a", joint=Revolute("y", name="b"))
    system.body("b", joint=Revolute("y"))
    system.event("e", at=1, do=Lock("b.ry"))
    system.event("f", when="b.ry", crosses=1, do=Lock("a"))
    assert [str(problem) for problem in reference_problems(system)] == [
        "event 'e': lock 'b.ry' may be of body 'a' and of 'b'; give their joints other names",
        "event 'f': when 'b.ry' may be one of several; give joints and wheels different names",
    ]


WAITS = [("shoulder.ry", "position"), ("shoulder.ry", "rate"), ("ball.qw", "position"), ("ball.wx", "rate"),
         ("mast.mode2", "position"), ("mast.mode2", "rate"), ("driven", "rate")]  # fmt: skip


@pytest.mark.parametrize(("when", "quantity"), WAITS)
def test_what_can_be_waited_for(when, quantity):
    system = arm()
    system.event("e", when=when, crosses=1, quantity=quantity, do=Lock("hand"))
    assert reference_problems(system) == []


@pytest.mark.parametrize(
    ("when", "quantity", "message"),
    [
        ("boom.ry", "position", "when 'boom.ry' is not a coordinate, output or signal of the system"),
        ("sholder.ry", "position",
         "when 'sholder.ry' is not a coordinate, output or signal of the system, did you mean 'shoulder.ry'?"),
        ("zebra", "rate", "when 'zebra' is not a speed of the system; there are bus.x, "),
        ("ball.wx", "position", "when 'ball.wx' is a speed; give quantity='rate'"),
        ("ball.qx", "rate", "when 'ball.qx' is no speed; give quantity='position'"),
        ("driven", "position", "when 'driven' is a speed; give quantity='rate'"),
        ("hand", "position", "when 'hand' is not one coordinate; name one of hand.rx, hand.rz"),
        ("held", "rate", "it can never happen: wheel 'held' has no torque, so that its speed is held; give it a torque, be it 0"),
    ],
)
def test_bad_waits(when, quantity, message):
    system = arm()
    system.event("e", when=when, crosses=1, quantity=quantity, do=Lock("hand"))
    (problem,) = reference_problems(system)
    assert str(problem).startswith(f"event 'e': {message}")


@pytest.mark.parametrize("motion", ["locked", Constant(1)])
@pytest.mark.parametrize("quantity", ["position", "rate"])
def test_events_that_can_never_happen(motion, quantity):
    system = arm(motion=motion)
    system.event("e", when="shoulder.ry", crosses=1, quantity=quantity, do=Lock("hand"))
    (problem,) = reference_problems(system)
    assert str(problem) == (
        "event 'e': it can never happen: 'shoulder.ry' does not move, and no event releases it; add one that does, or remove this"
    )
    system.event("again", at=1, do=Lock("boom"))
    assert len(reference_problems(system)) == 1
    system.event("go", at=2, do=Release("boom"))
    assert reference_problems(system) == []


def test_what_moves_or_may_move_can_be_waited_for():
    for motion in (None, Rate(1)):
        system = arm(motion=motion)
        system.event("e", when="shoulder.ry", crosses=1, do=Lock("hand"))
        assert reference_problems(system) == []


def test_a_locked_quaternion_does_not_move():
    system = System()
    system.body("ball", joint=Spherical(motion="locked"))
    system.event("e", when="ball.qw", crosses=0.5, do=Lock("ball"))
    assert "it can never happen: 'ball.qw' does not move" in str(reference_problems(system)[0])


@pytest.mark.parametrize(
    ("coordinate", "message"),
    [
        ("hand.rzz", "coordinate 'hand.rzz' names no coordinate, joint or body of the system, did you mean 'hand.rz'?"),
        ("hand", "coordinate 'hand' names a whole joint; name one of its coordinates: hand.rx, hand.rz"),
        ("box", "coordinate 'box' names a whole joint; name one of its coordinates: it has none"),
        ("ball.wx", "coordinate 'ball.wx' belongs to a spherical rotation, which has no angles; give its body Gimbal"),
        ("ball.qx", "coordinate 'ball.qx' names an entry of a quaternion"),
        ("mast.mode1", "coordinate 'mast.mode1' names a modal coordinate"),
    ],
)
def test_bad_stops(coordinate, message):
    system = arm()
    system.stop("s", coordinate=coordinate, above=1, stiffness=1)
    (problem,) = reference_problems(system)
    assert str(problem).startswith(f"stop 's': {message}")
    assert problem.path == ("stops", 0, "coordinate")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("- name: e\n  at: 1\n  do:\n  - lock: a.rz\n  - lock: b\n", "8: event 'e': lock 'b' names no coordinate"),
        ("- name: e\n  at: 1\n  do:\n  - prescribe:\n      target: a\n      motion: {rate: x}\n",
         "9: event 'e': prescribe: rate: rate is 'x'; give a number"),
        ("- name: e\n  latch: {coordinate: c, at: 1}\n", "4: event 'e': lock 'c' names no coordinate"),
    ],
)  # fmt: skip
def test_yaml_errors_have_their_line(text, message):
    with pytest.raises(DescriptionError) as caught:
        System.from_yaml("bodies:\n- {name: a, joint: revolute}\nevents:\n" + text)
    assert f"line {message}" in str(caught.value)


def test_models_with_other_parameters_keep_events_and_stops(monkeypatch):
    monkeypatch.setattr("bough.model.compiler.check_supported", lambda system: None, raising=False)
    system = System()
    system.body("boom", joint=Revolute("y"), mass=8, com=(1, 0, 0))
    system.latch("caught", coordinate="boom.ry", at=1)
    system.stop("bumper", coordinate="boom.ry", above=1.1, stiffness=1)
    other = system.compile().with_parameters({"boom.mass": 3.0}).system
    assert (other.events, other.stops, other.bodies["boom"].mass) == (system.events, system.stops, 3)
