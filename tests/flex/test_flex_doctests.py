"""The examples in the docstrings of bough.flex run."""

import doctest
import importlib
import pkgutil

import pytest

import bough.flex

MODULES = [name for _, name, _ in pkgutil.iter_modules(bough.flex.__path__, "bough.flex.")]


@pytest.mark.parametrize("name", MODULES)
def test_examples_in(name):
    failed, _ = doctest.testmod(importlib.import_module(name), verbose=False)
    assert failed == 0
