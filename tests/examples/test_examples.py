"""Every example runs (shortened) and shows what it says it shows."""

import numpy as np
import pytest

import bough
from bough.files import EXAMPLES, examples, first_line, read_system
from tests.support.tolerance import STEPPED, refined


def test_every_file_is_an_example():
    turbines = {"floating_turbine", "floating_turbine_flexible", "oc3_hywind"}
    yaml = {"spacecraft", "orbit", "flexible_panel", "deployment", "moored_spar", "jsc"} | turbines
    scripts = {"double_pendulum", "monte_carlo", "controller", "turbine", "detumble", "flight_software", "pointing",
               "identify", "drive", "optimal_slew"}
    gallery = {path.stem for path in (EXAMPLES / "gallery").glob("*.py")}
    assert set(examples()) == yaml | scripts | {f"gallery/{name}" for name in gallery}
    assert len({path.stem for path in examples().values()}) == len(examples())             # one name is enough to find one
    assert all(len(first_line(path)) > 20 for path in examples().values())
    assert not [path.name for path in EXAMPLES.iterdir() if path.suffix not in (".yaml", ".py", ".md", "")]


@pytest.mark.parametrize("name", sorted(name for name in examples() if "/" not in name))
def test_every_example_describes_a_system_that_runs(name):
    system = read_system(examples()[name])
    settings = system.settings
    result = bough.simulate(system, until=settings.until / 20, record=["state", "energy", "reactions"])
    assert np.isfinite(result.data.q).all()
    assert np.isfinite(result.data.reaction).all()


def drift(values):
    return float(abs(values - values[0]).max())


def test_the_spacecraft_keeps_its_momenta_whatever_its_arms_and_wheels_do():
    result = bough.simulate(bough.load(examples()["spacecraft"]), until=20.0)
    assert max(result.audit.momentum.values()) < STEPPED
    moved = result.data.q.max("time") - result.data.q.min("time")
    assert float(moved.sel(q_name="left_shoulder.rz")) > 1.0


def test_the_boom_satellite_librates_about_the_vertical():
    """A slender body librates in the plane with sqrt(3) times the orbit's rate: an orbit holds 1.7 swings."""
    data = bough.simulate(bough.load(examples()["orbit"]), record=["state", "pose"]).data
    up = data.orbit_position / np.linalg.norm(data.orbit_position, axis=1)[:, None]
    x, y, z, w = data.attitude.sel(body="bus").values.T
    boom = np.stack([1 - 2 * (y * y + z * z), 2 * (x * y + z * w), 2 * (x * z - y * w)], axis=-1)
    in_plane = np.arctan2(up[:, 0] * boom[:, 1] - up[:, 1] * boom[:, 0], (up.values * boom).sum(axis=1))
    assert np.abs(in_plane).max() < 0.3
    crossings = np.count_nonzero(np.diff(np.sign(in_plane)))
    assert crossings in (6, 7)                                        # two orbits: 3.5 swings, 2 crossings each


def test_the_thruster_moves_the_satellite_and_makes_its_panel_swing():
    """22 N for 0.4 s; then nothing acts from outside, and the panel swings on, damped a little."""
    coarse, data = (bough.simulate(bough.load(examples()["flexible_panel"]), dt=dt).data for dt in (2e-3, 1e-3))
    np.testing.assert_allclose(data.linear_momentum.isel(time=-1), [0, 0, 22 * 0.4], atol=8.8 * 5e-3)     # it turns by some mrad
    before, after = (each.sel(time=slice(0.71, None)) for each in (coarse, data))
    for name in ("angular_momentum", "linear_momentum"):
        assert drift(after[name]) < refined(drift(before[name]))
    tip = after.node_deflection.sel(node="panel.tip", axis="z")
    assert 0.01 < float(abs(tip).max()) < 0.03                        # some centimeters
    assert np.count_nonzero(np.diff(np.sign(tip.values))) >= 6
    lost = after.total_energy.diff("time")
    assert float(lost.max()) < 0.0


def test_the_spar_swings_about_its_moorings():
    """Buoyancy and lines keep the energy; the spar swings back through the upright and never leaves its sections."""
    data, fine = (bough.simulate(bough.load(examples()["moored_spar"]), dt=dt).data for dt in (0.1, 0.05))
    assert drift(fine.total_energy) < refined(drift(data.total_energy))                  # half the step
    assert np.count_nonzero(np.diff(np.sign(data.q.sel(q_name="spar.qy").values))) >= 4
    assert float(data.line_tension.min()) > 0.0
    assert not data.element_limit.values.any()


