"""Blocks of samples on all processors of this machine, or on the workers of a Dask cluster; each is stored when done."""

from __future__ import annotations

import os
import pickle
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, CancelledError, ThreadPoolExecutor, wait
from contextlib import nullcontext, suppress
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bough.campaign.block import FAILED, BlockResult, run_block
from bough.campaign.store import Store
from bough.describe.part import entry_named
from bough.errors import StateError
from bough.progress import working

if TYPE_CHECKING:
    from bough.campaign.study import Campaign

SECONDS = 2.0  # target run time of a block
WARM = 0.1  # s: a faster trial compiled nothing
LEAST, MOST = 4, 4096  # samples of a block
MOST_NUMBERS = 20_000_000  # recorded by a block at most
SHARES = 3  # blocks per worker at least
AHEAD = 2  # queued blocks per worker
LOOK = 2.0  # s between queries of the number of workers
PATIENCE = 60.0  # s to wait for the first worker of a cluster


def run_campaign(campaign: Campaign, path: Path | None, *, threads: int | None = None, client: Any = None, block: int | None = None,
                 progress: bool = True) -> Store:
    """Run the samples that the store does not have yet."""
    for name, given in (("threads", threads), ("block", block)):
        if given is not None and (not isinstance(given, int) or given < 1):
            raise StateError(f"campaign: {name} is {given!r}; give a whole number, 1 or more, or none")
    workers = _workers(client) if client is not None else threads or os.cpu_count() or 1
    store = _store(campaign, path, block, workers)
    missing = store.missing()
    if not missing:
        return store
    done, failed = store.samples - sum(last - first for first, last in missing), store.failed()
    work = _on_cluster(campaign, client, missing) if client is not None else _on_threads(campaign, workers, missing)
    with working(campaign.name) if progress else nullcontext() as bar:
        begun, before = time.perf_counter(), done
        for found in work:
            store.write(found)
            done, failed = done + len(found.status), failed + int((found.status == FAILED).sum())
            if bar is not None:
                rate = (done - before) / (time.perf_counter() - begun)
                bar.note = f"{done:,} of {store.samples:,}, {rate:.3g}/s, {failed:,} failed"
                bar(done / store.samples)
    return store


def _store(campaign: Campaign, path: Path | None, block: int | None, workers: int) -> Store:
    """The existing store, if it belongs to this campaign; otherwise a new one."""
    if path is not None and path.exists():
        return campaign.open_store(path)
    campaign.check()
    size = block or _block_size(campaign, workers)
    study = campaign.to_mapping() | {"identity": campaign.identity, "system": campaign.system.name,
                                     "description": campaign.system.to_yaml(exact=True)}
    return Store.create(path or Path(tempfile.mkdtemp(prefix="bough-campaign-")) / "store", study, size,
                        {each.path: "" for each in campaign.variations}, {each.name: each.unit for each in campaign.metrics},
                        {name: _unit(campaign, name) for name in campaign.keep}, campaign.times)


def _unit(campaign: Campaign, name: str) -> str:
    system, names = campaign.system, campaign.model.names
    if name in system.outputs:
        return system.outputs[name].units(system)[0]
    if name in names.wheels:
        return "rad/s"
    [(body, entry)] = entry_named(system, name, "coordinate_names" if name in names.q else "speed_names")
    return body.coordinate_units[entry] if name in names.q else f"{body.speed_units[entry]}/s"


