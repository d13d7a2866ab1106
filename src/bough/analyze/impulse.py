"""The jump of all speeds when held coordinates must suddenly move otherwise: the impulse solution [B 18]."""
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bough.analyze import loop_constraints as loops
from bough.analyze.held_coordinates import impose
from bough.compile.coordinates import holdable
from bough.compile.kernel_calls import call, workspace
from bough.model.arguments import Batch
from bough.sweeps import calls
from bough.sweeps import fields as f

if TYPE_CHECKING:
    from bough.model.model import Model

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


def jump(model: "Model", x: np.ndarray, t: float) -> Jump | None:
    """Let the speeds of a state x = q | v | wheels | ... jump, in place, to what the model now holds; None if nothing jumps.

    M dv = J^T impulses where dv is given for all that is held: the dynamics of the system at rest, without loads."""
    nq, nv, nw = model.nq, model.nv, model.nw
    given = x[None].copy()
    impose(model, given, t)
    change = given[0, nq:nq + nv] - x[nq:nq + nv]
    if not np.abs(change).max(initial=0.0) > SMALL*max(1.0, np.abs(x[nq:nq + nv]).max(initial=0.0)):
        x[:nq + nv] = given[0, :nq + nv]
        return None
    q, v, wheels = x[:nq].copy(), x[nq:nq + nv].copy(), x[nq + nv:nq + nv + nw].copy()
    before = model.kinetic_energy(q, v, wheels=wheels)
    dx = speeds_after(model, q, change)
    x[nq:nq + nv + nw] += dx
    x[:nq + nv] = np.where(np.concatenate([np.zeros(nq, bool), ~model.free]), given[0, :nq + nv], x[:nq + nv])
    dv = x[nq:nq + nv] - v
    still = np.zeros(nv)
    needed = model.inverse_dynamics(q, still, dv) - model.inverse_dynamics(q, still, still)
    if model.system.loops:
        forces, J = loops.balancing_forces(model, q, needed)
        needed = needed - forces[0] @ J[0]
    after = model.kinetic_energy(q, x[nq:nq + nv], wheels=x[nq + nv:nq + nv + nw])
    return Jump(dict(zip(model.names.v, dv.tolist(), strict=True)),
                {name: float(needed[model.names.v.index(name)]) for name in holdable(model.system) if name in model.holds},
                before, after)


def speeds_after(model: "Model", q: np.ndarray, change: np.ndarray) -> np.ndarray:
    """(nv + nw,): the change of all speeds when those held change so."""
    batch, pars = at_rest(model, q)
    out = np.empty((1, model.nv + model.nw))
    call(calls.impulse, batch.tables, pars, batch.t, batch.x, batch.u, change[None].copy(), out,
         workspace(batch.tables, batch.lanes))
    return out[0]


def at_rest(model: "Model", q: np.ndarray) -> tuple[Batch, np.ndarray]:
    """The state at rest, and parameters without gravity."""
    batch = model.batch(q, np.zeros(model.nv), wheels=np.zeros(model.nw), orbit=np.zeros(6) if model.in_orbit else None)
    pars = batch.tables.pars.copy()
    pars[:, f.GRAVITY:f.GRAVITY + 3] = 0.0
    return batch, pars
