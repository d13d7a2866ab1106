"""`bough bench auto`: whether "auto" chooses the faster of O(N) and dense dynamics, on a zoo of systems; and where they cross."""
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from functools import partial
from itertools import product
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from bough.analyze.equations_of_motion import KERNELS
from bough.bench.setups import save_figure, versions
from bough.bench.timing import interleaved
from bough.bench.zoo import ZOO, arms, limbs
from bough.compile.batch import call, linked
from bough.describe import System
from bough.kernels.lanes import FOUR, ONE, Lanes
from bough.model import Model
from bough.sweeps import fields as f

PROCESSES = 3                           # that time the zoo
LANES = (ONE, FOUR)
METHODS = ("order-n", "dense")
ENGINES = tuple(product(METHODS, LANES))
SLICE = 3e-4                            # s: so short that other processes leave some of them alone
ROUNDS = 4
Engine = tuple[str, Lanes]              # method, lanes
LANE_NAMES = {1: "one state", 4: "four lanes"}
METHOD_NAMES = {"order-n": "O(N)", "dense": "dense"}
FAMILIES: dict[str, tuple[Callable[[int], System], tuple[int, ...]]] = {
    "rigid chain": (partial(limbs, None, 1), (1, 2, 3, 4, 5, 6, 8, 11, 16, 24, 36, 54, 80)),
    "one flexible body": (lambda modes: arms(1, 1, modes, "full"), (1, 2, 3, 4, 5, 7, 9, 12, 16, 22)),
    "chain of bodies with 2 modes": (lambda links: arms(1, links, 2, "full"), (1, 2, 3, 4, 6, 9, 14, 20))}


def auto(*, quick: bool = False, plot: Path | None = None) -> dict[str, Any]:
    """Measure; {"systems": {name: {"dofs", "choice", "one state": {...}, "four lanes": {...}}}, "worst": {...}, ...}."""
    passes = 5 if quick else 25
    systems = zoo_measured(passes, PROCESSES if not quick else 1)
    loss, name, lanes = max((of[lanes]["loss"], name, lanes) for name, of in systems.items() for lanes in LANE_NAMES.values())
    curves = None if plot is None else crossover(passes)
    return {"unit": "microseconds per evaluation of the accelerations and state, minima", "systems": systems,
            "loss": "time of the method that auto chooses over that of the faster one, less 1",
            "worst": {"loss": loss, "system": name, "lanes": lanes},
            "crossover": curves, "figure": str(draw(curves, plot)) if plot and curves else None, "versions": versions()}


def zoo() -> dict[str, Model]:
    return {name: make().compile() for name, make in ZOO.items()}


def zoo_measured(passes: int, processes: int) -> dict[str, Any]:
    """The zoo, timed in several processes one after another, of which the least times count: where a process has its memory changes
    the time of an evaluation by a tenth and more, either method's."""
    spawn = get_context("spawn")
    times: dict[str, dict[Engine, float]] = {name: {} for name in ZOO}
    for _ in range(processes):
        with ProcessPoolExecutor(1, mp_context=spawn) as alone:
            for name, found in alone.submit(zoo_times, passes).result().items():
                for (method, width), time in found.items():
                    engine = method, {lanes.width: lanes for lanes in LANES}[width]
                    times[name][engine] = min(time, times[name].get(engine, time))
    return {name: judged(model, times[name]) for name, model in zoo().items()}


def zoo_times(passes: int) -> dict[str, dict[tuple[str, int], float]]:
    """By system, method and width of the lanes."""
    return {name: {(method, lanes.width): time for (method, lanes), time in found.items()}
            for name, found in timed(zoo(), passes).items()}


def timed(models: dict[str, Model], passes: int) -> dict[str, dict[Engine, float]]:
    """The least times of both methods, in so many passes over all models."""
    times: dict[str, dict[Engine, float]] = {name: {} for name in models}
    for _ in range(passes):
        for name, model in models.items():
            take_times(model, times[name])
    return times


def judged(model: Model, times: dict[Engine, float]) -> dict[str, Any]:
    """Times of both methods, what "auto" chooses, and what that loses."""
    found: dict[str, Any] = {"dofs": model.nv, "choice": model.resolve_dynamics()}
    for lanes in LANES:
        taken = {method: times[method, lanes] for method in METHODS}
        found[LANE_NAMES[lanes.width]] = {**taken, "loss": taken[found["choice"]]/min(taken.values()) - 1.0}
    return found


# ---- timing ------------------------------------------------------------------------------------------------------------
def take_times(model: Model, best: dict[Engine, float]) -> None:
    """Time a model once more, and keep the least times."""
    for engine, time in evaluation_times(model, ROUNDS).items():
        best[engine] = min(time, best.get(engine, time))


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
    args: Any = (replace(tables, plan=tables.plan.copy()), tables.pars.copy(), np.zeros((len(q), 2)), x, tau, out, ws)
    call(KERNELS[method], *args)
    args = linked(*args)
    return lambda: KERNELS[method](*args)


def standing_states(model: Model) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The initial position with random speeds and torques, as often as there is something to time."""
    count = 64 if model.nv < 30 else 16 if model.nv < 90 else 4
    rng = np.random.default_rng(1)
    return np.tile(model.q0, (count, 1)), rng.normal(size=(count, model.nv)), rng.normal(size=(count, model.nv))


# ---- the crossover -----------------------------------------------------------------------------------------------------
def crossover(passes: int) -> dict[str, Any]:
    """Families that grow: by lanes, degrees of freedom and times of both methods."""
    found: dict[str, Any] = {}
    for name, (make, numbers) in FAMILIES.items():
        models = {str(n): make(n).compile() for n in numbers}
        systems = [judged(models[n], times) for n, times in timed(models, passes).items()]
        found[name] = {key: [of[key] for of in systems] for key in ("dofs", *LANE_NAMES.values())}
    return found


def draw(curves: dict[str, Any], folder: Path) -> Path:
    """Times by O(N) and by dense against degrees of freedom."""
    figure = Figure(figsize=(10.0, 4.5), layout="constrained")
    panels = figure.subplots(1, 2, sharey=True)
    for axes, lanes in zip(panels, LANE_NAMES.values(), strict=True):
        for i, (name, curve) in enumerate(curves.items()):
            dofs, times = curve["dofs"], curve[lanes]
            for method, style, mark in (("order-n", "-", "o"), ("dense", "--", "s")):
                axes.loglog(dofs, [each[method] for each in times], f"C{i}{style}{mark}", lw=1, ms=4,
                            label=f"{name}, {METHOD_NAMES[method]}", mfc="none" if method == "dense" else f"C{i}")
        axes.set(title=lanes, xlabel="degrees of freedom")
        axes.grid(alpha=0.3, which="both")
    panels[0].set_ylabel("µs per evaluation and state")
    panels[0].legend(fontsize="small")
    return save_figure(figure, folder, "crossover.png")
