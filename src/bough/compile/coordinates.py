"""Coordinates by name: their positions in q and v, and which of them can be held.

Also the parameters of a system's bodies as arrays, each given once or for every member of a batch.  A parameter has its own shape
(mass: (), com: (3,), inertia: (3, 3), at: (3,)) after one leading axis, of length 1 or of the batch, for NumPy's broadcasting.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from bough.describe import Body, Coupling, Friction, Lock, Prescribe, System
from bough.describe.part import targets
from bough.describe.parts.connection import detachable, separation_of
from bough.errors import DescriptionError, ModelError, similar
from bough.sweeps.schema import Floats


def coordinate_places(system: System) -> dict[str, tuple[int, int]]:
    """Start of each joint's coordinates in q and v, in the order of the description."""
    places, q, v = {}, 0, 0
    for body in system.bodies.values():
        places[body.name] = q, v
        q, v = q + body.n_q, v + body.n_v
    return places


def coordinate_place(system: System, name: str) -> tuple[int, int]:
    """Index in q and v of a coordinate that is an entry of both."""
    target = targets(system, name)[0]
    q, v = coordinate_places(system)[target.body.name]
    return q + target.entries[0], v + target.entries[0]


def targets_of(system: System, name: str) -> list[str]:
    """The entries of v that a name refers to: one, or all of a body's or a joint's."""
    return [each for target in targets(system, name) for each in target.names]


class Coordinate(NamedTuple):
    """An entry of v that can be held."""
    name: str
    body: str                           # body of its joint
    q: int | None                       # index in q; None: a component of a spherical rotation
    v: int
    motions: tuple[Any, ...]            # that can be prescribed


def holdable(system: System) -> dict[str, Coordinate]:
    """Coordinates that the description or an event may hold, by name."""
    motions: dict[str, list[Any]] = {}
    for name, motion in declared_motions(system).items():
        motions[name] = [] if motion == "locked" else [motion]
    for action in (action for event in system.events.values() for action in event.do if isinstance(action, Lock | Prescribe)):
        for name in targets_of(system, action.target):
            motions.setdefault(name, []).extend([action.motion] if isinstance(action, Prescribe) else [])
    for body in detachable(system):
        joint = separation_of(system, body.name)[1]
        for name in joint.speed_names[:joint.joint.n_v] if joint else ():
            motions.setdefault(name, [])
    for friction in sticking_frictions(system):
        for name in targets_of(system, friction.coordinate):
            motions.setdefault(name, [])
    found, places = {}, coordinate_places(system)
    for body in system.bodies.values() if motions else ():
        (q, v), slides = places[body.name], len(body.joint.translations)
        for i, name in enumerate(body.speed_names[:body.joint.n_v]):
            if name in motions:
                own = None if body.joint.spherical and i >= slides else q + i
                found[name] = Coordinate(name, body.name, own, v + i, tuple(motions[name]))
    return found


def sticking_frictions(system: System) -> list[Friction]:
    """The frictions that can hold their coordinates."""
    return [friction for friction in system.frictions.values() if friction.sticks]


def touching(system: System) -> list[Coupling]:
    """The couplings with hard contacts at the ends of their play."""
    return [coupling for coupling in system.couplings.values() if coupling.touches]


def coupled_bodies(system: System) -> set[str]:
    """Bodies whose joints have a coordinate with a coupling or friction."""
    names = [name for coupling in system.couplings.values() for name in coupling.terms]
    names += [friction.coordinate for friction in system.frictions.values() if friction.coordinate not in system.wheels]
    return {targets(system, name)[0].body.name for name in names}


def declared_motions(system: System) -> dict[str, Any]:
    """Motions of joint coordinates that are not free: "locked", or a motion."""
    return {name: motion for body in system.bodies.values() if body.joint.motion is not None
            for name, motion in zip(body.speed_names, body.joint.motion, strict=False) if motion is not None}


# ---- parameters ------------------------------------------------------------------------------------------------------------
SHAPES = {"mass": (), "com": (3,), "inertia": (3, 3), "at": (3,)}


class BodyParameters(NamedTuple):
    mass: Floats        # (batch,)       kg
    com: Floats         # (batch, 3)     m, body axes
    inertia: Floats     # (batch, 3, 3)  kg m^2, about the mass center, body axes
    at: Floats          # (batch, 3)     m, place of the joint in the parent


def body_parameters(system: System, changes: Mapping[str, Any] | None = None) -> dict[str, BodyParameters]:
    """Parameters of all bodies; `changes` maps "body.parameter" to one value for each member of a batch."""
    values: dict[str, dict[str, Floats]] = {
        body.name: {name: np.asarray(getattr(body, name), float)[None] for name in SHAPES} for body in system.bodies.values()}
    batch = members(changes)
    for key, given in (changes or {}).items():
        body, name = _split(key, system)
        array = np.asarray(given, float)
        if name == "inertia" and array.shape == (batch, 3):
            array = array[:, :, None]*np.eye(3)
        if array.shape != (batch, *SHAPES[name]):
            shape = ", ".join(map(str, (batch, *SHAPES[name])))
            raise ModelError(f"parameter '{key}': shape is {array.shape}; give one value for each of the {batch} members of the "
                             f"batch, shape ({shape})")
        values[body][name] = array
    if changes:
        _check(system, values, {key.rpartition(".")[0] for key in changes})
    return {name: BodyParameters(**arrays) for name, arrays in values.items()}


