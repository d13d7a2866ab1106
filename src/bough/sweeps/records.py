"""What each array of a compiled model holds, declared once; `sweeps.schema` says how.

A model is three tables, and every sweep works in one workspace:

    plan    int64    structure: a header, then rows for hinges, springs, wheels, ...; what is connected, and where its numbers are
    pars    float64  parameters: places, masses, spring constants, ...; 1-D one set for all lanes, 2-D one for each lane
    tables  float64  functions of time as piecewise polynomials
    ws      numbers  time, state, inputs, derivative, and a record for each hinge

Body k sits on hinge k; hinge 0 is the ground.  Numbers of plan that refer to ws, pars, tables or plan are positions from its start.
Spatial vectors have the angular part first; symmetric matrices are xx, xy, xz, yy, yz, zz.  Modes are mass-normalized: their
coordinates eta are in m kg^0.5.
"""
from bough.sweeps.schema import (cloud_method, dense_method, flexible_parameters, flexible_scratch, frame_blocks, modal_record,
                                 node_parameters, node_record, node_scratch)
from bough.sweeps.schema import Block, Blocks, Codes, Field, Record, Section, padding

# ---- codes --------------------------------------------------------------------------------------------------------------
KINDS = Codes(WELD="fixed", REVOLUTE="turns about z", PRISMATIC="slides along z", SPHERICAL="turns", FREE="turns and moves",
              MODAL="from the inboard node to the body frame of a flexible body", NODE="from there to a node")
NODE = 6                                                        # of them: see kernels.hinges, which has the constants
ROTATIONS = Codes(NO_ROTATION="none", UNIVERSAL="the angle between two axes", AXIS="the direction of an axis",
                  ALL_ROTATIONS="all", DISTANCE="none, but the distance between two points")
FREE_KINDS = Codes(ALONG="translation", ABOUT_AXIS="rotation about the only axis", ABOUT_FIRST="about the first of two axes",
                   ABOUT_SECOND="about the second", ABOUT_OWN="of a ball joint, about an axis of b")
ADDS = Codes(IN_PLACE="nothing: it uses the columns that it joins", WITHOUT_L="all but L, which is zero", ALL_OF_IT="all")
HOLD_MODES = Codes(LOOSE="moves", LOCKED="stays where it is", PRESCRIBED="follows a function of time")
OUTPUT_KINDS = Codes(OUT_POSITION="position", OUT_ATTITUDE="attitude: a quaternion", OUT_VELOCITY="velocity",
                     OUT_SPIN="angular velocity", OUT_DEFLECTION="displacement of a node from its undeformed place",
                     OUT_TENSION="of a line, stored with its wrench", OUT_STRAIN="of an element of a flexible body",
                     OUT_STRAIN_ENERGY="energy of a flexible body",
                     OUT_KINETIC="energy of all that moves", OUT_POTENTIAL="energy", OUT_TOTAL="energy",
                     OUT_ANGULAR="momentum about the mass center", OUT_LINEAR="momentum")
ELEMENT_KINDS = Codes(LINE="tension between two points", RESTORING="linear force and moment", BUOYANCY="lift of cylinders",
                      BUSHING="spring and damper along six motions")
FRICTION_LAWS = Codes(SLIDES="against the direction of the speed", SMOOTH="a smooth function of the speed",
                      BRISTLES="a state of its own", PEAKED="a smooth function with a peak at the Stribeck speed")
FLAG = Codes(no="", yes="")                                     # has no constants
CODES = (ROTATIONS, FREE_KINDS, ADDS, HOLD_MODES, ELEMENT_KINDS, OUTPUT_KINDS, FRICTION_LAWS)

# ---- plan: rows ---------------------------------------------------------------------------------------------------------
HINGE = Record(
    "hinge", "plan", "a primitive hinge and its body",
    Field("INNER", "the hinge of the inner body", to="hinge"),
    Field("KIND", "type of hinge", codes=KINDS),
    Field("Q", "coordinates", to="ws.x", length=0),
    Field("V", "speeds", to="ws.x", length=0),
    Field("TAU", "torques", to="ws.u", length=0),
    Field("VDOT", "accelerations", to="ws.xdot", length=0),
    Field("MASSIVE", "its body has mass: 1, as in pars; larger: position in ws of the variable mass of a tank"),
    Field("RECORD", "its motion", to="ws.records", length="hinge", owned=True),
    Field("BRANCH", "sums over branches; none: at most body k + 1 is attached", to="ws.branches", length="branch", owned=True,
          optional=True),
    Field("SLOT", "applied wrench", to="ws.slots", length=6, owned=True, optional=True),
    Field("FLEX", "row of the flexible body", to="plan.flexible", length="flexible", optional=True),
    Field("CLOUD", "cloud of its body; 0: the base's", to="cloud", optional=True,     # two in one place: a row is two
          variant=Field("NODE_PAR", "place and shapes of the node", to="pars.flexible", length=4)),         # cache lines
    Field("GIVEN", "given accelerations", to="ws.given", length=0,
          variant=Field("NODE_WS", "record of the node", to="ws.records", length="node", owned=True)),
    Field("FRONT", "row of the front that passes it", to="plan.fronts", length="front", optional=True),
    Field("JUNCTION", "first junction at its body", to="plan.junctions", length="junction", optional=True),
    Field("SOLVED", "type in sweeps that solve for accelerations: WELD if held", codes=KINDS),
    size_name="HINGE_ROW", variant=("kind", NODE), written="compile.assemble", read="all sweeps")

FLEXIBLE = Record(
    "flexible", "plan", "a flexible body",
    Field("FLEX_HINGE", "its MODAL hinge", to="hinge"),
    Field("MODES", "n, number of modes"),
    Field("CARRIED", "p, fields that the modes carry along"),
    Field("SPINS", "s, mean rates of second order of points that turn, 0 to 3"),
    Field("FLEX_WS", "its modal record", to="ws.records", length="modal", owned=True),
    *(Field(f"FLEX_{name.upper()}", f"block '{name}' of its parameters", to="pars.flexible", length=0)
      for name in ("mass", "place", "shapes", "elastic", "inertia", "t", "inertia_slopes", "rate_slopes", "along", "along_slopes",
                   "about", "about_slopes")),
    *(Field(f"BENT_{name.upper()}", f"block '{name}' of its scratch, shared by all flexible bodies; in orbit each has its own",
            to="ws.scratch", length=0) for name in ("inertia", "along", "W", "x", "rates", "along_rates", "about")),
    Field("NODE_SCRATCH", "scratch of its nodes, shared by all", to="ws.scratch", length=0),
    Field("HAS_PAIRS", "has terms of two modes; no: linearized", codes=FLAG),
    Field("HAS_TURNS", "these are not skew in the two modes: rotating points", codes=FLAG),
    Field("HAS_CURVES", "nodes have second-order displacements: geometric stiffening", codes=FLAG),
    Field("INBOARD_MOVES", "the modes move the inboard node", codes=FLAG),
    Field("DIAGONAL", "stiffness and damping are diagonal", codes=FLAG),
    Field("FLEX_COLUMNS", "columns of a front in the rows of its modes"),
    prefix="FLEX_", written="compile.assemble",
    read="sweeps.modes, modal, fronts, composite, closures, calls, orbit")

ANGLE_RUN = Record(
    "angle run", "plan", "consecutive coordinates, most of them angles, whose sines are computed together",
    Field("ANGLE_FIRST", "first coordinate", to="q"),
    Field("ANGLE_END", "end"),
    size_name="ANGLE_ROW", prefix="ANGLE_", written="compile.assemble", read="sweeps.tree_motion")

QUATERNION = Record(
    "quaternion", "plan", "four coordinates that make a quaternion",
    Field("QUATERNION_AT", "the first of them", to="q"),
    size_name="QUATERNION_ROW", prefix="QUATERNION_", written="compile.assemble",
    read="sweeps.calls, integrate.compiled.stepping")

SPRING = Record(
    "spring", "plan", "spring and damper of one coordinate",
    Field("SPRING_Q", "coordinate", to="ws.x"),
    Field("SPRING_V", "speed", to="ws.x"),
    Field("SPRING_TAU", "torque", to="ws.u"),
    Field("SPRING_ACTS", "it acts; no: a stop that is not in contact", codes=FLAG),
    Field("SPRING_LOCAL", "its hinge has no other coordinate, so that it can act implicitly", codes=FLAG),
    size_name="SPRING_ROW", prefix="SPRING_", written="compile.assemble", read="sweeps.loads")

