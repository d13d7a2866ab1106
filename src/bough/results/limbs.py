"""Groups of coordinates for plots: the joints of one limb, a chain of single joints without branches; and modes."""

from collections import Counter
from typing import NamedTuple

from bough.describe import Body, Joint, System

MOST_CURVES = 8


class Group(NamedTuple):
    """Entries of q and of v that share a panel: one unit, one limb, one joint or one body's modes."""

    title: str
    q: list[int]
    v: list[int]
    labels: list[str]
    kind: str  # "translation", "angle", "quaternion" or "modes"


def groups(system: System) -> list[Group]:
    """All coordinates: single joints of a limb together, translations and rotations of other joints separately, modes in eights."""
    children = Counter(body.parent for body in system.bodies.values())
    found: list[Group] = []
    tips: dict[str, Group] = {}                           # the last body of each open limb, and its panel
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
        found += _of_modes(body, q + joint.n_q, v + joint.n_v)
        q, v = q + body.n_q, v + body.n_v
    return found


def _of_joint(title: str, joint: Joint, q: int, v: int) -> list[Group]:
    found, moves = [], len(joint.translations)
    if moves:
        found.append(Group(title, [*range(q, q + moves)], [*range(v, v + moves)], list(joint.q_labels[:moves]), "translation"))
    if joint.n_v > moves:
        kind = "quaternion" if joint.spherical else "angle"
        labels = list("xyzw") if joint.spherical else list(joint.q_labels[moves:])
        found.append(Group(title, [*range(q + moves, q + joint.n_q)], [*range(v + moves, v + joint.n_v)], labels, kind))
    return found


def _of_modes(body: Body, q: int, v: int) -> list[Group]:
    found = []
    for first in range(0, body.n_modes, MOST_CURVES):
        some = range(first, min(first + MOST_CURVES, body.n_modes))
        hertz = {r: body.elastic.frequencies[r] for r in some}
        labels = [f"mode {r + 1}, {f'{hertz[r]:.3g}' if hertz[r] < 999.5 else f'{hertz[r]:.0f}'} Hz" for r in some]
        found.append(Group(body.name, [q + r for r in some], [v + r for r in some], labels, "modes"))
    return found
