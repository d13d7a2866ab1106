"""From a trajectory to labeled data, files, plots and a summary."""

from typing import TYPE_CHECKING

from bough.lazy import submodules
from bough.results.result import Replay, Result, SavedResult, open_result

if TYPE_CHECKING:                       # imported on first use
    from bough.results import audit as audit
    from bough.results import dataset as dataset
    from bough.results import evaluation as evaluation
    from bough.results import netcdf as netcdf
    from bough.results import part_values as part_values
    from bough.results import plots as plots
    from bough.results import singular as singular
    from bough.results import stream as stream
    from bough.results import summary as summary
else:
    __getattr__ = submodules(__name__)

__all__ = ["Replay", "Result", "SavedResult", "open_result"]
