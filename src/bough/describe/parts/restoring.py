"""Restoring forces: linear springs between a body and the world."""

from typing import Annotated, Any, ClassVar

import numpy as np
from pydantic import BeforeValidator, PlainSerializer, WithJsonSchema

from bough.describe.body import Frame
from bough.describe.numeric import MATRIX6, Matrix6, Text, Vector, VectorLike, matrix6, write_matrix
from bough.describe.part import FORCE_BESIDE, Attachment, Drawing
from bough.describe.parts.element import Exerted, Floats, Motion, OnBody, Places, TableEntry

ORIGIN = (0.0, 0.0, 0.0)
PITCHED, YAWED = 4, 5
_NEAR = np.deg2rad(5.0)
_REMEDY = "give a 6x6 matrix, or its diagonal: 3 numbers [N/m] and 3 [N m/rad]"
_READ = BeforeValidator(lambda value: matrix6(value, _REMEDY))


class Restoring(OnBody):
    """A linear spring between a body and the world: with d = [displacement of the point `at` of the body frame from `rest` [m];
    roll, pitch, yaw of the body [rad]] it exerts [force; moment] - stiffness d at that point, in world axes. `rest` is a position
    in the world, by default that of the point when all coordinates are neutral. The body's attitude is Rz(yaw) Ry(pitch) Rx(roll):
    pitch must stay away from a quarter turn and yaw from half a turn, if the stiffness has columns for angles. On a flexible body,
    the frame of `node`, or of the inboard node, replaces the body frame.

    Forces against displacements have a potential if their block of the stiffness is symmetric. Moments have none: a stiffness
    against roll and pitch becomes circulatory with yaw and can feed energy into large motions.

    >>> Restoring("mooring", "spar", (4e4, 4e4, 3e5, 0, 0, 1e8), at=(0, 0, -62)).depends_on_angles
    True
    """

    key: ClassVar[str] = "restorings"
    limits: ClassVar[dict[int, str]] = {
        PITCHED: "its pitch is within 5 deg of a quarter turn, where roll and yaw are not defined",
        YAWED: "its yaw is within 5 deg of half a turn, where its moment jumps",
    }
    stiffness: Annotated[Matrix6, _READ, PlainSerializer(write_matrix), WithJsonSchema(MATRIX6)]
    at: Vector = ORIGIN
    force: Vector = ORIGIN
    moment: Vector = ORIGIN
    rest: Vector | None = None
    node: Text | None = None

    def __init__(self, name: str, body: str, stiffness: Any, at: VectorLike = ORIGIN, force: VectorLike = ORIGIN,
                 moment: VectorLike = ORIGIN, rest: VectorLike | None = None, node: str | None = None) -> None:
        super().__init__(name=name, body=body, stiffness=stiffness, at=at, force=force, moment=moment, rest=rest, node=node)

    @property
    def depends_on_angles(self) -> bool:
        """Whether roll, pitch and yaw matter."""
        return any(any(row[3:]) for row in self.stiffness)

    @property
    def turns(self) -> bool:
        """Whether it exerts a moment."""
        return any(self.moment) or any(any(row) for row in self.stiffness[3:])

    @property
    def conservative(self) -> bool:
        """Whether its potential energy accounts for all of its work: forces against displacements, by a symmetric stiffness."""
        K = np.array(self.stiffness)[:3, :3]
        return not self.turns and not self.depends_on_angles and np.array_equal(K, K.T)

    @property
    def ends(self) -> tuple[Frame, ...]:
        return (Frame(self.body, at=self.at, node=self.node),)

    def attachments(self) -> tuple[Attachment, ...]:
        turning = "a restoring moment" if self.turns or self.depends_on_angles else FORCE_BESIDE if any(self.at) else ""
        return (Attachment(self.body, self.node, turning),)

    def table_entry(self, places: Places) -> TableEntry:
        """Its point and axes, where the point rests, constant loads and the stiffness by blocks; and whether angles matter."""
        (end,), K = self.ends, np.asarray(self.stiffness)
        anchor = places.anchor(end)
        numbers = {
            "at": anchor.at, "turn": anchor.turn, "force": self.force, "moment": self.moment,
            "rest": places.neutral(anchor) if self.rest is None else self.rest,
            "force_place": K[:3, :3], "force_angle": K[:3, 3:], "moment_place": K[3:, :3], "moment_angle": K[3:, 3:],
        }
        return TableEntry(anchor, None, int(self.depends_on_angles), [("restoring", numbers)])

    def values(self, exerted: Exerted, motion: Motion) -> dict[str, Floats]:
        """Its load on the body, and whether the angles of the body are near where they jump, if it depends on them."""
        R = motion.place(self.body, self.node).attitude
        pitch, yaw = np.arcsin(np.clip(-R[:, 2, 0], -1.0, 1.0)), np.arctan2(R[:, 1, 0], R[:, 0, 0])
        near = np.where(np.abs(pitch) > np.pi / 2 - _NEAR, PITCHED, np.where(np.abs(yaw) > np.pi - _NEAR, YAWED, 0))
        return {"element_force": exerted.wrench, "element_limit": near.astype(float) * self.depends_on_angles}

    def nonconservative_effects(self) -> tuple[str, ...]:
        return () if self.conservative else ("restoring moments",)

    def external_effects(self) -> tuple[str, ...]:
        return ("restoring forces",)

    def drawing(self) -> list[Drawing]:
        return [{"kind": "spring", "at": self.ends[0]}]
