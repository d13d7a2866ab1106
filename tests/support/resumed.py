"""Systems for runs that are stepped, parted, stopped and resumed: a tree with events, a loop, a flexible body; laws with states
and noise."""
import numpy as np

import bough


def latched_pendulum() -> bough.System:
    """Two pendulums, of which the lower one is caught, with a motor, a force at the tip, and noisy sensors."""
    s = bough.System("pendulums", gravity=(0, 0, -9.81))
    s.body("upper", joint=bough.Revolute("y", q0=0.5), mass=2.0, com=(0, 0, -1))
    s.body("lower", parent="upper", at=(0, 0, -1), joint=bough.Revolute("y", q0=0.2), mass=1.0, com=(0, 0, -1))
    s.latch("catch", coordinate="lower.ry", at=-0.3)
    add_ports(s, "upper.ry", bough.Frame("lower", at=(0, 0, -1)))
    return s


def flexible_boom() -> bough.System:
    """A boom that swings, with a mass at its tip."""
    s = bough.System("boom", gravity=(0, 0, -9.81))
    beam = bough.beam(2.0, EI=400.0, mass_per_length=1.0, modes=2, damping=0.01)
    s.body("boom", joint=bough.Revolute("y", q0=0.3), flexible=beam)
    s.body("tip", parent="boom", node="tip", mass=0.5)
    add_ports(s, "boom.ry", bough.Frame("boom", node="tip"))
    return s


def four_bar() -> bough.System:
    """A crank, a coupler and a rocker."""
    s = bough.System("four-bar", gravity=(0, 0, -9.81))
    s.body("crank", joint=bough.Revolute("y", q0=-1.0, v0=2.0), mass=0.5, com=(0.2, 0, 0), inertia=(0, 0.01, 0.01))
    s.body("coupler", parent="crank", at=(0.4, 0, 0), joint=bough.Revolute("y", q0=1.0), mass=1.0, com=(0.5, 0, 0),
           inertia=(0, 0.1, 0.1))
    s.body("rocker", at=(1.0, 0, 0), joint=bough.Revolute("y", q0=-1.5), mass=0.8, com=(0.4, 0, 0), inertia=(0, 0.05, 0.05))
    s.loop("pin", joint=bough.Revolute("y"), a=bough.Frame("coupler", at=(1, 0, 0)), b=bough.Frame("rocker", at=(0.8, 0, 0)))
    add_ports(s, "crank.ry", bough.Frame("coupler", at=(1, 0, 0)))
    return s


def burning_stage() -> bough.System:
    """A tank that runs empty at 0.8 s; a valve, and a push at the tip."""
    s = bough.System("stage", gravity=(0, 0, -1))
    s.body("stage", joint=bough.Free(v0=(0, 0, 0, 0.1, 0.2, 0.3)), mass=10.0, inertia=(1, 2, 2))
    s.tank("fuel", body="stage", mass=1.0, flow=1.25, exhaust_speed=100.0, nozzle=(0, 0, -1))
    return with_nudge(s, "stage", bough.Frame("stage", at=(1, 0, 0)))


def sticking_joint() -> bough.System:
    """A pendulum that friction stops and lets go."""
    s = bough.System("brake", gravity=(0, 0, -9.81))
    s.body("arm", joint=bough.Revolute("y", q0=0.5), mass=1.0, com=(0, 0, -1), inertia=(0.1, 0.1, 0.1))
    s.friction("brake", coordinate="arm.ry", coulomb=2.0, static=2.5)
    return with_nudge(s, "arm", bough.Frame("arm", at=(0, 0, -1)))


def loose_gear() -> bough.System:
    """Two pendulums, and a gear with play between them."""
    s = bough.System("gear", gravity=(0, 0, -9.81))
    s.body("arm", joint=bough.Revolute("y", q0=0.5), mass=1.0, com=(0, 0, -1), inertia=(0.1, 0.1, 0.1))
    s.body("other", at=(1, 0, 0), joint=bough.Revolute("y", q0=1.0), mass=1.0, com=(0, 0, -0.5), inertia=(0.1, 0.1, 0.1))
    s.coupling("gear", bough.Gear("other.ry", "arm.ry", 2.0), backlash=0.02, restitution=0.5)
    return with_nudge(s, "arm", bough.Frame("arm", at=(0, 0, -1)))


