"""The compiled model: what can be asked of it."""
import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from bough.analyze import loop_constraints as loops
from bough.analyze.body_motion import Bodies, observe
from bough.analyze.cloud_method import chosen_cloud, cloud_problem
from bough.analyze.costs import Costs, cost_model
from bough.analyze.cut_loads import CutLoads
from bough.analyze.held_coordinates import impose
from bough.analyze.internal_loads import internal_loads
from bough.analyze.momentum import momentum_loads
from bough.analyze.partition_table import PartitionTable, partition_table
from bough.analyze.singular_inertia import check_finite
from bough.compile.assemble import build_tables
from bough.compile.coordinates import coordinate_places
from bough.compile.element_tables import exerted
from bough.compile.hold_tables import Hold, declared_holds, prescribed_motion
from bough.compile.kernel_calls import call, group_parameters, workspace
from bough.compile.layout import InputWrench
from bough.compile.parameters import body_parameters, suspicious_members
from bough.compile.switching import switched
from bough.compile.tables import Tables, described_inputs
from bough.describe import CentralGravity, System
from bough.describe.coordinate_names import coordinate_names, speed_names
from bough.describe.parts import PARTS
from bough.errors import ModelError, StateError, nearest
from bough.kernels.hinges import FREE, SPHERICAL
from bough.kernels.lanes import ONE, Lanes
from bough.model.arguments import Batch, rows
from bough.progress import counted
from bough.sweeps import calls
from bough.sweeps import fields as f

if TYPE_CHECKING:
    from bough.analyze.counting import OperationCounts
    from bough.analyze.operators import Operators

KERNELS = {"order-n": calls.forward_order_n, "dense": calls.forward_dense, "cloud": calls.forward_cloud}
DYNAMICS = ("auto", *KERNELS)


@dataclass(frozen=True)
class Names:
    """What each entry of q, v, tau and of the wheel speeds is."""
    q: tuple[str, ...]
    v: tuple[str, ...]
    bodies: tuple[str, ...]
    joints: tuple[str, ...]
    wheels: tuple[str, ...]


