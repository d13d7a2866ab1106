"""Which joint makes the mass matrix singular, and what to do about it."""
import numpy as np

from bough.compile.batch import Batch
from bough.compile.compiled_model import CompiledModel
from bough.compile.layout import Floats
from bough.compile.partition import Hinge
from bough.compile.tables import Tables
from bough.describe.orientation import rotation_matrix
from bough.errors import ModelError, StateError
from bough.kernels.hinges import FREE, NODE, PRISMATIC, REVOLUTE, SPHERICAL


def cross_matrix(r: Floats) -> Floats:
    return np.array([[0.0, -r[2], r[1]], [r[2], 0.0, -r[0]], [-r[1], r[0], 0.0]])


def hinge_pose(hinge: Hinge, q: Floats) -> tuple[Floats, Floats]:
    """Attitude and place of the outer body in the inner one."""
    turn, at = hinge.turn, hinge.at[0]
    if hinge.kind == REVOLUTE:
        s, c = np.sin(q[hinge.q]), np.cos(q[hinge.q])
        return turn @ np.array([[c, -s, 0], [s, c, 0], [0, 0, 1.0]]), at
    if hinge.kind == PRISMATIC:
        return turn, at + q[hinge.q]*turn[:, 2]
    if hinge.kind == SPHERICAL:
        return turn @ rotation_matrix(q[hinge.q:hinge.q + 4]), at
    if hinge.kind == FREE:
        return turn @ rotation_matrix(q[hinge.q + 3:hinge.q + 7]), at + turn @ q[hinge.q:hinge.q + 3]
    if hinge.kind == NODE:                                                  # undeformed: modes do not make a joint singular
        return turn, hinge.flexible.nodes.position[hinge.flexible.nodes.index(hinge.node)]
    return turn, at


SUSPECT = 1e12                      # accelerations beyond this are looked into: is a joint singular here?
MOTIONS = {REVOLUTE: [2], PRISMATIC: [5], SPHERICAL: [0, 1, 2], FREE: [0, 1, 2, 3, 4, 5]}


def first_singular(tables: Tables, q: Floats) -> tuple[Hinge, float] | None:
    """The outermost hinge that is not held and moves no inertia at q, and the least inertia along it.

    The articulated-body recursion in 6x6 matrices and body axes: D = H P H^T, P_plus = P - P H^T D^-1 H P."""
    parts, kinds = tables.parts, tables.solved_kinds
    P = np.zeros((2, len(parts.hinges), 6, 6))                              # articulated; rigid, to judge zero by
    for k in range(len(parts.hinges) - 1, 0, -1):
        hinge = parts.hinges[k]
        h = cross_matrix(hinge.moment[0])
        P[:, k] += np.block([[hinge.inertia[0], h], [h.T, hinge.mass[0]*np.eye(3)]])
        moving = MOTIONS.get(kinds[k], [])
        if moving:
            D = P[0, k][np.ix_(moving, moving)]
            least, scale = float(np.linalg.eigvalsh(D)[0]), float(P[1, k, moving, moving].max())
            if not least > 1e-13*scale:
                return hinge, least
            PH = P[0, k][:, moving]
            P[0, k] -= PH @ np.linalg.solve(D, PH.T)
        turn, at = hinge_pose(hinge, q)
        X = np.block([[turn, cross_matrix(at) @ turn], [np.zeros((3, 3)), turn]])
        P[:, hinge.inner] += X @ P[:, k] @ X.T
    return None


def message(hinge: Hinge, least: float) -> str:
    unit, what = ("kg", "mass") if hinge.kind == PRISMATIC else ("kg m^2", "inertia")
    return (f"joint '{hinge.label}': the articulated {what} along its motion is {least:.3g} {unit}; give '{hinge.joint}', or a "
            f"body outboard of it that this joint moves, {what} there")


def check_inertias(tables: Tables, nq: int) -> None:
    """Refuse a tree in which some joint moves nothing, wherever its joints stand."""
    parts = tables.parts
    if all(np.linalg.eigvalsh(hinge.inertia[0])[0] > 0 and hinge.mass[0] > 0 for hinge in parts.hinges[1:]):
        return                                                              # nothing massless, nothing singular
    for position in np.random.default_rng(0).uniform(-1.0, 1.0, (4, nq)):   # rounding can hide it in one, hardly in four
        found = first_singular(tables, position)
        if found:
            raise ModelError(message(found[0], found[1]))


def check_finite(model: CompiledModel, batch: Batch, out: Floats) -> None:
    """Raise if infinite or suspiciously large accelerations come from a joint that moves nothing here."""
    if (np.abs(out) < SUSPECT).all():
        return
    for row in np.flatnonzero(~(np.abs(out) < SUSPECT).all(axis=1)).tolist():
        where = "" if batch.single else f" in state {row} of the batch"
        found = first_singular(batch.tables, batch.q[row])
        if found:
            raise StateError(message(*found) + f" (singular{where}: move away from this position)")
        if not np.isfinite(out[row]).all():
            raise StateError(f"the accelerations{where} are not finite though no joint is singular: the state or the loads are "
                             f"too large{most_bent(model, batch.q[row])}")


def most_bent(model: CompiledModel, q: Floats) -> str:
    """Which node of a flexible body turns most: modes hold for small rotations."""
    angles: dict[tuple[str, str], float] = {}
    for body in model.system.bodies.values():
        if body.n_modes:
            turned = np.linalg.norm(body.elastic.nodes.psi @ q[model.modes(body.name)[0]], axis=1)
            angles |= {(body.name, node): angle for node, angle in zip(body.elastic.nodes.names, turned, strict=True)}
    if not angles:
        return ""
    body_name, node = max(angles, key=lambda key: angles[key])
    return (f"; node '{node}' of flexible body '{body_name}' turns by {angles[body_name, node]:.2g} rad, and modes hold for "
            "rotations well below 1 rad: divide the body, or damp it")
