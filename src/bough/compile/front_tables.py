"""Layout of the fronts of closed loops: the loops in each, the hinges it passes, the junctions [B 15].

A loop is eliminated where the paths from its two ends to the root meet; if that is the body frame of a flexible body, one hinge
further in, when the modes are eliminated.  Columns of a front are in the order of elimination.
"""
from dataclasses import dataclass, field
from typing import NamedTuple

from bough.compile.loop_tables import Closure, path_to_root
from bough.compile.partition import Partition
from bough.compile.sections import Sections
from bough.kernels.hinges import FREE, MODAL, NODE, PRISMATIC, REVOLUTE, SPHERICAL, WELD
from bough.sweeps import fields as f, records as r
from bough.sweeps.schema import padded

WIDE = 24                   # columns: wider junctions are split


class Junction:
    """A front that starts at a body: columns of the loops that end here or come from outboard, in the order of elimination."""

    def __init__(self, active: list[int], closed: list[int], closures: list[Closure], sources: "list[Junction]"):
        self.closed = closed                                            # loops eliminated here, which come first
        self.sources = sources                                          # fronts that join
        self.host: Junction | None = None                               # front whose columns this one uses, instead of its own
        self.hinges: list[int] = []                                     # those of one degree of freedom that this front passes
        self.fills_L = bool(closed or sources)                          # whether its L may be nonzero when it joins the next
        self.columns: dict[int, int] = {}                               # loop -> its first column
        self.width, self.end, self.at = 0, 0, 0                         # end: of the columns in use; at: position in ws
        for loop in [*closed, *(loop for loop in active if loop not in closed)]:
            self.columns[loop] = self.width
            self.end = self.width + closures[loop].rows
            self.width += padded(closures[loop].rows)

    @property
    def open(self) -> list[int]:
        return [loop for loop in self.columns if loop not in self.closed]

    def share_columns(self, closures: list[Closure], ends: set[int]) -> None:
        """Let joining fronts use the first columns of this one: those that eliminate nothing before, do not overlap, and have no
        loop that ends on this body, since that end would need the same column.  Such a front needs no addition."""
        taken = set(ends)
        order = list(self.columns)
        for source in sorted(self.sources, key=lambda source: -len(source.columns)):
            loops = list(source.columns)
            if source.closed or taken & set(loops):
                continue
            first = order.index(loops[0])
            if order[first:first + len(loops)] == loops:
                taken |= set(loops)
                source.host, source.width = self, self.width
                source.columns = {loop: self.columns[loop] for loop in loops}
                source.end = source.columns[loops[-1]] + closures[loops[-1]].rows


@dataclass
class Fronts:
    """All fronts of a model, and their positions in the workspace."""
    closures: list[Closure]
    junctions: dict[int, list[Junction]] = field(default_factory=dict)  # by body, in sequence
    passing: dict[int, Junction] = field(default_factory=dict)          # by hinge: the junction whose front passes it
    gains: dict[int, int] = field(default_factory=dict)               # by hinge: position in ws of U and 1/D, or W
    multipliers: list[int] = field(default_factory=list)                # by loop: position in ws
    size: int = 0                                                       # of all multipliers

    def columns(self, k: int) -> int:
        """Number of columns of a front in the rows of modes of a MODAL hinge."""
        return self.passing[k].width if k in self.passing else 0


