"""The contents of a URDF file, the tree of its links and joints, and how it is read with the standard library: every element is
known, refused, or remembered as not used."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from bough.describe.numeric import LARGEST
from bough.errors import SHOWN, DescriptionError, Problem, nearest

Vector = tuple[float, ...]


class Origin(NamedTuple):
    """A frame in another one: position, and turns about its fixed x, y and z axes."""

    xyz: Vector = (0.0, 0.0, 0.0)
    rpy: Vector = (0.0, 0.0, 0.0)

    @property
    def place(self) -> dict[str, Any]:
        """As keywords of bough's descriptions."""
        return {"at": self.xyz, "orient": {"euler": "xyz", "radians": self.rpy} if any(self.rpy) else None}


class Inertial(NamedTuple):
    """Mass, and the inertia about the mass center in the axes of its origin."""

    origin: Origin
    mass: float
    inertia: tuple[Vector, ...]


class Visual(NamedTuple):
    """A geometry to draw: box, cylinder, sphere or mesh, its sizes (the keywords of bough's shapes), and its material."""

    origin: Origin
    kind: str
    sizes: dict[str, Any]
    file: str = ""
    color: Vector | None = None
    material: str = ""


class Link(NamedTuple):
    """A body."""

    name: str
    inertial: Inertial | None
    visuals: tuple[Visual, ...]


class Limit(NamedTuple):
    """The range of a joint's coordinate, and what its drive can do; None is what the file does not say."""

    lower: float | None
    upper: float | None
    effort: float | None
    velocity: float | None


class Mimic(NamedTuple):
    """A coordinate that follows another one: q = multiplier q_other + offset."""

    joint: str
    multiplier: float
    offset: float


class RobotJoint(NamedTuple):
    """A joint between two links."""

    name: str
    kind: str
    parent: str
    child: str
    origin: Origin
    axis: Vector
    limit: Limit | None
    damping: float
    friction: float
    mimic: Mimic | None


@dataclass
class Robot:
    """The links and joints of a file, and the names of what bough has no use for, by kind."""

    name: str
    links: dict[str, Link] = field(default_factory=dict)
    joints: dict[str, RobotJoint] = field(default_factory=dict)
    colors: dict[str, Vector] = field(default_factory=dict)
    unused: dict[str, list[str]] = field(default_factory=dict)

    def leave(self, kind: str, owner: str) -> None:
        """Remember that something is not used."""
        self.unused.setdefault(kind, []).append(owner)


def branches(robot: Robot) -> Iterator[tuple[Link, RobotJoint | None]]:
    """Links with the joints that carry them, of which the root has none: inner before outer ones, each followed by what it carries,
    in the order of the joints in the file."""
    carried, children = _carried(robot), dict[str, list[RobotJoint]]()
    for joint in robot.joints.values():
        children.setdefault(joint.parent, []).append(joint)
    roots = [name for name in robot.links if name not in carried]
    if len(roots) != 1:
        found = f"the roots {', '.join(map(repr, roots))}" if roots else "no root: its joints go round in a circle"
        raise DescriptionError(f"robot {robot.name!r} has {found}; let joints connect all links to one of them")
    waiting: list[tuple[Link, RobotJoint | None]] = [(robot.links[roots[0]], None)]
    reached = 0
    while waiting:
        link, carrier = waiting.pop()
        reached += 1
        yield link, carrier
        waiting += [(robot.links[joint.child], joint) for joint in reversed(children.get(link.name, []))]
    if reached < len(robot.links):
        raise DescriptionError(f"robot {robot.name!r} has links whose joints go round in a circle; connect them to {roots[0]!r}")


def _carried(robot: Robot) -> dict[str, str]:
    """The joint that carries each link."""
    carried, problems = dict[str, str](), list[Problem]()
    for joint in robot.joints.values():
        subject = f"joint {joint.name!r}"
        for end, name in (("parent", joint.parent), ("child", joint.child)):
            if name not in robot.links:
                meant = nearest(name, robot.links) if len(problems) < SHOWN else ""
                problems.append(Problem(f"{end} {name!r} is not a link of the robot{meant}", subject))
        if joint.child in carried:
            text = f"child {joint.child!r} is that of joint {carried[joint.child]!r} too; URDF has no loops: let one carry it"
            problems.append(Problem(text, subject))
        carried[joint.child] = joint.name
    if problems:
        raise DescriptionError(problems)
    return carried


