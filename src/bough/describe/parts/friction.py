"""Friction in joint coordinates and in wheels."""

from collections.abc import Iterator
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import model_validator

from bough.describe.base import Fault, among
from bough.describe.numeric import Text, above_zero, at_least_zero
from bough.describe.part import Finding, Part, Recorded, SystemView, coordinate_fault, targets
from bough.describe.settings import CentralGravity

FrictionLaw = Literal["sticking", "regularized", "dahl", "basilisk"]


class Friction(Part):
    """Friction along a joint coordinate, or about the axis of a motor-driven wheel. It opposes the speed v with

        viscous v + [coulomb + (static - coulomb) exp(-(v/stribeck)^2)] s

    The `law` defines s. "sticking": the sign of v, and at rest the coordinate is held until the load exceeds `static`; sticking
    and breakaway are located inside the steps. "regularized": v/sqrt(v^2 + speed^2), a smooth law under which a joint that should
    stick creeps. "dahl": the dry part is a state F built up by bristles of a `stiffness`, F' = stiffness (v - |v| F/coulomb).
    "basilisk": as for Basilisk's reaction wheels while they gain speed, smooth, with a peak of `static` near the Stribeck speed:
    the dry part is sqrt(e) (static - coulomb) x exp(-x^2/2) + coulomb tanh(10 x), x = v/stribeck.

    With `mu`, coulomb and static increase by mu radius N, where N is the joint load: for a translation, the force across its axis
    (without a radius); for a rotation, the whole force.

    >>> Friction("bearing", "boom.ry", coulomb=0.2, static=0.3, stribeck=0.01, viscous=0.05)
    Friction('bearing', coordinate='boom.ry', coulomb=0.2, static=0.3, stribeck=0.01, viscous=0.05)
    >>> Friction("bearing", "boom.ry", coulomb=0.2, law="regularized")
    Traceback (most recent call last):
    bough.errors.DescriptionError: friction 'bearing': speed is missing; give the speed below which the regularized law is smooth
    """

    key: ClassVar[str] = "frictions"
    recorded: ClassVar[dict[str, Recorded]] = {
        "friction_force": Recorded(("friction",), "", "force or torque of friction on its coordinate"),
        "friction_loss": Recorded(("friction",), "J", "energy that friction has taken since the start"),
        "friction_sticks": Recorded(("friction",), "", "1 where friction holds its coordinate, 0 where it slips"),
    }
    coordinate: Text
    coulomb: Annotated[float, at_least_zero("N or N m")] = 0.0
    static: Annotated[float, at_least_zero("N or N m")] | None = None
    stribeck: Annotated[float, above_zero("m/s or rad/s")] | None = None
    viscous: Annotated[float, at_least_zero("N s/m or N m s/rad")] = 0.0
    law: Annotated[FrictionLaw, among(FrictionLaw)] = "sticking"
    speed: Annotated[float, above_zero("m/s or rad/s")] | None = None
    stiffness: Annotated[float, above_zero("N/m or N m/rad")] | None = None
    mu: Annotated[float, at_least_zero("1")] = 0.0
    radius: Annotated[float, above_zero("m")] | None = None

    def __init__(self, name: str, coordinate: str, coulomb: float = 0.0, static: float | None = None, **options: Any) -> None:
        super().__init__(name=name, coordinate=coordinate, coulomb=coulomb, static=static, **options)

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.static is not None and self.static < self.coulomb:
            raise Fault("static", f"static is {self.static}, less than coulomb, {self.coulomb}; give at least as much")
        needed = {"regularized": ("speed", "the speed below which the regularized law is smooth"),
                  "dahl": ("stiffness", "the stiffness of the bristles at rest")}
        for law, (field, what) in needed.items():
            if self.law == law and getattr(self, field) is None:
                raise Fault(field, f"{field} is missing; give {what}")
            if self.law != law and getattr(self, field) is not None:
                raise Fault(field, f"{field} is of the law {law!r}, but law is {self.law!r}; leave it out, or choose {law!r}")
        if self.law == "dahl" and (not self.coulomb or self.mu or self.static is not None or self.stribeck is not None):
            raise Fault("law", "the law 'dahl' needs coulomb, and knows neither static, stribeck nor mu; give coulomb only, or "
                        "another law")
        if self.law == "basilisk" and (self.static is None or self.stribeck is None or self.mu):
            raise Fault("law", "the law 'basilisk' needs coulomb, static and stribeck, and does not know mu; give these three, or "
                        "another law")
        if self.stribeck is not None and self.static is None:
            raise Fault("stribeck", "stribeck is given without static, from which the force decays to coulomb; give static")
        if self.law == "regularized" and self.static is not None and self.stribeck is None:
            raise Fault("static", "static needs a stribeck speed in the law 'regularized', which does not know rest; give it")
        return self

    @property
    def sticks(self) -> bool:
        """Whether it can hold its coordinate."""
        return self.law == "sticking" and bool(self.breakaway or self.mu)

    @property
    def breakaway(self) -> float:
        """What it can hold, without what the load of the joint adds."""
        return self.coulomb if self.static is None else self.static

    def check(self, system: SystemView) -> Iterator[Finding]:
        """It needs one coordinate of a joint, or a wheel with a motor."""
        name = self.coordinate
        if name in system.wheels:
            yield from self._in_wheel(system.wheels[name])
        elif fault := coordinate_fault(system, name):
            yield Finding(f"coordinate {name!r} {fault}", ("coordinate",))
        else:
            yield from self._in_joint(system, targets(system, name)[0].names[0])

    def _in_wheel(self, wheel: Any) -> Iterator[Finding]:
        if not wheel.driven:
            yield Finding(f"wheel {wheel.name!r} has a speed that is held; give it a torque (0 will do)", ("coordinate",))
        if self.sticks:
            text = ("the law 'sticking' holds joints, and a wheel is none; give 'regularized', 'dahl' or 'basilisk', or make the "
                    "wheel a body")
            yield Finding(text, ("law",))
        if self.mu:
            yield Finding("mu needs the load of a joint, and a wheel is none; give coulomb, or make the wheel a body", ("mu",))

    def _in_joint(self, system: SystemView, name: str) -> Iterator[Finding]:
        body = targets(system, name)[0].body
        entry = body.speed_names.index(name)
        slides = entry < len(body.joint.translations)
        if body.joint.motion is not None and body.joint.motion[entry] not in (None, "locked"):
            text = f"coordinate {name!r} is prescribed, so that friction changes nothing but its drive; leave one out"
            yield Finding(text, ("coordinate",))
        if self.mu and slides == (self.radius is not None):
            text = "is a translation; leave radius out" if slides else "is a rotation; give the radius of its bearing"
            yield Finding(f"mu is given, and {name!r} {text}", ("radius",))
        twins = [other.name for other in system.of(Friction).values() if other.sticks and other.name != self.name
                 and (found := targets(system, other.coordinate)) and found[0].names == (name,)]
        if self.sticks and twins:
            yield Finding(f"friction {twins[0]!r} holds the same coordinate; give one of them all of it", ("coordinate",))

    def refused(self, system: SystemView) -> str:
        if self.mu and system.loops:
            return (f"friction '{self.name}' has mu, and the system closed loops, with which the load of a joint is not known "
                    "inside a step; give it coulomb")
        if self.mu and isinstance(system.gravity, CentralGravity):
            return f"friction '{self.name}' has mu, which is not offered with central gravity; give it coulomb"
        return ""

    def nonconservative_effects(self) -> tuple[str, ...]:
        return ("friction",)

    def load_line(self) -> str:
        return f"friction {self.name}: {self.coordinate}, {self.law}"
