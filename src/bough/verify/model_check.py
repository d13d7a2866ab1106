"""`bough verify MODEL`: the same checks for a system of the user."""

import sys
import tempfile
from collections.abc import Callable, Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from bough.analyze.balance import balance, moved_along
from bough.analyze.equations_of_motion import room_for
from bough.compile.layout import Floats
from bough.describe import Body, CentralGravity, Frame, Free, System, load
from bough.errors import BoughError, ModelError
from bough.integrate.methods import FIXED
from bough.kernels.linker import link
from bough.model import Model
from bough.progress import quiet
from bough.simulation import simulate, with_settings
from bough.sweeps import calls, fields as f
from bough.verify import systems
from bough.verify.case import Cases, Missing, Outcome, Pairs, chosen, run_plainly
from bough.verify.dynamics_cases import slope_by_q, slope_by_v
from bough.verify.suite import Verified, run_cases

STATES = 5  # a group of four lanes, and one more
MOST_STEPS = 2000  # of the runs whose steps are halved
TIME = 0.0
OWN = "this model"


class Checked:
    """A system, some of its states, and the checks of them."""

    def __init__(self, system: System, laws: dict[str, Any]) -> None:
        self.system, self.laws = system, laws
        self.model: Model = system.compile()

    @cached_property
    def states(self) -> tuple[Floats, Floats]:
        """The initial state and states around it, with loops closed and prescribed motions satisfied."""
        model, rng = self.model, np.random.default_rng(0)
        hold = (self.system.settings and self.system.settings.hold) or ()
        q, v = (np.tile(part, (STATES, 1)) for part in model.assemble(hold=hold))
        size = 0.05 * np.array([0.02 if ".mode" in name else 1.0 for name in model.names.v])
        q[1:] = moved_along(model, q[1:], size * rng.normal(size=(STATES - 1, model.nv)))
        v[1:] += size * rng.normal(size=v[1:].shape)
        q, v = model.follow(q, v, TIME) if model.holds else (q, v)
        if model.constrained:
            q, v = model.assemble(q, v)
        if model.in_orbit:
            q, v = systems.centered(model, q, v)
        return q, v

    @cached_property
    def torques(self) -> Floats:
        """Random torques, a tenth of the largest entry of the bias."""
        q, v = self.states
        size = np.abs(self.model.bias(q[0], v[0], t=TIME)).max(initial=0.0) or 1.0
        return np.asarray(0.1 * size * np.random.default_rng(1).normal(size=v.shape) * np.asarray(self.model.free))

    @cached_property
    def digits(self) -> float:
        """Digits of accelerations that rounding leaves: 30 eps cond(M), M scaled to a unit diagonal; loops may cost two more."""
        M = self.model.mass_matrix(self.states[0][0])
        d = np.sqrt(np.diag(M))
        lost = np.log10(30 * np.linalg.cond(M / np.outer(d, d)))
        return float(round(max(3.0, 15.6 - lost - 2.0 * self.model.constrained), 1))

    @cached_property
    def accelerations(self) -> Floats:
        return self.model.forward_dynamics(*self.states, self.torques, t=TIME, dynamics="order-n")

    def scale(self) -> float:
        """The largest acceleration."""
        return float(np.abs(self.accelerations).max())

    # ---- methods ---------------------------------------------------------------------------------------------------------------
    def dense(self) -> Pairs:
        q, v = self.states
        yield self.accelerations, self.model.forward_dynamics(q, v, self.torques, t=TIME, dynamics="dense"), self.scale()

    def lanes(self) -> Pairs:
        q, v = self.states
        for i in range(STATES):
            alone = self.model.forward_dynamics(q[i], v[i], self.torques[i], t=TIME, dynamics="order-n")
            yield self.accelerations[i], alone, self.scale()

    @cached_property
    def plain(self) -> dict[str, Floats]:
        """In another process, without a compiler: in doubles and in long doubles."""
        with tempfile.TemporaryDirectory() as folder:
            given, out = Path(folder) / "given.npz", Path(folder) / "found.npz"
            self.system.to_yaml(Path(folder) / "model.yaml", exact=True)
            np.savez(given, q=self.states[0], v=self.states[1], tau=self.torques)
            run_plainly("bough.verify.model_check", folder)
            with np.load(out) as arrays:
                return {name: arrays[name] for name in arrays.files}

    def against_plain(self, which: str) -> Pairs:
        if which == "long" and np.finfo(np.longdouble).eps >= np.finfo(float).eps:
            raise Missing("this machine has no longer doubles")
        yield self.accelerations[0], self.plain[which], self.scale()

    # ---- laws ------------------------------------------------------------------------------------------------------------------
    def balanced(self, name: str) -> Pairs:
        q, v = self.states
        found = balance(self.model, self.model.batch(q, v, self.torques, t=TIME))
        if name in found.left_out:
            raise Missing(f"{found.left_out[name]}")
        yield found.worst[name], 0.0, 1.0

    def derivatives(self) -> Pairs:
        (q, v), tau, model, h = self.states, self.torques, self.model, 1e-4
        try:
            ours = model.forward_dynamics_derivatives(q[0], v[0], tau[0], t=TIME)
        except BoughError as error:
            raise Missing(str(error)) from None
        free, size = np.flatnonzero(model.free), float(max(np.abs(ours.dv).max(), np.abs(ours.dq).max(), self.scale()))
        for j in free[np.unique(np.linspace(0, len(free) - 1, 6).astype(int))]:
            if not model.constrained:
                yield ours.dq[:, j], slope_by_q(model, q[0], v[0], tau[0], j, h, TIME), float(np.abs(ours.dq).max())
            yield ours.dv[:, j], slope_by_v(model, q[0], v[0], tau[0], j, h, TIME), size

    # ---- the same system, described otherwise ----------------------------------------------------------------------------------
    def reordered(self) -> Pairs:
        """Bodies in the other order, parents behind their children."""
        other = self.system.copy()
        other.bodies = dict(reversed(self.system.bodies.items()))
        model, (q, v) = other.compile(), self.states
        to_q, to_v = ([list(getattr(self.model.names, part)).index(name) for name in getattr(model.names, part)] for part in "qv")
        a = model.forward_dynamics(q[:, to_q], v[:, to_v], self.torques[:, to_v], t=TIME, dynamics="order-n")
        yield a, self.accelerations[:, to_v], self.scale()

    def rerooted(self) -> Pairs:
        """A joint cut, and what is behind it on a root of its own, closed again by a loop: another tree, the same motion."""
        able = [
            body for body in self.system.bodies.values() if body.parent is not None and body.flexible is None and cuttable(body)
        ]
        if not able or isinstance(self.system.gravity, CentralGravity):
            raise Missing("no joint of it can be cut" if not able else "in orbit all bodies hang on one root")
        for body in able:
            try:
                model = self._cut(body).compile()
                break
            except ModelError as error:  # point masses cannot float
                why = str(error)
        else:
            raise Missing(f"nothing behind its joints can float by itself: {why}")
        q, v = self.states
        for i in range(2):
            ours, theirs = self._both_accelerations(body.name, model, q[i], v[i])
            yield theirs, ours, float(np.abs(ours).max())

    def _cut(self, body: Body) -> System:
        """The system with this body on a root of its own."""
        other = self.system.copy()
        other.bodies[body.name] = body.model_copy(
            update={"parent": None, "node": None, "joint": Free(), "at": (0.0, 0.0, 0.0), "orient": (0.0, 0.0, 0.0, 1.0)}
        )
        other.loop("cut here", joint=body.joint.model_copy(update={"q0": None, "v0": None}),
                   a=Frame(str(body.parent), at=body.at, orient=body.orient, node=body.node), b=Frame(body.name))
        return other

    def _both_accelerations(self, name: str, model: Model, q: Floats, v: Floats) -> tuple[Floats, Floats]:
        """Accelerations of all bodies, by this model and by one in which a body floats."""
        here = self.model.bodies(q, v)
        k = list(self.model.names.bodies).index(name)
        there_q, there_v = np.zeros(model.nq), np.zeros(model.nv)
        for body in self.system.bodies.values():
            (a, b), (c, d) = self.model.places[body.name], model.places[body.name]
            if body.name == name:
                R = here.attitude[0, k]
                there_q[c : c + 7] = [*here.position[0, k], *Rotation.from_matrix(R).as_quat()]
                there_v[d : d + 6] = [*here.velocity[0, k], *(R.T @ here.rate[0, k])]
            else:
                there_q[c : c + body.n_q], there_v[d : d + body.n_v] = q[a : a + body.n_q], v[b : b + body.n_v]
        ours = self.model.bodies(q, v, self.model.forward_dynamics(q, v, t=TIME)).acceleration
        theirs = model.bodies(there_q, there_v, model.forward_dynamics(there_q, there_v, t=TIME)).acceleration
        order = [list(model.names.bodies).index(each) for each in self.model.names.bodies]
        return ours[0], theirs[0, order]

    # ---- runs ------------------------------------------------------------------------------------------------------------------
    @cached_property
    def settings(self) -> dict[str, Any]:
        """The settings of the system, for a run that is short enough."""
        if self.system.settings is None:
            raise Missing("the model says nothing of a run; give it a simulation: until and dt")
        found = with_settings({}, self.system.settings)
        found = {name: value for name, value in found.items() if name not in ("record", "sample_rate") and value is not None}
        method = found.get("method", "rk4")
        if method in FIXED and found.get("dt"):
            found["until"] = min(found["until"], MOST_STEPS * found["dt"])
        return found

    def run(self, **changes: Any) -> Any:
        laws = {name: value for name, value in self.laws.items() if value and name != "law_values"}
        settings = self.settings | changes
        return simulate(self.model, progress=False, sample_rate=200.0 / settings["until"], record=["state", "energy"], **laws,
                        **settings)

    @cached_property
    def base_run(self) -> Any:
        return self.run()

    def repeated(self) -> Pairs:
        yield self.base_run.trajectory.x[0], self.run().trajectory.x[0]

    def halved(self) -> Pairs:
        """The end by the steps of the model, and by half of them: or by a tenth of the tolerance."""
        fixed = self.settings.get("dt") if self.settings.get("method", "rk4") in FIXED else None
        finer = {"dt": fixed / 2} if fixed else {"rtol": (self.settings.get("rtol") or 1e-9) / 10}
        ours, theirs = self.base_run.trajectory.state.q[0], self.run(**finer).trajectory.state.q[0]
        yield ours[-1], theirs[-1], float(np.ptp(theirs, axis=0).max()) or 1.0

    def audited(self) -> Pairs:
        """The energy that the work of all loads does not account for, relative to what is exchanged."""
        found = self.base_run.audit
        if "not accounted for" not in found.energy:
            raise Missing(f"{found.not_audited.get('work') or found.not_audited.get('energy')}")
        if "work" in found.not_audited:
            raise Missing(found.not_audited["work"])
        exchanged = found.energy["exchanged"] or abs(found.energy["at the start"]) or 1.0
        if trouble := [text for text in found.findings if "single states" in text]:
            raise BoughError("; ".join(trouble))
        yield found.energy["not accounted for"], 0.0, exchanged


