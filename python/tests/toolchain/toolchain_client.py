"""A client of the fork server, for tests."""

import json
import os
import subprocess
import sys
import threading
from pathlib import Path
from queue import Empty, Queue

import pytest


def find_own_toolchain(name: str) -> Path | None:
    """Finds its interpreter as src/assay/artifact/toolchains.h does; None: it is not here."""
    named = os.environ.get(f"ASSAY_PYTHON_{name.upper()}")
    path = Path(named) if named else Path(sys.prefix).parent / f".venv-{name}/bin/python"
    return path if path.exists() else None


class Client:
    """Talks to a fork server; events are kept by the id of their job."""

    def __init__(self, argv: list[str], **environment: str) -> None:
        self.process = subprocess.Popen(
            argv,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, **environment},
        )
        self._lines: Queue[str] = Queue()
        self.stderr: list[str] = []
        self.stages: dict[object, list[str]] = {}
        threading.Thread(target=self._read, daemon=True).start()
        threading.Thread(target=self._read_errors, daemon=True).start()

    def _read(self) -> None:
        for line in self.process.stdout:
            self._lines.put(line)
        self._lines.put("")

    def _read_errors(self) -> None:
        for line in self.process.stderr:
            self.stderr.append(line)

    def send(self, request: dict | str) -> None:
        line = request if isinstance(request, str) else json.dumps(request)
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def next_event(self, timeout: float = 400.0) -> dict:
        """The next line; the patience is for machines that do other work as well."""
        try:
            line = self._lines.get(timeout=timeout)
        except Empty:
            pytest.fail(f"no event in {timeout} s; stderr: {''.join(self.stderr[-5:])}")
        assert line, "the server closed its output: " + "".join(self.stderr[-5:])
        return json.loads(line)

    def next_done(self) -> dict:
        """The next event that is no stage; stages are filed under their job."""
        while (event := self.next_event())["event"] == "stage":
            self.stages.setdefault(event["id"], []).append(event["stage"])
        return event

    def run(self, **request: object) -> dict:
        """Runs one job and returns its done event."""
        request = {"id": "job", **request}
        self.stages.pop(request["id"], None)
        self.send(request)
        return self.next_done()

    def close(self) -> int:
        self.process.stdin.close()
        return self.process.wait(timeout=300)
