"""FlexibleBody: the modes of a body, and everything about them that its dynamics needs; in NPZ files; how it was made.

Of the second-order displacements u = 1/2 eta^T G eta of the mass [B 10], geometric stiffness gives only sum m G^i and sum m c_m
G^i. Fields that are affine in the place c have just these moments: so the displacement is taken as affine, u = sum_a rho_a (d_a +
L_a c) with rho_a = 1/2 eta^T G_a eta, in as few fields as there must be. They are mass-orthonormal modes whose coordinates are not
free: the mass matrix with them is a congruence and stays positive, whatever the deformation.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from functools import cached_property, wraps
from hashlib import sha256
from inspect import signature
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple, ParamSpec

import numpy as np

from bough.errors import DescriptionError
from bough.flex.geometric import GeometricStiffness
from bough.flex.integrals import ROUNDING, Array, MassPoints, ModalIntegrals, Nodes, Outline, inertia_of, kept, no_spins, tilde
from bough.flex.recovery import Recovery
from bough.whole import whole_file


@dataclass(frozen=True, repr=False, eq=False)
class FlexibleBody:
    """A body that deforms in n modes, in the axes of its body frame; two bodies are equal if all their arrays are.

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
    points: MassPoints | None = None  # mass points, if it consists of such
    geometric: GeometricStiffness | None = None  # None: no motion-induced stiffness
    variant: str = "full"  # which powers of the deformation the dynamics keeps
    reduction: str = "given"
    outline: Outline | None = None  # for pictures
    recovery: Recovery | None = None  # stresses and strains of elements
    limits: tuple[str, ...] = ()  # what its data do not determine, and its dynamics leaves out
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
        """Whether the body has motion-induced stiffness."""
        return self.geometric is not None

    @cached_property
    def carried(self) -> Carried:
        """The second-order displacements of the mass, as fields that the modes carry along."""
        return carried_fields(self)

    def displacement(self, eta: Any) -> dict[str, Array]:
        """The displacement of each node (3,) in body axes under modal coordinates (n,)."""
        return dict(zip(self.nodes.names, self.nodes.phi @ self._coordinates(eta), strict=True))

    def rotation(self, eta: Any) -> dict[str, Array]:
        """The rotation vector of each node (3,) in body axes under modal coordinates (n,)."""
        return dict(zip(self.nodes.names, self.nodes.psi @ self._coordinates(eta), strict=True))

    def deformed_outline(self, eta: Any) -> Array:
        """The points (P, 3) of the drawn body under modal coordinates (n,)."""
        outline = self.outline or Outline(self.nodes.position, self.nodes.phi, np.zeros((0, 2), dtype=int))
        return np.asarray(outline.position + outline.phi @ self._coordinates(eta))

    def strain_energy(self, eta: Any) -> float:
        """1/2 eta^T K eta [J]."""
        x = self._coordinates(eta)
        return float(x @ self.K @ x / 2)

    def stress(self, eta: Any) -> dict[str, Array]:
        """The stress (6,) [Pa] xx, yy, zz, xy, yz, zx of each recovered element under modal coordinates (n,)."""
        if self.recovery is None or not len(self.recovery.stress):
            raise DescriptionError("flexible body: it recovers no stresses; reduce it with recover='all', or numbers of elements")
        return dict(zip(map(str, self.recovery.names), self.recovery.stresses(self._coordinates(eta)), strict=True))

    def strain(self, eta: Any) -> dict[str, Array]:
        """The strain (6,) xx, yy, zz, xy, yz, zx (engineering shear) of each recovered element under modal coordinates (n,)."""
        if self.recovery is None or not len(self.recovery.strain):
            raise DescriptionError("flexible body: it recovers no strains; reduce it with recover='all', or give their matrix")
        return dict(zip(map(str, self.recovery.names), self.recovery.strains(self._coordinates(eta)), strict=True))

    def static_deflection(self, node: str, *, force: Any = (0, 0, 0), moment: Any = (0, 0, 0)) -> Array:
        """The modal coordinates (n,) under a constant load at a node, the body frame at rest."""
        at = self.nodes.index(node)
        load = self.nodes.phi[at].T @ np.asarray(force, dtype=float) + self.nodes.psi[at].T @ np.asarray(moment, dtype=float)
        return np.asarray(np.linalg.solve(self.K, load))

    def to_arrays(self) -> dict[str, Array]:
        """The whole body as plain arrays by name, `part.field`, as stored in an NPZ file.

        >>> from bough.flex import beam
        >>> arrays = beam(1.0, EI=1.0, mass_per_length=1.0, modes=3).to_arrays()
        >>> arrays["integrals.Mff"].shape, str(arrays["inboard"])
        ((3, 3), 'root')
        """
        arrays: dict[str, Any] = {name: getattr(self, name) for name in _MATRICES}
        arrays |= {name: np.array(getattr(self, name) or "") for name in _TEXTS}
        if self.limits:
            arrays["limits"] = np.array(self.limits)
        for name, kind in _PARTS.items():
            if (part := getattr(self, name)) is not None:
                arrays |= {f"{name}.{field}": np.asarray(getattr(part, field)) for field in field_names(kind)}
        return arrays

    @staticmethod
    def from_arrays(arrays: Mapping[str, Any]) -> FlexibleBody:
        """The body that `to_arrays` wrote."""
        there = [name for name, kind in _PARTS.items() if name in _NEEDED or f"{name}.{field_names(kind)[0]}" in arrays]
        wanted = [*_MATRICES, *_TEXTS, *(f"{name}.{field}" for name in there for field in field_names(_PARTS[name]))]
        if missing := [name for name in wanted if name not in arrays and name not in _LATER]:
            what = f"the arrays lack {missing[0]!r}"
            raise DescriptionError(f"flexible body: {what}; give what FlexibleBody.to_arrays() or save() wrote")
        check_shapes({name: np.asarray(arrays[name]) for name in wanted if name in arrays})
        parts: dict[str, Any] = {name: np.asarray(arrays[name]) for name in _MATRICES}
        parts |= {name: str(arrays[name]) or None for name in _TEXTS}
        parts["limits"] = tuple(map(str, arrays.get("limits", ())))
        for name in there:
            known = [field for field in field_names(_PARTS[name]) if f"{name}.{field}" in arrays]
            values: dict[str, Any] = dict(no_spins(len(arrays["K"]))) if name == "integrals" else {}
            values |= {field: np.asarray(arrays[f"{name}.{field}"]) for field in known}
            if name == "nodes":
                values |= {"names": tuple(map(str, values["names"])), "rotates": tuple(map(bool, values["rotates"]))}
            parts[name] = _PARTS[name](**values)
        if "integrals.spin" not in arrays and "points" in there:
            parts["integrals"] = ModalIntegrals.from_points(parts["points"])
        return FlexibleBody(**parts)

    def save(self, path: str | Path) -> None:
        """Write the body to an NPZ file."""
        with whole_file(Path(path)) as part, part.open("wb") as file:
            np.savez_compressed(file, **self.to_arrays())  # type: ignore[arg-type]

    @staticmethod
    def load(path: str | Path) -> FlexibleBody:
        """Read a body from an NPZ file written by `save`."""
        return read_npz(Path(path), str(path))

    @staticmethod
    def from_matrices(M: Any, K: Any, nodes: Any, **options: Any) -> FlexibleBody:
        """A body from the matrices of any finite-element tool; see `bough.flex.matrices.from_matrices`."""
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
        unknown = f", not determined: {'; '.join(self.limits)}" if self.limits else ""
        what = f"{self.n_modes} {self.reduction} modes, {span}, mass {self.mass:.6g} kg, nodes {names}, {stiffness}{unknown}"
        return f"FlexibleBody({what})"

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
            raise DescriptionError(f"flexible body: the damping matrix feeds energy in (eigenvalue {smallest:.3g}); give a "
                                   "positive semidefinite one")
        return given.copy()
    if given.shape not in ((), (n,)):
        raise DescriptionError(f"flexible body: damping has shape {given.shape}; give a ratio, {n} ratios, or a matrix ({n}, {n})")
    if (given < 0).any():
        raise DescriptionError(f"flexible body: damping ratio is {float(given.min())}; give a number >= 0 (0.01 is 1 %)")
    return np.diag(2.0 * given * angular_frequencies)


