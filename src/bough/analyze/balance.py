"""Checks of accelerations against the description: balances of energy and momentum at single states [B 96].

Energy E, momenta p and H (about the mass center) and the mass center c are sums over the described bodies. With the accelerations
of the sweeps they change along the motion, q o exp(s v), v + s a, by

    c' = p/m,    E' = P,    p' = F,    H' = N                                                                             [B 96]

where P is the power of all non-potential forces, and F and N are the external force and moment, all from the description. Rates
are fourth-order differences. The balances reveal an inertia, a torque or a frame that the sweeps use differently from the
description; the first one reveals errors of the kinematics. Balances that cannot be evaluated are listed with the reason.

Also the flow out of tanks at single states: the rates of their masses, and of the expelled momenta and energy [B 91].
"""
from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from operator import attrgetter
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from bough.analyze import applied_wrenches
from bough.analyze.applied_wrenches import Applied, signal, turn
from bough.analyze.bodies import Bodies, bodies_in
from bough.analyze.deformed_masses import linearized
from bough.analyze.equations_of_motion import forward, inverse
from bough.analyze.loop_constraints import changing_places
from bough.analyze.loop_rows import SPEED, evaluate_loops, true_rows
from bough.analyze.parameters import STENCIL
from bough.analyze.reactions import drive_forces, reactions
from bough.compile.batch import Batch
from bough.compile.compiled_model import CompiledModel
from bough.compile.coordinates import coordinate_place, holdable
from bough.compile.layout import Floats
from bough.compile.loop_tables import coordinate, free_motions
from bough.describe import CentralGravity, Joint, Wheel
from bough.describe.orientation import rotation_matrix
from bough.describe.part import depth_first
from bough.sweeps import calls, fields as f

REACH = 1e-3                # rad or m: how far a step of the differences moves the fastest coordinate
SHARE = 1e-6                # tolerated residual of a balance, relative to its terms; the differences alone leave 1e-11
ROUNDING = 100*np.finfo(float).eps
STILL = 1e-6                # m/s^2: with SHARE, accelerations of a system at rest that count for nothing


@dataclass(frozen=True)
class Imbalance:
    """The residual of a balance in each state, the sum of its terms, and the rounding error of the differences."""
    left: Floats            # (states,)
    terms: Floats           # (states,)
    noise: Floats           # (states,)

    @property
    def share(self) -> Floats:
        """(states,): residual relative to the terms, not counting rounding."""
        return np.asarray(self.left/np.maximum(self.terms + self.noise/SHARE, 1e-300))


@dataclass
class Balance:
    """Residuals of "places", "motion", "energy", "momentum", "angular momentum" and "equations of motion"; and the reasons for
    those left out."""
    found: dict[str, Imbalance] = field(default_factory=dict)
    left_out: dict[str, str] = field(default_factory=dict)

    @property
    def worst(self) -> dict[str, float]:
        """The largest share by name."""
        return {name: float(each.share.max(initial=0.0)) for name, each in self.found.items()}

    @property
    def broken(self) -> dict[str, float]:
        """The violated ones."""
        return {name: share for name, share in self.worst.items() if not share <= SHARE}


def balance(model: CompiledModel, batch: Batch, a: Floats | None = None) -> Balance:
    """The balance of the states of a batch under its inputs, with accelerations a (by default those of the sweeps)."""
    states, result = States(model, clear_of_knots(model, batch) if model.system.tanks and a is None else batch, a), Balance()
    checks: dict[str, tuple[Callable[[], Imbalance], Callable[[], str]]] = {
        "places": (states.places, str), "motion": (states.motion, states.no_motion), "energy": (states.energy, states.no_energy),
        "momentum": (states.momentum, states.no_momentum), "angular momentum": (states.angular_momentum, states.no_momentum),
        "equations of motion": (states.equations, states.no_equations)}
    for name, (check, reason) in checks.items():
        if why := reason():
            result.left_out[name] = why
        else:
            result.found[name] = check()
    return result


