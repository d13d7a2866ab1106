"""A distance whose ends coincide has no direction: it is named, and assembly starts from beside it."""
import numpy as np
import pytest

import bough
from tests.support.tolerance import CANCELLING


def rod(**options):
    s = bough.System("rod", gravity=(0, 0, -9.81))
    s.body("slide", joint=bough.Planar("xz", **options), mass=1.0, inertia=(1, 1, 1))
    s.loop("tie", joint=bough.Distance(2.0), a="world", b="slide")
    return s.compile()


def test_assembly_starts_from_beside_it():
    model = rod()
    q, v = model.assemble(np.zeros(model.nq), [1.0, 2.0, 0.0])
    np.testing.assert_allclose(np.hypot(*q[:2]), 2.0, rtol=CANCELLING)
    np.testing.assert_allclose(q[:2] @ v[:2], 0.0, atol=CANCELLING)
    assert bough.simulate(model, until=0.1, dt=0.01, progress=False).failure is None


def test_questions_of_such_a_state_are_refused_by_name():
    model, still = rod(), np.zeros(3)
    for ask in (lambda: model.loop_gaps(still), lambda: model.loop_gaps(still, still), lambda: model.freedom(still),
                lambda: model.forward_dynamics(still, still), lambda: model.inverse_dynamics(still, still, still),
                lambda: model.constraint_forces(still, still), lambda: model.reactions(still, still, still),
                lambda: model.assemble(still, hold=["slide"])):
        with pytest.raises(bough.StateError, match=r"loop 'tie': the ends of its distance coincide.*; move one of them away"):
            ask()
    with pytest.raises(bough.StateError, match="coincide in state 1 of the batch"):
        model.loop_gaps([[2.0, 0.0, 0.0], still])
