"""The kernels as they are compiled here against the same sources as plain Python, in a process of its own."""

import sys
import tempfile
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from bough.compile.layout import Floats
from bough.model import Model
from bough.verify import dynamics_cases, part_cases, systems
from bough.verify.case import Cases, Pairs, run_plainly

CASES = Cases("plain Python")
TIME = 0.3
BOTH = ("order-n", "dense")


def dynamics(build: Callable[[], Any], methods: tuple[str, ...], modal: float = 1.0) -> list[Floats]:
    """Forward dynamics by all methods, inverse dynamics, mass matrix, reactions: one state, and four lanes."""
    model, q, v, tau = dynamics_cases.states(build, 4, modal)
    found = []
    for rows in (0, slice(None)):
        found += [model.forward_dynamics(q[rows], v[rows], tau[rows], t=TIME, dynamics=method) for method in methods]
        found += [model.inverse_dynamics(q[rows], v[rows], tau[rows], t=TIME), model.mass_matrix(q[rows])]
        found += [model.reactions(q[rows], v[rows], tau[rows], t=TIME), model.momentum(q[rows], v[rows])]
    return found


def loop() -> list[Floats]:
    return by_both(*systems.closed("universal", 4))


def accelerations(build: Callable[[], Any]) -> list[Floats]:
    """Accelerations by both methods, one state and four lanes; loops are closed first."""
    model = build().compile()
    q, v = systems.random_state(model, 4)
    q, v = model.assemble(q, v) if model.constrained else (q, v)
    return by_both(model, q, v)


def by_both(model: Model, q: Floats, v: Floats) -> list[Floats]:
    return [model.forward_dynamics(q[rows], v[rows], dynamics=method) for method in BOTH for rows in (0, slice(None))]


def derivatives() -> list[Floats]:
    """Derivatives of accelerations by q, v and tau."""
    model, q, v, tau = dynamics_cases.states(systems.wheeled, 4)
    found = model.forward_dynamics_derivatives(q[0], v[0], tau[0])
    return [found.dq, found.dv, np.asarray(found.dtau)]


def runs() -> list[Floats]:
    """A few steps by every compiled method."""
    found = []
    for method in ("rk4", "euler-cromer", "imex2", "imex4", "dopri5", "imex43"):
        steps: Any = {"dt": 0.01} if method in ("rk4", "euler-cromer", "imex2", "imex4") else {"first_step": 0.01}
        found.append(systems.run(systems.wheeled(), 0.03, 100, method=method, **steps).trajectory.x)
    return found


ANSWERS: dict[str, Callable[[], list[Floats]]] = {
    "every joint": partial(dynamics, systems.tree, BOTH),
    "wheels": partial(dynamics, systems.wheeled, BOTH),
    "loads": partial(dynamics, systems.loaded, BOTH),
    "force elements": partial(dynamics, systems.elements, BOTH),
    "held coordinates": partial(dynamics, dynamics_cases.held, BOTH),
    "momentum cloud": partial(dynamics, dynamics_cases.given_tree, ("cloud",)),
    "flexible bodies": partial(dynamics, systems.flexible, BOTH, 0.05),
    "a closed loop": loop,
    "tanks": partial(accelerations, part_cases.feeding),
    "couplings": partial(accelerations, dynamics_cases.geared),
    "derivatives": derivatives,
    "integrators": runs,
}


@cache
def plain_answers() -> dict[str, list[Floats]]:
    """The same from another process, without a compiler."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "answers.npz"
        run_plainly("bough.verify.plain_cases", str(file))
        with np.load(file) as arrays:
            return {name: [arrays[key] for key in sorted(arrays.files) if key.startswith(f"{name}/")] for name in ANSWERS}


def same(name: str) -> Pairs:
    yield from zip(ANSWERS[name](), plain_answers()[name], strict=True)


for _name in ANSWERS:
    CASES.add(_name, "compiled kernels, one state and four lanes", "the same sources as plain Python",
              "NUMBA_DISABLE_JIT=1, NumPy's functions", 11.0, partial(same, _name))


if __name__ == "__main__":
    np.savez(sys.argv[1], **{f"{name}/{i:03}": array for name, answers in ANSWERS.items() for i, array in enumerate(answers())})  # type: ignore[arg-type]
