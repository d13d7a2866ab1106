"""No module needs, while it is imported, one that needs it: what is imported at the top of files has an order."""
import ast
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import bough

PACKAGE = Path(bough.__file__).parent


def modules():
    """{name: file}, without the examples."""
    files = [file for file in PACKAGE.rglob("*.py") if "examples" not in file.relative_to(PACKAGE).parts]
    return {".".join(("bough", *file.relative_to(PACKAGE).with_suffix("").parts)).removesuffix(".__init__"): file for file in files}


def top_level(body):
    """Statements that run on import: not those in functions, nor under TYPE_CHECKING."""
    for node in body:
        if isinstance(node, ast.If):
            if "TYPE_CHECKING" not in ast.dump(node.test):
                yield from top_level([*node.body, *node.orelse])
        elif isinstance(node, ast.Try | ast.With | ast.ClassDef):
            yield from top_level([*node.body, *getattr(node, "orelse", [])])
        else:
            yield node


def needed(name, file, known):
    """Modules that a module imports at its top, with the packages that these are in, but for its own."""
    found = set()
    for node in top_level(ast.parse(file.read_text(encoding="utf-8")).body):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            inner = [f"{node.module}.{alias.name}" for alias in node.names]
            found |= {each if each in known else node.module for each in inner}
    outer = {".".join(each.split(".")[:n]) for each in found for n in range(2, each.count(".") + 2)}
    return {each for each in outer if each in known and each != name and not name.startswith(f"{each}.")}


def test_imports_have_an_order():
    known = modules()
    assert len(known) > 100
    try:
        TopologicalSorter({name: needed(name, file, known) for name, file in known.items()}).prepare()
    except CycleError as error:
        raise AssertionError(" <- ".join(error.args[1])) from None
