"""Internal loads: what is transmitted through joints, loops, and cuts that part the system in two.

In a tree every joint's load follows from the motion of what it carries [B 3]. Where loops are closed, their forces x follow from

    J^T x + S y = needed - tau          x in SI units; S: columns of what is held or driven by torques y that nobody knows

and the joints' loads with them. Of redundant loops the null space of [J^T S] stays open: forces that hold each other and move
nothing. A cut's loads are then those with the least sum of squares, and its void is what such forces add to it.
"""
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bough.analyze.body_motion import Bodies, Frames, bodies_in
from bough.analyze.cut_loads import CutLoads
from bough.analyze.cuts import Connection, read_cut
from bough.analyze.equations_of_motion import inverse
from bough.analyze.loop_assembly import named_speeds
from bough.analyze.loop_forces import RowSpace, free_wrenches, holding_rows, loop_wrenches, with_loop_wrenches
from bough.analyze.reactions import hinge_loads
from bough.compile.batch import Batch, rows
from bough.compile.compiled_model import CompiledModel
from bough.compile.state_layout import Floats
from bough.describe import Frame
from bough.errors import StateError
from bough.sweeps.fronts import REDUNDANT

AXES = ("child", "parent", "world")
MISSING = 1e-6              # of the joint torques: what neither torques nor loops give, more of which is an error


@dataclass(frozen=True)
class Transmitted:
    """The loads through all joints and loops in a batch of states."""
    bodies: Bodies
    reactions: Floats               # (batch, bodies, 6)       of the joints, in the bodies' axes
    loops: dict[str, Floats]        # (batch, 6, 1) by loop    on b, at b's frame, in world axes
    stresses: dict[str, Floats]     # (batch, 6, n) by loop    unit forces that hold each other, likewise


def internal_loads(model: CompiledModel, batch: Batch, a: Floats, *, cut: str | Sequence[str], at: ArrayLike, axes: str,
                   driven: Sequence[str]) -> CutLoads:
    """See Model.internal_loads."""
    chosen, point = read_cut(model.system, cut), rows("at", at, 3, 1, "xyz")[0]
    if axes not in AXES:
        raise StateError(f"axes is {axes!r}; give 'child', 'parent' or 'world'")
    sent = transmitted(model, batch, a, driven)
    loads, stresses, points, attitudes = [], [], [], []
    for connection, sign in zip(chosen.connections, chosen.signs, strict=True):
        parent, child = ends(model, sent.bodies, connection)
        arm = np.broadcast_to(child.attitude @ point, (batch.n, 3))
        turn = np.broadcast_to({"child": child.attitude, "parent": parent.attitude, "world": np.eye(3)}[axes], (batch.n, 3, 3))
        load, stress = (sign*turned(shifted(wrenches, -arm), turn) for wrenches in through(model, sent, connection, child.position))
        loads.append(load[..., 0])
        stresses.append(stress)
        points.append(child.position + arm)
        attitudes.append(turn)
    length = max((closure.size for closure in model.tables.fronts.closures), default=1.0)
    least, void = least_loads(np.stack(loads, axis=1), np.stack(stresses, axis=1), length)
    return CutLoads(chosen.names, chosen.on, axes, batch.single, length, least, np.stack(points, axis=1),
                    np.stack(attitudes, axis=1), void)


def transmitted(model: CompiledModel, batch: Batch, a: Floats, driven: Sequence[str]) -> Transmitted:
    """The loads through all joints and loops, and those that hold each other."""
    bodies, held, stresses = bodies_in(model, model.changed(batch, wrenches={})), dict[str, Floats](), dict[str, Floats]()
    driven_speeds = ~model.free | named_speeds(model, driven, "driven")
    loaded = model.changed(batch, torques=False, keep_welds=True)
    if model.system.loops:
        tau, plain = batch.inputs.tau, model.changed(batch, torques=False)
        needed, bias = inverse(model, plain, a), inverse(model, plain, 0*a)
        size = np.abs(tau).max(axis=1) + np.abs(needed).max(axis=1) + np.abs(bias).max(axis=1)
        forces, void = holding_forces(model, batch, needed - tau, size, driven_speeds)
        loaded = with_loop_wrenches(model, batch, forces)
        known, stresses = free_wrenches(model, bodies), wrench_columns(model, bodies, void)
        held = {name: wrench + known[name][..., None] for name, wrench in wrench_columns(model, bodies, forces[..., None]).items()}
    return Transmitted(bodies, hinge_loads(model, loaded, a), held, stresses)


