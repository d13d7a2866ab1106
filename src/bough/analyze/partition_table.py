"""The partition as a table to read: which primitive hinges and massless bodies the compiler made of the joints."""
from collections.abc import Sequence
from typing import NamedTuple

from bough.compile.compiled_model import CompiledModel
from bough.compile.partition import Hinge
from bough.kernels.hinges import FREE, MODAL, NODE, PRISMATIC, REVOLUTE, SPHERICAL, WELD

KINDS = {WELD: "weld", REVOLUTE: "revolute", PRISMATIC: "prismatic", SPHERICAL: "spherical", FREE: "free", MODAL: "modes",
         NODE: "node"}


def link_name(speeds: Sequence[str], hinge: Hinge) -> str:
    """The coordinate of a hinge, if it has one, otherwise its body and kind."""
    if hinge.kind in (REVOLUTE, PRISMATIC):
        return speeds[hinge.v]
    return f"{hinge.joint}.{hinge.node or KINDS[hinge.kind]}"


class PartitionRow(NamedTuple):
    """A link: a primitive hinge and the body that it carries."""
    link: int
    name: str
    kind: str
    inner: int                          # the link that it sits on; 0: the ground
    joint: str                          # body whose joint, modes or node it is
    speeds: tuple[str, ...]
    held: bool                          # locked or prescribed
    mass: float                         # kg, of the body that it carries

    @property
    def massless(self) -> bool:
        return self.mass == 0.0


class PartitionTable(tuple[PartitionRow, ...]):
    """The links of a model, from the ground outward; prints as a table.

    >>> import bough
    >>> s = bough.System("antenna")
    >>> _ = s.body("mast", joint=bough.Revolute("z"), mass=5.0, inertia=(1, 1, 1))
    >>> _ = s.body("dish", parent="mast", joint=bough.Universal("xy"), mass=2.0, inertia=(1, 1, 1))
    >>> s.compile().partition()
    3 links
      link  name     kind      on  mass kg   speeds
         1  mast.rz  revolute   0  5         mast.rz
         2  dish.rx  revolute   1  massless  dish.rx
         3  dish.ry  revolute   2  2         dish.ry
    """

    def __repr__(self) -> str:
        cells = [("link", "name", "kind", "on", "mass kg", "speeds"),
                 *((str(row.link), row.name, row.kind, str(row.inner), "massless" if row.massless else f"{row.mass:g}",
                    (", ".join(row.speeds) or "none") + " (held)"*row.held) for row in self)]
        wide = [max(len(row[i]) for row in cells) for i in range(6)]
        lines = [f"  {link:>{wide[0]}}  {name:{wide[1]}}  {kind:{wide[2]}}  {inner:>{wide[3]}}  {mass:{wide[4]}}  {speeds}"
                 for link, name, kind, inner, mass, speeds in cells]
        return "\n".join([f"{len(self)} links", *lines])

    __str__ = __repr__


def partition_table(model: CompiledModel) -> PartitionTable:
    rows, kinds = [], model.tables.solved_kinds
    for k, hinge in enumerate(model.tables.tree.hinges[1:], 1):
        speeds = model.names.v[hinge.v:hinge.v + hinge.n_speeds]
        rows.append(PartitionRow(k, link_name(model.names.v, hinge), KINDS[hinge.kind], hinge.inner, hinge.joint, speeds,
                                 kinds[k] != hinge.kind, float(hinge.mass[0])))
    return PartitionTable(rows)
