"""The audit of results: fine runs are fine, planted errors show, files keep it, and it costs little."""
import json

import numpy as np
import pytest

import bough
from bough.cli import main
from bough.results.audit import Audit
from tests.analyze.test_balance import DIFFERENCES
from tests.support.tolerance import truncated


def arm():
    s = bough.System("arm", gravity=(0, 0, -9.81))
    s.body("base", joint=bough.Free(v0=(0, 0, 0, 0.3, 0.2, 0.1)), mass=4.0, inertia=(0.4, 0.5, 0.6))
    s.body("upper", parent="base", at=(0.2, 0, 0), joint=bough.Revolute("y", q0=0.3, torque=0.7, damping=0.1), mass=1.0,
           com=(0.3, 0, 0), inertia=(0.02, 0.05, 0.05))
    s.body("lower", parent="upper", at=(0.6, 0, 0), joint=bough.Revolute((0, 1, 1), q0=0.2, stiffness=8.0, rest=0.1), mass=0.7,
           com=(0.2, 0, 0), inertia=(0.01, 0.03, 0.03))
    s.wrench("push", body="lower", force=(1, 2, 3), at=(0.1, 0, 0))
    return s


def run(model, **options):
    return bough.simulate(model, until=1.0, dt=1e-3, progress=False, **options)


def with_body(name, **changes):
    def change(system):
        system.bodies[name] = system.bodies[name].model_copy(update=changes)
    return change


def turned_wrench(system):
    system.wrenches["push"] = system.wrenches["push"].model_copy(update={"frame": "world"})


PLANTED = {
    "a wrong inertia": (with_body("lower", inertia=((0.01, 0, 0), (0, 0.0303, 0), (0, 0, 0.03))), "energy is not kept"),
    "a wrong mass": (with_body("lower", mass=0.701), "momentum is not kept"),
    "a lost torque": (with_body("upper", joint=bough.Revolute("y", q0=0.3, torque=1e-9, damping=0.1)), "energy is not kept"),
    "a wrong frame of a load": (turned_wrench, "angular momentum is not kept"),
    "a joint in a wrong place": (with_body("lower", at=(0.6, 0.001, 0)), "places is not kept"),
}


def test_a_run_is_fine():
    """Balances at rounding, dampers and motors accounted for."""
    audit = run(arm()).audit
    assert audit.fine, audit
    assert set(audit.balances) == {"places", "motion", "energy", "momentum", "angular momentum", "equations of motion"}
    assert max(audit.balances.values()) < DIFFERENCES
    assert audit.energy["not accounted for"] < audit.energy["uncertainty of the work"]
    assert audit.conditioning > 1.0


def test_work_of_inputs_counts_once():
    """Of motors and forces that a law gives, beside those that are described and dampers, whose power has kinks where a law steps:
    their work, over samples, is of second order."""
    s = arm()
    s.wheel("rw", body="base", axis="z", inertia=0.02, speed=20.0, torque=0.3)
    s.input("force", force=bough.Frame("lower", at=(0.1, 0, 0)))
    s.input("motor", wheel="rw")

    def law(t, y):
        return {"force": [3.0*np.sin(20*t), 2.0, 0.0], "motor": 0.5*np.cos(9*t)}
    laws = [bough.Law(law, inputs=["force", "motor"], period=1e-3)]
    coarse, audit = (run(s, laws=laws, sample_rate=rate).audit for rate in (1000, 2000))
    assert audit.fine, audit
    assert audit.energy["not accounted for"] < truncated(*(each.energy["not accounted for"] for each in (coarse, audit)), order=2)


@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_error_shows(name):
    """The tables of another system under the description of this one."""
    change, said = PLANTED[name]
    model, other = arm().compile(), arm()
    change(other)
    model.tables.pars[:], model.tables.plan[:] = other.compile().tables.pars, other.compile().tables.plan
    result = run(model)
    assert said in result.audit.line
    assert any(line.split()[:1] == ["audit"] and said in line for line in str(result).splitlines())


def test_printed_saved_and_read(tmp_path, capsys):
    """One line in print(result); all of it in the file and on the command line."""
    result = run(arm())
    lines = [line.split() for line in str(result).splitlines()]
    assert ["audit", "fine"] in lines
    result.save(tmp_path / "arm.nc")
    saved = bough.open_result(tmp_path / "arm.nc")
    assert saved.audit.balances == result.audit.balances
    assert saved.audit.origin["versions"]["bough"] == bough.__version__
    assert saved.audit.origin["options"]["dt"] == 1e-3
    assert len(saved.audit.origin["hash of the model"]) == 64
    assert ["audit", "fine"] in [line.split() for line in str(saved).splitlines()]
    with pytest.raises(SystemExit) as ended:
        main(["audit", str(tmp_path / "arm.nc")])
    assert ended.value.code == 0
    assert "hash of the model" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        main(["audit", str(tmp_path / "arm.nc"), "--json"])
    assert Audit(**json.loads(capsys.readouterr().out)).fine
    saved.save(tmp_path / "again.nc")
    assert bough.open_result(tmp_path / "again.nc").audit == saved.audit


def test_a_streamed_run_is_audited_too(tmp_path):
    saved = run(arm(), save_to=tmp_path / "long.nc", checkpoint=1e-3)
    assert saved.audit.fine, saved.audit
    assert saved.audit.balances


def test_an_old_file_says_so(tmp_path, capsys):
    import h5py

    run(arm()).save(tmp_path / "old.nc")
    with h5py.File(tmp_path / "old.nc", "a") as file:
        del file.attrs["audit"]
    assert bough.open_result(tmp_path / "old.nc").audit is None
    with pytest.raises(SystemExit) as ended:
        main(["audit", str(tmp_path / "old.nc")])
    assert ended.value.code == 2
    assert "older version" in capsys.readouterr().err


def test_steps_that_lose_energy_show():
    """Euler-Cromer with long steps on a conservative system."""
    s = arm()
    s.wrenches.clear()
    for name in ("upper",):
        s.bodies[name] = s.bodies[name].model_copy(update={"joint": bough.Revolute("y", q0=0.3)})
    result = bough.simulate(s, until=2.0, dt=0.05, method="euler-cromer", progress=False)
    assert "that no work accounts for" in result.audit.line


def test_a_batch_and_a_run_that_fails():
    model = arm().compile()
    batch = run(model, q0=np.tile(model.q0, (5, 1)))
    assert batch.audit.fine, batch.audit
    stiff = bough.System("stiff")
    stiff.body("bob", joint=bough.Prismatic("x", stiffness=1e9, q0=1.0), mass=1.0)
    with pytest.raises(bough.SimulationError) as failed:
        bough.simulate(stiff, until=10.0, dt=0.1, progress=False)
    assert "stopped early" in failed.value.result.audit.line


def test_what_older_files_call_not_told_is_what_was_not_audited():
    found = Audit.from_json('{"not_told": {"work": "too few samples"}}')
    assert found == Audit(not_audited={"work": "too few samples"})
    assert Audit.from_json(found.to_json()) == found
    assert "not audited: too few samples" in str(found)
