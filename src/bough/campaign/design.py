"""What varies: distributions, and designs of samples as points of the unit cube, one coordinate for each varied parameter.

A distribution is one of SciPy, a few discrete values, or a table of values; all except tables are sampled by the inverse of their
distribution function, for any design. A sample depends only on its number and the seed, so that blocks can be generated anywhere,
in any order.
"""
from __future__ import annotations

import inspect
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from bough.compile.layout import Floats
from bough.errors import DescriptionError, nearest, similar

HOW = ("set", "scale", "add")
SHORT = {
    "normal": ("mean", "sigma"),
    "uniform": ("low", "high"),
    "truncated_normal": ("mean", "sigma", "low", "high"),
    "lognormal": ("median", "sigma"),
    "triangular": ("low", "mode", "high"),
}
KINDS = (*SHORT, "discrete", "table", "scipy")


@dataclass(frozen=True)
class Distribution:
    """A distribution by its kind and its options, as in a file."""

    kind: str
    options: Mapping[str, Any]

    def values(self, u: Floats, numbers: Any) -> Floats:
        """Values for points u in (0, 1) of samples with these numbers."""
        o = self.options
        if self.kind == "table":
            return np.asarray(np.asarray(o["values"], float)[numbers])
        if self.kind == "discrete":
            weights = np.asarray(o.get("weights") or np.ones(len(o["values"])), float)
            place = np.searchsorted(np.cumsum(weights) / weights.sum(), u, side="right")
            return np.asarray(o["values"], float)[np.minimum(place, len(weights) - 1)]
        return np.asarray(self.frozen.ppf(u), float)

    @cached_property
    def frozen(self) -> Any:
        """The distribution as a frozen SciPy distribution."""
        from scipy import stats

        o = self.options
        if self.kind == "normal":
            return stats.norm(o["mean"], o["sigma"])
        if self.kind == "uniform":
            return stats.uniform(o["low"], o["high"] - o["low"])
        if self.kind == "truncated_normal":
            ends = [(o[end] - o["mean"]) / o["sigma"] for end in ("low", "high")]
            return stats.truncnorm(*ends, loc=o["mean"], scale=o["sigma"])
        if self.kind == "lognormal":
            return stats.lognorm(o["sigma"], scale=o["median"])
        if self.kind == "triangular":
            width = o["high"] - o["low"]
            return stats.triang((o["mode"] - o["low"]) / width, loc=o["low"], scale=width)
        return getattr(stats, o["name"])(**{key: value for key, value in o.items() if key != "name"})

    def to_mapping(self) -> dict[str, Any]:
        return {self.kind: dict(self.options)}

    def __str__(self) -> str:
        return f"{self.kind}({', '.join(f'{key}={value}' for key, value in self.options.items())})"


@dataclass(frozen=True)
class Variation:
    """A varied number: its path, its distribution, and how it replaces the value of the description."""

    path: str
    distribution: Distribution
    how: str = "set"

    def to_mapping(self) -> dict[str, Any]:
        inner = self.distribution.to_mapping()
        return {"path": self.path, **(inner if self.how == "set" else {self.how: inner})}


def distribution(given: Any, path: str) -> Distribution:
    """A distribution from the user's input: a mapping as in a file, one of SciPy's, or a list of values for all samples.

    >>> print(distribution({"normal": [12.0, 0.3]}, "boom.mass"))
    normal(mean=12.0, sigma=0.3)
    """
    if hasattr(given, "dist") and hasattr(given, "ppf"):
        return _from_scipy(given, path)
    if isinstance(given, np.ndarray) or (isinstance(given, Sequence) and not isinstance(given, str)):
        return _checked(Distribution("table", {"values": np.asarray(given).tolist()}), path)
    if not isinstance(given, Mapping) or len(given) != 1:
        raise DescriptionError(f"campaign: vary '{path}' is {given!r}; give one distribution, as {{normal: [12, 0.3]}}, one of "
                               "SciPy's, or a list of values")
    [(kind, options)] = given.items()
    if kind not in KINDS:
        raise DescriptionError(f"campaign: vary '{path}': there is no distribution '{kind}'{similar(str(kind), KINDS)}; give one "
                               f"of {', '.join(KINDS)}")
    if kind in SHORT and not isinstance(options, Mapping):
        options = dict(zip(SHORT[kind], list(options), strict=False)) if isinstance(options, Sequence) else {}
    elif kind in ("discrete", "table") and not isinstance(options, Mapping):
        options = {"values": list(options)}
    return _checked(Distribution(kind, dict(options)), path)


