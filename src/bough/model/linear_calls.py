"""The linear analyses of a model: linear systems, equilibria, modes."""
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Unpack

from numpy.typing import ArrayLike

from bough import analyze
from bough.compile.batch import Batch, StateOptions
from bough.compile.compiled_model import CompiledModel
from bough.errors import StateError

if TYPE_CHECKING:
    from bough.analyze.linear import LinearSystem
    from bough.analyze.linear.system_modes import Modes
    from bough.analyze.linear.trim import Trim


class LinearCalls(CompiledModel):
    """Linear analyses of small deviations from a motion.

    The motion is given by one state: `q`, `v` (by default those of the description, with loops assembled), `tau` (zero), and
    wrenches, frame, t, wheels, motors, orbit, tanks as in other calls, see `Model`."""

    def linearize(self, q: ArrayLike | None = None, v: ArrayLike | None = None, tau: ArrayLike | None = None, *,
                  inputs: Mapping[str, ArrayLike] | Sequence[str] | None = None, outputs: Sequence[str] | None = None,
                  laws: Sequence[Any] = (), law_states: ArrayLike | None = None, independent: Sequence[str] | None = None,
                  at: Mapping[str, ArrayLike] | None = None, dt: float | None = None, hold: str = "zoh",
                  **more: Unpack[StateOptions]) -> "LinearSystem":
        """The linear equations of small deviations from the motion through a state: x' = A x + B u, y = C x + D u.

        States are deviations of coordinates ("arm.ry"; for a quaternion the small rotations "bus.rx" about the body's axes) and of
        speeds ("arm.ry rate", "bus.wx"), speeds of driven wheels, the orbit, and states of laws. Closed loops are reduced exactly
        to independent coordinates; held coordinates and wheels do not deviate. Rotations are measured along the motion;
        translations of a rotating free base, and the orbit, are measured in axes that rotate with them: a steady spin and a
        circular orbit are equilibria.

        Parameters
        ----------
        inputs : mapping or sequence of str, optional
            {input: value} at the state, as in all calls; or a list of the inputs to use. The default list is the inputs of the
            description or, if it has none, forces along all free coordinates and motors of driven wheels.
        outputs : sequence of str, optional
            Outputs, or names of coordinates and speeds; by default the outputs of the description or, if it has none, all free
            coordinates and speeds.
        laws : sequence of `bough.controller`, optional
            Compiled laws without a period, which close the loop.
        law_states : array_like, optional
            Their states, one law after the other; by default their initial values.
        independent : sequence of str, optional
            With loops: coordinates to use as states.
        at : mapping, optional
            {input: value} at the state, where `inputs` is a list of names.
        dt : float, optional
            A sample time [s], for a discrete system.
        hold : {"zoh", "foh", "tustin"}
            Inputs between samples, see `LinearSystem.discretize`.

        Returns
        -------
        LinearSystem
            `print` shows whether the state is an equilibrium and, if not, the residual.

        Examples
        --------
        >>> import bough
        >>> s = bough.System("pendulum", gravity=(0, 0, -9.81))
        >>> _ = s.body("bob", joint=bough.Revolute("y"), mass=2.0, com=(0, 0, -1))
        >>> linear = s.compile().linearize()
        >>> linear.states, linear.inputs
        (('bob.ry', 'bob.ry rate'), ('bob.ry',))
        >>> linear.A.round(6).tolist(), linear.B.round(6).tolist()
        ([[0.0, 1.0], [-9.81, 0.0]], [[0.0], [0.5]])
        """
        if dt is None and hold != "zoh":
            raise StateError(f"linearize: hold is {hold!r}, but there is no sample time; give dt, too, or leave hold out")
        batch = self._one_state(q, v, tau, inputs_at(inputs, at), more, "linearize")
        request = analyze.linear.call_arguments.Request(inputs, outputs, laws, law_states, independent)
        found, _ = analyze.linear.call_arguments.linearized(self.with_tanks(batch.x[0]), batch, request)
        return found if dt is None else found.discretize(dt, hold)

    def modes(self, q: ArrayLike | None = None, v: ArrayLike | None = None, tau: ArrayLike | None = None, *,
              inputs: Mapping[str, ArrayLike] | Sequence[str] | None = None, outputs: Sequence[str] | None = None,
              laws: Sequence[Any] = (), law_states: ArrayLike | None = None, independent: Sequence[str] | None = None,
              at: Mapping[str, ArrayLike] | None = None, **more: Unpack[StateOptions]) -> "Modes":
        """The modes of the whole system about the motion through a state: frequencies, damping, shapes, participation.

        Joints, flexible bodies, springs, loops, wheels, spin, gravity, orbit and compiled laws are all included. Parameters are
        those of `linearize`.

        Returns
        -------
        Modes
            `frequencies` in Hz, `damping` ratios, complex `shapes`, shares of `joints` and `bodies`, `residues` from inputs to
            outputs, the number of `rigid` body modes; it prints as a table, `plot()`s, and `view(mode)` animates a mode.

        Examples
        --------
        >>> import bough
        >>> s = bough.System("pendulum", gravity=(0, 0, -9.81))
        >>> _ = s.body("bob", joint=bough.Revolute("y", damping=0.4), mass=2.0, com=(0, 0, -1))
        >>> s.compile().modes()
        1 mode of 'pendulum', 0 rigid-body modes
          mode           Hz    damping   joints; bodies by kinetic energy
             1     0.498488    0.03193   bob 100 %; bob 100 %
        """
        batch = self._one_state(q, v, tau, inputs_at(inputs, at), more, "modes")
        request = analyze.linear.call_arguments.Request(inputs, outputs, laws, law_states, independent)
        model = self.with_tanks(batch.x[0])
        return analyze.linear.system_modes.modes_of(model, *analyze.linear.call_arguments.linearized(model, batch, request))

    def trim(self, q: ArrayLike | None = None, v: ArrayLike | None = None, tau: ArrayLike | None = None, *,
             hold: Sequence[str] = (), find: Sequence[str] = (), accelerate: Sequence[str] = (), spin: ArrayLike | None = None,
             about: ArrayLike | None = None, strict: bool = True, inputs: Mapping[str, ArrayLike] | None = None,
             **more: Unpack[StateOptions]) -> "Trim":
        """An equilibrium: a state of rest or steady motion, with loops closed and bodies deformed.

        Parameters
        ----------
        q : array_like, optional
            Starting position; by default that of the description.
        v : array_like, optional
            Speeds of joints that rotate steadily; default zero.
        tau : array_like, optional
            Joint torques and forces, added to those of the description.
        hold : sequence of str
            Coordinates or joints that keep their values. Without `find`, the forces that hold them are computed.
        find : sequence of str
            Inputs (forces along coordinates, motors of wheels: see `linearize`) and parameters of the description ("boom.mass",
            "ballast.com[0]") to solve for: as many as there are held coordinates, whose equations are then balanced too.
        accelerate : sequence of str
            Coordinates with a constant acceleration, which is solved for: a thrusting or falling vehicle.
        spin : float or array_like, optional
            The whole system rotates at this rate, about z or in world axes [rad/s]: with free, spherical or revolute roots. In a
            circular orbit, the default is the orbital rate.
        about : array_like, optional
            A point on the spin axis; by default the initial mass center.
        strict : bool
            If true, raise an error that names what cannot be balanced if there is no equilibrium; otherwise return the nearest
            state.

        Returns
        -------
        Trim
            `q`, `v`, `found` and so on; `linearize()` and `modes()` about it.

        Examples
        --------
        >>> import bough
        >>> s = bough.System("arm", gravity=(0, 0, -10.0))
        >>> _ = s.body("arm", joint=bough.Revolute("y", stiffness=30.0), mass=2.0, com=(1, 0, 0))
        >>> model = s.compile()
        >>> round(float(model.trim().q[0]), 4)
        0.5636
        >>> round(model.trim([0.0], hold=["arm"]).found["arm.ry"], 6)
        -20.0
        """
        if v is None:
            v = self._rates_at(more.get("t", 0.0))
        start = self.q0 if q is None else q
        batch = self._one_state(start, v, tau, inputs, more, "trim")
        return analyze.linear.call_arguments.trim(
            self.with_tanks(batch.x[0]), batch, hold, find, accelerate, spin, about, strict,
            {name: value for name, value in more.items() if name in ("t", "wrenches", "frame", "tanks")})

    def _rates_at(self, t: Any) -> Any:
        """Zero speeds, except prescribed ones at the time t."""
        x = self.layout.pack(self.q0, self.still, self.wheel_speeds, self.initial_orbit, self.tank_masses,
                             [0.0]*self.layout.law_states)[None]
        self.follow_motions(x, float(t))
        return self.state(x).v[0]

    def linearize_laws(self, laws: Sequence[Any], q: ArrayLike | None = None, v: ArrayLike | None = None, *,
                       law_states: ArrayLike | None = None, **more: Unpack[StateOptions]) -> "LinearSystem":
        """Laws as a linear system, from the outputs they read to the inputs they set. Use it to cut a loop at a port:
        `model.linearize().cut(model.linearize_laws([law]), at="motor", sign=1)`.

        Parameters
        ----------
        laws : sequence
            Compiled laws without a period, or laws, compiled or in Python, with one common period: these give a discrete system,
            for a plant with dt=period. Delays must be multiples of the period.
        law_states : array_like, optional
            Their states, one law after the other; by default their initial values.

        Examples
        --------
        >>> import bough
        >>> s = bough.System("arm")
        >>> _ = s.body("arm", joint=bough.Revolute("z"), mass=2.0, com=(0.5, 0, 0), inertia=(0.1, 0.1, 0.1))
        >>> _ = s.input("motor", coordinate="arm"), s.output("angle", coordinate="arm"), s.output("rate", rate="arm")
        >>> model = s.compile()
        >>> @bough.law(outputs=["angle", "rate"], inputs=["motor"], period=0.02)
        ... def hold(t, y):
        ...     return {"motor": -3.0*y["angle"] - 2.0*y["rate"]}
        >>> controller = model.linearize_laws([hold])
        >>> controller.D.round(9)
        array([[-3., -2.]])
        >>> loop = model.linearize(dt=0.02).cut(controller, at="motor", sign=1)
        >>> print(f"{loop.margins().phase:.1f} deg")
        65.4 deg
        """
        batch = self._one_state(q, v, None, None, more, "linearize_laws")
        return analyze.linear.closed_loop.linearize_laws(self, batch, laws, law_states)

    def _one_state(self, q: ArrayLike | None, v: ArrayLike | None, tau: ArrayLike | None, values: Mapping[str, ArrayLike] | None,
                   more: Any, what: str) -> Batch:
        """The state for linear analyses: by default that of the description, with closed loops."""
        if q is None:
            start = self.batch(self.q0, self.v0 if v is None else v)
            closed_q, closed_v = analyze.loop_constraints.assemble(self, start, ())
            q, v = closed_q[0], closed_v[0] if v is None else v
        batch = self.batch(q, self.still if v is None else v, tau, inputs=values, **more)
        if batch.n != 1:
            raise StateError(f"{what}: {batch.n} states are given; give one, and call it for each")
        return batch


def inputs_at(inputs: Mapping[str, ArrayLike] | Sequence[str] | None,
              at: Mapping[str, ArrayLike] | None) -> Mapping[str, ArrayLike] | None:
    """The values of inputs at a state: `inputs`, if it holds values, else `at`."""
    if not isinstance(inputs, Mapping):
        return at
    if at is not None:
        raise StateError(f"inputs is {dict(inputs)!r} and at is {dict(at)!r}; give values once, and in inputs the names to take")
    return inputs
