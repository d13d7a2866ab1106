"""What is where, in words."""
import doctest
from pathlib import Path

import pytest

import bough
from bough.compile import tables
from bough.errors import ModelError
from bough.sweeps.records import SECTIONS

EXAMPLES = sorted((Path(bough.__file__).parent / "examples").glob("*.yaml"))


@pytest.fixture(scope="module")
def panel():
    return bough.System.from_yaml(next(file for file in EXAMPLES if file.stem == "flexible_panel")).compile()


def said(capsys, model, *what):
    model.tables.explain(*what)
    return capsys.readouterr().out


def test_doctest():
    assert doctest.testmod(tables).failed == 0


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: file.stem)
def test_every_section_is_named_and_lines_are_short(file, capsys):
    model = bough.System.from_yaml(file).compile()
    *blocks, methods = said(capsys, model).split("\n\n")
    assert "dense: mass matrix at" in methods
    assert "cloud: joint at" in methods
    for table, text in zip(("plan", "pars", "tables", "ws"), blocks, strict=True):
        head, *lines = text.splitlines()
        assert head.startswith(f"{table}: ")
        assert max(map(len, [head, *lines])) <= 120
        assert [section.name for section in SECTIONS if section.table == table] == [
            line[19:36].strip() for line in lines if line[:7].strip()]
    for section in {section.name for section in SECTIONS}:
        assert max(map(len, said(capsys, model, section).splitlines()), default=0) <= 120


def test_places_and_values(panel, capsys):
    text = said(capsys, panel)
    place = panel.tables.sections["pars"]["springs"]
    assert f"{place.start:>7}     1 x 3  springs" in text
    assert "= 60 0.35 0.8" in text


def test_a_hinge_in_all_arrays(panel, capsys):
    text = said(capsys, panel, "hinge", 1)
    assert text.startswith("hinge 1: FREE, joint of body 'bus'")
    for name in ("INNER", "0 'ground'", "MASS", "kg", "ATTITUDE", "-> ws.records", "read by all sweeps"):
        assert name in text
    assert said(capsys, panel, "hinges", 1) == text
    assert said(capsys, panel, "bus") == text


def test_a_flexible_body_by_its_name(panel, capsys):
    text = said(capsys, panel, "panel")
    for name in ("MODAL", "inertia_slopes", "MODAL_J", "shapes", "scratch", "5 modes"):
        assert name in text


def test_the_ground_and_a_vector(panel, capsys):
    assert "GRAVITY" in said(capsys, panel, "hinge", 0)
    assert "state: q | v" in said(capsys, panel, "x")


def test_what_is_not_there(panel):
    with pytest.raises(ModelError, match=r"no body and no section 'spring2' \(did you mean"):
        panel.tables.explain("spring2")
    with pytest.raises(ModelError, match="section 'springs' has 1 records; there is no 3"):
        panel.tables.explain("spring", 3)
