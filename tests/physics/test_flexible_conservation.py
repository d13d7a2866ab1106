"""A free-floating tree keeps its energy and its momenta: what is lost is the integrator's, and falls at its order.

The forces follow from one energy, truncated or not, so that this holds with geometric stiffness and with inertia of points as well.
"""

import numpy as np
import pytest

import bough
from bough.integrate import integrate
from tests.support.flexible_trees import modal_places
from tests.support.tolerance import oscillation

BEAM = {"EI": (4.0, 6.0), "GJ": 3.0, "polar_inertia": 0.02, "mass_per_length": 0.8, "elements": 4, "nodes": {"middle": 0.5}}


def floating(boundary, stiffening, wheels):
    """A hub with two beams, one on a hinge and one welded; a beam and a rigid body on the first one's nodes."""
    words = {"boundary": boundary, "geometric_stiffness": stiffening, **BEAM}
    s = bough.System("floating")
    s.body("hub", joint=bough.Free(), mass=6.0, com=(0.1, 0, 0), inertia=(0.6, 0.8, 0.9))
    s.body("arm", parent="hub", joint=bough.Revolute("z"), at=(0.3, 0, 0), flexible=bough.beam(1.0, modes=5, **words))
    s.body("hand", parent="arm", node="tip", joint=bough.Universal("yz"), mass=0.5, com=(0.1, 0, 0.05), inertia=(0.02, 0.02, 0.03))
    s.body("twig", parent="arm", node="middle", orient=(0, 0, 0.6, 0.8), flexible=bough.beam(0.7, modes=2, **words))
    s.body("mast", parent="hub", orient=(0, 0.6, 0, 0.8), flexible=bough.beam(0.8, modes=2, **words))
    if wheels:
        s.wheel("in hub", body="hub", axis=(1, 2, 2), inertia=0.01, speed=40.0, torque=0.0)
        s.wheel("in hand", body="hand", axis="x", inertia=0.002, speed=-100.0, torque=0.0)
        s.wheel("on mast", body="mast", node="middle", axis="y", inertia=5e-4, speed=200.0, torque=0.0)
    return s.compile()


def start(model):
    """Spin of the hub, hinges in motion, and modes that swing with nodes some centimeters away: equal strain energies."""
    rng = np.random.default_rng(7)
    q, v = model.q0.copy(), rng.uniform(-0.5, 0.5, model.nv)
    stiffness = np.ones(model.nv)
    for body in model.system.bodies.values():
        if body.flexible is not None:
            at = model.places[body.name][1] + body.joint.n_v
            stiffness[at : at + body.n_modes] = np.diag(body.flexible.K)
    modal = modal_places(model)
    size = 0.1 if model.system.bodies["arm"].flexible.reduction == "cantilever" else 0.4
    q[modal_places(model, "q")] = size * rng.normal(size=modal.sum()) / np.sqrt(stiffness[modal])
    v[modal] *= 2 * size
    v[3:6] += 0.5, -0.3, 0.8
    return q, v


def drifts(model, dt, until=1.0):
    """Of energy, angular and linear momentum over a run, each relative to its size; and how far the tip of the arm went, meters."""
    q, v = start(model)
    x = integrate(model, q0=q, v0=v, until=until, dt=dt, sample_rate=20).x[0]
    q, v, wheels = x[:, : model.nq], x[:, model.nq : model.nq + model.nv], x[:, model.nq + model.nv :]
    seen = model.bodies(q, v, wheels=wheels)
    energy, momentum = seen.kinetic_energy + seen.potential_energy, seen.momentum
    at = model.places["arm"][0] + 1
    bent = q[:, at : at + 5] @ model.system.bodies["arm"].flexible.nodes.phi[1].T
    kept = [energy[:, None], momentum[:, :3], momentum[:, 3:]]
    return np.array([np.abs(each - each[0]).max() / np.abs(each[0]).max() for each in kept]), np.abs(bent).max()


@pytest.mark.parametrize("wheels", [False, True])
@pytest.mark.parametrize("stiffening", [False, True])
@pytest.mark.parametrize("boundary", ["cantilever", "free-free"])
def test_drift_falls_at_the_order_of_rk4(boundary, stiffening, wheels):
    """Halving the step divides the drift by 2^4, or by 2^5 where oscillations dominate it: at least 3.8 in powers of two, for the
    next term is at most w h = 0.1 of the first one. None is larger than if the fastest mode had all of the energy."""
    model, dt = floating(boundary, stiffening, wheels), {"cantilever": 5e-4, "free-free": 1e-3}[boundary]
    (coarse, bent), (fine, _) = drifts(model, dt), drifts(model, dt / 2)
    fastest = 2 * np.pi * model.modes(start(model)[0]).frequencies.max()  # rad/s
    assert 0.05 < fastest * dt < 0.1
    assert fine.max() < oscillation("rk4", fastest, dt / 2, 1.0)  # the half step, over a second
    assert bent > 0.02  # meters: the deformation is one to be noticed
    assert (np.log2(coarse / fine) > 3.8).all(), (coarse, fine)


def test_held_wheels_keep_the_momenta():
    """Motors that hold the speeds of wheels do work, but no net torque."""
    s = floating("cantilever", True, False).system.copy()
    s.wheel("in hub", body="hub", axis=(1, 2, 2), inertia=0.01, speed=40.0)
    s.wheel("on mast", body="mast", node="tip", axis="y", inertia=5e-4, speed=200.0)
    model = s.compile()
    (coarse, _), (fine, _) = drifts(model, 1e-3), drifts(model, 5e-4)
    assert (np.log2(coarse / fine)[1:] > 3.8).all(), (coarse, fine)
    assert coarse[0] > 1e-3  # the energy is another


def test_the_ruthless_linearization_keeps_none_of_it():
    """Which is what shows that these tests see something: without terms of the deformation energy and momenta drift, at any
    step."""
    full = floating("cantilever", False, False)
    s = bough.System("linearized")
    for body in full.system.bodies.values():
        words = {key: getattr(body, key) for key in ("parent", "joint", "at", "orient", "node")}
        if body.flexible is None:
            s.body(body.name, **words, mass=body.mass, com=body.com, inertia=body.inertia)
        else:
            length = body.flexible.nodes.position[1, 0]
            s.body(body.name, **words, flexible=bough.beam(length, modes=body.n_modes, variant="zeroth_order", **BEAM))
    model = s.compile()
    (coarse, _), (fine, _) = drifts(model, 1e-3), drifts(model, 5e-4)
    assert (fine > 1e-4).all()
    assert fine == pytest.approx(coarse, rel=0.01)  # no order: the step does not matter
