"""`bough bench operators`: M^-1 beside forward dynamics, points of long chains, whole joints beside partitioned ones."""
from typing import Any

import numpy as np
from numba import njit

from bough.analyze.impulse import at_rest
from bough.analyze.operators import Operators
from bough.analyze.operators.articulated_links import articulate
from bough.bench.mechanisms import chain, flexible_arm, tree36
from bough.bench.setups import States, fitting_states, kernel_call, minima, versions
from bough.describe import System
from bough.kernels.jit import OPTIONS, compiling
from bough.model import Model
from bough.progress import counted
from bough.sweeps import calls
from bough.sweeps.riccati import riccati, solve_links

LENGTHS = (125, 250, 500, 1000)
JOINTS = {"universal joints": "universal", "gimbals": "gimbal", "joints of six dofs": "bushing"}
MODES = (2, 5, 10, 20)
TIMES = 16                      # evaluations a call
STEPS = ("factors", "solution")


def operators(*, quick: bool = False) -> dict[str, Any]:
    """Measure; {"inverse": {system: {...}}, "points": {links: {...}}, "partition": {system: {...}}}."""
    rounds = 6 if quick else 30
    inverses = {"tree36": tree36(), "chain100": chain(100), "chain1000": chain(1000), "10 links with 5 modes": flexible_arm(10, 5)}
    return {"unit": "microseconds, minima",
            "inverse": {name: of_inverse(system.compile(), rounds) for name, system in counted("inverses", inverses.items())},
            "points": {str(n): of_points(n, max(3, rounds//5)) for n in counted("points", LENGTHS)},
            "partition": {name: of_partition(system.compile(), rounds)
                          for name, system in counted("partitioned joints", partitioned_systems().items())},
            "recursion": "one compiled code over links of any size (factors, and one solution): over the links of the partition, "
                         "over whole joints, and over these as the paper writes them, with all of H, P_plus and Phi; 'sweeps' is "
                         "M^-1 by the sweeps of forward dynamics, whose hinges are primitive, motion of the bodies included",
            "versions": versions()}


def state(model: Model) -> States:
    q, v, tau = fitting_states(model, 1)
    return q[0], v[0], tau[0]


def sweeps(model: Model, q: np.ndarray, v: np.ndarray, tau: np.ndarray, times: int = 1) -> dict[str, Any]:
    """The kernels alone: forward dynamics of a state, and M^-1 at it, some times in a call."""
    rest, pars = at_rest(model, q)
    x, x_rest, u = (np.tile(row, (times, 1)) for row in (np.concatenate([q, v]), rest.x, tau))
    return {"forward, kernel": kernel_call(model, calls.forward_order_n, x, u)[0],
            "inverse, kernel": kernel_call(model, calls.impulse, x_rest, u, np.zeros((times, model.nv)), pars=pars)[0]}


def of_inverse(model: Model, rounds: int) -> dict[str, float]:
    """M^-1 applied to a vector, and forward dynamics: as they are called from Python, and the kernels alone."""
    q, v, tau = state(model)
    inverse = model.operators(q).inverse
    found = minima({"forward": lambda: model.forward_dynamics(q, v, tau), "inverse": lambda: inverse @ tau,
                    **sweeps(model, q, v, tau)}, 1, rounds=rounds)
    return {**found, "inverse/forward": found["inverse"]/found["forward"],
            "inverse/forward, kernel": found["inverse, kernel"]/found["forward, kernel"]}


def of_points(n: int, rounds: int) -> dict[str, float]:
    """The operational-space inertia of both ends of a chain: from the state on, and with the operators at hand."""
    model = chain(n).compile()
    q, ends = state(model)[0], [model.names.bodies[0], model.names.bodies[-1]]
    ops = model.operators(q)
    found = minima({"from the state": lambda: model.operators(q).operational_space_inertia(ends),
                    "with the operators": lambda: ops.operational_space_inertia(ends)}, 1, rounds=rounds)
    return {**found, **{f"{name}, per link": time/n for name, time in found.items()}}


def partitioned_systems() -> dict[str, System]:
    """Chains of ten rigid bodies on joints of several degrees of freedom, and arms of ten flexible links."""
    rigid = {name: chain(10, (kind,), name) for name, kind in JOINTS.items()}
    return rigid | {f"links with {modes} modes": flexible_arm(10, modes) for modes in MODES}


def recursion(ops: Operators, tau: np.ndarray, *, as_written: bool = False) -> tuple[Any, Any, np.ndarray]:
    """A function that factors the mass matrix, one that solves with it once, and the solution, in the order of v."""
    done = articulate(ops.links, ops._free_maps, as_written=as_written)
    order, p = np.concatenate(ops._free_speeds), done.packed
    solve = (p.table, tau[order].copy(), np.empty(len(tau)), p.vectors, p.end, p.ws)
    answer = done.solve(tau[order])[np.argsort(order)]                   # compiles, too
    with compiling(factor_often, 1):
        factor_often(0, p.table, p.scratch, p.ws)
    with compiling(solve_often, 1):
        solve_often(0, *solve)
    return (lambda: factor_often(TIMES, p.table, p.scratch, p.ws)), (lambda: solve_often(TIMES, *solve)), answer


# kernels keep their machine code only, which no other function can be linked with: these are compiled with the loops
_options: Any = OPTIONS
_factor, _solve = (njit(**_options)(getattr(kernel, "py_func", kernel)) for kernel in (riccati, solve_links))


@njit(nogil=True)
def factor_often(times, table, scratch, ws):
    """Some times in a call, so that the call from Python does not count."""
    for _ in range(times):
        _factor(table, scratch, ws)


@njit(nogil=True)
def solve_often(times, table, tau, vdot, vectors, end, ws):
    for _ in range(times):
        _solve(table, tau, vdot, vectors, end, ws)


def of_partition(model: Model, rounds: int) -> dict[str, Any]:
    """The same recursion over the links of the partition and over whole joints; and how far their solutions are apart: relative to
    the largest entry, and in the norm of kinetic energy, which knows no units."""
    q, v, tau = state(model)
    parts, whole = model.operators(q), model.operators(q, whole=True)
    forms = {"partitioned": recursion(parts, tau), "whole": recursion(whole, tau),
             "written": recursion(whole, tau, as_written=True)}
    work: dict[str, Any] = {f"{name}, {step}": form[i] for name, form in forms.items() for i, step in enumerate(STEPS)}
    found = minima({**work, "sweeps": sweeps(model, q, v, tau, TIMES)["inverse, kernel"]}, TIMES, rounds=rounds)
    found |= {name: found[f"{name}, factors"] + found[f"{name}, solution"] for name in forms}
    ratios = {f"{name}/partitioned": found[name]/found["partitioned"] for name in ("whole", "written")}
    steps = {f"whole/partitioned, {step}": found[f"whole, {step}"]/found[f"partitioned, {step}"]
             for step in STEPS}
    apart, other, M = forms["partitioned"][2] - forms["whole"][2], forms["whole"][2], model.mass_matrix(q)
    return {"links": [len(parts.links.links), len(whole.links.links)], "speeds": model.nv, **found, **ratios, **steps,
            "difference": float(np.abs(apart).max()/np.abs(other).max()),
            "difference in energy": float(np.sqrt(apart @ M @ apart/(other @ M @ other)))}
