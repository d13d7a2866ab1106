"""Where bodies are and how they move, and what follows from it: energies, momenta, the mass center."""
from dataclasses import astuple, dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from bough.analyze.deformed import Deformed, deformed
from bough.analyze.loop_springs import spring_energy
from bough.compile.coordinates import coordinate_place
from bough.compile.kernel_calls import call, group_parameters, workspace
from bough.compile.partition import Partition
from bough.describe import CentralGravity
from bough.model.arguments import Batch, check_node
from bough.sweeps import calls
from bough.sweeps import fields as f

if TYPE_CHECKING:
    from bough.model.model import Model


@dataclass(frozen=True)
class Frames:
    """Frames of the bodies' mass in a batch of states, world axes."""
    position: np.ndarray        # (batch, bodies, 3)
    velocity: np.ndarray        # (batch, bodies, 3)
    attitude: np.ndarray        # (batch, bodies, 3, 3)
    rate: np.ndarray            # (batch, bodies, 3)


@dataclass(frozen=True)
class Bodies:
    """All bodies of a model in a batch of states: arrays (batch, bodies, ...) in world axes."""
    model: "Model"
    batch: Batch
    position: np.ndarray        # (batch, bodies, 3)     origin of the body frame, m
    velocity: np.ndarray        # (batch, bodies, 3)     of that origin, m/s
    attitude: np.ndarray        # (batch, bodies, 3, 3)  body axes to world axes
    rate: np.ndarray            # (batch, bodies, 3)     angular velocity, rad/s
    acceleration: np.ndarray    # (batch, bodies, 6)     [angular, linear]
    frames: "Frames"            # of the mass: a rigid body's own frame, the body frame that a flexible one deforms in
    nodes: dict[str, "Frames"]  # of the nodes of each flexible body, in the order of its nodes
    elements: np.ndarray        # (batch, elements, ELEMENT_OUT)  what force elements exert, see sweeps.fields

    def node(self, body: str, node: str) -> "Frames":
        """A node of a flexible body: arrays (batch, ...)."""
        check_node(self.model, body, node)
        at = self.model.system.bodies[body].elastic.nodes.names.index(node)
        return Frames(*(array[:, at] for array in astuple(self.nodes[body])))

    def shape(self, body: str) -> np.ndarray:
        """(batch, points, 3): the outline of a deformed flexible body, for pictures; world axes."""
        k, described = self.model.body_index(body), self.model.system.bodies[body]
        q = self.model.places[body][0] + described.joint.n_q
        points = np.array([described.elastic.deformed_outline(eta) for eta in self.batch.x[:, q:q + described.n_modes]])
        return self.frames.position[:, k, None] + np.einsum("bij,bpj->bpi", self.frames.attitude[:, k], points)

    def back(self, result: Any) -> Any:
        """Without the batch axis, if one state was asked for."""
        return result[0] if self.batch.single else result

    # ---- mass: of a flexible body as its deformation has it ---------------------------------------------------------
    @cached_property
    def mass(self) -> np.ndarray:
        return np.array([body.mass for body in self.model.system.bodies.values()])

    @cached_property
    def _deformed(self) -> Deformed:
        return deformed(self.model, self.batch)

    @property
    def strain_energy(self) -> np.ndarray:
        """(batch, bodies), J; zero for rigid ones."""
        return self._deformed.strain

    @cached_property
    def com(self) -> np.ndarray:
        """Mass center of each body; the place of a massless one."""
        arm = np.einsum("bkij,bkj->bki", self.frames.attitude, self._deformed.moment)
        return self.frames.position + arm/np.where(self.mass > 0, self.mass, 1.0)[:, None]

    @cached_property
    def _momenta(self) -> tuple[np.ndarray, np.ndarray]:
        """Linear momentum of each body, and angular about the origin of its mass frame, world axes, wheels at rest."""
        f, d = self.frames, self._deformed
        w, v = (np.einsum("bkij,bki->bkj", f.attitude, a) for a in (f.rate, f.velocity))
        linear = self.mass[:, None]*v + np.cross(w, d.moment) + d.slide
        angular = np.einsum("bkij,bkj->bki", d.inertia, w) + np.cross(d.moment, v) + d.spin
        return np.einsum("bkij,bkj->bki", f.attitude, linear), np.einsum("bkij,bkj->bki", f.attitude, angular)

    @cached_property
    def _modal_momenta(self) -> tuple[np.ndarray, np.ndarray]:
        """The share of the deformation's rates in them."""
        attitude, d = self.frames.attitude, self._deformed
        return np.einsum("bkij,bkj->bki", attitude, d.slide), np.einsum("bkij,bkj->bki", attitude, d.spin)

    @cached_property
    def center_of_mass(self) -> np.ndarray:
        return np.einsum("k,bki->bi", self.mass, self.com)/self.mass.sum()

    # ---- wheels ------------------------------------------------------------------------------------------------
    @cached_property
    def _wheels(self) -> tuple[np.ndarray, np.ndarray]:
        """Axes (batch, wheels, 3), momenta relative to the body (batch, wheels)."""
        wheels, model = list(self.model.system.wheels.values()), self.model
        axes = np.array([wheel.axis for wheel in wheels]).reshape(-1, 3)
        inertia = np.array([wheel.inertia for wheel in wheels])
        speed = self.batch.x[:, model.nq + model.nv:model.nq + model.nv + model.nw]
        return np.einsum("bkij,kj->bki", self._carriers.attitude, axes), inertia*speed

    @cached_property
    def _carriers(self) -> Frames:
        """Of what carries the wheels: bodies, or nodes of flexible ones."""
        frames = [self.place(wheel.body, wheel.node) for wheel in self.model.system.wheels.values()]
        return Frames(*(np.stack(arrays, axis=1) for arrays in zip(*map(astuple, frames), strict=True)))

    def place(self, body: str, node: str | None) -> Frames:
        """Of a body, or of a node of a flexible one (None: its inboard one)."""
        if node is not None:
            return self.node(body, node)
        k = self.model.body_index(body)
        return Frames(self.position[:, k], self.velocity[:, k], self.attitude[:, k], self.rate[:, k])

    # ---- energy and momentum -------------------------------------------------------------------------------------
    @cached_property
    def kinetic_energy(self) -> np.ndarray:
        """Half the sum of momenta times rates, and of the wheels: J Omega e.omega + J Omega^2/2; in orbit, of the orbit too."""
        (linear, angular), (slide, spin), f = self._momenta, self._modal_momenta, self.frames
        energy = 0.5*np.einsum("bki,bki->b", linear + slide, f.velocity)
        energy = energy + 0.5*np.einsum("bki,bki->b", angular + spin, f.rate) + self._deformed.modal.sum(axis=1)
        if self.model.nw:
            axes, momenta = self._wheels
            inertia = np.array([wheel.inertia for wheel in self.model.system.wheels.values()])
            energy = energy + np.einsum("bk,bki,bki->b", momenta, axes, self._carriers.rate) + 0.5*(momenta**2/inertia).sum(axis=1)
        if self.model.in_orbit:
            energy = energy + 0.5*self.mass.sum()*(self.batch.x[:, -3:]**2).sum(axis=1)
        return energy

    @cached_property
    def momentum(self) -> np.ndarray:
        """[angular about the mass center, linear]."""
        linear, angular = self._momenta
        arm = self.frames.position - self.center_of_mass[:, None]
        total = (angular + np.cross(arm, linear)).sum(axis=1)
        if self.model.nw:
            axes, momenta = self._wheels
            total = total + np.einsum("bk,bki->bi", momenta, axes)
        return np.concatenate([total, linear.sum(axis=1)], axis=1)

    @cached_property
    def potential_energy(self) -> np.ndarray:
        gravity = self.model.system.gravity
        springs = self._springs + self.strain_energy.sum(axis=1) + self.elements[..., f.ELEMENT_ENERGY].sum(axis=1)
        if isinstance(gravity, CentralGravity):
            return springs + self._central(gravity)
        return springs - np.einsum("k,bki,i->b", self.mass, self.com, np.asarray(gravity, float))

    @cached_property
    def _springs(self) -> np.ndarray:
        energy, q = np.zeros(self.batch.n), 0
        for body in self.model.system.bodies.values():
            joint = body.joint
            for i, stiffness in enumerate(joint.stiffness or ()):
                rest = joint.rest[i] if joint.rest else 0.0
                energy += 0.5*stiffness*(self.batch.x[:, q + i] - rest)**2
            q += body.n_q
        for stop in self.model.system.stops.values():
            beyond = stop.side*(self.batch.x[:, coordinate_place(self.model.system, stop.coordinate)[0]] - stop.limit)
            energy += 0.5*stop.stiffness*np.maximum(beyond, 0.0)**2
        return energy + spring_energy(self.model, self)

    def _central(self, gravity: CentralGravity) -> np.ndarray:
        """-mu m/d - mu (tr J - 3 d.J d/d^2)/(2 d^3), d from the attracting center to each body's mass center."""
        R = self.batch.x[:, -6:-3]
        d = R[:, None] + self.com
        length = np.linalg.norm(d, axis=2)
        inertia = np.array([body.inertia for body in self.model.system.bodies.values()])
        in_body = np.einsum("bkij,bki->bkj", self.attitude, d)
        gradient = np.trace(inertia, axis1=1, axis2=2) - 3*np.einsum("bki,kij,bkj->bk", in_body, inertia, in_body)/length**2
        return -gravity.mu*(self.mass/length + gradient/(2*length**3)).sum(axis=1)


