"""A spring separation: a payload is pushed off an upper stage by a spring that misses its mass center, and tips off.

The payload is welded on. A spring between the two is compressed; when the clamp band opens, it pushes them apart over its stroke
and loses contact. Its line of force misses both mass centers, so each leaves with a tip-off rate.

Fact: with the effective mass m at the spring, 1/m = 1/m1 + 1/m2 + e1^2/I1 + e2^2/I2, a short spring of energy E gives the impulse
J = sqrt(2 E m), rates J e/I and the speed J/m. The rotation of the bodies during the stroke changes this by less than 1 %,
in proportion to the stroke: extrapolating from two strokes of the same energy gives the limit to 1e-4. Momentum is conserved to
rounding.
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import bough

STAGE, PAYLOAD = (900.0, 700.0), (300.0, 150.0)             # kg, kg m^2 about y, of each
ENERGY, STROKE = 75.0, 0.05                                 # J in the spring, m
BESIDE = -0.08, 0.03                                        # m, along x: from the spring to the mass centers
OPENS = 0.5                                                 # s


def stack(stroke=STROKE):
    """The payload on the stage; the spring acts along the coordinate by which they part, at the joint."""
    (m1, i1), (m2, i2) = STAGE, PAYLOAD
    s = bough.System("separation")
    s.body("stage", joint=bough.Free(), mass=m1, com=(BESIDE[0], 0, -1.2), inertia=(i1, i1, 300))
    s.body("payload", parent="stage", mass=m2, com=(BESIDE[1], 0, 0.7), inertia=(i2, i2, 90),
           shapes=bough.shapes.Box((1.2, 1.2, 1.4), at=(0, 0, 0.7)))  # fmt: skip
    s.stop("spring", coordinate="payload.z", below=stroke, stiffness=2 * ENERGY / stroke**2)
    s.event("clamp band opens", at=OPENS, do=[bough.Detach("payload")])
    s.simulation(until=4.0, dt=5e-4, sample_rate=1000, record=["state", "pose", "velocity", "momentum", "energy"])
    return s


system = stack()                                                                        # for `bough run`


def closed_form():
    """Tip-off rates about y of stage and payload, and the speed at which they part at the spring."""
    (m1, i1), (m2, i2), (e1, e2) = STAGE, PAYLOAD, BESIDE
    mass = 1 / (1 / m1 + 1 / m2 + e1**2 / i1 + e2**2 / i2)
    push = np.sqrt(2 * ENERGY * mass)
    return np.array([-push * e1 / i1, push * e2 / i2, push / mass])


def tip_off(result):
    """The same of a run: right after the spring has let go."""
    data = result.data
    late = data.isel(time=int(data.v.sel(v_name="payload.z").values.argmax()))
    return np.array([*late.angular_velocity.sel(axis="y").values, late.v.sel(v_name="payload.z").item()])


def main(folder="out/gallery"):
    result, shorter = (bough.simulate(stack(stroke).compile()) for stroke in (STROKE, STROKE / 2))
    found, limit, data = tip_off(result), 2 * tip_off(shorter) - tip_off(result), result.data
    kept = np.concatenate([data.angular_momentum, data.linear_momentum], axis=1)
    off = [np.abs(each / closed_form() - 1).max() for each in (found, limit)]
    print(f"tip-off {np.degrees(found[:2]).round(3)} deg/s, parting at {found[2]:.4f} m/s: off the closed form by {off[0]:.1e}, "
          f"in the limit of short strokes by {off[1]:.1e}; momenta off by {np.abs(kept - kept[0]).max():.0e}")  # fmt: skip
    assert off[0] < 1e-2
    assert off[1] < 1e-4
    assert np.abs(kept - kept[0]).max() < 1e-11 * PAYLOAD[0] * found[2]
    assert np.ptp(data.total_energy.values) < 1e-6 * ENERGY                              # the spring's becomes motion
    return picture(Path(folder), result)


@plt.style.context("bough.gallery")
def picture(folder, result):
    data, (stage, payload, speed) = result.data, closed_form()
    t = 1e3 * (data.time.values - OPENS)
    figure, (left, middle, right) = plt.subplots(1, 3, figsize=(10, 4.2))
    figure.suptitle("A payload is pushed off beside its mass center, and tips off", x=0.02, ha="left")
    shown = (t > -20) & (t < 130)
    left.plot(t[shown], data.v.sel(v_name="payload.z").values[shown])
    left.axhline(speed, color="0.5", ls=":", label="closed form")
    left.set(title="speed of separation", ylabel="[m/s]", xlabel="after the clamp band opens [ms]")
    for body, rate, color in (("stage", stage, "C0"), ("payload", payload, "C1")):
        middle.plot(t[shown], np.degrees(data.angular_velocity.sel(body=body, axis="y").values[shown]), color=color, label=body)
        middle.axhline(np.degrees(rate), color=color, ls=":")
    middle.set(title="tip-off rates about y", ylabel="[deg/s]", xlabel="after the clamp band opens [ms]")
    middle.legend(loc="center right")
    left.legend(loc="lower right")
    right.plot(data.time, data.kinetic_energy, label="motion", color="C2")
    right.plot(data.time, data.potential_energy, label="spring", color="C3")
    right.set(title="energy", ylabel="[J]", xlabel="time [s]", xlim=(0.3, 0.8))
    right.legend(loc="center right")
    folder.mkdir(parents=True, exist_ok=True)
    figure.savefig(folder / "separation.png")
    plt.close(figure)
    return folder / "separation.png"


if __name__ == "__main__":
    print(f"wrote {main(*sys.argv[1:])}")
