"""Outputs inside a step, from the state alone, are what `Model.outputs` says: by another way, walking along paths."""
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given

import bough
from bough.flex.recovery import Recovery
from bough.kernels.lanes import ONE
from tests.support.compare import assert_same, solved
from tests.support.flexible_trees import turning_nodes
from tests.support.random_systems import random_rotation, random_state, random_system
from tests.support.strategies import flexible_trees, held, looped, trees
from tests.support.swept_outputs import swept
from tests.support.tolerance import CANCELLING, SWEEP


def measured(system, rng):
    """The system with outputs of all kinds that a law can see."""
    system, bodies = system.copy(), list(system.bodies.values())
    rigid = [body.name for body in bodies if body.flexible is None]
    for body in bodies:
        nodes = [None] if body.flexible is None else turning_nodes(body.flexible)
        if not nodes:
            continue
        node = nodes[rng.integers(len(nodes))]
        place = bough.Frame(body.name, at=rng.normal(size=3), orient=random_rotation(rng), node=node)
        other = bough.Frame(rigid[rng.integers(len(rigid))], orient=random_rotation(rng)) if rigid else None
        for kind in ("position", "velocity", "angular_velocity", "attitude"):
            for axes in {None, "body" if kind != "attitude" else None, other}:
                system.output(f"{kind} {len(system.outputs)}", **{kind: place}, axes=axes)
            system.output(f"{kind} y {body.name}", **{kind: place}, component="y")
        if node is not None:
            tip = bough.Frame(body.name, node=node)
            system.output(f"bend {body.name}", deflection=tip)
            system.output(f"bend {body.name} world", deflection=tip, axes="world")
        if body.n_modes:
            system.output(f"energy {body.name}", strain_energy=body.name)
            none = np.zeros((0, 6, body.n_modes))
            gauges = Recovery(np.array(["a", "b"]), none, rng.normal(size=(2, 6, body.n_modes)), none, none)
            system.bodies[body.name] = body.model_copy(update={"flexible": replace(body.elastic, recovery=gauges)})
            system.output(f"strain {body.name}", strain=f"{body.name}.b")
            system.output(f"shear {body.name}", strain=f"{body.name}.a", component="xy")
            system.output(f"gauge {body.name}", strain=f"{body.name}.a", axis=rng.normal(size=3))
        if body.n_v:
            system.output(f"q {body.name}", coordinate=body.coordinate_names[-1])
    for energy in ("kinetic", "potential", "total"):
        system.output(energy, energy=energy)
    for momentum in ("angular", "linear"):
        system.output(momentum, momentum=momentum)
        system.output(f"{momentum} there", momentum=momentum, axes=rigid[0] if rigid else None, component="y")
    return system


def assert_outputs(system, q, v, rng, **options):
    model = measured(system, rng).compile()
    names = [name for name, place in model.tables.outputs.items() if not place.problem]
    assert names or not model.system.outputs
    q, v = np.tile(q, (5, 1)), np.tile(v, (5, 1))*np.linspace(1.0, 0.0, 5)[:, None]
    batch = model.batch(q, v, **options)
    q, v = (model.state(batch.x).q, model.state(batch.x).v)
    found, expected = swept(model, batch, names), model.outputs(q, v, names=names, **options)
    expected = np.column_stack([expected[name] for name in names]) if names else np.zeros((5, 0))
    assert_same(found, expected, solved(model, q))
    assert_same(swept(model, batch, names, ONE), found, SWEEP)             # sums may be fused in other ways


@given(trees())
def test_trees(drawn):
    system, _, q, v, rng = drawn
    assert_outputs(system, q, v, rng)


@given(flexible_trees())
def test_flexible_bodies(drawn):
    system, _, q, v, rng = drawn
    assert_outputs(system, q, v, rng)


@given(looped(trees(size=5)))
def test_loops(drawn):
    system, _, q, v, rng = drawn
    assert_outputs(system, q, v, rng)


@given(held(trees()))
def test_held_coordinates(drawn):
    system, model, q, v, rng = drawn
    q, v = model.follow(q, v, 0.3)
    assert_outputs(system, q, v, rng, t=0.3)


def test_in_orbit():
    rng = np.random.default_rng(5)
    system = random_system(rng, 6, root="free", massless=0.0)
    system.gravity = bough.CentralGravity(3.986004418e14, (7e6, 0, 0), (0, 7546, 0))
    assert_outputs(system, *random_state(system.compile(), rng), rng)


