"""A valid system as tables: partition it, lay out the arrays, fill the records."""

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from bough import compile as builders
from bough.compile.cloud_tables import cloud_sums, second_moments
from bough.compile.connections import can_change
from bough.compile.coordinates import body_parameters, coordinate_place
from bough.compile.front_tables import FrontRows, front_rows
from bough.compile.hold_tables import HoldTable, hold_table
from bough.compile.layout import InputWrench
from bough.compile.loop_tables import REDUNDANT, frame_attachment, free_motion_rows, singular_share
from bough.compile.partition import Partition, Pull, partition
from bough.compile.sections import Contents
from bough.compile.signal_tables import feeds, output_places, path_hinges, placed_inputs
from bough.compile.tables import Tables
from bough.compile.workspace_layout import WorkspaceLayout
from bough.describe import CentralGravity, Frame, System, TimeTable
from bough.describe.parts import parts_of
from bough.kernels.hinges import FREE, MODAL, NODE, PRISMATIC, REVOLUTE
from bough.kernels.lanes import Features
from bough.sweeps import fields as f, records as r
from bough.sweeps.schema import Floats, padded, upper_triangle

if TYPE_CHECKING:
    from bough.compile.flexible_tables import ModalForm
    from bough.flex import FlexibleBody

Rows = list[list[int]]
Numbers = list[Floats]
TimeTables = list[tuple[int, Floats]]                                   # target in ws and pieces of each


def build_tables(system: System, *, changes: Mapping[str, Any] | None = None, inputs: Sequence[InputWrench] = (),
                 keep_welds: bool = False, law_states: int = 0, running: bool = False, compliant: bool = False,
                 loop_motions: int | None = None, kept: Collection[str] = ()) -> Tables:
    """The tables of a valid system; with a hinge for every weld and every node, if welds are kept, or for those of the bodies
    `kept`; `compliant`: compliant couplings have rows in the fronts, too."""
    nodes = used_nodes(system, inputs, every=keep_welds)
    tree = partition(system, body_parameters(system, changes), keep_welds, nodes, kept)
    layout = WorkspaceLayout(system, tree, inputs, law_states, running, compliant, loop_motions)
    constants, time_tables = gather_inputs(system, layout)
    data = Contents("tables")
    data.put("time tables", [pieces.ravel() for _, pieces in time_tables])
    holds = hold_table(system, tree, layout, data.end)
    data.put("motions", [holds.data])
    pieces = [builders.tank_tables.tank_pieces(tank, tree) for tank in system.tanks.values()]
    tanks = builders.tank_tables.tank_rows(system, tree, layout, pieces, data.end) if system.tanks else (Rows(), Numbers())
    data.put("tanks", [own.ravel() for own in pieces])

    plan, pars = fill_records(system, tree, layout, inputs, constants, time_tables, holds, tanks)
    drives = bool(system.couplings or system.frictions)                 # their kernels include loops and holds
    held = bool(holds.rows) or drives or can_change(system)             # once a body is attached it may be held: one set of kernels
    tables = Tables(
        plan=plan.integers(), pars=pars.numbers(), tables=data.numbers()[0],
        features=Features(bool(tree.modal), bool(layout.fronts.closures) or drives, held, drives=drives,
                          tanks=bool(system.tanks)),
        sections={"plan": plan.places, "pars": pars.places, "tables": data.places, "ws": layout.ws.places},
        tree=tree, fronts=layout.fronts, n_u=layout.nu, first_input_wrench=layout.first_input,
        jumps=np.unique(np.concatenate([np.zeros(0), *(builders.motion_tables.jumps(pieces) for _, pieces in time_tables)])),
        knots=np.unique(np.concatenate([np.zeros(0), *(pieces[:, 0] for _, pieces in time_tables)])),
        holds=holds, stops=tuple(system.stops),
        outputs=output_places(system, layout.x, layout.outputs_at, layout.elements_at, layout.outputs))
    tables.check()
    if layout.fronts.closures:
        singular_share(tree)                                              # so that a change during a run does not compute it
    return tables


