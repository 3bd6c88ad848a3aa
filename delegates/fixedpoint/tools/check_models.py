"""Compares, for whole models, what the runtime computes with the definitions and with float64.

Usage: python delegates/fixedpoint/tools/check_models.py --library LIB MODEL...

A model is a name of torchvision, or a reference as Assay takes them: conform:ds_cnn, FILE.py:make.
For each a row of JSON: differing values between the C++ runtime and the reference over every
tensor on each instruction set; outputs equal to the quantized graph in float64, and the ratio of
signal to the quantization's noise beside the float model; with labelled --inputs, how many the
float model and the integers get right; the arena beside its lower bound and what
ExecuTorch's planner takes; what was left behind. Exit code 1 when a bit differs or an operator is
left.
"""

import argparse
import json
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch
from executorch_arena import executorch_arena_bytes

from assay.toolchain import compat
from assay.toolchain.models.inputs import input_set_from_json, make_labelled_samples, make_samples
from assay.toolchain.models.loader import load_model, model_spec_from_json
from assay.toolchain.server.model_families import FAMILIES
from assay.toolchain.types import InputSet, Model
from fixedpoint import evaluate, float64, planner
from fixedpoint.convert import convert, quantize
from fixedpoint.plugin import recipes
from fixedpoint.program import Program
from fixedpoint.runtime import Library

Sample = tuple[torch.Tensor, ...]


def main() -> int:
    """Prints a line for each model."""
    presets = {recipe["name"].rpartition("/")[2]: recipe for recipe in recipes}
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--library", type=Path, required=True)
    parser.add_argument("--samples", type=int, default=2)
    parser.add_argument("--batches", type=int, default=2)
    parser.add_argument("--recipe", choices=presets, default="fixedpoint-int8")
    parser.add_argument("--rounding", help="half_up or half_even")
    parser.add_argument("--headroom-bits", type=int, help="instead of the recipe's")
    parser.add_argument("--inputs", help="FILE.py:NAME that yields samples and their labels")
    parser.add_argument("--calibration", help="FILE.py:NAME that yields samples")
    parser.add_argument(
        "--weight-init", action="store_true", help="initialize a file's random weights"
    )
    parser.add_argument("--save", type=Path, help="folder for the blobs")
    parser.add_argument("models", nargs="+", help="names of torchvision, or references")
    options = parser.parse_args()
    options.recipe = presets[options.recipe]
    compat.prepare_torch()
    compat.prepare_torchvision()
    library = Library(options.library)
    rows = [check(name, library, options) for name in options.models]
    return int(any(row["left"] or any(row["different"].values()) for row in rows))


def check(name: str, library: Library, options: Any) -> dict[str, Any]:
    """One model's row; prints it."""
    started = time.monotonic()
    model = _load(name, options.weight_init)
    samples, labels, batches = _samples(model, options)
    quantization = dict(options.recipe["quantization"])
    quantizer = {k: v for k, v in quantization.items() if k not in ("flow", "quantizer")}
    if options.headroom_bits is not None:
        quantizer["headroom_bits"] = options.headroom_bits
    lowering = dict(options.recipe["lowering"]["options"])
    lowering |= {"rounding": options.rounding} if options.rounding else {}
    quantized = quantize(model.module, model.example, batches, **quantizer)
    converted = convert(quantized, **lowering)
    programs = converted.programs()
    row: dict[str, Any] = {"model": name, "delegates": len(programs)}
    boundary = "quantizes an input"
    row["left"] = {k: v for k, v in converted.reasons.items() if boundary not in v}
    row["different"] = {}
    if len(programs) == 1 and not row["left"]:
        ((program, blob),) = programs
        if options.save is not None:
            (options.save / f"{name.rpartition(':')[0] or name}.blob").write_bytes(blob)
        row |= describe(program, blob)
        row |= compare(program, blob, library, quantized, samples[: options.samples])
        row |= beside_float(program, blob, library, model.module, samples, labels)
    row["seconds"] = round(time.monotonic() - started, 1)
    print(json.dumps(row), flush=True)
    return row


def _load(name: str, needs_weight_init: bool) -> Model:
    document: dict[str, Any] = {"ref": name if ":" in name else f"torchvision:{name}"}
    spec = model_spec_from_json(document | ({"weight_init": True} if needs_weight_init else {}))
    return load_model(spec, FAMILIES)


