"""Cuts through joints and loops by name, and the two parts into which they split a system."""
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from bough.describe import System
from bough.describe.body import WORLD
from bough.errors import StateError, nearest


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
