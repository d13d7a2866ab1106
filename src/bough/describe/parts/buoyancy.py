"""Buoyancy of bodies with circular sections in still water."""

from typing import Annotated, Any, ClassVar

import numpy as np
from pydantic import BeforeValidator, WithJsonSchema

from bough.describe.numeric import NUMBERS, Number, above_zero, items, numbers, shown
from bough.describe.part import Drawing, SystemView
from bough.describe.parts.element import Exerted, Floats, Motion, OnBody, Places, TableEntry

TAPERED, ENDS, FLAT = 1, 2, 3
_LYING = np.sin(np.deg2rad(0.1))
_SECTIONS = "give a list of sections [z_bottom, z_top, diameter_bottom, diameter_top] [m]"


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
Sections = Annotated[tuple[tuple[float, ...], ...], BeforeValidator(sections),
                     WithJsonSchema({"type": "array", "items": _SECTION, "minItems": 1})]


class Buoyancy(OnBody):
    """The hydrostatic load of still water on a body with circular `sections` about its z axis, from the lowest to the highest:
    [z_bottom, z_top, diameter_bottom, diameter_top] in the body frame [m]. The water, of the `density` [kg/m^3], reaches up to z =
    `level` in the world; gravity is along -z. Cylinders are exact at any tilt and draft; a tapered section is exact if fully
    submerged or fully dry, and is treated as a cylinder of the same volume if the water plane cuts it. There is no volume outside
    the sections.

    >>> Buoyancy("hull", "spar", [(-120, -12, 9.4, 9.4), (-12, -4, 9.4, 6.5), (-4, 10, 6.5, 6.5)]).sections[1]
    (-12.0, -4.0, 9.4, 6.5)
    """

    key: ClassVar[str] = "buoyancies"
    limits: ClassVar[dict[int, str]] = {
        TAPERED: "the water plane cuts a tapered section, which counts as a cylinder of its volume",
        ENDS: "the water plane is beyond an end of the sections; what is not in them has no volume",
        FLAT: "it floats within 0.1 deg of lying flat, where its buoyancy is not accurate",
    }
    sections: Sections
    density: Annotated[float, above_zero("kg/m^3")] = 1025.0
    level: Number = 0.0

    def __init__(self, name: str, body: str, sections: Any, density: float = 1025.0, level: float = 0.0) -> None:
        super().__init__(name=name, body=body, sections=sections, density=density, level=level)

    def refused(self, system: SystemView) -> str:
        """Water needs a level plane, and sections that do not bend."""
        if text := super().refused(system):
            return text
        subject, (x, y, z) = f"buoyancy '{self.name}'", np.asarray(system.gravity, float)
        if x or y or z >= 0.0:
            return (f"{subject}: gravity is ({x:g}, {y:g}, {z:g}) m/s^2, and the water plane is level only where it is along -z of "
                    "the world; give the system gravity (0, 0, -9.81)")
        if system.bodies[self.body].flexible is not None:
            return (f"{subject}: body '{self.body}' is flexible, and sections do not bend with it; weld rigid bodies with sections "
                    "to its nodes")
        return ""

    def load_line(self) -> str:
        return f"{super().load_line()}, water up to z = {self.level:g} m"

    def table_entry(self, places: Places) -> TableEntry:
        """The axis of the sections, the water, and the cylinders that stand for the sections; and how many these are."""
        body = places.anchor(self.ends[0])
        water = {"at": body.at, "axis": body.turn[:, 2], "weight": -self.density * places.gravity[2], "level": self.level}
        cylinders = [dict(zip(("bottom", "top", "radius"), equal_cylinder(*section), strict=True)) for section in self.sections]
        return TableEntry(body, None, len(cylinders), [("buoyancy", water), *(("cylinder", each) for each in cylinders)])

    def values(self, exerted: Exerted, motion: Motion) -> dict[str, Floats]:
        """Its load on the body, and whether the water plane cuts a cone, or an end of the sections, or has left them."""
        body = motion.place(self.body, None)
        return {"element_force": exerted.wrench, "element_limit": self._limit(body.attitude[:, :, 2], body.position[:, 2])}

    def _limit(self, axis: Floats, height: Floats) -> Floats:
        """(states,): 0, or which of the limits is passed."""
        sections, depth, tilt = np.array(self.sections), self.level - height, np.hypot(axis[:, 0], axis[:, 1])

        def reach(z: float, diameter: float) -> tuple[Floats, Floats]:
            """Least and greatest depth of a disc of the body."""
            middle = depth - z * axis[:, 2]
            return middle - 0.5 * diameter * tilt, middle + 0.5 * diameter * tilt

        cut = np.zeros(len(depth), dtype=bool)
        for bottom, top, below, above in sections[sections[:, 2] != sections[:, 3]]:
            low, high, radius = equal_cylinder(bottom, top, below, above)
            discs = [reach(bottom, below), reach(top, above), reach(low, 2 * radius), reach(high, 2 * radius)]
            least, greatest = np.min([disc[0] for disc in discs], axis=0), np.max([disc[1] for disc in discs], axis=0)
            cut |= (least < 0.0) & (greatest > 0.0)
        keel, rim = reach(sections[0, 0], sections[0, 2]), reach(sections[-1, 1], sections[-1, 3])
        beyond = ~((keel[0] > 0.0) & (rim[1] < 0.0))
        found = np.where(cut, TAPERED, np.where(beyond, ENDS, 0))
        return np.where(np.abs(axis[:, 2]) < _LYING, FLAT, found).astype(float)

    def external_effects(self) -> tuple[str, ...]:
        return ("water",)

    def drawing(self) -> list[Drawing]:
        solids = [{"kind": "frustum", "body": self.body, "section": section} for section in self.sections]
        return [{"kind": "water", "level": self.level}, *solids]


def equal_cylinder(bottom: float, top: float, below: float, above: float) -> tuple[float, float, float]:
    """Ends and radius of the cylinder of the length, volume and centroid of a cone with diameters `below` and `above`: wholly under
    water, both are lifted alike [B 22].
    """
    length, squares = top - bottom, below * below + below * above + above * above
    shift = length * ((below * below + 2 * below * above + 3 * above * above) / (4 * squares) - 0.5)
    return bottom + shift, top + shift, float(np.sqrt(squares / 12))
