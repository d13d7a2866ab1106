"""Flexible bodies in results: their modal coordinates and their nodes.

Force elements in results: what is recorded of them, and which elements each variable counts.

The recorded states put through the model again: poses, accelerations, reactions, loop forces, energies, deformations.

They are passed in chunks, so that memory stays bounded.

The state of a run at one of its samples, as the calls of a model take it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bough import compile as builders
from bough.analyze.body_motion import Bodies
from bough.compile.batch import evaluating
from bough.compile.coordinates import coordinate_place, holdable
from bough.compile.layout import EXHAUST, run_states
from bough.describe import Friction, System
from bough.describe.part import Recorded
from bough.describe.parts import ELEMENTS, Element
from bough.errors import NotFiniteError, StateError
from bough.integrate.compiled.loops import SAME
from bough.integrate.trajectory import Trajectory
from bough.model import Model
from bough.progress import working

if TYPE_CHECKING:
    from bough.analyze.internal_loads import CutLoads
    from bough.flex import FlexibleBody, Recovery

Array = NDArray[Any]


def flexible_bodies(system: System) -> dict[str, FlexibleBody]:
    """Those of a system by name, in its order."""
    return {name: body.flexible for name, body in system.bodies.items() if body.flexible is not None}


def recoveries(system: System, what: str = "stress") -> dict[str, Recovery]:
    """What recovers stresses (or strains), by flexible body that has it."""
    known = {name: body.recovery for name, body in flexible_bodies(system).items() if body.recovery is not None}
    return {name: each for name, each in known.items() if len(getattr(each, what))}


def modal_coordinates(system: System, q: Array) -> dict[str, Array]:
    """Those of each flexible body (..., n), out of all coordinates (..., nq)."""
    found, at = {}, 0
    for name, body in system.bodies.items():
        at += body.n_q
        if body.flexible is not None:
            found[name] = q[..., at - body.n_modes : at]
    return found


def outermost(body: FlexibleBody) -> int | None:
    """Of the nodes that the modes displace, the one that is farthest from where the joint holds the body; none, if none moves."""
    start = np.zeros(3) if body.inboard is None else body.nodes.position[body.nodes.index(body.inboard)]
    distance = np.linalg.norm(body.nodes.position - start, axis=1)
    return max(_moving(body.nodes.phi), key=lambda i: float(distance[i]), default=None)


def moving_nodes(body: FlexibleBody) -> list[int]:
    """All but those that the modes neither displace nor turn."""
    return sorted({*_moving(body.nodes.phi), *_moving(body.nodes.psi)})


def _moving(shapes: Array) -> list[int]:
    sizes = np.abs(shapes).max(axis=(1, 2), initial=0.0)
    return np.flatnonzero(sizes > 1e-12 * sizes.max(initial=0.0)).tolist()


# ---- samples ---------------------------------------------------------------------------------------------------------------
VARIABLES: dict[str, Recorded] = {name: meaning for kind in ELEMENTS for name, meaning in kind.recorded.items()}
AXES = tuple(dict.fromkeys(meaning.dims[0] for meaning in VARIABLES.values()))     # each counts elements


def nouns(axis: str) -> str:
    """The kinds of elements along an axis, in words."""
    return " or ".join(kind.noun for kind in ELEMENTS if any(meaning.dims[0] == axis for meaning in kind.recorded.values()))


def along(system: System, axis: str) -> dict[str, Element]:
    """The elements of a system along an axis of variables."""
    return {name: element for name, element in system.elements.items()
            if any(meaning.dims[0] == axis for meaning in element.recorded.values())}  # fmt: skip


def element_values(bodies: Bodies) -> dict[str, np.ndarray]:
    """Of each variable, (states, elements, ...)."""
    system, states = bodies.model.system, len(bodies.elements)
    found: dict[str, list[np.ndarray]] = {name: [] for name in VARIABLES}
    for element, each in zip(system.elements.values(), builders.element_tables.exerted(bodies.elements), strict=True):
        for name, values in element.values(each, bodies).items():
            found[name].append(values)
    return {name: np.stack(parts, axis=1) if parts else np.zeros((states, 0)) for name, parts in found.items()}


# ---- samples ---------------------------------------------------------------------------------------------------------------
CHUNK = 4_000_000  # floats that the kinematics of a chunk may take
_FLOATS_PER_BODY = 60


class Rows(NamedTuple):
    """Times, states, controls and the work of the inputs, one row per sample."""

    t: Array
    x: Array
    u: Array
    work: Array
    friction: Array
    exhaust: Array


class Samples:
    """One chunk of states of one model; each thing is computed once, when it is first needed."""

    model: Model
    rows: Rows
    q: Array
    v: Array
    wheels: Array
    orbit: Array
    tanks: Array
    tau: Array

    def __init__(self, model: Model, rows: Rows, *, accelerated: bool) -> None:
        state, inputs = model.state(rows.x), model.input_layout.view(rows.u)
        self.model, self.rows, self.accelerated = model, rows, accelerated
        self.q, self.v, self.wheels, self.orbit, self.tau = state.q, state.v, state.wheels, state.orbit, inputs.tau
        self.tanks = state.tanks
        self.options: dict[str, Any] = {"t": rows.t}
        motors = inputs.motors
        if model.system.frictions:
            from_joints, from_wheels = bristle_torques(self)
            self.tau, motors = self.tau + from_joints, motors + from_wheels
        if model.nw:
            self.options |= {"wheels": self.wheels, "motors": motors}
        if model.system.inputs:
            self.options["inputs"] = model.named_inputs(inputs.ports)
        if model.in_orbit:
            self.options["orbit"] = self.orbit
        if model.system.tanks:
            self.options["tanks"] = self.tanks

    @cached_property
    def a(self) -> Array:
        """(rows, nv) accelerations."""
        return self.model.forward_dynamics(self.q, self.v, self.tau, **self.options)

    @cached_property
    def bodies(self) -> Bodies:
        """The motion of all bodies; with their accelerations, if those are among what is wanted."""
        return self.model.bodies(self.q, self.v, self.a if self.accelerated else np.zeros_like(self.v), **self.options)

    @cached_property
    def torques(self) -> Array:
        """(rows, nv + nw) of joints and motors: those of the description, of the controller and of inputs."""
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
    def wheel_inertias(self) -> Array:
        return np.array([wheel.inertia for wheel in self.model.system.wheels.values()])

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
        gaps, none = self.model.loop_gaps(self.q), np.zeros((len(self.q), 1))          # those that give way are never off
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
        """(rows,) by coordinate that is held."""
        return self.model.drive_forces(self.q, self.v, self.tau, **self.options)

    @cached_property
    def joint_loads(self) -> Array:
        """(rows, bodies, 6)."""
        return self.model.reactions(self.q, self.v, self.a, self.tau, **self.options)

    def drive_forces(self) -> Array:
        """(rows, coordinates that can be held)."""
        free = np.full(len(self.rows.t), np.nan)
        return np.stack([self.drives.get(name, free) for name in holdable(self.model.system)], axis=1)

    def reactions(self) -> Array:
        """(rows, bodies, 6)."""
        return self.joint_loads

    def internal_loads(self, **cut: Any) -> CutLoads:
        return self.model.internal_loads(self.q, self.v, self.a, self.tau, **cut, **self.options)

    @cached_property
    def _elements(self) -> dict[str, Array]:
        return element_values(self.bodies)

    def element(self, name: str) -> Array:
        """(rows, elements, ...) of a variable of force elements."""
        return self._elements[name]

    def nodes(self, what: str) -> Array:
        """(rows, nodes, ...) of the nodes of all flexible bodies."""
        return np.concatenate([getattr(self.bodies.nodes[name], what) for name in flexible_bodies(self.model.system)], axis=1)

    def deflections(self, deflection: Callable[[FlexibleBody, Array], Array]) -> Array:
        """(rows, nodes, 3): what the modal coordinates do to the nodes of all flexible bodies."""
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


def evaluate(trajectory: Trajectory, wanted: Mapping[str, Derive], *, accelerated: bool) -> dict[str, Array]:
    """Each wanted quantity of all samples, (run, time, ...); NaN where a run diverged."""
    (runs, samples), done = trajectory.x.shape[:2], 0
    found: dict[str, list[Array]] = {name: [] for name in wanted}
    bar, silent = working(f"{trajectory.model.system.name}: deriving"), np.errstate(over="ignore", invalid="ignore")
    with bar as progress, silent, evaluating(runs * samples, runs, trajectory.lanes):
        for model, rows in _segments(trajectory):
            for chunk in _chunks(model, rows):
                for name, values in _evaluate_chunk(model, chunk, wanted, accelerated).items():
                    found[name].append(values)
                done += len(chunk.t)
                progress(done / (runs * samples))
    whole = {name: np.concatenate(parts) for name, parts in found.items()}
    return {name: array.reshape(runs, samples, *array.shape[1:]) for name, array in whole.items()}


def read(trajectory: Trajectory, wanted: Mapping[str, Derive]) -> dict[str, Array]:
    """Quantities that are parts of the states and controls themselves, (run, time, ...); the model is not evaluated."""
    runs, samples, _ = trajectory.x.shape
    rows = Samples(trajectory.model, _all_rows(trajectory), accelerated=False)
    return {name: (values := derive(rows)).reshape(runs, samples, *values.shape[1:]) for name, derive in wanted.items()}


def _all_rows(trajectory: Trajectory) -> Rows:
    """Of all runs, one after the other."""
    runs, samples, _ = trajectory.x.shape
    x, u = (array.reshape(runs * samples, -1) for array in (trajectory.x, trajectory.u))
    return Rows(np.tile(trajectory.t, runs), x, u, trajectory.work.reshape(-1), trajectory.friction.reshape(runs * samples, -1, 3),
                trajectory.exhaust.reshape(runs * samples, -1))


def _segments(trajectory: Trajectory) -> Iterator[tuple[Model, Rows]]:
    """All rows with the one model; or the rows of each run with its own parameters, and with the constraints that were in force."""
    if not trajectory.parameters and not trajectory.spans:
        yield trajectory.model, _all_rows(trajectory)
        return
    for run in range(len(trajectory.x)):
        member = {key: values[run] for key, values in (trajectory.parameters or {}).items()}
        model = trajectory.model.with_parameters(member) if member else trajectory.model
        begin = -np.inf
        for end, then in trajectory.spans[run] if trajectory.spans else [(np.inf, model)]:
            inside = (trajectory.t > begin * (1.0 + SAME)) & (trajectory.t <= end * (1.0 + SAME))
            if inside.any():
                parts = trajectory.x, trajectory.u, trajectory.work, trajectory.friction, trajectory.exhaust
                rows = Rows(trajectory.t[inside], *(each[run, inside] for each in parts))
                yield model.switched_as(then), rows
            begin = end


def _evaluate_chunk(model: Model, chunk: Rows, wanted: Mapping[str, Derive], accelerated: bool) -> dict[str, Array]:
    finite = np.asarray(np.isfinite(chunk.x).all(axis=1) & np.isfinite(chunk.u).all(axis=1))
    while True:
        samples, found = Samples(model, _valid(model, chunk, finite), accelerated=accelerated), {}
        try:
            for name, derive in wanted.items():
                found[name] = np.array(derive(samples))
                found[name][~finite] = np.nan
            return found
        except NotFiniteError as error:                                 # the last states before a run diverged
            finite[error.rows] = False


def _chunks(model: Model, rows: Rows) -> Iterator[Rows]:
    longest = max(1, CHUNK // _floats(model))
    for part in np.array_split(np.arange(len(rows.t)), -(-len(rows.t) // longest)):
        yield Rows(*(array[part[0] : part[-1] + 1] for array in rows))


def _floats(model: Model) -> int:
    """Roughly how many floats the kinematics and deformation of one state take."""
    bodies = flexible_bodies(model.system).values()
    modal = sum(_FLOATS_PER_BODY * body.n_modes + 3 * (1 + body.n_modes) * len(body.nodes) for body in bodies)
    points = sum(len(body.deformed_outline(np.zeros(body.n_modes))) for body in bodies)
    places = 1 + len(model.names.bodies) + sum(len(body.nodes) for body in bodies)
    jacobian = 4 * model.tables.fronts.size * (model.nv + model.tables.fronts.size)         # of the loops, and its factors
    return _FLOATS_PER_BODY * places + modal + 9 * points + jacobian


def _valid(model: Model, chunk: Rows, finite: Array) -> Rows:
    """Rows that the model accepts: diverged states are replaced; their results become NaN."""
    if finite.all():
        return chunk
    start = [model.q0, model.v0, model.wheel_speeds, _initial_orbit(model), model.tank_masses]
    x = np.where(finite[:, None], chunk.x, np.concatenate([np.asarray(part, float) for part in start]))
    return chunk._replace(x=x, u=np.where(finite[:, None], chunk.u, 0.0))


def _initial_orbit(model: Model) -> list[float]:
    gravity = model.system.gravity
    return [] if isinstance(gravity, tuple) else [*gravity.position, *gravity.velocity]


def continuous(series: Array, axis: int) -> Array:
    """q and -q are the same rotation: pick the one closer to the sample before. The first has a scalar part >= 0."""
    q = np.moveaxis(series, axis, 0)
    flips = np.where(np.einsum("t...i,t...i->t...", q[1:], q[:-1]) < 0, -1.0, 1.0)
    first = np.where(q[:1, ..., 3] < 0, -1.0, 1.0)
    signs = np.cumprod(np.concatenate([first, flips]), axis=0)
    return np.moveaxis(q * signs[..., None], 0, axis)


def bristle_torques(samples: Samples) -> tuple[Array, Array]:
    """(rows, nv) and (rows, wheels): what frictions whose force is a state exert, which calls of the model do not know."""
    joints, wheels, system = np.zeros_like(samples.v), np.zeros_like(samples.wheels), samples.model.system
    for j, friction in enumerate(system.frictions.values()):
        if friction.law == "dahl":
            to, at = friction_place(samples, friction)
            (wheels if to else joints)[:, at] -= samples.rows.friction[:, j, 0]
    return joints, wheels


def friction_place(samples: Samples, friction: Friction) -> tuple[bool, int]:
    """Whether it is in a wheel; its entry of the wheels' speeds, or of v."""
    system = samples.model.system
    if friction.coordinate in system.wheels:
        return True, list(system.wheels).index(friction.coordinate)
    return False, coordinate_place(system, friction.coordinate)[1]


