"""Trees of rigid and flexible bodies, each twice: as a System, and as the bodies of the nodal oracle.

The flexible bodies of `lumped_bodies` have their mass in points without inertia of their own and no geometric stiffness: for
those the modal integrals are exact, however large the deformation, and the oracle must agree to rounding.
"""

from dataclasses import replace
from functools import cache

import numpy as np
from scipy.spatial.transform import Rotation

import bough
from bough.flex import GeometricStiffness, MassPoints, ModalIntegrals, beam, from_matrices
from bough.flex.solids import box, solid_model
from tests.support.nodal_oracle import NodalOracle, Node, TreeBody
from tests.support.random_systems import random_inertia, random_joint, random_rotation

TIP = {"tip_mass": 0.2, "tip_com": (0.07, 0.06, 0.04)}  # beside every axis: no beam turns about its own without inertia
SLENDER = {"EI": (4.0, 6.0), "mass_per_length": 0.8, "elements": 3, **TIP}
JOINTS = ("revolute", "prismatic", "universal", "spherical", "general", "weld", "weld")
ROOTS = ("free", "free", "revolute", "spherical", "weld", "general")


# ---- flexible bodies ----------------------------------------------------------------------------------------------------
def lumped(body):
    """The same body with its mass in points that have no inertia of their own, and without geometric stiffness."""
    points = replace(body.points, inertia=np.zeros_like(body.points.inertia))
    return replace(body, points=points, integrals=ModalIntegrals.from_points(points), geometric=None)


def coupled(body):
    """The same body with full matrices of stiffness and damping."""
    w, mixed = np.sqrt(np.diag(body.K)), 0.2 + 0.8 * np.eye(body.n_modes)
    return replace(body, K=np.outer(w, w) * mixed, D=0.04 * np.sqrt(np.outer(w, w)) * mixed, recipe=None)


def truss(modes=4, **options):
    """Two squares of lumps, one above the other, each lump joined to each other by a spring: places turn with their mean."""
    place = np.array([[x, y, z] for z in (0.0, 0.7) for x in (0.0, 0.3) for y in (0.0, 0.4)])
    stiffness = np.zeros((24, 24))
    for i in range(8):
        for j in range(i):
            along = (place[i] - place[j]) / np.linalg.norm(place[i] - place[j])
            ends = np.zeros(24)
            ends[3 * i : 3 * i + 3], ends[3 * j : 3 * j + 3] = along, -along
            stiffness += (40.0 + 3.0 * i + 7.0 * j) * np.outer(ends, ends)
    mass = np.kron(np.diag(np.linspace(0.1, 0.3, 8)), np.eye(3))
    attach = {"foot": [0, 1, 2, 3], "roof": [4, 5, 6, 7], "corner": 6}
    return from_matrices(mass, stiffness, place, attach=attach, inboard="foot", modes=modes, damping=0.02, **options)


@cache
def block():
    """A solid with the consistent mass matrix of its elements. As points: with M = L L^T, sums over pairs m_ij a_i b_j are sums
    over the columns of L; a column that moves by w under a unit translation is a point of mass w^2 at the place (L^T x)/w."""
    model = solid_model(
        box((0.3, 0.2, 0.8), (1, 1, 2)), E=2e4, nu=0.3, density=25.0, order=1, origin=(0.1, -0.2, 0.3), inboard="foot",
        attach={"foot": ("z", 0.0), "roof": ("z", 0.8)},
    )  # fmt: skip
    body = model.reduce("free-free", modes=4)
    factor = np.linalg.cholesky(model.mass[::3, ::3].toarray())
    weight = factor.sum(axis=0)
    place, phi = (np.tensordot(factor / weight, array, (0, 0)) for array in (body.outline.position, body.outline.phi))
    count, zero = len(weight), np.zeros_like(phi)
    return replace(body, points=MassPoints(place, weight**2, np.zeros((count, 3)), np.zeros((count, 3, 3)), phi, zero))


@cache
def bodies():
    """Flexible bodies of every kind, by name; all are about 1 m long and weigh about 1 kg."""
    free = {"boundary": "free-free", "nodes": {"middle": 0.5}}
    return {
        "clamped": beam(1.2, GJ=3.0, polar_inertia=1e-3, modes=5, damping=0.01, nodes={"middle": 0.5}, **SLENDER),
        "clamped inside": coupled(beam(1.0, axis="y", inboard="middle", modes=9, nodes={"middle": 0.4}, **SLENDER)),
        "interface": beam(0.9, axis="-z", boundary="craig-bampton", interfaces=["tip"], modes=1, **SLENDER),
        "free": beam(1.0, axis="-y", modes=3, damping=0.03, **free, **SLENDER),
        "free, held at its tip": beam(0.8, inboard="tip", modes=2, **free, **SLENDER),
        "free, held nowhere": beam(0.8, axis="z", inboard=None, modes=2, **free, **SLENDER),
        "pinned": beam(0.9, axis="-x", boundary="pinned", modes=1, nodes={"middle": 0.3}, **SLENDER),
        "truss": truss(origin=(0.2, -0.1, 0.3)),
        "free truss": coupled(truss(reduction="free-free")),
        "block": block(),
    }


