"""Numbers of a description by name, as "boom.mass" or "strut.stiffness": what they are, and what they change in the tables.

Tables are smooth in the numbers of a description, and mostly polynomials of them: moments m c, inertias J + m c c.  Differences of
fourth order are exact for these, but for rounding.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bough.analyze.parameter_routes import (
    DERIVED,
    OF_MODES,
    SUBSTANCE,
    Lens,
    as_numbers,
    change_of,
    lens,
    names_of,
    nested,
    of_body,
    owner_of,
    tokens_of,
)
from bough.compile.assemble import build_tables
from bough.compile.compiled_model import CompiledModel
from bough.compile.layout import Floats
from bough.compile.tables import Tables
from bough.describe import CentralGravity, System
from bough.describe.parts import PARTS
from bough.errors import StateError, similar

STENCIL = ((-2, 1.0/12.0), (-1, -2.0/3.0), (1, 2.0/3.0), (2, -1.0/12.0))       # f' h, exact for polynomials of degree 4
NAME = re.compile(r"([^\[\]]+(?:\[\d+\]\.[^\[\]]+)*)(?:\[(\d+(?:\s*,\s*\d+)*)\])?")     # a route, and perhaps an entry
ROWS = ("values", "terms", "coefficients", "sections")      # lists of rows, no matrices though there may be three of three
STEP = 1e-3                             # of the number's size: errors of 1e-12 where the tables are no polynomials of it


@dataclass(frozen=True)
class Parameter:
    """A number of a description, or an array of them, and how to change it."""
    name: str
    value: Floats
    changed: Callable[[Floats], System]         # the system with another value

    def steps(self) -> Iterable[tuple[int, float, list[tuple[float, System]]]]:
        """Of each of its entries: which, the step, and systems with their weights, whose sum over the step is a derivative."""
        scale = float(np.abs(self.value).max(initial=0.0)) or 1.0
        for i in range(self.value.size):
            step, found = STEP*scale, []
            for times, weight in STENCIL:
                moved = self.value.copy()
                for place in self._same(i):
                    moved[place] += times*step
                found.append((weight, self.changed(moved)))
            yield i, step, found

    def _same(self, i: int) -> set[tuple[int, ...]]:
        """Where entry i is: a matrix is symmetric, its entries below the diagonal are those above."""
        place = tuple(int(k) for k in np.unravel_index(i, self.value.shape))
        return {place, place[::-1]} if symmetric(self.name, self.value) else {place}


def symmetric(name: str, value: Floats) -> bool:
    """Whether a parameter is a symmetric matrix, such as an inertia, and no list of rows."""
    return value.ndim == 2 and value.shape[0] == value.shape[1] and not name.endswith(ROWS) and np.array_equal(value, value.T)


def parameter(system: System, name: str) -> Parameter:
    """What a name stands for: "part.field" (fields of parts in parts with more dots), and, of an array, an entry in brackets."""
    match = NAME.fullmatch(name) if isinstance(name, str) else None
    if match is None:
        raise StateError(f"parameter {name!r} is no name; give one as 'body.mass' or 'body.com[2]'")
    whole = _whole(system, match[1])
    if match[2] is None:
        return whole
    place = tuple(int(k) for k in match[2].split(","))
    if len(place) != whole.value.ndim or any(k >= n for k, n in zip(place, whole.value.shape, strict=True)):
        raise StateError(f"parameter '{name}': '{match[1]}' has the shape {whole.value.shape}; give an entry that it has")

    def changed(value: Floats) -> System:
        moved = whole.value.copy()
        moved[place] = value
        if symmetric(match[1], whole.value):
            moved[place[::-1]] = value
        return whole.changed(moved)

    return Parameter(name, np.array(whole.value[place]), changed)


def value_in(before: System, after: System, name: str) -> Floats:
    """The value that a parameter of one system has in another, read from its description."""
    last = name.rpartition(".")[2]
    if last not in DERIVED:
        return parameter(after, name).value
    return change_of(owner_of(before, name), owner_of(after, name), last)


def _whole(system: System, name: str) -> Parameter:
    if name == "gravity":
        if isinstance(system.gravity, CentralGravity):
            raise StateError("parameter 'gravity': gravity is central; name its number, 'gravity.mu'")
        return Parameter(name, np.array(system.gravity, float), lambda value: _with_gravity(system, tuple(value.tolist())))
    if name == "gravity.mu" and isinstance(system.gravity, CentralGravity):
        central = system.gravity
        return Parameter(name, np.array(central.mu), lambda value: _with_gravity(
            system, central.model_copy(update={"mu": float(value)})))
    made = {body for tank in system.tanks.values() for body in tank.body_names}
    if name.rpartition(".")[0] in made and name.rpartition(".")[2] in (*SUBSTANCE, "at"):
        raise StateError(f"parameter '{name}': '{name.rpartition('.')[0]}' is the propellant of a tank, and this follows from how "
                         "much there is; give that by tanks, or describe another tank")
    for body in system.bodies.values():
        for prefix in sorted({body.name, body.joint.name or body.name}):
            if name.startswith(prefix + ".") and (found := of_body(body, name[len(prefix) + 1:])) is not None:
                return _described(system, "bodies", body.name, name, found)
    for kind in PARTS:
        for part in system.of(kind).values():
            if name.startswith(part.name + "."):
                found = lens(part, tokens_of(name[len(part.name) + 1:]))
                if found is not None and as_numbers(found.value) is not None:
                    return _described(system, kind.key, part.name, name, found)
    return _refuse(system, name)


def _described(system: System, key: str, owner: str, name: str, found: Lens) -> Parameter:
    """The number at the end of a route that starts at an owner."""
    numbers = as_numbers(found.value)
    if numbers is None:
        return _refuse(system, name)

    def changed(value: Floats) -> System:
        twin = system.copy()
        getattr(twin, key)[owner] = found.put(nested(value))
        return twin

    return Parameter(name, numbers, changed)


def _refuse(system: System, name: str) -> Parameter:
    owner, _, field = name.rpartition(".")
    if owner in system.bodies and system.bodies[owner].flexible is not None and field in SUBSTANCE:
        raise StateError(f"parameter '{name}': body '{owner}' is flexible, and its {field} is that of its finite elements; its "
                         f"place 'at' and {', '.join(OF_MODES)} are parameters")
    known = names_of(system)
    own = [each.removeprefix(owner + ".") for each in known if owner and each.startswith(owner + ".")]
    if own:
        what = f"body '{owner}'" if owner in system.bodies else f"'{owner}'"
        raise StateError(f"parameter '{name}': {what} has no number '{field}'{similar(field, own)}; it has {', '.join(own)}")
    raise StateError(f"parameter '{name}' is no number of the description{similar(name, known)}; name it as 'part.field', for "
                     "instance 'boom.mass'")


def _with_gravity(system: System, gravity: Any) -> System:
    twin = system.copy()
    twin.gravity = gravity
    return twin


def unshared(system: System) -> System:
    """The same, in which flexible bodies that are alike are kept apart in the tables, so that one of them can change alone."""
    twin = system.copy()
    for body in system.bodies.values():
        if body.flexible is not None:
            twin.bodies[body.name] = body.model_copy(update={"flexible": replace(body.flexible)})
    return twin


def table_directions(model: CompiledModel, tables: Tables, found: Iterable[Parameter]) -> Floats:
    """(entries of the parameters, numbers of pars): derivatives of the numbers of the model's tables."""
    rows, options = [], model.options_of(tables)
    plan = build_tables(model.system, **options).plan
    for each in found:
        for _, step, systems in each.steps():
            row = np.zeros(tables.pars.shape[1])
            for weight, system in systems:
                other = build_tables(system, **options)
                if not np.array_equal(other.plan, plan):
                    raise StateError(f"parameter '{each.name}' is {nested(each.value)}, and tables of numbers beside it look "
                                     "otherwise; give it a small value other than zero")
                row += weight*other.pars[0]
            rows.append(row/step)
    return np.array(rows).reshape(len(rows), -1)