def state_at(trajectory: Trajectory, t: float, run: int = 0) -> tuple[Model, dict[str, Any]]:
    """The model that held then, and q, v, controls, wheels, orbit, time and states of laws at the sample nearest to t."""
    if not 0 <= run < len(trajectory.x):
        raise StateError(f"run is {run}; the result has {len(trajectory.x)}: give 0 to {len(trajectory.x) - 1}")
    first, last = float(trajectory.t[0]), float(trajectory.t[-1])
    if not first - 1e-9 <= t <= last + 1e-9 * max(1.0, abs(last)):
        raise StateError(f"t is {t!r} s; the run was recorded from {first:g} to {last:g} s: give a time between")
    sample = int(np.abs(trajectory.t - t).argmin())
    model = trajectory.model
    if trajectory.parameters is not None:
        model = model.with_parameters({name: values[run] for name, values in trajectory.parameters.items()})
    for until, held in trajectory.spans[run] if trajectory.spans else ():
        if trajectory.t[sample] <= until:
            model = model.switched_as(held)
            break
    state, controls = model.state(trajectory.x[run, sample]), trajectory.u[run, sample]
    nv, nw = model.nv, model.nw
    own = run_states(model.system) + EXHAUST*bool(model.system.tanks)           # before the states of laws
    laws = trajectory.law_states[run, sample, own:] if trajectory.law_states.size else np.zeros(0)
    return model, {
        "q": state.q, "v": state.v, "tau": controls[:nv], "inputs": model.named_inputs(controls[nv + nw:]) or None,
        "wheels": state.wheels if nw else None, "motors": controls[nv:nv + nw] if nw else None,
        "orbit": state.orbit if model.in_orbit else None, "t": float(trajectory.t[sample]),
        "tanks": state.tanks if model.system.tanks else None,
        "law_states": laws[:len(laws) - trajectory.audited] if len(laws) else None,
    }  # fmt: skip
