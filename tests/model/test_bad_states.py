"""Bad input to a model, and systems that cannot become one: each error says what, where, which value and what to do."""
import numpy as np
import pytest

import bough
from tests.support.random_systems import independent_axes, random_inertia, random_rotation
from tests.support.tolerance import FORMULA, SWEEP

Q, V = np.array([0, 0, 0, 0, 0, 0, 1, 0.1]), np.zeros(7)
CENTRAL = bough.CentralGravity(4e14, (7e6, 0, 0), (0, 7e3, 0))


def system(*bodies, gravity=(0, 0, 0), wheels=()):
    s = bough.System("arm", gravity=gravity)
    for body in bodies:
        s.body(**body)
    for words in wheels:
        s.wheel(**words)
    return s


def solid(name, joint, **words):
    return {"name": name, "joint": joint, "mass": 2.0, "inertia": (1, 1, 1)} | words


def wheel(**words):
    return {"name": "rw", "body": "bus", "axis": "x", "inertia": 0.1} | words


@pytest.fixture(scope="module")
def model():
    """A floating bus with a driven wheel, and a boom on the joint 'elbow'."""
    boom = solid("boom", bough.Revolute("y", name="elbow"), parent="bus", com=(1, 0, 0))
    return system(solid("bus", bough.Free()), boom, wheels=[wheel(torque=0.0)]).compile()


def raises(error, *parts):
    """The error's message holds all these parts."""
    pattern = "".join(f"(?=.*{part})" for part in parts)
    return pytest.raises(error, match=f"(?s){pattern}")


def changed(array, index, value):
    array = array.copy()
    array[index] = value
    return array


# ---- arguments: lengths, NaN, names --------------------------------------------------------------------------------
WRONG_LENGTHS = [
    (lambda m: m.forward_dynamics(Q[:-1], V), ["q has shape", r"\(7,\)", "give 8 numbers", "bus.qw", "elbow.ry"]),
    (lambda m: m.forward_dynamics(Q, np.zeros(8)), ["v has shape", r"\(8,\)", "give 7 numbers", "elbow.ry"]),
    (lambda m: m.forward_dynamics(Q, V, [1, 2]), ["tau has shape", r"\(2,\)", "give 7 numbers"]),
    (lambda m: m.inverse_dynamics(Q, V, [1]), ["a has shape", r"\(1,\)", "give 7 numbers"]),
    (lambda m: m.reactions(Q, V, [1]), ["a has shape", r"\(1,\)", "give 7 numbers"]),
    (lambda m: m.mass_matrix(np.zeros((2, 2, 8))), ["q has shape", r"\(2, 2, 8\)", "rows of 8 numbers"]),
    (lambda m: m.kinetic_energy(Q, V[:3]), ["v has shape", r"\(3,\)", "give 7 numbers"]),
    (lambda m: m.forward_dynamics(Q, V, wheels=[1, 2]), ["wheels has shape", r"\(2,\)", "rw"]),
    (lambda m: m.forward_dynamics(Q, V, motors=[1, 2]), ["motors has shape", r"\(2,\)", "rw"]),
    (lambda m: m.forward_dynamics(Q, V, wrenches={"boom": [1, 2, 3]}),
     ["wrench on 'boom'", r"\(3,\)", "give 6 numbers", "mx", "fz"]),
    (lambda m: m.forward_dynamics("abc", V), ["q is 'abc'", "give 8 numbers"]),
    (lambda m: m.forward_dynamics(None, V), ["q", "give 8 numbers"]),
    (lambda m: m.forward_dynamics(np.tile(Q, (3, 1)), np.tile(V, (4, 1))),
     ["3 rows", "the batch has 4", "give one row, or one for each"]),
    (lambda m: m.inverse_dynamics(Q, V, np.zeros((3, 7))), ["a has 3 rows", "the batch has 1"]),
]


@pytest.mark.parametrize(("ask", "parts"), WRONG_LENGTHS)
def test_wrong_lengths(model, ask, parts):
    """What was given, how much is wanted, and what each entry would be."""
    with raises(bough.StateError, *parts):
        ask(model)


