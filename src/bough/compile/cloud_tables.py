"""The tables of the momentum cloud: sums of the bodies' masses, and which hinges add an equation [MC 23]."""
import numpy as np

from bough.compile.partition import Partition
from bough.kernels.hinges import WELD
from bough.sweeps import fields as f


def base_hinge(parts: Partition) -> int:
    """The last hinge of the first joint: the one that carries the base."""
    return max((k for k, hinge in enumerate(parts.hinges) if k and hinge.joint == parts.hinges[1].joint), default=0)


def cloud_sums(parts: Partition) -> np.ndarray:
    """(batch, n), blocks of four numbers: S, h, m of the bodies on all hinges from the base on."""
    hinges = parts.hinges[base_hinge(parts):]
    batch, (rows, cols) = max(len(a) for hinge in hinges for a in (hinge.mass, hinge.moment, hinge.inertia)), np.triu_indices(3)
    sums = np.zeros((batch, -(-len(hinges)//4)*4, f.CLOUD_PARS))
    for i, hinge in enumerate(hinges):
        S = 0.5*np.trace(hinge.inertia, axis1=1, axis2=2)[:, None, None]*np.eye(3) - hinge.inertia
        sums[:, i, f.CLOUD_S:f.CLOUD_H], sums[:, i, f.CLOUD_H:f.CLOUD_M] = S[:, rows, cols], hinge.moment
        sums[:, i, f.CLOUD_M] = hinge.mass
    return sums.reshape(batch, -1, 4, f.CLOUD_PARS).swapaxes(2, 3).reshape(batch, -1)


def with_clouds(plan: np.ndarray, parts: Partition, kinds: list[int]) -> np.ndarray:
    """A plan that says which cloud each body is part of, and which hinges outboard of the base are unknown."""
    base, rows, clouds = base_hinge(parts), [], [0]*len(parts.hinges)
    for k, hinge in enumerate(parts.hinges):
        if k > base:
            clouds[k] = clouds[hinge.inner]
            if kinds[k] != WELD:
                rows.append([k, clouds[k]])
                clouds[k] = len(rows)
    flat = np.concatenate([plan.reshape(-1), np.asarray(rows, np.int64).reshape(-1)])
    flat[f.CLOUD_BASE], flat[f.CLOUDS], flat[f.N_CLOUDS] = base, plan.size, len(rows)
    places = flat[f.HINGES] + f.CLOUD + f.HINGE_ROW*np.arange(len(clouds))
    joints = [k for k, hinge in enumerate(parts.hinges) if hinge.flexible is None]
    flat[places[joints]] = np.array(clouds)[joints]
    return flat.reshape((1,)*(plan.ndim - 1) + flat.shape)