def member_of(parameters: Mapping[str, Any] | None, member: Any) -> dict[str, Floats]:
    """The parameters of one member of a batch, or of several; empty if the members have none of their own."""
    return {name: np.asarray(value, float)[member] for name, value in (parameters or {}).items()}


def members(changes: Mapping[str, Any] | None) -> int:
    """Number of members of a batch of parameter sets; 1 without one."""
    if changes is None:
        return 1
    if not isinstance(changes, Mapping) or not changes:
        raise ModelError(f"parameters is {changes!r}; give a dict such as {{'boom.mass': [1.0, 2.0]}}, one value for each member")
    try:
        counts = {key: len(np.asarray(value, float)) for key, value in changes.items()}
    except (TypeError, ValueError):
        raise ModelError(f"parameters is {dict(changes)!r}; give for each a list of numbers, one for each member") from None
    if len(set(counts.values())) > 1:
        raise ModelError(f"parameters have {counts} values; give as many of each, one for each member of the batch")
    return next(iter(counts.values()))


def _split(key: str, system: System) -> tuple[str, str]:
    body, _, name = key.rpartition(".")
    if body not in system.bodies:
        raise ModelError(f"parameter '{key}': there is no body '{body}'{similar(body, system.bodies)}; "
                         "name it as 'body.parameter'")
    if any(body in tank.body_names for tank in system.tanks.values()):
        raise ModelError(f"parameter '{key}': '{body}' is the propellant of a tank, and {name} follows from how much there is; "
                         "give that by tanks0, or describe another tank")
    if name in ("mass", "com", "inertia") and system.bodies[body].flexible is not None:
        raise ModelError(f"parameter '{key}': body '{body}' is flexible, and its {name} is that of its finite elements; vary its "
                         "place 'at', or compile a system for each flexible body")
    if name not in SHAPES:
        raise ModelError(f"parameter '{key}': '{name}' cannot vary{similar(name, SHAPES)}; give one of {', '.join(SHAPES)}")
    return body, name


def _check(system: System, values: Mapping[str, Mapping[str, Floats]], bodies: set[str]) -> None:
    """Every member of the batch must be a valid body."""
    for name in bodies:
        body = system.bodies[name]
        for member in suspect_members(values[name], body):
            fields = {key: a[member if len(a) > 1 else 0] for key, a in values[name].items()}
            try:
                if body.flexible is None:
                    Body(name=name, parent=body.parent, joint=body.joint, orient=body.orient, idealized=body.idealized,
                         mass=float(fields["mass"]), com=tuple(fields["com"]), at=tuple(fields["at"]),
                         inertia=fields["inertia"].tolist())
                elif not np.isfinite(fields["at"]).all():
                    raise DescriptionError(f"body '{name}': at is {fields['at'].tolist()}; give finite numbers")
            except DescriptionError as error:
                raise ModelError(f"member {member} of the batch: {error}") from None


def suspect_members(values: Mapping[str, Floats], body: Body) -> list[int]:
    """Members that need a check one by one; all others are clearly valid."""
    n = max(len(a) for a in values.values())
    sound = np.ones(n, bool)
    for a in values.values():
        sound &= np.isfinite(a).reshape(len(a), -1).all(axis=1)
    inertia = np.where(sound[:, None, None] if len(values["inertia"]) == n else sound.all(), values["inertia"], 0.0)
    if body.flexible is None:
        moments = np.linalg.eigvalsh(inertia)
        real = (moments[:, 0] > 0.0) & (body.idealized | (moments[:, 0] + moments[:, 1] > 1.000001*moments[:, 2]))
        sound &= (values["mass"] > 0.0) & real & (inertia == np.swapaxes(inertia, 1, 2)).all(axis=(1, 2))
    return np.flatnonzero(~sound).tolist()


def maybe_invalid_members(system: System, changes: Mapping[str, Any]) -> list[int]:
    """Members whose model may be invalid although each body is valid: zero mass, or a changed inertia of a body with wheels."""
    found = np.zeros(members(changes), dtype=bool)
    carriers = {wheel.body for wheel in system.wheels.values()}
    for key, given in changes.items():
        body, name = _split(key, system)
        if name == "mass":
            found |= np.asarray(given, float) == 0.0
        elif name == "inertia":
            array = np.asarray(given, float)
            least = array.min(axis=1) if array.ndim == 2 else np.linalg.eigvalsh(array)[:, 0]
            found |= (least <= 0.0) | (body in carriers)
    return np.flatnonzero(found).tolist()