@pytest.mark.parametrize(("ask", "what"), [
    (lambda m: m.forward_dynamics(Q, None), "v"), (lambda m: m.forward_dynamics(Q, V, t=None), "t"),
    (lambda m: m.inverse_dynamics(Q, V, None), "a"), (lambda m: m.inverse_dynamics(Q, None, V), "v"),
    (lambda m: m.reactions(Q, V, None), "a"), (lambda m: m.bias(Q, None), "v"), (lambda m: m.kinetic_energy(Q, None), "v"),
    (lambda m: m.momentum(Q, None), "v"), (lambda m: m.velocity(Q, None, "boom"), "v"), (lambda m: m.mass_matrix(None), "q"),
    (lambda m: m.follow(Q, None), "v"), (lambda m: m.drive_forces(Q, None), "v"),
])
def test_none_is_no_number(model, ask, what):
    with raises(bough.StateError, f"{what} is None", "give"):
        ask(model)


HUGE = np.full(7, 1e308)


@pytest.mark.parametrize(("ask", "what"), [
    (lambda m: m.forward_dynamics(Q, HUGE), "accelerations"), (lambda m: m.inverse_dynamics(Q, V, HUGE), "joint torques"),
    (lambda m: m.inverse_dynamics(Q, HUGE, V), "joint torques"), (lambda m: m.reactions(Q, HUGE, V), "reactions"),
    (lambda m: m.kinetic_energy(Q, 1e200*np.eye(7)[0]), "kinetic energy"),
    (lambda m: m.momentum(Q, HUGE), "motion of the bodies|momentum"),
    (lambda m: m.velocity(Q, HUGE, "boom"), "positions or motions"), (lambda m: m.bias(Q, HUGE), "joint torques"),
    (lambda m: m.forward_dynamics(np.tile(Q, (5, 1)), np.array([V, V, V, HUGE, V])), "accelerations.*in state 3 of the batch"),
])
def test_answers_that_are_not_finite_raise(model, ask, what, recwarn):
    """States at the end of the numbers: an error by name, and no words of NumPy's."""
    with raises(bough.StateError, what, "not finite", "too large"):
        ask(model)
    assert not recwarn.list


NOT_FINITE = [
    (lambda m: m.forward_dynamics(changed(Q, 7, np.nan), V), [r"q\[7\]", "'elbow.ry'", "is nan",
                                                              "give a finite number"]),
    (lambda m: m.forward_dynamics(Q, changed(V, 4, np.inf)), [r"v\[4\]", "'bus.wy'", "is inf"]),
    (lambda m: m.forward_dynamics(np.tile(Q, (5, 1)), changed(np.zeros((5, 7)), (3, 6), -np.inf)),
     [r"v\[3, 6\]", "'elbow.ry'", "is -inf"]),
    (lambda m: m.forward_dynamics(Q, V, changed(V, 0, np.nan)), [r"tau\[0\]", "'bus.x'", "is nan"]),
    (lambda m: m.inverse_dynamics(Q, V, changed(V, 6, np.nan)), [r"a\[6\]", "'elbow.ry'", "is nan"]),
    (lambda m: m.forward_dynamics(Q, V, wrenches={"boom": [0, 0, np.nan, 0, 0, 0]}),
     ["wrench on 'boom'", "'mz'", "is nan"]),
    (lambda m: m.forward_dynamics(Q, V, wheels=[np.nan]), [r"wheels\[0\]", "'rw'", "is nan"]),
    (lambda m: m.momentum(changed(Q, 0, np.nan), V), [r"q\[0\]", "'bus.x'", "is nan"]),
]


@pytest.mark.parametrize(("ask", "parts"), NOT_FINITE)
def test_not_finite(model, ask, parts):
    """The entry by its number and its name."""
    with raises(bough.StateError, *parts):
        ask(model)


