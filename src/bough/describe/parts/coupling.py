"""Couplings: linear relations between joint coordinates, such as those of gears, racks, screws and cables; gearboxes."""

from collections.abc import Iterator, Mapping
from math import pi
from typing import Annotated, Any, ClassVar, Literal, NamedTuple, Self

import numpy as np
from pydantic import BeforeValidator, PlainSerializer, WithJsonSchema, model_validator

from bough.describe.base import Description, Fault, among, mapping_schema
from bough.describe.body import Body
from bough.describe.joint import Revolute
from bough.describe.numeric import TEXT, Number, Text, above_zero, at_least_zero, number, shown, text
from bough.describe.part import Finding, Part, Recorded, SystemView, coordinate_fault, entry_named, targets
from bough.describe.parts.friction import Friction
from bough.describe.settings import CentralGravity
from bough.errors import DescriptionError, Problem, similar

Terms = dict[str, float]
Reference = Literal["zero", "initial"]


def nonzero(value: Any) -> float:
    """A finite number that is not zero."""
    if (result := number(value)) == 0.0:
        raise ValueError("is 0.0; give a number that is not zero, or leave the coupling out")
    return result


Ratio = Annotated[float, BeforeValidator(nonzero), WithJsonSchema({"type": "number"})]


class Relation(Description, init=False):
    """A named linear relation of coordinates: sum of `terms` = `offset`."""

    kind: ClassVar[str]

    @property
    def terms(self) -> Terms:
        """What each coordinate is multiplied by."""
        raise NotImplementedError

    @property
    def shift(self) -> float:
        """What the sum is, besides the coupling's offset."""
        return 0.0


class Gear(Relation):
    """Gears with fixed centers: `driver` turns `ratio` times as far as `driven`, driver = ratio driven. The ratio is negative if
    the two turn in opposite directions, as two external gears do; for n1 and n2 teeth, ratio = -n2/n1.

    >>> Gear("motor", "link", ratio=100).terms
    {'motor': 1.0, 'link': -100.0}
    """

    kind: ClassVar[str] = "gear"
    driver: Text
    driven: Text
    ratio: Ratio

    def __init__(self, driver: str, driven: str, ratio: float) -> None:
        super().__init__(driver=driver, driven=driven, ratio=ratio)

    @property
    def terms(self) -> Terms:
        return {self.driver: 1.0, self.driven: -self.ratio}


class RackAndPinion(Relation):
    """A rack driven by a pinion of pitch `radius` [m]: rack = radius pinion.

    >>> RackAndPinion("pinion", "rack", radius=0.02).terms
    {'rack': 1.0, 'pinion': -0.02}
    """

    kind: ClassVar[str] = "rack_and_pinion"
    pinion: Text
    rack: Text
    radius: Ratio

    def __init__(self, pinion: str, rack: str, radius: float) -> None:
        super().__init__(pinion=pinion, rack=rack, radius=radius)

    @property
    def terms(self) -> Terms:
        return {self.rack: 1.0, self.pinion: -self.radius}


class Screw(Relation):
    """A screw that advances by `lead` [m] per turn: slide = lead/(2 pi) turn. A negative lead is a left-handed thread.

    >>> Screw("spindle", "nut", lead=0.005).terms["nut"]
    1.0
    """

    kind: ClassVar[str] = "screw"
    turn: Text
    slide: Text
    lead: Ratio

    def __init__(self, turn: str, slide: str, lead: float) -> None:
        super().__init__(turn=turn, slide=slide, lead=lead)

    @property
    def terms(self) -> Terms:
        return {self.slide: 1.0, self.turn: -self.lead / (2.0 * pi)}


class Differential(Relation):
    """A differential: the carrier turns by the mean of both sides, left + right = 2 carrier; or by `ratio` of it.

    >>> Differential("left", "right", "carrier").terms
    {'left': 1.0, 'right': 1.0, 'carrier': -2.0}
    """

    kind: ClassVar[str] = "differential"
    left: Text
    right: Text
    carrier: Text
    ratio: Ratio = 1.0

    def __init__(self, left: str, right: str, carrier: str, ratio: float = 1.0) -> None:
        super().__init__(left=left, right=right, carrier=carrier, ratio=ratio)

    @property
    def terms(self) -> Terms:
        return {self.left: 1.0, self.right: 1.0, self.carrier: -2.0 / self.ratio}


