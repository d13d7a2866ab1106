"""What an integration leaves behind: sampled states, and how it went."""
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from bough.integrate.occurrence import Occurrence
from bough.model import Model


@dataclass(frozen=True)
class Trajectory:
    model: Model
    t: np.ndarray                                   # (samples,)
    x: np.ndarray                                   # (batch, samples, nx)  q | v | wheel speeds | orbit
    u: np.ndarray                                   # (batch, samples, nv + nw)  controls in force: joint torques | motor torques
    batched: bool                                   # False: one run was asked for
    parameters: Mapping[str, np.ndarray] | None     # changes of parameters, one for each member
    method: str
    dt: float | None
    steps: int
    rejected: int
    wall_time: float                                # s
    failure: str | None                             # why it ended early
    assembled: str | None = None                    # what closing the loops changed in the state that was given
    events: tuple[tuple[Occurrence, ...], ...] = () # by run: what happened
    spans: tuple[tuple[tuple[float, Model], ...], ...] = ()     # by run: what held until when, where events changed it
