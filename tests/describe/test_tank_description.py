"""Tanks as they are described: shapes and tables against integrals, YAML, and what is refused by name."""
import re

import numpy as np
import pytest

import bough
from tests.support.tolerance import FORMULA
from tests.sweeps.test_tanks import feed_system, rocket


@pytest.mark.parametrize("shape", [{"box": [0.6, 0.8, 1.0]}, {"cylinder": {"radius": 0.4, "length": 1.0}}, {"sphere": 0.5}])
@pytest.mark.parametrize("share", [0.1, 0.5, 0.83, 1.0])
def test_settled_propellant_is_that_of_its_shape(shape, share):
    """Slices up to the level, by sums: mass center and inertia, to 1e-6."""
    tank = bough.Tank("t", "b", mass=10.0, shape=shape, isp=100)
    z = (np.arange(20000) + 0.5)/20000 - 0.5
    if "box" in shape:
        area, x2, y2 = np.full_like(z, 0.48), 0.6**2/12, 0.8**2/12
    else:
        a = np.full_like(z, 0.16) if "cylinder" in shape else 0.25 - z**2
        area, x2, y2 = np.pi*a, a/4, a/4
    dm = area/area.sum()*10.0
    inside = np.clip((share*10.0 - np.concatenate([[0], np.cumsum(dm)[:-1]]))/dm, 0.0, 1.0)*dm
    xx, yy, zz = (inside*x2).sum(), (inside*y2).sum(), (inside*z**2).sum()
    m, hx, hy, hz, *J = tank.properties(np.array([share*10.0]))[0]
    np.testing.assert_allclose([m, hx, hy, hz], [share*10.0, 0, 0, (inside*z).sum()], atol=1e-6)
    np.testing.assert_allclose(J, [yy + zz, 0, 0, xx + zz, 0, xx + yy], atol=1e-6)


def test_fixed_and_sloshing_propellant_are_all_of_it_and_yaml_says_the_same():
    system = feed_system()
    tank = system.tanks["fuel"]
    own, plain = tank.properties(np.array([22.0]))[0], tank.model_copy(update={"slosh": None}).properties(np.array([22.0]))[0]
    np.testing.assert_allclose(own[:10] + own[10:20], plain, rtol=0, atol=FORMULA * np.abs(plain).max())
    again = bough.System.from_yaml(system.to_yaml())
    assert again == system
    assert list(again.bodies) == list(system.bodies)
    late = rocket()
    late.body("panel", parent="stage", mass=1.0)
    assert list(late.bodies) == ["stage", "panel", "lox"] == list(bough.System.from_yaml(late.to_yaml()).bodies)


def test_what_is_welded_to_propellant_keeps_its_mass():
    """Bodies on the tank and on what sloshes, welded: 3 and 2 kg more."""
    plain = rocket(slosh={"model": "pendulum", "mass": [0, 10], "level": [0, 50], "length": 0.3})
    more = bough.System.from_yaml(plain.to_yaml())
    more.body("valve", parent="lox", at=(0, 0, 1), mass=3.0, inertia=(1, 1, 1))
    more.body("float", parent="lox_slosh", mass=2.0)
    masses = [s.compile().mass_matrix(s.compile().q0)[0, 0] for s in (plain, more)]
    np.testing.assert_allclose(masses, [150.0, 155.0])


@pytest.mark.parametrize(("options", "text"), [
    ({"mass": 1.0, "residual": 1.0}, "mass is 1.0 kg and residual 1.0 kg: the tank is empty already; give it propellant"),
    ({"flow": -1.0}, "flow is -1.0 kg/s at the least; give numbers >= 0"),
    ({"flow": bough.TimeTable([0, 1], [1, -2])}, "flow is -2.0 kg/s at the least"),
    ({"isp": 3.0}, "exhaust_speed and isp are given; give one of them"),
    ({"capacity": 20.0}, "mass is 50.0 kg, more than the capacity, 20.0 kg"),
    ({"levels": {"mass": [10, 50], "com": [[0, 0, 0]]*2, "inertia": [[0, 0, 0]]*2}},
     "levels is known from 10.0 to 50.0 kg, but the tank holds from 0.0 to 50.0 kg; give the levels between"),
    ({"levels": {"mass": [0, 50], "com": [[0, 0, 0]]*2, "inertia": [[0, 0, 0], [1, 1, 10]]}},
     "inertia at 50 kg is (1.0, 1.0, 10.0) kg m^2: one moment exceeds the sum of the others"),
    ({"levels": {"mass": [0, 50], "com": [[0, 0, 0]]*2, "inertia": [[1, 1, 1]]*2}}, "where the mass is 0 kg; give (0, 0, 0)"),
    ({"slosh": {"model": "pendulum", "mass": 5, "length": 1}}, "slosh has 5 kg where 0 kg are in the tank; let no more slosh"),
    ({"slosh": {"model": "pendulum", "mass": 5}}, "length is 0.0; give that of the pendulum"),
    ({"shape": {"sphere": 1}, "levels": {"mass": [0, 50], "com": [[0, 0, 0]]*2, "inertia": [[0, 0, 0]]*2}}, "give one of them"),
    ({"shape": {"sphere": 0.1}, "residual": 30, "slosh": {"model": "spring", "mass": 20, "frequency": 1, "at": (5, 0, 0)}},
     "slosh has more inertia than all the propellant"),
])
def test_what_is_wrong_is_named_with_its_remedy(options, text):
    with pytest.raises(bough.DescriptionError, match=re.escape(text)):
        rocket(**options)


def test_a_body_that_nothing_but_propellant_makes_heavy():
    """When its tank is empty nothing would hold the mass matrix together: said before it runs, not where it diverges."""
    s = bough.System("shell")
    s.body("shell", joint=bough.Free())
    s.tank("lox", body="shell", mass=10.0, flow=1.0, isp=300, shape={"sphere": 0.5})
    with pytest.raises(bough.ModelError, match=r"with 0 kg of 'lox' in tanks: joint 'shell': .* 0 kg m\^2; .* or the tanks a"):
        s.compile()
    s.tanks["lox"] = s.tanks["lox"].model_copy(update={"residual": 0.1})
    assert bough.simulate(s.compile(), until=12.0, dt=0.1).events[0].time == pytest.approx(9.9)


def test_places_and_names():
    sliding, unknown = rocket(nozzle=bough.Frame("arm")), rocket()
    sliding.body("arm", parent="stage", joint=bough.Prismatic("x"), mass=1.0)
    with pytest.raises(bough.ModelError, match="nozzle is on 'arm', which is neither 'stage' nor a body that only turns on it"):
        sliding.compile()
    with pytest.raises(bough.DescriptionError, match="body 'stage': there is a body of this name already"):
        unknown.tank("stage", body="lox", mass=1.0, isp=3)
    unknown.input("valve", flow="lax")
    with pytest.raises(bough.ModelError, match="flow 'lax' is not a tank of the system, did you mean 'lox'"):
        unknown.compile()
