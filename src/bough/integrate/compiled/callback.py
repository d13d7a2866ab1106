"""Compiled laws: inputs as a function of time and outputs, asked at every stage of every step.

A law reaches the stepping loops as an address, so that they compile once and stay cached whatever it does.  The loops know it by a
row of integers in the table of laws, behind which are the lists of what it reads and sets:

    sizes      three numbers for the law itself: nq, nv, nw; or how many outputs, inputs and states it has
    outputs    places in ws of what it reads
    inputs     entries of the controls that it sets; what several laws set is added up
    state      the first entry of x that is a state of its own
"""
import inspect
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from llvmlite import ir
from numba import carray, cfunc, njit, types
from numba.core.errors import NumbaError
from numba.extending import intrinsic

from bough.errors import StateError
from bough.kernels.jit import leaf
from bough.kernels.lanes import get_lane, put_lane, read, store, width_of, zero
from bough.sweeps import fields as f

# the table of laws: how many, whether outputs must be computed for them, which entry of x is the work of the inputs (0: none); then
# a row for each
N_LAWS, COMPUTED, WORK, LAWS = range(4)
ADDRESS, SIZES, N_OUTPUTS, N_INPUTS, N_STATES, OUTPUTS, INPUTS, STATE, LAW_ROW = 0, 1, 4, 5, 6, 7, 8, 9, 10

_DOUBLES, _INTEGERS = types.CPointer(types.float64), types.CPointer(types.int64)
_SIGNATURE = types.void(types.float64, _INTEGERS, _DOUBLES, _DOUBLES, _DOUBLES, _DOUBLES)


def law_options(who: str, outputs: Sequence[str] | None, inputs: Sequence[str] | None,
                states: Sequence[float]) -> tuple[tuple[str, ...] | None, tuple[str, ...] | None, tuple[float, ...]]:
    """Names of ports, None where none are given, and initial states, as tuples."""
    ports = [None if names is None else (names,) if isinstance(names, str) else tuple(names) for names in (outputs, inputs)]
    try:
        values = tuple(map(float, states))
    except (TypeError, ValueError):
        values = (np.nan,)
    if not np.isfinite(values).all():
        raise StateError(f"{who}: states is {states!r}; give a list of finite numbers")
    return ports[0], ports[1], values


class Controller:
    """A compiled law; made by the decorator `controller`."""

    def __init__(self, function: Callable[..., None], outputs: Sequence[str] | None = None, inputs: Sequence[str] | None = None,
                 states: Sequence[float] = (), period: float | None = None, delay: float = 0.0) -> None:
        self.function, self.name = function, getattr(function, "__name__", "controller")
        if (outputs is None) != (inputs is None):
            raise StateError(f"controller '{self.name}': give both outputs=[...] and inputs=[...], or neither")
        self.outputs, self.inputs, self.states = law_options(f"controller '{self.name}'", outputs, inputs, states)
        self.period, self.delay = period, delay
        self.form = self._form()
        self.check_arguments()
        self.inner = njit(boundscheck=True)(function)
        self.address = 0 if period is not None else self._compile()

    def _form(self) -> tuple[str, ...]:
        """The arguments that the function takes."""
        if self.outputs is None:
            return ("t", "q", "v", "wheels", "tau", "motors")
        own = () if not self.states else ("z",) if self.period is not None else ("z", "zdot")
        return ("t", "y", "u", *own)

    def check_arguments(self) -> None:
        try:
            inspect.signature(self.function).bind(*self.form)
        except TypeError as error:
            raise StateError(f"controller '{self.name}' is called as {self.name}({', '.join(self.form)}): {error}") from None
        if self.outputs is None and (self.states or self.period is not None or self.delay):
            raise StateError(f"controller '{self.name}': states, period and delay go with outputs=[...] and inputs=[...]; name "
                             "them")
        if self.delay and self.period is None:
            raise StateError(f"controller '{self.name}': delay is {self.delay!r}, but what is asked at every stage cannot wait; "
                             "give it a period")

    def _compile(self) -> int:
        inner, whole, own = self.inner, self.outputs is None, bool(self.states)

        def law(t, sizes, y, u, z, zdot):  # type: ignore[no-untyped-def]
            n = carray(sizes, 3)
            controls = carray(u, n[1] + n[2] if whole else n[1])
            try:
                if whole:
                    x = carray(y, n[0] + n[1] + n[2])
                    inner(t, x[:n[0]], x[n[0]:n[0] + n[1]], x[n[0] + n[1]:], controls[:n[1]], controls[n[1]:])
                elif own:
                    inner(t, carray(y, n[0]), controls, carray(z, n[2]), carray(zdot, n[2]))
                else:
                    inner(t, carray(y, n[0]), controls)
            except Exception:                           # nobody could catch it: let the run stop here, and say so
                controls[:] = np.nan

        try:
            self._compiled = cfunc(_SIGNATURE)(law)
        except NumbaError as error:
            reason = next((line.strip() for line in str(error).splitlines() if line.strip() and "pipeline" not in line), "")
            raise StateError(f"controller '{self.name}' cannot be compiled: {reason}; it is called as {self.name}("
                             f"{', '.join(self.form)}), fills what it sets in place, and may use what Numba compiles") from error
        return int(self._compiled.address)

    def __call__(self, *args: Any) -> None:
        self.function(*args)


