"""The driver's side of an executor on a Ray cluster: `python -m assay.fleet.ray`."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

from assay.fleet.lines import Document, FleetError, serve_driver
from assay.fleet.ray_cluster import Node, checked_address, connect, find_broker, ray

POLL_S = 0.2
ANSWER_S = 30


class Driver:
    """Submits jobs and takes parts, into a folder, for the runs that it was asked about."""

    def __init__(self, entry: Document, folder: Path) -> None:
        address = checked_address(entry)
        self._node: Node | None = None
        try:
            connect(address)
        except FleetError:
            # This machine has no node yet: one without resources, to which no job comes.
            self._node = Node(address, {}, {})
            connect(address, self._node)
        self._broker = find_broker()
        self._folder = folder
        self._parts: dict[str, str] = {}
        self._open: dict[tuple[str, int], tuple[str, Document]] = {}
        self._runs: set[str] = set()
        facts = self._ask("facts")
        self._birth = facts["birth"]
        if facts["missing_settings"]:
            names = ", ".join(facts["missing_settings"])
            print(
                f"the head of the Ray cluster was started without {names}: lost hosts are noticed "
                "late, or jobs run at low priority; docs/contracts/fleet.md has the values",
                file=sys.stderr,
                flush=True,
            )

    def answer(self, request: Document) -> Document:
        """Answers one request of docs/contracts/fleet.md."""
        ask = request["ask"]
        if ask == "next":
            return {"next": self._next(float(request["timeout_s"]))}
        if ask in ("workers", "queues"):
            return {ask: self._ask(ask)}
        if ask == "submit":
            return self._submit(request["queue"], request["job"])
        if ask == "forget":
            return self._forget(request["part"])
        if ask == "cancel":
            return {"cancelled": self._ask("cancel", request["run"])}
        return self._drain(request["device"], request["reason"])

    def close(self) -> None:
        """Leaves the cluster; jobs and parts stay."""
        ray.shutdown()
        if self._node is not None:
            self._node.stop()

    def _ask(self, method: str, *values: Any) -> Any:
        """Asks the broker; one that Ray starts anew is waited for."""
        end = time.monotonic() + ANSWER_S
        while True:
            try:
                return ray.get(getattr(self._broker, method).remote(*values), timeout=ANSWER_S)
            except ray.exceptions.RayActorError as error:
                if time.monotonic() > end:
                    raise FleetError("unavailable", f"the fleet's broker: {error}") from error
                time.sleep(1)
                self._broker = find_broker()

    def _submit(self, queue: str, job: Document) -> Document:
        self._runs.add(job["run"]["id"])
        self._open[(job["job"], job["n"])] = (queue, job)
        return {"submission": self._ask("submit", queue, job)}

    def _next(self, timeout_s: float) -> Document | None:
        end = time.monotonic() + timeout_s
        while True:
            event: Document | None = self._ask("next", list(self._runs))
            if event is not None:
                return self._process_event(event)
            if time.monotonic() > end:
                self._repeat_to_a_new_broker()
                return None
            time.sleep(POLL_S)

    def _process_event(self, event: Document) -> Document:
        if event["event"] in ("started", "silent"):
            return event
        self._open.pop((event["job"], event["n"]), None)
        if event["event"] != "done":
            return event
        path = self._folder / f"{event['execution']}.db"
        path.write_bytes(event["bytes"])
        self._parts[str(path)] = event["execution"]
        return {"event": "done", "part": str(path)}

    def _repeat_to_a_new_broker(self) -> None:
        """A broker that Ray started anew knows nothing of what was submitted."""
        birth = self._ask("facts")["birth"]
        if birth != self._birth:
            self._birth = birth
            for queue, job in self._open.values():
                self._ask("submit", queue, job)

    def _forget(self, part: str) -> Document:
        self._ask("forget", self._parts[part])
        Path(part).unlink(missing_ok=True)
        return {}

    def _drain(self, device: str, reason: str) -> Document:
        if not self._ask("drain", device, reason):
            raise FleetError("not_found", f"no worker has announced a device '{device}'")
        return {}


if __name__ == "__main__":
    serve_driver(Driver)
