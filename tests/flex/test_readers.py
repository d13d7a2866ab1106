"""Readers of other tools: real files with known values, and the same structure written in every tool's way.

Tolerances: 1e-9 m and kg m^2, places of grid points in files have ten digits.
"""

from itertools import pairwise

import numpy as np
import pytest
from scipy.io import mmwrite
from scipy.linalg import block_diag
from scipy.sparse import csr_array, tril

from bough.errors import DescriptionError
from bough.flex import beam_model, from_matrices, read_abaqus, read_ansys, read_calculix, read_nastran
from bough.flex.integrals import ModalIntegrals
from bough.flex.nastran_bulk import Frame, read_bulk
from tests.support.compare import solving
from tests.support.fe_files import FOLDER, needs_pynastran, real_files
from tests.support.tolerance import CANCELLING, printed


# ---- files of real tools ---------------------------------------------------------------------------------------------------
@real_files
def test_ansys_rotor():
    folder = FOLDER / "ansys"
    model = read_ansys(
        folder / "rotorAnsysStiffnessMatrixSparse.txt",
        folder / "rotorAnsysMassMatrixSparse.txt",
        folder / "rotorAnsysNodalCoordinates.txt",  # decimal commas
        mapping=folder / "rotorAnsysMatrixDofMappingVector.txt",
        elements=folder / "rotorAnsysElements.txt",
        attach={"left": 3, "right": 7},
    )
    assert model.reduce("free-free", modes=4).frequencies[0] == pytest.approx(104.63701055, abs=5e-9)  # as printed
    assert model.faces.max() < 115


@real_files
def test_abaqus_block():
    model = read_abaqus(FOLDER / "abaqus" / "blockC3D8.inp", attach={"end": "Set-1"}, declared_mass=2900.0 * 4.0)
    body = model.reduce("free-free", modes=2)
    assert body.mass == pytest.approx(11600.0, rel=1e-6)  # places are given in single precision
    assert body.com == pytest.approx([2.0, 0.5, 0.5], abs=1e-6)  # the same
    rigid = model.rigid_motion()
    assert abs(model.stiffness @ rigid).max() < 1e-6 * abs(model.stiffness).max()  # the same
    assert body.frequencies[0] > 100


@real_files
def test_nastran_beam_of_bars():
    needs_pynastran()
    folder = FOLDER / "nastran"
    modes = read_nastran(
        folder / "beam_modes.dat", op2=folder / "beam_modes_m1.op2", attach={"root": 1, "tip": 11}, inboard="root", units="in-lbf-s"
    )
    printed = (folder / "beam_modes.f06").read_text().split("R E A L   E I G E N V A L U E S")[1].splitlines()[3:13]
    for square, line in zip((2 * np.pi * modes.frequencies) ** 2, printed, strict=True):
        digits, power = line.split()[2].split("E")
        # all the digits, but for single precision in the OP2
        assert abs(square - float(digits) * 10.0 ** int(power)) <= 0.5e-6 * 10.0 ** int(power) + square * 2.0**-24
    lumped = np.diagonal(ModalIntegrals.from_points(modes.points()).Mff)
    assert lumped == pytest.approx(modes.modal_mass, rel=2e-7)  # single precision
    body = modes.reduce(modes=6)
    assert body.reduction == "cantilever"
    assert body.integrals.Mff == pytest.approx(np.eye(6), abs=CANCELLING)


@real_files
def test_nastran_op2_with_its_own_bulk_data():
    """Grid points, elements, properties and the CONM2 out of the OP2 file alone: the same body."""
    needs_pynastran()
    folder = FOLDER / "nastran"
    options = {"attach": {"root": 1, "tip": 11}, "inboard": "root", "units": "in-lbf-s"}
    alone = read_nastran(folder / "beam_modes_m1.op2", **options)
    known = read_nastran(folder / "beam_modes.dat", op2=folder / "beam_modes_m1.op2", **options)
    assert alone.frequencies.tolist() == known.frequencies.tolist()
    assert alone.position == pytest.approx(known.position)
    assert alone.mass == pytest.approx(known.mass, rel=1e-6)  # single precision
    assert alone.inertia == pytest.approx(known.inertia, rel=1e-6, abs=1e-12)  # the same
    with pytest.raises(DescriptionError, match=r"plate_py.op2 has no grid points; give the bulk data, and op2='plate_py.op2'"):
        read_nastran(folder / "plate_py.op2")


