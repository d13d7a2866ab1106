"""Flexible bodies as people describe them: what is kept, refused, written and read."""

import base64
import copy
import dataclasses
import inspect
import pickle
import subprocess
import sys

import numpy as np
import pytest
from scipy.io import mmwrite

import bough
from bough.describe import Body, Frame, Revolute, System, TimeTable, Wheel, Wrench, json_schema, load
from bough.describe.checks import reference_problems
from bough.describe.flexible_recipes import BeamRecipe, MatricesRecipe, SolidRecipe, read_flexible, write_flexible
from bough.elements import Bushing
from bough.errors import DescriptionError
from bough.flex import FlexibleBody, beam, beam_model, box, from_matrices, solid
from bough.flex.flexible_body import recipe_of
from tests.describe.test_yaml_format import accepts

BOOM = beam(4.0, EI=800.0, mass_per_length=1.5, modes=4)
ONE = beam(4.0, EI=800.0, mass_per_length=1.5, modes=1)
LOOSE = beam(4.0, EI=800.0, mass_per_length=1.5, modes=2, boundary="free-free", inboard=None)
PANEL = solid(
    box((1.0, 0.4, 0.1), (3, 1, 1)), E=7e10, nu=0.3, density=2700.0, order=1, modes=3, inboard="root",
    attach={"root": ("x", 0.0), "corner": (1.0, 0, 0)},
)  # fmt: skip
M = np.kron(np.diag([1.0, 2.0, 1.0]), np.eye(3))
K = 100 * np.kron([[1.0, -1, 0], [-1, 2, -1], [0, -1, 1]], np.eye(3))
PLACES = [(0.0, 0, 0), (1, 0, 0), (2, 0, 0)]
CHAIN = from_matrices(M, K, PLACES, attach={"root": 0, "tip": 2}, inboard="root", modes=3)


# ---- the body ---------------------------------------------------------------------------------------------------------


def test_mass_comes_from_the_finite_elements():
    body = Body("boom", flexible=BOOM, joint=Revolute("y"), eta0=np.array([0.1, 0, 0, 0]), rest=[0, 0, 0, 1])
    assert (body.mass, body.com, body.n_modes) == (BOOM.mass, tuple(BOOM.com), 4)
    assert np.allclose(body.inertia, BOOM.inertia)
    assert (body.eta0, body.etadot0, body.rest) == ((0.1, 0, 0, 0), None, (0, 0, 0, 1))
    assert "mass" not in body.to_dict()
    assert "mass" not in repr(body).replace("mass 6 kg", "")


def test_mass_given_beside_is_a_check():
    agreed = Body("boom", flexible=BOOM, mass=6, com=(2, 0, 1e-9), inertia=BOOM.inertia * (1 + 1e-9))
    assert agreed == Body("boom", flexible=BOOM)
    assert agreed.mass == BOOM.mass
    with pytest.raises(DescriptionError) as caught:
        Body("boom", flexible=BOOM, mass=0, com=(2, 0, 0.1), inertia=(0, 8, 9))
    assert str(caught.value).splitlines() == [
        "body 'boom': mass is 0 kg, but the finite elements have 6 kg; leave mass out, or correct the flexible body",
        "body 'boom': com is [2, 0, 0.1] m, but the finite elements have [2, 0, 0] m; leave com out, or correct the flexible body",
        "body 'boom': inertia is [[0, 0, 0], [0, 8, 0], [0, 0, 9]] kg m^2, but the finite elements have "
        "[[0, 0, 0], [0, 8, 0], [0, 0, 8]] kg m^2; leave inertia out, or correct the flexible body",
    ]
    assert [problem.path for problem in caught.value.problems] == [("mass",), ("com",), ("inertia",)]


def test_flexible_bodies_are_values():
    body = Body("boom", flexible=BOOM)
    assert pickle.loads(pickle.dumps(body)) == copy.deepcopy(body) == body
    assert len({body, copy.deepcopy(body), Body("boom", flexible=FlexibleBody.from_arrays(BOOM.to_arrays()))}) == 1
    assert dataclasses.replace(BOOM, D=BOOM.D + 1) != BOOM
    assert dataclasses.replace(BOOM, geometric=None) != BOOM
    assert BOOM != "boom"


