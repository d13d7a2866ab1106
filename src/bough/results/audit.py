"""The audit of a run: consistency checks of the recorded samples.

At some samples the accelerations must satisfy the balances of energy and momenta of the description (`analyze.balance` [B 96]);
over the run the change of energy must equal the work of all loads; systems without external loads keep their momenta; loops stay
closed. Work that is not integrated in the steps (of dampers, motors, drives) is integrated over the samples; its error is estimated
from half of them [B 97].
"""
from __future__ import annotations

import hashlib
import json
import platform
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np

from bough import __version__
from bough.analyze.balance import SHARE, States, balance
from bough.analyze.deformed_masses import linearized
from bough.compile.coordinates import holdable
from bough.compile.kernel_calls import evaluating
from bough.describe import CentralGravity, System
from bough.describe.parts import parts_of
from bough.errors import BoughError
from bough.integrate.trajectory import Trajectory
from bough.results.evaluation import chunks, segments
from bough.results.part_values import whole_angular_momentum, whole_linear_momentum
from bough.results.recorded_parts import Array
from bough.results.samples import Rows, Samples

CHECKED = 12  # samples at which the balances are checked
MOST = 512  # samples for energy and work
DRIFT = 1e-2  # of the exchanged energy: tolerated error
TURNED = 1e-3  # of the bodies' momenta: tolerated drift of their sum
GAP = 1e-5  # m or rad: tolerated loop gap
WORK_OF = {"dampers": ("dampers", "stops"), "stops with dampers": ("stops",), "joint torques": ("joint torques", "loops"),
           "external wrenches": ("wrenches",), "modal damping": ("dampers",), "prescribed motion": ("drives",),
           "wheel motors": ("motors",), "inputs": ("inputs", "orbit"), "a controller": ("inputs",)}


