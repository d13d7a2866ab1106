"""Leaf algebra of the sweeps: tuples of numbers in, tuples of numbers out.  A number is a float or lanes.

    vector      (x, y, z)
    matrix      nine numbers, row by row
    symmetric   (xx, xy, xz, yy, yz, zz)
    spatial     (angular, linear): motions (alpha, a), wrenches (n, f)
    inertia     (J, H, M), the articulated inertia   [n]   [J   H] [alpha]
                J, M symmetric, H full               [f] = [H^T M] [a    ]

``add``, ``sub`` and ``scale`` (from lanes) work elementwise on any of these.

Finite rotations by a rotation vector theta, and their rates:

    R = exp(theta~) = cos I + (1 - x b) theta~ + a theta theta^T          x = theta.theta
    omega = J theta',  J = (1 - x b) I + a theta~ + b theta theta^T       in the rotated axes

a = (1 - cos)/x and b = (|theta| - sin)/|theta|^3 are evaluated by their series, without singularity or branch: exact in double
precision up to 4 rad, more than any elastic slope.

3-vectors as single values: one register (x, y, z and an unused lane) for one state, a tuple of three numbers for four states.
`add` and `scale` work on both, and a matrix is the tuple of its columns.  Along a chain of bodies the arithmetic of one state is
then four wide too.

Functions evaluated lane by lane: exponentials, and angles from sines and cosines.
"""

from bough.kernels.jit import leaf
from bough.kernels.lanes import add, cycle, one_state_only, register, scale, smaller, sub, total, unpack3, zero
from math import factorial
from math import atan2, exp
from bough.kernels.lanes import duals_only, follow, get_lane, inverse_above, load, put_lane, width_of


ZERO = (0.0, 0.0, 0.0)
IDENTITY = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)
ZERO_SYM = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
ZERO_MAT = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)


# ---- vectors and matrices -----------------------------------------------------------------------------
@leaf
def larger(a, b):
    """The larger of two numbers, lane by lane."""
    return -smaller(-a, -b)


@leaf
def dot(a, b):
    ax, ay, az = a
    bx, by, bz = b
    return ax*bx + ay*by + az*bz


@leaf
def cross(a, b):
    ax, ay, az = a
    bx, by, bz = b
    return ay*bz - az*by, az*bx - ax*bz, ax*by - ay*bx


@leaf
def rotate(C, v):
    """C v."""
    xx, xy, xz, yx, yy, yz, zx, zy, zz = C
    x, y, z = v
    return xx*x + xy*y + xz*z, yx*x + yy*y + yz*z, zx*x + zy*y + zz*z


@leaf
def unrotate(C, v):
    """C^T v."""
    xx, xy, xz, yx, yy, yz, zx, zy, zz = C
    x, y, z = v
    return xx*x + yx*y + zx*z, xy*x + yy*y + zy*z, xz*x + yz*y + zz*z


@leaf
def compose(A, B):
    """A B."""
    axx, axy, axz, ayx, ayy, ayz, azx, azy, azz = A
    bxx, bxy, bxz, byx, byy, byz, bzx, bzy, bzz = B
    return (axx*bxx + axy*byx + axz*bzx, axx*bxy + axy*byy + axz*bzy, axx*bxz + axy*byz + axz*bzz,
            ayx*bxx + ayy*byx + ayz*bzx, ayx*bxy + ayy*byy + ayz*bzy, ayx*bxz + ayy*byz + ayz*bzz,
            azx*bxx + azy*byx + azz*bzx, azx*bxy + azy*byy + azz*bzy, azx*bxz + azy*byz + azz*bzz)


@leaf
def turn_z(C, s, c):
    """C Rz, for a rotation with sine s and cosine c about the third column of C."""
    xx, xy, xz, yx, yy, yz, zx, zy, zz = C
    return (c*xx + s*xy, c*xy - s*xx, xz, c*yx + s*yy, c*yy - s*yx, yz, c*zx + s*zy, c*zy - s*zx, zz)


