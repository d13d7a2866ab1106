"""Derivatives of outputs along directions.

Outputs that depend only on the state (places, attitudes, velocities, deflections, energies, momenta) are differentiated by the
sweep that computes them for laws, on duals. Accelerations are differentiated by the kinematics on duals, loads through joints of
trees by the wrenches of inverse dynamics on duals. Fourth-order differences, with relative errors of 1e-11, are used for loads with
closed loops, for potential energies of central gravity, stops and springs in loops, and for effects of parameters outside the
sweeps.
"""

from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from bough.analyze.body_motion import Motion, motion_in, motion_of_frames, route_to_frames, traced
from bough.analyze.cuts import read_cut
from bough.analyze.equations_of_motion import Accelerations
from bough.analyze.parameters import STENCIL, Parameter
from bough.analyze.signals import Measured, outputs, state_entry
from bough.compile.batch import Batch
from bough.compile.compiled_model import CompiledModel
from bough.compile.kernel_calls import lanes_for
from bough.compile.layout import Floats
from bough.describe import CentralGravity, Frame
from bough.describe.parts.port import Output
from bough.flex.flexible_body import displacements
from bough.sweeps import calls, fields as f, records as r

STEP = 2e-3                                         # of differences of fourth order
DESCRIBED = ("felt_acceleration", "energy", "load", "deflection")      # depend on the description itself if no sweep computes them


class OutputsAlong:
    """Some outputs of a model and their derivatives, with rates of the state (n, ...) and their derivatives (n*m, ...)."""

    def __init__(self, model: CompiledModel, rows: Any, rates: Floats, moved: Floats, wanted: list[Output]) -> None:
        self.model, self.rows, self.outputs = model, rows, wanted
        self.rates, self.moved = Accelerations.of(model, rates), Accelerations.of(model, moved)
        self.batch: Batch = rows.batch
        self.x = model.layout.view(rows.dx)
        self.a, self.da = (np.ascontiguousarray(each.v) for each in (self.rates, self.moved))
        self.at_states = Measured(model, self.batch, wanted)

    def tangent(self, output: Output) -> Floats:
        """(n*m, size)"""
        if is_swept(self.model, output):
            return self._swept[output.name]
        if (entry := state_entry(self.model, output)) is not None:
            return np.ascontiguousarray(self.rows.dx[:, [entry]])
        found = getattr(self, f"_{output.kind}", None)
        turned = output.kind == "deflection" and output.along != "body"
        if found is None or turned or (output.kind == "load" and self.model.system.loops):
            return self._differences(output)
        whole = np.asarray(found(output), float).reshape(len(self.rows.dx), -1)
        return np.ascontiguousarray(whole[:, output.chosen])

    @cached_property
    def _swept(self) -> dict[str, Floats]:
        """Outputs that a sweep computes from the state."""
        tables, rows = self.batch.tables, self.rows
        wanted = [output for output in self.outputs if is_swept(self.model, output)]
        places = np.array([place for output in wanted for place in tables.outputs[output.name].places])
        out, along = np.empty((self.batch.n, len(places))), np.empty((len(rows.dx), len(places)))
        rows.call(calls.measure, tables, *rows.state, places, (out, along))
        ends = np.cumsum([0, *(output.size for output in wanted)])
        return {output.name: np.ascontiguousarray(along[:, a:b])
                for output, a, b in zip(wanted, ends[:-1], ends[1:], strict=True)}

    # ---- shared intermediate results --------------------------------------------------------------------------------------
    def _repeat(self, array: Floats) -> Floats:
        """States (n, ...) repeated for each direction."""
        return np.repeat(array, self.rows.m, axis=0)

    def _route_along(self, frames: list[Frame], elements: int = 0) -> tuple[Motion, Floats]:
        """Derivatives of the motion of frames, and of the loads of force elements, for which every hinge is visited."""
        batch, rows = self.model.changed(self.batch, keep_welds=True), self.rows
        route, size = route_to_frames(batch.tables, frames, every=elements > 0), r.FRAMES.size(len(frames))
        out, along = (np.empty((count, size + f.ELEMENT_OUT*elements)) for count in (batch.n, len(rows.dx)))
        rows.call(calls.kinematics, batch.tables, (batch.x, rows.dx), (batch.u, rows.du), (self.a, self.da), route.hinges,
                  route.spots, (out, along), extra=traced(batch.tables) + size)
        return motion_in(along, len(frames), elements)

    @cached_property
    def _motion(self) -> tuple[list[Frame], Motion]:
        named = [frame for output in self.outputs for frame in (output.place, output.along)]
        frames = list(dict.fromkeys(frame for frame in named if isinstance(frame, Frame)))
        return frames, self._route_along(frames)[0]

    def _at(self, what: str, frame: Frame) -> Floats:
        frames, motion = self._motion
        return np.asarray(getattr(motion, what)[:, frames.index(frame)])

    def _turned(self, output: Output, vectors: Floats, along: Floats, own: Frame | None) -> Floats:
        """d(C^T x) = dC^T x + C^T dx, for vectors (n, 3) of the world in the axes of an output."""
        frame = own if output.along == "body" else output.along
        if not isinstance(frame, Frame):
            return along
        C, dC = self._repeat(self.at_states._at("attitude", frame)), self._at("attitude", frame)
        return np.einsum("bij,bi->bj", dC, self._repeat(vectors)) + np.einsum("bij,bi->bj", C, along)

    # ---- one for each kind --------------------------------------------------------------------------------------
    def _acceleration(self, output: Output) -> Floats:
        place = output.place
        assert place is not None
        return self._turned(output, self.at_states._at("acceleration", place)[:, 3:], self._at("acceleration", place)[:, 3:], place)

    def _felt_acceleration(self, output: Output) -> Floats:
        place, gravity = output.felt_acceleration, self.model.system.gravity
        assert place is not None
        a, da = self.at_states._at("acceleration", place)[:, 3:], self._at("acceleration", place)[:, 3:]
        if isinstance(gravity, CentralGravity):
            d = self.batch.state.orbit[:, :3] + self.at_states._at("position", place)
            dd = self.x.orbit[:, :3] + self._at("position", place)
            over = 1.0/np.linalg.norm(d, axis=1, keepdims=True)
            a = a + self.rates.orbit[:, 3:] + gravity.mu*d*over**3
            d, over = self._repeat(d), self._repeat(over)
            da = da + self.moved.orbit[:, 3:] + gravity.mu*over**3*(dd - 3.0*over**2*np.einsum("bi,bi->b", d, dd)[:, None]*d)
        else:
            a = a - np.asarray(gravity, float)
        return self._turned(output, a, da, place)

    def _load(self, output: Output) -> Floats:
        """Through joints of a tree: the wrenches of inverse dynamics, in the output's axes."""
        model, rows, chosen = self.model, self.rows, read_cut(self.model.system, output.load)
        batch = model.changed(self.batch, torques=False, keep_welds=True)
        hinges, du = len(batch.tables.tree.hinges) - 1, rows.du.copy()
        du[:, batch.inputs.layout.tau] = 0.0
        out, along = np.empty((batch.n, 6*hinges)), np.empty((len(rows.dx), 6*hinges))
        rows.call(calls.hinge_wrenches, batch.tables, (batch.t, rows.dt), (batch.x, rows.dx), (batch.u, du), (self.a, self.da),
                  (out, along))
        found = []
        for connection, sign in zip(chosen.connections, chosen.signs, strict=True):
            k = batch.tables.tree.attachments[connection.child].hinge - 1
            world, dworld = (sign*each.reshape(-1, hinges, 2, 3)[:, k] for each in (out, along))
            if output.along != "world":
                frame = Frame(connection.child)
                C = self._repeat(motion_of_frames(model, batch, self.a, [frame]).attitude[:, 0])
                dC = self._route_along([frame])[0].attitude[:, 0]
                dworld = np.einsum("bij,bci->bcj", dC, self._repeat(world)) + np.einsum("bij,bci->bcj", C, dworld)
            found.append(dworld.reshape(-1, 6))
        return np.stack(found, axis=1)

    def _deflection(self, output: Output) -> Floats:
        place = output.deflection
        assert place is not None
        body = self.model.system.bodies[place.body].elastic
        modes, index = self.model.mode_places(place.body)[0], body.nodes.index(str(place.node))
        eta, deta = self._repeat(self.batch.q[:, modes]), self.x.q[:, modes]
        moved: Floats = (8.0*(displacements(body, eta + deta) - displacements(body, eta - deta))
                         - displacements(body, eta + 2.0*deta) + displacements(body, eta - 2.0*deta))       # of second degree
        return moved[:, index]/12.0

    def _tension(self, output: Output) -> Floats:
        return self._elements[:, list(self.model.system.elements).index(str(output.tension)), f.ELEMENT_TENSION]

    @cached_property
    def _elements(self) -> Floats:
        return self._route_along([Frame("world")], len(self.model.system.elements))[1]

    # ---- differences --------------------------------------------------------------------------------------------
    def _differences(self, output: Output) -> Floats:
        """Along the directions of states, times and inputs, with steps that change no number by more than STEP of its size."""
        rows, total = self.rows, np.zeros(1)
        sizes = [np.abs(along)/(1.0 + self._repeat(np.abs(part)))
                 for part, along in ((self.batch.x, rows.dx), (self.batch.u, rows.du), (self.batch.t, rows.dt))]
        scale = np.concatenate(sizes, axis=1).max(axis=1)
        step = (STEP/np.where(scale > 0.0, scale, 1.0))[:, None]
        for times, weight in STENCIL:
            moved = moved_batch(self.batch, rows, times*step)
            total = total + weight/step*outputs(self.model, moved, [output.name])[output.name]
        return total


