"""Results of systems with closed loops: forces and gaps of loops, reactions beside them, singular configurations, the example."""

import doctest
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

import bough
import bough.results.quantities
import bough.results.singular
from bough.files import examples
from bough.results import singular
from bough.results.audit import external_effects, nonconservative_effects
from bough.results.panels import MOST_ROWS
from bough.results.quantities import RECORDS
from tests.support.result_runs import pendulum
from tests.support.tolerance import CANCELLING, CLOSED, PRODUCTS, SWEEP, refined

FORCES = RECORDS["loops"].quantities


@pytest.mark.parametrize("module", [bough.results.quantities, bough.results.singular])
def test_docstrings(module):
    assert doctest.testmod(module).failed == 0


# ---- systems --------------------------------------------------------------------------------------------------------
def rod(length, mass=1.0, axis="x"):
    along = np.eye(3)["xyz".index(axis)]
    return {"mass": mass, "com": along * length / 2, "inertia": mass * np.where(along, 0.01, length**2 / 12)}


@cache
def craft():
    """A satellite with two wheels and a four-bar whose coupler bends."""
    s = bough.System("craft")
    s.body("bus", joint=bough.Free(v0=(0, 0, 0, 0.1, 0.2, -0.1)), mass=20, inertia=(3, 4, 5))
    s.body("crank", parent="bus", at=(0.5, 0, 0), joint=bough.Revolute("y", q0=-1.1, damping=0.3, torque=0.4), **rod(0.4))
    boom = bough.beam(1.0, EI=300.0, GJ=100.0, mass_per_length=1.0, polar_inertia=0.01, modes=4)
    s.body("coupler", parent="crank", at=(0.4, 0, 0), joint=bough.Revolute("y", q0=0.75), flexible=boom)
    s.body("rocker", parent="bus", at=(1.4, 0, 0), joint=bough.Revolute("y", q0=-1.2, stiffness=3, rest=-1), **rod(0.8, 1.5))
    s.loop("pin", joint=bough.Revolute("y"), a=bough.Frame("coupler", node="tip"), b=bough.Frame("rocker", at=(0.8, 0, 0)))
    s.wheel("driven", body="bus", axis="z", inertia=0.02, speed=50.0, torque=0.1)
    s.wheel("held", body="rocker", axis="x", inertia=0.01, speed=200.0)
    return s.compile()


def push(t, q, v, wheels):
    return {"crank": 2.0 * np.sin(5 * t)}


@cache
def craft_run(dt=1e-3):
    return bough.simulate(craft(), until=0.5, dt=dt, sample_rate=100, control=push, stabilize=100.0,
                          record=["state", "loops", "reactions", "acceleration", "torque", "wheels"])  # fmt: skip


def windows(n, closing="revolute"):
    """n squares of uniform rods of 1 m in a row, that lean over as one; singular where all rods lie flat."""
    s = bough.System("windows", gravity=(0, 0, -9.81))
    for i in range(n + 1):
        s.body(f"v{i}", at=(i, 0, 0), joint=bough.Revolute("y", v0=1.0), **rod(1.0, axis="z"))
        if i < n:
            s.body(f"h{i}", parent=f"v{i}", at=(0, 0, 1), joint=bough.Revolute("y", v0=-1.0), **rod(1.0))
    joint = {"revolute": bough.Revolute("y"), "spherical": bough.Spherical()}[closing]
    for i in range(n):
        s.loop(f"b{i + 1}", joint=joint, a=bough.Frame(f"h{i}", at=(1, 0, 0)), b=bough.Frame(f"v{i + 1}", at=(0, 0, 1)))
    return s


@cache
def window_run(n=1):
    return bough.simulate(windows(n), until=1.0, dt=1e-3, sample_rate=50)


# ---- data -----------------------------------------------------------------------------------------------------------
def test_loops_are_recorded_without_asking_with_names_and_units():
    data = window_run(2).data
    assert data.constraint_force.dims == ("time", "loop", "component")
    assert data.loop_gap.dims == data.loop_gap_angle.dims == ("time", "loop")
    assert list(data.loop.values) == ["b1", "b2"]
    for name, meaning in FORCES.items():
        assert data[name].attrs == {"units": meaning.units, "long_name": meaning.long_name}


