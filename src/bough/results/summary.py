"""The summary of a result: the system, the method, the time it took, conservation of energy and momentum, and the final state."""

from __future__ import annotations

import numpy as np

from bough.describe import CentralGravity
from bough.describe.parts import ELEMENTS, Element
from bough.flex.flexible_body import displacements
from bough.results.audit import external_effects, nonconservative_effects
from bough.results.dataset import entry_units
from bough.results.quantities import constrained_by_loops, coupled_names
from bough.results.recorded_parts import Array, along, flexible_bodies, modal_coordinates, outermost, recoveries
from bough.results.result_contents import Report
from bough.results.singular import from_attrs

Row = tuple[str, str]
_MOST_JOINTS = 12  # listed with their final values; also for flexible bodies
_MOST_PASSAGES = 4


def title(report: Report) -> str:
    """The name of the system, and whether the run reached its end."""
    runs = f", {report.runs} runs" if report.facts.batched else ""
    state = "stopped early" if report.facts.failure else "reached the end"
    return f"{report.facts.system_name}{runs}: {state}"


def rows(report: Report) -> list[Row]:
    """Label and text of each line."""
    found = [("stopped", report.facts.failure)] if report.facts.failure else []
    times = f"{report.time[0]:g} to {report.time[-1]:g} s, {len(report.time)} samples"
    found += [("time", times), ("method", _method(report)), ("wall time", _wall_time(report))]
    notes = {"choice": report.facts.choice, "steps": report.facts.stability, "error": report.facts.accuracy}
    found += [(label, line) for label, line in notes.items() if line]
    if report.facts.assembled:
        found.append(("start", report.facts.assembled))
    found += _events(report)
    for record, lines in (("energy", _energy), ("momentum", _momentum), ("exhaust", _exhaust), ("elements", _elements),
                          ("elements", _limits), ("loops", _gaps), ("stress", _peaks), ("couplings", _kept)):
        found += lines(report) if record in report.facts.record else []
    if report.audit is not None:
        found.append(("audit", report.audit.line))
    found += _passages(report)
    if "state" in report.facts.record:
        found += _cut(_final(report), "joints", _MOST_JOINTS) + _cut(_tips(report), "flexible bodies", _MOST_JOINTS)
    return found


def text(report: Report) -> str:
    """Title and rows as plain text."""
    lines = rows(report)
    width = max(len(name) for name, _ in lines)
    return "\n".join([f"Result of {title(report)}", *(f"  {name:{width}}  {line}" for name, line in lines)])


def _peaks(report: Report) -> list[Row]:
    """The highest equivalent stress of each flexible body, where and when."""
    values, found, first = report.array("von_mises"), [], 0
    for body, known in recoveries(report.system).items():
        own = values[..., first : first + len(known.names)]
        first += len(known.names)
        if own.size and np.isfinite(own).any():
            place = np.unravel_index(int(np.nanargmax(own)), own.shape)
            when = report.time[place[-2]]
            found.append((f"stress of {body}", f"peak {own[place]:.4g} MPa in element {known.names[place[-1]]} at {when:.4g} s"))
    return found


def _method(report: Report) -> str:
    facts = report.facts
    step = "adaptive steps" if facts.dt is None else f"dt {facts.dt:g} s"
    rejected = f", {facts.rejected} rejected" if facts.rejected else ""
    return f"{facts.method}, {step}, {facts.steps} step{'s' * (facts.steps != 1)}{rejected}"


def _wall_time(report: Report) -> str:
    wall = report.facts.wall_time
    simulated = (report.time[-1] - report.time[0]) * report.runs
    return f"{wall:.3g} s" + (f", {_rounded(simulated / wall)} times real time" if wall > 0 else "")


def _energy(report: Report) -> list[Row]:
    """The drift of the energy minus the known work of inputs; or the effects that change it."""
    total, kinetic = report.array("total_energy"), report.array("kinetic_energy")
    audited = "input_work" in report.labeled("energy").variables
    work = report.array("input_work") if audited else np.zeros_like(total)
    lost = report.array("friction_loss").sum(axis=-1) if "friction" in report.facts.record else None
    effects = [effect for effect in nonconservative_effects(report.system, controlled=report.facts.controlled)
               if not (audited and effect in ("inputs", "a controller"))]
    effects = [effect for effect in effects if lost is None or effect != "friction"]
    by_inputs = f", work of inputs {_span(work[..., -1])} J" if audited and work.any() else ""
    if lost is not None:
        work, by_inputs = work - lost, by_inputs + f", lost to friction {_span(lost[..., -1])} J"
    start, whole = f"{_span(total[..., 0])} J", f"{_span(total[..., 0])} -> {_span(total[..., -1])} J{by_inputs}"
    if effects:
        return [("energy", f"{whole} ({', '.join(effects)})")]
    exchanged = np.nanmax(kinetic, axis=-1) - np.nanmin(kinetic, axis=-1)
    drift = np.nanmax(np.abs(total - total[..., :1] - work), axis=-1)
    steady = np.all(exchanged < 1e-6 * np.nanmax(np.abs(kinetic)))
    off = _relative(drift, np.abs(total[..., 0]), "of it") if steady else _relative(drift, exchanged, "of what is exchanged")
    return [("energy", f"{whole}, off by {drift.max():.1e} J{off}" if by_inputs else f"{start}, drift {drift.max():.1e} J{off}")]