@leaf
def axis_z(C):
    """Third column of C: the z axis of a frame."""
    xx, xy, xz, yx, yy, yz, zx, zy, zz = C
    return xz, yz, zz


@leaf
def column(C, j):
    """Column j of C."""
    xx, xy, xz, yx, yy, yz, zx, zy, zz = C
    if j == 0:
        return xx, yx, zx
    if j == 1:
        return xy, yy, zy
    return xz, yz, zz


@leaf
def invert(A):
    """A^-1: its columns are the cross products of the rows of A, divided by the determinant."""
    xx, xy, xz, yx, yy, yz, zx, zy, zz = A
    x, y, z = (xx, xy, xz), (yx, yy, yz), (zx, zy, zz)
    yz_, zx_, xy_ = cross(y, z), cross(z, x), cross(x, y)
    return scale(1.0/dot(x, yz_), (yz_[0], zx_[0], xy_[0], yz_[1], zx_[1], xy_[1], yz_[2], zx_[2], xy_[2]))


@leaf
def rate_matrix(alpha, omega):
    """alpha~ + omega~ omega~: times a vector fixed in a body, its second derivative."""
    (ax, ay, az), (x, y, z) = alpha, omega
    xy, xz, yz = x*y, x*z, y*z
    xx, yy, zz = x*x, y*y, z*z
    return -yy - zz, xy - az, xz + ay, xy + az, -xx - zz, yz - ax, xz - ay, yz + ax, -xx - yy


@leaf
def attitude(p):
    """Rotation matrix of the quaternion (x, y, z, w) of any length: at stages within a step it need not be unit."""
    x, y, z, w = p
    two = 2.0/(x*x + y*y + z*z + w*w)
    X, Y, Z = two*x, two*y, two*z
    return (1.0 - y*Y - z*Z, x*Y - w*Z, x*Z + w*Y,
            x*Y + w*Z, 1.0 - x*X - z*Z, y*Z - w*X,
            x*Z - w*Y, y*Z + w*X, 1.0 - x*X - y*Y)


@leaf
def skew(v):
    x, y, z = v
    return 0.0, -z, y, z, 0.0, -x, -y, x, 0.0


# ---- symmetric matrices -------------------------------------------------------------------------------
@leaf
def transpose(C):
    xx, xy, xz, yx, yy, yz, zx, zy, zz = C
    return xx, yx, zx, xy, yy, zy, xz, yz, zz


@leaf
def trace_less(E, v):
    """(tr(E) I - E) v."""
    return sub(scale(E[0] + E[4] + E[8], v), rotate(E, v))


@leaf
def trace_less_sym(S):
    """tr(S) I - S of a symmetric S."""
    xx, xy, xz, yy, yz, zz = S
    return yy + zz, -xy, -xz, xx + zz, -yz, xx + yy


@leaf
def sum_products(S, N):
    """The sum of the products of six entries; S:N, if those off the diagonal of S are doubled."""
    return S[0]*N[0] + S[1]*N[1] + S[2]*N[2] + (S[3]*N[3] + S[4]*N[4] + S[5]*N[5])


@leaf
def isotropic(m):
    return m, 0.0, 0.0, m, 0.0, m


@leaf
def sym_times(S, v):
    xx, xy, xz, yy, yz, zz = S
    x, y, z = v
    return xx*x + xy*y + xz*z, xy*x + yy*y + yz*z, xz*x + yz*y + zz*z


@leaf
def rotate_sym(C, S):
    """C S C^T."""
    xx, xy, xz, yx, yy, yz, zx, zy, zz = C
    ax, ay, az = sym_times(S, (xx, xy, xz))
    bx, by, bz = sym_times(S, (yx, yy, yz))
    cx, cy, cz = sym_times(S, (zx, zy, zz))
    return (xx*ax + xy*ay + xz*az, yx*ax + yy*ay + yz*az, zx*ax + zy*ay + zz*az,
            yx*bx + yy*by + yz*bz, zx*bx + zy*by + zz*bz, zx*cx + zy*cy + zz*cz)


