"""The worker of a folder of jobs outlives whatever a host does with a job."""

import importlib.util
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

TOOL = Path(__file__).resolve().parents[2] / "tools" / "job_worker.py"
RUNNER = """#!/bin/sh
if [ "$1" = --describe ]; then echo '{"name": "fake", "version": "1", "build_id": "b"}'; fi
"""


def load() -> Any:
    spec = importlib.util.spec_from_file_location("job_worker", TOOL)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


job_worker = load()


@pytest.fixture
def worker(tmp_path: Path) -> Any:
    runner = tmp_path / "runner"
    runner.write_text(RUNNER, encoding="utf-8")
    runner.chmod(0o755)
    return job_worker.Worker(tmp_path / "root", [runner], heartbeat_s=60)


def job_of(frames: Path, **changes: Any) -> dict[str, Any]:
    frames.write_bytes(b"frames")
    return {
        "schema": job_worker.JOB_SCHEMA,
        "frames": {"sha256": job_worker.digest_of(frames)},
        "limits": {"memory_bytes": 0, "wall_ns": 60_000_000_000},
        "engine": "fake@1",
        "build_id": "b",
        "files": [],
        "cpus": [],
        "env": {},
        **changes,
    }


def claim(worker: Any, name: str = "a", **changes: Any) -> Path:
    """A job that the worker has taken."""
    folder = worker.root / "jobs" / name
    folder.mkdir(parents=True)
    job = job_of(folder / "frames", **changes)
    (folder / "job.json").write_text(json.dumps(job), encoding="utf-8")
    claimed = worker.claim_next()
    assert isinstance(claimed, Path)
    return claimed


def answer_of(worker: Any, name: str = "a") -> dict[str, Any]:
    text = (worker.root / "answers" / name / "answer.json").read_text(encoding="utf-8")
    return dict(json.loads(text))


def test_a_job_is_executed_and_answered(worker: Any) -> None:
    worker.execute(claim(worker))
    assert answer_of(worker)["end"]["exit_code"] == 0


@pytest.mark.parametrize("step", ["read_job", "find_runner", "lay_out", "run_process"])
def test_a_job_that_is_withdrawn_at_any_step_leaves_nothing(worker: Any, step: str) -> None:
    claimed = claim(worker)
    original: Callable[..., Any] = getattr(worker, step)

    def withdraw_then(*arguments: Any) -> Any:
        shutil.rmtree(claimed)
        return original(*arguments)

    setattr(worker, step, withdraw_then)
    worker.execute(claimed)
    assert list((worker.root / "answers").iterdir()) == []
    setattr(worker, step, original)
    worker.execute(claim(worker, "b"))
    assert answer_of(worker, "b")["end"]["exit_code"] == 0


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        '"text"',
        '{"schema": "assay/job/1"}',
        '{"schema": "assay/job/1", "frames": 3}',
    ],
)
def test_a_job_that_cannot_be_read_is_answered(worker: Any, text: str) -> None:
    claimed = claim(worker)
    (claimed / "job.json").write_text(text, encoding="utf-8")
    worker.execute(claimed)
    assert answer_of(worker)["error"]["code"] == "corrupt"


def test_a_job_names_blobs_by_their_digest_only(worker: Any) -> None:
    kept = worker.root / "kept"
    kept.write_text("text", encoding="utf-8")
    worker.execute(claim(worker, files=[{"path": "a", "sha256": "../kept"}]))
    assert answer_of(worker)["error"]["code"] == "corrupt"
    assert kept.exists()


def test_a_folder_that_was_released_serves_the_next_host(worker: Any) -> None:
    claimed = claim(worker)
    shutil.rmtree(worker.root)
    worker.execute(claimed)
    assert worker.claim_next() is None
    worker.execute(claim(worker, "b"))
    assert answer_of(worker, "b")["end"]["exit_code"] == 0
