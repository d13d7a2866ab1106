"""Internal loads: loads through joints, loops, and cuts that split the system in two.

In a tree the load of every joint follows from the motion of the bodies outboard [B 3]. With closed loops, the loop forces x follow
from

    J^T x + S y = needed - tau          x in SI units; S: columns of held coordinates, and of those driven by unknown torques y

and the joint loads from them. For redundant loops the null space of [J^T S] remains undetermined: self-equilibrated forces. The
loads of a cut are then those with the least sum of squares, and its void is spanned by the loads of such forces.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bough.analyze.body_motion import Bodies, Frames, bodies_in
from bough.analyze.equations_of_motion import inverse
from bough.analyze.loop_constraints import named_speeds
from bough.analyze.reactions import RowSpace, free_wrenches, hinge_loads, holding_rows, loop_wrenches, with_loop_wrenches
from bough.blas import one_thread
from bough.compile.batch import Batch, rows
from bough.compile.compiled_model import CompiledModel
from bough.compile.layout import Floats
from bough.compile.loop_tables import REDUNDANT
from bough.describe import Frame, System
from bough.describe.numeric import axis
from bough.describe.part import depth_first
from bough.errors import StateError, nearest, similar

WORLD = "world"


class Connection(NamedTuple):
    """A joint of the tree, or a loop: from the parent (a) to the child (b)."""
    name: str
    parent: str                 # body, or "world"
    child: str
    is_loop: bool


class Cut(NamedTuple):
    """Connections, and the sign of the load to report: +1 on the child (b), -1 on the parent (a)."""
    connections: tuple[Connection, ...]
    signs: tuple[int, ...]

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(connection.name for connection in self.connections)

    @property
    def on(self) -> tuple[str, ...]:
        """The body (or the world) on which each load acts."""
        return tuple(c.child if sign > 0 else c.parent for c, sign in zip(self.connections, self.signs, strict=True))


def connections_of(system: System) -> list[Connection]:
    """All joints, then all loops."""
    joints = [Connection(body.joint.name or body.name, body.parent or WORLD, body.name, False) for body in system.bodies.values()]
    return joints + [Connection(loop.name, loop.a.body, loop.b.body, True) for loop in system.loops.values()]


def read_cut(system: System, cut: Any) -> Cut:
    """One name: that joint or loop. Several: a cut that splits the system in two, with the loads on the part without the world."""
    if isinstance(cut, str):
        return Cut((find(system, cut),), (1,))
    if not isinstance(cut, Iterable) or not (names := list(cut)):
        raise StateError(f"cut is {cut!r}; give the name of a joint, body or loop, or a list of such names")
    connections = tuple(find(system, name) for name in names)
    for i, connection in enumerate(connections):
        if connection in connections[:i]:
            raise StateError(f"cut: '{connection.name}' is there twice; name each joint and loop once")
    side = sides(system, connections)
    return Cut(connections, tuple(1 if side[c.child] else -1 for c in connections))


def find(system: System, name: Any) -> Connection:
    """The joint (by its own name or that of its body) or loop with a name."""
    every = connections_of(system)
    meant = list(dict.fromkeys(c for c in every if name in (c.name, None if c.is_loop else c.child)))
    if len(meant) == 1:
        return meant[0]
    known = [*(c.name for c in every if not c.is_loop), *system.bodies, *system.loops]
    if not meant:
        raise StateError(f"cut: there is no joint, body or loop {name!r}{nearest(name, known)}")
    several = " and ".join(f"the {'loop' if c.is_loop else 'joint'} between '{c.parent}' and '{c.child}'" for c in meant)
    raise StateError(f"cut: '{name}' may be {several}; give one of them another name")


def sides(system: System, cut: Sequence[Connection]) -> dict[str, bool]:
    """For each body and the world, whether it is in the part without the world; every connection of the cut joins the two parts."""
    left = [c for c in connections_of(system) if c not in cut]
    for c in cut:
        if path := path_between(left, c.parent, c.child):
            joined = ", ".join(f"'{step.name}'" for step in path)
            remedy = "put it into the cut too" if len(path) == 1 else "put one of these into the cut too"
            raise StateError(f"cut through {_listed(cut)}: it does not part the system, '{c.parent}' and '{c.child}' are still "
                             f"joined by {joined}; {remedy}")
    side, reached = {WORLD: False}, [WORLD]
    while reached:                                                      # connections of the cut lead to the other part
        here = reached.pop()
        for c in (*left, *cut):
            if here in (c.parent, c.child):
                there = c.child if here == c.parent else c.parent
                other = side[here] != (c in cut)
                if there not in side:
                    side[there] = other
                    reached.append(there)
                elif side[there] != other:
                    raise StateError(f"cut through {_listed(cut)}: it leaves three or more parts in a ring, not two; "
                                     "cut through fewer joints")
    return side


def path_between(connections: Sequence[Connection], start: str, end: str) -> list[Connection]:
    """The shortest path from one body to another; empty if there is none."""
    paths: dict[str, list[Connection]] = {start: []}
    reached = [start]
    for here in reached:
        for c in connections:
            if here in (c.parent, c.child) and (there := c.child if here == c.parent else c.parent) not in paths:
                paths[there] = [*paths[here], c]
                reached.append(there)
    return paths.get(end, [])


def _listed(cut: Sequence[Connection]) -> str:
    return ", ".join(f"'{c.name}'" for c in cut)


# ---- cut loads -------------------------------------------------------------------------------------------------------------
COMPONENTS = ("mx", "my", "mz", "fx", "fy", "fz")
KINDS = ("moment", "force")
OPEN = 1e-6                 # share of the void in a component above which the component is undetermined


@dataclass(frozen=True, repr=False)
class CutLoads:
    """Loads [moment, force] through joints and loops: `loads["hinge"]` is (6,), or (batch, 6) for a batch of states.

    Components that the dynamics does not determine are NaN; `component` returns the part along a direction, or raises an error with
    the reason. `least` has the loads with the least sum of squares of forces, and of moments divided by `length`."""
    names: tuple[str, ...]          # of joints and loops
    on: tuple[str, ...]             # the bodies that the loads act on
    axes: str                       # whose axes: "child", "parent" or "world"
    single: bool
    length: float                   # m
    all_least: Floats           # (batch, connections, 6)
    all_points: Floats          # (batch, connections, 3)     reference points of moments, world axes
    all_attitudes: Floats       # (batch, connections, 3, 3)  axes of the loads to world axes
    void: Floats                # (batch, connections, 6, n)  undetermined unit loads, moments over length; or zero

    def _back(self, array: Floats) -> Floats:
        return array[0] if self.single else array

    @property
    def least(self) -> Floats:
        """(connections, 6), N m and N."""
        return self._back(self.all_least)

    @property
    def values(self) -> Floats:
        """(connections, 6), N m and N: NaN where a component is not determined."""
        return np.where(self.determined, self.least, np.nan)

    @property
    def points(self) -> Floats:
        """(connections, 3), m: reference points of moments, world axes."""
        return self._back(self.all_points)

    @property
    def attitudes(self) -> Floats:
        """(connections, 3, 3): from the axes of the loads to world axes."""
        return self._back(self.all_attitudes)

    @property
    def determined(self) -> Floats:
        """(connections, 6): whether a component is determined."""
        return self._back(np.linalg.norm(self.void, axis=-1) <= OPEN)

    @property
    def rank(self) -> Any:
        """The number of determined combinations of the 6 components per connection."""
        return self._back(6*len(self.names) - np.rint((self.void**2).sum(axis=(1, 2, 3))).astype(int))

    @property
    def null_space(self) -> Floats:
        """(connections, 6, n), N m and N: loads that do not affect the motion."""
        return self._back(self.void*np.repeat([self.length, 1.0], 3)[:, None])

    @property
    def total(self) -> Floats:
        """(6,): the sum of all loads about the world's origin, in world axes. It is always determined."""
        moment, force = (np.einsum("bkij,bkj->bki", self.all_attitudes, part) for part in np.split(self.all_least, 2, axis=2))
        return self._back(np.concatenate([(moment + np.cross(self.all_points, force)).sum(axis=1), force.sum(axis=1)], axis=1))

    def __getitem__(self, name: str) -> Floats:
        return self.values[..., self._index(name), :]

    def component(self, name: str, kind: str, direction: Any) -> Any:
        """The "moment" [N m] or "force" [N] through a joint or loop along a direction: a letter, or a vector in the loads' axes."""
        i = self._index(name)
        if kind not in KINDS:
            raise StateError(f"component is {kind!r}{similar(kind, KINDS)}; give 'moment' or 'force'")
        try:
            along = np.array(axis(direction))
        except ValueError as error:
            raise StateError(f"direction {error}") from None
        part = slice(0, 3) if kind == "moment" else slice(3, 6)
        open_share = np.linalg.norm(np.einsum("j,bjn->bn", along, self.void[:, i, part]), axis=1)
        if (open_share > OPEN).any():
            state = int(np.argmax(open_share > OPEN))
            where = "" if self.single else f" in state {state}"
            way = ", ".join(f"{x:.4g}" for x in along)
            raise StateError(f"the {kind} through '{name}' along ({way}) ({self.axes} axes) is not determined{where}: "
                             f"the dynamics leaves open {' and '.join(self.open_words(state))}; let one of the joints move that "
                             "way, or make a body between them flexible")
        return self._back(self.all_least[:, i, part] @ along)

    def open_words(self, state: int = 0) -> list[str]:
        """The undetermined loads of a state, in words."""
        void = self.void[state].reshape(6*len(self.names), self.void.shape[3])
        void = void[:, np.linalg.norm(void, axis=0) > 0.5]
        words, line = [], self._line(state)
        if line is not None and np.linalg.norm(line - void @ (void.T @ line)) <= OPEN:
            words.append(f"the force along the line between '{self.names[0]}' and '{self.names[1]}'")
            void = void - np.outer(line, line @ void)
        left = int(np.rint((void**2).sum()))
        if left:
            labels = [f"{name}.{component}" for name in self.names for component in COMPONENTS]
            mixed = [label for label, row in zip(labels, void, strict=True) if np.linalg.norm(row) > OPEN]
            words.append(f"{'a combination' if left == 1 else f'{left} combinations'} of {', '.join(mixed)}")
        return words

    def _line(self, state: int) -> Floats | None:
        """For two connections: the unit load that pulls them together, in the axes of the loads."""
        points, line = self.all_points[state], np.zeros((len(self.names), 6))
        if len(points) != 2 or not (points[1] - points[0]).any():
            return None
        pull = (points[1] - points[0])/np.linalg.norm(points[1] - points[0])/np.sqrt(2.0)
        line[:, 3:] = np.einsum("kij,ki->kj", self.all_attitudes[state], np.stack([pull, -pull]))
        return line.ravel()

    def _index(self, name: str) -> int:
        if name not in self.names:
            raise StateError(f"the cut has no '{name}'{similar(name, self.names)}; it goes through {', '.join(self.names)}")
        return self.names.index(name)

    def __repr__(self) -> str:
        states = "" if self.single else f", {len(self.all_least)} states, the first of them"
        width = max(map(len, self.names)) + max(map(len, self.on)) + 5
        heading = " "*width + "".join(f"{label:>11}" for label in COMPONENTS) + "  (N m, N)"
        lines, first = [f"CutLoads in {self.axes} axes{states}", heading], self.values if self.single else self.values[0]
        for name, on, load in zip(self.names, self.on, first, strict=True):
            numbers = (f"{'open':>11}" if np.isnan(value) else f"{value + 0.0:11.4g}" for value in load)
            lines.append(f"  {f'{name} on {on}':{width - 2}}" + "".join(numbers))
        return "\n".join(lines + [f"  not determined: {words}" for words in self.open_words()])