@cache
def lumped_bodies():
    return {name: lumped(body) for name, body in bodies().items()}


def bent_nodes(body):
    """The body whose nodes alone move to second order: its mass points stay linear, which the oracle can follow exactly."""
    n = body.n_modes
    if body.geometric is None:
        return lumped(body)
    flat = GeometricStiffness(np.zeros((3, n, n)), np.zeros((3, 3, n, n)), body.geometric.force, body.geometric.moment)
    return replace(lumped(body), geometric=flat)


def node_of(body, name):
    """A node of a flexible body as the oracle knows it."""
    j, geometric = body.nodes.index(name), body.geometric
    bends = None
    if geometric is not None and body.variant == "full":
        turning = (geometric.moment[j] + geometric.moment[j].transpose(0, 2, 1)) / 2
        bends = np.concatenate([turning, geometric.force[j]])
    return Node(body.nodes.position[j], body.nodes.phi[j], body.nodes.psi[j], bends)


def turning_nodes(body):
    """Names of the nodes that tell their rotation: only those carry joints and wheels."""
    return [name for name, turns in zip(body.nodes.names, body.nodes.rotates, strict=True) if turns]


def rigid_points(mass, com, inertia):
    """A rigid body as one mass point."""
    none = np.zeros((1, 3, 0))
    return MassPoints(np.array([com], float), np.array([mass]), np.zeros((1, 3)), np.array([inertia], float), none, none)


# ---- trees --------------------------------------------------------------------------------------------------------------
class Twin:
    """A system, and the same tree for the oracle."""

    def __init__(self, gravity=(0.0, 0.0, 0.0)):
        self.system, self.bodies = bough.System("twin", gravity=gravity), []

    @property
    def names(self):
        return list(self.system.bodies)

    def body(
        self, name, *, parent=None, node=None, joint=None, at=(0, 0, 0), orient=(0, 0, 0, 1), flexible=None, rest=None, **substance
    ):
        """Add a body: the joint's frame is the body frame, fixed to the inboard node where the body is flexible."""
        described = self.system.body(
            name, parent=parent, node=node, joint=joint, at=at, orient=orient, flexible=flexible, rest=rest, **substance
        )
        words = {"translations": described.joint.translations, "rotations": described.joint.rotations}
        words |= {"at": np.array(at, float), "orient": Rotation.from_quat(orient).as_matrix(), "at_node": self.node(parent, node)}
        if flexible is None:
            points = rigid_points(described.mass, described.com, described.inertia)
        else:
            points, inboard = flexible.points, self.node(name, flexible.inboard)
            words |= {"K": flexible.K, "D": flexible.D, "rest": np.zeros(flexible.n_modes) if rest is None else np.array(rest)}
            words |= {"linearized": flexible.variant == "zeroth_order", "inboard": inboard}
            words |= {} if inboard is None else {"hold": -inboard.position}
        self.bodies.append(TreeBody(points, -1 if parent is None else self.names.index(parent), **words))
        return described

    def node(self, body, node=None):
        """A node as the oracle knows it, the inboard one if none is named; None where the body frame itself is meant."""
        flexible = None if body is None else self.system.bodies[body].flexible
        node = None if flexible is None else node or flexible.inboard
        return None if node is None else node_of(flexible, node)

    def oracle(self, q, v):
        return NodalOracle(self.bodies, q, v, gravity=self.system.gravity)


def substance(rng):
    """Mass, mass center and inertia of a rigid body."""
    mass = rng.uniform(0.5, 3.0)
    com, inertia = random_inertia(rng, mass)
    return {"mass": mass, "com": com, "inertia": (inertia + inertia.T) / 2}


