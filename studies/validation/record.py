"""Records real comparisons for `make validate-statistics`: it needs about an hour of a machine.

    python record.py FOLDER

For every workload and state of the machine: live `assay compare` of a program and its copy at the
default settings, and of a program and one with more work. Then launches with a known warm-up, and
launches of Assay's runner beside those of a bare loop. Cells that FOLDER holds are not recorded
again. Writes FOLDER/recording.json, and the samples of every launch to FOLDER/raw/CELL.jsonl.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import random
import subprocess
import sys
import tempfile
import time
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from neighbours import STATES, neighbours
from workloads import BIN, EFFECTS, Workload, instructions_of, make_workloads, write_fake

# isort: split
from compare_instructions import check_answer, runner_command  # workloads shows the way
from job_file import samples_of

ANSWERED = {0, 1, 6}
"""Exit codes of `assay compare` that are answers."""
WARMUPS = [(executes, ratio) for executes in (0, 5, 20, 60, 90) for ratio in (0.05, 0.3, 2.0)]
WARMUP_ITERATIONS = 200
LEAST_PAIRS = 60
"""Least pairs of a cell, however soon its comparisons answer: fewer are no pool to draw from."""
BARE_PAIRS = 40
BARE_ITERATIONS = 200


class Recording:
    """Records so far, on disk after every cell."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.path = folder / "recording.json"
        self.store = folder / "store.db"
        (folder / "raw").mkdir(parents=True, exist_ok=True)
        self.document: dict[str, Any] = (
            json.loads(self.path.read_text())
            if self.path.exists()
            else {"machine": describe_machine(), "cells": {}}
        )

    def has(self, cell: str) -> bool:
        """True if the cell was recorded."""
        return cell in self.document["cells"]

    def put(self, cell: str, content: dict[str, Any], runs: list[str]) -> None:
        """Keeps a cell, and the samples of its runs."""
        if runs:
            with (self.folder / "raw" / f"{cell}.jsonl").open("w") as out:
                command = [BIN / "assay-validation-export", self.store, *runs]
                subprocess.run(command, stdout=out, check=True)
        self.document["cells"][cell] = content
        self.path.write_text(json.dumps(self.document, indent=1))
        print(f"{datetime.now():%H:%M:%S} {cell}", flush=True)


def describe_machine() -> dict[str, Any]:
    """Says where and when the record was made."""
    models = [
        line for line in Path("/proc/cpuinfo").read_text().split("\n") if "model name" in line
    ]
    return {
        "date": f"{datetime.now(timezone.utc):%Y-%m-%d}",
        "processor": models[0].split(":")[1].strip() if models else platform.machine(),
        "cores": os.cpu_count(),
        "kernel": platform.release(),
    }