def _momentum(report: Report) -> list[Row]:
    if external_effects(report.system, base_pushed=report.facts.base_pushed):
        return []
    found = []
    for name, unit in (("angular", "N m s"), ("linear", "N s")):
        series = report.array(f"{name}_momentum")
        drift = np.nanmax(np.linalg.norm(series - series[..., :1, :], axis=-1), axis=-1)
        size = np.linalg.norm(series[..., 0, :], axis=-1)
        found.append((f"{name} momentum", f"{_span(size)} {unit}, drift {drift.max():.1e} {unit}"))
    return found


def _exhaust(report: Report) -> list[Row]:
    """Drift of momenta and energy of system and exhaust together, if there are no external effects; central gravity keeps the
    angular momentum about its center.
    """
    outside = [effect for effect in external_effects(report.system, base_pushed=report.facts.base_pushed) if effect != "thrust"]
    central = outside == ["gravity"] and isinstance(report.system.gravity, CentralGravity)
    kept = [("angular", "N m s")] if central else [] if outside else [("linear", "N s"), ("angular", "N m s")]
    texts = []
    for name, unit in kept:
        whole, own = report.array(f"whole_{name}_momentum"), report.array(f"exhaust_{name}_momentum")
        drift = np.nanmax(np.linalg.norm(whole - whole[..., :1, :], axis=-1))
        texts.append(f"{name} momentum {np.nanmax(np.linalg.norm(own, axis=-1)):.4g} {unit}, off by {drift:.1e} {unit}")
    effects = [effect for effect in nonconservative_effects(report.system, controlled=report.facts.controlled)
               if effect not in ("propellant", "a controller", "inputs")]
    if not effects and not report.facts.controlled:
        energy = report.array("whole_energy")
        texts.append(f"energy {np.nanmax(np.abs(report.array('exhaust_energy'))):.4g} J, off by "
                     f"{np.nanmax(np.abs(energy - energy[..., :1])):.1e} J")
    return [("with exhaust", "; ".join(texts))] if texts else []


def _events(report: Report) -> list[Row]:
    """Events; for a batch, their numbers."""
    if report.facts.batched:
        counts = [len(run) for run in report.events_by_run]
        return [("events", f"{min(counts)} to {max(counts)} in each run")] if any(counts) else []
    found = [str(event) for event in report.events_by_run[0]]
    rows = _cut([("events" if i == 0 else "", text) for i, text in enumerate(found)], "events", _MOST_JOINTS)
    happened = {event.name for event in report.events_by_run[0]}
    missed = [name for name in report.system.events if name not in happened]
    return [*rows, ("no event", f"{', '.join(missed)} did not happen")] if missed else rows


def _gaps(report: Report) -> list[Row]:
    """The largest gaps of the loops."""
    parts, names = [], list(report.system.loops)
    for kind, (variable, unit) in enumerate((("loop_gap", "m"), ("loop_gap_angle", "rad"))):
        if any(constrained[kind] for constrained in constrained_by_loops(report.system).values()):
            series = report.array(variable).reshape(-1, len(names))
            if np.isnan(series).all():
                continue                                                        # never closed by an event
            row, worst = divmod(int(np.nanargmax(series)), len(names))
            largest = series[row, worst]
            which = f" ({names[worst]})" if len(names) > 1 and largest else ""
            parts.append(f"{f'{largest:.1e}' if largest else '0'} {unit}{which}")
    return [("loops", f"largest gap {', '.join(parts)}" if parts else "open all the time")]


def _kept(report: Report) -> list[Row]:
    """The largest error of the couplings, and the largest force or torque."""
    gap, force = np.nanmax(np.abs(report.array("coupling_gap"))), np.abs(report.array("coupling_force"))
    names = coupled_names(report.system)
    worst = int(np.nanmax(force.reshape(-1, len(names)), axis=0).argmax())
    most = f"{np.nanmax(force[..., worst]):.4g} N or N m ({names[worst]})"
    return [("couplings", f"kept to {gap:.1e} rad or m; at most {most}")]


