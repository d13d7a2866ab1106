"""docs/trust.md: its figures are those that the commands wrote."""

import json

import pytest

from tests.support.trust_page import DOCS, gathered, made, renewed


def test_the_page_says_what_was_found():
    page = (DOCS / "trust.md").read_text()
    assert page == renewed(page, json.loads((DOCS / "trust.json").read_text())), "run `make trust`"


def test_tables_of_what_commands_write(tmp_path):
    """What is missing, falls short or was found is not hidden; what a folder lacks stays as it was."""
    case = {"room": "loops", "name": "a", "against": "x | y", "asked": 9.0, "found": 10.04, "missing": False, "fine": True}
    short = case | {"name": "b", "found": None, "fine": False}
    found = {"cases": [case, short, case | {"name": "c", "missing": True}], "seconds": 3.2, "processor_seconds": 4.9, "machine": {}}
    (tmp_path / "verify.json").write_text(json.dumps(found))
    (tmp_path / "mutants.json").write_text(json.dumps([{"name": "one", "found": True}, {"name": "two", "found": False}]))
    fuzz = {"kinds": {"laws": {"counts": {"accepted": 5, "refused: StateError": 2, "FOUND": 1}, "findings": {"3": "why"}}}}
    (tmp_path / "fuzz.json").write_text(json.dumps(fuzz))
    (tmp_path / "faults.json").write_text(json.dumps({"SIGKILL, run": {"old": 3, "new": 4}}))
    text = made(gathered(tmp_path, {"faults": {"SIGKILL, run": {"old": 9}, "full disk, run": {"old": 2}}}))
    for row in (
        "| `bough verify` | 1 cases fine, FALLING SHORT: b, 1 without their reference; 5 s of processor time, 3 s |",
        "| `make mutants` | 2 errors planted, 1 found, MISSED: two |",
        "| `make faults` | 7 kills, 2 disks or files that filled: nothing unreadable |",
        "| `make fuzz` | 8 inputs of 1 kinds, 1 findings |",
        "| laws | 8 | 5 | 0 | 0 | 2 | 0 | 0 | 1 |",
        "| SIGKILL, run | 7 | 3 old, 4 new |",
        r"| loops: x \| y | 2 | 9 | -1.0 |",
    ):
        assert row in text, row
    (tmp_path / "fuzz.json").write_text(json.dumps({"kinds": {"laws": {"counts": {"refused: KeyError": 1}, "findings": {}}}}))
    with pytest.raises(AssertionError):
        made(gathered(tmp_path, {}))
