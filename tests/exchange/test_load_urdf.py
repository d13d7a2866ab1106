"""URDF files: what becomes of each element, and what is told."""

import os
import re

import numpy as np
import pytest
import trimesh

import bough
from bough.errors import DescriptionError
from bough.files import read_system
from tests.support.robots import ARM
from tests.support.tolerance import PRODUCTS


@pytest.fixture
def arm(tmp_path):
    folder = tmp_path / "parts" / "urdf"
    folder.mkdir(parents=True)
    trimesh.creation.box((1, 1, 1)).export(tmp_path / "parts" / "upper.stl")
    (folder / "arm.urdf").write_text(ARM)
    return folder / "arm.urdf"


def test_links_are_bodies_in_the_order_of_the_tree(arm):
    s = bough.load_urdf(arm)
    assert s.name == "arm"
    assert s.gravity == (0.0, 0.0, -9.81)
    assert [(b.name, b.parent, b.joint.kind, b.joint.name) for b in s.bodies.values()] == [
        ("base", None, "weld", None), ("upper", "base", "revolute", "shoulder"), ("slide", "upper", "prismatic", "rail"),
        ("wheel", "slide", "revolute", "spin"), ("tip", "wheel", "weld", "end"),
    ]  # fmt: skip
    upper = s.bodies["upper"]
    assert upper.at == (1.0, 2.0, 3.0)
    assert upper.joint == bough.Revolute("y", name="shoulder", damping=0.7)
    assert upper.orient == bough.Body("b", orient={"euler": "xyz", "radians": [0.1, 0.2, 0.3]}).orient
    assert s.bodies["slide"].joint.translations == ((1.0, 0.0, 0.0),)                    # URDF's default axis
    np.testing.assert_allclose(s.bodies["wheel"].joint.rotations[0], [np.sqrt(0.5), np.sqrt(0.5), 0])
    assert s.bodies["tip"].mass == 0.0
    assert s.compile().nv == 3


def test_inertia_is_turned_into_the_axes_of_the_link(arm):
    base = bough.load_urdf(arm).bodies["base"]
    assert (base.mass, base.com) == (2.0, (0.1, 0.0, 0.0))
    np.testing.assert_allclose(base.inertia, np.diag([0.2, 0.1, 0.25]), atol=1e-16)      # a quarter turn about z


def test_visuals_are_shapes(arm):
    s = bough.load_urdf(arm)
    assert s.bodies["base"].shapes == (bough.shapes.Box((1, 2, 3), at=(0, 0, 0.5), color=(0, 0, 1, 0.5)),)
    assert s.bodies["slide"].shapes == (bough.shapes.Cylinder(0.1, 2, color=(1, 0, 0, 1)),)
    [mesh] = s.bodies["upper"].shapes                                                     # a folder above is the package
    assert np.abs(mesh.triangles()[0]).max() == pytest.approx(0.0005)


@pytest.mark.parametrize("how", ["package_dirs", "file", "ROS_PACKAGE_PATH"])
def test_where_packages_are(how, tmp_path, monkeypatch):
    stl = tmp_path / "ros" / "parts" / "upper.stl"
    stl.parent.mkdir(parents=True)
    trimesh.creation.box((1, 1, 1)).export(stl)
    (tmp_path / "robot").mkdir()
    path = tmp_path / "robot" / "arm.urdf"
    path.write_text(ARM if how != "file" else ARM.replace("package://parts/upper.stl", f"file://{stl}"))
    monkeypatch.setenv("ROS_PACKAGE_PATH", os.pathsep.join(["/none", str(tmp_path / "ros")]) if how == "ROS_PACKAGE_PATH" else "")
    s = bough.load_urdf(path, package_dirs=[tmp_path / "ros"] if how == "package_dirs" else [])
    assert [shape.path for shape in s.bodies["upper"].shapes] == [str(stl)]


