"""Reinforcement learning: a tumbling spacecraft with a swinging panel, brought to rest in 64 Gymnasium environments in lanes."""

import numpy as np

import bough

TORQUE, REST = 0.05, 5e-3  # thruster torque [N m]; rates below this count as rest [rad/s]

system = bough.System("detumble")
system.body("bus", mass=60, inertia=(4, 5, 3), joint=bough.Free())
system.body("panel", parent="bus", at=(0, 0.5, 0), mass=4, com=(0, 0.8, 0), inertia=(0.9, 0.05, 0.9),
            joint=bough.Revolute("x", stiffness=2.0, damping=0.2))  # fmt: skip
system.input("thrusters", moment="bus")
system.output("gyro", angular_velocity="bus", axes="body", noise=1e-4)
system.simulation(until=60, dt=0.05)


def tumbling(random):
    """Any axis, 0.05 to 0.3 rad/s."""
    axis = random.standard_normal(3)
    spin = random.uniform(0.05, 0.3) * axis / np.linalg.norm(axis)
    return {"v0": [0, 0, 0, *spin, 0]}


def environments(n=64):
    """An action every half second, for two minutes at most; rates and torques cost."""
    from bough.gym import VectorEnvironment

    return VectorEnvironment(system, n, start=tumbling, actions={"thrusters": (-TORQUE, TORQUE)}, period=0.5, time_limit=120.0,
                             reward=lambda t, y, u: -(y["gyro"] ** 2).sum(axis=-1) - 0.1 * (u["thrusters"] ** 2).sum(axis=-1),
                             terminated=lambda t, y: np.linalg.norm(y["gyro"], axis=-1) < REST)  # fmt: skip


def play(envs, policy, seed=0):
    """One episode of each environment: which came to rest, and the total reward of each."""
    observation, _ = envs.reset(seed=seed)
    total, running, rested = np.zeros(envs.num_envs), np.ones(envs.num_envs, bool), np.zeros(envs.num_envs, bool)
    while running.any():
        observation, reward, terminated, truncated, _ = envs.step(policy(observation))
        total += np.where(running, reward, 0.0)
        rested |= running & terminated
        running &= ~(terminated | truncated)
    return rested, total


if __name__ == "__main__":
    envs = environments()
    envs.action_space.seed(0)
    policies = {"torque against the rate": lambda gyro: -2.0 * gyro, "random torque": lambda gyro: envs.action_space.sample()}
    found = {name: play(envs, policy) for name, policy in policies.items()}
    for name, (rested, total) in found.items():
        print(f"{name}: {rested.sum()} of {envs.num_envs} come to rest; mean reward {total.mean():.2f}")
    assert found["torque against the rate"][0].all()
    assert not found["random torque"][0].any()
