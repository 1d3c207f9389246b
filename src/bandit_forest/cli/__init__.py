"""The command line: it parses, calls and prints."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from bandit_forest import __version__
from bandit_forest.errors import BanditForestError, MissingExtraError

if TYPE_CHECKING:
    import typer

__all__ = ["main"]


def main() -> None:
    """Run the command `bandit-forest`; what goes wrong on purpose is told in one line."""
    try:
        _make_app()()
    except BanditForestError as error:
        sys.exit(f"bandit-forest: {error}")


def _make_app() -> "typer.Typer":
    """Make the application; typer is an extra, so that the package is whole without it."""
    try:
        import typer
    except ImportError as error:
        cure = "pip install 'bandit-forest[cli,plot]'"
        raise MissingExtraError(f"The command line needs {error.name}: {cure}.") from error

    app = typer.Typer(
        help="Random forests that learn which action to take in which context.",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
    )

    def print_version(wanted: bool) -> None:
        if wanted:
            typer.echo(f"bandit-forest {__version__}")
            raise typer.Exit

    @app.callback()
    def options(
        version: Annotated[
            bool, typer.Option("--version", callback=print_version, is_eager=True, help="Print the version.")
        ] = False,
    ) -> None:
        pass

    @app.command()
    def demo(
        events: Annotated[int, typer.Option(min=1, help="Number of events that each policy plays.")] = 300_000,
        seed: Annotated[int, typer.Option(min=0, help="Seed of the stream and of the policies.")] = 0,
        figure: Annotated[Path, typer.Option(help="File of the figure.")] = Path("out/demo-regret.png"),
    ) -> None:
        """Play a synthetic world with a forest, a tree and two policies without contexts."""
        from bandit_forest.cli.demo import run_demo

        run_demo(n_events=events, seed=seed, figure=figure)

    from bandit_forest.cli import service_commands
    from bandit_forest.evaluation import commands as evaluation_commands
    from bandit_forest.experiments import commands as experiment_commands

    evaluation_commands.register(app)
    experiment_commands.register(app)
    service_commands.register(app)
    return app
