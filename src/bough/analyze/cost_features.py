"""What the time of forward dynamics depends on: sizes of a model, of which both methods' times are weighted sums.

Each number is how often some loop of the sweeps runs, so that its weight is a time: see docs/theory/cost.md.
"""
from bough.compile.flexible_tables import inboard_shapes
from bough.compile.front_tables import first_open
from bough.compile.partition import Hinge
from bough.compile.tables import Tables
from bough.kernels.hinges import FREE, MODAL, N_SPEEDS, NODE, PRISMATIC, REVOLUTE, SPHERICAL
from bough.sweeps import fields as f
from bough.sweeps.schema import padded

Sizes = dict[str, float]
HINGES = {REVOLUTE: "revolute hinges", PRISMATIC: "prismatic hinges", SPHERICAL: "spherical hinges", FREE: "free hinges"}


def speeds_of(hinge: Hinge) -> int:
    return hinge.flexible.n_modes if hinge.kind == MODAL else 0 if hinge.kind == NODE else N_SPEEDS[hinge.kind]


def tree_sizes(tables: Tables) -> Sizes:
    """Of both methods: hinges by kind, their bodies that have mass, and branches."""
    found: Sizes = {"evaluations": 1.0, **dict.fromkeys(HINGES.values(), 0.0), "bodies": 0.0, "branches": 0.0}
    for k, hinge in enumerate(tables.parts.hinges[1:], 1):
        if hinge.kind in HINGES:
            found[HINGES[hinge.kind]] += 1
            found["bodies"] += bool(hinge.mass.any() or hinge.inertia.any())
        found["branches"] += hinge.inner != k - 1
    return found


def modal_sizes(tables: Tables) -> Sizes:
    """Of both methods: what flexible bodies need for their own motion, and nodes for theirs."""
    bodies = [hinge.flexible for hinge in tables.parts.hinges if hinge.kind == MODAL]
    nodes = [hinge.flexible for hinge in tables.parts.hinges if hinge.kind == NODE]
    full = [body for body in bodies if body.variant == "full"]
    carrying = [(body.n_modes, body.carried.count) for body in bodies]
    moving = [body for body in bodies if inboard_shapes(body)[1]]
    curved = [body.n_modes for body in nodes if body.variant == "full" and body.stiffening]
    return {
        "flexible bodies": len(bodies), "modes": sum(body.n_modes for body in bodies),
        "pairs of modes": sum(body.n_modes*padded(body.n_modes) for body in bodies),
        "deformed integrals": sum(n*padded(9*n) for n in (body.n_modes + body.carried.count for body in full)),
        "modes of full bodies": sum(body.n_modes + body.carried.count for body in full),
        "carried fields": sum(p for _, p in carrying),
        "shares of carried fields": sum(n*p*(2*padded(n) + 8) for n, p in carrying),
        "inboard nodes": len(moving), "inboard shapes": sum(body.n_modes**2 for body in moving),
        "nodes": len(nodes), "modes of nodes": sum(body.n_modes for body in nodes),
        "products of nodes": sum(body.n_modes*padded(body.n_modes) for body in nodes),
        "curved nodes": len(curved), "curves of nodes": sum(n*padded(6*n) for n in curved)}


def order_n_sizes(tables: Tables) -> Sizes:
    """Of the three sweeps alone: eliminated modes, and fronts of loops."""
    modes = [hinge.flexible.n_modes for hinge in tables.parts.hinges if hinge.kind == MODAL]
    found: Sizes = {"eliminated modes": sum(j*(padded(n) + 8 - j) for n in modes for j in range(n))} if modes else {}
    return found | (front_sizes(tables) if tables.fronts.closures else {})


