"""Compiled code on disk: where it is kept, and one file for each function, signature and processor.

The directory is named after a hash of all sources that are compiled, since a kernel contains leaves from other files: any edit
gives a new, empty directory.  The files are pickles, which run code when they are loaded, so a directory that somebody else could
write to is not used.
"""
import atexit
import hashlib
import os
import pickle
import shutil
import sys
import tempfile
import uuid
import warnings
from functools import cache
from pathlib import Path

import numba
from numba.core import compiler
from numba.core.caching import NullCache
from numba.core.serialize import dumps

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
    directory = _user_directory()
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

    @property
    def cache_path(self):
        return str(cache_directory())

    def path(self, signature, codegen) -> Path:
        key = repr((signature, codegen.magic_tuple(), numba.config.OPT)).encode()
        return cache_directory() / f"{self.name}-{hashlib.sha256(key).hexdigest()[:16]}.nbc"

    def holds(self, signature, target_context) -> bool:
        """Whether this signature has been compiled on this machine."""
        target_context.refresh()
        return self.path(signature, target_context.codegen()).exists()

    def load_overload(self, sig, target_context):
        target_context.refresh()
        try:
            with self.path(sig, target_context.codegen()).open("rb") as file:
                payload = pickle.load(file)
        except (OSError, EOFError, pickle.UnpicklingError):
            return None
        return compiler.CompileResult._rebuild(target_context, *payload)

    def save_overload(self, sig, cres):
        path, data = self.path(sig, cres.codegen), dumps(cres._reduce())
        part = path.with_suffix(f".{uuid.uuid4().hex[:8]}")
        try:
            part.write_bytes(data)
            part.replace(path)
        except OSError as error:
            part.unlink(missing_ok=True)
            _warn_once(f"bough: {path.parent} cannot be written ({error.strerror}); what is compiled now will be compiled again")


@cache
def _warn_once(text: str) -> None:
    warnings.warn(text, stacklevel=2)
