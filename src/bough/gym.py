"""Reinforcement learning: a model with ports as a Gymnasium environment, or many of them in SIMD lanes."""
from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from bough.analyze.signals import input_entries, state_entry
from bough.compile.batch import array
from bough.compile.layout import Floats
from bough.describe import System
from bough.describe.numeric import shown
from bough.errors import BoughError, SimulationError, StateError, name_list, nearest, similar
from bough.integrate.methods import FIXED
from bough.integrate.trajectory import positive
from bough.model import Model
from bough.model.compiler import as_model
from bough.simulator import START, Simulator

try:
    import gymnasium
    from gymnasium.spaces import Box
    from gymnasium.utils import seeding
    from gymnasium.vector import AutoresetMode, VectorEnv
    from gymnasium.vector.utils import batch_space
except ModuleNotFoundError as error:
    raise BoughError("bough.gym needs Gymnasium 1.1 or later: pip install 'bough[gym]'") from error

Ports = Iterable[str] | Mapping[str, Any] | None
Function = Callable[..., Any]


class Named(Mapping[str, Any]):
    """Observations or actions by the names of ports; a port of several numbers has them in the last axis."""

    def __init__(self, places: Mapping[str, int | slice], values: Floats) -> None:
        self._places, self._values = places, values

    def __getitem__(self, name: str) -> Any:
        if name not in self._places:
            raise StateError(f"there is no '{name}'{similar(name, self._places)}; there are {', '.join(self._places)}")
        return self._values[..., self._places[name]]

    def __iter__(self) -> Any:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)


class _Side:
    """The observed outputs, or the actions, as one row of numbers."""

    def __init__(self, what: str, given: Ports, known: Mapping[str, int], declared: Iterable[str]) -> None:
        self.names = list(declared) if given is None else name_list(f"{what}s", given)
        self.places, limits = dict[str, int | slice](), list[Any]()
        for name in self.names:
            if name not in known:
                raise StateError(f"there is no {what} '{name}'{nearest(name, known) or '; there are ' + ', '.join(known)}")
            at, size = sum(part.shape[1] for part in limits), known[name]
            self.places[name] = at if size == 1 else slice(at, at + size)
            limits.append(_bounds(what, name, size, given[name] if isinstance(given, Mapping) else None))
        if not self.names:
            raise StateError(f"the system has no {what}s; declare one with System.{what}")
        self.low, self.high = np.concatenate(limits, axis=1)
        self.space = Box(self.low, self.high, dtype=np.float64)

    def named(self, values: Floats) -> Named:
        return Named(self.places, values)


def _bounds(what: str, name: str, size: int, given: Any) -> Floats:
    """(2, size): lower and upper bounds."""
    try:
        low, high = (-np.inf, np.inf) if given is None else given
        found = np.array([np.broadcast_to(np.asarray(bound, float), size) for bound in (low, high)])
        if (found[0] < found[1]).all():
            return found
    except (TypeError, ValueError):
        pass
    raise StateError(f"{what} '{name}': its bounds are {given!r}; give (low, high), numbers or {size} of each, or None")