def field_names(kind: type) -> list[str]:
    """The names of a dataclass's fields."""
    return [field.name for field in fields(kind)]


# ---- storage ---------------------------------------------------------------------------------------------------------------
_PARTS: dict[str, type] = {
    "integrals": ModalIntegrals,
    "nodes": Nodes,
    "points": MassPoints,
    "geometric": GeometricStiffness,
    "outline": Outline,
    "recovery": Recovery,
}
_TEXTS = ("variant", "reduction", "inboard")
_MATRICES = ("K", "D", "frequencies")
_NEEDED = ("integrals", "nodes")
_LATER = ("outline.faces", "integrals.spin", "integrals.spin_pairs")  # what the first files did not hold, and may be absent


# axes by a letter, the same for the same length: n modes, j nodes, N points, p spins; of texts, of anything that counts
_SHAPES = {
    "K": "nn", "D": "nn", "frequencies": "n",
    "integrals": {"m": "", "s0": "3", "t": "n3", "I0": "33", "I1": "n33", "I2": "nn33", "h": "n3", "k": "nn3", "Mff": "nn",
                  "spin": "pn4", "spin_pairs": "pnn4"},
    "nodes": {"names": "j", "position": "j3", "phi": "j3n", "psi": "j3n", "rotates": "j"},
    "points": {"position": "N3", "mass": "N", "offset": "N3", "inertia": "N33", "phi": "N3n", "psi": "N3n"},
    "geometric": {"acceleration": "3nn", "gradient": "33nn", "force": "f3nn", "moment": "f3nn"},
    "outline": {"position": "P3", "phi": "P3n", "lines": "l2", "faces": "c3"},
    "recovery": {"names": "E", "stress": "s6n", "strain": "e6n", "point_stress": "w6n", "point_strain": "w6n"},
}
_NAMES = ("nodes.names", "recovery.names")


