"""Tanks as the numbers that `sweeps.tanks` reads: properties of the propellant as cubics in its mass; and what empties them.

A tank that can no longer feed is marked by its name and "0", among the marks of stops in contact.

Friction as the numbers that `sweeps.friction_forces` reads; and what a run switches.

A friction that can stick has three states: slipping one way ("name>") or the other ("name<"), or holding its coordinate
("name="). These are marks among those of stops in contact, and the coordinate is then held.  Without a mark, outside of runs, it
slips in the direction of the speed.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from bough.compile.coordinates import coordinate_place
from bough.compile.layout import Layout
from bough.compile.loop_tables import frame_attachment
from bough.compile.partition import Partition
from bough.compile.tables import Tables
from bough.describe import Friction, System, Tank
from bough.describe.orientation import rotation_matrix
from bough.kernels.hinges import PRISMATIC, REVOLUTE
from bough.sweeps import fields as f
from bough.sweeps import records as r
from bough.sweeps.schema import Floats, upper_triangle
from bough.sweeps.tanks import FIXED

EMPTY = "0"


def tank_pieces(tank: Tank, parts: Partition) -> Floats:
    """(pieces, 1 + 4 columns): start, c0 to c3 of each property, in the axes of the hinges [B 87]."""
    knots, c = tank.cubics()
    c = np.stack([in_hinge_axes(tank, parts, c[..., i]) for i in range(4)], axis=-1)
    return np.column_stack([knots[:-1], c.reshape(len(c), -1)])


def in_hinge_axes(tank: Tank, parts: Partition, values: Floats) -> Floats:
    """Properties about the origins of the tank's bodies, from body axes to hinge axes."""
    values = values.copy()
    for i, name in enumerate(tank.body_names):
        turn, h, J = parts.attachments[name].turn, slice(FIXED*i + 1, FIXED*i + 4), slice(FIXED*i + 4, FIXED*i + 10)
        values[:, h] = values[:, h] @ turn.T
        full = values[:, J][:, [[0, 1, 2], [1, 3, 4], [2, 4, 5]]]
        values[:, J] = upper_triangle(turn @ full @ turn.T)
    return values


def tank_rows(system: System, parts: Partition, lay: Layout, pieces: Sequence[Floats],
              at: int) -> tuple[list[list[int]], list[Floats]]:
    """Records of plan and pars; `at`: start of the pieces in tables."""
    rows, pars = list[list[int]](), list[Floats]()
    for j, (tank, own) in enumerate(zip(system.tanks.values(), pieces, strict=True)):
        hinges, gimballed = [parts.attachments[name].hinge for name in tank.body_names], bool(tank.gimballed(system.bodies))
        nozzle = frame_attachment(parts, tank.exit)
        rows.append(r.TANK.row(
            hinge=hinges[0], slosh=hinges[1] if len(hinges) > 1 else 0, nozzle=nozzle.hinge, gimbal=gimballed, feeds=True,
            mass=lay.x + lay.tanks.start + j, rate=lay.xdot + lay.tanks.start + j, flow=lay.u + lay.inputs.flows.start + j,
            at=at, pieces=len(own), columns=(own.shape[1] - 1)//4, ws=lay.tanks_at + r.TANK_RESULT.size*j,
            exhaust=lay.xdot + lay.exhaust.start if lay.exhaust.stop > lay.exhaust.start else 0))
        pars.append(r.TANK_PARAMETERS.pack(
            exhaust_speed=tank.speed, tank_exit=exit_in_tank(system, tank), nozzle_at=nozzle.at,
            nozzle_axis=nozzle.turn @ np.asarray(tank.direction), no_flow=1e-9*tank.full,
            least_fixed=1e-9*tank.full, described=tank.mass))
        at += own.size
    return rows, pars


def exit_in_tank(system: System, tank: Tank) -> Floats:
    """Where propellant leaves the body of the tank, in the tank's axes: the nozzle, or the joint of a gimbaled nozzle."""
    place = system.bodies[tank.exit.body].at if tank.gimballed(system.bodies) else tank.exit.at
    return np.asarray((np.asarray(place) - np.asarray(tank.at)) @ rotation_matrix(tank.orient))


def massive_places(system: System, parts: Partition, lay: Layout) -> dict[int, int]:
    """By hinge of a propellant body, the position of its mass in ws."""
    starts = (f.TANK_FIXED, f.TANK_SLOSHING)
    return {parts.attachments[name].hinge: lay.tanks_at + f.TANK_OUT*j + start for j, tank in enumerate(system.tanks.values())
            for name, start in zip(tank.body_names, starts, strict=False)}


