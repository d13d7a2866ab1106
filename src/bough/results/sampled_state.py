"""The state of a run at one of its samples, as the calls of a model take it."""

from typing import Any

import numpy as np

from bough.compile.layout import EXHAUST, run_states
from bough.errors import StateError
from bough.integrate.trajectory import Trajectory
from bough.model import Model


def state_at(trajectory: Trajectory, t: float, run: int = 0) -> tuple[Model, dict[str, Any]]:
    """The model that held then, and q, v, controls, wheels, orbit, time and states of laws at the sample nearest to t."""
    if not 0 <= run < len(trajectory.x):
        raise StateError(f"run is {run}; the result has {len(trajectory.x)}: give 0 to {len(trajectory.x) - 1}")
    first, last = float(trajectory.t[0]), float(trajectory.t[-1])
    if not first - 1e-9 <= t <= last + 1e-9 * max(1.0, abs(last)):
        raise StateError(f"t is {t!r} s; the run was recorded from {first:g} to {last:g} s: give a time between")
    sample = int(np.abs(trajectory.t - t).argmin())
    model = trajectory.model
    if trajectory.parameters is not None:
        model = model.with_parameters({name: values[run] for name, values in trajectory.parameters.items()})
    for until, held in trajectory.spans[run] if trajectory.spans else ():
        if trajectory.t[sample] <= until:
            model = model.switched_as(held)
            break
    state, controls = model.state(trajectory.x[run, sample]), trajectory.u[run, sample]
    nv, nw = model.nv, model.nw
    own = run_states(model.system) + EXHAUST*bool(model.system.tanks)           # before the states of laws
    laws = trajectory.law_states[run, sample, own:] if trajectory.law_states.size else np.zeros(0)
    return model, {
        "q": state.q, "v": state.v, "tau": controls[:nv], "inputs": model.named_inputs(controls[nv + nw:]) or None,
        "wheels": state.wheels if nw else None, "motors": controls[nv:nv + nw] if nw else None,
        "orbit": state.orbit if model.in_orbit else None, "t": float(trajectory.t[sample]),
        "tanks": state.tanks if model.system.tanks else None,
        "law_states": laws[:len(laws) - trajectory.audited] if len(laws) else None,
    }  # fmt: skip
