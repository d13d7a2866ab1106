"""Campaigns: samples against runs by hand, the same bits however they are spread, failures, resuming, errors.

Tolerances: 1e-13, the same runs in other company in the lanes, where sums are fused in other ways (SWEEP).
"""
import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from itertools import pairwise

import numpy as np
import pytest

import bough
from bough.campaign.block import run_block
from bough.campaign.runner import run_campaign
from bough.campaign.store import Store
from bough.errors import BoughError, DescriptionError, StateError
from tests.support.tolerance import oscillation, printed

pytest.importorskip("zarr")


def arm(**settings):
    """A driven arm on a free base, with a spring, a wheel and an output: rigid."""
    s = bough.System("arm")
    s.body("bus", joint=bough.Free(), mass=50.0, inertia=(5, 6, 7))
    s.body("arm", parent="bus", at=(0.5, 0, 0), joint=bough.Revolute("y", q0=0.3, stiffness=20.0, damping=0.5), mass=4.0,
           com=(0.6, 0, 0), inertia=(0.1, 0.6, 0.6))
    s.wheel("rw", body="bus", axis=(0, 0, 1), inertia=0.05, speed=100.0)
    s.output("tip", position=bough.Frame("arm", at=(1.2, 0, 0)))
    s.output("energy", energy="total")
    s.simulation(**{"until": 1.0, "dt": 0.01, "sample_rate": 50} | settings)
    return s


VARY = {"arm.mass": {"uniform": [3.0, 5.0]}, "arm.com[0]": {"normal": [0.6, 0.02]},
        "arm.stiffness": ("scale", {"normal": [1.0, 0.1]}), "rw.speed": {"uniform": [50.0, 150.0]},
        "bus.turn[2]": {"normal": [0.0, 0.1]}}
METRICS = {"swing": "peak(arm.ry)", "reach": "max(tip[0])",
           "late": "settling(arm.ry, band=0.05, target=0)", "far": "final(norm(tip))"}


def study(samples=10, **options):
    return bough.Campaign(arm(), **{"vary": VARY, "samples": samples, "metrics": METRICS, "keep": ["arm.ry"], "seed": 3} | options)


@pytest.fixture(scope="module")
def whole():
    """Ten samples at once."""
    return run_block(study(), 0, 10)


def test_a_sample_is_the_run_that_one_would_describe_by_hand(whole):
    """Mass, mass center, stiffness, wheel and attitude are those of sample 4; what differs is rounding of lanes and one state."""
    campaign = study()
    mass, com, stiffness, speed, turn = campaign.actual(campaign.drawn(np.arange(4, 5)))[0]
    s = arm()
    body = s.bodies["arm"]
    twin = bough.System("arm")
    twin.body("bus", joint=bough.Free(q0=(0, 0, 0, 0, 0, np.sin(turn/2), np.cos(turn/2))), mass=50.0, inertia=(5, 6, 7))
    twin.body("arm", parent="bus", at=(0.5, 0, 0), joint=bough.Revolute("y", q0=0.3, stiffness=stiffness, damping=0.5), mass=mass,
              com=(com, 0, 0), inertia=body.inertia)
    twin.wheel("rw", body="bus", axis=(0, 0, 1), inertia=0.05, speed=speed)
    data = bough.simulate(twin, until=1.0, dt=0.01, sample_rate=50, progress=False).data
    angle = data.q.sel(q_name="arm.ry").values
    np.testing.assert_allclose(whole.histories["arm.ry"][4], angle, rtol=0, atol=1e-13)
    assert whole.metrics[4, 0] == pytest.approx(np.abs(angle).max(), abs=1e-13)
    again = campaign.rerun(4)
    assert np.array_equal(again.data.q.sel(q_name="arm.ry").values, whole.histories["arm.ry"][4])


@pytest.mark.parametrize("parts", [(1,), (3, 7), (4, 9), (1, 2, 5, 8)])
def test_bits_depend_on_the_number_and_the_seed_only(whole, parts):
    ends = [0, *parts, 10]
    blocks = [run_block(study(), first, last) for first, last in pairwise(ends)]
    for name in ("values", "metrics"):
        assert np.array_equal(np.concatenate([getattr(block, name) for block in blocks]), getattr(whole, name), equal_nan=True)
    assert np.array_equal(np.concatenate([block.histories["arm.ry"] for block in blocks]), whole.histories["arm.ry"])
    assert not np.array_equal(run_block(study(seed=4), 0, 4).metrics, whole.metrics[:4], equal_nan=True)


