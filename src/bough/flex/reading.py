"""What all readers of finite-element models share: units, text files in any encoding and with any line ends, errors."""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from bough.errors import DescriptionError, similar

_LENGTHS = {"m": 1.0, "cm": 1e-2, "mm": 1e-3, "in": 0.0254, "ft": 0.3048}
_POUND, _G = 0.45359237, 9.80665
_MASSES = {
    "kg": 1.0,
    "g": 1e-3,
    "t": 1e3,
    "lb": _POUND,
    "slug": _POUND * _G / 0.3048,
    "slinch": _POUND * _G / 0.0254,  # lbf s^2 / in
    "lbf": 0.0,  # by force: see below
}
_TIMES = {"s": 1.0, "ms": 1e-3}


class Units(NamedTuple):
    """One unit of length, mass and time in m, kg and s."""

    length: float = 1.0
    mass: float = 1.0
    time: float = 1.0

    @property
    def stiffness(self) -> float:
        """Of a force per length."""
        return self.mass / self.time**2

    @property
    def pressure(self) -> float:
        """Of a stress."""
        return self.mass / (self.length * self.time**2)


def units(name: str) -> Units:
    """Units by their names, LENGTH-MASS-TIME; the mass may be given by a force, lbf.

    >>> units("mm-t-s").pressure            # MPa
    1000000.0
    >>> round(units("in-lbf-s").mass, 3)    # lbf s^2/in
    175.127
    """
    if name == "SI":
        return Units()
    parts = str(name).split("-")
    tables = (_LENGTHS, _MASSES, _TIMES)
    if len(parts) != 3 or any(part not in table for part, table in zip(parts, tables, strict=True)):
        known = ("SI", "mm-t-s", "mm-kg-ms", "m-kg-s", "in-lbf-s", "ft-slug-s")
        raise DescriptionError(f"units: {name!r} is not LENGTH-MASS-TIME out of {', '.join(_LENGTHS)}; {', '.join(_MASSES)}; "
                               f"{', '.join(_TIMES)}{similar(str(name), known)}; give for example units='mm-t-s' (N, MPa), or 'SI'")
    length, mass, time = (table[part] for part, table in zip(parts, tables, strict=True))
    if parts[1] == "lbf":
        mass = _POUND * _G * time**2 / length
    return Units(length, mass, time)


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
