"""Linear systems of deviations: against differences of the constrained flow, closed forms, and runs of the whole system."""
import numpy as np
import pytest

import bough
from bough.analyze.linear.tangent_space import direction_names, reduce, turning
from bough.analyze.loop_constraints import moved
from tests.support.compare import assert_within, eigenvalue_rounding
from tests.support.mechanisms import MECHANISMS
from tests.support.tolerance import CANCELLING, differences, oscillation

STENCIL = ((1, 0.75), (2, -0.15), (3, 1/60))       # sixth order


def constrained_flow(model, q, v, linear, step=1e-3):
    """A of the independent coordinates, by differences of the flow itself: each neighbor is assembled anew, and its accelerations
    are those of the whole mechanism.  Only for joints without quaternions."""
    m = len(linear.states)//2
    independent = [model.names.v.index(name) for name in linear.states[:m]]

    def rates(y, w):
        d, speeds = np.zeros(model.nv), v.copy()
        d[independent] = y
        speeds[independent] += w
        closed = model.assemble(moved(model, q, d), speeds, hold=linear.states[:m])
        return np.concatenate([closed[1][independent], model.forward_dynamics(*closed)[independent]])

    A = np.zeros((2*m, 2*m))
    for j, e in enumerate(np.eye(2*m)*step):
        A[:, j] = sum(w*(rates(*np.split(k*e, 2)) - rates(*np.split(-k*e, 2))) for k, w in STENCIL)/step
    return A


@pytest.mark.parametrize("name", ["four-bar, revolute", "slider-crank, prismatic", "5-four-bar", "bennett", "twin pins"])
def test_loops_in_motion_agree_with_differences_of_the_constrained_flow(name):
    """Loops that are redundant are among them (5-four-bar, twin pins, bennett).  The differences leave f'''''''h^6 and eps/h, with
    h = 1e-3 about 1e-12 each, where assembly closes loops to 1e-12 m: 1e-12/h, 1e-9, in all."""
    case = MECHANISMS[name]()
    model = case.system.compile()
    q, v = model.assemble(case.q, case.v)
    linear = model.linearize(q, v)
    reference = constrained_flow(model, q, v, linear)
    assert np.abs(linear.A - reference).max() < 1e-9*np.abs(reference).max()
    assert not linear.balanced
    assert "no equilibrium: left over are" in repr(linear)


@pytest.mark.parametrize("name", ["stewart", "floating loop by universal"])
def test_loops_with_quaternions_agree_with_differences_of_the_constrained_flow(name):
    """Rows of accelerations; axes that turn with a free root add the share H to those of its translations.  1e-9: as above."""
    case = MECHANISMS[name]()
    model = case.system.compile()
    q, v = model.assemble(case.q, case.v)
    linear, names = model.linearize(q, v), direction_names(model)
    m = len(linear.states)//2
    independent = [names.coordinates.index(name) for name in linear.states[:m]]
    own = [model.names.v[i] for i in independent]

    def accelerations(change):
        d, speeds = np.zeros(model.nv), v.copy()
        d[independent] = change[:m]
        speeds[independent] += change[m:]
        return model.forward_dynamics(*model.assemble(moved(model, q, d), speeds, hold=own))[independent]

    step = 1e-3
    found = np.transpose([sum(w*(accelerations(k*e) - accelerations(-k*e)) for k, w in STENCIL)/step for e in np.eye(2*m)*step])
    batch = model.batch(q, v)
    reduction, H = reduce(model, batch), turning(model, batch)[1]
    found += np.concatenate([(H @ reduction.K)[independent], (H @ reduction.S)[independent]], axis=1)
    assert np.abs(linear.A[m:] - found).max() < 1e-9*np.abs(found).max()


def test_the_choice_of_independent_coordinates_changes_no_eigenvalue():
    case = MECHANISMS["four-bar, revolute"]()
    s = case.system
    model = s.compile()
    trim = model.trim(case.q)
    matrices = [trim.linearize(independent=[name]).A for name in model.names.v if "wx" not in name][:3]
    first, *others = (np.sort_complex(np.linalg.eigvals(A)) for A in matrices)
    for A, other in zip(matrices[1:], others, strict=True):
        assert_within(other, first, eigenvalue_rounding(A) + eigenvalue_rounding(matrices[0]))


