"""Where the mesh files of a URDF file are: package:// and file:// addresses, and relative names."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path


def find_mesh(address: str, file: Path, package_dirs: Iterable[Path]) -> Path | None:
    """The file that an address means, or None. A package is looked for in the folders given, in those of ROS_PACKAGE_PATH, and in
    every folder above the URDF file; a folder that has the package's name may be the package itself.
    """
    scheme, mark, rest = address.partition("://")
    if not mark:
        return _there(file.absolute().parent / address)
    if scheme == "file":
        return _there(Path(rest))
    package, _, inner = rest.lstrip("/").partition("/")
    ros = [Path(folder) for folder in os.environ.get("ROS_PACKAGE_PATH", "").split(os.pathsep) if folder]
    folders = [*(folder.absolute() for folder in package_dirs), *ros, *file.absolute().parents]
    candidates = (path for folder in folders for path in _candidates(folder, package, inner))
    return next((path for path in candidates if path.is_file()), None)


def _candidates(folder: Path, package: str, inner: str) -> list[Path]:
    return [folder / package / inner, *([folder / inner] if folder.name == package else [])]


def _there(path: Path) -> Path | None:
    return path if path.is_file() else None
