"""Faults on purpose: SIGKILL at random moments, and disks that fill, while bough runs, saves, writes models, compiles, disperses.

    python -m tests.support.faults [--moments 200] [--seed 0] [--only run save model compile warmup campaign] [--json FILE]

After each fault the old file or a whole new one must be there, a run must be resumable to the same bits, the cache usable.
"""

import argparse
import contextlib
import ctypes
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
SHARES = {"run": 0.35, "save": 0.2, "model": 0.05, "compile": 0.1, "warmup": 0.1, "campaign": 0.2}
FORKED = ("run", "save", "model")  # in forks of this process, with everything imported: all moments are moments of work


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
    bough.simulate(system(), save_to=file, checkpoint=0.02, progress=False)


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
        self.furnish(found)
        return found

    def furnish(self, place):
        shutil.copy(self.old, place / "out.nc")
        system(3.0).to_yaml(place / "model.yaml")


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


def limited(ground, what, rng):
    """Files that may have so many bytes only: what is refused is said, and the old file is there; without the limit, it goes on."""
    place, limit = ground.place(), int(10 ** rng.uniform(1.0, 5.3))

    def work():
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
        getattr(ground, f"do_{what}")(place)

    _, status = os.waitpid(child(work), 0)
    code = os.waitstatus_to_exitcode(status)
    assert code in (0, 3), f"{what} with {limit} bytes ends with {code}"
    said = getattr(ground, f"check_{what}")(place)
    shutil.rmtree(place)
    return said


def disks():
    """Whether this process may mount disks of its own: root may, in a fork with its own table of mounts."""
    return os.waitpid(child(lambda: mounted(Path(tempfile.mkdtemp()), 64)), 0)[1] == 0


def mounted(place, kilobytes):
    """A disk of this size, which no other process sees."""
    if not place.is_mount():
        if ctypes.CDLL(None, use_errno=True).unshare(0x00020000):  # CLONE_NEWNS
            raise BoughError(f"no mounts of one's own: {os.strerror(ctypes.get_errno())}")
        subprocess.run(["mount", "--make-rprivate", "/"], check=True, capture_output=True)
    remount = ["-o", "remount"] if place.is_mount() else []
    subprocess.run(["mount", *remount, "-t", "tmpfs", "-o", f"size={kilobytes}k", "tmpfs", place], check=True, capture_output=True)


def full(ground, what, rng):
    """A disk that fills: the old file is there, and with more room it goes on."""
    kilobytes, (get, put) = int(10 ** rng.uniform(2.2, 3.2)), os.pipe()

    def work():
        place = Path(tempfile.mkdtemp(dir=ground.folder))
        mounted(place, kilobytes)
        ground.furnish(place)
        with contextlib.suppress(BoughError):
            getattr(ground, f"do_{what}")(place)
        mounted(place, 100_000)
        os.write(put, getattr(ground, f"check_{what}")(place).encode())

    _, status = os.waitpid(child(work), 0)
    os.close(put)
    with os.fdopen(get) as pipe:
        said = pipe.read()
    assert status == 0, f"{what} on a disk of {kilobytes} kB ends with {os.waitstatus_to_exitcode(status)}"
    return said


# ---- in processes of their own ------------------------------------------------------------------------------------------
COMPILE = (
    "from tests.support.faults import system; print(repr(system().compile().forward_dynamics([0.3, 0.1], [1.0, 2.0]).tolist()))"
)
CAMPAIGN = """
import sys, bough
from tests.support.faults import system
s = system(); s.simulation(until=0.5, dt=1e-3, sample_rate=50)
c = bough.Campaign(s, vary={"upper.mass": {"uniform": [1.0, 3.0]}}, samples=64, metrics={"far": "final(lower.rx)"}, seed=3)
found = c.run(sys.argv[1], block=8, threads=1, progress=False)
print(repr(found.far.values.tolist()))
"""


WARMUP = "from bough.warmup import warm_up; warm_up(['rigid'], lanes=['one'], methods=['order-n'], processes=1); print('1')"
LIMITED = "import resource, sys; resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[-1]),)*2)\n"


