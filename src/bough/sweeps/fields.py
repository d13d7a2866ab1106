"""The field table: what each array of a compiled model holds.

A model is three tables, and every sweep works in one workspace:

    plan    int64    structure: sizes, one row a hinge, one row a spring, wheel, wrench and time table
    pars    float64  parameters: places, masses, spring constants, ...; 1-D one set for all lanes, 2-D one for each lane
    tables  float64  time tables as piecewise cubics, one after another
    ws      numbers  time, state, inputs, derivative, and a record for each hinge

Body k sits on hinge k; hinge 0 is the ground.  The numbers of `plan` that point into `ws`, `pars` or `tables` are
positions from their start.
"""


def offsets(*widths):
    """Where fields of these widths start; last, the width of the whole record."""
    return tuple(sum(widths[:i]) for i in range(len(widths) + 1))


def fours(n):
    """The next multiple of four: blocks of numbers are taken four at a time."""
    return -(-n//4)*4


# ---- plan: the header ---------------------------------------------------------------------------------------
(N_HINGES, NQ, NV, N_WHEELS, N_X, N_U,          # sizes; x = q | v | wheel speeds | orbit,  u = tau | motors | wrenches
 IN_ORBIT,                                      # 1: central gravity, x ends with position and velocity of the mass center
 HAS_LOADS,                                     # 1: some body has a wrench slot
 SPRINGS, N_SPRINGS, WHEELS, WRENCHES, N_WRENCHES, TABLES, N_TABLES,     # where rows start in plan, and how many
 PAR_INPUTS, N_CONSTANTS, PAR_SPRINGS, PAR_WHEELS, PAR_WRENCHES,         # where they start in pars; N_U, or 0 if all are zero
 PAR_LOCKED,                                    # in orbit: inertias (6 a hinge) with all wheels, on which gravity acts
 WS_TIME, WS_X, WS_SINES, WS_COSINES, WS_U, WS_XDOT, WS_POSITIONS, WS_SLOTS, N_SLOTS, WS_MASS, WS_SIZE,
 LOOPS, N_LOOPS, PAR_LOOPS,                     # closed loops: rows in plan, how many, where they start in pars
 WS_CLOSURE, WS_MULTIPLIERS, N_MULTIPLIERS, WS_FRONTS, N_FRONTS,         # N_FRONTS: length of all fronts together
 FREES, N_FREES, PAR_FREES,                     # motions that loops leave free and along which something acts
 HOLDS, N_HOLDS,                                # coordinates that are, or can be, locked or prescribed: rows in plan, how many
 ELEMENTS, N_ELEMENTS, WS_ELEMENTS,             # force elements: rows in plan, how many, what they exert in ws
 CLOUD_BASE, CLOUDS, N_CLOUDS,                  # the hinge of a floating base; hinges behind it that are unknown: rows, how many
 PAR_CLOUD,                                     # sums of bodies, from the base on
 ANGLES, N_ANGLES,                              # runs of coordinates that are angles of hinges: rows in plan, how many
 HINGES) = range(55)                            # the first hinge row (the ground's)

# ---- plan: rows ---------------------------------------------------------------------------------------------
# hinge: inner body, kind, where its q, v, tau, vdot are in ws, 1 if its body has mass, where its record is in ws,
# where its branch store is (0: nothing but body k + 1 hangs on it), where its applied wrench is (0: none); of flexible bodies,
# see below; where in plan the front is that passes it (0: none), and the first junction at its body (0: none); its kind where its
# accelerations are solved for (WELD: they are given)
(INNER, KIND, Q, V, TAU, VDOT, MASSIVE, RECORD, BRANCH, SLOT, FLEX, NODE_PAR, NODE_WS, FRONT, JUNCTION, SOLVED,
 HINGE_ROW) = range(17)
# of hinges of joints, in the places of what only nodes have (a row of 16 fills two cache lines): which cloud its body is part of, 0
# that of the base, c that of the unknown hinge with row c - 1; where its given accelerations are in ws
CLOUD, GIVEN = NODE_PAR, NODE_WS
# flexible body, where FLEX of its MODAL hinge and of its nodes points: its MODAL hinge, how many modes, where its integrals
# start in pars, its modal record in ws, there room that all flexible bodies share; 1 if it has terms of two modes (0: ruthlessly
# linearized), if these are unequal for two rates (points that turn), if its nodes move along curves (geometric stiffening), if its
# inboard node moves, if its stiffness and damping are diagonal; how many fields its modes carry along; how many columns of a front
# its mode rows hold
(FLEX_HINGE, MODES, FLEX_PAR, FLEX_WS, FLEX_ROOM, HAS_PAIRS, HAS_TURNS, HAS_CURVES, INBOARD_MOVES, DIAGONAL, CARRIED,
 FLEX_COLUMNS) = range(12)
# run of angles: the first coordinate and the end; some others may be among them
ANGLE_FIRST, ANGLE_END, ANGLE_ROW = range(3)
# spring and damper of one coordinate: where q, v, tau are in ws; 1 if it acts (0: a stop that is not in contact)
SPRING_Q, SPRING_V, SPRING_TAU, SPRING_ACTS, SPRING_ROW = range(5)
# wheel: its hinge, where its speed and motor torque and speed rate are in ws, 1 if driven (0: constant speed)
WHEEL_HINGE, WHEEL_SPEED, WHEEL_MOTOR, WHEEL_RATE, WHEEL_DRIVEN, WHEEL_ROW = range(6)
# wrench: its hinge, where its six components are in ws, 1 if they are in world axes (0: in the body's)
WRENCH_HINGE, WRENCH_U, WRENCH_WORLD, WRENCH_ROW = range(4)
# loop: hinges of its ends a and b (0: the ground), of the body where their paths meet; how many translations and which rotations it
# holds; the columns of its first row in the fronts of a and b (0: on the ground), the others are before it; rows (equations); where
# its multipliers are in ws
(LOOP_A, LOOP_B, LOOP_MEET, HELD_TRANSLATIONS, HELD_ROTATIONS, COLUMN_A, STRIDE_A, COLUMN_B, STRIDE_B, LOOP_ROWS,
 LOOP_MULTIPLIERS, LOOP_ROW) = range(12)
# what of the rotations a loop holds
NO_ROTATION, SQUARE, AXIS, ALL_ROTATIONS, DISTANCE = range(5)
# motion that a loop leaves free: its loop, its kind, where its torque is in ws
FREE_LOOP, FREE_KIND, FREE_TORQUE, FREE_ROW = range(4)
ALONG, ABOUT_AXIS, ABOUT_FIRST, ABOUT_SECOND, ABOUT_OWN = range(5)          # own: an axis of b, of a ball joint
# front that passes a hinge: where it is in ws, how wide, its first column that is still open, the end of the columns in use; where
# the hinge keeps U and 1/D, or W; where the SOURCE row of the front is
FRONT_AT, FRONT_WIDTH, FRONT_FIRST, FRONT_END, FRONT_U, FRONT_RUNS = range(6)
# junction: where its front is in ws, how wide, the end of the columns in use; the next and the previous junction of its body (0:
# none), and of the first one the last; how many loops are eliminated here, how many fronts join; then a CLOSED row for each of the
# former, a SOURCE row for each of the latter
(JUNCTION_AT, JUNCTION_WIDTH, JUNCTION_END, NEXT_JUNCTION, PREVIOUS_JUNCTION, LAST_JUNCTION, N_CLOSED, N_SOURCES,
 JUNCTION_ROW) = range(9)
CLOSED_COLUMN, CLOSED_ROWS, CLOSED_MULTIPLIERS, CLOSED_ROW = range(4)
# where the front that joins is and how wide; what of it is to be added; where column 0 of U of its outermost hinge would be (1/D is
# a width behind), how far the next hinge's is, how many hinges; how many runs of columns it brings; then for each its start there,
# here, its length
SOURCE_AT, SOURCE_WIDTH, SOURCE_ADDS, SOURCE_U, SOURCE_STRIDE, SOURCE_HINGES, N_RUNS, SOURCE_ROW = range(8)
IN_PLACE, WITHOUT_L, ALL_OF_IT = range(3)
RUN_FROM, RUN_TO, RUN_LENGTH, RUN = range(4)
# coordinate that can be held: LOOSE, LOCKED or PRESCRIBED; where its q (0: it has none of its own), v, vdot and given acceleration
# are in ws; where its motion is in tables, and how many terms it has
HOLD_MODE, HOLD_Q, HOLD_V, HOLD_VDOT, HOLD_GIVEN, HOLD_MOTION, HOLD_TERMS, HOLD_ROW = range(8)
LOOSE, LOCKED, PRESCRIBED = range(3)
# force element: its kind; its hinge, of two ends b's, a's, and of the body where their paths meet; where its numbers are in pars,
# in ws; of a line 1 if it can be slack, of a restoring 1 if it feels angles, of a buoyancy the number of its cylinders
(ELEMENT_KIND, ELEMENT_HINGE, ELEMENT_OTHER, ELEMENT_MEET, ELEMENT_PAR, ELEMENT_WS, ELEMENT_MORE, ELEMENT_ROW) = range(8)
LINE, RESTORING, BUOYANCY, BUSHING = range(4)
# unknown hinge outboard of the base: which one, and the cloud that carries it
CLOUD_HINGE, CLOUD_INNER, CLOUD_ROW = range(3)
# time table: where it is in tables, how many pieces, where its value goes in ws
TABLE_AT, TABLE_PIECES, TABLE_TARGET, TABLE_ROW = range(4)

# ---- pars ---------------------------------------------------------------------------------------------------
# ground: gravity, gravitational parameter, total mass, frequency of Baumgarte's stabilization
GRAVITY, MU, TOTAL_MASS, STABILIZATION, _ = offsets(3, 1, 1, 1)
# hinge: its attitude and place in the inner body; mass, first moment and inertia of its body about its origin
PLACE_C, PLACE_R, MASS, MOMENT, INERTIA, HINGE_PARS = offsets(9, 3, 1, 3, 6)
STIFFNESS, REST, DAMPING, SPRING_PARS = offsets(1, 1, 1)
WHEEL_AXIS, WHEEL_INERTIA, WHEEL_PARS = offsets(3, 1)
# flexible body with n modes and p carried fields, N = n + p, blocks padded to fours: modal mass (a block of n for each of N);
# place (and 0) and shapes of the inboard node (a spatial vector a mode); elastic forces at eta = 0 (n),
# stiffness, damping (n or n x n each); E (9 each), t (3 each) at eta = 0, then what each coordinate adds to E; what each rate adds
# to W, h' (3 each); for each mode what it adds to the slopes of the carried coordinates (p blocks of n)
# node: its place in the body frame (and 0), shapes (a spatial vector a mode, a block), what each coordinate adds to them
# loop: places of its ends in the bodies of their hinges; up to three directions that a holds, in a's body; frames of both ends, an
# axis after the other, in their bodies; the cosine of two axes or the distance that is held; a length that makes rotations
# comparable to translations
END_A, END_B, DIRECTIONS, FRAME_A, FRAME_B, HELD_VALUE, LOOP_SIZE, LOOP_PARS = offsets(3, 3, 9, 9, 9, 1, 1)
# cloud: of four bodies at a time, from the base on, four numbers each: integral of x x^T about a body's origin, first moment, mass
CLOUD_S, CLOUD_H, CLOUD_M, CLOUD_PARS = offsets(6, 3, 1)
# motion that a loop leaves free: its axis or dual direction in the bodies of a and b; the directions from and to which its angle is
# measured
(FREE_VECTOR_A, FREE_VECTOR_B, FREE_REFERENCE_A, FREE_REFERENCE_B, FREE_STIFFNESS, FREE_REST, FREE_DAMPING,
 FREE_PARS) = offsets(3, 3, 3, 3, 1, 1, 1)
# line: its ends b and a in the bodies of their hinges
LINE_B, LINE_A, LINE_STIFFNESS, LINE_LENGTH, LINE_DAMPING, LINE_PARS = offsets(3, 3, 1, 1, 1)
# restoring: its point in the body of its hinge, the user's axes there; where the point rests in the world; constant force and
# moment; stiffness: of forces and of moments, each against displacements and against angles
(RESTORING_AT, RESTORING_TURN, RESTORING_REST, RESTORING_FORCE, RESTORING_MOMENT, FORCE_PLACE, FORCE_ANGLE, MOMENT_PLACE,
 MOMENT_ANGLE, RESTORING_PARS) = offsets(3, 9, 3, 3, 3, 9, 9, 9, 9)
# buoyancy: the origin and the axis of the sections in the body of its hinge, weight of water a volume, height of the water plane;
# then for each cylinder its ends on the axis and its radius
BUOYANCY_AT, BUOYANCY_AXIS, BUOYANCY_WEIGHT, BUOYANCY_LEVEL, BUOYANCY_PARS = offsets(3, 3, 1, 1)
CYLINDER_BOTTOM, CYLINDER_TOP, CYLINDER_RADIUS, CYLINDER_PARS = offsets(1, 1, 1)
# bushing: its ends b and a in the bodies of their hinges, places and axes (those of a at rest); stiffness and damping: of moments
# against rotations, of moments against displacements, of forces against displacements
(BUSHING_B, BUSHING_A, BUSHING_TURN_B, BUSHING_TURN_A, BUSHING_STIFFNESS_RR, BUSHING_STIFFNESS_RT, BUSHING_STIFFNESS_TT,
 BUSHING_DAMPING_RR, BUSHING_DAMPING_RT, BUSHING_DAMPING_TT, BUSHING_PARS) = offsets(3, 3, 9, 9, 9, 9, 9, 9, 9, 9)
# wrench: from the axes and point it is given in to those of the hinge's body (world axes: only the point matters)
WRENCH_C, WRENCH_R, WRENCH_PARS = offsets(9, 3)

# ---- tables: per piece its start time and the coefficients c0 + c1 s + c2 s^2 + c3 s^3, s = t - start ---------------
PIECE = 5
# motion: the time that counts as 0 and the position that is added; then each term: its period (0: none; else its pieces are equally
# long), how many pieces, their degree, and these, each its start and the coefficients of s^0 to s^7
MOTION_ORIGIN, MOTION_OFFSET, MOTION_HEAD = range(3)
TERM_PERIOD, TERM_PIECES, TERM_DEGREE, TERM_HEAD = range(4)
MOTION_PIECE = 9

# ---- ws: one record a hinge, then what hinge_reduce keeps ------------------------------------------------------
ATTITUDE, RATE, ACCELERATION, OFFSET, GAIN = offsets(9, 3, 6, 3)
# modal record: deformed J and h, own bias wrench, angular bias of the hinge, then blocks for n modes: a row a mode (D: padded n;
# g, z_f, 0) and for each carried field, shapes of the inboard node
# room of one visit, of a flexible body: E of the deformed body, W, h', coordinates and rates with the carried ones, slopes of these
# and their rates (p blocks of n each); of a node: the rates of its shapes, or six blocks (a number a mode)
MODAL_J, MODAL_H, MODAL_WRENCH, MODAL_BIAS, _, MODAL_ROWS = offsets(6, 3, 6, 3, 2)
# node record: angular bias, then a block: shapes as the deformation has them
NODE_BIAS, _, NODE_SHAPES = offsets(3, 1)
# closure: what acceleration, speed and position of a loop's gap count in its equations; minus the largest of their biases, where
# loops are corrected; room for an angle
(CLOSURE_ACCELERATION, CLOSURE_SPEED, CLOSURE_POSITION, CLOSURE_GAP, CLOSURE_SINE, CLOSURE_COSINE, CLOSURE_SIZE) = range(7)
# front of width c: rows of c numbers: L (c rows), the six components of K, then those below
FRONT_K, FRONT_BIAS, FRONT_LAMBDA, FRONT_PIVOTS, FRONT_ORDER, FRONT_ROWS = offsets(6, 1, 1, 1, 1)       # behind L
# force element: the wrench on its body about its point (of a line on b), in inertial axes; its potential energy; tension of a line
ELEMENT_WRENCH, ELEMENT_ENERGY, ELEMENT_TENSION, ELEMENT_OUT = offsets(6, 1, 1)
# branch store: articulated inertia and bias gathered from all but the next body; acceleration for them
GATHERED, SHARED_ACCEL, BRANCH_STORE = offsets(27, 6)
# clouds, from WS_MASS on: inverse transposed maps of the base's translations and rotations; then for each cloud its sums S, h, m,
# the wrench that it demands, of its hinge U and X; then the matrix and the right side of the unknown hinges; then, for one state,
# the motion of each body, the columns of C, omega, alpha, a, p, in registers of four numbers, and the sums of four bodies
CLOUD_AXES, CLOUD_HEAD = offsets(18)
CLOUD_SUMS, CLOUD_WRENCH, CLOUD_COLUMN, CLOUD_X, CLOUD_STORE = offsets(10, 6, 6, 6)
BODY_C, BODY_RATE, BODY_ALPHA, BODY_A, BODY_P, CLOUD_BODY = offsets(3, 1, 1, 1, 1)
