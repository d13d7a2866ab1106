"""The same systems in other engines, where they are installed: for comparison in tests and benchmarks."""
from importlib.util import find_spec

PEERS = {"pin": "pinocchio", "mujoco": "mujoco", "exudyn": "exudyn"}


def installed() -> list[str]:
    """Packages of peers that can be imported."""
    return [package for package, module in PEERS.items() if find_spec(module)]
