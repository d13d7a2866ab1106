"""Compiled laws in the loop: their values and derivatives at a state, and the closed linear system.

    u = l(t, y, z),  z' = g(t, y, z):     u = Ly y + Lz z,  z' = Zy y + Zz z,   y = C x + D u                           [B 42]

If a law reads accelerations, u acts on y directly: u = (1 - Ly D)^-1 (Ly C x + Lz z).  If the inverse does not exist, the loop is
algebraic and has no solution.
"""
from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from bough.analyze.derivatives import turned
from bough.analyze.linear.linear_system import LinearSystem
from bough.analyze.linear.linearization import Deviations, Shown, States, assembled, deviations, shown, states_of
from bough.analyze.linear.tangent_space import STENCIL
from bough.analyze.signals import check_ports, control_names, control_units, input_entries, outputs as measure
from bough.compile.batch import Batch
from bough.compile.compiled_model import CompiledModel
from bough.compile.layout import Floats
from bough.errors import StateError

STEP = 1e-4                                         # relative to the value that a law reads, or to 1
ALGEBRAIC = 1e-12                                   # smallest singular value of 1 - Ly D relative to the largest
MOST = 8                                            # Newton steps until the values of a law agree with its inputs


@dataclass(frozen=True)
class Reader:
    """A law on a model as a function of the values that it reads."""
    name: str
    reads: tuple[str, ...] | None       # outputs; None: q, v and wheel speeds
    sets: list[int]                     # entries of the controls
    states: tuple[float, ...]
    evaluate: Callable[[float, Floats, Floats], tuple[Floats, Floats]]     # (t, y, z) -> u, z'
    along: Callable[[float, Floats, Floats, Floats, Floats], Floats] | None = None      # (t, y, dy, z, dz) -> du, dz'

    def slopes(self, t: float, y: Floats, z: Floats) -> Floats:
        """(u and z', y and z): derivatives, by dual numbers for compiled laws, otherwise by sixth-order differences."""
        at, columns = np.concatenate([y, z]), []
        for k, unit in enumerate(np.eye(len(at))):
            if self.along is not None:
                columns.append(self.along(t, y, unit[:len(y)], z, unit[len(y):]))
                continue
            step, column = STEP*max(1.0, abs(at[k])), np.zeros(1)
            for times, weight in STENCIL:
                moved = at + times*step*unit
                column = column + weight/step*np.concatenate(self.evaluate(t, moved[:len(y)], moved[len(y):]))
            columns.append(column)
        return np.array(columns).T.reshape(len(self.sets) + len(z), len(at))


def continuous(model: CompiledModel, law: Any) -> Reader:
    """A compiled law, evaluated at every stage."""
    if not hasattr(law, "inner"):
        raise StateError(f"law {getattr(law, 'name', law)!r} is a Python function, asked at its own times; linearize takes "
                         "compiled laws, bough.controller: linearize the plant, and close it with a discrete controller")
    if law.period is not None:
        raise StateError(f"law '{law.name}' has a period of {law.period:g} s: the closed loop is not continuous; linearize the "
                         f"plant with dt={law.period:g}, or give the law no period")
    if law.outputs is not None:
        return named(model, law)
    nq, nv = model.nq, model.nv
    sets = list(range(nv + model.nw))

    def whole(t: float, y: Floats, z: Floats) -> tuple[Floats, Floats]:
        u = np.zeros(len(sets))
        law.inner(t, y[:nq].copy(), y[nq:nq + nv].copy(), y[nq + nv:].copy(), u[:nv], u[nv:])
        return u, z
    return Reader(law.name, None, sets, (), whole, duals_of(law, (nq, nv, model.nw), len(sets)))


def named(model: CompiledModel, law: Any) -> Reader:
    """A law on ports, by default all; with a period, compiled or in Python, it returns its new states in place of their rates."""
    known, entries = model.system.outputs, input_entries(model)
    reads = tuple(known) if law.outputs is None else tuple(law.outputs)
    sets = list(model.system.inputs) if law.inputs is None else list(law.inputs)
    check_ports(law, "output", reads, known)
    check_ports(law, "input", sets, entries)
    places, sizes = [entry for name in sets for entry in entries[name]], np.cumsum([0, *(known[name].size for name in reads)])

    def compiled(t: float, y: Floats, z: Floats) -> tuple[Floats, Floats]:
        u, new = np.zeros(len(places)), np.zeros(len(z)) if law.period is None else z.copy()
        law.inner(t, y.copy(), u, *(() if not law.states else (z.copy(), new) if law.period is None else (new,)))
        return u, new

    def python(t: float, y: Floats, z: Floats) -> tuple[Floats, Floats]:
        read = {name: float(y[a]) if b - a == 1 else y[a:b].copy() for name, a, b in zip(reads, sizes[:-1], sizes[1:], strict=True)}
        answer = law.function(t, read, z.copy()) if law.states else law.function(t, read)
        given, new = answer if law.states else (answer, z)
        for name in given or {}:
            if name not in sets:
                raise StateError(f"law '{law.name}' sets '{name}', which it does not declare; give it inputs=[..., '{name}']")
        values = [np.atleast_1d(np.asarray((given or {}).get(name, np.zeros(len(entries[name]))), float)) for name in sets]
        return np.concatenate([np.zeros(0), *values]), np.asarray(new, float)

    if not hasattr(law, "inner"):
        return Reader(law.name, reads, places, law.states, python)
    duals = duals_of(law, (int(sizes[-1]), len(places), len(law.states)), len(places))
    return Reader(law.name, reads, places, law.states, compiled, duals)