@real_files
def test_nastran_free_plate():
    needs_pynastran()
    folder = FOLDER / "nastran"
    modes = read_nastran(folder / "plate_py.dat", op2=folder / "plate_py.op2", units="in-lbf-s", attach={"corner": 1})
    body = modes.reduce()
    assert body.n_modes == 4  # ten are given, six are rigid
    assert body.mass == pytest.approx(7.3315e-4 * 2 * 1 * 0.125 * 175.126835, rel=1e-6)  # single precision
    assert np.abs(body.integrals.t).max() < 1e-9


@real_files
def test_truncated_op2_is_named(tmp_path):
    needs_pynastran()
    folder = FOLDER / "nastran"
    whole = (folder / "plate_py.op2").read_bytes()
    for share in (0.1, 0.5, 0.9):
        (tmp_path / "cut.op2").write_bytes(whole[: int(share * len(whole))])
        with pytest.raises(DescriptionError, match=r"cut.op2 is not a complete OP2 file|holds neither matrices"):
            read_nastran(folder / "plate_py.dat", op2=tmp_path / "cut.op2")


# ---- one structure, every format -------------------------------------------------------------------------------------------
def shaft(elements=6):
    """A beam along a slanted line, with a consistent mass matrix, numbered 11, 12, ...; places, M and K."""
    model = beam_model(
        1.5, E=7e10, G=2.7e10, area=1e-3, Iy=8e-8, Iz=5e-8, J=1e-7, density=2700.0, elements=elements, timoshenko=True
    )
    turn = np.linalg.qr(np.random.default_rng(5).normal(size=(3, 3)))[0]
    turn = turn * np.sign(np.linalg.det(turn))
    wide = np.kron(np.eye(2 * len(model.position)), turn)
    place = model.position @ turn.T + [0.2, -0.1, 0.4]
    return place, *((wide @ each.toarray() @ wide.T) for each in (model.mass, model.stiffness))


ROUNDED = solving(shaft()[2][6:, 6:])          # frequencies of a shaft that is clamped


def expected(place, M, K, **options):
    return from_matrices(M, K, place, attach={"root": 0, "tip": len(place) - 1}, inboard="root", modes=5, **options)


def assert_same(body, other, rel=ROUNDED):
    assert body.frequencies == pytest.approx(other.frequencies, rel=rel)
    assert body.mass == pytest.approx(other.mass, rel=rel)
    assert body.com == pytest.approx(other.com, rel=rel, abs=1e-9)
    assert body.inertia == pytest.approx(other.inertia, rel=rel, abs=1e-9)


def write_inp(path, labels, place):
    lines = ["*NODE", *(f"{label}, {x:.17g}, {y:.17g}, {z:.17g}" for label, (x, y, z) in zip(labels, place, strict=True))]
    lines += ["*ELEMENT, TYPE=B31", *(f"{i}, {a}, {b}" for i, (a, b) in enumerate(pairwise(labels), start=1))]
    path.write_text("\n".join([*lines, f"*NSET, NSET=Tip\n{labels[-1]}"]))


