"""A Python function as controller: called between steps, its torques held."""
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from bough.compile.state_layout import Floats, Inputs
from bough.errors import StateError, nearest
from bough.model import Model


class PythonControl:
    """`function(t, q, v, wheels)` returns nv joint torques, nv + nw joint and motor torques, or {name: torque}.

    Names are of joints with one degree of freedom, of single degrees of freedom ('arm.ry'), of modes ('boom.mode1', which take a
    modal force) or of driven wheels.  In a batch the arrays lead with the batch axis, and so may the torques."""

    def __init__(self, model: Model, function: Callable[..., Any], batched: bool) -> None:
        if not callable(function):
            raise StateError(f"control is {function!r}; give a function control(t, q, v, wheels), or one made by bough.controller")
        self.model, self.function, self.batched = model, function, batched
        self.places = control_places(model)
        modal = any(body.n_modes for body in model.system.bodies.values())
        self.wanted = f"{model.nv} joint torques{' and modal forces'*modal}"

    def fill(self, t: float, x: Floats, u: Floats) -> None:
        """Ask for the torques at time t and put them in the rows of u."""
        model, state, inputs = self.model, self.model.state(x), self.model.input_layout.view(u)
        parts = state.q, state.v, state.wheels
        given = self.function(t, *(part.copy() if self.batched else part[0].copy() for part in parts))
        controls, nc = inputs.controls, model.nv + model.nw
        controls[:] = 0.0
        if given is None:
            return
        if isinstance(given, Mapping):
            for name, value in given.items():
                controls[:, self.place(name)] = value
        else:
            try:
                array = np.asarray(given, float)
            except (TypeError, ValueError):
                raise StateError(f"control returned {given!r}; return {self.wanted}, or a dict of names") from None
            if array.shape[-1:] not in ((model.nv,), (nc,)):
                raise StateError(f"control returned an array of shape {array.shape}; return {self.wanted}"
                                 + (f", {nc} with motor torques" if model.nw else "") + ", or a dict of names")
            controls[:, :array.shape[-1]] = array
        self.check(t, inputs)

    def check(self, t: float, inputs: Inputs) -> None:
        """No torque for a wheel whose speed is held, and finite numbers only."""
        model = self.model
        for j, wheel in enumerate(model.system.wheels.values()):
            if not wheel.driven and inputs.motors[:, j].any():
                raise StateError(f"control returned a torque for wheel '{wheel.name}', whose speed is held; give the wheel a "
                                 "torque in the description (0 will do)")
        if not np.isfinite(inputs.controls).all():
            entry = int(np.argwhere(~np.isfinite(inputs.controls))[0, 1])
            name = [*model.names.v, *model.names.wheels][entry]
            torques = inputs.controls[:, entry].tolist()
            raise StateError(f"control returned {torques} for '{name}' at t = {t:.6g} s; return finite numbers")

    def place(self, name: str) -> int:
        if name not in self.places:
            raise StateError(f"control returned a torque for '{name}', which is no joint of one degree of freedom, no single "
                             f"one and no driven wheel{nearest(name, self.places)}; known are {', '.join(self.places)}")
        return self.places[name]


def control_places(model: Model) -> dict[str, int]:
    """Where torques go in u, by name; a name that could mean two things means none."""
    named = [(name, i) for i, name in enumerate(model.names.v)]
    v = 0
    for body in model.system.bodies.values():
        if body.joint.n_v == 1:
            named.append((body.joint.name or body.name, v))
        v += body.n_v
    named += [(wheel.name, model.nv + j) for j, wheel in enumerate(model.system.wheels.values()) if wheel.driven]
    meanings: dict[str, set[int]] = {}
    for name, place in named:
        meanings.setdefault(name, set()).add(place)
    return {name: places.pop() for name, places in meanings.items() if len(places) == 1}
