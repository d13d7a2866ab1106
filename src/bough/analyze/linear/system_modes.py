"""The modes of a whole system: frequencies, damping, shapes, participation, excitation by inputs and observation by outputs.

    A x = lambda x,   w A = lambda w,   w x = 1:     frequency |lambda|/2 pi,   damping -Re lambda/|lambda|             [B 43]
    residue of a mode from inputs to outputs         R = (C x)(w B)
    share of a joint (its block of M at the point)   d_j* M_jj d_j, of the sum over all joints;  of a body its kinetic energy
"""
from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

import bough
from bough.analyze.bodies import bodies_in
from bough.analyze.equations_of_motion import mass_matrices
from bough.analyze.linear.linear_system import Complexes, LinearSystem
from bough.analyze.linear.linearization import orbital_rate
from bough.compile.compiled_model import CompiledModel
from bough.compile.layout import Floats
from bough.errors import StateError, similar
from bough.figure_style import written

if TYPE_CHECKING:
    import xarray
    from matplotlib.figure import Figure

ZERO = 1e-7                 # relative to the largest eigenvalue: smaller ones are zero to rounding
ORBIT_ZERO = 1e-5           # relative to the orbital rate: the extent of a body changes its orbit by less than the square
CHAINED = 1e-9              # relative to the lengths of both: w x of a defective mode, which has no residue
SHOWN = 30                  # rows of a printed table
LEAST = 0.05                # smaller shares are not printed


