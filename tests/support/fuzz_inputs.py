"""What is fuzzed: for each kind of input good ones, how a bad one is drawn, and what a user would do with it.

`tried(kind, seed, i, folder)` does so, and answers "accepted" or the kind of error that bough refused it with; whatever else is
raised is a finding.
"""

import io
import json
import warnings
from functools import cache
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import yaml

import bough
from bough.describe import Frame, Harmonics
from bough.errors import BoughError
from bough.flex import beam, from_matrices, read_abaqus, read_ansys
from bough.flex.flexible_body import read_npz, to_npz
from tests.support import fuzz_mutations as mutations
from tests.support.robots import ARM

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


class SilentlyNotFinite(Exception):
    """An answer that is not finite, and no error."""


def finite(what, *arrays):
    for array in arrays:
        if not np.isfinite(np.asarray(array, float)).all():
            raise SilentlyNotFinite(what)


def used(system, rng, run=0.2):
    """What one does with a system: compile it, ask for accelerations, run it sometimes."""
    model = system.compile()
    q, v = model.assemble() if model.constrained else (model.q0, model.v0)
    finite("accelerations", model.forward_dynamics(q, v))
    if rng.random() < run:
        finite("states of a run", bough.simulate(model, q0=q, v0=v, until=3e-3, dt=1e-3, method="rk4", progress=False).trajectory.x)


# ---- systems ---------------------------------------------------------------------------------------------------------------
@cache
def many_parts():
    """A system with a part of nearly every kind."""
    s = bough.System("parts", gravity=(0, 0, -9.81))
    s.body("bus", joint=bough.Free(v0=(0, 0, 0, 0.1, 0, 0)), mass=10.0, inertia=(2, 2, 3))
    s.body(
        "arm",
        parent="bus",
        at=(0.5, 0, 0),
        joint=bough.Revolute("y", q0=0.2, stiffness=3.0, damping=0.1, torque=0.2),
        mass=1.0,
        com=(0.2, 0, 0),
        inertia=(0.1, 0.1, 0.1),
    )
    s.body("hand", parent="arm", at=(0.4, 0, 0), joint=bough.Universal("yz"), mass=0.5, inertia=(0.02, 0.02, 0.02))
    s.body(
        "boom", parent="bus", at=(0, 0.5, 0), joint=bough.Prismatic("y"), flexible=beam(1.0, EI=9.0, mass_per_length=0.5, modes=2)
    )
    s.body(
        "dish",
        parent="bus",
        at=(0, 0, 1),
        joint=bough.Revolute("z", motion=Harmonics([(0.1, 2.0, 0.0)])),
        mass=1.0,
        inertia=(1, 1, 1),
    )
    s.body("pin", parent="bus", at=(1, 1, 0), joint=bough.Revolute("z"), mass=1.0, inertia=(0.1, 0.1, 0.1))
    s.wheel("rw", body="bus", axis="z", inertia=0.01, speed=20.0, torque=0.01)
    s.wrench("push", body="hand", force=(1, 0, 0), at=(0.1, 0, 0))
    s.line("rope", a="world", b=Frame("hand", at=(0.1, 0, 0)), stiffness=5.0, length=0.5, damping=0.1, slack=True)
    s.bushing("mount", a="bus", b=Frame("boom", at=(0, 0, 0)), stiffness=(1.0, [2.0, 3, 4]), damping=(0.1, [0.1, 0, 0]))
    s.restoring("tether", body="bus", stiffness=(5, 5, 5, 0, 0, 0))
    s.buoyancy("hull", body="pin", sections=[(-0.5, 0.5, 0.2, 0.2)], density=1025.0)
    s.stop("bumper", coordinate="pin.rz", above=0.5, stiffness=80.0)
    s.friction("rub", "pin", coulomb=0.1, viscous=0.1)
    s.coupling("gears", {"pin": 1.0, "arm": -3.0})
    s.event("lock it", when="pin.rz", crosses=0.3, do=[bough.Lock("arm")])
    s.input("torque", coordinate="arm")
    s.output("angle", coordinate="arm")
    s.simulation(until=0.1, dt=1e-3)
    return s


