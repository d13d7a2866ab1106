"""Feedback loops: a system and its controller connected by name, and the same loop cut at a port."""
from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.linalg import block_diag

from bough.errors import ModelError, StateError

if TYPE_CHECKING:
    from bough.analyze.linear.linear_system import Floats, LinearSystem

SINGULAR = 1e-10                        # reciprocal condition below which an algebraic loop has no solution


class Loop:
    """A system y = P u and its controller w = K z side by side, with u = r + sign w and z = y by the names of ports."""

    def __init__(self, plant: LinearSystem, controller: LinearSystem, sign: float) -> None:
        if controller.states and controller.dt != plant.dt:
            clocks = ["continuous" if dt is None else f"discrete with dt = {dt:g} s" for dt in (plant.dt, controller.dt)]
            raise StateError(f"feedback: the system is {clocks[0]}, its controller {clocks[1]}; discretize the one like the other")
        if sign not in (-1, 1):
            raise StateError(f"feedback: sign is {sign!r}; give -1, or 1 if the controller itself turns signs")
        self.plant, self.controller, self.sign = plant, controller, sign
        self.read = [place for name in controller.inputs for place in plant.find("output", name)]
        self.driven = [place for name in controller.outputs for place in plant.find("input", name)]
        for kind, places, n in (("inputs", self.read, len(controller.inputs)), ("outputs", self.driven, len(controller.outputs))):
            if len(places) != n:
                raise StateError(f"feedback: the controller has {n} {kind} ({', '.join(getattr(controller, kind))}) for "
                                 f"{len(places)} numbers of the system; name them one by one, as gyro.x")
        m, p = len(plant.inputs), len(plant.outputs)
        self.links = np.zeros((m + len(self.read), p + len(self.driven)))       # (u, z) = links (y, w) + external inputs
        self.links[self.driven, p + np.arange(len(self.driven))] = sign
        self.links[m + np.arange(len(self.read)), self.read] = 1.0

    def closed(self) -> LinearSystem:
        """From all inputs of the system to all its outputs."""
        plant, none = self.plant, np.zeros(len(self.controller.states))
        m, p = len(plant.inputs), len(plant.outputs)
        A, B, C, D = self._linked(self.links)
        return replace(plant, A=A, B=B[:, :m], C=C[:p], D=D[:p, :m], residual=np.append(plant.residual, none),
                       residual_scale=np.append(plant.residual_scale, none), **self._states())

    def cut(self, at: str) -> LinearSystem:
        """The loop gain L at one number of an input that the controller sets, or of an output that it reads; the rest is closed."""
        plant = self.plant
        m, p = len(plant.inputs), len(plant.outputs)
        driven, read = ([plant.inputs[k] for k in self.driven], [plant.outputs[k] for k in self.read])
        links = self.links.copy()
        if at in driven:
            source, returned, factor = self.driven[driven.index(at)], p + driven.index(at), -self.sign
            unit = plant.input_units[source]
        elif at in read:
            source, returned, factor = m + read.index(at), self.read[read.index(at)], -1.0
            unit = plant.output_units[returned]
        else:
            raise StateError(f"cut: the loop does not pass through {at!r}; it passes through {', '.join([*driven, *read])}")
        links[source, returned] = 0.0
        A, B, C, D = self._linked(links)
        return type(plant)(A, B[:, [source]], factor * C[[returned]], factor * D[[returned]][:, [source]], inputs=(at,),
                           input_units=(unit,), outputs=(f"{at} returned",), output_units=(unit,), dt=plant.dt,
                           name=f"{plant.name}, loop cut at {at}".strip(", "), **self._states())

    def _states(self) -> dict[str, Any]:
        """Names and units of the states of both."""
        plant, K = self.plant, self.controller
        own = [f"controller {name}" if name in plant.states else name for name in K.states]
        return {"states": (*plant.states, *own), "state_units": (*plant.state_units, *K.state_units)}

    def _linked(self, links: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        """(A, B, C, D) of the two side by side with (u, z) = links (y, w) + outside: u = E^-1 (links C x + outside),
        E = 1 - links D."""
        A, B, C, D = (block_diag(getattr(self.plant, each), getattr(self.controller, each)) for each in "ABCD")
        E = np.eye(len(links)) - links @ D
        if len(E):
            _, s, V = np.linalg.svd(E)
            if s[-1] < SINGULAR * max(s[0], 1.0):
                raise ModelError(self._circle(V[-1]))
        X = np.linalg.solve(E, np.hstack([links @ C, np.eye(len(E))]))
        X, solve = X[:, : len(A)], X[:, len(A):]
        return A + B @ X, B @ solve, C + D @ X, D @ solve

    def _circle(self, free: Floats) -> str:
        """The error message of an algebraic loop, with its undetermined signals."""
        big = np.abs(free) > 0.1 * np.abs(free).max()
        m = len(self.plant.inputs)
        inputs = [self.plant.inputs[k] for k in np.flatnonzero(big[:m])]
        outputs = [self.plant.outputs[self.read[k]] for k in np.flatnonzero(big[m:])]
        return (f"algebraic loop through D: {', '.join(inputs)} acts at once on {', '.join(outputs)}, and the controller returns "
                "it at once with a gain of one, so that it can have any value; give the controller a lag or a sample of delay, "
                "or let it read outputs that do not depend on inputs at the same time")
