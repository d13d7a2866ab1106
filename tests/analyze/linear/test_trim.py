"""Equilibria: at rest, steadily turning, in orbit, thrusting; from far, with loops and flexible bodies; and what has none."""
import math

import numpy as np
import pytest

import bough
from bough.files import example, read_system
from tests.support.jsc_example import jsc_example
from tests.support.tolerance import CANCELLING, CLOSED, PRODUCTS, STEPPED, SWEEP

WEIGHT = 9.81


def test_a_chain_that_starts_upright_and_sideways_hangs():
    """From a position in which Newton's matrix is singular, and from one that is nearly an unstable equilibrium."""
    s = bough.System("chain", gravity=(0, 0, -WEIGHT))
    s.body("a", joint=bough.Universal("xy"), mass=1.0, com=(0, 0, -1), inertia=(0.1, 0.1, 0.01))
    s.body("b", parent="a", at=(0, 0, -2), joint=bough.Revolute("y"), mass=1.0, com=(0, 0, -1), inertia=(0.1, 0.1, 0.01))
    model = s.compile()
    for q in ([0.0, np.pi/2, 0.0], [0.01, np.pi - 0.02, 0.03], [2.0, 1.0, -1.0]):
        trim = model.trim(q)
        assert model.potential_energy(trim.q) == pytest.approx(-4*WEIGHT)
        assert max(map(abs, trim.left_over.values())) < CANCELLING


def test_held_coordinates_and_what_holds_them():
    s = bough.System("arm", gravity=(0, 0, -WEIGHT))
    s.body("arm", joint=bough.Revolute("y"), mass=2.0, com=(1, 0, 0))
    s.body("hand", parent="arm", at=(2, 0, 0), joint=bough.Revolute("y"), mass=1.0, com=(0.5, 0, 0))
    s.input("motor", coordinate="arm")
    model = s.compile()
    hanging = model.trim([0.3, 0.0], hold=["arm"])
    assert hanging.q == pytest.approx([0.3, np.pi/2 - 0.3])
    assert hanging.found["arm.ry"] == pytest.approx(-4*WEIGHT*math.cos(0.3))
    driven = model.trim([0.3, 1.0], hold=["arm"], find=["motor"])
    assert driven.inputs["motor"] == pytest.approx(-4*WEIGHT*math.cos(0.3))
    assert driven.q == pytest.approx(hanging.q)
    assert np.abs(model.forward_dynamics(**driven.state)).max() < CANCELLING
    about = driven.linearize(inputs=["hand.ry"])                         # at the torque that was found, of another input
    assert about.inputs == ("hand.ry",)
    assert about.balanced
    assert driven.modes(inputs=["hand.ry"]).residues.shape == (2, 4, 1)
    with pytest.raises(bough.StateError, match=r"2 coordinates and 1 others \(motor\) are unknown.* 2 equations; hold 1 more"):
        model.trim(find=["motor"])
    with pytest.raises(bough.StateError, match=r"not balanced are arm\.ry by .* N m.*find="):
        model.trim([0.3, 0.2], hold=["arm", "hand"], find=["motor"])
    for options, message in (({"hold": ["ram"]}, r"no coordinate or joint 'ram'.*arm"),
                             ({"hold": ["arm"], "find": ["moter"]}, r"find: there is no input 'moter' \(did you mean 'motor'"),
                             ({"hold": 3}, r"hold is 3; give a list of names, hold=\[\.\.\.\]"),
                             ({"spin": "fast"}, r"spin is 'fast'; give a rate about z or three rates"),
                             ({"about": (0, 0, 0)}, r"about is \(0, 0, 0\), but nothing spins; give spin, too"),
                             ({"spin": (0, 1, 0), "about": (0, 0)}, r"about is \(0, 0\); give a point of the axis")):
        with pytest.raises(bough.StateError, match=message):
            model.trim(**options)


