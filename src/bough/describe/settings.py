"""How a described system is to be simulated."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal, Self, get_args

from pydantic import BeforeValidator, WithJsonSchema, model_validator

from bough.describe.base import Description, Fault
from bough.describe.numeric import ABOVE_ZERO, above_zero, items, shown
from bough.errors import nearest

Method = Literal["euler-cromer", "rk4", "dopri5", "radau", "bdf", "lsoda"]
Quantity = Literal[
    "state", "pose", "velocity", "acceleration", "reactions", "energy", "momentum", "nodes", "strain", "shapes", "wheels", "torque",
    "orbit",
]  # fmt: skip
FIXED_STEP = ("euler-cromer", "rk4")


def _word(value: Any, known: tuple[str, ...]) -> str:
    if not isinstance(value, str) or value not in known:
        remedy = nearest(value, known).removeprefix(", ") or "give one of " + ", ".join(known)
        raise ValueError(f"is {shown(value)}; {remedy}")
    return value


def _method(value: Any) -> str:
    return _word(value, get_args(Method))


def _record(value: Any) -> tuple[str, ...] | None:
    if value is None:
        return None
    given = [value] if isinstance(value, str) else items(value)
    if given is None:
        raise ValueError(f"is {shown(value)}; give a list out of " + ", ".join(get_args(Quantity)))
    return tuple(dict.fromkeys(_word(entry, get_args(Quantity)) for entry in given))


class Simulation(Description):
    """The settings of a run: its end `until` and the step `dt` [s] (the fixed-step methods need it), the `method`, how
    many samples per second to record (`rate`) and which quantities (`record`), and the tolerances of the adaptive
    methods.

    >>> Simulation(until=10, dt=1e-3)
    Simulation(until=10.0, dt=0.001)
    >>> Simulation(until=10, dt=1e-3, method="rk5")
    Traceback (most recent call last):
    bough.errors.DescriptionError: simulation: method is 'rk5'; did you mean 'rk4'?
    """

    noun: ClassVar[str] = "simulation"
    until: Annotated[float, above_zero("s"), ABOVE_ZERO]
    dt: Annotated[float, above_zero("s"), ABOVE_ZERO] | None = None
    method: Annotated[Method, BeforeValidator(_method)] = "rk4"
    rate: Annotated[float, above_zero("samples/s"), ABOVE_ZERO] | None = None
    record: Annotated[
        tuple[Quantity, ...] | None,
        BeforeValidator(_record),
        WithJsonSchema({"type": "array", "items": {"enum": list(get_args(Quantity))}}),
    ] = None
    rtol: Annotated[float, above_zero(""), ABOVE_ZERO] | None = None
    atol: Annotated[float, above_zero(""), ABOVE_ZERO] | None = None

    def __init__(
        self,
        until: float,
        dt: float | None = None,
        method: str = "rk4",
        rate: float | None = None,
        record: Any = None,
        rtol: float | None = None,
        atol: float | None = None,
    ) -> None:
        super().__init__(until=until, dt=dt, method=method, rate=rate, record=record, rtol=rtol, atol=atol)

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.dt is None and self.method in FIXED_STEP:
            raise Fault("dt", f"dt is missing; {self.method} takes fixed steps: give their length, or choose dopri5")
        return self
