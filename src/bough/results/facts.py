"""What holds for a run as a whole, in memory and as the attributes of a file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from bough.integrate.trajectory import Trajectory


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
    record: tuple[str, ...]
    system: str  # YAML

    @classmethod
    def of(cls, trajectory: Trajectory, record: tuple[str, ...]) -> Self:
        """The facts of a trajectory."""
        from bough import __version__

        system = trajectory.model.system
        return cls(
            __version__, system.name, trajectory.method, trajectory.dt, int(trajectory.steps), int(trajectory.rejected),
            float(trajectory.wall_time), trajectory.failure, bool(trajectory.batched), bool(trajectory.u.any()),
            record, system.to_yaml(),
        )  # fmt: skip

    def to_attrs(self) -> dict[str, str | int | float]:
        """Texts and numbers only."""
        attrs = {field.name: getattr(self, field.name) for field in fields(self)}
        attrs |= {"batched": int(self.batched), "controlled": int(self.controlled), "record": " ".join(self.record)}
        return {key: value for key, value in attrs.items() if value is not None}

    @classmethod
    def from_attrs(cls, attrs: Mapping[str, Any]) -> Self:
        """Out of a file's attributes."""
        known: dict[str, Any] = {field.name: attrs.get(field.name) for field in fields(cls)}
        known |= {"batched": bool(attrs["batched"]), "controlled": bool(attrs["controlled"])}
        return cls(**known | {"record": tuple(str(attrs["record"]).split())})
