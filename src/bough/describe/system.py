"""The system: bodies, loops, wheels, loads, force elements, events and stops, collected for compilation; its outline as text."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from inspect import Parameter, signature
from itertools import compress, islice
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, Self, TypeVar

import bough
from bough import describe
from bough.describe import parts as kinds
from bough.describe.base import subject_of, under
from bough.describe.body import Body
from bough.describe.body_shapes import Mesh, Shape
from bough.describe.checks import reference_problems
from bough.describe.numeric import text
from bough.describe.part import Kind, Part, SystemView
from bough.describe.parts import ELEMENTS, PARTS, Element, Event, Loop, Tank
from bough.describe.parts.connection import detachable, separable
from bough.describe.parts.coupling import Gearbox, gearbox_parts
from bough.describe.parts.event import Latch
from bough.describe.settings import CentralGravity, Simulation, gravity as read_gravity
from bough.errors import DescriptionError, Problem

if TYPE_CHECKING:
    from bough.describe.document import DocumentHead, Source
    from bough.flex import FlexibleBody

Children = dict[str | None, list[Body]]
_LONGEST = 40  # lines of the tree; a chain of thousands is not printed whole


def outline(system: SystemView) -> str:
    """The summary line, the tree of a system's bodies, those that the world does not carry (yet), and the loops."""
    children: Children = {}
    for body in system.bodies.values():
        children.setdefault(body.parent, []).append(body)
    branches = list(_branches(children))
    carried = {body.name for _, body in branches}
    lines = [_summary(system), *(["world"] if system.bodies else [])]
    lines += [f"{branch} {_line(system, body)}" for branch, body in branches[:_LONGEST]]
    lines += [f"... and {len(carried) - _LONGEST} more"] if len(carried) > _LONGEST else []
    loose = (body for body in system.bodies.values() if body.name not in carried)
    lines += [f"? {_line(system, body)}, on {body.parent!r}" for body in islice(loose, _LONGEST)]
    for key, parts in (("loops", system.loops), ("couplings", system.couplings)):
        lines += [part.label for part in islice(parts.values(), _LONGEST)]
        lines += [f"... and {len(parts) - _LONGEST} more {key}"] if len(parts) > _LONGEST else []
    return "\n".join(lines)


def _summary(system: SystemView) -> str:
    bodies = system.bodies.values()
    freedoms, modes = sum(body.joint.n_v for body in bodies), sum(body.n_modes for body in bodies)
    before = " before loops" if system.loops else " before couplings" if system.couplings else ""
    parts = [
        _count(len(bodies), "body", "bodies"),
        _count(freedoms, "degree of freedom", "degrees of freedom") + before,
        *([_count(modes, "mode", "modes")] if modes else []),
        f"{sum(body.mass for body in bodies):g} kg",
    ]
    parts += [_count(len(system.of(kind)), kind.noun, kind.key) for kind in PARTS if system.of(kind)]
    if not isinstance(system.gravity, tuple):
        parts.append(f"central gravity of mu {system.gravity.mu:g} m^3/s^2")
    elif any(system.gravity):
        parts.append(f"gravity {system.gravity} m/s^2")
    return f"System {system.name!r}: {', '.join(parts)}"


def _branches(children: Children) -> Iterator[tuple[str, Body]]:
    """The bodies on the world, depth first, each with the lines of the drawing before its name."""
    last = {siblings[-1].name for siblings in children.values()}
    waiting = [(body, "") for body in reversed(children.get(None, []))]
    while waiting:
        body, indent = waiting.pop()
        yield indent + ("└─" if body.name in last else "├─"), body
        deeper = indent + ("   " if body.name in last else "│  ")
        waiting += [(child, deeper) for child in reversed(children.get(body.name, []))]