def observe(model: "Model", batch: Batch, a: np.ndarray) -> Bodies:
    """Kinematics of a batch whose tables keep the welds."""
    tables, lanes = batch.tables, batch.lanes
    hinges = len(tables.parts.hinges) - 1
    told = f.KINEMATICS_ROW*hinges
    out = np.empty((batch.n, told + f.ELEMENT_OUT*len(model.system.elements)))
    call(calls.kinematics, tables, group_parameters(tables.pars, lanes), batch.t, batch.x, batch.u, a, out,
         workspace(tables, lanes, f.KINEMATICS_ROW*(hinges + 1)))
    rows = out[:, :told].reshape(batch.n, hinges, f.KINEMATICS_ROW)
    seats = [tables.parts.attachments[name] for name in model.names.bodies]
    body = frames_of(rows, [seat.hinge for seat in seats], np.array([seat.turn for seat in seats]))
    acceleration = rows[:, [seat.hinge - 1 for seat in seats], f.KINEMATICS_ACCELERATION:].copy()
    if not model.in_orbit:
        acceleration[..., 3:] += np.asarray(model.system.gravity, float)
    mass = body
    if tables.parts.modal:
        modal = [(tables.parts.modal[name], np.eye(3)) if name in tables.parts.modal else (seat.hinge, seat.turn)
                 for name, seat in zip(model.names.bodies, seats, strict=True)]
        mass = frames_of(rows, [hinge for hinge, _ in modal], np.array([turn for _, turn in modal]))
    return Bodies(model, batch, body.position, body.velocity, body.attitude, body.rate, acceleration, mass,
                  {name: node_frames(model, tables.parts, rows, name) for name in tables.parts.modal},
                  out[:, told:].reshape(batch.n, -1, f.ELEMENT_OUT))


