"""The diffs of docs/develop/adding.md apply: each hunk's context and replaced lines stand once, together, in its file."""
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "develop" / "adding.md"


def hunks():
    """(old file, new file, the lines before the change, in one piece) of every hunk of the page."""
    for block in re.findall(r"^```diff\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE):
        for old, new, body in re.findall(r"^--- (\S+)\n\+\+\+ (\S+)\n(.*?)(?=^--- |\Z)", block, flags=re.DOTALL | re.MULTILINE):
            for hunk in body.split("@@\n")[1:]:
                before = "\n".join(line[1:] for line in hunk.splitlines() if line[:1] != "+")
                yield old.removeprefix("a/"), new.removeprefix("b/"), before


@pytest.mark.parametrize("hunk", list(hunks()), ids=lambda hunk: hunk[1].rsplit("/", 1)[-1])
def test_a_diff_applies(hunk):
    old, new, before = hunk
    if old == "/dev/null":
        assert not (ROOT / new).exists(), f"{new} exists by now: choose another example"
    else:
        text = (ROOT / old).read_text(encoding="utf-8")
        assert text.count(before) == 1, f"{old} has changed; make the change of {PAGE.name} anew"


def test_there_are_diffs():
    """An element of five files, a joint, an integrator."""
    files = [file for _, file, _ in hunks()]
    elements = {file for file in files if "/parts/" in file or file.endswith(("force_elements.py", "system.py", "records.py"))}
    assert len(elements) == 5
    assert {"src/bough/describe/joint.py", "src/bough/integrate/methods.py"} <= set(files)
