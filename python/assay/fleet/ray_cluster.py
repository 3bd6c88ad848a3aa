"""Joins a Ray cluster with the settings that a fleet needs, and finds its broker."""

from __future__ import annotations

import json
import logging
import os
import re
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from assay.fleet import lines, work_command
from assay.fleet.lines import Document, FleetError
from assay.fleet.ray_settings import SETTINGS
from assay.fleet.work_command import die_with_parent, last_line
from assay.toolchain import temporary
from assay.toolchain.temporary import TemporaryFolder

OF_THIS_PROCESS = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_gcs_server_request_timeout_seconds": "10",  # For a node of this machine to be found.
}
NAMESPACE = "assay"
BROKER = "assay-fleet"
PATIENCE_S = 60
"""Limit of the time that a cluster takes to answer."""
OBJECT_STORE_BYTES = 200 * 1024 * 1024
"""The store of a device's node, through which parts of some megabytes pass."""

os.environ.update({**OF_THIS_PROCESS, **SETTINGS})  # Ray reads them when it is imported.

try:
    import ray
except ImportError as error:
    raise SystemExit(
        f"an executor of kind ray needs Python's ray ({error}): pip install 'assay[ray]'"
    ) from error

from assay.fleet import ray_broker  # noqa: E402

__all__ = ["Node", "checked_address", "connect", "find_broker", "ray", "ray_broker"]


def checked_address(entry: Document) -> str:
    """Address of the head of the cluster."""
    address = entry.get("address")
    if not isinstance(address, str) or not re.fullmatch(r"(ray://)?[\w.\-]+:\d+", address):
        message = '"address" must say where the head of the Ray cluster is, such as 10.0.0.1:6379'
        raise FleetError("invalid_argument", message)
    return address


class Node:
    """This machine as a part of the cluster, until `stop` or the end of this process."""

    def __init__(self, address: str, resources: dict[str, int], env: dict[str, str]) -> None:
        # Two nodes of a host that start at once would take the same sockets. Their paths are short.
        self._temporary = TemporaryFolder("ray", below=Path("/tmp"))
        # Ray's processes outlive this one for a moment, and would make it anew: `assay` removes it.
        self._temporary.remove.detach()
        self.folder = str(self._temporary.path / "n")  # Ray changes its permissions.
        program = [sys.executable, "-m", "ray.scripts.scripts", "start", "--block"]
        options = {
            "address": address,
            "num-cpus": "0" if not resources else "1",
            "num-gpus": "0",
            "object-store-memory": str(OBJECT_STORE_BYTES),
            "resources": json.dumps(resources),
            "temp-dir": self.folder,
        }
        words = [f"--{name}={value}" for name, value in options.items()]
        self._process = subprocess.Popen(
            [*program, *words, "--disable-usage-stats", "--include-log-monitor=false"],
            env={**os.environ, **env},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            start_new_session=True,  # Control-C is told to whoever has the node.
            preexec_fn=die_with_parent,
        )

    def has_ended(self) -> bool:
        """True if the node is gone, perhaps because the head took it for dead."""
        return self._process.poll() is not None

    def why(self) -> str:
        """Returns the last line that a node that ended wrote."""
        assert self._process.stderr is not None
        return last_line(self._process.stderr.read()) or "ray start ended"

    def stop(self) -> None:
        """Ends the node; Ray's reaper ends what a `ray start` that is gone has started."""
        self._process.kill()
        self._process.wait()


def connect(address: str, node: Node | None = None) -> None:
    """Connects this process by a node of this machine, which may need a moment to be there."""
    _check_head(address)
    end = time.monotonic() + PATIENCE_S
    on_terminate = signal.getsignal(signal.SIGTERM)
    while True:
        try:
            ray.init(
                address=address,
                namespace=NAMESPACE,
                log_to_driver=False,
                logging_level=logging.ERROR,
                # The folder identifies one of several nodes on this host.
                _temp_dir=None if node is None else node.folder,
            )
        except Exception as error:  # Ray raises a kind of its own for each thing that is missing.
            if node is not None and node.has_ended():
                raise FleetError("unavailable", f"{address}: {node.why()}") from error
            if node is None or time.monotonic() > end:
                raise FleetError("unavailable", f"{address}: {last_line(str(error))}") from error
            time.sleep(0.5)
        else:
            signal.signal(signal.SIGTERM, on_terminate)  # ray.init has set one of its own.
            return


def _check_head(address: str) -> None:
    """Ray itself would try for minutes. Errors: `unavailable` where nothing listens."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    try:
        socket.create_connection((host, int(port)), timeout=5).close()
    except OSError as error:
        message = f"no head of a Ray cluster answers at {address}: {error}"
        raise FleetError("unavailable", message) from error


def find_broker() -> Any:
    """The handle of the fleet's broker, which is made on the head if there is none."""
    for module in (temporary, lines, work_command, ray_broker):
        ray.cloudpickle.register_pickle_by_value(module)
    options = {
        "name": BROKER,
        "namespace": NAMESPACE,
        "lifetime": "detached",
        "get_if_exists": True,
        "num_cpus": 0,
        "max_restarts": -1,
        "max_concurrency": 1000,
        "resources": {"node:__internal_head__": 0.001},
        "runtime_env": {"env_vars": SETTINGS},
    }
    return ray.remote(ray_broker.Broker).options(**options).remote(SETTINGS)
