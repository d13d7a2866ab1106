"""Forces of closed loops: from multipliers, from the balance of given accelerations, and of springs and motors."""
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from bough.analyze.bodies import Bodies, Frames, bodies_in
from bough.analyze.equations_of_motion import forward
from bough.analyze.loop_rows import POSITION, loop_terms, row_sizes, row_slices, true_rows
from bough.blas import one_thread
from bough.compile.batch import Batch
from bough.compile.compiled_model import CompiledModel
from bough.compile.coordinates import coordinate_place
from bough.compile.coupling_tables import sum_of
from bough.compile.layout import Floats
from bough.compile.loop_tables import REDUNDANT, Closure, constrained_motion, coordinate, dual, free_motions
from bough.compile.tables import described_inputs
from bough.describe import Frame, Loop
from bough.describe.orientation import cross
from bough.errors import StateError
from bough.sweeps import fields as f


class RowSpace(NamedTuple):
    """Singular value decomposition of matrices (batch, rows, nv), with the redundant combinations of rows, columns of left."""
    left: Floats            # (batch, rows, rows)
    values: Floats          # (batch, rank at most)
    right: Floats           # (batch, rank at most, nv)
    null: Floats            # (batch, rows): whether a column of left is redundant

    @staticmethod
    @one_thread()
    def of(rows: Floats) -> "RowSpace":
        left, values, right = np.linalg.svd(rows)
        null = np.ones(rows.shape[:2], dtype=bool)
        null[:, :values.shape[1]] = values <= np.sqrt(REDUNDANT)*values.max(axis=1, initial=0.0, keepdims=True)
        return RowSpace(left, values, right[:, :values.shape[1]], null)

    @property
    def void(self) -> Floats:
        """(batch, rows, n): redundant unit combinations of rows as columns; zero in states where they are not redundant."""
        return (self.left*self.null[:, None, :])[:, :, self.null.any(axis=0)]

    def least(self, wanted: Floats) -> Floats:
        """(batch, rows): the minimum-norm least-squares solution of rows^T x = wanted."""
        n = self.values.shape[1]
        along = np.einsum("bnv,bv->bn", self.right, wanted)
        along = np.where(self.null[:, :n], 0.0, along/np.where(self.null[:, :n], 1.0, self.values))
        return np.einsum("bin,bn->bi", self.left[:, :, :n], along)


def least_norm(closures: Sequence[Closure], multipliers: Floats, J: Floats) -> Floats:
    """Forces and moments (batch, rows) in SI units; redundant ones with the least sum of squares."""
    sizes = row_sizes(closures)
    void, forces = RowSpace.of(J/sizes[:, None]).void, multipliers*sizes
    return forces - np.einsum("bij,bj->bi", void, np.einsum("bji,bj->bi", void, forces))


def loop_wrenches(model: CompiledModel, bodies: Bodies, closures: Sequence[Closure], forces: Floats) -> dict[str, Floats]:
    """(batch, 6) by loop: [moment, force] of a's body on b's, at b's frame, in world axes."""
    loops = model.system.loops.values()
    return {closure.name: loop_wrench(loop, closure, bodies.frame(loop.a), bodies.frame(loop.b), forces[:, rows])
            for closure, rows, loop in zip(closures, row_slices(closures), loops, strict=False)}        # loops come first


def loop_wrench(loop: Loop, closure: Closure, a: Frames, b: Frames, forces: Floats) -> Floats:
    """(batch, 6): of the forces (batch, rows) of one loop between its frames."""
    directions, kind, frame_a, frame_b, _, _ = constrained_motion(loop.joint)
    parts, wrench, to_world = closure.rows - closure.rotations, np.zeros((len(forces), 2, 3)), a.attitude.transpose(0, 2, 1)
    row_forces, row_moments = forces[:, :parts], forces[:, parts:]
    if kind == f.DISTANCE:
        d = b.position - a.position
        wrench[:, 1] = row_forces*d/np.linalg.norm(d, axis=1, keepdims=True)
    else:
        wrench[:, 1] = (row_forces[:, None] @ (directions @ to_world))[:, 0]
    if kind == f.UNIVERSAL:
        axis = cross(a.attitude @ frame_a[0], b.attitude @ frame_b[0])
        wrench[:, 0] = row_moments*axis/np.linalg.norm(axis, axis=1, keepdims=True)
    elif kind and kind != f.DISTANCE:
        wrench[:, 0] = (row_moments[:, None] @ (frame_a[:kind] @ to_world))[:, 0]
    return wrench.reshape(-1, 6)


def holding_rows(model: CompiledModel, batch: Batch) -> Floats:
    """(batch, rows, nv): the generalized forces of a unit force or moment in each row of the loops, SI units."""
    return loop_terms(model, batch, POSITION)[1]/row_sizes(batch.tables.fronts.closures)[:, None]


def balancing_forces(model: CompiledModel, batch: Batch, needed: Floats) -> tuple[Floats, Floats]:
    """(batch, rows): the minimum-norm loop forces that provide the needed generalized forces along free coordinates; and (batch,
    nv), the rest of these, which drives provide. Without loops, all of them."""
    if not model.constrained:
        return np.zeros((len(needed), 0)), needed
    J = holding_rows(model, batch)
    forces = RowSpace.of(J[:, :, model.free]).least(needed[:, model.free])
    return forces, needed - np.einsum("bji,bj->bi", J, forces)


