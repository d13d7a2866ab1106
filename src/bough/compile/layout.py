"""What states and inputs are made of: the one place that knows the order of x and u.

    x = q | v | wheel speeds | orbit | tanks | laws     orbit: position and velocity of the mass center, with central gravity;
                                                        tanks: mass of propellant in each;
                                                        laws: states of laws that are integrated with the mechanics
    u = tau | motors | ports | wrenches | loop torques | rests | flows | caller's wrenches

`ports` are the inputs of the description, which `sweeps.loads` adds to what they act on: to tau, motors, wrenches, rests or
flows. `wrenches` are those of the description, and of inputs that are forces or moments; `loop torques` act along the free
motions of loops; `rests` change the lengths of lines; `flows` leave tanks; the caller's wrenches come with a call.
"""

from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bough.compile.loop_tables import free_motions
from bough.compile.signal_tables import placed_inputs, rest_lines
from bough.describe import CentralGravity, System

Floats = NDArray[np.float64]


def run_states(system: System) -> int:
    """Entries of x that exist only in runs, besides states of laws: three for each friction, one for each coupling with play."""
    return 3*len(system.frictions) + sum(coupling.touches for coupling in system.couplings.values())


EXHAUST = 7  # of all propellant exhausted since the start: angular and linear momentum in the world, energy [B 91]


def consecutive(**sizes: int) -> dict[str, slice]:
    """Slices of these lengths, one after the other.

    >>> consecutive(a=2, b=3)
    {'a': slice(0, 2, None), 'b': slice(2, 5, None)}
    """
    return {name: slice(end - size, end) for (name, size), end in zip(sizes.items(), accumulate(sizes.values()), strict=True)}


class Part:
    """A part of a state or of inputs (`whole`: the name of their array), as a view."""

    def __init__(self, whole: str):
        self.whole = whole

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, instance: Any, owner: type | None = None) -> Floats:
        return getattr(instance, self.whole)[..., getattr(instance.layout, self.name)]


@dataclass(frozen=True)
class StateLayout:
    """Where q, v, wheel speeds, orbit and the masses in tanks are in x.

    >>> layout = StateLayout(nq=7, nv=6, nw=2, in_orbit=True)
    >>> layout.nx, layout.wheels, layout.orbit
    (21, slice(13, 15, None), slice(15, 21, None))
    """
    nq: int
    nv: int
    nw: int
    in_orbit: bool
    law_states: int = 0
    frictions: int = 0              # entries of all frictions and couplings with play (in runs only)
    n_tanks: int = 0
    running: bool = False           # with the entries that exist only in runs
    q: slice = field(init=False, repr=False, compare=False)
    v: slice = field(init=False, repr=False, compare=False)
    wheels: slice = field(init=False, repr=False, compare=False)
    orbit: slice = field(init=False, repr=False, compare=False)
    tanks: slice = field(init=False, repr=False, compare=False)  # mass of propellant in each tank
    friction: slice = field(init=False, repr=False, compare=False)  # of each: holding force, or own state; load; dissipation
    exhaust: slice = field(init=False, repr=False, compare=False)  # momenta and energy of all exhaust
    laws: slice = field(init=False, repr=False, compare=False)
    nx: int = field(init=False, repr=False, compare=False)

    @staticmethod
    def of(system: System, law_states: int = 0, running: bool = False) -> "StateLayout":
        bodies = system.bodies.values()
        return StateLayout(sum(body.n_q for body in bodies), sum(body.n_v for body in bodies), len(system.wheels),
                           isinstance(system.gravity, CentralGravity), law_states, run_states(system)*running,
                           len(system.tanks), running)

    def __post_init__(self) -> None:
        parts = consecutive(q=self.nq, v=self.nv, wheels=self.nw, orbit=6*self.in_orbit, tanks=self.n_tanks,
                            friction=self.frictions, exhaust=EXHAUST*(self.running and self.n_tanks > 0), laws=self.law_states)
        self.__dict__.update(parts, nx=parts["laws"].stop)

    @property
    def beyond(self) -> slice:
        """The entries that exist only in runs."""
        return slice(self.friction.start, self.laws.stop)

    def view(self, x: Floats) -> "State":
        """The parts of states x (..., nx) by name; writing to them writes to x."""
        return State(self, x)

    def pack(self, *parts: ArrayLike) -> Floats:
        """x from q, v, wheel speeds, orbit and masses in tanks, of one state or of rows."""
        return np.concatenate([np.asarray(part, float) for part in parts], axis=-1)


