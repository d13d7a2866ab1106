"""Joints kept whole: the partition undone, so that a body's link has all speeds of its joint and its modes.

What [J 5] says of a split is read backwards: a massless link k' that carries nothing but link k of the same body is merged into it,

    Phi(p, k) = Phi(p, k') Phi(k', k),   H = [H(k); H(k') Phi(k', k)],   a = a(k) + Phi^T(k', k) a(k'),   M = M(k),   b = b(k)
"""
from dataclasses import replace

import numpy as np

from bough.analyze.operators.state_links import Link, Links
from bough.kernels.hinges import MODAL, NODE


def whole_joints(links: Links) -> Links:
    """The links with what can be merged merged; a link between with a mass, a load or a body of its own stays by itself."""
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
    """Whether a link is a mere part of the joint of the one on it."""
    return (inner.body == outer.body and outer.kind != NODE and inner.kind < MODAL and children == 1
            and not inner.M.any() and not inner.b.any())


def joined(inner: Link, outer: Link) -> Link:
    """Two links of one body as one [J 5]."""
    name = outer.body if outer.kind != MODAL else f"{outer.body} with its modes"
    return replace(outer, name=name, inner=inner.inner, Phi=inner.Phi @ outer.Phi, H=np.vstack([outer.H, inner.H @ outer.Phi]),
                   speeds=np.concatenate([outer.speeds, inner.speeds]), a=outer.a + outer.Phi.T @ inner.a)
