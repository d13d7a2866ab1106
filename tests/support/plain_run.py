"""What the kernels are asked both as plain Python and compiled: models with all that there is, one state and four lanes.

`answers` is compared number by number (tests/kernels/test_plain.py); `runs` goes on where a comparison takes too long, and both are
what the coverage of the sweeps is measured on (`make coverage`).
"""
import contextlib

import numpy as np

import bough
from tests.support.given_motion import given_system, states
from tests.support.held_systems import random_motions, with_motions
from tests.support.mechanisms import MECHANISMS, bennett
from tests.support.random_systems import random_state, random_system
from tests.support.swept_outputs import swept


def loaded_systems():
    """A fixed tree with all that a model can hold, a floating one in orbit, one with flexible bodies of all kinds, one with loops,
    and one with force elements."""
    rng = np.random.default_rng(11)
    tree = random_system(rng, 5, root="gimbal", massless=0.3)
    heavy = [name for name, body in tree.bodies.items() if body.mass]
    tip = bough.Joint("xy", "z", stiffness=3.0, damping=0.1, torque=bough.TimeTable([0, 1], [0, 2]))
    tree.body("tip", parent="b2", joint=tip, mass=1.0, inertia=(0.1, 0.1, 0.1))
    tree.wheel("held", body=heavy[-1], axis=(1, 2, 3), inertia=1e-3, speed=100.0)
    tree.wheel("driven", body=heavy[0], axis="y", inertia=1e-3, torque=0.1)
    tree.wrench("push", body="b1", force=(1, 2, 3), at=(0.1, 0, 0), frame="world")
    floating = random_system(rng, 3, root="free", massless=0.0)
    floating.gravity = bough.CentralGravity(30.0, (20, 10, 30), (0, 1, 0))
    return tree.compile(), floating.compile(), flexible_system().compile(), looped_system().compile(), element_system().compile()


def flexible_system():
    """Cantilever and free-free modes, linearized and not, with loads at nodes."""
    rod = {"E": 7e9, "G": 3e9, "area": 4e-4, "Iy": 2e-8, "Iz": 3e-8, "J": 4e-8, "density": 2700.0, "elements": 4, "modes": 5}
    clamped, loose = bough.beam(1.0, **rod), bough.beam(1.0, boundary="free-free", damping=0.01, **rod)
    s = bough.System("flexible", gravity=(0, 1, -9.81))
    s.body("b1", joint=bough.Free(), mass=5.0, inertia=(1, 1, 1))
    s.body("b2", parent="b1", joint=bough.Revolute("z"), flexible=clamped, rest=(1e-3, 0, 0, 0, 0))
    s.body("b3", parent="b2", node="tip", joint=bough.Universal("yz"), flexible=loose)
    s.body("b4", parent="b2", node="tip", joint=bough.Revolute("y"), at=(0.1, 0, 0),
           flexible=bough.beam(1.0, variant="zeroth_order", damping=0.1*np.ones((5, 5)), **rod))
    s.body("b5", parent="b3", node="tip", mass=1.0, com=(0.1, 0, 0), inertia=(0.1, 0.1, 0.1))
    s.wheel("held", body="b5", axis="z", inertia=1e-3, speed=100.0)
    s.wrench("push", body="b4", node="tip", force=(1, 2, 3), frame="world")
    return s


def looped_system():
    """Loops through every kind of hinge, rigid and flexible, that share paths, with springs and dampers in them."""
    rod = {"E": 7e9, "G": 3e9, "area": 4e-4, "Iy": 2e-8, "Iz": 3e-8, "J": 4e-8, "density": 2700.0, "elements": 4, "modes": 3}
    light = {"mass": 1.0, "com": (0.1, 0, 0), "inertia": (0.1, 0.1, 0.1)}
    s = bough.System("loops", gravity=(0, 1, -9.81))
    s.body("b1", joint=bough.Free(), mass=5.0, inertia=(1, 1, 1))
    s.body("b2", parent="b1", joint=bough.Universal("yz"), flexible=bough.beam(1.0, boundary="free-free", **rod))
    s.body("b3", parent="b1", joint=bough.Spherical(), at=(0, 1, 0), **light)
    s.body("b4", parent="b2", node="tip", joint=bough.Joint("xy", "z"), **light)
    s.loop("cross", joint=bough.Universal("xz", stiffness=(3.0, 0.0), damping=0.1, torque=(0.0, 1.0)),
           a=bough.Frame("b3", at=(1, 0, 0)), b=bough.Frame("b4", at=(0, 1, 0)))
    s.loop("plate", joint=bough.PointOnPlane("z", stiffness=(2, 0, 0, 0, 0)), a=bough.Frame("world"),
           b=bough.Frame("b2", node="tip"))
    s.loop("rod", joint=bough.Distance(1.5), a=bough.Frame("b1", at=(0, -1, 0)), b=bough.Frame("b4"))
    return s