def node_frames(model: "Model", parts: Partition, rows: np.ndarray, body: str) -> Frames:
    """Of all nodes of a flexible body; the inboard one is fixed to the joint's frame."""
    seats = [parts.attachment(body, node) for node in model.system.bodies[body].elastic.nodes.names]
    found = frames_of(rows, [seat.hinge for seat in seats], np.array([seat.turn for seat in seats]))
    arm = np.einsum("bkij,kj->bki", found.attitude, np.array([seat.turn.T @ seat.at[0] for seat in seats]))
    return Frames(found.position + arm, found.velocity + np.cross(found.rate, arm), found.attitude, found.rate)


def frames_of(rows: np.ndarray, hinges: list[int], turns: np.ndarray) -> Frames:
    """Frames of hinges' bodies, turned from the hinges' axes to the user's."""
    told = rows[:, [hinge - 1 for hinge in hinges]]
    attitude = told[..., f.KINEMATICS_ATTITUDE:f.KINEMATICS_RATE].reshape(len(rows), -1, 3, 3) @ turns
    return Frames(told[..., f.KINEMATICS_POSITION:f.KINEMATICS_VELOCITY], told[..., f.KINEMATICS_VELOCITY:f.KINEMATICS_ATTITUDE],
                  attitude, told[..., f.KINEMATICS_RATE:f.KINEMATICS_ACCELERATION])
