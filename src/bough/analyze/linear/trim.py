"""Trim: positions, inputs and parameters at which a system is at rest or in steady motion, with its loops closed.

Unknowns are coordinates, along directions N that keep the loops closed (N' M N = 1), and extra unknowns e. With the accelerations f
and those of the steady motion, a,

    0 = r = f(q, v(q), e) - a(q),       dr = (f_q + f_v v_q - a_q) N y + f_e e                                          [B 45]

First the coordinates settle, as in slow motion against friction: (mu - N' M r_q N) y = N' M r, where mu decreases with r. This
converges from far away to a stable equilibrium. Then Newton steps, shortened or damped until they reduce |r| (in the norm of M),
find all unknowns.
"""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bough.analyze.derivatives import Directions, directional
from bough.analyze.equations_of_motion import forward, mass_matrices
from bough.analyze.linear.linearization import gravity_size, orbital_rate
from bough.analyze.linear.steady_motion import SteadyMotion
from bough.analyze.linear.tangent_space import rank_of
from bough.analyze.loop_constraints import approach, moved
from bough.analyze.loop_rows import POSITION, loop_terms
from bough.analyze.parameters import parameter
from bough.analyze.signals import control_names, control_units
from bough.compile.batch import Batch
from bough.compile.compiled_model import CompiledModel
from bough.compile.layout import Floats
from bough.compile.loop_tables import REDUNDANT
from bough.errors import StateError, similar

SETTLING, STEPS = 200, 60               # steps at most
FARTHEST = 0.3                          # rad or m: largest change of a coordinate in a settling step
FIRST = 0.1                             # rad or m: approximate change in the first step
SETTLED = 1e-6                          # relative to its initial value: |r| at which settling ends
BALANCED = 1e-9                         # relative to the terms that cancel in them: accelerations that count as zero
DAMPED = (0.0, 1e-8, 1e-6, 1e-4, 1e-2, 1.0, 1e2, 1e4)       # relative to the largest singular value squared
SHARES = (1.0, 0.5, 0.25)               # of an undamped step
NO_EFFECT = 1e-11                          # relative singular value of directions without effect


@dataclass(frozen=True)
class Extra:
    """An unknown other than a coordinate: a control, a parameter, or the acceleration along a coordinate."""
    kind: str                           # "control", "parameter" or "acceleration"
    name: str
    entry: int = 0                      # in the controls, or in v
    unit: str = ""
    start: float = 0.0


@dataclass(frozen=True)
class Place:
    """A point of the search: coordinates and extras."""
    q: Floats
    e: Floats


