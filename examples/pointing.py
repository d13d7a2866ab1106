"""A spacecraft with two flexible solar panels, pointed by three wheels with attitude and rate feedback.

    bough bode pointing.py --from rw1 --to pointing.x        the plant, from a motor to half the angle about x
    bough bode pointing.py --cut rw1                         the loop, cut at this motor, and its margins
"""

import bough

INERTIA, BANDWIDTH = (734.6, 124.8, 724.6), 0.25  # kg m^2 about x, y, z; rad/s

system = bough.System("pointing")
system.body("bus", mass=400, inertia=(160, 120, 150), joint=bough.Free(q0=(0, 0, 0, 0.005, 0, 0, 0.9999875)))
for side, axis, y in (("left", "y", 0.6), ("right", "-y", -0.6)):
    panel = bough.beam(6.0, axis=axis, EI=(2.5e4, 900.0), GJ=400.0, mass_per_length=3.0, polar_inertia=0.4, modes=4, damping=0.004)
    system.body(side, parent="bus", joint="weld", at=(0, y, 0), flexible=panel)
for wheel, axis in (("rw1", "x"), ("rw2", "y"), ("rw3", "z")):
    system.wheel(wheel, body="bus", axis=axis, inertia=0.05, torque=0.0)
system.output("pointing", attitude="bus")
system.output("gyro", angular_velocity="bus", axes="body")
system.simulation(until=40, dt=0.01, sample_rate=10)


@bough.controller(outputs=["pointing", "gyro"], inputs=["rw1", "rw2", "rw3"])
def hold(t, y, u):
    """The motor torque on the wheel reacts on the spacecraft, against the error."""
    for k in range(3):
        u[k] = INERTIA[k] * (BANDWIDTH**2 * 2 * y[k] + 1.4 * BANDWIDTH * y[4 + k])


if __name__ == "__main__":
    print(bough.simulate(system, laws=[hold]))
