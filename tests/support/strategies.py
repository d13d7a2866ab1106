"""Systems as Hypothesis draws them: the structure part by part, and for each part a seed of its numbers.

So what fails is shrunk as a person would do it: bodies, loops and wheels are taken away one by one, joints and bodies become
simpler, and the numbers of what remains become plain ones (seed 0). The numbers of a part depend on its own seed alone: taking
another one away leaves it as it was.

    @given(trees())                     rigid; massless=True has bodies without mass, wheels=True momentum wheels
    @given(flexible_trees())            rigid and flexible, children at any node
    @given(held(trees()))               some coordinates locked or prescribed
    @given(looped(flexible_trees()))    closed loops, at a state that closes them
    def test(drawn):
        system, model, q, v, rng = drawn
"""
from dataclasses import dataclass, field

import numpy as np
from hypothesis import strategies as st

import bough
from tests.support import flexible_trees as flexible_bodies
from tests.support.held_systems import random_motions, with_motions
from tests.support.random_loops import KINDS, random_loop
from tests.support.random_systems import JOINTS, random_inertia, random_joint, random_rotation

ROOTS = (*(kind for kind in JOINTS if kind != "weld"), "free")
PLAIN = {"weld": bough.Weld(), "revolute": bough.Revolute("z"), "prismatic": bough.Prismatic("x"),
         "cylindrical": bough.Cylindrical("z"), "universal": bough.Universal("xy"), "planar": bough.Planar("xy"),
         "gimbal": bough.Gimbal("xyz"), "spherical": bough.Spherical(), "general": bough.Joint("x", "z"), "free": bough.Free()}
SMALL, MODERATE, LARGE = 0.003, 0.1, 0.3             # meters or radians that each mode moves some node by


# ---- structure: what is drawn, and shrunk ----------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Part:
    """A body with its joint."""
    joint: str
    back: int = 1                                    # its parent is this many bodies back, or the first one
    seed: int = 0                                    # of its numbers; 0: plain ones
    massless: bool = False
    wheels: int = 0
    flexible: str = ""                               # which flexible body; "": rigid
    node: int = 0                                    # which node of a flexible parent it hangs on


@dataclass(frozen=True)
class Closure:
    """A loop between two bodies; one that is not there is the world."""
    kind: str
    a: int
    b: int
    seed: int = 0


@dataclass(frozen=True)
class Drawn:
    """A system, its model and a state, and a generator for whatever else a test needs."""
    parts: list[Part]
    system: bough.System = field(repr=False)
    model: object = field(repr=False)
    q: np.ndarray = field(repr=False)
    v: np.ndarray = field(repr=False)
    seed: int
    loops: tuple[Closure, ...] = ()
    motions: dict = field(default_factory=dict)

    def __iter__(self):
        return iter((self.system, self.model, self.q, self.v, np.random.default_rng(self.seed)))


seeds = st.integers(0, 9999)


# ---- from structure to systems ---------------------------------------------------------------------------------------------------
def numbers(part, purpose):
    """A generator for some of a part's numbers; None: take plain ones."""
    return np.random.default_rng((part.seed, purpose)) if part.seed else None


def joint_of(part):
    rng = numbers(part, 0)
    return random_joint(rng, part.joint) if rng else PLAIN[part.joint]


def placed(part):
    rng = numbers(part, 1)
    return {"at": rng.uniform(-0.4, 0.4, 3), "orient": random_rotation(rng)} if rng else {"at": (0.3, 0.1, 0.0)}


def substance(part):
    rng = numbers(part, 2)
    if rng is None:
        return {"mass": 1.0, "com": (0.1, 0.0, 0.05), "inertia": (0.02, 0.03, 0.04)}
    mass = rng.uniform(0.5, 3.0)
    com, inertia = random_inertia(rng, mass)
    return {"mass": mass, "com": com, "inertia": (inertia + inertia.T)/2}


def grown(parts, *, gravity, bodies=None, light=()):
    """The system of these parts; `light` ones have no mass."""
    s = bough.System("drawn", gravity=gravity)
    for k, part in enumerate(parts):
        parent = f"b{max(0, k - part.back)}" if k else None
        words = {"parent": parent, "joint": joint_of(part), **placed(part)}
        carrier = s.bodies[parent].flexible if parent else None
        if carrier is not None:
            choices = flexible_bodies.turning_nodes(carrier) + ([] if carrier.inboard is None else [None])
            words["node"] = choices[part.node % len(choices)]
        if part.flexible:
            body, rng = bodies[part.flexible], numbers(part, 3)
            rest = rng is not None and rng.random() < 0.3
            words |= {"flexible": body, "rest": flexible_bodies.amplitudes(body)*rng.normal(size=body.n_modes) if rest else None}
        else:
            words |= substance(part) | ({"mass": 0.0, "inertia": 0.0} if k in light else {})
        s.body(f"b{k}", **words)
        for j in range(part.wheels if k not in light else 0):
            s.wheel(f"w{k}.{j}", body=f"b{k}", axis="xyz"[j], inertia=1e-3, **({"torque": 0.02} if j else {"speed": 20.0}))
    return s


def moving(parts, gravity, bodies):
    """The system with as many of its massless bodies as leave every joint something to move."""
    inner = {max(0, k - part.back) for k, part in enumerate(parts) if k}
    light = []
    for k in [k for k, part in enumerate(parts) if part.massless and k in inner and not part.flexible]:
        try:
            grown(parts, gravity=gravity, bodies=bodies, light=[*light, k]).compile()
        except bough.ModelError:
            continue
        light.append(k)
    return grown(parts, gravity=gravity, bodies=bodies, light=light)


