"""Stops at the limits of coordinates."""

from collections.abc import Iterator
from typing import Annotated, ClassVar, Self

from pydantic import model_validator

from bough.describe.base import Fault
from bough.describe.numeric import Number, Text, above_zero, at_least_zero
from bough.describe.part import Finding, Part, SystemView, coordinate_fault


class Stop(Part):
    """A spring and a damper that act on a coordinate only beyond a limit: `above` it, or `below` it. The force there is
    -stiffness (q - value) - damping v.

    >>> Stop("bumper", "boom.ry", above=1.6, stiffness=500, damping=2)
    Stop('bumper', coordinate='boom.ry', above=1.6, stiffness=500.0, damping=2.0)
    >>> Stop("bumper", "boom.ry", stiffness=500)
    Traceback (most recent call last):
    bough.errors.DescriptionError: stop 'bumper': neither above nor below is given; give one of them, the value beyond which it acts
    """

    key: ClassVar[str] = "stops"
    coordinate: Text
    above: Number | None = None
    below: Number | None = None
    stiffness: Annotated[float, above_zero("N/m or N m/rad")]
    damping: Annotated[float, at_least_zero("N s/m or N m s/rad")] = 0.0

    def __init__(self, name: str, coordinate: str, above: float | None = None, below: float | None = None, *, stiffness: float,
                 damping: float = 0.0) -> None:
        super().__init__(name=name, coordinate=coordinate, above=above, below=below, stiffness=stiffness, damping=damping)

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.above is None and self.below is None:
            raise Fault("above", "neither above nor below is given; give one of them, the value beyond which it acts")
        if self.above is not None and self.below is not None:
            text = f"above is {self.above} and below is {self.below}; give one of them, and the other side a stop of its own"
            raise Fault("below", text)
        return self

    @property
    def side(self) -> float:
        """1 if it acts above its value, -1 if below."""
        return -1.0 if self.above is None else 1.0

    @property
    def limit(self) -> float:
        """The value beyond which it acts."""
        return float(self.below or 0.0) if self.above is None else self.above

    def check(self, system: SystemView) -> Iterator[Finding]:
        """It needs one coordinate that has a position."""
        if fault := coordinate_fault(system, self.coordinate, exact=True):
            yield Finding(f"coordinate {self.coordinate!r} {fault}", ("coordinate",))

    def nonconservative_effects(self) -> tuple[str, ...]:
        return ("stops with dampers",) if self.damping else ()

    def load_line(self) -> str:
        return f"stop {self.name}: {self.coordinate} {'above' if self.side > 0 else 'below'} {self.limit:g}"
