"""Collada files: units, nodes, polygons."""

import numpy as np
import pytest

import bough
from bough.errors import DescriptionError
from tests.support.tolerance import PRODUCTS

PLATE = """<?xml version="1.0"?>
<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">
  <asset><unit name="millimeter" meter="0.001"/><up_axis>Y_UP</up_axis></asset>
  <library_geometries><geometry id="plate"><mesh>
    <source id="places"><float_array id="f" count="12">0 0 0 2 0 0 2 1 0 0 1 0</float_array>
      <technique_common><accessor source="#f" count="4" stride="3"/></technique_common></source>
    <vertices id="corners"><input semantic="POSITION" source="#places"/></vertices>
    POLYGONS
  </mesh></geometry></library_geometries>
  <library_visual_scenes><visual_scene id="scene">
    <node><translate>0 0 5</translate><rotate>0 0 1 90</rotate><scale>10 10 10</scale>
      <node><matrix>1 0 0 1 0 1 0 0 0 0 1 0 0 0 0 1</matrix><instance_geometry url="#plate"/></node></node>
  </visual_scene></library_visual_scenes>
  <scene><instance_visual_scene url="#scene"/></scene>
</COLLADA>
"""
INPUTS = '<input semantic="NORMAL" source="#none" offset="0"/><input semantic="VERTEX" source="#corners" offset="1"/>'
POLYGONS = {
    "triangles": f'<triangles count="2">{INPUTS}<p>9 0 9 1 9 2 9 0 9 2 9 3</p></triangles>',
    "polylist": f'<polylist count="1">{INPUTS}<vcount>4</vcount><p>9 0 9 1 9 2 9 3</p></polylist>',
    "polygons": f'<polygons count="1">{INPUTS}<p>9 0 9 1 9 2 9 3</p></polygons>',
}


def mesh(tmp_path, polygons, **options):
    path = tmp_path / "plate.dae"
    path.write_text(PLATE.replace("POLYGONS", polygons))
    return bough.shapes.Mesh(path, **options)


@pytest.mark.parametrize("kind", list(POLYGONS))
def test_a_plate(kind, tmp_path):
    """Moved by 1 along x, made ten times larger, turned by 90 degrees about z, lifted by 5: all in mm."""
    vertices, faces = mesh(tmp_path, POLYGONS[kind]).triangles()
    corners = np.array([[0, 10, 5], [0, 30, 5], [-10, 30, 5], [-10, 10, 5]]) * 1e-3
    np.testing.assert_allclose(vertices[faces], corners[[[0, 1, 2], [0, 2, 3]]], rtol=0, atol=PRODUCTS * corners.max())  # in m


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("triangles", "tristrips", r"cannot be read \(a geometry has <tristrips>\)"),
        ('source="#corners"', 'source="#edges"', r"cannot be read \(<input> means 'edges', which is not in the file\)"),
        ("<p>9 0 9 1 9 2 9 0 9 2 9 3</p>", "<p></p>", "has no triangles"),
    ],
)
def test_what_is_wrong_is_said(old, new, words, tmp_path):
    polygons = POLYGONS["triangles"].replace(old, new)
    with pytest.raises(DescriptionError, match=rf"mesh: .*plate\.dae {words}"):
        mesh(tmp_path, polygons).triangles()
