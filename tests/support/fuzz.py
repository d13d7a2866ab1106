"""Bad input, much of it: what bough refuses must be said, what it takes must be finite, and nothing may hang, crash or grow.

    python -m tests.support.fuzz [--number 10000] [--seed 0] [--only KIND ...] [--json FILE]

Cases go through forks of this process, each with 10 s of processor time for a case (ITIMER_PROF ends it) and 2 GB more memory than
it began with. A case is told by its kind, the seed and its number: `--case KIND NUMBER` does one alone, with its traceback.
"""

import argparse
import json
import os
import resource
import select
import signal
import sys
import tempfile
import traceback
from collections import Counter
from pathlib import Path

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


def fuzz(kind, seed, first, number, size=250):
    """Counts of what came of so many cases, and the findings."""
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
    return counts, findings


def warmed(kind, number=40):
    """What the first cases need is imported and compiled before forks share it."""
    with tempfile.TemporaryDirectory() as folder:
        for i in range(number):
            one(kind, 10**6, i, Path(folder))


def report(kind, counts, findings):
    print(
        f"{kind:14} {sum(counts.values())} tried: {counts['accepted']} accepted, {counts['refused']} refused, {len(findings)} found"
    )
    alike = Counter(why for why in findings.values())
    for why, n in alike.most_common(40):
        print(f"    {n:5} x  {why}   (case {next(i for i, each in findings.items() if each == why)})", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--number", type=int, default=10_000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", nargs="*", default=list(KINDS))
    parser.add_argument("--case", nargs=2, metavar=("KIND", "NUMBER"))
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    if given.case:
        with tempfile.TemporaryDirectory() as place:
            print(tried(given.case[0], given.seed, int(given.case[1]), Path(place)))
        sys.exit()
    found = {}
    for each in given.only:
        warmed(each)
        counted, why = fuzz(each, given.seed, given.first, given.number)
        report(each, counted, why)
        found[each] = {"tried": sum(counted.values()), **counted, "findings": why}
    if given.json:
        given.json.parent.mkdir(parents=True, exist_ok=True)
        given.json.write_text(json.dumps(found, indent=1) + "\n")
    sys.exit(1 if any(each["findings"] for each in found.values()) else 0)
