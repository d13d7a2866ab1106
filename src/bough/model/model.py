"""The model: a thin interface to the analyses, for one state or a batch."""
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
from numpy import empty
from numpy.typing import ArrayLike

from bough import analyze, compile as builders
from bough.analyze import body_motion, equations_of_motion
from bough.compile.batch import Batch, InputOptions, Place, array, fill, rows
from bough.compile.compiled_model import REST
from bough.compile.coordinates import body_parameters, maybe_invalid_members, member_of
from bough.compile.kernel_calls import fits
from bough.compile.layout import Floats
from bough.describe import Body, Frame
from bough.describe.system import outline
from bough.errors import ModelError, StateError
from bough.model.linear_calls import LinearCalls

if TYPE_CHECKING:
    from bough.analyze.bodies import Bodies
    from bough.analyze.counting import OperationCounts
    from bough.analyze.cuts import CutLoads
    from bough.analyze.dynamics_derivatives import ForwardDerivatives, InverseDerivatives
    from bough.analyze.loop_constraints import Freedom
    from bough.analyze.operators import Operators
    from bough.analyze.partition_table import PartitionTable


class Model(LinearCalls):
    """A compiled system: forward and inverse dynamics, mass matrix, reactions, energies, kinematics.

    Every call takes one state (`q` of length nq) or a batch (leading axis), which runs in SIMD lanes; results then have a leading
    batch axis too. The model's own springs, dampers, time tables, wrenches and force elements always act, at time `t`; `tau` and
    `wrenches` are added.

    The same names mean the same in all calls:

    - `q`, `v`, `a`, `tau`: coordinates, speeds, accelerations v', joint torques and forces
    - `dynamics`: how the equations are solved: "order-n", hinge by hinge; "dense", with the mass matrix; "cloud", with only the six
      equations of a floating base, if all other motion is prescribed; or "auto"
    - `out`: an array to hold the result

    and `**inputs` are these keywords:

    - `wrenches`: a mapping from bodies, or (body, node) for flexible ones, to [moment, force] about the origin of that frame
    - `frame`: the axes of the wrenches, "body" or "world"
    - `inputs`: a mapping from inputs of the description to their values; default zero
    - `t`: the time, for time tables and prescribed motions; default 0
    - `wheels`: (nw,) speeds of the wheels relative to their bodies; default: those of the description
    - `motors`: (nw,) motor torques of the wheels, added to those of the description
    - `orbit`: (6,) position and velocity of the mass center, with central gravity; default: that of the description
    - `tanks`: mass of propellant in each tank; default: that of the description

    Examples
    --------
    >>> import bough
    >>> s = bough.System("pendulum", gravity=(0, 0, -9.81))
    >>> _ = s.body("bob", joint=bough.Revolute("y"), mass=2.0, com=(0, 0, -1))
    >>> model = s.compile()
    >>> model.nv, model.names.v
    (1, ('bob.ry',))
    >>> float(model.forward_dynamics([0.1], [0.0]).round(6)[0])
    -0.979366
    """

    # ---- held coordinates, and parameters ------------------------------------------------------------------------
    def follow(self, q: ArrayLike, v: ArrayLike, t: float = 0.0) -> tuple[Floats, Floats]:
        """The state with prescribed coordinates set to their values at the time t [s], and locked ones at rest."""
        batch = self.batch(q, v)
        state = self.state(batch.x.copy())
        self.follow_motions(state.x, t)
        return batch.unbatched(state.q), batch.unbatched(state.v)

    def parameter_tables(self, changes: Mapping[str, ArrayLike]) -> Floats:
        """Parameters of the tables with one row for each member of a batch of parameter sets {"body.mass": [...], ...}."""
        pars = analyze.parameter_rows.parameter_rows(self, changes)
        own = analyze.parameter_rows.parted(self.system, changes)[0]
        for member in maybe_invalid_members(self.system, own) if own else ():
            try:
                self.with_parameters(member_of(changes, member))
            except ModelError as error:
                raise ModelError(f"member {member} of the batch: {error}") from None
        return pars

    def with_parameters(self, changes: Mapping[str, ArrayLike]) -> "Model":
        """A model with some numbers of the description changed: parameters of bodies, joints, modes and all other parts by name,
        {"boom.mass": 3.0, "boom.com": (1, 0, 0), "boom.stiffness": 20.0, ...}."""
        own, others = analyze.parameter_rows.parted(self.whole, changes)
        described = analyze.parameter_rows.changed_system(self.whole, others)
        lists = {key: np.asarray(value, float)[None] for key, value in own.items()}
        parameters, system = body_parameters(described, lists or None), described.copy()
        for name, body in described.bodies.items():
            p, fields = parameters[name], {field: getattr(body, field) for field in Body.model_fields}
            substance = {"mass": p.mass[0], "com": p.com[0], "inertia": p.inertia[0]}
            shapes = [shape.model_copy(update={"density": None}) for shape in body.shapes]       # the mass is given now
            given = fields | (substance if body.flexible is None else dict.fromkeys(substance)) | {"at": p.at[0], "shapes": shapes}
            system.bodies[name] = Body(**{field: value for field, value in given.items() if value is not None})
        model: Model = system.compile()
        return model

    # ---- dynamics -------------------------------------------------------------------------------------------
    def forward_dynamics(self, q: ArrayLike, v: ArrayLike, tau: ArrayLike | None = None, *, dynamics: str = "auto",
                         method: str | None = None, out: Floats | None = None, **inputs: Unpack[InputOptions]) -> Floats:
        """Accelerations v' under joint torques and wrenches, (nv,); `method` is an alias of `dynamics`."""
        chosen = dynamics if method is None else method
        ready = self.ready(equations_of_motion.prepare_forward, chosen)
        if ready.solves(q, v, self.still if tau is None else tau, None, inputs):
            return ready.give(out)
        batch = self.batch(q, v, tau, **inputs)
        return batch.give(equations_of_motion.forward(self, batch, chosen).v, out)

    def forward_dynamics_derivatives(self, q: ArrayLike, v: ArrayLike, tau: ArrayLike | None = None, *,
                                     parameters: Sequence[str] = (), outputs: Iterable[str] | None = (),
                                     **inputs: Unpack[InputOptions]) -> "ForwardDerivatives":
        """Derivatives of v' = forward_dynamics(q, v, tau) by q, v, tau, wheel speeds, inputs and parameters.

        Derivatives by q are along the directions of v: for a rotation, also a quaternion, by an angle about each axis of the outer
        body. With closed loops, they are derivatives of the constrained accelerations.

        Parameters
        ----------
        parameters : sequence of str
            Parameters of the description for further derivatives: "boom.mass", "boom.com", "elbow.stiffness", "panel.frequency",
            "mooring.length", "gravity"; an entry of an array as "boom.com[2]".
        outputs : iterable of str, optional
            Outputs of the description whose derivatives are also computed; None: all of them.

        Examples
        --------
        >>> import bough
        >>> s = bough.System("pendulum", gravity=(0, 0, -9.81))
        >>> _ = s.body("bob", joint=bough.Revolute("y", damping=0.5), mass=2.0, com=(0, 0, -1))
        >>> found = s.compile().forward_dynamics_derivatives([0.0], [1.0], parameters=["bob.damping"])
        >>> found.dq.round(6), found.dv.round(6), found.dtau.round(6), found.dparameters["bob.damping"].round(6)
        (array([[-9.81]]), array([[-0.25]]), array([[0.5]]), array([-0.5]))
        """
        if not (inputs or parameters or outputs is None or outputs):
            quick = self._ready.derivatives
            if quick is None:
                quick = self._ready.derivatives = analyze.dynamics_derivatives.prepare_derivatives(self)
            found: ForwardDerivatives | None = quick(q, v, self.still if tau is None else tau)
            if found is not None:
                return found
        batch, named = self.batch(q, v, tau, **inputs), [parameters] if isinstance(parameters, str) else list(parameters)
        return analyze.dynamics_derivatives.forward_derivatives(self, batch, named, outputs)

    def wheel_accelerations(self, q: ArrayLike, v: ArrayLike, tau: ArrayLike | None = None, *, dynamics: str = "auto",
                            **inputs: Unpack[InputOptions]) -> Floats:
        """Accelerations of the wheels relative to their bodies, (nw,); zero where a wheel's speed is held."""
        batch = self.batch(q, v, tau, **inputs)
        return batch.unbatched(equations_of_motion.forward(self, batch, dynamics).wheels)

    def resolve_dynamics(self, dynamics: str = "auto") -> str:
        """The method that "auto" selects for this model with its current holds; or the requested method, if it applies.

        This is the momentum cloud if most of the motion is prescribed, the mass matrix for small flexible systems, and O(N)
        otherwise."""
        return equations_of_motion.resolve_dynamics(self, dynamics)

    def inverse_dynamics(self, q: ArrayLike, v: ArrayLike, a: ArrayLike, *, driven: Sequence[str] | None = None,
                         out: Floats | None = None, **inputs: Unpack[InputOptions]) -> Floats:
        """Joint torques that produce the accelerations `a`, in addition to the model's own springs, tables and wrenches, (nv,).

        Closed loops constrain some motions, so many sets of torques produce the same accelerations. The returned set has the least
        sum of squares (N and N m alike), together with the loop forces that go with it. The accelerations must be consistent with
        the loops to a millionth, as those of `forward_dynamics` are.

        Parameters
        ----------
        driven : sequence of str, optional
            Coordinates or joints that have motors, by default all; the torques of all others are zero. If these cannot produce the
            accelerations, the error names a coordinate that lacks a torque.
        """
        ready = self.ready(equations_of_motion.prepare_inverse)
        if driven is None and not self.constrained and ready.solves(q, v, a, None, inputs):
            return ready.give(out)
        batch, given = self._with_accelerations(q, v, None, a, inputs)
        return batch.give(analyze.reactions.driving_torques(self, batch, given, driven), out)

    def inverse_dynamics_derivatives(self, q: ArrayLike, v: ArrayLike, a: ArrayLike, *, parameters: Sequence[str] = (),
                                     **inputs: Unpack[InputOptions]) -> "InverseDerivatives":
        """Derivatives of the joint torques M a + h by q, v, a, wheel speeds, inputs and parameters.

        Derivatives by q are along the directions of v, and `parameters` are named, as in `forward_dynamics_derivatives`. Loops are
        open, as in `bias`.

        Examples
        --------
        >>> import bough
        >>> s = bough.System("pendulum", gravity=(0, 0, -10))
        >>> _ = s.body("bob", joint=bough.Revolute("y"), mass=2.0, com=(0, 0, -1))
        >>> found = s.compile().inverse_dynamics_derivatives([0.0], [0.0], [0.0], parameters=["bob.mass"])
        >>> found.dq.round(9), found.da.round(9), found.dparameters["bob.mass"].round(9)
        (array([[20.]]), array([[2.]]), array([0.]))
        """
        if not (inputs or parameters):
            found: InverseDerivatives | None = self.ready(analyze.dynamics_derivatives.prepare_derivatives, True)(q, v, a)
            if found is not None:
                return found
        batch, given = self._with_accelerations(q, v, None, a, inputs)
        named = [parameters] if isinstance(parameters, str) else list(parameters)
        return analyze.dynamics_derivatives.inverse_derivatives(self, batch, given, named)

    def bias(self, q: ArrayLike, v: ArrayLike, *, out: Floats | None = None, **inputs: Unpack[InputOptions]) -> Floats:
        """h in M a + h = tau, (nv,): the torques for zero accelerations with all loops open."""
        ready = self.ready(equations_of_motion.prepare_inverse)
        if ready.solves(q, v, self.still, None, inputs):
            return ready.give(out)
        batch, still = self._with_accelerations(q, v, None, self.still, inputs)
        return batch.give(equations_of_motion.inverse(self, batch, still), out)

    def mass_matrix(self, q: ArrayLike, *, tanks: ArrayLike | None = None, out: Floats | None = None) -> Floats:
        """M(q), (nv, nv), from composite bodies."""
        ready = self.ready(equations_of_motion.prepare_mass_matrix)
        if tanks is None and ready.solves(q):
            return ready.give(out)
        batch = self.batch(q, tanks=tanks)
        return batch.give(equations_of_motion.mass_matrices(self, batch), out)

    # ---- loads -----------------------------------------------------------------------------------------------
    def reactions(self, q: ArrayLike, v: ArrayLike, a: ArrayLike, tau: ArrayLike | None = None,
                  **inputs: Unpack[InputOptions]) -> Floats:
        """(bodies, 6): the load [moment, force] that the parent exerts on each body through its joint, at the joint's origin on the
        body, in the body's axes.

        Joint torques `tau` matter only with closed loops, which must provide whatever the torques do not."""
        batch, given = self._with_accelerations(q, v, tau, a, inputs)
        return batch.unbatched(analyze.reactions.reactions(self, batch, given))

    def drive_forces(self, q: ArrayLike, v: ArrayLike, tau: ArrayLike | None = None,
                     **inputs: Unpack[InputOptions]) -> dict[str, Floats]:
        """For each locked or prescribed coordinate, the force or torque that holds it, in addition to `tau`, springs and dampers.

        Where loops share the load with drives, the solution with the least loop forces."""
        batch = self.batch(q, v, tau, **inputs)
        return {name: batch.unbatched(force) for name, force in analyze.reactions.drive_forces(self, batch).items()}

    def constraint_forces(self, q: ArrayLike, v: ArrayLike, tau: ArrayLike | None = None, *, dynamics: str = "auto",
                          **inputs: Unpack[InputOptions]) -> dict[str, Floats]:
        """For each loop, (6,): the constraint load [moment, force] that the body of its frame a exerts on the body of frame b, at
        the origin of frame b, in its axes. For redundant loops, the forces with the least sum of squares."""
        batch = self.batch(q, v, tau, **inputs)
        found = analyze.loop_forces.constraint_forces(self, batch, dynamics)
        return {name: batch.unbatched(force) for name, force in found.items()}

    def element_forces(self, q: ArrayLike, v: ArrayLike | None = None) -> dict[str, Any]:
        """By name, the loads of force elements, as recorded in results: for a line its tension, N; for the others (6,), [moment,
        force] on a body at one of its points, for instance for a restoring in world axes. Without v, at rest."""
        bodies = self.bodies(q, v)
        pairs = zip(self.system.elements.values(), builders.element_tables.exerted(bodies.elements), strict=True)
        return {element.name: bodies.unbatched(element.values(each, bodies)[element.load]) for element, each in pairs}

    def internal_loads(self, q: ArrayLike, v: ArrayLike, a: ArrayLike, tau: ArrayLike | None = None, *, cut: str | Sequence[str],
                       at: ArrayLike = (0.0, 0.0, 0.0), axes: str = "child", driven: Sequence[str] = (),
                       **inputs: Unpack[InputOptions]) -> "CutLoads":
        """Loads [moment, force] through joints and loops.

        In a tree, and in loops that are not redundant, the dynamics determines all loads. In redundant loops some remain
        undetermined: self-equilibrated forces, such as the force along the line between two ball joints. The result lists them by
        name, and does not return such components.

        Parameters
        ----------
        cut : str or sequence of str
            The name of a joint, a body (its joint) or a loop: the load of the parent (a) on the child (b). Or a list of such names
            that splits the system in two: the load of the part with the world on the other part.
        at : array_like
            The reference point of moments, from the joint's origin on the child, in the child's axes (loop: frame b).
        axes : {"child", "parent", "world"}
            Axes of the loads; for a loop, those of frame b, of frame a, or of the world.
        driven : sequence of str
            Coordinates or joints driven by unknown torques; all others have tau and the springs, dampers and torques of the
            description.

        Examples
        --------
        >>> import bough
        >>> s = bough.System("bridge", gravity=(0, 0, -10))
        >>> _ = s.body("beam", joint=bough.Spherical(), mass=6.0, com=(1, 0, 0), inertia=(0.1, 2, 2))
        >>> _ = s.loop("east", joint=bough.Spherical(), a=bough.Frame("world", at=(2, 0, 0)), b=bough.Frame("beam", at=(2, 0, 0)))
        >>> model = s.compile()
        >>> model.internal_loads(model.q0, model.v0, [0, 0, 0], cut=["beam", "east"])
        CutLoads in child axes
                              mx         my         mz         fx         fy         fz  (N m, N)
          beam on beam          0          0          0       open          0         30
          east on beam          0          0          0       open          0         30
          not determined: the force along the line between 'beam' and 'east'
        """
        batch, given = self._with_accelerations(q, v, tau, a, inputs)
        return analyze.internal_loads.internal_loads(self, batch, given, cut=cut, at=at, axes=axes, driven=driven)

    def momentum_loads(self, q: ArrayLike, v: ArrayLike, a: ArrayLike, joint: str, **inputs: Unpack[InputOptions]) -> Floats:
        """(6,): the load through one joint, as in `reactions`, computed from the momentum of everything it carries."""
        batch, given = self._with_accelerations(q, v, None, a, inputs)
        return batch.unbatched(analyze.momentum.momentum_loads(self, batch, given, joint))

    # ---- loops -----------------------------------------------------------------------------------------------
    def assemble(self, q: ArrayLike | None = None, v: ArrayLike | None = None, *,
                 hold: Sequence[str] = ()) -> tuple[Floats, Floats]:
        """The state nearest to q, v (by default those of the description) that closes all loops, in position and velocity.

        Nearest is in terms of kinetic energy; the coordinates or joints in `hold` keep their values."""
        batch = self.batch(self.q0 if q is None else q, self.v0 if v is None else v)
        closed_q, closed_v = analyze.loop_constraints.assemble(self, batch, hold)
        return batch.unbatched(closed_q), batch.unbatched(closed_v)

    def loop_gaps(self, q: ArrayLike, v: ArrayLike | None = None) -> dict[str, Floats]:
        """For each loop, its gap: one number per constrained motion, m or rad; with v, also the gap rates."""
        batch = self.batch(q, REST if v is None else v)
        weights = analyze.loop_rows.POSITION if v is None else analyze.loop_rows.SPEED
        return {name: batch.unbatched(gap) for name, gap in analyze.loop_constraints.loop_gaps(self, batch, weights).items()}

    def freedom(self, q: ArrayLike | None = None) -> "Freedom":
        """Degrees of freedom at one position (by default that of the description), and the constraints that are redundant there."""
        return analyze.loop_constraints.freedom_at(self, self.q0 if q is None else q)

    # ---- structure -------------------------------------------------------------------------------------------
    def operation_counts(self, dynamics: str = "auto", *, q: ArrayLike | None = None,
                         v: ArrayLike | None = None) -> "OperationCounts":
        """Multiplications, additions and other operations of one evaluation of the accelerations, by part of the algorithm.

        They are counted, not estimated: the sweeps run once as plain Python, with numbers that count operations. This takes a
        second, plus some seconds per million operations.

        The state, by default the initial one, matters only with closed loops.

        Examples
        --------
        >>> import bough
        >>> s = bough.System("pendulum")
        >>> _ = s.body("bob", joint=bough.Revolute("y"), mass=2.0, com=(0, 0, -1))
        >>> counts = s.compile().operation_counts("dense")
        >>> counts.parts["factors"].divisions, counts.parts["solution"].multiplications
        (1, 1)
        """
        q0, v0 = self.assemble()
        batch = self.batch(q0 if q is None else q, v0 if v is None else v)
        if not batch.single:
            raise StateError(f"q has {batch.n} rows; operations are counted for one state, give {self.nq} numbers")
        return analyze.counting.operation_counts(self, batch, self.resolve_dynamics(dynamics))

    def partition(self) -> "PartitionTable":
        """The primitive hinges and massless bodies into which the compiler split the joints; prints as a table."""
        return analyze.partition_table.partition_table(self)

    def operators(self, q: ArrayLike, v: ArrayLike | None = None, *, whole: bool = False,
                  **inputs: Unpack[InputOptions]) -> "Operators":
        """The spatial operators at one state, over the links of the partition or, for comparison, over `whole` joints.

        They are those of the tree, with loops open, and depend only on q; their accelerations() also depends on the other
        arguments. Without v, at rest."""
        tree = self.without_loops()
        return analyze.operators.spatial_operators.operators_of(tree, tree.batch(q, REST if v is None else v, **inputs), whole)

    # ---- kinematics, energy, momentum ------------------------------------------------------------------------
    def bodies(self, q: ArrayLike, v: ArrayLike | None = None, a: ArrayLike | None = None,
               **inputs: Unpack[InputOptions]) -> "Bodies":
        """Positions, attitudes, velocities and accelerations of all bodies and nodes, energies and momenta, in world axes.

        The arrays of `Bodies` always have a leading batch axis, of length 1 for one state. Without v and a, at rest."""
        batch, given = self._with_accelerations(q, REST if v is None else v, None, np.zeros(self.nv) if a is None else a, inputs,
                                                keep_welds=True)
        return analyze.bodies.observe(self, batch, given)

    def pose(self, q: ArrayLike, place: Place, point: ArrayLike | None = None) -> tuple[Floats, Floats]:
        """Position and attitude of a body frame, a node, or a point on either, in world axes.

        Parameters
        ----------
        place : str, (str, str) or Frame
            A body: its frame; the node of a flexible body; or a Frame.
        point : array_like, optional
            A point fixed in that frame, in its axes [m]; by default its origin.

        Returns
        -------
        position, attitude : ndarray
            (3,), and the rotation matrix from the frame's axes to world axes, (3, 3).

        Examples
        --------
        >>> import bough
        >>> s = bough.System("pendulum")
        >>> _ = s.body("bob", joint=bough.Revolute("y"), mass=2.0, com=(0, 0, -1))
        >>> position, attitude = s.compile().pose([0.1], "bob", point=(0, 0, -1))
        >>> position.round(4).tolist()
        [-0.0998, 0.0, -0.995]
        """
        ready = self.ready(body_motion.prepare_poses, (place,), point is not None)
        position, attitude = empty(3), empty((3, 3))
        if ready.solves(q, point, position, attitude):
            return position, attitude
        positions, attitudes = body_motion.poses(self, self.batch(q, keep_welds=True), [place], point)
        return positions[..., 0, :], attitudes[..., 0, :, :]

    def frames(self, q: ArrayLike, places: Sequence[Place] | None = None) -> tuple[Floats, Floats]:
        """Positions (places, 3) and attitudes (places, 3, 3) of several frames at once; by default of all bodies."""
        if places is not None and (isinstance(places, str | Frame) or not isinstance(places, Iterable) or len(places) == 0):
            raise StateError(f"places is {places!r}; give a list of bodies, (body, node) or Frames")
        ready = self.ready(body_motion.prepare_poses, None if places is None else tuple(places), False)
        n = len(self.names.bodies if places is None else places)
        answers = empty((n, 3)), empty((n, 3, 3))
        if ready.solves(q, None, *answers):
            return answers
        return body_motion.poses(self, self.batch(q, keep_welds=True), self.names.bodies if places is None else places)

    def velocity(self, q: ArrayLike, v: ArrayLike, place: Place, point: ArrayLike | None = None) -> Floats:
        """(6,): [angular, linear] velocity of a frame or point, as in `pose`; world axes."""
        ready = self.ready(body_motion.prepare_motion, "velocity", place, point is not None)
        if ready.solves(q, v, self.still, point):
            return ready.give(None)
        batch = self.batch(q, v, keep_welds=True)
        route = body_motion.route_of(self, batch.tables, [place], point)
        return batch.unbatched(body_motion.motion_along(self, batch, np.zeros((1, self.nv)), route).velocity[:, 0])

    def acceleration(self, q: ArrayLike, v: ArrayLike, a: ArrayLike | None, place: Place, point: ArrayLike | None = None) -> Floats:
        """(6,): [angular, linear] acceleration of a frame or point, as in `pose`; world axes, without gravity.

        It is J a + J' v. Without accelerations, a = None, it is J' v, the velocity-product term."""
        ready = self.ready(body_motion.prepare_motion, "acceleration", place, point is not None)
        a = self.still if a is None else a
        if ready.solves(q, v, a, point):
            return ready.give(None)
        batch, given = self._with_accelerations(q, v, None, a, {}, keep_welds=True)
        route = body_motion.route_of(self, batch.tables, [place], point)
        return batch.unbatched(body_motion.motion_along(self, batch, given, route).acceleration[:, 0])

    def jacobian(self, q: ArrayLike, place: Place, point: ArrayLike | None = None, *, out: Floats | None = None) -> Floats:
        """(6, nv): Jacobian of the [angular, linear] velocity of a frame or point, as in `pose`; world axes.

        Modes of flexible bodies on the path have columns as joints do."""
        try:
            ready = self._ready.calls[place if point is None else (body_motion.prepare_jacobian, place, True)]  # a place: faster
        except (KeyError, TypeError):
            ready = self.ready(body_motion.prepare_jacobian, place, point is not None)
            if point is None:
                self._ready.calls[place] = ready
        J = empty(ready.shape) if out is None else out
        if (out is None or fits(out, ready.shape)) and ready.solves(q, point, J):
            return J
        J = body_motion.jacobian_of(self, self.batch(q, keep_welds=True), place, point)
        return J if out is None else fill(out, J)

    def jacobian_rate(self, q: ArrayLike, v: ArrayLike, place: Place, point: ArrayLike | None = None, *,
                      out: Floats | None = None) -> Floats:
        """(6, nv): J', the time derivative of `jacobian` at the speeds v; world axes.

        The acceleration is J a + J' v, see `acceleration`; places and points are as in `pose`.

        Examples
        --------
        >>> import bough
        >>> s = bough.System("pendulum")
        >>> _ = s.body("bob", joint=bough.Revolute("y"), mass=2.0, com=(0, 0, -1))
        >>> s.compile().jacobian_rate([0.0], [3.0], "bob", point=(0, 0, -1))[5].tolist()     # centripetal: 3 rad/s times 1 m
        [3.0]
        """
        ready = self.ready(body_motion.prepare_jacobian, place, point is not None, True)
        J = empty(ready.shape) if out is None else out
        if (out is None or fits(out, ready.shape)) and ready.solves_moving(q, v, point, J):
            return J
        J = body_motion.jacobian_of(self, self.batch(q, v, keep_welds=True), place, point, rate=True)
        return J if out is None else fill(out, J)

    def outputs(self, q: ArrayLike, v: ArrayLike | None = None, tau: ArrayLike | None = None, *, names: Iterable[str] | None = None,
                **inputs: Unpack[InputOptions]) -> dict[str, Any]:
        """Values of the outputs of the description, by name: a number, or an array.

        Accelerations, and quantities that depend on them, are those under the given torques and inputs. `names` selects outputs, by
        default all of them. Without v, at rest.

        Examples
        --------
        >>> import bough
        >>> s = bough.System("pendulum", gravity=(0, 0, -9.81))
        >>> _ = s.body("bob", joint=bough.Revolute("y"), mass=2.0, com=(0, 0, -1))
        >>> _ = s.input("motor", coordinate="bob")
        >>> _ = s.output("angle", coordinate="bob")
        >>> _ = s.output("accelerometer", felt_acceleration=bough.Frame("bob", at=(0, 0, -1)), axes="body")
        >>> y = s.compile().outputs([0.0], [3.0], inputs={"motor": 4.0})
        >>> y["angle"], y["accelerometer"].round(2).tolist()
        (0.0, [-2.0, 0.0, 18.81])
        """
        batch = self.batch(q, REST if v is None else v, tau, **inputs)
        found = {}
        for name, rows_of in analyze.signals.outputs(self, batch, names).items():
            value = rows_of if self.system.outputs[name].components != ("",) else rows_of[:, 0]
            found[name] = float(value[0]) if batch.single and value.ndim == 1 else batch.unbatched(value)
        return found

    def kinetic_energy(self, q: ArrayLike, v: ArrayLike, *, wheels: ArrayLike | None = None,
                       orbit: ArrayLike | None = None, tanks: ArrayLike | None = None) -> Any:
        """Kinetic energy, J, including wheels and, in orbit, that of the mass center. A float, or (batch,)."""
        return self.bodies(q, array("v", v, self.nv), wheels=wheels, orbit=orbit, tanks=tanks).answer("kinetic_energy")

    def potential_energy(self, q: ArrayLike, *, orbit: ArrayLike | None = None, tanks: ArrayLike | None = None) -> Any:
        """Potential energy of gravity, springs, force elements and strain, J; for uniform gravity it is zero at the world's
        origin.

        A float, or (batch,)."""
        return self.bodies(q, orbit=orbit, tanks=tanks).answer("potential_energy")

    def momentum(self, q: ArrayLike, v: ArrayLike, *, wheels: ArrayLike | None = None, tanks: ArrayLike | None = None) -> Floats:
        """(6,): [angular about the system's mass center, linear], world axes, wheels included."""
        return self.bodies(q, array("v", v, self.nv), wheels=wheels, tanks=tanks).answer("momentum")

    def center_of_mass(self, q: ArrayLike, *, tanks: ArrayLike | None = None) -> Floats:
        """(3,): mass center of the whole system, world axes."""
        return self.bodies(q, tanks=tanks).answer("center_of_mass")

    def _with_accelerations(self, q: ArrayLike, v: ArrayLike, tau: ArrayLike | None, a: ArrayLike, inputs: InputOptions, *,
                            keep_welds: bool = False) -> tuple[Batch, Floats]:
        """A batch and its accelerations, in rows; accelerations with a leading axis make it a batch, too."""
        batch, given = self.batch(q, v, tau, **inputs, keep_welds=keep_welds), array("a", a, self.nv)
        if given.ndim > 1:
            batch = replace(batch, single=False)
        return batch, rows("a", given, self.nv, batch.n, self.names.v)

    def __repr__(self) -> str:
        return "Model" + outline(self.system).removeprefix("System")