def build_fronts(closures: list[Closure], tree: Partition, ws: Sections) -> Fronts:
    """The fronts of all loops, and their positions in the workspace."""
    fronts = Fronts(closures)
    eliminated = [tree.hinges[c.meet].inner if tree.hinges[c.meet].kind == MODAL else c.meet for c in closures]
    order = sorted(range(len(closures)), key=lambda loop: -eliminated[loop])
    rank = {loop: i for i, loop in enumerate(order)}
    beyond: dict[int, set[int]] = {}                                    # by hinge: loops with an end on its body or beyond
    ends: dict[int, set[int]] = {}                                      # by hinge: loops with an end on its body
    for loop, closure in enumerate(closures):
        for end in ends_of(closure, tree):
            ends.setdefault(end, set()).add(loop)
            for k in path_to_root(tree, end):
                beyond.setdefault(k, set()).add(loop)
    outer: dict[int, list[int]] = {}                                    # by body: hinges on it that a front passes
    for k in range(len(tree.hinges) - 1, -1, -1):
        active = sorted((loop for loop in beyond.get(k, ()) if eliminated[loop] <= k), key=rank.__getitem__)
        if not active:
            continue
        sources = [fronts.passing[c] for c in outer.get(k, ())]
        closed = [loop for loop in active if eliminated[loop] == k]
        if ends.get(k) or closed or len(sources) > 1 or tree.hinges[k].kind == MODAL:
            if tree.hinges[k].kind == MODAL:                           # its modes have one numbering of columns
                fronts.junctions[k] = [Junction(active, closed, closures, sources)]
            else:
                fronts.junctions[k] = split_junctions(active, closed, closures, sources)
            last = fronts.junctions[k][-1]
        else:
            last = sources[0]
        if k and len(closed) < len(active):
            fronts.passing[k] = last
            if tree.hinges[k].kind in (REVOLUTE, PRISMATIC):
                last.hinges.append(k)
            elif tree.hinges[k].kind not in (WELD, NODE):
                last.fills_L = True
            outer.setdefault(tree.hinges[k].inner, []).append(k)
    for k in sorted(fronts.junctions):                                  # inner ones first
        if tree.hinges[k].kind != MODAL:                               # whose modes carry the columns from front to front
            for junction in reversed(fronts.junctions[k]):
                junction.share_columns(closures, ends.get(k, set()))
    place_fronts(fronts, tree, ws)
    return fronts


def ends_of(closure: Closure, tree: Partition) -> list[int]:
    """Hinges whose bodies a loop constrains; for a coupling, those of its coordinates with no other one outboard."""
    if not closure.terms:
        return [closure.a, closure.b]
    inboard = {k for term in closure.terms for k in path_to_root(tree, term.hinge)[1:]}
    return sorted({term.hinge for term in closure.terms} - inboard)


def split_junctions(active: list[int], closed: list[int], closures: list[Closure], sources: list[Junction]) -> list[Junction]:
    """The junctions of one body, in sequence: loops not connected by any front never share one."""
    stages: list[Junction] = []
    still: list[Junction] = []                                          # with open columns
    passes = False  # whether loops start here or pass without being eliminated
    for loops in connected(active, sources):
        own = [source for source in sources if source.open[0] in loops]
        done = [loop for loop in closed if loop in loops]
        if not done:
            passes = True
            still += own
            continue
        stages += elimination_stages(loops, done, closures, own)
        if stages[-1].open:
            still.append(stages[-1])
    if passes or len(still) > 1:                                        # open columns continue inward together
        stages.append(Junction([loop for loop in active if loop not in closed], [], closures, still))
    elif still:
        stages.append(stages.pop(stages.index(still[0])))               # comes last
    return stages


def connected(active: list[int], sources: list[Junction]) -> list[list[int]]:
    """Loops that are connected by fronts, directly or through others."""
    group = {loop: {loop} for loop in active}
    for source in sources:
        merged = set().union(*(group[loop] for loop in source.open))
        for loop in merged:
            group[loop] = merged
    found: list[list[int]] = []
    for loop in active:
        if not any(loop in loops for loops in found):
            found.append([other for other in active if other in group[loop]])
    return found


