"""Sample values as batches of runs.

A path names the varied number: "boom.mass", "boom.com[0]", "arm.stiffness", "rw1.axis[0]", "gravity[2]", "panel.frequency",
"push.force.scale", "lock.at" (numbers of the description: `analyze.parameter_routes`), "bus.q0[2]", "bus.v0[5]", "bus.turn[0]" (a
small rotation of the start, about its own axes), "rw1.speed", "lox.mass" of a tank, "orbit.position[0]" (initial states),
"simulation.dt" (settings), "laws.gain" (values that the campaign's laws are made of), "panel.alternative" (which of the bodies
given in its place).
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from bough.analyze.parameter_routes import names_of
from bough.analyze.parameter_rows import beyond_numbers, changed_system, numbers_only, parted, same_structure
from bough.analyze.parameters import NAME, parameter, symmetric, value_in
from bough.campaign.design import Variation
from bough.compile.coordinates import body_parameters, member_of
from bough.compile.layout import Floats
from bough.describe import Body, CentralGravity, System
from bough.errors import BoughError, DescriptionError, StateError, nearest, similar
from bough.flex import FlexibleBody
from bough.model import Model

TABLES, START, SETTING, LAW, ALTERNATIVE = "tables", "start", "setting", "law", "alternative"
Alternatives = Mapping[str, Sequence[Body]]
EVERY = 16  # blocks, of which one is checked against its description
FEW = 20  # values that are checked one by one
SETTINGS = ("until", "dt", "sample_rate", "rtol", "atol", "first_step", "max_step")


@dataclass(frozen=True)
class Target:
    """The number that a path names: in the tables, the initial state, the settings or the laws; or the index of an alternative
    body."""

    variation: Variation
    kind: str
    owner: str  # parameter of the tables, part of the start, setting, value of the laws, or body
    entry: tuple[int, ...] = ()  # of an array
    nominal: Any = 0.0  # value in the description

    @property
    def base(self) -> float:
        """The value in the description; the first one for a parameter that is scaled as a whole."""
        return float(np.asarray(self.nominal)[self.entry] if self.entry else np.asarray(self.nominal).reshape(-1)[0])

    @property
    def number(self) -> int:
        """Its index in a part of the initial state."""
        return self.entry[0] if self.entry else 0

    def put(self, numbers: Any, value: Any) -> None:
        """Write a value, or one for each row, to its place in arrays (..., *nominal); whole arrays are scaled."""
        if self.entry:
            numbers[..., *self.entry] = value
            if symmetric(self.owner, np.asarray(self.nominal)):
                numbers[..., *self.entry[::-1]] = value
        elif np.ndim(self.nominal):
            numbers *= np.reshape(value, (*np.shape(value), *(1,) * np.ndim(self.nominal)))
        else:
            numbers[...] = value

    def actual(self, drawn: Floats) -> Floats:
        """The values that replace that of the description."""
        if self.variation.how == "set":
            return drawn
        if np.asarray(self.nominal).size > 1 and not self.entry:  # all numbers of a parameter together
            return drawn
        return self.base * drawn if self.variation.how == "scale" else self.base + drawn


def target(model: Model, varied: Variation, law_values: Mapping[str, float], alternatives: Alternatives) -> Target:
    """The target of a path; the error for an unknown one suggests the nearest name."""
    match = NAME.fullmatch(varied.path)
    if match is None:
        raise DescriptionError(f"campaign: vary '{varied.path}' is no name; write it as boom.mass, or boom.com[2]")
    name, entry = match[1], tuple(int(k) for k in match[2].split(",")) if match[2] else ()
    owner, _, last = name.rpartition(".")
    if owner == "simulation":
        return _setting(model.system, varied, last)
    if owner == "laws":
        if last not in law_values:
            raise DescriptionError(f"campaign: vary '{name}': the laws have no value '{last}'{similar(last, law_values)}; name it "
                                   "in law_values, with its usual value")
        return Target(varied, LAW, last, nominal=law_values[last])
    if last == "alternative":
        return _alternative(varied, owner, alternatives)
    if (start := starts(model).get(name)) is not None:
        part, at, size = start
        if (len(entry) != 1 and size > 1) or any(k >= size for k in entry):
            raise DescriptionError(f"campaign: vary '{varied.path}': '{name}' has {size} numbers; name one of them, {name}[0]")
        usual = np.zeros(3) if part == "turn" else described_start(model)[part][at : at + size]
        return _one(Target(varied, START, name, entry, usual))
    try:
        found = parameter(model.system, name)
        if entry:
            parameter(model.system, varied.path)
    except StateError as error:
        known = [*names_of(model.system), *starts(model)]
        if name in known:
            raise DescriptionError(f"campaign: vary '{varied.path}': {error}") from None
        own = [each for each in known if each.startswith(f"{owner}.")]
        raise DescriptionError(
            f"campaign: vary '{varied.path}': there is no such number{similar(name, known)}"
            + (f"; '{owner}' has {', '.join(each.removeprefix(owner + '.') for each in own)}" if own else "")
        ) from None
    if found.value.size > 1 and not entry and varied.how != "scale":
        raise DescriptionError(f"campaign: vary '{varied.path}' has {found.value.size} numbers; name one of them, {name}[0], or "
                               "scale all")
    return _one(Target(varied, TABLES, name, entry, found.value))


def _one(found: Target) -> Target:
    """The target, with an array of one number as a scalar; raises if zero is to be scaled."""
    nominal = np.asarray(found.nominal)
    if nominal.size == 1:
        found = replace(found, entry=(), nominal=float(nominal.reshape(-1)[0]))
    if found.variation.how == "scale" and not np.any(nominal[found.entry] if found.entry else nominal):
        raise DescriptionError(f"campaign: vary '{found.variation.path}': it is 0 and cannot be scaled; add to it, or set it")
    return found


def check_overlaps(system: System, targets: Sequence[Target]) -> None:
    """Raise if two paths name the same number, or one is part of the other: the later would override the earlier."""
    body_of = {body.joint.name: name for name, body in system.bodies.items() if body.joint.name}
    groups: dict[str, list[Target]] = {}
    for each in targets:
        owner = each.owner.split(".")[0]
        groups.setdefault(f"{each.kind} {body_of.get(owner, owner)}", []).append(each)
    for group in groups.values():
        for one, other in combinations(group, 2):
            if _same_number(system, one, other):
                raise DescriptionError(f"campaign: vary '{one.variation.path}' and '{other.variation.path}': these are the same "
                                       "number, or one is part of the other; keep one of them")


def _same_number(system: System, one: Target, other: Target) -> bool:
    if one.owner == other.owner:
        return not one.entry or not other.entry or one.entry == other.entry or (
            one.kind == TABLES and symmetric(one.owner, np.asarray(one.nominal)) and one.entry == other.entry[::-1])
    return one.kind == TABLES and _moves(system, one, other) and _moves(system, other, one)


def _moves(system: System, one: Target, other: Target) -> bool:
    """Whether a change of one number changes another."""
    before = np.asarray(parameter(system, one.owner).value)
    try:
        after = parameter(system, one.owner).changed(before * 1.0625 + 1e-3)
        moved, usual = value_in(system, after, other.owner), value_in(system, system, other.owner)
    except (BoughError, ValueError, TypeError, LookupError):
        return False
    return not np.allclose(moved, usual, rtol=1e-12, atol=0.0)


def _alternative(varied: Variation, body: str, alternatives: Alternatives) -> Target:
    if body not in alternatives:
        raise DescriptionError(f"campaign: vary '{varied.path}': there are no alternatives of "
                               f"'{body}'{similar(body, alternatives)}; give them, alternatives={{'panel': [...]}}")
    if varied.how != "set":
        raise DescriptionError(f"campaign: vary '{varied.path}': give numbers from 0 on, not how to {varied.how} one")
    return Target(varied, ALTERNATIVE, body, nominal=0.0)


def read_alternatives(system: System, given: Any) -> dict[str, tuple[Body, ...]]:
    """The alternatives of each body: flexible bodies, or mappings of changed fields, as in a file."""
    found: dict[str, tuple[Body, ...]] = {}
    if not isinstance(given, Mapping):
        raise DescriptionError(f"campaign: alternatives is {given!r}; give {{'panel': [body, ...]}}")
    for name, bodies in given.items():
        if name not in system.bodies:
            raise DescriptionError(f"campaign: alternatives of '{name}', which is no body{nearest(str(name), system.bodies)}")
        if not isinstance(bodies, Sequence) or isinstance(bodies, str) or not len(bodies):
            raise DescriptionError(f"campaign: alternatives of '{name}' is {bodies!r}; give a list of bodies")
        found[name] = tuple(_other_body(system.bodies[name], each) for each in bodies)
    return found


def _other_body(body: Body, given: Any) -> Body:
    """A body with other mass properties at the same joint."""
    if isinstance(given, FlexibleBody):
        given = {"flexible": given}
    if not isinstance(given, Mapping):
        raise DescriptionError(f"campaign: alternatives of '{body.name}' has {given!r}; give flexible bodies, or mappings, {{mass: "
                               "12, com: ...}")
    same = body.model_copy(update={"flexible": None, "shapes": (), "eta0": None, "etadot0": None, "rest": None}).to_dict()
    substance = () if "flexible" not in given and body.flexible is None else ("mass", "com", "inertia")
    return Body.from_mapping({key: value for key, value in same.items() if key not in substance} | dict(given))


def _setting(system: System, varied: Variation, name: str) -> Target:
    usual = getattr(system.settings, name, None) if name in SETTINGS else None
    if name not in SETTINGS:
        raise DescriptionError(f"campaign: vary '{varied.path}': there is no setting '{name}'{similar(name, SETTINGS)}; give one "
                               f"of {', '.join(SETTINGS)}")
    if usual is None and varied.how != "set":
        raise DescriptionError(f"campaign: vary '{varied.path}': the system's settings have no {name} to {varied.how}; give its "
                               "values")
    return Target(varied, SETTING, name, nominal=usual if usual is not None else 0.0)


def described_start(model: Model) -> dict[str, Floats]:
    """The initial state of the description, by its parts."""
    return {"q": model.q0, "v": model.v0, "wheels": model.wheel_speeds, "orbit": model.initial_orbit, "tanks": model.tank_masses}


def starts(model: Model) -> dict[str, tuple[str, int, int]]:
    """Numbers of the initial state by name: their part of it, the first of them there, and how many; "turn": of a quaternion."""
    found: dict[str, tuple[str, int, int]] = {}
    for name, body in model.system.bodies.items():
        (q, v), nq, nv = model.places[name], body.joint.n_q, body.joint.n_v
        if nv:
            found |= {f"{name}.q0": ("q", q, nq), f"{name}.v0": ("v", v, nv)}
        if body.joint.spherical:
            found[f"{name}.turn"] = ("turn", q + len(body.joint.translations), 3)
        if body.n_modes:
            found |= {f"{name}.eta0": ("q", q + nq, body.n_modes), f"{name}.etadot0": ("v", v + nv, body.n_modes)}
    found |= {f"{tank}.mass": ("tanks", i, 1) for i, tank in enumerate(model.system.tanks)}
    found |= {f"{wheel}.speed": ("wheels", i, 1) for i, wheel in enumerate(model.names.wheels)}
    if isinstance(model.system.gravity, CentralGravity):
        found |= {"orbit.position": ("orbit", 0, 3), "orbit.velocity": ("orbit", 3, 3)}
    return found


@dataclass(frozen=True)
class Rows:
    """Samples that run side by side on one model."""

    members: Members
    model: Model
    numbers: Any  # (n,) of the samples
    start: dict[str, Floats]  # q0, v0, wheels0, orbit0, tanks0, if they vary
    parameters: dict[str, Floats] | None
    settings: dict[str, float]
    laws: dict[str, float]  # values of one sample, if they vary
    pars: Floats | None = None  # of the tables, if known
    alone: bool = False  # a sample that always runs separately


class Members:
    """The changes that the samples of a campaign make to its model."""

    def __init__(self, model: Model, variations: tuple[Variation, ...], law_values: Mapping[str, float],
                 alternatives: Alternatives | None = None, chosen: tuple[int, ...] | None = None) -> None:
        """`chosen`: the indices of the varied alternatives that this model has."""
        self.model, self.variations, self.law_values = model, variations, dict(law_values)
        self.alternatives, self.chosen = dict(alternatives or {}), chosen
        self.targets = [target(model, varied, law_values, self.alternatives) for varied in variations]
        self._others: dict[tuple[int, ...], Members] = {}
        self._blocks = 0
        if chosen is None:
            check_overlaps(model.system, self.targets)

    def to_check(self) -> bool:
        """Whether to check tables against descriptions: in the first blocks of a process, then in one of many."""
        self._blocks += 1
        return self._blocks <= 2 or self._blocks % EVERY == 0

    @cached_property
    def apart(self) -> bool:
        """Whether samples run separately: settings or laws differ, or numbers that are not in the tables."""
        return any(each.kind in (SETTING, LAW) or (each.kind == TABLES and beyond_numbers(self.model, each.owner))
                   for each in self.targets)

    def rows(self, numbers: Any, values: Floats) -> list[Rows]:
        """Samples (n, paths), in groups that can run together."""
        choices = [j for j, each in enumerate(self.targets) if each.kind == ALTERNATIVE]
        if choices and self.chosen is None:
            found = []
            for choice in np.unique(values[:, choices], axis=0):
                some = (values[:, choices] == choice).all(axis=1)
                found += self.with_bodies(choice).rows(numbers[some], values[some])
            return found
        parameters = self.parameters(values)
        pars = None if self.apart or not parameters else self._tables(parameters)
        if self.apart or (parameters and pars is None):
            return [self._single(numbers[i : i + 1], values[i : i + 1]) for i in range(len(numbers))]
        return [Rows(self, self.model, numbers, self.start(values), parameters or None, {}, self.law_values, pars)]

    def with_bodies(self, choice: Any) -> Members:
        """The same with some bodies replaced."""
        names = [each.owner for each in self.targets if each.kind == ALTERNATIVE]
        for name, index in zip(names, choice, strict=True):
            if index != int(index) or not 0 <= index < len(self.alternatives[name]):
                raise DescriptionError(f"'{name}.alternative' is {index:g}; there are {len(self.alternatives[name])}, numbered "
                                       "from 0 on")
        key = tuple(int(index) for index in choice)
        if key not in self._others:
            system = self.model.system.copy()
            for name, index in zip(names, key, strict=True):
                system.bodies[name] = self.alternatives[name][index]
            self._others[key] = Members(system.compile(), self.variations, self.law_values, self.alternatives, key)
        return self._others[key]

    def _tables(self, parameters: Mapping[str, Floats]) -> Floats | None:
        """Table parameters of all samples; None if their tables differ in structure, or some samples are invalid."""
        try:
            return self.model.parameter_tables(parameters)
        except BoughError:
            if numbers_only(self.model, parameters):
                raise
            return None

    def _single(self, number: Any, values: Floats) -> Rows:
        """One sample; on a separate model if its tables differ in structure."""
        parameters, model, alone = self.parameters(values), self.model, self.apart
        if parameters:
            own = model.with_parameters(member_of(parameters, 0))
            if alone or not same_structure(own.tables, model.tables):
                model, parameters, alone = own, {}, True
        of = {kind: {each.owner: float(each.actual(values[:, j])[0]) for j, each in enumerate(self.targets) if each.kind == kind}
              for kind in (SETTING, LAW)}
        return Rows(self, model, number, self.start(values), parameters or None, of[SETTING], self.law_values | of[LAW],
                    alone=alone)

    def parameters(self, values: Floats) -> dict[str, Floats]:
        """Values of each table parameter, one for each sample."""
        found: dict[str, Floats] = {}
        for j, each in enumerate(self.targets):
            if each.kind != TABLES:
                continue
            nominal = np.asarray(each.nominal, float)
            each.put(found.setdefault(each.owner, np.repeat(nominal[None], len(values), axis=0)), each.actual(values[:, j]))
        return found

    def start(self, values: Floats) -> dict[str, Floats]:
        """Varied initial states."""
        chosen = [(each, each.actual(values[:, j])) for j, each in enumerate(self.targets) if each.kind == START]
        if not chosen:
            return {}
        model, n = self.model, len(values)
        state = {part: np.tile(numbers, (n, 1)) for part, numbers in described_start(model).items()}
        places, turns = starts(model), dict[int, Floats]()
        for each, drawn in chosen:
            part, at, _ = places[each.owner]
            if part == "turn":
                turns.setdefault(at, np.zeros((n, 3)))[:, each.number] = drawn
            else:
                state[part][:, at + each.number] = drawn
        for at, turn in turns.items():
            quaternion = state["q"][:, at : at + 4]
            quaternion[:] = (Rotation.from_quat(quaternion) * Rotation.from_rotvec(turn)).as_quat()
        there = {"q": True, "v": True, "wheels": model.nw, "orbit": model.in_orbit, "tanks": model.system.tanks}
        return {f"{part}0": numbers for part, numbers in state.items() if there[part]}

    # ---- checks before the runs ------------------------------------------------------------------------------------------
    def impossible(self, values: Iterable[Floats]) -> list[str]:
        """Errors of sample values, given in parts (n, paths), each with its share of the samples.

        Only the extreme values of a distribution are checked, or each of a few values: values between valid ones are valid."""
        parts = [np.column_stack([each.actual(part[:, j]) for j, each in enumerate(self.targets)]) for part in values]
        found = [self._problem(each, np.concatenate([part[:, j] for part in parts])) for j, each in enumerate(self.targets)]
        return [text for text in found if text]

    def _problem(self, each: Target, values: Floats) -> str:
        ordered, counts = np.unique(values, return_counts=True)
        if len(ordered) <= FEW:
            wrong = [self._invalid_because(each, value) for value in ordered]
            share = sum(count for text, count in zip(wrong, counts, strict=True) if text) / len(values)
        else:
            wrong = [self._invalid_because(each, value) for value in (ordered[0], ordered[-1])]
            low = self._boundary(each, ordered) if wrong[0] else 0
            high = len(ordered) - (self._boundary(each, ordered[::-1]) if wrong[1] else 0)
            share = 1.0 - counts[low : max(low, high)].sum() / len(values)
        if not any(wrong):
            return ""
        what = f"'{each.variation.path}' as {each.variation.distribution}"
        return f"{what} is impossible in {100 * share:.3g} % of the samples: {next(filter(None, wrong))}"

    def _boundary(self, each: Target, ordered: Floats) -> int:
        """The number of leading values that are invalid, if the first is."""
        return bisect_left(range(len(ordered)), True, lo=1, key=lambda i: not self._invalid_because(each, float(ordered[i])))

    def _invalid_because(self, each: Target, value: float) -> str:
        """Why a value is invalid; empty if it is valid."""
        if each.kind == SETTING:
            return "" if value > 0.0 and np.isfinite(value) else f"{each.owner} is {value:.6g}; it must be greater than 0"
        if each.kind == ALTERNATIVE:
            known = len(self.alternatives[each.owner])
            return "" if value in range(known) else f"it is {value:g}; there are {known} alternatives, numbered from 0 on"
        tank = self.model.system.tanks.get(each.owner.removesuffix(".mass")) if each.kind == START else None
        if tank is not None and not tank.residual < value <= tank.full:
            return f"it is {value:.6g} kg; a tank starts with more than its residual, {tank.residual:g} kg, up to {tank.full:g} kg"
        if each.kind != TABLES:
            return "" if np.isfinite(value) else f"it is {value}"
        changed = np.array(each.nominal, float)
        each.put(changed, value)
        try:
            own, others = parted(self.model.system, {each.owner: changed})
            changed_system(self.model.system, others)
            body_parameters(self.model.system, {name: value[None] for name, value in own.items()} or None)
        except BoughError as error:
            return re.sub(r"member \d+ of the batch: ", "", str(error))
        return ""
