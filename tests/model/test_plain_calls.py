"""Calls with plain arrays go a short way: they give what lists give, bit for bit, and nothing of a call is left for the next."""
import copy
import pickle
import threading

import numpy as np
import pytest

import bough
from tests.model.test_batch_axes import CALLS, arrays, craft, state, tree
from tests.support.tolerance import CANCELLING, FORMULA, PRODUCTS

OUT = {
    "forward_dynamics": lambda m, q, v, a, tau, out: m.forward_dynamics(q, v, tau, out=out),
    "inverse_dynamics": lambda m, q, v, a, tau, out: m.inverse_dynamics(q, v, a, out=out),
    "bias": lambda m, q, v, a, tau, out: m.bias(q, v, out=out),
    "mass_matrix": lambda m, q, v, a, tau, out: m.mass_matrix(q, out=out),
    "jacobian": lambda m, q, v, a, tau, out: m.jacobian(q, "boom" if "boom" in m.names.bodies else "panel", out=out),
}
SHORT = [*OUT, "pose", "frames", "velocity", "acceleration"]


@pytest.fixture(scope="module")
def model():
    return craft()


@pytest.mark.parametrize("name", SHORT)
def test_arrays_and_lists_give_the_same(model, name):
    """Loops, modes, wheels, a held joint: the same kernel on the same numbers."""
    plain = state(model)
    long = arrays(CALLS[name](model, *(part.tolist() for part in plain)))
    for _ in range(2):                                          # what a call leaves behind does not change the next
        for one, other in zip(arrays(CALLS[name](model, *plain)), long, strict=True):
            np.testing.assert_array_equal(one, other)
    strided = [np.repeat(part, 2)[::2] for part in plain]
    for one, other in zip(arrays(CALLS[name](model, *strided)), long, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("name", OUT)
def test_out_takes_the_answer(model, name):
    q, v, a, tau = state(model)
    wanted = OUT[name](model, q, v, a, tau, None)
    for given in ((q, v, a, tau), tuple(part.tolist() for part in (q, v, a, tau))):
        out = np.full_like(wanted, np.nan)
        assert OUT[name](model, *given, out) is out
        np.testing.assert_array_equal(out, wanted)
    many, rows = np.empty((3, *wanted.shape)), [np.tile(part, (3, 1)) for part in (q, v, a, tau)]
    assert OUT[name](model, *rows, many) is many
    np.testing.assert_allclose(many, np.broadcast_to(wanted, many.shape), rtol=CANCELLING, atol=CANCELLING)
    for bad in (np.empty(3), np.empty(wanted.shape, int), [0.0]*model.nv):
        with pytest.raises(bough.StateError, match=r"^out .*give an array of float64 with the shape of the answer"):
            OUT[name](model, q, v, a, tau, bad)


@pytest.mark.parametrize("name", SHORT)
def test_an_answer_stays_as_it_is(model, name):
    q, v, a, tau = state(model)
    first = arrays(CALLS[name](model, q, v, a, tau))
    kept = [part.copy() for part in first]
    CALLS[name](model, q, 2.0*v, model.forward_dynamics(q, 2.0*v), tau + 1.0)            # accelerations that loops allow
    for part, before in zip(first, kept, strict=True):
        np.testing.assert_array_equal(part, before)
    assert all(part.flags.owndata and part.flags.c_contiguous for part in first)


def test_time_goes_the_short_way_and_is_forgotten():
    s = bough.System("driven")
    s.body("arm", joint=bough.Revolute("y", torque=bough.TimeTable([0, 1], [0, 2])), mass=1.0, inertia=(1, 2, 1))
    model, q, v = s.compile(), np.zeros(1), np.zeros(1)
    for t, wanted in ((0.5, 0.5), (None, 0.0), (1.0, 1.0), (0.25, 0.25)):
        given = {} if t is None else {"t": t}
        np.testing.assert_array_equal(model.forward_dynamics(q, v, **given), [wanted])
        np.testing.assert_array_equal(model.inverse_dynamics(q, v, np.zeros(1), **given), [-2.0*wanted])
    with pytest.raises(bough.StateError, match=r"'t'.* is nan"):
        model.forward_dynamics(q, v, t=np.nan)
    np.testing.assert_array_equal(model.forward_dynamics(q, v), [0.0])


@pytest.mark.parametrize("name", SHORT)
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_numbers_that_are_not_finite_are_named(model, name, bad):
    q, v, a, tau = state(model)
    q[2] = bad
    with pytest.raises(bough.StateError, match=rf"q\[2\] \('bus.z'\) is {bad}"):
        CALLS[name](model, q, v, a, tau)
    CALLS[name](model, *state(model))                           # the next one is not spoiled


def test_forces_that_are_not_finite_are_named_where_they_do_nothing(model):
    """The torque along a coordinate that is held has no part in the answer."""
    q, v, _, tau = state(model)
    at = model.names.v.index("drum.rz")
    tau[at] = np.nan
    with pytest.raises(bough.StateError, match=rf"tau\[{at}\] \('drum.rz'\) is nan"):
        model.forward_dynamics(q, v, tau)


def test_a_quaternion_off_the_way_must_have_a_length():
    s = bough.System("two", gravity=(0, 0, 0))
    for name, joint in (("ball", bough.Spherical()), ("arm", bough.Revolute("y"))):
        s.body(name, joint=joint, mass=1.0, inertia=(1, 1, 1))
    model = s.compile()
    for ask in (lambda q: model.pose(q, "arm"), lambda q: model.jacobian(q, "arm"), model.mass_matrix):
        with pytest.raises(bough.StateError, match=r"joint 'ball'.*zero length"):
            ask(np.array([0.0, 0.0, 0.0, 1e-14, 0.3]))


@pytest.mark.parametrize(("ask", "what"), [
    (lambda m, q, v: m.inverse_dynamics(q, 1e200*v, v), "joint torques"),
    (lambda m, q, v: m.mass_matrix(np.where(np.arange(m.nq) < 3, 1e200, q)), "mass matrix"),
    (lambda m, q, v: m.acceleration(q, 1e200*v, None, "boom"), "motions"),
    (lambda m, q, v: m.jacobian(q, "boom", point=(1.7e308, 1.7e308, 1.7e308)), "Jacobian")])
def test_answers_that_are_not_finite_are_refused(ask, what):
    s = bough.System("tree")
    s.body("slide", joint=bough.Joint("xyz", "xyz"), mass=1.0, inertia=(1, 1, 1))
    s.body("boom", parent="slide", joint=bough.Joint("xyz", "yz"), at=(1, 0, 0), mass=1.0, inertia=(1, 1, 1))
    model = s.compile()
    q, v = np.full(model.nq, 0.1), np.ones(model.nv)
    with pytest.raises(bough.StateError, match=f"{what}.* not finite.*too large"):
        ask(model, q, v)


def test_threads_do_not_share_what_is_prepared():
    """Kernels let other threads run: each has rows and a workspace of its own."""
    model = tree()
    rng = np.random.default_rng(0)
    states = [(model.q0 + 0.1*rng.normal(size=model.nq), rng.normal(size=model.nv), rng.normal(size=model.nv)) for _ in range(4)]
    wanted = [(model.forward_dynamics(*s), model.jacobian(s[0], "boom"), model.frames(s[0])[0]) for s in states]
    wrong = []

    def ask(q, v, tau, answers):
        for _ in range(500):
            found = model.forward_dynamics(q, v, tau), model.jacobian(q, "boom"), model.frames(q)[0]
            wrong.extend(1 for one, other in zip(found, answers, strict=True) if not np.array_equal(one, other))

    threads = [threading.Thread(target=ask, args=(*s, w)) for s, w in zip(states, wanted, strict=True)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda model: pickle.loads(pickle.dumps(model))])
