"""Control laws: inputs of a run as a function of time and outputs.

A *sampled* law is called at its own times, in Python, and its outputs are held in between; it can have states, which it updates at
each call. A *continuous* law is compiled and evaluated at every stage of every step (`compiled.callback`); its states are
integrated with the mechanics. Values that several laws give to one input are added.
"""
from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bough.analyze.signals import check_ports, control_names, input_entries, outputs
from bough.compile.layout import Floats
from bough.errors import StateError, similar
from bough.integrate.compiled import callback
from bough.integrate.compiled.callback import Controller, check_call, law_options
from bough.integrate.compiled.loops import SAME
from bough.model import Model
from bough.sweeps import fields as f


class Law:
    """A control law in Python: `f(t, y)` returns {input: value}, where y holds outputs by name; inputs that it does not name are
    zero.

    Parameters
    ----------
    function : callable
        With states, `f(t, y, z)` returns ({input: value}, new z).
    outputs, inputs : sequence of str, optional
        The ports it reads and sets; by default all.
    period : float, optional
        Seconds between calls; by default, with fixed steps, once per step.
    delay : float
        Seconds until its values take effect.
    states : array_like, optional
        Initial values of its states.

    Examples
    --------
    >>> import bough
    >>> law = bough.Law(lambda t, y: {"motor": -10.0*y["angle"]}, period=0.1)
    >>> law
    Law('<lambda>', period=0.1)
    """

    def __init__(self, function: Callable[..., Any], *, outputs: Sequence[str] | None = None, inputs: Sequence[str] | None = None,
                 period: float | None = None, delay: float = 0.0, states: Sequence[float] = ()) -> None:
        self.function, self.name = function, getattr(function, "__name__", type(function).__name__)
        self.outputs, self.inputs, self.states = law_options(f"law '{self.name}'", outputs, inputs, states)
        self.period, self.delay = period, delay
        form = ("t", "y", "z")[:3 if self.states else 2]
        check_call(function, form, f"law '{self.name}' is called as {self.name}({', '.join(form)})")

    def __repr__(self) -> str:
        options = {"period": self.period, "delay": self.delay or None, "states": self.states or None}
        return f"Law({', '.join([repr(self.name), *(f'{key}={value}' for key, value in options.items() if value is not None)])})"


def law(function: Callable[..., Any] | None = None, **options: Any) -> Any:
    """`Law` as a decorator.

    Examples
    --------
    >>> import bough
    >>> @bough.law(outputs=["angle", "rate"], inputs=["motor"], period=0.01)
    ... def hold(t, y):
    ...     return {"motor": -10.0*y["angle"] - 2.0*y["rate"]}
    """
    return (lambda function: Law(function, **options)) if function is None else Law(function, **options)


