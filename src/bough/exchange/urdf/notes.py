"""What a URDF file says and the System does not: one note for each kind of loss, with the names it is about."""

from __future__ import annotations

from collections.abc import Iterable

from bough.exchange.urdf.robot import Robot, RobotJoint

_SAID = {  # of what is left, where "<...> is not used" does not say it
    "collision": "collision geometry is not used, of links",
    "inertia that no real body has": "inertia that no real body has, taken as it is, of links",
    "negative moment of inertia": "negative moment of inertia [kg m^2] raised to 0, of links",
    "mesh file that is not there": "mesh not drawn, for its file is not there, of links",
    "position limit of an empty range": "position limit not used, for its range is empty, of joints",
}


def losses(robot: Robot, *, stops: bool, mimic: str) -> tuple[str, ...]:
    """What of joints and of other elements is not used, or not as the file says."""
    joints = [joint for joint in robot.joints.values() if joint.kind != "fixed"]
    ranges = (f"{joint.name} [{joint.limit.lower:g}, {joint.limit.upper:g}]" for joint in joints
              if joint.limit and joint.limit.lower is not None and not stops)  # fmt: skip
    followers = (f"{j.name} = {j.mimic.multiplier:g} {j.mimic.joint} + {j.mimic.offset:g}" for j in joints if j.mimic)
    what = "a coordinate of its own" if mimic == "free" else "locked at its offset"
    told = [
        _note(f"joint that follows another (mimic) is {what}", followers),
        _note("position limits are not used (limits='stops' makes springs and dampers of them)", ranges),
        _note("effort limits are not used", _limits(joints, "effort")),
        _note("velocity limits are not used", _limits(joints, "velocity")),
        _note("dry friction is not used", (f"{joint.name} {joint.friction:g}" for joint in joints if joint.friction)),
        *(_note(_SAID.get(kind, f"<{kind}> is not used, of"), owners) for kind, owners in robot.unused.items()),
    ]
    return tuple(each for each in told if each)


def _note(what: str, names: Iterable[str]) -> str:
    """One note, or nothing if it is about nothing; who has no name is counted."""
    named = list(names)
    unnamed = named.count("")
    told = [*dict.fromkeys(name for name in named if name), *([f"{unnamed} without a name"] if unnamed else [])]
    return f"{what}: {', '.join(told)}" if told else ""


def _limits(joints: list[RobotJoint], key: str) -> list[str]:
    found = ((joint.name, getattr(joint.limit, key, None)) for joint in joints)
    return [f"{name} {value:g}" for name, value in found if value is not None]
