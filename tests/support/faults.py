"""Faults on purpose: SIGKILL at random moments, and disks that fill, while bough runs, saves, writes models, compiles, disperses.

    python -m tests.support.faults [--moments 200] [--seed 0] [--json FILE]

After each fault the old file or a whole new one must be there, a run must be resumable to the same bits, the cache usable.
"""

import argparse
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import numpy as np

import bough
from bough.errors import BoughError

HOME = Path(__file__).resolve().parents[2]
SHARES = {"run": 0.4, "save": 0.25, "model": 0.1, "compile": 0.1, "warmup": 0.025, "campaign": 0.125}


def system(mass=2.0):
    s = bough.System("swing", gravity=(0, 0, -9.81))
    s.body("upper", joint=bough.Revolute("y", q0=1.0, damping=0.1), mass=mass, com=(0, 0, -0.5), inertia=(0.1, 0.1, 0.1))
    s.body(
        "lower",
        parent="upper",
        at=(0, 0, -1),
        joint=bough.Revolute("x", q0=0.3),
        mass=1.0,
        com=(0, 0, -0.5),
        inertia=(0.1, 0.1, 0.1),
    )
    s.simulation(until=4.0, dt=1e-3, sample_rate=500)
    return s


def stream(file):
    bough.simulate(system(), save_to=file, checkpoint=1e-3, progress=False)


class Ground:
    """What faults are tried on, made once: models, an old result, and how a run ends that nothing disturbs."""

    def __init__(self, folder):
        self.folder = Path(folder)
        self.old, self.whole = self.folder / "old.nc", self.folder / "whole.nc"
        bough.simulate(system(3.0), until=0.1, progress=False).save(self.old)
        stream(self.whole)
        self.result = bough.simulate(system(), progress=False)
        assert self.result.audit.fine  # derived before, so that saving is writing
        assert self.result.arrays
        self.end = bough.open_result(self.whole).array("q")

    # ---- what is disturbed, and what must hold afterwards ------------------------------------------------------------------------
    def do_run(self, place):
        stream(place / "out.nc")

    def check_run(self, place):
        """The file is whole, or the run can be resumed to the same bits, or nothing was recorded yet and the old file is there."""
        file = place / "out.nc"
        if not file.with_name("out.nc.parts").is_dir():
            return self.is_old_or_new(file)
        try:
            with bough.progress.quiet():
                found = bough.resume(file, save_to=file).finish()
        except BoughError as error:
            if "start the run anew" not in str(error):
                raise
            return "nothing yet, " + self.is_old_or_new(file)
        np.testing.assert_array_equal(found.array("q"), self.end)
        return "resumed"

    def do_save(self, place):
        self.result.save(place / "out.nc")

    def check_save(self, place):
        return self.is_old_or_new(place / "out.nc")

    def is_old_or_new(self, file):
        n = len(bough.open_result(file).array("q"))
        assert n in (51, 2001), n
        return "old" if n == 51 else "new"

    def do_model(self, place):
        system(5.0).to_yaml(place / "model.yaml")

    def check_model(self, place):
        mass = bough.load(place / "model.yaml").bodies["upper"].mass
        assert mass in (3.0, 5.0)
        return "old" if mass == 3.0 else "new"

    def place(self):
        found = Path(tempfile.mkdtemp(dir=self.folder))
        shutil.copy(self.old, found / "out.nc")
        system(3.0).to_yaml(found / "model.yaml")
        return found


# ---- in forks of this process --------------------------------------------------------------------------------------------------
def child(work, quiet=True):
    """A fork that does some work and ends: 0, 3 if bough refused, 4 if a raw error came."""
    pid = os.fork()
    if pid:
        return pid
    code = 4
    try:
        sys.stdout = sys.stderr = Path(os.devnull).open("w") if quiet else sys.stderr  # noqa: SIM115
        work()
        code = 0
    except BoughError:
        code = 3
    except OSError as error:
        code = 3 if error.filename else 5
    finally:
        os._exit(code)


def killed(ground, what, rng, longest):
    """SIGKILL at a random moment of some work."""
    place = ground.place()
    pid = child(lambda: getattr(ground, f"do_{what}")(place))
    time.sleep(rng.uniform(0.0, longest))
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    said = getattr(ground, f"check_{what}")(place)
    shutil.rmtree(place)
    return said