def test_lines_and_wheels():
    """Tensions are found without the slots that they fill on the way; wheel speeds are entries of the state."""
    s = bough.System("crane", gravity=(0, 0, -9.81))
    s.body("bus", joint=bough.Free(), mass=10.0, inertia=(1, 2, 3))
    s.body("boom", parent="bus", joint=bough.Universal("yz"), mass=4.0, com=(1, 0, 0), inertia=(0.1, 1, 1))
    tip = bough.Frame("boom", at=(2, 0, 0))
    s.line("stay", a=bough.Frame("bus", at=(0, 0, 1)), b=tip, stiffness=300.0, length=0.4, damping=2.0)
    s.line("mooring", a="world", b=bough.Frame("boom", at=(1, 0, 0)), stiffness=30.0, length=0.4)
    s.wheel("rw", body="bus", axis="x", inertia=0.02, speed=30.0, torque=0.0)
    for line in s.lines:
        s.output(line, tension=line)
    s.output("rw", wheel="rw")
    s.input("winch", rest="mooring")
    s.output("tip", position=tip, axes="bus")
    s.output("imu", felt_acceleration="bus")
    s.output("E", energy="total")
    s.output("h", momentum="angular")
    model = s.compile()
    places = model.tables.outputs
    assert places["mooring"] == ((), False, "tension depends on the inputs at the same time")
    assert places["imu"].problem == "felt_acceleration depends on the inputs at the same time"
    assert [places[name].swept for name in ("stay", "rw", "tip", "E", "h")] == [True, False, True, True, True]
    q, v = random_state(model, np.random.default_rng(1), 5)
    names = ["stay", "rw", "tip", "E", "h"]
    expected = model.outputs(q, v, names=names)
    batch = model.batch(q, v)
    assert_same(swept(model, batch, names), np.column_stack([expected[name] for name in names]), CANCELLING)
    before = model.forward_dynamics(q, v)
    swept(model, batch, names)                               # what it leaves in ws does not matter to what comes after
    assert np.array_equal(model.forward_dynamics(q, v), before)


@pytest.mark.parametrize("degrees", [0.0, 60.0, 179.9, 180.0, 200.0, 359.0])
def test_quaternions_of_all_turns(degrees):
    s = bough.System("dial")
    s.body("hand", joint=bough.Revolute((1, 2, 2)), mass=1.0, inertia=(1, 1, 1))
    s.output("attitude", attitude="hand")
    model = s.compile()
    angle = np.radians(degrees)
    batch = model.batch([angle], [0.0])
    found = swept(model, batch, ["attitude"])[0]
    expected = np.append(np.sin(angle/2)*np.array([1, 2, 2])/3, np.cos(angle/2))
    assert_same(found, expected*np.sign(expected[3] + 1e-9), CANCELLING)


def test_energies_that_are_not_found_inside_a_step():
    s = bough.System("orbit", gravity=bough.CentralGravity(3.986004418e14, (7e6, 0, 0), (0, 7546, 0)))
    s.body("bus", joint=bough.Free(), mass=10.0, inertia=(1, 2, 3))
    gate = bough.System("gate")
    gate.body("leaf", joint=bough.Revolute("z"), mass=1.0, com=(1, 0, 0), inertia=(1, 1, 1))
    gate.stop("post", coordinate="leaf.rz", above=1.0, stiffness=1e3)
    for system, what in ((s, "central gravity"), (gate, "stops")):
        for energy in ("kinetic", "potential", "total"):
            system.output(energy, energy=energy)
        problems = {name: place.problem for name, place in system.compile().tables.outputs.items()}
        assert not problems["kinetic"]
        assert problems["total"] == f"the total energy of a system with {what} is not found inside a step"


def test_what_is_fixed_to_the_ground_counts_in_the_mass_center():
    s = bough.System("rig", gravity=(0, 0, -9.81))
    s.body("stand", mass=3.0, com=(1, 2, 3))
    s.body("arm", parent="stand", joint=bough.Revolute("y"), mass=2.0, com=(0.5, 0, 0), inertia=(0.1, 0.1, 0.1))
    s.output("E", energy="potential")
    s.output("h", momentum="angular")
    model = s.compile()
    batch = model.batch([0.7], [3.0])
    expected = model.outputs([0.7], [3.0])
    assert_same(swept(model, batch, ["E", "h"])[0], np.append(expected["E"], expected["h"]), SWEEP)
