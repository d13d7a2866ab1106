"""Integration methods as data: Butcher tableaus in one flat array.

    header (8)   stages, 1 if the positions take the new speeds (Euler-Cromer), how often at most loops are closed after a
                 step, 1 if the last of that closes their speeds
    c (s)        when each stage is taken, in steps          a (s x s)   stage i starts from x + h sum_j a_ij k_j
    b (s)        the step is x + h sum_j b_j k_j             e (s)       its error is h sum_j e_j k_j
    p (s x 4)    between the ends it is x + h sum_j k_j (p_j1 z + p_j2 z^2 + p_j3 z^3 + p_j4 z^4), z from 0 to 1
"""
import numpy as np

HEADER = 8
STAGES, CROMER, CORRECTIONS, SPEEDS = range(4)


def tableau(c, a, b, *, cromer=False, e=None, p=None) -> np.ndarray:
    s = len(c)
    full = np.zeros((s, s))
    for i, row in enumerate(a):
        full[i, :len(row)] = row
    header = np.zeros(HEADER)
    header[STAGES], header[CROMER] = s, cromer
    e, p = np.zeros(s) if e is None else e, np.zeros((s, 4)) if p is None else p
    return np.concatenate([header, c, full.ravel(), b, e, np.ravel(p)]).astype(float)


def euler_cromer() -> np.ndarray:
    """v += h a, then q += h v': first order, symplectic where forces are."""
    return tableau([0.0], [[]], [1.0], cromer=True)


def rk4() -> np.ndarray:
    return tableau([0.0, 0.5, 0.5, 1.0], [[], [0.5], [0.0, 0.5], [0.0, 0.0, 1.0]], [1/6, 1/3, 1/3, 1/6])


def dopri5() -> np.ndarray:
    """Dormand and Prince's 5(4) with a fourth-order interpolant; the coefficients are SciPy's."""
    from scipy.integrate import RK45
    a = np.zeros((7, 7))
    a[:6, :5], a[6, :6] = RK45.A, RK45.B
    return tableau([*RK45.C, 1.0], a, [*RK45.B, 0.0], e=RK45.E, p=RK45.P)


FIXED = {"euler-cromer": euler_cromer, "rk4": rk4}
ADAPTIVE = {"dopri5": dopri5}
