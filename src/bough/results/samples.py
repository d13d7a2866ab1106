"""Quantities derived from the recorded states: poses, accelerations, reactions, loop forces, energies, deformations."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from bough import compile as builders
from bough.analyze.bodies import Bodies
from bough.compile.batch import Batch
from bough.compile.coordinates import coordinate_place, holdable
from bough.describe import Friction
from bough.model import Model
from bough.results.recorded_parts import VARIABLES, Array, flexible_bodies, modal_coordinates, recoveries

if TYPE_CHECKING:
    from bough.analyze.cuts import CutLoads
    from bough.flex import FlexibleBody, Recovery


class Rows(NamedTuple):
    """Times, states, controls and the work of the inputs, one row per sample."""

    t: Array
    x: Array
    u: Array
    work: Array
    friction: Array
    exhaust: Array


class Samples:
    """One chunk of states of one model; each quantity is computed once, when first needed."""

    def __init__(self, model: Model, rows: Rows, *, accelerated: bool) -> None:
        state, inputs = model.state(rows.x), model.input_layout.view(rows.u)
        self.model, self.rows, self.accelerated = model, rows, accelerated
        self.q, self.v, self.wheels, self.orbit = state.q, state.v, state.wheels, state.orbit
        self.tanks, self.tau = state.tanks, inputs.tau
        self.options: dict[str, Any] = {"t": rows.t, **model.state_options(state)}
        motors = inputs.motors
        if model.system.frictions:
            from_joints, from_wheels = bristle_torques(self)
            self.tau, motors = self.tau + from_joints, motors + from_wheels
        if model.nw:
            self.options["motors"] = motors
        if model.system.inputs:
            self.options["inputs"] = model.named_inputs(inputs.ports)

    @property
    def batch(self) -> Batch:
        """The states and inputs, as the analyses take them."""
        return self.model.batch(self.q, self.v, self.tau, **self.options)

    @cached_property
    def a(self) -> Array:
        """(rows, nv) accelerations."""
        return self.model.forward_dynamics(self.q, self.v, self.tau, **self.options)

    @cached_property
    def bodies(self) -> Bodies:
        """The motion of all bodies; with accelerations if requested."""
        return self.model.bodies(self.q, self.v, self.a if self.accelerated else np.zeros_like(self.v), **self.options)

    @cached_property
    def torques(self) -> Array:
        """(rows, nv + nw): joint and motor torques of the description, the controller and inputs."""
        inputs = self.model.input_layout.view(self.rows.u)
        given = np.concatenate([inputs.tau, inputs.motors], axis=1) + inputs.ports @ self.model.port_torques
        return np.asarray(given + self.model.actuation(self.rows.t))

    @property
    def inputs(self) -> Array:
        """(rows, numbers of all inputs)."""
        return self.model.input_layout.view(self.rows.u).ports

    def outputs(self) -> Array:
        """(rows, numbers of all outputs)."""
        found = self.model.outputs(self.q, self.v, self.tau, **self.options)
        return np.column_stack([found[name] for name in self.model.system.outputs])

    @cached_property
    def constraint_forces(self) -> dict[str, Array]:
        """By loop and by coupling."""
        return self.model.constraint_forces(self.q, self.v, self.tau, **self.options)

    def loop_forces(self) -> Array:
        """(rows, loops, 6); NaN where a loop is open."""
        none = np.full((len(self.q), 6), np.nan)
        forces = self.constraint_forces if self.model.system.loops else {}
        return np.stack([forces.get(name, none) for name in self.model.whole.loops], axis=1)

    def coupling_forces(self) -> Array:
        """(rows, coordinates of all couplings)."""
        return np.concatenate([self.constraint_forces[name] for name in self.model.system.couplings], axis=1)

    def coupling_gaps(self) -> Array:
        """(rows, couplings)."""
        gaps, none = self.model.loop_gaps(self.q), np.zeros((len(self.q), 1))          # zero for compliant couplings
        return np.concatenate([gaps.get(name, none) for name in self.model.system.couplings], axis=1)

    @cached_property
    def loop_gaps(self) -> tuple[Array, Array]:
        """(rows, loops) each: the largest gap of the translations that a loop constrains [m], and of the rotations [rad]; NaN
        where it is open."""
        closures = {c.name: c for c in self.model.tables.fronts.closures if not c.terms}
        gaps = self.model.loop_gaps(self.q) if closures else {}
        found = np.full((2, len(self.q), len(self.model.whole.loops)), np.nan)
        for i, name in enumerate(self.model.whole.loops):
            if name in closures:
                held = closures[name].rows - closures[name].rotations
                for kind, part in enumerate((gaps[name][:, :held], gaps[name][:, held:])):
                    found[kind, :, i] = np.abs(part).max(axis=1, initial=0.0)
        return found[0], found[1]

    @cached_property
    def drives(self) -> dict[str, Array]:
        """(rows,) by held coordinate."""
        return self.model.drive_forces(self.q, self.v, self.tau, **self.options)

    @cached_property
    def joint_loads(self) -> Array:
        """(rows, bodies, 6)."""
        return self.model.reactions(self.q, self.v, self.a, self.tau, **self.options)

    def drive_forces(self) -> Array:
        """(rows, holdable coordinates); NaN while a coordinate is free."""
        free = np.full(len(self.rows.t), np.nan)
        return np.stack([self.drives.get(name, free) for name in holdable(self.model.system)], axis=1)

    def internal_loads(self, **cut: Any) -> CutLoads:
        return self.model.internal_loads(self.q, self.v, self.a, self.tau, **cut, **self.options)

    @cached_property
    def elements(self) -> dict[str, Array]:
        """By variable, (rows, elements, ...)."""
        found: dict[str, list[Array]] = {name: [] for name in VARIABLES}
        exerted = builders.element_tables.exerted(self.bodies.elements)
        for element, each in zip(self.model.system.elements.values(), exerted, strict=True):
            for name, values in element.values(each, self.bodies).items():
                found[name].append(values)
        return {name: np.stack(parts, axis=1) if parts else np.zeros((len(self.q), 0)) for name, parts in found.items()}

    def nodes(self, what: str) -> Array:
        """(rows, nodes, ...) of the nodes of all flexible bodies."""
        return np.concatenate([getattr(self.bodies.nodes[name], what) for name in flexible_bodies(self.model.system)], axis=1)

    def deflections(self, deflection: Callable[[FlexibleBody, Array], Array]) -> Array:
        """(rows, nodes, 3): displacement or rotation of the nodes of all flexible bodies."""
        eta = modal_coordinates(self.model.system, self.q)
        parts = [deflection(body, eta[name]) for name, body in flexible_bodies(self.model.system).items()]
        return np.concatenate(parts, axis=1)

    def recovered(self, what: str, recover: Callable[[Recovery, Array], Array]) -> Array:
        """(rows, elements, 6) of the elements of all flexible bodies that recover stresses, or strains."""
        eta = modal_coordinates(self.model.system, self.q)
        return np.concatenate([recover(known, eta[name]) for name, known in recoveries(self.model.system, what).items()], axis=1)

    def outline(self) -> Array:
        """(rows, points, 3): the points of all flexible bodies."""
        return np.concatenate([self.bodies.shape(name) for name in flexible_bodies(self.model.system)], axis=1)


Derive = Callable[[Samples], Array]


def bristle_torques(samples: Samples) -> tuple[Array, Array]:
    """(rows, nv) and (rows, wheels): forces of frictions with an internal state, which calls of the model do not include."""
    joints, wheels, system = np.zeros_like(samples.v), np.zeros_like(samples.wheels), samples.model.system
    for j, friction in enumerate(system.frictions.values()):
        if friction.law == "dahl":
            to, at = friction_place(samples, friction)
            (wheels if to else joints)[:, at] -= samples.rows.friction[:, j, 0]
    return joints, wheels


def friction_place(samples: Samples, friction: Friction) -> tuple[bool, int]:
    """Whether the friction is in a wheel; and its entry of the wheel speeds or of v."""
    system = samples.model.system
    if friction.coordinate in system.wheels:
        return True, list(system.wheels).index(friction.coordinate)
    return False, coordinate_place(system, friction.coordinate)[1]
