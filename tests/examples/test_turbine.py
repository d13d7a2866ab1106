"""The floating turbines of the examples: parameters, balance, power, the paper's statements; OC3-Hywind against NumPy alone."""
import runpy
from functools import cache

import numpy as np
import pytest
from scipy.integrate import cumulative_simpson
from scipy.spatial.transform import Rotation

import bough
from bough.files import example
from tests.support import hywind as witness
from tests.support.compare import EPS, assert_same
from tests.support.tolerance import CANCELLING, FORMULA, printed

SCRIPT = runpy.run_path(str(example("turbine")))
TURBINES = ("floating_turbine", "floating_turbine_flexible", "oc3_hywind")
GRAVITY, SPIN = 9.80665, 2*np.pi*12.1/60
PLATFORM = slice(0, 6)                                  # x, y, z, yaw, pitch, roll


def turbine(name):
    return bough.load(example(name))


@cache
def run(name, dt=0.02, until=100.0):
    record = ["state", "energy", "velocity", "acceleration", "reactions", "drives", "elements"]
    return bough.simulate(turbine(name), until=until, dt=dt, sample_rate=10, record=record)


def at_rest(model):
    """What holds the platform where all coordinates are zero and nothing moves: forces, and moments about z, y, x."""
    return model.bias(model.q0, np.zeros(model.nv))[PLATFORM]


# ---- parameters and balance ---------------------------------------------------------------------------------------
def test_oc3_is_the_public_turbine():
    """Digit by digit, and frames to rounding."""
    system, data = turbine("oc3_hywind"), witness.DATA
    for name, body in system.bodies.items():
        told = data["bodies_rigid"]["platform_plus_tower" if name == "platform" else "blade" if "blade" in name else name]
        assert body.mass == told["mass"]
        assert np.array_equal(body.com, told["cm"])
        assert np.array_equal(body.inertia, told["I_cm"])
    assert list(system.bodies["nacelle"].at) == data["tower_top_in_platform"]
    assert list(system.bodies["hub"].at) == data["apex_in_nacelle_frame"]
    shaft = Rotation.from_quat(system.bodies["hub"].orient).as_matrix()
    assert_same(shaft, witness.TILT, 4*EPS)
    for k in range(3):
        body = system.bodies[f"blade{k + 1}"]
        expected = witness.turn("x", 2*np.pi*k/3) @ witness.turn("y", np.deg2rad(data["precone_deg"]))
        assert_same(Rotation.from_quat(body.orient).as_matrix(), expected, 4*EPS)
        assert not any(body.at)
    water, told = system.restorings["water"], data["restoring"]
    assert list(water.at) == told["application_point_in_platform_frame"]
    assert list(water.force) == told["F0_global_N"]
    assert np.array_equal(water.stiffness, told["K_6x6"])
    assert system.gravity == (0, 0, -data["gravity"])


def test_oc3_has_the_public_totals():
    system, data = turbine("oc3_hywind"), witness.DATA
    model, mass = system.compile(), sum(body.mass for body in system.bodies.values())
    assert_same(mass, data["total_mass"], 10*EPS)
    assert_same(model.center_of_mass(model.q0), data["total_cm_at_rest"], 10*EPS)
    assert_same(system.restorings["water"].force[2], mass*GRAVITY, 10*EPS)


def test_the_compliant_turbine_has_the_papers_numbers():
    """Inertias, mass center, mooring; the paper's three digits."""
    system = turbine("floating_turbine")
    platform, nacelle = system.bodies["platform"], system.bodies["nacelle"]
    assert platform.com == (0, 0, -58.67)
    assert np.array_equal(platform.inertia, np.diag([5.85e9, 5.85e9, 1.12e8]))
    assert nacelle.inertia[2][2] + nacelle.mass*nacelle.com[0]**2 == pytest.approx(2.61e6, abs=0.005e6)
    oc3 = witness.BODIES["platform"]
    floater = oc3["mass"]*platform.inertia[2][2]/oc3["I_cm"][2][2]                  # OC3's radius of gyration about z
    assert platform.mass == pytest.approx(floater + witness.BODIES["tower"]["mass"], abs=0.5)
    for line in system.lines.values():
        assert line.stiffness == 6.81e5
        assert np.linalg.norm(np.subtract(line.a.at, line.b.at)) == pytest.approx(564.0, rel=FORMULA)
        assert line.a.at[2] == -320.0


