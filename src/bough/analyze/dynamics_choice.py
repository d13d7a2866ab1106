"""Which dynamics "auto" means: the momentum cloud where most of the motion is given, else O(N) or dense by a rule of size."""
from bough.compile.cloud_choice import mostly_given
from bough.compile.compiled_model import CompiledModel
from bough.errors import StateError, nearest

DYNAMICS = ("auto", "order-n", "dense", "cloud")
DENSE_TREE, DENSE_LOOPS = 4, 10         # speeds of flexible systems, open and with loops, up to which the mass matrix is cheaper


def resolve_dynamics(model: CompiledModel, dynamics: str) -> str:
    """What "auto" means for what is held now, or what is asked for, if it applies."""
    if dynamics not in DYNAMICS:
        raise StateError(f"dynamics is '{dynamics}'{nearest(dynamics, DYNAMICS)}; one of {', '.join(DYNAMICS)}")
    if dynamics == "cloud" and model.no_cloud is not None:
        raise StateError(f"dynamics 'cloud' does not apply to system '{model.system.name}': {model.no_cloud}; use 'auto'")
    if dynamics != "auto":
        return dynamics
    if takes_cloud(model):
        return "cloud"
    return "dense" if takes_dense(model) else "order-n"


def takes_cloud(model: CompiledModel) -> bool:
    """Whether the cloud applies, and so much of the motion is given that it is cheaper."""
    return bool(model.holds) and mostly_given(model.tables) and model.no_cloud is None


def takes_dense(model: CompiledModel) -> bool:
    """Whether the mass matrix is cheaper than O(N): of flexible systems with few speeds only (docs/theory/cost.md).  It does not
    depend on what is held: an event changes no method."""
    if not model.tables.parts.modal:
        return False
    return model.nv <= (DENSE_LOOPS if model.system.loops else DENSE_TREE)


def reason(model: CompiledModel) -> str:
    """What "auto" means, and why."""
    if takes_cloud(model):
        return f"cloud: all but {model.free.sum()} speed{'s'*(int(model.free.sum()) != 1)} are given"
    if not model.tables.parts.modal:
        return "order-n: no body is flexible"
    limit, kind = (DENSE_LOOPS, "with loops") if model.system.loops else (DENSE_TREE, "without loops")
    more = "at most" if takes_dense(model) else "more than"
    return f"{resolve_dynamics(model, 'auto')}: {model.nv} speeds, {more} {limit} of a flexible system {kind}"