def test_one_mode_takes_a_number():
    assert Body("boom", flexible=ONE, eta0=0.1).eta0 == (0.1,)


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"flexible": BOOM, "eta0": 0.1}, "eta0 is 0.1, but the body has 4 modes; give 4 numbers"),
        ({"flexible": BOOM, "etadot0": [1, 2]}, "etadot0 is [1, 2], but the body has 4 modes; give 4 numbers"),
        ({"flexible": ONE, "rest": (1, 2)}, "rest is (1, 2), but the body has 1 mode; give 1 number"),
        ({"flexible": BOOM, "rest": (1, 2, 3, np.nan)}, "rest is [1, 2, 3, nan], where an entry is nan; give"),
        ({"eta0": [0.1]}, "eta0 is [0.1], but the body is rigid and has no modes; leave it out, or give flexible"),
        ({"etadot0": 0.1}, "etadot0 is 0.1, but the body is rigid"),
        ({"rest": 0.1}, "rest is 0.1, but the body is rigid"),
        ({"flexible": "beam"}, "flexible is 'beam'; give a FlexibleBody, or a mapping with one of the keys beam, solid, matrices"),
        ({"flexible": {"bem": {}}}, "flexible: unknown key 'bem'; did you mean 'beam'?"),
        ({"node": "tip"}, "node is 'tip', but the world, which carries the body, has no nodes; leave it out"),
        ({"node": 3, "parent": "bus"}, "node is 3; give a text"),
    ],
)
def test_bad_bodies(fields, words):
    with pytest.raises(DescriptionError, match=r"^body 'boom': ") as caught:
        Body("boom", **fields)
    assert words in str(caught.value)


# ---- nodes, and what the sweeps support -------------------------------------------------------------------------------


def spacecraft(*parts, gravity=(0, 0, 0)):
    """A bus that carries a boom, a loose beam and a panel, and the given parts."""
    system = System("spacecraft", gravity=gravity)
    for body in (Body("bus", mass=9), Body("boom", "bus", flexible=BOOM), Body("loose", "bus", flexible=LOOSE)):
        system.bodies[body.name] = body
    system.bodies["panel"] = Body("panel", "bus", flexible=PANEL)
    for part in parts:
        (system.bodies if isinstance(part, Body) else system.of(type(part)))[part.name] = part
    return system


@pytest.mark.parametrize(
    "part",
    [
        Body("hand", "boom", node="tip"),
        Body("hand", "boom"),
        Body("hand", "loose", node="root"),
        Wheel("w", "boom", "x", 0.1, node="tip"),
        Wheel("w", "panel", "x", 0.1),
        Wrench("f", "panel", force=(0, 0, 1), node="corner"),
        Wrench("f", "panel", force=TimeTable([0, 1], [[0, 0, 1], [0, 0, 2]]), moment=TimeTable([0], [[0, 0, 0]]), node="corner"),
        Wrench("f", "boom", moment=(0, 0, 1), at=(0, 0, 1)),
    ],
)
def test_seats(part):
    assert reference_problems(spacecraft(part)) == []


