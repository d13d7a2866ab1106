"""A split of a body's link by the user, checked against the conditions under which it changes nothing."""
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bough.analyze.operators.state_links import Link, Links
from bough.compile.state_layout import Floats
from bough.errors import ModelError, nearest

CLOSE = 1e-11                           # relative to the largest entry: what the conditions may be missed by


@dataclass(frozen=True)
class Split:
    """A body's link k taken apart: a massless link k' with some of its speeds, and the rest of it on that.

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
    """The links with that of a body taken apart; refused by name where it is not the same [J 5]."""
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
        raise ModelError(f"there is no body '{body}' with speeds to split{nearest(body, moving)}; "
                         f"there are {', '.join(sorted(moving))}")
    if len(found) > 1:
        names = ", ".join(f"'{links.links[k].name}'" for k in found)
        raise ModelError(f"body '{body}' is {len(found)} links already, {names}, for what hangs between them; split a body whose "
                         "joint carries nothing else")
    return found[0]


def parted(link: Link, speeds: Sequence[str], split: Split) -> tuple[Link, Link]:
    """k' and k as the split gives them, their shapes checked."""
    own = [speeds[i] for i in link.speeds]
    for name in split.inner:
        if name not in own:
            raise ModelError(f"body '{link.body}': '{name}' is no speed of it{nearest(name, own)}; its speeds are {', '.join(own)}")
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
