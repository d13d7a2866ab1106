"""Capture and berthing in one run: a seven-joint arm with flexible booms grapples a tumbling 5 t target and berths it on its bus.

The target drifts by; when the hand is close enough to its grapple fixture, slow enough relative to it and aligned, it closes: the
target, a separate system until then, is attached to the arm. Servos first stop the tumble, then fold the arm until latch and port
meet, and the latch closes: this second change makes a loop of bus, arm and target.

Fact: both changes conserve linear and angular momentum to rounding, and the whole run to the accuracy of its steps, 1e-5; both
dissipate energy; and at the end the target rotates with the bus.
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from scipy.spatial.transform import Rotation

import bough
from bough import Attach, Condition, Frame

JOINTS = {"yaw": "z", "pitch": "y", "roll": "x", "elbow": "y", "bend": "y", "turn": "z", "twist": "x"}
REACH = np.array([0.0, -0.5, 0.0, 1.0, -0.5, 0.0, 0.0])     # rad, of the joints at the capture
BERTH = np.array([0.9, -1.2, 0.0, 2.2, 0.1, 0.5, 0.0])      # rad, folded
FOLDS, LAST = (20.0, 80.0), 100.0                          # s: when the arm folds; the end
FIXTURE, LATCH = Frame("target", at=(-1.2, 0, 0)), Frame("target", at=(0, -1.0, 0))
RECORD = ["state", "pose", "velocity", "momentum", "energy", "loops", "outputs"]
BOX = np.array([[-1.2, -1, 0], [1.2, -1, 0], [1.2, 1, 0], [-1.2, 1, 0]])          # outline of the target, from above
HAND, PLACE = Frame("twist", at=(0.3, 0, 0)), (0.8, 0.0, 1.0)


def arm(s):
    """Shoulder, two booms of 4 m that bend, wrist; inertias are those of the motors through their gears."""
    boom = bough.beam(4.0, EI=6e4, mass_per_length=6.0, modes=2, damping=0.01)
    parent, at, node, motor = "bus", PLACE, None, bough.shapes.Box((0.25, 0.2, 0.2), at=(0.1, 0, 0))
    for (name, axis), start in zip(JOINTS.items(), REACH, strict=True):
        servo = bough.Revolute(axis, q0=start, stiffness=8e3, damping=6e4, rest=start)
        s.body(name, parent=parent, node=node, at=at, joint=servo, mass=15.0, inertia=(300,)*3, idealized=True, shapes=motor)
        parent, at, node = name, (0.2, 0, 0), None
        if name in ("roll", "elbow"):
            s.body(f"{name} boom", parent=name, flexible=boom)
            parent, at, node = f"{name} boom", (0, 0, 0), "tip"
        s.input(f"{name} rest", rest=f"{name}.r{axis}")


def servicing(port=None):
    s = bough.System("berthing")
    s.body("bus", joint=bough.Free(), mass=3000, inertia=(1800, 2200, 2400), shapes=bough.shapes.Box((2, 2, 2)))
    arm(s)
    s.body("target", joint=bough.Free(), mass=5000, inertia=(4200, 3900, 4500), shapes=bough.shapes.Box((2.4, 2, 2)))
    for name, kind in (("gap", "distance"), ("speed", "relative_speed"), ("tilt", "relative_angle")):
        s.output(name, **{kind: [HAND, FIXTURE]})
    near = [Condition(each, below=0.05) for each in ("gap", "speed", "tilt")]
    s.event("capture", when=near, do=[Attach(HAND, FIXTURE, pose="nominal")])
    if port is not None:
        s.output("left to go", distance=[port, LATCH])
        s.output("askew", relative_angle=[port, LATCH])
        there = [Condition(each, below=0.05) for each in ("left to go", "askew")]
        s.event("berthing", when=there, do=[Attach(port, LATCH, bough.Weld(), pose="nominal")])
    s.simulation(until=LAST, dt=0.004, sample_rate=5)
    return s


def matrix(place, turn):
    """(4, 4) of a frame."""
    return np.block([[turn, np.reshape(place, (3, 1))], [np.zeros((1, 3)), np.ones((1, 1))]])


def port_and_start():
    """Where on the bus the latch of the target arrives when the arm is folded; and where the target starts, tumbling, to be met."""
    model = servicing().compile()
    q = model.q0.copy()
    q[[model.names.q.index(f"{name}.r{axis}") for name, axis in JOINTS.items()]] = BERTH
    fixture, latch = (matrix(frame.at, np.eye(3)) for frame in (FIXTURE, LATCH))
    latch = matrix(*model.pose(q, "twist", HAND.at)) @ np.linalg.inv(fixture) @ latch              # the bus is at the origin
    port = Frame("bus", at=latch[:3, 3], orient=latch[:3, :3])
    tumble, drift, meets = np.radians([0.3, 0.4, -0.2]), np.array([-0.02, 0.0, 0.0]), 10.0         # rad/s, m/s, s
    home = matrix(*model.pose(model.q0, "twist", HAND.at)) @ np.linalg.inv(fixture)
    before = Rotation.from_rotvec(-meets * tumble).as_quat()
    return port, np.array([*(home[:3, 3] - meets * drift), *before]), np.array([*drift, *tumble])


PORT, Q_TARGET, V_TARGET = port_and_start()
system = servicing(PORT)
system.bodies["target"] = system.bodies["target"].model_copy(update={"joint": bough.Free(q0=Q_TARGET, v0=V_TARGET)})


@bough.law(outputs=[], inputs=[f"{name} rest" for name in JOINTS], period=0.2)
def fold(t, y):
    u = np.clip((t - FOLDS[0]) / (FOLDS[1] - FOLDS[0]), 0, 1)
    share = u**3 * (10 - 15 * u + 6 * u * u)
    return {f"{name} rest": share * (end - start) for name, start, end in zip(JOINTS, REACH, BERTH, strict=True)}


laws = [fold]                                                                           # for `bough run`


def main(folder="out/gallery"):
    result = bough.simulate(system.compile(), laws=laws, record=RECORD)
    data, (capture, berthing) = result.data, result.events
    kept = np.concatenate([data.angular_momentum, data.linear_momentum], axis=1)
    drift = np.abs(kept - kept[0]).max() / np.linalg.norm(kept[0])
    print(f"captured at {capture.time:.2f} s, {capture.jump.energy_lost:.3f} J lost, berthed at {berthing.time:.1f} s, "
          f"{berthing.jump.energy_lost:.3f} J lost; momenta off by {drift:.0e}")  # fmt: skip
    assert drift < 1e-5
    assert min(capture.jump.energy_lost, berthing.jump.energy_lost) > 0
    assert np.ptp(data.angular_velocity.sel(body=["bus", "target"]).values[-1], axis=0).max() < 1e-4
    return picture(Path(folder), result)


@plt.style.context("bough.gallery")
def picture(folder, result):
    data, moments = result.data, [event.time for event in result.events]
    figure = plt.figure(figsize=(10, 5))
    figure.suptitle("A seven-joint arm captures a tumbling target and berths it", x=0.02, ha="left")
    grid = figure.add_gridspec(3, 2, width_ratios=(1.25, 1))
    plane = figure.add_subplot(grid[:, 0])
    for t, color, name in ((0, "C0", "start"), (moments[0], "C6", "capture"), (50, "C2", "folding"), (LAST, "C1", "berthed")):
        now = data.sel(time=t, method="nearest")
        places = now.position.sel(body=[*JOINTS, "target"]) - now.position.sel(body="bus")
        bus = Rotation.from_quat(now.attitude.sel(body="bus")).inv()                                 # to its axes
        hand, target = (bus * Rotation.from_quat(now.attitude.sel(body=body)) for body in ("twist", "target"))
        *links, center = bus.apply(places)
        plane.plot(*np.array([*links, links[-1] + hand.apply(HAND.at)])[:, :2].T, "-o", color=color, lw=2, ms=3, label=name)
        plane.fill(*(center + target.apply(BOX))[:, :2].T, color=color, alpha=0.35)
    plane.plot([0, PORT.at[0]], [0, PORT.at[1]], color="0.6", lw=4)                                  # the port stands on a mast
    plane.add_patch(plt.Rectangle((-1, -1), 2, 2, color="0.6"))
    plane.set(aspect="equal", xlabel="x from the bus [m]", ylabel="y [m]", title="arm and target, seen from above")
    plane.legend(loc="upper right")
    load = np.linalg.norm(data.constraint_force.sel(loop="capture").values[:, 3:], axis=1)
    to_go, titles = data.outputs.sel(output="left to go"), ("distance to go [m]", "kinetic energy [J]", "force at the hand [N]")
    for i, (title, values) in enumerate(zip(titles, (to_go, data.kinetic_energy, load), strict=True)):
        panel = figure.add_subplot(grid[i, 1])
        panel.plot(data.time, values, color=f"C{i}")
        panel.set(title=title, ylim=(0, None), xlim=(0, LAST))
        panel.vlines(moments, 0, panel.get_ylim()[1], color="C6", lw=0.9)
    panel.set_xlabel("time [s]")
    folder.mkdir(parents=True, exist_ok=True)
    figure.savefig(folder / "berthing.png")
    plt.close(figure)
    return folder / "berthing.png"


if __name__ == "__main__":
    print(f"wrote {main(*sys.argv[1:])}")
