"""A thousand-link chain: folded and released, its end falls faster than a stone.

Both ends of the chain hang side by side; then one is released. The momentum of the falling half concentrates in ever fewer
links while energy is conserved, so its end is pulled down by more than its weight. A chain without width obeys
v^2 = g x (2 - x/L)/(1 - x/L) at a fall x. A thousand revolute joints take O(N) operations: each step costs twice what it would
cost with five hundred.

Fact: the end outruns free fall, and its speed is that of the formula to within the fraction of the chain in the fold.
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import bough

LINKS, LENGTH, GAP, GRAVITY = 1000, 10.0, 0.16, 9.81                      # m; GAP between the two halves
LINK = LENGTH / LINKS
FOLD = round(np.pi * GAP / 2 / LINK)                                      # links in the half circle

system = bough.System("thousand links", gravity=(0, 0, -GRAVITY))
start = np.zeros(LINKS)
start[(LINKS - FOLD) // 2 : (LINKS - FOLD) // 2 + FOLD] = -np.pi / FOLD    # hangs straight, turns about, goes straight up again
for i in range(LINKS):
    system.body(f"link{i + 1}", parent=f"link{i}" if i else None, at=(0, 0, -LINK if i else 0), mass=0.01, com=(0, 0, -LINK / 2),
                inertia=(0.01 * LINK**2 / 12, 0.01 * LINK**2 / 12, 1e-9), joint=bough.Revolute("y", q0=start[i]))  # fmt: skip
system.simulation(until=1.18, dt=2.5e-4, sample_rate=200, record=["state"])


def points(q):
    """The joints and the free end in the x-z plane, (..., LINKS + 1, 2)."""
    angle = np.cumsum(q, axis=-1)
    steps = LINK * np.stack([-np.sin(angle), -np.cos(angle)], axis=-1)
    return np.concatenate([np.zeros_like(steps[..., :1, :]), np.cumsum(steps, axis=-2)], axis=-2)


def main(folder="out/gallery"):
    result = bough.simulate(system)
    t, q, v = result.time, result.data.q.values, result.data.v.values
    end = points(q)[:, -1]
    angle = np.cumsum(q, axis=1)
    speed = np.abs((LINK * np.sin(angle) * np.cumsum(v, axis=1)).sum(axis=1))           # of the end, along z
    fall = end[0, 1] - end[:, 1]
    print(f"{LINKS} links, {result.facts.steps} steps in {result.facts.wall_time:.1f} s")
    part = (fall > 0.1 * LENGTH) & (fall < 0.8 * LENGTH)
    theory = np.sqrt(GRAVITY * fall * (2 - fall / LENGTH) / (1 - fall / LENGTH))
    off = np.abs(speed[part] / theory[part] - 1).max()
    ahead = (fall - GRAVITY * t**2 / 2)[-1]
    print(f"the end is {ahead:.2f} m ahead of a stone after {t[-1]:g} s; its speed is the formula's to {100 * off:.1f} %")
    assert ahead > 0.1 * LENGTH
    assert off < np.pi * GAP / LENGTH
    return picture(Path(folder), t, points(q), fall, speed, theory)


@plt.style.context("bough.gallery")
def picture(folder, t, chain, fall, speed, theory):
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 5.2), width_ratios=(1.25, 1))
    figure.suptitle("A falling folded chain of a thousand links outruns a stone", x=0.02, ha="left")
    moments = np.array([0, 0.3, 0.55, 0.75, 0.9, 1.0, 1.1, 1.17])
    for i, moment in enumerate(moments):
        x, z = chain[np.searchsorted(t, moment - 1e-9)].T
        left.plot(1.1 * i + x, z, color="C0", lw=1.6)
        left.plot(1.1 * i, 0, "s", color="0.3", ms=5)
        left.plot(1.1 * i + x[-1], z[-1], "o", color="C1", ms=5)
        left.plot(1.1 * i + 0.45, chain[0, -1, 1] - GRAVITY * moment**2 / 2, "o", color="0.5", ms=5)
        left.text(1.1 * i + 0.1, 0.35, f"{moment:g} s", ha="center", fontsize=8, color="0.35")
    left.set(xlim=(-0.5, 8.6), ylim=(-10.3, 0.8), xticks=[], ylabel="z [m]", title="chain, free end (orange), stone (gray)")
    left.grid(axis="x", visible=False)
    right.plot(fall, speed, color="C1", lw=2.5, label="free end")
    inside = fall < 0.985 * LENGTH
    right.plot(fall[inside], theory[inside], "--", color="C0", label="energy kept, no width")
    right.plot(fall, np.sqrt(2 * GRAVITY * fall), color="0.5", label="stone")
    right.set(xlabel="fall of the end [m]", ylabel="[m/s]", title="speed", xlim=(0, LENGTH), ylim=(0, 30))
    right.legend(loc="upper left")
    folder.mkdir(parents=True, exist_ok=True)
    figure.savefig(folder / "thousand_links.png")
    plt.close(figure)
    return folder / "thousand_links.png"


if __name__ == "__main__":
    print(f"wrote {main(*sys.argv[1:])}")
