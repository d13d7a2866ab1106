"""Random systems, valid by construction."""

import itertools

import numpy as np
from hypothesis import strategies as st

from bough.describe import (
    Body,
    Box,
    CentralGravity,
    Constant,
    Cylinder,
    Distance,
    Event,
    Frame,
    Harmonics,
    Joint,
    Latch,
    Lock,
    Loop,
    Mesh,
    Move,
    Pieces,
    Polynomial,
    Prescribe,
    Rate,
    Release,
    Simulation,
    Sphere,
    Spline,
    Stop,
    System,
    TimeTable,
    Wheel,
    Wrench,
)

numbers = st.floats(-1e6, 1e6)
magnitudes = st.floats(1e-6, 1e6)
vectors = st.tuples(numbers, numbers, numbers)
directions = st.sampled_from(["x", "y", "z", "-x", "-z"]) | vectors.filter(lambda v: np.linalg.norm(v) > 1e-3)
TRICKY = ["on", "no", "1e-3", "08", "1:30", "~", "null", "2001-01-01", "0x1f", "y", "<<", "=", "- a", "#b", "1_0", "é"]
plain_names = st.text(min_size=1, max_size=8).filter(lambda s: s == s.strip() and s.isprintable() and s != "world")
names = plain_names | st.sampled_from(TRICKY)
sequences = st.sampled_from(["", "x", "y-z", "xyz", "zxz", [(1, 1, 0)], ["x", (0.6, 0.8, 0)], "spherical"])


@st.composite
def tables(draw, columns=1, kinds=("linear", "hold", "cubic")):
    count = draw(st.integers(4, 6))
    times = sorted(draw(st.sets(numbers, min_size=count, max_size=count)))
    row = numbers if columns == 1 else st.tuples(*[numbers] * columns)
    return TimeTable(times, draw(st.lists(row, min_size=count, max_size=count)), draw(st.sampled_from(kinds)))


@st.composite
def splines(draw):
    times = sorted(draw(st.sets(numbers, min_size=2, max_size=5)))
    return Spline(times, draw(st.tuples(*[numbers] * len(times))), draw(st.tuples(numbers, numbers)))


@st.composite
def pieces(draw):
    """Each starts where the one before ends, and as fast."""
    small = st.floats(-2, 2)
    times, coefficients = [draw(small)], [draw(st.lists(small, min_size=2, max_size=8))]
    for _ in range(draw(st.integers(0, 3))):
        times.append(times[-1] + draw(st.floats(0.1, 2)))
        span, before = times[-1] - times[-2], np.polynomial.Polynomial(coefficients[-1])
        coefficients.append([before(span), before.deriv()(span), *draw(st.lists(small, max_size=6))])
    return Pieces(times, coefficients)


motions = st.one_of(
    st.builds(Constant, numbers),
    st.builds(Rate, numbers, numbers),
    st.builds(Polynomial, st.lists(numbers, min_size=1, max_size=8)),
    splines(),
    st.builds(Harmonics, st.lists(st.tuples(numbers, magnitudes, numbers), min_size=1, max_size=3), numbers),
    st.builds(Move, numbers, numbers, numbers, duration=magnitudes),
    pieces(),
    tables(kinds=["cubic"]),
)


@st.composite
def joints(draw):
    plain = Joint(draw(st.sampled_from(["", "z", "xy", "xyz", [(1, 2, 3)], "y-x"])), draw(sequences))
    n = plain.n_v
    if n == 0:
        return plain
    per_speed = st.none() | st.tuples(*[st.floats(0, 1e3)] * n)
    stiffness = None if plain.spherical else draw(per_speed)
    turns = draw(st.sampled_from([(None,) * 3, ("locked",) * 3])) if plain.spherical else ()
    motion = draw(st.none() | st.tuples(*[st.none() | st.just("locked") | motions] * (n - len(turns))).map(lambda m: m + turns))
    return Joint(
        plain.translations,
        plain.rotations,
        stiffness=stiffness,
        damping=draw(per_speed),
        rest=draw(per_speed) if stiffness else None,
        torque=draw(st.none() | st.tuples(*[numbers | tables()] * n)),
        motion=motion,
        q0=None if plain.spherical or motion else draw(per_speed),
        v0=None if motion else draw(per_speed),
    )


@st.composite
def orientations(draw):
    forms = [
        st.none(),
        st.tuples(*[st.floats(-1, 1)] * 4).filter(lambda q: np.linalg.norm(q) > 1e-3),
        st.builds(lambda a, t: {"axis": a, "degrees": t}, directions, st.floats(-180, 180)),
        st.builds(lambda v: {"rotvec": v}, st.tuples(*[st.floats(-3, 3)] * 3)),
    ]
    return draw(st.one_of(forms))


@st.composite
def shapes(draw):
    look = {"at": draw(vectors), "orient": draw(orientations())}
    look["color"] = draw(st.none() | st.sampled_from(["tomato", "#4682b4"]) | st.tuples(*[st.floats(0, 1)] * 3))
    size = st.tuples(*[magnitudes] * 3)
    kinds = [(Box, size), (Cylinder, magnitudes, magnitudes), (Sphere, magnitudes), (Mesh, st.just("part.stl"), size | magnitudes)]
    kind, *sizes = draw(st.sampled_from(kinds))
    return kind(*map(draw, sizes), **look)


