"""Compiled code on disk: where it is kept, and one file for each function, signature and processor.

The directory is named after a hash of all sources that are compiled, since a kernel contains leaves from other files: any edit
gives a new, empty directory.  The files are pickles, which run code when they are loaded, so a directory that somebody else could
write to is not used.

How this package compiles: three decorators.

``leaf``    small algebra, inlined into whatever calls it, never cached by itself;
``sweep``   a whole sweep: called, not inlined, so that it has the registers for itself; compiled once for each set of features and
            lane width, see ``linker``;
``kernel``  what Python calls: compiled once for all models.
"""

import atexit
import gc
import hashlib
import numba
import os
import pickle
import shutil
import sys
import tempfile
import threading
import uuid
import warnings
from bough.progress import compilation
from contextlib import contextmanager, suppress
from functools import cache
from numba import _dynfunc, config, njit
from numba.core import compiler
from numba.core.caching import NullCache
from numba.core.codegen import CPUCodegen, CPUCodeLibrary
from numba.core.compiler import CompilerBase
from numba.core.compiler_lock import global_compiler_lock
from numba.core.compiler_machinery import PassManager
from numba.core.cpu import CPUContext
from numba.core.event import install_recorder
from numba.core.serialize import dumps
from numba.core.typed_passes import IRLegalization, NativeLowering, NoPythonBackend, NopythonTypeInference, PreLowerStripPhis
from numba.core.types.functions import BaseFunction
from numba.core.untyped_passes import (DeadBranchPrune, FixupArgs, GenericRewrites, IRProcessing, ReconstructSSA,
                                       RewriteSemanticConstants, TranslateByteCode)
from pathlib import Path


COMPILED_FOLDERS = ("kernels", "sweeps", "integrate/compiled")


@cache
def cache_directory() -> Path:
    """The directory in use: the user's, or one of this process alone where that cannot be used."""
    problem = cache_problem()
    if not problem:
        return _user_directory()
    warnings.warn(f"bough: {problem}; kernels are compiled anew in every process; set BOUGH_CACHE_DIR to a folder of your own",
                  stacklevel=2)
    directory, owner = Path(tempfile.mkdtemp(prefix="bough-")), os.getpid()
    atexit.register(lambda: shutil.rmtree(directory, ignore_errors=True) if os.getpid() == owner else None)
    return directory


@cache
def cache_problem() -> str | None:
    """Why the user's directory cannot be used; None if it can.  Makes it if it is not there."""
    try:
        directory = _user_directory()
    except RuntimeError:                                                    # of pathlib: a user whom the system does not know
        return "there is no home directory"
    try:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        for folder in (directory.parent, directory):
            problem = unsafe(folder)
            if problem:
                return f"{folder} {problem}"
        if not os.access(directory, os.W_OK | os.X_OK):
            return f"{directory} cannot be written"
    except OSError as error:
        return f"{directory} cannot be written ({error.strerror})"
    return None


@cache
def _user_directory() -> Path:
    """BOUGH_CACHE_DIR, or a folder of the user's cache, and in it one for these sources."""
    home = os.environ.get("BOUGH_CACHE_DIR") or Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "bough"
    return Path(home).resolve() / source_hash()


