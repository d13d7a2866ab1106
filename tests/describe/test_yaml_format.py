"""YAML: lossless both ways, and errors with their lines."""

import pytest
import yaml
from hypothesis import HealthCheck, given, settings

from bough.describe import System, load
from bough.describe.document import json_schema, read
from bough.errors import DescriptionError
from tests.support.described_systems import systems

quick = settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))


@quick
@given(systems())
def test_round_trips(system):
    text = system.to_yaml()
    assert System.from_yaml(text) == system
    assert System.from_dict(system.to_dict()) == system
    assert System.from_dict(yaml.safe_load(text)) == system  # any YAML reader reads the same numbers
    assert System.from_yaml(text).to_yaml() == text


@pytest.mark.parametrize(
    ("text", "value"),
    [("1e-3", 1e-3), ("1E5", 1e5), ("-2.5e+3", -2500.0), (".5", 0.5), ("1.", 1.0), ("010", 10), ("on", "on"),
     ("1:30", "1:30"), ("true", True), ("~", None), ("", None), ("2001-01-01", "2001-01-01"), ("-.inf", float("-inf"))],
)  # fmt: skip
def test_scalars(text, value):
    got = read(f"key: {text}").data["key"]
    assert got == value
    assert type(got) is type(value)


def test_files(tmp_path):
    path = tmp_path / "top.yaml"
    system = System("töp")
    system.body("disc", mass=0.1 + 0.2)
    assert system.to_yaml(path) == path.read_text(encoding="utf-8")
    assert load(path) == System.from_yaml(str(path)) == system


def test_merges():
    system = System.from_yaml("bodies:\n- &a {name: a, mass: 2}\n- {<<: *a, name: b}\n")
    assert system.bodies["b"].mass == 2


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("bodies:\n- name: boom\n  mas: 3\n", "3: body 'boom': unknown key 'mas'; did you mean 'mass'?"),
        ("bodies:\n- mass: 3\n  mass: 4\n", "3: key 'mass' is given twice, first in line 2; keep one of them"),
        ("bodies:\n- name: a\n  mass: heavy\n", "3: body 'a': mass is 'heavy'; give a number (not a text)"),
        ("bodies:\n- mass: 1\n", "2: body 1: name is missing; give it"),
        ("bodies:\n- name: 3\n", "2: body 1: name is 3; give a text (in YAML, put it in quotes)"),
        ("bodies:\n- boom\n", "2: system: bodies[0] is 'boom'; give a mapping of keys to values, at least name"),
        ("boddies:\n- name: a\n", "1: system: unknown key 'boddies'; did you mean 'bodies'?"),
        ("bough: 2\nname: x\n",
         "1: system 'x': bough is 2; this version reads 'bough: 1': write that, or update bough"),
        (
            "bodies:\n- name: a\n  joint:\n    type: revolute\n    dampng: 3\n",
            "5: body 'a': revolute joint: unknown key 'dampng'; did you mean 'damping'?",
        ),
        (
            "bodies:\n- name: boom\n- name: b\n  parent: bom\n",
            "4: body 'b': parent 'bom' is not a body of the system, did you mean 'boom'?",
        ),
        (
            "bodies:\n- {name: a}\n- {name: a}\n",
            "3: body 'a': there is a body of this name already; give each body its own name",
        ),
        ("name: s\ngravity:\n  mu: 3\n  position: [1, 0, 0]\n  velocity: 2\n",
         "5: system 's': central gravity: velocity is 2; give 3 finite numbers"),
        ("simulation:\n  until: 1\n  dt: -1\n", "3: system: simulation: dt is -1.0 s; give a number > 0"),
    ],
)  # fmt: skip
def test_errors_name_file_and_line(tmp_path, text, message):
    path = tmp_path / "arm.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(DescriptionError) as caught:
        load(path)
    assert str(caught.value) == f"{path}:{message}"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("bodies:\n- name: [boom\n  mass: 3\n", "line 3: not valid YAML"),
        ("bodies:\n\t- name: x\n", "line 2: not valid YAML"),
        ("name: x\nb: !!python/object:os.system y\n", "line 2: not valid YAML"),
        ("a: 1\n---\nb: 2\n", "another document"),
        ("a: !!float heavy\nb: 1\n", "does not fit"),
        ("a: !!bool maybe\nb: 1\n", "does not fit"),
        ("a: 1\nb: \x01\n", "line 2: not valid YAML: the character #x0001"),
        ("a: " + "[" * 5000 + "\n", "nested too deeply"),
        ("- a\n- b\n", "the system is ['a', 'b']; give a mapping"),
        ("\n", "the system is empty"),
        ("1: a\n2: b\n", "unknown key '1'"),
    ],
)
def test_what_is_no_description(text, words):
    with pytest.raises(DescriptionError) as caught:
        System.from_yaml(text)
    assert words in str(caught.value)


def test_problems_come_in_the_order_of_their_lines():
    text = "bodies:\n- name: a\n  mass: heavy\n  at: [1, 2]\n  joint: {type: fre}\n  com: 3\nwheels:\n- {name: w}\n"
    with pytest.raises(DescriptionError) as caught:
        System.from_yaml(text)
    places = [line.split(":")[0] for line in str(caught.value).splitlines()]
    assert places == ["line 3", "line 4", "line 5", "line 6", "line 8", "line 8", "line 8"]


def test_files_that_cannot_be_read(tmp_path):
    (tmp_path / "latin.yaml").write_bytes("name: é".encode("latin-1"))
    for path, words in [("none.yaml", "no such file"), ("", "cannot be read"), ("latin.yaml", "UTF-8")]:
        with pytest.raises(DescriptionError, match=words):
            load(tmp_path / path)


def accepts(schema, value, whole):
    """The part of JSON Schema that bough's uses."""
    if "$ref" in schema:
        return accepts(whole["$defs"][schema["$ref"].split("/")[-1]], value, whole)
    if "anyOf" in schema:
        return any(accepts(choice, value, whole) for choice in schema["anyOf"])
    if "const" in schema or "enum" in schema:
        return value in schema.get("enum", [schema.get("const")])
    kinds = {"object": dict, "array": list, "string": str, "number": (int, float), "boolean": bool, "null": type(None)}
    if not isinstance(value, (kinds | {"integer": int})[schema["type"]]):
        return False
    if isinstance(value, dict):
        known, other = schema.get("properties", {}), schema.get("additionalProperties", False)
        fits = set(schema.get("required", [])) <= set(value) and (bool(other) or set(value) <= set(known))
        return fits and all(accepts(known.get(key, other), entry, whole) for key, entry in value.items())
    if isinstance(value, list):
        sized = schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", len(value))
        entries = schema.get("prefixItems") or [schema["items"]] * len(value)
        return sized and all(accepts(s, entry, whole) for s, entry in zip(entries, value, strict=True))
    return True


@pytest.mark.slow
@quick
@given(systems())
def test_schema_accepts_what_is_written(system):
    schema = json_schema()
    data = system.to_dict()
    assert accepts(schema, data, schema)
    assert not accepts(schema, data | {"boddies": []}, schema)
    assert not accepts(schema, data | {"bodies": [{"mass": 1}]}, schema)
