"""Random systems to compare engines on: serial or branched, fixed or floating, every joint, massless bodies between."""
import numpy as np

import bough

JOINTS = ("revolute", "prismatic", "cylindrical", "universal", "planar", "gimbal", "spherical", "general", "weld")


def random_rotation(rng):
    """A random quaternion x, y, z, w."""
    q = rng.normal(size=4)
    return q/np.linalg.norm(q)


def random_axis(rng):
    return "xyz"[rng.integers(3)] if rng.random() < 0.4 else rng.normal(size=3)


def independent_axes(rng, n):
    """Random axes that are far from dependent."""
    turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    return [turn[i] + 0.2*rng.normal(size=3) for i in range(n)]


def random_joint(rng, kind):
    if kind == "weld":
        return bough.Weld()
    if kind == "revolute":
        return bough.Revolute(random_axis(rng))
    if kind == "prismatic":
        return bough.Prismatic(random_axis(rng))
    if kind == "cylindrical":
        return bough.Cylindrical(random_axis(rng))
    if kind == "universal":
        return bough.Universal(independent_axes(rng, 2))
    if kind == "planar":
        return bough.Planar("".join(rng.permutation(list("xyz"))[:2]))
    if kind == "gimbal":
        return bough.Gimbal(["xyz", "zxz", "yxy", "zyx"][rng.integers(4)])
    if kind == "spherical":
        return bough.Spherical()
    if kind == "free":
        return bough.Free()
    rotations = "spherical" if rng.random() < 0.3 else independent_axes(rng, rng.integers(1, 4))
    return bough.Joint(translations=independent_axes(rng, rng.integers(1, 4)), rotations=rotations)


def random_inertia(rng, mass):
    """Mass center and central inertia of a body of this mass, a few decimeters in size."""
    square = rng.uniform(0.01, 0.05, 3)
    turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    return rng.uniform(-0.2, 0.2, 3), mass*(turn*(square.sum() - square)) @ turn.T


def random_system(rng, n=8, *, root=None, branched=True, massless=0.1, kinds=JOINTS, gravity=True):
    """n bodies with random joints; `root` is the first joint's kind (random if None)."""
    s = bough.System("random", gravity=rng.normal(size=3)*5 if gravity else (0, 0, 0))
    for k in range(n):
        first = root or str(rng.choice([*(kind for kind in kinds if kind != "weld"), "free"]))
        kind = first if k == 0 else str(rng.choice(kinds))
        near = max(0, k - 3) if branched else max(0, k - 1)
        parent = f"b{rng.integers(near, k)}" if k else None
        mass = rng.uniform(0.5, 3.0)
        com, inertia = random_inertia(rng, mass)
        s.body(f"b{k}", parent=parent, joint=random_joint(rng, kind), at=rng.uniform(-0.4, 0.4, 3), orient=random_rotation(rng),
               mass=mass, com=com, inertia=(inertia + inertia.T)/2)
    return without_some_masses(s, rng, massless)


def without_some_masses(system, rng, share):
    """Make some inner bodies massless, as long as every joint still moves something."""
    for name in [body.parent for body in system.bodies.values() if body.parent]:
        if rng.random() < share:
            lighter = bough.System(system.name, gravity=system.gravity)
            for body in system.bodies.values():
                lost = {"mass": 0.0, "inertia": 0.0} if body.name == name else {"mass": body.mass, "inertia": body.inertia}
                lighter.body(body.name, parent=body.parent, joint=body.joint, at=body.at, orient=body.orient, com=body.com, **lost)
            try:
                lighter.compile()
            except bough.ModelError:
                continue
            system = lighter
    return system


def random_state(model, rng, n=None):
    """q with unit quaternions and gimbal angles away from lock, and v."""
    q, v = [], []
    for _ in range(n or 1):
        row = []
        for body in model.system.bodies.values():
            joint = body.joint
            spherical = joint.rotations == "spherical"
            row += list(rng.uniform(-1, 1, joint.n_q - 4*spherical))
            row += list(random_rotation(rng)) if spherical else []
            if joint.kind == "gimbal":
                row[-2] = rng.uniform(0.3, 1.2)
            row += list(rng.uniform(-1, 1, body.n_modes))
        q.append(row)
        v.append(rng.normal(size=model.nv))
    return (np.array(q), np.array(v)) if n else (np.array(q[0]), np.array(v[0]))
