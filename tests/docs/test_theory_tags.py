"""Every equation that the code cites stands in docs/theory, and every equation there is used by the code."""
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
TAG = re.compile(r"\[(S|JR|J|MC|B) (\d+)(?:-(\d+))?\]")


def tags(files):
    """All tags in files, ranges written out."""
    found = set()
    for file in files:
        for source, first, last in TAG.findall(file.read_text()):
            found.update(f"{source} {n}" for n in range(int(first), int(last or first) + 1))
    return found


def test_tags_in_code_and_theory_are_the_same():
    code, theory = tags((ROOT / "src").rglob("*.py")), tags((ROOT / "docs/theory").glob("*.md"))
    assert code, "no tags found: the pattern is out of date"
    assert sorted(code - theory) == [], "cited in the code, but not in docs/theory"
    assert sorted(theory - code) == [], "in docs/theory, but nothing in the code cites it"
