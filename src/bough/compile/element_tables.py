"""Force elements as the numbers that `sweeps.elements` reads, and what they exert, by name."""
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from bough.compile.flexible_tables import inboard_place, inboard_shapes
from bough.compile.loop_tables import common_hinge, frame_attachment
from bough.compile.partition import Attachment, Partition
from bough.describe import Buoyancy, Line, Restoring, System
from bough.describe.elements import Element
from bough.kernels.hinges import MODAL, NODE
from bough.sweeps import fields as f
from bough.sweeps.schema import columns


@dataclass(frozen=True)
class Placed:
    """An element between hinges: a row of plan but for its places in pars and ws, and its numbers (batch, n)."""
    kind: int
    hinge: int
    other: int                  # of a line: the hinge of its end a
    meet: int
    more: int
    parameters: np.ndarray


def place_elements(system: System, parts: Partition) -> list[Placed]:
    """All elements, in the order of `System.elements`."""
    return [place(system, parts, element) for element in system.elements.values()]


def place(system: System, parts: Partition, element: Element) -> Placed:
    if isinstance(element, Line):
        return place_line(parts, element)
    if isinstance(element, Restoring):
        return place_restoring(parts, element)
    return place_buoyancy(parts, element, -np.asarray(system.gravity, float)[2])


def place_line(parts: Partition, line: Line) -> Placed:
    a, b = frame_attachment(parts, line.a), frame_attachment(parts, line.b)
    numbers = columns(b.at, a.at, [line.stiffness, line.length, line.damping])
    return Placed(f.LINE, b.hinge, a.hinge, common_hinge(parts, a.hinge, b.hinge), int(line.slack), numbers)


def place_restoring(parts: Partition, restoring: Restoring) -> Placed:
    body = parts.attachment(restoring.body, restoring.node)
    attachment = Attachment(body.hinge, body.turn, body.at + body.turn @ np.asarray(restoring.at))
    rest = neutral_place(parts, attachment) if restoring.rest is None else np.asarray(restoring.rest)
    K = np.asarray(restoring.stiffness)
    blocks = [K[rows, side].ravel() for rows in (slice(0, 3), slice(3, 6)) for side in (slice(0, 3), slice(3, 6))]
    numbers = columns(attachment.at, attachment.turn.ravel(), rest, restoring.force, restoring.moment, *blocks)
    return Placed(f.RESTORING, attachment.hinge, 0, 0, int(restoring.feels_angles), numbers)


def place_buoyancy(parts: Partition, buoyancy: Buoyancy, gravity: float) -> Placed:
    attachment = parts.attachment(buoyancy.body)
    cylinders = [equal_cylinder(*section) for section in buoyancy.sections]
    numbers = columns(attachment.at, attachment.turn[:, 2], [buoyancy.density*gravity, buoyancy.level], np.ravel(cylinders))
    return Placed(f.BUOYANCY, attachment.hinge, 0, 0, len(cylinders), numbers)


def equal_cylinder(bottom: float, top: float, below: float, above: float) -> tuple[float, float, float]:
    """Ends and radius of the cylinder of the length, volume and centroid of a cone with diameters `below` and `above`: wholly under
    water, both are lifted alike [B 22]."""
    length, squares = top - bottom, below*below + below*above + above*above
    shift = length*((below*below + 2*below*above + 3*above*above)/(4*squares) - 0.5)
    return bottom + shift, top + shift, float(np.sqrt(squares/12))


def neutral_place(parts: Partition, attachment: Attachment) -> np.ndarray:
    """(batch, 3): where a place is in the world where all coordinates are neutral."""
    k, x = attachment.hinge, attachment.at
    while k:
        hinge = parts.hinges[k]
        if hinge.kind == NODE:
            x = x + hinge.flexible.nodes.position[hinge.flexible.nodes.index(hinge.node)]
        elif hinge.kind == MODAL:
            x = x - inboard_place(hinge.flexible)*inboard_shapes(hinge.flexible)[1]         # back from the inboard node
        k, x = hinge.inner, hinge.at + x @ hinge.turn.T
    return x


def element_rows(placed: list[Placed], par_at: int, ws_at: int) -> Iterator[list[int]]:
    """Rows of plan; the elements' numbers are in pars from `par_at` on, one after the other."""
    for j, p in enumerate(placed):
        yield [p.kind, p.hinge, p.other, p.meet, par_at, ws_at + f.ELEMENT_OUT*j, p.more]
        par_at += p.parameters.shape[1]


def forces_by_name(system: System, told: np.ndarray) -> dict[str, np.ndarray]:
    """Tensions of lines (batch,) and wrenches of the others (batch, 6), as the sweeps tell them (batch, elements, numbers)."""
    return {name: told[:, j, f.ELEMENT_TENSION] if isinstance(element, Line) else told[:, j, :f.ELEMENT_ENERGY]
            for j, (name, element) in enumerate(system.elements.items())}
