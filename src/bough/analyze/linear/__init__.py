"""Linear systems by name, and what is made of them: frequency responses, margins, spectra, tracked modes, periodic systems."""
from bough.analyze.linear.linear_system import LinearSystem, OperatingPoint
from bough.analyze.linear.margins import Crossing, Margins
from bough.analyze.linear.power_spectra import Spectrum
from bough.analyze.linear.response import FrequencyResponse

__all__ = ["Crossing", "FrequencyResponse", "LinearSystem", "Margins", "OperatingPoint", "Spectrum"]