FRICTION = Record(
    "friction", "plan", "friction of a coordinate or a wheel",
    Field("FRICTION_V", "speed", to="ws.x"),
    Field("FRICTION_TAU", "torque", to="ws.u"),
    Field("FRICTION_LAW", "its law", codes=FRICTION_LAWS),
    Field("FRICTION_SIGN", "direction of sliding, 1 or -1; 0: that of the speed"),
    Field("FRICTION_ACTS", "it acts; no: it holds its coordinate", codes=FLAG),
    Field("FRICTION_HINGE", "of a joint, its hinge", to="hinge"),
    Field("FRICTION_WS", "scratch", to="ws.frictions", length="friction", owned=True),
    Field("FRICTION_STATE", "in runs: holding force, or its own state; load of its joint; dissipated energy", to="ws.x",
          length=3, optional=True),
    Field("FRICTION_RATE", "rates of these", to="ws.xdot", length=3, optional=True),
    size_name="FRICTION_ROW", prefix="FRICTION_", written="compile.friction_tables", read="sweeps.friction_forces")

TANK = Record(
    "tank", "plan", "propellant in a body, and the nozzle through which it leaves",
    Field("TANK_HINGE", "the weld that holds it", to="hinge"),
    Field("TANK_SLOSH", "the outer of the two hinges of the sloshing mass; none: 0", to="hinge"),
    Field("TANK_NOZZLE", "the body of the nozzle; 0: the ground", to="hinge"),
    Field("TANK_GIMBAL", "the nozzle turns on the body of the tank", codes=FLAG),
    Field("TANK_FEEDS", "it can feed; no: it or another tank of its engine is empty", codes=FLAG),
    Field("TANK_MASS", "propellant", to="ws.x"),
    Field("TANK_RATE", "rate of it", to="ws.xdot"),
    Field("TANK_FLOW", "outflow", to="ws.u"),
    Field("TANK_AT", "its properties by mass", to="tables.tanks", length=1),
    Field("TANK_PIECES", "pieces of them"),
    Field("TANK_COLUMNS", "of a piece: cubics of so many properties behind its start"),
    Field("TANK_WS", "current properties, and the effects of its flow", to="ws.tanks", length="tank", owned=True),
    Field("TANK_EXHAUST", "in runs: rates of momenta and energy of all exhaust", to="ws.xdot", length=7, optional=True),
    size_name="TANK_ROW", prefix="TANK_", written="compile.tank_tables", read="sweeps.tanks")

WHEEL = Record(
    "wheel", "plan", "a wheel in a body",
    Field("WHEEL_HINGE", "its body", to="hinge"),
    Field("WHEEL_SPEED", "speed", to="ws.x"),
    Field("WHEEL_MOTOR", "motor torque", to="ws.u"),
    Field("WHEEL_RATE", "rate of the speed", to="ws.xdot"),
    Field("WHEEL_DRIVEN", "by a motor; no: constant speed", codes=FLAG),
    size_name="WHEEL_ROW", prefix="WHEEL_", written="compile.assemble", read="sweeps.loads, derivative, cloud")

WRENCH = Record(
    "wrench", "plan", "a moment and a force on a body",
    Field("WRENCH_HINGE", "its body", to="hinge"),
    Field("WRENCH_U", "moment and force", to="ws.u", length=6),
    Field("WRENCH_WORLD", "in world axes; no: in the body's", codes=FLAG),
    Field("WRENCH_INPUT", "it is that of an input", codes=FLAG),
    size_name="WRENCH_ROW", prefix="WRENCH_", written="compile.assemble", read="sweeps.loads, power, cloud")

PORT = Record(
    "port", "plan", "an entry of an input that is added to an entry of u",
    Field("PORT_SOURCE", "the number", to="ws.u"),
    Field("PORT_TARGET", "what it is added to", to="ws.u"),
    size_name="PORT_ROW", prefix="PORT_", written="compile.assemble", read="sweeps.loads, power")

LOOP = Record(
    "loop", "plan", "a closed loop",
    Field("LOOP_A", "hinge of the end a; 0: the ground", to="hinge"),
    Field("LOOP_B", "hinge of the end b", to="hinge"),
    Field("LOOP_MEET", "hinge where their paths to the root meet", to="hinge"),
    Field("CONSTRAINED_TRANSLATIONS", "translations that it constrains"),
    Field("CONSTRAINED_ROTATIONS", "rotations that it constrains", codes=ROTATIONS),
    Field("COLUMN_A", "column of its first row in the front of a, the others before it; none: on the ground", to="ws.fronts",
          optional=True),
    Field("STRIDE_A", "width of that front"),
    Field("COLUMN_B", "the same of b", to="ws.fronts", optional=True),
    Field("STRIDE_B", "width of that front"),
    Field("LOOP_ROWS", "equations"),
    Field("LOOP_MULTIPLIERS", "multipliers; until they are found, the first place has (gap/size)^2, the openness in the pivot test",
          to="ws.multipliers", owned=True),
    size_name="LOOP_ROW", prefix="LOOP_", written="compile.front_tables", read="sweeps.closures, loop_jacobian, calls")

COUPLING = Record(
    "coupling", "plan", "a linear relation of coordinates",
    Field("COUPLING_FIRST", "the first of its coordinates, among those of all couplings"),
    Field("COUPLING_TERMS", "how many it has"),
    Field("COUPLING_BIAS", "k of its column in the front of one of its outermost coordinates; none: it is elastic",
          to="ws.fronts", optional=True),
    Field("COUPLING_MULTIPLIER", "multiplier", to="ws.multipliers", owned=True, optional=True),
    Field("COUPLING_ACTS", "it holds; no: it has play or is elastic", codes=FLAG),
    Field("COUPLING_SIDE", "of its play, where it touches: 1, -1; 2: nowhere, in runs that find when; 0: its place tells"),
    Field("COUPLING_STATE", "in runs, of one with play: its multiplier", to="ws.x", optional=True),
    size_name="COUPLING_ROW", prefix="COUPLING_", written="compile.coupling_tables", read="sweeps.couplings")

COUPLED = Record(
    "coupled coordinate", "plan", "a coordinate of a coupling",
    Field("COUPLED_Q", "coordinate", to="ws.x"),
    Field("COUPLED_V", "speed", to="ws.x"),
    Field("COUPLED_TAU", "torque", to="ws.u"),
    Field("COUPLED_GIVEN", "given acceleration; none: it cannot be held", to="ws.given", optional=True),
    Field("COUPLED_U", "U of its hinge in the column of the coupling", to="ws.front gains", optional=True),
    size_name="COUPLED_ROW", prefix="COUPLED_", written="compile.coupling_tables", read="sweeps.couplings")

FREE_MOTION = Record(
    "free motion", "plan", "a motion that a loop leaves free, along which a spring, damper or motor acts",
    Field("FREE_LOOP", "its loop", to="loop"),
    Field("FREE_KIND", "what moves", codes=FREE_KINDS),
    Field("FREE_TORQUE", "torque", to="ws.u"),
    size_name="FREE_ROW", prefix="FREE_", written="compile.loop_tables", read="sweeps.closures")

FRONT = Record(
    "front", "plan", "a front of multipliers that passes a hinge",
    Field("FRONT_AT", "the front", to="ws.fronts"),
    Field("FRONT_WIDTH", "columns"),
    Field("FRONT_FIRST", "first column that is still open"),
    Field("FRONT_END", "end of the columns in use"),
    Field("FRONT_U", "U and 1/D of the hinge, or W", to="ws.front gains", owned=True, optional=True),
    Field("FRONT_RUNS", "the source row by which it joins the next front", to="plan.junctions", length="source", optional=True),
    prefix="FRONT_", written="compile.front_tables", read="sweeps.fronts")

