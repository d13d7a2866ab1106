"""Ansys's ways of writing: Harwell-Boeing files of both kinds, mappings in every direction, tables of nodes."""

import numpy as np
import pytest
from scipy.io import mmwrite
from scipy.linalg import block_diag
from scipy.sparse import csc_array, csr_array, tril

from bough.errors import DescriptionError
from bough.flex import from_matrices, read_ansys
from bough.flex.ansys import _nodes
from tests.flex.test_readers import assert_same, expected, shaft

LABELS = ("UX", "UY", "UZ", "ROTX", "ROTY", "ROTZ")


def rotation(axis, angle):
    """About x, y or z: columns are the turned axes."""
    i, j = (axis + 1) % 3, (axis + 2) % 3
    found = np.eye(3)
    found[[i, j], [i, j]] = np.cos(angle)
    found[j, i], found[i, j] = np.sin(angle), -np.sin(angle)
    return found


def harwell_boeing(matrix, kind, per_line, form, width, digits, rhs=False):
    """As HBMAT writes them: one number a line or several, D exponents, right-hand sides at the end."""
    stored = csc_array(tril(csc_array(matrix))) if kind == "RSA" else csc_array(matrix)
    stored.sort_indices()

    def lines(values, each):
        texts = [each(value) for value in values]
        return ["".join(texts[i : i + per_line]) for i in range(0, len(texts), per_line)]

    integer, number = (lambda value: f"{value + 1:14d}"), (lambda value: f"{value:{width}.{digits}E}".replace("E", "D"))
    parts = [lines(stored.indptr, integer), lines(stored.indices, integer), lines(stored.data, number)]
    right = lines(np.zeros(len(matrix)), number) if rhs else []
    counts = [sum(map(len, parts)) + len(right), *map(len, parts), len(right)]
    head = [f"{'stiffness matrix from the full file':72}{'ANSYS':8}", "".join(f"{each:14d}" for each in counts)]
    head.append(f"{kind:14}" + "".join(f"{each:14d}" for each in (len(matrix), len(matrix), stored.nnz, 0)))
    head.append(f"{f'({per_line}I14)':16}{f'({per_line}I14)':16}{form:20}{form:20}")
    if rhs:
        head.append(f"{'F':14}{1:14d}{0:14d}")
    return "\n".join([*head, *parts[0], *parts[1], *parts[2], *right]) + "\n"