def test_closed_loops_have_the_same_bits_in_any_block():
    s = bough.System("four-bar", gravity=(0, 0, -9.81))
    s.body("crank", joint=bough.Revolute("y", q0=-1.0, v0=2.0), mass=0.5, com=(0.2, 0, 0), inertia=(0, 0.01, 0.01))
    s.body("coupler", parent="crank", at=(0.4, 0, 0), joint=bough.Revolute("y", q0=1.0), mass=1.0, com=(0.5, 0, 0),
           inertia=(0, 0.1, 0.1))
    s.body("rocker", at=(1.0, 0, 0), joint=bough.Revolute("y", q0=-1.5), mass=0.8, com=(0.4, 0, 0), inertia=(0, 0.05, 0.05))
    s.loop("pin", joint=bough.Revolute("y"), a=bough.Frame("coupler", at=(1, 0, 0)), b=bough.Frame("rocker", at=(0.8, 0, 0)))
    s.simulation(until=0.2, dt=0.01)
    made = bough.Campaign(s, samples=66, metrics={"turn": "final(crank.ry)", "rocking": "rms(rocker.ry)"},
                          vary={"rocker.mass": {"uniform": [0.5, 1.0]}, "crank.q0": {"normal": [-1.0, 0.05]},
                                "crank.v0": {"normal": [2.0, 0.2]}, "pin.a.at[0]": {"normal": [1.0, 0.005]}})
    whole = run_block(made, 0, 66)
    assert not whole.reasons
    for size in (3, 7, 18, 64):
        blocks = [run_block(made, first, min(first + size, 66)) for first in range(0, 66, size)]
        assert np.array_equal(np.concatenate([block.values for block in blocks]), whole.values)
        assert np.array_equal(np.concatenate([block.metrics for block in blocks]), whole.metrics)
    for number in (0, 5, 41):
        assert np.array_equal(run_block(made, number, number + 1).metrics, whole.metrics[number : number + 1])


def test_threads_blocks_and_pieces_give_one_store(tmp_path):
    one = study(21).run(tmp_path/"one", threads=1, block=21, progress=False)
    two = study(21).run(tmp_path/"two", threads=2, block=4, progress=False)
    assert one.load().equals(two.load())
    store = Store.open(tmp_path/"two")
    assert [last - first for first, last in store.blocks] == [4]*5 + [1]
    assert one["arm.mass"].attrs["role"] == "parameter"
    assert set(one.sizes) == {"sample", "time"}


def test_what_is_there_is_not_run_again(tmp_path, monkeypatch):
    campaign, ran = study(12), []
    run_campaign(campaign, tmp_path/"store", threads=1, block=4, progress=False)
    reference = Store.open(tmp_path/"store").dataset().load()
    status = tmp_path/"store"/"samples.zarr"/"status"/"c"/"1"
    status.unlink()                                                         # as if it had been killed before this block was kept
    monkeypatch.setattr("bough.campaign.runner.run_block", lambda c, first, last: ran.append(first) or run_block(c, first, last))
    assert run_campaign(campaign, tmp_path/"store", threads=1, progress=False).dataset().load().equals(reference)
    assert ran == [4]


def test_failures_are_samples(tmp_path):
    """A spring so stiff that the step diverges, and a mass that no body has: each with its reason, the others go on."""
    stiffness = [20.0, 1e9, 20.0, 20.0, 20.0]
    made = bough.Campaign(arm(), vary={"arm.stiffness": stiffness}, metrics={"swing": "peak(arm.ry)"})
    data = made.run(tmp_path/"store", progress=False)
    assert data.status.values.tolist() == [1, 2, 1, 1, 1]
    assert np.isnan(data.swing.values).tolist() == [False, True, False, False, False]
    assert "diverged at t =" in Store.open(tmp_path/"store").failures()[1]
    block = run_block(bough.Campaign(arm(), vary={"arm.mass": [4.0, -4.0]}, metrics={"swing": "peak(arm.ry)"}), 0, 2)
    assert block.status.tolist() == [1, 2]
    assert "mass is -4" in block.reasons[1]


