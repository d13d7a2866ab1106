"""Leaf algebra against NumPy, in one lane and in four."""
import math

import numpy as np
import pytest

from bough.kernels import algebra as al, algebra as ve
from bough.kernels.algebra import rate_bias, turn_and_rates
from bough.kernels.jit import kernel
from bough.kernels.lanes import (
    FOUR,
    ONE,
    accumulate,
    across,
    add,
    get_lane,
    lanes_like,
    load,
    load3,
    load4,
    load9,
    load_composite,
    load_gathered,
    put_lane,
    quads_of,
    read,
    read3,
    scale,
    sincos,
    smaller,
    sqrt,
    store,
    sub,
    where_positive,
    width_of,
    zero,
)
from tests.support.compare import EPS, assert_same
from tests.support.nodal_oracle import rate_map, rate_map_rate, turn
from tests.support.tolerance import CANCELLING, SWEEP

BOTH = pytest.mark.parametrize("lanes", [ONE, FOUR], ids=["one", "four"])


def memory(lanes, values):
    """(n, 4) numbers for four lanes, or the first of them for one."""
    array = lanes.zeros(len(values))
    array[...] = values if lanes.width == 4 else values[:, 0]
    return array


def per_lane(lanes, array):
    """What each lane holds: rows of numbers."""
    return array[None] if lanes.width == 1 else array.T


# ---- vectors -------------------------------------------------------------------------------------------------------
@kernel
def vector_kernel(x, out):
    """u x w, C u, C D, C turned about its third column; operands lie in x: u, w, C, D, sine, cosine."""
    lane = lanes_like(x)
    u, w, C = ve.vector(lane, load3(lane, x, 0)), ve.vector(lane, load3(lane, x, 3)), ve.columns_of(lane, load9(lane, x, 6))
    store(lane, out, 0, ve.parts(lane, ve.vector_cross(lane, u, w)))
    store(lane, out, 3, ve.parts(lane, ve.combine(C, load3(lane, x, 0))))
    store(lane, out, 6, ve.rows_of(lane, ve.combine_columns(C, load9(lane, x, 15))))
    store(lane, out, 15, ve.rows_of(lane, ve.turn_columns(C, load(lane, x, 24), load(lane, x, 25))))


@BOTH
def test_vectors(lanes):
    rng = np.random.default_rng(5)
    x, out = memory(lanes, rng.normal(size=(26, 4))), lanes.zeros(24)
    vector_kernel(x, out)
    for given, found in zip(per_lane(lanes, x), per_lane(lanes, out), strict=True):
        u, w, C, D = given[:3], given[3:6], given[6:15].reshape(3, 3), given[15:24].reshape(3, 3)
        s, c = given[24:]
        turned = C @ [[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]]
        assert_same(found, np.concatenate([np.cross(u, w), C @ u, (C @ D).ravel(), turned.ravel()]), 20*EPS)


@kernel
def across_kernel(x, out):
    quads = quads_of(x)
    store(quads, out, 0, across(load(quads, x, 0), load(quads, x, 1), load(quads, x, 2), load(quads, x, 3)))


def test_across():
    """Vectors of four bodies, one in a register each, to registers of one component each."""
    x, out = np.arange(16.0), np.zeros(12)
    across_kernel(x, out)
    np.testing.assert_array_equal(out.reshape(3, 4), x.reshape(4, 4).T[:3])


# ---- algebra -------------------------------------------------------------------------------------------------------
@kernel
def algebra_kernel(x, out):
    """Every operation on operands that lie in x one after another: u, w, C, D, S, p, then P and F."""
    lane = lanes_like(x)
    u, w, C, D = load3(lane, x, 0), load3(lane, x, 3), load9(lane, x, 6), load9(lane, x, 15)
    S, p = load3(lane, x, 24) + load3(lane, x, 27), load4(lane, x, 30)
    P, F = load_gathered(lane, x, 34)
    s = load(lane, x, 0)
    store(lane, out, 0, al.dot(u, w))
    store(lane, out, 1, al.cross(u, w))
    store(lane, out, 4, al.rotate(C, u))
    store(lane, out, 7, al.unrotate(C, u))
    store(lane, out, 10, al.compose(C, D))
    store(lane, out, 19, al.turn_z(C, s, load(lane, x, 1)))
    store(lane, out, 28, (al.axis_z(C), al.column(C, 0), al.column(C, 1), al.column(C, 2)))
    store(lane, out, 40, al.attitude(p))
    store(lane, out, 49, al.skew(u))
    store(lane, out, 58, al.isotropic(s))
    store(lane, out, 64, al.sym_times(S, u))
    store(lane, out, 67, al.rotate_sym(C, S))
    store(lane, out, 73, al.solve(al.factor(S), u))
    G = al.solve_columns(al.factor(S), C)
    store(lane, out, 76, G)
    store(lane, out, 85, al.sub_product(S, C, G))
    store(lane, out, 91, al.spatial_dot((u, w), F))
    store(lane, out, 92, al.rotate_spatial(C, F))
    store(lane, out, 98, al.shift_motion(u, F))
    store(lane, out, 104, al.shift_wrench(u, F))
    store(lane, out, 110, al.inertia_times(P, F))
    store(lane, out, 116, al.sub_outer(P, F, scale(s, F)))
    store(lane, out, 137, al.shift_inertia(u, P))
    store(lane, out, 158, add(sub(C, D), scale(2.0, D)))
    store(lane, out, 167, al.nothing_gathered(lane))


