"""Elastic teeth with play, in a run whose fixed steps are too long to resolve a bounce [B 38].

A bounce lasts pi/w, w^2 = k c.M^-1 c.  If steps are too long for that, touching and parting are located inside them, so that the
spring is smooth within every step, and shorter steps follow: with an explicit method until the teeth part; with an implicit one,
which is stable anyway, for one period of the contact, after which teeth that still touch stay in contact.
"""
from collections.abc import Iterable

import numpy as np

from bough.compile.layout import Floats
from bough.describe import Coupling, System
from bough.integrate.backlash import SIDES, flank_row, on_side, play_of, response, side_of
from bough.integrate.trajectory import WHOLE, Pace
from bough.model import Model

RESOLVED = 0.5                      # rad per step: six steps per bounce, with an error of about 1 %
PARTS = {"euler-cromer": 0.01, "imex2": 0.05}       # rad per step in contact, for methods of low order; for the others:
PART = 0.125


def watchable(system: System) -> list[Coupling]:
    """Elastic teeth with play whose gap a run can watch: it depends on one or two coordinates."""
    return [each for each in system.couplings.values() if each.stiffness is not None and each.backlash and len(each.terms) <= 2]


def bounce_rate(model: Model, coupling: Coupling, x: Floats) -> float:
    """rad/s: sqrt(k c.M^-1 c), or the rate of the damper if that is faster."""
    mobility = max(response(model, coupling, x)[1], 0.0)
    return max(float(np.sqrt((coupling.stiffness or 0.0)*mobility)), coupling.damping*mobility)


def teeth_to_watch(model: Model, x: Floats, dt: float) -> list[str]:
    """Names of the teeth whose bounces steps of dt do not resolve."""
    return [each.name for each in watchable(model.system) if dt*bounce_rate(model, each, x) > RESOLVED]


# ---- sides ---------------------------------------------------------------------------------------------------------
def start_teeth(model: Model, names: Iterable[str], x: Floats) -> Model:
    """At the start: teeth beyond their play touch."""
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
    """Step lengths after teeth have touched or parted."""
    touching = [model.system.couplings[name] for name in names if side_of(model, model.system.couplings[name])]
    rates = [bounce_rate(model, coupling, x) for coupling in touching]
    fast, slow = max(rates, default=0.0), min((rate for rate in rates if rate > 0.0), default=np.inf)
    parts = np.ceil(dt*fast/PARTS.get(method, PART))
    if parts <= 1.0:
        return WHOLE
    return t, t + 2*np.pi/slow if method.startswith("imex") else np.inf, dt/parts
