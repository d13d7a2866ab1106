"""The site: it builds without a warning, all links and anchors lead somewhere, and no page asks the internet for anything."""

import re
from pathlib import Path

import pytest

mkdocs = pytest.importorskip("mkdocs.commands.build", reason="mkdocs is missing: pip install '.[docs]'")
pytest.importorskip("mkdocstrings", reason="mkdocstrings is missing: pip install '.[docs]'")
ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The site without its pictures, which tests of the pages and of the gallery make."""
    from mkdocs.config import load_config

    folder = tmp_path_factory.mktemp("site")
    config = load_config(str(ROOT / "mkdocs.yml"), site_dir=str(folder), strict=True)
    config.extra["pictures"] = False
    config.plugins.on_startup(command="build", dirty=False)
    mkdocs.build(config)                                      # raises where a page warns
    return folder


def test_nothing_is_loaded_from_the_internet(site):
    loads = re.compile(r"<(?:script|img|iframe|source|link)\b[^>]+(?:src|href)=[\"']?(?:https?:)?//")
    for page in site.rglob("*.html"):
        assert not loads.search(page.read_text(encoding="utf-8")), page.name


def test_every_docstring_of_the_reference_is_rendered(site):
    for page in (site / "api").glob("*.html"):
        text = page.read_text(encoding="utf-8")
        assert "<blockquote>" not in text, f"{page.name}: a doctest reads as a quotation"
        assert 'class="doc doc-contents' in text, f"{page.name}: empty"


def test_docstrings_become_markdown():
    from docs.hooks.docstrings import to_markdown

    assert to_markdown("A sum.  Of two.\n\n>>> 1 + 1\n2") == "A sum.  Of two.\n\n```pycon\n>>> 1 + 1\n2\n```"
    assert to_markdown("q0    start\nuntil end") == "```text\nq0    start\nuntil end\n```"


def test_readme_links_lead_somewhere():
    for page in (ROOT / "README.md", ROOT / "examples" / "README.md"):
        for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page}: {target}"
