"""From a trajectory to labeled data, files, plots and a summary."""

from bough.results.result import Result, SavedResult, open_result

__all__ = ["Result", "SavedResult", "open_result"]
