"""`bough bench auto`: whether "auto" chooses the faster of O(N) and dense dynamics, on a zoo of systems; and where they cross."""
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from bough.analyze.cost_features import form
from bough.analyze.costs import CostModel, cost_model, machine, reference_model
from bough.bench.calibrate import LANES, Engine, calibrated, take_times
from bough.bench.reference import arms, limbs
from bough.bench.setups import save_figure, versions
from bough.bench.zoo import ZOO
from bough.describe import System
from bough.errors import BoughError
from bough.kernels.lanes import Lanes
from bough.model import Model

PROCESSES = 3                           # that time the zoo
LANE_NAMES = {1: "one state", 4: "four lanes"}
METHOD_NAMES = {"order-n": "O(N)", "dense": "dense"}
FAMILIES: dict[str, tuple[Callable[[int], System], tuple[int, ...]]] = {
    "rigid chain": (partial(limbs, None, 1), (1, 2, 3, 4, 5, 6, 8, 11, 16, 24, 36, 54, 80)),
    "one flexible body": (lambda modes: arms(1, 1, modes, "full"), (1, 2, 3, 4, 5, 7, 9, 12, 16, 22)),
    "chain of bodies with 2 modes": (lambda links: arms(1, links, 2, "full"), (1, 2, 3, 4, 6, 9, 14, 20))}


def auto(*, quick: bool = False, plot: Path | None = None, tell: Callable[[str], Any] = lambda text: None) -> dict[str, Any]:
    """Measure; {"systems": {name: {"dofs", "form", "one state": {...}, "four lanes": {...}}}, "worst": {...}, "crossover": ...}."""
    if not cost_model().calibrated:
        tell("calibrating, once on this machine")
        try:
            calibrated(tell=tell)
        except BoughError as error:
            tell(f"{error}; going on with the weights that come with bough")
    passes = 5 if quick else 25
    systems = zoo_measured(passes, PROCESSES if not quick else 1)
    worst = {weights: max((of[lanes][weights]["loss"], name, lanes) for name, of in systems.items()
                          for lanes in LANE_NAMES.values()) for weights in ("calibrated", "reference")}
    curves = None if plot is None else crossover(passes)
    return {"unit": "microseconds per evaluation of the accelerations and state, minima", "machine": machine(), "systems": systems,
            "loss": "time of the method that auto chooses over that of the faster one, less 1; with the weights calibrated "
                    "on this machine, and with those that come with bough",
            "worst": {weights: {"loss": loss, "system": name, "lanes": lanes} for weights, (loss, name, lanes) in worst.items()},
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
    return {name: told(model, times[name]) for name, model in zoo().items()}


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


def measured(models: dict[str, Model], passes: int) -> dict[str, Any]:
    """Times of both methods, and what the cost model makes of them."""
    times = timed(models, passes)
    return {name: told(model, times[name]) for name, model in models.items()}


def told(model: Model, times: dict[Engine, float]) -> dict[str, Any]:
    found: dict[str, Any] = {"dofs": model.nv, "form": form(model.tables)}
    weights = {"calibrated": cost_model(), "reference": reference_model()}
    for lanes in LANES:
        taken = {method: times[method, lanes] for method in ("order-n", "dense")}
        found[LANE_NAMES[lanes.width]] = taken | {name: judged(of, model, lanes, taken) for name, of in weights.items()}
    return found


def judged(weights: CostModel, model: Model, lanes: Lanes, taken: dict[str, float]) -> dict[str, Any]:
    """What the cost model predicts and chooses, and what that costs."""
    costs = weights.costs(model.tables, lanes)
    return {"order-n": costs.order_n, "dense": costs.dense, "choice": costs.choice,
            "loss": taken[costs.choice]/min(taken.values()) - 1.0}


# ---- the crossover -----------------------------------------------------------------------------------------------------
def crossover(passes: int) -> dict[str, Any]:
    """Families that grow: by lanes, degrees of freedom and times of both methods, taken and predicted."""
    found: dict[str, Any] = {}
    for name, (make, numbers) in FAMILIES.items():
        systems = measured({str(n): make(n).compile() for n in numbers}, passes).values()
        found[name] = {told: [of[told] for of in systems] for told in ("dofs", *LANE_NAMES.values())}
    return found


def draw(curves: dict[str, Any], folder: Path) -> Path:
    """Times by O(N) and by dense against degrees of freedom: dots as taken, lines as predicted."""
    figure = Figure(figsize=(10.0, 4.5), layout="constrained")
    panels = figure.subplots(1, 2, sharey=True)
    for axes, lanes in zip(panels, LANE_NAMES.values(), strict=True):
        for i, (name, curve) in enumerate(curves.items()):
            dofs, times = curve["dofs"], curve[lanes]
            for method, style, mark in (("order-n", "-", "o"), ("dense", "--", "s")):
                axes.loglog(dofs, [each["calibrated"][method] for each in times], f"C{i}{style}", lw=1)
                axes.loglog(dofs, [each[method] for each in times], f"C{i}{mark}", ms=4, label=f"{name}, {METHOD_NAMES[method]}",
                            mfc="none" if method == "dense" else f"C{i}")
        axes.set(title=lanes, xlabel="degrees of freedom")
        axes.grid(alpha=0.3, which="both")
    panels[0].set_ylabel("µs per evaluation and state")
    panels[0].legend(fontsize="small")
    return save_figure(figure, folder, "crossover.png")
