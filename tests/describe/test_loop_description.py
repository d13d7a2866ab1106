"""Closed loops as people describe them: what is kept, refused, written, read and printed."""

import copy
import pickle
import re

import pytest
from scipy.spatial.transform import Rotation

import bough
from bough.describe import (
    Body,
    Cylindrical,
    Distance,
    Frame,
    Free,
    Gimbal,
    Joint,
    Loop,
    Planar,
    PointOnLine,
    PointOnPlane,
    Prismatic,
    Revolute,
    Spherical,
    System,
    TimeTable,
    Universal,
    Weld,
)
from bough.describe.checks import reference_problems
from bough.describe.document import json_schema
from bough.errors import DescriptionError
from tests.describe.test_flexible_description import BOOM, TRIANGLE, spacecraft
from tests.describe.test_yaml_format import accepts

CLOSURES = [
    Weld(), Revolute("y"), Prismatic("x"), Cylindrical(), Universal("xz"), Universal(["x", (1, 1, 0)]), Planar("zx"), Gimbal("zyx"),
    Spherical(), PointOnLine("x"), PointOnPlane((1, 2, 3)), Joint("xyz"), Joint("xyz", "z"), Joint("xyz", "xy"), Joint("xy", "xyz"),
    Joint("xz", "spherical"), Revolute(stiffness=20, damping=0.1, rest=0.2, torque=TimeTable([0, 1], [0, 5])),
    PointOnLine(stiffness=[9, 0, 0, 0], damping=1), Distance(2.0),
]  # fmt: skip


def four_bar(*loops):
    system = System("four-bar", gravity=(0, 0, -9.81))
    system.body("crank", joint=Revolute("y"), mass=1, com=(0.5, 0, 0), inertia=(0, 0.1, 0.1))
    system.body("rod", parent="crank", joint=Revolute("y"), at=(1, 0, 0), mass=2, com=(1, 0, 0), inertia=(0, 0.7, 0.7))
    for loop in loops:
        system.loops[loop.name] = loop
    return system


# ---- frames, distances, loops -----------------------------------------------------------------------------------------


def test_frames():
    plain = Frame("bus")
    assert (plain.body, plain.at, plain.orient, plain.node) == ("bus", (0, 0, 0), (0, 0, 0, 1), None)
    turned = Frame("bus", (1, 0, 0), {"axis": "z", "degrees": 180}, "tip")
    assert (turned.at, turned.orient[2], turned.node) == ((1, 0, 0), 1, "tip")
    assert turned == Frame("bus", (1, 0, 0), Rotation.from_rotvec([0, 0, 180], degrees=True), "tip")
    assert Frame("world", orient=(0, 0, 0, 2)) == Frame("world")


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Frame(3), "frame: body is 3; give a text (in YAML, put it in quotes)"),
        (lambda: Frame("bus", at=(1, 2)), "frame: at is (1, 2), which has 2 entries; give 3 finite numbers"),
        (lambda: Frame("bus", orient="up"), "frame: orient is 'up'; give a quaternion"),
        (lambda: Frame("bus", node=3), "frame: node is 3; give a text"),
        (lambda: Frame("world", node="tip"), "frame: node is 'tip', but the world has no nodes; leave it out"),
        (lambda: Distance(0), "distance: length is 0.0 m; give a number > 0"),
        (lambda: Distance("long"), "distance: length is 'long'; give a number"),
    ],
)
def test_bad_frames_and_distances(make, message):
    with pytest.raises(DescriptionError, match=re.escape(message)):
        make()


def test_loops_are_collected():
    system = four_bar()
    loop = system.loop("pin", joint=Revolute("y"), a="rod", b=Frame("world", at=(2, 0, 0)))
    assert system.loops == {"pin": loop}
    assert (loop.name, loop.joint, loop.a, loop.b) == ("pin", Revolute("y"), Frame("rod"), Frame("world", (2, 0, 0)))
    assert loop == Loop("pin", {"type": "revolute", "axis": "y"}, {"body": "rod"}, {"body": "world", "at": [2, 0, 0]})
    assert reference_problems(system) == []
    before = system.copy()
    with pytest.raises(DescriptionError, match="loop 'pin': there is a loop of this name already; give each loop its own name"):
        system.loop("pin", joint="weld", a="rod", b="world")
    assert system == before


