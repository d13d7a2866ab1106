"""A few moments of the faults that `make faults` tries two hundred of: SIGKILL and full disks."""
import random
import sys

import pytest

from tests.support.faults import Ground, disks, full, killed, limited, stream, system

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="forks, and limits the size of files")


@pytest.fixture(scope="module")
def ground(tmp_path_factory):
    return Ground(tmp_path_factory.mktemp("faults"))


def test_a_kill_leaves_the_old_file_or_a_whole_one(ground):
    rng = random.Random(1)
    assert {killed(ground, "save", rng, 0.1) for _ in range(3)} <= {"old", "new"}
    assert {killed(ground, "model", rng, 0.01) for _ in range(2)} <= {"old", "new"}
    killed(ground, "run", rng, 0.3)


@pytest.mark.parametrize("what", ["run", "save", "model"])
def test_files_that_may_not_grow_leave_the_old_one(ground, what):
    """Each ends with an error of bough's, or done: the HDF5 library crashed the process where a write failed half-way."""
    rng = random.Random(2)
    for _ in range(2):
        limited(ground, what, rng)


def test_a_disk_that_fills_leaves_the_old_file(ground):
    if not disks():
        pytest.skip("mounts a small disk, which this user may not")
    assert full(ground, "save", random.Random(3)) in ("old", "new")


def test_every_limit_is_told_by_an_error(ground, tmp_path):
    """From the first byte to the last: refused with the reason, and the file from before is there."""
    import os
    import resource

    from bough.errors import BoughError

    ground.result.save(tmp_path / "whole.nc")
    for limit in (0, 100, 2000, 50_000, (tmp_path / "whole.nc").stat().st_size - 1):
        pid = os.fork()
        if not pid:
            code = 1
            try:
                resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
                ground.result.save(tmp_path / "whole.nc")
            except BoughError as error:
                code = 0 if "whole.nc: cannot be written (File too large); give another path" in str(error) else 2
            finally:
                os._exit(code)
        assert os.waitpid(pid, 0)[1] == 0, limit
        assert list(tmp_path.iterdir()) == [tmp_path / "whole.nc"]
        assert ground.is_old_or_new(tmp_path / "whole.nc") == "new"


def test_what_a_killed_process_left_is_swept_away_later(tmp_path):
    """A part that nobody has written to for an hour; one that is being written stays."""
    import os

    from bough.whole import write_text

    old, young, other = (tmp_path / f"m[1].yaml.{tag}.part" for tag in ("0123abcd", "4567abcd", "long-other"))
    for part in (old, young, other):
        part.write_text("half")
    os.utime(old, (1.0, 1.0))
    os.utime(other, (1.0, 1.0))
    write_text(tmp_path / "m[1].yaml", "whole")
    assert sorted(tmp_path.iterdir()) == sorted([tmp_path / "m[1].yaml", young, other])


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