class Planetary(Relation):
    """A planetary gear whose sun, ring and carrier turn about one axis, all relative to one body: sun + ratio ring = (1 + ratio)
    carrier, with ratio = teeth of the ring/teeth of the sun (Willis).

    >>> Planetary("sun", "ring", "carrier", ratio=3).terms
    {'sun': 1.0, 'ring': 3.0, 'carrier': -4.0}
    """

    kind: ClassVar[str] = "planetary"
    sun: Text
    ring: Text
    carrier: Text
    ratio: Ratio

    def __init__(self, sun: str, ring: str, carrier: str, ratio: float) -> None:
        super().__init__(sun=sun, ring=ring, carrier=carrier, ratio=ratio)

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.ratio == -1.0:
            raise Fault("ratio", "ratio is -1.0, so that the carrier would not count; give teeth of the ring over teeth of the sun")
        return self

    @property
    def terms(self) -> Terms:
        return {self.sun: 1.0, self.ring: self.ratio, self.carrier: -1.0 - self.ratio}


class Mimic(Relation):
    """A joint that follows another, like URDF's `mimic`: joint = multiplier of + offset.

    >>> Mimic("right_finger", of="left_finger", multiplier=-1).terms
    {'right_finger': 1.0, 'left_finger': 1.0}
    """

    kind: ClassVar[str] = "mimic"
    joint: Text
    of: Text
    multiplier: Ratio = 1.0
    offset: Number = 0.0

    def __init__(self, joint: str, of: str, multiplier: float = 1.0, offset: float = 0.0) -> None:
        super().__init__(joint=joint, of=of, multiplier=multiplier, offset=offset)

    @property
    def terms(self) -> Terms:
        return {self.joint: 1.0, self.of: -self.multiplier}

    @property
    def shift(self) -> float:
        return self.offset


RELATIONS: dict[str, type[Relation]] = {each.kind: each for each in (Gear, RackAndPinion, Screw, Differential, Planetary, Mimic)}


def read_relation(value: Any) -> Relation | tuple[tuple[str, float], ...]:
    """A relation given as it is, as in YAML by its type, or as a mapping of coordinates to factors.

    >>> read_relation({"type": "gear", "driver": "motor", "driven": "link", "ratio": 100})
    Gear(driver='motor', driven='link', ratio=100.0)
    >>> read_relation({"left": 1, "right": -1})
    (('left', 1.0), ('right', -1.0))
    """
    if isinstance(value, Relation):
        return value
    given = dict(value) if isinstance(value, tuple | list) and value and all(map(_is_term, value)) else value
    if not isinstance(given, Mapping):
        raise ValueError(f"is {shown(value)}; give a Gear, a Screw or the like, or a mapping of coordinates to factors")
    if isinstance(kind := given.get("type"), str):
        if kind not in RELATIONS:
            raise ValueError(f"has the type {shown(kind)}{similar(kind, RELATIONS)}; the types are {', '.join(RELATIONS)}")
        return RELATIONS[kind].from_mapping({key: entry for key, entry in given.items() if key != "type"})
    return tuple((text(name), _factor(name, factor)) for name, factor in given.items())


def _is_term(entry: Any) -> bool:
    return isinstance(entry, tuple | list) and len(entry) == 2 and isinstance(entry[0], str)


def _factor(name: Any, value: Any) -> float:
    try:
        return nonzero(value)
    except ValueError as error:
        raise ValueError(f"has a factor of {name!r} that {error}") from None


def _schemas() -> list[dict[str, Any]]:
    found, number_schema = list[dict[str, Any]](), {"type": "number"}
    for kind, cls in RELATIONS.items():
        fields = {name: (TEXT if field.annotation is str else number_schema, field.is_required())
                  for name, field in cls.model_fields.items()}
        needed = {"type": {"const": kind}} | {name: schema for name, (schema, required) in fields.items() if required}
        found.append(mapping_schema(needed, **{name: schema for name, (schema, required) in fields.items() if not required}))
    return [*found, {"type": "object", "minProperties": 1, "additionalProperties": number_schema}]


RelationField = Annotated[Any, BeforeValidator(read_relation),
                          PlainSerializer(lambda relation: {"type": relation.kind, **relation.to_dict()}
                                          if isinstance(relation, Relation) else dict(relation)),
                          WithJsonSchema({"anyOf": _schemas()})]


