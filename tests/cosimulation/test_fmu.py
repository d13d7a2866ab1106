"""Units run in FMPy, beside the simulator."""

import doctest
import importlib
import json
import sys
import zipfile
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import numpy as np
import pytest

import bough
from bough.cli import main
from bough.cosimulation import build_fmu
from bough.cosimulation.unit import base_units

fmpy = pytest.importorskip("fmpy", reason="FMPy is not installed")

END, STEP = 0.5, 0.02
LIBRARIES = {2: "pythonfmu", 3: "pythonfmu3"}


def crane(method="rk4"):
    """A pendulum under a trolley; ports of one number and of three, and one that depends on the inputs at the same time."""
    s = bough.System("my crane", gravity=(0, 0, -9.81))
    s.body("trolley", joint=bough.Prismatic("x"), mass=10.0)
    s.body("load", parent="trolley", joint=bough.Revolute("y", q0=0.2), mass=2.0, com=(0, 0, -1))
    s.input("drive", coordinate="trolley.x", label="force of the drive")
    s.input("wind", force="load", axes="world")
    s.output("angle", coordinate="load.ry")
    s.output("tip", position=bough.Frame("load", at=(0, 0, -1)))
    s.output("felt", felt_acceleration="trolley", component="x")
    s.simulation(until=END, method=method, **({"dt": 5e-3} if method == "rk4" else {}))
    return s


def inputs_at(k):
    return [np.sin(0.3 * k), 0.1 * k, 0.0, -0.2]


def law(t, y):
    row = inputs_at(round(t / STEP))
    return {"drive": row[0], "wind": row[1:]}


def host(path, inputs, names, back):
    """FMPy runs a unit, a row of inputs for each step: outputs after each; and five again from step `back` on, after a
    rollback, and from bytes."""
    from fmpy.fmi2 import FMU2Slave
    from fmpy.fmi3 import FMU3Slave

    description = fmpy.read_model_description(path)
    kind, state = (FMU2Slave, "FMUstate") if description.fmiVersion == "2.0" else (FMU3Slave, "FMUState")
    unit = kind(guid=description.guid, unzipDirectory=fmpy.extract(path), modelIdentifier=description.coSimulation.modelIdentifier,
                instanceName="one")
    unit.instantiate()
    if kind is FMU2Slave:
        unit.setupExperiment(startTime=0.0)
        unit.enterInitializationMode()
        put, get, read = unit.setReal, unit.getReal, unit.deSerializeFMUstate
    else:
        unit.enterInitializationMode(startTime=0.0)
        put, get, read = unit.setFloat64, unit.getFloat64, unit.deserializeFMUState
    unit.exitInitializationMode()
    places = [[v.valueReference for v in description.modelVariables if v.causality == role] for role in ("input", "output")]
    assert [v.name for v in description.modelVariables if v.causality == "output"] == names

    def step(k):
        put(places[0], inputs[k])
        unit.doStep(currentCommunicationPoint=k * STEP, communicationStepSize=STEP)
        return list(get(places[1]))

    found = [step(k) for k in range(back)]
    kept = getattr(unit, f"get{state}")()
    stored = getattr(unit, f"serialize{state}")(kept)
    found += [step(k) for k in range(back, len(inputs))]
    again = []
    for each in (kept, read(stored)):
        getattr(unit, f"set{state}")(each)
        again.append([step(k) for k in range(back, back + 5)])
        getattr(unit, f"free{state}")(each)
    unit.terminate()
    unit.freeInstance()
    return found, again


