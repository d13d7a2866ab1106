"""From a name to a number of a description: routes through bodies, joints, parts and their contents.

"boom.mass", "arm.ry.stiffness", "push.force.scale" (a time table's values), "arm.motion.to", "deploy.do[0].motion.duration",
"pin.a.at[2]", "gear.terms.motor".  In addition to the fields of a description, derived numbers change several fields at once:

    scale, shift    of time tables and motions: values times it; times later by it [s]
    tilt            of what has an orientation: a rotation vector about its own axes [rad]
    frequency, modal_damping        of the modes of a flexible body
    shape_scale, participation_scale    of how far these move its nodes, and its mass
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from scipy.spatial.transform import Rotation

from bough.compile.layout import Floats
from bough.describe import Body, Joint, System
from bough.describe.base import Description
from bough.describe.motions import Constant, Harmonics, Move, Pieces, Polynomial, Rate, Spline, TimeTable
from bough.describe.parts import parts_of
from bough.errors import DescriptionError
from bough.flex import FlexibleBody

SUBSTANCE = ("mass", "com", "inertia")
OF_JOINT = ("stiffness", "damping", "rest", "torque", "motion")
OF_MODES = ("frequency", "modal_damping", "shape_scale", "participation_scale")
ROUNDED = 1e-12                         # relative to the trace of a mass matrix: eigenvalues that are zero to rounding
_SCALED: dict[type, tuple[str, ...]] = {
    TimeTable: ("values",), Spline: ("values", "rates"), Pieces: ("coefficients",), Constant: ("value",),
    Rate: ("rate", "start"), Polynomial: ("coefficients",), Move: ("to", "start"), Harmonics: ("terms", "mean")}
_SHIFTED: dict[type, str] = {TimeTable: "times", Spline: "times", Pieces: "times", Move: "begin"}


class Lens(NamedTuple):
    """The value at the end of a route, and a function that returns the owner with another value there."""
    value: Any
    put: Callable[[Any], Any]


def tokens_of(path: str) -> list[str]:
    """The steps of a route, as strings.

    >>> tokens_of("do[0].motion.to")
    ['do', '0', 'motion', 'to']
    """
    return [step.strip("[]") for step in re.findall(r"[^.\[\]]+|\[\d+\]", path)]


def lens(owner: Any, steps: list[str]) -> Lens | None:
    """The lens at the end of the steps from an owner; None if there is no such route."""
    if not steps:
        return Lens(owner, lambda new: new)
    first, rest = steps[0], steps[1:]
    if not rest and (found := derived(owner, first)) is not None:
        return found
    near = _inside(owner, first)
    deeper = None if near is None else lens(near.value, rest)
    return None if near is None or deeper is None else Lens(deeper.value, lambda new: near.put(deeper.put(new)))


def _inside(owner: Any, step: str) -> Lens | None:
    """One step: an entry of a mapping, of a tuple, or a field of a description."""
    if isinstance(owner, Mapping) and step in owner:
        return Lens(owner[step], lambda new: {**owner, step: new})
    if isinstance(owner, tuple) and step.isdigit() and int(step) < len(owner):
        return Lens(owner[int(step)], lambda new: (*owner[:int(step)], new, *owner[int(step) + 1:]))
    if isinstance(owner, Description) and step in type(owner).model_fields:
        return Lens(getattr(owner, step), lambda new: owner.model_copy(update={step: new}))
    return None


def derived(owner: Any, name: str) -> Lens | None:
    """Derived numbers: scale, shift, tilt."""
    if name == "scale" and type(owner) in _SCALED:
        return Lens(1.0, lambda factor: _scaled(owner, float(factor)))
    if name == "shift" and type(owner) in _SHIFTED:
        field = _SHIFTED[type(owner)]
        return Lens(0.0, lambda later: owner.model_copy(update={field: nested(np.array(getattr(owner, field)) + float(later))}))
    if name == "tilt" and "orient" in getattr(type(owner), "model_fields", {}):
        return Lens((0.0, 0.0, 0.0), lambda turn: owner.model_copy(update={"orient": tuple(
            (Rotation.from_quat(owner.orient)*Rotation.from_rotvec(np.asarray(turn, float))).as_quat().tolist())}))
    return None


def _scaled(owner: Any, factor: float) -> Any:
    """A time table or a motion, its values times a factor."""
    def times(field: str) -> Any:
        value = getattr(owner, field)
        if field == "terms":                                                    # amplitude, frequency, phase
            return tuple((factor*amplitude, frequency, phase) for amplitude, frequency, phase in value)
        if field == "coefficients" and isinstance(owner, Pieces):               # pieces have different lengths
            return tuple(nested(factor*np.array(piece)) for piece in value)
        return nested(factor*np.array(value))
    return owner.model_copy(update={field: times(field) for field in _SCALED[type(owner)]})


def nested(value: Any) -> Any:
    """A number, or tuples of them, as descriptions keep them."""
    value = np.asarray(value)
    return float(value) if value.ndim == 0 else tuple(nested(row) for row in value)


def as_numbers(value: Any) -> Floats | None:
    """Finite numbers in an array; None of anything else."""
    if value is None or isinstance(value, bool | str | Mapping | Description):
        return None
    try:
        numbers = np.array(value, float)
    except (TypeError, ValueError):
        return None
    return numbers if numbers.size and np.isfinite(numbers).all() else None


# ---- bodies ------------------------------------------------------------------------------------------------------------------
def of_body(body: Body, path: str) -> Lens | None:
    """A number of a body, of its joint or of its modes."""
    steps = tokens_of(path)
    if path in ("at", "tilt") or (path in SUBSTANCE and body.flexible is None):
        return lens(body, steps)
    if body.flexible is not None and path in OF_MODES:
        found = of_modes(body.name, body.elastic, path)
        return Lens(found.value, lambda new: body.model_copy(update={"flexible": found.put(new)}))
    if path == "rest" and body.n_modes and body.rest is not None:               # modal coordinates without stress
        return lens(body, steps)
    inner = of_joint(body.joint, steps)
    return None if inner is None else Lens(inner.value, lambda new: body.model_copy(update={"joint": inner.put(new)}))


def of_joint(joint: Joint, steps: list[str]) -> Lens | None:
    """A number of a joint: of all its coordinates, of the only one, or of that with a label, "ry.stiffness"."""
    label = steps[0] if steps[0] in joint.dofs and len(steps) > 1 else ""
    kind, *rest = steps[1:] if label else steps
    joint = with_rest(joint)
    entries = getattr(joint, kind) if kind in OF_JOINT else None
    if entries is None:
        return None
    if not label and len(entries) > 1:
        return lens(joint, [kind]) if not rest and as_numbers(entries) is not None else None
    return lens(joint, [kind, str(joint.dofs.index(label) if label else 0), *rest])


def with_rest(joint: Joint) -> Joint:
    """A joint with springs and explicit rest positions: zero if the description gives none."""
    silent = joint.rest is None and joint.stiffness is not None and not joint.spherical
    return joint.model_copy(update={"rest": (0.0,)*len(joint.dofs)}) if silent else joint


def of_modes(name: str, flexible: FlexibleBody, field: str) -> Lens:
    """Frequencies [Hz] of modes, each with its damping ratio kept; their modal damping, the diagonal of D; factors of how far
    they move nodes, or mass."""
    def moved(value: Any) -> FlexibleBody:
        value = np.asarray(value, float)
        if field == "modal_damping":
            return replace(flexible, D=flexible.D + np.diag(value - np.diag(flexible.D)))
        if field == "shape_scale":
            return with_shapes_scaled(flexible, value)
        if field == "participation_scale":
            return with_participation_scaled(name, flexible, value)
        ratio = np.sqrt(value/flexible.frequencies)
        return replace(flexible, K=flexible.K*np.outer(ratio, ratio)**2, D=flexible.D*np.outer(ratio, ratio), frequencies=value)

    usual = {"frequency": flexible.frequencies, "modal_damping": np.diag(flexible.D)}
    return Lens(np.array(usual.get(field, np.ones(flexible.n_modes))), moved)


def with_shapes_scaled(body: FlexibleBody, s: Floats) -> FlexibleBody:
    """Modes that move the nodes s times as far, where loads act and outputs are read; the mass moves as it did."""
    outline = None if body.outline is None else replace(body.outline, phi=body.outline.phi*s)
    recovery = None if body.recovery is None else replace(
        body.recovery, **{field: getattr(body.recovery, field)*s for field in ("stress", "strain", "point_stress", "point_strain")})
    geometric = None if body.geometric is None else replace(
        body.geometric, **{field: getattr(body.geometric, field)*np.outer(s, s) for field in ("force", "moment")})
    nodes = replace(body.nodes, phi=body.nodes.phi*s, psi=body.nodes.psi*s)
    return replace(body, nodes=nodes, geometric=geometric, outline=outline, recovery=recovery)


def with_participation_scaled(name: str, body: FlexibleBody, s: Floats) -> FlexibleBody:
    """Modes whose mass moves s times as far, with the modal mass, stiffness and damping that they had: integrals of first order in
    the shapes times s_r, those of second order times s_r s_s.  They cannot take more inertia than the body has."""
    pair, a = np.outer(s, s), body.integrals
    integrals = replace(a, t=a.t*s[:, None], I1=a.I1*s[:, None, None], I2=a.I2*pair[:, :, None, None], h=a.h*s[:, None],
                        k=a.k*pair[:, :, None], spin=a.spin*s[:, None], spin_pairs=a.spin_pairs*pair[:, :, None])
    arm = np.cross(np.eye(3), a.s0)                                             # arm v = s0 x v
    whole = np.block([[a.I0, arm, integrals.h.T], [arm.T, a.m*np.eye(3), integrals.t.T], [integrals.h, integrals.t, a.Mff]])
    if np.linalg.eigvalsh(whole)[0] < -ROUNDED*np.trace(whole):
        raise DescriptionError(f"body '{name}': with their participation scaled by {np.round(s, 6).tolist()} modes would move more "
                               "inertia than the body has; give smaller factors")
    geometric = None if body.geometric is None else replace(
        body.geometric, **{field: getattr(body.geometric, field)*pair for field in ("acceleration", "gradient")})
    points = None if body.points is None else replace(body.points, phi=body.points.phi*s, psi=body.points.psi*s)
    return replace(body, integrals=integrals, geometric=geometric, points=points)


# ---- read back ---------------------------------------------------------------------------------------------------------------
DERIVED = ("scale", "shift", "tilt", "shape_scale", "participation_scale")


def owner_of(system: System, name: str) -> Any:
    """The owner of a derived number: a time table, a motion, a body, a frame, or a flexible body."""
    for body in system.bodies.values():
        for prefix in sorted({body.name, body.joint.name or body.name}):
            path = name[len(prefix) + 1:]
            if name.startswith(prefix + ".") and of_body(body, path) is not None:
                entry = None if path in ("tilt", *OF_MODES) else of_joint(body.joint, tokens_of(path)[:-1])
                return body.flexible if path in OF_MODES else body if entry is None else entry.value
    for part in parts_of(system):
        if name.startswith(part.name + ".") and (found := lens(part, tokens_of(name[len(part.name) + 1:])[:-1])) is not None:
            return found.value
    return None


def change_of(before: Any, after: Any, name: str) -> Floats:
    """The derived number that changes one owner into another, from the values that they hold."""
    if name == "shift":
        field = _SHIFTED[type(before)]
        return np.array(np.ravel(getattr(after, field))[0] - np.ravel(getattr(before, field))[0])
    if name == "tilt":
        return np.asarray((Rotation.from_quat(before.orient).inv()*Rotation.from_quat(after.orient)).as_rotvec())
    if name == "scale":
        one, two = (np.concatenate([np.ravel(_amplitudes(owner, field)) for field in _SCALED[type(owner)]])
                    for owner in (before, after))
        return np.array(_ratio(one, two))
    if name == "shape_scale":
        pairs = [np.concatenate([np.ravel(each.nodes.phi[..., r]), np.ravel(each.nodes.psi[..., r])])
                 for r in range(before.n_modes) for each in (before, after)]
    else:
        pairs = [np.concatenate([each.integrals.t[r], each.integrals.h[r]])
                 for r in range(before.n_modes) for each in (before, after)]
    return np.array([_ratio(one, two) for one, two in zip(pairs[::2], pairs[1::2], strict=True)])


def _amplitudes(owner: Any, field: str) -> Any:
    value = getattr(owner, field)
    if field == "terms":
        return [amplitude for amplitude, _, _ in value]
    return [entry for piece in value for entry in piece] if isinstance(owner, Pieces) else value


def _ratio(before: Floats, after: Floats) -> float:
    k = int(np.abs(before).argmax())
    return float(after[k]/before[k]) if before[k] else 1.0


# ---- all names ---------------------------------------------------------------------------------------------------------------
def names_of(system: System) -> list[str]:
    """All names that `parameter` accepts for a system, one per array: for messages and lists."""
    central = hasattr(system.gravity, "mu")
    found = ["gravity.mu" if central else "gravity"]
    for body in system.bodies.values():
        fields = ["at", "tilt", *(OF_MODES if body.flexible is not None else SUBSTANCE)]
        for kind in OF_JOINT:
            for label, entry in zip(body.joint.dofs, getattr(with_rest(body.joint), kind) or (), strict=False):
                prefix = kind if body.joint.n_v == 1 else f"{label}.{kind}"
                fields += [prefix] if as_numbers(entry) is not None else [f"{prefix}.{inner}" for inner in inside(entry)]
        found += [f"{body.name}.{field}" for field in fields]
    for part in parts_of(system):
        found += [f"{part.name}.{inner}" for inner in inside(part)]
    return found


def inside(owner: Any) -> Iterator[str]:
    """Routes to all numbers inside a description, a mapping or a tuple."""
    for name in ("scale", "shift", "tilt"):
        if derived(owner, name) is not None:
            yield name
    entries: Mapping[str, Any] = {}
    if isinstance(owner, Description):
        entries = {field: getattr(owner, field) for field in type(owner).model_fields if field not in ("name", "orient")}
    elif isinstance(owner, Mapping):
        entries = owner
    elif isinstance(owner, tuple):
        entries = {f"[{i}]": entry for i, entry in enumerate(owner)}
    for name, value in entries.items():
        if as_numbers(value) is not None:
            yield name
        else:
            yield from (f"{name}{'' if inner.startswith('[') else '.'}{inner}" for inner in inside(value))


