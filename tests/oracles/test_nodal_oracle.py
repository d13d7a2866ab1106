"""The oracle is itself right: its kinematics against finite differences, its sums against Newton-Euler and a known pendulum."""

import numpy as np
import pytest

from bough.flex.integrals import MassPoints, ModalIntegrals
from tests.support.nodal_oracle import NodalOracle, Node, TreeBody
from tests.support.point_oracle import random_points
from tests.support.tolerance import CANCELLING, differences, roundings

AXES = np.eye(3)


def random_node(rng, modes):
    return Node(rng.normal(size=3), 0.3 * rng.normal(size=(3, modes)), 0.3 * rng.normal(size=(3, modes)))


def random_tree(rng, modes=1):
    """Four bodies: a floating base by slides and a sequence, a chain of two behind it, a branch on the second."""
    from scipy.spatial.transform import Rotation

    def body(parent, n, parent_modes, **joint):
        return TreeBody(
            random_points(rng, count=4, modes=n),
            parent,
            at_node=None if parent < 0 else random_node(rng, parent_modes),
            at=rng.normal(size=3),
            orient=Rotation.random(random_state=rng.integers(99)).as_matrix(),
            inboard=random_node(rng, n),
            hold=rng.normal(size=3),
            **joint,
        )

    return [
        body(-1, modes, 0, translations=tuple(AXES), rotations=(AXES[0], AXES[1], AXES[2])),
        body(0, modes, modes, rotations=(AXES[1],)),
        body(1, modes, modes, translations=(AXES[0],), rotations=(AXES[2], AXES[0])),
        body(1, 0, modes, rotations=(AXES[0],)),
    ]


def point_motion(oracle, index):
    """Of the points' mass centers: places, velocities, accelerations at constant speeds (N, 3), Jacobians (N, 3, nv)."""
    found = [(p.r, p.v, p.av, p.Jv) for _, _, p in oracle._points_of(index)]
    return tuple(np.array(each) for each in zip(*found, strict=True))


def test_jacobian_and_bias_are_derivatives_of_positions():
    """With one mode per body the node rotates about a fixed axis, and exp(psi eta) has exactly the rate psi eta'."""
    rng = np.random.default_rng(1)
    tree = random_tree(rng)
    count = sum(body.nv for body in tree)
    q, v, a = rng.normal(size=(3, count))
    step = 1e-4

    def places(t):
        oracle = NodalOracle(tree, q + v * t + a * t**2 / 2, v)
        return np.concatenate([point_motion(oracle, k)[0] for k in range(len(tree))])

    # an offset keeps the body's axes but moves with its point's own spin, which no position does: leave it out
    for body in tree:
        body.points.offset[:] = 0.0
    before, now, after = places(-step), places(0.0), places(step)
    oracle = NodalOracle(tree, q, v)
    motions = [point_motion(oracle, k) for k in range(len(tree))]
    velocity, bias, jacobian = (np.concatenate([each[i] for each in motions]) for i in (1, 2, 3))
    bound = differences(step, rate=10.0)  # angular rates of four joints and modes behind one another
    assert np.allclose((after - before) / (2 * step), velocity, rtol=0, atol=bound * np.abs(velocity).max())
    acceleration = jacobian @ a + bias
    error = bound * np.abs(acceleration).max() + roundings(45) * np.abs(now).max() / step**2  # a formula of 45 roundings
    assert np.allclose((after - 2 * now + before) / step**2, acceleration, rtol=0, atol=error)


@pytest.mark.parametrize("seed", range(3))
def test_sums_over_points_equal_modal_integrals(seed):
    """Every body's points replaced by its integrals in its frame's motion: the same mass matrix and forces."""
    rng = np.random.default_rng(seed)
    tree = random_tree(rng, modes=3)
    for body in tree:
        body.points.inertia[:] = 0.0  # those that turn are right to second order only: see test_modal_integrals
    count = sum(body.nv for body in tree)
    oracle = NodalOracle(tree, *rng.normal(size=(2, count)))
    mass, force = np.zeros((count, count)), np.zeros(count)
    for index, (body, frame) in enumerate(zip(tree, oracle.frames, strict=True)):
        integrals = ModalIntegrals.from_points(body.points)
        eta, rate, columns = oracle._modal(index)
        modal = np.zeros((body.n_modes, count))
        modal[:, columns] = np.eye(body.n_modes)
        jacobian = np.vstack([modal, frame.R.T @ frame.Jw, frame.R.T @ frame.Jv])
        remaining = np.concatenate([np.zeros(body.n_modes), frame.R.T @ frame.aw, frame.R.T @ frame.av])
        matrix = integrals.mass_matrix(eta)
        mass += jacobian.T @ matrix @ jacobian
        force -= jacobian.T @ (matrix @ remaining + integrals.bias(eta, rate, frame.R.T @ frame.w))
    assert np.allclose(oracle.mass_matrix(), mass, atol=CANCELLING * np.abs(mass).max())
    assert np.allclose(oracle.forces(), force, atol=CANCELLING * np.abs(force).max())


def test_rigid_double_pendulum():
    """Two unit point masses on unit rods: the textbook equations."""
    bob = MassPoints(
        np.array([[1.0, 0, 0]]), np.ones(1), np.zeros((1, 3)), np.zeros((1, 3, 3)), np.zeros((1, 3, 0)), np.zeros((1, 3, 0))
    )
    tree = [TreeBody(bob, rotations=(AXES[2],)), TreeBody(bob, 0, at=np.array([1.0, 0, 0]), rotations=(AXES[2],))]
    (a, b), (da, db) = (0.4, 0.7), (0.9, -0.3)
    oracle = NodalOracle(tree, [a, b], [da, db], gravity=(9.81, 0, 0))
    cos, sin = np.cos(b), np.sin(b)
    expected_mass = np.array([[3 + 2 * cos, 1 + cos], [1 + cos, 1.0]])
    coriolis = np.array([sin * (db**2 + 2 * da * db), -sin * da**2])
    weight = -9.81 * np.array([2 * np.sin(a) + np.sin(a + b), np.sin(a + b)])
    assert oracle.mass_matrix() == pytest.approx(expected_mass)
    assert oracle.forces() == pytest.approx(coriolis + weight)


def test_spherical_joint_spins_freely_by_eulers_equations():
    points = random_points(np.random.default_rng(3), modes=0)
    oracle = NodalOracle([TreeBody(points, rotations="spherical")], [0.1, 0.2, 0.3, 0.9], [1.0, -2.0, 0.5])
    inertia = ModalIntegrals.from_points(points).I0
    spin = np.array([1.0, -2.0, 0.5])
    assert oracle.forward_dynamics() == pytest.approx(-np.linalg.solve(inertia, np.cross(spin, inertia @ spin)))


def test_loads_at_nodes_and_frames_do_the_work_of_their_motion():
    rng = np.random.default_rng(5)
    tree = random_tree(rng, modes=2)
    count = sum(body.nv for body in tree)
    oracle = NodalOracle(tree, *rng.normal(size=(2, count)))
    wrench = rng.normal(size=6)
    still = Node(np.zeros(3), np.zeros((3, 2)), np.zeros((3, 2)))
    assert np.allclose(oracle.forces(wrenches={2: wrench}), oracle.forces(node_loads=[(2, still, wrench)]))
