"""The builder: what it collects, refuses, copies and prints."""

import pytest

from bough.describe import Free, Revolute, System
from bough.describe.checks import reference_problems
from bough.errors import DescriptionError


@pytest.fixture
def arm():
    system = System("arm", gravity=(0, 0, -9.81))
    system.body("boom", parent="bus", joint=Revolute("y", name="shoulder"), mass=8)  # before its parent
    system.body("bus", joint=Free(), mass=120)
    system.wheel("rw1", body="bus", axis="x", inertia=0.02)
    system.wrench("push", body="boom", force=(1, 0, 0))
    system.simulation(10, 1e-3)
    return system


def test_collects(arm):
    assert list(arm.bodies) == ["boom", "bus"]
    assert arm.wheels["rw1"].body == "bus"
    assert arm.wrenches["push"].force == (1, 0, 0)
    assert arm.settings.until == 10
    assert reference_problems(arm) == []


def test_copy_is_equal_and_separate(arm):
    twin = arm.copy()
    assert twin == arm
    twin.body("hand", parent="boom")
    assert twin != arm
    assert "hand" not in arm.bodies


def test_order_counts_for_equality():
    first, second = System(), System()
    first.body("a"), first.body("b")
    second.body("b"), second.body("a")
    assert first != second


@pytest.mark.parametrize(
    ("add", "words"),
    [
        (lambda s: s.body("bus"), "body 'bus': there is a body of this name already"),
        (lambda s: s.wheel("rw1", body="bus", axis="y", inertia=1), "wheel 'rw1': there is a wheel of this name"),
        (lambda s: s.wrench("push", body="bus"), "wrench 'push': there is a wrench of this name"),
        (lambda s: s.body("c", joint=Revolute(name="shoulder")), "name 'shoulder', as that of body 'boom'"),
        (lambda s: setattr(s, "name", 3), "system: name is 3"),
    ],
)
def test_refused_and_unchanged(arm, add, words):
    before = arm.copy()
    with pytest.raises(DescriptionError) as caught:
        add(arm)
    assert words in str(caught.value)
    assert arm == before


def test_outline(arm):
    arm.body("lost", parent="nowhere")
    assert repr(arm).splitlines()[1:] == [
        "world",
        "└─ bus   free: x y z wx wy wz, 120 kg, wheel rw1",
        "   └─ boom   revolute: ry, 8 kg",
        "? lost   weld, massless, on 'nowhere'",
    ]


def test_outline_of_a_long_chain_is_short():
    chain = System()
    for i in range(2000):
        chain.body(f"link{i}", parent=f"link{i - 1}" if i else None)
    assert repr(chain).splitlines()[-1] == "... and 1960 more"
    assert reference_problems(chain) == []


def test_rings_and_strangers():
    system = System()
    system.body("a", parent="b"), system.body("b", parent="a"), system.body("c", parent="a")
    system.wheel("w", body="d", axis="x", inertia=1)
    texts = [str(problem) for problem in reference_problems(system)]
    assert texts[0].startswith("wheel 'w': body 'd' is not a body of the system; the bodies are a, b, c")
    assert texts[1:] == ["body 'a': its parents lead back to itself (a -> b -> a); mount one of them on the world"]