def holding_forces(model: CompiledModel, batch: Batch, needed: Floats, size: Floats,
                   driven: NDArray[np.bool_]) -> tuple[Floats, Floats]:
    """(batch, rows): forces of the loops that, with what drives some joints, give the generalized forces needed; and
    (batch, rows, n): those that give none. `size` (batch,) is that of all generalized forces, before they cancel."""
    J = holding_rows(model, model.batch(batch.q))
    motors = np.broadcast_to(np.eye(model.nv)[driven], (len(J), driven.sum(), model.nv))
    columns = np.concatenate([J, motors], axis=1)
    space, n = RowSpace.of(columns), J.shape[1]
    reach = space.right*(space.values > MISSING**2*space.values.max(axis=1, keepdims=True, initial=0.0))[..., None]
    missing = needed - np.einsum("bnv,bn->bv", reach, np.einsum("bnv,bv->bn", reach, needed))       # no force could give it
    if (np.abs(missing) > MISSING*size[:, None]).any():
        state = int((np.abs(missing).max(axis=1)/size.clip(np.finfo(float).tiny)).argmax())
        i = int(np.abs(missing[state]).argmax())
        raise StateError(f"a asks for {missing[state, i]:.3g} more in '{model.names.v[i]}' than tau and the loops give; give the "
                         "tau that goes with it, or name in `driven` the joints whose torques are not known")
    forces = space.least(needed)
    return forces[:, :n], space.void[:, :n]


def wrench_columns(model: CompiledModel, bodies: Bodies, forces: Floats) -> dict[str, Floats]:
    """(batch, 6, n) by loop: [moment, force] on b, at b's frame, in world axes, of n sets of forces (batch, rows, n)."""
    closures = model.tables.fronts.closures
    sets = [loop_wrenches(model, bodies, closures, forces[..., i]) for i in range(forces.shape[2])]
    none = np.zeros((len(forces), 6, 0))
    return {c.name: np.concatenate([none, *(each[c.name][..., None] for each in sets)], axis=2) for c in closures}


def through(model: CompiledModel, sent: Transmitted, connection: Connection, point: Floats) -> tuple[Floats, Floats]:
    """(batch, 6, 1) and (batch, 6, n): the load on the child, and unit loads that may be added, at its origin in world axes."""
    if connection.is_loop:
        return sent.loops[connection.name], sent.stresses[connection.name]
    k = model.body_index(connection.child)
    load = turned(sent.reactions[:, k, :, None], sent.bodies.attitude[:, k].transpose(0, 2, 1))
    stress = np.zeros((len(load), 6, max((each.shape[2] for each in sent.stresses.values()), default=0)))
    outer = outboard(model, connection.child)
    for name, wrench in sent.stresses.items():              # what carries all that hangs on the joint: minus the loops' on it
        loop = model.system.loops[name]
        sign = int(loop.a.body in outer) - int(loop.b.body in outer)
        if sign:
            stress = stress + sign*shifted(wrench, sent.bodies.frame(loop.b).position - point)
    return load, stress


def outboard(model: CompiledModel, body: str) -> set[str]:
    """A body and all that hangs on it."""
    found, before = {body}, 0
    while len(found) > before:
        before = len(found)
        found |= {other.name for other in model.system.bodies.values() if other.parent in found}
    return found


def ends(model: CompiledModel, bodies: Bodies, connection: Connection) -> tuple[Frames, Frames]:
    """The frames of the parent (a) and of the child (b) at a joint or loop."""
    if connection.is_loop:
        loop = model.system.loops[connection.name]
        return bodies.frame(loop.a), bodies.frame(loop.b)
    k, body = model.body_index(connection.child), model.system.bodies[connection.child]
    parent = bodies.frame(Frame(connection.parent, node=body.node))
    return parent, Frames(bodies.position[:, k], bodies.velocity[:, k], bodies.attitude[:, k], bodies.rate[:, k])


def shifted(wrenches: Floats, arm: Floats) -> Floats:
    """Columns [moment, force] (batch, 6, n) about a point from which the arm (batch, 3) leads to the old one."""
    moment, force = np.split(wrenches, 2, axis=1)
    return np.concatenate([moment + np.cross(arm[:, :, None], force, axis=1), force], axis=1)


def turned(wrenches: Floats, attitude: Floats) -> Floats:
    """Columns [moment, force] (batch, 6, n) from world axes into those of the attitude (batch, 3, 3)."""
    parts = wrenches.reshape(len(wrenches), 2, 3, wrenches.shape[2])
    return np.einsum("bij,bcin->bcjn", attitude, parts).reshape(wrenches.shape)


def least_loads(loads: Floats, stresses: Floats, length: float) -> tuple[Floats, Floats]:
    """Loads (batch, connections, 6) less what may be added to them, and an orthonormal basis of that; moments over length."""
    scale = np.repeat([length, 1.0], 3)
    n, connections, _, sets = stresses.shape
    flat = (stresses/scale[:, None]).reshape(n, 6*connections, sets)
    basis, sizes, _ = np.linalg.svd(flat, full_matrices=False)
    open_ = sizes > np.sqrt(REDUNDANT)                      # the stresses are of unit forces
    void = (basis*open_[:, None, :])[:, :, open_.any(axis=0)]
    scaled = (loads/scale).reshape(n, 6*connections)
    scaled = scaled - np.einsum("bin,bn->bi", void, np.einsum("bin,bi->bn", void, scaled))
    return scaled.reshape(loads.shape)*scale, void.reshape(*loads.shape, void.shape[2])
