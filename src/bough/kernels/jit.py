"""Compiled code on disk: one file for each function, signature and processor.

The cache directory is named after a hash of all compiled sources, since a kernel contains leaves from other files: any edit
starts a new directory.  The files are pickles, which run code when loaded, so a directory that other users can write to is not
used.

The package compiles functions with four decorators:

``leaf``    small algebra, inlined into its callers, never cached by itself;
``routine`` a leaf that kernels call instead, since they need it in many places, and it is neither short nor often run;
``sweep``   a whole sweep: called, not inlined, so that it has all registers; compiled once for each set of features and lane
            width, see ``linker``;
``kernel``  called from Python: compiled once for all models.
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
from llvmlite.binding import Linkage
from llvmlite.binding.ffi import lib
from numba import _dynfunc, config, njit
from numba.core import compiler, errors
from numba.core.base import BaseContext
from numba.core.caching import NullCache
from numba.core.codegen import CPUCodegen, CPUCodeLibrary
from numba.core.compiler import CompilerBase
from numba.core.compiler_lock import global_compiler_lock
from numba.core.compiler_machinery import PassManager
from numba.core.cpu import CPUContext
from numba.core.event import install_recorder
from numba.core.postproc import PostProcessor
from numba.core.serialize import dumps
from numba.core.transforms import canonicalize_cfg
from numba.core.typed_passes import IRLegalization, NativeLowering, NoPythonBackend, NopythonTypeInference, PreLowerStripPhis
from numba.core.types.functions import BaseFunction
from numba.core.untyped_passes import (DeadBranchPrune, FixupArgs, GenericRewrites, IRProcessing, ReconstructSSA,
                                       RewriteSemanticConstants, TranslateByteCode)
from pathlib import Path
from types import SimpleNamespace


COMPILED_FOLDERS = ("kernels", "sweeps", "integrate/compiled")


@cache
def cache_directory() -> Path:
    """The directory in use: the user's, or a temporary one of this process if that cannot be used."""
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
    """Why the user's directory cannot be used; None if it can.  Creates it if necessary."""
    try:
        directory = _user_directory()
    except RuntimeError:                                                    # from pathlib: a user unknown to the system
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
    """BOUGH_CACHE_DIR, or a folder in the user's cache; in it a directory for these sources."""
    home = os.environ.get("BOUGH_CACHE_DIR") or Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "bough"
    return Path(home).resolve() / source_hash()


