"""Results of flexible bodies: modal coordinates, nodes, strain, shapes; in data, files, figures and the summary."""

import doctest
from typing import get_args

import numpy as np
import pytest
import xarray
from scipy.spatial.transform import Rotation

import bough
import bough.results.evaluation
from bough.describe.settings import Quantity
from bough.flex.flexible_body import displacements, rotations
from bough.results.audit import external_effects, nonconservative_effects
from bough.results.panels import MOST_CURVES, groups
from bough.results.quantities import RECORDS
from bough.results.recorded_parts import outermost
from tests.support.result_runs import antenna, antenna_run, pendulum
from tests.support.tolerance import CANCELLING, PRODUCTS, SWEEP, refined

BOOM, MAST = ("boom.root", "boom.tip", "boom.middle"), ("mast.root", "mast.tip")


def test_docstrings():
    assert doctest.testmod(bough.results.evaluation).failed == 0


def test_a_description_names_the_same_records():
    assert get_args(Quantity) == tuple(RECORDS)


# ---- data -----------------------------------------------------------------------------------------------------------
def test_modal_coordinates_have_names_and_units():
    data = antenna_run().data
    assert list(data.q_name.values) == list(antenna().names.q)
    assert data.q.sel(q_name="boom.mode1").isel(time=0).item() == 0.06
    assert data.q_unit.sel(q_name="boom.mode4").item() == "m kg^0.5"
    assert data.v_unit.sel(v_name="mast.mode1").item() == "m kg^0.5/s"
    assert data.q_unit.sel(q_name="hinge.ry").item() == data.q_unit.sel(q_name="dish.rx").item() == "rad"
    run = bough.simulate(antenna(), until=0.02, dt=1e-3, record=["torque", "acceleration"]).data
    assert run.torque_unit.sel(v_name="boom.mode1").item() == "N kg^-0.5"
    assert run.a_unit.sel(v_name="boom.mode1").item() == "m kg^0.5/s^2"


def test_nodes_strain_and_shapes_are_what_the_model_says():
    data, model = antenna_run().data, antenna()
    assert list(data.node.values) == [*MAST, *BOOM]                     # in the order of the description, not of the tree
    assert list(data.node_body.values) == ["mast"] * 2 + ["boom"] * 3
    for sample in (0, 40, 100):
        row = data.isel(time=sample)
        seen = model.bodies(row.q.values, row.v.values)
        for node in row.node.values:
            told = seen.node(*node.split("."))
            np.testing.assert_allclose(row.node_position.sel(node=node), told.position[0], atol=SWEEP)
            np.testing.assert_allclose(row.node_velocity.sel(node=node), told.velocity[0], atol=SWEEP)
            np.testing.assert_allclose(matrix(row.node_attitude.sel(node=node)), told.attitude[0], atol=SWEEP)
        np.testing.assert_allclose(row.strain_energy, seen.strain_energy[0], atol=PRODUCTS)
        outline = np.concatenate([seen.shape("mast")[0], seen.shape("boom")[0]])
        np.testing.assert_allclose(row.outline, outline, atol=SWEEP)


def matrix(quaternion):
    return Rotation.from_quat(quaternion).as_matrix()


@pytest.mark.parametrize("body", ["boom", "mast"])
def test_deflections_are_what_the_frames_of_the_nodes_show(body):
    """Position and attitude of a node in the frame that the body deforms in, less the undeformed ones."""
    data, model = antenna_run().data, antenna()
    seen, flexible = model.bodies(data.q.values, data.v.values), model.system.bodies[body].flexible
    place, turn = (getattr(seen.frames, what)[:, model.body_index(body)] for what in ("position", "attitude"))
    some = data.isel(node=data.node_body == body)
    for i, name in enumerate(flexible.nodes.names):
        told = seen.node(body, name)
        moved = np.einsum("bij,bi->bj", turn, told.position - place) - flexible.nodes.position[i]
        np.testing.assert_allclose(some.node_deflection.sel(node=f"{body}.{name}"), moved, atol=SWEEP)
        turned = Rotation.from_matrix(np.einsum("bij,bik->bjk", turn, told.attitude)).as_rotvec()
        np.testing.assert_allclose(some.node_rotation.sel(node=f"{body}.{name}"), turned, atol=SWEEP)
    assert float(abs(some.node_deflection).max()) > 1e-3


