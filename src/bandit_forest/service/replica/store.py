"""Queries of PostgreSQL, one function each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from bandit_forest.errors import MissingExtraError, refuse
from bandit_forest.service.config.tables import Storage
from bandit_forest.service.replica.rows import DecisionRow, LessonRow, OutcomeRow
from bandit_forest.service.replica.schema import migrate

if TYPE_CHECKING:
    from psycopg import Connection
    from psycopg_pool import ConnectionPool

__all__ = ["LESSON_LOCK", "Database", "on_one_line"]

LESSON_LOCK = 0x42464C6E  # of this package's advisory locks, the one of the learner
_KEPT = 2  # snapshots
_SECONDS = 3  # to connect, and to wait for a connection
_NOW = "extract(epoch FROM clock_timestamp())::double precision"
_BEGUN = "extract(epoch FROM statement_timestamp())::double precision"  # the same for all rows: an index serves it
_DECISION = ", ".join(DecisionRow._fields)
_INSERT_DECISIONS = f"""
INSERT INTO decisions ({_DECISION}, time) SELECT {_DECISION}, {_NOW}
FROM json_populate_recordset(NULL::decisions, %s)
ON CONFLICT DO NOTHING RETURNING event_id
"""
_INSERT_OUTCOMES = f"""
INSERT INTO outcomes (event_id, kind, reward, time)
SELECT given.event_id, given.kind, given.reward, {_NOW}
FROM json_populate_recordset(NULL::outcomes, %s) AS given
JOIN decisions USING (event_id)
WHERE given.kind = 'learn' AND decisions.kind = 'learn'
    OR given.kind = 'reward' AND decisions.kind = 'decide' AND decisions.time + %s >= {_NOW}
ON CONFLICT DO NOTHING RETURNING event_id
"""
_INSERT_EXPIRIES = f"""
INSERT INTO outcomes (event_id, kind, reward, time)
SELECT event_id, 'expire', %s, {_NOW} FROM decisions
WHERE time BETWEEN %s AND {_BEGUN} - %s
    AND NOT EXISTS (SELECT FROM outcomes WHERE outcomes.event_id = decisions.event_id)
ORDER BY time LIMIT %s
ON CONFLICT DO NOTHING
"""
_BEFORE = """
SELECT version, time FROM lessons UNION ALL SELECT 0, 0 ORDER BY version DESC LIMIT 1
"""  # the last lesson
_TAKE_OUTCOMES = f"""
WITH before AS ({_BEFORE}),
new AS (SELECT event_id FROM outcomes WHERE version IS NULL ORDER BY time, event_id LIMIT %s),
taken AS (
    UPDATE outcomes SET version = before.version + numbered.number
    FROM (SELECT event_id, row_number() OVER (ORDER BY time, event_id) AS number
          FROM outcomes JOIN new USING (event_id)) AS numbered, before
    WHERE outcomes.event_id = numbered.event_id
    RETURNING outcomes.version, outcomes.kind, outcomes.event_id, outcomes.reward
)
INSERT INTO lessons (version, time, kind, event_id, reward)
SELECT taken.version, greatest({_NOW}, before.time), kind, event_id, reward FROM taken, before
"""
_INSERT_CHANGE = f"""
INSERT INTO lessons (version, time, kind, action, available)
SELECT version + 1, greatest({_NOW}, time), %s, %s, %s FROM ({_BEFORE}) AS before
"""
_LESSONS = """
SELECT l.version, l.time, l.kind, l.event_id, l.reward, coalesce(l.action, d.action), l.available,
    d.time, d.model_version, d.propensity, d.n_available, d.fingerprint, d.context,
    d.forest_action, d.forest_propensity, d.forest_value