def duals_of(law: Any, sizes: tuple[int, int, int], n_u: int) -> Callable[[float, Floats, Floats, Floats, Floats], Floats]:
    """The derivative of a compiled law along a direction; `sizes` as in its table."""
    return lambda t, y, dy, z, dz: law.on_duals.along(t, sizes, n_u, y, dy, z, dz)


@dataclass(frozen=True)
class Laws:
    """All laws together: y, u and z one after the other; values for the same input are added."""
    model: CompiledModel
    readers: list[Reader]

    @property
    def ports(self) -> list[str]:
        return list(dict.fromkeys(name for each in self.readers for name in each.reads or ()))

    @property
    def states(self) -> Floats:
        return np.array([value for each in self.readers for value in each.states])

    def starting(self, given: ArrayLike | None) -> Floats:
        """The states that are given, or the initial ones."""
        z = self.states if given is None else np.array(given, float)
        if z.shape != self.states.shape:
            raise StateError(f"law_states has {z.size} numbers, the laws have {self.states.size} states; give one for each")
        return z

    @property
    def state_names(self) -> tuple[str, ...]:
        return tuple(f"{each.name}.z{i + 1}" for each in self.readers for i in range(len(each.states)))

    def evaluate(self, t: float, y: Floats, z: Floats, sizes: Sequence[int]) -> Floats:
        """Controls of all laws, and rates of their states."""
        controls, rates, at, own = np.zeros(self.model.input_layout.controls.stop), list[Floats](), 0, 0
        for each, size in zip(self.readers, sizes, strict=True):
            n = len(each.states)
            u, rate = each.evaluate(t, y[at:at + size], z[own:own + n])
            np.add.at(controls, each.sets, u)
            rates.append(rate[:n])
            at, own = at + size, own + n
        found = np.concatenate([controls, *rates])
        if not np.isfinite(found).all():
            names = ", ".join(each.name for each in self.readers)
            raise StateError(f"laws {names} give numbers that are not finite at t = {t:g} s; let them be finite at this state")
        return found

    def derivatives(self, t: float, y: Floats, z: Floats, sizes: Sequence[int]) -> tuple[Floats, Floats]:
        """By y and by z: (controls + states, numbers)."""
        n = self.model.input_layout.controls.stop
        of_y, of_z, at, own = np.zeros((n + len(z), len(y))), np.zeros((n + len(z), len(z))), 0, 0
        for each, size in zip(self.readers, sizes, strict=True):
            read, kept, m = slice(at, at + size), slice(own, own + len(each.states)), len(each.sets)
            slopes = each.slopes(t, y[read], z[kept])
            for whole, columns, part in ((of_y, read, slopes[:, :size]), (of_z, kept, slopes[:, size:])):
                np.add.at(whole[:, columns], each.sets, part[:m])
                whole[n + own:n + own + len(each.states), columns] = part[m:]
            at, own = read.stop, kept.stop
        return of_y, of_z


def read_rows(whole: Deviations, laws: Laws) -> tuple[Shown, list[int]]:
    """Rows of the values that the laws read, by deviations and controls; and the number of values of each law."""
    n, parts, sizes = len(whole.F), list[Shown](), list[int]()
    for each in laws.readers:
        parts.append(state_rows(whole) if each.reads is None else shown(whole, each.reads))
        sizes.append(len(parts[-1].values))
    empty = Shown((), (), np.zeros((0, n)), np.zeros((0, whole.controls)), np.zeros(0))
    joined = [np.concatenate(list(arrays)) for arrays in zip(*((p.of_deviations, p.of_controls, p.values) for p in [*parts, empty]),
                                                             strict=True)]
    return Shown((), (), *joined), sizes


