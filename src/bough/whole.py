"""Files that appear when they are complete: a process that is killed, or a full disk, leaves the old one or the whole new one."""

import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """Where to write: a file beside `path`, which takes its place if nothing was raised, and else is removed."""
    part = path.with_name(f"{path.name}.{uuid.uuid4().hex[:8]}.part")
    try:
        yield part
        with part.open("rb") as file:
            os.fsync(file.fileno())
        os.replace(part, path)
    except OSError as error:                                    # a write that fails does not know its file
        raise OSError(error.errno, error.strerror, str(path)) from None
    finally:
        part.unlink(missing_ok=True)


def write_text(path: Path, text: str) -> None:
    """A text, whole or not at all."""
    with whole_file(path) as part:
        part.write_text(text, encoding="utf-8")