def test_loops_are_values():
    loop = Loop("rod", Distance(2), "a", Frame("b", (1, 0, 0)))
    assert pickle.loads(pickle.dumps(loop)) == copy.deepcopy(loop) == loop
    assert len({loop, copy.copy(loop), Loop("rod", Distance(3), "a", "b")}) == 2
    with pytest.raises(DescriptionError, match="loop 'rod': joint cannot become 3"):
        loop.joint = 3


REMEDY = "but the coordinates of a loop's joint follow from those of the tree; leave it out, and give"
NOTHING = "it leaves all 6 motions free and closes nothing; give a joint that holds some, such as Spherical(), or no loop"


@pytest.mark.parametrize(
    ("joint", "message"),
    [
        (Revolute(q0=0.2), f"revolute joint: q0 is (0.2,), {REMEDY} q0 to the joints of bodies"),
        (Joint("x", "y", v0=[1, 2]), f"joint: v0 is (1.0, 2.0), {REMEDY} v0 to the joints of bodies"),
        (Spherical(name="ball"), "spherical joint: name is 'ball', but a loop has its own name; leave it out"),
        (Free(), f"free joint: {NOTHING}"),
        ("free", f"free joint: {NOTHING}"),
        (Joint("xyz", "xyz", stiffness=1), f"joint: {NOTHING}"),
        (Joint([(1, 1, 0), "x", "z"], "spherical"), f"joint: {NOTHING}"),
        (None, "joint is None; give a joint, such as Spherical(), or a Distance"),
        (3, "joint is 3; give a joint, such as {type: revolute, axis: y}"),
        ("distanc", "joint: type is 'distanc'; did you mean 'distance'?"),
        ("zebra", "joint: type is 'zebra'; give one of weld, "),
        ("distance", "distance: length is missing; give it"),
        ({"type": "distance", "length": -2}, "distance: length is -2.0 m; give a number > 0"),
        ({"type": "distance", "lenght": 2, "length": 2}, "distance: unknown key 'lenght'; did you mean 'length'?"),
        ({"type": "distance", "length": 2, "stiffness": 3}, "distance: unknown key 'stiffness'"),
    ],
)
def test_bad_joints(joint, message):
    with pytest.raises(DescriptionError) as caught:
        Loop("strut", joint, "panel", "bus")
    assert str(caught.value).startswith(f"loop 'strut': {message}")


def test_all_problems_are_told_at_once():
    with pytest.raises(DescriptionError) as caught:
        Loop("strut", Free(q0=[0, 0, 0, 0, 0, 0, 1], name="f"), {"body": "a", "at": (1,), "nod": "tip"}, 3)
    paths = [("joint", "name"), ("joint", "q0"), ("joint",), ("a", "at"), ("a", "nod"), ("b",)]
    assert [problem.path for problem in caught.value.problems] == paths


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (3, "b is 3; give a Frame, or a body's name"),
        (None, "b is None; give a Frame, or a body's name"),
        ("", "b: body is ''; give a printable text"),
        ({"at": [1, 0, 0]}, "b: body is missing; give it"),
        ({"body": "bus", "att": [1, 0, 0]}, "b: unknown key 'att'; did you mean 'at'?"),
        ({"body": "world", "node": "tip"}, "b: node is 'tip', but the world has no nodes; leave it out"),
    ],
)
def test_bad_frames_of_loops(frame, message):
    with pytest.raises(DescriptionError) as caught:
        Loop("strut", "spherical", "panel", frame)
    assert str(caught.value).startswith(f"loop 'strut': {message}")


