"""A free tree that is attached to another for good, as part of that tree: hung where it is attached, and turned round [B 98].

    on -> joint of the attachment -> body of the attachment -> its joint, backward -> its parent -> ... -> the root

A joint backward has the same coordinates along opposite axes, in the opposite order: the inverse of T(a q1) R(b, q2) is
R(-b, q2) T(-a q1).  Entries of the state stay where they are: the 7 + 6 of the root's free joint become the coordinates of the
attachment's joint, and what is left of them is locked on bodies without mass.
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
STARTS = (0.0, 2.0, -2.0)                   # rad: from where angles are sought


@dataclass(frozen=True)
class Hung:
    """A free root whose tree hangs by a loop."""
    root: Body
    path: tuple[str, ...]                   # from the body that is attached to the root
    loop: str
    on: Frame                               # of the other tree
    by: Frame                               # of the tree that hangs
    described: Frame                        # `on` as it is described, wherever it holds
    chain: tuple[Joint, ...]                # of the attachment, from on to by, one axis each; empty: a weld
    slot: tuple[Joint, ...]                 # that have the 7 + 6 entries of the root's: the last ones, which are locked, fill up
    held: tuple[str, ...]                   # names of the speeds that are locked: the last ones of the six
    inner: Floats                           # (4, 4): from the body frame of path[0] to `by`
    frame: Frame                            # of the root: what the coordinates of its free joint tell

    @property
    def form(self) -> Any:
        """What the tables depend on, but for a few numbers: not where it holds, which is in the state, or in the seats."""
        return self.loop, self.root.name, self.by.body

    def at(self, system: System, loop: Loop) -> Hung:
        """The same by the loop as it holds."""
        by, on = (loop.b, loop.a) if loop.b.body == self.by.body else (loop.a, loop.b)
        return replace(self, by=by, on=on, inner=_inner(system, by))

    def seats(self, system: System) -> dict[str, Body]:
        """Of an attachment by a joint: the bodies of the system in which it hangs whose places depend on where it holds."""
        if not self.chain:
            return {}
        pose, first, attached = _inverse(self.inner), system.bodies[self.slot_names[0]], system.bodies[self.by.body]
        at, orient = tuple(pose[:3, 3].tolist()), from_matrix(pose[:3, :3])
        return {first.name: first.model_copy(update={"at": self.on.at, "orient": self.on.orient}),
                attached.name: attached.model_copy(update={"at": at, "orient": orient})}

    @property
    def slot_names(self) -> tuple[str, ...]:
        """Of the bodies without mass on these joints."""
        return _slot_names(self.root, self.slot)

    @property
    def fixed(self) -> int:
        """How many of the six speeds are locked: the last ones."""
        return len(self.held)

    def coordinates(self, at: Floats, turn: Floats) -> Floats:
        """(7,): the entries of q where `by` is at a place and attitude in `on`; of a weld, where the attached body is in `on` as it
        is described."""
        if not self.chain:
            pose = _inverse(_pose_of(self.described)) @ _pose_of(self.on) @ _inverse(self.inner)
            return np.array([*pose[:3, 3], *from_matrix(pose[:3, :3])])
        return np.concatenate([chain_coordinates(self.chain, at, turn), *(joint.neutral for joint in self.slot[len(self.chain):])])


# ---- what can hang ---------------------------------------------------------------------------------------------------------
def hang(system: System, described: Loop, loop: Loop, holds: set[str], others: Sequence[Hung]) -> Hung | None:
    """How a tree hangs by a loop, if one of the two can: the one that has fewer joints to turn round."""
    if isinstance(loop.joint, Distance) or any((loop.joint.stiffness, loop.joint.damping, loop.joint.torque)):
        return None
    if loop.joint.n_v > 3 and not loop.joint.spherical:                     # nothing fills up what is left of 7 + 6
        return None
    joints = _split(loop.joint)
    ways = ((loop.b, loop.a, described.a, joints), (loop.a, loop.b, described.b, _backward(joints)))
    for by, on, frame, chain in sorted(ways, key=lambda way: len(_path(system, way[0].body))):
        path = _path(system, by.body)
        if path and _can_hang(system, path, by, holds, others) and _base(system, on.body, others) != path[-1]:
            root, slot = system.bodies[path[-1]], _slot(chain)
            names = [name for i, joint in enumerate(slot) for name in Body(_slot_names(root, slot)[i], joint=joint).speed_names]
            own = Frame(root.name, at=tuple((-_place(system, root.name)).tolist()))
            return Hung(root, path, loop.name, on, by, frame, chain, slot, tuple(names[sum(joint.n_v for joint in chain):]),
                        _inner(system, by), own)
    return None


def _slot(chain: tuple[Joint, ...]) -> tuple[Joint, ...]:
    """The joints of an attachment, and what fills up 7 coordinates and 6 speeds."""
    if not chain:
        return (Free(motion=[LOCKED]*6),)
    fixed, ball = 6 - sum(joint.n_v for joint in chain), not any(joint.spherical for joint in chain)
    fill = [Joint(rotations="spherical", motion=[LOCKED]*3)]*ball
    return (*chain, *fill, *[Joint(translations="x", motion=[LOCKED])]*(fixed - 3*ball))


def _slot_names(root: Body, slot: tuple[Joint, ...]) -> tuple[str, ...]:
    return tuple(f"{root.name}, hung {i}" for i in range(len(slot)))


def _inner(system: System, by: Frame) -> Floats:
    """(4, 4): from the body frame of an attached body to the frame by which it is attached."""
    return _pose(_place(system, by.body) + np.asarray(by.at), rotation_matrix(by.orient))


def _path(system: System, body: str) -> tuple[str, ...]:
    """From a body to its root."""
    found = list[str]()
    while body in system.bodies:
        found.append(body)
        body = system.bodies[body].parent or ""
    return tuple(found)


def _base(system: System, body: str, others: Sequence[Hung]) -> str:
    """The root that carries a body, through all that hangs already."""
    hung = {each.root.name: each.on.body for each in others}
    while body in system.bodies:
        body = _path(system, body)[-1]
        if body not in hung:
            return body
        body = hung[body]
    return "world"


def _can_hang(system: System, path: tuple[str, ...], by: Frame, holds: set[str], others: Sequence[Hung]) -> bool:
    root, joint = system.bodies[path[-1]], system.bodies[path[-1]].joint
    names = {*root.speed_names[:6], *root.coordinate_names[:7], root.name, joint.name}
    plain = joint.kind == "free" and not any((joint.damping, joint.torque, joint.stiffness)) and joint.motion is None
    seen = plain and not names & holds and not names & set(_looked_at(system))
    places = (by.node, *(system.bodies[name].node for name in path[:-1]))   # where they are held then
    return (seen and root.name not in {each.root.name for each in others}
            and all(_holds_at(system.bodies[name], node) for name, node in zip(path, places, strict=True))
            and all(_can_turn(system, system.bodies[name]) for name in path[:-1]))


def _holds_at(body: Body, node: str | None) -> bool:
    """Whether a body can be held there: a flexible one only where its own joint holds it."""
    if body.flexible is None:
        return True
    return body.elastic.inboard is not None and node in (None, body.elastic.inboard) and not inboard_shapes(body.elastic)[1]


def _can_turn(system: System, body: Body) -> bool:
    """Whether its joint backward has the same coordinates, by name."""
    own, joint = body.speed_names[:body.joint.n_v], body.joint
    gone = {action.target for event in system.events.values() for action in event.do if isinstance(action, Detach)}
    flowing = {name for tank in system.tanks.values() for name in tank.body_names}
    if joint.spherical or {body.name, joint.name} & (gone | flowing):
        return False
    rubbing = {name for friction in system.frictions.values() for name in targets_of(system, friction.coordinate)}
    coupled = {name for coupling in system.couplings.values() for each in coupling.terms for name in targets_of(system, each)}
    turned = tuple(name for each in _turned(body, (0.0, 0.0, 0.0)) for name in each.speed_names)
    return turned == own and not set(own) & (rubbing | coupled)


def _looked_at(system: System) -> list[str]:
    """The coordinates that parts of a system name."""
    found = [name for output in system.outputs.values() for name in (output.coordinate, output.rate)]
    found += [port.coordinate for port in system.inputs.values()] + [stop.coordinate for stop in system.stops.values()]
    found += [friction.coordinate for friction in system.frictions.values()]
    found += [name for coupling in system.couplings.values() for name in coupling.terms]
    for event in system.events.values():
        found += [event.when] if isinstance(event.when, str) else [each.of for each in event.conditions]
        found += [action.target for action in event.do if not isinstance(action, Close | Open)]
    return [name for name in found if name]


# ---- the system in which it hangs ------------------------------------------------------------------------------------------
def hung_system(whole: System, hung: Sequence[Hung]) -> System:
    """In which these trees hang where they are attached; what entries of the state are called stays, but for those of roots."""
    system, slots = whole.copy(), dict[str, list[Body]]()
    system.loops = {name: loop for name, loop in whole.loops.items() if name not in {each.loop for each in hung}}
    system.events = {name: _by_coordinates(whole, event) for name, event in whole.events.items()}
    for each in hung:
        slots |= _slots(whole, each)
    bodies = [each for name, body in whole.bodies.items() for each in slots.get(name, [body])]
    system.bodies = {body.name: body for body in bodies}
    return system


def _by_coordinates(system: System, event: Event) -> Event:
    """The event whose actions name coordinates, not joints, which may be in two parts then."""
    do = [action.model_copy(update={"target": name}) if isinstance(action, Lock | Release | Prescribe) else action
          for action in event.do
          for name in (targets_of(system, action.target) if isinstance(action, Lock | Release | Prescribe) else [""])]
    return event.model_copy(update={"do": tuple(do)})


def _slots(system: System, hung: Hung) -> dict[str, list[Body]]:
    """Of each body from the attached one to the root: what takes its place in the description, joints before the body itself."""
    inner, pose = hung.slot_names[max(len(hung.chain) - 1, 0)], np.eye(4)   # what carries the next body, and where: see `seats`
    found = dict[str, list[Body]]()
    for name, outer in zip(hung.path, (*hung.path[1:], None), strict=True):
        body, origin = system.bodies[name], _pose(-_place(system, name), np.eye(3))     # its body frame, on itself
        held = {"parent": inner, "node": None, "at": tuple(pose[:3, 3].tolist()), "orient": from_matrix(pose[:3, :3])}
        carriers = _slot_bodies(hung)
        if outer is not None:
            carriers = _turned(body, tuple(origin[:3, 3].tolist()))
            inner = carriers[0].name if carriers else name
            back = _inverse(_pose(np.asarray(body.at), rotation_matrix(body.orient)))
            pose = (np.eye(4) if carriers else origin) @ back @ _pose(-_place(system, outer), np.eye(3))
        found[name] = [*carriers, body.model_copy(update={**held, "joint": Joint()})]
    return found


def _slot_bodies(hung: Hung) -> list[Body]:
    """Without mass: those of the attachment's joint are one on the other, the others beside."""
    on, found = hung.described, list[Body]()
    for i, (name, joint) in enumerate(zip(hung.slot_names, hung.slot, strict=True)):
        if 0 < i < len(hung.chain):
            found.append(Body(name, parent=found[-1].name, joint=joint))
        else:
            found.append(Body(name, parent=None if on.body == "world" else on.body, node=on.node, at=on.at, orient=on.orient,
                              joint=joint))
    return found


