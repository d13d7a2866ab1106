"""Systems with force elements, and the same without them."""
import numpy as np

import bough

SPAR = [(-120.0, -12.0, 9.4, 9.4), (-12.0, -4.0, 9.4, 6.5), (-4.0, 10.0, 6.5, 6.5)]          # of OC3 Hywind, draft 120 m
GRAVITY, WATER, MASS = 9.80665, 1025.0, 8.22e6
COUPLED = np.diag([70.0, 80.0, 90.0, 40.0, 50.0, 60.0]) + np.array([[3.0*i - 2.0*j for j in range(6)] for i in range(6)])
ACROSS = {"a": bough.Frame("tool", at=(0.2, -0.1, 0.3)), "b": bough.Frame("arm", at=(0.4, 0, 0.1))}
MOORED = {"a": bough.Frame("world", at=(3.0, 1.0, -2.0)), "b": bough.Frame("plate", at=(0.1, 0.5, 0))}


def chain(elements=lambda s: None, gravity=(0, 0, -GRAVITY)):
    """A floating body, a slider with turns, a plate welded to it, and a ball: every kind of hinge on the way inward."""
    s = bough.System("chain", gravity=gravity)
    substance = {"mass": 2.0, "com": (0.1, 0.2, 0), "inertia": (0.3, 0.4, 0.5)}
    same = {"at": (0.3, 0.1, 0.2), "orient": {"axis": "y", "degrees": 30}} | substance
    s.body("bus", joint=bough.Free(), **same)
    s.body("sled", parent="bus", joint=bough.Joint("xz", "zyx"), **same)
    s.body("plate", parent="sled", at=(0.2, 0, 0.4), orient={"axis": "x", "degrees": 70}, mass=1.0, inertia=(1, 1, 1))
    s.body("tool", parent="plate", joint=bough.Spherical(), **same)
    s.body("arm", joint=bough.Revolute((1, 1, 0)), **same)
    elements(s)
    return s


def add_lines(s):
    """Between two branches, to the world, within one branch, on a welded body."""
    s.line("across", **ACROSS, stiffness=30.0, length=0.5, damping=2.0)
    s.line("moored", **MOORED, stiffness=20.0, length=1.0)
    s.line("inside", a="bus", b=bough.Frame("tool", at=(0, 0, 0.4)), stiffness=50.0, length=2.5, damping=1.0, slack=True)


def add_restoring(s):
    s.restoring("tether", body="plate", at=(0.1, -0.2, 0.5), stiffness=COUPLED, force=(1, 2, 3), moment=(-1, 4, 2),
                rest=(0.5, -1, 2))
    s.restoring("soft", body="tool", at=(0.1, 0, 0), stiffness=(5, 6, 7, 0, 0, 0))


def add_buoyancy(s):
    s.buoyancy("float", body="sled", sections=[(-0.5, 0.2, 0.3, 0.3), (0.2, 0.9, 0.5, 0.5)], level=0.4)


def add_all(s):
    for add in (add_lines, add_restoring, add_buoyancy):
        add(s)


def spar(**keywords):
    """A rigid floating spar that is in balance upright, or nearly so."""
    s = bough.System("spar", gravity=(0, 0, -GRAVITY))
    s.body("spar", joint=bough.Free(**keywords), mass=MASS, com=(0, 0, -78), inertia=(8e9, 8e9, 1.6e8))
    s.buoyancy("hull", body="spar", sections=SPAR)
    return s
