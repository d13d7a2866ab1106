"""The text of Nastran's input files: entries in small, large or free field, continuations, includes, replicas, sections."""

import math
import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from bough.flex.reading import error_of, read_text

SOURCE = "read_nastran"
wrong = error_of(SOURCE)
Card = list[str]  # the fields of an entry, its name first
_MOST = 10**7  # points from one to another
_EVERYWHERE = ("DMIG", "EXTRN")  # entries that count in any section


def read_cards(path: Path) -> Iterator[Card]:
    """The entries of the bulk data; of several sections (BEGIN BULK, BEGIN SUPER) those of the first one with grid points."""
    sections: list[list[Card]] = [[]]
    marked: dict[str, Card] = {}  # entries by the mark in their last field: continuations that bear it may stand elsewhere
    for line in _bulk_lines(path):
        if line.upper().startswith("BEGIN"):
            sections.append([])
            continue
        first, fields, mark = _split(line)
        cards = sections[-1]
        if first.startswith("="):
            cards += _replicas(cards, first, fields)
            continue
        if first and first[0].isalpha():
            card = [first.rstrip("* ").upper(), *fields]
            cards.append(card)
        elif cards:
            card = marked.pop(first.strip("+* "), cards[-1])
            card += fields
        if cards and mark:
            marked[mark] = card
    chosen = next((each for each in sections if any(card[0] == "GRID" for card in each)), None)
    for each in sections:
        yield from (card for card in each if each is chosen or chosen is None or card[0] in _EVERYWHERE)


def cards_by_name(path: Path) -> dict[str, list[Card]]:
    """The same by their names."""
    found: dict[str, list[Card]] = {}
    for card in read_cards(path):
        found.setdefault(card[0], []).append(card)
    return found


class CaseControl(NamedTuple):
    """The sets of supports and of multipoint constraints that are selected; None: the file has no case control."""

    spc: list[int] | None = None
    mpc: list[int] | None = None


def case_control(path: Path) -> CaseControl:
    """What is selected above BEGIN BULK."""
    lines = _lines_of(path)
    begin = next((i for i, line in enumerate(lines) if line.strip().upper().startswith("BEGIN")), None)
    if begin is None or not any(line.split("$", 1)[0].strip() for line in lines[:begin]):
        return CaseControl()
    found = [
        [int(each[1]) for line in lines[:begin] if (each := re.match(rf"\s*{name}\s*(?:=|\s)\s*(\d+)", line, re.IGNORECASE))]
        for name in ("SPC", "MPC")
    ]
    return CaseControl(*found)


# ---- lines -----------------------------------------------------------------------------------------------------------------
def _lines_of(path: Path) -> list[str]:
    return read_text(path, SOURCE, "give the path of the bulk data").splitlines()


def _bulk_lines(path: Path, folders: tuple[Path, ...] = ()) -> Iterator[str]:
    """The lines of the bulk data, without comments; those of files that it includes in their place."""
    text = _lines_of(path)
    begin = next((i for i, line in enumerate(text) if line.strip().upper().startswith("BEGIN")), None)
    lines = iter(text if begin is None or folders else text[begin:])
    for line in lines:
        line = line.split("$", 1)[0].rstrip()
        if not line:
            continue
        if re.match(r"\s*INCLUDE\b", line, re.IGNORECASE):
            name = line.strip()[7:].strip()
            while name[:1] in "'\"" and name.count(name[:1]) < 2 and (more := next(lines, None)) is not None:
                name += more.split("$", 1)[0].strip()
            yield from _bulk_lines(_included(name.strip("'\" "), path, folders), (*folders, path.parent))
        elif line.strip().upper().startswith("ENDDATA"):
            return
        else:
            yield line


def _included(name: str, path: Path, folders: tuple[Path, ...]) -> Path:
    """An included file: beside the file that names it, or beside those that include that; in any case of letters."""
    if len(folders) > 20:
        raise wrong(f"{path.name} includes {name!r} recursively; files must not include themselves")
    plain = name.replace("\\", "/")
    symbol = re.match(r"^\w{2,}:(.*)$", plain)  # a logical symbol of Nastran's: its folder is not known here
    plain = symbol[1] if symbol else plain
    for folder in (path.parent, *reversed(folders)):
        there = folder / plain
        if there.is_file():
            return there
        same = [each for each in there.parent.glob("*") if each.name.lower() == there.name.lower()] if there.parent.is_dir() else []
        if same:
            return same[0]
    raise wrong(f"{path.name} includes the file {name!r}, which does not exist beside it; copy it there, or correct the INCLUDE")


