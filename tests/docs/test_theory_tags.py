"""Tags of equations: docs/theory/equations.md says for each its page and the files of its code, and that is where it stands.

`python -m tests.docs.test_theory_tags` writes the pages and files of the list anew, where lines have moved.
"""
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
THEORY, SOURCE = ROOT / "docs/theory", ROOT / "src/bough"
LIST = THEORY / "equations.md"
TAG = re.compile(r"\[(S|JR|JSC|J|MC|B) (\d+(?:\.\d+)?)(?:-(\d+))?\]")
DEFINITION = re.compile(r"\*\*\[(S|JR|JSC|J|MC|B) (\d+(?:\.\d+)?)\]\*\*")
ROW = re.compile(r"^\| `(\w+ [\d.]+)` \| (.*?) \| (.*?) \| (.*?) \|$", re.MULTILINE)


def tags(text):
    """All tags in a text, ranges written out."""
    return {f"{source} {n}" for source, first, last in TAG.findall(text)
            for n in (range(int(first), int(last) + 1) if last else [first])}


def listed():
    """{tag: (page, files)} of the list."""
    return {tag: (re.findall(r"\((.*?)\)", page), re.findall(r"`(.*?)`", code))
            for tag, _, page, code in ROW.findall(LIST.read_text(encoding="utf-8"))}


def defined():
    """{tag: pages that state its equation}"""
    found = {}
    for page in sorted(THEORY.glob("*.md")):
        for source, number in DEFINITION.findall(page.read_text(encoding="utf-8")):
            found.setdefault(f"{source} {number}", []).append(page.name)
    return found


def coded():
    """{tag: files that carry it}"""
    found = {}
    for file in sorted(SOURCE.rglob("*.py")):
        for tag in tags(file.read_text(encoding="utf-8")):
            found.setdefault(tag, []).append(file.relative_to(SOURCE).as_posix())
    return found


def test_every_equation_is_stated_once():
    assert {tag: pages for tag, pages in defined().items() if len(pages) > 1} == {}
    assert {"S", "JR", "JSC", "J", "MC", "B"} == {tag.split()[0] for tag in defined()}


def test_the_list_has_every_equation_on_its_page():
    assert {tag: pages for tag, (pages, _) in listed().items()} == defined()


def test_code_carries_the_tags_that_the_list_says_file_by_file():
    code, theory = coded(), {tag: files for tag, (_, files) in listed().items()}
    assert code, "no tags found: the pattern is out of date"
    for tag in sorted(code.keys() | theory.keys()):
        assert code.get(tag) == theory.get(tag), f"[{tag}]: the code has it in {code.get(tag)}, docs/theory/equations.md says " \
            f"{theory.get(tag)}; where lines have only moved, python -m tests.docs.test_theory_tags writes the list anew"


def test_pages_mention_only_equations_that_there_are():
    for page in THEORY.glob("*.md"):
        assert tags(page.read_text(encoding="utf-8")) <= defined().keys(), page.name


def rewritten():
    """The list with the pages and files of today; what equations say stays."""
    pages, code = defined(), coded()

    def row(match):
        tag = match[1]
        links = ", ".join(f"[{page.removesuffix('.md')}]({page})" for page in pages.get(tag, []))
        return f"| `{tag}` | {match[2]} | {links} | {', '.join(f'`{file}`' for file in code.get(tag, []))} |"

    return ROW.sub(row, LIST.read_text(encoding="utf-8"))


if __name__ == "__main__":
    LIST.write_text(rewritten(), encoding="utf-8")
