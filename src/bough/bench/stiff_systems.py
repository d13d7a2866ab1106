"""Systems of `bough bench stiff`: a spacecraft with flexible booms that slews, an arm on stiff gearboxes, a row of four-bars."""
from math import pi, sin
from typing import Any

from bough.describe import Frame, Free, Revolute, System, Weld
from bough.flex import beam
from bough.integrate import Controller, Law
from bough.integrate.compiled.callback import controller

SLEW = 10.0                                     # s: how long the spacecraft is turned
BOOM: dict[str, Any] = {"E": 70e9, "G": 26e9, "area": 6e-4, "Iy": 2e-8, "Iz": 1.2e-6, "J": 4e-8, "density": 2700.0, "elements": 30}


def spacecraft(modes: int = 20) -> System:
    """A bus with two booms of so many modes each, 2 Hz to 500 Hz with twenty, none of them where symmetry would keep it still."""
    s, boom = System("spacecraft", gravity=(0, 0, 0)), beam(2.9, modes=modes, damping=0.005, **BOOM)
    s.body("bus", joint=Free(), mass=800.0, com=(0.05, 0.02, 0.1), inertia=(300.0, 200.0, 400.0))
    s.body("left", parent="bus", joint=Weld(), at=(0.3, 0.8, 0.2), orient={"axis": "z", "degrees": 90}, flexible=boom)
    s.body("right", parent="bus", joint=Weld(), at=(-0.2, -0.8, 0.1), orient={"axis": "z", "degrees": -90}, flexible=boom)
    s.input("torque", moment=Frame("bus"))
    s.output("rate", angular_velocity=Frame("bus"))
    return s


def slew() -> Controller:
    """A torque that begins, turns over and ends smoothly; it is a function of time alone."""
    def law(t: float, y: Any, u: Any) -> None:
        a = sin(2*pi*t/SLEW)**3 if t < SLEW else 0.0
        u[0], u[1], u[2] = 12.0*a, 6.0*a, 40.0*a
    return controller(law, outputs=["rate"], inputs=["torque"])


def damper() -> Controller:
    """Rates of the bus, damped while a torque swings it."""
    def law(t: float, y: Any, u: Any) -> None:
        for k in range(3):
            u[k] = -50.0*y[k] + (1.0 + k)*sin(0.6*t)
    return controller(law, outputs=["rate"], inputs=["torque"])


def sampled_damper(period: float) -> Law:
    """The same by the clock."""
    def function(t: float, y: Any) -> dict[str, Any]:
        return {"torque": [-50.0*y["rate"][k] + (1.0 + k)*sin(0.6*t) for k in range(3)]}
    return Law(function, outputs=["rate"], inputs=["torque"], period=period)


RATIO = 100.0                                   # of its gearboxes


def gearbox_arm(stiffness: float = 1e6) -> System:
    """Seven links, each driven by a motor through a compliant gearbox: its fastest motions are far above 100 Hz."""
    s, parent = System("arm on gearboxes", gravity=(0, 0, -9.81)), None
    for k in range(7):
        mass = 6.0 - 0.6*k
        s.body(f"link{k + 1}", parent=parent, at=(0, 0, 0.35) if k else (0, 0, 0), joint=Revolute("zyzyzyz"[k]), mass=mass,
               com=(0, 0.01, 0.17), inertia=(0.06*mass, 0.06*mass, 0.01*mass))
        s.gearbox(f"rotor{k + 1}", f"link{k + 1}", ratio=RATIO, inertia=0.5/RATIO**2, stiffness=stiffness, damping=20.0,
                  friction={"viscous": 5.0/RATIO**2})
        s.input(f"motor{k + 1}", coordinate=f"rotor{k + 1}")
        s.output(f"angle{k + 1}", coordinate=f"rotor{k + 1}")
        parent = f"link{k + 1}"
    return s


def reach() -> Controller:
    """Motors that push their joints about by smooth torques."""
    def law(t: float, y: Any, u: Any) -> None:
        for k in range(7):
            u[k] = (30.0*sin(1.5*t + k)*sin(0.5*pi*t)**2 - 40.0*y[k]/RATIO)/RATIO
    names = range(1, 8)
    return controller(law, outputs=[f"angle{k}" for k in names], inputs=[f"motor{k}" for k in names])


def windows(n: int) -> System:
    """The benchmark of the IFToMM library: n + 1 uprights on the ground, 1 m apart, and n rods that join their tops, 1 m and 1 kg
    each; the tops start with 1 m/s.  All rods lie flat, where n loops lose an equation each, twice in every swing."""
    s = System(f"{n} four-bars in a row", gravity=(0.0, -9.81, 0.0))
    for i in range(n + 1):
        s.body(f"v{i}", at=(i, 0, 0), joint=Revolute("z", v0=-1.0), mass=1.0, com=(0, 0.5, 0), inertia=(1/12, 0.0, 1/12))
        if i < n:
            s.body(f"h{i}", parent=f"v{i}", at=(0, 1, 0), joint=Revolute("z", v0=1.0), mass=1.0, com=(0.5, 0, 0),
                   inertia=(0.0, 1/12, 1/12))
    for i in range(n):
        s.loop(f"b{i + 1}", joint=Revolute("z"), a=Frame(f"h{i}", at=(1, 0, 0)), b=Frame(f"v{i + 1}", at=(0, 1, 0)))
    return s
