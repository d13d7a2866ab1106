"""Flexible bodies in YAML: the keywords of bough.flex's makers, whose forms are checked here, and whose values by the makers."""

import base64
import binascii
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, TypeAlias

from pydantic import BeforeValidator, GetPydanticSchema, PlainSerializer, WithJsonSchema, create_model
from pydantic_core import core_schema

from bough import flex
from bough.describe.base import Description, mapping_schema, under, unknown_key
from bough.describe.numeric import NUMBERS, VECTOR, Number, Truth, Vector, items, number, numbers, shown, vector
from bough.errors import DescriptionError, Problem
from bough.flex.choices import AXES, REDUCTIONS, VARIANTS

if TYPE_CHECKING:
    from bough.flex import FlexibleBody

Reader = Callable[[Any], Any]


def _word(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError(f"is {shown(value)}; give a text (in YAML, put it in quotes)")
    return value


def _whole(value: Any) -> int:
    if number(value) % 1:
        raise ValueError(f"is {shown(value)}; give a whole number")
    return int(value)


def _words(value: Any) -> tuple[str, ...]:
    if (given := items(value)) is None:
        raise ValueError(f"is {shown(value)}; give a list of texts")
    return tuple(map(_word, given))


def _table(value: Any) -> float | list[float]:
    return number(value) if items(value) is None else list(numbers(value))


def _bending(value: Any) -> Any:
    """One stiffness for both planes, or {y: ..., z: ...}; a pair of bough.flex.beam is a tuple."""
    if isinstance(value, tuple) and len(value) == 2:
        value = {"y": value[0], "z": value[1]}
    if not isinstance(value, Mapping):
        return _table(value)
    if set(value) != {"y", "z"}:
        raise ValueError(f"is {shown(value)}; give a number, a list of numbers along the axis, or {{y: ..., z: ...}}")
    return {"y": _table(value["y"]), "z": _table(value["z"])}


def _array(value: Any) -> Any:
    given = items(value)
    return number(value) if given is None else [_array(entry) for entry in given]


def _count_or_array(value: Any) -> Any:
    return _whole(value) if items(value) is None else _array(value)


def _text_or(read: Reader) -> Reader:
    """A text, as the name of a file or of a set, as it is; other values as `read` makes them."""
    return lambda value: value if isinstance(value, str) else read(value)


def _matrices(value: Any) -> Any:
    """Files or arrays, in mappings and lists."""
    if isinstance(value, Mapping):
        return {_word(key): _matrices(entry) for key, entry in value.items()}
    given = items(value)
    return _text_or(_array)(value) if given is None else list(map(_matrices, given))


def _mesh(value: Any) -> Any:
    if isinstance(value, str):
        return value
    given = value.get("box") if isinstance(value, Mapping) and set(value) == {"box"} else None
    if not isinstance(given, Mapping) or set(given) != {"size", "divisions"}:
        raise ValueError(f"is {shown(value)}; give a file's name, or {{box: {{size: [x, y, z], divisions: [x, y, z]}}}}")
    return {"box": {"size": list(vector(given["size"])), "divisions": [_whole(entry) for entry in vector(given["divisions"])]}}


def _place(value: Any) -> Any:
    """A boundary's name, a plane [x, 0.5], a point [0.1, 0.0, 0.3], or numbers of nodes."""
    if isinstance(value, str):
        return value
    given = items(value)
    if given is None:
        return _node_numbers(value)
    if len(given) == 2 and given[0] in ("x", "y", "z"):
        return [given[0], number(given[1])]
    point = len(given) == 3 and any(isinstance(entry, float) for entry in given)
    return list(vector(given)) if point else _node_numbers(given)


def _spider(value: Any) -> Any:
    """Numbers of nodes or the name of a set, or {nodes: ..., at: [x, y, z]}."""
    if not isinstance(value, Mapping):
        return _text_or(_node_numbers)(value)
    if "nodes" not in value or set(value) - {"nodes", "at"}:
        raise ValueError(f"is {shown(dict(value))}; give numbers of nodes, or {{nodes: [...], at: [x, y, z]}}")
    return {"nodes": _text_or(_node_numbers)(value["nodes"])} | ({"at": list(vector(value["at"]))} if "at" in value else {})


def _elements(value: Any) -> Any:
    """"all", or numbers of elements."""
    if isinstance(value, str) and value != "all":
        raise ValueError(f"is {shown(value)}; give all, or numbers of elements")
    return _text_or(_node_numbers)(value)


def _loads(value: Any) -> tuple[Any, ...]:
    """Names of nodes, "acceleration", or forces at the dofs."""
    given = items(value)
    if given is None:
        raise ValueError(f"is {shown(value)}; give a list of nodes' names, with 'acceleration' among them if wanted")
    return tuple(each if isinstance(each, str) else _array(each) for each in given)


def _node_numbers(value: Any) -> Any:
    given = items(value)
    return _whole(value) if given is None else [_whole(entry) for entry in given]


def _by_name(read: Reader) -> Reader:
    """The reader of a mapping from the names of nodes."""

    def read_all(value: Any) -> dict[str, Any]:
        if not isinstance(value, Mapping):
            raise ValueError(f"is {shown(value)}; give a mapping from the names of nodes to their places")
        try:
            return {_word(name): read(place) for name, place in value.items()}
        except ValueError as error:
            raise ValueError(f"is {shown(dict(value))}, where an entry {error}") from None

    return read_all


_NUMBER, _TEXT, _COUNT = {"type": "number"}, {"type": "string"}, {"type": "integer"}
_LEVELS = {"anyOf": [_NUMBER, NUMBERS, {"type": "array", "items": NUMBERS}]}
_TABLE = {"anyOf": [_NUMBER, NUMBERS]}
_PAIR = mapping_schema({"y": _TABLE, "z": _TABLE})
_COUNTS = {"type": "array", "items": _COUNT}
_BOX = mapping_schema({"size": VECTOR, "divisions": _COUNTS})
_PLANE = {"type": "array", "prefixItems": [{"enum": ["x", "y", "z"]}, _NUMBER], "minItems": 2, "maxItems": 2}


def _one_of(known: Any) -> WithJsonSchema:
    return WithJsonSchema({"enum": list(known)})


def _named(schema: dict[str, Any]) -> WithJsonSchema:
    return WithJsonSchema({"type": "object", "additionalProperties": schema})


Word = Annotated[str, BeforeValidator(_word)]
Words = Annotated[tuple[str, ...], BeforeValidator(_words)]
Whole = Annotated[int, BeforeValidator(_whole)]
Along = Annotated[Any, BeforeValidator(_table), WithJsonSchema(_TABLE)]
Bending = Annotated[Any, BeforeValidator(_bending), WithJsonSchema({"anyOf": [*_TABLE["anyOf"], _PAIR]})]
Levels = Annotated[Any, BeforeValidator(_array), WithJsonSchema(_LEVELS)]
Modes = Annotated[Any, BeforeValidator(_count_or_array), WithJsonSchema({"anyOf": [_COUNT, {"type": "array", "items": NUMBERS}]})]
Stations = Annotated[dict[str, float], BeforeValidator(_by_name(number)), _named(_NUMBER)]
Places = Annotated[Any, BeforeValidator(_by_name(_place)), _named({"anyOf": [_TEXT, _COUNT, _PLANE, NUMBERS]})]
Numbered = Annotated[Any, BeforeValidator(_by_name(_node_numbers)), _named({"anyOf": [_COUNT, _COUNTS]})]
_SET = {"anyOf": [_TEXT, _COUNT, _COUNTS]}
Chosen = Annotated[Any, BeforeValidator(_by_name(_text_or(_node_numbers))), _named(_SET)]
Spiders = Annotated[Any, BeforeValidator(_by_name(_spider)), _named({"anyOf": [*_SET["anyOf"], {"type": "object"}]})]
Spots = Annotated[Any, BeforeValidator(_by_name(vector)), _named(VECTOR)]
Static = Annotated[Any, BeforeValidator(_loads), WithJsonSchema({"type": "array"})]
Wanted = Annotated[Any, BeforeValidator(_elements), WithJsonSchema({"anyOf": [_TEXT, _COUNT, _COUNTS]})]
Data = Annotated[Any, BeforeValidator(_text_or(_array)), WithJsonSchema({"anyOf": [_TEXT, {"type": "array", "items": NUMBERS}]})]
Matrices = Annotated[Any, BeforeValidator(_matrices), WithJsonSchema({"type": "object"})]
Mesh = Annotated[Any, BeforeValidator(_mesh), WithJsonSchema({"anyOf": [_TEXT, {"type": "object", "properties": {"box": _BOX}}]})]
Variant = Annotated[str, BeforeValidator(_word), _one_of(VARIANTS)]
Reduction = Annotated[str, BeforeValidator(_word), _one_of(REDUCTIONS)]
Direction = Annotated[str, BeforeValidator(_word), _one_of(AXES)]


class FlexibleRecipe(Description):
    """The keywords of a flexible body. Defaults are those of the maker, which gets only the keywords that were given."""

    files: ClassVar[tuple[str, ...]] = ()  # the keywords whose texts are names of files
    maker: ClassVar[str] = ""  # of bough.flex; "": that with its noun

    def make(self) -> "FlexibleBody":
        """The body."""
        body: FlexibleBody = getattr(flex, self.maker or self.noun)(**self.given())
        return body

    def given(self) -> dict[str, Any]:
        """The keywords that were given, as plain data."""
        return self.model_dump(mode="json", exclude_unset=True)


class BeamRecipe(FlexibleRecipe):
    """The keywords of bough.beam; the stiffnesses in two planes are {y: ..., z: ...} here.

    >>> BeamRecipe.from_mapping({"length": 4, "EI": 800, "mass_per_length": 1.5, "modes": 2}).make()
    FlexibleBody(2 cantilever modes, 0.8077 ... 0.8077 Hz, mass 6 kg, nodes 'root' (inboard), 'tip', geometric stiffness)
    """

    noun: ClassVar[str] = "beam"
    length: Number
    E: Along | None = None
    G: Along | None = None
    area: Along | None = None
    Iy: Along | None = None
    Iz: Along | None = None
    J: Along | None = None
    density: Along | None = None
    EI: Bending | None = None
    EA: Along | None = None
    GJ: Along | None = None
    GA: Along | None = None
    mass_per_length: Along | None = None
    polar_inertia: Along | None = None
    timoshenko: Truth = False
    shear_factors: Along = 5 / 6
    rotary_inertia: Truth | None = None
    elements: Whole = 32
    axis: Direction = "x"
    nodes: Stations | None = None
    inboard: Word | None = "root"
    tip_mass: Number = 0.0
    tip_com: Vector = (0.0, 0.0, 0.0)
    tip_inertia: Levels = 0.0
    modes: Modes = 6
    boundary: Reduction = "cantilever"
    interfaces: Words = ()
    static: Static = ()
    recover: Spots | None = None
    damping: Levels = 0.0
    variant: Variant = "full"
    geometric_stiffness: Truth = True

    def make(self) -> "FlexibleBody":
        given = self.given()
        if isinstance(given.get("EI"), dict):
            given["EI"] = given["EI"]["y"], given["EI"]["z"]
        return flex.beam(**given)


class SolidRecipe(FlexibleRecipe):
    """The keywords of bough.solid; a mesh is a file's name or {box: {size, divisions}}.

    >>> given = {"E": 7e10, "nu": 0.33, "density": 2700, "attach": {"root": ["x", 0]}, "inboard": "root", "modes": 1, "order": 1}
    >>> SolidRecipe.from_mapping({"mesh": {"box": {"size": [1, 0.1, 0.1], "divisions": [2, 1, 1]}}, **given}).make().nodes.names
    ('root',)
    """

    noun: ClassVar[str] = "solid"
    files: ClassVar[tuple[str, ...]] = ("mesh",)
    mesh: Mesh
    E: Number
    nu: Number
    density: Number
    attach: Places
    inboard: Word | None = None
    order: Whole = 2
    origin: Vector | None = None
    reduction: Reduction = "cantilever"
    modes: Modes = 6
    interfaces: Words = ()
    static: Static = ()
    recover: Wanted | None = None
    damping: Levels = 0.0
    variant: Variant = "full"
    geometric_stiffness: Truth = True

    def make(self) -> "FlexibleBody":
        mesh = flex.box(**self.mesh["box"]) if isinstance(self.mesh, dict) else self.mesh
        return flex.solid(**self.given() | {"mesh": mesh})


class MatricesRecipe(FlexibleRecipe):
    """The keywords of bough.from_matrices; matrices and coordinates are names of files, or rows of numbers.

    >>> K = [[float(i == j) * (1 + (i < 3)) - (abs(i - j) == 3) for j in range(6)] for i in range(6)]
    >>> M = [[float(i == j) for j in range(6)] for i in range(6)]
    >>> places = {"nodes": [[0, 0, 0], [1, 0, 0]], "attach": {"root": 0, "tip": 1}, "inboard": "root"}
    >>> MatricesRecipe.from_mapping({"M": M, "K": K, **places, "modes": 3}).make().frequencies.round(4)
    array([0.1592, 0.1592, 0.1592])
    """

    noun: ClassVar[str] = "matrices"
    maker: ClassVar[str] = "from_matrices"
    files: ClassVar[tuple[str, ...]] = ("M", "K", "nodes", "geometric")
    M: Data
    K: Data
    nodes: Data
    attach: Numbered | None = None
    inboard: Word | None = None
    reduction: Reduction = "cantilever"
    modes: Modes = 6
    interfaces: Words = ()
    static: Static = ()
    mass: Number | None = None
    origin: Vector | None = None
    spiders: Spiders | None = None
    units: Word = "SI"
    geometric: Matrices | None = None
    damping: Levels = 0.0
    variant: Variant = "full"


class ToolRecipe(FlexibleRecipe):
    """Files of a finite-element tool, and how the structure in them is reduced."""

    reading: ClassVar[tuple[str, ...]] = ("attach", "inboard", "origin", "spiders", "units", "declared_mass")
    attach: Chosen | None = None
    inboard: Word | None = None
    origin: Vector | None = None
    spiders: Spiders | None = None
    units: Word = "SI"
    declared_mass: Number | None = None
    reduction: Reduction | None = None
    modes: Whole | None = None
    interfaces: Words = ()
    static: Static = ()
    recover: Wanted | None = None
    damping: Levels = 0.0
    variant: Variant | None = None

    def make(self) -> "FlexibleBody":
        given = self.given()
        reading = {name: given.pop(name) for name in (*self.files, *self.reading) if name in given}
        structure = getattr(flex, f"read_{self.noun}")(**reading)
        reduction = given.pop("reduction", None)
        if reduction is None and isinstance(structure, flex.FiniteElements):
            reduction = "cantilever" if structure.inboard is not None else "free-free"
        if not isinstance(structure, flex.FiniteElements) and (whole := sorted({"interfaces", "static"} & set(given))):
            what = "modes" if isinstance(structure, flex.GivenModes) else "a reduced superelement"
            raise DescriptionError(f"{whole[0]}: these files hold {what}, to which no shapes can be added; leave it out")
        body: FlexibleBody = structure.reduce(reduction, **given)
        return body


def _tool(noun: str, needed: tuple[str, ...], others: tuple[str, ...], **more: Any) -> type[ToolRecipe]:
    """The keywords of `read_<noun>`, names of files and perhaps more, and of its reduction."""
    files: dict[str, Any] = dict.fromkeys(needed, (Word, ...)) | dict.fromkeys(others, (Word | None, None))
    made = create_model(f"{noun.title()}Recipe", __base__=ToolRecipe, **files, **more)
    made.__doc__ = f"The keywords of bough.flex.read_{noun} and of its reduction."
    made.noun, made.files, made.reading = noun, tuple(files), (*ToolRecipe.reading, *more)
    return made


_TOOLS = (
    _tool("calculix", ("job",), ("nodes",)),
    _tool("abaqus", ("inp",), ("stiffness", "mass", "substructure")),
    _tool("ansys", ("stiffness", "mass", "nodes"), ("mapping", "elements")),
    _tool("nastran", ("bulk",), ("op2", "matrices"), subcase=(Whole | None, None)),
)


class SuperelementRecipe(FlexibleRecipe):
    """The keywords of bough.flex.superelement; matrices are names of files, or rows of numbers."""

    noun: ClassVar[str] = "superelement"
    files: ClassVar[tuple[str, ...]] = ("M", "K", "C")
    M: Data
    K: Data
    C: Data | None = None
    nodes: Spots
    inboard: Word | None = None
    modes: Whole | None = None
    damping: Levels = 0.0
    variant: Variant | None = None
    origin: Vector | None = None
    units: Word = "SI"


_MAKERS = (BeamRecipe, SolidRecipe, MatricesRecipe, SuperelementRecipe, *_TOOLS)
RECIPES: dict[str, type[FlexibleRecipe]] = {kind.noun: kind for kind in _MAKERS}


# ---- flexible mapping ------------------------------------------------------------------------------------------------------
KINDS = (*RECIPES, "file", "npz")
_REMEDY = "give a FlexibleBody, or a mapping with one of the keys " + ", ".join(KINDS)


def read_flexible(value: Any) -> "FlexibleBody | None":
    """A flexible body given as it is, or as a mapping from how it is made to what it is made of.

    >>> read_flexible({"beam": {"length": 4, "EI": 800, "mass_per_length": 1.5, "modes": 2}}).nodes.names
    ('root', 'tip')
    """
    if value is None or (not isinstance(value, Mapping) and isinstance(value, flex.FlexibleBody)):
        return value
    if not isinstance(value, Mapping) or len(value) != 1:
        raise ValueError(f"is {shown(value)}; {_REMEDY}")
    [(kind, given)] = value.items()
    if kind not in KINDS:
        raise DescriptionError([Problem(unknown_key(kind, KINDS), "flexible", (kind,))])
    with under(kind):
        return _made(kind, given) if kind in RECIPES else _stored(kind, given)


def write_flexible(body: "FlexibleBody | None") -> dict[str, Any] | None:
    """The body as a person would write it: its recipe if it has one, or all its arrays as an NPZ file in base64.

    >>> from bough.flex import beam
    >>> write_flexible(beam(4.0, EI=(800, 900), mass_per_length=1.5, modes=2))
    {'beam': {'length': 4.0, 'EI': {'y': 800.0, 'z': 900.0}, 'mass_per_length': 1.5, 'modes': 2}}
    """
    if body is None:
        return None
    recipe = flex.flexible_body.recipe_of(body)
    try:
        if recipe is not None:
            return {recipe.kind: RECIPES[recipe.kind].from_mapping(recipe.keywords).given()}
    except DescriptionError:                                    # the file format cannot express it
        pass
    return {"npz": base64.b64encode(flex.flexible_body.to_npz(body)).decode("ascii")}


def in_folder(value: Any, folder: Path) -> Any:
    """The mapping of a flexible body, its relative names of files resolved against a folder.

    >>> in_folder({"solid": {"mesh": "panel.msh", "E": 7e10}}, Path("models"))
    {'solid': {'mesh': 'models/panel.msh', 'E': 70000000000.0}}
    """
    if not isinstance(value, Mapping):
        return value
    found = dict(value)
    for kind, given in value.items():
        if kind == "file":
            found[kind] = _resolved(folder, given)
        elif kind in RECIPES and isinstance(given, Mapping):
            names = set(RECIPES[kind].files)
            found[kind] = {key: _resolved(folder, entry) if key in names else entry for key, entry in given.items()}
    return found


def _resolved(folder: Path, value: Any) -> Any:
    """The texts in a value as names of files; a name that starts at the root stays as it is."""
    if isinstance(value, str):
        return str(folder / value)
    if isinstance(value, list):
        return [_resolved(folder, entry) for entry in value]
    return {key: _resolved(folder, entry) for key, entry in value.items()} if isinstance(value, Mapping) else value


def _made(kind: str, given: Any) -> "FlexibleBody":
    """The body that a maker returns; its errors are reported as problems of this body."""
    try:
        recipe = RECIPES[kind].from_mapping(given)
    except DescriptionError:
        raise
    except ValueError as error:
        raise DescriptionError(f"{kind} {error}") from None
    try:
        return recipe.make()
    except DescriptionError as error:
        raise DescriptionError([_blamed(problem, given) for problem in error.problems]) from None
    except Exception as error:  # of SciPy, scikit-fem or meshio, about numbers that do not fit or files
        raise DescriptionError(f"{kind}: it cannot be made ({error}); check its numbers and its files") from error


def _blamed(problem: Problem, given: Mapping[str, Any]) -> Problem:
    """A maker says "beam: length is -4 m; ...": the key that its message starts with is the one to look at."""
    named = re.match(r"[\w ]+: (\w+) ", problem.text)
    return problem._replace(path=(named[1],)) if named and named[1] in given else problem


def _stored(kind: str, given: Any) -> "FlexibleBody":
    if not isinstance(given, str):
        wanted = "the name of an NPZ file that FlexibleBody.save wrote" if kind == "file" else "an NPZ file in base64"
        raise DescriptionError(f"{kind} is {shown(given)}; give {wanted}")
    if kind == "file":
        return flex.FlexibleBody.load(given)
    try:
        return flex.flexible_body.read_npz(base64.b64decode("".join(given.split()), validate=True), "npz")
    except binascii.Error as error:
        raise DescriptionError(f"npz is not base64 ({error}); give what to_yaml wrote, or {{file: NAME.npz}}") from None


_SCHEMAS = {kind: recipe.model_json_schema() for kind, recipe in RECIPES.items()} | {"file": _TEXT, "npz": _TEXT}
if TYPE_CHECKING:
    FlexibleField: TypeAlias = FlexibleBody | None
else:
    FlexibleField = Annotated[
        Any,                                                    # read_flexible sees to it
        GetPydanticSchema(lambda kind, handler: core_schema.any_schema()),
        BeforeValidator(read_flexible),
        PlainSerializer(write_flexible),
        WithJsonSchema({"anyOf": [*(mapping_schema({kind: form}) for kind, form in _SCHEMAS.items()), {"type": "null"}]}),
    ]
