"""The jump of all speeds when held coordinates must suddenly move otherwise: the impulse solution [B 18]."""
from dataclasses import dataclass

import numpy as np

from bough.analyze.body_motion import bodies_in
from bough.analyze.equations_of_motion import inverse
from bough.analyze.reactions import balancing_forces
from bough.compile.batch import Batch, call, workspace
from bough.compile.compiled_model import CompiledModel
from bough.compile.coordinates import holdable
from bough.compile.layout import Floats
from bough.sweeps import calls
from bough.sweeps import fields as f

SMALL = 1e-12                   # of the largest speed: a change that is rounding


@dataclass(frozen=True)
class Jump:
    """A jump of speeds: by how much each changes, the impulses that held coordinates need, and kinetic energy before and after."""
    speeds: dict[str, float]                # rad/s or m/s
    impulses: dict[str, float]              # N m s or N s
    energy_before: float                    # J
    energy_after: float

    @property
    def energy_lost(self) -> float:
        return self.energy_before - self.energy_after

    def __str__(self) -> str:
        name = max(self.speeds, key=lambda entry: abs(self.speeds[entry]))
        energy = f"{abs(self.energy_lost):.4g} J of motion are {'lost' if self.energy_lost >= 0.0 else 'given by drives'}"
        return f"speeds jump, most that of {name} by {self.speeds[name]:.4g}; {energy}"


def jump(model: CompiledModel, x: Floats, t: float) -> Jump | None:
    """Let the speeds of one state x jump, in place, to what the model now holds; None if nothing jumps.

    M dv = J^T impulses where dv is given for all that is held: the dynamics of the system at rest, without loads."""
    state, given = model.state(x), model.state(x[None].copy())
    model.follow_motions(given.x, t)
    change = given.v[0] - state.v
    if not np.abs(change).max(initial=0.0) > SMALL*max(1.0, np.abs(state.v).max(initial=0.0)):
        state.q[:], state.v[:] = given.q[0], given.v[0]
        return None
    v = state.v.copy()
    before = kinetic_energy(model, x)
    state.speeds[:] += speeds_after(model, state.q.copy(), change)
    state.v[:] = np.where(model.free, state.v, given.v[0])
    dv = state.v - v
    needed = impulses(model, state.q.copy(), dv)
    return Jump(dict(zip(model.names.v, dv.tolist(), strict=True)),
                {name: float(needed[model.names.v.index(name)]) for name in holdable(model.system) if name in model.holds},
                before, kinetic_energy(model, x))


def kinetic_energy(model: CompiledModel, x: Floats) -> float:
    """Of one state."""
    state = model.state(x)
    return float(bodies_in(model, model.batch(state.q, state.v, wheels=state.wheels)).kinetic_energy[0])


def impulses(model: CompiledModel, q: Floats, dv: Floats) -> Floats:
    """(nv,): along each speed, what changes the speeds by dv; less what loops give."""
    batch = model.batch(q)
    needed = inverse(model, batch, dv[None].copy()) - inverse(model, batch, np.zeros((1, model.nv)))
    if model.constrained:
        forces, J = balancing_forces(model, batch, needed)
        return needed[0] - forces[0] @ J[0]
    return needed[0]


def speeds_after(model: CompiledModel, q: Floats, change: Floats) -> Floats:
    """(nv + nw,): the change of all speeds when those held change so."""
    batch, pars = at_rest(model, q)
    out = np.empty((1, model.nv + model.nw))
    call(calls.impulse, batch.tables, pars, batch.t, batch.x, batch.u, change[None].copy(), out,
         workspace(batch.tables, batch.lanes))
    return out[0]


def at_rest(model: CompiledModel, q: Floats) -> tuple[Batch, Floats]:
    """The state at rest, and parameters without gravity."""
    batch = model.batch(q, wheels=np.zeros(model.nw), orbit=np.zeros(6) if model.in_orbit else None)
    pars = batch.tables.pars.copy()
    pars[:, f.GRAVITY:f.GRAVITY + 3] = 0.0
    return batch, pars