def test_what_other_tables_need_runs_by_itself():
    """A time step, a time table's value and a law's gain differ from run to run; so does the motion."""
    data = bough.Campaign(arm(), vary={"simulation.dt": [0.01, 0.005]}, metrics={"end": "final(arm.ry)"}).run(progress=False)
    error = 0.3*oscillation("rk4", w=5.0, h=0.01, time=1.0)                 # the arm starts at 0.3 rad and swings slower than that
    assert 0.0 < abs(float(data.end[0] - data.end[1])) < error

    def laws(values):
        @bough.law(outputs=["angle"], inputs=["motor"], period=0.05)
        def hold(t, y):
            return {"motor": -values["gain"]*y["angle"]}
        return [hold]

    s = arm()
    s.input("motor", coordinate="arm.ry")
    s.output("angle", coordinate="arm.ry")
    made = bough.Campaign(s, vary={"laws.gain": [0.0, 30.0]}, metrics={"end": "final(arm.ry)"}, laws=laws, law_values={"gain": 0.0})
    data = made.run(progress=False)
    plain = bough.simulate(arm(), progress=False).data.q.sel(q_name="arm.ry").values[-1]
    assert float(data.end[0]) == pytest.approx(plain, abs=1e-13)
    assert abs(float(data.end[1]) - plain) > 1e-3


def test_an_impossible_distribution_is_found_before_the_run():
    made = study(vary={"arm.mass": {"normal": [1.0, 1.0]}}, samples=2000)
    said = r"'arm.mass' as normal\(mean=1.0, sigma=1.0\) is impossible in 1[5-7]\.?\d* % of the samples"
    with pytest.raises(DescriptionError, match=said):
        made.run(progress=False)


@pytest.mark.parametrize(("changes", "said"), [
    ({"vary": {"arm.mas": {"normal": [4, 1]}}}, "did you mean 'arm.mass'"),
    ({"vary": {"arm.mass": {"gaussian": [4, 1]}}}, "there is no distribution 'gaussian'"),
    ({"vary": {"arm.com": {"normal": [4, 1]}}}, "name one of them, arm.com[0]"),
    ({"vary": {"simulation.dtt": {"normal": [4, 1]}}}, "did you mean 'dt'"),
    ({"vary": {"laws.gain": {"normal": [4, 1]}}}, "the laws have no value 'gain'"),
    ({"vary": {"arm.mass": [1.0, 2.0]}, "samples": 3}, "has 2 values for 3 samples"),
    ({"vary": {"arm.mass": {"uniform": [5, 3]}}}, "low end below"),
    ({"metrics": {"swing": "peak(arm.rz)"}}, "did you mean 'arm.ry'"),
    ({"metrics": {"swing": "peek(arm.ry)"}}, "did you mean 'peak'"),
    ({"metrics": {"swing": "settling(arm.ry)"}}, "needs band="),
    ({"metrics": {"swing": "__import__('os').system('x')"}}, "is not understood"),
    ({"metrics": {"swing": "1 + 2"}}, "takes nothing of the run"),
    ({"metrics": {"swing": "peak(arm.ry) + open('x')"}}, "there is no 'open'"),
    ({"requirements": [{"metric": "swng", "below": 1.0}]}, "did you mean 'swing'"),
    ({"requirements": [{"metric": "swing"}]}, "give below, above, or both"),
    ({"design": "latin"}, "one of random"),
    ({"design": "corners", "samples": 5}, "leave samples out"),
    ({"correlate": [{"paths": ["arm.mass", "rw.speed"], "matrix": [[1, 2], [2, 1]]}]}, "not positive definite"),
    ({"samples": 0}, "1 or more"),
])
def test_bad_input_is_named(changes, said):
    with pytest.raises(BoughError) as error:
        study(**changes)
    assert said in str(error.value)


def test_a_store_of_another_campaign_is_refused(tmp_path):
    study(4).run(tmp_path/"store", progress=False)
    with pytest.raises(StateError, match=r"another campaign, system or seed \('arm', seed 3\)"):
        study(4, seed=5).run(tmp_path/"store", progress=False)
    with pytest.raises(StateError, match="is no store of a campaign"):
        Store.open(tmp_path)


