"""The same flexible bodies in Exudyn: floating frames with reduced modes (ObjectFFRFreducedOrder), joined by revolute constraints.

Exudyn's coordinates are redundant: each body has the place and the attitude of its frame F and its modal coordinates, and
joints are constraints with multipliers. A reduced body is a mesh of points that only translate, with the mode shapes as columns:

    mass        our mass points, as a diagonal mass matrix; Exudyn forms its own integrals of them. Or a mesh of solid elements,
                of which Exudyn computes the modes too
    nodes       MarkerSuperElementRigid fits a rigid motion to some points of the mesh, as our attachments do. A node of ours
                becomes three massless points that move with it, by phi + psi x p: the fit gives its phi and psi back
    gravity     Exudyn's own load (LoadMassProportional) pulls at the modes, but turns the body as if it were undeformed.
                "exact" is one force at the deformed mass center: a marker on all points, weighted by their masses
    stiffening  Exudyn has none: give bodies with geometric_stiffness=False

A node turns by exp(theta~), theta = psi eta, and so by T(-theta) psi eta' in the axes of F, which is what we have. To the forces of
Exudyn's joints it turns by psi eta' as they are set here (rotationsExponentialMap=1), and by default by T(theta) psi eta', whose
axes are the node's, not F's. All are the same where theta keeps its direction, as in a plane, or is zero. In space Exudyn errs by
theta x theta'/2, by default by theta x theta'. Its constraints on velocities (TrapezoidalIndex2) err by theta x omega besides: they
take the rotation of F in the node's axes. In space, use GeneralizedAlpha, which has constraints on positions.
"""
import sys
import time
from contextlib import redirect_stdout
from io import StringIO
from types import SimpleNamespace

import numpy as np
from scipy.sparse import csr_matrix, diags
from scipy.spatial.transform import Rotation

sys.exudynFast = getattr(sys, "exudynFast", True)               # the build without range checks, if exudyn is first imported here
with redirect_stdout(StringIO()):
    import exudyn as exu
    import exudyn.itemInterface as items
    from exudyn.FEM import FEMinterface, ObjectFFRFreducedOrderInterface

NOW, START = exu.ConfigurationType.Current, exu.ConfigurationType.Initial
OUT, METHOD, LINEAR = exu.OutputVariableType, exu.DynamicSolverType, exu.LinearSolverType
TRIANGLE = np.array([[0.0, 1.0, 0.0], [0.0, -0.5, 0.75**0.5], [0.0, -0.5, -(0.75**0.5)]])


def expressible(system, meshes=()):
    """Revolute joints on a fixed base, at nodes of flexible bodies; mass in points that only translate; no stiffening."""
    def fits(body):
        flexible = body.flexible
        return (flexible is not None and flexible.geometric is None and flexible.variant == "full"
                and (body.name in meshes or only_translate(flexible.points))
                and body.joint.kind == "revolute" and (body.parent is None or not np.any(body.at)))
    return all(fits(body) for body in system.bodies.values())


