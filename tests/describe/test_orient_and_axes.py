"""Axes and orientations against scipy's rotations."""

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.spatial.transform import Rotation

from bough.describe import Body, Revolute
from bough.describe.numeric import PRINCIPAL, axis, letter
from bough.describe.orientation import IDENTITY, orientation
from bough.errors import DescriptionError
from tests.support.tolerance import FORMULA

unit_quaternions = st.tuples(*[st.floats(-1, 1)] * 4).filter(lambda q: np.linalg.norm(q) > 1e-3)
SEQUENCES = ["x", "zy", "xyz", "ZXZ", "ZYX", "yxy", "Z"]


def same_rotation(mine, rotation):
    return abs(np.dot(mine, rotation.as_quat())) == pytest.approx(1.0, abs=FORMULA)


@given(st.tuples(*[st.floats(-1e100, 1e100)] * 3).filter(any))
def test_axis_is_unit_and_stays_as_it_is(given_vector):
    once = axis(given_vector)
    assert np.linalg.norm(once) == pytest.approx(1.0, abs=FORMULA)
    assert axis(once) == once


@pytest.mark.parametrize("name", PRINCIPAL)
def test_letters(name):
    assert letter(axis(name)) == name


@given(unit_quaternions)
def test_quaternion_is_unit_and_stays_as_it_is(q):
    once = orientation(q)
    assert same_rotation(once, Rotation.from_quat(q))
    assert orientation(once) == once


@given(unit_quaternions)
def test_matrix_and_rotation_object(q):
    rotation = Rotation.from_quat(q)
    assert same_rotation(orientation(rotation.as_matrix()), rotation)
    assert orientation(rotation) == tuple(rotation.as_quat())


@given(st.sampled_from(SEQUENCES), st.lists(st.floats(-360, 360), min_size=3, max_size=3))
def test_euler(sequence, angles):
    angles = angles[: len(sequence)]
    rotation = Rotation.from_euler(sequence, angles if len(angles) > 1 else angles[0], degrees=True)
    assert same_rotation(orientation({"euler": sequence, "degrees": angles}), rotation)
    assert same_rotation(orientation({"euler": sequence, "radians": np.radians(angles)}), rotation)


@given(st.tuples(*[st.floats(-3, 3)] * 3))
def test_rotation_vector(v):
    assert same_rotation(orientation({"rotvec": v}), Rotation.from_rotvec(v))


def test_nothing_is_identity():
    assert orientation(None) == IDENTITY == orientation(np.eye(3))


@pytest.mark.parametrize(
    ("given_orient", "word"),
    [
        ([1, 2, 3], "quaternion"),
        ([0, 0, 0, 0], "zero length"),
        (np.eye(3) * 1.01, "orthonormal"),
        (-np.eye(3), "reflection"),
        ({"euler": "xxy", "degrees": [1, 2, 3]}, "'xxy'"),
        ({"euler": "xY", "degrees": [1, 2]}, "'xY'"),
        ({"euler": "xyz", "degrees": [1, 2]}, "give 3"),
        ({"euler": "x", "degrees": 1, "radians": 1}, "quaternion"),
        ({"eular": "x", "degrees": 1}, "did you mean 'euler'"),
        ({"axis": "z", "degrees": [1, 2]}, "give one"),
        (Rotation.identity(3), "holds 3 rotations"),
        ([0, 0, float("nan"), 1], "nan"),
        ("x", "quaternion"),
    ],
)
def test_bad_orientations(given_orient, word):
    with pytest.raises(DescriptionError, match=r"^body 'b': orient ") as caught:
        Body("b", orient=given_orient)
    assert word in str(caught.value)


@pytest.mark.parametrize("given_axis", ["q", "xy", (0, 0, 0), (1, 2), 3, None, (1, "a", 0), (1, np.inf, 0), True])
def test_bad_axes(given_axis):
    with pytest.raises(DescriptionError, match=r"^revolute joint: axis .*; give "):
        Revolute(given_axis)


def test_neither_scipy_nor_numba_is_imported():
    code = "import sys, bough.describe; print([m for m in ('scipy', 'numba') if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "[]"
