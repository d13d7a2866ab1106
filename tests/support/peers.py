"""Other engines by name: a test that asks for one that is not installed is skipped."""
import importlib

import pytest

MODULES = {"Pinocchio": "pinocchio", "ClosedPinocchio": "pinocchio", "Mujoco": "mujoco", "Exudyn": "exudyn"}


def peer(engine, system):
    """The system in another engine: `peer("Pinocchio", system)`."""
    package = MODULES[engine]
    pytest.importorskip(package)
    return getattr(importlib.import_module(f"tests.support.{package}_oracle"), engine)(system)