def controller(function: Callable[..., None] | None = None, *, outputs: Sequence[str] | None = None,
               inputs: Sequence[str] | None = None, states: Sequence[float] = (), period: float | None = None,
               delay: float = 0.0) -> Any:
    """Compile a law.

    Without names it is `f(t, q, v, wheels, tau, motors)` and fills `tau` and `motors`, which come zeroed.  With names it is
    `f(t, y, u)`: `y` holds the named outputs one after the other, and it fills `u`, the named inputs.  It may use what Numba
    compiles.

    Parameters
    ----------
    outputs, inputs : sequence of str
        Names of `System.output` and `System.input`.
    states : sequence of float, optional
        Initial values of states of its own, which are integrated with the mechanics: it is then `f(t, y, u, z, zdot)` and fills
        `zdot` as well.  With a period: `f(t, y, u, z)`, and it changes `z` in place.
    period : float, optional
        Ask it every so many seconds and hold what it gives; without it, it is asked at every stage of every step.
    delay : float
        How long what it gives takes to act [s], with a period.

    Examples
    --------
    >>> import bough
    >>> @bough.controller
    ... def hold(t, q, v, wheels, tau, motors):
    ...     tau[0] = -10.0*q[0] - 2.0*v[0]
    >>> @bough.controller(outputs=["angle"], inputs=["motor"], states=[0.0])
    ... def integral(t, y, u, z, zdot):
    ...     zdot[0] = y[0]
    ...     u[0] = -3.0*z[0]
    """
    if function is None:
        return lambda function: Controller(function, outputs, inputs, states, period, delay)
    return Controller(function, outputs, inputs, states, period, delay)


@intrinsic
def call_address(typingctx, address, t, laws, sizes, scratch, y, u, z, zdot):
    """Call the law at `address` with the integers of `laws` from `sizes` on, and the doubles of `scratch` from y, u, z, zdot on."""
    def codegen(context, builder, sig, args):
        double, i64 = ir.DoubleType(), ir.IntType(64)
        law = ir.FunctionType(ir.VoidType(), [double, i64.as_pointer(), *[double.as_pointer()]*4])
        data = [context.make_array(sig.args[i])(context, builder, args[i]).data for i in (2, 4)]
        pointers = [builder.gep(data[0], [args[3]], source_etype=i64),
                    *(builder.gep(data[1], [i], source_etype=double) for i in args[5:])]
        builder.call(builder.inttoptr(args[0], law.as_pointer()), [args[1], *pointers])
        return context.get_dummy_value()
    i = types.int64
    return types.void(i, types.float64, laws, i, scratch, i, i, i, i), codegen


@leaf
def evaluate_laws(lane, plan, laws, scratch, ws, controls):
    """Inputs, and rates of the states of their own, of all compiled laws at the time and state in ws, lane by lane."""
    for k in range(laws[N_LAWS]):
        row = LAWS + k*LAW_ROW
        for j in range(laws[row + N_INPUTS]):
            store(lane, ws, controls + laws[laws[row + INPUTS] + j], zero(lane))
    for k in range(laws[N_LAWS]):
        row = LAWS + k*LAW_ROW
        for i in range(width_of(lane)):
            ask_law(lane, plan, laws, row, scratch, ws, controls, i)


@leaf
def ask_law(lane, plan, laws, row, scratch, ws, controls, i):
    """One law, for the state in lane i."""
    n_y, n_u, n_z = laws[row + N_OUTPUTS], laws[row + N_INPUTS], laws[row + N_STATES]
    x, rate = read(plan, f.WS_X) + laws[row + STATE], read(plan, f.WS_XDOT) + laws[row + STATE]
    u, z, zdot = n_y, n_y + n_u, n_y + n_u + n_z
    for j in range(n_y):
        scratch[j] = get_lane(lane, ws, laws[laws[row + OUTPUTS] + j], i)
    for j in range(n_u):
        scratch[u + j] = 0.0
    for j in range(n_z):
        scratch[z + j], scratch[zdot + j] = get_lane(lane, ws, x + j, i), 0.0
    call_address(laws[row + ADDRESS], get_lane(lane, ws, read(plan, f.WS_TIME), i), laws, row + SIZES, scratch, 0, u, z, zdot)
    for j in range(n_u):
        place = controls + laws[laws[row + INPUTS] + j]
        put_lane(lane, ws, place, i, get_lane(lane, ws, place, i) + scratch[u + j])
    for j in range(n_z):
        put_lane(lane, ws, rate + j, i, scratch[zdot + j])