@leaf
def factor(S):
    """L D L^T of a symmetric positive definite 3x3: (1/d, l)."""
    xx, xy, xz, yy, yz, zz = S
    ix = 1.0/xx
    lyx, lzx = xy*ix, xz*ix
    iy = 1.0/(yy - lyx*xy)
    yz = yz - lyx*xz
    lzy = yz*iy
    iz = 1.0/(zz - lzx*xz - lzy*yz)
    return (ix, iy, iz), (lyx, lzx, lzy)


@leaf
def solve(LDL, b):
    (ix, iy, iz), (lyx, lzx, lzy) = LDL
    x, y, z = b
    y = y - lyx*x
    z = (z - lzx*x - lzy*y)*iz
    y = y*iy - lzy*z
    return x*ix - lyx*y - lzx*z, y, z


@leaf
def solve_columns(LDL, H):
    """S^-1 H, column by column."""
    xx, xy, xz, yx, yy, yz, zx, zy, zz = H
    xx, yx, zx = solve(LDL, (xx, yx, zx))
    xy, yy, zy = solve(LDL, (xy, yy, zy))
    xz, yz, zz = solve(LDL, (xz, yz, zz))
    return xx, xy, xz, yx, yy, yz, zx, zy, zz


@leaf
def sub_product(M, H, G):
    """M - H^T G, known to be symmetric."""
    mxx, mxy, mxz, myy, myz, mzz = M
    xx, xy, xz, yx, yy, yz, zx, zy, zz = H
    gxx, gxy, gxz, gyx, gyy, gyz, gzx, gzy, gzz = G
    return (mxx - xx*gxx - yx*gyx - zx*gzx, mxy - xx*gxy - yx*gyy - zx*gzy, mxz - xx*gxz - yx*gyz - zx*gzz,
            myy - xy*gxy - yy*gyy - zy*gzy, myz - xy*gxz - yy*gyz - zy*gzz, mzz - xz*gxz - yz*gyz - zz*gzz)


# ---- spatial vectors and articulated inertias ---------------------------------------------------------
@leaf
def spatial_dot(A, B):
    return dot(A[0], B[0]) + dot(A[1], B[1])


@leaf
def rotate_spatial(C, F):
    return rotate(C, F[0]), rotate(C, F[1])


@leaf
def unrotate_spatial(C, F):
    return unrotate(C, F[0]), unrotate(C, F[1])


@leaf
def rotate_inertia(C, P):
    """C P C^T, block by block."""
    J, H, M = P
    return rotate_sym(C, J), compose(compose(C, H), transpose(C)), rotate_sym(C, M)


@leaf
def shift_motion(r, A):
    """Motion of a frame at r from the motion of the frame at the origin."""
    alpha, a = A
    return alpha, add(a, cross(alpha, r))


@leaf
def shift_wrench(r, F):
    """Wrench about the origin of a wrench about r."""
    n, f = F
    return add(n, cross(r, f)), f


@leaf
def euler(J, alpha, omega):
    """J alpha + omega x J omega."""
    return add(sym_times(J, alpha), cross(omega, sym_times(J, omega)))


@leaf
def newton_euler(m, h, turning, omega, A):
    """Wrench required by the motion of a body of mass m and first moment h; `turning`: see euler [S 52]."""
    alpha, a = A
    return add(turning, cross(h, a)), add(add(scale(m, a), cross(alpha, h)), cross(omega, cross(omega, h)))


@leaf
def inertia_times(P, A):
    J, H, M = P
    alpha, a = A
    return add(sym_times(J, alpha), rotate(H, a)), add(unrotate(H, alpha), sym_times(M, a))


@leaf
def outer(a, b):
    (ax, ay, az), (bx, by, bz) = a, b
    return ax*bx, ax*by, ax*bz, ay*bx, ay*by, ay*bz, az*bx, az*by, az*bz


