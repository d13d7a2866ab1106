"""The layout check: tables of all kinds pass; plans that refer to the wrong place are found."""
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import bough
from bough.compile.assemble import build_tables
from bough.compile.layout import InputWrench
from bough.compile.sections import LayoutError
from bough.sweeps import fields as f

EXAMPLES = sorted((Path(bough.__file__).parent / "examples").glob("*.yaml"))


def example(name):
    return bough.System.from_yaml(next(file for file in EXAMPLES if file.stem == name))


def with_plan(tables, change):
    plan = tables.plan.copy()
    change(plan.reshape(-1))
    return replace(tables, plan=plan)


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: file.stem)
def test_examples(file):
    system = bough.System.from_yaml(file)
    body = list(system.bodies)[-1]
    for options in ({}, {"keep_welds": True}, {"inputs": (InputWrench(body, None, True),)}):
        build_tables(system, **options).check()
    system.compile().tables.check()                     # with what is held, and clouds


def row_entry(tables, section, row, field):
    """The place of a field in plan."""
    place = tables.sections["plan"][section]
    return place.start + place.section.record.size*row + field


@pytest.mark.parametrize(("section", "field", "value", "message"), [
    ("hinges", f.INNER, 1000, "hinge at .*: INNER is 1000; it must be below"),
    ("hinges", f.KIND, 9, "KIND is 9; it must be below 7"),
    ("hinges", f.RECORD, 0, "RECORD is 0; it must be in section 'records' of ws"),
    ("hinges", f.Q, 10**6, "Q is 1000000; it must be in section 'x' of ws"),
    ("hinges", f.TAU, -1, "TAU is -1; it must be in section 'u' of ws"),
    ("springs", f.SPRING_V, 0, "SPRING_V is 0; it must be in section 'x'"),
    ("wheels", f.WHEEL_MOTOR, 1, "WHEEL_MOTOR is 1; it must be in section 'u'"),
    ("wrenches", f.WRENCH_HINGE, -1, "WRENCH_HINGE is -1"),
    ("time tables", f.TABLE_AT, 10**6, "TABLE_AT is 1000000; it must be in section 'time tables' of tables"),
    ("flexible", f.FLEX_MASS, 0, "FLEX_MASS is 0; it must be in section 'flexible' of pars"),
    ("flexible", f.HAS_TURNS, 2, "HAS_TURNS is 2"),
])
def test_references_to_the_wrong_place(section, field, value, message):
    tables = example("flexible_panel").compile().tables
    at = row_entry(tables, section, len(tables.rows(section)) - 1, field)

    def change(plan):
        plan[at] = value

    with pytest.raises(LayoutError, match=message):
        with_plan(tables, change).check()


@pytest.mark.parametrize("field", [f.RECORD, f.SLOT])
def test_overlapping_records(field):
    tables = example("orbit").compile().tables
    first, second = [row_entry(tables, "hinges", k, field) for k in np.flatnonzero(tables.rows("hinges")[:, field])[:2]]

    def change(plan):
        plan[second] = plan[first] + 1

    with pytest.raises(LayoutError, match="overlap at"):
        with_plan(tables, change).check()


def test_fronts_and_junctions():
    tables = example("jsc").compile().tables
    hinge = int(np.flatnonzero(tables.rows("hinges")[:, f.JUNCTION])[0])
    place = row_entry(tables, "hinges", hinge, f.JUNCTION)

    def beside(plan):
        plan[place] += 1

    with pytest.raises(LayoutError, match=r"JUNCTION is .*; it must be the start of a junction"):
        with_plan(tables, beside).check()

    def longer(plan):
        plan[plan[place] + f.N_SOURCES] = 1000

    with pytest.raises(LayoutError):
        with_plan(tables, longer).check()


def test_header():
    tables = example("spacecraft").compile().tables

    def change(plan):
        plan[f.SPRINGS] += 1
        plan[f.N_WHEELS] -= 1

    with pytest.raises(LayoutError, match="header: SPRINGS is") as raised:
        with_plan(tables, change).check()
    assert "N_WHEELS" in str(raised.value)


def test_sections_that_overlap_or_do_not_fill_their_array():
    tables = example("spacecraft").compile().tables
    hinges = tables.sections["pars"]["hinges"]
    moved = tables.sections | {"pars": tables.sections["pars"] | {"hinges": replace(hinges, start=hinges.start - 1)}}
    with pytest.raises(LayoutError, match="pars: section 'hinges' starts at 21, and the one before it ends at 22"):
        replace(tables, sections=moved).check()
    with pytest.raises(LayoutError, match="pars has"):
        replace(tables, pars=tables.pars[:, :-1]).check()
