"""Linear systems over a parameter: a function of a number, or a model with one of its parameters, speeds or wheels varied."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from bough.analyze.linear.linear_system import LinearSystem
from bough.analyze.parameters import parameter as described
from bough.compile.compiled_model import CompiledModel
from bough.errors import StateError, similar

Maker = Callable[[float], LinearSystem]


def maker(source: Maker | CompiledModel, parameter: str | None, options: dict[str, Any]) -> tuple[Maker, str, str]:
    """The function, the name of its argument, and its unit."""
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
        unit = next(each for body in source.system.bodies.values()
                    for label, each in zip(body.speed_names, body.speed_units, strict=True) if label == parameter)
        options.setdefault("q", source.q0)
        return _of_entry(source, "v", source.names.v.index(parameter), source.v0, options), parameter, f"{unit}/s"
    if parameter in source.names.wheels:
        place = source.names.wheels.index(parameter)
        return _of_entry(source, "wheels", place, source.wheel_speeds, options), parameter, "rad/s"
    try:
        number = described(source.system, parameter)
    except StateError as error:
        near = similar(parameter, [*source.names.v, *source.names.wheels])
        raise StateError(f"{error}{near}") from None
    if number.value.ndim:
        raise StateError(f"parameter {parameter!r} has {number.value.size} numbers; name one of them, as '{parameter}[0]'")

    def made(value: float) -> LinearSystem:
        model: Any = number.changed(np.array(float(value))).compile()
        return model.linearize(**options)

    return made, parameter, ""


def _of_entry(model: Any, part: str, place: int, usual: ArrayLike, options: dict[str, Any]) -> Maker:
    """A function of one entry of "v" (a spin) or "wheels"; the others are those given in the options, or the usual ones."""
    start = np.array(options.pop(part, usual), float)

    def made(value: float) -> LinearSystem:
        numbers = start.copy()
        numbers[place] = value
        return model.linearize(**options, **{part: numbers})

    return made
