"""Mass properties of all bodies as their deformation has them: a rigid body is one with zero modes.

Where bodies are and how they move, and what follows from it: energies, momenta, the mass center.
"""

from dataclasses import astuple, dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from bough.compile.batch import Array, Batch, check_node, rows, workspace
from bough.compile.compiled_model import CompiledModel
from bough.compile.coordinates import coordinate_place
from bough.compile.flexible_tables import axial
from bough.compile.layout import Floats
from bough.compile.loop_tables import coordinate, free_motions
from bough.compile.partition import Partition
from bough.describe import Body, CentralGravity, Frame
from bough.describe.orientation import rotation_matrix
from bough.sweeps import calls
from bough.sweeps import fields as f


@dataclass(frozen=True)
class Deformed:
    """About the origin of each body's mass frame, in its axes."""
    moment: Floats          # (batch, bodies, 3)     mass times mass center
    inertia: Floats         # (batch, bodies, 3, 3)
    slide: Floats           # (batch, bodies, 3)     linear momentum of the deformation alone
    spin: Floats            # (batch, bodies, 3)     its angular momentum
    modal: Floats           # (batch, bodies)        eta'.Mff eta'/2
    strain: Floats          # (batch, bodies)        (eta - rest).K (eta - rest)/2


def deformed(model: CompiledModel, batch: Batch) -> Deformed:
    n, bodies = batch.n, len(model.names.bodies)
    found = Deformed(*(np.zeros((n, bodies, *shape)) for shape in ((3,), (3, 3), (3,), (3,), (), ())))
    for k, body in enumerate(model.system.bodies.values()):
        com, (modes, rates) = np.asarray(body.com), model.modes(body.name)
        found.moment[:, k] = body.mass*com
        found.inertia[:, k] = np.asarray(body.inertia) + body.mass*(com @ com*np.eye(3) - np.outer(com, com))
        if body.n_modes:
            deform(found, k, body, batch.q[:, modes], batch.v[:, rates])
    return found


def deform(found: Deformed, k: int, body: Body, eta: Floats, rate: Floats) -> None:
    """J, h, and the momenta and energies of the deformation, as `sweeps.modes` has them [B 9]."""
    flexible, strained = body.elastic, eta if body.rest is None else eta - np.asarray(body.rest)
    sums = flexible.carried
    slaves = np.einsum("ars,bs->bar", sums.G, eta)
    x = np.concatenate([eta, np.einsum("bar,br->ba", slaves, eta)/2], axis=1)          # with the coordinates that modes carry
    speed = np.concatenate([rate, np.einsum("bar,br->ba", slaves, rate)], axis=1)
    E = np.broadcast_to(sums.E, (len(x), *sums.E.shape))
    if flexible.variant == "full":
        E = E + np.einsum("bs,srij->brij", x, sums.slope)
        added = np.einsum("br,brij->bij", x, E + sums.E)
        trace = np.trace(added, axis1=1, axis2=2)[:, None, None]*np.eye(3)
        found.inertia[:, k] += trace - (added + added.transpose(0, 2, 1))/2
        found.moment[:, k] += x @ sums.t
    found.slide[:, k] = speed @ sums.t
    found.spin[:, k] = np.einsum("br,bri->bi", speed, axial(E))
    found.modal[:, k] = np.einsum("br,rs,bs->b", speed, sums.mass, speed)/2
    if flexible.variant == "full":
        spins, momenta = flexible.integrals.spin_rows(eta)                              # of points that turn
        n = body.n_modes
        (own, mixed), (Q, g) = ((each[..., :n] @ rate[..., None] for each in (spins, momenta)),
                                (each[..., n:n + 3] for each in (spins, momenta)))
        found.inertia[:, k] += np.einsum("bai,baj->bij", g, Q) + np.einsum("bai,baj->bij", Q, g + Q)
        found.spin[:, k] += (own*(g + Q) + mixed*Q).sum(axis=1)
        found.modal[:, k] += (own*(mixed + own/2)).sum(axis=(1, 2))
    found.strain[:, k] = np.einsum("br,rs,bs->b", strained, flexible.K, strained)/2


