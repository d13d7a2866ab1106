"""Couplings as the numbers that `sweeps.couplings` reads: coordinates, factors and columns of each."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bough.compile.coordinates import coordinate_place, holdable
from bough.compile.front_tables import ends_of, first_column, first_open
from bough.compile.loop_tables import Closure, Term, common_hinge
from bough.compile.partition import Partition
from bough.describe import Coupling, System
from bough.errors import ModelError
from bough.kernels.hinges import PRISMATIC, REVOLUTE
from bough.sweeps import fields as f, records as r
from bough.sweeps.couplings import APART
from bough.sweeps.schema import Floats

if TYPE_CHECKING:
    from bough.compile.workspace_layout import WorkspaceLayout

BETWEEN = "~"               # mark of elastic teeth without contact on either flank
ROUNDING = 1e-9             # of the size of a row: remainder of a row that depends on others


def build_coupling(system: System, coupling: Coupling, tree: Partition) -> Closure:
    """A coupling as a closure with terms; its row is divided by its largest factor."""
    hinge_of = {hinge.v: k for k, hinge in enumerate(tree.hinges) if hinge.kind in (REVOLUTE, PRISMATIC)}
    largest, terms = max(map(abs, coupling.terms.values())), list[Term]()
    for name, (given, factor) in zip(coupling.coordinates(system), coupling.terms.items(), strict=True):
        q, v = coordinate_place(system, given)
        terms.append(Term(name, hinge_of[v], factor/largest, q, v))
    meet = tree.hinges[terms[0].hinge].inner
    for term in terms[1:]:
        meet = common_hinge(tree, meet, tree.hinges[term.hinge].inner)
    if not largest < 1e100:
        raise ModelError(f"coupling '{coupling.name}': it has a factor of {largest:.3g}; give factors below 1e100")
    numbers = r.COUPLING_PARAMETERS.pack(
        offset=sum_of(system, coupling)/largest, stiffness=(coupling.stiffness or 0.0)*largest**2,
        damping=coupling.damping*largest**2, preload=coupling.preload*largest, play=0.5*coupling.backlash/largest)
    return Closure(coupling.name, 0, 0, meet, np.zeros((0, 3)), f.NO_ROTATION, ("relation",), numbers, tuple(terms),
                   loose=not coupling.rigid)


def sum_of(system: System, coupling: Coupling) -> float:
    """Sum of factors times coordinates."""
    total = coupling.total
    if coupling.reference == "initial":
        places = {name: i for body in system.bodies.values() for i, name in enumerate(body.speed_names)}
        for (given, factor), name in zip(coupling.terms.items(), coupling.coordinates(system), strict=True):
            body = next(body for body in system.bodies.values() if name in body.speed_names)
            if body.joint.prescribed[places[name]]:
                raise ModelError(f"coupling '{coupling.name}': its reference is the initial state, but '{given}' is prescribed; "
                                 "give the reference 'zero' and an offset")
            total += factor*(body.joint.q0[places[name]] if body.joint.q0 else 0.0)
    return total


# ---- records ---------------------------------------------------------------------------------------------------------------
class CouplingRows(NamedTuple):
    """Rows of plan and pars, of couplings and of their coordinates."""
    rows: list[list[int]]
    coupled: list[list[int]]
    pars: list[Floats]
    factors: list[Floats]


def coupling_rows(system: System, tree: Partition, layout: "WorkspaceLayout") -> CouplingRows:
    """Rows of all couplings; an elastic one, or one with play, does not constrain."""
    found, q, v, given, fronts = CouplingRows([], [], [], []), layout.x, layout.x + layout.nq, layout.given, layout.fronts
    running = layout.frictions.stop > layout.frictions.start
    played = [name for name, coupling in system.couplings.items() if coupling.touches]
    held = {coordinate.v for coordinate in holdable(system).values()}
    places = {closure.name: i for i, closure in enumerate(fronts.closures) if closure.terms}
    for name, coupling in system.couplings.items():
        i = places.get(name)
        closure = build_coupling(system, coupling, tree) if i is None else fronts.closures[i]
        column, stride = (0, 0) if i is None else first_column(fronts, i, ends_of(closure, tree)[0])
        state = layout.x + layout.frictions.stop - len(played) + played.index(name) if coupling.touches and running else 0
        found.rows.append(r.COUPLING.row(first=len(found.coupled), terms=len(closure.terms), bias=column + 6*stride,
                                         multiplier=0 if i is None else fronts.multipliers[i], acts=coupling.rigid, side=0,
                                         state=state))
        found.pars.append(closure.parameters)
        for term in closure.terms:
            gains = 0
            if i is not None:
                junction = fronts.passing[term.hinge]
                gains = fronts.gains[term.hinge] - first_open(junction) + junction.columns[i]
            found.coupled.append(r.COUPLED.row(q=q + term.q, v=v + term.v, tau=layout.u + term.v, u=gains,
                                               given=given + term.v if term.v in held else 0))
            found.factors.append(r.COUPLED_PARAMETERS.pack(factor=term.factor))
    return found


def switch_couplings(rows: NDArray[np.int64], couplings: Mapping[str, Coupling], marks: Sequence[str]) -> int:
    """In copied rows: mark the couplings with play that are in contact, at "name+" or "name-", and watched elastic teeth that are
    not, "name~"; returns the number of hard contacts."""
    known, touching = set(marks), 0
    for row, coupling in zip(rows, couplings.values(), strict=True):
        row[f.COUPLING_SIDE] = (coupling.name + "+" in known) - (coupling.name + "-" in known)
        if coupling.name + BETWEEN in known:
            row[f.COUPLING_SIDE] = APART
        if coupling.touches:
            row[f.COUPLING_ACTS] = abs(row[f.COUPLING_SIDE])
            touching += int(row[f.COUPLING_ACTS])
    return touching


# ---- contradictions --------------------------------------------------------------------------------------------------------
def check_couplings(closures: Sequence[Closure]) -> None:
    """Raise for couplings that contradict each other, or that leave a coordinate no freedom."""
    couplings = [closure for closure in closures if closure.terms and not closure.loose]
    if not couplings:
        return
    names = list(dict.fromkeys(term.name for closure in couplings for term in closure.terms))
    C = np.zeros((len(couplings), len(names)))
    for row, closure in zip(C, couplings, strict=True):
        for term in closure.terms:
            row[names.index(term.name)] += term.factor
    offsets = np.array([closure.parameters[0, f.COUPLING_OFFSET] for closure in couplings])
    left, sizes, right = np.linalg.svd(C)
    rank = int((sizes > ROUNDING*sizes[0]).sum())
    for combination in left[:, rank:].T:                                    # combinations of rows of the form 0 = nonzero
        if abs(combination @ offsets) > ROUNDING*max(1.0, float(np.abs(offsets).max())):
            involved = [c.name for c, share in zip(couplings, combination, strict=True) if abs(share) > ROUNDING]
            raise ModelError(f"couplings {quoted(involved)} contradict each other: no position keeps all of them; mend their "
                             "factors or offsets, or leave one out")
    held = [name for name, share in zip(names, (right[:rank]**2).sum(axis=0), strict=True) if share > 1.0 - ROUNDING]
    if held:
        involved = [c.name for c in couplings if any(term.name in held for term in c.terms)]
        raise ModelError(f"couplings {quoted(involved)} contradict each other: together they leave '{held[0]}' nowhere to move; "
                         "leave one out, or lock the coordinate if that is meant")


def quoted(names: Sequence[str]) -> str:
    return ", ".join(f"'{name}'" for name in names[:-1]) + f" and '{names[-1]}'" if len(names) > 1 else f"'{names[0]}'"