def random_twin(rng, n=5, *, chosen=None, share=0.6, root=None, gravity=5.0, rests=0.3):
    """n bodies, flexible ones with a probability `share`, out of the `chosen`; children at any node. Some have a rest shape."""
    twin, chosen = Twin(gravity=gravity * rng.normal(size=3)), list((chosen or lumped_bodies()).values())
    for k in range(n):
        flexible = rng.random() < share or (k == n - 1 and not any(b.n_modes for b in twin.bodies))
        name, parent = f"b{k}", f"b{rng.integers(max(0, k - 3), k)}" if k else None
        joint = random_joint(rng, str(rng.choice(JOINTS)) if k else root or str(rng.choice(ROOTS)))
        place = {"parent": parent, "at": rng.uniform(-0.3, 0.3, 3), "orient": random_rotation(rng), "joint": joint}
        carrier = None if parent is None else twin.system.bodies[parent].flexible
        if carrier is not None:
            place["node"] = str(rng.choice(turning_nodes(carrier))) if carrier.inboard is None or rng.random() < 0.8 else None
        if flexible:
            body = chosen[rng.integers(len(chosen))]
            rest = amplitudes(body) * rng.normal(size=body.n_modes) if rng.random() < rests else None
            twin.body(name, **place, flexible=body, rest=rest)
        else:
            twin.body(name, **place, **substance(rng))
    return twin


def amplitudes(body, size=0.2):
    """Modal coordinates that each move or turn some node by `size` meters or radians."""
    nodes = np.concatenate([body.nodes.phi, body.nodes.psi], axis=1).reshape(-1, body.n_modes)
    return size / np.abs(nodes).max(axis=0, initial=1e-6)


def random_states(model, rng, n=None, *, size=0.3, joints=1.0, rates=1.0):
    """States (n of them, or one): joints anywhere, each mode by `size` meters or radians at some node, and rates of the same
    kind."""
    q, v = np.empty((n or 1, model.nq)), np.empty((n or 1, model.nv))
    for row in range(n or 1):
        for body in model.system.bodies.values():
            (at, speed), joint = model.places[body.name], body.joint
            plain = joint.n_q - 4 * joint.spherical
            q[row, at : at + plain] = joints * rng.uniform(-1, 1, plain)
            if joint.spherical:
                q[row, at + plain : at + joint.n_q] = random_rotation(rng)
            v[row, speed : speed + joint.n_v] = rates * rng.normal(size=joint.n_v)
            if body.n_modes:
                shape = amplitudes(body.flexible, size) * rng.uniform(-1, 1, (2, body.n_modes))
                q[row, at + joint.n_q : at + body.n_q], v[row, speed + joint.n_v : speed + body.n_v] = shape * [[1], [3 * rates]]
    return (q, v) if n else (q[0], v[0])


def modal_places(model, attribute="v"):
    """Which entries of q or v are modal."""
    return np.array([".mode" in name for name in getattr(model.names, attribute)])


def moved(model, q, v, dt):
    """q after dt at constant v: exact turns about the angular velocity for quaternions."""
    out = q.copy()
    for body in model.system.bodies.values():
        (at, speed), joint = model.places[body.name], body.joint
        plain = joint.n_v - 3 * joint.spherical
        out[at : at + plain] += dt * v[speed : speed + plain]
        if joint.spherical:
            i, j = at + plain, speed + plain
            out[i : i + 4] = (Rotation.from_quat(q[i : i + 4]) * Rotation.from_rotvec(dt * v[j : j + 3])).as_quat()
        out[at + joint.n_q : at + body.n_q] += dt * v[speed + joint.n_v : speed + body.n_v]
    return out


def rebuilt(system, *, order=None, flexible=lambda body: body.flexible):
    """The same system, in another order of its bodies, or with other flexible bodies; None makes a rigid one of the same mass."""
    new = bough.System(system.name, gravity=system.gravity)
    for name in order or system.bodies:
        body = system.bodies[name]
        words = {key: getattr(body, key) for key in ("parent", "joint", "at", "orient")}
        elastic, carrier = body.flexible and flexible(body), system.bodies.get(body.parent)
        words |= {"mass": body.mass, "com": body.com, "inertia": body.inertia} if elastic is None else {"flexible": elastic}
        words |= {"rest": body.rest} if elastic is not None and elastic.n_modes == body.n_modes else {}
        if carrier is not None and carrier.flexible is not None:
            if flexible(carrier) is not None:
                words["node"] = body.node
            else:  # what hung on a node hangs where the node was
                j = carrier.flexible.nodes.index(body.node or carrier.flexible.inboard)
                words["at"] = np.array(body.at) + carrier.flexible.nodes.position[j]
        new.body(name, **words)
    return new


def reordered(old, new, attribute):
    """Indices that bring entries of the old model's q or v into the new one's order."""
    names = list(getattr(old.names, attribute))
    return [names.index(name) for name in getattr(new.names, attribute)]
