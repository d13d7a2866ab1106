"""Tanks: propellant of changing mass, its thrust, and its slosh.

Mass center and inertia of settled propellant follow from the mass that is left. Settled propellant has a level surface normal to
the z axis of the tank and lies at -z, as under thrust along +z. It rotates with the tank.
"""

from collections.abc import Iterator, Sequence
from typing import Annotated, Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import BeforeValidator, PlainSerializer, WithJsonSchema, model_validator

from bough.describe import numeric
from bough.describe.base import Description, Fault, among
from bough.describe.body import Body, Frame
from bough.describe.body_shapes import Box, Cylinder, Shape, Sphere, read_shape, write_shape
from bough.describe.joint import Joint
from bough.describe.motions import Signal, TimeTable, increasing
from bough.describe.numeric import NUMBERS, Axis, AxisLike, Text, Vector, VectorLike, above_zero, at_least_zero
from bough.describe.orientation import IDENTITY, Orientation, point_inertia
from bough.describe.part import Attachment, Finding, Part, Recorded, SystemView
from bough.errors import DescriptionError

Array = NDArray[np.float64]
G0 = 9.80665                    # m/s^2, by which a specific impulse is an exhaust speed
LEAST_SLOSH = 1e-6              # of the capacity: so much always sloshes, so that no joint is without mass
FIXED = 10                      # numbers of the propellant that is fixed: mass, moment, inertia; of what sloshes two more
_THIRDS = np.array([0.0, 1.0, 2.0, 3.0]) / 3.0


# ---- tables over the level ---------------------------------------------------------------------------------------------------
def _rows(value: Any) -> tuple[tuple[float, ...], ...]:
    given = numeric.items(value)
    if given is None or not given:
        raise ValueError(f"is {numeric.shown(value)}; give a row of 3 numbers for each mass")
    return tuple(numeric.numbers(row, 3) for row in given)


def _series(value: Any) -> tuple[float, ...]:
    found = numeric.numbers([value] if numeric.items(value) is None else value)
    if not found or min(found) < 0.0:
        raise ValueError(f"is {numeric.shown(value)}; give a number >= 0, or one for each level")
    return found


_ROWS = {"type": "array", "items": NUMBERS}
Rows = Annotated[tuple[tuple[float, ...], ...], BeforeValidator(_rows), WithJsonSchema(_ROWS)]
Series = Annotated[tuple[float, ...], BeforeValidator(_series), WithJsonSchema({"anyOf": [{"type": "number"}, NUMBERS]})]
Masses = Annotated[tuple[float, ...], BeforeValidator(increasing), WithJsonSchema(NUMBERS)]


class Levels(Description):
    """Mass properties of the propellant as a function of its mass: for each `mass` [kg] its mass center `com` [m] and its moments
    of `inertia` about it [kg m^2], in the axes of the tank; both are interpolated linearly.

    >>> Levels(mass=[0, 100], com=[[0, 0, -0.5], [0, 0, 0]], inertia=[[0, 0, 0], [8, 8, 5]])
    Levels(mass=(0.0, 100.0), com=((0.0, 0.0, -0.5), (0.0, 0.0, 0.0)), inertia=((0.0, 0.0, 0.0), (8.0, 8.0, 5.0)))
    """

    mass: Masses
    com: Rows
    inertia: Rows

    def __init__(self, mass: Sequence[float], com: Any, inertia: Any) -> None:
        super().__init__(mass=mass, com=com, inertia=inertia)

    @model_validator(mode="after")
    def _check(self) -> Self:
        for field in ("com", "inertia"):
            if len(getattr(self, field)) != len(self.mass):
                text = f"{field} has {len(getattr(self, field))} rows, and mass {len(self.mass)} numbers; give a row for each mass"
                raise Fault(field, text)
        if min(map(min, self.inertia)) < 0.0:
            raise Fault("inertia", "inertia has a moment below zero; give moments about the mass center, >= 0")
        for m, row in zip(self.mass, self.inertia, strict=True):
            if m == 0.0 and any(row):
                raise Fault("inertia", f"inertia is {row} kg m^2 where the mass is 0 kg; give (0, 0, 0): nothing is left")
            if 2 * max(row) > sum(row) * (1 + 1e-9):
                raise Fault("inertia", f"inertia at {m:g} kg is {row} kg m^2: one moment exceeds the sum of the others; give those "
                            "about the mass center, in the axes of the tank")
        return self


