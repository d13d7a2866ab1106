"""Counted numbers count what is done, and the sweeps do what a count by hand says."""
import numpy as np
import pytest

from bough.analyze.counted_run import TALLY, Counted, Memory
from bough.analyze.counting import Operations, count_operations
from bough.bench import cost_bench as paper
from bough.bench.mechanisms import Mechanism
from bough.sweeps import fields as f
from tests.support.tolerance import CANCELLING


def counted(function):
    """Operations of a function of no arguments."""
    before = list(TALLY.now)
    function()
    return Operations(*(now - then for now, then in zip(TALLY.now, before, strict=True)))


def numbers(*values):
    return [Counted(value) for value in values]


# ---- the number ----------------------------------------------------------------------------------------------------------
def test_operations_of_two_numbers_are_counted():
    a, b, c = numbers(2.0, 3.0, 5.0)
    assert counted(lambda: a*b + c*a - b) == Operations(multiplications=2, additions=2)
    assert counted(lambda: 1.0/(a - b)) == Operations(additions=1, divisions=1)
    assert counted(lambda: np.sqrt(a) + np.sin(b)*np.cos(c)) == Operations(1, 1, 0, 1, 2)


def test_constants_that_change_nothing_are_not_counted():
    a, = numbers(2.0)
    assert counted(lambda: -a + 0.0) == counted(lambda: 1.0*a) == counted(lambda: a*-1.0) == Operations()
    assert counted(lambda: 2.0*a + 1.0) == Operations(1, 1)


def test_what_is_in_memory_is_a_number():
    memory, (a,) = Memory.of(np.ones(4)), numbers(2.0)
    memory[1], memory[2:4] = 0.0, 0.0
    assert counted(lambda: memory[0]*a) == Operations(multiplications=1)
    assert counted(lambda: a + memory[1]) == Operations(additions=1)
    assert counted(lambda: a*memory) == Operations(multiplications=4)
    assert float(memory[0]*a + memory[3]) == 2.0


# ---- the sweeps ----------------------------------------------------------------------------------------------------------
LENGTHS = (2, 3, 4)


def chain(n):
    m = Mechanism("chain")
    m.limb(None, ["revolute"]*n)
    return m.system.compile()


@pytest.fixture(scope="module")
def counts():
    return {method: [chain(n).operation_counts(method) for n in LENGTHS] for method in ("order-n", "dense")}


def test_outward_accelerations_are_what_a_hand_counts(counts):
    """Of a revolute hinge: alpha x r and its sum, 6 and 6; G.A and nu less it, 6 and 6; nu e and its sum, 3 and 3."""
    for n, of in zip(LENGTHS, counts["order-n"], strict=True):
        assert of.parts["accelerations"] == Operations(multiplications=15*n, additions=15*n)


def test_factors_and_solution_are_what_a_hand_counts(counts):
    """Column j of n: an inverse; each row i below it a factor, n - i entries and one of the right side."""
    for n, of in zip(LENGTHS, counts["dense"], strict=True):
        rows = [n - i for j in range(n) for i in range(j + 1, n)]
        assert of.parts["factors"] == Operations(sum(2 + row for row in rows), sum(1 + row for row in rows), divisions=n)
        assert of.parts["solution"] == Operations(n*(n + 1)//2, n*(n - 1)//2)


def test_order_n_grows_in_proportion_and_dense_does_not(counts):
    def growth(method):
        return np.diff([of.total.flops for of in counts[method]])
    assert growth("order-n")[0] == growth("order-n")[1]
    assert growth("dense")[0] < growth("dense")[1]


def test_a_count_tells_its_total(counts):
    of = counts["dense"][0]
    lines = str(of).splitlines()
    assert lines[0].split()[:3] == ["dense", "multiplications", "additions"]
    assert lines[-1].split()[:3] == ["total", str(of.total.multiplications), str(of.total.additions)]
    assert len(lines) == 2 + len(of.parts)


def test_what_is_counted_is_the_forward_dynamics():
    """The run that counts finds the accelerations."""
    model = chain(3)
    q, v = np.array([[0.3, -0.5, 0.9]]), np.array([[1.0, 2.0, -1.0]])
    batch, tables = model.batch(q, v), model.tables
    arrays = {"features": np.array(tables.features), "plan": tables.plan, "pars": tables.pars, "tables": tables.tables,
              "t": batch.t, "x": batch.x, "u": batch.u, "out": np.zeros((1, 3)),
              "ws": np.zeros(tables.size(f.WS_SIZE) + tables.more("dense"))}
    a = model.forward_dynamics(q, v, dynamics="dense")
    np.testing.assert_allclose(count_operations("forward_dense", arrays)[1], a, rtol=CANCELLING)


# ---- the paper -----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(("modes", "dense", "order_n"), [(0, 7555, 5340), (5, 146780, 39840), (10, 664255, 91400)])
def test_formulas_at_ten_bodies(modes, dense, order_n):
    assert (paper.composite_body(10, modes).flops, paper.articulated_body(10, modes).flops) == (dense, order_n)


def test_formulas_give_what_the_paper_says_of_them():
    """'faster by over a factor of 3 for 5 modes per body, and by over a factor of 7 for 10'; D is inverted up to 7 modes, since
    that is 'more efficient' there."""
    ratio = {n: paper.composite_body(10, n).flops/paper.articulated_body(10, n).flops for n in (5, 10)}
    assert 3.0 < ratio[5] < 4.0
    assert 7.0 < ratio[10] < 8.0
    for n in range(1, 12):
        inverted = 5*n**3/3 + 23*n*n + 1312*n/3 + 341
        indirect = 25*n*n + 437*n + 1017
        sweeps = 2*n*n + 86*n + 193
        assert (inverted < indirect) == (n <= paper.MOST_INVERTED)
        assert paper.articulated_body(1, n).flops == pytest.approx(min(inverted, indirect) + sweeps, abs=1.0)
