"""Mass, mass center and inertia: checked to be those of a possible body; what shapes with densities, or finite elements, give."""

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import numpy as np
from pydantic import BeforeValidator, PlainSerializer, WithJsonSchema

from bough import describe
from bough.describe.body_shapes import Box, Cylinder, Mesh, Shape, Sphere, named
from bough.describe.numeric import VECTOR, items, shown, vector, write_matrix
from bough.describe.orientation import point_inertia, rotation_matrix
from bough.errors import DescriptionError, Problem

if TYPE_CHECKING:
    from bough.flex import FlexibleBody

Tensor = tuple[tuple[float, float, float], tuple[float, float, float], tuple[float, float, float]]
ZERO: Tensor = ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0))
_REMEDY = "give a 3x3 matrix, or the 3 moments about the body's axes"
_SYMMETRY = 1e-12
_TRIANGLE = 1e-9


def inertia(value: Any) -> Tensor:
    """The inertia tensor [kg m^2] out of a 3x3 matrix or its diagonal; symmetric and positive semidefinite.

    >>> inertia([1, 2, 3])
    ((1.0, 0.0, 0.0), (0.0, 2.0, 0.0), (0.0, 0.0, 3.0))
    """
    given = items(value)
    if given is None:
        if isinstance(value, int | float) and value == 0:
            return ZERO
        raise ValueError(f"is {shown(value)}; {_REMEDY}")
    if len(given) != 3:
        raise ValueError(f"is {shown(value)}, which has {len(given)} entries; {_REMEDY}")
    if all(items(row) is None for row in given):
        x, y, z = vector(given)
        return (x, 0.0, 0.0), (0.0, y, 0.0), (0.0, 0.0, z)
    tensor = vector(given[0]), vector(given[1]), vector(given[2])
    skew = np.abs(np.array(tensor) - np.transpose(tensor))
    if skew.max() > _SYMMETRY * np.abs(tensor).max():
        row, column = np.unravel_index(skew.argmax(), (3, 3))
        pair = f"{tensor[row][column]} kg m^2 at [{row}][{column}] but {tensor[column][row]} at [{column}][{row}]"
        raise ValueError(f"is not symmetric, with {pair}; give a symmetric matrix")
    return tensor


def moments(tensor: Tensor) -> tuple[float, ...]:
    """The principal moments, smallest first."""
    (xx, xy, xz), (yx, yy, yz), (zx, zy, zz) = tensor
    if not any((xy, xz, yx, yz, zx, zy)):
        return tuple(sorted((xx, yy, zz)))
    return tuple(np.linalg.eigvalsh(np.array(tensor)).tolist())


def defect(mass: float, tensor: Tensor, idealized: bool) -> str:
    """What keeps this from being the inertia of a body of that mass, and the remedy; or nothing."""
    smallest, middle, largest = moments(tensor)
    texts = f"inertia has the principal moments {smallest:.6g}, {middle:.6g}, {largest:.6g} kg m^2"
    if smallest < -_SYMMETRY * max(largest, -smallest):
        return f"{texts}; no moment may be negative: give the inertia about the mass center, in body axes"
    if idealized:
        return ""
    if mass == 0.0 and largest > 0.0:
        return f"{texts} but mass is 0.0 kg; give a mass, or idealized=True if this is meant"
    if smallest + middle < largest * (1.0 - _TRIANGLE):
        return (f"{texts}, and no body has one larger than the sum of the others; give the inertia about the mass center, or "
                "idealized=True if this is meant")
    return ""


_SCHEMA = {"anyOf": [VECTOR, {"type": "array", "items": VECTOR, "minItems": 3, "maxItems": 3}, {"const": 0}]}

Inertia = Annotated[Tensor, BeforeValidator(inertia), PlainSerializer(write_matrix), WithJsonSchema(_SCHEMA)]


# ---- mass properties -------------------------------------------------------------------------------------------------------
class Solid(NamedTuple):
    """Mass, mass center, and the inertia about it."""

    mass: float
    com: np.ndarray
    inertia: np.ndarray


