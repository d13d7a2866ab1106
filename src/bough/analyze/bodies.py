"""All bodies in a batch of states: where they are and how they move, and their energies, momenta and mass center."""
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from bough import analyze, compile as builders
from bough.analyze.body_motion import motion_call, route_to
from bough.compile.batch import Array, Batch, check_node, finite, rows
from bough.compile.cloud_tables import second_moments
from bough.compile.compiled_model import CompiledModel
from bough.compile.coordinates import coordinate_place
from bough.compile.kernel_calls import run
from bough.compile.layout import Floats
from bough.compile.loop_tables import coordinate, free_motions
from bough.describe import CentralGravity, Coupling, Frame, System
from bough.describe.orientation import cross, rotation_matrix
from bough.describe.parts.element import Anchor
from bough.sweeps import fields as f

if TYPE_CHECKING:
    from bough.analyze.deformed_masses import Deformed


class Frames(NamedTuple):
    """Frames in a batch of states, world axes."""
    position: Floats        # (batch, frames, 3)
    velocity: Floats        # (batch, frames, 3)
    attitude: Floats        # (batch, frames, 3, 3)
    rate: Floats            # (batch, frames, 3)

    def part(self, index: int | slice | list[int]) -> "Frames":
        """One of them, or some."""
        return Frames(*(array[:, index] for array in self))

    def at(self, places: Sequence[int | None]) -> "Frames":
        """Those at some places, NaN at None."""
        missing = [i for i, place in enumerate(places) if place is None]
        found = self.part([place or 0 for place in places])
        for array in found if missing else ():
            array[:, missing] = np.nan
        return found


