"""Friction as the numbers that `sweeps.friction_forces` reads, and its states in a run.

A friction that can stick has three states: slipping forward ("name>") or backward ("name<"), or holding its coordinate
("name=").  These are marks, see `CompiledModel.switched`, and the coordinate that it holds is held.  Without a mark, outside of
runs, it slips in the direction of the speed.
"""

from collections.abc import Mapping, Sequence

from bough.compile.coordinates import coordinate_place
from bough.compile.partition import Partition
from bough.compile.tables import Tables
from bough.compile.workspace_layout import WorkspaceLayout
from bough.describe import Friction, System
from bough.kernels.hinges import PRISMATIC, REVOLUTE
from bough.sweeps import fields as f, records as r
from bough.sweeps.schema import Floats

LAWS = {"sticking": f.SLIDES, "regularized": f.SMOOTH, "dahl": f.BRISTLES, "basilisk": f.PEAKED}
MARKS = {">": 1, "<": -1, "=": 0}


def friction_rows(system: System, tree: Partition, layout: WorkspaceLayout) -> tuple[list[list[int]], list[Floats]]:
    """Records of plan and pars; in runs each friction has three entries of x."""
    rows, pars = list[list[int]](), list[Floats]()
    hinge_of = {hinge.v: k for k, hinge in enumerate(tree.hinges) if hinge.kind in (REVOLUTE, PRISMATIC)}
    for j, friction in enumerate(system.frictions.values()):
        if friction.coordinate in system.wheels:
            i = layout.nv + list(system.wheels).index(friction.coordinate)
            speed, torque, hinge = layout.nq + i, i, 0
        else:
            torque = coordinate_place(system, friction.coordinate)[1]
            speed, hinge = layout.nq + torque, hinge_of[torque]
        state = layout.frictions.start + 3*j if layout.frictions.stop > layout.frictions.start else None
        rows.append(r.FRICTION.row(
            v=layout.x + speed, tau=layout.u + torque, law=LAWS[friction.law], sign=0, acts=True, hinge=hinge,
            ws=layout.frictions_at + r.FRICTION_RESULT.size*j, state=0 if state is None else layout.x + state,
            rate=0 if state is None else layout.xdot + state))
        pars.append(r.FRICTION_PARAMETERS.pack(
            coulomb=friction.coulomb, static_more=friction.breakaway - friction.coulomb, viscous=friction.viscous,
            over_stribeck=0.0 if friction.stribeck is None else 1.0/friction.stribeck, smooth_speed=friction.speed or 0.0,
            bristle=friction.stiffness or 0.0, load_factor=friction.mu*(friction.radius or 1.0)))
    return rows, pars


def switch_frictions(tables: Tables, frictions: Mapping[str, Friction], marks: Sequence[str]) -> None:
    """In copied tables: set the direction of slip of each, or that it holds."""
    rows, known = tables.rows("frictions"), set(marks)
    for row, name in zip(rows, frictions, strict=True):
        row[f.FRICTION_SIGN] = sum(sign for mark, sign in MARKS.items() if name + mark in known)
        row[f.FRICTION_ACTS] = name + "=" not in known
    tables.plan[f.N_STUCK] += int((rows[:, f.FRICTION_ACTS] == 0).sum()) if len(rows) else 0
