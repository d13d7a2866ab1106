"""Labeled arrays in a NetCDF 4 file, and back; the meshes of the system go into the file too, so that it can be drawn anywhere."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bough.describe import Mesh, System
from bough.describe.document import read as read_yaml
from bough.errors import BoughError, DescriptionError, StateError
from bough.results.dataset import Labeled, Variable
from bough.results.sink import Sink, damaged, seal
from bough.whole import discard, whole_file

MARK = "bough_version"
_COMPRESSED_FROM = 256  # entries; smaller arrays grow by it
COMPRESSED: dict[str, Any] = {"compression": "gzip", "compression_opts": 2, "shuffle": True}
RESUME = "resume"               # group of a file with the data needed to resume


class Resume(NamedTuple):
    """The data needed to resume a run: the memory of `integrate.checkpoint`, and all samples."""

    memory: dict[str, Any]
    arrays: dict[str, NDArray[np.float64]]


def file_path(what: str, path: Any) -> Path:
    """The checked path of a file given by the user."""
    if not isinstance(path, str | os.PathLike) or not Path(path).name or Path(path).is_dir():
        raise StateError(f"{what} is {path!r}; give the name of a file")
    return Path(path)


def folder_of(path: Path) -> Path:
    """The folder of the parts of a file until it is complete: see `stream`."""
    return path.with_name(path.name + ".parts")


def write(path: Path, labeled: Labeled, resume: Resume | None = None) -> None:
    """Write a file; it appears when it is complete."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with whole_file(path) as part, written_to(part) as (file, _):
            _write(file, labeled, resume)
        discard(folder_of(path))
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else error
        raise StateError(f"{path}: cannot be written ({reason}); give another path") from None


@contextmanager
def written_to(path: Path) -> Iterator[tuple[Any, Sink]]:
    """A new NetCDF file and its sink, which is checked for write errors at the end."""
    import h5netcdf

    sink = Sink(path)
    try:
        with h5netcdf.File(sink, "w") as file:
            yield file, sink
        sink.check()
    finally:
        sink.close()
    seal(path)


def _write(file: Any, labeled: Labeled, resume: Resume | None) -> None:
    file.dimensions = _sizes(labeled)
    for name, variable in (labeled.coords | labeled.variables).items():
        _write_variable(file, name, variable)
    _write_attrs(file, labeled.attrs, _auxiliary(labeled))
    if resume is not None:
        group = file.create_group(RESUME)
        group.attrs["memory"] = json.dumps(resume.memory)
        for name, values in resume.arrays.items():
            dims = tuple(f"{name}_{i}" for i in range(values.ndim))
            group.dimensions.update(dict(zip(dims, values.shape, strict=True)))
            _write_variable(group, name, Variable(dims, values))


def read_head(path: Path) -> tuple[str, str | None, dict[str, Any]]:
    """From a file: its system, the meshes, and the memory of the run, without samples."""
    with opened(path) as (file, attrs):
        return attrs["system"], attrs.get("meshes"), json.loads(_resume_group(path, file).attrs["memory"])


