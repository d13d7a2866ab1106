"""Mechanisms with closed loops, each with a state near which its loops close, and how many motions it has.

`MECHANISMS` names them all. `cut_elsewhere` describes the same mechanism with a loop cut at another joint.
"""
from collections.abc import Callable
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from scipy.spatial.transform import Rotation

import bough
from tests.support import maximal

DOWN = (0.0, 0.0, -9.81)


class Looped(NamedTuple):
    system: bough.System
    q: np.ndarray                   # near, not on, the loops
    v: np.ndarray
    motions: int                    # degrees of freedom that the loops leave at such states
    redundant: int = 0              # directions of the loops that the others imply


def rod(length, mass, axis="x", thickness=0.05):
    """Mass, mass center and inertia of a slender bar that starts at the body's origin."""
    along = np.eye(3)["xyz".index(axis)]
    across, spin = mass*(length**2/12 + thickness**2/16), mass*thickness**2/8
    return {"mass": mass, "com": along*length/2, "inertia": across*np.eye(3) + (spin - across)*np.outer(along, along)}


def lump(rng, mass=None, size=0.3):
    """Mass, mass center and inertia of an uneven body."""
    mass, square = mass or rng.uniform(0.5, 2.0), rng.uniform(0.1, 1.0, 3)*size**2
    turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    inertia = mass*(turn*(square.sum() - square)) @ turn.T
    return {"mass": mass, "com": rng.uniform(-0.3, 0.3, 3)*size, "inertia": (inertia + inertia.T)/2}


def any_orient(rng):
    q = rng.normal(size=4)
    return q/np.linalg.norm(q)


def any_state(system, rng, spread=0.6):
    """Random coordinates and speeds of the tree."""
    q = [np.concatenate([rng.uniform(-spread, spread, len(body.joint.neutral) - 4*body.joint.spherical),
                         any_orient(rng) if body.joint.spherical else []]) for body in system.bodies.values()]
    return np.concatenate(q), rng.normal(size=sum(body.joint.n_v for body in system.bodies.values()))


def close(system, name, joint, a, b, q, rng):
    """A loop that is closed at q: frame `a` is (body, at, orient), frame b on body `b` is where the joint, somewhere in its range,
    puts it."""
    stands = maximal.places(system, q)
    frame = stands[a[0]].on(a[1], a[2])
    if isinstance(joint, bough.Distance):
        way = rng.normal(size=3)
        outer = maximal.Place(frame.position + joint.length*way/np.linalg.norm(way), frame.rotation)
    else:
        angles, still = rng.uniform(0.2, 0.5, joint.n_v - 3*joint.spherical), np.zeros(joint.n_v)
        outer = maximal.moved(frame, joint, np.append(angles, any_orient(rng) if joint.spherical else []), still, still)
    position, turn = (part.value for part in stands[b])
    at = turn.T @ (outer.position.value - position)
    orient = Rotation.from_matrix(turn.T @ outer.rotation.value).as_quat()
    system.loop(name, joint=joint, a=bough.Frame(*a), b=bough.Frame(b, at=at, orient=orient))


# ---- planar --------------------------------------------------------------------------------------------------------------------
CLOSINGS = {"revolute": lambda: bough.Revolute("y"), "spherical": bough.Spherical,
            "line": lambda: bough.Joint(translations="y", rotations="spherical"),
            "cylindrical": lambda: bough.Cylindrical("y")}


