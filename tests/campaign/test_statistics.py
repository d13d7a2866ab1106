"""Designs, distributions, metrics and statistics against closed forms."""
import numpy as np
import pytest
from scipy import stats

from bough.campaign.design import distribution, make_design
from bough.campaign.metrics import Metric, Requirement
from bough.campaign.statistics import causes, quantiles, rank_correlations, sobol_indices, total_indices, verdict, worst
from bough.errors import DescriptionError
from tests.support.tolerance import FORMULA, summed


def test_rows_of_designs_do_not_depend_on_blocks():
    drawn = {"random": 64, "latin-hypercube": 64, "sobol": 64, "saltelli": 65}
    for kind in (*drawn, "factorial", "corners", "one-at-a-time"):
        design = make_design(kind, drawn.get(kind), 3, 5, 4, [], "abc")
        n = design.samples
        whole = design.rows(0, n)
        parts = np.concatenate([design.rows(first, min(first + 5, n)) for first in range(0, n, 5)])
        assert np.array_equal(whole, parts), kind
        assert ((whole > 0) & (whole < 1)).all()
    assert make_design("factorial", None, 3, 0, 4, [], "abc").samples == 64
    hypercube = make_design("latin-hypercube", 50, 2, 1, 3, [], "ab").rows(0, 50)
    assert np.array_equal(np.sort((hypercube*50).astype(int), axis=0), np.tile(np.arange(50)[:, None], 2))


def test_correlated_normal_numbers():
    """Sample correlation of 20000 pairs: standard error (1 - r^2)/sqrt(n) = 2.6e-3; five of them are allowed."""
    design = make_design("random", 20000, 2, 2, 3, [{"paths": ["a", "b"], "matrix": [[1, 0.8], [0.8, 1]]}], ["a", "b"])
    z = stats.norm.ppf(design.rows(0, 20000))
    assert np.corrcoef(z.T)[0, 1] == pytest.approx(0.8, abs=5*(1 - 0.64)/np.sqrt(20000))
    assert stats.kstest(z[:, 1], "norm").pvalue > 1e-4


@pytest.mark.parametrize(("given", "frozen"), [
    ({"normal": [2.0, 0.5]}, stats.norm(2.0, 0.5)),
    ({"uniform": {"low": 1, "high": 3}}, stats.uniform(1, 2)),
    ({"truncated_normal": [0, 1, -1, 2]}, stats.truncnorm(-1, 2)),
    ({"lognormal": {"median": 2.0, "sigma": 0.3}}, stats.lognorm(0.3, scale=2.0)),
    ({"triangular": [0, 1, 4]}, stats.triang(0.25, scale=4)),
    ({"scipy": {"name": "beta", "a": 2.0, "b": 3.0}}, stats.beta(2, 3)),
    (stats.weibull_min(1.5, loc=2, scale=3), stats.weibull_min(1.5, loc=2, scale=3)),
])
def test_distributions_are_those_of_scipy(given, frozen):
    u = np.linspace(0.01, 0.99, 17)
    np.testing.assert_allclose(distribution(given, "x").values(u, np.arange(17)), frozen.ppf(u), rtol=FORMULA)


def test_few_values_come_by_their_weights():
    found = distribution({"discrete": {"values": [1.0, 2.0, 3.0], "weights": [1, 1, 2]}}, "x")
    assert found.values(np.array([0.1, 0.3, 0.6, 0.9]), None).tolist() == [1.0, 2.0, 3.0, 3.0]


def test_metrics_of_known_histories():
    """Of a decaying oscillation, e^-t cos 2 pi t, sampled finely; of a ramp between samples exactly."""
    t = np.linspace(0.0, 5.0, 5001)
    y = (np.exp(-t)*np.cos(2*np.pi*t))[None]
    take = lambda text: float(Metric("m", text).of(t, lambda name: y)[0])  # noqa: E731
    assert take("max(y)") == 1.0
    assert take("peak(y) - 2*final(y)") == pytest.approx(1.0 - 2*np.exp(-5.0))
    mean = (1 - np.exp(-10.0))*(0.25 + 1.0/(4 + (4*np.pi)**2))/5.0          # of e^-2t cos^2 2 pi t = e^-2t (1 + cos 4 pi t)/2
    h = t[1]
    assert take("rms(y)")**2 == pytest.approx(mean, rel=0, abs=1.1*h**2/12*2/5)     # trapezoids: h^2/12 (f'(5) - f'(0))/5, f' = -2
    assert take("first_crossing(y, level=0.0)") == pytest.approx(0.25, abs=h**2/8*2)         # chords: h^2/8 y''/y', y'' = 2 y'
    last = t[np.flatnonzero(np.abs(y[0]) > 0.1)[-1] + 1]
    assert take("settling(y, band=0.1, target=0)") == pytest.approx(last)
    ramp = np.array([[0.0, 1.0, 2.0]])
    assert Metric("m", "time_above(y, level=0.5)").of(np.array([0.0, 1.0, 2.0]), lambda name: ramp)[0] == pytest.approx(1.5)
    assert np.isnan(Metric("m", "first_crossing(y, level=9)").of(np.array([0.0, 1.0, 2.0]), lambda name: ramp)[0])


