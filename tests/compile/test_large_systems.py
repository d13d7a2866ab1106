"""What is computed once, however many bodies: the work around a run of thousands of bodies is that of a few passes over them."""

import bough
from bough.compile import compiled_model


def chain(n, **options):
    s = bough.System("chain")
    for i in range(n):
        joint = None if i in options.get("welds", ()) else bough.Revolute("y")
        s.body(f"b{i}", parent=f"b{i - 1}" if i else None, joint=joint, at=(0, 0, 0.1), mass=1.0, inertia=(1, 1, 1))
    return s


def test_tables_are_built_once_where_nothing_is_welded(monkeypatch):
    built, build = [], compiled_model.build_tables
    monkeypatch.setattr(compiled_model, "build_tables", lambda *args, **options: built.append(options) or build(*args, **options))
    result = bough.simulate(chain(3), until=0.01, dt=1e-3, record=["state", "pose", "reactions"], progress=False)
    assert "chain" in result.summary
    assert len([each for each in built if not each["inputs"]]) == 1
    built.clear()
    welded = chain(3, welds=[1]).compile()
    welded.pose(welded.q0, "b2")
    assert [each["keep_welds"] for each in built] == [False, True]


def test_a_copy_says_the_same_and_changes_on_its_own():
    system = chain(3)
    system.wheel("w", body="b0", axis="x", inertia=1.0)
    system.simulation(until=1.0, dt=0.1)
    system.notes = ("a remark",)
    twin = system.copy()
    assert twin == system
    twin.body("more", parent="b2", mass=1.0)
    twin.wheels.clear()
    assert len(system.bodies) == 3
    assert list(system.wheels) == ["w"]