def check_shapes(arrays: Mapping[str, Array]) -> None:
    """Real, finite numbers in the shapes that fit one another."""
    lengths: dict[str, int] = {str(i): i for i in range(10)}
    for name, values in arrays.items():
        part, _, field = name.partition(".")
        wanted: Any = _SHAPES.get(part)
        if wanted is None:
            continue
        axes = wanted[field] if field else wanted
        fits = [lengths.setdefault(axis, n) == n for axis, n in zip(axes, values.shape, strict=False)]
        if len(axes) != values.ndim or not all(fits):
            raise DescriptionError(f"flexible body: {name!r} has the shape {values.shape}; give ({', '.join(axes)})")
        if name not in _NAMES and (values.dtype.kind not in "biuf" or not np.isfinite(values).all()):
            raise DescriptionError(f"flexible body: {name!r} contains numbers that are not finite; give what save() wrote")
    if "integrals.m" in arrays and not arrays["integrals.m"] > 0:
        raise DescriptionError(f"flexible body: its mass is {float(arrays['integrals.m'])} kg; give a number > 0")
    for name, axis in (("recovery.stress", "s"), ("recovery.strain", "e")):
        if lengths.get(axis, 0) not in (0, lengths.get("E", 0)):
            raise DescriptionError(f"flexible body: {name!r} has {lengths[axis]} elements; give as many as names, {lengths['E']}")
    for name, limit in (("outline.lines", "P"), ("outline.faces", "P")):
        entries = arrays.get(name, np.zeros(0))
        if entries.size and not (entries.min() >= 0 and entries.max() < lengths[limit]):
            raise DescriptionError(f"flexible body: {name!r} names points that are not there; give what save() wrote")


