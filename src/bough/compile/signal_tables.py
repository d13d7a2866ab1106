"""Inputs and outputs in the tables.

Outputs: rows for those computed by `sweeps.outputs`, and the position of each output in ws.  Inputs: the entries of u to which
each input is added, and the factors.
"""
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from bough.compile.coordinates import coordinate_places
from bough.compile.loop_tables import frame_attachment, free_motions
from bough.compile.partition import Partition
from bough.describe import Body, CentralGravity, Frame, System
from bough.describe.part import Names, entry_named
from bough.describe.parts.port import Input, Output, ports_of
from bough.sweeps import fields as f, records as r
from bough.sweeps.schema import Floats

CODES = {"position": f.OUT_POSITION, "attitude": f.OUT_ATTITUDE, "velocity": f.OUT_VELOCITY, "angular_velocity": f.OUT_SPIN,
         "deflection": f.OUT_DEFLECTION, "tension": f.OUT_TENSION, "strain": f.OUT_STRAIN,
         "strain_energy": f.OUT_STRAIN_ENERGY}
SUMS = {"kinetic": f.OUT_KINETIC, "potential": f.OUT_POTENTIAL, "total": f.OUT_TOTAL,           # over all bodies
        "angular": f.OUT_ANGULAR, "linear": f.OUT_LINEAR}


class OutputPlace(NamedTuple):
    """Positions in ws of an output that depends on the state alone; or why there are none."""
    places: tuple[int, ...]
    swept: bool                 # whether `sweeps.outputs` must run first; no: they are entries of the state
    problem: str = ""           # why it is not known inside a step; it then has no positions


@dataclass(frozen=True)
class CompiledOutput:
    """Its row of plan without the position in ws, and its parameters (batch, n)."""
    name: str
    kind: int
    hinge: int
    frame: int                  # hinge of the body whose axes are used; 0: the world's
    body: int                   # for a deflection, a strain or a strain energy: the MODAL hinge of its body
    element: int                # for a tension: index of the force element; -1: none
    ends: tuple[int, ...]       # hinges to which paths are needed
    parameters: Floats
    gauge: Floats = field(default_factory=lambda: np.zeros((0, 0)))        # for a strain: (components, modes)

    @property
    def sums(self) -> bool:
        """Whether it is a sum over all bodies."""
        return self.kind in SUMS.values()


def problem(system: System, output: Output) -> str:
    """Why an output is not known inside a step, before the inputs are; empty if it is."""
    if output.pair:
        return f"{output.kind} is found between steps only"
    if output.late(system):
        return f"{output.kind} depends on the inputs at the same time"
    if output.energy in ("potential", "total"):
        sprung = [motion for motion in free_motions(system) if motion.stiffness]
        what = ("central gravity" if isinstance(system.gravity, CentralGravity) else "stops" if system.stops
                else f"a spring in loop '{list(system.loops)[sprung[0].loop]}'" if sprung else "")
        if what:
            return f"the {output.energy} energy of a system with {what} is not found inside a step"
    if output.deflection is not None and system.bodies[output.deflection.body].elastic.variant != "full":
        return f"body '{output.deflection.body}' is linearized: its nodes do not follow its deformation"
    return ""


def compile_outputs(system: System, tree: Partition) -> list[CompiledOutput]:
    """Outputs computed by a sweep, in the order of the description."""
    return [compile_output(system, tree, output) for output in system.outputs.values()
            if (output.kind in CODES or output.energy or output.momentum) and not problem(system, output)]


def compile_output(system: System, tree: Partition, output: Output) -> CompiledOutput:
    if output.tension is not None:
        line, place = system.lines[output.tension], np.zeros(r.OUTPUT_PARAMETERS.size)
        ends = tuple(frame_attachment(tree, end).hinge for end in line.ends)
        return CompiledOutput(output.name, f.OUT_TENSION, 0, 0, 0, list(system.elements).index(line.name), ends, place[None])
    if output.strain is not None:
        name, rows = output.gauge(system)
        numbers = r.OUTPUT_PARAMETERS.pack(**NOWHERE, constant=0.0)
        return CompiledOutput(output.name, f.OUT_STRAIN, 0, 0, tree.modal[name], -1, (), numbers, rows[output.chosen])
    if output.strain_energy is not None:
        body, constant = tree.modal[output.strain_energy], rest_energy(system.bodies[output.strain_energy])
        numbers = r.OUTPUT_PARAMETERS.pack(**NOWHERE, constant=constant)
        return CompiledOutput(output.name, f.OUT_STRAIN_ENERGY, 0, 0, body, -1, (body,), numbers)
    if output.place is None:
        return compile_sum(system, tree, output)
    at, body, undeformed = frame_attachment(tree, output.place), 0, np.zeros(3)
    along = output.along if isinstance(output.along, Frame) else output.place if output.along == "body" else Frame("world")
    axes = frame_attachment(tree, along)
    frame, turn = axes.hinge, axes.turn
    if output.deflection is not None:
        body, nodes = tree.modal[output.deflection.body], system.bodies[output.deflection.body].elastic.nodes
        undeformed = nodes.position[nodes.index(str(output.deflection.node))]
        frame, turn = (body, np.eye(3)) if output.along == "body" else (frame, turn)
    numbers = r.OUTPUT_PARAMETERS.pack(at=at.at, turn=at.turn, axes=turn, place=undeformed, constant=0.0)
    return CompiledOutput(output.name, CODES[output.kind], at.hinge, frame, body, -1, (at.hinge, frame, body), numbers)