@pytest.mark.parametrize("joint", [Distance(2), "distance", {"type": "distance", "length": 2}])
def test_a_distance_carries_no_body(joint):
    with pytest.raises(DescriptionError) as caught:
        Body("rod", joint=joint)
    words = "but a distance closes a loop; give it to System.loop (in YAML: loops), and the body a joint, such as Free()"
    assert str(caught.value).startswith("body 'rod': joint is ")
    assert str(caught.value).endswith(words)


def test_no_body_is_the_world():
    with pytest.raises(DescriptionError, match="name is 'world', which is the inertial frame; give another name"):
        four_bar().body("world")


# ---- names that lead somewhere ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("loop", "path", "message"),
    [
        (Loop("l", "weld", "rd", "world"), "a", "loop 'l': a: body 'rd' is not a body of the system, did you mean 'rod'?"),
        (Loop("l", "weld", "rod", "wrld"), "b", "loop 'l': b: body 'wrld' is not a body of the system, did you mean 'world'?"),
        (Loop("l", "weld", "rod", "shed"), "b", "loop 'l': b: body 'shed' is not a body of the system; the bodies are crank, rod"),
        (
            Loop("l", "weld", "rod", Frame("rod", (1, 0, 0))),
            "b",
            "loop 'l': a loop between body 'rod' and itself closes nothing: give b another body, or world",
        ),
        (
            Loop("l", "weld", "world", "world"),
            "b",
            "loop 'l': a loop between the world and itself closes nothing: give a or b a body of the system",
        ),
    ],
)
def test_bad_bodies(loop, path, message):
    [problem] = reference_problems(four_bar(Loop("fine", "weld", "rod", "crank"), loop))
    assert str(problem) == message
    assert problem.path == ("loops", 1, path, "body")


CORNER = Frame("panel", node="corner")
NOT_THERE = "node 'corner' of body 'panel' cannot carry a joint"


def in_spacecraft(joint, a, b="bus"):
    system = spacecraft()
    system.loop("l", joint=joint, a=a, b=b)
    return reference_problems(system)


@pytest.mark.parametrize(
    ("joint", "a", "b", "message"),
    [
        ("weld", Frame("boom", node="tp"), "bus", "loop 'l': a: node 'tp' is not a node of body 'boom', did you mean 'tip'?"),
        ("weld", "boom", Frame("bus", node="tip"), "loop 'l': b: node is 'tip', but body 'bus' is rigid and has no nodes; leave"),
        ("weld", "loose", "bus", "loop 'l': a: node is missing, and body 'loose' has no inboard node to stand for it; give one of"),
        ("weld", CORNER, "bus", f"loop 'l': a: {NOT_THERE}: {TRIANGLE}"),
        (Spherical(damping=1), "bus", CORNER, f"loop 'l': b: {NOT_THERE}"),
        (Gimbal(stiffness=1), "bus", CORNER, f"loop 'l': b: {NOT_THERE}"),
        ("point_on_line", CORNER, "bus", f"loop 'l': a: {NOT_THERE}"),
        (
            Distance(1),
            Frame("panel", at=(0, 0, 1), node="corner"),
            "bus",
            f"loop 'l': a: node 'corner' of body 'panel' cannot carry a frame beside it (at is not zero): {TRIANGLE}",
        ),
        (
            Distance(1),
            Frame("boom", node="root"),
            Frame("boom", node="tip"),
            "loop 'l': a and b are nodes of one body, 'boom', and a loop does not hold these; hold them in its finite elements",
        ),
        (Distance(1), Frame("boom", at=(1, 0, 0)), "boom", "loop 'l': a loop between body 'boom' and itself closes nothing: "),
    ],
)
def test_bad_nodes(joint, a, b, message):
    [problem] = in_spacecraft(joint, a, b)
    assert str(problem).startswith(message)


