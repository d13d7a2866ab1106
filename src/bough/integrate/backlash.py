"""Backlash in a run: couplings with play touch at its ends, bounce, and part [B 39].

At an end of the play an impulse along the coupling reverses its rate, times the restitution; impulse and reaction are equal, so
momenta are conserved.  Below the speed `slow`, or without restitution, the coupling stays in contact: it is then rigid until it
would have to pull.

Teeth may also be elastic [B 38].  A bounce then lasts pi/w, w^2 = k c.M^-1 c.  If fixed steps are too long for that, touching and
parting are located inside them, so that the spring is smooth within every step, and shorter steps follow: with an explicit method
until the teeth part; with an implicit one, which is stable anyway, for one period of the contact, after which teeth that still
touch stay in contact.
"""
from collections.abc import Iterable

import numpy as np

from bough.analyze.impulse import Jump, at_rest, kinetic_energy
from bough.compile.coordinates import coordinate_place, touching
from bough.compile.coupling_tables import BETWEEN, sum_of
from bough.compile.kernel_calls import call, workspace
from bough.compile.layout import Floats
from bough.describe import Coupling, System
from bough.errors import StateError
from bough.integrate.compiled.loops import DIRECTION as FACES, FIRST, FIRST_FACTOR, LESS, SECOND, SECOND_FACTOR, WATCHER
from bough.integrate.trajectory import WHOLE, Pace
from bough.integrate.watchers import watcher
from bough.model import Model
from bough.sweeps import calls

SIDES = {"+": 1.0, "-": -1.0}
PULLS = 1e-10                   # N or N m: pull at which a contact parts
OUTSIDE = 1e-9                  # tolerance of the initial position, relative to the play


def side_of(model: Model, coupling: Coupling) -> float:
    """The side at which it touches, 1 or -1; 0 within its play."""
    return next((side for mark, side in SIDES.items() if coupling.name + mark in model.marks), 0.0)


def directions(model: Model, coupling: Coupling) -> Floats:
    """(nv,): its factors c."""
    c = np.zeros(model.nv)
    for name, factor in coupling.terms.items():
        c[coordinate_place(model.system, name)[1]] += factor
    return c


def armed(row: Floats, x: Floats) -> Floats:
    """The watcher with its zero shifted if the quantity is there already, as after a bounce, so that it can pass zero again."""
    first, second = row[FIRST_FACTOR]*x[int(row[FIRST])], row[SECOND_FACTOR]*x[int(row[SECOND])]
    value = first + second - row[LESS]
    if row[FACES]*value >= 0.0:
        row[LESS] += value + row[FACES]*8*np.spacing(abs(first) + abs(second) + abs(row[LESS]))
    return row


def watch_play(model: Model, coupling: Coupling, x: Floats) -> list[Floats]:
    """Within its play: until it reaches an end. In contact: until it would have to pull."""
    if side := side_of(model, coupling):
        played = [each.name for each in touching(model.system)]
        place = model.layout.friction.stop - len(played) + played.index(coupling.name)
        return [watcher(place, side, side*PULLS, 1.0)]                      # a contact without load stays, too
    return [flank_row(model, coupling, side, 1.0, x) for side in SIDES.values()]


def flank_row(model: Model, coupling: Coupling, side: float, direction: float, x: Floats) -> Floats:
    """A watcher of the distance beyond a flank; the gap depends on one or two coordinates."""
    row, places = np.zeros(WATCHER), ((FIRST, FIRST_FACTOR), (SECOND, SECOND_FACTOR))
    for (place, weight), (name, factor) in zip(places, coupling.terms.items(), strict=False):
        row[place], row[weight] = coordinate_place(model.system, name)[0], side*factor
    row[LESS], row[FACES] = side*sum_of(model.system, coupling) + 0.5*coupling.backlash, direction
    return armed(row, x)


def play_of(model: Model, coupling: Coupling, x: Floats) -> float:
    """Distance from the middle of its play."""
    q = model.state(x).q
    return float(sum(factor*q[coordinate_place(model.system, name)[0]] for name, factor in coupling.terms.items())
                 - sum_of(model.system, coupling))


def on_side(model: Model, coupling: Coupling, side: float) -> Model:
    """The model with a coupling in contact at this side; 0: within its play, which is marked for elastic teeth."""
    others = [each for each in model.marks if each[:-1] != coupling.name or each[-1] not in (*SIDES, BETWEEN)]
    mark = next((mark for mark, value in SIDES.items() if value == side), "" if coupling.touches else BETWEEN)
    return model.switched(model.holds, others + [coupling.name + mark]*bool(mark))


def response(model: Model, coupling: Coupling, x: Floats) -> tuple[Floats, float]:
    """Change of all speeds due to a unit impulse along a coupling, y = M^-1 c with all that is held, and of its rate, c.y."""
    c = directions(model, coupling)
    batch, pars = at_rest(model, model.state(x).q.copy())
    batch.inputs.tau[0], out = c, np.empty((1, model.nv + model.nw))
    call(calls.impulse, batch.tables, pars, batch.t, batch.x, batch.u, np.zeros((1, model.nv)), out,
         workspace(batch.tables, batch.lanes))
    return out[0], float(c @ out[0, :model.nv])


def impact(model: Model, coupling: Coupling, x: Floats) -> Jump | None:
    """Change the speeds, in place: dv = - (1 + e) (c.v) y/(c.y), y = M^-1 c with everything that is held [B 39]."""
    state = model.state(x)
    before, rate = state.v.copy(), float(directions(model, coupling) @ state.v)
    y, share = response(model, coupling, x)
    if share <= 0.0 or rate == 0.0:
        return None
    energy, bounce = kinetic_energy(model, x), coupling.restitution if abs(rate) > coupling.slow else 0.0
    state.speeds[:] += -(1.0 + bounce)*rate/share*y
    changed = dict(zip(model.names.v, (state.v - before).tolist(), strict=True))
    return Jump(changed, {coupling.name: -(1.0 + bounce)*rate/share}, energy, kinetic_energy(model, x))


def start_play(model: Model, x: Floats) -> Model:
    """Check that no coupling starts outside its play."""
    for coupling in touching(model.system):
        off = play_of(model, coupling, x)
        if abs(off) > 0.5*coupling.backlash*(1.0 + OUTSIDE):
            raise StateError(f"coupling '{coupling.name}' is {off:.6g} from the middle of its play, which is "
                             f"{coupling.backlash:g} wide; start inside of it")
    return model


# ---- elastic teeth -------------------------------------------------------------------------------------------------------
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


def pace_of(model: Model, names: Iterable[str], x: Floats, t: float, dt: float, method: str) -> Pace:
    """Step lengths after teeth have touched or parted."""
    touching = [model.system.couplings[name] for name in names if side_of(model, model.system.couplings[name])]
    rates = [bounce_rate(model, coupling, x) for coupling in touching]
    fast, slow = max(rates, default=0.0), min((rate for rate in rates if rate > 0.0), default=np.inf)
    parts = np.ceil(dt*fast/PARTS.get(method, PART))
    if parts <= 1.0:
        return WHOLE
    return t, t + 2*np.pi/slow if method.startswith("imex") else np.inf, dt/parts
