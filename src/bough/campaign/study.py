"""Campaigns: many runs of a system with varying parameters, on all cores or a cluster, resumable."""

from __future__ import annotations

import hashlib
import inspect
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bough.campaign.design import make_design, variations
from bough.campaign.members import Members, read_alternatives
from bough.campaign.metrics import Metric, Requirement, metric, requirement
from bough.compile.layout import Floats
from bough.describe import Simulation, System, document
from bough.errors import DescriptionError, StateError, nearest
from bough.files import read, run_script, the_one
from bough.integrate.trajectory import choose_sampling
from bough.simulation import with_settings
from bough.whole import write_text

if TYPE_CHECKING:
    import xarray

    from bough.campaign.campaign_report import Report
    from bough.campaign.store import Store
    from bough.results import Result

CHECKED = 20_000_000  # values that are checked before the runs
RESERVED = ("sample", "time", "status")  # names used by the dataset of samples
PART = 65536  # samples at a time
KEYS = ("campaign", "system", "samples", "seed", "design", "levels", "vary", "correlate", "metrics", "requirements", "keep",
        "simulation", "alternatives", "name")


class Campaign:
    """Many runs of one system with varying parameters.

    Parameters
    ----------
    system : System
        With its settings (`System.simulation`).
    vary : mapping
        {path: distribution}, or {(path, path): normal distribution with a covariance}. A path names a number in the description
        ("boom.mass", "boom.com[0]", "arm.stiffness", "rw1.axis[0]", "gravity[2]", "panel.frequency",
        "push.force.scale", "lock.at"), in the initial state ("bus.q0[2]", "bus.v0[5]", "bus.turn[0]", "rw1.speed"), in the
        settings ("simulation.dt") or in the laws ("laws.gain"). A distribution is one of SciPy's, a mapping ({"normal": [12,
        0.3]}), or a list with a value for each sample; ("scale", distribution) and ("add", distribution) change the value of the
        description.
    samples : int, optional
        Number of runs; not needed for designs that determine it themselves.
    metrics : mapping
        {name: expression or function of a Result}; see `bough.campaign.metrics`.
    requirements : sequence of mappings, optional
        {"metric": ..., "below" or "above": ..., "probability": ...}.
    keep : iterable of str, optional
        Quantities whose time histories are stored for every sample.
    design : {"random", "latin-hypercube", "sobol", "saltelli", "factorial", "corners", "one-at-a-time"}
    seed : int
    levels : int
        Number of values per parameter in a factorial design.
    correlate : sequence of mappings, optional
        {"paths": [...], "matrix": [[...]]}: correlations of normal scores.
    laws : sequence of laws, or function, optional
        Laws of all runs; or a function that builds them from a mapping of values, which can vary as "laws.NAME".
    law_values : mapping, optional
        The nominal values of these.
    alternatives : mapping, optional
        {body: [bodies]}: replacements for a body, flexible bodies or mappings of mass, com and inertia; "panel.alternative" varies
        over their indices, from 0.

    Examples
    --------
    >>> import bough
    >>> s = bough.System("pendulum", gravity=(0, 0, -9.81))
    >>> bob = s.body("bob", joint=bough.Revolute("y", q0=0.1), mass=2.0, com=(0, 0, -1))
    >>> _ = s.simulation(until=1.0, dt=0.01)
    >>> study = bough.Campaign(s, vary={"bob.mass": {"uniform": [1, 3]}, "bob.q0[0]": {"normal": [0.1, 0.01]}},
    ...                        samples=8, metrics={"swing": "peak(bob.ry)"})
    >>> data = study.run(progress=False)
    >>> dict(data.sizes), bool((data.swing > 0).all())
    ({'sample': 8}, True)
    """

    def __init__(self, system: System, *, vary: Mapping[str, Any], metrics: Mapping[str, Any], samples: int | None = None,
                 requirements: Sequence[Any] = (), keep: Iterable[str] = (), design: str = "random", seed: int = 0, levels: int = 3,
                 correlate: Sequence[Any] = (), laws: Sequence[Any] | Callable[[Mapping[str, float]], Sequence[Any]] = (),
                 law_values: Mapping[str, float] | None = None, alternatives: Mapping[str, Sequence[Any]] | None = None,
                 name: str | None = None) -> None:
        if not isinstance(system, System):
            raise DescriptionError(f"campaign: system is {system!r}; give a bough.System")
        if not isinstance(vary, Mapping) or not vary:
            raise DescriptionError(f"campaign: vary is {vary!r}; name at least one thing that varies, {{'boom.mass': {{'normal': "
                                   "[12, 0.3]}}")
        self._given: dict[str, Any] = {
            "vary": vary, "metrics": metrics, "samples": samples, "requirements": requirements, "keep": keep, "design": design,
            "seed": seed, "levels": levels, "correlate": correlate, "laws": laws, "law_values": law_values,
            "alternatives": alternatives, "name": name}
        self.system, self.name, self.seed = system, name or system.name, seed
        self.laws, self.law_values = laws, dict(law_values or {})
        self.variations, tied = variations(vary)
        correlate = [*correlate, *tied]
        self.metrics: tuple[Metric, ...] = tuple(metric(str(key), given) for key, given in dict(metrics).items())
        self.requirements: tuple[Requirement, ...] = tuple(requirement(each, [m.name for m in self.metrics])
                                                           for each in requirements)
        for each in self.metrics:
            if each.name in RESERVED:
                raise DescriptionError(f"campaign: a metric is called '{each.name}', as the samples' own {each.name}; rename it")
        self.keep = tuple([keep] if isinstance(keep, str) else keep)
        if not self.metrics and not self.keep:
            raise DescriptionError("campaign: there are no metrics and nothing to keep; give metrics, {'swing': 'peak(boom.ry)'}, "
                                   "or quantities to keep")
        paths = [each.path for each in self.variations]
        tables = {each.path: len(each.distribution.options["values"]) for each in self.variations
                  if each.distribution.kind == "table"}
        for path, length in tables.items():
            if samples is not None and length < samples:
                raise DescriptionError(f"campaign: vary '{path}' has {length} values for {samples} samples; give one for each")
        given = samples if samples is not None else min(tables.values(), default=None)
        self.design = make_design(design, given, len(paths), seed, levels, correlate, paths)
        self._correlate = list(correlate)
        self.model = system.compile()
        self.alternatives = read_alternatives(system, alternatives or {})
        self.members = Members(self.model, self.variations, self.law_values, self.alternatives)
        self._check_quantities()

    def _check_quantities(self) -> None:
        from bough.campaign.block import unknown

        names, known = self.model.names, self.model.system.outputs
        for name in (*self.keep, *(name for each in self.metrics for name in each.names)):
            if name not in (*known, *names.q, *names.v, *names.wheels):
                raise DescriptionError(unknown(self.model, name))
        if self.keep and any(each.owner in ("until", "sample_rate", "dt") and each.kind == "setting"
                             for each in self.members.targets):
            raise DescriptionError("campaign: histories are kept, and simulation.until, sample_rate or dt varies: they would not "
                                   "fit each other; take metrics only")

    # ---- samples --------------------------------------------------------------------------------------------------------
    @property
    def samples(self) -> int:
        """Number of runs."""
        return self.design.samples

    def drawn(self, numbers: Any) -> Floats:
        """(n, paths): values of the distributions for samples with these consecutive numbers."""
        u = self.design.rows(int(numbers[0]), int(numbers[-1]) + 1)
        return np.column_stack([each.distribution.values(u[:, j], numbers) for j, each in enumerate(self.variations)])

    def actual(self, drawn: Floats) -> Floats:
        """(n, paths): the resulting values."""
        return np.column_stack([each.actual(drawn[:, j]) for j, each in enumerate(self.members.targets)])

    @cached_property
    def times(self) -> Floats:
        """Times of the stored histories."""
        settings = with_settings({}, self.system.settings)
        fixed = settings.get("dt")
        return choose_sampling(0.0, settings["until"], settings.get("sample_rate"), fixed).times(settings["until"])

    def make_laws(self, values: Mapping[str, float]) -> Sequence[Any]:
        """The laws of a run."""
        return self.laws(values) if callable(self.laws) else self.laws

    def check(self) -> None:
        """Raise if a distribution gives invalid values, with their share of the samples."""
        n = min(self.samples, CHECKED // len(self.variations))
        values = (self.drawn(np.arange(first, min(first + PART, n))) for first in range(0, n, PART))
        if problems := self.members.impossible(values):
            raise DescriptionError("\n".join(f"campaign: vary {text}; truncate it" for text in problems))

    # ---- as a file -----------------------------------------------------------------------------------------------------
    def to_mapping(self) -> dict[str, Any]:
        """The contents of a campaign file, without the system; laws are not included."""
        found: dict[str, Any] = {
            "campaign": 1,
            "name": self.name,
            "samples": self.samples,
            "seed": self.seed,
            "design": self.design.kind,
            "vary": [each.to_mapping() for each in self.variations],
            "metrics": [each.to_mapping() for each in self.metrics],
        }
        if self.design.kind == "factorial":
            found["levels"] = self.design.levels
        if self._correlate:
            found["correlate"] = self._correlate
        if self.requirements:
            found["requirements"] = [{key: value for key, value in vars(each).items() if value is not None}
                                     for each in self.requirements]
        return found | ({"keep": list(self.keep)} if self.keep else {})

    @property
    def identity(self) -> str:
        """A hash of the system and everything that determines the samples, with laws and functions by their source."""
        made = {key: value for key, value in self.to_mapping().items() if key not in ("requirements", "name")}
        others = self.system.copy()
        others.bodies.update({f"{name}.{i}": each.model_copy(update={"name": f"{name}.{i}"})
                              for name, bodies in self.alternatives.items() for i, each in enumerate(bodies)})
        laws = [self.laws] if callable(self.laws) else self.laws
        written = [fingerprint(each) for each in (*laws, *(each.function for each in self.metrics if each.function))]
        text = json.dumps([made, others.to_yaml(exact=True), self.law_values, written], sort_keys=True, default=str)
        return hashlib.sha256(text.encode()).hexdigest()

    def changed(self, **changes: Any) -> Campaign:
        """The same campaign with other options.

        Parameters
        ----------
        **changes
            As in `Campaign`; those that are None are unchanged.
        """
        return Campaign(self.system, **self._given | {key: value for key, value in changes.items() if value is not None})

    def to_yaml(self, path: str | PathLike[str]) -> Path:
        """Write the campaign to a file, with its system next to it.

        Parameters
        ----------
        path : path
            The system's file gets the same name with the suffix `-system`.
        """
        path = Path(path)
        in_python = [each.name for each in self.metrics if each.function is not None]
        if self.laws or in_python or self.alternatives:
            what = f"metric '{in_python[0]}' is" if in_python else "its laws are" if self.laws else "its alternatives are"
            raise StateError(f"campaign '{self.name}': {what} made in Python, and a YAML file cannot hold that; keep the script, "
                             "and run it: bough campaign SCRIPT.py")
        beside = path.with_name(f"{path.stem}-system.yaml")
        self.system.to_yaml(beside, exact=True)
        write_text(path, document.write({"campaign": 1, "system": beside.name, **self.to_mapping()}))
        return path

    @classmethod
    def from_file(cls, path: str | PathLike[str], **changes: Any) -> Campaign:
        """The campaign in a YAML file, with the system's file next to it; or the one defined in a Python script.

        Parameters
        ----------
        path : path
        **changes
            Values of samples, seed or design that replace those of the file.
        """
        if Path(path).suffix == ".py":
            return the_one(Path(path), run_script(Path(path)), cls, "campaign").changed(**changes)
        data = document.read_file(Path(path)).data
        if not isinstance(data, Mapping) or data.get("campaign") != 1:
            raise DescriptionError(f"{path}: is no campaign file; let it start with 'campaign: 1'")
        for key in data:
            if key not in KEYS:
                raise DescriptionError(f"{path}: unknown key '{key}'{nearest(str(key), KEYS)}")
        if not isinstance(data.get("system"), str):
            raise DescriptionError(f"{path}: system is {data.get('system')!r}; give the file of the system")
        system, options = read(Path(path).parent / data["system"])
        if options.get("control") is not None:
            raise DescriptionError(f"{path}: {data['system']} has a controller on joints (control); make it a law on inputs and "
                                   "outputs (bough.law, bough.controller with outputs=, inputs=)")
        laws, usual = options.get("laws", ()), options.get("law_values")
        if settings := data.get("simulation"):
            old = system.settings.to_dict() if system.settings else {}
            system.settings = Simulation.from_mapping(old | dict(settings))
        kept = ("samples", "seed", "design", "levels", "correlate", "requirements", "keep", "alternatives")
        given = {key: data[key] for key in kept if key in data}
        return cls(system, vary=_by_path(path, data.get("vary")), metrics=_by_name(path, data.get("metrics")),
                   name=data.get("name"), laws=laws, law_values=usual,
                   **given | {key: value for key, value in changes.items() if value is not None})

    # ---- run -----------------------------------------------------------------------------------------------------------
    def run(self, store: str | PathLike[str] | None = None, *, threads: int | None = None, client: Any = None,
            block: int | None = None, progress: bool = True) -> xarray.Dataset:
        """Run all samples that the store does not have yet, and return all samples.

        Parameters
        ----------
        store : path, optional
            The folder of the samples; by default a temporary one.
        threads : int, optional
            Number of threads; by default one per processor.
        client : dask.distributed.Client, optional
            Run on the workers of a cluster instead.
        block : int, optional
            Samples per block; by default chosen from their run time.
        progress : bool
            Whether to show a progress bar.
        """
        from bough.campaign.runner import run_campaign

        return run_campaign(self, None if store is None else Path(store), threads=threads, client=client, block=block,
                            progress=progress).dataset()

    def open_store(self, store: str | PathLike[str]) -> Store:
        """The stored samples, checked to be those of this campaign."""
        from bough.campaign.store import Store

        found = Store.open(Path(store))
        if found.facts["study"]["identity"] != self.identity:
            raise StateError(f"{store}: holds samples of another campaign, system or seed ('{found.facts['study']['name']}', seed "
                             f"{found.facts['study']['seed']}); give another folder, or remove it")
        return found

    def report(self, store: str | PathLike[str]) -> Report:
        """The report on the samples of a store: `print` it, or `write` it as an HTML page."""
        from bough.campaign.campaign_report import Report

        return Report(self.open_store(store))

    def rerun(self, number: int, *, record: Any = None) -> Result:
        """Rerun one sample with everything recorded.

        Parameters
        ----------
        number : int
            The sample number.
        record : optional
            See `bough.simulate`; by default everything available.
        """
        from bough.campaign.block import integrate, single
        from bough.results import Result
        from bough.results.quantities import all_records, select_records

        if not 0 <= number < self.samples:
            raise StateError(f"rerun: there is no sample {number}; they are 0 to {self.samples - 1}")
        numbers = np.arange(number, number + 1)
        [rows] = self.members.rows(numbers, self.drawn(numbers))
        _, trajectory = integrate(self, rows)
        return Result(single(trajectory, 0), select_records(record or all_records(self.system), self.system))

    def __repr__(self) -> str:
        return (f"Campaign('{self.name}': {self.samples} samples, {self.design.kind}, {len(self.variations)} things vary, "
                f"{len(self.metrics)} metrics)")


def open_campaign(store: str | PathLike[str]) -> xarray.Dataset:
    """The samples of a campaign stored in a folder: parameters, metrics, histories and status."""
    from bough.campaign.store import Store

    return Store.open(Path(store)).dataset()


def fingerprint(given: Any) -> str:
    """The source of a law or a function, or its bytecode if the source is not available."""
    function = getattr(given, "function", given)
    try:
        text = inspect.getsource(function)
    except (OSError, TypeError):
        text = _code(getattr(function, "__code__", None))
    options = {key: value for key, value in vars(given).items() if key in ("period", "delay", "states", "inputs", "outputs")}
    return f"{text}{options}" if function is not given else text


def _code(code: Any) -> str:
    inner = [_code(each) if hasattr(each, "co_code") else repr(each) for each in getattr(code, "co_consts", ())]
    return f"{getattr(code, 'co_code', b'').hex()} {getattr(code, 'co_names', ())} {inner}"


def _by_path(file: Any, given: Any) -> dict[Any, Any]:
    entries = given if isinstance(given, list) else []
    found: dict[Any, Any] = {}
    for entry in entries:
        path = entry.get("path", entry.get("paths")) if isinstance(entry, Mapping) else None
        path = tuple(map(str, path)) if isinstance(path, list) else path
        if not path or len(entry) != 2:
            raise DescriptionError(f"{file}: vary has {entry!r}; write each as {{path: boom.mass, normal: [12, 0.3]}}, or several "
                                   "as {paths: [...], normal: {mean: [...], covariance: [[...]]}}")
        if path in found:
            raise DescriptionError(f"{file}: vary names '{path}' twice; keep one of them")
        found[path] = {key: value for key, value in entry.items() if key not in ("path", "paths")}
    return found


def _by_name(file: Any, given: Any) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for entry in given if isinstance(given, list) else []:
        if not isinstance(entry, Mapping) or not isinstance(entry.get("name"), str):
            raise DescriptionError(f"{file}: metrics has {entry!r}; write each as {{name: swing, of: peak(boom.ry)}}")
        found[entry["name"]] = entry
    return found
