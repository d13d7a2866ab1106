"""Flexible bodies: from finite elements to the constant arrays that the dynamics reads.

beam_model, solid_model, matrices_model -> FiniteElements -> reduce -> FlexibleBody
"""

from bough.flex import flexible_body as flexible_body, recovery as recovery
from bough.flex.abaqus import read_abaqus as read_abaqus
from bough.flex.ansys import read_ansys as read_ansys
from bough.flex.beams import beam as beam, beam_model as beam_model
from bough.flex.calculix import read_calculix as read_calculix
from bough.flex.choices import REDUCTIONS as REDUCTIONS, VARIANTS as VARIANTS
from bough.flex.finite_elements import FiniteElements as FiniteElements, PointRule as PointRule
from bough.flex.flexible_body import FlexibleBody as FlexibleBody
from bough.flex.geometric import GeometricStiffness as GeometricStiffness
from bough.flex.given_modes import GivenModes as GivenModes, from_modes as from_modes
from bough.flex.integrals import MassPoints as MassPoints, ModalIntegrals as ModalIntegrals, Nodes as Nodes, Outline as Outline
from bough.flex.matrices import from_matrices as from_matrices, matrices_model as matrices_model
from bough.flex.modal_convergence import ConvergenceReport as ConvergenceReport, convergence as convergence
from bough.flex.nastran import read_nastran as read_nastran
from bough.flex.recovery import Recovery as Recovery, von_mises as von_mises
from bough.flex.reduction import reduce as reduce
from bough.flex.solids import box as box, solid as solid, solid_model as solid_model
from bough.flex.structure_check import StructureCheck as StructureCheck, check_structure as check_structure
from bough.flex.structure_files import read_structure as read_structure
from bough.flex.superelements import Superelement as Superelement, superelement as superelement
