"""The initial state of a run, from the caller or the description."""
from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from bough.compile.batch import array
from bough.compile.coordinates import member_of
from bough.compile.coordinates import members as count_members
from bough.compile.layout import Floats
from bough.describe.orientation import rotation_matrix
from bough.errors import StateError
from bough.model import Model


def initial_states(model: Model, t: float, q0: ArrayLike | None, v0: ArrayLike | None, wheels0: ArrayLike | None,
                   orbit0: ArrayLike | None, tanks0: ArrayLike | None,
                   parameters: Mapping[str, ArrayLike] | None) -> tuple[Floats, bool]:
    """(batch, nx): initial states, and whether they are a batch."""
    still = np.zeros(model.layout.beyond.stop - model.layout.beyond.start)
    described = model.layout.pack(model.q0, model.v0, model.wheel_speeds, model.initial_orbit, model.tank_masses, still)[None]
    model.follow_motions(described, t)
    q = model.state(described).q[0] if q0 is None else q0
    v = model.state(described).v[0] if v0 is None else v0
    members = None if parameters is None else count_members(parameters)
    if members is not None and np.ndim(q) == 1 and np.ndim(v) == 1:
        q = np.tile(np.asarray(q), (members, 1))
    batch = model.batch(q, v, wheels=wheels0, orbit=orbit0, tanks=tanks0)
    if members is not None and batch.n != members:
        raise StateError(f"there are {members} parameter sets but {batch.n} initial states; give as many of each, or one state")
    x = batch.x.copy()
    model.normalize_quaternions(x)
    check_prescribed(model, x, t)
    if model.in_orbit and members is None:
        center(model, x)
    elif model.in_orbit:
        for i in range(batch.n):
            center(member_model(model, parameters, i), x[i:i + 1])
    return x, not batch.single


def starting_masses(model: Model, tanks0: ArrayLike | None) -> Floats:
    """(rows, tanks): initial masses of propellant, not yet checked."""
    given = np.atleast_2d(model.tank_masses if tanks0 is None else array("tanks0", tanks0, len(model.tank_masses)))
    return given if given.shape[1:] == model.tank_masses.shape else np.zeros((1, len(model.tank_masses)))


def member_model(model: Model, parameters: Mapping[str, ArrayLike] | None, member: int) -> Model:
    """The model with the parameters of one member of a batch; the model itself if the members have none of their own."""
    own = member_of(parameters, member)
    return model.with_parameters(own) if own else model


def check_prescribed(model: Model, x: Floats, t: float) -> None:
    """Raise if a given state disagrees with prescribed motions, or locked coordinates move."""
    wanted = x.copy()
    model.follow_motions(wanted, t)
    wrong = np.argwhere(np.abs(wanted - x) > 1e-9*np.maximum(1.0, np.abs(wanted)))
    if len(wrong):
        row, entry = wrong[0]
        what, name = ("q0", model.names.q[entry]) if entry < model.nq else ("v0", model.names.v[entry - model.nq])
        raise StateError(f"{what} of '{name}' is {x[row, entry]:.6g}, but its motion is given and starts with "
                         f"{wanted[row, entry]:.6g}; let model.follow(q, v) fill in what is prescribed, or change the motion")


def center(model: Model, x: Floats) -> None:
    """In orbit the tree moves about its mass center: shift the free roots so that this is at rest in the origin."""
    state = model.state(x)
    bodies = model.bodies(state.q, state.v, tanks=state.tanks if model.system.tanks else None)
    position, velocity = bodies.center_of_mass, bodies.momentum[:, 3:]/bodies.mass.sum(axis=-1, keepdims=True)
    for body in model.system.bodies.values():
        if body.parent is None:
            (q, v), turn = model.places[body.name], rotation_matrix(body.orient)
            state.q[:, q:q + 3] -= position @ turn
            state.v[:, v:v + 3] -= velocity @ turn
