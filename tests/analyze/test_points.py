"""Points: the Jacobian as an operator, mobility and operational-space inertia by the recursion."""
import numpy as np
import pytest

import bough
from tests.support.compare import assert_same, solving
from tests.support.operator_states import beam_tree, states
from tests.support.tolerance import CANCELLING


@pytest.mark.parametrize("name", ["rigid 1", "flexible 1", "held 0"])
def test_jacobian_of_points(name):
    model, q, v = states()[name]
    rng, bodies = np.random.default_rng(0), model.names.bodies
    places = rng.uniform(-1, 1, (2, 3))
    J = model.operators(q, v).jacobian([bodies[-1], (bodies[-1], places[0]), (bodies[1], places[1])])
    wanted = np.vstack([model.jacobian(q, bodies[-1]), model.jacobian(q, bodies[-1], places[0]),
                        model.jacobian(q, bodies[1], places[1])])
    assert_same(J.dense(), wanted, CANCELLING)
    assert_same(J @ v, wanted @ v, CANCELLING)
    assert_same(model.operators(q, whole=True).jacobian([bodies[-1]]).dense(), wanted[:6], CANCELLING)
    assert J.shape == (18, model.nv)


def test_jacobian_of_nodes():
    model = beam_tree().compile()
    rng = np.random.default_rng(1)
    q, v = model.q0 + 0.05*rng.normal(size=model.nq), rng.normal(size=model.nv)
    points = [("panel", "middle"), ("mast", "tip"), ("mast", "root")]            # two without a link, an inboard node
    J, seen = model.operators(q).jacobian(points), model.bodies(q, v)
    nodes = [seen.node(*point) for point in points]
    assert_same(J @ v, np.concatenate([np.r_[node.rate[0], node.velocity[0]] for node in nodes]), CANCELLING)


@pytest.mark.parametrize("name", ["rigid 0", "rigid 2", "flexible 2", "held 1"])
def test_mobility(name):
    model, q, v = states()[name]
    points = [model.names.bodies[-1], (model.names.bodies[2], (0.1, 0.2, 0.3))]
    ops, free = model.operators(q, v), model.free
    M, J = model.mass_matrix(q)[np.ix_(free, free)], ops.jacobian(points).dense()[:, free]
    assert_same(ops.mobility(points), J @ np.linalg.solve(M, J.T), solving(M))


def test_operational_space_inertia():
    model = beam_tree().compile()
    q = model.q0 + 0.05*np.random.default_rng(2).normal(size=model.nq)
    points = ["dish", ("mast", "tip")]
    ops = model.operators(q)
    M, J = model.mass_matrix(q), ops.jacobian(points).dense()
    wanted = np.linalg.inv(J @ np.linalg.solve(M, J.T))
    assert_same(ops.operational_space_inertia(points), wanted, solving(np.linalg.inv(wanted), solving(M)))


def test_points_that_cannot_move_everywhere_are_refused():
    s = bough.System("arm")
    s.body("stand", mass=1.0)
    s.body("upper", parent="stand", joint=bough.Revolute("y"), mass=1.0, com=(0.5, 0, 0), inertia=(0.1, 0.1, 0.1))
    s.body("lower", parent="upper", joint=bough.Revolute("y"), at=(1, 0, 0), mass=1.0, com=(0.5, 0, 0), inertia=(0.1, 0.1, 0.1))
    ops = s.compile().operators([0.3, 0.4])
    with pytest.raises(bough.StateError, match=r"move in \d of 6 directions only.*mobility"):
        ops.operational_space_inertia(["lower"])
    assert not ops.jacobian(["stand"]).dense().any()                         # it is part of the ground
    for point, text in (("lowr", "did you mean 'lower'"), (("lower", (1, 2)), "three finite numbers"),
                        (("lower", "tip"), "is rigid"), (("lower", (0, 0, np.nan)), "three finite numbers"),
                        (3, "there is no body 3")):
        with pytest.raises(bough.StateError, match=text):
            ops.jacobian([point])


def test_points_cost_as_many_steps_as_there_are_links():
    """Operations are counted: each link is passed once, whatever the number of points."""
    counts = {}
    for n in (10, 20):
        s = bough.System("chain")
        for k in range(n):
            s.body(f"b{k}", parent=f"b{k - 1}" if k else None, joint=bough.Revolute("xyz"[k % 3]), at=(0.1, 0.2, 0.3), mass=1.0,
                   inertia=(1, 1, 1))
        ops = s.compile().operators(np.full(n, 0.3))
        steps = [Counted(step) for step in ops._articulated_steps]
        ops.__dict__["Psi"] = ops._chains.all_steps("Psi", steps, "")
        ops.mobility([f"b{n - 1}", "b0"])
        counts[n] = sum(step.used for step in steps)
    assert counts == {10: 9, 20: 19}


class Counted:
    """A block that counts how often it is applied."""

    def __init__(self, block):
        self.block, self.used = block, 0

    def __matmul__(self, other):
        self.used += 1
        return self.block @ other

    @property
    def T(self):
        """The transpose, which counts here too."""
        return Transposed(self)


class Transposed:
    def __init__(self, counted):
        self.counted = counted

    def __matmul__(self, other):
        self.counted.used += 1
        return self.counted.block.T @ other
