"""Coordinates with given motion: locked, or prescribed by piecewise polynomials in time [B 17].

Sweeps that solve for accelerations treat such a hinge as a weld; its given acceleration is part of the remainder acceleration.
"""
import numpy as np

from bough.kernels.linker import sweep
from bough.kernels.jit import leaf
from bough.kernels.lanes import (add, duals_only, get_lane, get_tangent, holds_only, load, noinline, put_lane, put_tangent, read,
                                 store, width_of, zero)
from bough.sweeps import fields as f


@leaf
def hold_row(plan, j):
    return read(plan, f.HOLDS) + j*f.HOLD_ROW


@leaf
def prescribed_speed(plan, j):
    """Index in v of a coordinate that can be held; -1 if it is free now."""
    row = hold_row(plan, j)
    if read(plan, row + f.HOLD_MODE) == f.LOOSE:
        return -1
    return read(plan, row + f.HOLD_VDOT) - read(plan, f.WS_XDOT) - read(plan, f.NQ)


@leaf
def last_start(tables, at, stride, n, t):
    """The last of n rows from `at` on that starts at or before t; the first if none does."""
    low, high = 0, n
    while high - low > 1:
        middle = (low + high)//2
        if read(tables, at + middle*stride) <= t:
            low = middle
        else:
            high = middle
    return at + low*stride


@leaf
def piece_at(tables, term, t, t_piece):
    """The piece of a term of a motion that applies at t_piece, and the time from its start to t."""
    period, n = read(tables, term + f.TERM_PERIOD), int(read(tables, term + f.TERM_PIECES))
    if period > 0.0:
        turns = np.floor(t_piece/period)
        t, t_piece = t - period*turns, t_piece - period*turns
        piece = term + f.TERM_HEAD + f.MOTION_PIECE*min(int(t_piece/period*n), n - 1)
    else:
        piece = last_start(tables, term + f.TERM_HEAD, f.MOTION_PIECE, n, t_piece)
    return piece, t - read(tables, piece)


@leaf
def term_at(tables, term, t, t_piece):
    """Position, rate, acceleration and jerk of one term of a motion, by Horner's rule for a polynomial and its derivatives."""
    piece, s = piece_at(tables, term, t, t_piece)
    q, v, a, j = 0.0, 0.0, 0.0, 0.0                                         # a: half the second derivative, j: a sixth of the third
    for i in range(int(read(tables, term + f.TERM_DEGREE)) + 1, 0, -1):
        j = j*s + a
        a = a*s + v
        v = v*s + q
        q = q*s + read(tables, piece + i)
    return q, v, 2.0*a, 6.0*j


@leaf
def motion_at(tables, motion, terms, t, t_piece):
    """Position, rate, acceleration and jerk of a motion: the sum of its terms."""
    origin, found = read(tables, motion + f.MOTION_ORIGIN), (read(tables, motion + f.MOTION_OFFSET), 0.0, 0.0, 0.0)
    term = motion + f.MOTION_HEAD
    for _ in range(terms):
        found = add(found, term_at(tables, term, t - origin, t_piece - origin))
        term = term + f.TERM_HEAD + f.MOTION_PIECE*int(read(tables, term + f.TERM_PIECES))
    return found


@duals_only
def move_in_time(lane, plan, tables, ws, row, with_state):
    """Duals whose time has tangents: tangents of prescribed coordinates."""
    time, given = read(plan, f.WS_TIME), read(plan, row + f.HOLD_GIVEN)
    motion, terms = read(plan, row + f.HOLD_MOTION), read(plan, row + f.HOLD_TERMS)
    for i in range(width_of(lane)):
        t, t_piece, dt = get_lane(lane, ws, time, i), get_lane(lane, ws, time + 1, i), get_tangent(lane, ws, time, i)
        _, v, a, jerk = motion_at(tables, motion, terms, t, t_piece)
        put_tangent(lane, ws, given, i, dt*jerk)
        if with_state:
            put_tangent(lane, ws, read(plan, row + f.HOLD_Q), i, dt*v)
            put_tangent(lane, ws, read(plan, row + f.HOLD_V), i, dt*a)


