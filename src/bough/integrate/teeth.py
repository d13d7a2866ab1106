"""Elastic teeth with play in a run whose fixed steps are too long to follow a bounce [B 38].

A bounce lasts pi/w, w^2 = k c.M^-1 c.  Where a step is too long for that, the teeth touch and part at moments that are found inside
it, so that their spring is smooth in every step, and what follows a touch is taken in parts of a step: by an explicit method
until they part; by an implicit one, which is stable anyway, for one period of the contact, after which teeth that still touch stay.
"""
from collections.abc import Iterable

import numpy as np

from bough.compile.coupling_tables import BETWEEN
from bough.compile.layout import Floats
from bough.describe import Coupling, System
from bough.integrate.backlash import SIDES, answer, flank_row, play_of, side_of
from bough.integrate.trajectory import WHOLE, Pace
from bough.model import Model

FOLLOWED = 0.5                      # rad in a step: six steps while teeth bounce, which then leave an error of a hundredth
PARTS = {"euler-cromer": 0.01, "imex2": 0.05}       # rad in a part of a step, where the order is low; of the others:
PART = 0.125


def watchable(system: System) -> list[Coupling]:
    """Elastic teeth with play of which a run can watch the gap: one coordinate or two make it."""
    return [each for each in system.couplings.values() if each.stiffness is not None and each.backlash and len(each.terms) <= 2]


def bounce_rate(model: Model, coupling: Coupling, x: Floats) -> float:
    """rad/s: sqrt(k c.M^-1 c), or that of the damper if it is faster."""
    mobility = max(answer(model, coupling, x)[1], 0.0)
    return max(float(np.sqrt((coupling.stiffness or 0.0)*mobility)), coupling.damping*mobility)


def teeth_to_watch(model: Model, x: Floats, dt: float) -> list[str]:
    """The names of teeth that bounce within less than steps follow."""
    return [each.name for each in watchable(model.system) if dt*bounce_rate(model, each, x) > FOLLOWED]


# ---- sides ---------------------------------------------------------------------------------------------------------
def on_side(model: Model, coupling: Coupling, side: float) -> Model:
    """The same model with teeth that touch at this side, or, with 0, are between their flanks."""
    others = [each for each in model.contacts if each[:-1] != coupling.name or each[-1] not in (*SIDES, BETWEEN)]
    mark = next((mark for mark, value in SIDES.items() if value == side), BETWEEN)
    return model.switched(model.holds, [*others, coupling.name + mark])


def start_teeth(model: Model, names: Iterable[str], x: Floats) -> Model:
    """At the start: what is beyond its play touches."""
    for name in names:
        coupling = model.system.couplings[name]
        gap = play_of(model, coupling, x)
        model = on_side(model, coupling, float(np.sign(gap)) if abs(gap) > 0.5*coupling.backlash else 0.0)
    return model


def watch_teeth(model: Model, coupling: Coupling, x: Floats) -> list[Floats]:
    """Between the flanks: until either one. On one: until the gap is back within the play."""
    touched = side_of(model, coupling)
    return [flank_row(model, coupling, side, -1.0 if touched else 1.0, x) for side in ((touched,) if touched else SIDES.values())]


# ---- parts of steps ------------------------------------------------------------------------------------------------
def pace_of(model: Model, names: Iterable[str], x: Floats, t: float, dt: float, method: str) -> Pace:
    """Of the steps that follow, after teeth have touched or parted."""
    touching = [model.system.couplings[name] for name in names if side_of(model, model.system.couplings[name])]
    rates = [bounce_rate(model, coupling, x) for coupling in touching]
    fast, slow = max(rates, default=0.0), min((rate for rate in rates if rate > 0.0), default=np.inf)
    parts = np.ceil(dt*fast/PARTS.get(method, PART))
    if parts <= 1.0:
        return WHOLE
    return t, t + 2*np.pi/slow if method.startswith("imex") else np.inf, dt/parts
