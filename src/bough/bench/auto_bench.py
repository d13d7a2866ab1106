"""`bough bench auto`: whether "auto" chooses the faster of O(N) and dense dynamics, on a zoo of systems; and where they cross."""
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from itertools import product
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from bough.bench.mechanisms import ZOO, arms, mixed
from bough.bench.setups import forward_call, minima, save_figure, versions
from bough.describe import System
from bough.kernels.lanes import FOUR, ONE, Lanes
from bough.model import Model

PROCESSES = 3                           # that time the zoo
METHODS = ("order-n", "dense")
Engine = tuple[str, int]                # method, width of the lanes
ENGINES: dict[Engine, Lanes] = {(method, lanes.width): lanes for method, lanes in product(METHODS, (ONE, FOUR))}
SLICE, ROUNDS = 3e-4, 4                 # s: so short that other processes leave some of them alone
LANE_NAMES = {1: "one state", 4: "four lanes"}
METHOD_NAMES = {"order-n": "O(N)", "dense": "dense"}
FAMILIES: dict[str, tuple[Callable[[int], System], tuple[int, ...]]] = {
    "rigid chain": (lambda links: mixed("chain", *["revolute"]*links), (1, 2, 3, 4, 5, 6, 8, 11, 16, 24, 36, 54, 80)),
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
    times: dict[str, dict[Engine, float]] = {name: {} for name in ZOO}
    for _ in range(processes):
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as alone:
            for name, found in alone.submit(timed, None, passes).result().items():
                keep_least(times[name], found)
    return {name: evaluate_choice(model, times[name]) for name, model in zoo().items()}


def timed(models: dict[str, Model] | None, passes: int) -> dict[str, dict[Engine, float]]:
    """The least times of both methods, in so many passes over all models; None: those of the zoo."""
    models = zoo() if models is None else models
    times: dict[str, dict[Engine, float]] = {name: {} for name in models}
    for _ in range(passes):
        for name, model in models.items():
            keep_least(times[name], evaluation_times(model))
    return times


def keep_least(best: dict[Engine, float], found: dict[Engine, float]) -> None:
    best |= {engine: min(time, best.get(engine, time)) for engine, time in found.items()}


def evaluate_choice(model: Model, times: dict[Engine, float]) -> dict[str, Any]:
    """Times of both methods, what "auto" chooses, and what that loses."""
    found: dict[str, Any] = {"dofs": model.nv, "choice": model.resolve_dynamics()}
    for width, name in LANE_NAMES.items():
        taken = {method: times[method, width] for method in METHODS}
        found[name] = {**taken, "loss": taken[found["choice"]]/min(taken.values()) - 1.0}
    return found


def evaluation_times(model: Model) -> dict[Engine, float]:
    """Microseconds a state by method and lanes, at the initial position with random speeds and torques: minima of short slices, all
    in turn. Each has its own arrays, whose relative position in memory changes the time by up to 30 %."""
    count, rng = 64 if model.nv < 30 else 16 if model.nv < 90 else 4, np.random.default_rng(1)
    states = np.tile(model.q0, (count, 1)), rng.normal(size=(count, model.nv)), rng.normal(size=(count, model.nv))
    functions = {str(engine): forward_call(model, states, engine[0], lanes, own_arrays=True)[0]
                 for engine, lanes in ENGINES.items()}
    timings = minima(functions, count, rounds=ROUNDS, slice_seconds=SLICE)
    return {engine: timings[str(engine)] for engine in ENGINES}


# ---- the crossover -----------------------------------------------------------------------------------------------------
def crossover(passes: int) -> dict[str, Any]:
    """Families that grow: by lanes, degrees of freedom and times of both methods."""
    found: dict[str, Any] = {}
    for name, (make, numbers) in FAMILIES.items():
        models = {str(n): make(n).compile() for n in numbers}
        systems = [evaluate_choice(models[n], times) for n, times in timed(models, passes).items()]
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