def test_every_loss_is_told_by_name(arm):
    assert bough.load_urdf(arm, mimic="free").notes == (
        "joint that follows another (mimic) is a coordinate of its own: rail = 2 shoulder + 0.25",
        "position limits are not used (limits='stops' makes springs and dampers of them): shoulder [-1, 0.5], rail [0, 0]",
        "effort limits are not used: shoulder 30, rail 10",
        "velocity limits are not used: shoulder 2, rail 1",
        "dry friction is not used: shoulder 0.1",
        "collision geometry is not used, of links: base",
        "<safety_controller> is not used, of: spin",
        "<gazebo> is not used, of: base",
        "<transmission> is not used, of: gear",
        "mesh not drawn because its file is missing, of links: upper (lost.stl)",
        "inertia that no real body has, taken as it is, of links: wheel",
    )


def test_notes_go_with_the_system(arm, tmp_path):
    s = read_system(arm)
    s.to_yaml(tmp_path / "arm.yaml")
    again = bough.load(tmp_path / "arm.yaml")
    assert again == s
    assert again.notes == s.copy().notes == s.notes
    assert "mesh: parts/upper.stl" in (tmp_path / "arm.yaml").read_text()


def test_followers_are_coupled(arm):
    s = bough.load_urdf(arm)
    assert s.couplings["rail"].relation == bough.Mimic("rail", "shoulder", 2.0, 0.25)
    assert not any("mimic" in note for note in s.notes)
    assert s.compile().freedom().degrees == 2
    arm.write_text(ARM.replace('mimic joint="shoulder"', 'mimic joint="elbow"'))
    with pytest.raises(DescriptionError, match="joint 'rail': <mimic> names 'elbow', which is no joint of the robot"):
        bough.load_urdf(arm)


def test_followers_can_be_locked(arm):
    s = bough.load_urdf(arm, mimic="locked")
    assert s.bodies["slide"].joint.locked == (True,)
    assert s.bodies["slide"].joint.q0 == (0.25,)
    assert s.notes[0] == "joint that follows another (mimic) is locked at its offset: rail = 2 shoulder + 0.25"


def test_a_floating_base(arm):
    assert bough.load_urdf(arm, base="free", gravity=(0, 0, 0)).compile().nv == 9
    assert bough.load_urdf(arm, base=bough.Planar("xy")).bodies["base"].joint.kind == "planar"


def test_a_root_called_world_is_the_inertial_frame(tmp_path):
    path = tmp_path / "arm.urdf"
    path.write_text(re.sub(r'"base"', '"world"', ARM))
    s = bough.load_urdf(path)
    assert s.bodies["upper"].parent is None
    assert "<inertial> is not used, of: world" in s.notes
    assert "<visual> is not used, of: world" in s.notes
    with pytest.raises(DescriptionError, match="link 'world': is the root, and by its name the inertial frame"):
        bough.load_urdf(path, base="free")


def test_planar_and_floating_joints(tmp_path):
    path = tmp_path / "table.urdf"
    body = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial>'
    path.write_text(f"""<robot name="table"><link name="world"/><link name="puck">{body}</link><link name="bird">{body}</link>
      <joint name="ice" type="planar"><parent link="world"/><child link="puck"/><axis xyz="0 1 0"/></joint>
      <joint name="air" type="floating"><parent link="world"/><child link="bird"/></joint></robot>""")
    s = bough.load_urdf(path)
    assert s.bodies["puck"].joint.kind == "planar"
    assert s.bodies["puck"].joint.rotations == ((0.0, 1.0, 0.0),)
    assert s.bodies["bird"].joint == bough.Free(name="air")


def test_limits_become_stops(arm):
    """25 Hz and half the critical damping with what the joint feels when the others are free."""
    s = bough.load_urdf(arm, limits="stops")
    assert set(s.stops) == {"shoulder lower", "shoulder upper"}
    lower, upper = s.stops["shoulder lower"], s.stops["shoulder upper"]
    assert (lower.coordinate, lower.below, upper.above) == ("shoulder.ry", -1.0, 0.5)
    felt = 1 / np.linalg.inv(bough.load_urdf(arm).compile().mass_matrix(np.zeros(3)))[0, 0]
    rate = 2 * np.pi * 25
    assert upper.stiffness == pytest.approx(felt * rate**2)
    assert upper.damping == pytest.approx(felt * rate)
    assert not [note for note in s.notes if note.startswith("position limits")]
    assert "position limit not used, for its range is empty, of joints: rail [0, 0]" in s.notes


