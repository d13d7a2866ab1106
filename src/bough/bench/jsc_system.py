"""The test system of the JSC paper, from one parametrized description: sixteen cases.

A base plate floats freely; three legs carry a top plate, from which, in configuration 4, two arms reach out to hold a test object.
Legs and arms are one limb: cylindrical rods on revolute joints, two of which are booms. What the paper does not give, or what
cannot be read in it any more, is chosen here; docs/jsc.md says why.
"""
from dataclasses import dataclass, replace
from functools import cache
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from scipy.spatial.transform import Rotation

from bough.describe import Frame, Free, Revolute, System, TimeTable, Weld
from bough.flex import FlexibleBody, beam


@dataclass(frozen=True)
class Configuration:
    """The differences between the four configurations."""
    joints: int                 # of a limb
    halves: int                 # into which every boom is cut, to be joined rigidly
    arms: int = 0


CONFIGURATIONS = {1: Configuration(6, 1), 2: Configuration(6, 2), 3: Configuration(7, 2), 4: Configuration(7, 2, arms=2)}


class Case(NamedTuple):
    configuration: int
    flexible: bool
    closed: bool


CASES = {number: Case(configuration, flexible, closed)
         for number, (closed, flexible, configuration) in enumerate(product((False, True), (False, True), CONFIGURATIONS), start=1)}

# ---- what is chosen: m, kg, N, N m, rad ------------------------------------------------------------------------------------
BASE, TOP, OBJECT = (1.5, 0.1, 800.0), (1.0, 0.1, 400.0), (0.6, 0.6, 300.0)         # cylinders about z: radius, height, mass
LEG_MOUNT, ARM_MOUNT = 1.2, 0.8                                                     # distance of a limb from its plate's axis
DENSITY, E = 2700.0, 70e9                                                           # aluminium
LINK, BOOM = (0.25, 0.1), (2.0, 0.03)                                               # length, radius
BENDS = (30.0, -75.0, 45.0)                                                         # deg: before, between and after the booms
MODES, MODAL_DAMPING = 4, 0.005
FRICTION = 20.0                                                                     # N m s of every joint
TOP_FORCE, TOP_MOMENT = (0.6, -0.4, 0.5), (0.3, 0.5, -0.4)
OBJECT_FORCE, OBJECT_MOMENT = (0.3, 0.4, -0.3), (-0.4, 0.2, 0.3)
LEG_MOMENT = 0.5
SWITCH, LAST = 20.0, 100.0                                                          # s: the loads change sign, the paper's runs end
STEPS = {False: 1e-3, True: 1e-4}                                                   # s, by whether the booms are flexible

AXES = {"roll": "x", "yaw": "z", "pitch": "y"}                                      # x along the limb
ORDERS = {6: "roll1 yaw1 pitch1 pitch2 yaw2 roll2", 7: "roll1 yaw1 pitch1 pitch2 pitch3 yaw2 roll2"}
BOOMS = ("pitch1", "pitch2")

CHOICES = (
    "Configurations 1 and 2 have three legs of six joints, 3 of seven; 4 also has two arms, and all its limbs have seven joints. "
    "Booms are cut in two but in configuration 1. The paper's table of these is lost; its counts of degrees of freedom lead here.",
    "42 joint degrees of freedom in configuration 4 are no sum of limbs of six or seven joints: five of seven make 41, and the "
    "test object sits on a joint of its own at the tip of arm 1. The paper prints 42 + 80 = 112; the sum is 122.",
    "A six-joint limb is roll, yaw, pitch, boom, pitch, boom, yaw, roll; a seven-joint one has a third pitch behind the booms.",
    "Dimensions, masses, stiffness and loads are not in the paper: aluminium rods, booms of 2 m length and 30 mm radius, modal "
    "damping of 0.5 %, no gravity, for the base floats. The booms do not stiffen as they move, as the paper says of its own.",
    "Every joint has a friction of 20 N m s, and the loads are some tenths of N and N m: the joints turn by tenths of a radian, "
    "away from singular postures, and the motion is not chaotic.",
    "The paper's seconds are for 100 s on its machine; decimal points lost in print are restored.",
)


def jsc_case(number: int) -> System:
    """One of the sixteen cases."""
    case = CASES[number]
    return jsc_system(CONFIGURATIONS[case.configuration], flexible=case.flexible, closed=case.closed, name=f"JSC case {number}")


def whole_booms(number: int) -> Configuration:
    """The configuration of a case with its booms in one piece: rigid, the same mechanism with fewer bodies."""
    return replace(CONFIGURATIONS[CASES[number].configuration], halves=1)