class Exudyn:
    """A system in Exudyn.

    meshes     {body: finite-element model}: bodies to be made of their solid elements, with cantilever modes of Exudyn's own
    joints     "constraint" (multipliers); "spring": stiff springs, for explicit solvers, which want ordinary equations
    gravity    "exact", or "own": Exudyn's load

    Attitudes have three coordinates, of its Lie group.
    """

    def __init__(self, system, *, meshes=None, joints="constraint", gravity="exact"):
        if not expressible(system, meshes or ()):
            raise ValueError(f"system '{system.name}': Exudyn has no such bodies or joints; see bough.peers.exudyn.expressible")
        self.system, self.model, self.solver = system, system.compile(), None
        self.joints = joints
        exu.config.printToConsole = False
        self.container = exu.SystemContainer()
        self.mbs = self.container.AddSystem()
        self.ground = self.mbs.AddObject(items.ObjectGround())
        self.bodies = {name: self.add_body(body, (meshes or {}).get(name), gravity) for name, body in system.bodies.items()}
        self.hinges = {name: self.add_joint(body) for name, body in system.bodies.items()}
        self.measure()
        self.mbs.Assemble()

    def measure(self):
        """Add sensors: none."""

    # ---- bodies and joints -------------------------------------------------------------------------------------------
    def add_body(self, body, mesh, gravity):
        flexible, g = body.flexible, np.asarray(self.system.gravity, float)
        fem, numbers = mesh_of_points(flexible) if mesh is None else mesh_of_elements(mesh, flexible.n_modes)
        reduced = ObjectFFRFreducedOrderInterface(fem, rigidBodyNodeType=exu.NodeType.RotationRotationVector)
        if mesh is None:
            reduced.stiffnessMatrixReduced, turn = flexible.K.copy(), np.eye(flexible.n_modes)
        else:
            turn = fem.modeBasis["matrix"].T @ (mesh.mass @ flexible.outline.phi.reshape(mesh.n_dofs, -1))    # Phi^T M (our Phi)
        made = reduced.AddObjectFFRFreducedOrder(self.mbs, gravity=list(g) if gravity == "own" else [0.0, 0.0, 0.0], name=body.name)
        result = SimpleNamespace(object=made["oFFRFreducedOrder"], frame=made["nRigidBody"], modes=made["nGenericODE2"],
                                 numbers=numbers, turn=turn)
        if flexible.D.any():
            damping = exu.MatrixContainer()
            damping.SetWithDenseMatrix(turn @ flexible.D @ turn.T, useDenseMatrix=False)
            self.mbs.SetObjectParameter(result.object, "dampingMatrixReduced", damping)
        if gravity == "exact" and g.any():
            self.add_weight(result.object, np.asarray(fem.massMatrix.sum(axis=1)).ravel()[::3], g)
        return result

    def add_weight(self, body, mass, g):
        """Gravity as a force at the deformed mass center."""
        heavy = np.flatnonzero(mass)
        marker = self.mbs.AddMarker(items.MarkerSuperElementPosition(
            bodyNumber=body, meshNodeNumbers=heavy.tolist(), weightingFactors=list(mass[heavy]/mass.sum())))
        self.mbs.AddLoad(items.LoadForceVector(markerNumber=marker, loadVector=list(mass.sum()*g)))

    def marker(self, name, node, turn=None):
        """A frame at a node of a body, turned by a matrix; without a node, at F."""
        made, place = self.bodies[name], homogeneous(np.eye(3) if turn is None else turn)
        if node is None:
            return self.mbs.AddMarker(items.MarkerNodeRigid(nodeNumber=made.frame, localHT=place))
        numbers = made.numbers[node]
        return self.mbs.AddMarker(items.MarkerSuperElementRigid(
            bodyNumber=made.object, meshNodeNumbers=numbers, weightingFactors=[1/len(numbers)]*len(numbers), localHT=place,
            useAlternativeApproach=True, rotationsExponentialMap=1))

    def add_joint(self, body):
        """Exudyn's revolute joint turns about z: its frames are turned so that z is the axis."""
        upright = Rotation.align_vectors([body.joint.rotations[0]], [[0.0, 0.0, 1.0]])[0].as_matrix()
        turn = Rotation.from_quat(body.orient).as_matrix() @ upright
        if body.parent is None:
            inner = self.mbs.AddMarker(items.MarkerBodyRigid(bodyNumber=self.ground, localHT=homogeneous(turn, body.at)))
        else:
            inner = self.marker(body.parent, body.node, turn)
        markers = [inner, self.marker(body.name, moving_inboard(body.flexible), upright)]
        if self.joints == "constraint":
            return self.mbs.AddObject(items.ObjectJointRevoluteZ(markerNumbers=markers))
        stiffness = 1e6*np.diag([1.0, 1.0, 1.0, 1.0, 1.0, 0.0])
        return self.mbs.AddObject(items.ObjectConnectorRigidBodySpringDamper(markerNumbers=markers, stiffness=stiffness))

    # ---- states ------------------------------------------------------------------------------------------------------
    def coordinates(self, q, v):
        """Exudyn's coordinates and their rates in a state of ours."""
        frames, size = self.model.bodies(q, v).frames, self.mbs.systemData.ODE2Size()
        x, rate = np.zeros(size), np.zeros(size)
        for k, (name, made) in enumerate(self.bodies.items()):
            C, at, (eta, etadot) = frames.attitude[0, k], self.rows(made.frame), self.modal(name, q, v)
            x[at] = np.r_[frames.position[0, k], Rotation.from_matrix(C).as_rotvec()]
            rate[at] = np.r_[frames.velocity[0, k], C.T @ frames.rate[0, k]]
            x[self.rows(made.modes)], rate[self.rows(made.modes)] = made.turn @ eta, made.turn @ etadot
        return x, rate

    def modal(self, name, q, v):
        """A body's part of our modal coordinates and speeds."""
        body, (at_q, at_v) = self.system.bodies[name], self.model.places[name]
        return np.asarray(q)[at_q + 1:at_q + 1 + body.n_modes], np.asarray(v)[at_v + 1:at_v + 1 + body.n_modes]

    def rows(self, node):
        return np.array(self.mbs.systemData.GetNodeLTGODE2(node), dtype=int)

    def put(self, x, rate, when=NOW):
        self.mbs.systemData.SetODE2Coordinates(x, when)
        self.mbs.systemData.SetODE2Coordinates_t(rate, when)

    # ---- accelerations -----------------------------------------------------------------------------------------------
    def forward_dynamics(self, q, v):
        """Our v' from Exudyn's M, f and J: M a + J^T l = f, J a = -J' v. For constraints."""
        solver, (x, rate) = self.open_solver(), self.coordinates(q, v)
        J, turning = self.jacobian(x), self.turning(x, rate)
        self.put(x, rate)
        solver.ComputeMassMatrix(self.mbs)
        solver.ComputeODE2RHS(self.mbs)
        M, f = np.array(solver.GetSystemMassMatrix()), np.array(solver.GetSystemResidual())[:len(x)]
        a = np.linalg.solve(np.block([[M, J.T], [J, np.zeros((len(J), len(J)))]]), np.concatenate([f, -turning]))[:len(x)]
        result = []
        for name, body in self.system.bodies.items():
            outer = self.turning_of_node(name, moving_inboard(body.flexible), a, rate)
            inner = np.zeros(3) if body.parent is None else self.turning_of_node(body.parent, body.node, a, rate)
            theta = self.node_rotation(name, moving_inboard(body.flexible)) @ x[self.rows(self.bodies[name].modes)]
            axis = self.attitude(name) @ Rotation.from_rotvec(theta).apply(body.joint.rotations[0])
            result += [axis @ (outer - inner), *(self.bodies[name].turn.T @ a[self.rows(self.bodies[name].modes)])]
        return np.array(result)

    def turning_of_node(self, name, node, a, rate):
        """Angular acceleration of a node, world axes: C (omega' + psi eta'' + omega x psi eta')."""
        made, C = self.bodies[name], self.attitude(name)
        turn, modes = self.rows(made.frame)[3:], self.rows(made.modes)
        psi = self.node_rotation(name, node)
        return C @ (a[turn] + psi @ a[modes] + np.cross(rate[turn], psi @ rate[modes]))

    def node_rotation(self, name, node):
        """psi of a node in Exudyn's modal coordinates (3, n)."""
        flexible = self.system.bodies[name].flexible
        psi = np.zeros((3, flexible.n_modes)) if node is None else flexible.nodes.psi[flexible.nodes.index(node)]
        return psi @ self.bodies[name].turn.T

    def attitude(self, name):
        return np.array(self.mbs.GetNodeOutput(self.bodies[name].frame, OUT.RotationMatrix, NOW)).reshape(3, 3)

    def open_solver(self):
        exu.experimental.markerSuperElementRigidTexpSO3 = 0                         # global in Exudyn: for all systems
        if self.solver is None:
            self.solver, settings = exu.MainSolverImplicitSecondOrder(), self.settings()
            settings.timeIntegration.generalizedAlpha.computeInitialAccelerations = False
            self.solver.InitializeSolver(self.mbs, settings)
        return self.solver

    def jacobian(self, x):
        """J: the multipliers act by J^T l."""
        solver, n, size = self.open_solver(), len(x), self.mbs.systemData.SystemSize()
        self.put(x, np.zeros(n))
        solver.SetSystemJacobian(np.zeros((size, size)))
        solver.ComputeJacobianAE(self.mbs)
        return np.array(solver.GetSystemJacobian())[n:, :n]

    def turning(self, x, rate, h=1e-4):
        """J' v: the change of J v as the coordinates move on at constant rates, by differences of fourth order."""
        found = {k: self.jacobian(self.moved(x, k*h*rate)) @ rate for k in (-2, -1, 1, 2)}
        return (8*(found[1] - found[-1]) - (found[2] - found[-2]))/(12*h)

    def moved(self, x, step):
        """Coordinates after a step; attitudes turn by a rotation vector in the body's axes."""
        result = x + step
        for made in self.bodies.values():
            turn = self.rows(made.frame)[3:]
            result[turn] = (Rotation.from_rotvec(x[turn])*Rotation.from_rotvec(step[turn])).as_rotvec()
        return result

    @staticmethod
    def settings(until=1.0, steps=1):
        """Equal steps; nothing is written, stored or printed; one thread."""
        settings = exu.SimulationSettings()
        settings.solution.file.write = settings.solution.sensors.active = False
        settings.solution.solverInformationFileName = ""
        settings.timeIntegration.verboseMode, settings.parallel.numberOfThreads = 0, 1
        settings.timeIntegration.endTime, settings.timeIntegration.numberOfSteps = until, steps
        settings.timeIntegration.adaptiveStep = settings.timeIntegration.automaticStepSize = False
        return settings


