"""The mechanisms that engines are compared on: random but fixed numbers, realistic sizes."""
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from bough.describe import Free, Joint, Prismatic, Revolute, Spherical, System, Universal
from bough.flex import FlexibleBody, beam, box, from_matrices, solid_model

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


# ---- flexible ----------------------------------------------------------------------------------------------------------
def flexible_arm(links: int, modes: int, kind: str = "full") -> System:
    """A chain of equal flexible links on revolute joints about y and z in turn; without modes, of rigid ones.

    "full" and "zeroth_order" are elastic boxes whose mass is lumped at nodes; "stiffening" are beams, which stiffen
    geometrically."""
    link = _beam_link(max(modes, 1)) if kind == "stiffening" else _box_link(max(modes, 1), kind)
    system = System(f"arm of {links} links with {modes} modes", gravity=(0.0, 0.0, -9.81))
    for k in range(links):
        body: dict[str, Any] = {"flexible": link, **({"node": "tip"} if k else {})}
        if not modes:
            body = {"mass": link.mass, "com": link.com, "inertia": link.inertia, **({"at": (1.0, 0.0, 0.0)} if k else {})}
        system.body(f"link{k + 1}", parent=f"link{k}" if k else None, joint=Revolute("yz"[k % 2]), **body)
    return system


def _box_link(modes: int, variant: str) -> FlexibleBody:
    model = solid_model(box((1.0, 0.1, 0.05), (8, 1, 1)), E=1e8, nu=0.3, density=1000.0, inboard="root",
                        attach={"root": ("x", 0.0), "tip": ("x", 1.0)})
    lumped, attach = model.mass.sum(axis=1).ravel(), {each.name: list(each.nodes) for each in model.attachments}
    return from_matrices(np.diag(lumped), model.stiffness, model.position, attach=attach, inboard="root", modes=modes,
                         variant=variant)


def _beam_link(modes: int) -> FlexibleBody:
    return beam(1.0, E=1e8, G=4e7, area=5e-3, Iy=1.04e-6, Iz=4.17e-6, J=2.9e-6, density=1000.0, elements=24, modes=modes)