TRIANGLE = (
    "the elements do not define the rotation there; name another node, or make this one of several mesh points that span a triangle"
)
BAD_SEATS = [
    (
        Body("b", "boom", node="tp"),
        "body 'b': node 'tp' is not a node of body 'boom', did you mean 'tip'? Its nodes are 'root', 'tip'",
    ),
    (
        Wheel("w", "boom", "x", 1, node="hub"),
        "wheel 'w': node 'hub' is not a node of body 'boom'; its nodes are 'root', 'tip'",
    ),
    (Wrench("f", "boom", node="roots"), "wrench 'f': node 'roots' is not a node of body 'boom', did you mean 'root'?"),
    (
        Body("b", "bus", node="tip"),
        "body 'b': node is 'tip', but body 'bus' is rigid and has no nodes; leave node out and say the place by at",
    ),
    (Wheel("w", "bus", "x", 1, node="tip"), "wheel 'w': node is 'tip', but body 'bus' is rigid and has no nodes"),
    (Wrench("f", "bus", node="tip"), "wrench 'f': node is 'tip', but body 'bus' is rigid and has no nodes"),
    (Body("b", "panel", node="corner"), f"body 'b': node 'corner' of body 'panel' cannot carry a joint: {TRIANGLE}"),
    (Wheel("w", "panel", "x", 1, node="corner"), f"wheel 'w': node 'corner' of body 'panel' cannot carry a wheel: {TRIANGLE}"),
    (
        Bushing("m", "world", Frame("panel", node="corner"), (1, 1)),
        f"bushing 'm': b: node 'corner' of body 'panel' cannot carry a bushing: {TRIANGLE}",
    ),
    (
        Wrench("f", "panel", moment=(0, 1, 0), node="corner"),
        f"wrench 'f': node 'corner' of body 'panel' cannot carry a moment: {TRIANGLE}",
    ),
    (
        Wrench("f", "panel", moment=TimeTable([0, 1], [[0, 0, 0], [1, 0, 0]]), node="corner"),
        "wrench 'f': node 'corner' of body 'panel' cannot carry a moment",
    ),
    (
        Wrench("f", "panel", (1, 0, 0), at=(0, 0, 1), node="corner"),
        "wrench 'f': node 'corner' of body 'panel' cannot carry a force beside it (at is not zero)",
    ),
    (
        Body("b", "loose"),
        "body 'b': node is missing, and body 'loose' has no inboard node to stand for it; give one of its nodes: 'root', 'tip'",
    ),
    (Wheel("w", "loose", "x", 1), "wheel 'w': node is missing, and body 'loose' has no inboard node"),
    (Wrench("f", "loose"), "wrench 'f': node is missing, and body 'loose' has no inboard node"),
    (
        Body("b", flexible=dataclasses.replace(PANEL, inboard="corner")),
        f"body 'b': its inboard node 'corner' cannot carry its joint: {TRIANGLE}",
    ),
]


@pytest.mark.parametrize(("part", "message"), BAD_SEATS)
def test_bad_seats(part, message):
    [problem] = reference_problems(spacecraft(part))
    assert str(problem).startswith(message)


def test_outline():
    system = System("antenna")
    system.body("boom", joint=Revolute("y"), flexible=BOOM)
    system.body("dish", parent="boom", node="tip", flexible=ONE)
    assert repr(system).splitlines() == [
        "System 'antenna': 2 bodies, 1 degree of freedom, 5 modes, 12 kg",
        "world",
        "└─ boom   revolute: ry, 6 kg, 4 modes 0.808 ... 5.06 Hz",
        "   └─ dish   weld, 6 kg, 1 mode 0.808 Hz, at node tip",
    ]


# ---- YAML -------------------------------------------------------------------------------------------------------------

MADE = {
    "number": BOOM,
    "pair": beam(4, EI=(800, np.float64(900)), mass_per_length=[1.5, 1.0], modes=np.int64(3), nodes={"on": 2.0}, axis="-z"),
    "section": beam(
        1.0, E=70e9, G=26e9, area=1e-4, Iy=8e-10, Iz=8e-10, J=1.4e-9, density=2700, timoshenko=True, elements=6, tip_mass=0.1,
        tip_com=(0.1, 0, 0), tip_inertia=np.diag([1e-3, 2e-3, 2e-3]), damping=[0.01] * 7, interfaces=("tip",),
        boundary="craig-bampton", modes=1, variant="zeroth_order", geometric_stiffness=False,
    ),
    "loose": LOOSE,
    "solid": PANEL,
    "numbered": solid(box((1, 0.4, 0.1), (3, 1, 1)), E=7e10, nu=0.3, density=2700, order=1, modes=2, inboard="root",
                      attach={"root": ["x", 0], "tip": [1, 3, 5], "point": np.array([1.0, 0.4, 0.1])}),
    "matrices": CHAIN,
}  # fmt: skip


@pytest.mark.parametrize("flexible", MADE.values(), ids=MADE)
def test_what_is_made_of_plain_data_is_written_in_words(flexible):
    words = write_flexible(flexible)
    assert "npz" not in words
    assert read_flexible(words) == flexible
    assert write_flexible(read_flexible(words)) == words