@dataclass
class Audit:
    """The results of all checks, and the findings."""

    findings: list[str] = field(default_factory=list)
    balances: dict[str, float] = field(default_factory=dict)  # by law, the largest residual relative to its terms
    not_audited: dict[str, str] = field(default_factory=dict)  # by law, why it could not be checked
    energy: dict[str, Any] = field(default_factory=dict)
    momentum: dict[str, float] = field(default_factory=dict)  # drift, of the bodies' momenta
    loop_gap: float | None = None
    error: str | None = None  # estimate of the integration's error
    steps: str | None = None  # how fast the system is, and the longest stable step
    conditioning: float | None = None  # of the mass matrix, scaled to a unit diagonal
    events: int = 0
    warnings: list[str] = field(default_factory=list)
    origin: dict[str, Any] = field(default_factory=dict)  # versions, machine, options, hash of the model

    @property
    def fine(self) -> bool:
        return not self.findings

    @property
    def line(self) -> str:
        """The line of `print(result)`."""
        return "fine" if self.fine else "; ".join(self.findings)

    def to_json(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> Audit:
        given = json.loads(text)
        if "not_told" in given:                             # its name in older files
            given["not_audited"] = given.pop("not_told")
        found = cls(**given)
        kinds = {name: type(value) for name, value in vars(cls()).items() if isinstance(value, dict | list)}
        if wrong := [name for name, kind in kinds.items() if not isinstance(getattr(found, name), kind)]:
            raise ValueError(f"its {wrong[0]} are {getattr(found, wrong[0])!r}")
        found.findings = list(map(str, found.findings))
        return found

    def __str__(self) -> str:
        rows = [f"audit: {self.line}"]
        rows += [f"  {name:22} {share:.1e} of its terms is left, at {CHECKED} samples at most"
                 for name, share in self.balances.items()]
        rows += [f"  {name:22} not audited: {why}" for name, why in self.not_audited.items()]
        rows += [f"  {f'energy, {name}':22} {value if isinstance(value, str) else f'{value:.6g} J'}"
                 for name, value in self.energy.items()]
        rows += [f"  {f'{name}, drift':22} {drift:.1e} of those of the bodies" for name, drift in self.momentum.items()]
        others = {"largest loop gap": None if self.loop_gap is None else f"{self.loop_gap:.1e} m or rad",
                  "integration error": self.error, "steps": self.steps,
                  "condition of M": None if self.conditioning is None else f"{self.conditioning:.1e}",
                  "events": str(self.events)}
        rows += [f"  {name:22} {text}" for name, text in others.items() if text is not None]
        rows += [f"  {'warning':22} {text}" for text in self.warnings]
        return "\n".join(rows + [f"  {name:22} {value}" for name, value in self.origin.items()])


def audited(trajectory: Trajectory) -> Audit:
    """The audit of a trajectory, without its origin."""
    found = Audit(error=trajectory.accuracy, steps=trajectory.stability, events=sum(map(len, trajectory.events)),
                  warnings=list(trajectory.warnings))
    sound = np.asarray(np.isfinite(trajectory.x).all(axis=2).all(axis=0))
    run = trajectory.part(slice(int(np.argmin(sound)) if not sound.all() else len(sound)))
    if trajectory.failure:
        found.findings.append(f"the run stopped early: {trajectory.failure}")
    if len(run.t) < 2:
        found.not_audited["all"] = "too few samples"
        return found
    found.findings += [f"warning: {text}" for text in found.warnings]
    with evaluating(1), np.errstate(all="ignore"):
        for check in (_balances, _energy, _momentum, _gaps, _condition):
            try:
                check(run, found)
            except (BoughError, ArithmeticError, np.linalg.LinAlgError) as error:  # for diverging runs
                found.not_audited[check.__name__.strip("_")] = str(error)
    return found


def thinned(trajectory: Trajectory, most: int) -> Trajectory:
    """At most so many samples, including the first and the last."""
    chosen = np.unique(np.linspace(0, len(trajectory.t) - 1, most).astype(int)) if len(trajectory.t) > most else slice(None)
    return trajectory.part(chosen)


def _balances(run: Trajectory, found: Audit) -> None:
    """At some samples, run by run, with the constraints active then."""
    few = thinned(run, max(2, CHECKED // len(run.x)))
    for model, rows in segments(few):
        for chunk in chunks(model, Rows(*(each[:CHECKED] for each in rows))):
            one = balance(model, Samples(model, chunk, accelerated=False).batch)
            found.balances |= {name: max(share, found.balances.get(name, 0.0)) for name, share in one.worst.items()}
            found.not_audited |= one.left_out
    found.findings += [f"{name} is not kept at single states ({share:.1e} of its terms is left)"
                       for name, share in found.balances.items() if not share <= SHARE]


def _energy(run: Trajectory, found: Audit) -> None:
    """E(t) - E(0) minus all work, relative to the exchanged energy."""
    few = thinned(run, MOST)
    energy, kinetic, powers, why = _energies(few)
    system = few.model.system
    effects = nonconservative_effects(system, controlled=bool(few.u.any()))
    work = np.nan_to_num(few.work) if few.audited else np.zeros_like(energy)
    lost = few.friction[..., 2].sum(axis=2) if system.frictions else np.zeros_like(energy)
    known = ({"inputs", "a controller"} if few.audited else set()) | {"propellant"}
    computed = WORK_OF.keys() | {effect for element in system.elements.values() for effect in element.nonconservative_effects()}
    left = [effect for effect in effects if effect not in known and effect != "friction"]
    found.energy = {"at the start": float(energy[0, 0]), "at the end": float(energy[0, -1])}
    if few.audited:
        found.energy["work of inputs"] = float(work[0, -1])
    if system.frictions:
        found.energy["lost to friction"] = float(lost[0, -1])
    if system.tanks:
        found.energy["gone with propellant"] = float(few.exhaust[0, -1, 6])
        lost = lost + few.exhaust[..., 6]
    uncertainty = 0.0
    if left:
        if why or not computed.issuperset(left):
            found.not_audited["work"] = why or ", ".join(effect for effect in left if effect not in computed)
            return
        skip = WORK_OF["inputs"] if few.audited else ()
        total = sum(power for name, power in powers.items() if name not in skip)
        others, uncertainty = _integrated(few.t, np.asarray(total))
        work = work + others
        found.energy |= {"work of the rest": float(others[0, -1]), "uncertainty of the work": float(uncertainty)}
    _judge_energy(found, energy - energy[:, :1] - work + lost, kinetic, work, uncertainty)


def _judge_energy(found: Audit, missing: Array, kinetic: Array, work: Array, uncertainty: float) -> None:
    exchanged = float(np.maximum(np.ptp(kinetic, axis=1), np.ptp(work, axis=1)).max())
    steady = float(np.abs(kinetic).max())
    size = exchanged if exchanged > 1e-6 * steady else steady
    off = float(np.abs(missing).max())
    found.energy |= {"not accounted for": off, "exchanged": exchanged}
    if uncertainty > 0.3 * DRIFT * size:
        found.not_audited["work"] = "the samples are too far apart; take a higher sample_rate"
    elif size and off > DRIFT * size + 3.0 * uncertainty:
        found.findings.append(f"energy: {off:.3g} J that no work accounts for, {off / size:.1%} of what is exchanged")


def _energies(run: Trajectory) -> tuple[Array, Array, dict[str, Array], str]:
    """(runs, samples): total and kinetic energy, powers by cause; and why powers are not known."""
    parts, why = list[tuple[Array, ...]](), ""
    names: list[str] = []
    for model, rows in segments(run):
        for chunk in chunks(model, rows):
            states = States(model, Samples(model, chunk, accelerated=False).batch, None)
            why = why or states.no_energy()
            powers = {} if why else states.powers()
            names = list(powers) or names
            bodies = states.here
            parts.append((bodies.kinetic_energy + bodies.potential_energy, bodies.kinetic_energy, *powers.values()))
    wide = min(map(len, parts))
    joined = [np.concatenate([part[i] for part in parts]).reshape(run.x.shape[:2]) for i in range(wide)]
    return joined[0], joined[1], dict(zip(names, joined[2:], strict=False)), why


def _integrated(t: Array, power: Array) -> tuple[Array, float]:
    """(runs, samples): work by a spline through all samples; and its difference from a spline through half of them [B 97]."""
    from scipy.integrate import cumulative_trapezoid
    from scipy.interpolate import CubicSpline

    def work(every: int) -> Array:
        times = t[::every] if t[::every][-1] == t[-1] else np.append(t[::every], t[-1])
        values = power[:, np.searchsorted(t, times)]
        if len(times) < 4:
            return np.asarray(cumulative_trapezoid(power, t, axis=1, initial=0.0))
        spline = CubicSpline(times, values, axis=1).antiderivative()
        return np.asarray(spline(t) - spline(t[0])[:, None])

    fine, coarse = work(1), work(2)
    return fine, float(np.abs(fine - coarse).max())


def _momentum(run: Trajectory, found: Audit) -> None:
    if any(effect != "thrust" for effect in external_effects(run.model.system, base_pushed=run.base_pushed)):
        return
    few = thinned(run, CHECKED)
    series, sizes = [], []
    for model, rows in segments(few):
        samples = Samples(model, rows, accelerated=False)
        both = whole_angular_momentum, whole_linear_momentum
        series.append(np.concatenate([each(samples) for each in both], axis=1) if model.system.tanks else samples.bodies.momentum)
        arm = np.abs(samples.bodies.frames.position - samples.bodies.center_of_mass[:, None]).max(axis=(1, 2))
        linear, angular = (np.abs(each).sum(axis=(1, 2)) for each in samples.bodies._momenta)
        gone = np.stack([np.abs(rows.exhaust[:, i : i + 3]).sum(axis=1) for i in (0, 3)], axis=1)
        sizes.append(np.stack([angular + arm * linear, linear], axis=1) + gone)
    momenta, size = np.concatenate(series).reshape(*few.x.shape[:2], 6), np.concatenate(sizes).reshape(*few.x.shape[:2], 2)
    for i, name in enumerate(("angular momentum", "linear momentum")):
        part = momenta[..., 3 * i : 3 * i + 3]
        drift = float(np.linalg.norm(part - part[:, :1], axis=2).max())
        found.momentum[name] = drift / max(float(size[..., i].max()), 1e-300) if drift else 0.0
        if found.momentum[name] > TURNED and drift > 1e-9:
            whole = " of system and exhaust" if run.model.system.tanks else ""
            found.findings.append(f"{name}{whole}: it changes by {drift:.3g}, but nothing acts from outside")


def _gaps(run: Trajectory, found: Audit) -> None:
    """The largest gap of loops and couplings."""
    if not run.model.constrained:
        return
    few, found.loop_gap = thinned(run, MOST), 0.0
    for model, rows in segments(few):
        gaps = model.loop_gaps(model.state(rows.x).q) if model.constrained else {}
        found.loop_gap = max([found.loop_gap, *(float(np.abs(gap).max(initial=0.0)) for gap in gaps.values())])
    if found.loop_gap > GAP:
        found.findings.append(f"loops: open by up to {found.loop_gap:.1e} m or rad")


def _condition(run: Trajectory, found: Audit) -> None:
    """Condition of the mass matrix at the middle of the run, scaled to a unit diagonal, from accelerations under unit torques."""
    model, nv = run.model, run.model.nv
    if nv > 100 or model.constrained or model.holds or model.in_orbit or not nv:
        return
    state = model.state(run.x[0, len(run.t) // 2])
    options: Any = {"wheels": state.wheels} if model.nw else {}
    torques = np.concatenate([np.eye(nv), np.zeros((1, nv))])
    a = model.forward_dynamics(np.tile(state.q, (nv + 1, 1)), np.zeros((nv + 1, nv)), torques, dynamics="order-n", **options)
    inverse = (a[:nv] - a[nv]).T
    d = np.sqrt(np.abs(np.diag(inverse)))
    found.conditioning = float(np.linalg.cond(inverse / np.outer(d, d)))
    if found.conditioning > 1e12:
        found.findings.append(f"the mass matrix is nearly singular: condition {found.conditioning:.1e}")


# ---- origin ---------------------------------------------------------------------------------------------------
def origin(trajectory: Trajectory, system: str) -> dict[str, Any]:
    """Versions, machine, options, and the hash of the model, given as its exact YAML."""
    options: Mapping[str, Any] = (trajectory.memory or {}).get("options", {})
    return {"versions": versions("numpy", "numba", "scipy"),
            "machine": f"{platform.machine()}, {platform.system()} {platform.release()}",
            "options": {name: value for name, value in options.items() if value is not None and name != "parameters"},
            "hash of the model": hashlib.sha256(system.encode()).hexdigest()}


def versions(*packages: str) -> dict[str, str]:
    """Of bough, of Python, and of those packages that are installed."""
    found = {"bough": __version__, "python": platform.python_version()}
    for name in packages:
        with suppress(PackageNotFoundError):
            found[name] = version(name)
    return found


# ---- effects that change energy or momenta of a system; without them, a drift is an error of the integration ---------------
def nonconservative_effects(system: System, *, controlled: bool) -> list[str]:
    """Effects that do work on the system or dissipate energy; empty if its energy is conserved."""
    found = [effect for body in system.bodies.values() for effect in body.joint.nonconservative_effects()]
    found += [effect for part in parts_of(system) for effect in part.nonconservative_effects()]
    others = {
        "modal damping": any(body.flexible is not None and body.flexible.D.any() for body in system.bodies.values()),
        "linearized flexible bodies": linearized(system),
        "prescribed motion": any(coordinate.motions for coordinate in holdable(system).values()),
        "a controller": controlled,
    }
    return list(dict.fromkeys(found + [effect for effect, present in others.items() if present]))


def external_effects(system: System, *, base_pushed: bool) -> list[str]:
    """External effects, and approximations of the motion; empty if the momenta are conserved."""
    roots = [body.joint for body in system.bodies.values() if body.parent is None]
    found = {
        "a fixed base": any(joint.kind != "free" for joint in roots),
        "gravity": isinstance(system.gravity, CentralGravity) or any(system.gravity),
        "a base that is held": any(system.bodies[coordinate.body].parent is None for coordinate in holdable(system).values()),
        "a force between base and world": any(joint.nonconservative_effects() or any(joint.stiffness or ()) for joint in roots),
        **{effect: True for part in parts_of(system) for effect in part.external_effects()},
        "a controller": base_pushed,
        "linearized flexible bodies": linearized(system),
    }
    return [cause for cause, present in found.items() if present]