# ---- internal loads --------------------------------------------------------------------------------------------------------
AXES = ("child", "parent", "world")
MISSING = 1e-6              # relative to the joint torques: missing generalized force that is an error


class Transmitted(NamedTuple):
    """The loads through all joints and loops in a batch of states."""
    bodies: Bodies
    reactions: Floats               # (batch, bodies, 6)       of the joints, in the bodies' axes
    loops: dict[str, Floats]        # (batch, 6, 1) by loop    on b, at b's frame, in world axes
    stresses: dict[str, Floats]     # (batch, 6, n) by loop    self-equilibrated unit forces, likewise


def internal_loads(model: CompiledModel, batch: Batch, a: Floats, *, cut: str | Sequence[str], at: ArrayLike, axes: str,
                   driven: Sequence[str]) -> CutLoads:
    """See Model.internal_loads."""
    chosen, point = read_cut(model.system, cut), rows("at", at, 3, 1, "xyz")[0]
    if axes not in AXES:
        raise StateError(f"axes is {axes!r}; give 'child', 'parent' or 'world'")
    sent = transmitted(model, batch, a, driven)
    loads, stresses, points, attitudes = [], [], [], []
    for connection, sign in zip(chosen.connections, chosen.signs, strict=True):
        parent, child = ends(model, sent.bodies, connection)
        arm = np.broadcast_to(child.attitude @ point, (batch.n, 3))
        turn = np.broadcast_to({"child": child.attitude, "parent": parent.attitude, "world": np.eye(3)}[axes], (batch.n, 3, 3))
        load, stress = (sign*turned(shifted(wrenches, -arm), turn) for wrenches in through(model, sent, connection, child.position))
        loads.append(load[..., 0])
        stresses.append(stress)
        points.append(child.position + arm)
        attitudes.append(turn)
    length = max((closure.size for closure in model.tables.fronts.closures), default=1.0)
    least, void = least_loads(np.stack(loads, axis=1), np.stack(stresses, axis=1), length)
    return CutLoads(chosen.names, chosen.on, axes, batch.single, length, least, np.stack(points, axis=1),
                    np.stack(attitudes, axis=1), void)