def _block_size(campaign: Campaign, workers: int) -> int:
    """Samples per block, from a trial: so that a block takes SECONDS and each worker gets several; full lanes."""
    trial = min(LEAST, campaign.samples)
    for _ in range(2):  # the first may compile kernels
        begun = time.thread_time()
        run_block(campaign, 0, trial)
        took = max(time.thread_time() - begun, 1e-6) / trial
        if took * trial < WARM:
            break
    room = MOST_NUMBERS // max(1, len(campaign.times) * campaign.model.layout.nx)
    fair = -(-campaign.samples // (SHARES * workers))
    size = int(np.clip(min(SECONDS / took, fair), LEAST, max(LEAST, min(MOST, room))))
    return min(size // LEAST * LEAST, max(LEAST, campaign.samples))


def _on_threads(campaign: Campaign, threads: int, blocks: list[tuple[int, int]]) -> Iterator[BlockResult]:
    """Blocks in parallel threads: kernels release the GIL."""
    with ThreadPoolExecutor(threads, thread_name_prefix="bough") as pool:
        yield from _spread(lambda first, last: pool.submit(run_block, campaign, first, last), blocks, lambda: AHEAD * threads,
                           lambda waiting: wait(waiting, return_when=FIRST_COMPLETED).done)


def _spread(submit: Callable[[int, int], Any], blocks: list[tuple[int, int]], ahead: Callable[[], int],
            first_done: Callable[[Any], Any]) -> Iterator[BlockResult]:
    """Results as they arrive, with a bounded number of queued blocks."""
    waiting: set[Any] = set()
    left = iter(blocks)
    try:
        while True:
            for first, last in islice(left, max(0, ahead() - len(waiting))):
                waiting.add(submit(first, last))
            if not waiting:
                return
            for done in first_done(waiting):
                waiting.discard(done)
                yield done.result()
    finally:
        for future in waiting:
            future.cancel()


def _on_cluster(campaign: Campaign, client: Any, blocks: list[tuple[int, int]]) -> Iterator[BlockResult]:
    """Blocks on the workers of a Dask cluster; blocks of a worker that died are repeated by another one.

    Every worker holds the campaign, including those that start later."""
    from dask import distributed

    name = f"bough-{campaign.identity[:16]}"

    class Kept(distributed.WorkerPlugin):
        def __init__(self) -> None:
            self.campaign = campaign

    def submit(first: int, last: int) -> Any:
        return client.submit(_run_on_worker, name, first, last, key=f"{name}-{first}", retries=10, pure=False)

    try:
        _register(client, Kept(), name)
        yield from in_turn(client, submit, blocks)
    except (OSError, CancelledError, distributed.scheduler.KilledWorker) as error:
        raise StateError(f"campaign: the cluster failed ({type(error).__name__}: {error}); what is done is kept: start scheduler "
                         "and workers again, then the same command continues") from error
    finally:
        with suppress(OSError, ValueError):  # the cluster is gone, or never had it
            if client.status == "running":
                client.unregister_worker_plugin(name)


def _register(client: Any, plugin: Any, name: str) -> None:
    """Give the campaign to all workers."""
    try:
        client.register_plugin(plugin, name=name)
    except (TypeError, AttributeError, pickle.PicklingError) as error:
        raise StateError(f"campaign: it cannot be sent to workers ({error}); make its laws and functions so that they can be "
                         "pickled, without open files, locks or generators, or run it in threads") from error


def _workers(client: Any) -> int:
    """Number of threads of all workers of a cluster; waits for the first one."""
    try:
        client.wait_for_workers(1, timeout=PATIENCE)
        return max(1, int(sum(client.nthreads().values())))
    except TimeoutError:
        raise StateError(f"campaign: the cluster of {client.scheduler.address} has no workers after {PATIENCE:g} s; start some, "
                         f"dask worker {client.scheduler.address}") from None


def in_turn(client: Any, submit: Callable[[int, int], Any], blocks: list[tuple[int, int]]) -> Iterator[BlockResult]:
    """Results of a cluster as they arrive; workers may join and leave."""
    from dask import distributed

    wait_for: Any = distributed.wait
    known: dict[str, float] = {"time": -np.inf, "threads": 1}

    def ahead() -> int:
        if time.monotonic() - known["time"] > LOOK:
            known.update(time=time.monotonic(), threads=max(1, sum(client.nthreads().values())))
        return AHEAD * int(known["threads"])

    yield from _spread(submit, blocks, ahead, lambda waiting: wait_for(list(waiting), return_when="FIRST_COMPLETED").done)


def _run_on_worker(name: str, first: int, last: int) -> BlockResult:
    from dask import distributed

    worker: Any = distributed.get_worker
    return run_block(worker().plugins[name].campaign, first, last)