@dataclass(frozen=True)
class State:
    """States x (..., nx) with named views of their parts."""
    layout: StateLayout
    x: Floats

    q = Part("x")
    v = Part("x")
    wheels = Part("x")              # speeds relative to their bodies
    orbit = Part("x")               # position and velocity of the mass center, (..., 6) or (..., 0)
    tanks = Part("x")               # mass of propellant in each tank

    @property
    def speeds(self) -> Floats:
        """v and the wheel speeds."""
        return self.x[..., self.layout.nq:self.layout.wheels.stop]


@dataclass(frozen=True)
class InputLayout:
    """Where the parts of u are; `callers`: how many wrenches come with each call.

    >>> layout = InputLayout(nv=6, nw=2, n_ports=4, wrenches=1, loop_motions=3, rests=1, n_flows=0, callers=2)
    >>> layout.ports, layout.wrench(0), layout.caller_wrench(1), layout.nu
    (slice(8, 12, None), slice(12, 18, None), slice(28, 34, None), 34)
    """
    nv: int
    nw: int
    n_ports: int                # total size of all inputs
    wrenches: int
    loop_motions: int
    rests: int
    n_flows: int = 0
    callers: int = 0
    tau: slice = field(init=False, repr=False, compare=False)
    motors: slice = field(init=False, repr=False, compare=False)
    ports: slice = field(init=False, repr=False, compare=False)
    controls: slice = field(init=False, repr=False, compare=False)  # tau, motors and ports: set by laws
    described_wrenches: slice = field(init=False, repr=False, compare=False)
    loop_torques: slice = field(init=False, repr=False, compare=False)
    line_rests: slice = field(init=False, repr=False, compare=False)
    flows: slice = field(init=False, repr=False, compare=False)  # outflow of each tank
    caller_wrenches: slice = field(init=False, repr=False, compare=False)
    nu: int = field(init=False, repr=False, compare=False)

    @staticmethod
    def of(system: System, callers: int = 0, loop_motions: int | None = None) -> "InputLayout":
        nv, inputs = sum(body.n_v for body in system.bodies.values()), system.inputs.values()
        wrenches, rests = len(system.wrenches) + len(placed_inputs(system)), len(rest_lines(system))
        motions = len(free_motions(system)) if loop_motions is None else loop_motions
        return InputLayout(nv, len(system.wheels), sum(port.size for port in inputs), wrenches, motions, rests, len(system.tanks),
                           callers)

    def __post_init__(self) -> None:
        parts = consecutive(tau=self.nv, motors=self.nw, ports=self.n_ports, described_wrenches=6*self.wrenches,
                            loop_torques=self.loop_motions, line_rests=self.rests, flows=self.n_flows,
                            caller_wrenches=6*self.callers)
        self.__dict__.update(parts, controls=slice(0, parts["ports"].stop), nu=parts["caller_wrenches"].stop)

    def wrench(self, i: int) -> slice:
        """The i-th wrench of the description; those of inputs come after."""
        first = self.described_wrenches.start + 6*i
        return slice(first, first + 6)

    def caller_wrench(self, i: int) -> slice:
        first = self.caller_wrenches.start + 6*i
        return slice(first, first + 6)

    def view(self, u: Floats) -> "Inputs":
        """The parts of inputs u (..., nu) by name; writing to them writes to u."""
        return Inputs(self, u)


@dataclass(frozen=True)
class Inputs:
    """Inputs u (..., nu) with named views of their parts."""
    layout: InputLayout
    u: Floats

    tau = Part("u")
    motors = Part("u")
    ports = Part("u")               # the values of all inputs
    controls = Part("u")
    loop_torques = Part("u")


class InputWrench(NamedTuple):
    """A wrench given by the caller with each evaluation: on a body, at its origin or a node, in its axes or the world's."""
    body: str
    node: str | None
    world: bool
