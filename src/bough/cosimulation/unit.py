"""The content of a co-simulation unit: a simulator whose ports are the unit's variables; called by PythonFMU and PythonFMU3."""
import json
import re
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element, SubElement

import numpy as np

from bough.compile.layout import Floats
from bough.errors import StateError
from bough.results.netcdf import read_system
from bough.simulator import Simulator

SI = {"N": {"kg": 1, "m": 1, "s": -2}, "J": {"kg": 1, "m": 2, "s": -2}, "m": {"m": 1}, "s": {"s": 1}, "rad": {"rad": 1}}


def base_units(unit: str) -> dict[str, int]:
    """Exponents of SI's units.

    >>> base_units("N m"), base_units("m/s^2")
    ({'kg': 1, 'm': 2, 's': -2}, {'m': 1, 's': -2})
    """
    found: dict[str, int] = {}
    for sign, part in zip((1, -1), unit.partition("/")[::2], strict=True):
        for name, power in re.findall(r"([A-Za-z1]+)(?:\^(\d+))?", part):
            for base, exponent in SI.get(name, {}).items():
                found[base] = found.get(base, 0) + sign*exponent*int(power or 1)
    return found


class Unit:
    """Mixed into the slave of a library, which is its attribute `library`."""

    library: Any
    sim: Simulator

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        folder = Path(self.resources)                                       # type: ignore[attr-defined]
        about = json.loads((folder / "unit.json").read_text(encoding="utf-8"))
        system = read_system((folder / "system.yaml").read_text(encoding="utf-8"), about["meshes"])
        self.sim = Simulator(system, sample_rate=0.0, **about["options"])
        self.modelName, self.description = about["name"], about["description"]
        self.default_experiment = self.library.DefaultExperiment(start_time=0.0, stop_time=about["stop"], step_size=self.sim.dt)
        self.given = {name: np.zeros(port.size) for name, port in system.inputs.items()}
        self.changed: set[str] = set()                                          # inputs that were set but not applied yet
        self._declare()

    # ---- variables ---------------------------------------------------------------------------------------------------------
    def _declare(self) -> None:
        """Each number of each port; FMI 3 requires the time too."""
        fmi, system = self.library, self.sim.model.system
        second = hasattr(fmi, "Real")
        number, causality, variability = ((fmi.Real, fmi.Fmi2Causality, fmi.Fmi2Variability) if second else
                                          (fmi.Float64, fmi.Fmi3Causality, fmi.Fmi3Variability))

        def declare(name: str, role: Any, unit: str, text: str, **access: Any) -> None:
            self._units[name] = unit
            self.register_variable(number(name, causality=role, variability=variability.continuous, description=text, **access))

        self._units: dict[str, str] = {}
        if not second:
            declare("time", causality.independent, "s", "time", getter=lambda: self.sim.t)
        for role, ports in ((causality.input, system.inputs), (causality.output, system.outputs)):
            for port in ports.values():
                for i, (name, unit, label) in enumerate(zip(port.entries, port.units(system), port.labels, strict=True)):
                    place = port.name, i
                    access = ({"getter": partial(self._input, *place), "setter": partial(self._set_input, *place)}
                              if role is causality.input else {"getter": partial(self._output, *place)})
                    declare(name, role, unit, label, **access)

    def register_variable(self, variable: Any) -> None:
        """As in the library, but with flat names: a dot in a name does not make it a path."""
        super().register_variable(variable, nested=False)                   # type: ignore[misc]

    def to_xml(self, *options: Any) -> Element:
        """The model description, with units, which PythonFMU leaves out."""
        root: Element = super().to_xml(*options)                            # type: ignore[misc]
        root.set("variableNamingConvention", "flat")
        definitions = Element("UnitDefinitions")
        for unit in sorted(set(self._units.values())):
            exponents = {name: str(n) for name, n in base_units(unit).items() if n}
            SubElement(SubElement(definitions, "Unit", name=unit), "BaseUnit", exponents)
        root.insert([child.tag for child in root].index("CoSimulation") + 1, definitions)
        for variable in root.find("ModelVariables") or ():
            (variable if variable.tag == "Float64" else variable[0]).set("unit", self._units[variable.attrib["name"]])
        return root

    # ---- values ------------------------------------------------------------------------------------------------------------
    def _input(self, name: str, i: int) -> float:
        return float(self.given[name][i])

    def _set_input(self, name: str, i: int, value: float) -> None:
        if value != self.given[name][i]:
            self.given[name][i] = value
            self.changed.add(name)

    def _apply_inputs(self) -> None:
        """Apply changed inputs; unchanged ones are not set again, since that would disturb an adaptive method."""
        for name in self.changed:
            self.sim.u[name] = self.given[name]
        self.changed.clear()

    def _output(self, name: str, i: int) -> float:
        self._apply_inputs()
        values: Floats = np.reshape(self.sim.y[name], -1)
        return float(values[i])

    # ---- time --------------------------------------------------------------------------------------------------------------
    def setup_experiment(self, start_time: float, *_: Any) -> None:
        """Set the start time."""
        self.sim.reset(t0=start_time)
        self.changed = set(self.given)

    def do_step(self, current_time: float, step_size: float) -> bool:
        """Advance by a communication step, which need not be a step of the method."""
        if abs(current_time - self.sim.t) > 1e-9*max(1.0, abs(current_time)):
            raise StateError(f"a step from {current_time:g} s was requested, but the unit is at {self.sim.t:g} s; set the state "
                             "of that time first")
        self._apply_inputs()
        self.sim.advance(until=current_time + step_size)
        return True

    # ---- states ----------------------------------------------------------------------------------------------
    def _get_fmu_state(self) -> dict[str, Any]:
        given = {name: values.tolist() for name, values in self.given.items()}
        return {"sim": self.sim.snapshot(), "given": given, "new": sorted(self.changed)}

    def _set_fmu_state(self, state: Mapping[str, Any]) -> None:
        self.sim.restore(state["sim"])
        self.given = {name: np.array(values) for name, values in state["given"].items()}
        self.changed = set(state["new"])
