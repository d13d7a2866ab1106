"""What a run loads: no more of the package than it needs."""
import os
import subprocess
import sys

import pytest

import bough.flex
import bough.integrate

COUNT = "print(sum(name.split('.')[0] == 'bough' for name in sys.modules), *sorted(sys.modules))"
ARM = """
system = bough.System("arm", gravity=(0, 0, -9.81))
for k, axis in enumerate("zyzyzyz"):
    system.body(f"link{k}", parent=f"link{k - 1}" if k else None, joint=bough.Revolute(axis), at=(0, 0, 0.3*bool(k)), mass=2.0,
                com=(0, 0, 0.15), inertia=(0.02, 0.02, 0.005))
bough.simulate(system, q0=[0.1]*7, until=0.1, dt=1e-3)
"""


def loaded(script):
    """How many modules of this package, and the names of all modules, that are loaded after a script."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", f"import sys, bough\n{script}\n{COUNT}"], capture_output=True, text=True,
                          check=True, env=environment)
    count, *names = done.stdout.split()
    return int(count), set(names)


def test_importing_simulate():
    count, names = loaded("bough.simulate")
    assert count <= 100
    assert not {"bough.sweeps.riccati", "bough.sweeps.tanks", "bough.integrate.event_handler", "bough.integrate.mounted_run",
                "bough.compile.tank_tables", "bough.analyze.reactions", "bough.flex.recovery", "bough.describe.document"} & names


def test_run_of_an_arm():
    """Of its own run, whose kernels have been compiled before: what has to be compiled loads the files that it is made from."""
    loaded(ARM)
    count, names = loaded(ARM)
    assert count <= 100
    assert "bough.sweeps.articulated" in names
    assert not {"bough.sweeps.cloud", "bough.sweeps.fronts", "bough.sweeps.orbit", "bough.integrate.event_handler"} & names


@pytest.mark.parametrize(("package", "file"), [("analyze", "internal_loads"), ("integrate", "backlash"), ("sweeps", "orbit"),
                                               ("compile", "tank_tables"), ("flex", "recovery"), ("results", "singular"),
                                               ("describe", "document"), ("analyze.linear", "closed_loop")])
def test_files_are_imported_on_first_use(package, file):
    _, names = loaded(f"import bough.{package} as package\nassert 'bough.{package}.{file}' not in sys.modules\npackage.{file}")
    assert f"bough.{package}.{file}" in names


def test_files_that_are_not_there_are_no_attributes():
    with pytest.raises(AttributeError, match=r"module .bough\.integrate. has no attribute .backlashes."):
        _ = bough.integrate.backlashes
    assert not hasattr(bough.flex, "__wrapped__")
