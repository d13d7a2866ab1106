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
    with pytest.raises(DescriptionError, match=r"b.frd holds no nodes"):
        _frd_nodes(tmp_path / "b.frd")


def test_expanded_elements_are_named(tmp_path):
    place = shaft(elements=3)[0]
    lines = [f"{i + 1}, {x}, {y}, {z}" for i, (x, y, z) in enumerate(place)]
    (tmp_path / "a.inp").write_text("*NODE\n" + "\n".join(lines) + "\n*ELEMENT, TYPE=S4\n1, 1, 2, 3, 4\n")
    (tmp_path / "a.dof").write_text("1.1\n1.2\n1.3\n101.1\n")
    with pytest.raises(DescriptionError, match=r"elements S4, which CalculiX expands into solids, .* inner nodes \(101, ...\)"):
        read_calculix(tmp_path / "a")
