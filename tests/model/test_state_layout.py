"""The order of x and u: views by name, packing, and the tables' own numbers."""
import doctest

import numpy as np

import bough
from bough.compile import layout
from bough.compile.layout import InputLayout, StateLayout


def craft():
    s = bough.System("craft", gravity=bough.CentralGravity(3.986e14, position=(7e6, 0, 0), velocity=(0, 7.5e3, 0)))
    s.body("bus", joint=bough.Free(), mass=20.0, inertia=(2, 3, 4))
    s.body("boom", parent="bus", joint=bough.Revolute("y"), mass=1.0, com=(0.2, 0, 0), inertia=(0.1, 0.1, 0.1))
    s.wheel("rw", body="bus", axis=(1, 0, 0), inertia=0.02, speed=100.0, torque=0.0)
    s.wrench("push", body="bus", force=(1, 0, 0))
    return s.compile()


def test_docstrings():
    assert doctest.testmod(layout).failed == 0


def test_views_are_views():
    layout = StateLayout(nq=3, nv=2, nw=1, in_orbit=True)
    x = np.arange(24.0).reshape(2, 12)
    state = layout.view(x)
    np.testing.assert_array_equal(layout.pack(state.q, state.v, state.wheels, state.orbit), x)
    np.testing.assert_array_equal(state.speeds, x[:, 3:6])
    state.v[:] = 0.0
    assert not x[:, 3:5].any()
    u = np.zeros((2, 20))
    InputLayout(nv=2, nw=1, n_ports=0, wrenches=1, loop_motions=2, rests=0, callers=1).view(u).motors[:] = 1.0
    assert np.flatnonzero(u[0]).tolist() == [2]


def test_the_tables_have_the_same_order():
    model = craft()
    batch = model.batch(model.q0, model.v0, np.arange(7.0), wrenches={"boom": [1, 2, 3, 4, 5, 6]}, motors=[0.5])
    assert batch.x.shape == (1, model.layout.nx) == (1, 8 + 7 + 1 + 6)
    assert batch.tables.n_u == batch.inputs.layout.nu == 7 + 1 + 6 + 6
    assert batch.tables.first_input_wrench == batch.inputs.layout.caller_wrenches.start
    np.testing.assert_array_equal(batch.u[0], [*range(7), 0.5, *[0.0]*6, 1, 2, 3, 4, 5, 6])
    assert [model.entry_name(i) for i in (0, 8, 15, 16)] == ["q of 'bus.x'", "v of 'bus.x'", "speed of wheel 'rw'", "the orbit"]