def test_a_parameter_balances_a_beam_of_scales():
    s = bough.System("scales", gravity=(0, 0, -WEIGHT))
    s.body("beam", joint=bough.Revolute("y"), mass=0.2, inertia=(0.1, 0.1, 0.1))
    s.body("left", parent="beam", at=(-0.5, 0, 0), mass=3.0)
    s.body("right", parent="beam", at=(0.75, 0, 0), mass=1.0)
    trim = s.compile().trim([0.0], hold=["beam"], find=["right.mass"])
    assert trim.found["right.mass"] == pytest.approx(2.0)
    assert trim.model.system.bodies["right"].mass == pytest.approx(2.0)
    with pytest.raises(bough.StateError, match=r"'beam\.mass' changes no acceleration"):
        s.compile().trim([0.0], hold=["beam"], find=["beam.mass"])


def test_what_falls_cannot_be_balanced_but_may_accelerate():
    s = bough.System("rocket", gravity=(0, 0, -WEIGHT))
    s.body("stage", mass=10.0, inertia=(1, 1, 1), joint=bough.Free())
    s.body("tank", parent="stage", at=(0, 0, 1), joint=bough.Prismatic("z", stiffness=500.0), mass=5.0)
    s.input("engine", force=bough.Frame("stage", at=(0, 0, -1)), axis="z")
    model = s.compile()
    with pytest.raises(bough.StateError, match=r"not balanced are .*stage\.z by .* N.*accelerate="):
        model.trim(inputs={"engine": 300.0})
    trim = model.trim(inputs={"engine": 300.0}, accelerate=["stage.z"])
    assert trim.found["stage.z acceleration"] == pytest.approx(300.0/15 - WEIGHT)
    assert trim.q[7] == pytest.approx(-5.0*20.0/500.0)
    assert {"stage.x", "stage.y", "stage.z"} <= set(trim.undetermined)


def test_two_booms_bend_and_swing_outward_on_a_spinning_satellite():
    """From zero; and the springs that hold the booms balance what the spin makes of the masses beyond them."""
    s = bough.System("booms")
    s.body("bus", mass=100.0, inertia=(20, 22, 30), joint=bough.Free())
    for k, (x, orient) in enumerate(((0.5, (0, 0, 0, 1)), (-0.5, (0, 0, 1, 0)))):
        s.body(f"boom{k + 1}", parent="bus", at=(x, 0, 0), orient=orient,
               joint=bough.Revolute("y", stiffness=50.0, damping=0.1, rest=0.2),
               flexible=bough.beam(3.0, EI=200.0, mass_per_length=0.5, modes=4, damping=0.002))
    model = s.compile()
    trim = model.trim(spin=0.8)
    assert max(map(abs, trim.left_over.values())) < SWEEP*50.0
    assert trim.undetermined == ("bus.z", "bus.wz")
    run = bough.simulate(model, q0=trim.q, v0=trim.v, until=5.0, dt=5e-3)                 # it stays so
    assert run.trajectory.state.q[0, -1, 7:] == pytest.approx(trim.q[7:], abs=STEPPED)
    assert 0.1 < trim.q[7] < 0.2


def four_bar():
    """Of the IFToMM library: a rhombus of 1 kg rods of 1 m, and a spring along its diagonal, 25 N/m, 1 N s/m, sqrt 2 m long."""
    s = bough.System("four-bar with a diagonal spring", gravity=(0, -WEIGHT, 0))
    rod = {"mass": 1.0, "com": (0.5, 0, 0), "inertia": (0.0, 1/12, 1/12)}
    s.body("left", joint=bough.Revolute("z", q0=[2.0]), **rod)
    s.body("right", joint=bough.Revolute("z", q0=[2.0]), at=(1, 0, 0), **rod)
    s.body("strut", joint=bough.Revolute("z", q0=[1.0]), idealized=True)
    s.body("coupler", parent="strut", joint=bough.Joint(translations="x", rotations="z", stiffness=[25.0, 0.0], damping=[1.0, 0.0],
                                                         rest=[math.sqrt(2), 0.0], q0=[2*math.cos(1.0), -1.0]),
           mass=1.0, com=(-0.5, 0, 0), inertia=(0.0, 1/12, 1/12))
    s.loop("left pin", joint=bough.Revolute("z"), a=bough.Frame("left", at=(1, 0, 0)), b=bough.Frame("coupler", at=(-1, 0, 0)))
    s.loop("right pin", joint=bough.Revolute("z"), a=bough.Frame("right", at=(1, 0, 0)), b=bough.Frame("coupler"))
    return s.compile()


