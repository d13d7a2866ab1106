"""Tanks as the numbers that `sweeps.tanks` reads: properties of the propellant as cubics in its mass; and when they run dry.

An empty tank has the mark name + "0".
"""

from collections.abc import Mapping, Sequence

import numpy as np

from bough.compile.loop_tables import frame_attachment
from bough.compile.partition import Partition
from bough.compile.tables import Tables
from bough.compile.workspace_layout import WorkspaceLayout
from bough.describe import System, Tank
from bough.describe.orientation import rotation_matrix
from bough.describe.parts.tank import full
from bough.sweeps import fields as f, records as r
from bough.sweeps.schema import Floats, upper_triangle
from bough.sweeps.tanks import FIXED

EMPTY = "0"


def tank_pieces(tank: Tank, tree: Partition) -> Floats:
    """(pieces, 1 + 4 columns): start, c0 to c3 of each property, in the axes of the hinges [B 87]."""
    knots, c = tank.cubics()
    c = np.stack([in_hinge_axes(tank, tree, c[..., i]) for i in range(4)], axis=-1)
    return np.column_stack([knots[:-1], c.reshape(len(c), -1)])


def in_hinge_axes(tank: Tank, tree: Partition, values: Floats) -> Floats:
    """Properties about the origins of the tank's bodies, from body axes to hinge axes."""
    values = values.copy()
    for i, name in enumerate(tank.body_names):
        turn, h, J = tree.attachments[name].turn, slice(FIXED*i + 1, FIXED*i + 4), slice(FIXED*i + 4, FIXED*i + 10)
        values[:, h] = values[:, h] @ turn.T
        values[:, J] = upper_triangle(turn @ full(values[:, J]) @ turn.T)
    return values


def tank_rows(system: System, tree: Partition, layout: WorkspaceLayout, pieces: Sequence[Floats],
              at: int) -> tuple[list[list[int]], list[Floats]]:
    """Records of plan and pars; `at`: start of the pieces in tables."""
    rows, pars = list[list[int]](), list[Floats]()
    for j, (tank, own) in enumerate(zip(system.tanks.values(), pieces, strict=True)):
        hinges, gimballed = [tree.attachments[name].hinge for name in tank.body_names], bool(tank.gimballed(system.bodies))
        nozzle = frame_attachment(tree, tank.exit)
        place = system.bodies[tank.exit.body].at if gimballed else tank.exit.at         # where propellant leaves the tank's body
        rows.append(r.TANK.row(
            hinge=hinges[0], slosh=hinges[1] if len(hinges) > 1 else 0, nozzle=nozzle.hinge, gimbal=gimballed, feeds=True,
            mass=layout.x + layout.tanks.start + j, rate=layout.xdot + layout.tanks.start + j, at=at, pieces=len(own),
            flow=layout.u + layout.inputs.flows.start + j, columns=(own.shape[1] - 1)//4, ws=layout.tanks_at + r.TANK_RESULT.size*j,
            exhaust=layout.xdot + layout.exhaust.start if layout.exhaust.stop > layout.exhaust.start else 0))
        pars.append(r.TANK_PARAMETERS.pack(
            exhaust_speed=tank.speed, nozzle_at=nozzle.at,
            tank_exit=(np.asarray(place) - np.asarray(tank.at)) @ rotation_matrix(tank.orient),
            nozzle_axis=nozzle.turn @ np.asarray(tank.direction), no_flow=1e-9*tank.full,
            least_fixed=1e-9*tank.full, described=tank.mass))
        at += own.size
    return rows, pars


def mass_places(system: System, tree: Partition, layout: WorkspaceLayout) -> dict[int, int]:
    """By hinge of a propellant body, the position of its mass in ws."""
    starts = (f.TANK_FIXED, f.TANK_SLOSHING)
    return {tree.attachments[name].hinge: layout.tanks_at + f.TANK_OUT*j + start for j, tank in enumerate(system.tanks.values())
            for name, start in zip(tank.body_names, starts, strict=False)}


def propellant_in(system: System, tree: Partition, masses: Mapping[str, float]) -> dict[int, Floats]:
    """By hinge of a propellant body, for these tank masses by name: mass, first moment and inertia, in its axes."""
    found = dict[int, Floats]()
    for tank in system.tanks.values():
        own = in_hinge_axes(tank, tree, tank.properties(np.array([masses[tank.name]])))[0]
        found |= {tree.attachments[name].hinge: own[FIXED*i:FIXED*(i + 1)] for i, name in enumerate(tank.body_names)}
    return found


# ---- empty ---------------------------------------------------------------------------------------------------------------
def engine_of(tank: Tank) -> str:
    """Name of the engine it feeds; tanks of one engine stop together."""
    return tank.name if tank.engine is None else f"engine {tank.engine}"


def switch_tanks(tables: Tables, tanks: Mapping[str, Tank], marks: Sequence[str]) -> None:
    """In copied tables: set which tanks can feed."""
    dry = {engine_of(tank) for name, tank in tanks.items() if name + EMPTY in marks}
    for row, tank in zip(tables.rows("tanks"), tanks.values(), strict=True):
        row[f.TANK_FEEDS] = engine_of(tank) not in dry


def draining_tanks(system: System) -> list[Tank]:
    """Tanks that may have outflow in a run."""
    fed = {port.flow for port in system.inputs.values()}
    return [tank for tank in system.tanks.values() if tank.name in fed or tank.drawn > 0.0]


def can_run_dry(system: System, masses: Floats) -> bool:
    """Whether a tank may run dry with these initial masses (rows, tanks): an input controls its flow, or its own flow lasts long
    enough."""
    fed, least = {port.flow for port in system.inputs.values()}, dict(zip(system.tanks, masses.min(axis=0), strict=True))
    return any(tank.name in fed or tank.drawn >= least[tank.name] - tank.residual for tank in draining_tanks(system))
