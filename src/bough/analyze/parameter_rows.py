"""Parameters of the tables for a batch whose members differ in named numbers of the description.

Masses, mass centers, inertias and places of rigid bodies go through the compiler as arrays. A number that the tables contain (a
stiffness, a wheel's inertia), or a power of which they contain (the square of a frequency), is written to its entries directly;
these are located by compiling two other values. All others are compiled member by member.
"""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from bough.analyze.parameters import Parameter, parameter
from bough.compile.assemble import build_tables
from bough.compile.compiled_model import CompiledModel
from bough.compile.coordinates import SHAPES, member_of, members
from bough.compile.layout import Floats
from bough.compile.tables import Tables
from bough.describe import System
from bough.describe.parts import PARTS
from bough.errors import BoughError, ModelError, StateError

POWERS = (1.0, 2.0, -1.0, 0.5)  # of a parameter, that tables may hold
ROUNDED = 8 * np.finfo(float).eps  # of a number: as near as that it is a power of another


class Held(NamedTuple):
    """An entry of pars as a factor times a power of an entry of the parameter."""

    source: int
    power: float
    factor: float

    def of(self, values: Floats) -> Floats:
        """The entry for values (n, entries) of the parameter; plain copies keep their bits."""
        x = values[:, self.source if values.shape[1] > 1 else 0]
        return x if (self.power, self.factor) == (1.0, 1.0) else np.asarray(self.factor * x**self.power)

    def back(self, entries: Floats) -> Floats:
        """The parameter from entries of pars."""
        return entries if (self.power, self.factor) == (1.0, 1.0) else np.asarray((entries / self.factor) ** (1.0 / self.power))


Copied = dict[int, Held]  # by entry of pars


def substance(system: System, name: str) -> bool:
    """Whether the compiler accepts a parameter as an array."""
    body, _, field = name.rpartition(".")
    return body in system.bodies and field in SHAPES and (field == "at" or system.bodies[body].flexible is None)


