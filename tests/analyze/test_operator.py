"""Operators as objects: transposes, composition, SciPy's solvers, what they print, what they refuse."""
import doctest

import numpy as np
import pytest
from scipy.sparse.linalg import cg

import bough
from bough.analyze import partition_table
from bough.analyze.operators import operator, spatial_operators, state_links
from tests.support.compare import EPS, assert_same, solved_scale, solving
from tests.support.mechanisms import four_bar
from tests.support.operator_states import beam_tree, states
from tests.support.random_systems import random_state, random_system
from tests.support.tolerance import CANCELLING, FORMULA, PRODUCTS, SWEEP

EACH = ("E_Phi", "Phi", "H", "H_free", "M", "R", "mass_matrix", "P", "D", "D_inverse", "G", "K", "tau_bar", "E_Psi", "Psi",
        "factor", "inverse_factor", "inverse")


@pytest.mark.parametrize("name", ["rigid 0", "flexible 0", "held 0"])
def test_each_applies_itself_and_its_transpose_as_its_matrix_does(name):
    model, q, v = states()[name]
    ops, rng = model.operators(q, v), np.random.default_rng(0)
    for each in EACH:
        A = getattr(ops, each)
        dense, x, y = A.dense(), rng.normal(size=A.shape[1]), rng.normal(size=A.shape[0])
        many, scale = rng.normal(size=(A.shape[1], 5)), np.abs(dense).max()
        close = SWEEP*len(dense), scale
        assert dense.shape == A.shape == (A.rows.size, A.columns.size)
        assert_same(A @ x, dense @ x, *close)
        assert_same(A @ many, dense @ many, *close)
        assert_same(A.T @ y, dense.T @ y, *close)
        assert_same(A.T.dense(), dense.T, *close)
        assert repr(A.T.T) == repr(A)
        size = np.abs(y) @ np.abs(dense) @ np.abs(x)
        assert abs(y @ (A @ x) - (A.T @ y) @ x) <= 100*EPS*len(dense)*size           # <y, A x> = <A* y, x>


def test_composition_says_what_it_is():
    model = beam_tree().compile()
    ops = model.operators(model.q0)
    assert repr(ops.H @ ops.Phi @ ops.M).startswith("H Phi M: ")
    assert (ops.factor @ ops.D).name == "(I + H Phi K) D"
    assert (ops.factor.T @ ops.D).name == "(I + K* Phi* H*) D"
    assert (ops.Phi - (ops.M + ops.P)).T.name == "Phi* - (M* + P*)"
    assert ops.mass_matrix.T.name == "H Phi M* Phi* H*"
    assert (ops.Phi - ops.E_Phi).name == "Phi - E_Phi"
    assert_same((ops.Phi - ops.E_Phi).dense(), ops.Phi.dense() - ops.E_Phi.dense(), PRODUCTS)
    assert_same((ops.Phi + ops.E_Phi).T.dense(), (ops.Phi.dense() + ops.E_Phi.dense()).T, PRODUCTS)
    assert "'satellite', partitioned: 11 links, 74 body coordinates, 21 speeds" in repr(ops)
    assert ops.Phi.rows.block("panel.modes") == slice(18, 29)
    with pytest.raises(ValueError, match="shape mismatch"):
        ops.H @ ops.H
    with pytest.raises(ValueError, match="add"):
        ops.H + ops.Phi


def test_solvers_of_scipy_take_operators():
    model, q, v = states()["rigid 0"]
    ops, tau = model.operators(q, v), np.random.default_rng(0).normal(size=model.nv)
    found, failed = cg(ops.mass_matrix, tau, rtol=1e-10, M=ops.inverse)         # the exact inverse: one step
    assert failed == 0
    assert np.linalg.norm(ops.mass_matrix @ found - tau) <= 1e-10*np.linalg.norm(tau) + CANCELLING*len(tau)      # where cg ends
    assert_same((2.0*ops.mass_matrix) @ tau, 2.0*(ops.mass_matrix @ tau), FORMULA)


