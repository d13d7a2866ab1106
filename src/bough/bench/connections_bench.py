"""`bough bench connections`: the cost of attaching and detaching, and of steps after it, as a tree and by a loop."""
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import bough.integrate.mounted_run
from bough.bench.jsc_system import jsc_case
from bough.bench.setups import versions
from bough.describe import Attach, Close, Detach, Free, Joint, Open, Revolute, Spherical, System, Weld
from bough.integrate.integration import begin
from bough.model import Model
from bough.simulator import Simulator

CASE, DT = 12, 1e-3                                     # the platform of 42 degrees of freedom, in closed loops
APART = 5                                               # steps between two changes
CHANGES, REPEATS, STEPS = 6, 12, 2000
JOINTS: dict[str, Joint | None] = {"weld": None, "revolute": Revolute("z"), "spherical": Spherical()}


# ---- the platform, and what changes on it ----------------------------------------------------------------------------------
def platform(joint: Joint | None = None, *, for_good: bool = False, pose: str = "present") -> System:
    """The platform, and a visitor that docks at its top and leaves again, several times; or once, for good."""
    system = jsc_case(CASE)
    system.body("visitor", joint=Free(q0=[0, 0, 3, 0, 0, 0, 1], v0=[0, 0, -0.1, 0.01, 0, 0]), mass=50.0, inertia=(5, 6, 7))
    allowed: dict[str, Any] = {"pose": pose, "gap": 10.0, "angle": 1.0} if pose == "nominal" else {}
    for i in range(1, 2 if for_good else CHANGES, 2):
        system.event(f"dock {i}", at=APART*i*DT, do=[Attach("top", "visitor", joint, name="docked", **allowed)])
        if not for_good:
            system.event(f"leave {i}", at=APART*(i + 1)*DT, do=[Detach("docked")])
    return system


def loop_opened() -> System:
    """A loop of the platform opens and closes again."""
    system = jsc_case(CASE)
    for i in range(1, CHANGES, 2):
        system.event(f"open {i}", at=APART*i*DT, do=[Open("arm2 holds object")])
        system.event(f"close {i}", at=APART*(i + 1)*DT, do=[Close("arm2 holds object")])
    return system


def body_dropped(joint: Joint | None) -> System:
    """A body is released from the top of the platform."""
    system = jsc_case(CASE)
    system.body("payload", parent="top", at=(0.2, 0.1, 0.3), joint=joint or Weld(), mass=20.0, inertia=(1, 2, 3))
    system.event("drop", at=APART*DT, do=[Detach("payload")])
    return system


def scenarios() -> dict[str, tuple[Callable[[], System], tuple[str, ...]]]:
    """By name, a system and its events in their order; a single event is timed in repeated runs of the same model."""
    found: dict[str, tuple[Callable[[], System], tuple[str, ...]]] = {}
    for name, joint in JOINTS.items():
        found[name] = partial(platform, joint), (f"attach by {name}", f"detach {name}")
        found[f"{name} for good"] = partial(platform, joint, for_good=True), (f"attach by {name} for good",)
    found["pulled"] = partial(platform, pose="nominal"), ("attach by weld, pulled", "detach pulled weld")
    found["loop"] = loop_opened, ("open a loop", "close a loop")
    found["body"] = partial(body_dropped, None), ("detach a welded body",)
    found["jointed body"] = partial(body_dropped, Revolute("z")), ("detach a body on a joint",)
    return found


# ---- what it takes ---------------------------------------------------------------------------------------------------------
def change_times(repeats: int) -> dict[str, dict[str, float]]:
    """Milliseconds of each change, the first of its kind in a model and later ones: two steps with the change less two steps after
    it, as a caller sees it; the least of many runs.  Kernels are compiled and loaded."""
    found: dict[str, dict[str, float]] = {}
    for make, names in scenarios().values():
        alone = len(names) == 1
        runs = []
        for _ in range(repeats):
            model = make().compile()
            events = 1 if alone else CHANGES
            runs.append(timed_changes(model, events) + (timed_changes(model, 1) if alone else []))
        across, after = np.min(runs, axis=0).T
        least = (1e3*(across - after)).tolist()
        for i, name in enumerate(names):
            found[name] = {"first": least[i], "later": min(least[i + len(names)::len(names)])}
    return found


def timed_changes(model: Model, events: int) -> list[tuple[float, float]]:
    """Seconds of the two steps around each change, and of the two steps after it."""
    sim, found = Simulator(model, dt=DT), list[tuple[float, float]]()
    for i in range(1, events + 1):
        at = APART*i*DT
        sim.advance(until=at - DT)
        moments = [time.perf_counter()]
        for end in (at + DT, at + 3*DT):
            sim.advance(until=end)
            moments.append(time.perf_counter())
        found.append((moments[1] - moments[0], moments[2] - moments[1]))
    return found


def start_times(repeats: int) -> dict[str, float]:
    """Milliseconds from a model to the end of its first step: without events, and with some of those above."""
    chosen: dict[str, Callable[[], System]] = {"no events": partial(jsc_case, CASE)}
    chosen |= {name: scenarios()[name][0] for name in ("weld", "weld for good", "revolute for good")}
    found: dict[str, list[float]] = {name: [] for name in chosen}
    for _ in range(repeats):
        for name, make in chosen.items():
            model = make().compile()
            begun = time.perf_counter()
            Simulator(model, dt=DT).advance(until=DT)
            found[name].append(1e3*(time.perf_counter() - begun))
    return {name: min(times) for name, times in found.items()}


def step_time(mounted: bool, steps: int) -> float:
    """Microseconds of a step of RK4 after the visitor has docked for good; by the loop, if it is not mounted."""
    runs: Any = bough.integrate.mounted_run
    choose = runs.mounted_trees
    if not mounted:
        runs.mounted_trees = lambda *_: []
    try:
        run = begin(platform(for_good=True).compile(), until=1e3, dt=DT, sample_rate=1e-3)
        run.go_to(10*DT)
        times = []
        for _ in range(5):
            begun, reached = time.perf_counter(), run.runs[0].t
            run.go_to(reached + steps*DT)
            times.append(1e6*(time.perf_counter() - begun)/steps)
    finally:
        runs.mounted_trees = choose
    return min(times)


def connections(*, quick: bool = False) -> dict[str, Any]:
    """Measure; {"changes": {kind: {"first": ms, "later": ms}}, "starts": {events: ms}, "steps": {"mounted": us, "loop": us}}."""
    change_times(1)                                     # compiles
    steps, repeats = (STEPS//10, REPEATS//2) if quick else (STEPS, REPEATS)
    return {"unit": "milliseconds per change and start, microseconds per step of RK4; minima", "versions": versions(),
            "changes": change_times(repeats), "starts": start_times(repeats),
            "steps": {"mounted": step_time(True, steps), "loop": step_time(False, steps)}}
