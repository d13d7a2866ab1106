"""What states and inputs are made of: the one place that knows the order of x and u.

    x = q | v | wheel speeds | orbit                    orbit: position and velocity of the mass center, with central gravity
    u = tau | motors | wrenches | loop torques | caller's wrenches

`wrenches` are those of the description, `loop torques` act along the free motions of loops, the caller's wrenches come with a call.
"""
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bough.compile.loop_tables import free_motions
from bough.describe import CentralGravity, System

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class StateLayout:
    """Where q, v, wheel speeds and orbit are in x.

    >>> layout = StateLayout(nq=7, nv=6, nw=2, in_orbit=True)
    >>> layout.nx, layout.wheels, layout.orbit
    (21, slice(13, 15, None), slice(15, 21, None))
    """
    nq: int
    nv: int
    nw: int
    in_orbit: bool

    @staticmethod
    def of(system: System) -> "StateLayout":
        bodies = system.bodies.values()
        return StateLayout(sum(body.n_q for body in bodies), sum(body.n_v for body in bodies), len(system.wheels),
                           isinstance(system.gravity, CentralGravity))

    @cached_property
    def nx(self) -> int:
        return self.nq + self.nv + self.nw + 6*self.in_orbit

    @cached_property
    def q(self) -> slice:
        return slice(0, self.nq)

    @cached_property
    def v(self) -> slice:
        return slice(self.nq, self.nq + self.nv)

    @cached_property
    def wheels(self) -> slice:
        return slice(self.v.stop, self.v.stop + self.nw)

    @cached_property
    def orbit(self) -> slice:
        return slice(self.wheels.stop, self.nx)

    def view(self, x: Floats) -> "State":
        """The parts of states x (..., nx) by name; writing to them writes to x."""
        return State(self, x)

    def pack(self, *parts: ArrayLike) -> Floats:
        """x from q, v, wheel speeds and orbit, of one state or of rows."""
        return np.concatenate([np.asarray(part, float) for part in parts], axis=-1)

    def entry_name(self, entry: int, q_names: Sequence[str], v_names: Sequence[str], wheel_names: Sequence[str]) -> str:
        """What an entry of x is, in words."""
        names = [*(f"q of '{n}'" for n in q_names), *(f"v of '{n}'" for n in v_names),
                 *(f"speed of wheel '{n}'" for n in wheel_names), *["the orbit"]*6]
        return names[entry]


@dataclass(frozen=True)
class State:
    """States x (..., nx) with named views of their parts."""
    layout: StateLayout
    x: Floats

    @property
    def q(self) -> Floats:
        return self.x[..., self.layout.q]

    @property
    def v(self) -> Floats:
        return self.x[..., self.layout.v]

    @property
    def wheels(self) -> Floats:
        """Speeds of the wheels relative to their bodies."""
        return self.x[..., self.layout.wheels]

    @property
    def speeds(self) -> Floats:
        """v and the wheel speeds."""
        return self.x[..., self.layout.nq:self.layout.wheels.stop]

    @property
    def orbit(self) -> Floats:
        """Position and velocity of the mass center, (..., 6) or (..., 0)."""
        return self.x[..., self.layout.orbit]


@dataclass(frozen=True)
class InputLayout:
    """Where the parts of u are; `callers`: how many wrenches come with each call.

    >>> layout = InputLayout(nv=6, nw=2, wrenches=1, loop_motions=3, callers=2)
    >>> layout.wrench(0), layout.caller_wrench(1), layout.nu
    (slice(8, 14, None), slice(23, 29, None), 29)
    """
    nv: int
    nw: int
    wrenches: int
    loop_motions: int
    callers: int = 0

    @staticmethod
    def of(system: System, callers: int = 0) -> "InputLayout":
        nv = sum(body.n_v for body in system.bodies.values())
        return InputLayout(nv, len(system.wheels), len(system.wrenches), len(free_motions(system)), callers)

    @cached_property
    def tau(self) -> slice:
        return slice(0, self.nv)

    @cached_property
    def motors(self) -> slice:
        return slice(self.nv, self.nv + self.nw)

    @cached_property
    def controls(self) -> slice:
        """tau and motors: what a controller sets."""
        return slice(0, self.nv + self.nw)

    def wrench(self, i: int) -> slice:
        """The i-th wrench of the description."""
        first = self.nv + self.nw + 6*i
        return slice(first, first + 6)

    @cached_property
    def loop_torques(self) -> slice:
        first = self.nv + self.nw + 6*self.wrenches
        return slice(first, first + self.loop_motions)

    @cached_property
    def caller_wrenches(self) -> slice:
        return slice(self.loop_torques.stop, self.nu)

    def caller_wrench(self, i: int) -> slice:
        first = self.loop_torques.stop + 6*i
        return slice(first, first + 6)

    @cached_property
    def nu(self) -> int:
        return self.loop_torques.stop + 6*self.callers

    def view(self, u: Floats) -> "Inputs":
        """The parts of inputs u (..., nu) by name; writing to them writes to u."""
        return Inputs(self, u)


@dataclass(frozen=True)
class Inputs:
    """Inputs u (..., nu) with named views of their parts."""
    layout: InputLayout
    u: Floats

    @property
    def tau(self) -> Floats:
        return self.u[..., self.layout.tau]

    @property
    def motors(self) -> Floats:
        return self.u[..., self.layout.motors]

    @property
    def controls(self) -> Floats:
        return self.u[..., self.layout.controls]

    @property
    def loop_torques(self) -> Floats:
        return self.u[..., self.layout.loop_torques]
