"""OP4 files: text and binary, dense, sparse and large, in words of either length and order, with all their digits."""

import struct

import numpy as np
import pytest

from bough.errors import DescriptionError
from bough.flex.nastran import read_nastran
from bough.flex.nastran_op4 import read_op4
from tests.flex.test_readers import assert_same, bulk_text, expected, shaft
from tests.support.tolerance import PRODUCTS


def strings(column):
    """First rows and values of the entries that are not zero, in a row."""
    ends = np.flatnonzero(np.diff(np.r_[False, column != 0, False].astype(int)))
    return [(int(a) + 1, column[a:b]) for a, b in zip(ends[::2], ends[1::2], strict=True)]


def reals(values, kind):
    return values.astype(complex).view(float) if kind > 2 else values.real.astype(float)


def binary(name, matrix, layout, order="<", word=4, kind=2):
    size = 8 if word == 8 or kind in (2, 4) else 4
    whole = "i" if word == 4 else "q"

    def record(*words, values=b""):
        content = struct.pack(f"{order}{len(words)}{whole}", *words) + values
        return struct.pack(order + "i", len(content)) + content + struct.pack(order + "i", len(content))

    def packed(values):
        return reals(values, kind).astype(f"{order}f{size}").tobytes()

    rows, columns = matrix.shape
    title = f"{name:8}".encode()
    title = title if word == 4 else title[:4].ljust(8) + title[4:].ljust(8)
    found = record(columns, -rows if layout == "large" else rows, 6, kind, values=title)
    for j in range(columns):
        parts = strings(matrix[:, j])
        if layout == "dense" and parts:
            first, last = parts[0][0], parts[-1][0] + len(parts[-1][1])
            values = packed(matrix[first - 1 : last - 1, j])
            found += record(j + 1, first, len(values) // word, values=values)
        elif parts:
            content = b""
            for row, values in parts:
                given = packed(values)
                count = len(given) // word + 1
                head = (count, row) if layout == "large" else (row + 65536 * count,)
                content += struct.pack(f"{order}{len(head)}{whole}", *head) + given
            found += record(j + 1, 0, len(content) // word, values=content)
    return found + record(columns + 1, 1, 1, values=packed(np.ones(1)))


def text(name, matrix, layout, kind=2, form="1P,3E23.16"):
    rows, columns = matrix.shape
    lines = [f"{columns:8d}{-rows if layout == 'large' else rows:8d}{6:8d}{kind:8d}{name:8}{form}"]

    def put(values):
        given = [f"{each:23.16E}" for each in reals(values, kind)]
        return ["".join(given[i : i + 3]) for i in range(0, len(given), 3)]

    for j in range(columns):
        parts = strings(matrix[:, j])
        if layout == "dense" and parts:
            first, last = parts[0][0], parts[-1][0] + len(parts[-1][1])
            values = matrix[first - 1 : last - 1, j]
            lines += [f"{j + 1:8d}{first:8d}{len(reals(values, kind)):8d}", *put(values)]
        elif parts:
            counts = [1 + len(reals(values, kind)) * (2 if kind in (2, 4) else 1) for _, values in parts]
            lines.append(f"{j + 1:8d}{0:8d}{sum(counts) + len(counts) * (layout == 'large'):8d}")
            for (row, values), count in zip(parts, counts, strict=True):
                lines += [f"{count:8d}{row:8d}" if layout == "large" else f"{row + 65536 * count:12d}", *put(values)]
    return "\n".join([*lines, f"{columns + 1:8d}{1:8d}{1:8d}", f"{1.0:23.16E}", ""])


def example(kind):
    matrix = np.random.default_rng(3).normal(size=(7, 7))
    matrix[2, 1] = matrix[3, 4] = matrix[:, 5] = 0.0
    return matrix * (1 + 2j) if kind > 2 else matrix


@pytest.mark.parametrize("layout", ["dense", "sparse", "large"])
@pytest.mark.parametrize(("order", "word"), [("<", 4), (">", 4), ("<", 8), (">", 8)])
def test_binary(tmp_path, layout, order, word):
    for kind in (1, 2, 3, 4) if word == 4 else (1, 3):  # words of eight bytes: single precision has them
        matrix = example(kind)
        (tmp_path / "x.op4").write_bytes(b"".join(binary(name, matrix, layout, order, word, kind) for name in ("KGG", "M")))
        found = read_op4(tmp_path / "x.op4")
        assert list(found) == ["KGG", "M"]
        wanted = matrix.astype(np.complex64 if kind == 3 else np.float32) if word == 4 and kind in (1, 3) else matrix
        for [each] in found.values():
            assert (each.toarray() == wanted).all()


@pytest.mark.parametrize("layout", ["dense", "sparse", "large"])
@pytest.mark.parametrize("kind", [1, 2, 3, 4])
def test_text(tmp_path, layout, kind):
    """Type 1 is single precision, but of a Nastran of long words it has as many digits as any; numbers may touch each other."""
    matrix = example(kind)
    whole = text("KGG", matrix, layout, kind)
    for given in (whole, whole.replace("E+", "D+").replace("E-", "D-"), whole + text("M", matrix, layout, kind)):
        (tmp_path / "x.op4").write_text(given)
        assert np.abs(read_op4(tmp_path / "x.op4")["KGG"][0].toarray() - matrix).max() <= PRODUCTS * np.abs(matrix).max()


def test_body_and_damage(tmp_path):
    place, M, K = shaft(elements=3)
    (tmp_path / "shaft.bdf").write_text(bulk_text([1, 2, 3, 4], place, [(0, 0)] * 4)[0])

    def read(data):
        (tmp_path / "shaft.op4").write_bytes(data.encode() if isinstance(data, str) else data)
        return read_nastran(
            tmp_path / "shaft.bdf", matrices=tmp_path / "shaft.op4", attach={"root": 1, "tip": 4}, inboard="root"
        )

    for way in (binary, text):
        whole = way("KGG", K, "sparse") + way("MGG", M, "dense")
        assert_same(read(whole).reduce(modes=5), expected(place, M, K), rel=1e-7)  # places have eight digits in the bulk data
        for share in (0.1, 0.4, 0.9):
            with pytest.raises(DescriptionError, match=r"shaft.op4 is not a complete OP4 file|has KGG, but no mass matrix"):
                read(whole[: int(share * len(whole))])
        with pytest.raises(DescriptionError, match=r"shaft.op4 holds KGG 2 times; give a file of one structure"):
            read(whole + whole)
    with pytest.raises(DescriptionError, match=r"shaft.op4 is not a complete OP4 file"):
        read("hello\n")
    with pytest.raises(DescriptionError, match="KGG is 23 x 23, but the bulk data have 24 dofs of 4 grid points"):
        read(binary("KGG", K[:23, :23], "dense") + binary("MGG", M[:23, :23], "dense"))