def four_bar(closing="revolute"):
    """Crank, coupler and rocker in the x-z plane; the coupler's tip closes on the rocker's.

    Held directions: revolute 5, spherical 3, line (a pin that may slide along y in its eye) 2."""
    s = bough.System(f"four-bar, {closing}", gravity=DOWN)
    s.body("crank", joint=bough.Revolute("y", damping=0.02), **rod(0.4, 1.0))
    s.body("coupler", parent="crank", at=(0.4, 0, 0), joint=bough.Revolute("y"), **rod(1.0, 2.0))
    s.body("rocker", at=(0.9, 0, 0), joint=bough.Revolute("y", stiffness=3.0, rest=-1.2), **rod(0.8, 1.5))
    s.loop("pin", joint=CLOSINGS[closing](), a=bough.Frame("coupler", at=(1.0, 0, 0)), b=bough.Frame("rocker", at=(0.8, 0, 0)))
    redundant = {"revolute": 3, "spherical": 1, "line": 0, "cylindrical": 2}[closing]
    return Looped(s, np.array([-1.1, 0.75, -1.2]), np.array([2.0, -2.5, 1.0]), 1, redundant)


def quick_return():
    """A crank's pin in the slot of a lever: the pin's distance along the slot is free, so the two frames stay apart."""
    s = bough.System("quick return", gravity=DOWN)
    s.body("crank", joint=bough.Revolute("y"), at=(0.0, 0, 0.7), **rod(0.3, 1.0))
    s.body("lever", joint=bough.Revolute("y", damping=0.1), **rod(1.4, 3.0))
    slot = bough.Joint(translations="x", rotations="spherical")
    s.loop("slot", joint=slot, a=bough.Frame("lever"), b=bough.Frame("crank", at=(0.3, 0, 0)))
    return Looped(s, np.array([-0.5, -1.25]), np.array([3.0, 0.8]), 1, 1)


def slider_crank(closing="prismatic"):
    """Crank and rod; the slider hangs on the rod and slides in the world ("prismatic"), or slides and is pinned to the rod."""
    s = bough.System(f"slider-crank, {closing}", gravity=DOWN)
    s.body("crank", joint=bough.Revolute("y", torque=2.0), **rod(0.3, 1.0))
    s.body("rod", parent="crank", at=(0.3, 0, 0), joint=bough.Revolute("y"), **rod(0.8, 2.0))
    block = {"mass": 1.5, "inertia": (0.01, 0.02, 0.015)}
    q, v = [-0.8, 1.05], [4.0, -5.0]
    if closing == "prismatic":
        s.body("slider", parent="rod", at=(0.8, 0, 0), joint=bough.Revolute("y"), **block)
        s.loop("guide", joint=bough.Prismatic("x"), a=bough.Frame("world", at=(0.2, 0, 0)), b=bough.Frame("slider"))
        return Looped(s, np.array([*q, -0.27]), np.array([*v, 1.0]), 1, 3)
    s.body("slider", at=(0.2, 0, 0), joint=bough.Prismatic("x", damping=0.5), **block)
    s.loop("wrist", joint=bough.Revolute("y"), a=bough.Frame("rod", at=(0.8, 0, 0)), b=bough.Frame("slider"))
    return Looped(s, np.array([*q, 0.8]), np.array([*v, -1.0]), 1, 3)


def double_loop(closing="revolute"):
    """Two four-bars that share the coupler: a second rocker and link hold a point off the coupler's line."""
    s = bough.System(f"double loop, {closing}", gravity=DOWN)
    s.body("crank", joint=bough.Revolute("y"), **rod(0.4, 1.0))
    s.body("coupler", parent="crank", at=(0.4, 0, 0), joint=bough.Revolute("y"), **rod(1.0, 2.0))
    s.body("rocker", at=(0.9, 0, 0), joint=bough.Revolute("y"), **rod(0.8, 1.5))
    s.body("swing", at=(-0.6, 0, 0.2), joint=bough.Revolute("y"), **rod(0.9, 1.2))
    s.body("link", parent="swing", at=(0.9, 0, 0), joint=bough.Revolute("y", damping=0.05), **rod(0.7, 0.8))
    joint = CLOSINGS[closing]
    s.loop("pin", joint=joint(), a=bough.Frame("coupler", at=(1.0, 0, 0)), b=bough.Frame("rocker", at=(0.8, 0, 0)))
    s.loop("knee", joint=joint(), a=bough.Frame("link", at=(0.7, 0, 0)), b=bough.Frame("coupler", at=(0.4, 0, 0.3)))
    redundant = {"revolute": 6, "spherical": 2, "line": 0}[closing]
    return Looped(s, np.array([-1.1, 0.75, -1.2, -1.1, 1.0]), np.array([2.0, -2.5, 1.0, 1.0, -1.0]), 1, redundant)


