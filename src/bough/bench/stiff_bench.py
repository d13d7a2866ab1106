"""`bough bench stiff`: error against wall time of all methods on stiff systems, and Exudyn's generalized-alpha, in one process."""
from collections.abc import Callable, Mapping
from functools import partial
from math import pi, sin
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from bough.bench.jsc_system import STEPS, jsc_case
from bough.bench.mechanisms import MECHANISMS, flexible_arm
from bough.bench.setups import bent_states, fitting_states, forward_calls, minima, save_figure, versions
from bough.compile.kernel_calls import call
from bough.compile.layout import Floats
from bough.describe import Frame, Free, Revolute, System, Weld
from bough.flex import beam
from bough.integrate import Controller, Law, integrate
from bough.integrate.compiled.callback import controller
from bough.integrate.compiled.loops import KNOWN, REFUSED, STEP, TAKEN, TIME
from bough.integrate.integration import begin
from bough.integrate.run import STIFF, Run
from bough.integrate.step_safety import check_step
from bough.integrate.stiff import new_solver, states_of, take_step
from bough.integrate.trajectory import Trajectory
from bough.kernels.lanes import FOUR, ONE
from bough.model import Model
from bough.peers import installed
from bough.progress import counted
from bough.simulator import Simulator

TARGET = 1e-4                                       # of the peak of every coordinate
MANY = 400                                          # steps in one slice of time, in which a call from Python is lost
LINKS, MODES, CHAIN_STEP = 10, 5, 1e-3              # of the chain that Exudyn takes, and its step [s]
Options = dict[str, Any]
LADDER = (1e-2, 1.25e-2, 1.6e-2, 2e-2, 2.5e-2, 3.2e-2, 4e-2, 5e-2, 6.3e-2, 8e-2, 0.1, 0.125, 0.16)     # steps [s], by a quarter
SPACECRAFT: dict[str, list[Options]] = {            # half a decade of tolerance changes the steps of radau and imex43 by a third
    "dopri5": [{"rtol": 1e-6, "atol": 1e-9}],
    "radau": [{"rtol": rtol, "atol": 1e-3*rtol} for rtol in (1e-3, 3e-4, 1e-4, 3e-5, 1e-5)],
    "imex2": [{"dt": dt} for dt in LADDER],
    "imex4": [{"dt": dt} for dt in LADDER],
    "imex43": [{"rtol": rtol, "atol": 1e-3*rtol} for rtol in (1e-5, 3e-6, 1e-6, 3e-7, 1e-7, 3e-8, 1e-8)]}
ARM: dict[str, list[Options]] = {"imex2": [{"dt": 5e-3}], "imex4": [{"dt": 5e-3}], "imex43": [{"rtol": 1e-5, "atol": 1e-8}]}
JSC: dict[str, list[Options]] = {"euler-cromer": [{"dt": STEPS[True]}], "imex4": [{"dt": 1e-2}],
                                 "imex43": [{"rtol": rtol, "atol": 1e-3*rtol} for rtol in (1e-4, 1e-5)]}


def stiff(*, quick: bool = False, plot: Path | None = None) -> dict[str, Any]:
    """Measure; {"spacecraft": {"methods": [...], "times faster": {...}}, "arm": ..., "jsc 16": ..., "sampled law": ...,
    "singular position": ..., "steps": ..., "closed step": ..., "exudyn": ...}."""
    rounds, seconds = (1, 0.1) if quick else (5, 1.0)
    found: dict[str, Any] = {"spacecraft": of_spacecraft(20.0*seconds, rounds), "arm": of_arm(4.0*seconds, rounds),
                             "jsc 16": of_jsc(5.0*seconds, 1), "sampled law": of_sampled_law(10.0*seconds, rounds),
                             "singular position": of_singular_position(1.0 if quick else 10.0),
                             "steps": step_costs(6 if quick else 30), "closed step": closed_step(6 if quick else 30),
                             "exudyn": beside_exudyn(quick)}
    figure = [] if plot is None else [str(save_figure(draw(found["spacecraft"]), plot, "stiff.png"))]
    return {"unit": "seconds of wall time, minima; errors as shares of the peak of a coordinate, the worst one and any sample",
            "reference": "rk4 with a quarter of its longest stable step", "versions": versions(), **found, "figures": figure}


