"""Looks into program files: .pte as its plan says, .pt2 as its graph."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

from assay.aot.errors import RequestError
from assay.aot.files import sha256_of_file
from assay.aot.pte import ProgramFile, corrupt, read_program, tensor_json
from assay.aot.render import instruction_kind, render_program

SCHEMA = "assay/inspect/1"


def inspect_file(path: Path) -> dict[str, Any]:
    """Describes a .pte or .pt2 file.

    Raises:
        RequestError: there is no such file, or it is of another kind.
        JobError: the file is corrupt (reason corrupt_program).
    """
    if not path.is_file():
        raise RequestError(f"no file {path}")
    if path.suffix not in (".pte", ".pt2"):
        raise RequestError(f"only .pte and .pt2 files can be inspected, not {path.name}")
    what = _inspect_pte(path) if path.suffix == ".pte" else _inspect_pt2(path)
    head = {"schema": SCHEMA, "format": path.suffix[1:], "file": str(path)}
    return {**head, "bytes": path.stat().st_size, "sha256": sha256_of_file(path), **what}


def _inspect_pte(path: Path) -> dict[str, Any]:
    file = read_program(path)
    known = _manifest_methods(path)
    methods = [describe_method(file, plan, known.get(plan.name)) for plan in _plans(file)]
    return {
        "flatbuffer_bytes": file.flatbuffer_bytes,
        "segments": describe_segments(file),
        "named_data": {
            "count": len(file.program.named_data or []),
            "bytes": file.named_data_bytes(),
        },
        "methods": methods,
        "text": render_program(file),
    }


def describe_method(
    file: ProgramFile, plan: Any, known: dict[str, Any] | None = None
) -> dict[str, Any]:
    """One method: inputs, outputs, delegates, operators left, instructions, arenas.

    `known`: the method in the manifest of this very file, for names and quantization.
    """
    kinds = Counter(
        instruction_kind(one.instr_args) for chain in plan.chains for one in chain.instructions
    )
    return {
        "name": plan.name,
        "inputs": _values(plan, plan.inputs, (known or {}).get("inputs")),
        "outputs": _values(plan, plan.outputs, (known or {}).get("outputs")),
        "planned_arena_bytes": [int(size) for size in plan.non_const_buffer_sizes[1:]],
        "instructions": {"total": kinds.total(), **dict(sorted(kinds.items()))},
        "operators_left": _operators(plan),
        "delegates": _delegates(file, plan),
    }


def describe_segments(file: ProgramFile) -> list[dict[str, Any]]:
    """Size of each data segment and what lies in it."""
    program = file.program
    holds: dict[int, str] = {}
    if program.constant_segment and program.constant_segment.offsets:
        holds[program.constant_segment.segment_index] = "constants"
    for mutable in program.mutable_data_segments or []:
        holds[mutable.segment_index] = "mutable data"
    for entry in program.named_data or []:
        holds[entry.segment_index] = "named data"
    for plan in _plans(file):
        for delegate in plan.delegates:
            if int(delegate.processed.location) == 1:
                holds[delegate.processed.index] = f"delegate {delegate.id}"
    return [
        {"bytes": int(segment.size), "holds": holds.get(index)}
        for index, segment in enumerate(program.segments or [])
    ]


def _plans(file: ProgramFile) -> list[Any]:
    return list(file.program.execution_plan)


def _operators(plan: Any) -> list[dict[str, Any]]:
    calls = Counter(
        one.instr_args.op_index
        for chain in plan.chains
        for one in chain.instructions
        if type(one.instr_args).__name__ == "KernelCall"
    )
    names: Counter[str] = Counter()
    for index, count in calls.items():
        operator = plan.operators[index]
        names[".".join(filter(None, (operator.name, operator.overload)))] += count
    return [{"name": name, "count": names[name]} for name in sorted(names)]


def _delegates(file: ProgramFile, plan: Any) -> list[dict[str, Any]]:
    """By backend; a program does not say whose named data is, so one backend gets it all."""
    backends = sorted({delegate.id for delegate in plan.delegates})
    has_one = len(backends) == 1 and len(_plans(file)) == 1
    found = []
    for backend in backends:
        blobs = [file.processed_bytes(d) for d in plan.delegates if d.id == backend]
        named = file.named_data_bytes() if has_one else None
        sizes = {"processed_bytes": sum(blobs), "named_data_bytes": named}
        found.append({"backend": backend, "count": len(blobs), **sizes})
    return found


def _values(plan: Any, indices: list[int], known: Any) -> list[dict[str, Any]]:
    values = [tensor_json(plan.values[index], None) for index in indices]
    if known is not None and len(known) == len(values):
        for value, named in zip(values, known, strict=True):
            value |= {"name": named["name"], "quantization": named["quantization"]}
    return values


def _manifest_methods(path: Path) -> dict[str, Any]:
    """The methods of the manifest beside the file, when it is the manifest of this very file."""
    beside = path.parent / "manifest.json"
    try:
        manifest = json.loads(beside.read_text())
        digests = [entry["sha256"] for entry in manifest["files"]]
        methods = {method["name"]: method for method in manifest["program"]["methods"]}
    except (OSError, ValueError, KeyError, TypeError):
        return {}
    return methods if sha256_of_file(path) in digests else {}


def _inspect_pt2(path: Path) -> dict[str, Any]:
    import torch

    from assay.aot.delegation import operator_nodes
    from assay.aot.lower import operator_name

    try:
        exported = torch.export.load(path)
    except Exception as error:
        raise corrupt(path, f"{type(error).__name__} while reading it: {error}") from error
    operators = Counter(operator_name(n.target) for n in operator_nodes(exported.graph_module))
    return {
        "operators": [{"name": name, "count": operators[name]} for name in sorted(operators)],
        "text": f"{exported.graph_signature}\n\n{exported.graph}",
    }