def state_of(model, parts, size=0.0):
    """Joints anywhere, gimbals away from lock, modes by up to `size` at some node; each body's numbers from its own seed."""
    q, v = [], []
    for part, body in zip(parts, model.system.bodies.values(), strict=True):
        rng, joint = np.random.default_rng((part.seed, 4)), body.joint
        q += list(rng.uniform(-1, 1, joint.n_q - 4*joint.spherical))
        q += list(random_rotation(rng)) if joint.spherical else []
        if joint.kind == "gimbal":
            q[-2] = rng.uniform(0.3, 1.2)
        v += list(rng.normal(size=joint.n_v))
        if body.n_modes:
            shape = flexible_bodies.amplitudes(body.flexible, size)*rng.uniform(-1, 1, (2, body.n_modes))
            q, v = [*q, *shape[0]], [*v, *(3*shape[1])]
    return np.array(q), np.array(v)


# ---- strategies ------------------------------------------------------------------------------------------------------------------
@st.composite
def part_lists(draw, size, kinds, root, **options):
    """Up to `size` parts; the first one's joint is a `root`."""
    first = Part(draw(st.sampled_from(ROOTS) if root is None else st.just(root)), seed=draw(seeds),
                 **{key: draw(strategy) for key, strategy in options.items() if key not in ("massless", "node")})
    others = st.builds(Part, joint=st.sampled_from(kinds), back=st.integers(1, 3), seed=seeds, **options)
    return [first, *draw(st.lists(others, max_size=size - 1))]


def gravities(gravity):
    return seeds.map(lambda seed: np.random.default_rng(seed).normal(size=3)*5 if seed else (0, 0, -9.81)) if gravity \
        else st.just((0, 0, 0))


@st.composite
def trees(draw, *, size=8, kinds=JOINTS, root=None, massless=False, wheels=False, gravity=True):
    """Rigid trees: every joint, welds and branches among them."""
    options = {"massless": st.booleans()} if massless else {}
    options |= {"wheels": st.integers(0, 2)} if wheels else {}
    parts = draw(part_lists(size, sorted(kinds, key=list(PLAIN).index), root, **options))
    model = moving(parts, draw(gravities(gravity)), None).compile()
    return Drawn(parts, model.system, model, *state_of(model, parts), draw(seeds))


@st.composite
def flexible_trees(draw, *, size=6, root=None, deformation=None, wheels=False):
    """Trees of rigid and flexible bodies, one flexible at least: deformed so far; None: as far as their kind allows."""
    plain = deformation is None and draw(st.booleans())
    bodies = flexible_bodies.lumped_bodies() if plain else flexible_bodies.bodies()
    names = sorted(bodies, key=lambda name: bodies[name].n_modes)
    options = {"flexible": st.sampled_from(["", *names]), "node": st.integers(0, 3)}
    options |= {"wheels": st.integers(0, 1)} if wheels else {}
    parts = draw(part_lists(size, flexible_bodies.JOINTS, root or draw(st.sampled_from(flexible_bodies.ROOTS)), **options)
                 .filter(lambda parts: any(part.flexible for part in parts)))
    model = moving(parts, draw(gravities(True)), bodies).compile()
    q, v = state_of(model, parts, deformation or (LARGE if plain else SMALL))
    return Drawn(parts, model.system, model, q, v, draw(seeds))


@st.composite
def held(draw, strategy, share=0.5):
    """Some coordinates locked or prescribed, others free."""
    drawn = draw(strategy)
    motions = random_motions(np.random.default_rng(draw(seeds)), drawn.system, share)
    motions = {name: motion for name, motion in motions.items() if draw(st.booleans())}
    system = with_motions(drawn.system, motions)
    return Drawn(drawn.parts, system, system.compile(), drawn.q, drawn.v, drawn.seed, drawn.loops, motions)


@st.composite
def looped(draw, strategy, loops=4):
    """Loops between bodies, or to the world, that leave two degrees of freedom or more; one of each pair at most. May find none."""
    drawn, kept, rows, pairs = draw(strategy), [], 0, set()
    system, model = drawn.system.copy(), drawn.model
    poses, names = model.bodies(drawn.q), [*system.bodies, "world"]
    ends = st.integers(0, len(names) - 1)
    for closure in draw(st.lists(st.builds(Closure, st.sampled_from(KINDS), ends, ends, seeds), min_size=1, max_size=loops)):
        pair = frozenset((closure.a, closure.b))
        words, held_rows = random_loop(np.random.default_rng(closure.seed), model, poses, [names[closure.a], names[closure.b]],
                                       closure.kind) if len(pair) == 2 else ({}, 0)
        if not words or pair in pairs or rows + held_rows >= model.nv - 2:
            continue
        tried = system.copy()
        tried.loop(f"l{len(kept)}", **words)
        if removes_freedom(tried):
            system, rows, kept = tried, rows + held_rows, [*kept, closure]
            pairs.add(pair)
    closed = system.compile()
    q, v = closed.assemble(drawn.q, drawn.v) if kept else (drawn.q, drawn.v)
    return Drawn(drawn.parts, system, closed, q, v, drawn.seed, tuple(kept))


def removes_freedom(system):
    """Whether the loops hold something: others are refused by name."""
    try:
        system.compile()
    except bough.ModelError as error:
        if "removes no freedom" not in str(error):
            raise
        return False
    return True