# ---- error against time ------------------------------------------------------------------------------------------------------
def compare(model: Model, methods: Mapping[str, list[Options]], until: float, rounds: int, **given: Any) -> dict[str, Any]:
    """Every method with its options, beside rk4 at its longest stable step, and a reference that is much finer."""
    rate, law = 20.0 if until > 1.0 else 200.0, given.get("laws", ())
    run = begin(model, until=until, method="rk4", dt=1e-4, laws=law).runs[0]
    longest = check_step(run).longest
    reference = integrate(model, until=until, method="rk4", dt=longest/4, sample_rate=rate, dynamics="order-n", laws=law)
    if reference.failure:
        raise RuntimeError(reference.failure)
    settings = [{"method": method, **options} for method, many in {"rk4": [{"dt": 0.95*longest}], **methods}.items()
             for options in many]
    runs: list[list[Trajectory]] = [[] for _ in settings]
    for _ in counted(model.system.name, range(rounds)):                     # interleaved: what disturbs one disturbs the others
        for options, some in zip(settings, runs, strict=True):
            more: Options = {"dynamics": "order-n"} if options["method"] in ("rk4", "euler-cromer") else {}
            some.append(integrate(model, until=until, sample_rate=rate, laws=law, **more, **options))
    rows = [{**options, **errors_of(model, some, reference)} for options, some in zip(settings, runs, strict=True)]
    return {"dofs": model.nv, "seconds": until, "longest stable step of rk4": longest, "methods": rows}


def errors_of(model: Model, runs: list[Trajectory], reference: Trajectory) -> dict[str, Any]:
    """Wall time, steps and errors of runs that are alike."""
    one, exact = runs[0], reference.x[0, :, :model.nq]
    if one.failure:
        return {"failure": one.failure}
    apart, peak = np.abs(one.x[0, :, :model.nq] - exact).max(axis=0), np.abs(exact).max(axis=0)
    gaps = [float(np.abs(gap).max()) for gap in model.loop_gaps(one.x[0, :, :model.nq]).values()] if model.system.loops else []
    speeds = np.abs(one.x[0, :, model.nq:] - reference.x[0, :, model.nq:]).max()
    wall = min(run.wall_time for run in runs)
    return {"wall": wall, "steps": one.steps, "times real time": float(one.t[-1])/wall, "error": float((apart/peak).max()),
            "largest in q": float(apart.max()), "largest in v": float(speeds), "gap": max(gaps, default=None)}


def fastest(rows: list[dict[str, Any]], method: str, **limits: float) -> dict[str, Any] | None:
    """The fastest run of a method, or of several whose names begin so, whose errors are within limits."""
    able = [row for row in rows if row["method"].startswith(method)
            and all(row.get(error, np.inf) <= limit for error, limit in limits.items())]
    return min(able, key=lambda row: row["wall"], default=None)


def of_spacecraft(until: float, rounds: int) -> dict[str, Any]:
    found = compare(spacecraft().compile(), SPACECRAFT, until, rounds, laws=[slew()])
    rows = found["methods"]
    rk4, radau = rows[0], fastest(rows, "radau", error=TARGET)
    within = {method: [row for row in rows if row["method"] == method] for method in ("imex2", "imex4", "imex43")}
    found["times faster"] = {method: {"than rk4": rk4["wall"]/best["wall"],
                                      "than radau": None if radau is None else radau["wall"]/best["wall"]}
                             for method, own in within.items() if (best := fastest(own, method, error=TARGET)) is not None}
    return found


def of_arm(until: float, rounds: int) -> dict[str, Any]:
    return compare(gearbox_arm().compile(), ARM, until, rounds, laws=[reach()])