def test_the_flexible_turbine_is_the_rigid_one_made_flexible():
    """Mass and mass center of the whole; its inertia, but for the blades' approximate sections; public first frequencies."""
    rigid, flexible = (turbine(name).compile() for name in TURBINES[:2])
    masses = [model.mass_matrix(model.q0)[PLATFORM, PLATFORM] for model in (rigid, flexible)]
    assert_same(masses[1][:3, :3], masses[0][:3, :3], 20*EPS)
    shift = flexible.center_of_mass(flexible.q0) - rigid.center_of_mass(rigid.q0)
    moved = 3*5e-5*witness.BODIES["blade"]["mass"]                                  # the blades' mass is met to 5e-5
    assert np.abs(shift).max() < moved*(90 + 58.67)/masses[0][0, 0]                 # and taken from the platform
    assert_same(masses[1], masses[0], moved*(90 + 58.67)**2/masses[0].max())
    blade, tower = (flexible.system.bodies[name].flexible for name in ("blade1", "tower"))
    assert blade.frequencies[:2] == pytest.approx([0.70, 1.10], abs=0.005)                    # two decimals
    assert tower.mass == pytest.approx(witness.BODIES["tower"]["mass"], rel=2e-4)        # sections have four digits


@pytest.mark.parametrize("name", TURBINES)
def test_weight_and_water_are_in_balance(name):
    """Upright and still, all forces cancel to rounding; what is left is the moment of the mass center, which is not on the axis."""
    model = turbine(name).compile()
    weight = GRAVITY*sum(body.mass for body in model.system.bodies.values())
    held = at_rest(model)
    assert_same(held[:3], np.zeros(3), 30*EPS, weight)
    offset = model.center_of_mass(model.q0)[0]
    assert_same(held[3:], [0, -weight*offset, 0], 30*EPS, weight*90)


def test_without_offset_the_turbine_stays_where_it_is():
    """Joints locked, the nacelle moved until the mass center is on the axis: nothing moves."""
    told = turbine("floating_turbine").to_dict()
    offset = turbine("floating_turbine").compile()
    moment = offset.center_of_mass(offset.q0)[0]*sum(body.mass for body in offset.system.bodies.values())
    for body in told["bodies"][1:]:
        body["joint"]["motion"] = "locked"
    told["bodies"][1]["com"][0] -= moment/told["bodies"][1]["mass"]
    q = bough.simulate(bough.System.from_dict(told), until=50.0, dt=0.1, record="state").data.q.values
    # rounding of the forces, 1e8 N at arms of 90 m, over the stiffness of 2.8e8 N m in tilt
    assert np.abs(q[:, PLATFORM]).max() < 30*EPS*1e8*90/2.8e8


# ---- motion -------------------------------------------------------------------------------------------------------
@cache
def witnessed():
    return witness.motion(run("oc3_hywind").time)


def test_oc3_moves_as_six_equations_say():
    """RK4's error at half the step is 1/15 of the difference to the whole; the witness adds its own, 1e-10 of the motion."""
    coarse, fine = (run("oc3_hywind", dt).data.q.values[:, PLATFORM] for dt in (0.04, 0.02))
    expected = witnessed()[:, PLATFORM]
    for part in (slice(0, 3), slice(3, 6)):                                         # m, rad
        peak, step = np.abs(expected[:, part]).max(), np.abs(coarse[:, part] - fine[:, part]).max()
        assert np.abs(fine[:, part] - expected[:, part]).max() < 1.5*step/15 + 1e-10*peak
        assert step/15 < 1e-9*peak                                                  # which the witness can judge
    assert (np.abs(fine - expected).max(axis=0) < 1e-6*np.abs(expected).max(axis=0)).all()      # heave and yaw, the small ones, too


