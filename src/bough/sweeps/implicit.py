"""Implicit methods: springs, dampers and modes are evaluated at the end of a stage, which depends on the acceleration a that the
sweeps solve for [B 30].

    q_s = q^ + g v^ + g^2 a,    v_s = v^ + g a
    (M(q) + g C + g^2 K) a = f(q, v, t) - K (q^ + g v^ - rest) - C v^

K and C are local, a number for a hinge and a block for a flexible body, so the same sweeps solve this: they only add to D of that
hinge and to the modal mass.  All other forces are evaluated at q and v in the state; q^ and v^ are stored separately.
"""
from bough.kernels.jit import leaf
from bough.kernels.lanes import accumulate, implicit_only, load, read, store, zero
from bough.sweeps import fields as f


@leaf
def implicit_state(plan):
    """Position of q^ | v^ in ws."""
    return read(plan, f.WS_IMPLICIT) + f.IMPLICIT_SIZE + read(plan, f.NV)


@implicit_only(otherwise=lambda lane, plan: 0)
def implicit_distance(lane, plan):
    """Distance in ws from q and v to those at which springs and modes are evaluated."""
    return implicit_state(plan) - read(plan, f.WS_X)


@implicit_only(otherwise=lambda lane, plan, ws, q, v: load(lane, ws, q))
def implicit_place(lane, plan, ws, q, v):
    """q^ + g v^ of a coordinate and its rate."""
    return load(lane, ws, q) + load(lane, ws, read(plan, f.WS_IMPLICIT) + f.IMPLICIT_RATE)*load(lane, ws, v)


@implicit_only
def clear_implicit_inertia(lane, plan, ws):
    """Zero the additions to D, before springs add theirs."""
    for i in range(read(plan, f.NV)):
        store(lane, ws, read(plan, f.WS_IMPLICIT) + f.IMPLICIT_SIZE + i, zero(lane))


@implicit_only
def act_implicitly(lane, plan, pars, ws, row, p, rate):
    """For a spring and damper: the force -K g v^, and g C + g^2 K, which its hinge adds to D."""
    if read(plan, row + f.SPRING_LOCAL):
        at, tau = read(plan, f.WS_IMPLICIT), read(plan, row + f.SPRING_TAU)
        K, g = read(pars, p + f.STIFFNESS), load(lane, ws, at + f.IMPLICIT_RATE)
        accumulate(lane, ws, tau, -K*g*rate)
        value = g*read(pars, p + f.DAMPING) + load(lane, ws, at + f.IMPLICIT_PLACE)*K
        accumulate(lane, ws, at + f.IMPLICIT_SIZE + tau - read(plan, f.WS_U), value)


@implicit_only(otherwise=lambda lane, plan, ws, row: 0.0)
def implicit_inertia(lane, plan, ws, row):
    """Addition of springs to D of a hinge of one degree of freedom."""
    return load(lane, ws, read(plan, f.WS_IMPLICIT) + f.IMPLICIT_SIZE + read(plan, row + f.TAU) - read(plan, f.WS_U))