# ---- sampled laws ----------------------------------------------------------------------------------------------------------
@dataclass
class Asked:
    """Base of the callers of laws: converts returned values to rows of controls."""
    model: Model
    name: str
    batched: bool                                       # called for all rows at once; otherwise row by row
    places: Mapping[str, list[int]]                     # entries that it may set
    late: frozenset[int]                                # entries that a continuous law sets at every stage
    z: Floats = field(default_factory=lambda: np.zeros((0, 0)))                         # (rows, states) of the law
    generators: list[np.random.Generator] = field(default_factory=list)                 # by row: of the noise of what it reads

    def turns(self, rows: int) -> list[slice]:
        """Rows for which a Python law is called together. Results of NumPy may depend on the number of rows (matrix products do),
        so reproducible runs are evaluated one by one."""
        return [slice(0, rows)] if self.batched else [slice(row, row + 1) for row in range(rows)]

    def numbers(self, given: Any, rows: int, shapes: Sequence[tuple[int, ...]], where: str, wanted: str) -> Floats:
        """Real numbers in one of these shapes, or rows of them."""
        try:
            array = np.asarray(given)
            if array.dtype.kind not in "biuf":
                raise ValueError
        except ValueError:
            raise StateError(f"it returned {given!r} {where}".rstrip() + f"; return {wanted}, real numbers") from None
        if array.shape not in [(*lead, *shape) for lead in ((), (1,), (rows,)) for shape in shapes]:
            raise StateError(f"it returned an array of shape {array.shape} {where}".rstrip() + f"; return {wanted}")
        return array.astype(float)

    def fill(self, given: Mapping[str, Any], controls: Floats) -> None:
        """Write {name: value} to rows of controls."""
        for name, value in given.items():
            if name not in self.places:
                raise StateError(f"it returned '{name}', which is no input, no joint of one degree of freedom and no driven wheel "
                                 f"that it may set{similar(str(name), self.places)}; these are {', '.join(self.places)}")
            entries = self.places[name]
            n = len(entries)
            wanted = "a number, or one for each run" if n == 1 else f"{n} numbers, or rows of {n}"
            found = self.numbers(value, len(controls), [(), (1,)] if n == 1 else [(n,)], f"for '{name}'", wanted)
            controls[:, entries] = found.reshape(-1, 1) if n == 1 else found

    def check(self, controls: Floats) -> Floats:
        """Raise if a wheel with a held speed gets a torque, or a value is not finite."""
        model = self.model
        for j, wheel in enumerate(model.system.wheels.values()):
            if not wheel.driven and controls[:, model.nv + j].any():
                raise StateError(f"it returned a torque for wheel '{wheel.name}', whose speed is held; give the wheel a "
                                 "torque in the description (0 will do)")
        if not np.isfinite(controls).all():
            entry = int(np.argwhere(~np.isfinite(controls))[0, 1])
            given = controls[:, entry].tolist()
            raise StateError(f"it returned {given} for '{control_names(model)[entry]}'; return finite numbers")
        twice = [entry for entry in self.late if controls[:, entry].any()]
        if twice:
            raise StateError(f"it returned a value for '{control_names(model)[twice[0]]}', which a compiled law sets at every "
                             "stage; give it an input of its own")
        return controls


See = Callable[[Iterable[str]], dict[str, Floats]]          # by output, (rows, size): present values


class Seen(dict[str, Any]):
    """Outputs by name, as passed to a law."""

    def __missing__(self, name: str) -> Any:
        known = ", ".join(self) or "none"
        raise StateError(f"there is no output '{name}' that it reads{similar(str(name), self)}; these are {known}")


def measure(model: Model, names: Iterable[str], t: Floats, x: Floats, u: Floats) -> dict[str, Floats]:
    """By output, (rows, size), of states x at times t (rows,), and inputs u."""
    state, inputs = model.state(x), model.input_layout.view(u)
    options: dict[str, Any] = model.state_options(state) | ({"motors": inputs.motors} if model.nw else {})
    batch = model.batch(state.q, state.v, inputs.tau, t=t, inputs=model.named_inputs(inputs.ports), **options)
    return outputs(model, batch, names)


class AskedTorques(Asked):
    """`control(t, q, v, wheels)`, the law on implied ports: it returns nv joint torques, nv + nw joint and motor torques, or
    {name: torque}."""

    def __init__(self, model: Model, function: Callable[..., Any], batched: bool, late: frozenset[int]) -> None:
        if not callable(function):
            raise StateError(f"control is {function!r}; give a function control(t, q, v, wheels), or one made by bough.controller")
        check_call(function, "tqvw", "control cannot be called as control(t, q, v, wheels)", "; let it take these four")
        super().__init__(model, "control", batched, input_entries(model), late)
        self.function = function

    def __call__(self, t: float, x: Floats, see: See) -> Floats:
        return np.concatenate([self.controls(t, x[rows]) for rows in self.turns(len(x))])

    def controls(self, t: float, x: Floats) -> Floats:
        """Controls of some rows."""
        model, state = self.model, self.model.state(x)
        given = self.function(t, *(part.copy() if self.batched else part[0].copy() for part in (state.q, state.v, state.wheels)))
        controls, nv, nc = np.zeros((len(x), model.input_layout.controls.stop)), model.nv, model.nv + model.nw
        if isinstance(given, Mapping):
            self.fill(given, controls)
        elif given is not None:
            modal = any(body.n_modes for body in model.system.bodies.values())
            motors = f", {nc} with motor torques"*bool(model.nw)
            wanted = f"{nv} joint torques{' and modal forces'*modal}{motors}, or a dict of names"
            found = self.numbers(given, len(x), [(nv,), (nc,)], "", wanted)
            controls[:, :found.shape[-1]] = found
        return self.check(controls)


