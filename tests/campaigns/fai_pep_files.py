"""Tries every file of FAI-PEP's format in a folder: lists it, compares its command lines, runs it.

    python tests/campaigns/fai_pep_files.py FOLDER

Each file is listed by `assay import FILE --dry-run`, and its command lines are compared with those
that this script puts together by itself, from FAI-PEP's own rules. Then the delay tests are run on
a stand-in program, which prints what benchmark_model or Caffe2 would print. The files are read and
never written to; a copy of one that differs afterwards is an error.
"""

import argparse
import copy
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
BIN = Path(os.environ.get("ASSAY_BIN_DIR", ROOT / "build" / "release" / "bin"))

Document = dict[str, Any]

PLACEHOLDER = re.compile(r"\{([\w.]+)\}")
CACHE = "/fai-pep/cache"
PROGRAM = "/fai-pep/program"
VALUES = {
    "FAIPEPROOT": "/fai-pep/root",
    "IMAGENET_DIR": "/fai-pep/imagenet",
    "COCO_DIR": "/fai-pep/coco",
    "MODEL_DIR": "/fai-pep/models",
    "convert_image_to_tensor": "/fai-pep/convert_image_to_tensor",
}
"""Values that the public files leave to the user, besides the program."""

STAND_IN = """#!/bin/sh
# Prints what a benchmark prints, whatever it is asked.
case "$*" in
  *--graph=*)
    echo "Running benchmark for at least 1 iterations and at least 0.5 seconds"
    echo "count=1 curr=5000"
    echo
    echo "Running benchmark for at least 50 iterations and at least 1 seconds"
    echo "count=50 first=4100 curr=4000 min=3900 max=4200 avg=4010.5 std=33"
    ;;
  *)
    for i in 1 2 3; do
      echo 'Caffe2Observer {"type": "NET", "metric": "latency", "unit": "us", "value": "40"}'
      echo 'Caffe2Observer {"type": "conv", "metric": "latency", "unit": "us", "value": "30"}'
    done
    ;;
esac
"""


@dataclass
class Tally:
    """Counts of a campaign, and every fault that it found."""

    counts: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)


# ---- FAI-PEP's rules, written anew


def merge(target: Any, source: Any) -> None:
    """Lists append; what the target has stays."""
    if isinstance(source, list):
        target.extend(source)
    elif isinstance(source, dict):
        for key, value in source.items():
            if key in target:
                merge(target[key], value)
            else:
                target[key] = copy.deepcopy(value)


def expand_shapes(document: Document) -> list[Document]:
    tests = []
    for test in document["tests"]:
        inputs = test.get("inputs", {})
        count = max((len(one["shapes"]) for one in inputs.values()), default=1)
        for index in range(count):
            one = copy.deepcopy(test)
            if count > 1:
                for name in inputs:
                    one["inputs"][name]["shapes"] = [inputs[name]["shapes"][index]]
            tests.append(one)
    return tests


def read_tests(path: Path) -> list[tuple[Document, Document]]:
    """Model and test of each test of a file."""
    document = json.loads(path.read_text())
    if "benchmarks" in document:
        files = [path.parent / name for name in document["benchmarks"]]
        meta = document.get("meta", {})
    else:
        files, meta = [path], document.get("meta", {})
    tests = []
    for file in files:
        content = json.loads(file.read_text())
        model = content["model"]
        merge(model, meta)
        for index, test in enumerate(expand_shapes(content)):
            test["identifier"] = test["identifier"].replace("{ID}", str(index))
            if "arguments" in test:
                test["commands"] = ["{program} " + test.pop("arguments")]
            elif "command" in test:
                test["commands"] = [test["command"]]
            tests.append((model, test))
    return tests


def file_value(entry: Document, model: Document) -> str:
    if "md5" in entry:
        return f"{CACHE}/{model['format']}/{model['name']}/{entry['filename']}"
    return str(entry["location"])


def look_up(root: Document, name: str, model: Document) -> str | None:
    entry: Any = root
    for part in name.split("."):
        if not isinstance(entry, dict) or part not in entry:
            return None
        entry = entry[part]
    if isinstance(entry, dict):
        return file_value(entry, model) if "location" in entry else None
    return str(entry)


def compose(command: str, model: Document, test: Document, index: int) -> list[str]:
    fixed = {"TGTDIR": "<target>/", "HOSTDIR": "<host>", "INDEX": str(index), **VALUES}
    runs_program = "{program}" in command
    while True:
        for match in reversed(list(PLACEHOLDER.finditer(command))):
            name = match.group(1)
            value = fixed.get(name)
            value = look_up(test, name, model) if value is None else value
            value = look_up(model, name, model) if value is None else value
            value = PROGRAM if value is None and name == "program" else value
            if value:
                command = command[: match.start()] + value + command[match.end() :]
                break
        else:
            break
    if runs_program and "command_args" in model:
        command += " " + model["command_args"]
    return shlex.split(command)


def commands_of(part: Document | None) -> list[str]:
    part = part or {}
    if isinstance(part.get("commands"), dict):
        return []  # FAI-PEP makes no command of it either.
    return part.get("commands") or ([part["command"]] if "command" in part else [])


def composed_lines(model: Document, test: Document) -> Iterator[list[str]]:
    repeats = model.get("repeat", 1)
    for command in commands_of(model.get("preprocess")):
        yield compose(command, model, test, 0)
    for index in range(repeats):
        for part in (test.get("preprocess"), test, test.get("postprocess")):
            for command in commands_of(part):
                yield compose(command, model, test, index)
    for command in commands_of(model.get("postprocess")):
        yield compose(command, model, test, repeats - 1)


