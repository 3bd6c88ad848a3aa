"""Compares, for torchvision models, what the runtime computes with the definitions and float64.

Usage: python delegates/fixedpoint/tools/check_models.py --library LIB MODEL...

For each model (healed random weights, as Assay makes them) a row of JSON: differing values between
the C++ runtime and the reference over every tensor on each instruction set; logits equal to the
quantized graph in float64; the arena beside its lower bound; what was left behind. Exit code 1 when
a bit differs or an operator is left.
"""

import argparse
import json
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch

from assay.aot import compat
from assay.aot.inputs import InputSet, samples_of
from assay.aot.models import load_model, model_spec_from_json
from fixedpoint import evaluate, float64, planner
from fixedpoint.convert import convert, quantize
from fixedpoint.program import Program
from fixedpoint.runtime import Library


def main() -> int:
    """Prints a line for each model."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--library", type=Path, required=True)
    parser.add_argument("--samples", type=int, default=2)
    parser.add_argument("--batches", type=int, default=2)
    parser.add_argument("--observer", default="histogram")
    parser.add_argument("--save", type=Path, help="folder for the blobs")
    parser.add_argument("models", nargs="+", help="names of torchvision")
    options = parser.parse_args()
    compat.prepare_torch()
    library = Library(options.library)
    rows = [check(name, library, options) for name in options.models]
    return int(any(row["left"] or any(row["different"].values()) for row in rows))


def check(name: str, library: Library, options: Any) -> dict[str, Any]:
    """One model's row; prints it."""
    started = time.monotonic()
    model = load_model(model_spec_from_json(f"torchvision:{name}"))
    batches = samples_of(InputSet("normal", 1000, options.batches, "calibration"), model.inputs)
    quantized = quantize(model.module, model.example, batches, observer=options.observer)
    converted = convert(quantized)
    row: dict[str, Any] = {"model": name, "delegates": len(converted.programs())}
    boundary = "quantizes an input"
    row["left"] = {k: v for k, v in converted.reasons.items() if boundary not in v}
    if len(converted.programs()) == 1 and not row["left"]:
        ((program, blob),) = converted.programs()
        if options.save is not None:
            (options.save / f"{name}.blob").write_bytes(blob)
        samples = samples_of(InputSet("normal", 1, options.samples), model.inputs)
        row |= describe(program, blob)
        row |= compare(program, blob, library, converted.quantized, samples)
    else:
        row["different"] = {}
    row["seconds"] = round(time.monotonic() - started, 1)
    print(json.dumps(row), flush=True)
    return row


def describe(program: Program, blob: bytes) -> dict[str, Any]:
    """Sizes."""
    plan = planner.plan(program)
    return {
        "operations": len(program.operations),
        "blob_bytes": len(blob),
        "arena_bytes": plan.arena_bytes,
        "arena_ratio": plan.arena_bytes / plan.lower_bound_bytes,
        "algorithm": plan.algorithm,
    }


def compare(
    program: Program, blob: bytes, library: Library, quantized: Any, samples: list[Any]
) -> dict[str, Any]:
    """Bit differences on each instruction set, and logits equal to float64."""
    different = dict.fromkeys(library.isa_names(), 0)
    values = equal = total = most = 0
    result = program.tensors[program.outputs[0]]
    for (image,) in samples:
        expected = list(evaluate.steps(program, [image.numpy()]))
        values += sum(made.size for _, made in expected)
        for isa in different:
            different[isa] += _differing(program, blob, library, isa, image, expected)
        (exact,) = float64.run_float64(quantized, image)
        made = torch.from_numpy(expected[-1][1]).double()
        distance = ((exact - made) / result.scale).round().abs().numpy()
        equal += int((distance == 0).sum())
        most = max(most, int(distance.max()))
        total += distance.size
    return {
        "values": values,
        "different": different,
        "logits_equal_to_float64": f"{equal}/{total}",
        "largest_distance": most,
    }


def _differing(
    program: Program,
    blob: bytes,
    library: Library,
    isa: str,
    image: torch.Tensor,
    expected: list[Any],
) -> int:
    count = 0

    def observe(operation: int, made: np.ndarray) -> None:
        nonlocal count
        count += int((made != expected[operation][1].reshape(-1)).sum())

    library.run(program, blob, [image.numpy()], isa, observe)
    return count


if __name__ == "__main__":
    sys.exit(main())
