"""All of d(v')/d(q, v, tau) of a tree at once, by the fastest kernel that applies."""

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from bough.compile.batch import Batch
from bough.compile.compiled_model import CompiledModel
from bough.compile.kernel_calls import run, workspace
from bough.compile.layout import Floats
from bough.compile.tables import Tables
from bough.kernels.hinges import FREE
from bough.kernels.lanes import DUAL, GIVEN, ONE, PLAIN, aligned
from bough.kernels.linker import link
from bough.sweeps import columns, dual_columns, fields as f, pairs, records as r
from bough.sweeps.schema import padded

MANY = 48                   # speeds beyond which the columns of four states no longer stay in a fast cache


def applies(model: CompiledModel, batch: Batch) -> bool:
    """Whether the model is a tree whose only loads are gravity and the torques, springs and dampers of joints."""
    return not (batch.tables.features.loops or model.holds or model.nw or batch.tables.size(f.HAS_LOADS) or model.layout.law_states)


class Columns:
    """Speeds of a tree in the order of its hinges, and where intermediate results are in ws."""

    def __init__(self, tables: Tables) -> None:
        self.rows = speed_rows(tables)
        n, hinges = len(self.rows), len(tables.tree.hinges)
        start = padded(tables.size(f.WS_SIZE) + tables.features.flexible*n*n)       # the mass matrix comes first
        width = padded(1 + max((row["depth"] for row in self.rows), default=0))
        moved = [k for k, hinge in enumerate(tables.tree.hinges) if hinge.kind == FREE]    # these have two places
        sizes = {"h": pairs.BODY*(hinges + len(moved)), "t": pairs.SPEED_NUMBERS*padded(n), "torques": n, "inertias": n,
                 "p": width*padded(n), "l": n*n,
                 "b": 3*-(-n//8)*8*padded(n), "scratch": pairs.SCRATCH}
        places, at = {}, start
        for name, size in sizes.items():
            places[name], at = at, at + padded(size)
        self.extra = at - tables.size(f.WS_SIZE)
        firsts, of_v = np.zeros(hinges, int), np.zeros(n, int)
        for s, row in reversed(list(enumerate(self.rows))):
            firsts[row["hinge"]], of_v[row["v"]] = s, s
        head, paths = r.COLUMNS.size, [entry for row in self.rows for entry in row["path"]]
        first_hinge = head + r.SPEED.size*padded(n)
        first_path = first_hinge + hinges + n
        starts = first_path + np.cumsum([0, *(len(row["path"]) for row in self.rows)])
        speeds = [r.SPEED.row(hinge=row["hinge"], component=row["component"], v=row["v"], end=row["end"], depth=row["depth"],
                              path=int(path), **moving(tables, row, places["h"], moved), **whole_packs(s, row, n))
                  for s, (row, path) in enumerate(zip(self.rows, starts, strict=False))]
        speeds += speeds[-1:]*(padded(n) - n)
        first_group = first_path + len(paths)
        lists = visited_lists(tables, self.rows)
        starts_of_lists = first_group + 2*len(lists) + np.cumsum([0, *(len(each) for each in lists)])
        groups = [entry for at, each in zip(starts_of_lists, lists, strict=False) for entry in (int(at), len(each)//2)]
        columns_row = r.COLUMNS.row(
            speeds=n, padded=padded(n), width=width, at=head, firsts=first_hinge, of_v=first_hinge + hinges,
            same=int((of_v == np.arange(n)).all()), groups=first_group, **places)
        self.route = np.array([*columns_row, *(entry for row in speeds for entry in row), *firsts, *of_v, *paths, *groups,
                               *(entry for each in lists for entry in each)], np.int64)


def moving(tables: Tables, row: dict[str, Any], bodies: int, moved: list[int]) -> dict[str, int]:
    """Places in ws of the motion of the inner body of a speed, of its outer body, and of sums over the subtree.  A free hinge also
    has an intermediate body, translated but not rotated."""
    k, hinges = row["hinge"], tables.tree.hinges
    inner, outer = hinges[k].inner, k
    if k in moved:
        halfway = len(hinges) + moved.index(k)
        inner, outer = (inner, halfway) if row["component"] < 3 else (halfway, k)
    return {"inner": bodies + pairs.BODY*inner + pairs.SPATIAL_V, "outer": bodies + pairs.BODY*outer + pairs.SPATIAL_V,
            "sums": bodies + pairs.BODY*k}


def whole_packs(s: int, row: dict[str, Any], n: int) -> dict[str, int]:
    """The range of entries of a speed with its descendants that can be written in whole packs of four: entries before it only if
    all of these are on its path and therefore written later, entries after its descendants only if there are none."""
    first, end = s - s % 4, row["end"]
    return {"writes": first if set(range(first, s)) <= set(row["path"]) else s, "until": end if end < n else padded(n)}


def speed_rows(tables: Tables) -> list[dict[str, Any]]:
    """For each speed: its hinge, its index in the hinge, its place in v, the speeds on its path, and the end of its descendants."""
    hinges, rows, path_of = tables.tree.hinges, list[dict[str, Any]](), {0: list[int]()}
    for k, hinge in enumerate(hinges):
        if k == 0:
            continue
        path = list(path_of[hinge.inner])
        for component in range(hinge.n_speeds):
            rows.append({"hinge": k, "component": component, "v": hinge.v + component, "depth": len(path), "path": list(path)})
            path.append(len(rows) - 1)
        path_of[k] = path
    ends = [s + 1 for s in range(len(rows))]
    for s in range(len(rows) - 1, -1, -1):
        for inner in rows[s]["path"]:
            ends[inner] = max(ends[inner], s + 1)
    return [row | {"end": end} for row, end in zip(rows, ends, strict=True)]


def visited_lists(tables: Tables, rows: list[dict[str, Any]]) -> list[list[int]]:
    """For each four speeds, the hinges in their subtrees, inner before outer, each with a flag: its inner hinge is also listed."""
    inner, found = [hinge.inner for hinge in tables.tree.hinges], []
    for first in range(0, len(rows), 4):
        visited = {row["hinge"] for row in rows[first:first + 4]}
        for k in range(min(visited), len(inner)):
            if inner[k] in visited:
                visited.add(k)
        found.append([entry for k in sorted(visited) for entry in (k, int(inner[k] in visited))])
    return found


def columns_of(tables: Tables) -> Columns:
    if "columns" not in tables.routes:
        tables.routes["columns"] = Columns(tables)
    return tables.routes["columns"]


def columns_call(model: CompiledModel, batch: Batch, plain: Any, dual: Any, *more: Any) -> partial[Any]:
    """The kernel for rigid trees, or the one for trees with flexible bodies, which also needs a workspace of duals; without its
    last arguments, one state and the output array."""
    found, tables = columns_of(batch.tables), batch.tables
    if model.nv > MANY:
        batch = replace(batch, lanes=ONE)
    if not tables.features.flexible:
        return model.bound(plain, batch, batch.t, batch.x, batch.u, *more, found.route, extra=found.extra)
    base, ws = workspace(tables, ONE, found.extra), workspace(tables, DUAL)
    table, plan, pars, data = link(tables.features, tables.plan, tables.pars, tables.tables, base)
    duals = link(tables.features, tables.plan, tables.pars, tables.tables, ws)[0]
    return partial(dual, table, duals, plan, pars, data, batch.t, batch.x, batch.u, *more, found.route, ws, base)


def forward_call(model: CompiledModel, batch: Batch) -> partial[Any]:
    """The kernel of v' and its derivatives by q, v and tau; it returns the number of ill-conditioned results."""
    return columns_call(model, batch, columns.forward_partials, dual_columns.forward_dual_columns)


def inverse_call(model: CompiledModel, batch: Batch, a: Floats) -> partial[Any]:
    """The same for torques by q, v and v'."""
    return columns_call(model, batch, columns.inverse_partials, dual_columns.inverse_dual_columns, a)


def answer_length(n: int) -> int:
    """Length of a result row: n numbers, three matrices, and padding for the last pack."""
    return n + 3*n*n + 3


def in_rows(call: partial[Any], out: Floats) -> partial[Any]:
    """A call on states that are already in their rows, with results in `out`."""
    return partial(call, np.zeros_like(PLAIN), GIVEN, GIVEN, GIVEN, out)


def partials(call: partial[Any], batch: Batch, n: int) -> tuple[Floats, Floats, int]:
    """Values (batch, n), their derivatives (batch, 3, n, n), and the number of ill-conditioned results."""
    out = aligned((batch.n, answer_length(n)))
    doubtful = run(in_rows(call, out))
    return out[:, :n], out[:, n:-3].reshape(batch.n, 3, n, n), doubtful
