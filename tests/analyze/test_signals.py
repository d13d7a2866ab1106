"""What outputs show: places and attitudes against poses, velocities and accelerations against their differences in time, the rest
against the analyses that know it.

A central difference over 2 h is off by h^2/6 of the third derivative, and by eps/h of the size of what is differenced: with
h = 1e-5 and numbers of order one to ten, by some 1e-9 to 1e-8.

Tolerances: 3e-7, thirty times the upper end of that, for the third derivatives of links that spin.
"""
import numpy as np
import pytest
from hypothesis import given
from scipy.spatial.transform import Rotation

import bough
from bough.describe.orientation import rotation_matrix
from bough.describe.parts.port import XYZ
from tests.support.compare import assert_same, solved
from tests.support.flexible_trees import moved, turning_nodes
from tests.support.random_systems import random_rotation, random_state, random_system
from tests.support.strategies import flexible_trees, looped, trees
from tests.support.tolerance import CANCELLING, FORMULA, PRODUCTS, SWEEP

H = 1e-5


def measured(system, rng):
    """The system with outputs of every kind at a random place of each body, and the places."""
    system, places = system.copy(), {}
    other = next(iter(system.bodies))
    for body in system.bodies.values():
        nodes = [None] if body.flexible is None else turning_nodes(body.flexible)
        if nodes:
            node = nodes[rng.integers(len(nodes))]
            places[body.name] = bough.Frame(body.name, at=rng.normal(size=3), orient=random_rotation(rng), node=node)
    rigid = system.bodies[other].flexible is None
    for name, place in places.items():
        for kind in ("position", "velocity", "angular_velocity", "acceleration", "felt_acceleration"):
            system.output(f"{kind} {name}", **{kind: place})
            system.output(f"{kind} {name} body", **{kind: place}, axes="body")
            if rigid:
                system.output(f"{kind} {name} other", **{kind: place}, axes=other, component="y")
        system.output(f"attitude {name}", attitude=place)
    return system, places


def rotations(quaternion):
    return Rotation.from_quat(quaternion).as_matrix()


def assert_consistent(system, q, v, rng):
    """Velocities are rates of places, accelerations rates of velocities; axes turn vectors; an accelerometer feels no gravity."""
    described, places = measured(system, rng)
    model = described.compile()
    seen, a = model.outputs(q, v), model.forward_dynamics(q, v)
    before, after = (model.outputs(moved(model, q, v + 0.5*h*a, h), v + h*a) for h in (-H, H))
    size = 1.0 + np.abs(v).max()**2 + np.abs(a).max()
    for name, place in places.items():
        turn, point = rotations(seen[f"attitude {name}"]), seen[f"position {name}"]
        pose = model.bodies(q).frame(bough.Frame(name, node=place.node))
        assert_same(turn, pose.attitude[0] @ rotation_matrix(place.orient), CANCELLING)
        assert_same(point, pose.position[0] + pose.attitude[0] @ place.at, CANCELLING, 1.0)
        rate = (after[f"position {name}"] - before[f"position {name}"])/(2*H)
        assert_same(seen[f"velocity {name}"], rate, 3e-7*size, 1.0)
        turns = rotations(after[f"attitude {name}"]) @ rotations(before[f"attitude {name}"]).T
        assert_same(seen[f"angular_velocity {name}"], Rotation.from_matrix(turns).as_rotvec()/(2*H), 3e-7*size, 1.0)
        rate = (after[f"velocity {name}"] - before[f"velocity {name}"])/(2*H)
        assert_same(seen[f"acceleration {name}"], rate, 3e-7*size, np.abs(rate).max() + size)
        assert_same(seen[f"felt_acceleration {name}"], seen[f"acceleration {name}"] - np.array(system.gravity), SWEEP, 10.0)
        for kind in ("position", "velocity", "angular_velocity", "acceleration", "felt_acceleration"):
            vector = seen[f"{kind} {name}"]
            assert_same(seen[f"{kind} {name} body"], turn.T @ vector, CANCELLING)
            if f"{kind} {name} other" in seen:
                other = model.pose(q, next(iter(system.bodies)))[1]
                assert_same(seen[f"{kind} {name} other"], (other.T @ vector)[1], CANCELLING, np.abs(vector).max())
    rows = model.outputs(np.tile(q, (5, 1)), v)
    for name, value in seen.items():
        assert_same(rows[name][3], value, solved(model, q), np.abs(value).max() + size)       # lanes round otherwise


