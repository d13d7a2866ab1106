"""Operation counts of the sweeps, counted while they run, to compare with the formulas of papers."""
from bough.analyze.counting.counts import OperationCounts, Operations, count_operations

__all__ = ["OperationCounts", "Operations", "count_operations"]
