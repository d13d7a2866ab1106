"""Tables with other held coordinates and marks: what changes during a run [B 17]."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from bough import compile as builders
from bough.compile.cloud_tables import base_hinge, cloud_rows
from bough.compile.hold_tables import Hold
from bough.compile.sections import Place
from bough.compile.tables import Tables
from bough.describe import System
from bough.kernels.hinges import WELD
from bough.sweeps import fields as f


def switched(tables: Tables, holds: Mapping[str, Hold], marks: Sequence[str], system: System) -> Tables:
    """The same tables with these coordinates held and these marks: see `CompiledModel.switched`."""
    changed = replace(tables, plan=tables.plan.copy(), tables=tables.tables.copy())
    hinges, table = changed.rows("hinges"), changed.holds
    hinges[table.hinges, f.SOLVED] = hinges[table.hinges, f.KIND]
    for row, (name, hinge) in zip(changed.rows("holds"), zip(table.coordinates, table.hinges, strict=True), strict=True):
        hold = holds.get(name)
        row[f.HOLD_MODE] = f.LOOSE
        if hold is None:
            continue
        hinges[hinge, f.SOLVED] = WELD
        row[f.HOLD_MODE] = f.LOCKED
        if hold.motion is not None:
            at, terms = table.motions[name][hold.motion]
            row[[f.HOLD_MODE, f.HOLD_MOTION, f.HOLD_TERMS]] = f.PRESCRIBED, at, terms
            changed.tables[[at + f.MOTION_ORIGIN, at + f.MOTION_OFFSET]] = hold.origin, hold.offset
    springs = changed.rows("springs")
    springs[len(springs) - len(tables.stops):, f.SPRING_ACTS] = [name in marks for name in tables.stops]
    changed.plan[f.N_STUCK] = 0
    if system.frictions:
        builders.friction_tables.switch_frictions(changed, system.frictions, marks)
    if system.tanks:
        builders.tank_tables.switch_tanks(changed, system.tanks, marks)
    if system.bushings:
        scaled = builders.element_tables.scaled_bushings(changed.pars, changed.rows("elements"), system, marks)
        changed = replace(changed, pars=scaled)
    if system.couplings:
        changed.plan[f.N_STUCK] += builders.coupling_tables.switch_couplings(changed.rows("couplings"), system.couplings, marks)
    return with_clouds(changed)


def with_clouds(tables: Tables) -> Tables:
    """Tables with the cloud of each body, and the unknown hinges outboard of the base."""
    key = "clouds", tuple(tables.solved_kinds)
    rows, clouds = tables.routes[key] if key in tables.routes else tables.routes.setdefault(key, cloud_rows(tables.tree, key[1]))
    place = tables.sections["plan"]["clouds"]
    place = Place(place.section, place.start, f.CLOUD_ROW*len(rows), len(rows))
    flat = np.concatenate([tables.plan[:place.start], np.asarray(rows, np.int64).reshape(-1)])
    flat[[f.CLOUD_BASE, f.CLOUDS, f.N_CLOUDS]] = base_hinge(tables.tree), place.start, len(rows)
    changed = replace(tables, plan=flat,
                      sections=tables.sections | {"plan": tables.sections["plan"] | {"clouds": place}})
    joints = [k for k, hinge in enumerate(tables.tree.hinges) if hinge.flexible is None]
    changed.rows("hinges")[joints, f.CLOUD] = np.array(clouds)[joints]
    return changed
