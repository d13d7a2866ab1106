"""Loads through cuts with loops: what the dynamics determines, what it leaves open, and Newton and Euler for every body."""
import numpy as np
import pytest

import bough
from tests.support import maximal
from tests.support.closed_loops import closed, witness
from tests.support.compare import assert_same
from tests.support.mechanisms import four_bar
from tests.support.tolerance import CANCELLING

G = 9.81
ROUNDING = 1e-10            # as of forces of loops, tests/sweeps/test_closed_dynamics.py; the sum of many of them here
NAMES = ("four-bar, revolute", "four-bar, line", "twin pins", "bennett", "slider-crank, prismatic", "stewart", "RSSR",
         "limbed platform", "sprung 0", "sprung 1", "sprung 2", "two bodies by weld", "body on ground by spherical")


# ---- a beam on two supports ---------------------------------------------------------------------------------------------------
BALL, WELD = bough.Spherical(), bough.Weld()


def bridge(west, east, turn=(0, 0, 0, 1), length=2.0):
    """A uniform beam of 6 kg; each support is a joint: that in the west of the tree, that in the east closes a loop."""
    s = bough.System("bridge", gravity=(0, 0, -G))
    s.body("beam", joint=west, orient=turn, mass=6.0, com=(length/2, 0, 0), inertia=(0.1, 2, 2))
    end = np.array(maximal.quaternion_matrix(turn)) @ (length, 0, 0)
    s.loop("east", joint=east, a=bough.Frame("world", at=end, orient=turn), b=bough.Frame("beam", at=(length, 0, 0)))
    return s.compile()


def at_rest(model, cut=("beam", "east"), **options):
    return model.internal_loads(model.q0, model.v0, np.zeros(model.nv), cut=cut, **options)


def test_two_balls_leave_the_force_along_their_line_open():
    """Half of the weight on each; of the 6 forces 5 are determined."""
    loads = at_rest(bridge(BALL, BALL))
    half = 3*G
    for name in ("beam", "east"):
        assert_same(np.nan_to_num(loads[name], nan=-1), [0, 0, 0, -1, 0, half], ROUNDING)
        assert loads.component(name, "force", "z") == pytest.approx(half, rel=ROUNDING)
        with pytest.raises(bough.StateError, match=rf"the force through '{name}' along \(1, 0, 0\) .*is not determined: the "
                                                   "dynamics leaves open the force along the line between 'beam' and 'east'"):
            loads.component(name, "force", "x")
    assert loads.rank == 11
    assert_same(np.abs(loads.null_space[..., 0]), [[0, 0, 0, 0.5**0.5, 0, 0]]*2, ROUNDING)
    assert_same(loads.null_space[..., 0].sum(axis=0), np.zeros(6), ROUNDING, scale=1.0)
    assert "not determined: the force along the line between 'beam' and 'east'" in repr(loads)
    assert repr(loads).count("open") == 2


def test_the_line_lies_askew():
    """No component along an axis is determined then, but two across the line are; axial loads are shared evenly."""
    turn = np.array([0.2, -0.3, 0.4, 1.0])
    model = bridge(BALL, BALL, turn/np.linalg.norm(turn))
    loads = at_rest(model, axes="world")
    line = loads.points[1] - loads.points[0]
    assert not loads.determined[:, 3:].any()
    assert loads.determined[:, :3].all()
    up = np.array([0, 0, 1.0])
    for across in (np.cross(line, up), np.cross(line, np.cross(line, up))):
        across = across/np.linalg.norm(across)
        for name in ("beam", "east"):
            assert_same(loads.component(name, "force", across), 3*G*across[2], ROUNDING, scale=3*G)
    assert_same(loads.least[0], loads.least[1], ROUNDING, scale=3*G)
    assert_same(loads.total[3:], [0, 0, 6*G], ROUNDING)
    with pytest.raises(bough.StateError, match="along the line between"):
        loads.component("east", "force", line)


