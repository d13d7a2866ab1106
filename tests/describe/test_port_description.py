"""Inputs and outputs as they are written: YAML there and back, and what is wrong with them, by name."""
import pytest

import bough
from bough.describe.parts.port import KINDS, Input, Output


def system():
    s = bough.System("craft", gravity=(0, 0, -9.81))
    s.body("bus", joint=bough.Free(), mass=100.0, inertia=(10, 12, 13))
    shoulder = bough.Revolute("y", name="shoulder", stiffness=3.0)
    s.body("arm", parent="bus", joint=shoulder, mass=5.0, com=(1, 0, 0), inertia=(0.1, 2, 2))
    s.body("boom", parent="bus", flexible=bough.beam(4.0, EI=800, mass_per_length=1.5, modes=2, recover={"root top": (0, 0, 0.1)}))
    s.body("panel", parent="bus", flexible=bough.beam(4.0, EI=800, mass_per_length=1.5, modes=2))
    s.wheel("rw", body="bus", axis="x", inertia=0.02, torque=0.0)
    s.wheel("gyro", body="bus", axis="y", inertia=0.02, speed=10.0)
    s.line("stay", a="world", b="arm", stiffness=100.0, length=1.0)
    return s


INPUTS = {
    "elbow": {"coordinate": "shoulder"}, "mode": {"coordinate": "boom.mode1"}, "rw": {"wheel": "rw"},
    "thruster": {"force": bough.Frame("bus", at=(0, 0, -1), orient={"axis": "x", "degrees": 10}), "axis": (0, 0, 1)},
    "tip": {"force": bough.Frame("boom", node="tip"), "axes": "world", "label": "pull at the tip"}, "magnetic": {"moment": "bus"},
    "winch": {"rest": "stay"}, "preload": {"rest": "shoulder.ry"},
}
OUTPUTS = {
    "angle": {"coordinate": "shoulder"}, "spin": {"rate": "bus.wx"},
    "tip": {"position": bough.Frame("boom", node="tip"), "component": "z"}, "star": {"attitude": "bus", "noise": 1e-4},
    "v": {"velocity": "bus", "axes": "body"}, "w": {"angular_velocity": "bus", "axes": "arm"},
    "a": {"acceleration": bough.Frame("arm", at=(1, 0, 0))}, "imu": {"felt_acceleration": "bus", "axes": "body", "quantum": 0.01},
    "hinge": {"load": "shoulder", "component": "my"}, "cut": {"load": ["arm", "boom"], "axes": "world"},
    "bend": {"deflection": bough.Frame("boom", node="tip")}, "strain": {"strain_energy": "boom"},
    "gauge": {"strain": "boom.root top", "axis": (1, 0, 0), "label": "root gauge"}, "rpm": {"wheel": "gyro"},
    "pull": {"tension": "stay"}, "E": {"energy": "total"},
    "h": {"momentum": "angular", "axes": bough.Frame("bus", orient={"axis": "z", "degrees": 90})},
    "gap": {"distance": ["bus", bough.Frame("boom", node="tip")]}, "closing": {"relative_speed": ["bus", "arm"]},
    "turned": {"relative_angle": ["bus", "arm"]}, "turning": {"relative_rate": ["world", "arm"]},
}


def test_every_kind_there_and_back():
    s = system()
    for name, fields in INPUTS.items():
        s.input(name, **fields)
    for name, fields in OUTPUTS.items():
        s.output(name, **fields)
    assert {output.kind for output in s.outputs.values()} == set(KINDS)
    again = bough.System.from_yaml(s.to_yaml())
    assert again == s
    model = again.compile()
    assert len(model.names.inputs) == model.input_layout.n_ports == 12
    units = {name: s.inputs[name].units(s) for name in s.inputs}
    assert units == {"elbow": ("N m",), "mode": ("N kg^-0.5",), "rw": ("N m",), "thruster": ("N",), "tip": ("N",)*3,
                     "magnetic": ("N m",)*3, "winch": ("m",), "preload": ("rad",)}
    units = {name: set(s.outputs[name].units(s)) for name in ("angle", "spin", "star", "hinge", "cut", "h", "pull", "gauge")}
    assert units == {"angle": {"rad"}, "spin": {"rad/s"}, "star": {"1"}, "hinge": {"N m"}, "cut": {"N m", "N"}, "h": {"N m s"},
                     "pull": {"N"}, "gauge": {"1"}}
    assert s.inputs["tip"].labels == ("pull at the tip x", "pull at the tip y", "pull at the tip z")


@pytest.mark.parametrize(("fields", "words"), [
    ({}, "it has no target; give one of coordinate, wheel, force, moment, rest"),
    ({"force": "bus", "wheel": "rw"}, "wheel and force are given; give one of them"),
    ({"coordinate": "arm", "axis": "x"}, "only a force or a moment has one; leave it out"),
    ({"force": "bus", "axes": "wrld"}, "axes is 'wrld'; did you mean 'world'"),
    ({"force": 3}, "force is 3; give a Frame, or a body's name"),
])
def test_bad_inputs(fields, words):
    with pytest.raises(bough.DescriptionError, match=words):
        Input("port", **fields)


