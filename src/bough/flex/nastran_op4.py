"""OP4 files of Nastran: dense and sparse matrices, text or binary, in words of either length and order, with all their digits."""

import re
from collections.abc import Iterator
from pathlib import Path
from struct import error
from typing import Any

import numpy as np

from bough.flex.integrals import Array
from bough.flex.nastran_cards import number as number_of, wrong
from bough.flex.nastran_op2 import Tape, joined

_HEADS = {b"\x18\0\0\0": ("<", 4), b"\0\0\0\x18": (">", 4), b"\x30\0\0\0": ("<", 8), b"\0\0\0\x30": (">", 8)}
_PACKED = 65536  # a string begins with its row and, 65536 times, its words and one; of large matrices, with both apart


def read_op4(path: Path) -> dict[str, list[Any]]:
    """The sparse matrices of an OP4 file by name; a name may be there several times."""
    data = path.read_bytes()
    found: dict[str, list[Any]] = {}
    try:
        words = _HEADS.get(data[:4])
        for name, matrix in _binary(Tape(data, *words)) if words else _Text(data.decode("latin-1").splitlines()).matrices():
            found.setdefault(name.upper(), []).append(matrix)
    except (error, ValueError, IndexError) as reason:
        why, last = str(reason)[:80] or "it ends early", f", after {list(found)[-1]}" if found else ""
        raise wrong(f"{path.name} is not a complete OP4 file ({why}{last}); export it again") from None
    return found


def _binary(tape: Tape) -> Iterator[tuple[str, Any]]:
    """A head (columns, rows, form, type, name), then by column: its number, first row (0: strings follow), words, values."""
    while tape.at < len(tape.data):
        head = tape.record()
        columns, rows, _, kind = tape.integers(head, 4)
        strings = []
        while (place := tape.integers(record := tape.record(), 3))[0] <= columns:
            column, row, count = place
            content = record[3 * tape.word : (3 + count) * tape.word]
            for start, given in [(row, content)] if row > 0 else _strings(tape, content, rows < 0):
                strings.append((column - 1, start - 1, np.frombuffer(given, tape.form(kind))))
        yield tape.name(head[4 * tape.word :]), joined(strings, abs(rows), columns)


def _strings(tape: Tape, content: bytes, apart: bool) -> Iterator[tuple[int, bytes]]:
    at = 0
    while at < len(content):
        if apart:
            count, row = tape.integers(content[at:], 2)
        else:
            count, row = divmod(tape.integers(content[at:], 1)[0], _PACKED)
        at += (2 if apart else 1) * tape.word
        yield row, content[at : at + (count - 1) * tape.word]
        at += (count - 1) * tape.word


class _Text:
    """The same as lines: numbers of a fixed width, which may touch each other."""

    def __init__(self, lines: list[str]) -> None:
        self.lines, self.at = lines, 0
        self.width = 16

    def matrices(self) -> Iterator[tuple[str, Any]]:
        while any(line.strip() for line in self.lines[self.at : self.at + 2]):
            yield self._matrix()

    def _matrix(self) -> tuple[str, Any]:
        head = self._line()
        columns, rows, _, kind = (int(head[8 * i : 8 * i + 8]) for i in range(4))
        if form := re.search(r"[EDG](\d+)\.", head[40:]):
            self.width = int(form[1])
        strings = []
        while (place := self._integers(3))[0] <= columns:
            column, row, count = place
            if row > 0:
                strings.append((column - 1, row - 1, self._values(count, kind)))
            while row == 0 and count > 0:
                words, start = self._integers(2) if rows < 0 else divmod(self._integers(1)[0], _PACKED)
                count -= words + (1 if rows < 0 else 0)
                strings.append((column - 1, start - 1, self._values((words - 1) // (2 if kind in (2, 4) else 1), kind)))
        self._line()                                                # the one value of the column after the last
        return head[32:40].strip(), joined(strings, abs(rows), columns)

    def _line(self) -> str:
        self.at += 1
        return self.lines[self.at - 1]

    def _integers(self, count: int) -> list[int]:
        line = self._line()
        parts = line.split() if len(line.split()) == count else [line[8 * i : 8 * i + 8] for i in range(count)]
        return [int(each) for each in parts]

    def _values(self, count: int, kind: int) -> Array:
        parts: list[str] = []
        while len(parts) < count:
            line, width = self._line().rstrip(), self.width
            parts += line.split() if len(line) % width else [line[i : i + width] for i in range(0, len(line), width)]
        try:
            values = np.array(parts, dtype=float)
        except ValueError:                                          # 1.5D-3, 1.5-103
            values = np.array([number_of(each.strip()) for each in parts])
        return values.view(complex) if kind > 2 else values
