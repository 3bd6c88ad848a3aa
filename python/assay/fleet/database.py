"""The tables of a fleet in PostgreSQL, in addition to those of Procrastinate.

A job is deferred to Procrastinate, which gives it to one worker, and again to another one when that
worker died. What the job is, and what came of it, lies in tables of our own, so that a result and
the end of its job are one transaction.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from typing import Any, TypeVar

from assay.fleet.lines import FleetError

try:
    import procrastinate
    import psycopg
    from psycopg import conninfo
except ImportError as error:
    raise SystemExit(
        f"an executor of kind postgres needs Python's procrastinate and psycopg ({error}): "
        "pip install 'assay[postgres]'"
    ) from error

__all__ = [
    "TASK",
    "checked_dsn",
    "defer_job",
    "is_passing",
    "make_app",
    "make_plain_app",
    "prepare_database",
    "procrastinate",
    "psycopg",
    "retry",
    "text_of",
]

T = TypeVar("T")

SCHEMA = """
CREATE SCHEMA IF NOT EXISTS assay_fleet;
CREATE TABLE IF NOT EXISTS assay_fleet.worker (
  device text PRIMARY KEY,
  instance text NOT NULL DEFAULT '',
  host text NOT NULL,
  description text NOT NULL,
  state text NOT NULL,
  reason text NOT NULL DEFAULT '',
  drained text NOT NULL DEFAULT '',
  job text NOT NULL DEFAULT '',
  job_since timestamptz,
  heartbeat timestamptz NOT NULL DEFAULT now());
CREATE TABLE IF NOT EXISTS assay_fleet.job (
  job text NOT NULL,
  n integer NOT NULL,
  run text NOT NULL,
  queue text NOT NULL,
  label text NOT NULL,
  document text NOT NULL,
  expected_ns bigint NOT NULL,
  state text NOT NULL DEFAULT 'new',
  executions integer NOT NULL DEFAULT 0,
  device text NOT NULL DEFAULT '',
  why text NOT NULL DEFAULT '',
  told text NOT NULL DEFAULT '',
  alive timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (job, n));
CREATE INDEX IF NOT EXISTS job_by_run ON assay_fleet.job (run, state);
CREATE INDEX IF NOT EXISTS open_job ON assay_fleet.job (state)
  WHERE state IN ('waiting', 'executing');
CREATE TABLE IF NOT EXISTS assay_fleet.part (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  execution text NOT NULL UNIQUE,
  run text NOT NULL,
  job text NOT NULL,
  n integer NOT NULL,
  device text NOT NULL,
  bytes bytea,
  delivered timestamptz NOT NULL DEFAULT now());
CREATE INDEX IF NOT EXISTS part_by_run ON assay_fleet.part (run) WHERE bytes IS NOT NULL;
"""

LOCK = 0x61737361  # "assa": of those who make the tables.
TASK = "assay.execute"


def checked_dsn(entry: dict[str, Any]) -> str:
    """The entry's connection string, with settings that notice a dead connection within seconds."""
    dsn = entry.get("dsn")
    if not isinstance(dsn, str) or not dsn:
        message = '"dsn" must say where PostgreSQL is, such as postgresql://assay@lab.local/assay'
        raise FleetError("invalid_argument", message)
    try:
        given = conninfo.conninfo_to_dict(dsn)
    except psycopg.Error as error:
        raise FleetError("invalid_argument", f'"dsn": {error}') from error
    if given.get("password"):
        message = '"dsn" must not hold the password: keep it in ~/.pgpass or PGPASSWORD'
        raise FleetError("invalid_argument", message)
    noticing = {"connect_timeout": 10, "keepalives_idle": 5, "tcp_user_timeout": 8000}
    made: str = conninfo.make_conninfo(**{**noticing, **given})
    return made


def prepare_database(dsn: str) -> None:
    """Makes the tables of the fleet and of Procrastinate where they are not there yet."""
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute("SELECT pg_advisory_lock(%s)", (LOCK,))
        connection.execute(SCHEMA)
        row = connection.execute("SELECT to_regclass('procrastinate_jobs')").fetchone()
        if row is not None and row[0] is None:
            app = make_plain_app(dsn)
            with app.open():
                app.schema_manager.apply_schema()
        connection.execute("SELECT pg_advisory_unlock(%s)", (LOCK,))


def make_app(connector: Any) -> Any:
    """The Procrastinate app of drivers and workers."""
    return procrastinate.App(connector=connector)


def make_plain_app(dsn: str) -> Any:
    """One for calls one after the other. A larger pool takes seconds to replace lost sessions."""
    return make_app(procrastinate.SyncPsycopgConnector(conninfo=dsn, min_size=1, max_size=1))


def defer_job(app: Any, queue: str, job: str, n: int) -> None:
    """Queues a try at a job, unless it is queued already."""
    task = app.configure_task(TASK, queue=queue, queueing_lock=f"{job}-{n}", allow_unknown=True)
    with contextlib.suppress(procrastinate.exceptions.AlreadyEnqueued):
        task.defer(job=job, n=n)


# A session that a server ended, a standby or a server that may only be read for a while.
_PASSING = ("08", "25006", "25P03", "25P04", "40", "53", "57")


def is_passing(error: Exception) -> bool:
    """True if the database may do later what it did not do now."""
    if isinstance(error, procrastinate.exceptions.ConnectorException):
        cause = error.__cause__
        return cause is None or not isinstance(cause, psycopg.Error) or is_passing(cause)
    if not isinstance(error, psycopg.Error):
        return False
    if error.sqlstate:
        return bool(error.sqlstate.startswith(_PASSING))
    return isinstance(error, psycopg.OperationalError | psycopg.InterfaceError)


def text_of(error: Exception) -> str:
    """The text of an error of the database in one line."""
    cause = error
    if isinstance(error, procrastinate.exceptions.ConnectorException):
        cause = error.__cause__ if isinstance(error.__cause__, Exception) else error
    text = " ".join(str(cause).split())
    if isinstance(error, FleetError):
        return text
    ours = (psycopg.Error, procrastinate.exceptions.ProcrastinateException)
    return f"{'PostgreSQL' if isinstance(error, ours) else type(error).__name__}: {text}"


def retry(
    action: Callable[[], T],
    patience_s: float = 240,
    tell: Callable[[str], None] = lambda _: None,
) -> T:
    """Does what a database that starts anew lets fail, until it works; `tell` hears why not yet."""
    end = time.monotonic() + patience_s
    while True:
        try:
            return action()
        except Exception as error:
            if not is_passing(error):
                raise
            if time.monotonic() > end:
                raise FleetError("unavailable", text_of(error)) from error
            tell(f"{text_of(error)}; trying again")
            time.sleep(1)
