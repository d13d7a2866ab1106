"""`bough bench connections`: the cost of attaching and detaching, and of steps after it, as a tree and by a loop."""
import time
from typing import Any

import bough.integrate.run
from bough.bench.jsc_system import jsc_case
from bough.bench.setups import versions
from bough.describe import Attach, Detach, Free, System
from bough.integrate.event_handler import EventHandler
from bough.integrate.integration import begin
from bough.integrate.run import Run
from bough.kernels.lanes import ONE

CASE, DT = 12, 1e-3                                     # the platform of 42 degrees of freedom, in closed loops
CHANGES, STEPS = 40, 2000


def platform(dockings: int, *, for_good: bool = False) -> System:
    """The platform, and a visitor that docks at its top and leaves again, so many times; or once, for good."""
    system = jsc_case(CASE)
    system.body("visitor", joint=Free(q0=[0, 0, 3, 0, 0, 0, 1], v0=[0, 0, -0.1, 0.01, 0, 0]), mass=50.0, inertia=(5, 6, 7))
    for i in range(dockings):
        system.event(f"dock {i}", at=DT*(4*i + 2), do=[Attach("top", "visitor", name="docked")])
        if not for_good:
            system.event(f"leave {i}", at=DT*(4*i + 4), do=[Detach("docked")])
    return system


def change_times() -> dict[str, float]:
    """Milliseconds of an attachment, of a detachment, and of an attachment for good, which hangs the visitor in the tree: the least
    of many, with all that the next step needs."""
    found: dict[str, list[float]] = {"attach": [], "detach": [], "attach for good": []}
    fire, use, now = EventHandler.fire, Run.use, ""

    def timed_fire(self: EventHandler, event: Any, t: float, x: Any) -> None:
        nonlocal now
        begun = time.perf_counter()
        fire(self, event, t, x)
        now = "detach" if event.name.startswith("leave") else "attach" if len(self.waiting) else "attach for good"
        found[now].append(1e3*(time.perf_counter() - begun))

    def timed_use(self: Run, model: Any) -> None:
        begun = time.perf_counter()
        use(self, model)
        if self.rehung is None:                                                     # else it takes the steps, and has been used
            self.arguments(ONE)
        if now and self.handler is not None and model is self.handler.model:        # the one that steps follow
            found[now][-1] += 1e3*(time.perf_counter() - begun)

    EventHandler.fire, Run.use = timed_fire, timed_use  # type: ignore[method-assign]
    try:
        begin(platform(CHANGES).compile(), until=DT*(4*CHANGES + 8), dt=DT).finish(DT*(4*CHANGES + 8))
        model = platform(1, for_good=True).compile()
        for _ in range(CHANGES//4):
            now = ""
            begin(model, until=4*DT, dt=DT).finish(4*DT)
    finally:
        EventHandler.fire, Run.use = fire, use  # type: ignore[method-assign]
    return {name: min(times) for name, times in found.items()}


def step_time(hung: bool, steps: int) -> float:
    """Microseconds of a step of RK4 after the visitor has docked for good; by the loop, if it is not hung."""
    runs: Any = bough.integrate.run
    choose = runs.hung_roots
    if not hung:
        runs.hung_roots = lambda *_: []
    try:
        run = begin(platform(1, for_good=True).compile(), until=1e3, dt=DT, sample_rate=1e-3)
        run.go_to(10*DT)
        times = []
        for _ in range(5):
            begun, reached = time.perf_counter(), run.runs[0].t
            run.go_to(reached + steps*DT)
            times.append(1e6*(time.perf_counter() - begun)/steps)
    finally:
        runs.hung_roots = choose
    return min(times)


def connections(*, quick: bool = False) -> dict[str, Any]:
    """Measure; {"changes": {"attach": ms, "detach": ms, "attach for good": ms}, "steps": {"hung": us, "loop": us}}."""
    change_times()                                      # compiles
    steps = STEPS//10 if quick else STEPS
    return {"unit": "milliseconds per change, microseconds per step of RK4; minima", "versions": versions(),
            "changes": change_times(), "steps": {"hung": step_time(True, steps), "loop": step_time(False, steps)}}
