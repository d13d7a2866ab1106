"""The labeled data of a run: names, units, coordinates, and agreement with the model.

Tolerances: 1e-11 of accelerations at the same states in other company in the lanes, and 1e-10 of reactions, forces ten times as
large.
"""

import numpy as np
import pytest

import bough
from bough.results.quantities import RECORDS
from tests.support.result_runs import craft, craft_run, pendulum_batch
from tests.support.tolerance import CANCELLING, STEPPED, SWEEP, adaptive


def test_every_variable_says_what_it_is_and_has_its_axes():
    data = craft_run().data
    for record in craft_run().facts.record:
        for name, meaning in RECORDS[record].quantities.items():
            if name == "input_work":                                    # it has no inputs
                continue
            assert data[name].dims == ("time", *meaning.dims)
            assert data[name].attrs["long_name"] == meaning.long_name
            assert data[name].attrs.get("units", "") == meaning.units
    assert data.time.attrs["units"] == "s"


def test_entries_are_found_by_name_with_their_units():
    data = craft_run().data
    assert list(data.q_name.values) == list(craft().names.q)
    assert data.q_unit.sel(q_name="hinge.ry").item() == "rad"
    assert data.q_unit.sel(q_name="bus.qw").item() == ""
    assert data.v_unit.sel(v_name="mass.x").item() == "m/s"
    assert data.a_unit.sel(v_name="bus.wx").item() == "rad/s^2"
    assert data.wheel_speed.sel(wheel="held").values == pytest.approx(100.0)
    assert data.q.sel(q_name="hinge.ry").isel(time=0).item() == 0.3


def test_derived_quantities_are_what_the_model_says_state_by_state():
    data, model = craft_run().data, craft()
    for sample in (0, 37, 100):
        row = data.isel(time=sample)
        q, v, wheels = row.q.values, row.v.values, row.wheel_speed.values
        position, attitude = model.pose(q, "mass")
        np.testing.assert_allclose(row.position.sel(body="mass"), position, atol=SWEEP)
        np.testing.assert_allclose(matrix(row.attitude.sel(body="mass").values), attitude, atol=SWEEP)
        twist = model.velocity(q, v, "mass")
        np.testing.assert_allclose(row.angular_velocity.sel(body="mass"), twist[:3], atol=SWEEP)
        np.testing.assert_allclose(row.velocity.sel(body="mass"), twist[3:], atol=SWEEP)
        a = model.forward_dynamics(q, v, wheels=wheels, t=row.time.item())
        np.testing.assert_allclose(row.a, a, atol=1e-11)
        np.testing.assert_allclose(row.reaction, model.reactions(q, v, a, wheels=wheels), atol=1e-10)
        assert row.kinetic_energy.item() == pytest.approx(model.kinetic_energy(q, v, wheels=wheels), rel=CANCELLING)
        assert row.potential_energy.item() == pytest.approx(model.potential_energy(q), abs=CANCELLING)
        momentum = np.concatenate([row.angular_momentum, row.linear_momentum])
        np.testing.assert_allclose(momentum, model.momentum(q, v, wheels=wheels), atol=CANCELLING)
        np.testing.assert_allclose(row.center_of_mass, model.center_of_mass(q), atol=SWEEP)


def matrix(quaternion):
    from scipy.spatial.transform import Rotation

    return Rotation.from_quat(quaternion).as_matrix()


def test_velocity_and_acceleration_are_derivatives_of_the_pose():
    data = craft_run().data
    for series, rate in (("position", "velocity"), ("velocity", "acceleration"), ("angular_velocity", "angular_acceleration")):
        differences = data[series].differentiate("time").isel(time=slice(1, -1))
        # central differences: error h^2/6 times the third derivative, here below 100
        np.testing.assert_allclose(differences, data[rate].isel(time=slice(1, -1)), atol=100 * 0.02**2 / 6)


def test_attitude_does_not_jump_in_time():
    s = bough.System("top")
    s.body("disc", mass=1, inertia=(1, 1, 1.5), joint=bough.Free(v0=(0, 0, 0, 0, 0, 3.0)))
    attitude = bough.simulate(s, until=6.0, dt=1e-2, sample_rate=50).data.attitude.sel(body="disc")
    assert float(abs(attitude.diff("time")).max()) < 3.0 / 50
    assert float(attitude.sel(quaternion="w").min()) < -0.9            # it did go once around


def test_a_batch_leads_with_runs_and_carries_its_parameters():
    result = pendulum_batch()
    data = result.data
    assert data.q.dims == ("run", "time", "q_name")
    assert data.sizes["run"] == 5
    np.testing.assert_array_equal(data["bob.com"].isel(axis=2), [-0.5, -1.0, -1.5, -2.0, -2.5])
    start = -2.0 * 9.81 * data["bob.com"].isel(axis=2).values * -np.cos(np.linspace(0.1, 0.5, 5))
    np.testing.assert_allclose(data.potential_energy.isel(time=0), start, rtol=STEPPED)
    drift = abs(data.total_energy - data.total_energy.isel(time=0)).max()
    assert float(drift) < STEPPED*float(np.abs(data.total_energy).max())


def test_chunks_do_not_change_the_data(monkeypatch):
    whole = craft_run().data
    monkeypatch.setattr("bough.results.evaluation.CHUNK", 2500)             # chunks of ten states
    again = bough.Result(craft_run().trajectory, craft_run().facts.record).data
    for name in whole:
        np.testing.assert_array_equal(whole[name], again[name])


def test_only_what_is_named_is_in_the_data():
    assert set(craft_run(record="energy").data) == {"kinetic_energy", "potential_energy", "total_energy"}


def test_defaults_of_record():
    model = craft()
    assert bough.simulate(model, until=0.1, dt=1e-2).facts.record == ("state", "pose", "energy", "momentum", "wheels")
    controlled = bough.simulate(model, until=0.1, dt=1e-2, control=lambda t, q, v, wheels: {"hinge": 0.5})
    assert controlled.facts.record[-1] == "torque"
    assert controlled.data.joint_torque.sel(v_name="hinge.ry").values == pytest.approx(0.5)
    assert controlled.data.torque_unit.sel(v_name="hinge.ry").item() == "N m"


@pytest.mark.parametrize(("record", "message"), [
    (["state", "enrgy"], "there is no 'enrgy', did you mean 'energy'"),
    (["orbit"], "'orbit' needs central gravity"),
    ([], "it is empty; choose out of state"),
    ("zebra", "choose out of state, pose"),
])  # fmt: skip
def test_unknown_records_are_refused_before_the_run(record, message):
    with pytest.raises(bough.StateError, match=message):
        bough.simulate(craft(), until=1e9, dt=1e-3, record=record)


def test_an_orbit_is_recorded_and_its_energy_kept():
    s = bough.System("moon", gravity=bough.CentralGravity(3.986e14, (7e6, 0, 0), (0, 7546, 0)))
    s.body("bus", mass=50, inertia=(8, 9, 7), joint=bough.Free(v0=(0, 0, 0, 0, 0, 1e-3)))
    result = bough.simulate(s, until=3000, method="dopri5", sample_rate=0.1, rtol=1e-11, record=["energy"])
    data = result.data
    e = abs(7546**2*7e6/3.986e14 - 1)                         # eccentricity: from r to r (1 - e)/(1 + e)
    np.testing.assert_allclose(np.linalg.norm(data.orbit_position, axis=1), 7e6, rtol=2*e)
    assert float(abs(data.total_energy / data.total_energy[0] - 1).max()) < adaptive(1e-11, result.trajectory.steps)     # its rtol