def orbiting_panels() -> bough.System:
    """A bus in orbit with a wheel and a flexible panel on a drive that turns it."""
    s = bough.System("orbiter", gravity=bough.CentralGravity(mu=3e3, position=(25, -18, 30), velocity=(4, 5, -3)))
    s.body("bus", joint=bough.Free(v0=(0, 0, 0, 0.1, 0.2, -0.1)), mass=20.0, inertia=(3, 4, 5))
    s.body("panel", parent="bus", at=(0, 0.5, 0), joint=bough.Revolute("y", motion=bough.motion.Rate(0.3)),
           flexible=bough.beam(2.0, EI=(200.0, 400.0), mass_per_length=1.0, axis="y", modes=3, damping=0.01))
    s.wheel("rw", body="bus", axis=(1, 2, 3), inertia=0.05, torque=0.01, speed=30.0)
    return with_nudge(s, "bus", bough.Frame("panel", node="tip"))


def with_nudge(s: bough.System, body: str, tip: bough.Frame) -> bough.System:
    s.input("nudge", force=tip)
    s.output("gyro", angular_velocity=body, axes="body", noise=1e-3)
    return s


@bough.law(outputs=["gyro"], inputs=["nudge"], period=0.03, delay=0.01, states=[0.0])
def nudge(t, y, z):
    return {"nudge": np.multiply(y["gyro"], -0.5) + 0.1*z[0]}, z + y["gyro"][1]


OTHERS = {"propellant": burning_stage, "friction": sticking_joint, "backlash": loose_gear, "orbit": orbiting_panels}
SYSTEMS = {"events": latched_pendulum, "flexible": flexible_boom, "loops": four_bar}
METHODS = {"rk4": {"dt": 1e-3}, "euler-cromer": {"dt": 1e-3}, "dopri5": {"rtol": 1e-7, "atol": 1e-9}, "imex2": {"dt": 1e-3},
           "imex43": {"rtol": 1e-5, "atol": 1e-7}}


def add_ports(s: bough.System, coordinate: str, tip: bough.Frame) -> None:
    s.input("motor", coordinate=coordinate)
    s.input("push", force=tip, axes="world")
    s.input("brake", coordinate=coordinate)
    s.output("angle", coordinate=coordinate, noise=1e-3)
    s.output("rate", rate=coordinate, quantum=1e-4)
    s.output("tip", velocity=tip)
    s.output("momentum", momentum="angular")


@bough.law(outputs=["angle", "rate"], inputs=["motor"], period=0.02, delay=0.005, states=[0.0])
def pid(t, y, z):
    z = z + 0.02*y["angle"]
    return {"motor": -2.0*y["angle"] - 0.5*y["rate"] - 0.3*z[0]}, z


@bough.law(period=0.05)
def gusts(t, y):
    return {"push": [np.sin(5.0*t), 0.0, 0.1]}


@bough.controller(outputs=["tip"], inputs=["push"])
def drag(t, y, u):
    speed = np.sqrt(y[0]*y[0] + y[1]*y[1] + y[2]*y[2])
    for i in range(3):
        u[i] = -0.2*speed*y[i]


@bough.controller(outputs=["rate"], inputs=["motor"], states=[0.1])
def filtered(t, y, u, z, zdot):
    zdot[0] = 20.0*(y[0] - z[0])
    u[0] = -0.3*z[0]


@bough.controller(outputs=["tip", "momentum"], inputs=["brake"], states=[0.1])
def lagging(t, y, u, z, zdot):
    """A continuous law with a state, which is integrated with the mechanics."""
    zdot[0] = 20.0*(y[0] + 0.1*y[4] - z[0])
    u[0] = -0.3*z[0]


LAWS = [pid, gusts, lagging]

