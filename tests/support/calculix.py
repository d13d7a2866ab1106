"""Meshes of quadratic hexahedra, made here, and runs of CalculiX on them."""

import os
import re
import shutil
import subprocess

import numpy as np
import pytest

EDGES = ((0, 1), (1, 2), (2, 3), (3, 0), (4, 5), (5, 6), (6, 7), (7, 4), (0, 4), (1, 5), (2, 6), (3, 7))
needs_ccx = pytest.mark.skipif(shutil.which("ccx") is None, reason="no ccx: install Debian's calculix-ccx to compare with CalculiX")


def quadratic(corner_places, cells):
    """Nodes and elements of 20 nodes out of hexahedra of 8."""
    places, middles, elements = list(map(tuple, corner_places)), {}, []
    for cell in cells:
        nodes = [int(each) for each in cell]
        for a, b in EDGES:
            key = tuple(sorted((nodes[a], nodes[b])))
            if key not in middles:
                middles[key] = len(places)
                places.append(tuple((np.array(places[key[0]]) + np.array(places[key[1]])) / 2))
            nodes.append(middles[key])
        elements.append(nodes)
    return np.array(places), np.array(elements)


def grid(xs, ys, zs, keep=lambda center: True):
    """Hexahedra of a grid whose centers are kept."""
    xs, ys, zs = map(np.asarray, (xs, ys, zs))
    number = np.arange(len(xs) * len(ys) * len(zs)).reshape(len(xs), len(ys), len(zs))
    places = np.array([(x, y, z) for x in xs for y in ys for z in zs])
    ring = ((0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (0, 0, 1), (1, 0, 1), (1, 1, 1), (0, 1, 1))
    cells = [[number[i + a, j + b, k + c] for a, b, c in ring]
             for i in range(len(xs) - 1) for j in range(len(ys) - 1) for k in range(len(zs) - 1)]  # fmt: skip
    cells = [cell for cell in cells if keep(places[cell].mean(axis=0))]
    used, compact = np.unique(cells, return_inverse=True)
    return quadratic(places[used], compact.reshape(-1, 8))


def plate_with_hole(width=0.4, thickness=0.01, radius=0.05, around=24, outward=4):
    """A square plate about the origin: rings from the hole to the edge."""
    angle = 2 * np.pi * np.arange(around) / around
    circle = radius * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    square = width / 2 * circle / np.abs(circle).max(axis=1, keepdims=True)
    share = np.linspace(0, 1, outward + 1) ** 1.3
    places = np.array([(*((1 - s) * circle[k] + s * square[k]), z) for z in (0.0, thickness) for s in share for k in range(around)])
    number = np.arange(2 * (outward + 1) * around).reshape(2, outward + 1, around)
    cells = []
    for i in range(outward):
        for k in range(around):
            n = (k + 1) % around
            ring = [(i, k), (i + 1, k), (i + 1, n), (i, n)]
            cells.append([number[z][each] for z in (0, 1) for each in ring])
    return quadratic(places, np.array(cells))


def deck(places, elements, steps):
    """The input file, in meters, with aluminum; node and element numbers start at 1."""
    lines = ["*NODE, NSET=ALL"]  # twenty characters a number, at most
    lines += [f"{i + 1}, {x:.12f}, {y:.12f}, {z:.12f}" for i, (x, y, z) in enumerate(places)]
    lines += ["*ELEMENT, TYPE=C3D20, ELSET=SOLID"]
    for i, nodes in enumerate(elements):
        text = [str(each + 1) for each in nodes]
        lines += [f"{i + 1}, {', '.join(text[:10])},", ", ".join(text[10:])]
    lines += ["*MATERIAL, NAME=ALUMINUM", "*ELASTIC", "7e10, 0.33", "*DENSITY", "2700"]
    return "\n".join([*lines, "*SOLID SECTION, ELSET=SOLID, MATERIAL=ALUMINUM", *steps]) + "\n"


def node_set(name, nodes):
    return f"*NSET, NSET={name}\n" + "\n".join(f"{node + 1}," for node in nodes)


def run(folder, name, text):
    (folder / f"{name}.inp").write_text(text)
    one = os.environ | {"OMP_NUM_THREADS": "1"}
    subprocess.run(["ccx", name], cwd=folder, check=True, capture_output=True, timeout=300, env=one)
    return (folder / f"{name}.dat").read_text()


def frequencies(text):
    """Cycles per second of *FREQUENCY."""
    return np.array([float(line.split()[3]) for line in text.splitlines() if re.match(r"^\s+\d+(\s+-?0\.\d+E[+-]\d+){4}$", line)])


def table(text, title):
    """The rows of a table of *NODE PRINT or *EL PRINT."""
    part = text.split(title)[1]
    rows = []
    for line in part.splitlines()[1:]:
        values = line.split()
        if values and not re.match(r"^-?[\d.]", values[0]):
            break
        if values:
            rows.append([float(each) for each in values])
    return np.array(rows)
