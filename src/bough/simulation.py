"""From a model to a result in one call."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from bough.describe import Simulation, System
from bough.errors import SimulationError, StateError
from bough.integrate import integrate
from bough.model import Model
from bough.progress import quiet, working
from bough.results import Result
from bough.results.quantities import select_records

SETTINGS = ("until", "dt", "method", "rate", "record", "rtol", "atol", "stabilize", "hold")


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
    rate: float | None = None,
    record: str | Iterable[str] | None = None,
    rtol: float | None = None,
    atol: float | None = None,
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
    until, dt      end of the run and step, s: of rk4 and euler-cromer the step (samples and jumps of the loads may shorten
                   it), of dopri5 the first step, of the stiff methods the longest
    method         "rk4", "euler-cromer" (fixed step); "dopri5", "radau", "bdf", "lsoda" (adaptive: rtol, atol)
    rate           samples per second; without it, every so many steps, about a hundred in all
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
    >>> result = bough.simulate(s, q0=[0.1], until=2.0, dt=1e-3, rate=100)
    >>> result.data.q.sel(q_name="bob.ry").isel(time=-1).item()  # doctest: +ELLIPSIS
    0.0999...
    """
    compiled = model.compile() if isinstance(model, System) else model
    given = {"until": until, "dt": dt, "method": method, "rate": rate, "record": record, "rtol": rtol, "atol": atol,
             "stabilize": stabilize, "hold": hold}  # fmt: skip
    settings = resolve_settings(given, compiled.system.settings)
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


def resolve_settings(given: Mapping[str, Any], settings: Simulation | None) -> dict[str, Any]:
    """What was given, else what the system's settings say; the rest has its defaults in `integrate`.

    >>> resolve_settings({"until": 5.0, "dt": None}, Simulation(until=10, dt=0.1))["dt"]
    0.1
    """
    found = {name: given.get(name) for name in SETTINGS}
    if settings is not None:
        if found["method"] not in (None, settings.method):              # tolerances go with the method they were given for
            found |= {name: found[name] or 0.0 for name in ("rtol", "atol")}
        found = {name: getattr(settings, name) if value is None else value for name, value in found.items()}
    if found["until"] is None:
        raise StateError("until is missing; say when the run ends [s], here or in the system's settings ('simulation:')")
    return {name: value for name, value in found.items() if value not in (None, 0.0) or name == "record"}