def test_a_held_node_is_not_deflected_and_small_deflections_are_linear():
    boom = antenna().system.bodies["boom"].flexible
    assert not displacements(boom, np.full(4, 0.1))[boom.nodes.index("root")].any()
    eta = np.array([1e-6, -2e-6, 3e-6, 1e-6])
    square = np.abs(eta).sum()**2               # what is of second order in them
    for name, moved in boom.displacement(eta).items():
        np.testing.assert_allclose(displacements(boom, eta)[boom.nodes.index(name)], moved, atol=square)
        np.testing.assert_allclose(rotations(boom, eta)[boom.nodes.index(name)], boom.rotation(eta)[name], atol=square)


def test_node_velocity_is_the_derivative_of_its_position():
    """By central differences, whose error is h^2/6 times the third derivative."""
    data = bough.simulate(antenna(), until=0.05, dt=1e-3, sample_rate=1000, record="nodes").data
    rate = data.node_position.differentiate("time").isel(time=slice(1, -1))
    third = float(abs(data.node_velocity.differentiate("time").differentiate("time")).max())
    left = 1.1 * third * 1e-3**2 / 6                            # a tenth more, for the third derivative is between samples
    np.testing.assert_allclose(rate, data.node_velocity.isel(time=slice(1, -1)), atol=left)


def test_strain_is_part_of_the_potential_energy_and_the_total_is_kept():
    data = antenna_run().data
    assert not data.strain_energy.sel(body=["bus", "dish"]).values.any()
    hinge = 0.5 * 10 * data.q.sel(q_name="hinge.ry") ** 2
    universal = 0.5 * 4 * (data.q.sel(q_name=["mast.ry", "mast.rz"]) ** 2).sum("q_name")
    np.testing.assert_allclose(data.potential_energy, data.strain_energy.sum("body") + hinge + universal, rtol=CANCELLING)
    coarse = bough.simulate(antenna(), until=1.0, dt=2e-3, sample_rate=100, record="energy").data
    drift, before = (float(abs(each.total_energy - each.total_energy[0]).max()) for each in (data, coarse))
    assert drift < refined(before)
    assert "strain" in data.potential_energy.attrs["long_name"]


def test_shapes_can_be_drawn_from_the_data_alone():
    """Lines join neighbors of one beam: together they are as long as the beam, but for what bending takes."""
    data = antenna_run().data
    assert data.outline.dims == ("time", "point", "axis")
    assert data.lines.dims == ("line", "end")
    ends = data.outline.values[:, data.lines.values]                   # time, line, end, axis
    owners = data.point_body.values[data.lines.values]
    np.testing.assert_array_equal(owners[:, 0], owners[:, 1])
    lengths = np.linalg.norm(ends[:, :, 1] - ends[:, :, 0], axis=-1)
    for body, length in (("boom", 3.0), ("mast", 1.5)):
        np.testing.assert_allclose(lengths[:, owners[:, 0] == body].sum(axis=1), length, rtol=0.06**2 / 2)  # slopes up to 0.06


def test_bodies_without_an_outline_are_drawn_as_their_nodes():
    from dataclasses import replace

    s = bough.System("plain")
    s.body("boom", flexible=replace(bough.beam(2, EI=50, mass_per_length=1, modes=2), outline=None), eta0=(0.01, 0))
    data = bough.simulate(s, until=0.1, dt=1e-2, record=["nodes", "shapes"]).data
    assert data.lines.shape == (0, 2)
    np.testing.assert_allclose(data.outline, data.node_position, atol=1e-4)          # a picture is of first order


def test_chunks_do_not_change_the_data(monkeypatch):
    whole = antenna_run().data
    monkeypatch.setattr("bough.results.evaluation.CHUNK", 20_000)
    again = bough.Result(antenna_run().trajectory, antenna_run().facts.record).data
    for name in whole:
        np.testing.assert_array_equal(whole[name], again[name])