@pytest.mark.parametrize("q", [changed(Q, slice(3, 7), 0.0), np.array([Q, Q, Q, Q, changed(Q, slice(3, 7), 1e-14)])])
def test_quaternion_of_zero_length(model, q):
    """Where it is, what it is, and which one is meant by no rotation; a length other than 1 is no error."""
    for ask in (lambda: model.forward_dynamics(q, V), lambda: model.mass_matrix(q), lambda: model.pose(q, "boom")):
        with raises(bough.StateError, r"q\[3:7\]", "joint 'bus'", "zero length", r"\[0, 0, 0, 1\]"):
            ask()
    for ask in (lambda m: m.forward_dynamics(1e200*Q, V), lambda m: m.mass_matrix(1e308*Q), lambda m: m.pose(1e308*Q, "boom")):
        with raises(bough.StateError, r"q\[3:7\]", "joint 'bus'", "far too large a length"):
            ask(model)
    longer = model.forward_dynamics(changed(Q, 6, 3.0), V, np.ones(7))
    np.testing.assert_allclose(longer, model.forward_dynamics(Q, V, np.ones(7)), rtol=SWEEP, atol=FORMULA)


CHOICES = [
    (lambda m: m.forward_dynamics(Q, V, wrenches={"bom": np.zeros(6)}),
     ["wrenches", "no body 'bom'", "did you mean 'boom'"]),
    (lambda m: m.pose(Q, "bom"), ["no body 'bom'", "did you mean 'boom'", "the bodies are bus, boom"]),
    (lambda m: m.velocity(Q, V, "wheel"), ["no body 'wheel'", "the bodies are bus, boom"]),
    (lambda m: m.jacobian(Q, "zebra"), ["no body 'zebra'", "the bodies are bus, boom"]),
    (lambda m: m.forward_dynamics(Q, V, wrenches={"boom": np.zeros(6)}, frame="wrld"),
     ["frame is 'wrld'", "'body'", "'world'"]),
    (lambda m: m.forward_dynamics(Q, V, dynamics="ordern"), ["dynamics is 'ordern'", "did you mean 'order-n'",
                                                           "auto, order-n, dense, cloud"]),
    (lambda m: m.wheel_accelerations(Q, V, dynamics="fast"), ["dynamics is 'fast'", "auto, order-n, dense, cloud"]),
]


@pytest.mark.parametrize(("ask", "parts"), CHOICES)
def test_unknown_names_and_choices(model, ask, parts):
    """What was probably meant, and what there is."""
    with raises(bough.StateError, *parts):
        ask(model)


LOOSE = [
    pytest.param(lambda m: m.forward_dynamics([[0, 1], [2]], V), ["q"], id="rows of different length"),
    pytest.param(lambda m: m.forward_dynamics(np.tile(Q, (5, 1)), V, t=[1, 2, 3]), ["t has 3 rows", "the batch has 5"],
                 id="too many times"),
    pytest.param(lambda m: m.forward_dynamics(Q, V, t=np.nan), ["'t'", "is nan"], id="time is nan"),
    pytest.param(lambda m: m.forward_dynamics(Q, V, t="now"), ["t is", "now"], id="time is a text"),
    pytest.param(lambda m: m.jacobian(Q, "boom", [1, 2]), ["point has shape", r"\(2,\)", "give 3 numbers"],
                 id="a point of two numbers"),
    pytest.param(lambda m: m.jacobian(Q, "boom", [1, 2, np.nan]), [r"point\[2\]", "is nan"], id="a point that is nan"),
    pytest.param(lambda m: m.jacobian(Q[:-1], "boom"), ["q has shape", r"\(7,\)"], id="jacobian of a short q"),
    pytest.param(lambda m: m.forward_dynamics(Q, V, wrenches=[1, 2]), ["wrenches", "body"], id="wrenches as a list"),
    pytest.param(lambda m: m.forward_dynamics(Q, V, orbit=[1, 2, 3, 4, 5, 6]), ["orbit"],
                 id="an orbit without central gravity"),
]


@pytest.mark.parametrize(("ask", "parts"), LOOSE)
def test_other_arguments(model, ask, parts):
    """Nothing is silently ignored, and no error comes from deep inside."""
    with raises(bough.StateError, *parts):
        ask(model)


def test_wheels_that_are_not_there():
    """Speeds for wheels that the model does not have, and a motor torque on a wheel whose speed is held."""
    bare = system(solid("bus", bough.Free())).compile()
    with raises(bough.StateError, "wheels"):
        bare.forward_dynamics(Q[:7], V[:6], wheels=[1.0])
    held = system(solid("bus", bough.Free()), wheels=[wheel(speed=5.0)]).compile()
    with raises(bough.StateError, "rw", "held"):
        held.forward_dynamics(Q[:7], V[:6], motors=[1.0])


