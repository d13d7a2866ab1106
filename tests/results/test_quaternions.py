"""Attitudes as quaternions: of any rotation, to rounding, and continuous along a run."""
import numpy as np
from scipy.spatial.transform import Rotation

from bough.describe.orientation import quaternions
from bough.results.dataset import continuous
from tests.support.tolerance import FORMULA


def test_quaternions_of_any_rotation():
    rotations = Rotation.random(500, random_state=1)
    found = Rotation.from_quat(quaternions(rotations.as_matrix()))
    assert (found.inv() * rotations).magnitude().max() < FORMULA


def test_quaternions_of_half_turns():
    for axis in np.vstack([np.eye(3), [[0.6, 0.8, 0], [0, -0.6, 0.8]]]):
        turn = Rotation.from_rotvec(np.pi * axis)
        assert (Rotation.from_quat(quaternions(turn.as_matrix())).inv() * turn).magnitude() < FORMULA


def test_signs_follow_the_sample_before():
    angles = np.linspace(0, 12, 200)
    smooth = np.stack([0 * angles, 0 * angles, np.sin(angles / 2), np.cos(angles / 2)], axis=-1)
    flipped = smooth * np.where(np.arange(200) % 3, 1, -1)[:, None]
    np.testing.assert_array_equal(continuous(flipped, axis=0), smooth)
