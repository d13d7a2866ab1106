"""Outputs that follow from the state alone, for laws: where places are and how they move, deflections, tensions of lines.

Attitudes and offsets of the bodies on the paths to what is measured come first, root to tips; each output then walks inward.
Both use the records of the hinges, which the dynamics fills anew.
"""
from bough.kernels.algebra import IDENTITY, ZERO, compose, rotate, transpose, unrotate
from bough.kernels.hinges import MODAL, hinge_move
from bough.kernels.jit import leaf
from bough.kernels.lanes import load9, noinline, read, read3, read9, scale, sqrt, store, sub, where_positive
from bough.kernels.linker import sweep
from bough.sweeps import fields as f
from bough.sweeps.closures import motion_relative_to
from bough.sweeps.elements import apply_line, arm_of
from bough.sweeps.modes import modal_move
from bough.sweeps.motion import compute_sines, hinge_row, record_of


@leaf
def evaluate_outputs(lane, plan, pars, ws):
    """The outputs at the time and state in ws, where there are any that are not entries of the state."""
    if read(plan, f.N_OUTPUTS):
        fill_outputs(lane, plan, pars, ws)


@sweep
def fill_outputs(lane, plan, pars, ws):
    """All of them, into their places in ws; what is prescribed is in the state already."""
    noinline()
    trace_paths(lane, plan, pars, ws)
    for j in range(read(plan, f.N_OUTPUTS)):
        row, p = read(plan, f.OUTPUTS) + j*f.OUTPUT_ROW, read(plan, f.PAR_OUTPUTS) + j*f.OUTPUT_PARS
        if read(plan, row + f.OUTPUT_KIND) == f.OUT_TENSION:
            apply_line(lane, plan, pars, ws, read(plan, row + f.OUTPUT_ELEMENT))        # slots are cleared before they are used
        else:
            measure_place(lane, plan, pars, ws, row, p)


@leaf
def trace_paths(lane, plan, pars, ws):
    """Attitudes and offsets of all bodies on the paths to what is measured."""
    store(lane, ws, record_of(plan, 0) + f.ATTITUDE, IDENTITY)
    compute_sines(lane, plan, ws)
    sines = read(plan, f.WS_SINES) - read(plan, f.WS_X), read(plan, f.WS_COSINES) - read(plan, f.WS_X)
    for n in range(read(plan, f.N_PATHS)):
        k = read(plan, read(plan, f.PATHS) + n*f.PATH_ROW)
        row, place = hinge_row(plan, k), k*f.HINGE_PARS
        kind, record = read(plan, row + f.KIND), read(plan, row + f.RECORD)
        C = load9(lane, ws, record_of(plan, read(plan, row + f.INNER)) + f.ATTITUDE)
        F, r = compose(C, read9(pars, place + f.PLACE_C)), rotate(C, read3(pars, place + f.PLACE_R))
        if kind < MODAL:
            C, r, _, _ = hinge_move(lane, kind, F, r, ZERO, ws, read(plan, row + f.Q), read(plan, row + f.V), sines)
        else:
            C, r, _, _ = modal_move(lane, plan, pars, ws, row, F, r, ZERO)
        store(lane, ws, record + f.ATTITUDE, C)
        store(lane, ws, record + f.OFFSET, r)


@leaf
def measure_place(lane, plan, pars, ws, row, p):
    """Where a place is, how it stands, or how it moves; along its axes."""
    k, kind, to = read(plan, row + f.OUTPUT_HINGE), read(plan, row + f.OUTPUT_KIND), read(plan, row + f.OUTPUT_TO)
    axes = compose(load9(lane, ws, record_of(plan, read(plan, row + f.OUTPUT_FRAME)) + f.ATTITUDE), read9(pars, p + f.OUTPUT_AXES))
    if kind == f.OUT_ATTITUDE:
        C = compose(load9(lane, ws, record_of(plan, k) + f.ATTITUDE), read9(pars, p + f.OUTPUT_TURN))
        store(lane, ws, to, quaternion_of(compose(transpose(axes), C)))
        return
    x, omega, v = motion_relative_to(lane, plan, pars, ws, k, 0, arm_of(lane, plan, pars, ws, k, p + f.OUTPUT_AT), 0)
    if kind == f.OUT_POSITION:
        store(lane, ws, to, unrotate(axes, x))
    elif kind == f.OUT_VELOCITY:
        store(lane, ws, to, unrotate(axes, v))
    elif kind == f.OUT_SPIN:
        store(lane, ws, to, unrotate(axes, omega))
    else:
        body = read(plan, row + f.OUTPUT_BODY)
        origin, _, _ = motion_relative_to(lane, plan, pars, ws, body, 0, ZERO, 0)
        C = load9(lane, ws, record_of(plan, body) + f.ATTITUDE)
        store(lane, ws, to, unrotate(axes, sub(sub(x, origin), rotate(C, read3(pars, p + f.OUTPUT_PLACE)))))


@leaf
def quaternion_of(R):
    """The unit quaternion of a rotation matrix, its scalar part not negative: out of the largest column of 4 q q'."""
    xx, xy, xz, yx, yy, yz, zx, zy, zz = R
    x, y, z, w = 1.0 + xx - yy - zz, 1.0 - xx + yy - zz, 1.0 - xx - yy + zz, 1.0 + xx + yy + zz
    best, size = (x, xy + yx, xz + zx, zy - yz), x
    best, size = larger_column(y - size, (xy + yx, y, yz + zy, xz - zx), y, best, size)
    best, size = larger_column(z - size, (xz + zx, yz + zy, z, yx - xy), z, best, size)
    (a, b, c, d), _ = larger_column(w - size, (zy - yz, xz - zx, yx - xy, w), w, best, size)
    return scale(where_positive(-d, -1.0, 1.0)/sqrt(a*a + b*b + c*c + d*d), (a, b, c, d))


@leaf
def larger_column(excess, column, its_size, best, size):
    """The column and its diagonal entry where that is larger, else the best so far."""
    (a, b, c, d), (i, j, k, m) = column, best
    a, b = where_positive(excess, a, i), where_positive(excess, b, j)
    return (a, b, where_positive(excess, c, k), where_positive(excess, d, m)), where_positive(excess, its_size, size)
