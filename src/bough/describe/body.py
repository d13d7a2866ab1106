"""Frames, on bodies, on nodes of flexible ones and on the world; bodies, rigid or flexible, with their joints."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Self

from pydantic import BeforeValidator, PlainSerializer, WithJsonSchema, field_validator, model_serializer, model_validator
from pydantic_core.core_schema import SerializerFunctionWrapHandler, ValidationInfo

from bough.describe.base import Description, Fault, under
from bough.describe.body_shapes import ShapesField
from bough.describe.flexible_recipes import FlexibleField
from bough.describe.joint import JointField, Weld
from bough.describe.mass_properties import MASS_KEYS, ZERO, Inertia, defect, mass_of_shapes, mass_problems, mass_properties
from bough.describe.numeric import NUMBERS, Floats, Text, Truth, Vector, VectorLike, at_least_zero, items, numbers, shown, text
from bough.describe.orientation import IDENTITY, Orientation
from bough.errors import DescriptionError

if TYPE_CHECKING:
    from bough.flex import FlexibleBody


class Frame(Description):
    """A frame on a body, or on the "world": the point `at` and the axes `orient`, in the body frame. On a flexible body they are
    relative to the frame of a node: `node`, or the inboard one. In YAML, a body's name alone means the frame at its origin.

    >>> Frame("panel", at=(1, 0, 0))
    Frame(body='panel', at=(1.0, 0.0, 0.0))
    >>> Frame("world", node="tip")
    Traceback (most recent call last):
    bough.errors.DescriptionError: frame: node is 'tip', but the world has no nodes; leave it out
    """

    body: Text
    at: Vector = (0.0, 0.0, 0.0)
    orient: Orientation = IDENTITY
    node: Text | None = None

    def __init__(self, body: str, at: VectorLike = (0.0, 0.0, 0.0), orient: Any = None, node: str | None = None) -> None:
        super().__init__(body=body, at=at, orient=orient, node=node)

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.body == WORLD and self.node is not None:
            raise Fault("node", f"node is {self.node!r}, but the world has no nodes; leave it out")
        return self

    @property
    def label(self) -> str:
        """In words, as in "panel node tip at (0, 1, 0)"."""
        node = "" if self.node is None else f" node {self.node}"
        return f"{self.body}{node}" + (f" at ({', '.join(f'{x:g}' for x in self.at)})" if any(self.at) else "")


def read_frame(value: Any, info: ValidationInfo) -> Frame:
    """The frame of the field `info` of a part, given as it is or as in YAML."""
    if not isinstance(value, Frame | Mapping | str):
        raise ValueError(f"is {shown(value)}; give a Frame, or a body's name")
    try:
        return Frame.from_mapping({"body": value} if isinstance(value, str) else value)
    except DescriptionError as error:
        raise DescriptionError([problem._replace(subject=info.field_name or "") for problem in error.problems]) from None


def write_frame(frame: Frame) -> str | dict[str, Any]:
    """The frame as a person would write it: the body's name alone, or a mapping.

    >>> write_frame(Frame("bus")), write_frame(Frame("bus", node="tip"))
    ('bus', {'body': 'bus', 'node': 'tip'})
    """
    return frame.body if frame == Frame(frame.body) else frame.to_dict()


FRAME = {"anyOf": [{"type": "string", "minLength": 1}, Frame.model_json_schema()]}
FrameField = Annotated[Frame, BeforeValidator(read_frame), PlainSerializer(write_frame), WithJsonSchema(FRAME)]


# ---- body ------------------------------------------------------------------------------------------------------------------
WORLD = "world"
MODAL = "m kg^0.5"  # unit of modal coordinates: modes are mass-normalized
FORCE_UNITS = {"m": "N", "rad": "N m", MODAL: "N kg^-0.5"}  # along coordinates
PerMode = Annotated[Floats | None, WithJsonSchema({"anyOf": [{"type": "number"}, NUMBERS, {"type": "null"}]})]


def _own_name(value: Any) -> str:
    if (name := text(value)) == WORLD:
        raise ValueError("is 'world', which is the inertial frame; give another name")
    return name


class Body(Description):
    """A body, rigid or flexible. Its joint is located in the body frame of its parent (None: the inertial frame) at `at` with the
    orientation `orient`; at zero coordinates the body frame coincides with the joint frame. `com` is the mass center in the body
    frame and `inertia` is about it, in body axes. `idealized=True` allows a physically impossible inertia.

    On a flexible parent, `at` and `orient` are relative to the frame of one of its nodes: `node`, or its inboard one. A `flexible`
    body (see bough.beam, bough.solid, bough.from_matrices) gets its mass, com and inertia from its finite elements. `eta0` and
    `etadot0` are its initial modal coordinates and their rates, and `rest` the stress-free modal coordinates: the elastic force is
    K (eta - rest). Each has one number per mode; None means zeros.

    `shapes` (see bough.shapes) define the appearance of the body. Those with a density give a rigid body its mass, com and
    inertia, which are then omitted; the others have no mass.

    >>> Body("boom", parent="bus", joint="free", at=(0.5, 0, 0), mass=8, com=(1, 0, 0), inertia=(0, 3, 3))
    Body('boom', parent='bus', joint=Free(), at=(0.5, 0.0, 0.0), mass=8.0, com=(1.0, 0.0, 0.0), inertia=((0.0, 0.0, 0.0), (0.0, 3.0, 0.0), (0.0, 0.0, 3.0)))
    >>> Body("boom", mass=-3)
    Traceback (most recent call last):
    bough.errors.DescriptionError: body 'boom': mass is -3.0 kg; give a number >= 0
    >>> from bough.describe.body_shapes import Box
    >>> Body("plate", shapes=Box((1, 1, 0.01), density=2700)).mass
    27.0
    >>> from bough.flex import beam
    >>> boom = Body("boom", flexible=beam(4.0, EI=800, mass_per_length=1.5, modes=2), eta0=(0.1, 0))
    >>> round(boom.mass, 9), boom.n_modes
    (6.0, 2)
    """  # noqa: E501

    key: ClassVar[str] = "bodies"
    name: Annotated[str, BeforeValidator(_own_name), WithJsonSchema({"type": "string", "minLength": 1})]
    parent: Annotated[str | None, BeforeValidator(lambda value: None if value is None or value == WORLD else text(value))] = None
    node: Text | None = None
    joint: JointField = Weld()
    at: Vector = (0.0, 0.0, 0.0)
    orient: Orientation = IDENTITY
    flexible: FlexibleField = None
    mass: Annotated[float, at_least_zero("kg")] = 0.0
    com: Vector = (0.0, 0.0, 0.0)
    inertia: Inertia = ZERO
    idealized: Truth = False
    eta0: PerMode = None
    etadot0: PerMode = None
    rest: PerMode = None
    shapes: ShapesField = ()

    def __init__(
        self,
        name: str,
        parent: str | None = None,
        joint: Any = None,
        at: VectorLike = (0.0, 0.0, 0.0),
        orient: Any = None,
        mass: float | None = None,
        com: VectorLike | None = None,
        inertia: Any = None,
        idealized: bool = False,
        flexible: Any = None,
        node: str | None = None,
        eta0: Any = None,
        etadot0: Any = None,
        rest: Any = None,
        shapes: Any = (),
    ) -> None:
        substance = {"mass": mass, "com": com, "inertia": inertia}
        super().__init__(name=name, parent=parent, joint=joint, at=at, orient=orient, idealized=idealized, flexible=flexible,
                         node=node, eta0=eta0, etadot0=etadot0, rest=rest, shapes=shapes,
                         **{key: value for key, value in substance.items() if value is not None})

    @field_validator("eta0", "etadot0", "rest", mode="before")
    @classmethod
    def _per_mode(cls, value: Any, info: ValidationInfo) -> Any:
        if value is None or "flexible" not in info.data:
            return None
        if info.data["flexible"] is None:
            raise ValueError(f"is {shown(value)}, but the body is rigid and has no modes; leave it out, or give flexible")
        n = info.data["flexible"].n_modes
        given = [value] if n == 1 and items(value) is None else items(value)
        if given is None or len(given) != n:
            raise ValueError(f"is {shown(value)}, but the body has {n} mode{'s' * (n != 1)}; give {n} number{'s' * (n != 1)}")
        return numbers(given)

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.has_shape_mass:
            self._weigh()
        if self.flexible is not None:
            self._take_mass(self.flexible)
        elif found := defect(self.mass, self.inertia, self.idealized):
            raise Fault("inertia", found)
        if self.parent == self.name:
            raise Fault("parent", f"parent is {self.name!r}, the body itself; give another body, or world")
        if self.parent is None and self.node is not None:
            raise Fault("node", f"node is {self.node!r}, but the world, which carries the body, has no nodes; leave it out")
        return self

    def _weigh(self) -> None:
        """Mass, com and inertia are those of the shapes that have a density, and are not given twice."""
        [first, *_] = [f"shape {i + 1} ({shape.noun})" for i, shape in enumerate(self.shapes) if shape.density is not None]
        if self.flexible is not None:
            raise Fault("shapes", f"{first} has a density, but finite elements give a flexible body its mass; leave out density")
        given = [key for key in MASS_KEYS if key in self.model_fields_set]
        if given:
            what = " and ".join(given)
            twice = f"{what} given, but {first} has a density and gives the body its mass"
            raise Fault(given[0], f"{twice}; leave out {what}, or the density")
        with under("shapes"):
            found = mass_of_shapes(self.shapes)
        vars(self).update(found)            # the description is being made, and does not change after

    def _take_mass(self, flexible: "FlexibleBody") -> None:
        """Mass, com and inertia are those of the finite elements; what was given must be that."""
        given = {key: getattr(self, key) for key in MASS_KEYS if key in self.model_fields_set}
        if problems := mass_problems(given, flexible):
            raise DescriptionError(problems)
        vars(self).update(mass_properties(flexible))

    @model_serializer(mode="wrap")
    def _write(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        written: dict[str, Any] = write(self)
        return {key: value for key, value in written.items() if key not in self.derived()}

    def derived(self) -> tuple[str, ...]:
        """Mass, com and inertia, if given by finite elements or shapes."""
        return MASS_KEYS if self.has_shape_mass or self.flexible is not None else ()

    @property
    def has_shape_mass(self) -> bool:
        """Whether its mass comes from its shapes."""
        return any(shape.density is not None for shape in self.shapes)

    @property
    def n_modes(self) -> int:
        """Number of modal coordinates, which follow those of the joint."""
        return 0 if self.flexible is None else self.flexible.n_modes

    @property
    def n_q(self) -> int:
        """Number of coordinates: those of its joint, then the modal ones."""
        return self.joint.n_q + self.n_modes

    @property
    def n_v(self) -> int:
        """Number of speeds."""
        return self.joint.n_v + self.n_modes

    @property
    def coordinate_names(self) -> tuple[str, ...]:
        """The names of its entries of q: those of its joint, then of its modes.

        >>> Body("boom", joint={"type": "universal", "name": "root"}).coordinate_names
        ('root.rx', 'root.ry')
        """
        return self._named(self.joint.q_labels)

    @property
    def speed_names(self) -> tuple[str, ...]:
        """The names of its entries of v.

        >>> Body("ball", joint="spherical").speed_names
        ('ball.wx', 'ball.wy', 'ball.wz')
        """
        return self._named(self.joint.dofs)

    @property
    def spherical_names(self) -> tuple[str, ...]:
        """The names of the three speeds of its spherical rotation, if it has one."""
        return self.speed_names[self.joint.n_v - 3 : self.joint.n_v] if self.joint.spherical else ()

    @property
    def coordinate_units(self) -> list[str]:
        """The units of its entries of q; those of a quaternion have none."""
        moves, joint = len(self.joint.translations), self.joint
        return ["m"] * moves + ([""] * 4 if joint.spherical else ["rad"] * (joint.n_q - moves)) + [MODAL] * self.n_modes

    @property
    def speed_units(self) -> list[str]:
        """The units of its entries of v, times s.

        >>> Body("arm", joint="cylindrical").speed_units
        ['m', 'rad']
        """
        moves = len(self.joint.translations)
        return ["m"] * moves + ["rad"] * (self.joint.n_v - moves) + [MODAL] * self.n_modes

    def _named(self, labels: tuple[str, ...]) -> tuple[str, ...]:
        joint = self.joint.name or self.name
        return *(f"{joint}.{label}" for label in labels), *(f"{self.name}.mode{i + 1}" for i in range(self.n_modes))

    @property
    def elastic(self) -> "FlexibleBody":
        """Its flexible body, which must exist."""
        if self.flexible is None:
            raise DescriptionError(f"body {self.name!r} is rigid; give it flexible=bough.beam(...), or ask for no nodes and modes")
        return self.flexible
