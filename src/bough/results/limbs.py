"""Joints that belong together in a plot: those of one limb, a chain of single joints without a branch."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from bough.describe import Joint, System

MOST_CURVES = 8


@dataclass(frozen=True)
class Group:
    """Entries of q and of v that share a panel: one unit, one limb or one joint."""

    title: str
    q: list[int]
    v: list[int]
    labels: list[str]
    kind: str  # "translation", "angle" or "quaternion"


def groups(system: System) -> list[Group]:
    """All coordinates, in the order of q: single joints of a limb together, of a joint with many each kind apart."""
    children = Counter(body.parent for body in system.bodies.values())
    found: list[Group] = []
    tips: dict[str, Group] = {}                           # the last body of a limb that can go on, and its panel
    q = v = 0
    for name, body in system.bodies.items():
        joint, title = body.joint, body.joint.name or name
        if joint.n_v == 1:
            kind = "translation" if joint.translations else "angle"
            limb = tips.get(body.parent or "") if children[body.parent] == 1 else None
            if limb is None or limb.kind != kind or len(limb.q) >= MOST_CURVES:
                limb = Group(title, [], [], [], kind)
                found.append(limb)
            limb.q.append(q)
            limb.v.append(v)
            limb.labels.append(title)
            tips[name] = limb
        else:
            found += _of_joint(title, joint, q, v)
        q, v = q + joint.n_q, v + joint.n_v
    return found


def _of_joint(title: str, joint: Joint, q: int, v: int) -> list[Group]:
    found, moves = [], len(joint.translations)
    if moves:
        found.append(
            Group(title, [*range(q, q + moves)], [*range(v, v + moves)], list(joint.q_labels[:moves]), "translation")
        )
    if joint.n_v > moves:
        kind = "quaternion" if joint.spherical else "angle"
        labels = list("xyzw") if joint.spherical else list(joint.q_labels[moves:])
        found.append(Group(title, [*range(q + moves, q + joint.n_q)], [*range(v + moves, v + joint.n_v)], labels, kind))
    return found
