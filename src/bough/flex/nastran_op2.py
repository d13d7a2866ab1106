"""OP2 files of Nastran: matrices, in words of either length and order; modes and bulk data, which pyNastran reads."""

import contextlib
import io
import re
import warnings
from collections.abc import Collection, Iterator
from mmap import ACCESS_READ, mmap
from pathlib import Path
from struct import Struct, error
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from bough.errors import DescriptionError
from bough.flex.integrals import Array
from bough.flex.nastran_bulk import Bulk, read_bulk
from bough.flex.nastran_cards import wrong

_WORDS = {b"\4\0\0\0": ("<", 4), b"\0\0\0\4": (">", 4), b"\x08\0\0\0": ("<", 8), b"\0\0\0\x08": (">", 8)}
_RESULTS = re.compile(rb"(B?OPH|B?OUG|LAMA|BLAMA|CLAMA)")  # tables of eigenvectors and eigenvalues
_BULK = re.compile(rb"(GEOM[124]|EPT|MPT|PVT)")  # and of bulk data, PARAM among them
_END = "check that the run and the copy were complete, and write it with PARAM,POST,-1"


def require_pynastran() -> None:
    """Let pyNastran be imported: it asks NumPy for a function of old that newer ones call isin."""
    if not hasattr(np, "in1d"):
        setattr(np, "in1d", np.isin)  # noqa: B010
    try:
        import pyNastran  # noqa: F401
    except ImportError:
        raise wrong("modes of OP2 files and masses of elements are read by pyNastran; install it with: pip install "
                    "bough[nastran]") from None


def _require_binary(path: Path) -> None:
    if not path.is_file():
        raise wrong(f"the file {str(path)!r} does not exist; give the path of an OP2 file")
    with path.open("rb") as file:
        first = file.read(4)
    if first not in _WORDS:
        raise wrong(f"{path.name} is not a binary OP2 file; write it with PARAM,POST,-1 and, if ASSIGN names it, UNFORMATTED")


# ---- matrices --------------------------------------------------------------------------------------------------------------
class Tape:
    """Records of a file, each between two counts of its bytes, in words of four or eight bytes, of either order."""

    def __init__(self, data: Any, order: str, word: int) -> None:
        self.data, self.at, self.order, self.word = data, 0, order, word
        self._count = Struct(order + "i")

    def record(self) -> bytes:
        start = self.at + 4
        end = start + self._count.unpack_from(self.data, self.at)[0]
        if self.data[end : end + 4] != self.data[self.at : start]:
            raise error("a record is not closed")
        self.at = end + 4
        return bytes(self.data[start:end])

    def integers(self, record: bytes, count: int) -> list[int]:
        """The first words of a record."""
        return [int(each) for each in np.frombuffer(record, f"{self.order}i{self.word}", count)]

    def form(self, kind: int) -> str:
        """Of the numbers of a matrix: type 1 is real, 2 real in double precision, 3 and 4 the same, complex."""
        size = 8 if kind in (2, 4) or self.word == 8 else 4
        return f"{self.order}c{2 * size}" if kind > 2 else f"{self.order}f{size}"

    def groups(self) -> Iterator[list[bytes]]:
        """The records of an OP2 table. Every other one is a key: above 0, a record follows; below 0, a group ends; 0, all."""
        group: list[bytes] = []
        while (key := self.integers(self.record(), 1)[0]) != 0:
            if key > 0:
                group.append(self.record())
            else:
                yield group
                group = []
        yield group

    def name(self, record: bytes) -> str:
        """Eight letters; in words of eight bytes there may be four to a word, and four blanks."""
        spread = self.word == 8 and not record[4:8].strip()
        return (record[:4] + record[8:12] if spread else record[:8]).decode("latin-1").strip()

    def matrix(self, groups: Iterator[list[bytes]]) -> Any:
        """A trailer (number, columns, rows, form, type, ...), the name again, then by column: 1, and strings of [row, values]."""
        [trailer] = next(groups)
        _, columns, rows, _, kind = self.integers(trailer, 5)
        next(groups)
        strings = [
            (column, self.integers(each, 1)[0] - 1, np.frombuffer(each, self.form(kind), offset=self.word))
            for column, (_, *given) in enumerate(groups)
            for each in given
        ]
        return joined(strings, rows, columns)


def joined(strings: list[tuple[int, int, Array]], rows: int, columns: int) -> Any:
    """The sparse matrix of strings of entries: column, first row, values.

    >>> joined([(0, 1, np.array([3.0, 4.0])), (2, 0, np.array([5.0]))], 3, 3).toarray()
    array([[0., 0., 5.],
           [3., 0., 0.],
           [4., 0., 0.]])
    """
    from scipy.sparse import csr_array

    counts = [len(values) for *_, values in strings]
    row = np.concatenate([np.zeros(0, dtype=int), *(first + np.arange(len(values)) for _, first, values in strings)])
    column = np.repeat(np.array([column for column, *_ in strings], dtype=int), counts)
    return csr_array((np.concatenate([np.zeros(0), *(values for *_, values in strings)]), (row, column)), shape=(rows, columns))


