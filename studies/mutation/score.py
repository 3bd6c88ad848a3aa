"""Counts the faults of kernels that Assay finds with its conformance cases: the mutation score.

    python studies/mutation/score.py FOLDER [--match 'aten.conv*'] [--page PAGE.md]

All quick cases of as many samples stand in one program. A mutant is a fault in one operator; the
parts of a program share nothing, so one launch tries a mutant of every operator (a generation), and
Assay's own evaluation judges each part by its bounds and controls. Beside it the same faults run
here, to see which outputs they change at all: a mutant that changes no bit of any case is
equivalent, or not exercised, and is counted apart. FOLDER keeps programs, store and mutants.json.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import torch
from faults import faults_of
from judge import judge
from mutant_engine import GENERATION, FaultyProgram, subjects_of
from page import today, write_page
from results import Result, results_of

from assay.conformance.case import MODEL_INPUTS
from assay.conformance.listing import list_cases
from assay.toolchain.server.model_families import load

PASS = "pass"


def quick_cases(match: Sequence[str]) -> list[dict[str, Any]]:
    """The cases of the quick tier that may share a program, whose sizes are those of its export."""
    listed = list_cases("operators", "quick", match, None)["cases"]
    return [case for case in listed if case["joinable"] and not _leaves_sizes_open(case)]


def _leaves_sizes_open(case: Mapping[str, Any]) -> bool:
    return bool(case["model"]["args"].get("dimensions"))


def make_program(cases: Sequence[dict[str, Any]], count: int) -> tuple[Any, list[int], list[Any]]:
    """The joint graph, the part that each of its outputs belongs to, and the cases' samples."""
    models = [case["model"] for case in cases]
    sampled = load({"ref": "joint", "args": {"models": models}}).sampled
    assert sampled is not None
    samples = [sampled.make_sample(MODEL_INPUTS["seed"], number) for number in range(count)]
    with torch.no_grad():
        exported = torch.export.export(sampled.module, samples[0])
    owners = [part for part, span in enumerate(sampled.parts or ()) for _ in range(*span.outputs)]
    return exported.module(), owners, samples


def changed_parts(
    program: Any, owners: Sequence[int], samples: Sequence[Any], fault: str
) -> dict[int, str]:
    """The parts that have the fault, with its name where it changes a bit, "" where not."""
    faulty = FaultyProgram(program, fault)
    with torch.inference_mode():
        for sample in samples:
            faulty(*sample)
    return {
        owners[mutant.outputs[0]]: mutant.fault if mutant.is_changed else ""
        for mutant in faulty.mutants.values()
        if mutant.outputs
    }


def operators_of(program: Any, owners: Sequence[int]) -> dict[int, Any]:
    """The operator of each part."""
    return {owners[outputs[0]]: node.target for node, outputs in subjects_of(program.graph)}


@dataclass
class Score:
    """Mutants by operator and fault, and the cases that do not pass without any fault."""

    results: dict[tuple[str, str], Result] = field(default_factory=dict)
    launches: int = 0
    not_sound: list[str] = field(default_factory=list)


def add_to_score(
    total: Score, folder: Path, cases: Sequence[dict[str, Any]], sample_count: int
) -> None:
    """Tries the mutants of cases that have as many samples."""
    program, owners, samples = make_program(cases, sample_count)
    operators = operators_of(program, owners)
    count = max(len(faults_of(one)) for one in operators.values())
    generations = [f"{GENERATION}{number}" for number in range(count)]
    words = judge(folder, [case["model"] for case in cases], ["", *generations], sample_count)
    sound = [word == PASS for word in words[""]]
    total.launches += len(generations) + 1
    total.not_sound += [
        case["name"] for case, is_sound in zip(cases, sound, strict=True) if not is_sound
    ]
    for number, generation in enumerate(generations):
        changed = changed_parts(program, owners, samples, generation)
        for part, overload in operators.items():
            names = list(faults_of(overload))
            if number >= len(names) or not sound[part]:
                continue
            key = (str(overload), names[number])
            result = total.results.setdefault(key, Result(*key))
            result.cases += 1
            if changed.get(part):
                result.changed.append(cases[part]["name"])
                if words[generation][part] == PASS:
                    result.missed.append(cases[part]["name"])


def score(folder: Path, cases: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The document of results."""
    total = Score()
    for count in sorted({case["inputs"]["count"] for case in cases}):
        alike = [case for case in cases if case["inputs"]["count"] == count]
        add_to_score(total, folder / f"{count}-samples", alike, count)
    return {
        "schema": "assay/mutation_score/1",
        "date": today(),
        "torch": torch.__version__,
        "cases": len(cases),
        "launches": total.launches,
        "not_sound": total.not_sound,
        "mutants": [asdict(result) for result in total.results.values()],
    }


def main() -> None:
    """Scores, prints what was not found, and writes the page if asked to."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--match", action="append", default=[], help="patterns of operators")
    parser.add_argument("--page", type=Path, help="Markdown to write")
    options = parser.parse_args()
    torch.set_num_threads(1)
    document = score(options.folder, quick_cases(options.match))
    (options.folder / "mutants.json").write_text(json.dumps(document, indent=1))
    results = list(results_of(document))
    counted = [result for result in results if result.is_counted]
    caught = sum(result.is_caught for result in counted)
    for result in counted:
        if not result.is_caught:
            print(f"not found: {result.operator}: {result.fault} ({len(result.changed)} cases)")
    print(f"{caught} of {len(counted)} found, {len(results) - len(counted)} change nothing")
    if options.page:
        write_page(options.page, document)


if __name__ == "__main__":
    main()
