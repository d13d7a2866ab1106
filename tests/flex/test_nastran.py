"""Nastran's ways of writing: sections, includes, replicas, systems, rigid elements, constraints, lumps, external superelements."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.linalg import block_diag

from bough.errors import DescriptionError
from bough.flex import Superelement, read_nastran, superelement
from bough.flex.links import eliminate
from bough.flex.nastran_bulk import read_bulk
from bough.flex.nastran_elements import links_of, nodal_masses, supported
from bough.flex.nastran_matrices import read_dmig
from tests.flex.test_readers import assert_same, bulk_text, expected, frames, shaft
from tests.flex.test_superelements import ROUNDED, craig_bampton, tower
from tests.support.fe_files import needs_pynastran
from tests.support.tolerance import CANCELLING, SWEEP


def read(tmp_path, text):
    (tmp_path / "model.bdf").write_text(text)
    return read_bulk(tmp_path / "model.bdf")


# ---- text ------------------------------------------------------------------------------------------------------------------
def test_names_of_large_field_entries_may_stand_apart_from_their_star(tmp_path):
    """As punch files have them: 'GRID   *', and numbers that touch each other."""
    bulk = read(
        tmp_path,
        "BEGIN SUPER     111\n"
        "CORD2R *20110001                        0.193357753101591.00748371824434\n"
        "*       2.4972445000902811.498657755528812.3121940571224101.210940186196\n"
        "*       99.54392737157771.00748371824433-8.8809942249643\n"
        "GRID   *20110010        20110001        .18             -5.55467E-4\n"
        "*       0.              20110001\n",
    )
    origin = np.array([0.19335775310159, 1.00748371824434, 2.49724450009028])
    z = np.array([11.4986577555288, 12.3121940571224, 101.210940186196]) - origin
    x = np.array([99.5439273715777, 1.00748371824433, -8.8809942249643]) - origin
    z = z / np.linalg.norm(z)
    x = x - z * (x @ z)
    x = x / np.linalg.norm(x)
    assert bulk.position[0] == pytest.approx(origin + 0.18 * x - 5.55467e-4 * np.cross(z, x))
    assert bulk.axes[0] == pytest.approx(np.stack([x, np.cross(z, x), z], axis=1))


def test_includes_are_found_where_nastran_finds_them(tmp_path):
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "outer.bdf").write_text("GRID,1\nINCLUDE 'Inner.BDF'\nINCLUDE 'parts/last.bdf'\n")
    (tmp_path / "parts" / "inner.bdf").write_text("GRID,2,,1.0\n")
    (tmp_path / "parts" / "last.bdf").write_text("GRID,3,,2.0\n")
    bulk = read(tmp_path, "SOL 103\nCEND\nBEGIN BULK\nINCLUDE 'par\nts/outer.bdf'\ninclude_is_no_include\nENDDATA\n")
    assert bulk.labels.tolist() == [1, 2, 3]
    with pytest.raises(DescriptionError, match=r"model.bdf includes the file 'none.bdf', which does not exist beside it"):
        read(tmp_path, "INCLUDE 'none.bdf'\n")
    with pytest.raises(DescriptionError, match="files must not include themselves"):
        read(tmp_path, "INCLUDE 'model.bdf'\n")


def test_replicated_entries_and_lines_that_hold_their_continuations(tmp_path):
    text = "GRID, 1,, 0.0, 0.5, 0.0\n=,*11,,*.10,==\n=2\nCORD2R,7,0, 0.,0.,0., 0.,0.,1., 0.,1.,0.\nGRID,99,7,2.,0.,0.,,,,+\n"
    bulk = read(tmp_path, text)
    assert bulk.labels.tolist() == [1, 12, 23, 34, 99]
    assert bulk.position == pytest.approx(np.array([[0, 0.5, 0], [0.1, 0.5, 0], [0.2, 0.5, 0], [0.3, 0.5, 0], [0, 2, 0]]))


def test_first_section_with_grid_points_is_the_model(tmp_path):
    bulk = read(tmp_path, "BEGIN BULK\nGRID,1\nBEGIN SUPER=2\nGRID,1,,5.0\nGRID,2\nDMIG,KAAX,0,6,2\n")
    assert bulk.labels.tolist() == [1]
    assert len(bulk.cards["DMIG"]) == 1


def test_systems_by_grid_points(tmp_path):
    """A CORD2 in a CORD1, whose grid points are in a CORD2."""
    text = "CORD2R,1,0,1.,0.,0.,1.,0.,1.\n,2.,0.,0.\nGRID,1,1\nGRID,2,1,,,1.\nGRID,3,1,,1.\nCORD1C,5,1,2,3\n"
    bulk = read(tmp_path, text + "CORD2R,6,5,2.,90.,0.,2.,90.,1.\n,3.,90.,0.\nGRID,4,6,1.\n")
    assert bulk.position[3] == pytest.approx([-2, 0, 0])  # system 5: x along y, from (1, 0, 0)
    with pytest.raises(DescriptionError, match="CORD1R 8 names grid point 77, which does not exist"):
        read(tmp_path, "GRID,1\nGRID,2\nCORD1R,8,1,2,77\n")
    with pytest.raises(DescriptionError, match="coordinate system 8 is given in system 9"):
        read(tmp_path, "GRID,1\nCORD2R,8,9,0.,0.,0.,0.,0.,1.\n,1.,0.,0.\n")
    with pytest.raises(DescriptionError, match="the three points of CORD2S 8 lie on one line"):
        read(tmp_path, "GRID,1\nCORD2S,8,0,0.,0.,0.,0.,0.,1.\n,0.,0.,2.\n")


def test_nonsense_is_named(tmp_path):
    for text, match in (
        ("GRID,one\n", "GRID one has 'one' where a whole number belongs"),
        ("GRID,1,,x\n", "'x' is not a number of bulk data"),
        ("GRID,1,7\n", "GRID 1 is in coordinate system 7, which is not in the bulk data"),
        ("GRID,1\nGRID,1,,2.0\n", "GRID 1 is given twice, at different places"),
        ("=,*1\n", "there is none before it to repeat"),
    ):
        with pytest.raises(DescriptionError, match=match):
            read(tmp_path, text)
    with pytest.raises(DescriptionError, match="DMIG KGG has columns, but no head"):
        read_dmig(read(tmp_path, "GRID,1\nDMIG,KGG,1,1,,1,1,1.0\n").cards)
    with pytest.raises(DescriptionError, match="DMIG KGG is complex"):
        read_dmig(read(tmp_path, "GRID,1\nDMIG,KGG,0,6,4\nDMIG,KGG,1,1,,1,1,1.0,2.0\n").cards)


# ---- rigid elements --------------------------------------------------------------------------------------------------------
def ring(tmp_path, cards, systems=None, control=""):
    """Six grid points at random places, 1 ... 6, with axes of their own if systems are given."""
    place = np.random.default_rng(3).normal(size=(6, 3)).round(3)
    text, axes = bulk_text(range(1, 7), place, [(0, each) for each in systems or [0] * 6])
    bulk = read(tmp_path, control + text + "\n" + cards)
    _, whole = eliminate(links_of(bulk), 36, np.zeros(0, dtype=int))
    return bulk, whole.toarray(), np.array(axes)


def rigid(bulk):
    from bough.flex.finite_elements import rigid_motion

    return rigid_motion(bulk.position, 6)


KINDS = {
    "RBE2": ("RBE2,1,1,123456,2,3,4\nRBE2,2,1,12,5\n", 20),
    "RBAR": ("RBAR,1,1,2,1234,56\n", 6),
    "RBAR1": ("RBAR1,1,1,2,123456\n", 6),
    "RBE1": ("RBE1,1,1,123,2,12,3,2\n,UM,4,123,5,123456\n", 9),
    "RTRPLT": ("RTRPLT,1,1,2,3,123,12,2\n,456,3456,13456\n", 12),
    "RROD": ("RROD,1,1,2,1\n", 1),
    "RBE3": ("RBE3,1,,6,123456,1.0,123,1,2\n,3,2.0,123456,4,5\n", 6),
}


@pytest.mark.parametrize("systems", [None, [20, 30, 10, 20, 0, 30]])
@pytest.mark.parametrize("kind", sorted(KINDS))
def test_rigid_elements_let_rigid_motion_be(tmp_path, kind, systems):
    """They tie as many dofs as they say, and not one that a rigid motion moves otherwise, in axes of their own, too."""
    cards, count = KINDS[kind]
    bulk, whole, _ = ring(tmp_path, cards, systems)
    assert whole @ rigid(bulk) == pytest.approx(rigid(bulk), abs=CANCELLING)
    assert whole @ whole == pytest.approx(whole, abs=CANCELLING)
    assert 36 - round(np.trace(whole)) == count


def test_components_are_along_the_axes_of_the_grid_point(tmp_path):
    """x and y of grid point 4, in cylindrical axes, follow grid point 1; its z and its rotations are left alone."""
    bulk, whole, axes = ring(tmp_path, "RBE2,2,1,12,4\n", [0, 0, 0, 20, 0, 0])
    moved = whole @ np.random.default_rng(1).normal(size=36)
    expected = (np.eye(6) + 0) @ moved[:6]
    arm = bulk.position[3] - bulk.position[0]
    carried = expected[:3] + np.cross(expected[3:], arm)
    assert (axes[3].T @ (moved[18:21] - carried))[:2] == pytest.approx([0, 0], abs=SWEEP)
    assert abs((axes[3].T @ (moved[18:21] - carried))[2]) > 0.01


def test_multipoint_constraints(tmp_path):
    cards = "MPC,5,2,1,1.0,3,2,-0.5\n,,4,6,2.0\nMPC,5,2,3,1.0,5,3,-1.0\nMPC,6,6,1,1.0,1,1,-1.0\nMPCADD,9,5\n"
    bulk, whole, axes = ring(tmp_path, cards, [0, 20, 0, 30, 0, 0], "SOL 103\nCEND\nMPC = 9\n")
    moved = (whole @ np.random.default_rng(1).normal(size=36)).reshape(6, 6)
    own = np.concatenate([np.einsum("nji,nj->ni", axes, moved[:, :3]), np.einsum("nji,nj->ni", axes, moved[:, 3:])], axis=1)
    assert own[1, 0] - 0.5 * own[2, 1] + 2 * own[3, 5] == pytest.approx(0, abs=SWEEP)
    assert own[1, 2] == pytest.approx(own[4, 2])
    assert abs(own[5, 0] - own[0, 0]) > 0.01  # set 6 is not selected
    assert bulk.control.mpc == [9]
    with pytest.raises(DescriptionError, match=r"contain the MPC sets 5, 6, and no case control says which apply"):
        ring(tmp_path, cards.replace("MPCADD,9,5\n", ""))
    with pytest.raises(DescriptionError, match=r"MPC 5 of grid point 2 takes dof 0 of point 80"):
        ring(tmp_path, "MPC,5,2,1,1.0,80,0,1.0\n")


def test_what_is_not_eliminated_is_named(tmp_path):
    for cards, match in (
        ("RSPLINE,3,,1,2,123456,3\n", "the bulk data contain RSPLINE 3, which is not supported"),
        ("RBAR,1,1,2,123,12\n", "RBAR 1 has 5 independent dofs, which do not determine a rigid motion"),
        ("RBE2,1,1,789,2\n", "RBE2 1 has the components '789'; give digits out of 123456"),
        ("RBE3,1,,6,123456,1.0,123,1,2\n", "RBE3 1: its 2 nodes do not determine the motion of their center"),
        ("RBE2,1,77,123,2\n", "RBE2 1 names grid point 77, which is not in the bulk data"),
    ):
        with pytest.raises(DescriptionError, match=match):
            ring(tmp_path, cards)


def test_mean_motion_by_rotations_too(tmp_path):
    """Two points with all components determine what their translations alone do not; weighted least squares by hand."""
    bulk, whole, _ = ring(tmp_path, "RBE3,1,,6,123456,1.0,123456,1,2\n")
    arms = bulk.position[:2] - bulk.position[5]
    lever = np.linalg.norm(arms, axis=1).mean()
    rows = np.vstack([block_diag(np.eye(3), lever * np.eye(3)) @ rigid_at(arm) for arm in arms])
    given = np.random.default_rng(1).normal(size=36)
    scaled = np.concatenate([block_diag(np.eye(3), lever * np.eye(3)) @ given[6 * i : 6 * i + 6] for i in (0, 1)])
    nearest = np.linalg.lstsq(rows, scaled, rcond=None)[0]
    assert (whole @ given)[30:] == pytest.approx(nearest)


def rigid_at(arm):
    x, y, z = arm
    return np.block([[np.eye(3), -np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])], [np.zeros((3, 3)), np.eye(3)]])


def test_supports_that_are_selected(tmp_path):
    cards = "GRID,1\nGRID,2\nGRID,3,,,,,,3456\nGRID,4\nSPC1,1,123,1\nSPC,2,2,123,0.0,4,1\nSPC1,3,6,4\nSPCADD,8,1,2\n"
    assert supported(read(tmp_path, cards)) == [1, 2, 3, 4]
    assert supported(read(tmp_path, "SOL 103\nCEND\nSPC = 1\nBEGIN BULK\n" + cards)) == [1, 3]
    assert supported(read(tmp_path, "SOL 103\nCEND\nSPC=8\nBEGIN BULK\n" + cards)) == [1, 2, 3, 4]


# ---- lumps -----------------------------------------------------------------------------------------------------------------
def test_concentrated_masses_in_systems_of_their_own(tmp_path):
    from tests.flex.test_readers import FRAMES

    cards = (
        "GRID,1,,0.3,0.4,0.5\nGRID,2\nGRID,3,,1.,2.,3.\nGRID,4\n"
        "CONM2,10,1,10,2.0,0.1,0.2,0.3,,+\n+,0.01,0.001,0.02,0.002,0.003,0.03\n"
        "CONM2,11,3,-1,4.0,1.5,2.,3.\nCONM2,12,2,0,1.0\nPARAM,WTMASS,0.5\n"
        "CONM1,13,4,0,3.0,,3.0,,\n,3.0,,,,0.5,,,,\n,,0.6,,,,,,0.7\n"
    )
    bulk = read(tmp_path, FRAMES + cards)
    mass, offset, inertia, notes = nodal_masses(bulk, None, bulk.labels)
    axes = frames()[10].axes
    assert mass == pytest.approx([1.0, 0.5, 2.0, 1.5])
    assert offset == pytest.approx(np.array([axes @ [0.1, 0.2, 0.3], [0, 0, 0], [0.5, 0, 0], [0, 0, 0]]))
    own = np.array([[0.01, -0.001, -0.002], [-0.001, 0.02, -0.003], [-0.002, -0.003, 0.03]])
    assert inertia[0] == pytest.approx(0.5 * axes @ own @ axes.T)
    assert inertia[3] == pytest.approx(0.5 * np.diag([0.5, 0.6, 0.7]))
    assert not notes
    with pytest.raises(DescriptionError, match="grid point 4 has mass, but no eigenvectors in the OP2 file"):
        nodal_masses(bulk, None, bulk.labels[:3])
    uneven = read(tmp_path, "GRID,1\nCONM1,13,1,0,3.0,,2.0,,\n,3.0\n")
    with pytest.raises(DescriptionError, match="CONM1 13 has a mass that is not one in all directions"):
        nodal_masses(uneven, None, uneven.labels)
    left_out = read(tmp_path, "GRID,1\nCMASS2,13,1.0,1,1\n")
    assert "masses of CMASS2 are left out" in nodal_masses(left_out, None, left_out.labels)[3][0]


# ---- matrices without names of rows ----------------------------------------------------------------------------------------
def op4(path, **matrices):
    needs_pynastran()
    from pyNastran.op4.op4 import OP4

    OP4(debug=None).write_op4(str(path), {name: (6, each) for name, each in matrices.items()}, is_binary=False)


def test_external_superelement_in_an_op4_file(tmp_path):
    """EXTSEOUT(EXTBULK, MATOP4): the punch file lists the dofs (EXTRN), one matrix of one entry stands for none."""
    M, K, place = tower()
    T = craig_bampton(M, K, np.r_[0:6, len(K) - 6 : len(K)], 5)
    m, k = T.T @ M @ T, T.T @ K @ T
    text, _ = bulk_text([101, 205], [place[0], place[-1]], [(0, 0), (0, 0)])
    listing = "EXTRN,101,123456,205,123456,9001,0,9002,0\n,9003,0,9004,0,9005,0\nSPOINT,9001,THRU,9005\n"
    (tmp_path / "ext.pch").write_text(text.replace("BEGIN BULK", "BEGIN SUPER=7") + "\n" + listing)
    op4(tmp_path / "ext.op4", KAA=k, MAA=m, BXX=np.zeros((1, 1)))
    found = read_nastran(tmp_path / "ext.pch", matrices=tmp_path / "ext.op4", attach={"root": 101, "tip": 205}, inboard="root")
    assert isinstance(found, Superelement)
    other = superelement(m, k, {"root": place[0], "tip": place[-1]}, inboard="root")
    assert found.reduce().frequencies == pytest.approx(other.frequencies, rel=ROUNDED)
    op4(tmp_path / "wrong.op4", KAA=k[1:, 1:], MAA=m[1:, 1:])
    with pytest.raises(DescriptionError, match=r"KAA is 16 x 16, but .* have 17 dofs of 2 grid points and 5 scalar points"):
        read_nastran(tmp_path / "ext.pch", matrices=tmp_path / "wrong.op4")
    op4(tmp_path / "half.op4", KAA=k)
    with pytest.raises(DescriptionError, match=r"ext.pch has KAA, but no mass matrix \(MGG, MAAX"):
        read_nastran(tmp_path / "ext.pch", matrices=tmp_path / "half.op4")


def test_matrices_of_the_analysis_set(tmp_path):
    """KAA without rows of supports: ASET1 lists what is left, and the rest of the grid points has no dofs."""
    place, M, K = shaft(elements=4)
    text, _ = bulk_text([1, 2, 3, 4, 5], place, [(0, 0)] * 5)
    middle = place[2] + [0, 0.1, 0]
    text += f"\n{'GRID*':8}{9:16d}{'':16}{middle[0]:16.9E}{middle[1]:16.9E}\n{'*':8}{middle[2]:16.9E}"
    (tmp_path / "a.bdf").write_text(text + "\nASET1,123456,1,THRU,5\n")
    op4(tmp_path / "a.op4", KAA=K, MAA=M)
    model = read_nastran(tmp_path / "a.bdf", matrices=tmp_path / "a.op4", attach={"root": 1, "tip": 5}, inboard="root")
    assert_same(model.reduce(modes=5), expected(place, M, K))


def test_idle_scalar_points_do_not_make_a_superelement(tmp_path):
    place, M, K = shaft(elements=4)
    text, _ = bulk_text([1, 2, 3, 4, 5], place, [(0, 0)] * 5)
    (tmp_path / "a.bdf").write_text(text + "\nSPOINT,80,81\n")
    zero = np.zeros((2, 2))
    op4(tmp_path / "a.op4", KGG=block_diag(K, zero), MGG=block_diag(M, zero))
    model = read_nastran(tmp_path / "a.bdf", matrices=tmp_path / "a.op4", attach={"root": 1, "tip": 5}, inboard="root")
    assert_same(model.reduce(modes=5), expected(place, M, K))


# ---- subcases --------------------------------------------------------------------------------------------------------------
def test_modes_of_the_subcase_that_is_asked_for(tmp_path):
    """Two subcases of one title, complex modes beside them: eigenvalues and generalized masses of the right one."""
    from bough.flex.nastran import _frequencies, _other_subcases, _table

    def modes(subcase, squares, code=2):
        data = np.zeros((2, 1, 6))
        return SimpleNamespace(isubcase=subcase, analysis_code=code, eigns=np.array(squares), modes=[1, 2], data=data)

    def values(squares, masses):
        return SimpleNamespace(mode=np.array([1, 2, 3]), eigenvalues=np.array(squares), generalized_mass=np.array(masses))

    results = SimpleNamespace(
        eigenvectors={1: modes(1, [4.0, 9.0]), 2: modes(2, [16.0, 25.0]), 3: modes(3, [1.0, 1.0], code=9)},
        eigenvalues={"a": values([16.0, 25.0, 30.0], [7.0, 8.0, 9.0]), "b": values([4.0, 9.0, 10.0], [1.0, 2.0, 3.0])},
    )
    for subcase, squares, masses in ((None, [4.0, 9.0], [1, 2]), (2, [16.0, 25.0], [7, 8])):
        table = _table(results, tmp_path / "x.op2", subcase)
        found = _frequencies(results, table)
        assert (2 * np.pi * found[0]) ** 2 == pytest.approx(squares)
        assert found[1].tolist() == masses
    assert _other_subcases(results, results.eigenvectors[1]) == ["modes of subcase 1; there are those of 2, too: subcase="]
    with pytest.raises(DescriptionError, match=r"x.op2 has no modes of subcase 3; it has those of 1, 2"):
        _table(results, tmp_path / "x.op2", 3)
    del results.eigenvectors[1], results.eigenvectors[2]
    with pytest.raises(DescriptionError, match=r"x.op2 holds complex modes or those of buckling alone"):
        _table(results, tmp_path / "x.op2", None)


# ---- superelements ---------------------------------------------------------------------------------------------------------
def test_interfaces_that_do_not_turn():
    """Coordinates with neither stiffness nor mass, as of nodes on solid elements, are passed over; massless ones follow."""
    M, K, place = tower()
    T = craig_bampton(M, K, np.r_[0:6, len(K) - 6 : len(K)], 5)
    m, k = T.T @ M @ T, T.T @ K @ T
    nodes = {"root": place[0], "tip": place[-1], "pad": place[-1] + [0.1, 0, 0]}
    order = np.r_[0:12, 17:23, 12:17]
    spring = np.zeros((23, 23))  # a pad, massless, on three springs from the tip
    lever = rigid_at(np.array([0.1, 0, 0]))[:3]
    row = np.hstack([-lever, np.eye(3)])
    at = np.r_[6:12, 17:20]
    spring[np.ix_(at, at)] = 1e7 * row.T @ row
    whole_m, whole_k = block_diag(m, np.zeros((6, 6))), block_diag(k, np.zeros((6, 6))) + spring
    pick = np.ix_(order, order)
    plain = {name: nodes[name] for name in ("root", "tip")}
    for inboard in ("root", None):
        body = superelement(whole_m[pick], whole_k[pick], nodes, inboard=inboard)
        other = superelement(m, k, plain, inboard=inboard)
        assert body.frequencies == pytest.approx(other.frequencies, rel=ROUNDED)
        assert body.nodes.rotates[2] is False
        phi, psi = other.nodes.phi[1], other.nodes.psi[1]
        assert np.abs(body.nodes.phi[2]) == pytest.approx(np.abs(phi + np.cross(psi, [0.1, 0, 0], axis=0)), abs=ROUNDED)


def test_resisted_rigid_motion_is_named_with_its_dofs():
    M, K, place = tower()
    T = craig_bampton(M, K, np.r_[0:6, len(K) - 6 : len(K)], 5)
    k = T.T @ K @ T
    k[7, 7] += 1e-2 * k.max()
    with pytest.raises(DescriptionError, match=r"resists rigid motion \(share .*\), above all at tip, y"):
        superelement(T.T @ M @ T, k, {"root": place[0], "tip": place[-1]})


# ---- decks of other days ---------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "cp1252"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_encodings_and_ends_of_lines(tmp_path, encoding, end):
    """The note has a letter that is a line's end in other encodings."""
    text = end.join(["GRID,7,,1.,2.,3.", "$ a panel\u2026 GRID,9,,0.,0.,0.", "grid\t8\t\t1.5\t2.\t3.", ""])
    (tmp_path / "model.bdf").write_bytes(text.encode(encoding))
    assert read_bulk(tmp_path / "model.bdf").position.tolist() == [[1, 2, 3], [1.5, 2, 3]]


