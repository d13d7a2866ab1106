"""The mechanisms that engines are compared on, random but fixed numbers and realistic sizes; and the zoo of `bough bench auto`."""
from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from bough.bench.jsc_system import jsc_case
from bough.describe import Frame, Free, Gimbal, Joint, Prismatic, Revolute, Spherical, System, Universal, Weld
from bough.flex import FlexibleBody, beam, box, from_matrices, solid_model

KINDS: dict[str, Callable[[np.random.Generator], Joint]] = {
    "revolute": lambda rng: Revolute(rng.normal(size=3)),
    "prismatic": lambda rng: Prismatic(rng.normal(size=3)),
    "spherical": lambda rng: Spherical(),
    "universal": lambda rng: Universal("xy"),
    "gimbal": lambda rng: Gimbal("xyz"),
    "bushing": lambda rng: Joint(translations="xyz", rotations="xyz"),
    "free": lambda rng: Free(),
}


class Mechanism:
    """A system that grows body by body, each with random placement, mass and inertia."""

    def __init__(self, name: str):
        self.system, self.rng = System(name, gravity=(0.0, 0.0, -9.81)), np.random.default_rng(0)

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


def mixed(name: str, *kinds: str) -> System:
    """Bodies in a row, on joints of these kinds."""
    m = Mechanism(name)
    m.limb(None, kinds)
    return m.system


def arm7() -> System:
    """Fixed base, seven revolutes."""
    return mixed("arm7", *["revolute"]*7)


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
    return mixed(name or f"chain{n}", "free", *(kinds[i % len(kinds)] for i in range(n)))


MECHANISMS: dict[str, Callable[[], System]] = {
    "arm7": arm7,
    "tree36": tree36,
    "chain10": lambda: chain(10),
    "chain100": lambda: chain(100),
    "chain1000": lambda: chain(1000),
    "chain4000": lambda: chain(4000),
    "mixed40": lambda: chain(40, ("revolute", "spherical", "prismatic", "universal"), "mixed40"),
}


BEAM: dict[str, Any] = {"E": 1e8, "G": 4e7, "area": 5e-3, "Iy": 1.04e-6, "Iz": 4.17e-6, "J": 2.9e-6, "density": 1000.0}


# ---- flexible ----------------------------------------------------------------------------------------------------------
def flexible_arm(links: int, modes: int, kind: str = "full") -> System:
    """A chain of equal flexible links on revolute joints about y and z in turn; without modes, of rigid ones.

    "full" and "zeroth_order" are elastic boxes whose mass is lumped at nodes; "stiffening" are beams, which stiffen
    geometrically."""
    link = beam(1.0, elements=24, modes=max(modes, 1), **BEAM) if kind == "stiffening" else _box_link(max(modes, 1), kind)
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


# ---- closed loops -------------------------------------------------------------------------------------------------------
def four_bar_chain(n: int) -> System:
    """A tower of n four-bars, each standing on the coupler of the one before in a plane of its own; every coupler's tip closes
    on its rocker's by a ball, which all engines can express (a planar four-bar makes one of its three directions redundant).

    The four-bars are parallelograms, so that their loops close at any angles: see `four_bar_states`."""
    rng, width, height = np.random.default_rng(0), 0.6, 0.5
    system = System(f"{n} four-bars", gravity=(0.0, 0.0, -9.81))
    for k in range(n):
        ground = f"coupler{k - 1}" if k else None
        mount: dict[str, Any] = {"parent": ground, "orient": {"axis": "x", "radians": rng.uniform(-0.3, 0.3)}}
        system.body(f"crank{k}", joint=Revolute("y"), **mount, **_rod(rng, (0.0, 0.0, height)))
        system.body(f"coupler{k}", parent=f"crank{k}", joint=Revolute("y"), at=(0.0, 0.0, height), **_rod(rng, (width, 0.0, 0.0)))
        system.body(f"rocker{k}", joint=Revolute("y"), at=(width, 0.0, 0.0), **mount, **_rod(rng, (0.0, 0.0, height)))
        system.loop(f"pin{k}", joint=Spherical(), a=Frame(f"coupler{k}", at=(width, 0.0, 0.0)),
                    b=Frame(f"rocker{k}", at=(0.0, 0.0, height)))
    return system


def four_bar_states(n: int, count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """q, v and tau of states that satisfy the loops of `four_bar_chain`: a coupler turns against its crank as the crank turns."""
    rng, signs = np.random.default_rng(1), np.array([1.0, -1.0, 1.0])
    q, v = (np.kron(rng.uniform(-size, size, (count, n)), signs) for size in (0.8, 2.0))
    return q, v, rng.normal(size=(count, 3*n))


def _rod(rng: np.random.Generator, end: tuple[float, float, float]) -> dict[str, Any]:
    """A rod of random mass from the body's origin to `end`."""
    mass, tip = rng.uniform(0.5, 2.0), np.array(end)
    length = np.linalg.norm(tip)
    across = np.eye(3) - np.outer(tip, tip)/length**2
    return {"mass": mass, "com": tip/2, "inertia": mass*(length**2/12*across + 1e-3*np.eye(3))}


def limbed_platform() -> System:
    """A floating base with five limbs of seven joints, and one joint more for a dish: 42 degrees of freedom, three welded loops.

    Three limbs hold a plate (the last body of the first), from which two reach out to hold an object. The loops close at zero
    joint coordinates, wherever the base is: see `limbed_platform_states`."""
    m = Mechanism("limbed platform")
    base = m.body(None, "free")
    m.body(base, "revolute")
    legs = [m.limb(base, ["revolute"]*7) for _ in range(3)]
    arms = [m.limb(legs[0], ["revolute"]*7) for _ in range(2)]
    model = m.system.compile()
    for name, a, b in (("plate1", legs[0], legs[1]), ("plate2", legs[0], legs[2]), ("object", arms[0], arms[1])):
        (p_a, R_a), (p_b, R_b) = (model.pose(model.q0, str(body)) for body in (a, b))
        m.system.loop(name, joint=Weld(), a=Frame(str(a)),
                      b=Frame(str(b), at=R_b.T @ (p_a - p_b), orient=Rotation.from_matrix(R_b.T @ R_a)))
    return m.system


def limbed_platform_states(count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """q, v and tau of states that satisfy its loops: the base moves and carries all else."""
    rng = np.random.default_rng(1)
    q, v = np.zeros((count, 43)), np.zeros((count, 42))
    q[:, :3], q[:, 3:7] = rng.uniform(-1.0, 1.0, (count, 3)), Rotation.random(count, random_state=1).as_quat()
    v[:, :6] = rng.normal(size=(count, 6))
    return q, v, rng.normal(size=(count, 42))


# ---- the zoo of `bough bench auto`: systems of 2 to 500 degrees of freedom, rigid and flexible, open and looped -----------
LINKS: dict[str, dict[str, Any]] = {
    "zeroth-order": {"variant": "zeroth_order", "geometric_stiffness": False}, "full": {"geometric_stiffness": False},
    "stiffening": {}, "free-free": {"boundary": "free-free", "geometric_stiffness": False}}


@cache
def link(modes: int, kind: str) -> FlexibleBody:
    return beam(1.0, elements=16, modes=modes, **BEAM, **LINKS[kind])


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