def test_nothing_of_loops_is_said_of_a_tree():
    result = bough.simulate(pendulum(), until=0.1, dt=1e-2)
    assert "loops" not in result.facts.record
    assert "loop" not in result.summary
    with pytest.raises(bough.StateError, match="record: 'loops', but system 'pendulum' has no loops"):
        bough.simulate(pendulum(), until=0.1, dt=1e-2, record="loops")
    for what in ("loops", "loop_gap"):
        with pytest.raises(bough.StateError, match="has no loops"):
            result.plot(what)


def test_forces_and_gaps_are_what_the_model_says_state_by_state():
    """Under the torques in force: of the description, of the controller, of the wheels' motors."""
    data, model = craft_run().data, craft()
    assert float(abs(data.joint_torque.sel(v_name="crank.ry") - 0.4).max()) > 1.0
    for sample in (0, 20, 50):
        row = data.isel(time=sample)
        tau = row.joint_torque.values - model.actuation(row.time.item())[: model.nv]
        forces = model.constraint_forces(row.q, row.v, tau, wheels=row.wheel_speed, t=row.time.item())
        np.testing.assert_allclose(row.constraint_force.sel(loop="pin"), forces["pin"], atol=CANCELLING)
        gaps = model.loop_gaps(row.q.values)["pin"]
        assert row.loop_gap.item() == pytest.approx(np.abs(gaps[:3]).max(), abs=PRODUCTS)
        assert row.loop_gap_angle.item() == pytest.approx(np.abs(gaps[3:]).max(), abs=PRODUCTS)
    assert 0.0 < float(data.loop_gap.max()) < refined(float(craft_run(2e-3).data.loop_gap.max()))  # half the step
    assert float(abs(data.constraint_force).max()) > 0.1


def test_a_body_that_hangs_on_a_loop_pulls_with_its_weight():
    s = bough.System("lamp", gravity=(0, 0, -9.81))
    s.body("lamp", joint=bough.Free(), mass=3.0, inertia=(0.1, 0.2, 0.3))
    downward = bough.Frame("lamp", at=(0, 0, 1), orient=(1, 0, 0, 0))                     # turned by pi about x
    s.loop("hook", joint=bough.Spherical(), a=bough.Frame("world", at=(0, 0, 1)), b=downward)
    data = bough.simulate(s, until=0.1, dt=1e-2).data
    weight = np.broadcast_to([0, 0, 0, 0, 0, -3 * 9.81], data.constraint_force[:, 0].shape)          # on b, in the axes of b
    np.testing.assert_allclose(data.constraint_force.sel(loop="hook"), weight, rtol=0, atol=SWEEP*np.abs(weight).max())


def test_the_reaction_of_a_joint_beside_a_loop_has_no_moment_about_its_axis_but_that_of_its_spring_and_motor():
    """A revolute joint passes its spring, damper and motor about its axis, whatever the loop pulls; a free one passes nothing."""
    data = craft_run().data
    q, v, tau = (lambda name, a=a, d=d: a.sel({d: name}) for a, d in
                 ((data.q, "q_name"), (data.v, "v_name"), (data.joint_torque, "v_name")))  # fmt: skip
    moment, rounded = data.reaction.sel(component="my"), CANCELLING*float(np.abs(data.reaction).max())
    np.testing.assert_allclose(moment.sel(body="crank"), tau("crank.ry") - 0.3 * v("crank.ry"), atol=rounded)
    np.testing.assert_allclose(moment.sel(body="rocker"), -3 * (q("rocker.ry") + 1), atol=rounded)
    np.testing.assert_allclose(moment.sel(body="coupler"), 0.0, atol=rounded)
    np.testing.assert_allclose(data.reaction.sel(body="bus"), 0.0, atol=rounded)


def test_a_gap_is_found_where_it_is():
    """The second upright turned by 0.01 rad: its tip leaves the bar by 2 sin(0.005), and its axis stays parallel."""
    whole = window_run().trajectory
    x = whole.x.copy()
    x[0, 30, 2] += 0.01
    result = bough.Result(replace(whole, x=x))
    gap = result.data.loop_gap.sel(loop="b1")
    assert int(gap.values.argmax()) == 30
    assert float(gap.max()) == pytest.approx(0.01, rel=0.3)               # the larger component
    assert float(result.data.loop_gap_angle.max()) == 0.0
    assert f"largest gap {float(gap.max()):.1e} m, 0 rad" in result.summary