def test_a_slide_determines_the_rest():
    """A support that may slide along the beam takes no force there: all of a pull of 8 N goes to the other."""
    loads = at_rest(bridge(BALL, bough.PointOnLine("x")), wrenches={"beam": (0, 0, 0, 8, 0, 0)})
    assert loads.determined.all()
    assert loads.rank == 12
    assert_same(loads["beam"], [0, 0, 0, -8, 0, 3*G], ROUNDING)
    assert_same(loads["east"], [0, 0, 0, 0, 0, 3*G], ROUNDING)


def test_the_choice_of_the_tree_does_not_matter():
    """The least loads, too, are the same whether the tree goes through one support, the other, or none."""
    pull = {"beam": (0, 0, 0, 8, 0, 0)}
    s = bough.System("held", gravity=(0, 0, -G))
    s.body("beam", joint=bough.Free(), mass=6.0, com=(1, 0, 0), inertia=(0.1, 2, 2))
    for name, x in (("west", 0), ("east", 2)):
        s.loop(name, joint=BALL, a=bough.Frame("world", at=(x, 0, 0)), b=bough.Frame("beam", at=(x, 0, 0)))
    model = s.compile()
    loads = model.internal_loads(model.q0, model.v0, np.zeros(6), cut=["beam", "west", "east"], wrenches=pull)
    assert_same(loads.least[0], np.zeros(6), ROUNDING, scale=8)
    assert_same(loads.least[1:], at_rest(bridge(BALL, BALL), wrenches=pull).least, ROUNDING)
    assert_same(loads.least[1:, 3], [-4, -4], ROUNDING)


def test_two_welds_leave_half_open():
    """Of a ring of two welds, the momentum of one part gives 6 of the 12 components; those of the other are the same."""
    s = bough.System("ring", gravity=(0, 0, -G))
    s.body("base", joint=bough.Prismatic("z"), mass=1.0)
    s.body("beam", parent="base", joint=WELD, mass=6.0, com=(1, 0, 0), inertia=(0.1, 2, 2))
    s.body("post", joint=bough.Prismatic("z"), mass=1.0)
    s.loop("east", joint=WELD, a=bough.Frame("post", at=(2, 0, 0)), b=bough.Frame("beam", at=(2, 0, 0)))
    model = s.compile()
    a = model.forward_dynamics([0, 0], [0, 0])
    loads = model.internal_loads([0, 0], [0, 0], a, cut=["beam", "east"])
    assert loads.rank == 12 - 5                  # the two slides say how the vertical force is shared: one more than momentum does
    driven = model.internal_loads([0, 0], [0, 0], a, cut=["beam", "east"], driven=["base", "post.z"])
    assert driven.rank == 6
    assert "the force along the line between 'beam' and 'east'" in repr(driven)
    assert "5 combinations of beam.mx" in repr(driven)


def test_driven_joints():
    """A four-bar held by a motor of unknown torque in its crank, and then in its rocker too, whose share nobody knows."""
    case = four_bar("line")
    model = case.system.compile()
    q, _ = model.assemble(case.q, 0*case.v)
    still = np.zeros(3)
    with pytest.raises(bough.StateError, match="than tau and the loops give; give the tau that goes with it, or name in `driven`"):
        model.internal_loads(q, still, still, cut="pin")
    one = model.internal_loads(q, still, still, cut="crank", driven="crank")
    torque = one.component("crank", "moment", "y")
    told = model.internal_loads(q, still, still, [torque, 0, 0], cut="crank")
    assert_same(told["crank"], one["crank"], ROUNDING)
    both = model.internal_loads(q, still, still, cut="crank", driven=["crank", "rocker"])
    with pytest.raises(bough.StateError, match="the moment through 'crank' along"):
        both.component("crank", "moment", "y")


