"""FlexibleBody: the modes of a body, and everything about them that its dynamics needs."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bough.errors import DescriptionError
from bough.flex.cross import Array, inertia_of
from bough.flex.geometric import GeometricStiffness
from bough.flex.integrals import ModalIntegrals, kept
from bough.flex.nodes import MassPoints, Nodes, Outline

if TYPE_CHECKING:
    from bough.flex.carried import Carried
    from bough.flex.recipe import Recipe


@dataclass(frozen=True, repr=False, eq=False)
class FlexibleBody:
    """A body that deforms in n modes, in the axes of its body frame; equal to another if all their arrays are.

    >>> from bough.flex import beam
    >>> boom = beam(4.0, EI=800.0, mass_per_length=1.5, modes=2)
    >>> boom
    FlexibleBody(2 cantilever modes, 0.8077 ... 0.8077 Hz, mass 6 kg, nodes 'root' (inboard), 'tip', geometric stiffness)
    >>> boom.displacement([0.1, 0.0])["tip"].round(4)
    array([0.    , 0.0816, 0.    ])
    """

    integrals: ModalIntegrals
    nodes: Nodes
    K: Array  # (n, n) modal stiffness
    D: Array  # (n, n) modal damping
    frequencies: Array  # (n,) [Hz]
    inboard: str | None = None  # the node that the joint holds
    points: MassPoints | None = None  # where the mass is, if it sits in points
    geometric: GeometricStiffness | None = None  # None: no motion-induced stiffness
    variant: str = "full"  # which powers of the deformation the dynamics keeps
    reduction: str = "given"
    outline: Outline | None = None  # for pictures
    recipe: Recipe | None = None  # how it was made, if plain data say it; `recipe_of` checks whether that still holds

    def __post_init__(self) -> None:
        kept(self.variant)
        if self.inboard is not None:
            self.nodes.index(self.inboard)

    @property
    def n_modes(self) -> int:
        return int(self.K.shape[0])

    @property
    def mass(self) -> float:
        return float(self.integrals.m)

    @property
    def com(self) -> Array:
        """The mass center of the undeformed body (3,)."""
        return np.asarray(self.integrals.s0 / self.integrals.m)

    @property
    def inertia(self) -> Array:
        """The inertia of the undeformed body about its mass center (3, 3)."""
        return np.asarray(self.integrals.I0 - self.mass * inertia_of(np.outer(self.com, self.com)))

    @property
    def stiffening(self) -> bool:
        """Whether the body has a motion-induced stiffness."""
        return self.geometric is not None

    @cached_property
    def carried(self) -> Carried:
        """The second-order displacements of the mass, as fields that the modes carry along."""
        from bough.flex.carried import carried_fields

        return carried_fields(self)

    def displacement(self, eta: Any) -> dict[str, Array]:
        """The displacement of each node (3,) in body axes under modal coordinates (n,)."""
        return dict(zip(self.nodes.names, self.nodes.phi @ self._coordinates(eta), strict=True))

    def rotation(self, eta: Any) -> dict[str, Array]:
        """The rotation vector of each node (3,) in body axes under modal coordinates (n,)."""
        return dict(zip(self.nodes.names, self.nodes.psi @ self._coordinates(eta), strict=True))

    def deformed_outline(self, eta: Any) -> Array:
        """The points (P, 3) of the body's picture under modal coordinates (n,)."""
        outline = self.outline or Outline(self.nodes.position, self.nodes.phi, np.zeros((0, 2), dtype=int))
        return np.asarray(outline.position + outline.phi @ self._coordinates(eta))

    def strain_energy(self, eta: Any) -> float:
        """1/2 eta^T K eta [J]."""
        x = self._coordinates(eta)
        return float(x @ self.K @ x / 2)

    def static_deflection(self, node: str, *, force: Any = (0, 0, 0), moment: Any = (0, 0, 0)) -> Array:
        """The modal coordinates (n,) under a constant load at a node, the body frame at rest."""
        at = self.nodes.index(node)
        load = self.nodes.phi[at].T @ np.asarray(force, dtype=float) + self.nodes.psi[at].T @ np.asarray(moment, dtype=float)
        return np.asarray(np.linalg.solve(self.K, load))

    def to_arrays(self) -> dict[str, Array]:
        """The whole body as plain arrays by name, as an NPZ file holds them."""
        from bough.flex.storage import to_arrays

        return to_arrays(self)

    @staticmethod
    def from_arrays(arrays: Any) -> FlexibleBody:
        """The body that `to_arrays` wrote."""
        from bough.flex.storage import from_arrays

        return from_arrays(arrays)

    def save(self, path: str | Path) -> None:
        """Write the body to an NPZ file."""
        np.savez_compressed(path, **self.to_arrays())  # type: ignore[arg-type]

    @staticmethod
    def load(path: str | Path) -> FlexibleBody:
        """Read a body from an NPZ file that `save` wrote."""
        from bough.flex.storage import read_npz

        return read_npz(Path(path), str(path))

    @staticmethod
    def from_matrices(M: Any, K: Any, nodes: Any, **options: Any) -> FlexibleBody:
        """A body out of any finite-element tool's matrices; see `bough.flex.matrices.from_matrices`."""
        from bough.flex.matrices import from_matrices

        return from_matrices(M, K, nodes, **options)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, FlexibleBody):
            return NotImplemented
        mine, others = self.to_arrays(), other.to_arrays()
        return mine.keys() == others.keys() and all(np.array_equal(values, others[name]) for name, values in mine.items())

    def __hash__(self) -> int:
        return hash((self.mass, self.variant, *self.frequencies.tolist()))

    def __repr__(self) -> str:
        span = "no modes" if not self.n_modes else f"{self.frequencies[0]:.4g} ... {self.frequencies[-1]:.4g} Hz"
        names = ", ".join(f"{name!r} (inboard)" if name == self.inboard else repr(name) for name in self.nodes.names)
        stiffness = "geometric stiffness" if self.stiffening else "no geometric stiffness"
        return f"FlexibleBody({self.n_modes} {self.reduction} modes, {span}, mass {self.mass:.6g} kg, nodes {names}, {stiffness})"

    def _coordinates(self, eta: Any) -> Array:
        x = np.asarray(eta, dtype=float)
        if x.shape != (self.n_modes,):
            raise DescriptionError(f"flexible body: eta has shape {x.shape}; give one number for each of its {self.n_modes} modes")
        return x


