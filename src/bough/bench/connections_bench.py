"""`bough bench connections`: what a change of what is connected costs, and steps after it, hung and by a loop."""
import time
from typing import Any

import bough.integrate.run
from bough.bench.jsc_system import jsc_case
from bough.bench.setups import versions
from bough.describe import Attach, Detach, Free, System
from bough.integrate.event_handler import EventHandler
from bough.integrate.integration import begin

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
    """Milliseconds of an attachment and of a detachment, the least of many, with the tables that the next step needs."""
    found: dict[str, list[float]] = {"attach": [], "detach": []}
    fire = EventHandler.fire

    def timed(self: EventHandler, event: Any, t: float, x: Any) -> None:
        begun = time.perf_counter()
        fire(self, event, t, x)
        _ = self.model.tables
        found["attach" if event.name.startswith("dock") else "detach"].append(1e3*(time.perf_counter() - begun))

    EventHandler.fire = timed  # type: ignore[method-assign]
    try:
        begin(platform(CHANGES).compile(), until=DT*(4*CHANGES + 8), dt=DT).finish(DT*(4*CHANGES + 8))
    finally:
        EventHandler.fire = fire  # type: ignore[method-assign]
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
    """Measure; {"changes": {"attach": ms, "detach": ms}, "steps": {"hung": us, "loop": us}}."""
    change_times()                                      # compiles
    steps = STEPS//10 if quick else STEPS
    return {"unit": "milliseconds per change, microseconds per step of RK4; minima", "versions": versions(),
            "changes": change_times(), "steps": {"hung": step_time(True, steps), "loop": step_time(False, steps)}}