def jsc_system(configuration: Configuration, *, flexible: bool, closed: bool, name: str = "JSC") -> System:
    """The system; at zero joint coordinates its plates are level, its legs bent outwards and its loops, if it has them, closed."""
    system = System(name)
    system.body("base", joint=Free(), **_cylinder(*BASE))
    legs = [_limb(system, "base", f"leg{k + 1}", _mount(BASE, LEG_MOUNT, 120.0*k), configuration, flexible, motor=k == 0)
            for k in range(3)]
    top = Pose(np.array([0.0, 0.0, legs[0].tip.at[2] + TOP[1]/2]), Rotation.identity())
    system.body("top", parent=legs[0].last, **legs[0].end.relative(top), **_cylinder(*TOP))
    system.wrench("on top", body="top", force=_switched(TOP_FORCE), moment=_switched(TOP_MOMENT))
    held = [("top", top, leg) for leg in legs[1:]]
    if configuration.arms:
        arms = [_limb(system, "top", f"arm{k + 1}", _mount(TOP, ARM_MOUNT, 90.0 + 180.0*k), configuration, flexible)
                for k in range(configuration.arms)]
        _add_object(system, arms[0])
        held.append(("object", arms[0].tip, arms[1]))
    for body, pose, limb in held if closed else ():
        system.loop(f"{limb.name} holds {body}", joint=Weld(), a=Frame(body, **pose.relative(limb.tip)),
                    b=Frame(limb.last, at=(LINK[0], 0.0, 0.0)))
    return system


class Pose(NamedTuple):
    """The pose of a frame relative to a plate."""
    at: np.ndarray
    turn: Rotation

    def moved(self, by: Any) -> "Pose":
        return Pose(self.at + self.turn.apply(by), self.turn)

    def relative(self, other: "Pose") -> dict[str, Any]:
        """Another pose relative to this one, as keywords of a frame."""
        back = self.turn.inv()
        return {"at": back.apply(other.at - self.at), "orient": (back*other.turn).as_quat()}


class Limb(NamedTuple):
    name: str
    last: str                   # its last body
    end: Pose                   # of that body
    tip: Pose                   # of what it holds


def _mount(plate: tuple[float, float, float], radius: float, azimuth: float) -> Pose:
    """On a plate's upper side: x up, and z inwards, so that a turn about y bends outwards."""
    turn = Rotation.from_euler("ZY", [azimuth, -90.0], degrees=True)
    return Pose(turn.apply([plate[1]/2, 0.0, -radius]), turn)


def _limb(system: System, plate: str, name: str, mount: Pose, configuration: Configuration, flexible: bool, *,
          motor: bool = False) -> Limb:
    """Links and booms in a row, and where they end."""
    parent, pose, bends = plate, mount, iter(BENDS)
    place: dict[str, Any] = {"at": mount.at, "orient": mount.turn.as_quat()}
    bent = {"pitch1", "pitch2", "pitch3" if configuration.joints == 7 else "yaw2"}
    for kind in ORDERS[configuration.joints].split():
        if kind in bent:
            place["orient"] = {"axis": "y", "degrees": (bend := next(bends))}
            pose = Pose(pose.at, pose.turn*Rotation.from_euler("y", bend, degrees=True))
        joint = Revolute(AXES[kind[:-1]], damping=FRICTION, torque=_switched(LEG_MOMENT) if motor else 0.0)
        pieces = configuration.halves if kind in BOOMS else 1
        length, radius = BOOM if kind in BOOMS else LINK
        for piece in range(pieces):
            body = f"{name}_{kind}" + "_outer"*piece
            flexes = flexible and kind in BOOMS
            system.body(body, parent=parent, joint=Weld() if piece else joint, **place, **_rod(length/pieces, radius, flexes))
            parent, end, pose = body, pose, pose.moved((length/pieces, 0.0, 0.0))
            place = {"node": "tip"} if flexes else {"at": (length/pieces, 0.0, 0.0)}
    return Limb(name, parent, end, pose)


def _add_object(system: System, arm: Limb) -> None:
    """What the arms hold, on a joint at the first one's tip: the 42nd degree of freedom. Its axes are those of the tip."""
    center = Pose(np.array([0.0, 0.0, arm.tip.at[2] + OBJECT[1]/2]), Rotation.identity())
    com = arm.tip.relative(center)["at"]
    inertia = _cylinder(*OBJECT, turn=arm.tip.turn.inv())
    system.body("object", parent=arm.last, joint=Revolute("y", damping=FRICTION), at=(LINK[0], 0.0, 0.0), com=com, **inertia)
    system.wrench("on object", body="object", force=_switched(OBJECT_FORCE), moment=_switched(OBJECT_MOMENT), at=com)


def _switched(value: Any) -> TimeTable:
    """A load that changes its sign every 20 s."""
    times = np.arange(0.0, LAST, SWITCH)
    return TimeTable(times, [(-1.0)**k*np.asarray(value) for k in range(len(times))], "hold")


def _cylinder(radius: float, height: float, mass: float, turn: Rotation | None = None) -> dict[str, Any]:
    """Mass and inertia of a cylinder about z, in axes that `turn` leads to."""
    across = mass*(3*radius**2 + height**2)/12
    axes = (turn or Rotation.identity()).as_matrix()
    return {"mass": mass, "inertia": axes @ np.diag([across, across, mass*radius**2/2]) @ axes.T}


def _rod(length: float, radius: float, flexible: bool) -> dict[str, Any]:
    """A body that is a rod along x: rigid, it has the mass and inertia of the flexible one."""
    rod = _beam(length, radius)
    return {"flexible": rod} if flexible else {"mass": rod.mass, "com": rod.com, "inertia": rod.inertia}


@cache
def _beam(length: float, radius: float) -> FlexibleBody:
    area = np.pi*radius**2
    return beam(length, EI=E*area*radius**2/4, mass_per_length=DENSITY*area, polar_inertia=DENSITY*area*radius**2/2,
                modes=MODES, damping=MODAL_DAMPING, geometric_stiffness=False)
