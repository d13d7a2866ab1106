"""Where bodies are and how they move, and what follows from it: energies, momenta, the mass centre."""
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from bough.describe import CentralGravity
from bough.model.arguments import Batch
from bough.model.run import call, group_parameters, workspace
from bough.sweeps import calls
from bough.sweeps import kinematics as kin

if TYPE_CHECKING:
    from bough.model.model import Model


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

    def back(self, result: Any) -> Any:
        """Without the batch axis, if one state was asked for."""
        return result[0] if self.batch.single else result

    @cached_property
    def mass(self) -> np.ndarray:
        return np.array([body.mass for body in self.model.system.bodies.values()])

    @cached_property
    def _arm(self) -> np.ndarray:
        """From each body's origin to its mass centre, world axes."""
        com = np.array([body.com for body in self.model.system.bodies.values()])
        return np.einsum("bkij,kj->bki", self.attitude, com)

    @cached_property
    def com(self) -> np.ndarray:
        """Mass centre of each body."""
        return self.position + self._arm

    @cached_property
    def com_velocity(self) -> np.ndarray:
        return self.velocity + np.cross(self.rate, self._arm)

    @cached_property
    def center_of_mass(self) -> np.ndarray:
        return np.einsum("k,bki->bi", self.mass, self.com)/self.mass.sum()

    # ---- wheels ------------------------------------------------------------------------------------------------
    @cached_property
    def _wheels(self) -> tuple[np.ndarray, np.ndarray, list[int]]:
        """Axes (batch, wheels, 3), momenta relative to the body (batch, wheels), and whose they are."""
        wheels, model = list(self.model.system.wheels.values()), self.model
        owner = [model.names.bodies.index(wheel.body) for wheel in wheels]
        axes = np.array([wheel.axis for wheel in wheels]).reshape(-1, 3)
        inertia = np.array([wheel.inertia for wheel in wheels])
        speed = self.batch.x[:, model.nq + model.nv:model.nq + model.nv + model.nw]
        return np.einsum("bkij,kj->bki", self.attitude[:, owner], axes), inertia*speed, owner

    # ---- energy and momentum -------------------------------------------------------------------------------------
    @cached_property
    def _spin(self) -> np.ndarray:
        """Angular momentum of each body about its own mass centre, wheels locked: I omega."""
        inertia = np.array([body.inertia for body in self.model.system.bodies.values()])
        in_body = np.einsum("bkij,bki->bkj", self.attitude, self.rate)
        return np.einsum("bkij,kjl,bkl->bki", self.attitude, inertia, in_body)

    @cached_property
    def kinetic_energy(self) -> np.ndarray:
        """Sum of m v^2/2 + omega.I omega/2, and of the wheels: J Omega e.omega + J Omega^2/2; in orbit, of the orbit too."""
        energy = 0.5*np.einsum("k,bki,bki->b", self.mass, self.com_velocity, self.com_velocity)
        energy = energy + 0.5*np.einsum("bki,bki->b", self.rate, self._spin)
        if self.model.nw:
            axes, momenta, owner = self._wheels
            inertia = np.array([wheel.inertia for wheel in self.model.system.wheels.values()])
            energy = energy + np.einsum("bk,bki,bki->b", momenta, axes, self.rate[:, owner]) + 0.5*(momenta**2/inertia).sum(axis=1)
        if self.model.in_orbit:
            energy = energy + 0.5*self.mass.sum()*(self.batch.x[:, -3:]**2).sum(axis=1)
        return energy

    @cached_property
    def momentum(self) -> np.ndarray:
        """[angular about the mass centre, linear]."""
        linear = np.einsum("k,bki->bi", self.mass, self.com_velocity)
        arm = self.com - self.center_of_mass[:, None]
        angular = self._spin.sum(axis=1) + np.einsum("k,bki->bi", self.mass, np.cross(arm, self.com_velocity))
        if self.model.nw:
            axes, momenta, _ = self._wheels
            angular = angular + np.einsum("bk,bki->bi", momenta, axes)
        return np.concatenate([angular, linear], axis=1)

    @cached_property
    def potential_energy(self) -> np.ndarray:
        gravity = self.model.system.gravity
        springs = self._springs
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
            q += joint.n_q
        return energy

    def _central(self, gravity: CentralGravity) -> np.ndarray:
        """-mu m/d - mu (tr J - 3 d.J d/d^2)/(2 d^3), d from the attracting centre to each body's mass centre."""
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
    out = np.empty((batch.n, kin.KINEMATICS_ROW*hinges))
    call(calls.kinematics, tables.plan, group_parameters(tables.pars, lanes), tables.tables, batch.t, batch.x, batch.u, a, out,
         workspace(tables, lanes, kin.KINEMATICS_ROW*(hinges + 1)))
    seats = [tables.parts.seats[name] for name in model.names.bodies]
    told = out.reshape(batch.n, hinges, kin.KINEMATICS_ROW)[:, [seat.hinge - 1 for seat in seats]]
    turns = np.array([seat.turn for seat in seats])                         # user's axes to the hinge's
    attitude = told[..., kin.BODY_ATTITUDE:kin.BODY_RATE].reshape(batch.n, -1, 3, 3) @ turns
    acceleration = told[..., kin.BODY_ACCELERATION:].copy()
    if not model.in_orbit:
        acceleration[..., 3:] += np.asarray(model.system.gravity, float)
    return Bodies(model, batch, told[..., kin.POSITION:kin.VELOCITY], told[..., kin.VELOCITY:kin.BODY_ATTITUDE], attitude,
                  told[..., kin.BODY_RATE:kin.BODY_ACCELERATION], acceleration)