def fill_records(system: System, tree: Partition, layout: WorkspaceLayout, inputs: Sequence[InputWrench],
                 constants: Floats, time_tables: TimeTables, holds: HoldTable,
                 tanks: tuple[Rows, Numbers]) -> tuple[Contents, Contents]:
    """All sections of plan and pars, in the order of `sweeps.records`."""
    plan, pars = Contents("plan"), Contents("pars")

    def add(name: str, rows: Rows, numbers: Sequence[ArrayLike]) -> None:
        plan.put(name, rows)
        pars.put(name, numbers)

    plan.reserve("header", 1)
    plan.reserve("hinges", len(tree.hinges))
    pars.put("ground", [ground_parameters(system, tree)])
    pars.put("hinges", [r.HINGE_PARAMETERS.pack(place_c=hinge.turn, place_r=hinge.at, mass=hinge.mass, moment=hinge.moment,
                                                inertia=upper_triangle(hinge.inertia)) for hinge in tree.hinges[1:]])
    pars.put("inputs", [constants])
    add("springs", *spring_rows(system, tree, layout))
    if system.frictions:
        add("frictions", *builders.friction_tables.friction_rows(system, tree, layout))
    else:
        add("frictions", [], [])
    add("tanks", *tanks)
    add("wheels", *wheel_rows(system, tree, layout))
    add("wrenches", *wrench_rows(system, tree, layout, inputs))
    add("ports", *port_rows(system, layout))
    plan.put("angle runs", angle_runs(tree))
    plan.put("quaternions", [r.QUATERNION.row(at=at) for at in tree.quaternions])
    starts = np.cumsum([0, *(pieces.size for _, pieces in time_tables)])
    plan.put("time tables", [r.TIME_TABLE.row(at=start, pieces=len(pieces), target=target)
                             for start, (target, pieces) in zip(starts, time_tables, strict=False)])
    add("pulls", *gravity_body_rows(tree.pulls*layout.in_orbit))
    plan.put("roots", [r.ROOT.row(hinge=k) for k in root_translations(tree)*layout.in_orbit])
    plan.put("holds", holds.rows)
    pars.put("loops", [closure.parameters for closure in layout.fronts.closures if not closure.terms])
    couplings, coupled, coupling_parameters, factors = Rows(), Rows(), Numbers(), Numbers()
    if system.couplings:
        couplings, coupled, coupling_parameters, factors = builders.coupling_tables.coupling_rows(system, tree, layout)
    pars.put("couplings", coupling_parameters)
    pars.put("coupled", factors)
    add("free motions", *free_motion_rows(system, tree, layout.u + layout.first_free))
    pars.put("clouds", [cloud_sums(tree)])
    flexible = FlexibleRows(tree, layout, plan.end, pars.next_start("flexible"))
    add("flexible", flexible.rows, flexible.numbers)
    fronts = front_rows(layout.fronts, plan.end, r.COUPLING.size*len(couplings) + r.COUPLED.size*len(coupled))
    plan.put("loops", fronts.loops)
    plan.put("couplings", couplings)
    plan.put("coupled", coupled)
    plan.put("junctions", fronts.junctions)
    plan.put("fronts", fronts.fronts)
    elements = Rows()
    if layout.elements:
        rests = {name: layout.u + at for name, at in layout.rests.items()}
        elements += builders.element_tables.element_rows(layout.elements, pars.end, layout.elements_at, rests)
    add("elements", elements, [element.parameters for element in layout.elements])
    plan.put("paths", [r.PATH.row(hinge=k) for k in path_hinges(tree, layout.outputs)])
    gauges = pars.put("gauges", [output.gauge.reshape(1, -1) for output in layout.outputs])
    add("outputs", output_rows(layout, plan.places["elements"].start, gauges), [output.parameters for output in layout.outputs])
    plan.put("clouds", [])                                              # see `compile.switching`
    changing = builders.tank_tables.mass_places(system, tree, layout) if system.tanks else {}
    plan.fill("hinges", hinge_rows(tree, layout, flexible, fronts, changing))
    plan.fill("header", [header(layout, tree, plan, pars, constants)])
    return plan, pars


