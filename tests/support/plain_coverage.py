"""Which lines of kernels, sweeps and compiled integrators a plain-Python run reaches: `make coverage`.

Compiled code leaves no trace, so the same sources run as plain Python (NUMBA_DISABLE_JIT=1), on the models of `plain_run`. What is
not reached is listed line by line; docs/develop/testing.md says why.
"""
import os
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parents[2]
FOLDERS = ("kernels", "sweeps", "integrate/compiled")
NUMBA = ("kernels/lanes.py", "kernels/linker.py", "kernels/jit.py", "kernels/cache.py", "integrate/compiled/callback.py",
         "sweeps/schema.py", "sweeps/records.py", "sweeps/fields.py")          # they talk to the compiler, or run on import


def main() -> int:
    if os.environ.get("NUMBA_DISABLE_JIT") != "1":
        os.environ["NUMBA_DISABLE_JIT"] = "1"                       # read by Numba when it is imported
        os.execv(sys.executable, [sys.executable, __file__, *sys.argv[1:]])
    sys.path[:0] = [str(ROOT)]
    from coverage import Coverage

    coverage = Coverage(branch=True, data_file=None, config_file=str(ROOT / "pyproject.toml"),
                        include=[f"{ROOT}/src/bough/{folder}/*" for folder in FOLDERS],
                        omit=[f"{ROOT}/src/bough/{file}" for file in NUMBA])
    coverage.start()
    from tests.support.plain_run import runs

    for name, ask in runs():
        start = time.perf_counter()
        ask()
        print(f"{name:16s} {time.perf_counter() - start:6.1f} s", file=sys.stderr)
    coverage.stop()
    coverage.report(show_missing=True, skip_covered=True, precision=1)
    return 0


if __name__ == "__main__":
    sys.exit(main())