# ---- meshes ------------------------------------------------------------------------------------------------------------
def mesh_of_points(flexible):
    """FEMinterface of a body's mass points, and three points for each of its nodes: their numbers."""
    position, mass, phi, numbers = [flexible.points.position], [flexible.points.mass], [flexible.points.phi], {}
    arm = 0.05*np.ptp(flexible.points.position, axis=0).max()*TRIANGLE
    for j, name in enumerate(flexible.nodes.names):
        start = sum(map(len, mass))
        numbers[name] = list(range(start, start + len(arm)))
        position.append(flexible.nodes.position[j] + arm)
        mass.append(np.zeros(len(arm)))
        phi.append(flexible.nodes.phi[j] + np.cross(flexible.nodes.psi[j][None], arm[:, :, None], axis=1))
    position, mass, phi = (np.concatenate(parts) for parts in (position, mass, phi))
    fem = FEMinterface()
    fem.nodes = {"Position": position}
    fem.massMatrix, fem.stiffnessMatrix = csr_matrix(diags(np.repeat(mass, 3))), csr_matrix((position.size, position.size))
    fem.modeBasis = {"matrix": phi.reshape(position.size, -1), "type": "NormalModes"}
    return fem, numbers


def mesh_of_elements(model, modes):
    """FEMinterface of solid elements with Exudyn's own modes, the inboard nodes fixed; and the nodes of each attachment."""
    fem = FEMinterface()
    fem.nodes = {"Position": model.position}
    fem.massMatrix, fem.stiffnessMatrix = csr_matrix(model.mass), csr_matrix(model.stiffness)
    fem.ComputeEigenModesWithBoundaryNodes(list(model.find(model.inboard).nodes), modes, useSparseSolver=False)
    return fem, {each.name: list(each.nodes) for each in model.attachments}