def _line(system: SystemView, body: Body) -> str:
    dofs = " ".join(body.joint.dofs)
    parts = [f"{body.joint.kind}: {dofs}" if dofs else body.joint.kind]
    for word, marks in (("locked", body.joint.locked), ("prescribed", body.joint.prescribed)):
        parts += [f"{word} {' '.join(compress(body.joint.dofs, marks))}"] if any(marks) else []
    parts += [f"{body.mass:g} kg" if body.mass else "massless"]
    parts += [_modes(body.flexible)] if body.flexible is not None else []
    parts += [f"at node {body.node}"] if body.node is not None else []
    wheels = [wheel.name for wheel in system.wheels.values() if wheel.body == body.name]
    parts += [f"wheel{'s' * (len(wheels) > 1)} {' '.join(wheels)}"] if wheels else []
    return f"{body.name}   {', '.join(parts)}"


def _modes(flexible: FlexibleBody) -> str:
    count = _count(flexible.n_modes, "mode", "modes")
    span = dict.fromkeys(f"{frequency:.3g}" for frequency in flexible.frequencies[[0, -1]]) if flexible.n_modes else {}
    return f"{count} {' ... '.join(span)} Hz" if span else count


def _count(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"


# ---- system ----------------------------------------------------------------------------------------------------------------
Given = ParamSpec("Given")
Added = TypeVar("Added", bound=Body | Part | Simulation)


def adds(make: Callable[Given, Added], text: str) -> Callable[Concatenate[System, Given], Added]:
    """A method of System that adds what `make` makes of the same arguments."""

    def add(self: System, /, *args: Given.args, **keywords: Given.kwargs) -> Added:
        return self._add(make(*args, **keywords))

    own = signature(make)                                       # for help(), and for editors that look at what runs
    parameters, returned = [Parameter("self", Parameter.POSITIONAL_ONLY), *own.parameters.values()], own.return_annotation or make
    vars(add)["__signature__"] = own.replace(parameters=parameters, return_annotation=returned)
    add.__doc__ = text
    return add


class System:
    """The description of a multibody system. Bodies can be added in any order; each part is checked when it is added, and
    references between parts when the system is compiled.

    >>> s = System("arm", gravity=(0, 0, -9.81))
    >>> bus = s.body("bus", mass=120, inertia=(20, 25, 30), joint="free")
    >>> boom = s.body("boom", parent="bus", at=(0.5, 0, 0), mass=8, joint={"type": "revolute", "axis": "y"})
    >>> wheel = s.wheel("rw1", body="bus", axis="x", inertia=0.02, speed=300)
    >>> s
    System 'arm': 2 bodies, 7 degrees of freedom, 128 kg, 1 wheel, gravity (0.0, 0.0, -9.81) m/s^2
    world
    └─ bus   free: x y z wx wy wz, 120 kg, wheel rw1
       └─ boom   revolute: ry, 8 kg
    """

    __hash__ = None  # type: ignore[assignment]  # it can change

    def __init__(self, name: str = "system", *, gravity: Any = (0.0, 0.0, 0.0)) -> None:
        self.name = name
        self.gravity = gravity
        self.bodies: dict[str, Body] = {}
        self.loops: dict[str, Loop] = {}
        self.couplings: dict[str, kinds.Coupling] = {}
        self.wheels: dict[str, kinds.Wheel] = {}
        self.wrenches: dict[str, kinds.Wrench] = {}
        self.events: dict[str, Event] = {}
        self.stops: dict[str, kinds.Stop] = {}
        self.frictions: dict[str, kinds.Friction] = {}
        self.tanks: dict[str, Tank] = {}
        self.lines: dict[str, kinds.Line] = {}
        self.restorings: dict[str, kinds.Restoring] = {}
        self.buoyancies: dict[str, kinds.Buoyancy] = {}
        self.bushings: dict[str, kinds.Bushing] = {}
        self.inputs: dict[str, kinds.Input] = {}
        self.outputs: dict[str, kinds.Output] = {}
        self.settings: Simulation | None = None
        self.notes: tuple[str, ...] = ()  # remarks that go with it
        self._joint_owners: dict[str, str] = {}

    @property
    def name(self) -> str:
        """Name of the system."""
        return self._name

    @name.setter
    def name(self, value: str) -> None:
        try:
            self._name = text(value)
        except ValueError as error:
            raise DescriptionError([Problem(f"name {error}", "system", ("name",))]) from None

    @property
    def gravity(self) -> tuple[float, float, float] | CentralGravity:
        """Uniform gravity [m/s^2], or central gravity."""
        return self._gravity

    @gravity.setter
    def gravity(self, value: Any) -> None:
        try:
            self._gravity = read_gravity(value)
        except DescriptionError:
            raise
        except ValueError as error:
            text = f"gravity {error}, or a CentralGravity"
            raise DescriptionError([Problem(text, f"system {self.name!r}", ("gravity",))]) from None

    body = adds(Body, "Add a body; see Body for the keywords. Without a joint it is welded to its parent.")
    loop = adds(Loop, "Close a loop: a joint, or a Distance, from the frame `a` to the frame `b`; see Loop.")
    coupling = adds(kinds.Coupling, "Enforce a linear relation between coordinates, as gears and screws do; see Coupling.")
    wheel = adds(kinds.Wheel, "Add a momentum wheel to a body; see Wheel.")
    wrench = adds(kinds.Wrench, "Apply an external force and moment to a body; see Wrench.")
    event = adds(Event, "Add actions at a time, or when a quantity crosses a value; see Event.")
    latch = adds(Latch, "Lock a coordinate when it crosses the value `at`; see Latch.")
    stop = adds(kinds.Stop, "Add a spring and a damper that act on a coordinate beyond a limit; see Stop.")
    friction = adds(kinds.Friction, "Add friction along a coordinate, or about the axis of a wheel; see Friction.")
    tank = adds(Tank, "Add a propellant tank to a body: a body with its name, whose mass decreases as propellant burns; see Tank.")
    line = adds(kinds.Line, "Add a straight spring and damper from the frame `a` to the frame `b`; see Line.")
    restoring = adds(kinds.Restoring, "Add a force and a moment linear in the displacement of a body in the world; see Restoring.")
    buoyancy = adds(kinds.Buoyancy, "Add the buoyancy of a body with circular sections; see Buoyancy.")
    bushing = adds(kinds.Bushing, "Add a spring and a damper along all six motions of frame `b` relative to `a`; see Bushing.")
    simulation = adds(Simulation, "Set how the system is simulated; see Simulation. The last call counts.")
    input = adds(kinds.Input, "Declare an input: a force, torque or other quantity set from outside; see Input.")
    output = adds(kinds.Output, "Declare an output: a quantity to be measured; see Output.")

    def gearbox(self, name: str, body: str, *, ratio: float, inertia: float, **options: Any) -> Gearbox:
        """Drive the joint of a body through a gearbox: adds the rotor (a body with the gearbox's name), the coupling between both,
        and the rotor friction. YAML files contain these parts.

        >>> arm = System("arm")
        >>> _ = arm.body("link", joint={"type": "revolute", "axis": "y"}, mass=2, com=(0.5, 0, 0), inertia=(0.1, 0.2, 0.2))
        >>> drive = arm.gearbox("motor", "link", ratio=100, inertia=2e-5, stiffness=1e4, friction={"coulomb": 0.01})
        >>> drive.coupling.stiffness, drive.rotor.joint.kind
        (1.0, 'revolute')
        """
        made = gearbox_parts(self.bodies, name, body, ratio=ratio, inertia=inertia, **options)
        self._add(made.rotor)
        self._add(made.coupling)
        if made.friction is not None:
            self._add(made.friction)
        return made

    @property
    def elements(self) -> dict[str, Element]:
        """The force elements by name, kind by kind."""
        return {name: element for kind in ELEMENTS for name, element in self.of(kind).items()}

    def of(self, kind: type[Kind]) -> dict[str, Kind]:
        """The parts of a kind by name: `system.of(Wheel)` is `system.wheels`."""
        parts: dict[str, Kind] = getattr(self, kind.key)
        return parts

    def compile(self) -> bough.Model:
        """Check the system and compile it into a Model, which can be evaluated and simulated."""
        return bough.compile_system(self)

    def copy(self) -> System:
        """An independent copy of the system."""
        twin = copy.copy(self)
        for key in ("bodies", "_joint_owners", *(kind.key for kind in PARTS)):                  # descriptions do not change
            setattr(twin, key, dict(getattr(self, key)))
        return twin

    def separable(self) -> System:
        """The same system, in which bodies that events detach have the coordinates for it; itself, if there are none."""
        if not detachable(self):
            return self
        twin = self.copy()
        twin.bodies = separable(self)
        return twin

    def to_dict(self, *, exact: bool = False) -> dict[str, Any]:
        """Plain numbers, strings, lists and dicts, arranged as in the YAML file. With `exact`, flexible bodies are stored as
        arrays instead of the keywords they were built from, because rebuilding them on another machine can change the last digits.
        """
        def plain(body: Body) -> dict[str, Any]:
            return {} if body.flexible is None else {"flexible": replace(body.flexible, recipe=None)}

        return (self._with(plain) if exact else self)._document().to_dict()

    def self_contained(self) -> System:
        """The same system with its meshes embedded, so that their files are no longer needed. A mesh whose file cannot be read is
        left unchanged.
        """
        return self._with(lambda body: {"shapes": tuple(map(_packed, body.shapes))})

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """The system described by such a dict; all errors are reported together.

        >>> System.from_dict({"bodies": [{"name": "boom", "mas": 3}]})
        Traceback (most recent call last):
        bough.errors.DescriptionError: body 'boom': unknown key 'mas'; did you mean 'mass'?
        """
        if data is None:
            raise DescriptionError("the system is empty; give at least its bodies")
        try:
            system = cls._of(describe.document.Document.from_mapping(data))
        except DescriptionError:
            raise
        except ValueError as error:
            raise DescriptionError(f"the system {error}") from None
        if problems := reference_problems(system.separable()):
            raise DescriptionError(problems)
        return system

    def to_yaml(self, path: str | PathLike[str] | None = None, *, exact: bool = False) -> str:
        """The YAML text of the system, also written to a file if a path is given; see `to_dict` for `exact`. Names of mesh files
        in the folder of that file are written relative to it.

        >>> print(System("empty", gravity=(0, 0, -9.81)).to_yaml(), end="")
        bough: 1
        name: empty
        gravity: [0.0, 0.0, -9.81]
        """
        data = self.to_dict(exact=exact)
        return describe.document.write(data) if path is None else describe.document.write_file(Path(path), data)

    @classmethod
    def from_yaml(cls, text_or_path: str | PathLike[str]) -> Self:
        """The system described by a YAML file or a YAML text. A str that contains a line break or ": " is taken as text.

        >>> System.from_yaml("bodies: [{name: pendulum, joint: {type: revolute, axis: y}, mass: 1, com: [0, 0, -1]}]")
        System 'system': 1 body, 1 degree of freedom, 1 kg
        world
        └─ pendulum   revolute: ry, 1 kg
        """
        if isinstance(text_or_path, str) and ("\n" in text_or_path or ": " in text_or_path):
            return cls._from_source(describe.document.read(text_or_path))
        return cls._from_source(describe.document.read_file(Path(text_or_path)))

    @classmethod
    def _from_source(cls, source: Source) -> Self:
        try:
            folder = Path(source.name).parent
            return cls.from_dict(describe.document.in_folder(source.data, folder) if source.name else source.data)
        except DescriptionError as error:
            raise DescriptionError(source.locate(error.problems)) from None

    def _with(self, update: Callable[[Body], dict[str, Any]]) -> System:
        """A copy of the system with updated bodies."""
        twin = self.copy()
        twin.bodies = {name: body.model_copy(update=update(body)) for name, body in self.bodies.items()}
        return twin

    def _document(self) -> DocumentHead:
        parts = {kind.key: tuple(self.of(kind).values()) for kind in PARTS}
        made = {name for tank in self.tanks.values() for name in tank.body_names}
        bodies = tuple(body for body in self.bodies.values() if body.name not in made)
        attached = {loop.name for event in self.events.values() for loop in event.loops()}
        parts[Loop.key] = tuple(loop for loop in self.loops.values() if loop.name not in attached)
        return describe.document.Document(name=self.name, gravity=self.gravity, bodies=bodies, **parts, simulation=self.settings,
                                          notes=self.notes)

    @classmethod
    def _of(cls, document: DocumentHead) -> Self:
        system, problems = cls(document.name, gravity=document.gravity), list[Problem]()
        for key in (Body.key, *(kind.key for kind in PARTS)):
            for index, part in enumerate(getattr(document, key)):
                try:
                    with under(key, index):
                        system._add(part)
                except DescriptionError as error:
                    problems += error.problems
        if problems:
            raise DescriptionError(problems)
        system.settings, system.notes = document.simulation, document.notes
        return system

    def _add(self, part: Added) -> Added:
        if isinstance(part, Simulation):
            self.settings = part
            return part
        name, own = part.name, getattr(self, part.key)
        others: Mapping[str, Any] = self.elements if isinstance(part, Element) else own      # elements share one set of names
        if name in others:
            noun = others[name].noun
            text = (f"there is a{'n' * (noun[0] in 'aeiou')} {noun} of this name already; give each "
                    f"{noun if name in own else 'force element'} its own name")
            raise DescriptionError([Problem(text, subject_of(type(part), name), ("name",))])
        if isinstance(part, Body) and part.joint.name is not None:
            self._claim_joint_name(part, part.joint.name)
        if isinstance(part, Tank):
            for body in part.bodies():
                self._add(body)
        if isinstance(part, Event):
            for loop in part.loops():
                self._add_attachment(part, loop)
        own[name] = part
        if isinstance(part, Body) and self.tanks:
            self._tanks_last()
        return part

    def _add_attachment(self, event: Event, loop: Loop) -> None:
        """The loop of an attachment; two events may make the same one."""
        if self.loops.get(loop.name, loop) != loop:
            text = f"its attachment {loop.name!r} has the name of another loop; give Attach(..., name=...) one of its own"
            raise DescriptionError([Problem(text, subject_of(Event, event.name), ("do",))])
        self.loops[loop.name] = loop

    def _tanks_last(self) -> None:
        """Bodies of tanks come behind all others, in the order of the tanks, whenever these were added: as after a YAML file."""
        for tank in self.tanks.values():
            for name in tank.body_names:
                self.bodies[name] = self.bodies.pop(name)

    def _claim_joint_name(self, body: Body, joint_name: str) -> None:
        other = self.bodies.get(self._joint_owners.get(joint_name, ""))
        if other and other.joint.name == joint_name:
            text = f"joint has the name {joint_name!r}, as that of body {other.name!r} has; give each its own"
            raise DescriptionError([Problem(text, f"body {body.name!r}", ("joint", "name"))])
        self._joint_owners[joint_name] = body.name

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, System):
            return NotImplemented
        return self._document() == other._document()

    def __repr__(self) -> str:
        return outline(self)


def _packed(shape: Shape) -> Shape:
    try:
        return shape.packed() if isinstance(shape, Mesh) else shape
    except DescriptionError:                                    # its file cannot be read here either
        return shape


def load(path: str | PathLike[str]) -> System:
    """The system described by a YAML file.

    >>> load("no-such-file.yaml")
    Traceback (most recent call last):
    bough.errors.DescriptionError: no-such-file.yaml: there is no such file; give the path of a YAML file
    """
    return System.from_yaml(Path(path))
