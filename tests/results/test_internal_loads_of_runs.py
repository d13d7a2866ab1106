"""Internal loads along a whole run."""

from functools import cache

import numpy as np
import pytest

import bough
from tests.results.test_loop_results import craft_run as looped_run
from tests.support.compare import assert_same
from tests.support.result_runs import craft_run, pendulum_batch

ROUNDING = 1e-11  # states are the same, but in other company in the lanes


def test_through_a_joint():
    """That of the recorded reactions, with names and units."""
    result = craft_run()
    load = result.internal_loads("hinge")
    assert load.dims == ("time", "component")
    assert load.units == "N m, N"
    assert load.component.values.tolist() == ["mx", "my", "mz", "fx", "fy", "fz"]
    assert load.connection.item() == "hinge"
    assert load.on.item() == "boom"
    assert load.not_determined == ""
    assert_same(load.values, result.data.reaction.sel(body="boom").values, ROUNDING)


def test_through_a_cut_with_a_loop():
    """A four-bar with a flexible coupler and a controlled crank: as of each state; bending determines all loads."""
    result = looped_run()
    model, data = result.trajectory.model, result.data
    loads = result.internal_loads(["coupler", "pin"], axes="world")
    assert loads.dims == ("time", "connection", "component")
    assert loads.on.values.tolist() == ["coupler", "coupler"]
    i = 17
    one = model.internal_loads(data.q[i].values, data.v[i].values, data.a[i].values, result.trajectory.u[0, i, : model.nv],
                               cut=["coupler", "pin"], axes="world", t=data.time[i].item(), wheels=data.wheel_speed[i].values,
                               motors=result.trajectory.u[0, i, model.nv :])  # fmt: skip
    assert_same(loads.values[i], one.values, ROUNDING)
    assert np.isfinite(loads.values).all()


def test_of_a_batch():
    """A pendulum's pivot carries m (g cos q + l w^2) along it, whatever its length in each run."""
    result = pendulum_batch()
    load = result.internal_loads("bob")
    assert load.dims == ("run", "time", "component")
    data = result.data
    q, w, length = data.q.values[..., 0], data.v.values[..., 0], -data["bob.com"].values[:, 2, None]
    assert_same(load.sel(component="fz").values, 2.0 * (9.81 * np.cos(q) + length * w**2), ROUNDING)


@cache
def bridge_run():
    """A beam on two balls that is free to roll about their line."""
    s = bough.System("bridge", gravity=(0, 0, -9.81))
    s.body("beam", joint=bough.Spherical(v0=(1, 0, 0)), mass=6.0, com=(1, 0, 0.1), inertia=(0.1, 2, 2))
    s.loop("east", joint=bough.Spherical(), a=bough.Frame("world", at=(2, 0, 0)), b=bough.Frame("beam", at=(2, 0, 0)))
    return bough.simulate(s, until=0.2, dt=1e-2)


def test_what_is_not_determined_is_missing():
    loads = bridge_run().internal_loads(["beam", "east"])
    assert loads.not_determined == "the force along the line between 'beam' and 'east'"
    assert np.isnan(loads.sel(component="fx")).all()
    assert np.isfinite(loads.drop_sel(component="fx")).all()


def test_bad_cuts_are_told_by_name():
    with pytest.raises(bough.StateError, match="still joined by 'east'"):
        bridge_run().internal_loads(["beam"])