def op2_matrices(path: Path, wanted: Collection[str]) -> dict[str, Any]:
    """Those of the wanted matrices that an OP2 file holds, sparse, by name."""
    _require_binary(path)
    found: dict[str, Any] = {}
    pool = table = ""
    with path.open("rb") as file, mmap(file.fileno(), 0, access=ACCESS_READ) as data:
        tape = Tape(data, *_WORDS[data[:4]])
        try:
            while tape.at < len(data):
                groups = tape.groups()
                table = tape.name(b"".join(next(groups)[:1]))
                if table in wanted:
                    found[table] = tape.matrix(groups)
                for group in groups:
                    if table.startswith("MATPOOL"):
                        pool += " ".join(re.findall(r"[A-Z]\w{2,3}(?= )", b"".join(group).decode("latin-1"))) + " "
        except (error, ValueError, StopIteration, IndexError):
            raise wrong(f"{path.name} is not a complete OP2 file (it ends early, in table {table}); {_END}") from None
    if not found and (pooled := sorted(set(pool.split()) & set(wanted))):
        raise wrong(f"{path.name} holds {', '.join(pooled)} as DMIG (table MATPOOL), which is not read; write them to a punch file "
                    "(EXTSEOUT(DMIGPCH), PARAM,EXTOUT,DMIGPCH) or an OP4 file (EXTSEOUT(MATOP4=unit))")
    return found


# ---- modes and bulk data, by pyNastran -------------------------------------------------------------------------------------
class _PassedOver(dict[bytes, Any]):
    """Tells pyNastran to pass over all tables but those of a pattern."""

    def __init__(self, read: re.Pattern[bytes]) -> None:
        super().__init__()
        self.read = read

    def __contains__(self, name: object) -> bool:
        return isinstance(name, bytes) and not self.read.match(name)

    def __getitem__(self, name: bytes) -> Any:
        return lambda model: _pass_over(model.op2_reader)


def _pass_over(reader: Any) -> None:
    """To the end of a table: a key below 1 has no record, and 0 ends it."""
    while (key := reader.get_marker1(rewind=False)) != 0:
        if key > 0:
            reader._skip_block()


@contextlib.contextmanager
def quietly() -> Iterator[None]:
    """pyNastran prints what it cannot read."""
    silent = io.StringIO()
    with contextlib.redirect_stdout(silent), contextlib.redirect_stderr(silent), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def read_op2(path: Path) -> Any:
    """The modes of an OP2 file, as pyNastran holds them."""
    _require_binary(path)
    require_pynastran()
    from pyNastran.op2.op2 import OP2

    try:
        return _read(OP2, path, _RESULTS)
    except (Exception, SystemExit) as reason:  # whatever is wrong with the file
        raise wrong(f"{path.name} is not a complete OP2 file ({_first_line(reason)}); {_END}") from None


def bulk_of_op2(path: Path) -> Bulk:
    """The bulk data that an OP2 file itself holds (GEOM1, EPT, ...), as pyNastran writes them out."""
    _require_binary(path)
    require_pynastran()
    from pyNastran.op2.op2_geom import OP2Geom

    try:
        model = _read(OP2Geom, path, _BULK)
        if not model.nodes:
            raise wrong(f"{path.name} has no grid points; give the bulk data, and op2={path.name!r}")
        for element in model.elements.values():
            for corner in ("T1", "T2", "T3", "T4"):                 # a thickness below zero stands for that of the property
                if (getattr(element, corner, None) or 0.0) < 0:
                    setattr(element, corner, None)
        with TemporaryDirectory() as folder, quietly():
            model.write_bdf(str(Path(folder) / "bulk.bdf"), size=16, is_double=False, interspersed=False)
            return read_bulk(Path(folder) / "bulk.bdf")
    except DescriptionError:
        raise
    except (Exception, SystemExit) as reason:
        raise wrong(f"{path.name} has no bulk data that can be read ({_first_line(reason)}); give the bulk data, and "
                    f"op2={path.name!r}") from None


def _first_line(reason: BaseException) -> str:
    return (str(reason).strip().splitlines() or [type(reason).__name__])[0][:100]


def _read(kind: Any, path: Path, tables: re.Pattern[bytes]) -> Any:
    with quietly():
        model = kind(debug=None, log=None, mode=None)
        model.include_exclude_results(include_results=["eigenvectors", "eigenvalues"])
        model.generalized_tables = _PassedOver(tables)
        model.stop_on_unclosed_file = False  # bough's own reader has checked that it is complete
        model.read_op2(str(path), build_dataframe=False)
    return model
