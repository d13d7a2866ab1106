"""Coordinates of links in which little is left for the recursion to do.

With P = T P~ T^T, and H~ = H T, Phi(i, k) T(k) = T(i) Phi~(i, k), the recursion is the same in other coordinates.  Choices of T:

    a massless link with one link on it takes that link's coordinates: T = Phi(k, c) T(c), so that P~ is P_plus of that link
    of a link with H = [I, B; 0, C], whose first coordinates do not act on its inner link, T = [I, -B; 0, I]: H~ = [I, 0; 0, C]
"""
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bough.analyze.operators.state_links import Link
from bough.compile.state_layout import Floats


@dataclass(slots=True)
class ReducedLink:
    """A link in its new coordinates."""
    size: int                           # u + m
    own: int                            # u
    speeds: int                         # n
    H: Floats                       # (n - u, m): of the speeds that are not coordinates
    M: Floats | None                # S M S^T; None: the coordinates are those of the only link on it
    T: Floats | None = None         # (N, u + m); None: the identity
    S: Floats | None = None         # T^-1, likewise

    @property
    def carried(self) -> int:           # m
        return self.size - self.own


def own_count(link: Link, H: Floats) -> int:
    """How many coordinates come first that are speeds too, and that do not act on the inner link."""
    if link.Phi[:, 0].any():
        return 0
    felt = np.flatnonzero(link.Phi.any(axis=0))
    u = int(felt[0]) if len(felt) else link.size
    return u if len(H) >= u and (H[:, :u] == np.eye(len(H), u)).all() else 0


def in_own_coordinates(link: Link, H: Floats, u: int) -> ReducedLink:
    if not H[:u, u:].any():
        return ReducedLink(link.size, u, len(H), H[u:, u:], link.M)
    T, S = np.eye(link.size), np.eye(link.size)
    S[:u, u:], T[:u, u:] = H[:u, u:], -H[:u, u:]
    return ReducedLink(link.size, u, len(H), H[u:, u:], S @ link.M @ S.T, T, S)


def carried_by(Phi: Floats, outer: ReducedLink) -> Floats:
    """Phi T of a link, of the coordinates that it carries."""
    return (Phi if outer.T is None else Phi @ outer.T)[:, outer.own:]


def chosen_coordinates(links: Sequence[Link], maps: Sequence[Floats], as_written: bool) -> list[ReducedLink]:
    """Coordinates of all links; as written, the ones they have."""
    if as_written:
        return [in_own_coordinates(link, H, 0) for link, H in zip(links, maps, strict=True)]
    children: list[list[int]] = [[] for _ in links]
    for k, link in enumerate(links):
        if link.inner >= 0:
            children[link.inner].append(k)
    found: list[ReducedLink] = [None]*len(links)                       # type: ignore[list-item]
    for k in range(len(links) - 1, -1, -1):
        link, H, u = links[k], maps[k], own_count(links[k], maps[k])
        if u == 0 and len(children[k]) == 1 and not link.M.any():
            T = carried_by(links[children[k][0]].Phi, found[children[k][0]])
            found[k] = ReducedLink(T.shape[1], 0, len(H), H @ T, None, T)
        else:
            found[k] = in_own_coordinates(link, H, u)
    return found
