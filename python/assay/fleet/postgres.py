"""The driver's side of an executor on Procrastinate: `python -m assay.fleet.postgres`."""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from assay.fleet.database import (
    checked_dsn,
    defer_job,
    is_passing,
    make_plain_app,
    prepare_database,
    procrastinate,
    psycopg,
    retry,
)
from assay.fleet.lines import Document, FleetError, serve_driver
from assay.fleet.work_command import GONE_AFTER_S

POLL_S = 0.2


class Driver:
    """Submits jobs and takes parts, into a folder, for the runs that it was asked about."""

    def __init__(self, entry: Document, folder: Path) -> None:
        self._dsn = checked_dsn(entry)
        try:
            prepare_database(self._dsn)
        except psycopg.Error as error:
            if not is_passing(error):
                raise
            raise FleetError("unavailable", f"cannot use PostgreSQL: {error}") from error
        self._app: Any = None
        self._folder = folder
        self._connection: psycopg.Connection | None = None
        self._parts: dict[str, int] = {}
        self._runs: set[str] = set()
        self._silent: set[tuple[str, int, str]] = set()
        self._connected_s = 0.0

    def answer(self, request: Document) -> Document:
        """Answers one request of docs/contracts/fleet.md."""
        ask = request["ask"]
        if ask == "next":
            return {"next": self._next(float(request["timeout_s"]))}
        actions = {
            "workers": lambda: {"workers": self._workers()},
            "queues": lambda: {"queues": self._queues()},
            "submit": lambda: self._submit(request["queue"], request["job"]),
            "forget": lambda: self._forget(request["part"]),
            "cancel": lambda: {"cancelled": self._cancel(request["run"])},
            "drain": lambda: self._drain(request["device"], request["reason"]),
        }
        return retry(actions[ask])

    def close(self) -> None:
        """Closes the connections."""
        if self._connection is not None:
            self._connection.close()
        if self._app is not None:
            self._app.close()

    @contextlib.contextmanager
    def _cursor(self) -> Iterator[psycopg.Cursor]:
        """One transaction; a connection that broke is replaced the next time."""
        if self._connection is None or self._connection.closed:
            self._connection = psycopg.connect(self._dsn)
            self._connected_s = time.monotonic()
        try:
            with self._connection.transaction(), self._connection.cursor() as cursor:
                yield cursor
        except psycopg.Error:  # A session keeps what it began with, such as being read-only.
            self._connection.close()
            raise

    def _submit(self, queue: str, job: Document) -> Document:
        run = job["run"]["id"]
        key = (job["job"], job["n"])
        values = (*key, run, queue, job["label"], json.dumps(job), job["expected_ns"])
        with self._cursor() as cursor:
            cursor.execute(
                "INSERT INTO assay_fleet.job (job, n, run, queue, label, document, expected_ns) "
                "VALUES (%s, %s, %s, %s, %s, %s, %s) ON CONFLICT DO NOTHING",
                values,
            )
            is_known = cursor.rowcount == 0
            # A driver that came back tries again what was taken back.
            cursor.execute(
                "UPDATE assay_fleet.job SET state = 'new', told = '' WHERE job = %s AND n = %s "
                "AND state = 'cancelled'",
                key,
            )
            is_known = is_known and cursor.rowcount == 0
            cursor.execute(_STATE, key)
            row = cursor.fetchone()
        self._runs.add(run)
        state = "" if row is None else row[0]
        if state == "new":
            self._defer(queue, *key)
        if state == "lost":
            return {"submission": "lost"}
        return {"submission": "followed" if is_known else "queued"}

    def _defer(self, queue: str, job: str, n: int) -> None:
        """A driver that dies before its last line defers the job again, which the lock refuses."""
        if self._app is None:
            self._app = make_plain_app(self._dsn)
            self._app.open()
        try:
            defer_job(self._app, queue, job, n)
        except procrastinate.exceptions.ConnectorException:
            self._app.close()
            self._app = None
            raise
        with self._cursor() as cursor:
            cursor.execute(
                "UPDATE assay_fleet.job SET state = 'waiting' WHERE job = %s AND n = %s AND "
                "state = 'new'",
                (job, n),
            )

    def _next(self, timeout_s: float) -> Document | None:
        end = time.monotonic() + timeout_s
        while True:
            event = retry(self._find_event)
            if event is not None or time.monotonic() > end:
                return event
            time.sleep(POLL_S)

    def _find_event(self) -> Document | None:
        with self._cursor() as cursor:
            return self._find_part(cursor) or self._find_change(cursor) or self._find_silent(cursor)

    def _find_part(self, cursor: psycopg.Cursor) -> Document | None:
        cursor.execute(
            "SELECT id, execution, bytes FROM assay_fleet.part WHERE run = ANY(%s) AND "
            "bytes IS NOT NULL ORDER BY id LIMIT 1",
            (list(self._runs),),
        )
        row = cursor.fetchone()
        if row is None:
            return None
        path = self._folder / f"{row[1]}.db"
        path.write_bytes(row[2])
        self._parts[str(path)] = row[0]
        return {"event": "done", "part": str(path)}

    def _find_change(self, cursor: psycopg.Cursor) -> Document | None:
        cursor.execute(
            "SELECT job, n, state, device, why FROM assay_fleet.job WHERE run = ANY(%s) AND "
            "state IN ('executing', 'lost', 'cancelled') AND told <> state || device LIMIT 1 "
            "FOR UPDATE SKIP LOCKED",
            (list(self._runs),),
        )
        row = cursor.fetchone()
        if row is None:
            return None
        job, n, state, device, why = row
        cursor.execute(
            "UPDATE assay_fleet.job SET told = state || device WHERE job = %s AND n = %s", (job, n)
        )
        event = "started" if state == "executing" else state
        return {"event": event, "job": job, "n": n, "device": device, "why": why}

    def _find_silent(self, cursor: psycopg.Cursor) -> Document | None:
        """A job whose worker died, or is cut off; each try on each device is reported once.

        Where the database was away, workers are given time to say that they live.
        """
        if time.monotonic() - self._connected_s < GONE_AFTER_S:
            return None
        cursor.execute(
            "SELECT job.job, n, job.device, extract(epoch FROM now() - heartbeat) FROM "
            "assay_fleet.job JOIN assay_fleet.worker USING (device) WHERE run = ANY(%s) AND "
            "job.state = 'executing' AND heartbeat < now() - make_interval(secs => %s)",
            (list(self._runs), GONE_AFTER_S),
        )
        for job, n, device, age_s in cursor.fetchall():
            if (job, n, device) not in self._silent:
                self._silent.add((job, n, device))
                why = f"no sign of life for {age_s:.0f} s"
                return {"event": "silent", "job": job, "n": n, "device": device, "why": why}
        return None

    def _forget(self, part: str) -> Document:
        """The row stays, to tell who delivered what; its bytes are in the store."""
        with self._cursor() as cursor:
            cursor.execute(
                "UPDATE assay_fleet.part SET bytes = NULL WHERE id = %s", (self._parts[part],)
            )
        Path(part).unlink(missing_ok=True)
        return {}

    def _cancel(self, run: str) -> int:
        """Workers look at the state before they begin, and while they execute."""
        with self._cursor() as cursor:
            cursor.execute(
                "UPDATE assay_fleet.job SET state = 'cancelled' WHERE run = %s AND state IN "
                "('new', 'waiting', 'executing')",
                (run,),
            )
            return int(cursor.rowcount)

    def _drain(self, device: str, reason: str) -> Document:
        with self._cursor() as cursor:
            cursor.execute(
                "UPDATE assay_fleet.worker SET drained = %s WHERE device = %s", (reason, device)
            )
            if cursor.rowcount == 0:
                raise FleetError("not_found", f"no worker has announced a device '{device}'")
        return {}

    def _workers(self) -> list[Document]:
        with self._cursor() as cursor:
            cursor.execute(
                "SELECT description, state, reason, drained, coalesce((SELECT label FROM "
                "assay_fleet.job WHERE job.device = worker.device AND job.state = 'executing' "
                "LIMIT 1), ''), extract(epoch FROM job_since), "
                "extract(epoch FROM heartbeat), extract(epoch FROM now() - heartbeat) "
                "FROM assay_fleet.worker ORDER BY device"
            )
            return [_worker_from_row(row) for row in cursor.fetchall()]

    def _queues(self) -> list[Document]:
        with self._cursor() as cursor:
            cursor.execute(
                "SELECT run, count(*) FILTER (WHERE state <> 'executing'), "
                "count(*) FILTER (WHERE state = 'executing'), "
                # The time of a new case is not known: its job counts as the others on average.
                "coalesce(avg(nullif(expected_ns, 0)) * count(*), 0) FROM "
                "assay_fleet.job WHERE state IN ('new', 'waiting', 'executing') GROUP BY run "
                "ORDER BY run"
            )
            names = ("run", "waiting", "executing", "expected_ns")
            return [
                {**dict(zip(names, row, strict=True)), "expected_ns": int(row[3])}
                for row in cursor.fetchall()
            ]


# A result that was taken in, and is not in the store of this driver, is lost for it.
_STATE = """
SELECT CASE WHEN state = 'done' AND NOT EXISTS (
  SELECT FROM assay_fleet.part WHERE part.job = ours.job AND part.n = ours.n AND bytes IS NOT NULL
) THEN 'lost' ELSE state END FROM assay_fleet.job AS ours WHERE job = %s AND n = %s
"""


def _worker_from_row(row: tuple[Any, ...]) -> Document:
    description, state, reason, drained, job, job_since, heartbeat, age_s = row
    if state == "gone":
        reason = "its worker has ended"
    elif age_s > GONE_AFTER_S:
        reason = f"no sign of life for {age_s:.0f} s"
        reason += f", while it executed {job}" if job else ""
        state = "gone"
    elif drained and state == "idle":
        state, reason = "draining", drained
    return {
        **json.loads(description),
        "state": state,
        "reason": reason,
        "job": job if state == "busy" else "",
        "job_since_unix_ns": int((job_since or 0) * 1_000_000_000),
        "heartbeat_unix_ns": int(heartbeat * 1_000_000_000),
    }


if __name__ == "__main__":
    serve_driver(Driver)
