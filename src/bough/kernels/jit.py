"""How this package compiles: two decorators and one cache directory.

``leaf``    small algebra, inlined into whatever calls it, never cached by itself;
``kernel``  what Python calls: cached on disk.

Numba's ``cache=True`` looks at the source file of the decorated function only: an edit of a leaf in another
file would leave a stale kernel.  So the cache lives in a directory named after a hash of every source file
that is compiled; any edit gives a new, empty directory.
"""
import hashlib
import os
import sys
from pathlib import Path

import numba
from numba import config, njit

COMPILED_FOLDERS = ("kernels", "sweeps", "integrate")
OPTIONS = dict(fastmath={"contract", "nsz", "arcp"}, error_model="numpy", nogil=True)


def _cache_directory():
    package = Path(__file__).resolve().parent.parent
    digest = hashlib.sha256(f"{numba.__version__} {sys.version}".encode())
    for source in sorted(file for folder in COMPILED_FOLDERS for file in (package / folder).rglob("*.py")):
        digest.update(source.relative_to(package).as_posix().encode() + b"\0" + source.read_bytes() + b"\0")
    home = os.environ.get("BOUGH_CACHE_DIR") or Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "bough"
    return str(Path(home) / digest.hexdigest()[:16])


CACHE_DIRECTORY = _cache_directory()


def leaf(function):
    return njit(forceinline=True, **OPTIONS)(function)


def kernel(function):
    previous, config.CACHE_DIR = config.CACHE_DIR, CACHE_DIRECTORY     # read once, while decorating
    try:
        return njit(cache=True, **OPTIONS)(function)
    finally:
        config.CACHE_DIR = previous