def mass_of_shapes(shapes: Sequence[Shape]) -> dict[str, Any]:
    """What the shapes with a density give a body, as a description holds it; nothing if none has one.

    >>> from bough.describe.body_shapes import Box
    >>> mass_of_shapes([Box((1, 2, 3), at=(0, 0, 1), density=2)])
    {'mass': 12.0, 'com': (0.0, 0.0, 1.0), 'inertia': ((13.0, 0.0, 0.0), (0.0, 10.0, 0.0), (0.0, 0.0, 5.0))}
    """
    solids = [_placed(shape, index) for index, shape in enumerate(shapes) if shape.density is not None]
    if not solids:
        return {}
    mass = math.fsum(each.mass for each in solids)
    com = np.sum([each.mass * each.com for each in solids], axis=0) / mass
    inertia = np.sum([each.inertia + each.mass * point_inertia(each.com - com) for each in solids], axis=0)      # parallel axes
    return {"mass": mass, "com": tuple(com.tolist()), "inertia": tuple(map(tuple, inertia.tolist()))}


def _placed(shape: Shape, index: int) -> Solid:
    """The shape's mass properties in the body frame."""
    try:
        mass, com, inertia = _own(shape, shape.density or 0.0)
    except DescriptionError as error:
        raise DescriptionError([named(problem, index) for problem in error.problems]) from None
    R = rotation_matrix(shape.orient)
    turned = R @ inertia @ R.T
    return Solid(mass, R @ com + shape.at, (turned + turned.T) / 2)


def _own(shape: Shape, density: float) -> Solid:
    """The shape's mass properties in its own frame."""
    match shape:
        case Box(size=(x, y, z)):
            mass = density * x * y * z
            return Solid(mass, np.zeros(3), mass / 12 * np.diag([y * y + z * z, z * z + x * x, x * x + y * y]))
        case Cylinder(radius=r, length=l):
            mass = density * math.pi * r * r * l
            across = r * r / 4 + l * l / 12
            return Solid(mass, np.zeros(3), mass * np.diag([across, across, r * r / 2]))
        case Sphere(radius=r):
            mass = density * 4 / 3 * math.pi * r**3
            return Solid(mass, np.zeros(3), 2 / 5 * mass * r * r * np.eye(3))
        case Mesh():
            return _enclosed(shape, density)
    raise TypeError(f"{type(shape).__name__} has no mass properties")


def _enclosed(shape: Mesh, density: float) -> Solid:
    """What a closed surface encloses."""
    files = describe.mesh_files
    mesh = files.solid(shape.own_triangles())
    remedy = "repair it, or leave out density and give the body mass, com and inertia"
    if not mesh.is_watertight:
        raise files.mesh_error(f"{shape.path} is not watertight, so it encloses no mass; {remedy}")
    if not mesh.is_winding_consistent:
        raise files.mesh_error(f"{shape.path} has triangles that face inwards and others outwards; {remedy}")
    if mesh.volume <= 0:
        raise files.mesh_error(f"{shape.path} has the volume {mesh.volume:.6g} m^3, its triangles face inwards; {remedy}")
    mesh.density = density
    found = mesh.mass_properties
    return Solid(float(found.mass), np.array(found.center_mass), np.array(found.inertia))


MASS_KEYS = ("mass", "com", "inertia")
_UNITS = {"mass": "kg", "com": "m", "inertia": "kg m^2"}
_SAME = 1e-6


def mass_properties(flexible: "FlexibleBody") -> dict[str, Any]:
    """Mass, mass center and the inertia about it as a description holds them: plain floats in tuples."""
    inertia = (flexible.inertia + flexible.inertia.T) / 2
    return {"mass": flexible.mass, "com": tuple(flexible.com.tolist()), "inertia": tuple(map(tuple, inertia.tolist()))}


def mass_problems(given: Mapping[str, Any], flexible: "FlexibleBody") -> list[Problem]:
    """What was given and differs from the finite elements, relative to their mass, size and inertia, by more than 1e-6."""
    known = mass_properties(flexible)
    moment = float(np.abs(known["inertia"]).max())
    size = float(np.linalg.norm(known["com"])) + np.sqrt(moment / flexible.mass)
    scales = {"mass": flexible.mass, "com": size, "inertia": moment}
    wrong = [key for key in given if np.abs(np.subtract(given[key], known[key])).max() > _SAME * scales[key]]
    return [Problem(f"{key} is {_rounded(given[key])} {_UNITS[key]}, but the finite elements have {_rounded(known[key])} "
                    f"{_UNITS[key]}; leave {key} out, or correct the flexible body", path=(key,)) for key in wrong]


def _rounded(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else f"[{', '.join(map(_rounded, value))}]"