# ---- singular configurations ---------------------------------------------------------------------------------------
def gimbal(sequence):
    return system(solid("ball", bough.Gimbal(sequence, name="wrist"), com=(0.1, 0.2, 0.3))).compile()


@pytest.mark.parametrize("method", ["order-n", "dense"])
def test_singular_configuration(method):
    """A mass point on a universal joint, in line with its first axis: that axis moves nothing. The joint is named, and
    the state."""
    rod = system({"name": "rod", "joint": bough.Universal("xy", name="shoulder"), "mass": 1.0,
                  "com": (-1, 0, 0)}).compile()
    with raises(bough.StateError, "joint 'shoulder'", "inertia", "kg m\\^2", "give 'rod'", "singular"):
        rod.forward_dynamics([0.3, 0.0], [0, 0], [1, 1], dynamics=method)
    q = [[0.1, 0.2], [0.1, 0.3], [0.1, 0.4], [0.1, 0.5], [0.3, 0.0]]
    with raises(bough.StateError, "joint 'shoulder'", "state 4 of the batch"):
        rod.forward_dynamics(q, [0, 0], [1, 1], dynamics=method)
    assert np.isfinite(rod.forward_dynamics(q[:4], [0, 0], [1, 1], dynamics=method)).all()


@pytest.mark.parametrize(("sequence", "middle", "method"), [
    ("zxz", 0.0, "order-n"), ("zxz", 0.0, "dense"), ("xyz", np.pi/2, "order-n"), ("xyz", np.pi/2, "dense")])
def test_gimbal_lock(sequence, middle, method):
    """First and third axis in line: only the difference of their torques acts. Rounding may leave 1e-17 of inertia: no
    answer either."""
    with raises(bough.StateError, "joint 'wrist'", "singular"):
        gimbal(sequence).forward_dynamics([0.3, middle, 0.2], [0.1, 0.2, 0.3], [1, 1, 3], dynamics=method)


def test_state_too_large(model):
    """Speeds whose squares overflow."""
    with raises(bough.StateError, "not finite", "too large"):
        model.forward_dynamics(Q, V + 1e200)


# ---- systems that cannot become a model -----------------------------------------------------------------------------
IMPOSSIBLE = [
    (system(), ["'arm'", "no bodies", "add one"]),
    (system({"name": "a", "mass": 1.0}), ["'arm'", "no joint can move", "other than a weld"]),
    (system(solid("boom", bough.Revolute()), solid("tip", None, parent="bom")),
     ["body 'tip'", "parent 'bom'", "is not a body", "did you mean 'boom'"]),
    (system(solid("root", bough.Revolute()), solid("a", bough.Revolute(), parent="b"),
            solid("b", bough.Revolute(), parent="a")),
     ["body 'a'", "a -> b -> a", "mount one of them on the world"]),
    (system(solid("arm", bough.Revolute()),
            {"name": "hand", "parent": "arm", "joint": bough.Revolute("y", name="wrist")}),
     ["joint 'wrist'", "inertia", "0 kg m\\^2", "give 'hand'"]),
    (system(solid("arm", bough.Revolute()), {"name": "hand", "parent": "arm", "joint": bough.Prismatic("y")}),
     ["joint 'hand'", "mass", "0 kg;", "give 'hand'"]),
    (system({"name": "rod", "joint": bough.Revolute("z"), "mass": 1.0, "com": (0, 0, 1)}),
     ["joint 'rod'", "0 kg m\\^2", "give 'rod'"]),
    (system({"name": "rod", "joint": bough.Free(), "mass": 1.0, "inertia": (0, 1, 1)}),
     ["joint 'rod'", "0 kg m\\^2", "give 'rod'"]),
    (system(solid("bus", bough.Free()), wheels=[{"name": "rw", "body": "bu", "axis": "x", "inertia": 0.1}]),
     ["wheel 'rw'", "body 'bu' is not a body", "did you mean 'bus'"]),
    (system(solid("bus", bough.Free()), wheels=[{"name": "rw", "body": "bus", "axis": "x", "inertia": 1.5}]),
     ["body 'bus'", "smaller than that of its wheels", "rw", "0.5 kg m\\^2", "include its wheels"]),
    (system(solid("bus", bough.Revolute()), gravity=CENTRAL), ["body 'bus'", "revolute", "central gravity",
                                                               "give it joint Free"]),
    (system(solid("base", None), solid("bus", bough.Free(), parent="base"), gravity=CENTRAL),
     ["body 'base'", "weld", "Free"]),
    (system({"name": "bus", "joint": bough.Free(), "inertia": (1, 1, 1), "idealized": True}, gravity=CENTRAL),
     ["body 'bus'", "no mass", "give it a mass"]),
    (system({"name": "bus", "joint": bough.Free()}, gravity=CENTRAL), ["'arm'", "no mass"]),
]


