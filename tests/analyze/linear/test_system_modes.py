"""Modes of whole systems against closed forms: beams, hubs with panels, rotors, dual spinners; who takes part, what is shown."""
import json

import numpy as np
import pytest
from scipy.optimize import brentq

import bough
from bough.cli import main
from bough.files import example, read_system
from tests.support.compare import assert_within
from tests.support.tolerance import CANCELLING, HERMITE, MODES, printed, roundings, truncated

UNIT = {"EI": 1.0, "mass_per_length": 1.0}


def roots(equation, stop, count, start=0.3):
    grid = np.linspace(start, stop, 4000)
    values = np.array([equation(each) for each in grid])
    turns = np.flatnonzero(values[:-1]*values[1:] < 0)[:count]
    return np.array([brentq(equation, grid[i], grid[i + 1], xtol=1e-14) for i in turns])


def left_out(coarse, fine):
    """By 32 elements, and by the modes that twice as many would have: of frequencies of unit beams, w = b^2. Where the root moves,
    clamped modes converge with order 4: from 10 to 20 they leave a 22nd of it, from 14 to 28 a 21st."""
    return (2*np.pi*fine)**2*HERMITE*fine + [truncated(*each, order=4) for each in zip(coarse, fine, strict=True)]


@pytest.mark.parametrize(("joint", "equation", "rigid"), [
    (bough.Weld(), lambda b: np.cos(b) + 1/np.cosh(b), 0),
    (bough.Free(), lambda b: np.cos(b) - 1/np.cosh(b), 6)])
def test_cantilever_and_free_free_beams(joint, equation, rigid):
    """A beam on the ground, and one that floats: described by cantilever modes, it swings as a free-free one."""
    def found(count):
        s = bough.System("beam")
        s.body("beam", joint=joint, flexible=bough.beam(1.0, **UNIT, polar_inertia=1e-3, modes=count))
        return s.compile().modes()
    modes, b = found(28), np.repeat(roots(equation, 12.0, 3, start=1.0), 2)
    assert_within(modes.frequencies[:6], b**2/(2*np.pi), left_out(found(14).frequencies[:6], modes.frequencies[:6]))
    assert modes.rigid == rigid
    assert np.abs(modes.damping[:6]).max() < CANCELLING*modes.frequencies[-1]/modes.frequencies[0]      # of the fastest eigenvalue
    assert modes.stable


def hybrid(symmetric, hub, radius=0.0):
    """A hub with two unit beams, in the plane: it moves, `hub` its mass, or it turns, `hub` its inertia.

    w = a cos bx + c sin bx + d cosh bx + e sinh bx from the hub on; free at x = 1; at x = 0 the slope is that of the hub, and the
    hub's force or moment is that of both beams."""
    def equation(b):
        c, s, ch, sh, w2 = np.cos(b), np.sin(b), np.cosh(b), np.sinh(b), b**4
        rows = [[-c, -s, ch, sh], [s, -c, sh, ch]]                                      # w'', w''' at the tip
        if symmetric:
            rows += [[0, 1, 0, 1], [hub*w2, 2*b**3, hub*w2, -2*b**3]]       # w' = 0;  hub w2 w = 2 EI w'''
        else:
            turn = np.array([0, b, 0, b])                                   # w'
            moment = np.array([-1, 0, 1, 0])*b**2 - radius*np.array([0, -1, 0, 1])*b**3     # w'' - r w'''
            rows += [np.array([1, 0, 1, 0]) - radius*turn, hub*w2*turn + 2*moment]
        return np.linalg.det(np.array(rows, float)/np.exp(b))
    return roots(equation, 9.0, 3, start=0.5)**2/(2*np.pi)


def hub_with_panels(joint, mass, inertia, radius, modes=24):
    s = bough.System("hub")
    s.body("hub", joint=joint, mass=mass, inertia=(inertia,)*3)
    panel = bough.beam(1.0, **UNIT, modes=modes)
    for name, at, orient in (("right", radius, (0, 0, 0, 1)), ("left", -radius, (0, 0, 1, 0))):
        s.body(name, parent="hub", at=(at, 0, 0), orient=orient, flexible=panel)
    s.output("pointing", rate=f"hub.{joint.dofs[-1]}")
    return s.compile()


