"""URDF's joints as bough's."""

from __future__ import annotations

from typing import Any

from bough.describe import Free, Joint, Planar, Prismatic, Revolute, Weld
from bough.describe.axes import axis, spanning
from bough.errors import DescriptionError, Problem
from bough.exchange.urdf.robot import RobotJoint

MIMIC = ("free", "locked")


def joint_of(joint: RobotJoint, mimic: str) -> Joint:
    """The joint, with its name and its damper; one that follows another is free, or locked at its offset."""
    options: dict[str, Any] = {"name": joint.name, "damping": joint.damping or None}
    if joint.mimic is not None and mimic == "locked":
        options |= {"motion": "locked", "q0": joint.mimic.offset}
    if joint.kind == "fixed":
        return Weld(name=joint.name)
    if joint.kind == "floating":
        return Free(**options)
    try:
        direction = axis(joint.axis)
    except ValueError as error:
        raise DescriptionError([Problem(f"<axis> {error}", f"joint {joint.name!r}")]) from None
    if joint.kind == "planar":
        return Planar(spanning(direction), **options)
    return Prismatic(direction, **options) if joint.kind == "prismatic" else Revolute(direction, **options)
