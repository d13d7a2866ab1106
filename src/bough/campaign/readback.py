"""The actual values of each run, read back from its tables, states and settings instead of the requested values."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from bough.analyze.parameter_rows import changed_system, copied_places, same_structure, substance
from bough.analyze.parameters import value_in
from bough.campaign.members import ALTERNATIVE, LAW, SETTING, START, Rows, Target, starts
from bough.compile.coordinates import body_parameters
from bough.compile.layout import Floats
from bough.errors import SimulationError
from bough.integrate.integration import Integration
from bough.integrate.start import member_model
from bough.integrate.trajectory import Trajectory

TRIED = 8  # samples of a block that are tried until one can be compared
SAME = 1e-9  # relative to the largest number of the tables: tolerance of the comparison


def read_values(rows: Rows, integration: Integration, trajectory: Trajectory) -> Floats:
    """(samples, paths)."""
    found = []
    for j, each in enumerate(rows.members.targets):
        if each.kind == START:
            values = _of_start(rows, each, trajectory)
        elif each.kind == SETTING:
            values = np.full(len(rows.numbers), _of_settings(each.owner, integration))
        elif each.kind == LAW:
            values = np.full(len(rows.numbers), rows.laws[each.owner])
        elif each.kind == ALTERNATIVE:
            before = sum(other.kind == ALTERNATIVE for other in rows.members.targets[:j])
            values = np.full(len(rows.numbers), float((rows.members.chosen or ())[before]))
        else:
            values = _of_tables(rows, each, integration)
        found.append(values)
    return np.column_stack(found)


def _of_settings(name: str, integration: Integration) -> float:
    plan, (rtol, atol) = integration.plan, integration.plan.tolerances
    sampling = integration.sampling
    found = {"until": integration.end, "dt": plan.dt, "rtol": rtol, "atol": atol, "first_step": plan.first_step,
             "max_step": plan.max_step, "sample_rate": None if sampling is None else 1.0 / sampling.period}[name]
    return np.nan if found is None else float(found)


def _of_start(rows: Rows, each: Target, trajectory: Trajectory) -> Floats:
    """Read from the first sample in time, which may differ from the request if loops were closed."""
    state, (part, at) = trajectory.model.state(trajectory.x[:, 0]), starts(rows.model)[each.owner][:2]
    if part == "turn":
        before = Rotation.from_quat(rows.model.q0[at : at + 4]).inv()
        return np.asarray((before * Rotation.from_quat(state.q[:, at : at + 4])).as_rotvec()[:, each.number])
    return np.asarray(getattr(state, part)[:, at + each.number])


def _of_tables(rows: Rows, each: Target, integration: Integration) -> Floats:
    """Read from the tables if they contain the number itself, otherwise from the description they were compiled from."""
    system = rows.members.model.system
    if rows.parameters is None:  # a separate model
        return _as_stored(each, value_in(system, rows.model.system, each.owner)[None], rows)
    if substance(system, each.owner):
        body, _, field = each.owner.rpartition(".")
        own = {each.owner: rows.parameters[each.owner]}
        return _as_stored(each, getattr(body_parameters(system, own)[body], field), rows)
    values = None if integration.events else _held_in_tables(rows, each, integration.runs[0].pars)
    if values is not None:
        return _as_stored(each, values, rows)
    given = rows.parameters[each.owner]
    read = [value_in(system, changed_system(system, {each.owner: value}), each.owner) for value in given]
    return _as_stored(each, np.array(read), rows)


def _held_in_tables(rows: Rows, each: Target, pars: Floats) -> Floats | None:
    """Read from the entries of pars that hold the parameter or a power of it, unless another parameter changed them later."""
    model, varied = rows.members.model, list(rows.parameters or {})
    later = {entry for name in varied[varied.index(each.owner) + 1 :] for entry in copied_places(model, name) or {}
             if not substance(model.system, name)}
    values = np.full((len(pars), np.asarray(each.nominal).size), np.nan)
    for entry, held in (copied_places(model, each.owner) or {}).items():
        if entry not in later:
            read = held.back(pars[:, entry])
            known = values[:, held.source]
            if not np.allclose(read, np.where(np.isnan(known), read, known), rtol=SAME, atol=0.0):
                raise SimulationError(f"'{each.owner}' has two values in one model; this is an error of bough's: report it")
            values[:, held.source] = read
    return None if np.isnan(values).any() else values.reshape(len(pars), *np.shape(each.nominal))


def _as_stored(each: Target, values: Any, rows: Rows) -> Floats:
    """Values (n, ...) of a parameter as stored: its varied entry, or the common factor."""
    values, nominal = np.asarray(values, float), np.asarray(each.nominal, float)
    if each.entry:
        return np.asarray(values[:, *each.entry])
    if nominal.ndim:
        k = np.unravel_index(int(np.abs(nominal).argmax()), nominal.shape)
        return np.asarray(values[:, *k] / nominal[k])
    return np.asarray(values.reshape(len(rows.numbers)))


def check_tables(rows: Rows, integration: Integration) -> None:
    """Raise if the tables of a sample in lanes differ from those of a model compiled from its description: parameters of lanes are
    compiled differently.  Samples with another table structure (no spring if a stiffness is zero) cannot be compared."""
    if rows.parameters is None or integration.events or rows.pars is None or not rows.members.to_check():
        return
    usual = rows.members.model
    scale = np.abs(usual.tables.pars[0]).max()
    for i in range(min(len(rows.numbers), TRIED)):
        own = member_model(usual, rows.parameters, i).tables
        if not same_structure(own, usual.tables):
            continue
        if not np.allclose(own.pars[0], rows.pars[i], rtol=SAME, atol=SAME * scale):
            raise SimulationError(f"sample {int(rows.numbers[i])}: its tables are not those of its description; this is an error "
                                  "of bough's: report it")
        return