def test_a_full_disk_stops_cleanly_and_resumes(tmp_path, monkeypatch):
    campaign = study(12)
    write, calls = Store.write, []

    def full(self, found):
        calls.append(found.first)
        if len(calls) == 2:
            monkeypatch.setattr("zarr.Array.__setitem__", lambda *_: (_ for _ in ()).throw(OSError(28, "No space left on device")))
        return write(self, found)

    with monkeypatch.context() as patch:
        patch.setattr(Store, "write", full)
        with pytest.raises(BoughError, match=r"could not be kept \(No space left on device\); make room"):
            run_campaign(campaign, tmp_path/"store", threads=1, block=4, progress=False)
    monkeypatch.undo()
    assert len(Store.open(tmp_path/"store").missing()) == 2
    run_campaign(campaign, tmp_path/"store", threads=1, progress=False)
    assert Store.open(tmp_path/"store").dataset().load().equals(study(12).run(tmp_path/"other", progress=False).load())


SCRIPT = """
import sys
sys.path.insert(0, {tests!r})
from tests.campaign.test_campaign import study
if __name__ == "__main__":
    from bough.campaign.runner import run_campaign
    run_campaign(study(400), __import__("pathlib").Path(sys.argv[1]), threads=2, block=4, progress=False)
"""


@pytest.mark.slow
def test_a_killed_campaign_goes_on(tmp_path):
    """SIGKILL while it runs, twice; then the same call: no sample missing or doubled, the same bits."""
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    (tmp_path/"run.py").write_text(textwrap.dedent(SCRIPT.format(tests=root)))
    store = tmp_path/"store"
    for enough in (8, 200):
        process = subprocess.Popen([sys.executable, str(tmp_path/"run.py"), str(store)], cwd=root)
        while process.poll() is None and not (store.exists() and (Store.open(store).status() > 0).sum() >= enough):
            time.sleep(0.02)
        process.send_signal(signal.SIGKILL)
        process.wait()
    kept = int((Store.open(store).status() > 0).sum())
    assert kept >= 200
    final = study(400).run(store, progress=False).load()
    assert (final.status == 1).all()
    assert final.equals(study(400).run(tmp_path/"other", progress=False).load())


def test_the_command(tmp_path, monkeypatch, capsys):
    from bough.cli import main
    arm().to_yaml(tmp_path/"arm.yaml")
    (tmp_path/"study.yaml").write_text(textwrap.dedent("""
        campaign: 1
        system: arm.yaml
        samples: 12
        seed: 3
        design: sobol
        vary:
        - {path: arm.mass, uniform: [3, 5]}
        - {path: arm.stiffness, scale: {normal: [1, 0.1]}}
        metrics:
        - {name: swing, of: 1e3*peak(arm.ry), unit: mrad}
        requirements:
        - {metric: swing, below: 1000, probability: 0.5}
        keep: [arm.ry]
    """))
    monkeypatch.chdir(tmp_path)

    def command(*words):
        with pytest.raises(SystemExit) as stop:
            main(["campaign", "study.yaml", *words])
        assert not stop.value.code
        return capsys.readouterr().out

    report = json.loads(command("--json"))
    assert report["Requirements"][0]["verdict"] == "met"
    assert report["Requirements"][0]["share"] == "12/12"
    assert report["What matters (rank correlation)"][0]["most"].startswith("arm.")
    page = (tmp_path/"out"/"study.html").read_text()
    assert "data:image/png;base64," in page
    assert "http" not in page
    assert "12 of 12 samples, 0 failed" in command("--status")
    said = command("--rerun", "3")
    assert "out/study-3.nc" in said
    assert "the same bits as in the store" in said
    assert {"reaction", "acceleration", "joint_torque"} <= set(bough.open_result(tmp_path/"out"/"study-3.nc").data)
    assert bough.open_result(tmp_path/"out"/"study-3.nc").data.q.sel(q_name="arm.ry").values[0] == 0.3


