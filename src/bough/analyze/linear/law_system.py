"""Laws as linear systems from the outputs they read to the inputs they set, so that a loop can be cut at a port."""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from bough.analyze.linear.closed_loop import Laws, continuous, named, values_read
from bough.analyze.linear.linear_system import LinearSystem
from bough.analyze.signals import control_names, control_units
from bough.compile.batch import Batch
from bough.compile.compiled_model import CompiledModel
from bough.compile.layout import Floats
from bough.errors import StateError


def linearize_laws(model: CompiledModel, batch: Batch, given: Sequence[Any], law_states: ArrayLike | None) -> LinearSystem:
    """u = C z + D y with z' = A z + B y, or z[k+1]; see `Model.linearize_laws`."""
    if not given:
        raise StateError("linearize_laws: no laws are given; give laws=[...]")
    periods = {law.period for law in given}
    if len(periods) > 1:
        raise StateError(f"linearize_laws: the laws have periods {', '.join(map(str, periods))} s; linearize those of one period "
                         "at a time")
    [period] = periods
    laws = Laws(model, [continuous(model, law) if period is None else named(model, law) for law in given])
    if any(each.reads is None for each in laws.readers):
        raise StateError("linearize_laws: a law on the whole state names no ports; give it outputs= and inputs=")
    y, z = values_read(model, batch, laws), laws.starting(law_states)
    of_y, of_z = laws.derivatives(float(batch.t[0, 0]), np.concatenate(y), z, [len(part) for part in y])
    return _assembled(laws, of_y, of_z, z, period, {law.delay for law in given if period is not None})


def _assembled(laws: Laws, of_y: Floats, of_z: Floats, z: Floats, period: float | None, delays: set[float]) -> LinearSystem:
    """The linear system with names of ports; an output read by several laws is one input."""
    model = laws.model
    read = [entry for each in laws.readers for port in each.reads or () for entry in model.system.outputs[port].entries]
    units = {entry: unit for port in model.system.outputs.values()
             for entry, unit in zip(port.entries, port.units(model.system), strict=True)}
    names, sets = list(dict.fromkeys(read)), sorted({entry for each in laws.readers for entry in each.sets})
    merge = np.array([[float(name == entry) for name in names] for entry in read]).reshape(len(read), len(names))
    n = len(of_y) - len(z)
    found = LinearSystem(of_z[n:], of_y[n:] @ merge, of_z[sets], of_y[sets] @ merge, states=laws.state_names, inputs=tuple(names),
                         outputs=tuple(control_names(model)[k] for k in sets), input_units=tuple(units[name] for name in names),
                         output_units=tuple(control_units(model)[k] for k in sets), dt=period,
                         name=", ".join(each.name for each in laws.readers))
    return found if period is None else _delayed(found, period, delays)


def _delayed(system: LinearSystem, period: float, delays: set[float]) -> LinearSystem:
    """The system with its outputs delayed by some samples."""
    if len(delays) > 1:
        raise StateError(f"linearize_laws: the laws have delays {', '.join(map(str, delays))} s; linearize them one at a time")
    [delay] = delays
    samples = round(delay / period)
    if abs(samples * period - delay) > 1e-9 * period:
        raise StateError(f"linearize_laws: a delay of {delay:g} s is no multiple of the period of {period:g} s; give one that is, "
                         f"or compare the delay with the delay margin")
    m = len(system.outputs)
    for k in range(samples):
        A = np.block([[system.A, np.zeros((len(system.A), m))], [system.C, np.zeros((m, m))]])
        states = tuple(f"{name} delayed {k + 1}" for name in system.outputs)
        system = replace(system, A=A, B=np.vstack([system.B, system.D]), C=np.hstack([np.zeros((m, len(system.A))), np.eye(m)]),
                         D=np.zeros_like(system.D), states=(*system.states, *states),
                         state_units=(*system.state_units, *system.output_units))
    return system
