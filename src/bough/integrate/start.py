"""The initial state of a run, from the caller or the description; closing its loops, and keeping them closed."""
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from bough.compile.batch import array
from bough.compile.coordinates import member_of, members as count_members
from bough.compile.kernel_calls import group_parameters, lanes_for, workspace
from bough.compile.layout import Floats
from bough.compile.loop_tables import singular_share
from bough.describe.orientation import rotation_matrix
from bough.errors import StateError, name_list, similar
from bough.integrate.compiled.callback import LAWS
from bough.integrate.methods import euler_cromer
from bough.integrate.run import STIFF, Run, trial_rows, with_corrections
from bough.integrate.trajectory import positive
from bough.model import Model
from bough.sweeps import fields as f


def initial_states(model: Model, t: float, q0: ArrayLike | None, v0: ArrayLike | None, wheels0: ArrayLike | None,
                   orbit0: ArrayLike | None, tanks0: ArrayLike | None,
                   parameters: Mapping[str, ArrayLike] | None) -> tuple[Floats, bool]:
    """(batch, nx): initial states, and whether they are a batch."""
    still = np.zeros(model.layout.beyond.stop - model.layout.beyond.start)
    described = model.layout.pack(model.q0, model.v0, model.wheel_speeds, model.initial_orbit, model.tank_masses, still)[None]
    model.follow_motions(described, t)
    q = model.state(described).q[0] if q0 is None else q0
    v = model.state(described).v[0] if v0 is None else v0
    members = None if parameters is None else count_members(parameters)
    if members is not None and np.ndim(q) == 1 and np.ndim(v) == 1:
        q = np.tile(np.asarray(q), (members, 1))
    batch = model.batch(q, v, wheels=wheels0, orbit=orbit0, tanks=tanks0)
    if members is not None and batch.n != members:
        raise StateError(f"there are {members} parameter sets but {batch.n} initial states; give as many of each, or one state")
    x = batch.x.copy()
    model.normalize_quaternions(x)
    check_prescribed(model, x, t)
    if model.in_orbit and members is None:
        center(model, x)
    elif model.in_orbit:
        for i in range(batch.n):
            center(member_model(model, parameters, i), x[i:i + 1])
    return x, not batch.single


def starting_masses(model: Model, tanks0: ArrayLike | None) -> Floats:
    """(rows, tanks): initial masses of propellant, not yet checked."""
    given = np.atleast_2d(model.tank_masses if tanks0 is None else array("tanks0", tanks0, len(model.tank_masses)))
    return given if given.shape[1:] == model.tank_masses.shape else np.zeros((1, len(model.tank_masses)))


def member_model(model: Model, parameters: Mapping[str, ArrayLike] | None, member: int) -> Model:
    """The model with the parameters of one member of a batch; the model itself if the members have none of their own."""
    own = member_of(parameters, member)
    return model.with_parameters(own) if own else model


def check_prescribed(model: Model, x: Floats, t: float) -> None:
    """Raise if a given state disagrees with prescribed motions, or locked coordinates move."""
    wanted = x.copy()
    model.follow_motions(wanted, t)
    wrong = np.argwhere(np.abs(wanted - x) > 1e-9*np.maximum(1.0, np.abs(wanted)))
    if len(wrong):
        row, entry = wrong[0]
        what, name = ("q0", model.names.q[entry]) if entry < model.nq else ("v0", model.names.v[entry - model.nq])
        raise StateError(f"{what} of '{name}' is {x[row, entry]:.6g}, but its motion is given and starts with "
                         f"{wanted[row, entry]:.6g}; let model.follow(q, v) fill in what is prescribed, or change the motion")


def center(model: Model, x: Floats) -> None:
    """In orbit the tree moves about its mass center: shift the free roots so that this is at rest in the origin."""
    state = model.state(x)
    bodies = model.bodies(state.q, state.v, tanks=state.tanks if model.system.tanks else None)
    position, velocity = bodies.center_of_mass, bodies.momentum[:, 3:]/bodies.mass.sum(axis=-1, keepdims=True)
    for body in model.system.bodies.values():
        if body.parent is None:
            (q, v), turn = model.places[body.name], rotation_matrix(body.orient)
            state.q[:, q:q + 3] -= position @ turn
            state.v[:, v:v + 3] -= velocity @ turn


# ---- closed loops --------------------------------------------------------------------------------------------------------
STABILIZATIONS = ("projection", "baumgarte")
MOST_CORRECTIONS = 6                # after a step: of positions until they close, then of speeds
STEPS_TO_CLOSE = 10.0               # Baumgarte: steps in which a gap decreases by a factor e
USUAL_STEP = 1e-3                   # s: for methods that choose their own steps