def test_intervals_of_percentiles_hold_as_often_as_they_say():
    """Of 400 sets of 200 normal numbers, the 95 % interval of the 90th percentile: 95 % within four standard errors of a share."""
    random, inside = np.random.default_rng(0), 0
    for _ in range(400):
        [found] = quantiles(random.standard_normal(200), [0.9])
        inside += found.low <= stats.norm.ppf(0.9) <= found.high
    assert inside/400 > 0.95 - 4*np.sqrt(0.95*0.05/400)


def test_a_verdict_is_clopper_and_pearsons():
    """0 of 299 failures: with 95 % confidence (two-sided) the probability is above 0.025^(1/299)."""
    found = verdict(Requirement("m", below=1.0, probability=0.99), np.zeros(299), np.ones(299, bool))
    assert found.low == pytest.approx(0.025**(1/299))
    assert found.high == 1.0
    assert found.text == "open: take more samples"
    assert verdict(Requirement("m", below=1.0, probability=0.98), np.zeros(299), np.ones(299, bool)).text == "met"
    failed = np.where(np.arange(299) < 50, np.nan, 0.0)                     # runs that failed do not meet it
    assert verdict(Requirement("m", below=1.0, probability=0.98), failed, np.ones(299, bool)).text == "not met"


def test_what_matters():
    """y = 3 a + b, variances 9 to 1: Sobol's first indices are 0.9 and 0.1, within four standard errors: two half widths."""
    x = np.random.default_rng(1).random((2000, 3))
    y = 3*x[:, 0] + x[:, 1]
    found = rank_correlations(x, y)
    np.testing.assert_allclose(found, stats.spearmanr(np.column_stack([x, y])).statistic[:3, 3], atol=summed(2000))
    pytest.importorskip("SALib")
    indices = sobol_indices(x, y, ["a", "b", "c"])
    for name, first in (("a", 0.9), ("b", 0.1), ("c", 0.0)):
        found, half_width = indices[name]
        assert found == pytest.approx(first, rel=0, abs=2*half_width)


def test_total_indices():
    """y = a + b c of numbers in (0, 1): variances 12, 3, 3 of a, b, c alone and 1 of b and c together, of 19 (in 144ths);
    within four standard errors, two half widths."""
    pytest.importorskip("SALib")
    u = make_design("saltelli", 5*1024, 3, 0, 3, [], "abc").rows(0, 5*1024)
    found = total_indices(u[:, 0] + u[:, 1]*u[:, 2], ["a", "b", "c"])
    for name, first, total in (("a", 12, 12), ("b", 3, 4), ("c", 3, 4)):
        s, ds, t, dt = found[name]
        assert s == pytest.approx(first/19, abs=2*ds)
        assert t == pytest.approx(total/19, abs=2*dt)
        assert dt < 3/np.sqrt(1024)                                         # two standard errors of 1024 groups, and a half
    failed = np.where(np.arange(len(u)) % 100 == 7, np.nan, u[:, 0])        # groups with a failed run are left out
    total, dt = total_indices(failed, ["a", "b", "c"])["a"][2:]
    assert total == pytest.approx(1.0, abs=2*dt)
    with pytest.raises(DescriptionError, match="multiple of 5 samples; samples is 64: take 60"):
        make_design("saltelli", 64, 3, 0, 3, [], "abc")


def test_causes_and_worst_runs():
    reasons = {3: "diverged at t = 0.1 s", 7: "diverged at t = 0.25 s", 9: "mass is -2.0 kg"}
    assert causes(reasons) == [("diverged at t = 0.1 s", 2, 3), ("mass is -2.0 kg", 1, 9)]
    assert worst(np.array([1.0, np.nan, 5.0, 3.0]), 2) == [2, 3]
