"""A small part of `make fuzz`, by a seed; and what it found once, each case by itself."""

import contextlib
import io
import json
import sys
from collections import Counter

import numpy as np
import pytest

import bough
from bough.errors import BoughError, DescriptionError, StateError
from bough.flex import beam, from_matrices, read_abaqus, read_ansys
from bough.flex.flexible_body import read_npz, to_npz
from bough.flex.reading import read_matrix_market
from bough.results.stream import Parts
from tests.support.fuzz import Kept, fuzz, warmed
from tests.support.fuzz_inputs import KINDS, documents, matrices, plant, saved, used

forks = pytest.mark.skipif(sys.platform != "linux", reason="forks, and limits their memory")


@forks
@pytest.mark.parametrize("kind", KINDS)
def test_a_few_of_each_kind(kind, monkeypatch):
    """Refused with a reason, or accepted and finite; what is found names the case: `python -m tests.support.fuzz --case KIND N`."""
    monkeypatch.setattr("tests.support.fuzz.SECONDS", 60.0)                    # a case may be the first that needs some kernels
    warmed(kind, 5)
    counts, findings = fuzz(kind, seed=1, first=0, number=40)
    assert not findings
    assert counts["accepted"] > 0
    assert sum(n for what, n in counts.items() if what.startswith("refused: ")) == 40 - counts["accepted"] > 5


def test_what_is_changed_is_good(tmp_path):
    """A change of a model file that is refused anyway would say nothing."""
    for text in documents()[0]:
        (tmp_path / "model.yaml").write_text(text)
        used(bough.load(tmp_path / "model.yaml"), np.random.default_rng(0), run=1.0)


def test_a_long_run_goes_on_where_it_was(tmp_path):
    kept = Kept(tmp_path / "fuzz.json", 0)
    kept.add("laws", {}, Counter(accepted=3, FOUND=1), {2: "why"})
    again = Kept(tmp_path / "fuzz.json", 0)
    assert again.tried("laws") == 4
    again.add("laws", again.kinds["laws"], Counter(accepted=2), {})
    assert Kept(tmp_path / "fuzz.json", 0).kinds["laws"] == {"counts": {"accepted": 5, "FOUND": 1}, "findings": {"2": "why"}}
    assert not Kept(tmp_path / "fuzz.json", 1).kinds


@forks
def test_the_watchdog_barks(monkeypatch):
    """A raw error, a silent NaN, a hang, a crash and a hunger for memory are all found."""
    import os

    from tests.support import fuzz as harness, fuzz_inputs

    bad = {
        0: lambda: 1 / 0,
        1: lambda: fuzz_inputs.finite("x", [np.nan]),
        2: lambda: [None for _ in iter(int, 1)],
        3: os.abort,
        4: lambda: bytearray(3 << 30),
    }
    monkeypatch.setattr(harness, "SECONDS", 0.3)
    monkeypatch.setattr(harness, "tried", lambda kind, seed, i, folder: bad[i]() if i in bad else "accepted")
    counts, findings = harness.fuzz("laws", 0, 0, 7)
    assert counts == {"FOUND": 5, "accepted": 2}
    assert [findings[i].split()[0] for i in range(5)] == ["ZeroDivisionError", "SilentlyNotFinite", "more", "the", "MemoryError"]


# ---- NPZ -------------------------------------------------------------------------------------------------------------------
@pytest.fixture(scope="module")
def held():
    with np.load(io.BytesIO(to_npz(beam(1.0, EI=(4.0, 6.0), mass_per_length=0.8, modes=2, elements=3)))) as arrays:
        return dict(arrays)


def written(arrays):
    stream = io.BytesIO()
    np.savez_compressed(stream, **arrays)
    return stream.getvalue()


