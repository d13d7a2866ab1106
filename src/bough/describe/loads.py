"""External forces and moments on bodies."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator

from bough.describe.base import Description
from bough.describe.numeric import Text, Vector, VectorLike, shown
from bough.describe.time_table import VectorSignal


def _frame(value: Any) -> str:
    if not isinstance(value, str) or value not in ("body", "world"):
        raise ValueError(f"is {shown(value)}; give body or world")
    return value


class Wrench(Description):
    """A force [N] and a moment [N m] from outside on a body, each 3 numbers or a TimeTable of 3 columns. The force acts at
    the point `at` of the body frame; `frame` says whose axes the components are along: the "body"'s or the "world"'s.
    On a flexible body, a node's frame stands for the body's: that of `node`, or of the inboard one.

    >>> Wrench("thruster", "bus", force=(0, 0, 10), at=(0.5, 0, 0))
    Wrench('thruster', body='bus', force=(0.0, 0.0, 10.0), at=(0.5, 0.0, 0.0))
    """

    noun: ClassVar[str] = "wrench"
    name: Text
    body: Text
    force: VectorSignal = (0.0, 0.0, 0.0)
    moment: VectorSignal = (0.0, 0.0, 0.0)
    at: Vector = (0.0, 0.0, 0.0)
    frame: Annotated[Literal["body", "world"], BeforeValidator(_frame)] = "body"
    node: Text | None = None

    def __init__(
        self,
        name: str,
        body: str,
        force: Any = (0.0, 0.0, 0.0),
        moment: Any = (0.0, 0.0, 0.0),
        at: VectorLike = (0.0, 0.0, 0.0),
        frame: str = "body",
        node: str | None = None,
    ) -> None:
        super().__init__(name=name, body=body, force=force, moment=moment, at=at, frame=frame, node=node)
