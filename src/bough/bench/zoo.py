"""The zoo of `bough bench auto`: systems of 2 to 500 degrees of freedom, rigid and flexible, open and looped."""
from collections.abc import Callable
from functools import cache, partial
from typing import Any

from bough.bench.jsc_system import jsc_case
from bough.bench.mechanisms import BEAM, Mechanism, arm7, chain, flexible_arm, four_bar_chain, limbed_platform, tree36
from bough.describe import Frame, Free, Prismatic, Revolute, Spherical, System
from bough.flex import FlexibleBody, beam

KINDS: dict[str, dict[str, Any]] = {
    "zeroth-order": {"variant": "zeroth_order", "geometric_stiffness": False}, "full": {"geometric_stiffness": False},
    "stiffening": {}, "free-free": {"boundary": "free-free", "geometric_stiffness": False}}


@cache
def link(modes: int, kind: str) -> FlexibleBody:
    return beam(1.0, elements=16, modes=modes, **BEAM, **KINDS[kind])


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


def mixed(name: str, *kinds: str) -> System:
    """Bodies in a row, on joints of these kinds."""
    m = Mechanism(name)
    m.limb(None, kinds)
    return m.system


def satellite(panels: int, modes: int, kind: str = "stiffening") -> System:
    """A free hub with panels on revolute joints: flexible ones, or without modes rigid ones."""
    m = Mechanism(f"satellite with {panels} panels")
    hub = m.body(None, "free")
    for i in range(panels):
        if modes:
            m.system.body(f"panel{i}", parent=hub, joint=Revolute("xyz"[i % 3]), at=(0.5, 0.1*i, 0), flexible=link(modes, kind))
        else:
            m.body(hub, "revolute")
    return m.system


def slider_crank(modes: int) -> System:
    """A crank, a rod and a slider; the rod is flexible, or without modes rigid."""
    s = System("slider crank", gravity=(0, 0, -9.81))
    s.body("crank", joint=Revolute("y"), mass=1.0, com=(0, 0, 0.25), inertia=(0.02, 0.02, 0.01))
    rod = {"flexible": link(modes, "full")} if modes else {"mass": 1.0, "com": (0.5, 0, 0), "inertia": (0.01, 0.1, 0.1)}
    s.body("rod", parent="crank", joint=Revolute("y"), at=(0, 0, 0.5), **rod)
    s.body("slider", joint=Prismatic("x"), at=(1.0, 0, 0.5), mass=2.0, inertia=(0.1, 0.1, 0.1))
    tip = Frame("rod", node="tip") if modes else Frame("rod", at=(1.0, 0, 0))
    s.loop("pin", joint=Spherical(), a=tip, b=Frame("slider"))
    return s


def gripped(modes: int) -> System:
    """A free hub whose two flexible arms hold each other."""
    s = System("gripped", gravity=(0, 0, 0))
    s.body("hub", joint=Free(), mass=50.0, inertia=(5, 5, 5))
    for i in range(2):
        s.body(f"upper{i}", parent="hub", joint=Revolute("yz"[i]), flexible=link(modes, "stiffening"))
        s.body(f"lower{i}", parent=f"upper{i}", node="tip", joint=Revolute("zy"[i]), flexible=link(modes, "stiffening"))
    s.loop("grip", joint=Spherical(), a=Frame("lower0", node="tip"), b=Frame("lower1", node="tip"))
    return s


ZOO: dict[str, Callable[[], System]] = {
    "cart and pendulum": partial(mixed, "cart", "prismatic", "revolute"),
    "universal pendulum": partial(mixed, "universal", "universal"),
    "gyroscope": partial(mixed, "gyroscope", "gimbal"),
    "ball and hinge": partial(mixed, "ball", "spherical", "revolute"),
    "arm7": arm7,
    "bushing": partial(mixed, "bushing", "bushing"),
    "satellite, rigid": partial(satellite, 2, 0),
    "tree36": tree36,
    "mixed40": partial(chain, 40, ("revolute", "spherical", "prismatic", "universal"), "mixed40"),
    "chain100": partial(chain, 100),
    "chain494": partial(chain, 494),
    "a beam, 2 modes": partial(flexible_arm, 1, 2, "stiffening"),
    "a box, 5 modes": partial(flexible_arm, 1, 5, "full"),
    "a box, 10 modes": partial(flexible_arm, 1, 10, "full"),
    "2 beams, 3 modes": partial(flexible_arm, 2, 3, "stiffening"),
    "4 links, 1 mode": partial(flexible_arm, 4, 1, "zeroth_order"),
    "satellite, flexible": partial(satellite, 3, 4),
    "10 links, 5 modes": partial(flexible_arm, 10, 5, "full"),
    "10 links, 20 modes": partial(flexible_arm, 10, 20, "full"),
    "slider crank": partial(slider_crank, 0),
    "four-bar": partial(four_bar_chain, 1),
    "3 four-bars": partial(four_bar_chain, 3),
    "64 four-bars": partial(four_bar_chain, 64),
    "limbed platform": limbed_platform,
    "JSC 1, rigid, open": partial(jsc_case, 1),
    "JSC 5, flexible, open": partial(jsc_case, 5),
    "JSC 9, rigid loops": partial(jsc_case, 9),
    "JSC 16, flexible loops": partial(jsc_case, 16),
    "slider crank, flexible": partial(slider_crank, 2),
    "gripped arms": partial(gripped, 3),
    "2 closed arms, 3 modes": partial(arms, 2, 1, 3, "full", closed=True),
    "2 closed arms, 8 modes": partial(arms, 2, 1, 8, "full", closed=True),
}
