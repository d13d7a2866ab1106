"""Figures of `bough bench stiff` that do not depend on how busy a machine is; its command runs them all."""
import numpy as np
import pytest

from bough.bench.stiff_bench import TARGET, closed_step, compare, of_arm, of_sampled_law, of_singular_position, slew, spacecraft
from tests.support.tolerance import adaptive


def test_the_arm_on_gearboxes_takes_steps_of_5_ms():
    """Its rotors are gearboxes of 1e6 N m/rad: rk4 needs steps ten times as short; errors are of the worst coordinate."""
    found = of_arm(0.4, 1)
    assert found["longest stable step of rk4"] < 5e-4                       # a tenth of 5 ms
    rows = {row["method"]: row for row in found["methods"]}
    assert [rows[method]["dt"] for method in ("imex2", "imex4")] == [5e-3, 5e-3]
    assert rows["imex43"]["error"] < adaptive(rows["imex43"]["rtol"], rows["imex43"]["steps"])
    assert rows["imex4"]["error"] < TARGET
    assert rows["imex2"]["error"] < 10*TARGET                               # it is of order 2


@pytest.mark.slow
def test_the_slewing_spacecraft_takes_steps_of_a_tenth_of_a_second():
    """A hundred times what rk4 can take, with errors below 1e-4 at the ends of steps and at the samples between them; steps that
    end at no sample are no worse."""
    found = compare(spacecraft().compile(), {"imex4": [{"dt": 0.1}, {"dt": 0.063}]}, 20.0, 1, laws=[slew()])
    rows = [row for row in found["methods"] if row["method"] == "imex4"]
    assert found["longest stable step of rk4"] < 1e-3                       # a hundredth of 0.1 s
    assert rows[1]["error"] < rows[0]["error"] < TARGET


@pytest.mark.slow
def test_a_sampled_law_takes_the_steps_that_the_ringing_needs():
    """Of a law at 10 Hz a method takes little more than if each step were as long as its error estimate accepts.  SciPy's Radau has
    0.9 13/14 of that after two iterations, and leaves a step as it is until it could grow by a fifth, 1.44 in all; a period ends
    with a short step, and the first one takes six to grow from a microsecond.  imex43 takes 0.9 of it, and refuses at most one step
    in a period more than with a continuous law."""
    found = of_sampled_law(1.0, 1)
    for method in ("radau", "imex43"):
        sampled, continuous = found[method]["10 Hz"], found[method]["continuous"]
        assert sampled["least"] > 2*continuous["least"]
        assert sampled["steps"] < 1.44*sampled["least"] + 10 + 6
        assert sampled["refused"] <= continuous["refused"] + 10


def test_four_bars_pass_their_singular_position():
    """The first passage, after 0.74 s; asked for is 0.1 J at all steps, and less with shorter ones."""
    found = list(of_singular_position(0.8).values())
    changes = [each["energy changes by, J"] for each in found]
    assert [each["passages"] for each in found] == [1, 1, 1]
    assert 1e-3 > changes[0] > changes[1] > changes[2]


def test_a_closed_step_is_measured_beside_an_evaluation():
    """Only that both are measured: how many evaluations a step takes is for the benchmark on a quiet machine."""
    found = closed_step(3)
    assert np.isfinite(list(found.values())).all()
    assert found["step, us"] > 0.0
    assert found["evaluation, us"] > 0.0
