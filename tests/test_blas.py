"""BLAS takes one thread inside, and as many as before afterwards, whichever thread leaves last."""
import threading

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from bough.analyze.loop_forces import RowSpace
from bough.blas import one_thread


def threads():
    return {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"}


@pytest.fixture(autouse=True)
def two():
    with threadpool_limits(2, user_api="blas"):
        if threads() != {2}:
            pytest.skip("BLAS has no threads here")
        yield


def test_one_thread_inside_and_as_many_as_before_afterwards():
    with one_thread():
        assert threads() == {1}
        with one_thread():
            assert threads() == {1}
        assert threads() == {1}
    assert threads() == {2}
    with pytest.raises(ZeroDivisionError), one_thread():
        1 / 0  # noqa: B018
    assert threads() == {2}


def test_threads_that_leave_in_another_order():
    entered, leave = threading.Event(), threading.Event()

    def other():
        with one_thread():
            entered.set()
            leave.wait()
    thread = threading.Thread(target=other)
    with one_thread():
        thread.start()
        entered.wait()
    assert threads() == {2}                                 # though the other one is still inside
    leave.set()
    thread.join()
    assert threads() == {2}


def test_solves_of_loops_take_one(monkeypatch):
    seen, svd = [], np.linalg.svd
    monkeypatch.setattr(np.linalg, "svd", lambda *args, **options: seen.append(threads()) or svd(*args, **options))
    RowSpace.of(np.ones((1, 2, 3)))
    assert seen == [{1}]
    assert threads() == {2}
