"""A flexible body as the numbers that `sweeps.modes` reads.

The integrals [B 9] are given as E_r(eta): the symmetric part of I_r = tr(E_r) I - E_r is half the slope of the inertia, and the
axial vector of E_r is the coupling h_r + k_sr eta_s.  For points without inertia of their own, E_r = sum m phi_r c^T.
"""
from dataclasses import dataclass

import numpy as np

from bough.flex import FlexibleBody
from bough.flex.integrals import LEVI_CIVITA
from bough.sweeps import records as r
from bough.sweeps.schema import Floats


@dataclass(frozen=True)
class ModalForm:
    """Which terms the equations of a flexible body have: the flags of its row in plan."""
    pairs: bool             # terms of two modes; otherwise linearized
    turns: bool             # these are not skew in the two modes
    curves: bool            # nodes have second-order displacements
    inboard_moves: bool
    diagonal: bool          # stiffness and damping
    spins: int              # mean rates of rotating points


def modal_form(body: FlexibleBody) -> ModalForm:
    full, k = body.variant == "full", axial(body.carried.slope)
    turns = full and not np.allclose(k, -k.transpose(1, 0, 2), rtol=0.0, atol=1e-14*np.abs(k).max(initial=0.0))
    diagonal = not any((matrix - np.diag(np.diag(matrix))).any() for matrix in (body.K, body.D))
    return ModalForm(full, turns, full and body.stiffening, inboard_shapes(body)[1], diagonal, spin_count(body))


def spin_count(body: FlexibleBody) -> int:
    return len(body.integrals.spin) if body.variant == "full" else 0


def scratch_sizes(body: FlexibleBody) -> tuple[int, int, int]:
    """Scratch needed for the body, how much of it is kept in orbit, and scratch for one of its nodes."""
    counts = body.n_modes, body.carried.count, spin_count(body)
    return r.FLEXIBLE_SCRATCH.size(*counts), r.FLEXIBLE_SCRATCH.places(*counts)["W"][0], r.NODE_SCRATCH.size(body.n_modes)


def modal_parameters(body: FlexibleBody, form: ModalForm, rest: Floats) -> Floats:
    n, sums, k = body.n_modes, body.carried, axial(body.carried.slope)
    size = n + sums.count
    by_rate = np.stack([k - k.transpose(1, 0, 2), k], axis=1)[:, :form.pairs + form.turns]         # (N, 0 to 2, N, 3)
    spin, pairs = body.integrals.spin[:form.spins], body.integrals.spin_pairs[:form.spins].transpose(1, 0, 2, 3)
    matrices = [np.diag(body.K), np.diag(body.D)] if form.diagonal else [body.K.ravel(), body.D.ravel()]
    return r.FLEXIBLE_PARAMETERS.pack(
        n, sums.count, form.pairs, form.turns, form.diagonal, form.spins,
        mass=sums.mass[:, :n],
        inboard_place=inboard_place(body), inboard_shapes=inboard_shapes(body)[0].ravel(),
        elastic=np.concatenate([-(body.K @ rest), *matrices]),
        E=sums.E.ravel(), t=sums.t.ravel(),
        E_slopes=sums.slope.reshape(size, 9*size)[:size*form.pairs],
        rate_slopes=by_rate.reshape(size*(form.pairs + form.turns), 3*size),
        G=sums.G.transpose(1, 0, 2).reshape(n*sums.count, n),
        spin_masses=spin[..., 0], spin_moments=spin[..., 1:].reshape(form.spins, 3*n),
        spin_slopes=pairs[..., 0].reshape(n*form.spins, n), spin_turns=pairs[..., 1:].reshape(n*form.spins, 3*n))


def axial(E: Floats) -> Floats:
    """Sum of m c x phi, from E, the sum of m phi c^T."""
    return -np.einsum("ijk,...jk->...i", LEVI_CIVITA, E)


def inboard_place(body: FlexibleBody) -> Floats:
    """Position of the undeformed inboard node in the body frame; the origin if no node is held."""
    return np.zeros(3) if body.inboard is None else body.nodes.position[body.nodes.index(body.inboard)]


def inboard_shapes(body: FlexibleBody) -> tuple[Floats, bool]:
    """(n, 6): psi and phi of the inboard node; and whether any is nonzero."""
    if body.inboard is None:
        return np.zeros((body.n_modes, 6)), False
    shapes = node_shapes(body, body.inboard)
    moves = bool(np.abs(shapes).max(initial=0.0) > 1e-12*np.abs(body.nodes.phi).max(initial=0.0))
    return shapes*moves, moves


def node_shapes(body: FlexibleBody, node: str) -> Floats:
    """(n, 6): psi and phi of a node."""
    j = body.nodes.index(node)
    return np.concatenate([body.nodes.psi[j].T, body.nodes.phi[j].T], axis=1)


def node_curves(body: FlexibleBody, node: str) -> Floats:
    """(n, n, 6), [s, r]: slope of the shapes of mode r with eta_s, rotation and translation [B 10].

    Only the symmetric part of the virtual rotation H is a second-order rotation vector; the rest comes from exp(theta)."""
    j, g = body.nodes.index(node), body.geometric
    if g is None:
        return np.zeros((body.n_modes, body.n_modes, 6))
    turning = (g.moment[j] + g.moment[j].transpose(0, 2, 1))/2
    return np.concatenate([turning, g.force[j]]).transpose(1, 2, 0)


def node_parameters(body: FlexibleBody, node: str) -> Floats:
    n = body.n_modes
    return r.NODE_PARAMETERS.pack(n, place=body.nodes.position[body.nodes.index(node)], shapes=node_shapes(body, node).ravel(),
                                  curves=node_curves(body, node).reshape(n, 6*n))
