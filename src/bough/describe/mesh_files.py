"""Triangles out of mesh files, and packed into a text, so that a description can be taken where the files are not."""

from __future__ import annotations

import base64
import binascii
from functools import lru_cache
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np

from bough.describe.tessellation import Triangles
from bough.errors import DescriptionError, Problem


def read_mesh(path: str) -> Triangles:
    """The triangles of a file that trimesh reads, with vertices at the same place merged.

    >>> read_mesh("no-such-file.stl")
    Traceback (most recent call last):
    bough.errors.DescriptionError: mesh: there is no file no-such-file.stl; give the path of an STL, OBJ or other mesh file
    """
    try:
        state = Path(path).stat()
    except OSError:
        raise wrong_mesh(f"there is no file {path}; give the path of an STL, OBJ or other mesh file") from None
    return _read(path, state.st_mtime_ns)


@lru_cache(maxsize=256)
def _read(path: str, _changed: int) -> Triangles:
    import trimesh  # 0.8 s: who needs no mesh does not wait

    try:
        found = trimesh.load_mesh(path, process=False, skip_materials=True)
    except ImportError as error:
        raise wrong_mesh(f"{path} cannot be read ({error}); install what is missing, or convert it to STL") from None
    except Exception as error:                                  # of one of trimesh's many readers
        raise wrong_mesh(f"{path} cannot be read ({error}); give an STL, OBJ or other mesh file") from None
    if not len(found.faces):
        raise wrong_mesh(f"{path} holds no triangles; give a file of a surface")
    whole = trimesh.Trimesh(found.vertices, found.faces, process=True)
    return np.array(whole.vertices, dtype=float), np.array(whole.faces, dtype=np.int64)


def wrong_mesh(text: str) -> DescriptionError:
    """What to raise about a mesh."""
    return DescriptionError([Problem(text, "mesh", ("mesh",))])


def pack(triangles: Triangles) -> str:
    """Triangles as an NPZ file in base64; in single precision where that loses nothing, as for binary STL."""
    vertices, faces = triangles
    single = vertices.astype(np.float32)
    stream = BytesIO()
    kept = single if np.array_equal(single, vertices) else vertices
    np.savez_compressed(stream, vertices=kept, faces=faces.astype(np.uint32))
    return base64.b64encode(stream.getvalue()).decode("ascii")


def unpack(text: str) -> Triangles:
    """What `pack` packed."""
    try:
        with np.load(BytesIO(base64.b64decode("".join(text.split()), validate=True)), allow_pickle=False) as arrays:
            vertices, faces = arrays["vertices"].astype(float), arrays["faces"].astype(np.int64)
    except (binascii.Error, OSError, ValueError, TypeError, KeyError, EOFError, BadZipFile) as error:
        raise ValueError(f"is no mesh in base64 ({error}); give what to_yaml wrote, or the mesh file alone") from None
    if vertices.ndim != 2 or vertices.shape[1] != 3 or faces.ndim != 2 or faces.shape[1] != 3 or faces.max() >= len(vertices):
        sizes = f"holds vertices {vertices.shape} and faces {faces.shape} that do not fit"
        raise ValueError(f"{sizes}; give what to_yaml wrote, or the mesh file alone")
    return vertices, faces


def solid(triangles: Triangles) -> Any:
    """The mesh as trimesh's, whose mass properties are those of what it encloses."""
    import trimesh

    return trimesh.Trimesh(*triangles, process=False)
