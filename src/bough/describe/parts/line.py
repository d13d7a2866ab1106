"""Lines: straight springs and dampers between two points."""

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Self

import numpy as np
from pydantic import model_validator

from bough.describe.base import Fault
from bough.describe.numeric import Truth, at_least_zero
from bough.describe.orientation import IDENTITY
from bough.describe.part import Drawing, Recorded
from bough.describe.parts.element import Between, Exerted, Floats, Motion, Places, TableEntry


class Line(Between):
    """A straight spring and damper from the point `a` to the point `b`: its tension is stiffness (distance - length) + damping
    times the rate of the distance [N/m, m, N s/m]. With `slack` it never pushes: it has no tension while shorter than `length`.

    >>> from bough.describe.body import Frame
    >>> Line("mooring", "world", Frame("spar", at=(5, 0, -70)), stiffness=4e4, length=850, slack=True)
    Line('mooring', a=Frame(body='world'), b=Frame(body='spar', at=(5.0, 0.0, -70.0)), stiffness=40000.0, length=850.0, slack=True)
    """

    key: ClassVar[str] = "lines"
    recorded: ClassVar[dict[str, Recorded]] = {"line_tension": Recorded(("line",), "N", "tension of lines")}
    unchanging: ClassVar[tuple[str, str]] = "points", "changes its length"
    stiffness: Annotated[float, at_least_zero("N/m")]
    length: Annotated[float, at_least_zero("m")]
    damping: Annotated[float, at_least_zero("N s/m")] = 0.0
    slack: Truth = False

    def __init__(self, name: str, a: Any, b: Any, stiffness: float, length: float, damping: float = 0.0,
                 slack: bool = False) -> None:
        super().__init__(name=name, a=a, b=b, stiffness=stiffness, length=length, damping=damping, slack=slack)

    @model_validator(mode="after")
    def _check(self) -> Self:
        for side, frame in (("a", self.a), ("b", self.b)):
            if frame.orient != IDENTITY:
                raise Fault(side, f"{side} has an orient, but a line pulls at a point; leave it out")
        if not self.stiffness and not self.damping:
            raise Fault("stiffness", "stiffness and damping are 0, so that it never pulls; give one of them")
        return self

    def load_line(self) -> str:
        """Between what it is stretched, and how stiff it is."""
        return f"line {self.name}: {self.a.label} - {self.b.label}, {self.stiffness:g} N/m from {self.length:g} m on"

    def table_entry(self, places: Places) -> TableEntry:
        """Its ends in the bodies of their hinges, stiffness, length and damping; and whether it can be slack."""
        a, b = places.anchor(self.a), places.anchor(self.b)
        numbers = {"b": b.at, "a": a.at, "stiffness": self.stiffness, "length": self.length, "damping": self.damping}
        return TableEntry(b, a, int(self.slack), [("line", numbers)])

    def values(self, exerted: Exerted, motion: Motion) -> dict[str, Floats]:
        return {"line_tension": exerted.tension}

    def result_line(self, values: Mapping[str, Floats]) -> str:
        tension = values["line_tension"]
        return f"{np.nanmin(tension):.4g} .. {np.nanmax(tension):.4g} N"

    def nonconservative_effects(self) -> tuple[str, ...]:
        return ("dampers",) if self.damping else ()

    def drawing(self) -> list[Drawing]:
        return [{"kind": "line", "a": self.a, "b": self.b}]
