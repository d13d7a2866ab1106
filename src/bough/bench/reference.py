"""The reference systems of `bough calibrate`: small ones of each form of compiled code, which together tell all weights apart.

All loops close at zero coordinates, where the systems are timed.
"""
from collections.abc import Callable
from functools import cache, partial
from typing import Any

from bough.bench.mechanisms import Mechanism, neutral_pose
from bough.describe import Frame, Joint, PointOnPlane, Revolute, Spherical, System, Weld
from bough.flex import FlexibleBody, beam

BESIDE = (0.2, -0.1, 0.15)
LIMBS = ("revolute", "prismatic", "spherical", "universal")
BEAM: dict[str, Any] = {"E": 1e8, "G": 4e7, "area": 5e-3, "Iy": 1.04e-6, "Iz": 4.17e-6, "J": 2.9e-6, "density": 1000.0,
                        "elements": 16}
KINDS: dict[str, dict[str, Any]] = {
    "zeroth-order": {"variant": "zeroth_order", "geometric_stiffness": False}, "full": {"geometric_stiffness": False},
    "stiffening": {}, "free-free": {"boundary": "free-free", "geometric_stiffness": False}}


def limbs(base: str | None, number: int, length: int, kinds: tuple[str, ...] = ("revolute",)) -> System:
    """So many limbs of so many bodies, joints in turn of these kinds, on one base; without one, on the ground."""
    m = Mechanism("limbs")
    root = None if base is None else m.body(None, base)
    for _ in range(number):
        m.limb(root, [kinds[i % len(kinds)] for i in range(length)])
    return m.system


def binary(levels: int) -> System:
    """Two bodies on each body."""
    m = Mechanism("binary")
    level = [m.body(None, "revolute")]
    for _ in range(levels - 1):
        level = [m.body(parent, "revolute") for parent in level for _ in range(2)]
    return m.system


def rings(number: int, length: int, joint: Joint, base: str | None = None, *, side_by_side: bool = False,
          kind: str = "revolute", less: int = 0) -> System:
    """So many loops, each of two limbs of so many joints of a kind, the second with some less: one on the other, or all on the
    base."""
    m = Mechanism("rings")
    root = None if base is None else m.body(None, base)
    for i in range(number):
        a, b = (str(m.limb(root, [kind]*joints)) for joints in (length, length - less))
        close(m.system, f"ring{i}", joint, a, b)
        root = root if side_by_side else a
    return m.system


def close(system: System, name: str, joint: Joint, a: str, b: str) -> None:
    """A loop between two bodies as they are at zero coordinates, at a point beside the origin of the first."""
    (at, turn), (place, other) = neutral_pose(system, a), neutral_pose(system, b)
    seen = other.inv().apply(at + turn.apply(BESIDE) - place)
    system.loop(name, joint=joint, a=Frame(a, at=BESIDE), b=Frame(b, at=seen, orient=(other.inv()*turn).as_quat()))


# ---- flexible --------------------------------------------------------------------------------------------------------------
@cache
def link(modes: int, kind: str) -> FlexibleBody:
    return beam(1.0, modes=modes, **BEAM, **KINDS[kind])


def arms(number: int, length: int, modes: int, kind: str, *, base: str | None = None, limb: tuple[str, ...] = (),
         closed: bool = False) -> System:
    """So many arms of so many flexible links on revolute joints, on one base or on the ground, and beside them a limb of rigid
    bodies; closed: a ball joins each tip with the next one's, all of which coincide at zero coordinates."""
    m = Mechanism("arms")
    root, tips = None if base is None else m.body(None, base), []
    m.limb(root, limb)
    for i in range(number):
        parent = root
        for k in range(length):
            name = f"arm{i} link{k}"
            m.system.body(name, parent=parent, joint=Revolute("yzx"[(i + k) % 3]), flexible=link(modes, kind),
                          node="tip" if k else None)
            parent = name
        tips.append(str(parent))
    for i in range((number - 1)*closed):
        m.system.loop(f"ball{i}", joint=Spherical(), a=Frame(tips[i], node="tip"), b=Frame(tips[i + 1], node="tip"))
    return m.system


# ---- by form ---------------------------------------------------------------------------------------------------------------
def rigid_trees() -> list[partial[System]]:
    chains = [partial(limbs, None, 1, n) for n in (1, 2, 3, 4, 5, 7, 10, 15, 25, 45, 100)]
    others = [partial(limbs, None, 1, n, (kind,)) for n, kind in
              ((1, "prismatic"), (2, "prismatic"), (4, "prismatic"), (9, "prismatic"), (1, "spherical"), (2, "spherical"),
               (4, "spherical"), (9, "spherical"), (18, "spherical"), (3, "bushing"), (7, "universal"))]
    floating = [partial(limbs, "free", number, length) for number, length in
                ((0, 0), (1, 1), (1, 3), (1, 8), (1, 20), (2, 1), (3, 2), (6, 1), (14, 1), (4, 5), (6, 6))]
    fixed = [partial(limbs, "revolute", number, length) for number, length in ((2, 1), (3, 1), (2, 3), (8, 1), (20, 1), (5, 5))]
    return chains + others + floating + fixed + [partial(binary, levels) for levels in (2, 3, 4, 5)]