@st.composite
def inertias(draw):
    """That of point masses: sums of |r|^2 - r r'."""
    points = np.array(draw(st.lists(st.tuples(*[st.floats(-3, 3)] * 3), min_size=1, max_size=4)))
    tensor = sum(np.dot(r, r) * np.eye(3) - np.outer(r, r) for r in points)
    return (tensor + tensor.T) / 2 if draw(st.booleans()) else np.diag([1.0, 2.0, 2.5])


@st.composite
def loops(draw, name, body):
    """Between a body and the world."""
    free = {"motion": None, "q0": None, "v0": None}
    held = joints().map(lambda joint: joint.model_copy(update=free)).filter(lambda joint: joint.n_v < 6)
    frames = [draw(st.builds(Frame, st.just(place), vectors, orientations()) | st.just(place)) for place in (body, "world")]
    return Loop(name, draw(held | st.builds(Distance, magnitudes)), *draw(st.permutations(frames)))


@st.composite
def elements(draw, system, name, body):
    """One of each kind, added to a system."""
    end = draw(st.builds(Frame, st.just(body), vectors) | st.just(body))
    slack = draw(st.booleans())
    system.line(f"{name} line", a="world", b=end, stiffness=draw(magnitudes), length=draw(magnitudes), damping=2.0, slack=slack)
    stiffness = draw(st.tuples(*[numbers] * 6) | st.tuples(*[st.tuples(*[numbers] * 6)] * 6))
    system.restoring(f"{name} spring", body=body, at=draw(vectors), stiffness=stiffness, force=draw(vectors), moment=draw(vectors),
                     rest=draw(st.none() | vectors))  # fmt: skip
    heights = sorted(draw(st.lists(st.floats(-100, 100), min_size=2, max_size=4, unique=True)))
    sections = [(low, high, draw(magnitudes), draw(magnitudes)) for low, high in itertools.pairwise(heights)]
    system.buoyancy(f"{name} hull", body=body, sections=sections, density=draw(magnitudes), level=draw(numbers))


@st.composite
def events(draw, name, body):
    """On the coordinates of a body that has some, and no spherical rotation."""
    coordinates = st.sampled_from(body.speed_names)
    action = st.builds(Release, st.just(body.name)) | st.builds(Lock, coordinates) | st.builds(Prescribe, coordinates, motions)
    moves = {"when": coordinates, "crosses": numbers, "direction": st.sampled_from(["rising", "falling", "both"])}
    loose = Release(body.name)  # so that nothing is locked for good
    crossing = st.fixed_dictionaries(moves | {"quantity": st.sampled_from(["position", "rate"]), "repeat": st.booleans()})
    made = [
        Event(name, at=draw(magnitudes), do=loose),
        Event(f"{name}2", do=[draw(action)], **draw(crossing)),
        draw(st.builds(Latch, st.just(f"{name}3"), coordinates, numbers, moves["direction"])),
    ]
    return {event.name: event for event in made}


@st.composite
def systems(draw):
    gravities = vectors | st.builds(CentralGravity, magnitudes, st.just((7e6, 0, 0)), vectors)
    system = System(draw(names), gravity=draw(gravities))
    labels = draw(st.lists(names, min_size=1, max_size=4, unique=True))
    for i, name in enumerate(labels):
        parent = draw(st.sampled_from([None, *labels[:i]]))
        place = {"at": draw(vectors), "orient": draw(orientations())}
        substance = {"mass": draw(magnitudes), "com": draw(vectors), "inertia": draw(inertias())}
        drawn = draw(st.lists(shapes(), max_size=2))
        system.bodies[name] = Body(name, parent, draw(joints()), **place, **substance, shapes=drawn)
    for name in draw(st.lists(names, max_size=2, unique=True)):
        torque = draw(st.none() | numbers | tables())
        system.wheels[name] = Wheel(name, labels[0], draw(directions), draw(magnitudes), draw(numbers), torque)
        force = draw(vectors | tables(columns=3))
        frame = draw(st.sampled_from(["body", "world"]))
        system.wrenches[name] = Wrench(name, labels[-1], force, draw(vectors), draw(vectors), frame)
        system.loops[name] = draw(loops(name, labels[-1]))
        draw(elements(system, name, labels[0]))
        moving = [body for body in system.bodies.values() if body.joint.n_v and not body.joint.spherical]
        if moving:
            system.events.update(draw(events(name, moving[0])))
            side = draw(st.sampled_from(["above", "below"]))
            given = {side: draw(numbers), "stiffness": draw(magnitudes), "damping": draw(magnitudes)}
            system.stops[name] = Stop(name, moving[0].speed_names[0], **given)
    runs = st.builds(Simulation, magnitudes, magnitudes, record=st.just(["state", "energy"]))
    system.settings = draw(st.none() | runs)
    system.notes = tuple(draw(st.lists(names, max_size=2)))
    return system
