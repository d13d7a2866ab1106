"""Internal loads over time: through joints, loops and cuts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bough.analyze.cuts import read_cut
from bough.results.dataset import coordinates, texts
from bough.results.derive import Answers, answers
from bough.results.labeled import Labeled, Variable

if TYPE_CHECKING:
    import xarray

    from bough.integrate.trajectory import Trajectory


def internal_loads(trajectory: Trajectory, cut: Any, at: Any, axes: str) -> xarray.DataArray:
    """([run,] time, [connection,] component): N m and N; without the axis of connections if the cut is one name."""
    chosen, leading = read_cut(trajectory.model.system, cut), ("run", "time") if trajectory.batched else ("time",)
    not_determined = dict[str, None]()

    def ask(told: Answers) -> np.ndarray:
        loads = told.internal_loads(cut=cut, at=at, axes=axes)
        for state in np.flatnonzero(loads.void.any(axis=(1, 2, 3))):
            not_determined.update(dict.fromkeys(loads.open_words(int(state))))
        return loads.values

    values = answers(trajectory, {"loads": ask}, accelerated=True)["loads"]
    values = values if trajectory.batched else values[0]
    variable = Variable((*leading, "connection", "component"), values, "N m, N", f"moment and force through joints, {axes} axes")
    coords = coordinates(trajectory, {"internal_load": variable})
    coords |= {
        "connection": texts("connection", chosen.names, "joint or loop"),
        "on": texts("connection", chosen.on, "body that the load acts on"),
    }
    array = Labeled(coords, {"internal_load": variable}).to_xarray()["internal_load"]
    array.attrs["not_determined"] = "; ".join(not_determined)
    return array.isel(connection=0) if isinstance(cut, str) else array