@pytest.mark.parametrize(("described", "parts"), IMPOSSIBLE)
def test_systems_that_cannot_be_compiled(described, parts):
    """The part, what is wrong with it, and the remedy."""
    with raises(bough.ModelError, *parts):
        described.compile()


def test_several_wheels_are_judged_together():
    """Each wheel fits into the body, all of them do not."""
    wheels = [{"name": f"rw{i}", "body": "bus", "axis": "x", "inertia": 0.6} for i in range(2)]
    system(solid("bus", bough.Free()), wheels=wheels[:1]).compile()
    with raises(bough.ModelError, "body 'bus'", "rw0, rw1", "0.2 kg m\\^2"):
        system(solid("bus", bough.Free()), wheels=wheels).compile()


def test_a_body_that_is_nothing_but_its_driven_wheel():
    """A hinge about a driven wheel's axis with no inertia besides the wheel's moves nothing."""
    nothing_left = system(solid("bus", bough.Revolute("x", name="hub")),
                          wheels=[{"name": "rw", "body": "bus", "axis": "x", "inertia": 1.0, "torque": 0.0}])
    with raises(bough.BoughError, "joint 'hub'", "0 kg m\\^2"):
        nothing_left.compile().forward_dynamics([0.0], [0.0], [1.0])


def test_massless_body_between_joints_that_undo_each_other():
    """A massless body between two hinges about one axis: nothing resists their opposite turns, at any angle."""
    twice = system({"name": "ring", "joint": bough.Revolute("z", name="inner")},
                   solid("disc", bough.Revolute("z", name="outer"), parent="ring"))
    with raises(bough.ModelError, "joint 'inner'", "kg m\\^2", "give 'ring'"):
        twice.compile()


def random_body(rng, mass=True):
    weight = rng.uniform(0.5, 3.0)
    com, inertia = random_inertia(rng, weight)
    place = {"at": rng.uniform(-0.4, 0.4, 3), "orient": random_rotation(rng)}
    return place | ({"mass": weight, "com": com, "inertia": (inertia + inertia.T)/2} if mass else {})


def test_hidden_singular_trees_are_found():
    """A massless plate that can move freely carries a gimbal, and a puck that slides on it and off it: all of them
    together undo its turn about the puck's axis. What is left of its inertia is rounding, 1e-16 to 1e-12 of the rest
    from one position to the next."""
    missed, messages = [], set()
    for seed in range(100):
        rng = np.random.default_rng(seed)
        loose = bough.Joint(independent_axes(rng, 3), "spherical")
        s = system({"name": "base", "joint": bough.Spherical()} | random_body(rng),
                   {"name": "plate", "parent": "base", "joint": loose} | random_body(rng, mass=False),
                   {"name": "ball", "parent": "plate", "joint": bough.Gimbal("zyx")} | random_body(rng),
                   {"name": "puck", "parent": "plate", "joint": bough.Planar("yz")} | random_body(rng),
                   {"name": "slug", "parent": "puck", "joint": bough.Prismatic("x")} | random_body(rng))
        try:
            s.compile()
            missed.append(seed)
        except bough.ModelError as error:
            messages.add(str(error).split(":")[0])
    assert not missed
    assert messages == {"joint 'plate'"}
