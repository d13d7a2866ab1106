"""The joint that makes the mass matrix singular, and the remedy."""

from collections.abc import Mapping

import numpy as np

from bough import analyze, compile as builders, sweeps
from bough.compile.batch import Batch, finite
from bough.compile.compiled_model import CompiledModel
from bough.compile.layout import Floats
from bough.compile.partition import Hinge
from bough.compile.tables import Tables
from bough.describe import System
from bough.describe.orientation import cross_matrix, rotation_matrix
from bough.errors import ModelError, StateError
from bough.kernels.hinges import FREE, NODE, PRISMATIC, REVOLUTE, SPHERICAL


def hinge_pose(hinge: Hinge, q: Floats) -> tuple[Floats, Floats]:
    """Attitude and position of the outer body in the inner one."""
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
    if hinge.kind == NODE:                                                  # undeformed: modes cannot make a joint singular
        return turn, hinge.flexible.nodes.position[hinge.flexible.nodes.index(hinge.node)]
    return turn, at


MOTIONS = {REVOLUTE: [2], PRISMATIC: [5], SPHERICAL: [0, 1, 2], FREE: [0, 1, 2, 3, 4, 5]}


def first_singular(tables: Tables, q: Floats, propellant: Mapping[int, Floats] | None = None) -> tuple[Hinge, float] | None:
    """The outermost free hinge without inertia along its motion at q, and the smallest inertia along it; None if there is none.
    `propellant`: by hinge that carries some, its mass, first moment and inertia about the hinge.

    The articulated-body recursion in 6x6 matrices and body axes: D = H P H^T, P_plus = P - P H^T D^-1 H P."""
    tree, kinds = tables.tree, tables.solved_kinds
    P = np.zeros((2, len(tree.hinges), 6, 6))                              # articulated; and rigid, as the scale for zero
    for k in range(len(tree.hinges) - 1, 0, -1):
        hinge = tree.hinges[k]
        m, moment, inertia = hinge.mass[0], hinge.moment[0], hinge.inertia[0]
        if propellant and k in propellant:
            m, moment, inertia = propellant[k][0], propellant[k][1:4], propellant[k][4:][[[0, 1, 2], [1, 3, 4], [2, 4, 5]]]
        h = cross_matrix(moment)
        P[:, k] += np.block([[inertia, h], [h.T, m*np.eye(3)]])
        moving = MOTIONS.get(kinds[k], [])
        if moving:
            D = P[0, k][np.ix_(moving, moving)]
            if not np.isfinite(D).all():
                return None                                                 # not finite: cannot be judged
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


def check_joints(tables: Tables, nq: int) -> None:
    """Raise if some joint moves no inertia at any position."""
    for position in np.random.default_rng(0).uniform(-1.0, 1.0, (4, nq)):   # rounding may hide it at one position, hardly at four
        found = first_singular(tables, position)
        if found:
            raise ModelError(message(found[0], found[1]))


def check_emptying(system: System, tables: Tables, nq: int) -> None:
    """Raise if some joint moves no inertia once propellant has left its tanks."""
    fed, position = builders.tank_tables.draining_tanks(system), np.random.default_rng(0).uniform(-1.0, 1.0, nq)
    for share in (0.0, 0.25, 0.5, 0.75)*bool(fed):
        left = {tank.name: tank.residual + share*(tank.mass - tank.residual) if tank in fed else tank.mass
                for tank in system.tanks.values()}
        if found := first_singular(tables, position, builders.tank_tables.propellant_in(system, tables.tree, left)):
            names = ", ".join(f"{left[tank.name]:g} kg of '{tank.name}'" for tank in fed)
            raise ModelError(f"with {names} in tanks: {message(*found)}, or the tanks a residual")


def explain_accelerations(model: CompiledModel, batch: Batch, out: Floats) -> None:
    """Raise if the infinite or suspiciously large accelerations of a state come from a joint without inertia in it."""
    for row in np.flatnonzero(~(np.abs(out) < sweeps.calls.SUSPECT).all(axis=1)).tolist():
        with np.errstate(all="ignore"):
            propellant = None
            if model.system.tanks:
                left = dict(zip(model.system.tanks, batch.state.tanks[row], strict=True))
                propellant = builders.tank_tables.propellant_in(model.system, batch.tables.tree, left)
            found = first_singular(batch.tables, batch.q[row], propellant)
        if found:
            raise StateError(message(*found) + f" (singular{batch.where(row)}: move away from this position)")
        if not np.isfinite(out[row]).all():
            analyze.loop_rows.loop_terms(model, batch, analyze.loop_rows.POSITION)     # raises if the ends of a distance coincide
        finite(out, f"accelerations, though no joint is singular{most_bent(model, batch.q[row])}", batch)


def most_bent(model: CompiledModel, q: Floats) -> str:
    """The node of a flexible body with the largest rotation, for messages: modes hold for small rotations."""
    angles: dict[tuple[str, str], float] = {}
    for body in model.system.bodies.values():
        if body.n_modes:
            turned = np.linalg.norm(body.elastic.nodes.psi @ q[model.mode_places(body.name)[0]], axis=1)
            angles |= {(body.name, node): angle for node, angle in zip(body.elastic.nodes.names, turned, strict=True)}
    if not angles:
        return ""
    body_name, node = max(angles, key=lambda key: angles[key])
    return (f"; node '{node}' of flexible body '{body_name}' turns by {angles[body_name, node]:.2g} rad, and modes hold for "
            "rotations well below 1 rad: divide the body, or damp it")