@pytest.mark.parametrize(
    "joint", [Distance(1), "spherical", "gimbal", PointOnLine(stiffness=[1, 0, 0, 0], damping=[1, 0, 0, 0]), Spherical(damping=0)]
)
def test_points_may_be_held_where_the_rotation_is_not_known(joint):
    assert in_spacecraft(joint, "bus", CORNER) == []


def test_nodes_of_flexible_bodies_carry_any_joint():
    for joint in CLOSURES:
        assert in_spacecraft(joint, Frame("boom", node="tip"), Frame("loose", (0, 0, 1), node="tip")) == []
    assert in_spacecraft("weld", "boom") == []  # its inboard node


# ---- YAML -------------------------------------------------------------------------------------------------------------


def whole_system():
    loops = [Loop(f"loop{i}", joint, Frame("rod", (i, 0, 0)), "world") for i, joint in enumerate(CLOSURES)]
    system = four_bar(*loops)
    system.body("boom", flexible=BOOM, joint="free")
    system.loop("on", joint="spherical", a=Frame("boom", (0, 0.1, 0), {"axis": "x", "degrees": 30}, "tip"), b="crank")
    return system


def test_round_trips():
    system = whole_system()
    text = system.to_yaml()
    assert System.from_yaml(text) == system
    assert System.from_yaml(text).to_yaml() == text
    assert System.from_dict(system.to_dict()) == system
    assert System.from_yaml(system.to_yaml(exact=True)) == system
    assert system.copy() == system
    schema = json_schema()
    assert accepts(schema, system.to_dict(), schema)


def test_equality_and_copies_see_loops():
    system = whole_system()
    twin = system.copy()
    twin.loops["on"] = Loop("on", "spherical", "boom", "rod")
    assert twin != system
    del twin.loops["on"]
    assert "on" in system.loops


def test_yaml_is_short():
    system = System("short")
    system.body("rod")
    system.loop("pin", joint=Revolute("y"), a="rod", b=Frame("world", at=(2, 0, 0)))
    system.loop("tie", joint=Distance(2), a="rod", b="world")
    assert system.to_yaml().splitlines()[-9:] == [
        "loops:",
        "- name: pin",
        "  joint: {type: revolute, axis: y}",
        "  a: rod",
        "  b: {body: world, at: [2.0, 0.0, 0.0]}",
        "- name: tie",
        "  joint: {type: distance, length: 2.0}",
        "  a: rod",
        "  b: world",
    ]


def test_schema_refuses():
    schema = json_schema()
    good = {"name": "l", "joint": "weld", "a": "rod", "b": {"body": "world", "at": [1, 0, 0]}}
    assert accepts(schema, {"loops": [good]}, schema)
    for joint in ("free", "distance", {"type": "distance"}, {"type": "revolute", "q0": 1}, {"type": "weld", "name": "w"}):
        assert not accepts(schema, {"loops": [good | {"joint": joint}]}, schema)
    for frame in (3, {"at": [1, 0, 0]}, {"body": "rod", "att": [1, 0, 0]}):
        assert not accepts(schema, {"loops": [good | {"a": frame}]}, schema)
    assert not accepts(schema, {"bodies": [{"name": "b", "joint": {"type": "distance", "length": 2}}]}, schema)