def test_a_negative_moment_is_refused_or_repaired(tmp_path):
    path = tmp_path / "arm.urdf"
    path.write_text(ARM.replace('izz="0.5"', 'izz="-0.02"'))
    with pytest.raises(DescriptionError) as caught:
        bough.load_urdf(path)
    words = "<inertia> has the principal moments -0.02, 0.1, 0.1 kg m^2; correct what is negative, or give inertias='repair', which"
    assert str(caught.value) == f"{path}: link 'wheel': {words} raises it to 0"
    s = bough.load_urdf(path, inertias="repair")
    np.testing.assert_allclose(s.bodies["wheel"].inertia, np.diag([0.1, 0.1, 0.0]), atol=0.1*PRODUCTS)    # of 0.1 kg m^2
    assert "negative moment of inertia [kg m^2] raised to 0, of links: wheel -0.02" in s.notes


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('<mass value="2"/>', "", "link 'base': <inertial> has no <mass>; give it, or leave out <inertial>"),
        ('<mass value="2"/>', '<mass value="two"/>', "link 'base': <mass> has value 'two'; give a finite number"),
        ('<mass value="2"/>', '<mass value="-2"/>', "body 'base': mass is -2.0 kg; give a number >= 0"),
        ('xyz="1 2 3"', 'xyz="1 2"', "joint 'shoulder': <origin> has xyz '1 2'; give 3 finite numbers"),
        ('type="continuous"', 'type="ball"',
         "joint 'spin': type is 'ball'; give one of revolute, continuous, prismatic, fixed, floating, planar"),
        ('<axis xyz="0 2 0"/>', '<axis xyz="0 0 0"/>',
         "joint 'shoulder': <axis> is (0.0, 0.0, 0.0), of zero length; give a direction"),
        ('<child link="tip"/>', '<child link="tap"/>', "joint 'end': child 'tap' is not a link of the robot, did you mean 'tip'?"),
        ('<child link="tip"/>', '<child link="slide"/>',
         "joint 'end': child 'slide' is that of joint 'rail' too; URDF has no loops: let one carry it"),
        ('<child link="tip"/>', "", "joint 'end': <child> is missing; give the link"),
        ('name="spin"', 'name="rail"', "joint 'rail': there is a joint of this name already; give each joint its own name"),
        ('<link name="tip"/>', '<link name="tip"/><link name="lone"/>',
         "robot 'arm' has the roots 'base', 'lone'; let joints connect all links to one of them"),
        ('<parent link="base"/>', '<parent link="tip"/>',
         "robot 'arm' has links whose joints go round in a circle; connect them to 'base'"),
        ('box size="1 2 3"', 'box size="1 2 -3"', "link 'base': box: size is (1.0, 2.0, -3.0); give 3 numbers > 0, in m"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_by_name(old, new, message, tmp_path):
    path = tmp_path / "arm.urdf"
    assert old in ARM
    path.write_text(ARM.replace(old, new, 1))
    with pytest.raises(DescriptionError) as caught:
        bough.load_urdf(path)
    assert str(caught.value) == f"{path}: {message}"


@pytest.mark.parametrize(
    ("text", "words"),
    [("<robot>", "is not XML"), ("<sdf/>", "holds a <sdf>, not a <robot>"), ("<robot name='r'/>", "has no links")],
)
def test_what_is_no_urdf(text, words, tmp_path):
    path = tmp_path / "bad.urdf"
    path.write_text(text)
    with pytest.raises(DescriptionError, match=words):
        bough.load_urdf(path)


def test_options_are_checked(arm):
    with pytest.raises(DescriptionError, match="limits is 'stop'; did you mean 'stops'"):
        bough.load_urdf(arm, limits="stop")
