"""Zeros of a linear system, and smaller systems with (almost) the same response, by orthogonal and balancing transformations."""
from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from bough.errors import StateError

if TYPE_CHECKING:
    from bough.analyze.linear.linear_system import Floats, LinearSystem

EPS = np.finfo(float).eps


def scaled(A: Floats, B: Floats, C: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """The system in states z = x / scale, scaled by powers of two so that rows and columns of A are balanced; and the scale."""
    if len(A) < 2:
        return A, B, C, np.ones(len(A))
    _, (scale, _) = linalg.matrix_balance(A, permute=False, separate=True)
    return A * scale / scale[:, None], B / scale[:, None], C * scale, scale


# ---- zeros ---------------------------------------------------------------------------------------------------------
def transmission_zeros(A: Floats, B: Floats, C: Floats, D: Floats) -> NDArray[Any]:
    """Transmission zeros, by orthogonal reduction to a square system with an invertible D (Emami-Naeini and Van Dooren, 1982), so
    that zeros at infinity do not appear as large finite ones."""
    A, B, C, _ = scaled(A, B, C)
    whole = np.block([[A, B], [C, D]])
    tolerance = max(whole.shape) * EPS * float(np.linalg.norm(whole)) if whole.size else 0.0
    A, B, C, D = _with_full_rows(A, B, C, D, tolerance)
    At, Ct, Bt, Dt = _with_full_rows(A.T, C.T, B.T, D.T, tolerance)
    A, B, C, D = At.T, Bt.T, Ct.T, Dt.T
    if not len(A):
        return np.zeros(0, complex)
    if not len(D):
        return linalg.eigvals(A)
    # [C D] W = [0 X]: the pencil is (A, I) times the null space of [C D] in W
    n, m = len(A), B.shape[1]
    W = linalg.qr(np.hstack([C, D]).T, mode="full")[0][:, len(D):]
    assert W.shape[1] == n + m - len(D)
    found = linalg.eig(np.hstack([A, B]) @ W, W[:n], right=False, homogeneous_eigvals=True)
    finite = np.abs(found[1]) > EPS * np.abs(found).max(initial=0.0)
    return found[0][finite] / found[1][finite]


def _with_full_rows(A: Floats, B: Floats, C: Floats, D: Floats, tolerance: float) -> tuple[Floats, Floats, Floats, Floats]:
    """A system with the same zeros and fewer states, whose D has full row rank."""
    while len(D):
        U, s, _ = linalg.svd(D) if D.shape[1] else (np.eye(len(D)), np.zeros(0), None)
        rank = int((s > tolerance).sum())
        if rank == len(D):
            break
        D, C = (U.T @ D)[:rank], U.T @ C
        direct, C = C[rank:], C[:rank]                        # rows of C alone, which must stay zero
        if not len(A):
            break
        _, s, Vt = linalg.svd(direct)
        rho = int((s > tolerance).sum())
        if rho == 0:
            break
        V = np.vstack([Vt[rho:], Vt[:rho]]).T               # direct V = [0 S]
        n = len(A) - rho
        A, B, C = V.T @ A @ V, V.T @ B, C @ V
        C, D = np.vstack([C[:, :n], A[n:, :n]]), np.vstack([D, B[n:]])
        A, B = A[:n, :n], B[:n]
    return A, B, C, D


# ---- fewer states ----------------------------------------------------------------------------------------------------
def minimal(system: LinearSystem, tolerance: float = 1e-9) -> LinearSystem:
    """The system without uncontrollable and unobservable states."""
    A, B, C, _ = scaled(system.A, system.B, system.C)
    V = reached(A, B, tolerance)
    A, B, C = V.T @ A @ V, V.T @ B, C @ V
    W = reached(A.T, C.T, tolerance)
    return _renamed(system, W.T @ A @ W, W.T @ B, C @ W, "minimal")


def reached(A: Floats, B: Floats, tolerance: float) -> Floats:
    """An orthonormal basis of the span of B, A B, A^2 B, ..., block by block; directions below the tolerance are neglected."""
    basis = np.zeros((len(A), 0))
    new, size = B / (np.linalg.norm(B) or 1.0), 1.0
    while basis.shape[1] < len(A):
        for _ in range(2):                                  # twice, so that it is orthogonal to rounding
            new = new - basis @ (basis.T @ new)
        U, s, _ = linalg.svd(new, full_matrices=False) if new.size else (new, np.zeros(0), None)
        kept = U[:, s > tolerance * size]
        if not kept.shape[1]:
            break
        basis = np.hstack([basis, kept])
        new, size = A @ kept, max(float(np.linalg.norm(A, 2)), 1e-300)
    return basis


def balanced(system: LinearSystem, order: int | None, tolerance: float) -> tuple[LinearSystem, Floats]:
    """The balanced system with its most important states, and the Hankel singular values of the stable part. The part that is not
    asymptotically stable (rigid-body motion, integrators) is split off first and kept."""
    A, B, C, _ = scaled(system.A, system.B, system.C)
    A, B, C, keep = _stable_last(A, B, C, system.dt)
    As, Bs, Cs = A[keep:, keep:], B[keep:], C[:, keep:]
    if system.dt is None:
        left, right = (_root(linalg.solve_continuous_lyapunov(*each)) for each in ((As, -Bs @ Bs.T), (As.T, -Cs.T @ Cs)))
    else:
        left, right = (_root(linalg.solve_discrete_lyapunov(*each)) for each in ((As, Bs @ Bs.T), (As.T, Cs.T @ Cs)))
    U, s, Vt = linalg.svd(right.T @ left) if len(As) else (np.zeros((0, 0)), np.zeros(0), np.zeros((0, 0)))
    n = int((s > tolerance * s.max(initial=0.0)).sum()) if order is None else order - keep
    if order is not None and not 0 <= n <= len(s):
        raise StateError(f"balanced: order is {order}, but {keep} states are not asymptotically stable and stay, and "
                         f"{len(s)} more are there; give a number from {keep} to {keep + len(s)}")
    n = min(n, int((s > EPS * s.max(initial=0.0)).sum()))
    root = np.sqrt(s[:n])
    T, L = left @ Vt[:n].T / root, (right @ U[:, :n] / root).T          # L T = 1
    A = np.block([[A[:keep, :keep], np.zeros((keep, n))], [np.zeros((n, keep)), L @ As @ T]])
    return _renamed(system, A, np.vstack([B[:keep], L @ Bs]), np.hstack([C[:, :keep], Cs @ T]), "balanced"), s


def _stable_last(A: Floats, B: Floats, C: Floats, dt: float | None) -> tuple[Floats, Floats, Floats, int]:
    """The system with decoupled states, those that are not asymptotically stable first; and their number."""
    if not len(A):
        return A, B, C, 0
    border = 1e-9 * float(np.abs(np.linalg.eigvals(A)).max(initial=0.0))

    def first(re: float, im: float) -> bool:
        return re >= -border if dt is None else float(np.hypot(re, im)) >= 1.0 - 1e-9

    T, Q, keep = linalg.schur(A, sort=first)
    change, inverse = np.eye(len(A)), np.eye(len(A))
    if 0 < keep < len(A):
        X = linalg.solve_sylvester(T[:keep, :keep], -T[keep:, keep:], -T[:keep, keep:])
        change[:keep, keep:], inverse[:keep, keep:] = X, -X
    whole = inverse @ T @ change
    whole[:keep, keep:] = 0.0
    return whole, inverse @ Q.T @ B, C @ Q @ change, keep


def _root(matrix: Floats) -> Floats:
    """R with R R' = a symmetric matrix that is positive semidefinite except for rounding."""
    if not matrix.size:
        return matrix
    values, vectors = linalg.eigh(0.5 * (matrix + matrix.T))
    return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0)))


def _renamed(system: LinearSystem, A: Floats, B: Floats, C: Floats, what: str) -> LinearSystem:
    n = len(A)
    return replace(system, A=A, B=B, C=C, states=tuple(f"{what} {k + 1}" for k in range(n)), state_units=("",) * n,
                   residual=np.zeros(n), residual_scale=np.zeros(n))
