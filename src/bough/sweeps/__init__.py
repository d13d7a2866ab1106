"""One file per algorithm, each compiled once.

Kernels know sweeps by number, also kernels that lie in the cache: all files are imported here, in one order, so that the numbers do
not depend on what a program imports first.
"""
from importlib import import_module
from pathlib import Path

for _file in sorted(Path(__file__).parent.glob("*.py")):
    if _file.stem != "__init__":
        import_module(f"{__name__}.{_file.stem}")
