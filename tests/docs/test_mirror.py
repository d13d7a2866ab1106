"""Tests mirror the sources: folders are those of the package, and a file that bears a module's name is in that module's folder."""
import ast
from pathlib import Path

TESTS = Path(__file__).parents[1]
SOURCES = TESTS.parent / "src" / "bough"
MORE = {"oracles", "physics", "docs", "support"}                    # folders that have no sources of their own
ELSEWHERE = {"progress": "cli", "connections": "integrate", "friction": "integrate", "implicit": "integrate",    # in runs
             "buoyancy": "sweeps", "bushing": "sweeps", "restoring": "sweeps",      # described in describe/parts; their kernels
             "exudyn": "oracles", "mujoco": "oracles", "pinocchio": "oracles"}      # peers


def folders(of):
    return {path.name for path in of.iterdir() if path.is_dir() and any(path.glob("*.py"))}


def test_folders_are_those_of_the_package():
    modules = {path.stem for path in SOURCES.glob("*.py")}
    assert folders(TESTS) - MORE <= folders(SOURCES) | modules
    assert folders(SOURCES) - folders(TESTS) <= {"peers"}


def test_files_are_in_the_folder_of_their_module():
    homes = {path.stem: path.relative_to(SOURCES).parent.parts[:1] for path in SOURCES.rglob("*.py") if path.stem != "__init__"}
    for path in TESTS.rglob("test_*.py"):
        name, folder = path.stem.removeprefix("test_"), path.relative_to(TESTS).parent.parts[:1]
        assert name not in homes or folder == ((ELSEWHERE[name],) if name in ELSEWHERE else homes[name]), path


def test_every_file_says_what_it_tests():
    for path in TESTS.rglob("test_*.py"):
        assert ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))), path
