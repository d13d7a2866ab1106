"""The cost model: sizes, weights, the cache of weights, and what "auto" makes of them."""
import json

import numpy as np
import pytest

import bough
from bough.analyze import costs
from bough.analyze import model_summary as summary
from bough.analyze.cost_features import form, sizes
from bough.analyze.costs import CostModel, Costs, complete, cost_model, keep, reference_model, weights_key
from bough.bench.calibrate import fitted
from bough.bench.mechanisms import Mechanism, flexible_arm, four_bar_chain, tree36
from bough.bench.reference import FORMS, arms, rings
from bough.kernels.lanes import FOUR, ONE


def limb(*kinds):
    m = Mechanism("limb")
    m.limb(None, kinds)
    return m.system.compile()


# ---- sizes ---------------------------------------------------------------------------------------------------------------
def test_sizes_of_two_hinges():
    """The second column passes both hinges; a universal joint is two hinges, of which one has a body."""
    found = sizes(limb("universal").tables, "dense")
    assert (found["revolute hinges"], found["bodies"], found["branches"]) == (2, 1, 0)
    assert (found["carried columns"], found["entries"]) == (3, 3)
    assert (found["rows of the mass matrix"], found["squares of it"], found["cubes of it"]) == (2, 2.0, 8/6)


def test_sizes_of_a_free_base_with_a_ball():
    found = sizes(limb("free", "spherical").tables, "dense")
    assert (found["free hinges"], found["spherical hinges"]) == (1, 1)
    assert (found["carried columns"], found["entries"]) == (6 + 2*3, 6*6 + 3*9)


def test_sizes_of_modes_and_loops():
    bent, looped = flexible_arm(2, 3, "zeroth_order").compile().tables, rings(1, 2, bough.Spherical()).compile().tables
    assert sizes(bent, "order-n")["eliminated modes"] == 2*(11*1 + 10*2)
    assert sizes(bent, "dense")["entries of modes"] == 3*4                  # joint and modes of link 2, along the modes of link 1
    assert sizes(looped, "order-n")["closed rows"] == 3
    assert sizes(looped, "dense")["paths of loops"] == 3*4


@pytest.mark.parametrize(("make", "name"), [
    (tree36, "rigid trees"), (lambda: flexible_arm(1, 2), "flexible trees"), (lambda: four_bar_chain(1), "rigid loops"),
    (lambda: arms(2, 1, 2, "full", closed=True), "flexible loops")])
def test_reference_weights_serve_every_form(make, name):
    model = make().compile()
    assert form(model.tables) == name
    for lanes in (ONE, FOUR):
        found = reference_model().costs(model.tables, lanes)
        assert found.order_n > 0.0
        assert found.dense > 0.0


def test_reference_systems_are_of_their_form():
    """All weights can be told from them: each size that a form has is there in some system."""
    for name, makers in FORMS.items():
        tables = [make().compile().tables for make in makers()]
        assert {form(of) for of in tables} == {name}
        for method in costs.METHODS:
            rows = [sizes(of, method) for of in tables]
            assert len(rows) > len(rows[0])
            assert [size for size in rows[0] if not any(row[size] for row in rows)] == []
            assert rows[0].keys() == reference_model().weights[weights_key(name, method, ONE)].keys()


# ---- weights -------------------------------------------------------------------------------------------------------------
def test_weights_are_found_back():
    rng = np.random.default_rng(0)
    rows = [dict(zip("abc", values, strict=True)) for values in rng.uniform(0.0, 5.0, (8, 3))]
    found, error = fitted(rows, [2.0*row["a"] + 0.25*row["c"] for row in rows], [1.0]*8)
    assert found == pytest.approx({"a": 2.0, "b": 0.0, "c": 0.25}, abs=1e-9)
    assert error < 1e-12


def test_no_weight_is_negative():
    assert fitted([{"a": 1.0, "b": 1.0}, {"a": 1.0, "b": 2.0}], [2.0, 1.0], [1.0, 1.0])[0]["b"] == 0.0


def test_what_counts_little_is_fitted_badly():
    rows, times = [{"a": 1.0}, {"a": 1.0}], [1.0, 2.0]
    assert fitted(rows, times, [1.0, 1e-3])[0]["a"] == pytest.approx(1.0, rel=1e-5)
    assert fitted(rows, times, [1e-3, 1.0])[0]["a"] == pytest.approx(2.0, rel=1e-5)


# ---- the cache -----------------------------------------------------------------------------------------------------------
@pytest.fixture
def store(tmp_path, monkeypatch):
    """An empty cache."""
    monkeypatch.setattr(costs, "cache_directory", lambda: tmp_path / "cache")
    cost_model.cache_clear()
    yield costs.store_path()
    cost_model.cache_clear()


def scaled(**factors):
    """Reference weights, those of a method times a factor."""
    return {key: {name: weight*factors.get(key.split(", ")[1].replace("-", "_"), 1.0) for name, weight in of.items()}
            for key, of in reference_model().weights.items()}


def test_kept_weights_come_back(store):
    assert not cost_model().calibrated
    keep(scaled(dense=2.0))
    assert cost_model() == CostModel(scaled(dense=2.0), True)
    keep(scaled(dense=3.0))
    assert cost_model() == CostModel(scaled(dense=3.0), True)


