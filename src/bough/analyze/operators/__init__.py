"""Spatial operators of a state: velocities, forces and the mass matrix as operator expressions, each a recursion over links."""
from bough.analyze.operators.operator import Operator, Space
from bough.analyze.operators.spatial_operators import Operators
from bough.analyze.operators.state_links import Split

__all__ = ["Operator", "Operators", "Space", "Split"]
