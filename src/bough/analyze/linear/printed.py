"""The printed text of a linear system: sizes, names with units, the residual at its operating point, and its poles."""
from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bough.analyze.linear.response import continuous_values

if TYPE_CHECKING:
    from bough.analyze.linear.linear_system import LinearSystem

LINE, LINES = 110, 4                    # characters of a line of names, and lines
ROWS = 24                               # of the table of poles
ZERO = 1e-6                             # relative to the largest pole: smaller ones are rigid-body motion, to rounding


def text_of(system: LinearSystem) -> str:
    """The whole text."""
    sizes = [f"{len(getattr(system, kind))} {kind if len(getattr(system, kind)) != 1 else kind[:-1]}"
             for kind in ("states", "inputs", "outputs")]
    clock = "continuous" if system.dt is None else f"discrete, dt = {system.dt:g} s"
    lines = [f"linear system{f' {system.name!r}' if system.name else ''}: {', '.join(sizes)}; {clock}"]
    for kind in ("states", "inputs", "outputs"):
        lines += _names(kind, getattr(system, kind), getattr(system, f"{kind[:-1]}_units"))
    lines += _left_over(system)
    return "\n".join([*lines, *(["", *_poles(system)] if system.states else [])])


def _names(kind: str, names: Sequence[str], units: Sequence[str]) -> Iterator[str]:
    words = [f"{name} [{unit}]" if unit else name for name, unit in zip(names, units, strict=True)]
    text, head, line = list[str](), f"{kind:9}", ""
    for k, word in enumerate(words):
        if line and len(line) + len(word) > LINE:
            text.append(line)
            line = ""
            if len(text) == LINES:
                text[-1] += f"... and {len(words) - k} more"
                break
        line += word + (", " if k < len(words) - 1 else "")
    for k, each in enumerate([*text, line] if line else text or ["none"]):
        yield (head if k == 0 else " " * 9) + each.rstrip()


def _left_over(system: LinearSystem) -> Iterator[str]:
    """The largest entries of the residual, if the point is no equilibrium."""
    if system.balanced:
        return
    order = np.argsort(-np.abs(system.residual))[:4]
    rate = "/s" if system.dt is None else " a sample"
    worst = [f"{system.states[k]} {system.residual[k]:.4g} {system.state_units[k]}{rate}" for k in order if system.residual[k]]
    yield f"no equilibrium: left over are {', '.join(worst)}; A and B hold for deviations from the motion through this state"


def oscillations(system: LinearSystem) -> tuple[NDArray[np.complex128], int]:
    """The nonzero continuous eigenvalues, one of each pair, from slow to fast; and the number of zeros."""
    s = continuous_values(system.poles(), system.dt)
    zero = np.abs(s) <= ZERO * np.abs(s).max(initial=0.0)
    kept = s[~zero]
    kept = kept[kept.imag >= 0.0]
    return kept[np.lexsort((kept.imag, np.abs(kept)))], int(zero.sum())


def _poles(system: LinearSystem) -> Iterator[str]:
    modes, zeros = oscillations(system)
    if zeros:
        yield f"{zeros} poles at zero: motion without stiffness"
    if not len(modes):
        return
    yield f"{'mode':>6} {'Hz':>11} {'damping':>11}   eigenvalue [1/s]"
    for k, s in enumerate(modes[:ROWS]):
        size = abs(s)
        hertz = f"{size / (2 * np.pi):11.5g}" if s.imag else f"{'':11}"
        damping = f"{-s.real / size:11.4f}" if s.imag else f"{'':11}"
        value = f"{s.real:.5g} +- {s.imag:.5g} i" if s.imag else f"{s.real:.5g}"
        unstable = "  unstable" if s.real > ZERO * np.abs(modes).max() else ""
        yield f"{k + 1:>6} {hertz} {damping}   {value}{unstable}"
    if len(modes) > ROWS:
        yield f"... and {len(modes) - ROWS} more"
