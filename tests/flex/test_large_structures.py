"""Large structures: the order of their factors, and the file that keeps a reduced body."""

import numpy as np
import pytest
from scipy.sparse import block_array, block_diag, csr_array, diags_array, eye_array, kron

from bough.errors import DescriptionError
from bough.flex import box, factors, matrices_model
from bough.flex.geometric import static_solver
from bough.flex.reduction import natural_modes
from bough.flex.solids import solid_model
from tests.support.compare import solving


def block():
    return solid_model(
        box((1.0, 0.5, 0.1), (8, 4, 2)), E=7e10, nu=0.3, density=2700.0, order=1, inboard="root",
        attach={"root": ("x", 0.0), "tip": ("x", 1.0)},
    )  # fmt: skip


def test_fronts_solve_as_dense_matrices_do(monkeypatch):
    """With and without places; with a spider, whose center leads many; with a part that nothing joins; one right side and three."""
    model = block()
    free = model.free_dofs(model.dofs_of("root"))
    stiffness, mass = (model.restricted(each, free) for each in (model.stiffness, model.mass))
    monkeypatch.setattr(factors, "_LEAF", 6)
    places = model.places(free)
    star = np.zeros((1, len(free)))
    star[0, ::2] = 1e9
    hub = block_array([[stiffness, -csr_array(star.T)], [-csr_array(star), csr_array([[star.sum() ** 2]])]])
    two = block_diag([stiffness, stiffness])
    for matrix, where in (
        (stiffness, places),
        (stiffness, None),
        (hub, np.vstack([places, [[2.0, 0, 0]]])),
        (two, np.vstack([places, places + 9.0])),
    ):
        load = np.random.default_rng(0).normal(size=(matrix.shape[0], 3))
        exact = np.linalg.solve(matrix.toarray(), load)
        factor, bound = factors.SymmetricFactor(matrix, where), solving(matrix.toarray()) * np.abs(exact).max()
        assert sorted(factor.order.tolist()) == list(range(matrix.shape[0]))
        assert np.abs(factor.solve(load) - exact).max() < bound
        assert np.abs(factor.solve(load[:, 0]) - exact[:, 0]).max() < bound
    wrong = (stiffness - 2.0 * natural_modes(stiffness, mass, 1)[0][0] * mass).tocsr()
    with pytest.raises(factors.Indefinite) as caught:
        factors.SymmetricFactor(wrong, places)
    assert 0 <= caught.value.dof < len(free)


def test_separators_keep_the_factors_sparse():
    """A plate of n places: 31/4 n log2 n entries at most (George, 1973), where a band would have n^1.5."""
    side = 64
    row = diags_array([-1.0, 4.0, -1.0], offsets=[-1, 0, 1], shape=(side, side))
    across = diags_array([-1.0, -1.0], offsets=[-1, 1], shape=(side, side))
    grid = (kron(eye_array(side), row) + kron(across, eye_array(side))).tocsr()
    places = np.column_stack([*(each.ravel() for each in np.meshgrid(np.arange(side), np.arange(side))), np.zeros(side**2)])
    factor = factors.SymmetricFactor(grid, places)
    held = sum(each.diagonal.size / 2 + each.below.size for each in factor.fronts)
    assert held < 31 / 4 * side**2 * np.log2(side**2) / 2  # half of the bound, with dense leaves
    assert side * side**2 > 31 / 4 * side**2 * np.log2(side**2) / 2


def test_loads_on_what_nothing_holds_are_named():
    loose = np.kron(np.array([[1.0, -1.0, 0.0, 0.0], [-1.0, 1.0, 0.0, 0.0], [0, 0, 1.0, -1.0], [0, 0, -1.0, 1.0]]), np.eye(3))
    places = np.outer(np.arange(4.0), [1, 0, 0])
    model = matrices_model(np.eye(12), loose, places, attach={"root": 0, "tip": 3}, inboard="root")
    with pytest.raises(DescriptionError, match=r"the stiffness resists no load at node 3, [xyz], .* with 'root' fixed; connect"):
        static_solver(model)


def test_reduced_body_is_kept(tmp_path, monkeypatch):
    model, file = block(), tmp_path / "block.npz"
    first = model.reduce(modes=3, static=["tip"], recover=[1, 2], cache=file)
    monkeypatch.setattr("bough.flex.reduction.mode_shapes", lambda *given, **options: pytest.fail("it was reduced again"))
    assert model.reduce(modes=3, static=["tip"], recover=[1, 2], cache=file) == first
    with pytest.raises(pytest.fail.Exception):
        model.reduce(modes=4, static=["tip"], recover=[1, 2], cache=file)  # other options: not the same body
    file.write_bytes(b"no body")
    with pytest.raises(pytest.fail.Exception):
        model.reduce(modes=3, static=["tip"], recover=[1, 2], cache=file)