def cuttable(body: Any) -> bool:
    """Whether its joint can also close a loop."""
    joint = body.joint
    return 0 < joint.n_v < 6 and joint.motion is None and (joint.spherical or len(joint.rotations) < 3) and body.mass > 0


def cases_of(checked: Checked) -> Cases:
    """All checks of a model."""
    found, asked = Cases("model"), checked.digits
    add = found.add
    add("dense", "accelerations by O(N), at five states", "the mass matrix, solved densely", OWN, asked, checked.dense)
    add("lanes", "accelerations of five states together", "each alone", OWN, min(asked, 13.0), checked.lanes)
    add("plain Python", "accelerations by compiled O(N)", "the same sources as plain Python", "NUMBA_DISABLE_JIT=1", asked,
        partial(checked.against_plain, "plain"))
    add("long double", "accelerations by compiled O(N)", "plain Python in long doubles", "NUMBA_DISABLE_JIT=1", asked,
        partial(checked.against_plain, "long"))
    for name in ("places", "motion", "energy", "momentum", "angular momentum", "equations of motion"):
        add(f"balance: {name}", "accelerations by the sweeps", "what the description asks for [B 96]", OWN, 6.0,
            partial(checked.balanced, name))
    add("derivatives", "derivatives of the accelerations", "differences of fourth order", OWN, max(4.0, min(7.0, asked - 4.0)),
        checked.derivatives)
    add("order of bodies", "accelerations", "the same system with its bodies in another order", OWN, asked, checked.reordered)
    add("choice of root", "accelerations of bodies", "the same system cut at a joint, which a loop closes", OWN,
        max(3.0, asked - 2.0), checked.rerooted)
    add("a run, repeated", "all samples of a run", "the same run again", OWN, 16.0, checked.repeated)
    add("a run, steps halved", "where a run ends", "the same run by half the steps, or a tenth of the tolerance", OWN, 3.0,
        checked.halved)
    add("a run, its energy", "energy and all work over a run", "each other: what is not accounted for",
        "the audit of the run [B 97]", 2.0, checked.audited)
    return found


