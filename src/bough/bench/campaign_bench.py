"""`bough bench campaign`: dispersed runs of a tree on cores and on a Dask cluster, beside bare kernels and MuJoCo's rollout."""
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np

from bough.bench import campaign_plan
from bough.bench.mechanisms import tree36
from bough.bench.setups import random_states, versions
from bough.campaign.block import integrate
from bough.campaign.campaign_report import Report
from bough.campaign.runner import run_campaign
from bough.campaign.study import Campaign
from bough.describe import Revolute, System
from bough.model import Model
from bough.peers import installed

STEPS, DT, VARIED, ROUNDS = 1000, 1e-3, 5, 3


def campaign(*, quick: bool = False, plan: bool = False, million: bool = False) -> dict[str, Any]:
    """Measure; {"versions": ..., "runs": ..., "seconds": {what: {"cpu", "wall"}}, ratios}: the least of some rounds, in which all
    take their turns; or plan, see `campaign_plan`; or stream a million samples through the memory there is."""
    if plan:
        return campaign_plan.plan(quick=quick)
    if million:
        return stream(100_000 if quick else 1_000_000)
    runs = 200 if quick else 1000
    study = dispersed(runs)
    with ExitStack() as stack:
        folder, turn = Path(stack.enter_context(tempfile.TemporaryDirectory())), count()

        def store() -> Path:
            return folder/str(next(turn))

        run_campaign(dispersed(8), store(), threads=1, block=8, progress=False)             # kernels are compiled
        works: dict[str, Callable[[], Any]] = {
            "bare kernels": lambda: integrate(study, *study.members.rows(np.arange(runs), study.drawn(np.arange(runs)))),
            "one thread": lambda: run_campaign(study, store(), threads=1, progress=False),
            "two threads": lambda: run_campaign(study, store(), threads=2, progress=False)}
        if (client := campaign_plan.cluster(stack)) is not None:
            run_campaign(dispersed(16), store(), client=client, block=4, progress=False)    # on the workers, too
            works["two Dask workers"] = lambda: run_campaign(study, store(), client=client, progress=False)
        if "mujoco" in installed():
            works["MuJoCo's rollout"] = rollout(study.model, runs)
        found: dict[str, dict[str, float]] = {}
        for _ in range(1 if quick else ROUNDS):
            for what, work in works.items():
                new, old = measured(work), found.get(what, {})
                found[what] = {key: min(value, old.get(key, np.inf)) for key, value in new.items()}
    found.get("two Dask workers", {}).pop("cpu", None)                                      # of this process only
    return {"unit": f"seconds of {runs} runs of {STEPS} steps of RK4 of tree36, {VARIED} masses and the start dispersed",
            "versions": versions(), "runs": runs, "seconds": found, **ratios(found)}


def ratios(found: dict[str, dict[str, float]]) -> dict[str, float]:
    """Ratios: CPU time against MuJoCo's, wall time on two cores, overheads."""
    one, two, bare = found["one thread"], found["two threads"], found["bare kernels"]
    more = {"wall, one thread / two": one["wall"]/two["wall"], "overhead over bare kernels": one["cpu"]/bare["cpu"] - 1.0}
    if "two Dask workers" in found:
        more["overhead of Dask over threads"] = found["two Dask workers"]["wall"]/two["wall"] - 1.0
    if "MuJoCo's rollout" in found:
        more["CPU, MuJoCo / bough"] = found["MuJoCo's rollout"]["cpu"]/one["cpu"]
    return more


def measured(work: Callable[[], Any]) -> dict[str, float]:
    wall, cpu = time.perf_counter(), time.process_time()
    work()
    return {"cpu": time.process_time() - cpu, "wall": time.perf_counter() - wall}


def dispersed(runs: int) -> Campaign:
    system = tree36()
    system.simulation(until=STEPS*DT, dt=DT, sample_rate=10)
    bodies, [joint] = list(system.bodies)[-VARIED:], system.compile().names.q[-1:]
    vary: dict[str, Any] = {f"{name}.mass": ("scale", {"normal": [1.0, 0.02]}) for name in bodies}
    vary |= {f"{name}.v0[0]": {"normal": [0.0, 0.1]} for name in bodies}
    return Campaign(system, vary=vary, samples=runs, metrics={"peak": f"peak({joint})", "end": f"final({joint})"})


def stream(samples: int) -> dict[str, Any]:
    """Samples of a pendulum with two metrics and a history each, and their page: seconds, and the most memory of this process."""
    import resource

    system = System("pendulum", gravity=(0, 0, -9.81))
    system.body("bob", joint=Revolute("y", q0=0.1, damping=0.05), mass=2.0, com=(0, 0, -1))
    system.simulation(until=1.0, dt=0.01, sample_rate=20)
    vary = {"bob.mass": {"uniform": [1, 3]}, "bob.q0": {"normal": [0.1, 0.01]}, "bob.damping": {"uniform": [0, 0.1]}}
    study = Campaign(system, vary=vary, samples=samples, metrics={"swing": "peak(bob.ry)", "end": "final(bob.ry)"}, keep=["bob.ry"])
    with tempfile.TemporaryDirectory() as folder:
        ran = measured(lambda: run_campaign(study, Path(folder)/"store"))
        store = study.open_store(Path(folder)/"store")
        page = measured(lambda: Report(store).write(Path(folder)/"page.html"))
        done, failed = int((store.status() > 0).sum()), store.failed()
    unit = 1.0 if sys.platform == "darwin" else 1024.0
    return {"unit": f"{samples:,} samples of a pendulum, 100 steps of RK4 each", "versions": versions(), "samples": done,
            "failed": failed, "seconds": ran, "samples per second": done/ran["wall"], "seconds of the page": page,
            "peak memory, MB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss*unit/1e6}


def rollout(model: Model, runs: int) -> Callable[[], Any]:
    """The same number of runs and steps by MuJoCo's own loop over states, in one thread."""
    import mujoco
    from mujoco import rollout as mujoco_rollout

    from bough.peers.mujoco import MujocoLoop
    q, v, _ = (rows[0] for rows in random_states(model, 1))
    peer = MujocoLoop(model.system, q, v, DT, STEPS)
    state = np.zeros(mujoco.mj_stateSize(peer.model, mujoco.mjtState.mjSTATE_FULLPHYSICS))
    mujoco.mj_getState(peer.model, peer.data, state, mujoco.mjtState.mjSTATE_FULLPHYSICS)
    starts = np.tile(state, (runs, 1))
    return lambda: mujoco_rollout.rollout(peer.model, peer.data, starts, nstep=STEPS)
