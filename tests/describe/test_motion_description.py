"""Prescribed and locked coordinates as people describe them: what is kept, refused, written and read."""

import copy
import pickle

import pytest
from hypothesis import given

from bough.describe import (
    Constant,
    Cylindrical,
    Free,
    Gimbal,
    Harmonics,
    Joint,
    Loop,
    Move,
    Pieces,
    Polynomial,
    Rate,
    Revolute,
    Spherical,
    Spline,
    System,
    TimeTable,
    Universal,
    Weld,
)
from bough.describe.joint import read_joint, write_joint
from bough.describe.motions import MOTION, read_motion
from bough.errors import DescriptionError
from tests.describe.test_yaml_format import accepts
from tests.support.described_systems import motions

FORMS = [
    ({"constant": 0.3}, Constant(0.3)),
    ({"rate": 0.02, "start": 0.1}, Rate(0.02, 0.1)),
    ({"polynomial": [0, 0, 1]}, Polynomial([0, 0, 1])),
    ({"times": [0, 1, 2], "values": [0, 1, 0], "rates": [0, 2]}, Spline([0, 1, 2], [0, 1, 0], (0, 2))),
    ({"times": [0, 1, 2], "values": [0, 1, 0]}, Spline([0, 1, 2], [0, 1, 0])),
    ({"harmonics": [[0.1, 2, 0]], "mean": 1}, Harmonics([(0.1, 2, 0)], 1)),
    ({"move": 1.57, "begin": 2, "duration": 10}, Move(1.57, begin=2, duration=10)),
    ({"times": [0, 1], "coefficients": [[0, 0, 1], [1, 2]]}, Pieces([0, 1], [[0, 0, 1], [1, 2]])),
    ({"times": [0, 1, 2, 3], "values": [0, 1, 0, 1], "kind": "cubic"}, TimeTable([0, 1, 2, 3], [0, 1, 0, 1], "cubic")),
]


@pytest.mark.parametrize(("mapping", "motion"), FORMS)
def test_forms(mapping, motion):
    assert read_motion(mapping) == motion
    assert read_motion(motion) is motion
    assert accepts(MOTION, mapping, MOTION)
    assert Revolute(motion=mapping).motion == (motion,)


@given(motions)
def test_motions_are_values_and_written_exactly(motion):
    assert read_motion(motion.to_dict()) == motion
    assert accepts(MOTION, motion.to_dict(), MOTION)
    assert pickle.loads(pickle.dumps(motion)) == copy.deepcopy(motion) == motion
    assert len({motion, copy.copy(motion)}) == 1


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Constant("up"), "constant: value is 'up'; give a number"),
        (lambda: Rate(float("inf")), "rate: rate is inf; give a finite number"),
        (lambda: Polynomial([]), "polynomial: coefficients is [], which has 0 entries; give 1 to 8 coefficients"),
        (lambda: Polynomial(range(9)), "which has 9 entries; give 1 to 8 coefficients"),
        (lambda: Spline([0], [1]), "spline: a spline has 1 point; give at least 2, or a Constant"),
        (lambda: Spline([0, 0], [1, 2]), "spline: times has 0.0 s after 0.0 s (row 1); give times that increase strictly"),
        (lambda: Spline([0, 1], [1, 2], 3), "spline: rates is 3; give 2 finite numbers"),
        (lambda: Harmonics([]), "harmonics: terms is []; give a list of terms"),
        (lambda: Harmonics([(1, 2)]), "harmonics: terms has a term that is (1, 2), which has 2 entries; give 3 finite numbers"),
        (lambda: Harmonics([(1, 0, 0)]), "the frequency 0.0 rad/s; give a number > 0, and put what is constant into the mean"),
        (lambda: Move(1, duration=0), "move: duration is 0.0 s; give a number > 0"),
        (lambda: Pieces([0, 1], [[1]]), "pieces: 2 times but 1 lists of coefficients; give one for each time"),
        (lambda: Pieces([0], [1]), "pieces: coefficients is [1]; give a list of coefficients for each piece"),
        (lambda: Pieces([0], [[]]), "pieces: coefficients has a piece that is [], which has 0 entries; give 1 to 8"),
        (lambda: Pieces([0, 2], [[0, 1], [1, 1]]),
         "pieces: the position jumps by -1 at 2.0 s; start piece 2 where the one before ends, c0 = 2"),
        (lambda: Pieces([0, 2, 3], [[0, 1], [2, 1], [3, 0.5]]),
         "pieces: the rate jumps by -0.5 at 3.0 s, which would take an impulse; start piece 3 with the rate of the one before"),
    ],
)  # fmt: skip
def test_bad_motions(make, message):
    with pytest.raises(DescriptionError) as caught:
        make()
    assert message in str(caught.value)


def test_a_jump_counts_beyond_ten_digits():
    """A piece after 1 s of acceleration 2/3: its start may be rounded to ten digits, not to eight."""
    Pieces([0, 1], [[0, 0, 1 / 3], [0.3333333333, 0.6666666667]])
    with pytest.raises(DescriptionError, match="the position jumps by"):
        Pieces([0, 1], [[0, 0, 1 / 3], [0.33333333, 0.6666666667]])
    with pytest.raises(DescriptionError, match="the rate jumps by"):
        Pieces([0, 1], [[0, 0, 1 / 3], [0.3333333333, 0.66666667]])


