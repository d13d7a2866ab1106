"""From a model to a result in one call."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from bough.describe import Simulation, System
from bough.describe.settings import ADAPTIVE_OPTIONS, FIXED_STEP, FIXED_STEP_OPTIONS
from bough.errors import SimulationError, StateError
from bough.integrate import integrate
from bough.model import Model
from bough.progress import quiet, working
from bough.results import Result
from bough.results.quantities import select_records

SETTINGS = ("until", "dt", "method", "sample_rate", "record", "rtol", "atol", "first_step", "max_step", "stabilize", "hold")


def simulate(
    model: Model | System,
    *,
    q0: Any = None,
    v0: Any = None,
    wheels0: Any = None,
    orbit0: Any = None,
    until: float | None = None,
    dt: float | None = None,
    method: str | None = None,
    sample_rate: float | None = None,
    record: str | Iterable[str] | None = None,
    rtol: float | None = None,
    atol: float | None = None,
    first_step: float | None = None,
    max_step: float | None = None,
    dynamics: str = "auto",
    control: Any = None,
    control_period: float | None = None,
    parameters: Mapping[str, Any] | None = None,
    stabilize: str | float | None = None,
    hold: Sequence[str] | None = None,
    progress: bool | Callable[[float, float], None] = True,
) -> Result:
    """Simulate a model (or a System, which is compiled first) from t = 0 and return the Result.

    What is left out comes from the settings of the system (`System.simulation`, `simulation:` in YAML), and the initial
    state from its joints, wheels and orbit. A leading axis of an initial state makes a batch, whose runs go in SIMD lanes.

    q0, v0, wheels0, orbit0   initial coordinates, speeds, wheel speeds, orbit [position, velocity]
    until          end of the run, s
    method         "rk4", "euler-cromer" (fixed step); "dopri5", "radau", "bdf", "lsoda" (adaptive)
    dt             step of the fixed-step methods, s; samples and jumps of the loads may shorten it
    rtol, atol     tolerances of the adaptive methods
    first_step, max_step   the first and the longest step of the adaptive methods, s; if not given, they choose
    sample_rate    samples per second; without it, every so many steps, about a hundred in all
    record         out of state, pose, velocity, acceleration, reactions, energy, momentum, nodes, strain, shapes, wheels,
                   torque, orbit, loops, drives, elements
    dynamics       "order-n", "dense", "cloud" (six equations, where all but a floating base's motion is given) or "auto"
    control        a function control(t, q, v, wheels) that returns joint torques or {name: torque}, asked once a step or
                   every control_period seconds; or a compiled one, made by bough.controller
    parameters     {"boom.mass": [...], ...}: one value for each run of a batch; mass, com, inertia, at of any body
    stabilize      what keeps loops closed: "projection" after each step (the default but with stiff methods), "baumgarte", or its
                   frequency [rad/s]
    hold           coordinates or joints that keep their initial values when the start is made to close the loops
    progress       True for a bar on a terminal where it takes more than a moment; False for none, and no word about kernels that
                   are compiled; or a function of the fraction done and the time reached

    A run that diverges raises SimulationError, whose `result` holds what was recorded until then. A run that is
    interrupted from the keyboard returns its Result, with `failure` set.

    >>> import bough
    >>> s = bough.System("pendulum", gravity=(0, 0, -9.81))
    >>> bob = s.body("bob", joint=bough.Revolute("y"), mass=2.0, com=(0, 0, -1))
    >>> result = bough.simulate(s, q0=[0.1], until=2.0, dt=1e-3, sample_rate=100)
    >>> result.data.q.sel(q_name="bob.ry").isel(time=-1).item()  # doctest: +ELLIPSIS
    0.0999...
    """
    compiled = model.compile() if isinstance(model, System) else model
    given = {"until": until, "dt": dt, "method": method, "sample_rate": sample_rate, "record": record, "rtol": rtol, "atol": atol,
             "first_step": first_step, "max_step": max_step, "stabilize": stabilize, "hold": hold}  # fmt: skip
    settings = with_settings(given, compiled.system.settings)
    names = select_records(settings.pop("record"), compiled.system, controlled=control is not None)
    shown: AbstractContextManager[Any] = working(compiled.system.name) if progress is True else nullcontext(progress or None)
    with quiet(progress is False), shown as bar:
        trajectory = integrate(
            compiled, q0=q0, v0=v0, wheels0=wheels0, orbit0=orbit0, dynamics=dynamics, control=control,
            control_period=control_period, parameters=parameters, progress=bar,
            **settings,
        )  # fmt: skip
    result = Result(trajectory, names)
    if trajectory.failure and not trajectory.failure.startswith("interrupted"):
        kept = f"{len(result.time)} samples up to t = {result.time[-1]:.6g} s are kept"
        raise SimulationError(f"system '{compiled.system.name}': {trajectory.failure} ({kept})", result)
    return result


def with_settings(given: Mapping[str, Any], settings: Simulation | None) -> dict[str, Any]:
    """What was given, else what the system's settings say; the rest has its defaults in `integrate`.

    Step options of the settings go with their method; `dt` serves any other method with fixed steps too.

    >>> with_settings({"until": 5.0}, Simulation(until=10, dt=0.1))["dt"]
    0.1
    >>> "dt" in with_settings({"method": "dopri5"}, Simulation(until=10, dt=0.1))
    False
    """
    found = {name: given.get(name) for name in SETTINGS}
    if settings is not None:
        ours = set(SETTINGS)
        if found["method"] not in (None, settings.method):
            ours -= {*ADAPTIVE_OPTIONS, *(() if found["method"] in FIXED_STEP else FIXED_STEP_OPTIONS)}
        found = {name: getattr(settings, name) if value is None and name in ours else value for name, value in found.items()}
    if found["until"] is None:
        raise StateError("until is missing; say when the run ends [s], here or in the system's settings ('simulation:')")
    return {name: value for name, value in found.items() if value is not None or name == "record"}
