"""Tables with other coordinates held and other stops in contact: what changes in a run [B 17]."""
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from bough.compile.cloud_tables import base_hinge, cloud_rows
from bough.compile.hold_tables import Hold
from bough.compile.sections import Place
from bough.compile.tables import Tables
from bough.kernels.hinges import WELD
from bough.sweeps import fields as f


def switched(tables: Tables, holds: Mapping[str, Hold], contacts: Sequence[str]) -> Tables:
    """The same tables with these coordinates held, and these stops in contact."""
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
    springs[len(springs) - len(tables.stops):, f.SPRING_ACTS] = [name in contacts for name in tables.stops]
    return with_clouds(changed)


def with_clouds(tables: Tables) -> Tables:
    """Tables that say which cloud each body is part of, and which hinges outboard of the base are unknown."""
    rows, clouds = cloud_rows(tables.parts, tables.solved_kinds)
    place = tables.sections["plan"]["clouds"]
    place = Place(place.section, place.start, f.CLOUD_ROW*len(rows), len(rows))
    flat = np.concatenate([tables.plan[:place.start], np.asarray(rows, np.int64).reshape(-1)])
    flat[[f.CLOUD_BASE, f.CLOUDS, f.N_CLOUDS]] = base_hinge(tables.parts), place.start, len(rows)
    changed = replace(tables, plan=flat,
                      sections=tables.sections | {"plan": tables.sections["plan"] | {"clouds": place}})
    joints = [k for k, hinge in enumerate(tables.parts.hinges) if hinge.flexible is None]
    changed.rows("hinges")[joints, f.CLOUD] = np.array(clouds)[joints]
    return changed
