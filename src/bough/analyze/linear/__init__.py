"""Linear systems with named ports, and their analyses: frequency responses, margins, spectra, tracked modes, periodic systems."""
from typing import TYPE_CHECKING

from bough.analyze.linear.linear_system import LinearSystem, OperatingPoint
from bough.analyze.linear.margins import Crossing, Margins
from bough.analyze.linear.power_spectra import Spectrum
from bough.analyze.linear.response import FrequencyResponse
from bough.lazy import submodules

if TYPE_CHECKING:                       # imported on first use
    from bough.analyze.linear import call_arguments as call_arguments, closed_loop as closed_loop, system_modes as system_modes
else:
    __getattr__ = submodules(__name__)

__all__ = ["Crossing", "FrequencyResponse", "LinearSystem", "Margins", "OperatingPoint", "Spectrum"]
