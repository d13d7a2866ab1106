"""A Stewart platform: six legs whose lengths are driven carry a platform through a tilting, turning motion.

Each leg is a cylinder on a universal joint and a rod that slides in it; its top is a ball joint on the platform. That makes six
loops. The lengths follow from the commanded platform motion (the inverse kinematics, one square root per leg); the
simulation goes the other way, and finds the platform motion that the legs produce.

Fact: the platform follows the commanded motion to within the error of the leg-length splines, and the work of the six
drives equals the change of energy.
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from mpl_toolkits.mplot3d.art3d import Poly3DCollection
from scipy.interpolate import CubicSpline
from scipy.spatial.transform import Rotation

import bough

HEIGHT, LAST, KNOTS = 1.2, 6.0, 121
AROUND = np.radians([50, 70, 170, 190, 290, 310])
TWIST = np.radians([-30, 30] * 3)                                             # the balls stand in pairs between those of the feet
FEET = 1.0 * np.column_stack([np.cos(AROUND), np.sin(AROUND), 0 * AROUND])
BALLS = 0.6 * np.column_stack([np.cos(AROUND + TWIST), np.sin(AROUND + TWIST), 0 * AROUND])


def wanted(t):
    """Position and rotation of the platform over time: rises, then nods around, from rest to rest."""
    s = np.clip(np.asarray(t) / LAST, 0, 1)
    on = np.sin(np.pi * s) ** 4                                                # with three derivatives that vanish at both ends
    angle = 4 * np.pi * s
    at = np.stack([0.12 * on * np.cos(angle), 0.12 * on * np.sin(angle), HEIGHT + 0.1 * on], axis=-1)
    return at, Rotation.from_rotvec(np.stack([-0.3 * on * np.sin(angle), 0.3 * on * np.cos(angle), 0.3 * on], axis=-1))


def legs(t):
    """From the feet to the balls, (times, 6, 3)."""
    at, turn = wanted(np.atleast_1d(t))
    return np.stack([at + turn.apply(ball) - foot for foot, ball in zip(FEET, BALLS, strict=True)], axis=1)


def build():
    s = bough.System("stewart platform", gravity=(0, 0, -9.81))
    knots = np.linspace(0, LAST, KNOTS)
    lengths = np.linalg.norm(legs(knots), axis=2)
    for i, (foot, way) in enumerate(zip(FEET, legs(0)[0], strict=True)):
        x, y, z = way / np.linalg.norm(way)                                    # (sin b, -sin a cos b, cos a cos b) for turns a, b
        hip, drive = bough.Universal("xy", q0=(np.arctan2(-y, z), np.arcsin(x))), bough.motion.Spline(knots, lengths[:, i])
        s.body(f"cylinder{i + 1}", at=foot, joint=hip, mass=3, com=(0, 0, 0.3), inertia=(0.1, 0.1, 0.005))
        s.body(f"rod{i + 1}", parent=f"cylinder{i + 1}", joint=bough.Prismatic("z", motion=drive), mass=2, com=(0, 0, -0.3),
               inertia=(0.06, 0.06, 0.001))  # fmt: skip
    s.body("platform", joint=bough.Free(q0=(0, 0, HEIGHT, 0, 0, 0, 1)), mass=40, inertia=(4, 4, 7))
    for i, ball in enumerate(BALLS):
        s.loop(f"ball{i + 1}", joint=bough.Spherical(), a=bough.Frame(f"rod{i + 1}"), b=bough.Frame("platform", at=ball))
    s.simulation(until=LAST, dt=0.01, sample_rate=50, record=["state", "pose", "energy", "drives"])
    return s


system = build()


def reach_error():
    """How far off the platform may be: the splines' error in the lengths, through the worst direction of the legs at home."""
    knots, fine = np.linspace(0, LAST, KNOTS), np.linspace(0, LAST, 40 * KNOTS)
    exact = np.linalg.norm(legs(fine), axis=2)
    off = np.abs(CubicSpline(knots, np.linalg.norm(legs(knots), axis=2), bc_type="clamped")(fine) - exact).max()
    along = legs(0)[0] / np.linalg.norm(legs(0)[0], axis=1, keepdims=True)
    jacobian = np.hstack([along, np.cross(BALLS, along)])                      # of the lengths by position and rotation
    return np.sqrt(6) * off / np.linalg.svd(jacobian, compute_uv=False)[-1]


