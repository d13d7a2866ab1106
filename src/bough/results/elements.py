"""What force elements exert along a run, and where they leave what their laws are made for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bough.compile.element_tables import equal_cylinder, forces_by_name
from bough.describe import Buoyancy, Restoring, System
from bough.describe.elements import Element

if TYPE_CHECKING:
    from bough.analyze.body_motion import Bodies

TAPERED, ENDS, FLAT, PITCHED, YAWED = range(1, 6)
LIMITS = {
    TAPERED: "the water plane cuts a tapered section, which counts as a cylinder of its volume",
    ENDS: "the water plane is beyond an end of the sections; what is not in them has no volume",
    FLAT: "it floats within 0.1 deg of lying flat, where its buoyancy is not accurate",
    PITCHED: "its pitch is within 5 deg of a quarter turn, where roll and yaw are not defined",
    YAWED: "its yaw is within 5 deg of half a turn, where its moment jumps",
}
_LYING = np.sin(np.deg2rad(0.1))
_NEAR = np.deg2rad(5.0)


def wrench_elements(system: System) -> dict[str, Element]:
    """The elements that act on one body: restorings and buoyancies."""
    return {**system.restorings, **system.buoyancies}


def tensions(seen: Bodies) -> np.ndarray:
    """(states, lines), N."""
    forces = forces_by_name(seen.model.system, seen.elements)
    return np.array([forces[name] for name in seen.model.system.lines]).reshape(-1, len(seen.elements)).T


def wrenches(seen: Bodies) -> np.ndarray:
    """(states, elements, 6): moment [N m] and force [N]."""
    forces = forces_by_name(seen.model.system, seen.elements)
    found = [forces[name] for name in wrench_elements(seen.model.system)]
    return np.array(found).reshape(-1, len(seen.elements), 6).transpose(1, 0, 2)


def limits(seen: Bodies) -> np.ndarray:
    """(states, elements): 0, or which of LIMITS is passed."""
    found = [_restoring(seen, element) if isinstance(element, Restoring) else _buoyancy(seen, element)
             for element in wrench_elements(seen.model.system).values() if isinstance(element, Restoring | Buoyancy)]  # fmt: skip
    return np.array(found, dtype=float).reshape(-1, len(seen.elements)).T


def _restoring(seen: Bodies, restoring: Restoring) -> np.ndarray:
    """(states,): whether the angles of its body are near where they jump, if it feels them."""
    R = seen.place(restoring.body, restoring.node).attitude
    pitch, yaw = np.arcsin(np.clip(-R[:, 2, 0], -1.0, 1.0)), np.arctan2(R[:, 1, 0], R[:, 0, 0])
    near = np.where(np.abs(pitch) > np.pi / 2 - _NEAR, PITCHED, np.where(np.abs(yaw) > np.pi - _NEAR, YAWED, 0))
    return near if restoring.feels_angles else np.zeros(len(R))


def _buoyancy(seen: Bodies, buoyancy: Buoyancy) -> np.ndarray:
    """(states,): whether the water plane cuts a cone, or an end of the sections, or has left them."""
    k, sections = seen.model.body_index(buoyancy.body), np.array(buoyancy.sections)
    axis, depth = seen.attitude[:, k, :, 2], buoyancy.level - seen.position[:, k, 2]
    tilt = np.hypot(axis[:, 0], axis[:, 1])

    def reach(z: float, diameter: float) -> tuple[np.ndarray, np.ndarray]:
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
    return np.where(np.abs(axis[:, 2]) < _LYING, FLAT, found)
