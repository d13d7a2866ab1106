"""Small systems to integrate."""
import numpy as np

import bough


def pendulum(length=1.0, gravity=9.81):
    """A point mass on a massless rod."""
    s = bough.System("pendulum", gravity=(0, 0, -gravity))
    s.body("bob", joint=bough.Revolute("y"), mass=2.0, com=(0, 0, -length))
    return s.compile()


def floating_arm(gravity=(0, 0, 0)):
    """A free base with a ball, a universal and a slider outboard: every kind of coordinate."""
    s = bough.System("floating arm", gravity=gravity)
    s.body("base", joint=bough.Free(), mass=10.0, com=(0.1, 0, 0), inertia=(2.0, 3.0, 4.0))
    s.body("upper", parent="base", joint=bough.Spherical(), at=(0.5, 0, 0), mass=3.0, com=(0.3, 0, 0.1), inertia=(0.1, 0.2, 0.25))
    s.body("lower", parent="upper", joint=bough.Universal("yz"), at=(0.6, 0, 0), mass=2.0, com=(0.2, 0.1, 0),
           inertia=(0.05, 0.1, 0.12))
    s.body("tip", parent="base", joint=bough.Prismatic((1, 1, 0)), at=(0, 0.5, 0), mass=1.0, com=(0, 0, 0.1),
           inertia=(0.02, 0.03, 0.04))
    return s.compile()


def start_of(model, seed=0):
    """A moving state with unit quaternions."""
    rng = np.random.default_rng(seed)
    q, v = rng.uniform(-0.5, 0.5, model.nq), rng.normal(size=model.nv)
    for at in model.quaternions:
        q[at:at + 4] /= np.linalg.norm(q[at:at + 4])
    return q, v


def split(model, x):
    """q and v of recorded states."""
    return x[..., :model.nq], x[..., model.nq:model.nq + model.nv]


def energy(model, x):
    q, v = split(model, x)
    return model.kinetic_energy(q, v) + model.potential_energy(q)
