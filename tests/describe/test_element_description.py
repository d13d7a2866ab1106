"""Lines, restorings and buoyancies: what they keep, what they refuse, and what they refer to."""

import numpy as np
import pytest

import bough
from bough.describe import Frame, System
from bough.elements import Buoyancy, Bushing, Line, Restoring
from bough.errors import DescriptionError

YAML = """
bodies:
- {name: spar, joint: free, mass: 1, inertia: [1, 1, 1]}
lines:
- {name: mooring, a: {body: world, at: [850, 0, -320]}, b: {body: spar, at: [5, 0, -70]}, stiffness: 4e4, length: 830, slack: true}
restorings:
- {name: yaw, body: spar, stiffness: [0, 0, 0, 0, 0, 9.8e+7]}
buoyancies:
- {name: hull, body: spar, sections: [[-120, -12, 9.4, 9.4], [-12, -4, 9.4, 6.5], [-4, 10, 6.5, 6.5]]}
"""


def test_yaml():
    system = System.from_yaml(YAML)
    ends = Frame("world", (850, 0, -320)), Frame("spar", (5, 0, -70))
    assert system.lines["mooring"] == Line("mooring", *ends, 4e4, 830, slack=True)
    assert system.restorings["yaw"].stiffness[5][5] == 9.8e7
    assert system.buoyancies["hull"].density == 1025.0
    assert list(system.elements) == ["mooring", "yaw", "hull"]
    assert System.from_yaml(system.to_yaml()) == system
    assert "stiffness: [0.0, 0.0, 0.0, 0.0, 0.0, 98000000.0]" in system.to_yaml()


def test_full_matrix_keeps_its_rows():
    K = np.arange(36.0).reshape(6, 6)
    restoring = Restoring("r", "b", K)
    assert np.array_equal(restoring.stiffness, K)
    assert restoring.to_dict()["stiffness"] == K.tolist()
    assert not restoring.conservative
    assert Restoring("r", "b", (1, 2, 3, 0, 0, 0)).conservative


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Line("l", "a", "b", -1, 1), "line 'l': stiffness is -1.0 N/m; give a number >= 0"),
        (lambda: Line("l", "a", "b", 1, -1), "length is -1.0 m"),
        (lambda: Line("l", "a", "b", 1, 1, slack=1), "slack is 1; give true or false"),
        (lambda: Line("l", "a", "b", 0, 1), "stiffness and damping are 0, so that it never pulls; give one"),
        (lambda: Line("l", 3, "b", 1, 1), "a is 3; give a Frame, or a body's name"),
        (lambda: Line("l", Frame("a", orient={"axis": "x", "degrees": 3}), "b", 1, 1), "a has an orient, but a line pulls at a"),
        (lambda: Restoring("r", "b", (1, 2, 3)), "restoring 'r': stiffness is (1, 2, 3); give a 6x6 matrix, or its diagonal"),
        (lambda: Restoring("r", "b", np.eye(6)[:, :5]), "has 5 entries"),
        (lambda: Restoring("r", "b", None), "stiffness is None; give a 6x6 matrix"),
        (lambda: Buoyancy("h", "b", []), "buoyancy 'h': sections is []; give a list of sections"),
        (lambda: Buoyancy("h", "b", [(0, 1, 1)]), "sections [0] is (0, 1, 1), which has 3 entries"),
        (lambda: Buoyancy("h", "b", [(1, 0, 1, 1)]), "sections [0] goes from z 1.0 to 0.0 m; give its lower end first"),
        (lambda: Buoyancy("h", "b", [(0, 1, -1, 1)]), "has the diameters -1.0 and 1.0 m"),
        (lambda: Buoyancy("h", "b", [(0, 2, 1, 1), (1, 3, 1, 1)]), "sections [1] starts at z 1.0 m, inside the one before"),
        (lambda: Buoyancy("h", "b", [(0, 1, 1, 1)], density=0), "density is 0.0 kg/m^3; give a number > 0"),
    ],
)
def test_refusals(make, words):
    with pytest.raises(DescriptionError) as error:
        make()
    assert words in str(error.value)


