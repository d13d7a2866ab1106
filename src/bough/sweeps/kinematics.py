"""Root to tips: where every body is and how it moves, for outputs.  Uses what scatter_motion left in the records."""
from bough.kernels.algebra import ZERO, shift_motion
from bough.kernels.linker import sweep
from bough.kernels.hinges import MODAL, hinge_add
from bough.kernels.lanes import add, load3, load_spatial, read, noinline, store
from bough.sweeps import fields as f
from bough.sweeps.modes import modal_add, modal_speeds
from bough.sweeps.motion import hinge_attitude, hinge_row, load_motion

# a row for each body, in inertial axes: position and velocity of its origin, attitude, angular rate,
# acceleration (angular, linear, the latter less gravity)
POSITION, VELOCITY, BODY_ATTITUDE, BODY_RATE, BODY_ACCELERATION, KINEMATICS_ROW = f.offsets(3, 3, 9, 3, 6)


@sweep
def scatter_positions(lane, plan, pars, ws, at):
    """Rows of KINEMATICS_ROW numbers from `at` on, the ground first."""
    noinline()
    store(lane, ws, at + POSITION, (ZERO, ZERO))
    for k in range(1, read(plan, f.N_HINGES) + 1):
        row = hinge_row(plan, k)
        i, record, to = read(plan, row + f.INNER), read(plan, row + f.RECORD), at + k*KINEMATICS_ROW
        C, omega, A = load_motion(lane, ws, record)
        r = load3(lane, ws, record + f.OFFSET)
        omega_i = load3(lane, ws, read(plan, hinge_row(plan, i) + f.RECORD) + f.RATE)
        p_i, v_i = load_spatial(lane, ws, at + i*KINEMATICS_ROW + POSITION)
        motion, kind = shift_motion(r, (omega_i, v_i)), read(plan, row + f.KIND)
        if kind < MODAL:
            motion = hinge_add(lane, kind, hinge_attitude(pars, k), C, motion, ws, read(plan, row + f.V))     # [S 45]
        else:
            motion = modal_add(lane, plan, ws, row, motion, modal_speeds(lane, plan, row))
        _, v = motion
        store(lane, ws, to + POSITION, add(p_i, r))
        store(lane, ws, to + VELOCITY, v)
        store(lane, ws, to + BODY_ATTITUDE, C)
        store(lane, ws, to + BODY_RATE, omega)
        store(lane, ws, to + BODY_ACCELERATION, A)
