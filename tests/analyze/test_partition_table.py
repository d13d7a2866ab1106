"""The partition made visible, joints kept whole, splits of the user's own."""
from dataclasses import replace

import numpy as np
import pytest

import bough
from bough.analyze.operators import Split
from tests.support.compare import assert_same, solved
from tests.support.operator_states import beam_tree
from tests.support.tolerance import CANCELLING, SWEEP


@pytest.fixture(scope="module")
def satellite():
    model = beam_tree().compile()
    return model, model.q0 + 0.05*np.random.default_rng(1).normal(size=model.nq)


def test_the_table_tells_hinges_and_massless_bodies(satellite):
    model, _ = satellite
    rows = model.partition()
    assert [row.name for row in rows] == ["hub.free", "panel.rx", "panel.ry", "panel.modes", "panel.tip", "dish.rx", "dish.ry",
                                          "dish.rz", "mast.rz", "mast.rx", "mast.modes"]
    assert [row.inner for row in rows] == [0, 1, 2, 3, 4, 5, 6, 7, 1, 9, 10]
    assert [row.massless for row in rows] == [False, True, True, False, True, True, True, False, True, True, False]
    assert rows[3].speeds == tuple(f"panel.mode{i}" for i in range(1, 6))
    assert sum((row.speeds for row in rows), ()) != model.names.v                      # depth first, v as described
    assert sorted(name for row in rows for name in row.speeds) == sorted(model.names.v)
    text = str(rows)
    assert text.startswith("11 links")
    assert "massless" in text
    assert len(text.splitlines()) == 13


def test_the_table_tells_what_is_held():
    s = bough.System("held")
    s.body("arm", joint=bough.Universal("xy", motion=("locked", None)), mass=1.0, inertia=(1, 1, 1))
    rows = s.compile().partition()
    assert [row.held for row in rows] == [True, False]
    assert "arm.rx (held)" in str(rows)


def test_whole_joints_have_one_link_a_body(satellite):
    model, q = satellite
    whole = model.operators(q, whole=True)
    assert whole.link_space.names == ("hub.free", "panel with its modes", "panel.tip", "dish", "mast with its modes")
    assert [len(link.speeds) for link in whole.links.links] == [6, 7, 0, 3, 5]
    assert_same(whole.inverse.dense(), model.operators(q).inverse.dense(), solved(model, q))


def test_what_hangs_between_joint_and_modes_keeps_them_apart():
    system = beam_tree()
    system.body("sensor", parent="mast", mass=0.1, inertia=(0.01, 0.01, 0.01))           # welded to the inboard frame
    model = system.compile()
    whole = model.operators(model.q0, whole=True)
    assert [link.name for link in whole.links.links if link.body == "mast"] == ["mast", "mast.modes"]
    assert_same(whole.mass_matrix.dense(), model.mass_matrix(model.q0), SWEEP)
    with pytest.raises(bough.ModelError, match=r"body 'mast' is 2 links already, 'mast', 'mast.modes'"):
        model.operators(model.q0).split("mast", two_modes_outside(model.operators(model.q0), "mast"))


def two_modes_outside(ops, body):
    """A flexible body's link apart: its first two modes stay with the mass, all its other speeds go to a massless link before."""
    link = next(link for link in ops.whole().links.links if link.body == body and len(link.speeds))
    N, stay = link.size, 2
    Phi, H = np.eye(N)[stay:], link.H
    inner = [ops.model.names.v[i] for i in link.speeds[stay:]]
    return Split(inner, link.Phi[:, stay:], Phi, H[stay:, stay:], H[:stay])


@pytest.mark.parametrize("body", ["panel", "mast"])
def test_a_split_that_is_equivalent_is_used(satellite, body):
    model, q = satellite
    ops = model.operators(q, np.ones(model.nv))
    apart = ops.split(body, two_modes_outside(ops, body))
    assert f"{body}'" in apart.link_space.names
    assert_same(apart.mass_matrix.dense(), model.mass_matrix(q), CANCELLING)
    assert_same(apart.inverse.dense(), ops.inverse.dense(), solved(model, q))
    assert_same(apart.accelerations(), ops.accelerations(), solved(model, q))


@pytest.mark.parametrize(("spoiled", "condition"), [
    ({"Phi_inner": 1.1}, r"Phi\(p,k\) = Phi\(p,k'\) Phi\(k',k\): entry"),
    ({"H_inner": 1.1}, r"H\(k\) = .*: the row of 'panel.mode3'"),
    ({"H_outer": 1.1}, r"H\(k\) = .*: the row of 'panel.mode1'"), ({"M_inner": None}, r"M\(k'\) = 0: entry \(0, 0\) differs by 1"),
    ({"b_inner": None}, r"b\(k'\) = 0"), ({"M_outer": 1.1}, r"M\(k''\) = M\(k\)"), ({"a_outer": 1.1}, r"a\(k\) = a\(k''\)")])
def test_a_split_that_is_not_is_refused_by_the_condition_that_fails(satellite, spoiled, condition):
    model, q = satellite
    ops = model.operators(q, np.ones(model.nv))
    split = two_modes_outside(ops, "panel")
    link = next(link for link in ops.whole().links.links if link.body == "panel" and len(link.speeds))
    (field, factor), = spoiled.items()
    own = {"M_outer": link.M, "a_outer": link.a, "M_inner": np.eye(link.size - 2), "b_inner": np.ones(link.size - 2)}
    value = own[field] if field in own else getattr(split, field)
    with pytest.raises(bough.ModelError, match=f"body 'panel': the split fails {condition}"):
        ops.split("panel", replace(split, **{field: value if factor is None else factor*value}))


def test_splits_of_wrong_names_and_shapes_are_refused(satellite):
    model, q = satellite
    ops = model.operators(q)
    split = two_modes_outside(ops, "panel")
    with pytest.raises(bough.ModelError, match=r"there is no body 'pannel' with speeds to split \(did you mean 'panel'"):
        ops.split("pannel", split)
    with pytest.raises(bough.ModelError, match=r"body 'panel': 'panel.mode9' is no speed of it \(did you mean 'panel.mode"):
        ops.split("panel", replace(split, inner=["panel.mode9"]))
    with pytest.raises(bough.ModelError, match=r"body 'panel': H_inner has shape \(5, 8\); give \(5, 9\)"):
        ops.split("panel", replace(split, H_inner=split.H_inner[:, 1:]))
    with pytest.raises(bough.ModelError, match=r"body 'panel': Phi has shape"):
        ops.split("panel", replace(split, Phi=1.0))
