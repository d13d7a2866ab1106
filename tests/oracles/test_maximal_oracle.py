"""The witness itself, on what has a closed form or is a tree that Pinocchio knows."""
from functools import lru_cache

import numpy as np
import pytest

import bough
from bough.bench.mechanisms import four_bar_chain, four_bar_states
from tests.support import maximal
from tests.support.compare import assert_within, loop_rounding, solving
from tests.support.mechanisms import (
    CUTS,
    DOWN,
    JOINTS,
    MECHANISMS,
    any_state,
    cut_elsewhere,
    four_bar,
    lump,
    n_four_bar,
    rod,
    two_bodies as joined,
)
from tests.support.peers import peer
from tests.support.tolerance import CANCELLING, FORMULA, PRODUCTS, SWEEP, differences, roundings

g = 9.81


def solved(system, q, v, tau=None):
    """The tree's accelerations, and the solution."""
    poses, velocities, _ = maximal.motion(system, q, v)
    solution = maximal.solve(system, poses, velocities, tau)
    return maximal.joint_accelerations(system, q, v, solution.accelerations), solution


def largest(dictionary):
    return max(np.abs(value).max() for value in dictionary.values())


def differ(one, other):
    return max(np.abs(one[name] - other[name]).max() for name in one)/max(largest(one), 1e-300)


# ---- trees -----------------------------------------------------------------------------------------------------------------
def test_pendulum():
    """(m l^2 / 3) q'' = m g l / 2 cos q + tau - k (q - rest) - c q' for a rod that points along x at q = 0, about y."""
    s = bough.System("pendulum", gravity=DOWN)
    bar = {**rod(1.2, 2.0), "inertia": (0, 2.0*1.2**2/12, 2.0*1.2**2/12)}
    s.body("rod", joint=bough.Revolute("y", stiffness=3.0, rest=0.2, damping=0.5, torque=0.7), **bar)
    q, v, tau = 0.6, 1.3, 0.9
    want = (2.0*g*0.6*np.cos(q) + tau + 0.7 - 3.0*(q - 0.2) - 0.5*v)/(2.0*1.2**2/3)
    assert solved(s, [q], [v], [tau])[0] == pytest.approx(want, rel=SWEEP)


def test_double_pendulum():
    """Point masses m, M on massless rods l, L; the textbook's equations, in absolute angles from the vertical."""
    m, M, l, L = 1.0, 2.0, 0.7, 1.1
    s = bough.System("double pendulum", gravity=DOWN)
    s.body("one", joint=bough.Revolute("y"), mass=m, com=(0, 0, -l))
    s.body("two", parent="one", at=(0, 0, -l), joint=bough.Revolute("y"), mass=M, com=(0, 0, -L))
    t, p, t1, p1 = 0.5, -0.8, 1.1, -2.0
    A = [[(m + M)*l, M*L*np.cos(t - p)], [l*np.cos(t - p), L]]
    b = [-M*L*p1**2*np.sin(t - p) - (m + M)*g*np.sin(t), l*t1**2*np.sin(t - p) - g*np.sin(p)]
    second = np.linalg.solve(A, b)
    got = solved(s, [t, p - t], [t1, p1 - t1])[0]
    assert np.cumsum(got) == pytest.approx(second, rel=CANCELLING)


def test_free_gyrostat():
    """I omega' = -omega x (I omega + h) in body axes, and the mass center falls."""
    s, rng = bough.System("gyrostat", gravity=DOWN), np.random.default_rng(0)
    body = s.body("bus", joint=bough.Free(), **lump(rng))
    s.wheel("rw", body="bus", axis=(1, 2, 2), inertia=0.03, speed=200.0)
    q, v = any_state(s, rng)
    a, w, I = solved(s, q, v)[0], v[3:], np.array(body.inertia)
    h = 0.03*200.0*np.array([1, 2, 2])/3
    assert a[3:] == pytest.approx(np.linalg.solve(I, -np.cross(w, I @ w + h)), rel=CANCELLING)
    poses, velocities, accelerations = maximal.motion(s, q, v, a)
    C, (w, al) = poses["bus"][1], (velocities["bus"][:3], accelerations["bus"][:3])
    c = C @ np.array(body.com)
    error = CANCELLING*np.abs(accelerations["bus"]).max()
    assert accelerations["bus"][3:] + np.cross(al, c) + np.cross(w, np.cross(w, c)) == pytest.approx(np.array(DOWN), abs=error)


