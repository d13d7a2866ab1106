"""Numbers of a description by name, such as "boom.mass" or "strut.stiffness": their values, and their effect on the tables.

Tables are smooth in the numbers of a description, and mostly polynomials of them: moments m c, inertias J + m c c.  Differences of
fourth order are exact for these, except for rounding.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bough.analyze import parameter_routes as routes
from bough.analyze.parameter_routes import SUBSTANCE, as_numbers, nested
from bough.compile.assemble import build_tables
from bough.compile.compiled_model import CompiledModel
from bough.compile.layout import Floats
from bough.compile.tables import Tables
from bough.describe import CentralGravity, System
from bough.describe.parts import parts_of
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
        """For each entry: its index, the step, and weighted systems whose sum divided by the step is the derivative."""
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
        """The places of entry i: two in a symmetric matrix, except on the diagonal."""
        place = tuple(int(k) for k in np.unravel_index(i, self.value.shape))
        return {place, place[::-1]} if symmetric(self.name, self.value) else {place}


def symmetric(name: str, value: Floats) -> bool:
    """Whether a parameter is a symmetric matrix, such as an inertia, and not a list of rows."""
    return value.ndim == 2 and value.shape[0] == value.shape[1] and not name.endswith(ROWS) and np.array_equal(value, value.T)


def parameter(system: System, name: str) -> Parameter:
    """The parameter with a name: "part.field", with more dots for nested parts, and an index in brackets for an array entry."""
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
    if last not in routes.DERIVED:
        return parameter(after, name).value
    return routes.change_of(routes.owner_of(before, name), routes.owner_of(after, name), last)


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
            if name.startswith(prefix + ".") and (found := routes.of_body(body, name[len(prefix) + 1:])) is not None:
                return _described(system, "bodies", body.name, name, found)
    for part in parts_of(system):
        if name.startswith(part.name + "."):
            found = routes.lens(part, routes.tokens_of(name[len(part.name) + 1:]))
            if found is not None and as_numbers(found.value) is not None:
                return _described(system, part.key, part.name, name, found)
    return _refuse(system, name)


def _described(system: System, key: str, owner: str, name: str, found: routes.Lens) -> Parameter:
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
                         f"place 'at' and {', '.join(routes.OF_MODES)} are parameters")
    known = routes.names_of(system)
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
    """A copy in which identical flexible bodies have separate numbers in the tables, so that one of them can change alone."""
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
