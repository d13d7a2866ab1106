"""Text files of other tools, in any encoding and with any line ends."""

from collections.abc import Callable
from pathlib import Path

from bough.errors import DescriptionError


def read_text(path: Path, source: str, remedy: str) -> str:
    """The text of a file: UTF-8 or UTF-16, with or without a byte order mark, or else Windows-1252."""
    if not path.is_file():
        raise DescriptionError(f"{source}: the file {str(path)!r} does not exist; {remedy}")
    data = path.read_bytes()
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return data.decode("utf-16", errors="replace")
    if data[1:2] == b"\0" or data[:1] == b"\0":  # these files are ASCII but for comments
        return data.decode("utf-16-le" if data[1:2] == b"\0" else "utf-16-be", errors="replace")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("cp1252", errors="replace")


def error_of(source: str) -> Callable[[str], DescriptionError]:
    """Constructor of the errors of a reader; messages begin with the name of the function that the user called."""
    return lambda text: DescriptionError(f"{source}: {text}")
