"""Where inputs are among the controls, by name."""
from collections.abc import Sequence

from bough.compile.compiled_model import CompiledModel
from bough.describe.parts.port import ports_of
from bough.errors import StateError, nearest


def input_entries(model: CompiledModel) -> dict[str, list[int]]:
    """Where inputs are in the controls, by name: those of the description; and, where a name can mean one thing only, joint torques
    by coordinate or joint, and motors by wheel."""
    named = [(name, i) for i, name in enumerate(model.names.v)]
    v = 0
    for body in model.system.bodies.values():
        if body.joint.n_v == 1:
            named.append((body.joint.name or body.name, v))
        v += body.n_v
    named += [(wheel.name, model.nv + j) for j, wheel in enumerate(model.system.wheels.values()) if wheel.driven]
    meanings: dict[str, set[int]] = {}
    for name, place in named:
        meanings.setdefault(name, set()).add(place)
    start, ports = model.input_layout.ports.start, ports_of(list(model.system.inputs.values()))
    return ({name: list(places) for name, places in meanings.items() if len(places) == 1}
            | {name: list(range(start + at.start, start + at.stop)) for name, at in ports.items()})


def control_names(model: CompiledModel) -> list[str]:
    """What each entry of the controls is."""
    return [*model.names.v, *model.names.wheels, *model.names.inputs]


def control_units(model: CompiledModel) -> list[str]:
    """Their units."""
    from bough.describe.body import FORCE_UNITS
    system = model.system
    forces = [FORCE_UNITS[unit] for body in system.bodies.values() for unit in body.speed_units]
    return [*forces, *["N m"]*model.nw, *(unit for port in system.inputs.values() for unit in port.units(system))]


def chosen_controls(model: CompiledModel, names: Sequence[str] | None) -> list[int]:
    """Entries of the controls.  None: all inputs of the description or, if it has none, forces along all free coordinates and
    motors of driven wheels."""
    if names is None:
        ports = model.input_layout.ports
        if ports.stop > ports.start:
            return list(range(ports.start, ports.stop))
        driven = [model.nv + j for j, wheel in enumerate(model.system.wheels.values()) if wheel.driven]
        return [*(i for i in range(model.nv) if model.free[i]), *driven]
    known, numbers, found = input_entries(model), {name: i for i, name in enumerate(control_names(model))}, list[int]()
    for name in [names] if isinstance(names, str) else names:
        entries = known.get(name) or ([numbers[name]] if name in numbers else None)
        if entries is None:
            there = f"; there are {', '.join(known)}" if known else ""
            raise StateError(f"there is no input, coordinate or driven wheel '{name}'{nearest(str(name), known) or there}")
        held = [model.names.v[entry] for entry in entries if entry < model.nv and not model.free[entry]]
        if held:
            raise StateError(f"input '{name}': coordinate '{held[0]}' is held, and a force along it moves nothing; leave it out")
        found += [entry for entry in entries if entry not in found]
    return found