def state_rows(whole: Deviations) -> Shown:
    """q, v and wheel speeds as passed to a law, with complete quaternions."""
    model, n = whole.model, len(whole.F)
    nq, nv, nw = model.nq, model.nv, model.nw
    rows = np.zeros((nq + nv + nw, n))
    rows[:nq, :nv] = turned(model, whole.batch.q, np.eye(nv)[None])[0].T
    rows[nq:, nv:2*nv + nw] = np.eye(nv + nw)
    values = np.concatenate([whole.batch.q[0], whole.batch.v[0], whole.batch.state.wheels[0]])
    return Shown((), (), rows, np.zeros((len(rows), whole.controls)), values)


# ---- closing -------------------------------------------------------------------------------------------------------------------
def linearize_closed(model: CompiledModel, batch: Batch, given: Sequence[Any], z: ArrayLike | None, names: Sequence[str],
                     entries: Sequence[int], independent: Sequence[str] | None = None) -> tuple[LinearSystem, States]:
    """The plant closed by the laws, and its states; `names`: all outputs, `entries`: controls that are inputs, `z`: states of the
    laws."""
    laws = Laws(model, [continuous(model, law) for law in given])
    z = laws.starting(z)
    ports = list(dict.fromkeys([*laws.ports, *(port for port, each in model.system.outputs.items()
                                               if port in names or set(each.entries) & set(names))]))
    batch = in_force(model, batch, laws, z)
    whole = deviations(model, batch, ports)
    states, measured = states_of(whole, independent), shown(whole, names)
    return closed(whole, states, measured, entries, laws, (*read_rows(whole, laws), z)), states


def in_force(model: CompiledModel, batch: Batch, laws: Laws, z: Floats) -> Batch:
    """The state with the values of the laws added to its controls; by Newton's method if laws read quantities that they affect."""
    base, t = batch.inputs.controls[0].copy(), float(batch.t[0, 0])
    found = np.zeros_like(base)
    for _ in range(MOST):
        y = values_read(model, batch, laws)
        sizes = [len(part) for part in y]
        computed = laws.evaluate(t, np.concatenate([*y, np.zeros(0)]), z, sizes)[:len(base)]
        wrong = computed - found
        if np.abs(wrong).max(initial=0.0) <= 1e-13*max(1.0, float(np.abs(computed).max(initial=0.0))):
            return batch
        late = any(model.system.outputs[name].late(model.system) for name in laws.ports)
        if late:
            whole = deviations(model, batch, laws.ports)
            read, _ = read_rows(whole, laws)
            gain = laws.derivatives(t, read.values, z, sizes)[0][:len(base)] @ read.of_controls
            wrong = np.linalg.solve(algebraic_loop(model, np.eye(len(base)) - gain, laws), wrong)
        found = found + wrong
        u = batch.u.copy()
        u[0, batch.inputs.layout.controls] = base + found
        batch = replace(batch, inputs=batch.inputs.layout.view(u))
    raise StateError(f"laws {', '.join(each.name for each in laws.readers)}: what they give and what they read do not agree after "
                     f"{MOST} steps; let them read what does not depend on accelerations")


def values_read(model: CompiledModel, batch: Batch, laws: Laws) -> list[Floats]:
    """The values that each law reads in this state."""
    found = measure(model, replace(batch, single=False), laws.ports) if laws.ports else {}
    whole = np.concatenate([batch.q[0], batch.v[0], batch.state.wheels[0]])
    return [whole if each.reads is None else np.concatenate([np.zeros(0), *(found[name][0] for name in each.reads)])
            for each in laws.readers]


def algebraic_loop(model: CompiledModel, loop: Floats, laws: Laws) -> Floats:
    """1 - Ly D; raises if it is singular."""
    _, sizes, free = np.linalg.svd(loop)
    if sizes[-1] <= ALGEBRAIC*max(1.0, sizes[0]):
        entry = int(np.abs(free[-1]).argmax())                              # of the undetermined u, set by laws
        names = ", ".join(each.name for each in laws.readers)
        raise StateError(f"laws {names}: the loop through '{control_names(model)[entry]}' is algebraic: what they give changes "
                         "what they read, at once, by just as much as they answer, and nothing determines it; read a rate or a "
                         "coordinate instead of an acceleration, or filter it in the law")
    return loop


