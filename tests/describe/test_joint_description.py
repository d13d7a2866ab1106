"""Joints: their kinds, sizes, labels, options, and what they refuse."""

import numpy as np
import pytest
from hypothesis import given

from bough.describe import (
    Cylindrical,
    Free,
    Gimbal,
    Joint,
    Planar,
    PointOnLine,
    PointOnPlane,
    Prismatic,
    Revolute,
    Spherical,
    TimeTable,
    Universal,
    Weld,
)
from bough.describe.joint import read_joint, write_joint
from bough.describe.numeric import axis
from bough.errors import DescriptionError
from tests.support.described_systems import directions, joints
from tests.support.tolerance import FORMULA, PRODUCTS


@pytest.mark.parametrize(
    ("joint", "kind", "n_q", "dofs"),
    [
        (Weld(), "weld", 0, ()),
        (Revolute("-y"), "revolute", 1, ("ry",)),
        (Revolute((1, 1, 0)), "revolute", 1, ("r1",)),
        (Prismatic("x"), "prismatic", 1, ("x",)),
        (Cylindrical(), "cylindrical", 2, ("z", "rz")),
        (Universal("xz"), "universal", 2, ("rx", "rz")),
        (Universal(["x", (0, 1, 1)]), "universal", 2, ("rx", "r2")),
        (Planar(), "planar", 3, ("x", "y", "rz")),
        (Planar([(1, 1, 0), "z"]), "planar", 3, ("t1", "z", "r1")),
        (Gimbal("zxz"), "gimbal", 3, ("rz1", "rx2", "rz3")),
        (Spherical(), "spherical", 4, ("wx", "wy", "wz")),
        (Free(), "free", 7, ("x", "y", "z", "wx", "wy", "wz")),
        (Joint("x", "yz"), "general", 3, ("x", "ry", "rz")),
        (Joint("xyz", "xyz"), "general", 6, ("x", "y", "z", "rx", "ry", "rz")),
        (Joint("xzy", "spherical"), "general", 7, ("x", "z", "y", "wx", "wy", "wz")),
        (PointOnLine(), "point_on_line", 5, ("z", "wx", "wy", "wz")),
        (PointOnLine((1, 2, 3)), "point_on_line", 5, ("t1", "wx", "wy", "wz")),
        (PointOnPlane(), "point_on_plane", 6, ("x", "y", "wx", "wy", "wz")),
        (PointOnPlane("-y"), "point_on_plane", 6, ("z", "x", "wx", "wy", "wz")),
        (PointOnPlane((1, 2, -3)), "point_on_plane", 6, ("t1", "t2", "wx", "wy", "wz")),
        (Joint("yx", "spherical"), "point_on_plane", 6, ("y", "x", "wx", "wy", "wz")),
        (Joint(["x", (1, 1, 0)], "spherical"), "point_on_plane", 6, ("x", "t2", "wx", "wy", "wz")),
    ],
)
def test_kinds(joint, kind, n_q, dofs):
    assert (joint.kind, joint.n_q, joint.n_v, joint.dofs) == (kind, n_q, len(dofs), dofs)
    assert len(joint.q_labels) == len(set(joint.q_labels)) == n_q == len(joint.neutral)
    assert read_joint(write_joint(joint)) == joint


@given(joints())
def test_mapping_round_trip(joint):
    assert read_joint(write_joint(joint)) == joint
    assert len(set(joint.dofs)) == joint.n_v


def test_one_number_serves_all_dofs():
    push = TimeTable([0, 1], [0, 5])
    joint = Universal("xy", stiffness=2, damping=[1, 3], torque=push, rest=0.5)
    assert (joint.stiffness, joint.damping, joint.rest, joint.torque) == ((2, 2), (1, 3), (0.5, 0.5), (push, push))


def test_initial_quaternion_gets_unit_length():
    assert Free(q0=[1, 2, 3, 0, 0, 0, 2]).q0 == (1, 2, 3, 0, 0, 0, 1)


def test_named_and_general_joints_are_equal():
    assert Revolute("y") == Joint(rotations=["y"])
    assert hash(Free()) == hash(Joint("xyz", "spherical"))
    assert Revolute("y") != Revolute("-y")
    assert PointOnLine("x") == Joint("x", "spherical")
    assert PointOnPlane("x") == Joint("yz", "spherical")


def test_points_on_lines_and_planes_are_written_short():
    assert write_joint(PointOnLine("y")) == {"type": "point_on_line", "axis": "y"}
    assert write_joint(PointOnPlane("-z", damping=1)) == {"type": "point_on_plane", "normal": "-z", "damping": [1.0] * 5}
    assert repr(PointOnPlane("x")) == "PointOnPlane('x')"
    assert read_joint("point_on_plane") == PointOnPlane()


@given(directions)
def test_a_plane_is_spanned_right_handed(direction):
    joint = PointOnPlane(direction)
    assert read_joint(write_joint(joint)) == joint
    first, second = np.array(joint.translations)
    assert np.allclose(np.cross(first, second), axis(direction), rtol=0, atol=FORMULA)
    assert abs(first @ second) < PRODUCTS


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Universal("xx"), "parallel"),
        (lambda: Gimbal("xyy"), "parallel"),
        (lambda: Universal("xyz"), "give 2 axes"),
        (lambda: Planar(["x", "-x"]), "span a plane"),
        (lambda: Joint([(1, 0, 0), (0, 1, 0), (1, 1, 0)]), "combination"),
        (lambda: Joint("xyzx"), "at most 3"),
        (lambda: Joint(rotations=[1, 0, 0]), "list of axes"),
        (lambda: Free(stiffness=3), "use Gimbal"),
        (lambda: Universal(stiffness=[1, 2, 3]), "give 2"),
        (lambda: Revolute(damping=-1), ">= 0"),
        (lambda: Weld(damping=1), "no degree of freedom"),
        (lambda: Revolute(rest=1), "give stiffness"),
        (lambda: Spherical(q0=(0, 0, 0, 0)), "zero length"),
        (lambda: Free(q0=[0] * 6), "give 7"),
        (lambda: Universal(v0=3), "give 2"),
        (lambda: Revolute(torque=TimeTable([0], [[1, 2]])), "table of 2 columns"),
        (lambda: Revolute(torque="much"), "give a number"),
        (lambda: Revolute(damping=float("nan")), "finite"),
        (lambda: Revolute(name=""), "text"),
        (lambda: PointOnLine("q"), "point_on_line joint: axis is 'q'"),
        (lambda: PointOnPlane((0, 0, 0)), "point_on_plane joint: normal is (0.0, 0.0, 0.0), of zero length"),
        (lambda: read_joint({"type": "point_on_plane", "axis": "x"}), "unknown key 'axis'"),
        (lambda: read_joint("point_on_lin"), "did you mean 'point_on_line'"),
        (lambda: read_joint("revolut"), "did you mean 'revolute'"),
        (lambda: read_joint({"type": "free", "axis": "x"}), "unknown key 'axis'"),
    ],
)
def test_refused(make, words):
    with pytest.raises(DescriptionError, match=";") as caught:
        make()
    assert words in str(caught.value)


def test_springs_beside_a_spherical_rotation_are_fine():
    assert Free(stiffness=[1, 1, 1, 0, 0, 0], damping=2).stiffness == (1, 1, 1, 0, 0, 0)
