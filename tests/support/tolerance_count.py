"""Which tolerances of the tests say why they are what they are.

    python -m tests.support.tolerance_count [--list] [FILE ...]

A tolerance is what `assert_same`, `assert_allclose`, `allclose` and `approx` are given, or what an assertion compares with by < or
<= and holds a number of at most 0.1. It has a reason if one of these is true:

- it holds no bare number: it is computed, or named, and the name comes from `tests.support` or has a reason where it is assigned;
- a comment stands on one of the lines of its statement, or alone on the line above it;
- the docstring of its function, or the paragraph "Tolerances:" of its file's docstring, names the number as it is written.

Zero needs no reason: nothing may differ.  `approx(x)` without a tolerance is pytest's 1e-6, see docs/develop/testing.md; it is
counted by itself.
"""

import argparse
import ast
import io
import re
import tokenize
from collections import Counter
from pathlib import Path
from typing import NamedTuple

TESTS = Path(__file__).parents[1]
GIVEN = ("rtol", "atol", "abs", "rel", "relative")
LARGEST = 0.1


class Tolerance(NamedTuple):
    """One place in a test: its file and line, the expression, and whether its reason is there ("default": pytest's own)."""

    file: Path
    line: int
    text: str
    reason: bool | str


def is_small(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, float) and 0.0 < node.value <= LARGEST


def numbers(node: ast.AST) -> list[ast.Constant]:
    return [each for each in ast.walk(node) if is_small(each)]


def names(node: ast.AST) -> set[str]:
    return {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}


def expressions(node: ast.AST, bounds: set[str]) -> list[ast.expr | None]:
    """The tolerances of one call or comparison, which has numbers or bounds; None for pytest's own."""
    if isinstance(node, ast.Call):
        name = getattr(node.func, "attr", getattr(node.func, "id", ""))
        if name not in ("approx", "assert_allclose", "allclose", "assert_same"):
            return []
        given = [keyword.value for keyword in node.keywords if keyword.arg in GIVEN]
        given += node.args[1 if isinstance(node.args[0], ast.Starred) else 2:][:1] if name == "assert_same" else []
        return list(given) if given or name == "assert_same" else [None]
    if isinstance(node, ast.Compare):
        pairs = zip(node.ops, node.comparators, strict=True)
        return [right for op, right in pairs if isinstance(op, ast.Lt | ast.LtE) and (numbers(right) or names(right) & bounds)]
    return []


def assigned(node: ast.AST) -> set[str]:
    """The names to which a statement assigns."""
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign | ast.For) else []
    return {each.id for target in targets for each in ast.walk(target) if isinstance(each, ast.Name)}


class File:
    """The tolerances of one file."""

    def __init__(self, path: Path):
        self.path, self.text = path, path.read_text(encoding="utf-8")
        self.tree, self.lines = ast.parse(self.text), self.text.splitlines()
        self.assignments: dict[ast.AST, dict[str, ast.stmt]] = {}  # by scope: the first that assigns to a name
        tokens = tokenize.generate_tokens(io.StringIO(self.text).readline)
        comments = [token for token in tokens if token.type == tokenize.COMMENT]
        self.comments = {token.start[0] for token in comments if not token.string.startswith("# fmt")}
        paragraph = re.search(r"^Tolerances:(.*?)(?:\n\n|\Z)", ast.get_docstring(self.tree) or "", re.S | re.M)
        self.head = paragraph[1] if paragraph else ""
        imports = [node for node in ast.walk(self.tree) if isinstance(node, ast.ImportFrom) and node.module]
        self.derived = {name.name for node in imports if node.module.startswith("tests.support") for name in node.names}
        self.bounds = {name.name for node in imports if node.module == "tests.support.tolerance" for name in node.names}

    def commented(self, node: ast.stmt) -> bool:
        last = node.body[0].lineno - 1 if getattr(node, "body", None) else node.end_lineno
        alone = node.lineno - 1 in self.comments and self.lines[node.lineno - 2].lstrip().startswith("#")
        return alone or any(line in self.comments for line in range(node.lineno, last + 1))

    def written(self, number: ast.Constant) -> str:
        """The characters of a number, whose columns are counted in bytes."""
        return self.lines[number.lineno - 1].encode()[number.col_offset:number.end_col_offset].decode()

    def says(self, node: ast.expr, statement: ast.stmt, functions: list, deep: bool = True) -> bool:
        """Whether the reason of one tolerance is there."""
        bare = [self.written(each) for each in numbers(node)]
        told = self.head + "".join(ast.get_docstring(function) or "" for function in functions)
        if self.commented(statement) or (bare and all(re.search(rf"(?<![\d.]){re.escape(each)}(?!\.?\d)", told) for each in bare)):
            return True
        others = names(node) - self.derived if deep else ()
        return not bare and all(self.derives(name, functions) for name in others)

    def first_assignments(self, scope: ast.AST) -> dict[str, ast.stmt]:
        if scope not in self.assignments:
            found = self.assignments[scope] = {}
            for node in ast.walk(scope):
                for name in assigned(node):
                    found.setdefault(name, node)
        return self.assignments[scope]

    def derives(self, name: str, functions: list) -> bool:
        """Whether a name is assigned without a bare number or with a comment; so are the cases of an argument."""
        for scope in (*functions, self.tree):
            node = self.first_assignments(scope).get(name)
            if node is not None:
                return self.says(node.iter if isinstance(node, ast.For) else node.value, node, functions, deep=False)
        for function in functions:
            cases = [each for mark in function.decorator_list for each in numbers(mark)]
            if name in {each.arg for each in function.args.args} and cases:
                lines = range(function.decorator_list[0].lineno, function.lineno)
                return any(line in self.comments for line in lines) or self.says(ast.Tuple(cases), function, functions, deep=False)
        return True

    def tolerances(self):
        """All of them, in order."""
        yield from self.within(self.tree, None, [])

    def within(self, node, statement, functions):
        for child in ast.iter_child_nodes(node):
            inner = [*functions, child] if isinstance(child, ast.FunctionDef) else functions
            counts = isinstance(statement, ast.Assert) or not isinstance(child, ast.Compare)
            for each in expressions(child, self.bounds) if counts else []:
                if each is None:
                    yield Tolerance(self.path, child.lineno, "default", self.commented(statement) or "default")
                elif not (isinstance(each, ast.Constant) and each.value == 0):
                    yield Tolerance(self.path, each.lineno, ast.unparse(each), self.says(each, statement, functions))
            yield from self.within(child, child if isinstance(child, ast.stmt) else statement, inner)


def all_tolerances(files=()):
    for path in files or sorted(TESTS.rglob("*.py")):
        yield from File(Path(path)).tolerances()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="*")
    parser.add_argument("--list", action="store_true", help="those without a reason, line by line")
    given = parser.parse_args()
    found = list(all_tolerances(given.files))
    counts: dict[Path, Counter] = {}
    for each in found:
        counts.setdefault(each.file, Counter())[each.reason] += 1
        if given.list and not each.reason:
            print(f"{each.file}:{each.line}: {each.text}")
    for file, count in sorted(counts.items(), key=lambda item: -item[1][False]) if not given.list else ():
        print(f"{count[False]:4d} without, {count[True]:4d} with a reason, {count['default']:3d} pytest's  {file}")
    total = sum(counts.values(), Counter())
    print(f"{total[True]} of {len(found)} have a reason; {total['default']} are pytest's own")


if __name__ == "__main__":
    main()
