"""The equations of motion M a + h = tau: forward and inverse dynamics, the mass matrix, and the joint that makes it singular.

"auto" selects the momentum cloud if most of the motion is prescribed, otherwise O(N) or the dense mass matrix by size.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from bough.analyze.loop_rows import POSITION, loop_terms
from bough.compile.batch import Batch, Prepared, finite, run
from bough.compile.cloud_tables import mostly_given
from bough.compile.compiled_model import CompiledModel
from bough.compile.coordinates import sticking
from bough.compile.friction_tank_tables import fed_tanks, propellant_in
from bough.compile.layout import Floats
from bough.compile.partition import Hinge
from bough.compile.tables import Tables
from bough.describe import System
from bough.describe.orientation import rotation_matrix
from bough.errors import ModelError, StateError, similar
from bough.kernels.hinges import FREE, NODE, PRISMATIC, REVOLUTE, SPHERICAL
from bough.sweeps import calls


def cross_matrix(r: Floats) -> Floats:
    return np.array([[0.0, -r[2], r[1]], [r[2], 0.0, -r[0]], [-r[1], r[0], 0.0]])


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
    parts, kinds = tables.parts, tables.solved_kinds
    P = np.zeros((2, len(parts.hinges), 6, 6))                              # articulated; and rigid, as the scale for zero
    for k in range(len(parts.hinges) - 1, 0, -1):
        hinge = parts.hinges[k]
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


def check_inertias(tables: Tables, nq: int) -> None:
    """Raise if some joint moves no inertia at any position."""
    parts = tables.parts
    inertias = np.array([hinge.inertia[0] for hinge in parts.hinges[1:]])
    if unsound := [hinge for hinge, tensor in zip(parts.hinges[1:], inertias, strict=True) if not np.isfinite(tensor).all()]:
        raise ModelError(f"body of joint '{unsound[0].label}': its inertia is no finite number; correct mass, com and inertia")
    if (np.linalg.eigvalsh(inertias)[:, 0] > 0).all() and all(hinge.mass[0] > 0 for hinge in parts.hinges[1:]):
        return                                                              # every hinge carries mass and inertia
    for position in np.random.default_rng(0).uniform(-1.0, 1.0, (4, nq)):   # rounding may hide it at one position, hardly at four
        found = first_singular(tables, position)
        if found:
            raise ModelError(message(found[0], found[1]))


def check_emptying(system: System, tables: Tables, nq: int) -> None:
    """Raise if some joint moves no inertia once propellant has left its tanks."""
    fed, position = fed_tanks(system), np.random.default_rng(0).uniform(-1.0, 1.0, nq)
    for share in (0.0, 0.25, 0.5, 0.75)*bool(fed):
        left = {tank.name: tank.residual + share*(tank.mass - tank.residual) if tank in fed else tank.mass
                for tank in system.tanks.values()}
        if found := first_singular(tables, position, propellant_in(system, tables.parts, left)):
            names = ", ".join(f"{left[tank.name]:g} kg of '{tank.name}'" for tank in fed)
            raise ModelError(f"with {names} in tanks: {message(*found)}, or the tanks a residual")


def check_finite(model: CompiledModel, batch: Batch, out: Floats) -> None:
    """Raise if infinite or suspiciously large accelerations come from a joint without inertia in this state."""
    if (np.abs(out) < calls.SUSPECT).all():
        return
    for row in np.flatnonzero(~(np.abs(out) < calls.SUSPECT).all(axis=1)).tolist():
        with np.errstate(all="ignore"):
            left = dict(zip(model.system.tanks, batch.state.tanks[row], strict=True))
            found = first_singular(batch.tables, batch.q[row], propellant_in(model.system, batch.tables.parts, left))
        if found:
            raise StateError(message(*found) + f" (singular{batch.where(row)}: move away from this position)")
        if not np.isfinite(out[row]).all():
            loop_terms(model, batch, POSITION)                              # raises if the ends of a distance coincide
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


# ---- equations of motion ---------------------------------------------------------------------------------------------------
DYNAMICS = ("auto", "order-n", "dense", "cloud")
DENSE_TREE, DENSE_LOOPS = 4, 10         # speeds of flexible systems, open and with loops, up to which the mass matrix is cheaper


def resolve_dynamics(model: CompiledModel, dynamics: str) -> str:
    """The method that "auto" selects with the current holds, or the requested one, if it applies."""
    if not isinstance(dynamics, str) or dynamics not in DYNAMICS:
        raise StateError(f"dynamics is '{dynamics}'{similar(dynamics, DYNAMICS)}; give one of {', '.join(DYNAMICS)}")
    if dynamics == "cloud" and model.no_cloud is not None:
        raise StateError(f"dynamics 'cloud' does not apply to system '{model.system.name}': {model.no_cloud}; use 'auto'")
    if dynamics != "auto":
        return dynamics
    if takes_cloud(model):
        return "cloud"
    return "dense" if takes_dense(model) else "order-n"


def takes_cloud(model: CompiledModel) -> bool:
    """Whether the cloud applies and is cheaper because most of the motion is prescribed."""
    return bool(model.holds) and not model.system.frictions and mostly_given(model.tables) and model.no_cloud is None


def takes_dense(model: CompiledModel) -> bool:
    """Whether the mass matrix is cheaper than O(N): only for flexible systems with few speeds (docs/theory/cost.md).  It does not
    depend on held coordinates, so that events do not change the method."""
    if not model.tables.parts.modal or sticking(model.system):
        return False
    return model.nv <= (DENSE_LOOPS if model.constrained else DENSE_TREE)


def reason(model: CompiledModel) -> str:
    """The method that "auto" selects, and why."""
    if takes_cloud(model):
        return f"cloud: all but {model.free.sum()} speed{'s'*(int(model.free.sum()) != 1)} are given"
    if not model.tables.parts.modal:
        return "order-n: no body is flexible"
    limit, kind = (DENSE_LOOPS, "with loops") if model.constrained else (DENSE_TREE, "without loops")
    more = "at most" if takes_dense(model) else "more than"
    return f"{resolve_dynamics(model, 'auto')}: {model.nv} speeds, {more} {limit} of a flexible system {kind}"


# ---- equations of motion ---------------------------------------------------------------------------------------------------
KERNELS = {"order-n": calls.forward_order_n, "dense": calls.forward_dense, "cloud": calls.forward_cloud}


@dataclass(frozen=True)
class Accelerations:
    """Rows of the forward dynamics, or their derivatives: v', accelerations of the wheels, rates of the orbit, loop multipliers."""
    model: CompiledModel
    rows: Floats

    @property
    def v(self) -> Floats:
        return self.rows[..., :self.model.nv]

    @property
    def wheels(self) -> Floats:
        return self.rows[..., self.model.nv:self.model.nv + self.model.nw]

    @property
    def orbit(self) -> Floats:
        """Velocity and acceleration of the mass center; empty without central gravity."""
        return self.rows[..., self.model.nv + self.model.nw:][..., :6*self.model.in_orbit]

    @property
    def multipliers(self) -> Floats:
        """Padded to fours, loop by loop; empty for the cloud."""
        return self.rows[..., self.model.nv + self.model.nw + 6*self.model.in_orbit:]