def _from_scipy(given: Any, path: str) -> Distribution:
    """A frozen SciPy distribution by its name and arguments."""
    shapes = [name.strip() for name in (given.dist.shapes or "").split(",") if name.strip()]
    names = [*shapes, "loc", "scale"]
    options = dict(zip(names, (float(value) for value in given.args), strict=False))
    options |= {key: float(value) for key, value in given.kwds.items()}
    return _checked(Distribution("scipy", {"name": given.dist.name, **options}), path)


def _checked(found: Distribution, path: str) -> Distribution:
    def refuse(text: str) -> None:
        raise DescriptionError(f"campaign: vary '{path}': {found}: {text}")

    o = found.options
    if found.kind in SHORT:
        missing = [name for name in SHORT[found.kind] if not isinstance(o.get(name), int | float) or not np.isfinite(o[name])]
        unknown = [name for name in o if name not in SHORT[found.kind]]
        if missing or unknown:
            refuse(f"give {', '.join(SHORT[found.kind])}, finite numbers")
        if o.get("sigma", 1.0) <= 0.0:
            refuse("give a sigma greater than 0")
        if "low" in o and not o["low"] < o["high"]:
            refuse("give a low end below the high one")
        if found.kind == "lognormal" and o["median"] <= 0.0:
            refuse("give a median greater than 0")
    elif found.kind == "scipy":
        from scipy import stats

        known = [name for name in dir(stats) if isinstance(getattr(stats, name), stats.rv_continuous | stats.rv_discrete)]
        if o.get("name") not in known:
            refuse(f"SciPy has no distribution '{o.get('name')}'{nearest(str(o.get('name')), known)}")
        try:
            if not np.isfinite(found.frozen.ppf(0.5)):
                refuse("its numbers make no distribution; see scipy.stats")
        except TypeError as error:
            refuse(f"{error}; its numbers are {inspect.signature(getattr(stats, o['name']).ppf)}")
    else:
        values = np.asarray(o.get("values", ()), float)
        if values.ndim != 1 or not len(values) or not np.isfinite(values).all():
            refuse("give a list of finite values")
        weights = np.asarray(o.get("weights") or np.ones(len(values)), float)
        if found.kind == "discrete" and (weights.shape != values.shape or not (weights >= 0.0).all() or not weights.any()):
            refuse(f"give {len(values)} weights, none negative")
    return found


def variation(path: str, given: Any) -> Variation:
    """A variation from the user's input: a distribution, ("scale" or "add", distribution), or a mapping of these."""
    how, given = _how(path, given)
    return Variation(path, distribution(given, path), how)


def _how(path: Any, given: Any) -> tuple[str, Any]:
    """Whether values are set, or scale or add to the value of the description; and the distribution."""
    if isinstance(given, tuple) and len(given) == 2 and isinstance(given[0], str):
        if given[0] not in HOW:
            raise DescriptionError(f"campaign: vary '{path}': '{given[0]}'{similar(given[0], HOW)}; give one of {', '.join(HOW)}")
        return given[0], given[1]
    if isinstance(given, Mapping) and len(given) == 1 and next(iter(given)) in HOW:
        [(how, given)] = given.items()
        return how, given
    return "set", given


# ---- joint distributions ------------------------------------------------------------------------------------
def variations(vary: Mapping[Any, Any]) -> tuple[tuple[Variation, ...], list[dict[str, Any]]]:
    """Variations and their correlations: single paths, or tuples of paths with a normal distribution and a covariance."""
    found: dict[str, Variation] = {}
    tied: list[dict[str, Any]] = []
    for path, given in vary.items():
        if isinstance(path, tuple):
            new, correlation = _together([str(each) for each in path], given)
            tied.append(correlation)
        else:
            new = [variation(str(path), given)]
        for each in new:
            if each.path in found:
                raise DescriptionError(f"campaign: vary names '{each.path}' twice; keep one of them")
            found[each.path] = each
    return tuple(found.values()), tied


