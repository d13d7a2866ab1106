"""What bodies look like: solids with their inertia, given shapes, beams and surfaces of flexible bodies."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import bough
from bough.look.body_shapes import chain, drawn, inertia_part, parts_of, section
from bough.look.buffers import Buffers
from bough.look.scene import limb_numbers
from tests.support.replay_pages import unpacked
from tests.support.tolerance import CANCELLING, FORMULA


def inertia_of(part, mass):
    """Of a homogeneous solid, about its own center, in the body frame."""
    if part["kind"] == "box":
        a, b, c = np.square(part["size"])
        own = np.array([b + c, a + c, a + b]) * mass / 12
    else:
        r2, h2 = part["below"] ** 2, part["height"] ** 2
        own = np.array([3 * r2 + h2, 3 * r2 + h2, 6 * r2]) * mass / 12
    R = Rotation.from_quat(part["turn"]).as_matrix()
    return R @ np.diag(own) @ R.T


@pytest.mark.parametrize("seed", range(8))
def test_a_solid_made_from_inertia_has_that_inertia(seed):
    rng = np.random.default_rng(seed)
    sizes = rng.uniform(0.2, 2.0, 3)
    if seed % 2:
        sizes[1] = sizes[0]                                        # two equal moments: a cylinder
    moments = np.array([sizes[1]**2 + sizes[2]**2, sizes[0]**2 + sizes[2]**2, sizes[0]**2 + sizes[1]**2]) * 3.0 / 12
    R = Rotation.random(random_state=seed).as_matrix() if seed > 3 else np.eye(3)
    inertia = R @ np.diag(moments) @ R.T
    part = inertia_part(3.0, (0.1, 0.2, 0.3), inertia, reach=2.0, least=1e-6)
    assert part["kind"] == ("frustum" if seed % 2 else "box")
    assert part["at"] == [0.1, 0.2, 0.3]
    assert np.abs(inertia_of(part, 3.0) - inertia).max() < CANCELLING * np.abs(inertia).max()


def test_principal_axes_of_the_body_stay_its_axes():
    part = inertia_part(22.0, (0, 2.1, 0), np.diag([32.5, 4.4, 36.8]), reach=4.0, least=0.01)
    assert part["turn"] == [0, 0, 0, 1]
    assert np.argmax(part["size"]) == 1                            # a panel along y


def test_points_and_threads_are_seen():
    assert inertia_part(2.0, (0, 0, -1), np.zeros((3, 3)), reach=1.0, least=0.01)["kind"] == "ball"
    rod = inertia_part(1.0, (0.5, 0, 0), np.diag([0.0, 1 / 12, 1 / 12]), reach=1.0, least=0.02)
    assert (rod["height"], rod["below"]) == pytest.approx((1.0, 0.01))


def arm():
    s = bough.System("arm")
    s.body("upper", joint=bough.Revolute("y"), mass=1.0, com=(0.5, 0, 0), inertia=(0.01, 0.1, 0.1))
    s.body("lower", parent="upper", at=(1, 0, 0.3), joint=bough.Revolute("y"), mass=1.0)
    return s


def test_rods_reach_from_joint_to_joint():
    s = arm()
    rods = [part for part in parts_of(s, s.bodies["upper"], 1.0, 1.0, Buffers()) if part.get("role") == "rod"]
    ends = []
    for rod in rods:
        axis = Rotation.from_quat(rod["turn"]).apply([0, 0, 1])
        ends += [np.array(rod["at"]) + sign * axis * rod["height"] / 2 for sign in (-1, 1)]
    for joint in ((0, 0, 0), (1, 0, 0.3)):
        assert min(np.linalg.norm(np.array(joint) - end) for end in ends) < FORMULA


def test_given_shapes_are_drawn_as_they_are():
    s = bough.System("box")
    box = bough.shapes.Box((1, 2, 3), at=(0.5, 0, 0), orient={"axis": "z", "degrees": 30}, color="tomato")
    s.body("b", mass=1.0, shapes=[box])
    buffers = Buffers()
    part, = parts_of(s, s.bodies["b"], 1.0, 1.0, buffers)
    vertices, faces = (unpacked(buffers.texts[part[name]["buffer"]], part[name]) for name in ("vertices", "faces"))
    assert np.array_equal(vertices, box.triangles()[0].astype(np.float32))
    assert np.array_equal(faces, box.triangles()[1])
    assert (part["color"], part["opacity"]) == ("#ff6347", 1.0)


def test_shapes_stay_when_parameters_change():
    s = bough.System("box")
    s.body("b", joint=bough.Free(), shapes=bough.shapes.Box((1, 2, 3), density=1000))
    other = s.compile().with_parameters({"b.mass": 5.0}).system.bodies["b"]
    assert other.mass == 5.0
    assert other.inertia == s.bodies["b"].inertia
    assert other.shapes == (bough.shapes.Box((1, 2, 3)),)


def test_a_floating_body_looks_as_the_water_sees_it():
    s = bough.System("spar", gravity=(0, 0, -9.81))
    s.body("spar", joint=bough.Free(), mass=100.0, inertia=(10, 10, 1))
    s.buoyancy("hull", body="spar", sections=[(-5, -1, 1.0, 1.0), (-1, 1, 1.0, 0.5)])
    below, above = parts_of(s, s.bodies["spar"], 5.0, 5.0, Buffers())
    assert (below["height"], below["below"], below["at"][2]) == (4, 0.5, -3)
    assert (above["below"], above["above"]) == (0.5, 0.25)


def test_the_surface_of_a_solid_is_closed_and_looks_outward():
    body = bough.solid(bough.flex.box((1.0, 0.5, 0.1), (4, 2, 1)), E=70e9, nu=0.33, density=2700, modes=2,
                       attach={"root": ("x", 0.0)}, inboard="root")  # fmt: skip
    outline = body.outline
    a, b, c = np.moveaxis(outline.position[outline.faces], 1, 0)
    volume = np.einsum("fi,fi->", a, np.cross(b, c)) / 6
    assert volume == pytest.approx(1.0 * 0.5 * 0.1, rel=FORMULA)
    edges = np.concatenate([outline.faces[:, [0, 1]], outline.faces[:, [1, 2]], outline.faces[:, [2, 0]]])
    assert len({tuple(edge) for edge in edges.tolist()}) == len(edges)         # each edge once in each direction
    assert {tuple(edge) for edge in edges.tolist()} == {tuple(edge[::-1]) for edge in edges.tolist()}
    again = bough.FlexibleBody.from_arrays(body.to_arrays())
    assert np.array_equal(again.outline.faces, outline.faces)
    first = {name: array for name, array in body.to_arrays().items() if name != "outline.faces"}
    assert len(bough.FlexibleBody.from_arrays(first).outline.faces) == 0       # a file of before there were surfaces


def test_drawn_surfaces_leave_out_what_is_inside():
    body = bough.solid(bough.flex.box((1.0, 1.0, 1.0), (3, 3, 3)), E=1e6, nu=0.3, density=1000, modes=2, order=2,
                       attach={"root": ("x", 0.0)}, inboard="root")  # fmt: skip
    told = drawn(body, Buffers())
    assert told["points"]["shape"] == [64 - 8, 3]                  # of 4 x 4 x 4 vertices, the inner 2 x 2 x 2 are not seen
    assert told["chain"] is None


def test_a_panel_is_drawn_as_wide_as_its_inertia_says():
    panel = bough.beam(3.0, axis="y", EI=(9e4, 480.0), GJ=260.0, mass_per_length=2.1, polar_inertia=2.1 * 0.8**2 / 12, modes=5)
    path = chain(panel.outline)
    told = section(panel, panel.outline.position[path])
    assert told["width"] == pytest.approx(0.8, rel=0.01)           # w^2 + h^2 = 12 k^2, h = w/14
    assert told["height"] / told["width"] == pytest.approx(np.sqrt(480 / 9e4), rel=1 - np.sqrt(12 / 1.875104**4))    # by one mode
    assert abs(told["across"][0]) == pytest.approx(1.0)            # it is soft about x: wide along x, thin along z


def test_beams_are_found_and_rings_are_not():
    beam = bough.beam(2.0, EI=10.0, mass_per_length=1.0, modes=2)
    assert len(chain(beam.outline)) == len(beam.outline.position)
    from bough.flex.integrals import Outline

    ring = np.array([[0, 1], [1, 2], [2, 0]])
    assert chain(Outline(np.eye(3), np.zeros((3, 3, 0)), ring)) is None


def test_limbs_begin_at_branches():
    s = arm()
    s.body("other", parent="upper", mass=1.0)
    assert limb_numbers(s) == {"upper": 1, "lower": 2, "other": 3}
