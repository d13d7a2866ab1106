"""The base of all descriptions: immutable values that check themselves and report errors in bough's own messages."""

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, ClassVar, Self, TypeVar, get_args

from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationError
from pydantic_core import ErrorDetails

from bough.describe.numeric import shown, word
from bough.errors import DescriptionError, Problem, nearest

Entry = TypeVar("Entry")


class Fault(ValueError):
    """Raised by a check that looks at several fields: `field` is the one at fault, the text a complete sentence."""

    def __init__(self, field: str, text: str) -> None:
        super().__init__(text)
        self.field = field


class Description(BaseModel):
    """A part of a System: immutable, equal by value, its fields checked when it is made.

    The validators of fields raise ValueError with a predicate ("is -3.0 kg; give a number >= 0"); here it gets its
    subject ("body 'boom': mass ...").
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    noun: ClassVar[str]         # what messages call it: the name of its class, if it does not say otherwise

    def __init_subclass__(cls, *, init: bool = True, **options: Any) -> None:
        """With init=False type checkers take the inherited __init__, not one made of the fields."""
        super().__init_subclass__(**options)
        cls.noun = vars(cls).get("noun", cls.__name__.lower())

    def __init__(self, **fields: Any) -> None:
        try:
            super().__init__(**fields)
        except ValidationError as error:
            found = [problem for detail in error.errors() for problem in _problems(type(self), detail, fields)]
            raise DescriptionError(found) from None

    @classmethod
    def from_mapping(cls, mapping: Any) -> Self:
        """Make one from a mapping as a YAML file holds it; unknown and missing keys are reported by name."""
        if isinstance(mapping, cls):
            return mapping
        if not isinstance(mapping, Mapping):
            required = ", ".join(name for name, field in cls.model_fields.items() if field.is_required())
            least = f", at least {required}" if required else ""
            raise ValueError(f"is {shown(mapping)}; give a mapping of keys to values{least}")
        made = cls.__new__(cls)
        Description.__init__(made, **{str(key): value for key, value in mapping.items()})
        return made

    def to_dict(self) -> dict[str, Any]:
        """The same as plain numbers, strings, lists and dicts; fields with their default value are left out."""
        return self.model_dump(mode="json", exclude_defaults=True)

    def derived(self) -> tuple[str, ...]:
        """The fields that follow from others: they are neither written nor shown."""
        return ()

    def __setattr__(self, field: str, value: Any) -> None:
        subject = subject_of(type(self), getattr(self, "name", None))
        raise DescriptionError(f"{subject}: {field} cannot become {shown(value)}, for descriptions do not change; make a new "
                               f"{self.noun}")

    def __delattr__(self, field: str) -> None:
        self.__setattr__(field, None)

    def __repr__(self) -> str:
        defaults = {name: field.default for name, field in type(self).model_fields.items()}
        hidden = ("name", *self.derived())
        texts = {name: repr(value) if isinstance(value, BaseModel) else shown(value) for name, value in self}
        changed = (f"{name}={texts[name]}" for name, value in self if name not in hidden and value != defaults[name])
        first = [repr(name)] if (name := getattr(self, "name", None)) is not None else []
        return f"{type(self).__name__}({', '.join([*first, *changed])})"

    def __str__(self) -> str:
        return repr(self)


def subject_of(kind: type[Description], name: Any) -> str:
    """What a message is about: "body 'boom'", or "body" when it has no name (yet)."""
    return f"{kind.noun} {name!r}" if isinstance(name, str) and name else kind.noun


def _problems(kind: type[Description], detail: ErrorDetails, fields: Mapping[str, Any]) -> list[Problem]:
    """An error of pydantic as a Problem; one inside a nested description keeps its own text."""
    path, subject = detail["loc"], subject_of(kind, fields.get("name"))
    cause = detail.get("ctx", {}).get("error")
    if isinstance(cause, DescriptionError):
        return [_nested(problem, path, subject) for problem in cause.problems]
    if isinstance(cause, Fault):
        return [Problem(str(cause), subject, (cause.field,))]
    where = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path).lstrip(".")
    if detail["type"] == "extra_forbidden":
        return [Problem(unknown_key(path[0], kind.model_fields), subject, path)]
    if detail["type"] == "missing":
        return [Problem(f"{where} is missing; give it", subject, path)]
    predicate = str(cause) if cause else f"is {shown(detail['input'])}; {detail['msg']}"
    return [Problem(f"{where} {predicate}", subject, path)]


def _nested(problem: Problem, path: tuple[str | int, ...], owner: str) -> Problem:
    subject = problem.subject
    if path and isinstance(path[-1], int):          # an entry of a list stands for itself: "body 'boom'", "wheel 2"
        head, colon, rest = subject.partition(":")
        numbered = subject if "'" in head else f"{head} {path[-1] + 1}{colon}{rest}"
        return problem._replace(subject=numbered, path=path + problem.path)
    return problem._replace(subject=f"{owner}: {subject}" if subject else owner, path=path + problem.path)


def among(literal: Any) -> BeforeValidator:
    """The check of a field that holds one of the words of a Literal."""
    return BeforeValidator(lambda value: word(value, get_args(literal)))


def mapping_schema(needed: dict[str, Any], **others: Any) -> dict[str, Any]:
    """The JSON Schema of a mapping with these keys, and perhaps others."""
    return {"type": "object", "properties": needed | others, "required": list(needed), "additionalProperties": False}


@contextmanager
def under(*path: str | int) -> Iterator[None]:
    """Errors raised inside are reported with this path before their own."""
    try:
        yield
    except DescriptionError as error:
        raise DescriptionError([problem._replace(path=(*path, *problem.path)) for problem in error.problems]) from None


def read_each(read: Callable[[Any], Entry], entries: list[Any]) -> tuple[Entry, ...]:
    """The entries of a list as `read` makes them; errors are reported with the index in the list."""
    made = []
    for index, entry in enumerate(entries):
        try:
            with under(index):
                made.append(read(entry))
        except DescriptionError:  # in its own words
            raise
        except ValueError as error:
            raise ValueError(f"is {shown(entries)}, where an entry {error}") from None
    return tuple(made)


def unknown_key(key: Any, known: Any) -> str:
    """The message for an unknown key."""
    remedy = nearest(key, known).removeprefix(", ") or "the keys are " + ", ".join(known)
    return f"unknown key {shown(str(key))}; {remedy}"


def refuse_unknown(given: Mapping[Any, Any], known: Collection[str], subject: str) -> None:
    """Raise if a mapping has unknown keys."""
    if unknown := [Problem(unknown_key(key, known), subject, (str(key),)) for key in given if key not in known]:
        raise DescriptionError(unknown)