def changing():
    """A system that changes as it moves: a tank that empties, bodies that are caught and let go, a gearbox, a loop that is open."""
    s = bough.System("changing", gravity=(0, 0, -1.0))
    s.body("bus", joint=bough.Free(v0=(0, 0, 0, 0.1, 0, 0)), mass=30.0, inertia=(4, 5, 6))
    slosh = bough.Slosh("pendulum", level=[0, 75, 160], mass=[0, 50, 40], length=[0.38, 0.3, 0.2], decay=0.002, q0=(0, 0.1))
    s.tank("port", body="bus", at=(0, -0.5, 0), mass=150, capacity=160, shape=bough.shapes.Sphere(0.42), flow=0.15,
           exhaust_speed=3000.0, nozzle=(0, 0, -1.2), engine="main", slosh=slosh)  # fmt: skip
    s.body("arm", parent="bus", at=(1, 0, 0), joint=bough.Revolute("y", q0=0.3), mass=2.0, com=(0.3, 0, 0), inertia=(0.1, 0.2, 0.2))
    s.gearbox("motor", "arm", ratio=50, inertia=2e-4, stiffness=1e3, friction={"coulomb": 0.01})
    s.body("target", joint=bough.Free(q0=(1.62, 0, -0.2, 0, 0, 0, 1)), mass=8.0, inertia=(1, 1, 1))
    s.body("payload", parent="bus", at=(0, 0, 1), mass=4.0, inertia=(0.5, 0.5, 0.4))
    hand, handle = Frame("arm", at=(0.6, 0, 0)), Frame("target")
    s.output("gap", distance=[hand, handle])
    s.event("catch", when=[bough.Condition("gap", below=5.0)], do=[bough.Attach(hand, handle, bough.Weld())])
    s.event("release", at=2e-3, do=[bough.Detach("payload")])
    s.simulation(until=0.05, dt=1e-3)
    return s


@cache
def documents():
    """Good model files as texts, and as data."""
    texts = [many_parts().to_yaml(), changing().to_yaml()]
    texts += [(EXAMPLES / f"{name}.yaml").read_text() for name in ("orbit", "deployment", "moored_spar", "spacecraft")]
    arm = bough.System("loop", gravity=(0, 0, -9.81))
    arm.body("crank", joint=bough.Revolute("y", q0=1.0), mass=1.0, com=(0, 0, -0.25), inertia=(0.1, 0.1, 0.1))
    arm.body("rocker", at=(0.8, 0, 0), joint=bough.Revolute("y", q0=1.0), mass=1.0, com=(0, 0, -0.25), inertia=(0.1, 0.1, 0.1))
    arm.loop("rod", joint=bough.Distance(0.8), a=Frame("crank", at=(0, 0, -0.5)), b=Frame("rocker", at=(0, 0, -0.5)))
    texts.append(arm.to_yaml())
    words = sorted({word for text in texts for word in text.replace(":", " ").split() if word.isidentifier()})
    return texts, [yaml.safe_load(text) for text in texts], words


def models(rng, folder):
    texts, data, words = documents()
    i = rng.integers(len(texts))
    if rng.random() < 0.5:
        text = mutations.changed_text(rng, texts[i], words)
    else:
        text = yaml.safe_dump(mutations.changed_data(rng, data[i], data), sort_keys=False, allow_unicode=True)
    (folder / "model.yaml").write_bytes(text.encode("utf-8", "surrogatepass"))
    used(bough.load(folder / "model.yaml"), rng)


LAUGHS = '<!DOCTYPE r [<!ENTITY a "aaaaaaaaaa">' + "".join(
    f'<!ENTITY {b} "{f"&{a};" * 10}">' for a, b in zip("abcdefgh", "bcdefghi", strict=True)
)


