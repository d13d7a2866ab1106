"""The code on the pages: python prints what the page says, YAML is a system, commands of bough exist."""

import importlib
import re
from pathlib import Path

import pytest
import typer
from docs.hooks import pages

import bough
from bough.cli import app

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
COMMANDS = typer.main.get_command(app)
UsageError = typer.BadParameter.__base__              # of click, or of the copy of it inside typer
MAKE = re.search(r"^.PHONY: (.*)$", (ROOT / "Makefile").read_text(), re.MULTILINE)[1].split()


def of(kind):
    """Every block of a kind, with a name for the test; without files, which their pages use."""
    found = [(page, block) for page in PAGES for block in pages.blocks(page)]
    return [pytest.param(block, id=f"{page.relative_to(ROOT)}:{block.line}") for page, block in found
            if block.kind == kind and not block.file]


def with_code():
    """The pages that have something to run."""
    return [pytest.param(page, id=str(page.relative_to(ROOT))) for page in PAGES
            if any(block.kind == "python" for block in pages.blocks(page))]


@pytest.mark.parametrize("page", with_code())
def test_code_prints_what_the_page_says(page, tmp_path):
    pages.run(page, tmp_path)
    for name in re.findall(r"!\[[^]]*\]\(([^):]+\.png)\)", page.read_text(encoding="utf-8")):
        made = (tmp_path / name).exists() or (page.parent / name).exists() or "gallery/" in name
        assert made, f"no block of {page.name} makes {name}"


@pytest.mark.parametrize("block", of("yaml"))
def test_yaml_is_a_system_that_compiles(block, tmp_path):
    file = tmp_path / "page.yaml"
    file.write_text(block.code, encoding="utf-8")
    assert bough.load(file).compile().nv > 0


@pytest.mark.parametrize("block", of("sh"))
def test_commands_can_be_given(block, tmp_path):
    for words in pages.commands(block):
        if words[0] == "bough":
            parse(words[1:words.index(">")] if ">" in words else words[1:])
        elif words[0] == "make":
            assert set(words[1:]) <= set(MAKE)
        for word in words:
            assert not word.startswith("examples/") or (ROOT / word).exists(), word


def parse(words):
    """Read a command line as the program would, without doing what it says: what does not exist or does not fit raises."""
    command, name = COMMANDS, "bough"
    while hasattr(command, "commands") and words and not words[0].startswith("-"):
        assert words[0] in command.commands, f"there is no command {words[0]!r}"
        command, name, words = command.commands[words[0]], words[0], words[1:]
    command.make_context(name, list(words)).close()


def test_the_parser_refuses_what_does_not_exist():
    for words in (["rum", "x.yaml"], ["run", "x.yaml", "--untill", "3"], ["check"], ["bench", "everything"]):
        with pytest.raises((AssertionError, UsageError)):
            parse(words)


def test_every_public_name_is_in_the_reference():
    told = {}
    for page in (ROOT / "docs" / "api").glob("*.md"):
        text = page.read_text(encoding="utf-8")
        for path, members in re.findall(r"^::: ([\w.]+)\n(?:    options:.*?members: \[(.*?)\])?", text, re.MULTILINE):
            module, _, name = path.rpartition(".")
            for each in members.split(", ") if members else [name]:
                told[each] = getattr(importlib.import_module(path if members else module), each)
    public = {name: getattr(bough, name) for name in bough.__all__ if name != "__version__" and bough._HOME_OF[name] != "bough"}
    groups = {"motion": {"Motion"}, "shapes": {"Shape"}, "elements": {"Element"}}                   # what each adds for type hints
    for group, hints in groups.items():
        public |= {name: getattr(getattr(bough, group), name) for name in set(getattr(bough, group).__all__) - hints}
    for name, value in public.items():
        assert told.get(name) is value, name