def n_four_bar(n, closing="revolute"):
    """The benchmark of the IFToMM library: n windows of uniform rods, 1 m and 1 kg each, in the x-y plane.

    n + 1 vertical links stand on the ground 1 m apart, n horizontal ones join their tops; all tops start with 1 m/s along x.
    B0 is the top of "v0", (0, 1, 0) in its body frame. When all links lie flat the mechanism is singular."""
    s = bough.System(f"{n}-four-bar", gravity=(0.0, -9.81, 0.0))
    upright = {"mass": 1.0, "com": (0, 0.5, 0), "inertia": (1/12, 0.0, 1/12)}
    level = {"mass": 1.0, "com": (0.5, 0, 0), "inertia": (0.0, 1/12, 1/12)}
    for i in range(n + 1):
        s.body(f"v{i}", at=(i, 0, 0), joint=bough.Revolute("z"), **upright)
        if i < n:
            s.body(f"h{i}", parent=f"v{i}", at=(0, 1, 0), joint=bough.Revolute("z"), **level)
    for i in range(n):
        joint = bough.Revolute("z") if closing == "revolute" else bough.Spherical()
        s.loop(f"b{i + 1}", joint=joint, a=bough.Frame(f"h{i}", at=(1, 0, 0)), b=bough.Frame(f"v{i + 1}", at=(0, 1, 0)))
    v = np.array([-1.0 if name[0] == "v" else 1.0 for name in s.bodies])
    return Looped(s, np.zeros(2*n + 1), v, 1, n*(3 if closing == "revolute" else 1))


# ---- spatial -------------------------------------------------------------------------------------------------------------------
def rssr():
    """The spatial four-bar: crank and rocker on skew axes, a coupler between two balls. The coupler also spins about itself."""
    s = bough.System("RSSR", gravity=DOWN)
    s.body("crank", joint=bough.Revolute("y"), **rod(0.3, 1.0))
    s.body("coupler", parent="crank", at=(0.3, 0, 0), joint=bough.Spherical(), **rod(1.1, 1.5, thickness=0.1))
    s.body("rocker", at=(1.0, 0.5, -0.3), joint=bough.Revolute((1, 0.3, 0.2), damping=0.1), **rod(0.7, 2.0, axis="z"))
    s.loop("ball", joint=bough.Spherical(), a=bough.Frame("coupler", at=(1.1, 0, 0)), b=bough.Frame("rocker", at=(0, 0, 0.7)))
    turn = Rotation.from_euler("ZYX", [0.3, 0.1, 0.4]).as_quat()
    return Looped(s, np.array([-0.4, *turn, 0.2]), np.array([2.0, 0.3, -0.5, 0.4, 0.6]), 2)


def cardan(bend=0.5):
    """Two shafts at an angle, joined by a universal joint: the second turns unevenly."""
    s = bough.System("cardan", gravity=DOWN)
    s.body("shaft1", joint=bough.Revolute("x", damping=0.01), mass=2.0, com=(-0.2, 0, 0), inertia=(0.02, 0.1, 0.1))
    inward = Rotation.from_euler("z", bend).as_quat()
    s.body("shaft2", orient=inward, joint=bough.Revolute("x"), mass=3.0, com=(0.3, 0, 0.01), inertia=(0.05, 0.2, 0.2))
    s.loop("cross", joint=bough.Universal("yz"), a=bough.Frame("shaft1"), b=bough.Frame("shaft2"))
    return Looped(s, np.array([0.6, 0.63]), np.array([5.0, 5.3]), 1, 3)


