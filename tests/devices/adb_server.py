"""An adb server of a test's own, beside whatever servers the machine has.

It speaks with the server directly, so that nothing is started by asking.
"""

import contextlib
import os
import socket
import subprocess
import time
from pathlib import Path

from namespaces import NoDevice, Scope, find_tools


def find_free_port() -> int:
    """A TCP port that nobody listens on."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


class AdbServer:
    """A server, whose keys are in `folder`; it ends with stop(), or with the scope."""

    def __init__(self, folder: Path, scope: Scope) -> None:
        self._folder, self._scope = folder, scope
        self._process: subprocess.Popen[bytes] | None = None
        self.port = find_free_port()
        self.environment = {"ANDROID_ADB_SERVER_PORT": str(self.port)}

    def start(self) -> None:
        """Starts the server; returns when it answers."""
        find_tools("adb")
        environment = {**os.environ, **self.environment, "HOME": str(self._folder)}
        self._process = subprocess.Popen(
            [*self._scope.enter("pid"), "adb", "-P", str(self.port), "nodaemon", "server"],
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        end = time.monotonic() + 10
        while self.ask("host:version") is None:
            if time.monotonic() > end:
                raise NoDevice("adb's server does not start: adb nodaemon server")
            time.sleep(0.01)

    def stop(self) -> None:
        """Ends it, or one that a client has started in its place."""
        self.ask("host:kill")
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    def ask(self, request: str) -> str | None:
        """The server's answer to a request; None when no server runs."""
        with contextlib.suppress(OSError), socket.socket() as server:
            server.settimeout(5)
            server.connect(("127.0.0.1", self.port))
            server.sendall(f"{len(request):04x}{request}".encode())
            answer = b""
            while data := server.recv(4096):
                answer += data
            return answer[8:].decode()
        return None

    def find_state(self, serial: str) -> str | None:
        """State of a device as the server lists it, "" if it does not; None without a server."""
        listed = self.ask("host:devices")
        if listed is None:
            return None
        states = dict(line.split("\t", 1) for line in listed.splitlines() if "\t" in line)
        return states.get(serial, "")
