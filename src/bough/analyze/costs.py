"""The cost model: how long O(N) and dense dynamics will take, and which of them "auto" means.

A time is a sum of sizes of the model, each times a weight; each method, form of the compiled code and number of lanes has its own
weights.  Those of `reference_costs.json` come with the package; `bough calibrate` measures a machine's own and keeps them in the
user's cache.
"""
import json
import os
import platform
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, TypeGuard

from bough.analyze.cost_features import form, sizes
from bough.compile.tables import Tables
from bough.kernels.cache import cache_directory
from bough.kernels.lanes import Lanes

Weights = Mapping[str, Mapping[str, float]]         # "form, method, lanes" -> size -> microseconds
REFERENCE = Path(__file__).with_name("reference_costs.json")
METHODS = ("order-n", "dense")
MARGIN = 1.02                                       # dense must be as many times faster: its kernels are compiled on top


@dataclass(frozen=True)
class Costs:
    """Predicted microseconds of one evaluation of the accelerations of one state; `calibrated`: from weights of this machine."""
    order_n: float
    dense: float
    calibrated: bool

    @property
    def choice(self) -> str:
        return "dense" if MARGIN*self.dense < self.order_n else "order-n"


@dataclass(frozen=True)
class CostModel:
    weights: Weights
    calibrated: bool

    def costs(self, tables: Tables, lanes: Lanes) -> Costs:
        times = [time_of(self.weights[weights_key(form(tables), method, lanes)], sizes(tables, method)) for method in METHODS]
        return Costs(times[0], times[1], self.calibrated)


def weights_key(of_form: str, method: str, lanes: Lanes) -> str:
    return f"{of_form}, {method}, {lanes.width} lane{'s'*(lanes.width > 1)}"


def time_of(weights: Mapping[str, float], of: Mapping[str, float]) -> float:
    return sum(weights[name]*size for name, size in of.items())


# ---- where weights are kept --------------------------------------------------------------------------------------------
@cache
def machine() -> str:
    """The processor by name: weights hold for it.  Sources and compiler are in the name of the cache directory."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        name = next(line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        name = platform.processor()
    return f"{platform.system()} {platform.machine()} {name}"


def store_path() -> Path:
    return cache_directory()/"costs.json"


def stored() -> dict[str, Any]:
    """What the cache holds, by machine; nothing, if it cannot be read."""
    try:
        found = json.loads(store_path().read_text())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def complete(weights: Any, reference: Weights) -> TypeGuard[Weights]:
    """Whether weights are those that this version needs: as many, by the same names, none negative."""
    return isinstance(weights, dict) and weights.keys() == reference.keys() and all(
        isinstance(of, dict) and of.keys() == reference[key].keys()
        and all(isinstance(weight, (int, float)) and weight >= 0.0 for weight in of.values()) for key, of in weights.items())


def keep(weights: Weights) -> Path:
    """Store the weights of this machine beside those of others that share the cache."""
    path, part = store_path(), store_path().with_suffix(f".{os.getpid()}")
    path.parent.mkdir(parents=True, exist_ok=True)
    part.write_text(json.dumps(stored() | {machine(): weights}, indent=1))
    part.replace(path)
    cost_model.cache_clear()
    return path


@cache
def reference_model() -> CostModel:
    """With the weights that come with the package."""
    return CostModel(json.loads(REFERENCE.read_text())["weights"], False)


@cache
def cost_model() -> CostModel:
    """With the weights of this machine, if it has been calibrated; else with the reference's."""
    own = stored().get(machine())
    return CostModel(own, True) if complete(own, reference_model().weights) else reference_model()
