"""Small systems and their runs, for the tests of results."""

from functools import cache

import numpy as np

import bough


@cache
def craft() -> bough.Model:
    """A free bus with a boom, a slider and two wheels: every kind of quantity is there."""
    s = bough.System("craft")
    s.body("bus", mass=50, inertia=(8, 9, 7), joint=bough.Free(v0=(0.1, 0, 0, 0.2, -0.1, 0.3)))
    s.body("boom", parent="bus", at=(0.5, 0, 0), mass=3, com=(0.4, 0, 0), inertia=(0.01, 0.2, 0.2),
           joint=bough.Revolute("y", name="hinge", q0=0.3))  # fmt: skip
    s.body("mass", parent="boom", at=(1, 0, 0), mass=1, joint=bough.Prismatic("x", stiffness=20, q0=0.05))
    s.wheel("held", body="bus", axis="x", inertia=0.02, speed=100)
    s.wheel("driven", body="bus", axis="z", inertia=0.02, speed=-50, torque=0.0)
    return s.compile()


@cache
def craft_run(record=("state", "pose", "velocity", "acceleration", "reactions", "energy", "momentum", "wheels")):
    return bough.simulate(craft(), until=2.0, dt=1e-3, rate=50, record=record)


@cache
def pendulum() -> bough.Model:
    s = bough.System("pendulum", gravity=(0, 0, -9.81))
    s.body("bob", joint=bough.Revolute("y", q0=0.5), mass=2.0, com=(0, 0, -1))
    return s.compile()


@cache
def pendulum_batch():
    """Runs that differ in their start and in the length of the pendulum."""
    lengths = np.array([0.5, 1.0, 1.5, 2.0, 2.5])
    com = np.zeros((5, 3))
    com[:, 2] = -lengths
    return bough.simulate(
        pendulum(), q0=np.linspace(0.1, 0.5, 5)[:, None], parameters={"bob.com": com}, until=1.0, dt=1e-3, rate=50
    )