# ---- Assay


def assay(*arguments: str | Path, home: Path) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "ASSAY_HOME": str(home), "NO_COLOR": "1", "XDG_CONFIG_HOME": str(home)}
    command = [str(BIN / "assay"), *map(str, arguments)]
    return subprocess.run(command, env=env, capture_output=True, text=True, check=False)


def parse_listing(text: str) -> list[tuple[str, list[list[str]]]]:
    """Identifier and command lines of each test."""
    tests: list[tuple[str, list[list[str]]]] = []
    for line in text.splitlines()[:-1]:
        if not line.startswith("    "):
            tests.append((line.rsplit("  ", 1)[0], []))
        elif not line.startswith(("    missing: ", "    unavailable: ")):
            tests[-1][1].append(shlex.split(line))
    return tests


def list_and_compare(path: Path, home: Path, tally: Tally) -> None:
    sets = [word for name, value in VALUES.items() for word in ("--set", f"{name}={value}")]
    finished = assay(
        *("import", path, "--dry-run", "--program", f"program={PROGRAM}"),
        *("--model-cache", CACHE, *sets),
        home=home,
    )
    if finished.returncode != 0:
        tally.faults.append(f"{path}: {finished.stderr.strip()}")
        return
    tally.counts["files listed"] += 1
    expected = read_tests(path)
    listed = parse_listing(finished.stdout)
    if len(listed) != len(expected):
        tally.faults.append(f"{path}: {len(listed)} tests, {len(expected)} expected")
        return
    is_sequence = "benchmarks" in json.loads(path.read_text())
    for (identifier, lines), (model, test) in zip(listed, expected, strict=True):
        wanted = list(composed_lines(model, test))
        if identifier != test["identifier"] or lines != wanted:
            tally.faults.append(f"{path}: {identifier}:\n  {lines}\n  {wanted}")
        elif not wanted:
            tally.counts["tests without a command, there and here"] += 1
        elif is_sequence:
            tally.counts["tests of sequences equal"] += 1
        else:
            tally.counts["tests equal"] += 1
            tally.counts["command lines equal, with those of the host"] += len(lines)


def run_delays(path: Path, program: Path, folder: Path, tally: Tally) -> None:
    """One launch of each delay test of a file."""
    file = program.with_name("file")
    file.write_text("any content")
    out = folder / "specs" / f"{path.stem}-{tally.counts['files tried']}.json"
    tally.counts["files tried"] += 1
    stand_ins = [
        word for key in ("graph", "predict", "init") for word in ("--file", f"{key}={file}")
    ]
    sets = [word for name, value in VALUES.items() for word in ("--set", f"{name}={value}")]
    made = assay(
        *("import", path, "--out", out, "--program", f"program={program}", *stand_ins, *sets),
        *("--set", "cooldown=0"),
        home=folder / "home",
    )
    if made.returncode != 0:
        tally.faults.append(f"{path}: {made.stderr.strip()}")
        return
    spec = json.loads(out.read_text())
    spec["measure"]["launches"] = 1
    out.write_text(json.dumps(spec))
    finished = assay("run", out, "--quiet", "--format", "json", home=folder / "home")
    try:
        cases = json.loads(finished.stdout)["cases"]
    except (json.JSONDecodeError, KeyError):
        tally.faults.append(f"{path}: {finished.stderr.strip()}")
        return
    for case in cases:
        count_case(path, case, tally)


def count_case(path: Path, case: Document, tally: Tally) -> None:
    text = case["text"]
    if case["outcome"] == "unsupported":
        kinds = {
            "no command": "no command",
            "power": "power",
            "bound to the processors": "other processors",
            "--allow-commands": "commands of the host",
        }
        kind = next((name for words, name in kinds.items() if words in text), text)
        tally.counts[f"unavailable: {kind}"] += 1
        return
    metrics = case["metrics"]
    time = metrics.get("program:net_latency") or metrics.get("steady_ns")
    if case["outcome"] != "completed" or not time or time["value"] not in (4_010_500, 40_000):
        tally.faults.append(f"{path}: {case['label']}: {case['outcome']} {text} {metrics}")
        return
    tally.counts["delay tests executed"] += 1


def main() -> int:
    """Prints the counts; 1 where there is a fault."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "folder", type=Path, help="where the files lie, such as a checkout of FAI-PEP"
    )
    parser.add_argument("--list-only", action="store_true", help="run nothing")
    options = parser.parse_args()
    paths = []
    for path in sorted(options.folder.rglob("*.json")):
        document = json.loads(path.read_text())
        if isinstance(document, dict) and {"tests", "benchmarks"} & set(document):
            paths.append(path)
    tally = Tally()
    before = {path: path.read_bytes() for path in paths}
    with tempfile.TemporaryDirectory(prefix="fai-pep-") as name:
        folder = Path(name)
        program = folder / "stand-in" / "program.sh"
        program.parent.mkdir()
        program.write_text(STAND_IN)
        program.chmod(0o755)
        for path in paths:
            list_and_compare(path, folder / "home", tally)
            if not options.list_only and "tests" in json.loads(before[path]):
                run_delays(path, program, folder, tally)
    tally.faults += [f"{path} was changed" for path in paths if path.read_bytes() != before[path]]
    tally.counts["files"] = len(paths)
    for fault in tally.faults:
        sys.stderr.write(f"{fault}\n")
    for what, count in sorted(tally.counts.items()):
        sys.stdout.write(f"{count:6}  {what}\n")
    sys.stdout.write(f"{len(tally.faults):6}  faults\n")
    return 1 if tally.faults or not paths else 0


if __name__ == "__main__":
    sys.exit(main())
