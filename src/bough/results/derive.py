"""What follows from recorded states: poses, velocities, accelerations, reactions, loops, energies, momenta, deformations.

The model answers for many states at once, in lanes; they are asked for in chunks, so that memory stays bounded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from bough.compile.coordinates import holdable
from bough.progress import working
from bough.results.deflections import displacements, flexible_bodies, modal_coordinates, rotations
from bough.results.elements import limits, tensions, wrenches
from bough.results.loops import largest_gaps
from bough.results.quaternions import continuous, quaternions

if TYPE_CHECKING:
    from bough.analyze.cut_loads import CutLoads
    from bough.flex import FlexibleBody
    from bough.integrate.trajectory import Trajectory
    from bough.model import Model

CHUNK = 4_000_000  # floats that a chunk's kinematics may take
_FLOATS_PER_BODY = 60
_LEAST = 4  # states in a chunk: with fewer, the model would need its one-lane kernels too


class Rows(NamedTuple):
    """Times, states and controls, one row for each sample."""

    t: np.ndarray
    x: np.ndarray
    u: np.ndarray


class Answers:
    """What a model says about one chunk of rows, each part asked for once and when it is needed."""

    def __init__(self, model: Model, rows: Rows, accelerated: bool) -> None:
        state, inputs = model.state(rows.x), model.input_layout.view(rows.u)
        self.model, self.rows = model, rows
        self.q, self.v, self.wheels, self.tau = state.q, state.v, state.wheels, inputs.tau
        self.options: dict[str, Any] = {"t": rows.t}
        if model.nw:
            self.options |= {"wheels": self.wheels, "motors": inputs.motors}
        if model.in_orbit:
            self.options["orbit"] = state.orbit
        self.a = np.zeros_like(self.v)
        if accelerated:
            self.a = model.forward_dynamics(self.q, self.v, self.tau, **self.options)
        self.bodies = model.bodies(self.q, self.v, self.a, **self.options)

    @cached_property
    def loop_forces(self) -> dict[str, np.ndarray]:
        """(rows, 6) by loop."""
        return self.model.constraint_forces(self.q, self.v, self.tau, **self.options)

    @cached_property
    def gaps(self) -> tuple[np.ndarray, np.ndarray]:
        """(rows, loops) each: of translations [m], of rotations [rad]."""
        return largest_gaps(self.model, self.q)

    def drives(self) -> np.ndarray:
        """(rows, coordinates that can be held)."""
        told = self.model.drive_forces(self.q, self.v, self.tau, **self.options)
        loose = np.full(len(self.rows.t), np.nan)
        return np.stack([told.get(name, loose) for name in holdable(self.model.system)], axis=1)

    def reactions(self) -> np.ndarray:
        return self.model.reactions(self.q, self.v, self.a, self.tau, **self.options)

    def internal_loads(self, **choice: Any) -> CutLoads:
        return self.model.internal_loads(self.q, self.v, self.a, self.tau, **choice, **self.options)

    def nodes(self, what: str) -> np.ndarray:
        """Of the nodes of all flexible bodies: (rows, nodes, ...)."""
        return np.concatenate([getattr(self.bodies.nodes[name], what) for name in flexible_bodies(self.model.system)], axis=1)

    def deformed(self, how: Callable[[FlexibleBody, np.ndarray], np.ndarray]) -> np.ndarray:
        """What modal coordinates do to the nodes of all flexible bodies: (rows, nodes, 3)."""
        eta = modal_coordinates(self.model.system, self.q)
        return np.concatenate([how(body, eta[name]) for name, body in flexible_bodies(self.model.system).items()], axis=1)

    def outline(self) -> np.ndarray:
        """The points of all flexible bodies: (rows, points, 3)."""
        return np.concatenate([self.bodies.shape(name) for name in flexible_bodies(self.model.system)], axis=1)

    def total_energy(self) -> np.ndarray:
        return np.asarray(self.bodies.kinetic_energy + self.bodies.potential_energy)


Ask = Callable[[Answers], np.ndarray]
NEEDS_ACCELERATIONS = {"acceleration", "reactions"}
DERIVED: dict[str, dict[str, Ask]] = {
    "pose": {
        "position": lambda told: told.bodies.position,
        "attitude": lambda told: quaternions(told.bodies.attitude),
    },
    "velocity": {
        "velocity": lambda told: told.bodies.velocity,
        "angular_velocity": lambda told: told.bodies.rate,
    },
    "acceleration": {
        "a": lambda told: told.a,
        "acceleration": lambda told: told.bodies.acceleration[..., 3:],
        "angular_acceleration": lambda told: told.bodies.acceleration[..., :3],
    },
    "reactions": {"reaction": lambda told: told.reactions()},
    "loops": {
        "constraint_force": lambda told: np.stack(list(told.loop_forces.values()), axis=1),
        "loop_gap": lambda told: told.gaps[0],
        "loop_gap_angle": lambda told: told.gaps[1],
    },
    "drives": {"drive_force": lambda told: told.drives()},
    "elements": {
        "line_tension": lambda told: tensions(told.bodies),
        "element_force": lambda told: wrenches(told.bodies),
        "element_limit": lambda told: limits(told.bodies),
    },
    "energy": {
        "kinetic_energy": lambda told: told.bodies.kinetic_energy,
        "potential_energy": lambda told: told.bodies.potential_energy,
        "total_energy": lambda told: told.total_energy(),
    },
    "momentum": {
        "angular_momentum": lambda told: told.bodies.momentum[:, :3],
        "linear_momentum": lambda told: told.bodies.momentum[:, 3:],
        "center_of_mass": lambda told: told.bodies.center_of_mass,
    },
    "nodes": {
        "node_position": lambda told: told.nodes("position"),
        "node_velocity": lambda told: told.nodes("velocity"),
        "node_attitude": lambda told: quaternions(told.nodes("attitude")),
        "node_deflection": lambda told: told.deformed(displacements),
        "node_rotation": lambda told: told.deformed(rotations),
    },
    "strain": {"strain_energy": lambda told: told.bodies.strain_energy},
    "shapes": {"outline": lambda told: told.outline()},
}


def derive(trajectory: Trajectory, records: Iterable[str]) -> dict[str, np.ndarray]:
    """The variables of these records, each (run, time, ...)."""
    wanted = [name for name in records if name in DERIVED]
    if not wanted:
        return {}
    asked = {name: ask for record in wanted for name, ask in DERIVED[record].items()}
    values = answers(trajectory, asked, accelerated=not NEEDS_ACCELERATIONS.isdisjoint(wanted))
    for name in ("attitude", "node_attitude"):
        if name in values:
            values[name] = continuous(values[name], axis=1)
    return values


def answers(trajectory: Trajectory, asked: dict[str, Ask], *, accelerated: bool) -> dict[str, np.ndarray]:
    """What is asked about all states, each (run, time, ...); NaN where a run diverged."""
    (runs, samples), done = trajectory.x.shape[:2], 0
    found: dict[str, list[np.ndarray]] = {name: [] for name in asked}
    with working(f"{trajectory.model.system.name}: deriving") as told, np.errstate(over="ignore", invalid="ignore"):
        for model, rows in _runs(trajectory):
            for chunk in _chunks(model, rows):
                for name, values in _derive_chunk(model, chunk, asked, accelerated).items():
                    found[name].append(values)
                done += len(chunk.t)
                told(done / (runs * samples))
    whole = {name: np.concatenate(parts) for name, parts in found.items()}
    return {name: array.reshape(runs, samples, *array.shape[1:]) for name, array in whole.items()}


def _runs(trajectory: Trajectory) -> Iterable[tuple[Model, Rows]]:
    """All rows with the one model, or those of each member with its own; where events switch, with what then held."""
    runs, samples, _ = trajectory.x.shape
    if not trajectory.parameters and not trajectory.spans:
        x, u = (array.reshape(runs * samples, -1) for array in (trajectory.x, trajectory.u))
        yield trajectory.model, Rows(np.tile(trajectory.t, runs), x, u)
        return
    for run in range(runs):
        member = {key: values[run] for key, values in (trajectory.parameters or {}).items()}
        model = trajectory.model.with_parameters(member) if member else trajectory.model
        begin = -np.inf
        for end, then in trajectory.spans[run] if trajectory.spans else [(np.inf, model)]:
            held = (trajectory.t > begin) & (trajectory.t <= end)
            if held.any():
                rows = Rows(trajectory.t[held], trajectory.x[run, held], trajectory.u[run, held])
                yield model.switched(then.holds, then.contacts), rows
            begin = end


def _derive_chunk(model: Model, chunk: Rows, asked: dict[str, Ask], accelerated: bool) -> dict[str, np.ndarray]:
    """NaN where a run diverged; its last states are huge."""
    n, fit = len(chunk.t), np.isfinite(chunk.x).all(axis=1)
    told, found = Answers(model, _sound(model, chunk, fit), accelerated), {}
    for name, ask in asked.items():
        found[name] = np.array(ask(told)[:n])
        found[name][~fit] = np.nan
    return found


def _chunks(model: Model, rows: Rows) -> Iterable[Rows]:
    longest = max(_LEAST, CHUNK // _floats(model))
    for part in np.array_split(np.arange(len(rows.t)), -(-len(rows.t) // longest)):
        yield Rows(*(array[part[0] : part[-1] + 1] for array in rows))


def _floats(model: Model) -> int:
    """How many a state's kinematics and deformation take, roughly."""
    bodies = flexible_bodies(model.system).values()
    modal = sum(_FLOATS_PER_BODY * body.n_modes + 3 * (1 + body.n_modes) * len(body.nodes) for body in bodies)
    points = sum(len(body.deformed_outline(np.zeros(body.n_modes))) for body in bodies)
    places = 1 + len(model.names.bodies) + sum(len(body.nodes) for body in bodies)
    jacobian = 4 * model.tables.fronts.size * (model.nv + model.tables.fronts.size)         # of the loops, and its factors
    return _FLOATS_PER_BODY * places + modal + 9 * points + jacobian


def _sound(model: Model, chunk: Rows, fit: np.ndarray) -> Rows:
    """Rows that a model accepts: a diverged state is replaced (its results become NaN), a short chunk is filled up."""
    t, x, u = chunk
    if not fit.all():
        x = np.where(fit[:, None], x, model.layout.pack(model.q0, model.v0, model.wheel_speeds, model.initial_orbit))
        u = np.where(fit[:, None], u, 0.0)
    missing = max(0, _LEAST - len(t))
    return Rows(*(np.concatenate([array, *[array[-1:]] * missing]) for array in (t, x, u)))