def _turned(body: Body, at: tuple[float, ...]) -> list[Body]:
    """Bodies without mass on its joint backward, in the order of its coordinates: the last one hangs on the body."""
    found, inner = list[Body](), body.name
    for i, joint in reversed(list(enumerate(_split(body.joint)))):
        found.insert(0, Body(f"{body.name}, turned {i}", parent=inner, at=at, joint=_opposite(_named(body, joint))))
        inner, at = found[0].name, (0.0, 0.0, 0.0)
    return found


def _place(system: System, name: str) -> Floats:
    """Where the frame is on which things on a body are placed, in its body frame."""
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


def _backward(joints: Sequence[Joint]) -> tuple[Joint, ...]:
    return tuple(_opposite(joint) for joint in reversed(joints))


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
    """Coordinates with which single joints, one on the other, lead to a place and attitude that they can reach: by Newton's method
    from several angles.

    >>> chain = _split(Joint(rotations="zy"))
    >>> chain_coordinates(chain, np.zeros(3), chain_pose(chain, [0.5, 2.5])[:3, :3])
    array([0.5, 2.5])
    """
    ball = next((i for i, joint in enumerate(chain) if joint.spherical), None)
    if ball is not None:                                                    # which has the whole attitude
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
    """(4, 4): where single joints, one on the other, lead; of complex coordinates, too."""
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
