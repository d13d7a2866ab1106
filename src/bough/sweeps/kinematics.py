"""Root to tips: where every body is and how it moves, for outputs.  Uses what scatter_motion left in the records."""
from bough.kernels.algebra import ZERO, shift_motion
from bough.kernels.hinges import MODAL, hinge_add
from bough.kernels.jit import leaf
from bough.kernels.lanes import add, load3, load_spatial, read, store
from bough.sweeps.fields import INNER, KIND, N_HINGES, OFFSET, RATE, RECORD, V, offsets
from bough.sweeps.modes import modal_add, modal_speeds
from bough.sweeps.motion import hinge_attitude, hinge_row, load_motion

# what is told of each body, in inertial axes: position and velocity of its origin, attitude, angular rate,
# acceleration (angular, linear, the latter less gravity)
POSITION, VELOCITY, BODY_ATTITUDE, BODY_RATE, BODY_ACCELERATION, KINEMATICS_ROW = offsets(3, 3, 9, 3, 6)


@leaf
def scatter_positions(lane, plan, pars, ws, at):
    """Rows of KINEMATICS_ROW numbers from `at` on, the ground first."""
    store(lane, ws, at + POSITION, (ZERO, ZERO))
    for k in range(1, read(plan, N_HINGES) + 1):
        row = hinge_row(plan, k)
        i, record, to = read(plan, row + INNER), read(plan, row + RECORD), at + k*KINEMATICS_ROW
        C, omega, A = load_motion(lane, ws, record)
        r = load3(lane, ws, record + OFFSET)
        omega_i = load3(lane, ws, read(plan, hinge_row(plan, i) + RECORD) + RATE)
        p_i, v_i = load_spatial(lane, ws, at + i*KINEMATICS_ROW + POSITION)
        motion, kind = shift_motion(r, (omega_i, v_i)), read(plan, row + KIND)
        if kind < MODAL:
            motion = hinge_add(lane, kind, hinge_attitude(pars, k), C, motion, ws, read(plan, row + V))     # [S 45]
        else:
            motion = modal_add(lane, plan, ws, row, motion, modal_speeds(lane, plan, row))
        _, v = motion
        store(lane, ws, to + POSITION, add(p_i, r))
        store(lane, ws, to + VELOCITY, v)
        store(lane, ws, to + BODY_ATTITUDE, C)
        store(lane, ws, to + BODY_RATE, omega)
        store(lane, ws, to + BODY_ACCELERATION, A)
