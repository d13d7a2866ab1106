"""All first derivatives of forward and inverse dynamics, by name."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import partial
from typing import Any

import numpy as np
from numpy import empty

from bough.analyze.derivatives import Directions, Rows, consecutive, directional, rows_along
from bough.analyze.equations_of_motion import check_finite, forward, inverse, mass_matrices
from bough.analyze.parameters import parameter
from bough.analyze.partials import answer_length, applies, forward_call, inverse_call, partials
from bough.compile.batch import Batch, finite
from bough.compile.compiled_model import CompiledModel
from bough.compile.kernel_calls import direct
from bough.compile.layout import Floats
from bough.kernels.lanes import GIVEN, PLAIN
from bough.kernels.linker import FAILED, raise_failure
from bough.sweeps import calls

SHOWN = ("dq", "dv", "dtau", "da", "dwheels", "dmotors", "dorbit", "dt", "dinputs", "dparameters")


@dataclass(repr=False, eq=False, kw_only=True)
class Partials:
    """Derivatives of several quantities: one row per quantity, one column per variable; a batch axis leads, if any.

    Attributes
    ----------
    value : ndarray
        The quantities themselves, (size,).
    dq, dv : ndarray
        (size, nv), along the directions of v: an entry of dq that belongs to a rotation is per angle about an axis of the body.
    dtau : ndarray or None
        (size, nv), by joint torques; None for inverse dynamics.
    da : ndarray or None
        (size, nv), by accelerations, for inverse dynamics: the mass matrix.
    dwheels, dmotors : ndarray
        (size, nw), by wheel speeds and motor torques.
    dorbit : ndarray
        (size, 6), by position and velocity of the mass center; (size, 0) without central gravity.
    dt : ndarray
        (size,), by time: from time tables and prescribed motions.
    dinputs : dict
        By input, (size, its numbers).
    dparameters : dict
        By parameter, (size, ...) followed by the shape of the parameter. Matrices are symmetric: an off-diagonal entry changes
        both.
    """
    __slots__ = ("__dict__", "_block", "_parts")            # faster to create; the last two only for results that came as one block
    value: Floats
    dq: Floats
    dv: Floats
    dtau: Floats | None
    da: Floats | None
    dwheels: Floats
    dmotors: Floats
    dorbit: Floats
    dt: Floats
    dinputs: dict[str, Floats]
    dparameters: dict[str, Floats]

    def __getattr__(self, name: str) -> Any:
        """For results that came as one block: the part with this name, extracted when first used."""
        parts = {} if name in Partials.__slots__ else getattr(self, "_parts", {})
        if name not in parts:
            raise AttributeError(f"{type(self).__name__} has no '{name}'; it has {', '.join(each.name for each in fields(self))}")
        found, shape = parts[name]
        self.__dict__[name] = found if shape is None else self._block[0, found].reshape(shape)
        return self.__dict__[name]

    def _line(self, name: str) -> str:
        what = getattr(self, name)
        shown = what.items() if isinstance(what, dict) else [("", what)] if what is not None and what.size else []
        return "".join(f"\n  {name}{f'[{key!r}]' if key else ''} {tuple(np.shape(each))}, largest "
                       f"{np.abs(each).max(initial=0.0):.4g}" for key, each in shown)

    def __repr__(self) -> str:
        return f"{type(self).__name__} of {self.value.shape[-1]} numbers" + "".join(map(self._line, SHOWN))


@dataclass(repr=False, eq=False, kw_only=True)
class ForwardDerivatives(Partials):
    """Derivatives of v' = forward_dynamics(q, v, tau), and of other rates and outputs.

    Attributes
    ----------
    wheels, orbit : Partials
        Of the accelerations of the wheels, and of the rates of position and velocity of the mass center.
    multipliers : Partials
        Of the multipliers of closed loops, padded to fours, loop by loop.
    doutputs : dict
        By output, its Partials.
    """
    wheels: Partials
    orbit: Partials
    multipliers: Partials
    doutputs: dict[str, Partials] = field(default_factory=dict)

    def __repr__(self) -> str:
        return super().__repr__() + "".join(f"\n  doutputs[{name!r}] {each.dq.shape}" for name, each in self.doutputs.items())


class InverseDerivatives(Partials):
    """Derivatives of tau = inverse_dynamics(q, v, a), loops open."""


class Parts:
    """The variables of differentiation, one part after the other."""

    def __init__(self, model: CompiledModel, parameters: Sequence[str], forward: bool = True) -> None:
        self.model, self.parameters = model, {name: parameter(model.system, name).value.shape for name in parameters}
        self.sizes = {"q": model.nv, "v": model.nv, "tau" if forward else "a": model.nv, "wheels": model.nw, "motors": model.nw,
                      "orbit": 6*model.in_orbit, "t": 1, "inputs": model.input_layout.n_ports,
                      "parameters": sum(int(np.prod(shape)) for shape in self.parameters.values())}

    def directions(self, leave: Sequence[str] = ()) -> Directions:
        """Unit directions along every entry of these parts, except some."""
        sizes = {name: size for name, size in self.sizes.items() if name not in leave}
        return Directions.along(sizes, tuple(self.parameters))

    def named(self, columns: dict[str, Floats], value: Floats, single: bool, kind: Any = Partials, **more: Any) -> Any:
        """Partials from columns by part, (n, size, directions)."""
        lead, n, size = 0 if single else slice(None), len(value), value.shape[1]
        found = {name: columns.get(name, np.zeros((n, size, length)))[lead] for name, length in self.sizes.items()}
        inputs, parameters = self.model.named_inputs(found.pop("inputs")), by_parameter(self.parameters, found.pop("parameters"))
        dt = found.pop("t")[..., 0]
        named = {"dtau": None, "da": None} | {f"d{name}": each for name, each in found.items()}
        return kind(value=value[lead], dt=dt, dinputs=inputs, dparameters=parameters, **named, **more)

    def split(self, along: Floats, leave: Sequence[str] = ()) -> dict[str, Floats]:
        """(n, directions, size) -> by part (n, size, its directions)."""
        return by_part({name: size for name, size in self.sizes.items() if name not in leave}, along)


def by_part(sizes: Mapping[str, int], along: Floats) -> dict[str, Floats]:
    """(n, directions, size) -> by part of the directions, with the given sizes, (n, size, its directions)."""
    return {name: np.ascontiguousarray(along[:, part].transpose(0, 2, 1)) for name, part in consecutive(sizes).items()}


def by_parameter(shapes: Mapping[str, tuple[int, ...]], columns: Floats) -> dict[str, Floats]:
    """Columns (..., numbers of all parameters) by parameter, in the shape of each."""
    sizes = {name: int(np.prod(shape)) for name, shape in shapes.items()}
    return {name: columns[..., part].reshape(*columns.shape[:-1], *shapes[name]) for name, part in consecutive(sizes).items()}


def forward_derivatives(model: CompiledModel, batch: Batch, parameters: Sequence[str] = (),
                        outputs: Iterable[str] | None = ()) -> ForwardDerivatives:
    """Derivatives of all rates and of outputs by all variables."""
    wanted = list(model.system.outputs if outputs is None else [outputs] if isinstance(outputs, str) else outputs)
    parts, leave = Parts(model, parameters), tuple[str, ...]()
    columns, value = dict[str, Floats](), np.zeros((batch.n, model.nv))
    if applies(model, batch) and not wanted:
        value, J, doubtful = partials(forward_call(model, batch), batch, model.nv)
        if doubtful:                                                        # duals are more accurate here: they need no mass matrix
            forward(model, batch, "order-n")                                # raises if the state is singular
        else:
            check_finite(model, batch, value)
            leave = ("q", "v", "tau")
            columns = {name: J[:, i] for i, name in enumerate(leave)}
        if leave and not batch.tables.rows("time tables").size:
            leave = (*leave, "t")
    along = parts.directions(leave)
    if not along.m:
        nothing = {part: parts.named({}, np.zeros((batch.n, 0)), batch.single) for part in ("wheels", "orbit", "multipliers")}
        return parts.named(columns, value, batch.single, ForwardDerivatives, **nothing)
    found = directional(model, batch, along, wanted)
    others = {part: parts.named(parts.split(getattr(found.along, part), leave), getattr(found.rates, part), batch.single)
              for part in ("wheels", "orbit", "multipliers")}
    others["doutputs"] = {name: parts.named(parts.split(found.outputs_along[name], leave), found.outputs[name], batch.single)
                          for name in found.outputs}
    return parts.named(columns | parts.split(found.along.v, leave), found.rates.v, batch.single, ForwardDerivatives, **others)


Quick = Callable[[Any, Any, Any], Any]


def quick_call(call: partial[Any], plain: Partials, blocks: Sequence[str]) -> Quick:
    """The kernel of a tree for plain float64 arrays of one state; its call returns None for other arguments and for ill-conditioned
    states, which need the general path.

    plain
        Any result of the model: parts that are not in `blocks` are the same in all results."""
    n, kind = plain.value.shape[-1], type(plain)
    new, shape = kind.__new__, (1, answer_length(n))
    run = direct(partial(call, PLAIN), GIVEN, GIVEN, GIVEN, np.empty(shape))
    parts: dict[str, Any] = {each.name: (getattr(plain, each.name), None) for each in fields(plain)} | {"value": (slice(n), (n,))}
    for i, name in enumerate(blocks):
        parts[name] = slice(n + i*n*n, n + (i + 1)*n*n), (n, n)

    def at(q: Any, v: Any, more: Any) -> Any:
        block = empty(shape)
        doubtful = run(q, v, more, block)
        if FAILED:
            raise_failure()
        if doubtful:
            return None
        found: Any = new(kind)
        found._block, found._parts = block, parts
        return found
    return at


def look_closer(q: Any, v: Any, more: Any) -> None:
    """The quick call of models that have none: always the general path."""


def prepare_derivatives(model: CompiledModel, inverse: bool = False) -> Quick:
    """From q, v and tau: v' and its derivatives by them; or, of the inverse dynamics, from q, v and v' the torques and theirs.
    Only for plain trees that depend on nothing but their state and joint torques."""
    batch, a = model.batch(model.q0), np.zeros((1, model.nv))
    if (not applies(model, batch) or not model.nv or model.input_layout.n_ports or model.in_orbit
            or batch.tables.rows("time tables").size):
        return look_closer
    if inverse:
        return quick_call(inverse_call(model, batch, a), inverse_derivatives(model, batch, a), ("dq", "dv", "da"))
    return quick_call(forward_call(model, batch), forward_derivatives(model, batch), ("dq", "dv", "dtau"))


def inverse_derivatives(model: CompiledModel, batch: Batch, a: Floats, parameters: Sequence[str] = ()) -> InverseDerivatives:
    """Derivatives of the torques for given accelerations, with loops open, by all variables."""
    batch = replace(batch, single=batch.single and len(a) == 1)
    parts, quick = Parts(model, parameters, forward=False), applies(model, batch)
    leave, columns = ("q", "v", "a") if quick else ("a",), dict[str, Floats]()
    if quick:
        value, J, _ = partials(inverse_call(model, batch, a), batch, model.nv)
        finite(value, "joint torques", batch)
        columns = {name: J[:, i] for i, name in enumerate(leave)}
    else:
        columns["a"] = mass_matrices(model, batch)
    along = parts.directions(leave)
    if along.m:
        value, moved = torques_along(model, rows_along(model, replace(batch, single=False), along), batch, a)
        columns |= parts.split(moved, leave)
    elif not quick:
        value = inverse(model, batch, a)
    return parts.named(columns, value, batch.single, InverseDerivatives)


def torques_along(model: CompiledModel, rows: Rows, batch: Batch, a: Floats) -> tuple[Floats, Floats]:
    """(n, nv): joint torques; (n, m, nv): their derivatives."""
    value, moved = np.empty((batch.n, model.nv)), np.empty((len(rows.dx), model.nv))
    rows.call(calls.inverse, batch.tables, *rows.state, (a, np.zeros((len(rows.dx), model.nv))), (value, moved))
    return finite(value, "joint torques", batch), moved.reshape(batch.n, -1, model.nv)
