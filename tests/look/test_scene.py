"""What the page of a replay holds: poses, arrays, curves and loads are those of the result."""

from functools import cache

import numpy as np
import pytest

import bough
from bough.errors import StateError
from bough.look.buffers import KINDS, STEPS, Buffers, quantized
from bough.look.frames import frame_samples, frames_of
from tests.support.replay_pages import scene_of, unpacked
from tests.support.result_runs import antenna_run, craft, craft_run, pendulum_batch
from tests.support.tolerance import FORMULA

EPS = np.finfo(np.float32).eps / 2          # the relative error of a float


@cache
def craft_scene(folder):
    return scene_of(craft_run().view(folder / "craft.html").path.read_text())


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("replay")


def test_poses_are_those_of_the_model(folder):
    scene, run = craft_scene(folder), craft_run()
    model, q = craft(), run.array("q")
    poses, origin = scene["poses"].astype(float), scene["origin"]
    assert len(scene["time"]) == len(run.time) == len(poses)
    for k, name in enumerate(model.names.bodies):
        place, attitude = model.pose(q, name)
        relative = place - origin
        assert np.abs(poses[:, k, :3] - relative).max() <= EPS * np.abs(relative).max()
        x, y, z, w = poses[:, k, 3:].T
        first_axis = np.stack([w * w + x * x - y * y - z * z, 2 * (x * y + w * z), 2 * (x * z - w * y)], axis=1)
        assert np.abs(first_axis - attitude[:, :, 0]).max() <= 8 * EPS         # four products of two rounded entries
    assert np.abs(origin - model.center_of_mass(q)).max() < FORMULA


def test_far_from_the_origin_bodies_keep_their_distances():
    model, far = craft(), np.array(craft().q0)
    far[:3] += 6.878e6
    result = bough.simulate(model, q0=far, until=2.0, dt=1e-3, sample_rate=50)
    moved = frames_of(result, 0, None, 10, lambda done: None)
    near = model.bodies(result.array("q") - np.array([6.878e6] * 3 + [0.0] * (model.nq - 3)))
    distance = near.position[:, 2] - near.position[:, 0]
    drawn = (moved.poses[:, 2, :3] - moved.poses[:, 0, :3]).astype(float)
    size = np.abs(moved.poses[..., :3]).max()
    rounded = 8 * np.finfo(float).eps * 6.878e6                    # doubles so far off
    assert np.abs(drawn - distance).max() < 2 * EPS * size + rounded


def test_curves_are_the_recorded_variables(folder):
    run, scene = craft_run(), craft_scene(folder)
    groups = {(group["name"], group["unit"]): group for group in scene["curves"]}
    energy = groups["total_energy", "J"]["values"][:, 0]
    expected = run.array("total_energy")
    assert np.abs(energy - expected).max() <= 0.51 * np.ptp(expected) / STEPS + 4 * np.spacing(np.abs(expected).max())
    assert groups["q", "rad"]["labels"] == ["hinge.ry"]
    assert groups["q", "m"]["labels"] == ["bus.x", "bus.y", "bus.z", "mass.x"]
    assert groups["reaction", "N"]["labels"][:3] == ["bus fx", "bus fy", "bus fz"]
    assert "values" not in groups["position", "m"]                             # the page has the poses already


def test_loads_are_reactions_at_their_joints(folder):
    loads = {(load["name"], load["kind"]): load for load in craft_scene(folder)["loads"]}
    force = craft_run().array("reaction")[:, 1, 3:]
    drawn = loads["hinge", "force"]
    assert drawn["place"]["body"] == 1
    assert drawn["axes"] == "place"
    assert np.abs(drawn["values"] - force).max() <= 0.51 * np.ptp(force, axis=0).max() / STEPS
    assert drawn["largest"] == pytest.approx(np.linalg.norm(force, axis=1).max())
    assert not any(load["name"] == "bus" for load in craft_scene(folder)["loads"])      # a free joint bears nothing


def test_wrenches_in_time_are_loads(tmp_path):
    s = bough.System("push")
    s.body("block", joint=bough.Prismatic("x"), mass=1.0, inertia=(1, 1, 1))
    s.wrench("jet", body="block", at=(0, 0.1, 0), force={"times": [0, 0.5, 1], "values": [[1, 0, 0], [3, 0, 0], [0, 0, 0]]})
    s.wrench("step", body="block", frame="world", moment={"times": [0, 0.5], "values": [[0, 0, 1], [0, 0, 2]], "kind": "hold"})
    result = bough.simulate(s, until=1.0, dt=0.05, sample_rate=20, record=["state"])
    loads = {load["name"]: load for load in scene_of(result.view(tmp_path / "push.html").path.read_text())["loads"]}
    assert loads["jet"]["values"][[0, 5, 10, 15], 0] == pytest.approx([1, 2, 3, 1.5], abs=3 / STEPS)
    assert loads["jet"]["place"]["at"] == [0, 0.1, 0]
    assert loads["step"]["values"][[0, 9, 10, 20], 2] == pytest.approx([1, 1, 2, 2], abs=1 / STEPS)
    assert loads["step"]["axes"] == "world"