def bennett(angle=2.0):
    """Four skew revolutes that should not move and do: sin(twist) / length is the same for all links. Exactly closed at q: off the
    loop all five directions are independent of each other, on it three are redundant."""
    lengths, twists = (0.6, 1.0), (0.5, np.arcsin(np.sin(0.5)/0.6))
    ratio = np.sin((twists[1] + twists[0])/2)/np.sin((twists[1] - twists[0])/2)
    other = 2*np.arctan(ratio/np.tan(angle/2))                               # tan(angle/2) tan(other/2) = ratio
    s = bough.System("bennett", gravity=(1.0, 2.0, -9.0))
    parent, at, orient = None, (0, 0, 0), None
    for i, name in enumerate(("one", "two", "three", "four")):
        length, twist = lengths[i % 2], twists[i % 2]
        if name == "four":                                                   # the ground is the fourth link
            s.loop("closure", joint=bough.Revolute("z"), a=bough.Frame("three", at, orient),
                   b=bough.Frame("world", *before(length, twist)))
            break
        s.body(name, parent=parent, at=at, orient=orient, joint=bough.Revolute("z"), **rod(length, 1.0, thickness=0.1))
        parent, at, orient = name, (length, 0, 0), Rotation.from_euler("x", twist).as_quat()
    return Looped(s, np.array([angle, other, -angle]), np.array([1.0, 0.5, -1.0]), 1, 3)


def before(length, twist):
    """Where the last joint's frame is when the first one's is at the origin: Trans(x, length) Rot(x, twist) leads from it."""
    return (-length, 0, 0), Rotation.from_euler("x", -twist).as_quat()


def twin_pins():
    """A four-bar whose pin is held twice, 0.2 m apart: the two loops share the load."""
    s = four_bar("spherical").system
    frames = bough.Frame("coupler", at=(1.0, 0.2, 0)), bough.Frame("rocker", at=(0.8, 0.2, 0))
    s.loop("second pin", joint=bough.Revolute("y"), a=frames[0], b=frames[1])
    return four_bar("spherical")._replace(system=s, redundant=6)


def stewart():
    """Six legs (universal, prismatic) under a platform (spherical): the first leg carries it, the others close on it."""
    s, rng = bough.System("stewart", gravity=DOWN), np.random.default_rng(7)
    ground = np.array([(np.cos(t), np.sin(t), 0.0) for t in np.radians([0, 60, 120, 180, 240, 300]) + np.tile([-0.2, 0.2], 3)])
    above = 0.5*np.array([(np.cos(t), np.sin(t), 0.0) for t in np.radians([0, 60, 120, 180, 240, 300]) + np.tile([0.3, -0.3], 3)])
    height, q = np.array([0, 0, 1.2]), []
    for i in range(6):
        reach = above[i] + height - ground[i]
        length = np.linalg.norm(reach)
        first = np.arctan2(-reach[1], reach[2])                              # Rot(x, first) Rot(y, second) z = reach
        second = np.arcsin(reach[0]/length)
        s.body(f"lower{i}", at=ground[i], joint=bough.Universal("xy"), **rod(0.6, 2.0, axis="z"))
        s.body(f"upper{i}", parent=f"lower{i}", at=(0, 0, 0.5), joint=bough.Prismatic("z", damping=5.0), **rod(0.5, 1.0, axis="z"))
        q += [first, second, length - 1.0]
    turn = Rotation.from_euler("XY", q[:2]).inv().as_quat()                  # a level platform
    s.body("platform", parent="upper0", at=(0, 0, 0.5), joint=bough.Spherical(), mass=8.0, com=(0.02, -0.01, 0.1) - above[0],
           inertia=(0.6, 0.7, 1.2))
    for i in range(1, 6):
        s.loop(f"ball{i}", joint=bough.Spherical(), a=bough.Frame(f"upper{i}", at=(0, 0, 0.5)),
               b=bough.Frame("platform", at=above[i] - above[0]))
    q = np.array([*q, *turn])
    q[:18] += rng.normal(size=18)*0.03
    return Looped(s, q, rng.normal(size=21)*0.5, 6)


