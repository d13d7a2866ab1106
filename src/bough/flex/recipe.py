"""How a flexible body was made: its maker and plain keywords, kept so that a file can say it in words instead of arrays."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import wraps
from hashlib import sha256
from inspect import signature
from typing import Any, ParamSpec

import numpy as np

from bough.flex.flexible_body import FlexibleBody
from bough.flex.storage import to_arrays

Given = ParamSpec("Given")
Maker = Callable[Given, FlexibleBody]
_LONGEST = 1000  # numbers; the arrays of the body themselves are shorter than a longer recipe
_EXACT = (np.float64, np.int64, np.int32, np.bool_)  # what Python's own numbers repeat exactly


class NotPlain(Exception):
    """A keyword is a function, a file, a large matrix: nothing that a recipe could repeat by itself."""


@dataclass(frozen=True)
class Recipe:
    """A maker ("beam", "solid", "matrices"), the keywords it was given, and the digest of the body that it made."""

    kind: str
    keywords: dict[str, Any]
    digest: str


def remembers(kind: str, **spelled: Callable[[Any], Any]) -> Callable[[Maker[Given]], Maker[Given]]:
    """Let a maker of bodies leave its recipe in them; `spelled` turns keywords into plain data, or raises NotPlain.

    >>> from bough.flex import beam
    >>> beam(4.0, EI=800.0, mass_per_length=1.5, modes=2).recipe.keywords
    {'length': 4.0, 'EI': 800.0, 'mass_per_length': 1.5, 'modes': 2}
    >>> beam(4.0, EI=lambda x: 800.0 - 100.0 * x, mass_per_length=1.5, modes=2).recipe is None
    True
    """

    def remembering(make: Maker[Given]) -> Maker[Given]:
        names = list(signature(make).parameters)

        @wraps(make)
        def made(*args: Given.args, **kwargs: Given.kwargs) -> FlexibleBody:
            body = make(*args, **kwargs)
            given = dict(zip(names, args, strict=False)) | kwargs
            try:
                keywords = {name: plain(spelled[name](value) if name in spelled else value) for name, value in given.items()}
            except NotPlain:
                return body
            return body if _length(keywords) > _LONGEST else replace(body, recipe=Recipe(kind, keywords, digest(body)))

        return made

    return remembering


def recipe_of(body: FlexibleBody) -> Recipe | None:
    """The recipe of a body, unless the body is another by now: changed by dataclasses.replace, or in its arrays.

    >>> from bough.flex import beam
    >>> boom = beam(4.0, EI=800.0, mass_per_length=1.5, modes=2)
    >>> recipe_of(boom).kind, recipe_of(replace(boom, geometric=None))
    ('beam', None)
    """
    return body.recipe if body.recipe is not None and body.recipe.digest == digest(body) else None


def digest(body: FlexibleBody) -> str:
    """A text that no other body has: a hash of every array, bit for bit."""
    found = sha256()
    for name, values in sorted(to_arrays(body).items()):
        found.update(f"{name} {values.dtype} {values.shape}".encode())
        found.update(np.ascontiguousarray(values).tobytes())
    return found.hexdigest()


def plain(value: Any) -> Any:
    """A copy made of numbers, texts, lists, tuples and dicts alone.

    >>> plain({"tip": np.array([1.0, 2.0]), "EI": (np.float64(3.0), 4)})
    {'tip': [1.0, 2.0], 'EI': (3.0, 4)}
    """
    if isinstance(value, np.ndarray | np.generic) and value.dtype in _EXACT and value.size <= _LONGEST:
        return value.tolist()
    if value is None or type(value) in (bool, int, float, str):
        return value
    if isinstance(value, list | tuple):
        entries = [plain(entry) for entry in value]
        return tuple(entries) if isinstance(value, tuple) else entries
    if isinstance(value, Mapping) and all(isinstance(key, str) for key in value):
        return {key: plain(entry) for key, entry in value.items()}
    raise NotPlain


def without_files(value: Any) -> Any:
    """The same, unless it names files: what they hold can change."""
    if isinstance(value, str):
        raise NotPlain
    for entry in _entries(value):
        without_files(entry)
    return value


def _entries(value: Any) -> list[Any]:
    return list(value.values()) if isinstance(value, Mapping) else list(value) if isinstance(value, list | tuple) else []


def _length(value: Any) -> int:
    """How many numbers and texts there are in plain data."""
    nested = isinstance(value, Mapping | list | tuple)
    return sum(map(_length, _entries(value))) if nested else 1