def test_four_bar_with_a_diagonal_spring():
    """The library gives the equilibrium, 2.23433101898, and eigenvalues there: 2.14767663837 i without its damper, -0.2423858093 +
    2.1339550282 i with it. The angle is right to ten digits, 1e-10; as 4e-11 of it change the frequency by 1.3e-10, these are
    right to 2e-10. All follow from one equation: the rhombus at the angle p has the diagonal 2 cos(p/2), (5/3) p'' + c sin^2(p/2)
    p' + dV/dp = 0, V = 2 m g sin p + k (2 cos(p/2) - sqrt 2)^2/2."""
    model = four_bar()
    trim = model.trim()
    p = trim.q[0]
    slope, length, k, c = math.sin(p/2), 2*math.cos(p/2), 25.0, 1.0
    assert p == pytest.approx(2.23433101898, abs=1e-10)
    assert 2*WEIGHT*math.cos(p) == pytest.approx(k*(length - math.sqrt(2))*slope, abs=SWEEP)
    stiffness = -2*WEIGHT*math.sin(p) + k*(slope**2 - (length - math.sqrt(2))*math.cos(p/2)/2)
    expected = max(np.roots([5/3, c*slope**2, stiffness]), key=lambda root: root.imag)
    modes = trim.modes()
    assert len(modes.eigenvalues) == 1
    assert modes.eigenvalues[0] == pytest.approx(expected, rel=CANCELLING)
    assert abs(modes.eigenvalues[0] - (-0.2423858093 + 2.1339550282j)) < 2e-10
    assert abs(modes.eigenvalues[0]) == pytest.approx(2.14767663837, abs=2e-10)
    assert modes.linear.balanced


@pytest.mark.parametrize("name", ["floating_turbine", "moored_spar"])
def test_moored_examples_from_zero(name):
    """Left over is what rounding leaves of the weight and buoyancy that cancel, 1e-15 of them at an arm of some 100 m."""
    model = read_system(example(name)).compile()
    zero = np.zeros(model.nq)
    zero[[at + 3 for at in model.quaternions]] = 1.0
    trim = model.trim(zero)
    weight = WEIGHT*sum(body.mass for body in model.system.bodies.values())
    assert max(map(abs, trim.left_over.values())) < PRODUCTS*weight*100.0
    assert trim.balanced


@pytest.mark.slow
@pytest.mark.parametrize("held", ["all joints", "the base"])
def test_the_jsc_system_under_gravity_from_zero(held):
    """With its brakes on it sags; with the base alone held, all its limbs fall and hang, three loops closed."""
    system = jsc_example()
    system.gravity = (0.0, 0.0, -WEIGHT)
    model = system.compile()
    joints = [body.joint.name or body.name for body in system.bodies.values() if body.joint.n_v]
    trim = model.trim(hold=joints if held == "all joints" else ["base"])
    weight = WEIGHT*sum(body.mass for body in system.bodies.values())
    assert max(map(abs, trim.left_over.values())) < CANCELLING*weight
    assert max(np.abs(gap).max() for gap in model.loop_gaps(trim.q).values()) < CLOSED
    assert trim.found["base.z"] == pytest.approx(weight, rel=1e-3)                          # loops' motors push, too


def test_an_orbit_that_is_not_circular_is_named():
    gravity = bough.CentralGravity(mu=3.986e14, position=(7e6, 0, 0), velocity=(0, 7.6e3, 0))
    s = bough.System("sat", gravity=gravity)
    s.body("bus", mass=10.0, inertia=(1, 2, 3), joint=bough.Free())
    with pytest.raises(bough.StateError, match=r"the orbit is not circular.*7600 m/s.*7546"):
        s.compile().trim()
