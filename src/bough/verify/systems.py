"""The systems that cases are made of, small, and together with every joint and every part; their states and runs."""

from dataclasses import replace
from typing import Any

import numpy as np

import bough
from bough.compile.layout import Floats
from bough.describe.orientation import rotation_matrix
from bough.flex import FlexibleBody, ModalIntegrals, beam
from bough.model import Model
from bough.simulation import simulate
from bough.verify.witnesses import maximal

DOWN = (0.0, 0.0, -9.81)
JOINTS: dict[str, Any] = {
    "weld": bough.Weld,
    "revolute": lambda: bough.Revolute((1, 2, 2)),
    "prismatic": lambda: bough.Prismatic((2, -1, 2)),
    "cylindrical": lambda: bough.Cylindrical("y"),
    "universal": lambda: bough.Universal(["x", (0, 0.6, 0.8)]),
    "planar": lambda: bough.Planar("xz"),
    "gimbal": lambda: bough.Gimbal("zyx"),
    "spherical": bough.Spherical,
    "point on line": lambda: bough.PointOnLine("x"),
    "point on plane": lambda: bough.PointOnPlane("z"),
    "free": bough.Free,
    "general": lambda: bough.Joint(["x", (0, 1, 0.3)], ["y", "x"], stiffness=(30, 0, 5, 0), damping=(0.3, 0.2, 0.1, 0.1),
                                   rest=(0.1, 0, 0.2, 0), torque=(1, -2, 0.5, 0.3)),
}
LOOPED = ("revolute", "prismatic", "cylindrical", "universal", "planar", "spherical", "point on line", "point on plane", "weld")


def mass_properties(k: int) -> dict[str, Any]:
    """Mass, mass center and inertia of an uneven body; another one for each k."""
    rng = np.random.default_rng(100 + k)
    mass, square = rng.uniform(0.5, 3.0), rng.uniform(0.01, 0.05, 3)
    turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    inertia = mass * (turn * (square.sum() - square)) @ turn.T
    return {"mass": mass, "com": rng.uniform(-0.2, 0.2, 3), "inertia": (inertia + inertia.T) / 2}


def placement(k: int) -> dict[str, Any]:
    rng = np.random.default_rng(200 + k)
    return {"at": rng.uniform(-0.4, 0.4, 3), "orient": rng.normal(size=4)}


def random_state(model: Model, n: int, seed: int = 0, modal: float = 1.0) -> tuple[Floats, Floats]:
    """n states: unit quaternions, angles away from gimbal lock, modal coordinates and rates of this size."""
    rng = np.random.default_rng(seed)
    q, v = rng.uniform(-1.0, 1.0, (n, model.nq)), rng.normal(size=(n, model.nv))
    for body in model.system.bodies.values():
        (at, speed), joint = model.places[body.name], body.joint
        if joint.spherical:
            turns = rng.normal(size=(n, 4))
            q[:, at + joint.n_q - 4 : at + joint.n_q] = turns / np.linalg.norm(turns, axis=1, keepdims=True)
        if joint.kind == "gimbal":
            q[:, at + 1] = rng.uniform(0.3, 1.2, n)
        q[:, at + joint.n_q : at + body.n_q] *= modal
        v[:, speed + joint.n_v : speed + body.n_v] *= modal
    return q, v


def centered(model: Model, q: Floats, v: Floats) -> tuple[Floats, Floats]:
    """States of a system in orbit whose mass center is the origin, and stays there."""
    q, v, mass = q.copy(), v.copy(), sum(body.mass for body in model.system.bodies.values())
    away, drift = model.center_of_mass(q), model.momentum(q, v)[:, 3:] / mass
    for body in model.system.bodies.values():
        if body.parent is None and body.joint.kind == "free":
            (at, speed), R = model.places[body.name], rotation_matrix(body.orient)
            q[:, at : at + 3] -= away @ R
            v[:, speed : speed + 3] -= drift @ R
    return q, v


def run(system: bough.System | Model, until: float, rate: float | None = None, record: Any = "state", **options: Any) -> Any:
    """The result of a run, with so many samples a second."""
    return simulate(system, until=until, sample_rate=rate, record=record, progress=False, **options)


# ---- trees -----------------------------------------------------------------------------------------------------------------
def tree() -> bough.System:
    """Every joint, one behind the other in two branches."""
    s = bough.System("every joint", gravity=(1.0, 2.0, -9.81))
    s.body("b0", joint=bough.Free(), **placement(0), **mass_properties(0))
    for k, joint in enumerate(JOINTS.values(), 1):
        s.body(f"b{k}", parent=f"b{max(0, k - 2)}", joint=joint(), **placement(k), **mass_properties(k))
    return s


def wheeled() -> bough.System:
    """A fixed tree with wheels, driven and held."""
    s = bough.System("wheels", gravity=DOWN)
    for k, joint in enumerate((bough.Gimbal("zyx"), bough.Revolute("y", damping=0.2), bough.Spherical())):
        s.body(f"b{k}", parent=f"b{k - 1}" if k else None, joint=joint, **placement(k), **mass_properties(k))
    s.wheel("held", body="b2", axis=(1, 2, 3), inertia=2e-3, speed=100.0)
    s.wheel("driven", body="b0", axis="y", inertia=3e-3, speed=-50.0, torque=0.1)
    return s