def transmitted(model: CompiledModel, batch: Batch, a: Floats, driven: Sequence[str]) -> Transmitted:
    """The loads through all joints and loops, and the self-equilibrated ones."""
    bodies, held, stresses = bodies_in(model, model.changed(batch, wrenches={})), dict[str, Floats](), dict[str, Floats]()
    driven_speeds = ~model.free | named_speeds(model, driven, "driven")
    loaded = model.changed(batch, torques=False, keep_welds=True)
    if model.constrained:
        tau, plain = batch.inputs.tau, model.changed(batch, torques=False)
        needed, bias = inverse(model, plain, a), inverse(model, plain, 0*a)
        size = np.abs(tau).max(axis=1) + np.abs(needed).max(axis=1) + np.abs(bias).max(axis=1)
        forces, void = holding_forces(model, batch, needed - tau, size, driven_speeds)
        loaded = with_loop_wrenches(model, batch, forces)
        known, stresses = free_wrenches(model, bodies), wrench_columns(model, bodies, void)
        held = {name: wrench + known[name][..., None] for name, wrench in wrench_columns(model, bodies, forces[..., None]).items()}
    return Transmitted(bodies, hinge_loads(model, loaded, a), held, stresses)


def holding_forces(model: CompiledModel, batch: Batch, needed: Floats, size: Floats,
                   driven: NDArray[np.bool_]) -> tuple[Floats, Floats]:
    """(batch, rows): loop forces that, together with unknown driving torques, provide the needed generalized forces; and
    (batch, rows, n): self-equilibrated loop forces. `size` (batch,): magnitude of all generalized forces before they cancel."""
    J = holding_rows(model, model.batch(batch.q))
    motors = np.broadcast_to(np.eye(model.nv)[driven], (len(J), driven.sum(), model.nv))
    columns = np.concatenate([J, motors], axis=1)
    space, n = RowSpace.of(columns), J.shape[1]
    reach = space.right*(space.values > MISSING**2*space.values.max(axis=1, keepdims=True, initial=0.0))[..., None]
    missing = needed - np.einsum("bnv,bn->bv", reach, np.einsum("bnv,bv->bn", reach, needed))       # no force can provide it
    if (np.abs(missing) > MISSING*size[:, None]).any():
        state = int((np.abs(missing).max(axis=1)/size.clip(np.finfo(float).tiny)).argmax())
        i = int(np.abs(missing[state]).argmax())
        raise StateError(f"a asks for {missing[state, i]:.3g} more in '{model.names.v[i]}' than tau and the loops give; give the "
                         "tau that goes with it, or name in `driven` the joints whose torques are not known")
    forces = space.least(needed)
    return forces[:, :n], space.void[:, :n]


