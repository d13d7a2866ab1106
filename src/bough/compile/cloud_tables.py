"""The momentum cloud in the tables: sums over bodies, hinges with an equation, and whether the method applies."""

from collections.abc import Sequence

import numpy as np

from bough.compile.partition import Partition
from bough.compile.tables import Tables
from bough.describe import CentralGravity, System
from bough.kernels.hinges import FREE, PRISMATIC, REVOLUTE, SPHERICAL, WELD
from bough.sweeps import fields as f, records as r
from bough.sweeps.schema import Floats, columns, padded, upper_triangle


def base_hinge(tree: Partition) -> int:
    """The last hinge of the first joint: its body is the base."""
    return max((k for k, hinge in enumerate(tree.hinges) if k and hinge.joint == tree.hinges[1].joint), default=0)


def cloud_sums(tree: Partition) -> Floats:
    """(batch, n), blocks of four numbers: S, h, m of the bodies of all hinges from the base on."""
    bodies = [r.CLOUD_PARAMETERS.pack(s=upper_triangle(second_moments(hinge.inertia)), h=hinge.moment, m=hinge.mass)
              for hinge in tree.hinges[base_hinge(tree):]]
    sums = columns(*bodies, np.zeros(r.CLOUD_PARAMETERS.size*(padded(len(bodies)) - len(bodies))))
    return sums.reshape(len(sums), -1, 4, r.CLOUD_PARAMETERS.size).swapaxes(2, 3).reshape(len(sums), -1)


def second_moments(inertia: Floats) -> Floats:
    """(..., 3, 3): integral of x x^T over the mass."""
    return 0.5*np.trace(inertia, axis1=-2, axis2=-1)[..., None, None]*np.eye(3) - inertia


def cloud_rows(tree: Partition, solved_kinds: Sequence[int]) -> tuple[list[list[int]], list[int]]:
    """Rows of plan for the unknown hinges outboard of the base; and by hinge, the cloud of its body."""
    base, rows, clouds = base_hinge(tree), list[list[int]](), [0]*len(tree.hinges)
    for k, hinge in enumerate(tree.hinges):
        if k > base:
            clouds[k] = clouds[hinge.inner]
            if solved_kinds[k] != WELD:
                rows.append(r.CLOUD.row(hinge=k, inner=clouds[k]))
                clouds[k] = len(rows)
    return rows, clouds


# ---- cloud choice ----------------------------------------------------------------------------------------------------------
BASES = ([FREE], [PRISMATIC]*3 + [SPHERICAL], [PRISMATIC]*3 + [REVOLUTE]*3)
MOST_UNKNOWN, SHARE = 4, 4  # limits for which the cloud is cheaper: number of unknown hinges, and their share (one in so many)


def cloud_problem(tables: Tables, system: System) -> str | None:
    """Why the momentum cloud does not apply with the coordinates held now; None if it does."""
    bends = [body.name for body in system.bodies.values() if body.flexible is not None]
    if bends:
        return f"body '{bends[0]}' is flexible"
    if isinstance(system.gravity, CentralGravity):
        return "gravity is central"
    if system.tanks:
        return f"tank '{next(iter(system.tanks))}' changes its mass"
    return base_problem(tables) or unknown_problem(tables) or loop_problem(tables)


def base_problem(tables: Tables) -> str | None:
    """The tree must be floating, with one joint of three translations and three rotations."""
    hinges, solved, base = tables.tree.hinges, tables.solved_kinds, base_hinge(tables.tree)
    if base == 0:
        return "no body moves against the world"
    kinds = [hinge.kind for hinge in hinges[1:base + 1]]
    if kinds not in BASES:
        return f"joint '{hinges[1].label}' of the base leaves it fewer than three translations and three rotations"
    if solved[1:base + 1] != kinds:
        return f"joint '{hinges[1].label}' of the base is held"
    second = next((hinge for hinge in hinges[base + 1:] if hinge.inner == 0), None)
    return None if second is None else f"joint '{second.label}' puts a second tree on the world"


def unknown_problem(tables: Tables) -> str | None:
    unknown = [hinge for hinge, kind in zip(tables.tree.hinges, tables.solved_kinds, strict=True) if kind == SPHERICAL]
    outboard = [hinge for hinge in unknown if hinge.joint != tables.tree.hinges[1].joint]
    return f"joint '{outboard[0].label}' is spherical and free; lock it, or give it single axes" if outboard else None


def loop_problem(tables: Tables) -> str | None:
    """No loop may constrain an unknown motion."""
    for closure in tables.fronts.closures:
        for term in closure.terms:
            if tables.solved_kinds[term.hinge] != WELD:
                return f"coupling '{closure.name}' holds '{term.name}', whose motion is not given"
        for k in (closure.a, closure.b):
            while k != closure.meet:
                if tables.solved_kinds[k] != WELD:
                    return f"loop '{closure.name}' holds joint '{tables.tree.hinges[k].label}', whose motion is not given"
                k = tables.tree.hinges[k].inner
    return None


def cloud_is_cheaper(tables: Tables) -> bool:
    """Whether few enough motions are unknown for the cloud, if it applies, to be cheaper."""
    unknown, hinges = tables.size(f.N_CLOUDS), tables.size(f.N_HINGES)
    return unknown <= min(MOST_UNKNOWN, hinges//SHARE)