# ---- body motion -----------------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Frames:
    """Frames of the bodies' mass in a batch of states, world axes."""
    position: Floats        # (batch, bodies, 3)
    velocity: Floats        # (batch, bodies, 3)
    attitude: Floats        # (batch, bodies, 3, 3)
    rate: Floats            # (batch, bodies, 3)


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
    elements: Floats        # (batch, elements, ELEMENT_OUT)  what force elements exert, see sweeps.records

    def node(self, body: str, node: str) -> Frames:
        """A node of a flexible body: arrays (batch, ...)."""
        check_node(self.model.system, body, node)
        at = self.model.system.bodies[body].elastic.nodes.names.index(node)
        return Frames(*(array[:, at] for array in astuple(self.nodes[body])))

    def shape(self, body: str) -> Floats:
        """(batch, points, 3): the outline of a deformed flexible body, for pictures; world axes."""
        k, described = self.model.body_index(body), self.model.system.bodies[body]
        points = np.array([described.elastic.deformed_outline(eta) for eta in self.batch.q[:, self.model.modes(body)[0]]])
        return self.frames.position[:, k, None] + np.einsum("bij,bpj->bpi", self.frames.attitude[:, k], points)

    def unbatched(self, result: Array) -> Array:
        """Without the batch axis, if one state was asked for."""
        return self.batch.unbatched(result)

    # ---- mass: of a flexible body as its deformation has it ---------------------------------------------------------
    @cached_property
    def mass(self) -> Floats:
        return np.array([body.mass for body in self.model.system.bodies.values()])

    @cached_property
    def _deformed(self) -> Deformed:
        return deformed(self.model, self.batch)

    @property
    def strain_energy(self) -> Floats:
        """(batch, bodies), J; zero for rigid ones."""
        return self._deformed.strain

    @cached_property
    def com(self) -> Floats:
        """Mass center of each body; the place of a massless one."""
        arm = np.einsum("bkij,bkj->bki", self.frames.attitude, self._deformed.moment)
        return self.frames.position + arm/np.where(self.mass > 0, self.mass, 1.0)[:, None]

    @cached_property
    def _momenta(self) -> tuple[Floats, Floats]:
        """Linear momentum of each body, and angular about the origin of its mass frame, world axes, wheels at rest."""
        f, d = self.frames, self._deformed
        w, v = (np.einsum("bkij,bki->bkj", f.attitude, a) for a in (f.rate, f.velocity))
        linear = self.mass[:, None]*v + np.cross(w, d.moment) + d.slide
        angular = np.einsum("bkij,bkj->bki", d.inertia, w) + np.cross(d.moment, v) + d.spin
        return np.einsum("bkij,bkj->bki", f.attitude, linear), np.einsum("bkij,bkj->bki", f.attitude, angular)

    @cached_property
    def _modal_momenta(self) -> tuple[Floats, Floats]:
        """The share of the deformation's rates in them."""
        attitude, d = self.frames.attitude, self._deformed
        return np.einsum("bkij,bkj->bki", attitude, d.slide), np.einsum("bkij,bkj->bki", attitude, d.spin)

    @cached_property
    def center_of_mass(self) -> Floats:
        return np.einsum("k,bki->bi", self.mass, self.com)/self.mass.sum()

    # ---- wheels ------------------------------------------------------------------------------------------------
    @cached_property
    def _wheels(self) -> tuple[Floats, Floats]:
        """Axes (batch, wheels, 3), momenta relative to the body (batch, wheels)."""
        wheels = list(self.model.system.wheels.values())
        axes = np.array([wheel.axis for wheel in wheels]).reshape(-1, 3)
        inertia = np.array([wheel.inertia for wheel in wheels])
        return np.einsum("bkij,kj->bki", self._carriers.attitude, axes), inertia*self.batch.state.wheels

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

    def frame(self, frame: Frame) -> Frames:
        """Where a frame is and how it moves; arrays of one state if it is the world's."""
        if frame.body == "world":
            place = Frames(np.zeros((1, 3)), np.zeros((1, 3)), np.eye(3)[None], np.zeros((1, 3)))
        else:
            flexible = self.model.system.bodies[frame.body].flexible
            place = self.place(frame.body, None if flexible is None else frame.node or flexible.inboard or "")
        arm = place.attitude @ np.asarray(frame.at)
        return Frames(place.position + arm, place.velocity + np.cross(place.rate, arm),
                      place.attitude @ rotation_matrix(frame.orient), place.rate)

    # ---- energy and momentum -------------------------------------------------------------------------------------
    @cached_property
    def kinetic_energy(self) -> Floats:
        """Half the sum of momenta times rates, and of the wheels: J Omega e.omega + J Omega^2/2; in orbit, of the orbit too."""
        (linear, angular), (slide, spin), f = self._momenta, self._modal_momenta, self.frames
        energy = 0.5*np.einsum("bki,bki->b", linear + slide, f.velocity)
        energy = energy + 0.5*np.einsum("bki,bki->b", angular + spin, f.rate) + self._deformed.modal.sum(axis=1)
        if self.model.nw:
            axes, momenta = self._wheels
            inertia = np.array([wheel.inertia for wheel in self.model.system.wheels.values()])
            energy = energy + np.einsum("bk,bki,bki->b", momenta, axes, self._carriers.rate) + 0.5*(momenta**2/inertia).sum(axis=1)
        if self.model.in_orbit:
            energy = energy + 0.5*self.mass.sum()*(self.batch.state.orbit[:, 3:]**2).sum(axis=1)
        return energy

    @cached_property
    def momentum(self) -> Floats:
        """[angular about the mass center, linear]."""
        linear, angular = self._momenta
        arm = self.frames.position - self.center_of_mass[:, None]
        total = (angular + np.cross(arm, linear)).sum(axis=1)
        if self.model.nw:
            axes, momenta = self._wheels
            total = total + np.einsum("bk,bki->bi", momenta, axes)
        return np.concatenate([total, linear.sum(axis=1)], axis=1)

    @cached_property
    def potential_energy(self) -> Floats:
        gravity = self.model.system.gravity
        springs = self._springs + self.strain_energy.sum(axis=1) + self.elements[..., f.ELEMENT_ENERGY].sum(axis=1)
        if isinstance(gravity, CentralGravity):
            return springs + self._central(gravity)
        return springs - np.einsum("k,bki,i->b", self.mass, self.com, np.asarray(gravity, float))

    @cached_property
    def _springs(self) -> Floats:
        energy, q = np.zeros(self.batch.n), 0
        for body in self.model.system.bodies.values():
            joint = body.joint
            for i, stiffness in enumerate(joint.stiffness or ()):
                rest = joint.rest[i] if joint.rest else 0.0
                energy += 0.5*stiffness*(self.batch.q[:, q + i] - rest)**2
            q += body.n_q
        for stop in self.model.system.stops.values():
            beyond = stop.side*(self.batch.q[:, coordinate_place(self.model.system, stop.coordinate)[0]] - stop.limit)
            energy += 0.5*stop.stiffness*np.maximum(beyond, 0.0)**2
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
        """-mu m/d - mu (tr J - 3 d.J d/d^2)/(2 d^3), d from the attracting center to each body's mass center."""
        R = self.batch.state.orbit[:, :3]
        d = R[:, None] + self.com
        length = np.linalg.norm(d, axis=2)
        inertia = np.array([body.inertia for body in self.model.system.bodies.values()])
        in_body = np.einsum("bkij,bki->bkj", self.attitude, d)
        gradient = np.trace(inertia, axis1=1, axis2=2) - 3*np.einsum("bki,kij,bkj->bk", in_body, inertia, in_body)/length**2
        return -gravity.mu*(self.mass/length + gradient/(2*length**3)).sum(axis=1)


