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
    return bough.simulate(craft(), until=2.0, dt=1e-3, sample_rate=50, record=record)


@cache
def antenna() -> bough.Model:
    """A free bus with a flexible boom on a hinge, a flexible mast (free-free modes) on its tip, a dish on that; no damping."""
    s = bough.System("antenna")
    s.body("bus", mass=80, inertia=(12, 15, 14), joint=bough.Free(v0=(0.02, 0, 0, 0.1, -0.05, 0.2)))
    s.body("mast", parent="boom", node="tip", at=(0.1, 0, 0), joint=bough.Universal("yz", stiffness=4, q0=(0.1, -0.2)),
           flexible=bough.beam(1.5, EI=60, mass_per_length=0.8, modes=4, boundary="free-free"), eta0=(0.005, 0, 0, 0))  # fmt: skip
    s.body("boom", parent="bus", at=(0.5, 0, 0), joint=bough.Revolute("y", name="hinge", q0=0.3, stiffness=10),
           flexible=bough.beam(3, EI=250, GJ=40, mass_per_length=1.2, polar_inertia=0.2, modes=4, nodes={"middle": 1.5}),
           eta0=(0.06, 0, 0, 0.005))  # fmt: skip
    s.body("dish", parent="mast", node="tip", mass=0.6, inertia=(0.02, 0.01, 0.01), joint=bough.Revolute("x", v0=0.3))
    s.wheel("rw", body="bus", axis="z", inertia=0.02, speed=50, torque=0.0)
    return s.compile()


@cache
def antenna_run(record=("state", "pose", "energy", "momentum", "nodes", "strain", "shapes", "reactions")):
    return bough.simulate(antenna(), until=1.0, dt=1e-3, sample_rate=100, record=record)


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
        pendulum(), q0=np.linspace(0.1, 0.5, 5)[:, None], parameters={"bob.com": com}, until=1.0, dt=1e-3, sample_rate=50
    )