def source_hash() -> str:
    """Hash of all compiled sources, and of the compiler."""
    package = Path(__file__).resolve().parent.parent
    digest = hashlib.sha256(f"{numba.__version__} {sys.version} {package}".encode())
    for source in sorted(file for folder in COMPILED_FOLDERS for file in (package / folder).rglob("*.py")):
        digest.update(source.relative_to(package).as_posix().encode() + b"\0" + source.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


def unsafe(directory: Path) -> str | None:
    """Why code from this directory is not trusted; Windows separates users by other means."""
    if not hasattr(os, "getuid"):
        return None
    status = directory.stat()
    if status.st_uid not in (os.getuid(), 0):
        return "belongs to another user"
    if status.st_mode & 0o022:
        return "can be written by others"
    return None


class DiskCache(NullCache):
    """Numba's cache for one function: one file per signature and processor, without an index that processes could corrupt for
    each other.  If the disk is full or broken, the run only takes longer."""

    def __init__(self, function):
        self.name = f"{function.__module__.rpartition('.')[2]}.{function.__qualname__}-{function.__code__.co_firstlineno}"
        self.read = None, None                                              # the last file read, and its contents

    @property
    def cache_path(self):
        return str(cache_directory())

    def path(self, signature, codegen) -> Path:
        key = repr((signature, codegen.magic_tuple(), numba.config.OPT)).encode()
        return cache_directory() / f"{self.name}-{hashlib.sha256(key).hexdigest()[:16]}.nbc"

    def holds(self, signature, target_context) -> bool:
        """Whether this signature has been compiled on this machine and its file is intact."""
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
    """Contents of a cache file after its digest; None if it is missing or damaged: it is then compiled and written again."""
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
    """Numba's passes without those that kernels do not need (closures, array expressions, lifting, parallel loops, literal
    unrolling): half of the compile time is spent in Numba's own Python code."""
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
    """Numba checks on import whether SciPy has BLAS, which takes 0.2 s; this package requires SciPy, and no kernel uses BLAS."""
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


def routine(function):
    """A leaf that is called, not inlined: a kernel contains it once.  Its first line is ``noinline()``."""
    return njit(**INLINED | {"forceinline": False})(function)


def cached(function, **options):
    """A Numba function with a disk cache."""
    dispatcher = njit(**options, **OPTIONS)(function)
    if not config.DISABLE_JIT:
        dispatcher._cache = DiskCache(function)
    return dispatcher


def kernel(function):
    return cached(function)


def load_or_compile(dispatcher, signature, width, rounds=1):
    """Load a kernel or a sweep from disk, or compile it with a number of optimization rounds and print a message.  One thread at
    a time: Numba fills its registries on first use."""
    with global_compiler_lock:
        if signature in dispatcher.overloads:
            pass
        elif dispatcher._cache.holds(signature, dispatcher.targetctx):
            dispatcher.compile(signature)
        else:
            with compilation(dispatcher.__name__), compiling(dispatcher, width, rounds):
                dispatcher.compile(signature)
            release(dispatcher.overloads[signature].library)
            forget_leaves()
    return dispatcher.overloads[signature]


def release(library):
    """Free the intermediate code of a kernel or sweep: its machine code is in memory and on disk."""
    library._codegen._engine._ee.remove_module(library._final_module)
    library._final_module = library._shared_module = library._compiled_object = None
    library._linking_libraries.clear()


LEAVES: set = set()                                 # compiled leaves, for inlining
CALLED: set = set()                                 # functions whose calls have been resolved, see compiling
MANAGERS: dict = {}                                 # pass managers for functions, by optimization level
SIZES: dict = {}                                    # sizes of LLVM's types, by name
PLAIN_TEXT = SimpleNamespace(**dict.fromkeys(("code", "errmsg", "filename", "indicate", "highlight", "reset"), lambda text: text))
MOST_LEAVES = 400                                   # limit on the number of leaves kept of those that depend on features


def of_features(leaf):
    """Whether a leaf is compiled for each set of features: whether it takes the tag."""
    return any(hasattr(each, "features") for signature in leaf.overloads for each in signature)


def forget_leaves():
    """Forget the leaves that depend on features if there are too many: each holds its intermediate code, and those for other
    features and lane widths are seldom needed again soon.  The others, the algebra on numbers, serve all models."""
    leaves = {each for each in LEAVES if of_features(each)}
    if sum(len(each.overloads) for each in leaves) > MOST_LEAVES:
        for each in leaves:
            each._make_finalizer()()
            each._reset_overloads()
        LEAVES.difference_update(leaves)
        for function in CALLED:
            function._resolved.clear()
            function._impl_keys.clear()
            for template in function.templates:
                getattr(template, "_compiled_overloads", {}).clear()


@contextmanager
def compiling(whole, width, rounds=1):
    """Settings while this thread compiles a kernel or a sweep.  SLP vectorization, which gains 15 % for one state (lanes are
    packed already); leaves are optimized only where they have been inlined; garbage collection is paused, which would take a
    tenth of the time; and Numba does without what only its generators, its colored messages and its profilers need.

    Numba's lock keeps other threads from compiling meanwhile; code compiled by others is not affected."""
    owner = threading.get_ident()

    def optimize_rounds(library):
        for function in library._final_module.functions:                    # leaves and routines: nobody else calls these copies
            if function.linkage == Linkage.linkonce_odr:
                function.linkage = "internal"
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
        """Cache the types of each operation: Numba resolves each a*b again, which takes a millisecond."""
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
        """Reuse pass managers: Numba creates one for each function, and LLVM does not release their memory."""
        def managers(self):
            key = self, config.OPT, config.SLP_VECTORIZE
            if key not in MANAGERS:
                MANAGERS[key] = method(self)
            return MANAGERS[key]
        return managers

    def postprocess(function_ir, emit_dels=False, extend_lifetimes=False):
        """Lifetimes of variables are needed only where they end in the code; after each pass it is enough to order the blocks."""
        if emit_dels:
            return lifetimes(function_ir, emit_dels, extend_lifetimes)
        function_ir.func_ir.blocks = canonicalize_cfg(function_ir.func_ir.blocks)
        function_ir.func_ir.generator_info = None

    def size_once(context, t):
        """Sizes of types: Numba has LLVM read a module for each variable."""
        if str(t) not in SIZES:
            SIZES[str(t)] = size(context, t)
        return SIZES[str(t)]

    optimize, lifetimes, size = CPUCodeLibrary._optimize_final_module, PostProcessor.run, BaseContext.get_abi_sizeof
    settings = [
        (config, "SLP_VECTORIZE", int(width == 1)),
        (CPUCodeLibrary, "_optimize_final_module", unless_leaf(optimize_rounds, lambda library: None)),
        (CPUCodeLibrary, "_finalize_final_module", unless_leaf(CPUCodeLibrary._finalize_final_module, finish_leaf)),
        (CPUContext, "get_executable", unless_leaf(CPUContext.get_executable, execute_leaf)),
        (BaseFunction, "get_call_type", resolve_once(BaseFunction.get_call_type)),
        (CPUCodegen, "_function_pass_manager", managed_once(CPUCodegen._function_pass_manager)),
        (PostProcessor, "run", postprocess),
        (BaseContext, "get_abi_sizeof", size_once),
        (errors, "_termcolor_inst", PLAIN_TEXT),
        (lib._lock, "_cblist", ())]                                         # llvmlite's: two events for each call of LLVM
    with global_compiler_lock:
        settings = [each for each in settings if hasattr(each[0], each[1])]             # another Numba may lack some
        collecting, before = gc.isenabled(), [(where, name, getattr(where, name)) for where, name, _ in settings]
        try:
            gc.disable()
            for each in settings:
                setattr(*each)
            with install_recorder("numba:compile") as events:
                yield
            LEAVES.update({event.data["dispatcher"] for _, event in events.buffer} - {whole})
        finally:
            for each in before:
                setattr(*each)
            if collecting:
                gc.enable()