@leaf
def sym_outer(a, b):
    """a b^T, known to be symmetric."""
    (ax, ay, az), (bx, by, bz) = a, b
    return ax*bx, ax*by, ax*bz, ay*by, ay*bz, az*bz


@leaf
def sub_outer(P, U, G):
    """P - U G^T, known to be symmetric."""
    (J, H, M), (u, v), (g, k) = P, U, G
    return sub(J, sym_outer(u, g)), sub(H, outer(u, k)), sub(M, sym_outer(v, k))


@leaf
def shift_inertia(r, P):
    """Inertia about the origin of an inertia about r:  H' = H + r~ M,  J' = J + r~ H^T - H' r~."""
    (jxx, jxy, jxz, jyy, jyz, jzz), (hxx, hxy, hxz, hyx, hyy, hyz, hzx, hzy, hzz), M = P
    mxx, mxy, mxz, myy, myz, mzz = M
    x, y, z = r
    exx, exy, exz = hxx + y*mxz - z*mxy, hxy + y*myz - z*myy, hxz + y*mzz - z*myz
    eyx, eyy, eyz = hyx + z*mxx - x*mxz, hyy + z*mxy - x*myz, hyz + z*mxz - x*mzz
    ezx, ezy, ezz = hzx + x*mxy - y*mxx, hzy + x*myy - y*mxy, hzz + x*myz - y*mxz
    return ((jxx + y*(hxz + exz) - z*(hxy + exy), jxy + y*hyz - z*hyy + z*exx - x*exz, jxz + y*hzz - z*hzy + x*exy - y*exx,
             jyy + z*(hyx + eyx) - x*(hyz + eyz), jyz + z*hzx - x*hzz + x*eyy - y*eyx, jzz + x*(hzy + ezy) - y*(hzx + ezx)),
            (exx, exy, exz, eyx, eyy, eyz, ezx, ezy, ezz), M)


@leaf
def nothing_gathered(lane):
    """P = 0, z = 0."""
    o = zero(lane)
    v, S = (o, o, o), (o, o, o, o, o, o)
    return (S, (o, o, o, o, o, o, o, o, o), S), (v, v)


# ---- finite rotations ----------------------------------------------------------------------------------------------------
_TERMS = range(13, -1, -1)                                      # highest power first, for Horner's scheme
_A = tuple((-1.0)**k/factorial(2*k + 2) for k in _TERMS)
_B = tuple((-1.0)**k/factorial(2*k + 3) for k in _TERMS)
_A_X = tuple(k*(-1.0)**k/factorial(2*k + 2) for k in range(14, 0, -1))
_B_X = tuple(k*(-1.0)**k/factorial(2*k + 3) for k in range(14, 0, -1))


@leaf
def polynomial(coefficients, x):
    value = 0.0*x + coefficients[0]
    for c in coefficients[1:]:
        value = value*x + c
    return value


@leaf
def turn_and_rates(theta):
    """R, and J with omega = J theta'."""
    x = dot(theta, theta)
    a, b = polynomial(_A, x), polynomial(_B, x)
    return _spherical(1.0 - x*a, 1.0 - x*b, a, theta), _spherical(1.0 - x*b, a, b, theta)


@leaf
def _spherical(i, s, o, theta):
    """i I + s theta~ + o theta theta^T."""
    x, y, z = theta
    return (i + o*x*x, o*x*y - s*z, o*x*z + s*y,
            o*x*y + s*z, i + o*y*y, o*y*z - s*x,
            o*x*z - s*y, o*y*z + s*x, i + o*z*z)


@leaf
def rate_bias(theta, rate):
    """J' theta': omega' for theta'' = 0."""
    x, c, s = dot(theta, theta), cross(theta, rate), 2.0*dot(theta, rate)
    turning = add(scale(s*polynomial(_A_X, x), c), scale(s*polynomial(_B_X, x), cross(theta, c)))
    return add(turning, scale(polynomial(_B, x), cross(rate, c)))


