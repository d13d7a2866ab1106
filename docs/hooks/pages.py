"""The code on a page. Its blocks run from top to bottom, in one folder and one namespace:

    python   is executed; a `text` block right behind it is what it prints, or the error in which it ends ("..." is anything)
    yaml     and others become a file where the sentence before them ends in its name: "This is `arm.yaml`:"
    sh       followed by a `text` block is run if it calls bough; all others are only read

The tests run every page like this, and so does the site where a page shows a picture that its own code makes.
"""

import contextlib
import doctest
import io
import re
import shlex
import traceback
from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path
from typing import NamedTuple

FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
FILE_NAME = re.compile(r"`([\w-]+\.\w+)`:\n\n$")


class Block(NamedTuple):
    """A fenced block, the text of the `text` block right behind it, and the file that it is."""

    kind: str
    code: str
    output: str | None
    file: str | None
    line: int


def blocks(page: Path) -> list[Block]:
    """The blocks of a page in order, each with what it is said to print."""
    text = page.read_text(encoding="utf-8")
    found = list(FENCE.finditer(text))
    told = []
    for block, behind in zip_longest(found, found[1:]):
        adjacent = behind is not None and behind[1] == "text" and not text[block.end():behind.start()].strip()
        name = FILE_NAME.search(text[:block.start()])
        line = text[:block.start()].count("\n") + 2
        told.append(Block(block[1], block[2], behind[2] if adjacent else None, name[1] if name else None, line))
    return told


def run(page: Path, folder: Path) -> None:
    """Run all blocks of a page in a folder; what does not print what the page says fails."""
    names: dict[str, object] = {"__name__": page.stem}
    with contextlib.chdir(folder):
        for block in blocks(page):
            if block.file:
                Path(block.file).write_text(block.code, encoding="utf-8")
            elif block.kind == "python":
                check(page, block, printed(block, page, names))
            elif block.kind == "sh" and block.output is not None:
                check(page, block, "".join(called(words[1:]) for words in commands(block) if words[0] == "bough"))


def check(page: Path, block: Block, got: str) -> None:
    """Compare what a block printed with what the page says: nothing, where no `text` block follows."""
    if not doctest.OutputChecker().check_output(block.output or "", got, doctest.ELLIPSIS):
        raise AssertionError(f"{page.name}:{block.line} prints\n{got}\nand not\n{block.output}")


def printed(block: Block, page: Path, names: dict[str, object]) -> str:
    """What python code prints; of an error that the page tells, its last line."""
    out = io.StringIO()
    code = compile("\n" * (block.line - 1) + block.code, str(page), "exec")
    try:
        with contextlib.redirect_stdout(out):
            exec(code, names)
    except Exception as error:
        told = "".join(traceback.format_exception_only(error))
        if block.output is None or told.split(":")[0] not in block.output:
            raise
        out.write(told)
    return out.getvalue()


def called(arguments: list[str]) -> str:
    """What a call of bough prints, and its errors."""
    from bough.cli import main

    out, errors = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(errors), contextlib.suppress(SystemExit):
        main(arguments)
    return out.getvalue() + "".join(line for line in errors.getvalue().splitlines(True) if line.startswith("error:"))


def commands(block: Block) -> Iterator[list[str]]:
    """The lines of a shell block as words, without comments."""
    for line in block.code.splitlines():
        if words := shlex.split(line, comments=True):
            yield words