def only_translate(points):
    """Whether the mass sits in points without offset and inertia of their own."""
    return points is not None and not (points.offset.any() or points.inertia.any())


def moving_inboard(flexible):
    """The inboard node, if the modes move it; None if it is F."""
    j = flexible.nodes.index(flexible.inboard)
    moves = flexible.nodes.phi[j].any() or flexible.nodes.psi[j].any() or flexible.nodes.position[j].any()
    return flexible.inboard if moves else None


def homogeneous(turn, at=(0.0, 0.0, 0.0)):
    place = np.eye(4)
    place[:3, :3], place[:3, 3] = turn, at
    return place


# ---- speed -------------------------------------------------------------------------------------------------------------
class ExudynArm:
    """How long Exudyn takes for an arm of flexible links, in microseconds.

    Its explicit solvers refuse joints (constraints), so that one evaluation of the right-hand side has a stiff spring in five
    directions for each joint: mass matrices of all bodies, their factors, forces of bodies and springs. That is the least that
    Exudyn can do for this arm; a real run would take tiny steps. The time is that of RK44, four evaluations a step, with the
    fastest of its linear solvers, Lie-group rotations, its own gravity, three points a joint, one thread, no output.
    """

    SOLVERS = ((LINEAR.EXUdense, False), (LINEAR.EigenDense, False), (LINEAR.EigenSparse, True))    # True: keeps the pattern

    def __init__(self, system):
        self.explicit, self.implicit = (Exudyn(system, joints=joints, gravity="own") for joints in ("spring", "constraint"))
        model, rng = self.explicit.model, np.random.default_rng(1)
        q, v = np.zeros(model.nq), np.zeros(model.nv)
        for name, (at_q, at_v) in model.places.items():
            squares = np.diag(system.bodies[name].flexible.K)
            q[at_q], v[at_v] = rng.uniform(-1.0, 1.0), rng.normal()
            q[at_q + 1:at_q + 1 + len(squares)] = rng.normal(size=len(squares))/squares             # as 1 m/s^2 bends it
        for engine in (self.explicit, self.implicit):
            engine.put(*engine.coordinates(q, v), START)

    def time_per_evaluation(self, rounds=7):
        """Time of the right-hand side with the fastest linear solver."""
        return min(self.time_per_step(self.explicit, METHOD.RK44, solver, 1e-8, rounds)/4 for solver in self.SOLVERS)

    def time_per_implicit_step(self, dt=1e-3, rounds=7):
        """Time of the generalized-alpha method with joints as constraints, modified Newton, and Exudyn's defaults otherwise."""
        return min(self.time_per_step(self.implicit, METHOD.GeneralizedAlpha, solver, dt, rounds) for solver in self.SOLVERS)

    @staticmethod
    def time_per_step(engine, method, solver, dt, rounds):
        """The slope between a short run and a long one: what the start of a run takes does not count."""
        def run(steps):
            settings = engine.settings(steps*dt, steps)
            settings.linearSolver.solverType, settings.linearSolver.reuseAnalyzedPattern = solver
            settings.timeIntegration.explicit.computeEndOfStepAccelerations = False
            start = time.perf_counter()
            engine.mbs.SolveDynamic(settings, solverType=method)
            return time.perf_counter() - start

        run(2)
        first, second = 20, max(60, min(1020, int(20 + 0.05*20/run(20))))
        short, long = (min(run(steps) for _ in range(rounds)) for steps in (first, second))
        return 1e6*(long - short)/(second - first)
