"""The schema: constants, packers and views come from one declaration."""
import doctest
import re
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import bough
from bough.kernels import hinges
from bough.sweeps import fields as f, records as r, schema
from bough.sweeps.schema import Field, Record, padded

PACKAGE = Path(bough.__file__).parent
SOURCES = {file: file.read_text(encoding="utf-8") for file in sorted(PACKAGE.rglob("*.py"))
           if "from bough.sweeps import fields as f\n" in file.read_text(encoding="utf-8")}


def modules(names):
    """Those that a record names: "sweeps.loads, cloud" is two of them."""
    package, found = "", []
    for name in ("" if names == "all sweeps" else names).split(", "):
        package = name.rpartition(".")[0] or package
        found += [PACKAGE.joinpath(*package.split("."), name.rpartition(".")[2] + ".py")]*bool(name)
    return found


def test_doctests():
    assert doctest.testmod(schema).failed == 0


def test_every_constant_in_use_is_declared():
    assert len(SOURCES) > 20
    for file, text in SOURCES.items():
        unknown = set(re.findall(r"\bf\.([A-Z][A-Z0-9_]*)\b", text)) - f.CONSTANTS.keys() - {"CONSTANTS"}
        assert not unknown, f"{file}: {unknown}"


def test_constants_are_integers_and_unknown_ones_are_refused():
    assert all(type(value) is int for value in f.CONSTANTS.values())
    assert (f.MASS, f.HINGE_PARS, f.HINGE_ROW, f.SPRING_TAU, f.PRESCRIBED) == (12, 22, 16, 2, 2)
    with pytest.raises(AttributeError, match="no record declares MASSS"):
        _ = f.MASSS


def test_kinds_are_those_of_the_kernels():
    assert all(getattr(hinges, name) == value for name, value in r.KINDS.constants().items())


def test_no_field_is_declared_twice():
    counts = Counter(name for each in (*r.RECORDS, *r.CODES) for name in each.constants())
    assert not [name for name, count in counts.items() if count > 1]


@pytest.mark.parametrize("record", r.RECORDS, ids=lambda record: f"{record.table} {record.name}")
def test_records_say_what_they_are(record):
    assert record.meaning
    assert all(field.meaning for _, field in record.fields_of())
    for file in modules(record.written) + modules(record.read):
        assert file.exists(), f"{record.name} of {record.table}: there is no {file}"
    for file in modules(record.read):
        used = any(re.search(rf"\bf\.{name}\b", file.read_text(encoding="utf-8")) for name in record.constants())
        assert used, f"{record.name} of {record.table} is not read by {file}"


def test_references_are_to_what_is_declared():
    sections = {f"{section.table}.{section.name}" for section in r.SECTIONS}
    records = {(record.table, record.name) for record in r.RECORDS}
    for record in r.RECORDS:
        for field in record.fields:
            assert field.to in {"", "hinge", "loop", "cloud", "q"} | sections
            assert isinstance(field.length, int) or (field.to.partition(".")[0], field.length) in records
    header = {field.name for field in r.HEADER.fields}
    assert all(name in header for section in r.SECTIONS for name in (section.start, section.count) if name)


def test_rows_by_name():
    row = r.SPRING.row(acts=True, tau=16, q=4, v=5, local=False)
    assert row == [4, 5, 16, 1, 0]
    with pytest.raises(TypeError, match=r"spring \(plan\): missing acts; unknown act"):
        r.SPRING.row(act=True, tau=16, q=4, v=5, local=False)
    with pytest.raises(TypeError, match="unknown more"):
        r.SPRING.row(acts=True, tau=16, q=4, v=5, local=False, more=1)
    with pytest.raises(TypeError, match="missing tau"):
        r.SPRING.row(acts=True, q=4, v=5, local=False)


def test_a_field_with_a_variant_takes_one_of_the_two():
    given = dict.fromkeys(("inner", "kind", "q", "v", "tau", "vdot", "massive", "record", "branch", "slot", "flex", "front",
                           "junction", "solved"), 0)
    joint, node = r.HINGE.row(**given, cloud=1, given=2), r.HINGE.row(**given | {"kind": hinges.NODE}, node_par=3, node_ws=4)
    assert (joint[f.CLOUD], joint[f.GIVEN], node[f.NODE_PAR], node[f.NODE_WS]) == (1, 2, 3, 4)
    assert "cloud" in r.HINGE.view(np.array(joint))
    assert "node_par" in r.HINGE.view(np.array(node))
    with pytest.raises(TypeError, match="cloud or node_par"):
        r.HINGE.row(**given, cloud=1, node_par=3, given=2)


def test_pack_and_view_are_inverse():
    rng = np.random.default_rng(1)
    values = {"place_c": rng.normal(size=(3, 3)), "place_r": rng.normal(size=(4, 3)), "mass": rng.normal(size=4),
              "moment": rng.normal(size=3), "inertia": rng.normal(size=(1, 6))}
    packed = r.HINGE_PARAMETERS.pack(**values)
    assert packed.shape == (4, f.HINGE_PARS)
    for name, view in r.HINGE_PARAMETERS.view(packed).items():
        np.testing.assert_array_equal(view, np.broadcast_to(values[name], view.shape))
    np.testing.assert_array_equal(packed[:, f.MASS], values["mass"])


def test_pack_refuses_wrong_names_and_shapes():
    with pytest.raises(TypeError, match="missing damping; unknown damp"):
        r.SPRING_PARAMETERS.pack(stiffness=1.0, rest=0.0, damp=0.1)
    with pytest.raises(ValueError, match=r"'axis' has shape \(2,\); its field has \(3,\)"):
        r.WHEEL_PARAMETERS.pack(axis=[0.0, 1.0], inertia=0.1)