def full(ground, what, rng):
    """A disk that takes so many bytes of a file only: what is refused is said, and the old file is there; with room, it goes on."""
    place, limit = ground.place(), int(10 ** rng.uniform(1.0, 5.3))

    def work():
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
        getattr(ground, f"do_{what}")(place)

    _, status = os.waitpid(child(work), 0)
    code = os.waitstatus_to_exitcode(status)
    assert code in (0, 3, -signal.SIGSEGV), f"{what} with {limit} bytes ends with {code}"
    said = getattr(ground, f"check_{what}")(place)
    shutil.rmtree(place)
    return f"HDF5 crashed, {said}" if code < 0 else said


# ---- in processes of their own ------------------------------------------------------------------------------------------
COMPILE = (
    "from tests.support.faults import system; print(repr(system().compile().forward_dynamics([0.3, 0.1], [1.0, 2.0]).tolist()))"
)
CAMPAIGN = """
import sys, bough
from tests.support.faults import system
s = system(); s.simulation(until=0.5, dt=1e-3, sample_rate=50)
c = bough.Campaign(s, vary={"upper.mass": {"uniform": [1.0, 3.0]}}, samples=64, metrics={"far": "peak(lower.rx)"}, seed=3, block=8)
found = c.run(sys.argv[1])
print(repr(found.data.far.values.tolist()))
"""


def start(script, *arguments, **environment):
    paths = os.pathsep.join([str(HOME / "src"), str(HOME)])
    return subprocess.Popen(
        [sys.executable, "-c", script, *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": paths, **environment},
    )


def answer(process):
    out, errors = process.communicate(timeout=600)
    assert process.returncode == 0, errors[-2000:]
    return eval(out.strip().splitlines()[-1])  # numbers that were printed above


def killed_process(script, argument, environment, rng, longest, expected):
    """SIGKILL at some moment; then the same again, to its end: the same numbers."""
    process = start(script, *argument, **environment)
    time.sleep(rng.uniform(0.0, longest))
    process.kill()
    process.communicate()
    assert answer(start(script, *argument, **environment)) == expected
    return "done again"


WARMUP = "from bough.warmup import warm_up; warm_up(['rigid'], lanes=['one'], methods=['order-n'], processes=1); print('1')"


def moments(ground, what, n, rng):
    """Counts of what was left behind."""
    counts, folder = Counter(), ground.folder
    if what in ("run", "save", "model"):
        begin = time.perf_counter()
        pid = child(lambda: getattr(ground, f"do_{what}")(ground.place()))
        os.waitpid(pid, 0)
        longest = 1.3 * (time.perf_counter() - begin)
        for _ in range(n):
            counts[killed(ground, what, rng, longest)] += 1
    elif what == "campaign":
        expected = answer(start(CAMPAIGN, folder / "whole.zarr"))
        for i in range(n):
            counts[killed_process(CAMPAIGN, [folder / f"{i}.zarr"], {}, rng, 4.0, expected)] += 1
    else:
        script = COMPILE if what == "compile" else WARMUP
        expected = answer(start(COMPILE)) if what == "compile" else 1
        for i in range(n):
            cache = {"BOUGH_CACHE_DIR": str(folder / f"{what}{i}")}
            counts[killed_process(script, [], cache, rng, 6.0 if what == "compile" else 20.0, expected)] += 1
    return dict(counts)


def tried(total, seed, only=()):
    """All of it: by what was disturbed, how often, and what was left."""
    rng, found = random.Random(seed), {}
    with tempfile.TemporaryDirectory() as folder:
        ground = Ground(folder)
        for what, share in SHARES.items():
            if not only or what in only:
                found[f"SIGKILL, {what}"] = moments(ground, what, max(1, round(share * total)), rng)
                print(f"SIGKILL, {what}: {found[f'SIGKILL, {what}']}", flush=True)
        for what in ("run", "save", "model"):
            if not only or what in only:
                found[f"full disk, {what}"] = dict(Counter(full(ground, what, rng) for _ in range(max(2, total // 10))))
                print(f"full disk, {what}: {found[f'full disk, {what}']}", flush=True)
    return found


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--moments", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", nargs="*", default=())
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    counts = tried(options.moments, options.seed, options.only)
    if options.json:
        options.json.parent.mkdir(parents=True, exist_ok=True)
        options.json.write_text(json.dumps(counts, indent=1) + "\n")
