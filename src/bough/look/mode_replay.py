"""A mode of a system as a replay: one period of it, about the state that it deviates from."""
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bough.analyze.linear.system_modes import Modes
from bough.analyze.loop_constraints import approach, moved, named_speeds
from bough.compile.kernel_calls import evaluating
from bough.integrate.trajectory import Trajectory
from bough.look.replay import view
from bough.results.result import Replay, Result

VISIBLE = 0.2  # rad: amplitude of joints that is clearly visible
OF_SIZE = 0.1  # of the extent of the system: that of displacements


def view_mode(modes: Modes, mode: int, path: str | PathLike[str] | None = None, *, amplitude: float | None = None,
              frames: int = 60, open: bool | None = None) -> Replay:
    """Write the animation; see `Modes.view`."""
    return view(mode_result(modes, mode, amplitude, frames), path, open=open)


def mode_result(modes: Modes, mode: int, amplitude: float | None = None, frames: int = 60) -> Result:
    """A result whose states are those of one period of a mode; a mode that does not oscillate moves to its amplitude and back."""
    model: Any = modes.model
    point, value, shape = modes.linear.point, modes.eigenvalues[mode - 1], modes.shapes[:, mode - 1]
    assert point is not None
    size = _amplitude(modes, shape) if amplitude is None else amplitude / float(np.abs(shape).max())
    period = 2 * np.pi / (abs(value.imag) or abs(value))
    phase = np.linspace(0.0, 2 * np.pi, frames + 1)
    deviations = np.exp(1j * phase)[:, None] * shape if value.imag else np.sin(phase)[:, None] * shape
    with evaluating(len(phase)):
        q = np.array([_closed(modes, moved(model, point.q, size * each)) for each in deviations.real])
    x = np.zeros((1, len(phase), model.layout.nx))
    state = model.state(x)
    state.q[0], state.wheels[0] = q, 0.0 if point.wheels is None else point.wheels
    if point.orbit is not None:
        state.orbit[0] = point.orbit
    label = f"mode {mode}, {modes.frequencies[mode - 1]:.4g} Hz, damping {modes.damping[mode - 1]:.4f}"
    u = np.zeros((1, len(phase), model.input_layout.controls.stop))
    run = Trajectory(model, phase / (2 * np.pi) * period, x, u, False, None, label, None, 0, 0, 0.0, None)
    return Result(run, ["state"])


def _amplitude(modes: Modes, shape: NDArray[np.complex128]) -> float:
    """The factor that makes a shape clearly visible: limited by rotations of joints and displacements of bodies and nodes."""
    model: Any = modes.model
    point = modes.linear.point
    assert point is not None
    units = [unit for body in model.system.bodies.values() for unit in body.speed_units]
    turns = max([abs(value) for value, unit in zip(shape, units, strict=True) if unit == "rad"], default=0.0)
    still, small = model.bodies(point.q), 1e-4 / float(np.abs(shape).max())
    places = [still.position[0], *(each.position[0] for each in still.nodes.values())]
    extent = float(np.linalg.norm(np.ptp(np.concatenate(places), axis=0))) or 1.0
    other = model.bodies(moved(model, point.q, small * shape.real))
    far = [np.abs(now - then).max() for then, now in
           zip(places, [other.position[0], *(each.position[0] for each in other.nodes.values())], strict=True)]
    return min(VISIBLE / turns if turns else np.inf, OF_SIZE * extent * small / max(far) if max(far) else np.inf, 1e6 * small)


def _closed(modes: Modes, q: NDArray[np.float64]) -> NDArray[np.float64]:
    """With loops closed, the independent coordinates kept."""
    model = modes.model
    if not model.system.loops:
        return q
    own = [name for name in modes.linear.states if name in model.names.v]
    return approach(model, q, model.free & ~named_speeds(model, own, "independent"))[0]
