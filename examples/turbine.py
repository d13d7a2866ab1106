"""A floating wind turbine yaws, spins and pitches its blades: plots and an OpenFAST table of motions and tower-top loads.

    python examples/turbine.py [FILE] [--out FOLDER] [--matrix]

FILE is floating_turbine.yaml, the turbine of the momentum cloud paper, unless another one is given: floating_turbine_flexible.yaml
or oc3_hywind.yaml. With --matrix, mooring and buoyancy are replaced by their first-order 6x6 matrices, as in the paper.
"""

from collections.abc import Iterable
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
    """OpenFAST's channels of these names, with its signs and units. YawBr: the load of the nacelle on the tower at the tower top,
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


def linearized(system: bough.System) -> bough.System:
    """The turbine with 6x6 matrices instead of its lines and buoyancies: the force and moment at the zero position, and how they
    change with the place and the angles of the platform. Each matrix is for the point where it has the least coupling with roll and
    pitch, the middle of the fairleads and the metacenter: a stiffness against these has no potential once the platform yaws."""
    if not system.lines or not system.buoyancies:
        raise typer.BadParameter(f"system '{system.name}' lacks lines or buoyancies that matrices replace; leave --matrix out")
    model, plain = system.compile(), system.copy()
    plain.name = f"{system.name}_matrix"
    plain.lines.clear()
    plain.buoyancies.clear()
    lift, tilting = matrix(model, system.buoyancies, np.zeros(3))
    metacenter = np.array([0.0, 0.0, tilting[4, 4] / lift[2]])
    fairleads = np.mean([line.b.at for line in system.lines.values()], axis=0)
    for name, elements, at in (("mooring", system.lines, fairleads), ("water", system.buoyancies, metacenter)):
        rest, stiffness = matrix(model, elements, at)
        plain.restoring(name, body="platform", at=at, force=rest[:3], moment=rest[3:], stiffness=stiffness)
    return plain


def matrix(model: bough.Model, elements: Iterable[str], at: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The load of elements at a point of the platform in the zero position, and the 6x6 stiffness there."""
    h = 1e-3                                                                    # m and rad
    ahead, behind = (np.array([exerted(model, elements, at, row) for row in side * h * np.eye(6)]) for side in (1, -1))
    return exerted(model, elements, at, np.zeros(6)), (behind - ahead).T / (2 * h)


def exerted(model: bough.Model, elements: Iterable[str], at: np.ndarray, moved: np.ndarray) -> np.ndarray:
    """[force, moment] on the platform at a point of it, in the world's axes, once that point has moved along one of x, y, z, or the
    platform turned about it."""
    attitude = Rotation.from_rotvec(moved[3:])
    origin, q, total = moved[:3] + at - attitude.apply(at), model.q0.copy(), np.zeros(6)
    places = [model.names.q.index(name) for name in (TRANSLATIONS | ROTATIONS).values()]
    q[places] = *origin, *moved[3:]
    told = model.element_forces(q)
    for name in elements:
        if name in model.system.buoyancies:
            moment, force = np.split(told[name], 2)                             # at the origin of the platform
            arm = attitude.apply(-at)
        else:
            line = model.system.lines[name]
            arm, moment = attitude.apply(line.b.at - at), np.zeros(3)
            along = line.a.at - (origin + attitude.apply(line.b.at))
            force = told[name] * along / np.linalg.norm(along)
        total += np.concatenate([force, moment + np.cross(arm, force)])
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
    matrix: Annotated[bool, typer.Option("--matrix", help="mooring and buoyancy as 6x6 matrices")] = False,
) -> None:
    """Simulate a turbine, plot its motions and tower-top loads, write them as a table."""
    turbine = read_system(file) if file else system
    result = bough.simulate(linearized(turbine) if matrix else turbine, progress=True)
    print(result)
    for path in write(result, out):
        print(f"wrote {path}")


if __name__ == "__main__":
    typer.run(main)