def test_a_hub_with_two_panels_has_its_hybrid_frequencies():
    """Panels that swing together move the hub, those that swing against each other turn it."""
    joint = bough.Joint(translations="y", rotations="z")
    coarse, modes = (hub_with_panels(joint, 0.7, 0.05, 0.2, count).modes() for count in (12, 24))
    cantilever = roots(lambda b: np.cos(b) + 1/np.cosh(b), 9.0, 3, start=1.0)**2/(2*np.pi)
    expected = np.sort([*hybrid(True, 0.7), *hybrid(False, 0.05, 0.2), *np.repeat(cantilever, 2)])      # out of plane: clamped
    near = [found.frequencies[np.abs(found.frequencies[:, None] - expected[:8]).argmin(axis=0)] for found in (coarse, modes)]
    assert_within(near[1], expected[:8], left_out(*near))
    assert modes.rigid == 2
    first = int(np.abs(modes.frequencies/hybrid(False, 0.05, 0.2)[0] - 1).argmin())
    assert modes.joints["hub"][first] > 0.05
    assert modes.bodies["left"][first] == pytest.approx(modes.bodies["right"][first])
    assert sum(share[first] for share in modes.bodies.values()) == pytest.approx(1.0)


def test_a_rotating_beam_on_a_hub_that_spins():
    """Flapping of a blade, hub radius zero (Wright et al. 1982): through the modes of the whole, hub and all."""
    def rotor(modes):
        s = bough.System("rotor")
        s.body("hub", joint=bough.Revolute("z"), mass=1.0, inertia=(1e8, 1e8, 1e8))
        s.body("blade", parent="hub", flexible=bough.beam(1.0, EI=(1.0, 1e4), mass_per_length=1.0, modes=modes))
        return s.compile()
    models = rotor(8), rotor(16)
    for speed, flap in ((2.0, 4.1373), (6.0, 7.3604), (12.0, 13.1702)):
        coarse, modes = (model.trim(v=np.eye(model.nv)[0]*speed).modes() for model in models)
        first = 2*np.pi*modes.frequencies[0]
        assert first == pytest.approx(flap, abs=truncated(2*np.pi*coarse.frequencies[0], first, order=MODES) + printed(5))
        assert modes.linear.balanced


def dual_spinner(A, platform, rotor, damper_on):
    """A the transverse, the others axial moments of inertia; balls on springs on the part that carries the other."""
    C, other, spin, rate = (platform, rotor, 0.0, 2.0) if damper_on == "platform" else (rotor, platform, 2.0, -2.0)
    s = bough.System("dual spinner")
    s.body("carrier", mass=50.0, inertia=(A - 3.0, A - 3.0, C), joint=bough.Free(), idealized=True)
    s.body("other", parent="carrier", joint=bough.Revolute("z"), mass=50.0, inertia=(3.0, 3.0, other), idealized=True)
    for name, x in (("one", 1.0), ("another", -1.0)):
        s.body(name, parent="carrier", at=(x, 0, 0), joint=bough.Prismatic("z", stiffness=0.5, damping=0.05), mass=0.02)
    return s.compile().modes([0, 0, 0, 0, 0, 0, 1, 0, 0, 0], [0, 0, 0, 0, 0, spin, rate, 0, 0])


def test_dual_spin_nutation_and_where_it_is_damped():
    """A platform that stands still and a rotor on it: nutation C W/A. Friction on the platform damps it however the rotor is
    shaped, friction on the rotor only if that is flat: C > A (Landon and Iorillo)."""
    modes = dual_spinner(10.0, 4.0, 8.0, "platform")
    assert np.abs(modes.frequencies/(8.0*2.0/10.0/(2*np.pi)) - 1.0).min() < 5e-3            # the balls are 0.4 % of A
    assert modes.linear.balanced
    for A, part, stable in ((10.0, "platform", True), (20.0, "platform", True), (20.0, "rotor", False), (6.0, "rotor", True)):
        growth = dual_spinner(A, 4.0, 8.0, part).eigenvalues.real.max()
        assert growth < CANCELLING if stable else growth > 1e-6         # eigenvalues of some rad/s


