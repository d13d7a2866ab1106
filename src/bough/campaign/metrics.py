"""Metrics: numbers computed from the histories of coordinates, speeds, wheels and outputs of every run.

peak(boom.ry)                       the largest absolute value
1e3*rms(tip[2])                     arithmetic of numbers and metrics
settling(boom.ry, band=0.01)        the time from which it stays within a band about its final value (or `target`)
time_above("line of sight", level=1e-4)
max(norm(tip))                      of the length of a vector
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bough.errors import DescriptionError, similar

if TYPE_CHECKING:
    from bough.compile.layout import Floats

History = Callable[[str], "Floats"]  # by name: (runs, times) or (runs, times, size)


def _settling(t: Floats, y: Floats, band: float, target: float | None = None) -> Floats:
    """The time from which y stays within the band; NaN if it is outside at the end."""
    middle = y[:, -1:] if target is None else target
    outside = np.abs(y - middle) > band
    last = y.shape[1] - 1 - np.argmax(outside[:, ::-1], axis=1)
    found = np.where(outside.any(axis=1), t[np.minimum(last + 1, len(t) - 1)], t[0])
    return np.where(outside[:, -1], np.nan, found)


def _time_above(t: Floats, y: Floats, level: float) -> Floats:
    """How long y is above a level, with linear interpolation between samples."""
    a, b, h = y[:, :-1] - level, y[:, 1:] - level, np.diff(t)
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.where((a > 0) & (b > 0), 1.0, np.where((a <= 0) & (b <= 0), 0.0, np.maximum(a, b) / np.abs(b - a)))
    return _weighted(share, h)


def _first_crossing(t: Floats, y: Floats, level: float) -> Floats:
    """When y first crosses a level, with linear interpolation between samples; NaN if it never does."""
    a, b = y[:, :-1] - level, y[:, 1:] - level
    crossed = (a != 0) & (a * b <= 0)
    k = np.argmax(crossed, axis=1)
    row = np.arange(len(y))
    with np.errstate(divide="ignore", invalid="ignore"):
        found = t[k] + (t[k + 1] - t[k]) * a[row, k] / (a[row, k] - b[row, k])
    return np.where(crossed.any(axis=1), found, np.nan)


def _weighted(y: Floats, h: Floats) -> Floats:
    """y h, summed row by row: the rounding of a matrix product depends on the number of rows."""
    return np.asarray((y * h).sum(axis=1))


def _mean(t: Floats, y: Floats) -> Floats:
    """Time average by the trapezoidal rule."""
    return np.asarray(_weighted(y[:, 1:] + y[:, :-1], np.diff(t)) / (2.0 * (t[-1] - t[0])))


MEASURES: dict[str, tuple[Callable[..., Any], tuple[str, ...], tuple[str, ...]]] = {  # function, needed, further options
    "max": (lambda t, y: y.max(axis=1), (), ()),
    "min": (lambda t, y: y.min(axis=1), (), ()),
    "peak": (lambda t, y: np.abs(y).max(axis=1), (), ()),
    "range": (lambda t, y: y.max(axis=1) - y.min(axis=1), (), ()),
    "final": (lambda t, y: y[:, -1], (), ()),
    "mean": (_mean, (), ()),
    "rms": (lambda t, y: np.sqrt(_mean(t, y**2)), (), ()),
    "settling": (_settling, ("band",), ("target",)),
    "time_above": (_time_above, ("level",), ()),
    "first_crossing": (_first_crossing, ("level",), ()),
}
ARITHMETIC: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
}


@dataclass(frozen=True)
class Metric:
    """A number computed for every run: an expression, or a function of the run's Result."""

    name: str
    expression: str = ""
    function: Callable[[Any], float] | None = None
    unit: str = ""

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the histories that it needs."""
        return tuple(dict.fromkeys(_quantities(self._tree))) if self.expression else ()

    @property
    def _tree(self) -> ast.expr:
        return parse(self.name, self.expression)

    def of(self, t: Floats, history: History) -> Floats:
        """(runs,) of the histories of a block."""
        return np.asarray(_value(self._tree, t, history), float)

    def to_mapping(self) -> dict[str, Any]:
        if self.function is not None:
            return {"name": self.name, "function": getattr(self.function, "__qualname__", "function"), "unit": self.unit}
        return {"name": self.name, "of": self.expression, **({"unit": self.unit} if self.unit else {})}


def parse(name: str, text: str) -> ast.expr:
    """The checked expression of a metric."""

    def refuse(what: str) -> None:
        raise DescriptionError(f"campaign: metric '{name}' is '{text}': {what}; write it as peak(boom.ry), or 1e3*rms(tip[2])")

    try:
        tree = ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError):
        refuse("this is no expression")
    _check(tree, refuse)
    if not _quantities(tree):
        refuse("it takes nothing of the run")
    return tree


def _check(node: ast.expr, refuse: Callable[[str], None]) -> None:
    if isinstance(node, ast.BinOp) and type(node.op) in ARITHMETIC:
        _check(node.left, refuse)
        _check(node.right, refuse)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        _check(node.operand, refuse)
    elif isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        pass
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        take = node.func.id
        if take not in MEASURES:
            refuse(f"there is no '{take}'{similar(take, MEASURES)}; give one of {', '.join(MEASURES)}")
        _, needed, further = MEASURES[take]
        given = {keyword.arg: keyword.value for keyword in node.keywords}
        if len(node.args) != 1 or not isinstance(_inner(node.args[0]), str):
            refuse(f"{take} takes one quantity, by its name")
        for missing in needed:
            if missing not in given:
                refuse(f"{take} needs {missing}=...")
        for option, value in given.items():
            if option not in (*needed, *further):
                refuse(f"{take} has no option '{option}'")
            if not isinstance(_constant(value), float):
                refuse(f"{option} is no number")
    else:
        refuse(f"'{ast.unparse(node)}' is not understood")


def _constant(node: ast.expr) -> float | None:
    try:
        return float(ast.literal_eval(node))
    except (ValueError, TypeError):
        return None


def _inner(node: ast.expr) -> str | None:
    """The name of the quantity in an argument: name, name[2], norm(name), "a name with blanks"."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, int):
        return _inner(node.value)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "norm" and len(node.args) == 1:
        return _inner(node.args[0])
    return ast.unparse(node) if isinstance(node, ast.Name | ast.Attribute) else None