def verify_system(
    system: System,
    laws: dict[str, Any] | None = None,
    only: Sequence[str] = (),
    report: Callable[[Outcome], None] = lambda outcome: None,
) -> Verified:
    """Run all checks for a system."""
    with quiet():
        cases = chosen(list(cases_of(Checked(system, laws or {}))), only)
    return run_cases(cases, f"verify {system.name}", report)


# ---- in a process without a compiler ---------------------------------------------------------------------------------------
def precise(model: Model, q: Floats, v: Floats, tau: Floats) -> Any:
    """Accelerations of one state with all numbers as long doubles."""
    batch, double = model.batch([q], [v], [tau], t=TIME), np.longdouble
    tables, out = batch.tables, np.empty(room_for(model, batch, "order-n").shape, np.longdouble)
    ws = np.zeros(tables.size(f.WS_SIZE), double)
    linked = link(tables.features, tables.plan, tables.pars.astype(double), tables.tables.astype(double), ws)
    calls.forward_order_n(*linked, batch.t.astype(double), batch.x.astype(double), batch.u.astype(double), out, ws)
    return out[0, : model.nv]


def plain_accelerations(folder: Path) -> None:
    model = load(folder / "model.yaml").compile()
    with np.load(folder / "given.npz") as given:
        q, v, tau = (given[name][0] for name in ("q", "v", "tau"))
    np.savez(folder / "found.npz", plain=model.forward_dynamics(q, v, tau, t=TIME, dynamics="order-n"),
             long=precise(model, q, v, tau).astype(float))


if __name__ == "__main__":
    plain_accelerations(Path(sys.argv[1]))
