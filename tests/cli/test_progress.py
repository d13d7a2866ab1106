"""Bars and interrupts: who is told how far the work is, and what an interrupt leaves."""

import doctest
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import bough
from bough import progress
from bough.integrate.integration import METHODS
from tests.support.result_runs import pendulum
from tests.support.tolerance import STEPPED, adaptive

FIXED_STEP = {"dt": 1e-3}


def test_docstrings():
    assert doctest.testmod(progress).failed == 0


@pytest.fixture
def terminal(monkeypatch):
    """Somebody looks, and nobody is patient."""
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    monkeypatch.setattr(progress, "EVERY", 0.0)
    yield
    assert progress.DISPLAY.shown is None


def shown(bar):
    """The task of a bar, once it has appeared."""
    for _ in range(200):
        if bar.task is not None:
            return progress.DISPLAY.shown.tasks[progress.DISPLAY.shown.task_ids.index(bar.task)]
        time.sleep(0.01)
    raise AssertionError("the bar did not appear")


def test_a_bar_tells_what_remains_and_the_real_time_factor(terminal):
    with progress.working("antenna", patience=0.0) as bar:
        task = shown(bar)
        assert task.total is None                                       # it only moves until it is told
        bar.seconds = 100.0
        bar(0.25, 25.0)
        time.sleep(0.05)
        bar(0.5, 50.0)
        assert (task.description, task.completed, task.total) == ("antenna", 0.5, 1.0)
        said, factor = task.fields["speed"].split(", ")
        assert said == "t = 50 s"
        assert 0 < float(factor.split()[0]) <= 25.0 / 0.05                    # s of simulated time, in 0.05 s or more


def test_bars_stand_below_each_other(terminal):
    with progress.working("outer", patience=0.0) as outer, progress.working("inner", patience=0.0) as inner:
        assert (shown(outer).description, shown(inner).description) == ("outer", "inner")
        assert len(progress.DISPLAY.shown.tasks) == 2


def test_short_work_has_no_bar(terminal):
    with progress.working("short") as bar:
        bar(0.5, 1.0)
    assert bar.task is None


def test_nobody_is_told_in_quiet_or_without_a_terminal(terminal, monkeypatch, capsys):
    with progress.quiet(), progress.working("hushed", patience=0.0) as bar, progress.compilation("kernel"):
        time.sleep(0.05)
        assert bar.task is None
    monkeypatch.setattr("sys.stderr.isatty", lambda: False, raising=False)
    with progress.working("logged", patience=0.0) as bar:
        time.sleep(0.05)
        assert bar.task is None
    assert capsys.readouterr().err == ""
    with progress.compilation("kernel"):
        pass
    assert capsys.readouterr().err == "bough: compiling 'kernel' (once on this machine) ... 0 s\n"


def test_what_is_counted_reaches_all_items(terminal, monkeypatch):
    seen = []
    monkeypatch.setattr(progress.Bar, "__call__", lambda bar, fraction, t=0.0: seen.append(fraction))
    assert list(progress.counted("items", "abcd")) == list("abcd")
    assert seen == [0.0, 0.25, 0.5, 0.75]


def caught():
    """A pendulum that a latch catches at its lowest point, a second or so after the start."""
    s = bough.System("caught", gravity=(0, 0, -9.81))
    s.body("bob", joint=bough.Revolute("y", q0=0.5), mass=2.0, com=(0, 0, -1))
    s.body("tail", parent="bob", joint=bough.Revolute("y"), at=(0, 0, -1), mass=1.0, com=(0, 0, -1))
    s.latch("catch", coordinate="tail.ry", at=1.0)
    return s.compile()


def interrupting(after):
    """Progress that interrupts, and notes the fractions that it was told."""
    told = []

    def listen(fraction, t):
        told.append(fraction)
        if fraction > after:
            raise KeyboardInterrupt

    return listen, told


