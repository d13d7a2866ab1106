"""A floating wind turbine yaws, spins and pitches its blades: motions and tower-top loads, plotted, and in a table as OpenFAST's.

    python examples/turbine.py [FILE] [--out FOLDER] [--matrix]

FILE is floating_turbine.yaml, the turbine of the momentum cloud paper, unless another one is given: floating_turbine_flexible.yaml
or oc3_hywind.yaml. With --matrix, mooring and buoyancy are replaced by what they are to first order, a 6x6 matrix, as in the paper.
"""

from pathlib import Path
from typing import Annotated

import numpy as np
import typer
import xarray
from matplotlib.figure import Figure
from scipy.spatial.transform import Rotation

import bough
from bough.files import example, read_system

system = bough.load(example("floating_turbine"))
TRANSLATIONS = {"PtfmSurge": "platform.x", "PtfmSway": "platform.y", "PtfmHeave": "platform.z"}
ROTATIONS = {"PtfmRoll": "platform.rx", "PtfmPitch": "platform.ry", "PtfmYaw": "platform.rz"}
DRIVES = {"NacYaw": "nacelle.rz", "Azimuth": "hub.rx"} | {f"BldPitch{k}": f"blade{k}.rz" for k in (1, 2, 3)}


def channels(result: bough.Result) -> xarray.Dataset:
    """What OpenFAST calls by these names, with its signs and units. YawBr: the load of the nacelle on the tower at the tower top,
    in axes that yaw with the nacelle (ending in n), and in those of the tower top (p)."""
    q = dict(zip(result.data.q_name.values, result.data.q.values.T, strict=True))
    load = -result.data.reaction.sel(body="nacelle").values / 1e3               # the reaction is of the tower on the nacelle
    found = {name: (q[ours], "m") for name, ours in TRANSLATIONS.items()}
    found |= {name: (np.rad2deg(q[ours]), "deg") for name, ours in (ROTATIONS | DRIVES).items()}
    found["Azimuth"] = found["Azimuth"][0] % 360, "deg"
    for end, turn in (("n", Rotation.identity()), ("p", Rotation.from_euler("z", q["nacelle.rz"][:, None]))):
        for kind, values, unit in (("F", load[:, 3:], "kN"), ("M", load[:, :3], "kN-m")):
            found |= {f"YawBr{kind}{axis}{end}": (turn.apply(values)[:, i], unit) for i, axis in enumerate("xyz")}
    time = {"time": ("time", result.time, {"units": "s"})}
    return xarray.Dataset({name: ("time", values, {"units": unit}) for name, (values, unit) in found.items()}, time)


def linearised(system: bough.System) -> bough.System:
    """The turbine with one restoring instead of its lines and buoyancies: their forces at the zero position, and how these change
    with surge, sway, heave, roll, pitch and yaw. Moments against angles have no potential: this is for small motions."""
    if not system.lines and not system.buoyancies:
        raise typer.BadParameter(f"system '{system.name}' has no lines and no buoyancies that a matrix could replace; leave it out")
    model, h = system.compile(), 1e-4
    pushed = np.array([exerted(model, place) for place in h * np.vstack([np.eye(6), -np.eye(6)])])
    force, moment = np.split(exerted(model, np.zeros(6)), 2)
    plain = system.copy()
    plain.name = f"{system.name}_matrix"
    plain.lines.clear()
    plain.buoyancies.clear()
    plain.restoring("water", body="platform", stiffness=(pushed[6:] - pushed[:6]).T / (2 * h), force=force, moment=moment)
    return plain


def exerted(model: bough.Model, place: np.ndarray) -> np.ndarray:
    """[force, moment] of lines and buoyancies at the platform's reference point, in the world's axes, where it is displaced by
    [surge, sway, heave, roll, pitch, yaw]."""
    q = model.q0.copy()
    q[:6] = place[[0, 1, 2, 5, 4, 3]]                                           # the joint yaws first and rolls last
    attitude, told, total = Rotation.from_euler("ZYX", q[3:6]), model.element_forces(q), np.zeros(6)
    for name in model.system.buoyancies:
        total += np.roll(told[name], 3)
    for name, line in model.system.lines.items():
        arm = attitude.apply(line.b.at)
        along = line.a.at - (q[:3] + arm)
        pull = told[name] * along / np.linalg.norm(along)
        total += np.concatenate([pull, np.cross(arm, pull)])
    return total


