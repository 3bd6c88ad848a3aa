"""Files of FAI-PEP's dialect: listed, imported, run as they are, and reported in its format."""

import hashlib
import json
import os
from pathlib import Path

import pytest
from availability import need_engine
from driver import Document, Workplace
from programs import tflite_relu

TFLITE = """#!/bin/sh
echo "Running benchmark for at least 1 iterations"
echo "count=1 curr=9000"
echo "Running benchmark for at least 50 iterations"
echo "count=50 first=4100 curr=4000 min=3900 max=4200 avg=4010.5 std=33" >&2
"""

ACCURACY = """#!/bin/sh
# out
cat "$1" | while read right; do
  echo "MyObserver {\\"type\\": \\"top1\\", \\"metric\\": \\"accuracy\\", \\"value\\": $right}"
done > "$2"
"""


def write_script(place: Workplace, name: str, text: str) -> Path:
    folder = place.folder / "programs"
    folder.mkdir(exist_ok=True)
    path = folder / name
    path.write_text(text, encoding="utf-8")
    path.chmod(0o755)
    return path


def write_tflite(place: Workplace, content: bytes = b"graph", **test: object) -> Path:
    (place.folder / "models").mkdir()
    (place.folder / "models" / "net.tflite").write_bytes(content)
    md5 = hashlib.md5(content, usedforsecurity=False).hexdigest()
    graph = {"filename": "net.tflite", "location": "//models/net.tflite", "md5": md5}
    one: Document = {
        "metric": "delay",
        "iter": 50,
        "warmup": 1,
        "commands": ["{program} --graph={files.graph} --num_runs={iter} --num_threads=2"],
        **test,
    }
    document = {
        "model": {"name": "net", "format": "tflite", "files": {"graph": graph}},
        "tests": [{**one, "identifier": "net-{ID}"}, {**one, "identifier": "p", "metric": "power"}],
    }
    path = place.folder / "net.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    return path


def test_a_file_is_run_as_it_is(place: Workplace) -> None:
    path = write_tflite(place)
    before = path.read_bytes()
    program = write_script(place, "bench.sh", TFLITE)
    stand_ins = ("--root", place.folder, "--program", f"program={program}")
    listed = place.run("run", path, *stand_ins, "--dry-run")
    graph = place.folder / "models" / "net.tflite"
    assert f"{program} --graph={graph} --num_runs=50 --num_threads=2" in listed.out
    finished = place.run("run", path, *stand_ins, "--format", "json", "--quiet")
    assert finished.code == 0, finished
    timed, power = finished.json()["cases"]
    assert timed["metrics"]["program:net_latency"]["value"] == 4_010_500
    assert timed["metrics"]["program:net_latency_min"]["value"] == 3_900_000
    assert any(str(program) in note for note in timed["notes"]), timed["notes"]
    assert power["outcome"] == "unsupported"
    assert "meter" in power["text"]
    assert path.read_bytes() == before
    report = place.run("report", "latest", "--format", "fai-pep")
    (result,) = json.loads(report.out)
    assert result["meta"]["identifier"] == "net-0"
    assert result["meta"]["framework"] == "tflite"
    assert result["data"]["NET latency"]["summary"]["p50"] == 4010.5


def test_the_same_test_with_another_program_is_the_same_case(place: Workplace) -> None:
    path = write_tflite(place)
    keys = set()
    for name in ("a.sh", "b.sh"):
        program = write_script(place, name, TFLITE)
        finished = place.run(
            *("run", path, "--root", place.folder, "--program", f"program={program}"),
            *("--format", "json", "--quiet"),
        )
        keys.add(finished.json()["cases"][0]["case_key"])
    assert len(keys) == 1


def test_a_damaged_file_names_both_digests(place: Workplace) -> None:
    path = write_tflite(place)
    (place.folder / "models" / "net.tflite").write_bytes(b"other")
    program = write_script(place, "bench.sh", TFLITE)
    finished = place.run(
        *("run", path, "--root", place.folder, "--program", f"program={program}"),
        *("--format", "json", "--quiet"),
    )
    row = finished.json()["cases"][0]
    assert row["outcome"] == "load_error", row
    for content in (b"graph", b"other"):
        assert hashlib.md5(content, usedforsecurity=False).hexdigest() in row["text"]


def test_processors_that_are_not_here_are_a_reason(place: Workplace) -> None:
    count = os.cpu_count() or 1
    path = write_tflite(place, **{"cpu-list": count})
    program = write_script(place, "bench.sh", TFLITE)
    finished = place.run(
        *("run", path, "--root", place.folder, "--program", f"program={program}"),
        *("--format", "json", "--quiet"),
    )
    row = finished.json()["cases"][0]
    assert row["outcome"] == "unsupported"
    assert f"processors {count}, and there are 0 to {count - 1} here" in row["text"]


def test_what_is_absent_names_its_flag(place: Workplace) -> None:
    path = write_tflite(place)
    finished = place.run("run", path)
    assert finished.code != 0
    assert "--root FOLDER" in finished.err
    assert "--program program=PATH" in finished.err
    unknown = write_script(place, "unused.sh", TFLITE).with_name("unknown.json")
    document = json.loads(path.read_text())
    document["tests"][0]["commands"] = ["{program} {IMAGES}/x"]
    unknown.write_text(json.dumps(document))
    finished = place.run("run", unknown, "--dry-run")
    assert "tests[0].commands[0]: nothing is known of {IMAGES}" in finished.err


def test_accuracy_is_read_from_what_the_commands_of_the_host_leave(place: Workplace) -> None:
    program = write_script(place, "accuracy.sh", ACCURACY)
    document = {
        "model": {
            "name": "net",
            "format": "generic",
            "repeat": 2,
            "preprocess": {"commands": ["sh -c 'echo 0.75 > {HOSTDIR}/labels'"]},
            "converter": {
                "name": "json_with_identifier_converter",
                "args": {"identifier": "MyObserver "},
            },
        },
        "tests": [
            {
                "identifier": "accuracy",
                "metric": "accuracy",
                "commands": ["{program} {HOSTDIR}/labels {output_files.out}"],
                "output_files": {
                    "out": {
                        "filename": "out.txt",
                        "location": "{TGTDIR}/out.txt",
                        "converter": {"name": "json_with_identifier_converter"},
                    }
                },
            }
        ],
    }
    path = place.folder / "accuracy.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    flags = ("run", path, "--program", f"program={program}", "--format", "json", "--quiet")
    (refused,) = place.run(*flags).json()["cases"]
    assert "--allow-commands" in refused["text"]
    finished = place.run(*flags, "--allow-commands")
    (row,) = finished.json()["cases"]
    assert row["metrics"]["program:top1_accuracy"]["value"] == 0.75, row


@pytest.mark.slow
def test_graphs_run_on_litert(place: Workplace) -> None:
    need_engine(place, "litert")
    path = write_tflite(place, content=tflite_relu())
    finished = place.run(
        *("run", path, "--root", place.folder, "--as", "litert", "--format", "json", "--quiet"),
        timeout_s=300,
    )
    cases = finished.json()["cases"]
    assert {case["engine"].split("@")[0] for case in cases} == {"litert"}
    assert all(case["metrics"]["steady_ns"]["value"] > 0 for case in cases)
