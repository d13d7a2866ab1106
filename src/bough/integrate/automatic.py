"""`method="auto"`: which method suits a system, a step or tolerances, and why.

The choice is made from quantities known without a kernel, the frequencies of modes and of joint springs with their own bodies, if
these are much too fast for explicit steps or much slower; otherwise from the assembled system."""
from collections.abc import Callable

import numpy as np

from bough import integrate as optional
from bough.compile.coordinates import coordinate_place, sticking_frictions, touching
from bough.integrate.methods import FIXED
from bough.integrate.run import Run
from bough.integrate.step_safety import longest_step
from bough.model import Model

RESOLVED, SLOW, FAST = 1.0, 0.05, 4.0       # rad per step: limit of accurate explicit steps; limits of the choice without a kernel
GENTLE = 0.5                                # rad per step of the explicit part: stability limit of imex4
MANY_STEPS = 2000                           # explicit steps in ten periods of the slowest motion: fewer are cheap
TIGHT = 1e-8                                # tolerances at which even small modes must be resolved
SLOWER = 1/3                                # of the fastest motion: limit for a slow explicit part


def local_rates(model: Model) -> np.ndarray:
    """rad/s of the parts that implicit methods treat implicitly: single modes, springs and dampers on the inertia of their
    bodies."""
    found: list[float] = []
    for body in model.system.bodies.values():
        if body.flexible is not None and body.n_modes:
            found += np.sqrt(np.abs(np.linalg.eigvalsh(body.elastic.K))).tolist()
        stiffness, damping = body.joint.stiffness or (), body.joint.damping or ()
        inertia = max(float(np.trace(np.asarray(body.inertia)))/3, 1e-12)
        for k, c in zip(stiffness or (0.0,)*len(damping), damping or (0.0,)*len(stiffness), strict=True):
            found += [float(np.sqrt(abs(k)/inertia)), abs(c)/inertia]
    for coupling in model.system.couplings.values():
        mobility = sum(factor**2*_mobility(model, name) for name, factor in coupling.terms.items())
        found += [float(np.sqrt((coupling.stiffness or 0.0)*mobility)), coupling.damping*mobility]
    for friction in model.system.frictions.values():
        if friction.coordinate not in model.system.wheels:
            steepest = friction.viscous + (friction.coulomb/friction.speed if friction.speed else 0.0)
            found.append(steepest*_mobility(model, friction.coordinate))
    return np.sort(np.array([rate for rate in found if rate > 0.0]))


def _mobility(model: Model, coordinate: str) -> float:
    """Mobility of a single body along a joint coordinate: 1/mass, or 1 over its mean moment of inertia."""
    name = model.names.v[coordinate_place(model.system, coordinate)[1]]
    body = next(body for body in model.system.bodies.values() if name in body.speed_names)
    slides = body.speed_names.index(name) < len(body.joint.translations)
    return 1.0/max(body.mass if slides else float(np.trace(np.asarray(body.inertia)))/3, 1e-12)


def choose_fixed(trial: Callable[[str], Run], dt: float) -> tuple[str, str]:
    """A method with fixed steps, and why; `trial` returns a run at its start, for a method with fixed steps."""
    run = trial("rk4")
    local = local_rates(run.model)
    if not len(local):
        return "rk4", "rk4: no springs, dampers or modes are there to be taken implicitly"
    if local[-1]*dt < SLOW:
        return "rk4", f"rk4: the fastest spring or mode, {_hertz(local[-1])}, is slow beside dt {dt:g} s"
    if local[-1]*dt < FAST:
        whole = optional.eigenvalues.fastest_of(run)
        if whole.rate*dt <= RESOLVED:
            return "rk4", f"rk4: dt {dt:g} s resolves the fastest motion, {whole}"
    else:
        run, whole = trial("imex2"), None
    rest = optional.eigenvalues.fastest_of(run, pars=optional.eigenvalues.without_local(run.model.tables, run.pars))
    method = "imex4" if rest.rate*dt <= GENTLE else "imex2"
    why = (f"{method}: dt {dt:g} s does not resolve the fastest motion, {whole or _hertz(local[-1])}; springs, dampers and modes "
           "are implicit")
    limit = longest_step(FIXED[method](), rest.values[:8])
    if dt > limit:
        why += f"; what acts explicitly is as fast as {rest} and allows {limit:.3g} s: take a shorter dt, or radau"
    return method, why


def choose_adaptive(trial: Callable[[str], Run], rtol: float) -> tuple[str, str]:
    """An adaptive method, and why."""
    run = trial("rk4")
    local = local_rates(run.model)
    if not len(local):
        return "dopri5", "dopri5: no springs, dampers or modes are there to be taken implicitly"
    if rtol <= TIGHT:
        return "dopri5", f"dopri5: rtol {rtol:g} asks for every mode to be resolved"
    if 10*2*np.pi/local[0]*local[-1]/3 < MANY_STEPS:
        return "dopri5", f"dopri5: springs and modes, {_hertz(local[0])} to {_hertz(local[-1])}, are not far apart"
    run = trial("imex2")
    rest = optional.eigenvalues.fastest_of(run, pars=optional.eigenvalues.without_local(run.model.tables, run.pars))
    if rest.rate < SLOWER*local[-1]:
        pace = f"is as fast as {rest}" if rest.rate else "is slow"
        return "imex43", (f"imex43: springs and modes reach from {_hertz(local[0])} to {_hertz(local[-1])}, all else {pace}: steps "
                          "follow the slow ones")
    if sticking_frictions(run.model.system) or touching(run.model.system) or run.model.system.tanks:
        return "dopri5", (f"dopri5: what is not local is as fast as {rest}, and sticking, contacts and empty tanks are found "
                          "in compiled steps")
    return "radau", f"radau: what is not local is as fast as {rest}, and springs and modes reach {_hertz(local[-1])}"


def _hertz(rate: float) -> str:
    return f"{rate/(2*np.pi):.3g} Hz"
