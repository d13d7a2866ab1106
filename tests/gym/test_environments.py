"""Environments: what Gymnasium asks of them, one against many in lanes, and against the simulator itself."""

import doctest
import subprocess
import sys
import warnings

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode, SyncVectorEnv

import bough
from bough.gym import Environment, VectorEnvironment
from tests.support.tolerance import FORMULA, PRODUCTS, roundings

DT = 0.02
# 15 steps of 4 stages of 45 roundings, which grow for 0.3 s as the pole falls, at sqrt(0.49 N m/0.033 kg m^2) = 3.9/s
GROWN = roundings(15*4*45, magnified=np.exp(3.9*0.3))


def cart(**output):
    """A pole on a cart, whose outputs are entries of x; `output`: one more."""
    s = bough.System("cart", gravity=(0, 0, -9.81))
    s.body("cart", joint=bough.Prismatic("x"), mass=1.0)
    s.body("pole", parent="cart", joint=bough.Revolute("y"), mass=0.1, com=(0, 0, 0.5), inertia=(0.01, 0.01, 0.01))
    s.input("push", coordinate="cart.x")
    for name, coordinate in (("place", "cart.x"), ("angle", "pole.ry")):
        s.output(name, coordinate=coordinate)
        s.output(f"{name}_rate", rate=coordinate)
    for name, target in output.items():
        s.output(name, **target)
    return s


def options(**more):
    return {"dt": DT, "actions": {"push": (-10.0, 10.0)}, "reward": lambda t, y, u: 1.0 - 0.01 * u["push"] ** 2 + 0.0 * t,
            "terminated": lambda t, y: np.abs(y["angle"]) > 0.2,
            "start": lambda random: {"q0": random.uniform(-0.05, 0.05, 2), "v0": random.uniform(-0.05, 0.05, 2)},
            "time_limit": 1.0, **more}


def played(env, steps, seed=3, **reset):
    """What a sequence of random actions gives."""
    random, found = np.random.default_rng(0), [env.reset(seed=seed, **reset)[0]]
    for _ in range(steps):
        *seen, _ = env.step(random.uniform(-10.0, 10.0, env.action_space.shape))
        found.append(np.concatenate([np.reshape(part, (getattr(env, "num_envs", 1), -1)) for part in seen], axis=1))
    return found


@pytest.mark.parametrize("output", [{}, {"tip": {"position": bough.Frame("pole", at=(0, 0, 1)), "noise": 1e-3, "quantum": 1e-4}}])
def test_gymnasium_is_content_with_an_environment(output):
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*(infinity|spec|render|normalized).*")
        check_env(Environment(cart(**output), **options()), skip_render_check=True)


def test_an_episode_is_a_run_of_the_simulator():
    """The same bits: an environment adds nothing to the motion. Three steps for each action."""
    env = Environment(cart(), **options(period=3 * DT, terminated=None, sample_rate=1 / DT))
    observation, _ = env.reset(seed=5)
    random = np.random.default_rng(5)
    sim = bough.Simulator(cart(), dt=DT, q0=random.uniform(-0.05, 0.05, 2), v0=random.uniform(-0.05, 0.05, 2))
    for action in (3.0, -7.0, 25.0):
        observation, reward, *_ = env.step(np.array([action]))
        sim.u["push"] = min(action, 10.0)                                  # beyond its bounds: the bound
        sim.step(3)
        assert observation.tolist() == [sim.y[name] for name in ("place", "place_rate", "angle", "angle_rate")]
        assert reward == 1.0 - 0.01 * min(action, 10.0) ** 2
    assert env.simulator.result().time.tolist() == sim.result().time.tolist()


@pytest.mark.parametrize("mode", AutoresetMode)
def test_lanes_do_what_gymnasium_does_with_single_environments(mode):
    """Gymnasium's own loop over environments is the witness, through many ends and resets, in all modes."""
    n, task = 6, options(time_limit=0.3)
    many = VectorEnvironment(cart(), n, autoreset_mode=mode, **task)
    single = SyncVectorEnv([lambda: Environment(cart(), **task)] * n, autoreset_mode=mode)
    (mine, _), (wanted, _) = many.reset(seed=11), single.reset(seed=11)
    np.testing.assert_allclose(mine, wanted, rtol=FORMULA, atol=FORMULA)
    random, ends = np.random.default_rng(1), 0
    for _ in range(60):
        actions = random.uniform(-10.0, 10.0, (n, 1))
        *mine, infos = many.step(actions)
        *wanted, told = single.step(actions)
        for found, want in zip(mine, wanted, strict=True):
            np.testing.assert_allclose(found, want, rtol=GROWN, atol=GROWN)
            assert found.dtype == want.dtype
        done = mine[2] | mine[3]
        ends += done.sum()
        if mode == AutoresetMode.SAME_STEP and done.any():
            assert (infos["_final_obs"] == told["_final_obs"]).all()
            last, theirs = (np.stack(each["final_obs"][done]) for each in (infos, told))
            np.testing.assert_allclose(last, theirs, rtol=GROWN, atol=GROWN)
        if mode == AutoresetMode.DISABLED and done.any():
            mine, wanted = (each.reset(options={"reset_mask": done.copy()})[0] for each in (many, single))
            np.testing.assert_allclose(mine, wanted, rtol=GROWN, atol=GROWN)
    assert ends > 2 * n


