"""The command line. A command imports what it needs when it is called, so that `bough --help` is instant."""

import gc
from collections.abc import Sequence

import typer

from bough import __version__
from bough.cli.bench_commands import bench_app
from bough.cli.campaign_commands import campaign
from bough.cli.flex_commands import flex_app
from bough.cli.linear_commands import bode, modes
from bough.cli.output import fail
from bough.cli.run_commands import run, view
from bough.cli.system_commands import check, convert, examples, fmu, schema, warmup
from bough.cli.verify_commands import audit, verify
from bough.errors import BoughError

app = typer.Typer(
    name="bough",
    help="Multibody dynamics in O(N): simulate trees of bodies described by a YAML file, a URDF file or a Python script.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    epilog="First steps: [bold]bough examples[/bold] lists systems to start from, [bold]bough examples spacecraft --copy[/bold] "
    "copies one here, [bold]bough check spacecraft.yaml[/bold] describes it, [bold]bough run spacecraft.yaml[/bold] simulates "
    "it. [bold]bough COMMAND --help[/bold] explains a command.",
)
app.add_typer(bench_app, name="bench")
app.add_typer(flex_app, name="flex")
for command in (run, view, audit, verify, campaign, check, modes, bode, convert, fmu, examples, schema, warmup):
    app.command()(command)


@app.command()
def version() -> None:
    """Print the version."""
    typer.echo(__version__)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line; errors that bough raises deliberately are printed without a traceback."""
    gc.set_threshold(100_000)                   # imports allocate many objects that stay: collecting garbage would take 0.3 s
    try:
        app(args=arguments)
    except BoughError as error:
        fail(str(error))
    except OSError as error:
        if error.filename is None:
            raise
        fail(f"{error.filename}: {error.strerror}; give another path")