class AskedByName(Asked):
    """A law in Python, or a compiled one with a period: it reads outputs, with their noise, and sets inputs."""

    def __init__(self, model: Model, law: Law | Controller, batched: bool, members: Sequence[int], late: frozenset[int],
                 seed: Sequence[int]) -> None:
        known, entries = model.system.outputs, input_entries(model)
        self.outputs = tuple(known) if law.outputs is None else law.outputs
        check_ports(law, "output", self.outputs, known)
        check_ports(law, "input", law.inputs or (), entries)
        allowed = entries if law.inputs is None else {name: entries[name] for name in law.inputs}
        super().__init__(model, f"law '{law.name}'", batched, allowed, late)
        twice = [name for name in law.inputs or () if late & set(entries[name])]
        if twice:
            raise StateError(f"law '{law.name}' sets input '{twice[0]}', which a compiled law sets at every stage; give it an "
                             "input of its own")
        self.law, self.z = law, np.tile(np.array(law.states), (len(members), 1))
        noisy = any(known[name].noise for name in self.outputs)
        self.generators = [np.random.Generator(np.random.PCG64([*seed, member])) for member in members] if noisy else []

    def measured(self, see: See) -> dict[str, Floats]:
        """Values for the law, by output, (rows, size): with noise and quantization."""
        found = see(self.outputs)
        for name, values in found.items():
            output = self.model.system.outputs[name]
            if output.noise:
                values = values + output.noise*np.array([draw.standard_normal(values.shape[1]) for draw in self.generators])
            found[name] = values if output.quantum is None else output.quantum*np.rint(values/output.quantum)
        return found

    def __call__(self, t: float, x: Floats, see: See) -> Floats:
        controls, seen = np.zeros((len(x), self.model.input_layout.controls.stop)), self.measured(see)
        if isinstance(self.law, Controller):
            return self.check(self.ask_compiled(self.law, t, seen, controls))
        for rows in self.turns(len(x)):
            self.ask_python(self.law, t, {name: values[rows] for name, values in seen.items()}, self.z[rows], controls[rows])
        self.check_states()
        return self.check(controls)

    def ask_python(self, law: Law, t: float, seen: Mapping[str, Floats], z: Floats, controls: Floats) -> None:
        """Controls of some rows."""
        y = Seen((name, self.shaped(values)) for name, values in seen.items())
        given = law.function(t, y, self.shaped(z, True)) if law.states else law.function(t, y)
        if law.states:
            try:
                given, new = given
            except (TypeError, ValueError):
                raise StateError(f"it returned {given!r}; return ({{input: value}}, its new states)") from None
            z[:] = self.numbers(new, len(z), [(z.shape[1],)], "as its states", f"{z.shape[1]} numbers")
        if given is not None:
            if not isinstance(given, Mapping):
                raise StateError(f"it returned {given!r}; return {{input: value}}")
            self.fill(given, controls)

    def shaped(self, values: Floats, vector: bool = False) -> Any:
        """Rows in a batch, else one; a single number is a float."""
        found = values if vector or values.shape[1] > 1 else values[:, 0]
        return found.copy() if self.batched else (found[0].copy() if found.ndim > 1 else float(found[0]))

    def ask_compiled(self, law: Controller, t: float, seen: Mapping[str, Floats], controls: Floats) -> Floats:
        y = np.concatenate([np.zeros((len(controls), 0)), *(seen[name] for name in self.outputs)], axis=1)
        entries = [entry for name in law.inputs or () for entry in self.places[name]]
        for row, z in enumerate(self.z):
            u = np.zeros(len(entries))
            law.inner(t, y[row], u, *((z,) if law.states else ()))
            controls[row, entries] += u
        self.check_states()
        return controls

    def check_states(self) -> None:
        if not np.isfinite(self.z).all():
            raise StateError(f"its states are {self.z.tolist()} now; let them stay finite")


