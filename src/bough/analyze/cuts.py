"""Cuts through joints and loops by name, the two parts into which they split a system, and the loads through them."""
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from bough.compile.layout import Floats
from bough.describe import System
from bough.describe.body import WORLD
from bough.describe.numeric import axis
from bough.errors import StateError, nearest, similar


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


# ---- loads ---------------------------------------------------------------------------------------------------------------
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
            direction_text = ", ".join(f"{x:.4g}" for x in along)
            raise StateError(f"the {kind} through '{name}' along ({direction_text}) ({self.axes} axes) is not determined{where}: "
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
