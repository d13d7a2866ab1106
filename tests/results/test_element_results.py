"""Force elements in results: what is recorded, plotted, saved and told."""
import numpy as np
import pytest

import bough
from tests.support.compare import assert_same
from tests.support.element_systems import add_all, add_lines, chain, spar
from tests.support.random_systems import random_state
from tests.support.tolerance import CANCELLING, SWEEP


@pytest.fixture(scope="module")
def run():
    model = chain(add_all).compile()
    q, v = random_state(model, np.random.default_rng(0))
    return bough.simulate(model, q0=q, v0=v, until=0.05, dt=0.01)


def test_recorded_forces(run):
    """By name and with units, at every sample; recorded without being asked."""
    model, data = run.trajectory.model, run.data
    forces = model.element_forces(data.q.values, data.v.values)
    assert list(data.line.values) == ["across", "moored", "inside"]
    assert list(data.element.values) == ["tether", "soft", "float"]
    assert data.line_tension.attrs["units"] == "N"
    for name in data.line.values:
        assert_same(data.line_tension.sel(line=name).values, forces[name], CANCELLING)
    for name in data.element.values:
        assert_same(data.element_force.sel(element=name).values, forces[name], CANCELLING)
    assert not data.element_limit.sel(element="soft").values.any()


def test_energy_is_that_of_the_model(run):
    model, data = run.trajectory.model, run.data
    assert_same(data.potential_energy.values, model.potential_energy(data.q.values), SWEEP)
    assert "dampers, restoring moments" in run.summary
    assert "line moored" in run.summary


def test_saved_and_plotted(run, tmp_path):
    again = bough.open_result(run.save(tmp_path / "run.nc"))
    assert again.system == run.system
    assert again.summary == run.summary
    np.testing.assert_array_equal(again.data.element_force.values, run.data.element_force.values)
    figure = run.plot("elements", tmp_path / "elements.png")
    assert len(figure.axes) == 1 + 2*3


def test_of_one_kind_only():
    """What a system does not have is not in the record; without elements there is none."""
    model = chain(add_lines).compile()
    q, v = random_state(model, np.random.default_rng(0))
    data = bough.simulate(model, q0=q, v0=v, until=0.02, dt=0.01, record=["elements"]).data
    assert set(data.data_vars) == {"line_tension"}
    data = bough.simulate(spar(), until=0.02, dt=0.01, record=["elements"]).data
    assert set(data.data_vars) == {"element_force", "element_limit"}
    with pytest.raises(bough.StateError, match="has no force elements"):
        bough.simulate(chain(), until=0.02, dt=0.01, record=["elements"])


def test_limits_of_a_batch_are_told_by_run():
    """Of three runs, one sinks its sections."""
    q = np.tile([0, 0, 0, 0, 0, 0, 1.0], (3, 1))
    q[1, 2] = -11.0
    summary = bough.simulate(spar(), q0=q, until=0.02, dt=0.01).summary
    assert "1 of 3 runs, run 1 from t = 0 s: the water plane is beyond an end" in summary


def test_checked_in_words():
    """`bough check` lists them, and the model counts them."""
    from bough.analyze.model_summary import loads
    model = chain(add_all).compile()
    told = "\n".join(loads(model))
    for part in ("line moored: world at (3, 1, -2) - plate at (0.1, 0.5, 0), 20 N/m from 1 m on", "restoring tether on plate",
                 "buoyancy float on sled, water up to z = 0.4 m"):
        assert part in told
    assert "3 lines, 2 restorings, 1 buoyancy" in repr(model)
