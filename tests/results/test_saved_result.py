"""A file holds all that a result holds, and can be read with bough or without."""

import numpy as np
import pytest
import xarray

import bough
from tests.support.result_runs import craft_run, pendulum, pendulum_batch


@pytest.fixture(params=["single", "batch"])
def result(request):
    return craft_run() if request.param == "single" else pendulum_batch()


def test_a_file_comes_back_as_it_was(result, tmp_path):
    path = result.save(tmp_path / "new" / "out.nc")
    again = bough.open_result(path)
    xarray.testing.assert_identical(again.data, result.data)
    assert again.facts == result.facts
    assert again.system == result.system
    assert again.summary == result.summary
    assert [file.name for file in path.parent.iterdir()] == ["out.nc"]


def test_none_and_truth_values_survive(result, tmp_path):
    again = bough.open_result(result.save(tmp_path / "out.nc"))
    assert again.failure is None
    assert again.facts.batched is result.facts.batched
    adaptive = bough.simulate(pendulum(), until=1.0, method="dopri5")
    assert bough.open_result(adaptive.save(tmp_path / "out.nc")).facts.dt is None


def test_xarray_alone_reads_it(result, tmp_path):
    with xarray.open_dataset(result.save(tmp_path / "out.nc"), engine="h5netcdf") as data:
        assert set(data.coords) == set(result.data.coords)
        np.testing.assert_array_equal(data.q, result.data.q)
        assert data.attrs["system_name"] == result.system.name


def test_the_data_can_be_written_by_xarray_too(result, tmp_path):
    result.data.to_netcdf(tmp_path / "out.nc", engine="h5netcdf")
    assert bough.open_result(tmp_path / "out.nc").facts == result.facts


def test_a_run_can_be_repeated_from_its_file(tmp_path):
    saved = bough.open_result(craft_run().save(tmp_path / "out.nc"))
    again = bough.simulate(saved.system, until=2.0, dt=saved.facts.dt, sample_rate=50)
    np.testing.assert_array_equal(again.data.q, saved.data.q)


def test_names_of_any_kind_are_kept(tmp_path):
    s = bough.System("null")
    s.body("Arm/é 1", joint=bough.Revolute("y", v0=1), mass=1, com=(1, 0, 0))
    result = bough.simulate(s, until=0.1, dt=0.01, q0=np.zeros((2, 1)), parameters={"Arm/é 1.mass": [1.0, 2.0]})
    again = bough.open_result(result.save(tmp_path / "out.nc"))
    xarray.testing.assert_identical(again.data, result.data)
    assert again.facts.system_name == "null"
    assert again.failure is None


def test_what_is_not_a_result_is_refused(tmp_path):
    with pytest.raises(bough.StateError, match="there is no such file"):
        bough.open_result(tmp_path / "none.nc")
    (tmp_path / "text.nc").write_text("hello")
    with pytest.raises(bough.StateError, match="is not a NetCDF file"):
        bough.open_result(tmp_path / "text.nc")
    xarray.Dataset({"a": ("x", [1.0])}).to_netcdf(tmp_path / "other.nc", engine="h5netcdf")
    with pytest.raises(bough.StateError, match="was not written by bough"):
        bough.open_result(tmp_path / "other.nc")
    (tmp_path / "file").touch()
    with pytest.raises(bough.StateError, match="cannot be written"):
        craft_run().save(tmp_path / "file" / "out.nc")


def test_what_was_not_recorded_is_named(tmp_path):
    saved = bough.open_result(craft_run(record="energy").save(tmp_path / "out.nc"))
    with pytest.raises(bough.StateError, match="'state' was not recorded; it holds energy"):
        saved.plot("state")


def test_the_system_is_written_when_it_is_saved_not_when_the_result_is_made(monkeypatch, tmp_path):
    written, to_yaml = [], bough.System.to_yaml
    monkeypatch.setattr(bough.System, "to_yaml", lambda self, **options: written.append(options) or to_yaml(self, **options))
    result = bough.simulate(pendulum(), until=0.1, dt=0.01)
    assert "pendulum" in result.summary
    assert not written
    result.save(tmp_path / "out.nc")
    assert written == [{"exact": True}]
    again = bough.open_result(bough.open_result(tmp_path / "out.nc").save(tmp_path / "again.nc"))
    assert written == [{"exact": True}]                                     # a file's own is copied
    assert again.system == result.system