def arm(system, name, parent, n, rng, at=None):
    """n uneven bodies on revolutes with skew axes; the last one's name."""
    for i in range(n):
        place = rng.uniform(-0.4, 0.4, 3) if i or at is None else at
        body = system.body(f"{name}{i}", parent=parent, at=place, orient=any_orient(rng), joint=bough.Revolute(rng.normal(size=3)),
                           **lump(rng))
        parent = body.name
    return parent


def disturbed(system, q, rng, size=0.02):
    """A state near a closed one."""
    n = sum(body.joint.n_v for body in system.bodies.values())
    return maximal.retracted(system, q, rng.normal(size=n)*size), rng.normal(size=n)


def closed_chain(n=7, joint=None, seed=1):
    """An arm of n skew revolutes on the ground whose tip is welded to the ground, or closed on it by another joint."""
    rng, s = np.random.default_rng(seed), bough.System("closed chain", gravity=DOWN)
    tip = arm(s, "link", None, n, rng)
    q, _ = any_state(s, rng)
    joint = bough.Weld() if joint is None else joint
    close(s, "closure", joint, ("world", rng.normal(size=3)*0.2, any_orient(rng)), tip, q, rng)
    return Looped(s, *disturbed(s, q, rng), *left(n, joint))


def left(n, joint):
    """What a loop leaves of n independent motions, and how many of its directions are too many."""
    held = 1 if isinstance(joint, bough.Distance) else 6 - joint.n_v
    return max(0, n - held), max(0, held - n)


def floating_loop(joint=None, seed=2):
    """A free bus with a momentum wheel and two arms of four, whose tips are welded, or joined by another joint."""
    rng, s = np.random.default_rng(seed), bough.System("floating loop")
    s.body("bus", joint=bough.Free(), **lump(rng, mass=20.0, size=0.6))
    s.wheel("wheel", body="bus", axis=(1, 2, -1), inertia=0.05, speed=300.0)
    tips = [arm(s, side, "bus", 4, rng) for side in ("left", "right")]
    q, _ = any_state(s, rng)
    joint = bough.Weld() if joint is None else joint
    close(s, "grip", joint, (tips[0], rng.normal(size=3)*0.2, any_orient(rng)), tips[1], q, rng)
    motions, redundant = left(8, joint)
    return Looped(s, *disturbed(s, q, rng), 6 + motions, redundant)


def limbed_platform(seed=3):
    """A floating platform with five limbs of seven joints and a dish on a joint of its own: 42 speeds, three welded loops.

    Three limbs stand on the base and hold a top plate, two reach from there and hold an object."""
    rng, s = np.random.default_rng(seed), bough.System("limbed platform")
    s.body("base", joint=bough.Free(), **lump(rng, mass=50.0, size=1.0))
    s.body("dish", parent="base", at=(0, 0, -0.5), joint=bough.Revolute("z"), **lump(rng))
    legs = [arm(s, f"leg{i}_", "base", 7, rng) for i in range(3)]
    arms = [arm(s, f"arm{i}_", legs[0], 7, rng) for i in range(2)]
    q, _ = any_state(s, rng)
    for name, a, b in (("plate1", legs[0], legs[1]), ("plate2", legs[0], legs[2]), ("object", arms[0], arms[1])):
        close(s, name, bough.Weld(), (a, rng.normal(size=3)*0.2, any_orient(rng)), b, q, rng)
    return Looped(s, *disturbed(s, q, rng), 42 - 18)


def two_bodies(joint, seed=4):
    """Two free bodies, each the root of its own tree, joined by nothing but a loop."""
    rng, s = np.random.default_rng(seed), bough.System("two bodies", gravity=DOWN)
    for name in ("one", "other"):
        s.body(name, joint=bough.Free(), **lump(rng))
    s.body("arm", parent="other", at=(0.3, 0, 0.1), joint=bough.Revolute((1, 2, 3)), **lump(rng))
    q, _ = any_state(s, rng)
    close(s, "tie", joint, ("one", (0.3, -0.2, 0.1), any_orient(rng)), "arm", q, rng)
    return Looped(s, *disturbed(s, q, rng), left(13, joint)[0])


