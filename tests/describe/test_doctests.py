"""The examples in the docstrings and in docs/yaml.md."""

import doctest
import importlib
import pkgutil
import re
from pathlib import Path

import pytest

import bough.describe
from bough.describe import System, load

PARTS = [module.name for module in pkgutil.walk_packages(bough.describe.__path__, "bough.describe.")]
YAML_PAGE = Path(__file__).parents[2] / "docs" / "yaml.md"


@pytest.mark.parametrize("name", ["bough.errors", *PARTS])
def test_docstrings(name):
    assert doctest.testmod(importlib.import_module(name)).failed == 0


def test_every_public_name_has_an_example():
    for name in bough.describe.__all__:
        assert ">>>" in (getattr(bough.describe, name).__doc__ or ""), name


def examples_of_the_yaml_page(folder):
    """The systems on the page, each read from a file."""
    for text in re.findall(r"```yaml\n(.*?)```", YAML_PAGE.read_text(encoding="utf-8"), re.DOTALL):
        file = folder / "example.yaml"
        file.write_text(text, encoding="utf-8")
        yield load(file)


def test_examples_of_the_yaml_page(tmp_path):
    system, shaped, flexible, moved, looped, geared, braked, filled, moored, mounted, ported = examples_of_the_yaml_page(tmp_path)
    assert list(system.bodies) == ["bus", "boom", "hand"]
    assert system.bodies["boom"].inertia[1][2] == 1e-3
    assert system.settings.dt == 1e-3
    assert System.from_yaml(system.to_yaml()) == system
    assert shaped.bodies["plate"].mass == 54.0
    assert System.from_yaml(shaped.to_yaml()) == shaped
    assert flexible.bodies["boom"].flexible.nodes.names == ("root", "tip", "middle")
    assert flexible.bodies["dish"].node == flexible.bodies["boom"].flexible.nodes.names[1]
    assert System.from_yaml(flexible.to_yaml()) == flexible
    assert (list(moved.events), list(moved.stops)) == (["free the yoke", "hinge", "fast enough"], ["bumper"])
    assert System.from_yaml(moved.to_yaml()) == moved
    assert [loop.joint.kind for loop in looped.loops.values()] == ["revolute", "distance"]
    assert System.from_yaml(looped.to_yaml()) == looped
    assert list(geared.couplings["reducer"].terms.values()) == [1.0, -40.0]
    assert System.from_yaml(geared.to_yaml()) == geared
    assert braked.frictions["brake"].breakaway == 80.0
    assert System.from_yaml(braked.to_yaml()) == braked
    assert list(filled.tanks) == ["fuel"]
    assert System.from_yaml(filled.to_yaml()) == filled
    assert list(moored.elements) == ["mooring", "yaw", "hull"]
    assert System.from_yaml(moored.to_yaml()) == moored
    assert mounted.bushings["mount"].stiffness[2][2] == 200
    assert System.from_yaml(mounted.to_yaml()) == mounted
    assert (list(ported.inputs), list(ported.outputs)) == (["thruster", "drive"], ["angle", "gyro", "tip", "root", "gauge"])
    assert System.from_yaml(ported.to_yaml()) == ported