def of_jsc(until: float, rounds: int) -> dict[str, Any]:
    """The paper's accuracy is that of its Euler-Cromer run: what is within its errors of q and v counts."""
    found = compare(jsc_case(16).compile(), JSC, until, rounds)
    rows = found["methods"]
    paper = next(row for row in rows if row["method"] == "euler-cromer")
    best = fastest(rows, "imex", **{error: paper[error] for error in ("largest in q", "largest in v")})
    found["times faster than euler-cromer"] = None if best is None else paper["wall"]/best["wall"]
    return found


def of_sampled_law(until: float, rounds: int) -> dict[str, Any]:
    """Cost of a law sampled at 10 Hz compared with a continuous one: wall times of the spacecraft. Its jumps excite the modes,
    which need shorter steps with any method; a limit of 0.1 s alone does not. "least": the steps that the error estimate needs,
    if each were as long as it accepts."""
    model, found = spacecraft().compile(), dict[str, Any]()
    methods: dict[str, Options] = {"radau": {"rtol": 1e-4, "atol": 1e-7}, "imex43": {"rtol": 1e-6, "atol": 1e-9},
                                   "imex4": {"dt": 0.02}}
    for method, options in methods.items():
        laws: dict[str, tuple[Any, Options]] = {"continuous": (damper(), {}), "10 Hz": (sampled_damper(0.1), {})}
        if "dt" not in options:
            laws["continuous, steps up to 0.1 s"] = damper(), {"max_step": 0.1}
        runs = {name: min((integrate(model, until=until, method=method, sample_rate=10.0, laws=[law], **options, **more)
                           for _ in range(rounds)), key=lambda run: run.wall_time) for name, (law, more) in laws.items()}
        found[method] = {name: {"wall": run.wall_time, "steps": run.steps, "refused": run.rejected} for name, run in runs.items()}
        for name in ("continuous", "10 Hz") if "dt" not in options else ():
            found[method][name]["least"] = least_steps(model, until=until, method=method, laws=[laws[name][0]], **options)
    return found


def of_singular_position(until: float) -> dict[str, Any]:
    """By how much the energy changes at most while forty four-bars in a row pass their singular position, by rk4 with loops closed
    by projection, and the largest kinetic energy."""
    model, found = windows(40).compile(), dict[str, Any]()
    for dt in (4e-3, 2e-3, 1e-3):
        run = integrate(model, until=until, method="rk4", dt=dt, sample_rate=50.0)
        q, v = run.x[0, :, :model.nq], run.x[0, :, model.nq:model.nq + model.nv]
        kinetic = model.kinetic_energy(q, v)
        energy = kinetic + model.potential_energy(q)
        found[f"{dt:g}"] = {"energy changes by, J": float(np.abs(energy - energy[0]).max()),
                            "kinetic energy, J": float(kinetic.max()),
                            "passages": int((np.diff(np.sign(np.cos(q[:, 0]))) != 0).sum()), "wall": run.wall_time}
    return found


# ---- what a step costs -------------------------------------------------------------------------------------------------------
def on_springs(system: System) -> System:
    """The same with springs and dampers in its revolute joints."""
    found = system.copy()
    for name, body in system.bodies.items():
        if body.joint.kind == "revolute":
            joint = Revolute(body.joint.rotations[0], stiffness=100.0, damping=0.1)
            found.bodies[name] = body.model_copy(update={"joint": joint})
    return found


def step_costs(rounds: int) -> dict[str, Any]:
    """The cost of a step of imex2 in evaluations of the forward dynamics: one state, and four in lanes."""
    systems = {"arm7": on_springs(MECHANISMS["arm7"]()), "tree36": on_springs(MECHANISMS["tree36"]()),
               f"{LINKS} links x {MODES} modes": flexible_arm(LINKS, MODES)}
    return {name: {lanes: step_cost(system.compile(), n, rounds) for lanes, n in (("one state", 1), ("four lanes", 4))}
            for name, system in counted("steps", systems.items())}


