"""Scalar duals for functions written for floats: a value and its tangent, by the rules of differentiation [B 64].

A law compiled for arrays of floats also compiles for arrays of `DUAL_NUMBER`: sums, products and quotients are defined in
`lanes`; functions, powers, comparisons, and arithmetic of whole vectors here.  Comparisons use values: a limit has the derivative
of the side its argument is on.  Anything else does not compile, and the caller must use another method.
"""
import math
import operator

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic, overload

from bough.kernels.lanes import _F64, _I32, NumberType, _pieces, _whole

DUAL_NUMBER = NumberType(1, 1)
_FIRST = ir.Constant(_I32, 0)


def is_dual(*given):
    """Whether some of these types are duals, and all others plain numbers."""
    return any(t == DUAL_NUMBER for t in given) and all(t == DUAL_NUMBER or isinstance(t, types.Number) for t in given)


def is_vector(t):
    """Whether a type is a 1-D array of duals."""
    return isinstance(t, types.Array) and t.dtype == DUAL_NUMBER and t.ndim == 1


def _piece(x, i):
    def codegen(context, builder, sig, args):
        if x == DUAL_NUMBER:
            return builder.extract_element(_pieces(context, builder, x, args[0], x)[i], _FIRST)
        return ir.Constant(_F64, 0.0) if i else context.cast(builder, args[0], x, types.float64)
    return types.float64(x), codegen


@intrinsic
def value_of(typingctx, x):
    """The value of a dual, or a plain number."""
    return _piece(x, 0)


@intrinsic
def slope_of(typingctx, x):
    """The tangent of a dual; that of a plain number is zero."""
    return _piece(x, 1)


@intrinsic
def dual_of(typingctx, value, slope):
    """A dual from two floats."""
    def codegen(context, builder, sig, args):
        empty = ir.Constant(ir.VectorType(_F64, 1), ir.Undefined)
        return _whole(builder, DUAL_NUMBER, [builder.insert_element(empty, piece, _FIRST) for piece in args])
    return DUAL_NUMBER(types.float64, types.float64), codegen


# ---- functions of one number, with their derivatives ----------------------------------------------------------------------
SLOPES = {
    "sin": lambda x: math.cos(x), "cos": lambda x: -math.sin(x), "tan": lambda x: 1.0 + math.tan(x)**2,
    "asin": lambda x: 1.0/math.sqrt(1.0 - x*x), "acos": lambda x: -1.0/math.sqrt(1.0 - x*x), "atan": lambda x: 1.0/(1.0 + x*x),
    "sinh": lambda x: math.cosh(x), "cosh": lambda x: math.sinh(x), "tanh": lambda x: 1.0 - math.tanh(x)**2,
    "exp": lambda x: math.exp(x), "log": lambda x: 1.0/x, "sqrt": lambda x: 0.5/math.sqrt(x) if x > 0.0 else 0.0,
    "fabs": lambda x: math.copysign(1.0, x), "floor": lambda x: 0.0, "ceil": lambda x: 0.0}
IN_NUMPY = {"asin": "arcsin", "acos": "arccos", "atan": "arctan", "fabs": "abs"}


def _of_one(function, slope):
    f, df = njit(lambda x: function(x)), njit(slope)

    def choose(x):
        if is_dual(x):
            return lambda x: dual_of(f(value_of(x)), df(value_of(x))*slope_of(x))
    return choose


for _name, _slope in SLOPES.items():
    for _function in (getattr(math, _name), getattr(np, IN_NUMPY.get(_name, _name))):
        overload(_function)(_of_one(getattr(math, _name), _slope))
overload(abs)(_of_one(math.fabs, SLOPES["fabs"]))


@overload(np.sign)
def _sign(x):
    if is_dual(x):
        return lambda x: dual_of(np.sign(value_of(x)), 0.0)


# ---- functions of two numbers ----------------------------------------------------------------------------------------
def _arc(y, x):
    if is_dual(y, x):
        def found(y, x):
            s, c = value_of(y), value_of(x)
            return dual_of(math.atan2(s, c), (c*slope_of(y) - s*slope_of(x))/(s*s + c*c))
        return found


def _length(x, y):
    if is_dual(x, y):
        return lambda x, y: math.sqrt(x*x + y*y)


for _function, _rule in ((math.atan2, _arc), (np.arctan2, _arc), (math.hypot, _length), (np.hypot, _length)):
    overload(_function)(_rule)


@overload(operator.pow)
def _power(x, n):
    """x^n: n x^(n - 1) dx + x^n log x dn; the second term if n is a dual, for which x must be positive."""
    if is_dual(x, n):
        if n == DUAL_NUMBER:
            return lambda x, n: math.exp(n*math.log(x + 0.0*n))

        def found(x, n):
            slope = 0.0 if n == 0 else n*value_of(x)**(n - 1)
            return dual_of(value_of(x)**n, slope*slope_of(x))
        return found


def _compared(compare):
    def choose(a, b):
        if is_dual(a, b):
            return lambda a, b: compare(value_of(a), value_of(b))
    return choose


def _better(compare):
    def choose(a, b):
        if is_dual(a, b):
            def found(a, b):
                first = compare(value_of(a), value_of(b))
                return dual_of(value_of(a), slope_of(a)) if first else dual_of(value_of(b), slope_of(b))
            return found
    return choose


for _compare in (operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne):
    overload(_compare)(_compared(_compare))
for _function, _compare in ((min, operator.le), (max, operator.ge), (np.minimum, operator.le), (np.maximum, operator.ge)):
    overload(_function)(_better(_compare))


# ---- vectors of duals ------------------------------------------------------------------------------------------------
def entry(a, i):
    """Entry of a vector; a number as it is."""


@overload(entry)
def _entry(a, i):
    return (lambda a, i: a[i]) if isinstance(a, types.Array) else (lambda a, i: a)


def _fits(t):
    """Whether a type can be combined with a vector of duals."""
    return is_vector(t) or is_dual(t) or isinstance(t, types.Number) or (
        isinstance(t, types.Array) and t.ndim == 1 and t.dtype == types.float64)


def _elementwise(operate):
    """Operation on two vectors, or on a vector and a number."""
    def choose(a, b):
        if is_vector(a) and _fits(b):
            def found(a, b):
                out = np.empty_like(a)
                for i in range(len(a)):
                    out[i] = operate(a[i], entry(b, i))
                return out
            return found
        if is_vector(b) and _fits(a):
            def behind(a, b):
                out = np.empty_like(b)
                for i in range(len(b)):
                    out[i] = operate(entry(a, i), b[i])
                return out
            return behind
    return choose


for _operate in (operator.add, operator.sub, operator.mul, operator.truediv):
    overload(_operate)(_elementwise(_operate))


@overload(operator.neg)
def _negated(a):
    if is_vector(a):
        return lambda a: -1.0*a


def _product(a, b):
    """Product of a matrix of floats and a vector, or of two vectors."""
    if is_vector(b) and isinstance(a, types.Array) and a.ndim == 2 and a.dtype == types.float64:
        def found(a, b):
            out = np.empty(a.shape[0], b.dtype)
            for i in range(a.shape[0]):
                out[i] = np.dot(a[i], b)
            return out
        return found
    if isinstance(a, types.Array) and isinstance(b, types.Array) and (
            (is_vector(a) and _fits(b)) or (is_vector(b) and _fits(a))):
        def inner(a, b):
            total = dual_of(0.0, 0.0)
            for i in range(len(a)):
                total = total + a[i]*b[i]
            return total
        return inner


for _function in (np.dot, operator.matmul):
    overload(_function)(_product)
