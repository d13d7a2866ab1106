"""Designs: samples as points of the unit cube, one coordinate for each varied parameter.

A sample depends only on its number and the seed, so that blocks can be generated anywhere, in any order.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from bough.compile.layout import Floats
from bough.errors import DescriptionError, nearest, similar

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
