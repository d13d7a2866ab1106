"""Inputs and outputs by name: values of outputs in a batch of states, and places of inputs among the controls."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from bough import analyze, flex
from bough.analyze.bodies import Bodies, bodies_in
from bough.analyze.body_motion import Motion, motion_of_frames
from bough.analyze.equations_of_motion import Accelerations, forward
from bough.compile.batch import Batch
from bough.compile.compiled_model import CompiledModel
from bough.compile.layout import Floats
from bough.describe import CentralGravity, Frame
from bough.describe.body import FORCE_UNITS
from bough.describe.orientation import quaternions
from bough.describe.part import entry_named
from bough.describe.parts.port import Output, ports_of
from bough.errors import StateError, name_list, nearest
from bough.sweeps import fields as f

VECTORS = {"position": ("position", slice(0, 3)), "velocity": ("velocity", slice(3, 6)),        # by kind of output: of a Motion
           "angular_velocity": ("velocity", slice(0, 3)), "acceleration": ("acceleration", slice(3, 6))}


def outputs(model: CompiledModel, batch: Batch, names: Iterable[str] | None = None) -> dict[str, Floats]:
    """By name, (batch, size) of each; by default of all outputs."""
    wanted = known_outputs(model, names)
    measured = Measured(model, replace(batch, single=False), [model.system.outputs[name] for name in wanted])
    return {output.name: measured.value(output) for output in measured.outputs}


def known_outputs(model: CompiledModel, names: Iterable[str] | None) -> list[str]:
    """Checked names of outputs; by default all of them."""
    known = model.system.outputs
    wanted = list(known) if names is None else name_list("outputs", names)
    for name in wanted:
        if name not in known:
            remedy = f"; the outputs are {', '.join(known)}" if known else "; the system has none: declare it with System.output"
            raise StateError(f"there is no output '{name}'{nearest(name, known) or remedy}")
    return wanted


class Measured:
    """Some outputs in a batch of states; shared intermediate results are computed once, when first needed."""

    def __init__(self, model: CompiledModel, batch: Batch, wanted: list[Output]) -> None:
        self.model, self.batch, self.outputs = model, batch, wanted

    def value(self, output: Output) -> Floats:
        """(batch, size)"""
        if (entry := state_entry(self.model, output)) is not None:
            return self.batch.x[:, [entry]]
        found = self._vector(output) if output.kind in VECTORS else np.asarray(getattr(self, f"_{output.kind}")(output), float)
        return np.ascontiguousarray(found.reshape(self.batch.n, -1)[:, output.chosen])

    # ---- shared intermediate results --------------------------------------------------------------------------------------
    @cached_property
    def _rates(self) -> Accelerations:
        """Accelerations under the inputs."""
        return forward(self.model, self.batch)

    @cached_property
    def _a(self) -> Floats:
        late = any(output.late(self.model.system) for output in self.outputs)
        return np.ascontiguousarray(self._rates.v) if late else np.zeros_like(self.batch.v)

    @cached_property
    def _bodies(self) -> Bodies:
        return bodies_in(self.model, self.batch)

    @cached_property
    def _motion(self) -> tuple[list[Frame], Motion]:
        """The motion of all requested places, and of frames used as axes."""
        named = [frame for output in self.outputs for frame in (output.place, output.along, *output.pair)]
        frames = list(dict.fromkeys(frame for frame in named if isinstance(frame, Frame)))
        return frames, motion_of_frames(self.model, self.model.changed(self.batch, keep_welds=True), self._a, frames)

    def _at(self, what: str, frame: Frame) -> Floats:
        """One quantity of one frame, (batch, ...)."""
        frames, motion = self._motion
        return np.asarray(getattr(motion, what)[:, frames.index(frame)])

    def _turned(self, output: Output, vectors: Floats, own: Frame | None) -> Floats:
        """World vectors (batch, 3) in the axes of an output; `own`: the frame meant by "body"."""
        frame = own if output.along == "body" else output.along
        return vectors if not isinstance(frame, Frame) else np.einsum("bij,bi->bj", self._at("attitude", frame), vectors)

    def _vector(self, output: Output) -> Floats:
        assert output.place is not None
        what, part = VECTORS[output.kind]
        return self._turned(output, self._at(what, output.place)[:, part], output.place)

    # ---- one for each kind --------------------------------------------------------------------------------------
    def _attitude(self, output: Output) -> Floats:
        """The quaternion of the attitude with a scalar part >= 0."""
        assert output.attitude is not None
        attitude = self._at("attitude", output.attitude)
        if isinstance(output.along, Frame):
            attitude = np.einsum("bji,bjk->bik", self._at("attitude", output.along), attitude)
        found = quaternions(attitude)
        return np.where(found[:, 3:] < 0.0, -found, found)

    def _felt_acceleration(self, output: Output) -> Floats:
        """Acceleration minus local gravity; in orbit including the acceleration of the mass center."""
        place, gravity = output.felt_acceleration, self.model.system.gravity
        assert place is not None
        a = self._at("acceleration", place)[:, 3:]
        if isinstance(gravity, CentralGravity):
            d = self.batch.state.orbit[:, :3] + self._at("position", place)
            a = a + self._rates.orbit[:, 3:]
            a = a + gravity.mu*d/np.linalg.norm(d, axis=1, keepdims=True)**3
        else:
            a = a - np.asarray(gravity, float)
        return self._turned(output, a, place)

    def _load(self, output: Output) -> Floats:
        assert output.load is not None
        cut = [output.load] if isinstance(output.load, str) else output.load
        if any(name in self.model.whole.loops and name not in self.model.system.loops for name in cut):
            return np.full((self.batch.n, 6*len(cut)), np.nan)                  # an open loop
        axes = "child" if output.along == "body" else str(output.along)
        return analyze.internal_loads.internal_loads(self.model, self.batch, self._a, cut=output.load, at=np.zeros(3), axes=axes,
                                                     driven=()).values

    def _deflection(self, output: Output) -> Floats:
        """The displacement of the node by the modal coordinates, in the frame of its body."""
        place = output.deflection
        assert place is not None
        body = self.model.system.bodies[place.body].elastic
        nodes = flex.flexible_body.displacements(body, self.batch.q[:, self.model.mode_places(place.body)[0]])
        moved = nodes[:, body.nodes.index(str(place.node))]
        if output.along == "body":
            return moved
        frame = self._bodies.frames.attitude[:, self.model.body_index(place.body)]
        return self._turned(output, np.einsum("bij,bj->bi", frame, moved), None)

    def _strain(self, output: Output) -> Floats:
        body, rows = output.gauge(self.model.system)
        return self.batch.q[:, self.model.mode_places(body)[0]] @ rows.T

    def _strain_energy(self, output: Output) -> Floats:
        return self._bodies.strain_energy[:, self.model.body_index(str(output.strain_energy))]

    def _tension(self, output: Output) -> Floats:
        return self._bodies.elements[:, list(self.model.system.elements).index(str(output.tension)), f.ELEMENT_TENSION]

    def _energy(self, output: Output) -> Floats:
        kinetic, potential = (output.energy != "potential", output.energy != "kinetic")
        return kinetic*self._bodies.kinetic_energy + potential*self._bodies.potential_energy

    def _distance(self, output: Output) -> Floats:
        return np.linalg.norm(self._apart(output, "position"), axis=1)

    def _relative_speed(self, output: Output) -> Floats:
        """Speed of b's origin relative to frame a."""
        a, _ = output.pair
        arm, velocity = self._apart(output, "position"), self._apart(output, "velocity")[:, 3:]
        return np.linalg.norm(velocity - np.cross(self._at("velocity", a)[:, :3], arm), axis=1)

    def _relative_angle(self, output: Output) -> Floats:
        """2 atan2 of the vector and scalar parts of the quaternion from a to b: accurate near zero."""
        a, b = (self._at("attitude", frame) for frame in output.pair)
        turned = quaternions(np.einsum("bji,bjk->bik", a, b))
        return 2.0*np.arctan2(np.linalg.norm(turned[:, :3], axis=1), np.abs(turned[:, 3]))

    def _relative_rate(self, output: Output) -> Floats:
        return np.linalg.norm(self._apart(output, "velocity")[:, :3], axis=1)

    def _apart(self, output: Output, what: str) -> Floats:
        """The quantity at b minus that at a."""
        a, b = output.pair
        return np.asarray(self._at(what, b) - self._at(what, a))

    def _momentum(self, output: Output) -> Floats:
        part = slice(0, 3) if output.momentum == "angular" else slice(3, 6)
        return self._turned(output, self._bodies.momentum[:, part], None)


