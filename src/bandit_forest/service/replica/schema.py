"""The tables in PostgreSQL, and how they came to be: one migration after the other, each run once."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from psycopg import Connection

__all__ = ["MIGRATIONS", "migrate"]

_LOCK = 0x42465363  # of this package's advisory locks, the one for migrations

MIGRATIONS = (
    """
CREATE TABLE project (only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row), definition text NOT NULL);

-- What was decided, once: a request that is repeated anywhere finds the first decision.
CREATE TABLE decisions (
    event_id text PRIMARY KEY,
    time double precision NOT NULL,      -- seconds since 1970, by the clock of the database
    kind text NOT NULL,                  -- 'decide', or 'learn' for an event that was decided elsewhere
    version bigint NOT NULL,             -- the last lesson that the replica had applied
    model_version bigint NOT NULL,       -- lessons that its forest had learned
    action text NOT NULL,
    propensity double precision NOT NULL,
    n_available integer NOT NULL,
    fingerprint bigint NOT NULL,         -- of the request: another one may not have the same event_id
    context text NOT NULL,               -- JSON
    available text,                      -- JSON list of names; NULL: all that were enabled
    forest_action text,                  -- in shadow mode, what the forest would have done
    forest_propensity double precision,
    forest_value double precision
);
CREATE INDEX decisions_time ON decisions (time);

-- How events ended, once: a reward, the end of the window, or what was learned elsewhere.
CREATE TABLE outcomes (
    event_id text PRIMARY KEY REFERENCES decisions,
    kind text NOT NULL,                  -- 'reward', 'expire' or 'learn'
    reward double precision,             -- NULL: not learned
    time double precision NOT NULL,
    version bigint                       -- its lesson; NULL: not taken yet
);
CREATE INDEX outcomes_new ON outcomes (time, event_id) WHERE version IS NULL;

-- What every replica applies, in this order. The primary key refuses a second learner.
CREATE TABLE lessons (
    version bigint PRIMARY KEY,
    time double precision NOT NULL,
    kind text NOT NULL,                  -- that of its outcome, or 'add', 'disable', 'enable', 'remove', 'file'
    event_id text UNIQUE REFERENCES decisions,
    action text,                         -- of a change of actions
    reward double precision,
    available text                       -- of 'file': JSON list of the actions of the project file
);

-- States at some version, so that a replica need not apply all lessons.
CREATE TABLE snapshots (
    version bigint PRIMARY KEY,
    time double precision NOT NULL,
    state bytea NOT NULL,                -- all but the bandit, as lines of JSON
    bandit bytea NOT NULL                -- a saved bandit
);
""",
)


def migrate(connection: Connection) -> None:
    """Bring the tables to this version of the package; whoever comes second waits and finds nothing to do."""
    with connection.transaction():
        connection.execute("SELECT pg_advisory_xact_lock(%s)", (_LOCK,))
        connection.execute("CREATE TABLE IF NOT EXISTS migrations (number integer PRIMARY KEY)")
        n_done = len(connection.execute("SELECT number FROM migrations").fetchall())
        for number, statements in enumerate(MIGRATIONS[n_done:], n_done + 1):
            connection.execute(statements.encode())
            connection.execute("INSERT INTO migrations VALUES (%s)", (number,))