Model = Literal["pendulum", "spring"]


class Slosh(Description):
    """The sloshing part of the propellant, which moves across the z axis of its tank: a mass `length` below the point `at` of the
    tank that swings about that point as a "pendulum", or slides as a mass on a "spring". Under an acceleration a of the tank, from
    thrust or spin, the pendulum frequency is sqrt(a/length); `frequency` [Hz] is the frequency without acceleration, required for
    a spring and optional for a pendulum. The amplitude decays as exp(-`decay` t) [1/s]. `mass`, `length` and `frequency` are
    numbers, or series over the `level`, the mass of propellant in the tank [kg]. It starts at rest at `q0`, two angles about x and
    y [rad] or displacements along them [m].

    >>> Slosh("pendulum", mass=[0, 30, 40], length=0.25, level=[0, 60, 100], decay=0.01).mass
    (0.0, 30.0, 40.0)
    >>> Slosh("spring", mass=5)
    Traceback (most recent call last):
    bough.errors.DescriptionError: slosh: frequency is missing; give that of the mass on its spring, in Hz
    """

    model: Annotated[Model, among(Model)]
    mass: Series
    length: Series = (0.0,)
    frequency: Series = (0.0,)
    decay: Annotated[float, at_least_zero("1/s")] = 0.0
    level: Masses | None = None
    at: Vector = (0.0, 0.0, 0.0)
    q0: Annotated[tuple[float, ...], BeforeValidator(lambda value: numeric.numbers(value, 2)), WithJsonSchema(NUMBERS)] = (0.0, 0.0)

    def __init__(self, model: str, mass: Any, length: Any = 0.0, frequency: Any = 0.0, **options: Any) -> None:
        super().__init__(model=model, mass=mass, length=length, frequency=frequency, **options)

    @model_validator(mode="after")
    def _check(self) -> Self:
        n = 1 if self.level is None else len(self.level)
        for field in ("mass", "length", "frequency"):
            if len(getattr(self, field)) not in (1, n):
                have = f"{len(getattr(self, field))} numbers, and level {n if self.level else 'none'}"
                raise Fault(field, f"{field} has {have}; give one number, or one for each level")
        if self.model == "pendulum" and not min(self.length) > 0.0:
            raise Fault("length", "length is 0.0; give that of the pendulum, > 0")
        if self.model == "spring" and not min(self.frequency) > 0.0:
            raise Fault("frequency", "frequency is missing; give that of the mass on its spring, in Hz")
        return self

    def over(self, field: str, m: Array) -> Array:
        """A series at the masses m."""
        given = getattr(self, field)
        if len(given) == 1 or self.level is None:
            return np.full(m.shape, given[0])
        return np.asarray(np.interp(m, self.level, given))


# ---- the tank ----------------------------------------------------------------------------------------------------------------
def _nozzle(value: Any) -> Any:
    """A Frame, or a place on the body of the tank."""
    if isinstance(value, Frame) or value is None:
        return value
    return Frame.from_mapping(value) if isinstance(value, dict) else numeric.numbers(value, 3)


def _shape(value: Any) -> Shape | None:
    try:
        return None if value is None else read_shape(value)
    except DescriptionError as error:
        raise Fault("shape", f"shape {error}") from None


ShapeField = Annotated[Shape | None, BeforeValidator(_shape),
                       PlainSerializer(lambda shape: None if shape is None else write_shape(shape)),
                       WithJsonSchema({"type": ["object", "null"]})]
NozzleField = Annotated[Any, BeforeValidator(_nozzle),
                        PlainSerializer(lambda value: value.to_dict() if isinstance(value, Frame) else value),
                        WithJsonSchema({"anyOf": [NUMBERS, {"type": "object"}]})]


