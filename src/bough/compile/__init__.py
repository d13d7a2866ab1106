"""System -> tables: partition into primitive hinges, numbering, and the arrays that the sweeps read."""
from typing import TYPE_CHECKING

from bough.lazy import submodules

if TYPE_CHECKING:                       # imported on first use: tables of what only some systems have
    from bough.compile import coupling_tables as coupling_tables
    from bough.compile import element_tables as element_tables
    from bough.compile import flexible_tables as flexible_tables
    from bough.compile import friction_tables as friction_tables
    from bough.compile import listing as listing
    from bough.compile import motion_tables as motion_tables
    from bough.compile import mounted_trees as mounted_trees
    from bough.compile import tank_tables as tank_tables
else:
    __getattr__ = submodules(__name__)
