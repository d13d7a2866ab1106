"""Momentum wheels inside bodies."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

from bough.describe.axes import Axis, AxisLike
from bough.describe.numeric import ABOVE_ZERO, Number, Text, above_zero
from bough.describe.part import Attachment, Part
from bough.describe.time_table import Signal


class Wheel(Part):
    """A balanced wheel that spins about an axis fixed in a body. The body's mass and inertia include the wheel, locked;
    `inertia` [kg m^2] is the wheel's own about its axis, `speed` [rad/s] its spin relative to the body at the start.
    Without a `torque` the speed is held; with one [N m], a number or a TimeTable, the motor drives the wheel and its speed
    is a state. On a flexible body the wheel sits on a node, with its axis in the node's frame: `node`, or the inboard one.

    >>> Wheel("rw1", "bus", "x", inertia=0.02, speed=300)
    Wheel('rw1', body='bus', axis=(1.0, 0.0, 0.0), inertia=0.02, speed=300.0)
    >>> Wheel("rw2", "bus", "y", inertia=0.02, torque=0.1).driven
    True
    """

    noun: ClassVar[str] = "wheel"
    key: ClassVar[str] = "wheels"
    body: Text
    axis: Axis
    inertia: Annotated[float, above_zero("kg m^2"), ABOVE_ZERO]
    speed: Number = 0.0
    torque: Signal | None = None
    node: Text | None = None

    def __init__(
        self,
        name: str,
        body: str,
        axis: AxisLike,
        inertia: float,
        speed: float = 0.0,
        torque: Any = None,
        node: str | None = None,
    ) -> None:
        super().__init__(name=name, body=body, axis=axis, inertia=inertia, speed=speed, torque=torque, node=node)

    @property
    def driven(self) -> bool:
        """Whether a motor torque drives it, so that its speed is a state."""
        return self.torque is not None

    def attachments(self) -> tuple[Attachment, ...]:
        """Its body, or the node that it sits on."""
        return (Attachment(self.body, self.node, "a wheel"),)