def test_the_border_of_stability_of_a_spinner_that_yields():
    """A bus with two damped rods along its spin, on hinges of stiffness k: in axes that turn with it, the potential k p^2 - W^2
    Jz/2 of tilts t of the bus and p of the rods is least only if (C - A - 2 J)(k - W^2 J) > 2 W^2 J^2;
    beyond, friction makes it tumble."""
    A, k, spin = 10.0, 0.8, 0.5
    rod = {"mass": 0.6, "com": (0, 0, 1.0), "inertia": (0.2, 0.2, 1e-4)}
    J = 0.2 + 0.6 - 1e-4                                                # less its axial one

    def growth(C):
        s = bough.System("spinner")
        s.body("bus", mass=100.0, inertia=(A, A, C), joint=bough.Free())
        for name, orient in (("up", (0, 0, 0, 1)), ("down", (1, 0, 0, 0))):
            s.body(name, parent="bus", orient=orient, joint=bough.Universal("xy", stiffness=k, damping=0.02), **rod)
        model = s.compile()
        return model.modes(model.q0, [0, 0, 0, 0, 0, spin, 0, 0, 0, 0]).eigenvalues.real.max()

    border = A + 2*J + 2*spin**2*J**2/(k - spin**2*J)
    within = 0.3*1e-10/growth(border - 0.3)                             # where it grows at less than 1e-10/s
    assert brentq(lambda C: growth(C) - 1e-10, border - 0.3, border + 0.3, xtol=1e-9) == pytest.approx(border, abs=within)
    assert growth(border - 0.3) > 1e-6


def test_the_border_of_stability_of_a_spinner_with_flexible_booms():
    """A bus with two elastic booms along its spin W. Tilted by t, they bend by u; that the potential W^2 ((C - A) t^2/2 + 2 t int r
    z u - int r u^2) + int EI u"^2 be least takes C - A > -2 int r z u/t, A with straight booms: w = u - t z obeys EI d4w/dz4 =
    W^2 r w with w(0) = 0, w'(0) = -t and a free end, and the bus alone must have C > A - 2 EI w"(0)/(t W^2); stiff booms take A +
    2 r L^3/3. The growth is followed to zero from beyond the border, where it is not lost among eigenvalues that are zero."""
    A, r, L, EI, W = 20.0, 0.5, 3.0, 8.0, 0.8
    b = (W**2*r/EI)**0.25
    s, c, sh, ch = np.sin(b*L), np.cos(b*L), np.sinh(b*L), np.cosh(b*L)
    bent = np.linalg.solve([[0, b, b], [ch + c, sh, -s], [sh - s, ch, -c]], [-1, 0, 0])[0]          # of cosh - cos, sinh, sin
    border, stiff = A - 2*EI/W**2*2*bent*b**2, A + 2*r*L**3/3

    def growth(C):
        spinner = bough.System("spinner")
        spinner.body("bus", mass=100.0, inertia=(A, A, C), joint=bough.Free())
        boom = bough.beam(L, EI=EI, mass_per_length=r, modes=6, damping=0.5)
        for name, turn in (("up", -0.5**0.5), ("down", 0.5**0.5)):
            spinner.body(name, parent="bus", orient=(0, turn, 0, 0.5**0.5), joint="weld", flexible=boom)
        model = spinner.compile()
        return model.modes(model.q0, np.eye(model.nv)[5]*W).eigenvalues.real.max()

    beyond = -np.arange(1, 6)*0.05
    found = np.polyfit([growth(border + each) for each in beyond], beyond, 4)[-1]
    assert abs(found) < 1e-6*(border - stiff)                       # three modes a plane: the fourth has (1.875/11)^8 of the first
    assert growth(border + 0.05) < CANCELLING                       # eigenvalues of some rad/s