class Coupling(Part):
    """A linear relation between joint coordinates: the sum of factors times coordinates is `offset`; with the reference "initial",
    its value at the initial state of the description is added. The relation is a Gear, RackAndPinion, Screw, Differential,
    Planetary or Mimic, or any mapping of coordinates to factors, such as a cable over pulleys with these radii. A joint with one
    degree of freedom can be named instead of its coordinate.

    With a `stiffness` it is compliant: a spring and a damper act on the deviation of the sum from its offset. With a `backlash`
    the sum can deviate by half of it either way before the coupling engages: a spring or, without stiffness, a hard contact with
    impacts of a `restitution`; impacts slower than `slow` do not bounce. A relation of one coordinate is then play in that joint. A
    `preload` is a constant force along the sum.

    Its force on each coordinate is its factor times one multiplier, so it does no work; it acts between the two bodies of that
    coordinate's joint.

    >>> Coupling("reducer", Gear("motor", "link", ratio=100))
    Coupling('reducer', relation=Gear(driver='motor', driven='link', ratio=100.0))
    >>> Coupling("cable", {"shoulder": 0.03, "elbow": -0.02}).terms
    {'shoulder': 0.03, 'elbow': -0.02}
    >>> Coupling("reducer", Gear("motor", "link", ratio=0))
    Traceback (most recent call last):
    bough.errors.DescriptionError: gear: ratio is 0.0; give a number that is not zero, or leave the coupling out
    """

    key: ClassVar[str] = "couplings"
    recorded: ClassVar[dict[str, Recorded]] = {
        "coupling_force": Recorded(("coupled",), "", "force or torque of a coupling on each of its coordinates"),
        "coupling_gap": Recorded(("coupling",), "rad or m", "how far a coupling is from being kept, on its first coordinate"),
    }
    relation: RelationField
    offset: Number = 0.0
    reference: Annotated[Reference, among(Reference)] = "zero"
    stiffness: Annotated[float, above_zero("N/m or N m/rad")] | None = None
    damping: Annotated[float, at_least_zero("N s/m or N m s/rad")] = 0.0
    preload: Number = 0.0
    backlash: Annotated[float, at_least_zero("rad or m")] = 0.0
    restitution: Annotated[float, at_least_zero("1")] = 0.0
    slow: Annotated[float, at_least_zero("rad/s or m/s")] = 1e-6

    def __init__(self, name: str, relation: Any, offset: float = 0.0, reference: str = "zero", **options: Any) -> None:
        super().__init__(name=name, relation=relation, offset=offset, reference=reference, **options)

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.damping and self.stiffness is None:
            raise Fault("damping", "damping is given without stiffness, so the coupling is rigid; give stiffness, or leave it out")
        if self.restitution > 1.0:
            raise Fault("restitution", f"restitution is {self.restitution}; give a number from 0 to 1")
        if self.restitution and not self.touches:
            raise Fault("restitution", "restitution is that of impacts of a backlash without stiffness; give backlash alone")
        if self.touches and len(self.terms) > 2:
            raise Fault("backlash", f"backlash with impacts is that of one coordinate or between two, and the relation has "
                        f"{len(self.terms)}; give it stiffness, or two coordinates")
        return self

    @property
    def rigid(self) -> bool:
        """Whether it holds its relation all the time."""
        return self.stiffness is None and not self.backlash

    @property
    def touches(self) -> bool:
        """Whether it holds at the ends of its play only, where there are impacts."""
        return self.stiffness is None and bool(self.backlash)

    @property
    def terms(self) -> Terms:
        """What each coordinate is multiplied by."""
        return self.relation.terms if isinstance(self.relation, Relation) else dict(self.relation)

    @property
    def total(self) -> float:
        """What the sum is, without what the initial state adds."""
        return self.offset + (self.relation.shift if isinstance(self.relation, Relation) else 0.0)

    def coordinates(self, system: SystemView) -> list[str]:
        """The full names of its coordinates, in its order, in a system that has passed the checks."""
        return [targets(system, name)[0].names[0] for name in self.terms]

    def check(self, system: SystemView) -> Iterator[Finding]:
        """It needs two or more coordinates, or one with play or a spring, each with a position, that are not all given."""
        path, faults = ("relation",), False
        if self.name in system.loops:
            yield Finding("there is a loop of this name, and forces are reported by name; give it another name", ("name",))
        if len(self.terms) < (2 if self.rigid else 1):
            yield Finding(f"its relation has {len(self.terms)} coordinates; give two or more, or lock the only one", path)
            return
        for name in self.terms:
            if fault := coordinate_fault(system, name):
                faults = True
                yield Finding(f"coordinate {name!r} {fault}", path)
        if faults:
            return
        names = self.coordinates(system)
        if twice := [name for i, name in enumerate(names) if name in names[:i]]:
            yield Finding(f"coordinate {twice[0]!r} is named twice; give the sum of both factors once", path)
        elif all(_given(system, name) for name in names):
            yield Finding(f"its coordinates {', '.join(names)} are all locked or prescribed, so that nothing is left to couple; "
                          "let one of them move, or leave the coupling out", path)

    def nonconservative_effects(self) -> tuple[str, ...]:
        """Dampers and impacts."""
        return ("compliant couplings",) if self.damping else ("impacts",) if self.touches and self.restitution < 1.0 else ()

    def refused(self, system: SystemView) -> str:
        if isinstance(system.gravity, CentralGravity):
            for name in self.terms:
                if targets(system, name)[0].body.parent is None:
                    return (f"coupling '{self.name}' has '{name}', whose joint leads to the world; with central gravity the tree "
                            "moves about its mass center: couple joints between bodies")
        return ""

    @property
    def label(self) -> str:
        """Its line below the tree."""
        parts = [f"{factor:+.4g} {name}" for name, factor in self.terms.items()]
        kind = self.relation.kind if isinstance(self.relation, Relation) else "relation"
        wanted = f"{self.total:g}" if self.reference == "zero" else "as at the start" + (f" {self.total:+g}" if self.total else "")
        return f"coupling {self.name}   {kind}: {' '.join(parts).lstrip('+')} = {wanted}"


