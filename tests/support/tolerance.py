"""How far apart two right answers may be, and why.

A test compares with one of these bounds, or its number has a reason beside it. Bounds of solutions of linear equations, which
depend on the state, are `solving` and `loop_rounding` of `tests.support.compare`.

Each bound counts roundings along the longest path from the input to the result, as error analysis does (Higham, Accuracy and
Stability of Numerical Algorithms, 3.1): n dependent roundings leave n EPS of the largest value on the way. The counts are upper
bounds for the systems of the tests, taken once for all and not fitted to any of them.
"""

import numpy as np

from bough.analyze.loop_constraints import CLOSED  # noqa: F401  1e-12 of a meter or of its size: assembly and projection end there
from bough.integrate.watchers import SHARE

EPS = float(np.finfo(float).eps)


def roundings(operations, magnified=1.0):
    """Of a result behind so many dependent operations; `magnified`: by how much larger numbers than the result cancel in it.

    >>> roundings(450) < 1e-13
    True
    """
    return operations*magnified*EPS


PRODUCTS = roundings(5)
"""1e-15: a few products or sums of numbers that are given."""

FORMULA = roundings(45)
"""1e-14: a formula on either side. A turned vector takes 5 roundings, a cross product 3, a sine 2, a norm 4, a division 1: even two
turns, two cross products and a dozen sums and products stay below 45."""

SWEEP = roundings(450)
"""1e-13: a quantity that is swept along a tree. A body adds 30 roundings: its frame is turned (5), its origin shifted (6), its
velocity (8) and its acceleration or force (11) are added to its neighbor's. Trees in tests have paths of at most 15 bodies."""

CANCELLING = roundings(450, magnified=10)
"""1e-12: the same, where terms ten times larger than the result cancel: forces of bodies that move against each other, momenta
about the mass center, moments about a far point, energies of motion beside those of rest."""

STEPPED = roundings(4500)
"""1e-12: what is kept, or what a method integrates exactly, over a run of some thousand steps: each rounds its state once, and the
roundings add up, at worst all with one sign."""

HALF = EPS**0.5
"""1.5e-8: a double root, or a place where something is least: half of the digits, for the value rises with the square."""

EVENT = SHARE*1.0
"""1e-12 s: the moment of an event, which is found to `SHARE` of a step; steps in tests are not longer than 1 s. Where the motion up
to the event is truncated as well, the method's error over the speed of what is watched comes on top."""


def summed(terms):
    """The rounding of a sum of so many terms of one sign, in any order."""
    return roundings(terms)


def differences(h, rate=1.0, order=2, operations=45):
    """Of a difference quotient with steps h, relative to f's slope, where f changes at a rate (its derivatives grow so much from
    order to order): the truncated term (rate h)^order, and f's own rounding over the step.

    Central differences have order 2, Richardson's of two steps 4. The best step makes both alike: 1e-5 for order 2, 1e-3 for 4.

    >>> bool(differences(1e-5) < 2e-9), bool(differences(1e-3, order=4) < 2e-11)
    (True, True)
    """
    return (rate*h)**order + roundings(operations)/(rate*h)


def quotient(h, value, slope, rate=1.0):
    """Of a central difference quotient with steps h, absolute, of what is swept along a tree, where values and slopes are of unlike
    size, as energies and forces are: the truncated term, (rate h)^2 of the slope, and the rounding of the value over the step."""
    return (rate*h)**2*slope + SWEEP*value/h


def refined(error, order=4):
    """What is left of an error of a run by fixed steps when the steps are halved: 1/2^order in the limit. At steps that are not yet
    small the order that is seen is lower, by less than one.

    >>> refined(8.0)
    1.0
    """
    return error/2**(order - 1)


def truncated(coarse, fine, order=4):
    """Of a run by fixed steps, or of a difference quotient, beside one with steps twice as long: an error that is `refined` by
    halving them is at most 1/(2^(order - 1) - 1) of what the two differ by (Richardson).

    >>> truncated([7.0], [14.0])
    1.0
    """
    return float(np.abs(np.subtract(coarse, fine)).max())/(2**(order - 1) - 1)


MODES = 2
"""The order of `truncated` where it is the number of modes that is doubled: frequencies and buckling loads converge at least so."""

HERMITE = 32**-4/720
"""1e-9: of squares of frequencies of a beam by 32 Hermite elements, relative: times b^4, b the wave number over the length."""

ERROR_CONSTANTS = {"euler-cromer": (1, 1/2), "rk4": (4, 1/120), "dopri5": (5, 1/720)}


def oscillation(method, w, h, time):
    """Of a run of an oscillation of frequency w (rad/s) with steps h, relative to its amplitude: at each step the method leaves out
    the next term of exp(i w h), c (w h)^(p + 1); over `time`, w time/(w h) of them add up.

    >>> bool(oscillation("rk4", w=1.0, h=0.01, time=10.0) < 1e-9)
    True
    """
    order, constant = ERROR_CONSTANTS[method]
    return constant*(w*h)**order*w*time


def adaptive(rtol, steps, magnified=1.0):
    """Of an adaptive run: each step may be off by `rtol`, and the errors of the steps add up; a motion that is unstable or stiff
    magnifies them."""
    return rtol*steps*magnified


def printed(digits):
    """Of a published value with so many digits behind its first: half a unit of the last one, relative to a first digit of 1.

    >>> printed(4)
    0.0005
    """
    return 0.5*10.0**(1 - digits)


SINGLE = float(np.finfo(np.float32).eps)/2
"""6e-8: a number that was stored in 4 bytes, as in binary glTF buffers and OP2 files of 32-bit words."""
