"""A small robot of all that URDF has, and the real ones of example-robot-data."""

from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import pytest

ARM = """<robot name="arm">
  <material name="blue"><color rgba="0 0 1 0.5"/></material>
  <link name="base">
    <inertial><origin xyz="0.1 0 0" rpy="0 0 1.5707963267948966"/><mass value="2"/>
      <inertia ixx="0.1" ixy="0" ixz="0" iyy="0.2" iyz="0" izz="0.25"/></inertial>
    <visual><origin xyz="0 0 0.5"/><geometry><box size="1 2 3"/></geometry><material name="blue"/></visual>
    <collision><geometry><box size="1 2 3"/></geometry></collision>
  </link>
  <link name="upper"><inertial><mass value="1"/><inertia ixx="0.1" iyy="0.1" izz="0.1"/></inertial>
    <visual><geometry><mesh filename="package://parts/upper.stl" scale="0.001 0.001 0.001"/></geometry></visual>
    <visual><geometry><mesh filename="lost.stl"/></geometry></visual></link>
  <link name="slide"><inertial><mass value="1"/><inertia ixx="0.1" iyy="0.1" izz="0.1"/></inertial>
    <visual><geometry><cylinder radius="0.1" length="2"/></geometry>
      <material name=""><color rgba="1 0 0 1"/></material></visual></link>
  <link name="wheel"><inertial><mass value="1"/><inertia ixx="0.1" iyy="0.1" izz="0.5"/></inertial></link>
  <link name="tip"/>
  <joint name="shoulder" type="revolute"><parent link="base"/><child link="upper"/>
    <origin xyz="1 2 3" rpy="0.1 0.2 0.3"/><axis xyz="0 2 0"/>
    <limit lower="-1" upper="0.5" effort="30" velocity="2"/><dynamics damping="0.7" friction="0.1"/></joint>
  <joint name="rail" type="prismatic"><parent link="upper"/><child link="slide"/>
    <limit lower="0" upper="0" effort="10" velocity="1"/><mimic joint="shoulder" multiplier="2" offset="0.25"/></joint>
  <joint name="spin" type="continuous"><parent link="slide"/><child link="wheel"/><axis xyz="1 1 0"/>
    <safety_controller k_velocity="1"/></joint>
  <joint name="end" type="fixed"><parent link="wheel"/><child link="tip"/><origin xyz="0 0 1"/></joint>
  <gazebo reference="base"/>
  <transmission name="gear"/>
</robot>
"""


def robot_file(name):
    """The URDF file of a real robot."""
    try:
        data = distribution("example-robot-data")
    except PackageNotFoundError:
        pytest.skip("example-robot-data is not installed; pip install 'bough[test]'")
    return Path(data.locate_file("cmeel.prefix/share/example-robot-data/robots")) / f"{name}.urdf"
