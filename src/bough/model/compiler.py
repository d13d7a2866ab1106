"""System -> Model, with all checks of the system as a whole; errors name the parts."""
from collections.abc import Sequence

import numpy as np

from bough import analyze, compile as builders
from bough.compile.coordinates import holdable
from bough.describe import CentralGravity, Loop, System
from bough.describe.checks import reference_problems
from bough.describe.numeric import shown
from bough.describe.parts import Element, parts_of
from bough.errors import ModelError, StateError, listing
from bough.model.model import Model
from bough.progress import working


@working("making a model of the system")
def compile_system(system: System) -> Model:
    """Check a system and make a model of it."""
    if not system.bodies:
        raise ModelError(f"system '{system.name}' has no bodies; add one with body(...)")
    system = system.separable()
    if problems := reference_problems(system):
        raise ModelError(listing(problems))
    check_orbit(system)
    check_parts(system)
    check_cuts(system)
    model = Model(system)
    if model.nv == 0:
        raise ModelError(f"system '{system.name}': no joint can move; give a body a joint other than a weld")
    check_inertias(model)
    if system.tanks:
        analyze.singular_joints.check_emptying(system, model.tables, model.nq)
    for idle in analyze.loop_constraints.idle_loops(model) if model.system.loops else []:
        raise ModelError(f"loop '{idle}' removes no freedom: its two bodies cannot move against each other in any direction that "
                         "it holds; remove it, or hold other bodies")
    if system.couplings:
        builders.coupling_tables.check_couplings(model.tables.fronts.closures)
    return model


def check_inertias(model: Model) -> None:
    """Inertias are numbers, and every joint moves some."""
    hinges = model.tables.tree.hinges[1:]
    inertias = np.array([hinge.inertia[0] for hinge in hinges])
    if unsound := [hinge for hinge, tensor in zip(hinges, inertias, strict=True) if not np.isfinite(tensor).all()]:
        raise ModelError(f"body of joint '{unsound[0].label}': its inertia is no finite number; correct mass, com and inertia")
    massive = (np.linalg.eigvalsh(inertias)[:, 0] > 0).all() and all(hinge.mass[0] > 0 for hinge in hinges)
    if not massive:                                                         # else nothing is singular
        analyze.singular_joints.check_joints(model.tables, model.nq)


def as_model(given: Model | System) -> Model:
    """A model, or the compiled model of a system."""
    if isinstance(given, System):
        return given.compile()
    if not isinstance(given, Model):
        raise StateError(f"the model is {shown(given)}; give what System.compile() gives, or a System; bough.load reads one from a "
                         "file")
    return given


def check_parts(system: System) -> None:
    """Run the checks of each part; places of loops and force elements must follow the deformation."""
    for part in parts_of(system):
        if text := part.refused(system):
            raise ModelError(text)
        if isinstance(part, Loop | Element):
            refuse_linearized(system, f"{part.noun} '{part.name}'", [place.body for place in part.attachments()])


def check_cuts(system: System) -> None:
    """Raise if an output measures loads through joints or loops that cannot be cut."""
    for output in system.outputs.values():
        if output.load is not None:
            try:
                analyze.cuts.read_cut(system, output.load)
            except StateError as error:
                raise ModelError(f"output '{output.name}': {error}") from None


def refuse_linearized(system: System, subject: str, ends: Sequence[str]) -> None:
    """Raise if a linearized flexible body is inboard of the places of a loop or an element."""
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


def check_orbit(system: System) -> None:
    """Raise if a system with central gravity has roots without free joints, or no mass."""
    if isinstance(system.gravity, CentralGravity):
        for body in system.bodies.values():
            if body.parent is None and body.joint.kind != "free":
                raise ModelError(f"body '{body.name}': its joint to the world is a {body.joint.kind}; with central gravity the "
                                 "tree moves about its mass center: give it joint Free()")
            if body.mass == 0.0 and np.any(body.inertia):
                raise ModelError(f"body '{body.name}' has inertia but no mass; with central gravity give it a mass too")
        for coordinate in holdable(system).values():
            if system.bodies[coordinate.body].parent is None and coordinate.q is not None:
                raise ModelError(f"coordinate '{coordinate.name}' is held, and its joint leads to the world; with central gravity "
                                 "the tree moves about its mass center: hold its rotation, or joints between bodies")
        if not any(body.mass for body in system.bodies.values()):
            raise ModelError(f"system '{system.name}' has no mass; with central gravity it needs some")
