"""Figures 2 and 3 of the JSC paper, of the cases that were run."""
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from bough.bench.jsc_system import CASES
from bough.bench.setups import save_figure
from bough.errors import BoughError
from bough.integrate.trajectory import Trajectory
from bough.results import Result
from bough.results.panels import Panel, PanelRow, draw

Runs = dict[str, Trajectory]                                # by method
BOTTOM_PITCH = "leg2_pitch1.ry"


def twins(cases: Sequence[int]) -> tuple[int, int]:
    """The last rigid case and flexible case that are alike but for that, for figure 3.

    >>> twins([4, 8, 12, 16])
    (12, 16)
    """
    by_kind = {CASES[number]: number for number in cases}
    pairs = [(by_kind[twin], number) for kind, number in by_kind.items()
             if kind.flexible and (twin := kind._replace(flexible=False)) in by_kind]
    if not pairs:
        raise BoughError(f"cases {', '.join(map(str, cases))} contain no rigid case with its flexible twin, which figure 3 shows; "
                         "add one, as 12 is to 16, or leave plot out")
    return max(pairs)


def draw_figures(runs: Mapping[int, Runs], folder: Path) -> list[Path]:
    """Write them; their paths."""
    rigid, flexible = twins(list(runs))
    figures = {f"jsc-displacements-{flexible}.png": displacements(flexible, runs[flexible]),
               f"jsc-acceleration-{rigid}-{flexible}.png": accelerations(rigid, flexible, runs)}
    return [save_figure(figure, folder, name) for name, figure in figures.items()]


def displacements(number: int, runs: Runs) -> Figure:
    """Figure 2: how far the top plate's center and the joint that carries the test object move, by both methods."""
    rows, labels = [], [f"{axis}, {method}" for method in runs for axis in "xyz"]
    bodies = runs["order-n"].model.system.bodies
    positions = {method: Result(run, ["pose"]).data.position for method, run in runs.items()}
    for body, title in (("top", "center of the top plate"), ("object", "joint of arm 1 and test object")):
        if body in bodies:
            moved = [position.sel(body=body) - position.sel(body=body)[0] for position in positions.values()]
            rows.append(PanelRow([Panel(title, "m", np.concatenate(moved, axis=1), dashed=(3, 4, 5))], labels))
    return draw(f"JSC case {number}: displacements", runs["order-n"].t, [rows])


def accelerations(rigid: int, flexible: int, runs: Mapping[int, Runs]) -> Figure:
    """Figure 3: the angular acceleration of leg 2's bottom pitch joint."""
    a = {number: Result(runs[number]["order-n"], ["acceleration"]).data.a.sel(v_name=BOTTOM_PITCH).values
         for number in (flexible, rigid)}
    panel = Panel("bottom pitch joint of leg 2", "rad/s²", np.stack(list(a.values()), axis=1))
    labels = [f"case {flexible}, flexible", f"case {rigid}, rigid"]
    return draw(f"JSC cases {rigid} and {flexible}: angular acceleration", runs[rigid]["order-n"].t, [[PanelRow([panel], labels)]])