class States:
    """States with their accelerations, and rates of quantities of the bodies."""

    def __init__(self, model: CompiledModel, batch: Batch, a: Floats | None) -> None:
        self.emptying, self.exhaust = np.zeros((batch.n, 0)), np.zeros((batch.n, 7))
        if model.system.tanks:
            self.emptying, self.exhaust = flow_rates(model, batch)
        self.model, self.system, self.batch, self.n = model, model.system, batch, batch.n
        found = forward(model, batch)
        self.a, self.wheels, self.orbit = np.ascontiguousarray(found.v if a is None else a), found.wheels, found.orbit
        fastest = np.maximum(np.abs(batch.v).max(axis=1, initial=1.0), np.sqrt(np.abs(self.a).max(axis=1, initial=1.0)))
        self.h = REACH/fastest

    def at(self, s: float) -> Bodies:
        """All bodies after s steps along the motion."""
        model, d = self.model, (s*self.h)[:, None]
        rates = {"wheels": self.wheels, "orbit": self.orbit, "tanks": self.emptying}
        options: dict[str, Any] = {name: part + d*rates[name] for name, part in model.state_options(self.batch.state).items()}
        if model.system.tanks:                                              # see `clear_of_knots`
            options["tanks"] = np.clip(options["tanks"], 0.0, [tank.full for tank in model.system.tanks.values()])
        return bodies_in(model, model.batch(self.moved(d), self.batch.v + d*self.a, t=self.batch.t[:, 0], **options))

    def moved(self, d: Floats) -> Floats:
        """(states, nq): coordinates after times d; in orbit relative to the mass center, which moves with the propellant [B 94]."""
        q = moved_along(self.model, self.batch.q, d*self.batch.v)
        for body in self.system.bodies.values() if self.model.in_orbit and self.system.tanks else ():
            if body.parent is None:
                at, shift = self.model.places[body.name][0], self.orbit[:, :3] - self.batch.state.orbit[:, 3:]
                q[:, at:at + 3] -= d*(shift @ rotation_matrix(body.orient))
        return q

    @cached_property
    def here(self) -> Bodies:
        return self.at(0.0)

    @cached_property
    def around(self) -> list[tuple[float, Bodies]]:
        return [(weight, self.at(s)) for s, weight in STENCIL]

    def rate(self, of: Callable[[Bodies], Floats]) -> Floats:
        """(states, ...): the time derivative of a quantity of the bodies."""
        total = sum(weight*of(bodies) for weight, bodies in self.around)
        return np.asarray((np.asarray(total).T/self.h).T)

    def noise(self, size: Floats) -> Floats:
        return np.asarray(ROUNDING*size/self.h)

    # ---- kinematics ------------------------------------------------------------------------------------------------------------
    def places(self) -> Imbalance:
        """Positions of the bodies, joint by joint from the description, up to the first flexible body."""
        known: dict[str | None, tuple[Floats, Floats]] = {None: (np.zeros((self.n, 3)), np.tile(np.eye(3), (self.n, 1, 1)))}
        left, size = np.zeros(self.n), np.zeros(self.n)
        for body in depth_first(self.system):
            if body.parent in known and body.flexible is None:
                (x, R), at = known[body.parent], self.model.places[body.name][0]
                x, R = x + R @ np.asarray(body.at), R @ rotation_matrix(body.orient)
                x, R = across(body.joint, x, R, self.batch.q[:, at:at + body.joint.n_q])
                known[body.name], k = (x, R), list(self.system.bodies).index(body.name)
                apart = norm(x - self.here.position[:, k]), np.abs(R - self.here.attitude[:, k]).max(axis=(1, 2))
                left = np.maximum(left, np.maximum(*apart))
                size = np.maximum(size, norm(x))
        return Imbalance(left, size + 1.0, np.zeros(self.n))

    def no_motion(self) -> str:
        found = {"bodies without mass": not self.here.mass.sum(), "propellant that flows": self.emptying.any(),
                 "linearized flexible bodies": linearized(self.system)}
        return ", ".join(what for what, present in found.items() if present)

    def motion(self) -> Imbalance:
        """c' = p/m."""
        moving, ours = self.rate(lambda bodies: bodies.center_of_mass), self.here.momentum[:, 3:]/self.total[:, None]
        size = np.abs(self.here.com).max(axis=(1, 2), initial=0.0)
        turning = np.abs(self.batch.v).max(axis=1, initial=0.0)*size
        return Imbalance(norm(moving - ours), norm(ours) + 1e-3*turning, self.noise(size))

    def no_equations(self) -> str:
        return "closed loops" if self.model.constrained else "an orbit" if self.model.in_orbit else ""

    def equations(self) -> Imbalance:
        """The joint torques of the inverse dynamics for the accelerations, minus the applied ones."""
        free = np.flatnonzero(self.model.free)
        rest = self.model.changed(self.batch, torques=False)
        needed, bare = inverse(self.model, rest, self.a), inverse(self.model, rest, np.zeros_like(self.a))
        left = (needed - self.batch.inputs.tau)[:, free]
        terms = np.abs(needed)[:, free] + np.abs(bare)[:, free] + np.abs(self.batch.inputs.tau)[:, free]
        return Imbalance(np.abs(left).max(axis=1, initial=0.0), terms.max(axis=1, initial=0.0), np.zeros(self.n))

    # ---- energy ----------------------------------------------------------------------------------------------------------------
    def no_energy(self) -> str:
        """Effects whose power only the sweeps know."""
        system, inputs = self.system, self.model.named_inputs(self.batch.inputs.ports)
        slow = [name for name, coupling in system.couplings.items() if getattr(coupling, "damping", 0.0)]
        rests = [name for name, port in system.inputs.items() if port.rest and inputs[name].any()]
        loops = any(motion.torque != 0.0 or motion.damping for motion in free_motions(system) if motion.kind == f.ABOUT_OWN)
        found = {"dampers of couplings": slow, "friction": system.frictions,
                 "rests that inputs change": rests, "loops with balls that have dampers": loops,
                 "linearized flexible bodies": linearized(system),
                 "wrenches of the caller": self.batch.wrenches}
        return ", ".join(what for what, present in found.items() if present)

    def energy(self) -> Imbalance:
        """E' = P, minus the energy of expelled propellant."""
        kinetic, potential = self.rate(kinetic_energy), self.rate(attrgetter("potential_energy"))
        powers = self.powers() | {"exhaust": -self.exhaust[:, 6], "drift": self.drift_power()}
        terms = np.abs(kinetic) + np.abs(potential) + sum(np.abs(each) for each in powers.values())
        places = [self.here, *(bodies for _, bodies in self.around)]            # also valid at rest
        size = np.max([np.abs(bodies.kinetic_energy) + np.abs(bodies.potential_energy) for bodies in places], axis=0)
        return Imbalance(np.abs(kinetic + potential - sum(powers.values())), terms, self.noise(size))

    def powers(self) -> dict[str, Floats]:
        """(states,) [W]: powers of all non-potential forces, by cause."""
        v, system, t = self.batch.v, self.system, self.batch.t[:, 0]
        given = self.batch.inputs
        tau = np.concatenate([given.tau, given.motors], axis=1) + given.ports @ self.model.port_torques
        joints, damping = np.zeros(self.n), np.zeros(self.n)
        for body in system.bodies.values():
            at = self.model.places[body.name][1]
            for i in range(body.joint.n_v):
                joints += signal(body.joint.torque[i], t)*v[:, at + i] if body.joint.torque else 0.0
                damping -= body.joint.damping[i]*v[:, at + i]**2 if body.joint.damping else 0.0
            if body.n_modes:
                rate = v[:, at + body.joint.n_v:at + body.n_v]
                damping -= np.einsum("bi,ij,bj->b", rate, body.elastic.D, rate)
        held = [name for name in holdable(system) if name in self.model.holds]
        drives = drive_forces(self.model, self.batch) if held else {}
        names = list(self.model.names.v)
        inputs = np.einsum("bi,bi->b", tau, np.concatenate([v, self.batch.state.wheels], axis=1))
        return {"inputs": inputs + self.wrench_power(applied_wrenches.of_inputs(self.here, self.batch)), "joint torques": joints,
                "dampers": damping, "motors": self.motor_power(), "stops": self.stop_power(), "orbit": self.orbit_power(),
                "wrenches": self.wrench_power(applied_wrenches.described(self.here)), "loops": self.loop_power(),
                "force elements": self.element_power(),
                "drives": sum((force*v[:, names.index(name)] for name, force in drives.items()), np.zeros(self.n))}

    def motor_power(self) -> Floats:
        """From the description: torque times speed for a driven wheel, J Omega (e.omega)' for one with a held speed."""
        power, t, speeds = np.zeros(self.n), self.batch.t[:, 0], self.batch.state.wheels
        for j, wheel in enumerate(self.system.wheels.values()):
            if wheel.torque is not None:
                power += signal(wheel.torque, t)*speeds[:, j]
            else:
                power += wheel.inertia*speeds[:, j]*self.rate(partial(rate_about, wheel))
        return power

    def wrench_power(self, wrenches: Iterable[Applied]) -> Floats:
        return sum((np.einsum("bi,bi->b", moment, frame.rate) + np.einsum("bi,bi->b", force, frame.velocity)
                    for _, frame, moment, force in wrenches), np.zeros(self.n))

    def loop_power(self) -> Floats:
        """Of dampers and motors in the joints of loops: (torque - damping rate) rate."""
        power, loops = np.zeros(self.n), list(self.system.loops.values())
        for motion in free_motions(self.system):
            if motion.damping or motion.torque != 0.0:
                def along(bodies: Bodies, motion: Any = motion) -> Floats:
                    a, b = bodies.frame(loops[motion.loop].a), bodies.frame(loops[motion.loop].b)
                    return coordinate(motion, b.position - a.position, a.attitude, b.attitude)

                rate = self.rate(along)
                power += (signal(motion.torque, self.batch.t[:, 0]) - motion.damping*rate)*rate
        return power

    def drift_power(self) -> Floats:
        """Of the forces of loops and couplings along rates at which these open: of states that are not on them."""
        closures = self.batch.tables.fronts.closures
        if not closures:
            return np.zeros(self.n)
        multipliers = forward(self.model, self.batch, "order-n").multipliers[:, true_rows(closures)]
        return np.einsum("br,br->b", multipliers, evaluate_loops(self.model, self.batch, SPEED)[0])

    def element_power(self) -> Floats:
        """Of the loads of force elements, without the rate of their potential energy: of dampers, drag, ..."""
        chosen = [j for j, element in enumerate(self.system.elements.values()) if element.nonconservative_effects()]
        if not chosen:
            return np.zeros(self.n)
        return self.wrench_power(applied_wrenches.of_elements(self.here, chosen)) + self.rate(
            lambda bodies: bodies.elements[:, chosen, f.ELEMENT_ENERGY].sum(axis=1))

    def stop_power(self) -> Floats:
        """Of the dampers of stops in contact."""
        power = np.zeros(self.n)
        for stop in self.system.stops.values():
            if stop.name in self.model.marks:
                power -= stop.damping*self.batch.v[:, coordinate_place(self.system, stop.coordinate)[1]]**2
        return power

    def orbit_power(self) -> Floats:
        """In orbit the reference frame of all speeds moves: external forces also do work along the orbit."""
        if not self.model.in_orbit:
            return np.zeros(self.n)
        pushes = [push for *_, push in [*applied_wrenches.external(self.here, self.batch), *self.through_roots()]]
        force = sum(pushes, np.zeros((self.n, 3)))
        return np.einsum("bi,bi->b", force, self.batch.state.orbit[:, 3:])

    # ---- momentum --------------------------------------------------------------------------------------------------------------
    def no_momentum(self) -> str:
        """External effects that only the sweeps know."""
        system, roots = self.system, [body.joint for body in self.system.bodies.values() if body.parent is None]
        found = {"central gravity": isinstance(system.gravity, CentralGravity),
                 "loops to the world": any(loop.external_effects() for loop in system.loops.values()),
                 "linearized flexible bodies": linearized(system),
                 "loops and roots that do not float": system.loops and any(joint.kind != "free" for joint in roots),
                 "friction or couplings": system.frictions or system.couplings, "wrenches of the caller": self.batch.wrenches,
                 "roots that are held": any(system.bodies[each.body].parent is None for each in holdable(system).values()),
                 "roots with springs or dampers": any(any(joint.stiffness or ()) or any(joint.damping or ()) for joint in roots)}
        return ", ".join(what for what, present in found.items() if present)

    @cached_property
    def outside(self) -> tuple[Floats, Floats]:
        """External force, and moment about the mass center."""
        center, gravity = self.here.center_of_mass, np.asarray(self.system.gravity, float)
        force = np.outer(self.total, gravity)
        moment = np.zeros_like(force)
        elements = applied_wrenches.of_elements(self.here)
        for _, frame, couple, push in [*applied_wrenches.external(self.here, self.batch), *self.through_roots(), *elements]:
            force, moment = force + push, moment + couple + np.cross(frame.position - center, push)
        return force, moment

    def through_roots(self) -> list[Applied]:
        """Loads from the world: the given forces along a free joint, the reactions of other joints."""
        found, t, given = list[Applied](), self.batch.t[:, 0], self.batch.inputs
        tau = given.tau + (given.ports @ self.model.port_torques)[:, :self.model.nv]
        needed: Floats | None = None
        for k, body in enumerate(self.system.bodies.values()):
            if body.parent is not None:
                continue
            place, at = self.here.place(body.name, None), self.model.places[body.name][1]
            if body.joint.kind == "free":
                own = tau[:, at:at + 6] + np.stack([signal(each, t) for each in body.joint.torque or (0.0,)*6], axis=-1)
                pair = turn(place.attitude, own[:, 3:]), own[:, :3] @ rotation_matrix(body.orient).T
            else:
                if needed is None:
                    needed = reactions(self.model, self.batch, self.a)
                pair = turn(place.attitude, needed[:, k, :3]), turn(place.attitude, needed[:, k, 3:])
            found.append(Applied(body.name, place, *pair))
        return found

    @cached_property
    def sizes(self) -> tuple[Floats, Floats, Floats, Floats]:
        """Magnitudes of linear and angular momentum summed over the bodies, and of their rates."""
        (linear, angular), arm = self.here._momenta, np.linalg.norm(
            self.here.frames.position - self.here.center_of_mass[:, None], axis=2).max(axis=1, initial=0.0)
        changes = [np.abs(self.rate(lambda bodies, i=i: bodies._momenta[i])).sum(axis=(1, 2)) for i in (0, 1)]  # type: ignore[misc]
        held = np.array([wheel.inertia for wheel in self.system.wheels.values()])
        spin, spun = (np.abs(speeds) @ held if len(held) else np.zeros(self.n) for speeds in (self.batch.state.wheels, self.wheels))
        total = np.abs(linear).sum(axis=(1, 2))
        return (total, np.abs(angular).sum(axis=(1, 2)) + arm*total + spin, changes[0] + STILL*self.total,
                changes[1] + arm*changes[0] + spun + STILL*self.total*arm)

    @property
    def total(self) -> Floats:
        """(states,): mass of all."""
        return np.broadcast_to(self.here.mass.sum(axis=-1), (self.n,))

    def momentum(self) -> Imbalance:
        """p' = F, minus the momentum of expelled propellant."""
        (rate, force), (size, _, change, _) = (self.rate(lambda bodies: bodies.momentum[:, 3:]), self.outside[0]), self.sizes
        force = force - self.exhaust[:, 3:6]
        fastest = self.total*np.abs(self.here.frames.velocity).max(axis=(1, 2), initial=0.0)
        return Imbalance(norm(rate - force), norm(rate) + norm(force) + change, self.noise(size + fastest))

    def angular_momentum(self) -> Imbalance:
        """H' = N about the present mass center, minus the momentum of expelled propellant."""
        center, (_, size, _, change) = self.here.center_of_mass, self.sizes
        rate = self.rate(lambda bodies: bodies.momentum[:, :3] + np.cross(bodies.center_of_mass - center, bodies.momentum[:, 3:]))
        moment = self.outside[1] - (self.exhaust[:, :3] - np.cross(center, self.exhaust[:, 3:6]))
        return Imbalance(norm(rate - moment), norm(rate) + norm(moment) + change, self.noise(size))


