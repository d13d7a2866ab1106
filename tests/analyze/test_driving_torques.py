"""Inverse dynamics of closed loops: the torques give the accelerations back, they are the least, and they do the work there is."""
import numpy as np
import pytest

import bough
from tests.support.closed_loops import closed, loop_jacobian, rounding
from tests.support.compare import EPS, ROUNDINGS, assert_within
from tests.support.mechanisms import MECHANISMS
from tests.support.tolerance import CANCELLING

MOBILE = [name for name, case in MECHANISMS.items() if case().motions]


def least(J, tau):
    """What is left of torques when the rows of J, which loops give for nothing, are taken out; by a QR of the rows that count."""
    from scipy.linalg import qr
    Q, R, _ = qr(J.T, mode="economic", pivoting=True)
    size = np.abs(np.diag(R))
    Q = Q[:, size > 1e-7*size.max(initial=0.0)]
    return tau - Q @ (Q.T @ tau)


@pytest.mark.parametrize("name", MOBILE)
def test_forward_dynamics_gives_the_accelerations_back(name):
    _, model, q, v, tau = closed(name)
    a = model.forward_dynamics(q, v, tau)
    back = model.inverse_dynamics(q, v, a)
    for i in range(len(q)):
        bound = rounding(model, q[i], v[i], tau[i], a[i])[0]
        assert_within(model.forward_dynamics(q[i], v[i], back[i]), a[i], 4*bound)
        J, M = loop_jacobian(model, q[i]), model.mass_matrix(q[i])
        error = np.abs(M) @ bound + ROUNDINGS*EPS*np.linalg.cond(M)*np.abs(tau[i]).max()
        assert_within(back[i], least(J, tau[i]), error.max() + 1e-7*np.abs(tau[i]).max())        # rank is judged at 1e-7
        assert np.linalg.norm(back[i]) <= np.linalg.norm(tau[i]) + np.sqrt(model.nv)*error.max()
        np.testing.assert_allclose(model.inverse_dynamics(q[i], v[i], a[i]), back[i], rtol=0, atol=error.max())


def four_bar():
    _, model, q, v, _ = closed("four-bar, revolute")
    return model, q[1], v[1]


def test_one_motor_does_the_work_of_all():
    """Of a four-bar, tau of the crank alone follows from power: tau.v is the same of all torques that give these accelerations."""
    model, q, v = four_bar()
    tau = np.array([1.0, -2.0, 0.5])
    a = model.forward_dynamics(q, v, tau)
    bound, M = rounding(model, q, v, tau, a)[0], model.mass_matrix(q)
    work = np.abs(v) @ (np.abs(M) @ bound + ROUNDINGS*EPS*np.linalg.cond(M)*np.abs(tau).max())
    for name in model.names.v:
        one = model.inverse_dynamics(q, v, a, driven=[name])
        assert [other for other, torque in zip(model.names.v, one, strict=True) if torque] == [name]
        np.testing.assert_allclose(one @ v, tau @ v, rtol=0, atol=work)
        assert_within(model.forward_dynamics(q, v, one), a, 4*bound)
    two = model.inverse_dynamics(q, v, a, driven=model.names.v[:2])
    np.testing.assert_allclose(two @ v, tau @ v, rtol=0, atol=work)
    assert np.linalg.norm(two) <= np.linalg.norm(model.inverse_dynamics(q, v, a, driven=[model.names.v[0]]))
    assert np.linalg.norm(model.inverse_dynamics(q, v, a)) <= np.linalg.norm(two)
    many = model.inverse_dynamics(np.tile(q, (5, 1)), v, a, driven=[model.names.v[0]])
    np.testing.assert_allclose(many[4], model.inverse_dynamics(q, v, a, driven=[model.names.v[0]]), rtol=CANCELLING)


def test_accelerations_that_part_a_loop_are_refused():
    model, q, v = four_bar()
    a = model.forward_dynamics(q, v)
    with pytest.raises(bough.StateError, match=r"the accelerations part loops: loop '\w+' is open by .* m/s\^2 .*forward_dynamics"):
        model.inverse_dynamics(q, v, a + np.eye(3)[0])
    with pytest.raises(bough.StateError, match="in state 1 of the batch part loops"):
        model.inverse_dynamics([q, q], v, [a, 2*a + 1.0])


def test_what_drives_must_suffice():
    s = bough.System("arm", gravity=(0, 0, -9.81))
    s.body("upper", joint=bough.Revolute("y"), mass=1.0, com=(0.5, 0, 0))
    s.body("fore", parent="upper", at=(1, 0, 0), joint=bough.Revolute("y"), mass=1.0, com=(0.5, 0, 0))
    model = s.compile()
    tau = np.array([3.0, 0.0])
    a = model.forward_dynamics([0.1, 0.2], [1.0, 2.0], tau)
    np.testing.assert_allclose(model.inverse_dynamics([0.1, 0.2], [1.0, 2.0], a, driven="upper"), tau, atol=CANCELLING)
    with pytest.raises(bough.StateError, match=r"need 3 along 'upper.ry', which is not driven; drive it"):
        model.inverse_dynamics([0.1, 0.2], [1.0, 2.0], a, driven=["fore"])
    with pytest.raises(bough.StateError, match="driven: there is no coordinate or joint 'upre', did you mean 'upper'"):
        model.inverse_dynamics([0.1, 0.2], [1.0, 2.0], a, driven=["upre"])
