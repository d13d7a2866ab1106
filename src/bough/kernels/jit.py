"""How this package compiles: three decorators and one cache directory.

``leaf``    small algebra, inlined into whatever calls it, never cached by itself;
``aside``   a whole sweep: called, not inlined, so that it has the registers for itself, compiled once for a kind of model and
            cached on disk, see ``asides``;
``kernel``  what Python calls: compiled once for all kinds of models, cached on disk.

Numba's ``cache=True`` looks at the source file of the decorated function only: an edit of a leaf in another
file would leave a stale kernel.  So the cache lives in a directory named after a hash of every source file
that is compiled; any edit gives a new, empty directory.
"""
import hashlib
import os
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path

import numba
from numba import _dynfunc, config, njit
from numba.core.codegen import CPUCodeLibrary
from numba.core.cpu import CPUContext

COMPILED_FOLDERS = ("kernels", "sweeps", "integrate/compiled")
OPTIONS = {"fastmath": {"contract", "nsz", "arcp"}, "error_model": "numpy", "nogil": True, "_nrt": False}


def _cache_directory():
    package = Path(__file__).resolve().parent.parent
    digest = hashlib.sha256(f"{numba.__version__} {sys.version} {package}".encode())
    for source in sorted(file for folder in COMPILED_FOLDERS for file in (package / folder).rglob("*.py")):
        digest.update(source.relative_to(package).as_posix().encode() + b"\0" + source.read_bytes() + b"\0")
    home = os.environ.get("BOUGH_CACHE_DIR") or Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "bough"
    directory = Path(home) / digest.hexdigest()[:16]
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError:                                            # a home that cannot be written: keep it for this boot
        directory = Path(tempfile.gettempdir()) / f"bough-{os.getuid()}" / directory.name
    return str(directory)


CACHE_DIRECTORY = _cache_directory()


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
    return njit(forceinline=True, no_cpython_wrapper=True, no_cfunc_wrapper=True, **OPTIONS)(function)


def cached(decorator, **options):
    """A decorator of Numba's, with the cache on disk."""
    def decorate(function):
        previous, config.CACHE_DIR = config.CACHE_DIR, CACHE_DIRECTORY     # read once, while decorating
        try:
            return decorator(cache=True, **options)(function)
        finally:
            config.CACHE_DIR = previous
    return decorate


kernel = cached(njit, **OPTIONS)


@contextmanager
def compiling(whole, width):
    """While a kernel or a sweep is compiled: one state gains 15 % from packing its 3-vectors (SLP), lanes are packed already; and
    leaves are neither optimized nor made machine code of each by itself, but where they have been inlined."""
    previous, config.SLP_VECTORIZE = config.SLP_VECTORIZE, int(width == 1)
    optimize, finish = CPUCodeLibrary._optimize_final_module, CPUCodeLibrary._finalize_final_module
    execute = CPUContext.get_executable

    def finish_leaf(library):
        library._finalize_dynamic_globals()
        library._finalized = True

    def execute_leaf(context, library, fndesc, env):
        return _dynfunc.make_function(fndesc.lookup_module(), fndesc.qualname.split(".")[-1], "a leaf", 0, env, (library,))

    def unless_leaf(method, otherwise):
        return lambda self, *args: (method if (args[0] if args else self).name == whole.__name__ else otherwise)(self, *args)

    CPUCodeLibrary._optimize_final_module = unless_leaf(optimize, lambda library: None)
    CPUCodeLibrary._finalize_final_module = unless_leaf(finish, finish_leaf)
    CPUContext.get_executable = unless_leaf(execute, execute_leaf)
    try:
        yield
    finally:
        config.SLP_VECTORIZE = previous
        CPUCodeLibrary._optimize_final_module, CPUCodeLibrary._finalize_final_module = optimize, finish
        CPUContext.get_executable = execute
