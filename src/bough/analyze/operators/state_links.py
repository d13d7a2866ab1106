"""Links: what a state makes of each hinge of the partitioned tree.

A link is a body on its hinge.  Its body coordinates are the spatial velocity of its origin, [angular, linear] in inertial axes; of
a flexible body its modal rates come first.

    Phi(i, k)   carries forces from link k to its inner link i, and Phi^T velocities outward
    H(k)        hinge map: V(k) = Phi^T(i, k) V(i) + H^T(k) v(k)
    M(k)        inertia;    a(k), b(k)   acceleration and force that are there without v'
"""
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bough.analyze.partition_table import link_name
from bough.analyze.singular_inertia import cross_matrix
from bough.compile.batch import Batch
from bough.compile.compiled_model import CompiledModel
from bough.compile.kernel_calls import workspace
from bough.compile.partition import Hinge, Partition
from bough.compile.state_layout import Floats
from bough.kernels.hinges import FREE, MODAL, NODE, PRISMATIC, REVOLUTE, SPHERICAL
from bough.sweeps import calls
from bough.sweeps import fields as f


@dataclass(frozen=True)
class Link:
    name: str
    body: str                           # whose joint or modes it is part of
    kind: int
    inner: int                          # index of the inner link; -1: the ground
    Phi: Floats                     # (N of the inner link, 6 on the ground; N)
    H: Floats                       # (n, N)
    speeds: NDArray[np.intp]        # (n,) which entries of v
    M: Floats                       # (N, N)
    attitude: Floats                # (3, 3) body axes to inertial axes
    a: Floats                       # (N,)
    b: Floats                       # (N,)

    @property
    def size(self) -> int:
        return len(self.M)


@dataclass(frozen=True)
class Links:
    """The links of a state, inner before outer, and the forces along v that the model itself applies."""
    links: tuple[Link, ...]
    applied: Floats                 # (nv,) springs, dampers, torques of the description
    parts: Partition                    # that they were made of

    @property
    def slices(self) -> list[slice]:
        ends = np.cumsum([0, *(link.size for link in self.links)]).tolist()
        return [slice(*ends[k:k + 2]) for k in range(len(self.links))]


def links_of(model: CompiledModel, batch: Batch) -> Links:
    """The links of one state of a tree (loops are left open), as the compiled sweeps see it."""
    hinges = batch.tables.parts.hinges[1:]
    out = np.zeros((1, sum(map(length, hinges)) + model.nv))
    model.call(calls.links, batch, out, ws=workspace(batch.tables, batch.lanes))
    links, remainders, at = list[Link](), list[Floats](), 0
    for hinge in hinges:
        row, name = out[0, at:at + length(hinge)], link_name(model.names.v, hinge)
        inner = links[hinge.inner - 1].attitude if hinge.inner else np.eye(3)
        link = modal_link(name, hinge, row) if hinge.kind == MODAL else rigid_link(name, hinge, row, inner)
        remainder = np.concatenate([np.zeros(link.size - 6), row[f.LINK_ACCELERATION:][:6]])
        a = remainder - (link.Phi.T @ remainders[link.inner] if hinge.inner else 0.0)
        links.append(replace(link, a=a, b=link.b - link.M @ remainder))
        remainders.append(remainder)
        at += len(row)
    return Links(tuple(links), out[0, at:], batch.tables.parts)


def length(hinge: Hinge) -> int:
    """How many numbers the kernel tells of a link."""
    n = hinge.flexible.n_modes if hinge.flexible is not None else 0
    if hinge.kind == MODAL:
        return f.LINK_ROW + f.LINK_MODES + n*(n + 7 + 6)
    return f.LINK_ROW + 6*n


def shift(r: Floats) -> Floats:
    """phi(r): a wrench at r, seen from the origin."""
    phi = np.eye(6)
    phi[:3, 3:] = cross_matrix(r)
    return phi


def inertia(J: Floats, h: Floats, m: Any) -> Floats:
    """(6, 6): rigid inertia about the origin."""
    M, across = m*np.eye(6), cross_matrix(h)
    M[:3, :3], M[:3, 3:], M[3:, :3] = J, across, -across
    return M


def columns(hinge: Hinge, C: Floats) -> Floats:
    """H of an ordinary hinge, (n, 6): see `sweeps.primitive`."""
    zero = np.zeros((3, 3))
    if hinge.kind == REVOLUTE:
        return np.concatenate([C[:, 2], zero[0]])[None]
    if hinge.kind == PRISMATIC:
        return np.concatenate([zero[0], C[:, 2]])[None]
    if hinge.kind == SPHERICAL:
        return np.hstack([C.T, zero])
    if hinge.kind == FREE:
        return np.block([[zero, hinge.turn.T], [C.T, zero]])
    return np.zeros((0, 6))


def shapes(C: Floats, numbers: Floats) -> Floats:
    """(6, n): spatial shapes or wrenches of all modes, body axes to inertial axes."""
    return np.einsum("ij,rcj->cir", C, numbers.reshape(-1, 2, 3)).reshape(6, -1)


def rigid_link(name: str, hinge: Hinge, row: Floats, C_inner: Floats) -> Link:
    """An ordinary hinge with its rigid body, or a node, which the modes of its inner link move: Phi = [Pi^T; phi]."""
    C, Phi = row[f.LINK_ATTITUDE:][:9].reshape(3, 3), shift(row[f.LINK_OFFSET:][:3])
    if hinge.kind == NODE:
        Phi = np.vstack([shapes(C_inner, row[f.LINK_ROW:]).T, Phi])
    H, M = columns(hinge, C), inertia(C @ hinge.inertia[0] @ C.T, C @ hinge.moment[0], hinge.mass[0])
    b = row[f.LINK_DEMAND:][:6] - row[f.LINK_APPLIED:][:6]
    return Link(name, hinge.joint, hinge.kind, hinge.inner - 1, Phi, H, hinge.v + np.arange(len(H)), M, C, np.zeros(6), b)


def modal_link(name: str, hinge: Hinge, row: Floats) -> Link:
    """The modes of a flexible body, with its mass: Phi = [0, phi], H = [I, -Pi_F^T], Pi_F the shapes of its inboard node."""
    n, C = hinge.flexible.n_modes, row[f.LINK_ATTITUDE:][:9].reshape(3, 3)
    more = row[f.LINK_ROW:]
    J = np.zeros((3, 3))
    J[np.triu_indices(3)] = more[f.LINK_J:][:6]
    J = np.triu(J) + np.triu(J, 1).T
    modes, inboard = more[f.LINK_MODES:][:n*(n + 7)].reshape(n, n + 7), more[f.LINK_MODES + n*(n + 7):]
    D, g, z = modes[:, :n], shapes(C, modes[:, n:n + 6]), modes[:, n + 6]
    rigid = inertia(C @ J @ C.T, C @ more[f.LINK_H:][:3], hinge.mass[0])
    M = np.block([[np.triu(D) + np.triu(D, 1).T, g.T], [g, rigid]])
    H, Phi = np.hstack([np.eye(n), -shapes(C, inboard).T]), np.hstack([np.zeros((6, n)), shift(row[f.LINK_OFFSET:][:3])])
    demand = shapes(C, row[f.LINK_DEMAND:][:6])[:, 0]
    b = np.concatenate([z, demand - row[f.LINK_APPLIED:][:6]])
    return Link(name, hinge.joint, MODAL, hinge.inner - 1, Phi, H, hinge.v + np.arange(n), M, C, np.zeros(n + 6), b)
