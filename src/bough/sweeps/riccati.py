"""The articulated-body recursion over links of any size, for the operators: D, G and P of the partitioned tree and of whole joints.

Links come as blocks of numbers, row after row, so that one code serves a hinge of one degree of freedom and a whole flexible body
with its joint.  What is kept of each link:

    P    articulated inertia (N x N)            X = H P (n x N)            G^T = D^-1 X (n x N)
    L    Cholesky's factor of D = H P H^T (n x n)
"""
import numpy as np

from bough.kernels.jit import kernel, leaf
from bough.kernels.lanes import align_stack

# a row of table: its inner link (-1: the ground), size N, number of speeds n; columns of Phi before this one are zero; 1 if the
# others are the identity; where Phi, H, M are in `blocks`; where P, X, G^T, L are in `found`; where its vectors and speeds start
(INNER_LINK, SIZE, SPEEDS, FIRST, AT_INNER, PHI, HINGE, OWN, ARTICULATED, CROSSED, GAINS, FACTOR, VECTOR, SPEED,
 TABLE_ROW) = range(15)


@leaf
def dot_rows(a, i, b, j, n):
    total = 0.0
    for s in range(n):
        total += a[i + s]*b[j + s]
    return total


@leaf
def add_scaled(a, i, factor, b, j, n):
    for s in range(n):
        a[i + s] += factor*b[j + s]


@leaf
def factor_inertia(table, k, blocks, found):
    """X = H P, D = H X^T = L L^T, G^T = D^-1 X [JR 51]."""
    N, n, H = table[k, SIZE], table[k, SPEEDS], table[k, HINGE]
    P, X, G, L = table[k, ARTICULATED], table[k, CROSSED], table[k, GAINS], table[k, FACTOR]
    for i in range(n):
        for j in range(N):
            found[X + N*i + j] = found[G + N*i + j] = dot_rows(blocks, H + N*i, found, P + N*j, N)
        for j in range(i + 1):
            d = dot_rows(blocks, H + N*j, found, X + N*i, N) - dot_rows(found, L + n*i, found, L + n*j, j)
            found[L + n*i + j] = np.sqrt(d) if i == j else d/found[L + n*j + j]
    for i in range(n):
        for j in range(i):
            add_scaled(found, G + N*i, -found[L + n*i + j], found, G + N*j, N)
        scale_row(found, G + N*i, 1.0/found[L + n*i + i], N)
    for i in range(n - 1, -1, -1):
        for j in range(i + 1, n):
            add_scaled(found, G + N*i, -found[L + n*j + i], found, G + N*j, N)
        scale_row(found, G + N*i, 1.0/found[L + n*i + i], N)


@leaf
def scale_row(a, i, factor, n):
    for s in range(n):
        a[i + s] *= factor


@leaf
def hand_inward(table, k, blocks, found, scratch):
    """P of the inner link gets Phi P_plus Phi^T, P_plus = P - G X: only of what Phi does not annul [JR 51]."""
    i, N, n, first = table[k, INNER_LINK], table[k, SIZE], table[k, SPEEDS], table[k, FIRST]
    P, X, G, phi = table[k, ARTICULATED], table[k, CROSSED], table[k, GAINS], table[k, PHI]
    m, N_i, P_i = N - first, table[i, SIZE], table[i, ARTICULATED]
    for r in range(m):
        row = m*r
        for c in range(m):
            scratch[row + c] = found[P + N*(first + r) + first + c]
        for j in range(n):
            add_scaled(scratch, row, -found[G + N*j + first + r], found, X + N*j + first, m)
    if table[k, AT_INNER]:
        add_scaled(found, P_i, 1.0, scratch, 0, m*m)
        return
    shifted = m*m
    for r in range(N_i):
        for c in range(m):
            scratch[shifted + c] = dot_rows(blocks, phi + N*r + first, scratch, m*c, m)
        for c in range(N_i):
            found[P_i + N_i*r + c] += dot_rows(scratch, shifted, blocks, phi + N*c + first, m)


@kernel
def riccati(table, blocks, found, scratch):
    """found = P, X, G^T, L of all links, tips to root [JR 51]."""
    align_stack()
    for k in range(table.shape[0]):
        for j in range(table[k, SIZE]**2):
            found[table[k, ARTICULATED] + j] = blocks[table[k, OWN] + j]
    for k in range(table.shape[0] - 1, -1, -1):
        factor_inertia(table, k, blocks, found)
        if table[k, INNER_LINK] >= 0:
            hand_inward(table, k, blocks, found, scratch)


@leaf
def gather_bias(table, k, blocks, found, tau, vdot, z):
    """nu = D^-1 (tau - H z), z_plus = z + X^T nu, handed inward [JR 58]."""
    i, N, n, first, Z = table[k, INNER_LINK], table[k, SIZE], table[k, SPEEDS], table[k, FIRST], table[k, VECTOR]
    L, v = table[k, FACTOR], table[k, SPEED]
    for j in range(n):
        e = tau[v + j] - dot_rows(blocks, table[k, HINGE] + N*j, z, Z, N) - dot_rows(found, L + n*j, vdot, v, j)
        vdot[v + j] = e/found[L + n*j + j]
    for j in range(n - 1, -1, -1):
        e = vdot[v + j]
        for s in range(j + 1, n):
            e -= found[L + n*s + j]*vdot[v + s]
        vdot[v + j] = e/found[L + n*j + j]
    for j in range(n):
        add_scaled(z, Z, vdot[v + j], found, table[k, CROSSED] + N*j, N)
    if i < 0:
        return
    Z_i, phi = table[i, VECTOR], table[k, PHI]
    if table[k, AT_INNER]:
        add_scaled(z, Z_i, 1.0, z, Z + first, N - first)
    else:
        for r in range(table[i, SIZE]):
            z[Z_i + r] += dot_rows(blocks, phi + N*r + first, z, Z + first, N - first)


@leaf
def scatter_solution(table, k, blocks, found, vdot, alpha):
    """v' = nu - G^T alpha_plus, alpha = alpha_plus + H^T v' [JR 58]."""
    i, N, first, A, v = table[k, INNER_LINK], table[k, SIZE], table[k, FIRST], table[k, VECTOR], table[k, SPEED]
    for s in range(N):
        alpha[A + s] = 0.0
    if table[k, AT_INNER]:
        add_scaled(alpha, A + first, 1.0, alpha, table[i, VECTOR], N - first)
    elif i >= 0:
        for r in range(table[i, SIZE]):
            add_scaled(alpha, A + first, alpha[table[i, VECTOR] + r], blocks, table[k, PHI] + N*r + first, N - first)
    for j in range(table[k, SPEEDS]):
        vdot[v + j] -= dot_rows(found, table[k, GAINS] + N*j, alpha, A, N)
    for j in range(table[k, SPEEDS]):
        add_scaled(alpha, A, vdot[v + j], blocks, table[k, HINGE] + N*j, N)


@kernel
def solve_links(table, blocks, found, tau, vdot, vectors):
    """vdot = M^-1 tau, in the order of the links; `vectors` is room for one number a body coordinate."""
    align_stack()
    for i in range(vectors.shape[0]):
        vectors[i] = 0.0
    for k in range(table.shape[0] - 1, -1, -1):
        gather_bias(table, k, blocks, found, tau, vdot, vectors)
    for k in range(table.shape[0]):
        scatter_solution(table, k, blocks, found, vdot, vectors)
