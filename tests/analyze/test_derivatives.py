"""Derivatives along directions, of outputs and by parameters; names and errors.

Tolerances: differences of fourth order (STEP) neglect 1e-12 and leave 1e-12 for each rounding, of which an acceleration has
some hundreds: 1e-9; 1e-8 for sums over all bodies and for numbers of the description. Against long doubles, and between two
ways by duals, ten times what the docstrings say that is left: 1e-10, 1e-9.
"""
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import bough
from bough.analyze.derivatives import Directions, directional, rows_along
from bough.analyze.dynamics_derivatives import Parts
from bough.analyze.equations_of_motion import forward
from bough.analyze.output_derivatives import moved_batch
from bough.analyze.parameters import STENCIL, parameter
from bough.analyze.partials import forward_call, partials
from bough.analyze.signals import outputs
from bough.bench.mechanisms import arms
from bough.bench.setups import bent_states
from bough.errors import StateError
from bough.files import examples, read_system
from tests.support import precise_derivatives, tolerance
from tests.support.compare import assert_same
from tests.support.tolerance import CANCELLING, SWEEP

ROOT = Path(__file__).resolve().parents[2]
STEP = 1e-3             # differences of fourth order neglect 1e-12 of fifth derivatives, and rounding leaves 1e-12


@pytest.fixture(scope="module")
def precisely(tmp_path_factory):
    """Of every example and of some more systems: derivatives by differences of long doubles, and the errors of plain duals."""
    if np.finfo(np.longdouble).eps >= np.finfo(float).eps:
        pytest.skip("long doubles are doubles here")
    folder = tmp_path_factory.mktemp("precise")
    for path in examples().values():                                        # laws of scripts need the compiler
        read_system(path).to_yaml(folder / f"{path.stem}.yaml", exact=True)
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1", "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)])}
    done = subprocess.run([sys.executable, ROOT / "tests/support/precise_derivatives.py", folder], env=environment,
                          capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    errors = {line.rsplit(maxsplit=1)[0]: float(line.rsplit(maxsplit=1)[1]) for line in done.stdout.splitlines()}
    return precise_derivatives.systems(folder), errors, dict(np.load(folder / "precise.npz"))


@pytest.mark.slow
def test_duals_of_every_example_against_extended_precision(precisely):
    """Trees, modes, loops, wheels, orbits, tanks, lines, buoyancy, prescribed and locked motions, and numbers of the tables: along
    random directions of all at once, to the 1e-11 that differences of long doubles leave."""
    systems, errors, _ = precisely
    assert set(errors) == set(systems)
    assert len(errors) == len(examples()) + 4
    assert max(errors.values()) < 1e-10, errors


@pytest.mark.slow
def test_the_public_call_on_every_example_against_extended_precision(precisely):
    """Compiled, and by whatever way is the fastest for the model: closed form, duals by subtrees, duals through forward dynamics.
    Far ends of long chains and orbits, whose positions have seven digits before the point, leave 1e-10."""
    systems, _, theirs = precisely
    models = {name: system.compile() for name, system in systems.items()}
    errors = {name: precise_derivatives.error(model, precise_derivatives.by_public_call(name, model), theirs[name])
              for name, model in models.items()}
    assert max(errors.values()) < 1e-9, errors


def satellite():
    s = bough.System("satellite", gravity=(0, 0, -2.0))
    s.body("hub", joint=bough.Free(), mass=50.0, com=(0.1, 0, 0.05), inertia=(5, 6, 7))
    s.body("arm", parent="hub", joint=bough.Universal("yz", stiffness=(3.0, 2.0), damping=(0.1, 0.2)), at=(0.5, 0, 0), mass=4.0,
           com=(0.5, 0, 0.1), inertia=(0.1, 0.3, 0.3))
    s.wheel("rw", "hub", (1, 2, 2), 0.05, 100.0, torque=0.0)
    s.line("rope", "world", bough.Frame("arm", at=(1, 0, 0)), stiffness=20.0, length=0.1, damping=0.3)
    s.input("motor", coordinate="arm.ry")
    s.input("push", force=bough.Frame("arm", at=(1, 0, 0)))
    tip = bough.Frame("arm", at=(1, 0.2, 0))
    for kind in ("position", "attitude", "velocity", "angular_velocity", "acceleration", "felt_acceleration"):
        s.output(kind, **{kind: tip})
    s.output("seen", position=tip, axes=bough.Frame("hub"))
    s.output("sensed", felt_acceleration=tip, axes="body")
    s.output("angle", coordinate="arm.rz")
    s.output("rate", rate="arm.rz")
    s.output("wheel", wheel="rw")
    s.output("pull", tension="rope")
    s.output("load", load="arm")
    s.output("energy", energy="total")
    s.output("momentum", momentum="angular")
    return s


PARAMETERS = ("hub.mass", "arm.com", "arm.inertia", "arm.at", "arm.ry.stiffness", "arm.damping", "rope.length", "rope.b.at",
              "rw.inertia", "gravity")


@pytest.fixture(scope="module")
def model():
    return satellite().compile()


@pytest.fixture(scope="module")
def state(model):
    rng = np.random.default_rng(3)
    q = model.q0 + 0.3*rng.normal(size=model.nq)
    q[3:7] /= np.linalg.norm(q[3:7])
    return q, rng.normal(size=model.nv), rng.normal(size=model.nv), {"inputs": {"motor": 0.3, "push": (1.0, -2.0, 0.5)}}


def differences(model, batch, along, what, step=STEP):
    """Of fourth order, (directions, ...), along directions of state and inputs."""
    rows = rows_along(model, batch, along)
    return sum(weight*what(moved_batch(batch, rows, times*step)) for times, weight in STENCIL)/step


def test_rates_and_outputs_against_differences(model, state):
    """By q, v, tau, wheel speeds, motors and inputs: v', the wheel, and outputs of every kind."""
    q, v, tau, inputs = state
    found = model.forward_dynamics_derivatives(q, v, tau, outputs=None, **inputs)
    batch, along = replace(model.batch(q, v, tau, **inputs), single=False), Parts(model, ()).directions()
    rates = differences(model, batch, along, lambda moved: forward(model, moved, "order-n").rows)
    columns = [found.dq, found.dv, found.dtau, found.dwheels, found.dmotors, found.dt[:, None], *found.dinputs.values()]
    assert_same(np.concatenate(columns, axis=1), rates[:, :model.nv].T, 1e-9)
    assert_same(found.wheels.dv, rates[model.nv:2*model.nv, model.nv:model.nv + 1].T, 1e-9)
    for name, each in found.doutputs.items():
        want = differences(model, batch, along, lambda moved, name=name: outputs(model, moved, [name])[name])
        by = [each.dq, each.dv, each.dtau, each.dwheels, each.dmotors, each.dt[:, None], *each.dinputs.values()]
        assert_same(np.concatenate(by, axis=1), want.T, 1e-8 if name in ("energy", "momentum") else 1e-9)


def test_parameters_against_other_systems(model, state):
    """Of accelerations, of the wheel's and of outputs, by numbers of the description: against models that have other ones."""
    q, v, tau, inputs = state
    names = ["acceleration", "sensed", "load", "pull", "energy"]
    found = model.forward_dynamics_derivatives(q, v, tau, parameters=PARAMETERS, outputs=names, **inputs)
    for name in PARAMETERS:
        known = parameter(model.system, name)
        got = {"v": found.dparameters[name], "wheels": found.wheels.dparameters[name],
               **{each: found.doutputs[each].dparameters[name] for each in names}}
        for entry, step, systems in known.steps():
            want = {}
            for weight, system in systems:
                other = system.compile()
                seen = {"v": other.forward_dynamics(q, v, tau, **inputs), "wheels": other.wheel_accelerations(q, v, tau, **inputs),
                        **{each: np.atleast_1d(value) for each, value in other.outputs(q, v, tau, names=names, **inputs).items()}}
                want = {key: want.get(key, 0.0) + weight/step*value for key, value in seen.items()}
            for key, value in want.items():
                ours = got[key].reshape(value.size, -1)[:, entry]
                assert_same(ours, value.ravel(), 1e-8, scale=max(1.0, np.abs(got[key]).max()))


def test_flexible_trees_at_once_and_by_forward_dynamics():
    """Duals by subtrees and M^-1 against duals through forward dynamics: branches, ball, slide, modes that move inboard nodes."""
    system = arms(2, 2, 2, "free-free", base="free", limb=("spherical", "prismatic"))
    model = system.compile()
    q, v, _ = bent_states(model, 2)
    found = model.forward_dynamics_derivatives(q, v)
    sizes = dict.fromkeys(("q", "v", "tau"), model.nv)
    want = directional(model, model.batch(q, v), Directions.along(sizes)).along.v.transpose(0, 2, 1)
    M = model.mass_matrix(q)
    for i, got in enumerate((found.dq, found.dv, found.dtau)):
        for state in range(2):
            assert_same(got[state], want[state, :, i*model.nv:(i + 1)*model.nv], 1e-10)
    np.testing.assert_allclose(found.dtau @ M, np.broadcast_to(np.eye(model.nv), M.shape), atol=1e-9)
    torques = model.inverse_dynamics_derivatives(q, v, found.value)
    assert_same(found.dtau @ torques.dq, -found.dq, 1e-9)
    assert_same(torques.da, M, SWEEP)


def test_a_long_chain_keeps_its_digits():
    """M of 120 links takes 1e7 of what M^-1 multiplies: derivatives come from duals then, those of a short chain do not. A batch
    says the same as its states."""
    for links in (10, 120):
        s = bough.System("chain", gravity=(0, 0, -9.81))
        for i in range(links):
            s.body(f"link{i}", parent=f"link{i - 1}" if i else None, at=(0, 0, -0.1 if i else 0), joint=bough.Revolute("y"),
                   mass=0.01, com=(0, 0, -0.05), inertia=(1e-5, 1e-5, 1e-7))
        model, rng = s.compile(), np.random.default_rng(links)
        q, v = 0.3*rng.normal(size=(2, links)), rng.normal(size=(2, links))
        found = model.forward_dynamics_derivatives(q, v)
        single = model.forward_dynamics_derivatives(q[1], v[1])
        along = directional(model, model.batch(q, v), Directions.along({"q": links, "v": links, "tau": links})).along.v
        for got, own, first in ((found.dq, single.dq, 0), (found.dv, single.dv, links), (found.dtau, single.dtau, 2*links)):
            want = along[:, first:first + links].transpose(0, 2, 1)
            assert np.abs(got - want).max() < CANCELLING*np.abs(want).max()
            assert np.abs(got[1] - own).max() < CANCELLING*np.abs(want).max()
        batch = model.batch(q, v)
        assert bool(partials(forward_call(model, batch), batch, links)[2]) == (links > 100)


def test_far_from_the_origin():
    """The closed form works about the tree's first body: where the world's origin is does not matter."""
    s = bough.System("chaser", gravity=(0, 0, -1.0))
    s.body("hub", joint=bough.Free(), mass=50.0, com=(0.1, 0, 0.05), inertia=(5, 6, 7))
    s.body("ball", parent="hub", joint=bough.Spherical(), at=(0.5, 0, 0), mass=4.0, com=(0.5, 0, 0.1), inertia=(0.1, 0.3, 0.3))
    s.body("slide", parent="hub", joint=bough.Prismatic("y", stiffness=3.0), at=(-0.5, 0, 0), mass=2.0, inertia=(0.1, 0.3, 0.3))
    model, rng = s.compile(), np.random.default_rng(8)
    q, v, tau = model.q0 + 0.3*rng.normal(size=model.nq), rng.normal(size=model.nv), rng.normal(size=model.nv)
    far = q.copy()
    far[:3] += (1e5, -2e5, 3e5)
    here, there = model.forward_dynamics_derivatives(q, v, tau), model.forward_dynamics_derivatives(far, v, tau)
    duals = directional(model, model.batch(q, v, tau), Directions.along(dict.fromkeys(("q", "v", "tau"), model.nv))).along.v[0].T
    assert here.__dict__ == there.__dict__ == {}                    # both in closed form
    for found in (here, there):
        assert_same(np.concatenate([found.dq, found.dv, found.dtau], axis=1), duals, CANCELLING)
        assert_same(found.value, model.forward_dynamics(q, v, tau), CANCELLING)


def test_frequencies_of_modes_by_closed_form():
    """eta'' = - (2 pi f)^2 eta - 2 zeta 2 pi f eta' of a beam at rest on the ground: its derivative by f keeps zeta."""
    s = bough.System("beam", gravity=(0, 0, 0))
    s.body("beam", flexible=bough.beam(2.0, EI=50.0, mass_per_length=0.5, modes=2, damping=0.02, variant="zeroth_order",
                                       geometric_stiffness=False))
    model, eta, rate = s.compile(), np.array([0.01, -0.02]), np.array([0.3, 0.1])
    found = model.forward_dynamics_derivatives(eta, rate, parameters=["beam.frequency", "beam.frequency[1]"])
    f = model.system.bodies["beam"].elastic.frequencies
    want = -8*np.pi**2*f*eta - 2*0.02*2*np.pi*rate
    left = tolerance.differences(STEP, order=4)
    assert_same(found.dparameters["beam.frequency"], np.diag(want), left)
    assert_same(found.dparameters["beam.frequency[1]"], [0.0, want[1]], left)


def test_one_of_many_links_that_are_alike():
    """Links that are alike share their numbers in the tables; a parameter of one of them changes that one alone."""
    model = arms(1, 2, 1, "zeroth-order").compile()
    q, v, name = [0.1, 0.02, -0.2, 0.03], np.zeros(4), "arm0 link1.frequency"
    found = model.forward_dynamics_derivatives(q, v, parameters=[name]).dparameters[name][:, 0]
    want = 0.0
    for _, step, systems in parameter(model.system, name).steps():
        want = sum(weight*system.compile().forward_dynamics(q, v) for weight, system in systems)/step
    assert_same(found, want, 1e-9)


@pytest.mark.parametrize(("options", "words"), [
    ({"parameters": ["arm.mas"]}, r"body 'arm' has no number 'mas' \(did you mean 'mass'"),
    ({"parameters": ["amr.mass"]}, r"is no number of the description \(did you mean 'arm.mass'"),
    ({"parameters": ["arm.com[3]"]}, "'arm.com' has the shape"),
    ({"parameters": ["hub.stiffness"]}, "body 'hub' has no number 'stiffness'"),
    ({"outputs": ["postion"]}, "there is no output 'postion', did you mean 'position'"),
])
def test_errors_say_what_to_do(model, state, options, words):
    with pytest.raises(StateError, match=words.replace("[", r"\[")):
        model.forward_dynamics_derivatives(state[0], state[1], **options)


def test_what_is_printed(model, state):
    shown = repr(model.forward_dynamics_derivatives(state[0], state[1], parameters=["arm.com"], outputs=["load"]))
    assert shown.startswith("ForwardDerivatives of 8 numbers\n  dq (8, 8), largest")
    assert "dinputs['push'] (8, 3)" in shown
    assert "dparameters['arm.com'] (8, 3)" in shown
    assert "doutputs['load'] (6, 8)" in shown