def test_samples_that_are_not_finite_stay_so():
    whole = window_run().trajectory
    x = np.concatenate([whole.x, whole.x])
    x[1, 40:] = np.nan
    result = bough.Result(replace(whole, x=x, u=np.concatenate([whole.u] * 2), batched=True))
    assert np.isfinite(result.data.constraint_force[0]).all()
    assert np.isfinite(result.data.constraint_force[1, :40]).all()
    assert np.isnan(result.data.constraint_force[1, 40:]).all()
    assert "largest gap" in result.summary


# ---- singular configurations ----------------------------------------------------------------------------------------
def turning(n, times, angle):
    """Windows that turn as one: the uprights by an angle, the bars back by it."""
    system = windows(n)
    signs = np.array([1.0 if name[0] == "v" else -1.0 for name in system.bodies])
    return singular.find_on_path(system.compile(), times, angle[:, None] * signs)


@pytest.mark.parametrize("samples", [25, 101, 1000])
@pytest.mark.parametrize("n", [1, 3])
def test_flat_windows_are_singular_whether_a_sample_meets_them_or_not(n, samples):
    """They turn once around in 2 s: flat at 0.5 and 1.5 s, where the equations along the links say nothing."""
    times = np.linspace(0, 2, samples)
    first, second = turning(n, times, np.pi * times)
    step = times[1]
    assert first.time == pytest.approx(0.5, abs=step / 500)
    assert second.time == pytest.approx(1.5, abs=step / 500)
    assert first[1:3] == second[1:3] == (n, 2 * n)


def test_a_dip_that_stays_off_zero_is_not_singular():
    times = np.linspace(0, 2, 41)
    assert turning(1, times, 1.4 * np.sin(np.pi * times)) == []          # turns back 0.17 rad before it is flat
    assert len(turning(1, times, 1.6 * np.sin(np.pi * times))) == 4       # goes through and comes back, twice


def test_staying_in_a_singular_configuration_for_a_while_counts_once():
    times = np.linspace(0, 4, 201)
    found = turning(1, times, np.pi / 2 * np.clip(times, 0, 1) + np.pi / 2 * np.clip(times - 2, 0, 1.5))
    assert len(found) == 1
    assert 1.0 - 0.01 <= found[0].time <= 2.01


def test_one_equation_that_vanishes_is_singular():
    """A rod between a crank's tip and the ground says nothing where it lies along the crank."""
    s = bough.System("two cranks")
    s.body("one", joint=bough.Revolute("y"), **rod(1.0))
    s.body("two", parent="one", at=(1, 0, 0), joint=bough.Revolute("y"), **rod(1.0))
    s.loop("rod", joint=bough.Distance(1.0), a="world", b=bough.Frame("two", at=(1, 0, 0)))
    times = np.linspace(0, 1, 20)
    (found,) = singular.find_on_path(s.compile(), times, np.stack([times, 1.0 - 2 * times], axis=1))       # straight at 0.5 s
    assert found[1:3] == (1, 1)
    grid = 2/19*(2/(singular.POINTS - 1))**(singular.ROUNDS - 1)/(singular.POINTS - 1)        # of the last round of the search
    assert found.time == pytest.approx(0.5, abs=grid)


def test_a_run_says_when_it_passes_a_singular_configuration(tmp_path):
    result = window_run()
    angle = result.data.q.sel(q_name="v0.ry")
    flat = np.interp(np.pi / 2, angle, result.time)
    bend = np.abs(np.diff(angle, 2)).max() / 8 / np.abs(np.diff(angle)).min() * 0.02  # of straight lines between samples
    (found,) = singular.from_attrs(result.data.attrs)
    assert found.time == pytest.approx(flat, abs=bend)
    text = f"passes a singular configuration near t = {found.time:.5g} s: the loops lose 1 of 2 independent equations there"
    assert text in result.summary
    saved = bough.open_result(result.save(tmp_path / "out.nc"))
    assert saved.summary == result.summary
    assert singular.from_attrs(saved.data.attrs) == [found]
    np.testing.assert_array_equal(saved.data.constraint_force, result.data.constraint_force)
    assert text in bough.simulate(windows(1), until=1.0, dt=1e-3, sample_rate=50, record=["state"]).summary


@pytest.mark.parametrize("parameter", [{"v1.mass": [1.0, 1.0, 2.0]}, {"v1.at": [(1.0, 0, 0), (1.4, 0, 0), (1.0, 0, 0)]}])
def test_a_batch_says_which_runs_pass_one(parameter):
    """The second does not move enough: from rest in balance, or because its squares are trapezia."""
    model = windows(1).compile()
    v0 = np.array([[1.0, -1.0, 1.0], [0.0, 0.0, 0.0], [3.0, -3.0, 3.0]])
    result = bough.simulate(model, q0=np.zeros((3, 3)), v0=v0, parameters=parameter, until=0.9, dt=1e-3)
    found = singular.from_attrs(result.data.attrs)
    assert {passage.run for passage in found} == {0, 2}
    assert "2 of 3 runs pass singular configurations; run 0 passes" in result.summary
    assert result.data.constraint_force.dims == ("run", "time", "loop", "component")


