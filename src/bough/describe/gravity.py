"""Gravity: uniform, or that of a center about which the system orbits."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar

from pydantic import BeforeValidator, WithJsonSchema

from bough.describe.base import Description
from bough.describe.numeric import ABOVE_ZERO, VECTOR, Vector, VectorLike, above_zero, vector


def _apart(value: Any) -> tuple[float, float, float]:
    position = vector(value)
    if not any(position):
        raise ValueError("is the attracting center itself; give the system's mass center relative to it")
    return position


class CentralGravity(Description):
    """The gravity of a point mass with the gravitational parameter `mu` [m^3/s^2]. `position` [m] and `velocity` [m/s]
    are those of the system's mass center relative to the attracting center at the start, in inertial axes.

    >>> CentralGravity(mu=3.986004418e14, position=(7e6, 0, 0), velocity=(0, 7546, 0)).velocity
    (0.0, 7546.0, 0.0)
    """

    noun: ClassVar[str] = "central gravity"
    mu: Annotated[float, above_zero("m^3/s^2"), ABOVE_ZERO]
    position: Annotated[tuple[float, float, float], BeforeValidator(_apart), WithJsonSchema(VECTOR)]
    velocity: Vector

    def __init__(self, mu: float, position: VectorLike, velocity: VectorLike) -> None:
        super().__init__(mu=mu, position=position, velocity=velocity)


def gravity(value: Any) -> tuple[float, float, float] | CentralGravity:
    """Uniform gravity [m/s^2] out of a vector, or central gravity out of a mapping.

    >>> gravity([0, 0, -9.81])
    (0.0, 0.0, -9.81)
    """
    return CentralGravity.from_mapping(value) if isinstance(value, CentralGravity | Mapping) else vector(value)


Gravity = Annotated[tuple[float, float, float] | CentralGravity, BeforeValidator(gravity)]
