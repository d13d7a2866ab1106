"""Controllers: joint and motor torques as a function of time and state.

A compiled one reaches the stepping loops as an address, so that they compile once and stay cached whatever it does.
"""
import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba import carray, cfunc, njit, types
from numba.core.errors import NumbaError
from numba.extending import intrinsic

from bough.errors import StateError
from bough.kernels.jit import leaf
from bough.kernels.lanes import get_lane, put_lane, read, width_of
from bough.sweeps import fields as f

_POINTER = types.CPointer(types.float64)
_DOUBLES = ctypes.POINTER(ctypes.c_double)
_SIGNATURE = types.void(types.float64, types.int64, types.int64, types.int64, _POINTER, _POINTER)


class Controller:
    """A compiled control law; made by the decorator `controller`."""

    def __init__(self, function: Callable[..., None]):
        self.function = function
        inner = njit(boundscheck=True)(function)

        def law(t: Any, nq: Any, nv: Any, nw: Any, x_pointer: Any, u_pointer: Any) -> None:
            x, u = carray(x_pointer, nq + nv + nw), carray(u_pointer, nv + nw)
            try:
                inner(t, x[:nq], x[nq:nq + nv], x[nq + nv:], u[:nv], u[nv:])
            except Exception:                           # nobody could catch it: let the run stop here, and say so
                u[:] = np.nan

        try:
            self._compiled = cfunc(_SIGNATURE)(law)
        except NumbaError as error:
            reason = next((line.strip() for line in str(error).splitlines() if line.strip() and "pipeline" not in line), "")
            name = getattr(function, "__name__", "controller")
            raise StateError(f"controller '{name}' cannot be compiled: {reason}; it is called as {name}(t, q, v, wheels, tau, "
                             "motors), fills tau and motors, and may use what Numba compiles") from error
        self.address: int = self._compiled.address

    def fill(self, t: float, model: Any, x: np.ndarray, u: np.ndarray) -> None:
        """Put the controls at t and state x into u, as the loops do; NaN if the function raises."""
        u[:] = 0.0
        pointers = [row.ctypes.data_as(_DOUBLES) for row in (x, u)]
        self._compiled.ctypes(t, model.nq, model.nv, model.nw, *pointers)

    def __call__(self, t: float, q: np.ndarray, v: np.ndarray, wheels: np.ndarray, tau: np.ndarray, motors: np.ndarray) -> None:
        self.function(t, q, v, wheels, tau, motors)


def controller(function: Callable[..., None]) -> Controller:
    """Compile a control law `f(t, q, v, wheels, tau, motors)` that fills `tau` and `motors` (they come zeroed).

    It is called at every stage of every step, inside the compiled loop; it may use what Numba compiles.

    >>> import bough
    >>> @bough.controller
    ... def hold(t, q, v, wheels, tau, motors):
    ...     tau[0] = -10.0*q[0] - 2.0*v[0]
    """
    return Controller(function)


@intrinsic
def call_address(typingctx, address, t, nq, nv, nw, ws, x, u):
    """Call the law at `address` with the doubles of a 1-D ws from x (state) and u (controls) on."""
    def codegen(context, builder, sig, args):
        address_, t_, nq_, nv_, nw_, ws_, x_, u_ = args
        double, i64 = ir.DoubleType(), ir.IntType(64)
        law = ir.FunctionType(ir.VoidType(), [double, i64, i64, i64, double.as_pointer(), double.as_pointer()])
        data = context.make_array(sig.args[5])(context, builder, ws_).data
        pointers = [builder.gep(data, [i], source_etype=double) for i in (x_, u_)]
        builder.call(builder.inttoptr(address_, law.as_pointer()), [t_, nq_, nv_, nw_, *pointers])
        return context.get_dummy_value()
    i = types.int64
    return types.void(i, types.float64, i, i, i, ws, i, i), codegen


@leaf
def evaluate_controls(lane, plan, address, scratch, ws, controls):
    """Controls of the compiled law at the time and state in ws, lane by lane."""
    nq, nv, nw = read(plan, f.NQ), read(plan, f.NV), read(plan, f.N_WHEELS)
    x, u = read(plan, f.WS_X), read(plan, f.N_X)
    for i in range(width_of(lane)):
        for j in range(nq + nv + nw):
            scratch[j] = get_lane(lane, ws, x + j, i)
        for j in range(nv + nw):
            scratch[u + j] = 0.0
        call_address(address, get_lane(lane, ws, read(plan, f.WS_TIME), i), nq, nv, nw, scratch, 0, u)
        for j in range(nv + nw):
            put_lane(lane, ws, controls + j, i, scratch[u + j])
