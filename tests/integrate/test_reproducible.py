"""`reproducible=True`: the bits of a run are its own, alone or in a batch of any size, with loops or without."""
import numpy as np
import pytest

import bough
from tests.support.mechanisms import four_bar


def driven_arm():
    s = bough.System("arm", gravity=(0, 0, -9.81))
    s.body("upper", joint=bough.Revolute("y", q0=0.3, damping=0.1), mass=4.0, com=(0.6, 0, 0), inertia=(0.1, 0.6, 0.6))
    s.body("lower", parent="upper", at=(1.2, 0, 0), joint=bough.Revolute("y"), mass=2.0, com=(0.4, 0, 0), inertia=(0.1, 0.3, 0.3))
    return s


@pytest.mark.parametrize(("system", "mass"), [(driven_arm(), "lower.mass"), (four_bar().system, "coupler.mass")])
def test_bits_of_a_run_are_its_own(system, mass):
    """As one of five, as one of two, and as a model that was described so: states and what is derived from them."""
    model, masses = system.compile(), np.linspace(1.0, 3.0, 5)
    options = {"until": 0.1, "dt": 5e-3, "record": ["state", "energy"], "progress": False, "reproducible": True}
    whole = bough.simulate(model, parameters={mass: masses}, **options).data
    pair = bough.simulate(model, parameters={mass: masses[3:]}, **options).data
    for name in ("q", "v", "kinetic_energy"):
        assert np.array_equal(whole[name].values[3:], pair[name].values)
    for i in (0, 4):
        alone = bough.simulate(model.with_parameters({mass: masses[i]}), **options).data
        for name in ("q", "v", "kinetic_energy"):
            assert np.array_equal(whole[name].values[i], alone[name].values)


def test_it_goes_on_as_it_was(tmp_path):
    """A run that is streamed and resumed keeps its bits, too."""
    options = {"dt": 5e-3, "sample_rate": 50, "record": ["state"], "progress": False, "reproducible": True}
    whole = bough.simulate(driven_arm(), until=0.4, **options).data.q.values
    bough.simulate(driven_arm(), until=0.2, save_to=tmp_path/"half.nc", **options)
    assert np.array_equal(bough.resume(tmp_path/"half.nc").finish(0.4, progress=False).data.q.values, whole)