@dataclass(frozen=True)
class Problem:
    """The unknowns, and the starting state."""
    model: CompiledModel
    start: Batch
    motion: SteadyMotion
    loose: NDArray[np.bool_]            # (nv,) coordinates that may change
    extras: tuple[Extra, ...] = ()
    circular: bool = False              # the orbit's speed follows from the forces

    @cached_property
    def free(self) -> NDArray[np.intp]:
        return np.flatnonzero(self.model.free)

    def at(self, place: Place) -> tuple[CompiledModel, Batch]:
        """The model with its parameters, and the state with its speeds and controls."""
        model, (v, _) = self.model, self.motion.at(place.q)
        for extra, value in zip(self.extras, place.e, strict=True):
            if extra.kind == "parameter":
                changed = parameter(model.system, extra.name).changed(np.array(value))
                model = type(model)(changed).switched_as(model)
        x, u = self.start.x.copy(), self.start.u.copy()
        state = self.start.state.layout.view(x)
        state.q[0], state.v[0] = place.q, v
        for extra, value in zip(self.extras, place.e, strict=True):
            if extra.kind == "control":
                u[0, extra.entry] += value - extra.start
        tables = self.start.tables if model is self.model else model.tables
        return model, replace(self.start, tables=tables, state=state, inputs=self.start.inputs.layout.view(u))

    def steady(self, place: Place) -> Floats:
        """(nv,) accelerations of the steady motion."""
        a = self.motion.at(place.q)[1]
        for extra, value in zip(self.extras, place.e, strict=True):
            if extra.kind == "acceleration":
                a[extra.entry] += value
        return a

    def residual(self, place: Place) -> Floats:
        """(free,) unbalanced accelerations."""
        model, batch = self.at(place)
        return (forward(model, batch, "order-n").v[0] - self.steady(place))[self.free]

    def derivatives(self, place: Place) -> tuple[Floats, Floats]:
        """(free, nv) and (free, extras): of the residual, along directions of q and by the extras."""
        model, batch = self.at(place)
        nv, n = model.nv, len(self.extras)
        d = np.concatenate([np.eye(nv), np.zeros((n, nv))])
        dv, da = self.motion.along(place.q, d)
        du, layout = np.zeros((nv + n, batch.u.shape[1])), batch.inputs.layout
        names = tuple(extra.name for extra in self.extras if extra.kind == "parameter")
        parameters, known = np.zeros((nv + n, len(names))), list(names)
        for k, extra in enumerate(self.extras):
            if extra.kind == "control":
                du[nv + k, extra.entry] = 1.0
            elif extra.kind == "parameter":
                parameters[nv + k, known.index(extra.name)] = 1.0
            else:
                da[nv + k, extra.entry] = 1.0
        given: dict[str, Any] = {"q": d, "v": dv, "tau": du[:, layout.tau]}
        given |= {"motors": du[:, layout.motors]} if model.nw else {}
        given |= {"inputs": du[:, layout.ports]} if layout.n_ports else {}
        given |= {"parameters": parameters, "names": names} if names else {}
        along = (directional(model, batch, Directions(**given)).along.v[0] - da).T[self.free]
        return along[:, :nv], along[:, nv:]

    def closing(self, q: Floats, weights: Floats) -> Floats:
        """(nv, m): directions of the coordinates that may change, with loops kept closed, N' M N = 1."""
        loose, found = np.flatnonzero(self.loose), np.zeros((self.model.nv, int(self.loose.sum())))
        basis = np.eye(len(loose))
        if self.model.constrained:
            J = loop_terms(self.model, self.model.batch(q), POSITION)[1][0][:, loose]
            basis = np.linalg.svd(J)[2][rank_of(J):].T
        L = np.linalg.cholesky(basis.T @ weights[np.ix_(loose, loose)] @ basis)
        found = found[:, :basis.shape[1]]
        found[loose] = np.linalg.solve(L, basis.T).T
        return found

    def moved(self, place: Place, d: Floats, e: Floats) -> Place:
        """A step on, loops closed again."""
        q = moved(self.model, place.q, d)
        if self.model.constrained and d.any():
            q = approach(self.model, q, self.loose)[0]
        return Place(q, place.e + e)

    def round_orbit(self, place: Place) -> Problem:
        """With the speed of a circular orbit under the forces at this place, and all that turns with it."""
        if not self.circular:
            return self
        model, batch = self.at(place)
        r = batch.state.orbit[0, :3]
        pull = forward(model, batch, "order-n").orbit[0, 3:]
        speed, size = np.sqrt(-(pull @ r)), np.linalg.norm(r)
        axis = orbital_rate(batch.state.orbit[0])
        spin = axis/np.linalg.norm(axis)*speed/size
        x = self.start.x.copy()
        self.start.state.layout.view(x).orbit[0, 3:] = np.cross(spin, r)
        start = replace(self.start, state=self.start.state.layout.view(x))
        return replace(self, start=start, motion=replace(self.motion, spin=spin))


# ---- the search ------------------------------------------------------------------------------------------------------------
def weights_at(problem: Problem, place: Place) -> Floats:
    """M, (nv, nv)."""
    model, batch = problem.at(place)
    return mass_matrices(model, model.batch(batch.q[0]))[0]


def settle(problem: Problem, place: Place) -> tuple[Place, int]:
    """Move the coordinates towards a stable equilibrium, with forces on held coordinates; and the number of steps."""
    first, last, mu, farthest, place = 0.0, 0.0, 0.0, FIRST, held_by(problem, place)
    for step in range(SETTLING):
        M, r, (of_q, of_e) = weights_at(problem, place), problem.residual(place), problem.derivatives(place)
        N, holding = problem.closing(place.q, M), holding_forces(problem, r, of_e)
        if not N.shape[1]:
            return place, step
        forces = N.T @ M[:, problem.free]
        pull = forces @ (r + of_e @ holding)
        size = float(np.linalg.norm(pull))
        if step == 0:
            first, mu = size, float(np.abs(N @ pull).max())/FIRST
        if size <= SETTLED*first or not np.isfinite(size) or size == 0.0:
            return place, step
        if step:
            short = np.clip(farthest/FIRST, 0.1, 1.0) if size < 1.5*last else 1.0       # little change: reduce mu faster
            mu *= float(np.clip(size/last, 0.05, 2.0)*short)
        change = np.asarray(N @ np.linalg.solve(mu*np.eye(len(pull)) - forces @ of_q @ N, pull), float)
        farthest = float(np.abs(change).max())
        change = change*min(1.0, FARTHEST/max(farthest, 1e-300))
        place, last = problem.moved(place, change, holding_forces(problem, r + of_q @ change, of_e)), size
    return place, SETTLING


