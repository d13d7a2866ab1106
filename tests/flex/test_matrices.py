"""Bodies from the matrices of other tools, lumped and consistent, from memory and from files."""

import numpy as np
import pytest
from scipy.io import mmwrite
from scipy.sparse import block_diag, csr_array, save_npz

from bough.errors import DescriptionError
from bough.flex import FlexibleBody, beam_model
from bough.flex.integrals import tilde
from bough.flex.solids import box, solid_model
from tests.support.compare import solving
from tests.support.tolerance import SWEEP


def lumped_beam(elements=12):
    """A beam's stiffness with its mass lumped at nodes that have offsets and inertias."""
    model = beam_model(
        1.0, E=70e9, G=26e9, area=1e-4, Iy=8e-10, Iz=12e-10, J=1.4e-9, density=2700.0, elements=elements, inboard="root"
    )
    rng = np.random.default_rng(0)
    blocks = []
    for _ in range(elements + 1):
        m, p, spin = 0.02, 0.01 * rng.normal(size=3), 1e-6 * np.diag(rng.uniform(1, 2, 3))
        blocks.append(np.block([[m * np.eye(3), -m * tilde(p)], [m * tilde(p), spin - m * tilde(p) @ tilde(p)]]))
    return csr_array(block_diag(blocks)), model.stiffness, model.position


def test_lumped_nodes_are_the_mass_points():
    M, K, nodes = lumped_beam()
    body = FlexibleBody.from_matrices(M, K, nodes, attach={"root": 0, "tip": 12}, inboard="root", modes=5, mass=13 * 0.02)
    assert len(body.points.mass) == 13
    assert np.allclose(body.integrals.Mff, np.eye(5), rtol=0, atol=SWEEP)
    assert body.points.inertia.min() > -1e-12
    assert not body.stiffening


def test_consistent_solid_goes_through_pairs_of_nodes():
    model = solid_model(box((1, 0.1, 0.1), (4, 1, 1)), E=1e9, nu=0.3, density=1e3, attach={"root": ("x", 0.0)}, inboard="root")
    root = model.find("root").nodes
    tip = np.flatnonzero(np.isclose(model.position[:, 0], 1.0))
    body = FlexibleBody.from_matrices(
        model.mass, model.stiffness, model.position, attach={"root": root, "tip": tip}, inboard="root", modes=4, mass=10.0
    )
    assert body.points is None
    assert np.allclose(body.integrals.Mff, np.eye(4), rtol=0, atol=SWEEP)
    assert body.com == pytest.approx([0.5, 0, 0], abs=SWEEP)
    assert body.frequencies == pytest.approx(model.reduce(modes=4).frequencies)


@pytest.mark.parametrize("suffix", [".mtx", ".npz", ".npy"])
def test_matrices_from_files(tmp_path, suffix):
    M, K, nodes = lumped_beam(6)
    for name, matrix in (("M", M), ("K", K)):
        path = tmp_path / f"{name}{suffix}"
        if suffix == ".mtx":
            mmwrite(path, matrix, precision=17)
        elif suffix == ".npz":
            save_npz(path, csr_array(matrix))
        else:
            np.save(path, matrix.toarray())
    options = {"attach": {"root": 0, "tip": 6}, "inboard": "root", "modes": 3}
    read = FlexibleBody.from_matrices(str(tmp_path / f"M{suffix}"), tmp_path / f"K{suffix}", nodes, **options)
    known = FlexibleBody.from_matrices(M, K, nodes, **options)
    assert read.frequencies == pytest.approx(known.frequencies, rel=solving(K.toarray()[6:, 6:]))


def test_origin_is_the_inboard_node_unless_given():
    M, K, nodes = lumped_beam(6)
    options = {"attach": {"root": 0, "tip": 6}, "inboard": "root", "modes": 3}
    moved = FlexibleBody.from_matrices(M, K, nodes + np.array([5.0, 6.0, 7.0]), **options)
    assert moved.nodes.position[1] == pytest.approx([1, 0, 0])
    kept = FlexibleBody.from_matrices(M, K, nodes + np.array([5.0, 6.0, 7.0]), origin=(0, 0, 0), **options)
    assert kept.nodes.position[1] == pytest.approx([6, 6, 7])


