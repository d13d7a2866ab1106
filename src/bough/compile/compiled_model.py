"""The compiled model: system, tables, names, sizes, held coordinates, and states in the form that kernels take."""
import copy
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from threading import local
from typing import Any, NamedTuple, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bough import compile as builders
from bough.compile.assemble import build_tables
from bough.compile.batch import Batch, Wrenches, array, check_quaternions, motor_rows, port_rows, port_values, rows, wrench_rows
from bough.compile.cloud_tables import cloud_problem
from bough.compile.connections import Joined, can_change, closed, closed_at_start, connected, moved, reachable, with_moved_joints
from bough.compile.coordinates import coordinate_places, declared_motions, holdable
from bough.compile.hold_tables import Hold, prescribed_motion
from bough.compile.kernel_calls import group_parameters, lanes_for, linked, run, workspace
from bough.compile.layout import Floats, InputLayout, InputWrench, State, StateLayout, run_states
from bough.compile.signal_tables import feeds
from bough.compile.switching import switched
from bough.compile.tables import Tables, described_inputs
from bough.describe import Body, CentralGravity, System
from bough.describe.parts.port import ports_of
from bough.errors import StateError, similar

Kept = TypeVar("Kept")

REST: Any = object()                # in place of speeds: all are zero


class Names(NamedTuple):
    """Names of the entries of q, v, tau and of the wheel speeds, and of all inputs and outputs."""
    q: tuple[str, ...]
    v: tuple[str, ...]
    bodies: tuple[str, ...]
    joints: tuple[str, ...]
    wheels: tuple[str, ...]
    inputs: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()


class Ready(local):
    """Prepared calls, separate for each thread; a copy has none."""

    def __init__(self) -> None:
        self.calls: dict[Any, Any] = {}
        self.derivatives: Any = None                    # the most frequent call

    def __reduce__(self) -> tuple[type["Ready"], tuple[()]]:
        return Ready, ()


