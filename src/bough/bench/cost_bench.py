"""`bough bench cost`: operations of the composite-body and the articulated-body algorithm, counted, beside the paper's formulas."""
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from bough.analyze.counting import Operations, paper
from bough.bench.mechanisms import flexible_arm
from bough.bench.setups import save_figure
from bough.describe import System

BODIES, MODES = 10, (0, 1, 2, 3, 4, 5, 6, 7, 8, 10)
METHODS = {"dense": ("composite body", paper.composite_body), "order-n": ("articulated body", paper.articulated_body)}


def cost(*, quick: bool = False, plot: Path | None = None) -> dict[str, Any]:
    """Count; {"modes": {n: {method: {"counted": {...}, "parts": {...}, "paper": {...}, "ratio": ...}}}, "figure": path}."""
    modes = (0, 2, 5) if quick else MODES
    counted: dict[str, Any] = {str(n): of_chain(flexible_arm(BODIES, n, "zeroth_order"), n) for n in modes}
    return {"unit": "operations of one evaluation of the accelerations",
            "chain": f"{BODIES} links on revolute joints, ruthlessly linearized", "modes": counted,
            "counting": "operations of the running sweeps with numbers of the state, the model and the workspace, those on padding "
                        "included; the paper counts those of its equations",
            "figure": None if plot is None else str(draw(counted, plot))}


def of_chain(system: System, modes: int) -> dict[str, Any]:
    model, found = system.compile(), {}
    for method, (_, formula) in METHODS.items():
        counts, expected = model.operation_counts(method), formula(BODIES, modes)
        found[method] = {"counted": _numbers(counts.total), "parts": {part: _numbers(of) for part, of in counts.parts.items()},
                         "paper": _numbers(expected), "ratio": counts.total.flops/expected.flops}
    return found


def _numbers(of: Operations) -> dict[str, int]:
    return {"multiplications": of.multiplications, "additions": of.additions, "flops": of.flops, "divisions": of.divisions,
            "roots": of.roots, "sines": of.sines}


def draw(counted: dict[str, Any], folder: Path) -> Path:
    """The paper's figure 2: operations against modes per body; counted, and by its formulas."""
    figure = Figure(figsize=(7.0, 4.5), layout="constrained")
    axes, modes = figure.add_subplot(), [int(n) for n in counted]
    for i, (method, (name, formula)) in enumerate(METHODS.items()):
        every = range(max(modes) + 1)
        axes.plot(every, [formula(BODIES, n).flops for n in every], f"C{i}-", label=f"{name}, the paper's formulas")
        axes.plot(modes, [counted[str(n)][method]["counted"]["flops"] for n in modes], f"C{i}o", label=f"{name}, counted")
    axes.set(xlabel="modes per body", ylabel="multiplications and additions", title=f"forward dynamics of {BODIES} flexible bodies")
    axes.grid(alpha=0.3)
    axes.legend()
    return save_figure(figure, folder, "operations.png")
