"""The commands of the service: begin a project, serve it, change its actions, and keep its data."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bandit_forest import archive
from bandit_forest.bandit import Bandit
from bandit_forest.bandit.pairs import PairBandit
from bandit_forest.errors import BanditForestError, InvalidArgumentError, MissingExtraError, refuse

if TYPE_CHECKING:
    from bandit_forest.client import Client
    from bandit_forest.service.config.project import Project

__all__ = ["register"]

ActionName = Annotated[str, typer.Argument(help="The name of the action.")]
ProjectFile = Annotated[Path, typer.Argument(help="The project file.")]
Address = Annotated[str | None, typer.Option(help="Address of the service; default: as in the project file.")]
_FILE = Path("bandit-forest.toml")


def register(app: typer.Typer) -> None:
    """Add the commands to the application."""
    for command in (init, serve, export, backup, verify, migrate):
        app.command()(command)
    changes = typer.Typer(help="List and change the actions of a running service.", no_args_is_help=True)
    changes.command(name="list")(list_actions)
    for change in (add, disable, enable, remove):
        changes.command()(change)
    app.add_typer(changes, name="actions")


def init(
    project: ProjectFile = _FILE,
    offered: Annotated[
        bool, typer.Option("--offered", help="A project whose events offer their own actions, with features.")
    ] = False,
    saved: Annotated[
        Path | None, typer.Option("--from", help="A saved Bandit or PairBandit; the project file fits it.")
    ] = None,
) -> None:
    """Write a commented example of a project file, or one that fits a saved bandit."""
    with _extra("service"):
        from bandit_forest.service.config.project_file import example_project
        from bandit_forest.service.config.project_for_bandit import project_for_bandit

    text = example_project(is_offered=offered) if saved is None else project_for_bandit(_load_bandit(saved))
    try:
        with project.open("x", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise InvalidArgumentError(f"'{project}' cannot be written: {error.strerror}.") from error
    begin = "" if saved is None else f" --from {saved}"
    typer.echo(f"Written: {project}. Serve it with: bandit-forest serve {project}{begin}")


def serve(
    project: ProjectFile = _FILE,
    host: Annotated[str | None, typer.Option(help="Address to listen on; default: as in the project file.")] = None,
    port: Annotated[int | None, typer.Option(min=0, max=65_535, help="Port to listen on; 0 takes a free port.")] = None,
    saved: Annotated[
        Path | None, typer.Option("--from", help="A saved Bandit or PairBandit with which a new storage folder begins.")
    ] = None,
) -> None:
    """Serve decisions over HTTP until stopped."""
    with _extra("service"):
        from msgspec.structs import replace

        from bandit_forest.service.http import server
        from bandit_forest.service.recovery.start import begin_from

    loaded = _load(project)
    given: dict[str, Any] = {name: value for name, value in (("host", host), ("port", port)) if value is not None}
    changed = replace(loaded, server=replace(loaded.server, **given))
    if saved is not None:
        begin_from(changed, saved)
    server.serve(changed, started=lambda address: typer.echo(f"'{loaded.name}' decides at {address}"))


def export(
    table: Annotated[Path, typer.Argument(help="The Parquet file to write; its name ends in .parquet.")],
    project: ProjectFile = _FILE,
) -> None:
    """Write the whole history as a Parquet file, one row per event."""
    if table.suffix.lower() != ".parquet":
        refuse("table", "bandit-forest export", "a file name that ends in .parquet, its only format", str(table))
    with _extra("service"):
        from bandit_forest.service.recovery.export import export_journal

    loaded, entries = _load(project), None
    if loaded.storage.is_shared:
        from bandit_forest.service.replica.export import read_events

        entries = read_events(loaded)
    typer.echo(f"Events written: {export_journal(loaded, table, entries)}")


def backup(
    folder: Annotated[Path, typer.Argument(help="An empty or new folder.")],
    project: ProjectFile = _FILE,
) -> None:
    """Copy journal and snapshot, also while the service runs."""
    with _extra("service"):
        from bandit_forest.service.recovery.backup import back_up

    loaded = _load(project)
    if loaded.storage.is_shared:
        from bandit_forest.service.replica.backup import back_up_database

        back_up_database(loaded, folder)
    else:
        back_up(loaded, folder)
    typer.echo(f"Copied to {folder}")


def verify(project: ProjectFile = _FILE) -> None:
    """Rebuild the forest from the whole journal, and compare it with the forest that a start would recover."""
    with _extra("service"):
        from bandit_forest.service.recovery.verify import verify as verify_folder

    loaded = _load(project)
    if loaded.storage.is_shared:
        from bandit_forest.service.replica.verify import verify_database

        typer.echo(verify_database(loaded))
    else:
        typer.echo(verify_folder(loaded))


def migrate(
    old: Annotated[Path, typer.Argument(help="The project file of the existing journal.")],
    new: Annotated[Path, typer.Argument(help="The project file with the new definition, and a new storage folder.")],
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Report only, and write nothing.")] = False,
) -> None:
    """Write the journal of a project again, with the definition of another project."""
    with _extra("service"):
        from bandit_forest.service.recovery.migrate import migrate as migrate_journal

    def tell(n_read: int, n_entries: int) -> None:
        typer.echo(f"{n_read} of {n_entries} entries", err=True)

    typer.echo(str(migrate_journal(_load(old), _load(new), dry_run=dry_run, progress=tell)))


def list_actions(project: ProjectFile = _FILE, address: Address = None) -> None:
    """List the actions with their states."""
    with _client(project, address) as client:
        listed = client.actions()
    for name, state in listed.items():
        typer.echo(f"{state:9} {name}")
    if not listed:
        typer.echo("The actions are offered by each event.", err=True)


def add(name: ActionName, project: ProjectFile = _FILE, address: Address = None) -> None:
    """Add an action."""
    with _client(project, address) as client:
        client.add_action(name)


def disable(name: ActionName, project: ProjectFile = _FILE, address: Address = None) -> None:
    """Make an action unavailable until it is enabled again."""
    with _client(project, address) as client:
        client.disable_action(name)


def enable(name: ActionName, project: ProjectFile = _FILE, address: Address = None) -> None:
    """Make a disabled action available again."""
    with _client(project, address) as client:
        client.enable_action(name)


def remove(name: ActionName, project: ProjectFile = _FILE, address: Address = None) -> None:
    """Make an action unavailable for ever; its name is never used again."""
    with _client(project, address) as client:
        client.remove_action(name)


@contextmanager
def _client(project: Path, address: str | None) -> Iterator[Client]:
    """Lend a client of a project's running service, with the first key for administration that is at hand."""
    with _extra("client"):
        import httpx

    from bandit_forest.client import Client, RefusedError

    loaded = _load(project)
    names = [key.removeprefix("env:") for key in loaded.keys.admin if key.startswith("env:")]
    key = next((key for name in names if (key := os.environ.get(name, "").strip())), None)
    host = f"[{loaded.server.host}]" if ":" in loaded.server.host else loaded.server.host
    asked = address or f"{host}:{loaded.server.port}"
    url = asked if "://" in asked else f"http://{asked}"
    try:
        with Client(url, key=key) as client:
            yield client
    except httpx.InvalidURL:
        refuse("address", "bandit-forest actions", "an address such as http://localhost:8420", asked)
    except httpx.TransportError as error:
        cure = f"start it with 'bandit-forest serve {project}'"
        raise BanditForestError(f"No service answers at {url} ({error}): {cure}.") from error
    except RefusedError as error:
        if error.code != "unauthorized" or key is not None:
            raise
        cure = (
            f"set it with 'export {names[0]}=...'" if names else f"name it by 'env:NAME' in [keys].admin of '{project}'"
        )
        raise BanditForestError(f"The service needs a key for administration: {cure}.") from error


def _load_bandit(file: Path) -> Bandit | PairBandit:
    kinds: dict[str | None, type[Bandit] | type[PairBandit]] = {"Bandit": Bandit, "PairBandit": PairBandit}
    try:
        kind = archive.read(file)[0].get("policy")
    except OSError as error:
        raise InvalidArgumentError(f"'{file}' cannot be read: {error.strerror}.") from error
    if kind not in kinds:
        raise InvalidArgumentError(f"'{file}' holds a {kind}, and a Bandit or a PairBandit is needed.")
    return kinds[kind].load(file)


def _load(project: Path) -> Project:
    with _extra("service"):
        from bandit_forest.service.config.project_file import load_project

    return load_project(project)


@contextmanager
def _extra(name: str) -> Iterator[None]:
    """Raise `MissingExtraError` with the cure when an import needs a package of an extra that is not installed."""
    try:
        yield
    except ImportError as error:
        raise MissingExtraError(f"The {name} needs {error.name}: pip install 'bandit-forest[{name}]'.") from error
