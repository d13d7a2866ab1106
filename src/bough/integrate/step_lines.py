"""What `bough check` says of steps: how fast a model is at its start, and how long they may be."""
from bough.integrate.integration import Integration
from bough.integrate.methods import FIXED
from bough.integrate.spectrum import fastest_of, longest_step, without_local
from bough.integrate.step_safety import LEADING, bounces, check_step
from bough.model import Model


def step_lines(model: Model) -> list[tuple[str, str]]:
    """Label and text, for `bough check`: how fast a model is at its start, how long steps may be, what its settings ask for."""
    settings = model.system.settings
    given = settings.method if settings is not None and settings.method in FIXED else "rk4"
    hold = (settings and settings.hold) or ()
    run = Integration(model, method=given, dt=settings.dt if settings is not None and settings.dt else 1e-3, hold=hold).runs[0]
    check = check_step(run)
    found = [("steps", str(check))]
    if not run.implicit and check.fastest.rate:
        rest = fastest_of(run, pars=without_local(model.tables, run.pars))
        limit = longest_step(FIXED["imex2"](), rest.values[:LEADING])
        rate = f"as fast as {rest}" if rest.rate else "at rest"
        found.append(("", f"without springs, dampers and modes of its own {rate}; imex2 is stable up to "
                          + (f"{limit:.3g} s" if limit < 1e6 else "any step")))
    found += [("", str(each)) for each in bounces(run, run.x[0])]
    if settings is not None and settings.dt and settings.method in FIXED and (text := check.warning(settings.dt)):
        found.append(("warning", text))
    return found
