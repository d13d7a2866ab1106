"""Warming up in parallel processes: what is left when it is killed.  What it compiles is tested in tests/kernels/test_linker.py."""
import os
import subprocess
import sys
import time

import pytest

POOL = """
import os, time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from bough.warmup import end_with_parent
if __name__ == "__main__":
    with ProcessPoolExecutor(1, get_context("spawn"), end_with_parent) as pool:
        print(pool.submit(os.getpid).result(), flush=True)
        time.sleep(60)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_workers_end_with_a_process_that_is_killed(tmp_path):
    (tmp_path / "pool.py").write_text(POOL)
    process = subprocess.Popen([sys.executable, tmp_path / "pool.py"], stdout=subprocess.PIPE, text=True)
    worker = int(process.stdout.readline())
    process.kill()
    process.wait()
    for _ in range(100):
        try:
            os.kill(worker, 0)
        except ProcessLookupError:
            return
        time.sleep(0.1)
    os.kill(worker, 9)
    pytest.fail("the worker was still there 10 s later")