def flexible_trees() -> list[partial[System]]:
    sizes = ((1, 1), (1, 3), (1, 6), (1, 12), (2, 2), (2, 5), (3, 1), (3, 8), (5, 3), (8, 2))
    chains = [partial(arms, 1, length, modes, kind) for kind in ("zeroth-order", "full", "stiffening") for length, modes in sizes]
    floating = [partial(arms, number, length, modes, kind, base="free") for number, length, modes, kind in
                ((1, 1, 2, "full"), (2, 1, 4, "zeroth-order"), (2, 1, 4, "stiffening"), (4, 1, 2, "full"), (2, 2, 3, "full"),
                 (6, 1, 5, "full"))]
    others = [partial(arms, 2, 1, 3, "full"), partial(arms, 3, 1, 2, "zeroth-order"), partial(arms, 1, 8, 9, "full"),
              *(partial(arms, 1, length, modes, "free-free") for length, modes in ((1, 2), (1, 5), (2, 3), (3, 6)))]
    beside = [partial(arms, 1, 1, 2, "full", limb=(kind,)*number) for kind in LIMBS for number in (1, 4)]
    return chains + floating + others + beside


def rigid_loops() -> list[partial[System]]:
    joints = {1: PointOnPlane("z"), 3: Spherical(), 5: Revolute("z"), 6: Weld()}
    rows = [(1, 1, 1), (1, 1, 3), (1, 2, 1), (2, 3, 1), (1, 2, 3), (1, 3, 3), (1, 3, 5), (1, 4, 6), (1, 8, 6), (1, 16, 3),
            (1, 16, 6), (2, 2, 3), (2, 4, 6), (3, 3, 5), (4, 2, 3), (6, 3, 3), (10, 2, 3)]
    one_on_the_other = [partial(rings, number, length, joints[held]) for number, length, held in rows]
    floating = [partial(rings, number, length, joints[held], "free", side_by_side=side) for number, length, held, side in
                ((1, 2, 3, False), (1, 5, 6, False), (2, 3, 5, True), (4, 2, 3, True), (3, 7, 6, True), (8, 2, 3, True),
                 (4, 4, 3, False))]
    others = [partial(rings, number, length, Spherical(), kind=kind) for number, length, kind in
              ((1, 2, "prismatic"), (1, 5, "prismatic"), (1, 2, "spherical"), (1, 5, "spherical"), (1, 2, "universal"),
               (2, 4, "universal"), (1, 1, "bushing"))]
    small = [partial(rings, 1, length, joints[held], less=less) for length, held, less in
             ((2, 1, 1), (2, 3, 1), (2, 5, 1), (3, 3, 1), (3, 3, 2), (4, 3, 3), (5, 6, 2))]
    return one_on_the_other + floating + others + small


def flexible_loops() -> list[partial[System]]:
    sizes = ((2, 1, 2, "full"), (2, 1, 3, "full"), (2, 1, 5, "full"), (2, 1, 8, "full"), (2, 2, 1, "full"), (2, 2, 3, "full"),
             (2, 3, 2, "full"), (2, 3, 5, "full"), (2, 5, 2, "full"), (3, 1, 3, "full"), (3, 2, 2, "full"), (3, 3, 4, "full"),
             (4, 1, 2, "full"), (4, 2, 4, "full"), (5, 1, 4, "full"), (2, 1, 3, "stiffening"), (2, 1, 6, "stiffening"),
             (2, 2, 6, "stiffening"), (3, 1, 1, "stiffening"), (2, 3, 3, "stiffening"), (2, 1, 3, "free-free"),
             (2, 2, 4, "free-free"), (2, 1, 1, "full"), (3, 1, 6, "full"), (2, 2, 8, "full"), (6, 1, 3, "full"), (2, 8, 1, "full"))
    return [partial(arms, *size, closed=True) for size in sizes] + [
        partial(arms, number, length, modes, kind, base="free", closed=True) for number, length, modes, kind in
        ((2, 1, 2, "full"), (2, 2, 3, "full"), (3, 1, 4, "full"), (4, 2, 2, "full"), (3, 2, 2, "stiffening"))] + [
        partial(arms, 2, 1, 2, "full", limb=(kind,)*3, closed=True) for kind in LIMBS]


FORMS: dict[str, Callable[[], list[partial[System]]]] = {
    "rigid trees": rigid_trees, "flexible trees": flexible_trees, "rigid loops": rigid_loops, "flexible loops": flexible_loops}