def symmetric(six):
    xx, xy, xz, yy, yz, zz = six
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


def six(S):
    return S[np.triu_indices(3)]


def skew(r):
    return np.cross(np.eye(3), r)


def spatial(J, H, M):
    return np.block([[J, H], [H.T, M]])


def parts(P):
    return np.concatenate([six(P[:3, :3]), P[:3, 3:].ravel(), six(P[3:, 3:])])


def quaternion_matrix(p):
    x, y, z, w = p/np.linalg.norm(p)
    v = np.array([x, y, z])
    return np.eye(3)*(w*w - v @ v) + 2*np.outer(v, v) + 2*w*skew(v)


def algebra_expected(x):
    """The same with NumPy's matrices: {where it is in out: what}."""
    u, w, C, D, S, p = x[:3], x[3:6], x[6:15].reshape(3, 3), x[15:24].reshape(3, 3), symmetric(x[24:30]), x[30:34]
    P, F = spatial(symmetric(x[34:40]), x[40:49].reshape(3, 3), symmetric(x[49:55])), x[55:61]
    s, c = x[0], x[1]
    turn = C @ np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])
    turn[:, 2] = C[:, 2]
    shift = spatial(np.eye(3), skew(u), np.eye(3))
    shift[3:, :3] = 0
    G = np.linalg.solve(S, C)
    return {0: [u @ w], 1: np.cross(u, w), 4: C @ u, 7: C.T @ u, 10: C @ D, 19: turn, 28: C[:, [2, 0, 1, 2]].T,
            40: quaternion_matrix(p), 49: skew(u), 58: six(s*np.eye(3)), 64: S @ u, 67: six(C @ S @ C.T),
            73: np.linalg.solve(S, u), 76: G, 85: six(S - C.T @ G), 91: [np.concatenate([u, w]) @ F],
            92: [C @ F[:3], C @ F[3:]], 98: [F[:3], F[3:] + np.cross(F[:3], u)],
            104: [F[:3] + np.cross(u, F[3:]), F[3:]], 110: P @ F, 116: parts(P - s*np.outer(F, F)),
            137: parts(shift @ P @ shift.T), 158: C + D, 167: np.zeros(27)}


@BOTH
@pytest.mark.parametrize("seed", range(5))
def test_algebra(lanes, seed):
    """Vectors, rotations, symmetric matrices, spatial vectors and inertias: a few roundings of terms of order one."""
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(61, 4))
    for lane in range(4):
        root = rng.normal(size=(3, 3))
        values[24:30, lane] = six(root @ root.T + np.eye(3))          # positive definite, well conditioned
    x, out = memory(lanes, values), lanes.zeros(194)
    algebra_kernel(x, out)
    for given, found in zip(per_lane(lanes, x), per_lane(lanes, out), strict=True):
        for at, expected in algebra_expected(given).items():
            expected = np.ravel(expected)
            assert_same(found[at:at + len(expected)], expected, 200*EPS, 1.0)