def _quantities(tree: ast.expr) -> list[str]:
    return [name for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
            and node.func.id in MEASURES and node.args and (name := _inner(node.args[0]))]


def _history(node: ast.expr, history: History) -> Floats:
    """(runs, times), or (runs, times, size), of an argument."""
    if isinstance(node, ast.Subscript):
        whole, place = _history(node.value, history), int(ast.literal_eval(node.slice))
        if whole.ndim < 3 or not 0 <= place < whole.shape[2]:
            raise DescriptionError(f"campaign: '{ast.unparse(node)}': '{_inner(node.value)}' has "
                                   f"{whole.shape[2] if whole.ndim == 3 else 1} numbers; take one that it has")
        return whole[:, :, place]
    if isinstance(node, ast.Call):
        inner = _history(node.args[0], history)
        return np.linalg.norm(inner, axis=2) if inner.ndim == 3 else np.abs(inner)
    return history(_inner(node) or "")


def _value(node: ast.expr, t: Floats, history: History) -> Any:
    if isinstance(node, ast.BinOp):
        return ARITHMETIC[type(node.op)](_value(node.left, t, history), _value(node.right, t, history))
    if isinstance(node, ast.UnaryOp):
        return -_value(node.operand, t, history)
    if isinstance(node, ast.Constant):
        return float(node.value)  # type: ignore[arg-type]
    assert isinstance(node, ast.Call)
    assert isinstance(node.func, ast.Name)
    y = _history(node.args[0], history)
    if y.ndim == 3:
        raise DescriptionError(f"campaign: '{ast.unparse(node)}': '{_inner(node.args[0])}' has {y.shape[2]} numbers; name one of "
                               f"them, {_inner(node.args[0])}[0], or take norm(...)")
    options = {str(keyword.arg): _constant(keyword.value) for keyword in node.keywords}
    return MEASURES[node.func.id][0](t, y, **options)


def metric(name: str, given: Any) -> Metric:
    """A metric from the user's input: an expression, a mapping with `of` and `unit`, or a function."""
    if callable(given):
        return Metric(name, function=given)
    if isinstance(given, str):
        given = {"of": given}
    if not isinstance(given, Mapping) or not isinstance(given.get("of"), str) or set(given) - {"of", "unit", "name"}:
        raise DescriptionError(f"campaign: metric '{name}' is {given!r}; give an expression, as peak(boom.ry), or a function of a "
                               "Result")
    parse(name, given["of"])
    return Metric(name, given["of"], unit=str(given.get("unit", "")))


@dataclass(frozen=True)
class Requirement:
    """Limits of a metric, to be met with a probability."""

    metric: str
    below: float | None = None
    above: float | None = None
    probability: float = 1.0

    def met(self, values: Floats) -> Any:
        """(runs,) of truth values; a run that failed does not meet it."""
        good = np.isfinite(values)
        with np.errstate(invalid="ignore"):
            if self.below is not None:
                good &= values < self.below
            if self.above is not None:
                good &= values > self.above
        return good

    def __str__(self) -> str:
        limits = [f"{word} {limit:g}" for word, limit in (("below", self.below), ("above", self.above)) if limit is not None]
        return f"{self.metric} {' and '.join(limits)} in {100 * self.probability:g} % of the runs"


def requirement(given: Any, metrics: Sequence[str]) -> Requirement:
    if not isinstance(given, Mapping) or set(given) - {"metric", "below", "above", "probability"}:
        raise DescriptionError(f"campaign: requirement {given!r}: give metric, below or above, and probability")
    found = Requirement(**given)
    if found.metric not in metrics:
        raise DescriptionError(f"campaign: requirement on '{found.metric}', which is no "
                               f"metric{similar(str(found.metric), metrics)}; the metrics are {', '.join(metrics) or 'none'}")
    if found.below is None and found.above is None:
        raise DescriptionError(f"campaign: requirement on '{found.metric}': give below, above, or both")
    if not 0.0 < found.probability <= 1.0:
        raise DescriptionError(f"campaign: requirement on '{found.metric}': probability is {found.probability!r}; give a share in "
                               "(0, 1]")
    return found