class Model:
    """A compiled system: forward and inverse dynamics, mass matrix, reactions, energies, kinematics.

    Every method takes one state (`q` of length nq) or a batch of them (leading axis), which then runs in SIMD lanes.  The
    model's own springs, dampers, time tables, wrenches and force elements always act, at time `t`; `tau` and `wrenches` come on
    top.

    >>> import bough
    >>> s = bough.System("pendulum", gravity=(0, 0, -9.81))
    >>> _ = s.body("bob", joint=bough.Revolute("y"), mass=2.0, com=(0, 0, -1))
    >>> model = s.compile()
    >>> model.nv, model.names.v
    (1, ('bob.ry',))
    >>> float(model.forward_dynamics([0.1], [0.0]).round(6)[0])
    -0.979366
    """

    def __init__(self, system: System):
        self.system = system.copy()
        self._cache: dict[Any, Tables] = {}             # as built: shared with models that hold other coordinates
        self._switched: dict[Any, Tables] = {}
        self._costs: dict[int, Costs] = {}              # by lanes
        self.holds: Mapping[str, Hold] = declared_holds(system)
        self.contacts: tuple[str, ...] = ()             # stops that are in contact
        bodies = system.bodies.values()
        self.names = Names(
            q=tuple(name for body in bodies for name in coordinate_names(body)),
            v=tuple(name for body in bodies for name in speed_names(body)),
            bodies=tuple(system.bodies), joints=tuple(body.joint.name or body.name for body in bodies), wheels=tuple(system.wheels))
        self.nq, self.nv, self.nw = len(self.names.q), len(self.names.v), len(self.names.wheels)
        self.in_orbit = isinstance(system.gravity, CentralGravity)
        self.q0, self.v0 = initial_state(system)
        self.places = coordinate_places(system)
        self.wheel_speeds = np.array([wheel.speed for wheel in system.wheels.values()])
        start = np.concatenate([self.q0, self.v0])[None]
        impose(self, start, 0.0)
        self.q0, self.v0 = start[0, :self.nq], start[0, self.nq:]

    # ---- tables ---------------------------------------------------------------------------------------------
    @cached_property
    def tables(self) -> Tables:
        """The tables that the sweeps read: welds merged, no wrenches of the caller."""
        return self._tables()

    def _tables(self, inputs: tuple[InputWrench, ...] = (), keep_welds: bool = False) -> Tables:
        """Tables with wrenches of the caller; or with a hinge for every joint, welds too: for reactions and for poses."""
        key = inputs, keep_welds
        if key not in self._switched:
            if key not in self._cache:
                self._cache[key] = build_tables(self.system, inputs=inputs, keep_welds=keep_welds)
            self._switched[key] = switched(self._cache[key], self.holds, self.contacts)
        return self._switched[key]

    # ---- what is held ----------------------------------------------------------------------------------------
    def switched(self, holds: Mapping[str, Hold], contacts: Sequence[str] = ()) -> "Model":
        """The same model with other coordinates locked or prescribed, and these stops in contact: what events do in a run."""
        other = copy.copy(self)
        other.holds, other.contacts, other._switched = dict(holds), tuple(contacts), {}
        for name in ("tables", "free", "no_cloud"):
            other.__dict__.pop(name, None)
        return other

    @cached_property
    def free(self) -> np.ndarray:
        """(nv,) of truth values: which speeds are found by the dynamics, neither locked nor prescribed."""
        return ~np.isin(self.names.v, list(self.holds))

    def motion(self, t: Any) -> dict[str, np.ndarray]:
        """By prescribed coordinate: its position, rate and acceleration at the time t (a last axis for many times)."""
        return prescribed_motion(self.tables.holds.coordinates, self.holds, t)

    def follow(self, q: Any, v: Any, t: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
        """The state with prescribed coordinates where they are at the time t, and locked ones at rest."""
        batch = self.batch(q, v)
        x = batch.x.copy()
        impose(self, x, t)
        return batch.back(x[:, :self.nq]), batch.back(x[:, self.nq:self.nq + self.nv])

    def drive_forces(self, q: Any, v: Any, tau: Any = None, *, wrenches: Mapping[Any, Any] | None = None, frame: str = "body",
                     t: Any = 0.0, wheels: Any = None, motors: Any = None, orbit: Any = None) -> dict[str, np.ndarray]:
        """By coordinate that is locked or prescribed: the force or torque that holds it so, besides `tau`, springs and dampers.
        Where loops share it with drives, the one with the least loop forces."""
        given: dict[str, Any] = {"wrenches": wrenches, "frame": frame, "t": t, "wheels": wheels, "motors": motors, "orbit": orbit}
        a = self.forward_dynamics(q, v, tau, **given)
        needed = self.inverse_dynamics(q, v, a, **given) - (0.0 if tau is None else np.asarray(tau, float))
        if self.system.loops:
            forces, J = loops.balancing_forces(self, q, needed)
            needed = needed - np.einsum("bji,bj->bi", J, forces).reshape(needed.shape)
        held = {name: i for i, name in enumerate(self.names.v) if name in self.holds}
        return {name: needed[..., i] for name, i in held.items()}

    def parameter_tables(self, changes: Mapping[str, Any]) -> np.ndarray:
        """pars with one row for each member of a batch of parameter sets {"body.mass": [...], ...}."""
        pars = build_tables(self.system, changes=changes).pars
        for member in suspicious_members(self.system, changes):
            try:
                self.with_parameters({key: np.asarray(value, float)[member] for key, value in changes.items()})
            except ModelError as error:
                raise ModelError(f"member {member} of the batch: {error}") from None
        return pars

    def with_parameters(self, changes: Mapping[str, Any]) -> "Model":
        """A model in which some bodies have other parameters: {"boom.mass": 3.0, "boom.com": (1, 0, 0), ...}."""
        lists = {key: np.asarray(value, float)[None] for key, value in changes.items()}
        parameters, system = body_parameters(self.system, lists), System(self.system.name, gravity=self.system.gravity)
        for body in self.system.bodies.values():
            p = parameters[body.name]
            substance = {"mass": p.mass[0], "com": p.com[0], "inertia": p.inertia[0]} if body.flexible is None else {}
            looks = [shape.model_copy(update={"density": None}) for shape in body.shapes]       # the mass is given now
            system.body(body.name, parent=body.parent, joint=body.joint, orient=body.orient, idealized=body.idealized, at=p.at[0],
                        flexible=body.flexible, node=body.node, eta0=body.eta0, etadot0=body.etadot0, rest=body.rest, shapes=looks,
                        **substance)
        for kind in PARTS:
            system.of(kind).update(self.system.of(kind))
        system.settings = self.system.settings
        return system.compile()

    @cached_property
    def quaternions(self) -> list[int]:
        """Where quaternions start in q."""
        return [hinge.q + (3 if hinge.kind == FREE else 0) for hinge in self.tables.parts.hinges if hinge.kind in (SPHERICAL, FREE)]

    def actuation(self, t: Any) -> np.ndarray:
        """(times, nv + nw): joint and motor torques of the description itself, constants and time tables, at the times t."""
        return described_inputs(self.tables, np.atleast_1d(np.asarray(t, float)))[:, :self.nv + self.nw]

    # ---- dynamics -------------------------------------------------------------------------------------------
    def forward_dynamics(self, q: Any, v: Any, tau: Any = None, *, wrenches: Mapping[str, Any] | None = None,
                         frame: str = "body", dynamics: str = "auto", t: Any = 0.0, wheels: Any = None, motors: Any = None,
                         orbit: Any = None, method: str | None = None) -> np.ndarray:
        """Accelerations v' from positions, speeds, joint torques and wrenches ([moment, force] on bodies).

        `dynamics` is how they are solved: "order-n", "dense", "cloud" or "auto"; `method` is another spelling of it."""
        batch = self.batch(q, v, tau, wrenches=wrenches, frame=frame, t=t, wheels=wheels, motors=motors, orbit=orbit)
        return batch.back(self._forward(batch, dynamics if method is None else method)[:, :self.nv])

    def wheel_accelerations(self, q: Any, v: Any, tau: Any = None, *, wrenches: Mapping[str, Any] | None = None,
                            frame: str = "body", dynamics: str = "auto", t: Any = 0.0, wheels: Any = None, motors: Any = None,
                            orbit: Any = None) -> np.ndarray:
        """Accelerations of the wheels relative to their bodies; zero where a wheel's speed is held."""
        batch = self.batch(q, v, tau, wrenches=wrenches, frame=frame, t=t, wheels=wheels, motors=motors, orbit=orbit)
        return batch.back(self._forward(batch, dynamics)[:, self.nv:self.nv + self.nw])

    def resolve_dynamics(self, dynamics: str = "auto", lanes: Lanes = ONE) -> str:
        """What "auto" means for so many lanes and for what is held now, or what is asked for, if it applies.

        It is the momentum cloud where most of the motion is given, else that with the lower of the predicted `costs`."""
        if dynamics not in DYNAMICS:
            raise StateError(f"dynamics is '{dynamics}'{nearest(dynamics, DYNAMICS)}; one of {', '.join(DYNAMICS)}")
        if dynamics == "cloud" and self.no_cloud is not None:
            raise StateError(f"dynamics 'cloud' does not apply to system '{self.system.name}': {self.no_cloud}; use 'auto'")
        if dynamics != "auto":
            return dynamics
        return "cloud" if chosen_cloud(self) else self.costs(lanes).choice

    def costs(self, lanes: Lanes = ONE) -> Costs:
        """How long one evaluation of the accelerations will take, one state or four at a time, by O(N) and by dense dynamics.

        Predicted from the sizes of the model, whatever is held: an event changes no method.  Loads, which cost the same by both
        methods, are left out."""
        if lanes.width not in self._costs:
            self._costs[lanes.width] = cost_model().costs(self.tables, lanes)
        return self._costs[lanes.width]

    @cached_property
    def no_cloud(self) -> str | None:
        """Why the momentum cloud does not apply to what is held now; None if it does."""
        return cloud_problem(self)

    def _forward(self, batch: Batch, dynamics: str) -> np.ndarray:
        dynamics = self.resolve_dynamics(dynamics, batch.lanes)
        out = self._accelerations_of(batch, dynamics)
        self._call(KERNELS[dynamics], batch, out, ws=workspace(batch.tables, batch.lanes, batch.tables.more(dynamics)))
        check_finite(self, batch, out)
        return out

    def _accelerations_of(self, batch: Batch, dynamics: str) -> np.ndarray:
        """Room for what the kernel of a method finds."""
        multipliers = 0 if dynamics == "cloud" else batch.tables.fronts.size
        return np.empty((batch.n, self.nv + self.nw + 6*self.in_orbit + multipliers))

    def constraint_forces(self, q: Any, v: Any, tau: Any = None, *, wrenches: Mapping[str, Any] | None = None,
                          frame: str = "body", dynamics: str = "auto", t: Any = 0.0, wheels: Any = None, motors: Any = None,
                          orbit: Any = None) -> dict[str, np.ndarray]:
        """By loop, (6,): what the body of its frame a exerts on that of b through what the loop holds, [moment, force] at the
        origin of frame b, in the axes of frame b.  Where loops are redundant, the forces with the least sum of squares."""
        batch = self.batch(q, v, tau, wrenches=wrenches, frame=frame, t=t, wheels=wheels, motors=motors, orbit=orbit)
        closures = batch.tables.fronts.closures
        if not closures:
            return {}
        if dynamics == "cloud":
            raise StateError("dynamics 'cloud' finds no forces of loops: all that they hold is given; use 'auto'")
        found = self._forward(batch, "order-n" if dynamics == "auto" else dynamics)[:, self.nv + self.nw + 6*self.in_orbit:]
        multipliers = found[:, loops.true_rows(closures)]
        _, J = loops.loop_terms(self, batch, loops.POSITION)
        seen = self.bodies(batch.x[:, :self.nq])
        world = loops.loop_wrenches(self, seen, closures, loops.least_norm(closures, multipliers, J))
        forces = {}
        for loop in self.system.loops.values():
            _, attitude = loops.frame_pose(self, seen, loop.b)
            turned = np.einsum("bij,bci->bcj", attitude + np.zeros((batch.n, 1, 1)), world[loop.name].reshape(-1, 2, 3))
            forces[loop.name] = batch.back(turned.reshape(-1, 6))
        return forces

    def element_forces(self, q: Any, v: Any = None) -> dict[str, Any]:
        """By name, what force elements exert, as results record it: of a line its tension, N; of a restoring or a buoyancy (6,),
        [moment, force] on its body at the restoring's point or the body's origin, in world axes.  Without v, at rest."""
        bodies = self.bodies(q, v)
        pairs = zip(self.system.elements.values(), exerted(bodies.elements), strict=True)
        return {element.name: bodies.back(element.values(each, bodies)[element.load]) for element, each in pairs}

    def assemble(self, q: Any = None, v: Any = None, *, hold: Sequence[str] = ()) -> tuple[np.ndarray, np.ndarray]:
        """The state nearest to q, v (by kinetic energy; those of the description, if not given) that closes all loops, in position
        and in speed; the coordinates or joints named in `hold` keep theirs."""
        q, v = self.q0 if q is None else q, self.v0 if v is None else v
        batch = self.batch(q, v)
        if not self.system.loops:
            return batch.back(batch.x[:, :self.nq]), batch.back(batch.x[:, self.nq:self.nq + self.nv])
        states = [loops.assemble(self, row[:self.nq], row[self.nq:self.nq + self.nv], hold)
                  for row in counted(f"{self.system.name}: closing loops", batch.x)]
        return batch.back(np.array([q for q, _ in states])), batch.back(np.array([v for _, v in states]))

    def loop_gaps(self, q: Any, v: Any = None) -> dict[str, np.ndarray]:
        """By loop, how far its ends are apart: a number for each motion that it holds, m or rad; with v, how fast they part."""
        batch = self.batch(q, np.zeros(self.nv) if v is None else v)
        closures = batch.tables.fronts.closures
        if not closures:
            return {}
        gaps, _ = loops.loop_terms(self, batch, loops.POSITION if v is None else loops.SPEED)
        parts = np.split(gaps/loops.row_sizes(closures), np.cumsum([closure.rows for closure in closures])[:-1], axis=1)
        return {closure.name: batch.back(part) for closure, part in zip(closures, parts, strict=True)}

    def freedom(self, q: Any = None) -> loops.Freedom:
        """Degrees of freedom at a position (that of the description, if not given), and which loops are redundant there."""
        return loops.freedom_at(self, self.q0 if q is None else q)

    def inverse_dynamics(self, q: Any, v: Any, a: Any, *, wrenches: Mapping[str, Any] | None = None, frame: str = "body",
                         t: Any = 0.0, wheels: Any = None, motors: Any = None, orbit: Any = None) -> np.ndarray:
        """Joint torques that give the accelerations `a`, besides the model's own springs, tables and wrenches."""
        batch = self.batch(q, v, None, wrenches=wrenches, frame=frame, t=t, wheels=wheels, motors=motors, orbit=orbit)
        out = np.empty((batch.n, self.nv))
        self._call(calls.inverse, batch, rows("a", a, self.nv, batch.n, self.names.v), out)
        return batch.back(out)

    def bias(self, q: Any, v: Any, **keywords: Any) -> np.ndarray:
        """h in M a + h = tau: what is left of inverse dynamics at zero acceleration."""
        return self.inverse_dynamics(q, v, np.zeros(self.nv), **keywords)

    def mass_matrix(self, q: Any) -> np.ndarray:
        """M(q), (nv, nv): by composite bodies."""
        batch = self.batch(q, np.zeros(self.nv))
        out = np.empty((batch.n, self.nv**2))
        self._call(calls.mass_matrix, batch, out, ws=workspace(batch.tables, batch.lanes, self.nv**2))
        return batch.back(out.reshape(batch.n, self.nv, self.nv))

    def reactions(self, q: Any, v: Any, a: Any, tau: Any = None, *, wrenches: Mapping[Any, Any] | None = None, frame: str = "body",
                  t: Any = 0.0, wheels: Any = None, motors: Any = None, orbit: Any = None) -> np.ndarray:
        """(bodies, 6): what the parent exerts on the body through its joint, [moment, force] at the joint's origin on the
        body, in the body's axes.  Joint torques matter where loops are closed: what they do not give, the loops must."""
        if self.system.loops:
            needed = self.inverse_dynamics(q, v, a, wrenches=wrenches, frame=frame, t=t, wheels=wheels, motors=motors, orbit=orbit)
            forces, _ = loops.balancing_forces(self, q, needed if tau is None else needed - np.asarray(tau))
            wrenches = loops.with_loop_wrenches(self, q, forces, wrenches, frame)
        return self._hinge_loads(q, v, a, wrenches=wrenches, frame=frame, t=t, wheels=wheels, motors=motors, orbit=orbit)

    def _hinge_loads(self, q: Any, v: Any, a: Any, *, wrenches: Mapping[Any, Any] | None, frame: str, t: Any, wheels: Any,
                     motors: Any, orbit: Any) -> np.ndarray:
        """Reactions, where the forces of the loops are among the wrenches."""
        batch = self.batch(q, v, None, wrenches=wrenches, frame=frame, t=t, wheels=wheels, motors=motors, orbit=orbit,
                           keep_welds=True)
        a = rows("a", a, self.nv, batch.n, self.names.v)
        hinges = len(batch.tables.parts.hinges) - 1
        out = np.empty((batch.n, 6*hinges))
        self._call(calls.hinge_wrenches, batch, a, out)
        attitude = observe(self, batch, a).attitude
        index = [batch.tables.parts.seats[name].hinge - 1 for name in self.names.bodies]
        world = out.reshape(batch.n, hinges, 2, 3)[:, index]
        return batch.back(np.einsum("bkij,bkci->bkcj", attitude, world).reshape(batch.n, -1, 6))

    def internal_loads(self, q: Any, v: Any, a: Any, tau: Any = None, *, cut: Any, at: Any = (0.0, 0.0, 0.0), axes: str = "child",
                       driven: Sequence[str] = (), wrenches: Mapping[Any, Any] | None = None, frame: str = "body", t: Any = 0.0,
                       wheels: Any = None, motors: Any = None, orbit: Any = None) -> CutLoads:
        """Loads [moment, force] through joints and loops.

        cut       the name of a joint, a body (its joint) or a loop: what the parent (a) exerts on the child (b). Or a list of such
                  names that parts the system in two: what the part with the world exerts on the other one.
        at        where moments are taken about: a point from the joint's origin on the child, in the child's axes (loop: frame b)
        axes      of the loads: "child" (loop: frame b), "parent" (frame a) or "world"
        driven    coordinates or joints that are driven by torques which nobody knows; all others have tau and their springs,
                  dampers and torques of the description

        In a tree, and where loops are not redundant, the dynamics determines all loads. Of redundant loops it leaves some open:
        forces that hold each other, such as that along the line between two ball joints: the momentum of each part gives the same
        6 equations. The answer says so by name, and refuses such components.

        >>> import bough
        >>> s = bough.System("bridge", gravity=(0, 0, -10))
        >>> _ = s.body("beam", joint=bough.Spherical(), mass=6.0, com=(1, 0, 0), inertia=(0.1, 2, 2))
        >>> _ = s.loop("east", joint=bough.Spherical(), a=bough.Frame("world", at=(2, 0, 0)), b=bough.Frame("beam", at=(2, 0, 0)))
        >>> model = s.compile()
        >>> model.internal_loads(model.q0, model.v0, [0, 0, 0], cut=["beam", "east"])
        CutLoads in child axes
                              mx         my         mz         fx         fy         fz  (N m, N)
          beam on beam          0          0          0       open          0         30
          east on beam          0          0          0       open          0         30
          not determined: the force along the line between 'beam' and 'east'
        """
        return internal_loads(self, q, v, a, tau, cut=cut, at=at, axes=axes, driven=driven, wrenches=wrenches, frame=frame, t=t,
                              wheels=wheels, motors=motors, orbit=orbit)

    def momentum_loads(self, q: Any, v: Any, a: Any, joint: str, *, wrenches: Mapping[Any, Any] | None = None, frame: str = "body",
                       t: Any = 0.0, wheels: Any = None, motors: Any = None) -> np.ndarray:
        """(6,): what passes through one joint to the body on it, as in `reactions`, from the momentum of all that it carries."""
        return momentum_loads(self, q, v, a, joint,
                              {"wrenches": wrenches, "frame": frame, "t": t, "wheels": wheels, "motors": motors})

    # ---- cost ------------------------------------------------------------------------------------------------
    def operation_counts(self, dynamics: str = "auto", *, q: Any = None, v: Any = None) -> "OperationCounts":
        """Multiplications, additions and other operations of one evaluation of the accelerations, by the parts of the algorithm.

        They are counted, not computed: the sweeps run once as plain Python, with numbers that count.  That takes a second, and for
        each million operations some seconds more.  The state matters only where loops are closed: without q and v, the initial one.

        >>> import bough
        >>> s = bough.System("pendulum")
        >>> _ = s.body("bob", joint=bough.Revolute("y"), mass=2.0, com=(0, 0, -1))
        >>> counts = s.compile().operation_counts("dense")
        >>> counts.parts["factors"].divisions, counts.parts["solution"].multiplications
        (1, 1)
        """
        from bough.analyze.counting import OperationCounts, count_operations
        dynamics, (q0, v0) = self.resolve_dynamics(dynamics), self.assemble()
        batch = self.batch(q0 if q is None else q, v0 if v is None else v)
        tables = batch.tables
        arrays = {"features": np.array(tables.features), "plan": tables.plan, "pars": tables.pars, "tables": tables.tables,
                  "t": batch.t, "x": batch.x, "u": batch.u, "out": self._accelerations_of(batch, dynamics),
                  "ws": np.zeros(tables.size(f.WS_SIZE) + tables.more(dynamics))}
        return OperationCounts(dynamics, count_operations(f"forward_{dynamics.replace('-', '_')}", arrays)[0])

    # ---- operators -------------------------------------------------------------------------------------------
    def partition(self) -> PartitionTable:
        """The primitive hinges and massless bodies that the compiler made of the joints: prints as a table."""
        return partition_table(self)

    def operators(self, q: Any, v: Any = None, *, whole: bool = False, wrenches: Mapping[Any, Any] | None = None,
                  frame: str = "body", t: Any = 0.0, wheels: Any = None, motors: Any = None, orbit: Any = None) -> "Operators":
        """The spatial operators of one state, over the links of its partition or, for comparison, over whole joints.

        They are those of the tree: loops are left open.  They depend on q; accelerations() from them on the other arguments too.
        Without v, at rest."""
        from bough.analyze.operators.operators import operators_of
        return operators_of(self, q, v, whole, {"wrenches": wrenches, "frame": frame, "t": t, "wheels": wheels, "motors": motors,
                                                "orbit": orbit})

    def without_loops(self) -> "Model":
        """The same tree with all its loops open."""
        if not self.system.loops:
            return self
        other = self.switched(self.holds, self.contacts)
        other.system, other._cache, other._costs = self.system.copy(), {}, {}
        other.system.loops.clear()
        return other

    # ---- kinematics, energy, momentum ------------------------------------------------------------------------
    def bodies(self, q: Any, v: Any = None, a: Any = None, **keywords: Any) -> Bodies:
        """Positions, attitudes, velocities, accelerations of all bodies, in world axes, with a leading batch axis."""
        batch = self.batch(q, np.zeros(self.nv) if v is None else v, keep_welds=True, **keywords)
        return observe(self, batch, rows("a", np.zeros(self.nv) if a is None else a, self.nv, batch.n, self.names.v))

    def pose(self, q: Any, body: str) -> tuple[np.ndarray, np.ndarray]:
        """Position of a body's origin and its rotation matrix (body axes to world axes)."""
        seen, k = self.bodies(q), self.body_index(body)
        return seen.back(seen.position[:, k]), seen.back(seen.attitude[:, k])

    def velocity(self, q: Any, v: Any, body: str) -> np.ndarray:
        """[angular, linear] velocity of a body's frame at its origin, world axes."""
        seen, k = self.bodies(q, v), self.body_index(body)
        return seen.back(np.concatenate([seen.rate[:, k], seen.velocity[:, k]], axis=-1))

    def jacobian(self, q: Any, body: str, point: Any = (0.0, 0.0, 0.0)) -> np.ndarray:
        """(6, nv): [angular, linear] velocity, in world axes, of a point of a body (in its axes) for each speed."""
        k = self.body_index(body)
        many = rows("q", q, self.nq, None, self.names.q)
        states = np.repeat(many, self.nv, axis=0)
        seen = self.bodies(states, np.tile(np.eye(self.nv), (len(many), 1)))
        arm = np.einsum("bij,j->bi", seen.attitude[:, k], rows("point", point, 3, 1, "xyz")[0])
        linear = seen.velocity[:, k] + np.cross(seen.rate[:, k], arm)
        stacked = np.concatenate([seen.rate[:, k], linear], axis=1).reshape(len(many), self.nv, 6)
        result = stacked.transpose(0, 2, 1)
        return result[0] if np.ndim(q) == 1 else result

    def body_index(self, body: str) -> int:
        if body not in self.names.bodies:
            raise StateError(f"there is no body '{body}'{nearest(body, self.names.bodies)}; "
                             f"the bodies are {', '.join(self.names.bodies)}")
        return self.names.bodies.index(body)

    def kinetic_energy(self, q: Any, v: Any, *, wheels: Any = None, orbit: Any = None) -> Any:
        """Kinetic energy, J, wheels included; in orbit, with that of the mass center."""
        return _value(self.bodies(q, v, wheels=wheels, orbit=orbit), "kinetic_energy")

    def potential_energy(self, q: Any, *, orbit: Any = None) -> Any:
        """Potential energy of gravity, springs, force elements and strain, J; uniform gravity counts from the world's origin."""
        return _value(self.bodies(q, orbit=orbit), "potential_energy")

    def momentum(self, q: Any, v: Any, *, wheels: Any = None) -> np.ndarray:
        """[angular about the system's mass center, linear], world axes, wheels included."""
        return _value(self.bodies(q, v, wheels=wheels), "momentum")

    def center_of_mass(self, q: Any) -> np.ndarray:
        """Mass center of the whole system, world axes."""
        return _value(self.bodies(q), "center_of_mass")

    # ---- plumbing --------------------------------------------------------------------------------------------
    def batch(self, q: Any, v: Any, tau: Any = None, **keywords: Any) -> Batch:
        return Batch.of(self, q, v, tau, **keywords)

    def _call(self, kernel: Any, batch: Batch, *more: np.ndarray, ws: np.ndarray | None = None) -> None:
        tables, lanes = batch.tables, batch.lanes
        call(kernel, tables, group_parameters(tables.pars, lanes), batch.t, batch.x, batch.u, *more,
             workspace(tables, lanes) if ws is None else ws)

    def __repr__(self) -> str:
        from bough.analyze.model_summary import tree_text
        return tree_text(self)


def initial_state(system: System) -> tuple[np.ndarray, np.ndarray]:
    """q and v that the joints' q0 and v0 and the bodies' eta0 and etadot0 say, neutral where they say nothing."""
    q: list[float] = []
    v: list[float] = []
    for body in system.bodies.values():
        joint = body.joint
        neutral = [0.0]*joint.n_q
        if joint.rotations == "spherical":
            neutral[-1] = 1.0
        still = [0.0]*body.n_modes
        q += [*(neutral if joint.q0 is None else joint.q0), *(still if body.eta0 is None else body.eta0)]
        v += [*([0.0]*joint.n_v if joint.v0 is None else joint.v0), *(still if body.etadot0 is None else body.etadot0)]
    return np.array(q), np.array(v)


def _value(seen: Bodies, quantity: str) -> Any:
    result = seen.back(getattr(seen, quantity))
    return float(result) if np.ndim(result) == 0 else result
