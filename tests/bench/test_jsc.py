"""The sixteen cases of the JSC paper: their sizes, runs by both methods, the example, and what the benchmark tells."""
import json

import numpy as np
import pytest

import bough
from bough.bench.jsc_bench import PAPER, case_numbers, jsc, run_case, unloaded
from bough.bench.jsc_system import CASES, CONFIGURATIONS, jsc_case, jsc_system, whole_booms
from bough.cli import main
from bough.errors import BoughError
from bough.files import example
from bough.peers import installed
from tests.support.compare import solved
from tests.support.jsc_example import jsc_example
from tests.support.tolerance import CLOSED, FORMULA

JOINT_DOFS, MODES = {1: 24, 2: 24, 3: 27, 4: 42}, {1: 24, 2: 48, 3: 48, 4: 80}
ORDER = {("open", "rigid"): 1, ("open", "flexible"): 5, ("closed", "rigid"): 9, ("closed", "flexible"): 13}


# ---- the system -------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("number", CASES)
def test_every_case_has_the_papers_joints_modes_and_loops(number):
    loops, booms = ("closed" if number > 8 else "open"), ("flexible" if (number - 1) // 4 % 2 else "rigid")
    configuration = number - ORDER[loops, booms] + 1
    system = jsc_case(number)
    assert sum(body.n_modes for body in system.bodies.values()) == (MODES[configuration] if booms == "flexible" else 0)
    assert sum(body.joint.n_v for body in system.bodies.values()) == JOINT_DOFS[configuration]
    assert len(system.loops) == ((3 if configuration == 4 else 2) if loops == "closed" else 0)
    assert all(loop.joint.kind == "weld" for loop in system.loops.values())


def test_limbs_have_the_papers_order_of_axes():
    letters = {"x": "roll", "y": "pitch", "z": "yaw"}
    orders = {6: "roll yaw pitch pitch yaw roll", 7: "roll yaw pitch pitch pitch yaw roll"}
    for configuration in CONFIGURATIONS.values():
        system = jsc_system(configuration, flexible=False, closed=True)
        for limb in ("leg1", "leg2", "leg3", "arm1", "arm2")[:3 + configuration.arms]:
            axes = [body.joint.rotations[0] for name, body in system.bodies.items() if name.startswith(limb) and body.joint.n_v]
            assert " ".join(letters["xyz"[int(np.argmax(axis))]] for axis in axes) == orders[configuration.joints]


@pytest.mark.parametrize("number", [9, 12])
def test_loops_are_closed_where_the_joints_are_zero_and_none_is_redundant(number):
    """Positions of some meters come out of a dozen turns: rounding is a hundred units of the last place at the most."""
    model = jsc_case(number).compile()
    gaps = model.loop_gaps(np.eye(1, model.nq, 6)[0])
    assert max(np.abs(gap).max() for gap in gaps.values()) < 100 * 10 * np.finfo(float).eps
    freedom = model.freedom()
    assert not freedom.redundant
    assert freedom.degrees == model.nv - 6 * len(model.system.loops)


def test_flexible_and_rigid_booms_weigh_the_same():
    rigid, flexible = (jsc_case(number).bodies for number in (4, 8))
    assert rigid.keys() == flexible.keys()
    for name, body in rigid.items():
        elastic = flexible[name].flexible
        if elastic is not None:
            np.testing.assert_array_equal(body.inertia, elastic.inertia)
            assert (body.mass, tuple(body.com)) == (elastic.mass, tuple(elastic.com))


def test_booms_in_one_piece_make_the_same_rigid_mechanism():
    """The inertias of two halves and of the whole are sums of many points: equal to rounding, times the condition of M."""
    halves, whole = jsc_case(4).compile(), jsc_system(whole_booms(4), flexible=False, closed=False).compile()
    q, v = np.random.default_rng(0).uniform(-0.3, 0.3, (2, halves.nv))
    q = np.concatenate([q[:3], [0, 0, 0, 1], q[6:]])
    got, want = halves.forward_dynamics(q, v), whole.forward_dynamics(q, v)
    tolerance = np.linalg.cond(whole.mass_matrix(q)) * 100 * np.finfo(float).eps
    np.testing.assert_allclose(got, want, atol=tolerance * np.abs(want).max(), rtol=0)


def test_the_loads_switch_their_sign_every_20_s():
    model = jsc_case(4).compile()
    before, after, later = (model.actuation(t) for t in (19.9, 20.1, 40.1))
    assert np.count_nonzero(before) == 7
    np.testing.assert_array_equal(after, -before)
    np.testing.assert_array_equal(later, before)
    for wrench in model.system.wrenches.values():
        assert wrench.force.times == wrench.moment.times == (0.0, 20.0, 40.0, 60.0, 80.0)
        assert wrench.force.values[1] == tuple(-value for value in wrench.force.values[0])
        assert wrench.force.kind == "hold"


def test_the_example_says_what_the_benchmark_runs():
    """Last digits of sines may differ between machines."""
    read = bough.load(example("jsc"))
    assert_same(read.to_dict(), jsc_example().to_dict())


def assert_same(a, b):
    if isinstance(a, dict):
        assert a.keys() == b.keys()
        a, b = list(a.values()), list(b.values())
    if isinstance(a, list | tuple):
        assert len(a) == len(b)
        for one, other in zip(a, b, strict=True):
            assert_same(one, other)
    elif isinstance(a, float):
        assert a == pytest.approx(b, rel=FORMULA, abs=FORMULA)
    else:
        assert a == b


# ---- runs -------------------------------------------------------------------------------------------------------------------
def test_both_methods_give_the_same_trajectory_and_keep_the_loops_closed():
    """Past the moment at which the loads switch. The paper claims 1e-10."""
    model = jsc_case(9).compile()
    runs = run_case(9, model, 20.5)
    q = {method: run.x[0, :, :model.nq] for method, run in runs.items()}
    assert np.ptp(q["order-n"], axis=0).max() > 0.01
    assert np.abs(runs["order-n"].x - runs["dense"].x).max() < 1e-10
    for rows in q.values():
        assert max(np.abs(gap).max() for gap in model.loop_gaps(rows).values()) < CLOSED


def test_the_momentum_grows_by_the_impulse_of_the_loads():
    """Euler-Cromer adds h F every step; F is in the plate's axes, which turn by some hundredths of a radian."""
    result = bough.simulate(jsc_case(1), until=2.0, dt=1e-3, method="euler-cromer", record=["momentum", "pose"])
    scalar = result.data.attitude.sel(body="top", quaternion="w")[-1].item()
    turned = 2 * np.arccos(min(1.0, abs(scalar)))
    force = np.array(jsc_case(1).wrenches["on top"].force.values[0])
    assert np.linalg.norm(result.data.linear_momentum[-1] - 2.0 * force) <= 2.0 * np.linalg.norm(force) * turned
    assert 0 < turned < 0.05                                        # some hundredths of a radian


# ---- the command --------------------------------------------------------------------------------------------------------------
def test_the_benchmark_tells_all_that_it_should(capsys, tmp_path):
    with pytest.raises(SystemExit) as end:
        main(["bench", "jsc", "--cases", "1,9", "--quick", "--json"])
    assert not end.value.code
    told = json.loads(capsys.readouterr().out)
    assert set(told) == {"unit", "seconds", "method", "difference", "gap", "peers", "choices", "versions", "cases", "figures"}
    assert set(told["cases"]) == {"1", "9"}
    for number, case in told["cases"].items():
        assert set(case) == {"configuration", "flexible", "closed", "bodies", "joint dofs", "modes", "loops", "step", "us per step",
                             "dense/order-n", "times real time", "seconds for 100 s", "seconds of the paper", "difference", "gap",
                             "evaluation"}
        assert case["seconds for 100 s"]["dense"] == pytest.approx(case["us per step"]["dense"] / 10)
        assert case["times real time"]["order-n"] == pytest.approx(1e3 / case["us per step"]["order-n"])
        assert max(case["difference"].values()) < 1e-10              # as the paper claims
        assert (case["gap"] is None) == (number == "1")
    if "pin" in installed():
        model = jsc_case(1).compile()                                # both engines round
        assert told["cases"]["1"]["evaluation"]["pinocchio"]["difference"] < 2*solved(model, model.q0)
        assert told["cases"]["9"]["evaluation"]["pinocchio dense"]["difference"] < 1e-5     # proximal, with its fastest settings


def test_figures_2_and_3_are_drawn(tmp_path):
    from bough.bench.jsc_bench import accelerations, displacements, draw_figures

    runs = {number: run_case(number, jsc_case(number).compile(), 0.01) for number in (4, 8)}
    assert [path.name for path in draw_figures(runs, tmp_path / "new")] == ["jsc-displacements-8.png", "jsc-acceleration-4-8.png"]
    assert all(path.stat().st_size > 10_000 for path in (tmp_path / "new").iterdir())
    assert [len(axes.lines) for axes in displacements(8, runs[8]).axes if axes.lines] == [6, 6]
    rigid = accelerations(4, 8, runs).axes[0].lines[1].get_ydata()
    model = jsc_case(4).compile()
    x = runs[4]["order-n"].x[0, -1]
    a = model.forward_dynamics(x[:model.nq], x[model.nq:])
    bound = solved(model, x[:model.nq])*np.abs(a).max()
    assert rigid[-1] == pytest.approx(a[model.names.v.index("leg2_pitch1.ry")], rel=0, abs=bound)


def test_nonsense_is_told(tmp_path):
    for text in ("1-x", "one", ""):
        with pytest.raises(BoughError, match=r"give them as in 1,4,9-12"):
            case_numbers(text)
    with pytest.raises(BoughError, match=r"there is no case 17; the cases are 1 to 16"):
        jsc(cases=[17])
    with pytest.raises(BoughError, match=r"cases 1, 9 contain no rigid case with its flexible twin.*add one, as 12 is to 16"):
        jsc(cases=[1, 9], plot=tmp_path)


def test_peers_get_the_same_mechanism_without_loads():
    """Under torques that stand for loads and friction it has the same accelerations: rounding times the condition of M."""
    loaded, bare = jsc_case(4).compile(), unloaded(jsc_case(4)).compile()
    q, v = np.eye(1, loaded.nq, 6)[0], np.random.default_rng(0).normal(size=loaded.nv)
    tau = bare.bias(q, v) - loaded.bias(q, v, t=25.0)
    assert np.count_nonzero(np.abs(tau[6:]) > 1e-3) == loaded.nv - 6                            # friction in every joint
    got, want = bare.forward_dynamics(q, v, tau), loaded.forward_dynamics(q, v, t=25.0)
    tolerance = np.linalg.cond(loaded.mass_matrix(q)) * 100 * np.finfo(float).eps
    np.testing.assert_allclose(got, want, atol=tolerance * np.abs(want).max(), rtol=0)


def test_the_papers_seconds_are_those_that_can_be_read():
    assert set(CASES) - set(PAPER) == {1, 2, 3, 4, 9}
    assert all(order_n > dense for number, (order_n, dense) in PAPER.items() if number in (10, 11, 12, 13))      # as its text says
    assert all(order_n < dense for number, (order_n, dense) in PAPER.items() if number not in (10, 11, 12, 13))
