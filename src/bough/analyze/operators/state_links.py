"""Links: the hinges of the partitioned tree with their bodies, at one state.

A link is a body on its hinge.  Its body coordinates are the spatial velocity of its origin, [angular, linear] in inertial axes; of
a flexible body its modal rates come first.

    Phi(i, k)   carries forces from link k to its inner link i, and Phi^T velocities outward
    H(k)        hinge map: V(k) = Phi^T(i, k) V(i) + H^T(k) v(k)
    M(k)        inertia;    a(k), b(k)   acceleration and force that are there without v'

Whole joints: the partition is undone, so that the link of a body has all speeds of its joint and its modes. By [J 5], applied in
reverse, a massless link k' that carries only link k of the same body is merged into it,

    Phi(p, k) = Phi(p, k') Phi(k', k),   H = [H(k); H(k') Phi(k', k)],   a = a(k) + Phi^T(k', k) a(k'),   M = M(k),   b = b(k)

Splits of a body's link by the user are checked against the conditions under which they change nothing. Points of bodies are maps
from links.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bough.analyze.operators.operator import Operator, Place, Space, of_blocks
from bough.analyze.partition_table import link_name
from bough.compile.batch import Batch, array, check_node
from bough.compile.compiled_model import CompiledModel
from bough.compile.layout import Floats
from bough.compile.partition import Hinge, Partition
from bough.describe.orientation import cross_matrix
from bough.errors import ModelError, StateError, similar
from bough.kernels.hinges import FREE, MODAL, NODE, PRISMATIC, REVOLUTE, SPHERICAL
from bough.sweeps import calls, fields as f


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
    tree: Partition                    # that they were made of

    @property
    def slices(self) -> list[slice]:
        ends = np.cumsum([0, *(link.size for link in self.links)]).tolist()
        return [slice(*ends[k:k + 2]) for k in range(len(self.links))]


def links_of(model: CompiledModel, batch: Batch) -> Links:
    """The links at one state of a tree (loops are open), from the compiled sweeps."""
    hinges = batch.tables.tree.hinges[1:]
    out = np.zeros((1, sum(map(length, hinges)) + model.nv))
    model.call(calls.links, batch, out)
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
    return Links(tuple(links), out[0, at:], batch.tables.tree)


def length(hinge: Hinge) -> int:
    """Numbers that the kernel returns for a link."""
    n = hinge.flexible.n_modes if hinge.flexible is not None else 0
    if hinge.kind == MODAL:
        return f.LINK_ROW + f.LINK_MODES + n*(n + 7 + 6)
    return f.LINK_ROW + 6*n


def shift(r: Floats) -> Floats:
    """phi(r): transfers a wrench at r to the origin."""
    phi = np.eye(6)
    phi[:3, 3:] = cross_matrix(r)
    return phi


def inertia(J: Floats, h: Floats, m: Any) -> Floats:
    """(6, 6): rigid inertia about the origin."""
    M, across = m*np.eye(6), cross_matrix(h)
    M[:3, :3], M[:3, 3:], M[3:, :3] = J, across, -across
    return M


def columns(hinge: Hinge, C: Floats) -> Floats:
    """H of an ordinary hinge, (n, 6): see `kernels.hinges`."""
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
    """An ordinary hinge with its rigid body, or a node, moved by the modes of its inner link: Phi = [Pi^T; phi]."""
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


# ---- whole -----------------------------------------------------------------------------------------------------------------
def whole_joints(links: Links) -> Links:
    """The links, merged where possible; intermediate links with mass, loads or another body stay separate."""
    merged: list[Link | None] = list(links.links)
    children = np.bincount([link.inner for link in links.links if link.inner >= 0], minlength=len(merged))
    for k in range(len(merged) - 1, -1, -1):
        outer = merged[k]
        while outer is not None and outer.inner >= 0 and mergeable(links.links[outer.inner], outer, children[outer.inner]):
            j, outer = outer.inner, joined(links.links[outer.inner], outer)
            merged[k], merged[j] = outer, None
    number = np.cumsum([link is not None for link in merged]) - 1
    kept = [replace(link, inner=int(number[link.inner]) if link.inner >= 0 else -1) for link in merged if link is not None]
    return replace(links, links=tuple(kept))


def mergeable(inner: Link, outer: Link, children: int) -> bool:
    """Whether a link is only a part of the joint of its outer link."""
    return (inner.body == outer.body and outer.kind != NODE and inner.kind < MODAL and children == 1
            and not inner.M.any() and not inner.b.any())


def joined(inner: Link, outer: Link) -> Link:
    """Two links of one body as one [J 5]."""
    name = outer.body if outer.kind != MODAL else f"{outer.body} with its modes"
    return replace(outer, name=name, inner=inner.inner, Phi=inner.Phi @ outer.Phi, H=np.vstack([outer.H, inner.H @ outer.Phi]),
                   speeds=np.concatenate([outer.speeds, inner.speeds]), a=outer.a + outer.Phi.T @ inner.a)


# ---- split -----------------------------------------------------------------------------------------------------------------
CLOSE = 1e-11                           # relative to the largest entry: tolerance of the conditions


@dataclass(frozen=True)
class Split:
    """A split of a body's link k: a massless link k' with some of its speeds, and the rest on that.

    inner        names of the speeds that k' has, in the order of the rows of H_inner; the others stay, in the order of H_outer
    Phi_inner    (N of the link it sits on, N')     from k' to that link; 6 rows on the ground
    Phi          (N', N)                            from k to k'
    H_inner      (n', N')                           hinge map of k'
    H_outer      (n - n', N)                        of what stays
    M_inner      (N', N'), b_inner (N',)            must be zero; a_inner (N',), a_outer (N,) may be left out, then k has all of a
    M_outer      (N, N)                             the whole link's own; left out, it is that

    >>> import numpy as np, bough
    >>> from bough.analyze.operators import Split
    >>> s = bough.System("wrist")
    >>> _ = s.body("hand", joint=bough.Universal("xy"), mass=1.0, inertia=(1, 1, 1))
    >>> ops = s.compile().operators([0.1, 0.2])
    >>> hand = ops.whole().links.links[0]
    >>> apart = Split(["hand.rx"], np.eye(6), np.eye(6), hand.H[1:], hand.H[:1])
    >>> ops.split("hand", apart).link_space.names
    ("hand'", 'hand')
    >>> ops.split("hand", Split(["hand.rx"], np.eye(6), np.eye(6), hand.H[:1], hand.H[1:]))
    Traceback (most recent call last):
    bough.errors.ModelError: body 'hand': the split fails H(k) = [H(k''); H(k') Phi(k',k)]: the row of 'hand.ry' differs by ...
    """
    inner: Sequence[str]
    Phi_inner: Any
    Phi: Any
    H_inner: Any
    H_outer: Any
    M_inner: Any = 0.0
    M_outer: Any = None
    a_inner: Any = 0.0
    a_outer: Any = None
    b_inner: Any = 0.0


def split_link(links: Links, speeds: Sequence[str], body: str, split: Split) -> Links:
    """The links with that of a body split; raises if the two are not equivalent to the whole [J 5]."""
    k = whole_link(links, body)
    inner, outer = parted(links.links[k], speeds, split)
    check_equivalent(links.links[k], inner, outer, speeds)

    def moved(link: Link) -> Link:
        return replace(link, inner=link.inner + (link.inner >= k))

    before, after = links.links[:k], links.links[k + 1:]
    return replace(links, links=(*before, inner, replace(outer, inner=k), *map(moved, after)))


def whole_link(links: Links, body: str) -> int:
    """The link with all speeds of a body."""
    found = [k for k, link in enumerate(links.links) if link.body == body and len(link.speeds)]
    if not found:
        moving = {link.body for link in links.links if len(link.speeds)}
        raise ModelError(f"there is no body '{body}' with speeds to split{similar(body, moving)}; "
                         f"there are {', '.join(sorted(moving))}")
    if len(found) > 1:
        names = ", ".join(f"'{links.links[k].name}'" for k in found)
        raise ModelError(f"body '{body}' is {len(found)} links already, {names}, for what hangs between them; split a body whose "
                         "joint carries nothing else")
    return found[0]


def parted(link: Link, speeds: Sequence[str], split: Split) -> tuple[Link, Link]:
    """k' and k of the split, with shapes checked."""
    own = [speeds[i] for i in link.speeds]
    for name in split.inner:
        if name not in own:
            raise ModelError(f"body '{link.body}': '{name}' is no speed of it{similar(name, own)}; its speeds are {', '.join(own)}")
    if np.ndim(split.Phi) != 2:
        raise ModelError(f"body '{link.body}': Phi has shape {np.shape(split.Phi)}; give a matrix with {link.size} columns")
    N, N_p, n = link.size, len(split.Phi), len(split.inner)
    here = np.isin(own, list(split.inner))
    order = [own.index(name) for name in split.inner]
    M_outer, a_outer = (whole if given is None else given for whole, given in ((link.M, split.M_outer), (link.a, split.a_outer)))

    def block(what: str, value: Any, *shape: int) -> Floats:
        given = np.asarray(value, float)
        if given.shape not in (shape, ()) or (given.shape == () and given != 0.0):
            raise ModelError(f"body '{link.body}': {what} has shape {given.shape}; give {shape}")
        return np.broadcast_to(given, shape)

    first = replace(link, name=f"{link.body}'", speeds=link.speeds[order], H=block("H_inner", split.H_inner, n, N_p),
                    Phi=block("Phi_inner", split.Phi_inner, len(link.Phi), N_p), M=block("M_inner", split.M_inner, N_p, N_p),
                    a=block("a_inner", split.a_inner, N_p), b=block("b_inner", split.b_inner, N_p))
    rest = replace(link, name=link.body, speeds=link.speeds[~here], H=block("H_outer", split.H_outer, len(own) - n, N),
                   Phi=block("Phi", split.Phi, N_p, N), M=block("M_outer", M_outer, N, N), a=block("a_outer", a_outer, N))
    return first, rest


def check_equivalent(whole: Link, inner: Link, outer: Link, speeds: Sequence[str]) -> None:
    """The conditions of the paper, one by one [J 5]."""
    order = [whole.speeds.tolist().index(i) for i in (*outer.speeds, *inner.speeds)]
    rows = [f"the row of '{speeds[i]}'" for i in whole.speeds[order]]
    biases = np.abs(np.concatenate([inner.a, outer.a, whole.a])).max(initial=0.0)
    H = np.vstack([outer.H, inner.H @ outer.Phi])
    for condition, given, wanted, scale, names in (
            ("Phi(p,k) = Phi(p,k') Phi(k',k)", inner.Phi @ outer.Phi, whole.Phi, np.abs(whole.Phi).max(), []),
            ("H(k) = [H(k''); H(k') Phi(k',k)]", H, whole.H[order], np.abs(whole.H).max(), rows),
            ("a(k) = a(k'') + Phi*(k',k) a(k')", outer.a + outer.Phi.T @ inner.a, whole.a, biases, []),
            ("M(k') = 0", inner.M, np.zeros_like(inner.M), 0.0, []),
            ("b(k') = 0", inner.b, np.zeros_like(inner.b), 0.0, []),
            ("M(k'') = M(k)", outer.M, whole.M, np.abs(whole.M).max(), [])):
        error = np.abs(given - wanted)
        if not error.max(initial=0.0) <= CLOSE*scale:
            worst = np.unravel_index(int(np.argmax(error)), error.shape)
            where = names[worst[0]] if names else f"entry {tuple(map(int, worst))}"
            raise ModelError(f"body '{whole.body}': the split fails {condition}: {where} differs by {error[worst]:.3g}; "
                             "the two links would not move as the whole one")


# ---- points ----------------------------------------------------------------------------------------------------------------
Point = str | tuple[str, Any]                       # a body's origin; (body, place in its axes); (body, node)


def checked(model: CompiledModel, point: Point) -> tuple[str, str | None, Floats]:
    """A point as its body, its node or None, and its place there."""
    body, where = point if isinstance(point, tuple) and len(point) == 2 else (point, (0.0, 0.0, 0.0))
    if not isinstance(body, str) or body not in model.names.bodies:
        raise StateError(f"points: there is no body {body!r}{similar(body, model.names.bodies)}; "
                         "give a body's name, (body, (x, y, z)) or (body, node)")
    if isinstance(where, str):
        check_node(model.system, body, where)
        return body, where, np.zeros(3)
    place = array(f"point of '{body}'", where, 3)
    if place.shape != (3,) or not np.isfinite(place).all():
        raise StateError(f"points: the place on '{body}' is {where!r}; give three finite numbers, or the name of a node")
    return body, None, place


def node_wrenches(model: CompiledModel, points: Sequence[Point]) -> dict[tuple[str, str | None], Floats]:
    """Zero wrenches on all nodes that are points, which makes them links of the tree."""
    found = [checked(model, point) for point in points]
    return {(body, node): np.zeros((1, 6)) for body, node, _ in found if node is not None}


def point_forces(model: CompiledModel, links: Links, space: Space, points: Sequence[Point]) -> Operator:
    """S: wrenches at points, [moment, force] in world axes, as forces on links; its transpose maps velocities of links to those of
    points.  Points fixed to the ground have no link."""
    steps, names, slices = list[tuple[Place, Place, Floats]](), [], links.slices
    for i, point in enumerate(points):
        body, node, place = checked(model, point)
        attachment = links.tree.attachments[body] if node is None else links.tree.attachment(body, node)
        names.append(str(point))
        if attachment.hinge:
            link = links.links[attachment.hinge - 1]
            arm = link.attitude @ (attachment.at[0] + attachment.turn @ place)
            steps.append((slices[attachment.hinge - 1], slice(6*i, 6*i + 6), shift(arm)))

    at = Space("point", tuple(names), tuple(range(0, 6*len(points) + 1, 6)))
    return of_blocks("S", space, at, steps, "wrenches at points, as forces on links")