def wrench_columns(model: CompiledModel, bodies: Bodies, forces: Floats) -> dict[str, Floats]:
    """(batch, 6, n) by loop: [moment, force] on b, at b's frame, in world axes, of n sets of forces (batch, rows, n)."""
    closures = model.tables.fronts.closures
    sets = [loop_wrenches(model, bodies, closures, forces[..., i]) for i in range(forces.shape[2])]
    none = np.zeros((len(forces), 6, 0))
    return {name: np.concatenate([none, *(each[name][..., None] for each in sets)], axis=2) for name in model.system.loops}


def through(model: CompiledModel, sent: Transmitted, connection: Connection, point: Floats) -> tuple[Floats, Floats]:
    """(batch, 6, 1) and (batch, 6, n): the load on the child, and undetermined unit loads, at its origin in world axes."""
    if connection.is_loop:
        return sent.loops[connection.name], sent.stresses[connection.name]
    k = model.body_index(connection.child)
    load = turned(sent.reactions[:, k, :, None], sent.bodies.attitude[:, k].transpose(0, 2, 1))
    stress = np.zeros((len(load), 6, max((each.shape[2] for each in sent.stresses.values()), default=0)))
    outer = {connection.child, *(body.name for body in depth_first(model.system, connection.child))}
    for name, wrench in sent.stresses.items():              # balance of everything outboard: minus the loads of the loops on it
        loop = model.system.loops[name]
        sign = int(loop.a.body in outer) - int(loop.b.body in outer)
        if sign:
            stress = stress + sign*shifted(wrench, sent.bodies.frame(loop.b).position - point)
    return load, stress


