"""Floating systems whose relative motions are given, and states of them."""
import numpy as np

import bough
from tests.support.random_systems import random_state, random_system

EULER = bough.Joint("xyz", "xyz")
BASES = {"free": bough.Free(), "euler": EULER, "other euler": bough.Joint(["x", (0, 1, 0.3), "z"], "zxz"), "held free": None}


def random_motion(rng):
    """One of the motions that a coordinate can be prescribed by."""
    kind = rng.integers(3)
    if kind == 0:
        return bough.motion.Polynomial(rng.normal(size=5))
    if kind == 1:
        return bough.motion.Harmonics([(rng.normal(), rng.uniform(0.5, 3.0), rng.normal())], mean=rng.normal())
    return bough.motion.Rate(rng.normal(), start=rng.normal())


def given_joint(rng, joint, unknown=()):
    """A joint with all its coordinates prescribed or locked, but those that are unknown."""
    entries = [None if i in unknown else "locked" if joint.spherical or rng.random() < 0.2 else random_motion(rng)
               for i in range(joint.n_v)]
    slides = len(joint.translations)
    if joint.spherical:
        entries[:slides] = [random_motion(rng) for _ in range(slides)]
    return joint.model_copy(update={"motion": tuple(entries)}) if joint.n_v else joint


def given_system(rng, n=8, *, base="free", unknown=(), massless=0.15, **keywords):
    """A random tree on a floating base, all of it given but the base's joint, and the first coordinates of bodies `unknown`."""
    system = random_system(rng, n, root="free", massless=massless, **keywords)
    held = bough.System(system.name, gravity=system.gravity)
    for i, body in enumerate(system.bodies.values()):
        joint = BASES[base] or bough.Free() if i == 0 else given_joint(rng, body.joint, (0,) if i in unknown else ())
        held.body(body.name, parent=body.parent, joint=joint, at=body.at, orient=body.orient, mass=body.mass, com=body.com,
                  inertia=body.inertia)
    if base == "held free":                            # can be locked, and is therefore not one hinge
        held.event("later", at=1e9, do=[bough.Lock("b0")])
    return held


def states(model, rng, n=None):
    """Random states at which what is prescribed is where it is prescribed, some time t, and torques."""
    q, v = random_state(model, rng, n)
    t = float(rng.uniform(0.0, 2.0))
    if model.system.bodies["b0"].joint.rotations not in ("spherical",):
        q[..., 4] = rng.uniform(0.3, 1.2)              # away from the base's singular attitude
    q, v = model.follow(q, v, t)
    return q, v, rng.normal(size=np.shape(v)), t