def read_samples(path: Path, most: int | None = None) -> Iterator[dict[str, NDArray[np.float64]]]:
    """Raw samples for resuming a run: all, or at most so many numbers at a time."""
    with opened(path) as (file, _):
        variables = _resume_group(path, file).variables
        n, wide = len(variables["t"]), sum(int(np.prod(variable.shape)) for variable in variables.values())
        length = max(n, 1) if most is None else max(1, most*n//max(wide, 1))
        for first in range(0, max(n, 1), length):
            yield {name: np.asarray(variable[(slice(None),)*min(len(variable.shape) - 1, 1) + (slice(first, first + length),)])
                   for name, variable in variables.items()}


def _resume_group(path: Path, file: Any) -> Any:
    if RESUME not in file.groups:
        raise StateError(f"{path}: does not hold what is needed to go on; save it anew with this version of bough")
    return file.groups[RESUME]


@contextmanager
def appended_to(path: Path) -> Iterator[Appender]:
    """A new file that grows along time, part by part; it appears when it is complete."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with whole_file(path) as part, written_to(part) as (file, sink):
        yield Appender(file, sink)


class Appender:
    """Appends parts along time to an open file."""

    def __init__(self, file: Any, sink: Sink) -> None:
        self.file, self.sink, self.coords, self.last = file, sink, list[str](), dict[str, NDArray[Any]]()

    def append(self, labeled: Labeled) -> None:
        """The first part creates the variables, the others are appended along time."""
        variables, first = labeled.coords | labeled.variables, not self.file.variables
        if first:
            self.file.dimensions = dict(_sizes(labeled)) | {"time": None}
            self.coords = _auxiliary(labeled)
        begin, end = self.file.dimensions["time"].size, self.file.dimensions["time"].size + len(labeled.coords["time"].values)
        self.file.resize_dimension("time", end)
        for name, variable in variables.items():
            if "time" in variable.dims:
                values = self._continued(name, variable)
                if first:
                    self.file.create_variable(name, variable.dims, dtype=variable.values.dtype, **COMPRESSED)
                self.file.variables[name].attrs.update(variable.attrs)          # those of the last part: they may change
                where = tuple(slice(begin, end) if dim == "time" else slice(None) for dim in variable.dims)
                self.file.variables[name][where] = values
            elif first:
                _write_variable(self.file, name, variable)
            self.sink.check()

    def _continued(self, name: str, variable: Variable) -> NDArray[Any]:
        """Quaternions with signs that continue those of the previous part."""
        if variable.dims[-1] != "quaternion":
            return variable.values
        values = np.moveaxis(variable.values, variable.dims.index("time"), 0)
        if name in self.last:
            values = values * np.where(np.sum(self.last[name] * values[0], axis=-1, keepdims=True) < 0.0, -1.0, 1.0)
        self.last[name] = values[-1]
        return np.moveaxis(values, 0, variable.dims.index("time"))

    def keep(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Append the raw samples of a part, for resuming, along the first axis or the one after the runs."""
        group = self.file.groups[RESUME] if RESUME in self.file.groups else self.file.create_group(RESUME)
        for name, values in arrays.items():
            axis, dims = min(values.ndim - 1, 1), tuple(f"{name}_{i}" for i in range(values.ndim))
            if name not in group.variables:
                sizes = [None if i == axis else n for i, n in enumerate(values.shape)]
                group.dimensions.update(dict(zip(dims, sizes, strict=True)))
                group.create_variable(name, dims, dtype=values.dtype, **COMPRESSED)
            begin = group.variables[name].shape[axis]
            group.resize_dimension(dims[axis], begin + values.shape[axis])
            group.variables[name][(slice(None),)*axis + (slice(begin, None),)] = values
            self.sink.check()

    def finish(self, attrs: dict[str, Any], memory: Mapping[str, Any]) -> None:
        """Write the attributes of the whole file, and the memory needed to resume."""
        self.file.groups[RESUME].attrs["memory"] = json.dumps(memory)
        _write_attrs(self.file, attrs, self.coords)


@contextmanager
def opened(path: Path) -> Iterator[tuple[Any, dict[str, Any]]]:
    """A file written by bough, and its attributes; raises if it is not valid."""
    import h5netcdf

    try:
        if damaged(path):
            raise StateError(f"{path}: is damaged: its content is not what bough wrote; take a copy that is whole")
        file = h5netcdf.File(path, "r")
    except FileNotFoundError:
        raise StateError(f"{path}: there is no such file; give the path of a NetCDF file that bough wrote") from None
    except BoughError:
        raise
    except Exception as error:  # of the HDF5 library, whatever is wrong with the file
        raise StateError(f"{path}: is not a NetCDF file ({error}); give one that bough wrote") from None
    with sound(path), file:
        attrs = {key: _plain(value) for key, value in file.attrs.items()}
        if MARK not in attrs:
            raise StateError(f"{path}: was not written by bough (it has no '{MARK}'); open it with xarray")
        yield file, attrs


@contextmanager
def sound(path: Path) -> Iterator[None]:
    """Around code that reads a file: any error is reported as damage of the file."""
    try:
        yield
    except (BoughError, GeneratorExit):
        raise
    except Exception as error:
        why = " ".join(str(error).split())[:200]
        raise StateError(f"{path}: is damaged ({type(error).__name__}: {why}); give a file as bough wrote it") from None


def read(path: Path) -> Labeled:
    """The contents of a file written by bough."""
    with opened(path) as (file, attrs):
        variables = {name: _read_variable(variable) for name, variable in file.variables.items()}
        auxiliary = attrs.pop("coordinates", "").split()
    attrs.pop("Conventions", None)
    coords = {name: v for name, v in variables.items() if v.dims == (name,) or name in auxiliary}
    return Labeled(coords, {name: v for name, v in variables.items() if name not in coords}, attrs)


def _sizes(labeled: Labeled) -> Mapping[str, int]:
    variables = [*labeled.coords.values(), *labeled.variables.values()]
    return {dim: size for v in variables for dim, size in zip(v.dims, v.values.shape, strict=True)}


def _auxiliary(labeled: Labeled) -> list[str]:
    """Coordinates that are not those of an axis of their own."""
    return [name for name, variable in labeled.coords.items() if variable.dims != (name,)]


def _write_attrs(file: Any, attrs: Mapping[str, Any], auxiliary: list[str]) -> None:
    file.attrs.update({**attrs, "Conventions": "CF-1.10", "coordinates": " ".join(auxiliary)})


def _write_variable(file: Any, name: str, variable: Variable) -> None:
    values, options = variable.values, dict[str, Any]()
    if values.dtype.kind in "UO":
        import h5py

        options, values = {"dtype": h5py.string_dtype()}, values.astype(object)
    elif values.size >= _COMPRESSED_FROM:
        options = COMPRESSED
    written = file.create_variable(name, variable.dims, data=values, **options)
    written.attrs.update(variable.attrs)


def _read_variable(variable: Any) -> Variable:
    attrs, values = dict(variable.attrs), np.asarray(variable[...])
    if values.dtype.kind == "O":
        values = np.array([text.decode() if isinstance(text, bytes) else text for text in values], dtype=str)
    return Variable(tuple(variable.dimensions), values, str(attrs.get("units", "")), str(attrs.get("long_name", "")))


def _plain(value: Any) -> Any:
    """A number or string from an array of one entry, as files hold them."""
    if isinstance(value, np.ndarray) and value.size == 1:
        value = value.reshape(-1)[0]
    return value.item() if isinstance(value, np.generic) else value


def pack_meshes(system: System) -> str:
    """The triangles of each mesh file, by its path, as JSON; nothing if there are none. One that cannot be read is left out."""
    shapes = (shape for body in system.bodies.values() for shape in body.shapes)
    packed: dict[str, str] = {}
    for mesh in shapes:
        if isinstance(mesh, Mesh) and mesh.npz is None and mesh.path not in packed:
            try:
                packed[mesh.path] = mesh.packed().npz or ""
            except DescriptionError:                            # the replay reports it
                continue
    return json.dumps(packed) if packed else ""


def read_system(text: str, packed: str | None) -> System:
    """The system of a YAML text, with the meshes that `pack_meshes` wrote."""
    if not isinstance(text, str):
        raise StateError(f"the system of the file is {text!r}; give a file as bough wrote it")
    data, triangles = read_yaml(text).data, json.loads(packed or "{}")
    for body in data.get("bodies", []):
        if "shapes" in body:
            body["shapes"] = [shape | {"npz": triangles[shape["mesh"]]} if shape.get("mesh") in triangles else shape
                              for shape in body["shapes"]]
    return System.from_dict(data)
