"""A long burn: a satellite with flexible arrays burns 300 kg out of two tanks in which the propellant sloshes, until they are dry.

The engine starts abruptly: the arrays bend back and vibrate. In one tank the propellant starts displaced; through the bus it
excites that of the other, and both beat. As the tanks empty, the length of their pendulums grows faster than the
acceleration. Propellant that stops sloshing is fixed from then on, and at the end flow and thrust stop automatically.

Fact: the satellite gains the speed of the rocket equation; the momentum of satellite and exhaust together is conserved to 1e-9 of
the exhaust's; and at any time the in-phase and out-of-phase slosh frequencies are those of the model linearized with the current
masses, to 0.1 %.
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import bough

DRY, EACH, FLOW, SPEED = 700.0, 150.0, 0.15, 3000.0         # kg; kg in each of two tanks; kg/s out of each; m/s of the exhaust

SIDES = ("port", "starboard")


def satellite():
    """Arrays along x, tanks beside the axis along y, the engine below."""
    s = bough.System("orbit raising")
    s.body("bus", joint=bough.Free(), mass=DRY - 2 * 8 * 2.5, inertia=(380, 260, 320))
    array = bough.beam(8.0, EI=(4e4, 9e3), mass_per_length=2.5, modes=2, damping=0.01)
    s.body("right", parent="bus", at=(0.6, 0, 0), flexible=array)
    s.body("left", parent="bus", at=(-0.6, 0, 0), orient={"axis": "z", "degrees": 180}, flexible=array)
    for name, y, tilt in (("port", -0.5, 0.1), ("starboard", 0.5, 0.0)):
        slosh = bough.Slosh("pendulum", level=[0, 75, 160], mass=[0, 50, 40], length=[0.38, 0.3, 0.2], decay=0.002, q0=(0, tilt))
        s.tank(name, body="bus", at=(0, y, 0), mass=EACH, capacity=160, shape=bough.shapes.Sphere(0.42), flow=FLOW,
               exhaust_speed=SPEED, nozzle=(0, 0, -1.2), engine="main", slosh=slosh)  # fmt: skip
    s.simulation(until=1010, dt=0.02, sample_rate=5, record=["state", "tanks", "exhaust", "momentum", "pose", "nodes"])
    return s


system = satellite()                                                                    # for `bough run`


def frequency(t, y):
    """Hz, by the passages of zero."""
    i = np.flatnonzero(y[:-1] * y[1:] < 0)
    zeros = t[i] - y[i] * (t[i + 1] - t[i]) / (y[i + 1] - y[i])
    return (len(zeros) - 1) / (zeros[-1] - zeros[0]) / 2


def swings(result, start, end):
    """Hz, in phase and against each other, between two times; and those of the model that is linearized with the masses in
    between, about the steady burn: the arrays are bent, and accelerate with the bus.
    """
    inside = (result.time > start) & (result.time < end)
    port, starboard = (result.data.q.sel(q_name=f"{name}_slosh.ry").values[inside] for name in SIDES)
    seen = np.array([frequency(result.time[inside], port + starboard), frequency(result.time[inside], port - starboard)])
    masses = result.data.tank_mass.sel(time=(start + end) / 2, method="nearest").values
    model = system.compile()
    upright = np.where(np.char.find(model.names.q, "slosh") >= 0, 0.0, model.q0)
    return seen, model.trim(upright, accelerate=["bus.z"], tanks=masses).modes().frequencies


def main(folder="out/gallery"):
    result = bough.simulate(system.compile())
    data, end = result.data, result.events[0].time
    gained, ideal = np.linalg.norm(data.v.values[-1, :3]), SPEED * np.log((DRY + 2 * EACH) / DRY)
    print(f"dry after {end:.2f} s; {gained:.3f} m/s gained, {ideal:.3f} m/s by the rocket equation")
    assert abs(end - EACH / FLOW) < 1e-8                                                 # of 50000 steps that round
    assert not data.tank_mass.values[-1].any()
    assert not data.tank_thrust.values[-1].any()
    assert abs(gained / ideal - 1) < 1e-5                                                # the cosine of its swings
    drifts = []
    for name in ("linear", "angular"):
        whole, gone = data[f"whole_{name}_momentum"].values, data[f"exhaust_{name}_momentum"].values
        drifts.append(np.abs(whole - whole[0]).max() / np.abs(gone).max())
    print(f"momenta of satellite and exhaust: off by {drifts[0]:.1e} (linear) and {drifts[1]:.1e} (angular) of what left")
    assert max(drifts) < 1e-9
    swung = [swings(result, start, start + 60) for start in (20, 450, 800)]
    off = [np.abs(known - seen[:, None]).min(axis=1).max() / seen.max() for seen, known in swung]
    print(f"slosh at first {swung[0][0].round(4)} Hz, in the end {swung[-1][0].round(4)} Hz; off by {max(off):.1e} at most")
    assert max(off) < 1e-3
    return picture(Path(folder), result)


@plt.style.context("bough.gallery")
def picture(folder, result):
    data, t = result.data, result.time
    figure, rows = plt.subplots(3, 2, figsize=(10, 6.5), width_ratios=(1, 1.6))
    figure.suptitle("A burn of 300 kg: propellant sloshes in two tanks, arrays swing", x=0.02, ha="left")
    left = data.tank_mass.sum("tank")
    tip = 1e3 * data.node_deflection.sel(node="right.tip", axis="z")
    series = [
        ("propellant", "[kg]", [(data.tank_mass.sel(tank="port"), "each tank"), (left, "both")]),
        ("angle of the slosh", "[deg]", [(np.degrees(data.q.sel(q_name=f"{side}_slosh.ry")), side) for side in SIDES]),
        ("deflection of an array's tip", "[mm]", [(tip, "right")]),
    ]
    for (title, unit, curves), (whole, start) in zip(series, rows, strict=True):
        for panel, shown in ((whole, t > -1), (start, t < 60)):
            for (values, label), color in zip(curves, ("C0", "C1"), strict=False):
                panel.plot(t[shown], values.values[shown], color=color, lw=0.6 if panel is whole else 1.2, label=label)
        whole.set(title=title, ylabel=unit)
        start.set(title=f"{title}: the first minute")
    rows[1, 1].legend(loc="center left", bbox_to_anchor=(1, 0.5))
    speed = rows[0, 0].twinx()
    speed.plot(t, data.v.sel(v_name="bus.z"), color="C2")
    speed.set_ylabel("speed [m/s]", color="C2")
    rows[0, 1].clear()
    rows[0, 1].plot(t, data.tank_thrust.sum("tank").values / (DRY + left.values), color="C3")
    rows[0, 1].set(title="thrust by mass, over the whole burn", ylabel="[m/s²]", xlim=(0, t[-1]))
    rows[0, 1].sharex(rows[0, 0])
    for panel in rows[2]:
        panel.set_xlabel("time [s]")
    folder.mkdir(parents=True, exist_ok=True)
    figure.savefig(folder / "orbit_raising.png")
    plt.close(figure)
    return folder / "orbit_raising.png"


if __name__ == "__main__":
    print(f"wrote {main(*sys.argv[1:])}")
