"""`bough bench jsc`: the sixteen cases of the JSC paper by O(N) and dense, beside the paper's seconds and peers, in one process."""
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from bough.bench.jsc_figures import Runs, draw_figures, twins
from bough.bench.jsc_peers import against_peers
from bough.bench.jsc_system import CASES, CHOICES, LAST, STEPS, jsc_case
from bough.bench.setups import versions
from bough.errors import BoughError
from bough.integrate import integrate
from bough.integrate.trajectory import Trajectory
from bough.model import Model
from bough.progress import counted, working

METHODS = {"order-n": "O(N)", "dense": "dense"}
PAPER: dict[int, tuple[float, float]] = {                   # s for 100 s, O(N) and mass matrix; the rest of its table 2 is lost
    5: (166.8, 174.0), 6: (277.9, 423.6), 7: (275.9, 478.0), 8: (408.6, 1127.9), 10: (48.0, 18.4), 11: (59.4, 22.7),
    12: (133.8, 57.4), 13: (613.4, 567.6), 14: (937.2, 1402.0), 15: (1037.9, 1551.2), 16: (2257.3, 4063.9)}
SECONDS, QUICK = 2.0, 0.02
MOST_SAMPLES, SLICE = 5000, 3e-3                            # SLICE: s of work between two looks at the clock


def jsc(*, cases: str | Sequence[int] | None = None, seconds: float | None = None, quick: bool = False, plot: Path | None = None
        ) -> dict[str, Any]:
    """Run and measure; {"cases": {number: {"us per step": {method: ...}, "difference": ..., ...}}, "choices": [...], ...}."""
    named = case_numbers(cases) if isinstance(cases, str) else cases
    selected = sorted(set(CASES if named is None else named))
    for number in selected:
        if number not in CASES:
            raise BoughError(f"there is no case {number}; the cases are 1 to {max(CASES)}")
    if plot is not None:
        twins(selected)                                       # fails early if it cannot be drawn
    until = (QUICK if quick else SECONDS) if seconds is None else seconds
    measured: dict[str, Any] = {}
    runs: dict[int, Runs] = {}
    for number in counted("cases", selected):
        model = jsc_case(number).compile()
        runs[number] = run_case(number, model, until)
        measured[str(number)] = of_case(number, model, runs[number], 3 if quick else 20)
    return {"unit": "microseconds per step, or per evaluation of the accelerations beside peers; minima",
            "seconds": until, "method": "euler-cromer, loops closed after each step by projection",
            "difference": "largest between the states of the two runs, at all samples: q in m, rad and modal coordinates, v per s",
            "gap": "largest of the loops, over all samples of both runs: m and rad",
            "peers": "evaluations of states of the run, with the loads as joint torques for all; booms in one piece",
            "choices": CHOICES, "versions": versions(), "cases": measured,
            "figures": [] if plot is None else [str(path) for path in draw_figures(runs, plot)]}


def case_numbers(text: str) -> list[int]:
    """The cases that a text names.

    >>> case_numbers("1, 4, 9-12")
    [1, 4, 9, 10, 11, 12]
    """
    found: list[int] = []
    for part in text.split(","):
        first, dash, last = part.partition("-")
        try:
            found += range(int(first), int(last if dash else first) + 1)
        except ValueError:
            raise BoughError(f"cases: {part.strip()!r} is neither a number nor a range; give them as in 1,4,9-12") from None
    return found


def run_case(number: int, model: Model, until: float) -> Runs:
    """The trajectories of the two methods; samples are at the same times in all cases."""
    step, longest = STEPS[CASES[number].flexible], STEPS[False]
    every = max(1, int(np.ceil(until/longest/MOST_SAMPLES)))
    found: dict[str, Trajectory] = {}
    for method, title in METHODS.items():
        with working(f"{model.system.name}, {title}") as bar:
            found[method] = integrate(model, until=until, dt=step, method="euler-cromer", sample_rate=1/(every*longest),
                                      dynamics=method, progress=bar)
        if found[method].failure:
            raise BoughError(f"{model.system.name}, {title}: {found[method].failure}")
    return found


def of_case(number: int, model: Model, runs: Runs, rounds: int) -> dict[str, Any]:
    """The numbers of one case."""
    case, system, step = CASES[number], model.system, STEPS[CASES[number].flexible]
    modes = sum(body.n_modes for body in system.bodies.values())
    times = step_times(model, step, runs["order-n"].x[0, -1], rounds)
    states = {method: run.x[0] for method, run in runs.items()}
    apart = np.abs(states["order-n"] - states["dense"]).max(axis=0)
    gaps = [np.abs(gap).max() for x in states.values() for gap in model.loop_gaps(x[:, :model.nq]).values()] if case.closed else []
    found: dict[str, Any] = {
        "configuration": case.configuration, "flexible": case.flexible, "closed": case.closed, "bodies": len(system.bodies),
        "joint dofs": model.nv - modes, "modes": modes, "loops": len(system.loops), "step": step,
        "us per step": times, "dense/order-n": times["dense"]/times["order-n"],
        "times real time": {method: 1e6*step/us for method, us in times.items()},
        "seconds for 100 s": {method: 1e-6*us*LAST/step for method, us in times.items()},
        "seconds of the paper": dict(zip(METHODS, PAPER[number], strict=True)) if number in PAPER else None,
        "difference": {"q": float(apart[:model.nq].max()), "v": float(apart[model.nq:].max())},
        "gap": float(max(gaps)) if gaps else None}
    if not case.flexible:
        found["evaluation"] = against_peers(number, model, runs["order-n"], rounds)
    return found


def step_times(model: Model, step: float, x: np.ndarray, rounds: int) -> dict[str, float]:
    """Microseconds of a step from this state on, by each method in turn: of slices so short that some are left undisturbed."""
    times: dict[str, list[float]] = {method: [timed(model, method, step, x, 4)] for method in METHODS}
    for _ in range(rounds):
        for method, known in times.items():
            known.append(timed(model, method, step, x, max(4, int(SLICE/known[0]))))
    return {method: 1e6*min(known) for method, known in times.items()}


def timed(model: Model, method: str, step: float, x: np.ndarray, steps: int) -> float:
    """Seconds of one of so many steps."""
    run = integrate(model, q0=x[:model.nq], v0=x[model.nq:], until=steps*step, dt=step, method="euler-cromer",
                    sample_rate=1/(steps*step), dynamics=method)
    return run.wall_time/run.steps
