"""The tests of a few rooms with the lowest and with the newest versions of all dependencies, each in its own environment.

python -m tests.support.bounds [--json FILE]
"""

import argparse
import json
import re
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

HOME = Path(__file__).resolve().parents[2]
TESTS = ["tests/model", "tests/compile", "tests/describe", "tests/results/test_audit.py", "tests/verify"]


def requirements(lowest):
    """What pyproject.toml asks for: as it is, or each at its lower bound."""
    listed = tomllib.loads((HOME / "pyproject.toml").read_text())["project"]["dependencies"]
    return [re.sub(r">=", "==", each) + (".*" if lowest else "") for each in listed] if lowest else listed


def tried(lowest):
    """Install, test, and say how it went."""
    with tempfile.TemporaryDirectory() as folder:
        python = Path(folder) / "bin" / "python"
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        install = [str(python), "-m", "pip", "install", "--quiet", *requirements(lowest), "pytest", "hypothesis"]
        made = subprocess.run(install, capture_output=True, text=True, check=False)
        if made.returncode:
            return {"installed": False, "said": made.stderr[-500:]}
        subprocess.run([str(python), "-m", "pip", "install", "--quiet", "--no-deps", str(HOME)], check=True)
        done = subprocess.run([str(python), "-m", "pytest", "-v", *TESTS], cwd=HOME, capture_output=True, text=True, check=False)
        said = [line.strip("= ") for line in done.stdout.splitlines() if re.search(r"\d+ (passed|failed|error).* in ", line)]
        facts = {"versions": versions(python), "said": said[-1] if said else (done.stdout + done.stderr)[-2000:]}
        return {"installed": True, "passed": done.returncode == 0, **facts}


def versions(python):
    """What is installed of NumPy and those that compile."""
    listed = subprocess.run([str(python), "-m", "pip", "list", "--format=json"], capture_output=True, text=True, check=True).stdout
    found = {each["name"].lower(): each["version"] for each in json.loads(listed)}
    return ", ".join(f"{name} {found[name]}" for name in ("numpy", "numba", "scipy", "xarray", "h5py", "pydantic"))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    found = {name: tried(name == "lowest") for name in ("lowest", "newest")}
    print(json.dumps(found, indent=1))
    if options.json:
        options.json.parent.mkdir(parents=True, exist_ok=True)
        options.json.write_text(json.dumps(found, indent=1) + "\n")
    sys.exit(0 if all(each.get("passed") for each in found.values()) else 1)
