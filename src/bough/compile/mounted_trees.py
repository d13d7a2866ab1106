"""A free tree that is permanently attached to another one, as part of that tree: mounted where it is attached and re-rooted [B 98].

    on -> joint of the attachment -> attached body -> its joint, reversed -> its parent -> ... -> the root

A reversed joint has the same coordinates along opposite axes, in the opposite order: the inverse of T(a q1) R(b, q2) is
R(-b, q2) T(-a q1).  The layout of the state is kept: the 7 + 6 entries of the root's free joint become the coordinates of the
attachment's joint; those left over are locked coordinates of massless bodies.
"""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bough.compile.coordinates import targets_of
from bough.compile.flexible_tables import inboard_place, inboard_shapes
from bough.compile.layout import Floats
from bough.describe import Body, Close, Detach, Distance, Event, Frame, Free, Joint, Lock, Loop, Open, Prescribe, Release, System
from bough.describe.orientation import cross_matrix, from_matrix, rotation_matrix

LOCKED = "locked"
OPTIONS = ("stiffness", "damping", "rest", "torque", "motion")
STARTS = (0.0, 2.0, -2.0)                   # rad: initial guesses of angles


@dataclass(frozen=True)
class MountedTree:
    """A free root whose tree is mounted by a loop's joint."""
    root: Body
    path: tuple[str, ...]                   # bodies from the attached one to the root
    loop: str
    on: Frame                               # frame on the carrying tree
    by: Frame                               # frame on the mounted tree
    described: Frame                        # `on` in the description
    chain: tuple[Joint, ...]                # joints from on to by, one axis each; empty: a weld
    slot: tuple[Joint, ...]                 # the chain, and locked joints for what is left of 7 + 6 entries
    held: tuple[str, ...]                   # names of the locked speeds: the last ones of the six
    inner: Floats                           # (4, 4): from the body frame of path[0] to `by`
    frame: Frame                            # on the root: its pose is the q of the free joint

    @property
    def form(self) -> Any:
        """What the tables depend on; the place of the attachment is in the state, or in `moved_joints`."""
        return self.loop, self.root.name, self.by.body

    def at(self, system: System, loop: Loop) -> MountedTree:
        """The same with the frames of the loop as it holds now."""
        by, on = (loop.b, loop.a) if loop.b.body == self.by.body else (loop.a, loop.b)
        return replace(self, by=by, on=on, inner=_inner(system, by))

    def moved_joints(self, system: System) -> dict[str, Body]:
        """Bodies of the mounted system whose joints are placed by the loop as it holds now, if the attachment has a joint."""
        if not self.chain:
            return {}
        pose, first, attached = _inverse(self.inner), system.bodies[self.slot_names[0]], system.bodies[self.by.body]
        at, orient = tuple(pose[:3, 3].tolist()), from_matrix(pose[:3, :3])
        return {first.name: first.model_copy(update={"at": self.on.at, "orient": self.on.orient}),
                attached.name: attached.model_copy(update={"at": at, "orient": orient})}

    @property
    def slot_names(self) -> tuple[str, ...]:
        """Names of the massless bodies on these joints."""
        return _slot_names(self.root, self.slot)

    @property
    def fixed(self) -> int:
        """Number of locked speeds: the last ones of the six."""
        return len(self.held)

    def coordinates(self, at: Floats, turn: Floats) -> Floats:
        """(7,): the entries of q with `by` at this position and attitude in `on`; for a weld, the pose of the attached body in `on`
        of the description."""
        if not self.chain:
            pose = _inverse(_pose_of(self.described)) @ _pose_of(self.on) @ _inverse(self.inner)
            return np.array([*pose[:3, 3], *from_matrix(pose[:3, :3])])
        return np.concatenate([chain_coordinates(self.chain, at, turn), *(joint.neutral for joint in self.slot[len(self.chain):])])


