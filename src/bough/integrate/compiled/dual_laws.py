"""Compiled laws with derivatives: the same function compiled for duals [B 64]; or, if it uses something that duals do not
support, finite differences along the directions of what it reads.
"""
import ctypes
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numba import carray, cfunc, types
from numba.core.errors import NumbaError

from bough.compile.layout import Floats
from bough.integrate.compiled.callback import on_memory, signature
from bough.kernels.scalar_duals import DUAL_NUMBER

STEP = 1e-3                                         # of differences: relative to the magnitude of what a law reads, at least 1
WEIGHTS = (0.75, -0.15, 1.0/60.0)                   # f' h of f(h) - f(-h), f(2 h) - f(-2 h), f(3 h) - f(-3 h)


class DualLaw:
    """A law at an address that takes duals, each a value and its tangent in memory.

    Attributes
    ----------
    exact : bool
        Whether its tangents are those of duals. If not they are differences of sixth order, with a relative error of about 1e-12
        where the law is smooth.
    """

    def __init__(self, law: Any, whole: bool) -> None:
        self.exact = True
        try:
            self._compiled = cfunc(signature(DUAL_NUMBER))(on_memory(law, whole))
        except NumbaError:
            self._compiled, self.exact = cfunc(signature(types.float64))(differences(law, whole)), False
        self.address = int(self._compiled.address)

    def along(self, t: float, sizes: Sequence[int], n_u: int, y: Floats, dy: Floats, z: Floats, dz: Floats) -> Floats:
        """(n_u + states,): derivative of what it sets, and of the rates of its states, along a direction of y and z."""
        memory = [np.array(sizes, np.int64), np.stack([y, dy], axis=1), np.zeros((n_u, 2)), np.stack([z, dz], axis=1),
                  np.zeros((len(z), 2))]
        call = ctypes.CFUNCTYPE(None, ctypes.c_double, *[ctypes.c_void_p]*5)(self.address)
        call(t, *(each.ctypes.data for each in memory))
        return np.concatenate([memory[2][:, 1], memory[4][:, 1]])


def differences(law: Any, whole: bool) -> Callable[..., None]:
    """The same for a law on floats, by moving what it reads along its tangents."""
    def called(t, sizes, y, u, z, zdot):  # type: ignore[no-untyped-def]
        n = carray(sizes, 3)
        n_y, n_u, n_z = n[0], n[1], n[2]
        if whole:
            n_y, n_u, n_z = n[0] + n[1] + n[2], n[1] + n[2], 0
        Y, U, Z, R = carray(y, (n_y, 2)), carray(u, (n_u, 2)), carray(z, (n_z, 2)), carray(zdot, (n_z, 2))
        size = 0.0
        for j in range(n_y):
            size = max(size, abs(Y[j, 1])/max(1.0, abs(Y[j, 0])))
        for j in range(n_z):
            size = max(size, abs(Z[j, 1])/max(1.0, abs(Z[j, 0])))
        h = STEP/size if size > 0.0 else 0.0
        U[:], R[:] = 0.0, 0.0
        try:
            for k in range(-3, 4):
                controls, rates = np.zeros(n_u), np.zeros(n_z)
                law(t, n, Y[:, 0] + k*h*Y[:, 1], controls, Z[:, 0] + k*h*Z[:, 1], rates)
                if k == 0:
                    U[:, 0], R[:, 0] = controls, rates
                elif h > 0.0:
                    weight = WEIGHTS[abs(k) - 1]/h*(1.0 if k > 0 else -1.0)
                    U[:, 1] += weight*controls
                    R[:, 1] += weight*rates
        except Exception:                               # nothing could catch it: print it, and stop the run
            U[:] = np.nan
    return called
