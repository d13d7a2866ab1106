"""A torque-free top: spun about its intermediate axis, a T-handle turns over again and again.

Euler's equations have three steady spins; the one about the axis of intermediate inertia is unstable. A motion that starts
slightly off it reverses its spin after every half period of an elliptic function, and the handle turns over.

Fact: the time between two reversals is 2 K(m)/mu, by the complete elliptic integral of the first kind.
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from scipy.interpolate import CubicSpline
from scipy.spatial.transform import Rotation
from scipy.special import ellipk

import bough

A, B, C = INERTIA = np.array([1.0e-4, 2.0e-4, 2.6e-4])                    # kg m^2
OMEGA = np.array([0.02, 12.0, 0.05])                                      # rad/s, almost about the intermediate axis

system = bough.System("intermediate axis")
system.body("handle", joint=bough.Free(v0=(0, 0, 0, *OMEGA)), mass=0.1, inertia=INERTIA)
system.simulation(until=6.0, dt=1e-3, sample_rate=500)


def time_between_reversals():
    """Of the elliptic functions that solve Euler's equations where H^2 > 2 E B, from the energy E and the momentum H."""
    twice_energy, square = INERTIA @ OMEGA**2, INERTIA**2 @ OMEGA**2
    assert square > twice_energy * B
    mu = np.sqrt((C - B) * (square - twice_energy * A) / (A * B * C))
    return 2 * ellipk((B - A) * (twice_energy * C - square) / ((C - B) * (square - twice_energy * A))) / mu


def main(folder="out/gallery"):
    result = bough.simulate(system, record=["state", "pose", "energy"])
    t, spin = result.time, result.data.v.sel(v_name=["handle.wx", "handle.wy", "handle.wz"]).values
    reversals = CubicSpline(t, spin[:, 1]).roots(extrapolate=False)
    measured, expected = np.diff(reversals), time_between_reversals()
    print(f"{len(reversals)} reversals, {measured.mean():.9f} s apart; theory {expected:.9f} s")
    # RK4 errs by about (|omega| dt)^4/120 of the angle turned; a spline through samples h apart by (|omega| h)^4/384
    assert np.abs(measured / expected - 1).max() < 12 * (12 * 1e-3) ** 4 + (12 * 2e-3) ** 4 / 384
    return picture(Path(folder), t, spin, result.data.attitude.sel(body="handle").values, reversals)


@plt.style.context("bough.gallery")
def picture(folder, t, spin, attitude, reversals):
    figure = plt.figure(figsize=(10, 5.2))
    figure.suptitle("The intermediate axis: a torque-free handle turns over", x=0.02, ha="left")
    grid = figure.add_gridspec(2, 2, height_ratios=(1, 1.1), width_ratios=(2, 1))
    strip = figure.add_subplot(grid[0, :])
    moments = np.linspace(reversals[0] - 0.4, reversals[0] + 0.4, 9)
    bar, leg = np.array([[0, -1, 0], [0, 1, 0]]), np.array([[0, 0, 0], [1.25, 0, 0]])
    for i, moment in enumerate(moments):
        turn = Rotation.from_quat(attitude[np.searchsorted(t, moment)])
        for line, color in ((bar, "C0"), (leg, "C1")):
            x, y, depth = turn.apply(line).T
            strip.plot(2.9 * i + x, y, color=color, lw=4 + depth.mean(), zorder=depth.mean() + 3)
        strip.plot(2.9 * i + turn.apply(bar[1])[0], turn.apply(bar[1])[1], "o", color="C6", ms=7, zorder=9)
        strip.text(2.9 * i, -1.75, f"{moment:.2f} s", ha="center", color="0.45", fontsize=8)
    strip.set(aspect="equal", xlim=(-2, 2.9 * len(moments) - 1), ylim=(-2, 1.6))
    strip.set(title="seen along z through the first reversal; the dot marks one end")
    strip.axis("off")
    curves = figure.add_subplot(grid[1, 0])
    for axis, name in enumerate(("x, least inertia", "y, intermediate", "z, greatest")):
        curves.plot(t, spin[:, axis], label=name, lw=2 if axis == 1 else 1, color=("C1", "C0", "C2")[axis])
    curves.plot(reversals, 0 * reversals, "o", color="C6", ms=5, zorder=5)
    curves.set(xlabel="time [s]", ylabel="[rad/s]", title="angular velocity in the handle's axes", xlim=(0, t[-1]))
    curves.legend(ncols=3, loc="upper center", bbox_to_anchor=(0.5, -0.24))
    path = figure.add_subplot(grid[1, 1], projection="3d", computed_zorder=False)
    momentum = INERTIA * spin / np.linalg.norm(INERTIA * OMEGA)
    u, v = np.meshgrid(np.linspace(0, 2 * np.pi, 40), np.linspace(0, np.pi, 20))
    path.plot_surface(np.cos(u) * np.sin(v), np.sin(u) * np.sin(v), np.cos(v), color="0.94", shade=False, lw=0)
    path.plot(*momentum.T, color="C0", lw=1.2)
    path.set(title="angular momentum, handle's axes", xlim=(-0.9, 0.9), ylim=(-0.9, 0.9), zlim=(-0.9, 0.9))
    path.set_box_aspect((1, 1, 1), zoom=1.3)
    path.view_init(40, -35)
    path.axis("off")
    folder.mkdir(parents=True, exist_ok=True)
    figure.savefig(folder / "intermediate_axis.png")
    plt.close(figure)
    return folder / "intermediate_axis.png"


if __name__ == "__main__":
    print(f"wrote {main(*sys.argv[1:])}")