def used_nodes(system: System, inputs: Sequence[InputWrench], *, every: bool) -> list[tuple[str, str]]:
    """Nodes that carry something, or every node."""
    places: list[Any] = [place for part in parts_of(system) for place in part.attachments()]
    nodes = [(place.body, place.node) for place in [*places, *inputs] if place.node is not None]
    if every:
        nodes += [(body.name, name) for body in system.bodies.values() if body.flexible for name in body.flexible.nodes.names]
    return nodes


def header(layout: WorkspaceLayout, tree: Partition, plan: Contents, pars: Contents, constants: Floats) -> list[int]:
    """Entries of plan's header: sizes, and starts of sections."""
    coupled, fronts = any(closure.terms for closure in layout.fronts.closures), layout.ws.places["fronts"].size
    fronts += layout.ws.places["front gains"].size*coupled
    return r.HEADER.row(
        n_hinges=len(tree.hinges) - 1, nq=layout.nq, nv=layout.nv, n_x=layout.nx, n_law_states=layout.law_states, n_u=layout.nu,
        in_orbit=layout.in_orbit, has_loads=bool(layout.slot) or layout.in_orbit, n_constants=layout.nu if constants.any() else 0,
        n_stuck=0, n_loaded=layout.loaded_frictions,
        ws_mass=layout.ws.end, ws_size=layout.ws.end, n_multipliers=layout.fronts.size, n_fronts=fronts, cloud_base=0,
        **plan.header_entries(), **pars.header_entries(), **layout.ws.header_entries())


# ---- hinges ---------------------------------------------------------------------------------------------------------
def ground_parameters(system: System, tree: Partition) -> Floats:
    central = system.gravity if isinstance(system.gravity, CentralGravity) else None
    return r.GROUND_PARAMETERS.pack(
        gravity=np.zeros(3) if central else np.asarray(system.gravity, float), mu=central.mu if central else 0.0,
        total_mass=sum(hinge.mass for hinge in tree.hinges), stabilization=0.0,
        least_share=REDUNDANT)                                          # changed for runs: see `singular_share`


class FlexibleRows:
    """Rows of flexible bodies from `at` on in plan, and their parameters from `par_at` on in pars.

    Identical bodies share their parameters: a chain of equal links then stays in the first-level cache."""

    def __init__(self, tree: Partition, layout: WorkspaceLayout, at: int, par_at: int):
        self.rows: Rows = []
        self.numbers: Numbers = []
        self.row_at: dict[int, int] = {}                                # by hinge, in plan
        self.par_at: dict[int, int] = {}                                # by hinge, in pars
        shared: dict[tuple[Any, ...], tuple[int, ModalForm]] = {}
        for k, hinge in enumerate(tree.hinges):
            if hinge.flexible is None:
                continue
            key = id(hinge.flexible), hinge.node, hinge.rest.tobytes()
            if key not in shared:
                form = builders.flexible_tables.modal_form(hinge.flexible)
                shared[key] = par_at, form
                self.numbers.append(builders.flexible_tables.node_parameters(hinge.flexible, hinge.node) if hinge.kind == NODE else
                                    builders.flexible_tables.modal_parameters(hinge.flexible, form, hinge.rest))
                par_at += self.numbers[-1].shape[-1]
            self.par_at[k], form = shared[key]
            if hinge.kind == MODAL:
                self.row_at[k] = at + r.FLEXIBLE.size*len(self.rows)
                self.rows.append(self.row(k, hinge.flexible, form, layout))
            else:
                self.row_at[k] = self.row_at[hinge.inner]

    def row(self, k: int, body: "FlexibleBody", form: "ModalForm", layout: WorkspaceLayout) -> list[int]:
        return r.FLEXIBLE.row(
            hinge=k, modes=body.n_modes, ws=layout.modes_at[k], **form.blocks(body, self.par_at[k], layout.scratch_at[k]),
            node_scratch=layout.scratch, has_pairs=form.pairs,
            has_turns=form.turns, has_curves=form.curves, inboard_moves=form.inboard_moves, diagonal=form.diagonal,
            carried=body.carried.count, spins=form.spins, columns=layout.fronts.columns(k))