CLOSED = Record(
    "closed loop", "plan", "a loop that is eliminated at a junction",
    Field("CLOSED_COLUMN", "its first column"),
    Field("CLOSED_ROWS", "equations"),
    Field("CLOSED_MULTIPLIERS", "multipliers", to="ws.multipliers"),
    size_name="CLOSED_ROW", prefix="CLOSED_", written="compile.front_tables", read="sweeps.fronts")

RUN = Record(
    "run", "plan", "columns that are neighbors in both fronts",
    Field("RUN_FROM", "first column there"),
    Field("RUN_TO", "first column here"),
    Field("RUN_LENGTH", "how many"),
    size_name="RUN", written="compile.front_tables", read="sweeps.fronts")

SOURCE = Record(
    "source", "plan", "a front that joins at a junction",
    Field("SOURCE_AT", "the front", to="ws.fronts"),
    Field("SOURCE_WIDTH", "columns"),
    Field("SOURCE_ADDS", "what of it is added", codes=ADDS),
    Field("SOURCE_U", "where column 0 of U of its outermost hinge would be; 1/D is a width behind"),
    Field("SOURCE_STRIDE", "from there to the next hinge's"),
    Field("SOURCE_HINGES", "hinges of one degree of freedom that it passed"),
    Field("N_RUNS", "runs"),
    size_name="SOURCE_ROW", prefix="SOURCE_", written="compile.front_tables", read="sweeps.fronts",
    followers=[(RUN, "n_runs")])

JUNCTION = Record(
    "junction", "plan", "where fronts join and loops are eliminated",
    Field("JUNCTION_AT", "its front", to="ws.fronts"),
    Field("JUNCTION_WIDTH", "columns"),
    Field("JUNCTION_END", "end of the columns in use"),
    Field("NEXT_JUNCTION", "of the same body", to="plan.junctions", length="junction", optional=True),
    Field("PREVIOUS_JUNCTION", "of the same body", to="plan.junctions", length="junction", optional=True),
    Field("LAST_JUNCTION", "of the body, in its first one only", to="plan.junctions", length="junction", optional=True),
    Field("N_CLOSED", "loops that are eliminated"),
    Field("N_SOURCES", "fronts that join"),
    size_name="JUNCTION_ROW", prefix="JUNCTION_", written="compile.front_tables", read="sweeps.fronts",
    followers=[(CLOSED, "n_closed"), (SOURCE, "n_sources")])

HOLD = Record(
    "hold", "plan", "a coordinate that can be locked or prescribed",
    Field("HOLD_MODE", "what it does now", codes=HOLD_MODES),
    Field("HOLD_Q", "coordinate; none: a share of a spherical rotation", to="ws.x", optional=True),
    Field("HOLD_V", "speed", to="ws.x"),
    Field("HOLD_VDOT", "acceleration", to="ws.xdot"),
    Field("HOLD_GIVEN", "given acceleration", to="ws.given", owned=True),
    Field("HOLD_MOTION", "its function of time", to="tables.motions", length="motion", optional=True),
    Field("HOLD_TERMS", "terms of that"),
    size_name="HOLD_ROW", prefix="HOLD_", written="compile.hold_tables, switching", read="sweeps.held")

ELEMENT = Record(
    "element", "plan", "a force element",
    Field("ELEMENT_KIND", "which", codes=ELEMENT_KINDS),
    Field("ELEMENT_HINGE", "its body; of a line, of the end b", to="hinge"),
    Field("ELEMENT_OTHER", "of a line, of the end a", to="hinge"),
    Field("ELEMENT_MEET", "of a line, where the paths of both to the root meet", to="hinge"),
    Field("ELEMENT_PAR", "its parameters", to="pars.elements", length=8, owned=True),
    Field("ELEMENT_WS", "what it exerts", to="ws.elements", length="element", owned=True),
    Field("ELEMENT_REST", "of a line, by how much its length changes", to="ws.u", optional=True),
    Field("ELEMENT_OPTION", "line: it can be slack; restoring: it depends on angles; buoyancy: number of cylinders"),
    size_name="ELEMENT_ROW", prefix="ELEMENT_", written="compile.element_tables", read="sweeps.force_elements, cloud")

PATH = Record(
    "path", "plan", "a hinge on the path to a measured frame, inner before outer",
    Field("PATH_HINGE", "which", to="hinge"),
    size_name="PATH_ROW", prefix="PATH_", written="compile.assemble", read="sweeps.outputs")

OUTPUT = Record(
    "output", "plan", "an output that is computed inside a step",
    Field("OUTPUT_KIND", "what", codes=OUTPUT_KINDS),
    Field("OUTPUT_HINGE", "the body of its place", to="hinge"),
    Field("OUTPUT_FRAME", "the body whose axes it is along", to="hinge"),
    Field("OUTPUT_BODY", "of a deflection, a strain or a strain energy: the MODAL hinge of its body", to="hinge"),
    Field("OUTPUT_ELEMENT", "of a tension: its line", to="plan.elements", length="element", optional=True),
    Field("OUTPUT_GAUGE", "of a strain: each of its components per modal coordinate", to="pars.gauges", owned=True, optional=True),
    Field("OUTPUT_COMPONENTS", "of a strain: how many"),
    Field("OUTPUT_TO", "its numbers", to="ws.outputs", length="output", owned=True),
    size_name="OUTPUT_ROW", prefix="OUTPUT_", written="compile.assemble", read="sweeps.outputs")

CLOUD = Record(
    "cloud", "plan", "a hinge of unknown motion behind a floating base; what it carries is a cloud",
    Field("CLOUD_HINGE", "which", to="hinge"),
    Field("CLOUD_INNER", "cloud that carries it; 0: the base's", to="cloud"),
    size_name="CLOUD_ROW", prefix="CLOUD_", written="compile.cloud_tables, switching", read="sweeps.cloud")

PULL = Record(
    "pull", "plan", "a body for central gravity; welded bodies separately",
    Field("PULL_HINGE", "its hinge", to="hinge"),
    size_name="PULL_ROW", prefix="PULL_", written="compile.assemble", read="sweeps.orbit")

ROOT = Record(
    "root", "plan", "in orbit: a hinge that translates a whole tree, FREE or a PRISMATIC one of a joint that can be held",
    Field("ROOT_HINGE", "which", to="hinge"),
    size_name="ROOT_ROW", prefix="ROOT_", written="compile.assemble", read="sweeps.orbit")

TIME_TABLE = Record(
    "time table", "plan", "one column of a table that adds to u",
    Field("TABLE_AT", "its pieces", to="tables.time tables", length="piece", owned=True),
    Field("TABLE_PIECES", "how many"),
    Field("TABLE_TARGET", "entry of u", to="ws.u"),
    size_name="TABLE_ROW", prefix="TABLE_", written="compile.assemble", read="sweeps.loads")

# ---- pars ---------------------------------------------------------------------------------------------------------------
HINGE_PARAMETERS = Record(
    "hinge", "pars", "a hinge and its body, about the body's origin, in its axes",
    Field("PLACE_C", "attitude in the inner body", (3, 3)),
    Field("PLACE_R", "place in the inner body", (3,), "m"),
    Field("MASS", "mass", (), "kg"),
    Field("MOMENT", "first moment of mass", (3,), "kg m"),
    Field("INERTIA", "inertia", (6,), "kg m^2"),
    size_name="HINGE_PARS", written="compile.assemble", read="sweeps.tree_motion, modal, modes, cloud")

GROUND_PARAMETERS = Record(
    "ground", "pars", "the world, in the place of hinge 0",
    Field("GRAVITY", "uniform gravity", (3,), "m/s^2"),
    Field("MU", "gravitational parameter of central gravity", (), "m^3/s^2"),
    Field("TOTAL_MASS", "of all bodies, with the propellant that is described", (), "kg"),
    Field("STABILIZATION", "frequency of Baumgarte's stabilization of loops", (), "1/s"),
    Field("LEAST_SHARE", "of a loop's largest entry of J M^-1 J^T: a row with less is singular, and holds nothing", ()),
    padding(HINGE_PARAMETERS.size - 7),
    written="compile.assemble, integrate.integration", read="sweeps.tree_motion, orbit, derivative, cloud, fronts")

