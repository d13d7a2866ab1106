"""Which joint makes the mass matrix singular, and what to do about it.

Which dynamics "auto" means: the momentum cloud where most of the motion is given, else O(N) or dense by a rule of size.

The equations of motion M a + h = tau, solved one way or the other: forward and inverse dynamics, mass matrix.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from bough import analyze, sweeps
from bough import compile as builders
from bough.compile.batch import Batch, Prepared, finite, run
from bough.compile.cloud_tables import mostly_given
from bough.compile.compiled_model import CompiledModel
from bough.compile.coordinates import sticking
from bough.compile.layout import Floats
from bough.compile.partition import Hinge
from bough.compile.tables import Tables
from bough.describe import System
from bough.describe.orientation import rotation_matrix
from bough.errors import ModelError, StateError, nearest
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


MOTIONS = {REVOLUTE: [2], PRISMATIC: [5], SPHERICAL: [0, 1, 2], FREE: [0, 1, 2, 3, 4, 5]}


def first_singular(tables: Tables, q: Floats, propellant: Mapping[int, Floats] | None = None) -> tuple[Hinge, float] | None:
    """The outermost hinge that is not held and moves no inertia at q, and the least inertia along it.  `propellant`: of hinges that
    carry some, its mass, first moment and inertia about their origin.

    The articulated-body recursion in 6x6 matrices and body axes: D = H P H^T, P_plus = P - P H^T D^-1 H P."""
    parts, kinds = tables.parts, tables.solved_kinds
    P = np.zeros((2, len(parts.hinges), 6, 6))                              # articulated; rigid, to judge zero by
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
                return None                                                 # too far out to tell
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
    inertias = np.array([hinge.inertia[0] for hinge in parts.hinges[1:]])
    if unsound := [hinge for hinge, tensor in zip(parts.hinges[1:], inertias, strict=True) if not np.isfinite(tensor).all()]:
        raise ModelError(f"body of joint '{unsound[0].label}': its inertia is no finite number; correct mass, com and inertia")
    if (np.linalg.eigvalsh(inertias)[:, 0] > 0).all() and all(hinge.mass[0] > 0 for hinge in parts.hinges[1:]):
        return                                                              # nothing massless, nothing singular
    for position in np.random.default_rng(0).uniform(-1.0, 1.0, (4, nq)):   # rounding can hide it in one, hardly in four
        found = first_singular(tables, position)
        if found:
            raise ModelError(message(found[0], found[1]))


def check_emptying(system: System, tables: Tables, nq: int) -> None:
    """Refuse a tree in which some joint moves nothing once propellant has left its tanks."""
    fed, position = builders.tank_tables.fed_tanks(system) if system.tanks else [], np.random.default_rng(0).uniform(-1.0, 1.0, nq)
    for share in (0.0, 0.25, 0.5, 0.75)*bool(fed):
        left = {tank.name: tank.residual + share*(tank.mass - tank.residual) if tank in fed else tank.mass
                for tank in system.tanks.values()}
        if found := first_singular(tables, position, builders.tank_tables.propellant_in(system, tables.parts, left)):
            names = ", ".join(f"{left[tank.name]:g} kg of '{tank.name}'" for tank in fed)
            raise ModelError(f"with {names} in tanks: {message(*found)}, or the tanks a residual")


def check_finite(model: CompiledModel, batch: Batch, out: Floats) -> None:
    """Raise if infinite or suspiciously large accelerations come from a joint that moves nothing here."""
    if (np.abs(out) < sweeps.calls.SUSPECT).all():
        return
    for row in np.flatnonzero(~(np.abs(out) < sweeps.calls.SUSPECT).all(axis=1)).tolist():
        where = "" if batch.single else f" in state {row} of the batch"
        with np.errstate(all="ignore"):
            propellant = None
            if model.system.tanks:
                left = dict(zip(model.system.tanks, batch.state.tanks[row], strict=True))
                propellant = builders.tank_tables.propellant_in(model.system, batch.tables.parts, left)
            found = first_singular(batch.tables, batch.q[row], propellant)
        if found:
            raise StateError(message(*found) + f" (singular{where}: move away from this position)")
        if not np.isfinite(out[row]).all():
            analyze.loop_rows.loop_terms(model, batch, analyze.loop_rows.POSITION)     # names ends of a distance that coincide
        finite(out, f"accelerations, though no joint is singular{most_bent(model, batch.q[row])}", batch)


def most_bent(model: CompiledModel, q: Floats) -> str:
    """Which node of a flexible body turns most: modes hold for small rotations."""
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
    """What "auto" means for what is held now, or what is asked for, if it applies."""
    if not isinstance(dynamics, str) or dynamics not in DYNAMICS:
        raise StateError(f"dynamics is '{dynamics}'{nearest(dynamics, DYNAMICS)}; one of {', '.join(DYNAMICS)}")
    if dynamics == "cloud" and model.no_cloud is not None:
        raise StateError(f"dynamics 'cloud' does not apply to system '{model.system.name}': {model.no_cloud}; use 'auto'")
    if dynamics != "auto":
        return dynamics
    if takes_cloud(model):
        return "cloud"
    return "dense" if takes_dense(model) else "order-n"


def takes_cloud(model: CompiledModel) -> bool:
    """Whether the cloud applies, and so much of the motion is given that it is cheaper."""
    return bool(model.holds) and not model.system.frictions and mostly_given(model.tables) and model.no_cloud is None


def takes_dense(model: CompiledModel) -> bool:
    """Whether the mass matrix is cheaper than O(N): of flexible systems with few speeds only (docs/theory/cost.md).  It does not
    depend on what is held: an event changes no method."""
    if not model.tables.parts.modal or sticking(model.system):
        return False
    return model.nv <= (DENSE_LOOPS if model.constrained else DENSE_TREE)


def reason(model: CompiledModel) -> str:
    """What "auto" means, and why."""
    if takes_cloud(model):
        return f"cloud: all but {model.free.sum()} speed{'s'*(int(model.free.sum()) != 1)} are given"
    if not model.tables.parts.modal:
        return "order-n: no body is flexible"
    limit, kind = (DENSE_LOOPS, "with loops") if model.constrained else (DENSE_TREE, "without loops")
    more = "at most" if takes_dense(model) else "more than"
    return f"{resolve_dynamics(model, 'auto')}: {model.nv} speeds, {more} {limit} of a flexible system {kind}"


# ---- equations of motion ---------------------------------------------------------------------------------------------------
def forward_kernel(method: str) -> Any:
    """What solves them by a method."""
    calls = sweeps.calls
    return {"order-n": calls.forward_order_n, "dense": calls.forward_dense, "cloud": calls.forward_cloud}[method]


@dataclass(frozen=True)
class Accelerations:
    """What the forward dynamics finds, in rows: v', accelerations of the wheels, rates of the orbit, multipliers of the loops."""
    model: CompiledModel
    rows: Floats

    @property
    def v(self) -> Floats:
        return self.rows[:, :self.model.nv]

    @property
    def wheels(self) -> Floats:
        return self.rows[:, self.model.nv:self.model.nv + self.model.nw]

    @property
    def multipliers(self) -> Floats:
        """Padded to fours, loop by loop; empty by the cloud."""
        return self.rows[:, self.model.nv + self.model.nw + 6*self.model.in_orbit:]


