"""Outputs by the sweep that finds them inside a step."""
from dataclasses import replace

import numpy as np

from bough.sweeps import calls


def swept(model, batch, names, lanes=None):
    """(batch, numbers) of outputs that follow from the state alone."""
    places = np.array([place for name in names for place in model.tables.outputs[name].places], np.int64)
    out = np.empty((batch.n, len(places)))
    model.call(calls.measure, batch if lanes is None else replace(batch, lanes=lanes), places, out)
    return out
