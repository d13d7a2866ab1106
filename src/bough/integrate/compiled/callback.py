"""Compiled laws: inputs as a function of time and outputs, evaluated at every stage of every step.

A law is passed to the stepping loops as an address, so that they compile once and stay cached whatever the law does.  For the
loops it is a row of integers in the table of laws, followed by lists of what it reads and sets:

    sizes      three numbers for the law itself: nq, nv, nw; or its numbers of outputs, inputs and states
    outputs    positions in ws of what it reads
    inputs     entries of the controls that it sets; contributions of several laws are added
    state      first entry of x that is one of its own states
"""
from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from llvmlite import ir
from numba import carray, cfunc, njit, types
from numba.core.errors import NumbaError
from numba.extending import intrinsic

from bough.errors import StateError, name_list
from bough.kernels.jit import leaf
from bough.kernels.lanes import (add_lane, duals_only, get_lane, get_tangent, put_lane, put_tangent, read, store, width_of,
                                 zero)
from bough.sweeps import fields as f

# the table of laws: number of laws, whether they need outputs, entry of x with the work of the inputs (0: none); then a row for
# each
N_LAWS, COMPUTED, WORK, LAWS = range(4)
ADDRESS, SIZES, N_OUTPUTS, N_INPUTS, N_STATES, OUTPUTS, INPUTS, STATE, LAW_ROW = 0, 1, 4, 5, 6, 7, 8, 9, 10


def signature(number: Any) -> Any:
    """Signature of a law on such numbers: time, sizes; outputs, inputs, states and their rates."""
    return types.void(types.float64, types.CPointer(types.int64), *[types.CPointer(number)]*4)


def law_options(who: str, outputs: Sequence[str] | None, inputs: Sequence[str] | None,
                states: Sequence[float]) -> tuple[tuple[str, ...] | None, tuple[str, ...] | None, tuple[float, ...]]:
    """Names of ports (None if not given) and initial states, as tuples."""
    ports = [None if names is None else tuple(name_list(f"{who}: {what}", names))
             for what, names in (("outputs", outputs), ("inputs", inputs))]
    try:
        values = tuple(map(float, states))
    except (TypeError, ValueError, OverflowError):
        values = (np.nan,)
    if not np.isfinite(values).all():
        raise StateError(f"{who}: states is {states!r}; give a list of finite numbers")
    return ports[0], ports[1], values


def check_call(function: Callable[..., Any], form: Sequence[str], what: str, remedy: str = "") -> None:
    """Raise if a function does not take these arguments."""
    try:
        inspect.signature(function).bind(*form)
    except TypeError as error:
        raise StateError(f"{what}: {error}{remedy}") from None
    except ValueError:                                                      # builtins without a signature
        pass


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

    def __reduce__(self) -> Any:
        """Compiled again in another process: its address is valid in this process only."""
        return Controller, (self.function, self.outputs, self.inputs, self.states, self.period, self.delay)

    def with_states(self, states: Sequence[float]) -> Controller:
        """The same with other initial states, compiled once: values that differ between runs can be constant states."""
        twin = Controller.__new__(Controller)
        twin.__dict__.update(self.__dict__)
        twin.states = law_options(f"controller '{self.name}'", self.outputs, self.inputs, states)[2]
        if len(twin.states) != len(self.states):
            raise StateError(f"controller '{self.name}': states is {states!r}; give {len(self.states)} numbers")
        return twin

    def _form(self) -> tuple[str, ...]:
        """The arguments of the function."""
        if self.outputs is None:
            return ("t", "q", "v", "wheels", "tau", "motors")
        own = () if not self.states else ("z",) if self.period is not None else ("z", "zdot")
        return ("t", "y", "u", *own)

    def check_arguments(self) -> None:
        check_call(self.function, self.form, f"controller '{self.name}' is called as {self.name}({', '.join(self.form)})")
        if self.outputs is None and (self.states or self.period is not None or self.delay):
            raise StateError(f"controller '{self.name}': states, period and delay go with outputs=[...] and inputs=[...]; name "
                             "them")
        if self.delay and self.period is None:
            raise StateError(f"controller '{self.name}': delay is {self.delay!r}, but what is asked at every stage cannot wait; "
                             "give it a period")

    def _compile(self) -> int:
        try:
            self._compiled = cfunc(signature(types.float64))(on_memory(self.on_arrays, self.outputs is None))
        except NumbaError as error:
            reason = next((line.strip() for line in str(error).splitlines() if line.strip() and "pipeline" not in line), "")
            raise StateError(f"controller '{self.name}' cannot be compiled: {reason}; it is called as {self.name}("
                             f"{', '.join(self.form)}), fills what it sets in place, and may use what Numba compiles") from error
        return int(self._compiled.address)

    @cached_property
    def on_arrays(self) -> Any:
        """All forms as one, compiled for its arguments: (t, sizes, y, u, z, rates); for a law with a period, its new states are
        the rates."""
        inner, whole, own, sampled = self.inner, self.outputs is None, bool(self.states), self.period is not None

        def law(t, n, y, u, z, rates):  # type: ignore[no-untyped-def]
            if whole:
                inner(t, y[:n[0]], y[n[0]:n[0] + n[1]], y[n[0] + n[1]:], u[:n[1]], u[n[1]:])
            elif own and sampled:
                rates[:] = z
                inner(t, y, u, rates)
            elif own:
                inner(t, y, u, z, rates)
            else:
                inner(t, y, u)
        return njit(law)

    @cached_property
    def on_duals(self) -> Any:
        """The law with derivatives, a `DualLaw`."""
        from bough.integrate.compiled.dual_laws import DualLaw
        return DualLaw(self.on_arrays, self.outputs is None)

    def __call__(self, *args: Any) -> None:
        self.function(*args)


