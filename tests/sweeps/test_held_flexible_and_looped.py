"""Held coordinates among flexible bodies and in closed loops: against the dense equations in NumPy."""
import numpy as np
import pytest

from bough.analyze.impulse import speeds_after
from bough.describe import Polynomial
from tests.support.closed_loops import closed, loop_jacobian
from tests.support.compare import EPS, ROUNDINGS, assert_same, assert_within, loop_rounding, solved_scale, solving
from tests.support.flexible_trees import random_states, random_twin
from tests.support.held_systems import given_accelerations, random_motions, solved, with_motions
from tests.support.tolerance import CANCELLING, CLOSED

METHODS = ("order-n", "dense")


@pytest.mark.parametrize("seed", range(20))
def test_held_joints_of_flexible_trees(seed):
    """M_ff a_f = tau_f - h_f - M_fh a_h, modes among the free ones; one state, and five in lanes."""
    rng = np.random.default_rng(seed)
    system = random_twin(rng, 2 + seed % 4).system
    model, loose = with_motions(system, random_motions(rng, system, 0.7)).compile(), system.compile()
    q, v = random_states(loose, rng, 5, size=0.1)
    tau, t = rng.normal(size=v.shape), rng.uniform(0, 2, 5)
    together = [model.forward_dynamics(q, v, tau, t=t, dynamics=method) for method in METHODS]
    drives = model.drive_forces(q, v, tau, t=t)
    for i in range(5):
        M, h = loose.mass_matrix(q[i]), loose.bias(q[i], v[i])
        given = given_accelerations(model, t[i])
        a, needed = solved(M, h, tau[i], given, model.free)
        share, scale = solving(M), solved_scale(M, tau[i], h, M @ given).max()
        for method, many in zip(METHODS, together, strict=True):
            assert_same(model.forward_dynamics(q[i], v[i], tau[i], t=t[i], dynamics=method), a, share, scale)
            assert_same(many[i], a, share, scale)
        for name, force in drives.items():
            assert_same(force[i], needed[model.names.v.index(name)], share, np.abs(M).sum(axis=1).max()*scale + np.abs(h).max())


DRIVEN = [("four-bar, revolute", "p", ["crank"]), ("four-bar, line", "p", ["rocker"]), ("quick return", "p", ["crank"]),
          ("slider-crank, prismatic", "l", ["crank"]), ("double loop, revolute", "p", ["swing"]), ("RSSR", "p", ["crank"]),
          ("cardan", "p", ["shaft2"]), ("stewart", "ppll", ["upper0", "upper1", "upper3", "upper4"]),
          ("closed chain", "p", ["link2"]), ("twin pins", "p", ["coupler"]), ("floating loop by weld", "p", ["left0"])]


def driven(name, how, joints):
    """A mechanism with some joints locked ("l") or prescribed ("p")."""
    case, rng = closed(name), np.random.default_rng(3)
    motions = {joint: ["locked" if each == "l" else Polynomial(rng.uniform(-1, 1, 4))]
               for each, joint in zip(how, joints, strict=True)}
    return case, with_motions(case.case.system, motions).compile()


