"""The command line as a person uses it: what it prints, what it writes, and what it says to nonsense."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import xarray

import bough
from bough.cli import main
from tests.support.robots import ARM

PENDULUM = """
name: pendulum
gravity: [0, 0, -9.81]
bodies:
- {name: bob, joint: {type: revolute, axis: y, q0: 0.5}, mass: 2, com: [0, 0, -1]}
simulation: {until: 1, dt: 1e-3, sample_rate: 50}
"""


@pytest.fixture
def call(tmp_path, monkeypatch, capsys):
    """Call the command line in an empty folder: (exit code, stdout, stderr)."""
    monkeypatch.chdir(tmp_path)
    Path("pendulum.yaml").write_text(PENDULUM)

    def run(*arguments):
        with pytest.raises(SystemExit) as end:
            main([str(argument) for argument in arguments])
        out = capsys.readouterr()
        return end.value.code or 0, out.out, out.err

    return run


def test_run_writes_data_and_plots_and_a_summary(call):
    code, out, err = call("run", "pendulum.yaml")
    assert code == 0
    assert "reached the end" in out
    assert "bob" in out
    assert "error" not in err
    files = sorted(path.name for path in Path("out").iterdir())
    figures = ("energy", "momentum", "reactions", "state")
    assert files == [*(f"pendulum-{what}.png" for what in figures), "pendulum.nc"]
    assert all(f"wrote out/{name}" in out for name in files)
    assert bough.open_result("out/pendulum.nc").time[-1] == 1.0


def test_plots_are_drawn_in_a_folder_of_any_name(call):
    code, out, _ = call("run", "pendulum.yaml", "-o", "a|b é/c|d.nc")
    assert code == 0
    assert (Path("a|b é") / "c|d-state.png").is_file()
    assert "wrote a|b é/c|d-state.png" in out


def test_a_replay_is_written_beside_the_data_and_viewed_from_it(call, monkeypatch):
    code, out, _ = call("run", "pendulum.yaml", "--no-plots", "--replay")
    assert code == 0
    assert "wrote out/pendulum.html (open it in a browser)" in out
    first = Path("out/pendulum.html").read_text(encoding="utf-8")
    opened = []
    monkeypatch.setattr("webbrowser.open", lambda address: opened.append(address) or True)
    code, out, _ = call("view", "out/pendulum.nc", "-o", "show/p.html", "--no-open")
    assert (code, opened) == (0, [])
    assert out.startswith("wrote show/p.html, 51 frames, ")
    assert Path("show/p.html").read_text(encoding="utf-8") == first
    code, out, _ = call("view", "out/pendulum.nc", "--frames", 10)
    assert (code, opened) == (0, [Path("out/pendulum.html").resolve().as_uri()])
    assert "10 frames of 51 samples" in out


def test_what_cannot_be_viewed_is_said(call):
    code, _, err = call("view", "none.nc")
    assert code == 2
    assert err == "error: none.nc: there is no such file; give the path of a NetCDF file that bough wrote\n"
    code, _, err = call("view", "pendulum.yaml")
    assert code == 2
    assert "pendulum.yaml: is not a NetCDF file" in err
    call("run", "pendulum.yaml", "--no-plots", "-q", "--record", "energy")
    code, _, err = call("view", "out/pendulum.nc")
    assert code == 2
    assert "run it again with 'state' in record" in err


def test_a_flexible_system_has_figures_of_its_nodes_and_strain(call):
    code, out, _ = call("run", Path(__file__).parents[2] / "examples" / "flexible_panel.yaml", "--until", 0.5)
    assert code == 0
    assert "final panel.tip" in out
    names = {path.name.removeprefix("flexible_panel") for path in Path("out").iterdir()}
    figures = ("state", "energy", "momentum", "reactions", "nodes", "strain", "wheels")
    assert names == {".nc", *(f"-{what}.png" for what in figures)}


def test_options_win_over_the_file(call):
    code, out, _ = call("run", "pendulum.yaml", "--until", 2, "--dt", 0.01, "--sample-rate", 10, "--method", "euler-cromer",
                        "--record", "state,reactions", "-o", "new/r.nc", "--no-plots", "--quiet")  # fmt: skip
    assert (code, out) == (0, "")
    result = bough.open_result("new/r.nc")
    assert (result.time[-1], len(result.time), result.facts.method, result.facts.dt) == (2.0, 21, "euler-cromer", 0.01)
    assert set(result.data) == {"q", "v", "reaction"}
    assert [path.name for path in Path("new").iterdir()] == ["r.nc"]


def test_a_script_is_as_good_as_a_file(call):
    Path("helper.py").write_text("LENGTH = 1.0")
    Path("script.py").write_text(
        "import bough\nfrom helper import LENGTH\nother = bough.System('other')\nsystem = bough.System('scripted')\n"
        "system.body('bob', joint=bough.Revolute('y', q0=0.5), mass=2.0, com=(0, 0, -LENGTH))\n"
        "system.simulation(until=0.1, dt=1e-2)\nif __name__ == '__main__':\n    raise RuntimeError('not to be run')\n"
    )
    assert call("run", "script.py", "-q", "--no-plots")[0] == 0
    assert bough.open_result("out/script.nc").system.name == "scripted"
    assert str(Path.cwd()) not in sys.path


def test_check_prints_the_tree_and_the_totals(call):
    code, out, _ = call("check", Path(__file__).parents[2] / "examples" / "spacecraft.yaml")
    assert code == 0
    for part in ("10 bodies, 15 degrees of freedom", "left_hand   revolute: rx", "490.4 kg", "mass center", "rw_bias in bus",
                 "springs: left_upper", "until=60.0"):  # fmt: skip
        assert part in out


def test_check_tells_of_meshes_that_are_not_there(call):
    Path("part.yaml").write_text("bodies: [{name: part, joint: free, mass: 1, inertia: [1, 1, 1], shapes: {mesh: part.stl}}]")
    code, out, _ = call("check", "part.yaml")
    assert code == 0
    assert f"meshes        part: there is no file {Path('part.stl').absolute()}; it will not be drawn" in out


def test_check_gives_mass_center_and_inertia_about_it(call):
    Path("dumbbell.yaml").write_text(
        "bodies:\n- {name: a, joint: free, mass: 1, inertia: [1, 1, 1]}\n- {name: b, parent: a, at: [2, 0, 0], mass: 3}\n"
    )
    lines = {line[:14].strip(): line[14:].split() for line in call("check", "dumbbell.yaml")[1].splitlines() if line}
    assert lines["mass"][0] == "4"
    assert [float(x) for x in lines["mass center"][:3]] == [1.5, 0, 0]
    assert float(lines["inertia"][0]) == 1.0
    assert float(lines["about it"][1]) == 1.0 + 1 * 1.5**2 + 3 * 0.5**2       # parallel axes
    assert " ".join(lines["dynamics"]) == "order-n: no body is flexible"


FOUR_BAR = """
gravity: [0, 0, -9.81]
bodies:
- {{name: crank, joint: {{type: revolute, axis: y, q0: {crank}, v0: {speed}}}, mass: 1, com: [0, 0, 0.5], inertia: [0.1, 0.1, 0]}}
- {{name: bar, parent: crank, at: [0, 0, 1], joint: {{type: revolute, axis: y, q0: {bar}}}, mass: 2, com: [1, 0, 0], inertia: [0, 0.7, 0.7]}}
- {{name: rocker, at: [2, 0, 0], joint: {{type: revolute, axis: y, q0: {rocker}}}, mass: 1, com: [0, 0, 0.5], inertia: [0.1, 0.1, 0]}}
loops:
- {{name: pin, joint: {{type: revolute, axis: y, damping: 0.1}}, a: {{body: bar, at: [{length}, 0, 0]}}, b: {{body: rocker, at: [0, 0, 1]}}}}
"""  # noqa: E501


def check_of(call, more="", **numbers):
    """What `bough check` says about a parallelogram, by label."""
    given = {"crank": 0.1, "bar": -0.1, "rocker": 0.1, "speed": 0, "length": 2} | numbers
    Path("bars.yaml").write_text(FOUR_BAR.format(**given) + more)
    code, out, err = call("check", "bars.yaml")
    said = {}
    for line in filter(None, out.splitlines()):
        said[line[:14].strip()] = (said.get("", "") if line.startswith(" ") else "") + line[14:]         # what goes on, together
    return code, said, err


def test_check_counts_what_loops_leave_free(call):
    code, said, _ = check_of(call)
    assert code == 0
    assert said["freedom"] == "3 before loops, 2 independent equations of 5, 1 degree of freedom"
    assert said["redundant"] == "pin.y, pin.rx, pin.rz: the other equations imply them"
    assert "dampers: loop pin" in said[""]
    assert not {"idle", "singular", "at the start"} & set(said)


def test_check_says_what_a_run_will_close(call):
    assert check_of(call, rocker=0.103)[1]["at the start"] == "loop 'pin' is open by 2.98 mm; a run will close it"
    assert check_of(call, crank=0, bar=0, rocker=0, speed=1)[1]["at the start"] == (
        "the speeds open loop 'pin' by 2 m/s; a run will change them")


def test_check_holds_what_a_run_holds(call):
    code, _, err = check_of(call, "simulation: {until: 1, dt: 1e-3, hold: [crank, bar, rocker]}\n", rocker=0.103)
    assert code == 2
    assert "while crank, bar, rocker are held; hold less" in err


def test_check_names_idle_loops(call):
    twin = "- {name: second, joint: spherical, a: {body: bar, at: [2, 0.1, 0]}, b: {body: rocker, at: [0, 0.1, 1]}}\n"
    said = check_of(call, twin)[1]
    assert said["freedom"] == "3 before loops, 2 independent equations of 8, 1 degree of freedom"
    assert said["idle"] == "pin, second: the other loops imply each of them"


def test_check_tells_a_singular_start(call):
    said = check_of(call, crank=1.5707963267948966, bar=-1.5707963267948966, rocker=1.5707963267948966)[1]
    assert said["freedom"].endswith("2 degrees of freedom")
    assert said["singular"].startswith("the initial position is singular: 2 equations are independent beside it")


def test_check_fails_where_loops_cannot_close(call):
    code, said, err = check_of(call, length=5)
    assert code == 2
    assert "mass" not in said
    assert err.splitlines()[-1].startswith("error: loop 'pin' is open by ")


def test_a_system_with_loops_has_figures_of_their_forces_and_gaps(call):
    code, out, _ = call("run", Path(__file__).parents[2] / "examples" / "deployment.yaml", "--until", 1)
    assert code == 0
    assert "largest gap" in out
    names = {path.name.removeprefix("deployment") for path in Path("out").iterdir()}
    assert names == {".nc", *(f"-{what}.png" for what in ("state", "energy", "momentum", "reactions", "loops"))}


@pytest.mark.parametrize(("arguments", "message"), [
    (["run", "pendulum.yml"], "pendulum.yml: there is no such file, did you mean 'pendulum.yaml'?"),
    (["run", "."], "is a folder"),
    (["check", "bad.yaml"], "bad.yaml:2: body 'a': unknown key 'mas'; did you mean 'mass'?"),
    (["run", "empty.py"], "makes no System"),
    (["run", "two.py"], "makes several Systems (a, b)"),
    (["run", "pendulum.yaml", "--method", "rk5"], "did you mean 'rk4'"),
    (["run", "pendulum.yaml", "--record", "stat"], "did you mean 'state'"),
    (["run", "pendulum.yaml", "--record", ""], "record: it is empty"),
    (["run", "pendulum.yaml", "--record", "wheels"], "has no wheels"),
    (["run", "pendulum.yaml", "--until", "-1"], "until is -1.0"),
    (["run", "pendulum.yaml", "-o", "pendulum.yaml/x.nc"], "pendulum.yaml"),
    (["examples", "spacecrft"], "did you mean 'spacecraft'"),
])  # fmt: skip
def test_nonsense_is_one_line_and_exit_code_2(call, arguments, message):
    Path("bad.yaml").write_text("bodies:\n- {name: a, mas: 3}\n")
    Path("empty.py").write_text("x = 1\n")
    Path("two.py").write_text("import bough\na, b = bough.System('a'), bough.System('b')\n")
    code, _, err = call(*arguments)
    assert code == 2
    assert message in err
    lines = [line for line in err.splitlines() if not line.startswith("bough: compiling")]
    assert len(lines) == 1
    assert lines[0].startswith("error: ")


def test_a_run_that_diverges_keeps_its_samples(call):
    Path("stiff.yaml").write_text(
        "bodies: [{name: slider, joint: {type: prismatic, axis: x, stiffness: 1e9, q0: 0.1}, mass: 1}]\n"
        "simulation: {until: 1, dt: 1e-3}\n"
    )
    code, out, err = call("run", "stiff.yaml", "--no-plots")
    assert code == 2
    assert "diverged at t = 0.06" in err
    assert "slider" in err
    assert "stopped early" in out
    assert "diverged" in bough.open_result("out/stiff.nc").failure


def test_unexpected_errors_show_where_they_come_from(tmp_path):
    (tmp_path / "crash.py").write_text("1/0\n")
    done = subprocess.run([sys.executable, "-c", "from bough.cli import main; main()", "run", "crash.py"],
                          cwd=tmp_path, capture_output=True, text=True, check=False)  # fmt: skip
    assert done.returncode == 1
    assert "Traceback" in done.stderr
    assert "crash.py" in done.stderr


def test_examples_are_listed_shown_and_copied(call):
    listed = call("examples")[1]
    assert "spacecraft" in listed
    assert "controller" in listed
    assert call("examples", "orbit")[1].startswith("# A satellite")
    assert call("examples", "spacecraft", "--copy")[0] == 0
    assert bough.load("spacecraft.yaml").name == "spacecraft"
    code, _, err = call("examples", "spacecraft", "--copy")
    assert code == 2
    assert "already exists" in err


def test_schema_and_version(call):
    assert json.loads(call("schema")[1])["title"] == "Document"
    assert call("version")[1].strip() == bough.__version__


def test_help_needs_nothing_heavy():
    heavy = "numba", "numpy", "xarray", "matplotlib", "pydantic", "h5py"
    code = f"import sys\nfrom bough.cli import app\napp(['--help'], standalone_mode=False)\n" \
           f"print([name for name in {heavy} if name in sys.modules])"  # fmt: skip
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


@pytest.mark.slow
def test_a_run_needs_no_xarray(tmp_path):
    (tmp_path / "pendulum.yaml").write_text(PENDULUM)
    code = "import sys\nfrom bough.cli import app\napp(['run', 'pendulum.yaml'], standalone_mode=False)\n" \
           "print([name for name in ('xarray', 'pandas', 'matplotlib.pyplot') if name in sys.modules])"  # fmt: skip
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
    with xarray.open_dataset(tmp_path / "out" / "pendulum.nc", engine="h5netcdf") as data:
        assert data.sizes["time"] == 51


def test_a_urdf_file_is_as_good_as_a_yaml_file(call):
    Path("arm.urdf").write_text(ARM)
    code, out, _ = call("check", "arm.urdf")
    assert code == 0
    assert ", 1 coupling, " in out                                          # a joint that follows another
    code, out, err = call("run", "arm.urdf", "--until", 0.01, "--dt", 1e-3, "--no-plots")
    assert code == 0
    assert "notes on what is not used; bough check arm.urdf lists them" in err
    code, out, _ = call("convert", "arm.urdf", "arm.yaml", "--base", "free", "--mimic", "locked")
    assert code == 0
    assert "note: dry friction is not used: shoulder 0.1" in out
    assert "wrote arm.yaml" in out
    assert bough.load("arm.yaml") == bough.load_urdf("arm.urdf", base="free", mimic="locked")
    assert call("convert", "arm.yaml", "again.yaml")[0] == 0
    assert Path("again.yaml").read_text() == Path("arm.yaml").read_text()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["convert", "pendulum.yaml", "new.yaml", "--base", "free"],
         "pendulum.yaml: base given, but it is not a URDF file; leave out base"),
        (["convert", "pendulum.yaml", "new.urdf"], "new.urdf: is not the name of a YAML file; let it end in .yaml"),
        (["convert", "none.urdf", "new.yaml"], "none.urdf: there is no such file; give the path of a URDF file"),
    ],
)  # fmt: skip
def test_what_cannot_be_converted(call, arguments, message):
    code, _, err = call(*arguments)
    assert code == 2
    assert err == f"error: {message}\n"


SCRIPT = """
import bough