def room_for(model: CompiledModel, batch: Batch, dynamics: str) -> Floats:
    """Where a kernel puts accelerations and multipliers."""
    multipliers = 0 if dynamics == "cloud" else batch.tables.fronts.size
    return np.empty((batch.n, model.nv + model.nw + 6*model.in_orbit + multipliers))


def forward_call(model: CompiledModel, batch: Batch, dynamics: str) -> tuple[partial[Any], Floats]:
    """The kernel that finds the accelerations of a batch, and where it puts them."""
    chosen = resolve_dynamics(model, dynamics)
    out = room_for(model, batch, chosen)
    return model.bound(forward_kernel(chosen), batch, batch.t, batch.x, batch.u, out, extra=batch.tables.more(chosen)), out


def forward(model: CompiledModel, batch: Batch, dynamics: str = "auto") -> Accelerations:
    """Accelerations under the inputs of a batch."""
    call, out = forward_call(model, batch, dynamics)
    run(call)
    check_finite(model, batch, out)
    return Accelerations(model, out)


def inverse_call(model: CompiledModel, batch: Batch, a: Floats) -> tuple[partial[Any], Floats]:
    out = np.empty((batch.n, model.nv))
    return model.bound(sweeps.calls.inverse, batch, batch.t, batch.x, batch.u, a, out), out


def inverse(model: CompiledModel, batch: Batch, a: Floats) -> Floats:
    """(n, nv): joint torques that give the accelerations a, besides those in the inputs of the batch."""
    call, out = inverse_call(model, batch, a)
    run(call)
    return finite(out, "joint torques", batch)


def mass_matrix_call(model: CompiledModel, batch: Batch) -> tuple[partial[Any], Floats]:
    out = np.empty((batch.n, model.nv**2))
    call = model.bound(sweeps.calls.mass_matrix, batch, batch.t, batch.x, batch.u, out, extra=model.nv**2)
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
