"""The mechanisms that engines are compared on: random but fixed numbers, realistic sizes."""
from collections.abc import Callable, Sequence

import numpy as np

from bough.describe import Free, Joint, Prismatic, Revolute, Spherical, System, Universal

KINDS: dict[str, Callable[[np.random.Generator], Joint]] = {
    "revolute": lambda rng: Revolute(rng.normal(size=3)),
    "prismatic": lambda rng: Prismatic(rng.normal(size=3)),
    "spherical": lambda rng: Spherical(),
    "universal": lambda rng: Universal("xy"),
    "free": lambda rng: Free(),
}


class Mechanism:
    """A system that grows body by body, each with random placement, mass and inertia."""

    def __init__(self, name: str, seed: int = 0):
        self.system, self.rng = System(name, gravity=(0.0, 0.0, -9.81)), np.random.default_rng(seed)

    def body(self, parent: str | None, kind: str) -> str:
        rng, name = self.rng, f"b{len(self.system.bodies) + 1}"
        mass, square = rng.uniform(0.5, 3.0), rng.uniform(0.01, 0.05, 3)
        turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
        inertia = mass*(turn*(square.sum() - square)) @ turn.T
        quaternion = rng.normal(size=4)
        at, orient = rng.uniform(-0.3, 0.3, 3), quaternion/np.linalg.norm(quaternion)
        if parent is None:
            at, orient = np.zeros(3), np.array([0.0, 0.0, 0.0, 1.0])
        self.system.body(name, parent=parent, joint=KINDS[kind](rng), mass=mass, com=rng.uniform(-0.1, 0.1, 3),
                         inertia=(inertia + inertia.T)/2, at=at, orient=orient)
        return name

    def limb(self, parent: str | None, kinds: Sequence[str]) -> str | None:
        for kind in kinds:
            parent = self.body(parent, kind)
        return parent


def arm7() -> System:
    """Fixed base, seven revolutes."""
    m = Mechanism("arm7")
    m.limb(None, ["revolute"]*7)
    return m.system


def tree36() -> System:
    """Floating base; two legs of six, a spine of three with two arms of seven and a neck: 36 degrees of freedom."""
    m = Mechanism("tree36")
    base = m.body(None, "free")
    m.limb(base, ["revolute"]*6)
    m.limb(base, ["revolute"]*6)
    chest = m.limb(base, ["revolute"]*3)
    for n in (7, 7, 1):
        m.limb(chest, ["revolute"]*n)
    return m.system


def chain(n: int, kinds: Sequence[str] = ("revolute",), name: str = "") -> System:
    """Floating base and n bodies in a row."""
    m = Mechanism(name or f"chain{n}")
    m.limb(None, ["free", *(kinds[i % len(kinds)] for i in range(n))])
    return m.system


MECHANISMS: dict[str, Callable[[], System]] = {
    "arm7": arm7,
    "tree36": tree36,
    "chain10": lambda: chain(10),
    "chain100": lambda: chain(100),
    "chain1000": lambda: chain(1000),
    "chain4000": lambda: chain(4000),
    "mixed40": lambda: chain(40, ("revolute", "spherical", "prismatic", "universal"), "mixed40"),
}
