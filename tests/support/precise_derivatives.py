"""Derivatives along random directions by duals, and by differences of the same sweeps in extended precision: as plain Python only.

    python precise_derivatives.py FOLDER

takes the systems that are in FOLDER as YAML and some more, and leaves there `precise.npz`: of each, the directions and the
derivatives along them by differences.

Differences of fourth order with steps of 1e-5: what they neglect is 1e-20 of fifth derivatives, and rounding of long doubles, or of
the angles that are doubles, leaves 1e-11.
"""
import sys
from pathlib import Path

import numpy as np

import bough
from bough.analyze.derivatives import Directions, rates_along, rows_along
from bough.analyze.dynamics_derivatives import Parts
from bough.analyze.equations_of_motion import room_for
from bough.analyze.parameters import STENCIL
from bough.bench.mechanisms import arms, gripped
from bough.kernels.linker import link
from bough.sweeps import calls, fields as f

STEP, TIME = np.longdouble(1e-5), 0.3171
PARAMETERS = {"spacecraft": ["bus.mass", "bus.com", "bus.inertia"], "orbit": ["gravity.mu"],
              "flexible_panel": ["panel.frequency", "panel.at", "rw_x.inertia"]}


def tumbling():
    """In orbit: a hub, a flexible boom on a ball, wheels of both kinds, a locked and a prescribed joint."""
    s = bough.System("tumbling", gravity=bough.CentralGravity(3.986e14, (7.0e6, 0, 0), (0, 7.5e3, 0)))
    s.body("hub", joint=bough.Free(), mass=100.0, com=(0.1, 0, 0), inertia=(20, 25, 30))
    s.body("boom", parent="hub", joint=bough.Spherical(damping=0.3), at=(0, 0, 1),
           flexible=bough.beam(4.0, EI=800.0, mass_per_length=1.5, modes=2))
    s.body("dish", parent="boom", node="tip", joint=bough.Universal("xy", motion=["locked", bough.motion.Harmonics(
        [(0.2, 1.0, 0.0)])]), mass=3.0, com=(0.1, 0.2, 0.3), inertia=(1, 1.2, 1.4))
    s.wheel("held", "hub", (1, 2, 3), 0.02, 200.0)
    s.wheel("driven", "hub", (3, 2, -1), 0.03, -100.0, torque=0.1)
    return s


def systems(folder):
    found = {file.stem: bough.load(file) for file in sorted(folder.glob("*.yaml"))}
    return found | {"closed arms": arms(2, 1, 2, "full", closed=True), "gripped": gripped(2), "tumbling": tumbling(),
                    "free-free": arms(2, 2, 2, "free-free", base="free", limb=("spherical", "prismatic"))}


def state_of(model, rng):
    """Near the initial state; closed."""
    q, v = model.assemble()
    if model.system.loops:
        return q, v
    q, v = q + 0.02*rng.normal(size=model.nq), v + 0.02*rng.normal(size=model.nv)
    return model.follow(q, v, TIME)


def precise(model, batch, rows, step):
    """The rates where states, inputs, times and parameters have moved along their directions."""
    tables, double = batch.tables, np.longdouble
    t, x, u = (np.repeat(part, rows.m, axis=0) + step*along
               for part, along in ((batch.t, rows.dt), (batch.x, rows.dx), (batch.u, rows.du)))
    out = np.empty((len(x), room_for(model, batch, "order-n").shape[1]), double)
    pars = tables.pars + step*(rows.dpars(tables) if rows.dpars else np.zeros((len(x), 1)))
    for i in range(len(x)):
        ws = np.zeros(tables.size(f.WS_SIZE), double)
        linked = link(tables.features, tables.plan, pars[i:i + 1], tables.tables.astype(double), ws)
        calls.forward_order_n(*linked, t[i:i + 1], x[i:i + 1], u[i:i + 1], out[i:i + 1], ws)
    return out


def setup(name, model, m=3):
    """A state, and m directions of everything."""
    rng = np.random.default_rng(len(name))
    q, v = state_of(model, rng)
    batch = model.batch([q], [v], 0.1*rng.normal(size=model.nv), t=TIME)
    parts = Parts(model, PARAMETERS.get(name, ()))
    along = {part: rng.normal(size=(m, size)) for part, size in parts.sizes.items()}
    return batch, Directions(**along, names=tuple(parts.parameters))


def error(model, ours, theirs):
    """The largest of any rate, of the size of its part: v'; wheels, orbit, multipliers."""
    apart = np.abs(ours - theirs).max(axis=0)
    return float(max(apart[part].max(initial=0.0)/max(np.abs(theirs[:, part]).max(initial=0.0), 1e-300)
                     for part in (slice(0, model.nv), slice(model.nv, None)) if apart[part].size))


def found(name, system):
    """The error of duals, and derivatives by differences."""
    model = system.compile()
    batch, along = setup(name, model)
    rows = rows_along(model, batch, along)
    _, ours = rates_along(model, rows)
    theirs = sum(np.longdouble(weight)*precise(model, batch, rows, times*STEP) for times, weight in STENCIL)/STEP
    return error(model, ours, theirs.astype(float)), theirs.astype(float)


def by_public_call(name, model):
    """(m, rates): the same from `Model.forward_dynamics_derivatives`, matrices times directions."""
    batch, along = setup(name, model)
    inputs = {"wheels": batch.state.wheels[0]} if model.nw else {}
    state = batch.q[0], batch.v[0], batch.inputs.tau[0]
    all_of = model.forward_dynamics_derivatives(*state, t=TIME, parameters=along.names, **inputs)
    total = []
    for each in (part for part in (all_of, all_of.wheels, all_of.orbit, all_of.multipliers) if part.value.size):
        of_ports = np.concatenate([np.zeros((len(each.value), 0)), *each.dinputs.values()], axis=1)
        of_numbers = [matrix.reshape(len(each.value), -1) for matrix in each.dparameters.values()]
        columns = {"q": each.dq, "v": each.dv, "tau": each.dtau, "wheels": each.dwheels, "motors": each.dmotors,
                   "orbit": each.dorbit, "t": each.dt[:, None], "inputs": of_ports,
                   "parameters": np.concatenate([np.zeros((len(each.value), 0)), *of_numbers], axis=1)}
        total.append(sum(getattr(along, part) @ matrix.T for part, matrix in columns.items()))
    return np.concatenate(total, axis=1)


def main(folder):
    known = {}
    for name, system in systems(folder).items():
        apart, known[name] = found(name, system)
        print(name, apart, flush=True)
    np.savez(folder / "precise.npz", **known)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