class Tank(Part):
    """A propellant tank on a body. It adds a body with the tank's name, welded to `body` at `at` and `orient`, whose mass
    decreases by the `flow` [kg/s]: a number, a TimeTable, or the value of an Input with this `flow`. The propellant leaves through
    a `nozzle`, a point on the body, or a Frame on a body gimbaled on it, and exerts a thrust along `direction` of the flow times
    the `exhaust_speed` [m/s], or the specific impulse `isp` [s].

    `mass` [kg] is the initial propellant, `capacity` the maximum (by default the same); at `residual`, flow and thrust end,
    together with those of all tanks of the same `engine`. The mass properties of the propellant follow from the `shape` of the
    tank, a Box, a Cylinder or a Sphere about its origin, along its z axis; or from `levels`; otherwise it is a point at the
    origin. `slosh` adds a sloshing mass: a body "<name>_slosh" on the tank, whose coordinates are part of q.

    >>> tank = Tank("lox", "stage", mass=100, shape={"sphere": 0.3}, flow=0.5, isp=300, nozzle=(0, 0, -1))
    >>> tank.speed, [body.name for body in tank.bodies()]
    (2941.995, ['lox'])
    >>> Tank("lox", "stage", mass=0, flow=0.5, isp=300)
    Traceback (most recent call last):
    bough.errors.DescriptionError: tank 'lox': mass is 0.0 kg; give a number > 0
    """

    key: ClassVar[str] = "tanks"
    recorded: ClassVar[dict[str, Recorded]] = {
        "tank_mass": Recorded(("tank",), "kg", "propellant in the tank"),
        "tank_flow": Recorded(("tank",), "kg/s", "propellant that leaves the tank"),
        "tank_thrust": Recorded(("tank",), "N", "thrust of what leaves the tank"),
    }
    body: Text
    mass: Annotated[float, above_zero("kg")]
    flow: Signal = 0.0
    exhaust_speed: Annotated[float, at_least_zero("m/s")] | None = None
    isp: Annotated[float, at_least_zero("s")] | None = None
    nozzle: NozzleField = (0.0, 0.0, 0.0)
    direction: Axis = (0.0, 0.0, 1.0)
    engine: Text | None = None
    capacity: Annotated[float, above_zero("kg")] | None = None
    residual: Annotated[float, at_least_zero("kg")] = 0.0
    at: Vector = (0.0, 0.0, 0.0)
    orient: Orientation = IDENTITY
    node: Text | None = None
    shape: ShapeField = None
    levels: Annotated[Levels, BeforeValidator(Levels.from_mapping)] | None = None
    slosh: Annotated[Slosh, BeforeValidator(Slosh.from_mapping)] | None = None

    def __init__(self, name: str, body: str, mass: float, flow: Any = 0.0, *, exhaust_speed: float | None = None,
                 isp: float | None = None, nozzle: Any = (0.0, 0.0, 0.0), direction: AxisLike = "z", engine: str | None = None,
                 capacity: float | None = None, residual: float = 0.0, at: VectorLike = (0.0, 0.0, 0.0), orient: Any = None,
                 node: str | None = None, shape: Any = None, levels: Any = None, slosh: Any = None) -> None:
        super().__init__(name=name, body=body, mass=mass, flow=flow, exhaust_speed=exhaust_speed, isp=isp, nozzle=nozzle,
                         direction=direction, engine=engine, capacity=capacity, residual=residual, at=at, orient=orient, node=node,
                         shape=shape, levels=levels, slosh=slosh)

    @model_validator(mode="after")
    def _check(self) -> Self:
        if (self.exhaust_speed is None) == (self.isp is None):
            which = "neither exhaust_speed nor isp is given" if self.isp is None else "exhaust_speed and isp are given"
            raise Fault("isp", f"{which}; give one of them (exhaust_speed 0: propellant leaves without thrust)")
        if self.mass > self.full:
            raise Fault("mass", f"mass is {self.mass} kg, more than the capacity, {self.full} kg; fill in less")
        if self.mass <= self.residual:
            raise Fault("mass", f"mass is {self.mass} kg and residual {self.residual} kg: the tank is empty already; give it "
                        "propellant, or leave it out")
        least = min(np.ravel(self.flow.values)) if isinstance(self.flow, TimeTable) else self.flow
        if isinstance(self.flow, TimeTable) and self.flow.columns != 1:
            raise Fault("flow", f"flow has {self.flow.columns} columns; give a table of one")
        if least < 0.0:
            raise Fault("flow", f"flow is {least} kg/s at the least; give numbers >= 0: nothing flows back into a tank")
        self._check_levels()
        return self

    def _check_levels(self) -> None:
        if self.shape is not None and self.levels is not None:
            raise Fault("levels", "shape and levels both say where the propellant is; give one of them")
        if self.shape is not None and not isinstance(self.shape, Box | Cylinder | Sphere):
            raise Fault("shape", "shape is a mesh; give a box, a cylinder or a sphere, or levels")
        if self.shape is not None and (any(self.shape.at) or self.shape.orient != IDENTITY or self.shape.density is not None):
            raise Fault("shape", "shape has a place or a density of its own; give the tank at and orient, its mass and capacity")
        known = {"levels": self.levels.mass if self.levels else None, "slosh": self.slosh.level if self.slosh else None}
        for field, masses in known.items():
            if masses is not None and (masses[0] > self.residual or masses[-1] < self.full):
                raise Fault(field, f"{field} is known from {masses[0]} to {masses[-1]} kg, but the tank holds from {self.residual} "
                            f"to {self.full} kg; give the levels between, too, or another residual or capacity")
        if self.slosh is not None:
            self._check_slosh(self.slosh)

    def _check_slosh(self, slosh: Slosh) -> None:
        m = np.maximum(self.knots(), self.residual)
        more = slosh.over("mass", m) - m
        if more.max() > 1e-9 * self.full:
            worst = int(np.argmax(more))
            text = f"slosh has {slosh.over('mass', m)[worst]:g} kg where {m[worst]:g} kg are in the tank; let no more slosh than"
            raise Fault("slosh", f"{text} is there: give its mass over the level, or the tank a residual")
        fixed = self.properties(np.array([self.mass]))[0]
        h, J = fixed[1:4], full(fixed[4:10])
        central = J - (point_inertia(h / fixed[0]) * fixed[0] if fixed[0] > 0.0 else 0.0)
        if np.linalg.eigvalsh(central)[0] < -1e-9 * max(abs(J).max(), 1e-300):
            raise Fault("slosh", "slosh has more inertia than all the propellant of this shape or these levels; put its mass "
                        "closer to the propellant's mass center, or let less of it slosh")

    # ---- what it is made of ------------------------------------------------------------------------------------------------
    @property
    def full(self) -> float:
        """How much fits in [kg]."""
        return self.mass if self.capacity is None else self.capacity

    @property
    def speed(self) -> float:
        """Of the exhaust, relative to the nozzle [m/s]."""
        return G0 * self.isp if self.isp is not None else self.exhaust_speed or 0.0

    @property
    def exit(self) -> Frame:
        """Where its propellant leaves."""
        return self.nozzle if isinstance(self.nozzle, Frame) else Frame(self.body, at=self.nozzle, node=self.node)

    @property
    def slosh_name(self) -> str:
        """Of the body that sloshes."""
        return f"{self.name}_slosh"

    @property
    def body_names(self) -> tuple[str, ...]:
        """Of the bodies that it adds."""
        return (self.name,) if self.slosh is None else (self.name, self.slosh_name)

    def bodies(self) -> tuple[Body, ...]:
        """The bodies that it adds: the propellant that is fixed in the tank, and what sloshes."""
        now = self.properties(np.array([self.mass]))[0]
        made = [Body(self.name, parent=self.body, node=self.node, at=self.at, orient=self.orient, **_substance(now[:FIXED]))]
        if self.slosh is not None:
            kind = "rotations" if self.slosh.model == "pendulum" else "translations"
            joint = Joint(**{kind: "xy"}, q0=self.slosh.q0 if any(self.slosh.q0) else None)
            made.append(Body(self.slosh_name, parent=self.name, at=self.slosh.at, joint=joint, **_substance(now[FIXED:2 * FIXED])))
        return tuple(made)

    def knots(self) -> Array:
        """Masses of propellant between which its properties are cubic, or nearly."""
        found = [np.array([0.0, self.full])]
        found += [shape_knots(self.shape) * self.full] if self.shape is not None else []
        found += [np.array(each) for each in (self.levels and self.levels.mass, self.slosh and self.slosh.level) if each]
        every = np.unique(np.concatenate(found))
        return np.asarray(every[every <= self.full * (1 + 1e-12)])

    def cubics(self) -> tuple[Array, Array]:
        """Knots (n + 1,), and (n, columns, 4) of the coefficients of `properties` between them, each about the knot before.

        They go through four points, both ends among them: mass, moment and inertia of linear tables are cubics themselves.
        """
        knots = self.knots()
        length = np.diff(knots)[:, None]
        values = self._properties((knots[:-1, None] + length * _THIRDS).ravel()).reshape(len(length), 4, -1)
        c = np.einsum("ij,pjk->pki", np.linalg.inv(np.vander(_THIRDS, increasing=True)), values)
        return knots, np.asarray(c / length[..., None] ** np.arange(4))

    def properties(self, m: Array) -> Array:
        """(n, 10) of what is fixed in the tank, or (n, 22) with what sloshes, at the masses m: mass, first moment and inertia about
        the origin of each, then stiffness and damping of its coordinates, as the dynamics has them [B 87].
        """
        knots, c = self.cubics()
        piece = np.clip(np.searchsorted(knots, m, side="right") - 1, 0, len(c) - 1)
        return np.asarray(np.einsum("nki,ni->nk", c[piece], (m - knots[piece])[:, None] ** np.arange(4)))

    def _properties(self, m: Array) -> Array:
        """The same, as shape, levels and slosh say."""
        com, moments = self._settled(m)
        h, J = m[:, None] * com, np.einsum("ni,ij->nij", moments, np.eye(3)) + m[:, None, None] * point_inertia(com)
        if self.slosh is None:
            return np.column_stack([m, h, _upper(J)])
        slosh = self.slosh
        ms, length = np.maximum(slosh.over("mass", m), LEAST_SLOSH * self.full), slosh.over("length", m)
        bob = np.stack([0.0 * m, 0.0 * m, -length], axis=1)
        if self.shape is not None or self.levels is not None:           # fixed and sloshing, at rest, are all of it
            at = np.asarray(slosh.at) + bob
            h, J = h - ms[:, None] * at, J - ms[:, None, None] * point_inertia(at)
        lever = ms * length**2 if slosh.model == "pendulum" else ms
        stiffness, damping = lever * (2 * np.pi * slosh.over("frequency", m)) ** 2, 2 * slosh.decay * lever
        sloshing = _upper(ms[:, None, None] * point_inertia(bob))
        return np.column_stack([m - ms, h, _upper(J), ms, ms[:, None] * bob, sloshing, stiffness, damping])

    def _settled(self, m: Array) -> tuple[Array, Array]:
        """Mass centers, and moments of inertia about them, of all the propellant."""
        if self.shape is not None:
            com, unit = settled_in(self.shape, m / self.full)
            return com, m[:, None] * unit
        if self.levels is not None:
            com, moments = (np.stack([np.interp(m, self.levels.mass, column) for column in np.transpose(rows)], axis=1)
                            for rows in (self.levels.com, self.levels.inertia))
            return com, moments
        return np.zeros((len(m), 3)), np.zeros((len(m), 3))

    @property
    def drawn(self) -> float:
        """An upper bound of what its own flow takes over all time [kg]."""
        if not isinstance(self.flow, TimeTable):
            return np.inf if self.flow else 0.0
        t, values = np.asarray(self.flow.times), np.ravel(self.flow.values)
        if values[0] or values[-1]:
            return np.inf
        steps = values[:-1] if self.flow.kind == "hold" else 0.5 * (values[1:] + values[:-1])
        return float(steps @ np.diff(t)) * (1.5 if self.flow.kind == "cubic" else 1.0 + 1e-9)

    # ---- in its system -------------------------------------------------------------------------------------------------------
    def attachments(self) -> tuple[Attachment, ...]:
        return (Attachment(self.body, self.node, "a tank"), Attachment(self.exit.body, self.exit.node, "a nozzle", "nozzle"))

    def check(self, system: SystemView) -> Iterator[Finding]:
        """Its nozzle is on its body, or on one gimbaled on it."""
        exit, bodies = self.exit, system.bodies
        if self.body not in bodies or exit.body not in bodies or self.gimballed(bodies) is not None:
            return
        text = (f"nozzle is on {exit.body!r}, which is neither {self.body!r} nor a body that only turns on it: how propellant gets "
                "there is not known; put tank and nozzle on one body")
        yield Finding(text, ("nozzle", "body"))

    def gimballed(self, bodies: dict[str, Body]) -> bool | None:
        """Whether its nozzle turns on its body; None: it is elsewhere."""
        exit = self.exit
        if exit.body == self.body:
            return False if exit.node == self.node else None
        carrier = bodies[exit.body]
        turns = not carrier.joint.translations and carrier.flexible is None and carrier.parent == self.body
        return True if turns and carrier.node == self.node else None

    def load_line(self) -> str:
        return f"tank {self.name} on {self.body}, {self.mass:g} kg"

    def nonconservative_effects(self) -> tuple[str, ...]:
        return ("propellant",)

    def external_effects(self) -> tuple[str, ...]:
        return ("thrust",)


