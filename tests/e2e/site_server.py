"""A running `assay serve` of a workplace, and requests to it."""

import contextlib
import http.client
import signal
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from driver import Workplace, wait_for_end

READ_TOKEN = "reading-reading-reading"
ADD_TOKEN = "adding-adding-adding"


@dataclass(frozen=True)
class Answer:
    """An answer of the server."""

    status: int
    body: bytes
    headers: dict[str, str] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """The body as text."""
        return self.body.decode()


class Server:
    """Sends requests, each over a connection of its own."""

    def __init__(self, port: int) -> None:
        self.port = port

    def request(self, method: str, path: str, body: bytes | None = None, **headers: str) -> Answer:
        """`headers`: names with "_" for "-"."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        with contextlib.closing(connection):
            named = {name.replace("_", "-"): value for name, value in headers.items()}
            connection.request(method, path, body=body, headers=named)
            response = connection.getresponse()
            return Answer(response.status, response.read(), dict(response.getheaders()))

    def get(self, path: str, token: str = READ_TOKEN) -> Answer:
        """A page or document."""
        return self.request("GET", path, Authorization=f"Bearer {token}")

    def post(self, body: bytes, token: str = ADD_TOKEN) -> Answer:
        """A store part."""
        return self.request("POST", "/api/runs", body, Authorization=f"Bearer {token}")


@contextlib.contextmanager
def serving(place: Workplace, *flags: str | Path, tokens: bool = True) -> Iterator[Server]:
    """A server on a free port; it must end well."""
    if tokens:
        place.env["ASSAY_SITE_READ_TOKEN"] = READ_TOKEN
        place.env["ASSAY_SITE_ADD_TOKEN"] = ADD_TOKEN
    process = place.start("serve", "--port", "0", *flags)
    assert process.stdout is not None
    address = process.stdout.readline().strip()
    try:
        assert address.startswith("http://"), process.communicate()
        yield Server(int(address.rstrip("/").rpartition(":")[2]))
    finally:
        process.send_signal(signal.SIGINT)
        ended = wait_for_end(process)
    assert ended.code == 0, ended
