"""The examples in the docstrings of bough.look run."""

import doctest
import importlib
import pkgutil

import pytest

import bough.look


@pytest.mark.parametrize("name", [module.name for module in pkgutil.iter_modules(bough.look.__path__)])
def test_docstrings(name):
    assert doctest.testmod(importlib.import_module(f"bough.look.{name}")).failed == 0
