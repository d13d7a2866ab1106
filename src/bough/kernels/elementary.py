"""Functions of numbers that go lane by lane: exponentials, and angles from sines and cosines."""
from math import atan2, exp

from bough.kernels.jit import leaf
from bough.kernels.lanes import duals_only, follow, get_lane, inverse_above, load, put_lane, width_of, zero


@leaf
def exponential(lane, ws, at):
    """exp of the number at `at`, which is also room for it."""
    x = load(lane, ws, at)
    for i in range(width_of(lane)):
        put_lane(lane, ws, at, i, exp(get_lane(lane, ws, at, i)))
    return grown_with(lane, load(lane, ws, at), x)


def grown_with(lane, e, x):
    """The value, with the tangent e dx."""
    return follow(e, e, x, zero(lane), x)


duals_only(grown_with, lambda lane, e, x: e)


@leaf
def arctangent(lane, ws, at, sine, cosine):
    """atan2 of the numbers at `sine` and `cosine`, -pi to pi; `at` is room for one, and may be one of these places."""
    s, c = load(lane, ws, sine), load(lane, ws, cosine)
    for i in range(width_of(lane)):
        put_lane(lane, ws, at, i, atan2(get_lane(lane, ws, sine, i), get_lane(lane, ws, cosine, i)))
    return turned_with(lane, load(lane, ws, at), s, c)


def turned_with(lane, angle, s, c):
    """The angle, with the tangent (c ds - s dc)/(s^2 + c^2) of those of its sine and cosine, of any common length."""
    over = inverse_above(s*s + c*c, 0.0)
    return follow(angle, c*over, s, -s*over, c)


duals_only(turned_with, lambda lane, angle, s, c: angle)
