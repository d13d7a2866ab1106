"""`bough bench jsc`: the sixteen cases of the JSC paper by O(N) and dense, beside the paper's seconds and peers, in one process."""
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from bough.bench.jsc_system import CASES, CHOICES, LAST, STEPS, jsc_case, jsc_system, whole_booms
from bough.bench.loops_bench import peer_calls
from bough.bench.setups import ENGINES, States, forward_call, interleaved, save_figure, versions
from bough.describe import System
from bough.errors import BoughError
from bough.integrate import integrate
from bough.integrate.trajectory import Trajectory
from bough.model import Model
from bough.peers import installed
from bough.progress import counted, working
from bough.results import Result
from bough.results.panels import Panel, PanelRow, draw

METHODS = {"order-n": "O(N)", "dense": "dense"}
Runs = dict[str, Trajectory]                                # by method
PAPER: dict[int, tuple[float, float]] = {                   # s for 100 s, O(N) and mass matrix; the rest of its table 2 is lost
    5: (166.8, 174.0), 6: (277.9, 423.6), 7: (275.9, 478.0), 8: (408.6, 1127.9), 10: (48.0, 18.4), 11: (59.4, 22.7),
    12: (133.8, 57.4), 13: (613.4, 567.6), 14: (937.2, 1402.0), 15: (1037.9, 1551.2), 16: (2257.3, 4063.9)}
SECONDS, QUICK = 2.0, 0.02
MOST_SAMPLES, SLICE = 5000, 2e-2                            # SLICE: s of work between two looks at the clock


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
    """Microseconds of a step from this state on, by each method in turn: of slices so short that some are left undisturbed, and so
    long that the start of a run does not count."""
    times = {method: [min(timed(model, method, step, x, 100) for _ in range(2))] for method in METHODS}      # the first one is cold
    for _ in range(rounds):
        for method, known in times.items():
            known.append(timed(model, method, step, x, max(4, int(SLICE/known[0]))))
    return {method: 1e6*min(known) for method, known in times.items()}


def timed(model: Model, method: str, step: float, x: np.ndarray, steps: int) -> float:
    """Seconds of one of so many steps."""
    run = integrate(model, q0=x[:model.nq], v0=x[model.nq:], until=steps*step, dt=step, method="euler-cromer",
                    sample_rate=1/(steps*step), dynamics=method)
    return run.wall_time/run.steps


# ---- the rigid cases in Pinocchio and MuJoCo: evaluations of the accelerations -------------------------------------------
COUNT = 16                      # states out of a run
SLICES, SHORT = 8, 5e-4         # slices a round, and their s: so short that a busy machine leaves some undisturbed


def against_peers(number: int, model: Model, run: Trajectory, rounds: int) -> dict[str, Any]:
    """{engine: {"us", "difference"}, "times faster": {"than", ...}}: all engines on the same states of the run, under torques that
    stand for the loads and the friction; differences are relative to the largest acceleration."""
    system = unloaded(jsc_system(whole_booms(number), flexible=False, closed=CASES[number].closed))
    bare = system.compile()
    at = np.linspace(1, len(run.t) - 1, COUNT).astype(int)
    q, v = np.split(np.ascontiguousarray(run.x[0, at]), [model.nq], axis=1)
    states = q, v, bare.bias(q, v) - model.bias(q, v, t=run.t[at])
    own, answer = forward_call(bare, states, *ENGINES["order-n"])
    want = answer[:, :bare.nv]
    peers = peers_of(system, bare, states, np.abs(want).max())
    functions = {"order-n": own, **{name: call for name, (call, *_) in peers.items()}}
    timings = interleaved(functions, COUNT, rounds=SLICES*rounds, slice_seconds=SHORT)
    answers = {"order-n": want, **{name: found for name, (_, found, _) in peers.items()}}
    scale = np.abs(want).max()
    measured: dict[str, Any] = {name: {"us": timings[name]["min_us"], "difference": float(np.abs(a - want).max()/scale)}
                                for name, a in answers.items()}
    if peers:
        measured["times faster"] = {"than " + name: measured[name]["us"]/measured["order-n"]["us"] for name in peers}
    return measured


def unloaded(system: System) -> System:
    """The same mechanism without loads, motors and friction, which peers get as torques."""
    twin = system.copy()
    twin.wrenches.clear()
    for name, body in twin.bodies.items():
        twin.bodies[name] = body.model_copy(update={"joint": body.joint.model_copy(update={"damping": None, "torque": None})})
    return twin


def peers_of(system: System, model: Model, states: States, size: float) -> dict[str, tuple[Any, np.ndarray, States]]:
    """Those of `bough bench loops`, and with loops lcaba once more: its settings stop at 1e-6 rad/s^2, which is three digits of
    accelerations of 1e-3; here it also has to find six."""
    found = peer_calls(system, model, states, states)
    if "pin" in installed() and system.loops:
        from bough.peers.pinocchio import Closed, ClosedPinocchioLoop
        accuracy, *rest = Closed.FAST
        engine = ClosedPinocchioLoop(system, *states, lcaba=(accuracy*size, *rest))
        found["pinocchio lcaba, six digits"] = engine.lcaba, engine.closed_answer("lcaba").copy(), states
    return found


# ---- figures 2 and 3 of the paper, of the cases that were run ------------------------------------------------------------
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