def state_entry(model: CompiledModel, output: Output) -> int | None:
    """The entry of x that an output shows: a coordinate, a speed, or the speed of a wheel; None for other kinds."""
    if output.wheel is not None:
        return model.nq + model.nv + model.names.wheels.index(output.wheel)
    if output.coordinate is not None:
        [(body, entry)] = entry_named(model.system, output.coordinate, "coordinate_names")
        return int(model.places[body.name][0]) + entry
    if output.rate is not None:
        [(body, entry)] = entry_named(model.system, output.rate, "speed_names")
        return model.nq + int(model.places[body.name][1]) + entry
    return None


def input_entries(model: CompiledModel) -> dict[str, list[int]]:
    """Entries of the controls by name: inputs of the description and, if the name is unambiguous, joint torques by coordinate or
    joint, and motors by wheel."""
    named = [(name, i) for i, name in enumerate(model.names.v)]
    named += [(body.joint.name or body.name, model.places[body.name][1]) for body in model.system.bodies.values()
              if body.joint.n_v == 1]
    named += [(wheel.name, model.nv + j) for j, wheel in enumerate(model.system.wheels.values()) if wheel.driven]
    meanings: dict[str, set[int]] = {}
    for name, place in named:
        meanings.setdefault(name, set()).add(place)
    start, ports = model.input_layout.ports.start, ports_of(list(model.system.inputs.values()))
    return ({name: list(places) for name, places in meanings.items() if len(places) == 1}
            | {name: list(range(start + at.start, start + at.stop)) for name, at in ports.items()})