def _elements(report: Report) -> list[Row]:
    """Lines of force elements, by kind."""
    found = []
    for kind in ELEMENTS:
        rows = [(f"{kind.noun} {name}", element.result_line(_values(report, element))) for name, element in
                report.system.of(kind).items()]
        found += _cut([(label, text) for label, text in rows if text], kind.key, _MOST_JOINTS)
    return found


def _values(report: Report, element: Element) -> dict[str, np.ndarray]:
    """Recorded variables of an element: ([run,] time, ...)."""
    found = {}
    for name, meaning in element.recorded.items():
        place = list(along(report.system, meaning.dims[0])).index(element.name)
        found[name] = np.take(report.array(name), place, axis=report.array(name).ndim - len(meaning.dims))
    return found


def _limits(report: Report) -> list[Row]:
    """Elements that left the validity of their law, and when first."""
    found = []
    for element in report.system.elements.values():
        values = _values(report, element)
        codes = [values[name].reshape(report.runs, -1) for name, meaning in element.recorded.items() if meaning.limit]
        for code, text in element.limits.items():
            beyond = codes[0] == code
            if beyond.any():
                run = int(beyond.any(axis=1).argmax())
                where = f"{int(beyond.any(axis=1).sum())} of {report.runs} runs, run {run} " if report.facts.batched else ""
                when = report.time[int(beyond[run].argmax())]
                found.append((f"{element.noun} {element.name}", f"{where}from t = {when:.5g} s: {text}"))
    return found


def _passages(report: Report) -> list[Row]:
    """Singular configurations on the path; for a batch, the number of runs with some."""
    found = from_attrs(report.arrays.attrs)
    if not report.facts.batched or not found:
        rows = [("singular" if i == 0 else "", str(passage)) for i, passage in enumerate(found)]
        return _cut(rows, "singular configurations", _MOST_PASSAGES)
    runs, first = {passage.run for passage in found}, found[0]
    return [("singular", f"{len(runs)} of {report.runs} runs pass singular configurations; run {first.run} {first}")]


def _relative(drift: Array, scale: Array, of_what: str) -> str:
    if not np.all(np.isfinite(scale) & (scale > 0)):
        return ""
    return f" ({(drift / scale).max():.1e} {of_what})"


def _final(report: Report) -> list[Row]:
    """Final coordinates of each joint; for a batch, their range."""
    q, units, found, at = report.array("q")[..., -1, :], entry_units(report.system)["q_unit"], list[Row](), 0
    for name, body in report.system.bodies.items():
        parts = []
        for i, coordinate in enumerate(body.joint.q_labels, start=at):
            there = not np.isnan(q[..., i]).all()                           # otherwise its joint was detached
            parts.append(f"{coordinate} {_span(q[..., i])}{' ' * bool(units[i])}{units[i]}" if there else f"{coordinate} gone")
        found += [(f"final {body.joint.name or name}", ", ".join(parts))] if parts else []
        at += body.n_q
    return found


def _tips(report: Report) -> list[Row]:
    """Final deflection of the outermost node of each flexible body, in body axes, and the largest one."""
    found, coordinates = [], modal_coordinates(report.system, report.array("q"))
    for name, body in flexible_bodies(report.system).items():
        if (tip := outermost(body)) is None:
            continue
        with np.errstate(over="ignore", invalid="ignore"):      # diverged runs have huge values
            series = displacements(body, coordinates[name])[..., tip, :]
            size = np.linalg.norm(series, axis=-1)
        largest = float(np.nanmax(size))
        factor, unit = (1e3, "mm") if largest < 0.5 else (1.0, "m")
        final = np.where(np.abs(series[..., -1, :]) > 1e-9 * largest, series[..., -1, :], 0.0) * factor
        parts = ", ".join(f"{axis} {_span(final[..., i])}" for i, axis in enumerate("xyz"))
        when = "" if report.facts.batched else f" at {report.time[int(np.nanargmax(size))]:.4g} s"
        greatest = f", at most {largest * factor:.4g} {unit}{when}" if largest else ""
        found.append((f"final {name}.{body.nodes.names[tip]}", f"deflection {parts} {unit}{greatest}"))
    return found


def _cut(rows: list[Row], what: str, most: int) -> list[Row]:
    """The first rows, and the number of omitted ones."""
    more = len(rows) - most
    return [*rows[:most], ("", f"... and {more} {what} more")] if more > 0 else rows


def _rounded(factor: float) -> str:
    """Two digits: 0.83, 1.2, 35, 1,700."""
    return f"{float(f'{factor:.2g}'):,.0f}" if factor >= 10 else f"{factor:.2g}"


def _span(values: Array) -> str:
    low, high = np.nanmin(values), np.nanmax(values)
    return f"{high:.4g}" if np.ndim(values) == 0 or low == high else f"{low:.4g} .. {high:.4g}"
