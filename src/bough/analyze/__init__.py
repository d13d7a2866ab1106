"""Analyses of a model, one file each: loops, loads, momentum, operators, operation counts."""
from typing import TYPE_CHECKING

from bough.lazy import submodules

if TYPE_CHECKING:                       # imported on first use
    from bough.analyze import bodies as bodies
    from bough.analyze import counting as counting
    from bough.analyze import cuts as cuts
    from bough.analyze import deformed_masses as deformed_masses
    from bough.analyze import dynamics_derivatives as dynamics_derivatives
    from bough.analyze import impulse as impulse
    from bough.analyze import internal_loads as internal_loads
    from bough.analyze import linear as linear
    from bough.analyze import loop_constraints as loop_constraints
    from bough.analyze import loop_forces as loop_forces
    from bough.analyze import loop_rows as loop_rows
    from bough.analyze import operators as operators
    from bough.analyze import parameter_rows as parameter_rows
    from bough.analyze import part_momentum as part_momentum
    from bough.analyze import partition_table as partition_table
    from bough.analyze import reactions as reactions
    from bough.analyze import signals as signals
    from bough.analyze import singular_joints as singular_joints
else:
    __getattr__ = submodules(__name__)