SPRING_PARAMETERS = Record(
    "spring", "pars", "spring and damper of one coordinate",
    Field("STIFFNESS", "stiffness", (), "N m/rad or N/m"),
    Field("REST", "coordinate without force", (), "rad or m"),
    Field("DAMPING", "damping", (), "N m s/rad or N s/m"),
    size_name="SPRING_PARS", written="compile.assemble", read="sweeps.loads")

FRICTION_PARAMETERS = Record(
    "friction", "pars", "friction of a coordinate or a wheel",
    Field("COULOMB", "dry friction at high speed", (), "N m or N"),
    Field("STATIC_MORE", "excess at rest", (), "N m or N"),
    Field("OVER_STRIBECK", "1/speed at which the excess has decayed by e; 0: at once", (), "s/rad or s/m"),
    Field("VISCOUS", "in proportion to the speed", (), "N m s/rad or N s/m"),
    Field("SMOOTH_SPEED", "below which the smooth law is linear", (), "rad/s or m/s"),
    Field("BRISTLE", "stiffness of bristles", (), "N m/rad or N/m"),
    Field("LOAD_FACTOR", "dry friction per newton of joint load", (), "m or 1"),
    size_name="FRICTION_PARS", written="compile.friction_tables", read="sweeps.friction_forces")

WHEEL_PARAMETERS = Record(
    "wheel", "pars", "a wheel in a body",
    Field("WHEEL_AXIS", "axis in the body", (3,)),
    Field("WHEEL_INERTIA", "about the axis", (), "kg m^2"),
    size_name="WHEEL_PARS", prefix="WHEEL_", written="compile.assemble", read="sweeps.loads, derivative")

WRENCH_PARAMETERS = Record(
    "wrench", "pars", "where a wrench acts",
    Field("WRENCH_C", "from the axes that it is given in to the body's", (3, 3)),
    Field("WRENCH_R", "its point in the body", (3,), "m"),
    size_name="WRENCH_PARS", prefix="WRENCH_", written="compile.assemble", read="sweeps.loads")

PORT_PARAMETERS = Record(
    "port", "pars", "a number of an input is added to an entry of u",
    Field("PORT_FACTOR", "by which it is multiplied"),
    size_name="PORT_PARS", prefix="PORT_", written="compile.assemble", read="sweeps.loads")

LOOP_PARAMETERS = Record(
    "loop", "pars", "ends of a closed loop, in the bodies of their hinges",
    Field("END_A", "place of the end a", (3,), "m"),
    Field("END_B", "place of the end b", (3,), "m"),
    Field("DIRECTIONS", "of the constrained translations, up to three, in a's body", (3, 3)),
    Field("FRAME_A", "axes of the end a, one after the other", (3, 3)),
    Field("FRAME_B", "axes of the end b", (3, 3)),
    Field("CONSTRAINED_VALUE", "cosine of two axes, or distance, that it prescribes", (), "1 or m"),
    Field("LOOP_SIZE", "length that makes rotations comparable to translations", (), "m"),
    size_name="LOOP_PARS", prefix="LOOP_", written="compile.loop_tables", read="sweeps.closures")

COUPLING_PARAMETERS = Record(
    "coupling", "pars", "a linear relation of coordinates, scaled so that the largest factor is 1",
    Field("COUPLING_OFFSET", "value of the sum of factors times coordinates", (), "rad or m"),
    Field("COUPLING_STIFFNESS", "if elastic", (), "N m/rad or N/m"),
    Field("COUPLING_DAMPING", "if elastic", (), "N m s/rad or N s/m"),
    Field("COUPLING_PRELOAD", "a constant force along it", (), "N m or N"),
    Field("COUPLING_PLAY", "half of its free play", (), "rad or m"),
    size_name="COUPLING_PARS", prefix="COUPLING_", written="compile.coupling_tables", read="sweeps.couplings")

COUPLED_PARAMETERS = Record(
    "coupled coordinate", "pars", "a coordinate of a coupling",
    Field("COUPLED_FACTOR", "by which it is multiplied"),
    size_name="COUPLED_PARS", prefix="COUPLED_", written="compile.coupling_tables", read="sweeps.couplings")

FREE_PARAMETERS = Record(
    "free motion", "pars", "a motion that a loop leaves free",
    Field("FREE_VECTOR_A", "axis or dual direction in a's body", (3,)),
    Field("FREE_VECTOR_B", "the same in b's body", (3,)),
    Field("FREE_REFERENCE_A", "direction from which its angle is measured", (3,)),
    Field("FREE_REFERENCE_B", "direction to which its angle is measured", (3,)),
    Field("FREE_STIFFNESS", "stiffness", (), "N m/rad or N/m"),
    Field("FREE_REST", "coordinate without force", (), "rad or m"),
    Field("FREE_DAMPING", "damping", (), "N m s/rad or N s/m"),
    size_name="FREE_PARS", prefix="FREE_", written="compile.loop_tables", read="sweeps.closures")

CLOUD_PARAMETERS = Record(
    "cloud", "pars", "of one body; of four bodies each number is a block of four",
    Field("CLOUD_S", "integral of x x^T about the body's origin", (6,), "kg m^2"),
    Field("CLOUD_H", "first moment", (3,), "kg m"),
    Field("CLOUD_M", "mass", (), "kg"),
    size_name="CLOUD_PARS", prefix="CLOUD_", written="compile.cloud_tables", read="sweeps.cloud")

PULL_PARAMETERS = Record(
    "pull", "pars", "a rigid body that central gravity pulls at, with all its wheels, in the axes of its hinge",
    Field("PULL_MASS", "mass", (), "kg"),
    Field("PULL_AT", "mass center", (3,), "m"),
    Field("PULL_S", "second moments of mass about it", (6,), "kg m^2"),
    size_name="PULL_PARS", prefix="PULL_", written="compile.assemble", read="sweeps.orbit")

LINE_PARAMETERS = Record(
    "line", "pars", "a line between two points",
    Field("LINE_B", "end b in the body of its hinge", (3,), "m"),
    Field("LINE_A", "end a in the body of its hinge", (3,), "m"),
    Field("LINE_STIFFNESS", "stiffness", (), "N/m"),
    Field("LINE_LENGTH", "length without force", (), "m"),
    Field("LINE_DAMPING", "damping", (), "N s/m"),
    size_name="LINE_PARS", prefix="LINE_", written="compile.element_tables", read="sweeps.force_elements")

RESTORING_PARAMETERS = Record(
    "restoring", "pars", "a force and a moment linear in displacement and angles",
    Field("RESTORING_AT", "its point in the body of its hinge", (3,), "m"),
    Field("RESTORING_TURN", "the user's axes there", (3, 3)),
    Field("RESTORING_REST", "where the point rests in the world", (3,), "m"),
    Field("RESTORING_FORCE", "constant force", (3,), "N"),
    Field("RESTORING_MOMENT", "constant moment", (3,), "N m"),
    Field("FORCE_PLACE", "stiffness of the force against displacements", (3, 3), "N/m"),
    Field("FORCE_ANGLE", "stiffness of the force against angles", (3, 3), "N/rad"),
    Field("MOMENT_PLACE", "stiffness of the moment against displacements", (3, 3), "N"),
    Field("MOMENT_ANGLE", "stiffness of the moment against angles", (3, 3), "N m/rad"),
    size_name="RESTORING_PARS", prefix="RESTORING_", written="compile.element_tables", read="sweeps.force_elements")

BUOYANCY_PARAMETERS = Record(
    "buoyancy", "pars", "upright cylinders in water; these follow",
    Field("BUOYANCY_AT", "origin of the sections in the body of its hinge", (3,), "m"),
    Field("BUOYANCY_AXIS", "axis of the sections", (3,)),
    Field("BUOYANCY_WEIGHT", "weight of water per volume", (), "N/m^3"),
    Field("BUOYANCY_LEVEL", "height of the water plane", (), "m"),
    size_name="BUOYANCY_PARS", prefix="BUOYANCY_", written="compile.element_tables", read="sweeps.force_elements")

CYLINDER_PARAMETERS = Record(
    "cylinder", "pars", "of a buoyancy",
    Field("CYLINDER_BOTTOM", "lower end on the axis", (), "m"),
    Field("CYLINDER_TOP", "upper end on the axis", (), "m"),
    Field("CYLINDER_RADIUS", "radius", (), "m"),
    size_name="CYLINDER_PARS", prefix="CYLINDER_", written="compile.element_tables", read="sweeps.force_elements")

