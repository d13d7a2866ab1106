"""The rigid body and the joint that carries it."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Self

from pydantic import BeforeValidator, WithJsonSchema, model_validator

from bough.describe.base import Description, Fault
from bough.describe.inertia import ZERO, Inertia, defect
from bough.describe.joint_kinds import Weld
from bough.describe.joint_mapping import JointField
from bough.describe.numeric import AT_LEAST_ZERO, Vector, VectorLike, at_least_zero, shown, text
from bough.describe.orientation import IDENTITY, Orientation

WORLD = "world"


def _own_name(value: Any) -> str:
    if (name := text(value)) == WORLD:
        raise ValueError("is 'world', which is the inertial frame; give another name")
    return name


def _parent(value: Any) -> str | None:
    return None if value is None or value == WORLD else text(value)


def truth(value: Any) -> bool:
    """True or false, and nothing that merely looks like it."""
    if not isinstance(value, bool):
        raise ValueError(f"is {shown(value)}; give true or false")
    return value


class Body(Description):
    """A rigid body. Its joint sits in the body frame of its parent (None: the inertial frame) at the place `at` with the
    orientation `orient`; at zero coordinates the body frame coincides with the joint frame. `com` is the mass centre in the body
    frame and `inertia` is about it, in body axes. `idealised=True` allows an inertia that no real body has.

    >>> Body("boom", parent="bus", joint="free", at=(0.5, 0, 0), mass=8, com=(1, 0, 0), inertia=(0, 3, 3))
    Body('boom', parent='bus', joint=Free(), at=(0.5, 0.0, 0.0), mass=8.0, com=(1.0, 0.0, 0.0), inertia=((0.0, 0.0, 0.0), (0.0, 3.0, 0.0), (0.0, 0.0, 3.0)))
    >>> Body("boom", mass=-3)
    Traceback (most recent call last):
    bough.errors.DescriptionError: body 'boom': mass is -3.0 kg; give a number >= 0
    """  # noqa: E501

    noun: ClassVar[str] = "body"
    name: Annotated[str, BeforeValidator(_own_name), WithJsonSchema({"type": "string", "minLength": 1})]
    parent: Annotated[str | None, BeforeValidator(_parent)] = None
    joint: JointField = Weld()
    at: Vector = (0.0, 0.0, 0.0)
    orient: Orientation = IDENTITY
    mass: Annotated[float, at_least_zero("kg"), AT_LEAST_ZERO] = 0.0
    com: Vector = (0.0, 0.0, 0.0)
    inertia: Inertia = ZERO
    idealised: Annotated[bool, BeforeValidator(truth)] = False

    def __init__(
        self,
        name: str,
        parent: str | None = None,
        joint: Any = None,
        at: VectorLike = (0.0, 0.0, 0.0),
        orient: Any = None,
        mass: float = 0.0,
        com: VectorLike = (0.0, 0.0, 0.0),
        inertia: Any = 0,
        idealised: bool = False,
    ) -> None:
        super().__init__(
            name=name, parent=parent, joint=joint, at=at, orient=orient, mass=mass, com=com, inertia=inertia,
            idealised=idealised,
        )  # fmt: skip

    @model_validator(mode="after")
    def _check(self) -> Self:
        if found := defect(self.mass, self.inertia, self.idealised):
            raise Fault("inertia", found)
        if self.parent == self.name:
            raise Fault("parent", f"parent is {self.name!r}, the body itself; give another body, or world")
        return self
