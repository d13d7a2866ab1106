"""Implicit methods: springs, dampers and modes act as they are at the end of a stage, where the acceleration a leads, which the
sweeps solve for [B 30].

    q_s = q^ + g v^ + g^2 a,    v_s = v^ + g a
    (M(q) + g C + g^2 K) a = f(q, v, t) - K (q^ + g v^ - rest) - C v^

K and C are local, a number for a hinge and a block for a flexible body, so the same sweeps solve it: they only add to the D of that
hinge and to the modal mass.  All else acts at q and v, which are in the state as ever; q^ and v^ have a place of their own.
"""
from bough.kernels.jit import leaf
from bough.kernels.lanes import accumulate, implicit_only, load, read, store, zero
from bough.sweeps import fields as f


@leaf
def implicit_state(plan):
    """Where q^ | v^ are in ws."""
    return read(plan, f.WS_IMPLICIT) + f.IMPLICIT_SIZE + read(plan, f.NV)


def implicit_distance(lane, plan):
    """How far behind q and v those are at which springs and modes act."""
    return implicit_state(plan) - read(plan, f.WS_X)


implicit_only(implicit_distance, lambda lane, plan: 0)


def implicit_place(lane, plan, ws, q, v):
    """q^ + g v^ of a coordinate and its rate."""
    return load(lane, ws, q) + load(lane, ws, read(plan, f.WS_IMPLICIT) + f.IMPLICIT_RATE)*load(lane, ws, v)


implicit_only(implicit_place, lambda lane, plan, ws, q, v: load(lane, ws, q))


def clear_implicit_inertia(lane, plan, ws):
    """Before springs add theirs."""
    for i in range(read(plan, f.NV)):
        store(lane, ws, read(plan, f.WS_IMPLICIT) + f.IMPLICIT_SIZE + i, zero(lane))


implicit_only(clear_implicit_inertia, lambda lane, plan, ws: None)


def act_implicitly(lane, plan, pars, ws, row, p, rate):
    """Of a spring and damper: the force of the way that the rate v^ goes, and g C + g^2 K, which its hinge will add to D."""
    if read(plan, row + f.SPRING_LOCAL):
        at, tau = read(plan, f.WS_IMPLICIT), read(plan, row + f.SPRING_TAU)
        K, g = read(pars, p + f.STIFFNESS), load(lane, ws, at + f.IMPLICIT_RATE)
        accumulate(lane, ws, tau, -K*g*rate)
        value = g*read(pars, p + f.DAMPING) + load(lane, ws, at + f.IMPLICIT_PLACE)*K
        accumulate(lane, ws, at + f.IMPLICIT_SIZE + tau - read(plan, f.WS_U), value)


implicit_only(act_implicitly, lambda lane, plan, pars, ws, row, p, rate: None)


def implicit_inertia(lane, plan, ws, row):
    """What springs add to D of a hinge of one degree of freedom."""
    return load(lane, ws, read(plan, f.WS_IMPLICIT) + f.IMPLICIT_SIZE + read(plan, row + f.TAU) - read(plan, f.WS_U))


implicit_only(implicit_inertia, lambda lane, plan, ws, row: 0.0)
