"""Inputs and outputs in results: by name, with units and labels, the same after saving, and in plots."""
from dataclasses import replace

import numpy as np
import pytest

import bough
from bough.integrate.integration import integrate
from bough.results.dataset import label
from bough.results.quantities import select_records
from bough.results.result_contents import Facts
from tests.support.compare import assert_same
from tests.support.tolerance import CANCELLING, STEPPED


def craft():
    s = bough.System("craft")
    s.body("bus", joint=bough.Free(), mass=100.0, inertia=(10, 12, 13))
    s.body("arm", parent="bus", joint=bough.Revolute("y", v0=1.0), at=(1, 0, 0), mass=5.0, com=(1, 0, 0), inertia=(0.1, 2, 2))
    s.wheel("rw", body="bus", axis="x", inertia=0.02, torque=0.0)
    s.input("thruster", force="bus", axis="z", label="main engine")
    s.input("magnetic", moment="bus")
    s.input("rw", wheel="rw")
    s.input("elbow", coordinate="arm")
    s.output("star", attitude="arm", label="star tracker")
    s.output("imu", felt_acceleration="bus", axes="body")
    s.output("root", load="arm", component="my")
    return s.compile()


@pytest.fixture(scope="module")
def model():
    return craft()


def test_outputs_of_a_run(model, tmp_path):
    result = bough.simulate(model, until=8.0, dt=0.01, sample_rate=10)
    data = result.data
    seen = model.outputs(data.q.values, data.v.values, wheels=data.wheel_speed.values)
    for name in ("imu", "root"):
        assert_same(data.outputs.values[:, data.output_port.values == name], seen[name].reshape(len(data.time), -1), STEPPED, 1.0)
    star = data.outputs.sel(output=["star.x", "star.y", "star.z", "star.w"]).values
    assert_same(star*np.sign(star[:, 3:]), seen["star"]*np.sign(seen["star"][:, 3:]), CANCELLING)
    assert (np.einsum("ti,ti->t", star[1:], star[:-1]) > 0.9).all()                    # it turns by more than half, without a jump
    assert not data.inputs.values.any()
    assert (result.facts.controlled, result.facts.base_pushed) == (False, False)       # unused inputs excuse no drift
    assert dict(zip(data.output.values, data.output_unit.values, strict=True))["root"] == "N m"
    assert data.input_label.values.tolist()[:2] == ["main engine", "magnetic x"]
    again = bough.open_result(result.save(tmp_path/"run.nc"))
    assert again.data.outputs.equals(data.outputs)
    assert again.data.inputs.equals(data.inputs)
    assert again.model.names == model.names
    for what in ("inputs", "outputs"):
        titles = [axes.get_ylabel() for axes in result.plot(what).axes]
        assert len(titles) >= 2                                                        # a panel for each unit


def test_inputs_in_force_are_part_of_what_is_derived(model):
    """A run whose controls say that inputs were in force: they, the torques and the accelerations that they make are recorded."""
    bare = integrate(model, until=0.1, dt=0.01)
    values = np.array([5.0, 0.1, 0.2, 0.3, 0.04, 0.6])
    u = bare.u.copy()
    assert u.shape[2] == model.nv + model.nw + 6
    u[:, :, model.input_layout.ports] = values
    facts = Facts.of(replace(bare, u=u), ())
    assert (facts.controlled, facts.base_pushed) == (True, True)
    records = select_records(["acceleration", "torque", "inputs", "outputs", "wheels"], model.system)
    found = label(replace(bare, u=u), records).variables
    state = bare.state
    inputs = {"thruster": 5.0, "magnetic": (0.1, 0.2, 0.3), "rw": 0.04, "elbow": 0.6}
    a = model.forward_dynamics(state.q[0], state.v[0], inputs=inputs, wheels=state.wheels[0])
    assert_same(found["a"].values, a, CANCELLING)
    assert_same(found["inputs"].values, np.tile(values, (len(bare.t), 1)), 0.0)
    assert_same(found["motor_torque"].values, np.full((len(bare.t), 1), 0.04), 0.0)
    assert_same(found["joint_torque"].values[:, -1], np.full(len(bare.t), 0.6), 0.0)
    seen = model.outputs(state.q[0], state.v[0], inputs=inputs, wheels=state.wheels[0])
    assert_same(found["outputs"].values[:, 4:7], seen["imu"], CANCELLING)


def test_what_is_not_there_is_refused():
    s = bough.System("pendulum")
    s.body("bob", joint=bough.Revolute("y"), mass=2.0, com=(0, 0, -1))
    with pytest.raises(bough.StateError, match="record: 'outputs', but system 'pendulum' has no outputs; leave it out"):
        select_records("outputs", s)