# ---- the same bits, failures, bad input: what was wrong once -------------------------------------------------------------------
def test_bits_of_all_metrics_of_correlated_numbers_and_of_laws_in_python():
    """Sums over time, correlations and laws go through NumPy, whose products of matrices round by their number of rows."""
    gains = np.random.default_rng(0).normal(size=(3, 3))

    @bough.law(outputs=["tip"], inputs=["motor"], period=0.05)
    def hold(t, y):
        assert y["tip"].shape == (3,)                                       # one sample at a time
        return {"motor": 0.1*np.sin(gains@y["tip"]).sum()}

    s = arm(until=0.5)
    s.input("motor", coordinate="arm.ry")
    made = bough.Campaign(s, samples=13, laws=[hold], vary={("arm.mass", "arm.com[0]", "rw.speed"): {"normal": {
        "mean": [4.0, 0.6, 100.0], "covariance": [[0.04, 0.002, 0.5], [0.002, 4e-4, 0.05], [0.5, 0.05, 100.0]]}}},
        metrics={"rms": "rms(arm.ry)", "mean": "mean(norm(tip))", "above": "time_above(arm.ry, level=0.1)", "end": "final(arm.ry)"})
    whole = run_block(made, 0, 13)
    assert not whole.reasons
    for size in (1, 2, 3, 5, 8):
        blocks = [run_block(made, first, min(first + size, 13)) for first in range(0, 13, size)]
        assert np.array_equal(np.concatenate([block.values for block in blocks]), whole.values)
        assert np.array_equal(np.concatenate([block.metrics for block in blocks]), whole.metrics)


def test_a_law_that_raises_ends_its_own_sample_only():
    """Samples 5 to 7 start so far out that the law gives up; those beside them in the lanes go on."""
    @bough.law(outputs=["angle"], inputs=["motor"], period=0.05)
    def hold(t, y):
        if y["angle"] < -0.25:
            raise ZeroDivisionError("too far")
        return {"motor": 0.0}

    s = arm()
    s.input("motor", coordinate="arm.ry")
    s.output("angle", coordinate="arm.ry")
    made = bough.Campaign(s, vary={"arm.q0": np.linspace(0.1, 0.4, 8)}, metrics={"low": "min(arm.ry)"}, laws=[hold])
    found = run_block(made, 0, 8)
    free = run_block(bough.Campaign(arm(), vary={"arm.q0": np.linspace(0.1, 0.4, 8)}, metrics={"low": "min(arm.ry)"}), 0, 8)
    assert (found.status == 2).tolist() == (free.metrics[:, 0] < -0.25).tolist() == [False]*5 + [True]*3
    assert np.array_equal(found.metrics[:5], free.metrics[:5])
    assert "ZeroDivisionError: too far" in found.reasons[5]


def test_functions_that_raise_make_failed_samples_and_the_first_ones_may_fail(tmp_path):
    def fussy(result):
        if float(result.data.q.sel(q_name="arm.ry")[0]) > 0.31:
            raise KeyError("nothing there")
        return 1.0

    made = bough.Campaign(arm(), vary={"arm.q0": [0.4, 0.4, 0.4, 0.4, 0.3, 0.3]}, metrics={"m": fussy})
    data = made.run(tmp_path/"s", progress=False)
    assert data.status.values.tolist() == [2, 2, 2, 2, 1, 1]
    assert Store.open(tmp_path/"s").failures()[0] == "metric 'm': KeyError: 'nothing there'"
    words = bough.Campaign(arm(), vary={"arm.q0": [0.3]}, metrics={"m": lambda result: "far"})
    assert "returned 'far'; return a number" in run_block(words, 0, 1).reasons[0]


def test_springs_of_no_stiffness_in_some_samples():
    """A joint without spring and damper has other tables; in lanes it is a spring of no stiffness, and moves the same."""
    made = bough.Campaign(arm(), vary={"arm.stiffness": [20.0, 0.0, 0.0], "arm.damping": [0.5, 0.0, 0.5]},
                          metrics={"end": "final(arm.ry)"})
    found = run_block(made, 0, 3)
    assert found.values.tolist() == [[20.0, 0.5], [0.0, 0.0], [0.0, 0.5]]
    twin = arm()
    joint = twin.bodies["arm"].joint.model_copy(update={"stiffness": None, "damping": None})
    twin.bodies["arm"] = twin.bodies["arm"].model_copy(update={"joint": joint})
    want = bough.simulate(twin, progress=False).data.q.sel(q_name="arm.ry").values[-1]
    assert found.metrics[1, 0] == pytest.approx(want, abs=1e-13)
    assert np.array_equal(run_block(made, 1, 2).metrics, found.metrics[1:2])


