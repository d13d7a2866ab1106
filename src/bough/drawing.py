"""Plots drawn by a second process, which starts while the simulation runs: importing matplotlib takes half a second.

    python -m bough.drawing     reads one line, ["result.nc", "folder", "prefix"], draws, and prints the list of the figures
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from bough.progress import quiet, working

SKIP = ("pose",)        # figures that are drawn on request only


class Drawing:
    """A process that waits to draw.

    >>> with Drawing() as drawing:
    ...     pass        # without a result, it ends
    """

    def __enter__(self) -> Drawing:
        command = [sys.executable, "-m", "bough.drawing"]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            process_group=0,                      # Ctrl-C ends the simulation, not the drawing of what it gave
        )  # fmt: skip
        return self

    def draw(self, result: Path, folder: Path, prefix: str) -> list[Path]:
        """Figures of a saved result, as PNG files in a folder."""
        with working("drawing plots"):
            written, _ = self.process.communicate(json.dumps([str(result.resolve()), str(folder), prefix]) + "\n")
        if self.process.returncode:
            raise RuntimeError(f"drawing the plots failed; 'bough run --no-plots' goes without, and {result} holds the data")
        return [Path(path) for path in json.loads(written)]

    def __exit__(self, *exception: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.communicate()


def main() -> None:
    from bough.results import open_result, plots  # noqa: F401  (importing plots early is the point)

    line = sys.stdin.readline().strip()
    if line:
        path, folder, prefix = json.loads(line)
        with quiet():                                                   # the caller shows a bar
            print(json.dumps([str(written) for written in open_result(path).plots(folder, prefix=prefix, skip=SKIP)]))


if __name__ == "__main__":
    main()
