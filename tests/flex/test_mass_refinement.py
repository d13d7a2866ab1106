"""Consistent and lumped mass matrices of one beam: the same motion in the limit, each at its order; a spin stiffens both alike."""

import numpy as np
import pytest

import bough
from bough.flex import beam_model, from_matrices

LENGTH, MASS, EI = 2.0, 1.5, 60.0


def rod(elements, lumped, **options):
    """A slender beam along x by its matrices; inextensible dofs are soft enough to be far above what is looked at."""
    model = beam_model(LENGTH, EI=EI, EA=4e5, GJ=50.0, polar_inertia=2e-3, mass_per_length=MASS, elements=elements)
    M = model.mass
    if lumped:
        share = np.full(elements + 1, MASS * LENGTH / elements)
        share[[0, -1]] /= 2
        M = np.kron(np.diag(share), np.diag([1.0, 1, 1, 2e-3 / MASS, 1e-9, 1e-9]))
    attach = {"root": 0, "tip": elements}
    geometric = {"gradient": [[tension(elements) if (i, j) == (0, 0) else np.zeros(M.shape) for j in range(3)] for i in range(3)]}
    return from_matrices(M, model.stiffness, model.position, attach=attach, inboard="root", geometric=geometric, **options)


def tension(elements):
    """Geometric stiffness of the pull m B_xx (L^2 - x^2)/2 (a spin: B_xx = -w^2), by Hermite's cubic at Gauss points."""
    h = LENGTH / elements
    K = np.zeros((6 * (elements + 1),) * 2)
    points, weights = np.polynomial.legendre.leggauss(4)
    for e in range(elements):
        for x, w in zip((points + 1) / 2, weights / 2, strict=True):
            slope = np.array([6 * (x * x - x) / h, 1 - 4 * x + 3 * x * x, 6 * (x - x * x) / h, 3 * x * x - 2 * x])
            pull = -MASS * (LENGTH**2 - (h * (e + x)) ** 2) / 2
            for dofs, sign in (((1, 5, 7, 11), 1.0), ((2, 4, 8, 10), -1.0)):
                at = 6 * e + np.array(dofs)
                row = slope * [1, sign, 1, sign]
                K[np.ix_(at, at)] += h * w * pull * np.outer(row, row)
    return K


def test_each_converges_at_its_order():
    """The first frequency against the clamped beam's: fourth order with the consistent mass, second with lumps."""
    exact = 1.875104068711961**2 / LENGTH**2 * np.sqrt(EI / MASS) / (2 * np.pi)
    for lumped, order, counts in ((False, 4, (2, 4)), (True, 2, (8, 16, 32))):
        errors = [abs(rod(elements, lumped, modes=1).frequencies[0] / exact - 1) for elements in counts]
        observed = np.log2(np.array(errors[:-1]) / errors[1:])
        assert observed == pytest.approx(order, abs=0.15), (lumped, observed)


def test_spin_stiffens_both_alike():
    """The first flapping frequency at a spin, against the clamped beam's w^2 = w0^2 + 1.193 W^2 (Southwell, first mode)."""
    spin = np.array([0.0, 0.0, 2.0])
    found = {}
    for lumped in (False, True):
        rows = []
        for elements in (4, 8, 16):
            body = rod(elements, lumped, modes=4)
            K = body.K + body.geometric.matrix(np.zeros(3), np.zeros(3), spin)
            rows.append(np.sqrt(np.linalg.eigvalsh(K)[0]))
        found[lumped] = np.array(rows)
    limit = found[False][-1]
    # Southwell leaves out powers of (W/w0)^2 = 0.08
    assert limit**2 - (1.8751**2 / LENGTH**2) ** 2 * EI / MASS == pytest.approx(1.193 * 4, rel=0.005)
    errors = np.abs(found[True] - limit)
    assert errors[1] < errors[0] / 3.5  # lumped: second order
    assert errors[2] < errors[1] / 3.5
    assert np.abs(found[False][:2] - limit).max() < errors[2]  # consistent: better than all of them


@pytest.mark.slow
def test_both_swing_alike():
    """Let go on a hinge under gravity, with large motion: tips differ less and less, at second order."""
    ends = {}
    for lumped in (False, True):
        for elements in (4, 8, 16):
            system = bough.System("swing", gravity=(0, 0, -9.81))
            system.body("rod", joint=bough.Revolute("y"), flexible=rod(elements, lumped, modes=2, variant="full"))
            result = bough.simulate(system.compile(), until=0.4, dt=1e-3, record=["state"])
            ends[lumped, elements] = result.data.q.values[-1, 0]
    gaps = [abs(ends[True, n] - ends[False, n]) for n in (4, 8, 16)]
    assert gaps[1] < gaps[0] / 3
    assert gaps[2] < gaps[1] / 3