@dataclass
class SampledLaw:
    """The call times of a law, and its values in force; `ask(t, x, see)` returns rows of controls."""
    ask: AskedTorques | AskedByName
    start: float
    period: float
    delay: float
    held: Floats                                                        # (rows, controls) in force
    calls: int = 0                                                      # so far
    coming: list[tuple[float, Floats]] = field(default_factory=list)    # values after the delay, and their times

    @property
    def next_call(self) -> float:
        return self.start + self.calls*self.period

    def update(self, t: float, x: Floats, see: See) -> bool:
        """Call the law if it is due, and activate delayed values; whether anything changed."""
        now, changed = t + SAME*abs(t), False
        if self.next_call <= now:
            self.coming.append((self.next_call + self.delay, self.asked(t, x, see)))
            self.calls += 1
        while self.coming and self.coming[0][0] <= now:
            self.held, changed = self.coming.pop(0)[1], True
        return changed

    def asked(self, t: float, x: Floats, see: See) -> Floats:
        """The values of the law; errors name it."""
        try:
            return self.ask(t, x, see)
        except Exception as error:
            kind = "" if isinstance(error, StateError) else f"{type(error).__name__}: "
            raise StateError(f"{self.ask.name} failed at t = {t:.6g} s: {kind}{error}") from error

    def memory(self) -> dict[str, Any]:
        """All data needed to resume: numbers and strings only."""
        own = {"z": self.ask.z.tolist(), "generators": [draw.bit_generator.state for draw in self.ask.generators]}
        coming = [(t, values.tolist()) for t, values in self.coming]
        return {"calls": self.calls, "held": self.held.tolist(), "coming": coming, **own}

    def recall(self, memory: Mapping[str, Any]) -> None:
        self.calls, self.held = memory["calls"], np.array(memory["held"])
        self.coming = [(t, np.array(values)) for t, values in memory["coming"]]
        self.ask.z[:] = np.reshape(memory["z"], self.ask.z.shape)
        for draw, state in zip(self.ask.generators, memory["generators"], strict=True):
            draw.bit_generator.state = state


# ---- laws of a run ---------------------------------------------------------------------------------------------------------
def continuous_states(laws: Iterable[Any]) -> list[float]:
    """Initial values of the states of continuous laws, which follow those of the model in x."""
    return [value for law in laws if isinstance(law, Controller) and law.period is None for value in law.states]


class Laws:
    """All laws of a run: the sampled ones, and the table of the continuous ones for the compiled loops."""

    def __init__(self, model: Model, laws: Sequence[Any], control: Any, members: Sequence[int], batched: bool, start: float,
                 dt: float | None, control_period: float | None, seed: int, audit: bool) -> None:
        """`members`: which of a batch they act on."""
        if not (isinstance(seed, int | np.integer) and seed >= 0):
            raise StateError(f"seed is {seed!r}; give a whole number, 0 or more")
        given = [law if isinstance(law, Law | Controller) else Law(law) for law in laws]
        if isinstance(control, Controller):
            given.append(control)
        continuous = [law for law in given if isinstance(law, Controller) and law.period is None]
        self.continuous, self.audit = continuous, audit
        self.use(model)
        self.names = [law.name for law in given] + ["control"]*(control is not None and not isinstance(control, Controller))
        late = frozenset(entry for law in continuous for entry in controlled(model, law))
        self.late, self.sampled = late, list[SampledLaw]()
        none = np.zeros((len(members), model.input_layout.controls.stop))
        self.base = none.copy()                                         # set by the user
        for i, law in enumerate(given):
            if law not in continuous:
                period = sampling_period(f"law '{law.name}'", "period", law.period, dt)
                if not (number(law.delay) and law.delay >= 0.0):
                    raise StateError(f"law '{law.name}': delay is {law.delay!r}; give seconds, 0 or more")
                ask = AskedByName(model, law, batched, members, late, (int(seed), i))
                self.sampled.append(SampledLaw(ask, start, period, law.delay, none))
        if control is not None and not isinstance(control, Controller):
            period = sampling_period("control", "control_period", control_period, dt)
            self.sampled.append(SampledLaw(AskedTorques(model, control, batched, late), start, period, 0.0, none))
        elif control_period is not None:
            raise StateError("control_period is given but control is not a Python function; a compiled law acts continuously")

    def use(self, model: Model) -> None:
        """Rebuild the table of continuous laws for the active model."""
        self.table, self.scratch = law_table(model, self.continuous, self.audit)

    def next_time(self, after: float) -> float:
        """The next time at which a law is called or a delayed value takes effect."""
        times = [t for law in self.sampled for t in (law.next_call, *(time for time, _ in law.coming[:1]))]
        return min((t for t in times if t > after + SAME*abs(after)), default=np.inf)

    def update(self, t: float, x: Floats, u: Floats, see: See) -> bool:
        """Call the laws that are due, and write the values in force to the rows of u; whether anything changed."""
        changed = [law.update(t, x, see) for law in self.sampled]
        if any(changed):
            self.put(u)
        return any(changed)

    def put(self, u: Floats) -> None:
        u[:, :self.base.shape[1]] = self.base + sum(law.held for law in self.sampled)


