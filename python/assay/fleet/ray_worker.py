"""The worker of one device in a Ray cluster: `python -m assay.fleet.ray_worker OPTIONS`.

`assay work --executor` starts it. It joins the cluster as a node whose only resources are the
device and its queues, and Ray gives it one job at a time. It says that it lives, and tries a device
that was put out. Where the node is gone, because the head did not hear of it for a while, it joins
again. Ray ends a process that loses its node at the wrong moment, so a child does all that.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
import time
from dataclasses import asdict
from typing import Any

from assay.fleet.lines import Document, FleetError
from assay.fleet.ray_cluster import Node, checked_address, connect, find_broker, ray, ray_broker
from assay.fleet.work_command import (
    CHECK_S,
    HEARTBEAT_S,
    WorkCommand,
    check_disk,
    die_with_parent,
    last_line,
    log,
    welcome,
)

ANSWER_S = 30
REST_S = 3
"""Between two tries to join."""
SERVES = "serve"
"""The argument of the child."""


class Worker:
    """Keeps a device in the cluster until it is stopped."""

    def __init__(self, address: str, command: WorkCommand) -> None:
        self._address = address
        self._command = command
        self._stops = threading.Event()
        self._checked = time.monotonic()
        self._job = ""

    def stop(self, *_: Any) -> None:
        """Asks it to end after the current job; for `signal`."""
        self._stops.set()

    def run(self) -> None:
        """Joins, again and again."""
        while not self._stops.is_set():
            try:
                self._serve(self._describe())
            except FleetError as error:
                self._say(str(error))
            except Exception as error:  # Ray has errors of many kinds for a head that is gone.
                self._say(f"{type(error).__name__}: {last_line(str(error))}")
            self._stops.wait(REST_S)
        self._say("ends")

    def _say(self, text: str) -> None:
        log(self._command.name, text)

    def _describe(self) -> Document:
        """Asks the device what it is. Errors: `unavailable`, with what it said."""
        try:
            check_disk()
            asked = subprocess.run(
                self._command.describe(), capture_output=True, text=True, check=False
            )
        except OSError as error:
            raise FleetError("unavailable", f"cannot ask the device: {error}") from error
        if asked.returncode != 0:
            why = last_line(asked.stderr) or f"assay work ended with {asked.returncode}"
            raise FleetError("unavailable", why)
        description: Document = json.loads(asked.stdout)
        return description

    def _serve(self, description: Document) -> None:
        queues = [
            f"device:{self._command.name}",
            f"class:{description['environment']['device_class']}",
        ]
        resources = {name: 1 for name in (ray_broker.TOKEN, *queues)}
        device = {ray_broker.DEVICE_VARIABLE: json.dumps(asdict(self._command))}
        node = Node(self._address, resources, device)
        try:
            connect(self._address, node)
            self._say(welcome(description, f"the Ray cluster {self._address}"))
            description["node"] = ray.get_runtime_context().get_node_id()
            self._beat(node, find_broker(), description)
        finally:
            ray.shutdown()
            node.stop()

    def _beat(self, node: Node, broker: Any, description: Document) -> None:
        """Says that it lives until it is stopped; ends with the node."""
        while not self._stops.is_set():
            told = self._ask(broker.announce, self._command.name, description)
            self._note_job(told["job"])
            if told["out"] and time.monotonic() - self._checked > CHECK_S:
                self._check(broker)
            self._stops.wait(HEARTBEAT_S)
            if node.has_ended():
                raise FleetError("unavailable", node.why())
        self._finish(broker)

    def _note_job(self, job: str) -> None:
        """Ray starts the tasks, so the broker says what this device executes."""
        if job != self._job and self._job:
            self._say(f"has ended {self._job}")
        if job != self._job and job:
            self._say(f"executes {job}")
        self._job = job

    def _ask(self, method: Any, *values: Any) -> Any:
        return ray.get(method.remote(*values), timeout=ANSWER_S)

    def _check(self, broker: Any) -> None:
        self._checked = time.monotonic()
        try:
            self._describe()
        except FleetError as error:
            self._say(str(error))
        else:
            self._say("is well")
            self._ask(broker.put_in, self._command.name)

    def _finish(self, broker: Any) -> None:
        """Takes no further job, and lets the current one end."""
        while not self._ask(broker.finish, self._command.name):
            time.sleep(1)
        self._ask(broker.leave, self._command.name)


def serve(options: Document) -> None:
    """Serves a device until it is stopped, or Ray ends this process."""
    worker = Worker(checked_address(options["entry"]), WorkCommand.from_options(options))
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, worker.stop)
    worker.run()


def keep_serving(options: Document) -> None:
    """Has a child serve, and another one after it, until this process is stopped."""
    stops = threading.Event()
    child: subprocess.Popen[bytes] | None = None

    def stop(*_: Any) -> None:
        stops.set()
        if child is not None:
            child.terminate()

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, stop)
    while not stops.is_set():
        child = subprocess.Popen(
            [sys.executable, "-m", "assay.fleet.ray_worker", json.dumps(options), SERVES],
            preexec_fn=die_with_parent,
        )
        if stops.is_set():  # Between the two lines above.
            child.terminate()
        child.wait()
        stops.wait(0 if stops.is_set() else REST_S)


def main() -> None:
    """Serves a device until it is stopped."""
    options: Document = json.loads(sys.argv[1])
    try:
        checked_address(options["entry"])
    except FleetError as error:
        raise SystemExit(f"assay: {error}") from error
    if SERVES in sys.argv:
        serve(options)
    else:
        keep_serving(options)


if __name__ == "__main__":
    main()