def test_continuations_that_stand_elsewhere(tmp_path):
    """By the marks in their first and last fields, in small, large and free field."""
    bulk = read(
        tmp_path,
        "CORD2R  7               0.      0.      0.      0.      0.      1.      +A\n"
        "CORD2R  8               1.      0.      0.      1.      0.      1.      +B\n"
        "+B      2.      0.      0.\n"
        "GRID*   1                               1.0             2.0             *G1\n"
        "GRID*   2                               4.0             5.0             *G2\n"
        "*G2     6.0\n"
        "+A      1.      0.      0.\n"
        "*G1     3.0\n"
        "CORD2R,9,,0.,0.,0.,0.,0.,1.,+C\nGRID,3,9,7.,8.,9.\n+C,0.,1.,0.\n",
    )
    assert bulk.position[:2].tolist() == [[1, 2, 3], [4, 5, 6]]
    assert bulk.position[2] == pytest.approx([-8, 7, 9])
    assert bulk.frames[8].origin.tolist() == [1, 0, 0]


def test_ranges_far_beyond_the_grid_points(tmp_path):
    """1 THRU 99999999 means all that are there."""
    grids = "GRID,1,,0.,0.,0.\nGRID,70000000,,1.,0.,0.\n"
    assert supported(read(tmp_path, grids + "SPC1,1,123456,1,THRU,99999999\n")) == [1, 70000000]
    for card in ("SPC1,1,123456,9,THRU,3", "RBE2,1,1,123456,2,THRU,99999999"):
        with pytest.raises(DescriptionError, match=r"goes from \d THRU \d+; give a first and a last number"):
            links_of(bulk := read(tmp_path, f"{grids}{card}\n")) or supported(bulk)


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("GRID,-5,,1.,2.,3.", "a GRID has the number -5; give whole numbers from 1 on"),
        ("GRID,,,1.,2.,3.", "a GRID has the number blank"),
        ("GRID,1,,nan,2.,3.", "'nan' is not a number of bulk data"),
        ("GRID,1,,1.+400,2.,3.", r"'1.\+400' is not a number of bulk data"),
        ("GRID    1               1,5     2,0     3,0", "has no GRID; .* its fields in columns or between commas"),
        ("GRID,1\nCORD2R,9,,0.,0.,0.,0.,0.,1.\n,1.,0.,0.\nCORD2R,9,,5.,0.,0.,5.,0.,1.\n,6.,0.,0.",
         "coordinate system 9 is given twice, and not alike"),
        ("GRID,1\nGRID,2\nMPC,1,1,x,1.,2,1,-1.", "MPC 1 of grid point 1 takes dof x of point 1"),
        ("GRID,1\nGRID,2\nMPC,1,1,7,1.,2,1,-1.", "MPC 1 of grid point 1 takes dof 7 of point 1"),
        ("GRID,1\nDMIG,KGG,0,6,2,0\nDMIG,KGG,1,7,,1,7,5.", "DMIG KGG has component 7 of point 1; give 0 to 6"),
        ("GRID,1\nDMIG,KGG,0,9,2,0,,,3\nDMIG,KGG,1,1,,1,1,5.", r"DMIG KGG is rectangular \(form 9\); give a square or symmetric"),
        ("GRID,1\nDMIG,KGG,0,6,4,0\nDMIG,KGG,1,1,,1,1,5.,1.", "DMIG KGG is complex; give real matrices"),
        ("GRID,1\nDMIG,KGG,0,6,2,0\nDMIG,KGG,1,1,,1,2,5.\nDMIG,KGG,1,2,,1,1,5.", r"is symmetric \(form 6\), but has both"),
        ("GRID,1\nCONM2,1,1,0,2.\nCONM2,2,1,0,-5.", "the mass at grid point 1 is -3, below zero; check its CONM2"),
    ],
)  # fmt: skip
def test_what_no_deck_should_say(tmp_path, text, match):
    with pytest.raises(DescriptionError, match=match):
        links_of(bulk := read(tmp_path, text)) or read_dmig(bulk.cards) or nodal_masses(bulk, None, bulk.labels)


