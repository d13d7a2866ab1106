"""`bough bode`: the frequency response of a system, from its inputs to its outputs; `bough modes`: its modes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bough.cli.output import print_measured
from bough.cli.run_commands import File
from bough.errors import DescriptionError, StateError

if TYPE_CHECKING:
    from bough.linear import FrequencyResponse, LinearSystem, Margins
    from bough.model import Model


def bode(
    file: File,
    source: Annotated[list[str] | None, typer.Option("--from", help="input, wheel or coordinate by name; repeatable; default: "
                                                                    "all", metavar="INPUT")] = None,
    target: Annotated[list[str] | None, typer.Option("--to", help="output or coordinate; repeatable; default: all",
                                                     metavar="OUTPUT")] = None,
    low: Annotated[float | None, typer.Option(help="lowest frequency [Hz]")] = None,
    high: Annotated[float | None, typer.Option(help="highest frequency [Hz]")] = None,
    kind: Annotated[str, typer.Option(help="the figure: bode, nichols, nyquist or 'singular values'")] = "bode",
    closed: Annotated[bool, typer.Option("--closed", help="with the script's laws in the loop")] = False,
    cut: Annotated[str | None, typer.Option(help="the loop gain of the script's laws, cut at this component of a port, "
                                                 "and its margins", metavar="PORT")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="print frequencies, magnitudes and phases as JSON")] = False,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="figure to write; default: out/NAME-KIND.png")] = None,
) -> None:
    """Linearize FILE at its initial state and print, or draw, the frequency response from inputs to outputs."""
    from bough.files import read

    system, options = read(file)
    model = system.compile()
    laws = [law for law in options.get("laws") or () if law is not None]
    if (closed or cut) and not laws:
        raise StateError(f"{file}: there are no laws in it that close a loop; give a Python script with laws, or leave "
                         f"{'--closed' if closed else '--cut'} out")
    margins = None
    if cut is not None:
        if source or target or closed:
            raise StateError(f"--cut {cut}: the response is that of the loop; leave --from, --to and --closed out")
        linear, margins = loop_of(model, laws, cut)
    else:
        linear = linearized(model, laws if closed else [], source, target)
    response = linear.response(_between(linear, low, high))
    measured = _measured(linear, response, margins)
    drawn = output or (None if as_json else Path("out") / f"{file.stem}-{kind.replace(' ', '-')}.png")
    if drawn is not None:
        response.plot(kind, drawn)
    last = [] if margins is None else ["", str(margins)]
    print_measured(measured, as_json, lambda _: [str(linear), "", str(response), *last, f"wrote {drawn}"])


def linearized(model: Model, laws: Sequence[Any], source: list[str] | None, target: list[str] | None) -> LinearSystem:
    """The system from inputs to outputs by name, with compiled or sampled laws in the loop."""
    periods = {law.period for law in laws}
    if periods <= {None}:
        found: LinearSystem = model.linearize(inputs=source, outputs=target, laws=laws)
        return found
    plant: LinearSystem = model.linearize(dt=_one(periods))
    closed = plant.feedback(model.linearize_laws(laws), sign=1)
    return closed.select(inputs=source, outputs=target)


def loop_of(model: Model, laws: Sequence[Any], port: str) -> tuple[LinearSystem, Margins]:
    """The loop gain at a port, and its margins."""
    period = _one({law.period for law in laws})
    plant: LinearSystem = model.linearize() if period is None else model.linearize(dt=period)
    loop = plant.cut(model.linearize_laws(laws), at=port, sign=1)
    return loop, loop.margins()


def _one(periods: set[float | None]) -> float | None:
    if len(periods) > 1:
        raise StateError(f"laws with periods {', '.join(map(str, periods))} s make no linear system; keep those of one period")
    return next(iter(periods))


def _between(linear: LinearSystem, low: float | None, high: float | None) -> Any:
    """The grid of the system between two ends."""
    if low is None and high is None:
        return None
    import numpy as np

    from bough.analyze.linear.response import grid

    own = grid(linear)
    first, last = low or float(own[0]), high or float(own[-1])
    if not 0 < first < last:
        raise StateError(f"--low {first:g} and --high {last:g}: give two frequencies [Hz], 0 < low < high")
    inside = own[(own > first) & (own < last)]
    return np.unique(np.concatenate([np.geomspace(first, last, 400), inside]))


def _measured(linear: LinearSystem, response: FrequencyResponse, margins: Margins | None) -> dict[str, Any]:
    data = response.data
    pairs = [{"from": i, "to": o, "unit": data.unit.sel(output=o, input=i).item(),
              "magnitude": data.magnitude.sel(output=o, input=i).values.tolist(),
              "phase_deg": data.phase.sel(output=o, input=i).values.tolist()} for i in response.inputs for o in response.outputs]
    found: dict[str, Any] = {"name": linear.name, "states": len(linear.states), "dt": linear.dt, "equilibrium": linear.balanced,
                             "frequency_Hz": response.frequency.tolist(), "responses": pairs}
    if margins is not None:
        found["margins"] = {"stable": margins.stable, "gain": _finite(margins.gain), "gain_reduction": margins.gain_reduction,
                            "phase_deg": _finite(margins.phase), "delay_s": _finite(margins.delay.margin),
                            "modulus": margins.modulus.margin}
    return found


def _finite(value: float) -> float | None:
    return value if isfinite(value) else None


def modes(
    file: File,
    trim: Annotated[bool, typer.Option("--trim", help="find an equilibrium first; default: about the initial state")] = False,
    hold: Annotated[list[str] | None, typer.Option(help="joint or coordinate that --trim holds; repeatable")] = None,
    spin: Annotated[str | None, typer.Option(help="with --trim: spin rate of the system [rad/s], about z, or 0,0,0.5")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="print numbers as JSON")] = False,
    plot: Annotated[Path | None, typer.Option(help="write a figure here, e.g. modes.png")] = None,
    view: Annotated[int | None, typer.Option(help="number of a mode to animate")] = None,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="file of the animation; default: NAME_mode.html")] = None,
) -> None:
    """Frequencies, damping and participation of joints and bodies in all modes of FILE, about its initial state or a trim."""
    from bough.files import read_system

    if not trim and (hold or spin):
        raise DescriptionError(f"{file}: --hold and --spin go with --trim; give it, too")
    model: Any = read_system(file).compile()
    found = model.trim(hold=hold or (), spin=_spin(file, spin)).modes() if trim else model.modes()
    typer.echo(json.dumps(found.to_dict(), indent=2) if as_json else found)
    if plot is not None:
        found.plot(plot)
        typer.echo(f"wrote {plot}", err=as_json)
    if view is not None:
        shown = found.view(view, output or Path(f"{file.stem}_mode{view}.html"), open=False)
        typer.echo(f"wrote {shown.path}", err=as_json)


def _spin(file: Path, text: str | None) -> Any:
    if text is None:
        return None
    try:
        numbers = [float(each) for each in text.split(",")]
    except ValueError:
        numbers = []
    if len(numbers) not in (1, 3):
        raise DescriptionError(f"{file}: --spin is {text!r}; give a number, or three with commas between")
    return numbers[0] if len(numbers) == 1 else numbers