def test_a_singular_position_is_named():
    s = bough.System("flat")
    half = {"mass": 1.0, "com": (0.5, 0, 0), "inertia": (0.01, 0.1, 0.1)}
    s.body("crank", joint=bough.Revolute("z"), **half)
    s.body("coupler", parent="crank", at=(1, 0, 0), joint=bough.Revolute("z"), **half)
    s.body("rocker", joint=bough.Revolute("z"), at=(1, 0, 0), **half)
    s.loop("pin", joint=bough.Revolute("z"), a=bough.Frame("rocker", at=(1, 0, 0)), b=bough.Frame("coupler", at=(1, 0, 0)))
    with pytest.raises(bough.StateError, match=r"'pin'.* position is singular.*move away"):
        s.compile().linearize([0.0, 0.0, 0.0])


def test_open_loops_are_refused():
    case = MECHANISMS["four-bar, revolute"]()
    model = case.system.compile()
    with pytest.raises(bough.StateError, match=r"close them first, q, v = model\.assemble"):
        model.linearize(model.assemble(case.q, case.v)[0] + 0.01, np.zeros(model.nv))


# ---- free bodies: rotations, turning axes, wheels, orbit --------------------------------------------------------------------
def gyrostat(spin=0.7, wheel=40.0, driven=True):
    s = bough.System("gyrostat")
    s.body("bus", mass=10.0, inertia=(3.0, 4.0, 5.0), com=(0.3, 0.1, 0.0), joint=bough.Free())
    s.wheel("rw", body="bus", axis=(0, 0, 1), inertia=0.02, speed=wheel, **({"torque": 0.0} if driven else {}))
    return s.compile(), spin


@pytest.mark.parametrize("driven", [True, False])
def test_nutation_of_a_gyrostat(driven):
    """About z: lambda^2 = -((C - B) W + h)((C - A) W + h)/(A B); A, B, C of the description hold the wheel."""
    model, spin = gyrostat(driven=driven)
    c, w = np.array([0.3, 0.1, 0.0]), np.array([0.0, 0.0, spin])
    v = np.r_[-np.cross(w, c) + [0.2, 0.1, -0.3], w]                                  # with a steady drift
    modes = model.modes([0, 0, 0, 0, 0, 0, 1], v)
    A, B, C, h = 3.0, 4.0, 5.0, 0.02*40.0
    nutation = np.sqrt(((C - B)*spin + h)*((C - A)*spin + h)/(A*B))/(2*np.pi)
    assert np.abs(modes.frequencies - nutation).min() < CANCELLING
    assert modes.linear.balanced
    assert ("rw" in modes.linear.states) == driven
    turning = np.abs(modes.frequencies - spin/(2*np.pi)) < 1e-7                          # the axes', of translation and attitude
    assert turning.sum() == 3
    assert modes.rigid == 2                                                            # along the spin, and about it


def test_a_spinning_top_on_gimbals_and_on_a_quaternion():
    """Gimbals see it from the world's axes, a quaternion from axes that turn with it: frequencies are shifted by the spin."""
    spin, frequencies = 2.0, []
    for joint in (bough.Spherical(), bough.Gimbal("xyz")):
        s = bough.System("top", gravity=(0, 0, -9.81))
        s.body("top", mass=2.0, com=(0, 0, -0.4), inertia=(0.3, 0.3, 0.1), joint=joint)
        model = s.compile()
        modes = model.modes(model.q0, [0, 0, spin])
        assert modes.linear.balanced
        frequencies.append(2*np.pi*modes.frequencies)
    slow, fast = frequencies[1]                                         # one goes with the spin, one against it
    assert np.sort(frequencies[0]) == pytest.approx(np.sort([slow + spin, fast - spin]), abs=eigenvalue_rounding(modes.linear.A))


MU, RADIUS = 3.986004418e14, 7e6
RATE = np.sqrt(MU/RADIUS**3)


def librating(inertia, turn=(0, 0, 0, 1)):
    gravity = bough.CentralGravity(mu=MU, position=(RADIUS, 0, 0), velocity=(0, RADIUS*RATE, 0))
    s = bough.System("librating", gravity=gravity)
    s.body("bus", mass=100.0, inertia=inertia, joint=bough.Free())
    return s.compile()