def body_on_ground(joint, seed=5):
    """A free body held to the world by a loop: what an ordinary joint would do, from child to parent."""
    rng, s = np.random.default_rng(seed), bough.System("body on ground", gravity=DOWN)
    s.body("body", joint=bough.Free(), **lump(rng))
    q, _ = any_state(s, rng)
    close(s, "hold", joint, ("body", (0.3, -0.2, 0.1), any_orient(rng)), "world", q, rng)
    return Looped(s, *disturbed(s, q, rng), left(6, joint)[0])


def sprung():
    """Joints that close loops and have springs, dampers and motors of their own."""
    found = []
    for seed, joint in enumerate((
            bough.Cylindrical((0, 1, 1), stiffness=(30.0, 4.0), damping=(2.0, 0.3), rest=(0.1, -0.3), torque=(1.0, -2.0)),
            bough.Universal([(1, 0, 0), (0.5, 1, 0.2)], stiffness=(3.0, 5.0), damping=0.2),
            bough.Joint(translations=[(1, 1, 0), (0, 1, 3)], rotations="spherical", stiffness=(20.0, 10.0, 0, 0, 0), damping=0.3))):
        found.append(floating_loop(joint, seed=10 + seed))
    return found


JOINTS: dict[str, Callable[[], object]] = {
    "weld": bough.Weld, "revolute": lambda: bough.Revolute((1, 2, -1)), "prismatic": lambda: bough.Prismatic((1, 0.5, 2)),
    "cylindrical": lambda: bough.Cylindrical((0, 1, 1)), "universal": lambda: bough.Universal("xz"),
    "skew universal": lambda: bough.Universal([(1, 0, 0), (0.5, 1, 0.2)]), "planar": lambda: bough.Planar("zx"),
    "gimbal": lambda: bough.Gimbal("zxy"), "spherical": bough.Spherical,
    "point on line": lambda: bough.Joint(translations=[(1, 1, 0)], rotations="spherical"),
    "point on plane": lambda: bough.Joint(translations=[(1, 1, 0), (0, 1, 3)], rotations="spherical"),
    "sliding universal": lambda: bough.Joint(translations=[(1, 1, 0)], rotations="xy"),
    "table": lambda: bough.Joint(translations="xyz"), "leaning table": lambda: bough.Joint(translations="xyz", rotations="y"),
    "aim": lambda: bough.Joint(translations="xyz", rotations="xy"), "distance": lambda: bough.Distance(0.7),
}

MECHANISMS: dict[str, Callable[[], Looped]] = {
    **{f"four-bar, {closing}": lambda c=closing: four_bar(c) for closing in ("revolute", "spherical", "line", "cylindrical")},
    "quick return": quick_return,
    **{f"slider-crank, {closing}": lambda c=closing: slider_crank(c) for closing in ("prismatic", "revolute")},
    **{f"double loop, {closing}": lambda c=closing: double_loop(c) for closing in ("revolute", "spherical", "line")},
    "5-four-bar": lambda: n_four_bar(5), "RSSR": rssr, "cardan": cardan, "bennett": bennett, "twin pins": twin_pins,
    "stewart": stewart, **{f"sprung {i}": lambda i=i: sprung()[i] for i in range(3)},
    "closed chain": closed_chain, "structure": lambda: closed_chain(6), "limbed platform": limbed_platform,
    **{f"chain closed by {name}": lambda j=joint: closed_chain(7, j()) for name, joint in JOINTS.items() if name != "weld"},
    **{f"floating loop by {name}": lambda j=joint: floating_loop(j()) for name, joint in JOINTS.items()},
    **{f"two bodies by {name}": lambda j=joint: two_bodies(j()) for name, joint in JOINTS.items()},
    **{f"body on ground by {name}": lambda j=joint: body_on_ground(j()) for name, joint in JOINTS.items()},
}


