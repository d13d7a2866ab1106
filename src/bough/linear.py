"""Linear systems with named ports, and analyses of them."""

from bough.analyze.linear import Crossing, FrequencyResponse, LinearSystem, Margins, OperatingPoint, Spectrum
from bough.analyze.linear.periodic import Floquet, Multiblade, floquet, multiblade
from bough.analyze.linear.system_modes import Modes
from bough.analyze.linear.tracking import ModeTracks, StabilityBoundary, campbell, root_locus, stability_boundary
from bough.analyze.linear.trim import Trim
from bough.integrate.linear_laws import law

__all__ = ["Crossing", "Floquet", "FrequencyResponse", "LinearSystem", "Margins", "ModeTracks", "Modes", "Multiblade",
           "OperatingPoint", "Spectrum", "StabilityBoundary", "Trim", "campbell", "floquet", "law", "multiblade", "root_locus",
           "stability_boundary"]
