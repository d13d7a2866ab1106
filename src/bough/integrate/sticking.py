"""Sticking and slipping in a run: the slip direction of each friction, when it sticks, and when it breaks away [B 36].

Between events a friction slips in one direction or sticks. It may stick when the speed passes zero, and breaks away when the
holding force reaches its limit, `breakaway` plus the load-dependent part. Marks: see `compile.friction_tables`.
"""

from collections.abc import Callable, Iterable

import numpy as np

from bough.compile.coordinates import coordinate_place, sticking_frictions
from bough.compile.hold_tables import Hold
from bough.compile.layout import Floats
from bough.describe import Friction
from bough.integrate.watchers import watcher
from bough.model import Model

Measured = Callable[[Model, float, Floats], Floats]            # of a model, at a time: the state with the holding forces
ROUNDING = 1e-12                # relative tolerance of the holding force
SLIPS = {1.0: ">", -1.0: "<"}


def name_of(model: Model, friction: Friction) -> str:
    """The entry of v that it acts on."""
    return model.names.v[coordinate_place(model.system, friction.coordinate)[1]]


def mark_of(model: Model, friction: Friction) -> str:
    """">" or "<": direction of slip; "=": it sticks; "": its coordinate is held by something else."""
    return next((mark for mark in "><=" if friction.name + mark in model.marks), "")


def friction_of(mark: str) -> str:
    """The friction of a mark; empty for other marks."""
    return mark[:-1] if mark[-1] in "><=" else ""


def state_place(model: Model, friction: Friction) -> int:
    """The place of its states in x."""
    return int(model.layout.friction.start) + 3*list(model.system.frictions).index(friction.name)


def speed_place(model: Model, friction: Friction) -> int:
    return int(model.layout.v.start) + coordinate_place(model.system, friction.coordinate)[1]


def watch_friction(model: Model, friction: Friction) -> list[Floats]:
    """Slipping: until the speed passes zero. Sticking: until the holding force exceeds its limit in either direction."""
    mark, place = mark_of(model, friction), state_place(model, friction)
    if mark and mark in "><":
        return [watcher(speed_place(model, friction), 1.0, 0.0, -1.0 if mark == ">" else 1.0)]
    return [watcher(place, side, side*friction.breakaway, 1.0, place + 1, -load_factor(friction))
            for side in ((1.0, -1.0) if mark else ())]


def load_factor(friction: Friction) -> float:
    return friction.mu*(friction.radius or 1.0)


def marked(model: Model, marks: dict[str, str]) -> Model:
    """The model with these marks of frictions, and with their coordinates held."""
    frictions = {friction.name: friction for friction in sticking_frictions(model.system)}
    others = [each for each in model.marks if friction_of(each) not in marks]
    holds = {name: hold for name, hold in model.holds.items()
             if name not in {name_of(model, frictions[each]) for each in marks}}
    holds |= {name_of(model, frictions[each]): Hold() for each, mark in marks.items() if mark == "="}
    return model.switched(holds, [*others, *(each + mark for each, mark in marks.items())])


def by_speed(model: Model, frictions: Iterable[Friction], x: Floats, rest: float = 0.0) -> Model:
    """The model with frictions marked by their speeds, unless held otherwise; at rest they stick for now."""
    marks = {}
    for friction in frictions:
        if mark_of(model, friction) or name_of(model, friction) not in model.holds:
            speed = float(x[speed_place(model, friction)])
            marks[friction.name] = "=" if abs(speed) <= rest else SLIPS[float(np.sign(speed))]
            if marks[friction.name] == "=":
                x[speed_place(model, friction)] = 0.0
    return marked(model, marks) if marks else model


def settled(model: Model, t: float, x: Floats, measured: Measured) -> Model:
    """Release frictions beyond their limits, the worst first, until all sticking ones can hold; x gets the holding forces."""
    for _ in range(2*len(model.system.frictions) + 1):
        holding = [friction for friction in sticking_frictions(model.system) if mark_of(model, friction) == "="]
        if not holding:
            return model
        found, worst, friction = measured(model, t, x), ROUNDING, holding[0]
        for each in holding:
            place = state_place(model, each)
            able = each.breakaway + load_factor(each)*float(found[place + 1])
            excess = abs(float(found[place]))/able - 1.0 if able > 0.0 else np.inf
            if excess > worst:
                worst, friction = excess, each
        x[model.layout.friction] = found[model.layout.friction]
        if worst == ROUNDING:
            return model
        model = released(model, friction, float(found[state_place(model, friction)]))
    return model


def released(model: Model, friction: Friction, force: float) -> Model:
    """The model in which a friction slips, in the direction opposite to its holding force."""
    return marked(model, {friction.name: SLIPS[-1.0 if force > 0.0 else 1.0]})


def changes(before: Model, after: Model) -> list[tuple[Friction, str]]:
    """The changes of frictions, in words."""
    words = {"=": "sticks", ">": "slips forward", "<": "slips backward", "": "is held"}
    pairs = ((friction, mark_of(before, friction), mark_of(after, friction)) for friction in sticking_frictions(after.system))
    return [(friction, f"{words[new]}: {friction.coordinate}") for friction, old, new in pairs if new != old]