def propellant_in(system: System, parts: Partition, masses: Mapping[str, float]) -> dict[int, Floats]:
    """By hinge of a propellant body, for these tank masses by name: mass, first moment and inertia, in its axes."""
    found = dict[int, Floats]()
    for tank in system.tanks.values():
        own = in_hinge_axes(tank, parts, tank.properties(np.array([masses[tank.name]])))[0]
        found |= {parts.attachments[name].hinge: own[FIXED*i:FIXED*(i + 1)] for i, name in enumerate(tank.body_names)}
    return found


# ---- empty ---------------------------------------------------------------------------------------------------------------
def engine_of(tank: Tank) -> str:
    """What it feeds: tanks of one engine stop together."""
    return tank.name if tank.engine is None else f"engine {tank.engine}"


def switch_tanks(tables: Tables, tanks: Mapping[str, Tank], marks: Sequence[str]) -> None:
    """In copied tables: set which tanks can feed."""
    dry = {engine_of(tank) for name, tank in tanks.items() if name + EMPTY in marks}
    for row, tank in zip(tables.rows("tanks"), tanks.values(), strict=True):
        row[f.TANK_FEEDS] = engine_of(tank) not in dry


def fed_tanks(system: System) -> list[Tank]:
    """Tanks that may have outflow in a run."""
    fed = {port.flow for port in system.inputs.values()}
    return [tank for tank in system.tanks.values() if tank.name in fed or tank.drawn > 0.0]


def can_empty(system: System, masses: Floats) -> bool:
    """Whether a tank may run dry with these initial masses (rows, tanks): an input controls its flow, or its own flow lasts long
    enough."""
    fed, least = {port.flow for port in system.inputs.values()}, dict(zip(system.tanks, masses.min(axis=0), strict=True))
    return any(tank.name in fed or tank.drawn >= least[tank.name] - tank.residual for tank in fed_tanks(system))


LAWS = {"sticking": f.SLIDES, "regularized": f.SMOOTH, "dahl": f.BRISTLES, "basilisk": f.PEAKED}
MARKS = {">": 1, "<": -1, "=": 0}


def friction_rows(system: System, parts: Partition, lay: Layout) -> tuple[list[list[int]], list[Floats]]:
    """Records of plan and pars; in runs each friction has three entries of x."""
    rows, pars = list[list[int]](), list[Floats]()
    hinge_of = {hinge.v: k for k, hinge in enumerate(parts.hinges) if hinge.kind in (REVOLUTE, PRISMATIC)}
    for j, friction in enumerate(system.frictions.values()):
        if friction.coordinate in system.wheels:
            i = lay.nv + list(system.wheels).index(friction.coordinate)
            speed, torque, hinge = lay.nq + i, i, 0
        else:
            torque = coordinate_place(system, friction.coordinate)[1]
            speed, hinge = lay.nq + torque, hinge_of[torque]
        state = lay.frictions.start + 3*j if lay.frictions.stop > lay.frictions.start else None
        rows.append(r.FRICTION.row(
            v=lay.x + speed, tau=lay.u + torque, law=LAWS[friction.law], sign=0, acts=True, hinge=hinge,
            ws=lay.frictions_at + r.FRICTION_RESULT.size*j, state=0 if state is None else lay.x + state,
            rate=0 if state is None else lay.xdot + state))
        pars.append(friction_parameters(friction))
    return rows, pars


def friction_parameters(friction: Friction) -> Floats:
    return r.FRICTION_PARAMETERS.pack(
        coulomb=friction.coulomb, static_more=friction.breakaway - friction.coulomb,
        over_stribeck=0.0 if friction.stribeck is None else 1.0/friction.stribeck, viscous=friction.viscous,
        smooth_speed=friction.speed or 0.0, bristle=friction.stiffness or 0.0, load_factor=friction.mu*(friction.radius or 1.0))


def switch_frictions(tables: Tables, frictions: Mapping[str, Friction], marks: Sequence[str]) -> None:
    """In copied tables: set which way each slips, or that it holds."""
    rows, known = tables.rows("frictions"), set(marks)
    for row, name in zip(rows, frictions, strict=True):
        row[f.FRICTION_SIGN] = sum(sign for mark, sign in MARKS.items() if name + mark in known)
        row[f.FRICTION_ACTS] = name + "=" not in known
    tables.plan[f.N_STUCK] = int((rows[:, f.FRICTION_ACTS] == 0).sum()) if len(rows) else 0