def test_a_saved_result_has_the_same_page_of_what_it_recorded(tmp_path):
    run = antenna_run()
    fresh = scene_of(run.view(tmp_path / "a.html").path.read_text())
    saved = scene_of(bough.open_result(run.save(tmp_path / "a.nc")).view(tmp_path / "b.html").path.read_text())
    assert np.array_equal(fresh["poses"], saved["poses"])
    assert [body["name"] for body in saved["bodies"]] == list(run.system.bodies)
    for a, b in zip(fresh["bodies"], saved["bodies"], strict=True):
        assert (a["flexible"] is None) == (b["flexible"] is None)
        if a["flexible"] is not None:
            assert np.array_equal(a["flexible"]["eta"], b["flexible"]["eta"])
            assert np.array_equal(a["flexible"]["phi"], b["flexible"]["phi"])


def test_a_run_of_a_batch_has_its_own_parameters(tmp_path):
    batch = pendulum_batch()
    scene = scene_of(batch.view(tmp_path / "batch.html", run=3).path.read_text())
    assert scene["run"] == 3
    assert scene["bodies"][0]["com"] == [0.0, 0.0, -2.0]
    saved = bough.open_result(batch.save(tmp_path / "batch.nc"))
    assert scene_of(saved.view(tmp_path / "saved.html", run=3).path.read_text())["bodies"][0]["com"] == [0.0, 0.0, -2.0]
    angle = scene["curves"][0]["values"][:, 0]
    assert angle[0] == pytest.approx(0.4, abs=1 / STEPS)


def test_frames_are_spread_evenly_and_said(tmp_path):
    run = craft_run()
    made = run.view(tmp_path / "few.html", frames=11)
    scene = scene_of(made.path.read_text())
    assert scene["time"] == pytest.approx(np.linspace(0, 2, 11))
    assert scene["samples"] == len(run.time)
    assert "11 frames of 101 samples" in str(made)
    assert frame_samples(5000, None, 10).tolist()[-1] == 4999
    assert len(frame_samples(5000, None, 10)) == 3000
    assert len(frame_samples(5000, None, 100_000)) == 400          # 40 MB


@pytest.mark.parametrize("shape", [(0, 3), (4, 0), (1, 1), (7, 2, 3)])
@pytest.mark.parametrize("kind", ["float", "double", "index"])
def test_arrays_come_back(shape, kind):
    values = np.random.default_rng(1).integers(0, 1000, shape).astype(KINDS[kind])
    if kind != "index" and values.size:
        values.reshape(-1)[0] = np.nan
    buffers = Buffers()
    told = buffers.add(values, kind)
    assert np.array_equal(unpacked(buffers.texts[0], told), values, equal_nan=kind != "index")


def test_sixteen_bits_of_a_range_and_gaps():
    series = np.array([[1.0, 5.0, np.nan], [2.0, 5.0, 1e300], [-3.0, 5.0, np.inf]])
    numbers, low, step = quantized(series)
    back = np.where(numbers == 65535, np.nan, low + step * numbers)
    assert np.abs(back[:, 0] - series[:, 0]).max() <= 0.5 * 5 / STEPS + FORMULA
    assert np.array_equal(back[:, 1], series[:, 1])
    assert np.isnan(back[[0, 2], 2]).all()


def test_a_run_that_diverged_is_shown_until_it_did(tmp_path):
    s = bough.System("stiff", gravity=(0, 0, -9.81))
    s.body("slider", joint=bough.Prismatic("x", stiffness=1e6, q0=0.5), mass=2.0, com=(0, 0, -1))
    with pytest.raises(bough.SimulationError) as error:
        bough.simulate(s, until=10.0, dt=0.02, sample_rate=50, record=["state", "energy"])
    scene = scene_of(error.value.result.view(tmp_path / "stiff.html").path.read_text())
    assert 2 < len(scene["time"]) < 501
    assert np.isfinite(scene["poses"]).all()
    assert "diverged" in scene["failure"]


def test_what_cannot_be_shown_is_said(tmp_path):
    run = craft_run()
    with pytest.raises(StateError, match="run is 2; the result has 1 run: give 0 to 0"):
        run.view(tmp_path / "a.html", run=2)
    with pytest.raises(StateError, match="frames is 1; give at least 2"):
        run.view(tmp_path / "a.html", frames=1)
    with pytest.raises(StateError, match=r"a\.png: a replay is an HTML file; give a path that ends in \.html"):
        run.view(tmp_path / "a.png")
    (tmp_path / "file").write_text("")
    with pytest.raises(StateError, match=r"cannot be written .*; give another path"):
        run.view(tmp_path / "file" / "a.html")
    energy = bough.simulate(craft(), until=2.0, dt=1e-3, sample_rate=50, record=["energy"])
    assert energy.view(tmp_path / "energy.html").frames == 101                 # a fresh result has its states
    with pytest.raises(StateError, match="the result holds only energy; run it again with 'state' in record"):
        bough.open_result(energy.save(tmp_path / "energy.nc")).view(tmp_path / "a.html")
    assert not (tmp_path / "a.html").exists()
