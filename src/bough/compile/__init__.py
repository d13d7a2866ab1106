"""System -> tables: partition into primitive hinges, numbering, and the arrays that the sweeps read."""
from typing import TYPE_CHECKING

from bough.lazy import submodules

if TYPE_CHECKING:                       # imported on first use: tables of what only some systems have
    from bough.compile import (
        coupling_tables as coupling_tables,
        element_tables as element_tables,
        flexible_tables as flexible_tables,
        friction_tables as friction_tables,
        listing as listing,
        motion_tables as motion_tables,
        mounted_trees as mounted_trees,
        tank_tables as tank_tables,
    )
else:
    __getattr__ = submodules(__name__)
