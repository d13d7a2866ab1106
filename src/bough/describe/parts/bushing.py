"""Bushings: springs and dampers along all six relative motions of two frames."""

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Self

import numpy as np
from pydantic import BeforeValidator, PlainSerializer, WithJsonSchema, model_validator

from bough.describe import numeric
from bough.describe.base import Description, Fault
from bough.describe.body import WORLD, Frame
from bough.describe.numeric import Matrix6, Vector, VectorLike, at_least_zero
from bough.describe.orientation import IDENTITY, Orientation, rotation_matrix
from bough.describe.part import Drawing, Recorded
from bough.describe.parts.element import Between, Exerted, Floats, Motion, Places, TableEntry

HALF_TURN = 1
_NEAR = np.deg2rad(5.0)
_ROUNDING = 1e-9  # how far a matrix may be from symmetric, or from positive semi-definite, relative to its diagonal
_REMEDY = "give a 6x6 matrix, its diagonal, or a pair [of rotations, of translations]: numbers, 3 numbers or 3x3 matrices"
_NONE: Matrix6 = ((0.0,) * 6,) * 6


def _matrix(value: Any) -> Matrix6:
    """A symmetric positive semi-definite 6x6 matrix, rotations first."""
    given = numeric.items(value)
    if given is not None and len(given) == 2:
        whole = np.zeros((6, 6))
        whole[:3, :3], whole[3:, 3:] = (_block(entry) for entry in given)
    else:
        whole = np.array(numeric.matrix6(value, _REMEDY))
    _check_matrix(whole)
    return tuple(map(tuple, (0.5 * (whole + whole.T)).tolist()))


def _block(value: Any) -> Floats:
    """3x3: a matrix, its diagonal, or one number for all axes."""
    given = numeric.items(value)
    if given is None:
        return numeric.number(value) * np.eye(3)
    if len(given) == 3 and all(numeric.items(row) is not None for row in given):
        return np.array([numeric.numbers(row, 3) for row in given])
    if len(given) != 3:
        raise ValueError(f"has an entry {numeric.shown(value)}; {_REMEDY}")
    return np.diag(numeric.numbers(given, 3))


def _check_matrix(K: Floats) -> None:
    diagonal = np.diag(K)
    if diagonal.min() < 0.0:
        raise ValueError(f"has the diagonal {numeric.shown(diagonal)}, so that it feeds energy; give numbers >= 0 there")
    scale = np.sqrt(np.outer(diagonal, diagonal))                   # no other entry of such a matrix is larger
    if (loose := np.argwhere(np.abs(K - K.T) > _ROUNDING * scale)).size:
        i, j = loose[0]
        raise ValueError(f"is not symmetric: [{i}][{j}] is {K[i, j]} and [{j}][{i}] is {K[j, i]}; give equal numbers")
    unit = np.divide(K, scale, out=np.where(K == 0.0, 0.0, np.inf), where=scale > 0.0)
    if np.abs(unit).max() > 1.0 + _ROUNDING or np.linalg.eigvalsh(unit).min() < -_ROUNDING:
        raise ValueError("has a negative eigenvalue, so that it feeds energy; give a positive semi-definite matrix")


_PAIR = {"type": "array", "minItems": 2, "maxItems": 2}
Matrix = Annotated[Matrix6, BeforeValidator(_matrix), PlainSerializer(numeric.write_matrix),
                   WithJsonSchema({"anyOf": [*numeric.MATRIX6["anyOf"], _PAIR]})]


class Pose(Description):
    """A place and an attitude, relative to a frame."""

    noun: ClassVar[str] = "rest"
    at: Vector = (0.0, 0.0, 0.0)
    orient: Orientation = IDENTITY

    def __init__(self, at: VectorLike = (0.0, 0.0, 0.0), orient: Any = None) -> None:
        super().__init__(at=at, orient=orient)


def _rest(value: Any) -> Pose:
    if value is None or isinstance(value, Pose):
        return value or Pose()
    if isinstance(value, Mapping):
        return Pose.from_mapping(value)
    given = numeric.items(value)
    if given is None or len(given) not in (2, 3):
        remedy = "give a place of 3 numbers [m], a pair (place, orientation) or {at: ..., orient: ...}"
        raise ValueError(f"is {numeric.shown(value)}; {remedy}")
    return Pose(given) if len(given) == 3 else Pose(*given)