def compile_sum(system: System, tree: Partition, output: Output) -> CompiledOutput:
    """Energy or momentum of all bodies: needs the paths to all of them."""
    axes = frame_attachment(tree, output.along if isinstance(output.along, Frame) else Frame("world"))
    constant = sum(rest_energy(body) for body in system.bodies.values()) if output.energy in ("potential", "total") else 0.0
    numbers = r.OUTPUT_PARAMETERS.pack(**NOWHERE | {"axes": axes.turn, "place": tree.hinges[0].moment}, constant=constant)
    every = tuple(range(len(tree.hinges)))
    return CompiledOutput(output.name, SUMS[output.energy or str(output.momentum)], 0, axes.hinge, 0, -1, every, numbers)


NOWHERE = {"at": np.zeros(3), "turn": np.eye(3), "axes": np.eye(3), "place": np.zeros(3)}


def rest_energy(body: Body) -> float:
    """rest.K rest/2 of a flexible body: with the modes at zero."""
    rest = np.asarray(body.rest) if body.n_modes and body.rest is not None else np.zeros(0)
    return float(rest @ body.elastic.K @ rest)/2 if len(rest) else 0.0


def path_hinges(tree: Partition, outputs: Sequence[CompiledOutput]) -> list[int]:
    """Hinges on the paths from the ground to measured frames, inner before outer."""
    found = set[int]()
    for k in (end for output in outputs for end in output.ends):
        while k and k not in found:
            found.add(k)
            k = tree.hinges[k].inner
    return sorted(found)


def output_places(system: System, x: int, outputs_at: int, elements_at: int,
                  swept: Sequence[CompiledOutput]) -> dict[str, OutputPlace]:
    """Positions of all outputs; `x`, `outputs_at`, `elements_at`: starts of these sections in ws."""
    places, found = coordinate_places(system), dict[str, OutputPlace]()
    nq, nv = (sum(getattr(body, n) for body in system.bodies.values()) for n in ("n_q", "n_v"))
    at = {output.name: outputs_at + f.OUTPUT_OUT*i for i, output in enumerate(swept)}
    for name, output in system.outputs.items():
        if text := problem(system, output):
            found[name] = OutputPlace((), False, text)
        elif output.wheel is not None:
            found[name] = OutputPlace((x + nq + nv + list(system.wheels).index(output.wheel),), False)
        elif output.tension is not None:
            element = list(system.elements).index(output.tension)
            found[name] = OutputPlace((elements_at + f.ELEMENT_OUT*element + f.ELEMENT_TENSION,), True)
        elif output.name in at:
            chosen = slice(output.size) if output.strain is not None else output.chosen
            found[name] = OutputPlace(tuple(range(at[name], at[name] + f.OUTPUT_OUT)[chosen]), True)
        else:
            rate = output.rate is not None
            names: Names = "speed_names" if rate else "coordinate_names"
            [(body, entry)] = entry_named(system, output.rate or str(output.coordinate), names)
            found[name] = OutputPlace((x + nq*rate + places[body.name][rate] + entry,), False)
    return found


class Feed(NamedTuple):
    """`factor` times the entry `source` of u is added to the entry `target`."""
    source: int
    target: int
    factor: float


def placed_inputs(system: System) -> dict[str, Frame]:
    """Where inputs that are forces or moments act, by name: each has a wrench in u, after those of the description."""
    return {name: port.place for name, port in system.inputs.items() if port.place is not None}


def rest_lines(system: System) -> list[str]:
    """Lines whose length is changed by inputs, each once."""
    return list(dict.fromkeys(port.rest for port in system.inputs.values() if port.rest is not None and port.rest in system.lines))


def feeds(system: System, places: Mapping[str, tuple[int, int]], ports: int, wrenches: int,
          rests: Mapping[str, int], flows: int) -> Iterator[Feed]:
    """All feeds; `places`: of bodies' coordinates in q and v, `ports`: start of the inputs in u, `wrenches`: start of the
    wrenches of inputs, `rests`: entries of u by line, `flows`: start of those of tanks."""
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
    """Feeds of a force or moment: along its axis, or component by component."""
    for i in range(3):
        if port.axis is None:
            yield Feed(source + i, target + i, 1.0)
        elif port.axis[i]:
            yield Feed(source, target + i, port.axis[i])