def to_npz(body: FlexibleBody) -> bytes:
    """What an NPZ file of the body holds."""
    stream = BytesIO()
    np.savez_compressed(stream, **body.to_arrays())  # type: ignore[arg-type]
    return stream.getvalue()


def read_npz(source: Path | bytes, name: str) -> FlexibleBody:
    """The body in an NPZ file, or in what such a file holds; `name` is what messages call it."""
    try:
        with np.load(BytesIO(source) if isinstance(source, bytes) else source, allow_pickle=False) as arrays:
            return FlexibleBody.from_arrays(dict(arrays))
    except DescriptionError as error:
        raise DescriptionError(str(error).replace("flexible body: ", f"flexible body: {name!r}: ", 1)) from None
    except FileNotFoundError:
        raise DescriptionError(f"flexible body: the file {name!r} does not exist; give what FlexibleBody.save() wrote") from None
    except Exception:  # of NumPy, zip and zlib, whatever is wrong with the file
        raise DescriptionError(f"flexible body: {name!r} is not an NPZ file of a body; give what save() wrote") from None


# ---- recipe ----------------------------------------------------------------------------------------------------------------
Given = ParamSpec("Given")
Maker = Callable[Given, FlexibleBody]
_LONGEST = 1000  # numbers; the arrays of the body themselves are shorter than a longer recipe
_EXACT = (np.float64, np.int64, np.int32, np.bool_)  # what Python's own numbers repeat exactly


class NotPlain(Exception):
    """A keyword is a function, a file or a large matrix, which a recipe cannot store."""


class Recipe(NamedTuple):
    """A maker ("beam", "solid", "matrices"), the keywords it was given, and the digest of the body that it made."""

    kind: str
    keywords: dict[str, Any]
    digest: str


def remembers(kind: str, **spelled: Callable[[Any], Any]) -> Callable[[Maker[Given]], Maker[Given]]:
    """Let a maker of bodies leave its recipe in them; `spelled` turns keywords into plain data, or raises NotPlain.

    >>> from bough.flex import beam
    >>> beam(4.0, EI=800.0, mass_per_length=1.5, modes=2).recipe.keywords
    {'length': 4.0, 'EI': 800.0, 'mass_per_length': 1.5, 'modes': 2}
    >>> beam(4.0, EI=lambda x: 800.0 - 100.0 * x, mass_per_length=1.5, modes=2).recipe is None
    True
    """

    def remembering(make: Maker[Given]) -> Maker[Given]:
        names = list(signature(make).parameters)

        @wraps(make)
        def made(*args: Given.args, **kwargs: Given.kwargs) -> FlexibleBody:
            body = make(*args, **kwargs)
            given = dict(zip(names, args, strict=False)) | kwargs
            try:
                keywords = {name: plain(spelled[name](value) if name in spelled else value) for name, value in given.items()}
            except NotPlain:
                return body
            return body if _length(keywords) > _LONGEST else replace(body, recipe=Recipe(kind, keywords, digest(body)))

        return made

    return remembering


def recipe_of(body: FlexibleBody) -> Recipe | None:
    """The recipe of a body, unless the body was changed since: by dataclasses.replace, or in its arrays.

    >>> from bough.flex import beam
    >>> boom = beam(4.0, EI=800.0, mass_per_length=1.5, modes=2)
    >>> recipe_of(boom).kind, recipe_of(replace(boom, geometric=None))
    ('beam', None)
    """
    return body.recipe if body.recipe is not None and body.recipe.digest == digest(body) else None


def digest(body: FlexibleBody) -> str:
    """A hash of every array, bit for bit."""
    found = sha256()
    for name, values in sorted(body.to_arrays().items()):
        found.update(f"{name} {values.dtype} {values.shape}".encode())
        found.update(np.ascontiguousarray(values).tobytes())
    return found.hexdigest()


