"""`bough verify`: its cases, its reports, its exit codes; and that it notices errors which are planted."""

import json

import numpy as np
import pytest

import bough
from bough.cli import main
from bough.errors import BoughError
from bough.verify.case import Case, Missing, digits, judge
from bough.verify.model_check import verify_system
from bough.verify.part_cases import RELATIONS
from bough.verify.suite import all_cases, outcome_line, verify
from tests.support.mutants import MUTANTS, changed_source, planted, verify as verify_copy

QUICK = [
    "references",
    "closed forms: rk4",
    "closed forms: friction",
    "conservation: every joint",
    "conservation: a loop closed by revolute",
]


def case_of(compare):
    return Case("room", "name", "what", "witness", "source", 6.0, compare)


def test_digits():
    assert digits([1.0, 2.0], [1.0, 2.0]) == 16.0
    assert digits(1.0 + 1e-7, 1.0) == pytest.approx(7.0, abs=0.005)            # digits have two decimals
    assert digits(1e-9, 0.0, 1.0) == pytest.approx(9.0)
    assert digits(np.nan, np.nan) == digits([1.0, np.inf], [1.0, np.inf]) == digits(1.0, 0.0) == -np.inf


def test_outcomes_of_a_case():
    """Fine, short, a witness that raises, one that is not there; nothing is fine that yields nothing."""
    assert judge(case_of(lambda: [(1.0, 1.0)])).verdict == "fine"
    short = judge(case_of(lambda: [(1.0, 1.0), (1.0, 1.1)]))
    assert not short.fine
    assert short.found == pytest.approx(1.04, abs=0.005)           # two decimals of -log10(0.1/1.1)
    broken = judge(case_of(lambda: [(np.zeros(2), np.zeros(3))]))
    assert not broken.fine
    assert "shapes" in broken.problem
    assert not judge(case_of(list)).fine

    def absent():
        raise Missing("no such engine; install it")

    gone = judge(case_of(absent))
    assert gone.fine
    assert gone.missing
    assert "no such engine" in outcome_line(gone)


def test_every_joint_part_and_integrator_has_a_case():
    names = [f"{case.room}: {case.name}" for case in all_cases()]
    assert len(set(names)) == len(names) > 80
    for word in (
        "every joint",
        "wheels",
        "flexible",
        "held",
        "cloud",
        "loop closed by distance",
        "couplings",
        "a line",
        "a bushing",
        "a restoring",
        "buoyancy",
        "friction",
        "event",
        "stop",
        "law",
        "table",
        "wrench",
        "prescribed",
        "orbit",
        *bough.describe.settings.FIXED_STEP,
        "dopri5",
        "imex43",
        "radau",
        "bdf",
        "lsoda",
        "Pinocchio",
        "MuJoCo",
        "Exudyn",
        "plain Python",
        "a tank that empties",
        "slosh",
        *(f"a coupling, {name}" for name in RELATIONS),
        "a gearbox",
        "outputs",
        "a linear system",
        "derivatives, flexible bodies",
        "sensitivities",
        "a superelement",
        *(f"{method} in lanes" for method in ("euler-cromer", "imex2", "imex4", "dopri5", "imex43")),
    ):
        assert any(word in name for name in names), word
    assert all(case.source and case.against and case.asked > 0 for case in all_cases())


def test_some_cases_on_the_command_line(capsys, tmp_path):
    """Text, JSON and a page tell the same; the exit code is 0."""
    options = [word for only in QUICK for word in ("--only", only)]
    with pytest.raises(SystemExit) as ended:
        main(["verify", "--json", "--html", str(tmp_path / "deep" / "page.html"), *options])
    found = json.loads(capsys.readouterr().out)
    assert ended.value.code == 0
    assert found["fine"]
    names = [each["name"] for each in found["cases"]]
    assert "Andrews' squeezing mechanism" in names
    page = (tmp_path / "deep" / "page.html").read_text()
    assert "Mazzia" in page
    assert page.count("<tr>") == 1 + len(names)
    with pytest.raises(SystemExit) as ended:
        main(["verify", "--only", "closed forms: rk4, order"])
    assert ended.value.code == 0
    assert "1 cases fine" in capsys.readouterr().out


