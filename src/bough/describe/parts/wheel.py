"""Momentum wheels inside bodies."""

from collections.abc import Sequence
from typing import Annotated, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from bough.describe.body import Frame
from bough.describe.motions import Signal
from bough.describe.numeric import Axis, AxisLike, Number, Text, above_zero
from bough.describe.part import Attachment, Drawing, Part, Recorded, SystemView
from bough.flex import FlexibleBody


class Wheel(Part):
    """A balanced wheel that spins about an axis fixed in a body. The body's mass and inertia include the wheel, locked; `inertia`
    [kg m^2] is that of the wheel about its axis, `speed` [rad/s] its initial spin relative to the body. Without a `torque` the
    speed is held; with one [N m], a number or a TimeTable, a motor drives the wheel and its speed is a state. On a flexible body
    the wheel is attached to a node, with its axis in the node's frame: `node`, or the inboard one.

    >>> Wheel("rw1", "bus", "x", inertia=0.02, speed=300)
    Wheel('rw1', body='bus', axis=(1.0, 0.0, 0.0), inertia=0.02, speed=300.0)
    >>> Wheel("rw2", "bus", "y", inertia=0.02, torque=0.1).driven
    True
    """

    key: ClassVar[str] = "wheels"
    recorded: ClassVar[dict[str, Recorded]] = {
        "wheel_speed": Recorded(("wheel",), "rad/s", "wheel speed relative to its body"),
        "wheel_momentum": Recorded(("wheel",), "N m s", "wheel momentum relative to its body"),
    }
    body: Text
    axis: Axis
    inertia: Annotated[float, above_zero("kg m^2")]
    speed: Number = 0.0
    torque: Signal | None = None
    node: Text | None = None

    def __init__(self, name: str, body: str, axis: AxisLike, inertia: float, speed: float = 0.0, torque: Any = None,
                 node: str | None = None) -> None:
        super().__init__(name=name, body=body, axis=axis, inertia=inertia, speed=speed, torque=torque, node=node)

    @property
    def driven(self) -> bool:
        """Whether a motor torque drives it, so that its speed is a state."""
        return self.torque is not None

    def attachments(self) -> tuple[Attachment, ...]:
        return (Attachment(self.body, self.node, "a wheel"),)

    def refused(self, system: SystemView) -> str:
        """What is left of the inertia of its body without all its wheels must still be an inertia."""
        body = system.bodies[self.body]
        wheels = [wheel for wheel in system.of(Wheel).values() if wheel.body == self.body]
        names, inside = ", ".join(wheel.name for wheel in wheels), sum((wheel.dyad() for wheel in wheels), np.zeros((3, 3)))
        least = np.linalg.eigvalsh(np.asarray(body.inertia) - inside)[0]
        if least < -1e-12 * np.trace(inside):
            return (f"body '{body.name}': its inertia is smaller than that of its wheels ({names}) by {-least:.3g} kg m^2; a "
                    "body's mass and inertia include its wheels, at rest in it")
        if body.flexible is not None and modal_mass_left(body.flexible, wheels) <= 0.0:
            return (f"body '{body.name}': its modes have no inertia left without that of its wheels ({names}); a body's mass "
                    "matrix includes its wheels, at rest in it: give the nodes that carry them such inertia, or put the wheels "
                    "into a rigid body welded to the node")
        return ""

    def dyad(self) -> NDArray[np.float64]:
        """Its inertia as a matrix in the axes of its body."""
        return self.inertia * np.outer(self.axis, self.axis)

    @property
    def label(self) -> str:
        state = "driven" if self.driven else "speed held"
        return f"{self.name} in {self.body}: {self.inertia:g} kg m^2, {self.speed:g} rad/s, {state}"

    def nonconservative_effects(self) -> tuple[str, ...]:
        """Its motor, also where it holds the speed."""
        return ("wheel motors",) if not self.driven or self.torque != 0.0 else ()

    def drawing(self) -> list[Drawing]:
        return [{"kind": "wheel", "at": Frame(self.body, node=self.node), "axis": self.axis}]


def modal_mass_left(flexible: FlexibleBody, wheels: Sequence[Wheel]) -> float:
    """Least eigenvalue of the modal mass without the wheels: Mff - J (psi.e) (psi.e)^T."""
    left = flexible.integrals.Mff.copy()
    for wheel in wheels:
        node = wheel.node or flexible.inboard
        if node is not None:
            turned = flexible.nodes.psi[flexible.nodes.index(node)].T @ np.asarray(wheel.axis)
            left -= wheel.inertia * np.outer(turned, turned)
    return float(np.linalg.eigvalsh(left).min(initial=1.0))
