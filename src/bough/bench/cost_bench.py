"""`bough bench cost`: operations of the composite-body and the articulated-body algorithm, counted, beside the paper's formulas.

Jain and Rodriguez' formulas for a serial chain of equal flexible bodies, ruthlessly linearized; see docs/theory/cost.md.
"""
from dataclasses import asdict
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from bough.analyze.counting import Operations
from bough.bench.mechanisms import flexible_arm
from bough.bench.setups import save_figure
from bough.describe import System

BODIES, MODES = 10, (0, 1, 2, 3, 4, 5, 6, 7, 8, 10)
MOST_INVERTED = 7               # modes up to which the paper inverts D as it is


def composite_body(bodies: int, modes: int, hinge: int = 1) -> Operations:
    """Forward dynamics by the mass matrix, with hinges of so many degrees of freedom."""
    n, size = modes, bodies*(modes + hinge)
    rows = bodies*(bodies + 1)//2                                       # sum of k
    multiplications = (bodies*(48*n + 90) + rows*(12*n*n + 34*n + 13) + bodies*(2*n*n + 54*n + 206)
                       + size**3/6 + 3*size**2/2 - 2*size/3)
    additions = (bodies*(n*n + 97*n/2 + 116) + rows*(11*n*n + 24*n + 13) + bodies*(2*n*n + 50*n + 143) + size
                 + size**3/6 + size**2 - 7*size/6)
    return Operations(round(multiplications), round(additions))


def articulated_body(bodies: int, modes: int) -> Operations:
    """Forward dynamics by articulated bodies, with hinges of one degree of freedom."""
    n = modes
    if n <= MOST_INVERTED:
        inertia = (5*n**3/6 + 25*n*n/2 + 764*n/3 + 180, 5*n**3/6 + 21*n*n/2 + 548*n/3 + 161)
    else:
        inertia = (12*n*n + 255*n + 572, 13*n*n + 182*n + 445)
    multiplications = inertia[0] + (n*n + 25*n + 49) + (18*n + 52)
    additions = inertia[1] + (n*n + 24*n + 50) + (19*n + 42)
    return Operations(round(bodies*multiplications), round(bodies*additions))


METHODS = {"dense": ("composite body", composite_body), "order-n": ("articulated body", articulated_body)}


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
    return asdict(of) | {"flops": of.flops}


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
