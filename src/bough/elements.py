"""Force elements: what the methods of System of the same names add."""

from bough.describe.elements import *  # noqa: F403
from bough.describe.elements import __all__ as __all__
