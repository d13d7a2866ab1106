"""Bodies, tables, wheels, wrenches, gravity and settings: what they keep and what they refuse."""

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given

from bough.describe import Body, CentralGravity, Simulation, System, TimeTable, Wheel, Wrench
from bough.errors import BoughError, DescriptionError, SimulationError, nearest
from tests.support.described_systems import inertias

ROD = [0.0, 1.0, 1.0]


@given(inertias())
def test_inertias_of_point_masses_are_fine(tensor):
    assert np.array_equal(Body("b", mass=1.0, inertia=tensor).inertia, tensor)


def test_defaults():
    body = Body("b", parent="world")
    assert (body.parent, body.joint.kind, body.mass, body.orient) == (None, "weld", 0.0, (0, 0, 0, 1))
    assert Body("b", mass=1, inertia=ROD).inertia == ((0, 0, 0), (0, 1, 0), (0, 0, 1))
    assert Body("b", inertia=(0, 0, 5), idealized=True).inertia[2][2] == 5


def test_descriptions_are_values():
    body = Body("b", mass=np.float64(2), at=np.array([1, 2, 3]), joint="free")
    assert body == Body("b", mass=2, at=(1, 2, 3), joint={"type": "free"})
    assert pickle.loads(pickle.dumps(body)) == copy.deepcopy(body) == body
    assert len({body, copy.copy(body)}) == 1
    with pytest.raises(DescriptionError, match="body 'b': mass cannot become 3"):
        body.mass = 3
    with pytest.raises(DescriptionError, match="do not change"):
        del body.mass


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"mass": -3.0}, "mass is -3.0 kg; give a number >= 0"),
        ({"mass": True}, "mass is True; give a number"),
        ({"mass": "3"}, "not a text"),
        ({"mass": 1j}, "give a number"),
        ({"com": (0, np.nan, 0)}, "an entry is nan; give 3 finite numbers"),
        ({"com": (0, 1e308, 0)}, "an entry is 1e+308, too large to compute with"),
        ({"mass": 1e308}, "mass is 1e+308, too large to compute with; give a number of at most 1e+100"),
        ({"at": (1, 2)}, "has 2 entries; give 3"),
        ({"mass": 1, "inertia": [[1, 0.1, 0], [0, 1, 0], [0, 0, 1]]}, "with 0.1 kg m^2 at [0][1] but 0.0 at"),
        ({"mass": 1, "inertia": [1, -1, 1]}, "no moment may be negative"),
        ({"mass": 1, "inertia": [1, -1, 1], "idealized": True}, "no moment may be negative"),
        ({"mass": 1, "inertia": [1, 1, 3]}, "principal moments 1, 1, 3 kg m^2"),
        ({"inertia": [1, 1, 1]}, "mass is 0.0 kg; give a mass, or idealized=True"),
        ({"mass": 1, "inertia": [1, 1, 1, 0, 0, 0]}, "3x3 matrix"),
        ({"mass": 1, "inertia": 2.0}, "3x3 matrix"),
        ({"idealized": 1}, "true or false"),
        ({"parent": "boom"}, "the body itself"),
        ({"joint": 3}, "joint is 3; give a joint"),
        ({"joint": {"type": "revolute", "axis": "q"}}, "revolute joint: axis is 'q'"),
    ],
)
def test_bad_bodies(fields, words):
    with pytest.raises(DescriptionError, match=r"^body 'boom': ") as caught:
        Body("boom", **fields)
    assert words in str(caught.value)


@pytest.mark.parametrize("name", ["", "world", " a", "a\n", 3, None])
def test_bad_names(name):
    with pytest.raises(DescriptionError, match=r"name is .*; give"):
        Body(name)


def test_all_problems_are_told_at_once():
    with pytest.raises(DescriptionError) as caught:
        Body("b", mass=-1, at=(1,), com="here")
    assert [problem.path for problem in caught.value.problems] == [("at",), ("mass",), ("com",)]
    assert len(str(caught.value).splitlines()) == 3


def test_table():
    table = TimeTable(np.arange(4), np.ones((4, 3)), "cubic")
    assert (table.columns, table.times, table.values[0]) == (3, (0, 1, 2, 3), (1, 1, 1))
    assert TimeTable([0], [[5]]) == TimeTable([0], [5])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (([0, 0], [1, 2]), "increase strictly"),
        (([1, 0], [1, 2], "hold"), "0.0 s after 1.0 s (row 1)"),
        (([], []), "at least one"),
        (([0, 1], [1]), "2 times but 1 values"),
        (([0, 1], [1, [2]]), "mixes"),
        (([0, 1], [[1, 2], [2]]), "rows of [1, 2] entries"),
        (([0, 1], [1, 2], "cubic"), "at least 4"),
        (([0, 1], [1, 2], "liner"), "did you mean 'linear'"),
        (([0, np.nan], [1, 2]), "nan"),
        ((0, 1), "list of finite numbers"),
    ],
)
def test_bad_tables(arguments, words):
    with pytest.raises(DescriptionError, match=r"^table: ") as caught:
        TimeTable(*arguments)
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Wheel("w", "b", "x", 0), "wheel 'w': inertia is 0.0 kg m^2; give a number > 0"),
        (lambda: Wrench("w", "b", frame="inertial"), "wrench 'w': frame is 'inertial'; give one of body, world"),
        (lambda: Wrench("w", "b", force=TimeTable([0], [1])), "force is a table of 1 column; give one of 3"),
        (lambda: CentralGravity(-1, (1, 0, 0), (0, 0, 0)), "mu is -1.0 m^3/s^2"),
        (lambda: CentralGravity(1, (0, 0, 0), (0, 0, 0)), "attracting center itself"),
        (lambda: System("s", gravity=9.81), "system 's': gravity is 9.81; give 3 finite numbers"),
        (lambda: System("s", gravity={"mu": 1}), "position is missing"),
        (lambda: Simulation(0, 1), "until is 0.0 s"),
        (lambda: Simulation(10), "rk4 takes fixed steps"),
        (lambda: Simulation(10, method="dopri"), "did you mean 'dopri5'"),
        (lambda: Simulation(10, 1, record=["energie"]), "did you mean 'energy'"),
        (lambda: Simulation(10, 1, record=3), "give a list out of"),
    ],
)
def test_other_bad_parts(make, words):
    with pytest.raises(DescriptionError) as caught:
        make()
    assert words in str(caught.value)


def test_good_parts():
    assert not Wheel("w", "b", "x", 1).driven
    assert Wheel("w", "b", "x", 1, torque={"times": [0], "values": [1]}).torque == TimeTable([0], [1])
    assert Simulation(1, method="lsoda", record="state").record == ("state",)


def test_errors():
    assert issubclass(DescriptionError, BoughError)
    assert issubclass(DescriptionError, ValueError)
    assert SimulationError("stopped").result is None
    assert pickle.loads(pickle.dumps(SimulationError("stopped", result=3))).result == 3
    assert nearest("spherica", ["spherical", "free"]) == ", did you mean 'spherical'?"