LINE = {"stiffness": 1, "length": 1}


def system(add):
    s = System("s")
    s.body("spar", joint="free", mass=1.0, inertia=(1, 1, 1))
    s.body("boom", parent="spar", flexible=bough.beam(4.0, EI=800, mass_per_length=1.5, modes=2), joint="spherical")
    add(s)
    return s


@pytest.mark.parametrize(
    ("add", "words"),
    [
        (lambda s: s.line("l", a="world", b="spa", **LINE), "line 'l': b: body 'spa' is not a body of the system, did you mean"),
        (lambda s: s.line("l", a="world", b="world", **LINE), "line 'l': a line between the world and itself never changes"),
        (lambda s: s.line("l", a="spar", b=Frame("spar", (1, 0, 0)), **LINE), "between two points of body 'spar' never changes"),
        (lambda s: s.line("l", a="world", b=Frame("boom", node="tp"), **LINE), "line 'l': b: node 'tp' is not a node"),
        (lambda s: s.line("l", a="world", b=Frame("spar", node="tip"), **LINE), "node is 'tip', but body 'spar' is rigid"),
        (lambda s: s.restoring("r", body="span", stiffness=[1] * 6), "restoring 'r': body 'span' is not a body"),
        (lambda s: s.restoring("r", body="boom", node="tp", stiffness=[1] * 6), "restoring 'r': node 'tp' is not a node"),
        (lambda s: s.buoyancy("h", body="span", sections=[(0, 1, 1, 1)]), "buoyancy 'h': body 'span' is not a body"),
    ],
)
def test_references(add, words):
    with pytest.raises(bough.ModelError) as error:
        system(add).compile()
    assert words in str(error.value)


def test_elements_are_told_apart_by_name():
    s = system(lambda s: s.restoring("x", body="spar", stiffness=[1] * 6))
    with pytest.raises(DescriptionError, match="buoyancy 'x': there is a restoring of this name already; give each force element"):
        s.buoyancy("x", body="spar", sections=[(0, 1, 1, 1)])
    with pytest.raises(DescriptionError, match="restoring 'x': there is a restoring of this name already; give each restoring its"):
        s.restoring("x", body="spar", stiffness=[1] * 6)


def test_places_of_linearized_bodies_do_not_move():
    s = System("s")
    s.body("boom", joint="spherical", flexible=bough.beam(4.0, EI=800, mass_per_length=1.5, modes=2, variant="zeroth_order"))
    s.line("stay", a="world", b=Frame("boom", node="tip"), stiffness=1, length=1)
    with pytest.raises(bough.ModelError, match="line 'stay' goes through flexible body 'boom', which is linearized"):
        s.compile()


def test_bushing_matrices_and_rest():
    """A full matrix, its diagonal, and a pair say the same; YAML keeps the shortest."""
    diagonal = Bushing("m", "a", "b", (1, 2, 3, 4, 4, 4), rest=(0.1, 0, 0))
    assert diagonal == Bushing("m", "a", "b", np.diag([1, 2, 3, 4, 4, 4]), rest={"at": [0.1, 0, 0]})
    assert diagonal == Bushing("m", "a", "b", ([1, 2, 3], 4), rest=((0.1, 0, 0), None))
    assert diagonal == Bushing("m", "a", "b", (np.diag([1, 2, 3]), [4, 4, 4]), damping=(0, 0), rest=((0.1, 0, 0), [0, 0, 0, 1]))
    assert diagonal.to_dict() == {"name": "m", "a": "a", "b": "b", "stiffness": [1, 2, 3, 4, 4, 4], "rest": {"at": [0.1, 0, 0]}}