# ---- the same mechanism, cut elsewhere ------------------------------------------------------------------------------------------
class Recut(NamedTuple):
    """A mechanism whose loop is closed in the tree and whose tree is cut at another joint; bodies keep their names."""
    system: bough.System
    frames: dict                    # {body: (position, quaternion) of its new body frame in the old one}
    donors: dict                    # {body: whose old joint, seen from the other side, it now hangs by; None: by the loop's}
    loop: str                       # the cut joint's name as a loop

    def carry(self, poses, velocities, accelerations=None):
        """Poses, velocities and accelerations of the old body frames -> of the new ones."""
        stands = maximal.stand(poses, velocities, accelerations)
        new = {name: stands[name].on(*frame) for name, frame in self.frames.items()}
        return ({name: (place.position.value, place.rotation.value) for name, place in new.items()},
                {name: place.velocity for name, place in new.items()}, {name: place.acceleration for name, place in new.items()})

    def state(self, old, q, v):
        """q and v of the new description for those of the old system."""
        poses, velocities, _ = self.carry(*maximal.motion(old, q, v))
        return maximal.tree_state(self.system, poses, velocities)

    def torques(self, old, tau):
        """tau of the new description: that of the old system, which must be zero at the cut joint. Joints seen from the other side
        must have one motion."""
        ends = np.cumsum([0, *(body.joint.n_v for body in old.bodies.values())])
        given = {name: tau[start:end] for name, (start, end) in zip(old.bodies, pairwise(ends), strict=True)}
        new = {**given, **{name: -given[donor] if donor else np.zeros(self.system.bodies[name].joint.n_v)
                           for name, donor in self.donors.items()}}
        return np.concatenate([new[name] for name in self.system.bodies])


def cut_elsewhere(old, loop, cut):
    """The same mechanism with the loop cut at the inboard joint of the body `cut`, which lies between the loop's frames. A free
    joint leaves nothing to close: the loop is then gone."""
    closed, bodies = old.loops[loop], old.bodies
    tip, root, joint = ((closed.b, closed.a, closed.joint) if cut in path(old, closed.b.body) else
                        (closed.a, closed.b, reversed_joint(closed.joint)))
    chain = path(old, tip.body)
    chain = chain[:chain.index(cut) + 1]
    frames = {name: (np.zeros(3), np.array([0, 0, 0, 1.0])) for name in bodies}
    frames[chain[0]] = np.array(tip.at), np.array(tip.orient)
    hangs = {chain[0]: {"parent": root.body, "joint": joint, "at": root.at, "orient": root.orient}}
    for inner, outer in pairwise(chain):                                    # outer now hangs on inner by inner's joint, reversed
        frames[outer] = np.array(bodies[inner].at), np.array(bodies[inner].orient)
        at, orient = relative(frames[inner], (np.zeros(3), None))
        hangs[outer] = {"parent": inner, "joint": reversed_joint(bodies[inner].joint), "at": at, "orient": orient}
    new = bough.System(f"{old.name}, cut at {cut}", gravity=old.gravity)
    for name, body in bodies.items():
        at, orient = relative(frames.get(body.parent, NOWHERE), (body.at, body.orient))
        hang = hangs.get(name, {"parent": body.parent, "joint": body.joint, "at": at, "orient": orient})
        new.body(name, **hang, **seen_from(frames[name], body))
    for name, wheel in old.wheels.items():
        turn = Rotation.from_quat(frames[wheel.body][1])
        new.wheel(name, body=wheel.body, axis=turn.inv().apply(wheel.axis), inertia=wheel.inertia, speed=wheel.speed,
                  torque=wheel.torque)
    for name, each in old.loops.items():
        if name != loop:
            ends = {side: reframed(frames, getattr(each, side)) for side in "ab"}
            new.loop(name, joint=each.joint, **ends)
    body = bodies[cut]
    if body.joint.n_v < 6:
        a = reframed(frames, bough.Frame(body.parent or "world", at=body.at, orient=body.orient))
        new.loop(f"{cut}'s joint", joint=body.joint, a=a, b=reframed(frames, bough.Frame(cut)))
    return Recut(new, frames, {chain[0]: None, **{outer: inner for inner, outer in pairwise(chain)}}, f"{cut}'s joint")


