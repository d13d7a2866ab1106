"""Laws of conservation: at single states, and over runs."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from bough.analyze.balance import balance
from bough.compile.batch import Batch
from bough.describe import Free, Revolute, Spherical, System, Universal
from bough.flex import beam
from bough.model import Model
from bough.verify import systems
from bough.verify.case import Cases, Pairs

CASES = Cases("conservation")
LAWS = "E' = P, p' = F, H' = N, c' = p/m of bodies, loads and inputs as they are described"
NOETHER = "energy and momenta of what nothing acts on stay as they are"
SOURCE = "mechanics; see the theory page on loads [B 96]"


def balanced(build: Callable[[], System], modal: float = 1.0) -> Pairs:
    """The residual of each balance, relative to its terms."""
    model = build().compile()
    q, v = systems.random_state(model, 5, modal=modal)
    if model.in_orbit:
        q, v = systems.centered(model, q, 0.1 * v)
    tau, rng = np.random.default_rng(9).normal(size=v.shape), np.random.default_rng(6)
    inputs = {name: rng.normal(size=(len(q), port.size)) for name, port in model.system.inputs.items()}
    yield from residuals(model, model.batch(q, v, tau, t=0.3, inputs=inputs or None))


def closed_balance(name: str) -> Pairs:
    model, q, v = systems.closed(name)
    yield from residuals(model, model.batch(q, v, v))


def residuals(model: Model, batch: Batch) -> Pairs:
    """That of each balance, relative to its terms."""
    for share in balance(model, batch).worst.values():
        yield share, 0.0, 1.0


for _name, _build, _modal in (
    ("every joint", systems.tree, 1.0),
    ("loads and inputs", systems.loaded, 1.0),
    ("wheels", systems.wheeled, 1.0),
    ("force elements", systems.elements, 1.0),
    ("an orbit", systems.orbiter, 1.0),
    ("flexible bodies", systems.flexible, 0.05),
    ("stiffening beams", systems.stiffening, 0.05),
):
    CASES.add(f"{_name}, at states", "accelerations by the sweeps", LAWS, SOURCE, 7.0, partial(balanced, _build, _modal))
for _name in ("revolute", "universal", "point on plane"):
    CASES.add(f"a loop closed by {_name}, at states", "accelerations by the sweeps", LAWS, SOURCE, 7.0,
              partial(closed_balance, _name))


# ---- over runs -------------------------------------------------------------------------------------------------------------
def free_run(build: Callable[[], System], method: str, modal: float = 0.02, **steps: Any) -> Pairs:
    """A floating system without dampers: what it holds at the start, at all times."""
    s = build()
    s.gravity = (0.0, 0.0, 0.0)
    model = s.compile()
    q, v = systems.random_state(model, 1, modal=modal)
    result = systems.run(model, 0.5, 20, ["state", "energy", "momentum"], q0=q[0], v0=v[0], method=method, **steps)
    energy = result.array("total_energy")
    yield energy, np.full_like(energy, energy[0])
    for name in ("angular_momentum", "linear_momentum"):
        series = result.array(name)
        yield series, np.tile(series[0], (len(series), 1))


def floating(kind: str) -> System:
    """Rigid bodies on a free base, or a flexible boom there, without any damper."""
    s = System(kind)
    s.body("base", joint=Free(), **systems.mass_properties(0))
    if kind == "flexible":
        s.body("boom", parent="base", joint=Revolute("z"), flexible=beam(1.0, EI=(4.0, 6.0), mass_per_length=0.8, modes=3))
        return s
    for k, joint in enumerate((Spherical(), Universal("xy"), Revolute("z", stiffness=3.0)), 1):
        s.body(f"b{k}", parent="base" if k == 1 else f"b{k - 1}", joint=joint, **systems.placement(k), **systems.mass_properties(k))
    return s


for _kind, _method, _steps, _asked in (
    ("rigid", "rk4", {"dt": 2e-4}, 9.0),
    ("rigid", "dopri5", {"rtol": 1e-11, "atol": 1e-13}, 8.5),
    ("flexible", "rk4", {"dt": 1e-4}, 7.0),
    ("flexible", "imex4", {"dt": 2e-4}, 6.0),
):
    CASES.add(f"{_kind} bodies that float, {_method}", f"energy and momenta over 0.5 s, {_steps}", NOETHER, SOURCE, _asked,
              partial(free_run, partial(floating, _kind), _method, **_steps))