def kinetic_energy(bodies: Bodies) -> Floats:
    """In orbit also for states in which the bodies have momentum relative to their mass center, which no run has."""
    if not bodies.model.in_orbit:
        return bodies.kinetic_energy
    return bodies.kinetic_energy + np.einsum("bi,bi->b", bodies.momentum[:, 3:], bodies.batch.state.orbit[:, 3:])


def across(joint: Joint, x: Floats, R: Floats, q: Floats) -> tuple[Floats, Floats]:
    """Position and attitude outboard of a joint: its translations along axes of the parent, then its rotations."""
    slides = len(joint.translations)
    x = x + np.einsum("bij,bj->bi", R, q[:, :slides] @ np.asarray(joint.translations, float).reshape(slides, 3))
    if joint.spherical:
        return x, np.einsum("bij,bjk->bik", R, Rotation.from_quat(q[:, slides:]).as_matrix())
    for i, axis in enumerate(joint.rotations):
        turned = Rotation.from_rotvec(q[:, slides + i, None]*np.asarray(axis, float)).as_matrix()
        R = np.einsum("bij,bjk->bik", R, turned)
    return x, R


def rate_about(wheel: Wheel, bodies: Bodies) -> Floats:
    """(states,): e.omega of the body or node that carries a wheel."""
    place = bodies.place(wheel.body, wheel.node)
    return np.asarray(np.einsum("bij,j,bi->b", place.attitude, np.asarray(wheel.axis), place.rate))


