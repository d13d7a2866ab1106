"""Does `bough verify` notice? A copy of the package with one sign in one sweep changed, and the cases that concern it.

python -m tests.support.mutants [--json FILE] [NAME ...]
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

HOME = Path(__file__).resolve().parents[2]


class Mutant(NamedTuple):
    """In a file of the package, one text in the place of another; and the cases that must fall short."""

    file: str
    old: str
    new: str
    cases: str


MUTANTS = {
    "motion": Mutant(
        "sweeps/tree_motion.py", "(cross(omega_i, sigma), a)", "(cross(sigma, omega_i), a)", "dynamics: every joint, order-n"
    ),
    "articulated": Mutant(
        "sweeps/articulated.py",
        "z = sub(z, load_spatial(lane, ws, slot))",
        "z = add(z, load_spatial(lane, ws, slot))",
        "conservation: loads and inputs",
    ),
    "modes": Mutant(
        "sweeps/modes.py",
        "dot(t, a) + sum_products(ww, N)",
        "dot(t, a) - sum_products(ww, N)",
        "dynamics: flexible bodies, order-n",
    ),
    "fronts": Mutant(
        "sweeps/fronts.py", "sub(m, scale(u, G_m))", "add(m, scale(u, G_m))", "dynamics: a loop closed by revolute"
    ),
    "closures": Mutant(
        "sweeps/closures.py", "dot(n, a) + (dot(v, v)", "dot(n, a) - (dot(v, v)", "dynamics: a loop closed by distance"
    ),
    "held": Mutant("sweeps/held.py", "a = a*s + v", "a = a*s - v", "dynamics: held coordinates"),
    "elements": Mutant(
        "sweeps/force_elements.py",
        "stretch, rate = distance - read(pars, p + f.LINE_LENGTH)",
        "stretch, rate = distance + read(pars, p + f.LINE_LENGTH)",
        "closed forms: a line",
    ),
    "orbit": Mutant(
        "sweeps/orbit.py",
        "scale(k, vector_cross(lane, Sd, d))",
        "scale(-k, vector_cross(lane, Sd, d))",
        "closed forms: gravity gradient",
    ),
    "cloud": Mutant(
        "sweeps/cloud.py", "zx*sxy + zy*syy + zz*syz - yx*sxz", "zx*sxy + zy*syy + zz*syz + yx*sxz", "dynamics: momentum cloud"
    ),
    "composite": Mutant("sweeps/composite.py", "xy - rx*gy - hx*ry", "xy + rx*gy - hx*ry", "dynamics: every joint, mass matrix"),
    "implicit": Mutant(
        "sweeps/implicit.py",
        "accumulate(lane, ws, tau, -K*g*rate)",
        "accumulate(lane, ws, tau, K*g*rate)",
        "closed forms: the same, implicit steps",
    ),
    "loads": Mutant(
        "sweeps/loads.py",
        "load(lane, ws, q) - read(pars, p + f.REST)",
        "load(lane, ws, q) + read(pars, p + f.REST)",
        "dynamics: every joint, order-n",
    ),
    "kinematics": Mutant(
        "sweeps/kinematics.py",
        "V = shift_motion(r, (omega_i, v_i))",
        "V = shift_motion(r, (omega, v_i))",
        "dynamics: every joint, kinematics",
    ),
    "friction": Mutant(
        "sweeps/friction_forces.py",
        "force = force + drag*v",
        "force = force - drag*v",
        "closed forms: friction",
    ),
    "couplings": Mutant(
        "sweeps/couplings.py", "rate = rate + c*load(lane, ws, v)", "rate = rate - c*load(lane, ws, v)", "parts: a gearbox"
    ),
    "tanks": Mutant(
        "sweeps/tanks.py",
        "store(lane, ws, read(plan, row + f.TANK_RATE), -c)",
        "store(lane, ws, read(plan, row + f.TANK_RATE), c)",
        "parts: a tank that empties",
    ),
    "wheels": Mutant("sweeps/derivative.py", "- dot(e, alpha)", "+ dot(e, alpha)", "closed forms: a wheel spins up"),
    "outputs": Mutant("sweeps/outputs.py", "(zy - yz, xz - zx, yx - xy, w)", "(zy - yz, xz + zx, yx - xy, w)", "parts: outputs"),
}


def verify(package, cases):
    """The exit code of `bough verify` on a copy of the package, and what it says."""
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1", "PYTHONPATH": str(package.parent)}
    done = subprocess.run(
        [sys.executable, "-m", "bough", "verify", "--only", cases],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    return done.returncode, done.stdout + done.stderr


def planted(name, folder):
    """A copy of the package in a folder, with one error in it."""
    mutant, package = MUTANTS[name], Path(folder) / "bough"
    shutil.copytree(HOME / "src" / "bough", package, ignore=shutil.ignore_patterns("__pycache__"))
    (package / mutant.file).write_text(changed_source(name))
    return package


def changed_source(name):
    mutant = MUTANTS[name]
    source = (HOME / "src" / "bough" / mutant.file).read_text()
    if mutant.old not in source:
        raise ValueError(f"{mutant.file} has no {mutant.old!r} any more; plant the error of '{name}' elsewhere")
    return source.replace(mutant.old, mutant.new, 1)


def killed(name):
    """Whether verify falls short on a planted error, and is fine without it."""
    begin = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        code, text = verify(planted(name, folder), MUTANTS[name].cases)
    sound, fine = verify(HOME / "src" / "bough", MUTANTS[name].cases)
    found = code == 1 and "FALLS SHORT" in text and sound == 0
    return {
        "name": name,
        **MUTANTS[name]._asdict(),
        "found": found,
        "seconds": round(time.perf_counter() - begin, 1),
        "said": text.strip().splitlines()[0] if found else (text + fine)[-2000:],
    }


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*", default=list(MUTANTS))
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    results = []
    for each in options.names:
        results.append(killed(each))
        print(
            f"{'found' if results[-1]['found'] else 'MISSED':7} {each:12} {results[-1]['seconds']:6.1f} s  {results[-1]['said']}",
            flush=True,
        )
    if options.json:
        options.json.parent.mkdir(parents=True, exist_ok=True)
        options.json.write_text(json.dumps(results, indent=1) + "\n")
    sys.exit(0 if all(result["found"] for result in results) else 1)
