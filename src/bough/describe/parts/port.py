"""Ports: inputs, which act on a system from outside, and outputs, which measure it."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import BeforeValidator, PlainSerializer, WithJsonSchema, model_validator
from pydantic_core.core_schema import ValidationInfo

from bough import flex
from bough.describe.base import Fault, among
from bough.describe.body import FORCE_UNITS, FRAME, WORLD, Frame, FrameField, read_frame, write_frame
from bough.describe.numeric import TEXT, Axis, AxisLike, Text, above_zero, at_least_zero, items, letter, shown, text
from bough.describe.part import BESIDE, FORCE_BESIDE, Attachment, Finding, Names, Part, SystemView, entry_named, listed
from bough.describe.parts.wrench import Axes
from bough.errors import nearest
from bough.flex.choices import COMPONENTS

if TYPE_CHECKING:
    from bough.flex import Recovery

XYZ = ("x", "y", "z")


class Port(Part, init=False):
    """An input or an output: a name, one target, and so many numbers."""

    targets: ClassVar[tuple[str, ...]]          # of which exactly one is given
    label: Text | None = None

    @property
    def kind(self) -> str:
        """Which target it has."""
        return next(name for name in self.targets if getattr(self, name) is not None)

    @property
    def components(self) -> tuple[str, ...]:
        """What its numbers are called; one that needs no name: ("",)."""
        raise NotImplementedError

    def units(self, system: SystemView) -> tuple[str, ...]:
        """The unit of each."""
        raise NotImplementedError

    @property
    def size(self) -> int:
        """How many numbers it has."""
        return len(self.components)

    @property
    def entries(self) -> tuple[str, ...]:
        """The names of its numbers in the whole system.

        >>> Input("push", force="bus").entries, Input("push", force="bus", axis="x").entries
        (('push.x', 'push.y', 'push.z'), ('push',))
        """
        return tuple(f"{self.name}.{each}" if each else self.name for each in self.components)

    @property
    def labels(self) -> tuple[str, ...]:
        """What plots call them."""
        return tuple(f"{self.label or self.name} {each}".strip() for each in self.components)

    def _check_targets(self) -> None:
        given = [name for name in self.targets if getattr(self, name) is not None]
        if not given:
            raise Fault(self.targets[0], f"it has no target; give one of {', '.join(self.targets)}")
        if len(given) > 1:
            raise Fault(given[1], f"{' and '.join(given)} are given; give one of them, and the other its own {self.noun}")


def ports_of(ports: Sequence[Port]) -> dict[str, slice]:
    """Where the numbers of each are, if those of all stand in a row.

    >>> ports_of([Input("push", force="bus"), Input("arm", coordinate="arm.ry")])
    {'push': slice(0, 3, None), 'arm': slice(3, 4, None)}
    """
    found, at = {}, 0
    for port in ports:
        found[port.name] = slice(at, at + port.size)
        at += port.size
    return found


def _entry_problem(system: SystemView, field: str, name: str, names: Names) -> Iterator[Finding]:
    """What is wrong with the name of one entry of q or v."""
    found = entry_named(system, name, names)
    if len(found) == 1:
        return
    known = [entry for body in system.bodies.values() for entry in getattr(body, names)]
    whole = [getattr(body, names)[: body.joint.n_q] for body in system.bodies.values() if name in (body.name, body.joint.name)]
    if found:
        wrong = f"may be of body {' and of '.join(repr(body.name) for body, _ in found)}; give their joints other names"
    elif whole and whole[0]:
        wrong = f"names a whole joint; name one of its coordinates: {', '.join(whole[0])}"
    else:
        wrong = f"names no coordinate of the system{nearest(name, known) or listed(known)}"
    yield Finding(f"{field} {name!r} {wrong}", (field,))


def _known(field: str, name: str, what: str, known: Sequence[str]) -> Iterator[Finding]:
    if name not in known:
        yield Finding(f"{field} {name!r} is not a {what} of the system{nearest(name, known) or listed(known)}", (field,))


def _place_problem(field: str, frame: Frame | None, why: str) -> Iterator[Finding]:
    if frame is not None and frame.body == WORLD:
        yield Finding(f"{field} is on the world, {why}; name a body", (field, "body"))


# ---- inputs ----------------------------------------------------------------------------------------------------------------
class Input(Port):
    """A force, torque or other quantity set from outside at every call or step: by a control law, the user's loop, or another
    program. It is zero unless set. It has exactly one target:

    - `coordinate`: the force or torque along a coordinate ("arm.ry"; "arm" if its joint has only one; "boom.mode1")
    - `wheel`: the motor torque of a driven wheel
    - `force`, `moment`: on a body, or at a Frame (a point, a node of a flexible body); one number along `axis`, else three. `axes`
      says whose axes these are: those of the "body" (of its frame) or of the "world"
    - `rest`: the change of the unstretched length of a line, or of the rest position of a coordinate's spring. The potential
    energy still refers to the rest of the description: the difference is work of the input
    - `flow`: the outflow of a tank [kg/s], added to that of its description
    - `signal=True`: no effect on the motion, but an event can watch it: this lets a law trigger events

    >>> Input("thruster", force=Frame("bus", at=(0, 0, -1)), axis="z")
    Input('thruster', force=Frame(body='bus', at=(0.0, 0.0, -1.0)), axis=(0.0, 0.0, 1.0))
    >>> Input("winch")
    Traceback (most recent call last):
    bough.errors.DescriptionError: input 'winch': it has no target; give one of coordinate, wheel, force, moment, rest, flow, signal
    """

    key: ClassVar[str] = "inputs"
    targets: ClassVar[tuple[str, ...]] = ("coordinate", "wheel", "force", "moment", "rest", "flow", "signal")
    coordinate: Text | None = None
    wheel: Text | None = None
    force: FrameField | None = None
    moment: FrameField | None = None
    rest: Text | None = None
    flow: Text | None = None
    signal: Annotated[Literal[True] | None, BeforeValidator(lambda value: None if value is False else value)] = None
    axis: Axis | None = None
    axes: Annotated[Axes, among(Axes)] = "body"

    def __init__(
        self,
        name: str,
        *,
        coordinate: str | None = None,
        wheel: str | None = None,
        force: Any = None,
        moment: Any = None,
        rest: str | None = None,
        flow: str | None = None,
        signal: bool | None = None,
        axis: AxisLike | None = None,
        axes: str = "body",
        label: str | None = None,
    ) -> None:
        super().__init__(name=name, coordinate=coordinate, wheel=wheel, force=force, moment=moment, rest=rest, flow=flow,
                         signal=signal, axis=axis, axes=axes, label=label)

    @model_validator(mode="after")
    def _check(self) -> Self:
        self._check_targets()
        for field, default in (("axis", None), ("axes", "body")):
            if self.place is None and getattr(self, field) != default:
                raise Fault(field, f"{field} is {shown(getattr(self, field))}, but only a force or a moment has one; leave it out")
        return self

    @property
    def place(self) -> Frame | None:
        """Where a force or a moment acts."""
        return self.force or self.moment

    @property
    def components(self) -> tuple[str, ...]:
        """x, y and z, or the one number that it is."""
        return XYZ if self.place is not None and self.axis is None else ("",)

    def units(self, system: SystemView) -> tuple[str, ...]:
        """Of its target."""
        if self.coordinate or (self.rest and self.rest not in system.lines):
            [(body, entry)] = entry_named(system, self.coordinate or str(self.rest), "speed_names")
            unit = body.speed_units[entry]
            return (FORCE_UNITS[unit] if self.coordinate else unit,)
        return ("1" if self.signal else "kg/s" if self.flow else "m" if self.rest else "N" if self.force else "N m",) * self.size

    def attachments(self) -> tuple[Attachment, ...]:
        """Where its force or moment acts."""
        if self.place is None:
            return ()
        turning = "a moment" if self.moment else FORCE_BESIDE if any(self.place.at) else ""
        return (Attachment(self.place.body, self.place.node, turning, self.kind),)

    def check(self, system: SystemView) -> Iterator[Finding]:
        """Its target must be there, and be able to take it."""
        yield from _place_problem(self.kind, self.place, "which nothing moves")
        if self.coordinate:
            yield from _entry_problem(system, "coordinate", self.coordinate, "speed_names")
        if self.wheel:
            yield from _known("wheel", self.wheel, "wheel", list(system.wheels))
            if self.wheel in system.wheels and not system.wheels[self.wheel].driven:
                text = f"wheel {self.wheel!r} has its speed held; give the wheel a torque (0 will do), then its motor drives it"
                yield Finding(text, ("wheel",))
        if self.flow:
            yield from _known("flow", self.flow, "tank", list(system.tanks))
        if self.rest and self.rest not in system.lines:
            yield from self._spring_problem(system, self.rest)

    def _spring_problem(self, system: SystemView, name: str) -> Iterator[Finding]:
        found = entry_named(system, name, "speed_names")
        if len(found) != 1:
            springs = [(body, body.joint.stiffness or ()) for body in system.bodies.values()]
            known = [*system.lines, *(entry for body, all_k in springs
                                      for entry, k in zip(body.speed_names, all_k, strict=False) if k)]
            text = f"is neither a line nor a coordinate with a spring{nearest(name, known) or listed(known)}"
            yield Finding(f"rest {name!r} {text}", ("rest",))
            return
        [(body, entry)] = found
        if entry >= body.joint.n_v or not (body.joint.stiffness or (0.0,) * body.joint.n_v)[entry]:
            yield Finding(f"rest {name!r} has no spring; give its joint a stiffness, or make the input a coordinate's", ("rest",))

    def load_line(self) -> str:
        """Where it acts."""
        if self.signal:
            return f"input {self.name}: a signal"
        target = self.place.label if self.place is not None else getattr(self, self.kind)
        along = "" if self.axis is None else f" along {letter(self.axis) or shown(self.axis)}"
        return f"input {self.name}: {self.kind} {'on' if self.place is not None else 'of'} {target}{along}"


# ---- outputs ---------------------------------------------------------------------------------------------------------------
LOAD = ("mx", "my", "mz", "fx", "fy", "fz")
Energy = Literal["kinetic", "potential", "total"]
Momentum = Literal["angular", "linear"]


class Kind(NamedTuple):
    """What the numbers of a kind of output are."""

    components: tuple[str, ...] = ("",)
    unit: str = ""                          # "" of those whose unit depends on what is measured
    axes: str = ""                          # whose, unless it is said; "": it has no axes
    at: str = ""                            # it is measured at a frame: what must turn with a node there ("-": nothing)
    late: bool = False                      # it needs accelerations, which depend on the inputs at the same time


KINDS = {
    "coordinate": Kind(),
    "rate": Kind(),
    "position": Kind(XYZ, "m", "world", "-"),
    "attitude": Kind(("x", "y", "z", "w"), "1", "world", "an attitude"),
    "velocity": Kind(XYZ, "m/s", "world", "-"),
    "angular_velocity": Kind(XYZ, "rad/s", "world", "an angular velocity"),
    "acceleration": Kind(XYZ, "m/s^2", "world", "-", late=True),
    "felt_acceleration": Kind(XYZ, "m/s^2", "world", "-", late=True),
    "load": Kind(LOAD, "", "body", late=True),
    "deflection": Kind(XYZ, "m", "body", "-"),
    "strain": Kind(COMPONENTS, "1"),
    "strain_energy": Kind(unit="J"),
    "wheel": Kind(unit="rad/s"),
    "tension": Kind(unit="N"),
    "energy": Kind(unit="J"),
    "momentum": Kind(XYZ, "", "world"),
    "distance": Kind(unit="m"),
    "relative_speed": Kind(unit="m/s"),
    "relative_angle": Kind(unit="rad"),
    "relative_rate": Kind(unit="rad/s"),
}
BETWEEN = ("distance", "relative_speed", "relative_angle", "relative_rate")            # two frames


def _axes(value: Any, info: ValidationInfo) -> str | Frame | None:
    """"world", "body", "parent", the name of a body, or a frame."""
    return value if value is None or (isinstance(value, str) and text(value)) else read_frame(value, info)


def _cut(value: Any) -> str | tuple[str, ...] | None:
    """A name, or several."""
    if value is None or isinstance(value, str):
        return None if value is None else text(value)
    given = items(value)
    if not given:
        raise ValueError(f"is {shown(value)}; give the name of a joint, body or loop, or a list of such names")
    return tuple(text(entry) for entry in given)


def _component(value: Any) -> str | int | None:
    if value is not None and (isinstance(value, bool) or not isinstance(value, str | int)):
        raise ValueError(f"is {shown(value)}; give the name of a component (x, y, z) or its number, from 0 on")
    return value


def _pair(value: Any, info: ValidationInfo) -> tuple[Frame, Frame] | None:
    given = None if isinstance(value, str | Frame | Mapping) else items(value)
    if value is not None and (given is None or len(given) != 2):
        raise ValueError(f"is {shown(value)}; give two frames, or bodies: ['hand', Frame('target', at=...)]")
    return None if given is None else (read_frame(given[0], info), read_frame(given[1], info))


PairField = Annotated[tuple[Frame, Frame] | None, BeforeValidator(_pair),
                      PlainSerializer(lambda pair: None if pair is None else [write_frame(frame) for frame in pair]),
                      WithJsonSchema({"type": "array", "items": FRAME, "minItems": 2, "maxItems": 2})]
AxesField = Annotated[str | Frame | None, BeforeValidator(_axes),
                      PlainSerializer(lambda axes: write_frame(axes) if isinstance(axes, Frame) else axes),
                      WithJsonSchema(FRAME)]
CutField = Annotated[str | tuple[str, ...] | None, BeforeValidator(_cut),
                     WithJsonSchema({"anyOf": [TEXT, {"type": "array", "items": TEXT, "minItems": 1}]})]
ComponentField = Annotated[str | int | None, BeforeValidator(_component),
                           WithJsonSchema({"anyOf": [TEXT, {"type": "integer", "minimum": 0}]})]


class Output(Port):
    """A measured quantity, for control laws, the user's loop, other programs and results. It has exactly one target:

    - `coordinate`, `rate`: an entry of q, or of v, by its name
    - `position`, `velocity`, `angular_velocity`, `acceleration` (of a body, or at a Frame: a point, a node of a flexible body), and
      `felt_acceleration`, the reading of an accelerometer there: without gravity
    - `attitude`: a quaternion [x, y, z, w]
    - `load`: [moment, force] through a joint or loop, or through each of a list of them that splits the system in two: see
      `Model.internal_loads`
    - `deflection`: of a node of a flexible body from its undeformed position
    - `strain`: of an element that a flexible body recovers, "boom.root top": xx, yy, zz, xy, yz, zx (engineering shear) in the
      body's axes; with `axis`, the reading of a strain gauge along it; `strain_energy`: of a flexible body
    - `wheel`: speed of a wheel; `tension`: of a line
    - `distance`, `relative_speed`, `relative_angle`, `relative_rate`: between two bodies or Frames [a, b]: the distance of their
    origins, the speed of b's origin relative to a, the relative rotation angle, and the relative angular rate
    - `energy`: "kinetic", "potential" or "total"; `momentum`: "angular" (about the mass center) or "linear"

    `axes` are those of the "world", of the "body" (of its frame), or of a named body or Frame. The default is world axes; for a
    deflection, those of its body; for a load, those of its child ("body"; or "parent"). `component` selects one number of several.
    A law sees the output with `noise` (standard deviation) and quantized in steps of `quantum`; results have it without.

    >>> Output("tip", position=Frame("boom", node="tip"), component="z", noise=1e-4)
    Output('tip', position=Frame(body='boom', node='tip'), component='z', noise=0.0001)
    >>> Output("gyro", angular_velocity="bus", axes="body").components
    ('x', 'y', 'z')
    """

    key: ClassVar[str] = "outputs"
    targets: ClassVar[tuple[str, ...]] = tuple(KINDS)
    coordinate: Text | None = None
    rate: Text | None = None
    position: FrameField | None = None
    attitude: FrameField | None = None
    velocity: FrameField | None = None
    angular_velocity: FrameField | None = None
    acceleration: FrameField | None = None
    felt_acceleration: FrameField | None = None
    load: CutField = None
    deflection: FrameField | None = None
    strain: Text | None = None
    strain_energy: Text | None = None
    wheel: Text | None = None
    tension: Text | None = None
    energy: Annotated[Energy, among(Energy)] | None = None
    momentum: Annotated[Momentum, among(Momentum)] | None = None
    distance: PairField = None
    relative_speed: PairField = None
    relative_angle: PairField = None
    relative_rate: PairField = None
    axis: Axis | None = None
    axes: AxesField = None
    component: ComponentField = None
    noise: Annotated[float, at_least_zero("")] = 0.0
    quantum: Annotated[float, above_zero("")] | None = None

    def __init__(
        self,
        name: str,
        *,
        coordinate: str | None = None,
        rate: str | None = None,
        position: Any = None,
        attitude: Any = None,
        velocity: Any = None,
        angular_velocity: Any = None,
        acceleration: Any = None,
        felt_acceleration: Any = None,
        load: Any = None,
        deflection: Any = None,
        strain: str | None = None,
        strain_energy: str | None = None,
        wheel: str | None = None,
        tension: str | None = None,
        energy: str | None = None,
        momentum: str | None = None,
        distance: Any = None,
        relative_speed: Any = None,
        relative_angle: Any = None,
        relative_rate: Any = None,
        axis: AxisLike | None = None,
        axes: Any = None,
        component: str | int | None = None,
        noise: float = 0.0,
        quantum: float | None = None,
        label: str | None = None,
    ) -> None:
        super().__init__(
            name=name, coordinate=coordinate, rate=rate, position=position, attitude=attitude, velocity=velocity,
            angular_velocity=angular_velocity, acceleration=acceleration, felt_acceleration=felt_acceleration, load=load,
            deflection=deflection, strain=strain, strain_energy=strain_energy, wheel=wheel, tension=tension, energy=energy,
            momentum=momentum, distance=distance, relative_speed=relative_speed, relative_angle=relative_angle,
            relative_rate=relative_rate, axis=axis, axes=axes, component=component, noise=noise, quantum=quantum, label=label,
        )

    @model_validator(mode="after")
    def _check(self) -> Self:
        self._check_targets()
        kind, whole = KINDS[self.kind], self._whole
        if self.axes is not None and not kind.axes:
            why = "strains are along the body's axes; give axis" if self.strain else f"a {self.kind} has no direction; leave it out"
            raise Fault("axes", f"axes is {shown(self.axes)}, but {why}")
        if self.axis is not None and not self.strain:
            raise Fault("axis", f"axis is {shown(self.axis)}, but only a strain has one; give component, or leave it out")
        if self.axes == "body" and self.kind in ("attitude", "momentum"):
            raise Fault("axes", f"axes is 'body', but {self.kind} has no body of its own; name one, or leave it out")
        if self.kind == "load" and self.axes not in (None, "world", "body", "parent"):
            raise Fault("axes", f"axes is {shown(self.axes)}; of a load give body (those of the child), parent or world")
        if self.component is not None and (len(whole) == 1 or self.component not in (*whole, *range(len(whole)))):
            remedy = f"give one of {', '.join(whole)}, or its number" if len(whole) > 1 else "it is one number: leave it out"
            raise Fault("component", f"component is {shown(self.component)}; {remedy}")
        return self

    @property
    def _whole(self) -> tuple[str, ...]:
        """All components, before one is chosen."""
        if isinstance(self.load, tuple):
            return tuple(f"{name}.{each}" for name in self.load for each in LOAD)
        if self.axis is not None:
            return ("",)
        return KINDS[self.kind].components

    @property
    def chosen(self) -> slice:
        """Which of all components it is."""
        if self.component is None:
            return slice(0, len(self._whole))
        at = self.component if isinstance(self.component, int) else self._whole.index(self.component)
        return slice(at, at + 1)

    @property
    def components(self) -> tuple[str, ...]:
        """Those that are measured; one number needs no name."""
        return self._whole if self.component is None else ("",)

    @property
    def place(self) -> Frame | None:
        """Where it is measured, if it is at a place."""
        return getattr(self, self.kind) if KINDS[self.kind].at else None

    @property
    def pair(self) -> tuple[Frame, ...]:
        """The two frames between which it is measured, if it is."""
        return getattr(self, self.kind) if self.kind in BETWEEN else ()

    @property
    def along(self) -> str | Frame:
        """Whose axes it is given in: "world", "body", "parent", or a frame; "" if it has no direction."""
        axes = self.axes or KINDS[self.kind].axes
        return Frame(axes) if isinstance(axes, str) and axes not in ("world", "body", "parent", "") else axes

    def units(self, system: SystemView) -> tuple[str, ...]:
        """Of each component."""
        if self.coordinate or self.rate:
            names: Names = "coordinate_names" if self.coordinate else "speed_names"
            [(body, entry)] = entry_named(system, self.coordinate or str(self.rate), names)
            return (body.coordinate_units[entry] if self.coordinate else f"{body.speed_units[entry]}/s",)
        if self.load:
            return tuple("N m" if each.rpartition(".")[2][0] == "m" else "N" for each in self._whole[self.chosen])
        return (KINDS[self.kind].unit or {"angular": "N m s", "linear": "N s"}[str(self.momentum)],) * self.size

    def gauge(self, system: SystemView) -> tuple[str, NDArray[Any]]:
        """Of a strain: its body, and its components per modal coordinate (components, n), before one is chosen."""
        body, recovery, element = strained(system, str(self.strain))[0]
        rows = recovery.strain[recovery.index(element)]
        return body, rows if self.axis is None else flex.recovery.components_along(self.axis)[None] @ rows

    def late(self, system: SystemView) -> bool:
        """Whether it needs accelerations or forces, so that it depends on the inputs at the same time."""
        changed = self.tension is not None and any(each.rest == self.tension for each in system.of(Input).values())
        return KINDS[self.kind].late or changed

    def attachments(self) -> tuple[Attachment, ...]:
        """Where it is measured, and the frame whose axes are named."""
        found = []
        if self.place is not None:
            turning = KINDS[self.kind].at.strip("-") or (BESIDE if any(self.place.at) else "axes" if self.along == "body" else "")
            found.append(Attachment(self.place.body, self.place.node, "" if self.deflection else turning, self.kind))
        if isinstance(self.along, Frame):
            found.append(Attachment(self.along.body, self.along.node, "axes", "axes"))
        turning = "" if self.distance else "axes"
        found += [Attachment(each.body, each.node, turning or BESIDE*any(each.at), self.kind) for each in self.pair]
        return tuple(found)

    def check(self, system: SystemView) -> Iterator[Finding]:
        """What it measures must be there."""
        yield from _place_problem(self.kind, self.place, "which does not move")
        if self.coordinate:
            yield from _entry_problem(system, "coordinate", self.coordinate, "coordinate_names")
        if self.rate:
            yield from _entry_problem(system, "rate", self.rate, "speed_names")
        flexible = [body.name for body in system.bodies.values() if body.n_modes]
        for field, what, known in (("wheel", "wheel", [*system.wheels]), ("tension", "line", [*system.lines]),
                                   ("strain_energy", "flexible body", flexible)):
            if name := getattr(self, field):
                yield from _known(field, name, what, known)
        if self.strain:
            yield from self._strain_problem(system, self.strain)
        if self.deflection is not None and self.deflection.body in system.bodies:
            yield from _known("deflection", self.deflection.body, "flexible body", flexible)
        if self.deflection is not None and (any(self.deflection.at) or self.deflection.node is None):
            yield Finding("deflection is that of a node; give Frame(body, node=...) without at", ("deflection",))
        for name in ([self.load] if isinstance(self.load, str) else self.load or []):
            joints = [each for body in system.bodies.values() for each in (body.joint.name or body.name, body.name)]
            yield from _known("load", name, "joint, body or loop", [*joints, *system.loops])

    def _strain_problem(self, system: SystemView, name: str) -> Iterator[Finding]:
        found = strained(system, name)
        if len(found) != 1:
            yield Finding(f"strain {name!r} {_unstrained(system, name, len(found))}", ("strain",))
            return
        _, recovery, element = found[0]
        known = {each for each, row in zip(COMPONENTS, recovery.strain[recovery.index(element)], strict=True) if row.any()}
        shares = np.eye(6)[self.chosen][0] if self.axis is None else flex.recovery.components_along(self.axis)
        wanted = {each for each, share in zip(COMPONENTS, shares, strict=True) if share}
        single = self.component is not None or self.axis is not None
        if single and (not wanted & known or (len(known) == 1 and wanted - known)):
            field, asked = ("component", self.component) if self.axis is None else ("axis", letter(self.axis) or self.axis)
            only = f"only {', '.join(sorted(known)) or 'nothing'} of it is known (of a fiber, the strain along its beam)"
            yield Finding(f"{field} is {shown(asked)}, but strain {name!r} does not show it: {only}", (field,))


def strained(system: SystemView, name: str) -> "list[tuple[str, Recovery, str]]":
    """Bodies that recover the strain of the element of this name, "body.element", how, and its name there; one if all is well."""
    return [(body.name, recovery, name[len(body.name) + 1:]) for body in system.bodies.values()
            if (recovery := _recovery(body)) and name.startswith(f"{body.name}.") and recovery.has(name[len(body.name) + 1:])]


def _recovery(body: Any) -> "Recovery | None":
    """Of strains."""
    found = None if body.flexible is None else body.flexible.recovery
    return found if found is not None and len(found.strain) else None


def _unstrained(system: SystemView, name: str, several: int) -> str:
    """Why a name is not that of one element that is strained."""
    if several:
        return "is an element of several bodies; give them other names"
    owner = next((body for body in system.bodies.values() if name == body.name or name.startswith(f"{body.name}.")), None)
    known = [f"{body.name}.{each}" for body in system.bodies.values() if (recovery := _recovery(body))
             for each in recovery.names if owner is None or body is owner]
    if owner is not None and not known:
        how = "make it with recover=..., which says where" if owner.n_modes else "it is rigid"
        return f"is of body {owner.name!r}, which recovers no strains: {how}" + (
            f"; its strain energy is strain_energy={owner.name!r}" if owner.n_modes else "")
    energy = f" (the strain energy of the whole body is strain_energy={name!r})" if owner and owner.name == name else ""
    return f"is not an element whose strain a body recovers{energy}{nearest(name, known) or listed(known)}"
