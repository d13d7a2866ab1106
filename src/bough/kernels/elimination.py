"""Symmetric positive definite equations M x = b in the workspace, of any size."""
from bough.kernels.jit import leaf
from bough.kernels.lanes import accumulate, load, store


@leaf
def eliminate(lane, ws, M, b, n):
    """M = U^T D U, row by row, of the upper half of M; b becomes U^-T b, the diagonal of M the inverse of D."""
    for j in range(n):
        d_inverse = 1.0/load(lane, ws, M + n*j + j)
        y = load(lane, ws, b + j)
        for i in range(j + 1, n):
            l = load(lane, ws, M + n*j + i)*d_inverse
            for c in range(i, n):
                accumulate(lane, ws, M + n*i + c, -l*load(lane, ws, M + n*j + c))
            accumulate(lane, ws, b + i, -l*y)
        store(lane, ws, M + n*j + j, d_inverse)


@leaf
def substitute_back(lane, ws, M, b, n):
    """What eliminate left, solved: x in the place of b."""
    for j in range(n - 1, -1, -1):
        y = load(lane, ws, b + j)
        for i in range(j + 1, n):
            y = y - load(lane, ws, M + n*j + i)*load(lane, ws, b + i)
        store(lane, ws, b + j, y*load(lane, ws, M + n*j + j))
