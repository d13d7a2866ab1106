"""The stability boundary: the value of a parameter at which a linear system becomes unstable."""
from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy import linalg
from scipy.optimize import brentq

from bough.analyze.linear.linear_system import LinearSystem
from bough.analyze.linear.response import TURN, continuous_values
from bough.analyze.linear.tracking import ZERO, Maker, maker
from bough.errors import StateError

if TYPE_CHECKING:

    from bough.compile.compiled_model import CompiledModel


class StabilityBoundary(NamedTuple):
    """The stability boundary of a system: the parameter value, the eigenvalue that crosses [1/s], and the dominant state."""
    value: float
    eigenvalue: complex
    kind: str                           # "divergence": a real one; "flutter": an oscillation
    state: str
    parameter: str

    def __str__(self) -> str:
        frequency = f" at {abs(self.eigenvalue.imag) / TURN:.5g} Hz" if self.kind == "flutter" else ""
        return f"{self.kind}{frequency} from {self.parameter} = {self.value:.8g} on, most in {self.state}"


def growth(system: LinearSystem) -> tuple[float, complex, int]:
    """The largest real part, its eigenvalue, and the dominant state of its vector."""
    values, right = linalg.eig(system.A)
    values = continuous_values(values, system.dt)
    k = int(np.lexsort((-values.imag, -values.real.round(14)))[0])
    return float(values.real.max()), complex(values[k]), int(np.argmax(np.abs(right[:, k])))


def stability_boundary(source: Maker | CompiledModel, low: float, high: float, *, parameter: str | None = None,
                       tolerance: float | None = None, **options: Any) -> StabilityBoundary:
    """The value of a parameter at which a system becomes unstable, between one at which it is stable and one at which it is not.

    Parameters
    ----------
    source : function or Model
        As in `campbell`.
    low, high : float
        Two values; the system is unstable at one of them.
    parameter : str
        As in `campbell`.
    tolerance : float, optional
        The real part [1/s] above which an eigenvalue counts as unstable: by default 1e-6 of the largest eigenvalue, because those
        of undamped and rigid-body motion are zero only to rounding.
    **options
        For a model: options of `Model.linearize`.

    Examples
    --------
    >>> import bough, numpy as np
    >>> def van_der_pol(damping):
    ...     return bough.LinearSystem.from_arrays([[0, 1], [-4, 0.3 - damping]], [[0], [1]], [[1, 0]])
    >>> print(bough.linear.stability_boundary(van_der_pol, 1.0, 0.0, parameter="damping"))
    flutter at 0.31831 Hz from damping = 0.3 on, most in x2
    """
    make, name, _ = maker(source, parameter, dict(options))
    ends = (float(low), float(high))
    systems = [make(value) for value in ends]
    border = ZERO * max(float(np.abs(system.poles()).max(initial=0.0)) for system in systems) if tolerance is None else tolerance
    real = [growth(system)[0] for system in systems]
    unstable = [each > border for each in real]
    if unstable[0] == unstable[1]:
        what = "unstable" if unstable[0] else "stable"
        raise StateError(f"stability_boundary: it is {what} both at {name} = {low:g} (greatest real part {real[0]:.3g} 1/s) and at "
                         f"{high:g} ({real[1]:.3g} 1/s); give a stable and an unstable value")
    damped = min(real) < -border
    value = _crossed(lambda x: growth(make(x))[0] - (0.0 if damped else border), *ends)
    return _boundary_at(make, value, ends[1] if unstable[1] else ends[0], name)


def _crossed(function: Callable[[float], float], low: float, high: float) -> float:
    """The zero of a function that may have corners: bisection, and brentq inside the last thousandth."""
    a, b, sign = low, high, function(low)
    for _ in range(10):
        middle = 0.5 * (a + b)
        a, b = (middle, b) if function(middle) * sign > 0 else (a, middle)
    return float(brentq(function, a, b, xtol=1e-13 * max(abs(low), abs(high)), rtol=1e-12))


def _boundary_at(make: Maker, value: float, beyond: float, name: str) -> StabilityBoundary:
    """The eigenvalue that crosses, evaluated slightly beyond the boundary, where it is the largest."""
    system = make(value + 1e-6 * (beyond - value))
    _, eigenvalue, state = growth(system)
    still = abs(eigenvalue.imag) < ZERO * float(np.abs(system.poles()).max(initial=0.0))
    return StabilityBoundary(value, eigenvalue, "divergence" if still else "flutter", system.states[state], name)
