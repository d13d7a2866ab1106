"""Sweeps are compiled once for each set of features and lane width, cached on disk, and called through a table of addresses.

A kernel works for all models.  It calls sweeps through a sweep table, whose address is its tag.  An entry is filled in when it is
first needed, as a dynamic linker does, so only what runs is ever compiled:

    sweep table   address of the linker | address of each sweep, 0 until it is first called

Only addresses and integers are passed: plan, pars, tables, ws, route and spots are tables, lane is the tag, all else is int64.
"""
import ctypes
import inspect
import threading
from importlib import import_module
from typing import NamedTuple

import numpy as np
from llvmlite import ir
from numba import config, types
from numba.core.imputils import lower_builtin
from numba.core.typing.templates import AbstractTemplate, infer_global, signature

from bough.kernels.jit import cached, load_or_compile
from bough.kernels.lanes import LanesType, TableType, data_of

class Use(NamedTuple):
    """The features that change the code of a sweep (None: all); when it is called: only with a feature, never with one, only by
    one method; and how it is optimized."""
    features: tuple[str, ...] | None
    needs: str | None
    excludes: str | None
    method: str | None
    rounds: int


NAMES: list[str] = []                               # of all sweeps, "package.file.function", by number
SWEEPS: dict = {}                                   # those of the files that are imported, by name
USES: dict[str, Use] = {}                           # the corresponding Use
MOST_SWEEPS = 64                                    # number of addresses in a table
TABLES = {name: TableType(types.int64 if name in ("plan", "route") else types.float64)
          for name in ("plan", "tables", "route", "spots", "base")}
_I64 = ir.IntType(64)


def declare(package, files):
    """Number the sweeps of a package, {file: names of its sweeps}: so they are known before their files are imported."""
    NAMES.extend(f"{package}.{file}.{name}" for file, names in files.items() for name in names)


def sweep_named(name):
    """A sweep; its file is imported if it is not yet."""
    if name not in SWEEPS:
        import_module(name.rpartition(".")[0])
    return SWEEPS[name]


def sweep(function=None, *, features=None, needs=None, excludes=None, method=None, rounds=1):
    """A sweep that is called, not inlined, and compiled once for all kernels; its first line is ``noinline()``.

    `features`: those on which its code depends, itself or by what is inlined, and not by what it calls; models that differ in
    others share it (tests/kernels/test_sweep_features.py finds them).  "holds of loops": holds, in models with loops.

    For `bough warmup`: a feature it needs, one that excludes it, the method of dynamics that uses it.  `rounds` of optimization: a
    second one takes time, and is used only where measurements showed a gain."""
    if function is None:
        return lambda function: sweep(function, features=features, needs=needs, excludes=excludes, method=method, rounds=rounds)
    if config.DISABLE_JIT:
        return function
    key, names = f"{function.__module__}.{function.__name__}", list(inspect.signature(function).parameters)
    if key not in NAMES:
        raise ValueError(f"{key} has no number; give it one, where its package declares its sweeps")
    number = NAMES.index(key)
    SWEEPS[key] = cached(function, forceinline=False, no_cpython_wrapper=True, no_cfunc_wrapper=True)
    USES[key] = Use(features, needs, excludes, method, rounds)

    @infer_global(function, typing_key=key)
    class Call(AbstractTemplate):
        def generic(self, args, kws):
            return signature(types.none, *args)

    @lower_builtin(key, types.VarArg(types.Any))
    def call(context, builder, sig, args):
        address = _address(builder, builder.bitcast(args[0], _I64.as_pointer()), number)
        taken = argument_types(names, sig.args[0], TableType(types.float64))
        values = [data_of(context, builder, t, value) if isinstance(to, TableType) else
                  value if isinstance(to, LanesType) else context.cast(builder, value, t, to)
                  for to, t, value in zip(taken, sig.args, args, strict=True)]
        native = context.call_conv.get_function_type(types.none, taken).as_pointer()
        context.call_conv.call_function(builder, builder.inttoptr(address, native), types.none, taken, values)
        return context.get_dummy_value()
    return function


def _address(builder, table, number):
    """The address of a sweep: from the table, or from the linker."""
    known = builder.load(builder.gep(table, [ir.Constant(_I64, 1 + number)]))
    before = builder.block
    with builder.if_then(builder.icmp_unsigned("==", known, ir.Constant(_I64, 0)), likely=False):
        link = ir.FunctionType(_I64, [_I64, _I64]).as_pointer()
        linker = builder.inttoptr(builder.load(table), link)
        found = builder.call(linker, [builder.ptrtoint(table, _I64), ir.Constant(_I64, number)])
        missing = builder.block
    address = builder.phi(_I64)
    address.add_incoming(known, before)
    address.add_incoming(found, missing)
    return address


