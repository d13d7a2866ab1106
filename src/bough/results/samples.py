"""Quantities derived from the recorded states: poses, accelerations, reactions, loop forces, energies, deformations.

States are evaluated in chunks, so that memory stays bounded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bough import compile as builders
from bough.analyze.body_motion import Bodies
from bough.compile.batch import Batch, evaluating
from bough.compile.coordinates import coordinate_place, holdable
from bough.compile.layout import EXHAUST, run_states
from bough.describe import Friction, System
from bough.describe.part import Recorded
from bough.describe.parts import ELEMENTS, Element
from bough.errors import NotFiniteError, StateError
from bough.integrate.compiled.loops import SAME
from bough.integrate.start import member_model
from bough.integrate.trajectory import Trajectory
from bough.model import Model
from bough.progress import working

if TYPE_CHECKING:
    from bough.analyze.internal_loads import CutLoads
    from bough.flex import FlexibleBody, Recovery

Array = NDArray[Any]


def flexible_bodies(system: System) -> dict[str, FlexibleBody]:
    """The flexible bodies of a system by name, in its order."""
    return {name: body.flexible for name, body in system.bodies.items() if body.flexible is not None}


def recoveries(system: System, what: str = "stress") -> dict[str, Recovery]:
    """Recovery of stresses (or strains), by flexible body that has it."""
    known = {name: body.recovery for name, body in flexible_bodies(system).items() if body.recovery is not None}
    return {name: each for name, each in known.items() if len(getattr(each, what))}


def modal_coordinates(system: System, q: Array) -> dict[str, Array]:
    """The modal coordinates of each flexible body (..., n), from all coordinates (..., nq)."""
    found, at = {}, 0
    for name, body in system.bodies.items():
        at += body.n_q
        if body.flexible is not None:
            found[name] = q[..., at - body.n_modes : at]
    return found


def outermost(body: FlexibleBody) -> int | None:
    """The displaced node farthest from the joint of the body; None if no node is displaced."""
    start = np.zeros(3) if body.inboard is None else body.nodes.position[body.nodes.index(body.inboard)]
    distance = np.linalg.norm(body.nodes.position - start, axis=1)
    return max(_moving(body.nodes.phi), key=lambda i: float(distance[i]), default=None)


def moving_nodes(body: FlexibleBody) -> list[int]:
    """The nodes that the modes displace or rotate."""
    return sorted({*_moving(body.nodes.phi), *_moving(body.nodes.psi)})


def _moving(shapes: Array) -> list[int]:
    sizes = np.abs(shapes).max(axis=(1, 2), initial=0.0)
    return np.flatnonzero(sizes > 1e-12 * sizes.max(initial=0.0)).tolist()


# ---- force elements --------------------------------------------------------------------------------------------------------
VARIABLES: dict[str, Recorded] = {name: meaning for kind in ELEMENTS for name, meaning in kind.recorded.items()}
NOUNS = {axis: " or ".join(kind.noun for kind in ELEMENTS if any(meaning.dims[0] == axis for meaning in kind.recorded.values()))
         for axis in dict.fromkeys(meaning.dims[0] for meaning in VARIABLES.values())}      # by axis of elements, their kinds


def along(system: System, axis: str) -> dict[str, Element]:
    """The elements of a system along an axis of variables."""
    return {name: element for name, element in system.elements.items()
            if any(meaning.dims[0] == axis for meaning in element.recorded.values())}


# ---- samples ---------------------------------------------------------------------------------------------------------------
CHUNK = 4_000_000  # floats for the kinematics of a chunk
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


def evaluate(trajectory: Trajectory, wanted: Mapping[str, Derive], *, accelerated: bool) -> dict[str, Array]:
    """Each wanted quantity of all samples, (run, time, ...); NaN where a run diverged."""
    (runs, samples), done = trajectory.x.shape[:2], 0
    found: dict[str, list[Array]] = {name: [] for name in wanted}
    bar, silent = working(f"{trajectory.model.system.name}: deriving"), np.errstate(over="ignore", invalid="ignore")
    with bar as progress, silent, evaluating(runs * samples, runs, trajectory.lanes):
        for model, rows in segments(trajectory):
            for chunk in chunks(model, rows):
                for name, values in _evaluate_chunk(model, chunk, wanted, accelerated).items():
                    found[name].append(values)
                done += len(chunk.t)
                progress(done / (runs * samples))
    whole = {name: np.concatenate(parts) for name, parts in found.items()}
    return {name: array.reshape(runs, samples, *array.shape[1:]) for name, array in whole.items()}


def read(trajectory: Trajectory, wanted: Mapping[str, Derive]) -> dict[str, Array]:
    """Quantities that are parts of the states and controls, (run, time, ...), without evaluating the model."""
    runs, samples, _ = trajectory.x.shape
    rows = Samples(trajectory.model, _all_rows(trajectory), accelerated=False)
    return {name: (values := derive(rows)).reshape(runs, samples, *values.shape[1:]) for name, derive in wanted.items()}


def _all_rows(trajectory: Trajectory) -> Rows:
    """The rows of all runs, one run after the other."""
    runs, samples, _ = trajectory.x.shape
    x, u = (array.reshape(runs * samples, -1) for array in (trajectory.x, trajectory.u))
    return Rows(np.tile(trajectory.t, runs), x, u, trajectory.work.reshape(-1), trajectory.friction.reshape(runs * samples, -1, 3),
                trajectory.exhaust.reshape(runs * samples, -1))


def segments(trajectory: Trajectory) -> Iterator[tuple[Model, Rows]]:
    """All rows with the common model; or the rows of each run with its own parameters and active constraints."""
    if not trajectory.parameters and not trajectory.spans:
        yield trajectory.model, _all_rows(trajectory)
        return
    for run in range(len(trajectory.x)):
        model, begin = member_model(trajectory.model, trajectory.parameters, run), -np.inf
        for end, then in trajectory.spans[run] if trajectory.spans else [(np.inf, model)]:
            inside = (trajectory.t > begin * (1.0 + SAME)) & (trajectory.t <= end * (1.0 + SAME))
            if inside.any():
                parts = trajectory.x, trajectory.u, trajectory.work, trajectory.friction, trajectory.exhaust
                rows = Rows(trajectory.t[inside], *(each[run, inside] for each in parts))
                yield model.switched_as(then), rows
            begin = end


def _evaluate_chunk(model: Model, chunk: Rows, wanted: Mapping[str, Derive], accelerated: bool) -> dict[str, Array]:
    finite = np.asarray(np.isfinite(chunk.x).all(axis=1) & np.isfinite(chunk.u).all(axis=1)
                        & np.isfinite(chunk.friction).all(axis=(1, 2)))
    while True:
        samples, found = Samples(model, _valid(model, chunk, finite), accelerated=accelerated), {}
        try:
            for name, derive in wanted.items():
                found[name] = np.array(derive(samples))
                found[name][~finite] = np.nan
            return found
        except NotFiniteError as error:                                 # last states before divergence
            finite[error.rows] = False


def chunks(model: Model, rows: Rows) -> Iterator[Rows]:
    longest = max(1, CHUNK // _floats(model))
    for part in np.array_split(np.arange(len(rows.t)), -(-len(rows.t) // longest)):
        yield Rows(*(array[part[0] : part[-1] + 1] for array in rows))


def _floats(model: Model) -> int:
    """Approximate number of floats for the kinematics and deformation of one state."""
    bodies = flexible_bodies(model.system).values()
    modal = sum(_FLOATS_PER_BODY * body.n_modes + 3 * (1 + body.n_modes) * len(body.nodes) for body in bodies)
    points = sum(len(body.deformed_outline(np.zeros(body.n_modes))) for body in bodies)
    places = 1 + len(model.names.bodies) + sum(len(body.nodes) for body in bodies)
    jacobian = 4 * model.tables.fronts.size * (model.nv + model.tables.fronts.size)         # loop Jacobian and its factors
    return _FLOATS_PER_BODY * places + modal + 9 * points + jacobian


def _valid(model: Model, chunk: Rows, finite: Array) -> Rows:
    """Rows that the model accepts: diverged states are replaced; their results become NaN."""
    if finite.all():
        return chunk
    start = model.layout.pack(model.q0, model.v0, model.wheel_speeds, model.initial_orbit, model.tank_masses)
    return chunk._replace(x=np.where(finite[:, None], chunk.x, start), u=np.where(finite[:, None], chunk.u, 0.0),
                          friction=np.where(finite[:, None, None], chunk.friction, 0.0))


def continuous(series: Array, axis: int) -> Array:
    """Signs of quaternions for continuous series: each as close as possible to the previous sample; the first with scalar part >=
    0."""
    q = np.moveaxis(series, axis, 0)
    flips = np.where(np.einsum("t...i,t...i->t...", q[1:], q[:-1]) < 0, -1.0, 1.0)
    first = np.where(q[:1, ..., 3] < 0, -1.0, 1.0)
    signs = np.cumprod(np.concatenate([first, flips]), axis=0)
    return np.moveaxis(q * signs[..., None], 0, axis)


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


def state_at(trajectory: Trajectory, t: float, run: int = 0) -> tuple[Model, dict[str, Any]]:
    """The active model, and q, v, controls, wheels, orbit, time and states of laws at the sample nearest to t."""
    if not 0 <= run < len(trajectory.x):
        raise StateError(f"run is {run}; the result has {len(trajectory.x)}: give 0 to {len(trajectory.x) - 1}")
    first, last = float(trajectory.t[0]), float(trajectory.t[-1])
    if not first - 1e-9 <= t <= last + 1e-9 * max(1.0, abs(last)):
        raise StateError(f"t is {t!r} s; the run was recorded from {first:g} to {last:g} s: give a time between")
    sample, model = int(np.abs(trajectory.t - t).argmin()), member_model(trajectory.model, trajectory.parameters, run)
    for until, held in trajectory.spans[run] if trajectory.spans else ():
        if trajectory.t[sample] <= until:
            model = model.switched_as(held)
            break
    state, controls = model.state(trajectory.x[run, sample]), trajectory.u[run, sample]
    nv, nw = model.nv, model.nw
    own = run_states(model.system) + EXHAUST*bool(model.system.tanks)           # before the states of laws
    laws = trajectory.law_states[run, sample, own:] if trajectory.law_states.size else np.zeros(0)
    return model, model.state_options(state) | {
        "q": state.q, "v": state.v, "tau": controls[:nv], "inputs": model.named_inputs(controls[nv + nw:]) or None,
        "motors": controls[nv:nv + nw] if nw else None, "t": float(trajectory.t[sample]),
        "law_states": laws[:len(laws) - trajectory.audited] if len(laws) else None}
