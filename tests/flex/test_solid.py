"""Solids of finite elements against beams, plates and each other.

Tolerances: 0.04 for stress stiffness, of which sections have a part where they turn, some (k h)^2/12 = 0.02 for the second bending
in the plane of 0.1 m, k = 4.7/m, that beams neglect; and the clamped end, see CLAMPED.
"""

import numpy as np
import pytest

from bough.errors import DescriptionError
from bough.flex import beam
from bough.flex.solids import box, solid, solid_model
from tests.support.tolerance import CANCELLING

skfem = pytest.importorskip("skfem")

STEEL = {"E": 70e9, "nu": 0.3, "density": 2700.0}
ENDS = {"attach": {"root": ("x", 0.0), "tip": ("x", 1.0)}, "inboard": "root"}
SIZE = (1.0, 0.1, 0.05)
CLAMPED = 2 * 0.3**2 * 0.1
"""0.018: where a solid is clamped it cannot contract, and bends as if nu^2 of its width were missing of its length, with whose
square frequencies go. Without Poisson's ratio a tenth of that is left."""
TORSION = 0.05  # two elements across: four leave a third of it


@pytest.fixture(scope="module")
def bar():
    return solid(box(SIZE, (10, 2, 1)), modes=5, **ENDS, **STEEL)


@pytest.fixture(scope="module")
def slender():
    Iy, Iz = 0.1 * 0.05**3 / 12, 0.05 * 0.1**3 / 12
    return beam(
        1.0, E=70e9, G=70e9 / 2.6, area=0.005, Iy=Iy, Iz=Iz, J=0.229 * 0.1 * 0.05**3, density=2700.0, timoshenko=True, modes=5
    )


def test_solid_cantilever_is_a_beam(bar, slender):
    assert bar.frequencies[:4] == pytest.approx(slender.frequencies[:4], rel=CLAMPED)
    assert bar.frequencies[4] == pytest.approx(slender.frequencies[4], rel=TORSION)
    assert bar.mass == pytest.approx(13.5)
    assert bar.nodes.rotates == (True, True)


def test_solid_tip_moves_and_turns_as_the_beam_does(bar, slender):
    for found, wanted in ((bar.nodes.phi, slender.nodes.phi), (bar.nodes.psi, slender.nodes.psi)):
        wanted = np.abs(wanted[1, :, :4])
        assert np.abs(found[1, :, :4]) == pytest.approx(wanted, abs=CLAMPED * wanted.max())


def test_stress_stiffness_of_the_solid_is_the_foreshortening_of_the_beam(bar, slender):
    for spin in ((0, 0, 100.0), (0, 100.0, 0)):
        solid_stiffness = np.diagonal(bar.geometric.matrix((0, 0, 0), (0, 0, 0), spin))[:4]
        assert solid_stiffness == pytest.approx(np.diagonal(slender.geometric.matrix((0, 0, 0), (0, 0, 0), spin))[:4], rel=0.04)
    force = bar.geometric.force[1], slender.geometric.force[1]
    assert np.diagonal(force[0][0])[:3] == pytest.approx(np.diagonal(force[1][0])[:3], rel=CLAMPED)
    assert abs(force[0][1][0, 4]) == pytest.approx(abs(force[1][1][0, 4]), rel=0.05)  # lateral force couples bending and twist


def test_tetrahedra_give_the_same_body(bar):
    mesh = skfem.MeshTet.init_tensor(np.linspace(0, 1, 11), np.linspace(0, 0.1, 3), np.linspace(0, 0.05, 2))
    tets = solid(mesh, modes=3, geometric_stiffness=False, **ENDS, **STEEL)
    assert tets.frequencies == pytest.approx(bar.frequencies[:3], rel=0.01)  # hexahedra half as long change the third by 0.007


def test_mesh_from_a_file(tmp_path, bar):
    path = tmp_path / "bar.vtk"
    box(SIZE, (10, 2, 1)).save(str(path))
    assert solid(path, modes=2, geometric_stiffness=False, **ENDS, **STEEL).frequencies == pytest.approx(bar.frequencies[:2])


def test_thin_cantilever_plate():
    """Square plate clamped at one side, nu = 0.3: omega a^2 sqrt(rho h / D) = 3.492, 8.525, 21.43 (Leissa)."""
    thickness = 0.01
    plate = solid(box((1, 1, thickness), (8, 8, 1)), modes=3, geometric_stiffness=False, **ENDS, **STEEL)
    scale = np.sqrt(70e9 * thickness**3 / 12 / (1 - 0.3**2) / (2700 * thickness))
    # the third is off by 0.017, with 12 x 12 elements by 0.004
    assert 2 * np.pi * plate.frequencies / scale == pytest.approx([3.492, 8.525, 21.43], rel=0.02)


def test_free_free_solid_has_no_momentum():
    body = solid_model(box(SIZE, (6, 1, 1)), attach={"tip": ("x", 1.0)}, **STEEL).reduce("free-free", modes=3, stiffening=False)
    assert np.abs(body.integrals.mass_matrix(np.zeros(3))[3:, :3]).max() < CANCELLING
    thick = (1 + 2.6 * 6 / 5) * 0.05**2 / 12  # (I/A) (1 + E/(kappa G)): rotary inertia and shear, times b^2 = 22
    assert body.frequencies[0] == pytest.approx(22.373 / (2 * np.pi) * np.sqrt(70e9 * 0.05**2 / 12 / 2700), rel=22.373 * thick)


def test_craig_bampton_solid_keeps_static_response(bar):
    report = solid_model(box(SIZE, (6, 1, 1)), **ENDS, **STEEL).convergence("craig-bampton", modes=4, interfaces=["tip"])
    assert report.static_error[-1] < 0.06  # the interface is stiffened into a plane
    assert 0 < report.frequency_error[0] < (bar.frequencies[0] / bar.frequencies[4]) ** 2  # the fifth, held at both ends, is higher


def test_bad_solids_are_named():
    mesh = box(SIZE, (2, 1, 1))
    for change, message in (
        ({"nu": 0.5}, "-1 < nu < 0.5"),
        ({"attach": {"root": "left"}}, "node 'root': the mesh has no boundary 'left'"),
        ({"attach": {"root": ("x", 7.0)}}, "node 'root': no node of the mesh lies there"),
        ({"inboard": "hub"}, "no node 'hub'"),
        ({"order": 3}, "order 3 is not supported"),
    ):
        with pytest.raises(DescriptionError, match=message):
            solid(mesh, **(dict(ENDS, **STEEL) | change))
    with pytest.raises(DescriptionError, match=r"mesh file 'none\.vtk' does not exist"):
        solid("none.vtk", **ENDS, **STEEL)


def test_a_mesh_without_elements_is_named():
    from skfem import MeshTet
    empty = MeshTet(np.zeros((3, 0)), np.zeros((4, 0), int))
    with pytest.raises(DescriptionError, match="solid: the mesh has no elements; give one of hexahedra or tetrahedra"):
        solid(empty, E=1e9, nu=0.3, density=1.0, attach={"root": ("x", 0.0)}, inboard="root")