class _Task:
    """The common part of both environments: a simulator with outputs and inputs as rows of numbers."""

    def __init__(self, model: Model | System, reward: Function, observations: Ports, actions: Ports, terminated: Function | None,
                 start: Function | None, period: float | None, time_limit: float | None, **options: Any) -> None:
        for what, function in (("reward", reward), ("terminated", terminated), ("start", start)):
            if not callable(function) and (function is not None or what == "reward"):
                raise StateError(f"{what} is {shown(function)}; give a function")
        self.sim = sim = Simulator(model, **options)
        self.model, system = sim.model, sim.model.system
        entries = input_entries(self.model)
        self.y = _Side("output", observations, {name: port.size for name, port in system.outputs.items()}, system.outputs)
        self.u = _Side("input", actions, {name: len(at) for name, at in entries.items()}, system.inputs)
        self.reward, self.terminated, self.start = reward, terminated, start
        self.entries = [entry for name in self.u.names for entry in entries[name]]
        self.columns = _columns(self.model, self.y.names)
        ports = [system.outputs[name] for name in self.y.names for _ in system.outputs[name].entries]
        self.noise, self.quantum = np.array([port.noise for port in ports]), np.array([port.quantum or 0.0 for port in ports])
        self.period = positive("period", sim.dt if period is None else period, "seconds between two actions")
        self.steps = round(self.period/sim.dt) if sim.dt else 0
        if sim.dt and abs(self.steps*sim.dt - self.period) > 1e-9*self.period:
            raise StateError(f"period is {self.period:g} s, which is no multiple of the step of {sim.dt:g} s; take another dt")
        longest = np.inf if time_limit is None else positive("time_limit", time_limit, "seconds")
        self.limit = np.ceil(longest/self.period*(1.0 - 1e-9))

    def drawn(self, random: np.random.Generator) -> dict[str, Any]:
        """An initial state."""
        return {} if self.start is None else dict(self.start(random))

    def act(self, actions: ArrayLike) -> Floats:
        """Apply actions from now on, clipped to their bounds; returns the clipped ones."""
        given = array("actions", actions, len(self.entries))
        rows: Floats = given.reshape(-1, max(1, given.shape[-1]) if given.ndim else 1)
        if rows.shape != (self.sim.rows, len(self.entries)):
            wanted = f"{'rows of '*self.sim.batched}{len(self.entries)} numbers"
            raise StateError(f"the actions have shape {given.shape}; give {wanted}: {', '.join(self.u.names)}")
        rows = np.clip(rows, self.u.low, self.u.high)
        if not np.isfinite(rows).all():
            raise StateError(f"the actions are {given.tolist()}; give finite numbers")
        self.sim._set_inputs("actions", self.entries, rows)
        return rows

    def observe(self, x: Floats) -> Floats:
        """(rows, numbers): outputs at the present state x, without noise."""
        if self.columns is not None:
            return np.ascontiguousarray(x[:, self.columns])
        found = self.sim._measure(self.y.names)
        return np.concatenate([np.reshape(found[name], (len(x), -1)) for name in self.y.names], axis=1)

    def measured(self, y: Floats, randoms: Sequence[np.random.Generator]) -> Floats:
        """Outputs with noise and quantization, as an agent gets them."""
        if self.noise.any():
            y = y + self.noise*np.array([random.standard_normal(y.shape[1]) for random in randoms])
        coarse = self.quantum > 0.0
        if coarse.any():
            y = y.copy()
            y[:, coarse] = self.quantum[coarse]*np.rint(y[:, coarse]/self.quantum[coarse])
        return y


def _columns(model: Model, names: Sequence[str]) -> Any:
    """Places of the outputs in x, if all of them are entries of x; otherwise None."""
    entries = [state_entry(model, model.system.outputs[name]) for name in names]
    found = [entry for entry in entries if entry is not None]
    if len(found) < len(entries):
        return None
    contiguous = found == list(range(found[0], found[0] + len(found)))
    return slice(found[0], found[-1] + 1) if contiguous else np.array(found)


