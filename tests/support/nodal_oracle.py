"""Kane's equations summed over mass points: the witness that `bough verify` uses too, here under loads as well."""
import numpy as np

from bough.verify.witnesses import nodal
from bough.verify.witnesses.nodal import *  # noqa: F403


class NodalOracle(nodal.NodalOracle):
    """Under wrenches {body: [moment, force]} at body-frame origins and node_loads [(body, node, wrench)], both in body axes, and
    world_loads [(body, node, wrench)] in world axes."""

    def forces(self, tau=None, wrenches=None, node_loads=None, world_loads=None):
        total = super().forces(tau)
        loads = [*((index, None, wrench) for index, wrench in (wrenches or {}).items()), *(node_loads or [])]
        turned = [(index, node, np.reshape(wrench, (2, 3)) @ self.frames[index].R.T) for index, node, wrench in loads]
        for index, node, wrench in [*turned, *(world_loads or [])]:
            moment, force = np.reshape(np.asarray(wrench, float), (2, 3))
            place = self.place(index, node)
            total += place.Jw.T @ moment + place.Jv.T @ force
        return total

    def place(self, index, node=None):
        """The frame of a body, or of one of its nodes, in motion."""
        return self.frames[index] if node is None else self._at_node(index, node)
