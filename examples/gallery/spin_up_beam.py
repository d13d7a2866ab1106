"""A spin-up beam: a boom that is spun faster than its own frequency bends back, and recovers; without stiffening it flies apart.

The case is a classic (Kane, Ryan and Banerjee, 1987). Spin pulls a beam straight: its bending stiffness grows with the tension
along it. Linear modes alone contain only the centrifugal force that pushes a bent beam outward, and become unstable when the spin
exceeds the first frequency.

Fact: after the spin-up the boom vibrates in the plane at the frequency of a rotating beam from Ritz's method, and the boom
without geometric stiffness diverges, because its spin is above the first frequency at rest.
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from scipy.interpolate import CubicSpline
from scipy.linalg import eigh

import bough

LENGTH, EI, PER_METRE = 10.0, 1.4e4, 1.2                                        # m, N m^2, kg/m
SPIN, RAMP = 6.0, 15.0                                                          # rad/s, s
FIRST = 3.51602 * np.sqrt(EI / PER_METRE / LENGTH**4)                           # rad/s of the cantilever at rest
RISE = bough.motion.Pieces([0, RAMP], coefficients=[[0, 0, 0, SPIN / RAMP**2, -SPIN / (2 * RAMP**3)], [SPIN * RAMP / 2, SPIN]])


def rotor(stiffening=True):
    """A hub whose spin rises smoothly, with a boom."""
    s = bough.System("spin-up beam")
    s.body("hub", joint=bough.Revolute("z", motion=RISE), mass=10, inertia=(1, 1, 1))
    boom = bough.beam(LENGTH, EI=EI, mass_per_length=PER_METRE, modes=8, geometric_stiffness=stiffening)
    s.body("boom", parent="hub", flexible=boom)
    s.simulation(until=30.0 if stiffening else 13.0, dt=2e-3, sample_rate=50, record=["state", "nodes", "shapes"])
    return s


system = rotor()


def frequency_in_spin():
    """Of the first mode in the plane of the spin, by Ritz's method: bending, tension W^2 (L^2 - x^2)/2, outward push of the spin.

    The shapes are s^2 ... s^9, s = x/L: the integral of s^n is 1/(n + 1)."""
    n = np.arange(2, 10)
    i, j = np.meshgrid(n, n)
    mass, bending = 1 / (i + j + 1), i * (i - 1) * j * (j - 1) / (i + j - 3)
    tension = i * j / 2 * (1 / (i + j - 1) - 1 / (i + j + 1))
    return np.sqrt(eigh(EI / PER_METRE / LENGTH**4 * bending + SPIN**2 * (tension - mass), mass, eigvals_only=True)[0])


def main(folder="out/gallery"):
    stiffened, linear = bough.simulate(system), bough.simulate(rotor(stiffening=False))
    tip = stiffened.data.node_deflection.sel(node="boom.tip", axis="y")
    print(f"the tip lags by {-tip.min().item():.3f} m at {tip.idxmin().item():.1f} s")
    after = tip.sel(time=slice(RAMP, None))
    crossings = CubicSpline(after.time, after - after.mean()).roots(extrapolate=False)
    measured = np.pi * (len(crossings) - 1) / (crossings[-1] - crossings[0])
    expected = frequency_in_spin()
    print(f"it swings with {measured:.4f} rad/s after; theory {expected:.4f} rad/s, at rest {FIRST:.4f} rad/s")
    assert abs(measured / expected - 1) < 0.2 / (len(crossings) - 1)            # higher modes shift a crossing by a tenth at most
    assert SPIN > FIRST
    assert abs(linear.data.node_deflection.sel(node="boom.tip", axis="y")).max() > LENGTH
    return picture(Path(folder), stiffened, linear)


@plt.style.context("bough.gallery")
def picture(folder, stiffened, linear):
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.8), width_ratios=(1, 1.25))
    figure.suptitle("Spin-up: tension keeps the boom together", x=0.02, ha="left")
    colors = plt.cm.ScalarMappable(plt.Normalize(0, 17), "viridis")
    for moment in np.arange(0.0, 15.1, 1.0):
        now = stiffened.data.sel(time=moment, method="nearest")
        angle = now.q.sel(q_name="hub.rz").item()
        turn = np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
        x, y = turn @ now.outline.values[:, :2].T                                # seen from the hub
        left.plot(x, y, color=colors.cmap(moment / 17), lw=1.6)
    left.plot(0, 0, "o", color="0.3", ms=9)
    left.set(xlim=(-0.4, 10.4), xlabel="along x [m]", ylabel="across [m]", title="the boom every second, seen from the hub")
    figure.colorbar(colors, ax=left, label="time [s]", boundaries=np.arange(-0.5, 16), ticks=[0, 5, 10, 15], aspect=30)
    for result, name, color in ((stiffened, "with geometric stiffness", "C0"), (linear, "without: linear modes", "C1")):
        tip = result.data.node_deflection.sel(node="boom.tip", axis="y")
        right.plot(tip.time, tip, color=color, label=name)
    speed = right.twinx()
    speed.plot(stiffened.time, stiffened.data.v.sel(v_name="hub.rz"), ":", color="C7", label="spin (right axis)")
    speed.axhline(FIRST, color="C7", lw=0.7)
    speed.text(29.8, FIRST + 0.12, "first frequency at rest", ha="right", color="C7", fontsize=8)
    speed.set(ylim=(-6, 8), ylabel="[rad/s]", yticks=[0, 2, 4, 6])
    speed.grid(False)
    right.set(xlim=(0, 30), ylim=(-1.5, 0.75), xlabel="time [s]", ylabel="[m]", title="deflection of the tip in the spin's plane")
    right.legend(handles=[*right.lines, speed.lines[0]], loc="lower right")
    folder.mkdir(parents=True, exist_ok=True)
    figure.savefig(folder / "spin_up_beam.png")
    plt.close(figure)
    return folder / "spin_up_beam.png"


if __name__ == "__main__":
    print(f"wrote {main(*sys.argv[1:])}")
