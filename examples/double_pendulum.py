"""A double pendulum, in ten lines."""

import bough

system = bough.System("double pendulum", gravity=(0, 0, -9.81))
system.body("upper", joint=bough.Revolute("y", q0=2.0), mass=1.0, com=(0, 0, -1))
system.body("lower", parent="upper", joint=bough.Revolute("y", q0=1.0), at=(0, 0, -1), mass=1.0, com=(0, 0, -1))
system.simulation(until=20.0, dt=1e-3, sample_rate=100)

if __name__ == "__main__":
    result = bough.simulate(system)
    print(result)
    result.plot("state", "out/double-pendulum-state.png")
