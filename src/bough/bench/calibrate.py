"""`bough calibrate`: the weights of the cost model, measured on this machine."""
from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import nnls

from bough.analyze.cost_features import sizes
from bough.analyze.costs import METHODS, keep, weights_key
from bough.bench.reference import FORMS
from bough.bench.timing import interleaved
from bough.compile.kernel_calls import call, linked
from bough.errors import BoughError
from bough.kernels.lanes import FOUR, ONE, Lanes
from bough.model import Model
from bough.model.model import KERNELS
from bough.sweeps import fields as f

LANES = (ONE, FOUR)
ENGINES = tuple(product(METHODS, LANES))
SLICE = 3e-4                                        # s: so short that other processes leave some of them alone
ROUNDS, LEAST_PASSES, MOST_PASSES = 4, 4, 30
SETTLED = 0.003                                     # share by which a pass may still lower the times, on average
GOOD = 0.08                                         # relative error of a fit, root mean square: of a quiet machine 0.01 to 0.04
Engine = tuple[str, Lanes]                          # method, lanes
Models = Mapping[str, list[Model]]                  # by form
Times = Mapping[str, list[dict[Engine, float]]]     # of each model


def calibrated(*, tell: Callable[[str], Any] = lambda text: None) -> Path:
    """Measure the weights of all forms of compiled code and keep them in the user's cache; where they are.  `tell` hears what is
    going on.  All systems are timed several times over, until hardly any is faster than before."""
    models = {form: [make().compile() for make in makers()] for form, makers in FORMS.items()}
    times: Times = {form: [{} for _ in of] for form, of in models.items()}
    for number in range(1, MOST_PASSES + 1):
        gain = np.mean([take_times(model, best) for form, of in models.items()
                        for model, best in zip(of, times[form], strict=True)])
        weights, error = all_weights(models, times)
        faster = f"{100*gain:.1f} % faster than before, " if number > 1 else ""
        tell(f"pass {number}: {faster}as predicted to {100*error:.1f} %")
        if number >= LEAST_PASSES and gain < SETTLED and error < GOOD:
            return keep(weights)
    raise BoughError(f"times of the reference systems still fall by {100*gain:.1f} %, and are as predicted to {100*error:.0f} % "
                     "only: other processes keep this machine busy; try again when it is idle")


def take_times(model: Model, best: dict[Engine, float]) -> float:
    """Time a model once more, and keep the least times; by what share they fell, on average."""
    falls = []
    for engine, time in evaluation_times(model, ROUNDS).items():
        falls.append(max(0.0, 1.0 - time/best.get(engine, np.inf)))
        best[engine] = min(time, best.get(engine, time))
    return float(np.mean(falls))


def all_weights(models: Models, times: Times) -> tuple[dict[str, dict[str, float]], float]:
    """The weights by form, method and lanes; and of their relative errors the root mean square of the worst fit.  A system counts
    the less, the farther it is from where the methods cross."""
    weights, worst = {}, 0.0
    for form, (method, lanes) in product(models, ENGINES):
        rows, taken = [sizes(model.tables, method) for model in models[form]], [time[method, lanes] for time in times[form]]
        ratios = [time["dense", lanes]/time["order-n", lanes] for time in times[form]]
        found, error = fitted(rows, taken, [min(ratio, 1.0/ratio) for ratio in ratios])
        weights[weights_key(form, method, lanes)], worst = found, max(worst, error)
    return weights, worst


def fitted(rows: list[dict[str, float]], times: list[float], counts: list[float]) -> tuple[dict[str, float], float]:
    """Weights, none negative, that make sum(weight size) = time with the least sum of squared relative errors, each of which counts
    as much as `counts` says; and the root of their mean square."""
    names, count = list(rows[0]), np.array(counts)
    X = np.array([[row[name] for name in names] for row in rows])*(count/times)[:, None]
    scale = np.maximum(np.linalg.norm(X, axis=0), 1e-300)
    found, rest = nnls(X/scale, count)
    weights = {name: float(f"{weight:.4g}") for name, weight in zip(names, found/scale, strict=True)}
    return weights, float(rest/np.linalg.norm(count))


def evaluation_times(model: Model, rounds: int) -> dict[Engine, float]:
    """Microseconds a state by method and lanes, at the initial position: minima of short slices, all in turn."""
    states = standing_states(model)
    functions = {f"{method} {lanes}": placed_call(model, states, method, lanes) for method, lanes in ENGINES}
    timings = interleaved(functions, len(states[0]), rounds=rounds, slice_seconds=SLICE)
    return {(method, lanes): timings[f"{method} {lanes}"]["min_us"] for method, lanes in ENGINES}


def placed_call(model: Model, states: tuple[np.ndarray, np.ndarray, np.ndarray], method: str, lanes: Lanes) -> Callable[[], None]:
    """A function that runs a method's kernel over all states, with arrays of its own: where they are in memory, relative to each
    other, makes up to 30 %."""
    (q, v, tau), tables = states, model.tables
    out, ws = np.empty((len(v), model.nv + tables.fronts.size)), lanes.zeros(tables.size(f.WS_SIZE) + tables.more(method))
    x = np.concatenate([q, v], axis=1)
    args = (replace(tables, plan=tables.plan.copy()), tables.pars.copy(), np.zeros((len(q), 2)), x, tau, out, ws)
    call(KERNELS[method], *args)
    args = linked(*args)
    return lambda: KERNELS[method](*args)


def standing_states(model: Model) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The initial position with random speeds and torques, as often as there is something to time."""
    count = 64 if model.nv < 30 else 16 if model.nv < 90 else 4
    rng = np.random.default_rng(1)
    return np.tile(model.q0, (count, 1)), rng.normal(size=(count, model.nv)), rng.normal(size=(count, model.nv))
