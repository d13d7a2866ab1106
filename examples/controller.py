"""A compiled controller: reaction wheels turn a spacecraft and hold it there, while a boom swings."""

import numpy as np

import bough

TARGET = np.sin(0.4), np.cos(0.4)  # of half the angle, about z

system = bough.System("controller")
system.body("bus", mass=250, inertia=(60, 55, 40), joint=bough.Free())
system.body("boom", parent="bus", at=(0.6, 0, 0), mass=9, com=(1.2, 0, 0), inertia=(0.05, 4.5, 4.5),
            joint=bough.Revolute("z", stiffness=30, damping=3, q0=0.2))  # fmt: skip
for axis in "xyz":
    system.wheel(f"rw_{axis}", body="bus", axis=axis, inertia=0.05, torque=0.0)
system.simulation(until=60.0, dt=5e-3, sample_rate=20)


@bough.controller
def turn_and_hold(t, q, v, wheels, tau, motors):
    """Motor torques from the attitude error and the rate of the bus."""
    sine, cosine = TARGET
    x, y, z, w = q[3], q[4], q[5], q[6]
    ex, ey, ez = cosine * x + sine * y, cosine * y - sine * x, cosine * z - sine * w   # vector part of the error
    motors[0] = 12.0 * ex + 40.0 * v[3]
    motors[1] = 12.0 * ey + 40.0 * v[4]
    motors[2] = 12.0 * ez + 40.0 * v[5]


if __name__ == "__main__":
    result = bough.simulate(system, control=turn_and_hold)
    print(result)
    result.plots("out", prefix="controller-")
