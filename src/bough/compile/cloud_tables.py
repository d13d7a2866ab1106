"""The momentum cloud in the tables: sums of bodies, and which hinges add an equation [MC 23]."""
import numpy as np
from numpy.typing import NDArray

from bough.compile.partition import Hinge, Partition
from bough.kernels.hinges import WELD
from bough.sweeps import records as r
from bough.sweeps.schema import columns, padded, upper_triangle


def base_hinge(parts: Partition) -> int:
    """The last hinge of the first joint: the one that carries the base."""
    return max((k for k, hinge in enumerate(parts.hinges) if k and hinge.joint == parts.hinges[1].joint), default=0)


def cloud_sums(parts: Partition) -> NDArray[np.float64]:
    """(batch, n), blocks of four numbers: S, h, m of the bodies on all hinges from the base on."""
    bodies = [r.CLOUD_PARAMETERS.pack(s=second_moment(hinge), h=hinge.moment, m=hinge.mass)
              for hinge in parts.hinges[base_hinge(parts):]]
    sums = columns(*bodies, np.zeros(r.CLOUD_PARAMETERS.size*(padded(len(bodies)) - len(bodies))))
    return sums.reshape(len(sums), -1, 4, r.CLOUD_PARAMETERS.size).swapaxes(2, 3).reshape(len(sums), -1)


def second_moment(hinge: Hinge) -> NDArray[np.float64]:
    """(batch, 6): integral of x x^T over the mass."""
    return upper_triangle(0.5*np.trace(hinge.inertia, axis1=1, axis2=2)[:, None, None]*np.eye(3) - hinge.inertia)


def cloud_rows(parts: Partition, solved_kinds: list[int]) -> tuple[list[list[int]], list[int]]:
    """Rows of plan for hinges of unknown motion outboard of the base; and by hinge, the cloud that its body is part of."""
    base, rows, clouds = base_hinge(parts), list[list[int]](), [0]*len(parts.hinges)
    for k, hinge in enumerate(parts.hinges):
        if k > base:
            clouds[k] = clouds[hinge.inner]
            if solved_kinds[k] != WELD:
                rows.append(r.CLOUD.row(hinge=k, inner=clouds[k]))
                clouds[k] = len(rows)
    return rows, clouds
