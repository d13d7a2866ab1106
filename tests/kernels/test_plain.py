"""The kernels as plain Python (NUMBA_DISABLE_JIT=1) against the compiled ones."""
import os
import subprocess
import sys
from pathlib import Path

import numpy as np

from tests.support.compare import assert_same
from tests.support.plain_run import answers

PLAIN = """
import sys
import numba
import numpy as np
from tests.support.plain_run import answers
assert numba.config.DISABLE_JIT
np.savez(sys.argv[1], *answers())
"""


def test_plain_python_runs_the_same_source(tmp_path):
    """NUMBA_DISABLE_JIT=1: the sweeps without a compiler give what the compiled ones give, to rounding."""
    script, result, home = tmp_path / "plain.py", tmp_path / "plain.npz", Path(__file__).resolve().parents[2]
    script.write_text(PLAIN)
    paths = [str(home), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1", "PYTHONPATH": os.pathsep.join(paths)}
    command = [sys.executable, script, result]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    plain = np.load(result)
    compiled = answers()
    assert len(plain.files) == len(compiled)
    for name, ours in zip(plain.files, compiled, strict=True):
        # the same operations in the same order: only contracted products round differently, and solving(M) enlarges that; it would
        # allow 30 eps cond(M), 7e-10 for the flexible tree
        assert_same(plain[name], ours, 1e-11)
