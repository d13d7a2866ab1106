"""Files that appear when they are complete: a process that is killed, or a full disk, leaves the old one or the whole new one."""

import glob
import os
import shutil
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

FORGOTTEN = 3600.0  # s: a part that nobody has written to for so long is one of a process that was killed


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """A temporary file next to `path`, which replaces it if nothing is raised, and is removed otherwise."""
    part = path.with_name(f"{path.name}.{uuid.uuid4().hex[:8]}.part")
    try:
        _sweep(path)
        yield part
        with part.open("rb") as file:
            os.fsync(file.fileno())
        os.replace(part, path)
    except OSError as error:                                    # a write that fails does not know its file
        raise OSError(error.errno, error.strerror, str(path)) from None
    finally:
        part.unlink(missing_ok=True)


def _sweep(path: Path) -> None:
    """Remove temporary files that killed processes left."""
    for part in path.parent.glob(f"{glob.escape(path.name)}.????????.part"):
        with suppress(OSError):
            if time.time() - part.stat().st_mtime > FORGOTTEN:
                part.unlink()


def discard(folder: Path) -> None:
    """Remove a folder, renamed first, so that a process killed meanwhile leaves nothing that looks complete."""
    gone = folder.with_name(f"{folder.name}.gone")
    shutil.rmtree(gone, ignore_errors=True)
    with suppress(OSError):
        folder.rename(gone)
    shutil.rmtree(gone, ignore_errors=True)


def write_text(path: Path, text: str) -> None:
    """A text, whole or not at all."""
    with whole_file(path) as part:
        part.write_text(text, encoding="utf-8")
