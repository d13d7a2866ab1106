"""Flexible bodies: from finite elements to the constant arrays that the dynamics reads.

beam_model, solid_model, matrices_model -> FiniteElements -> reduce -> FlexibleBody
"""

from bough.flex import flexible_body as flexible_body, recovery as recovery
from bough.flex.abaqus import read_abaqus
from bough.flex.ansys import read_ansys
from bough.flex.beams import beam, beam_model
from bough.flex.calculix import read_calculix
from bough.flex.choices import REDUCTIONS, VARIANTS
from bough.flex.finite_elements import FiniteElements, PointRule
from bough.flex.flexible_body import FlexibleBody
from bough.flex.geometric import GeometricStiffness
from bough.flex.given_modes import GivenModes, from_modes
from bough.flex.integrals import MassPoints, ModalIntegrals, Nodes, Outline
from bough.flex.matrices import from_matrices, matrices_model
from bough.flex.modal_convergence import ConvergenceReport, convergence
from bough.flex.nastran import read_nastran
from bough.flex.recovery import Recovery, von_mises
from bough.flex.reduction import reduce
from bough.flex.solids import box, solid, solid_model
from bough.flex.structure_check import StructureCheck, check_structure
from bough.flex.structure_files import read_structure
from bough.flex.superelements import Superelement, superelement

__all__ = [
    "REDUCTIONS",
    "VARIANTS",
    "ConvergenceReport",
    "FiniteElements",
    "FlexibleBody",
    "GeometricStiffness",
    "GivenModes",
    "MassPoints",
    "ModalIntegrals",
    "Nodes",
    "Outline",
    "PointRule",
    "Recovery",
    "StructureCheck",
    "Superelement",
    "beam",
    "beam_model",
    "box",
    "check_structure",
    "convergence",
    "from_matrices",
    "from_modes",
    "matrices_model",
    "read_abaqus",
    "read_ansys",
    "read_calculix",
    "read_nastran",
    "read_structure",
    "reduce",
    "solid",
    "solid_model",
    "superelement",
    "von_mises",
]
