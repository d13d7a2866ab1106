"""Finite turns given by a rotation vector theta, and their rates.

    R = exp(theta~) = cos I + (1 - x b) theta~ + a theta theta^T          x = theta.theta
    omega = J theta',  J = (1 - x b) I + a theta~ + b theta theta^T       in the axes that are turned

a = (1 - cos)/x and b = (|theta| - sin)/|theta|^3 are taken from their series, which have no singularity and no branch: they are
exact in double precision up to 4 rad, more than any elastic slope.
"""
from math import factorial

from bough.kernels.algebra import cross, dot
from bough.kernels.jit import leaf
from bough.kernels.lanes import add, scale

_TERMS = range(13, -1, -1)                                      # highest power first, for Horner's scheme
_A = tuple((-1.0)**k/factorial(2*k + 2) for k in _TERMS)
_B = tuple((-1.0)**k/factorial(2*k + 3) for k in _TERMS)
_A_X = tuple(k*(-1.0)**k/factorial(2*k + 2) for k in range(14, 0, -1))
_B_X = tuple(k*(-1.0)**k/factorial(2*k + 3) for k in range(14, 0, -1))


@leaf
def polynomial(coefficients, x):
    value = 0.0*x + coefficients[0]
    for c in coefficients[1:]:
        value = value*x + c
    return value


@leaf
def turn_and_rates(theta):
    """R, and J with omega = J theta'."""
    x = dot(theta, theta)
    a, b = polynomial(_A, x), polynomial(_B, x)
    return _spherical(1.0 - x*a, 1.0 - x*b, a, theta), _spherical(1.0 - x*b, a, b, theta)


@leaf
def _spherical(i, s, o, theta):
    """i I + s theta~ + o theta theta^T."""
    x, y, z = theta
    return (i + o*x*x, o*x*y - s*z, o*x*z + s*y,
            o*x*y + s*z, i + o*y*y, o*y*z - s*x,
            o*x*z - s*y, o*y*z + s*x, i + o*z*z)


@leaf
def rate_bias(theta, rate):
    """J' theta': what is left of omega' where theta'' = 0."""
    x, c, s = dot(theta, theta), cross(theta, rate), 2.0*dot(theta, rate)
    turning = add(scale(s*polynomial(_A_X, x), c), scale(s*polynomial(_B_X, x), cross(theta, c)))
    return add(turning, scale(polynomial(_B, x), cross(rate, c)))
