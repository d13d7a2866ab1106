"""Compiling the derivatives of a kind of model costs at most twice its forward kernels."""
import pytest

from bough.bench.compile_cost import KINDS, compile_cost


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_derivatives_compile_in_less_than_twice_the_time_of_forward_dynamics(kind):
    """Measured 1.0 to 1.5: the same sweeps on duals, or the closed form."""
    found = compile_cost(kind)
    assert found["forward"] > 0.5                                           # the cache was empty indeed
    assert found["ratio"] < 2.0
