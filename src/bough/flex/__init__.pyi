"""Flexible bodies: from finite elements to the constant arrays that the dynamics reads.

beam_model, solid_model, matrices_model -> FiniteElements -> reduce -> FlexibleBody
"""

from bough.flex.beams import beam, beam_model
from bough.flex.finite_elements import FiniteElements, PointRule
from bough.flex.flexible_body import REDUCTIONS, FlexibleBody
from bough.flex.geometric import GeometricStiffness
from bough.flex.integrals import VARIANTS, MassPoints, ModalIntegrals, Nodes, Outline
from bough.flex.matrices import from_matrices, matrices_model
from bough.flex.modal_convergence import ConvergenceReport, convergence
from bough.flex.reduction import reduce
from bough.flex.solids import box, solid, solid_model

__all__ = [
    "REDUCTIONS",
    "VARIANTS",
    "ConvergenceReport",
    "FiniteElements",
    "FlexibleBody",
    "GeometricStiffness",
    "MassPoints",
    "ModalIntegrals",
    "Nodes",
    "Outline",
    "PointRule",
    "beam",
    "beam_model",
    "box",
    "convergence",
    "from_matrices",
    "matrices_model",
    "reduce",
    "solid",
    "solid_model",
]