def argument_types(names, tag, pars):
    own = {"lane": tag, "pars": pars, "ws": TableType(types.float64, 3 if tag.tangents else 1)}
    return tuple(own.get(name) or TABLES.get(name, types.int64) for name in names)


# ---- the linker ------------------------------------------------------------------------------------------------------------
class SweepTable(NamedTuple):
    """Addresses of sweeps compiled for some features and lanes, with or without tangents; `own`: each lane has its own
    parameters, 2: these have tangents."""
    addresses: np.ndarray
    features: tuple
    width: int
    own: int
    tangents: int


_tables: dict = {}                                  # SweepTable by (features, width, own, tangents)
_by_address: dict = {}                              # SweepTable by the address of its addresses
_lock = threading.RLock()
FAILED: dict = {}                                   # by thread: the exception raised in the linker


def sweep_table(features, width, own, tangents=0):
    """The addresses for models with these features."""
    key = features, width, int(own), tangents
    found = _tables.get(key)
    if found is None:
        with _lock:
            found = _tables.get(key)
            if found is None:
                addresses = np.zeros(1 + MOST_SWEEPS, np.int64)
                addresses[0] = ctypes.cast(_link, ctypes.c_void_p).value
                found = SweepTable(addresses, *key)
                _by_address[addresses.ctypes.data] = found
                _tables[key] = found
    return found.addresses


def link(features, plan, pars, tables, ws):
    """Arguments of a kernel for a model: sweep table, plan, pars, tables.  Without the compiler, the features replace the
    table."""
    if config.DISABLE_JIT:
        return features, plan, pars, tables
    found = sweep_table(features, 1 if ws.ndim == 1 else 4, max(pars.ndim - 2, 0), 1 if ws.ndim == 3 else 0)
    return found, plan, pars.reshape(len(pars), -1), tables


@ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64, ctypes.c_int64)
def _link(table, number):
    """Find the address of a sweep and store it in the table.  After a failure, the address of a function that does nothing, so
    that the kernel returns: see raise_failure."""
    if threading.get_ident() not in FAILED:
        try:
            found = _by_address[table]
            with _lock:
                if not found.addresses[1 + number]:
                    found.addresses[1 + number] = compiled_address(sweep_named(NAMES[number]), found.features, found.width,
                                                                   found.own, found.tangents)
            return int(found.addresses[1 + number])
        except BaseException as error:
            FAILED[threading.get_ident()] = error
    return ctypes.cast(_nothing, ctypes.c_void_p).value


@ctypes.CFUNCTYPE(ctypes.c_int32)
def _nothing():
    return 0


def raise_failure() -> None:
    """After a kernel has returned: raise the exception of the linker, which could not propagate through the kernel.  The kernel's
    results are then invalid."""
    error = FAILED.pop(threading.get_ident(), None) if FAILED else None
    if error is not None:
        raise error


def use_of(dispatcher):
    return USES[f"{dispatcher.__module__}.{dispatcher.__name__}"]


def features_of(dispatcher, features):
    """Those of a model's features that change the code of a sweep, and the one that it needs, which decides how it is optimized."""
    use = use_of(dispatcher)
    if use.features is None:
        return features
    kept = {name for name, _, only_with in (each.partition(" of ") for each in (*use.features, use.needs or ""))
            if not only_with or getattr(features, only_with)}
    return features._replace(**{name: False for name in features._fields if name not in kept})


def sweep_signature(dispatcher, features, width, own, tangents=0):
    tag, pars = LanesType(width, features_of(dispatcher, features), tangents), TableType(types.float64, 1 + own)
    return argument_types(inspect.signature(dispatcher.py_func).parameters, tag, pars)


def sweeps_for(features, methods):
    """The sweeps that models with these features may call, with these methods of dynamics."""
    return [sweep for name in NAMES for sweep, use in [(sweep_named(name), USES[name])]
            if (use.needs is None or getattr(features, use.needs)) and not (use.excludes and getattr(features, use.excludes))
            and (use.method is None or use.method in methods)]


def compiled_address(dispatcher, features, width, own, tangents=0):
    """Address of a sweep, loaded from disk or compiled."""
    taken = features_of(dispatcher, features)
    twice = width == 4 or (taken.loops and not taken.flexible)    # as measured
    rounds = 2 if twice else use_of(dispatcher).rounds
    found = load_or_compile(dispatcher, sweep_signature(dispatcher, features, width, own, tangents), width, rounds)
    return found.library.get_pointer_to_function(found.fndesc.llvm_func_name)