class Environment(gymnasium.Env[Floats, Floats]):
    """A model with ports as a Gymnasium environment: observations are outputs, actions are inputs.

    Parameters
    ----------
    model : Model or System
    reward : callable
        `reward(t, y, u)`: t is the time since the reset [s], y are the observed outputs after the step, without noise, and u the
        applied actions, both by name.
    observations, actions : sequence of str, or dict of (low, high), optional
        Outputs and inputs by name, with their bounds; by default all declared ones, unbounded. Actions beyond their bounds are
        clipped.
    terminated : callable, optional
        `terminated(t, y)`: whether the episode has ended.
    start : callable, optional
        `start(random)` returns q0, v0, wheels0, orbit0, tanks0, or some of them, in a dict; `random` is the seeded numpy generator.
    period : float, optional
        Seconds between actions; by default, one step.
    time_limit : float, optional
        Seconds after which an episode is truncated.
    sample_rate : float
        Samples per second of `simulator.result()`, which covers the current episode; 0 records none.
    **options
        As in `bough.Simulator`: method, dt, laws, parameters, ...

    Attributes
    ----------
    simulator : Simulator

    Notes
    -----
    An observation has the noise and the quantum of its output. A run that diverges ends the episode: `terminated` is true, the
    observation is the last finite one, and `info["diverged"]` holds the reason.

    Examples
    --------
    >>> import bough, bough.gym
    >>> s = bough.System("pendulum", gravity=(0, 0, -9.81))
    >>> bob = s.body("bob", joint=bough.Revolute("y"), mass=2.0, com=(0, 0, -1))
    >>> ports = s.input("motor", coordinate="bob.ry"), s.output("angle", coordinate="bob.ry"), s.output("rate", rate="bob.ry")
    >>> env = bough.gym.Environment(s, dt=0.01, actions={"motor": (-5, 5)}, reward=lambda t, y, u: -y["angle"]**2,
    ...                             start=lambda random: {"q0": random.uniform(-1, 1, 1)}, time_limit=10.0)
    >>> observation, info = env.reset(seed=1)
    >>> observation, reward, terminated, truncated, info = env.step(env.action_space.sample())
    >>> observation.shape, terminated, truncated
    ((2,), False, False)
    """

    metadata: ClassVar[dict[str, Any]] = {"render_modes": []}           # type: ignore[misc]

    def __init__(self, model: Model | System, *, reward: Function, observations: Ports = None, actions: Ports = None,
                 terminated: Function | None = None, start: Function | None = None, period: float | None = None,
                 time_limit: float | None = None, sample_rate: float = 0.0, **options: Any) -> None:
        self._task = task = _Task(model, reward, observations, actions, terminated, start, period, time_limit,
                                  sample_rate=sample_rate, **options)
        if task.sim.batched:
            raise StateError("the initial state is a batch; use bough.gym.VectorEnvironment")
        self.simulator, self.observation_space, self.action_space = task.sim, task.y.space, task.u.space
        self._noisy = bool(task.sim._runs[0].laws.sampled)          # compiled laws read no noise
        self._n, self._y = 0, task.observe(task.sim.x)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Floats, dict[str, Any]]:
        """Reset to an initial state drawn by `start`; `options` override parts of it (q0, v0, ...)."""
        super().reset(seed=seed)
        task, start = self._task, {**self._task.drawn(self.np_random), **(options or {})}
        if self._noisy:
            start["seed"] = int(self.np_random.integers(2**31))
        task.sim.reset(**start)
        self._n, self._y = 0, task.observe(task.sim.x)
        return task.measured(self._y, [self.np_random])[0], {}

    def step(self, action: Floats) -> tuple[Floats, float, bool, bool, dict[str, Any]]:
        """Apply an action for one period."""
        task, sim, info = self._task, self.simulator, dict[str, Any]()
        u = task.act(action)[0]
        self._n += 1
        try:
            if task.steps:
                sim.step(task.steps)
            else:
                sim.advance(sim._options["t0"] + self._n*task.period)
            self._y = task.observe(sim.x)
        except SimulationError as error:
            info["diverged"] = str(error)
        t, y = self._n*task.period, task.y.named(self._y[0])
        reward = float(task.reward(t, y, task.u.named(u)))
        ended = bool(info) or (task.terminated is not None and bool(task.terminated(t, y)))
        return task.measured(self._y, [self.np_random])[0], reward, ended, bool(self._n >= task.limit), info


