"""Monte Carlo: a thousand spacecraft with dispersed boom and panel properties, in SIMD lanes."""

import numpy as np

import bough

system = bough.System("monte carlo")
system.body("bus", mass=300, inertia=(80, 90, 70), joint=bough.Free(v0=(0, 0, 0, 0.01, 0.02, 0.3)))
system.body("boom", parent="bus", at=(0.8, 0, 0), mass=12, com=(1.5, 0, 0), inertia=(0.1, 9, 9),
            joint=bough.Revolute("y", stiffness=60, damping=4, q0=0.1))  # fmt: skip
system.body("panel", parent="bus", at=(0, 0.7, 0), mass=25, com=(0, 1.8, 0), inertia=(27, 4, 31),
            joint=bough.Revolute("x", stiffness=150, damping=5))  # fmt: skip
system.simulation(until=60.0, dt=5e-3, sample_rate=5)


def spread(runs: int = 1000, seed: int = 1) -> dict[str, np.ndarray]:
    """Parameters of each run: masses to 3 %, the boom's mass center to 2 cm."""
    random = np.random.default_rng(seed)
    return {
        "boom.mass": 12 * (1 + 0.03 * random.standard_normal(runs)),
        "panel.mass": 25 * (1 + 0.03 * random.standard_normal(runs)),
        "boom.com": np.array([1.5, 0, 0]) + 0.02 * random.standard_normal((runs, 3)),
    }


if __name__ == "__main__":
    result = bough.simulate(system, parameters=spread(), record=["state"])
    print(result)
    rate = result.data.v.sel(v_name=["bus.wx", "bus.wy"]).isel(time=-1)
    wobble = np.hypot(rate[:, 0], rate[:, 1])
    print(f"wobble after a minute: {float(wobble.mean()):.4f} rad/s, 3 sigma {3 * float(wobble.std()):.4f}")
    result.plot("state", "out/monte-carlo-state.png")