def holding_forces(problem: Problem, r: Floats, of_e: Floats) -> Floats:
    """(extras,): forces on held coordinates that cancel their accelerations r."""
    held = ~problem.loose[problem.free]
    if not of_e.shape[1]:
        return np.zeros(0)
    return np.asarray(np.linalg.lstsq(of_e[held], -r[held], rcond=NO_EFFECT)[0], float)


def held_by(problem: Problem, place: Place) -> Place:
    """The place with the forces on held coordinates."""
    if not problem.extras:
        return place
    forces = holding_forces(problem, problem.residual(place), problem.derivatives(place)[1])
    return Place(place.q, place.e + forces)


def newton(problem: Problem, place: Place) -> tuple[Place, int]:
    """Newton's method for all unknowns, until |r| stops decreasing; and the number of steps."""
    for step in range(STEPS):
        M = weights_at(problem, place)
        root = np.linalg.cholesky(M[np.ix_(problem.free, problem.free)]).T
        N, r = problem.closing(place.q, M), root @ problem.residual(place)
        if not r.any():
            return place, step
        of_q, of_e = problem.derivatives(place)
        columns = root @ np.concatenate([of_q @ N, of_e], axis=1)
        sizes = np.concatenate([np.ones(N.shape[1]), np.linalg.norm(columns[:, N.shape[1]:], axis=0)])
        sizes[sizes == 0.0] = 1.0
        found = better(problem, place, (N, columns/sizes, sizes, r))
        if found is None:
            return place, step
        place = found
    return place, STEPS


def better(problem: Problem, place: Place, linear: tuple[Floats, Floats, Floats, Floats]) -> Place | None:
    """The first of the shortened and damped steps that reduces |r|; None if none does."""
    N, columns, sizes, r = linear
    left, values, right = np.linalg.svd(columns, full_matrices=False)
    effective = values > NO_EFFECT*values.max(initial=0.0)
    size = float(np.linalg.norm(r))
    for damping in DAMPED:
        with np.errstate(divide="ignore", invalid="ignore"):
            factors = np.where(effective, values/(values**2 + damping*values.max(initial=0.0)**2), 0.0)
        step = -(right.T @ (factors*(left.T @ r)))/sizes
        for share in SHARES if damping == 0.0 else (1.0,):
            trial = problem.moved(place, share*(N @ step[:N.shape[1]]), share*step[N.shape[1]:])
            if not np.isfinite(trial.q).all() or np.abs(N @ step[:N.shape[1]]).max(initial=0.0)*share > 10.0:
                continue
            M = weights_at(problem, trial)
            try:
                root = np.linalg.cholesky(M[np.ix_(problem.free, problem.free)]).T
                if np.linalg.norm(root @ problem.residual(trial)) < (1.0 - 1e-4*share)*size:
                    return trial
            except (np.linalg.LinAlgError, StateError):
                continue
    return None


# ---- the result --------------------------------------------------------------------------------------------------------
@dataclass(frozen=True, eq=False, repr=False)
class Trim:
    """A state of rest or steady motion, returned by `Model.trim`; `print` shows the residual.

    Attributes
    ----------
    model : Model
        The model, with the parameters found.
    q, v, tau : ndarray
        Coordinates, speeds, and joint torques, given and found.
    wheels, orbit : ndarray or None
        Speeds of wheels, and position and velocity of the mass center.
    inputs : dict
        By input of the description, its value, given or found.
    found : dict
        By name, the values of unknowns other than coordinates: inputs, holding forces, parameters, accelerations.
    left_over : dict
        By coordinate, the unbalanced force or torque; at rounding level at an equilibrium.
    undetermined : tuple of str
        Coordinates that nothing restrains: they keep their starting values.
    steps : int
        Number of steps of the search.
    """
    model: Any
    q: Floats
    v: Floats
    tau: Floats
    wheels: Floats | None
    orbit: Floats | None
    motors: Floats | None
    inputs: dict[str, Any]
    found: dict[str, float]
    units: dict[str, str]
    left_over: dict[str, float]
    balanced: bool
    undetermined: tuple[str, ...]
    steps: int
    options: dict[str, Any] = field(default_factory=dict)

    @property
    def state(self) -> dict[str, Any]:
        """Arguments for calls of the model: q, v, tau, inputs, and wheels, motors, orbit and t if present."""
        more = {"wheels": self.wheels, "motors": self.motors, "orbit": self.orbit}
        return ({"q": self.q, "v": self.v, "tau": self.tau, "inputs": self.inputs or None} | self.options
                | {name: value for name, value in more.items() if value is not None})

    def linearize(self, **options: Any) -> Any:
        """The linear system of deviations from it; options as in `Model.linearize`."""
        return self._asked("linearize", options)

    def modes(self, **options: Any) -> Any:
        """The modes about it; options as in `Model.modes`."""
        return self._asked("modes", options)

    def _asked(self, call: str, options: dict[str, Any]) -> Any:
        state = self.state
        values = state.pop("inputs")
        return getattr(self.model, call)(**(state | {"at": values} | options))

    def __repr__(self) -> str:
        return "\n".join(lines(self))


