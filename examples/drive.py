"""A robot joint with gearbox and static friction under a PID controller: it sticks short of its target, then breaks away again."""

import bough

RATIO, GOAL = 50.0, 0.3
SEAL = {"coulomb": 0.02, "static": 0.032, "stribeck": 2.5, "viscous": 1e-4}
system = bough.System("drive")
system.body("link", joint=bough.Revolute("z"), mass=1.0, inertia=(0.4, 0.4, 0.4))
system.gearbox("motor", "link", ratio=RATIO, inertia=4e-5, friction=SEAL)
system.input("torque", coordinate="motor")
system.output("angle", coordinate="link.rz")
system.output("rate", rate="link.rz")
system.simulation(until=8.0, dt=1e-3, sample_rate=100)


@bough.controller(outputs=["angle", "rate"], inputs=["torque"], states=[0.0])
def pid(t, y, u, z, zdot):
    """PID control of the link angle by the motor torque; the integral is a state of the run."""
    zdot[0] = GOAL - y[0]
    u[0] = (40.0 * (GOAL - y[0]) - 12.0 * y[1] + 60.0 * z[0]) / RATIO


if __name__ == "__main__":
    result = bough.simulate(system, laws=[pid])
    print(result)
    words = [event.what.split(":")[0].split()[0] for event in result.trajectory.events[0]]
    assert words[:2] == ["sticks", "slips"], "the integral winds up until the seal breaks away"
    result.plot("friction", "out/drive-friction.png")