def test_copies_prepare_calls_of_their_own(copied):
    model = tree()
    q, v, _, tau = state(model)
    wanted = model.forward_dynamics(q, v, tau)
    other = copied(model)
    del model
    np.testing.assert_array_equal(other.forward_dynamics(q, v, tau), wanted)


def test_what_is_held_later_is_not_forgotten(model):
    """A model with other holds prepares anew."""
    q, v, _, tau = state(model)
    before = model.forward_dynamics(q, v, tau)
    loose = model.switched({})
    assert loose.forward_dynamics(q, v, tau)[model.names.v.index("drum.rz")] != 0.0
    np.testing.assert_array_equal(model.forward_dynamics(q, v, tau), before)


def test_places(model):
    """Bodies, nodes of flexible ones, points; names that are none."""
    q, v, a, _ = state(model)
    seen = model.bodies(q, v, a)
    positions, attitudes = model.frames(q)
    np.testing.assert_array_equal(positions, seen.position[0])
    np.testing.assert_array_equal(attitudes, seen.attitude[0])
    tip = seen.node("panel", "tip")
    np.testing.assert_array_equal(model.pose(q, ("panel", "tip"))[0], tip.position[0])
    np.testing.assert_array_equal(model.velocity(q, v, ("panel", "tip")), np.concatenate([tip.rate[0], tip.velocity[0]]))
    np.testing.assert_array_equal(model.pose(q, ("panel", None))[0], model.pose(q, "panel")[0])
    for place, text in (("pannel", "did you mean 'panel'"), (("panel", "tp"), "no node 'tp'"), (("bus", "tip"), "is rigid"),
                        (["bus"], "there is no body"), (3, "there is no body")):
        with pytest.raises(bough.StateError, match=text):
            model.pose(q, place)
        with pytest.raises(bough.StateError, match=text):
            model.frames(q, ["bus", place])
    with pytest.raises(bough.StateError, match=r"places is 'bus'.*give a list"):
        model.frames(q, "bus")


