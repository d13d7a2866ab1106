"""System -> Model: everything that can be wrong with a tree is said here, by name."""
from collections.abc import Sequence

import numpy as np

from bough.analyze.loop_constraints import idle_loops
from bough.analyze.singular_inertia import check_inertias
from bough.compile.coordinates import holdable
from bough.describe import Buoyancy, CentralGravity, Line, System, Wheel
from bough.describe.references import reference_problems
from bough.errors import ModelError
from bough.flex import FlexibleBody
from bough.model.model import Model
from bough.progress import working


@working("making a model of the system")
def compile_system(system: System) -> Model:
    """Check a system and make a model of it."""
    check_references(system)
    check_wheels(system)
    check_orbit(system)
    check_elements(system)
    model = Model(system)
    if model.nv == 0:
        raise ModelError(f"system '{system.name}': no joint can move; give a body a joint other than a weld")
    check_inertias(model.tables, model.nq)
    check_loops(model)
    return model


def check_loops(model: Model) -> None:
    """What a loop needs: to float with its tree in orbit, bodies whose places deform, and motion that it can hold."""
    system = model.system
    for loop in system.loops.values():
        ends = [frame.body for frame in (loop.a, loop.b)]
        if isinstance(system.gravity, CentralGravity) and "world" in ends:
            raise ModelError(f"loop '{loop.name}' holds a body to the world; with central gravity the tree moves about its mass "
                             "center: hold it to another body")
        refuse_linearized(system, f"loop '{loop.name}'", ends)
    for idle in idle_loops(model) if system.loops else []:
        raise ModelError(f"loop '{idle}' removes no freedom: its two bodies cannot move against each other in any way that it "
                         "holds; remove it, or hold other bodies")


def check_elements(system: System) -> None:
    """What force elements need: a world that stands still, places that follow the deformation, and buoyancy weight along -z."""
    central = isinstance(system.gravity, CentralGravity)
    for element in system.elements.values():
        subject = f"{element.noun} '{element.name}'"
        ends = [element.a.body, element.b.body] if isinstance(element, Line) else [element.body]
        if central and (not isinstance(element, Line) or "world" in ends):
            raise ModelError(f"{subject} acts between a body and the world; with central gravity the tree moves about its mass "
                             "center: give the system uniform gravity")
        refuse_linearized(system, subject, ends)
        if isinstance(element, Buoyancy):
            x, y, z = np.asarray(system.gravity, float)
            if x or y or z >= 0.0:
                raise ModelError(f"{subject}: gravity is ({x:g}, {y:g}, {z:g}) m/s^2, and the water plane is level only where it "
                                 "is along -z of the world; give the system gravity (0, 0, -9.81)")
            if system.bodies[element.body].flexible is not None:
                raise ModelError(f"{subject}: body '{element.body}' is flexible, and sections do not bend with it; weld rigid "
                                 "bodies with sections to its nodes")


def refuse_linearized(system: System, subject: str, ends: Sequence[str]) -> None:
    """Bodies inboard of the places of a loop or an element must move them as they deform."""
    for name in dict.fromkeys(body for end in ends if end != "world" for body in path_to_root(system, end)):
        flexible = system.bodies[name].flexible
        if flexible is not None and flexible.variant != "full":
            raise ModelError(f"{subject} goes through flexible body '{name}', which is linearized: its places do not follow its "
                             "deformation; give it the variant 'full'")


def path_to_root(system: System, body: str) -> list[str]:
    """A body and those inboard of it."""
    path = [body]
    while (parent := system.bodies[path[-1]].parent) is not None:
        path.append(parent)
    return path


def check_references(system: System) -> None:
    """Every body that is named exists, and every body's path inward ends at the world."""
    if not system.bodies:
        raise ModelError(f"system '{system.name}' has no bodies; add one with body(...)")
    if problems := reference_problems(system):
        raise ModelError("\n".join(map(str, problems)))


def check_wheels(system: System) -> None:
    """A body's inertia contains its wheels: what is left without the driven ones must still be an inertia."""
    for body in system.bodies.values():
        wheels = [wheel for wheel in system.wheels.values() if wheel.body == body.name]
        names = ", ".join(wheel.name for wheel in wheels)
        inside = sum((wheel.inertia*np.outer(wheel.axis, wheel.axis) for wheel in wheels), np.zeros((3, 3)))
        least = np.linalg.eigvalsh(np.asarray(body.inertia) - inside)[0]
        if wheels and least < -1e-12*np.trace(inside):
            raise ModelError(f"body '{body.name}': its inertia is smaller than that of its wheels ({names}) by {-least:.3g} "
                             "kg m^2; a body's mass and inertia include its wheels, at rest in it")
        if wheels and body.flexible is not None and modal_mass_left(body.flexible, wheels) <= 0.0:
            raise ModelError(f"body '{body.name}': its modes have no inertia left without that of its wheels ({names}); a body's "
                             "mass matrix includes its wheels, at rest in it: give the nodes that carry them such inertia, or put "
                             "the wheels into a rigid body welded to the node")


def modal_mass_left(flexible: FlexibleBody, wheels: list[Wheel]) -> float:
    """Least eigenvalue of the modal mass without the wheels: Mff - J (psi.e) (psi.e)^T."""
    left = flexible.integrals.Mff.copy()
    for wheel in wheels:
        node = wheel.node or flexible.inboard
        if node is not None:
            turned = flexible.nodes.psi[flexible.nodes.index(node)].T @ np.asarray(wheel.axis)
            left -= wheel.inertia*np.outer(turned, turned)
    return float(np.linalg.eigvalsh(left).min(initial=1.0))


def check_orbit(system: System) -> None:
    """Central gravity needs trees that float."""
    if isinstance(system.gravity, CentralGravity):
        for body in system.bodies.values():
            if body.parent is None and body.joint.kind != "free":
                raise ModelError(f"body '{body.name}': its joint to the world is a {body.joint.kind}; with central gravity the "
                                 "tree moves about its mass center: give it joint Free()")
            if body.mass == 0.0 and np.any(body.inertia):
                raise ModelError(f"body '{body.name}' has inertia but no mass; with central gravity give it a mass too")
        for coordinate in holdable(system).values():
            if system.bodies[coordinate.body].parent is None:
                raise ModelError(f"coordinate '{coordinate.name}' is held, and its joint leads to the world; with central gravity "
                                 "the tree moves about its mass center: hold joints between bodies only")
        if not any(body.mass for body in system.bodies.values()):
            raise ModelError(f"system '{system.name}' has no mass; with central gravity it needs some")