def test_driven_wheel():
    """A motor that turns a wheel turns the rest the other way: (I - I_w) omega' = -torque."""
    s = bough.System("spin-up")
    s.body("bus", joint=bough.Revolute("z"), mass=1.0, inertia=(2, 2, 2))
    s.wheel("rw", body="bus", axis="z", inertia=0.5, torque=0.3)
    assert solved(s, [0.3], [1.0])[0] == pytest.approx(-0.3/1.5, rel=SWEEP)


# ---- loops that have closed forms --------------------------------------------------------------------------------------------
def slider_crank_motion(t, r, l):
    """Slider's place, rod's angle about y and place of the rod's middle, of the crank's angle t (downwards from x, about y)."""
    p = -np.arcsin(r*np.sin(t)/l)
    return r*np.cos(t) + l*np.cos(p), p, r*np.cos(t) + l/2*np.cos(p), -r*np.sin(t) - l/2*np.sin(p)


@pytest.mark.parametrize("closing", ["prismatic", "revolute"])
def test_slider_crank(closing):
    """One motion, Lagrange: A(t) t'' + A'(t) t'^2 / 2 = tau - V'(t); derivatives of the closed-form motion by complex steps."""
    r, l, m, M, S = 0.3, 0.8, 1.0, 2.0, 1.5
    crank, bar = rod(r, m), rod(l, M)
    s = bough.System("slider-crank", gravity=DOWN)
    s.body("crank", joint=bough.Revolute("y"), **crank)
    s.body("rod", parent="crank", at=(r, 0, 0), joint=bough.Revolute("y"), **bar)
    block = {"mass": S, "inertia": (0.01, 0.02, 0.015)}
    t, t1, tau = -0.8, 4.0, 2.0
    x, p, *_ = slider_crank_motion(t, r, l)
    if closing == "prismatic":
        s.body("slider", parent="rod", at=(l, 0, 0), joint=bough.Revolute("y"), **block)
        s.loop("guide", joint=bough.Prismatic("x"), a=bough.Frame("world"), b=bough.Frame("slider"))
        q = [t, p - t, -p]
    else:
        s.body("slider", joint=bough.Prismatic("x"), **block)
        s.loop("wrist", joint=bough.Revolute("y"), a=bough.Frame("rod", at=(l, 0, 0)), b=bough.Frame("slider"))
        q = [t, p - t, x]
    q, v = maximal.assemble(s, q, [t1, 0, 0], hold=[0])

    def rates(t):                                               # of the closed-form motion by t
        dp = -r*np.cos(t)/(l*np.sqrt(1 - (r*np.sin(t)/l)**2))
        p = -np.arcsin(r*np.sin(t)/l)
        return -r*np.sin(t) - l*np.sin(p)*dp, dp, -r*np.sin(t) - l/2*np.sin(p)*dp, -r*np.cos(t) - l/2*np.cos(p)*dp

    def inertia(t):
        dx, dp, dX, dZ = rates(t)
        return m*r**2/4 + crank["inertia"][1, 1] + bar["inertia"][1, 1]*dp**2 + M*(dX**2 + dZ**2) + S*dx**2

    def height(t):
        return -m*g*r/2*np.sin(t) + M*g*slider_crank_motion(t, r, l)[3]

    slope, weight = (np.imag(f(t + 1e-30j))/1e-30 for f in (inertia, height))
    want = (tau - slope*t1**2/2 - weight)/inertia(t)
    a, solution = solved(s, q, v, [tau, 0, 0])
    assert a[0] == pytest.approx(want, rel=CANCELLING)
    assert solution.rows - solution.rank == 3
    assert solution.mismatch < FORMULA


