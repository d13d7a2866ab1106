"""From a trajectory to labeled data, files, plots and a summary."""

from typing import TYPE_CHECKING

from bough.lazy import submodules
from bough.results.result import Replay, Result, SavedResult, open_result

if TYPE_CHECKING:                       # imported on first use
    from bough.results import (
        audit as audit,
        dataset as dataset,
        evaluation as evaluation,
        netcdf as netcdf,
        part_values as part_values,
        plots as plots,
        singular as singular,
        stream as stream,
        summary as summary,
    )
else:
    __getattr__ = submodules(__name__)

__all__ = ["Replay", "Result", "SavedResult", "open_result"]