system = bough.System("rotor")
system.body("rotor", joint=bough.Revolute("z", q0=1.0), inertia=(1, 1, 1), mass=1.0)
system.input("motor", coordinate="rotor")
system.output("angle", coordinate="rotor")


@bough.law(period=0.1, states=[0.0])
def pull(t, y, z):
    return {"motor": -y["angle"] - z[0]}, z + 0.1*y["angle"]
"""


@pytest.mark.parametrize("how", ["saved", "streamed", "interrupted"])
def test_a_run_of_a_script_with_laws_goes_on(call, monkeypatch, how):
    """The law of a script acts, and --resume goes on with it: after the end, and after Ctrl-C."""
    Path("rotor.py").write_text(SCRIPT)
    options = ["--dt", "0.01", "--sample-rate", "10", "--no-plots", "-q"]
    assert call("run", "rotor.py", "--until", "2", "-o", "whole.nc", *options)[0] == 0
    if how == "interrupted":
        stopping = "    if t > 0.65:\n        raise KeyboardInterrupt\n    return {"
        Path("rotor.py").write_text(SCRIPT.replace("    return {", stopping))
    streamed = [] if how == "saved" else ["--checkpoint", "1e-4"]
    assert call("run", "rotor.py", "--until", "1", "-o", "half.nc", *streamed, *options)[0] == (130 if how == "interrupted" else 0)
    Path("rotor.py").write_text(SCRIPT)
    assert "give the same ones" in call("run", "--resume", "half.nc", "--until", "2", "--no-plots")[2]
    assert call("run", "rotor.py", "--resume", "half.nc", "--until", "2", "--record", "state", "--no-plots", "-q")[0] == 0
    whole, half = (bough.open_result(name).data for name in ("whole.nc", "half.nc"))
    assert np.array_equal(whole.q.values, half.q.values)
    assert whole.q.values[-1] < 0.9
    assert "position" not in half