def test_a_mechanism_without_singular_configurations_says_nothing():
    assert not any("singular" in key for key in craft_run().data.attrs)
    assert "singular" not in craft_run().summary


# ---- summaries and figures ------------------------------------------------------------------------------------------
def test_what_loops_do_to_energy_and_momentum():
    s = bough.System("floating")
    s.body("bus", joint=bough.Free(), mass=1, inertia=(1, 1, 1))
    s.body("arm", parent="bus", joint=bough.Revolute("y"), **rod(1.0))
    s.loop("grip", joint=bough.Cylindrical("y", damping=0.1, torque=(1.0, 0.0)), a="bus", b="arm")
    assert nonconservative_effects(s, controlled=False) == ["dampers", "joint torques"]
    assert external_effects(s, base_pushed=False) == []
    s.loop("dock", joint=bough.Spherical(), a="world", b="bus")
    assert external_effects(s, base_pushed=False) == ["a loop to the world"]


def test_the_summary_says_what_closing_the_loops_changed():
    model = windows(1).compile()
    result = bough.simulate(model, q0=[0.0, 0.05, 0.0], until=0.1, dt=1e-3)
    assert "to close the loops q of 'h0.ry' was changed by 0.0" in result.summary
    assert "was changed" not in bough.simulate(model, until=0.1, dt=1e-3).summary


def test_figures_have_forces_moments_where_there_are_and_gaps_by_decades():
    force, moment, *_ = window_run().plot("loops").axes
    assert (force.get_ylabel(), moment.get_ylabel()) == ("[N]", "[N m]")
    assert len(force.lines) == len(moment.lines) == 3
    *_, distance, angle = window_run(2).plot("loops").axes
    assert (distance.get_ylabel(), angle.get_ylabel()) == ("[m]", "[rad]")
    assert distance.get_yscale() == "log"
    assert [text.get_text() for text in angle.get_legend().get_texts()] == ["b1", "b2"]


def test_loops_that_hold_no_rotation_have_no_moments():
    result = bough.simulate(windows(1, "spherical"), until=0.1, dt=1e-2)
    figure = result.plot("loops")
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["b1: force on b, b's axes", "gap of translations"]
    assert figure.axes[0].get_position().width > 0.5                     # no room is left for what is not there
    said = result.summary.partition("largest gap")[2].partition("\n")[0]
    assert said.endswith(" m")


@pytest.mark.filterwarnings("error")
def test_very_many_loops_are_cut_and_the_title_says_so():
    result = bough.simulate(windows(20), until=0.1, dt=1e-2)
    figure = result.plot("loops")
    assert len([axes for axes in figure.axes if "gap" not in axes.get_title(loc="left")]) == 2 * MOST_ROWS
    assert f"the first {MOST_ROWS} of 20 rows" in figure.get_suptitle()
    assert sum(len(axes.lines) for axes in figure.axes if "gap" in axes.get_title(loc="left")) == 2 * 20
    assert sum(len(axes.lines) for axes in result.plot("loop_gap").axes) == 20


# ---- the example ----------------------------------------------------------------------------------------------------
def test_the_antenna_deploys_and_the_satellite_keeps_its_momenta():
    coarse, data = (bough.simulate(bough.load(examples()["deployment"]), dt=dt).data for dt in (1e-2, 5e-3))
    crank = data.q.sel(q_name="crank.ry")
    assert float(crank[0]) == -1.3
    assert float(crank[-1]) == pytest.approx(1.1, abs=2.4 * np.exp(-10 * 5 / 8))  # of 2.4 rad, in 10 s, spring 5, damper 8
    assert float(data.loop_gap.max()) < CLOSED
    assert not any("singular" in key for key in data.attrs)
    for name in ("angular_momentum", "linear_momentum"):
        assert float(abs(data[name]).max()) < refined(float(abs(coarse[name]).max()))  # half the step
    assert float(data.q.sel(q_name="bus.qy")[-1]) < -0.2                  # it turned against the antenna
    assert float(data.total_energy.diff("time").max()) < 0.0
