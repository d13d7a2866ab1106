"""A linear system whose states, inputs and outputs have names and units: x' = A x + B u, y = C x + D u."""
from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bough.analyze.linear.connect import Loop
from bough.analyze.linear.margins import Margins, margins
from bough.analyze.linear.order_reduction import balanced, minimal, transmission_zeros
from bough.analyze.linear.power_spectra import Disturbance, Spectrum, forced, spectrum
from bough.analyze.linear.printed import text_of
from bough.analyze.linear.response import FrequencyResponse, respond
from bough.errors import ModelError, StateError, nearest

if TYPE_CHECKING:
    import xarray

Floats = NDArray[np.float64]
Complexes = NDArray[np.complex128]
Names = str | Iterable[str]
HOLDS = {"zoh": "zoh", "foh": "foh", "tustin": "bilinear"}


@dataclass(frozen=True)
class OperatingPoint:
    """The state about which a system was linearized; parts that a model does not have are None."""
    q: Floats
    v: Floats
    wheels: Floats | None = None
    orbit: Floats | None = None
    inputs: Floats | None = None        # one after the other, as `LinearSystem.inputs`
    outputs: Floats | None = None
    t: float = 0.0


@dataclass(frozen=True, eq=False, repr=False)
class LinearSystem:
    """A linear system with named states and ports: x' = A x + B u, y = C x + D u, or, with a sample time, x[k+1] = A x[k] + B u[k].

    x, u and y are deviations from the operating point. `Model.linearize` returns one; `from_arrays` builds one for a filter or a
    controller.

    Attributes
    ----------
    A, B, C, D : ndarray
    states, inputs, outputs : tuple of str
        Names; a port with several numbers has one for each: "gyro.x", "gyro.y", "gyro.z".
    state_units, input_units, output_units : tuple of str
    dt : float or None
        The sample time [s]; None: continuous.
    name : str
    residual : ndarray
        x' at the operating point: zero at an equilibrium.
    residual_scale : ndarray
        The magnitude of the terms that cancel in it, entry by entry; `balanced` compares the two.
    point : OperatingPoint or None

    Examples
    --------
    >>> import bough
    >>> spring = bough.LinearSystem.from_arrays([[0, 1], [-4, -0.2]], [[0], [1]], [[1, 0]], inputs="force", outputs="place",
    ...                                         states=["x", "x rate"], state_units=["m", "m/s"], output_units="m")
    >>> spring.poles().round(3)
    array([-0.1-1.997j, -0.1+1.997j])
    >>> print(spring)
    linear system: 2 states, 1 input, 1 output; continuous
    states   x [m], x rate [m/s]
    inputs   force
    outputs  place [m]
    <BLANKLINE>
      mode          Hz     damping   eigenvalue [1/s]
         1     0.31831      0.0500   -0.1 +- 1.9975 i
    """
    A: Floats
    B: Floats
    C: Floats
    D: Floats
    states: tuple[str, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    state_units: tuple[str, ...] = ()
    input_units: tuple[str, ...] = ()
    output_units: tuple[str, ...] = ()
    dt: float | None = None
    name: str = ""
    residual: Floats = field(default_factory=lambda: np.zeros(0))
    residual_scale: Floats = field(default_factory=lambda: np.zeros(0))
    point: OperatingPoint | None = None

    def __post_init__(self) -> None:
        sizes = {"states": len(self.states), "inputs": len(self.inputs), "outputs": len(self.outputs)}
        for matrix, rows, columns in (("A", "states", "states"), ("B", "states", "inputs"), ("C", "outputs", "states"),
                                      ("D", "outputs", "inputs")):
            value = np.array(getattr(self, matrix), float)
            if value.shape != (sizes[rows], sizes[columns]):
                raise StateError(f"linear system {self.name!r}: {matrix} is {' x '.join(map(str, value.shape))}, but there are "
                                 f"{sizes[rows]} {rows} and {sizes[columns]} {columns}; give a name for each row and column")
            if not np.isfinite(value).all():
                raise StateError(f"linear system {self.name!r}: {matrix} has numbers that are not finite; linearize elsewhere")
            object.__setattr__(self, matrix, value)
        for kind, n in sizes.items():
            names, units = tuple(getattr(self, kind)), tuple(getattr(self, f"{kind[:-1]}_units")) or ("",) * n
            if len(set(names)) < n:
                twice = next(name for name in names if names.count(name) > 1)
                raise StateError(f"linear system {self.name!r}: {kind} name {twice!r} more than once; give each its own name")
            if len(units) != n:
                raise StateError(f"linear system {self.name!r}: {len(units)} units of {n} {kind}; give one for each")
            object.__setattr__(self, kind, names)
            object.__setattr__(self, f"{kind[:-1]}_units", units)
        if self.dt is not None and not self.dt > 0:
            raise StateError(f"linear system {self.name!r}: dt is {self.dt!r} s; give a sample time > 0, or None if continuous")
        for part in ("residual", "residual_scale"):
            if len(getattr(self, part)) != sizes["states"]:
                object.__setattr__(self, part, np.zeros(sizes["states"]))

    # ---- made of matrices ----------------------------------------------------------------------------------------
    @classmethod
    def from_arrays(cls, A: ArrayLike, B: ArrayLike, C: ArrayLike, D: ArrayLike | None = None, *, inputs: Names | None = None,
                    outputs: Names | None = None, states: Names | None = None, **facts: Any) -> LinearSystem:
        """A system from matrices; default names are x1, x2, ..., u1, ..., y1, ...

        Parameters
        ----------
        A, B, C, D : array_like
            D defaults to zero.
        inputs, outputs, states : str or sequence of str, optional
        **facts
            Units, dt, name: as the attributes. Units can be one string for all.
        """
        A, B, C = (np.atleast_2d(np.asarray(each, float)) for each in (A, B, C))
        D = np.zeros((len(C), B.shape[1])) if D is None else np.atleast_2d(np.asarray(D, float))
        if A.size == 0:
            A, B, C = np.zeros((0, 0)), np.zeros((0, D.shape[1])), np.zeros((D.shape[0], 0))
        names: dict[str, Any] = {"states": _listed(states, "x", len(A)), "inputs": _listed(inputs, "u", D.shape[1]),
                 "outputs": _listed(outputs, "y", len(D))}
        for kind, each in names.items():
            units = facts.get(f"{kind[:-1]}_units")
            if isinstance(units, str):
                facts[f"{kind[:-1]}_units"] = (units,) * len(each)
        return cls(A, B, C, D, **names, **facts)

    @classmethod
    def from_control(cls, system: Any, *, inputs: Names | None = None, outputs: Names | None = None,
                     **facts: Any) -> LinearSystem:
        """A system from python-control (a state space or a transfer function), with the given port names.

        Parameters
        ----------
        system : control.StateSpace or control.TransferFunction
        inputs, outputs : str or sequence of str, optional
            Names; by default those of the system.
        **facts
            As in `from_arrays`.
        """
        control = _control("LinearSystem.from_control")
        ss = control.ss(system)
        return cls.from_arrays(ss.A, ss.B, ss.C, ss.D, inputs=ss.input_labels if inputs is None else inputs,
                               outputs=ss.output_labels if outputs is None else outputs, states=ss.state_labels,
                               dt=None if not ss.dt else float(ss.dt), **facts)

    # ---- parts ---------------------------------------------------------------------------------------------------
    def select(self, *, inputs: Names | None = None, outputs: Names | None = None) -> LinearSystem:
        """The same system with some of its inputs and outputs, in the order given.

        Parameters
        ----------
        inputs, outputs : str or sequence of str, optional
            Ports ("gyro": all components) or single components ("gyro.x"); by default all.
        """
        i, o = self.find("input", inputs), self.find("output", outputs)
        point = self.point
        if point is not None:
            point = replace(point, inputs=None if point.inputs is None else point.inputs[i],
                            outputs=None if point.outputs is None else point.outputs[o])
        return replace(self, B=self.B[:, i], C=self.C[o], D=self.D[np.ix_(o, i)], point=point,
                       inputs=tuple(self.inputs[k] for k in i), input_units=tuple(self.input_units[k] for k in i),
                       outputs=tuple(self.outputs[k] for k in o), output_units=tuple(self.output_units[k] for k in o))

    def find(self, kind: str, names: Names | None) -> list[int]:
        """The indices of inputs, outputs or states by name: `kind` is "input", "output" or "state"."""
        known = getattr(self, f"{kind}s")
        if names is None:
            return list(range(len(known)))
        found: list[int] = []
        for name in [names] if isinstance(names, str) else names:
            whole = [k for k, each in enumerate(known) if each.rpartition(".")[0] == name]
            places = [known.index(name)] if name in known else whole
            if not places:
                ports = dict.fromkeys([*known, *(each.rpartition(".")[0] for each in known if kind != "state" and "." in each)])
                there = f"; there are {', '.join(known)}" if known else f"; it has no {kind}s: declare one with System.{kind}(...)"
                raise StateError(f"linear system {self.name!r}: there is no {kind} {name!r}{nearest(name, ports) or there}")
            found += places
        return found

    # ---- poles and zeros -------------------------------------------------------------------------------------------
    def poles(self) -> Complexes:
        """The eigenvalues of A, sorted by magnitude; 1/s, or factors per sample if discrete."""
        return by_size(np.linalg.eigvals(self.A)) if len(self.A) else np.zeros(0, complex)

    def zeros(self) -> Complexes:
        """The transmission zeros between all inputs and all outputs (use `select` first for some of them), sorted by magnitude."""
        return by_size(transmission_zeros(self.A, self.B, self.C, self.D))

    @property
    def balanced(self) -> bool:
        """Whether the operating point is an equilibrium, to rounding."""
        return bool((np.abs(self.residual) <= 1e-9 * np.maximum(self.residual_scale, 1e-3)).all())

    # ---- frequency ------------------------------------------------------------------------------------------------
    def response(self, frequencies: ArrayLike | None = None) -> FrequencyResponse:
        """The frequency response of all outputs to each input (use `select` first for some of them).

        Parameters
        ----------
        frequencies : array_like, optional
            [Hz]; by default enough to resolve every lightly damped resonance.

        Returns
        -------
        FrequencyResponse
            `.plot("bode")`, "nichols", "nyquist", "singular values"; `.data` for xarray.
        """
        return respond(self, frequencies)

    def spectrum(self, disturbances: Mapping[str, Disturbance], frequencies: ArrayLike | None = None) -> Spectrum:
        """Power spectra of the outputs under independent disturbances.

        Parameters
        ----------
        disturbances : mapping
            {input: one-sided density [unit^2/Hz]}: a number (white noise), a function of the frequency [Hz], or a table
            (frequencies, densities), interpolated on logarithmic scales and zero beyond its ends.
        frequencies : array_like, optional
            [Hz], rising.

        Examples
        --------
        >>> import bough
        >>> lag = bough.LinearSystem.from_arrays([[-1.0]], [[1.0]], [[1.0]], inputs="noise", outputs="y")
        >>> print(f"{lag.spectrum({'noise': 2.0}).rms['y']:.3f}")      # white noise of 2 /Hz: the variance is 2/4
        0.707
        """
        return spectrum(self, disturbances, frequencies)

    def forced(self, amplitudes: Mapping[str, Any], frequencies: ArrayLike | None = None) -> xarray.DataArray:
        """(frequency, output): complex amplitudes of the outputs under harmonic excitation of several inputs at once, such as wheel
        imbalance.

        Parameters
        ----------
        amplitudes : mapping
            {input: amplitude}: a complex number, or a function of the frequency [Hz], such as `lambda f: U*(2*np.pi*f)**2`; 1j
            leads by a quarter of a turn.
        frequencies : array_like, optional
            [Hz]
        """
        return forced(self, amplitudes, frequencies)

    # ---- loops ----------------------------------------------------------------------------------------------------
    def feedback(self, controller: LinearSystem, sign: int = -1) -> LinearSystem:
        """The loop closed by a controller, from all inputs (added to those of the controller) to all outputs.

        Parameters
        ----------
        controller : LinearSystem
            Its inputs are outputs of this system, by name, and its outputs are inputs.
        sign : {-1, 1}
            u = r + sign K y

        Examples
        --------
        >>> import bough
        >>> mass = bough.LinearSystem.from_arrays([[0, 1], [0, 0]], [[0], [1]], [[1, 0], [0, 1]], inputs="force",
        ...                                       outputs=["place", "speed"])
        >>> pd = bough.LinearSystem.from_arrays([], [], [], [[4.0, 2.0]], inputs=["place", "speed"], outputs="force")
        >>> mass.feedback(pd).poles().round(3)
        array([-1.-1.732j, -1.+1.732j])
        >>> print(mass.cut(pd, at="force").margins())
        loop cut at force: closed, it is stable
        phase margin         +51.83 deg      at 0.4049 Hz
        delay margin         0.3556 s        at 0.4049 Hz
        modulus margin       0.8660          at 0.45016 Hz
        """
        return Loop(self, controller, sign).closed()

    def cut(self, controller: LinearSystem, at: str, sign: int = -1) -> LinearSystem:
        """The loop gain L of a system and its controller, cut at one component of a port, with all else closed: the closed loop
        has the poles of 1/(1 + L). It has `margins()` and a `response()`.

        Parameters
        ----------
        controller, sign
            As in `feedback`.
        at : str
            A component of an input that the controller sets ("rw", "torque.x"), or of an output that it reads ("gyro.x").
        """
        return Loop(self, controller, sign).cut(at)

    def margins(self) -> Margins:
        """Gain, phase, delay and modulus margins of this system as the gain of a loop with negative feedback, at each crossing."""
        return margins(self)

    # ---- other forms ---------------------------------------------------------------------------------------------
    def discretize(self, dt: float, hold: str = "zoh") -> LinearSystem:
        """The equivalent discrete system.

        Parameters
        ----------
        dt : float
            The sample time [s].
        hold : {"zoh", "foh", "tustin"}
            Inputs between samples: constant ("zoh", as with a computer in the loop), or linear ("foh"); both are exact. "tustin"
            is the bilinear rule, for filters.

        Returns
        -------
        LinearSystem
            With "foh" and "tustin" the states are not those of the continuous system: inputs are mixed in.
        """
        from scipy.signal import cont2discrete

        if self.dt is not None:
            raise StateError(f"linear system {self.name!r} is discrete already, dt = {self.dt:g} s; discretize the continuous one")
        if hold not in HOLDS:
            raise StateError(f"discretize: there is no hold {hold!r}{nearest(hold, HOLDS) or '; give ' + ', '.join(HOLDS)}")
        if not dt > 0:
            raise StateError(f"discretize: dt is {dt!r} s; give a sample time > 0")
        if not self.states:
            return replace(self, dt=float(dt))
        A, B, C, D, _ = cont2discrete((self.A, self.B, self.C, self.D), dt, HOLDS[hold])
        residual = cont2discrete((self.A, self.residual[:, None], self.C[:0], np.zeros((0, 1))), dt, "zoh")[1][:, 0]
        return replace(self, A=A, B=B, C=C, D=D, dt=float(dt), residual=residual, residual_scale=self.residual_scale * dt)

    def minimal(self, tolerance: float = 1e-9) -> LinearSystem:
        """The same response without uncontrollable or unobservable states (use `select` first to choose ports).

        Parameters
        ----------
        tolerance : float
            Relative to the magnitude of A: smaller couplings are neglected.
        """
        return minimal(self, tolerance)

    def reduced(self, order: int | None = None, *, tolerance: float = 1e-6) -> LinearSystem:
        """A smaller system with almost the same response, by balanced truncation: the gain error is at most twice the sum of the
        truncated Hankel singular values (`hankel`). The part that is not asymptotically stable is kept.

        Parameters
        ----------
        order : int, optional
            The number of states.
        tolerance : float
            Without an order: keep states down to this fraction of the largest singular value.
        """
        return balanced(self, order, tolerance)[0]

    def hankel(self) -> Floats:
        """Hankel singular values of the asymptotically stable part, largest first: the importance of each state of the balanced
        system between these inputs and outputs."""
        return balanced(self, None, 0.0)[1]

    def to_control(self) -> Any:
        """A `control.StateSpace` with the same names; python-control does not allow dots in names: "gyro.x" becomes "gyro_x"."""
        control = _control("LinearSystem.to_control")
        names = {kind: _undotted(getattr(self, kind)) for kind in ("states", "inputs", "outputs")}
        return control.StateSpace(self.A, self.B, self.C, self.D, 0 if self.dt is None else self.dt, **names)

    def to_scipy(self) -> Any:
        """A `scipy.signal.StateSpace`, which has no names."""
        from scipy.signal import StateSpace

        return StateSpace(self.A, self.B, self.C, self.D, **({} if self.dt is None else {"dt": self.dt}))

    def to_xarray(self) -> xarray.Dataset:
        """A dataset of A, B, C, D and the residual, with names and units along their axes."""
        import xarray

        coordinates: dict[str, Any] = {"state_rate": list(self.states)}
        for kind in ("state", "input", "output"):
            coordinates[kind] = list(getattr(self, f"{kind}s"))
            coordinates[f"{kind}_unit"] = (kind, list(getattr(self, f"{kind}_units")))
        variables = {"A": (("state_rate", "state"), self.A), "B": (("state_rate", "input"), self.B),
                     "C": (("output", "state"), self.C), "D": (("output", "input"), self.D),
                     "residual": ("state_rate", self.residual)}
        return xarray.Dataset(variables, coordinates, {"name": self.name, "dt": "continuous" if self.dt is None else self.dt})

    def __repr__(self) -> str:
        return text_of(self)


def by_size(values: NDArray[Any]) -> Complexes:
    """Complex numbers by their size; of a conjugate pair, the one with the negative imaginary part first."""
    size = np.abs(values)
    scale = size.max(initial=0.0) or 1.0
    return np.asarray(values[np.lexsort((values.imag, values.real, (size / scale).round(12)))], complex)


def _listed(names: Names | None, letter: str, n: int) -> tuple[str, ...]:
    if names is None:
        return tuple(f"{letter}{k + 1}" for k in range(n))
    return (names,) if isinstance(names, str) else tuple(names)


def _undotted(names: Sequence[str]) -> list[str]:
    """Names without dots, each its own.

    >>> _undotted(["gyro.x", "gyro_x", "rate"])
    ['gyro_x', 'gyro_x_2', 'rate']
    """
    found: list[str] = []
    for name in names:
        plain = unique = name.replace(".", "_")
        k = 2
        while unique in found:
            unique, k = f"{plain}_{k}", k + 1
        found.append(unique)
    return found


def _control(what: str) -> Any:
    try:
        import control
    except ImportError:
        raise ModelError(f"{what} needs python-control; install it with: pip install 'bough[control]'") from None
    return control