def test_the_monte_carlo_runs_differ_as_their_masses_do():
    script = _namespace("monte_carlo")
    result = bough.simulate(script["system"], parameters=script["spread"](runs=8), until=5.0, record=["state", "momentum"])
    assert result.data.sizes["run"] == 8
    assert float(result.data.q.isel(time=-1).std("run").max()) > 1e-5
    momentum = result.data.angular_momentum
    assert float(abs(momentum - momentum.isel(time=0)).max()) < STEPPED * float(abs(momentum).max())


def test_the_controller_turns_the_spacecraft_and_holds_it():
    script = _namespace("controller")
    result = bough.simulate(script["system"], control=script["turn_and_hold"])
    final = result.data.isel(time=-1)
    assert final.q.sel(q_name="bus.qz").item() == pytest.approx(np.sin(0.4))
    assert float(abs(final.v.sel(v_name=["bus.wx", "bus.wy", "bus.wz"])).max()) < 1e-6     # rad/s, as well as it has turned
    assert float(abs(result.data.motor_torque).max()) > 0.1


def test_a_torque_against_the_rate_detumbles_and_a_random_one_does_not():
    script = _namespace("detumble")
    envs = script["environments"](8)
    envs.action_space.seed(0)
    assert script["play"](envs, lambda gyro: -2.0 * gyro)[0].all()
    assert not script["play"](envs, lambda gyro: envs.action_space.sample())[0].any()


def test_flight_software_in_another_process_gives_the_same_bits_and_keeps_time():
    """Whatever the machine is busy with, no period is early, and each of them comes."""
    script = _namespace("flight_software")
    with script["Remote"]() as remote:
        script["lock_step"](remote, 1.0)                            # asserts it
        late = script["real_time"](remote, 0.2)
    assert len(late) == 10
    assert late[0] >= 0.0
    assert remote.process.returncode == 0


def _namespace(name):
    import runpy

    return runpy.run_path(str(examples()[name]))


def test_a_hinge_is_identified_within_what_the_noise_allows():
    """Four standard deviations, each at most 0.01 of what is identified; the exact Jacobian takes few runs."""
    script = _namespace("identify")
    clean, _ = script["run"](script["TRUE"])
    measured = clean + script["NOISE"]*np.random.default_rng(0).normal(size=clean.shape)
    found, deviation, runs = script["identify"](measured)
    assert (np.abs(found - script["TRUE"]) < 4 * deviation).all()
    assert (deviation < 0.01 * script["TRUE"]).all()
    assert runs < 20


def test_a_small_optimal_slew_is_that_of_the_linear_model_in_closed_form():
    """Lines nearest to a curve by least squares miss it at their ends by h^2 |u''|/12, and h^4: by less than h^2 |u''|/8."""
    pytest.importorskip("casadi")
    script, small, intervals = _namespace("optimal_slew"), 0.01, 40
    found = np.array(script["optimum"](small, intervals=intervals)[0].values).ravel()
    fine = np.array(script["linear_optimum"](small, rows=100 * intervals + 1).values).ravel()
    h = script["TIME"] / intervals
    curvature = np.abs(np.diff(fine, 2)).max() / (h / 100) ** 2
    np.testing.assert_allclose(found, fine[::100], rtol=0, atol=h**2 * curvature / 8)
    assert h**2 * curvature / 8 < 0.05 * np.abs(fine).max()             # small beside the curve itself


def test_an_optimal_slew_ends_at_rest_where_that_of_the_linear_model_swings_on():
    """Its collocation has errors of h^4 where h w < 1: half the step leaves a sixteenth; of h^3 it would be an eighth."""
    pytest.importorskip("casadi")
    script = _namespace("optimal_slew")
    coarse, fine = (script["check"](script["optimum"](intervals=intervals)[0]) for intervals in (40, 80))
    assert script["OMEGA"] * script["TIME"] / 40 < 1
    assert abs(fine[0]) < abs(coarse[0]) / 8
    assert fine[1] < coarse[1] / 8
    assert fine[1] < 0.05 * script["check"](script["linear_optimum"]())[1]       # it swings on twenty times as far
    assert script["check"](script["bang_bang"]())[1] > 0.5