@pytest.mark.parametrize(("name", "values", "said"), [
    ("K", np.zeros((2, 3)), r"'K' has the shape \(2, 3\); give \(n, n\)"),
    ("integrals.I1", np.zeros(3), r"'integrals.I1' has the shape"),
    ("geometric.acceleration", np.zeros((3, 2, 2, 1)), "'geometric.acceleration' has the shape"),
    ("integrals.h", np.zeros((2, 3), complex), "'integrals.h' contains numbers that are not finite"),
    ("nodes.phi", np.full((2, 3, 2), np.nan), "'nodes.phi' contains numbers that are not finite"),
    ("frequencies", np.array(["1", "2"]), "'frequencies' contains numbers that are not finite"),
    ("integrals.m", np.array(-1.0), "its mass is -1.0 kg"),
    ("outline.lines", np.array([[0, 99]]), "'outline.lines' names points that are not there"),
])  # fmt: skip
def test_bodies_of_wrong_arrays(held, name, values, said):
    with pytest.raises(DescriptionError, match=said):
        read_npz(written(held | {name: values}), "body.npz")


def test_bodies_that_are_damaged(held):
    """zlib, zip and NumPy each have errors of their own."""
    whole = written(held)
    for place in range(40, len(whole) - 40, 97):
        data = bytearray(whole)
        data[place : place + 8] = b"\xff" * 8
        with contextlib.suppress(DescriptionError):
            read_npz(bytes(data), "body.npz")


def test_a_stiffness_that_overflows_does_not_hang(held):
    """LAPACK's SVD never ended on it."""
    huge = {"geometric.gradient": held["geometric.gradient"] * 1e300, "integrals.I0": np.eye(3) * 1e-300}
    body = read_npz(written(held | huge), "b")
    s = bough.System("one")
    s.body("b", joint=bough.Revolute("y"), flexible=body)
    with pytest.raises(BoughError):
        s.compile().forward_dynamics([0.0, 0, 0], [0.0, 0, 0])


# ---- Matrix Market ---------------------------------------------------------------------------------------------------------
HEAD = "%%MatrixMarket matrix coordinate real general\n"


@pytest.mark.parametrize(("text", "said"), [
    ("%%MatrixMarket matrix coordinate complex general\n1 1 1\n1 1 1.0 2.0\n", "numbers are complex"),
    ("%%MatrixMarket matrix coordinate pattern general\n1 1 1\n1 1\n", "numbers are pattern"),
    ("no banner\n", "its first line is 'no banner'"),
    (HEAD + "9 9\n", "the line with its sizes is missing"),
    (HEAD + "1000000000 1000000000 1\n1 1 1.0\n", "are too many"),
    (HEAD + "2 2 1000000000\n1 1 1.0\n", "its head says 1000000000"),
    (HEAD + "2 2 2\n1 1 1.0\n", "it holds 1 entries where its head says 2"),
    (HEAD + "2 2 1\n0 1 1.0\n", "it has an entry outside of its 2 rows and 2 columns"),
    (HEAD + "2 2 1\n1 3 1.0\n", "it has an entry outside"),
    (HEAD + "2 2 1\n1 1.5 1.0\n", "is not an integer"),
    (HEAD + "2 2 1\n1 1 x\n", "could not convert"),
    (HEAD + "2 2 1\n1 nan 1.0\n", "is not an integer"),
    ("%%MatrixMarket matrix array real general\n2 2\n1 2 3\n", "it holds 3 numbers where its head says"),
    ("%%MatrixMarket matrix array real general\n999999 999999\n1\n", "it holds 1 numbers"),
])  # fmt: skip
def test_matrix_market_files_that_are_none(text, said, tmp_path):
    """SciPy's reader ended the process on some of these."""
    (tmp_path / "K.mtx").write_text(text)
    with pytest.raises(ValueError, match=said):
        read_matrix_market((tmp_path / "K.mtx").read_text())
    with pytest.raises(DescriptionError, match=r"'K\.mtx' for K cannot be read"):
        from_matrices(np.eye(9), tmp_path / "K.mtx", np.eye(3))


@pytest.mark.parametrize("symmetry", ["general", "symmetric"])
@pytest.mark.parametrize("dense", [False, True])
def test_matrix_market_files_as_scipy_reads_them(symmetry, dense, tmp_path):
    from scipy.io import mmread, mmwrite
    from scipy.sparse import csr_array

    matrix = np.random.default_rng(0).normal(size=(5, 5))
    matrix = matrix + matrix.T if symmetry == "symmetric" else np.where(matrix > 0, matrix, 0.0)
    mmwrite(tmp_path / "a.mtx", matrix if dense else csr_array(matrix), symmetry=symmetry, comment="a\nb", precision=17)
    ours, theirs = read_matrix_market((tmp_path / "a.mtx").read_text()), mmread(tmp_path / "a.mtx")
    np.testing.assert_array_equal(ours.toarray(), theirs if dense else theirs.toarray())


