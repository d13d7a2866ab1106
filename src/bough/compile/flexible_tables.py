"""A flexible body as the numbers that `sweeps.deform` and `sweeps.modes` read.

The integrals [B 9] come as E_r(eta): I_r = tr(E_r) I - E_r has half the slope of the inertia as its symmetric part, and the
axial vector of E_r is the coupling h_r + k_sr eta_s.  For points without inertia of their own, E_r = sum m phi_r c^T.
"""
import numpy as np

from bough.flex import FlexibleBody
from bough.flex.cross import LEVI_CIVITA
from bough.sweeps import fields as f
from bough.sweeps.fields import fours


def block(numbers: np.ndarray) -> np.ndarray:
    """Numbers in a row, padded to a multiple of four."""
    flat = np.ravel(numbers)
    return np.pad(flat, (0, fours(len(flat)) - len(flat)))


def blocks(rows: np.ndarray) -> list[np.ndarray]:
    return [block(row) for row in rows]


def side_by_side(parts: list[np.ndarray]) -> list[np.ndarray]:
    """Of (n, ...) each: all blocks of one mode, then those of the next."""
    return [block(row) for rows in zip(*parts, strict=True) for row in rows]


def modal_record_size(body: FlexibleBody, columns: int) -> int:
    """Of its modal record; `columns` is the width of the front of closed loops that passes it."""
    n, p = body.n_modes, body.carried.count
    return f.MODAL_ROWS + (n + p)*(fours(n) + 8 + columns) + fours(6*n)


def node_record_size(body: FlexibleBody) -> int:
    return f.NODE_SHAPES + fours(6*body.n_modes)


def room_size(body: FlexibleBody) -> int:
    """What a visit of the body, or of one of its nodes, needs to work in."""
    n, p = body.n_modes, body.carried.count
    return max(fours(9*(n + p)) + 2*fours(3*(n + p)) + 2*fours(n + p) + 2*p*fours(n), 6*fours(n), fours(6*n))


def modal_parameters(body: FlexibleBody, rest: np.ndarray) -> tuple[np.ndarray, list[int]]:
    """In the order of `sweeps.fields`; and what follows the record's place in the plan."""
    n, full, sums = body.n_modes, body.variant == "full", body.carried
    inboard, moves = inboard_shapes(body)
    k = axial(sums.slope)
    turns = full and not np.allclose(k, -k.transpose(1, 0, 2), rtol=0.0, atol=1e-14*np.abs(k).max(initial=0.0))
    diagonal = not any((matrix - np.diag(np.diag(matrix))).any() for matrix in (body.K, body.D))
    by_rate = [k - k.transpose(1, 0, 2), k][:full + turns]
    matrices = [np.diag(body.K), np.diag(body.D)] if diagonal else [body.K.ravel(), body.D.ravel()]
    parts = [*blocks(sums.mass[:, :n]),
             block(np.concatenate([[*inboard_place(body), 0.0], inboard.ravel()])),
             block(np.concatenate([-(body.K @ rest), *matrices])), block(sums.E), block(sums.t),
             *(blocks(sums.slope) if full else []), *side_by_side(by_rate),
             *(block(row) for rows in sums.G.transpose(1, 0, 2) for row in rows)]
    flags = [int(flag) for flag in (full, turns, full and body.stiffening, moves, diagonal)]
    return np.concatenate(parts), [*flags, sums.count]


def axial(E: np.ndarray) -> np.ndarray:
    """Sum of m c x phi out of E, the sum of m phi c^T."""
    return -np.einsum("ijk,...jk->...i", LEVI_CIVITA, E)


def inboard_place(body: FlexibleBody) -> np.ndarray:
    """Of the undeformed inboard node in the body frame; the origin, where no node is held."""
    return np.zeros(3) if body.inboard is None else body.nodes.position[body.nodes.index(body.inboard)]


def inboard_shapes(body: FlexibleBody) -> tuple[np.ndarray, bool]:
    """(n, 6): psi and phi of the inboard node; whether they are anything."""
    if body.inboard is None:
        return np.zeros((body.n_modes, 6)), False
    shapes = node_shapes(body, body.inboard)
    moves = bool(np.abs(shapes).max(initial=0.0) > 1e-12*np.abs(body.nodes.phi).max(initial=0.0))
    return shapes*moves, moves


def node_shapes(body: FlexibleBody, node: str) -> np.ndarray:
    """(n, 6): psi and phi of a node."""
    j = body.nodes.index(node)
    return np.concatenate([body.nodes.psi[j].T, body.nodes.phi[j].T], axis=1)


def node_curves(body: FlexibleBody, node: str) -> np.ndarray:
    """(n, n, 6), [s, r]: what eta_s adds to the shapes of mode r, rotation and translation [B 10].

    Of the virtual rotation H only the symmetric part is a second-order rotation vector; the rest is what exp(theta) does."""
    j, g = body.nodes.index(node), body.geometric
    if g is None:
        return np.zeros((body.n_modes, body.n_modes, 6))
    turning = (g.moment[j] + g.moment[j].transpose(0, 2, 1))/2
    return np.concatenate([turning, g.force[j]]).transpose(1, 2, 0)


def node_parameters(body: FlexibleBody, node: str) -> np.ndarray:
    """Place, shapes, second-order displacements of a node."""
    place = body.nodes.position[body.nodes.index(node)]
    return np.concatenate([place, [0.0], block(node_shapes(body, node)), *blocks(node_curves(body, node))])
