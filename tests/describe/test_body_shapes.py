"""Shapes: their triangles, their mass, and their YAML."""

import math
from pathlib import Path

import numpy as np
import pytest
import trimesh

import bough
from bough.describe.body_shapes import SIDES, Mesh
from bough.describe.document import json_schema
from bough.describe.mesh_files import pack
from bough.errors import DescriptionError
from tests.describe.test_yaml_format import accepts
from tests.support.tolerance import FORMULA, PRODUCTS, SINGLE

TILT = {"euler": "xyz", "degrees": [20, -40, 70]}


def closed(shape):
    """The shape's triangles as one closed surface: vertices at the same place merged."""
    vertices, faces = shape.triangles()
    assert vertices.dtype == np.float64
    assert faces.dtype == np.int64
    merged = trimesh.Trimesh(vertices, faces, process=True)
    assert merged.is_watertight
    return merged


@pytest.fixture
def stl(tmp_path):
    """Two boxes, whose mass center is not where its bounding box has its center."""
    parts = [trimesh.creation.box((2, 1, 1)), trimesh.creation.box((1, 1, 2)).apply_translation((0.5, 0, 1.6))]
    path = tmp_path / "pair.stl"
    trimesh.util.concatenate(parts).export(path)
    return path


def test_triangles_are_where_the_shape_is():
    corners = closed(bough.shapes.Box((1, 2, 3), at=(5, 0, 0), orient={"axis": "z", "degrees": 90})).vertices
    np.testing.assert_allclose([corners.min(axis=0), corners.max(axis=0)], [[4, -0.5, -1.5], [6, 0.5, 1.5]], rtol=0, atol=FORMULA)
    assert closed(bough.shapes.Box((1, 2, 3), orient=TILT)).volume == pytest.approx(6)
    assert closed(bough.shapes.Cylinder(0.5, 3, at=(1, 2, 3), orient=TILT)).volume == pytest.approx(
        SIDES / 2 * math.sin(2 * math.pi / SIDES) * 0.25 * 3         # that of a prism
    )
    ball = closed(bough.shapes.Sphere(2, at=(1, 2, 3)))
    np.testing.assert_allclose(np.linalg.norm(ball.vertices - [1, 2, 3], axis=1), 2)
    assert 0.99 < ball.volume / (4 / 3 * math.pi * 8) < 1


def test_vertices_are_not_shared_over_edges():
    """Each vertex of a box has the normal of one face, those of a cylinder's side point away from its axis."""
    box = trimesh.Trimesh(*bough.shapes.Box((1, 2, 3)).triangles(), process=False)
    assert len(box.vertices) == 24
    assert np.allclose(np.abs(box.vertex_normals).max(axis=1), 1)
    side = trimesh.Trimesh(*bough.shapes.Cylinder(1, 1).triangles(), process=False).vertex_normals[:2 * SIDES]
    np.testing.assert_allclose(side[:, 2], 0, atol=FORMULA)


def test_a_mirrored_mesh_keeps_its_outside(stl):
    plain, mirrored = closed(bough.shapes.Mesh(stl)), closed(bough.shapes.Mesh(stl, scale=(1e-3, -1e-3, 1e-3)))
    assert plain.volume > 0
    assert mirrored.volume == pytest.approx(1e-9 * plain.volume)


@pytest.mark.parametrize(
    "shape",
    [bough.shapes.Box((1, 2, 3), density=2700), bough.shapes.Cylinder(0.3, 2, density=900), bough.shapes.Sphere(0.4, density=3)],
    ids=["box", "cylinder", "sphere"],
)
def test_mass_is_that_of_the_triangles(shape):
    """Tessellations lie inside, by the square of the angle between their sides."""
    moved = shape.model_copy(update={"at": (0.3, -0.2, 1.0), "orient": bough.shapes.Box((1, 1, 1), orient=TILT).orient})
    body = bough.Body("part", shapes=moved)
    surface = closed(moved)
    surface.density = shape.density
    lacking = {"box": 0, "cylinder": 1 / 6, "sphere": 5 / 12}  # of the volume, times the square of the angle
    tolerance = 1e-12 + 1.01 * lacking[shape.noun] * (2 * math.pi / SIDES) ** 2  # and the next power of the angle
    assert body.mass == pytest.approx(surface.mass, rel=tolerance)
    np.testing.assert_allclose(body.com, surface.center_mass, rtol=0, atol=FORMULA)
    np.testing.assert_allclose(body.inertia, surface.moment_inertia, atol=2 * tolerance * np.abs(body.inertia).max())


def test_shapes_add_up():
    """Two halves of a box are the box; a hollow look without density weighs nothing."""
    halves = [bough.shapes.Box((1, 1, 1), at=(x, 0, 0), density=100) for x in (-0.5, 0.5)]
    whole = bough.Body("whole", shapes=bough.shapes.Box((2, 1, 1), density=100))
    split = bough.Body("split", shapes=[*halves, bough.shapes.Sphere(3, color="tomato")])
    assert split.mass == whole.mass == 200
    np.testing.assert_allclose(split.com, whole.com, rtol=0, atol=PRODUCTS)
    np.testing.assert_allclose(split.inertia, whole.inertia, rtol=PRODUCTS)