@dataclass(frozen=True, eq=False, repr=False)
class Modes:
    """The modes of a system about a motion; `print` shows a table. `Model.modes` returns one.

    A pair of conjugate eigenvalues is one mode; a real eigenvalue is a non-oscillating mode. Zero eigenvalues are not listed, only
    counted.

    Attributes
    ----------
    eigenvalues : ndarray
        (modes,) complex, 1/s, from slow to fast; of a pair the one with the positive imaginary part.
    frequencies : ndarray
        (modes,) Hz, |eigenvalue|/2 pi; for the frequency of oscillation see `damped_frequencies`.
    damping : ndarray
        (modes,) damping ratio, -Re/|eigenvalue|. 1: decays without oscillation; -1: grows without oscillation.
    rigid : int
        Number of rigid-body modes: unrestrained motions.
    zeros : int
        Number of zero eigenvalues: a rigid-body mode has two, unless it is damped.
    shapes : ndarray
        (nv, modes) complex: coordinates along the directions of v, including those determined by closed loops. The largest entry
        has phase 0; normalized to unit kinetic energy of the speeds.
    joints, bodies : dict
        By name, (modes,): participation, 0 to 1.
    shown, excited : ndarray
        C x, (outputs, modes), and w B, (modes, inputs): how outputs observe a mode, and how inputs excite it. `excited` is NaN for
        modes with a defective multiple eigenvalue, such as translations in rotating axes.
    residues : ndarray
        (modes, outputs, inputs) complex: the products of both.
    linear : LinearSystem
        The linear system of these modes.
    """
    model: CompiledModel
    linear: LinearSystem
    eigenvalues: Complexes
    vectors: Complexes                  # (states, modes)
    shapes: Complexes
    rigid: int
    zeros: int
    joints: dict[str, Floats]
    bodies: dict[str, Floats]
    shown: Complexes
    excited: Complexes

    @cached_property
    def residues(self) -> Complexes:
        """(modes, outputs, inputs); computed only on request: for a thousand joints it takes thirty gigabytes."""
        return np.asarray(self.shown.T[:, :, None]*self.excited[:, None, :])

    @property
    def frequencies(self) -> Floats:
        """Hz."""
        return np.abs(self.eigenvalues)/(2.0*np.pi)

    @property
    def damped_frequencies(self) -> Floats:
        """Frequency of oscillation, Hz; 0 for a non-oscillating mode."""
        return np.abs(self.eigenvalues.imag)/(2.0*np.pi)

    @property
    def damping(self) -> Floats:
        """Of critical."""
        return -self.eigenvalues.real/np.abs(self.eigenvalues)

    @property
    def stable(self) -> bool:
        """Whether no mode grows; zero eigenvalues do not count."""
        return bool((self.eigenvalues.real <= ZERO*np.abs(self.eigenvalues)).all())

    @property
    def gains(self) -> Floats:
        """(modes, outputs, inputs): static contribution of each mode to the outputs per unit of constant input, -2 Re(R/lambda)."""
        share = -self.residues/self.eigenvalues[:, None, None]
        return np.where(self.eigenvalues.imag[:, None, None] > 0.0, 2.0*share.real, share.real)

    @property
    def peaks(self) -> Floats:
        """(modes, outputs, inputs): amplitudes at resonance per unit of an input, |R/Re lambda|; infinite without damping."""
        with np.errstate(divide="ignore"):
            return np.abs(self.residues)/np.abs(self.eigenvalues.real)[:, None, None]

    def shape(self, mode: int) -> dict[str, complex]:
        """By coordinate, the complex shape of a mode."""
        from bough.analyze.linear.tangent_space import direction_names
        names = direction_names(self.model).coordinates
        return dict(zip(names, map(complex, self.shapes[:, self._number(mode)]), strict=True))

    def _number(self, mode: int) -> int:
        if not (isinstance(mode, int | np.integer) and 1 <= mode <= len(self.eigenvalues)):
            n = len(self.eigenvalues)
            remedy = f"there are {n}: give a number from 1 to {n}" if n else "there is none beside the rigid-body motions"
            raise StateError(f"mode is {mode!r}; {remedy}")
        return int(mode) - 1

    def gain(self, mode: int, to: str, source: str) -> complex:
        """The residue of a mode from an input to an output."""
        for kind, name in (("output", to), ("input", source)):
            known = getattr(self.linear, f"{kind}s")
            if name not in known:
                raise StateError(f"modes: there is no {kind} '{name}'{similar(name, known)}; there are {', '.join(known)}")
        k = self._number(mode)
        return complex(self.shown[self.linear.outputs.index(to), k]*self.excited[k, self.linear.inputs.index(source)])

    # ---- other forms -------------------------------------------------------------------------------------------------
    def to_xarray(self) -> xarray.Dataset:
        """A dataset: frequencies, damping, eigenvalues, shapes, shares and residues by name."""
        import xarray

        numbers = np.arange(1, len(self.eigenvalues) + 1)
        coordinates: dict[str, Any] = {"mode": numbers, "coordinate": list(self.shape(1)) if len(numbers) else [],
                                       "joint": list(self.joints), "body": list(self.bodies),
                                       "output": list(self.linear.outputs), "input": list(self.linear.inputs)}
        variables = {"frequency": ("mode", self.frequencies, {"units": "Hz"}), "damping": ("mode", self.damping),
                     "eigenvalue": ("mode", self.eigenvalues, {"units": "1/s"}),
                     "joint_share": (("joint", "mode"), np.array(list(self.joints.values())).reshape(-1, len(numbers))),
                     "body_share": (("body", "mode"), np.array(list(self.bodies.values())).reshape(-1, len(numbers))),
                     "residue": (("mode", "output", "input"), self.residues)}
        if len(numbers):
            variables["shape"] = (("coordinate", "mode"), self.shapes)
        else:
            del coordinates["coordinate"]
        return xarray.Dataset(variables, coordinates, {"system": self.model.system.name, "rigid": self.rigid})

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers and names, as `bough modes --json` prints them."""
        rows = [{"mode": k + 1, "frequency_Hz": float(self.frequencies[k]), "damping": float(self.damping[k]),
                 "eigenvalue": [float(value.real), float(value.imag)],
                 "joints": {name: float(share[k]) for name, share in self.joints.items()},
                 "bodies": {name: float(share[k]) for name, share in self.bodies.items()}}
                for k, value in enumerate(self.eigenvalues)]
        balanced = self.linear.balanced
        left = {name: float(value) for name, value in zip(self.linear.states, self.linear.residual, strict=True) if value}
        return {"system": self.model.system.name, "rigid": self.rigid, "zeros": self.zeros, "stable": self.stable, "modes": rows,
                "balanced": balanced} | ({} if balanced else {"left_over": left})

    def plot(self, path: str | PathLike[str] | None = None) -> Figure:
        """Draw the eigenvalues and the participation in each mode; written to a file if a path is given."""
        from bough.analyze.linear import linear_figures as figures

        return written(figures.shares_of_modes(self), path)

    def view(self, mode: int, path: str | PathLike[str] | None = None, *, amplitude: float | None = None, frames: int = 60,
             open: bool | None = None) -> Any:
        """Write an animation of a mode as one self-contained HTML file: one period, repeated.

        Parameters
        ----------
        mode
            Its number, from 1 on.
        path
            The file; by default a temporary one, which is opened in the browser.
        amplitude
            The largest deviation of a coordinate [rad, m, or modal units]; by default one that is clearly visible.
        frames
            In a period.
        open
            Whether to open it in the browser.
        """
        return bough.view_mode(self, self._number(mode) + 1, path, amplitude=amplitude, frames=frames, open=open)

    def __repr__(self) -> str:
        return "\n".join(lines(self))


# ---- the eigenvalues -----------------------------------------------------------------------------------------------------
def modes_of(model: CompiledModel, linear: LinearSystem, lift: Floats) -> Modes:
    """The modes of a continuous linear system; `lift`: (2 nv, states), coordinates and speeds of the tree in terms of its
    states."""
    from scipy.linalg import eig, solve
    point, nv = linear.point, model.nv
    assert point is not None
    M = mass_matrices(model, model.batch(point.q))[0]
    scale = energy_scale(M, lift)
    values, vectors = eig(solve(scale, linear.A @ scale)) if len(linear.A) else (np.zeros(0, complex), np.zeros((0, 0), complex))
    vectors, moving = scale @ vectors.astype(complex), np.asarray(np.abs(lift[:nv]).any(axis=0))
    zero = np.abs(values) <= zero_size(linear, values)
    kept = np.flatnonzero(~zero & (values.imag >= 0.0))
    kept = kept[np.lexsort((values[kept].imag, np.abs(values[kept])))]
    vectors[:, ~zero] = following(linear.A, moving, values[~zero], vectors[:, ~zero])
    left = left_vectors(linear.A, scale, values, vectors, kept)
    left = following(linear.A.T, moving, values[kept], left.T).T
    chosen = normalized(vectors[:, kept], lift, M)
    factor = np.einsum("mi,im->m", left, chosen)                                # w x = 1
    size = np.linalg.norm(left, axis=1)*np.linalg.norm(chosen, axis=0)
    factor = np.where(np.abs(factor) > CHAINED*size, factor, np.nan)
    with np.errstate(invalid="ignore"):                                         # a defective mode has no residue: NaN
        excited = (left/factor[:, None]) @ linear.B
    shapes, speeds = lift[:nv] @ chosen, lift[nv:2*nv] @ chosen
    return Modes(model, linear, values[kept], chosen, shapes, rigid_motions(linear.A, scale, lift[:nv]), int(zero.sum()),
                 joint_shares(model, M, shapes), body_shares(model, point.q, speeds), linear.C @ chosen, excited)


def zero_size(linear: LinearSystem, values: Complexes) -> float:
    """1/s: magnitude below which an eigenvalue counts as zero."""
    orbit = None if linear.point is None else linear.point.orbit
    rate = 0.0 if orbit is None else float(np.linalg.norm(orbital_rate(orbit)))
    return max(ZERO*float(np.abs(values).max(initial=0.0)), ORBIT_ZERO*rate)


def energy_scale(M: Floats, lift: Floats) -> Floats:
    """(states, states): scaling to unit kinetic energy, which makes different units comparable."""
    nv, n = len(M), lift.shape[1]
    m = int(np.abs(lift[:nv]).any(axis=0).sum())                # independent coordinates come first, then their speeds
    found = np.eye(n)
    if m:
        S = lift[:nv, :m]
        L = np.linalg.cholesky(S.T @ M @ S)
        found[:m, :m] = found[m:2*m, m:2*m] = np.linalg.inv(L).T
    return found


def following(A: Floats, moving: NDArray[np.bool_], values: Complexes, vectors: Complexes) -> Complexes:
    """Vectors (states, modes) with coordinates recomputed from the speeds, lambda x = A x in their rows.

    LAPACK balances A: entries of A that are rounding errors may then be scaled up, and the coordinates in the vectors are wrong by
    as much. In rows of rotating axes, lambda may be an eigenvalue of the rotation: these rows stay."""
    found, turns = vectors.copy(), moving.copy()
    turns[moving] = A[np.ix_(moving, moving)].any(axis=0) | A[np.ix_(moving, moving)].any(axis=1)
    plain = moving & ~turns
    found[plain] = A[np.ix_(plain, ~plain)] @ vectors[~plain]/values
    if turns.any():
        own = A[np.ix_(turns, turns)]
        apart = np.abs(np.linalg.eigvals(own) - values[:, None]).min(axis=1) > 1e-6*np.abs(values)
        sides = (A[np.ix_(turns, ~turns)] @ found[~turns][:, apart]).T[:, :, None]
        found[np.ix_(turns, apart)] = np.linalg.solve(values[apart, None, None]*np.eye(len(own)) - own, sides)[:, :, 0].T
    return found


def left_vectors(A: Floats, scale: Floats, values: Complexes, vectors: Complexes, kept: NDArray[np.intp]) -> Complexes:
    """(modes, states): w with w A = lambda w, also for multiple eigenvalues: rows of the inverse of all vectors or, if rigid-body
    modes make these dependent, eigenvectors of the transposed matrix."""
    from scipy.linalg import eig, solve
    if not len(kept):
        return np.zeros((0, len(A)), complex)
    if np.linalg.cond(solve(scale, vectors)) < 1e7:
        return np.asarray(np.linalg.inv(vectors)[kept])
    others, left = eig(solve(scale, A @ scale).T)
    found, free = np.zeros((len(kept), len(A)), complex), np.ones(len(others), dtype=bool)
    for row, k in enumerate(kept):
        distance = np.where(free, np.abs(others - values[k]), np.inf)
        match = int(distance.argmin())
        free[match] = False
        found[row] = solve(scale.T, left[:, match])
    return biorthogonal(found, vectors[:, kept], values[kept])


def biorthogonal(left: Complexes, right: Complexes, values: Complexes) -> Complexes:
    """Left vectors of coinciding eigenvalues, combined so that each corresponds to one right vector."""
    found, done = left.copy(), np.zeros(len(values), dtype=bool)
    for k, value in enumerate(values):
        group = np.flatnonzero(np.abs(values - value) <= 1e-6*np.abs(value))
        if done[k] or len(group) == 1:
            continue
        products = left[group] @ right[:, group]
        if np.linalg.cond(products) < 1e10:
            found[group] = np.linalg.solve(products, left[group])
        done[group] = True
    return found


def normalized(vectors: Complexes, lift: Floats, M: Floats) -> Complexes:
    """Vectors with unit kinetic energy of the speeds, or otherwise of the coordinates; the largest entry has phase 0."""
    nv, found = len(M), vectors.copy()
    weights = np.sqrt(np.maximum(np.diag(M), 0.0))              # rounding may make zero inertias negative
    for k in range(vectors.shape[1]):
        for part in (lift[nv:2*nv] @ vectors[:, k], lift[:nv] @ vectors[:, k], vectors[:, k]):
            energy = float((part.conj() @ (M @ part)).real)/2.0 if len(part) == nv else float(np.abs(part).max())**2
            if energy > 0.0:
                break
        moves = lift[:nv] @ vectors[:, k]
        moves = moves*weights if moves.any() else vectors[:, k]
        first = moves[np.abs(moves).argmax()]
        found[:, k] /= np.sqrt(energy)*first/abs(first)
    return found


def rigid_motions(A: Floats, scale: Floats, lift: Floats) -> int:
    """The number of independent motions of the coordinates in the null space of A."""
    if not len(A):
        return 0
    inside = np.linalg.solve(scale, A @ scale)
    size = np.abs(np.linalg.eigvals(inside)).max(initial=0.0)
    if size == 0.0:
        size = float(np.abs(inside).max(initial=0.0)) or 1.0
    n = int(np.abs(lift).any(axis=0).sum())
    inside = inside.copy()                                      # coordinates times the largest frequency: all in 1/s
    inside[:n] *= size
    inside[:, :n] /= size
    _, sizes, right = np.linalg.svd(inside)
    null = right[sizes <= 1e-13*len(A)*max(sizes[0], size)]
    return int(np.linalg.matrix_rank(null[:, :n], tol=1e-6)) if len(null) else 0


# ---- participation --------------------------------------------------------------------------------------------------------
def joint_shares(model: CompiledModel, M: Floats, shapes: Complexes) -> dict[str, Floats]:
    """By joint, and for the modes of each flexible body: kinetic energy of its own motion, relative to the sum of all."""
    owners = [name.rpartition(".")[0] for name in model.names.v]
    keys = [f"{owner} bending" if modal else owner for owner, modal in zip(owners, modal_speeds(model), strict=True)]
    found: dict[str, Floats] = {}
    for key in dict.fromkeys(keys):
        own = np.array([each == key for each in keys])
        found[key] = np.einsum("im,ij,jm->m", shapes[own].conj(), M[np.ix_(own, own)], shapes[own]).real
    return shares(found)


def modal_speeds(model: CompiledModel) -> NDArray[np.bool_]:
    """(nv,): which entries of v are modal rates."""
    found = np.zeros(model.nv, dtype=bool)
    for body in model.system.bodies.values():
        found[model.mode_places(body.name)[1]] = True
    return found


def body_shares(model: CompiledModel, q: Floats, speeds: Complexes) -> dict[str, Floats]:
    """By body, its share of the kinetic energy."""
    if not speeds.shape[1]:
        return {name: np.zeros(0) for name in model.names.bodies}
    both = np.concatenate([speeds.real.T, speeds.imag.T])
    energies = bodies_in(model, model.batch(np.tile(q, (len(both), 1)), both, wheels=np.zeros(model.nw) if model.nw else None))
    parts = np.split(energies.body_kinetic_energy, 2)
    return shares(dict(zip(model.names.bodies, (parts[0] + parts[1]).T, strict=True)))


def shares(found: dict[str, Floats]) -> dict[str, Floats]:
    """Values relative to their sum."""
    total = np.sum(list(found.values()), axis=0)
    return {name: value/np.where(total > 0.0, total, 1.0) for name, value in found.items()}


# ---- printed ---------------------------------------------------------------------------------------------------------------
def lines(modes: Modes) -> list[str]:
    """A table."""
    name, n = modes.model.system.name, len(modes.eigenvalues)
    found = [f"{n} mode{'s'*(n != 1)} of {name!r}, {modes.rigid} rigid-body mode{'s'*(modes.rigid != 1)}"]
    found += [line for line in repr(modes.linear).splitlines() if line.startswith("no equilibrium")]
    if n:
        found.append(f"{'mode':>6}{'Hz':>13}{'damping':>11}   joints; bodies by kinetic energy")
    for k in range(min(n, SHOWN)):
        grows = "  grows" if modes.eigenvalues[k].real > ZERO*abs(modes.eigenvalues[k]) else ""
        who = "; ".join(largest_shares(table, k) for table in (modes.joints, modes.bodies))
        found.append(f"{k + 1:>6}{modes.frequencies[k]:>13.6g}{modes.damping[k] + 0.0:>11.5f}   {who}{grows}")
    return found + ([f"... and {n - SHOWN} more"] if n > SHOWN else [])


def largest_shares(table: dict[str, Floats], mode: int) -> str:
    """The largest shares, in percent."""
    order = sorted(table, key=lambda name: -table[name][mode])
    return ", ".join(f"{name} {100.0*table[name][mode]:.0f} %" for name in order[:4] if table[name][mode] >= LEAST) or "-"
