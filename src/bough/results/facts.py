"""What holds for a run as a whole, in memory and as the attributes of a file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from bough.integrate.trajectory import Trajectory


TRUTHS = ("batched", "controlled", "base_pushed")


def _base_pushed(trajectory: Trajectory) -> bool:
    """Whether a controller acted in a joint to the world; what it does to modes stays inside the body."""
    at, pushed = 0, False
    for body in trajectory.model.system.bodies.values():
        if body.parent is None:
            pushed |= bool(trajectory.u[..., at : at + body.joint.n_v].any())
        at += body.n_v
    return pushed


@dataclass(frozen=True)
class Facts:
    """How a run was made and how it ended. Files hold no None and no truth values: a fact that is missing is None."""

    bough_version: str
    system_name: str
    method: str
    dt: float | None
    steps: int
    rejected: int
    wall_time: float
    failure: str | None
    batched: bool
    controlled: bool
    base_pushed: bool  # by a controller, against the world
    record: tuple[str, ...]
    system: str  # YAML, flexible bodies as their arrays
    assembled: str | None = None  # what closing the loops changed in the initial state
    events: str | None = None  # what happened, by run: JSON
    meshes: str | None = None  # the triangles of mesh files, by path: JSON; only in files

    @classmethod
    def of(cls, trajectory: Trajectory, record: tuple[str, ...]) -> Self:
        """The facts of a trajectory."""
        from bough import __version__

        system = trajectory.model.system
        return cls(
            __version__, system.name, trajectory.method, trajectory.dt, int(trajectory.steps), int(trajectory.rejected),
            float(trajectory.wall_time), trajectory.failure, bool(trajectory.batched), bool(trajectory.u.any()),
            _base_pushed(trajectory), record, system.to_yaml(exact=True), trajectory.assembled,
            json.dumps([[event.to_mapping() for event in run] for run in trajectory.events]) if trajectory.events else None,
        )  # fmt: skip

    def to_attrs(self) -> dict[str, str | int | float]:
        """Texts and numbers only."""
        attrs = {field.name: getattr(self, field.name) for field in fields(self)}
        attrs |= {name: int(attrs[name]) for name in TRUTHS} | {"record": " ".join(self.record)}
        return {key: value for key, value in attrs.items() if value is not None}

    @classmethod
    def from_attrs(cls, attrs: Mapping[str, Any]) -> Self:
        """Out of a file's attributes."""
        known: dict[str, Any] = {field.name: attrs.get(field.name) for field in fields(cls)}
        known |= {name: bool(attrs[name]) for name in TRUTHS}
        return cls(**known | {"record": tuple(str(attrs["record"]).split())})