def front_sizes(tables: Tables) -> Sizes:
    """Of fronts on their way inward, by the hinges and modes that they pass; and of the rows that are eliminated."""
    of_modes = ("columns of modes", "squares of modes") if tables.parts.modal else ()
    found: Sizes = dict.fromkeys(("passed hinges", "passed columns", "passed squares", *of_modes, "junctions", "joining fronts",
                                  "joined columns", "joined squares", "closed rows", "closed columns", "closed squares"), 0.0)
    for k, front in tables.fronts.passing.items():
        hinge, open_columns = tables.parts.hinges[k], front.end - first_open(front)
        speeds = max(1, speeds_of(hinge))
        if hinge.kind < MODAL:
            found["passed hinges"] += 1
            found["passed columns"] += open_columns*(1 + speeds)/2
            found["passed squares"] += speeds*open_columns**2/2
        else:
            n = hinge.flexible.n_modes
            found["columns of modes"] += n*open_columns*(1 + n/4*(hinge.kind == MODAL))
            found["squares of modes"] += n*open_columns**2/2
    for junction in (junction for junctions in tables.fronts.junctions.values() for junction in junctions):
        found["junctions"] += 1
        for source in junction.sources:
            columns = 0 if source.host is junction else source.end - first_open(source)
            found["joining fronts"] += 1
            found["joined columns"] += columns
            found["joined squares"] += columns**2 if source.fills_L else 0
        for loop in junction.closed:
            rows = tables.fronts.closures[loop].rows
            found["closed rows"] += rows
            found["closed columns"] += rows*(junction.end - junction.columns[loop])
            found["closed squares"] += rows*(junction.end - junction.columns[loop])**2/2
    return found


def dense_sizes(tables: Tables) -> Sizes:
    """Of the mass matrix and its factors alone: columns carried to the root, entries, rows of factors, multipliers of loops."""
    nv, hinges = tables.size(f.NV), tables.parts.hinges
    depth, above, modes_above = [0]*len(hinges), [0]*len(hinges), [0]*len(hinges)
    found: Sizes = dict.fromkeys(("carried columns", "entries"), 0.0)
    if tables.parts.modal:
        found["entries of modes"] = 0.0
    for k, hinge in enumerate(hinges[1:], 1):
        i, speeds = hinge.inner, speeds_of(hinge)
        depth[k], above[k] = depth[i] + 1, above[i] + (speeds if hinge.kind < MODAL else 0)
        modes_above[k] = modes_above[i] + (hinge.flexible.n_modes if hinge.kind == NODE else 0)
        found["carried columns"] += speeds*depth[k]
        found["entries"] += speeds*above[k]
        if tables.parts.modal:
            found["entries of modes"] += speeds*modes_above[k]
    found |= {"rows of the mass matrix": nv, "squares of it": nv*nv/2, "cubes of it": nv**3/6}
    if tables.size(f.N_WHEELS):
        found["carried columns"] += len(hinges)                             # motion once more
    return found | (multiplier_sizes(tables, depth) if tables.fronts.closures else {})


def multiplier_sizes(tables: Tables, depth: list[int]) -> Sizes:
    """Of the multipliers of loops out of the factors of the mass matrix."""
    nv, m = tables.size(f.NV), tables.fronts.size
    paths = sum(c.rows*(depth[c.a] + depth[c.b] - 2*depth[c.meet]) for c in tables.fronts.closures)
    return {"loops": len(tables.fronts.closures), "paths of loops": paths, "multipliers": m, "Jacobian": m*nv,
            "transformed Jacobian": m*nv*nv/2, "products of rows": m*m*nv/2, "squares of multipliers": m*m/2,
            "cubes of multipliers": m**3/6}


def sizes(tables: Tables, method: str) -> Sizes:
    """By name, of "order-n" or "dense"."""
    return (tree_sizes(tables) | (modal_sizes(tables) if tables.parts.modal else {})
            | (order_n_sizes(tables) if method == "order-n" else dense_sizes(tables)))


def form(tables: Tables) -> str:
    """Which code a model compiles to: what no body and no loop of it needs is not there."""
    return f"{'flexible' if tables.parts.modal else 'rigid'} {'loops' if tables.fronts.closures else 'trees'}"