@pytest.mark.parametrize("make", [lambda **more: Environment(cart(), **options(**more)),
                                  lambda **more: VectorEnvironment(cart(), 5, **options(**more))])
def test_a_seed_gives_the_same_numbers(make):
    first, again, other = (played(make(), 30, seed) for seed in (3, 3, 4))
    assert all((a == b).all() for a, b in zip(first, again, strict=True))
    assert (first[0] != other[0]).any()


def test_what_diverges_ends_and_the_other_lanes_go_on():
    """A push without bounds blows one lane up; the others must not notice."""
    task = options(actions=["push"], terminated=None, reward=lambda t, y, u: 0.0)
    envs, alone = VectorEnvironment(cart(), 5, **task), VectorEnvironment(cart(), 5, **task)
    envs.reset(seed=0), alone.reset(seed=0)
    actions, wild = np.zeros((5, 1)), np.zeros((5, 1))
    wild[2] = 1e300
    last = envs.step(actions)[0]
    alone.step(actions)
    seen, _, ended, _, infos = envs.step(wild)
    wanted = alone.step(actions)[0]
    assert ended.tolist() == infos["diverged"].tolist() == [False, False, True, False, False]
    assert (seen[2] == last[2]).all()
    assert (np.delete(seen, 2, 0) == np.delete(wanted, 2, 0)).all()
    seen, *_ = envs.step(actions)
    assert np.abs(seen[2]).max() <= 0.05                                  # begun anew
    assert (np.delete(seen, 2, 0) == np.delete(alone.step(actions)[0], 2, 0)).all()
    assert envs.step(np.full((5, 1), 1e300))[2].all()                     # all of them
    assert np.isfinite(envs.step(actions)[0]).all()
    env = Environment(cart(), **task)
    env.reset(seed=0)
    _, _, ended, _, info = env.step(np.array([1e300]))
    assert ended
    assert "diverged at t" in info["diverged"]
    assert np.isfinite(env.reset()[0]).all()


def test_an_adaptive_method_takes_its_own_steps_between_actions():
    env = Environment(cart(), **options(dt=None, method="dopri5", period=0.1))
    env.reset(seed=1)
    _, _, _, _, _ = env.step(np.array([1.0]))
    assert env.simulator.t == pytest.approx(0.1, rel=PRODUCTS)


def test_events_and_laws_begin_anew_with_each_episode():
    """A latch that has caught the pole lets it go again; the noise that a law reads comes from the seed."""
    system = cart()
    system.latch("catch", coordinate="pole.ry", at=0.15)
    system.output("shaky", coordinate="cart.x", noise=0.1)
    env = Environment(system, **options(observations=["angle", "angle_rate", "place"], time_limit=4.0,
                                        laws=[bough.Law(lambda t, y: {"push": -y["shaky"]}, period=DT)]))

    def episode(seed):
        found = [env.reset(seed=seed, options={"q0": [0.0, 0.1]})[0]]
        found += [env.step(np.array([0.0]))[0] for _ in range(60)]
        return np.array(found)

    first, again, other = episode(1), episode(1), episode(2)
    assert (first == again).all()
    assert (first[-1, 2] != other[-1, 2]).all()
    assert first[-1, 0] == pytest.approx(0.15)
    assert first[-1, 1] == 0.0


@pytest.mark.parametrize(("more", "words"), [
    ({"actions": ["psh"]}, "no input 'psh', did you mean 'push'"),
    ({"observations": ["angel"]}, "no output 'angel', did you mean 'angle'"),
    ({"actions": {"push": (1.0, -1.0)}}, r"'push': its bounds are \(1.0, -1.0\)"),
    ({"period": 0.03}, "no multiple of the step"),
    ({"time_limit": -1.0}, "time_limit"),
    ({"reward": None}, "reward is None; give a function"), ({"terminated": 3.0}, "terminated is 3.0; give a function"),
    ({"start": "rest"}, "start is 'rest'; give a function"), ({"observations": 3}, "outputs is 3; give a name"),
    ({"actions": [["push"]]}, "inputs is .*; give a name"),
])  # fmt: skip
def test_wrong_options_are_named(more, words):
    for make in (Environment, lambda system, **all_: VectorEnvironment(system, 4, **all_)):
        with pytest.raises(bough.StateError, match=words):
            make(cart(), **options(**more))