def with_loop_wrenches(model: CompiledModel, batch: Batch, forces: Floats) -> Batch:
    """The batch with the wrenches of loop forces (batch, rows) added to those of the caller; without joint torques."""
    bodies = bodies_in(model, model.batch(batch.q))
    total = dict(batch.wrenches)
    for name, wrench in loop_wrenches(model, bodies, model.tables.fronts.closures, forces).items():
        loop = model.system.loops[name]
        point = bodies.frame(loop.b).position
        for end, sign in ((loop.a, -1.0), (loop.b, 1.0)):
            if end.body != "world":
                flexible = model.system.bodies[end.body].flexible
                origin = bodies.frame(Frame(end.body, node=end.node))
                moment = wrench[:, :3] + np.cross(point - origin.position, wrench[:, 3:])
                vectors = sign*np.stack([moment, wrench[:, 3:]], axis=1)
                if batch.frame == "body":
                    vectors = np.einsum("bij,bci->bcj", origin.attitude, vectors)
                place = end.body, None if flexible is None else end.node or flexible.inboard
                total[place] = total.get(place, 0.0) + vectors.reshape(-1, 6)
    return model.changed(batch, wrenches=total, torques=False, keep_welds=True)


def constraint_forces(model: CompiledModel, batch: Batch, dynamics: str) -> dict[str, Floats]:
    """(batch, 6) by loop: constraint load [moment, force] of a's body on b's, at b's frame, in its axes; and (batch, coordinates)
    by coupling: its forces along its coordinates."""
    closures, given = batch.tables.fronts.closures, spring_forces(model, batch)
    if not closures:
        return given
    if dynamics == "cloud":
        raise StateError("dynamics 'cloud' finds no forces of loops: all that they hold is given; use 'auto'")
    found = forward(model, batch, "order-n" if dynamics == "auto" else dynamics)
    multipliers = found.multipliers[:, true_rows(closures)]
    _, J = loop_terms(model, batch, POSITION)
    bodies = bodies_in(model, model.batch(batch.q))
    held = least_norm(closures, multipliers, J)
    world = loop_wrenches(model, bodies, closures, held)
    forces = coupling_forces(closures, held)
    forces = {name: np.asarray(forces.get(name, 0.0) + given.get(name, 0.0)) for name in model.system.couplings}
    for loop in model.system.loops.values():
        attitude = bodies.frame(loop.b).attitude + np.zeros((batch.n, 1, 1))
        turned = np.einsum("bij,bci->bcj", attitude, world[loop.name].reshape(-1, 2, 3))
        forces[loop.name] = turned.reshape(-1, 6)
    return forces


def coupling_forces(closures: Sequence[Closure], forces: Floats) -> dict[str, Floats]:
    """(batch, coordinates) by coupling: its force or torque along each of its coordinates, c lambda [B 35]."""
    return {closure.name: forces[:, rows]*np.array([[term.factor for term in closure.terms]])
            for closure, rows in zip(closures, row_slices(closures), strict=True) if closure.terms}


def spring_forces(model: CompiledModel, batch: Batch) -> dict[str, Floats]:
    """(batch, coordinates) by compliant or preloaded coupling: its force along each of its coordinates [B 38]."""
    found, system = {}, model.system
    for name, coupling in system.couplings.items():
        if coupling.stiffness is not None or coupling.preload:
            places = [coordinate_place(system, each) for each in coupling.terms]
            factors = np.array(list(coupling.terms.values()))
            gap = batch.q[:, [q for q, _ in places]] @ factors - sum_of(system, coupling)
            rate, half = batch.v[:, [v for _, v in places]] @ factors, 0.5*coupling.backlash
            damped = np.where((np.abs(gap) > half) | (half == 0.0), rate, 0.0)
            force = coupling.preload - (coupling.stiffness or 0.0)*(gap - np.clip(gap, -half, half)) - coupling.damping*damped
            found[name] = force[:, None]*factors
    return found


def free_wrenches(model: CompiledModel, bodies: Bodies) -> dict[str, Floats]:
    """(batch, 6) by loop: [moment, force] of springs, dampers and motors on b, at b's frame, in world axes [B 14]."""
    loops, motions = list(model.system.loops.values()), free_motions(model.system)
    found = {loop.name: np.zeros((bodies.batch.n, 6)) for loop in loops}
    torques = model.input_layout.view(described_inputs(model.tables, bodies.batch.t[:, 0])).loop_torques
    for motion, torque in zip(motions, torques.T[:len(motions)], strict=True):      # u has entries for open loops, too
        loop = loops[motion.loop]
        a, b = bodies.frame(loop.a), bodies.frame(loop.b)
        d, along = b.position - a.position, motion.kind == f.ALONG
        e = dual(motion, a.attitude, b.attitude)
        rate = b.velocity - a.velocity - np.cross(a.rate, d) if along else b.rate - a.rate
        force = torque - motion.damping*(e*rate).sum(axis=1)
        if motion.stiffness:
            force = force - motion.stiffness*(coordinate(motion, d, a.attitude, b.attitude) - motion.rest)
        found[loop.name][:, 3*along:3*along + 3] += force[:, None]*e
    return found