def test_the_mass_of_a_mesh(stl):
    body = bough.Body("L", shapes=bough.shapes.Mesh(stl, scale=0.1, density=1000))
    assert body.mass == pytest.approx(4.0)                            # 4 litres
    np.testing.assert_allclose(body.com, [0.025, 0, 0.08], rtol=0, atol=0.3 * SINGLE)               # STL has single precision
    boxes = [bough.shapes.Box((0.2, 0.1, 0.1), density=1000), bough.shapes.Box((0.1, 0.1, 0.2), at=(0.05, 0, 0.16), density=1000)]
    expected = np.array(bough.Body("boxes", shapes=boxes).inertia)
    np.testing.assert_allclose(body.inertia, expected, rtol=0, atol=4 * SINGLE * expected.max())


def test_a_model_falls_with_the_mass_of_its_shapes():
    s = bough.System("pendulum", gravity=(0, 0, -9.81))
    s.body("rod", joint=bough.Revolute("y"), shapes=bough.shapes.Cylinder(0.01, 1, at=(0, 0, -0.5), density=7800))
    m = s.compile()
    moment = s.bodies["rod"].mass * (0.01**2 / 4 + 1 / 3)
    assert m.mass_matrix([0.0])[0, 0] == pytest.approx(moment)


def system(stl):
    s = bough.System("shaped")
    s.body("plate", joint="free", shapes=[
        bough.shapes.Box((1, 2, 0.1), color=(0.1, 0.2, 0.3), density=2700),
        bough.shapes.Cylinder(0.1, 2, at=(0, 0, 1), orient=TILT, color="steelblue"),
    ])  # fmt: skip
    looks = [bough.shapes.Sphere(0.2, color=(1, 0, 0, 0.5)), bough.shapes.Mesh(stl, scale=(1, 2, 3))]
    s.body("part", parent="plate", mass=3, shapes=looks)
    s.body("boom", parent="part", flexible=bough.beam(4.0, EI=800, mass_per_length=1.5, modes=2), shapes=bough.shapes.Sphere(0.1))
    return s


def test_round_trip(stl, tmp_path):
    s = system(stl)
    assert bough.System.from_yaml(s.to_yaml()) == s
    assert "mass" not in s.to_dict()["bodies"][0]                    # it follows from the shapes
    (tmp_path / "elsewhere").mkdir()
    for path in (tmp_path / "s.yaml", tmp_path / "elsewhere" / "s.yaml"):
        s.to_yaml(path)
        assert bough.load(path) == s
    assert "mesh: pair.stl" in (tmp_path / "s.yaml").read_text()         # a folder with its meshes may be moved
    schema = json_schema()
    assert accepts(schema, s.to_dict(), schema)
    assert not accepts(schema, {"bodies": [{"name": "a", "shapes": [{"cube": 1}]}]}, schema)


def test_what_a_person_writes():
    text = """
bodies:
- {name: a, shapes: {box: [1, 2, 3]}}
- name: b
  shapes:
  - {cylinder: {radius: 0.1, length: 2}, at: [0, 0, 1], density: 1000}
  - {sphere: 0.5, color: tomato}
  - {mesh: sub/part.stl, scale: 0.001}
"""
    s = bough.System.from_yaml(text)
    assert s.bodies["a"].shapes == (bough.shapes.Box((1, 2, 3)),)
    cylinder, sphere, mesh = s.bodies["b"].shapes
    assert (cylinder.radius, cylinder.length, cylinder.at) == (0.1, 2.0, (0.0, 0.0, 1.0))
    assert sphere == bough.shapes.Sphere(0.5, color="tomato")
    assert mesh == bough.shapes.Mesh(Path("sub/part.stl"), scale=(0.001,) * 3)


def test_a_result_draws_where_the_mesh_files_are_not(stl, tmp_path):
    s = bough.System("shaped")
    looks = [bough.shapes.Mesh(stl, scale=0.1, density=1000), bough.shapes.Mesh(tmp_path / "lost.stl")]
    s.body("part", joint=bough.Free(), shapes=looks)
    expected = s.bodies["part"].shapes[0].triangles()
    saved = bough.simulate(s, until=0.1, dt=0.01).save(tmp_path / "out.nc")
    stl.unlink()
    opened = bough.open_result(saved)
    there, lost = opened.system.bodies["part"].shapes
    for got, wanted in zip(there.triangles(), expected, strict=True):
        np.testing.assert_array_equal(got, wanted)
    assert opened.system.bodies["part"].mass == s.bodies["part"].mass
    with pytest.raises(DescriptionError, match=r"mesh: there is no file .*lost\.stl; give the path"):
        lost.triangles()
    again = opened.save(tmp_path / "again.nc")
    assert bough.open_result(again).system == opened.system