# ---- reading -------------------------------------------------------------------------------------------------------------
KINDS = ("revolute", "continuous", "prismatic", "fixed", "floating", "planar")
SIZES = {"box": ("size",), "cylinder": ("radius", "length"), "sphere": ("radius",), "mesh": ()}  # geometry -> its attributes
_MOMENTS = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")


def read_robot(path: Path) -> Robot:
    """The robot that a file describes; everything that is wrong is reported together."""
    root = _root(path)
    robot = Robot(root.get("name", "").strip() or path.stem)
    problems: list[Problem] = []
    for element in root:
        subject = f"{element.tag} {element.get('name', '')!r}"
        try:
            _READERS.get(element.tag, _leave)(robot, element)
        except ValueError as error:
            problems.append(Problem(str(error), subject, place=str(path)))
    if not robot.links and not problems:
        text = "has no links; give a URDF file with some (a xacro file has to be expanded first)"
        problems.append(Problem(text, place=str(path)))
    if problems:
        raise DescriptionError(problems)
    return robot


def _root(path: Path) -> Element:
    try:
        root = ElementTree.parse(path).getroot()
    except FileNotFoundError:
        raise DescriptionError(f"{path}: there is no such file; give the path of a URDF file") from None
    except OSError as error:
        raise DescriptionError(f"{path}: cannot be read ({error.strerror or error}); give a URDF file") from None
    except ElementTree.ParseError as error:
        raise DescriptionError(f"{path}: is not XML ({error}); give a URDF file") from None
    if root.tag != "robot":
        raise DescriptionError(f"{path}: holds a <{root.tag}>, not a <robot>; give a URDF file")
    return root


def _read_link(robot: Robot, element: Element) -> None:
    name = _text(element, "name")
    if name in robot.links:
        raise ValueError("there is a link of this name already; give each link its own name")
    _leave_others(robot, element, name, ("inertial", "visual", "collision"))
    inertial = element.find("inertial")
    visuals = [_visual(robot, each, name) for each in element.findall("visual")]
    if element.find("collision") is not None:
        robot.leave("collision", name)
    kept = tuple(each for each in visuals if each is not None)
    robot.links[name] = Link(name, None if inertial is None else _inertial(inertial), kept)


def _inertial(element: Element) -> Inertial:
    mass, moments = element.find("mass"), element.find("inertia")
    if mass is None or moments is None:
        raise ValueError(f"<inertial> has no <{'mass' if mass is None else 'inertia'}>; give it, or leave out <inertial>")
    xx, xy, xz, yy, yz, zz = (_number(moments, key, 0.0) for key in _MOMENTS)
    return Inertial(_origin(element), _number(mass, "value"), ((xx, xy, xz), (xy, yy, yz), (xz, yz, zz)))


def _visual(robot: Robot, element: Element, link: str) -> Visual | None:
    """The geometry to draw; None if URDF does not define it."""
    shapes = [shape for shape in element.findall("geometry/*") if shape.tag in SIZES]
    for other in element.findall("geometry/*"):
        if other.tag not in SIZES:
            robot.leave(f"geometry {other.tag}", link)
    if not shapes:
        return None
    [shape, *_], origin = shapes, _origin(element)
    material = element.find("material")
    name = "" if material is None else material.get("name", "")
    color = None if material is None else _color(robot, material, link)
    if shape.tag == "mesh":
        scale = _numbers(shape, "scale", 3, (1.0, 1.0, 1.0))
        return Visual(origin, "mesh", {"scale": scale}, _text(shape, "filename"), color, name)
    sizes = {key: _numbers(shape, key, 3) if key == "size" else _number(shape, key) for key in SIZES[shape.tag]}
    return Visual(origin, shape.tag, sizes, "", color, name)


