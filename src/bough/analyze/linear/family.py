"""Linear systems over a parameter: what a function makes of a number, or a model of one of its parameters, speeds or wheels."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from bough.analyze.linear.linear_system import LinearSystem
from bough.analyze.parameters import parameter as described
from bough.compile.compiled_model import CompiledModel
from bough.errors import StateError, similar

Maker = Callable[[float], LinearSystem]


def maker(source: Maker | CompiledModel, parameter: str | None, options: dict[str, Any]) -> tuple[Maker, str, str]:
    """The function, what its argument is called, and its unit."""
    if not isinstance(source, CompiledModel):
        if not callable(source):
            raise StateError(f"{source!r} is no model and no function of a number that returns a linear system")
        if options:
            raise StateError(f"{', '.join(options)} given with a function; let the function use them, or give a model")
        return source, parameter or "parameter", ""
    if parameter is None:
        raise StateError("parameter is missing; name one of the model ('boom.mass', 'strut.stiffness'), a speed ('rotor.rz') or a "
                         "wheel")
    if parameter in source.names.v:
        return _of_speed(source, parameter, options)
    if parameter in source.names.wheels:
        return _of_wheel(source, parameter, options)
    try:
        number = described(source.system, parameter)
    except StateError as error:
        near = similar(parameter, [*source.names.v, *source.names.wheels])
        raise StateError(f"{error}{near}") from None
    if number.value.ndim:
        raise StateError(f"parameter {parameter!r} has {number.value.size} numbers; name one of them, as '{parameter}[0]'")

    def made(value: float) -> LinearSystem:
        model: Any = number.changed(np.array(float(value))).compile()
        found: LinearSystem = model.linearize(**options)
        return found

    return made, parameter, ""


def _of_speed(model: Any, name: str, options: dict[str, Any]) -> tuple[Maker, str, str]:
    """An entry of v: a spin."""
    place, start = model.names.v.index(name), np.array(options.pop("v", model.v0), float)
    q = options.pop("q", model.q0)
    unit = next(each for body in model.system.bodies.values()
                for label, each in zip(body.speed_names, body.speed_units, strict=True) if label == name)

    def made(value: float) -> LinearSystem:
        v = start.copy()
        v[place] = value
        found: LinearSystem = model.linearize(q, v, **options)
        return found

    return made, name, f"{unit}/s"


def _of_wheel(model: Any, name: str, options: dict[str, Any]) -> tuple[Maker, str, str]:
    place, start = model.names.wheels.index(name), np.array(options.pop("wheels", model.wheel_speeds), float)

    def made(value: float) -> LinearSystem:
        wheels = start.copy()
        wheels[place] = value
        found: LinearSystem = model.linearize(wheels=wheels, **options)
        return found

    return made, name, "rad/s"
