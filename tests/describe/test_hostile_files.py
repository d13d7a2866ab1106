"""Files that are made to hang a reader, or to drown its user: refused in seconds, in few lines.

The bounds in CPU seconds are ten times what a two-core machine takes; what each test had before took minutes, or never ended."""

import cProfile
import pstats
import time
from contextlib import contextmanager

import pytest
import yaml

import bough
from bough import System
from bough.errors import SHOWN, DescriptionError, ModelError
from bough.exchange.urdf import load_urdf


@contextmanager
def refused(error=DescriptionError, within=20.0):
    """What is raised, as a list of lines; in so many seconds."""
    lines, start = [], time.process_time()
    with pytest.raises(error) as caught:
        yield lines
    assert time.process_time() - start < within
    lines += str(caught.value).splitlines()
    assert len(lines) <= SHOWN + 1
    assert max(map(len, lines)) < 1000


def laughs(first, each):
    """Nine times nine times ... of what was before."""
    lines = [f"a0: &a0 {first}", *(f"a{i}: &a{i} {each.format(','.join(9 * [f'*a{i - 1}']))}" for i in range(1, 10))]
    return "\n".join(lines)


@pytest.mark.parametrize("text", [
    laughs("[1, 2, 3]", "[{}]") + "\nbodies: [{name: b, inertia: *a9}]",
    laughs("{x: 1, y: 2}", "{{<<: [{}]}}") + "\nbodies: [*a9]",
])  # fmt: skip
def test_aliases_that_multiply_are_refused(text):
    with refused() as lines:
        System.from_yaml(text)
    assert lines == ["line 7: alias *a5 and those before it repeat more than 1,000,000 values; use fewer"]


def test_an_alias_of_itself_is_refused():
    with refused() as lines:
        System.from_yaml("bodies:\n- &a [*a]\n")
    assert lines == ["line 2: alias *a stands inside what it repeats; write it out"]


def test_aliases_that_spare_writing_are_fine():
    text = "bodies:\n- &one {name: b0, mass: 1, inertia: &I [1, 1, 1]}\n"
    text += "".join(f"- {{<<: *one, name: b{i}, inertia: *I}}\n" for i in range(1, 1000))
    assert len(System.from_yaml(text).bodies) == 1000


def test_deep_brackets_do_not_end_the_process():
    for text in ("a: " + "[" * 100_000, "a: " + "[" * 100_000 + "]" * 100_000, "a: " + "{b: " * 100_000):
        with refused() as lines:
            System.from_yaml(text)
        assert "nested too deeply" in lines[0]


@pytest.mark.slow
def test_twenty_thousand_unknown_keys():
    for text in ("bodies: []\n" + "".join(f"k{i}: 1\n" for i in range(20_000)),
                 "bodies:\n- name: b\n" + "".join(f"  k{i}: 1\n" for i in range(20_000)),
                 "bodies:\n" + "".join(f"- {{name: b{i}, mas: 1}}\n" for i in range(20_000))):
        with refused() as lines:
            System.from_yaml(text)
        assert "unknown key" in lines[0]
        assert lines[-1] == "... and 19,980 more"


def test_all_problems_are_in_the_error_though_the_message_lists_some():
    with pytest.raises(DescriptionError) as caught:
        System.from_yaml("bodies: []\n" + "".join(f"k{i}: 1\n" for i in range(30)))
    assert len(caught.value.problems) == 30


def test_five_thousand_wrong_parents():
    text = "bodies:\n" + "".join(f"- {{name: body{i}, parent: bdoy{i}}}\n" for i in range(5000))
    with refused() as lines:
        System.from_yaml(text)
    assert lines[0] == "line 2: body 'body0': parent 'bdoy0' is not a body of the system, did you mean 'body0'?"
    assert lines[-1] == "there are more such problems; fix these first"
    system = System("wrong")
    for i in range(5000):
        system.body(f"body{i}", parent=f"bdoy{i}")
    with refused(ModelError):
        system.compile()


def test_a_ring_of_five_thousand_parents():
    with refused() as lines:
        System.from_yaml("bodies:\n" + "".join(f"- {{name: body{i}, parent: body{(i + 1) % 5000}}}\n" for i in range(5000)))
    assert "body19 -> ... -> body0" in lines[0]


def test_five_thousand_wrong_coordinates():
    bodies = "".join(f"- {{name: body{i}, joint: {{type: revolute, axis: x}}, mass: 1}}\n" for i in range(5000))
    with refused(within=60.0) as lines:
        stops = "".join(f"- {{name: s{i}, coordinate: bod{i}, above: 1, stiffness: 1}}\n" for i in range(5000))
        System.from_yaml(f"bodies:\n{bodies}stops:\n{stops}")
    assert "did you mean 'body0'?" in lines[0]


def test_a_robot_of_wrong_links(tmp_path):
    links = "".join(f'<link name="link{i}"/>' for i in range(3000))
    ends = (f'<parent link="lnik{i}"/><child link="link{i}"/>' for i in range(3000))
    joints = "".join(f'<joint name="j{i}" type="fixed">{each}</joint>' for i, each in enumerate(ends))
    (tmp_path / "robot.urdf").write_text(f'<robot name="r">{links}{joints}</robot>', encoding="utf-8")
    with refused() as lines:
        load_urdf(tmp_path / "robot.urdf")
    assert lines[-1] == "... and 2,980 more"


def test_a_key_as_long_as_a_book_is_cut():
    with refused() as lines:
        System.from_dict({"bodies": [], "k" * 1_000_000: 1})
    assert "unknown key 'kkk" in lines[0]


@pytest.mark.slow
def test_ten_thousand_bodies_are_read_in_linear_time(tmp_path):
    """Four times the bodies take four times the time if it grows linearly, sixteen times if with the square: told apart at eight,
    by the quicker of two."""
    def seconds(n):
        bodies = "".join(f"- {{name: b{i}, parent: b{i - 1}, joint: {{type: revolute, axis: y}}, at: [0, 0, 0.3], mass: 1.0}}\n"
                         for i in range(1, n))
        (tmp_path / "chain.yaml").write_text(f"bodies:\n- {{name: b0, mass: 1}}\n{bodies}", encoding="utf-8")
        start = time.process_time()
        assert len(bough.load(tmp_path / "chain.yaml").bodies) == n
        return time.process_time() - start
    assert min(seconds(10_000) for _ in range(2)) < 8 * min(seconds(2500) for _ in range(2))


@pytest.mark.skipif(not yaml.__with_libyaml__, reason="YAML is read by Python")
def test_reading_a_body_takes_few_calls(tmp_path):
    """Of Python functions: 700 a body; 3100 before YAML was read by libyaml."""
    bodies = "".join(f"- {{name: b{i}, parent: b{i - 1}, joint: {{type: revolute, axis: y}}, mass: 1.0}}\n" for i in range(1, 200))
    (tmp_path / "chain.yaml").write_text(f"bodies:\n- {{name: b0, mass: 1}}\n{bodies}", encoding="utf-8")
    bough.load(tmp_path / "chain.yaml")
    profile = cProfile.Profile()
    profile.runcall(bough.load, tmp_path / "chain.yaml")
    assert pstats.Stats(profile).total_calls < 1500 * 200