# ---- what can be mounted ---------------------------------------------------------------------------------------------------
def mount(system: System, described: Loop, loop: Loop, holds: set[str], others: Sequence[MountedTree]) -> MountedTree | None:
    """The tree that a loop can mount on the other one, if any: the one with fewer joints to reverse."""
    if isinstance(loop.joint, Distance) or any((loop.joint.stiffness, loop.joint.damping, loop.joint.torque)):
        return None
    if loop.joint.n_v > 3 and not loop.joint.spherical:                     # the rest of 7 + 6 entries cannot be filled
        return None
    joints = _split(loop.joint)
    sides = ((loop.b, loop.a, described.a, joints), (loop.a, loop.b, described.b, tuple(map(_opposite, reversed(joints)))))
    for by, on, frame, chain in sorted(sides, key=lambda side: len(_path(system, side[0].body))):
        path = _path(system, by.body)
        if path and _can_mount(system, path, by, holds, others) and _base(system, on.body, others) != path[-1]:
            root, slot = system.bodies[path[-1]], _slot(chain)
            names = [name for i, joint in enumerate(slot) for name in Body(_slot_names(root, slot)[i], joint=joint).speed_names]
            own = Frame(root.name, at=tuple((-_place(system, root.name)).tolist()))
            return MountedTree(root, path, loop.name, on, by, frame, chain, slot, tuple(names[sum(joint.n_v for joint in chain):]),
                        _inner(system, by), own)
    return None


def _slot(chain: tuple[Joint, ...]) -> tuple[Joint, ...]:
    """The joints of an attachment, and locked ones that complete 7 coordinates and 6 speeds."""
    if not chain:
        return (Free(motion=[LOCKED]*6),)
    fixed, ball = 6 - sum(joint.n_v for joint in chain), not any(joint.spherical for joint in chain)
    fill = [Joint(rotations="spherical", motion=[LOCKED]*3)]*ball
    return (*chain, *fill, *[Joint(translations="x", motion=[LOCKED])]*(fixed - 3*ball))


def _slot_names(root: Body, slot: tuple[Joint, ...]) -> tuple[str, ...]:
    return tuple(f"{root.name}, mounted {i}" for i in range(len(slot)))


def _inner(system: System, by: Frame) -> Floats:
    """(4, 4): from the body frame of the attached body to its attachment frame."""
    return _pose(_place(system, by.body) + np.asarray(by.at), rotation_matrix(by.orient))


def _path(system: System, body: str) -> tuple[str, ...]:
    """From a body to its root."""
    found = list[str]()
    while body in system.bodies:
        found.append(body)
        body = system.bodies[body].parent or ""
    return tuple(found)


def _base(system: System, body: str, others: Sequence[MountedTree]) -> str:
    """The root that carries a body, across trees that are mounted already."""
    carriers = {each.root.name: each.on.body for each in others}
    while body in system.bodies:
        body = _path(system, body)[-1]
        if body not in carriers:
            return body
        body = carriers[body]
    return "world"


def _can_mount(system: System, path: tuple[str, ...], by: Frame, holds: set[str], others: Sequence[MountedTree]) -> bool:
    root, joint = system.bodies[path[-1]], system.bodies[path[-1]].joint
    names = {*root.speed_names[:6], *root.coordinate_names[:7], root.name, joint.name}
    plain = joint.kind == "free" and not any((joint.damping, joint.torque, joint.stiffness)) and joint.motion is None
    replaceable = plain and not names & holds and not names & set(_named_coordinates(system))
    places = (by.node, *(system.bodies[name].node for name in path[:-1]))   # nodes that will hold them
    return (replaceable and root.name not in {each.root.name for each in others}
            and all(_holds_at(system.bodies[name], node) for name, node in zip(path, places, strict=True))
            and all(_can_reverse(system, system.bodies[name]) for name in path[:-1]))


def _holds_at(body: Body, node: str | None) -> bool:
    """Whether a body can be held there: a flexible one only where its own joint holds it."""
    if body.flexible is None:
        return True
    return body.elastic.inboard is not None and node in (None, body.elastic.inboard) and not inboard_shapes(body.elastic)[1]


def _can_reverse(system: System, body: Body) -> bool:
    """Whether its reversed joint has the same coordinates, by name."""
    own, joint = body.speed_names[:body.joint.n_v], body.joint
    detached = {action.target for event in system.events.values() for action in event.do if isinstance(action, Detach)}
    flowing = {name for tank in system.tanks.values() for name in tank.body_names}
    if joint.spherical or {body.name, joint.name} & (detached | flowing):
        return False
    rubbing = {name for friction in system.frictions.values() for name in targets_of(system, friction.coordinate)}
    coupled = {name for coupling in system.couplings.values() for each in coupling.terms for name in targets_of(system, each)}
    names = tuple(name for each in _reversed(body, (0.0, 0.0, 0.0)) for name in each.speed_names)
    return names == own and not set(own) & (rubbing | coupled)


