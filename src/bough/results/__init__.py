"""From a trajectory to labeled data, files, plots and a summary."""

from bough.results.result import Replay, Result, SavedResult, open_result

__all__ = ["Replay", "Result", "SavedResult", "open_result"]