BUSHING_PARAMETERS = Record(
    "bushing", "pars", "spring and damper between two frames; rotations before displacements",
    Field("BUSHING_B", "end b in the body of its hinge", (3,), "m"),
    Field("BUSHING_A", "end a in the body of its hinge, at rest", (3,), "m"),
    Field("BUSHING_TURN_B", "axes of b there", (3, 3)),
    Field("BUSHING_TURN_A", "axes of a there, at rest", (3, 3)),
    Field("BUSHING_STIFFNESS_RR", "stiffness: moments against rotations", (3, 3), "N m/rad"),
    Field("BUSHING_STIFFNESS_RT", "moments against displacements", (3, 3), "N"),
    Field("BUSHING_STIFFNESS_TT", "forces against displacements", (3, 3), "N/m"),
    Field("BUSHING_DAMPING_RR", "damping: moments against rotation rates", (3, 3), "N m s/rad"),
    Field("BUSHING_DAMPING_RT", "moments against velocities", (3, 3), "N s"),
    Field("BUSHING_DAMPING_TT", "forces against velocities", (3, 3), "N s/m"),
    size_name="BUSHING_PARS", prefix="BUSHING_", written="compile.element_tables", read="sweeps.force_elements")

OUTPUT_PARAMETERS = Record(
    "output", "pars", "where something is measured, and along which axes",
    Field("OUTPUT_AT", "its place in the body of its hinge", (3,), "m"),
    Field("OUTPUT_TURN", "the axes of the place there", (3, 3)),
    Field("OUTPUT_AXES", "the axes that it is along, in the body of theirs", (3, 3)),
    Field("OUTPUT_PLACE", "of a deflection: the undeformed place in its body's frame; of a sum over all bodies: the first moment "
          "of those that are fixed to the ground", (3,), "m or kg m"),
    Field("OUTPUT_CONSTANT", "of an energy: what is constant in it", (), "J"),
    size_name="OUTPUT_PARS", prefix="OUTPUT_", written="compile.signal_tables", read="sweeps.outputs")

FLEXIBLE_PARAMETERS = Blocks(
    "flexible", "pars", "n modes, p carried fields and s spins of a body, N = n + p; all in body axes", flexible_parameters,
    Block("mass", "modal mass without the shares of fields and spins: n rows of n", "1"),
    Block("place", "undeformed place of the inboard node, 0", "m"),
    Block("shapes", "its shapes: a spatial vector for each mode", "kg^-0.5 (/m, 1)"),
    Block("elastic", "elastic forces at eta = 0 (n), stiffness, damping (n, or n x n each)", "N/kg^0.5, ..."),
    Block("inertia", "(N_r, h_r) at eta = 0, 6 and 3 for each of N", "kg^0.5 m"),
    Block("t", "translation t_r, 3 for each of N", "kg^0.5"),
    Block("inertia_slopes", "what each of N coordinates adds to (N_r, h_r); none if linearized", "1"),
    Block("rate_slopes", "what each of N rates adds to W, and, where points turn, to h'; none if linearized", "1"),
    Block("along", "V_a at eta = 0: p + s rows of n", "1"),
    Block("along_slopes", "what each of n coordinates adds to V_a: p + s rows of n", "kg^-0.5/m"),
    Block("about", "U_ar at eta = 0: for each spin, 3 for each of n", "1"),
    Block("about_slopes", "what each of n coordinates adds to U_ar: for each spin, 3 for each of n", "kg^-0.5/m"),
    written="compile.flexible_tables", read="sweeps.modes, modal, orbit, integrate.eigenvalues")

NODE_PARAMETERS = Blocks(
    "node", "pars", "a node of a flexible body", node_parameters,
    Block("place", "undeformed place in the body frame, 0", "m"),
    Block("shapes", "a spatial vector for each of n modes", "kg^-0.5 (/m, 1)"),
    Block("curves", "for each mode, what its coordinate adds to all shapes", "kg^-1 (/m^2, /m)"),
    written="compile.flexible_tables", read="sweeps.modes")

# ---- tables -------------------------------------------------------------------------------------------------------------
PIECE = Record(
    "piece", "tables", "of a time table: c0 + c1 s + c2 s^2 + c3 s^3 with s = t - start",
    Field("PIECE_START", "time", (), "s"),
    Field("PIECE_COEFFICIENTS", "c0 to c3", (4,)),
    size_name="PIECE", prefix="PIECE_", written="compile.motion_tables", read="sweeps.loads")

MOTION_PIECE = Record(
    "motion piece", "tables", "of a term of a motion: a polynomial in s = t - start",
    Field("MOTION_PIECE_START", "time", (), "s"),
    Field("MOTION_PIECE_COEFFICIENTS", "of s^0 to s^7", (8,)),
    size_name="MOTION_PIECE", prefix="MOTION_PIECE_", written="compile.motion_tables", read="sweeps.held")

TERM = Record(
    "term", "tables", "of a motion, which is a sum of terms; its pieces follow",
    Field("TERM_PERIOD", "0: none; else its pieces are equally long", (), "s"),
    Field("TERM_PIECES", "how many pieces"),
    Field("TERM_DEGREE", "of its polynomials"),
    size_name="TERM_HEAD", prefix="TERM_", written="compile.hold_tables", read="sweeps.held",
    followers=[(MOTION_PIECE, "pieces")])

MOTION = Record(
    "motion", "tables", "a prescribed function of time; its terms follow",
    Field("MOTION_ORIGIN", "the time that counts as 0", (), "s"),
    Field("MOTION_OFFSET", "the position that is added", (), "rad or m"),
    size_name="MOTION_HEAD", prefix="MOTION_", written="compile.hold_tables, switching", read="sweeps.held")

# ---- ws -----------------------------------------------------------------------------------------------------------------
TANK_PARAMETERS = Record(
    "tank", "pars", "a tank and its nozzle",
    Field("EXHAUST_SPEED", "relative to the nozzle", (), "m/s"),
    Field("TANK_EXIT", "the nozzle, or the joint on which it turns, in the axes of the tank", (3,), "m"),
    Field("NOZZLE_AT", "the nozzle in the axes of its hinge", (3,), "m"),
    Field("NOZZLE_AXIS", "direction of the thrust, in these axes", (3,)),
    Field("NO_FLOW", "tolerance for a negative flow: rounding", (), "kg/s"),
    Field("LEAST_FIXED", "mass of fixed propellant below which it has no mass center", (), "kg"),
    Field("DESCRIBED", "propellant that TOTAL_MASS contains", (), "kg"),
    size_name="TANK_PARS", written="compile.tank_tables", read="sweeps.tanks")

HINGE_RECORD = Record(
    "hinge", "ws", "motion of a hinge's body, in inertial axes",
    Field("ATTITUDE", "attitude", (3, 3)),
    Field("RATE", "angular rate", (3,), "rad/s"),
    Field("ACCELERATION", "of the material point at the origin, less gravity: what is given, then the whole",
          (6,), "rad/s^2, m/s^2"),
    Field("OFFSET", "from the inner body's origin", (3,), "m"),
    Field("GAIN", "what one sweep keeps for the next; its length depends on the kind of hinge", (0,)),
    written="sweeps.tree_motion, articulated", read="all sweeps")

MODAL_RECORD = Record(
    "modal", "ws", "a flexible body as it is deformed; its blocks follow",
    Field("MODAL_J", "inertia", (6,), "kg m^2"),
    Field("MODAL_H", "first moment", (3,), "kg m"),
    Field("MODAL_WRENCH", "bias wrench of its own mass", (6,), "N m, N"),
    Field("MODAL_BIAS", "angular bias of the hinge", (3,), "rad/s^2"),
    padding(2),
    Field("MODAL_ROWS", "rows of modes, fields and spins", (0,)),
    prefix="MODAL_", written="sweeps.modes", read="sweeps.modes, modal, orbit, calls")

MODAL_BLOCKS = Blocks(
    "modal blocks", "ws", "behind the head of a modal record, for one state", modal_record,
    Block("rows", "for each mode, field and spin: D (n), g (6), z_f, 0, columns of a front; of a spin u and g in place of g"),
    Block("inboard", "shapes of the inboard node: a spatial vector for each mode", "kg^-0.5 (/m, 1)"),
    written="sweeps.modes", read="sweeps.modal, orbit, fronts, composite")