def element_system():
    """Force elements of all kinds; the cylinder is wet, dry and cut in some lanes."""
    s = bough.System("elements", gravity=(0, 0, -9.81))
    s.body("b1", joint=bough.Free(), mass=5.0, inertia=(1, 1, 1))
    s.body("b2", parent="b1", joint=bough.Universal("yz"), at=(0, 1, 0), mass=1.0, com=(0.1, 0, 0), inertia=(0.1, 0.1, 0.1))
    s.line("rope", a=bough.Frame("world", at=(1, 2, 3)), b=bough.Frame("b2", at=(1, 0, 0)), stiffness=3.0, length=2.5, damping=0.2,
           slack=True)
    s.line("spring", a="b1", b=bough.Frame("b2", at=(0, 1, 1)), stiffness=3.0, length=0.5)
    s.restoring("tether", body="b2", at=(0, 0, 1), stiffness=np.arange(36.0).reshape(6, 6), force=(1, 2, 3))
    s.buoyancy("hull", body="b1", sections=[(-1, 0.2, 0.2, 0.2), (0.2, 1, 0.2, 0.1)])
    s.bushing("mount", a="b1", b=bough.Frame("b2", at=(0, 0.2, 0)), stiffness=([8, 9, 4], 20.0), damping=(0.1, 0.5))
    return s


def answers():
    """Forward (both ways), inverse, mass matrix, reactions, kinematics: one state alone, and four lanes and a half; and M^-1 by the
    recursion over whole joints."""
    found = []
    for model in loaded_systems():
        rng = np.random.default_rng(12)
        q, v = random_state(model, rng, 6)
        for body in model.system.bodies.values():
            at = model.places[body.name][0] + body.joint.n_q
            q[:, at:at + body.n_modes] *= 1e-3
        a = rng.normal(size=v.shape)
        for rows in (0, slice(None)):
            state = q[rows], v[rows]
            found += [model.forward_dynamics(*state, a[rows], t=0.4, dynamics=method) for method in ("order-n", "dense")]
            found += [model.bias(*state, t=0.4) if model.system.loops else model.inverse_dynamics(*state, a[rows], t=0.4)]
            found += [model.reactions(*state, a[rows])]
            found += [model.mass_matrix(q[rows]), *model.frames(q[rows])]
            found += [model.jacobian(q[rows], model.names.bodies[-1], (0.1, 0, 0))]
            found += [model.velocity(*state, "b2"), model.momentum(*state), model.potential_energy(q[rows])]
            found += model.element_forces(*state).values()
            if model.nw:
                found += [model.wheel_accelerations(*state, a[rows], dynamics=method) for method in ("order-n", "dense")]
        found.append(model.operators(q[0], whole=True).inverse @ a[0, model.free])
    return found


KNOTTED = ("5-four-bar", "double loop, revolute", "quick return", "twin pins", "stewart", "structure", "limbed platform")


# ---- beyond what is compared -----------------------------------------------------------------------------------------------------
def held_systems():
    """Trees, flexible ones and loops with some coordinates locked or prescribed."""
    rng = np.random.default_rng(3)
    for system in (random_system(rng, 6, root="free"), flexible_system(), looped_system()):
        yield with_motions(system, random_motions(rng, system)).compile()


def ask_held():
    for model in held_systems():
        q, v = random_state(model, np.random.default_rng(4), 5)
        for body in model.system.bodies.values():
            at = model.places[body.name][0] + body.joint.n_q
            q[:, at:at + body.n_modes] *= 1e-3
        for rows in (0, slice(None)):
            for dynamics in ("order-n", "dense"):
                model.forward_dynamics(q[rows], v[rows], t=0.3, dynamics=dynamics)
            model.drive_forces(q[rows], v[rows], t=0.3)


def ask_cloud():
    """All given but the base, and some single hinges; wheels, a wrench and a line."""
    rng = np.random.default_rng(5)
    for base, unknown in (("free", ()), ("euler", (3,)), ("held free", (2, 4))):
        model = given_system(rng, 7, base=base, unknown=unknown, kinds=("revolute", "prismatic", "universal", "weld"))
        heavy = [name for name, body in model.bodies.items() if body.mass]
        model.wheel("driven", body=heavy[-1], axis="y", inertia=1e-3, torque=0.1)
        model.wrench("push", body=heavy[-1], force=(1, 2, 3))
        model.line("rope", a="world", b=heavy[0], stiffness=3.0, length=2.5)
        model = model.compile()
        for n in (None, 5):
            q, v, tau, t = states(model, rng, n)
            model.forward_dynamics(q, v, tau, t=t, dynamics="cloud")


