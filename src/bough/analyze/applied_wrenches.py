"""Wrenches on the bodies in a batch of states: those of the description and of inputs, and the loads of force elements."""
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from bough.analyze.bodies import Bodies, Frames
from bough.compile.batch import Batch
from bough.compile.layout import Floats
from bough.describe import TimeTable
from bough.describe.body import WORLD
from bough.describe.orientation import rotation_matrix
from bough.sweeps import fields as f


class Applied(NamedTuple):
    """A wrench on a body; arrays (states, 3) in world axes."""
    body: str
    frame: Frames           # where it acts
    moment: Floats
    force: Floats


def external(bodies: Bodies, batch: Batch) -> list[Applied]:
    """Of the description and of the inputs in a batch."""
    return [*described(bodies), *of_inputs(bodies, batch)]


def described(bodies: Bodies) -> list[Applied]:
    """Of the description."""
    found = []
    for wrench in bodies.model.system.wrenches.values():
        frame, place = bodies.frame(wrench.place), wrench.place
        carrier = frame.attitude @ rotation_matrix(place.orient).T                      # axes of the body or node
        own = [signal(value, bodies.batch.t[:, 0]) for value in (wrench.moment, wrench.force)]
        found.append(Applied(place.body, frame, *(own if wrench.frame == "world" else (turn(carrier, each) for each in own))))
    return found


def of_inputs(bodies: Bodies, batch: Batch) -> list[Applied]:
    """Of the inputs in a batch of the same states, which that of the bodies need not have."""
    found, inputs = [], bodies.model.named_inputs(batch.inputs.ports)
    for name, port in bodies.model.system.inputs.items():
        if port.place is not None:
            frame, value = bodies.frame(port.place), inputs[name]
            value = value*np.asarray(port.axis) if port.axis is not None else value
            value = value if port.axes == "world" else turn(frame.attitude, value)
            nothing = np.zeros_like(value)
            found.append(Applied(port.place.body, frame, *((nothing, value) if port.force is not None else (value, nothing))))
    return found


def of_elements(bodies: Bodies, chosen: Iterable[int] | None = None) -> list[Applied]:
    """Of force elements, all or some by number: on their end b, and the reaction on a; each at its end."""
    found, elements = list[Applied](), list(bodies.model.system.elements.values())
    for j in range(len(elements)) if chosen is None else chosen:
        *a, b = elements[j].ends
        wrench, outer = bodies.elements[:, j, f.ELEMENT_WRENCH:f.ELEMENT_WRENCH + 6], bodies.frame(b)
        moment, force = wrench[:, :3], wrench[:, 3:]
        found.append(Applied(b.body, outer, moment, force))
        for end in a:
            inner = bodies.frame(end)
            found.append(Applied(end.body, inner, -moment - np.cross(outer.position - inner.position, force), -force))
    return [each for each in found if each.body != WORLD]


def turn(attitude: Floats, vectors: Floats) -> Floats:
    """(states, 3): vectors in body axes, by the body's attitude."""
    return np.einsum("bij,bj->bi", attitude, np.broadcast_to(vectors, (len(attitude), 3)))


def signal(value: Any, t: Floats) -> Floats:
    """(times,) or (times, 3): a constant, or the values of a time table."""
    if not isinstance(value, TimeTable):
        return np.broadcast_to(np.asarray(value, float), (len(t), *np.shape(value)))
    times, rows = np.asarray(value.times), np.asarray(value.values, float)
    inside = np.clip(t, times[0], times[-1])
    if value.kind == "hold":
        return np.asarray(rows[np.clip(np.searchsorted(times, t, side="right") - 1, 0, None)])
    if value.kind == "cubic":
        from scipy.interpolate import CubicSpline

        return np.asarray(CubicSpline(times, rows, bc_type="natural")(inside))
    columns = rows.reshape(len(times), -1)
    return np.stack([np.interp(inside, times, column) for column in columns.T], axis=-1).reshape(len(t), *rows.shape[1:])
