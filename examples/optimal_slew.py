"""An optimal slew: CasADi turns a hub with a flexible panel from rest to rest with the least effort, using exact derivatives.

    pip install "bough[casadi]"
    python examples/optimal_slew.py

A motor turns the hub by a given angle in a given time; panel and hub are to be at rest at the end, and the integral of the squared
torque is minimized. `bough.exchange.casadi.dynamics` is x' = f(x, u) with its Jacobian, IPOPT solves the collocated problem, and
`bough.simulate` checks the optimal torque. For comparison: a bang-bang torque for a rigid spacecraft, and the optimum of the linear
model, which ignores the effect of spin on bending.
"""
import numpy as np

import bough

ANGLE, TIME, INTERVALS = np.radians(90), 5.0, 64          # of the slew [rad], [s]; so many pieces of the torque


def spacecraft(torque: bough.TimeTable | float = 0.0) -> bough.System:
    """A hub on its axis with a 5 m panel that bends in the plane of the slew, without damping."""
    s = bough.System("slew")
    s.body("hub", joint=bough.Revolute("z", torque=torque), mass=100.0, inertia=(20, 20, 25))
    panel = bough.beam(5.0, EI=(1e5, 900.0), mass_per_length=2.0, modes=1)
    s.body("panel", parent="hub", joint="weld", at=(0.5, 0, 0), flexible=panel)
    s.input("motor", coordinate="hub.rz")
    s.simulation(until=TIME, dt=2e-3, sample_rate=50, record=["state", "nodes"])
    return s


system = spacecraft()
model = system.compile()
MASS, STIFFNESS = model.mass_matrix(model.q0), system.bodies["panel"].flexible.K[0, 0]
INERTIA = MASS[0, 0]                                                            # of hub and straight panel about the axis
OMEGA = np.sqrt(STIFFNESS/(MASS[1, 1] - MASS[0, 1]**2/INERTIA))                 # rad/s: they swing against each other


def optimum(angle: float = ANGLE, time: float = TIME, intervals: int = INTERVALS) -> tuple[bough.TimeTable, int]:
    """The torque of least effort, linear in each interval, and how many iterations it took.

    Hermite-Simpson: x1 - x0 = h/6 (f0 + 4 f + f1) with f in the middle of an interval, where x = (x0 + x1)/2 + h/8 (f0 - f1).
    """
    import casadi

    from bough.exchange.casadi import dynamics

    f, h, nx = dynamics(model, inputs=["motor"]), time/intervals, model.layout.nx
    x, u = casadi.MX.sym("x", nx, intervals + 1), casadi.MX.sym("u", 1, intervals + 1)
    rates = [f(x[:, k], u[k]) for k in range(intervals + 1)]
    goal, grid, effort = np.array([angle, 0, 0, 0]), np.linspace(0, 1, intervals + 1), 0
    conditions = [x[:, 0], x[:, -1] - goal]                                     # from rest to rest
    for k in range(intervals):
        middle = f((x[:, k] + x[:, k + 1])/2 + h/8*(rates[k] - rates[k + 1]), (u[k] + u[k + 1])/2)
        conditions.append(x[:, k + 1] - x[:, k] - h/6*(rates[k] + 4*middle + rates[k + 1]))
        effort += h/3*(u[k]**2 + u[k]*u[k + 1] + u[k + 1]**2)                   # the integral of u^2, exactly
    full = rigid_torque(angle, time)
    problem = {"x": casadi.veccat(x, u), "f": effort/(full**2*time), "g": casadi.vertcat(*conditions)}
    options = {"hessian_approximation": "limited-memory", "tol": 1e-8, "print_level": 0, "sb": "yes"}
    solver = casadi.nlpsol("slew", "ipopt", problem, {"ipopt": options, "print_time": False})
    found = solver(x0=np.concatenate([np.outer(grid, goal).ravel(), full*(1 - 2*grid)]), lbg=0, ubg=0)
    assert solver.stats()["success"], solver.stats()["return_status"]
    return bough.TimeTable(grid*time, found["x"].full()[nx*(intervals + 1):, 0]), solver.stats()["iter_count"]


def rigid_torque(angle: float, time: float) -> float:
    """The bang-bang torque for a rigid spacecraft: positive for half of the time, negative for the other half."""
    return 4*INERTIA*angle/time**2


def bang_bang(angle: float = ANGLE, time: float = TIME) -> bough.TimeTable:
    return bough.TimeTable([0, time/2, time], rigid_torque(angle, time)*np.array([1, -1, 0]), "hold")


def linear_optimum(angle: float = ANGLE, time: float = TIME, rows: int = 2501) -> bough.TimeTable:
    """Of the linear model, in closed form: u = a + b t + c cos wt + d sin wt.

    In its modes, J theta'' = u and eta'' + w^2 eta = const u. To end at rest, the integrals of u, u cos wt and u sin wt are zero;
    to turn by the angle, that of -t u is J angle. The u with the least square integral is in the span of these four functions.
    """
    def shapes(t):
        return np.stack([np.ones_like(t), t, np.cos(OMEGA*t), np.sin(OMEGA*t)])

    points, weights = np.polynomial.legendre.leggauss(60)
    at, times = shapes(time/2*(points + 1)), np.linspace(0, time, rows)
    return bough.TimeTable(times, np.linalg.solve((at*weights*time/2) @ at.T, [0, -INERTIA*angle, 0, 0]) @ shapes(times))


def check(torque: bough.TimeTable, angle: float = ANGLE) -> tuple[float, float]:
    """Simulated: by how much the hub misses the angle [rad], and by how much the tip swings on for two periods after it [m]."""
    end = bough.simulate(spacecraft(torque), until=torque.times[-1]).data.isel(time=-1)
    after = bough.simulate(model, q0=end.q.values, v0=end.v.values, until=4*np.pi/OMEGA).data
    return float(end.q[0]) - angle, float(np.ptp(after.node_deflection.sel(node="panel.tip", axis="y").values))/2


def main() -> None:
    best, iterations = optimum()
    print(f"{np.degrees(ANGLE):.0f} degrees in {TIME:g} s, {TIME*OMEGA/2/np.pi:.2f} periods of the panel; {iterations} iterations")
    left = {}
    for name, torque in {"ahead, then astern": bang_bang(), "linear optimum": linear_optimum(), "optimum": best}.items():
        missed, left[name] = check(torque)
        print(f"{name:20} misses the angle by {np.degrees(missed):9.5f} degrees, and the tip swings on by {1e3*left[name]:8.3f} mm")
    assert left["optimum"] < 0.02*left["linear optimum"]
    assert left["linear optimum"] < 0.02*left["ahead, then astern"]


if __name__ == "__main__":
    main()
