"""The methods of compiled steps by name, as tableaus; those of implicit methods are two [B 30].

An implicit method has two lower triangles, for the same stages and with the same weights b: springs, dampers and modes act at the
stages of `i`, all else at those of `a`.  Both together satisfy the order conditions of an additive Runge-Kutta method, so a method
keeps its order whatever acts implicitly, and although the mass matrix is that of the explicit stage.
"""
from collections.abc import Sequence
from functools import cache

import numpy as np
from numpy.typing import ArrayLike

from bough.compile.layout import Floats
from bough.integrate.compiled.stepping import CROMER, HEADER, LAST_IS_FIRST, POWER, STAGES

Rows = Sequence[Sequence[float]] | Floats


def triangle(rows: Rows, s: int) -> Floats:
    """Rows of a lower triangle as a matrix."""
    full = np.zeros((s, s))
    for i, row in enumerate(rows):
        full[i, :len(row)] = row
    return full


def tableau(c: Sequence[float], a: Rows, b: Sequence[float], *, cromer: bool = False, e: ArrayLike | None = None,
            p: ArrayLike | None = None, implicit: Rows = (), power: float = 0.2, last_is_first: bool = False) -> Floats:
    """A method as `integrate.compiled.stepping` reads it."""
    s, header = len(c), np.zeros(HEADER)
    header[[STAGES, CROMER, POWER, LAST_IS_FIRST]] = s, cromer, power, last_is_first
    inside = np.outer(b, [1, 0, 0, 0]) if p is None else np.asarray(p)                           # without p, straight
    return np.concatenate([header, c, triangle(a, s).ravel(), b, np.zeros(s) if e is None else e, inside.ravel(),
                           triangle(implicit, s).ravel()]).astype(float)


def coefficients(tableau: Floats) -> tuple[Floats, Floats, Floats]:
    """a, b and the implicit triangle i of a method."""
    s = int(tableau[STAGES])
    _, a, b, _, i = np.split(tableau, HEADER + np.cumsum([s, s*s, s, 5*s]))
    return a.reshape(s, s), b, i.reshape(s, s)


def euler_cromer() -> Floats:
    """v += h a, then q += h v': first order, symplectic for position-dependent forces."""
    return tableau([0.0], [[]], [1.0], cromer=True)


def rk4() -> Floats:
    """The classical method; between the ends of a step its one cubic of third order, so that samples keep the order of the run."""
    return tableau([0.0, 0.5, 0.5, 1.0], [[], [0.5], [0.0, 0.5], [0.0, 0.0, 1.0]], [1/6, 1/3, 1/3, 1/6],
                   p=[[1, -3/2, 2/3, 0], [0, 1, -2/3, 0], [0, 1, -2/3, 0], [0, -1/2, 2/3, 0]])


def dopri5() -> Floats:
    """Dormand and Prince's 5(4) with a fourth-order interpolant; the coefficients are SciPy's."""
    from scipy.integrate import RK45
    a = np.zeros((7, 7))
    a[:6, :5], a[6, :6] = RK45.A, RK45.B
    return tableau([*RK45.C, 1.0], a, [*RK45.B, 0.0], e=RK45.E, p=RK45.P, last_is_first=True)


@cache
def imex2() -> Floats:
    """Second order, L-stable: trapezoidal rule and backward differences (TR-BDF2) with an explicit partner whose last stage is that
    much more accurate that it serves as the next step's first: two evaluations a step.

    The explicit partner's last row, 1 - a and a, satisfies a c_2 = 1/2: the stage is x at the end of the step but for terms of the
    third order, and the step changes by terms of the fourth."""
    g = 1.0 - 0.5**0.5
    b = [(1.0 - g)/2, (1.0 - g)/2, g]
    a = [[], [2*g], [1.0 - 1/(4*g), 1/(4*g)]]
    i = [[0.0], [g, g], b]
    return tableau([0.0, 2*g, 1.0], a, b, p=interpolant(a, i, b, 2), implicit=i, last_is_first=True)


@cache
def imex4() -> Floats:
    """Fourth order with a third-order estimate, L-stable: ARK4(3)6L[2]SA of Kennedy and Carpenter (2003)."""
    a = [[], [1/2], [13861/62500, 6889/62500],
         [-116923316275/2393684061468, -2731218467317/15368042101831, 9408046702089/11113171139209],
         [-451086348788/2902428689909, -2682348792572/7519795681897, 12662868775082/11960479115383, 3355817975965/11060851509271],
         [647845179188/3216320057751, 73281519250/8382639484533, 552539513391/3454668386233, 3354512671639/8306763924573,
          4040/17871]]
    i = [[0.0], [1/4, 1/4], [8611/62500, -1743/31250, 1/4], [5012029/34652500, -654441/2922500, 174375/388108, 1/4],
         [15267082809/155376265600, -71443401/120774400, 730878875/902184768, 2285395/8070912, 1/4],
         [82889/524892, 0.0, 15625/83664, 69875/102672, -2260/8211, 1/4]]
    b = i[-1]
    lower = [4586570599/29645900160, 0.0, 178811875/945068544, 814220225/1159782912, -3700637/11593932, 61727/225920]
    return tableau([sum(row) for row in i], a, b, e=np.subtract(b, lower), p=interpolant(a, i, b, 3), implicit=i, power=0.25)


def interpolant(a: Rows, i: Rows, b: Sequence[float], order: int) -> Floats:
    """Weights p (s x 4) between the ends of a step: the order conditions of both triangles at every z, b at the end, and in all
    else the least weights; of third order, a polynomial through the implicit stages [B 99]."""
    s = len(b)
    A, B = triangle(a, s), triangle(i, s)
    c = B.sum(axis=1)                                                       # that of A is the same
    conditions = [(np.ones(s), 0, 1.0), (c, 1, 1/2)]                        # row . p = value z^(degree + 1)
    if order >= 3:
        conditions += [(c*c, 2, 1/3), (A @ c, 2, 1/6), (B @ c, 2, 1/6), *through_stages(B, c)]
    rows, right = [], []
    for row, degree, value in conditions:
        for k in range(4):
            rows.append(np.outer(row, np.eye(4)[k]).ravel())
            right.append(value if k == degree else 0.0)
    for j in range(s):
        rows.append(np.outer(np.eye(s)[j], np.ones(4)).ravel())
        right.append(b[j])
    found = np.linalg.lstsq(np.array(rows), np.array(right), rcond=1e-10)[0]
    return np.asarray(found.reshape(s, 4))


def through_stages(B: Floats, c: Floats) -> list[tuple[Floats, int, float]]:
    """Conditions as above, of a polynomial x0 + sum_i l_i(z) (x_i - x0) through the implicit stages, p = B^T l: there a stiff mode
    has its quasi-static deflection, however wrong the rate is with which it starts.  That of the powers z and z^2 are those of the
    order already; sum_i l_i c_i^3 = z^3 [B 99]."""
    cube, _, _, _ = np.linalg.lstsq(B[1:], c[1:]**3, rcond=None)
    rate = np.linalg.svd(B[1:])[2][-1]                                      # B rate = 0: rates that no stage sees
    return [(rate, 2, 0.0), (cube, 2, 1.0)]


IMPLICIT_FIXED = {"imex2": imex2, "imex4": imex4}
IMPLICIT_ADAPTIVE = {"imex43": imex4}
IMPLICIT = (*IMPLICIT_FIXED, *IMPLICIT_ADAPTIVE)
FIXED = {"euler-cromer": euler_cromer, "rk4": rk4} | IMPLICIT_FIXED
ADAPTIVE = {"dopri5": dopri5} | IMPLICIT_ADAPTIVE
