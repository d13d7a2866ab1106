"""External forces and moments on bodies."""

from typing import Annotated, Any, ClassVar, Literal

from bough.describe.base import among
from bough.describe.body import Frame
from bough.describe.motions import TimeTable, VectorSignal
from bough.describe.numeric import Text, Vector, VectorLike
from bough.describe.part import FORCE_BESIDE, Attachment, Part

Axes = Literal["body", "world"]


class Wrench(Part):
    """An external force [N] and moment [N m] on a body, each 3 numbers or a TimeTable with 3 columns. The force acts at the point
    `at` of the body frame; `frame` gives the axes of the components: "body" or "world". On a flexible body, the frame of `node`,
    or of the inboard node, replaces the body frame.

    >>> Wrench("thruster", "bus", force=(0, 0, 10), at=(0.5, 0, 0))
    Wrench('thruster', body='bus', force=(0.0, 0.0, 10.0), at=(0.5, 0.0, 0.0))
    """

    key: ClassVar[str] = "wrenches"
    body: Text
    force: VectorSignal = (0.0, 0.0, 0.0)
    moment: VectorSignal = (0.0, 0.0, 0.0)
    at: Vector = (0.0, 0.0, 0.0)
    frame: Annotated[Axes, among(Axes)] = "body"
    node: Text | None = None

    def __init__(self, name: str, body: str, force: Any = (0.0, 0.0, 0.0), moment: Any = (0.0, 0.0, 0.0),
                 at: VectorLike = (0.0, 0.0, 0.0), frame: str = "body", node: str | None = None) -> None:
        super().__init__(name=name, body=body, force=force, moment=moment, at=at, frame=frame, node=node)

    def attachments(self) -> tuple[Attachment, ...]:
        beside = FORCE_BESIDE if _acts(self.force) and any(self.at) else ""
        return (Attachment(self.body, self.node, "a moment" if _acts(self.moment) else beside),)

    def nonconservative_effects(self) -> tuple[str, ...]:
        return ("external wrenches",)

    def external_effects(self) -> tuple[str, ...]:
        return ("external wrenches",)

    @property
    def place(self) -> Frame:
        """Where it acts, in the axes of its body."""
        return Frame(self.body, at=self.at, node=self.node)

    def load_line(self) -> str:
        return f"wrench {self.name} on {self.body}"


def _acts(signal: tuple[float, float, float] | TimeTable) -> bool:
    rows = signal.values if isinstance(signal, TimeTable) else [signal]
    return any(any(row) for row in rows if isinstance(row, tuple))