# ---- mechanisms -----------------------------------------------------------------------------------------------------------------
def connections(system):
    """{name: the two bodies}."""
    joints = {name: (body.parent or "world", name) for name, body in system.bodies.items()}
    return joints | {name: (loop.a.body, loop.b.body) for name, loop in system.loops.items()}


@pytest.mark.parametrize("name", NAMES)
def test_newton_and_euler(name):
    """For every body: what comes through all of its joints and loops, with springs and motors, is what its motion asks for."""
    case, model, q, v, tau = closed(name)
    a, _, _ = witness(name, 0)
    stands = maximal.places(case.system, q[0], v[0], a)
    for body in case.system.bodies.values():
        cut = [joint for joint, ends in connections(case.system).items() if body.name in ends]
        loads = model.internal_loads(q[0], v[0], a, tau[0], cut=cut, axes="world")
        sign = 1 if loads.on[0] == body.name else -1
        M, f = maximal.newton_euler(case.system, body, stands)
        needed, arm = M @ stands[body.name].acceleration - f, stands[body.name].position.value
        needed[:3] += np.cross(arm, needed[3:])
        assert_same(sign*loads.total, needed, ROUNDING, scale=np.abs(loads.least).max())


def self_stresses(system, q):
    """{joint or loop: (6, n)}: what forces that hold each other send through it, from constraints of all bodies' 6 motions each."""
    poses, _, _ = maximal.motion(system, q, np.zeros(maximal.jacobians(system, q)[1].shape[1]))
    order = {name: 6*i for i, name in enumerate(system.bodies)}
    every, blocks = maximal.tree_constraints(system) + maximal.loop_constraints(system), []
    for constraint in every:
        sides = maximal.gradients(constraint, poses)
        block = np.zeros((len(sides[1]), 6*len(order)))
        for (body, *_), part in zip((constraint.a, constraint.b), sides, strict=True):
            if body in order:
                block[:, order[body]:order[body] + 6] += part
        blocks.append((block, sides[1]))
    J = np.vstack([block for block, _ in blocks])
    null = np.linalg.svd(J)[0][:, maximal.rank(J):]
    found, at, stands = {}, 0, maximal.stand(poses)
    for constraint, (block, Jb) in zip(every, blocks, strict=True):
        rows = null[at:at + len(block)]
        at += len(block)
        wrenches = [maximal.wrench_on_b(constraint, stands, Jb, column) for column in rows.T]
        found[constraint.name] = np.array(wrenches).reshape(-1, 6).T
    return found


@pytest.mark.parametrize("name", NAMES)
def test_what_is_open(name):
    """Through each joint and each loop the same is open as in maximal coordinates."""
    case, model, q, v, tau = closed(name)
    a, _, _ = witness(name, 0)
    stresses = self_stresses(case.system, q[0])
    for joint, stress in stresses.items():
        loads = model.internal_loads(q[0], v[0], a, tau[0], cut=joint)
        assert loads.rank == 6 - np.linalg.matrix_rank(stress, tol=CANCELLING)
        assert loads.determined[0].tolist() == (np.abs(stress).max(axis=1, initial=0.0) < CANCELLING).tolist()


def test_in_plane_loads_do_not_depend_on_what_holds_the_pin_out_of_plane():
    """A pin, a ball and an eye that close a four-bar: the forces in its plane are determined in all, and are the same."""
    found = []
    for name in ("revolute", "spherical", "line"):
        case = four_bar(name)
        model = case.system.compile()
        q, v = model.assemble(case.q, case.v)
        a = model.forward_dynamics(q, v)
        loads = model.internal_loads(q, v, a, cut=["coupler", "pin"])
        found.append([loads.component(joint, "force", axis) for joint in ("coupler", "pin") for axis in "xz"])
        assert loads.determined.all() == (name == "line")
        assert loads.on == ("coupler", "coupler")
    assert_same(found[0], found[2], ROUNDING)
    assert_same(found[1], found[2], ROUNDING)