class CompiledModel:
    """A system in the form that analyses need.

    Attributes
    ----------
    whole : System
        A copy of the description.
    system : System
        The description without the loops that are open now.
    joined : Mapping[str, Loop]
        The loops that are closed now, with their present frames.
    names : Names
        What each entry of q, v and of the wheel speeds is, and the bodies and joints in their order.
    layout : StateLayout
        Where q, v, wheel speeds and orbit are in a state x.
    nq, nv, nw : int
        Lengths of q, of v, and the number of wheels.
    q0, v0, wheel_speeds : ndarray
        The initial state of the description.
    holds : Mapping[str, Hold]
        Coordinates that are locked or prescribed now.
    """

    def __init__(self, system: System) -> None:
        self.whole: System = system.copy()
        self.joined: Joined = closed_at_start(system)
        self.system: System = connected(self.whole, self.joined)
        self._built: dict[Any, Tables] = {}             # before holds; shared with models that hold other coordinates
        self._held: dict[Any, Tables] = {}              # with holds; shared with models whose loops hold at other places
        self._tables: dict[Any, Tables] = {}
        self.family: dict[Any, Any] = {}                # shared by all variants of the model: see integrate.mounted_run
        self._ready = Ready()
        self.holds: Mapping[str, Hold] = {name: Hold(None if motion == "locked" else 0)
                                          for name, motion in declared_motions(system).items()}
        self.marks: tuple[str, ...] = ()                # what parts do now, see `switched`
        self.moved_joints: Mapping[str, Body] = {}      # bodies whose joints are not where `whole` has them
        bodies = system.bodies.values()
        self.names: Names = Names(
            q=tuple(name for body in bodies for name in body.coordinate_names),
            v=tuple(name for body in bodies for name in body.speed_names),
            bodies=tuple(system.bodies), joints=tuple(body.joint.name or body.name for body in bodies), wheels=tuple(system.wheels),
            inputs=tuple(name for port in system.inputs.values() for name in port.entries),
            outputs=tuple(name for port in system.outputs.values() for name in port.entries))
        self.layout, self.input_layout = StateLayout.of(system), InputLayout.of(system)     # for all loops, open or closed
        self.nq: int = self.layout.nq
        self.nv: int = self.layout.nv
        self.nw: int = self.layout.nw
        self.in_orbit: bool = self.layout.in_orbit
        self.places = coordinate_places(system)
        self.wheel_speeds: Floats = np.array([wheel.speed for wheel in system.wheels.values()])
        self.tank_masses: Floats = np.array([tank.mass for tank in system.tanks.values()])
        start = self.layout.view(self.layout.pack(*initial_position(system), self.wheel_speeds, self.initial_orbit,
                                                  self.tank_masses)[None])
        self.follow_motions(start.x, 0.0)
        self.q0: Floats = start.q[0]
        self.v0: Floats = start.v[0]
        self.still: Floats = np.zeros(self.nv)          # speeds, accelerations or torques that are not given

    # ---- tables ---------------------------------------------------------------------------------------------
    @cached_property
    def tables(self) -> Tables:
        """The tables that the sweeps read: welds merged, no caller's wrenches."""
        return self.tables_for()

    def tables_for(self, inputs: tuple[InputWrench, ...] = (), keep_welds: bool = False, compliant: bool = False) -> Tables:
        """Tables with wrenches of the caller; or with a hinge for every joint, including welds: for reactions and poses; or with
        rows of `compliant` couplings, for implicit methods."""
        compliant = compliant and any(coupling.stiffness is not None for coupling in self.system.couplings.values())
        loops = tuple(self.system.loops)
        key = inputs, keep_welds and self._shortened, self.layout.law_states, self.layout.running, compliant, loops
        if key not in self._tables:
            if key not in self._built:
                described = connected(self.whole, {name: closed(self.whole.loops[name]) for name in self.joined})
                self._built[key] = build_tables(described, inputs=inputs, keep_welds=key[1], law_states=key[2], running=key[3],
                                                compliant=compliant, loop_motions=self.input_layout.loop_motions,
                                                kept=tuple(self.moved_joints))
            if key not in self._held:
                self._held[key] = switched(self._built[key], self.holds, self.marks, self.system)
            self._tables[key] = with_moved_joints(moved(self._held[key], self.whole, self.system), self.moved_joints)
        return self._tables[key]

    def options_of(self, tables: Tables) -> dict[str, Any]:
        """The options from which `build_tables` made tables of this model."""
        key = next(key for key, known in self._tables.items() if known is tables)
        return {"inputs": key[0], "keep_welds": key[1], "law_states": key[2], "loop_motions": self.input_layout.loop_motions}

    @cached_property
    def _shortened(self) -> bool:
        """Whether tables for the dynamics omit hinges: of welds, and of nodes that carry nothing."""
        return any(body.flexible is not None or not body.joint.n_v for body in self.system.bodies.values())

    def bound(self, kernel: Any, batch: Batch, *more: NDArray[Any], extra: int = 0) -> partial[Any]:
        """A kernel with its arguments: all rows of a batch, and `more`; its workspace has `extra` more numbers."""
        tables, lanes = batch.tables, batch.lanes
        return partial(kernel, *linked(tables, group_parameters(tables.pars, lanes), *more, workspace(tables, lanes, extra)))

    def call(self, kernel: Any, batch: Batch, *more: NDArray[Any], extra: int = 0) -> Any:
        """Call a kernel on all rows of a batch; `more`: further arguments."""
        return run(self.bound(kernel, batch, batch.t, batch.x, batch.u, *more, extra=extra))

    def ready(self, prepare: Callable[..., Kept], *options: Any) -> Kept:
        """The result of `prepare(model, *options)`, cached for this thread."""
        kept = self._ready.calls
        try:
            return kept[prepare, *options]
        except TypeError:                               # an unhashable name: the error below names it
            return prepare(self, *options)
        except KeyError:
            if len(kept) >= 256:
                kept.clear()
            return kept.setdefault((prepare, *options), prepare(self, *options))

    def __getstate__(self) -> dict[str, Any]:
        """A copy prepares its own calls, since kernels get their arguments by address."""
        return self.__dict__ | {"_ready": Ready()}

    def __copy__(self) -> Self:
        other = object.__new__(type(self))
        other.__dict__.update(self.__getstate__())
        return other

    # ---- held coordinates ----------------------------------------------------------------------------------------
    def switched(self, holds: Mapping[str, Hold], marks: Sequence[str] = (), joined: Joined | None = None) -> Self:
        """The same model with other coordinates locked or prescribed, other marks, and (if given) these loops closed: what events
        change in a run.

        A mark is the name of a stop in contact; or a name with what the part does now: "name>", "name<" and "name=", friction that
        slips forward, backward, or sticks; "name+", "name-" and "name~", teeth that touch at an end of their play, or nowhere;
        "name0", an empty tank; "name*0.1", a bushing whose stiffness and damping have been scaled."""
        other = copy.copy(self)
        other.holds, other.marks, other._tables = dict(holds), tuple(marks), {}
        if other.holds != self.holds or other.marks != self.marks:
            other._held = {}
        if joined is not None and joined != self.joined:
            other.joined, other.system = dict(joined), connected(self.whole, joined)
        for name in ("tables", "free", "no_cloud"):
            other.__dict__.pop(name, None)
        return other

    def with_moved_joints(self, bodies: Mapping[str, Body]) -> Self:
        """The same model with the joints of these bodies moved to new places on their parents."""
        other = self.switched(self.holds, self.marks)
        other.moved_joints, other.system = bodies, copy.copy(self.system)
        other.system.bodies = {**self.system.bodies, **bodies}
        return other

    def build_ahead(self, compliant: bool = False) -> Iterator[Self]:
        """Models for the sets of loops that events can close, with tables (also `compliant` ones), for use in a run."""
        for names in reachable(self.whole) if can_change(self.whole) else ():
            now = self.switched(self.holds, self.marks, {name: closed(self.whole.loops[name]) for name in names})
            for each in {False, compliant}:
                now.tables_for(compliant=each)
            yield now

    def switched_as(self, other: "CompiledModel") -> Self:
        """The same model with the holds of another one of a similar system; loops as described here."""
        joined = {name: closed(self.whole.loops[name]) if loop == closed(other.whole.loops[name]) else loop
                  for name, loop in other.joined.items()}
        return self.switched(other.holds, other.marks, joined)

    def with_law_states(self, n: int) -> Self:
        """The same model with states of laws in x: for runs that integrate them."""
        if not n and not run_states(self.system) and not self.system.tanks:
            return self
        other = self.switched(self.holds, self.marks)
        other.layout = replace(self.layout, law_states=n, frictions=run_states(self.system), running=True)
        return other

    def with_tanks(self, x: Floats) -> Self:
        """The same model with the tank masses of a state x as defaults."""
        if not self.system.tanks:
            return self
        other = self.switched(self.holds, self.marks)
        other.tank_masses, other._tables, other._ready = self.layout.view(x).tanks.copy(), self._tables, Ready()
        return other

    def without_loops(self) -> Self:
        """The same tree with all its loops open, and without couplings."""
        if not self.constrained:
            return self
        other = self.switched(self.holds, self.marks)
        other.whole, other.joined, other._built, other._held = self.whole.copy(), {}, {}, {}
        other.whole.loops.clear()
        other.whole.couplings.clear()
        other.system, other.input_layout = other.whole, InputLayout.of(other.whole)
        return other

    @property
    def constrainable(self) -> bool:
        """Whether loops or couplings constrain motions, now or after an event."""
        return self.constrained or bool(self.whole.loops)

    @property
    def constrained(self) -> bool:
        """Whether loops or couplings constrain motions now."""
        return bool(self.system.loops or any(coupling.stiffness is None for coupling in self.system.couplings.values()))

    @cached_property
    def free(self) -> NDArray[np.bool_]:
        """(nv,) booleans: speeds found by the dynamics, neither locked nor prescribed."""
        return np.array([name not in self.holds for name in self.names.v], bool)

    @cached_property
    def no_cloud(self) -> str | None:
        """Why the momentum cloud does not apply with the coordinates held now; None if it does."""
        return cloud_problem(self.tables, self.system)

    def motion(self, t: ArrayLike) -> dict[str, Floats]:
        """By prescribed coordinate: its position, rate and acceleration, each of the shape of t."""
        return prescribed_motion(self.tables.holds.coordinates, self.holds, t)

    def follow_motions(self, x: Floats, t: float) -> None:
        """In states (batch, nx): set prescribed coordinates to their values at time t, and speeds of locked ones to zero."""
        if not self.holds:
            return
        coordinates, state = holdable(self.system), self.layout.view(x)
        motion = prescribed_motion(coordinates, self.holds, t)
        for name in self.holds:
            coordinate = coordinates[name]
            state.v[:, coordinate.v] = motion[name][1] if name in motion else 0.0
            if name in motion:
                state.q[:, coordinate.q] = motion[name][0]

    def motion_breaks(self, until: float) -> Floats:
        """Times at which a prescribed motion changes its law, in their order: steps must end there."""
        moving = {name: (hold.motion, hold.origin) for name, hold in self.holds.items() if hold.motion is not None}
        if not moving:
            return np.zeros(0)
        coordinates, found = holdable(self.system), list[Floats]()
        for name, (motion, origin) in moving.items():
            terms = builders.motion_tables.motion_rows(coordinates[name].motions[motion])
            found.append(origin + builders.motion_tables.breaks(terms, until - origin))
        return np.unique(np.concatenate(found))

    # ---- names and places -------------------------------------------------------------------------------------
    @cached_property
    def quaternions(self) -> list[int]:
        """Starts of quaternions in q."""
        return list(self.tables.tree.quaternions)

    def normalize_quaternions(self, x: Floats) -> None:
        """In states (batch, nx): normalize quaternions."""
        for at in self.quaternions:
            x[:, at:at + 4] /= np.linalg.norm(x[:, at:at + 4], axis=1, keepdims=True)

    def body_index(self, body: str) -> int:
        """Index of a body in the description."""
        if not isinstance(body, str) or body not in self.names.bodies:
            raise StateError(f"there is no body '{body}'{similar(body, self.names.bodies)}; "
                             f"the bodies are {', '.join(self.names.bodies)}")
        return self.names.bodies.index(body)

    def state_options(self, state: State) -> dict[str, Floats]:
        """Wheel speeds, orbit and masses in tanks of a state, as keywords of calls; only those that the model has."""
        there = {"wheels": self.nw, "orbit": self.in_orbit, "tanks": self.system.tanks}
        return {name: getattr(state, name) for name, present in there.items() if present}

    def mode_places(self, body: str) -> tuple[slice, slice]:
        """Slices of a body's modal coordinates in q and of their rates in v."""
        described, (q, v) = self.system.bodies[body], self.places[body]
        return slice(q + described.joint.n_q, q + described.n_q), slice(v + described.joint.n_v, v + described.n_v)

    def entry_name(self, entry: int) -> str:
        """Description of an entry of x."""
        layout = self.layout
        names = [*(f"q of '{n}'" for n in self.names.q), *(f"v of '{n}'" for n in self.names.v),
                 *(f"speed of wheel '{n}'" for n in self.names.wheels), *["the orbit"]*6*layout.in_orbit,
                 *(f"mass in tank '{n}'" for n in self.system.tanks), *["a state of friction"]*layout.frictions,
                 *["the exhaust"]*(layout.exhaust.stop - layout.exhaust.start), *["a state of a law"]*layout.law_states]
        return names[entry]

    def state(self, x: Floats) -> State:
        """States x (..., nx) with views of their parts by name."""
        return self.layout.view(x)

    @property
    def initial_orbit(self) -> Floats:
        """Position and velocity of the mass center, (6,); empty without central gravity."""
        gravity = self.system.gravity
        return np.array([*gravity.position, *gravity.velocity] if isinstance(gravity, CentralGravity) else [])

    def named_inputs(self, ports: Floats) -> dict[str, Floats]:
        """Values (..., size) by input, from those of all inputs."""
        return {name: ports[..., place] for name, place in ports_of(list(self.system.inputs.values())).items()}

    @cached_property
    def port_torques(self) -> Floats:
        """(numbers of inputs, nv + nw): torques along coordinates and of motors per unit of each input."""
        layout, found = self.input_layout, np.zeros((self.input_layout.n_ports, self.nv + self.nw))
        rests = {name for name, port in self.system.inputs.items() if port.rest}
        owners = [port.name for port in self.system.inputs.values() for _ in port.entries]
        lines = dict.fromkeys(self.system.lines, layout.nu)                     # outside the requested columns
        for source, target, factor in feeds(self.system, self.places, 0, layout.nu, lines, layout.nu):
            if target < layout.ports.start and owners[source] not in rests:
                found[source, target] = factor
        return found

    def actuation(self, t: ArrayLike) -> Floats:
        """(nv + nw,): joint and motor torques of the description itself, constants and time tables, at t; rows for several
        times."""
        times = np.asarray(t, float)
        found = described_inputs(self.tables, np.atleast_1d(times))[:, :self.nv + self.nw]
        return found if times.ndim else found[0]

    # ---- states ------------------------------------------------------------------------------------------------
    def batch(self, q: ArrayLike, v: ArrayLike = REST, tau: ArrayLike | None = None, *, wrenches: Wrenches | None = None,
              frame: str = "body", t: ArrayLike = 0.0, wheels: ArrayLike | None = None, motors: ArrayLike | None = None,
              orbit: ArrayLike | None = None, inputs: Mapping[str, ArrayLike] | None = None, tanks: ArrayLike | None = None,
              keep_welds: bool = False) -> Batch:
        """Check one state or several, with their inputs, and make rows of them.

        Parameters
        ----------
        q, v : array_like
            Coordinates (nq,) and speeds (nv,), or rows of them; without v, at rest.
        tau : array_like, optional
            Joint torques and forces (nv,), in addition to those of the description.
        wrenches : mapping, optional
            By body, or (body, node): [moment, force] about the origin of its frame.
        frame : {"body", "world"}
            The axes of the wrenches.
        t : array_like
            The time, for time tables and prescribed motions.
        wheels, motors : array_like, optional
            Wheel speeds relative to their bodies (default: those of the description) and motor torques, (nw,).
        orbit : array_like, optional
            Position and velocity of the mass center, (6,), with central gravity (default: that of the description).
        inputs : mapping, optional
            By input of the description, its value or values; zero if not given.
        tanks : array_like, optional
            Mass of propellant in each tank; default: that of the description.
        keep_welds : bool
            Use tables with a hinge for every joint, including welds.
        """
        if wrenches is not None and not isinstance(wrenches, Mapping):
            raise StateError(f"wrenches is {wrenches!r}; give a dict from body names, or (body, node), to [moment, force]")
        v = self.still if v is REST else v
        optional = {"tau": (tau, self.nv), "wheels": (wheels, self.nw), "motors": (motors, self.nw), "orbit": (orbit, 6),
                    "tanks": (tanks, len(self.tank_masses))}
        given = [array("q", q, self.nq), array("v", v, self.nv)]
        given += [array(name, value, size) for name, (value, size) in optional.items() if value is not None]
        given += [array(f"wrench on '{body}'", wrench, 6) for body, wrench in (wrenches or {}).items()]
        ports = port_values(self.system, inputs)
        given += ports.values()
        times = array("t", t, 1)
        n = max(times.size, *(len(np.atleast_2d(a)) for a in given))
        single = n == 1 and times.ndim == 0 and all(a.ndim <= 1 for a in given)
        state = self.layout.view(self.layout.pack(
            rows("q", q, self.nq, n, self.names.q), rows("v", v, self.nv, n, self.names.v), self._wheel_rows(wheels, n),
            self._orbit_rows(orbit, n), self._tank_rows(tanks, n),
            np.zeros((n, self.layout.beyond.stop - self.layout.beyond.start))))
        check_quaternions(self.tables.tree, state.q)
        return self._with_inputs(
            np.repeat(rows("t", np.reshape(times, (-1, 1)), 1, n, ("t",)), 2, axis=1), state,
            None if tau is None else rows("tau", tau, self.nv, n, self.names.v),
            None if motors is None else motor_rows(self.system, motors, n), port_rows(self.system, ports, n),
            wrench_rows(self.system, wrenches, frame, n), frame, single, keep_welds)

    def batch_of(self, x: Floats) -> Batch:
        """Checked states x (rows, nx) without inputs."""
        n = len(x)
        inputs = self.input_layout.view(np.zeros((n, self.input_layout.nu)))
        return Batch(self.tables, lanes_for(n), np.zeros((n, 2)), self.layout.view(x), inputs, {}, "body", n == 1)

    def batch_at(self, q: Floats) -> Batch:
        """Checked positions (nq,) or (rows, nq), with bodies and wheels at rest."""
        x = np.zeros((1 if q.ndim == 1 else len(q), self.layout.nx))
        state = self.layout.view(x)
        state.q[:], state.tanks[:], state.orbit[:] = q, self.tank_masses, self.initial_orbit
        return self.batch_of(x)

    def changed(self, batch: Batch, *, wrenches: Mapping[tuple[str, str | None], Floats] | None = None, torques: bool = True,
                keep_welds: bool = False) -> Batch:
        """The same states with other wrenches, with or without the joint torques, with or without a hinge for every weld."""
        loads = batch.wrenches if wrenches is None else wrenches
        return self._with_inputs(batch.t, batch.state, batch.inputs.tau if torques else None, batch.inputs.motors,
                                 batch.inputs.ports, loads, batch.frame, batch.single, keep_welds)

    def _with_inputs(self, t: Floats, state: State, tau: Floats | None, motors: Floats | None, ports: Floats,
                     wrenches: Mapping[tuple[str, str | None], Floats], frame: str, single: bool, keep_welds: bool) -> Batch:
        """States with the tables and inputs needed for their wrenches and torques."""
        places = tuple(InputWrench(body, node, frame == "world") for body, node in wrenches)
        inputs, n = replace(self.input_layout, callers=len(places)) if places else self.input_layout, len(t)
        u = np.zeros((n, inputs.nu))
        if tau is not None:
            u[:, inputs.tau] = tau
        if motors is not None:
            u[:, inputs.motors] = motors
        u[:, inputs.ports] = ports
        for i, wrench in enumerate(wrenches.values()):
            u[:, inputs.caller_wrench(i)] = wrench
        tables = self.tables_for(places, keep_welds)
        return Batch(tables, lanes_for(n), t, state, inputs.view(u), wrenches, frame, single)

    def _wheel_rows(self, wheels: ArrayLike | None, n: int) -> Floats:
        if wheels is not None and not self.nw and np.size(wheels):
            raise StateError(f"wheels is {wheels!r}, but the system has no wheels; leave it out")
        return rows("wheels", self.wheel_speeds if wheels is None else wheels, self.nw, n, self.names.wheels)

    def _tank_rows(self, tanks: ArrayLike | None, n: int) -> Floats:
        found = rows("tanks", self.tank_masses if tanks is None else tanks, len(self.tank_masses), n, tuple(self.system.tanks))
        for tank, masses in zip(self.system.tanks.values(), found.T, strict=True):
            if tanks is not None and (masses < -1e-9*tank.full).any():
                raise StateError(f"tanks: '{tank.name}' has {masses.min():.6g} kg; give it 0 kg or more")
            if tanks is not None and (masses > tank.full*(1 + 1e-9)).any():
                raise StateError(f"tanks: '{tank.name}' has {masses.max():.6g} kg, more than its capacity, {tank.full:g} kg; fill "
                                 "in less, or give it a larger capacity")
        return found

    def _orbit_rows(self, orbit: ArrayLike | None, n: int) -> Floats:
        if not self.in_orbit:
            if orbit is not None:
                raise StateError("orbit is given, but the system's gravity is uniform; leave it out, or give the system "
                                 "CentralGravity")
            return np.zeros((n, 0))
        return rows("orbit", self.initial_orbit if orbit is None else orbit, 6, n, ("x", "y", "z", "vx", "vy", "vz"))


def initial_position(system: System) -> tuple[Floats, Floats]:
    """q and v from q0 and v0 of the joints and eta0 and etadot0 of the bodies, neutral by default."""
    q: list[float] = []
    v: list[float] = []
    for body in system.bodies.values():
        joint, still = body.joint, [0.0]*body.n_modes
        q += [*(joint.neutral if joint.q0 is None else joint.q0), *(still if body.eta0 is None else body.eta0)]
        v += [*([0.0]*joint.n_v if joint.v0 is None else joint.v0), *(still if body.etadot0 is None else body.etadot0)]
    return np.array(q), np.array(v)
