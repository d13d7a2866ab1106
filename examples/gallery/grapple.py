"""A space arm grapples and closes a loop: two arms catch a tumbling target, and all move on as one body.

A servicer reaches out with both arms. The target drifts by and spins; when its handles are in the hands, an event closes the
hands and releases the drives of the arms. The tree of bodies becomes a loop: bus, arm, target, arm. The catch is an internal
impulse: speeds jump to the nearest ones, in kinetic energy, that the closed hands allow. Servos then stop the remaining motion.

Fact: neither the catch nor the servos change linear or angular momentum; at the end the system rotates as one rigid body.
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import bough

REACH, CATCH, LAST = 1.5, 8.0, 40.0                        # m, half an arm; s, of the approach and of the rest
BENT, OPEN = (2.4, -2.2), (0.75, -1.15)                    # rad, of the left shoulder and elbow: at the start, at the catch
HANDLE = 0.5 + REACH * (np.sin(OPEN[0]) + np.sin(sum(OPEN)))  # m, where the hands are then, to the left and to the right
DRIFT, TUMBLE = np.array([-0.08, 0.05, 0.0]), 0.15         # m/s, rad/s, of the target
MASS = 150 + 4 * 6 + 90                                  # kg
SIDES = {"left": 1, "right": -1}
PARTS = ("upper", "fore")
RECORD = ("state", "pose", "velocity", "momentum", "energy")


def space(target=None):
    """Servicer and target. The arms are driven before the catch; after it servos hold them, and the hands hold the handles."""
    s = bough.System("grapple")
    s.body("bus", joint=bough.Free(), mass=150, inertia=(20, 25, 30))
    for side, sign in SIDES.items():
        parent, at = "bus", (0.5, 0.5 * sign, 0)
        for part, start, end in zip(PARTS, BENT, OPEN, strict=True):
            servo = {"stiffness": 40.0, "rest": sign * end, "damping": 60.0}
            moves = servo | {"motion": bough.motion.Move(start=sign * start, to=sign * end, duration=CATCH)}
            s.body(f"{side} {part}", parent=parent, at=at, joint=bough.Revolute("z", **moves), mass=6, com=(REACH / 2, 0, 0),
                   inertia=(0.02, 1.2, 1.2))  # fmt: skip
            parent, at = f"{side} {part}", (REACH, 0, 0)
    s.body("target", joint=bough.Free(**(target or {})), mass=90, inertia=(12, 12, 15))
    if target:
        caught = [bough.Release(f"{side} {part}") for side in SIDES for part in PARTS]
        for side, sign in SIDES.items():
            handle = bough.Frame("target", at=(-0.4, sign * HANDLE, 0), orient={"axis": "z", "radians": sign * sum(OPEN)})
            grip = bough.Weld() if side == "left" else bough.Revolute("z")
            caught.append(bough.Attach(bough.Frame(f"{side} fore", at=at), handle, grip, name=f"{side} hand", pose="nominal"))
        s.event("catch", at=CATCH, do=caught)
    s.simulation(until=CATCH + LAST, dt=0.01, sample_rate=10, record=RECORD)
    return s


def start():
    """Where the target must start so that its handles are in the hands at the catch: bus and arms do not feel it before."""
    bus = bough.simulate(space(), until=CATCH, dt=0.01, record=["pose"]).data.position.sel(body="bus").values[-1]
    handles = bus + np.array([0.5 + REACH * (np.cos(OPEN[0]) + np.cos(sum(OPEN))), 0, 0])
    place, angle = handles + np.array([0.4, 0, 0]) - DRIFT * CATCH, -TUMBLE * CATCH
    return {"q0": [*place, 0, 0, np.sin(angle / 2), np.cos(angle / 2)], "v0": [*DRIFT, 0, 0, TUMBLE]}


system = space(start())


def main(folder="out/gallery"):
    result = bough.simulate(system.compile())
    (catch,), data = result.events, result.data
    kept = np.concatenate([data.angular_momentum, data.linear_momentum], axis=1)
    spins = data.angular_velocity.values[-1, :, 2]
    drift = np.abs(kept - kept[0]).max()
    print(f"the catch takes {catch.jump.energy_lost:.3f} J; momenta off by {drift:.0e}; all turn with {spins[0]:.5f} rad/s then")
    assert drift < 1e-9 * np.abs(kept[0]).max()                                    # what 4000 steps round and leave
    assert catch.jump.energy_lost > 0
    assert np.ptp(spins) < 1e-6 * spins[0]
    return picture(Path(folder), result)


def draw(axes, now, color, alpha):
    """Bus, arms and target at one moment, in the plane."""
    def place(body, *points):
        _, _, z, w = now.attitude.sel(body=body).values
        turn = np.array([[1 - 2 * z * z, -2 * z * w], [2 * z * w, 1 - 2 * z * z]])
        return np.array(points) @ turn.T + now.position.sel(body=body).values[:2]

    axes.add_patch(plt.Polygon(place("bus", (-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5)), color=color, alpha=0.5 * alpha))
    grip, shell = (-0.4, 0), [(-0.3, -0.6), (0.5, -0.6), (0.5, 0.6), (-0.3, 0.6)]
    axes.add_patch(plt.Polygon(place("target", *shell), facecolor="none", edgecolor=color, alpha=alpha, lw=1.5))
    axes.plot(*place("target", (grip[0], -HANDLE), grip, (-0.3, 0), grip, (grip[0], HANDLE)).T, color=color, alpha=alpha, lw=1.2)
    for side in SIDES:
        line = np.concatenate([place(f"{side} upper", (0, 0)), place(f"{side} fore", (0, 0), (REACH, 0))])
        axes.plot(*line.T, "-o", color=color, alpha=alpha, lw=2.5, ms=3.5)


def spins(data):
    """Angular momentum about the common mass center: of the target, of all."""
    target = data.sel(body="target")
    arm, velocity = (target.position - data.center_of_mass).values, (target.velocity - data.linear_momentum / MASS).values
    own = 15 * target.angular_velocity.values + 90 * np.cross(arm, velocity)
    return own[:, 2], data.angular_momentum.values[:, 2]


@plt.style.context("bough.gallery")
def picture(folder, result):
    data = result.data
    figure = plt.figure(figsize=(10, 5))
    figure.suptitle("Two arms catch a tumbling target and close a loop", x=0.02, ha="left")
    grid = figure.add_gridspec(2, 2, width_ratios=(1.25, 1))
    plane = figure.add_subplot(grid[:, 0])
    for moment, alpha in ((0.0, 0.3), (4.0, 0.5)):
        draw(plane, data.sel(time=moment, method="nearest"), "C0", alpha)
    draw(plane, data.sel(time=CATCH, method="nearest"), "C6", 1.0)
    draw(plane, data.isel(time=-1), "C1", 0.8)
    plane.set(aspect="equal", xlabel="x [m]", ylabel="y [m]", title="approach (blue), catch (red), 40 s later (orange)")
    momentum, energy = figure.add_subplot(grid[0, 1]), figure.add_subplot(grid[1, 1])
    target, total = spins(data)
    for values, color, name in ((total, "0.2", "all"), (target, "C1", "target"), (total - target, "C0", "servicer")):
        momentum.plot(data.time, values, color=color, label=name)
    energy.plot(data.time, data.kinetic_energy, color="C2")
    momentum.set(ylabel="[N m s]", title="angular momentum about the common mass center", xlim=(0, 24))
    momentum.legend(loc="upper right", ncols=3)
    energy.set(ylabel="[J]", xlabel="time [s]", title="kinetic energy", xlim=(0, 24), ylim=(0, None))
    for axes in (momentum, energy):
        axes.axvline(CATCH, color="C6", lw=0.9)
    energy.text(CATCH + 0.3, 0.85 * energy.get_ylim()[1], "catch", color="C6")
    folder.mkdir(parents=True, exist_ok=True)
    figure.savefig(folder / "grapple.png")
    plt.close(figure)
    return folder / "grapple.png"


if __name__ == "__main__":
    print(f"wrote {main(*sys.argv[1:])}")