def hinge_rows(tree: Partition, layout: WorkspaceLayout, flexible: FlexibleRows, fronts: FrontRows,
               changing: Mapping[int, int]) -> Rows:
    rows = []
    for k, hinge in enumerate(tree.hinges):
        massive = hinge.kind != MODAL and bool(hinge.mass.any() or hinge.inertia.any())  # MODAL: in its integrals
        own = ({"node_par": flexible.par_at[k], "node_ws": layout.modes_at[k]} if hinge.kind == NODE else
               {"cloud": 0, "given": layout.given + hinge.v})                                  # cloud: see `compile.switching`
        rows.append(r.HINGE.row(
            inner=hinge.inner, kind=hinge.kind, q=layout.x + hinge.q, v=layout.x + layout.nq + hinge.v, tau=layout.u + hinge.v,
            vdot=layout.xdot + layout.nq + hinge.v, massive=changing.get(k, massive), record=layout.record[k],
            branch=layout.branch.get(k, 0), slot=layout.slot.get(k, 0), flex=flexible.row_at.get(k, 0),
            front=fronts.front_at.get(k, 0), junction=fronts.junction_at.get(k, 0), solved=hinge.kind, **own))
    return rows


def angle_runs(tree: Partition) -> Rows:
    """Coordinates that are angles, in runs that bridge small gaps: sines are computed four at a time."""
    runs: list[tuple[int, int]] = []
    for q in sorted(hinge.q for hinge in tree.hinges if hinge.kind == REVOLUTE):
        if runs and q - runs[-1][1] < padded(1):
            runs[-1] = runs[-1][0], q + 1
        else:
            runs.append((q, q + 1))
    return [r.ANGLE_RUN.row(first=first, end=end) for first, end in runs]


# ---- loads ----------------------------------------------------------------------------------------------
def spring_rows(system: System, tree: Partition, layout: WorkspaceLayout) -> tuple[Rows, Numbers]:
    """Springs and dampers of joints, then stops, which are inactive at first."""
    rows, pars = Rows(), Numbers()
    local = {hinge.v for hinge in tree.hinges[1:] if hinge.kind in (REVOLUTE, PRISMATIC)}

    def add(q: int, v: int, acts: bool, stiffness: float, rest: float, damping: float) -> None:
        rows.append(r.SPRING.row(q=layout.x + q, v=layout.x + layout.nq + v, tau=layout.u + v, acts=acts, local=v in local))
        pars.append(r.SPRING_PARAMETERS.pack(stiffness=stiffness, rest=rest, damping=damping))

    for body in system.bodies.values():
        joint, (q, v) = body.joint, layout.places[body.name]
        stiffness, damping, rest = (values or (0.0,)*joint.n_v for values in (joint.stiffness, joint.damping, joint.rest))
        for i in range(joint.n_v):
            if stiffness[i] or damping[i]:
                add(q + i, v + i, True, stiffness[i], rest[i], damping[i])
    for stop in system.stops.values():
        add(*coordinate_place(system, stop.coordinate), False, stop.stiffness, stop.limit, stop.damping)
    return rows, pars


def wheel_rows(system: System, tree: Partition, layout: WorkspaceLayout) -> tuple[Rows, Numbers]:
    rows, pars = Rows(), Numbers()
    for j, wheel in enumerate(system.wheels.values()):
        attachment, speed = tree.attachment(wheel.body, wheel.node), layout.nq + layout.nv + j
        rows.append(r.WHEEL.row(hinge=attachment.hinge, speed=layout.x + speed, motor=layout.u + layout.nv + j,
                                rate=layout.xdot + speed, driven=wheel.driven))
        pars.append(r.WHEEL_PARAMETERS.pack(axis=attachment.turn @ np.asarray(wheel.axis), inertia=wheel.inertia))
    return rows, pars


def gravity_body_rows(pulls: Sequence[Pull]) -> tuple[Rows, Numbers]:
    pulls = sorted(pulls, key=lambda pull: pull.hinge)
    return ([r.PULL.row(hinge=pull.hinge) for pull in pulls],
            [r.PULL_PARAMETERS.pack(mass=pull.mass, at=pull.com, s=upper_triangle(second_moments(pull.inertia))) for pull in pulls])


