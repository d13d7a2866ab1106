"""The lemmas of the papers, numerically, on random rigid and flexible trees, with coordinates held and without."""
import numpy as np
import pytest

from bough.kernels.hinges import MODAL
from tests.support.compare import assert_same, solved_scale, solving
from tests.support.operator_states import NAMES, RELATIVE, states
from tests.support.tolerance import CANCELLING


@pytest.fixture(scope="module", params=NAMES)
def case(request):
    model, q, v = states()[request.param]
    free = model.free
    return model, q, v, model.operators(q, v), model.mass_matrix(q)[np.ix_(free, free)]


def test_there_is_something_to_show():
    models = [model for model, _, _ in states().values()]
    kinds = {row.kind for model in models for row in model.partition()}
    assert kinds == {"revolute", "prismatic", "spherical", "free", "modes", "node"}
    assert any(not model.free.all() and model.free.any() for model in models)
    moved = [body.flexible for model in models for body in model.system.bodies.values() if body.flexible]
    assert any(body.geometric is not None for body in moved)
    assert any(body.variant == "zeroth_order" for body in moved)
    links = [link for model, q, _ in states().values() for link in model.operators(q).links.links]
    assert any(link.kind == MODAL and link.H[:, -6:].any() for link in links)           # some inboard node moves


def test_newton_euler_factorization(case):
    model, q, _, ops, _ = case
    assert_same((ops.H @ ops.Phi @ ops.M @ ops.Phi.T @ ops.H.T).dense(), model.mass_matrix(q), RELATIVE)
    assert_same(ops.mass_matrix.dense(), model.mass_matrix(q), RELATIVE)


def test_phi_is_the_resolvent_of_its_steps(case):
    *_, ops, _ = case
    identity = np.eye(ops.link_space.size)
    assert_same((identity - ops.E_Phi.dense()) @ ops.Phi.dense(), identity, RELATIVE)
    assert_same((identity - ops.E_Psi.dense()) @ ops.Psi.dense(), identity, RELATIVE)
    assert not np.linalg.matrix_power(ops.E_Phi.dense(), len(ops.links.links)).any()


def test_velocities_of_links(case):
    model, q, v, ops, _ = case
    V, seen = ops.Phi.T @ (ops.H.T @ v), model.bodies(q, v)
    for k, body in enumerate(model.names.bodies):
        seat = ops.links.tree.attachments[body]
        if seat.hinge:
            at = ops.links.slices[seat.hinge - 1]
            assert_same(V[at][-6:-3], seen.rate[0, k], CANCELLING, scale=np.abs(v).max())


def test_composite_bodies(case):
    *_, ops, _ = case
    R, M, E = ops.R.dense(), ops.M.dense(), ops.E_Phi.dense()
    beyond = ops.Phi.dense() - np.eye(len(R))
    assert_same(R - E @ R @ E.T, M, RELATIVE, scale=np.abs(R).max())
    assert_same(R + beyond @ R + R @ beyond.T, (ops.Phi @ ops.M @ ops.Phi.T).dense(), RELATIVE)


def test_riccati_recursion_and_its_operator_form(case):
    *_, ops, M = case
    P, G, H, E, D = (x.dense() for x in (ops.P, ops.G, ops.H_free, ops.E_Phi, ops.D))
    passing, exact = ops.tau_bar.dense(), solving(M, RELATIVE)
    scale = np.abs(P).max()
    assert_same(passing, np.eye(len(P)) - G @ H, RELATIVE)
    assert_same(P - E @ passing @ P @ passing.T @ E.T, ops.M.dense(), exact, scale=scale)
    assert_same(H @ P @ H.T, D, exact, scale=scale)
    assert_same(G @ D, P @ H.T, exact, scale=scale)
    assert_same(ops.K.dense(), E @ G, RELATIVE)
    assert_same(ops.E_Psi.dense(), E @ passing, RELATIVE)


def test_innovations_factorization(case):
    *_, ops, M = case
    factor, n = ops.factor.dense(), len(M)
    assert_same(factor @ ops.D.dense() @ factor.T, M, RELATIVE)
    inverse = ops.inverse_factor.dense()
    scale = (np.abs(factor) @ np.abs(inverse)).max(initial=0.0)
    assert_same(factor @ inverse, np.eye(n), RELATIVE, scale=scale)
    assert_same((np.eye(n) + (ops.H_free @ ops.Phi @ ops.K).dense()) @ (np.eye(n) - (ops.H_free @ ops.Psi @ ops.K).dense()),
                np.eye(n), RELATIVE, scale=scale)


def test_inverse_of_the_mass_matrix(case):
    *_, ops, M = case
    wanted, exact = np.linalg.inv(M), solving(M, RELATIVE)
    factor = ops.inverse_factor.dense()
    assert_same(factor.T @ ops.D_inverse.dense() @ factor, wanted, exact)
    for inverse in (ops.inverse, ops.whole().inverse):
        assert_same(inverse.dense(), wanted, exact)                         # in lanes of four
        tau = np.random.default_rng(0).normal(size=len(M))
        assert_same(inverse @ tau, wanted @ tau, exact, scale=solved_scale(M, tau).max())


def test_determinant(case):
    *_, ops, M = case
    sign, wanted = np.linalg.slogdet(M)
    assert sign == 1.0
    assert ops.log_det() == pytest.approx(wanted, abs=solving(M, RELATIVE)*len(M))


def test_forward_dynamics_by_operators(case):
    model, q, v, ops, M = case
    tau = np.random.default_rng(1).normal(size=model.nv)
    wanted = model.forward_dynamics(q, v, tau)[model.free]
    scale = solved_scale(M, tau[model.free], model.bias(q, v)[model.free]).max()
    for form in (ops, ops.whole()):
        assert_same(form.accelerations(tau), wanted, solving(M, RELATIVE), scale=scale)


def test_whole_joints_are_the_same_mechanism(case):
    model, q, _, ops, M = case
    whole = ops.whole()
    assert_same(whole.mass_matrix.dense(), model.mass_matrix(q), RELATIVE)
    assert_same((whole.factor @ whole.D @ whole.factor.T).dense(), M, RELATIVE)
    assert whole.log_det() == pytest.approx(ops.log_det(), abs=solving(M, RELATIVE)*len(M))