# ---- lanes ---------------------------------------------------------------------------------------------------------
@kernel
def layout_kernel(x, table, out):
    lane = lanes_like(x)
    store(lane, out, 0, (load3(lane, x, 2), load(lane, x, 0)))              # 2 3 4 0
    store(lane, out, 4, 7.0)
    accumulate(lane, out, 4, load(lane, x, 1))                              # 7 + x1
    store(lane, out, 5, (read3(table, 1), read(table, 0)))                  # parameters 1 2 3 0
    store(lane, out, 9, load(lane, x, 5)*read(table, 2) - 2.0/load(lane, x, 6))
    store(lane, out, 10, -load(lane, x, 5) + (3 - load(lane, x, 6)))
    J, h, m = load_composite(lane, x, 0)
    store(lane, out, 11, (m, h, J))                                         # 9 | 6 7 8 | 0 ... 5
    store(lane, out, 21, zero(lane))
    for i in range(width_of(lane)):
        put_lane(lane, out, 22, i, get_lane(lane, x, 3, i) + i)
    quads = quads_of(x)                                                     # four doubles, whatever the lanes
    store(quads, out, 24*width_of(lane)//4, load(quads, x, width_of(lane)))




@BOTH
@pytest.mark.parametrize("own_parameters", [False, True])
def test_layout(lanes, own_parameters):
    """Loads and stores count numbers, not doubles; parameters are one for all lanes or one for each."""
    if own_parameters and lanes is ONE:
        pytest.skip("one lane has one set of parameters")
    rng = np.random.default_rng(1)
    x, out = memory(lanes, rng.normal(size=(16, 4))), lanes.zeros(32)
    table = rng.normal(size=(4, 4)) if own_parameters else rng.normal(size=4)
    layout_kernel(x, table, out)
    for i, (given, found) in enumerate(zip(per_lane(lanes, x), per_lane(lanes, out), strict=True)):
        pars = table[:, i] if own_parameters else table
        expected = [*given[2:5], given[0], 7 + given[1], *pars[1:4], pars[0], given[5]*pars[2] - 2/given[6],
                    -given[5] + 3 - given[6], given[9], *given[6:9], *given[:6], 0.0, given[3] + i]
        assert_same(found[:23], expected, 4*EPS, 2/abs(given[6]))
    assert_same(out.ravel()[24*lanes.width:24*lanes.width + 4], x.ravel()[4*lanes.width:4*lanes.width + 4], 0.0)


@kernel
def functions_kernel(x, out):
    lane = lanes_like(x)
    n = x.shape[0]
    for i in range(n):
        s, c = sincos(load(lane, x, i))
        store(lane, out, 3*i, (s, c, sqrt(load(lane, x, i))))


def functions(lanes, values):
    """sin, cos, sqrt of values, four or one at a time."""
    padded = np.resize(values, (-(-len(values)//4), 4)) if lanes is FOUR else values
    x = lanes.zeros(len(padded))
    x[...] = padded
    out = lanes.zeros(3*len(x))
    functions_kernel(x, out)
    rows = out.reshape(len(x), 3) if lanes is ONE else out.reshape(-1, 3, 4).transpose(0, 2, 1).reshape(-1, 3)
    return rows[:len(values)].T


@BOTH
@pytest.mark.parametrize("largest", [1e-8, 1.0, 10.0, 1e3, 1e5, 1e9])
def test_sine_and_cosine(lanes, largest):
    """Within one unit in the last place of 1, far beyond what joints reach; small sines keep their own digits."""
    rng = np.random.default_rng(2)
    angles = np.concatenate([rng.uniform(-largest, largest, 20000), [0.0, -0.0, largest, -largest]])
    s, c, _ = functions(lanes, angles)
    expected = np.array([math.sin(a) for a in angles]), np.array([math.cos(a) for a in angles])
    assert np.abs(s - expected[0]).max() <= EPS
    assert np.abs(c - expected[1]).max() <= EPS
    small = np.abs(angles) < 0.5
    assert (np.abs(s - expected[0])[small] <= EPS*np.abs(expected[0][small])).all()
    assert np.abs(s*s + c*c - 1).max() <= 4*EPS


@BOTH
def test_sine_and_cosine_near_quarter_turns(lanes):
    """The reduction keeps what is left of an angle near a multiple of a quarter turn: sine of pi is 1.2e-16, not 0."""
    turns = np.arange(-2000, 2001)*math.pi/2
    angles = np.concatenate([turns, np.nextafter(turns, np.inf), turns + 1e-9])
    s, c, _ = functions(lanes, angles)
    for found, exact in ((s, np.sin), (c, np.cos)):
        expected = exact(angles.astype(np.longdouble)).astype(float)
        beyond = 1e-28                                       # the rest of pi/2 after 107 bits, times 2000
        assert (np.abs(found - expected) <= EPS*np.abs(expected) + beyond).all()


@kernel
def turns_kernel(x, out):
    """Matrix, map and bias of a rotation vector and its rate; the smaller of two numbers; one or the other."""
    lane = lanes_like(x)
    theta, rate = load3(lane, x, 0), load3(lane, x, 3)
    store(lane, out, 0, turn_and_rates(theta))
    store(lane, out, 18, rate_bias(theta, rate))
    store(lane, out, 21, smaller(load(lane, x, 0), load(lane, x, 1)))
    store(lane, out, 22, where_positive(load(lane, x, 0), load(lane, x, 3), 7.0))


@BOTH
@pytest.mark.parametrize("angle", [0.0, 1e-9, 0.3, 2.0, 3.9])
def test_finite_turns(lanes, angle):
    """Against the integral of exp(s theta) over s from 0 to 1, by quadrature."""
    rng = np.random.default_rng(5)
    values = rng.normal(size=(6, 4))
    values[:3] *= angle/np.linalg.norm(values[:3], axis=0)
    x, out = memory(lanes, values), lanes.zeros(23)
    turns_kernel(x, out)
    for given, found in zip(per_lane(lanes, x), per_lane(lanes, out), strict=True):
        theta, rate = given[:3], given[3:]
        assert_same(found[:9].reshape(3, 3), turn(theta), 16*EPS)
        assert_same(found[9:18].reshape(3, 3), rate_map(theta), SWEEP)
        assert_same(found[18:21], rate_map_rate(theta, rate), CANCELLING, 1.0)
        assert found[21] == min(given[0], given[1])
        assert found[22] == (given[3] if given[0] > 0 else 7.0)


@BOTH
def test_square_root(lanes):
    """The processor's own, correctly rounded."""
    values = np.concatenate([np.logspace(-300, 300, 999), [0.0, 1.0, 4.0]])
    np.testing.assert_array_equal(functions(lanes, values)[2], np.sqrt(values))
