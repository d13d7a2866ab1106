"""Every call of a model: rows in, a leading axis out; one state in, none."""
import numpy as np
import pytest

import bough
from tests.support.compare import assert_same
from tests.support.tolerance import CANCELLING

FLOATING = {"joint": bough.Free(), "mass": 20.0, "inertia": (2, 3, 4)}


def craft():
    """Wheels, lines, wrenches, a held joint, a flexible panel and a loop."""
    s = bough.System("craft", gravity=(0, 0, -1.6))
    s.body("bus", **FLOATING)
    beam = bough.beam(1.0, modes=2, E=1e8, G=4e7, area=5e-3, Iy=1e-6, Iz=4e-6, J=3e-6, density=1000.0)
    s.body("panel", parent="bus", joint=bough.Revolute("y"), at=(0.5, 0, 0), flexible=beam)
    s.body("drum", parent="bus", joint=bough.Revolute("z", motion=bough.motion.Rate(0.1)), mass=1.0, inertia=(0.1, 0.1, 0.1))
    s.body("crank", parent="bus", joint=bough.Revolute("y"), at=(0, 0, 1), mass=1.0, com=(0.2, 0, 0), inertia=(0.1, 0.1, 0.1))
    s.body("rod", parent="crank", joint=bough.Revolute("y"), at=(0.4, 0, 0), mass=1.0, com=(0.2, 0, 0), inertia=(0.1, 0.1, 0.1))
    s.loop("slot", joint=bough.PointOnLine("x"), a=bough.Frame("bus", at=(0, 0, 1)), b=bough.Frame("rod", at=(0.4, 0, 0)))
    s.wheel("rw", body="bus", axis=(1, 0, 0), inertia=0.02, speed=100.0, torque=0.0)
    s.line("tether", a=bough.Frame("world", at=(0, 0, 5)), b=bough.Frame("bus"), stiffness=10.0, length=4.0)
    return s.compile()


def tree():
    s = bough.System("tree", gravity=(0, 0, -1.6))
    s.body("bus", **FLOATING)
    s.body("boom", parent="bus", joint=bough.Revolute("y"), mass=1.0, com=(0.2, 0, 0), inertia=(0.1, 0.1, 0.1))
    return s.compile()


# of one state or of rows: arguments q, v, a, tau
CALLS = {
    "forward_dynamics": lambda m, q, v, a, tau: m.forward_dynamics(q, v, tau),
    "wheel_accelerations": lambda m, q, v, a, tau: m.wheel_accelerations(q, v, tau),
    "inverse_dynamics": lambda m, q, v, a, tau: m.inverse_dynamics(q, v, a),
    "bias": lambda m, q, v, a, tau: m.bias(q, v),
    "mass_matrix": lambda m, q, v, a, tau: m.mass_matrix(q),
    "reactions": lambda m, q, v, a, tau: m.reactions(q, v, a, tau),
    "drive_forces": lambda m, q, v, a, tau: m.drive_forces(q, v, tau),
    "constraint_forces": lambda m, q, v, a, tau: m.constraint_forces(q, v, tau),
    "element_forces": lambda m, q, v, a, tau: m.element_forces(q, v),
    "internal_loads": lambda m, q, v, a, tau: m.internal_loads(q, v, a, tau, cut="panel", driven=m.names.v).values,
    "assemble": lambda m, q, v, a, tau: m.assemble(q, v),
    "loop_gaps": lambda m, q, v, a, tau: m.loop_gaps(q, v),
    "follow": lambda m, q, v, a, tau: m.follow(q, v),
    "pose": lambda m, q, v, a, tau: m.pose(q, "panel"),
    "frames": lambda m, q, v, a, tau: m.frames(q, ["bus", ("panel", "tip")]),
    "velocity": lambda m, q, v, a, tau: m.velocity(q, v, "panel"),
    "acceleration": lambda m, q, v, a, tau: m.acceleration(q, v, a, ("panel", "tip"), (0.1, 0, 0)),
    "jacobian_rate": lambda m, q, v, a, tau: m.jacobian_rate(q, v, "panel", (0.1, 0, 0)),
    "jacobian": lambda m, q, v, a, tau: m.jacobian(q, "panel", (0.1, 0, 0)),
    "kinetic_energy": lambda m, q, v, a, tau: m.kinetic_energy(q, v),
    "potential_energy": lambda m, q, v, a, tau: m.potential_energy(q),
    "momentum": lambda m, q, v, a, tau: m.momentum(q, v),
    "center_of_mass": lambda m, q, v, a, tau: m.center_of_mass(q),
}
OF_TREES = {
    "momentum_loads": lambda m, q, v, a, tau: m.momentum_loads(q, v, a, "boom"),
    "forward_dynamics_derivatives": lambda m, q, v, a, tau: [m.forward_dynamics_derivatives(q, v, tau).dq],
    "inverse_dynamics_derivatives": lambda m, q, v, a, tau: [m.inverse_dynamics_derivatives(q, v, a).dv],
}
# what is not asked of states, or of one state only
OTHERS = {"actuation", "batch", "batch_at", "batch_of", "bodies", "body_index", "bound", "build_ahead", "call", "changed",
          "entry_name", "follow_motions", "freedom", "linearize", "linearize_laws", "mode_places", "modes", "motion",
          "motion_breaks", "named_inputs", "normalize_quaternions", "operation_counts", "operators", "options_of",
          "outputs", "parameter_tables", "partition", "ready", "resolve_dynamics", "state", "state_options",
          "switched", "switched_as", "tables_for", "trim", "with_law_states", "with_moved_joints", "with_parameters",
          "with_tanks", "without_loops"}