@pytest.mark.parametrize(
    ("kind", "per_line", "form", "rhs"),
    [("RSA", 1, "(1D25.16)", True), ("RUA", 3, "(1P,3D25.16)", False), ("RSA", 2, "(2D25.16)", False)],
)
def test_harwell_boeing(tmp_path, kind, per_line, form, rhs):
    place, M, K = shaft()
    for name, matrix in (("K", K), ("M", M)):
        (tmp_path / f"{name}.matrix").write_text(harwell_boeing(matrix, kind, per_line, form, 25, 16, rhs))
    np.savetxt(tmp_path / "nodes.txt", np.column_stack([np.arange(1, len(place) + 1), place]), fmt="%d %.17g %.17g %.17g")
    options = {"attach": {"root": 1, "tip": len(place)}, "inboard": "root"}
    model = read_ansys(tmp_path / "K.matrix", tmp_path / "M.matrix", tmp_path / "nodes.txt", **options)
    assert_same(model.reduce(modes=5), expected(place, M, K))
    text = (tmp_path / "K.matrix").read_text()
    for cut, why in ((text[: len(text) // 2], "numbers where its head says"), (text.replace(kind, "CSA", 1), "it is of type CSA")):
        (tmp_path / "cut.matrix").write_text(cut)
        with pytest.raises(DescriptionError, match=rf"cut.matrix is not a complete .* of the stiffness matrix \(.*{why}"):
            read_ansys(tmp_path / "cut.matrix", tmp_path / "M.matrix", tmp_path / "nodes.txt")


def test_numbers_that_touch_each_other(tmp_path):
    matrix = np.array([[4.0, -1.25], [-1.25, 3.0]]) * 1e10
    text = harwell_boeing(matrix, "RSA", 3, "(3D16.9)", 16, 9)
    from bough.flex.reading import read_harwell_boeing

    assert "D+10-1" in text
    assert read_harwell_boeing(text).toarray() == pytest.approx(matrix)


@pytest.mark.parametrize("form", ["equations", "commas", "in order", "nodes", "back", "forward"])
def test_mappings(tmp_path, form):
    """Equations in the order of a solver; node numbers with gaps, where the mapping names them."""
    place, M, K = shaft()
    numbers = 10 * np.arange(1, len(place) + 1) if form in ("equations", "commas", "in order") else np.arange(1, len(place) + 1)
    order = np.random.default_rng(3).permutation(len(place))
    rows = (6 * order[:, None] + np.arange(6)).ravel()
    if form not in ("nodes",):
        rows = np.random.default_rng(4).permutation(rows)
    names = [(numbers[r // 6], LABELS[r % 6]) for r in rows]
    text = {
        "equations": " Matrix Eqn    Node  DOF\n" + "\n".join(f"{i:9d} {a:9d}  {b}" for i, (a, b) in enumerate(names, start=1)),
        "commas": "\n".join(f"{i},{a},{b.lower()}" for i, (a, b) in enumerate(names, start=1)),
        "in order": "\n".join(f"{a} {b}" for a, b in names),
        "nodes": "\n".join(str(each + 1) for each in order),
        "back": "%%MatrixMarket matrix array integer general\n" + f"{len(rows)} 1\n" + "\n".join(str(each + 1) for each in rows),
        "forward": "\n".join(str(each + 1) for each in np.argsort(rows)),
    }[form]
    (tmp_path / "map.txt").write_text(text)
    for name, matrix in (("K", K), ("M", M)):
        mmwrite(tmp_path / f"{name}.mtx", csr_array(matrix[np.ix_(rows, rows)]), precision=17, symmetry="symmetric")
    lines = [f"{n} " + " ".join(f"{each:.17g}" for each in spot) for n, spot in zip(numbers, place, strict=True)]
    (tmp_path / "nodes.txt").write_text("\n".join(lines))
    options = {"attach": {"root": int(numbers[0]), "tip": int(numbers[-1])}, "inboard": "root"}
    model = read_ansys(tmp_path / "K.mtx", tmp_path / "M.mtx", tmp_path / "nodes.txt", mapping=tmp_path / "map.txt", **options)
    assert_same(model.reduce(modes=5), expected(place, M, K))


def test_supported_dofs_are_named(tmp_path):
    """Equations of supports are not in the matrices: what is left is held there, and said so."""
    place, M, K = shaft()
    keep = [i for i in range(len(K)) if i not in (0, 1, 2, 4)]
    for name, matrix in (("K", K), ("M", M)):
        mmwrite(tmp_path / f"{name}.mtx", csr_array(matrix[np.ix_(keep, keep)]), precision=17, symmetry="symmetric")
    (tmp_path / "map.txt").write_text("\n".join(f"{i} {r // 6 + 1} {LABELS[r % 6]}" for i, r in enumerate(keep, start=1)))
    np.savetxt(tmp_path / "nodes.txt", np.column_stack([np.arange(1, len(place) + 1), place]), fmt="%d %.17g %.17g %.17g")
    model = read_ansys(tmp_path / "K.mtx", tmp_path / "M.mtx", tmp_path / "nodes.txt", mapping=tmp_path / "map.txt")
    assert "4 dofs of 1 nodes are not in the matrices (supports, or equations) and are held" in model.notes[0]
    assert any("is not free" in note for note in model.notes)
    (tmp_path / "map.txt").write_text("\n".join(f"{i} {r // 6 + 90} {LABELS[r % 6]}" for i, r in enumerate(keep, start=1)))
    with pytest.raises(DescriptionError, match="the matrices have dofs of node 90, which has no coordinates"):
        read_ansys(tmp_path / "K.mtx", tmp_path / "M.mtx", tmp_path / "nodes.txt", mapping=tmp_path / "map.txt")


@pytest.mark.parametrize(
    "text",
    [
        "   NODE        X             Y             Z\n\n   1   0.0   0.5   0.0\n   2  1.5  -2.5E-01  3.0  0.0 0.0\n",
        "1, 0.0, 0.5, 0.0\n2, 1.5, -0.25, 3.0\n",
        "1;0,0;0,5;0,0\n2;1,5;-0,25;3,0\n",
        "1 0,0 0,5 0,0\n2 1,5 -2,5e-1 3,0\n",
        "1,0,0.5,0\n2,1.5,-0.25,3\n",
        "Node\tX Location (m)\tY Location (m)\tZ Location (m)\n1\t0\t0.5\t0\n2\t1.5\t-0.25\t3\n",
        "1 0.0 0.5\n2 1.5D0 -0.25 3.0\n",
        "  NODE   X   Y   Z   THXY\n   1  0.00000000 0.50000000 0.00000000\n   2  1.50000000-0.25000000 3.00000000\n",
        "/PREP7\nN,1,0,0.5\nN,2,1.5,-0.25,3\n",
        "NBLOCK,3,,1\n(1i8,3e20.9e3)\n       1    0.000000000E+000    5.000000000E-001\n      -1\n"
        "NBLOCK,3,,1\n(1i8,3e16.9)\n       2 1.500000000E+00-2.500000000E-01 3.000000000E+00\n      -1\n",
        "/PREP7\nNBLOCK,6,SOLID,2,2\n(3i9,6e21.13e3)\n        1        0        0 0.0000000000000E+000 5.0000000000000E-001\n"
        "        2        0        0 1.5000000000000E+000-2.5000000000000E-001 3.0000000000000E+000\nN,R5.3,LOC,       -1,\n",
    ],
)
def test_tables_of_nodes(tmp_path, text):
    for encoding in ("utf-8", "utf-8-sig", "utf-16"):
        (tmp_path / "nodes.txt").write_bytes(text.encode(encoding))
        labels, places, _ = _nodes(tmp_path / "nodes.txt")
        assert labels.tolist() == [1, 2]
        assert places == pytest.approx(np.array([[0, 0.5, 0], [1.5, -0.25, 3]]))
    (tmp_path / "twice.txt").write_text("1 0.0 0.0 0.0\n1 1.0 0.0 0.0\n")
    with pytest.raises(DescriptionError, match=r"twice.txt gives node 1 twice"):
        _nodes(tmp_path / "twice.txt")
    (tmp_path / "cut.cdb").write_text("NBLOCK,3,,1\n(1i8,3e16.9)\n       2 1.50000x000E+00\n      -1\n")
    with pytest.raises(DescriptionError, match=r"cut.cdb has a damaged NBLOCK"):
        _nodes(tmp_path / "cut.cdb")


@pytest.mark.parametrize("kind", ["named", "vector"])
def test_nodes_with_axes_of_their_own(tmp_path, kind):
    """NROTAT: dofs along nodal axes, by the angles THXY, THYZ, THZX of NLIST."""
    place, M, K = shaft()
    angles = np.zeros((len(place), 3))
    angles[[0, 2]] = [[30.0, 0.0, 0.0], [-20.0, 50.0, 70.0]]
    axes = [rotation(2, a) @ rotation(0, b) @ rotation(1, c) for a, b, c in np.radians(angles)]
    turn = block_diag(*(each for local in axes for each in (local, local)))
    for name, matrix in (("K", K), ("M", M)):
        mmwrite(tmp_path / f"{name}.mtx", csr_array(turn.T @ matrix @ turn), precision=17)
    rows = [f"{i + 1} {' '.join(f'{each:.17g}' for each in (*place[i], *angles[i]))}" for i in range(len(place))]
    (tmp_path / "nodes.txt").write_text("\n".join(["NODE X Y Z THXY THYZ THZX", *rows]))
    named = [f"{i + 1} {i // 6 + 1} {LABELS[i % 6]}" for i in range(len(K))]
    lines = named if kind == "named" else map(str, range(1, len(place) + 1))
    (tmp_path / "map.txt").write_text("\n".join(lines))
    options = {"mapping": tmp_path / "map.txt", "attach": {"root": 1, "tip": len(place)}, "inboard": "root"}
    model = read_ansys(tmp_path / "K.mtx", tmp_path / "M.mtx", tmp_path / "nodes.txt", **options)
    assert_same(model.reduce(modes=5), expected(place, M, K))


def test_mappings_that_name_a_dof_twice(tmp_path):
    place, M, K = shaft()
    for name, matrix in (("K", K), ("M", M)):
        mmwrite(tmp_path / f"{name}.mtx", csr_array(matrix), precision=17)
    np.savetxt(tmp_path / "nodes.txt", np.column_stack([np.arange(1, len(place) + 1), place]), fmt="%d %.17g %.17g %.17g")
    lines = [f"{i + 1} {i // 6 + 1} {LABELS[i % 6]}" for i in range(len(K))]
    (tmp_path / "map.txt").write_text("\n".join([lines[0], lines[1].replace("UY", "UX"), *lines[2:]]))
    with pytest.raises(DescriptionError, match="two rows of the matrices are for x of node 1; give the mapping of the same model"):
        read_ansys(tmp_path / "K.mtx", tmp_path / "M.mtx", tmp_path / "nodes.txt", mapping=tmp_path / "map.txt")


def test_damaged_matrix_market_files_are_named(tmp_path):
    """Among them ones that bring down SciPy's reader, and with it Python."""
    from bough.flex.reading import read_matrix_market

    head = "%%MatrixMarket matrix "
    for text, why in (
        (head + "array integer general\n3 1\n1\n2\n3\n4\n5\n", "5 numbers where its head says 3"),
        (head + "coordinate real general\n2 2 2\n1 1 1.0\n", "1 entries where its head says 2"),
        (head + "coordinate real general\n2 2 1\n3 1 1.0\n", "outside of its 2 rows and 2 columns"),
        (head + "coordinate complex general\n1 1 1\n1 1 1.0 2.0\n", "its numbers are complex"),
        (head + "coordinate real general\n", "the line with its sizes is missing"),
        ("%%MatrixMarket vector\n1\n", "its first line is"),
    ):
        with pytest.raises(ValueError, match=why):
            read_matrix_market(text)
    skew = read_matrix_market(head + "coordinate real skew-symmetric\n2 2 1\n2 1 1.5\n").toarray()
    assert skew.tolist() == [[0, -1.5], [1.5, 0]]
    lower = read_matrix_market(head + "array real symmetric\n2 2\n1.0\n2.0\n3.0\n").toarray()
    assert lower.tolist() == [[1, 2], [2, 3]]
    (tmp_path / "K.mtx").write_text(head + "coordinate real general\n2 2 2\n1 1 1.0\n")
    with pytest.raises(DescriptionError, match=r"the file 'K.mtx' for K cannot be read \(it holds 1 entries"):
        from_matrices(np.eye(6), tmp_path / "K.mtx", [(0, 0, 0), (1, 0, 0)])
