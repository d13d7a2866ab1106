"""The jump of all speeds when prescribed speeds change suddenly or loops close: the impulse solution [B 18] [B 98]."""
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from bough.analyze.bodies import Bodies, bodies_of
from bough.analyze.equations_of_motion import inverse
from bough.analyze.loop_forces import balancing_forces, loop_wrench
from bough.analyze.loop_rows import SPEED, loop_terms, row_names, row_sizes, row_slices
from bough.blas import one_thread
from bough.compile.batch import Batch
from bough.compile.compiled_model import CompiledModel
from bough.compile.coordinates import holdable
from bough.compile.kernel_calls import call, group_parameters, workspace
from bough.compile.layout import Floats
from bough.compile.loop_tables import REDUNDANT
from bough.errors import StateError
from bough.sweeps import calls, fields as f

SMALL = 1e-12                   # relative to the largest speed: smaller changes are rounding


@dataclass(frozen=True)
class Jump:
    """A jump of speeds: the change of each, the impulses on held coordinates and through loops that close ("capture.mx" ...
    "capture.fz": of a's body on b's at frame b, in its axes), the kinetic energy before and after, and the speeds before."""
    speeds: dict[str, float]                # rad/s or m/s
    impulses: dict[str, float]              # N m s or N s
    energy_before: float                    # J
    energy_after: float
    speeds_before: dict[str, float] = field(default_factory=dict)

    @property
    def speeds_after(self) -> dict[str, float]:
        """By name, rad/s or m/s."""
        return {name: value + self.speeds[name] for name, value in self.speeds_before.items()}

    @property
    def energy_lost(self) -> float:
        return self.energy_before - self.energy_after

    def __str__(self) -> str:
        name = max(self.speeds, key=lambda entry: abs(self.speeds[entry]))
        energy = f"{abs(self.energy_lost):.4g} J of motion are {'lost' if self.energy_lost >= 0.0 else 'given by drives'}"
        return f"speeds jump, most that of {name} by {self.speeds[name]:.4g}; {energy}"


def jump(model: CompiledModel, x: Floats, t: float, report: bool = True) -> Jump | None:
    """Let the speeds of one state x jump, in place, to those that the model now holds; None if nothing jumps, or without `report`.

    M dv = J^T impulses, with dv given for held coordinates: the dynamics of the system at rest, without loads."""
    state, given = model.state(x), model.state(x[None].copy())
    model.follow_motions(given.x, t)
    change = given.v[0] - state.v
    if not np.abs(change).max(initial=0.0) > SMALL*max(1.0, np.abs(state.v).max(initial=0.0)):
        state.q[:], state.v[:] = given.q[0], given.v[0]
        return None
    v = state.v.copy()
    before = kinetic_energy(model, x) if report else 0.0
    state.speeds[:] += speeds_after(model, state.q.copy(), change)
    state.v[:] = np.where(model.free, state.v, given.v[0])
    if not report:
        return None
    dv = state.v - v
    needed = impulses(model, state.q.copy(), dv)
    return Jump(dict(zip(model.names.v, dv.tolist(), strict=True)),
                {name: float(needed[model.names.v.index(name)]) for name in holdable(model.system) if name in model.holds},
                before, kinetic_energy(model, x), dict(zip(model.names.v, v.tolist(), strict=True)))