def step_cost(model: Model, n: int, rounds: int) -> dict[str, float]:
    states = fitting_states(model, n)
    sim = Simulator(model, method="imex2", dt=1e-5, sample_rate=0, q0=states[0] if n > 1 else states[0][0],
                    v0=states[1] if n > 1 else states[1][0])
    return in_evaluations(model, lambda: sim.step(MANY), states, rounds)


def closed_step(rounds: int) -> dict[str, float]:
    """Of a step of Euler-Cromer's method with closed loops, JSC case 9, in evaluations of its forward dynamics: by the compiled
    loop, without the samples, which are closed once more."""
    model, options = jsc_case(9).compile(), dict[str, Any]({"method": "euler-cromer", "dt": STEPS[False]})
    x = integrate(model, until=0.3, sample_rate=10.0, **options).x[0, -1:]
    q, v = x[:, :model.nq], x[:, model.nq:model.nq + model.nv]
    run = begin(model, q0=q[0], v0=v[0], until=1.0, dynamics="order-n", **options).runs[0]
    tables, stepper, rows, ws = run.arguments(ONE)
    grid, clock = np.array([[0.0, STEPS[False], 0.0, MANY]]), np.array([0.0, np.inf, 0.0, 0.0])

    def step() -> None:
        run.take_fixed(tables, stepper, grid, np.zeros(0), (*rows[:7], clock.copy(), *rows[8:]), ws)
    return in_evaluations(model, step, (q, v, np.zeros((1, model.nv))), rounds)