@dataclass(frozen=True)
class Bodies:
    """All bodies of a model in a batch of states: arrays (batch, bodies, ...) in world axes."""
    model: CompiledModel
    batch: Batch
    position: Floats        # (batch, bodies, 3)     origin of the body frame, m
    velocity: Floats        # (batch, bodies, 3)     of that origin, m/s
    attitude: Floats        # (batch, bodies, 3, 3)  body axes to world axes
    rate: Floats            # (batch, bodies, 3)     angular velocity, rad/s
    acceleration: Floats    # (batch, bodies, 6)     [angular, linear]
    frames: Frames              # of the mass: a rigid body's own frame, the body frame that a flexible one deforms in
    nodes: dict[str, Frames]  # of the nodes of each flexible body, in the order of its nodes
    elements: Floats        # (batch, elements, ELEMENT_OUT)  loads of force elements, see sweeps.records

    def node(self, body: str, node: str) -> Frames:
        """A node of a flexible body: arrays (batch, ...)."""
        check_node(self.model.system, body, node)
        at = self.model.system.bodies[body].elastic.nodes.names.index(node)
        return self.nodes[body].part(at)

    def shape(self, body: str) -> Floats:
        """(batch, points, 3): the outline of a deformed flexible body, for pictures; world axes."""
        k, described = self.model.body_index(body), self.model.system.bodies[body]
        points = np.array([described.elastic.deformed_outline(eta) for eta in self.batch.q[:, self.model.mode_places(body)[0]]])
        return self.frames.position[:, k, None] + np.einsum("bij,bpj->bpi", self.frames.attitude[:, k], points)

    def unbatched(self, result: Array) -> Array:
        """Without the batch axis, if one state was given."""
        return self.batch.unbatched(result)

    def answer(self, name: str) -> Any:
        """One of the quantities below, finite; of one state without the batch axis, and a float if it is one number."""
        with np.errstate(over="ignore", invalid="ignore"):
            found = getattr(self, name)
        finite(found, name.replace("_", " "), self.batch)
        return float(found[0]) if self.batch.single and found.ndim == 1 else self.unbatched(found)

    # ---- mass: of a flexible body as its deformation has it ---------------------------------------------------------
    @cached_property
    def mass(self) -> Floats:
        """(bodies,); of systems with tanks (batch, bodies), as they are."""
        system = self.model.system
        constant = np.array([body.mass for body in system.bodies.values()])
        if not system.tanks:
            return constant
        found = np.tile(constant, (self.batch.n, 1))
        for k, own in analyze.deformed_masses.propellant(system, self.batch.state.tanks):
            found[:, k] = own[:, 0]
        return found

    @property
    def _masses(self) -> Floats:
        """(batch, bodies)"""
        return np.broadcast_to(self.mass, self.com.shape[:2])

    @cached_property
    def _deformed(self) -> "Deformed":
        return analyze.deformed_masses.deformed(self.model, self.batch)

    @property
    def strain_energy(self) -> Floats:
        """(batch, bodies), J; zero for rigid ones."""
        return self._deformed.strain

    @cached_property
    def com(self) -> Floats:
        """Mass center of each body; the place of a massless one."""
        arm = np.einsum("bkij,bkj->bki", self.frames.attitude, self._deformed.moment)
        return self.frames.position + arm/np.where(self.mass > 0, self.mass, 1.0)[..., None]

    @cached_property
    def _in_body_axes(self) -> tuple[Floats, Floats, Floats, Floats]:
        """(batch, bodies, 3) in the axes of the mass frame: angular velocity, velocity of its origin; linear momentum, and angular
        about that origin, wheels at rest."""
        f, d = self.frames, self._deformed
        w, v = (np.einsum("bkij,bki->bkj", f.attitude, a) for a in (f.rate, f.velocity))
        linear = self.mass[..., None]*v + cross(w, d.moment) + d.slide
        return w, v, linear, np.einsum("bkij,bkj->bki", d.inertia, w) + cross(d.moment, v) + d.spin

    @cached_property
    def _momenta(self) -> tuple[Floats, Floats]:
        """Linear momentum of each body, and angular about the origin of its mass frame, world axes, wheels at rest."""
        _, _, linear, angular = self._in_body_axes
        return np.einsum("bkij,bkj->bki", self.frames.attitude, linear), np.einsum("bkij,bkj->bki", self.frames.attitude, angular)

    @cached_property
    def center_of_mass(self) -> Floats:
        return np.einsum("bk,bki->bi", self._masses, self.com)/self.mass.sum(axis=-1, keepdims=True)

    # ---- wheels ------------------------------------------------------------------------------------------------
    @cached_property
    def wheel_spins(self) -> tuple[Floats, Floats]:
        """Axes (batch, wheels, 3), momenta relative to the body (batch, wheels)."""
        wheels = list(self.model.system.wheels.values())
        axes = np.array([wheel.axis for wheel in wheels]).reshape(-1, 3)
        inertia = np.array([wheel.inertia for wheel in wheels])
        return np.einsum("bkij,kj->bki", self.wheel_carriers.attitude, axes), inertia*self.batch.state.wheels

    @cached_property
    def wheel_carriers(self) -> Frames:
        """Frames that carry the wheels: of bodies, or of nodes of flexible ones."""
        frames = [self.place(wheel.body, wheel.node) for wheel in self.model.system.wheels.values()]
        return Frames(*(np.stack(arrays, axis=1) for arrays in zip(*frames, strict=True)))

    def place(self, body: str, node: str | None) -> Frames:
        """Of a body, or of a node of a flexible one (None: its inboard one)."""
        if node is not None:
            return self.node(body, node)
        k = self.model.body_index(body)
        return Frames(self.position[:, k], self.velocity[:, k], self.attitude[:, k], self.rate[:, k])

    def frame(self, frame: Frame) -> Frames:
        """Where a frame is and how it moves; arrays of one state if it is the world's."""
        if frame.body == "world":
            place = Frames(np.zeros((1, 3)), np.zeros((1, 3)), np.eye(3)[None], np.zeros((1, 3)))
        else:
            flexible = self.model.system.bodies[frame.body].flexible
            place = self.place(frame.body, None if flexible is None else frame.node or flexible.inboard or "")
        arm = place.attitude @ np.asarray(frame.at)
        return Frames(place.position + arm, place.velocity + cross(place.rate, arm),
                      place.attitude @ rotation_matrix(frame.orient), place.rate)

    # ---- energy and momentum -------------------------------------------------------------------------------------
    @cached_property
    def body_kinetic_energy(self) -> Floats:
        """(batch, bodies): half the momenta times rates of each, wheels at rest in them, J."""
        (w, v, linear, angular), d = self._in_body_axes, self._deformed
        return 0.5*(((linear + d.slide)*v).sum(axis=2) + ((angular + d.spin)*w).sum(axis=2)) + d.modal

    @cached_property
    def kinetic_energy(self) -> Floats:
        """That of all bodies, and of the wheels: J Omega e.omega + J Omega^2/2; in orbit, of the orbit too."""
        energy = self.body_kinetic_energy.sum(axis=1)
        if self.model.nw:
            axes, momenta = self.wheel_spins
            inertia = np.array([wheel.inertia for wheel in self.model.system.wheels.values()])
            energy = energy + np.einsum("bk,bki,bki->b", momenta, axes, self.wheel_carriers.rate)
            energy = energy + 0.5*(momenta**2/inertia).sum(axis=1)
        if self.model.in_orbit:
            energy = energy + 0.5*self.mass.sum(axis=-1)*(self.batch.state.orbit[:, 3:]**2).sum(axis=1)
        return energy

    @cached_property
    def momentum(self) -> Floats:
        """[angular about the mass center, linear]."""
        linear, angular = self._momenta
        arm = self.frames.position - self.center_of_mass[:, None]
        total = (angular + cross(arm, linear)).sum(axis=1)
        if self.model.nw:
            axes, momenta = self.wheel_spins
            total = total + np.einsum("bk,bki->bi", momenta, axes)
        return np.concatenate([total, linear.sum(axis=1)], axis=1)

    @cached_property
    def potential_energy(self) -> Floats:
        gravity = self.model.system.gravity
        springs = self._springs + self.strain_energy.sum(axis=1) + self.elements[..., f.ELEMENT_ENERGY].sum(axis=1)
        if isinstance(gravity, CentralGravity):
            return springs + self._central(gravity)
        return springs - np.einsum("bk,bki,i->b", self._masses, self.com, np.asarray(gravity, float))

    @cached_property
    def _springs(self) -> Floats:
        energy = np.zeros(self.batch.n)
        for body in self.model.system.bodies.values():
            joint, q = body.joint, self.model.places[body.name][0]
            for i, stiffness in enumerate(joint.stiffness or ()):
                rest = joint.rest[i] if joint.rest else 0.0
                energy += 0.5*stiffness*(self.batch.q[:, q + i] - rest)**2
        for stop in self.model.system.stops.values():
            beyond = stop.side*(self.batch.q[:, coordinate_place(self.model.system, stop.coordinate)[0]] - stop.limit)
            energy += 0.5*stop.stiffness*np.maximum(beyond, 0.0)**2
        for coupling in self.model.system.couplings.values():
            if coupling.stiffness or coupling.preload:
                energy += coupling_energy(coupling, self.model.system, self.batch.q)
        for tank in self.model.system.tanks.values():
            if tank.slosh is not None:
                first = self.model.places[tank.slosh_name][0]
                own = tank.properties(self.batch.state.tanks[:, list(self.model.system.tanks).index(tank.name)])
                energy += 0.5*own[:, -2]*(self.batch.q[:, first:first + 2]**2).sum(axis=1)
        return energy + self._loop_springs

    @property
    def _loop_springs(self) -> Floats:
        """Of the springs in loops' joints."""
        energy, loops = np.zeros(self.batch.n), list(self.model.system.loops.values())
        for motion in free_motions(self.model.system):
            if motion.stiffness:
                a, b = self.frame(loops[motion.loop].a), self.frame(loops[motion.loop].b)
                stretch = coordinate(motion, b.position - a.position, a.attitude, b.attitude) - motion.rest
                energy += 0.5*motion.stiffness*stretch**2
        return energy

    def _central(self, gravity: CentralGravity) -> Floats:
        """-mu m/d - mu (3 d.S d/d^2 - tr S)/(2 d^3), d from the attracting center to each body's mass center [B 4]; of propellant,
        to its origin, and mu d.h/d^3 more [B 95]."""
        flows = np.isin(list(self.model.system.bodies), [n for tank in self.model.system.tanks.values() for n in tank.body_names])
        d = self.batch.state.orbit[:, None, :3] + np.where(flows[:, None], self.frames.position, self.com)
        length, in_body = np.linalg.norm(d, axis=2), np.einsum("bkij,bki->bkj", self.frames.attitude, d)
        moment, heavy = self._deformed.moment, np.where(self.mass > 0, self.mass, 1.0)[..., None, None]
        about = np.where(flows[:, None, None], 0.0, np.einsum("bki,bkj->bkij", moment, moment)/heavy)
        S = second_moments(self._deformed.inertia - self._deformed.turned) - about
        gradient = 3*np.einsum("bki,bkij,bkj->bk", in_body, S, in_body)/length**2 - np.trace(S, axis1=2, axis2=3)
        lower = flows*np.einsum("bki,bki->bk", in_body, moment)/length**3
        return -gravity.mu*(self.mass/length - lower + gradient/(2*length**3)).sum(axis=1)


