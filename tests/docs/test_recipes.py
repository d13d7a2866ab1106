"""The diffs of docs/develop/adding.md: what they change is there, so that they can be applied."""
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "develop" / "adding.md"


def hunks():
    """(file, old lines) of every hunk of the page; none of them of a file that is new."""
    for block in re.findall(r"^```diff\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE):
        for old, new, body in re.findall(r"^--- (\S+)\n\+\+\+ (\S+)\n(.*?)(?=^--- |\Z)", block, flags=re.DOTALL | re.MULTILINE):
            for hunk in body.split("@@\n")[1:]:
                lines = [line[1:] for line in hunk.splitlines() if line[:1] in (" ", "-", "")]
                yield old.removeprefix("a/"), new.removeprefix("b/"), "\n".join(lines)


@pytest.mark.parametrize("hunk", list(hunks()), ids=lambda hunk: hunk[1].rsplit("/", 1)[-1])
def test_what_a_diff_changes_is_there(hunk):
    old, new, lines = hunk
    if old == "/dev/null":
        assert not (ROOT / new).exists(), f"{new} exists by now: choose another example"
    else:
        text = (ROOT / old).read_text(encoding="utf-8")
        assert lines in text, f"{old} has changed; make the change of {PAGE.name} again, and put its new diff there"


def test_there_are_diffs():
    """An element of five files, a joint, an integrator."""
    files = [file for _, file, _ in hunks()]
    elements = {file for file in files if "elements" in file or file.endswith(("system.py", "records.py"))}
    assert len(elements) == 5
    assert {"src/bough/describe/joint_kinds.py", "src/bough/integrate/compiled/tableaus.py"} <= set(files)