def test_residues_rebuild_the_transfer_function():
    model = hub_with_panels(bough.Revolute("z", stiffness=0.4, damping=0.02), 1.0, 0.3, 0.1, modes=4)
    modes = model.modes(inputs=["hub"])
    linear, s = modes.linear, 1.7j
    exact = linear.C @ np.linalg.solve(s*np.eye(len(linear.A)) - linear.A, linear.B) + linear.D
    R, value = modes.residues, modes.eigenvalues[:, None, None]
    both = R/(s - value) + R.conj()/(s - value.conj())
    assert both.sum(axis=0) == pytest.approx(exact, rel=CANCELLING)
    static = -linear.C @ np.linalg.solve(linear.A, linear.B)
    assert modes.gains.sum(axis=0) == pytest.approx(static, abs=CANCELLING)
    assert modes.gain(1, "pointing", "hub.rz") == modes.residues[0, 0, 0]
    with pytest.raises(bough.StateError, match=r"there is no output 'pointin'.*pointing"):
        modes.gain(1, "pointin", "hub.rz")
    assert modes.to_xarray()["frequency"].values == pytest.approx(modes.frequencies)


@pytest.mark.parametrize("name", ["spacecraft", "flexible_panel", "floating_turbine"])
def test_shapes_are_eigenvectors_wherever_a_system_rests(name):
    """Where nothing but rounding holds a joint, or a coordinate has no inertia of its own: a satellite at rest, blades that turn.
    A x = lambda x in coordinates times the greatest frequency, where A is balanced: QR leaves some dozen eps a row of it. And the
    shares of a mode are those of its shape."""
    model = read_system(example(name)).compile()
    for modes in (model.modes(), model.trim().modes()):
        fastest, A = np.abs(modes.eigenvalues).max(), modes.linear.A
        size = np.where([unit.endswith("/s") for unit in modes.linear.state_units], 1.0, fastest)
        x = modes.vectors*size[:, None]
        A = A*size[:, None]/size
        off = np.linalg.norm(A @ x - x*modes.eigenvalues, axis=0)
        assert (off < roundings(30*len(A))*np.linalg.norm(A, 2)*np.linalg.norm(x, axis=0)).all()
        assert np.isfinite(modes.shapes).all()
        assert sum(modes.joints.values()) == pytest.approx(np.ones(len(modes.frequencies)))


def test_residues_of_many_ports_are_made_when_asked_for():
    """A chain of 60 links without ports has 60 inputs and 120 outputs; products of them are not kept."""
    s = bough.System("chain", gravity=(0, 0, -9.81))
    for i in range(60):
        s.body(f"link{i}", parent=f"link{i - 1}" if i else None, at=(0, 0, -0.1 if i else 0), joint=bough.Revolute("y"), mass=0.1,
               com=(0, 0, -0.05), inertia=(1e-4, 1e-4, 1e-5))
    modes = s.compile().modes()
    assert (modes.shown.shape, modes.excited.shape) == ((120, 60), (60, 60))
    assert "residues" not in vars(modes)
    assert modes.gain(3, "link7.ry", "link2.ry") == pytest.approx(modes.residues[2, 7, 2])


def test_figures_replays_and_the_command_line(tmp_path, capsys):
    model = hub_with_panels(bough.Free(), 5.0, 1.0, 0.3, modes=4)
    modes = model.modes()
    assert modes.rigid == 6
    modes.plot(tmp_path/"modes.png")
    assert (tmp_path/"modes.png").stat().st_size > 10_000
    undamped = modes.plot().axes[0].get_xlim()                              # rounding is not drawn as if it were damping
    assert undamped[1] - undamped[0] > 0.1*modes.frequencies.max()
    replay = modes.view(1, tmp_path/"mode.html", open=False, frames=8)
    assert replay.frames == 9
    with pytest.raises(bough.StateError, match="there are 8: give a number from 1 to 8"):
        modes.view(9)
    main_and_leave(["modes", str(example("flexible_panel")), "--json"])
    printed = json.loads(capsys.readouterr().out)
    assert printed["modes"][0]["frequency_Hz"] > 0
    assert {"system", "rigid", "stable", "balanced"} <= set(printed)
    main_and_leave(["modes", str(example("flexible_panel"))])
    assert "rigid-body" in capsys.readouterr().out


@pytest.mark.filterwarnings("error")
def test_one_rigid_body_has_no_modes():
    s = bough.System("stone")
    s.body("stone", joint=bough.Free(), mass=1.0, inertia=(1, 1, 1))
    modes = s.compile().modes()
    assert (len(modes.frequencies), modes.rigid) == (0, 6)
    with pytest.raises(bough.StateError, match="there is none beside the rigid-body motions"):
        modes.view(1)


def main_and_leave(arguments):
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert not ended.value.code
