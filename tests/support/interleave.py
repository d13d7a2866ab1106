"""A benchmark of this checkout and of another one in turn, and the ratios of their minima:

    python -m tests.support.interleave ../before flexible --rounds 5
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).resolve().parents[2]
NO_TIMES = "difference|error|gap|ratio|/lanes$|dense/|times|faster|growth of|bytes|bodies|dofs|median|seconds|step$|modes$|loops$"
PEERS = "pinocchio|mujoco|exudyn"


def numbers(found: object, path: tuple[str, ...] = ()) -> Iterator[tuple[str, float]]:
    """The numbers of a JSON object, by their path."""
    if isinstance(found, dict):
        for key, value in found.items():
            yield from numbers(value, (*path, str(key)))
    elif isinstance(found, int | float):
        yield "/".join(path), float(found)


def measured(checkout: Path, bench: str) -> dict[str, float]:
    """The numbers of `bough bench --json` with the sources of a checkout, in a process of its own."""
    environment = os.environ | {"PYTHONPATH": str(checkout.resolve() / "src"), "OPENBLAS_NUM_THREADS": "1"}
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([sys.executable, "-m", "bough", "bench", bench, "--json"], capture_output=True, text=True, cwd=folder,
                              env=environment, check=False)
    if done.returncode:
        raise SystemExit(f"{checkout}: bough bench {bench} failed:\n{done.stderr[-2000:]}")
    return dict(numbers(json.loads(done.stdout[done.stdout.index("{"):])))


def minima(checkouts: list[Path], bench: str, rounds: int) -> list[dict[str, float]]:
    """Of each checkout, the least of each number. The first round, which may compile, does not count."""
    best: list[dict[str, float]] = [{} for _ in checkouts]
    for turn in range(rounds + 1):
        order = range(len(checkouts)) if turn % 2 else reversed(range(len(checkouts)))
        for i in order:
            found = measured(checkouts[i], bench)
            best[i] = {key: min(value, best[i].get(key, value)) for key, value in found.items()} if turn else {}
    return best


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before", type=Path, help="the other checkout")
    parser.add_argument("bench", help="a benchmark, as of `bough bench`")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--skip", default=f"{NO_TIMES}|{PEERS}", help="regular expression of numbers that are not shown")
    given = parser.parse_args()
    before, now = minima([given.before, HERE], given.bench, given.rounds)
    for key in sorted(now, key=lambda key: -now[key] / (before.get(key) or now[key] or 1.0)):
        if before.get(key) and not re.search(given.skip, key):
            print(f"{now[key] / before[key]:6.3f}  {before[key]:10.4g} -> {now[key]:10.4g}  {key}")


if __name__ == "__main__":
    main()
