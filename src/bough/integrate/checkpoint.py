"""The data needed to resume an integration bit for bit: only strings and numbers, so that any file can hold them."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from bough.compile.hold_tables import Hold
from bough.describe import Loop
from bough.errors import StateError
from bough.integrate.compiled import loops
from bough.integrate.run import Run
from bough.integrate.trajectory import WHOLE, Occurrence
from bough.model import Model

if TYPE_CHECKING:
    from bough.integrate.event_handler import EventHandler

COUNTS = ("t", "shown", "steps", "rejected", "wall", "begun", "done", "dropped")
ARRAYS = ("x", "u", "failed", "carry")


def remember(runs: Sequence[Run]) -> dict[str, Any]:
    """Everything except the samples and the laws themselves."""
    return {"laws": runs[0].laws.names, "runs": [_run_memory(run) for run in runs]}


def recall(runs: Sequence[Run], memory: Mapping[str, Any]) -> None:
    """Set new runs, with the same options and laws, to the state of the earlier ones."""
    given, wanted = runs[0].laws.names, memory["laws"]
    if given != wanted:
        raise StateError(f"the run had the laws {', '.join(wanted) or 'none'}, and {', '.join(given) or 'none'} are given; give "
                         "the same ones, in the same order: a file cannot hold them")
    for run, kept in zip(runs, memory["runs"], strict=True):
        _recall_run(run, kept)


def with_samples_before(memory: dict[str, Any], n: int) -> dict[str, Any]:
    """The memory of runs that had dropped n samples, as if they had kept them."""
    for run in memory["runs"]:
        run["done"] += n
        for row in run["carry"]:
            row[loops.NEXT] += n
    return memory


def _run_memory(run: Run) -> dict[str, Any]:
    more = {"ahead": run.ahead[:, 0].tolist(), "parts": list(run.parts),
            "shown_x": None if run.shown_x is run.x else run.shown_x.tolist(), "base": run.laws.base.tolist(),
            "laws": [law.memory() for law in run.laws.sampled],
            "mounted": None if run.mounted is None else [entries.tolist() for entries in run.mounted.entries],
            "events": None if run.handler is None else _events_memory(run.handler)}
    return {name: getattr(run, name) for name in COUNTS} | {name: getattr(run, name).tolist() for name in ARRAYS} | more


def _recall_run(run: Run, kept: dict[str, Any]) -> None:
    for name in COUNTS:
        setattr(run, name, type(getattr(run, name))(kept[name]))
    if kept["carry"] and len(kept["carry"][0]) == run.carry.shape[1] - 1:              # of a version that did not note jumps
        kept = kept | {"carry": np.insert(kept["carry"], loops.AFTER_JUMP, 0.0, axis=1)}
    for name in ARRAYS:
        getattr(run, name)[:] = np.reshape(kept[name], getattr(run, name).shape)
    entries = run.failed[~np.isnan(run.failed[:, 0]), 1]
    if not ((entries >= -1) & (entries < run.x.shape[1])).all():
        raise StateError(f"a run failed at the entries {entries.tolist()} of its state, which has {run.x.shape[1]}")
    run.ahead[:, 0], run.parts = kept.get("ahead", 0.0), tuple(kept.get("parts", WHOLE))
    run.breaks = run.breaks[:0] if run.ahead.any() else run.breaks
    run.shown_x = run.x if kept["shown_x"] is None else np.array(kept["shown_x"], float).reshape(run.x.shape)
    run.laws.base[:] = np.reshape(kept["base"], run.laws.base.shape)
    for law, memory in zip(run.laws.sampled, kept["laws"], strict=True):
        law.recall(memory)
    if run.handler is not None:
        run.handler.measured = run.measured
        _recall_events(run.handler, kept["events"])
        run.use(run.handler.model)
        if run.begun:
            run.build_ahead()
    if run.mounted is not None and kept.get("mounted") is not None:
        run.mounted.entries = [np.array(entries) for entries in kept["mounted"]]


def _held(model: Model) -> dict[str, Any]:
    return {"holds": {name: asdict(hold) for name, hold in model.holds.items()}, "contacts": list(model.marks),
            "joined": [loop.to_dict() for loop in model.joined.values()]}


def _holding(model: Model, kept: dict[str, Any]) -> Model:
    joined = {loop["name"]: Loop.from_mapping(loop) for loop in kept["joined"]}
    return model.switched({name: Hold(**hold) for name, hold in kept["holds"].items()}, kept["contacts"], joined)


def _events_memory(handler: EventHandler) -> dict[str, Any]:
    return {"now": _held(handler.model), "fired": sorted(handler.fired), "seen": handler.seen,
            "log": [event.to_mapping() for event in handler.log],
            "play": {name: [row.tolist() for row in rows] for name, rows in handler.play.items()},
            "spans": [(t, _held(model)) for t, model in handler.spans]}


def _recall_events(handler: EventHandler, kept: dict[str, Any]) -> None:
    model = handler.model
    handler.model, handler.fired, handler.seen = _holding(model, kept["now"]), set(kept["fired"]), dict(kept.get("seen", {}))
    handler.play = {name: [np.array(row) for row in rows] for name, rows in kept.get("play", {}).items()}
    handler.log = [Occurrence.from_mapping(event) for event in kept["log"]]
    handler.spans = [(t, _holding(model, span)) for t, span in kept["spans"]]
