"""Reads and writes of a worker in the tables of a fleet, each call in one transaction."""

from __future__ import annotations

import contextlib
import json
import socket
import sqlite3
import uuid
from pathlib import Path
from typing import Any

from assay.fleet.database import TASK, defer_job, make_plain_app, psycopg
from assay.fleet.lines import Document, FleetError
from assay.fleet.work_command import GONE_AFTER_S, MOST_EXECUTIONS

Key = tuple[str, int]
"""A job and its try."""


class NameTaken(FleetError):
    """Raised when another live worker has the name."""


class Jobs:
    """The jobs of a fleet as the worker of one device sees them."""

    def __init__(self, dsn: str, device: str) -> None:
        self._dsn = dsn
        self._device = device
        self._instance = uuid.uuid4().hex

    def _connect(self) -> psycopg.Connection:
        return psycopg.connect(self._dsn)

    def state(self, key: Key) -> str:
        """The state of a job; empty if it is not there."""
        with self._connect() as connection:
            row = connection.execute(
                "SELECT state FROM assay_fleet.job WHERE job = %s AND n = %s", key
            ).fetchone()
        return "" if row is None else str(row[0])

    def begin(self, key: Key, stalled_after_s: float) -> Document | None:
        """The job's document; None if nobody wants it any more, or another one executes it."""
        with self._connect() as connection:
            row = connection.execute(
                "SELECT state, executions, document, why, state = 'executing' AND "
                "alive > now() - make_interval(secs => %s) FROM assay_fleet.job "
                "WHERE job = %s AND n = %s FOR UPDATE",
                (stalled_after_s, *key),
            ).fetchone()
            if row is None or row[0] in ("done", "cancelled", "lost") or row[4]:
                return None
            if row[1] >= MOST_EXECUTIONS:
                why = f"{row[1]} executions began and did not end, the last one elsewhere"
                why += f" ({row[3]})" if row[3] else ""
                connection.execute(_LOST, (why, *key))
                return None
            connection.execute(
                "UPDATE assay_fleet.job SET state = 'executing', device = %s, alive = now(), "
                "executions = executions + 1 WHERE job = %s AND n = %s",
                (self._device, *key),
            )
            document: Document = json.loads(row[2])
            return document

    def deliver(self, part: Path) -> None:
        """Keeps the part and ends its job."""
        with contextlib.closing(sqlite3.connect(f"file:{part}?mode=ro", uri=True)) as store:
            execution = store.execute("SELECT id, run, job, n, device FROM execution").fetchone()
        if execution is None:
            raise ValueError(f"{part} has no execution")
        with self._connect() as connection:
            connection.execute(
                "INSERT INTO assay_fleet.part (execution, run, job, n, device, bytes) "
                "VALUES (%s, %s, %s, %s, %s, %s) ON CONFLICT DO NOTHING",
                (*execution, part.read_bytes()),
            )
            connection.execute(
                "UPDATE assay_fleet.job SET state = 'done', device = %s WHERE job = %s AND n = %s",
                (execution[4], *execution[2:4]),
            )

    def call_lost(self, key: Key, why: str) -> None:
        """The job itself cannot be executed, wherever it is tried."""
        with self._connect() as connection:
            connection.execute(_LOST, (why, *key))

    def put_back(self, key: Key, why: str) -> None:
        """Leaves the job to another device; `requeue` puts it in the queue again."""
        with self._connect() as connection:
            connection.execute(
                "UPDATE assay_fleet.job SET state = 'waiting', why = %s WHERE job = %s AND "
                "n = %s AND state = 'executing' AND device = %s",
                (why, *key, self._device),
            )

    def requeue(self, stalled_after_s: float) -> None:
        """Queues what nobody executes and no queue holds, whatever it fell out of the queue by."""
        limits = {"task": TASK, "stalled_after_s": stalled_after_s}
        with self._connect() as connection:
            connection.execute(_ABANDONED, limits)
            rows = connection.execute(_UNQUEUED, limits).fetchall()
        if not rows:
            return
        app = make_plain_app(self._dsn)
        with app.open():
            for queue, job, n in rows:
                defer_job(app, queue, job, n)

    def note(self, about: dict[str, Any], description: Document, at_hand: Key | None) -> str:
        """Says that the worker lives and what it does; returns why it was drained.

        about: `state`, `reason` and `job`, as `assay fleet status` shows them.
        Raises: NameTaken.
        """
        values = {**about, "device": self._device, "instance": self._instance}
        values |= {"host": socket.gethostname(), "description": json.dumps(description)}
        with self._connect() as connection:
            row = connection.execute(_NOTE, {**values, "gone_after_s": GONE_AFTER_S}).fetchone()
            if row is None:
                sql = "SELECT host FROM assay_fleet.worker WHERE device = %s"
                other = connection.execute(sql, (self._device,)).fetchone()
                raise NameTaken(
                    "unavailable",
                    f"a worker on {other[0] if other else 'another host'} has the name "
                    f"'{self._device}' already: end it, or name this one with --name",
                )
            if at_hand is not None:
                connection.execute(_ALIVE, (*at_hand, self._device))
        return str(row[0])


_LOST = """
UPDATE assay_fleet.job SET state = 'lost', why = %s WHERE job = %s AND n = %s AND
state NOT IN ('done', 'cancelled')
"""

_ALIVE = """
UPDATE assay_fleet.job SET alive = now() WHERE job = %s AND n = %s AND state = 'executing' AND
device = %s
"""

# Its worker died, or has lost sight of it.
_ABANDONED = """
UPDATE assay_fleet.job SET state = 'waiting' WHERE state = 'executing' AND
alive < now() - make_interval(secs => %(stalled_after_s)s)
"""

_UNQUEUED = """
SELECT queue, job, n FROM assay_fleet.job AS ours WHERE state = 'waiting' AND NOT EXISTS (
  SELECT FROM procrastinate_jobs AS queued
  LEFT JOIN procrastinate_workers AS taker ON taker.id = queued.worker_id
  WHERE queued.task_name = %(task)s AND queued.queueing_lock = ours.job || '-' || ours.n AND
    (queued.status = 'todo' OR queued.status = 'doing' AND
     taker.last_heartbeat > now() - make_interval(secs => %(stalled_after_s)s)))
"""

_NOTE = """
INSERT INTO assay_fleet.worker AS old
  (device, instance, host, description, state, reason, job)
VALUES
  (%(device)s, %(instance)s, %(host)s, %(description)s, %(state)s, %(reason)s, %(job)s)
ON CONFLICT (device) DO UPDATE SET host = excluded.host, instance = excluded.instance,
  description = CASE WHEN excluded.state = 'out' THEN old.description
                     ELSE excluded.description END,
  state = excluded.state, reason = excluded.reason, job = excluded.job,
  job_since = CASE WHEN excluded.job = old.job THEN old.job_since ELSE now() END,
  heartbeat = now()
WHERE old.instance = excluded.instance OR old.state = 'gone' OR
  old.heartbeat < now() - make_interval(secs => %(gone_after_s)s)
RETURNING drained
"""
