"""The integers declared in `sweeps.records`, by name: offsets of fields, sizes of records, codes.

Sweeps use ``from bough.sweeps import fields as f`` and ``read(plan, row + f.INNER)``; Numba sees plain integer constants.  For
the meaning of a name, and the modules that write and read it, see `sweeps.records`.
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
