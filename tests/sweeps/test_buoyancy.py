"""Buoyancy: closed forms of upright and inclined cylinders, slices of those that are cut anywhere, cones, a spar that floats."""
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import bough
from bough.analyze.loop_constraints import moved
from tests.support import element_laws as laws
from tests.support.compare import EPS, assert_same
from tests.support.element_systems import GRAVITY, MASS, SPAR, WATER, spar
from tests.support.tolerance import CANCELLING, SWEEP

WEIGHT = WATER*GRAVITY


def floating(sections, **keywords):
    s = bough.System("buoy", gravity=(0, 0, -GRAVITY))
    s.body("buoy", joint=bough.Free(), mass=100.0, inertia=(10, 10, 10))
    s.buoyancy("hull", body="buoy", sections=sections, **keywords)
    return s.compile()


def at(place=(0, 0, 0), **turn):
    """A position, and turns in degrees in the order x, y, z about the world's axes."""
    return np.array([*place, *Rotation.from_euler("xyz", [turn.get(axis, 0.0) for axis in "xyz"], degrees=True).as_quat()])


def test_an_upright_spar():
    """Displaced volume and heave stiffness of OC3 Hywind: published 8029 m^3 and 332.9 kN/m, which is 0.2 % off."""
    model, h = spar().compile(), 0.5
    lift = [model.element_forces(at((0, 0, z)))["hull"][5] for z in (-h, 0.0, h)]
    cone = np.pi*8/12*(9.4**2 + 9.4*6.5 + 6.5**2)
    volume = np.pi*4.7**2*108 + cone + np.pi*3.25**2*4
    assert_same(lift[1], WEIGHT*volume, SWEEP)
    assert abs(volume - 8029) < 0.5
    assert_same((lift[0] - lift[2])/(2*h), WEIGHT*np.pi*3.25**2, CANCELLING)
    assert abs(WEIGHT*np.pi*3.25**2/332941 - 1) < 2e-3              # as far as the published stiffness is off


@pytest.mark.parametrize("tilt", [0.0, 1e-9, 1.0, 10.0, 40.0])
def test_an_inclined_cylinder(tilt):
    """Volume by the length of the wet axis; its centroid off the axis by r^2 tan(theta)/(4 L), and along it by half of that, tan
    theta times."""
    r, tan = 0.5, np.tan(np.deg2rad(tilt))
    model = floating([(-3, 2, 2*r, 2*r)], level=0.7)
    q = at((4, -5, 0.3), y=tilt, z=30)
    R = Rotation.from_quat(q[3:]).as_matrix()
    wet = (0.7 - 0.3)/R[2, 2] + 3
    volume, across = np.pi*r*r*wet, r*r*tan/(4*wet)
    along = -3 + wet/2 + across*tan/2
    centroid = R @ [across, 0, along]                                           # the turn about y lowers +x
    force = np.array([0, 0, WEIGHT*volume])
    expected = np.concatenate([np.cross(centroid, force), force])
    assert_same(model.element_forces(q)["hull"], expected, CANCELLING)


TURNS = ((0, 3), (50, 0), (20, 80), (120, 30), (180, 1))
ANYHOW = [((0.3, 0.2, z), x, y) for z in (-3.5, -2.1, -0.4, 0.5, 2.2, 3.4) for x, y in TURNS]


@pytest.mark.parametrize(("place", "x", "y"), ANYHOW)
def test_cylinders_cut_anyhow(place, x, y):
    """Against slices: cut through the side, an end or both, emerged, submerged, capsized; alone, halved, and in lanes."""
    model, halved = floating([(-3, 2, 1.2, 1.2)]), floating([(-3, -0.7, 1.2, 1.2), (-0.7, 2, 1.2, 1.2)])
    q = at(place, x=x, y=y, z=70)
    R = Rotation.from_quat(q[3:]).as_matrix()
    expected = laws.cylinder(0.6, -3, 2, np.array(place), R[:, 2], 0.0, WATER, GRAVITY)
    full = WEIGHT*np.pi*0.36*5                                          # its lift, under water
    for other in (model, halved):
        assert_same(other.element_forces(q)["hull"], expected, CANCELLING, full)
        assert_same(other.element_forces(np.tile(q, (4, 1)))["hull"][3], expected, CANCELLING, full)


def test_potential_of_the_displaced_water():
    """Under water: weight times depth of the centroid; a cylinder upright at the surface: its column times half its draft."""
    model = floating([(-3, 2, 1.0, 1.0), (2, 4, 1.0, 0.4)])
    cylinder, cone = np.pi*0.25*5, np.pi*2/12*(1 + 0.4 + 0.16)
    middle = 2 + 2/4*(1 + 0.8 + 0.48)/(1 + 0.4 + 0.16)                  # centroid of the cone
    for q in (at((0, 0, -20)), at((1, 2, -20), x=30, y=200)):
        z = q[2] + Rotation.from_quat(q[3:]).apply([[0, 0, -0.5], [0, 0, middle]])[:, 2]
        energy = model.potential_energy(q) - 100*GRAVITY*q[2]
        assert_same(energy, -WEIGHT*(cylinder*z[0] + cone*z[1]), SWEEP)
    upright = model.potential_energy(at((0, 0, 1.0))) - 100*GRAVITY*1.0
    assert_same(upright, WEIGHT*np.pi*0.25*2*1.0, SWEEP)