def is_swept(model: CompiledModel, output: Output) -> bool:
    """Whether the sweep that computes outputs for laws computes this one before the inputs are known."""
    return output.tension is None and model.tables.outputs[output.name].swept


def moved_batch(batch: Batch, rows: Any, step: Floats) -> Batch:
    """Every state once for each of its directions, moved along it."""
    m = rows.m
    t, x, u = (np.ascontiguousarray(np.repeat(part, m, axis=0) + step*along)
               for part, along in ((batch.t, rows.dt), (batch.x, rows.dx), (batch.u, rows.du)))
    wrenches = {place: np.repeat(wrench, m, axis=0) for place, wrench in batch.wrenches.items()}
    return replace(batch, t=t, state=batch.state.layout.view(x), inputs=batch.inputs.layout.view(u), wrenches=wrenches,
                   lanes=lanes_for(len(x)))


def described_share(model: CompiledModel, batch: Batch, found: list[Parameter], name: str) -> Floats:
    """(entries of the parameters, n, size): derivatives of an output by parameters, at the same states and inputs."""
    rows = []
    for each in found:
        for _, step, systems in each.steps():
            total = np.zeros(1)
            for weight, system in systems:
                other = type(model)(system).switched_as(model)
                same = other.changed(batch)
                total = total + weight/step*outputs(other, same, [name])[name]
            rows.append(total)
    return np.array(rows)