def test_exported_matrices_that_are_damaged(tmp_path):
    (tmp_path / "K.mtx").write_text(matrices()["K", "general"].replace("2.0000", "1e308"))
    (tmp_path / "M.mtx").write_text(matrices()["M", "general"])
    (tmp_path / "nodes.txt").write_text("1 0 0 0\n2 1 0 0\n3 1e999 0 0\n")
    given = {"attach": {"root": 1, "tip": 3}, "inboard": "root"}
    with pytest.raises(DescriptionError, match="the place of node 3 is not finite"):
        read_ansys(tmp_path / "K.mtx", tmp_path / "M.mtx", tmp_path / "nodes.txt", **given)
    (tmp_path / "nodes.txt").write_text(f"1 0 0 0\n2 1 0 0\n{10**30} 1 0 0\n")
    with pytest.raises(DescriptionError, match="is not a table of nodes"):
        read_ansys(tmp_path / "K.mtx", tmp_path / "M.mtx", tmp_path / "nodes.txt", **given)
    deck = "*Heading\n*Node\n1, 0., 0., 0.\n2, 1., 0., 0.\n3, 2., 0., 0.\n"
    (tmp_path / "a.inp").write_text(deck)
    rows = "".join(f"{i} {i} 1.0\n" for i in range(1, 10))
    (tmp_path / "ok.mtx").write_text(rows)
    for text, said in (("-1 1 1.0\n", "rows below 1"), ("inf 1 1.0\n", "wrong number"), ("99999999 1 1.0\n", "dofs for 3 nodes"),
                       ("0 1 1.0\n", "rows below 1"), ("1 1 nan\n", "no finite entry")):  # fmt: skip
        (tmp_path / "bad.mtx").write_text(rows + text)
        with pytest.raises(DescriptionError, match=said):
            read_abaqus(tmp_path / "a.inp", stiffness=tmp_path / "bad.mtx", mass=tmp_path / "ok.mtx", **given)
    (tmp_path / "bad.mtx").write_text("** nothing\n")
    with pytest.raises(DescriptionError, match="is not a stif matrix"):
        read_abaqus(tmp_path / "a.inp", stiffness=tmp_path / "bad.mtx", mass=tmp_path / "ok.mtx", **given)
    (tmp_path / "a.inp").write_text(deck.replace("3, 2.", f"{10**30}, 2."))
    with pytest.raises(DescriptionError, match="has a node number that is too large"):
        read_abaqus(tmp_path / "a.inp", stiffness=tmp_path / "ok.mtx", mass=tmp_path / "ok.mtx", **given)


# ---- NetCDF ----------------------------------------------------------------------------------------------------------------
def test_a_byte_that_changed_is_told_before_the_library_reads_it(tmp_path):
    """HDF5 never ended on some of these."""
    file = tmp_path / "run.nc"
    for place in range(0, len(saved()) - 50, 1013):
        data = bytearray(saved())
        data[place] ^= 0x41
        file.write_bytes(bytes(data))
        for ask in (bough.open_result, bough.resume):
            with pytest.raises(StateError, match="is damaged: its content is not what bough wrote"):
                ask(file)
    file.write_bytes(saved())
    assert bough.open_result(file).audit.fine


def changed(tmp_path, change):
    import h5py

    file = tmp_path / "run.nc"
    file.write_bytes(saved())
    with h5py.File(file, "a") as root:
        change(root)
    return file


def replaced(group, name, values):
    del group[name]
    group[name] = values


def emptied(root):
    del root["resume"]["t"]


@pytest.mark.parametrize("name", ["system", "record", "batched", "steps", "wall_time"])
def test_files_that_lack_what_bough_wrote(tmp_path, name):
    def change(root):
        del root.attrs[name]

    with pytest.raises(StateError, match=r"run\.nc"):
        bough.open_result(changed(tmp_path, change))


