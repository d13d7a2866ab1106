"""A double pendulum: fifty runs that start a billionth of a radian apart end anywhere.

The fifty runs go side by side in SIMD lanes. Neighboring runs diverge exponentially until they are as far apart as they can be;
each run still conserves energy.

Fact: every run conserves energy to within the error of RK4, while the runs diverge by eight orders of magnitude.
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.collections import LineCollection

import bough

system = bough.System("chaotic pendulum", gravity=(0, 0, -9.81))
system.body("upper", joint=bough.Revolute("y", q0=2.2), mass=1.0, com=(0, 0, -1))
system.body("lower", parent="upper", joint=bough.Revolute("y", q0=0.9), at=(0, 0, -1), mass=1.0, com=(0, 0, -1))
system.simulation(until=20.0, dt=1e-3, sample_rate=100)


def bobs(q):
    """Places of the two bobs in the x-z plane, (..., bob, 2)."""
    reach = np.stack([-np.sin(np.cumsum(q, axis=-1)), -np.cos(np.cumsum(q, axis=-1))], axis=-1)
    return np.cumsum(reach, axis=-2)


def main(folder="out/gallery"):
    starts = np.array([2.2, 0.9]) + 1e-9 * np.linspace(0, 1, 50)[:, None] * [1, 0]
    result = bough.simulate(system, q0=starts, record=["state", "energy"])
    q, v, energy = result.data.q.values, result.data.v.values, result.data.total_energy.values
    exchanged = np.ptp(result.data.kinetic_energy.values)
    apart = np.abs(q[1:] - q[:-1]).max(axis=(0, 2))
    lost = np.abs(energy - energy[:, :1]).max()
    print(f"neighbors part from {apart[0]:.0e} to {apart[-1]:.1f} rad; energy is kept to {lost:.0e} of {exchanged:.0f} J")
    # a step of RK4 loses at most (w dt)^5 of what moves, w the fastest rate there is
    assert lost < exchanged * 20_000 * (np.abs(v).max() * 1e-3) ** 5
    assert apart[-1] > 1e8 * 1e-9 / 49
    return picture(Path(folder), result.time, q, apart)


@plt.style.context("bough.gallery")
def picture(folder, t, q, apart):
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.9), width_ratios=(1, 1.15))
    figure.suptitle("Chaos: fifty double pendulums, a billionth of a radian apart", x=0.02, ha="left")
    colors = plt.get_cmap("plasma")(np.linspace(0.05, 0.85, len(q)))
    moment = np.searchsorted(t, 16.5)
    for run, color in zip(q, colors, strict=True):
        upper, lower = bobs(run[moment])
        left.plot(*zip((0, 0), upper, lower, strict=True), color=color, lw=0.9, alpha=0.8)
        left.plot(*lower, "o", color=color, ms=5, alpha=0.9)
        trail = bobs(run[moment - 12 : moment + 1])[:, 1]
        pieces = [trail[i : i + 2] for i in range(12)]
        left.add_collection(LineCollection(pieces, colors=color, linewidths=np.linspace(0, 2, 12), alpha=0.6))
    left.plot(0, 0, "s", color="0.3", ms=7, zorder=9)
    left.set(aspect="equal", xlim=(-2.2, 2.2), ylim=(-2.2, 2.2), xlabel="x [m]", ylabel="z [m]")
    left.set_title(f"all fifty at t = {t[moment]:g} s, with short trails")
    right.semilogy(t, apart, color="C0", label="greatest distance of two neighbors")
    growing = (apart > 1e-9) & (apart < 1e-2)
    rate, offset = np.polyfit(t[growing], np.log(apart[growing]), 1)
    right.semilogy(t[growing], np.exp(offset + rate * t[growing]), "--", color="C1", label=f"grows e-fold in {1 / rate:.2f} s")
    right.axvline(t[moment], color="0.6", lw=0.8)
    right.set(xlabel="time [s]", ylabel="[rad]", title="how neighbors part", xlim=(0, t[-1]))
    right.legend(loc="lower right")
    folder.mkdir(parents=True, exist_ok=True)
    figure.savefig(folder / "chaotic_pendulum.png")
    plt.close(figure)
    return folder / "chaotic_pendulum.png"


if __name__ == "__main__":
    print(f"wrote {main(*sys.argv[1:])}")