FROM lessons AS l LEFT JOIN decisions AS d USING (event_id)
WHERE l.version > %s AND l.version <= %s ORDER BY l.version
"""


class Database:
    """A PostgreSQL that replicas share."""

    def __init__(self, storage: Storage) -> None:
        try:
            import psycopg
            from psycopg_pool import ConnectionPool, PoolTimeout
        except ImportError as error:
            cure = "pip install 'bandit-forest[postgresql]'"
            raise MissingExtraError(f"A journal in PostgreSQL needs {error.name}: {cure}.") from error
        self.error = (psycopg.Error, PoolTimeout)
        self.taken = psycopg.errors.UniqueViolation
        url = storage.database_url()
        try:
            with psycopg.connect(url, connect_timeout=_SECONDS) as connection:
                migrate(connection)
        except psycopg.OperationalError as error:
            refuse("journal", "[storage]", f"the address of a PostgreSQL that answers ({on_one_line(error)})", "...")
        self.pool: ConnectionPool[Connection[Any]] = ConnectionPool(
            url,
            min_size=1,
            max_size=8,
            timeout=_SECONDS,
            kwargs={"autocommit": True, "connect_timeout": _SECONDS},
            check=ConnectionPool.check_connection,
            open=True,
        )

    def close(self) -> None:
        """Close all connections."""
        self.pool.close()

    def definition(self, new: str) -> str:
        """Return the identity of the database; `new` when it is empty."""
        with self.pool.connection() as connection:
            connection.execute("INSERT INTO project (definition) VALUES (%s) ON CONFLICT DO NOTHING", (new,))
            return str(_one(connection.execute("SELECT definition FROM project"))[0])

    def last_version(self) -> int:
        """Return the number of the last lesson."""
        with self.pool.connection() as connection:
            return int(_one(connection.execute("SELECT coalesce(max(version), 0) FROM lessons"))[0])

    def lessons(self, *, after: int, until: int) -> list[LessonRow]:
        """Return lessons in their order."""
        with self.pool.connection() as connection:
            return [LessonRow(*row) for row in connection.execute(_LESSONS, (after, until))]

    def n_waiting(self, window: float) -> int:
        """Return how many events wait for their reward."""
        query = f"""SELECT count(*) FROM decisions WHERE time >= {_BEGUN} - %s
            AND NOT EXISTS (SELECT FROM outcomes WHERE outcomes.event_id = decisions.event_id)"""
        with self.pool.connection() as connection:
            return int(_one(connection.execute(query, (window,)))[0])

    def decisions_by_version(self) -> Iterator[DecisionRow]:
        """Yield all decisions, those of the lowest version first."""
        with self.pool.connection() as connection, connection.transaction(), connection.cursor("decisions") as cursor:
            cursor.execute(f"SELECT {_DECISION} FROM decisions WHERE kind = 'decide' ORDER BY version")
            yield from (DecisionRow(*row) for row in cursor)

    def events(self) -> Iterator[tuple[DecisionRow, float, str | None, float | None, float | None]]:
        """Yield how and when events were decided and how they ended: kind, time and reward; the first to end first."""
        columns = ", ".join(f"d.{name}" for name in DecisionRow._fields)
        with self.pool.connection() as connection, connection.transaction(), connection.cursor("events") as cursor:
            cursor.execute(
                f"SELECT d.time, o.kind, o.time, o.reward, {columns} FROM decisions d "
                "LEFT JOIN outcomes o USING (event_id) ORDER BY o.time, d.time"
            )
            for decided, kind, ended, reward, *row in cursor:
                yield DecisionRow(*row), decided, kind, ended, reward

    def action_changes(self, kinds: Sequence[str]) -> list[tuple[int, str, str]]:
        """Return the lessons of some kinds that changed actions, in their order: version, kind and action."""
        query = "SELECT version, kind, action FROM lessons WHERE kind = ANY(%s) ORDER BY version"
        with self.pool.connection() as connection:
            return connection.execute(query, (list(kinds),)).fetchall()

    def change(self, kind: str, action: str | None = None, available: str | None = None) -> None:
        """Append a lesson that changes actions; when another lesson takes its number, it gets the next one."""
        while True:
            try:
                with self.pool.connection() as connection:
                    connection.execute(_INSERT_CHANGE, (kind, action, available))
                return
            except self.taken:
                continue

    def latest_snapshots(self) -> Iterator[tuple[int, bytes, bytes]]:
        """Yield snapshots, the newest first."""
        with self.pool.connection() as connection:
            versions = connection.execute("SELECT version FROM snapshots ORDER BY version DESC").fetchall()
        for (version,) in versions:
            with self.pool.connection() as connection:
                query = "SELECT version, state, bandit FROM snapshots WHERE version = %s"
                row = connection.execute(query, (version,), binary=True).fetchone()
            if row is not None:
                yield row

    def keep_snapshot(self, version: int, state: bytes, bandit: bytes) -> None:
        """Store a snapshot, and remove those that are too old."""
        with self.pool.connection() as connection, connection.transaction():
            query = f"INSERT INTO snapshots VALUES (%s, {_NOW}, %s, %s) ON CONFLICT DO NOTHING"
            connection.execute(query, (version, state, bandit), binary=True)
            newest = f"SELECT version FROM snapshots ORDER BY version DESC LIMIT {_KEPT}"
            connection.execute(f"DELETE FROM snapshots WHERE version NOT IN ({newest})")


def insert_decisions(connection: Connection[Any], rows: Sequence[DecisionRow]) -> dict[str, DecisionRow]:
    """Store decisions; return those whose ids were there before, or come twice."""
    stored = [row[0] for row in connection.execute(_INSERT_DECISIONS, (_json(rows),))]
    if len(stored) == len(rows):
        return {}
    known = Counter(row.event_id for row in rows) - Counter(stored)
    return read_decisions(connection, list(known))


def read_decisions(connection: Connection[Any], ids: list[str]) -> dict[str, DecisionRow]:
    """Return the decisions of events that are known, by id."""
    found = connection.execute(f"SELECT {_DECISION} FROM decisions WHERE event_id = ANY(%s)", (ids,))
    return {row[0]: DecisionRow(*row) for row in found}


def insert_outcomes(connection: Connection[Any], rows: Sequence[OutcomeRow], window: float) -> set[str]:
    """Store rewards of events that wait, and how events ended that were decided elsewhere; return whose are new."""
    return {row[0] for row in connection.execute(_INSERT_OUTCOMES, (_json(rows), window))}


def read_outcomes(connection: Connection[Any], ids: Sequence[str]) -> dict[str, tuple[str | None, float | None]]:
    """Return kind and reward of what became of events, by id; None where they have not ended."""
    query = """SELECT event_id, outcomes.kind, reward FROM decisions LEFT JOIN outcomes USING (event_id)
        WHERE event_id = ANY(%s)"""
    return {event_id: (kind, reward) for event_id, kind, reward in connection.execute(query, (list(ids),))}


def expire(connection: Connection[Any], *, reward: float | None, since: float, window: float, limit: int) -> int:
    """End the wait of events whose window is over; return their number."""
    return connection.execute(_INSERT_EXPIRIES, (reward, since, window, limit)).rowcount


def take_outcomes(connection: Connection[Any], *, limit: int) -> int:
    """Make lessons of outcomes, in one transaction; return their number."""
    return connection.execute(_TAKE_OUTCOMES, (limit,)).rowcount


def _json(rows: Sequence[DecisionRow] | Sequence[OutcomeRow]) -> str:
    """Return rows as one text: PostgreSQL reads it faster than psycopg writes arrays."""
    return msgspec.json.encode([row._asdict() for row in rows]).decode()


def _one(cursor: Any) -> tuple[Any, ...]:
    row: tuple[Any, ...] | None = cursor.fetchone()
    assert row is not None
    return row


def on_one_line(error: Exception) -> str:
    """Return the message of an error on one line."""
    return " ".join(str(error).split())
