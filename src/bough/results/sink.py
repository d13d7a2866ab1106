"""A file object for the HDF5 library whose writes never fail: that library may crash the process after a failed write.

After the first failed write, data are kept in memory so that the library can finish; `check` raises the error of the disk, and
should be called often while writing.
"""

from __future__ import annotations

import hashlib
import os
from functools import lru_cache
from pathlib import Path


class Sink:
    """The file interface that h5py needs."""

    def __init__(self, path: Path) -> None:
        self.handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC | getattr(os, "O_BINARY", 0), 0o666)
        self.place, self.size = 0, 0
        self.refused: OSError | None = None
        self.kept: list[tuple[int, bytes]] = []  # after a failed write: places and data

    def check(self) -> None:
        """Raise the error of the first failed write, if any."""
        if self.refused is not None:
            raise self.refused

    def close(self) -> None:
        os.close(self.handle)

    # ---- as h5py calls it --------------------------------------------------------------------------------------------------
    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        self.place = offset + (self.size if whence == os.SEEK_END else self.place if whence == os.SEEK_CUR else 0)
        return self.place

    def tell(self) -> int:
        return self.place

    def write(self, data: bytes | memoryview) -> int:
        given, done = memoryview(data).cast("B"), 0
        try:
            while self.refused is None and done < len(given):
                os.lseek(self.handle, self.place + done, os.SEEK_SET)
                done += os.write(self.handle, given[done:])
        except OSError as error:
            self.refused = error
        if done < len(given):
            self.kept.append((self.place + done, bytes(given[done:])))
        self.place += len(given)
        self.size = max(self.size, self.place)
        return len(given)

    def readinto(self, into: bytearray | memoryview) -> int:
        room = memoryview(into).cast("B")
        os.lseek(self.handle, self.place, os.SEEK_SET)
        there = b""
        while len(there) < len(room) and (more := os.read(self.handle, len(room) - len(there))):
            there += more
        room[:] = there + bytes(len(room) - len(there))
        for place, data in self.kept:
            first, last = max(place, self.place), min(place + len(data), self.place + len(room))
            if first < last:
                room[first - self.place : last - self.place] = data[first - place : last - place]
        self.place += len(room)
        return len(room)

    def read(self, n: int = -1) -> bytes:
        room = bytearray(max(0, self.size - self.place) if n < 0 else n)
        self.readinto(room)
        return bytes(room)

    def truncate(self, size: int | None = None) -> int:
        self.size = self.place if size is None else size
        try:
            if self.refused is None:
                os.ftruncate(self.handle, self.size)
        except OSError as error:
            self.refused = error
        return self.size

    def flush(self) -> None:
        """Nothing is buffered."""


# ---- seals -----------------------------------------------------------------------------------------------------------------
SEAL = b"bough sha256 "
_TAIL = len(SEAL) + hashlib.sha256().digest_size


def seal(path: Path) -> None:
    """Append the digest of a complete file, after the data of the HDF5 library; it is lost when the file is opened for writing."""
    found = _digest(path, path.stat().st_size)
    with path.open("ab") as file:
        file.write(SEAL + found)


def damaged(path: Path) -> bool:
    """Whether a sealed file has changed: the HDF5 library may hang on such a file."""
    whole = path.stat()
    if whole.st_size < _TAIL:
        return False
    with path.open("rb") as file:
        file.seek(-_TAIL, os.SEEK_END)
        tail = file.read(_TAIL)
    return tail.startswith(SEAL) and tail[len(SEAL) :] != _known(path, whole.st_mtime_ns, whole.st_size - _TAIL)


@lru_cache(maxsize=64)
def _known(path: Path, changed: int, size: int) -> bytes:
    """The digest of a file with this modification time."""
    return _digest(path, size)


def _digest(path: Path, size: int) -> bytes:
    found, left = hashlib.sha256(), size
    with path.open("rb") as file:
        while left > 0 and (data := file.read(min(left, 1 << 20))):
            found.update(data)
            left -= len(data)
    return found.digest()
