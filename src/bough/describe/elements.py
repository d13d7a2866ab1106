"""Force elements: lines between two places, restoring forces and buoyancy, which follow from where bodies are in the world."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Self

import numpy as np
from pydantic import BeforeValidator, PlainSerializer, WithJsonSchema, field_validator, model_validator
from pydantic_core.core_schema import ValidationInfo

from bough.describe.base import Description, Fault
from bough.describe.loop import Frame, Place, read_frame
from bough.describe.numeric import (
    ABOVE_ZERO,
    AT_LEAST_ZERO,
    NUMBERS,
    Number,
    Text,
    Vector,
    VectorLike,
    above_zero,
    at_least_zero,
    items,
    numbers,
    shown,
    truth,
)
from bough.describe.orientation import IDENTITY

ORIGIN = (0.0, 0.0, 0.0)
Stiffness6 = tuple[tuple[float, ...], ...]
_STIFFNESS = "give a 6x6 matrix, or its diagonal: 3 numbers [N/m] and 3 [N m/rad]"
_SECTIONS = "give a list of sections [z_bottom, z_top, diameter_bottom, diameter_top] [m]"


class Line(Description):
    """A straight spring and damper from the place `a` to the place `b`: its tension is stiffness (distance - length) + damping
    times the rate of the distance [N/m, m, N s/m]. With `slack` it never pushes: it bears nothing while shorter than `length`.

    >>> Line("mooring", "world", Frame("spar", at=(5, 0, -70)), stiffness=4e4, length=850, slack=True)
    Line('mooring', a=Frame(body='world'), b=Frame(body='spar', at=(5.0, 0.0, -70.0)), stiffness=40000.0, length=850.0, slack=True)
    """

    noun: ClassVar[str] = "line"
    name: Text
    a: Place
    b: Place
    stiffness: Annotated[float, at_least_zero("N/m"), AT_LEAST_ZERO]
    length: Annotated[float, at_least_zero("m"), AT_LEAST_ZERO]
    damping: Annotated[float, at_least_zero("N s/m"), AT_LEAST_ZERO] = 0.0
    slack: Annotated[bool, BeforeValidator(truth)] = False

    def __init__(
        self, name: str, a: Any, b: Any, stiffness: float, length: float, damping: float = 0.0, slack: bool = False
    ) -> None:
        super().__init__(name=name, a=a, b=b, stiffness=stiffness, length=length, damping=damping, slack=slack)

    @field_validator("a", "b", mode="before")
    @classmethod
    def _frame(cls, value: Any, info: ValidationInfo) -> Frame:
        return read_frame(value, info.field_name or "")

    @model_validator(mode="after")
    def _check(self) -> Self:
        for side, frame in (("a", self.a), ("b", self.b)):
            if frame.orient != IDENTITY:
                raise Fault(side, f"{side} has an orient, but a line pulls at a point; leave it out")
        if not self.stiffness and not self.damping:
            raise Fault("stiffness", "stiffness and damping are 0, so that it never pulls; give one of them")
        return self


def stiffness6(value: Any) -> Stiffness6:
    """A 6x6 matrix out of its rows or its diagonal."""
    given = items(value)
    if given is None or len(given) != 6:
        raise ValueError(f"is {shown(value)}; {_STIFFNESS}")
    if all(items(row) is None for row in given):
        return tuple(tuple(row) for row in np.diag(numbers(given, 6)).tolist())
    return tuple(numbers(row, 6) for row in given)


def _written(stiffness: Stiffness6) -> list[Any]:
    """The matrix as a person would write it: its diagonal if there is nothing else."""
    diagonal = [row[i] for i, row in enumerate(stiffness)]
    return diagonal if np.array_equal(np.diag(diagonal), stiffness) else [list(row) for row in stiffness]


_ROW = NUMBERS | {"minItems": 6, "maxItems": 6}
_SCHEMA = {"anyOf": [_ROW, {"type": "array", "items": _ROW, "minItems": 6, "maxItems": 6}]}


class Restoring(Description):
    """A linear spring between a body and the world: with d = [displacement of the point `at` of the body frame from `rest` [m];
    roll, pitch, yaw of the body [rad]] it exerts [force; moment] - stiffness d at that point, in world axes. `rest` is a place in
    the world; without it, the place of the point where all coordinates are neutral. The body's attitude is Rz(yaw) Ry(pitch)
    Rx(roll): pitch must stay away from a quarter turn and yaw from half a turn, if the stiffness has columns of angles. On a
    flexible body the frame of a `node` stands for the body's: that of `node`, or of the inboard one.

    Forces against displacements have a potential if their block of the stiffness is symmetric. Moments have none: a stiffness
    against roll and pitch turns circulatory with yaw and can feed energy into large motions.

    >>> Restoring("mooring", "spar", (4e4, 4e4, 3e5, 0, 0, 1e8), at=(0, 0, -62)).feels_angles
    True
    """

    noun: ClassVar[str] = "restoring"
    name: Text
    body: Text
    stiffness: Annotated[Stiffness6, BeforeValidator(stiffness6), PlainSerializer(_written), WithJsonSchema(_SCHEMA)]
    at: Vector = ORIGIN
    force: Vector = ORIGIN
    moment: Vector = ORIGIN
    rest: Vector | None = None
    node: Text | None = None

    def __init__(
        self,
        name: str,
        body: str,
        stiffness: Any,
        at: VectorLike = ORIGIN,
        force: VectorLike = ORIGIN,
        moment: VectorLike = ORIGIN,
        rest: VectorLike | None = None,
        node: str | None = None,
    ) -> None:
        super().__init__(
            name=name, body=body, stiffness=stiffness, at=at, force=force, moment=moment, rest=rest, node=node
        )  # fmt: skip

    @property
    def feels_angles(self) -> bool:
        """Whether roll, pitch and yaw matter."""
        return any(any(row[3:]) for row in self.stiffness)

    @property
    def turns(self) -> bool:
        """Whether it exerts a moment."""
        return any(self.moment) or any(any(row) for row in self.stiffness[3:])

    @property
    def conservative(self) -> bool:
        """Whether its potential energy tells all of its work: forces against displacements, by a symmetric stiffness."""
        K = np.array(self.stiffness)[:3, :3]
        return not self.turns and not self.feels_angles and np.array_equal(K, K.T)


def sections(value: Any) -> tuple[tuple[float, ...], ...]:
    """Sections from the lowest to the highest, none inside another."""
    given = items(value)
    if not given:
        raise ValueError(f"is {shown(value)}; {_SECTIONS}")
    found = []
    for i, entry in enumerate(given):
        try:
            found.append(numbers(entry, 4))
        except ValueError as error:
            raise ValueError(f"[{i}] {str(error).split(';')[0]}; {_SECTIONS}") from None
    for i, (bottom, top, below, above) in enumerate(found):
        if top <= bottom:
            raise ValueError(f"[{i}] goes from z {bottom} to {top} m; give its lower end first")
        if min(below, above) < 0 or max(below, above) == 0:
            raise ValueError(f"[{i}] has the diameters {below} and {above} m; give numbers >= 0, one of them > 0")
        if i and bottom < found[i - 1][1]:
            inside = f"[{i}] starts at z {bottom} m, inside the one before, which ends at {found[i - 1][1]} m"
            raise ValueError(f"{inside}; give them from the lowest to the highest")
    return tuple(found)


_SECTION = NUMBERS | {"minItems": 4, "maxItems": 4}
Sections = Annotated[
    tuple[tuple[float, ...], ...], BeforeValidator(sections), WithJsonSchema({"type": "array", "items": _SECTION, "minItems": 1})
]


class Buoyancy(Description):
    """What still water exerts on a body of circular `sections` about its z axis, from the lowest to the highest:
    [z_bottom, z_top, diameter_bottom, diameter_top] in the body frame [m]. The water, of the `density` [kg/m^3], reaches up to
    z = `level` in the world; gravity is along -z. Cylinders are exact however they are tilted or cut; a section whose diameters
    differ must be wholly under water or out of it: cut, it counts as a cylinder of its volume. What is not in the sections has
    no volume.

    >>> Buoyancy("hull", "spar", [(-120, -12, 9.4, 9.4), (-12, -4, 9.4, 6.5), (-4, 10, 6.5, 6.5)]).sections[1]
    (-12.0, -4.0, 9.4, 6.5)
    """

    noun: ClassVar[str] = "buoyancy"
    name: Text
    body: Text
    sections: Sections
    density: Annotated[float, above_zero("kg/m^3"), ABOVE_ZERO] = 1025.0
    level: Number = 0.0

    def __init__(self, name: str, body: str, sections: Any, density: float = 1025.0, level: float = 0.0) -> None:
        super().__init__(name=name, body=body, sections=sections, density=density, level=level)


Element = Line | Restoring | Buoyancy