def coupling_energy(coupling: Coupling, system: System, q: Floats) -> Floats:
    """(batch,): of the spring of a coupling that gives way, and of its preload [B 38]."""
    wanted = builders.coupling_tables.sum_of(system, coupling)
    gap = -wanted + sum(factor*q[:, coordinate_place(system, name)[0]] for name, factor in coupling.terms.items())
    beyond = gap - np.clip(gap, -0.5*coupling.backlash, 0.5*coupling.backlash)
    return np.asarray(0.5*(coupling.stiffness or 0.0)*beyond**2 - coupling.preload*gap)


def bodies_in(model: CompiledModel, batch: Batch, a: ArrayLike | None = None) -> Bodies:
    """How all bodies move in the states of a batch, with accelerations a (zero, if not given)."""
    welded = model.changed(batch, keep_welds=True)
    return observe(model, welded, rows("a", np.zeros(model.nv) if a is None else a, model.nv, batch.n, model.names.v))


def bodies_of(model: CompiledModel, batch: Batch) -> Bodies:
    """The same by the tables of the batch, which steps have built anyway: of nodes, only those that carry something."""
    return observe(model, batch, np.zeros((batch.n, model.nv)))


def observe(model: CompiledModel, batch: Batch, a: Floats) -> Bodies:
    """Kinematics of a batch: bodies, frames of their mass where some are flexible, nodes; those without a hinge are NaN, tables
    that keep the welds have all."""
    tree, names, n = batch.tables.tree, model.names.bodies, len(model.names.bodies)
    flexible = {name: model.system.bodies[name].elastic.nodes.names for name in tree.modal}
    present = [(name, node) for name, nodes in flexible.items() for node in nodes if tree.has(name, node)]
    key = "bodies", len(present)
    if key not in batch.tables.routes:
        attachments = [tree.attachments[name] for name in names]
        if flexible:
            attachments += [Anchor(tree.modal[name], np.eye(3), np.zeros((1, 3))) if name in flexible else each
                      for name, each in zip(names, attachments, strict=True)]
            attachments += [tree.attachment(*place) for place in present]
        batch.tables.routes[key] = route_to(tree, attachments, every=True)
    call, motion, elements, _ = motion_call(model, batch, a, batch.tables.routes[key], len(model.system.elements))
    run(call)
    finite(motion.acceleration, "motion of the bodies", batch)
    frames = Frames(motion.position, motion.velocity[..., 3:], motion.attitude, motion.velocity[..., :3])
    body, nodes = frames.part(slice(0, n)), dict[str, Frames]()
    for name, of_body in flexible.items():
        nodes[name] = frames.at([2*n + present.index((name, node)) if (name, node) in present else None for node in of_body])
    return Bodies(model, batch, *body, motion.acceleration[:, :n], frames.part(slice(n, 2*n)) if flexible else body, nodes,
                  elements)
