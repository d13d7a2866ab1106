"""The places of a flexible body: points that carry its mass, and named nodes that carry joints, loads and outputs."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from bough.errors import DescriptionError, nearest
from bough.flex.cross import Array


@dataclass(frozen=True)
class MassPoints:
    """Where the mass of a flexible body is, and how each mode moves it: N points, n modes, in body axes.

    A point may be a lumped node, or a quadrature point inside an element: the sums over the points are then the consistent
    mass matrix.
    """

    position: Array  # (N, 3) undeformed [m]
    mass: Array  # (N,) [kg]
    offset: Array  # (N, 3) from the point to its mass center [m]
    inertia: Array  # (N, 3, 3) about its own mass center [kg m^2]
    phi: Array  # (N, 3, n) translation per modal coordinate
    psi: Array  # (N, 3, n) rotation per modal coordinate [rad]

    @property
    def n_modes(self) -> int:
        return int(self.phi.shape[2])


@dataclass(frozen=True)
class Nodes:
    """Named places without mass of their own, in body axes."""

    names: tuple[str, ...]
    position: Array  # (nodes, 3) undeformed [m]
    phi: Array  # (nodes, 3, n) translation per modal coordinate
    psi: Array  # (nodes, 3, n) rotation per modal coordinate [rad]
    rotates: tuple[bool, ...]  # False: the elements do not define the rotation here, and psi is zero

    def index(self, name: str) -> int:
        """The row of a node.

        >>> nodes = Nodes(("root", "tip"), np.zeros((2, 3)), np.zeros((2, 3, 1)), np.zeros((2, 3, 1)), (True, True))
        >>> nodes.index("tip")
        1
        """
        if name not in self.names:
            raise DescriptionError(unknown_node(name, self.names))
        return self.names.index(name)

    def __len__(self) -> int:
        return len(self.names)


@dataclass(frozen=True)
class Outline:
    """What a picture of the body needs: points, how the modes move them, which of them are joined by lines, and the surface."""

    position: Array  # (P, 3)
    phi: Array  # (P, 3, n)
    lines: Array  # (E, 2) pairs of points, of integers
    faces: Array = field(default_factory=lambda: np.zeros((0, 3), dtype=int))  # (F, 3) triangles, counter-clockwise from outside

    @staticmethod
    def empty(n_modes: int) -> Outline:
        return Outline(np.zeros((0, 3)), np.zeros((0, 3, n_modes)), np.zeros((0, 2), dtype=int))


def unknown_node(name: str, known: tuple[str, ...]) -> str:
    """What is said about a node that does not exist."""
    listed = ", ".join(repr(each) for each in known) or "none"
    return f"flexible body: it has no node {name!r}{nearest(name, known)}; its nodes are {listed}"
