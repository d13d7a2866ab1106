"""Tolerances say why they are what they are."""
from tests.support.tolerance_count import File, all_tolerances


def test_each_tolerance_has_a_reason():
    without = [f"{each.file}:{each.line}: {each.text}" for each in all_tolerances() if not each.reason]
    assert not without, "a tolerance needs a reason, see docs/develop/testing.md:\n" + "\n".join(without)


def test_what_counts_as_a_reason(tmp_path):
    """A named bound, a comment, a docstring that names the number; not a bare number, nor a name that stands for one."""
    (tmp_path / "test_x.py").write_text('''"""Of x.

Tolerances: 1e-7 is what differences leave.
"""
from tests.support.tolerance import SWEEP
BARE = 1e-5
def test_x(x, y):
    """To 1e-4, as printed."""
    assert_same(x, y, SWEEP)
    assert_same(x, y, 2*SWEEP)
    assert x == approx(y, rel=1e-7)
    assert x == approx(y, rel=1e-4)
    assert abs(x) < 1e-3    # half a step
    assert x == approx(y)
    assert_same(x, y, 1e-9)
    assert_same(x, y, BARE)
    assert abs(x) < 0.02
    assert_same(*x, 1e-9)
''')
    found = [each.reason for each in File(tmp_path / "test_x.py").tolerances()]
    assert found == [True, True, True, True, True, "default", False, False, False, False]