def _read_material(robot: Robot, element: Element) -> None:
    name = element.get("name", "")
    if (color := _color(robot, element, name)) is not None:
        robot.colors[name] = color


def _color(robot: Robot, element: Element, owner: str) -> Vector | None:
    if element.find("texture") is not None:
        robot.leave("texture", owner)
    color = element.find("color")
    return None if color is None else tuple(min(max(entry, 0.0), 1.0) for entry in _numbers(color, "rgba", 4))


def _read_joint(robot: Robot, element: Element) -> None:
    name, kind = _text(element, "name"), _text(element, "type")
    if name in robot.joints:
        raise ValueError("there is a joint of this name already; give each joint its own name")
    if kind not in KINDS:
        raise ValueError(f"type is {kind!r}; give one of {', '.join(KINDS)}")
    _leave_others(robot, element, name, ("parent", "child", "origin", "axis", "limit", "dynamics", "mimic"))
    axis, dynamics, limit, mimic = (element.find(tag) for tag in ("axis", "dynamics", "limit", "mimic"))
    robot.joints[name] = RobotJoint(
        name, kind, _end(element, "parent"), _end(element, "child"), _origin(element),
        (1.0, 0.0, 0.0) if axis is None else _numbers(axis, "xyz", 3),
        None if limit is None else _limit(limit, kind),
        0.0 if dynamics is None else _number(dynamics, "damping", 0.0),
        0.0 if dynamics is None else _number(dynamics, "friction", 0.0),
        None if mimic is None else Mimic(_text(mimic, "joint"), _number(mimic, "multiplier", 1.0), _number(mimic, "offset", 0.0)),
    )


def _limit(element: Element, kind: str) -> Limit:
    """A range of which the file gives one end only has the other at 0, as the format says."""
    given = element.attrib
    ranged = kind in ("revolute", "prismatic") and not given.keys().isdisjoint(("lower", "upper"))
    lower, upper = (_number(element, key, 0.0) if ranged else None for key in ("lower", "upper"))
    effort, velocity = (_number(element, key) if key in given else None for key in ("effort", "velocity"))
    return Limit(lower, upper, effort, velocity)


def _end(element: Element, tag: str) -> str:
    end = element.find(tag)
    if end is None:
        raise ValueError(f"<{tag}> is missing; give the link")
    return _text(end, "link")


def _origin(element: Element) -> Origin:
    origin = element.find("origin")
    zero = (0.0, 0.0, 0.0)
    return Origin() if origin is None else Origin(_numbers(origin, "xyz", 3, zero), _numbers(origin, "rpy", 3, zero))


def _leave(robot: Robot, element: Element, owner: str = "") -> None:
    owner = owner or element.get("name") or element.get("reference") or ""
    robot.leave(element.tag.rpartition("}")[2], owner)          # without the namespace


def _leave_others(robot: Robot, element: Element, owner: str, known: tuple[str, ...]) -> None:
    for part in element:
        if part.tag not in known:
            _leave(robot, part, owner)


def _text(element: Element, key: str) -> str:
    if not (value := element.get(key, "").strip()):
        raise ValueError(f"<{element.tag}> has no {key}; give it")
    return value


def _number(element: Element, key: str, default: float | None = None) -> float:
    return _numbers(element, key, 1, None if default is None else (default,))[0]


def _numbers(element: Element, key: str, count: int, default: Vector | None = None) -> Vector:
    value = element.get(key)
    if value is None and default is not None:
        return default
    wanted = "a finite number" if count == 1 else f"{count} finite numbers"
    if value is None:
        raise ValueError(f"<{element.tag}> has no {key}; give {wanted}")
    try:
        found = tuple(map(float, value.split()))
    except ValueError:
        found = ()
    if len(found) != count or not all(abs(each) <= LARGEST for each in found):
        raise ValueError(f"<{element.tag}> has {key} {value!r}; give {wanted}")
    return found


_READERS: dict[str, Callable[[Robot, Element], Any]] = {"link": _read_link, "joint": _read_joint, "material": _read_material}