def _together(paths: list[str], given: Any) -> tuple[list[Variation], dict[str, Any]]:
    """Jointly normal numbers: {"normal": {"mean": [...], "covariance": [[...]]}}, or SciPy's."""
    names = ", ".join(paths)
    how, given = _how(names, given)
    if hasattr(given, "mean") and hasattr(given, "cov"):  # scipy.stats.multivariate_normal(...)
        given = {"normal": {"mean": given.mean, "covariance": given.cov}}
    try:
        [(kind, options)] = given.items()
        mean, covariance = np.array(options["mean"], float), np.array(options["covariance"], float)
    except (AttributeError, TypeError, ValueError, KeyError):
        kind, mean, covariance = "", np.zeros(0), np.zeros(0)
    n = len(paths)
    if kind != "normal" or mean.shape != (n,) or covariance.shape != (n, n) or not np.isfinite(covariance).all():
        raise DescriptionError(f"campaign: vary {names} together: give {{normal: {{mean: [{n} numbers], covariance: [{n} rows of "
                               f"{n}]}}}}, or scipy.stats.multivariate_normal(...)")
    if not np.allclose(covariance, covariance.T) or np.linalg.eigvalsh(covariance)[0] <= 0.0:
        raise DescriptionError(f"campaign: vary {names} together: the covariance is not symmetric and positive definite (smallest "
                               f"eigenvalue {np.linalg.eigvalsh(covariance)[0]:.3g}); no numbers vary like that")
    sigma = np.sqrt(np.diag(covariance))
    matrix = covariance / np.outer(sigma, sigma)
    np.fill_diagonal(matrix, 1.0)
    each = [Variation(path, distribution({"normal": [float(m), float(s)]}, path), how)
            for path, m, s in zip(paths, mean, sigma, strict=True)]
    return each, {"paths": paths, "matrix": matrix.tolist()}


# ---- designs -------------------------------------------------------------------------------------------------------------
DRAWN = ("random", "latin-hypercube", "sobol", "saltelli")
COUNTED = ("factorial", "corners", "one-at-a-time")
DESIGNS = (*DRAWN, *COUNTED)
TAIL = 0.00135  # share below -3 sigma of a normal distribution: where corners are


@dataclass(frozen=True)
class Correlation:
    """Correlated parameters: the correlation matrix of their normal scores (a Gaussian copula)."""

    columns: tuple[int, ...]
    matrix: tuple[tuple[float, ...], ...]

    def apply(self, u: Floats) -> Floats:
        from scipy.special import ndtr, ndtri

        u = u.copy()
        scores, factor = ndtri(u[:, self.columns]), np.linalg.cholesky(np.array(self.matrix))
        # L z in a fixed order: the rounding of a matrix product depends on the number of rows
        mixed = sum(scores[:, j, None] * factor[:, j] for j in range(len(factor)))
        u[:, self.columns] = ndtr(mixed)
        return u


