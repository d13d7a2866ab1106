"""Inputs in the tables: which entries of u each number of an input is added to, and by which factor."""
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from bough.describe import Frame, System
from bough.describe.part import entry_named
from bough.describe.parts.port import Input, ports_of


class Feed(NamedTuple):
    """`factor` times the entry `source` of u is added to the entry `target`."""
    source: int
    target: int
    factor: float


def placed_inputs(system: System) -> dict[str, Frame]:
    """Where inputs that are forces or moments act, by name: each has a wrench in u, behind those of the description."""
    return {name: port.place for name, port in system.inputs.items() if port.place is not None}


def rest_lines(system: System) -> list[str]:
    """Lines whose length inputs change, each once."""
    return list(dict.fromkeys(port.rest for port in system.inputs.values() if port.rest is not None and port.rest in system.lines))


def feeds(system: System, places: Mapping[str, tuple[int, int]], ports: int, wrenches: int,
          rests: Mapping[str, int], flows: int) -> Iterator[Feed]:
    """All of them; `places`: of bodies' coordinates in q and v, `ports`: where the inputs start in u, `wrenches`: where the
    wrenches of inputs do, `rests`: entries of u by line, `flows`: where those of tanks start."""
    slots = {name: wrenches + 6*i for i, name in enumerate(placed_inputs(system))}
    for name, where in ports_of(list(system.inputs.values())).items():
        port, source = system.inputs[name], ports + where.start
        if port.signal:
            continue
        if port.place is not None:
            yield from placed_feeds(port, source, slots[name] + 3*(port.force is not None))
        elif port.wheel is not None:
            yield Feed(source, sum(body.n_v for body in system.bodies.values()) + list(system.wheels).index(port.wheel), 1.0)
        elif port.flow is not None:
            yield Feed(source, flows + list(system.tanks).index(port.flow), 1.0)
        elif port.rest is not None and port.rest in rests:
            yield Feed(source, rests[port.rest], 1.0)
        else:
            [(body, entry)] = entry_named(system, port.coordinate or str(port.rest), "speed_names")
            factor = 1.0 if port.coordinate else (body.joint.stiffness or ())[entry]
            yield Feed(source, places[body.name][1] + entry, factor)


def placed_feeds(port: Input, source: int, target: int) -> Iterator[Feed]:
    """Of a force or moment: along its axis, or component by component."""
    for i in range(3):
        if port.axis is None:
            yield Feed(source + i, target + i, 1.0)
        elif port.axis[i]:
            yield Feed(source, target + i, port.axis[i])
