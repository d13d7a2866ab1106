"""Files of real finite-element tools, where they are: beside the repository, never in it."""

import os
from pathlib import Path

import pytest

FOLDER = Path(os.environ.get("BOUGH_FE_FILES", Path(__file__).parents[2].parent / "shared" / "data" / "fe"))
real_files = pytest.mark.skipif(not FOLDER.exists(), reason="no ../shared/data/fe: files of real tools are not in the repository")


def needs_pynastran():
    """Skip where pyNastran is not installed, as it may be: the reader says how to get it."""
    import numpy as np

    if not hasattr(np, "in1d"):
        np.in1d = np.isin
    pytest.importorskip("pyNastran", reason="no pyNastran: pip install bough[nastran]")