def test_a_batch_has_nodes_of_every_run():
    q = np.repeat(antenna().q0[None], 3, axis=0)
    q[:, antenna().names.q.index("boom.mode1")] = (0.0, 0.05, 0.1)
    result = bough.simulate(antenna(), q0=q, until=0.05, dt=1e-3, sample_rate=100, parameters={"dish.mass": [0.6, 0.7, 0.8]})
    assert result.data.node_deflection.dims == ("run", "time", "node", "axis")
    start = result.data.node_deflection.isel(time=0).sel(node="boom.tip")
    boom = antenna().system.bodies["boom"].flexible
    expected = [displacements(boom, np.array([value, 0, 0, 0.005]))[1] for value in (0.0, 0.05, 0.1)]
    np.testing.assert_allclose(start, expected, atol=PRODUCTS)
    assert " .. " in dict(bough.results.summary.rows(result))["final boom.tip"]
    result.plot("nodes")


# ---- which records there are ----------------------------------------------------------------------------------------
def test_nodes_and_strain_are_recorded_where_there_are_flexible_bodies():
    assert bough.simulate(antenna(), until=0.01, dt=1e-3).facts.record == (
        "state", "pose", "energy", "momentum", "nodes", "strain", "wheels")  # fmt: skip


@pytest.mark.parametrize("record", ["nodes", "strain", "shapes"])
def test_rigid_systems_have_none_of_it(record):
    with pytest.raises(bough.StateError, match=f"'{record}', but system 'pendulum' has no flexible bodies; leave it out"):
        bough.simulate(pendulum(), until=1.0, dt=1e-3, record=["state", record])


@pytest.mark.parametrize("what", ["nodes", "strain"])
def test_rigid_systems_have_no_such_figure(what):
    with pytest.raises(bough.StateError, match=f"'{what}', but system 'pendulum' has no flexible bodies"):
        bough.simulate(pendulum(), until=0.1, dt=1e-2).plot(what)


# ---- files ----------------------------------------------------------------------------------------------------------
@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    return bough.open_result(antenna_run().save(tmp_path_factory.mktemp("saved") / "out.nc"))


def test_a_file_comes_back_as_it_was(saved):
    xarray.testing.assert_identical(saved.data, antenna_run().data)
    assert saved.facts == antenna_run().facts
    assert saved.system == antenna_run().system                        # arrays of the flexible bodies, bit for bit
    assert saved.summary == antenna_run().summary
    assert saved.data.lines.dtype.kind == "i"


def test_a_saved_result_draws_the_same(saved):
    for what in ("state", "nodes", "strain", "reactions", "q"):
        for fresh, again in zip(antenna_run().plot(what).axes, saved.plot(what).axes, strict=True):
            for one, other in zip(fresh.lines, again.lines, strict=True):
                np.testing.assert_array_equal(one.get_ydata(), other.get_ydata())


def test_a_run_can_be_repeated_from_its_file(saved):
    again = bough.simulate(saved.system, until=0.2, dt=saved.facts.dt, sample_rate=100)
    np.testing.assert_array_equal(again.data.q, saved.data.q.sel(time=slice(0, 0.2)))


def test_xarray_alone_reads_and_writes_it(saved, tmp_path):
    with xarray.open_dataset(saved.path, engine="h5netcdf") as data:
        assert set(data.coords) == set(saved.data.coords)
        np.testing.assert_array_equal(data.lines, saved.data.lines)
    antenna_run().data.to_netcdf(tmp_path / "out.nc", engine="h5netcdf")
    again = bough.open_result(tmp_path / "out.nc")
    assert again.facts == saved.facts
    np.testing.assert_array_equal(again.data.lines, saved.data.lines)


