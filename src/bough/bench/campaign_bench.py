"""`bough bench campaign`: dispersed runs of a tree on cores and on a Dask cluster, beside bare kernels and MuJoCo's rollout."""
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from bough.bench import campaign_plan
from bough.bench.mechanisms import tree36
from bough.bench.setups import random_states, versions
from bough.campaign.block import integrate
from bough.campaign.runner import run_campaign
from bough.campaign.study import Campaign
from bough.describe import System
from bough.model import Model
from bough.peers import installed

STEPS, DT, VARIED = 1000, 1e-3, 5


def campaign(*, quick: bool = False, plan: bool = False) -> dict[str, Any]:
    """Measure; {"versions": ..., "runs": ..., "seconds": {what: {"cpu", "wall"}}, ratios}; or plan, see `campaign_plan`."""
    if plan:
        return campaign_plan.plan(quick=quick)
    runs = 200 if quick else 1000
    study = dispersed(runs)
    run_campaign(dispersed(8), None, threads=1, block=8, progress=False)                    # kernels are compiled
    found = {"bare kernels": measured(lambda: integrate(study, rows_of(study, runs))),
             "one thread": measured(lambda: run_campaign(study, None, threads=1, progress=False)),
             "two threads": measured(lambda: run_campaign(study, None, threads=2, progress=False))}
    if (cluster := on_cluster(study)) is not None:
        found["two Dask workers"] = cluster
    if "mujoco" in installed():
        found["MuJoCo's rollout"] = measured(rollout(study.model, runs))
    return {"unit": f"seconds of {runs} runs of {STEPS} steps of RK4 of tree36, {VARIED} masses and the start dispersed",
            "versions": versions(), "runs": runs, "seconds": found, **ratios(found)}


def ratios(found: dict[str, dict[str, float]]) -> dict[str, float]:
    """What is asked for: CPU against MuJoCo's, wall time on two cores, overheads."""
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


def described() -> System:
    system = tree36()
    system.simulation(until=STEPS*DT, dt=DT, sample_rate=10)
    return system


def dispersed(runs: int) -> Campaign:
    system = described()
    bodies, [joint] = list(system.bodies)[-VARIED:], system.compile().names.q[-1:]
    vary: dict[str, Any] = {f"{name}.mass": ("scale", {"normal": [1.0, 0.02]}) for name in bodies}
    vary |= {f"{name}.v0[0]": {"normal": [0.0, 0.1]} for name in bodies}
    return Campaign(system, vary=vary, samples=runs, metrics={"peak": f"peak({joint})", "end": f"final({joint})"})


def rows_of(study: Campaign, runs: int) -> Any:
    [rows] = study.members.rows(np.arange(runs), study.drawn(np.arange(runs)))
    return rows


def on_cluster(study: Campaign) -> dict[str, float] | None:
    """On two processes, warm; CPU is not known here."""
    try:
        from dask import distributed
    except ImportError:
        return None
    dask: Any = distributed
    with dask.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None, silence_logs=50) as cluster, \
            dask.Client(cluster) as client, tempfile.TemporaryDirectory() as folder:
        run_campaign(dispersed(16), Path(folder)/"warm", client=client, block=4, progress=False)
        size = run_campaign(study, None, threads=2, progress=False).block
        found = measured(lambda: run_campaign(study, Path(folder)/"store", client=client, block=size, progress=False))
    return {"wall": found["wall"]}


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
