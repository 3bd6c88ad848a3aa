"""Schedulers for tests/campaigns/fleet.py: they start, are reached from hosts, and are killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Protocol

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from postgres import PostgresServer

from assay.fleet.ray_settings import SETTINGS

NETWORK = "10.77.0.0/16"


class Scheduler(Protocol):
    """Brings the jobs of a driver to the hosts."""

    def __init__(self, folder: Path) -> None: ...

    def __enter__(self) -> Scheduler: ...

    def __exit__(self, *_: object) -> None: ...

    def entry(self, address: str) -> dict:
        """The executor for devices.json, where this machine has an address."""

    def break_it(self) -> None:
        """Kills it, and has it start again."""


class Postgres:
    """PostgreSQL, which starts again three seconds after it was killed."""

    def __init__(self, folder: Path) -> None:
        del folder
        self._starting = PostgresServer.start(NETWORK)

    def __enter__(self) -> Postgres:
        self._server = self._starting.__enter__()
        self._url = self._server.fresh_database()
        return self

    def __exit__(self, *_: object) -> None:
        self._starting.__exit__(None, None, None)

    def entry(self, address: str) -> dict:
        return {"kind": "postgres", "dsn": self._url.replace("127.0.0.1", address)}

    def break_it(self) -> None:
        self._server.kill()
        time.sleep(3)
        self._server.begin()


class Ray:
    """The head of a Ray cluster, whose broker is killed; a cluster does not survive its head."""

    ADDRESS = "10.77.0.1"
    PORT = 6379

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def __enter__(self) -> Ray:
        subprocess.run(["ip", "addr", "add", f"{self.ADDRESS}/32", "dev", "lo"], check=True)
        options = {
            "port": str(self.PORT),
            "node-ip-address": self.ADDRESS,
            "num-cpus": "0",
            "include-dashboard": "false",
            "object-store-memory": str(200 * 1024 * 1024),
            "temp-dir": tempfile.mkdtemp(prefix="ray"),  # A short path, for its sockets.
        }
        words = [f"--{name}={value}" for name, value in options.items()]
        program = [sys.executable, "-m", "ray.scripts.scripts", "start", "--head", "--block"]
        with (self._folder / "head.log").open("ab") as log:
            self._head = subprocess.Popen(
                [*program, "--disable-usage-stats", *words],
                env={**os.environ, **SETTINGS},
                stdout=log,
                stderr=log,
            )
        return self

    def __exit__(self, *_: object) -> None:
        self._head.kill()
        self._head.wait()
        subprocess.run(["ip", "addr", "del", f"{self.ADDRESS}/32", "dev", "lo"], check=True)

    def entry(self, address: str) -> dict:
        del address
        return {"kind": "ray", "address": f"{self.ADDRESS}:{self.PORT}"}

    def break_it(self) -> None:
        found = subprocess.run(
            ["pgrep", "--full", "^ray::Broker"], capture_output=True, text=True, check=False
        )
        for pid in found.stdout.split():
            os.kill(int(pid), signal.SIGKILL)


SCHEDULERS: dict[str, type[Scheduler]] = {"postgres": Postgres, "ray": Ray}