def _split(line: str) -> tuple[str, Card, str]:
    """The first field, eight (four, of 16 characters) more, and a mark; a line in free field may hold those of others, too."""
    if "," in line:
        first, *parts = [part.strip() for part in line.split(",")]
        count, mark = 4 if "*" in first else 8, ""
        if len(parts) > count and (not any(parts[count:]) or parts[count][:1] in ("+", "*")):
            parts, mark = parts[:count], parts[count].strip("+* ")  # what follows marks the continuation
        return first, parts + [""] * (-len(parts) % count), mark
    line = line.expandtabs(8)
    first = line[:8].strip()
    width, count = (16, 4) if "*" in first else (8, 8)
    return first, [line[8 + width * i : 8 + width * (i + 1)].strip() for i in range(count)], line[72:80].strip("+* ")


# ---- replicated entries ----------------------------------------------------------------------------------------------------
def _replicas(cards: list[Card], first: str, fields: Card) -> list[Card]:
    """The entries that =, *increment, == stand for, or =n: n more of the last two's difference."""
    if not cards or (first != "=" and len(cards) < 2):
        raise wrong(f"an entry begins with {first!r}, but there is none before it to repeat")
    count = re.match(r"^=\(?(\d+)\)?$", first)
    if not count:
        return [_replica(cards[-1], [first, *fields])]
    found = cards[-2:]
    for _ in range(int(count[1])):
        before, last = found[-2:]
        found.append([_stepped(b, _difference(a, b)) for a, b in zip(before, last, strict=False)])
    return found[2:]


def _replica(last: Card, fields: Card) -> Card:
    found: Card = []
    for i, text in enumerate(fields):
        if text == "==":
            return found + last[i:]
        step = re.match(r"^\*\(?([^)]+)\)?$", text)
        found.append(field_of(last, i) if text == "=" else _stepped(field_of(last, i), step[1]) if step else text)
    return found


def _difference(a: str, b: str) -> str:
    if a == b:
        return ""
    return str(int(b) - int(a)) if _whole(a) and _whole(b) else repr(number(b) - number(a))


def _stepped(text: str, step: str) -> str:
    if not step:
        return text
    return str(int(text or 0) + int(step)) if _whole(text or "0") and _whole(step) else repr(number(text) + number(step))


def _whole(text: str) -> bool:
    return bool(re.match(r"^[+-]?\d+$", text))


# ---- fields ----------------------------------------------------------------------------------------------------------------
def number(text: str) -> float:
    """A number of bulk data: 1.5-3 is 1.5e-3.

    >>> number("2.5900-3"), number("1.D+2"), number("")
    (0.00259, 100.0, 0.0)
    """
    if not text:
        return 0.0
    try:
        found = float(re.sub(r"(?<=[\d.])([+-]\d+)$", r"E\1", text.upper().replace("D", "E")))
    except ValueError:
        found = math.nan
    if not math.isfinite(found):
        raise wrong(f"{text!r} is not a number of bulk data; check that its fields are in the right columns")
    return found


def integer(text: str, card: Card) -> int:
    """A whole number in a field of an entry; a blank one is 0."""
    try:
        return int(text or 0)
    except ValueError:
        raise wrong(f"{card[0]} {field_of(card, 1)} has {text!r} where a whole number belongs; check that its fields are in the "
                    "right columns") from None


def field_of(card: Card, i: int) -> str:
    """Field i of an entry; blank where it ends before."""
    return card[i] if i < len(card) else ""


def listed(fields: Sequence[str], card: Card, known: Sequence[int] | None = None) -> list[int]:
    """Numbers, with 1 THRU 9 (all, or those of `known`, in order), and BY 2 and EXCEPT 5 after it.

    >>> listed(["1", "THRU", "9", "EXCEPT", "5", "", "12"], ["SPC1", "7"])
    [1, 2, 3, 4, 6, 7, 8, 9, 12]
    """
    given = [each.upper() for each in fields if each]
    found: list[int] = []
    i, span = 0, range(0)
    while i < len(given):
        if given[i] in ("THRU", "TO") and found and i + 1 < len(given):
            span = range(found[-1], integer(given[i + 1], card) + 1)
            if not span or (known is None and len(span) > _MOST):
                raise wrong(f"{card[0]} {field_of(card, 1)} goes from {span.start} THRU {span.stop - 1}; give a first and a last "
                            f"number, {_MOST} of them at most")
            found[-1:] = span if known is None else known[bisect_left(known, span.start) : bisect_left(known, span.stop)]
            i += 2
        elif given[i] == "BY" and i + 1 < len(given):
            kept = set(range(span.start, span.stop, integer(given[i + 1], card)))
            found = [each for each in found if each not in span or each in kept]
            i += 2
        elif given[i] == "EXCEPT":
            left_out = {integer(each, card) for each in given[i + 1 :] if int(each) in span}
            found = [each for each in found if each not in left_out]
            given = [each for each in given[i + 1 :] if int(each) not in span]
            i = 0
        else:
            found.append(integer(given[i], card))
            i += 1
    return found
