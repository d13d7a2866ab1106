"""Plots drawn by a second process, which starts while the simulation runs: importing matplotlib takes half a second.

    python -m bough.drawing     reads one line, `result.nc|folder|prefix`, draws, and prints the paths of the figures
"""

from __future__ import annotations

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
            written, _ = self.process.communicate(f"{result.resolve()}|{folder}|{prefix}\n")
        if self.process.returncode:
            raise RuntimeError(f"drawing the plots failed; 'bough run --no-plots' goes without, and {result} holds the data")
        return [Path(line) for line in written.splitlines()]

    def __exit__(self, *exception: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.communicate()


def main() -> None:
    from bough.results import open_result, plots  # noqa: F401  (importing plots early is the point)

    line = sys.stdin.readline().strip()
    if line:
        path, folder, prefix = line.split("|")
        with quiet():                                                   # the caller shows a bar
            for written in open_result(path).plots(folder, prefix=prefix, skip=SKIP):
                print(written)


if __name__ == "__main__":
    main()
