"""Small systems for runs with events, and the ways to run them."""
import numpy as np

import bough
from bough.integrate import integrate
from tests.support.tolerance import STEPPED

# how a run goes, and how far its times and states may be off: rk4 is exact where motions are polynomials of degree 3 or less, but
# for rounding (speeds of up to 10 m/s); each of the other methods' steps may be off by rtol, 1e-9, and there are some
WAYS = {"rk4": {"dt": 0.01}, "dopri5": {}, "radau": {}}
OFF = {"rk4": 10*STEPPED, "dopri5": 1e-8, "radau": 1e-8}


def run(system, method="rk4", until=1.0, **options):
    return integrate(system.compile(), method=method, until=until, **(WAYS[method] | options))


def block(gravity=0.0, mass=2.0, **joint):
    """A block on a vertical slide."""
    s = bough.System("block", gravity=(0, 0, gravity))
    s.body("b", joint=bough.Prismatic("z", **joint), mass=mass)
    return s


def satellite(wheel=True):
    """A floating bus with a driven wheel and two limbs of several joints, all of it moving."""
    s = bough.System("satellite")
    s.body("bus", joint=bough.Free(v0=(0.1, -0.2, 0.3, 0.2, 0.1, -0.3)), mass=20.0, com=(0.1, 0, 0), inertia=(2, 3, 4))
    s.body("boom", parent="bus", at=(0.5, 0, 0), joint=bough.Revolute("z", v0=0.7), mass=3.0, com=(0.5, 0.1, 0),
           inertia=(0.1, 0.5, 0.5))
    s.body("wrist", parent="boom", at=(1, 0, 0), joint=bough.Universal("xy", v0=(0.4, -0.5)), mass=1.0, com=(0.2, 0, 0.1),
           inertia=(0.05, 0.06, 0.07))
    s.body("mast", parent="bus", at=(0, 0.5, 0), joint=bough.Spherical(v0=(0.3, 0.2, 0.6)), mass=2.0, com=(0, 0.4, 0),
           inertia=(0.3, 0.05, 0.3))
    if wheel:
        s.wheel("rw", body="bus", axis=(1, 1, 0), inertia=0.02, speed=50.0, torque=0.0)
    return s


def parts(model, x):
    """q, v and wheel speeds of recorded states."""
    return np.split(np.asarray(x), [model.nq, model.nq + model.nv], axis=-1)
