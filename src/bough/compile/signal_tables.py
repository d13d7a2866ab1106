"""Time tables as piecewise cubics, the one form that the sweeps evaluate."""
import numpy as np

from bough.describe import TimeTable
from bough.sweeps.fields import PIECE


def piecewise_cubic(table: TimeTable, column: int) -> np.ndarray:
    """One column of a table as rows (start, c0, c1, c2, c3); the last value holds after the end."""
    times = np.asarray(table.times, float)
    values = np.asarray(table.values, float).reshape(len(times), -1)[:, column]
    pieces = np.zeros((len(times), PIECE))
    pieces[:, 0], pieces[:, 1] = times, values
    if table.kind == "linear":
        pieces[:-1, 2] = np.diff(values)/np.diff(times)
    elif table.kind == "cubic":
        from scipy.interpolate import CubicSpline
        pieces[:-1, 1:] = CubicSpline(times, values, bc_type="natural").c[::-1].T
    return pieces


def jumps(pieces: np.ndarray) -> np.ndarray:
    """Times at which the value is not continuous, beyond rounding."""
    h = np.diff(pieces[:, 0])
    ends = pieces[:-1, 1] + h*(pieces[:-1, 2] + h*(pieces[:-1, 3] + h*pieces[:-1, 4]))
    return pieces[1:, 0][np.abs(ends - pieces[1:, 1]) > 1e-9*np.abs(pieces[:, 1]).max()]