def compare(recording: Recording, a: Path, b: Path, seed: int, flags: list[str]) -> dict[str, Any]:
    """One live comparison; its document."""
    command = [BIN / "assay", "compare", a, b, "--seed", str(seed), *flags]
    command += ["--store", recording.store, "--quiet", "--format", "json"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode not in ANSWERED:
        raise SystemExit(f"{done.args} exited {done.returncode}: {done.stderr}")
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def record_pairs(recording: Recording, workload: Workload, state: str, effect: float) -> None:
    """Live comparisons of one cell: with --min-effect 1, or at the defaults if nothing differs."""
    cell = f"{workload.name} {state} {100 * effect:g}"
    answers = list(recording.document["cells"].get(cell, {}).get("answers", []))
    count = workload.different if effect else workload.alike
    if len(answers) >= count and pairs_in(answers) >= LEAST_PAIRS:
        return
    b = workload.more[effect] if effect else workload.copy
    flags = [*workload.flags, *(["--min-effect", "1", "--no-canary"] if effect else [])]
    with neighbours(STATES[state]):
        while len(answers) < count or pairs_in(answers) < LEAST_PAIRS:
            seed = 1000 * count + len(answers)
            answers.append(compare(recording, workload.a, b, seed, flags))
    content = {"workload": workload.name, "state": state, "effect": effect, "answers": answers}
    recording.put(cell, content, [answer["run"] for answer in answers])


def pairs_in(answers: list[dict[str, Any]]) -> int:
    """Says how many pairs the looks of some comparisons had."""
    return sum(int(answer["looks"][-1]["pairs"]) for answer in answers)


def record_warmup(recording: Recording, state: str) -> None:
    """Launches whose first iterations do more, by a known number and amount."""
    for executes, ratio in WARMUPS:
        cell = f"warmup {state} {executes} {ratio}"
        if recording.has(cell):
            continue
        program = write_fake(
            recording.folder / "programs",
            f"warmup_{executes}_{ratio}",
            multiply_adds=100_000,
            warmup={"executes": executes, "ratio": ratio},
        )
        with neighbours(STATES[state]):
            command = [BIN / "assay", "bench", program, "--launches", "15"]
            command += ["--iterations", str(WARMUP_ITERATIONS)]
            command += ["--store", recording.store, "--quiet", "--format", "json"]
            done = subprocess.run(command, capture_output=True, text=True, check=True)
        run = json.loads(done.stdout)["run"]["id"]
        recording.put(cell, {"state": state, "executes": executes, "ratio": ratio}, [run])


def time_with_assay(program: Path) -> float:
    """Least bind + execute + fetch of a launch of Assay's runner, ns."""
    with tempfile.TemporaryDirectory() as name:
        command = runner_command(BIN, program, BARE_ITERATIONS, Path(name))
        subprocess.run(command, check=True, capture_output=True)
        check_answer(Path(name) / "out", BARE_ITERATIONS)
        phases = samples_of(Path(name) / "out")
    return float(min(map(sum, zip(*phases, strict=True))))


def time_bare(program: Path) -> float:
    """Least time of an inference of the bare loop, ns."""
    command = [BIN / "bare-executorch-loop", program, str(BARE_ITERATIONS), "times"]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return float(min(int(line) for line in done.stdout.split()[1:]))


def record_bare(recording: Recording, state: str, program: Path) -> None:
    """Pairs of the bare loop and Assay's runner, in blocks of two in random order."""
    cell = f"bare {state}"
    if recording.has(cell):
        return
    coin = random.Random(1)
    pairs = []
    with neighbours(STATES[state]):
        for _ in range(BARE_PAIRS // 2):
            is_abba = coin.random() < 0.5
            for is_first_bare in (is_abba, not is_abba):
                sides = (
                    [time_bare, time_with_assay] if is_first_bare else [time_with_assay, time_bare]
                )
                times = {side: side(program) for side in sides}
                pairs.append([times[time_bare], times[time_with_assay]])
    recording.put(cell, {"state": state, "pairs_ns": pairs}, [])


def count_work(recording: Recording, workloads: list[Workload]) -> None:
    """Instructions of every program, by which an effect is what it is said to be."""
    for workload in workloads:
        cell = f"instructions {workload.name}"
        if recording.has(cell):
            continue
        base = instructions_of(workload.a, workload.runner)
        ratios = {
            f"{effect:g}": instructions_of(program, workload.runner) / base - 1
            for effect, program in workload.more.items()
        }
        recording.put(cell, {"base": base, "ratios": ratios}, [])


def mobilenet_v2(folder: Path) -> Path:
    """MobileNetV2 for XNNPACK in float32."""
    out = folder / "mobilenet_v2"
    if not out.exists():
        command = [BIN / "assay", "aot", "torchvision:mobilenet_v2", "--out", out]
        subprocess.run([*command, "--recipe", "executorch/xnnpack-fp32"], check=True)
    return out / "program.pte"


def main() -> None:
    """Records what is missing, quiet states first."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    args = parser.parse_args()
    os.environ.setdefault("ASSAY_HOME", str((args.folder / "home").resolve()))
    recording = Recording(args.folder)
    workloads = make_workloads(args.folder / "programs")
    program = mobilenet_v2(args.folder / "programs")
    count_work(recording, workloads)
    start = time.monotonic()
    for state in STATES:
        for workload in workloads:
            record_pairs(recording, workload, state, 0.0)
            for effect in EFFECTS:
                record_pairs(recording, workload, state, effect)
        record_warmup(recording, state)
        record_bare(recording, state, program)
    print(f"recorded in {(time.monotonic() - start) / 60:.1f} min", file=sys.stderr)


if __name__ == "__main__":
    main()