# ---- figures --------------------------------------------------------------------------------------------------------
def test_every_coordinate_is_drawn_once():
    figure, model = antenna_run().plot("state"), antenna()
    modes = [axes for axes in figure.axes if "modal" in axes.get_title(loc="left")]
    assert sum(len(axes.lines) for axes in modes) == 2 * (4 + 4)
    assert sum(len(axes.lines) for axes in figure.axes) == model.nq + model.nv
    assert sorted(i for group in groups(model.system) for i in group.q) == list(range(model.nq))
    assert sorted(i for group in groups(model.system) for i in group.v) == list(range(model.nv))


def test_modes_have_their_own_panels_with_their_frequencies():
    s = bough.System("arm")
    s.body("a", joint=bough.Revolute("y"), flexible=bough.beam(1, EI=100, mass_per_length=1, modes=10))
    s.body("b", parent="a", node="tip", joint=bough.Revolute("y"), mass=1, inertia=(1, 1, 1))
    joints, first, second = groups(s)
    assert (joints.labels, joints.q, joints.v) == (["a", "b"], [0, 11], [0, 11])
    assert (first.title, first.kind, len(first.q)) == ("a", "modes", MOST_CURVES)
    assert second.q == [9, 10]
    assert first.labels[0] == "mode 1, 5.6 Hz"                         # 3.516 sqrt(EI/m)/(2 pi)


@pytest.mark.parametrize("what", ["state", "nodes", "strain", "node_position"])
def test_figures_have_units_and_their_legends_stand_beside_them(what):
    figure = antenna_run().plot(what)
    figure.canvas.draw()
    for axes in figure.axes:
        assert axes.get_ylabel().startswith("[")
        assert axes.get_title(loc="left")
        if legend := axes.get_legend():
            assert legend.get_window_extent().x0 >= axes.get_window_extent().x1
            assert legend.get_window_extent().x1 <= figure.bbox.x1


def test_modal_coordinates_are_named_by_body_mode_and_unit():
    modes = antenna_run().plot("state").axes[-4:]                      # they come last
    assert [axes.get_title(loc="left") for axes in modes[::2]] == ["mast: modal coordinates", "boom: modal coordinates"]
    assert [axes.get_ylabel() for axes in modes[2:]] == ["[m √kg]", "[m √kg/s]"]
    assert modes[1].get_legend().get_texts()[0].get_text().startswith("mode 1, ")
    np.testing.assert_array_equal(modes[2].lines[0].get_ydata(), antenna_run().data.q.sel(q_name="boom.mode1"))


def test_a_body_that_only_bends_has_modes_but_no_joints(tmp_path):
    s = bough.System("cantilever")
    s.body("boom", flexible=bough.beam(1, EI=100, mass_per_length=1, modes=2), eta0=(0.01, 0))
    result = bough.simulate(s, until=0.1, dt=1e-3)
    assert [axes.get_title(loc="left") for axes in result.plot().axes] == ["boom: modal coordinates", "boom: modal speeds"]
    assert "state.png" in {path.name for path in result.plots(tmp_path)}


def test_nodes_that_move_have_a_row_in_handy_units():
    titles = [axes.get_title(loc="left").split(":")[0] for axes in antenna_run().plot("nodes").axes[::2]]
    assert titles == ["mast.root", "mast.tip", "boom.tip", "boom.middle"]          # the boom's root is held
    tip = antenna_run().plot("nodes").axes[4]
    assert tip.get_ylabel() == "[mm]"
    deflection = antenna_run().data.node_deflection.sel(node="boom.tip", axis="y")
    np.testing.assert_allclose(tip.lines[1].get_ydata(), 1e3 * deflection)


def test_strain_is_drawn_for_flexible_bodies_only():
    (axes,) = antenna_run().plot("strain").axes
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["mast", "boom"]


