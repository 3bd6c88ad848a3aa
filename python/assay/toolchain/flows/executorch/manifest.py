"""The manifest's account of a .pte file."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

from assay.toolchain.file_formats.pte import read_program, tensor_json
from assay.toolchain.graph.operators import Boundary, boundary


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