def plain(value: Any) -> Any:
    """A copy made of numbers, texts, lists, tuples and dicts alone.

    >>> plain({"tip": np.array([1.0, 2.0]), "EI": (np.float64(3.0), 4)})
    {'tip': [1.0, 2.0], 'EI': (3.0, 4)}
    """
    if isinstance(value, np.ndarray | np.generic) and value.dtype in _EXACT and value.size <= _LONGEST:
        return value.tolist()
    if value is None or type(value) in (bool, int, float, str):
        return value
    if isinstance(value, list | tuple):
        entries = [plain(entry) for entry in value]
        return tuple(entries) if isinstance(value, tuple) else entries
    if isinstance(value, Mapping) and all(isinstance(key, str) for key in value):
        return {key: plain(entry) for key, entry in value.items()}
    raise NotPlain


def without_files(value: Any) -> Any:
    """The same, unless it names files: what they hold can change."""
    if isinstance(value, str):
        raise NotPlain
    for entry in _entries(value):
        without_files(entry)
    return value


def _entries(value: Any) -> list[Any]:
    return list(value.values()) if isinstance(value, Mapping) else list(value) if isinstance(value, list | tuple) else []


def _length(value: Any) -> int:
    """How many numbers and texts there are in plain data."""
    nested = isinstance(value, Mapping | list | tuple)
    return sum(map(_length, _entries(value))) if nested else 1


# ---- carried ---------------------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Carried:
    """p fields, and the sums over the mass of all n + p shapes: modes first, then fields."""

    G: Array  # (p, n, n) rho_a = 1/2 eta^T G_a eta
    mass: Array  # (n + p, n + p)
    E: Array  # (n + p, 3, 3) of the undeformed body
    slope: Array  # (n + p, n + p, 3, 3) [s, r]: what coordinate s adds to E_r
    t: Array  # (n + p, 3)

    @property
    def count(self) -> int:
        return len(self.G)


def carried_fields(body: FlexibleBody) -> Carried:
    """The fields of a body that stiffens geometrically; none of one that does not, or is linearized."""
    i, n = body.integrals, body.n_modes
    own_E, own_slope = moments(i.I1 / 2, i.h), moments(i.I2, i.k)
    if body.geometric is None or body.variant != "full":
        return Carried(np.zeros((0, n, n)), i.Mff, own_E, own_slope, i.t)
    square, first = _mass_moments(body)
    d, L, G = _fields(body, square)
    shift = np.einsum("ai,rj->arij", d, i.t) + np.einsum("aim,rjm->arij", L, first)  # [a, r]: sum m (d + L c) phi_r^T
    pairs = _field_pairs(d, L, body, square)
    slope = np.zeros((n + len(G), n + len(G), 3, 3))
    slope[:n, :n] = own_slope
    slope[:n, n:] = np.swapaxes(shift, 0, 1)
    slope[n:, :n] = np.swapaxes(shift, 2, 3)
    slope[n:, n:] = np.swapaxes(pairs, 0, 1)
    mass = np.einsum("srii->sr", slope)
    mass[:n, :n] = i.Mff
    E = np.einsum("ai,j->aij", d, i.s0) + L @ square
    return Carried(G, mass, np.concatenate([own_E, E]), slope, np.concatenate([i.t, i.m * d + L @ i.s0]))


def moments(half_slope: Array, coupling: Array) -> Array:
    """E with tr(E) I - E = half_slope in its symmetric part, and with this axial vector: sum m phi c^T of points."""
    symmetric = np.trace(half_slope, axis1=-2, axis2=-1)[..., None, None] / 2 * np.eye(3) - half_slope
    return np.asarray(symmetric + tilde(coupling) / 2)