@pytest.mark.parametrize("n", [1, 3, 8])
@pytest.mark.parametrize("angle", [0.0, 0.7, -2.2])
def test_parallel_windows(n, angle):
    """All uprights turn alike: ((n + 1)/3 + n) t'' = ((n + 1)/2 + n) g sin t."""
    s, _, v, *_ = n_four_bar(n)
    q = np.array([angle if name[0] == "v" else -angle for name in s.bodies])
    a, solution = solved(s, q, v)
    want = ((n + 1)/2 + n)/((n + 1)/3 + n)*g*np.sin(angle)
    assert a == pytest.approx([want if name[0] == "v" else -want for name in s.bodies], rel=CANCELLING, abs=CANCELLING)
    assert solution.violation < PRODUCTS*n
    assert solution.rows - solution.rank == 3*n


def test_mass_on_a_massless_rod():
    """Distance: a.n = -|v|^2 / l and the rod's tension is m (|v|^2 / l + g.n), n from the anchor to the mass."""
    s, l, m = bough.System("conical", gravity=DOWN), 1.5, 2.0
    s.body("bob", joint=bough.Free(), mass=m, inertia=(0.1, 0.2, 0.3))
    s.loop("string", joint=bough.Distance(l), a=bough.Frame("world", at=(0, 0, 2)), b=bough.Frame("bob"))
    n = np.array([2, 1, -2])/3
    v = np.cross(n, [1.0, 0.5, 2.0])
    a, solution = solved(s, np.array([*(l*n + [0, 0, 2]), 0, 0, 0, 1.0]), np.array([*v, 0, 0, 0]))
    tension = m*(v @ v/l + np.array(DOWN) @ n)
    assert a[:3] == pytest.approx(np.array(DOWN) - tension*n/m, rel=SWEEP)
    assert solution.wrenches["string"] == pytest.approx([0, 0, 0, *(-tension*n)], abs=CANCELLING)


def test_signs_of_the_wrench():
    """What holds a body at rest: [moment, force] on b at frame b in its axes, whichever frame is the world's."""
    turn = bough.Frame("body", at=(0.5, 0, 0), orient={"axis": "z", "degrees": 90})
    force = {}
    for order in ("world first", "body first"):
        s = bough.System("hung", gravity=DOWN)
        s.body("body", joint=bough.Free(), mass=3.0, inertia=(1, 1, 1))
        place = bough.Frame("world", at=(0.5, 0, 0), orient=turn.orient)
        a, b = (place, turn) if order == "world first" else (turn, place)
        s.loop("hold", joint=bough.Weld(), a=a, b=b)
        force[order] = solved(s, [0, 0, 0, 0, 0, 0, 1.0], np.zeros(6))[1].wrenches["hold"]
    want = [3*g*0.5*c for c in (1.0, 0, 0)] + [0, 0, 3*g]       # at (0.5, 0, 0): the moment 3 g 0.5 about y, which is frame b's x
    assert force["world first"] == pytest.approx(want, abs=CANCELLING)
    assert force["body first"] == pytest.approx([-w for w in want], abs=CANCELLING)


# ---- loops that could be joints of a tree -------------------------------------------------------------------------------------
@pytest.mark.parametrize("kind", [name for name in JOINTS if name not in ("gimbal", "distance")])
@pytest.mark.parametrize("seed", range(3))
def test_two_trees_and_a_loop_are_one_tree(kind, seed):
    """Two free bodies joined by a loop, against Pinocchio's tree of one free body that carries the other by the same joint."""
    rng, case = np.random.default_rng(seed), joined(JOINTS[kind](), seed)
    q, v = maximal.assemble(case.system, case.q, case.v)
    tree = cut_elsewhere(case.system, "tie", "other")
    assert not tree.system.loops
    tau = np.concatenate([rng.normal(size=6), np.zeros(6), rng.normal(size=1)])
    tree_q, tree_v = tree.state(case.system, q, v)
    pinocchio = peer("Pinocchio", tree.system)
    a = pinocchio.forward_dynamics(tree_q, tree_v, tree.torques(case.system, tau))
    poses, velocities, _ = maximal.motion(case.system, q, v)
    solution = maximal.solve(case.system, poses, velocities, tau)
    got = tree.carry(poses, velocities, solution.accelerations)[2]
    want = {name: pinocchio.motion(tree_q, tree_v, a, name).acceleration for name in got}
    bound = solving(pinocchio.mass_matrix(tree_q))
    assert differ(got, want) < bound
    load = pinocchio.reactions(tree_q, tree_v, a)[list(tree.system.bodies).index("arm")]      # of the joint that was the loop
    assert np.abs(solution.wrenches["tie"] - load).max() < bound*max(1.0, np.abs(load).max())