def elimination_stages(active: list[int], closed: list[int], closures: list[Closure], sources: list[Junction]) -> list[Junction]:
    """One junction, or several if it would be wide: each joins what the next loop needs to be eliminated."""
    if len(closed) < 2 or sum(padded(closures[loop].rows) for loop in active) <= WIDE:
        return [Junction(active, closed, closures, sources)]
    stages: list[Junction] = []
    holders: dict[int, set[int]] = {}                                   # by loop: sources that contain it
    for i, source in enumerate(sources):
        for loop in source.open:
            holders.setdefault(loop, set()).add(i)
    waiting, to_close, carried = set(range(len(sources))), set(closed), set[int]()
    while to_close:
        near = {loop for loop in carried if loop in to_close} or to_close
        chosen = min(near, key=lambda loop: (len({other for i in holders.get(loop, set()) & waiting
                                                  for other in sources[i].open} - carried), loop))
        joining = holders.get(chosen, set()) & waiting
        waiting -= joining
        here = carried | {loop for i in joining for loop in sources[i].open} | {chosen}
        done = [loop for loop in active if loop in here and loop in to_close and not holders.get(loop, set()) & waiting]
        before = [stages[-1]] if carried else []
        stages.append(Junction([loop for loop in active if loop in here], done, closures, before + [sources[i] for i in joining]))
        to_close -= set(done)
        carried = here - set(done)
    left = [loop for loop in active if loop not in closed]
    if waiting or set(left) - carried:                                  # fronts that only pass, loops that start here
        before = [stages[-1]] if carried else []
        stages.append(Junction(left, [], closures, before + [sources[i] for i in sorted(waiting)]))
    return stages


def first_open(junction: Junction) -> int:
    """The first column after those eliminated."""
    return min((junction.columns[loop] for loop in junction.open), default=junction.width)


def place_fronts(fronts: Fronts, tree: Partition, ws: Sections) -> None:
    """Positions in ws: closure, multipliers, fronts, gains of hinges."""
    ws.add("closure", r.CLOSURE.size)
    fronts.size = sum(padded(closure.rows) for closure in fronts.closures)
    at = ws.add("multipliers", fronts.size)
    for closure in fronts.closures:
        fronts.multipliers.append(at)
        at += padded(closure.rows)
    start = at
    for k in sorted(fronts.junctions):
        for junction in reversed(fronts.junctions[k]):
            if junction.host is not None:                               # placed before
                junction.at = junction.host.at
            else:
                junction.at = at
                at += junction.width*(junction.width + r.FRONT_NUMBERS.size)
    ws.add("fronts", at - start)
    start = at
    for junctions in fronts.junctions.values():
        for junction in junctions:
            for k in junction.hinges:                                   # consecutive: see `sweeps.fronts.add_path_inverse_inertia`
                fronts.gains[k] = at
                at += gain_length(junction)
    for k, junction in fronts.passing.items():
        if tree.hinges[k].kind in (SPHERICAL, FREE):
            fronts.gains[k] = at
            at += 6*(junction.width - first_open(junction))             # W: a motion
    ws.add("front gains", at - start)


def gain_length(junction: Junction) -> int:
    """How many numbers a hinge of one degree of freedom stores: U of all open columns, and 1/D."""
    return junction.width - first_open(junction) + padded(1)


def runs_of(source: Junction, junction: Junction, closures: list[Closure]) -> list[list[int]]:
    """Columns of a joining front that are adjacent in both fronts, as rows of plan."""
    runs: list[tuple[int, int, int]] = []                               # first there, first here, length
    for loop in source.open:
        begin, to, rows = source.columns[loop], junction.columns[loop], closures[loop].rows
        if runs and begin - runs[-1][0] == to - runs[-1][1] == padded(runs[-1][2]):
            runs[-1] = *runs[-1][:2], padded(runs[-1][2]) + rows
        else:
            runs.append((begin, to, rows))
    return [r.RUN.row(run_from=begin, run_to=to, run_length=length) for begin, to, length in runs]


class FrontRows(NamedTuple):
    """Rows of plan for loops, junctions and fronts; and their positions for each hinge."""
    loops: list[list[int]]
    junctions: list[list[int]]
    fronts: list[list[int]]
    junction_at: dict[int, int]
    front_at: dict[int, int]


