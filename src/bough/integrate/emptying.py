"""Tanks in a run: flow and thrust end with the propellant, at a time located inside a step [B 90]."""

from bough.compile.layout import Floats
from bough.compile.tank_tables import EMPTY, draining_tanks, engine_of
from bough.describe import Tank
from bough.errors import StateError
from bough.integrate.watchers import watcher
from bough.model import Model


def mass_place(model: Model, tank: Tank) -> int:
    """Index of its mass in x."""
    return int(model.layout.tanks.start) + list(model.system.tanks).index(tank.name)


def feeding(model: Model) -> list[Tank]:
    """Tanks that feed an engine."""
    tanks = model.system.tanks.values()
    dry = {engine_of(tank) for tank in tanks if tank.name + EMPTY in model.marks}
    return [tank for tank in draining_tanks(model.system) if engine_of(tank) not in dry]


def watch_tank(model: Model, tank: Tank) -> Floats:
    """Until it is empty."""
    return watcher(mass_place(model, tank), 1.0, tank.residual, -1.0)


def cut_off(model: Model, body: str) -> list[Tank]:
    """The feeding tanks that a body takes away from their nozzles, or their nozzles from them, when it leaves its parent."""
    parents = {each.name: each.parent for each in model.system.bodies.values()}

    def goes(place: str | None) -> bool:
        while place is not None and place != body:
            place = parents[place]
        return place is not None

    return [tank for tank in feeding(model) if goes(tank.name) != goes(tank.exit.body)]


def emptied(model: Model, tank: Tank, x: Floats) -> tuple[Model, str]:
    """The model in which this tank and the others of its engine no longer feed; and a description of the event."""
    x[mass_place(model, tank)] = tank.residual
    others = [each.name for each in model.system.tanks.values() if each is not tank and engine_of(each) == engine_of(tank)]
    text = "is empty" + (f", and {', '.join(others)} stop with it" if others else "")
    return model.switched(model.holds, [*model.marks, tank.name + EMPTY]), text


def start_tanks(model: Model, x: Floats) -> None:
    """At the start: raise if a tank that feeds is empty."""
    for tank in feeding(model):
        mass = float(x[mass_place(model, tank)])
        if mass <= tank.residual:
            raise StateError(f"tank '{tank.name}' has {mass:.6g} kg of propellant at the start and a residual of "
                             f"{tank.residual:g} kg: it is empty already; give it propellant, or a flow of 0 and no input")