@dataclass(frozen=True)
class Design:
    """Points of the unit cube by number."""

    kind: str
    samples: int
    dimensions: int
    seed: int
    levels: int = 3
    correlations: tuple[Correlation, ...] = ()

    def rows(self, first: int, last: int) -> Floats:
        """(last - first, dimensions) of shares in (0, 1)."""
        u = np.clip(self._points(first, last), 1e-16, 1.0 - 1e-16)
        for correlation in self.correlations:
            u = correlation.apply(u)
        return u

    def _points(self, first: int, last: int) -> Floats:
        d = self.dimensions
        if self.kind == "random":
            bits = np.random.PCG64(self.seed)
            bits.advance(first * d)  # a double uses one number of the generator
            return np.random.Generator(bits).random((last - first, d))
        if self.kind == "latin-hypercube":
            return self._hypercube[first:last]
        if self.kind == "sobol":
            from scipy.stats import qmc

            points = qmc.Sobol(d, seed=self.seed)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # their number need not be a power of two
                return np.asarray((points.fast_forward(first) if first else points).random(last - first), float)
        numbers = np.arange(first, last)
        if self.kind == "saltelli":
            return self._exchanged(numbers)
        if self.kind == "one-at-a-time":
            u = np.full((last - first, d), 0.5)  # the first sample is the center
            moved = numbers[numbers > 0] - 1
            u[np.flatnonzero(numbers > 0), moved // 2] = np.where(moved % 2, 1.0 - TAIL, TAIL)
            return u
        base = 2 if self.kind == "corners" else self.levels
        digits = numbers[:, None] // base ** np.arange(d) % base
        return np.where(digits, 1.0 - TAIL, TAIL) if self.kind == "corners" else (digits + 0.5) / base

    def _exchanged(self, numbers: Any) -> Floats:
        """Groups of d + 2 samples for Sobol indices: a point A, A with one coordinate at a time from a point B, and B."""
        d, [low, high] = self.dimensions, [int(numbers[0]) // (self.dimensions + 2), int(numbers[-1]) // (self.dimensions + 2)]
        pairs = Design("sobol", high + 1, 2 * d, self.seed)._points(low, high + 1)[numbers // (d + 2) - low]
        turn = numbers[:, None] % (d + 2) - 1
        return np.asarray(np.where((turn == np.arange(d)) | (turn == d), pairs[:, d:], pairs[:, :d]))

    @cached_property
    def _hypercube(self) -> Floats:
        from scipy.stats import qmc

        return np.asarray(qmc.LatinHypercube(self.dimensions, seed=self.seed).random(self.samples), float)


def make_design(kind: str, samples: int | None, dimensions: int, seed: int, levels: int, correlate: Sequence[Any],
                paths: Sequence[str]) -> Design:
    """A checked design; `samples` is optional for designs that determine it themselves."""
    if kind not in DESIGNS:
        raise DescriptionError(f"campaign: design is {kind!r}{similar(str(kind), DESIGNS)}; give one of {', '.join(DESIGNS)}")
    if not isinstance(seed, int | np.integer) or seed < 0:
        raise DescriptionError(f"campaign: seed is {seed!r}; give a whole number, 0 or more")
    if not isinstance(levels, int) or levels < 2:
        raise DescriptionError(f"campaign: levels is {levels!r}; give a whole number, 2 or more")
    counted = {"factorial": levels**dimensions, "corners": 2**dimensions, "one-at-a-time": 1 + 2 * dimensions}.get(kind)
    if counted is not None:
        if samples not in (None, counted):
            raise DescriptionError(f"campaign: samples is {samples}, but a {kind} design of {dimensions} things that vary has "
                                   f"{counted}; leave samples out")
        if counted > 10**8:
            raise DescriptionError(f"campaign: a {kind} design of {dimensions} things that vary has {counted:.3g} samples; vary "
                                   "fewer, or take a sobol or latin-hypercube design")
        if correlate:
            raise DescriptionError(f"campaign: correlate is given, but a {kind} design is no random one; leave one of them out")
        samples = counted
    if not isinstance(samples, int) or isinstance(samples, bool) or samples < 1:
        raise DescriptionError(f"campaign: samples is {samples!r}; give how many runs there are, 1 or more")
    if kind == "saltelli" and (samples % (dimensions + 2) or correlate):
        raise DescriptionError(f"campaign: a saltelli design of {dimensions} things that vary takes them uncorrelated, and a "
                               f"multiple of {dimensions + 2} samples; samples is {samples}: take "
                               f"{max(1, samples // (dimensions + 2)) * (dimensions + 2)}")
    return Design(kind, samples, dimensions, int(seed), levels, tuple(_correlation(each, paths) for each in correlate))


def _correlation(given: Any, paths: Sequence[str]) -> Correlation:
    try:
        names, matrix = list(given["paths"]), np.array(given["matrix"], float)
    except (TypeError, KeyError, ValueError):
        raise DescriptionError(f"campaign: correlate is {given!r}; give {{paths: [...], matrix: [[1, r], [r, 1]]}}; for a "
                               "covariance, vary the paths together: {(path, path): {'normal': {'mean': ..., 'covariance': ...}}}"
                               ) from None
    unknown = [name for name in names if name not in paths]
    if unknown:
        raise DescriptionError(f"campaign: correlate names '{unknown[0]}', which does not vary{nearest(unknown[0], paths)}")
    size = (len(names), len(names))
    if matrix.shape != size or not np.allclose(matrix, matrix.T) or not np.allclose(np.diag(matrix), 1.0):
        raise DescriptionError(f"campaign: correlate {', '.join(names)}: give a symmetric matrix of the shape {size} with ones on "
                               "its diagonal")
    if np.linalg.eigvalsh(matrix)[0] <= 0.0:
        raise DescriptionError(f"campaign: correlate {', '.join(names)}: the matrix is not positive definite (smallest eigenvalue "
                               f"{np.linalg.eigvalsh(matrix)[0]:.3g}); no numbers are correlated like that")
    return Correlation(tuple(paths.index(name) for name in names), tuple(map(tuple, matrix.tolist())))