@given(trees(size=5))
def test_trees(drawn):
    system, _, q, v, rng = drawn
    assert_consistent(system, q, v, rng)


@given(flexible_trees(size=4))
def test_flexible_bodies(drawn):
    system, _, q, v, rng = drawn
    assert_consistent(system, q, v, rng)


@given(looped(trees(size=5)))
def test_loops(drawn):
    """The accelerations are those of the closed system."""
    system, _, q, v, rng = drawn
    described, places = measured(system, rng)
    model = described.compile()
    a = model.forward_dynamics(q, v)
    bodies = model.bodies(q, v, a)
    for name, place in places.items():
        k = model.body_index(name)
        C, w, A = bodies.attitude[0, k], bodies.rate[0, k], bodies.acceleration[0, k]
        arm = C @ place.at
        expected = A[3:] + np.cross(A[:3], arm) + np.cross(w, np.cross(w, arm))
        assert_same(model.outputs(q, v, names=[f"acceleration {name}"])[f"acceleration {name}"], expected, CANCELLING,
                    np.abs(A).max())


def test_an_accelerometer_in_orbit_feels_thrust_only():
    """A body that turns about its mass center in orbit: there it feels thrust/mass, and nothing without."""
    s = bough.System("satellite", gravity=bough.CentralGravity(3.986004418e14, (7e6, 1e5, 0), (0, 7546, 100)))
    s.body("bus", joint=bough.Free(), mass=40.0, inertia=(3, 4, 5))
    s.input("thruster", force="bus")
    s.output("imu", felt_acceleration="bus", axes="body")
    s.output("off", felt_acceleration=bough.Frame("bus", at=(1, 0, 0)), axes="body")
    model = s.compile()
    v = np.array([0, 0, 0, 0, 0, 0.5])
    drift = 8.2*3*5/40/7e6**2*40                    # of gravity's gradient of second order: below rounding
    assert_same(model.outputs(model.q0, v)["imu"], np.zeros(3), FORMULA + drift, 8.2)
    seen = model.outputs(model.q0, v, inputs={"thruster": (1, 2, 3)})
    assert_same(seen["imu"], np.array([1, 2, 3])/40, CANCELLING, 8.2)
    gradient = 2*3.986004418e14/7e6**3              # felt as mass 1 m farther out
    assert abs(seen["off"][0] - (1/40 - 0.25)) < 3*gradient