def test_tower_top_loads_of_oc3_as_six_equations_say():
    """In OpenFAST's names and units, from the rates of momentum of nacelle and rotor; to 1e-9, as the motion."""
    told = SCRIPT["channels"](run("oc3_hywind"))
    expected = np.array([witness.tower_top(*each) for each in zip(told.time.values, witnessed(), strict=True)])/1e3
    for i, kind in enumerate("MF"):
        ours = np.stack([told[f"YawBr{kind}{axis}p"].values for axis in "xyz"], axis=-1)
        assert_same(ours, expected[:, 3*i:3*i + 3], 1e-9)


@pytest.mark.parametrize("name", ["floating_turbine", "oc3_hywind"])
def test_power_in_is_the_rate_of_energy(name):
    """dE/dt = power of the drives, and of the yaw spring: E holds half K yaw^2, but its moment is about the world's z, about which
    a rolling, pitched platform turns faster or slower than yaw grows. The integral is Simpson's: its error is 1/15 of what every
    second sample makes."""
    data = run(name).data
    power = (data.drive_force.values*data.v.values[:, 6:]).sum(axis=1)
    if name == "oc3_hywind":
        moment = data.element_force.sel(element="water", component="mz").values
        turning = data.angular_velocity.sel(body="platform", axis="z").values
        power += moment*(turning - data.v.sel(v_name="platform.rz").values)
    energy = data.total_energy.values - data.total_energy.values[0]
    work = cumulative_simpson(power, x=data.time.values, initial=0)[::2]
    coarse = cumulative_simpson(power[::2], x=data.time.values[::2], initial=0)
    assert np.abs(energy).max() > 1e3*EPS*np.abs(data.potential_energy.values).max()
    bound = np.abs(work - coarse).max()/15*2 + 100*EPS*np.abs(data.potential_energy.values).max()
    assert np.abs(energy[::2] - work).max() < bound


def pitch_period():
    """The slowest of the platform's small motions."""
    model, h = turbine("floating_turbine").compile(), 1e-4
    still = np.zeros(model.nv)
    steps = h*np.eye(model.nv)[PLATFORM]
    K = np.array([(model.bias(model.q0 + step, still) - model.bias(model.q0 - step, still))[PLATFORM] for step in steps]).T/(2*h)
    return 2*np.pi/np.sqrt(np.linalg.eigvals(np.linalg.solve(model.mass_matrix(model.q0)[PLATFORM, PLATFORM], K)).real.min())


def test_at_75_s_pitch_and_surge_cross_zero_and_roll_and_sway_peak():
    """As the paper reports, of the slow part: the mean over a pitch period, which takes away the undamped oscillation but for the
    share by which the rotor's momentum changes its period, at most h/(I w) = 4.9e7/(1.5e10 0.137) = 2.4 %. The slow part turns at
    0.0209 1/s: 1.2 s. Raw, roll and sway peak within half a pitch period: sin(psi) - r sin(w t) has one peak in between."""
    told = SCRIPT["channels"](run("floating_turbine", until=150.0))
    period, time = pitch_period(), told.time.values
    samples = round(period/(time[1] - time[0]))
    middle = time[:len(time) - samples + 1] + period/2

    def slow(name):
        return np.convolve(told[name].values, np.full(samples, 1/samples), "valid")

    for name in ("PtfmPitch", "PtfmSurge"):
        crossings = middle[:-1][np.diff(np.sign(slow(name))) != 0]
        assert len(crossings) == 1
        assert abs(crossings[0] - 75.0) < 1.2
    for name in ("PtfmRoll", "PtfmSway"):
        assert abs(middle[np.abs(slow(name)).argmax()] - 75.0) < 1.2
        assert abs(time[np.abs(told[name].values).argmax()] - 75.0) < period/2