def norm(vectors: Floats) -> Floats:
    return np.asarray(np.linalg.norm(vectors, axis=-1))


def moved_along(model: CompiledModel, q: Floats, d: Floats) -> Floats:
    """(states, nq): coordinates after the motion d (states, nv): quaternions turn by exp(d) in the child's axes."""
    ((places, speeds), quaternions), found = changing_places(model), q.copy()
    found[:, places] += d[:, speeds]
    for at, v in quaternions:
        found[:, at:at + 4] = (Rotation.from_quat(q[:, at:at + 4])*Rotation.from_rotvec(d[:, v:v + 3])).as_quat()
    return found


CLEAR = 1e-2                # s of flow: distance of balances from knots of the tank properties, where slopes jump


def flow_rates(model: CompiledModel, batch: Batch) -> tuple[Floats, Floats]:
    """(states, tanks): m'; (states, 7): rates of the angular and linear momentum (world) and the energy of the exhaust."""
    running = model.with_law_states(0)
    layout, shared = running.layout, batch.state.layout.tanks.stop
    x = np.zeros((batch.n, layout.nx))
    x[:, :shared] = batch.x[:, :shared]
    rows = running.changed(replace(batch, state=layout.view(x)))
    out = np.empty((batch.n, layout.nx))
    running.call(calls.state_rates, rows, out)
    return out[:, layout.tanks], out[:, layout.exhaust]


def clear_of_knots(model: CompiledModel, batch: Batch) -> Batch:
    """The same states with slightly changed masses in tanks that are full, empty, or at a knot of their properties."""
    x = batch.x.copy()
    masses, step = batch.state.layout.view(x).tanks, CLEAR*np.abs(flow_rates(model, batch)[0])
    for tank, own, reach in zip(model.system.tanks.values(), masses.T, step.T, strict=True):
        knots = tank.knots()
        near = np.abs(own[:, None] - knots).argmin(axis=1)
        offset = np.where(near == len(knots) - 1, -1.0, 1.0)*reach
        own[:] = np.where(np.abs(own - knots[near]) < reach, np.clip(knots[near] + offset, 0.0, tank.full), own)
    return replace(batch, state=batch.state.layout.view(x))