def stabilization(model: Model, method: str, stabilize: Any, hold: Sequence[str]) -> str | float | None:
    """"projection", "baumgarte" or its frequency [rad/s]; None without loops."""
    if not model.constrainable:
        if stabilize is not None or name_list("hold", hold):
            given = "stabilize" if stabilize is not None else "hold"
            raise StateError(f"{given} is given, but system '{model.system.name}' has no loops or couplings; leave it out")
        return None
    if stabilize is None:
        return "baumgarte" if method in STIFF else "projection"
    if isinstance(stabilize, str):
        if stabilize not in STABILIZATIONS:
            known = ", ".join(STABILIZATIONS)
            raise StateError(f"stabilize is '{stabilize}'{similar(stabilize, STABILIZATIONS)}; give one of {known}, or a "
                             "frequency in rad/s")
        if stabilize == "projection" and method in STIFF:
            raise StateError(f"stabilize is 'projection', but the method '{method}' keeps its own past steps; use 'baumgarte', or "
                             "rk4 or dopri5")
        return stabilize
    positive("stabilize", stabilize, "a frequency in rad/s, or 'projection'")
    return float(stabilize)


def stabilized(model: Model, pars: Floats, chosen: str | float | None, method: str, step: float | None) -> Floats:
    """Parameters with the singularity limit of loop rows and the frequency of Baumgarte stabilization, if used; `step`: the fixed
    step of the method, if any.

    Euler-Cromer needs no projection of speeds: with a frequency of 1/(2 step), the next step removes their error."""
    if chosen is None:
        return pars
    pars = pars.copy()
    pars[:, f.LEAST_SHARE] = singular_share(model.tables.tree)
    if chosen == "projection" and method != "euler-cromer":
        return pars
    pars[:, f.STABILIZATION] = (1.0/(2.0*(step or USUAL_STEP)) if chosen == "projection"
                                else 1.0/(STEPS_TO_CLOSE*(step or USUAL_STEP)) if chosen == "baumgarte" else chosen)
    return pars


def corrected(tableau: Floats, chosen: str | float | None, speeds: bool) -> Floats:
    """A method that closes loops after each step if projection is chosen: positions and, optionally, speeds."""
    return with_corrections(tableau, MOST_CORRECTIONS if chosen == "projection" else 0, speeds)


def close_start(model: Model, x: Floats, hold: Sequence[str], parameters: Mapping[str, Any] | None) -> str | None:
    """Close the loops of initial states, in place; returns the largest change in words, if it is more than rounding."""
    if not model.constrained:
        return None
    given = x.copy()
    for i, row in enumerate(map(model.state, x)):
        try:
            row.q[:], row.v[:] = member_model(model, parameters, i).assemble(row.q, row.v, hold=hold)
        except StateError as error:
            where = "" if len(x) == 1 else f"initial state {i} of the batch: "
            raise StateError(f"{where}{error}") from None
    change = np.abs(x - given).max(axis=0)
    worst = int(change.argmax())
    if change[worst] < 1e-9:
        return None
    return f"to close the loops {model.entry_name(worst)} was changed by {change[worst]:.3g}, most of all"


_CLOSING = corrected(euler_cromer(), "projection", True)


def close_samples(run: Run, first: int) -> None:
    """Close the loops in the samples recorded from `first` on, and in the shown state: samples inside a step are interpolated, and
    Euler-Cromer corrects speeds only in the next step.  A step of zero length at the time of the sample closes them."""
    nx, model, last = run.x.shape[1], run.model, run.done + (run.shown_x is not run.x)
    if last == first:
        return
    states = run.out.reshape(len(run.x), -1, nx)
    times = np.append(run.samples[first:run.done], run.shown)
    for part in np.split(np.arange(first, last), np.arange(1, last - first) if model.holds else []):
        x = np.ascontiguousarray(states[:, part].reshape(-1, nx))
        rows = np.flatnonzero(np.isfinite(x).all(axis=1))
        if len(rows):
            own = run.pars if len(run.pars) == 1 else run.pars[np.minimum(rows//len(part), len(run.pars) - 1)]
            x[rows] = closed_states(run, own, x[rows], float(times[part[0] - first]), run.ahead[rows//len(part)])
            states[:, part] = x.reshape(len(run.x), len(part), nx)


def closed_states(run: Run, pars: Floats, x: Floats, t: float, ahead: Floats) -> Floats:
    tables, lanes = run.stepped_tables, lanes_for(len(run.x))           # as in fixed steps: already compiled
    nu, at = run.u.shape[1], tables.size(f.WS_SIZE) + tables.more(run.resolved)
    ws = workspace(tables, lanes, tables.more(run.resolved) + 3*x.shape[1] + nu + 1)
    stepper, grid = (_CLOSING, np.zeros(LAWS, np.int64), np.zeros(1), at), np.array([[t, 0.0, 0.0, 1.0]])
    return run.take_trial((tables, group_parameters(pars, lanes)), stepper, grid, trial_rows(x, np.zeros((len(x), nu)), ahead), ws)