OTHER = {
    "function": beam(4.0, EI=lambda x: 800.0 - 100 * x, mass_per_length=1.5, modes=2),
    "single precision": beam(np.float32(4.1), EI=800.0, mass_per_length=1.5, modes=2),
    "model": beam_model(4.0, EI=800.0, mass_per_length=1.5).reduce(modes=2),
    "replaced": dataclasses.replace(BOOM, geometric=None),
    "other variant": dataclasses.replace(BOOM, variant="zeroth_order"),
    "odd truth": beam(4.0, EI=800.0, mass_per_length=1.5, modes=2, geometric_stiffness=1),
    "moved mesh": solid(box((1, 0.4, 0.1), (3, 1, 1)).translated((0, 0, 1)), E=7e10, nu=0.3, density=2700, order=1, modes=2,
                        attach={"root": ("x", 0.0)}, inboard="root"),
    "long": from_matrices(np.eye(36), np.kron(np.diag([2.0] * 12) - np.eye(12, k=1) - np.eye(12, k=-1), np.eye(3)),
                          [(i, 0, 0) for i in range(12)], attach={"root": 0}, inboard="root", modes=2),
}  # fmt: skip


@pytest.mark.parametrize("flexible", OTHER.values(), ids=OTHER)
def test_all_else_is_written_as_arrays(flexible):
    words = write_flexible(flexible)
    assert list(words) == ["npz"]
    assert read_flexible(words) == flexible
    assert read_flexible({"npz": words["npz"][:60] + "\n  " + words["npz"][60:]}) == flexible
    assert write_flexible(read_flexible(words)) == words


def test_a_recipe_does_not_outlive_its_arrays():
    body = beam(4.0, EI=800.0, mass_per_length=1.5, modes=2)
    assert recipe_of(body).kind == "beam"
    assert recipe_of(dataclasses.replace(body)) == body.recipe
    body.D[0, 0] = 1.0
    assert recipe_of(body) is None
    assert read_flexible(write_flexible(body)).D[0, 0] == 1.0


def test_a_recipe_does_not_follow_its_arguments():
    nodes = {"middle": 2.0}
    body = beam(4.0, EI=800.0, mass_per_length=1.5, modes=2, nodes=nodes)
    nodes["middle"] = 3.0
    assert read_flexible(write_flexible(body)) == body


def whole_system():
    system = System("whole", gravity=(0, 0, -9.81))
    system.body("boom", joint=Revolute("y"), flexible=BOOM, eta0=[0.1, 0, 0, 0], etadot0=[0, 0, 0, 1e-3], rest=[0.1, 0, 0, 0])
    for name, flexible in (MADE | OTHER).items():
        system.body(name, parent="boom", node="tip", joint=Revolute("z"), flexible=flexible)
    system.wheel("w", body="boom", axis="x", inertia=0.1, node="tip")
    system.wrench("f", body="solid", node="corner", force=(0, 0, 1))
    return system


def test_round_trips():
    system = whole_system()
    text = system.to_yaml()
    assert System.from_yaml(text) == system
    assert System.from_yaml(text).to_yaml() == text
    assert System.from_dict(system.to_dict()) == system
    assert System.from_yaml(system.to_yaml(exact=True)) == system
    assert "beam" not in system.to_yaml(exact=True)
    schema = json_schema()
    assert accepts(schema, system.to_dict(), schema)
    assert accepts(schema, system.to_dict(exact=True), schema)


def test_a_copy_keeps_the_object():
    system = whole_system()
    assert system.copy() == system
    assert system.copy().bodies["boom"].flexible is BOOM


def test_schema_refuses_misspelled_keywords():
    schema = json_schema()
    for flexible in ({"beam": {"lenght": 4}}, {"bem": {"length": 4}}, {"file": 3}, {"beam": {"length": 4, "axis": "xy"}}):
        assert not accepts(schema, {"bodies": [{"name": "b", "flexible": flexible}]}, schema)


def test_yaml_says_the_words():
    system = System("words")
    system.body("boom", flexible=beam(4.0, EI=(800, 900), mass_per_length=1.5, modes=4), rest=[0, 0, 0, 0.1])
    assert system.to_yaml().splitlines()[-2:] == [
        "  flexible: {beam: {length: 4.0, EI: {y: 800.0, z: 900.0}, mass_per_length: 1.5, modes: 4}}",
        "  rest: [0.0, 0.0, 0.0, 0.1]",
    ]


