"""Force elements as the numbers that `sweeps.force_elements` reads, and their loads by name."""
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bough.compile.flexible_tables import inboard_place, inboard_shapes
from bough.compile.loop_tables import common_hinge, frame_attachment
from bough.compile.partition import Partition
from bough.describe import Frame, System
from bough.describe.parts.element import Anchor, Exerted
from bough.kernels.hinges import MODAL, NODE
from bough.sweeps import fields as f, records as r
from bough.sweeps.schema import columns


@dataclass(frozen=True)
class CompiledPlaces:
    """Positions that elements ask for: see `describe.parts.element.Places`."""
    system: System
    partition: Partition

    @cached_property
    def gravity(self) -> NDArray[np.float64]:
        return np.asarray(self.system.gravity, float)

    def anchor(self, frame: Frame) -> Anchor:
        return frame_attachment(self.partition, frame)

    def neutral(self, anchor: Anchor) -> NDArray[np.float64]:
        k, x = anchor.hinge, anchor.at
        while k:
            hinge = self.partition.hinges[k]
            if hinge.kind == NODE:
                x = x + hinge.flexible.nodes.position[hinge.flexible.nodes.index(hinge.node)]
            elif hinge.kind == MODAL:
                x = x - inboard_place(hinge.flexible)*inboard_shapes(hinge.flexible)[1]     # relative to the inboard node
            k, x = hinge.inner, hinge.at + x @ hinge.turn.T
        return x


class CompiledElement(NamedTuple):
    """An element between hinges: its row of plan without positions in pars and ws, and its parameters (batch, n)."""
    kind: int
    hinge: int
    other: int                  # hinge of end a, if it has one
    meet: int                   # where the paths of both ends to the root meet
    option: int
    parameters: NDArray[np.float64]
    name: str


def compile_elements(system: System, partition: Partition) -> list[CompiledElement]:
    """All elements, in the order of `System.elements`."""
    found, places = list[CompiledElement](), CompiledPlaces(system, partition)
    for name, element in system.elements.items():
        entry = element.table_entry(places)
        a, b = 0 if entry.a is None else entry.a.hinge, entry.b.hinge
        meet = 0 if entry.a is None else common_hinge(partition, a, b)
        parameters = columns(*(getattr(r, f"{record.upper()}_PARAMETERS").pack(**values) for record, values in entry.records))
        found.append(CompiledElement(getattr(f, element.noun.upper()), b, a, meet, entry.option, parameters, name))
    return found


def element_rows(elements: list[CompiledElement], par_at: int, ws_at: int, rests: Mapping[str, int]) -> Iterator[list[int]]:
    """Rows of plan; the elements' parameters are in pars from `par_at` on, one after the other; `rests`: positions in ws by
    line."""
    for j, e in enumerate(elements):
        yield r.ELEMENT.row(kind=e.kind, hinge=e.hinge, other=e.other, meet=e.meet, par=par_at,
                            ws=ws_at + f.ELEMENT_OUT*j, option=e.option, rest=rests.get(e.name, 0))
        par_at += e.parameters.shape[1]


SCALED = "*"                        # in a mark: between a bushing and the scale factor set by an event


def bushing_of(mark: str) -> str:
    """The bushing scaled by a mark; empty for other marks."""
    return mark.rpartition(SCALED)[0]


def scaled_bushings(pars: NDArray[np.float64], rows: NDArray[np.int64], system: System,
                    marks: Sequence[str]) -> NDArray[np.float64]:
    """Parameters with stiffness and damping scaled as marked; `rows`: those of the elements in plan."""
    scales = {bushing_of(mark): float(mark.rpartition(SCALED)[2]) for mark in marks if bushing_of(mark) in system.bushings}
    if not scales:
        return pars
    pars, names = pars.copy(), list(system.elements)
    for name, scale in scales.items():
        first = int(rows[names.index(name), f.ELEMENT_PAR])
        bushing = system.bushings[name]
        matrices = [np.array(matrix)[part] for matrix in (bushing.stiffness, bushing.damping)
                    for part in (np.s_[:3, :3], np.s_[:3, 3:], np.s_[3:, 3:])]
        pars[:, first + f.BUSHING_STIFFNESS_RR:first + f.BUSHING_PARS] = scale*np.concatenate([part.ravel() for part in matrices])
    return pars


def exerted(results: NDArray[np.float64]) -> list[Exerted]:
    """Load of each element, from the results of the sweeps (states, elements, numbers)."""
    wrench, energy, tension = results[..., :f.ELEMENT_ENERGY], results[..., f.ELEMENT_ENERGY], results[..., f.ELEMENT_TENSION]
    return [Exerted(wrench[:, j], energy[:, j], tension[:, j]) for j in range(results.shape[1])]
