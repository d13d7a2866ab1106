"""The momentum cloud: whether its six equations are all that a model needs, and which hinges add one [MC 23]."""
from typing import TYPE_CHECKING

import numpy as np

from bough.compile.partition import Partition
from bough.kernels.hinges import FREE, PRISMATIC, REVOLUTE, SPHERICAL, WELD
from bough.sweeps import fields as f

if TYPE_CHECKING:
    from bough.compile.tables import Tables
    from bough.model.model import Model

BASES = ([FREE], [PRISMATIC]*3 + [SPHERICAL], [PRISMATIC]*3 + [REVOLUTE]*3)
MOST_UNKNOWN, SHARE = 4, 4      # hinges of unknown motion up to which it is cheaper: so many, and one of so many hinges


def base_hinge(parts: Partition) -> int:
    """The last hinge of the first joint: the one that carries the base."""
    return max((k for k, hinge in enumerate(parts.hinges) if k and hinge.joint == parts.hinges[1].joint), default=0)


def cloud_sums(parts: Partition) -> np.ndarray:
    """(batch, n), blocks of four numbers: S, h, m of the bodies on all hinges from the base on."""
    hinges = parts.hinges[base_hinge(parts):]
    batch, (rows, cols) = max(len(a) for hinge in hinges for a in (hinge.mass, hinge.moment, hinge.inertia)), np.triu_indices(3)
    sums = np.zeros((batch, -(-len(hinges)//4)*4, f.CLOUD_PARS))
    for i, hinge in enumerate(hinges):
        S = 0.5*np.trace(hinge.inertia, axis1=1, axis2=2)[:, None, None]*np.eye(3) - hinge.inertia
        sums[:, i, f.CLOUD_S:f.CLOUD_H], sums[:, i, f.CLOUD_H:f.CLOUD_M] = S[:, rows, cols], hinge.moment
        sums[:, i, f.CLOUD_M] = hinge.mass
    return sums.reshape(batch, -1, 4, f.CLOUD_PARS).swapaxes(2, 3).reshape(batch, -1)


def with_clouds(plan: np.ndarray, parts: Partition, kinds: list[int]) -> np.ndarray:
    """A plan that says which cloud each body is part of, and which hinges outboard of the base are unknown."""
    base, rows, clouds = base_hinge(parts), [], [0]*len(parts.hinges)
    for k, hinge in enumerate(parts.hinges):
        if k > base:
            clouds[k] = clouds[hinge.inner]
            if kinds[k] != WELD:
                rows.append([k, clouds[k]])
                clouds[k] = len(rows)
    flat = np.concatenate([plan, np.asarray(rows, np.int64).reshape(-1)])
    flat[f.CLOUD_BASE], flat[f.CLOUDS], flat[f.N_CLOUDS] = base, plan.size, len(rows)
    places = flat[f.HINGES] + f.CLOUD + f.HINGE_ROW*np.arange(len(clouds))
    joints = [k for k, hinge in enumerate(parts.hinges) if hinge.flexible is None]
    flat[places[joints]] = np.array(clouds)[joints]
    return flat


def cloud_problem(model: "Model") -> str | None:
    """Why the six equations do not do for what a model holds now; None if they do."""
    tables, system = model.tables, model.system
    bends = [body.name for body in system.bodies.values() if body.flexible is not None]
    if bends:
        return f"body '{bends[0]}' is flexible"
    if model.in_orbit:
        return "gravity is central"
    return base_problem(tables) or unknown_problem(tables) or loop_problem(tables)


def base_problem(tables: "Tables") -> str | None:
    """The tree must float by one joint of three translations and three rotations."""
    hinges, solved, base = tables.parts.hinges, tables.solved_kinds, base_hinge(tables.parts)
    if base == 0:
        return "no body moves against the world"
    kinds = [hinge.kind for hinge in hinges[1:base + 1]]
    if kinds not in BASES:
        return f"joint '{hinges[1].label}' of the base leaves it fewer than three translations and three rotations"
    if solved[1:base + 1] != kinds:
        return f"joint '{hinges[1].label}' of the base is held"
    second = next((hinge for hinge in hinges[base + 1:] if hinge.inner == 0), None)
    return None if second is None else f"joint '{second.label}' puts a second tree on the world"


def unknown_problem(tables: "Tables") -> str | None:
    unknown = [hinge for hinge, kind in zip(tables.parts.hinges, tables.solved_kinds, strict=True) if kind == SPHERICAL]
    outboard = [hinge for hinge in unknown if hinge.joint != tables.parts.hinges[1].joint]
    return f"joint '{outboard[0].label}' turns freely in three ways; lock it, or give it single axes" if outboard else None


def loop_problem(tables: "Tables") -> str | None:
    """No loop may hold a motion that is not given."""
    for closure in tables.fronts.closures:
        for k in (closure.a, closure.b):
            while k != closure.meet:
                if tables.solved_kinds[k] != WELD:
                    return f"loop '{closure.name}' holds joint '{tables.parts.hinges[k].label}', whose motion is not given"
                k = tables.parts.hinges[k].inner
    return None


def chosen_cloud(model: "Model") -> bool:
    """Whether the cloud is taken where no method is asked for: it applies, most of the motion is given, and so it is cheaper."""
    unknown, hinges = model.tables.size(f.N_CLOUDS), model.tables.size(f.N_HINGES)
    return bool(model.holds) and unknown <= min(MOST_UNKNOWN, hinges//SHARE) and model.no_cloud is None