def front_rows(fronts: Fronts, at: int, between: int) -> FrontRows:
    """The first row is at `at` in plan; rows of couplings, `between` numbers long, are between those of loops and junctions."""
    loops = [loop_row(fronts, loop) for loop, closure in enumerate(fronts.closures) if not closure.terms]
    found = FrontRows(loops, [], [], {}, {})
    sources: dict[Junction, int] = {}                                   # where the source row of a front is
    at += r.LOOP.size*len(loops) + between
    for k, junctions in fronts.junctions.items():
        found.junction_at[k] = at
        starts = [at]
        for junction in junctions:
            starts.append(starts[-1] + place_sources(junction, fronts.closures, starts[-1], sources))
        for i, junction in enumerate(junctions):
            found.junctions.append(junction_row(fronts, junction, following=starts[i + 1] if i + 1 < len(junctions) else 0,
                                                previous=starts[i - 1] if i else 0, last=0 if i else starts[-2]))
        at = starts[-1]
    for k, junction in fronts.passing.items():
        found.front_at[k] = at + r.FRONT.size*len(found.fronts)
        found.fronts.append(r.FRONT.row(at=junction.at, width=junction.width, first=first_open(junction), end=junction.end,
                                        u=fronts.gains.get(k, 0), runs=sources.get(junction, 0)))
    return found


def place_sources(junction: Junction, closures: list[Closure], at: int, sources: dict[Junction, int]) -> int:
    """Note the positions of a junction's source rows if it starts at `at`; returns the length of its row."""
    end = at + r.JUNCTION.size + r.CLOSED.size*len(junction.closed)
    for source in junction.sources:
        sources[source] = end
        end += r.SOURCE.size + r.RUN.size*len(runs_of(source, junction, closures))
    return end - at


def loop_row(fronts: Fronts, loop: int) -> list[int]:
    """A loop's rows are the columns of its fronts from last to first: rotations, against which light tips are most compliant, are
    eliminated first, and seldom need sorting."""
    closure = fronts.closures[loop]
    (column_a, stride_a), (column_b, stride_b) = (first_column(fronts, loop, end) for end in (closure.a, closure.b))
    return r.LOOP.row(a=closure.a, b=closure.b, meet=closure.meet, constrained_translations=len(closure.translations),
                      constrained_rotations=closure.rotation_kind, column_a=column_a, stride_a=stride_a, column_b=column_b,
                      stride_b=stride_b, rows=closure.rows, multipliers=fronts.multipliers[loop])


def first_column(fronts: Fronts, loop: int, end: int) -> tuple[int, int]:
    """Position of the column of a loop's first row in the front of one of its ends, and that front's width; 0 on the ground."""
    if not end:
        return 0, 0
    junction = next(junction for junction in fronts.junctions[end] if loop in junction.columns)
    return junction.at + junction.width**2 + junction.columns[loop] + fronts.closures[loop].rows - 1, junction.width


def junction_row(fronts: Fronts, junction: Junction, following: int, previous: int, last: int) -> list[int]:
    row = r.JUNCTION.row(at=junction.at, width=junction.width, end=junction.end, next_junction=following,
                         previous_junction=previous, last_junction=last, n_closed=len(junction.closed),
                         n_sources=len(junction.sources))
    for loop in junction.closed:
        row += r.CLOSED.row(column=junction.columns[loop], rows=fronts.closures[loop].rows, multipliers=fronts.multipliers[loop])
    for source in junction.sources:
        runs = runs_of(source, junction, fronts.closures)
        adds = f.IN_PLACE if source.host is junction else f.ALL_OF_IT if source.fills_L else f.WITHOUT_L
        row += r.SOURCE.row(at=source.at, width=source.width, adds=adds, stride=gain_length(source), n_runs=len(runs),
                            u=fronts.gains[source.hinges[0]] - first_open(source) if source.hinges else 0,
                            hinges=len(source.hinges))
        row += [number for run in runs for number in run]
    return row
