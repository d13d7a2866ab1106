"""A four-bar deployment with a latch: a spring swings an antenna out, a latch catches it, and the satellite stops dead.

The satellite floats and starts at rest, so its total angular momentum is zero, whatever the spring does.
While the antenna swings out, the bus must turn the other way. When the latch locks the crank, no relative motion is left, and a
rigid body without angular momentum does not rotate: the bus stops at once, but in a different attitude.

Fact: momentum stays zero, and when the latch locks every rate drops to zero, to rounding.
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import bough

system = bough.System("latched deployment")
system.body("bus", joint=bough.Free(), mass=140, inertia=(24, 26, 22))
link = {"mass": 1.2, "com": (0, 0, 0.3), "inertia": (0.036, 0.036, 5e-4)}
system.body("crank", parent="bus", at=(0.3, 0, 0.5), joint=bough.Revolute("y", q0=-1.3, stiffness=6, rest=2.0, damping=1.5), **link)
system.body("antenna", parent="crank", at=(0, 0, 0.6), joint=bough.Revolute("y", q0=1.0), mass=11, com=(0.2, 0, 0.3),
            inertia=(1.1, 0.7, 0.9))  # fmt: skip
system.body("rocker", parent="bus", at=(0.5, 0, 0.3), joint=bough.Revolute("y", q0=-0.7), **link)
system.loop("pin", joint=bough.Revolute("y"), a=bough.Frame("antenna", at=(0.4, 0, 0)), b=bough.Frame("rocker", at=(0, 0, 0.6)))
system.latch("latch", coordinate="crank.ry", at=1.1, direction="rising")
system.simulation(until=6.0, dt=2e-3, sample_rate=100, hold=["bus", "crank"],
                  record=["state", "pose", "velocity", "momentum", "energy"])


def main(folder="out/gallery"):
    result = bough.simulate(system)
    (latch,) = result.events
    print(latch)
    turned = 2 * np.arctan2(*result.data.attitude.sel(body="bus").values[-1, [1, 3]])
    rates, after = result.data.v, result.data.v.sel(time=slice(latch.time + 1e-6, None))
    print(f"the bus stops {np.degrees(turned):.2f} deg from where it was; no rate is above {abs(after).max().item():.0e} rad/s")
    rounding = 1e3 * np.finfo(float).eps                                   # of each of the 3000 steps, in the loop's equations
    moved = 26 * abs(result.data.angular_velocity).max().item()            # N m s that go to and fro
    assert abs(result.data.angular_momentum).max() < 3000 * rounding * moved
    assert abs(after).max() < 3000 * rounding * abs(rates).max()
    return picture(Path(folder), result, latch.time)


def draw(axes, now, color, alpha):
    """Bus, links and antenna at one moment, seen along y: x to the right, z up."""
    def place(body, *points):
        _, y, _, w = now.attitude.sel(body=body).values
        turn = np.array([[w * w - y * y, 2 * y * w], [-2 * y * w, w * w - y * y]])
        return np.array(points) @ turn.T + now.position.sel(body=body).values[[0, 2]]

    bus = place("bus", (-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5))
    axes.add_patch(plt.Polygon(bus, color=color, alpha=0.25 * alpha, lw=0))
    for name in ("crank", "rocker"):
        axes.plot(*place(name, (0, 0), (0, 0.6)).T, "-o", color=color, alpha=alpha, lw=2, ms=3.5)
    axes.plot(*place("antenna", (0, 0), (0.4, 0), (0.2, 0.22), (0, 0)).T, color=color, alpha=alpha, lw=1.5)
    arc = np.linspace(-1.0, 1.0, 20)
    dish = np.column_stack([0.2 + 0.75 * np.sin(arc), 0.75 - 0.53 * np.cos(arc)])
    axes.plot(*place("antenna", *dish).T, color=color, alpha=alpha, lw=3)


@plt.style.context("bough.gallery")
def picture(folder, result, latch):
    figure = plt.figure(figsize=(10, 5))
    figure.suptitle("Deployment on a four-bar linkage: when the latch catches, the satellite stops dead", x=0.02, ha="left")
    grid = figure.add_gridspec(2, 2, width_ratios=(1.1, 1))
    plane = figure.add_subplot(grid[:, 0])
    for moment, color, alpha in ((0, "C0", 0.9), (0.45, "C7", 0.35), (0.75, "C7", 0.5), (2.0, "C1", 1.0)):
        draw(plane, result.data.sel(time=moment, method="nearest"), color, alpha)
    plane.set(aspect="equal", xlabel="x [m]", ylabel="z [m]", title="stowed (blue), on the way (gray), latched (orange)")
    rates, angle = figure.add_subplot(grid[0, 1]), figure.add_subplot(grid[1, 1])
    t = result.time
    for name, title, color in (("crank.ry", "crank", "C1"), ("rocker.ry", "rocker", "C2"), ("bus.wy", "bus", "C0")):
        rates.plot(t, result.data.v.sel(v_name=name), color=color, label=title)
    rates.set(ylabel="[rad/s]", title="rates: of the bus, and of the links against it", xlim=(0, 3))
    rates.legend(loc="upper right")
    turned = np.degrees(2 * np.arctan2(*result.data.attitude.sel(body="bus").values[:, [1, 3]].T))
    angle.plot(t, turned, color="C0")
    angle.set(ylabel="[deg]", xlabel="time [s]", title="attitude of the bus about y", xlim=(0, 3))
    for axes in (rates, angle):
        axes.axvline(latch, color="C6", lw=0.9)
    angle.text(latch + 0.04, -3, "latch", color="C6")
    folder.mkdir(parents=True, exist_ok=True)
    figure.savefig(folder / "latched_deployment.png")
    plt.close(figure)
    return folder / "latched_deployment.png"


if __name__ == "__main__":
    print(f"wrote {main(*sys.argv[1:])}")
