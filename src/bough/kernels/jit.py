"""How this package compiles: three decorators.

``leaf``    small algebra, inlined into whatever calls it, never cached by itself;
``sweep``   a whole sweep: called, not inlined, so that it has the registers for itself; compiled once for each set of features and
            lane width, see ``linker``;
``kernel``  what Python calls: compiled once for all models.
"""
import threading
from contextlib import contextmanager

from numba import _dynfunc, config, njit
from numba.core.codegen import CPUCodeLibrary
from numba.core.compiler import CompilerBase
from numba.core.compiler_lock import global_compiler_lock
from numba.core.compiler_machinery import PassManager
from numba.core.cpu import CPUContext
from numba.core.typed_passes import (AnnotateTypes, IRLegalization, NativeLowering, NoPythonBackend, NopythonTypeInference,
                                     PreLowerStripPhis)
from numba.core.types.functions import BaseFunction
from numba.core.untyped_passes import (DeadBranchPrune, FixupArgs, GenericRewrites, IRProcessing, ReconstructSSA,
                                       RewriteSemanticConstants, TranslateByteCode)

from bough.kernels.cache import DiskCache
from bough.progress import compilation


class LeanCompiler(CompilerBase):
    """Numba's passes without those that kernels have no use for (closures, array expressions, lifting, parallel loops, literal
    unrolling): half of the time of compiling is spent in Numba's own Python."""
    PASSES = (TranslateByteCode, FixupArgs, IRProcessing, RewriteSemanticConstants, DeadBranchPrune, GenericRewrites,
              ReconstructSSA, NopythonTypeInference, PreLowerStripPhis, IRLegalization, AnnotateTypes, NativeLowering,
              NoPythonBackend)

    def define_pipelines(self):
        manager = PassManager("lean")
        for each in self.PASSES:
            manager.add_pass(each, each.__name__)
        manager.finalize()
        return [manager]


OPTIONS = {"fastmath": {"contract", "nsz", "arcp"}, "error_model": "numpy", "nogil": True, "_nrt": False,
           "pipeline_class": LeanCompiler}
INLINED = {"forceinline": True, "no_cpython_wrapper": True, "no_cfunc_wrapper": True, **OPTIONS}


def _start_numba():
    """Numba asks at its start whether SciPy has BLAS, which takes 0.2 s; SciPy comes with this package, and no kernel uses it."""
    try:
        import numba.np.linalg as linalg
        asked, linalg.ensure_blas = linalg.ensure_blas, lambda: None
    except (ImportError, AttributeError):
        return
    try:
        import numba.np.arraymath  # noqa: F401
    finally:
        linalg.ensure_blas = asked


_start_numba()


def leaf(function):
    return njit(**INLINED)(function)


def cached(function, **options):
    """A function of Numba's, kept on disk."""
    dispatcher = njit(**options, **OPTIONS)(function)
    if not config.DISABLE_JIT:
        dispatcher._cache = DiskCache(function)
    return dispatcher


def kernel(function):
    return cached(function)


def load_or_compile(dispatcher, signature, width):
    """Load a kernel or a sweep from disk; or compile it, and say so.  One thread at a time: Numba fills its registries when it is
    first asked for anything."""
    with global_compiler_lock:
        if dispatcher._cache.holds(signature, dispatcher.targetctx):
            dispatcher.compile(signature)
        elif signature not in dispatcher.overloads:
            with compilation(dispatcher.__name__), compiling(dispatcher, width):
                dispatcher.compile(signature)
    return dispatcher.overloads[signature]


@contextmanager
def compiling(whole, width):
    """While this thread compiles a kernel or a sweep: one state gains 15 % from packing its 3-vectors (SLP), lanes are packed
    already; and leaves are neither optimized nor turned into machine code by themselves, only where they have been inlined.

    Numba's lock keeps other threads from compiling meanwhile; what they do with code that is compiled already is left as it is."""
    owner = threading.get_ident()

    def finish_leaf(library):
        library._finalize_dynamic_globals()
        library._finalized = True

    def execute_leaf(context, library, fndesc, env):
        return _dynfunc.make_function(fndesc.lookup_module(), fndesc.qualname.split(".")[-1], "a leaf", 0, env, (library,))

    def unless_leaf(method, otherwise):
        def chosen(self, *args):
            mine = threading.get_ident() == owner and (args[0] if args else self).name != whole.__name__
            return (otherwise if mine else method)(self, *args)
        return chosen

    def resolve_once(method):
        """Numba looks up the types of each a*b anew, which takes a millisecond."""
        def resolve(self, context, args, kws):
            if kws or threading.get_ident() != owner:
                return method(self, context, args, kws)
            known = self.__dict__.setdefault("_resolved", {})
            if args not in known:
                known[args] = method(self, context, args, kws)
            return known[args]
        return resolve

    with global_compiler_lock:
        slp, optimize, finish = config.SLP_VECTORIZE, CPUCodeLibrary._optimize_final_module, CPUCodeLibrary._finalize_final_module
        execute, resolve = CPUContext.get_executable, BaseFunction.get_call_type
        try:
            config.SLP_VECTORIZE = int(width == 1)
            CPUCodeLibrary._optimize_final_module = unless_leaf(optimize, lambda library: None)
            CPUCodeLibrary._finalize_final_module = unless_leaf(finish, finish_leaf)
            CPUContext.get_executable = unless_leaf(execute, execute_leaf)
            BaseFunction.get_call_type = resolve_once(resolve)
            yield
        finally:
            config.SLP_VECTORIZE = slp
            CPUCodeLibrary._optimize_final_module, CPUCodeLibrary._finalize_final_module = optimize, finish
            CPUContext.get_executable, BaseFunction.get_call_type = execute, resolve