NODE_RECORD = Record(
    "node", "ws", "a node of a flexible body",
    Field("NODE_BIAS", "angular bias", (3,), "rad/s^2"),
    padding(1),
    Field("NODE_SHAPES", "shapes of the deformed body", (0,)),
    prefix="NODE_", written="sweeps.modes", read="sweeps.modes")

NODE_BLOCKS = Blocks(
    "node blocks", "ws", "behind the head of a node record", node_record,
    Block("shapes", "a spatial vector for each mode", "kg^-0.5 (/m, 1)"),
    written="sweeps.modes", read="sweeps.modes, modal, fronts, composite")

FLEXIBLE_SCRATCH = Blocks(
    "flexible scratch", "ws", "while a flexible body is visited", flexible_scratch,
    Block("inertia", "(N_r, h_r) of the deformed body, 6 and 3 for each of N", "kg^0.5 m"),
    Block("along", "V_a of fields and spins: p + s rows of n; up to here kept in orbit"),
    Block("W", "and h', 3 for each of N", "kg^0.5 m/s"),
    Block("x", "coordinates of modes and fields", "m kg^0.5"),
    Block("rates", "of these", "m kg^0.5/s"),
    Block("along_rates", "rates of V_a", "1/s"),
    Block("about", "U_ar of spins, 3 for each of n"),
    written="sweeps.modes", read="sweeps.modes, orbit")

NODE_SCRATCH = Blocks(
    "node scratch", "ws", "while a node is visited", node_scratch,
    Block("shapes", "rates of its shapes, or six rows with a number for each mode"),
    written="sweeps.modes, modal", read="sweeps.modes, modal")

IMPLICIT_HEAD = Record(
    "implicit", "ws", "dependence of positions and rates on the unknown acceleration in implicit methods",
    Field("IMPLICIT_RATE", "g: of a rate", unit="s"),
    Field("IMPLICIT_PLACE", "g^2: of a place", unit="s^2"),
    padding(2),
    size_name="IMPLICIT_SIZE", prefix="IMPLICIT_", written="integrate.compiled.stepping", read="sweeps.implicit")

CLOSURE = Record(
    "closure", "ws", "weights in the equations of loops, and scratch for an angle",
    Field("CLOSURE_ACCELERATION", "factor of the acceleration of a gap, gravity and elastic forces: 0 in corrections"),
    Field("CLOSURE_SPEED", "factor of its speed"),
    Field("CLOSURE_POSITION", "factor of the gap"),
    Field("CLOSURE_GAP", "where loops are corrected: the largest of the biases"),
    Field("CLOSURE_SINE", "scratch"),
    Field("CLOSURE_COSINE", "scratch"),
    size_name="CLOSURE_SIZE", prefix="CLOSURE_", written="sweeps.derivative, calls, closures, integrate.compiled.stepping",
    read="sweeps.closures, modes, derivative, tree_motion")

FRONT_NUMBERS = Record(
    "front", "ws", "of c columns: c rows of L, then these, c numbers each",
    Field("FRONT_K", "components of K", (6,)),
    Field("FRONT_BIAS", "k"),
    Field("FRONT_LAMBDA", "multipliers"),
    Field("FRONT_PIVOTS", "inverse pivots"),
    Field("FRONT_ORDER", "order of elimination"),
    size_name="FRONT_ROWS", prefix="FRONT_", written="sweeps.fronts", read="sweeps.fronts")

ELEMENT_RESULT = Record(
    "element", "ws", "what a force element exerts",
    Field("ELEMENT_WRENCH", "on its body about its point (of a line, on b), in inertial axes", (6,), "N m, N"),
    Field("ELEMENT_ENERGY", "potential energy", (), "J"),
    Field("ELEMENT_TENSION", "of a line", (), "N"),
    Field("ELEMENT_POWER", "of the inputs that change the length of a line", (), "W"),
    size_name="ELEMENT_OUT", prefix="ELEMENT_", written="sweeps.force_elements", read="sweeps.calls, power, analyze.body_motion")

FRICTION_RESULT = Record(
    "friction", "ws", "scratch of friction",
    Field("FRICTION_FORCE", "dry friction: the size that it can have"),
    Field("FRICTION_LOAD", "the force that its joint bears"),
    size_name="FRICTION_OUT", prefix="FRICTION_", written="sweeps.friction_forces", read="sweeps.friction_forces")

TANK_RESULT = Record(
    "tank", "ws", "propellant of a tank, about its hinges' origins in their axes; what its flow does, in inertial axes",
    Field("TANK_FIXED", "mass, first moment and inertia of what is fixed", (10,), "kg, kg m, kg m^2"),
    Field("TANK_SLOSHING", "of what sloshes; stiffness and damping of its coordinates", (12,)),
    Field("TANK_SLOPES", "all of these by the mass in the tank", (22,)),
    Field("TANK_FLOWS", "flow and thrust", (2,), "kg/s, N"),
    Field("TANK_ACTS", "on tank, sloshing mass and nozzle: wrench, momentum of the flow inside, its angular momentum", (36,),
          "N m, N, N s, N m s"),
    size_name="TANK_OUT", prefix="TANK_", written="sweeps.tanks", read="sweeps.tanks")

OUTPUT_RESULT = Record(
    "output", "ws", "value of an output",
    Field("OUTPUT_VALUE", "three components, a quaternion, or a strain", (6,)),
    size_name="OUTPUT_OUT", prefix="OUTPUT_", written="sweeps.outputs", read="compile.signal_tables")

SUMS_RECORD = Record(
    "sums", "ws", "of all bodies that move, in inertial axes",
    Field("SUM_KINETIC", "kinetic energy", (), "J"),
    Field("SUM_MOMENTUM", "about the world's origin", (6,), "N m s, N s"),
    Field("SUM_MOMENT", "first moment of mass", (3,), "kg m"),
    size_name="SUMS_SIZE", prefix="SUM_", written="sweeps.outputs", read="sweeps.outputs")

BRANCH = Record(
    "branch", "ws", "sums over all branches of a body except the next body",
    Field("GATHERED", "articulated inertia (21) and bias (6)", (27,)),
    Field("SHARED_ACCEL", "acceleration for them", (6,), "rad/s^2, m/s^2"),
    size_name="BRANCH_STORE", written="sweeps.articulated, composite",
    read="sweeps.articulated, composite, derivative, tree_motion, cloud")

CLOUD_JOINT = Record(
    "cloud joint", "ws", "the joint of a floating base",
    Field("CLOUD_AXES", "inverse transposed maps of its translations and rotations", (18,)),
    size_name="CLOUD_HEAD", prefix="CLOUD_", written="sweeps.cloud", read="sweeps.cloud")

CLOUD_RECORD = Record(
    "cloud", "ws", "sums of the bodies of a cloud, and the hinge that carries it",
    Field("CLOUD_SUMS", "S, h, m", (10,)),
    Field("CLOUD_WRENCH", "that it demands", (6,), "N m, N"),
    Field("CLOUD_U", "U of its hinge: motion at the base's origin O", (6,)),
    Field("CLOUD_U_G", "the same at the mass center G of the whole", (6,)),
    Field("CLOUD_X", "X of its hinge, about G", (6,)),
    size_name="CLOUD_STORE", prefix="CLOUD_", written="sweeps.cloud", read="sweeps.cloud")

CLOUD_MOTION = Record(
    "cloud body", "ws", "motion of a body, in packs of four numbers",
    Field("BODY_C", "columns of its attitude", (3,)),
    Field("BODY_RATE", "omega"),
    Field("BODY_ALPHA", "alpha"),
    Field("BODY_A", "a"),
    Field("BODY_P", "p"),
    size_name="CLOUD_BODY", prefix="BODY_", written="sweeps.cloud", read="sweeps.cloud")

DENSE_METHOD = Blocks(
    "dense method", "ws", "from WS_MASS on, for nv speeds and m multipliers of loops", dense_method,
    Block("mass matrix", "nv x nv, then its factors"),
    Block("jacobian", "of the loops' equations: m x nv"),
    Block("system", "J M^-1 J^T: m x m"),
    Block("order", "of its rows"),
    Block("limits", "of its pivots, in that order"),
    Block("balance", "its right side, then the multipliers, in that order"),
    written="sweeps.composite, loop_jacobian", read="sweeps.composite, loop_jacobian, calls")

