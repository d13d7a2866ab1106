"""Lines: closed forms, a line that goes slack, and MuJoCo's spatial tendons."""
import numpy as np
import pytest

import bough
from tests.support.compare import assert_same, solved
from tests.support.random_systems import random_state
from tests.support.tolerance import CANCELLING, FORMULA, STEPPED, SWEEP

CHAIN = """<mujoco>
<option gravity="0.5 0 -9.81"/>
<worldbody>
  <site name="anchor" pos="0.7 -0.4 0.3"/>
  <body name="upper" pos="0 0 1">
    <joint type="ball"/>
    <inertial pos="0.1 0 -0.5" mass="2" diaginertia="0.2 0.25 0.1"/>
    <body name="lower" pos="0 0 -1">
      <joint type="hinge" axis="0 1 0"/>
      <inertial pos="0 0.1 -0.4" mass="1.5" diaginertia="0.1 0.12 0.05"/>
      <site name="tip" pos="0.2 0.1 -0.8"/>
    </body>
  </body>
  <body name="bob" pos="1 0 0">
    <joint type="slide" axis="1 0 0"/>
    <inertial pos="0 0 0" mass="3" diaginertia="1 1 1"/>
    <site name="eye" pos="0 0.3 0.2"/>
  </body>
</worldbody>
<tendon>
  <spatial stiffness="80" damping="6" springlength="0.9"><site site="anchor"/><site site="tip"/></spatial>
  <spatial stiffness="50" damping="3" springlength="0.4"><site site="tip"/><site site="eye"/></spatial>
</tendon>
</mujoco>"""


def chain():
    s = bough.System("chain", gravity=(0.5, 0, -9.81))
    s.body("upper", joint=bough.Spherical(), at=(0, 0, 1), mass=2.0, com=(0.1, 0, -0.5), inertia=(0.2, 0.25, 0.1))
    s.body("lower", parent="upper", joint=bough.Revolute("y"), at=(0, 0, -1), mass=1.5, com=(0, 0.1, -0.4),
           inertia=(0.1, 0.12, 0.05))
    s.body("bob", joint=bough.Prismatic("x"), at=(1, 0, 0), mass=3.0, inertia=(1, 1, 1))
    tip = bough.Frame("lower", at=(0.2, 0.1, -0.8))
    s.line("one", a=bough.Frame("world", at=(0.7, -0.4, 0.3)), b=tip, stiffness=80, length=0.9, damping=6)
    s.line("two", a=tip, b=bough.Frame("bob", at=(0, 0.3, 0.2)), stiffness=50, length=0.4, damping=3)
    return s.compile()


@pytest.mark.oracle
def test_tendons_of_mujoco():
    """Accelerations and lengths of another engine's springs between two sites."""
    mujoco = pytest.importorskip("mujoco")
    model, oracle = chain(), mujoco.MjModel.from_xml_string(CHAIN)
    data = mujoco.MjData(oracle)
    for seed in range(5):
        q, v = random_state(model, np.random.default_rng(seed))
        data.qpos[:], data.qvel[:] = [q[3], *q[:3], *q[4:]], v                          # scalar-first
        mujoco.mj_forward(oracle, data)
        assert_same(model.forward_dynamics(q, v), data.qacc, solved(model, q))
        tension = [k*(length - rest) + c*rate for k, c, rest, length, rate in
                   zip((80, 50), (6, 3), (0.9, 0.4), data.ten_length, data.ten_velocity, strict=True)]
        assert_same(list(model.element_forces(q, v).values()), tension, CANCELLING)


def vertical(**keywords):
    """A mass that hangs on a line below the origin."""
    s = bough.System("hung", gravity=(0, 0, -9.81))
    s.body("mass", joint=bough.Prismatic("z"), mass=2.0)
    s.line("rope", a="world", b="mass", **{"stiffness": 100.0, "length": 1.0} | keywords)
    return s.compile()


def test_closed_form_and_slack():
    """Stretched: k s + c s'; shorter than its length a rope bears nothing, and while it is stretched it never pushes."""
    spring, rope = vertical(damping=5.0), vertical(damping=5.0, slack=True)
    q, v = np.array([[-1.5], [-0.6], [-1.5], [-0.6], [-1.001]]), np.array([[-0.2], [0.4], [0.2], [-3.0], [2.0]])
    tension = 100.0*(-q[:, 0] - 1.0) + 5.0*-v[:, 0]
    assert_same(spring.element_forces(q, v)["rope"], tension, FORMULA)
    assert_same(spring.forward_dynamics(q, v)[:, 0], tension/2.0 - 9.81, SWEEP)
    assert_same(spring.potential_energy(q), 50.0*(-q[:, 0] - 1.0)**2 + 2.0*9.81*q[:, 0], SWEEP)
    bears = np.where(-q[:, 0] > 1.0, np.maximum(tension, 0.0), 0.0)
    assert list(bears > 0) == [True, False, True, False, False]
    for i in range(5):
        assert_same(rope.element_forces(q[i], v[i])["rope"], bears[i], FORMULA, 1.0)
    assert_same(rope.forward_dynamics(q, v)[:, 0], bears/2.0 - 9.81, SWEEP)
    assert_same(rope.potential_energy(q), 50.0*np.maximum(-q[:, 0] - 1.0, 0.0)**2 + 2.0*9.81*q[:, 0], SWEEP)


def test_ends_that_coincide_pull_nowhere():
    """A line has no direction then; a line of no length is a spring that draws to a point."""
    assert vertical().forward_dynamics([0.0], [1.0])[0] == -9.81
    assert_same(vertical(length=0.0).forward_dynamics([0.3], [0.0]), [-9.81 - 100*0.3/2], FORMULA)


def test_a_mass_on_a_spring_swings_as_it_should():
    """Period 2 pi sqrt(m/k), about the stretch m g/k."""
    model, w = vertical(), np.sqrt(100.0/2.0)
    low = -1.0 - 2.0*9.81/100.0
    result = bough.simulate(model, q0=[low - 0.1], v0=[0.0], until=3*2*np.pi/w, dt=1e-3, sample_rate=200)
    # rk4: phase off by (w dt)^5/120 a step, 3e-11 in all
    assert_same(result.data.q.values[:, 0], low - 0.1*np.cos(w*result.time), 1e-9)
    drift = np.ptp(result.data.total_energy.values[:-1])                    # the last sample is interpolated within a step
    assert drift < STEPPED*2.0*9.81*abs(low - 0.1)                          # of rk4: (w dt)^6/72 of 0.5 J a step, 2.3e-12 J in all


@pytest.mark.parametrize("end", ["a", "b"])
def test_a_line_on_what_is_fixed_to_the_ground(end):
    """An anchor block that is welded to the world is the world."""
    s = bough.System("anchor")
    s.body("block", at=(0, 0, 2), mass=1.0, inertia=(1, 1, 1))
    s.body("mass", joint=bough.Prismatic("z"), mass=2.0)
    ends = {"a": "mass", "b": "mass"} | {end: "block"}
    s.line("rope", **ends, stiffness=100.0, length=1.0)
    model = s.compile()
    assert_same(model.forward_dynamics([0.5], [0.0]), [50.0/2], FORMULA)
    f = model.reactions([0.5], [0.0], [25.0])
    assert_same(f[0, 3:], [0, 0, 50.0], FORMULA)                                      # the ground holds the block against the rope