@pytest.mark.parametrize(("fmi", "method"), [(2, "rk4"), (3, "rk4"), (2, "dopri5")])
def test_a_unit_moves_as_the_simulator_does_and_goes_back(tmp_path, fmi, method):
    """The same bits, with inputs that change at each step of communication. FMPy is in a process of its own, as a host is: a unit
    that is unloaded leaves the modules of the Python it ran in broken."""
    library = pytest.importorskip(LIBRARIES[fmi], reason=f"{LIBRARIES[fmi]} is not installed")
    if not library.FmuBuilder.has_binary():
        pytest.skip(f"{LIBRARIES[fmi]} has no binary for this platform")
    path, inputs = build_fmu(crane(method), tmp_path / "crane.fmu", fmi=fmi), [inputs_at(k) for k in range(round(END / STEP))]
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as process:
        found, again = process.submit(host, path, inputs, ["angle", "tip.x", "tip.y", "tip.z", "felt"], 10).result()
    sim = bough.Simulator(crane(method), sample_rate=0.0)
    for k, row in enumerate(inputs):
        sim.u["drive"], sim.u["wind"] = row[0], row[1:]
        sim.advance(until=k * STEP + STEP)
        assert found[k] == [sim.y["angle"], *sim.y["tip"], sim.y["felt"]]
    run = bough.simulate(crane(method), laws=[bough.Law(law, period=STEP)], sample_rate=1 / STEP, record=["state"])
    angle = run.data.q.sel(q_name="load.ry").values[1:]
    np.testing.assert_allclose(np.array(found)[:, 0], angle, rtol=0, atol=1e-13 if method == "rk4" else 1e-8)   # dopri5: its rtol
    assert abs(angle).max() > 0.1
    assert again == [found[10:15]] * 2


@pytest.mark.parametrize("fmi", [2, 3])
def test_the_description_has_ports_with_units_and_what_the_unit_can_do(tmp_path, fmi):
    pytest.importorskip(LIBRARIES[fmi], reason=f"{LIBRARIES[fmi]} is not installed")
    path = build_fmu(crane(), tmp_path / "deep" / "crane.fmu", fmi=fmi)
    description = fmpy.read_model_description(path, validate=True)
    assert description.modelName == "my_crane"
    told = {v.name: (v.causality, v.unit, v.description) for v in description.modelVariables if v.name != "time"}
    assert told == {
        "drive": ("input", "N", "force of the drive"), **{f"wind.{a}": ("input", "N", f"wind {a}") for a in "xyz"},
        "angle": ("output", "rad", "angle"), **{f"tip.{a}": ("output", "m", f"tip {a}") for a in "xyz"},
        "felt": ("output", "m/s^2", "felt"),
    }  # fmt: skip
    for ability in ("canGetAndSetFMUstate", "canSerializeFMUstate", "canHandleVariableCommunicationStepSize", "needsExecutionTool"):
        assert getattr(description.coSimulation, ability)
    assert (description.defaultExperiment.stopTime, description.defaultExperiment.stepSize) == ("0.5", "0.005")
    with zipfile.ZipFile(path) as unit:
        assert json.loads(unit.read("resources/unit.json"))["options"] == {"method": "rk4", "dt": 5e-3}


def test_the_command_line_writes_one(tmp_path, monkeypatch, capsys):
    pytest.importorskip("pythonfmu")
    monkeypatch.chdir(tmp_path)
    crane().to_yaml("crane.yaml")
    for arguments, end, words in ((["crane.yaml"], 0, "wrote crane.fmu"), (["crane.yaml", "--fmi", "1"], 1, "give 2 or 3"),
                                  (["crane.yaml", "-o", "crane.zip"], 1, "let it end in .fmu")):
        with pytest.raises(SystemExit) as ended:
            main(["fmu", *arguments])
        said = capsys.readouterr()
        assert ((ended.value.code or 0) != 0) == bool(end)
        assert words in " ".join((said.out + said.err).split())
    assert fmpy.read_model_description("crane.fmu").fmiVersion == "2.0"


def test_a_system_without_ports_is_refused(tmp_path):
    s = bough.System("none")
    s.body("ball", mass=1.0, joint=bough.Free())
    with pytest.raises(bough.DescriptionError, match="no ports"):
        build_fmu(s, tmp_path / "none.fmu", dt=0.1)


def test_a_library_that_is_missing_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pythonfmu3.builder", None)
    with pytest.raises(bough.BoughError, match=r"FMI 3 needs pythonfmu3: pip install 'bough\[fmu\]'"):
        build_fmu(crane(), tmp_path / "crane.fmu", fmi=3)


@pytest.mark.parametrize("module", ["build", "unit"])
def test_docstrings(module):
    assert doctest.testmod(importlib.import_module(f"bough.cosimulation.{module}")).failed == 0


def test_units_have_their_dimensions():
    assert base_units("N m s") == {"kg": 1, "m": 2, "s": -1}
    assert base_units("rad/s") == {"rad": 1, "s": -1}
    assert base_units("1") == {}
