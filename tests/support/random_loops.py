"""Closures between bodies of a tree at a state where they are closed."""
import numpy as np
from scipy.spatial.transform import Rotation

import bough
from tests.support.flexible_trees import turning_nodes
from tests.support.random_systems import independent_axes, random_axis, random_rotation

KINDS = ("weld", "revolute", "spherical", "universal", "prismatic", "cylindrical", "planar", "line", "plane", "distance", "general")


def random_closure(rng, kind):
    if kind == "line":
        return bough.PointOnLine(random_axis(rng))
    if kind == "plane":
        return bough.PointOnPlane(random_axis(rng))
    if kind == "distance":
        return bough.Distance(rng.uniform(0.3, 1.0))
    if kind == "universal":
        return bough.Universal(independent_axes(rng, 2))
    if kind == "general":
        return bough.Joint(translations=independent_axes(rng, 1), rotations=independent_axes(rng, rng.integers(0, 3)))
    named = {"weld": bough.Weld, "spherical": bough.Spherical, "planar": lambda: bough.Planar("zx")}
    axes = {"revolute": bough.Revolute, "prismatic": bough.Prismatic, "cylindrical": bough.Cylindrical}
    return axes[kind](random_axis(rng)) if kind in axes else named[kind]()


def random_place(rng, system, name):
    """A body, or one of the nodes of a flexible one."""
    flexible = None if name == "world" else system.bodies[name].flexible
    if flexible is not None and (flexible.inboard is None or rng.random() < 0.8):
        return bough.Frame(name, node=str(rng.choice(turning_nodes(flexible))))
    return bough.Frame(name)


def joint_pose(rng, joint):
    """Where a joint's outer frame may be in its inner one."""
    if isinstance(joint, bough.Distance):
        return rng.normal(size=3), Rotation.random(random_state=rng)
    slide = sum((rng.uniform(-0.3, 0.3)*np.asarray(axis) for axis in joint.translations), np.zeros(3))
    if joint.spherical:
        return slide, Rotation.random(random_state=rng)
    turn = Rotation.identity()
    for axis in joint.rotations:
        turn = turn*Rotation.from_rotvec(rng.uniform(-1, 1)*np.asarray(axis))
    return slide, turn


def closing_frames(rng, model, poses, ends, joint):
    """Frames on two bodies that a joint can hold where the bodies are."""
    a, b = (random_place(rng, model.system, end) for end in ends)
    a = bough.Frame(a.body, at=rng.uniform(-0.3, 0.3, 3), orient=random_rotation(rng), node=a.node)
    frame_a, frame_b, (slide, turn) = poses.frame(a), poses.frame(b), joint_pose(rng, joint)
    x_a, R_a, x_b, R_b = frame_a.position[0], frame_a.attitude[0], frame_b.position[0], frame_b.attitude[0]
    at = R_b.T @ (x_a + R_a @ slide - x_b)
    return a, bough.Frame(b.body, at=at, orient=R_b.T @ R_a @ turn.as_matrix(), node=b.node), float(np.linalg.norm(slide))


def random_loop(rng, model, poses, ends, kind):
    """A loop of this kind between two bodies, closed where they are: its words, and how many rows it holds."""
    joint = random_closure(rng, kind)
    a, b, length = closing_frames(rng, model, poses, ends, joint)
    if kind == "distance":
        return {"joint": bough.Distance(length), "a": a, "b": b}, 1
    return {"joint": joint, "a": a, "b": b}, 6 - joint.n_v