@pytest.mark.parametrize("name", CUTS)
def test_the_cut_does_not_matter(name):
    make, loop, cut = CUTS[name]
    case = make()
    q, v = maximal.assemble(case.system, case.q, case.v)
    other = cut_elsewhere(case.system, loop, cut)
    poses, velocities, _ = maximal.motion(case.system, q, v)
    here = maximal.solve(case.system, poses, velocities)
    poses, velocities, accelerations = other.carry(poses, velocities, here.accelerations)
    there = maximal.solve(other.system, poses, velocities)
    assert max(here.violation, there.violation, there.drift) < CANCELLING
    assert differ(there.accelerations, accelerations) < CANCELLING
    again = maximal.motion(other.system, *other.state(case.system, q, v))
    assert max(np.abs(again[0][body][0] - poses[body][0]).max() for body in poses) < SWEEP
    assert differ(again[1], velocities) < CANCELLING


# ---- loops that other engines know -----------------------------------------------------------------------------------------------
EXPRESSIBLE = ("four-bar, spherical", "double loop, spherical", "RSSR", "stewart", "closed chain", "limbed platform",
               "floating loop by weld", "floating loop by spherical", "chain closed by spherical", "two bodies by weld",
               "two bodies by spherical", "body on ground by weld", "body on ground by spherical")


@lru_cache
def engine_state(name):
    """A mechanism at a state that satisfies its loops, the forces along its speeds, the wrench of its wheel, our accelerations."""
    case, rng = MECHANISMS[name](), np.random.default_rng(1)
    s = case.system
    q, v = maximal.assemble(s, case.q, case.v)
    tau = rng.normal(size=len(v))
    spin = {wheel.body: wheel.inertia*wheel.speed*np.array(wheel.axis) for wheel in s.wheels.values()}
    poses, velocities, _ = maximal.motion(s, q, v)
    wrenches = {body: np.append(-np.cross(velocities[body][:3] @ poses[body][1], h), np.zeros(3)) for body, h in spin.items()}
    return s, q, v, tau, tau + maximal.spring_forces(s, q, v), wrenches, solved(s, q, v, tau)[0]


@pytest.mark.parametrize(("method", "tolerance"), [("dense", 1e-11), ("lcaba", 1e-8)])
@pytest.mark.parametrize("name", EXPRESSIBLE)
def test_pinocchio_agrees(name, method, tolerance):
    """Accelerations and loop forces by its two ways; lcaba works with large numbers and loses digits. Asked twice: it must not
    remember."""
    s, q, v, tau, force, wrenches, a = engine_state(name)
    pinocchio = peer("ClosedPinocchio", s)
    for _ in range(2):
        got = pinocchio.closed_dynamics(q, v, force, wrenches, method)
        assert np.abs(got - a).max() < tolerance*max(1.0, np.abs(a).max())
    loads, left = maximal.loop_forces(s, q, v, a, tau)
    assert left < CANCELLING
    theirs = pinocchio.constraint_forces(q, v, force, wrenches, method)
    assert max(np.abs(theirs[loop] - loads[loop]).max() for loop in loads) < tolerance*max(1.0, largest(loads))


