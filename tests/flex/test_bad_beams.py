"""Beams and reductions that make no sense, and what is said about them."""

import numpy as np
import pytest

from bough.errors import DescriptionError
from bough.flex import beam, beam_model

GOOD = {"length": 1.0, "EI": 1.0, "mass_per_length": 1.0}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"length": 0.0}, "length is 0.0 m; give a number > 0"),
        ({"elements": 0}, "elements is 0; give a number >= 1"),
        ({"axis": "w"}, "axis is 'w'; give one of 'x', 'y'"),
        ({"EI": None}, "it has no bending stiffness; give EI"),
        ({"EI": -1.0}, "EI is -1 somewhere along the axis"),
        ({"EI": (1.0, 2.0, 3.0)}, "give one stiffness, or the pair"),
        ({"mass_per_length": None}, "it has no mass; give density and area"),
        ({"mass_per_length": lambda x: 0.5 - x}, "mass_per_length is -0.49"),
        ({"GJ": 1.0}, "it can twist but has no inertia about its axis; give polar_inertia"),
        ({"timoshenko": True}, "timoshenko=True needs the shear stiffness; give G and area"),
        ({"rotary_inertia": True}, "rotary inertia needs the sections"),
        ({"nodes": {"far": 1.5}}, "node 'far' is at 1.5 m; give a place from 0 to its length 1.0 m"),
        ({"inboard": "rot"}, "it has no node 'rot' \\(did you mean 'root'\\?\\)"),
        ({"tip_mass": -1.0}, "tip_mass is -1.0"),
        ({"modes": -1}, "modes is -1; give a number >= 0"),
        ({"modes": 500}, "500 modes were asked for, but the model has 128 free dofs"),
        ({"boundary": "clamped"}, "reduction is 'clamped'; give one of 'cantilever', 'free-free'"),
        ({"boundary": "craig-bampton"}, "craig-bampton needs nodes beside the inboard one"),
        ({"boundary": "craig-bampton", "interfaces": ["top"]}, r"it has no node 'top' \(did you mean 'tip'"),
        ({"damping": -0.1}, "damping ratio is -0.1; give a number >= 0"),
        ({"damping": [0.1]}, "damping has shape \\(1,\\); give a ratio, 6 ratios, or a matrix \\(6, 6\\)"),
        ({"damping": -np.eye(6)}, "the damping matrix feeds energy in"),
        ({"variant": "exact"}, "variant is 'exact'; give one of 'full'"),
    ],
)
def test_bad_beam(change, message):
    with pytest.raises(DescriptionError, match=message):
        beam(**GOOD | change)


def test_dependent_modes_are_named():
    model = beam_model(**GOOD)
    shapes = np.random.default_rng(0).normal(size=(model.n_dofs, 3))
    shapes[:, 2] = shapes[:, 0]
    with pytest.raises(DescriptionError, match=r"modes are linearly dependent .* above all modes 0 and 2; leave one out"):
        model.reduce(modes=shapes)


def test_interfaces_that_share_a_node_are_named():
    model = beam_model(**GOOD, nodes={"end": 1.0})
    with pytest.raises(DescriptionError, match="linearly dependent: interfaces 'tip' and 'end' share mesh node 32"):
        model.reduce("craig-bampton", modes=2, interfaces=["tip", "end"])


def test_shapes_of_wrong_length():
    with pytest.raises(DescriptionError, match="modes have 5 rows, but the model has 198 dofs"):
        beam_model(**GOOD).reduce(modes=np.zeros((5, 2)))


def test_grounded_stiffness_has_no_free_modes():
    from dataclasses import replace

    from scipy.sparse import eye_array

    model = beam_model(**GOOD)
    grounded = replace(model, stiffness=(model.stiffness + eye_array(model.n_dofs)).tocsr())
    with pytest.raises(DescriptionError, match="free-free modes were asked for, but the stiffness resists rigid motion"):
        grounded.reduce("free-free", modes=2)


def test_wrong_number_of_coordinates():
    with pytest.raises(DescriptionError, match=r"eta has shape \(3,\); give one number for each of its 2 modes"):
        beam(**GOOD, modes=2).displacement(np.zeros(3))