def _upper(J: Array) -> Array:
    return np.asarray(J[..., [0, 0, 0, 1, 1, 2], [0, 1, 2, 1, 2, 2]])


def full(six: Array) -> Array:
    """(..., 3, 3): the symmetric matrices whose upper triangles (..., 6) are given, row by row."""
    return np.asarray(six[..., [[0, 1, 2], [1, 3, 4], [2, 4, 5]]])


def _substance(ten: Array) -> dict[str, Any]:
    """Mass, com and central inertia of a Body; nothing if it has no mass."""
    m, h, J = float(ten[0]), ten[1:4], full(ten[4:10])
    if m <= 0.0:
        return {}
    central = J - m * point_inertia(h / m)
    central[np.abs(central) < 1e-12 * max(abs(J).max(), 1e-300)] = 0.0
    return {"mass": m, "com": (h / m).tolist(), "inertia": central.tolist(), "idealized": True}


Settled = tuple[Array, Array]             # (n, 3) mass centers, (n, 3) principal moments of inertia about them, in tank axes
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(4)           # exact for the slices of a sphere, of degree 6 in the height


def settled_in(shape: Any, share: Array) -> Settled:
    """Of a unit mass of propellant in a box, a cylinder or a sphere, by the share of the volume that it fills."""
    match shape:
        case Box(size=(x, y, z)):
            return _upright(share, z, (x**2 / 12, y**2 / 12))
        case Cylinder(radius=radius, length=length):
            return _upright(share, length, (radius**2 / 4,) * 2)
    return _in_sphere(share, shape.radius)


