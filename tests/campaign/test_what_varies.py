"""Everything that has a name can vary: samples against systems described so by hand, and the values that runs really had.

Tolerances: 1e-12, the same runs of some hundred steps in other company in the lanes, where sums are fused in other ways
(STEPPED), and numbers that went through a path and back (CANCELLING).
"""
import numpy as np
import pytest

import bough
from bough.analyze.parameter_routes import names_of
from bough.analyze.parameter_rows import changed_system
from bough.analyze.parameters import parameter, value_in
from bough.campaign.block import run_block
from bough.errors import DescriptionError
from tests.support.tolerance import CANCELLING, STEPPED

pytest.importorskip("zarr")
TIMES, ROWS = np.array([0.0, 0.2, 2.0]), np.array([[0.0, 0, 0], [1, 0, 3], [0, 0, 1]])


def arm(*, factor=1.0, later=0.0, tilt=0.0, axis=(0, 0, 1), gravity=-9.81, torque=1.0, rest=None, to=None, lock=None, limit=None):
    """A driven arm with a wheel, under a load that changes; perhaps on a drive that moves, or with an event and a stop."""
    s = bough.System("arm", gravity=(0, 0, gravity))
    s.body("bus", joint=bough.Revolute("x", damping=1.0, motion=None if to is None else bough.motion.Move(to, duration=0.2)),
           mass=50.0, inertia=(5, 6, 7))
    s.body("arm", parent="bus", at=(0.5, 0, 0), orient={"rotvec": [tilt, 0, 0]}, mass=4.0, com=(0.6, 0, 0), inertia=(0.1, 0.6, 0.6),
           joint=bough.Revolute("y", stiffness=20.0, rest=rest, damping=0.5,
                                torque=bough.TimeTable([0, 0.1, 1], [0, 2*torque, torque])))
    s.wheel("rw", body="arm", axis=axis, inertia=0.05, speed=100.0)
    s.wrench("push", "arm", force=bough.TimeTable(TIMES + later, factor*ROWS), at=(1, 0, 0))
    s.output("tip", position=bough.Frame("arm", at=(1, 0, 0)))
    if lock is not None:
        s.event("lock", at=lock, do=[bough.Lock("arm.ry")])
        s.stop("floor", "arm.ry", above=limit, stiffness=500.0, damping=2.0)
    s.simulation(until=0.3, dt=0.01, sample_rate=100)
    return s


METRICS = {"arm": "final(arm.ry)", "bus": "final(bus.rx)", "height": "min(tip[2])"}
MOVING, WAITING = {"to": 0.4}, {"lock": 0.2, "limit": 0.05}


@pytest.mark.parametrize(("path", "value", "usual", "other"), [
    ("push.force.scale", 1.5, {}, {"factor": 1.5}),
    ("push.force.shift", 0.1, {}, {"later": 0.1}),
    ("arm.torque.scale", 3.0, {}, {"torque": 3.0}),
    ("arm.tilt[0]", 0.3, {}, {"tilt": 0.3}),
    ("gravity[2]", -5.0, {}, {"gravity": -5.0}),
    ("arm.rest", 0.2, {}, {"rest": 0.2}),                                   # of a spring whose rest is not described
    ("rw.axis[0]", 0.75, {}, {"axis": (0.75, 0, 1)}),
    ("bus.motion.to", 0.7, MOVING, MOVING | {"to": 0.7}),
    ("bus.motion.scale", 1.75, MOVING, MOVING | {"to": 0.7}),
    ("lock.at", 0.1, WAITING, WAITING | {"lock": 0.1}),
    ("floor.above", 0.02, WAITING, WAITING | {"limit": 0.02}),
])
def test_a_sample_is_the_system_described_so(path, value, usual, other):
    """Two samples, one as the system is: the other differs, as it does by hand; and what it had is read from its model."""
    system = arm(**usual)
    nominal = float(parameter(system, path).value)
    found = run_block(bough.Campaign(system, vary={path: [nominal, value]}, metrics=METRICS), 0, 2)
    assert not found.reasons
    assert found.values[:, 0] == pytest.approx([nominal, value if path != "rw.axis[0]" else 0.6], rel=1e-12)
    for i, twin in enumerate((system, arm(**other))):
        data = bough.simulate(twin, progress=False, record=["state"]).data.q
        angles = [float(data.sel(q_name=name)[-1]) for name in ("arm.ry", "bus.rx")]
        assert found.metrics[i, :2] == pytest.approx(angles, abs=1e-12)
    assert np.abs(found.metrics[1] - found.metrics[0]).max() > 1e-6


