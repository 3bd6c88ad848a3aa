"""Talks to an assay-agent on a device, over the command line that reaches it."""

import json
import os
import platform
import struct
import subprocess
from pathlib import Path
from typing import Any

from fuzz.make_corpus import frame
from namespaces import NoDevice

ROOT = Path(__file__).resolve().parents[2]
HELLO, SPAWN = 1, 5
HEAD_BYTES = 32


def find_agent(architecture: str) -> Path:
    """The agent that was built for a processor; NoDevice when it was not."""
    if architecture == platform.machine():
        folder, how = (
            Path(os.environ.get("ASSAY_BIN_DIR", ROOT / "build/release/bin")),
            "make build",
        )
    else:
        folder, how = ROOT / "build" / architecture / "bin", f"make {architecture}"
    if not (folder / "assay-agent").exists():
        raise NoDevice(f"{folder}/assay-agent is missing: {how}")
    return folder / "assay-agent"


class FarAgent:
    """An agent that was started by a command line; greeted, and ended when the block ends."""

    def __init__(self, argv: list[str], environment: dict[str, str] | None = None) -> None:
        self.process = subprocess.Popen(
            argv,
            env={**os.environ, **(environment or {})},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    def __enter__(self) -> "FarAgent":
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.communicate()

    def send(self, kind: int, body: dict[str, Any]) -> None:
        """Sends a request."""
        assert self.process.stdin is not None
        self.process.stdin.write(frame(kind, body))
        self.process.stdin.flush()

    def receive(self) -> tuple[int, dict[str, Any]]:
        """The next frame's type and body; raises EOFError with what the transport said."""
        assert self.process.stdout is not None
        assert self.process.stderr is not None
        head = self.process.stdout.read(HEAD_BYTES)
        if len(head) < HEAD_BYTES:
            raise EOFError(self.process.stderr.read().decode())
        _, _, kind, _, json_bytes, blob_bytes, _, _ = struct.unpack("<IHHIIQII", head)
        body = self.process.stdout.read(json_bytes)
        self.process.stdout.read(blob_bytes)
        return kind, json.loads(body)

    def greet(self) -> dict[str, Any]:
        """Exchanges hellos; the agent's."""
        self.send(HELLO, {"protocol_min": 1, "protocol_max": 1, "program": "test"})
        kind, body = self.receive()
        assert kind == HELLO, body
        return body

    def spawn(self, argv: list[str]) -> None:
        """Lets it run a program; the answer comes when that ends."""
        self.send(SPAWN, {"argv": argv, "limits": {"wall_ns": 60 * 10**9}})