def bodies_in(model: CompiledModel, batch: Batch, a: ArrayLike | None = None) -> Bodies:
    """How all bodies move in the states of a batch, with accelerations a (zero, if not given)."""
    welded = model.changed(batch, keep_welds=True)
    return observe(model, welded, rows("a", np.zeros(model.nv) if a is None else a, model.nv, batch.n, model.names.v))


def observe(model: CompiledModel, batch: Batch, a: Floats) -> Bodies:
    """Kinematics of a batch whose tables keep the welds."""
    tables, hinges = batch.tables, len(batch.tables.parts.hinges) - 1
    length = f.KINEMATICS_ROW*hinges
    out = np.empty((batch.n, length + f.ELEMENT_OUT*len(model.system.elements)))
    model.call(calls.kinematics, batch, a, out, ws=workspace(tables, batch.lanes, f.KINEMATICS_ROW*(hinges + 1)))
    by_hinge = out[:, :length].reshape(batch.n, hinges, f.KINEMATICS_ROW)
    seats = [tables.parts.attachments[name] for name in model.names.bodies]
    body = frames_of(by_hinge, [seat.hinge for seat in seats], np.array([seat.turn for seat in seats]))
    acceleration = by_hinge[:, [seat.hinge - 1 for seat in seats], f.KINEMATICS_ACCELERATION:].copy()
    if not model.in_orbit:
        acceleration[..., 3:] += np.asarray(model.system.gravity, float)
    mass = body
    if tables.parts.modal:
        modal = [(tables.parts.modal[name], np.eye(3)) if name in tables.parts.modal else (seat.hinge, seat.turn)
                 for name, seat in zip(model.names.bodies, seats, strict=True)]
        mass = frames_of(by_hinge, [hinge for hinge, _ in modal], np.array([turn for _, turn in modal]))
    return Bodies(model, batch, body.position, body.velocity, body.attitude, body.rate, acceleration, mass,
                  {name: node_frames(model, tables.parts, by_hinge, name) for name in tables.parts.modal},
                  out[:, length:].reshape(batch.n, -1, f.ELEMENT_OUT))