def _named_coordinates(system: System) -> list[str]:
    """Coordinates that parts of a system refer to."""
    found = [name for output in system.outputs.values() for name in (output.coordinate, output.rate)]
    found += [port.coordinate for port in system.inputs.values()] + [stop.coordinate for stop in system.stops.values()]
    found += [friction.coordinate for friction in system.frictions.values()]
    found += [name for coupling in system.couplings.values() for name in coupling.terms]
    for event in system.events.values():
        found += [event.when] if isinstance(event.when, str) else [each.of for each in event.conditions]
        found += [action.target for action in event.do if not isinstance(action, Close | Open)]
    return [name for name in found if name]


# ---- the mounted system ----------------------------------------------------------------------------------------------------
def mounted_system(whole: System, mounted: Sequence[MountedTree]) -> System:
    """The system with these trees mounted where they are attached; only the state entries of their roots change their names."""
    system, slots = whole.copy(), dict[str, list[Body]]()
    system.loops = {name: loop for name, loop in whole.loops.items() if name not in {each.loop for each in mounted}}
    system.events = {name: _by_coordinates(whole, event) for name, event in whole.events.items()}
    for each in mounted:
        slots |= _slots(whole, each)
    bodies = [each for name, body in whole.bodies.items() for each in slots.get(name, [body])]
    system.bodies = {body.name: body for body in bodies}
    return system


def _by_coordinates(system: System, event: Event) -> Event:
    """The event with actions on coordinates instead of joints, which are split when they are reversed."""
    do = [action.model_copy(update={"target": name}) if isinstance(action, Lock | Release | Prescribe) else action
          for action in event.do
          for name in (targets_of(system, action.target) if isinstance(action, Lock | Release | Prescribe) else [""])]
    return event.model_copy(update={"do": tuple(do)})


def _slots(system: System, tree: MountedTree) -> dict[str, list[Body]]:
    """For each body from the attached one to the root: the bodies that replace it, massless carriers of its joints first."""
    inner, pose = tree.slot_names[max(len(tree.chain) - 1, 0)], np.eye(4)   # carrier of the next body, and its place there
    found = dict[str, list[Body]]()
    for name, outer in zip(tree.path, (*tree.path[1:], None), strict=True):
        body, origin = system.bodies[name], _pose(-_place(system, name), np.eye(3))     # its body frame in its joint frame
        held = {"parent": inner, "node": None, "at": tuple(pose[:3, 3].tolist()), "orient": from_matrix(pose[:3, :3])}
        carriers = _slot_bodies(tree)
        if outer is not None:
            carriers = _reversed(body, tuple(origin[:3, 3].tolist()))
            inner = carriers[0].name if carriers else name
            back = _inverse(_pose(np.asarray(body.at), rotation_matrix(body.orient)))
            pose = (np.eye(4) if carriers else origin) @ back @ _pose(-_place(system, outer), np.eye(3))
        found[name] = [*carriers, body.model_copy(update={**held, "joint": Joint()})]
    return found


def _slot_bodies(tree: MountedTree) -> list[Body]:
    """Massless bodies: those of the attachment's joint in series, those of locked joints parallel to them."""
    on, found = tree.described, list[Body]()
    for i, (name, joint) in enumerate(zip(tree.slot_names, tree.slot, strict=True)):
        if 0 < i < len(tree.chain):
            found.append(Body(name, parent=found[-1].name, joint=joint))
        else:
            found.append(Body(name, parent=None if on.body == "world" else on.body, node=on.node, at=on.at, orient=on.orient,
                              joint=joint))
    return found


def _reversed(body: Body, at: tuple[float, ...]) -> list[Body]:
    """Massless bodies on its reversed joint, in the order of its coordinates; the last one is mounted on the body."""
    found, inner = list[Body](), body.name
    for i, joint in reversed(list(enumerate(_split(body.joint)))):
        found.insert(0, Body(f"{body.name}, reversed {i}", parent=inner, at=at, joint=_opposite(_named(body, joint))))
        inner, at = found[0].name, (0.0, 0.0, 0.0)
    return found