@pytest.mark.parametrize("name", EXPRESSIBLE)
def test_mujoco_agrees(name):
    """Its loops are soft; extrapolated by four compliances they are hard, as well as the loops' condition lets them be: powers up
    to the third cancel, which leaves 0.01 of what softness does at most, and rounding over the least compliance of 1e-4, 1e-9."""
    s, q, v, _, force, wrenches, a = engine_state(name)
    turn = maximal.motion(s, q, v)[0]
    world = {body: np.append(turn[body][1] @ wrench[:3], np.zeros(3)) for body, wrench in wrenches.items()}
    got, scale = peer("Mujoco", s).closed_dynamics(q, v, force, world), max(1.0, np.abs(a).max())
    soft = peer("Mujoco", s).forward_dynamics(q, v, force, world)
    assert np.abs(got - a).max() < max(1e-9*scale, 0.01*np.abs(soft - a).max())


@pytest.mark.parametrize("n", [1, 5])
def test_engines_agree_on_the_tower(n):
    """The mechanism of the benchmark, whose loops are redundant."""
    s = four_bar_chain(n)
    for q, v, tau in zip(*four_bar_states(n, 3), strict=True):
        a, solution = solved(s, q, v, tau)
        assert (solution.violation, solution.rows - solution.rank) == (pytest.approx(0.0, abs=FORMULA), n)
        for method, tolerance in (("lcaba", 1e-10), ("dense", 1e-11)):
            got = peer("ClosedPinocchio", s).closed_dynamics(q, v, tau, method=method)
            assert np.abs(got - a).max() < tolerance*np.abs(a).max()


@pytest.mark.parametrize("engine", ["ClosedPinocchio", "Mujoco"])
def test_engines_refuse_other_loops(engine):
    with pytest.raises(NotImplementedError, match=r"loop 'pin'.* not by a revolute one"):
        peer(engine, four_bar("revolute").system)


# ---- both formulations, and counts ----------------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", MECHANISMS)
def test_tree_coordinates_agree(name):
    """The same accelerations from the tree's own equations; the counts of motions and of redundant directions."""
    case = MECHANISMS[name]()
    s, rng = case.system, np.random.default_rng(0)
    q, v = maximal.assemble(s, case.q, case.v)
    tau = rng.normal(size=len(v))
    M, f, J, c = maximal.tree_equations(s, q, v, tau)
    independent = maximal.rank(J)
    assert (len(v) - independent, len(J) - independent) == (case.motions, case.redundant)
    a, solution = solved(s, q, v, tau)
    unknown = maximal.least_norm(np.block([[M, -J.T], [J, np.zeros((len(J), len(J)))]]), np.append(f, c))
    assert_within(a, unknown[:len(v)], 2*loop_rounding(M, J, a, v, f).accelerations)
    forces, left = maximal.loop_forces(s, q, v, a, tau)
    assert left < CANCELLING
    if not case.redundant:
        assert max(np.abs(forces[loop] - solution.wrenches[loop]).max() for loop in forces) < CANCELLING*max(1.0, largest(forces))


def test_jets_are_derivatives():
    """Residuals' rates and seconds against differences along a path that bends."""
    s, q, v, *_ = four_bar("line")
    rng, h = np.random.default_rng(0), 1e-4
    a = rng.normal(size=len(v))
    loop = maximal.loop_constraints(s)[0]
    now = loop.residual(maximal.places(s, q, v, a))
    before, after = (loop.residual(maximal.places(s, q + t*v + t*t/2*a)).value for t in (-h, h))
    bound = differences(h, rate=10.0)                           # derivatives grow by twice the speeds, of at most 5
    assert now.rate == pytest.approx((after - before)/(2*h), abs=bound)
    assert now.second == pytest.approx((after - 2*now.value + before)/h**2, abs=bound + roundings(4)/h**2)        # four values


def test_what_it_does_not_know():
    s = bough.System("flexible")
    s.body("boom", joint=bough.Revolute("y"), flexible=bough.beam(4.0, EI=800, mass_per_length=1.5, modes=2))
    with pytest.raises(NotImplementedError, match="body 'boom' is flexible"):
        maximal.places(s, [0.0])
