"""Bad input, much of it: what bough refuses must be said, what it takes must be finite, and nothing may hang, crash or grow.

    python -m tests.support.fuzz [--number 10000] [--seed 0] [--only KIND ...] [--json FILE]

The file is written as cases are done; the same command goes on from there, unless bough or the draws are others by then.
Cases go through forks of this process, each with 10 s of processor time for a case (ITIMER_PROF ends it) and 2 GB more memory than
it began with. A case is told by its kind, the seed and its number: `--case KIND NUMBER` does one alone, with its traceback.
"""

import argparse
import faulthandler
import hashlib
import json
import os
import resource
import select
import signal
import sys
import tempfile
import traceback
from collections import Counter
from functools import partial
from pathlib import Path

import bough
from tests.support.fuzz_inputs import KINDS, tried

SECONDS = 10.0  # of the processor, for one case
WALL = 300.0  # of the clock: a case that sleeps
MEMORY = 2 << 30  # beyond what there was


def one(kind, seed, i, folder):
    """A case as a line: its number, what came of it, where."""
    try:
        return f"{i}\t{tried(kind, seed, i, folder)}\n"
    except BaseException as error:
        where = [f for f in traceback.extract_tb(error.__traceback__) if f"{os.sep}bough{os.sep}" in f.filename]
        place = f"{Path(where[-1].filename).name}:{where[-1].lineno}" if where else "?"
        text = " ".join(str(error).split())[:200]
        return f"{i}\tFOUND\t{type(error).__name__} at {place}: {text}\n"


def worker(kind, seed, numbers, put):
    """In a fork: case after case, each told before it begins and when it is done."""
    faulthandler.disable()                                  # a crash is a finding, told by the parent
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize() if sys.platform == "linux" else 0
    resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, used + MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    os.dup2(null, 2)
    with tempfile.TemporaryDirectory() as folder:
        for i in numbers:
            os.write(put, f"{i}\tbegin\n".encode())
            signal.setitimer(signal.ITIMER_PROF, SECONDS)
            line = one(kind, seed, i, Path(folder))
            signal.setitimer(signal.ITIMER_PROF, 0.0)
            os.write(put, line.encode())


def batch(kind, seed, numbers):
    """Lines of a fork's cases: fewer than numbers, if one of them ended it; and how it ended."""
    get, put = os.pipe()
    pid = os.fork()
    if not pid:
        code = 1
        try:
            os.close(get)
            worker(kind, seed, numbers, put)
            code = 0
        finally:
            os._exit(code)
    os.close(put)
    text, sleeps = b"", False
    while True:
        ready, _, _ = select.select([get], [], [], WALL)
        if not ready:
            os.kill(pid, signal.SIGKILL)
            sleeps = True
        more = os.read(get, 65536) if ready else b""
        text += more
        if not more:
            break
    os.close(get)
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    return text.decode(errors="replace").splitlines(), "sleeps" if sleeps else code


def ended(code):
    if code == "sleeps":
        return f"no answer in {WALL:.0f} s"
    return f"more than {SECONDS:.0f} s" if code == -signal.SIGPROF else f"the process ends with {code}"


def fuzz(kind, seed, first, number, size=250, tell=lambda counts, findings: None):
    """Counts of what came of so many cases, and the findings; `tell` hears of them from time to time."""
    counts, findings, i, last = Counter(), {}, first, first + number
    while i < last:
        lines, code = batch(kind, seed, range(i, min(i + size, last)))
        for line in lines:
            case, what, *why = line.split("\t")
            if what != "begin":
                counts[what] += 1
                i = int(case) + 1
                if why:
                    findings[int(case)] = why[0]
        if code != 0 and i < last:  # case i ended the fork: again alone: it may have been the compiler, and its cache grows
            for _ in range(4):
                lines, code = batch(kind, seed, [i])
                if code != -signal.SIGPROF:
                    break
            what = lines[-1].split("\t") if code == 0 else [i, "FOUND", ended(code)]
            counts[what[1]] += 1
            if len(what) > 2:
                findings[i] = what[2]
            i += 1
        tell(counts, findings)
    return counts, findings


def warmed(kind, number=40):
    """What the first cases need is imported and compiled before forks share it."""
    with tempfile.TemporaryDirectory() as folder:
        for i in range(number):
            one(kind, 10**6, i, Path(folder))


def sources():
    """A hash of bough and of what draws the cases."""
    files = [*Path(bough.__file__).parent.rglob("*.py"), *Path(__file__).parent.glob("fuzz*.py")]
    return hashlib.sha256(b"".join(file.read_bytes() for file in sorted(files))).hexdigest()[:16]


class Kept:
    """What was found so far, in a file."""

    def __init__(self, file, seed):
        self.file, self.head = file, {"sources": sources(), "seed": seed}
        known = json.loads(file.read_text()) if file and file.exists() else {}
        self.kinds = known["kinds"] if known and {key: known[key] for key in self.head} == self.head else {}

    def tried(self, kind):
        return sum(self.kinds.get(kind, {}).get("counts", {}).values())

    def add(self, kind, before, counts, findings):
        """After what was `before`, so much more came."""
        total = Counter(before.get("counts", {})) + counts
        every = before.get("findings", {}) | {str(i): why for i, why in findings.items()}
        self.kinds[kind] = {"counts": dict(total), "findings": every}
        if self.file:
            self.file.parent.mkdir(parents=True, exist_ok=True)
            part = self.file.with_suffix(".part")
            part.write_text(json.dumps(self.head | {"kinds": self.kinds}, indent=1) + "\n")
            part.replace(self.file)


def report(kind, counts, findings):
    said = ", ".join(f"{n} {what}" for what, n in sorted(counts.items()))
    print(f"{kind:14} {sum(counts.values())} tried: {said}")
    for why, n in Counter(findings.values()).most_common(40):
        print(f"    {n:5} x  {why}   (case {next(i for i, each in findings.items() if each == why)})", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--number", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", nargs="*", default=list(KINDS))
    parser.add_argument("--case", nargs=2, metavar=("KIND", "NUMBER"))
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    if given.case:
        with tempfile.TemporaryDirectory() as place:
            print(tried(given.case[0], given.seed, int(given.case[1]), Path(place)))
        sys.exit()
    kept = Kept(given.json, given.seed)
    for each in given.only:
        begin, before = kept.tried(each), kept.kinds.get(each, {})
        if begin < given.number:
            warmed(each)
            fuzz(each, given.seed, begin, given.number - begin, tell=partial(kept.add, each, before))
        report(each, **kept.kinds[each])
    sys.exit(1 if any(each["findings"] for each in kept.kinds.values()) else 0)
