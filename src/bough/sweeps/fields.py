"""The integers of `sweeps.records`, by name: offsets of fields, sizes of records, codes.

Sweeps say ``from bough.sweeps import fields as f`` and ``read(plan, row + f.INNER)``; Numba takes each for the integer that it is.
What a name means, and who writes and reads it, is declared in `sweeps.records`.
"""
from bough.sweeps.records import CODES, RECORDS


def _constants() -> dict[str, int]:
    found: dict[str, int] = {}
    for each in (*RECORDS, *CODES):
        if twice := found.keys() & each.constants().keys():
            raise TypeError(f"declared twice: {', '.join(sorted(twice))}")
        found |= each.constants()
    return found


CONSTANTS = _constants()
globals().update(CONSTANTS)


def __getattr__(name: str) -> int:
    raise AttributeError(f"no record declares {name}; see bough.sweeps.records")
