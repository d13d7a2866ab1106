"""The lazy public face, and the stub that tells editors and type checkers the same."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import bough
from bough.lazy import homes


@pytest.mark.parametrize("package", [bough, bough.flex])
def test_names_are_those_of_the_stub(package):
    """As Python itself reads the stub, too."""
    stub = ast.parse(Path(package.__file__).with_suffix(".pyi").read_text(encoding="utf-8"))
    imports = [node for node in stub.body if isinstance(node, ast.ImportFrom)]
    assert homes(package.__file__) == {alias.asname or alias.name: node.module for node in imports for alias in node.names}
    assert {name for name in package.__all__ if name != "__version__"} <= {alias.asname or alias.name for node in imports
                                                                           for alias in node.names}


@pytest.mark.parametrize("name", bough.__all__)
def test_every_public_name_is_there(name):
    assert getattr(bough, name) is not None
    assert name in dir(bough)


@pytest.mark.parametrize("name", bough.flex.__all__)
def test_every_name_of_flex_is_there(name):
    assert getattr(bough.flex, name) is not None


def test_groups_hold_what_is_too_general_for_the_top_level():
    assert bough.motion.Move(to=1.0, duration=2.0).duration == 2.0
    assert bough.shapes.Box((1, 1, 1)).size == (1, 1, 1)
    assert bough.elements.Line("l", "world", "b", 1, 1).length == 1
    assert callable(bough.flex.box)
    for name in ("Move", "Rate", "Box", "Line", "Table", "box"):
        assert not hasattr(bough, name)


def test_an_unknown_name_is_refused_with_the_nearest():
    with pytest.raises(AttributeError, match="did you mean 'System'"):
        bough.Sytem  # noqa: B018


def test_import_loads_nothing_slow():
    script = "import sys, bough; print([m for m in ('numpy', 'numba', 'pydantic', 'scipy', 'xarray') if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.strip() == "[]"