CLOUD_METHOD = Blocks(
    "cloud method", "ws", "from WS_MASS on, for clouds of unknown hinges, and bodies from the base on",
    lambda at, clouds, bodies: cloud_method(at, clouds, bodies, CLOUD_JOINT.size, CLOUD_RECORD.size,
                                            CLOUD_RECORD.starts["u"], CLOUD_MOTION.size),
    Block("joint", "of the base"),
    Block("clouds", "the base's, then those of unknown hinges"),
    Block("equations", "of the unknown hinges: matrix, right side"),
    Block("motions", "of all bodies, for one state"),
    Block("sums", "of four bodies, for one state"),
    written="sweeps.cloud", read="sweeps.cloud")

# ---- kinematics -----------------------------------------------------------------------------------------------------------
ROUTE = Record(
    "route", "route", "hinges from the ground to some places, inner before outer, follow; then the hinge of each place",
    Field("ROUTE_HINGES", "how many hinges"),
    Field("ROUTE_PLACES", "how many places"),
    size_name="ROUTE_HEAD", prefix="ROUTE_", written="analyze.body_motion", read="sweeps.kinematics")

COLUMNS = Record(
    "columns", "route", "for all derivatives of the dynamics of a tree: its speeds, in the order of its hinges, and places in ws",
    Field("COLUMNS_SPEEDS", "how many speeds"),
    Field("COLUMNS_PADDED", "the same, padded to fours"),
    Field("COLUMNS_WIDTH", "numbers that a path to the root takes, padded to fours"),
    Field("COLUMNS_AT", "where the rows of the speeds start"),
    Field("COLUMNS_FIRSTS", "where the first speed of each hinge is"),
    Field("COLUMNS_OF_V", "where the speed of each entry of v is"),
    Field("COLUMNS_SAME", "speeds are in the order of v"),
    Field("COLUMNS_GROUPS", "where lists of the hinges start that four speeds move, and how long they are"),
    Field("COLUMNS_H", "in ws: places and sums of the bodies"),
    Field("COLUMNS_T", "in ws: what pairs need of the speeds"),
    Field("COLUMNS_TORQUES", "in ws: by speed, torques, then v'"),
    Field("COLUMNS_INERTIAS", "in ws: the diagonal of the mass matrix"),
    Field("COLUMNS_P", "in ws: by speed, its path's entries of the mass matrix, then of its factor"),
    Field("COLUMNS_L", "in ws: the factor by columns"),
    Field("COLUMNS_B", "in ws: derivatives by q, v and tau"),
    Field("COLUMNS_SCRATCH", "in ws: room for a pack"),
    size_name="COLUMNS_HEAD", prefix="COLUMNS_", written="analyze.partials", read="sweeps.columns")

SPEED = Record(
    "speed", "route", "a speed of a tree; rows are padded to fours, the last one repeated",
    Field("SPEED_HINGE", "its hinge"),
    Field("SPEED_COMPONENT", "which of the hinge's speeds it is"),
    Field("SPEED_V", "its place in v"),
    Field("SPEED_END", "the end of the speeds that it moves, itself first"),
    Field("SPEED_DEPTH", "how many speeds move it"),
    Field("SPEED_PATH", "where these start in the route, the root's first"),
    Field("SPEED_INNER", "in ws: motion of what it moves against"),
    Field("SPEED_OUTER", "in ws: motion of what it moves"),
    Field("SPEED_SUMS", "in ws: sums of all that it moves"),
    Field("SPEED_WRITES", "of one state, the first speed whose entries with it can be written in whole packs, outer speeds first"),
    Field("SPEED_UNTIL", "the end of these: that of all that it moves, or where nothing follows"),
    size_name="SPEED_ROW", prefix="SPEED_", written="analyze.partials", read="sweeps.columns")

SPOT = Record(
    "spot", "spots", "a place on the body of a hinge",
    Field("SPOT_TURN", "its axes to the body's", (3, 3)),
    Field("SPOT_AT", "its origin, or the point of it that is asked for, in the body's axes", (3,), "m"),
    size_name="SPOT_ROW", prefix="SPOT_", written="analyze.body_motion", read="sweeps.kinematics")

TRACED = Record(
    "traced", "ws", "from WS_MASS on, for the ground and each hinge: its body's origin, in inertial axes",
    Field("TRACED_POSITION", "position", (3,), "m"),
    Field("TRACED_VELOCITY", "velocity", (3,), "m/s"),
    size_name="TRACED_ROW", prefix="TRACED_", written="sweeps.kinematics", read="sweeps.kinematics")

# ---- results --------------------------------------------------------------------------------------------------------------
FRAMES = Blocks(
    "frames", "out", "motion of n places, in inertial axes", frame_blocks,
    Block("position", "(n, 3)", "m"),
    Block("attitude", "(n, 3, 3): their axes to inertial ones"),
    Block("velocity", "(n, 6): angular, linear", "rad/s, m/s"),
    Block("acceleration", "(n, 6): angular, linear", "rad/s^2, m/s^2"),
    written="sweeps.kinematics", read="analyze.body_motion")

LINK = Record(
    "link", "out", "a link of the partitioned tree, for the operators; of a node, its shapes (6 n) follow",
    Field("LINK_ATTITUDE", "attitude", (3, 3)),
    Field("LINK_OFFSET", "from the inner link", (3,), "m"),
    Field("LINK_ACCELERATION", "remainder acceleration", (6,), "rad/s^2, m/s^2"),
    Field("LINK_DEMAND", "what that demands of its own mass; of a flexible body in its own axes", (6,), "N m, N"),
    Field("LINK_APPLIED", "what is applied to it", (6,), "N m, N"),
    size_name="LINK_ROW", prefix="LINK_", written="sweeps.calls", read="analyze.operators.state_links")

LINK_FLEXIBLE = Record(
    "flexible link", "out", "behind a link that is a flexible body; shapes of the inboard node (6 n) follow",
    Field("LINK_J", "inertia", (6,), "kg m^2"),
    Field("LINK_H", "first moment", (3,), "kg m"),
    Field("LINK_MODES", "for each of n modes its row of D (n), g and z_f", (0,)),
    prefix="LINK_", written="sweeps.calls", read="analyze.operators.state_links")