def parted(system: System, changes: Mapping[str, ArrayLike]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Parameters that the compiler takes as arrays, and the others."""
    own = {name: value for name, value in changes.items() if substance(system, name)}
    return own, {name: value for name, value in changes.items() if name not in own}


def named(system: System, name: str) -> Parameter:
    """The number of the description that has this name."""
    try:
        return parameter(system, name)
    except StateError as error:
        raise ModelError(str(error)) from None


def changed_system(system: System, changes: Mapping[str, ArrayLike]) -> System:
    """The system with other numbers, with the checks of a description."""
    for name, value in changes.items():
        found, given = named(system, name), np.asarray(value, float)
        if given.size != found.value.size and given.size != 1:
            raise ModelError(f"parameter '{name}' is {given.tolist()}; give {found.value.size} "
                             f"number{'s' * (found.value.size > 1)}")
        after = found.changed(np.full(found.value.shape, given.item()) if given.size == 1 else given.reshape(found.value.shape))
        system = _checked(system, after)
    return system


def _checked(before: System, after: System) -> System:
    """The changed system with its changed parts validated and normalized, as if read from a file."""
    for name, body in after.bodies.items():
        if body.joint is not before.bodies[name].joint:
            joint = type(body.joint).from_mapping(body.joint.to_dict())
            after.bodies[name] = body.model_copy(update={"joint": joint})
    for kind in PARTS:
        for name, part in after.of(kind).items():
            if part is not before.of(kind)[name]:
                after.of(kind)[name] = type(part).from_mapping(part.to_dict())
    return after


def parameter_rows(model: CompiledModel, changes: Mapping[str, ArrayLike]) -> Floats:
    """(members, numbers of pars)."""
    n = members(changes)
    own, others = parted(model.system, changes)
    if not others:
        return build_tables(model.system, changes=own).pars
    nominal = build_tables(model.system)
    rows = build_tables(model.system, changes=own).pars if own else np.repeat(nominal.pars, n, axis=0)
    places = {name: copied_places(model, name) for name in others}
    if any(place is None for place in places.values()):
        return np.concatenate([_row(model, nominal, member_of(changes, i), i) for i in range(n)])
    rows = np.array(rows)
    for name, place in places.items():
        values = np.asarray(others[name], float).reshape(n, -1)
        _check_ends(model.system, name, values)
        for entry, held in (place or {}).items():
            rows[:, entry] = held.of(values)
    return rows


def copied_places(model: CompiledModel, name: str) -> Copied | None:
    """Cached results of `copied`."""
    kept: dict[str, Copied | None] = model.__dict__.setdefault("_copied_parameters", {})
    return kept[name] if name in kept else kept.setdefault(name, copied(model.system, name, build_tables(model.system)))


def numbers_only(model: CompiledModel, names: Iterable[str]) -> bool:
    """Whether these parameters can have any values in lanes."""
    return all(substance(model.system, name) or copied_places(model, name) is not None for name in names)


def beyond_numbers(model: CompiledModel, name: str) -> bool:
    """Whether a parameter needs a separate model: it changes the structure of the tables or their time tables, or it is not in the
    tables at all, such as the time of an event."""
    if substance(model.system, name):
        return False
    places, nominal = copied_places(model, name), build_tables(model.system)
    if places is not None:
        return not places
    try:
        tables = [build_tables(changed_system(model.system, {name: trial})) for trial in _trials(named(model.system, name))]
    except BoughError:
        return False                                                # reported later, for its actual values
    return not all(same_structure(each, nominal) for each in tables)


def _check_ends(system: System, name: str, values: Floats) -> None:
    """Validate the smallest and the largest of many values; the error names the first invalid one."""
    for member in dict.fromkeys([int(values.min(axis=1).argmin()), int(values.max(axis=1).argmax())]):
        try:
            changed_system(system, {name: values[member]})
        except BoughError as error:
            raise ModelError(f"member {member} of the batch: {error}") from None


def _row(model: CompiledModel, nominal: Tables, changes: Mapping[str, Floats], member: int) -> Floats:
    try:
        own, others = parted(model.system, changes)
        tables = build_tables(changed_system(model.system, others),
                              changes={name: value[None] for name, value in own.items()} or None)
    except BoughError as error:
        raise ModelError(f"member {member} of the batch: {error}") from None
    if not same_structure(tables, nominal):
        raise StateError(f"member {member} of the batch has other tables than the model ({', '.join(others)}); simulate it alone, "
                         "with model.with_parameters(...), or as a bough.Campaign")
    return tables.pars


def same_structure(one: Tables, other: Tables) -> bool:
    """Whether two systems differ only in the numbers of pars."""
    return np.array_equal(one.plan, other.plan) and np.array_equal(one.tables, other.tables)


def check_in_tables(model: CompiledModel, names: Iterable[str]) -> None:
    """Raise for parameters that are not in the tables at all: runs on the tables of the model would ignore them."""
    for name in names:
        if not substance(model.system, name) and copied_places(model, name) == {}:
            raise StateError(f"parameter '{name}' is no number that a batch can have for each run; simulate it alone, with "
                             "model.with_parameters(...), or as a bough.Campaign")


def _trials(found: Parameter) -> list[Floats]:
    """Two other values of a parameter, with entries that all differ."""
    more = np.arange(1, found.value.size + 1).reshape(found.value.shape)
    return [np.asarray(found.value * factor + factor * 0.01 * more) for factor in (1.0625, 1.1875)]


def copied(system: System, name: str, nominal: Tables) -> Copied | None:
    """The entries of pars that are a parameter itself or a power of it; None if the parameter has any other effect on the
    tables."""
    found = named(system, name)
    trials, rows = _trials(found), []
    for trial in trials:
        try:
            tables = build_tables(changed_system(system, {name: trial}))
        except BoughError:
            return None
        if not same_structure(tables, nominal):
            return None
        rows.append(tables.pars[0])
    usual, given = nominal.pars[0], [found.value.reshape(-1), *(trial.reshape(-1) for trial in trials)]
    places: Copied = {}
    for entry in np.flatnonzero((rows[0] != usual) | (rows[1] != usual)).tolist():
        held = _held([usual[entry], rows[0][entry], rows[1][entry]], given)
        if held is None:
            return None
        places[entry] = held
    return places


def _held(entries: list[float], given: list[Floats]) -> Held | None:
    """The entry or power of an entry of a parameter that matches three values of an entry of pars; None if none does."""
    same = [j for j in range(given[0].size) if all(entry == values[j] for entry, values in zip(entries, given, strict=True))]
    if len(same) == 1:
        return Held(same[0], 1.0, 1.0)
    fitting = []
    for j in range(given[0].size):
        if given[0][j] > 0.0 and all(values[j] > 0.0 for values in given):
            for power in POWERS:
                factors = [entry / values[j] ** power for entry, values in zip(entries, given, strict=True)]
                if factors[0] != 0.0 and max(abs(factor / factors[0] - 1.0) for factor in factors) < ROUNDED:
                    fitting.append(Held(j, power, float(factors[0])))
    return fitting[0] if len(fitting) == 1 else None