@pytest.mark.parametrize(("name", "how", "joints"), DRIVEN, ids=[name for name, _, _ in DRIVEN])
def test_driven_loops(name, how, joints):
    """The equations of the tree with the loops' multipliers; what J a must be is what it is in the same mechanism undriven."""
    case, model = driven(name, how, joints)
    given = {"wheels": np.tile(model.wheel_speeds, (5, 1))} if model.nw else {}
    t = np.linspace(0.1, 0.9, 5)
    loose = case.model.forward_dynamics(case.q, case.v, 0*case.tau, **given)
    together = [model.forward_dynamics(case.q, case.v, case.tau, t=t, dynamics=method, **given) for method in METHODS]
    drives = model.drive_forces(case.q, case.v, case.tau, t=t, **given)
    for i in range(5):
        q, v, J = case.q[i], case.v[i], loop_jacobian(model, case.q[i])
        M, h = model.mass_matrix(q), model.bias(q, v, **{key: value[i] for key, value in given.items()})
        a, needed = solved(M, h, case.tau[i], given_accelerations(model, t[i]), model.free, J, J @ loose[i])
        bound, of_drives = held_rounding(model.free, M, J, a, v, case.tau[i], -h)
        for many in together:
            assert_within(many[i], a, bound)
            assert_within(J @ many[i], J @ loose[i], np.abs(J) @ bound + ROUNDINGS*EPS*np.abs(J) @ np.abs(loose[i]))
        for entry, force in drives.items():
            at = model.names.v.index(entry)
            assert_within(force[i], needed[at], of_drives[at])


def held_rounding(free, M, J, a, v, *forces):
    """What rounding may do, twice, to accelerations, and to the forces that hold what is not free: M a + h - tau - J^T l."""
    given = [*(force[free] for force in forces), -M[np.ix_(free, ~free)] @ a[~free]]
    found = loop_rounding(M[np.ix_(free, free)], J[:, free], a[free], v[free], *given)
    bound = np.full(len(a), ROUNDINGS*EPS*max(1.0, np.abs(a).max()))                  # of what is given, a sum of a few terms
    bound[free] = 2*found.accelerations
    multipliers = np.linalg.lstsq(J[:, free].T, (M @ a - sum(forces))[free], rcond=1e-10)[0]
    size = np.abs(M) @ np.abs(a) + sum(np.abs(force) for force in forces) + np.abs(J.T) @ np.abs(multipliers)
    return bound, np.abs(M) @ bound + 2*np.abs(J.T) @ found.multipliers + ROUNDINGS*EPS*size.max()


def test_a_locked_crank_makes_a_structure():
    """Nothing moves in a four-bar with its crank locked, and it has no freedom left."""
    case, model = driven("four-bar, revolute", "l", ["crank"])
    q, v = model.follow(case.q[0], case.v[0])
    assert model.freedom(q).degrees == 0
    v = model.assemble(q, v)[1]
    np.testing.assert_allclose(v, 0.0, atol=CANCELLING)
    for method in METHODS:
        np.testing.assert_allclose(model.forward_dynamics(q, v, dynamics=method), 0.0, atol=9.81*CANCELLING)


def test_a_start_keeps_what_is_prescribed():
    """The start of a run is closed by what is free; what is prescribed stays where it is told to be."""
    case = closed("four-bar, revolute")
    model = with_motions(case.case.system, {"crank": [Polynomial([-1.0, 2.0, 0.5])]}).compile()
    q, v = model.assemble(*model.follow(case.q[0], case.v[0]))
    assert (q[0], v[0]) == (-1.0, 2.0)
    assert max(np.abs(gap).max() for gap in model.loop_gaps(q).values()) < CLOSED
    assert max(np.abs(gap).max() for gap in model.loop_gaps(q, v).values()) < CANCELLING


@pytest.mark.parametrize("seed", range(6))
def test_speeds_jump_alike_however_the_bodies_are_bent(seed):
    """M_ff d_f = -M_fh d_h [B 18]: elastic forces are finite and have no part in an impulse."""
    rng = np.random.default_rng(seed)
    system = random_twin(rng, 2 + seed % 4).system
    model = with_motions(system, random_motions(rng, system, 0.7)).compile()
    q, _ = random_states(model, rng, size=0.1)
    change, free, M = np.where(model.free, 0.0, rng.normal(size=model.nv)), model.free, model.mass_matrix(q)
    wanted = change.copy()
    wanted[free] = -np.linalg.solve(M[np.ix_(free, free)], M[np.ix_(free, ~free)] @ change[~free])
    assert_same(speeds_after(model, q, change), wanted, solving(M), np.abs(change).max())
