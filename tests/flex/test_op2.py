"""OP2 files: matrices in words of either length and order, modes in files of other machines, what is damaged."""

import struct

import numpy as np
import pytest

from bough.errors import DescriptionError
from bough.flex.nastran import read_nastran
from bough.flex.nastran_elements import nodal_masses
from bough.flex.nastran_op2 import bulk_of_op2, op2_matrices
from tests.flex.test_readers import FOLDER, assert_same, bulk_text, expected, needs_pynastran, real_files, shaft
from tests.support.tolerance import PRODUCTS, SINGLE


# ---- files as OUTPUT2 writes them ------------------------------------------------------------------------------------------
class Writer:
    """Keys and records in words of four or eight bytes: a table is its name, a trailer, a head, then parts, each with a key."""

    def __init__(self, order="<", word=4):
        self.order, self.word, self.data = order, word, b""

    def record(self, content):
        count = struct.pack(self.order + "i", len(content))
        self.data += count + content + count

    def key(self, *keys):
        for each in keys:
            self.record(self.words(each))

    def words(self, *values):
        return struct.pack(f"{self.order}{len(values)}{'i' if self.word == 4 else 'q'}", *values)

    def text(self, name):
        name = f"{name:8}".encode()
        return name if self.word == 4 else name[:4] + b"    " + name[4:] + b"    "

    def keyed(self, content):
        self.key(len(content) // self.word)
        self.record(content)

    def head(self):
        self.keyed(self.words(11, 18, 26))
        tape = b"NASTRAN FORT TAPE ID CODE - "
        self.keyed(b"".join(tape[i : i + 4].ljust(self.word) for i in range(0, 28, 4)))
        self.keyed(self.text("NX11"))
        self.key(-1, 0)

    def table(self, name, *records):
        self.keyed(self.text(name))
        self.key(-1)
        self.keyed(self.words(101, 0, 0, 0, 0, 0, 0))
        self.key(-2, 1, 0)
        self.keyed(self.text(name))
        for i, record in enumerate(records):
            self.key(-3 - i, 1, 0)
            self.keyed(record)
        self.key(-3 - len(records), 1, 0, 0)

    def matrix(self, name, matrix, kind=2):
        """By columns: strings of entries that are not zero."""
        self.keyed(self.text(name))
        self.key(-1)
        self.keyed(self.words(101, matrix.shape[1], matrix.shape[0], 6, kind, 0, 0))
        self.key(-2, 1, 0)
        self.keyed(self.text(name))
        size = 8 if self.word == 8 or kind in (2, 4) else 4
        form = f"{self.order}c{2 * size}" if kind > 2 else f"{self.order}f{size}"
        for j in range(matrix.shape[1]):
            self.key(-3 - j, 1, 1)
            ends = np.flatnonzero(np.diff(np.r_[False, matrix[:, j] != 0, False].astype(int)))
            for start, end in zip(ends[::2], ends[1::2], strict=True):
                values = matrix[start:end, j].astype(form).tobytes()
                self.key(len(values) // self.word)
                self.record(self.words(int(start) + 1) + values)
        self.key(-3 - matrix.shape[1], 1, 0, 0)


def written(path, matrices, order="<", word=4, kind=2, head=True, closed=True):
    writer = Writer(order, word)
    if head:
        writer.head()
    for name, matrix in matrices.items():
        writer.matrix(name, matrix, kind)
    if closed:
        writer.key(0)
    path.write_bytes(writer.data)
    return path


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("word", [4, 8])
def test_matrices_of_either_order_and_length_of_words(tmp_path, order, word):
    """KGG and MGG as OUTPUT2 writes them (PARAM,POST,-1; or a DMAP of one's own, without head and end): all their digits."""
    place, M, K = shaft(elements=3)
    (tmp_path / "shaft.bdf").write_text(bulk_text([1, 2, 3, 4], place, [(0, 0)] * 4)[0])
    K[:, 5], K[5] = 0.0, 0.0                                        # a column without entries
    for head, kind in ((True, 2), (False, 1 if word == 8 else 2)):  # words of eight bytes: single precision has them, too
        path = written(tmp_path / "x.op2", {"XYZ": K[:3], "KGG": K, "MGG": M}, order, word, kind, head, closed=head)
        found = op2_matrices(path, {"KGG", "MGG", "KAA"})
        assert set(found) == {"KGG", "MGG"}
        for name, matrix in (("KGG", K), ("MGG", M)):
            assert (found[name].toarray() == matrix).all()


@pytest.mark.parametrize("names", [("KGG", "MGG"), ("KAA", "MAA"), ("KJJ", "MJJ")])
def test_body_out_of_an_op2_file_with_matrices(tmp_path, names):
    """As `op2` and as `matrices`; a single-precision file has its own seven digits."""
    place, M, K = shaft(elements=3)
    (tmp_path / "shaft.bdf").write_text(bulk_text([1, 2, 3, 4], place, [(0, 0)] * 4)[0])
    options = {"attach": {"root": 1, "tip": 4}, "inboard": "root"}
    path = written(tmp_path / "shaft.op2", dict(zip(names, (K, M), strict=True)), ">", 8)
    for way in ("op2", "matrices"):
        model = read_nastran(tmp_path / "shaft.bdf", **{way: path}, **options)
        assert_same(model.reduce(modes=5), expected(place, M, K), rel=1e-7)  # places have eight digits in the bulk data


def test_damaged_and_foreign_op2_files_are_named(tmp_path):
    place, M, K = shaft(elements=3)
    (tmp_path / "shaft.bdf").write_text(bulk_text([1, 2, 3, 4], place, [(0, 0)] * 4)[0])

    def refused(path, match):
        with pytest.raises(DescriptionError, match=match):
            read_nastran(tmp_path / "shaft.bdf", op2=path)

    whole = written(tmp_path / "x.op2", {"KGG": K, "MGG": M}).read_bytes()
    for share in (0.3, 0.6, 0.95):
        (tmp_path / "cut.op2").write_bytes(whole[: int(share * len(whole))])
        refused(tmp_path / "cut.op2", r"cut.op2 is not a complete OP2 file \(it ends early, in table [KM]GG\); check that the run")
    (tmp_path / "text.op2").write_text("OUTPUT2 FORMATTED")
    refused(tmp_path / "text.op2", r"text.op2 is not a binary OP2 file; write it with PARAM,POST,-1 and, .* UNFORMATTED")
    (tmp_path / "empty.op2").write_bytes(b"")
    refused(tmp_path / "empty.op2", "empty.op2 is not a binary OP2 file")
    refused(written(tmp_path / "x.op2", {"KGG": K}), r"shaft.bdf has KGG, but no mass matrix \(MGG, .*\); export both")
    refused(written(tmp_path / "x.op2", {"KGG": K * (1 + 0.01j), "MGG": M}, kind=4), "KGG is complex; give real matrices")
    refused(written(tmp_path / "x.op2", {"KGG": K[:9, :9], "MGG": M[:9, :9]}), "KGG is 9 x 9, but the bulk data have 24 dofs of 4")
    pool = Writer()
    pool.table("MATPOOL", pool.words(114, 1, 120) + pool.text("KAAX") + pool.words(0, 6, 2, 2, 0, 0, 0, -1, -1))
    pool.key(0)
    (tmp_path / "pool.op2").write_bytes(pool.data)
    refused(tmp_path / "pool.op2", r"pool.op2 holds KAAX as DMIG \(table MATPOOL\), which is not read; write them to a punch file")


# ---- bulk data -------------------------------------------------------------------------------------------------------------
def test_bulk_data_of_op2_files_have_parameters_and_default_thicknesses(tmp_path):
    """WTMASS scales the masses, and a thickness of -1 at the corners of a shell means that of its property."""
    needs_pynastran()
    place = [(0, 0), (2, 0), (2, 1), (0, 1), (1, 0), (2, 0.5), (1, 1), (0, 0.5)]
    writer = Writer()
    writer.head()
    writer.table("PVT0", writer.text("WTMASS") + struct.pack("<if", 2, 0.5))
    writer.table("GEOM1", writer.words(4501, 45, 1) + b"".join(
        struct.pack("<2i3f3i", i + 1, 0, x, y, 0.0, 0, 0, 0) for i, (x, y) in enumerate(place)))  # fmt: skip
    writer.table("GEOM2", writer.words(4701, 47, 326) + struct.pack("<10i6f", 1, 7, *range(1, 9), *[-1.0] * 4, 0.0, 0.0))
    shell = struct.pack("<2ififi4fi", 7, 3, 0.1, 3, 1.0, 0, 0.833, 0.0, 0.0, 0.0, 0)
    writer.table("EPT", writer.words(2302, 23, 283) + shell)
    writer.table("MPT", writer.words(103, 1, 77) + struct.pack("<i10fi", 3, 7e10, 2.7e10, 0.3, 2700.0, *[0.0] * 6, 0))
    writer.key(0)
    (tmp_path / "shell.op2").write_bytes(writer.data)
    weight = nodal_masses(bulk_of_op2(tmp_path / "shell.op2"), None, np.arange(1, 9))[0]
    assert weight.sum() == pytest.approx(0.5 * 2700 * 2 * 1 * 0.1, rel=4 * float(SINGLE))  # four numbers of the file


# ---- modes -----------------------------------------------------------------------------------------------------------------
def reworded(data, order, word):
    """A file in words of another length or order: what is below 2^23 is whole, titles and names are letters, all else a number."""
    writer, at = Writer(order, word), 0
    while at < len(data):
        [count] = struct.unpack_from("<i", data, at)
        words = [data[i : i + 4] for i in range(at + 4, at + 4 + count, 4)]
        at += count + 8
        letters = range(50, 146) if len(words) == 146 else range(len(words)) if len(words) in (2, 7) else ()
        writer.record(b"".join(_reworded(each, i in letters, writer) for i, each in enumerate(words)))
    return writer.data


def _reworded(given, letters, writer):
    [whole], [real] = struct.unpack("<i", given), struct.unpack("<f", given)
    if -(2**20) < whole < 2**23:
        return writer.words(whole)
    return given.ljust(writer.word) if letters else struct.pack(writer.order + ("f" if writer.word == 4 else "d"), real)


@real_files
@pytest.mark.parametrize(("order", "word"), [("<", 4), (">", 4), ("<", 8), (">", 8)])
def test_modes_in_files_of_other_machines(tmp_path, order, word):
    """The beam of Nastran again, in the other order of bytes, and in longer words."""
    needs_pynastran()
    folder = FOLDER / "nastran"
    whole = (folder / "beam_modes_m1.op2").read_bytes()
    label = whole.replace(b"XXXXXXXX", b"NX2019.2") if word == 8 else whole  # in long words: of NX, which spreads names over them
    (tmp_path / "other.op2").write_bytes(reworded(label, order, word))
    assert (order, word) != ("<", 4) or (tmp_path / "other.op2").read_bytes() == whole
    options = {"attach": {"root": 1, "tip": 11}, "inboard": "root", "units": "in-lbf-s"}
    known, found = (
        read_nastran(folder / "beam_modes.dat", op2=each, **options)
        for each in (folder / "beam_modes_m1.op2", tmp_path / "other.op2")
    )
    assert found.frequencies == pytest.approx(known.frequencies, rel=PRODUCTS)
    assert (found.shapes == known.shapes).all()
