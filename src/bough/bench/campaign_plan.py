"""`bough bench campaign --plan`: what a million runs of case 16 would take on 1, 100 and 1000 cores, from what a sample, a message,
a task and a write cost here."""
import pickle
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np

from bough.bench.jsc_system import LAST, STEPS, jsc_case
from bough.bench.setups import versions
from bough.campaign.block import DONE, BlockResult, run_block
from bough.campaign.runner import AHEAD, LEAST, SHARES, in_turn
from bough.campaign.store import Store
from bough.campaign.study import Campaign

RUNS, CORES, CASE = 1_000_000, (1, 100, 1000), 16
PARAMETERS, METRICS, TIMES = 10, 5, 300         # of a planned sample: varied numbers, metrics, times of a history
BUSY = 0.1                                      # share of their time that scheduler and store may be busy, so that no worker waits


def plan(*, quick: bool = False) -> dict[str, Any]:
    """Measure and plan; {"sample": ..., "message": ..., "task": ..., "write": ..., "plan": {cores: ...}}."""
    sample, message, write, task = sample_cost(quick), message_sizes(), write_times(), task_time(quick)
    return {"unit": f"{RUNS:,} runs of case {CASE}, {LAST:g} s each by steps of {STEPS[True]:g} s (euler-cromer)",
            "versions": versions(), "sample": sample, "message": message, "write": write, "task": task,
            "plan": {str(cores): planned(cores, sample["seconds"], message, write, task) for cores in CORES},
            "limits": limits(message, write, task)}


def sample_cost(quick: bool) -> dict[str, float]:
    """CPU seconds of a sample in lanes: to start one, and a step; from blocks of four with few steps and with more."""
    few, more = (20, 60) if quick else (50, 250)
    spent: dict[int, list[float]] = {}
    for steps in (few, *(few, more)*3):                                         # the first compiles
        study = dispersed(steps)
        begun = time.process_time()
        run_block(study, 0, 4)
        spent.setdefault(steps, []).append((time.process_time() - begun)/4)
    least, most = min(spent[few][1:]), min(spent[more])
    step = (most - least)/(more - few)
    setup = max(least - few*step, 0.0)
    return {"setup": setup, "step": step, "seconds": setup + step*LAST/STEPS[True]}


def dispersed(steps: int) -> Campaign:
    system = jsc_case(CASE)
    first = next(iter(system.bodies))
    system.simulation(until=steps*STEPS[True], dt=STEPS[True], method="euler-cromer", sample_rate=1.0/(steps*STEPS[True]))
    return Campaign(system, vary={f"{first}.mass": ("scale", {"uniform": [0.98, 1.02]})}, samples=8,
                    metrics={"end": f"final({system.compile().names.q[0]})"})


def results(samples: int, histories: int = 0) -> BlockResult:
    """A block as it comes back from a worker, filled with numbers."""
    rng = np.random.default_rng(0)
    return BlockResult(0, rng.random((samples, PARAMETERS)), rng.random((samples, METRICS)),
                       {f"history {i}": rng.random((samples, TIMES)) for i in range(histories)},
                       np.full(samples, DONE, np.uint8), {})


def message_sizes() -> dict[str, float]:
    """Bytes of a block's message, and of each sample in it, without and with a history."""
    sizes = {n: len(pickle.dumps(results(n))) for n in (4, 1004)}
    each = (sizes[1004] - sizes[4])/1000
    return {"block": sizes[4] - 4*each, "sample": each, "history": (len(pickle.dumps(results(4, 1))) - sizes[4])/4}


def write_times(blocks: int = 40) -> dict[str, float]:
    """Seconds to keep a block of four samples, and each more; bytes per second of large ones."""
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        for size, histories in ((4, 0), (1000, 0), (1000, 1)):
            names = {f"history {i}": "" for i in range(histories)}
            parameters, metrics = ({str(i): "" for i in range(number)} for number in (PARAMETERS, METRICS))
            store = Store.create(Path(folder)/f"{size}-{histories}", {"samples": size*blocks, "system": "plan"}, size,
                                 parameters, metrics, names, np.arange(float(TIMES)))
            block, spent = results(size, histories), []
            for i in range(blocks):
                block.first, begun = i*size, time.perf_counter()
                store.write(block)
                spent.append(time.perf_counter() - begun)
            found[size, histories] = float(np.median(spent))
    each = max(found[1000, 0] - found[4, 0], 0.0)/996
    return {"block": found[4, 0] - 4*each, "sample": each,
            "bytes per second": 8.0*1000*TIMES/max(found[1000, 1] - found[1000, 0], 1e-9)}


def cluster(stack: ExitStack) -> Any:
    """Two processes of a Dask cluster; None without Dask."""
    try:
        from dask import distributed
    except ImportError:
        return None
    dask: Any = distributed
    local = stack.enter_context(dask.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None, silence_logs=50))
    return stack.enter_context(dask.Client(local))


def task_time(quick: bool) -> dict[str, float]:
    """Seconds a task of client, scheduler and two workers on this machine, of blocks that take none; NaN without Dask."""
    with ExitStack() as stack:
        if (client := cluster(stack)) is None:
            return {"seconds": np.nan}
        for tasks in (20, 200 if quick else 1000):
            begun = time.perf_counter()
            def submit(first: int, _last: int, tasks: int = tasks) -> Any:
                return client.submit(results, 4, key=f"plan-{tasks}-{first}", pure=False)

            for _ in in_turn(client, submit, [(i, i + 1) for i in range(tasks)]):
                pass
            found = (time.perf_counter() - begun)/tasks
    return {"seconds": found}


# ---- the plan ------------------------------------------------------------------------------------------------------------
def planned(cores: int, sample: float, message: dict[str, float], write: dict[str, float],
            task: dict[str, float]) -> dict[str, Any]:
    """Wall time, a good size of blocks, and how busy scheduler, store and network are with it."""
    wall = RUNS*sample/cores
    serial = np.nan_to_num(task["seconds"]) + write["block"]                     # of one client, a block
    least = cores*serial/(BUSY*sample)                                          # samples of a block that keep it so
    fair = RUNS/(cores*SHARES)
    block = int(max(LEAST, min(np.ceil(least/LEAST)*LEAST, fair//LEAST*LEAST)))
    rate = RUNS/block/wall                                                      # blocks a second
    return {"days": wall/86400, "block": block, "seconds of a block": block*sample, "blocks per second": rate,
            "scheduler busy": rate*np.nan_to_num(task["seconds"]), "store busy": rate*(write["block"] + block*write["sample"]),
            "kB per second": 1e-3*rate*(message["block"] + block*message["sample"]),
            "waiting results, MB": 1e-6*AHEAD*cores*(message["block"] + block*message["sample"])}


def limits(message: dict[str, float], write: dict[str, float], task: dict[str, float]) -> dict[str, Any]:
    """Limits of a single client: the shortest useful block for each number of cores, and the most samples per second."""
    serial = np.nan_to_num(task["seconds"]) + write["block"]
    return {"blocks per second, at most": 1.0/serial,
            "seconds of a block, at least, by cores": {str(cores): cores*serial for cores in CORES},
            "samples per second into the store, at most, in blocks of 4096": 4096/(write["block"] + 4096*write["sample"]),
            "the same with a history": 1.0/(write["sample"] + 8.0*TIMES/write["bytes per second"]),
            "GB of a million samples": 1e-9*RUNS*message["sample"],
            "GB of a million histories": 1e-9*RUNS*message["history"]}