def test_what_cannot_be_asked(capsys):
    with pytest.raises(BoughError, match="no case begins with 'nonsense'; give one of dynamics"):
        verify(["nonsense"])
    with pytest.raises(SystemExit) as ended:
        main(["verify", "no-such-file.yaml"])
    assert ended.value.code == 2
    assert "there is no such file" in capsys.readouterr().err


@pytest.mark.parametrize("name", MUTANTS)
def test_errors_can_still_be_planted(name):
    """What `make mutants` changes is there, and the cases that must notice are."""
    compile(changed_source(name), name, "exec")
    assert any(f"{case.room}: {case.name}".startswith(MUTANTS[name].cases) for case in all_cases())


@pytest.mark.parametrize("name", ["composite", "held"])
def test_a_planted_error_is_noticed(name, tmp_path):
    """The others by `make mutants`."""
    code, text = verify_copy(planted(name, tmp_path), MUTANTS[name].cases)
    assert code == 1, text
    assert "FALLS SHORT" in text


def swing(damping=0.3):
    s = bough.System("swing", gravity=(0, 0, -9.81))
    s.body("upper", joint=bough.Revolute("y", q0=1.0, damping=damping), mass=1.0, com=(0, 0, -0.5), inertia=(0.1, 0.1, 0.1))
    s.body(
        "lower",
        parent="upper",
        at=(0, 0, -1),
        joint=bough.Revolute("x", q0=0.3, stiffness=2.0),
        mass=1.0,
        com=(0, 0, -0.5),
        inertia=(0.1, 0.1, 0.1),
    )
    s.simulation(until=1.0, dt=1e-3)
    return s


def test_a_model_of_the_user(tmp_path, capsys):
    """All of its cases are fine, or say why they are not told."""
    swing().to_yaml(tmp_path / "swing.yaml")
    with pytest.raises(SystemExit) as ended:
        main(["verify", str(tmp_path / "swing.yaml"), "--json"])
    found = {each["name"]: each for each in json.loads(capsys.readouterr().out)["cases"]}
    assert ended.value.code == 0, [each for each in found.values() if not each["fine"]]
    for name in (
        "dense",
        "long double",
        "plain Python",
        "derivatives",
        "order of bodies",
        "choice of root",
        "balance: energy",
        "a run, its energy",
        "a run, steps halved",
        "a run, repeated",
    ):
        assert found[name]["found"] is not None, found[name]


def test_point_masses_cannot_float():
    """No other root for them; that is said, and is no fault of the model."""
    s = bough.System("points", gravity=(0, 0, -9.81))
    s.body("upper", joint=bough.Revolute("y", q0=0.5), mass=1.0, com=(0, 0, -1))
    s.body("lower", parent="upper", at=(0, 0, -1), joint=bough.Revolute("y"), mass=1.0, com=(0, 0, -1))
    (found,) = verify_system(s, only=["model: choice of root"]).outcomes
    assert found.missing
    assert "can float by itself" in found.problem


def test_work_that_nothing_accounts_for(monkeypatch):
    """A damper of the model that drives: in its tables the sign is another one than in its description."""
    s, compiled = swing(), bough.System.compile
    wrong = swing(0.3).compile().tables.pars
    entry = np.flatnonzero((wrong != swing(0.6).compile().tables.pars)[0])

    def spoiled(system):
        model = compiled(system)
        if model.tables.pars.shape == wrong.shape:
            model.tables.pars[:, entry] *= -1.0
        return model

    monkeypatch.setattr(bough.System, "compile", spoiled)
    found = {each.name: each for each in verify_system(s, only=["model: balance: energy", "model: a run, its energy"]).outcomes}
    assert not found["balance: energy"].fine
    assert not found["a run, its energy"].fine
    assert "energy is not kept" in found["a run, its energy"].problem


def test_a_law_with_a_memory_of_its_own_is_no_law():
    """The same run again is another one."""
    s, calls = swing(), []
    s.input("push", coordinate="upper")

    def law(t, y):
        calls.append(t)
        return {"push": 1e-3 * len(calls)}

    found = verify_system(s, {"laws": [bough.Law(law, inputs=["push"], period=0.01)]}, only=["model: a run, repeated"])
    assert [each.name for each in found.short] == ["a run, repeated"]