def loaded() -> bough.System:
    """Wrenches, tables over time, inputs of every kind."""
    s = tree()
    s.wrench("push", body="b1", force=(1, 2, 3), at=(0.1, 0, 0), frame="world")
    s.wrench("twist", body="b5", moment=bough.TimeTable([0, 1], [[1, 0, 2], [0, 3, 1]]), force=(1, 0, 0), at=(0, 0.2, 0))
    torque = bough.TimeTable([0, 0.5, 1], [0, 2, 1], "linear")
    s.body("motor", parent="b2", joint=bough.Revolute("z", torque=torque), **mass_properties(50))
    s.wheel("wheel", body="b1", axis="z", inertia=1e-3, torque=0.2, speed=30.0)
    s.input("force", force=bough.Frame("b3", at=(0.1, 0.2, 0.3)))
    s.input("moment", moment="b4", axis=(1, 2, 2), axes="world")
    s.input("torque", coordinate="motor")
    s.input("drive", wheel="wheel")
    return s


def elements() -> bough.System:
    """Force elements of all kinds, without dampers, on a floating body and one that it carries."""
    s = bough.System("force elements", gravity=DOWN)
    s.body("b1", joint=bough.Free(), mass=5.0, inertia=(1, 1, 1))
    s.body("b2", parent="b1", joint=bough.Universal("yz"), at=(0, 1, 0), mass=1.0, com=(0.1, 0, 0), inertia=(0.1, 0.1, 0.1))
    s.line("rope", a=bough.Frame("world", at=(1, 2, 3)), b=bough.Frame("b2", at=(1, 0, 0)), stiffness=3.0, length=1.5, slack=True)
    s.line("spring", a="b1", b=bough.Frame("b2", at=(0, 1, 1)), stiffness=3.0, length=0.5)
    s.restoring("tether", body="b2", at=(0, 0, 1), stiffness=(3, 4, 5, 0, 0, 0), force=(1, 2, 3))
    s.buoyancy("hull", body="b1", sections=[(-1, 0.2, 0.2, 0.2), (0.2, 1, 0.2, 0.1)])
    s.bushing("mount", a="b1", b=bough.Frame("b2", at=(0, 0.2, 0)), stiffness=([8, 9, 4], 20.0))
    return s


def orbiter() -> bough.System:
    """A floating tree, close to the center of gravity: its size matters."""
    s = bough.System("orbit", gravity=bough.CentralGravity(30.0, (20, 10, 30), (0, 1, 0)))
    s.body("bus", joint=bough.Free(), mass=10.0, inertia=(2, 3, 4))
    s.body("arm", parent="bus", at=(0.5, 0, 0), joint=bough.Revolute("y"), mass=2.0, com=(0.6, 0, 0), inertia=(0.1, 0.3, 0.3))
    s.body("tip", parent="arm", at=(1.0, 0, 0), joint=bough.Spherical(), mass=1.0, com=(0.1, 0.3, 0), inertia=(0.1, 0.1, 0.1))
    return s


# ---- flexible bodies -------------------------------------------------------------------------------------------------------
TIP = {"tip_mass": 0.2, "tip_com": (0.07, 0.06, 0.04)}
SLENDER: dict[str, Any] = {"EI": (4.0, 6.0), "mass_per_length": 0.8, "elements": 3, **TIP}


def lumped(body: FlexibleBody) -> FlexibleBody:
    """The same body with its mass in points without inertia of their own, and no geometric stiffness: its modal integrals are exact
    then, however large the deformation."""
    assert body.points is not None
    points = replace(body.points, inertia=np.zeros_like(body.points.inertia))
    return replace(body, points=points, integrals=ModalIntegrals.from_points(points), geometric=None)


def flexible() -> bough.System:
    """Clamped and free-free modes behind one another, and rigid bodies before, between and beyond."""
    clamped = lumped(beam(1.2, GJ=3.0, polar_inertia=1e-3, modes=3, damping=0.01, **SLENDER))
    loose = lumped(beam(1.0, axis="-y", boundary="free-free", modes=3, damping=0.03, **SLENDER))
    s = bough.System("flexible bodies", gravity=(0.0, 1.0, -9.81))
    s.body("b0", joint=bough.Free(), **mass_properties(0))
    s.body("b1", parent="b0", joint=bough.Revolute("z"), at=(0.1, 0.2, 0), flexible=clamped)
    s.body("b2", parent="b1", node="tip", joint=bough.Universal("yz"), flexible=loose)
    s.body("b3", parent="b2", node="tip", joint=bough.Spherical(), **placement(3), **mass_properties(3))
    return s