def test_cones_under_water_are_exact():
    """A cone upside down or not, at any attitude, is lifted at its centroid by its volume."""
    for below, above in ((2.0, 1.0), (0.0, 1.5), (1.0, 1.0)):
        model = floating([(1, 4, below, above)])
        squares = below**2 + below*above + above**2
        volume, center = np.pi*3/12*squares, 1 + 3/4*(below**2 + 2*below*above + 3*above**2)/squares
        q = at((0, 0, -30), x=40, y=100)
        arm, force = Rotation.from_quat(q[3:]).apply([0, 0, center]), np.array([0, 0, WEIGHT*volume])
        # depths over the cosine of the tilt are squared before they cancel
        rounding = 10*EPS*(30/(3*Rotation.from_quat(q[3:]).as_matrix()[2, 2]))**2
        assert_same(model.element_forces(q)["hull"], np.concatenate([np.cross(arm, force), force]), rounding)


def test_lying_flat_is_finite():
    """Exactly flat, the formulas would divide by zero."""
    model = floating([(-3, 2, 1.0, 1.0)])
    for y in (90.0, -90.0):
        force = model.element_forces(at((0, 0, 0.0), y=y))["hull"]
        assert_same(force[5], WEIGHT*np.pi*0.25*5/2, 1e-3)              # half of it is wet; its ends count as 1e-4 of 3 m off


def test_heave_and_pitch_of_a_spar():
    """Small motions: heave at sqrt(rho g A/m), pitch by the metacenter: rho g V (z_B + I/V) - m g z_G."""
    model = spar().compile()
    eye, h = np.eye(6), 1e-4
    z = (model.element_forces(at())["hull"][5] - MASS*GRAVITY)/(WEIGHT*np.pi*3.25**2)      # where it floats

    def balance(rate):
        return -(model.bias(moved(model, at((0, 0, z)), h*rate), np.zeros(6)) - model.bias(moved(model, at((0, 0, z)), -h*rate),
                                                                                        np.zeros(6)))/(2*h)
    heave, pitch = balance(eye[2])[2], balance(eye[4])[4]
    assert_same(heave, -WEIGHT*np.pi*3.25**2, 1e-9)                 # eps of the weight, 8e7 N, over k h = 33 N: 5e-10
    areas = [(low, min(high, -z), below, above) for low, high, below, above in SPAR]
    squares = [b*b + b*a + a*a for _, _, b, a in areas]
    volumes = [np.pi/12*(high - low)*s for (low, high, _, _), s in zip(areas, squares, strict=True)]
    centers = [low + (high - low)/4*(b*b + 2*b*a + 3*a*a)/s for (low, high, b, a), s in zip(areas, squares, strict=True)]
    righting = WEIGHT*(np.dot(volumes, centers) + np.pi*3.25**4/4) + MASS*GRAVITY*78
    # the origin, about which it turns, stays z above the water
    assert_same(pitch, -righting, 1e-6)


def test_a_floating_spar_keeps_its_energy():
    """Large motions: the error of rk4's energy falls with the step's fourth power or faster."""
    model = spar(q0=(0, 0, 2.0, *Rotation.from_euler("xy", [0.2, -0.3]).as_quat()), v0=(1, 0, 0, 0.01, 0.02, 0.01)).compile()
    drift = [np.ptp(bough.simulate(model, until=40.0, dt=dt, sample_rate=1).data.total_energy.values) for dt in (1.0, 0.5)]
    assert drift[1] < drift[0]/2**3.5
    assert "(water)" not in bough.simulate(model, until=1.0, dt=0.5).summary


def test_what_leaves_the_sections_is_named():
    """Sinking until the water plane cuts the cone, and further; rising until the keel is dry."""
    def summary(z, **turn):
        return bough.simulate(spar().compile(), q0=at((0, 0, z), **turn), until=0.02, dt=0.01, sample_rate=100).summary
    assert "buoyancy hull" not in summary(0.0) + summary(3.0) + summary(-9.0) + summary(0.0, x=20)
    assert "from t = 0 s: the water plane cuts a tapered section" in summary(6.0)
    assert "the water plane is beyond an end of the sections" in summary(-11.0)
    assert "the water plane is beyond an end of the sections" in summary(200.0)
    assert "the water plane is beyond an end of the sections" in summary(-7.0, x=60)        # cuts the upper rim
    assert "lying flat" in summary(0.0, x=90)


def test_refusals():
    """Central gravity, gravity that is not along -z, flexible bodies: by name."""
    def refused(match, gravity=(0, 0, -9.81), **keywords):
        s = bough.System("buoy", gravity=gravity)
        s.body("buoy", joint=bough.Free(), **keywords or {"mass": 100.0, "inertia": (10, 10, 10)})
        s.buoyancy("hull", body="buoy", sections=[(-1, 1, 1, 1)])
        with pytest.raises(bough.ModelError, match=match):
            s.compile()
    orbit = bough.CentralGravity(4e14, (7e6, 0, 0), (0, 7e3, 0))
    refused("buoyancy 'hull' acts between a body and the world; with central gravity", orbit)
    refused(r"buoyancy 'hull': gravity is \(0, 1, -9\) m/s\^2", (0, 1, -9))
    refused(r"buoyancy 'hull': gravity is \(0, 0, 0\) m/s\^2", (0, 0, 0))
    beam = bough.beam(4.0, EI=800, mass_per_length=1.5, modes=2, boundary="free-free")
    refused("buoyancy 'hull': body 'buoy' is flexible", flexible=beam)