@one_thread()
def close(before: CompiledModel, after: CompiledModel, names: Sequence[str], x: Floats, reported: Sequence[str]) -> Jump:
    """Let the speeds of one state x jump, in place, when loops close: `before` and `after` are the model without and with them; the
    impulses through some are `reported`.

        dv = Y lambda,   Y = M^-1 J^T,   (J Y) lambda = -J v                                                        [B 98]

    J are the rows of these loops; M^-1 is that of the system with all existing constraints and wheels, by O(N).  The energy loss is
    -(J v) lambda/2."""
    state, closures = after.state(x), after.tables.fronts.closures
    batch = after.batch_of(x[None].copy())
    rates, J = (found[0] for found in loop_terms(after, batch, SPEED))
    rows = np.array([i for own, closure in zip(row_slices(closures), closures, strict=True) if closure.name in names
                     for i in range(own.start, own.stop)])
    rates, J = rates[rows], J[rows]
    Y = speeds_under(before, state.q.copy(), J, np.zeros(J.shape))
    multipliers = -_solve(J @ Y[:, :after.nv].T, rates)
    bodies, v = bodies_of(after, batch), state.v.copy()
    energy = float(bodies.kinetic_energy[0])
    state.speeds[:] += multipliers @ Y
    state.v[:] = np.where(before.free, state.v, v)
    dv = state.v - v
    left = J @ dv + rates
    if np.abs(left).max(initial=0.0) > 1e-9*max(1.0, np.abs(rates).max(initial=0.0)):
        worst = np.array(row_names(closures))[rows][np.abs(left).argmax()]
        raise StateError(f"nothing can stop '{worst}', which moves by {left[np.abs(left).argmax()]:.3g} m/s: other attachments or "
                         "prescribed motions contradict it; let go of one of them first")
    sizes = row_sizes(closures)
    forces = np.zeros((1, len(sizes)))
    forces[0, rows] = multipliers*sizes[rows]
    through = _through(after, bodies, forces, reported)
    return Jump(dict(zip(after.names.v, dv.tolist(), strict=True)), through, energy, energy + 0.5*float(rates @ multipliers),
                dict(zip(after.names.v, v.tolist(), strict=True)))


def _solve(A: Floats, b: Floats) -> Floats:
    """The minimum-norm solution, for redundant rows of loops."""
    values, vectors = np.linalg.eigh(0.5*(A + A.T))
    good = values > REDUNDANT*values.max(initial=0.0)
    return np.asarray(vectors[:, good] @ ((vectors[:, good].T @ b)/values[good]))


def _through(model: CompiledModel, bodies: Bodies, forces: Floats, names: Sequence[str]) -> dict[str, float]:
    """Impulses through loops, by component, in the axes of their frames b."""
    found, closures = dict[str, float](), model.tables.fronts.closures
    for closure, rows in zip(closures, row_slices(closures), strict=True):
        if closure.name in names:
            loop = model.system.loops[closure.name]
            a, b = bodies.frame(loop.a), bodies.frame(loop.b)
            own = (loop_wrench(loop, closure, a, b, forces[:, rows]).reshape(2, 3) @ b.attitude[0]).ravel().tolist()
            found |= zip((f"{loop.name}.{part}" for part in ("mx", "my", "mz", "fx", "fy", "fz")), own, strict=True)
    return found


def speeds_under(model: CompiledModel, q: Floats, impulses: Floats, change: Floats) -> Floats:
    """(rows, nv + nw): the change of all speeds under impulses (rows, nv) and given changes of held speeds (rows, nv)."""
    batch, pars = at_rest(model, np.repeat(q[None], len(impulses), axis=0))
    batch.inputs.tau[:], out = impulses, np.empty((len(impulses), model.nv + model.nw))
    call(calls.impulse, batch.tables, group_parameters(pars, batch.lanes), batch.t, batch.x, batch.u, change, out,
         workspace(batch.tables, batch.lanes))
    return out


def kinetic_energy(model: CompiledModel, x: Floats) -> float:
    """Of one state."""
    return float(bodies_of(model, model.batch_of(x[None].copy())).kinetic_energy[0])


def impulses(model: CompiledModel, q: Floats, dv: Floats) -> Floats:
    """(nv,): impulses along each speed that change the speeds by dv, minus those through loops."""
    batch = model.batch_at(q)
    needed = inverse(model, batch, dv[None].copy()) - inverse(model, batch, np.zeros((1, model.nv)))
    return balancing_forces(model, batch, needed)[1][0]


def speeds_after(model: CompiledModel, q: Floats, change: Floats) -> Floats:
    """(nv + nw,): the change of all speeds for given changes of held speeds."""
    return speeds_under(model, q, np.zeros((1, model.nv)), change[None].copy())[0]


def at_rest(model: CompiledModel, q: Floats) -> tuple[Batch, Floats]:
    """The state at rest, and parameters without gravity."""
    batch = model.batch_at(q)
    batch.state.orbit[:], pars = 0.0, batch.tables.pars.copy()
    pars[:, f.GRAVITY:f.GRAVITY + 3] = 0.0
    return batch, pars