def test_a_frame_is_a_place(model):
    """As the body or node it is on, at its point, and turned."""
    q, v, a, _ = state(model)
    at, turn = (0.1, -0.2, 0.3), {"axis": "x", "degrees": 90}
    C = np.array([[1.0, 0, 0], [0, 0, -1], [0, 1, 0]])
    flexible = [body for body in model.system.bodies.values() if body.n_modes]
    for body, node in [("bus", None), *((body.name, body.flexible.nodes.names[-1]) for body in flexible)]:
        frame, place = bough.Frame(body, at=at, orient=turn, node=node), (body, node)
        position, attitude = model.pose(q, place, at)
        for found in (model.pose(q, frame), [part[0] for part in model.frames(q, [frame])], model.pose(q, place, at)):
            np.testing.assert_allclose(found[0], position, rtol=FORMULA)
        np.testing.assert_allclose(model.pose(q, frame)[1], attitude @ C, atol=PRODUCTS)
        np.testing.assert_array_equal(model.jacobian(q, frame), model.jacobian(q, place, at))
        np.testing.assert_array_equal(model.jacobian_rate(q, v, frame), model.jacobian_rate(q, v, place, at))
        np.testing.assert_array_equal(model.velocity(q, v, frame), model.velocity(q, v, place, at))
        np.testing.assert_array_equal(model.acceleration(q, v, a, frame), model.acceleration(q, v, a, place, at))
    np.testing.assert_array_equal(model.pose(q, bough.Frame("world", at=at))[0], at)
    with pytest.raises(bough.StateError, match=r"no body 'bsu' \(did you mean 'bus'"):
        model.pose(q, bough.Frame("bsu"))
    with pytest.raises(bough.StateError, match="give a list of bodies"):
        model.frames(q, bough.Frame("bus"))
