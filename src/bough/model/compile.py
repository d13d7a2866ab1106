"""System -> Model: everything that can be wrong with a tree is said here, by name."""
import numpy as np

from bough.describe import CentralGravity, System
from bough.describe.references import reference_problems
from bough.errors import ModelError
from bough.model.model import Model
from bough.model.singular import check_inertias


def compile_system(system: System) -> Model:
    """Check a system and make a model of it."""
    check_references(system)
    check_wheels(system)
    check_orbit(system)
    model = Model(system)
    if model.nv == 0:
        raise ModelError(f"system '{system.name}': no joint can move; give a body a joint other than a weld")
    check_inertias(model.tables.parts, model.nq)
    return model


def check_references(system: System) -> None:
    """Every body that is named exists, and every body's way inward ends at the world."""
    if not system.bodies:
        raise ModelError(f"system '{system.name}' has no bodies; add one with body(...)")
    if problems := reference_problems(system):
        raise ModelError("\n".join(map(str, problems)))


def check_wheels(system: System) -> None:
    """A body's inertia contains its wheels: what is left without the driven ones must still be an inertia."""
    for body in system.bodies.values():
        wheels = [wheel for wheel in system.wheels.values() if wheel.body == body.name]
        inside = sum((wheel.inertia*np.outer(wheel.axis, wheel.axis) for wheel in wheels), np.zeros((3, 3)))
        least = np.linalg.eigvalsh(np.asarray(body.inertia) - inside)[0]
        if wheels and least < -1e-12*np.trace(inside):
            names = ", ".join(wheel.name for wheel in wheels)
            raise ModelError(f"body '{body.name}': its inertia is smaller than that of its wheels ({names}) by {-least:.3g} "
                             "kg m^2; a body's mass and inertia include its wheels, at rest in it")


def check_orbit(system: System) -> None:
    """Central gravity needs trees that float."""
    if isinstance(system.gravity, CentralGravity):
        for body in system.bodies.values():
            if body.parent is None and body.joint.kind != "free":
                raise ModelError(f"body '{body.name}': its joint to the world is a {body.joint.kind}; with central gravity the "
                                 "tree moves about its mass centre: give it joint Free()")
            if body.mass == 0.0 and np.any(body.inertia):
                raise ModelError(f"body '{body.name}' has inertia but no mass; with central gravity give it a mass too")
        if not any(body.mass for body in system.bodies.values()):
            raise ModelError(f"system '{system.name}' has no mass; with central gravity it needs some")
