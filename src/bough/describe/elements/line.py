"""Lines: straight springs and dampers between two points."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, ClassVar, Self

import numpy as np
from pydantic import BeforeValidator, model_validator

from bough.describe.base import Fault
from bough.describe.body import WORLD, Frame, FrameField
from bough.describe.elements.element import (
    Element,
    Exerted,
    Floats,
    Motion,
    Places,
    TableEntry,
    unchanging,
)
from bough.describe.numeric import AT_LEAST_ZERO, at_least_zero, truth
from bough.describe.orientation import IDENTITY
from bough.describe.part import Drawing, Finding, Recorded, SystemView


class Line(Element):
    """A straight spring and damper from the place `a` to the place `b`: its tension is stiffness (distance - length) + damping
    times the rate of the distance [N/m, m, N s/m]. With `slack` it never pushes: it bears nothing while shorter than `length`.

    >>> Line("mooring", "world", Frame("spar", at=(5, 0, -70)), stiffness=4e4, length=850, slack=True)
    Line('mooring', a=Frame(body='world'), b=Frame(body='spar', at=(5.0, 0.0, -70.0)), stiffness=40000.0, length=850.0, slack=True)
    """

    noun: ClassVar[str] = "line"
    key: ClassVar[str] = "lines"
    recorded: ClassVar[dict[str, Recorded]] = {"line_tension": Recorded(("line",), "N", "tension of lines")}
    a: FrameField
    b: FrameField
    stiffness: Annotated[float, at_least_zero("N/m"), AT_LEAST_ZERO]
    length: Annotated[float, at_least_zero("m"), AT_LEAST_ZERO]
    damping: Annotated[float, at_least_zero("N s/m"), AT_LEAST_ZERO] = 0.0
    slack: Annotated[bool, BeforeValidator(truth)] = False

    def __init__(
        self, name: str, a: Any, b: Any, stiffness: float, length: float, damping: float = 0.0, slack: bool = False
    ) -> None:
        super().__init__(name=name, a=a, b=b, stiffness=stiffness, length=length, damping=damping, slack=slack)

    @model_validator(mode="after")
    def _check(self) -> Self:
        for side, frame in (("a", self.a), ("b", self.b)):
            if frame.orient != IDENTITY:
                raise Fault(side, f"{side} has an orient, but a line pulls at a point; leave it out")
        if not self.stiffness and not self.damping:
            raise Fault("stiffness", "stiffness and damping are 0, so that it never pulls; give one of them")
        return self

    @property
    def ends(self) -> tuple[Frame, ...]:
        """Its two ends."""
        return self.a, self.b

    def check(self, system: SystemView) -> Iterator[Finding]:
        """Its length must be able to change."""
        if unchanging(self.a, self.b, system):
            body = self.a.body
            text = "a line between the world and itself" if body == WORLD else f"a line between two points of body {body!r}"
            yield Finding(f"{text} never changes its length: give a or b another body", ("b", "body"))

    def load_line(self) -> str:
        """Between what it is stretched, and how stiff it is."""
        return f"line {self.name}: {self.a.label} - {self.b.label}, {self.stiffness:g} N/m from {self.length:g} m on"

    def table_entry(self, places: Places) -> TableEntry:
        """Its ends in the bodies of their hinges, stiffness, length and damping; and whether it can be slack."""
        a, b = places.anchor(self.a), places.anchor(self.b)
        numbers = {"b": b.at, "a": a.at, "stiffness": self.stiffness, "length": self.length, "damping": self.damping}
        return TableEntry(b, a, int(self.slack), [("line", numbers)])

    def values(self, exerted: Exerted, motion: Motion) -> dict[str, Floats]:
        """Its tension, N."""
        return {"line_tension": exerted.tension}

    def result_line(self, values: Mapping[str, Floats]) -> str:
        """Between what its tension was."""
        tension = values["line_tension"]
        return f"{np.nanmin(tension):.4g} .. {np.nanmax(tension):.4g} N"

    def nonconservative_effects(self) -> tuple[str, ...]:
        """Its damper."""
        return ("dampers",) if self.damping else ()

    def drawing(self) -> list[Drawing]:
        """A line."""
        return [{"kind": "line", "a": self.a, "b": self.b}]