def lines(trim: Trim) -> list[str]:
    """The printed text."""
    worst = max(trim.left_over, key=lambda name: abs(trim.left_over[name]), default=None)
    units = dict(zip(trim.model.names.v, control_units(trim.model), strict=False))
    left = "" if worst is None else f"; left over {trim.left_over[worst]:.2g} {units[worst]} along {worst}"
    found = [f"trim of {trim.model.system.name!r} in {trim.steps} steps: {'balanced' if trim.balanced else 'not balanced'}{left}"]
    moving = [(name, q) for name, q in zip(trim.model.names.q, trim.q, strict=True) if abs(q) > 1e-9]
    shown = [f"{name} {q:.6g}" for name, q in moving[:12]] + (["..."] if len(moving) > 12 else [])
    found.append(f"  coordinates   {', '.join(shown) or 'all zero'}")
    turning = [f"{name} {v:.6g}" for name, v in zip(trim.model.names.v, trim.v, strict=True) if abs(v) > 1e-12]
    found += [f"  speeds        {', '.join(turning[:12])}"] if turning else []
    found += [f"  {'found' if k == 0 else '':14}{name} {value:.8g} {trim.units[name]}".rstrip()
              for k, (name, value) in enumerate(trim.found.items())]
    return found + ([f"  undetermined  {', '.join(trim.undetermined)}"] if trim.undetermined else [])


def trimmed(problem: Problem, start: Place, options: Mapping[str, Any], strict: bool) -> Trim:
    """Search, and describe the result."""
    place, steps = start, 0
    sought = any(extra.kind == "parameter" or (extra.kind == "control" and not extra.unit.startswith("hold"))
                 or extra.kind == "acceleration" for extra in problem.extras)
    for _ in range(3 if problem.circular else 1):
        problem = problem.round_orbit(place)
        if not sought:
            place, n = settle(problem, place)
            steps += n
        place, n = newton(problem, place)
        steps += n
    return described(problem, place, steps, options, strict)


def described(problem: Problem, place: Place, steps: int, options: Mapping[str, Any], strict: bool) -> Trim:
    """The result of the search; raises if it is no equilibrium and strict."""
    model, batch = problem.at(place)
    M, r = weights_at(problem, place), problem.residual(place)
    of_q, _ = problem.derivatives(place)
    N, free = problem.closing(place.q, M), problem.free
    scale = np.abs(of_q).sum(axis=1) + np.abs(problem.motion.at(place.q)[1])[free] + gravity_size(model)
    forces = M[np.ix_(free, free)] @ r
    balanced = bool((np.abs(r) <= BALANCED*np.maximum(scale, 1e-12)).all())
    left_over = {model.names.v[i]: float(force) for i, force in zip(free, forces, strict=True)}
    if strict and not balanced:
        raise StateError(unbalanced(problem, model, left_over, forces))
    units = control_units(model)
    holding = {extra.name: units[extra.entry] if extra.kind == "control" else extra.unit for extra in problem.extras}
    return Trim(model, place.q, batch.v[0].copy(), batch.inputs.tau[0].copy(), batch.state.wheels[0].copy() if model.nw else None,
                batch.state.orbit[0].copy() if model.in_orbit else None, batch.inputs.motors[0].copy() if model.nw else None,
                {name: value[0] if len(value) == 1 else value.copy() for name, value in
                 model.named_inputs(batch.inputs.ports[0]).items()},
                {extra.name: float(value) for extra, value in zip(problem.extras, place.e, strict=True)}, holding, left_over,
                balanced, undetermined(problem, M, N, of_q), steps, dict(options))


