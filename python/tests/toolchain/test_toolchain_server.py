"""The process contract, with stub jobs: no torch needed."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from toolchain_client import Client

STUB = [sys.executable, str(Path(__file__).parent / "toolchain_stub_server.py")]


@pytest.fixture
def stub():
    client = Client([*STUB, "2"])
    yield client
    client.process.kill()


def test_answers_with_the_result_and_keeps_stdout_clean(stub, tmp_path):
    done = stub.run(job="echo", value=3, out_dir=str(tmp_path))
    assert (done["outcome"], done["stage"], done["result"]["value"]) == ("completed", "model", 3)
    assert stub.stages["job"] == ["model"]
    assert "noise on stdout" in (tmp_path / "log.txt").read_text()


def test_temporary_logs_are_removed(stub, tmp_path):
    client = Client([*STUB, "1"], TMPDIR=str(tmp_path))
    assert client.run(job="echo")["outcome"] == "completed"
    assert client.run(job="leave")["text"].endswith("a result")
    assert client.close() == 0
    assert list(tmp_path.iterdir()) == []


def test_relays_a_result_larger_than_a_pipe(stub):
    assert len(stub.run(job="echo", size=300_000)["result"]["text"]) == 300_000


@pytest.mark.slow
def test_a_client_may_write_all_its_requests_before_it_reads():
    """Both pipes hold less than what waits in them: neither side may wait for the other."""
    count = 400
    request = {"job": "echo", "size": 20_000, "value": "x" * 20_000}
    requests = [{"id": i, **request} for i in range(count)]
    lines = "".join(json.dumps(request) + "\n" for request in requests).encode()
    server = subprocess.Popen([*STUB, "2"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    os.set_blocking(server.stdin.fileno(), False)
    deadline = time.monotonic() + 120
    while lines and time.monotonic() < deadline:
        try:
            lines = lines[os.write(server.stdin.fileno(), lines) :]
        except BlockingIOError:
            time.sleep(0.01)
    assert not lines, f"{len(lines)} bytes of requests were not taken"
    server.stdin.close()
    events = [json.loads(line) for line in server.stdout]
    assert sorted(event["id"] for event in events if event["event"] == "done") == list(range(count))
    assert server.wait() == 0


def test_runs_as_many_jobs_as_allowed_and_queues_the_rest(stub):
    for number, seconds in enumerate((1.5, 0.1, 0.1)):
        stub.send({"id": number, "job": "echo", "seconds": seconds})
    assert [stub.next_done()["id"] for _ in range(3)] == [1, 2, 0]


@pytest.mark.parametrize("line", ["not json", "[1]", '{"job": "echo"}', "\x00"])
def test_survives_a_malformed_line(stub, line):
    stub.send(line)
    event = stub.next_event()
    assert (event["event"], event["reason_code"]) == ("error", "invalid_request")
    assert stub.run(job="echo")["outcome"] == "completed"


def test_what_a_job_imports_is_there_for_the_next(stub):
    modules = ["wave", "colorsys"]
    first = stub.run(job="load", modules=modules)
    assert first["result"] == {"there": []}
    assert "imported" not in first
    assert stub.run(job="load", modules=modules)["result"] == {"there": modules}


def test_a_job_that_fails_and_a_plug_in_bring_nothing_into_the_server(tmp_path):
    (tmp_path / "brought_along.py").write_text("")
    client = Client([*STUB, "1"], PYTHONPATH=str(tmp_path))
    assert client.run(job="load", modules=["wave"], error="no")["outcome"] == "unsupported"
    for _ in range(2):
        done = client.run(job="load", modules=["brought_along", "wave"])
        assert "brought_along" not in done["result"]["there"]
    assert done["result"]["there"] == ["wave"]
    client.process.kill()


def test_refuses_a_second_job_with_the_same_id(stub):
    stub.send({"id": 1, "job": "echo", "seconds": 0.5})
    stub.send({"id": 1, "job": "echo"})
    events = [stub.next_done(), stub.next_done()]
    assert sorted(event["event"] for event in events) == ["done", "error"]


def test_unknown_job_suggests(stub):
    done = stub.run(job="ecco")
    assert (done["outcome"], done["reason_code"]) == ("aot_error", "invalid_request")
    assert "did you mean echo" in done["text"]


def test_declared_refusal_is_unsupported(stub):
    done = stub.run(job="refuse")
    assert (done["outcome"], done["stage"]) == ("unsupported", "lower")


def test_own_bug_is_a_harness_error_with_a_traceback_in_the_log(stub, tmp_path):
    done = stub.run(job="bug", out_dir=str(tmp_path))
    assert done["outcome"] == "aot_error"  # the stub's file is not in the package
    assert "KeyError" in (tmp_path / "log.txt").read_text()


def test_exit_without_a_result_is_a_crash(stub):
    done = stub.run(job="leave")
    assert (done["outcome"], done["reason_code"], done["stage"]) == ("crashed", "exited", "export")
    assert "status 7" in done["text"]


def test_deadline_kills(stub):
    start = time.monotonic()
    done = stub.run(job="echo", seconds=60, timeout_ns=300_000_000)
    assert (done["outcome"], done["stage"]) == ("timed_out", "model")
    assert time.monotonic() - start < 10


@pytest.mark.parametrize("field", [{"timeout_ns": "soon"}, {"out_dir": "/proc/nowhere"}])
def test_bad_fields_of_the_frame_are_refused(stub, field):
    assert stub.run(job="echo", **field)["outcome"] == "aot_error"
    assert stub.run(job="echo")["outcome"] == "completed"


def test_end_of_input_finishes_what_is_under_way():
    requests = [{"id": n, "job": "echo", "seconds": 0.2} for n in range(3)]
    text = "\n".join(json.dumps(request) for request in requests)  # no newline at the end
    done = subprocess.run([*STUB, "1"], input=text, capture_output=True, text=True, timeout=60)
    events = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == 0
    assert [e["id"] for e in events if e["event"] == "done"] == [0, 1, 2]


def test_reads_requests_from_a_file(tmp_path):
    path = tmp_path / "requests.jsonl"
    path.write_text('{"id": 1, "job": "echo"}\n')
    with path.open() as file:
        done = subprocess.run([*STUB, "1"], stdin=file, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0
    assert '"outcome": "completed"' in done.stdout


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_signal_kills_the_children_and_ends(stub, number):
    stub.send({"id": 1, "job": "echo", "seconds": 600})
    assert stub.next_event()["event"] == "stage"
    children = Path(f"/proc/{stub.process.pid}/task/{stub.process.pid}/children")
    child = int(children.read_text().split()[0])
    stub.process.send_signal(number)
    assert stub.process.wait(timeout=10) == 128 + number
    time.sleep(0.2)
    assert not Path(f"/proc/{child}").exists() or is_zombie(child)


def test_children_die_with_a_killed_server(stub):
    stub.send({"id": 1, "job": "echo", "seconds": 600})
    stub.next_event()
    children = Path(f"/proc/{stub.process.pid}/task/{stub.process.pid}/children")
    child = int(children.read_text().split()[0])
    stub.process.kill()
    stub.process.wait()
    time.sleep(0.3)
    assert not Path(f"/proc/{child}").exists() or is_zombie(child)


def is_zombie(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z"
    except (FileNotFoundError, ProcessLookupError):
        return True


def count_pipes(pid: int) -> int:
    targets = [str(entry.readlink()) for entry in Path(f"/proc/{pid}/fd").iterdir()]
    return sum(target.startswith("pipe:") for target in targets)


def test_a_child_sees_neither_the_wire_nor_the_pipes_of_others(stub, tmp_path):
    stub.send({"id": 1, "job": "echo", "seconds": 30})
    stub.send({"id": 2, "job": "echo", "seconds": 30})
    children = Path(f"/proc/{stub.process.pid}/task/{stub.process.pid}/children")
    pipes: list[int] = []
    deadline = time.monotonic() + 20
    while pipes != [1, 1] and time.monotonic() < deadline:
        time.sleep(0.05)  # A child closes what it inherits after it has started.
        pipes = [count_pipes(int(pid)) for pid in children.read_text().split()]
    assert pipes == [1, 1]


def test_nothing_heavy_is_imported_before_the_server_takes_stdout():
    code = "import sys, assay.toolchain.server.server; sys.exit(int('torch' in sys.modules))"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
