"""No module needs one that needs it, at the top of files, inside functions or on first use: imports have an order.

A file that is imported on first use is named behind its package, `analyze.linear.call_arguments.trim(...)`: see `bough.lazy`.
"""
import ast
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import bough

PACKAGE = Path(bough.__file__).parent
# Objects whose methods are short for functions that take them, and which import these when they are called: the one way back.
FACES = {"bough.flex.finite_elements", "bough.flex.flexible_body", "bough.integrate.compiled.callback"}


@cache
def modules():
    """{name: file}, without the examples."""
    files = [file for file in PACKAGE.rglob("*.py") if "examples" not in file.relative_to(PACKAGE).parts]
    return {".".join(("bough", *file.relative_to(PACKAGE).with_suffix("").parts)).removesuffix(".__init__"): file for file in files}


def statements(body, inside):
    """All that run, with those `inside` functions or without, but not those under TYPE_CHECKING."""
    for node in body:
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            yield from statements(node.orelse, inside)
            continue
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and not inside:
            continue
        yield node
        for part in ("body", "orelse", "finalbody", "handlers"):
            yield from statements(getattr(node, part, []), inside)


@cache
def parsed(name):
    return ast.parse(modules()[name].read_text(encoding="utf-8")).body


@cache
def needed(name, inside):
    """Modules that a module imports, with the packages that these are in, but for its own."""
    found, packages, known, body = set(), {}, modules(), list(statements(parsed(name), inside))
    for node in body:
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            inner = [f"{node.module}.{alias.name}" for alias in node.names]
            found |= {each if each in known else node.module for each in inner}
            packages |= {alias.asname or alias.name: each for alias, each in zip(node.names, inner, strict=True)
                      if each in known and known[each].stem == "__init__"}
    for node in body:
        found |= set(used_first(node, packages, known, inside))
    outer = {".".join(each.split(".")[:n]) for each in found for n in range(2, each.count(".") + 2)}
    return {each for each in outer if each in known and each != name and not name.startswith(f"{each}.")}


def used_first(node, packages, known, inside):
    """Files that a statement names behind a package that it imported."""
    for part in ast.walk(node):
        if isinstance(part, ast.FunctionDef | ast.Lambda) and not inside:
            return
        path = []
        while isinstance(part, ast.Attribute):
            path.insert(0, part.attr)
            part = part.value
        if isinstance(part, ast.Name) and part.id in packages:
            named = [".".join([packages[part.id], *path[:n]]) for n in range(1, len(path) + 1)]
            yield from (each for each in named if each in known)


def order(inside):
    known = modules()
    assert len(known) > 100
    assert known.keys() >= FACES
    try:
        TopologicalSorter({name: needed(name, inside(name)) for name in known}).prepare()
    except CycleError as error:
        raise AssertionError(" <- ".join(error.args[1])) from None


def test_imports_have_an_order():
    """Nor do imports inside functions hide a cycle."""
    order(inside=lambda name: name not in FACES)


def test_what_is_used_first_is_seen():
    """The graph has the edges of files that are named behind their packages."""
    for name, needs in {"bough.model.linear_calls": "bough.analyze.linear.call_arguments",
                        "bough.integrate.run": "bough.integrate.mounted_run", "bough.sweeps.derivative": "bough.sweeps.cloud",
                        "bough.compile.workspace_layout": "bough.compile.element_tables"}.items():
        assert needs in needed(name, True)


def test_faces_are_needed():
    """Each of the exceptions is one: without it there would be a cycle."""
    for face in FACES:
        try:
            order(inside=lambda name, face=face: name == face or name not in FACES)
        except AssertionError:
            continue
        raise AssertionError(f"{face} closes no cycle: it need not be in FACES")