def ends(model: CompiledModel, bodies: Bodies, connection: Connection) -> tuple[Frames, Frames]:
    """The frames of the parent (a) and of the child (b) at a joint or loop."""
    if connection.is_loop:
        loop = model.system.loops[connection.name]
        return bodies.frame(loop.a), bodies.frame(loop.b)
    parent = Frame(connection.parent, node=model.system.bodies[connection.child].node)
    return bodies.frame(parent), bodies.place(connection.child, None)


def shifted(wrenches: Floats, arm: Floats) -> Floats:
    """Columns [moment, force] (batch, 6, n) about a new point; the arm (batch, 3) leads from there to the old one."""
    moment, force = np.split(wrenches, 2, axis=1)
    return np.concatenate([moment + np.cross(arm[:, :, None], force, axis=1), force], axis=1)


def turned(wrenches: Floats, attitude: Floats) -> Floats:
    """Columns [moment, force] (batch, 6, n) from world axes into those of the attitude (batch, 3, 3)."""
    parts = wrenches.reshape(len(wrenches), 2, 3, wrenches.shape[2])
    return np.einsum("bij,bcin->bcjn", attitude, parts).reshape(wrenches.shape)


@one_thread()
def least_loads(loads: Floats, stresses: Floats, length: float) -> tuple[Floats, Floats]:
    """Loads (batch, connections, 6) without their undetermined part, and an orthonormal basis of that; moments over length."""
    scale = np.repeat([length, 1.0], 3)
    n, connections, _, sets = stresses.shape
    flat = (stresses/scale[:, None]).reshape(n, 6*connections, sets)
    basis, sizes, _ = np.linalg.svd(flat, full_matrices=False)
    open_ = sizes > np.sqrt(REDUNDANT)                      # the stresses are of unit forces
    void = (basis*open_[:, None, :])[:, :, open_.any(axis=0)]
    scaled = (loads/scale).reshape(n, 6*connections)
    scaled = scaled - np.einsum("bin,bn->bi", void, np.einsum("bin,bi->bn", void, scaled))
    return scaled.reshape(loads.shape)*scale, void.reshape(*loads.shape, void.shape[2])