def undetermined(problem: Problem, M: Floats, N: Floats, of_q: Floats) -> tuple[str, ...]:
    """Coordinates along directions without effect on the residual."""
    if not N.shape[1]:
        return ()
    root = np.linalg.cholesky(M[np.ix_(problem.free, problem.free)]).T
    columns = root @ of_q @ N
    values, right = np.linalg.svd(columns)[1:]
    size = np.concatenate([values, np.zeros(len(right) - len(values))])
    null = N @ right[size <= np.sqrt(REDUNDANT)*1e-3*max(size.max(initial=0.0), 1e-300)].T
    if not null.shape[1]:
        return ()
    return tuple(name for name, moves in zip(problem.model.names.v, np.abs(null).max(axis=1), strict=True)
                 if moves > 1e-3*np.abs(null).max())


def unbalanced(problem: Problem, model: CompiledModel, left_over: Mapping[str, float], forces: Floats) -> str:
    """The error message: unbalanced coordinates, residual forces, and remedies."""
    order = sorted(left_over, key=lambda name: -abs(left_over[name]))[:4]
    units = dict(zip(model.names.v, control_units(model), strict=False))
    worst = ", ".join(f"{name} by {left_over[name]:.4g} {units[name]}" for name in order
                      if abs(left_over[name]) > 1e-3*np.abs(forces).max())
    held = [name for name, loose, free in zip(model.names.v, problem.loose, model.free, strict=True) if free and not loose]
    given = f" with {', '.join(held[:6])}{', ...'*(len(held) > 6)} held" if held else ""
    return (f"trim of '{model.system.name}': no equilibrium was found{given}; not balanced are {worst}. Let inputs that act there "
            "be found (find=[...]), hold coordinates that nothing balances (hold=[...]), let them accelerate (accelerate=[...]), "
            "or start elsewhere; strict=False gives the nearest state")


# ---- unknowns -----------------------------------------------------------------------------------------------------
def extras_of(model: CompiledModel, batch: Batch, find: Sequence[str], held: Sequence[int], accelerate: Sequence[int],
              entries: Mapping[str, list[int]]) -> tuple[Extra, ...]:
    """Unknowns other than coordinates: those of `find` or, if there are none, holding forces; and accelerations."""
    names, units, found = control_names(model), control_units(model), list[Extra]()
    controls = batch.inputs.controls[0]
    for name in find:
        if name in entries:
            found += [Extra("control", names[i], i, units[i], float(controls[i])) for i in entries[name]]
            continue
        if "." not in name and "[" not in name and name != "gravity":
            raise StateError(f"find: there is no input '{name}'{similar(name, entries)}; name an input ({', '.join(entries)}) or a "
                             "number of the description, as 'boom.mass'")
        value = parameter(model.system, name).value
        if value.ndim:
            raise StateError(f"find: parameter '{name}' has {value.size} numbers; name one of them, '{name}[0]'")
        found.append(Extra("parameter", name, start=float(value)))
    if not find:
        found += [Extra("control", names[i], i, f"hold {units[i]}", float(controls[i])) for i in held]
    unit = {"N": "m/s^2", "N m": "rad/s^2"}
    found += [Extra("acceleration", f"{names[i]} acceleration", i, unit.get(units[i], "")) for i in accelerate]
    return tuple(found)


def check_count(problem: Problem, q: Floats) -> None:
    """No more unknowns than equations."""
    model = problem.model
    J = loop_terms(model, model.batch(q), POSITION)[1][0] if model.constrained else np.zeros((0, model.nv))
    equations = len(problem.free) - rank_of(J[:, problem.free])
    loose = np.flatnonzero(problem.loose)
    coordinates = len(loose) - rank_of(J[:, loose])
    sought = [extra.name for extra in problem.extras if extra.kind != "acceleration"]
    if coordinates + len(sought) > equations:
        names, more = ", ".join(sought), coordinates + len(sought) - equations
        raise StateError(f"trim of '{model.system.name}': {coordinates} coordinates and {len(sought)} others ({names}) are "
                         f"unknown, but there are {equations} equations; hold {more} more coordinate{'s'*(more > 1)} (hold=[...]), "
                         "one for each unknown that is no coordinate, or find fewer")
