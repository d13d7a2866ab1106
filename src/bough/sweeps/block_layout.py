"""Where blocks are whose sizes depend on a model: of flexible bodies, and of the methods that need more than the O(N) sweeps.

Each function gives where blocks start, in the order of `sweeps.records`, and last where they end.  The packers call them as they
are, the sweeps compiled.  A flexible body has n modes and p carried fields, N = n + p; its rows are padded to multiples of four.
"""
from numba.extending import register_jitable


@register_jitable(forceinline=True)
def rounded(n, unit):
    """The next multiple of a power of two."""
    return (n + unit - 1) & -unit


# ---- flexible bodies ------------------------------------------------------------------------------------------------
@register_jitable(forceinline=True)
def flexible_parameters(n, p, pairs, turns, diagonal):
    """In pars, of a body: mass, inboard_place, inboard_shapes, elastic, E, t, E_slopes, rate_slopes, G."""
    size, forces = n + p, n + 2*n*n
    if diagonal:
        forces = 3*n
    place = size*rounded(n, 4)
    elastic = place + 4 + rounded(6*n, 4)
    E = elastic + rounded(forces, 4)
    t = E + rounded(9*size, 4)
    E_slopes = t + rounded(3*size, 4)
    rate_slopes = E_slopes + pairs*size*rounded(9*size, 4)
    G = rate_slopes + size*rates_length(size, pairs, turns)
    return 0, place, place + 4, elastic, E, t, E_slopes, rate_slopes, G, G + n*p*rounded(n, 4)


@register_jitable(forceinline=True)
def rates_length(size, pairs, turns):
    """How much of W and h' the rates change: what each adds in rate_slopes."""
    return (pairs + turns)*rounded(3*size, 4)


@register_jitable(forceinline=True)
def node_parameters(n):
    """In pars, of a node: place, shapes, curves."""
    return 0, 4, 4 + rounded(6*n, 4), 4 + (n + 1)*rounded(6*n, 4)


@register_jitable(forceinline=True)
def mode_row(n, columns, unit):
    """In the row of a mode: g, z_f, columns of a front, the end; D is first.  Rows are padded to `unit` numbers: four where one
    state is taken, one where four are."""
    g = rounded(n, unit)
    end = rounded(g + 7, unit)
    return g, g + 6, end, end + columns


@register_jitable(forceinline=True)
def modal_record(n, p, columns, unit=4):
    """In ws, behind the head of a modal record: rows of the modes, inboard shapes."""
    inboard = (n + p)*mode_row(n, columns, unit)[3]
    return 0, inboard, inboard + rounded(6*n, 4)


@register_jitable(forceinline=True)
def node_record(n):
    """In ws, behind the head of a node record: its shapes."""
    return 0, rounded(6*n, 4)


@register_jitable(forceinline=True)
def flexible_scratch(n, p):
    """In ws: E, W with h', x, rates, slopes, bends."""
    size = n + p
    W = rounded(9*size, 4)
    x = W + 2*rounded(3*size, 4)
    rates = x + rounded(size, 4)
    slopes = rates + rounded(size, 4)
    bends = slopes + p*rounded(n, 4)
    return 0, W, x, rates, slopes, bends, bends + p*rounded(n, 4)


@register_jitable(forceinline=True)
def node_scratch(n):
    """In ws: rates of shapes, or six rows with a number for each mode."""
    return 0, max(6*rounded(n, 4), rounded(6*n, 4))


# ---- methods --------------------------------------------------------------------------------------------------------
@register_jitable(forceinline=True)
def dense_method(nv, m):
    """In ws: mass matrix, Jacobian of the m multipliers, their matrix, pivots, order."""
    jacobian = nv*nv
    system = jacobian + nv*m
    pivots = system + m*m
    return 0, jacobian, system, pivots, pivots + m, pivots + 2*m


@register_jitable(forceinline=True)
def cloud_method(at, clouds, bodies, joint_size, cloud_size, sums_size, body_size):
    """In ws from `at` on: joint of the base, clouds, equations of unknown hinges; for one state motions of bodies, in packs of four
    numbers, and the sums of four bodies."""
    equations = at + joint_size + cloud_size*(clouds + 1)
    motions = rounded(equations + clouds*(clouds + 1), 4)
    sums = motions + 4*body_size*rounded(bodies, 4)
    return at, at + joint_size, equations, motions, sums, sums + 4*sums_size