@leaf
def apply_prescribed_motion(lane, plan, tables, ws, with_state):
    """Apply given motions, if there are any."""
    if read(plan, f.N_HOLDS):
        evaluate_prescribed_motion(lane, plan, tables, ws, with_state)


@sweep(features=(), needs="holds")
def evaluate_prescribed_motion(lane, plan, tables, ws, with_state):
    """Given accelerations of all held coordinates at the time in ws; if asked, also their positions and rates, written to the
    state."""
    noinline()
    for j in range(read(plan, f.N_HOLDS)):
        row, time = hold_row(plan, j), read(plan, f.WS_TIME)
        mode, given = read(plan, row + f.HOLD_MODE), read(plan, row + f.HOLD_GIVEN)
        store(lane, ws, given, zero(lane))
        if mode == f.PRESCRIBED:
            q, v, a, before, before_piece = 0.0, 0.0, 0.0, np.nan, np.nan
            for i in range(width_of(lane)):
                t, t_piece = get_lane(lane, ws, time, i), get_lane(lane, ws, time + 1, i)
                if t != before or t_piece != before_piece:                  # lanes at the same time share the evaluation
                    q, v, a, _ = motion_at(tables, read(plan, row + f.HOLD_MOTION), read(plan, row + f.HOLD_TERMS), t, t_piece)
                    before, before_piece = t, t_piece
                put_lane(lane, ws, given, i, a)
                if with_state:
                    put_lane(lane, ws, read(plan, row + f.HOLD_Q), i, q)
                    put_lane(lane, ws, read(plan, row + f.HOLD_V), i, v)
            move_in_time(lane, plan, tables, ws, row, with_state)
        elif mode != f.LOOSE and with_state:
            store(lane, ws, read(plan, row + f.HOLD_V), zero(lane))


@holds_only
def zero_prescribed_accelerations(lane, plan, ws):
    """Set all given accelerations to zero."""
    for j in range(read(plan, f.N_HOLDS)):
        store(lane, ws, read(plan, hold_row(plan, j) + f.HOLD_GIVEN), zero(lane))


@holds_only
def prescribe_speed_jumps(lane, plan, ws):
    """Take the given accelerations from the place of vdot."""
    for j in range(read(plan, f.N_HOLDS)):
        row = hold_row(plan, j)
        store(lane, ws, read(plan, row + f.HOLD_GIVEN), load(lane, ws, read(plan, row + f.HOLD_VDOT)))


@holds_only
def store_prescribed_accelerations(lane, plan, ws):
    """Copy the given accelerations to vdot."""
    for j in range(read(plan, f.N_HOLDS)):
        row = hold_row(plan, j)
        if read(plan, row + f.HOLD_MODE) != f.LOOSE:
            store(lane, ws, read(plan, row + f.HOLD_VDOT), load(lane, ws, read(plan, row + f.HOLD_GIVEN)))


@holds_only
def eliminate_prescribed(lane, plan, ws, M, b):
    """Replace the rows and columns of held coordinates in M a = b by those of the identity."""
    n = read(plan, f.NV)
    for j in range(read(plan, f.N_HOLDS)):
        i = prescribed_speed(plan, j)
        if i >= 0:
            for c in range(n):
                store(lane, ws, M + n*i + c, zero(lane))
                store(lane, ws, M + n*c + i, zero(lane))
            store(lane, ws, M + n*i + i, zero(lane) + 1.0)
            store(lane, ws, b + i, zero(lane))


@holds_only
def zero_prescribed_columns(lane, plan, ws, J, rows):
    """Zero the columns of held coordinates in a Jacobian."""
    n = read(plan, f.NV)
    for j in range(read(plan, f.N_HOLDS)):
        i = prescribed_speed(plan, j)
        if i >= 0:
            for c in range(rows):
                store(lane, ws, J + n*c + i, zero(lane))