def _samples(
    model: Model, options: Any
) -> tuple[list[Sample], list[torch.Tensor] | None, list[Sample]]:
    """Samples, their labels, and what calibrates."""
    generator = "normal" if model.sampled is None else "model"
    given = InputSet(generator, 1, options.samples)
    calibrating = InputSet(generator, 1000, options.batches, "calibration")
    if options.inputs:
        given = input_set_from_json({"file": options.inputs}, role="evaluation")
    if options.calibration:
        calibrating = input_set_from_json({"file": options.calibration}, role="calibration")
    samples, labels = make_labelled_samples(given, model.inputs, model.sampled)
    return samples, labels, make_samples(calibrating, model.inputs, model.sampled)


def describe(program: Program, blob: bytes) -> dict[str, Any]:
    """Sizes."""
    plan = planner.plan(program)
    return {
        "operations": len(program.operations),
        "blob_bytes": len(blob),
        "arena_bytes": plan.arena_bytes,
        "arena_ratio": plan.arena_bytes / plan.lower_bound_bytes,
        "executorch_arena_bytes": executorch_arena_bytes(program),
        "algorithm": plan.algorithm,
    }


def compare(
    program: Program, blob: bytes, library: Library, quantized: Any, samples: list[Sample]
) -> dict[str, Any]:
    """Bit differences on each instruction set, and outputs equal to float64."""
    different = dict.fromkeys(library.isa_names(), 0)
    values = equal = total = most = 0
    for sample in samples:
        inputs = [x.numpy() for x in sample]
        tensors: evaluate.Values = {}
        expected = [made for _, made in evaluate.steps(program, inputs, tensors)]
        values += sum(made.size for made in expected)
        for isa in different:
            different[isa] += _differing(program, blob, library, isa, inputs, expected)
        for index, exact in zip(
            program.outputs, float64.run_float64(quantized, *sample), strict=True
        ):
            step = program.tensors[index].scale
            distance = ((exact - _logical(program, tensors, index)) / step).round().abs().numpy()
            equal += int((distance == 0).sum())
            most = max(most, int(distance.max()))
            total += distance.size
    return {
        "values": values,
        "different": different,
        "outputs_equal_to_float64": f"{equal}/{total}",
        "largest_distance": most,
    }


def beside_float(
    program: Program,
    blob: bytes,
    library: Library,
    module: torch.nn.Module,
    samples: list[Sample],
    labels: list[torch.Tensor] | None,
) -> dict[str, Any]:
    """The first output beside the float model's: noise, largest values, what is right."""
    signal = noise = 0.0
    agreed = right_float = right_integer = 0
    for number, sample in enumerate(samples):
        with torch.no_grad():
            made = module(*sample)
        real = (made if isinstance(made, torch.Tensor) else made[0]).double().numpy()
        found = library.run(program, blob, [x.numpy() for x in sample])[0].astype(np.float64)
        signal += float((real**2).sum())
        noise += float(((real - found) ** 2).sum())
        tops = [array.reshape(len(array), -1).argmax(1) for array in (real, found)]
        agreed += int((tops[0] == tops[1]).all())
        if labels is not None:
            label = labels[number].numpy()
            right_float += int((tops[0] == label).sum())
            right_integer += int((tops[1] == label).sum())
    row: dict[str, Any] = {
        "sqnr_db": round(10 * float(np.log10(signal / max(noise, 1e-300))), 2),
        "top_agrees": f"{agreed}/{len(samples)}",
    }
    if labels is not None:
        row |= {"right_float": right_float, "right_integer": right_integer}
    return row


def _logical(program: Program, tensors: evaluate.Values, index: int) -> torch.Tensor:
    made = program.tensors[index].logical(tensors[index].numpy())
    return torch.from_numpy(np.array(made)).double()


def _differing(
    program: Program,
    blob: bytes,
    library: Library,
    isa: str,
    inputs: list[np.ndarray],
    expected: list[np.ndarray],
) -> int:
    count = 0

    def observe(operation: int, made: np.ndarray) -> None:
        nonlocal count
        count += int((made != expected[operation].reshape(-1)).sum())

    library.run(program, blob, inputs, isa, observe)
    return count


if __name__ == "__main__":
    sys.exit(main())