@pytest.mark.parametrize(("fields", "words"), [
    ({"position": "bus", "component": "w"}, "component is 'w'; give one of x, y, z"),
    ({"wheel": "rw", "component": 0}, "it is one number: leave it out"),
    ({"wheel": "rw", "axes": "body"}, "a wheel has no direction"),
    ({"attitude": "bus", "axes": "body"}, "attitude has no body of its own"),
    ({"load": "arm", "axes": "bus"}, "of a load give body"),
    ({"strain": "boom.root", "axes": "world"}, "strains are along the body's axes; give axis"),
    ({"strain": "boom.root", "axis": "x", "component": "xx"}, "component is 'xx'; it is one number: leave it out"),
    ({"strain": "boom.root", "component": "xz"}, "component is 'xz'; give one of xx, yy, zz, xy, yz, zx"),
    ({"position": "bus", "axis": "x"}, "only a strain has one; give component, or leave it out"),
    ({"energy": "kinetik"}, "energy is 'kinetik'; did you mean 'kinetic'"),
    ({"position": "bus", "noise": -1}, "noise is -1.0"),
    ({"position": "bus", "quantum": 0}, "quantum is 0.0"),
    ({"positon": "bus"}, "unknown key 'positon'; did you mean 'position'"),
])
def test_bad_outputs(fields, words):
    with pytest.raises(bough.DescriptionError, match=words):
        Output.from_mapping({"name": "port", **fields})


@pytest.mark.parametrize(("fields", "words"), [
    ({"coordinate": "arm.rz"}, "coordinate 'arm.rz' names no coordinate of the system"),
    ({"coordinate": "bus"}, "coordinate 'bus' names a whole joint; name one of its coordinates: bus.x"),
    ({"wheel": "gyri"}, "wheel 'gyri' is not a wheel of the system, did you mean 'gyro'"),
    ({"wheel": "gyro"}, "wheel 'gyro' has its speed held; give the wheel a torque"),
    ({"force": "buss"}, "body 'buss' is not a body of the system, did you mean 'bus'"),
    ({"force": "world"}, "force is on the world, which nothing moves"),
    ({"force": bough.Frame("boom", node="tp")}, "node 'tp' is not a node of body 'boom', did you mean 'tip'"),
    ({"rest": "sty"}, "rest 'sty' is neither a line nor a coordinate with a spring, did you mean 'stay'"),
    ({"rest": "bus.x"}, "rest 'bus.x' has no spring; give its joint a stiffness"),
])
def test_inputs_that_do_not_fit(fields, words):
    s = system()
    s.input("port", **fields)
    with pytest.raises(bough.ModelError, match=words):
        s.compile()


@pytest.mark.parametrize(("fields", "words"), [
    ({"coordinate": "bus.wx"}, "coordinate 'bus.wx' names no coordinate"),
    ({"rate": "shoulder.rx"}, "rate 'shoulder.rx' names no coordinate of the system, did you mean 'shoulder.ry'"),
    ({"tension": "sty"}, "tension 'sty' is not a line of the system, did you mean 'stay'"),
    ({"strain_energy": "arm"}, "strain_energy 'arm' is not a flexible body"),
    ({"strain": "arm.root top"}, "strain 'arm.root top' is of body 'arm', which recovers no strains: it is rigid"),
    ({"strain": "panel.root"}, "is of body 'panel', which recovers no strains: make it with recover=.*strain_energy='panel'"),
    ({"strain": "boom"}, "is not an element whose strain .* is strain_energy='boom'"),
    ({"strain": "boom.root to"}, "is not an element whose strain a body recovers, did you mean 'boom.root top'"),
    ({"strain": "boom.root top", "component": "yy"}, "component is 'yy', but strain 'boom.root top' does not show it: only xx"),
    ({"strain": "boom.root top", "axis": (1, 1, 0)}, "axis is .*, but strain 'boom.root top' does not show it: only xx"),
    ({"deflection": "boom"}, "deflection is that of a node"),
    ({"load": "shoudler"}, "load 'shoudler' is not a joint, body or loop of the system, did you mean 'shoulder'"),
    ({"position": "bus", "axes": "amr"}, "axes: body 'amr' is not a body of the system, did you mean 'arm'"),
])
def test_outputs_that_do_not_fit(fields, words):
    s = system()
    s.output("port", **fields)
    with pytest.raises(bough.ModelError, match=words):
        s.compile()


def test_a_cut_must_part_the_system():
    s = system()
    s.loop("strut", joint=bough.Spherical(), a=bough.Frame("bus", at=(1, 0, 0)), b=bough.Frame("arm", at=(1, 0, 0)))
    s.output("cut", load=["arm"])
    with pytest.raises(bough.ModelError, match="output 'cut': cut through 'shoulder': it does not part the system"):
        s.compile()


def test_names_are_used_once():
    s = system()
    s.input("port", force="bus")
    with pytest.raises(bough.DescriptionError, match="there is an input of this name already"):
        s.input("port", wheel="rw")
    s.output("port", wheel="rw")                    # an output may have the name of an input
