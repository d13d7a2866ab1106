"""What can be chosen of a flexible body, by name: for the makers of bodies, and for the descriptions that name them."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

REDUCTIONS = ("cantilever", "free-free", "craig-bampton", "pinned")
VARIANTS = ("full", "zeroth_order")
AXES: dict[str, NDArray[Any]] = {
    "x": np.eye(3),
    "y": np.array([[0.0, 0, 1], [1, 0, 0], [0, 1, 0]]),
    "z": np.array([[0.0, 1, 0], [0, 0, 1], [1, 0, 0]]),
    "-x": np.diag([-1.0, -1, 1]),
    "-y": np.array([[0.0, 0, 1], [-1, 0, 0], [0, -1, 0]]),
    "-z": np.array([[0.0, 1, 0], [0, 0, -1], [-1, 0, 0]]),
}  # the beam's axes (x along it, y and z across) in those of the body, as columns
COMPONENTS = ("xx", "yy", "zz", "xy", "yz", "zx")  # of stresses and strains
