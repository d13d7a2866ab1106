"""Hypothesis profiles, memory given back between files, and what the run took: CPU time and peak memory of each worker, and the
tests that raised the peak."""
import ctypes
import os
import sys
from collections import Counter

import pytest
from hypothesis import HealthCheck, settings

try:
    import resource
except ImportError:                                            # Windows
    resource = None

# `make test` asks the same examples every time; `make test-long` draws new ones, and more of them.
settings.register_profile("test", derandomize=True, database=None, deadline=None, suppress_health_check=list(HealthCheck))
settings.register_profile("long", max_examples=1000, deadline=None, suppress_health_check=list(HealthCheck), print_blob=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "test"))

MARKS = {"oracle": ("oracles/", "exchange/test_real_robots.py"), "browser": ("look/test_chromium.py",),
         "docs": ("docs/test_site.py", "docs/test_pages.py", "examples/")}
FIRST = "test_compile_cost.py"                                 # it compiles the kernels of four kinds of models, and keeps them
LONG = ("test_derivatives.py", "test_cluster.py", "test_sensitivities.py", "test_balance.py", "test_flexible_orbit.py")
RISE = 50                                                      # MB by which a test must raise the peak to be named
used: list[dict] = []


def peak() -> float:
    """Peak resident memory of this process in MB."""
    size = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return size / (2**20 if sys.platform == "darwin" else 2**10)


def usage(session: pytest.Session) -> dict:
    own, children = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return {"peak": peak(), "own": own.ru_utime + own.ru_stime, "children": children.ru_utime + children.ru_stime,
            "rises": session.config.stash[rises]}


rises = pytest.StashKey[list]()


def pytest_configure(config: pytest.Config) -> None:
    config.stash[rises] = []


def order(items: list[pytest.Item]) -> None:
    """The order in which workers take files: first the one whose kernels others need, then those of many tests, so that none is
    left with a long one at the end; a few tests may take as long as many."""
    number = Counter(item.path for item in items)
    number.update({path: 60 for path in number if path.name in LONG})
    items.sort(key=lambda item: (item.path.name != FIRST, -number[item.path]))


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Marks files and folders whose tests are all of one kind; in workers, orders the files."""
    if hasattr(config, "workerinput"):
        order(items)
    for item in items:
        place = item.path.relative_to(config.rootpath / "tests").as_posix()
        for mark, places in MARKS.items():
            if place.startswith(places):
                item.add_marker(mark)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item):
    before = resource and peak()
    result = yield
    if resource and peak() - before > RISE:
        item.config.stash[rises].append((round(peak() - before), item.nodeid))
    return result


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None):
    """After the last test of a file: what it has cached is not needed again, and what compiling has freed goes to the system."""
    result = yield
    if nextitem is None or nextitem.path != item.path:
        for value in vars(item.module).values() if hasattr(item, "module") else ():
            if hasattr(value, "cache_clear") and getattr(value, "__module__", None) == item.module.__name__:
                value.cache_clear()
        if sys.platform == "linux":
            getattr(ctypes.CDLL(None), "malloc_trim", lambda pad: 0)(0)
    return result


def pytest_sessionfinish(session: pytest.Session) -> None:
    if resource and hasattr(session.config, "workeroutput"):
        session.config.workeroutput["usage"] = usage(session)
    elif resource and not used:
        used.append(usage(session))


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node, error) -> None:
    used.append(getattr(node, "workeroutput", {}).get("usage", {}))


def pytest_terminal_summary(terminalreporter) -> None:
    for number, worker in enumerate(filter(None, used)):
        terminalreporter.write_line(f"process {number}: peak {worker['peak']:.0f} MB, CPU {worker['own']:.0f} s, "
                                    f"its subprocesses {worker['children']:.0f} s")
        for rise, test in sorted(worker["rises"], reverse=True)[:8]:
            terminalreporter.write_line(f"    +{rise} MB  {test}")