def damping_matrix(damping: Any, angular_frequencies: Array) -> Array:
    """D (n, n) of mass-normalized modes out of a ratio, one ratio per mode, or the matrix itself. [B 11]

    >>> damping_matrix(0.01, np.array([2.0, 5.0]))
    array([[0.04, 0.  ],
           [0.  , 0.1 ]])
    """
    given, n = np.asarray(damping, dtype=float), len(angular_frequencies)
    if given.shape == (n, n) and given.ndim == 2:
        smallest = float(np.linalg.eigvalsh((given + given.T) / 2)[0]) if n else 0.0
        if smallest < -1e-9 * max(float(np.abs(given).max(initial=0.0)), 1e-300):
            raise DescriptionError(
                f"flexible body: the damping matrix feeds energy in (eigenvalue {smallest:.3g}); give a positive semidefinite one"
            )
        return given.copy()
    if given.shape not in ((), (n,)):
        raise DescriptionError(f"flexible body: damping has shape {given.shape}; give a ratio, {n} ratios, or a matrix ({n}, {n})")
    if (given < 0).any():
        raise DescriptionError(f"flexible body: damping ratio is {float(given.min())}; give a number >= 0 (0.01 is 1 %)")
    return np.diag(2.0 * given * angular_frequencies)


def field_names(kind: type) -> list[str]:
    """The names of a dataclass's fields."""
    return [field.name for field in fields(kind)]