class Bushing(Between):
    """A spring and a damper along all six motions of the frame `b` relative to the frame `a`, such as a rubber mount.

    With d = [rotation vector, displacement] of b from its rest pose, along the axes of that pose in a, and w = [relative angular
    velocity, relative velocity] along the same axes, the load on b at its origin derives from the potential d.stiffness d/2, plus
    a damper - damping w: for small angles [moment, force] = - stiffness d - damping w. The opposite load acts on a, at the same
    point.

    `stiffness` and `damping` are symmetric positive semi-definite 6x6 matrices, rotations first [N m/rad, N/m; N m s/rad, N s/m],
    or their diagonals, or pairs [of rotations, of translations] of numbers, 3 numbers or 3x3 matrices. `rest` is the unloaded pose
    of b in a: a position, a pair (position, orientation) or a mapping; by default the two frames coincide. About a single axis the
    moment is linear in the angle. The rotation must stay below half a turn. Both matrices are initially multiplied by `scale`,
    which events can change (see Stiffen): with 0 the bushing is inactive until a capture.

    >>> mount = Bushing("mount", "frame", Frame("engine", at=(0, 0.3, 0)), stiffness=([80, 80, 40], 2e5), damping=(1, 500))
    >>> mount.to_dict()["stiffness"]
    [80.0, 80.0, 40.0, 200000.0, 200000.0, 200000.0]
    """

    key: ClassVar[str] = "bushings"
    recorded: ClassVar[dict[str, Recorded]] = {
        "bushing_force": Recorded(("bushing", "component"), "N m, N",
                                  "moment and force of a bushing on the body of frame b, at that frame's origin, its axes",
                                  "axes of b"),
        "bushing_limit": Recorded(("bushing",), "", "0, or 1 where a bushing turns by nearly half a turn", limit=True),
    }
    limits: ClassVar[dict[int, str]] = {HALF_TURN: "it turns by more than 175 deg, and at half a turn its moment jumps"}
    unchanging: ClassVar[tuple[str, str]] = "frames", "moves"
    stiffness: Matrix = _NONE
    damping: Matrix = _NONE
    rest: Annotated[Pose, BeforeValidator(_rest)] = Pose()
    scale: Annotated[float, at_least_zero("")] = 1.0

    def __init__(self, name: str, a: Any, b: Any, stiffness: Any, damping: Any = _NONE, rest: Any = None,
                 scale: float = 1.0) -> None:
        super().__init__(name=name, a=a, b=b, stiffness=stiffness, damping=damping, rest=rest, scale=scale)

    @model_validator(mode="after")
    def _check(self) -> Self:
        if not np.any(self.stiffness) and not np.any(self.damping):
            raise Fault("stiffness", "stiffness and damping are 0, so that it bears nothing; give one of them")
        return self

    def turned(self, end: Frame) -> str:
        return "a bushing"

    def load_line(self) -> str:
        return f"bushing {self.name}: {self.a.label} - {self.b.label}"

    def table_entry(self, places: Places) -> TableEntry:
        """Both frames in the bodies of their hinges, that of a at rest; the blocks of stiffness and damping."""
        a, b = places.anchor(self.a), places.anchor(self.b)
        numbers = {"b": b.at, "turn_b": b.turn, "a": a.at + a.turn @ np.asarray(self.rest.at),
                   "turn_a": a.turn @ rotation_matrix(self.rest.orient)}
        for what, matrix in (("stiffness", np.array(self.stiffness)), ("damping", np.array(self.damping))):
            matrix = self.scale * matrix
            numbers |= {f"{what}_rr": matrix[:3, :3], f"{what}_rt": matrix[:3, 3:], f"{what}_tt": matrix[3:, 3:]}
        return TableEntry(b, a, 0, [("bushing", numbers)])

    def values(self, exerted: Exerted, motion: Motion) -> dict[str, Floats]:
        """Its load in the axes of b, and whether it turns by nearly half a turn."""
        parts = exerted.wrench.reshape(-1, 2, 3)
        turn_a, turn_b = (_attitude(frame, motion, len(parts)) for frame in self.ends)
        cosine = 0.5 * (np.einsum("nij,nij->n", turn_a @ rotation_matrix(self.rest.orient), turn_b) - 1.0)
        near = np.where(cosine < np.cos(np.pi - _NEAR), HALF_TURN, 0)
        return {"bushing_force": np.einsum("nij,nci->ncj", turn_b, parts).reshape(-1, 6), "bushing_limit": near.astype(float)}

    def result_line(self, values: Mapping[str, Floats]) -> str:
        moment, force = (np.nanmax(np.linalg.norm(part, axis=-1)) for part in np.split(values["bushing_force"], 2, axis=-1))
        return f"up to {moment:.4g} N m, {force:.4g} N"

    def nonconservative_effects(self) -> tuple[str, ...]:
        return ("dampers",) if np.any(self.damping) else ()

    def drawing(self) -> list[Drawing]:
        return [{"kind": "line", "a": self.a, "b": self.b}, {"kind": "spring", "at": self.b}]


def _attitude(frame: Frame, motion: Motion, states: int) -> Floats:
    """(states, 3, 3)"""
    base = np.broadcast_to(np.eye(3), (states, 3, 3)) if frame.body == WORLD else motion.place(frame.body, frame.node).attitude
    attitude: Floats = base @ rotation_matrix(frame.orient)
    return attitude