def test_alternatives_of_a_body():
    """Beams of two and of three modes in the place of one, and masses beside them: on models of their own, in lanes."""
    beams = [bough.beam(2.0, EI=ei, mass_per_length=1.5, modes=n) for ei, n in ((80.0, 2), (120.0, 3))]

    def panel(beam, mass=50.0):
        s = bough.System("panel", gravity=(0, 0, -9.81))
        s.body("bus", joint=bough.Revolute("y", stiffness=100.0), mass=mass, inertia=(5, 6, 7))
        s.body("panel", parent="bus", at=(1, 0, 0), joint=bough.Weld(), flexible=beam)
        s.simulation(until=0.1, dt=0.002)
        return s

    study = bough.Campaign(panel(beams[0]), alternatives={"panel": beams}, metrics={"end": "final(bus.ry)"}, keep=["bus.ry"],
                           vary={"panel.alternative": [0, 1, 0, 1, 1], "bus.inertia[1,1]": [6.0, 6.5, 7.0, 6.0, 6.2]})
    found = run_block(study, 0, 5)
    assert found.values[:, 0].tolist() == [0, 1, 0, 1, 1]
    assert np.array_equal(run_block(study, 3, 4).metrics, found.metrics[3:4])
    for i in (2, 3):
        model = panel(beams[i % 2]).compile().with_parameters({"bus.inertia": np.diag([5, found.values[i, 1], 7])})
        want = bough.simulate(model, progress=False, record=["state"]).data.q.sel(q_name="bus.ry").values[-1]
        assert found.metrics[i, 0] == pytest.approx(want, abs=1e-12)
    identity = bough.Campaign(panel(beams[0]), alternatives={"panel": beams[:1]}, vary={"panel.alternative": [0]},
                              metrics={"end": "final(bus.ry)"}).identity
    assert identity != study.identity
    with pytest.raises(DescriptionError, match="it is 2; there are 2 alternatives"):
        bough.Campaign(panel(beams[0]), alternatives={"panel": beams}, vary={"panel.alternative": [0, 2]},
                       metrics={"end": "final(bus.ry)"}).check()


def test_modes_by_their_factors():
    """Shapes move the nodes, participation the mass: a tip load acts twice as much through shapes twice as large; half the
    participation leaves three quarters of what the mode took of the inertia."""
    beam = bough.beam(2.0, EI=80.0, mass_per_length=1.5, modes=1)
    s = bough.System("panel")
    s.body("panel", joint=bough.Revolute("z"), flexible=beam)
    s.wrench("load", "panel", force=(0, 1.0, 0), node="tip")
    for name, value in (("panel.shape_scale", 2.0), ("panel.participation_scale", 0.5)):
        other = changed_system(s, {name: value})
        assert value_in(s, other, name) == pytest.approx(np.array([value]), rel=1e-12)
        M, h = s.compile().mass_matrix([0.0, 0.0]), beam.integrals.h[0, 2]
        M_other = other.compile().mass_matrix([0.0, 0.0])
        assert M_other[0, 1] == pytest.approx(h if "shape" in name else h/2, rel=1e-12)
        assert np.diag(M_other) == pytest.approx(np.diag(M), rel=1e-12)
        force = other.compile().bias([0.0, 0.0], [0.0, 0.0])
        assert force[1] == pytest.approx((2 if "shape" in name else 1)*s.compile().bias([0.0, 0.0], [0.0, 0.0])[1], rel=1e-12)
    with pytest.raises(DescriptionError, match="more inertia than the body has"):
        changed_system(s, {"panel.participation_scale": 1.2})


def test_every_name_that_is_listed_is_a_number():
    """And a change of each is read back."""
    s = arm(to=0.3)
    s.event("go", at=0.1, do=[bough.Prescribe("arm.ry", bough.motion.Rate(0.1))])
    s.loop("pin", joint=bough.Spherical(), a=bough.Frame("arm", at=(1, 0, 0)), b=bough.Frame("world", at=(1.5, 0, 0)))
    names = names_of(s)
    assert {"push.force.scale", "go.do[0].motion.rate", "pin.a.tilt", "bus.motion.begin", "arm.tilt", "gravity"} <= set(names)
    for name in names:
        value = parameter(s, name).value
        moved = value + 1e-3*np.arange(1, value.size + 1).reshape(value.shape) if name != "rw.axis" else np.array([0.6, 0, 0.8])
        moved = (moved + moved.T)/2 if name.endswith("inertia") and value.ndim else moved
        assert value_in(s, changed_system(s, {name: moved}), name) == pytest.approx(moved, rel=CANCELLING, abs=CANCELLING), name


def test_how_much_is_in_a_tank():
    """Two fillings burn out inside the run, at the times and to the speeds of single runs; more than fits in is named before."""
    s = bough.System("stage")
    s.body("stage", joint=bough.Prismatic("z"), mass=100.0)
    s.tank("lox", body="stage", mass=40.0, capacity=50.0, flow=5.0, exhaust_speed=3000.0)
    s.output("speed", velocity="stage")
    s.simulation(until=12.0, dt=0.05, sample_rate=10)
    found = run_block(bough.Campaign(s, vary={"lox.mass": [30.0, 50.0]}, metrics={"speed": "final(speed[2])"}), 0, 2)
    assert found.values[:, 0].tolist() == [30.0, 50.0]
    assert found.metrics[:, 0] == pytest.approx(3000.0*np.log([1.3, 1.5]), rel=STEPPED)
    with pytest.raises(DescriptionError, match=r"impossible in 50 % of the samples: it is 51 kg; .* up to 50 kg"):
        bough.Campaign(s, vary={"lox.mass": [30.0, 51.0]}, metrics={"speed": "final(speed[2])"}).run()