def on_memory(law: Any, whole: bool) -> Callable[..., None]:
    """A law on arrays as one on memory; `whole`: it takes the whole state, see `sizes`."""
    def called(t, sizes, y, u, z, zdot):  # type: ignore[no-untyped-def]
        n = carray(sizes, 3)
        n_y, n_u, n_z = n[0], n[1], n[2]
        if whole:
            n_y, n_u, n_z = n[0] + n[1] + n[2], n[1] + n[2], 0
        controls = carray(u, n_u)
        try:
            law(t, n, carray(y, n_y), controls, carray(z, n_z), carray(zdot, n_z))
        except Exception:                               # nothing could catch it: print it, and stop the run
            controls[:] = np.nan
    return called


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
    """Call the law at `address` with the integers of `laws` from `sizes` on, and the doubles of `scratch` from y, u, z, zdot
    on."""
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
    """Inputs, and rates of the laws' own states, of all compiled laws at the time and state in ws, lane by lane."""
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
    """Evaluate one law for the state in lane i."""
    n_y, n_u, n_z, d = laws[row + N_OUTPUTS], laws[row + N_INPUTS], laws[row + N_STATES], doubles_of(lane)
    x, rate = read(plan, f.WS_X) + laws[row + STATE], read(plan, f.WS_XDOT) + laws[row + STATE]
    u, z, zdot = n_y*d, (n_y + n_u)*d, (n_y + n_u + n_z)*d
    for j in range(n_y):
        give(lane, ws, laws[laws[row + OUTPUTS] + j], i, scratch, j*d)
    for j in range(n_z):
        give(lane, ws, x + j, i, scratch, z + j*d)
    for j in range(u, z):
        scratch[j] = 0.0
    for j in range(zdot, zdot + n_z*d):
        scratch[j] = 0.0
    call_address(laws[row + ADDRESS], get_lane(lane, ws, read(plan, f.WS_TIME), i), laws, row + SIZES, scratch, 0, u, z, zdot)
    for j in range(n_u):
        add_answer(lane, ws, controls + laws[laws[row + INPUTS] + j], i, scratch, u + j*d)
    for j in range(n_z):
        put_lane(lane, ws, rate + j, i, 0.0)
        add_answer(lane, ws, rate + j, i, scratch, zdot + j*d)


# ---- numbers of lanes as laws see them: a dual is its value and its tangent -------------------------------------------
@duals_only(otherwise=lambda lane: 1)
def doubles_of(lane):
    """Number of doubles in a number."""
    return 2


def _give_value(lane, ws, at, i, scratch, to):
    scratch[to] = get_lane(lane, ws, at, i)


@duals_only(otherwise=_give_value)
def give(lane, ws, at, i, scratch, to):
    """The number at `at` in lane i."""
    scratch[to], scratch[to + 1] = get_lane(lane, ws, at, i), get_tangent(lane, ws, at, i)


@duals_only(otherwise=lambda lane, ws, at, i, scratch, source: add_lane(lane, ws, at, i, scratch[source]))
def add_answer(lane, ws, at, i, scratch, source):
    """Add the result of a law to the number at `at` in lane i."""
    value, tangent = get_lane(lane, ws, at, i) + scratch[source], get_tangent(lane, ws, at, i) + scratch[source + 1]
    put_lane(lane, ws, at, i, value)
    put_tangent(lane, ws, at, i, tangent)