def main(folder="out/gallery"):
    result = bough.simulate(system)
    t, data = result.time, result.data
    at, turn = wanted(t)
    place, attitude = data.position.sel(body="platform").values, Rotation.from_quat(data.attitude.sel(body="platform").values)
    miss = max(np.abs(place - at).max(), (attitude * turn.inv()).magnitude().max())
    force = np.stack([data.drive_force.sel(drive=f"rod{i}.z") for i in range(1, 7)], axis=1)
    power = (force * np.stack([data.v.sel(v_name=f"rod{i}.z") for i in range(1, 7)], axis=1)).sum(axis=1)
    work = np.concatenate([[0], np.cumsum((power[1:] + power[:-1]) / 2 * np.diff(t))])
    gained = (data.total_energy - data.total_energy[0]).values
    print(f"the platform is where it shall be within {1e6 * miss:.1f} um or urad: splines allow {1e6 * reach_error():.1f}")
    print(f"the drives' work is the energy of all within {1e3 * np.abs(work - gained).max():.1f} mJ of {np.ptp(gained):.0f} J")
    assert miss < reach_error()
    assert np.abs(work - gained).max() < np.abs(np.diff(power, 2)).sum() * t[1] / 12 * 1.1       # of the trapezoidal rule
    return picture(Path(folder), t, force, work, gained)


@plt.style.context("bough.gallery")
def picture(folder, t, force, work, gained):
    figure = plt.figure(figsize=(10, 5.2))
    figure.suptitle("A Stewart platform: six driven lengths, six loops", x=0.02, ha="left")
    grid = figure.add_gridspec(2, 2, width_ratios=(1.15, 1))
    space = figure.add_subplot(grid[:, 0], projection="3d", computed_zorder=False)
    space.add_collection3d(Poly3DCollection([FEET], facecolor="0.9", edgecolor="0.5"))
    for moment, color, alpha in ((0.0, "C0", 0.45), (2.1, "C1", 0.45), (3.6, "C2", 0.45)):
        at, turn = wanted(moment)
        balls = at + turn.apply(BALLS)
        space.add_collection3d(Poly3DCollection([balls], facecolor=color, edgecolor=color, alpha=alpha, lw=1.5))
        for foot, ball in zip(FEET, balls, strict=True):
            space.plot(*np.stack([foot, ball]).T, color=color, lw=1.6, alpha=0.8)
    space.plot(*wanted(t)[0].T, color="C6", lw=1.6)
    space.set(title="0 s (blue), 2.1 s (orange), 3.6 s (green), path (red)", xlim=(-0.9, 0.9), ylim=(-0.9, 0.9), zlim=(0, 1.5))
    space.set_box_aspect((1.8, 1.8, 1.5), zoom=1.25)
    space.view_init(16, -65)
    space.axis("off")
    forces, energy = figure.add_subplot(grid[0, 1]), figure.add_subplot(grid[1, 1])
    forces.plot(t, force, label=[f"leg {i}" for i in range(1, 7)], lw=1.2)
    forces.set(ylabel="[N]", title="forces of the drives", xlim=(0, LAST))
    forces.legend(loc="center left", bbox_to_anchor=(1, 0.5))
    energy.plot(t, gained, color="C2", lw=3, alpha=0.5, label="energy")
    energy.plot(t, work, "--", color="C3", label="work of\nthe drives")
    energy.set(xlabel="time [s]", ylabel="[J]", title="energy since the start", xlim=(0, LAST))
    energy.legend(loc="center left", bbox_to_anchor=(1, 0.5))
    folder.mkdir(parents=True, exist_ok=True)
    figure.savefig(folder / "stewart_platform.png")
    plt.close(figure)
    return folder / "stewart_platform.png"


if __name__ == "__main__":
    print(f"wrote {main(*sys.argv[1:])}")
