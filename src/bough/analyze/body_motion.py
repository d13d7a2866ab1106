"""How places move: bodies, nodes of flexible ones, points on them, and frames; and their Jacobians."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bough import sweeps
from bough.compile.batch import Batch, Place, check_node, finite, rows
from bough.compile.compiled_model import CompiledModel
from bough.compile.kernel_calls import Prepared, PreparedPlaces, group_parameters, linked, run, workspace
from bough.compile.layout import Floats
from bough.compile.loop_tables import frame_attachment
from bough.compile.partition import Partition
from bough.compile.tables import Tables
from bough.describe import Frame
from bough.describe.parts.element import Anchor
from bough.kernels.lanes import ONE, Lanes
from bough.sweeps import fields as f, records as r

if TYPE_CHECKING:
    pass


class Motion(NamedTuple):
    """Of places in a batch of states, in world axes."""
    position: Floats        # (batch, places, 3)
    attitude: Floats        # (batch, places, 3, 3)  their axes to world axes
    velocity: Floats        # (batch, places, 6)     [angular, linear]
    acceleration: Floats    # (batch, places, 6)


@dataclass(frozen=True)
class Route:
    """Hinges to follow from the root to some places, and the places on them, as `sweeps.kinematics` takes them."""
    hinges: NDArray[np.int64]
    spots: Floats           # (places, SPOT_ROW)
    origins: Floats         # (places, 3): the places themselves, without an offset point
    aimed: list[Any] = field(default_factory=list)

    def aim(self, point: ArrayLike) -> "Route":
        """Set the point of the places to evaluate, in their axes."""
        aimed = point.tolist() if isinstance(point, np.ndarray) else list(point) if isinstance(point, list | tuple) else None
        if aimed is None or aimed != self.aimed:
            turn = self.spots[:, :f.SPOT_AT].reshape(-1, 3, 3)
            self.spots[:, f.SPOT_AT:] = self.origins + turn @ rows("point", point, 3, 1, "xyz")[0]
            self.aimed[:] = aimed or []
        return self


def route_to(tree: Partition, attachments: Sequence[Anchor], every: bool = False) -> Route:
    """The route to some places, over the hinges inboard of them only, or over all."""
    needed = set(range(1, len(tree.hinges))) if every else set[int]()
    for each in attachments:
        k = each.hinge
        while k and k not in needed:
            needed.add(k)
            k = tree.hinges[k].inner
    turns, at = np.array([each.turn for each in attachments]), np.array([each.at[0] for each in attachments])
    head = r.ROUTE.row(hinges=len(needed), places=len(attachments))
    return Route(np.array([*head, *sorted(needed), *(each.hinge for each in attachments)]), r.SPOT.pack(turn=turns, at=at), at)


def route_of(model: CompiledModel, tables: Tables, places: Sequence[Place], point: ArrayLike | None = None) -> Route:
    """The route to places given by name, or to a point of them, on tables that keep the welds."""
    attachments, key = [attachment_of(model, tables.tree, place) for place in places], tuple(places)
    if key not in tables.routes:
        tables.routes[key] = route_to(tables.tree, attachments)
    route: Route = tables.routes[key]
    return route if point is None else replace(route, spots=route.spots.copy(), aimed=[]).aim(point)


def attachment_of(model: CompiledModel, tree: Partition, place: Place) -> Anchor:
    """The hinge that carries a body, a node or a frame, and the place on it."""
    if isinstance(place, Frame):
        if place.body != "world":
            attachment_of(model, tree, (place.body, place.node))
        return frame_attachment(tree, place)
    body, node = place if isinstance(place, tuple) and len(place) == 2 else (place, None)
    model.body_index(body)
    if node is None:
        return tree.attachments[body]
    check_node(model.system, body, node)
    return tree.attachment(body, node)


def motion_call(model: CompiledModel, batch: Batch, a: Floats, route: Route, elements: int = 0
                ) -> tuple[partial[Any], Motion, Floats, Floats]:
    """The kernel for a route; views of its output, the motion of the places and the loads of force elements; and the output."""
    size = r.FRAMES.size(len(route.spots))
    out = np.empty((batch.n, size + f.ELEMENT_OUT*elements))
    call = model.bound(sweeps.calls.kinematics, batch, batch.x, batch.u, a, route.hinges, route.spots, out,
                       extra=traced(batch.tables) + size)
    return call, *motion_in(out, len(route.spots), elements), out


def motion_in(out: Floats, n: int, elements: int) -> tuple[Motion, Floats]:
    """Views of the rows that the kinematics fills: the motion of n places, and the loads of force elements."""
    position, attitude, velocity, acceleration = (out[:, at:at + length].reshape(len(out), n, -1)
                                                  for at, length in r.FRAMES.places(n).values())
    return (Motion(position, attitude.reshape(len(out), n, 3, 3), velocity, acceleration),
            out[:, r.FRAMES.size(n):].reshape(len(out), elements, f.ELEMENT_OUT))


def place_call(model: CompiledModel, kernel: Any, lanes: Lanes, route: Route, *more: Floats) -> partial[Any]:
    """A kernel of q, or of q and v, and output arrays: `poses` of the places of a route, or the `jacobian` or `jacobian_rate` of
    its only place."""
    tables = model.tables_for(keep_welds=True)
    ws = workspace(tables, lanes, traced(tables) + max(r.FRAMES.size(len(route.spots)), 6*model.nv))
    return partial(kernel, *linked(tables, group_parameters(tables.pars, lanes), route.hinges, route.spots, ws), *more)


def traced(tables: Tables) -> int:
    """Numbers of the workspace that following a route takes."""
    return f.TRACED_ROW*len(tables.tree.hinges)


def motion_of_frames(model: CompiledModel, batch: Batch, a: Floats, frames: Sequence[Frame]) -> Motion:
    """How frames move, with accelerations a, by the tables of the batch: these must have their nodes (`keep_welds` has all)."""
    return motion_along(model, batch, a, route_to_frames(batch.tables, frames))


def route_to_frames(tables: Tables, frames: Sequence[Frame], every: bool = False) -> Route:
    """The route to frames, over the hinges inboard of them only, or over all."""
    key = ("frames", every, *frames)
    if key not in tables.routes:
        tables.routes[key] = route_to(tables.tree, [frame_attachment(tables.tree, frame) for frame in frames], every)
    route: Route = tables.routes[key]
    return route


def motion_along(model: CompiledModel, batch: Batch, a: Floats, route: Route) -> Motion:
    """How the places of a route move."""
    call, found, _, out = motion_call(model, batch, a, route)
    run(call)
    finite(out, "positions or motions", batch)
    return found


def poses(model: CompiledModel, batch: Batch, places: Sequence[Place], point: ArrayLike | None = None) -> tuple[Floats, Floats]:
    """Positions (places, 3) and attitudes (places, 3, 3), behind the batch axis if there is one."""
    q, lead = np.ascontiguousarray(batch.unbatched(batch.q)), () if batch.single else (batch.n,)
    answers = np.empty((*lead, len(places), 3)), np.empty((*lead, len(places), 3, 3))
    route = route_of(model, batch.tables, places, point)
    run(place_call(model, sweeps.calls.poses, batch.lanes, route, q, *answers))
    return finite(answers[0], "positions", batch), finite(answers[1], "attitudes", batch)


def jacobian_of(model: CompiledModel, batch: Batch, place: Place, point: ArrayLike | None = None, *, rate: bool = False) -> Floats:
    """(6, nv), behind a batch axis if there is one: [angular, linear] velocity of a place, or of a point of it, for each speed; or
    the rate of that."""
    kernel, given = (sweeps.calls.jacobian_rate, (batch.q, batch.v)) if rate else (sweeps.calls.jacobian, (batch.q,))
    J, state = np.empty((batch.n, 6, model.nv)[batch.single:]), [np.ascontiguousarray(batch.unbatched(part)) for part in given]
    run(place_call(model, kernel, batch.lanes, route_of(model, batch.tables, [place], point), *state, J))
    return finite(J, "entries of the Jacobian", batch)


# ---- prepared, for one thread ----------------------------------------------------------------------------------------------
def prepare_poses(model: CompiledModel, places: Sequence[Place] | None, with_point: bool) -> PreparedPlaces:
    """From q, and a point, if one comes: positions and attitudes of places, or of all bodies."""
    batch, route = at_place(model, model.names.bodies if places is None else places, with_point)
    q, n = batch.q[0], len(route.spots)
    answers = np.empty((n, 3)), np.empty((n, 3, 3))
    return PreparedPlaces(place_call(model, sweeps.calls.poses, ONE, route), (q,), *answers, aim=route.aim)


def prepare_jacobian(model: CompiledModel, place: Place, with_point: bool, rate: bool = False) -> PreparedPlaces:
    """From q, and a point, if one comes: the Jacobian of a place; or, from q and v, its rate."""
    (batch, route), J = at_place(model, [place], with_point), np.empty((6, model.nv))
    kernel, state = (sweeps.calls.jacobian_rate, (batch.q[0], batch.v[0])) if rate else (sweeps.calls.jacobian, (batch.q[0],))
    return PreparedPlaces(place_call(model, kernel, ONE, route), state, J, aim=route.aim)


def prepare_motion(model: CompiledModel, what: str, place: Place, with_point: bool) -> Prepared:
    """From q, v and v', and a point, if one comes: "velocity" or "acceleration" of a place."""
    (batch, route), a = at_place(model, [place], with_point), np.zeros((1, model.nv))
    call, found, *_ = motion_call(model, batch, a, route)
    return Prepared(call, getattr(found, what)[0, 0], batch.q[0], batch.v[0], a[0], aim=route.aim)


def at_place(model: CompiledModel, places: Sequence[Place], with_point: bool) -> tuple[Batch, Route]:
    """Rows for a state, and the route to places; with a point, a route whose point can be changed."""
    batch = model.batch(model.q0, keep_welds=True)
    return batch, route_of(model, batch.tables, places, np.zeros(3) if with_point else None)