def test_the_rest_is_what_analyses_say():
    rng = np.random.default_rng(3)
    s = random_system(rng, 6, massless=0.0)
    s.wheel("rw", body=next(iter(s.bodies)), axis="x", inertia=1e-4, speed=20.0)
    boom = bough.beam(4.0, EI=800, mass_per_length=1.5, modes=3)
    s.body("boom", parent=list(s.bodies)[-1], joint=bough.Revolute("y", damping=0.2), flexible=boom)
    s.line("stay", a="world", b=bough.Frame("boom", node="tip"), stiffness=50.0, length=0.5, damping=1.0)
    s.input("push", force=bough.Frame("boom", node="tip"), axes="world")
    joint = list(s.bodies)[2]
    tip = bough.Frame("boom", node="tip")
    for name, fields in {
            "E": {"energy": "total"}, "T": {"energy": "kinetic"}, "U": {"energy": "potential"}, "h": {"momentum": "angular"},
            "p": {"momentum": "linear"}, "pull": {"tension": "stay"}, "bend": {"deflection": tip},
            "bend world": {"deflection": tip, "axes": "world"}, "strain": {"strain_energy": "boom"}, "rw": {"wheel": "rw"},
            "angle": {"coordinate": "boom"}, "rate": {"rate": "boom"}, "mode": {"coordinate": "boom.mode2"},
            "load": {"load": joint}, "load world": {"load": joint, "axes": "world", "component": 4},
            "cut": {"load": ["boom"], "axes": "parent"}}.items():
        s.output(name, **fields)
    model, push = s.compile(), np.array([1.0, -2.0, 0.5])
    q, v = random_state(model, rng, 5)
    q[:, -3:], given = 0.05*q[:, -3:], {"inputs": {"push": push}, "wheels": [7.0]}
    seen, a = model.outputs(q, v, **given), model.forward_dynamics(q, v, **given)
    assert_same(seen["T"], model.kinetic_energy(q, v, wheels=[7.0]), PRODUCTS)
    assert_same(seen["U"], model.potential_energy(q), FORMULA)
    assert_same(seen["E"], seen["T"] + seen["U"], PRODUCTS)
    assert_same(np.hstack([seen["h"], seen["p"]]), model.momentum(q, v, wheels=[7.0]), PRODUCTS)
    assert_same(seen["pull"], model.element_forces(q, v)["stay"], PRODUCTS)
    assert_same(seen["rw"], np.full(5, 7.0), 0.0)
    assert_same(np.stack([seen["angle"], seen["mode"], seen["rate"]]), np.stack([q[:, -4], q[:, -2], v[:, -4]]), 0.0)
    loads = model.internal_loads(q, v, a, cut=joint, **given)
    assert_same(seen["load"], loads.values[:, 0], CANCELLING)
    assert_same(seen["load world"], model.internal_loads(q, v, a, cut=joint, axes="world", **given).values[:, 0, 4],
                CANCELLING)
    assert_same(seen["cut"], model.internal_loads(q, v, a, cut="boom", axes="parent", **given).values[:, 0], CANCELLING)
    bodies = model.bodies(q, v)
    tip, frame = bodies.node("boom", "tip"), bodies.frames
    k, place = model.body_index("boom"), boom.nodes.position[boom.nodes.index("tip")]
    away = tip.position - frame.position[:, k] - frame.attitude[:, k] @ place
    assert_same(seen["bend world"], away, SWEEP, 4.0)
    assert_same(np.einsum("bij,bj->bi", frame.attitude[:, k], seen["bend"]), away, SWEEP, 4.0)
    assert_same(seen["strain"], 0.5*np.einsum("br,rs,bs->b", q[:, -3:], boom.K, q[:, -3:]), FORMULA)
    assert s.outputs["h"].components == XYZ
    assert_same(model.outputs(q)["E"], model.potential_energy(q) + model.kinetic_energy(q, 0*v), PRODUCTS)     # no speeds: at rest


# ---- strain gauges ---------------------------------------------------------------------------------------------------------
EI, LENGTH, HEIGHT, WHERE = 160.0, 2.0, 0.01, 0.6


def cantilever(axis="x"):
    """A beam with a gauge on top of it, welded to the ground; its static shape under a force at the tip is among its modes."""
    beam = bough.beam(LENGTH, EI=(40.0, EI), mass_per_length=0.3, axis=axis, modes=2, static=["tip"], damping=0.5,
                      recover={"top": (WHERE, HEIGHT, 0.0), "side": (WHERE, 0.0, HEIGHT)})
    s = bough.System("cantilever")
    s.body("boom", flexible=beam)
    s.input("load", force=bough.Frame("boom", node="tip"))
    s.input("damper", force=bough.Frame("boom", node="tip"), axis="z")
    s.output("gauge", strain="boom.top", axis=axis, label="root gauge")
    s.output("sensor", strain="boom.top", axis=axis, noise=1e-6, quantum=1e-7)
    s.output("side", strain="boom.side")
    s.output("chosen", strain="boom.side", component=2*axis)
    return s


