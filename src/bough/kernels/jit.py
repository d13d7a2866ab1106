"""How this package compiles: three decorators and one cache directory.

``leaf``    small algebra, inlined into whatever calls it, never cached by itself;
``aside``   a whole sweep: called, not inlined, so that it has the registers for itself, and is compiled once for all kernels of a
            process; its first line is ``stand_aside()``;
``kernel``  what Python calls: cached on disk.

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
from numba import config, njit
from numba.core.codegen import CPUCodeLibrary

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


ASIDE: list[str] = []                     # what is optimised by itself


def aside(function):
    ASIDE.append(function.__name__)
    return njit(forceinline=False, no_cpython_wrapper=True, no_cfunc_wrapper=True, **OPTIONS)(function)


def kernel(function):
    previous, config.CACHE_DIR = config.CACHE_DIR, CACHE_DIRECTORY     # read once, while decorating
    try:
        return njit(cache=True, **OPTIONS)(function)
    finally:
        config.CACHE_DIR = previous


@contextmanager
def compiling(kernel, lanes):
    """While a kernel is first called: one state gains 15 % from packing its 3-vectors (SLP), lanes are packed already; and leaves
    are optimised where they have been inlined, in the kernel or what stands aside, not each by itself before: that saves a third
    of the time."""
    previous, config.SLP_VECTORIZE = config.SLP_VECTORIZE, int(lanes.width == 1)
    optimise = getattr(CPUCodeLibrary, "_optimize_final_module", None)
    if optimise is not None:
        whole = (kernel.__name__, *ASIDE)
        CPUCodeLibrary._optimize_final_module = (
            lambda library: optimise(library) if any(name in library.name for name in whole) else None)
    try:
        yield
    finally:
        config.SLP_VECTORIZE = previous
        if optimise is not None:
            CPUCodeLibrary._optimize_final_module = optimise
