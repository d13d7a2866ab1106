"""The state at t = 0: what the caller gives, or what the description says."""
from collections.abc import Mapping
from typing import Any

import numpy as np

from bough.analyze.held_coordinates import impose
from bough.compile.parameters import members as count_members
from bough.errors import StateError
from bough.model import Model


def starting_rows(model: Model, q0: Any, v0: Any, wheels0: Any, orbit0: Any,
                  parameters: Mapping[str, Any] | None) -> tuple[np.ndarray, bool]:
    """(batch, nx) of initial states, and whether a batch was asked for."""
    q = model.q0 if q0 is None else q0
    v = model.v0 if v0 is None else v0
    members = None if parameters is None else count_members(parameters)
    if members is not None and np.ndim(q) == 1 and np.ndim(v) == 1:
        q = np.tile(np.asarray(q, float), (members, 1))
    batch = model.batch(q, v, wheels=wheels0, orbit=orbit0)
    if members is not None and batch.n != members:
        raise StateError(f"there are {members} parameter sets but {batch.n} initial states; give as many of each, or one state")
    x = batch.x.copy()
    unit_quaternions(model, x)
    check_prescribed(model, x)
    if model.in_orbit and members is None:
        center(model, x)
    elif model.in_orbit:
        for i in range(batch.n):
            center(model.with_parameters({name: value[i] for name, value in (parameters or {}).items()}), x[i:i + 1])
    return x, not batch.single


def check_prescribed(model: Model, x: np.ndarray) -> None:
    """A state that is given must agree with what is prescribed, and locked coordinates must rest."""
    wanted = x.copy()
    impose(model, wanted, 0.0)
    wrong = np.argwhere(np.abs(wanted - x) > 1e-9*np.maximum(1.0, np.abs(wanted)))
    if len(wrong):
        row, entry = wrong[0]
        what, name = ("q0", model.names.q[entry]) if entry < model.nq else ("v0", model.names.v[entry - model.nq])
        raise StateError(f"{what} of '{name}' is {x[row, entry]:.6g}, but its motion is given and starts with "
                         f"{wanted[row, entry]:.6g}; let model.follow(q, v) fill in what is prescribed, or change the motion")


def unit_quaternions(model: Model, x: np.ndarray) -> None:
    for at in model.quaternions:
        x[:, at:at + 4] /= np.linalg.norm(x[:, at:at + 4], axis=1, keepdims=True)


def center(model: Model, x: np.ndarray) -> None:
    """In orbit the tree moves about its mass center: shift the free roots so that it rests in the origin."""
    q, v = x[:, :model.nq], x[:, model.nq:model.nq + model.nv]
    seen = model.bodies(q, v)
    position, velocity = seen.center_of_mass, seen.momentum[:, 3:]/seen.mass.sum()
    for hinge in model.tables.parts.hinges[1:]:
        if hinge.inner == 0:
            q[:, hinge.q:hinge.q + 3] -= position @ hinge.turn
            v[:, hinge.v:hinge.v + 3] -= velocity @ hinge.turn