def test_accelerations_may_jump():
    assert Pieces([0, 1], [[0, 0, 0.5], [0.5, 1]]).times == (0, 1)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Revolute(motion=0.3), "joint: motion is 0.3; give a motion, such as Rate(0.02) (in YAML: {rate: 0.02}), 'locked'"),
        (lambda: Revolute(motion="free"), "joint: motion is 'free'; give a motion"),
        (lambda: Universal(motion=[None, 3]), "joint: motion is [None, 3], where an entry is 3; give a motion"),
        (lambda: Universal(motion=[None, {"rate": "x"}]), "joint: rate: rate is 'x'; give a number"),
        (lambda: Revolute(motion={"speed": 3}), "give a mapping with one of the keys constant, rate, polynomial"),
        (lambda: Revolute(motion={"rate": 3, "constant": 1}), "give a mapping with one of the keys"),
        (lambda: Revolute(motion={"rate": 3, "strat": 1}), "rate: unknown key 'strat'; did you mean 'start'?"),
        (lambda: Revolute(motion={"move": 3}), "move: duration is missing; give it"),
        (lambda: Revolute(motion=TimeTable([0, 1], [0, 1])), "is a table of kind linear, whose rate jumps; give it the kind cubic"),
        (lambda: Revolute(motion=TimeTable([0, 1], [0, 1], "hold")), "is a table of kind hold, whose position jumps; give it"),
        (lambda: Revolute(motion=TimeTable(range(4), [[0, 1]] * 4, "cubic")), "is a table of 2 columns; give one of 1"),
        (lambda: Weld(motion="locked"), "motion is 'locked', but a weld has no degree of freedom; leave it out"),
        (lambda: Universal(motion=Rate(1)), "motion is Rate(rate=1.0), but the joint has 2 dofs; give a list of 2, None for a"),
        (lambda: Universal(motion=[None]), "motion is [None], which has 1 entries; give 2, one for each dof"),
        (lambda: Spherical(motion=[None, "locked", None]), "for wx, wy, wz, which are not angles; let them be free, or all three"),
        (lambda: Spherical(motion=[Rate(1), None, None]), "use Gimbal (rotations 'xyz')"),
        (lambda: Revolute(motion=Rate(1), q0=0), "q0 is (0.0,), but motion prescribes where the joint is; remove one of the two"),
        (lambda: Revolute(motion=Rate(1), v0=1), "v0 is (1.0,), but motion prescribes where the joint is; remove one of the two"),
        (lambda: Universal(motion=[Rate(1), None], q0=[1, 2]), "q0 has 1.0 for rx, but motion prescribes where it is; give 0"),
        (lambda: Universal(motion=[None, "locked"], v0=[1, 2]), "v0 has 2.0 for ry, which is locked; give 0 there, or let it"),
        (lambda: Free(motion="locked", v0=[0, 0, 0, 0, 0, 1]), "v0 has 1.0 for wz, which is locked"),
    ],
)
def test_bad_motions_of_joints(make, message):
    with pytest.raises(DescriptionError) as caught:
        make()
    assert message in str(caught.value)


def test_motions_of_joints():
    joint = Cylindrical("x", motion=["locked", Rate(0.1)], q0=[1, 0], v0=[0, 0], stiffness=3, damping=2, torque=1)
    assert (joint.locked, joint.prescribed) == ((True, False), (False, True))
    assert Gimbal(motion="locked").motion == ("locked",) * 3
    assert Free(motion="locked", q0=[1, 2, 3, 0, 0, 0, 1]).locked == (True,) * 6
    assert Free(motion=[Rate(1), *[None] * 5], q0=[0, 1, 2, 0, 0, 0, 1], v0=[0, 1, 2, 3, 4, 5]).prescribed == (True, *[False] * 5)
    assert Universal(motion=[None, None]) == Universal()
    assert Universal().locked == Universal().prescribed == (False, False)


def test_motions_of_joints_are_written_short():
    assert write_joint(Revolute("y", motion="locked")) == {"type": "revolute", "axis": "y", "motion": "locked"}
    assert write_joint(Revolute("y", motion=Move(1, duration=2)))["motion"] == {"move": 1.0, "duration": 2.0}
    mixed = Universal("yz", motion=[None, Constant(1)])
    assert write_joint(mixed)["motion"] == [None, {"constant": 1.0}]
    assert read_joint(write_joint(mixed)) == mixed


def test_loops_have_no_motion():
    with pytest.raises(DescriptionError) as caught:
        Loop("pin", Revolute("y", motion="locked"), "rod", "world")
    assert str(caught.value) == (
        "loop 'pin': revolute joint: motion is ('locked',), but the coordinates of a loop's joint follow from those of the tree; "
        "leave it out, and give motion to the joints of bodies"
    )


def test_yaml_errors_have_their_line():
    text = "bodies:\n- name: boom\n  joint:\n    type: revolute\n    motion:\n      rate: fast\n"
    with pytest.raises(DescriptionError) as caught:
        System.from_yaml(text)
    assert str(caught.value) == "line 6: body 'boom': joint: rate: rate is 'fast'; give a number (not a text)"


def test_outline_tells_what_is_held():
    system = System()
    system.body("boom", joint=Joint("x", "yz", motion=[Rate(1), "locked", None]), mass=1)
    assert repr(system).splitlines()[-1] == "└─ boom   general: x ry rz, locked ry, prescribed x, 1 kg"