def robots(rng, folder):
    text = ARM
    if rng.random() < 0.5:
        root = ElementTree.fromstring(text)
        for _ in range(rng.integers(1, 4)):
            change_element(rng, root)
        text = ElementTree.tostring(root, encoding="unicode")
    elif rng.random() < 0.02:
        text = LAUGHS + "]>" + text.replace('"arm"', '"&i;"')
    else:
        text = mutations.changed_text(
            rng, text, ["link", "joint", "revolute", "floating", "planar", "base", "upper", "mass", "mimic", "sphere"]
        )
    (folder / "robot.urdf").write_bytes(text.encode("utf-8", "surrogatepass"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        used(bough.load_urdf(folder / "robot.urdf"), rng)


def change_element(rng, root):
    every = list(root.iter())
    one, kind = every[rng.integers(len(every))], rng.random()
    if kind < 0.5 and one.attrib:
        name = list(one.attrib)[rng.integers(len(one.attrib))]
        one.set(name, str(mutations.nudged(rng, one.get(name))).replace("\x00", ""))
    elif kind < 0.65 and one.attrib:
        del one.attrib[next(iter(one.attrib))]
    elif kind < 0.8 and len(one):
        one.remove(one[rng.integers(len(one))])
    elif kind < 0.9 and len(one):
        one.append(one[rng.integers(len(one))])
    else:
        other = every[rng.integers(len(every))]
        if not any(each is one for each in other.iter()):
            one.append(other)


# ---- files of numbers ------------------------------------------------------------------------------------------------------
@cache
def saved():
    """Bytes of a result, and of the part of a streamed one."""
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "run.nc"
        s = bough.System("swing", gravity=(0, 0, -9.81))
        s.body("bob", joint=bough.Revolute("y", q0=1.0), mass=1.0, com=(0, 0, -1))
        s.simulation(until=0.05, dt=1e-3)
        bough.simulate(s, progress=False).save(file)
        return file.read_bytes()


def results(rng, folder):
    file = folder / "run.nc"
    if rng.random() < 0.6:
        file.write_bytes(mutations.changed_bytes(rng, saved()))
    else:
        file.write_bytes(saved())
        change_netcdf(rng, file)
    found = bough.open_result(file)
    str(found)
    finite("q of a file", found.array("q"))
    if rng.random() < 0.3:
        with bough.progress.quiet():
            simulator = bough.resume(file)
        finite("the state that is resumed", simulator.state.q, simulator.state.v)
        simulator.step()
        finite("the state behind it", simulator.state.q, simulator.state.v)


def change_netcdf(rng, file):
    """One to three attributes or variables are gone, or other ones."""
    import h5py

    with h5py.File(file, "a") as root:
        for _ in range(rng.integers(1, 4)):
            group = root["resume"] if rng.random() < 0.4 and "resume" in root else root
            if rng.random() < 0.5 and len(group.attrs):
                change_attribute(rng, group.attrs)
            elif len(group):
                change_variable(rng, group)


def change_attribute(rng, attrs):
    name = sorted(attrs)[rng.integers(len(attrs))]
    value = attrs[name]
    if rng.random() < 0.3:
        del attrs[name]
    elif isinstance(value, str) and value.startswith("{"):
        attrs[name] = json.dumps(mutations.changed_data(rng, json.loads(value)), default=str)
    elif isinstance(value, str) and rng.random() < 0.7:
        attrs[name] = mutations.changed_text(rng, value).replace("\x00", "")
    else:
        attrs[name] = float(mutations.number_of_array(rng))


def change_variable(rng, group):
    name = sorted(group)[rng.integers(len(group))]
    if not hasattr(group[name], "shape") or rng.random() < 0.3:
        del group[name]
        return
    values = group[name][()]
    new = mutations.changed_array(rng, values) if np.asarray(values).dtype.kind in "if" else np.zeros(3)
    if new.dtype.kind in "UO":
        new = np.array([b"x"])
    del group[name]
    group[name] = new


@cache
def body():
    return to_npz(beam(1.0, EI=(4.0, 6.0), mass_per_length=0.8, modes=2, elements=3))


def archives(rng, folder):
    """Flexible bodies as they are saved."""
    if rng.random() < 0.3:
        data = mutations.changed_bytes(rng, body())
    else:
        with np.load(io.BytesIO(body())) as arrays:
            held = dict(arrays)
        for _ in range(rng.integers(1, 4)):
            name = sorted(held)[rng.integers(len(held))]
            if rng.random() < 0.2:
                del held[name]
            else:
                held[name] = mutations.changed_array(rng, held[name])
        stream = io.BytesIO()
        np.savez_compressed(stream, **held)
        data = stream.getvalue()
    (folder / "body.npz").write_bytes(data)
    use_body(read_npz(folder / "body.npz", "body.npz"), rng)


def use_body(made, rng):
    s = bough.System("one", gravity=(0, 0, -9.81))
    s.body("b", joint=bough.Revolute("y"), flexible=made)
    used(s, rng, 0.05)


@cache
def matrices():
    """Of three nodes on springs: M, K and nodes as texts, whole and one triangle."""
    from scipy.io import mmwrite
    from scipy.sparse import csr_array

    K = np.kron([[2.0, -1.0, 0.0], [-1.0, 2.0, -1.0], [0.0, -1.0, 1.0]], np.eye(3))
    found = {}
    for name, matrix in (("M", np.eye(9)), ("K", K)):
        for symmetry in ("general", "symmetric"):
            stream = io.BytesIO()
            mmwrite(stream, csr_array(matrix), symmetry=symmetry)
            found[name, symmetry] = stream.getvalue().decode()
    return found


NODES = "1 0.0 0.0 0.0\n2 1.0 0.0 0.0\n3 2.0 0.0 0.0\n"
ABAQUS = "*Heading\n*Node\n1, 0., 0., 0.\n2, 1., 0., 0.\n3, 2., 0., 0.\n*Nset, nset=root\n1\n"


def market(rng, folder):
    """Matrix Market files of the exporting tools, and their tables of nodes."""
    symmetry, tool = ("general", "symmetric")[rng.integers(2)], rng.integers(3)
    texts = {"M": matrices()["M", symmetry], "K": matrices()["K", symmetry], "nodes": ABAQUS if tool == 2 else NODES}
    if tool == 2:
        texts |= {name: "".join(f"{line}\n" for line in texts[name].splitlines()[3:]) for name in "MK"}
    name = sorted(texts)[rng.integers(3)]
    texts[name] = mutations.changed_text(
        rng, texts[name], ["complex", "pattern", "array", "skew-symmetric", "integer", "%%MatrixMarket", "*Node"]
    )
    files = {
        name: folder / f"{name}{'.inp' if tool == 2 and name == 'nodes' else '.mtx' if name != 'nodes' else '.txt'}"
        for name in texts
    }
    for name, text in texts.items():
        files[name].write_bytes(text.encode("utf-8", "surrogatepass"))
    if tool == 0:
        made = from_matrices(
            files["M"], files["K"], [(0, 0, 0), (1, 0, 0), (2, 0, 0)], attach={"root": 0, "tip": 2}, inboard="root", modes=2
        )
    else:
        from bough.flex import reduce

        attach = {"attach": {"root": 1, "tip": 3}, "inboard": "root"}
        model = (
            read_ansys(files["K"], files["M"], files["nodes"], **attach)
            if tool == 1
            else read_abaqus(files["nodes"], stiffness=files["K"], mass=files["M"], **attach)
        )
        made = reduce(model, "cantilever", modes=2)
    finite("modes", made.K, made.frequencies)
    use_body(made, rng)


# ---- what a script gives ---------------------------------------------------------------------------------------------------
def anything(rng, deep=0):
    """Any object of Python's."""
    kind = rng.random()
    if kind < 0.5:
        return mutations.thing(rng)
    if kind < 0.8:
        return mutations.changed_array(rng, np.arange(float(rng.integers(1, 8))))
    return [
        np.float32(1.0),
        b"x",
        {1, 2},
        object(),
        lambda *a: 1.0,
        (),
        np.array(2.0),
        range(3),
        1 + 2j,
        Exception,
        NotImplemented,
        b"",
    ][rng.integers(12)]


@cache
def plant():
    s = bough.System("plant", gravity=(0, 0, -9.81))
    s.body("arm", joint=bough.Revolute("y", q0=0.3), mass=1.0, com=(0.2, 0, 0), inertia=(0.1, 0.1, 0.1))
    s.body("hand", parent="arm", at=(0.4, 0, 0), joint=bough.Spherical(), mass=0.5, inertia=(0.02, 0.02, 0.02))
    s.wheel("rw", body="hand", axis="z", inertia=0.01, torque=0.0)
    s.input("torque", coordinate="arm")
    s.input("force", force=Frame("hand"))
    s.output("angle", coordinate="arm")
    s.output("rate", rate="arm")
    return s.compile()


def laws(rng, folder):
    """Laws that return numbers of any size, or anything, with options that are good or of any kind."""
    names = ["torque", "force", "rw", "arm", "nonsense", 3]
    sound, options = rng.random() < 0.5, {"period": 1e-3}

    def answer():
        if sound:
            return {"torque": mutations.other(rng, 1.0), "force": [mutations.other(rng, 1.0) for _ in range(3)]}
        if rng.random() < 0.3:
            return anything(rng)
        return {names[rng.integers(len(names))]: anything(rng) for _ in range(rng.integers(3))}

    def law(t, y, z=None):
        return answer() if z is None else (answer(), z if sound else anything(rng))

    if rng.random() < 0.4:
        options |= {name: anything(rng) for name in ("period", "inputs", "outputs", "states") if rng.random() < 0.3}
    elif sound:
        options |= {"inputs": ["torque", "force"]} | ({"states": [1.0, 2.0]} if rng.random() < 0.3 else {})
    if rng.random() < 0.3:
        given = {
            "control": (lambda t, q, v, wheels: {"arm": mutations.other(rng, 1.0)} if sound else anything(rng))
            if rng.random() < 0.8
            else anything(rng),
            "control_period": options["period"],
        }
    else:
        given = {"laws": [bough.Law(law, **options)] if rng.random() < 0.9 else anything(rng)}
    finite("a run under a law", bough.simulate(plant(), until=3e-3, dt=1e-3, progress=False, **given).trajectory.x)


@cache
def asked():
    """Models, and a good state of each."""
    found = []
    for system in (plant().system, many_parts()):
        model = system.compile()
        found.append((model, *(model.assemble() if model.constrained else (model.q0, model.v0))))
    return found


CALLS = {
    "forward_dynamics": "qvu",
    "inverse_dynamics": "qva",
    "mass_matrix": "q",
    "bias": "qv",
    "reactions": "qva",
    "kinetic_energy": "qv",
    "potential_energy": "q",
    "momentum": "qv",
    "center_of_mass": "q",
    "pose": "qn",
    "velocity": "qvn",
    "jacobian": "qn",
    "assemble": "qv",
    "outputs": "qv",
    "loop_gaps": "qv",
    "frames": "q",
    "linearize": "qv",
    "wheel_accelerations": "qv",
}
KEYWORDS = {
    "t": 0.0,
    "wrenches": {"hand": [0, 0, 0, 1, 0, 0]},
    "inputs": {"torque": 1.0},
    "wheels": [1.0],
    "dynamics": "dense",
    "motors": [0.1],
}


def states(rng, folder):
    """Calls of a model with states, torques, names and inputs of any kind."""
    model, q, v = asked()[rng.integers(2)]
    name = list(CALLS)[rng.integers(len(CALLS))]
    good = {"q": q, "v": v, "a": np.zeros(model.nv), "u": np.zeros(model.nv), "n": "hand"}
    arguments = [good[letter] for letter in CALLS[name]]
    i = rng.integers(len(arguments))
    arguments[i] = (
        anything(rng) if rng.random() < 0.3 or isinstance(arguments[i], str) else mutations.changed_array(rng, arguments[i])
    )
    keywords = {}
    if CALLS[name][-1] in "uva" and name in ("forward_dynamics", "inverse_dynamics", "bias", "reactions") and rng.random() < 0.4:
        key = list(KEYWORDS)[rng.integers(5 if name != "forward_dynamics" else 6)]
        if key != "dynamics" or name == "forward_dynamics":
            keywords = {key: mutations.nudged(rng, KEYWORDS[key]) if rng.random() < 0.6 else anything(rng)}
    if name == "linearize":
        arguments, keywords = [], dict(zip("qv", arguments, strict=True))
    for part in parts_of(getattr(model, name)(*arguments, **keywords)):
        finite(name, part)


def parts_of(answer):
    """The arrays of an answer."""
    if isinstance(answer, dict):
        return list(answer.values())
    if isinstance(answer, tuple):
        return [each for each in answer if isinstance(each, np.ndarray)]
    if hasattr(answer, "A"):
        return [answer.A, answer.B, answer.C, answer.D]
    return [answer]


OPTIONS = {
    "until": [3e-3, 0.0, 1e-9],
    "dt": [1e-3, 3e-3, 1.0],
    "method": ["rk4", "imex2", "dopri5", "imex43", "euler-cromer", "auto"],
    "sample_rate": [1e3, 10.0, 1e5],
    "record": ["state", ["energy"], "all"],
    "rtol": [1e-6],
    "atol": [1e-9],
    "first_step": [1e-3],
    "max_step": [1e-2],
    "dynamics": ["dense", "order-n"],
    "seed": [3],
    "t0": [1.0],
    "stabilize": ["projection", 1.0],
    "hold": [["arm"]],
    "q0": [[0.1, 0, 0, 0, 1]],
    "v0": [[0.0] * 4],
    "wheels0": [[1.0]],
    "parameters": [{"arm.mass": [1.0, 2.0]}],
    "reproducible": [True],
    "checkpoint": [1.0],
    "progress": [False],
    "tanks0": [[]],
    "orbit0": [[0.0] * 6],
}


def options(rng, folder):
    """Runs with options of any kind; what asks for more than 1e5 steps or samples is what is asked for, and left out."""
    given = {"until": 3e-3, "dt": 1e-3, "progress": False}
    for _ in range(rng.integers(1, 4)):
        name = list(OPTIONS)[rng.integers(len(OPTIONS))]
        good = OPTIONS[name][rng.integers(len(OPTIONS[name]))]
        given[name] = good if rng.random() < 0.6 else mutations.nudged(rng, good) if rng.random() < 0.5 else anything(rng)
    if too_much(given):
        given["until"] = 3e-3
        given["dt"] = 1e-3
        given.pop("sample_rate", None)
        given.pop("max_step", None)
        given.pop("t0", None)
    result = bough.simulate(plant(), **given)
    finite("a run", result.trajectory.x)
    str(result)


def too_much(given):
    until, shortest = given["until"], [given[name] for name in ("dt", "max_step", "first_step") if name in given]
    try:
        long = float(until) - float(given.get("t0", 0.0))
        return (
            any(float(each) > 0 and long > 1e5 * float(each) for each in shortest)
            or long * float(given.get("sample_rate", 1.0)) > 1e6
            or long > 10
        )
    except (TypeError, ValueError, OverflowError):
        return False


KINDS = {
    "model files": models,
    "URDF": robots,
    "NetCDF": results,
    "NPZ": archives,
    "Matrix Market": market,
    "laws": laws,
    "states": states,
    "options": options,
}


def tried(kind, seed, i, folder):
    """Case i of a kind: accepted, or refused, and with what error: what is described, built, asked, or how it moves."""
    rng = np.random.default_rng([seed, list(KINDS).index(kind), i])
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            KINDS[kind](rng, folder)
    except BoughError as error:
        if not str(error).strip() or len(str(error)) > 20_000:
            raise RuntimeError(f"an error of {len(str(error))} letters") from error
        return f"refused: {type(error).__name__}"
    return "accepted"