@pytest.mark.parametrize("change", [
    lambda root: root.attrs.__setitem__("record", "state nonsense"),
    lambda root: root.attrs.__setitem__("coordinates", 3.0),
    lambda root: root.attrs.__setitem__("steps", np.nan),
    lambda root: root.attrs.__setitem__("failure", 7.0),
    lambda root: root.__delitem__("time"),
    lambda root: root.attrs.__setitem__("record", ""),
    lambda root: replaced(root, "total_energy", 3.0),
])  # fmt: skip
def test_files_whose_facts_are_none(tmp_path, change):
    with pytest.raises(StateError, match=r"run\.nc"):
        bough.open_result(changed(tmp_path, change))


def test_a_file_without_an_energy_it_claims_says_so(tmp_path):
    found = bough.open_result(changed(tmp_path, lambda root: root.__delitem__("total_energy")))
    with pytest.raises(StateError, match="there is no variable 'total_energy' in this result"):
        str(found)


def test_an_audit_that_is_no_json(tmp_path):
    found = bough.open_result(changed(tmp_path, lambda root: root.attrs.__setitem__("audit", '{"findings": 3')))
    with pytest.raises(StateError, match="is damaged"):
        _ = found.audit


@pytest.mark.parametrize(("key", "value"), [
    ("shown_x", 3.0), ("failed", [[0.0, 1e30]]), ("failed", [[0.0, np.nan]]), ("t", "x"), ("steps", None), ("done", []),
])  # fmt: skip
def test_a_run_that_stands_nowhere(tmp_path, key, value):
    def change(root):
        memory = json.loads(root["resume"].attrs["memory"])
        memory["runs"][0][key] = value
        root["resume"].attrs["memory"] = json.dumps(memory)

    with pytest.raises(StateError):
        bough.resume(changed(tmp_path, change))


@pytest.mark.parametrize("key", ["runs", "laws", "options"])
def test_what_cannot_be_resumed(tmp_path, key):
    def change(root):
        memory = json.loads(root["resume"].attrs["memory"])
        memory[key] = 3.0
        root["resume"].attrs["memory"] = json.dumps(memory)

    with pytest.raises(StateError):
        bough.resume(changed(tmp_path, change))
    with pytest.raises(StateError, match="is damaged"):
        bough.resume(changed(tmp_path, emptied))