class VectorEnvironment(VectorEnv[Floats, Floats, Floats]):
    """Many environments of one model in SIMD lanes: a Gymnasium vector environment.

    Parameters
    ----------
    model : Model or System
    num_envs : int
        Number of environments.
    reward, terminated : callable
        As in `Environment`, for all environments at once: t, y and u have a leading axis.
    observations, actions, start, period, time_limit
        As in `Environment`. `start` is called for one environment at a time, each with its own generator.
    autoreset_mode : AutoresetMode or str
        When an environment is reset after the end of its episode: Gymnasium's "NextStep" (at the next step, whose action is
        ignored), "SameStep" (immediately; `info["final_obs"]` holds the last observation), or "Disabled" (when `reset` is called
        with `options={"reset_mask": ...}`).
    **options
        As in `bough.Simulator`, with a fixed-step method. `parameters` can differ between environments.

    Notes
    -----
    Environment i matches an `Environment` with the seed seed + i. Each has its own time, which restarts at its reset; compiled
    laws, time tables and motions use that time. All environments step together, so loads and motions can jump only at the end of a
    step, and a model with events, stops or sampled laws is rejected.

    Examples
    --------
    >>> import bough, bough.gym
    >>> s = bough.System("pendulum", gravity=(0, 0, -9.81))
    >>> bob = s.body("bob", joint=bough.Revolute("y"), mass=2.0, com=(0, 0, -1))
    >>> ports = s.input("motor", coordinate="bob.ry"), s.output("angle", coordinate="bob.ry")
    >>> envs = bough.gym.VectorEnvironment(s, 64, dt=0.01, actions={"motor": (-5, 5)}, reward=lambda t, y, u: -y["angle"]**2,
    ...                                    start=lambda random: {"q0": random.uniform(-1, 1, 1)}, time_limit=10.0)
    >>> observations, infos = envs.reset(seed=1)
    >>> observations, rewards, terminations, truncations, infos = envs.step(envs.action_space.sample())
    >>> observations.shape, rewards.shape
    ((64, 1), (64,))
    """

    def __init__(self, model: Model | System, num_envs: int, *, reward: Function, observations: Ports = None, actions: Ports = None,
                 terminated: Function | None = None, start: Function | None = None, period: float | None = None,
                 time_limit: float | None = None, autoreset_mode: str | AutoresetMode = AutoresetMode.NEXT_STEP,
                 **options: Any) -> None:
        if not isinstance(num_envs, int | np.integer) or isinstance(num_envs, bool) or num_envs < 1:
            raise StateError(f"num_envs is {shown(num_envs)}; give a number of environments, 1 or more")
        compiled = as_model(model)
        if compiled.system.events or compiled.system.stops:
            what = "events" if compiled.system.events else "stops"
            raise StateError(f"system '{compiled.system.name}' has {what}, which part the steps of one environment, but those in "
                             "lanes take steps together; use bough.gym.Environment (gymnasium.vector.SyncVectorEnv makes many of "
                             "one)")
        for name in START:
            if name in options:
                raise StateError(f"{name} is given; let start(random) return it")
        self._task = task = _Task(compiled, reward, observations, actions, terminated, start, period, time_limit, sample_rate=0.0,
                                  q0=np.tile(compiled.q0, (num_envs, 1)), **options)
        if task.sim.method not in FIXED:
            raise StateError(f"method is '{task.sim.method}'; lanes take steps together: use one of {', '.join(FIXED)}")
        self.simulator, self.num_envs = task.sim, num_envs
        self.single_observation_space, self.single_action_space = task.y.space, task.u.space
        self.observation_space, self.action_space = batch_space(task.y.space, num_envs), batch_space(task.u.space, num_envs)
        self._mode = AutoresetMode(autoreset_mode)
        self.metadata = {"render_modes": [], "autoreset_mode": self._mode}
        self._randoms = [seeding.np_random()[0] for _ in range(num_envs)]
        self._steps, self._ended = np.zeros(num_envs), np.zeros(num_envs, bool)
        self._x = task.sim.x

    def reset(self, *, seed: int | Sequence[int | None] | None = None,
              options: dict[str, Any] | None = None) -> tuple[Floats, dict[str, Any]]:
        """Reset all environments, or those of `options["reset_mask"]`."""
        mask = np.asarray((options or {}).get("reset_mask", np.ones(self.num_envs, bool)))
        if mask.shape != (self.num_envs,) or mask.dtype != bool or not mask.any():
            raise StateError(f"reset_mask is {mask!r}; give {self.num_envs} of True and False, at least one True")
        if seed is None or isinstance(seed, int):
            seeds = [None if seed is None else seed + i for i in range(self.num_envs)]
        else:
            seeds = list(seed)
        if len(seeds) != self.num_envs:
            raise StateError(f"there are {len(seeds)} seeds; give one, or {self.num_envs}")
        for i in np.flatnonzero(mask):
            if seeds[i] is not None:
                self._randoms[i] = seeding.np_random(seeds[i])[0]
        self._restart(mask)
        return self._task.measured(self._task.observe(self._x), self._randoms), {}

    def _restart(self, mask: Any) -> None:
        """Restart some environments."""
        starts = [self._task.drawn(self._randoms[i]) for i in np.flatnonzero(mask)]
        begin = self.simulator._options["t0"]
        self.simulator.restart(mask, t0=begin, **{name: np.array([start[name] for start in starts]) for name in starts[0]})
        self._steps[mask], self._ended[mask], self._x = 0.0, False, self.simulator.x

    def step(self, actions: Floats) -> tuple[Floats, Floats, Any, Any, dict[str, Any]]:
        """Apply an action in each environment for one period."""
        task, again = self._task, self._ended.copy()
        if self._mode == AutoresetMode.DISABLED and again.any():
            raise StateError(f"environments {np.flatnonzero(again).tolist()} have ended; reset them first, by "
                             "reset(options={'reset_mask': ...})")
        u, diverged = task.act(actions), self._advance()
        self._steps += 1.0
        y, t = task.observe(self._x), self._steps*task.period
        named = task.y.named(y)
        rewards = np.array(np.broadcast_to(task.reward(t, named, task.u.named(u)), self.num_envs), float)
        ended = diverged if task.terminated is None else diverged | np.asarray(task.terminated(t, named), bool)
        cut, infos = self._steps >= task.limit, dict[str, Any]()
        if diverged.any():
            infos |= {"diverged": diverged.copy(), "_diverged": diverged.copy()}
        if self._mode == AutoresetMode.NEXT_STEP and again.any():
            rewards[again], ended[again], cut[again] = 0.0, False, False
            self._restart(again)
            y = task.observe(self._x)
        self._ended = ended | cut
        if self._mode == AutoresetMode.SAME_STEP and self._ended.any():
            y = self._restart_at_once(y, infos)
        return task.measured(y, self._randoms), rewards, ended, cut, infos

    def _restart_at_once(self, y: Floats, infos: dict[str, Any]) -> Floats:
        """Restart ended environments; their last observations go into infos, and the new ones are returned."""
        mask, last, final = self._ended.copy(), np.full(self.num_envs, None, object), self._task.measured(y, self._randoms)
        for i in np.flatnonzero(mask):
            last[i] = final[i]
        infos |= {"final_obs": last, "_final_obs": mask, "final_info": dict(infos), "_final_info": mask}
        self._restart(mask)
        return self._task.observe(self._x)

    def _advance(self) -> Any:
        """Step all lanes; returns which have diverged: these keep their previous state."""
        with suppress(SimulationError):                         # raised if all have diverged
            self.simulator.step(self._task.steps)
        diverged = self.simulator.diverged
        if diverged.any():
            self.simulator.restart(diverged, x=self._x[diverged])
        self._x = self.simulator.x
        return diverged
