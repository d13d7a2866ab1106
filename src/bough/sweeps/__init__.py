"""One file per algorithm, each compiled once, and imported when one of its sweeps is first compiled or called.

Kernels call sweeps by number, also kernels that lie in the cache: SWEEPS gives all of them, by file, in the order of their numbers,
which then do not depend on what a program imports first.

A file that has what only some models or methods need is named behind this package, `sweeps.orbit.apply_orbit(...)`: Numba looks it
up when it compiles the call, so that a run whose kernels are in the cache imports no more than it calls.
"""
from bough.kernels.linker import declare
from bough.lazy import submodules

SWEEPS = {
    "articulated": ("solve_order_n",),
    "calls": ("impulse_sweeps", "inverse_dynamics_sweeps", "gather_links", "loop_equations"),
    "closures": ("fill_loop_equations",),
    "cloud": ("solve_cloud",),
    "columns": ("solve_columns", "apply_torques", "factor_columns", "accelerate_columns", "empty_columns", "inertia_columns"),
    "composite": ("gather_mass_matrix", "solve_dense"),
    "derivative": ("accelerations",),
    "dual_columns": ("fill_dual_columns", "prepare_columns", "add_springs_to_columns", "place_paths"),
    "force_elements": ("fill_elements",),
    "fronts": ("order_rows",),
    "held": ("evaluate_prescribed_motion",),
    "kinematics": ("trace_positions", "trace_motion", "fill_frames", "fill_columns", "fill_column_rates"),
    "loads": ("fill_slots",),
    "modes": ("deform_body",),
    "orbit": ("apply_orbit", "subtract_mean_from_roots", "subtract_mean_from_loads"),
    "outputs": ("fill_outputs", "sum_motion"),
    "pairs": ("weigh_tree", "fill_closed_form"),
    "power": ("fill_input_power",),
    "tanks": ("fill_masses", "fill_tanks"),
    "tree_motion": ("remainder_motion", "vdot_motion", "scatter_rates"),
}
declare(__name__, SWEEPS)
__getattr__ = submodules(__name__)