def test_wrong_actions_are_named():
    envs = VectorEnvironment(cart(), 4, **options())
    envs.reset(seed=0)
    for actions, words in ((np.zeros((3, 1)), "shape"), (np.full((4, 1), np.nan), "give finite numbers"),
                           ([], "shape"), ("go", "actions is 'go'")):
        with pytest.raises(bough.StateError, match=words):
            envs.step(actions)


@pytest.mark.parametrize("number", [0, -1, 2.5, "4", None, True])
def test_wrong_numbers_of_environments_are_named(number):
    with pytest.raises(bough.StateError, match=r"num_envs is .*; give a number of environments"):
        VectorEnvironment(cart(), number, **options())


def test_what_lanes_cannot_do_is_named():
    caught, stopped = cart(), cart()
    caught.latch("catch", coordinate="pole.ry", at=0.1)
    stopped.stop("post", coordinate="cart.x", above=1.0, stiffness=1e3)
    for system, more, words in ((caught, {}, "has events"), (stopped, {}, "has stops"),
                                (cart(), {"method": "dopri5", "dt": None, "period": 0.1}, "steps together"),
                                (cart(), {"q0": [0, 0]}, "let start")):
        with pytest.raises(bough.StateError, match=words):
            VectorEnvironment(system, 4, **options(**more))
    sampled = VectorEnvironment(cart(), 4, **options(laws=[bough.Law(lambda t, y: {}, period=DT)]))
    with pytest.raises(bough.StateError, match="sampling periods"):
        sampled.reset(seed=0)
    jumping = VectorEnvironment(with_fan(jump=2.5*DT), 4, **options())
    with pytest.raises(bough.StateError, match=r"changes at t = 0.05 s, inside a step of 0.02 s .* take a dt that divides it"):
        jumping.reset(seed=0)


def with_fan(jump):
    """A lever on the cart whose torque depends on time, and jumps, and on it a drum that is driven: both move the cart."""
    s = cart()
    torque = {"times": [0, jump, 1], "values": [1, -3, 2], "kind": "hold"}
    s.body("fan", parent="cart", joint=bough.Revolute("z", torque=torque), mass=1, com=(0, 0.3, 0), inertia=(0.1, 0.1, 0.1))
    swing = bough.motion.Harmonics([(0.3, 0.8, 0.0)])
    s.body("drum", parent="fan", joint=bough.Revolute("y", motion=swing), mass=1, com=(0.2, 0, 0),
           inertia=(0.1, 0.1, 0.1))
    s.input("gust", coordinate="cart.x")
    return s


def test_environments_have_times_of_their_own():
    """Those that begin anew do so at t = 0: loads that jump, motions and compiled laws see that, as they do alone."""
    @bough.controller(outputs=["place"], inputs=["gust"])
    def wind(t, y, u):
        u[0] = 5.0*np.sin(3.0*t) - y[0]

    system = with_fan(jump=4*DT)
    chosen = options(time_limit=0.3, laws=[wind], terminated=lambda t, y: y["place"] > 0.05,
                     start=lambda random: {"q0": [*random.uniform(-0.1, 0.1, 3), 0.0]})
    many = VectorEnvironment(system, 5, **chosen)
    ones = [Environment(system, **chosen) for _ in range(5)]
    random, seen = np.random.default_rng(0), many.reset(seed=3)[0]
    alone = np.array([env.reset(seed=3 + i)[0] for i, env in enumerate(ones)])
    ended, begun = np.zeros(5, bool), 0
    for _ in range(60):
        np.testing.assert_allclose(seen, alone, rtol=GROWN, atol=GROWN)
        actions = random.uniform(-10.0, 10.0, (5, 1))
        seen, _, terminated, truncated, _ = many.step(actions)
        alone = np.array([env.reset()[0] if ended[i] else env.step(actions[i])[0] for i, env in enumerate(ones)])
        ended, begun = terminated | truncated, begun + int(ended.sum())
    assert begun > 10
    assert len(set(many.simulator.times.round(9))) > 1
    assert many.simulator.t == pytest.approx(60*DT)


def test_gymnasium_that_is_missing_is_named():
    script = "import sys; sys.modules['gymnasium'] = None; import bough; bough.gym"
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert ended.stderr.strip().endswith("bough.gym needs Gymnasium 1.1 or later: pip install 'bough[gym]'")


def test_docstrings():
    assert doctest.testmod(bough.gym).failed == 0


def test_both_are_gymnasium_s():
    assert issubclass(Environment, gymnasium.Env)
    assert issubclass(VectorEnvironment, gymnasium.vector.VectorEnv)