def source_hash() -> str:
    """Of what is compiled, and of what compiles it."""
    package = Path(__file__).resolve().parent.parent
    digest = hashlib.sha256(f"{numba.__version__} {sys.version} {package}".encode())
    for source in sorted(file for folder in COMPILED_FOLDERS for file in (package / folder).rglob("*.py")):
        digest.update(source.relative_to(package).as_posix().encode() + b"\0" + source.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


def unsafe(directory: Path) -> str | None:
    """Why code from this directory is not to be trusted; Windows keeps users apart by other means."""
    if not hasattr(os, "getuid"):
        return None
    status = directory.stat()
    if status.st_uid not in (os.getuid(), 0):
        return "belongs to another user"
    if status.st_mode & 0o022:
        return "can be written by others"
    return None


class DiskCache(NullCache):
    """Numba's cache of one function: a file for each signature and processor, without an index that processes could spoil for
    each other.  A disk that is full or broken costs time, not the run."""

    def __init__(self, function):
        self.name = f"{function.__module__.rpartition('.')[2]}.{function.__qualname__}-{function.__code__.co_firstlineno}"
        self.read = None, None                                              # a file that was asked for, and what it holds

    @property
    def cache_path(self):
        return str(cache_directory())

    def path(self, signature, codegen) -> Path:
        key = repr((signature, codegen.magic_tuple(), numba.config.OPT)).encode()
        return cache_directory() / f"{self.name}-{hashlib.sha256(key).hexdigest()[:16]}.nbc"

    def holds(self, signature, target_context) -> bool:
        """Whether this signature has been compiled on this machine, and its file is whole."""
        target_context.refresh()
        path = self.path(signature, target_context.codegen())
        self.read = path, _whole(path)
        return self.read[1] is not None

    def load_overload(self, sig, target_context):
        target_context.refresh()
        path = self.path(sig, target_context.codegen())
        (known, data), self.read = self.read, (None, None)
        data = data if known == path else _whole(path)
        return None if data is None else compiler.CompileResult._rebuild(target_context, *pickle.loads(data))

    def save_overload(self, sig, cres):
        *parts, environments = cres._reduce()
        read = tuple(each for each in environments if each.consts)          # the others name files, which loading would import
        path, data = self.path(sig, cres.codegen), dumps((*parts, read))
        part = path.with_suffix(f".{uuid.uuid4().hex[:8]}")
        try:
            part.write_bytes(_digest(data) + data)
            part.replace(path)
        except OSError as error:
            _warn_once(f"bough: {path.parent} cannot be written ({error.strerror}); what is compiled now will be compiled again")
            with suppress(OSError):
                part.unlink(missing_ok=True)


DIGEST = 16


def _digest(data: bytes) -> bytes:
    return hashlib.blake2b(data, digest_size=DIGEST).digest()


def _whole(path: Path) -> bytes | None:
    """What a file of the cache holds behind its digest; None where it is missing or not as it was written: then it is compiled and
    written again."""
    try:
        data = path.read_bytes()
    except OSError:
        return None
    return data[DIGEST:] if _digest(data[DIGEST:]) == data[:DIGEST] else None


@cache
def _warn_once(text: str) -> None:
    warnings.warn(text, stacklevel=2)


# ---- jit -------------------------------------------------------------------------------------------------------------------
class LeanCompiler(CompilerBase):
    """Numba's passes without those that kernels have no use for (closures, array expressions, lifting, parallel loops, literal
    unrolling): half of the time of compiling is spent in Numba's own Python."""
    PASSES = (TranslateByteCode, FixupArgs, IRProcessing, RewriteSemanticConstants, DeadBranchPrune, GenericRewrites,
              ReconstructSSA, NopythonTypeInference, PreLowerStripPhis, IRLegalization, NativeLowering, NoPythonBackend)

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


def load_or_compile(dispatcher, signature, width, rounds=1):
    """Load a kernel or a sweep from disk; or compile it, with so many rounds of optimization, and say so.  One thread at a time:
    Numba fills its registries when it is first asked for anything."""
    with global_compiler_lock:
        if dispatcher._cache.holds(signature, dispatcher.targetctx):
            dispatcher.compile(signature)
        elif signature not in dispatcher.overloads:
            with compilation(dispatcher.__name__), compiling(dispatcher, width, rounds):
                dispatcher.compile(signature)
            release(dispatcher.overloads[signature].library)
            forget_leaves()
    return dispatcher.overloads[signature]


def release(library):
    """Let go of what a kernel or sweep was made from: its machine code is in memory and on disk."""
    library._codegen._engine._ee.remove_module(library._final_module)
    library._final_module = library._shared_module = library._compiled_object = None
    library._linking_libraries.clear()


LEAVES: set = set()                                 # that have been compiled, to be inlined
CALLED: set = set()                                 # functions whose calls have been resolved, see compiling
MANAGERS: dict = {}                                 # of the passes over functions, by optimization
MOST_LEAVES = 500                                   # that wait to be inlined again


def forget_leaves():
    """Forget the leaves when there are too many: each holds its intermediate code, and those for other features and lane widths
    are not needed again soon."""
    if sum(len(each.overloads) for each in LEAVES) > MOST_LEAVES:
        for each in LEAVES:
            each._make_finalizer()()
            each._reset_overloads()
        LEAVES.clear()
        for function in CALLED:
            function._resolved.clear()
            function._impl_keys.clear()
            for template in function.templates:
                getattr(template, "_compiled_overloads", {}).clear()


@contextmanager
def compiling(whole, width, rounds=1):
    """While this thread compiles a kernel or a sweep: one state gains 15 % from packing its 3-vectors (SLP), lanes are packed
    already; leaves are neither optimized nor turned into machine code by themselves, only where they have been inlined; and
    Python's garbage waits, which would take a tenth of the time to look for.

    Numba's lock keeps other threads from compiling meanwhile; what they do with code that is compiled already is left as it is."""
    owner = threading.get_ident()

    def optimize_rounds(library):
        for _ in range(rounds):
            optimize(library)

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
            CALLED.add(self)
            if args not in known:
                known[args] = method(self, context, args, kws)
            return known[args]
        return resolve

    def managed_once(method):
        """Numba makes a manager of passes for each function, and LLVM does not give back what these take."""
        def managers(self):
            key = self, config.OPT, config.SLP_VECTORIZE
            if key not in MANAGERS:
                MANAGERS[key] = method(self)
            return MANAGERS[key]
        return managers

    with global_compiler_lock:
        slp, optimize, finish = config.SLP_VECTORIZE, CPUCodeLibrary._optimize_final_module, CPUCodeLibrary._finalize_final_module
        execute, resolve, collecting = CPUContext.get_executable, BaseFunction.get_call_type, gc.isenabled()
        manage = CPUCodegen._function_pass_manager
        try:
            gc.disable()
            config.SLP_VECTORIZE = int(width == 1)
            CPUCodeLibrary._optimize_final_module = unless_leaf(optimize_rounds, lambda library: None)
            CPUCodeLibrary._finalize_final_module = unless_leaf(finish, finish_leaf)
            CPUContext.get_executable = unless_leaf(execute, execute_leaf)
            BaseFunction.get_call_type = resolve_once(resolve)
            CPUCodegen._function_pass_manager = managed_once(manage)
            with install_recorder("numba:compile") as events:
                yield
            LEAVES.update({event.data["dispatcher"] for _, event in events.buffer} - {whole})
        finally:
            config.SLP_VECTORIZE = slp
            CPUCodeLibrary._optimize_final_module, CPUCodeLibrary._finalize_final_module = optimize, finish
            CPUContext.get_executable, BaseFunction.get_call_type = execute, resolve
            CPUCodegen._function_pass_manager = manage
            if collecting:
                gc.enable()
