"""What leaves tanks at single states: rates of the masses in them, and of the momenta and the energy that go [B 91]."""
from dataclasses import replace

import numpy as np

from bough.compile.batch import Batch
from bough.compile.compiled_model import CompiledModel
from bough.compile.layout import Floats
from bough.sweeps import calls

CLEAR = 1e-2                # s of flow: how far balances stay from knots of the properties, where slopes jump


def flow_rates(model: CompiledModel, batch: Batch) -> tuple[Floats, Floats]:
    """(states, tanks): m'; (states, 7): rates of angular and linear momentum in the world of what leaves, and of its energy."""
    running = model.with_law_states(0)
    layout, shared = running.layout, batch.state.layout.tanks.stop
    x = np.zeros((batch.n, layout.nx))
    x[:, :shared] = batch.x[:, :shared]
    rows = running.changed(replace(batch, state=layout.view(x)))
    out = np.empty((batch.n, layout.nx))
    running.call(calls.state_rates, rows, out)
    return out[:, layout.tanks], out[:, layout.exhaust]


def clear_of_knots(model: CompiledModel, batch: Batch) -> Batch:
    """The same states, with a little more or less in tanks that are full, empty, or at a knot of their properties."""
    x = batch.x.copy()
    masses, step = batch.state.layout.view(x).tanks, CLEAR*np.abs(flow_rates(model, batch)[0])
    for tank, own, reach in zip(model.system.tanks.values(), masses.T, step.T, strict=True):
        knots = tank.knots()
        near = np.abs(own[:, None] - knots).argmin(axis=1)
        aside = np.where(near == len(knots) - 1, -1.0, 1.0)*reach
        own[:] = np.where(np.abs(own - knots[near]) < reach, np.clip(knots[near] + aside, 0.0, tank.full), own)
    return replace(batch, state=batch.state.layout.view(x))