NOWHERE = np.zeros(3), np.array([0, 0, 0, 1.0])


def path(system, name):
    """A body and all inboard of it."""
    found = []
    while name not in maximal.WORLD:
        found.append(name)
        name = system.bodies[name].parent
    return found


def relative(frame, other):
    """Position and quaternion of `other` seen from `frame`, both given in one body."""
    turn = Rotation.from_quat(frame[1]).inv()
    orient = turn if other[1] is None else turn*Rotation.from_quat(other[1])
    return turn.apply(np.array(other[0]) - frame[0]), orient.as_quat()


def reframed(frames, frame):
    at, orient = relative(frames.get(frame.body, NOWHERE), (frame.at, frame.orient))
    return bough.Frame(frame.body, at=at, orient=orient)


def seen_from(frame, body):
    """A body's mass, mass center and inertia in another frame."""
    C = Rotation.from_quat(frame[1]).as_matrix()
    inertia = C.T @ np.array(body.inertia) @ C
    return {"mass": body.mass, "com": C.T @ (np.array(body.com) - frame[0]), "inertia": (inertia + inertia.T)/2,
            "idealized": body.idealized}


def reversed_joint(joint):
    """The same joint seen from its other side: coordinates change their signs, and rotations their order."""
    if joint.translations and joint.kind not in ("prismatic", "cylindrical"):
        raise NotImplementedError(f"a {joint.kind} joint is not the same joint from its other side")
    k = len(joint.translations)
    order = [*range(k), *range(joint.n_v - 1, k - 1, -1)]
    options = {key: np.array(getattr(joint, key), float)[order] for key in ("stiffness", "damping", "rest", "torque")
               if getattr(joint, key) is not None}
    options |= {key: -options[key] for key in ("rest", "torque") if key in options}
    rotations = joint.rotations if joint.spherical else joint.rotations[::-1]
    return bough.Joint(translations=joint.translations, rotations=rotations, **options)


CUTS: dict[str, tuple[Callable[[], Looped], str, str]] = {
    "four-bar at the crank's tip": (four_bar, "pin", "coupler"), "four-bar at the crank's foot": (four_bar, "pin", "crank"),
    "four-bar at the rocker's foot": (four_bar, "pin", "rocker"),
    "four-bar by a ball": (lambda: four_bar("spherical"), "pin", "coupler"),
    "slider-crank at the wrist": (slider_crank, "guide", "slider"), "slider-crank at the crank": (slider_crank, "guide", "crank"),
    "slider-crank's guide": (lambda: slider_crank("revolute"), "wrist", "slider"),
    "RSSR at the other ball": (rssr, "ball", "coupler"), "RSSR at the rocker": (rssr, "ball", "rocker"),
    "double loop at the rocker": (double_loop, "pin", "rocker"), "double loop at the link": (double_loop, "knee", "link"),
    "double loop at the crank": (double_loop, "pin", "crank"), "bennett": (bennett, "closure", "two"),
    "stewart at a foot": (stewart, "ball3", "lower3"), "stewart at a piston": (stewart, "ball2", "upper2"),
    "closed chain": (closed_chain, "closure", "link3"), "floating loop": (floating_loop, "grip", "left1"),
    "cylindrical floating loop": (lambda: sprung()[0], "grip", "right2"),
    "universal floating loop": (lambda: sprung()[1], "grip", "left2"),
    "two bodies": (lambda: two_bodies(bough.Universal("xz")), "tie", "other"),
    "limbed platform": (limbed_platform, "plate1", "leg1_3"), "limbed platform's top": (limbed_platform, "object", "arm0_2"),
}
