"""`bough bench derivatives`: all of d(v')/d(q, v, tau), beside Pinocchio's analytic derivatives, in one process."""
from dataclasses import replace
from typing import Any

import numpy as np

from bough.analyze.partials import answer_length, forward_call, in_rows
from bough.bench import setups
from bough.bench.compile_cost import KINDS, compile_cost
from bough.bench.mechanisms import MECHANISMS, flexible_arm
from bough.bench.setups import States, bent_states, interleaved, random_states, versions
from bough.compile.kernel_calls import direct
from bough.kernels.lanes import ONE, aligned
from bough.model import Model
from bough.peers import installed
from bough.progress import counted

RIGID, STATES = ("arm7", "tree36", "mixed40"), 16
GROWTH = (5, 10, 20)                    # links of five modes


def derivatives(*, quick: bool = False) -> dict[str, Any]:
    """Measure; {"mechanisms": {name: {"dofs", engine: {"min_us", ...}, "difference"}}, "flexible": {links: {...}},
    "compiling": {kind: {"forward", "derivatives" [s], "ratio"}}}."""
    rounds = 10 if quick else 40
    return {"unit": "microseconds per state: v' and all its derivatives by q, v and tau; one state by one call from Python each, "
                    f"{STATES} states by one call in lanes",
            "versions": versions(),
            "mechanisms": {name: of_rigid(MECHANISMS[name]().compile(), rounds) for name in counted("mechanisms", RIGID)},
            "flexible": {str(links): of_flexible(flexible_arm(links, 5).compile(), rounds) for links in counted("links", GROWTH)},
            "compiling": {kind: compile_cost(kind) for kind in counted("kinds", list(KINDS)[:1 if quick else None])}}


def of_rigid(model: Model, rounds: int) -> dict[str, Any]:
    """The closed form, one state and four lanes, and Pinocchio's; how far they are apart."""
    states = random_states(model, STATES)
    alone, answers = one_state(model, states)
    together = in_rows(forward_call(model, model.batch(*states)), aligned((STATES, answer_length(model.nv))))
    q, v, more = (np.ascontiguousarray(rows[0]) for rows in states)
    alone["public call"] = lambda: model.forward_dynamics_derivatives(q, v, more)
    alone["inverse, public call"] = lambda: model.inverse_dynamics_derivatives(q, v, more)
    timings: dict[str, Any] = interleaved(alone, 1, rounds=rounds)
    timings |= interleaved({"four lanes": direct(together)}, STATES, rounds=rounds)
    if "pin" in installed():
        peer, inverse, matrices = pinocchio_calls(model, states)
        timings |= interleaved({"pinocchio": peer, "inverse, pinocchio": inverse, **alone}, 1, rounds=rounds)
        peer()
        wanted = matrices()
        timings["difference"] = max(float(np.abs(ours - theirs).max()/np.abs(theirs).max())
                                    for ours, theirs in zip(answers, wanted, strict=True)) if wanted else None
        for name in ("one state", "public call", "four lanes"):
            timings[name]["ratio"] = timings["pinocchio"]["min_us"]/timings[name]["min_us"]
        ours = timings["inverse, public call"]
        ours["ratio"] = timings["inverse, pinocchio"]["min_us"]/ours["min_us"]
    return {"dofs": model.nv, **timings}


def of_flexible(model: Model, rounds: int) -> dict[str, Any]:
    """Duals by subtrees, and how many evaluations of forward dynamics they are."""
    alone, _ = one_state(model, bent_states(model, STATES))
    timings: dict[str, Any] = interleaved(alone, 1, rounds=rounds)
    timings["evaluations"] = timings["one state"]["min_us"]/timings["forward dynamics"]["min_us"]
    return {"dofs": model.nv, **timings}


def one_state(model: Model, states: States) -> tuple[dict[str, Any], Any]:
    """Kernels of one state, all derivatives and forward dynamics; where the first puts its three matrices."""
    batch = replace(model.batch(*(rows[:1] for rows in states)), lanes=ONE)
    numbers, n = aligned((1, answer_length(model.nv))), model.nv
    call = in_rows(forward_call(model, batch), numbers)
    forward, _ = setups.forward_call(model, tuple(rows[:1] for rows in states), "order-n", ONE)     # type: ignore[arg-type]
    return {"one state": direct(call), "forward dynamics": forward}, numbers[0, n:-3].reshape(3, n, n)


def pinocchio_calls(model: Model, states: States) -> tuple[Any, Any, Any]:
    """Pinocchio's calls for the first state, of forward and of inverse dynamics, its free joint in its fastest form; and the
    matrices of the first, where the joints are the same."""
    import pinocchio as pin

    from bough.peers.pinocchio import PinocchioLoop
    loop = PinocchioLoop(model.system, *states)
    q, v, tau = (np.ascontiguousarray(columns[:, 0]) for columns in (loop.q_columns, loop.v_columns, loop.tau_columns))

    def matrices() -> list[Any]:
        data, order = loop.data, np.ix_(loop.iv, loop.iv)
        inverse = np.triu(data.Minv) + np.triu(data.Minv, 1).T
        return [] if loop.free else [each[order] for each in (data.ddq_dq, data.ddq_dv, inverse)]

    return (lambda: pin.computeABADerivatives(loop.model, loop.data, q, v, tau),
            lambda: pin.computeRNEADerivatives(loop.model, loop.data, q, v, tau), matrices)
