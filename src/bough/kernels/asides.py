"""Whole sweeps that stand aside: compiled once for every kind of model, cached on disk, called by their addresses.

A kernel serves models of all kinds: what depends on the kind it calls through a table of addresses, ``units``, to which its tag
points.  An address is put there when it is first needed, as a dynamic linker does: only what runs is ever compiled.

    units     address of the linker | kind of model | an address for each sweep, 0 until it is called

Only addresses and integers cross: of what a sweep is called with, the names say what it is.  plan, pars, tables and ws are tables,
lane is the tag, all else is an int64.
"""
import ctypes
import inspect
from functools import cache
from pathlib import Path

import numpy as np
from llvmlite import ir
from numba import config, njit, types
from numba.core.imputils import lower_builtin
from numba.core.typing.templates import AbstractTemplate, infer_global, signature

from bough.kernels.jit import CACHE_DIRECTORY, OPTIONS, cached, compiling
from bough.kernels.lanes import LanesType, TableType, data_of
from bough.progress import compilation

LINKER, KIND, FIRST = range(3)
BENDS, LOOPS, HOLDS = 1, 2, 4                       # kinds of models, which add up
ASIDES: list = []                                   # by number
ROOM = 64                                           # for their addresses
TABLES = {"plan": TableType(types.int64), "tables": TableType(types.float64), "ws": TableType(types.float64)}
_I64 = ir.IntType(64)
_linked: dict = {}                                  # by its address, what a table of addresses is for
_failures: list = []                                # what went wrong in the linker, which nobody can catch there


def aside(function):
    """A sweep that is called, not inlined, and compiled once for all kernels; its first line is ``stand_aside()``."""
    if config.DISABLE_JIT:
        return function
    number, names = len(ASIDES), list(inspect.signature(function).parameters)
    ASIDES.append(cached(njit, forceinline=False, no_cpython_wrapper=True, no_cfunc_wrapper=True, **OPTIONS)(function))
    key = f"{function.__module__}.{function.__name__}"

    @infer_global(function, typing_key=key)
    class Call(AbstractTemplate):
        def generic(self, args, kws):
            return signature(types.none, *args)

    @lower_builtin(key, types.VarArg(types.Any))
    def call(context, builder, sig, args):
        units = builder.bitcast(args[0], _I64.as_pointer())
        place = builder.gep(units, [ir.Constant(_I64, FIRST + number)])
        with builder.if_then(builder.icmp_unsigned("==", builder.load(place), ir.Constant(_I64, 0)), likely=False):
            linker = builder.load(builder.gep(units, [ir.Constant(_I64, LINKER)]))
            link = ir.FunctionType(ir.VoidType(), [_I64, _I64]).as_pointer()
            builder.call(builder.inttoptr(linker, link), [builder.ptrtoint(units, _I64), ir.Constant(_I64, number)])
        taken = argument_types(names, sig.args[0], TableType(types.float64))
        values = [data_of(context, builder, t, value) if isinstance(to, TableType) else
                  value if isinstance(to, LanesType) else context.cast(builder, value, t, to)
                  for to, t, value in zip(taken, sig.args, args, strict=True)]
        native = context.call_conv.get_function_type(types.none, taken).as_pointer()
        context.call_conv.call_function(builder, builder.inttoptr(builder.load(place), native), types.none, taken, values)
        return context.get_dummy_value()
    return function


def argument_types(names, tag, pars):
    return tuple(tag if name == "lane" else pars if name == "pars" else TABLES.get(name, types.int64) for name in names)


@cache
def units_for(width, kind, own):
    """The table of addresses for models of a kind, in so many lanes; `own`: each lane has parameters of its own."""
    table = np.zeros(FIRST + ROOM, np.int64)
    table[LINKER], table[KIND] = ctypes.cast(_link, ctypes.c_void_p).value, kind
    _linked[table.ctypes.data] = table, width, own
    return table


def bound(*args):
    """The arguments of a kernel, which start with a model's tables, with the addresses for its kind before these, and nothing left
    of the ranks that tell the kind."""
    (plan, pars, tables), rest = (args[0], args[1:]) if isinstance(args[0], tuple) else (args[:3], args[3:])
    units = units_for(1 if rest[-1].ndim == 1 else 4, plan.ndim - 1, pars.ndim == 3)
    model = units, plan.reshape(-1), pars if config.DISABLE_JIT else pars.reshape(len(pars), -1), tables
    return (model, *rest) if isinstance(args[0], tuple) else (*model, *rest)


@ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.c_int64)
def _link(address, number):
    """Put the address of a sweep in its place; where it is not to be had, that of nothing."""
    table, width, own = _linked[address]
    try:
        table[FIRST + number] = address_of(ASIDES[number], width, int(table[KIND]), own)
    except BaseException as failure:
        _failures.append(failure)
        table[FIRST + number] = ctypes.cast(_nothing, ctypes.c_void_p).value


@ctypes.CFUNCTYPE(ctypes.c_int32)
def _nothing():
    return 0


def raise_failures():
    """After a kernel has returned."""
    if _failures:
        for table, *_ in _linked.values():
            table[FIRST:][table[FIRST:] == ctypes.cast(_nothing, ctypes.c_void_p).value] = 0
        failure = _failures[0]
        _failures.clear()
        raise failure


def address_of(unit, width, kind, own):
    """Load a sweep, or compile it."""
    tag = LanesType(width, bool(kind & BENDS), bool(kind & LOOPS), bool(kind & HOLDS))
    taken = argument_types(inspect.signature(unit.py_func).parameters, tag, TableType(types.float64, 2 if own else 1))
    marker = Path(CACHE_DIRECTORY) / f"{unit.__name__}-{width}{kind}{int(own)}.compiled"
    if marker.exists():
        unit.compile(taken)
    else:
        with compilation(unit.__name__), compiling(unit, width):
            unit.compile(taken)
        marker.touch()
    found = unit.overloads[taken]
    return found.library.get_pointer_to_function(found.fndesc.llvm_func_name)
