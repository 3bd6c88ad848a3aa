"""A link that a test makes slow, or that forgets its connections.

The settings are a file, so that a test changes them while connections are open: `bytes_per_s` in
each direction (0: no limit), `delay_s` of each byte, and `forgotten`, the number of times that all
open connections were forgotten, as by a router that starts anew: their ends stay open, and nothing
arrives any more.
"""

import contextlib
import json
import select
import socket
import time
from collections import deque
from pathlib import Path

DEFAULTS = {"bytes_per_s": 0, "delay_s": 0.0, "forgotten": 0}
CHUNK_BYTES = 1 << 15
LOOK_S = 0.05
HELD_BYTES = 1 << 18
"""Bytes under way in one direction, at most."""


def read_settings(file: Path) -> dict[str, float]:
    """The settings of a link; those that are not there have their defaults."""
    with contextlib.suppress(OSError, ValueError):
        return {**DEFAULTS, **json.loads(file.read_text())}
    return dict(DEFAULTS)


def write_settings(file: Path, **changes: float) -> None:
    """Changes settings of a link, all at once."""
    settings = {**read_settings(file), **changes}
    new = file.with_suffix(".new")
    new.write_text(json.dumps(settings))
    new.rename(file)


class Direction:
    """Bytes from one socket to another, each of which arrives when its time has come."""

    def __init__(self, source: socket.socket, target: socket.socket) -> None:
        self.source, self.target = source, target
        self.is_over = False
        self._queue: deque[tuple[float, bytes]] = deque()
        self._held_bytes = 0
        self._free_at = 0.0

    @property
    def reads(self) -> bool:
        """True if more may be under way."""
        return not self.is_over and self._held_bytes < HELD_BYTES

    def take(self, settings: dict[str, float]) -> None:
        """Reads what has come; an end of the stream arrives as bytes do."""
        try:
            data = self.source.recv(CHUNK_BYTES)
        except OSError:
            data = b""
        now = time.monotonic()
        rate = settings["bytes_per_s"]
        self._free_at = max(self._free_at, now) + (len(data) / rate if rate else 0)
        self._queue.append((self._free_at + settings["delay_s"], data))
        self._held_bytes += len(data)
        self.is_over = not data

    def give(self) -> bool:
        """Sends on what is due; false once the stream has ended or nobody takes it."""
        while self._queue and self._queue[0][0] <= time.monotonic():
            _, data = self._queue.popleft()
            self._held_bytes -= len(data)
            try:
                if not data:
                    self.target.shutdown(socket.SHUT_WR)
                    return False
                self.target.sendall(data)
            except OSError:
                return False
        return True

    def wait_s(self) -> float:
        """Time until the next bytes are due, at most until the settings are read again."""
        due_s = self._queue[0][0] - time.monotonic() if self._queue else LOOK_S
        return min(max(due_s, 0), LOOK_S)


class Relay:
    """Stands between two sockets until both have ended."""

    def __init__(self, here: socket.socket, there: socket.socket, file: Path) -> None:
        self._file = file
        self._forgotten = read_settings(file)["forgotten"]
        self._directions = [Direction(here, there), Direction(there, here)]

    def run(self) -> None:
        """Returns when nothing more can arrive; a link that was forgotten stays for ever."""
        while self._directions:
            settings = read_settings(self._file)
            if settings["forgotten"] != self._forgotten:
                time.sleep(1e9)
            readers = {one.source: one for one in self._directions if one.reads}
            wait_s = min(one.wait_s() for one in self._directions)
            for source in select.select(list(readers), [], [], wait_s)[0]:
                readers[source].take(settings)
            self._directions = [one for one in self._directions if one.give()]