def root_translations(tree: Partition) -> list[int]:
    """Hinges that translate a whole tree: free ones, and the prismatic ones of a free joint whose rotation can be held."""
    found = {0}
    for k, hinge in enumerate(tree.hinges):
        if k and hinge.kind == PRISMATIC and hinge.inner in (0, k - 1) and hinge.inner in found:
            found.add(k)
    return sorted(found - {0} | {k for k, hinge in enumerate(tree.hinges) if hinge.kind == FREE})


def wrench_rows(system: System, tree: Partition, layout: WorkspaceLayout, inputs: Sequence[InputWrench]) -> tuple[Rows, Numbers]:
    """Wrenches of the description, those of inputs, then the caller's; wrenches on bodies fixed to the ground are left out."""
    rows, pars = Rows(), Numbers()
    placed = [(w.place, w.frame == "world", False) for w in system.wrenches.values()]
    placed += [(place, system.inputs[name].axes == "world", True) for name, place in placed_inputs(system).items()]
    starts = [layout.inputs.wrench(j).start for j in range(len(placed))]
    starts += [layout.inputs.caller_wrench(j).start for j in range(len(inputs))]
    placed += [(Frame(w.body, node=w.node), w.world, False) for w in inputs]
    for (place, world, of_input), start in zip(placed, starts, strict=True):
        attachment = frame_attachment(tree, place)
        if attachment.hinge:
            rows.append(r.WRENCH.row(hinge=attachment.hinge, u=layout.u + start, world=world, input=of_input))
            pars.append(r.WRENCH_PARAMETERS.pack(c=attachment.turn, r=attachment.at))
    return rows, pars


def port_rows(system: System, layout: WorkspaceLayout) -> tuple[Rows, Numbers]:
    """Targets of inputs."""
    inputs = layout.inputs
    found = list(feeds(system, layout.places, inputs.ports.start, inputs.wrench(len(system.wrenches)).start, layout.rests,
                       inputs.flows.start))
    return ([r.PORT.row(source=layout.u + feed.source, target=layout.u + feed.target) for feed in found],
            [r.PORT_PARAMETERS.pack(factor=feed.factor) for feed in found])


def output_rows(layout: WorkspaceLayout, elements: int, gauges: int) -> Rows:
    """Rows of plan and pars; `elements`: start of their rows in plan; `gauges`: start in pars."""
    starts = gauges + np.cumsum([0, *(output.gauge.size for output in layout.outputs)])
    return [r.OUTPUT.row(kind=output.kind, hinge=output.hinge, frame=output.frame, body=output.body,
                         element=elements + f.ELEMENT_ROW*output.element if output.element >= 0 else 0,
                         gauge=starts[i]*bool(output.gauge.size), components=len(output.gauge),
                         to=layout.outputs_at + f.OUTPUT_OUT*i) for i, output in enumerate(layout.outputs)]


def gather_inputs(system: System, layout: WorkspaceLayout) -> tuple[Floats, TimeTables]:
    """Constants of u, and for each column of a time table its target in ws and its pieces."""
    constants, time_tables = np.zeros(layout.nu), TimeTables()

    def put(target: int, value: float | TimeTable, column: int = 0) -> None:
        if isinstance(value, TimeTable):
            time_tables.append((layout.u + target, builders.motion_tables.piecewise_cubic(value, column)))
        else:
            constants[target] += value

    for body in system.bodies.values():
        for i, torque in enumerate(body.joint.torque or ()):
            put(layout.places[body.name][1] + i, torque)
    for j, wheel in enumerate(system.wheels.values()):
        if wheel.torque is not None:
            put(layout.nv + j, wheel.torque)
    for j, wrench in enumerate(system.wrenches.values()):
        for part, vector in enumerate((wrench.moment, wrench.force)):
            for i in range(3):
                put(layout.inputs.wrench(j).start + 3*part + i, vector if isinstance(vector, TimeTable) else vector[i], i)
    for j, tank in enumerate(system.tanks.values()):
        put(layout.inputs.flows.start + j, tank.flow)
    for j, motion in enumerate(layout.frees):
        put(layout.first_free + j, motion.torque)
    return constants, time_tables
