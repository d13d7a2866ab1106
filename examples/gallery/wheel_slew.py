"""A reaction-wheel slew: four wheels in a pyramid turn a spacecraft by a right angle about a skew axis.

The wheels start at rest, so the whole has no angular momentum, and none can come from inside. What the wheels take up the bus
gives: I omega + sum J Omega e = 0 at all times. Gyroscopic torques, omega x 0, vanish, and torques in proportion to the
acceleration keep the axis of the slew where it is, though it is none of the principal axes.

Fact: the bus turns by 90 degrees about the commanded axis and stops, and momentum is nought throughout, to rounding.
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from mpl_toolkits.mplot3d.art3d import Poly3DCollection
from scipy.spatial.transform import Rotation

import bough

INERTIA, J = np.array([[90.0, 4.0, -3.0], [4.0, 70.0, 5.0], [-3.0, 5.0, 110.0]]), 0.08      # kg m^2
AXIS = np.array([1.0, 2.0, 2.0]) / 3
WHEELS = np.array([[1, 1, 1], [-1, 1, 1], [-1, -1, 1], [1, -1, 1]]) / np.sqrt(3)
TURN, LAST = np.pi / 2, 40.0                                                                # rad, s
ACCELERATION = 4 * TURN / LAST**2                                                           # full ahead, then full astern

system = bough.System("wheel slew")
system.body("bus", joint=bough.Free(), mass=300, inertia=INERTIA)
share = np.linalg.pinv(WHEELS.T)                                                            # of a torque among the wheels
for i, axis in enumerate(WHEELS):
    gives = -share[i] @ INERTIA @ AXIS * ACCELERATION                                       # J dOmega/dt
    motor = gives + J * axis @ AXIS * ACCELERATION                                          # and turns it with the bus
    profile = {"times": [0, LAST / 2, LAST], "values": [motor, -motor, 0], "kind": "hold"}
    system.wheel(f"rw{i + 1}", body="bus", axis=axis, inertia=J, torque=profile)
system.simulation(until=50.0, dt=0.01, sample_rate=20)


def main(folder="out/gallery"):
    result = bough.simulate(system, record=["state", "wheels", "momentum", "pose"])
    t, data = result.time, result.data
    rate = data.v.sel(v_name=["bus.wx", "bus.wy", "bus.wz"]).values
    attitude = Rotation.from_quat(data.attitude.sel(body="bus").values)
    turned = attitude[-1].as_rotvec()
    off = np.linalg.norm(np.cross(turned, AXIS))
    print(f"turned by {np.degrees(turned @ AXIS):.9f} deg about the axis, {np.degrees(off):.0e} deg about others")
    rounding, steps = 4 * np.finfo(float).eps, 5000                                         # of the four stages of a step
    exchanged = np.abs(INERTIA @ rate.T).max()                                              # N m s
    assert np.abs(data.angular_momentum).max() < steps * rounding * exchanged
    err = steps * (rounding * TURN + (np.abs(rate).max() * 0.01) ** 5)                      # and RK4's own
    np.testing.assert_allclose(turned, TURN * AXIS, rtol=0, atol=err)
    return picture(Path(folder), t, attitude, rate, data.wheel_speed.values)


def craft(attitude):
    """Faces of a bus with two panels, turned; each (corners, 3)."""
    square = np.array([[-1, -1, 1], [1, -1, 1], [1, 1, 1], [-1, 1, 1]]) / 2
    faces = [np.roll(square * side, turn, axis=1) for turn in range(3) for side in (1, -1)]
    panel = np.array([[-0.4, 0.6, 0], [0.4, 0.6, 0], [0.4, 2.4, 0], [-0.4, 2.4, 0]])
    return [attitude.apply(face) for face in (*faces, panel, -panel)]


@plt.style.context("bough.gallery")
def picture(folder, t, attitude, rate, speed):
    figure = plt.figure(figsize=(10, 5))
    figure.suptitle("A slew on reaction wheels: what the wheels take up, the bus gives", x=0.02, ha="left")
    grid = figure.add_gridspec(2, 2, width_ratios=(1.1, 1))
    space = figure.add_subplot(grid[:, 0], projection="3d")
    for moment, color, alpha in ((0, "C0", 0.55), (LAST / 2, "0.7", 0.15), (LAST, "C1", 0.6)):
        faces = craft(attitude[np.searchsorted(t, moment)])
        space.add_collection3d(Poly3DCollection(faces, facecolor=color, edgecolor=color, alpha=alpha, lw=1.2))
    space.plot(*np.outer([-2.6, 2.6], AXIS).T, "-.", color="C6", lw=1.4)
    space.text(*(2.8 * AXIS), "axis", color="C6")
    space.set(title="start (blue), half way (gray), end (orange)", xlim=(-2, 2), ylim=(-2, 2), zlim=(-2, 2))
    space.set_box_aspect((1, 1, 1), zoom=1.25)
    space.view_init(18, -20)
    space.axis("off")
    momenta, wheels = figure.add_subplot(grid[0, 1]), figure.add_subplot(grid[1, 1])
    for i, name in enumerate("xyz"):
        momenta.plot(t, rate @ INERTIA[i], color=f"C{i}", label=f"bus {name}")
        momenta.plot(t, J * speed @ WHEELS[:, i], "--", color=f"C{i}", label=f"wheels {name}")
    momenta.axhline(0, color="0.2", lw=0.8)
    momenta.set(ylabel="[N m s]", title="angular momentum in the bus's axes: the sum is nought", xlim=(0, t[-1]))
    momenta.legend(ncols=1, loc="center left", bbox_to_anchor=(1, 0.5))
    wheels.plot(t, speed * 30 / np.pi, label=[f"rw{i + 1}" for i in range(4)])
    wheels.set(xlabel="time [s]", ylabel="[rpm]", title="wheel speeds", xlim=(0, t[-1]))
    wheels.legend(loc="center left", bbox_to_anchor=(1, 0.5))
    folder.mkdir(parents=True, exist_ok=True)
    figure.savefig(folder / "wheel_slew.png")
    plt.close(figure)
    return folder / "wheel_slew.png"


if __name__ == "__main__":
    print(f"wrote {main(*sys.argv[1:])}")
