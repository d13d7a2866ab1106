"""OC3-Hywind by other means: its public parameters, six equations of momentum in NumPy, SciPy's integrator; nothing of bough.

The topsides are points (nodes of the blades, hub, nacelle) and two discs with inertia about one axis (the nacelle's about the
vertical, the hub's about the shaft), on given paths in the platform's frame. With y, y', y'' the place of a point and its
derivatives there, its acceleration is a + w' x y + w x (w x y) + 2 w x y' + y'' in the platform's axes; a is that of the reference
point.
"""
import json
from pathlib import Path

import numpy as np
from scipy.integrate import solve_ivp

DATA = json.loads((Path(__file__).parent/"oc3_hywind.json").read_text())
BODIES, YAW_RATE, SPIN = DATA["bodies_rigid"], np.deg2rad(1.2), DATA["rotor_speed_rad_s"]
TOP, APEX, UP = np.array(DATA["tower_top_in_platform"], float), np.array(DATA["apex_in_nacelle_frame"]), np.array([0.0, 0.0, 1.0])
BASE = BODIES["platform_plus_tower"]


def skew(a):
    return np.array([[0.0, -a[2], a[1]], [a[2], 0.0, -a[0]], [-a[1], a[0], 0.0]])


Z, X = skew(UP), skew(np.array([1.0, 0.0, 0.0]))


def turn(axis, angle):
    """Rodrigues' formula."""
    S = skew(np.eye(3)["xyz".index(axis)])
    return np.eye(3) + np.sin(angle)*S + (1.0 - np.cos(angle))*S @ S


def attitude(angles):
    return turn("z", angles[0]) @ turn("y", angles[1]) @ turn("x", angles[2])


def rotor_points():
    """Places in the rotor's frame, and masses: the hub at the apex, the blades' nodes."""
    r = DATA["hub_rad_m"] + np.array(DATA["blade_nodes"]["r_from_root"])
    blades = [np.outer(r, turn("x", 2*np.pi*k/3) @ turn("y", np.deg2rad(DATA["precone_deg"])) @ UP) for k in range(3)]
    return np.vstack([np.zeros(3), *blades]), np.concatenate([[BODIES["hub"]["mass"]], *3*[DATA["blade_nodes"]["mass"]]])


ROTOR, ROTOR_MASS = rotor_points()
TILT = turn("y", -np.deg2rad(DATA["shaft_tilt_deg"]))
MASS = np.concatenate([[BODIES["nacelle"]["mass"]], ROTOR_MASS])
DISCS = BODIES["nacelle"]["I_cm"][2][2], BODIES["hub"]["I_cm"][0][0]


def topsides(t):
    """y, y', y'' of the points (n, 3) in the platform's frame."""
    Ry, S = turn("z", YAW_RATE*t), turn("x", SPIN*t)
    p, r = YAW_RATE, SPIN
    spun = [APEX + ROTOR @ (TILT @ S).T, r*ROTOR @ (TILT @ X @ S).T, r*r*ROTOR @ (TILT @ X @ X @ S).T]
    fixed = [np.array(BODIES["nacelle"]["cm"]), np.zeros(3), np.zeros(3)]
    u, du, ddu = (np.vstack([a, b]) for a, b in zip(fixed, spun, strict=True))
    return TOP + u @ Ry.T, (p*u @ Z.T + du) @ Ry.T, (p*p*u @ (Z @ Z).T + 2*p*du @ Z.T + ddu) @ Ry.T


def discs(t, w):
    """Angular momentum of the discs per platform's angular acceleration (3, 3), and what changes without it: d/dt of I c (c.W)."""
    shaft = turn("z", YAW_RATE*t) @ TILT[:, 0]
    J, rest = np.zeros((3, 3)), np.zeros(3)
    nacelle, hub = (UP, np.zeros(3), YAW_RATE*UP), (shaft, YAW_RATE*Z @ shaft, YAW_RATE*UP + SPIN*shaft)
    for I, (c, dc, own) in zip(DISCS, (nacelle, hub), strict=True):
        W = w + own
        J += I*np.outer(c, c)
        rest += I*(dc*(c @ W) + c*(dc @ W) + skew(w) @ c*(c @ W))    # c.own' is 0: the rates are constant
    return J, rest


def restoring(x, R, yaw):
    """Force and moment at the reference point, world axes."""
    told = DATA["restoring"]
    at, K = np.array(told["application_point_in_platform_frame"], float), np.array(told["K_6x6"])
    force = np.array(told["F0_global_N"], float) - K[:3, :3] @ (x + R @ at - at)
    return force, np.cross(R @ at, force) - K[5, 5]*yaw*UP


def accelerations(t, x, angles, w):
    """a of the reference point and w', platform axes; and the points' y and m times acceleration without these."""
    R, turning = attitude(angles), skew(w)
    y, dy, ddy = topsides(t)
    y, m = np.vstack([BASE["cm"], y]), np.concatenate([[BASE["mass"]], MASS])
    known = y @ (turning @ turning).T
    known[1:] += 2*dy @ turning.T + ddy
    down, I = -DATA["gravity"]*R[2], np.array(BASE["I_cm"])
    J, rest = discs(t, w)
    moments = y.T @ (m[:, None]*y)
    first, second = skew(m @ y), I + J + np.trace(moments)*np.eye(3) - moments
    force, moment = (R.T @ each for each in restoring(x, R, angles[0]))
    loads = m[:, None]*(down - known)
    right = np.concatenate([force + loads.sum(0), moment + np.cross(y, loads).sum(0) - turning @ I @ w - rest])
    a, dw = np.split(np.linalg.solve(np.block([[m.sum()*np.eye(3), -first], [first, second]]), right), 2)
    return a, dw, y, known, down


def rates(t, s):
    """d/dt of [place, yaw, pitch, roll, velocity (world axes), angular velocity (platform axes)]."""
    x, angles, v, w = np.split(s, 4)
    _, pitch, roll = angles
    a, dw, *_ = accelerations(t, x, angles, w)
    across = w[1]*np.sin(roll) + w[2]*np.cos(roll)
    turning = [across/np.cos(pitch), w[1]*np.cos(roll) - w[2]*np.sin(roll), w[0] + across*np.tan(pitch)]
    return np.concatenate([v, turning, attitude(angles) @ a, dw])


def motion(times, rtol=1e-11):
    """(times, 12), from rest."""
    atol = rtol*np.repeat([1.0, 1e-2, 1.0, 1e-2], 3)
    return solve_ivp(rates, (0.0, times[-1]), np.zeros(12), "DOP853", times, rtol=rtol, atol=atol).y.T


def tower_top(t, s):
    """[moment, force] of the nacelle on the tower at the tower top, platform axes: gravity less rates of momentum."""
    x, angles, _, w = np.split(s, 4)
    a, dw, y, known, down = accelerations(t, x, angles, w)
    loads = MASS[:, None]*(down - (a + np.cross(dw, y) + known)[1:])
    J, rest = discs(t, w)
    return np.concatenate([np.cross(y[1:] - TOP, loads).sum(0) - J @ dw - rest, loads.sum(0)])
