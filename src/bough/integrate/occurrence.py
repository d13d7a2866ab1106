"""What happened in a run."""
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from bough.analyze.impulse import Jump


@dataclass(frozen=True)
class Occurrence:
    """An event of a run: when [s], which, what it did, and the jump of the speeds, if they jumped.

    >>> print(Occurrence(1.5, "deploy", "releases boom.ry"))
    1.5 s: 'deploy' releases boom.ry
    """
    time: float
    name: str
    what: str
    jump: Jump | None = None

    def __str__(self) -> str:
        return f"{self.time:.6g} s: '{self.name}' {self.what}" + (f"; {self.jump}" if self.jump else "")

    def to_mapping(self) -> dict[str, Any]:
        """Texts and numbers only."""
        return asdict(self)

    @classmethod
    def from_mapping(cls, mapping: Mapping[str, Any]) -> "Occurrence":
        given = dict(mapping)
        return cls(**given | {"jump": None if given["jump"] is None else Jump(**given["jump"])})