def state(model, rows=None):
    q, v = model.assemble(*model.follow(model.q0, 0.1*np.ones(model.nv)))
    a, tau = np.zeros(model.nv), 0.01*np.arange(model.nv)
    return (q, v, a, tau) if rows is None else tuple(np.tile(part, (rows, 1)) for part in (q, v, a, tau))


def arrays(answer):
    """All arrays or numbers of an answer."""
    if isinstance(answer, dict):
        answer = list(answer.values())
    return [np.asarray(part) for part in answer] if isinstance(answer, list | tuple) else [np.asarray(answer)]


@pytest.fixture(scope="module")
def models():
    return {"craft": craft(), "tree": tree()}


def test_all_calls_are_here():
    public = {name for name in dir(bough.Model) if not name.startswith("_") and callable(getattr(bough.Model, name))}
    assert public == {*CALLS, *OF_TREES, *OTHERS}


@pytest.mark.parametrize("name", [*CALLS, *OF_TREES])
def test_rows_in_a_leading_axis_out(models, name):
    model, call = models["tree" if name in OF_TREES else "craft"], (CALLS | OF_TREES)[name]
    alone = arrays(call(model, *state(model)))
    assert alone
    for rows in (1, 3, 5):
        many = arrays(call(model, *state(model, rows)))
        assert [part.shape for part in many] == [(rows, *part.shape) for part in alone]
        for one, part in zip(alone, many, strict=True):
            assert_same(part, np.broadcast_to(one, part.shape), CANCELLING)


@pytest.mark.parametrize("option", ["tau", "wheels", "motors", "t", "wrenches"])
@pytest.mark.parametrize("rows", [1, 2])
def test_any_argument_with_rows_makes_a_batch(models, option, rows):
    model = models["craft"]
    q, v, _, _ = state(model)
    given = {"tau": np.zeros((rows, model.nv)), "wheels": np.zeros((rows, 1)), "motors": np.zeros((rows, 1)), "t": np.zeros(rows),
             "wrenches": {"bus": np.zeros((rows, 6))}}
    assert model.forward_dynamics(q, v, **{option: given[option]}).shape == (rows, model.nv)


def test_rows_of_accelerations_make_a_batch(models):
    model = models["tree"]
    q, v, a, _ = state(model)
    assert model.inverse_dynamics(q, v, a[None]).shape == (1, model.nv)
    assert model.reactions(q, v, a[None]).shape == (1, 2, 6)


def test_times_in_times_out(models):
    model = models["craft"]
    assert model.actuation(0.0).shape == (model.nv + 1,)
    assert model.actuation([0.0, 1.0]).shape == (2, model.nv + 1)
    assert model.motion(0.5)["drum.rz"].shape == (3,)
    assert model.motion([0.5, 0.6])["drum.rz"].shape == (3, 2)


@pytest.mark.parametrize("ask", [lambda m, q: m.freedom(q), lambda m, q: m.operators(q), lambda m, q: m.operation_counts(q=q)])
def test_what_is_asked_of_one_state_refuses_rows(models, ask):
    model = models["craft"]
    with pytest.raises(bough.StateError, match=f"give {model.nq} numbers"):
        ask(model, np.tile(model.q0, (2, 1)))