def stiffening() -> bough.System:
    """Beams that stiffen geometrically, as users have them."""
    s = bough.System("stiffening beams", gravity=DOWN)
    s.body("hub", joint=bough.Free(), **mass_properties(0))
    s.body("boom", parent="hub", joint=bough.Revolute("z", stiffness=3.0), at=(0.1, 0.2, 0),
           flexible=beam(1.0, EI=(4.0, 6.0), mass_per_length=0.8, modes=3, damping=0.01))
    s.body("tip", parent="boom", node="tip", joint=bough.Revolute("y"), **mass_properties(3))
    return s


# ---- loops -----------------------------------------------------------------------------------------------------------------
def closed(name: str, n: int = 5) -> tuple[Model, Floats, Floats]:
    """The model of `closing`, and states that satisfy its loop."""
    system, q, v = closing(name)
    model = system.compile()
    return model, *model.assemble(np.tile(q, (n, 1)), v + 0.3 * np.random.default_rng(5).normal(size=(n, model.nv)))


def closing(name: str) -> tuple[bough.System, Floats, Floats]:
    """A floating base with two limbs of general joints, whose ends one joint closes; and a state near which it does."""
    s, rng = bough.System(f"closed by {name}", gravity=DOWN), np.random.default_rng(7)
    s.body("base", joint=bough.Free(), **mass_properties(0))
    for limb in "ab":
        s.body(f"{limb}1", parent="base", joint=bough.Spherical(damping=0.1), **placement(ord(limb)), **mass_properties(ord(limb)))
        s.body(f"{limb}2", parent=f"{limb}1", joint=bough.Joint("xyz", "xy", stiffness=(5, 5, 5, 0, 0)), **placement(1 + ord(limb)),
               **mass_properties(1 + ord(limb)))
    joint: Any = bough.Distance(0.7) if name == "distance" else JOINTS[name]()
    q = random_state(s.compile(), 1, seed=3)[0][0]
    stands = maximal.places(s, q)
    frame = stands["a2"].on((0.2, 0.1, 0), None)
    if name == "distance":
        outer = maximal.Place(frame.position + np.array([0.7, 0, 0]), frame.rotation)
    else:
        still, turns = np.zeros(joint.n_v), rng.normal(size=4)
        angles = np.append(rng.uniform(0.2, 0.5, joint.n_v - 3 * joint.spherical),
                           turns / np.linalg.norm(turns) if joint.spherical else [])
        outer = maximal.moved(frame, joint, angles, still, still)
    position, turn = (part.value for part in stands["b2"])
    orient = maximal.Rotation.from_matrix(turn.T @ outer.rotation.value).as_quat()
    s.loop("loop", joint=joint, a=bough.Frame("a2", at=(0.2, 0.1, 0)),
           b=bough.Frame("b2", at=turn.T @ (outer.position.value - position), orient=orient))
    return s, q, np.random.default_rng(8).normal(size=s.compile().nv)


def squeezer() -> tuple[bough.System, Floats]:
    """Andrews' squeezing mechanism, seven bodies in a plane, three loops, a spring and a motor; and where it starts."""
    m = dict(zip("1234567", (0.04325, 0.00365, 0.02373, 0.00706, 0.07050, 0.00706, 0.05498), strict=True))
    i = dict(zip("1234567", (2.194e-6, 4.410e-7, 5.255e-6, 5.667e-7, 1.169e-5, 5.667e-7, 1.912e-5), strict=True))
    A, B, C = (-0.06934, -0.00227, 0.0), (-0.03635, 0.03273, 0.0), (0.014, 0.072, 0.0)
    s = bough.System("squeezer")

    def body(k: str, parent: str | None, at: Any, com: Any, **joint: Any) -> None:
        s.body(f"k{k}", parent=parent, at=at, joint=bough.Revolute("z", **joint), mass=m[k], com=com, inertia=(i[k],) * 3)

    body("1", None, (0, 0, 0), (0.00092, 0, 0), torque=0.033)
    body("2", "k1", (0.007, 0, 0), (-0.0115, 0, 0))
    body("3", None, B, (0.01043, -0.01874, 0))
    body("5", None, A, (0.00916, -0.02308, 0))
    body("4", "k5", (0.04, 0, 0), (0, -(0.02 - 0.01421), 0))
    body("7", None, A, (0.00449, -0.01228, 0))
    body("6", "k7", (0, -0.04, 0), (0.02 - 0.01421, 0, 0))
    s.line("spring", a=bough.Frame("world", at=C), b=bough.Frame("k3", at=(0.02, -0.018, 0)), stiffness=4530.0, length=0.07785)
    ends = {"k3": (0, -0.035, 0), "k4": (0, -0.02, 0), "k6": (0.02, 0, 0)}
    for name, at in ends.items():
        s.loop(f"pin {name}", joint=bough.PointOnLine("z"), a=bough.Frame("k2", at=(-0.028, 0, 0)), b=bough.Frame(name, at=at))
    start = {
        "k1": -0.0617138900142764496,
        "k2": 0.0,
        "k3": 0.455279819163070380,
        "k5": 0.487364979543842550,
        "k4": 0.222668390165885885,
        "k7": 1.23054744454982119,
        "k6": -0.222668390165885885,
    }
    return s, np.array([start[name] for name in s.bodies])
