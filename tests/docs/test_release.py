"""What a release relies on: one version, a changelog in dated sections, a citation that can be read."""
import re
from datetime import date
from pathlib import Path

import yaml

import bough

ROOT = Path(__file__).parents[2]
KINDS = {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}         # of Keep a Changelog


def sections():
    """Version, date (None of what is not released) and kinds of entries of each section of the changelog."""
    parts = re.split(r"^## ", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), flags=re.M)[1:]
    for part in parts:
        version, _, day = re.fullmatch(r"\[(.+?)\]( - (.+))?", part.splitlines()[0]).groups()
        yield version, day and date.fromisoformat(day), re.findall(r"^### (.+)$", part, flags=re.M)


def numbers(version):
    return tuple(int(n) for n in re.match(r"(\d+)\.(\d+)\.(\d+)", version).groups())


def test_changelog_has_one_open_section_and_dated_ones_below():
    (first, day, _), *released = sections()
    assert (first, day) == ("Unreleased", None)
    assert released
    assert all(day for _, day, _ in released)
    versions, days = [numbers(version) for version, _, _ in released], [day for _, day, _ in released]
    assert versions == sorted(versions, reverse=True)
    assert days == sorted(days, reverse=True)
    assert all(set(kinds) <= KINDS and len(set(kinds)) == len(kinds) for _, _, kinds in sections())


def test_the_version_is_that_of_the_newest_release_or_on_the_way_to_the_next():
    newest = next(version for version, day, _ in sections() if day)
    if ".dev" in bough.__version__:
        assert numbers(bough.__version__) > numbers(newest)
    else:
        assert bough.__version__ == newest


def test_the_version_is_said_once():
    said = [path.name for path in (ROOT / "pyproject.toml", ROOT / "CITATION.cff", ROOT / "mkdocs.yml")
            if bough.__version__ in path.read_text(encoding="utf-8")]
    assert said == []


def test_the_citation_can_be_read():
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert {"cff-version", "message", "title", "authors"} <= set(cited)
    assert len(cited["references"]) == 5                                           # the papers of docs/theory/index.md
