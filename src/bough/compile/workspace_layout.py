"""Sizes of a model's vectors, and the places of everything in the workspace."""

from collections.abc import Sequence

from bough import compile as builders
from bough.compile.coordinates import coordinate_places, holdable
from bough.compile.front_tables import build_fronts
from bough.compile.layout import InputLayout, InputWrench, StateLayout
from bough.compile.loop_tables import build_closure, frame_attachment, free_motions
from bough.compile.partition import Partition
from bough.compile.sections import Sections
from bough.compile.signal_tables import compile_outputs, placed_inputs, rest_lines
from bough.describe import System
from bough.kernels.hinges import GAIN_SIZE, MODAL
from bough.sweeps import records as r
from bough.sweeps.schema import padded


class WorkspaceLayout:
    """Sizes, and positions in the workspace."""

    def __init__(self, system: System, tree: Partition, inputs: Sequence[InputWrench], law_states: int = 0, running: bool = False,
                 compliant: bool = False, loop_motions: int | None = None):
        """`loop_motions`: entries of u reserved for them, if more than those of the loops closed now."""
        self.places = coordinate_places(system)                        # start of each joint's q and v
        state, given = StateLayout.of(system, law_states, running), InputLayout.of(system, len(inputs), loop_motions)
        self.nq, self.nv, self.nw, self.nx, self.in_orbit = state.nq, state.nv, state.nw, state.nx, state.in_orbit
        self.law_states, self.frictions = state.laws.stop - state.orbit.stop, state.friction
        self.tanks, self.exhaust = state.tanks, state.exhaust
        self.nu, self.inputs = given.nu, given
        self.frees = free_motions(system)                              # motions of loops along which a load acts
        self.first_free = given.loop_torques.start                     # start of their torques in u
        self.first_input = given.caller_wrenches.start                 # start of the caller's wrenches in u
        self.elements = builders.element_tables.compile_elements(system, tree) if system.elements else []
        self.rests = {name: given.line_rests.start + i for i, name in enumerate(rest_lines(system))}       # in u, by line

        self.ws = ws = Sections("ws")
        ws.add("time", 2)
        self.x = ws.add("x", self.nx)
        ws.add("sines", self.nq)
        ws.add("cosines", self.nq)
        self.u = ws.add("u", self.nu)
        self.xdot = ws.add("xdot", self.nx)
        self.given = ws.add("given", self.nv*bool(holdable(system)))
        ws.add("positions", 3*len(tree.hinges)*self.in_orbit)
        ws.add("mean", 6*self.in_orbit)
        loaded, wheel_hinges = self.loaded_hinges(system, tree, inputs)
        slots = ws.add("slots", 6*len(loaded), len(loaded))
        self.slot = {k: slots + 6*i for i, k in enumerate(loaded)}
        self.elements_at = ws.add("elements", r.ELEMENT_RESULT.size*len(self.elements), len(self.elements))
        self.outputs = compile_outputs(system, tree)                  # those computed by a sweep
        self.outputs_at = ws.add("outputs", r.OUTPUT_RESULT.size*len(self.outputs), len(self.outputs))
        sums = any(output.sums for output in self.outputs)
        ws.add("sums", r.SUMS_RECORD.size*sums, int(sums))
        self.loaded_frictions = sum(bool(friction.mu) for friction in system.frictions.values())
        self.frictions_at = ws.add("frictions", r.FRICTION_RESULT.size*len(system.frictions), len(system.frictions))
        self.tanks_at = ws.add("tanks", r.TANK_RESULT.size*len(system.tanks), len(system.tanks))
        branching = sorted({hinge.inner for k, hinge in enumerate(tree.hinges) if k and hinge.inner != k - 1} | wheel_hinges | {0})
        branches = ws.add("branches", r.BRANCH.size*len(branching), len(branching))
        self.branch = {k: branches + r.BRANCH.size*i for i, k in enumerate(branching)}
        couplings = [builders.coupling_tables.build_coupling(system, coupling, tree) for coupling in system.couplings.values()
                     if coupling.stiffness is None or compliant]
        self.fronts = build_fronts([*(build_closure(loop, tree) for loop in system.loops.values()), *couplings], tree, ws)
        self.place_scratch(tree)
        self.place_records(tree)
        ws.add("implicit", r.IMPLICIT_HEAD.size + self.nv + self.nq + self.nv)

    def loaded_hinges(self, system: System, tree: Partition, inputs: Sequence[InputWrench]) -> tuple[list[int], set[int]]:
        """Hinges whose bodies may be loaded, in order; and those with wheels."""
        wheels = {tree.attachment(wheel.body, wheel.node).hinge for wheel in system.wheels.values()}
        loaded = wheels | {tree.attachment(w.body, w.node).hinge for w in system.wrenches.values()}
        loaded |= {tree.attachment(w.body, w.node).hinge for w in inputs}
        loaded |= {frame_attachment(tree, frame).hinge for frame in placed_inputs(system).values()}
        loaded |= {pull.hinge for pull in tree.pulls*self.in_orbit if tree.hinges[pull.hinge].kind != MODAL}
        driven = [list(system.loops.values())[motion.loop] for motion in self.frees]
        loaded |= {frame_attachment(tree, frame).hinge for loop in driven for frame in (loop.a, loop.b)}
        loaded |= {hinge for element in self.elements for hinge in (element.hinge, element.other)}
        loaded |= {tree.attachments[name].hinge for tank in system.tanks.values() for name in tank.body_names}
        loaded |= {frame_attachment(tree, tank.exit).hinge for tank in system.tanks.values()}
        return sorted(loaded - {0}), wheels                            # the ground is fixed

    def place_scratch(self, tree: Partition) -> None:
        """Scratch for one flexible body, or one of its nodes, at a time.  In orbit, bodies keep the first part of theirs until
        gravity is applied; the rest overlaps with the next body's."""
        modal = {k: hinge.flexible for k, hinge in enumerate(tree.hinges) if hinge.kind == MODAL}
        sizes = {k: builders.flexible_tables.scratch_sizes(body) for k, body in modal.items()}
        end = max((node for *_, node in sizes.values()), default=0)
        places, at = dict[int, int](), end*self.in_orbit
        for k, (size, kept, _) in sizes.items():
            places[k], end = at, max(end, at + size)
            at += kept*self.in_orbit
        self.scratch = self.ws.add("scratch", end)
        self.scratch_at = {k: self.scratch + at for k, at in places.items()}

    def place_records(self, tree: Partition) -> None:
        """A record for each hinge, followed by that of its flexible body or node."""
        self.record: list[int] = []
        self.modes_at: dict[int, int] = {}                             # modal record of a MODAL hinge, node record of a NODE
        start = at = self.ws.next_start("records")
        for k, hinge in enumerate(tree.hinges):
            self.record.append(at)
            at += r.HINGE_RECORD.size + GAIN_SIZE[hinge.kind]
            if hinge.flexible is not None:
                self.modes_at[k] = at = padded(at)
                counts = builders.flexible_tables.counts(hinge.flexible)
                at += (r.MODAL_RECORD.size + r.MODAL_BLOCKS.size(*counts, self.fronts.columns(k)) if hinge.kind == MODAL
                       else r.NODE_RECORD.size + r.NODE_BLOCKS.size(counts[0]))
        self.ws.add("records", at - start, len(tree.hinges))
