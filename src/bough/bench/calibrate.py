"""`bough calibrate`: the weights of the cost model, measured on this machine."""
from collections.abc import Callable, Iterable
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import nnls

from bough.bench.flexible import kernel_call
from bough.bench.reference import FORMS
from bough.bench.timing import interleaved
from bough.describe import System
from bough.kernels.lanes import FOUR, ONE, Lanes
from bough.model import Model
from bough.model.cost_features import sizes
from bough.model.costs import METHODS, keep, weights_key
from bough.model.model import KERNELS

LANES = (ONE, FOUR)
SLICE = 3e-4                                        # s: so short that other processes leave some of them alone
Engine = tuple[str, Lanes]                          # method, lanes


def calibrated(*, rounds: int = 10, tell: Callable[[str], Any] = lambda text: None) -> Path:
    """Measure the weights of all forms of compiled code and keep them in the user's cache; where they are.  `tell` hears what is
    going on."""
    weights: dict[str, dict[str, float]] = {}
    for form, systems in FORMS.items():
        makers = systems()
        tell(f"{form}: {len(makers)} systems")
        weights |= weights_of(form, makers, rounds)
    return keep(weights)


def weights_of(form: str, makers: Iterable[Callable[[], System]], rounds: int) -> dict[str, dict[str, float]]:
    """The weights of one form, by method and lanes, from all its reference systems."""
    models = [make().compile() for make in makers]
    times = [evaluation_times(model, rounds) for model in models]
    found = {}
    for method, lanes in product(METHODS, LANES):
        found[weights_key(form, method, lanes)] = fitted([sizes(model.tables, method) for model in models],
                                                         [time[method, lanes] for time in times])
    return found


def fitted(rows: list[dict[str, float]], times: list[float]) -> dict[str, float]:
    """Weights, none negative, that make sum(weight size) = time with the least sum of squared relative errors."""
    names = list(rows[0])
    X = np.array([[row[name] for name in names] for row in rows])/np.array(times)[:, None]
    scale = np.maximum(np.linalg.norm(X, axis=0), 1e-300)
    found, _ = nnls(X/scale, np.ones(len(rows)))
    return {name: float(f"{weight:.4g}") for name, weight in zip(names, found/scale, strict=True)}


def evaluation_times(model: Model, rounds: int) -> dict[Engine, float]:
    """Microseconds a state by method and lanes, at the initial position: minima of short slices, all in turn."""
    states = standing_states(model)
    functions = {f"{method} {lanes}": kernel_call(model, *states, KERNELS[method], lanes)[0]
                 for method, lanes in product(METHODS, LANES)}
    timings = interleaved(functions, len(states[0]), rounds=rounds, slice_seconds=SLICE)
    return {(method, lanes): timings[f"{method} {lanes}"]["min_us"] for method, lanes in product(METHODS, LANES)}


def standing_states(model: Model) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The initial position with random speeds and torques, as often as there is something to time."""
    count = 64 if model.nv < 30 else 16 if model.nv < 90 else 4
    rng = np.random.default_rng(1)
    return np.tile(model.q0, (count, 1)), rng.normal(size=(count, model.nv)), rng.normal(size=(count, model.nv))
