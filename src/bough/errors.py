"""The errors that bough raises. Every message says what, where, which value, and what to do about it."""

from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher
from typing import Any, NamedTuple

Path = tuple[str | int, ...]


class BoughError(Exception):
    """Base class of every error that bough raises deliberately."""


class Problem(NamedTuple):
    """One thing wrong with a description: its text, what it is about, and the keys that lead to it."""

    text: str
    subject: str = ""
    path: Path = ()
    place: str = ""

    def __str__(self) -> str:
        return ": ".join(part for part in (self.place, self.subject, self.text) if part)


class DescriptionError(BoughError, ValueError):
    """A System, one of its parts or its YAML file is invalid; `problems` lists everything found.

    >>> raise DescriptionError("body 'boom': mass is -3.0 kg; give a number >= 0")
    Traceback (most recent call last):
    bough.errors.DescriptionError: body 'boom': mass is -3.0 kg; give a number >= 0
    """

    def __init__(self, problems: str | Sequence[Problem]) -> None:
        self.problems = [Problem(problems)] if isinstance(problems, str) else list(problems)
        super().__init__(listing(self.problems))


SHOWN = 20                          # problems that a message lists


def listing(problems: Sequence[Problem]) -> str:
    """The problems line by line, and how many more there are.

    >>> listing([Problem(f"{i} is odd") for i in range(1, 49, 2)]).splitlines()[-1]
    '... and 4 more'
    """
    more = [f"... and {len(problems) - SHOWN:,} more"] if len(problems) > SHOWN else []
    return "\n".join([*map(str, problems[:SHOWN]), *more])


class ModelError(BoughError, ValueError):
    """A System cannot be compiled into a model."""


class StateError(BoughError, ValueError):
    """A state, a force or another argument given to a model has a wrong shape or value."""


class NotFiniteError(StateError):
    """A computed result is not finite; `rows` are the states of the batch for which it is not."""

    def __init__(self, message: str, rows: Sequence[int]) -> None:
        super().__init__(message)
        self.rows = list(rows)


class SimulationError(BoughError, RuntimeError):
    """A run could not continue; `result` holds the samples recorded up to then, or None."""

    def __init__(self, message: str, result: Any = None) -> None:
        super().__init__(message)
        self.result = result


class StepWarning(UserWarning):
    """The steps of a run are too large: it will diverge, or it is stable but inaccurate."""


def name_list(what: str, given: Any) -> list[str]:
    """A name, or several, as a list.

    >>> name_list("record", "energy")
    ['energy']
    >>> name_list("record", 3)
    Traceback (most recent call last):
    bough.errors.StateError: record is 3; give a name, or a list of names
    """
    if isinstance(given, str):
        return [str(given)]
    found = list(given) if isinstance(given, Iterable) and getattr(given, "shape", None) != () else [None]
    if not all(isinstance(name, str) for name in found):
        raise StateError(f"{what} is {given!r}; give a name, or a list of names")
    return [str(name) for name in found]


_WORD = 100                         # characters of a word that are compared
_CLOSE = 0.6                        # share of characters that two words have in common at least


def nearest(word: Any, known: Iterable[str]) -> str:
    """The known word that was probably meant, as the end of a message, or an empty text.

    >>> nearest("mas", ["name", "mass", "com"])
    ", did you mean 'mass'?"
    >>> nearest("zebra", ["name", "mass", "com"])
    ''
    """
    text = str(word)[:_WORD]
    letters, matcher, best = set(text), SequenceMatcher(), (_CLOSE, "")
    matcher.set_seq2(text)
    for each in known:                                          # bounds of the ratio before the ratio itself, which takes long
        if letters.isdisjoint(each) or 2.0 * min(len(text), len(each)) / (len(text) + len(each)) < best[0]:
            continue
        matcher.set_seq1(each)
        if matcher.quick_ratio() >= best[0]:
            best = max(best, (matcher.ratio(), each))
    return f", did you mean {best[1]!r}?" if best[1] else ""


def similar(word: Any, known: Iterable[str]) -> str:
    """The same within a message that continues.

    >>> similar("mas", ["name", "mass", "com"])
    " (did you mean 'mass'?)"
    """
    found = nearest(word, known)
    return f" ({found[2:]})" if found else ""
