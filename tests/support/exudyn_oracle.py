"""Runs in Exudyn, with sensors for all that tests compare."""
import exudyn.itemInterface as items
import numpy as np

from bough.peers import exudyn
from bough.peers.exudyn import METHOD, OUT, START


class Exudyn(exudyn.Exudyn):
    def measure(self):
        self.sensors = self.add_sensors()

    def add_sensors(self):
        """{(body, what): sensor}: the joint's angle, the modal coordinates, the place of each node."""
        keep, found = {"storeInternal": True, "writeToFile": False}, {}
        for name, made in self.bodies.items():
            found[name, "angle"] = items.SensorObject(objectNumber=self.hinges[name], outputVariableType=OUT.Rotation, **keep)
            found[name, "modes"] = items.SensorNode(nodeNumber=made.modes, outputVariableType=OUT.Coordinates, **keep)
            for node in made.numbers:
                place = self.marker(name, node)
                found[name, node] = items.SensorMarker(markerNumber=place, outputVariableType=OUT.Position, **keep)
        return {key: self.mbs.AddSensor(sensor) for key, sensor in found.items()}

    def simulate(self, q, v, until, steps, *, samples=10, method=METHOD.TrapezoidalIndex2, tolerance=1e-10):
        """{(body, "angle" | "modes" | node): (samples + 1, ...)} of an implicit run with equal steps."""
        self.open_solver()
        self.put(*self.coordinates(q, v), START)
        settings = self.settings(until, steps)
        settings.solution.sensors.active, settings.solution.sensors.writePeriod = True, until/samples
        newton = settings.timeIntegration.newton
        newton.relativeTolerance, newton.absoluteTolerance = tolerance, 1e-2*tolerance
        self.mbs.SolveDynamic(settings, solverType=method)
        found = {key: np.array(self.mbs.GetSensorStoredData(sensor))[:, 1:] for key, sensor in self.sensors.items()}
        for name, made in self.bodies.items():
            found[name, "angle"], found[name, "modes"] = found[name, "angle"][:, 2], found[name, "modes"] @ made.turn
        return found