def test_keywords_and_defaults_are_the_makers():
    beam_keywords = inspect.signature(beam).parameters | inspect.signature(beam_model).parameters
    makers = {BeamRecipe: beam_keywords, SolidRecipe: inspect.signature(solid).parameters}
    for recipe, keywords in (makers | {MatricesRecipe: inspect.signature(from_matrices).parameters}).items():
        known = {name: each.default for name, each in keywords.items() if each.kind is not each.VAR_KEYWORD}
        if recipe is MatricesRecipe:
            del known["recover"]                    # recovery matrices are arrays: given in Python
        fields = {
            name: inspect.Parameter.empty if field.is_required() else field.default for name, field in recipe.model_fields.items()
        }
        assert fields == known


# ---- files ------------------------------------------------------------------------------------------------------------


def write_system(folder, flexible):
    folder.mkdir(exist_ok=True)
    path = folder / "arm.yaml"
    path.write_text(f"bodies:\n- name: boom\n  flexible:\n    {flexible}\n", encoding="utf-8")
    return path


def test_files_are_found_beside_the_yaml_file(tmp_path):
    folder = tmp_path / "models"
    folder.mkdir()
    PANEL.save(folder / "panel.npz")
    mmwrite(folder / "M.mtx", M)
    np.save(folder / "K.npy", K)
    np.savetxt(folder / "places.csv", PLACES, delimiter=",")
    box((1.0, 0.4, 0.1), (3, 1, 1)).save(folder / "panel.vtk")
    system = load(write_system(folder, "file: panel.npz"))
    assert system.bodies["boom"].flexible == PANEL
    assert System.from_yaml(system.to_yaml()) == system  # without the file
    assert load(write_system(folder, f"file: {folder / 'panel.npz'}")) == system
    chain = "{M: M.mtx, K: K.npy, nodes: places.csv, attach: {root: 0, tip: 2}, inboard: root, modes: 3}"
    assert load(write_system(folder, f"matrices: {chain}")).bodies["boom"].flexible == CHAIN
    prestressed = "geometric: {acceleration: [K.npy, K.npy, K.npy], force: {tip: [K.npy, K.npy, K.npy]}}"
    stiffened = load(write_system(folder, f"matrices: {chain.replace('modes: 3', f'modes: 3, {prestressed}')}"))
    assert np.allclose(stiffened.bodies["boom"].flexible.geometric.acceleration[2], CHAIN.K)
    assert System.from_yaml(stiffened.to_yaml()) == stiffened
    made = "{mesh: panel.vtk, E: 7e10, nu: 0.3, density: 2700, order: 1, modes: 3, attach: {root: [x, 0]}, inboard: root}"
    solid_system = load(write_system(folder, f"solid: {made}"))
    assert solid_system.bodies["boom"].flexible.frequencies == pytest.approx(PANEL.frequencies)
    assert System.from_yaml(solid_system.to_yaml()) == solid_system