def sampling_period(who: str, option: str, period: float | None, dt: float | None) -> float:
    """Seconds between two calls of a sampled law."""
    if period is None:
        if dt is None:
            raise StateError(f"{who} is a Python function and the method chooses its own steps; give {option}, the seconds for "
                             "which what it gives is held")
        return dt
    if not (number(period) and period > 0.0):
        raise StateError(f"{who}: {option} is {period!r}; give seconds, greater than 0")
    if dt is not None and period < dt*(1.0 - 1e-9):
        raise StateError(f"{who}: {option} is {period:g} s, shorter than the step of {dt:g} s; take a smaller dt, or ask less "
                         "often")
    return float(period)


def number(value: Any) -> bool:
    """Whether a value is a finite number."""
    try:
        return isinstance(value, int | float | np.integer | np.floating) and math.isfinite(value)
    except OverflowError:                                               # an integer that no float holds
        return False


def controlled(model: Model, law: Controller) -> list[int]:
    """The entries of the controls that a compiled law sets."""
    if law.inputs is None:
        return list(range(model.nv + model.nw))
    entries = input_entries(model)
    check_ports(law, "input", law.inputs, entries)
    return [entry for name in law.inputs for entry in entries[name]]


def law_table(model: Model, laws: Sequence[Controller], audit: bool, duals: bool = False) -> tuple[NDArray[np.int64], int]:
    """The table of continuous laws (see `compiled.callback`), and the scratch size of a call; with an audit, the last entry of x is
    the work of the inputs; for duals, the laws with derivatives."""
    header, rows, lists, room = [len(laws), 0, (model.layout.nx - 1)*audit], list[int](), list[int](), 0
    state = model.layout.laws.start
    first_list = callback.LAWS + callback.LAW_ROW*len(laws)
    for law in laws:
        reads, sets = read_places(model, law), controlled(model, law)
        header[callback.COMPUTED] |= any(model.tables.outputs[name].swept for name in law.outputs or ())
        sizes = (model.nq, model.nv, model.nw) if law.outputs is None else (len(reads), len(sets), len(law.states))
        address = law.on_duals.address if duals else law.address
        rows += [address, *sizes, len(reads), len(sets), len(law.states), first_list + len(lists),
                 first_list + len(lists) + len(reads), state]
        lists += [*reads, *sets]
        state += len(law.states)
        room = max(room, (1 + duals)*(len(reads) + len(sets) + 2*len(law.states)))
    return np.array([*header, *rows, *lists], dtype=np.int64), room


def read_places(model: Model, law: Controller) -> list[int]:
    """Places in ws of the values that a continuous law reads."""
    if law.outputs is None:
        x = model.tables.size(f.WS_X)
        return list(range(x, x + model.nq + model.nv + model.nw))
    check_ports(law, "output", law.outputs, model.system.outputs)
    for name in law.outputs:
        output, why = model.system.outputs[name], model.tables.outputs[name].problem
        if output.noise or output.quantum:
            why = "it has noise, or comes in steps"
        if why:
            raise StateError(f"law '{law.name}' reads output '{name}' at every stage, but {why}; give the law a period")
    return [place for name in law.outputs for place in model.tables.outputs[name].places]
