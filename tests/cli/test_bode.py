"""`bough bode` as a person uses it."""

import json
from pathlib import Path

import numpy as np
import pytest

from bough.cli import main
from tests.support.tolerance import FORMULA

ARM = """
import bough

system = bough.System("arm")
system.body("arm", joint=bough.Revolute("z"), mass=2.0, com=(0.5, 0, 0), inertia=(0.1, 0.1, 0.1))
system.input("motor", coordinate="arm")
system.output("angle", coordinate="arm")
system.output("rate", rate="arm")
system.simulation(until=1, dt=1e-3)

@bough.law(outputs=["angle", "rate"], inputs=["motor"], period=0.02)
def hold(t, y):
    return {"motor": -3.0*y["angle"] - 2.0*y["rate"]}
"""


@pytest.fixture
def call(tmp_path, monkeypatch, capsys):
    """Call the command line in an empty folder: (exit code, stdout, stderr)."""
    monkeypatch.chdir(tmp_path)
    Path("arm.py").write_text(ARM)

    def run(*arguments):
        with pytest.raises(SystemExit) as end:
            main(["bode", "arm.py", *map(str, arguments)])
        out = capsys.readouterr()
        return end.value.code or 0, out.out, out.err

    return run


def test_numbers_are_those_of_the_double_integrator(call):
    """0.6 kg m^2 about the joint: 1/(0.6 w^2), 180 deg behind."""
    code, out, _ = call("--from", "motor", "--to", "angle", "--low", 0.1, "--high", 10, "--json")
    assert code == 0
    found = json.loads(out)
    [pair] = found["responses"]
    assert (pair["from"], pair["to"], pair["unit"]) == ("motor", "angle", "rad/(N m)")
    w = 2*np.pi*np.array(found["frequency_Hz"])
    np.testing.assert_allclose(pair["magnitude"], 1/(0.6*w**2), rtol=FORMULA)
    np.testing.assert_allclose(pair["phase_deg"], -180.0, rtol=FORMULA)
    assert w[0] == pytest.approx(0.2*np.pi)


def test_a_figure_is_written_and_peaks_are_told(call):
    code, out, _ = call("--to", "angle", "-o", "figures/arm.png", "--kind", "nichols")
    assert code == 0
    assert "angle of motor" in out
    assert Path("figures/arm.png").stat().st_size > 5000
    assert "wrote figures/arm.png" in out


def test_the_loop_of_a_script_is_cut_and_closed(call):
    code, out, _ = call("--cut", "motor", "--json")
    assert code == 0
    margins = json.loads(out)["margins"]
    assert margins["stable"]
    assert margins["phase_deg"] == pytest.approx(65.4, abs=0.05)                                  # half of its last digit
    code, out, _ = call("--closed", "--to", "angle", "--json")
    assert json.loads(out)["dt"] == 0.02
    assert json.loads(out)["responses"][0]["magnitude"][0] == pytest.approx(1/3, rel=1e-2)     # stiffness 3 N m/rad


@pytest.mark.parametrize(("arguments", "message"), [
    (["--from", "motr"], "there is no input, coordinate or driven wheel 'motr', did you mean 'motor'"),
    (["--to", "angel"], "there is no output 'angel' (did you mean 'angle'?)"),
    (["--cut", "torque"], "the loop does not pass through 'torque'; it passes through motor, angle, rate"),
    (["--cut", "motor", "--to", "rate"], "leave --from, --to and --closed out"),
    (["--low", "5", "--high", "1"], "0 < low < high"),
    (["--kind", "bodo"], "there is no 'bodo', did you mean 'bode'"),
])
def test_nonsense_is_named(call, arguments, message):
    code, _, error = call(*arguments)
    assert code == 2
    assert message in error


def test_without_laws_there_is_no_loop(call):
    Path("arm.py").write_text(ARM.partition("@bough.law")[0])
    code, _, error = call("--cut", "motor")
    assert code == 2
    assert "there are no laws in it" in error
