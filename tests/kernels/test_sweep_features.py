"""Sweeps say which features change their code: what can be reached from each without calling another sweep, by its bytecode."""

import dis
import inspect
from functools import cache
from types import CodeType, FunctionType, ModuleType, SimpleNamespace

import pytest

import bough.sweeps  # noqa: F401 - declares the names
from bough.kernels import lanes, linker
from bough.kernels.lanes import Features

FUNCTIONS = {name: linker.sweep_named(name).py_func for name in linker.NAMES}


class Asked:
    """Features that remember which were asked for; all are there."""

    def __init__(self):
        self.names = set()

    def __getattr__(self, name):
        self.names.add(name)
        return True


def python(function):
    return getattr(function, "py_func", function)


@cache
def named(function):
    """The functions of this package that a function names: its own, those of its modules, and those that it encloses."""
    known, codes, found = function.__globals__ | inspect.getclosurevars(function).nonlocals, [function.__code__], []
    while codes:
        code, value = codes.pop(), None
        codes += [each for each in code.co_consts if isinstance(each, CodeType)]
        for step in dis.get_instructions(code):
            if step.opname in ("LOAD_GLOBAL", "LOAD_DEREF"):
                value = known.get(step.argval)
            elif step.opname in ("LOAD_ATTR", "LOAD_METHOD") and isinstance(value, ModuleType):
                value = getattr(value, step.argval, None)
            else:
                continue
            found += map(python, value if isinstance(value, tuple) else [value])
    return [each for each in found if isinstance(each, FunctionType) and each.__module__.startswith("bough.")]


def choices(function):
    """The conditions of the choices that a function makes at compile time, by itself and by what is inlined."""
    found, seen, ahead, sweeps = [], set(), [function], set(FUNCTIONS.values())
    while ahead:
        each = ahead.pop()
        if each in seen or (each in sweeps and each is not function):
            continue
        seen.add(each)
        if each in lanes.CHOICES:
            needed, otherwise = lanes.CHOICES[each]
            found.append(needed)
            ahead.append(python(otherwise))
        ahead += named(each)
    return found


def made(needed, which):
    return needed(SimpleNamespace(features=which, width=1, tangents=0))


def features(function):
    """The features on which the code of a function depends."""
    asked = Asked()
    for needed in choices(function):
        made(needed, asked)
    return asked.names


@pytest.mark.parametrize("name", linker.NAMES)
def test_a_sweep_is_compiled_for_the_features_that_change_it(name):
    declared = linker.USES[name].features
    assert features(FUNCTIONS[name]) == {each.partition(" of ")[0] for each in declared or Features._fields * (declared is None)}


@pytest.mark.parametrize("name", linker.NAMES)
def test_a_feature_of_another_changes_nothing_without_it(name):
    """Of "holds of loops": without loops, each choice is the same with and without holds."""
    for each in linker.USES[name].features or ():
        feature, _, other = each.partition(" of ")
        if other:
            without = Features(**dict.fromkeys(Features._fields, True) | {other: False})
            for needed in choices(FUNCTIONS[name]):
                assert made(needed, without) == made(needed, without._replace(**{feature: False}))


def test_models_share_what_their_features_do_not_change():
    """Addresses of frames are the same in all tables; those of solvers are not."""
    frames = linker.sweep_named("bough.sweeps.kinematics.fill_frames")
    solver = linker.sweep_named("bough.sweeps.articulated.solve_order_n")
    loops, rigid = Features(loops=True), Features()
    assert linker.compiled_address(frames, loops, 1, 0) == linker.compiled_address(frames, rigid, 1, 0)
    assert linker.sweep_signature(solver, loops, 1, 0) != linker.sweep_signature(solver, rigid, 1, 0)