def _place(system: System, name: str) -> Floats:
    """Position in the body frame of the frame that joints and loads on the body refer to."""
    body = system.bodies[name]
    return np.zeros(3) if body.flexible is None else inboard_place(body.elastic)


def _split(joint: Joint) -> tuple[Joint, ...]:
    """One joint for each axis, and one for a spherical rotation."""
    options: list[dict[str, Any]] = [{key: (given[i],) for key in OPTIONS if (given := getattr(joint, key)) is not None}
                                     for i in range(joint.n_v)]
    slides = [Joint(translations=[axis], **own) for axis, own in zip(joint.translations, options, strict=False)]
    if isinstance(joint.rotations, str):
        return (*slides, Joint(rotations="spherical"))
    return (*slides, *(Joint(rotations=[axis], **own) for axis, own in zip(joint.rotations, options[len(slides):], strict=True)))


def _opposite(joint: Joint) -> Joint:
    if joint.spherical:
        return joint
    axes = {key: tuple(tuple(-x for x in axis) for axis in getattr(joint, key)) for key in ("translations", "rotations")}
    return joint.model_copy(update=axes)


def _named(body: Body, joint: Joint) -> Joint:
    return joint.model_copy(update={"name": body.joint.name or body.name})


# ---- poses -----------------------------------------------------------------------------------------------------------------
def _pose(at: Floats, R: Floats) -> Floats:
    found = np.eye(4)
    found[:3, 3], found[:3, :3] = at, R
    return found


def _pose_of(frame: Frame) -> Floats:
    return _pose(np.asarray(frame.at), rotation_matrix(frame.orient))


def _inverse(pose: Floats) -> Floats:
    return _pose(-pose[:3, :3].T @ pose[:3, 3], pose[:3, :3].T)


def chain_coordinates(chain: Sequence[Joint], at: Floats, turn: Floats) -> Floats:
    """Coordinates of single joints in series for a pose within their reach: by Newton's method from several angles.

    >>> chain = _split(Joint(rotations="zy"))
    >>> chain_coordinates(chain, np.zeros(3), chain_pose(chain, [0.5, 2.5])[:3, :3])
    array([0.5, 2.5])
    """
    ball = next((i for i, joint in enumerate(chain) if joint.spherical), None)
    if ball is not None:                                                    # it alone sets the attitude
        if len(chain) == 1:
            return np.array(from_matrix(turn))
        axes = np.array([joint.translations[0] for joint in chain if not joint.spherical])
        slides = np.linalg.lstsq(axes.T, at if ball else turn.T @ at, rcond=None)[0]
        return np.concatenate([slides, from_matrix(turn)] if ball else [from_matrix(turn), slides])
    best, error = np.zeros(len(chain)), np.inf
    for start in np.array(np.meshgrid(*[STARTS if joint.rotations else (0.0,) for joint in chain])).reshape(len(chain), -1).T:
        q = start.astype(float)
        for _ in range(20):
            reached = chain_pose(chain, q)
            gap = np.concatenate([at - reached[:3, 3], (turn - reached[:3, :3]).ravel()])
            size = float(np.abs(gap).max())
            if size < error:
                best, error = q.copy(), size
            if error < 1e-15 or (error < 1e-12 and size > error):           # to rounding
                return best
            slopes = [chain_pose(chain, q + 1e-30j*row).imag/1e-30 for row in np.eye(len(q))]
            J = np.array([np.concatenate([slope[:3, 3], slope[:3, :3].ravel()]) for slope in slopes]).T
            q = q + np.linalg.lstsq(J, gap, rcond=None)[0]
        if error < 1e-9:
            return best
    return best


def chain_pose(chain: Sequence[Joint], q: Any) -> Any:
    """(4, 4): the pose after single joints in series; coordinates may be complex."""
    found: Any = np.eye(4)
    for joint, value in zip(chain, q, strict=True):
        step: Any = np.eye(4, dtype=np.asarray(q).dtype)
        if joint.translations:
            step[:3, 3] = value*np.asarray(joint.translations[0])
        else:
            K = cross_matrix(np.asarray(joint.rotations[0]))
            step[:3, :3] += np.sin(value)*K + (1.0 - np.cos(value))*(K @ K)
        found = found @ step
    return found