def parallelogram():
    """Of rods of 1 m; it lies flat at zero angles."""
    s = bough.System("parallelogram", gravity=(0, 0, -G))
    rod = {"mass": 1.0, "com": (0.5, 0, 0), "inertia": (0.01, 0.1, 0.1)}
    s.body("crank", joint=bough.Revolute("y"), **rod)
    s.body("coupler", parent="crank", at=(1, 0, 0), joint=bough.Revolute("y"), **rod)
    s.body("rocker", at=(1, 0, 0), joint=bough.Revolute("y"), **rod)
    s.loop("pin", joint=bough.PointOnLine("y"), a=bough.Frame("coupler", at=(1, 0, 0)), b=bough.Frame("rocker", at=(1, 0, 0)))
    return s.compile()


def test_almost_flat():
    """However near to the singular position, accelerations of forward dynamics are those that the loops' forces can give."""
    model, angle = parallelogram(), np.append(0.0, 10.0**np.arange(-10, 0))
    q, v = angle[:, None]*(1, -1, 1), np.tile([0.7, -0.7, 0.7], (len(angle), 1))
    rank = model.internal_loads(q, v, model.forward_dynamics(q, v), cut=["coupler", "pin"]).rank
    assert set(rank) == {11, 12}
    assert (np.diff(rank) >= 0).all()


def test_a_loop_that_falls_freely_carries_nothing():
    """All generalized forces cancel: what rounding leaves of them is no missing torque."""
    s = bough.System("falling", gravity=(3, 2, -G))
    s.body("frame", joint=bough.Free(q0=(0, 0, 0, 0.1, 0.2, 0.3, 0.9)), mass=3.7, com=(0.1, 0.2, 0.3), inertia=(1, 2, 2.5))
    s.body("arm", parent="frame", joint=bough.Revolute("y"), mass=1.3, com=(0.5, 0, 0.1), inertia=(0.1, 0.2, 0.2))
    s.loop("strut", joint=bough.Distance(2**0.5), a=bough.Frame("frame", at=(0, 0, 1)), b=bough.Frame("arm", at=(1, 0, 0)))
    model = s.compile()
    a = model.forward_dynamics(model.q0, model.v0)
    loads = model.internal_loads(model.q0, model.v0, a, cut=["arm", "strut"])
    assert_same(loads.values, np.zeros((2, 6)), ROUNDING, scale=5*G)


def test_many_states_of_a_loop():
    """A parallelogram that lies flat in some states, where the force along it is open, and is as in each state alone."""
    model, angle = parallelogram(), np.array([0.0, 0.5, 0.0, 0.9, -0.4])
    q, v = angle[:, None]*(1, -1, 1), np.zeros((5, 3))
    a = model.forward_dynamics(q, v)
    many = model.internal_loads(q, v, a, cut=["coupler", "pin"])
    assert many.rank.tolist() == [11, 12, 11, 12, 12]
    for i in range(5):
        one = model.internal_loads(q[i], v[i], a[i], cut=["coupler", "pin"])
        assert one.rank == many.rank[i]
        assert one.determined.tolist() == many.determined[i].tolist()
        assert_same(many.least[i], one.least, ROUNDING)
        assert_same(many[one.names[0]][i, [4, 5]], one["coupler"][[4, 5]], ROUNDING)
    with pytest.raises(bough.StateError, match=r"in state 0: .* the force along the line between 'coupler' and 'pin'"):
        many.component("pin", "force", "x")


def test_what_still_joins_the_parts():
    model = closed("four-bar, line").model
    for cut, words in ((["coupler"], "cut through 'coupler': it does not part the system, 'crank' and 'coupler' are still "
                                     "joined by 'crank', 'rocker', 'pin'; put one of these into the cut too"),
                       (["crank", "coupler", "pin"], "three or more parts in a ring")):
        with pytest.raises(bough.StateError, match=words):
            model.internal_loads(model.q0, model.v0, np.zeros(3), cut=cut)
