"""Laws on duals: all that they know, against differences of sixth order of the same law."""
import math

import numpy as np
import pytest

import bough
from tests.support.tolerance import differences

K = np.array([[1.0, 2.0], [3.0, -1.0]])


def functions(t, y, u):
    x, n = y[0], y[1]
    u[0] = math.sin(x)*np.cos(x) + math.tan(x) + np.exp(-x)*math.log(n) + math.sqrt(x) + np.tanh(n) + math.sinh(x)/math.cosh(n)
    u[1] = math.asin(x) + np.arccos(x) + 2.0*math.atan(n) + np.arctan2(x, n) + math.hypot(x, n) + x**3 + n**x + 2.0**n + n**-1.5
    u[0] += abs(-x) + math.fabs(n) + np.abs(x - n) + math.floor(n)*x + np.sign(x)*n


def choices(t, y, u):
    u[0] = min(max(y[0], -1.0), 0.1) + max(y[1], 0.0) + np.minimum(y[0], y[1]) + np.maximum(2.0, y[1])
    total = 0.0
    for i in range(2):
        if y[i] > 0.4 and y[0] != 0.0:
            total += y[i]*y[i]
    u[1] = total if y[0] <= y[1] else 0.0


def vectors(t, y, u):
    u[:] = -(K @ (y - np.array([0.1, 0.2]))) + 2.0*y/3.0 - y*y[0]
    u[0] += np.dot(K[0], y) + np.dot(y, y)
    u[1] -= 1.0


@pytest.mark.slow
@pytest.mark.parametrize("function", [functions, choices, vectors])
def test_against_differences(function):
    law = bough.controller(outputs=["a", "b"], inputs=["c", "d"])(function)
    assert law.on_duals.exact
    y, dy, none, h = np.array([0.3, 0.5]), np.array([1.0, 0.7]), np.zeros(0), 1e-3
    found = law.on_duals.along(0.0, (2, 2, 0), 2, y, dy, none, none)
    want = np.zeros(2)
    for k, weight in ((1, 0.75), (2, -0.15), (3, 1/60)):
        for sign in (1, -1):
            u = np.zeros(2)
            function(0.0, y + sign*k*h*dy, u)
            want += sign*weight/h*u
    np.testing.assert_allclose(found, want, rtol=differences(h, order=6))              # seven points: of sixth order
