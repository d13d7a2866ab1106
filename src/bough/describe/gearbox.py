"""Gearboxes: a motor with its rotor, a gear ratio, and what gives way or has play between them and a joint."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from bough.describe.body import Body
from bough.describe.joint import Revolute
from bough.describe.numeric import number, shown
from bough.describe.parts.coupling import Coupling, Gear
from bough.describe.parts.friction import Friction
from bough.errors import DescriptionError, Problem, nearest


class Gearbox(NamedTuple):
    """What a gearbox is made of: the rotor, a body on the joint's parent that turns about the joint's axis and has no other inertia
    than that; its coupling to the joint; and the friction of the rotor, if it has any. All go by the gearbox's name.

    >>> from bough.describe.system import System
    >>> arm = System("arm")
    >>> _ = arm.body("link", joint={"type": "revolute", "axis": "y"}, mass=2, inertia=(0.1, 0.2, 0.2))
    >>> arm.gearbox("motor", "link", ratio=100, inertia=2e-5).coupling
    Coupling('motor', relation=Gear(driver='motor', driven='link', ratio=100.0), reference='initial')
    """

    rotor: Body
    coupling: Coupling
    friction: Friction | None


def gearbox_parts(
    bodies: Mapping[str, Body],
    name: str,
    body: str,
    *,
    ratio: float,
    inertia: float,
    stiffness: float | None = None,
    damping: float = 0.0,
    backlash: float = 0.0,
    restitution: float = 0.0,
    friction: Mapping[str, Any] | None = None,
) -> Gearbox:
    """The rotor, the coupling and the friction of a gearbox at the joint of a body, which has one degree of freedom.

    ratio          turns of the motor for one of the joint (of a prismatic joint: rad/m)
    inertia        of the rotor about its axis [kg m^2], on the motor's side; the joint feels ratio^2 times as much
    stiffness      of the gearbox [N m/rad, N/m] and its damping, as the joint feels it; None: it is rigid
    backlash       how far the joint can move while the motor stands [rad, m], and the restitution of impacts if it is rigid
    friction       of the rotor: the keywords of Friction, such as {"coulomb": 0.01}
    """
    subject = f"gearbox {name!r}"
    if body not in bodies:
        text = f"body {body!r} is not a body of the system{nearest(body, bodies)}; add it before"
        raise DescriptionError([Problem(text, subject)])
    driven = bodies[body]
    if driven.joint.n_v != 1:
        text = (f"the joint of body {body!r} has {driven.joint.n_v} degrees of freedom, and a gearbox drives one; put a body "
                "between simpler joints")  # fmt: skip
        raise DescriptionError([Problem(text, subject)])
    given = {"ratio": ratio, "inertia": inertia, "stiffness": 1.0 if stiffness is None else stiffness, "damping": damping,
             "backlash": backlash}  # fmt: skip
    for key, value in given.items():
        try:
            number(value)
        except ValueError as error:
            raise DescriptionError([Problem(f"{key} {error}", subject)]) from None
    if not inertia > 0.0:
        raise DescriptionError([Problem(f"inertia is {inertia!r} kg m^2; give that of the rotor, a number > 0", subject)])
    if not isinstance(friction, Mapping | None):
        text = f"friction is {shown(friction)}; give a mapping of the keywords of Friction, such as coulomb"
        raise DescriptionError([Problem(text, subject)])
    axis = np.array(driven.joint.rotations or driven.joint.translations, float)[0]
    rotor = Body(name, parent=driven.parent, node=driven.node, at=driven.at, orient=driven.orient, joint=Revolute(axis),
                 inertia=(float(inertia) * np.outer(axis, axis)).tolist(), idealized=True)  # fmt: skip
    options: dict[str, Any] = {"backlash": backlash * abs(ratio), "restitution": restitution}
    if stiffness is not None:
        options |= {"stiffness": stiffness / ratio**2 if ratio else stiffness, "damping": damping / ratio**2 if ratio else damping}
    elif damping:
        options["damping"] = damping
    coupling = Coupling(name, Gear(name, driven.joint.name or body, ratio), reference="initial", **options)
    return Gearbox(rotor, coupling, None if friction is None else Friction(name, name, **friction))