def test_gravity_gradient_libration():
    """x up, y along the orbit, z its normal: pitch 3 n^2 (Jy - Jx)/Jz; roll and yaw by the quartic of Kane, Likins and Levinson,
    s^4 + (1 + 3 k1 + k1 k3) s^2 + 4 k1 k3 = 0 in s = lambda/n, k1 = (Jz - Jx)/Jy about y, k3 = (Jz - Jy)/Jx about x."""
    Jx, Jy, Jz = 30.0, 80.0, 100.0
    model = librating((Jx, Jy, Jz))
    trim = model.trim()
    assert trim.v[5] == pytest.approx(RATE, rel=CANCELLING)
    modes = trim.modes()
    k1, k3 = (Jz - Jx)/Jy, (Jz - Jy)/Jx
    squares = np.roots([1.0, 1.0 + 3*k1 + k1*k3, 4*k1*k3])
    expected = RATE/(2*np.pi)*np.sqrt([3*(Jy - Jx)/Jz, *(-squares)])
    for each in expected:
        assert np.abs(modes.frequencies/each - 1.0).min() < CANCELLING
    assert modes.linear.balanced
    assert modes.stable
    assert modes.linear.states[6:] == ("orbit.x", "orbit.y", "orbit.z", "orbit.vx", "orbit.vy", "orbit.vz")


# ---- ports and laws ---------------------------------------------------------------------------------------------------------
def arm():
    s = bough.System("arm", gravity=(0, 0, -9.81))
    s.body("arm", joint=bough.Revolute("y", damping=0.3), mass=2.0, com=(0, 0, -1))
    s.body("hand", parent="arm", at=(0, 0, -1.5), joint=bough.Revolute("y", stiffness=4.0), mass=0.5, com=(0, 0, -0.4))
    s.input("motor", coordinate="arm")
    s.output("angle", coordinate="arm")
    s.output("rate", rate="arm")
    s.output("accelerometer", felt_acceleration=bough.Frame("hand", at=(0, 0, -0.4)), axes="body", component="x")
    return s.compile()


def test_ports_by_name_with_units_and_values():
    model = arm()
    linear = model.linearize([0.2, -0.1], [0.3, 0.4], inputs={"motor": 1.5})
    assert (linear.inputs, linear.input_units) == (("motor",), ("N m",))
    assert linear.outputs == ("angle", "rate", "accelerometer")
    assert linear.output_units == ("rad", "rad/s", "m/s^2")
    assert linear.point.inputs.tolist() == [1.5]
    step = 1e-4

    def shown(q, v, u):
        found = model.outputs(q, v, inputs={"motor": u})
        return np.array([found[name] for name in linear.outputs])

    assert linear.point.outputs == pytest.approx(shown([0.2, -0.1], [0.3, 0.4], 1.5))
    x = np.array([0.2, -0.1, 0.3, 0.4, 1.5])
    by_all = [sum(w*(shown(*np.split((x + k*e)[:4], 2), (x + k*e)[4]) - shown(*np.split((x - k*e)[:4], 2), (x - k*e)[4]))
                  for k, w in STENCIL)/step for e in np.eye(5)*step]
    bound = differences(step, order=6)*np.abs(by_all).max()
    assert np.concatenate([linear.C, linear.D], axis=1) == pytest.approx(np.transpose(by_all), abs=bound)
    chosen = model.linearize(inputs=["hand.ry"], outputs=["accelerometer", "hand.ry rate"])
    assert (chosen.inputs, chosen.outputs) == (("hand.ry",), ("accelerometer", "hand.ry rate"))


def test_without_ports_forces_and_coordinates_stand_for_them():
    s = bough.System("two", gravity=(0, 0, -9.81))
    s.body("a", joint=bough.Revolute("y"), mass=1.0, com=(0, 0, -1))
    s.body("b", parent="a", at=(0, 0, -1), joint=bough.Revolute("y", motion="locked"), mass=1.0, com=(0, 0, -1),
           inertia=(0.2, 0.2, 0.2))
    s.wheel("rw", body="b", axis=(0, 1, 0), inertia=0.1, torque=0.0)
    linear = s.compile().linearize()
    assert linear.states == ("a.ry", "a.ry rate", "rw")
    assert linear.inputs == ("a.ry", "rw")
    assert linear.outputs == ("a.ry", "a.ry rate")