HEAD = "bodies:\n- name: rod\n- name: bus\nloops:\n- name: pin\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (f"{HEAD}  joint: weld\n  a: rod\n", "line 5: loop 'pin': b is missing; give it"),
        (f"{HEAD}  joint: weld\n  a: rd\n  b: bus\n", "line 7: loop 'pin': a: body 'rd' is not a body of the system, did you mean"),
        (
            f"{HEAD}  joint: weld\n  a: rod\n  b:\n    at: [0, 0, 1]\n    body: bs\n",
            "line 10: loop 'pin': b: body 'bs' is not a body of the system, did you mean 'bus'?",
        ),
        (
            f"{HEAD}  joint: weld\n  a: rod\n  b:\n    body: bus\n    node: tip\n",
            "line 10: loop 'pin': b: node is 'tip', but body 'bus' is rigid and has no nodes",
        ),
        (
            f"{HEAD}  joint: weld\n  a: rod\n  b:\n    body: bus\n    at: [0, 0]\n",
            "line 10: loop 'pin': b: at is [0, 0], which has 2 entries; give 3 finite numbers",
        ),
        (f"{HEAD}  joint: weld\n  a: rod\n  b: rod\n", "line 8: loop 'pin': a loop between body 'rod' and itself closes nothing"),
        (f"{HEAD}  joint: free\n  a: rod\n  b: bus\n", f"line 6: loop 'pin': free joint: {NOTHING}"),
        (
            f"{HEAD}  joint:\n    type: revolute\n    q0: 0.1\n  a: rod\n  b: bus\n",
            "line 8: loop 'pin': revolute joint: q0 is (0.1,), but the coordinates of a loop's joint follow",
        ),
        (
            f"{HEAD}  joint:\n    type: weld\n    name: w\n  a: rod\n  b: bus\n",
            "line 8: loop 'pin': weld joint: name is 'w', but a loop has its own name; leave it out",
        ),
        (
            f"{HEAD}  joint:\n    type: distance\n    length: 0\n  a: rod\n  b: bus\n",
            "line 8: loop 'pin': distance: length is 0.0 m; give a number > 0",
        ),
        (f"{HEAD}  jont: weld\n  a: rod\n  b: bus\n", "line 6: loop 'pin': unknown key 'jont'; did you mean 'joint'?"),
        (
            f"{HEAD}  joint: weld\n  a: rod\n  b: bus\n- {{name: pin, joint: weld, a: rod, b: bus}}\n",
            "line 9: loop 'pin': there is a loop of this name already; give each loop its own name",
        ),
        ("loops:\n- {joint: weld, a: {body: rod, att: 3}, b: bus}\n", "line 2: loop 1: a: unknown key 'att'; did you mean 'at'?"),
        ("loops:\n- pin\n", "line 2: system: loops[0] is 'pin'; give a mapping of keys to values, at least name, joint, a, b"),
        ("loops:\n  pin: {joint: weld}\n", "line 1: system: loops is {'pin': {'joint': 'weld'}}; give a list, each entry"),
        ("bodies:\n- name: rod\n  joint: {type: distance, length: 2}\n", "line 3: body 'rod': joint is {'length': 2, "),
    ],
)
def test_errors_name_loop_and_line(text, message):
    with pytest.raises(DescriptionError) as caught:
        System.from_yaml(text)
    assert any(line.startswith(message) for line in str(caught.value).splitlines()), str(caught.value)


# ---- the outline, and the package -------------------------------------------------------------------------------------


def test_outline():
    system = four_bar()
    assert "loop" not in repr(system)
    system.loop("pin", joint="universal", a=Frame("rod", at=(2, 0, 0.5)), b="world")
    assert repr(system).splitlines() == [
        "System 'four-bar': 2 bodies, 2 degrees of freedom before loops, 3 kg, 1 loop, gravity (0.0, 0.0, -9.81) m/s^2",
        "world",
        "└─ crank   revolute: ry, 1 kg",
        "   └─ rod   revolute: ry, 2 kg",
        "loop pin   universal: rod at (2, 0, 0.5) - world",
    ]
    system.loop("tie", joint=Distance(1.5), a=Frame("crank", node="tip", at=(0, 0, 1)), b="world")
    assert "2 loops" in repr(system)
    assert repr(system).splitlines()[-1] == "loop tie   distance 1.5 m: crank node tip at (0, 0, 1) - world"
    for i in range(50):
        system.loop(f"loop{i}", joint="weld", a="rod", b="world")
    assert repr(system).splitlines()[-1] == "... and 12 more loops"


def test_public_names():
    for name in (Frame, Loop, Distance, PointOnLine, PointOnPlane):
        assert getattr(bough, name.__name__) is name
        assert name.__name__ in bough.__all__