# ---- what pyNastran leaves behind ------------------------------------------------------------------------------------------
def test_no_file_is_left_behind_and_nothing_printed(tmp_path, monkeypatch, capsys):
    """pyNastran dumps decks that it cannot read into the working directory (pyNastran_crash.bdf), and prints a lot."""
    needs_pynastran()
    monkeypatch.chdir(tmp_path)
    (tmp_path / "decks").mkdir()
    grids = "GRID,1,,0.,0.,0.\nGRID,2,,1.,0.,0.\n"
    decks = {
        "include": grids + "INCLUDE 'nowhere.bdf'\n",
        "quote": grids + "INCLUDE 'nowhere.bdf\n",
        "property": grids + "CBAR,1,7,1,2,0.,0.,1.\n",
        "material": grids + "CBAR,1,7,1,2,0.,0.,1.\nPBAR,7,3,1.\n",
        "section": grids + "CBEAM,1,7,1,2,0.,0.,1.\nPBEAML,7,3,,TUBE\n,.2,.195,0.,YES,1.,.4,.395,0.\nMAT1,3,7.+10,,.3,2700.\n",
    }
    for name, text in decks.items():
        path = tmp_path / "decks" / f"{name}.bdf"
        path.write_text(text)
        with pytest.raises(DescriptionError, match=r"does not exist|pyNastran cannot find the masses of the elements"):
            nodal_masses(read_bulk(path), None, np.array([1, 2]))
        with pytest.raises(DescriptionError, match=r"does not exist|is not a binary OP2 file"):
            read_nastran(path, op2=path)
    assert [each.name for each in tmp_path.iterdir()] == ["decks"]
    assert len(list((tmp_path / "decks").iterdir())) == len(decks)
    assert capsys.readouterr() == ("", "")