def test_a_compiled_law_closes_the_loop_as_a_run_does():
    """The eigenvalue of the closed loop is the decay of a run; a law with a state of its own, that filters the rate."""
    model = arm()

    @bough.controller(outputs=["angle", "rate"], inputs=["motor"], states=[0.0])
    def hold(t, y, u, z, zdot):
        zdot[0] = 20.0*(y[1] - z[0])
        u[0] = -15.0*y[0] - 6.0*z[0]

    linear = model.linearize(laws=[hold])
    assert linear.states[-1] == "hold.z1"
    K = np.array([[-15.0, 0.0, 0.0, 0.0, -6.0]])
    plain = model.linearize()
    by_hand = np.block([[plain.A, np.zeros((4, 1))], [np.zeros((1, 5))]])
    by_hand[:4] += plain.B @ K
    by_hand[4] = 20.0*np.array([*plain.C[1], -1.0])
    assert pytest.approx(by_hand, abs=CANCELLING*np.abs(by_hand).max()) == linear.A
    size = 1e-5
    run = bough.simulate(model, q0=[size, 0.0], v0=[0.0, 0.0], until=0.8, dt=2e-3, laws=[hold])
    from scipy.linalg import expm
    expected = expm(linear.A*0.8) @ [size, 0, 0, 0, 0]
    bound = oscillation("rk4", 20.0, 2e-3, 0.8)*size + size**2          # the filter is the fastest; what is not linear
    assert run.trajectory.x[0, -1] == pytest.approx(expected[:4], abs=bound)
    at_end = run.linearize(0.8, laws=[hold])
    assert pytest.approx(linear.A, abs=size*np.abs(linear.A).max()) == at_end.A      # which turns with the state
    assert at_end.point.q == pytest.approx(run.trajectory.x[0, -1, :2])


def test_an_algebraic_loop_is_named():
    """A force that answers the acceleration that it makes with just what makes it."""
    s = bough.System("cart")
    s.body("cart", joint=bough.Prismatic("x"), mass=2.0, inertia=(1, 1, 1))
    s.input("push", coordinate="cart")
    s.output("a", acceleration="cart", component="x")
    model = s.compile()

    @bough.controller(outputs=["a"], inputs=["push"])
    def answer(t, y, u):
        u[0] = 2.0*y[0]

    with pytest.raises(bough.StateError, match=r"answer: the loop through 'push' is algebraic.*instead of an acceleration"):
        model.linearize(laws=[answer])

    @bough.controller(outputs=["a"], inputs=["push"])
    def lighter(t, y, u):
        u[0] = y[0] - 3.0

    closed = model.linearize(laws=[lighter], inputs=["cart"], outputs=["cart.x rate"])
    assert pytest.approx(np.array([[0.0], [1.0]])) == closed.B                              # 2 kg less 1 kg
    assert closed.residual == pytest.approx([0.0, -3.0])


def test_discrete_systems_and_what_is_wrong():
    model = arm()
    discrete = model.linearize(dt=0.01)
    from scipy.linalg import expm
    assert discrete.dt == 0.01
    assert pytest.approx(expm(0.01*model.linearize().A), abs=CANCELLING) == discrete.A
    for options, text in (({"outputs": ["angel"]}, "there is no output 'angel'.*angle"),
                          ({"inputs": ["moter"]}, "no input, coordinate or driven wheel 'moter'.*motor"),
                          ({"laws": [bough.Law(lambda t, y: {}, period=0.1)]}, "is a Python function.*bough.controller"),
                          ({"law_states": [1.0]}, "no laws"),
                          ({"inputs": 3}, r"inputs is 3; give a list of names, inputs=\[...\]"),
                          ({"outputs": [3]}, r"outputs is \[3\]; give a list of names"),
                          ({"independent": ["amr.ry"]}, "independent: there is no coordinate or joint 'amr.ry'.*'arm.ry'"),
                          ({"hold": "foh"}, "hold is 'foh', but there is no sample time; give dt")):
        with pytest.raises(bough.StateError, match=text):
            model.linearize(**options)
    with pytest.raises(bough.StateError, match="2 states are given"):
        model.linearize(np.zeros((2, 2)), np.zeros((2, 2)))
