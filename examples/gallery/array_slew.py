"""A flexible solar array slew: the same turn leaves the arrays swinging, or at rest, by its timing alone.

A wheel turns a satellite with two flexible arrays: full torque one way, then the other. Each push makes the arrays oscillate
about their statically bent shape. If it lasts whole periods of that oscillation, it ends as it began: the arrays are straight
and at rest when the next push comes. If it lasts half a period more, three switches add up to four times the deflection.

Fact: after pushes of three periods the tips are at rest except for higher modes; after three and a half they swing by four
times the static deflection.
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from scipy.linalg import block_diag, eigh

import bough

REACH, HALF, PER_METRE, SPIN = 8.0, 0.6, 2.5, 0.5          # m: of an array, of half the bus; kg/m of an array; kg m^2 of the wheel
TURN = np.radians(30)


def satellite(push=1.0):
    """Two arrays along x, and a wheel that pushes for so many seconds either way, as a rigid satellite would need it."""
    s = bough.System("array slew")
    s.body("bus", joint=bough.Free(), mass=400, inertia=(90, 110, 120))
    array = bough.beam(REACH, EI=(2e5, 2e3), mass_per_length=PER_METRE, modes=3)            # soft in the plane of the slew only
    s.body("right", parent="bus", at=(HALF, 0, 0), flexible=array)
    s.body("left", parent="bus", at=(-HALF, 0, 0), orient={"axis": "z", "degrees": 180}, flexible=array)
    inertia = 120 - SPIN + 2 * PER_METRE * ((HALF + REACH) ** 3 - HALF**3) / 3
    motor = -inertia * TURN / push**2
    profile = {"times": [0, push, 2 * push], "values": [motor, -motor, 0], "kind": "hold"}
    s.wheel("wheel", body="bus", axis="z", inertia=SPIN, torque=profile)
    s.simulation(until=2 * push + 6, dt=2e-3, sample_rate=50, record=["state", "pose", "nodes", "shapes"])
    return s


def swings():
    """Periods [s] of the modes that turn the bus, and how much each bends a tip under a steady push of 1 N m."""
    model = satellite().compile()
    array = model.system.bodies["right"].flexible
    mass, stiffness = model.mass_matrix(model.q0), block_diag(np.zeros((6, 6)), array.K, array.K)
    mass[5, 5] -= SPIN                                                                      # the wheel does not turn with the bus
    squares, modes = eigh(stiffness, mass)
    turning = np.flatnonzero((squares > 1e-6 * squares[-1]) & (np.abs(modes[5]) > 1e-3 * np.abs(modes[5]).max()))
    tip = array.nodes.phi[array.nodes.index("tip"), 1] @ modes[6:9, turning]
    return 2 * np.pi / np.sqrt(squares[turning]), np.abs(tip * modes[5, turning] / squares[turning])


system = satellite(push=3 * swings()[0][0])                                                 # for `bough run`


def main(folder="out/gallery"):
    periods, bends = swings()
    tuned, untuned = ((push, bough.simulate(satellite(push))) for push in (3 * periods[0], 3.5 * periods[0]))
    left = []
    for push, result in (tuned, untuned):
        torque = np.abs(result.system.wheels["wheel"].torque.values).max()
        tip = result.data.node_deflection.sel(node="right.tip", axis="y").values
        left.append(np.ptp(tip[result.time > 2 * push]) / 2 / (torque * bends[0]))
    print(f"the tips swing by {left[0]:.3f} times the bend after pushes of 3 periods, by {left[1]:.2f} times after 3.5 periods")
    # a mode of period T swings on by |1 - exp(2 pi i push/T)|^2 times its bend: 0 or 4 of the first, 4 of the others at the most;
    # the spin changes the bend by some (rate period/2 pi)^2
    others, spin = 4 * bends[1:].sum() / bends[0], (TURN / tuned[0] * periods[0] / 2 / np.pi) ** 2
    assert left[0] < others + 4 * spin
    assert abs(left[1] - 4) < others + 4 * spin
    return picture(Path(folder), tuned, untuned)


def shapes(data, moment, enlarged=6.0):
    """Both arrays in the plane, their bending enlarged: what is drawn is the turned straight shape plus so many times the rest."""
    now, start = data.sel(time=moment, method="nearest"), data.isel(time=0)
    _, _, z, w = now.attitude.sel(body="bus").values
    angle = 2 * np.arctan2(z, w)
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    for side in ("right", "left"):
        points, straight = (when.outline.values[when.point_body.values == side, :2] for when in (now, start))
        rigid = straight @ turn.T
        yield rigid + enlarged * (points - rigid)


@plt.style.context("bough.gallery")
def picture(folder, tuned, untuned):
    figure = plt.figure(figsize=(10, 5))
    figure.suptitle("Slew of a flexible satellite: timing alone leaves the arrays at rest", x=0.02, ha="left")
    grid = figure.add_gridspec(2, 2, width_ratios=(1, 1.35))
    for row, ((push, result), name, color) in enumerate(((tuned, "3 periods", "C0"), (untuned, "3½ periods", "C1"))):
        plan = figure.add_subplot(grid[row, 0])
        for moment, alpha in zip((0, 0.4 * push, push, 1.5 * push, 2 * push + 2.4), (0.2, 0.35, 0.5, 0.7, 1), strict=True):
            for line in shapes(result.data, moment):
                plan.plot(*line.T, color=color, alpha=alpha, lw=2)
        plan.plot(0, 0, "s", color="0.3", ms=11)
        plan.set(aspect="equal", xlim=(-9, 9), ylim=(-5.2, 5.2), title=f"pushes of {name}, bending enlarged six times")
        plan.axis("off")
        curve = figure.add_subplot(grid[row, 1])
        tip = 1e3 * result.data.node_deflection.sel(node="right.tip", axis="y")
        curve.axvspan(0, push, color="C2", alpha=0.1, lw=0)
        curve.axvspan(push, 2 * push, color="C6", alpha=0.1, lw=0)
        curve.plot(result.time, tip, color=color)
        curve.text(push / 2, 330, "ahead", ha="center", color="C2")
        curve.text(3 * push / 2, 330, "astern", ha="center", color="C6")
        curve.set(ylim=(-400, 400), xlim=(0, result.time[-1]), ylabel="[mm]", title="deflection of a tip")
    curve.set_xlabel("time [s]")
    folder.mkdir(parents=True, exist_ok=True)
    figure.savefig(folder / "array_slew.png")
    plt.close(figure)
    return folder / "array_slew.png"


if __name__ == "__main__":
    print(f"wrote {main(*sys.argv[1:])}")
