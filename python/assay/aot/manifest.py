"""The manifest: what a build made, from what, at what cost."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

from assay.aot import toolchain
from assay.aot.delegation import verdict
from assay.aot.files import describe_file
from assay.aot.inputs import InputSet
from assay.aot.models import Model
from assay.aot.pte import read_program, tensor_json
from assay.aot.recipes import Recipe
from assay.aot.stages import StageLog

SCHEMA = "assay/manifest/1"
DATA_SUFFIXES = (".ptd", ".bin")


def make_manifest(
    *,
    model: Model,
    recipe: Recipe,
    calibration: InputSet | None,
    program: dict[str, Any],
    files: Sequence[Path],
    stages: StageLog,
) -> dict[str, Any]:
    """The whole document; `files` is empty when the build stopped after lowering.

    `program`: size and methods, and what was delegated.
    """
    return {
        "schema": SCHEMA,
        "model": model.to_json(),
        "recipe": recipe.document,
        "calibration": None if calibration is None else calibration_json(calibration),
        "toolchain": toolchain.describe(),
        "entry": files[0].name if files else None,
        "files": [
            describe_file(path, "data" if path.suffix in DATA_SUFFIXES else "program")
            for path in files
        ],
        "stages": stages.to_json(),
        "start_rss_bytes": stages.start_rss_bytes,
        "peak_rss_bytes": stages.peak_rss_bytes(),
        "program": program,
        "delegation": verdict(program["nodes_delegated"], program["nodes_not_delegated"]),
    }


def calibration_json(calibration: InputSet) -> dict[str, Any]:
    """The calibration inputs as a request writes them."""
    if calibration.file is not None:
        return {"file": calibration.file}
    return {
        "generator": calibration.generator,
        "seed": calibration.seed,
        "batches": calibration.count,
    }


def describe_program(
    exported: torch.export.ExportedProgram, files: Sequence[Path]
) -> dict[str, Any]:
    """Size and methods of a .pte; names and quantization come from the exported graph.

    Without files the size is null and there are no methods.
    """
    if not files:
        return {"bytes": None, "methods": []}
    file = read_program(files[0])
    methods = []
    for plan in file.program.execution_plan:
        inputs, outputs = boundary(exported) if plan.name == "forward" else ([], [])
        methods.append(
            {
                "name": plan.name,
                "inputs": _values(plan, plan.inputs, inputs),
                "outputs": _values(plan, plan.outputs, outputs),
                "planned_arena_bytes": [int(size) for size in plan.non_const_buffer_sizes[1:]],
            }
        )
    return {"bytes": file.bytes, "methods": methods}


Boundary = list[tuple[str, dict[str, Any] | None]]


def boundary(exported: torch.export.ExportedProgram) -> tuple[Boundary, Boundary]:
    """Names and quantization of the user's inputs and outputs, in order.

    A value is quantized when it goes through quantize (inputs) or comes out of dequantize
    (outputs) right at the edge of the graph, and nowhere else.
    """
    nodes = {node.name: node for node in exported.graph.nodes}
    signature = exported.graph_signature
    inputs = [(str(name), _input_quantization(nodes.get(name))) for name in signature.user_inputs]
    outputs = [
        (str(name), _quantization(nodes.get(name), "dequantize")) for name in signature.user_outputs
    ]
    return inputs, outputs


def _input_quantization(node: Any) -> dict[str, Any] | None:
    users = [] if node is None else list(node.users)
    return _quantization(users[0], "quantize") if len(users) == 1 else None


def _quantization(node: Any, kind: str) -> dict[str, Any] | None:
    """The parameters of a per-tensor quantize or dequantize node; None for any other node."""
    if node is None or f"quantized_decomposed.{kind}_per_tensor.default" != str(node.target):
        return None
    _, scale, zero_point, low, high, dtype = node.args[:6]
    return {
        "scale": float(scale),
        "zero_point": int(zero_point),
        "quant_min": int(low),
        "quant_max": int(high),
        "dtype": str(dtype).removeprefix("torch."),
    }


def _values(plan: Any, indices: Sequence[int], names: Boundary) -> list[dict[str, Any]]:
    known = names if len(names) == len(indices) else [(None, None)] * len(indices)
    return [
        tensor_json(plan.values[index], name, quantization)
        for index, (name, quantization) in zip(indices, known, strict=True)
    ]