# ---- the summary ----------------------------------------------------------------------------------------------------
def test_the_summary_tells_joints_and_the_deflection_of_tips():
    rows = dict(bough.results.summary.rows(antenna_run()))
    final = antenna_run().data.isel(time=-1)
    assert rows["final dish"] == f"rx {final.q.sel(q_name='dish.rx').item():.4g} rad"
    assert rows["final hinge"].startswith("ry ")
    assert "mode" not in rows["final hinge"]
    deflection = 1e3 * final.node_deflection.sel(node="boom.tip").values
    assert rows["final boom.tip"].startswith("deflection x {:.4g}, y {:.4g}, z {:.4g} mm, at most ".format(*deflection))
    largest = np.linalg.norm(antenna_run().data.node_deflection.sel(node="boom.tip"), axis=1)
    assert rows["final boom.tip"].endswith(f"{1e3 * largest.max():.4g} mm at {antenna_run().time[largest.argmax()]:.4g} s")
    assert "drift" in rows["angular momentum"]


def test_the_outermost_node_is_one_that_moves():
    pinned = bough.beam(2, EI=50, mass_per_length=1, modes=2, boundary="pinned", nodes={"middle": 1})
    assert pinned.nodes.names[outermost(pinned)] == "middle"
    assert outermost(bough.beam(2, EI=50, mass_per_length=1, modes=2, boundary="pinned")) is None


def test_modal_damping_and_linearized_bodies_keep_no_energy():
    def system(**options):
        s = bough.System("s")
        s.body("a", joint=bough.Free(), flexible=bough.beam(1, EI=100, mass_per_length=1, modes=2, **options))
        return s

    assert nonconservative_effects(system(), controlled=False) == []
    assert nonconservative_effects(system(damping=0.01), controlled=False) == ["modal damping"]
    assert external_effects(system(damping=0.01), base_pushed=False) == []
    assert nonconservative_effects(system(variant="zeroth_order"), controlled=False) == ["linearized flexible bodies"]
    assert external_effects(system(variant="zeroth_order"), base_pushed=False) == ["linearized flexible bodies"]


def test_a_run_that_diverges_keeps_its_samples(tmp_path):
    s = bough.System("stiff")
    s.body("a", flexible=bough.beam(1, EI=1e6, mass_per_length=1, modes=4), eta0=(0.01, 0, 0, 0))
    with pytest.raises(bough.SimulationError, match="diverged") as caught:
        bough.simulate(s, until=1.0, dt=1e-2, sample_rate=100)
    result = caught.value.result
    assert "deflection" in str(result)
    assert bough.open_result(result.save(tmp_path / "out.nc")).failure == result.failure
    result.plots(tmp_path)


# ---- controllers ----------------------------------------------------------------------------------------------------
def test_controllers_find_joints_behind_modes_and_modes_by_name():
    def control(t, q, v, wheels):
        return {"dish": 0.1, "hinge": 0.2, "boom.mode2": 0.3}

    run = bough.simulate(antenna(), until=0.02, dt=1e-3, control=control)
    last = run.data.joint_torque.isel(time=-1)
    assert dict(zip(last.v_name.values[last != 0], last.values[last != 0], strict=True)) == {
        "hinge.ry": 0.2, "boom.mode2": 0.3, "dish.rx": 0.1}  # fmt: skip
    titles = [axes.get_title(loc="left") for axes in run.plot("torque").axes]
    assert "boom: modal force of the controller" in titles


def test_bad_controllers_are_told_about_modal_forces():
    with pytest.raises(bough.StateError, match="return 18 joint torques and modal forces, 19 with motor torques"):
        bough.simulate(antenna(), until=0.1, dt=1e-2, control=lambda t, q, v, wheels: [1.0, 2.0])


@pytest.mark.parametrize(("name", "pushed"), [("a.mode1", False), ("b", False), ("a.z", True)])
def test_modal_forces_on_the_base_do_not_push_against_the_world(name, pushed):
    s = bough.System("bar")
    s.body("a", joint=bough.Free(), flexible=bough.beam(1, EI=100, mass_per_length=1, modes=2))
    s.body("b", parent="a", node="tip", joint=bough.Revolute("y"), mass=1, inertia=(1, 1, 1))
    run = bough.simulate(s, until=0.05, dt=1e-3, sample_rate=100, control=lambda t, q, v, wheels: {name: 0.1})
    assert run.facts.base_pushed is pushed
    drift = float(abs(run.data.linear_momentum - run.data.linear_momentum[0]).max())
    assert (drift > 1e-6) is pushed