def node_frames(model: CompiledModel, parts: Partition, by_hinge: Floats, body: str) -> Frames:
    """Of all nodes of a flexible body; the inboard one is fixed to the joint's frame."""
    seats = [parts.attachment(body, node) for node in model.system.bodies[body].elastic.nodes.names]
    found = frames_of(by_hinge, [seat.hinge for seat in seats], np.array([seat.turn for seat in seats]))
    arm = np.einsum("bkij,kj->bki", found.attitude, np.array([seat.turn.T @ seat.at[0] for seat in seats]))
    return Frames(found.position + arm, found.velocity + np.cross(found.rate, arm), found.attitude, found.rate)


def frames_of(by_hinge: Floats, hinges: list[int], turns: Floats) -> Frames:
    """Frames of hinges' bodies, turned from the hinges' axes to the user's."""
    chosen = by_hinge[:, [hinge - 1 for hinge in hinges]]
    attitude = chosen[..., f.KINEMATICS_ATTITUDE:f.KINEMATICS_RATE].reshape(len(by_hinge), -1, 3, 3) @ turns
    return Frames(chosen[..., f.KINEMATICS_POSITION:f.KINEMATICS_VELOCITY],
                  chosen[..., f.KINEMATICS_VELOCITY:f.KINEMATICS_ATTITUDE], attitude,
                  chosen[..., f.KINEMATICS_RATE:f.KINEMATICS_ACCELERATION])


def point_jacobians(model: CompiledModel, batch: Batch, body: str, point: ArrayLike) -> Floats:
    """(batch, 6, nv): [angular, linear] velocity, in world axes, of a point of a body (in its axes) for each speed."""
    k, n, nv = model.body_index(body), batch.n, model.nv
    states = model.batch(np.repeat(batch.q, nv, axis=0), np.tile(np.eye(nv), (n, 1)), keep_welds=True)
    bodies = observe(model, states, np.zeros((n*nv, nv)))
    arm = np.einsum("bij,j->bi", bodies.attitude[:, k], rows("point", point, 3, 1, "xyz")[0])
    linear = bodies.velocity[:, k] + np.cross(bodies.rate[:, k], arm)
    return np.concatenate([bodies.rate[:, k], linear], axis=1).reshape(n, nv, 6).transpose(0, 2, 1)