def test_a_streamed_run_begins_with_its_system(tmp_path, monkeypatch):
    """A kill before the system is there leaves no folder that looks like a run."""
    import bough.results.stream as stream

    def dies(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(stream.Path, "write_bytes", dies)
    with pytest.raises(KeyboardInterrupt):
        Parts(tmp_path / "run.nc").begin("name: x")
    assert not (tmp_path / "run.nc.parts").exists()
    (tmp_path / "run.nc.parts").mkdir()
    with pytest.raises(StateError, match="is damaged"):
        bough.resume(tmp_path / "run.nc")


# ---- descriptions, laws, options -------------------------------------------------------------------------------------------
def test_a_factor_that_overflows():
    s = bough.System("gears")
    for name in "ab":
        s.body(name, joint=bough.Revolute("z"), mass=1.0, inertia=(1, 1, 1))
    with pytest.raises(DescriptionError, match="coupling 'gear': relation has a factor of 'b'"):
        s.coupling("gear", {"a": 1.0, "b": 1e200}, stiffness=1.0)
    for nonsense in ([3, 1.0], ["ab", "cd"], [[[1], 2.0], ["a", 1.0]]):
        with pytest.raises(DescriptionError, match=r"coupling 'gear': relation is .*give a Gear"):
            s.coupling("gear", nonsense)


@pytest.mark.parametrize("slosh", [{"mass": 3.0}, {"model": "pendulum", 3: 1.0}, {"modle": "spring"}])
def test_slosh_of_wrong_keys(slosh):
    tank = {"name": "tank", "body": "b", "mass": 9.0, "slosh": slosh}
    with pytest.raises(DescriptionError, match="tank 'tank': slosh"):
        bough.System.from_dict({"bodies": [{"name": "b", "mass": 1.0}], "tanks": [tank]})


def test_a_mesh_whose_name_no_file_can_have(tmp_path):
    from tests.support.robots import ARM

    (tmp_path / "robot.urdf").write_text(ARM.replace("lost.stl", "a" * 300 + ".stl"))
    assert bough.load_urdf(tmp_path / "robot.urdf").bodies


def test_a_robot_of_numbers_too_large(tmp_path):
    from tests.support.robots import ARM

    for old, new in (('ixx="0.1"', 'ixx="1e200"'), ('rpy="0 0 1.57', 'rpy="0 1e308 1.57'), ('xyz="1 2 3"', 'xyz="1 2 -1e101"')):
        (tmp_path / "robot.urdf").write_text(ARM.replace(old, new, 1))
        with pytest.raises(DescriptionError, match="finite number"):
            bough.load_urdf(tmp_path / "robot.urdf")


def test_an_inertia_that_overflows():
    s = bough.System("huge")
    with pytest.raises(DescriptionError, match="too large to compute with"):
        s.body("b", joint=bough.Revolute("y"), mass=1e308, com=(1e10, 0, 0), inertia=(1, 1, 1))


@pytest.mark.parametrize(("options", "said"), [
    ({"outputs": 3.0}, "outputs is 3.0; give a name, or a list of names"),
    ({"inputs": 5}, "inputs is 5; give a name, or a list"),
    ({"states": [10**400]}, "states is"),
])  # fmt: skip
def test_laws_of_nonsense(options, said):
    with pytest.raises(StateError, match=said):
        bough.Law(lambda t, y: {}, period=0.1, **options)


def test_a_place_too_far_out_to_tell_which_joint_is_singular():
    """LAPACK's eigenvalues of what is not finite do not converge."""
    s = bough.System("far")
    s.body("turn", joint=bough.Spherical(), mass=1.0, inertia=(1, 1, 1))
    s.body("slide", parent="turn", joint=bough.Prismatic("y"), mass=1.0, inertia=(1, 1, 1))
    with pytest.raises(StateError, match="not finite"):
        s.compile().forward_dynamics([0, 0, 0, 1, 1e200], [0, 0, 1e100, 1e100])


def test_a_step_much_longer_than_the_run():
    """Both ends are samples, or the run diverges and says so; there were none, and a raw error."""
    assert len(bough.simulate(plant(), until=3e-3, dt=1.0, progress=False).time) == 2
    with pytest.raises(bough.SimulationError, match="take a smaller dt"):
        bough.simulate(plant(), until=3e-3, dt=2**63, progress=False)


@pytest.mark.parametrize(("options", "said"), [
    ({"t0": "now"}, "t0 is 'now'; give a time in seconds"),
    ({"t0": np.zeros(2)}, "t0 is "),
    ({"until": 10**400}, "until is"),
    ({"until": np.array([1.0])}, "until is "),
    ({"dt": 10**400}, "dt is"),
    ({"dt": "1e308"}, "dt is '1e308'; give seconds, a number greater than 0"),
    ({"t0": "0.0"}, "t0 is '0.0'; give a time in seconds"),
    ({"q0": ["x", np.inf], "parameters": {"arm.mass": [1.0, 2.0]}}, "^q "),
    ({"reproducible": np.zeros(2)}, "reproducible is array"),
    ({"method": np.zeros(2)}, "method is "),
    ({"dynamics": 3}, "dynamics is "),
    ({"hold": 3}, "hold is 3; give a name"),
    ({"hold": [3]}, r"hold is \[3\]"),
    ({"laws": 3.0}, r"laws is 3.0; give a list of laws"),
    ({"laws": np.zeros(2)}, "laws is array"),
    ({"record": 3.0}, "record is 3.0; give a name"),
    ({"record": [[1]]}, r"record is \[\[1\]\]"),
    ({"progress": 0.5}, "progress is 0.5; give True, False"),
    ({"parameters": 3}, "parameters is 3; give a dict"),
    ({"tanks0": {}}, "tanks0 is {}"),
    ({"q0": np.zeros((0, 5))}, "q has 0 rows"),
])  # fmt: skip
def test_options_of_nonsense(options, said):
    with pytest.raises((StateError, bough.ModelError), match=said):
        bough.simulate(plant(), **{"until": 3e-3, "dt": 1e-3, "progress": False} | options)
