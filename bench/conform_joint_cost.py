"""Measures the cost of making a conformance case, by how many share a program.

Usage: conform_joint_cost.py [--recipe NAME …] [--joint N …] [--programs N] [--seed N]

Draws quick float32 cases at random, builds programs of them in this process (model to
serialization, after one build to warm up) and prints seconds of CPU a case: the mean over the
programs. Programs that the recipe refuses are drawn again, and counted.
"""

from __future__ import annotations

import argparse
import random
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

from assay.conformance.case import Case
from assay.conformance.listing import operator_cases
from assay.toolchain.programs.build import build
from assay.toolchain.server.model_families import FAMILIES
from assay.toolchain.stages import StageLog

DRAWN = 64
"""Cases that the programs are made of."""

MOST_REFUSALS = 10


def drawn_cases(seed: int) -> list[Case]:
    """Quick float32 cases that may share a program."""
    known = [
        case
        for case in operator_cases()
        if case.tier == "quick" and case.dtype == "float32" and case.joinable
    ]
    plain = [case for case in known if case.shape_class != "dynamic"]
    return random.Random(seed).sample(plain, DRAWN)


def model_of(cases: list[Case]) -> dict[str, Any]:
    """One case's own model, or the joint one of several."""
    models = [case.model for case in cases]
    return models[0] if len(models) == 1 else {"ref": "joint", "args": {"models": models}}


def cpu_seconds_of_build(model: dict[str, Any], recipe: str) -> float:
    """Seconds of CPU that one program takes."""
    with tempfile.TemporaryDirectory() as folder:
        begin = time.process_time()
        build(
            model=model,
            recipe=recipe,
            calibration=None,
            stop_after=None,
            folder=Path(folder),
            families=FAMILIES,
            stages=StageLog(),
        )
        return time.process_time() - begin


def cost_of(cases: list[Case], recipe: str, joint: int, programs: int, seed: int) -> str:
    """Mean seconds of CPU a case, and how many programs were refused."""
    chooser = random.Random(seed)
    times: list[float] = []
    refused = 0
    while len(times) < programs and refused < MOST_REFUSALS:
        try:
            model = model_of(chooser.sample(cases, joint))
            times.append(cpu_seconds_of_build(model, recipe) / joint)
        except Exception:
            refused += 1
    mean = f"{sum(times) / len(times):.3f} s" if times else "none was made"
    return f"{mean} ({len(times)} programs, {refused} refused)"


def main() -> None:
    """Prints a line for each recipe and number of cases."""
    parser = argparse.ArgumentParser(description="CPU time of a case by cases in a program.")
    parser.add_argument("--recipe", nargs="+", default=["executorch/portable"])
    parser.add_argument("--joint", nargs="+", type=int, default=[1, 8, 16, 32, 64])
    parser.add_argument("--programs", type=int, default=3)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    warnings.filterwarnings("ignore")
    cases = drawn_cases(args.seed)
    for recipe in args.recipe:
        cost_of(cases, recipe, 1, 1, args.seed)  # Warm.
        for joint in args.joint:
            print(recipe, joint, cost_of(cases, recipe, joint, args.programs, args.seed))


if __name__ == "__main__":
    main()
