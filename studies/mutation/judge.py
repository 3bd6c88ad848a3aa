"""Assay's verdicts on a joint program of conformance cases under each fault."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
BIN = Path(os.environ.get("ASSAY_BIN_DIR", ROOT / "build" / "release" / "bin"))
ENGINE = "torch@mutants"
FACTORY = str(Path(__file__).with_name("joint_cases.py")) + ":make"
ANSWERED = (0, 1)
"""Exit codes of `assay run` that are answers."""


class AssayFailed(Exception):
    """`assay` did not do what it was asked for."""


def call_assay(folder: Path, *arguments: object, codes: Sequence[int] = (0,)) -> str:
    """Runs `assay` with its home in a folder and returns its output.

    Raises:
        AssayFailed: another exit code.
    """
    env = {**os.environ, "ASSAY_HOME": str(folder), "ASSAY_RUNTIME_DIR": str(folder / "runtime")}
    command = [str(BIN / "assay"), *map(str, arguments)]
    done = subprocess.run(command, env=env, capture_output=True, text=True)
    if done.returncode not in codes:
        raise AssayFailed(f"{' '.join(command)}: {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def add_engine(folder: Path) -> None:
    """Makes the engine with faults known to a home, unless it is."""
    if ENGINE.partition("@")[2] not in call_assay(folder, "list", "engines"):
        file = Path(__file__).with_name("mutant_engine.py")
        call_assay(folder, "engine", "add", ENGINE, "--file", f"{file}:MutantEngine")


def spec_of(models: Sequence[Any], faults: Sequence[str], samples: int) -> dict[str, Any]:
    """A spec that evaluates the joint program of some models under each fault."""
    return {
        "schema": "assay/spec/1",
        "name": "mutants",
        "models": [{"ref": FACTORY, "args": {"models": list(models)}, "inputs": "model"}],
        "recipes": ["torch/eager"],
        "engines": [ENGINE],
        "options": {"fault": list(faults)},
        "measure": {"passes": ["evaluate"]},
        "evaluate": {"against": ["float64"], "samples": samples},
    }


def judge(
    folder: Path, models: Sequence[Any], faults: Sequence[str], samples: int
) -> dict[str, list[str]]:
    """Maps each fault to Assay's word for each part ("pass"), from its evaluation of one launch.

    Raises:
        AssayFailed: a program was not made, or a launch did not end well.
    """
    folder.mkdir(parents=True, exist_ok=True)
    add_engine(folder)
    spec = folder / "mutants_spec.json"
    spec.write_text(json.dumps(spec_of(models, faults, samples)))
    command = ("run", spec, "--quiet", "--format", "json")
    run = json.loads(call_assay(folder, *command, codes=ANSWERED))["run"]["id"]
    lines = read_parts(folder / "assay.db", run)
    words = {line["options"].get("fault", ""): line["accuracies"] for line in lines}
    missing = [fault for fault in faults if len(words.get(fault, ())) != len(models)]
    if missing:
        texts = {line["text"] for line in lines if line["text"]}
        raise AssayFailed(f"run {run} has no verdicts under {missing}: {texts}")
    return words


def read_parts(store: Path, run: str) -> list[dict[str, Any]]:
    """Verdicts of a run on the parts of its programs."""
    command = [str(BIN / "assay-mutation-parts"), str(store), run]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return [json.loads(line) for line in done.stdout.splitlines()]
