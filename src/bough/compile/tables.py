"""The tables of a compiled model, as `sweeps.records` declares them."""
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bough import compile as builders
from bough.compile.front_tables import Fronts
from bough.compile.hold_tables import HoldTable
from bough.compile.partition import Partition
from bough.compile.sections import Place, check_layout
from bough.compile.signal_tables import OutputPlace
from bough.kernels.lanes import Features
from bough.sweeps import fields as f, records as r
from bough.sweeps.schema import Blocks


@dataclass(frozen=True)
class Tables:
    """The arrays that the sweeps read, and what they were made from."""
    plan: NDArray[np.int64]
    pars: NDArray[np.float64]                   # (batch, n)
    tables: NDArray[np.float64]
    features: Features                          # features to compile for it
    sections: dict[str, dict[str, Place]]       # of plan, pars, tables and ws, by name
    tree: Partition
    fronts: Fronts
    n_u: int                                    # length of u, see compile.layout
    first_input_wrench: int                     # start of the caller's wrenches in u
    jumps: NDArray[np.float64]                  # times at which a time table jumps
    knots: NDArray[np.float64]                  # times of all rows of time tables
    holds: HoldTable                            # coordinates that can be locked or prescribed
    stops: tuple[str, ...]                      # whose springs come last
    outputs: dict[str, OutputPlace]             # their positions in ws, inside a step
    routes: dict[Any, Any] = field(default_factory=dict)    # to requested frames: see analyze.body_motion

    def size(self, name: int) -> int:
        """An entry of plan's header."""
        return int(self.plan[name])

    def rows(self, section: str) -> NDArray[np.int64]:
        """(n, fields): the rows of a section of plan, as a view."""
        place = self.sections["plan"][section]
        assert place.section.record is not None
        return self.plan[place.start:place.end].reshape(-1, place.section.record.size)

    def explain(self, what: str | None = None, index: int | None = None) -> None:
        """Print what is where: all sections, or the records of one, with their values.

        Parameters
        ----------
        what
            A section or record ("springs", "hinge", "x"), or a body's name.  All sections, if not given.
        index
            Which record of the section.

        Examples
        --------
        >>> import bough
        >>> system = bough.System("pendulum")
        >>> _ = system.body("rod", joint=bough.Revolute("y", damping=0.1), mass=2.0, com=(0, 0, -0.5), inertia=[0.2, 0.2, 0.01])
        >>> model = system.compile()
        >>> model.tables.explain("spring", 0)
        springs 0
          plan, spring: spring and damper of one coordinate; written by compile.assemble, read by sweeps.loads
            plan[119]  SPRING_Q             4 -> ws.x                           coordinate
            plan[120]  SPRING_V             5 -> ws.x                           speed
            plan[121]  SPRING_TAU           16 -> ws.u                          torque
            plan[122]  SPRING_ACTS          1 yes                               it acts; no: a stop that is not in contact
            plan[123]  SPRING_LOCAL         1 yes                               its hinge has no other coordinate, so that it
                                                                                can act implicitly
          pars, spring: spring and damper of one coordinate; written by compile.assemble, read by sweeps.loads
            pars[45]   STIFFNESS            0                    N m/rad or N/m stiffness
            pars[46]   REST                 0                    rad or m       coordinate without force
            pars[47]   DAMPING              0.1                  N m s/rad or N s/m damping
        """
        listing = builders.listing
        print(listing.overview(self) if what is None else listing.detail(self, what, index))

    def check(self) -> None:
        """Raise `LayoutError` if records overlap, or refer to something that is not there."""
        check_layout(self.plan, self.pars, self.tables, self.sections)

    @property
    def solved_kinds(self) -> list[int]:
        """By hinge, its kind in the sweeps that solve for accelerations: a weld if it is held."""
        return [int(kind) for kind in self.rows("hinges")[:, f.SOLVED]]

    def methods(self) -> dict[str, tuple[Blocks, tuple[int, ...], int]]:
        """Blocks of methods behind the common workspace, the counts they depend on, and the offset of their starts."""
        start, bodies = self.size(f.WS_MASS), self.size(f.N_HINGES) - self.size(f.CLOUD_BASE) + 1
        return {"dense": (r.DENSE_METHOD, (self.size(f.NV), self.fronts.size), start),
                "cloud": (r.CLOUD_METHOD, (start, self.size(f.N_CLOUDS), bodies), 0)}

    def more(self, dynamics: str) -> int:
        """Numbers of the workspace that a method needs in addition to the common ones."""
        if dynamics not in (methods := self.methods()):
            return 0
        blocks, counts, offset = methods[dynamics]
        return blocks.size(*counts) + offset - self.size(f.WS_MASS)


def described_inputs(tables: Tables, t: NDArray[np.float64]) -> NDArray[np.float64]:
    """(times, nu): the constants and time tables of u."""
    start = tables.size(f.PAR_INPUTS)
    u = np.tile(tables.pars[0, start:start + tables.n_u], (len(t), 1))
    for row in tables.rows("time tables"):
        table = tables.tables[row[f.TABLE_AT]:row[f.TABLE_AT] + f.PIECE*row[f.TABLE_PIECES]].reshape(-1, f.PIECE)
        piece = table[np.clip(np.searchsorted(table[:, 0], t, side="right") - 1, 0, None)]
        s = np.maximum(t - piece[:, 0], 0.0)
        u[:, row[f.TABLE_TARGET] - tables.size(f.WS_U)] += piece[:, 1] + s*(piece[:, 2] + s*(piece[:, 3] + s*piece[:, 4]))
    return u
