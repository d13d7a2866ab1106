"""Analyses of a model, one file each: loops, loads, momentum, operators, operation counts."""
from typing import TYPE_CHECKING

from bough.lazy import submodules

if TYPE_CHECKING:                       # imported on first use
    from bough.analyze import (
        bodies as bodies,
        counting as counting,
        cuts as cuts,
        deformed_masses as deformed_masses,
        dynamics_derivatives as dynamics_derivatives,
        impulse as impulse,
        internal_loads as internal_loads,
        linear as linear,
        loop_constraints as loop_constraints,
        loop_forces as loop_forces,
        loop_rows as loop_rows,
        momentum as momentum,
        operators as operators,
        parameter_rows as parameter_rows,
        partition_table as partition_table,
        reactions as reactions,
        signals as signals,
        singular_joints as singular_joints,
    )
else:
    __getattr__ = submodules(__name__)