def check_ports(law: Any, what: str, names: Iterable[str], known: Mapping[str, Any]) -> None:
    """Raise if an "output" or "input" that a law names does not exist."""
    for name in names:
        if not isinstance(name, str) or name not in known:
            there = f"; there are {', '.join(known)}" if known else f"; the system has none: declare it with System.{what}"
            raise StateError(f"law '{law.name}': there is no {what} '{name}'{nearest(name, known) or there}")


def control_names(model: CompiledModel) -> list[str]:
    """Names of all entries of the controls."""
    return [*model.names.v, *model.names.wheels, *model.names.inputs]


def control_units(model: CompiledModel) -> list[str]:
    """Their units."""
    system = model.system
    forces = [FORCE_UNITS[unit] for body in system.bodies.values() for unit in body.speed_units]
    return [*forces, *["N m"]*model.nw, *(unit for port in system.inputs.values() for unit in port.units(system))]


def chosen_controls(model: CompiledModel, names: Sequence[str] | None) -> list[int]:
    """Entries of the controls.  None: all inputs of the description or, if it has none, forces along all free coordinates and
    motors of driven wheels."""
    if names is None:
        ports = model.input_layout.ports
        if ports.stop > ports.start:
            return list(range(ports.start, ports.stop))
        driven = [model.nv + j for j, wheel in enumerate(model.system.wheels.values()) if wheel.driven]
        return [*(i for i in range(model.nv) if model.free[i]), *driven]
    known, numbers, found = input_entries(model), {name: i for i, name in enumerate(control_names(model))}, list[int]()
    for name in [names] if isinstance(names, str) else names:
        entries = known.get(name) or ([numbers[name]] if name in numbers else None)
        if entries is None:
            there = f"; there are {', '.join(known)}" if known else ""
            raise StateError(f"there is no input, coordinate or driven wheel '{name}'{nearest(str(name), known) or there}")
        held = [model.names.v[entry] for entry in entries if entry < model.nv and not model.free[entry]]
        if held:
            raise StateError(f"input '{name}': coordinate '{held[0]}' is held, and a force along it moves nothing; leave it out")
        found += [entry for entry in entries if entry not in found]
    return found
