"""Operation counts: what the sweeps multiply and add, counted while they run, and what a paper's formulas say."""
from bough.analyze.counting.counts import OperationCounts, Operations, count_operations

__all__ = ["OperationCounts", "Operations", "count_operations"]