def ask_mechanisms():
    """Every joint that can close a loop; loops that share paths, redundant ones, and one where rows must be sorted."""
    chosen = [MECHANISMS[name]() for name in MECHANISMS if name.startswith("floating") or name in KNOTTED]
    for case in [*chosen, bennett(1e-4)]:
        model = case.system.compile()
        q, v = model.assemble(case.q, case.v)
        for dynamics in ("order-n", "dense"):
            model.forward_dynamics(q, v, dynamics=dynamics)
        model.forward_dynamics(np.tile(q, (4, 1)), np.tile(v, (4, 1)))
        model.constraint_forces(q, v)


def ask_runs():
    """A few steps by every method; loops closed by projection and by Baumgarte; a coordinate that is locked on the way, a stop
    that is met, an event at a height, motions that are prescribed, a run that fails; all kinds of models."""
    s = bough.System("runs", gravity=(0, 0, -9.81))
    s.body("arm", joint=bough.Revolute("y", q0=0.4), mass=1.0, com=(0.5, 0, 0), inertia=(0.1, 0.1, 0.1))
    s.body("hand", parent="arm", at=(1, 0, 0), joint=bough.Universal("xy", q0=(0.1, 0.2)), mass=0.5, com=(0.2, 0, 0),
           inertia=(0.01, 0.01, 0.01))
    s.stop("floor", coordinate="arm.ry", above=0.405, stiffness=100.0, damping=1.0)
    s.event("catch", at=0.012, do=[bough.Lock("hand")])
    s.event("low", when="arm.ry", crosses=0.402, do=[bough.Release("hand")])
    model = s.compile()
    for method in ("euler-cromer", "rk4", "dopri5", "radau"):
        steps = {"dt": 4e-3} if method in ("euler-cromer", "rk4") else {}
        bough.simulate(model, until=0.02, method=method, **steps)
        bough.simulate(model, q0=[[0.4, 0.1, 0.2]]*5, until=0.02, method=method, **steps)
    for model in (*loaded_systems()[:3], next(held_systems())):
        for method in ("euler-cromer", "rk4", "dopri5"):
            bough.simulate(model, until=2e-4, method=method, **({} if method == "dopri5" else {"dt": 1e-4}))
    for system, rest in ((element_system(), {"rest": "rope"}), (loaded_systems()[1].system.copy(), {"coordinate": "b0.x"})):
        system.input("push", force="b2")
        system.input("change", **rest)
        bough.simulate(system, until=2e-4, dt=1e-4)
    fast = bough.System("fails")
    fast.body("bob", joint=bough.Prismatic("x", stiffness=1e9), mass=1.0)
    with contextlib.suppress(bough.SimulationError), np.errstate(all="ignore"):
        bough.simulate(fast.compile(), q0=[1.0], until=10.0, dt=0.1)
    case = MECHANISMS["four-bar, revolute"]()
    for stabilize in ("projection", "baumgarte"):
        for method in ("euler-cromer", "rk4"):
            bough.simulate(case.system.compile(), q0=case.q, v0=case.v, until=0.01, dt=5e-3, method=method, stabilize=stabilize)


def ask_ports():
    """Inputs of all kinds, and outputs of all kinds that are found inside a step."""
    for system, place in ((flexible_system(), bough.Frame("b3", node="tip")), (element_system(), bough.Frame("b2", at=(0, 0, 1)))):
        system.input("push", force=place)
        system.input("twist", moment=place, axis=(1, 2, 3), axes="world")
        system.input("along", coordinate=system.compile().names.v[0])
        for kind in ("position", "attitude", "velocity", "angular_velocity"):
            system.output(kind, **{kind: place}, axes="b1")
        if system.lines:
            system.input("winch", rest="rope")
            system.output("tension", tension="spring")
        else:
            system.output("deflection", deflection=place)
        model = system.compile()
        q, v = random_state(model, np.random.default_rng(8), 5)
        for rows in (slice(0, 1), slice(None)):
            there = 1e-3*q[rows] if model.tables.tree.modal else q[rows]
            batch = model.batch(there, v[rows], inputs={"push": (1, 2, 3), "twist": 0.5})
            swept(model, batch, list(system.outputs))
            model.forward_dynamics(batch.q, batch.v, inputs={"push": (1, 2, 3), "along": 0.2})


def ask_operators():
    for model, size in ((flexible_system().compile(), 1e-3), (random_system(np.random.default_rng(6), 6).compile(), 1.0)):
        q, v = random_state(model, np.random.default_rng(7))
        for body in model.system.bodies.values():
            at = model.places[body.name][0] + body.joint.n_q
            q[at:at + body.n_modes] *= size
        for whole in (False, True):
            ops = model.operators(q, v, whole=whole)
            ops.inverse @ v[model.free]
            ops.mass_matrix @ v


def runs():
    """All of it."""
    for ask in (answers, ask_held, ask_cloud, ask_mechanisms, ask_runs, ask_ports, ask_operators):
        yield ask.__name__, ask
