"""From a model to a result in one call."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from os import PathLike
from typing import Any

from numpy.typing import ArrayLike

from bough import results
from bough.compile.layout import State
from bough.describe import Simulation, System
from bough.describe.numeric import shown
from bough.describe.settings import ADAPTIVE_OPTIONS, FIXED_STEP, FIXED_STEP_OPTIONS
from bough.errors import SimulationError, StateError
from bough.integrate import Controller
from bough.integrate.integration import begin, check_whole
from bough.model import Model
from bough.model.compiler import as_model
from bough.progress import quiet, working
from bough.results import Result
from bough.results.quantities import select_records
from bough.results.result import SavedResult

SETTINGS = ("until", "dt", "method", "sample_rate", "record", "rtol", "atol", "first_step", "max_step", "stabilize", "hold")


def simulate(
    model: Model | System,
    *,
    q0: ArrayLike | None = None,
    v0: ArrayLike | None = None,
    wheels0: ArrayLike | None = None,
    orbit0: ArrayLike | None = None,
    tanks0: ArrayLike | None = None,
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
    laws: Sequence[Any] = (),
    control: Controller | Callable[..., Any] | None = None,
    control_period: float | None = None,
    seed: int = 0,
    t0: float = 0.0,
    state: State | None = None,
    parameters: Mapping[str, ArrayLike] | None = None,
    stabilize: str | float | None = None,
    hold: Sequence[str] | None = None,
    reproducible: bool = False,
    save_to: str | PathLike[str] | None = None,
    checkpoint: float | None = None,
    progress: bool | Callable[[float, float], None] = True,
) -> Result | SavedResult:
    """Simulate a model (or a System, which is compiled first) and return the Result.

    Omitted arguments come from the settings of the system (`System.simulation`, `simulation:` in YAML), and the initial state from
    its joints, wheels and orbit. A leading axis of an initial state makes a batch, whose runs go through SIMD lanes.

    Parameters
    ----------
    model : Model or System
    q0, v0, wheels0, orbit0, tanks0 : array_like, optional
        Initial coordinates, speeds, wheel speeds, orbit [position, velocity], and propellant masses in tanks.
    until : float
        End of the run [s].
    dt : float
        Step of the fixed-step methods [s]; load jumps, calls of sampled laws and events split a step.
    method : str
        Fixed steps: "rk4", "euler-cromer", "imex2", "imex4"; adaptive: "dopri5", "imex43", "radau", "bdf", "lsoda".
        Those named imex treat springs, dampers and modes implicitly, and SciPy's radau, bdf and lsoda everything. "auto" chooses by
        the fastest motion of the system and by dt, or by the tolerances without dt; the summary says why.
    sample_rate : float, optional
        Samples per second, interpolated inside steps; by default, every so many steps, about a hundred in all.
    record : str or iterable of str, optional
        What to record: any of state, pose, velocity, acceleration, reactions, energy, momentum, nodes, strain, stress, strains,
        shapes, wheels, torque, tanks, exhaust, orbit, loops, couplings, friction, drives, elements, inputs, outputs.
    rtol, atol : float, optional
        Tolerances of the adaptive methods; the defaults are 1e-9 and 1e-12.
    first_step, max_step : float, optional
        The first and the longest step of the adaptive methods [s].
    dynamics : {"auto", "order-n", "dense", "cloud"}
        How accelerations are computed, see `Model`.
    laws : sequence, optional
        Control laws, which read outputs and set inputs by name: `bough.Law`, functions f(t, y), or compiled ones
        from `bough.controller`.
    control, control_period : optional
        A function control(t, q, v, wheels) that returns joint torques or {name: torque}, called once per step or every so many
        seconds (the adaptive methods require them); or a compiled one from `bough.controller`.
    seed : int
        Random seed for the noise of outputs that sampled laws read.
    t0 : float
        The initial time [s].
    state : State, optional
        The initial state as `Simulator.state` returns it, instead of q0, v0, wheels0, orbit0 and tanks0.
    parameters : mapping, optional
        {"boom.mass": [12.0, 12.5, ...]}: named parameters with one value for each run of a batch.
    stabilize : {"projection", "baumgarte"} or float, optional
        How loops are kept closed: projection after each step (the default except with stiff methods), Baumgarte stabilization, or
        its frequency [rad/s].
    hold : sequence of str, optional
        Coordinates or joints that keep their initial values when the loops are assembled at the start.
    reproducible : bool
        Whether a run has the same bits alone and in batches of any size; single runs then take the time of four.
    save_to : path, optional
        Stream the samples to this NetCDF file, with bounded memory; after an interruption `bough.resume` continues from the last
        checkpoint. The result is the one that `bough.open_result` reads.
    checkpoint : float, optional
        Seconds between checkpoints, with save_to; 60 by default.
    progress : bool or function
        Whether to show a progress bar, and messages about compiled kernels; or a function of the fraction completed and the time.

    Returns
    -------
    Result
        A run interrupted from the keyboard also returns its Result, with `failure` set.

    Raises
    ------
    SimulationError
        If a run diverges; its `result` holds the samples recorded up to then.

    Examples
    --------
    >>> import bough
    >>> s = bough.System("pendulum", gravity=(0, 0, -9.81))
    >>> bob = s.body("bob", joint=bough.Revolute("y"), mass=2.0, com=(0, 0, -1))
    >>> result = bough.simulate(s, q0=[0.1], until=2.0, dt=1e-3, sample_rate=100)
    >>> result.data.q.sel(q_name="bob.ry").isel(time=-1).item()  # doctest: +ELLIPSIS
    0.0999...
    """
    compiled = as_model(model)
    given = {"until": until, "dt": dt, "method": method, "sample_rate": sample_rate, "record": record, "rtol": rtol, "atol": atol,
             "first_step": first_step, "max_step": max_step, "stabilize": stabilize, "hold": hold}
    settings = with_settings(given, compiled.system.settings)
    controlled = control is not None or (isinstance(laws, Sequence) and len(laws) > 0)
    names = select_records(settings.pop("record"), compiled.whole, controlled=controlled)
    if state is not None:
        if not isinstance(state, State):
            raise StateError(f"state is {shown(state)}; give one as Simulator.state and Model.state give it, or q0 and v0")
        if any(part is not None for part in (q0, v0, wheels0, orbit0, tanks0)):
            raise StateError("state is given, and one of q0, v0, wheels0, orbit0, tanks0 too; give the one or the others")
        q0, v0, wheels0, orbit0 = state.q, state.v, state.wheels, state.orbit if compiled.in_orbit else None
        tanks0 = state.tanks if compiled.system.tanks else None
    if not (progress is None or isinstance(progress, bool) or callable(progress)):
        raise StateError(f"progress is {progress!r}; give True, False or a function of (share, t)")
    end, streamed = settings.pop("until"), None
    if save_to is not None or checkpoint is not None:
        streamed = results.stream.streaming(save_to, checkpoint)
    bar: AbstractContextManager[Any] = working(compiled.system.name) if progress is True else nullcontext(progress or None)
    with quiet(progress is False), bar as report:
        run = begin(compiled, until=end, t0=t0, q0=q0, v0=v0, wheels0=wheels0, orbit0=orbit0, tanks0=tanks0, dynamics=dynamics,
                    laws=laws, control=control, control_period=control_period, seed=seed, parameters=parameters,
                    reproducible=reproducible,
                    audit="energy" in names and (controlled or bool(compiled.system.inputs)), **settings)
        if streamed is not None:
            parts = results.stream.Parts(streamed[0])
            parts.begin(compiled.whole.to_yaml(exact=True))
            return results.stream.stream(run, parts, end, names, streamed[1], report)
        run.finish(end, report)
    return finished(Result(check_whole(run.trajectory(), end), names))


def finished(result: Result) -> Result:
    """The result if the run reached its end or was interrupted; otherwise raises an error that holds it."""
    failure = result.trajectory.failure
    if failure and not failure.startswith("interrupted"):
        kept = f"{len(result.time)} samples up to t = {result.time[-1]:.6g} s are kept"
        raise SimulationError(f"system '{result.system.name}': {failure} ({kept})", result)
    return result


def with_settings(given: Mapping[str, Any], settings: Simulation | None) -> dict[str, Any]:
    """The given options, else those of the system's settings; the rest have their defaults in `integrate`. Step options of the
    settings apply to their own method only; `dt` applies to any fixed-step method.

    >>> with_settings({"until": 5.0}, Simulation(until=10, dt=0.1))["dt"]
    0.1
    >>> "dt" in with_settings({"method": "dopri5"}, Simulation(until=10, dt=0.1))
    False
    """
    found = {name: given.get(name) for name in SETTINGS}
    if settings is not None:
        ours = set(SETTINGS)
        if found["method"] not in (None, settings.method):
            ours -= {*ADAPTIVE_OPTIONS, *(() if found["method"] in (*FIXED_STEP, "auto") else FIXED_STEP_OPTIONS)}
        found = {name: getattr(settings, name) if value is None and name in ours else value for name, value in found.items()}
    if found["until"] is None:
        raise StateError("until is missing; say when the run ends [s], here or in the system's settings ('simulation:')")
    return {name: value for name, value in found.items() if value is not None or name == "record"}
