"""A floating turbine, tilted and released: the spinning rotor turns its pitching into rolling and yawing.

A spar with tower, nacelle and rotor floats on four taut mooring lines. It is tilted in the plane of the shaft and released.
With the rotor at rest it pitches in that plane forever. Turning the angular momentum of a spinning rotor with the shaft
requires a moment, which the tower transmits to the platform, sideways.

Fact: energy is conserved; the inertial spin of the rotor about its shaft is conserved, because no moment acts about the
frictionless shaft of a round rotor; and without spin the motion stays in the plane.
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from scipy.spatial.transform import Rotation

import bough

TILT, SPEED, TOP = np.radians(8), 12.1 * np.pi / 30, 87.6                      # rad, rad/s, m above the water
SECTIONS = [[-86.84768088070447, -12, 9.4, 9.4], [-12, -4, 9.4, 6.5], [-4, 10, 6.5, 6.5]]  # m: from, to, diameters there


def turbine(spin):
    """Masses, water and lines of the OC3-Hywind turbine, nearly; topsides balanced over the tower."""
    s = bough.System("turbine release", gravity=(0, 0, -9.80665))
    start = (TOP * np.sin(TILT) * -0.4, 0, 0, 0, np.sin(TILT / 2), 0, np.cos(TILT / 2))
    s.body("platform", joint=bough.Free(q0=start), mass=5341534, com=(0, 0, -58.67), inertia=(5.85e9, 5.85e9, 1.12e8))
    s.body("nacelle", parent="platform", at=(0, 0, TOP), mass=240000, com=(2.279, 0, 1.75), inertia=(4e5, 1.2e6, 1.2e6))
    s.body("rotor", parent="nacelle", at=(-5, 0, 2.4), joint=bough.Revolute("x", v0=spin), mass=109390,
           inertia=(3.88e7, 1.94e7, 1.94e7))  # fmt: skip
    s.buoyancy("water", body="platform", sections=SECTIONS)
    for name, way in {"downwind": (1, 0), "port": (0, 1), "upwind": (-1, 0), "starboard": (0, -1)}.items():
        x, y = way
        anchor, fairlead = (510.765 * x, 510.765 * y, -320), (5.2 * x, 5.2 * y, -70)
        s.line(name, a=bough.Frame("world", at=anchor), b=bough.Frame("platform", at=fairlead), stiffness=6.81e5, length=562.53,
               slack=True)  # fmt: skip
    s.simulation(until=150.0, dt=0.02, sample_rate=10, record=["state", "pose", "velocity", "energy"])
    return s


system = turbine(SPEED)


def main(folder="out/gallery"):
    spun, still = bough.simulate(system), bough.simulate(turbine(0.0))
    data, steps = spun.data, 7500
    shaft = Rotation.from_quat(data.attitude.sel(body="rotor").values).apply([1, 0, 0])
    spin = (data.angular_velocity.sel(body="rotor").values * shaft).sum(axis=1)    # about the shaft, seen from the world
    exchanged, drift = np.ptp(data.kinetic_energy.values), np.ptp(data.total_energy.values)
    aside, swung = (abs(result.data.position.sel(body="nacelle", axis="y")).max().item() for result in (still, spun))
    print(f"energy is kept to {drift / exchanged:.0e} of what is exchanged, the rotor's spin to {np.ptp(spin) / SPEED:.0e}")
    print(f"the tower top leaves the plane by {swung:.1f} m with spin, by {aside:.0e} m without")
    loss = steps * (SPEED * 0.02) ** 5                                             # of RK4, at the fastest rate there is
    assert drift < loss * exchanged
    assert np.ptp(spin) < loss * SPEED
    assert aside < steps * np.finfo(float).eps * TOP
    return picture(Path(folder), spun, still)


def draw(axes, now, color, alpha):
    """Spar, tower and rotor from the side: x downwind, z up."""
    def place(body, *points):
        turn = Rotation.from_quat(now.attitude.sel(body=body).values)
        return (turn.apply(np.array(points, float)) + now.position.sel(body=body).values)[:, [0, 2]].T

    for low, high, wide, slim in SECTIONS:
        corners = [(-wide / 2, 0, low), (-slim / 2, 0, high), (slim / 2, 0, high), (wide / 2, 0, low)]
        axes.add_patch(plt.Polygon(place("platform", *corners).T, color=color, alpha=alpha, lw=0))
    axes.plot(*place("platform", (0, 0, 10), (0, 0, TOP)), color=color, alpha=alpha, lw=2.5)
    axes.plot(*place("nacelle", (-5, 0, 2.4), (9, 0, 2.4)), color=color, alpha=alpha, lw=5)
    disc = [(0, 61.5 * np.cos(a), 61.5 * np.sin(a)) for a in np.linspace(0, 2 * np.pi, 60)]
    axes.plot(*place("rotor", *disc), color=color, alpha=alpha, lw=1.5)


@plt.style.context("bough.gallery")
def picture(folder, spun, still):
    figure = plt.figure(figsize=(10, 5.4))
    figure.suptitle("A floating turbine let go: its rotor turns nodding into rolling and yawing", x=0.02, ha="left")
    grid = figure.add_gridspec(2, 2, width_ratios=(1, 1.2))
    side = figure.add_subplot(grid[:, 0])
    side.axhspan(-130, 0, color="C5", alpha=0.12, lw=0)
    side.axhline(0, color="C5", lw=1)
    for moment, color, alpha in ((0, "C0", 0.9), (8, "C7", 0.35), (16, "C1", 0.9)):
        draw(side, spun.data.sel(time=moment, method="nearest"), color, alpha)
    side.set(aspect="equal", xlim=(-80, 80), ylim=(-100, 165), xlabel="x [m]", ylabel="z [m]")
    side.set_title("at 0 s (blue), 8 s (gray), 16 s (orange)")
    angles, path = figure.add_subplot(grid[0, 1]), figure.add_subplot(grid[1, 1])
    roll, pitch, yaw = Rotation.from_quat(spun.data.attitude.sel(body="platform").values).as_euler("XYZ", degrees=True).T
    for values, name, color in ((pitch, "pitch", "C0"), (roll, "roll", "C1"), (yaw, "yaw", "C2")):
        angles.plot(spun.time, values, color=color, label=name)
    angles.set(xlabel="time [s]", ylabel="[deg]", title=f"platform, rotor at {SPEED * 30 / np.pi:.1f} rpm", xlim=(0, spun.time[-1]))
    angles.legend(loc="center left", bbox_to_anchor=(1, 0.5))
    for result, name, color in ((spun, "spinning", "C1"), (still, "at rest", "C0")):
        top = result.data.position.sel(body="nacelle")
        path.plot(top.sel(axis="x"), top.sel(axis="y"), color=color, lw=1.2 if name == "spinning" else 2.2, label=f"rotor\n{name}")
    path.set(xlabel="x [m]", ylabel="y [m]", title="path of the tower top, seen from above", aspect="equal")
    path.legend(loc="center left", bbox_to_anchor=(1, 0.5))
    folder.mkdir(parents=True, exist_ok=True)
    figure.savefig(folder / "turbine_release.png")
    plt.close(figure)
    return folder / "turbine_release.png"


if __name__ == "__main__":
    print(f"wrote {main(*sys.argv[1:])}")
