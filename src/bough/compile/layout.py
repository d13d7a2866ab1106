"""Sizes of a model's vectors, and the places of everything in the workspace."""
from collections.abc import Sequence
from dataclasses import dataclass

from bough.compile.coordinates import coordinate_places, holdable
from bough.compile.element_tables import compile_elements
from bough.compile.flexible_tables import modal_record_size, node_record_size, scratch_size
from bough.compile.front_tables import build_fronts
from bough.compile.loop_tables import build_closures, frame_attachment, free_motions
from bough.compile.partition import Partition
from bough.compile.sections import Sections
from bough.compile.state_layout import InputLayout, StateLayout
from bough.describe import System
from bough.kernels.hinges import GAIN_SIZE, MODAL
from bough.sweeps import records as r
from bough.sweeps.schema import padded


@dataclass(frozen=True)
class InputWrench:
    """A wrench that the caller gives with each evaluation: on a body, at its origin or a node, in its axes or the world's."""
    body: str
    node: str | None
    world: bool


class Layout:
    """Sizes, and places in the workspace."""

    def __init__(self, system: System, parts: Partition, inputs: Sequence[InputWrench]):
        self.places = coordinate_places(system)                        # where each joint's q and v start
        state, given = StateLayout.of(system), InputLayout.of(system, len(inputs))
        self.nq, self.nv, self.nw, self.nx, self.in_orbit = state.nq, state.nv, state.nw, state.nx, state.in_orbit
        self.nu, self.inputs = given.nu, given
        self.frees = free_motions(system)                              # motions of loops along which something acts
        self.first_free = given.loop_torques.start                     # where their torques start in u
        self.first_input = given.caller_wrenches.start                 # where the caller's wrenches start in u
        self.elements = compile_elements(system, parts)                # force elements

        self.ws = ws = Sections("ws")
        ws.add("time", 2)
        self.x = ws.add("x", self.nx)
        ws.add("sines", self.nq)
        ws.add("cosines", self.nq)
        self.u = ws.add("u", self.nu)
        self.xdot = ws.add("xdot", self.nx)
        self.given = ws.add("given", self.nv*bool(holdable(system)))
        ws.add("positions", 3*len(parts.hinges)*self.in_orbit)
        loaded, wheel_hinges = self.loaded_hinges(system, parts, inputs)
        slots = ws.add("slots", 6*len(loaded), len(loaded))
        self.slot = {k: slots + 6*i for i, k in enumerate(loaded)}
        self.elements_at = ws.add("elements", r.ELEMENT_RESULT.size*len(self.elements), len(self.elements))
        branching = sorted({hinge.inner for k, hinge in enumerate(parts.hinges) if k and hinge.inner != k - 1} | wheel_hinges | {0})
        branches = ws.add("branches", r.BRANCH.size*len(branching), len(branching))
        self.branch = {k: branches + r.BRANCH.size*i for i, k in enumerate(branching)}
        self.fronts = build_fronts(build_closures(system, parts), parts, ws)
        self.scratch = ws.add("scratch", max((scratch_size(hinge.flexible) for hinge in parts.hinges if hinge.flexible is not None),
                                             default=0))               # for one flexible body at a time
        self.place_records(parts)

    def loaded_hinges(self, system: System, parts: Partition, inputs: Sequence[InputWrench]) -> tuple[list[int], set[int]]:
        """Hinges on whose bodies something may act, in order; and those with wheels."""
        wheels = {parts.attachment(wheel.body, wheel.node).hinge for wheel in system.wheels.values()}
        loaded = wheels | {parts.attachment(w.body, w.node).hinge for w in system.wrenches.values()}
        loaded |= {parts.attachment(w.body, w.node).hinge for w in inputs}
        loaded |= {k for k, hinge in enumerate(parts.hinges) if self.in_orbit and hinge.mass.any()}
        driven = [list(system.loops.values())[motion.loop] for motion in self.frees]
        loaded |= {frame_attachment(parts, frame).hinge for loop in driven for frame in (loop.a, loop.b)}
        loaded |= {hinge for element in self.elements for hinge in (element.hinge, element.other)}
        return sorted(loaded - {0}), wheels                            # nothing moves the ground

    def place_records(self, parts: Partition) -> None:
        """A record for each hinge, and behind it that of its flexible body or node."""
        self.record: list[int] = []
        self.modes_at: dict[int, int] = {}                             # modal record of a MODAL hinge, node record of a NODE
        start = at = self.ws.next_start("records")
        for k, hinge in enumerate(parts.hinges):
            self.record.append(at)
            at += r.HINGE_RECORD.size + GAIN_SIZE[hinge.kind]
            if hinge.flexible is not None:
                self.modes_at[k] = at = padded(at)
                at += (modal_record_size(hinge.flexible, self.fronts.columns(k)) if hinge.kind == MODAL
                       else node_record_size(hinge.flexible))
        self.ws.add("records", at - start, len(parts.hinges))