def test_machines_share_a_cache(store, monkeypatch):
    for name, factor in (("one", 2.0), ("other", 3.0)):
        monkeypatch.setattr(costs, "machine", lambda name=name: name)
        cost_model.cache_clear()
        assert not cost_model().calibrated
        keep(scaled(dense=factor))
    assert json.loads(store.read_text()) == {"one": scaled(dense=2.0), "other": scaled(dense=3.0)}


@pytest.mark.parametrize("text", ["", "{", "[]", "null", '{"a": 1}', "\0"])
def test_a_broken_cache_counts_as_empty(store, text):
    store.parent.mkdir(parents=True)
    store.write_text(text)
    assert not cost_model().calibrated
    keep(scaled())
    assert cost_model().calibrated


def test_weights_of_another_version_do_not_count(store):
    reference = reference_model().weights
    key = next(iter(reference))
    less, more, negative = (json.loads(json.dumps(reference)) for _ in range(3))
    del less[key]["evaluations"]
    more[key]["wings"] = 1.0
    negative[key]["evaluations"] = -1.0
    assert complete(json.loads(json.dumps(reference)), reference)
    assert not any(complete(other, reference) for other in (less, more, negative, {}, {**reference, key: None}))
    keep(less)
    assert not cost_model().calibrated


# ---- the choice ----------------------------------------------------------------------------------------------------------
def test_dense_must_be_clearly_faster():
    assert Costs(1.0, 0.9, False).choice == "dense"
    assert Costs(1.0, 0.999, False).choice == "order-n"
    assert Costs(0.9, 1.0, False).choice == "order-n"


@pytest.mark.parametrize(("factors", "choice"), [({"dense": 100.0}, "order-n"), ({"order_n": 100.0}, "dense")])
def test_auto_goes_by_the_weights(store, factors, choice):
    keep(scaled(**factors))
    model = limb("revolute", "revolute", "revolute")
    assert model.resolve_dynamics("auto") == model.resolve_dynamics("auto", FOUR) == choice
    assert model.resolve_dynamics("dense") == "dense"


def test_auto_computes_what_it_chose(store):
    keep(scaled(order_n=1e6))
    model = limb("revolute", "spherical")
    q, v = model.q0, np.array([1.0, 0.2, -0.3, 0.4])
    np.testing.assert_array_equal(model.forward_dynamics(q, v), model.forward_dynamics(q, v, dynamics="dense"))


def test_an_event_changes_no_method(store):
    s = bough.System("arm")
    for i in range(3):
        s.body(f"b{i}", parent=f"b{i - 1}" if i else None, joint=bough.Revolute("y"), mass=1.0, com=(1, 0, 0), inertia=(1, 1, 1))
    s.event("lock", at=1.0, do=[bough.Lock("b1")])
    model = s.compile()
    locked = model.switched(dict.fromkeys(["b1.ry"]))
    assert locked.costs() == model.costs()


def test_the_reference_knows_the_ends(store):
    """A pendulum of two degrees of freedom is cheaper by its mass matrix, a tree of 36 is not, one or four at a time."""
    for lanes in (ONE, FOUR):
        assert tree36().compile().resolve_dynamics("auto", lanes) == "order-n"
        assert flexible_arm(1, 1, "zeroth_order").compile().resolve_dynamics("auto", lanes) == "dense"


@pytest.mark.parametrize("method", ["order-n", "dense"])
def test_both_methods_refuse_what_is_bent_too_far(method):
    model = arms(1, 2, 3, "free-free").compile()
    q = np.random.default_rng(0).normal(scale=30.0, size=model.nq)
    with pytest.raises(bough.StateError, match=r"turns by .* rad, and modes hold for"):
        model.forward_dynamics(q, model.v0, dynamics=method)


# ---- what check says -----------------------------------------------------------------------------------------------------
def test_check_says_what_is_chosen_and_why(store):
    model = limb("revolute", "revolute", "revolute", "revolute", "revolute", "revolute", "revolute")
    said, found, lanes = dict(summary.dynamics(model)), model.costs(), model.costs(FOUR)
    assert said == {"dynamics": f"order-n: {found.order_n:.3g} us an evaluation, {found.dense:.3g} us by dense",
                    "in lanes": f"order-n: {lanes.order_n:.3g} us a state, {lanes.dense:.3g} us by dense",
                    "predicted": "for a reference machine; bough calibrate measures this one"}
    keep(scaled(order_n=100.0))
    said = dict(summary.dynamics(limb("revolute")))
    assert said["dynamics"].startswith("dense: ")
    assert said["dynamics"].endswith(" us by order-n")
    assert said["predicted"] == "for this machine"


def test_check_says_why_the_cloud(store):
    s = bough.System("satellite")
    s.body("bus", joint=bough.Free(), mass=10.0, inertia=(1, 1, 1))
    for i in range(4):
        s.body(f"wing{i}", parent="bus", joint=bough.Revolute("y", motion=bough.motion.Rate(0.1)), mass=1.0, inertia=(1, 1, 1))
    assert summary.dynamics(s.compile()) == [("dynamics", "cloud: all but 6 speeds are given")]