@leaf
def turning_rate(theta, rate, psi):
    """J' psi, where J psi = psi + a theta x psi + b theta x (theta x psi)."""
    x, c, s = dot(theta, theta), cross(theta, psi), 2.0*dot(theta, rate)
    d = cross(rate, psi)
    first = add(scale(s*polynomial(_A_X, x), c), scale(polynomial(_A, x), d))
    second = add(scale(s*polynomial(_B_X, x), cross(theta, c)), scale(polynomial(_B, x), add(cross(rate, c), cross(theta, d))))
    return add(first, second)


# ---- vectors as values ---------------------------------------------------------------------------------------------------
@one_state_only(otherwise=lambda lane, u: u)
def vector(lane, u):
    """A vector of three numbers."""
    return register(u)


@one_state_only(otherwise=lambda lane, u: u)
def parts(lane, u):
    """The three numbers of a vector."""
    return unpack3(u)


@one_state_only(otherwise=lambda lane, u, v: cross(u, v))
def vector_cross(lane, u, v):
    """u x v: with c(x, y, z) = (y, z, x) it is c(u c(v) - c(u) v)."""
    return cycle(u*cycle(v) - cycle(u)*v)


@one_state_only(otherwise=lambda lane, u, v: dot(u, v))
def vector_dot(lane, u, v):
    """u.v"""
    return total(u*v)


@leaf
def combine(C, x):
    """C x: a linear combination of C's columns."""
    (a, b, c), (x_a, x_b, x_c) = C, x
    return add(add(scale(x_a, a), scale(x_b, b)), scale(x_c, c))


@leaf
def combine_columns(C, B):
    """C B, B given by rows."""
    xx, xy, xz, yx, yy, yz, zx, zy, zz = B
    return combine(C, (xx, yx, zx)), combine(C, (xy, yy, zy)), combine(C, (xz, yz, zz))


@leaf
def turn_columns(C, s, c):
    """C Rz, for a rotation with sine s and cosine c about the third column of C."""
    a, b, e = C
    return add(scale(c, a), scale(s, b)), add(scale(c, b), scale(-s, a)), e


@leaf
def rows_of(lane, C):
    """The matrix of three columns, by rows."""
    (xx, yx, zx), (xy, yy, zy), (xz, yz, zz) = parts(lane, C[0]), parts(lane, C[1]), parts(lane, C[2])
    return xx, xy, xz, yx, yy, yz, zx, zy, zz


@leaf
def columns_of(lane, C):
    """The three columns of a matrix given by rows."""
    xx, xy, xz, yx, yy, yz, zx, zy, zz = C
    return vector(lane, (xx, yx, zx)), vector(lane, (xy, yy, zy)), vector(lane, (xz, yz, zz))


@leaf
def exponential(lane, ws, at):
    """exp of the number at `at`, which is overwritten."""
    x = load(lane, ws, at)
    for i in range(width_of(lane)):
        put_lane(lane, ws, at, i, exp(get_lane(lane, ws, at, i)))
    return grown_with(lane, load(lane, ws, at), x)


@duals_only(otherwise=lambda lane, e, x: e)
def grown_with(lane, e, x):
    """The value, with the tangent e dx."""
    return follow(e, e, x, zero(lane), x)


@leaf
def arctangent(lane, ws, at, sine, cosine):
    """atan2 of the numbers at `sine` and `cosine`, -pi to pi; `at` is scratch for one number, and may be one of these."""
    s, c = load(lane, ws, sine), load(lane, ws, cosine)
    for i in range(width_of(lane)):
        put_lane(lane, ws, at, i, atan2(get_lane(lane, ws, sine, i), get_lane(lane, ws, cosine, i)))
    return turned_with(lane, load(lane, ws, at), s, c)


@duals_only(otherwise=lambda lane, angle, s, c: angle)
def turned_with(lane, angle, s, c):
    """The angle, with the tangent (c ds - s dc)/(s^2 + c^2); sine and cosine may have any common factor."""
    over = inverse_above(s*s + c*c, 0.0)
    return follow(angle, c*over, s, -s*over, c)