def _given(system: SystemView, name: str) -> bool:
    """Whether the description locks or prescribes a coordinate."""
    body, entry = entry_named(system, name, "speed_names")[0]
    return body.joint.motion is not None and body.joint.motion[entry] is not None


class Gearbox(NamedTuple):
    """The parts of a gearbox: the rotor, a body on the joint's parent that turns about the joint's axis and has inertia only about
    it; its coupling to the joint; and the friction of the rotor, if any. All have the gearbox's name.

    >>> from bough.describe.system import System
    >>> arm = System("arm")
    >>> _ = arm.body("link", joint={"type": "revolute", "axis": "y"}, mass=2, inertia=(0.1, 0.2, 0.2))
    >>> arm.gearbox("motor", "link", ratio=100, inertia=2e-5).coupling
    Coupling('motor', relation=Gear(driver='motor', driven='link', ratio=100.0), reference='initial')
    """

    rotor: Body
    coupling: Coupling
    friction: Friction | None


def _keywords(value: Any) -> Any:
    if not isinstance(value, Mapping | None):
        raise ValueError(f"is {shown(value)}; give a mapping of the keywords of Friction, such as coulomb")
    return value


class GearboxKeywords(Description, init=False):
    """What describes a gearbox, besides the joint that it drives."""

    noun: ClassVar[str] = "gearbox"
    name: Text
    ratio: Ratio                                                # turns of the motor per turn of the joint; if it slides, rad/m
    inertia: Annotated[float, above_zero("kg m^2")]             # of the rotor about its axis; at the joint, ratio^2 times that
    stiffness: Annotated[float, above_zero("N/m or N m/rad")] | None = None     # of the gears, at the joint; None: rigid
    damping: Annotated[float, at_least_zero("N s/m or N m s/rad")] = 0.0        # the same
    backlash: Annotated[float, at_least_zero("rad or m")] = 0.0                 # of the joint with the motor at rest
    restitution: Annotated[float, at_least_zero("1")] = 0.0                     # of its impacts, if the gears are rigid
    friction: Annotated[Mapping[str, Any] | None, BeforeValidator(_keywords)] = None  # of the rotor, such as {"coulomb": 0.01}


def gearbox_parts(bodies: Mapping[str, Body], name: str, body: str, **keywords: Any) -> Gearbox:
    """The rotor, the coupling and the friction of a gearbox at the joint of a body, which has one degree of freedom; `keywords`
    are those of GearboxKeywords."""
    given, subject = GearboxKeywords(name=name, **keywords), f"gearbox {name!r}"
    if body not in bodies:
        text = f"body {body!r} is not a body of the system{similar(body, bodies)}; add it before"
        raise DescriptionError([Problem(text, subject)])
    driven = bodies[body]
    if driven.joint.n_v != 1:
        text = (f"the joint of body {body!r} has {driven.joint.n_v} degrees of freedom, and a gearbox drives one; put a body "
                "between simpler joints")
        raise DescriptionError([Problem(text, subject)])
    axis = np.array(driven.joint.rotations or driven.joint.translations, float)[0]
    rotor = Body(name, parent=driven.parent, node=driven.node, at=driven.at, orient=driven.orient, joint=Revolute(axis),
                 inertia=(given.inertia * np.outer(axis, axis)).tolist(), idealized=True)
    options: dict[str, Any] = {
        "stiffness": None if given.stiffness is None else given.stiffness / given.ratio**2,
        "damping": given.damping / given.ratio**2, "backlash": given.backlash * abs(given.ratio)}
    gear = Gear(name, driven.joint.name or body, given.ratio)
    coupling = Coupling(name, gear, reference="initial", restitution=given.restitution, **options)
    return Gearbox(rotor, coupling, None if given.friction is None else Friction(name, name, **given.friction))