def test_geometric_stiffness_of_another_tool_is_projected():
    M, K, nodes = lumped_beam(6)
    geometric = {"acceleration": [K, 2 * K, 3 * K], "force": {"tip": [K, K, K]}}
    body = FlexibleBody.from_matrices(M, K, nodes, attach={"root": 0, "tip": 6}, inboard="root", modes=3, geometric=geometric)
    assert np.allclose(body.geometric.acceleration[1], 2 * body.K, rtol=0, atol=SWEEP * body.K.max())
    assert np.allclose(body.geometric.force[1, 0], body.K, rtol=0, atol=SWEEP * body.K.max())
    assert not body.geometric.force[0].any()


def broken(**changes):
    M, K, nodes = lumped_beam(6)
    given = {"M": M, "K": K, "nodes": nodes, "attach": {"root": 0, "tip": 6}, "inboard": "root", "modes": 3} | changes
    if callable(given["K"]):
        given["K"] = given["K"](K)
    if callable(given["M"]):
        given["M"] = given["M"](M)
    with pytest.raises(DescriptionError) as caught:
        FlexibleBody.from_matrices(given.pop("M"), given.pop("K"), given.pop("nodes"), **given)
    return str(caught.value)


def with_entry(matrix, i, j, value):
    changed = matrix.tolil()
    changed[i, j] = value
    return csr_array(changed)


def test_what_is_refused_is_named():
    assert "stiffness matrix is not symmetric, with" in broken(K=lambda K: with_entry(K, 7, 13, 123.0))
    assert "mass matrix is not symmetric" in broken(M=lambda M: with_entry(M, 0, 7, 123.0))
    assert "no node 'hub'; its nodes are 'root', 'tip'" in broken(inboard="hub")
    assert "node 'tip': the model has no node 7; give a number from 0 to 6" in broken(attach={"root": 0, "tip": 7})
    assert "mass is 2 kg but the mass matrix holds 0.14 kg; check the units" in broken(mass=2.0)
    assert "42 dofs for 6 nodes; give 3 or 6 dofs" in broken(nodes=np.zeros((6, 3)))
    assert "give square matrices of one size" in broken(K=lambda K: K[:6, :6])
    assert "and 0.01 kg across; give the matrix" in broken(M=lambda M: with_entry(with_entry(M, 0, 1, 0.01), 1, 0, 0.01))
    assert "moves 0.24, 0.14, 0.14 kg along x, y, z" in broken(M=lambda M: with_entry(M, 0, 0, 0.12))
    assert "does not exist; give the path" in broken(M="nowhere.mtx")
    assert "geometric has the key 'spin'" in broken(geometric={"spin": []})
    assert "cantilever modes need an inboard node" in broken(inboard=None)


def test_translating_node_cannot_hold_a_body():
    """One clamped node of a solid leaves it free to turn."""
    model = solid_model(box((1, 0.1, 0.1), (3, 1, 1)), E=1e9, nu=0.3, density=1e3, attach={"root": [0]}, inboard="root", order=1)
    with pytest.raises(DescriptionError, match=r"inboard node 'root' fixed the stiffness still has 3 rigid-body mode\(s\)"):
        model.reduce(modes=4)


def test_mass_that_moves_sideways_is_refused():
    M = np.kron([[2.0, 1.0], [1.0, 2.0]], np.diag([1.0, 1.0, 1.0]))
    M[0, 4] = M[4, 0] = 0.5
    with pytest.raises(DescriptionError, match=r"and 0\.5 kg across"):
        FlexibleBody.from_matrices(M, np.eye(6), [(0, 0, 0), (1, 0, 0)], attach={"root": 0}, inboard="root")
