"""States and times of a model with held coordinates: where they are, and when their law changes [B 17]."""
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bough.compile.coordinates import holdable
from bough.compile.hold_tables import prescribed_motion
from bough.compile.motion_tables import breaks, motion_rows

if TYPE_CHECKING:
    from bough.model.model import Model


def impose(model: "Model", x: NDArray, t: ArrayLike) -> None:
    """In states (batch, nq + nv or more): prescribed coordinates where they are at the times t, locked ones at rest."""
    if not model.holds:
        return
    coordinates = holdable(model.system)
    motion = prescribed_motion(coordinates, model.holds, t)
    for name in model.holds:
        coordinate = coordinates[name]
        x[:, model.nq + coordinate.v] = motion[name][1] if name in motion else 0.0
        if name in motion:
            x[:, coordinate.q] = motion[name][0]


def motion_breaks(model: "Model", until: float) -> NDArray:
    """Times at which what is prescribed changes its law: steps must end there."""
    coordinates, found = holdable(model.system), [np.zeros(0)]
    for name, hold in model.holds.items():
        if hold.motion is not None:
            found.append(hold.origin + breaks(motion_rows(coordinates[name].motions[hold.motion]), until - hold.origin))
    return np.unique(np.concatenate(found))
