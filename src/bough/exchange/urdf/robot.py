"""What a URDF file says, element by element, before it is a System."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

Vector = tuple[float, ...]


@dataclass(frozen=True)
class Origin:
    """A frame in another one: position, and turns about its fixed x, y and z axes."""

    xyz: Vector = (0.0, 0.0, 0.0)
    rpy: Vector = (0.0, 0.0, 0.0)

    @property
    def place(self) -> dict[str, Any]:
        """As bough's descriptions take it."""
        return {"at": self.xyz, "orient": {"euler": "xyz", "radians": self.rpy} if any(self.rpy) else None}


@dataclass(frozen=True)
class Inertial:
    """Mass, and the inertia about the mass center in the axes of its origin."""

    origin: Origin
    mass: float
    inertia: tuple[Vector, ...]


@dataclass(frozen=True)
class Visual:
    """A geometry to draw: box, cylinder, sphere or mesh, its sizes (the keywords of bough's shapes), and its material."""

    origin: Origin
    kind: str
    sizes: dict[str, Any]
    file: str = ""
    color: Vector | None = None
    material: str = ""


@dataclass(frozen=True)
class Link:
    """A body."""

    name: str
    inertial: Inertial | None
    visuals: tuple[Visual, ...]


@dataclass(frozen=True)
class Limit:
    """The range of a joint's coordinate, and what its drive can do; None is what the file does not say."""

    lower: float | None
    upper: float | None
    effort: float | None
    velocity: float | None


@dataclass(frozen=True)
class Mimic:
    """A coordinate that follows another one: q = multiplier q_other + offset."""

    joint: str
    multiplier: float
    offset: float


@dataclass(frozen=True)
class RobotJoint:
    """A joint between two links."""

    name: str
    kind: str
    parent: str
    child: str
    origin: Origin
    axis: Vector
    limit: Limit | None
    damping: float
    friction: float
    mimic: Mimic | None


@dataclass
class Robot:
    """The links and joints of a file, and the names of what bough has no use for, by kind."""

    name: str
    links: dict[str, Link] = field(default_factory=dict)
    joints: dict[str, RobotJoint] = field(default_factory=dict)
    colors: dict[str, Vector] = field(default_factory=dict)
    unused: dict[str, list[str]] = field(default_factory=dict)

    def leave(self, kind: str, owner: str) -> None:
        """Remember that something is not used."""
        self.unused.setdefault(kind, []).append(owner)