MATERIAL = "E: 1, nu: 0, density: 1"
BAD_WORDS = [
    ("beam:\n      length: -4\n      EI: 8\n      mass_per_length: 1", "5: body 'boom': beam: length is -4.0 m; give a number > 0"),
    ("beam:\n      length: 4\n      lenth: 4", "6: body 'boom': beam: unknown key 'lenth'; did you mean 'length'?"),
    ("beam:\n      EI: 4\n", "4: body 'boom': beam: length is missing; give it"),
    (
        "beam:\n      length: 4\n      EI: {y: 3}",
        "6: body 'boom': beam: EI is {'y': 3}; give a number, a list of numbers along the axis, or {y: ..., z: ...}",
    ),
    (
        "beam:\n      length: 4\n      EI: 800\n      mass_per_length: 1\n      variant: ful",
        "8: body 'boom': flexible body: variant is 'ful'; give one of 'full', 'zeroth_order'",
    ),
    (
        "beam:\n      length: 4\n      nodes: {middle: here}",
        "6: body 'boom': beam: nodes is {'middle': 'here'}, where an entry is 'here'; give a number (not a text)",
    ),
    ("beam: {length: 4, elements: 2.5}", "4: body 'boom': beam: elements is 2.5; give a whole number"),
    ("beam: {length: 4, interfaces: tip}", "4: body 'boom': beam: interfaces is 'tip'; give a list of texts"),
    ("beam: {length: 4, inboard: 3}", "4: body 'boom': beam: inboard is 3; give a text"),
    ("beam: {length: 4, EI: 0, mass_per_length: 1}", "4: body 'boom': beam: it cannot be made ("),
    ("beam: 4", "4: body 'boom': beam is 4; give a mapping of keys to values, at least length"),
    (
        "file: none.npz",
        "4: body 'boom': flexible body: the file '{folder}/none.npz' does not exist; give what FlexibleBody.save() wrote",
    ),
    ("file: arm.yaml", "4: body 'boom': flexible body: '{folder}/arm.yaml' is not an NPZ file of a body; give what"),
    ("file: 3", "4: body 'boom': file is 3; give the name of an NPZ file"),
    ("npz: a.b", "4: body 'boom': npz is not base64"),
    (f"npz: {base64.b64encode(b'nothing').decode()}", "4: body 'boom': flexible body: 'npz' is not an NPZ file of a body"),
    ("npz: 3", "4: body 'boom': npz is 3; give an NPZ file in base64"),
    (f"solid: {{mesh: no.msh, {MATERIAL}, attach: {{}}}}", "4: body 'boom': solid: the mesh file '{folder}/no.msh' does not exist"),
    (f"solid: {{mesh: arm.yaml, {MATERIAL}, attach: {{}}}}", "4: body 'boom': solid: the mesh file '{folder}/arm.yaml' is none "),
    (f"solid: {{mesh: {{box: 1}}, {MATERIAL}, attach: {{}}}}", "4: body 'boom': solid: mesh is {'box': 1}; give a file's name"),
    (f"solid: {{mesh: a.msh, {MATERIAL}, attach: 3}}", "4: body 'boom': solid: attach is 3; give a mapping from the names"),
    (
        "matrices: {M: M.mtx, K: K.mtx, nodes: n.npy, attach: {a: 0}}",
        "4: body 'boom': from_matrices: the file '{folder}/n.npy' for nodes does not exist",
    ),
    (
        "matrices: {M: M.mtx, K: K.mtx, nodes: arm.yaml, attach: {a: 0}}",
        "4: body 'boom': from_matrices: the file for nodes is 'arm.yaml'; give a .npy, .csv or .txt file",
    ),
    (
        "matrices: {M: M.mtx, K: K.mtx, nodes: [[0, 0, 0]], attach: {a: 0.5}}",
        "4: body 'boom': matrices: attach is {'a': 0.5}, where an entry is 0.5; give a whole number",
    ),
    ("{}\n  eta0: [1]", "3: body 'boom': flexible is {}; give a FlexibleBody, or a mapping with one of the keys "),
]


@pytest.mark.parametrize(("flexible", "message"), BAD_WORDS)
def test_errors_name_body_and_line(tmp_path, flexible, message):
    path = write_system(tmp_path, flexible)
    with pytest.raises(DescriptionError) as caught:
        load(path)
    assert str(caught.value).startswith(f"{path}:{message.replace('{folder}', str(tmp_path))}")


def test_lines_of_masses_and_nodes():
    words = "flexible: {beam: {length: 4, EI: 8, mass_per_length: 1, modes: 1}}"
    with pytest.raises(DescriptionError) as caught:
        System.from_yaml(f"bodies:\n- name: boom\n  {words}\n  mass: 3\n")
    assert str(caught.value).startswith("line 4: body 'boom': mass is 3 kg, but the finite elements have 4 kg; leave mass out, or ")
    with pytest.raises(DescriptionError) as caught:
        System.from_yaml(f"bodies:\n- name: boom\n  {words}\n- name: b\n  parent: boom\n  node: tp\n")
    assert str(caught.value).startswith("line 6: body 'b': node 'tp' is not a node of body 'boom', did you mean 'tip'?")


# ---- the package ------------------------------------------------------------------------------------------------------


def test_public_names():
    assert (bough.beam, bough.solid, bough.flex.box, bough.from_matrices) == (beam, solid, box, from_matrices)
    assert bough.FlexibleBody is FlexibleBody


def test_importing_bough_imports_no_scipy():
    code = "import sys, bough; bough.System; bough.beam; print([m for m in ('scipy', 'skfem', 'numba') if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "[]"