def closed(whole: Deviations, states: States, measured: Shown, entries: Sequence[int], laws: Laws,
           reading: tuple[Shown, list[int], Floats]) -> LinearSystem:
    """The linear system of plant and laws [B 42]."""
    model, (read, sizes, z) = whole.model, reading
    t, n_u, n_x = float(whole.batch.t[0, 0]), whole.controls, len(states.names)
    of_y, of_z = laws.derivatives(t, read.values, z, sizes)
    Ly, Lz, Zy, Zz = of_y[:n_u], of_z[:n_u], of_y[n_u:], of_z[n_u:]
    P, E, Dl = states.rows, states.lift, read.of_controls
    Cl, loop = read.of_deviations @ E, algebraic_loop(model, np.eye(n_u) - Ly @ Dl, laws)
    # all controls: external ones plus those of the laws
    of_x, of_states, outside = (np.linalg.solve(loop, each) for each in (Ly @ Cl, Lz, np.eye(n_u)))
    B, C, D = P @ whole.G, measured.of_deviations @ E, measured.of_controls
    plain = assembled(whole, states, measured, entries)
    A = np.block([[plain.A + B @ of_x, B @ of_states], [Zy @ (Cl + Dl @ of_x), Zz + Zy @ Dl @ of_states]])
    residual = np.concatenate([plain.residual, laws.evaluate(t, read.values, z, sizes)[n_u:]])
    scale = np.concatenate([plain.residual_scale, np.abs(A[n_x:]).sum(axis=1)])
    return replace(plain, A=A, B=np.concatenate([B @ outside, Zy @ Dl @ outside])[:, entries],
                   C=np.concatenate([C + D @ of_x, D @ of_states], axis=1), D=(D @ outside)[:, entries],
                   states=plain.states + laws.state_names, state_units=plain.state_units + ("",)*len(z), residual=residual,
                   residual_scale=scale, name=f"{plain.name} with {', '.join(each.name for each in laws.readers)}")


# ---- laws as linear systems ----------------------------------------------------------------------------------------------
def linearize_laws(model: CompiledModel, batch: Batch, given: Sequence[Any], law_states: ArrayLike | None) -> LinearSystem:
    """u = C z + D y with z' = A z + B y, or z[k+1]; see `Model.linearize_laws`."""
    if not given:
        raise StateError("linearize_laws: no laws are given; give laws=[...]")
    periods = {law.period for law in given}
    if len(periods) > 1:
        raise StateError(f"linearize_laws: the laws have periods {', '.join(map(str, periods))} s; linearize those of one period "
                         "at a time")
    [period] = periods
    laws = Laws(model, [continuous(model, law) if period is None else named(model, law) for law in given])
    if any(each.reads is None for each in laws.readers):
        raise StateError("linearize_laws: a law on the whole state names no ports; give it outputs= and inputs=")
    y, z = values_read(model, batch, laws), laws.starting(law_states)
    of_y, of_z = laws.derivatives(float(batch.t[0, 0]), np.concatenate(y), z, [len(part) for part in y])
    return _assembled(laws, of_y, of_z, z, period, {law.delay for law in given if period is not None})


def _assembled(laws: Laws, of_y: Floats, of_z: Floats, z: Floats, period: float | None, delays: set[float]) -> LinearSystem:
    """The linear system with names of ports; an output read by several laws is one input."""
    model = laws.model
    read = [entry for each in laws.readers for port in each.reads or () for entry in model.system.outputs[port].entries]
    units = {entry: unit for port in model.system.outputs.values()
             for entry, unit in zip(port.entries, port.units(model.system), strict=True)}
    names, sets = list(dict.fromkeys(read)), sorted({entry for each in laws.readers for entry in each.sets})
    merge = np.array([[float(name == entry) for name in names] for entry in read]).reshape(len(read), len(names))
    n = len(of_y) - len(z)
    found = LinearSystem(of_z[n:], of_y[n:] @ merge, of_z[sets], of_y[sets] @ merge, states=laws.state_names, inputs=tuple(names),
                         outputs=tuple(control_names(model)[k] for k in sets), input_units=tuple(units[name] for name in names),
                         output_units=tuple(control_units(model)[k] for k in sets), dt=period,
                         name=", ".join(each.name for each in laws.readers))
    return found if period is None else _delayed(found, period, delays)


def _delayed(system: LinearSystem, period: float, delays: set[float]) -> LinearSystem:
    """The system with its outputs delayed by some samples."""
    if len(delays) > 1:
        raise StateError(f"linearize_laws: the laws have delays {', '.join(map(str, delays))} s; linearize them one at a time")
    [delay] = delays
    samples = round(delay / period)
    if abs(samples * period - delay) > 1e-9 * period:
        raise StateError(f"linearize_laws: a delay of {delay:g} s is no multiple of the period of {period:g} s; give one that is, "
                         f"or compare the delay with the delay margin")
    m = len(system.outputs)
    for k in range(samples):
        A = np.block([[system.A, np.zeros((len(system.A), m))], [system.C, np.zeros((m, m))]])
        states = tuple(f"{name} delayed {k + 1}" for name in system.outputs)
        system = replace(system, A=A, B=np.vstack([system.B, system.D]), C=np.hstack([np.zeros((m, len(system.A))), np.eye(m)]),
                         D=np.zeros_like(system.D), states=(*system.states, *states),
                         state_units=(*system.state_units, *system.output_units))
    return system
