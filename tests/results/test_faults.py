"""A few moments of the faults that `make faults` tries two hundred of: SIGKILL and full disks."""
import random
import sys

import pytest

from tests.support.faults import Ground, full, killed, stream, system

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="forks, and limits the size of files")


@pytest.fixture(scope="module")
def ground(tmp_path_factory):
    return Ground(tmp_path_factory.mktemp("faults"))


def test_a_kill_leaves_the_old_file_or_a_whole_one(ground):
    rng = random.Random(1)
    assert {killed(ground, "save", rng, 0.1) for _ in range(3)} <= {"old", "new"}
    assert {killed(ground, "model", rng, 0.01) for _ in range(2)} <= {"old", "new"}
    killed(ground, "run", rng, 0.3)


def test_a_full_disk_leaves_the_old_file(ground):
    rng = random.Random(2)
    for what in ("run", "save", "model"):
        full(ground, what, rng)


def test_a_run_that_was_killed_before_its_parts_became_one_file(ground, tmp_path, monkeypatch):
    """All parts are there; finish() gathers them."""
    import numpy as np

    import bough
    from bough.results.stream import Parts

    def dies(self, whole, record):
        raise KeyboardInterrupt
    monkeypatch.setattr(Parts, "merge", dies)
    with pytest.raises(KeyboardInterrupt):
        stream(tmp_path / "out.nc")
    monkeypatch.undo()
    found = bough.resume(tmp_path / "out.nc", save_to=tmp_path / "out.nc").finish(progress=False)
    np.testing.assert_array_equal(found.array("q"), ground.end)
    assert found.audit is not None
    assert system().name == found.system.name
