"""Who is where: sizes of a model's vectors, and the places of everything in the workspace."""
from collections.abc import Sequence
from dataclasses import dataclass

from bough.compile.coordinates import coordinate_places, holdable
from bough.compile.element_tables import place_elements
from bough.compile.flexible_tables import modal_record_size, node_record_size, room_size
from bough.compile.front_tables import build_fronts
from bough.compile.loop_freedoms import free_motions
from bough.compile.loop_tables import build_closures, frame_seat
from bough.compile.partition import Partition
from bough.compile.state_layout import InputLayout, StateLayout
from bough.describe import System
from bough.kernels.hinges import GAIN_SIZE, MODAL
from bough.sweeps import fields as f
from bough.sweeps.fields import fours


@dataclass(frozen=True)
class InputWrench:
    """A wrench that the caller gives with each evaluation: on a body, at its origin or a node, in its axes or the world's."""
    body: str
    node: str | None
    world: bool


class Layout:
    """Places in the workspace, in the order of `sweeps.fields`."""

    def __init__(self, system: System, parts: Partition, inputs: Sequence[InputWrench]):
        hinges = parts.hinges
        self.places = coordinate_places(system)                        # where each joint's q and v start
        state, given = StateLayout.of(system), InputLayout.of(system, len(inputs))
        self.nq, self.nv, self.nw, self.nx, self.in_orbit = state.nq, state.nv, state.nw, state.nx, state.in_orbit
        self.nu, self.inputs = given.nu, given
        self.frees = free_motions(system)                              # motions of loops along which something acts
        self.first_free = given.loop_torques.start                     # where their torques start in u
        self.first_input = given.caller_wrenches.start                 # where the caller's wrenches start in u

        self.time, self.x = 0, 4
        self.sines = fours(self.x + self.nx)
        self.cosines = fours(self.sines + self.nq)
        self.u = fours(self.cosines + self.nq)
        self.xdot = self.u + self.nu
        self.given = self.xdot + self.nx                               # accelerations of what is held
        self.positions = self.given + self.nv*bool(holdable(system))
        self.slots = self.positions + 3*len(hinges)*self.in_orbit
        wheel_hinges = {parts.seat(wheel.body, wheel.node).hinge for wheel in system.wheels.values()}
        loaded = wheel_hinges | {parts.seat(w.body, w.node).hinge for w in system.wrenches.values()}
        loaded |= {parts.seat(w.body, w.node).hinge for w in inputs}
        loaded |= {k for k, hinge in enumerate(hinges) if self.in_orbit and hinge.mass.any()}
        for loop in {motion.loop for motion in self.frees}:
            described = list(system.loops.values())[loop]
            loaded |= {frame_seat(parts, frame).hinge for frame in (described.a, described.b)}
        self.placed = place_elements(system, parts)                    # force elements
        loaded |= {hinge for element in self.placed for hinge in (element.hinge, element.other)}
        loaded -= {0}                                                  # nothing moves the ground
        self.slot = {k: self.slots + 6*i for i, k in enumerate(sorted(loaded))}
        self.elements = self.slots + 6*len(loaded)
        stores = self.elements + f.ELEMENT_OUT*len(self.placed)
        branches = {hinge.inner for k, hinge in enumerate(hinges) if k and hinge.inner != k - 1} | wheel_hinges | {0}
        self.branch = {k: stores + f.BRANCH_STORE*i for i, k in enumerate(sorted(branches))}
        self.fronts = build_fronts(build_closures(system, parts), parts, stores + f.BRANCH_STORE*len(branches))
        self.room = fours(self.fronts.end)                             # of flexible bodies, one at a time
        self.record: list[int] = []
        self.end = self.room + max((room_size(hinge.flexible) for hinge in hinges if hinge.flexible is not None), default=0)
        self.modes_at: dict[int, int] = {}                             # modal record of a MODAL hinge, node record of a NODE
        for k, hinge in enumerate(hinges):
            self.record.append(self.end)
            self.end += f.GAIN + GAIN_SIZE[hinge.kind]
            if hinge.flexible is not None:
                self.modes_at[k] = self.end = fours(self.end)
                self.end += (modal_record_size(hinge.flexible, self.fronts.columns(k)) if hinge.kind == MODAL
                             else node_record_size(hinge.flexible))