def test_bushing_in_yaml():
    full = np.diag([5.0] * 6) + np.ones((6, 6))
    s = System("mounted")
    s.body("engine", joint="free", mass=1, inertia=(1, 1, 1))
    s.body("pump", joint="free", mass=1, inertia=(1, 1, 1))
    turned = {"axis": "x", "degrees": 30}
    ends = {"a": Frame("world", (1, 0, 0)), "b": Frame("engine", orient=turned)}
    s.bushing("mount", **ends, stiffness=full, damping=(1, 2), rest=((0, 0, 1), turned))
    s.bushing("soft", a="engine", b="pump", stiffness=(1, 1))
    again = System.from_yaml(s.to_yaml())
    assert again == s
    assert np.array_equal(again.bushings["mount"].stiffness, full)
    assert "stiffness: [1.0, 1.0, 1.0, 1.0, 1.0, 1.0]" in s.to_yaml()
    assert list(s.elements) == ["mount", "soft"]
    assert "2 bushings" in repr(s)
    with pytest.raises(DescriptionError, match="there is a bushing of this name already; give each force element its own name"):
        s.line("soft", a="engine", b="pump", stiffness=1, length=1)


SKEWED, INDEFINITE = np.diag([1.0] * 6), np.diag([1.0] * 6)
SKEWED[0, 3] = 0.5
INDEFINITE[0, 3] = INDEFINITE[3, 0] = 1.5


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Bushing("m", "a", "b", SKEWED), "bushing 'm': stiffness is not symmetric: [0][3] is 0.5 and [3][0] is 0.0"),
        (lambda: Bushing("m", "a", "b", INDEFINITE), "stiffness has a negative eigenvalue, so that it feeds energy"),
        (lambda: Bushing("m", "a", "b", (1, 1), damping=INDEFINITE), "damping has a negative eigenvalue"),
        (lambda: Bushing("m", "a", "b", (1, 1, 1, 1, 1, -1)), "has the diagonal [1.0, 1.0, 1.0, 1.0, 1.0, -1.0], so that"),
        (lambda: Bushing("m", "a", "b", (-1, 1)), "so that it feeds energy; give numbers >= 0 there"),
        (lambda: Bushing("m", "a", "b", (1, 2, 3)), "stiffness is (1, 2, 3); give a 6x6 matrix, its diagonal, or a pair"),
        (lambda: Bushing("m", "a", "b", ([1, 2], 3)), "stiffness has an entry [1, 2]; give a 6x6 matrix"),
        (lambda: Bushing("m", "a", "b", np.eye(6)[:, :5]), "has 5 entries"),
        (lambda: Bushing("m", "a", "b", "soft"), "stiffness is 'soft'; give a 6x6 matrix"),
        (lambda: Bushing("m", "a", "b", (0, 0)), "stiffness and damping are 0, so that it bears nothing; give one"),
        (lambda: Bushing("m", "a", "b", (1, 1), rest=3), "rest is 3; give a place of 3 numbers [m], a pair (place, orientation)"),
        (lambda: Bushing("m", "a", "b", (1, 1), rest={"place": 3}), "unknown key 'place'"),
        (lambda: Bushing("m", 3, "b", (1, 1)), "a is 3; give a Frame, or a body's name"),
    ],
)
def test_bad_bushings(make, words):
    with pytest.raises(DescriptionError) as caught:
        make()
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("a", "b", "words"),
    [
        ("arm", Frame("arm", at=(1, 0, 0)), "bushing 'm': a bushing between two frames of body 'arm' never moves: give a or b"),
        ("world", "world", "a bushing between the world and itself never moves"),
        ("arm", "rm", "bushing 'm': b: body 'rm' is not a body of the system, did you mean 'arm'?"),
        ("arm", Frame("world", at=(1, 0, 0)), None),
        (Frame("arm", node="tip"), "world", "node is 'tip', but body 'arm' is rigid and has no nodes"),
    ],
)
def test_where_a_bushing_can_be(a, b, words):
    s = System("one")
    s.body("arm", joint="revolute", mass=1, inertia=(1, 1, 1))
    s.bushing("m", a=a, b=b, stiffness=(1, 1))
    if words is None:
        s.compile()
        return
    with pytest.raises(bough.ModelError) as caught:
        s.compile()
    assert words in str(caught.value)