@pytest.mark.parametrize(("changes", "said"), [
    ({"vary": {"arm.com": ("scale", {"normal": [1, 0.1]}), "arm.com[0]": {"normal": [0.6, 0.1]}}}, "the same number, or one"),
    ({"vary": {"arm.stiffness": {"normal": [20, 1]}, "arm.ry.stiffness": {"normal": [20, 1]}}}, "the same number, or one"),
    ({"vary": {"arm.mass": ("scal", {"normal": [1, 0.1]})}}, "did you mean 'scale'"),
    ({"vary": {("arm.mass", "rw.speed"): {"normal": {"mean": [4, 100], "covariance": [[1, 2], [2, 1]]}}}}, "positive definite"),
    ({"vary": {("arm.mass", "rw.speed"): {"uniform": [4, 100]}}}, "covariance: [2 rows of 2]"),
    ({"metrics": {"status": "peak(arm.ry)"}}, "rename it"),
])
def test_what_would_be_overruled_is_refused(changes, said):
    with pytest.raises(BoughError) as error:
        study(**changes)
    assert said in str(error.value)


@pytest.mark.parametrize(("vary", "said"), [
    ({"arm.mass": {"normal": [1.0, 0.27]}}, r"impossible in 0\.0\d+ % of the samples: body 'arm': mass is -"),   # 1 in 10,000
    ({"arm.inertia[0,0]": {"discrete": [0.1, 5.0, 0.2]}}, r"impossible in 33\.\d % .* principal moments"),  # the middle one
])
def test_rare_impossible_values_are_found_before_the_run(vary, said):
    with pytest.raises(DescriptionError, match=said):
        study(vary=vary, samples=100_000).check()


def test_normal_numbers_with_a_covariance():
    """Sample covariance of 20000 pairs: standard error of an entry at most sqrt(2/n) of the variances; five of them are allowed."""
    covariance = np.array([[0.04, 0.03], [0.03, 0.09]])
    from scipy import stats
    mean = [4.0, 100.0]
    for given in ({"normal": {"mean": mean, "covariance": covariance.tolist()}}, stats.multivariate_normal(mean, covariance)):
        drawn = study(20000, vary={("arm.mass", "rw.speed"): given}).drawn(np.arange(20000))
        np.testing.assert_allclose(np.cov(drawn.T), covariance, rtol=0, atol=5*np.sqrt(2/20000)*0.09)  # the larger variance
        np.testing.assert_allclose(drawn.mean(axis=0), [4.0, 100.0], rtol=0, atol=5*0.3/np.sqrt(20000))


def test_other_laws_or_functions_are_another_campaign():
    def made(source):
        space = {}
        exec(source, space)
        return bough.Campaign(arm(), vary={"arm.mass": [4.0]}, metrics={"m": space["f"]}).identity

    assert made("def f(r): return 1.0") == made("def f(r): return 1.0")
    assert made("def f(r): return 1.0") != made("def f(r): return 2.0")


def test_a_campaign_as_a_file_and_as_a_script(tmp_path):
    """Written and read again it is the same campaign; so it is as a script."""
    made = study(6, vary=VARY | {}, correlate=[{"paths": ["arm.mass", "rw.speed"], "matrix": [[1, 0.5], [0.5, 1]]}])
    again = bough.Campaign.from_file(made.to_yaml(tmp_path/"study.yaml"))
    assert again.identity == made.identity
    assert again.changed(seed=4).identity != made.identity
    (tmp_path/"study.py").write_text("from tests.campaign.test_campaign import study\ncampaign = study(6)\n")
    assert bough.Campaign.from_file(tmp_path/"study.py").identity == study(6).identity
    assert bough.Campaign.from_file(tmp_path/"study.py", samples=4).samples == 4
    (tmp_path/"empty.py").write_text("x = 1\n")
    with pytest.raises(DescriptionError, match="makes no Campaign"):
        bough.Campaign.from_file(tmp_path/"empty.py")
    with pytest.raises(StateError, match="metric 'm' is made in Python"):
        bough.Campaign(arm(), vary={"arm.mass": [4.0]}, metrics={"m": len}).to_yaml(tmp_path/"no.yaml")


