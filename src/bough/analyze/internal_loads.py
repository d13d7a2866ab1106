"""Internal loads: loads through joints, loops, and cuts that split the system in two.

In a tree the load of every joint follows from the motion of the bodies outboard [B 3]. With closed loops, the loop forces x follow
from

    J^T x + S y = needed - tau          x in SI units; S: columns of held coordinates, and of those driven by unknown torques y

and the joint loads from them. For redundant loops the null space of [J^T S] remains undetermined: self-equilibrated forces. The
loads of a cut are then those with the least sum of squares, and its void is spanned by the loads of such forces.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bough.analyze.bodies import Bodies, Frames, bodies_in
from bough.analyze.cuts import Connection, CutLoads, read_cut
from bough.analyze.equations_of_motion import inverse
from bough.analyze.loop_constraints import named_speeds
from bough.analyze.loop_forces import RowSpace, free_wrenches, holding_rows, loop_wrenches, with_loop_wrenches
from bough.analyze.reactions import hinge_loads
from bough.blas import one_thread
from bough.compile.batch import Batch, rows
from bough.compile.compiled_model import CompiledModel
from bough.compile.layout import Floats
from bough.compile.loop_tables import REDUNDANT
from bough.describe import Frame
from bough.describe.part import depth_first
from bough.errors import StateError

AXES = ("child", "parent", "world")
MISSING = 1e-6              # relative to the joint torques: missing generalized force that is an error


class Transmitted(NamedTuple):
    """The loads through all joints and loops in a batch of states."""
    bodies: Bodies
    reactions: Floats               # (batch, bodies, 6)       of the joints, in the bodies' axes
    loops: dict[str, Floats]        # (batch, 6, 1) by loop    on b, at b's frame, in world axes
    stresses: dict[str, Floats]     # (batch, 6, n) by loop    self-equilibrated unit forces, likewise


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
    """The loads through all joints and loops, and the self-equilibrated ones."""
    bodies, held, stresses = bodies_in(model, model.changed(batch, wrenches={})), dict[str, Floats](), dict[str, Floats]()
    driven_speeds = ~model.free | named_speeds(model, driven, "driven")
    loaded = model.changed(batch, torques=False, keep_welds=True)
    if model.constrained:
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
    """(batch, rows): loop forces that, together with unknown driving torques, provide the needed generalized forces; and
    (batch, rows, n): self-equilibrated loop forces. `size` (batch,): magnitude of all generalized forces before they cancel."""
    J = holding_rows(model, model.batch(batch.q))
    motors = np.broadcast_to(np.eye(model.nv)[driven], (len(J), driven.sum(), model.nv))
    columns = np.concatenate([J, motors], axis=1)
    space, n = RowSpace.of(columns), J.shape[1]
    reach = space.right*(space.values > MISSING**2*space.values.max(axis=1, keepdims=True, initial=0.0))[..., None]
    missing = needed - np.einsum("bnv,bn->bv", reach, np.einsum("bnv,bv->bn", reach, needed))       # no force can provide it
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
    return {name: np.concatenate([none, *(each[name][..., None] for each in sets)], axis=2) for name in model.system.loops}


def through(model: CompiledModel, sent: Transmitted, connection: Connection, point: Floats) -> tuple[Floats, Floats]:
    """(batch, 6, 1) and (batch, 6, n): the load on the child, and undetermined unit loads, at its origin in world axes."""
    if connection.is_loop:
        return sent.loops[connection.name], sent.stresses[connection.name]
    k = model.body_index(connection.child)
    load = turned(sent.reactions[:, k, :, None], sent.bodies.attitude[:, k].transpose(0, 2, 1))
    stress = np.zeros((len(load), 6, max((each.shape[2] for each in sent.stresses.values()), default=0)))
    outer = {connection.child, *(body.name for body in depth_first(model.system, connection.child))}
    for name, wrench in sent.stresses.items():              # balance of everything outboard: minus the loads of the loops on it
        loop = model.system.loops[name]
        sign = int(loop.a.body in outer) - int(loop.b.body in outer)
        if sign:
            stress = stress + sign*shifted(wrench, sent.bodies.frame(loop.b).position - point)
    return load, stress


def ends(model: CompiledModel, bodies: Bodies, connection: Connection) -> tuple[Frames, Frames]:
    """The frames of the parent (a) and of the child (b) at a joint or loop."""
    if connection.is_loop:
        loop = model.system.loops[connection.name]
        return bodies.frame(loop.a), bodies.frame(loop.b)
    parent = Frame(connection.parent, node=model.system.bodies[connection.child].node)
    return bodies.frame(parent), bodies.place(connection.child, None)


def shifted(wrenches: Floats, arm: Floats) -> Floats:
    """Columns [moment, force] (batch, 6, n) about a new point; the arm (batch, 3) leads from there to the old one."""
    moment, force = np.split(wrenches, 2, axis=1)
    return np.concatenate([moment + np.cross(arm[:, :, None], force, axis=1), force], axis=1)


def turned(wrenches: Floats, attitude: Floats) -> Floats:
    """Columns [moment, force] (batch, 6, n) from world axes into those of the attitude (batch, 3, 3)."""
    parts = wrenches.reshape(len(wrenches), 2, 3, wrenches.shape[2])
    return np.einsum("bij,bcin->bcjn", attitude, parts).reshape(wrenches.shape)


@one_thread()
def least_loads(loads: Floats, stresses: Floats, length: float) -> tuple[Floats, Floats]:
    """Loads (batch, connections, 6) without their undetermined part, and an orthonormal basis of that; moments over length."""
    scale = np.repeat([length, 1.0], 3)
    n, connections, _, sets = stresses.shape
    flat = (stresses/scale[:, None]).reshape(n, 6*connections, sets)
    basis, sizes, _ = np.linalg.svd(flat, full_matrices=False)
    open_ = sizes > np.sqrt(REDUNDANT)                      # the stresses are of unit forces
    void = (basis*open_[:, None, :])[:, :, open_.any(axis=0)]
    scaled = (loads/scale).reshape(n, 6*connections)
    scaled = scaled - np.einsum("bin,bn->bi", void, np.einsum("bin,bi->bn", void, scaled))
    return scaled.reshape(loads.shape)*scale, void.reshape(*loads.shape, void.shape[2])