def test_padding_is_zero():
    ground = r.GROUND_PARAMETERS.pack(gravity=[0, 0, -9.81], mu=0.0, total_mass=2.0, stabilization=0.0, least_share=1e-13)
    assert ground.shape == (1, f.HINGE_PARS)
    assert not ground[0, 7:].any()


def test_followers_are_walked():
    plan = np.array(r.JUNCTION.row(at=0, width=8, end=6, next_junction=0, previous_junction=0, last_junction=0, n_closed=1,
                                   n_sources=2)
                    + r.CLOSED.row(column=0, rows=6, multipliers=0)
                    + r.SOURCE.row(at=0, width=8, adds=0, u=0, stride=0, hinges=0, n_runs=2)
                    + r.RUN.row(run_from=0, run_to=0, run_length=3)*2
                    + r.SOURCE.row(at=0, width=8, adds=0, u=0, stride=0, hinges=0, n_runs=0))
    found = list(r.JUNCTION.walk(plan, 0))
    assert [record.name for record, _ in found] == ["junction", "closed loop", "source", "run", "run", "source"]
    assert found[-1][1] + r.SOURCE.size == len(plan)


def test_a_record_without_a_variant_needs_no_values():
    record = Record("pair", "pars", "two", Field("PAIR_A", "first", (2,)), Field("PAIR_B", "second"), prefix="PAIR_")
    assert record.constants() == {"PAIR_A": 0, "PAIR_B": 2}
    assert record.size == 3


# ---- blocks of flexible bodies ----------------------------------------------------------------------------------------
COUNTS = [(n, p, pairs, turns, diagonal, spins) for n in (1, 2, 5, 8) for p in (0, 1, 3) for pairs in (0, 1)
          for turns in range(pairs + 1) for diagonal in (0, 1) for spins in (0, 1, 3)[:2*pairs + 1]]


@pytest.mark.parametrize("counts", COUNTS)
def test_flexible_parameters(counts):
    """Rows by rows, each padded to four, as the sweeps take them."""
    n, p, pairs, turns, diagonal, spins = counts
    N = n + p
    shapes = {"mass": (n, n), "place": (1, 3), "shapes": (1, 6*n), "elastic": (1, 3*n if diagonal else n + 2*n*n),
              "inertia": (1, 9*N), "t": (1, 3*N), "inertia_slopes": (N*pairs, 9*N), "rate_slopes": (N*(pairs + turns), 3*N),
              "along": (p + spins, n), "along_slopes": (n*(p + spins), n), "about": (spins, 3*n), "about_slopes": (n*spins, 3*n)}
    places = r.FLEXIBLE_PARAMETERS.places(*counts)
    assert {name: size for name, (_, size) in places.items()} == {name: rows*padded(m) for name, (rows, m) in shapes.items()}
    given = {name: np.random.default_rng(1).normal(size=shape) for name, shape in shapes.items()}
    packed = r.FLEXIBLE_PARAMETERS.pack(*counts, **given)
    for name, view in r.FLEXIBLE_PARAMETERS.view(packed, 0, *counts).items():
        rows, m = shapes[name]
        np.testing.assert_array_equal(view.reshape(rows, padded(m))[:, :m], given[name])


def test_blocks_refuse_wrong_names_and_sizes():
    with pytest.raises(TypeError, match=r"missing \['curves'\], unknown \['curve'\]"):
        r.NODE_PARAMETERS.pack(2, place=np.zeros(3), shapes=np.zeros(12), curve=np.zeros((2, 12)))
    with pytest.raises(ValueError, match="'shapes' has 1 rows of 13, padded 16 numbers; its block has 12"):
        r.NODE_PARAMETERS.pack(2, place=np.zeros(3), shapes=np.zeros(13), curves=np.zeros((2, 12)))


@pytest.mark.parametrize("columns", [0, 8])
@pytest.mark.parametrize("n", [1, 4, 7])
def test_rows_of_modes(n, columns):
    """Of one state padded, of four not; the room that is kept is enough for both."""
    g, z, end, length = schema.mode_row(n, columns, 4)
    assert (g, z, end, length) == (padded(n), padded(n) + 6, padded(n) + 8, padded(n) + 8 + columns)
    assert schema.mode_row(n, columns, 1) == (n, n + 6, n + 7, n + 7 + columns)
    assert schema.modal_record(n, 2, 1, columns, 1)[-1] <= schema.modal_record(n, 2, 1, columns)[-1]


def test_blocks_of_methods():
    """One behind the other; motions of bodies are taken four numbers at a time."""
    assert r.DENSE_METHOD.places(5, 3) == {"mass matrix": (0, 25), "jacobian": (25, 15), "system": (40, 9), "order": (49, 3),
                                           "limits": (52, 3), "balance": (55, 3)}
    places = r.CLOUD_METHOD.places(101, 2, 6)
    assert places["joint"] == (101, f.CLOUD_HEAD)
    assert places["clouds"][1] >= 3*f.CLOUD_STORE
    assert places["equations"][1] >= 2*2 + 2
    assert places["motions"][0] % 4 == 0
    assert places["motions"][1] == 4*f.CLOUD_BODY*8
    assert places["sums"][1] == 4*(f.CLOUD_SUMS + 10 + 6)


@pytest.mark.parametrize("n", [1, 4, 7])
def test_scratch_of_nodes_is_enough(n):
    assert schema.node_scratch(n)[-1] >= max(6*padded(n), padded(6*n))
