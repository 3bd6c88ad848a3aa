"""Programs that answer lines of JSON."""

import json
import signal
import subprocess
import sys

SCRIPT = """
from assay.fleet.lines import FleetError, answer_lines

def answer(request):
    print("a library says something")
    if request.get("ask") == "fail":
        raise FleetError("not_found", "there is none")
    return {"sum": request["a"] + request["b"]}

answer_lines(answer)
"""


def answers(*lines: str) -> list[dict[str, object]]:
    """Answers to lines, in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        input="".join(f"{line}\n" for line in lines),
        capture_output=True,
        text=True,
        check=True,
    )
    assert "a library says something" in done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


WAITING = """
import sys
from assay.fleet.lines import answer_lines

def answer(request):
    print("asked", file=sys.stderr, flush=True)
    return {"heard": sys.stdin.readline()}

answer_lines(answer)
"""


def test_signals_to_the_whole_group_leave_it_to_whoever_asks() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", WAITING],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdin is not None
        assert process.stderr is not None
        process.stdin.write("{}\n")
        process.stdin.flush()
        assert process.stderr.readline() == "asked\n"
        for number in (signal.SIGINT, signal.SIGTERM):
            process.send_signal(number)
        out, err = process.communicate("still there\n")
    assert (json.loads(out), err, process.returncode) == ({"heard": "still there\n"}, "", 0)


def test_answers_each_line_and_keeps_stdout_to_itself() -> None:
    assert answers('{"a": 1, "b": 2}', '{"a": 3, "b": 4}') == [{"sum": 3}, {"sum": 7}]


def test_tells_errors_with_their_code_and_goes_on() -> None:
    told, broken, after = answers('{"ask": "fail"}', '{"a": 1}', '{"a": 1, "b": 1}')
    assert told == {"error": {"code": "not_found", "message": "there is none"}}
    assert broken["error"] == {"code": "unavailable", "message": "KeyError: 'b'"}
    assert after == {"sum": 2}
