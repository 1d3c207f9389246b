"""The journal as a table: Parquet, one row per event, readable by pandas, Polars, DuckDB and others."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from bandit_forest.bandit.features.kinds import BooleanFeature, Feature, LabelsFeature, NumericFeature
from bandit_forest.errors import DamagedFileError, MissingExtraError
from bandit_forest.service.config.project import Project
from bandit_forest.service.journal.entries import DECIDE, EXPIRE, LEARN, REWARD, Entry
from bandit_forest.service.journal.files import read_entries
from bandit_forest.service.recovery.recover import journal_end

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["export_journal"]

_ROWS = 50_000  # of a group of the file: so many are in memory at a time


def export_journal(project: Project, path: str | os.PathLike[str]) -> int:
    """Write the history of a project as a Parquet file, whole or not at all; give the number of rows.

    Rows come in the order in which events ended (a reward, the end of the window, `learn`), then those that still wait.
    May be called while the service runs.

    Columns: `event_id`, `time` (of the decision), `state` ('waiting', 'rewarded', 'expired', 'learned'), `action`,
    `propensity`, `available_actions` (a list, null when all that were enabled were available), `reward`, `reward_time`,
    `forest_action`, `forest_propensity`, `forest_value` (shadow mode), and `context.NAME` for each field.

    Parameters
    ----------
    project
        Whose journal is exported.
    path
        Of the file to write.
    """
    folder = project.storage.folder
    journal_end(folder)
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError as error:
        cure = "pip install 'bandit-forest[service]'"
        raise MissingExtraError(f"The export needs {error.name}: {cure}.") from error
    target = Path(path)
    temporary = target.with_name(f".{target.name}.tmp")
    schema = _schema(project)
    n_rows = 0
    try:
        with pq.ParquetWriter(temporary, schema) as writer:
            for rows in _groups(_rows(read_entries(folder), project)):
                writer.write_table(pa.Table.from_pylist(rows, schema=schema))
                n_rows += len(rows)
        temporary.replace(target)
    except BaseException as error:
        with suppress(OSError):
            temporary.unlink()
        if isinstance(error, (ArithmeticError, LookupError, TypeError, ValueError)):
            raise DamagedFileError(f"The journal in '{folder}' cannot be exported: {error!r}.") from error
        raise
    return n_rows


def _schema(project: Project) -> pa.Schema:
    import pyarrow as pa

    time = pa.timestamp("us", tz="UTC")
    columns = [
        ("event_id", pa.string()),
        ("time", time),
        ("state", pa.string()),
        ("action", pa.string()),
        ("propensity", pa.float64()),
        ("available_actions", pa.list_(pa.string())),
        ("reward", pa.float64()),
        ("reward_time", time),
        ("forest_action", pa.string()),
        ("forest_propensity", pa.float64()),
        ("forest_value", pa.float64()),
    ]
    contexts = [(f"context.{name}", _type(field)) for name, field in project.context.items()]
    return pa.schema(columns + contexts)


def _type(field: Feature) -> pa.DataType:
    import pyarrow as pa

    if isinstance(field, NumericFeature):
        return pa.float64()
    if isinstance(field, LabelsFeature):
        return pa.list_(pa.string())
    return pa.bool_() if isinstance(field, BooleanFeature) else pa.string()


def _python_type(field: Feature) -> Callable[[Any], Any]:
    """Return what makes a value of the column's type; Arrow makes no number of a whole one beyond 2 to the 53."""
    if isinstance(field, NumericFeature):
        return float
    if isinstance(field, LabelsFeature):
        return list
    return bool if isinstance(field, BooleanFeature) else str


def _rows(entries: Iterator[Entry], project: Project) -> Iterator[dict[str, Any]]:
    """Bring decisions and their rewards together; what waits is in memory, as in the service."""
    waiting: dict[str | None, dict[str, Any]] = {}
    for entry in entries:
        if entry.kind == DECIDE:
            waiting[entry.event_id] = _row(entry, "waiting", project)
        elif entry.kind in (REWARD, EXPIRE):
            row = waiting.pop(entry.event_id)
            row["state"] = "rewarded" if entry.kind == REWARD else "expired"
            row["reward"], row["reward_time"] = entry.reward, _moment(entry.time)
            yield row
        elif entry.kind == LEARN:
            yield _row(entry, "learned", project) | {"reward_time": _moment(entry.time)}
    yield from waiting.values()


def _row(entry: Entry, state: str, project: Project) -> dict[str, Any]:
    context = msgspec.json.decode(entry.context or "{}")
    row = {
        "event_id": entry.event_id,
        "time": _moment(entry.time),
        "state": state,
        "action": entry.action,
        "propensity": entry.propensity,
        "available_actions": None if entry.available is None else msgspec.json.decode(entry.available),
        "reward": entry.reward,
        "forest_action": entry.forest_action,
        "forest_propensity": entry.forest_propensity,
        "forest_value": entry.forest_value,
    }
    for name, field in project.context.items():
        value = context.get(name)
        row[f"context.{name}"] = value if value is None else _python_type(field)(value)
    return row


def _moment(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)


def _groups(rows: Iterator[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    group: list[dict[str, Any]] = []
    for row in rows:
        group.append(row)
        if len(group) == _ROWS:
            yield group
            group = []
    if group:
        yield group
