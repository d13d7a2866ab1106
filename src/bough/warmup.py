"""`bough warmup`: compile kernels before they are needed, in parallel processes.

Kernels serve all models; sweeps are compiled for each set of features and lane width, and once more for batches whose runs have
parameters of their own.  What is compiled already is skipped.
"""

import os
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from itertools import product
from multiprocessing import get_context, parent_process
from pathlib import Path
from threading import Thread
from typing import NamedTuple

import numpy as np

from bough.describe import Free, Revolute, System
from bough.errors import BoughError, similar
from bough.files import read_system
from bough.integrate import integrate
from bough.kernels.jit import cache_problem
from bough.kernels.lanes import Features
from bough.kernels.linker import compiled_address, sweeps_for
from bough.progress import quiet, working

LANES = {"one": (1, False), "four": (4, False), "parameters": (4, True)}  # width, whether each run has its own parameters
METHODS = ("order-n", "dense", "cloud")
NAMES = ("rigid", *Features._fields)


class Job(NamedTuple):
    """Work of one process: the kernels of a lane width, or the sweeps of a feature set."""

    features: Features | None
    lanes: str
    methods: tuple[str, ...]

    def __str__(self) -> str:
        return f"{'kernels' if self.features is None else self.features}, {self.lanes}"


def warm_up(names: Sequence[str] = (), *, lanes: Sequence[str] = tuple(LANES), methods: Sequence[str] = METHODS,
            processes: int | None = None) -> list[Job]:
    """Compile what models need, and return the jobs that were done.

    Parameters
    ----------
    names
        Sets of features, as in "rigid", "flexible" or "flexible+loops+implicit", and files of models; if empty, all sets of
        explicit methods.
    lanes
        Out of "one" (a state at a time), "four" (batches) and "parameters" (batches whose runs have their own).
    methods
        Methods of dynamics, out of "order-n", "dense" and "cloud".
    processes
        How many run in parallel; as many as there are processors if not given.
    """
    _check("lanes", lanes, LANES)
    _check("methods", methods, METHODS)
    problem = cache_problem()
    if problem:
        raise BoughError(f"warmup: {problem}; set BOUGH_CACHE_DIR to a folder of your own")
    widths = [lane for lane in lanes if lane != "parameters"] or ["four"]
    kernels = [Job(None, lane, tuple(methods)) for lane in widths]
    sweeps = [Job(features, lane, tuple(methods)) for features, lane in product(feature_sets(names), lanes)]
    workers = processes or os.cpu_count() or 1
    with ProcessPoolExecutor(workers, get_context("spawn"), end_with_parent) as pool, working("compiling") as bar:
        pending = [pool.submit(compile_job, job) for job in (*kernels, *sweeps)]
        for done, future in enumerate(as_completed(pending), 1):
            future.result()
            bar(done / len(pending))
    return [*kernels, *sweeps]


def end_with_parent() -> None:
    """End this worker when the process that started it is gone: those of a killed process would wait for work for ever."""
    parent = parent_process()

    def watch() -> None:
        if parent is not None:
            parent.join()
            os._exit(1)
    Thread(target=watch, daemon=True).start()


def feature_sets(names: Sequence[str]) -> list[Features]:
    """The sets that are named; if none is, all sets without drives, which name themselves: "loops+holds+drives".

    >>> [str(features) for features in feature_sets(["rigid", "flexible+loops"])]
    ['rigid', 'flexible+loops']
    >>> len(feature_sets([]))
    8
    """
    if not names:
        return [Features(*chosen) for chosen in product((False, True), repeat=3)]     # explicit methods, without drives
    return list(dict.fromkeys(_features(name) for name in names))


def _features(name: str) -> Features:
    if Path(name).suffix:
        return read_system(Path(name)).compile().tables.features
    parts = name.split("+")
    _check("warmup", parts, NAMES)
    return Features(**{part: True for part in parts if part != "rigid"})


def _check(what: str, given: Sequence[str], known: Sequence[str] | dict[str, tuple[int, bool]]) -> None:
    for name in given:
        if name not in known:
            raise BoughError(f"{what}: there is no '{name}'{similar(name, known)}; give {', '.join(known)}, or leave it out")


def compile_job(job: Job) -> None:
    """Do one job, in the process that this is called in."""
    with quiet():
        if job.features is None:
            use_kernels(LANES[job.lanes][0])
            return
        width, own = LANES[job.lanes]
        for sweep in sweeps_for(job.features, job.methods):
            compiled_address(sweep, job.features, width, own)


def use_kernels(width: int) -> None:
    """Call everything that a model offers, and all integrators, on a small system."""
    system = System("warmup")
    system.body("base", joint=Free(), mass=1.0, inertia=(1.0, 1.0, 1.0))
    system.body("arm", parent="base", joint=Revolute("y"), mass=1.0, com=(0.1, 0.0, 0.0), inertia=(1.0, 1.0, 1.0))
    model = system.compile()
    q, v = model.assemble()
    if width > 1:
        q, v = np.tile(q, (width, 1)), np.tile(v, (width, 1))
    a = model.forward_dynamics(q, v)
    model.inverse_dynamics(q, v, a)
    model.reactions(q, v, a)
    model.mass_matrix(q)
    model.bodies(q, v, a)
    model.frames(q)
    model.jacobian(q, "arm")
    if width == 1:
        model.operators(q, v, whole=True).inverse @ v
        model.operators(q, v).inverse @ v
    for method in ("rk4", "imex2"):
        integrate(model, q0=q, v0=v, until=1e-3, dt=1e-3, method=method)
    for method in ("dopri5", "imex43", "radau"):
        integrate(model, q0=q, v0=v, until=1e-3, first_step=1e-3, method=method)
