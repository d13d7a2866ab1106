"""Loops on trees, rigid and flexible: both methods, four lanes, and the equations they must satisfy; and coordinates held.

The witness is the tree itself, which other engines vouch for: M a + h - tau of the cut tree must be what the loops' forces do, and
these forces do no work in motions that keep the loops closed. Gaps and their rates are differenced along the motion. Hypothesis
draws the systems, body by body and loop by loop (`tests.support.strategies`).

Tolerances: two results of bough's, rounded each, may be twice as far apart as one is from the truth; torques that are found from
accelerations and give them back have the rounding of both ways, four times as much. That torques are the least is told to 1e-6,
which is far above what solving for them leaves.
"""
import numpy as np
import pytest
from hypothesis import assume, given

from bough.analyze.loop_constraints import moved
from tests.support import flexible_trees as trees
from tests.support.closed_loops import gaps, loop_jacobian, loop_size, rounding
from tests.support.compare import EPS, ROUNDINGS, assert_same, assert_within, solved_scale, solving
from tests.support.effort import examples
from tests.support.held_systems import given_accelerations, solved, with_motions
from tests.support.strategies import (
    MODERATE,
    Part,
    flexible_trees,
    grown,
    held,
    looped,
    random_loop,
    state_of,
    trees as rigid_trees,
)
from tests.support.tolerance import CLOSED, quotient

few = examples(25)
METHODS = ("order-n", "dense")
closed_rigid, closed_flexible = looped(rigid_trees()), looped(flexible_trees(deformation=MODERATE))


def closed(drawn):
    """What was drawn, if loops were found that fit and leave the others their say."""
    assume(drawn.loops)
    return drawn


def check_equations(system, model, q, v, rng):
    tau = rng.normal(size=model.nv)
    a, dense = (model.forward_dynamics(q, v, tau, dynamics=method) for method in METHODS)
    bound, _ = rounding(model, q, v, tau, dense)
    assert_within(a, dense, 2*bound)
    M, h, J = model.mass_matrix(q), model.bias(q, v), loop_jacobian(model, q)
    force = M @ a + h - tau
    multipliers = np.linalg.lstsq(J.T, force, rcond=1e-9)[0]
    rounded = ROUNDINGS*EPS*(np.abs(M) @ np.abs(a) + np.abs(h) + np.abs(tau)).max()      # of the sum
    assert_within(J.T @ multipliers, force, np.abs(M) @ bound + rounded)


@few
@given(closed_rigid)
def test_loops_on_rigid_trees(drawn):
    check_equations(*closed(drawn))


@few
@given(closed_flexible)
def test_loops_on_flexible_trees(drawn):
    check_equations(*closed(drawn))


@pytest.mark.parametrize(("seeds", "at"), [((881, 1859, 327, 327), 0), ((52, 1859, 378, 378), 51)])
def test_a_weld_of_which_half_is_redundant(seeds, at):
    """It holds three coordinates by six rows: a small pivot that elimination leaves of a redundant row must wait for larger ones.
    Five digits were lost where it did not."""
    joints = zip(("gimbal", "weld", "general", "general"), (1, 1, 2, 2), seeds, strict=True)
    parts = [Part(joint=joint, back=back, seed=seed, massless=False, wheels=0, flexible="", node=0) for joint, back, seed in joints]
    system = grown(parts, gravity=(1.0, -3.5, -2.2))
    tree = system.compile()
    q, v = state_of(tree, parts)
    words, _ = random_loop(np.random.default_rng(at), tree, tree.bodies(q), ["b3", "b0"], "weld")
    system.loop("weld", **words)
    model = system.compile()
    q, v = model.assemble(q, v)
    check_equations(system, model, q, v, np.random.default_rng(0))


@pytest.mark.parametrize("strategy", [closed_rigid, closed_flexible], ids=["rigid", "flexible"])
def test_loops_stay_closed(strategy):
    """At closed states the accelerations keep the gaps' rates at zero; four lanes say the same as one."""
    @few
    @given(strategy)
    def check(drawn):
        _, model, q, v, rng = closed(drawn)
        assert np.abs(gaps(model, q)).max() < CLOSED*max(1.0, loop_size(model))
        tau = rng.normal(size=model.nv)
        a = model.forward_dynamics(q, v, tau)
        check_rates(model, q, v, a, rng)
        many = model.forward_dynamics(np.tile(q, (4, 1)), np.tile(v, (4, 1)), np.tile(tau, (4, 1)))
        assert_within(many, np.tile(a, (4, 1)), 2*rounding(model, q, v, tau, a)[0])
    check()


def check_rates(model, q, v, a, rng):
    """Rates are those of the gaps, and, zero now, they stay zero: by central differences along the motion.

    With a step of h these err by h^2 times third derivatives, as large as the cube of rates, and by the rounding of gaps, or of
    their rates, over h."""
    h = 1e-6
    _, anyhow = trees.random_states(model, rng, size=0.05)
    ends = [gaps(model, moved(model, q, s*h*anyhow))[0] for s in (-1.0, 1.0)]
    limit = 1e-8*(1 + np.abs(anyhow).max())**2                  # eps/h for some dozens of roundings, times rates
    np.testing.assert_allclose((ends[1] - ends[0])/(2*h), gaps(model, q, anyhow)[0], rtol=0, atol=limit)
    rate = np.abs(v).max() + np.sqrt(np.abs(a).max())
    limit = quotient(h, value=rate*max(1.0, loop_size(model)), slope=rate**2, rate=rate)
    ends = [gaps(model, moved(model, q, s*h*(v + s*h*a/2)), v + s*h*a)[0] for s in (-1.0, 1.0)]
    np.testing.assert_allclose((ends[1] - ends[0])/(2*h), 0.0, atol=limit)


# ---- coordinates that are held ------------------------------------------------------------------------------------------------
@few
@given(held(rigid_trees(massless=True)))
def test_prescribed_motion_is_the_free_response_under_the_forces_that_hold_it(drawn):
    """The free tree, given the drives' forces as torques, moves as prescribed; and both are what the partitioned equations say."""
    _, model, q, v, rng = drawn
    loose, tau, t = free_twin(drawn), rng.normal(size=model.nv), rng.uniform(0, 2)
    a, drives = model.forward_dynamics(q, v, tau, t=t), model.drive_forces(q, v, tau, t=t)
    M, h = loose.mass_matrix(q), loose.bias(q, v)
    want, forces = solved(M, h, tau, given_accelerations(model, t), model.free)
    share, scale = solving(M), solved_scale(M, tau, h, M @ a).max()
    assert_same(a, want, share, scale)
    size = (np.abs(M).max()*scale + np.abs(h).max() + np.abs(tau).max())
    assert_same([drives[name] for name in drives], forces[~model.free], share, size)
    driven = tau + [drives.get(name, 0.0) for name in model.names.v]
    assert_same(loose.forward_dynamics(q, v, driven), a, share, scale)


def free_twin(drawn):
    """The model without what holds coordinates."""
    return with_motions(drawn.system, dict.fromkeys(drawn.motions)).compile()


@few
@given(closed_rigid)
def test_inverse_dynamics_gives_torques_that_give_the_accelerations_back(drawn):
    _, model, q, v, rng = closed(drawn)
    tau = rng.normal(size=model.nv)
    a = model.forward_dynamics(q, v, tau)
    least = model.inverse_dynamics(q, v, a)
    assert_within(model.forward_dynamics(q, v, least), a, 4*rounding(model, q, v, tau, a)[0])
    assert np.linalg.norm(least) <= np.linalg.norm(tau)*(1 + 1e-6)
