"""Figures: every curve is there, with its unit, and no legend lies on a curve."""

import numpy as np
import pytest

import bough
from bough.results.panels import MOST_ROWS, MOST_SAMPLES, Panel, PanelRow, draw, groups
from tests.support.result_runs import antenna_run, craft, craft_run, pendulum, pendulum_batch
from tests.support.tolerance import CANCELLING


@pytest.mark.parametrize("what", ["state", "energy", "momentum", "wheels", "reactions", "pose", "torque", "velocity",
                                  "acceleration", "center_of_mass", "q", "reaction", "attitude"])
def test_figures_have_units_and_times(what):
    figure = craft_run().plot(what)
    assert figure.axes
    for axes in figure.axes:
        assert axes.get_ylabel().startswith("[")
        assert axes.get_title(loc="left")
        assert axes.lines
        assert axes.get_xlim() == (0.0, 2.0)
    assert any(axes.get_xlabel() == "time [s]" for axes in figure.axes)


def test_legends_stand_beside_their_panel():
    figure = craft_run().plot("state")
    figure.canvas.draw()
    legends = [(axes, axes.get_legend()) for axes in figure.axes if axes.get_legend()]
    assert legends
    for axes, legend in legends:
        assert legend.get_window_extent().x0 >= axes.get_window_extent().x1
        assert legend.get_window_extent().x1 <= figure.bbox.x1


def test_every_coordinate_is_drawn_once():
    figure = craft_run().plot("state")
    model = craft_run().trajectory.model
    assert sum(len(axes.lines) for axes in figure.axes) == model.nq + model.nv
    for system in (craft_run().system, chain(5)):
        entries = [i for group in groups(system) for i in group.q]
        assert entries == list(range(sum(body.joint.n_q for body in system.bodies.values())))


def chain(n):
    s = bough.System("chain")
    for i in range(n):
        s.body(f"link{i}", parent=f"link{i - 1}" if i else None, joint=bough.Spherical(), at=(0, 0, -1), mass=1, inertia=(1, 1, 1))
    return s


def test_single_joints_of_a_limb_share_a_panel():
    s = bough.System("arm")
    s.body("base", joint=bough.Free(), mass=1, inertia=(1, 1, 1))
    for side in ("l", "r"):
        for i in range(3):
            s.body(f"{side}{i}", parent=f"{side}{i - 1}" if i else "base", joint=bough.Revolute(), mass=1, inertia=(1, 1, 1))
    assert [group.labels for group in groups(s)] == [["x", "y", "z"], list("xyzw"), ["l0", "l1", "l2"], ["r0", "r1", "r2"]]


def test_very_many_panels_are_cut_and_the_title_says_so():
    figure = bough.simulate(chain(30), until=0.1, dt=0.05).plot("state")
    assert len(figure.axes) == 2 * MOST_ROWS
    assert f"the first {MOST_ROWS} of 30 rows" in figure.get_suptitle()


def test_energy_change_starts_at_zero_in_its_own_panel():
    energy, change = bough.simulate(pendulum(), until=1.0, dt=1e-3).plot("energy").axes
    assert len(energy.lines) == 3
    assert change.lines[0].get_ydata()[0] == 0.0


def test_tiny_and_huge_values_count_in_powers_of_ten():
    figure = craft_run().plot("momentum")
    drift = figure.axes[1]
    assert drift.get_ylabel().startswith("[1e-")
    assert np.abs(drift.lines[0].get_ydata()).max() < 1e3


def test_batches_show_median_and_band():
    figure = pendulum_batch().plot("state")
    assert len(figure.axes[0].collections) == 1
    np.testing.assert_allclose(figure.axes[0].lines[0].get_ydata(), np.median(pendulum_batch().data.q[:, :, 0], axis=0))
    assert "median" in figure.get_suptitle()


def test_long_histories_keep_their_extremes():
    """A spike of one sample in a hundred thousand is still there, in a curve that is quick to draw."""
    time, curve = np.linspace(0.0, 10.0, 100_000), np.zeros(100_000)
    curve[54_321], curve[-1] = 7.0, -3.0
    for values, batched in ((curve[:, None], False), (np.stack([curve, curve])[..., None], True)):
        line = draw("spike", time, [[PanelRow([Panel("spike", "m", values)], [])]], batched=batched).axes[0].lines[0]
        assert len(line.get_xdata()) == MOST_SAMPLES
        assert (line.get_ydata().max(), line.get_ydata()[-1], line.get_xdata()[-1]) == (7.0, 0.0, 10.0)
        assert line.get_ydata().min() == -3.0
        assert line.get_xdata()[line.get_ydata().argmax()] == pytest.approx(time[54_321], abs=10.0 / (MOST_SAMPLES / 2))


def test_reactions_are_derived_where_they_were_not_recorded():
    """A bob at rest: the joint carries its weight."""
    result = bough.simulate(pendulum(), q0=[0.0], until=0.1, dt=0.01, record=["state"])
    moment, force = result.plot("reactions").axes
    assert "reaction" not in result.data
    assert (moment.get_ylabel(), force.get_ylabel()) == ("[N m]", "[N]")
    np.testing.assert_allclose(force.lines[2].get_ydata(), 2.0 * 9.81, rtol=CANCELLING)


def test_all_figures_are_written(tmp_path):
    paths = craft_run().plots(tmp_path / "figures", prefix="craft-")
    names = {path.name for path in paths}
    assert {"craft-state.png", "craft-reactions.png", "craft-pose.png", "craft-wheels.png"} <= names
    assert all(path.read_bytes().startswith(b"\x89PNG") for path in paths)


def test_a_saved_result_draws_the_same(tmp_path):
    saved = bough.open_result(craft_run().save(tmp_path / "out.nc"))
    fresh, again = craft_run().plot("reactions"), saved.plot("reactions")
    assert len(fresh.axes) == len(again.axes)
    np.testing.assert_array_equal(fresh.axes[0].lines[0].get_ydata(), again.axes[0].lines[0].get_ydata())


def test_unknown_figures_are_named():
    with pytest.raises(bough.StateError, match="there is no 'stat', did you mean 'state'"):
        craft_run().plot("stat")
    with pytest.raises(bough.StateError, match="has no flexible bodies"):
        craft_run().plot("nodes")
    with pytest.raises(bough.StateError, match="has no wheels"):
        bough.simulate(pendulum(), until=0.1, dt=0.1).plot("wheels")


def test_any_variable_can_be_drawn_with_its_names_and_units():
    """A row for each body and unit, with a curve for each component; what stands alone is named in its title."""
    reactions = craft_run().plot("reaction").axes
    titles = [(axes.get_title(loc="left"), "m]" in axes.get_ylabel(), len(axes.lines)) for axes in reactions]
    assert titles == [(f"{name}: reaction", moment, 3) for moment in (True, False) for name in craft().names.bodies]
    assert [axes.get_title(loc="left") for axes in craft_run().plot("q").axes][-1] == "hinge.ry: q"
    np.testing.assert_array_equal(craft_run().plot("total_energy").axes[0].lines[0].get_ydata(), craft_run().data.total_energy)


def test_shapes_are_left_to_the_replay():
    with pytest.raises(bough.StateError, match=r"no figure of 'outline'; the replay shows it: result.view\(\)"):
        antenna_run().plot("outline")
