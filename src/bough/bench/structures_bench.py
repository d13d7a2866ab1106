"""`bough bench structures`: 100,000 dofs out of files: read, checked, reduced to 20 modes and 3 interfaces, kept, opened."""
import resource
import sys
import time
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from scipy.sparse import tril

from bough.bench.setups import versions
from bough.flex import FlexibleBody, box, read_calculix, solid_model

SIZE = (1.2, 0.6, 0.08)                                      # m: a thick panel of quadratic tetrahedra
CELLS, QUICK = (44, 22, 4), (12, 6, 2)
INTERFACES = {"hinge": "LEFT", "lock": "RIGHT", "boom": "MIDDLE"}
MODES = 20


def write_panel(folder: Path, cells: tuple[int, int, int]) -> int:
    """The files that CalculiX would write of a panel with three sets of nodes; the number of its dofs."""
    mesh = box(SIZE, cells).to_meshtet()
    model = solid_model(mesh, E=7e10, nu=0.33, density=450.0, attach={}, order=2)
    x, y, _ = model.position.T
    spots = {"LEFT": x < 1e-9, "RIGHT": x > SIZE[0] - 1e-9, "MIDDLE": (abs(y) < 1e-9) & (abs(x - SIZE[0]/2) < SIZE[0]/7)}
    lines = ["*NODE", *(f"{i + 1},{','.join(f'{each:.9g}' for each in place)}" for i, place in enumerate(model.position.tolist()))]
    corners = np.hstack([mesh.t.T, mesh.p.shape[1] + mesh.t2e.T]) + 1
    lines += ["*ELEMENT,TYPE=C3D10", *(f"{i + 1},{','.join(map(str, row))}" for i, row in enumerate(corners.tolist()))]
    for name, there in spots.items():
        lines += [f"*NSET,NSET={name}", *(f"{node + 1}," for node in np.flatnonzero(there))]
    (folder/"panel.inp").write_text("\n".join(lines))
    for suffix, matrix in ((".sti", model.stiffness), (".mas", model.mass)):
        entries = tril(matrix).tocoo()
        rows = zip(*(each.tolist() for each in (*entries.coords, entries.data)), strict=True)
        (folder/f"panel{suffix}").write_text("\n".join(f"{i + 1} {j + 1} {value:.13e}" for i, j, value in rows))
    (folder/"panel.dof").write_text("\n".join(f"{i//3 + 1}.{i % 3 + 1}" for i in range(model.n_dofs)))
    return model.n_dofs


def from_files(folder: Path) -> dict[str, Any]:
    """Read, check, reduce and reopen the structure; wall and CPU seconds of each part."""
    found: dict[str, Any] = {}

    def timed(name: str, work: Any) -> Any:
        start = time.perf_counter(), time.process_time()
        result = work()
        found[name] = {"s": time.perf_counter() - start[0], "cpu_s": time.process_time() - start[1]}
        return result

    model = timed("read", lambda: read_calculix(folder/"panel", attach=INTERFACES, inboard="hinge"))
    report = timed("check", lambda: model.check(modes=MODES))
    names = [name for name in INTERFACES if name != "hinge"]
    body = timed("reduce", lambda: model.reduce("craig-bampton", modes=MODES, interfaces=names))
    body.save(folder/"panel.npz")
    timed("open", lambda: FlexibleBody.load(folder/"panel.npz"))
    found["modes"], found["problems"] = body.n_modes, len(report.problems)
    largest = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    found["peak_GB"] = largest/(1e9 if sys.platform == "darwin" else 1e6)
    return found


def structures(*, quick: bool = False) -> dict[str, Any]:
    """Measure in a process of its own; {"dofs", "read": {"s", "cpu_s"}, "check": ..., "reduce": ..., "open": ..., "peak_GB"}."""
    with TemporaryDirectory() as folder:
        dofs = write_panel(Path(folder), QUICK if quick else CELLS)
        with get_context("spawn").Pool(1) as pool:
            found = pool.apply(from_files, (Path(folder),))
    total = sum(found[each]["s"] for each in ("read", "check", "reduce"))
    return {"unit": "seconds", "versions": versions(), "dofs": dofs, **found, "total_s": total}
