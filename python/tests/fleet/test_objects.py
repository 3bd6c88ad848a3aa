"""Files by digest in an object store, against a server of S3 on this machine."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

boto3 = pytest.importorskip("boto3")
server = pytest.importorskip("moto.server")

pytestmark = pytest.mark.slow


@pytest.fixture
def endpoint(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A server with a bucket "assay", where boto3 looks for it."""
    running = server.ThreadedMotoServer(port=0)
    running.start()
    host, port = running.get_host_and_port()
    address = f"http://{host}:{port}"
    for name, value in {
        "AWS_ENDPOINT_URL": address,
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        "AWS_DEFAULT_REGION": "us-east-1",
    }.items():
        monkeypatch.setenv(name, value)
    boto3.client("s3").create_bucket(Bucket="assay")
    yield address
    running.stop()


def answers(reference: str, *requests: dict[str, object]) -> list[dict[str, object]]:
    done = subprocess.run(
        [sys.executable, "-m", "assay.fleet.objects", reference],
        input="".join(json.dumps(one) + "\n" for one in requests),
        capture_output=True,
        text=True,
        check=True,
        env=dict(os.environ),
    )
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_gives_back_what_was_put(endpoint: str, tmp_path: Path) -> None:
    source, target = tmp_path / "source", tmp_path / "target"
    source.write_bytes(bytes(range(256)) * 1000)
    digest = hashlib.sha256(source.read_bytes()).hexdigest()
    put = {"put": digest, "file": str(source)}
    get = {"get": digest, "file": str(target)}
    assert answers("s3://assay/files", {"check": True}, put, put, get) == [{}] * 4
    assert target.read_bytes() == source.read_bytes()
    listed = boto3.client("s3").list_objects_v2(Bucket="assay")["Contents"]
    assert [one["Key"] for one in listed] == [f"files/{digest}"]


def test_tells_what_is_not_there(endpoint: str, tmp_path: Path) -> None:
    get = {"get": "0" * 64, "file": str(tmp_path / "x")}
    (absent,) = answers("s3://assay", get)
    assert absent["error"]["code"] == "not_found"
    assert not (tmp_path / "x").exists()
    (no_bucket,) = answers("s3://other", {"check": True})
    assert no_bucket["error"]["code"] == "not_found"
    assert "s3://other" in no_bucket["error"]["message"]