def _mass_moments(body: FlexibleBody) -> tuple[Array, Array]:
    """sum m c c^T (3, 3) and sum m phi_r c^T (n, 3, 3)."""
    i = body.integrals
    if body.points is None:
        return np.trace(i.I0) / 2 * np.eye(3) - i.I0, moments(i.I1 / 2, i.h)
    p = body.points
    center, phi = p.position + p.offset, p.phi + np.cross(p.psi, p.offset[:, :, None], axis=1)
    return np.einsum("N,Ni,Nj->ij", p.mass, center, center), np.einsum("N,Nir,Nj->rij", p.mass, phi, center)


def _fields(body: FlexibleBody, square: Array) -> tuple[Array, Array, Array]:
    """d (p, 3), L (p, 3, 3), G (p, n, n): the affine fields with the moments of the geometric stiffness."""
    i, geometric = body.integrals, body.geometric
    assert geometric is not None
    n = body.n_modes
    gram = np.block([[i.m, i.s0[None]], [i.s0[:, None], square]])  # sum m (1, c) (1, c)^T
    if not np.isfinite(gram).all():
        raise DescriptionError("flexible body: its mass is too large for numbers; correct it")
    values, vectors = np.linalg.eigh(gram)
    kept = values > ROUNDING * values[-1]
    root = vectors[:, kept] / np.sqrt(values[kept])  # gram^-1/2: (4, rank)
    wanted = np.concatenate([geometric.acceleration[:, None], geometric.gradient], axis=1)  # [i, (1, c)] = sum m (1, c) G^i
    scaled = np.einsum("bk,ibrs->ikrs", root, wanted).reshape(-1, n * n)
    if not np.isfinite(scaled).all():
        raise DescriptionError("flexible body: its geometric stiffness is too large for numbers; correct it, or leave it out")
    left, sizes, right = np.linalg.svd(scaled, full_matrices=False)
    some = sizes > ROUNDING * sizes[0]
    shape = np.einsum("bk,ika->aib", root, left.reshape(3, -1, left.shape[1])[:, :, some])  # of (1, c)
    G = (sizes[some, None] * right[some]).reshape(-1, n, n)
    return shape[:, :, 0], shape[:, :, 1:], (G + np.swapaxes(G, 1, 2)) / 2


def _field_pairs(d: Array, L: Array, body: FlexibleBody, square: Array) -> Array:
    """[a, b]: sum m (d_a + L_a c) (d_b + L_b c)^T."""
    i = body.integrals
    lever = L @ i.s0  # (p, 3)
    constant = i.m * np.einsum("ai,bj->abij", d, d) + np.einsum("ai,bj->abij", d, lever) + np.einsum("ai,bj->abij", lever, d)
    return np.asarray(constant + np.einsum("aim,mk,bjk->abij", L, square, L))


def displacements(body: FlexibleBody, eta: Array) -> Array:
    """(..., nodes, 3) [m] under modal coordinates (..., n).

    >>> from bough.flex import beam
    >>> boom = beam(4.0, EI=800.0, mass_per_length=1.5, modes=2)
    >>> displacements(boom, np.array([0.1, 0.0]))[boom.nodes.index("tip")].round(5)
    array([-0.00097,  0.08165,  0.     ])
    """
    curved = _second_order(body)
    return _moved(body.nodes.phi, None if curved is None else curved.force, eta)


def rotations(body: FlexibleBody, eta: Array) -> Array:
    """(..., nodes, 3): the rotation vector of each node [rad]."""
    curved = _second_order(body)
    return _moved(body.nodes.psi, None if curved is None else curved.moment, eta)


def _second_order(body: FlexibleBody) -> GeometricStiffness | None:
    """Second-order displacements of the nodes, if the dynamics of the body includes them."""
    return body.geometric if body.variant == "full" else None


def _moved(shapes: Array, curves: Array | None, eta: Array) -> Array:
    """shapes eta + eta.curves eta/2, of shapes (nodes, 3, n) and curves (nodes, 3, n, n)."""
    moved: Array = np.einsum("kir,...r->...ki", shapes, eta)
    if curves is not None:
        moved = moved + np.einsum("...kir,...r->...ki", np.einsum("kirs,...s->...kir", curves, eta), eta) / 2
    return moved
