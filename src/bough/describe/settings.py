"""Gravity, uniform or central, and the settings of a simulation."""

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal, Self, get_args

from pydantic import BeforeValidator, WithJsonSchema, model_validator

from bough.describe.base import Description, Fault, among
from bough.describe.numeric import VECTOR, Vector, VectorLike, above_zero, items, shown, vector, word


def _apart(value: Any) -> tuple[float, float, float]:
    position = vector(value)
    if not any(position):
        raise ValueError("is the attracting center itself; give the system's mass center relative to it")
    return position


class CentralGravity(Description):
    """The gravity of a point mass with the gravitational parameter `mu` [m^3/s^2]. `position` [m] and `velocity` [m/s]
    are the initial values of the system's mass center relative to the attracting center, in inertial axes.

    >>> CentralGravity(mu=3.986004418e14, position=(7e6, 0, 0), velocity=(0, 7546, 0)).velocity
    (0.0, 7546.0, 0.0)
    """

    noun: ClassVar[str] = "central gravity"
    mu: Annotated[float, above_zero("m^3/s^2")]
    position: Annotated[tuple[float, float, float], BeforeValidator(_apart), WithJsonSchema(VECTOR)]
    velocity: Vector

    def __init__(self, mu: float, position: VectorLike, velocity: VectorLike) -> None:
        super().__init__(mu=mu, position=position, velocity=velocity)


def gravity(value: Any) -> tuple[float, float, float] | CentralGravity:
    """Uniform gravity [m/s^2] from a vector, or central gravity from a mapping.

    >>> gravity([0, 0, -9.81])
    (0.0, 0.0, -9.81)
    """
    return CentralGravity.from_mapping(value) if isinstance(value, CentralGravity | Mapping) else vector(value)


Gravity = Annotated[tuple[float, float, float] | CentralGravity, BeforeValidator(gravity)]


# ---- settings --------------------------------------------------------------------------------------------------------------
Method = Literal["auto", "euler-cromer", "rk4", "imex2", "imex4", "dopri5", "imex43", "radau", "bdf", "lsoda"]
Quantity = Literal["state", "pose", "velocity", "acceleration", "reactions", "energy", "momentum", "nodes", "strain", "stress",
                   "strains", "shapes", "wheels", "tanks", "exhaust", "torque", "orbit", "loops", "couplings", "friction", "drives",
                   "elements", "inputs", "outputs"]
Stabilize = Literal["projection", "baumgarte"] | Annotated[float, above_zero("rad/s")]
FIXED_STEP = ("euler-cromer", "rk4", "imex2", "imex4")
FIXED_STEP_OPTIONS = ("dt",)
ADAPTIVE_OPTIONS = ("rtol", "atol", "first_step", "max_step")


def wrong_option(name: str, value: Any, method: str) -> str:
    """The message for an option that the method does not have."""
    if method == "auto":
        return f"{name} is {shown(value)}, but dt is given too; give auto a step or tolerances, not both"
    if method in FIXED_STEP:
        others = ", ".join(m for m in get_args(Method) if m not in (*FIXED_STEP, "auto"))
        remedy = f"leave it out, or use an adaptive method: {others}"
        return f"{name} is {shown(value)}, but {method} takes fixed steps; {remedy}"
    return f"{name} is {shown(value)}, but {method} chooses its own steps; give first_step or max_step instead, or use rk4"


def wrong_options(method: str, *, fixed: bool) -> tuple[str, ...]:
    """Options of steps that a method does not take; `fixed`: "auto" is given a step.

    >>> wrong_options("auto", fixed=False), wrong_options("dopri5", fixed=False)
    ((), ('dt',))
    """
    if method == "auto":
        return ADAPTIVE_OPTIONS if fixed else ()
    return ADAPTIVE_OPTIONS if method in FIXED_STEP else FIXED_STEP_OPTIONS


def _record(value: Any) -> tuple[str, ...]:
    given = [value] if isinstance(value, str) else items(value)
    if given is None:
        raise ValueError(f"is {shown(value)}; give a list out of " + ", ".join(get_args(Quantity)))
    return tuple(dict.fromkeys(word(entry, get_args(Quantity)) for entry in given))


def _stabilize(value: Any) -> Any:
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < float("inf"):
        return float(value)
    if isinstance(value, str):
        return word(value, ("projection", "baumgarte"))
    raise ValueError(f"is {shown(value)}; give projection, baumgarte, or a frequency > 0 [rad/s]")


def _hold(value: Any) -> tuple[str, ...]:
    given = [value] if isinstance(value, str) else items(value)
    if given is None or not all(isinstance(entry, str) for entry in given):
        raise ValueError(f"is {shown(value)}; give a list of names of coordinates or joints")
    return tuple(given)


class Simulation(Description):
    """The settings of a run: its end `until` [s], the integrator `method`, the number of samples per second (`sample_rate`) and
    the recorded quantities (`record`). Fixed-step methods need their step `dt` [s]; adaptive methods take the tolerances `rtol`
    and `atol`, and the lengths of the `first_step` and of the longest step (`max_step`) [s]. `stabilize` sets how loops are kept
    closed: by "projection" after each step, or by "baumgarte" (a number is its frequency [rad/s]); the coordinates or joints in
    `hold` keep their initial values when the loops are assembled at the start.

    >>> Simulation(until=10, dt=1e-3)
    Simulation(until=10.0, dt=0.001)
    >>> Simulation(until=10, dt=1e-3, method="rk5")
    Traceback (most recent call last):
    bough.errors.DescriptionError: simulation: method is 'rk5'; did you mean 'rk4'?
    """

    until: Annotated[float, above_zero("s")]
    dt: Annotated[float, above_zero("s")] | None = None
    method: Annotated[Method, among(Method)] = "rk4"
    sample_rate: Annotated[float, above_zero("samples/s")] | None = None
    record: Annotated[tuple[Quantity, ...], BeforeValidator(_record)] | None = None
    rtol: Annotated[float, above_zero("")] | None = None
    atol: Annotated[float, above_zero("")] | None = None
    first_step: Annotated[float, above_zero("s")] | None = None
    max_step: Annotated[float, above_zero("s")] | None = None
    stabilize: Annotated[Stabilize, BeforeValidator(_stabilize)] | None = None
    hold: Annotated[tuple[str, ...], BeforeValidator(_hold)] | None = None

    def __init__(
        self,
        until: float,
        dt: float | None = None,
        method: str = "rk4",
        *,
        sample_rate: float | None = None,
        record: Any = None,
        rtol: float | None = None,
        atol: float | None = None,
        first_step: float | None = None,
        max_step: float | None = None,
        stabilize: Any = None,
        hold: Any = None,
    ) -> None:
        super().__init__(until=until, dt=dt, method=method, sample_rate=sample_rate, record=record, rtol=rtol, atol=atol,
                         first_step=first_step, max_step=max_step, stabilize=stabilize, hold=hold)

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.dt is None and self.method in FIXED_STEP:
            raise Fault("dt", f"dt is missing; {self.method} takes fixed steps: give their length, or choose dopri5")
        for name in wrong_options(self.method, fixed=self.dt is not None):
            if getattr(self, name) is not None:
                raise Fault(name, wrong_option(name, getattr(self, name), self.method))
        return self
