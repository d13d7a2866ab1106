"""Campaigns on Dask clusters: the same bits on any number of workers, whatever is killed."""
import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from bough.campaign.runner import run_campaign
from bough.campaign.store import Store
from tests.campaign.test_campaign import study
from tests.support.tolerance import STEPPED

pytest.importorskip("zarr")
distributed = pytest.importorskip("dask.distributed")
SAMPLES, BLOCK = 400, 4


def test_bits_are_those_of_threads_on_one_two_and_three_workers(tmp_path):
    """Blocks of 64, 7 and 1 samples, none of which is full of lanes at its end."""
    campaign = study(30)
    reference = campaign.run(tmp_path/"threads", threads=1, block=30, progress=False).load()
    for workers, block in ((1, 64), (2, 7), (3, 1)):
        with distributed.LocalCluster(n_workers=workers, threads_per_worker=1, processes=False, dashboard_address=None,
                                      silence_logs=50) as cluster, distributed.Client(cluster) as client:
            data = campaign.run(tmp_path/f"{workers}", client=client, block=block, progress=False)
        assert data.load().equals(reference)


@pytest.mark.slow
def test_compiled_laws_go_to_other_processes(tmp_path):
    """Their addresses do not: each process compiles them, once for all values of their gain."""
    import bough
    from tests.campaign.test_campaign import arm
    s = arm()
    s.input("motor", coordinate="arm.ry")
    s.output("angle", coordinate="arm.ry")

    @bough.controller(outputs=["angle"], inputs=["motor"], states=[1.0])
    def hold(t, y, u, z, zdot):
        u[0] = -z[0]*y[0]
        zdot[0] = 0.0

    made = bough.Campaign(s, vary={"laws.gain": [0.0, 5.0, 10.0]}, metrics={"end": "final(arm.ry)"}, law_values={"gain": 1.0},
                          laws=lambda values: [hold.with_states([values["gain"]])])
    reference = made.run(tmp_path/"threads", threads=1, progress=False).load()
    stiffer = bough.Campaign(arm(), vary={"arm.stiffness": [20.0, 25.0, 30.0]}, metrics={"end": "final(arm.ry)"})
    springs = stiffer.run(tmp_path/"springs", progress=False)
    np.testing.assert_allclose(reference.end.values, springs.end.values, rtol=0, atol=STEPPED)
    with distributed.LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=None, silence_logs=50) as cluster, \
            distributed.Client(cluster) as client:
        assert made.run(tmp_path/"process", client=client, block=2, progress=False).load().equals(reference)


def run_and_kill(store, seed, patience):
    """A campaign on two processes, one of which is killed now and then; after so many blocks, this client itself."""
    rng, write, log = random.Random(seed), Store.write, Path(f"{store}.log")
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None, silence_logs=50) as cluster, \
            distributed.Client(cluster) as client:
        kept, ended = [], []

        def writing(self, found):
            write(self, found)
            with log.open("a") as lines:
                lines.write(f"{found.first}\n")
            kept.append(found.first)
            alive = [nanny.pid for nanny in cluster.workers.values() if nanny.pid]
            if len(ended) < 2 and alive and rng.random() < 0.15:
                ended.append(rng.choice(alive))
                os.kill(ended[-1], signal.SIGKILL)
            if len(kept) == patience:
                os.kill(os.getpid(), signal.SIGKILL)

        Store.write = writing
        run_campaign(study(SAMPLES), Path(store), client=client, block=BLOCK, progress=False)
        assert len(ended) == 2


@pytest.mark.slow
def test_workers_and_the_client_may_be_killed(tmp_path):
    """Workers at random, then the client with all it has under way; then the same again, to the end: the store is that of an
    undisturbed run, and no block was kept twice."""
    store, root = tmp_path/"store", Path(__file__).parents[2]
    script = "import sys; from tests.campaign.test_cluster import run_and_kill; run_and_kill(sys.argv[1], *map(int, sys.argv[2:]))"
    guarded = f"if __name__ == '__main__':\n    {script}\n"
    (tmp_path/"run.py").write_text(guarded)
    places = os.pathsep.join([str(root), *filter(None, [os.environ.get("PYTHONPATH")])])
    for seed, patience in ((1, 30), (2, 10**6)):
        process = subprocess.Popen([sys.executable, str(tmp_path/"run.py"), str(store), str(seed), str(patience)],
                                   cwd=root, env=os.environ | {"PYTHONPATH": places}, start_new_session=True)
        code = process.wait(timeout=180)
        if patience < 10**6:
            assert code == -signal.SIGKILL
            os.killpg(process.pid, signal.SIGKILL) if _group_lives(process.pid) else None
            assert 30*BLOCK <= int((Store.open(store).status() > 0).sum()) < SAMPLES
        else:
            assert code == 0
    blocks = [int(line) for line in Path(f"{store}.log").read_text().split()]
    assert sorted(blocks) == list(range(0, SAMPLES, BLOCK))
    reference = study(SAMPLES).run(tmp_path/"other", progress=False).load()
    assert np.array_equal(Store.open(store).status(), np.ones(SAMPLES))
    assert Store.open(store).dataset().load().equals(reference)


def _group_lives(group):
    """Whether what a killed client had started is still there."""
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


def run_on(address, store):
    """The campaign on a cluster of others; what it says where that fails."""
    from bough.errors import StateError
    with distributed.Client(address) as client:
        try:
            run_campaign(study(SAMPLES), Path(store), client=client, block=BLOCK, progress=False)
        except StateError as error:
            sys.exit(f"error: {error}")


@pytest.mark.slow
def test_the_scheduler_may_be_killed(tmp_path):
    """Then the campaign ends with a remedy; with another scheduler, and workers, it goes on."""
    root, store = Path(__file__).parents[2], tmp_path/"store"
    places = {"PYTHONPATH": os.pathsep.join([str(root), *filter(None, [os.environ.get("PYTHONPATH")])]),
              "DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT": "5s"}                # a client waits so long for one that is gone: 30 s
    code = "import sys; from tests.campaign.test_cluster import run_on; run_on(*sys.argv[1:])"

    def start(*words, **options):
        return subprocess.Popen([sys.executable, *map(str, words)], cwd=root, env=os.environ | places, **options)

    for turn in range(2):
        file = tmp_path/f"scheduler{turn}.json"
        scheduler = start("-m", "dask", "scheduler", "--port", 0, "--host", "127.0.0.1", "--no-dashboard", "--scheduler-file", file)
        worker = start("-m", "dask", "worker", "--scheduler-file", file, "--nthreads", 1, "--no-dashboard", "--no-nanny")
        try:
            for _ in range(600):
                if file.exists():
                    break
                time.sleep(0.1)
            client = start("-c", code, json.loads(file.read_text())["address"], store, stderr=subprocess.PIPE, text=True)
            while not turn and client.poll() is None and not (store.exists() and (Store.open(store).status() > 0).sum() >= 40):
                time.sleep(0.02)
            if not turn:
                scheduler.kill()
            _, said = client.communicate(timeout=180)
        finally:
            for process in (scheduler, worker):
                process.kill()
                process.wait()
        if not turn:
            assert "what is done is kept: start scheduler and workers again" in said
            assert 40 <= (Store.open(store).status() > 0).sum() < SAMPLES
    assert client.returncode == 0
    assert Store.open(store).dataset().load().equals(study(SAMPLES).run(tmp_path/"other", progress=False).load())
