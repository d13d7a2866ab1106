"""A flexible body as the numbers that `sweeps.modes` reads.

The integrals [B 9] are given as E_r(eta), E_r = sum m phi_r c^T for points without inertia of their own.  The sweeps take half the
slope of the inertia, N_r = tr(E_r) I - E_r in its symmetric part, and the coupling h_r(eta), the axial vector of E_r.

The modes are taken orthogonal to the carried fields: the mass couplings go to the fields' coordinates.  Where points turn, the
squares of first order in the energy of the spins go to these integrals, which have the same form [B 9].
"""
from dataclasses import dataclass

import numpy as np

from bough.flex import FlexibleBody
from bough.flex.flexible_body import moments
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

    def blocks(self, body: FlexibleBody, par: int, scratch: int) -> dict[str, int]:
        """Where the body's parameters and its scratch are, block by block."""
        n, p, spins = counts(body)
        own = r.FLEXIBLE_PARAMETERS.places(n, p, self.pairs, self.turns, self.diagonal, spins)
        return ({name: par + start for name, (start, _) in own.items()}
                | {f"bent_{name.lower()}": scratch + start for name, (start, _) in r.FLEXIBLE_SCRATCH.places(n, p, spins).items()})


def modal_form(body: FlexibleBody) -> ModalForm:
    slope = without_squares(body)[3]
    full, k = body.variant == "full", axial(slope)
    turns = full and not np.allclose(k, -k.transpose(1, 0, 2), rtol=0.0, atol=1e-14*np.abs(slope).max(initial=0.0))
    diagonal = not any((matrix - np.diag(np.diag(matrix))).any() for matrix in (body.K, body.D))
    return ModalForm(full, turns, full and body.stiffening, inboard_shapes(body)[1], diagonal, counts(body)[2])


def counts(body: FlexibleBody) -> tuple[int, int, int]:
    """Modes, carried fields, spins."""
    return body.n_modes, body.carried.count, len(body.integrals.spin)*(body.variant == "full")


def scratch_sizes(body: FlexibleBody) -> tuple[int, int, int]:
    """Scratch needed for the body, how much of it is kept in orbit, and scratch for one of its nodes."""
    sizes = counts(body)
    return r.FLEXIBLE_SCRATCH.size(*sizes), r.FLEXIBLE_SCRATCH.places(*sizes)["W"][0], r.NODE_SCRATCH.size(body.n_modes)


def modal_parameters(body: FlexibleBody, form: ModalForm, rest: Floats) -> Floats:
    n, p, _ = counts(body)
    mass, E, t, slope = without_squares(body)
    k, G = axial(slope), body.carried.G
    by_rate = np.stack([k - k.transpose(1, 0, 2), k], axis=1)[:, :form.pairs + form.turns]         # (N, 0 to 2, N, 3)
    spin, pairs = body.integrals.spin[:form.spins], body.integrals.spin_pairs[:form.spins].transpose(1, 0, 2, 3)
    matrices = [np.diag(body.K), np.diag(body.D)] if form.diagonal else [body.K.ravel(), body.D.ravel()]
    return r.FLEXIBLE_PARAMETERS.pack(
        n, p, form.pairs, form.turns, form.diagonal, form.spins, mass=mass,
        place=inboard_place(body), shapes=inboard_shapes(body)[0].ravel(),
        elastic=np.concatenate([-(body.K @ rest), *matrices]),
        inertia=half_slopes(E).ravel(), t=t.ravel(),
        inertia_slopes=half_slopes(slope).reshape(n + p, 9*(n + p))[:(n + p)*form.pairs],
        rate_slopes=by_rate.reshape((n + p)*(form.pairs + form.turns), 3*(n + p)),
        along=np.concatenate([body.carried.mass[n:, :n], spin[..., 0]]),
        along_slopes=np.concatenate([G.transpose(1, 0, 2), pairs[..., 0]], axis=1).reshape(n*(p + form.spins), n),
        about=spin[..., 1:].reshape(form.spins, 3*n), about_slopes=pairs[..., 1:].reshape(n*form.spins, 3*n))


def without_squares(body: FlexibleBody) -> tuple[Floats, Floats, Floats, Floats]:
    """Modal mass (n, n), E, t and the slopes of E (N, N, 3, 3) of modes orthogonal to the carried fields, less the energy
    (m.eta' + g.w)^2/2 of the spins [B 9]."""
    sums, (n, p, spins), i = body.carried, counts(body), body.integrals
    m, both = sums.mass[n:, :n], np.eye(n + p)
    both[n:, :n] = -m                                                                   # phi_r - sum_a m_ar phi_a
    slope = np.einsum("sa,stij,tb->abij", both, sums.slope, both)
    m_spin, g = i.spin[:spins, :, 0], i.spin[:spins, :, 1:]
    squares = np.einsum("asi,arj->srij", g, g)
    squares = squares + np.swapaxes(squares, 0, 1)
    slope[:n, :n] -= moments(squares/2.0, np.einsum("ar,asi->sri", m_spin, g))
    return (sums.mass[:n, :n] - m.T @ m - m_spin.T @ m_spin, np.einsum("sa,sij->aij", both, sums.E), both.T @ sums.t, slope)


def half_slopes(E: Floats) -> Floats:
    """The upper triangle of the symmetric part of tr(E) I - E, half a slope of the inertia, and the axial vector of E (..., 9)."""
    N = np.trace(E, axis1=-2, axis2=-1)[..., None, None]*np.eye(3) - (E + np.swapaxes(E, -2, -1))/2.0
    return np.concatenate([N[..., *np.triu_indices(3)], axial(E)], axis=-1)


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