# ---- sections -------------------------------------------------------------------------------------------
_SECTIONS = (                                                   # of each array in their order, after the header
    Section("hinges", "plan", HINGE.meaning, HINGE, "HINGES"),
    Section("springs", "plan", SPRING.meaning + "; those of stops come last", SPRING, "SPRINGS", "N_SPRINGS"),
    Section("frictions", "plan", FRICTION.meaning, FRICTION, "FRICTIONS", "N_FRICTIONS"),
    Section("tanks", "plan", TANK.meaning, TANK, "TANKS", "N_TANKS"),
    Section("wheels", "plan", WHEEL.meaning, WHEEL, "WHEELS", "N_WHEELS"),
    Section("wrenches", "plan", WRENCH.meaning, WRENCH, "WRENCHES", "N_WRENCHES"),
    Section("ports", "plan", PORT.meaning, PORT, "PORTS", "N_PORTS"),
    Section("angle runs", "plan", ANGLE_RUN.meaning, ANGLE_RUN, "ANGLES", "N_ANGLES"),
    Section("quaternions", "plan", QUATERNION.meaning, QUATERNION, "QUATERNIONS", "N_QUATERNIONS"),
    Section("time tables", "plan", TIME_TABLE.meaning, TIME_TABLE, "TABLES", "N_TABLES"),
    Section("pulls", "plan", PULL.meaning, PULL, "PULLS", "N_PULLS"),
    Section("roots", "plan", ROOT.meaning, ROOT, "ROOTS", "N_ROOTS"),
    Section("holds", "plan", HOLD.meaning, HOLD, "HOLDS", "N_HOLDS"),
    Section("free motions", "plan", FREE_MOTION.meaning, FREE_MOTION, "FREES", "N_FREES"),
    Section("flexible", "plan", FLEXIBLE.meaning, FLEXIBLE),
    Section("loops", "plan", LOOP.meaning, LOOP, "LOOPS", "N_LOOPS"),
    Section("couplings", "plan", COUPLING.meaning, COUPLING, "COUPLINGS", "N_COUPLINGS"),
    Section("coupled", "plan", COUPLED.meaning, COUPLED, "COUPLED"),
    Section("junctions", "plan", JUNCTION.meaning, JUNCTION),
    Section("fronts", "plan", FRONT.meaning, FRONT),
    Section("elements", "plan", ELEMENT.meaning, ELEMENT, "ELEMENTS", "N_ELEMENTS"),
    Section("paths", "plan", PATH.meaning, PATH, "PATHS", "N_PATHS"),
    Section("outputs", "plan", OUTPUT.meaning, OUTPUT, "OUTPUTS", "N_OUTPUTS"),
    Section("clouds", "plan", CLOUD.meaning, CLOUD, "CLOUDS", "N_CLOUDS"),

    Section("ground", "pars", GROUND_PARAMETERS.meaning, GROUND_PARAMETERS),
    Section("hinges", "pars", HINGE_PARAMETERS.meaning, HINGE_PARAMETERS),
    Section("inputs", "pars", "constants of u", None, "PAR_INPUTS", unit="N m or N"),
    Section("springs", "pars", SPRING_PARAMETERS.meaning, SPRING_PARAMETERS, "PAR_SPRINGS"),
    Section("frictions", "pars", FRICTION_PARAMETERS.meaning, FRICTION_PARAMETERS, "PAR_FRICTIONS"),
    Section("tanks", "pars", TANK_PARAMETERS.meaning, TANK_PARAMETERS, "PAR_TANKS"),
    Section("wheels", "pars", WHEEL_PARAMETERS.meaning, WHEEL_PARAMETERS, "PAR_WHEELS"),
    Section("wrenches", "pars", WRENCH_PARAMETERS.meaning, WRENCH_PARAMETERS, "PAR_WRENCHES"),
    Section("ports", "pars", PORT_PARAMETERS.meaning, PORT_PARAMETERS, "PAR_PORTS"),
    Section("pulls", "pars", PULL_PARAMETERS.meaning, PULL_PARAMETERS, "PAR_PULLS"),
    Section("loops", "pars", LOOP_PARAMETERS.meaning, LOOP_PARAMETERS, "PAR_LOOPS"),
    Section("couplings", "pars", COUPLING_PARAMETERS.meaning, COUPLING_PARAMETERS, "PAR_COUPLINGS"),
    Section("coupled", "pars", COUPLED_PARAMETERS.meaning, COUPLED_PARAMETERS, "PAR_COUPLED"),
    Section("free motions", "pars", FREE_PARAMETERS.meaning, FREE_PARAMETERS, "PAR_FREES"),
    Section("clouds", "pars", "sums of bodies from a floating base on, four bodies at a time", None, "PAR_CLOUD", aligned=True),
    Section("flexible", "pars", "integrals of flexible bodies, and of their nodes; shared by those that are alike", aligned=True),
    Section("elements", "pars", "of each element in turn"),
    Section("gauges", "pars", "strains per modal coordinate, of each output that is one in turn"),
    Section("outputs", "pars", OUTPUT_PARAMETERS.meaning, OUTPUT_PARAMETERS, "PAR_OUTPUTS"),

    Section("time tables", "tables", "columns of tables, one after the other, as pieces: start, c0 to c3"),
    Section("motions", "tables", "motions that coordinates may follow, their terms and pieces"),
    Section("tanks", "tables", "of each tank, properties of its propellant by its mass, as pieces: start, c0 to c3 of each"),

    Section("time", "ws", "time, and a time inside the current step", None, "WS_TIME", unit="s"),
    Section("x", "ws", "state: q | v | wheel speeds | orbit | tanks", None, "WS_X", aligned=True),
    Section("sines", "ws", "of angles in q, each as far behind its angle", None, "WS_SINES", aligned=True),
    Section("cosines", "ws", "of angles in q", None, "WS_COSINES", aligned=True),
    Section("u", "ws", "inputs: tau | motors | ports | wrenches | loops' torques | rests of lines | flows | wrenches of the caller",
            None, "WS_U", unit="N m or N", aligned=True),
    Section("xdot", "ws", "derivative of x", None, "WS_XDOT"),
    Section("given", "ws", "accelerations of v where they are given; only where some can be held", unit="rad/s^2 or m/s^2"),
    Section("positions", "ws", "in orbit: of all bodies, from the mass center", None, "WS_POSITIONS", unit="m"),
    Section("mean", "ws", "in orbit: acceleration of the mass center, less gravity there; its speed by mass that flows", None,
            "WS_MEAN"),
    Section("slots", "ws", "applied wrenches of bodies that have any, about their origins, in inertial axes", None, "WS_SLOTS",
            "N_SLOTS", unit="N m, N"),
    Section("elements", "ws", ELEMENT_RESULT.meaning, ELEMENT_RESULT, "WS_ELEMENTS"),
    Section("outputs", "ws", OUTPUT_RESULT.meaning, OUTPUT_RESULT),
    Section("sums", "ws", SUMS_RECORD.meaning, SUMS_RECORD, "WS_SUMS", "SUMS"),
    Section("frictions", "ws", FRICTION_RESULT.meaning, FRICTION_RESULT),
    Section("tanks", "ws", TANK_RESULT.meaning, TANK_RESULT),
    Section("branches", "ws", BRANCH.meaning, BRANCH),
    Section("closure", "ws", CLOSURE.meaning, CLOSURE, "WS_CLOSURE", aligned=True),
    Section("multipliers", "ws", "of loops, those of each padded to multiples of four", None, "WS_MULTIPLIERS", aligned=True),
    Section("fronts", "ws", "of loops: L, K, k, multipliers, pivots, order", None, "WS_FRONTS"),
    Section("front gains", "ws", "of hinges that fronts pass: U and 1/D, or W"),
    Section("scratch", "ws", "for one flexible body or node at a time", aligned=True),
    Section("records", "ws", "of hinges, each followed by that of its flexible body or node"),
    Section("implicit", "ws", "of implicit methods: head | what springs add to the inertia of each speed | q^ | v^", None,
            "WS_IMPLICIT", aligned=True),
)

# ---- plan: the header ---------------------------------------------------------------------------------------------------
def _starts_and_counts() -> list[Field]:
    """Entries of the header for the sections of all arrays."""
    starts = [Field(each.start, f"start of '{each.name}' in {each.table}") for each in _SECTIONS if each.start]
    return starts + [Field(each.count, f"number of records of '{each.name}'") for each in _SECTIONS if each.count]


HEADER = Record(
    "header", "plan", "sizes, and starts of sections",
    Field("N_HINGES", "hinges without the ground"),
    Field("NQ", "coordinates q"),
    Field("NV", "speeds v"),
    Field("N_X", "length of x: see compile.layout"),
    Field("N_LAW_STATES", "entries of x after the orbit: tanks, and those that exist only in runs"),
    Field("N_U", "length of u: see compile.layout"),
    Field("IN_ORBIT", "central gravity: position and velocity of the mass center are in x", codes=FLAG),
    Field("HAS_LOADS", "some body has a slot for applied wrenches", codes=FLAG),
    Field("N_STUCK", "coordinates held by friction now"),
    Field("N_LOADED", "frictions that depend on the load of the joint"),
    Field("N_CONSTANTS", "constants of u: N_U, or 0 if all are zero"),
    Field("WS_MASS", "start in ws of the numbers of a method: mass matrix, or momentum cloud"),
    Field("WS_SIZE", "length of ws up to there"),
    Field("N_MULTIPLIERS", "multipliers of loops, padded"),
    Field("N_FRONTS", "length of all fronts, and with couplings of the gains after them: what is cleared"),
    Field("CLOUD_BASE", "hinge of a floating base", to="hinge"),
    *_starts_and_counts(),
    written="compile.assemble", read="all sweeps")

SECTIONS = (Section("header", "plan", HEADER.meaning, HEADER), *_SECTIONS)
RECORDS = tuple(each for each in list(globals().values()) if isinstance(each, Record))