def test_a_system_that_holds_its_meshes(stl):
    s = system(stl)
    whole = s.self_contained()
    expected = s.bodies["part"].shapes[1].triangles()
    text = whole.to_yaml()
    stl.unlink()
    again = bough.System.from_yaml(text)
    assert again == whole
    for got, wanted in zip(again.bodies["part"].shapes[1].triangles(), expected, strict=True):
        np.testing.assert_array_equal(got, wanted)


def open_surface(path):
    box = trimesh.creation.box((1, 1, 1))
    box.update_faces(np.arange(11))
    box.export(path)


def inside_out(path):
    box = trimesh.creation.box((1, 1, 1))
    box.invert()
    box.export(path)


@pytest.mark.parametrize(
    ("shapes", "others", "message"),
    [
        ([{"box": [1, -2, 3]}], {}, "body 'a': shape 1 (box): size is [1, -2, 3]; give 3 numbers > 0, in m"),
        ([bough.shapes.Sphere(1), {"cylinder": {"radius": 0, "length": 1}}], {},
         "body 'a': shape 2 (cylinder): radius is 0.0 m; give a number > 0"),
        ([{"cylinder": 3}], {}, "body 'a': shape 1 (cylinder): cylinder is 3; give {radius: ..., length: ...}"),
        ([{"sphere": 1, "densty": 3}], {}, "body 'a': shape 1 (sphere): unknown key 'densty'; did you mean 'density'?"),
        ([{"cube": 1}], {}, "body 'a': shape 1: is {'cube': 1}; give a mapping with one of the keys box, cylinder, sphere, mesh"),
        (3, {}, "body 'a': shapes is 3; give a shape, such as Box((1, 2, 3)) (in YAML: {box: [1, 2, 3]}), or a list of them"),
        ([{"sphere": 1, "density": -2}], {}, "body 'a': shape 1 (sphere): density is -2.0 kg/m^3; give a number > 0"),
        ([{"sphere": 1, "color": "blurple"}], {}, "body 'a': shape 1 (sphere): color is 'blurple'; give the name of a color, "
         "such as 'steelblue' or '#4682b4', or 3 numbers from 0 to 1: red, green, blue"),
        ([{"mesh": "a.stl", "scale": 0}], {}, "body 'a': shape 1 (mesh): scale is 0; give a number that is not 0, or 3 of them"),
        ([{"sphere": 1, "density": 2}], {"mass": 3, "inertia": (1, 1, 1)}, "body 'a': mass and inertia given, but shape 1 (sphere) "
         "has a density and gives the body its mass; leave out mass and inertia, or the density"),
        ([{"box": (1, 1, 1)}, {"sphere": 1, "density": 2}], {"flexible": bough.beam(4.0, EI=800, mass_per_length=1.5, modes=2)},
         "body 'a': shape 2 (sphere) has a density, but finite elements give a flexible body its mass; leave out density"),
        ([{"mesh": "/none.stl", "density": 2}], {},
         "body 'a': shape 1 (mesh): there is no file /none.stl; give the path of an STL, OBJ or other mesh file"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_by_name(shapes, others, message):
    with pytest.raises(DescriptionError) as caught:
        bough.Body("a", shapes=shapes, **others)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("make", "words"),
    [(open_surface, "is not watertight, so it encloses no mass"),
     (inside_out, r"has the volume -1 m\^3, its triangles face inwards")],
)
def test_meshes_that_enclose_nothing(make, words, tmp_path):
    make(path := tmp_path / "bad.stl")
    with pytest.raises(DescriptionError, match=rf"body 'a': shape 1 \(mesh\): .*bad\.stl {words}; repair it, or leave out density"):
        bough.Body("a", shapes=bough.shapes.Mesh(path, density=1))
    assert len(bough.shapes.Mesh(path).triangles()[1]) >= 11                 # it can be drawn


def test_files_that_hold_no_mesh(tmp_path):
    (tmp_path / "text.stl").write_text("hello")
    (tmp_path / "what.xyzzy").write_text("hello")
    for name in ("text.stl", "what.xyzzy"):
        with pytest.raises(DescriptionError, match=f"mesh: .*{name} (cannot be read|has no triangles)"):
            bough.shapes.Mesh(tmp_path / name).triangles()


def test_problems_have_their_line(tmp_path):
    path = tmp_path / "arm.yaml"
    path.write_text("bodies:\n- name: a\n  shapes:\n  - {sphere: 1}\n  - {box: [1, 2]}\n")
    with pytest.raises(DescriptionError) as caught:
        bough.load(path)
    words = "body 'a': shape 2 (box): size is [1, 2], which has 2 entries; give 3 finite numbers"
    assert str(caught.value) == f"{path}:5: {words}"


def test_a_packed_mesh_without_triangles_is_named():
    for vertices, faces in ((np.zeros((0, 3)), np.zeros((0, 3), int)), (np.zeros((3, 3)), np.zeros((0, 3), int))):
        with pytest.raises(DescriptionError, match=r"npz holds vertices \(\d, 3\) and faces \(0, 3\) that do not fit"):
            Mesh("panel.stl", npz=pack((vertices, faces)))
