"""Files that are imported when one of their names is first used: a run loads what its system has, and no more.

A package lists them, and asks for its own `__getattr__` (PEP 562):

    if TYPE_CHECKING:                       # imported on first use
        from bough.integrate import backlash as backlash
    else:
        __getattr__ = submodules(__name__)

and whoever may need one names it behind its package, `integrate.backlash.watch_play(...)`.  Type checkers see through it, the
second use costs two look-ups, and `tests/test_import_cycles.py` counts it as an import.

A package whose public names come from many files lists them once, in the stub beside its `__init__.py`: see `homes`.
"""
import re
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from types import ModuleType


def homes(file: str) -> dict[str, str]:
    """By public name, the module from which the stub of a package imports it; `file` is that of the package.

    >>> import bough.flex
    >>> homes(bough.flex.__file__)["beam"]
    'bough.flex.beams'
    """
    stub = Path(file).with_suffix(".pyi").read_text(encoding="utf-8")
    imports = re.findall(r"^from ([\w.]+) import (?:\(([^)]*)\)|(.*))$", stub, re.MULTILINE)
    return {name: module for module, *names in imports for name in re.findall(r"(\w+)(?: as \w+)?,?", "".join(names))}


def submodules(package: str) -> Callable[[str], ModuleType]:
    """`__getattr__` of a package: imports its file of that name.

    >>> submodules("bough.kernels")("hinges").__name__
    'bough.kernels.hinges'
    >>> submodules("bough.kernels")("hinge")
    Traceback (most recent call last):
        ...
    AttributeError: module 'bough.kernels' has no attribute 'hinge'
    """
    def load(name: str) -> ModuleType:
        file = f"{package}.{name}"
        if not name.startswith("_"):
            try:
                return import_module(file)
            except ModuleNotFoundError as error:
                if error.name != file:
                    raise
        raise AttributeError(f"module '{package}' has no attribute '{name}'")
    return load
