"""The dynamics in CasADi: its Jacobian against differences, and where it is refused."""
import numpy as np
import pytest

import bough
from bough.analyze.parameters import STENCIL
from bough.errors import StateError
from tests.support.tolerance import differences

casadi = pytest.importorskip("casadi")
from bough.exchange.casadi import dynamics  # noqa: E402


def satellite():
    s = bough.System("satellite", gravity=(0, 0, 0))
    s.body("hub", joint=bough.Free(), mass=50.0, com=(0.1, 0, 0), inertia=(5, 6, 7))
    s.body("arm", parent="hub", joint=bough.Revolute("y", stiffness=2.0), at=(0.5, 0, 0), mass=4.0, com=(0.5, 0, 0.1),
           inertia=(0.1, 0.3, 0.3))
    s.wheel("rw", "hub", "x", 0.05, 100.0, torque=0.0)
    s.input("motor", wheel="rw")
    s.input("push", force="arm", axis="z")
    return s.compile()


@pytest.mark.parametrize("inputs", [None, ["push", "motor"]])
def test_the_jacobian_against_differences(inputs):
    model, h = satellite(), 1e-3
    f = dynamics(model, inputs=inputs)
    nx, nu, rng = model.layout.nx, model.nv if inputs is None else 2, np.random.default_rng(0)
    at = np.concatenate([model.q0 + 0.2*rng.normal(size=model.nq), rng.normal(size=model.nv), [90.0], rng.normal(size=nu)])
    x, u = casadi.MX.sym("x", nx), casadi.MX.sym("u", nu)
    J = casadi.Function("J", [x, u], [casadi.jacobian(f(x, u), x), casadi.jacobian(f(x, u), u)])
    found = np.concatenate([each.full() for each in J(at[:nx], at[nx:])], axis=1)
    bound = differences(h, rate=3.0, order=4)*np.abs(found).max()          # rate: states turn by at most 3 rad/s
    for i in range(nx + nu):
        moved = [at + times*h*np.eye(nx + nu)[i] for times, _ in STENCIL]
        want = sum(weight/h*f(y[:nx], y[nx:]).full()[:, 0] for y, (_, weight) in zip(moved, STENCIL, strict=True))
        np.testing.assert_allclose(found[:, i], want, rtol=0, atol=bound)


def test_what_is_refused():
    with pytest.raises(StateError, match="there is no input 'psuh', did you mean 'push'"):
        dynamics(satellite(), inputs=["psuh"])
    s = bough.System("stage")
    s.body("stage", joint=bough.Prismatic("z"), mass=100.0)
    s.tank("lox", body="stage", mass=40.0, flow=5.0, exhaust_speed=3000.0)
    with pytest.raises(StateError, match="system 'stage' has tanks, whose masses are not states of x here"):
        dynamics(s.compile())
