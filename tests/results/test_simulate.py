"""simulate: settings, summaries, and runs that end early."""

import doctest

import numpy as np
import pytest

import bough
import bough.compile.compiled_model
import bough.compile.kernel_calls
import bough.files
import bough.integrate.compiled_steps
import bough.results.panels
import bough.results.quantities
import bough.simulation
from bough.compile.kernel_calls import linked
from tests.support.mechanisms import four_bar
from tests.support.result_runs import craft_run, pendulum, pendulum_batch


@pytest.mark.parametrize("module", [bough.simulation, bough.files, bough.integrate.compiled_steps, bough.results.panels,
                                    bough.results.quantities])  # fmt: skip
def test_docstrings(module):
    assert doctest.testmod(module).failed == 0


def test_settings_come_from_the_system_and_arguments_win():
    s = pendulum().system.copy()
    s.simulation(until=0.5, dt=1e-2, sample_rate=20, record=["energy"])
    result = bough.simulate(s)
    assert result.time[-1] == 0.5
    assert len(result.time) == 11
    assert result.facts.record == ("energy",)
    assert bough.simulate(s, until=0.2).time[-1] == 0.2
    adaptive = bough.simulate(s, method="dopri5")           # chooses its own steps: the settings' dt is not for it
    assert adaptive.facts.method == "dopri5"
    assert adaptive.facts.dt is None
    assert bough.simulate(s, method="euler-cromer").facts.dt == 1e-2


def test_few_samples_are_evaluated_one_by_one_and_many_in_lanes(monkeypatch):
    """Nothing of a short run is compiled for four lanes; the numbers are the same, bit for bit."""
    used: set[int] = set()
    monkeypatch.setattr(bough.compile.compiled_model, "linked", lambda *args: used.add(args[-1].ndim) or linked(*args))
    options = {"until": 0.1, "dt": 1e-2, "record": ["acceleration", "reactions", "energy"]}
    few = bough.simulate(pendulum(), **options).data
    assert used == {1}
    monkeypatch.setattr(bough.compile.kernel_calls, "MANY", 5)
    used.clear()
    many = bough.simulate(pendulum(), **options).data
    assert used == {2}
    assert few.equals(many)


@pytest.mark.parametrize(("options", "said"), [
    ({"until": 0.0, "dt": 1e-2}, "until is 0.0; give the end time in seconds, a number greater than 0"),
    ({"until": 1.0, "dt": 1e-2, "sample_rate": 0}, "sample_rate is 0; give samples a second, greater than 0"),
    ({"until": 1.0, "dt": 0.0}, "dt is 0.0; give seconds, greater than 0"),
    ({"until": 1.0, "method": "dopri5", "rtol": 0.0}, "rtol is 0.0; give a tolerance, greater than 0"),
    ({"until": 1.0, "method": "dopri5", "atol": 0.0}, "atol is 0.0; give a tolerance, greater than 0"),
])  # fmt: skip
@pytest.mark.parametrize("with_settings", [False, True])
def test_zero_does_not_mean_not_given(options, said, with_settings):
    s = pendulum().system.copy()
    if with_settings:
        s.simulation(until=0.5, dt=1e-2, sample_rate=20)
    with pytest.raises(bough.StateError, match=said):
        bough.simulate(s, **options)


def test_a_stabilization_of_zero_is_refused():
    with pytest.raises(bough.StateError, match=r"stabilize is 0\.0; give a frequency in rad/s"):
        bough.simulate(four_bar()[0], until=0.1, dt=1e-3, stabilize=0.0)


def test_what_to_record_may_be_an_array():
    result = bough.simulate(pendulum(), until=0.1, dt=1e-2, record=np.array(["energy", "pose"]))
    assert result.facts.record == ("energy", "pose")


def test_the_end_must_be_known():
    with pytest.raises(bough.StateError, match="until is missing"):
        bough.simulate(pendulum(), dt=1e-3)


def stiff():
    s = bough.System("stiff")
    s.body("slider", joint=bough.Prismatic("x", stiffness=1e9, q0=0.1), mass=1)
    return s


@pytest.mark.filterwarnings("error")
def test_a_run_that_diverges_says_where_and_keeps_its_samples(tmp_path):
    with pytest.warns(bough.StepWarning, match="the run will diverge"), \
            pytest.raises(bough.SimulationError, match=r"'stiff'.* t = 0\.0.*slider") as caught:
        bough.simulate(stiff(), until=1.0, dt=1e-3, sample_rate=1000)
    result = caught.value.result
    assert result.failure
    assert np.isfinite(result.data.q).all()
    assert 1 < len(result.time) < 100
    assert "stopped early" in str(result)
    assert bough.open_result(result.save(tmp_path / "out.nc")).failure == result.failure
    result.plots(tmp_path)


def test_progress_is_told():
    told = []
    bough.simulate(pendulum(), until=1.0, dt=1e-3, progress=lambda fraction, t: told.append((fraction, t)))
    assert told[-1] == (1.0, 1.0)


def test_the_summary_of_a_conservative_run_tells_its_drift():
    text = str(bough.simulate(pendulum(), until=1.0, dt=1e-3))
    assert text.startswith("Result of pendulum: reached the end")
    for part in ("0 to 1 s", "rk4, dt 0.001 s, 1000 steps", "times real time", "drift", "final bob", "rad"):
        assert part in text
    assert "momentum" not in text                                     # a fixed base does not keep it


def test_the_summary_says_why_energy_is_not_kept_and_that_momentum_is():
    text = str(craft_run())
    assert "(wheel motors)" in text
    assert "angular momentum" in text
    assert "linear momentum" in text


def test_the_summary_of_a_batch_spans_its_runs():
    text = str(pendulum_batch())
    assert "5 runs" in text
    assert " .. " in text