def figures(result: bough.Result, table: xarray.Dataset) -> dict[str, Figure]:
    """As figures 5 to 8 of the paper; of a flexible turbine, its deflections too."""
    forces = table[["YawBrFxp", "YawBrFyp", "YawBrFzp"]]
    weight = float(forces.YawBrFzp.mean())
    forces = forces.assign(YawBrFzp=(forces.YawBrFzp - weight).assign_attrs(units="kN"))
    drawn = {
        "rotations": stacked(table[list(ROTATIONS)], "rotations of the platform"),
        "translations": stacked(table[list(TRANSLATIONS)], "translations of the platform at the still water level"),
        "forces": stacked(forces, f"force of the nacelle on the tower, tower axes, without the mean of {weight:.1f} kN along z"),
        "moments": stacked(table[["YawBrMxp", "YawBrMyp", "YawBrMzp"]], "moment of the nacelle on the tower top, tower axes"),
    }
    if "node_deflection" in result.data:
        bent = result.data.node_deflection
        places = {"tower top, along x": ("tower.tip", "x"), "tower top, along y": ("tower.tip", "y"),
                  "blade 1, flapwise": ("blade1.tip", "x"), "blade 1, edgewise": ("blade1.tip", "y")}  # fmt: skip
        told = {name: ("time", bent.sel(node=place[0], axis=place[1]).values, {"units": "m"}) for name, place in places.items()}
        drawn["deflections"] = stacked(xarray.Dataset(told, {"time": table.time}), "deflections of the tower top and a blade's tip")
    return {name: titled(figure, result.system.name) for name, figure in drawn.items()}


def stacked(curves: xarray.Dataset, title: str) -> Figure:
    """One curve above the other; a line where the nacelle has yawed by a quarter turn."""
    figure = Figure(figsize=(8, 1.2 + 1.6 * len(curves)), dpi=110, layout="constrained")
    axes = figure.subplots(len(curves), 1, sharex=True)
    for ax, (name, values) in zip(axes, curves.items(), strict=True):
        ax.plot(curves.time, values, lw=0.9)
        ax.axvline(75.0, color="0.6", ls=":", lw=1)
        ax.set_ylabel(f"{name}\n[{values.units}]")
        ax.grid(alpha=0.3)
    axes[0].set_title(title, fontsize=10)
    axes[-1].set_xlabel("time [s]; dotted: the nacelle has yawed by 90 deg")
    axes[-1].set_xlim(0.0, float(curves.time[-1]))
    return figure


def titled(figure: Figure, title: str) -> Figure:
    figure.suptitle(title, fontsize=11, fontweight="bold")
    return figure


def write(result: bough.Result, folder: Path) -> list[Path]:
    """The table as NetCDF and as text (names, units, numbers: OpenFAST's form), and the figures as PNG."""
    folder.mkdir(parents=True, exist_ok=True)
    table, stem = channels(result), result.system.name
    paths = [folder / f"{stem}-channels.nc", folder / f"{stem}-channels.out"]
    table.to_netcdf(paths[0], engine="h5netcdf")
    names, units = ["Time", *table], ["(s)", *(f"({values.units})" for values in table.values())]
    rows = np.column_stack([table.time, *table.values()])
    np.savetxt(paths[1], rows, "%.10e", "\t", header="\t".join(names) + "\n" + "\t".join(units), comments="")
    for name, figure in figures(result, table).items():
        paths.append(folder / f"{stem}-{name}.png")
        figure.savefig(paths[-1])
    return paths


def main(
    file: Annotated[Path | None, typer.Argument(help="YAML file of a turbine; floating_turbine.yaml if not given")] = None,
    out: Annotated[Path, typer.Option(help="folder for plots and tables")] = Path("out"),
    matrix: Annotated[bool, typer.Option("--matrix", help="mooring and buoyancy as a 6x6 matrix")] = False,
) -> None:
    """Simulate a turbine, plot its motions and tower-top loads, write them as a table."""
    turbine = read_system(file) if file else system
    result = bough.simulate(linearised(turbine) if matrix else turbine, progress=True)
    print(result)
    for path in write(result, out):
        print(f"wrote {path}")


if __name__ == "__main__":
    typer.run(main)
