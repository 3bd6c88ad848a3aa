"""The manifest: what a build made, from what, at what cost."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

from assay.toolchain import identity
from assay.toolchain.file_formats.pte import read_program, tensor_json
from assay.toolchain.files import describe_file
from assay.toolchain.flows.executorch.delegation import verdict
from assay.toolchain.graph.operators import Boundary, boundary
from assay.toolchain.models.inputs import InputSet
from assay.toolchain.models.loader import Model
from assay.toolchain.recipes.recipes import Recipe
from assay.toolchain.stages import StageLog

SCHEMA = "assay/manifest/1"
DATA_SUFFIXES = (".ptd", ".bin", ".data")


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
        "toolchain": identity.describe(),
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


def _values(plan: Any, indices: Sequence[int], names: Boundary) -> list[dict[str, Any]]:
    known = names if len(names) == len(indices) else [(None, None)] * len(indices)
    return [
        tensor_json(plan.values[index], name, quantization)
        for index, (name, quantization) in zip(indices, known, strict=True)
    ]
