"""Stiffness and damping of a solar array's hinge from a measured response, by least squares with the exact Jacobian of the run.

    python examples/identify.py

A hub turns about its axis with an array on a spring hinge. The measurement is the noisy record of the hub's rate gyro after a
push; `bough.sensitivities` computes the run and its derivatives by the unknown parameters, and SciPy does the fit.
"""
import numpy as np
from scipy.optimize import least_squares

import bough

UNKNOWN = ("hinge.stiffness", "hinge.damping")
TRUE, FIRST_GUESS = np.array([42.0, 1.3]), np.array([20.0, 4.0])
UNTIL, DT, NOISE = 6.0, 0.01, 2e-5


def spacecraft(stiffness: float, damping: float) -> bough.System:
    s = bough.System("array", gravity=(0, 0, 0))
    s.body("hub", joint=bough.Revolute("z"), mass=200.0, inertia=(40, 40, 50))
    s.body("array", parent="hub", at=(1, 0, 0), joint=bough.Revolute("z", name="hinge", stiffness=stiffness, damping=damping),
           mass=12.0, com=(1.5, 0, 0), inertia=(0.1, 9, 9))
    s.output("gyro", rate="hub.rz")
    s.simulation(until=UNTIL, dt=DT)
    return s


system = spacecraft(*TRUE)


def run(numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The gyro signal and its derivatives by the unknown parameters."""
    model = spacecraft(*numbers).compile()
    found = bough.sensitivities(model, v0=[0.02, -0.3], until=UNTIL, dt=DT, parameters=UNKNOWN, outputs=["gyro"])
    gyro = found.outputs["gyro"]
    return gyro.value[:, 0], np.stack([gyro.dparameters[name][:, 0] for name in UNKNOWN], axis=1)


def identify(measured: np.ndarray) -> tuple[np.ndarray, np.ndarray, int]:
    """The best-fit parameters, their standard deviations, and the number of runs."""
    fit = least_squares(lambda p: run(p)[0] - measured, FIRST_GUESS, jac=lambda p: run(p)[1], x_scale=FIRST_GUESS)
    covariance = np.linalg.inv(fit.jac.T @ fit.jac)*2.0*fit.cost/(len(measured) - len(fit.x))
    return fit.x, np.sqrt(np.diag(covariance)), fit.nfev


def main() -> None:
    clean, _ = run(TRUE)
    measured = clean + NOISE*np.random.default_rng(0).normal(size=clean.shape)
    found, deviation, runs = identify(measured)
    for name, value, sigma, true in zip(UNKNOWN, found, deviation, TRUE, strict=True):
        print(f"{name:16} {value:8.4f} +- {sigma:.4f}   true {true}")
    print(f"{runs} runs of {round(UNTIL/DT)} steps")


if __name__ == "__main__":
    main()