def test_matrices_for_small_motions():
    """The error of the restoring forces is of second order: halved motions, a quarter of it. In the maneuver, whose motions change
    the lines' directions by 1.2 m in 564 and tilt by 0.017, half a percent (5e-3)."""
    system = turbine("floating_turbine")
    plain = SCRIPT["linearized"](system)
    models, still = [system.compile(), plain.compile()], np.zeros(11)
    push = np.concatenate([[0.5, -0.3, 0.2, 0.002, 0.01, -0.008], np.zeros(5)])

    def error(share):
        full, linear = (model.bias(share*push, still)[PLATFORM] for model in models)
        return np.abs(full - linear)/[1, 1, 1, 90, 90, 90]

    assert (error(0.5) < 0.3*error(1.0).max()).all()
    assert error(1.0).max() < 5e-3*np.abs(models[0].bias(push, still)[:3]).max()
    runs = (bough.simulate(each, until=100.0, record=["state", "reactions"]) for each in (system, plain))
    full, linear = map(SCRIPT["channels"], runs)
    for name in ("PtfmSurge", "PtfmSway", "PtfmRoll", "PtfmPitch"):
        assert_same(linear[name], full[name], 5e-3)


# ---- outputs ------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", TURBINES)
def test_tower_top_loads_in_both_axes(name):
    """YawBr..n and ..p are one load: that of the nacelle on the tower in the world, seen from nacelle and tower top."""
    result = bough.simulate(turbine(name), until=20.0, sample_rate=1, record=["state", "reactions", "pose"])
    told, world = SCRIPT["channels"](result), -result.internal_loads("nacelle", axes="world").values/1e3
    nacelle = Rotation.from_quat(result.data.attitude.sel(body="nacelle").values)
    tower = nacelle*Rotation.from_euler("z", -told.NacYaw.values[:, None], degrees=True)
    assert float(abs(told.YawBrFzn + 3426.3).max()) < 150                            # the weight presses, and shakes if flexible
    for axes, seen in (("n", nacelle), ("p", tower)):
        for i, kind in enumerate("MF"):
            ours = np.stack([told[f"YawBr{kind}{axis}{axes}"].values for axis in "xyz"], axis=-1)
            assert_same(ours, seen.inv().apply(world[:, 3*i:3*i + 3]), CANCELLING)


def test_what_the_script_writes(tmp_path):
    """Names and units of OpenFAST, the same numbers in both tables, and a figure for each of the paper's and the deflections."""
    result = bough.simulate(turbine("floating_turbine_flexible"), until=2.0)
    names = {path.name for path in SCRIPT["write"](result, tmp_path)}
    stem = "floating_turbine_flexible"
    figures = ("rotations", "translations", "forces", "moments", "deflections")
    assert names == {f"{stem}-channels.nc", f"{stem}-channels.out", *(f"{stem}-{figure}.png" for figure in figures)}
    assert names == {path.name for path in tmp_path.iterdir()}
    header, units, *rows = (tmp_path/f"{stem}-channels.out").read_text().splitlines()
    told = dict(zip(header.split("\t"), units.split("\t"), strict=True))
    assert told["PtfmSurge"] == "(m)"
    assert told["PtfmYaw"] == told["NacYaw"] == told["Azimuth"] == told["BldPitch3"] == "(deg)"
    assert told["YawBrFxp"] == told["YawBrFzn"] == "(kN)"
    assert told["YawBrMyp"] == "(kN-m)"
    last = dict(zip(told, map(float, rows[-1].split("\t")), strict=True))
    assert last["NacYaw"] == pytest.approx(2.4, rel=printed(11))
    assert last["BldPitch2"] == pytest.approx(2.4, rel=printed(11))
    assert last["Azimuth"] == pytest.approx(np.rad2deg(2*SPIN), rel=printed(11))
    assert last["PtfmSurge"] == pytest.approx(float(result.data.q.sel(q_name="platform.x")[-1]), rel=printed(11))


def test_flexible_tower_and_blades_follow_the_rigid_platform_at_first():
    """Over 20 s the platform moves as the rigid one but for the tower's softness, some percent, and the blades swing by meters."""
    rigid = run("floating_turbine").data.sel(time=slice(0, 20))
    bent = bough.simulate(turbine("floating_turbine_flexible"), until=20.0, record=["state", "nodes"]).data
    assert_same(bent.q.sel(q_name="platform.ry").values, rigid.q.sel(q_name="platform.ry").values, 0.1)    # softness
    tips = abs(bent.node_deflection).max("time").max("axis")
    assert 0.03 < float(tips.sel(node="tower.tip")) < 0.12
    assert 0.5 < float(tips.sel(node="blade1.tip")) < 2.0
