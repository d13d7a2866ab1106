"""CalculiX's files beside the matrices: result files with nodes, and what its shells and beams do."""

import numpy as np
import pytest

from bough.errors import DescriptionError
from bough.flex import read_calculix
from bough.flex.calculix import _frd_nodes
from tests.flex.test_readers import shaft


def frd(width, flag):
    lines = ["    1C", f"    2C{2:30d}{flag:38d}", f" -1{7:{width}d}{0.5:12.5E}{-0.25:12.5E}{0.0:12.5E}"]
    return "\n".join([*lines, f" -1{12:{width}d}{-1e-3:12.5E}{-2.5:12.5E}{-3.0:12.5E}", " -3", " -1    1    2"])


@pytest.mark.parametrize(("width", "flag"), [(10, 1), (5, 0)])
def test_nodes_of_result_files(tmp_path, width, flag):
    (tmp_path / "a.frd").write_text(frd(width, flag))
    found = _frd_nodes(tmp_path / "a.frd")
    assert found.labels.tolist() == [7, 12]
    assert found.position == pytest.approx(np.array([[0.5, -0.25, 0], [-1e-3, -2.5, -3]]))
    (tmp_path / "b.frd").write_text("    1C\n 9999\n")
    with pytest.raises(DescriptionError, match=r"b.frd has no nodes"):
        _frd_nodes(tmp_path / "b.frd")


def test_expanded_elements_are_named(tmp_path):
    place = shaft(elements=3)[0]
    lines = [f"{i + 1}, {x}, {y}, {z}" for i, (x, y, z) in enumerate(place)]
    (tmp_path / "a.inp").write_text("*NODE\n" + "\n".join(lines) + "\n*ELEMENT, TYPE=S4\n1, 1, 2, 3, 4\n")
    (tmp_path / "a.dof").write_text("1.1\n1.2\n1.3\n101.1\n")
    with pytest.raises(DescriptionError, match=r"elements S4, which CalculiX expands into solids, .* inner nodes \(101, ...\)"):
        read_calculix(tmp_path / "a")


@pytest.mark.parametrize(
    ("dofs", "stiffness", "nodes", "match"),
    [
        ("1.0 1.1 1.2", "", "", "the matrices have dof 0 of node 1; give 1 to 6"),
        ("1.1 1.2 1.7", "", "", "the matrices have dof 7 of node 1; give 1 to 6"),
        ("1.1 1.2 1.2", "", "", "two rows of the matrices are for y of node 1"),
        ("1.1 1.2 x", "", "", "does not consist of lines NODE.DOF"),
        ("1.1 1.2 1.3", "0 1 5.0 3 3 1.0", "", "j.sti has 3 dofs, but"),
        ("1.1 1.2 1.3", "1 1", "", "does not consist of lines ROW COLUMN VALUE"),
        ("1.1 1.2 1.3", "", " -1         1 1.00000E+00x2.00000E+00 3.00000E+00", "b.frd has the node '-1 "),
        ("1.1 1.2 1.3", "", " -1       1.5 1.00000E+00 2.00000E+00 3.00000E+00", "b.frd has the node '-1 "),
    ],
)
def test_damaged_files_are_named(tmp_path, dofs, stiffness, nodes, match):
    (tmp_path / "j.inp").write_text("*NODE\n1, 0., 0., 0.\n")
    (tmp_path / "j.dof").write_text("\n".join(dofs.split()))
    whole = "1 1 1.0\n2 2 1.0\n3 3 1.0\n"
    (tmp_path / "j.sti").write_text(stiffness or whole)
    (tmp_path / "j.mas").write_text(whole)
    (tmp_path / "b.frd").write_text(f"    2C                             1                                     1\n{nodes}\n -3\n")
    with pytest.raises(DescriptionError, match=match):
        read_calculix(tmp_path / "j", nodes=tmp_path / "b.frd" if nodes else None)