def test_what_acts_on_the_model_is_in_its_accelerations():
    """Springs, dampers, torques, wheels, wrenches, force elements, orbits: whatever forward dynamics knows."""
    rng = np.random.default_rng(3)
    for system in loaded_systems():
        model = system.compile()
        q, v = random_state(model, rng)
        tau = rng.normal(size=model.nv)
        given = {"wrenches": {model.names.bodies[-1]: rng.normal(size=6)}, "t": 0.3}
        M = model.mass_matrix(q)
        scale = solved_scale(M, tau, model.bias(q, v, **given)).max()
        wanted = model.forward_dynamics(q, v, tau, **given)
        assert_same(model.operators(q, v, **given).accelerations(tau), wanted, solving(M), scale=scale)


def loaded_systems():
    """A spring, a damper, a torque and wheels, one driven; with a line; in orbit."""
    for gravity in ((0.0, 0.0, -9.81), bough.CentralGravity(3.986e14, (7e6, 0.0, 0.0), (0.0, 7500.0, 0.0))):
        s = bough.System("loaded", gravity=gravity)
        s.body("hub", joint=bough.Free(), mass=5.0, com=(0.1, 0.0, 0.2), inertia=(2.0, 3.0, 4.0))
        s.body("arm", parent="hub", at=(1.0, 0.0, 0.0), mass=1.0, com=(0.5, 0.0, 0.0), inertia=(0.1, 0.2, 0.2),
               joint=bough.Universal("xy", stiffness=(3.0, 4.0), damping=(0.1, 0.2), torque=(0.5, -0.5)))
        s.wheel("kept", body="hub", axis=(0.0, 0.0, 1.0), inertia=0.02, speed=300.0)
        s.wheel("driven", body="arm", axis=(0.0, 1.0, 0.0), inertia=0.01, speed=100.0, torque=0.3)
        if isinstance(gravity, tuple):
            s.line("stay", a=bough.Frame("world"), b=bough.Frame("arm", at=(1.0, 0.0, 0.0)), stiffness=20.0, length=0.5)
        yield s


def test_loops_are_left_open():
    model = four_bar().system.compile()
    q, v = model.assemble()
    ops, tau = model.operators(q, v), np.arange(1.0, model.nv + 1.0)
    tree = model.system.copy()
    tree.loops.clear()
    open_tree = tree.compile()
    assert_same(ops.mass_matrix.dense(), model.mass_matrix(q), SWEEP)
    assert_same(ops.inverse @ tau, np.linalg.solve(model.mass_matrix(q), tau), CANCELLING)
    assert_same(ops.accelerations(tau), open_tree.forward_dynamics(q, v, tau), CANCELLING)
    assert model.system.loops, "the model itself keeps its loops"


def test_what_operators_refuse():
    model = random_system(np.random.default_rng(0), root="revolute", kinds=("revolute",)).compile()
    ops = model.operators(model.q0)
    with pytest.raises(bough.StateError, match="one state"):
        model.operators(np.zeros((2, model.nq)))
    with pytest.raises(bough.StateError, match="tau has shape"):
        ops.accelerations([1.0])


def test_a_singular_joint_is_named():
    s = bough.System("folded")
    s.body("inner", joint=bough.Revolute("z"))
    s.body("outer", parent="inner", joint=bough.Revolute("x"), mass=1.0, com=(0.0, 0.0, 1.0))
    ops = s.compile().operators([0.0, 0.0])
    assert_same(ops.mass_matrix.dense(), [[0.0, 0.0], [0.0, 1.0]], PRODUCTS)
    with pytest.raises(bough.StateError, match="joint 'inner': the articulated inertia along its motion is 0 kg m"):
        ops.log_det()


DOCUMENTED = (operator, spatial_operators, state_links, partition_table)


@pytest.mark.parametrize("module", DOCUMENTED)
def test_docstrings(module):
    assert doctest.testmod(module, optionflags=doctest.ELLIPSIS).failed == 0
