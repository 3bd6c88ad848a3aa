"""A watcher tells commands and addresses of its incidents, once for each state."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
from driver import Document, Workplace
from toy_repository import Source, repository_file, watch

TOKEN = "s3cret-of-the-hook"


class Receiver:
    """An HTTP server that answers with the given codes, the last one for ever."""

    def __init__(self, *codes: int) -> None:
        self.codes = list(codes)
        self.requests: list[tuple[str, str, Document]] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                outer.requests.append(
                    (self.path, self.headers.get("Authorization", ""), json.loads(body))
                )
                code = outer.codes.pop(0) if len(outer.codes) > 1 else outer.codes[0]
                self.send_response(code)
                self.end_headers()

            def log_message(self, format: str, *args: object) -> None:
                pass

        self.server = HTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()

    @property
    def states(self) -> list[str]:
        return [body["state"] for _, _, body in self.requests]


@pytest.fixture
def source(place: Workplace) -> Source:
    source = Source(place)
    source.commit("Add a benchmark")
    source.commit("conv: simplify", conv=112)
    return source


@pytest.fixture
def token(place: Workplace) -> Path:
    file = place.folder / "token"
    file.write_text(TOKEN + "\n")
    file.chmod(0o600)
    return file


def tell(place: Workplace, *receivers: Document) -> None:
    document = repository_file() | {"notify": list(receivers)}
    (place.folder / "toy.json").write_text(json.dumps(document))


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    receiver = Receiver(200)
    yield receiver
    receiver.close()


def test_posts_each_incident_once(
    place: Workplace, source: Source, token: Path, receiver: Receiver
) -> None:
    url = receiver.url + "/hook?key=of-the-address"
    tell(place, {"url": url, "token_file": "token", "on": ["confirmed"]})
    first = watch(place, "--events", "events.jsonl")
    watch(place)
    ((path, authorization, body),) = receiver.requests
    assert path == "/hook?key=of-the-address"
    assert authorization == f"Bearer {TOKEN}"
    assert (body["schema"], body["state"]) == ("assay/incident/1", "confirmed")
    assert body["culprit"] == source.hashes[1]
    assert "told" not in body["incidents"][0]["attribution"]

    kept = b"".join(path.read_bytes() for path in place.home.rglob("*") if path.is_file())
    kept += (place.folder / "events.jsonl").read_bytes()
    for secret in (TOKEN, "of-the-address"):
        assert secret not in first.out + first.err, "it is not printed"
        assert secret.encode() not in kept, "it is not stored"


def test_posts_again_after_an_error(place: Workplace, source: Source, token: Path) -> None:
    receiver = Receiver(500, 200)
    hook = place.folder / "hook"
    hook.write_text(f"#!/bin/sh\ncat >> {place.folder}/told\n")
    hook.chmod(0o755)
    tell(
        place,
        {"url": receiver.url + "/secret-path", "on": ["confirmed"]},
        {"argv": [str(hook)], "on": ["confirmed"]},
    )
    first = watch(place)
    assert f"to {receiver.url} was answered 500" in first.err
    assert "secret-path" not in first.err
    watch(place)
    receiver.close()
    assert receiver.states == ["confirmed", "confirmed"], "again after the error, and then no more"
    told = (place.folder / "told").read_text().splitlines()
    assert len(told) == 1, "the command that was told is not told again"


def test_an_address_without_a_server_is_a_warning(
    place: Workplace, source: Source, token: Path
) -> None:
    receiver = Receiver(200)
    receiver.close()
    token.chmod(0o644)
    tell(place, {"url": receiver.url, "token_file": "token", "on": ["confirmed"]})
    dead = watch(place)
    assert f"to {receiver.url} was not sent: " in dead.err
    assert "other users can read the token" in dead.err
    token.unlink()
    assert "has no token" in watch(place).err
    place.env["PATH"] = without_curl(place)
    token.write_text(TOKEN)
    assert "could not be sent by curl" in watch(place).err


def without_curl(place: Workplace) -> str:
    """A PATH with what the watcher needs and no more."""
    folder = place.folder / "programs"
    folder.mkdir()
    for name in ("git", "sh"):
        for path in place.env["PATH"].split(":"):
            if (Path(path) / name).exists():
                (folder / name).symlink_to(Path(path) / name)
                break
    return str(folder)