def room_for(model: CompiledModel, batch: Batch, dynamics: str) -> Floats:
    """The array for accelerations and multipliers."""
    multipliers = 0 if dynamics == "cloud" else batch.tables.fronts.size
    return np.empty((batch.n, model.nv + model.nw + 6*model.in_orbit + multipliers))


def forward_call(model: CompiledModel, batch: Batch, dynamics: str) -> tuple[partial[Any], Floats]:
    """The kernel for the accelerations of a batch, and its output array."""
    chosen = resolve_dynamics(model, dynamics)
    out = room_for(model, batch, chosen)
    return model.bound(KERNELS[chosen], batch, batch.t, batch.x, batch.u, out, extra=batch.tables.more(chosen)), out


def forward(model: CompiledModel, batch: Batch, dynamics: str = "auto") -> Accelerations:
    """Accelerations under the inputs of a batch."""
    call, out = forward_call(model, batch, dynamics)
    run(call)
    check_finite(model, batch, out)
    return Accelerations(model, out)


def inverse_call(model: CompiledModel, batch: Batch, a: Floats) -> tuple[partial[Any], Floats]:
    out = np.empty((batch.n, model.nv))
    return model.bound(calls.inverse, batch, batch.t, batch.x, batch.u, a, out), out


def inverse(model: CompiledModel, batch: Batch, a: Floats) -> Floats:
    """(n, nv): joint torques that produce the accelerations a, in addition to those in the inputs of the batch."""
    call, out = inverse_call(model, batch, a)
    run(call)
    return finite(out, "joint torques", batch)


def mass_matrix_call(model: CompiledModel, batch: Batch) -> tuple[partial[Any], Floats]:
    out = np.empty((batch.n, model.nv**2))
    call = model.bound(calls.mass_matrix, batch, batch.t, batch.x, batch.u, out, extra=model.nv**2)
    return call, out.reshape(batch.n, model.nv, model.nv)


def mass_matrices(model: CompiledModel, batch: Batch) -> Floats:
    """(n, nv, nv), by composite bodies."""
    call, out = mass_matrix_call(model, batch)
    run(call)
    return finite(out, "entries of the mass matrix", batch)


# ---- prepared, for one thread ----------------------------------------------------------------------------------------------
def prepare_forward(model: CompiledModel, dynamics: str) -> Prepared:
    """From q, v and tau: v'."""
    batch = model.batch(model.q0)
    call, out = forward_call(model, batch, dynamics)
    return Prepared(call, out[0, :model.nv], batch.q[0], batch.v[0], batch.inputs.tau[0], t=batch.t)


def prepare_inverse(model: CompiledModel) -> Prepared:
    """From q, v and v': tau."""
    batch, a = model.batch(model.q0), np.zeros((1, model.nv))
    call, out = inverse_call(model, batch, a)
    return Prepared(call, out[0], batch.q[0], batch.v[0], a[0], t=batch.t)


def prepare_mass_matrix(model: CompiledModel) -> Prepared:
    """From q: M."""
    batch = model.batch(model.q0)
    call, out = mass_matrix_call(model, batch)
    return Prepared(call, out[0], batch.q[0])