@pytest.mark.parametrize("batch", [1, 5])
@pytest.mark.parametrize("model", [pendulum, caught], ids=["free", "with events"])
@pytest.mark.parametrize("method", METHODS)
def test_an_interrupt_keeps_what_was_computed(method, model, batch):
    """With every method, one run and five, with events and without; states of a stiff method, and runs with events, take turns."""
    system = model()
    starts = np.full((batch, system.nq), 0.3) * np.linspace(0.5, 1.0, batch)[:, None]
    listen, told = interrupting(0.3)
    fixed = method in ("rk4", "euler-cromer", "imex2", "imex4")
    options = FIXED_STEP if fixed else {"rtol": 1e-6, "atol": 1e-8}
    result = bough.simulate(
        system, q0=starts if batch > 1 else starts[0], until=40.0, method=method, sample_rate=10, progress=listen, **options
    )
    assert result.failure.startswith("interrupted at t = ")
    assert told == sorted(told)
    q = np.atleast_3d(result.data.q.values.T).T
    assert np.isfinite(q[0]).all()                                      # the first run is whole up to where it came
    assert 1 < len(result.time) <= 401
    assert np.isfinite(result.data.total_energy.values.reshape(batch, -1)[0]).all()
    whole = bough.simulate(system, q0=starts[0], until=40.0, method=method, sample_rate=10, **options)
    same = 20 if fixed else 5               # samples; adaptive steps depend on where calls end
    n = min(same, len(result.time))
    np.testing.assert_allclose(q[0, :n], whole.data.q.values[:n], atol=STEPPED if fixed else adaptive(1e-6, steps=10))   # rtol


@pytest.mark.parametrize("method", ["rk4", "dopri5"])
def test_an_interrupt_is_heard_between_two_samples(method):
    """Samples a day apart do not make a run deaf."""
    told = []

    def listen(fraction, t):
        told.append(t)
        if len(told) == 8:
            raise KeyboardInterrupt

    options = FIXED_STEP if method == "rk4" else {"rtol": 1e-6}
    result = bough.simulate(pendulum(), until=1e6, sample_rate=1e-5, method=method, progress=listen, **options)
    assert "interrupted" in result.failure
    assert len(told) == 8
    assert told == sorted(told)


def test_however_a_run_is_parted_its_steps_are_the_same(monkeypatch):
    import bough.integrate.compiled_steps as fixed

    whole = bough.simulate(pendulum(), until=1.0, dt=1e-3, sample_rate=7)
    monkeypatch.setattr(fixed, "CHUNK_SECONDS", 1e-9)                   # a step a call
    np.testing.assert_array_equal(bough.simulate(pendulum(), until=1.0, dt=1e-3, sample_rate=7).data.q, whole.data.q)


LONG = """
name: pendulum
gravity: [0, 0, -9.81]
bodies:
- {name: bob, joint: {type: revolute, axis: y, q0: 0.5}, mass: 2, com: [0, 0, -1]}
simulation: {until: 1e+6, dt: 1e-3, sample_rate: 1, record: [state, energy]}
"""


@pytest.mark.slow
def test_ctrl_c_in_a_shell_saves_and_plots_what_there_is(tmp_path):
    """A terminal sends SIGINT to all processes of the command; it has drawn a bar by then."""
    (tmp_path / "long.yaml").write_text(LONG)
    pty = pytest.importorskip("pty")                       # not on Windows
    mine, theirs = pty.openpty()
    command = [sys.executable, "-c", "from bough.cli import main; main()", "run", "long.yaml"]
    process = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=theirs, text=True, start_new_session=True,
                               env=os.environ | {"COLUMNS": "160", "TERM": "xterm"},
                               preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))  # jobs in the background ignore it
    os.close(theirs)
    seen = b""
    while not (b"x real time" in seen and b" left" in seen):             # the first bar does not know yet how long it will take
        seen += os.read(mine, 4096)
    os.killpg(process.pid, signal.SIGINT)
    printed, _ = process.communicate(timeout=100)
    os.close(mine)
    assert process.returncode == 130
    assert "stopped early" in printed
    assert {path.name for path in (tmp_path / "out").iterdir()} == {"long.nc", "long-state.png", "long-energy.png"}
    saved = bough.open_result(tmp_path / "out" / "long.nc")
    assert saved.failure.startswith("interrupted at t = ")
    assert len(saved.time) > 1
