"""`bough bench flexible`: a chain of flexible links by O(N), dense and in lanes, and in Exudyn, in one process."""
from collections.abc import Iterable
from typing import Any

import numpy as np

from bough.bench.mechanisms import flexible_arm
from bough.bench.setups import ENGINES, bent_states, forward_calls, minima, versions
from bough.model import Model
from bough.peers import installed
from bough.progress import counted

LINKS, MODES, KINDS = 10, (0, 1, 2, 5, 10, 20), ("full", "zeroth_order", "stiffening")
GROWTH, GROWTH_MODES = (5, 10, 20, 40, 80), 5


def flexible(*, quick: bool = False) -> dict[str, Any]:
    """Measure; {"modes": {n: {kind: {engine: us, "dense/order-n": ..., ...}, "exudyn": {...}}}, "growth": {links: us a link}}."""
    rounds = 6 if quick else 30
    measured: dict[str, Any] = {str(modes): of_modes(modes, rounds) for modes in counted("flexible links", MODES)}
    arms = {links: flexible_arm(links, GROWTH_MODES).compile() for links in GROWTH}
    growth = {links: compare(arm, ("order-n",), rounds)["order-n"]/links for links, arm in counted("growth", arms.items())}
    return {"unit": "microseconds per evaluation of the accelerations (growth: per evaluation and link), minima",
            "chain": f"{LINKS} links on revolute joints; growth: links with {GROWTH_MODES} modes, full",
            "kinds": {"full": "second order in the deformation", "zeroth_order": "ruthlessly linearized",
                      "stiffening": "beams, second order, geometric stiffening"},
            "exudyn": "explicit right-hand side with joints as springs, its fastest build, rotations and linear solver; implicit: "
                      "a step of its generalized-alpha method of 1 ms with joints as constraints",
            "versions": versions(), "modes": measured, "growth": {str(links): time for links, time in growth.items()}}


def of_modes(modes: int, rounds: int) -> dict[str, Any]:
    kinds = KINDS if modes else ("full",)
    found: dict[str, Any] = {kind: compare(flexible_arm(LINKS, modes, kind).compile(), ENGINES, rounds) for kind in kinds}
    if modes and "exudyn" in installed():
        from bough.peers.exudyn import ExudynArm
        arm = ExudynArm(flexible_arm(LINKS, modes))
        evaluation, step = arm.time_per_evaluation(max(3, rounds//4)), arm.time_per_implicit_step(rounds=max(3, rounds//8))
        found["exudyn"] = {"evaluation": evaluation, "implicit step": step,
                           **{f"evaluation/{kind}": evaluation/found[kind]["order-n"] for kind in kinds}}
    return found


def compare(model: Model, engines: Iterable[str], rounds: int) -> dict[str, float]:
    """Microseconds of each engine, how much faster O(N) is than dense, and lanes than one state; how far dense is from O(N)."""
    states = bent_states(model, 64)
    functions, answers = forward_calls(model, states, {name: ENGINES[name] for name in engines})
    found = minima(functions, len(states[0]), rounds=rounds)
    if len(found) > 1:
        scale = np.abs(answers["dense"]).max()
        found |= {"dense/order-n": found["dense"]/found["order-n"], "lanes": found["order-n"]/found["order-n, four lanes"],
                  "difference": float(np.abs(answers["dense"] - answers["order-n"]).max()/scale)}
    return found