def _upright(share: Array, length: float, square: tuple[float, float]) -> Settled:
    """In an upright tank: `square` are the second moments of a unit mass of a slice along x and y."""
    height, com = share * length, np.zeros((len(share), 3))
    com[:, 2] = 0.5 * (height - length)
    xx, yy, zz = np.full_like(height, square[0]), np.full_like(height, square[1]), height**2 / 12
    return com, np.stack([yy + zz, xx + zz, xx + yy], axis=1)


def _in_sphere(share: Array, R: float) -> Settled:
    """The height z of a share phi of the volume solves phi = 3 x^2 - 2 x^3, x = z/2R."""
    height = 2 * R * (0.5 - np.sin(np.arcsin(1.0 - 2.0 * np.clip(share, 1e-12, 1.0)) / 3.0))
    z = 0.5 * height[:, None] * (1.0 + _NODES)                          # heights of slices above the bottom
    a = 2 * R * z - z**2                                                # radii squared
    weight = a * _WEIGHTS
    weight /= weight.sum(axis=1, keepdims=True)
    com = np.zeros((len(share), 3))
    com[:, 2] = (weight * (z - R)).sum(axis=1)
    xx, zz = (weight * a / 4).sum(axis=1), (weight * (z - R) ** 2).sum(axis=1) - com[:, 2] ** 2
    return com, np.stack([xx + zz, xx + zz, 2 * xx], axis=1)


def shape_knots(shape: Shape) -> Array:
    """Shares between which cubics in the mass follow the propellant: one is exact but in a sphere, whose level is not a polynomial
    of the mass, and falls with its root near the ends.
    """
    return 0.5 - 0.5 * np.cos(np.pi * np.linspace(0.0, 1.0, 49)) if isinstance(shape, Sphere) else np.array([0.0, 1.0])