@pytest.mark.parametrize("axis", ["x", "z"])
def test_a_strain_gauge_shows_the_bending_moment(axis):
    """eps = -M y/EI under a small force at the tip, in the equilibrium that trim finds; linearized, it is the recovery itself."""
    model, force = cantilever(axis).compile(), 1e-6
    across = {"x": "y", "z": "x"}[axis]                                            # what the beam calls y
    load = {"load": [force*(each == across) for each in "xyz"]}
    held = model.trim(inputs=load)
    seen = model.outputs(held.q, inputs=load)
    assert seen["gauge"] == pytest.approx(-force*(LENGTH - WHERE)*HEIGHT/EI, rel=1e-9)      # of second order: 1e-6 of it, squared
    assert_same(seen["side"], np.zeros(6), 1e-9, abs(seen["gauge"]))                        # by symmetry, up to the same order
    gauges = model.system.bodies["boom"].elastic.recovery.strain[:, "xyz".index(axis)]
    linear = model.linearize(outputs=["gauge", "chosen"])
    assert_same(linear.C, np.hstack([gauges, 0*gauges]), SWEEP)
    assert not linear.D.any()
    assert linear.output_units == ("1", "1")


def test_a_strain_is_what_the_same_run_records(tmp_path):
    """In results, a Simulator, a batch, after saving; a sampled law sees it with noise and in steps, a compiled one without."""
    model, seen = cantilever().compile(), []

    @bough.law(outputs=["sensor"], inputs=["load"], period=0.01)
    def watch(t, y):
        seen.append(float(y["sensor"]))
        return {"load": (0.0, 1.0, 0.0)}

    @bough.controller(outputs=["gauge", "side"], inputs=["damper"])
    def damp(t, y, u):
        u[0] = 1e3*(y[0] + y[1])

    result = bough.simulate(model, until=0.1, dt=5e-4, sample_rate=100, laws=[watch, damp], seed=3,
                            record=["state", "strains", "inputs", "outputs"])
    saved = bough.open_result(result.save(tmp_path/"run.nc"))
    data = saved.data
    assert saved.model.names == model.names
    recorded = data.element_strain.sel(tensor="xx")
    gauge = data.outputs.sel(output="gauge")
    assert_same(gauge, recorded.sel(strained="boom.top"), FORMULA)
    assert_same(data.outputs.sel(output="chosen"), recorded.sel(strained="boom.side"), FORMULA)
    assert np.abs(gauge).max() > 1e-5
    assert_same(data.inputs.sel(input="damper"), 1e3*(gauge + recorded.sel(strained="boom.side")), CANCELLING)
    assert dict(zip(data.output.values, data.output_label.values, strict=True))["gauge"] == "root gauge"
    noise = np.array(seen[:10]) - gauge.values[:10]
    assert 1e-8 < np.abs(noise).max() < 6e-6                    # a hundredth of the standard deviation, and six of them
    assert_same(np.array(seen)/1e-7, np.round(np.array(seen)/1e-7), PRODUCTS)
    sim = bough.Simulator(model, dt=5e-4, q0=np.array([result.data.q.values[-1], 2*result.data.q.values[-1]]))
    assert_same(sim.y["gauge"], gauge.values[-1]*np.array([1.0, 2.0]), SWEEP)
    assert sim.y["side"].shape == (2, 6)


def test_bad_names():
    s = bough.System("pendulum")
    s.body("bob", joint=bough.Revolute("y"), mass=2.0, com=(0, 0, -1))
    s.output("angle", coordinate="bob")
    model = s.compile()
    with pytest.raises(bough.StateError, match="there is no output 'angel', did you mean 'angle'"):
        model.outputs([0.0], names=["angel"])
