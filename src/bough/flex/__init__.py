"""Flexible bodies: from finite elements to the constant arrays that the dynamics reads.

beam_model, solid_model, matrices_model -> FiniteElements -> reduce -> FlexibleBody
"""

from importlib import import_module
from typing import Any

from bough.lazy import submodules

_HOMES = {
    "abaqus": ("read_abaqus",),
    "ansys": ("read_ansys",),
    "beams": ("beam", "beam_model"),
    "calculix": ("read_calculix",),
    "given_modes": ("GivenModes", "from_modes"),
    "nastran": ("read_nastran",),
    "modal_convergence": ("ConvergenceReport", "convergence"),
    "finite_elements": ("FiniteElements", "PointRule"),
    "choices": ("REDUCTIONS", "VARIANTS"),
    "flexible_body": ("FlexibleBody",),
    "geometric": ("GeometricStiffness",),
    "integrals": ("MassPoints", "ModalIntegrals", "Nodes", "Outline"),
    "structure_files": ("read_structure",),
    "matrices": ("from_matrices", "matrices_model"),
    "recovery": ("Recovery", "von_mises"),
    "reduction": ("reduce",),
    "structure_check": ("StructureCheck", "check_structure"),
    "superelements": ("Superelement", "superelement"),
    "solids": ("box", "solid", "solid_model"),
}
_HOME_OF = {name: f"bough.flex.{home}" for home, names in _HOMES.items() for name in names}
__all__ = list(_HOME_OF)


def __getattr__(name: str) -> Any:
    """Makers of bodies, and files, are loaded when they are first used."""
    if name not in _HOME_OF:
        return submodules(__name__)(name)
    value = getattr(import_module(_HOME_OF[name]), name)
    globals()[name] = value
    return value