@pytest.mark.parametrize("form", ["coordinate", "matrix input"])
def test_abaqus_formats(tmp_path, form):
    place, M, K = shaft()
    labels = list(range(11, 11 + len(place)))
    write_inp(tmp_path / "shaft.inp", labels, place)
    plain = str.maketrans("", "", "()")
    for kind, matrix in (("STIF", K), ("MASS", M)):
        entries = csr_array(matrix if form == "coordinate" else tril(csr_array(matrix))).tocoo()
        names = [(labels[i // 6], i % 6 + 1) for i in range(len(matrix))]
        rows = zip(*entries.coords, entries.data, strict=True)
        text = (
            [f"{i + 1} {j + 1} {v:.16e}" for i, j, v in rows]
            if form == "coordinate"
            else ["** by Abaqus", "*MATRIX", *(f"{names[i]}, {names[j]}, {v:.16e}".translate(plain) for i, j, v in rows)]
        )
        (tmp_path / f"shaft_{kind}1.mtx").write_text("\n".join(text))
    model = read_abaqus(tmp_path / "shaft.inp", attach={"root": 11, "tip": "TIP"}, inboard="root")
    assert_same(model.reduce(modes=5), expected(place, M, K))


def test_units_of_millimeters_and_tons(tmp_path):
    place, M, K = shaft()
    scale = np.tile([1.0] * 3 + [1e3] * 3, len(place))  # rotations: moments in N mm
    body = from_matrices(
        M / 1e3 * np.outer(scale, scale), K / 1e3 * np.outer(scale, scale), place * 1e3, units="mm-t-s",
        attach={"root": 0, "tip": len(place) - 1}, inboard="root", modes=5,
    )  # fmt: skip
    assert_same(body, expected(place, M, K))
    with pytest.raises(DescriptionError, match="'mm-N-s' is not LENGTH-MASS-TIME"):
        from_matrices(M, K, place, units="mm-N-s", attach={"root": 0})


@pytest.mark.parametrize("named", [True, False])
def test_ansys_mapping(tmp_path, named):
    place, M, K = shaft()
    order = np.random.default_rng(1).permutation(len(place))
    rows = (6 * order[:, None] + np.arange(6)).ravel()
    for name, matrix in (("K", K), ("M", M)):
        mmwrite(tmp_path / f"{name}.mtx", tril(csr_array(matrix[np.ix_(rows, rows)])), precision=17, symmetry="general")
    (tmp_path / "nodes.txt").write_text(
        "number;x;y;z\n" + "\n".join(f"{i + 1};{x};{y};{z}".replace(".", ",") for i, (x, y, z) in enumerate(place.tolist()))
    )
    labels = ("UX", "UY", "UZ", "ROTX", "ROTY", "ROTZ")
    text = (
        "\n".join(f"{i + 1:8d} {r // 6 + 1:8d}  {labels[r % 6]}" for i, r in enumerate(rows))
        if named
        else "\n".join(str(each + 1) for each in order)
    )
    (tmp_path / "map.txt").write_text(text)
    model = read_ansys(
        tmp_path / "K.mtx", tmp_path / "M.mtx", tmp_path / "nodes.txt", mapping=tmp_path / "map.txt",
        attach={"root": 1, "tip": len(place)}, inboard="root",
    )  # fmt: skip
    assert_same(model.reduce(modes=5), expected(place, M, K))


def test_ansys_harwell_boeing(tmp_path):
    from scipy.io import hb_write

    place, M, K = shaft()
    for name, matrix in (("K", K), ("M", M)):
        hb_write(str(tmp_path / f"{name}.hb"), tril(csr_array(matrix)).tocsc())
    np.savetxt(tmp_path / "nodes.txt", np.column_stack([np.arange(1, len(place) + 1), place]), fmt="%d %.17g %.17g %.17g")
    model = read_ansys(
        tmp_path / "K.hb", tmp_path / "M.hb", tmp_path / "nodes.txt", attach={"root": 1, "tip": len(place)}, inboard="root"
    )
    assert_same(model.reduce(modes=5), expected(place, M, K))


# ---- Nastran ---------------------------------------------------------------------------------------------------------------
FRAMES = """\
CORD2R        10       0     0.1     0.2     0.3     0.5     0.2     0.9
             1.1     0.3     0.2
CORD2C        20      10     0.0     0.1     0.0     0.0     0.1     1.0
             1.0     0.1     0.0
CORD2S,30,20,0.5,10.,0.2,0.5,10.,1.2
,1.5,60.,0.2
"""


def frames():
    ten = _frame("R", (0.1, 0.2, 0.3), (0.5, 0.2, 0.9), (1.1, 0.3, 0.2))
    twenty = _frame("C", *(ten.place(np.array(each)) for each in ((0.0, 0.1, 0), (0, 0.1, 1), (1, 0.1, 0))))
    thirty = _frame("S", *(twenty.place(np.array(each)) for each in ((0.5, 10.0, 0.2), (0.5, 10, 1.2), (1.5, 60, 0.2))))
    return {10: ten, 20: twenty, 30: thirty}


def _frame(kind, a, b, c):
    a, b, c = (np.array(each, dtype=float) for each in (a, b, c))
    z = (b - a) / np.linalg.norm(b - a)
    y = np.cross(z, c - a) / np.linalg.norm(np.cross(z, c - a))
    return Frame(kind, a, np.stack([np.cross(y, z), y, z], axis=1))


def local(frame, place):
    """The coordinates of a place in a system, the other way round than the reader goes."""
    x, y, z = frame.axes.T @ (place - frame.origin)
    if frame.kind == "R":
        return x, y, z
    if frame.kind == "C":
        return np.hypot(x, y), np.degrees(np.arctan2(y, x)), z
    return np.sqrt(x * x + y * y + z * z), np.degrees(np.arctan2(np.hypot(x, y), z)), np.degrees(np.arctan2(y, x))


def dmig(name, matrix, rows):
    text = [f"DMIG,{name},0,6,2,0,,,{len(rows)}"]
    for j, (grid, component) in enumerate(rows):
        text.append(f"{'DMIG*':8}{name:<16}{grid:16d}{component:16d}{'':16}")
        for i in range(j, len(rows)):
            if matrix[i, j]:
                text.append(f"{'*':8}{rows[i][0]:16d}{rows[i][1]:16d}{matrix[i, j]:16.9E}".replace("E", "D"))
    return "\n".join(text)


def bulk_text(labels, place, systems):
    known = frames() | {0: Frame("R", np.zeros(3), np.eye(3))}
    text = ["BEGIN BULK", FRAMES.rstrip()]
    for label, spot, (cp, cd) in zip(labels, place, systems, strict=True):
        x, y, z = local(known[cp], spot)
        text.append(f"{'GRID*':8}{label:16d}{cp:16d}{x:16.9E}{y:16.9E}\n{'*':8}{z:16.9E}{cd:16d}")
    return "\n".join(text), [known[cd].directions(spot) for spot, (_, cd) in zip(place, systems, strict=True)]


def test_nastran_dmig_in_local_coordinate_systems(tmp_path):
    place, M, K = shaft(elements=4)
    labels = [3, 7, 20, 21, 22]
    text, axes = bulk_text(labels, place, [(0, 0), (10, 20), (20, 30), (30, 10), (10, 0)])
    turn = block_diag(*(each.T for pair in axes for each in (pair, pair)))
    rows = [(label, i) for label in labels for i in range(1, 7)]
    entries = [dmig(name, turn @ matrix @ turn.T, rows) for name, matrix in (("KGG", K), ("MGG", M))]
    (tmp_path / "shaft.bdf").write_text("\n".join([text, "SPC1,1,123456,3", *entries, "ENDDATA"]))
    model = read_nastran(tmp_path / "shaft.bdf", attach={"root": 3, "tip": 22}, inboard="root")
    assert_same(model.reduce(modes=5), expected(place, M, K), rel=1e-5)  # ten digits in the file, of which stretching takes four
    assert model.notes == ("supports of 1 grid points (SPC, SPC1) are left out: the body is free",)


def test_nastran_rigid_elements_are_eliminated(tmp_path):
    """A lump on a stand-off (RBE2) and a mean motion of three points (RBE3), against the same by hand."""
    place, M, K = shaft(elements=4)
    n = len(place)
    labels = list(range(1, n + 1))
    lump, center = place[-1] + [0.1, 0.2, 0.0], place[[0, 1, 2]].mean(axis=0)
    text, _ = bulk_text([*labels, 50, 60], [*place, lump, center], [(0, 0)] * (n + 2))
    rows = [(label, i) for label in labels for i in range(1, 7)]
    heavy = block_diag(M, np.diag([2.0, 2, 2, 0.01, 0.02, 0.03]))
    cards = f"RBE2,1,{n},123456,50\nRBE2,2,1,123456,60"
    more = [*rows, *((50, i) for i in range(1, 7))]
    (tmp_path / "lump.bdf").write_text("\n".join([text, cards, dmig("KGG", K, rows), dmig("MGG", heavy, more)]))
    model = read_nastran(tmp_path / "lump.bdf", attach={"root": 1, "tip": n, "instrument": 50}, inboard="root")
    body = model.reduce(modes=5)
    arm = lump - place[-1]
    shift = np.eye(6)
    shift[:3, 3:] = -np.array([[0, -arm[2], arm[1]], [arm[2], 0, -arm[0]], [-arm[1], arm[0], 0]])
    by_hand = M.copy()
    by_hand[-6:, -6:] += shift.T @ np.diag([2.0, 2, 2, 0.01, 0.02, 0.03]) @ shift
    assert_same(body, expected(place, by_hand, K), rel=1e-5)  # entries of ten digits, of which bending takes a difference
    at = body.nodes.index
    turned = body.nodes.phi[at("tip")] + np.cross(body.nodes.psi[at("tip")], arm, axis=0)
    assert body.nodes.phi[at("instrument")] == pytest.approx(turned, abs=1e-9)  # arms between places of ten digits
    with pytest.raises(DescriptionError, match=r"'instrument' cannot be an interface, since node 50, x follows another node"):
        model.reduce("craig-bampton", interfaces=["instrument"], modes=2)


def test_interface_in_the_middle_of_a_mean_motion(tmp_path):
    """An RBE3 whose center is an interface: the same as a spring-free mean of three corners; it may be fixed, too."""
    rng = np.random.default_rng(2)
    place = np.vstack([rng.normal(size=(5, 3)), [[0.0, 0, 0]]])
    arms = [(i, j) for i in range(5) for j in range(i)]
    K = np.zeros((36, 36))
    for i, j in arms:
        along = (place[i] - place[j]) / np.linalg.norm(place[i] - place[j])
        ends = np.zeros(36)
        ends[6 * i : 6 * i + 3], ends[6 * j : 6 * j + 3] = along, -along
        K += 1e4 * np.outer(ends, ends)
    rows = [(i + 1, k) for i in range(5) for k in (1, 2, 3)]
    pick = [6 * (i - 1) + k - 1 for i, k in rows]
    text, _ = bulk_text(range(1, 7), place, [(0, 0)] * 6)
    cards = ["RBE3,9,,6,123456,1.0,123,1,2,", ",3,4,5"]
    M = np.eye(36) * 0.5
    files = [text, *cards, dmig("KGG", K[np.ix_(pick, pick)], rows), dmig("MGG", M[np.ix_(pick, pick)], rows)]
    (tmp_path / "cage.bdf").write_text("\n".join(files))
    body = read_nastran(tmp_path / "cage.bdf", attach={"hub": 6, "corner": 1}, inboard="hub").reduce(modes=4)
    assert np.abs(body.nodes.phi[0]).max() < CANCELLING
    free = read_nastran(tmp_path / "cage.bdf", attach={"corner": 1}).reduce("free-free", modes=4)
    assert free.mass == pytest.approx(2.5)
    # by hand: the rigid motion nearest to that of the five corners vanishes
    from scipy.linalg import eigh, null_space

    rigid = np.vstack([np.hstack([np.eye(3), -np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])]) for x, y, z in place[:5]])
    basis = null_space(rigid.T)
    inner = K[np.ix_(pick, pick)]
    squares = eigh(basis.T @ inner @ basis, 0.5 * basis.T @ basis, eigvals_only=True)
    # squares of directions of bars, between two places each
    assert (2 * np.pi * body.frequencies) ** 2 == pytest.approx(squares[:4], rel=8 * printed(10))


def test_nastran_op4(tmp_path):
    needs_pynastran()
    from pyNastran.op4.op4 import OP4

    place, M, K = shaft(elements=3)
    text, _ = bulk_text([1, 2, 3, 4], place, [(0, 0)] * 4)
    (tmp_path / "shaft.bdf").write_text(text)
    OP4(debug=None).write_op4(str(tmp_path / "shaft.op4"), {"KGG": (6, K), "MGG": (6, M)}, is_binary=False)
    model = read_nastran(tmp_path / "shaft.bdf", matrices=tmp_path / "shaft.op4", attach={"root": 1, "tip": 4}, inboard="root")
    assert_same(model.reduce(modes=5), expected(place, M, K))
    (tmp_path / "cut.op4").write_bytes((tmp_path / "shaft.op4").read_bytes()[:500])
    with pytest.raises(DescriptionError, match=r"cut.op4 is not a complete OP4 file|has no stiffness"):
        read_nastran(tmp_path / "shaft.bdf", matrices=tmp_path / "cut.op4")


def test_bulk_data_fields(tmp_path):
    (tmp_path / "part.bdf").write_text("GRID           2           1.5-1\nGRID,3,,1.,2.\n")
    lines = ["SOL 103", "BEGIN BULK", "INCLUDE 'part.bdf'", "$ a note", "GRID*                  1               0 0.5", "*"]
    (tmp_path / "all.bdf").write_text("\n".join([*lines, "ENDDATA", "GRID,9"]))
    bulk = read_bulk(tmp_path / "all.bdf")
    assert bulk.labels.tolist() == [1, 2, 3]
    assert bulk.position == pytest.approx(np.array([[0.5, 0, 0], [0.15, 0, 0], [1.0, 2.0, 0]]))


# ---- what is refused -------------------------------------------------------------------------------------------------------
def test_wrong_files_are_named(tmp_path):
    place = shaft(elements=3)[0]
    write_inp(tmp_path / "a.inp", [1, 2, 3, 4], place)
    (tmp_path / "a_STIF1.mtx").write_text("1 1 1.0\n2 2 1.0\n")
    (tmp_path / "a_MASS1.mtx").write_text("1 1 1.0\n")
    with pytest.raises(DescriptionError, match=r"2 dofs for 4 nodes with elements.*FORMAT=MATRIX INPUT"):
        read_abaqus(tmp_path / "a.inp")
    write_inp(tmp_path / "b.inp", [1, 2, 3, 4], place)
    with pytest.raises(DescriptionError, match=r"there is no b_STIF1.mtx beside b.inp"):
        read_abaqus(tmp_path / "b.inp")
    with pytest.raises(DescriptionError, match=r"'.*none.inp' does not exist"):
        read_abaqus(tmp_path / "none.inp")
    with pytest.raises(DescriptionError, match=r"a.dof' does not exist; write it with \*FREQUENCY, SOLVER=MATRIXSTORAGE"):
        read_calculix(tmp_path / "a")
    (tmp_path / "a.dof").write_text("1.1\n1.2\n1.3\n9.1\n")
    for name in ("sti", "mas"):
        (tmp_path / f"a.{name}").write_text("".join(f"{i} {i} 1.0\n" for i in range(1, 5)))
    with pytest.raises(DescriptionError, match=r"elements B31, which CalculiX expands into solids, .* nodes \(9, ...\)"):
        read_calculix(tmp_path / "a")
    (tmp_path / "a.dof").write_text("1.1\n1.2\n1.3\n2.1\n")
    (tmp_path / "a.mas").write_text("1 1 1.0\n2 2 1.0")
    with pytest.raises(DescriptionError, match=r"a.mas has 2 dofs, but the .dof file lists 4; give files of one run"):
        read_calculix(tmp_path / "a")
    (tmp_path / "x.txt").write_text("nonsense")
    with pytest.raises(DescriptionError, match=r"x.txt is not a table of nodes"):
        read_ansys(tmp_path / "x.txt", tmp_path / "x.txt", tmp_path / "x.txt")
    with pytest.raises(DescriptionError, match=r"x.txt has no GRID"):
        read_nastran(tmp_path / "x.txt")


def test_structures_that_are_none_are_named():
    place, M, K = shaft(elements=3)

    def refused(match, M=M, K=K, place=place, **options):
        given = {"attach": {"root": 0, "tip": 3}, "inboard": "root", "modes": 3} | options
        with pytest.raises(DescriptionError, match=match):
            from_matrices(M, K, place, **given)

    negative = M.copy()
    negative[13, 13] *= -1
    refused("the mass of node 2 along y is .*, below zero", M=negative)
    weak = K.copy()
    weak[0, 0] = -1.0
    refused("the stiffness of node 0 along x is -1, below zero", K=weak)
    indefinite = K - 2 * np.linalg.eigvalsh(K)[8] * np.eye(len(K))
    refused("the stiffness is indefinite", K=indefinite)
    infinite = K.copy()
    infinite[5, 5] = np.nan
    refused("stiffness matrix holds numbers that are not finite", K=infinite)
    loose_M, loose_K = block_diag(M, np.eye(6)), block_diag(K, np.zeros((6, 6)))
    refused("node 4 has mass but no stiffness", M=loose_M, K=loose_K, place=np.vstack([place, [9, 9, 9]]))
    refused("node 'tip': the model has no node 77; give a number from 0 to 3", attach={"root": 0, "tip": 77})
    refused(r"a spider holds two nodes or more", spiders={"hub": [1]})
    refused(r"24 dofs for 5 nodes", place=np.vstack([place, [9, 9, 9]]))
    two = block_diag(K, K)
    refused("rigid-body", M=block_diag(M, M), K=two, place=np.vstack([place, place + 5.0]))


def test_spider_over_a_face():
    """A rigid face of a solid: its center moves as the face does, and turns; stiffer than the mean of the same face."""
    from bough.flex.solids import box, solid_model

    model = solid_model(box((1, 0.2, 0.1), (5, 2, 1)), E=1e9, nu=0.3, density=1e3, attach={}, order=1)
    root, tip = (np.flatnonzero(np.isclose(model.position[:, 0], x)) for x in (0.0, 1.0))
    hub = (1.2, 0.1, 0.05)
    spiders = {"root": root, "tip": {"nodes": tip, "at": hub}}
    body = from_matrices(model.mass, model.stiffness, model.position, spiders=spiders, inboard="root", origin=(0, 0, 0), modes=4)
    mean = from_matrices(model.mass, model.stiffness, model.position, attach={"root": root, "tip": tip}, inboard="root", modes=4)
    assert body.nodes.position[1] == pytest.approx(hub)
    assert body.mass == pytest.approx(20.0)
    assert (body.frequencies > mean.frequencies).all()
    share = 0.1**3  # of the bending compliance that is within one height of the tip, where the rigid face stiffens
    assert body.frequencies[0] == pytest.approx(mean.frequencies[0], rel=share)
    arm = np.array([0.2, 0, 0])  # from the face to the hub
    face = mean.nodes.phi[1] + np.cross(mean.nodes.psi[1], arm, axis=0)
    assert abs(body.nodes.phi[1, 2, 0]) == pytest.approx(abs(face[2, 0]), rel=share)
    deflection = body.static_deflection("tip", force=(0, 0, 1.0), moment=(0, 0.3, 0))
    assert body.rotation(deflection)["tip"][1] != 0