def in_evaluations(model: Model, steps: Callable[[], Any], states: Any, rounds: int) -> dict[str, float]:
    """Microseconds of a step, of an evaluation at these states, and their ratio."""
    n, many = len(states[0]), max(1, 64//len(states[0]))
    wide = np.tile(states[0], (many, 1)), np.tile(states[1], (many, 1)), np.tile(states[2], (many, 1))
    functions, _ = forward_calls(model, wide, {"evaluation": ("order-n", ONE if n == 1 else FOUR)})
    timings = minima({"step": steps, **functions}, 1, rounds=rounds)
    step, evaluation = timings["step"]/MANY, timings["evaluation"]/many
    return {"step, us": step, "evaluation, us": evaluation, "evaluations": step/evaluation}


def beside_exudyn(quick: bool) -> dict[str, Any]:
    """A step of the flexible chain of the same length, here and by Exudyn's generalized-alpha method."""
    model = flexible_arm(LINKS, MODES).compile()
    q, v, _ = bent_states(model, 1)
    end, times = 100*CHAIN_STEP, []
    for _ in range(5 if quick else 20):
        run = integrate(model, q0=q[0], v0=0.01*v[0], until=end, dt=CHAIN_STEP, method="imex2", sample_rate=1/end)
        times.append(1e6*run.wall_time/run.steps)
    found: dict[str, Any] = {"step": CHAIN_STEP, "imex2, us": min(times)}
    if "exudyn" in installed():
        from bough.peers.exudyn import ExudynArm
        found["exudyn, us"] = ExudynArm(flexible_arm(LINKS, MODES)).time_per_implicit_step(CHAIN_STEP, rounds=3 if quick else 7)
        found["times faster"] = found["exudyn, us"]/found["imex2, us"]
    return found


# ---- figure ------------------------------------------------------------------------------------------------------------------
def draw(found: Mapping[str, Any]) -> Any:
    """Error against wall time."""
    figure = Figure(figsize=(7.0, 4.5), layout="constrained")
    axes = figure.subplots()
    for method in dict.fromkeys(row["method"] for row in found["methods"]):
        rows = [row for row in found["methods"] if row["method"] == method and "wall" in row]
        axes.loglog([row["wall"] for row in rows], [row["error"] for row in rows], "o-", label=method)
    axes.axhline(TARGET, color="0.6", lw=1, ls="--")
    axes.set(xlabel=f"wall time for {found['seconds']:g} s [s]", ylabel="largest error, share of a coordinate's peak",
             title=f"Slew of a spacecraft with two booms, {found['dofs']} degrees of freedom")
    axes.grid(True, which="both", alpha=0.2)
    axes.legend()
    return figure


# ---- systems: a spacecraft with flexible booms that slews, an arm on stiff gearboxes, a row of four-bars -----------------
SLEW = 10.0                                     # s: how long the spacecraft is turned
BOOM: dict[str, Any] = {"E": 70e9, "G": 26e9, "area": 6e-4, "Iy": 2e-8, "Iz": 1.2e-6, "J": 4e-8, "density": 2700.0, "elements": 30}


def spacecraft(modes: int = 20) -> System:
    """A bus with two booms of so many modes each, 2 Hz to 500 Hz with twenty, none of them where symmetry would keep it still."""
    s, boom = System("spacecraft", gravity=(0, 0, 0)), beam(2.9, modes=modes, damping=0.005, **BOOM)
    s.body("bus", joint=Free(), mass=800.0, com=(0.05, 0.02, 0.1), inertia=(300.0, 200.0, 400.0))
    s.body("left", parent="bus", joint=Weld(), at=(0.3, 0.8, 0.2), orient={"axis": "z", "degrees": 90}, flexible=boom)
    s.body("right", parent="bus", joint=Weld(), at=(-0.2, -0.8, 0.1), orient={"axis": "z", "degrees": -90}, flexible=boom)
    s.input("torque", moment=Frame("bus"))
    s.output("rate", angular_velocity=Frame("bus"))
    return s


def slew() -> Controller:
    """A torque that begins, turns over and ends smoothly; it is a function of time alone."""
    def law(t: float, y: Any, u: Any) -> None:
        a = sin(2*pi*t/SLEW)**3 if t < SLEW else 0.0
        u[0], u[1], u[2] = 12.0*a, 6.0*a, 40.0*a
    return controller(law, outputs=["rate"], inputs=["torque"])


def damper() -> Controller:
    """Rates of the bus, damped while a torque swings it."""
    def law(t: float, y: Any, u: Any) -> None:
        for k in range(3):
            u[k] = -50.0*y[k] + (1.0 + k)*sin(0.6*t)
    return controller(law, outputs=["rate"], inputs=["torque"])


def sampled_damper(period: float) -> Law:
    """The same by the clock."""
    def function(t: float, y: Any) -> dict[str, Any]:
        return {"torque": [-50.0*y["rate"][k] + (1.0 + k)*sin(0.6*t) for k in range(3)]}
    return Law(function, outputs=["rate"], inputs=["torque"], period=period)


RATIO = 100.0                                   # of its gearboxes


def gearbox_arm() -> System:
    """Seven links, each driven by a motor through a compliant gearbox: its fastest motions are far above 100 Hz."""
    s, parent = System("arm on gearboxes", gravity=(0, 0, -9.81)), None
    for k in range(7):
        mass = 6.0 - 0.6*k
        s.body(f"link{k + 1}", parent=parent, at=(0, 0, 0.35) if k else (0, 0, 0), joint=Revolute("zyzyzyz"[k]), mass=mass,
               com=(0, 0.01, 0.17), inertia=(0.06*mass, 0.06*mass, 0.01*mass))
        s.gearbox(f"rotor{k + 1}", f"link{k + 1}", ratio=RATIO, inertia=0.5/RATIO**2, stiffness=1e6, damping=20.0,
                  friction={"viscous": 5.0/RATIO**2})
        s.input(f"motor{k + 1}", coordinate=f"rotor{k + 1}")
        s.output(f"angle{k + 1}", coordinate=f"rotor{k + 1}")
        parent = f"link{k + 1}"
    return s


def reach() -> Controller:
    """Motors that push their joints about by smooth torques."""
    def law(t: float, y: Any, u: Any) -> None:
        for k in range(7):
            u[k] = (30.0*sin(1.5*t + k)*sin(0.5*pi*t)**2 - 40.0*y[k]/RATIO)/RATIO
    names = range(1, 8)
    return controller(law, outputs=[f"angle{k}" for k in names], inputs=[f"motor{k}" for k in names])


def windows(n: int) -> System:
    """The benchmark of the IFToMM library: n + 1 uprights on the ground, 1 m apart, and n rods that join their tops, 1 m and 1 kg
    each; the tops start with 1 m/s.  All rods lie flat, where n loops lose an equation each, twice in every swing."""
    s = System(f"{n} four-bars in a row", gravity=(0.0, -9.81, 0.0))
    for i in range(n + 1):
        s.body(f"v{i}", at=(i, 0, 0), joint=Revolute("z", v0=-1.0), mass=1.0, com=(0, 0.5, 0), inertia=(1/12, 0.0, 1/12))
        if i < n:
            s.body(f"h{i}", parent=f"v{i}", at=(0, 1, 0), joint=Revolute("z", v0=1.0), mass=1.0, com=(0.5, 0, 0),
                   inertia=(0.0, 1/12, 1/12))
    for i in range(n):
        s.loop(f"b{i + 1}", joint=Revolute("z"), a=Frame(f"h{i}", at=(1, 0, 0)), b=Frame(f"v{i + 1}", at=(0, 1, 0)))
    return s


# ---- the least steps that a method with error control takes: each as long as its own error estimate accepts ---------------
# Any choice of steps takes more: it keeps a reserve, and tries steps in vain.  So the least steps tell what the motion needs at
# these tolerances from what the choice adds.

HALVINGS = 5                        # of the bracket of a longest step, which is 1.5 wide: found to a fiftieth
Trial = Callable[[float], Floats | None]


def least_steps(model: Model, *, until: float, laws: Any, **options: Any) -> int:
    """Number of steps to a time, at which sampled laws run; options are those of `simulate`."""
    run, steps = begin(model, until=until, laws=laws, sample_rate=1.0/until, **options).runs[0], 0
    run.begin()
    h = 1e-6
    while run.t < until:
        run.prepare()
        stop = min(run.next_stop(), until)
        while run.t < stop:
            h, run.x[0] = longest_step(partial(state_after, run, stop), min(h, stop - run.t), stop - run.t)
            run.t = run.t + h if h < stop - run.t else stop
            steps += 1
        run.forget()
    return steps


def longest_step(trial: Trial, h: float, left: float) -> tuple[float, Floats]:
    """The longest step up to what is left that a trial accepts, found from h on, and the state after it."""
    whole = trial(left)
    if whole is not None:
        return left, whole
    found = trial(h)
    while found is None:
        h /= 1.5
        found = trial(h)
    long = h
    while (longer := trial(min(1.5*long, left))) is not None:
        h, found = min(1.5*long, left), longer
        long = h
    low, high = h, min(1.5*long, left)
    for _ in range(HALVINGS):
        middle = 0.5*(low + high)
        if (longer := trial(middle)) is None:
            high = middle
        else:
            low, found = middle, longer
    return low, found


def state_after(run: Run, stop: float, h: float) -> Floats | None:
    """After a step of this length from where a run stands; None: its error is too large."""
    if run.plan.method in STIFF:
        run.carry[0, STEP] = h
        solver = new_solver(run, 0, (run.t, stop))
        take_step(solver)
        return states_of(run.model, solver)(solver.t) if solver.t - run.t >= h*(1.0 - 1e-9) else None
    (model, stepper, _, ws), rows, carry = run.arguments(ONE), run.scratch_rows(ONE), run.carry.copy()
    carry[:, [TIME, STEP, KNOWN, TAKEN, REFUSED]] = run.t, h, 0.0, 0.0, 0.0
    limits = np.array([stop, np.inf, 1.0, *run.plan.tolerances, np.inf])
    call(run.adaptive_kernel, *model, stepper, np.zeros(0), limits, carry, rows, ws)
    return rows[0][0] if carry[0, REFUSED] == 0.0 else None