def test_the_bar_tells_rate_failures_and_how_far(monkeypatch, tmp_path):
    """Six samples, of which two fail, in blocks of two; then what a second run is told: nothing is left."""
    from contextlib import contextmanager

    class Told:
        note, told = "", []

        def __call__(self, fraction):
            self.told.append((self.note, fraction))

    @contextmanager
    def working(title):
        yield Told()

    monkeypatch.setattr("bough.campaign.runner.working", working)
    made = bough.Campaign(arm(), vary={"arm.stiffness": [20.0, 1e9, 20.0, 20.0, 1e9, 20.0]}, metrics={"swing": "peak(arm.ry)"})
    for _ in range(2):
        run_campaign(made, tmp_path/"store", threads=1, block=2)
    assert [fraction for _, fraction in Told.told] == pytest.approx([1/3, 2/3, 1])
    said = [note.split(", ")[::2] for note, _ in Told.told]
    assert said == [["2 of 6", "1 failed"], ["4 of 6", "1 failed"], ["6 of 6", "2 failed"]]
    assert all(float(note.split(", ")[1].removesuffix("/s")) > 0.0 for note, _ in Told.told)


def test_the_report_of_a_campaign(tmp_path):
    """Percentiles with their intervals, worst runs by what is required, total Sobol indices of their design; a page of its own."""
    made = bough.Campaign(arm(until=0.2), samples=160, design="saltelli", keep=["arm.ry"],
                          requirements=[{"metric": "low", "above": -0.3}], metrics={"low": "final(arm.ry)", "high": "max(arm.ry)"},
                          vary={"arm.stiffness": {"uniform": [10, 30]}, "arm.mass": {"uniform": [3, 5]},
                                "rw.speed": {"uniform": [90, 110]}})
    data = made.run(tmp_path/"store", progress=False)
    report = made.report(tmp_path/"store")
    order = np.argsort(data.low.values)
    assert report.worst("low") == order[:3].tolist()                        # required to be above: the smallest are the worst
    tables = {title: rows for title, _, rows in report.tables()}
    assert [row[1:3] for row in tables["Worst runs"][:2]] == [["1", str(order[0])], ["2", str(order[1])]]
    median = next(cell for cell in tables["Percentiles and their 95 % intervals"][0][3:4])
    value, low, high = float(median.split()[0]), float(median.split("(")[1].split()[0]), float(median.rstrip(")").split()[-1])
    assert low < value < high
    assert value == pytest.approx(np.median(data.low.values), rel=printed(5))
    indices = report.total("low")
    assert indices["arm.stiffness"][2] > indices["arm.mass"][2] > indices["rw.speed"][2]
    page = report.write(tmp_path/"page.html").read_text()
    assert page.count("data:image/png;base64,") == 4                        # histograms, two scatter matrices, a band
    assert "http" not in page
    failing = bough.Campaign(arm(), vary={"arm.stiffness": [1e9]*5}, metrics={"swing": "peak(arm.ry)"}, keep=["arm.ry"])
    failing.run(tmp_path/"failing", progress=False)
    said = failing.report(tmp_path/"failing")
    assert "5 failed" in said.heading
    assert said.write(tmp_path/"failing.html").exists()


def test_a_capture_in_every_run_has_its_closed_form(tmp_path):
    """A body of mass m at speed v meets one of 1 kg at rest after 3 m: together they go on at m v/(m + 1)."""
    s = bough.System("head on")
    s.body("a", joint=bough.Prismatic("x", v0=2.0), mass=3.0)
    s.body("b", joint=bough.Prismatic("x", q0=4.0), mass=1.0)
    s.output("gap", distance=["a", "b"])
    s.event("bump", when="gap", crosses=1.0, direction="falling", do=[bough.Attach("a", "b")])
    s.simulation(until=3.0, dt=0.01, sample_rate=10)
    vary = {"a.mass": {"uniform": [2.0, 4.0]}, "a.v0": {"uniform": [1.5, 2.5]}}
    data = bough.Campaign(s, samples=10, seed=1, vary=vary, metrics={"end": "final(b.x)"}).run(tmp_path/"bump.campaign")
    m, v = data["a.mass"].values, data["a.v0"].values
    np.testing.assert_allclose(data["end"].values, 4.0 + m*v/(m + 1.0)*(3.0 - 3.0/v), rtol=1e-11)       # times are found to 1e-12 s