def start(script, *arguments, **environment):
    paths = os.pathsep.join([str(HOME / "src"), str(HOME)])
    return subprocess.Popen(
        [sys.executable, "-c", script, *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": paths, "PYTHONDONTWRITEBYTECODE": "1", **environment},
    )


def answer(process):
    out, errors = process.communicate(timeout=900)
    assert process.returncode == 0, errors[-2000:]
    return eval(out.strip().splitlines()[-1])  # numbers that were printed above


class Process:
    """What is disturbed in processes of their own: a campaign, or compiling into a cache of its own."""

    def __init__(self, folder, what):
        self.folder, self.what, self.n = folder, what, 0
        self.script = {"compile": COMPILE, "warmup": WARMUP, "campaign": CAMPAIGN}[what]
        begin = time.perf_counter()
        arguments, environment = self.place()
        self.expected = answer(start(self.script, *arguments, **environment))
        self.longest = time.perf_counter() - begin

    def place(self):
        """Arguments and environment that nobody has used before."""
        self.n += 1
        place = self.folder / f"{self.what}{self.n}"
        return ([place], {}) if self.what == "campaign" else ([], {"BOUGH_CACHE_DIR": str(place)})

    def again(self, arguments, environment):
        assert answer(start(self.script, *arguments, **environment)) == self.expected
        return "done again"

    def killed(self, rng):
        """SIGKILL at some moment; then the same again, to its end: the same numbers."""
        arguments, environment = self.place()
        process = start(self.script, *arguments, **environment)
        time.sleep(rng.uniform(0.0, self.longest))
        process.kill()
        process.communicate()
        return self.again(arguments, environment)

    def limited(self, rng):
        """Files that may have so many bytes only: an error of bough's, or done; then the same again without the limit."""
        arguments, environment = self.place()
        process = start(LIMITED + self.script, *arguments, int(10 ** rng.uniform(1.0, 5.0)), **environment)
        _, errors = process.communicate(timeout=900)
        assert process.returncode == 0 or "bough.errors." in errors.strip().splitlines()[-1], errors[-2000:]
        return ("done all the same, " if process.returncode == 0 else "refused, ") + self.again(arguments, environment)


def moments(ground, what, n, rng):
    """Counts of what SIGKILL left behind."""
    if what not in FORKED:
        process = Process(ground.folder, what)
        return dict(Counter(process.killed(rng) for _ in range(n)))
    begin = time.perf_counter()
    os.waitpid(child(lambda: getattr(ground, f"do_{what}")(ground.place())), 0)
    longest = 1.3 * (time.perf_counter() - begin)
    return dict(Counter(killed(ground, what, rng, longest) for _ in range(n)))


def disturbed(total, rng, ground, only):
    """All of it: what was disturbed, and what was left, counted."""
    few = max(2, total // 10)
    chosen = {what: max(1, round(share * total)) for what, share in SHARES.items() if not only or what in only}
    for what, n in chosen.items():
        yield f"SIGKILL, {what}", moments(ground, what, n, rng)
        if what in FORKED:
            yield f"size of files limited, {what}", dict(Counter(limited(ground, what, rng) for _ in range(few)))
            if disks():
                yield f"full disk, {what}", dict(Counter(full(ground, what, rng) for _ in range(few)))
        elif what != "warmup":
            process = Process(ground.folder, what)
            yield f"size of files limited, {what}", dict(Counter(process.limited(rng) for _ in range(max(2, few // 2))))


def tried(total, seed, only=(), file=None):
    """All of it, in the file as soon as it is known; if only some is asked for, the file keeps what it has of the others."""
    found = json.loads(file.read_text()) if only and file and file.exists() else {}
    with tempfile.TemporaryDirectory() as folder:
        for name, counts in disturbed(total, random.Random(seed), Ground(folder), only):
            found[name] = counts
            print(f"{name}: {counts}", flush=True)
            if file:
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(json.dumps(found, indent=1) + "\n")
    return found


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--moments", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", nargs="*", default=())
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    tried(options.moments, options.seed, options.only, options.json)
