"""What an integration leaves behind: sampled states, what happened, and how it went."""
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from bough.analyze.impulse import Jump
from bough.compile.state_layout import Floats, State
from bough.model import Model


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


@dataclass(frozen=True)
class Trajectory:
    """Sampled states and inputs of one run or of a batch."""
    model: Model
    t: Floats                                       # (samples,)
    x: Floats                                       # (batch, samples, nx)  states: see `state`
    u: Floats                                       # (batch, samples, nv + nw)  controls in force: joint torques | motor torques
    batched: bool                                   # False: one run was asked for
    parameters: Mapping[str, Floats] | None         # changes of parameters, one for each member
    method: str
    dt: float | None
    steps: int
    rejected: int
    wall_time: float                                # s
    failure: str | None                             # why it ended early
    assembled: str | None = None                    # what closing the loops changed in the state that was given
    events: tuple[tuple[Occurrence, ...], ...] = () # by run: what happened
    spans: tuple[tuple[tuple[float, Model], ...], ...] = ()     # by run: what held until when, where events changed it

    @property
    def state(self) -> State:
        """The states with views of q, v, wheel speeds and orbit."""
        return self.model.state(self.x)
