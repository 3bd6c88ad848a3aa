"""Looks into program files: each as its own format tells it."""

import contextlib
import json
import zipfile
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from assay.toolchain.errors import JobError, RequestError
from assay.toolchain.file_formats.pt2 import UntrustedFile, load_exported
from assay.toolchain.file_formats.pte import (
    ProgramFile,
    corrupt,
    read_program,
    tensor_json,
    unreadable,
)
from assay.toolchain.files import sha256_of_file
from assay.toolchain.formats import AOTI_ENDING
from assay.toolchain.packages import import_package
from assay.toolchain.programs.pte_text import instruction_kind, render_program

SCHEMA = "assay/inspect/1"


def inspect_file(path: Path) -> dict[str, Any]:
    """Describes a program, or a model of torch.export.

    Raises:
        RequestError: there is no such file, or it is of another kind.
        JobError: the file is corrupt (reason corrupt_program).
    """
    if not path.is_file():
        raise RequestError(f"no file {path}")
    ending = next((ending for ending in _FORMATS if path.name.endswith(ending)), None)
    if ending is None:
        known = ", ".join(_FORMATS)
        raise RequestError(f"only files that end in {known} can be inspected, not {path.name}")
    name, look = _FORMATS[ending]
    what = _look(look, path)
    head = {"schema": SCHEMA, "format": name, "file": str(path)}
    return {**head, "bytes": path.stat().st_size, "sha256": sha256_of_file(path), **what}


def _look(look: Callable[[Path], dict[str, Any]], path: Path) -> dict[str, Any]:
    """Returns what the format's reader finds; any other error of the reader is the file's fault."""
    try:
        return look(path)
    except (JobError, MemoryError):
        raise
    except Exception as error:
        raise corrupt(path, unreadable(error)) from error


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
    return _counted(names)


def _delegates(file: ProgramFile, plan: Any) -> list[dict[str, Any]]:
    """Sums bytes by backend. Named data has no owner in a program, so one backend gets it all."""
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
    """The methods of the manifest next to the file, when it is the manifest of this very file."""
    beside = path.parent / "manifest.json"
    try:
        manifest = json.loads(beside.read_text())
        digests = [entry["sha256"] for entry in manifest["files"]]
        methods = {method["name"]: method for method in manifest["program"]["methods"]}
    except (OSError, ValueError, KeyError, TypeError):
        return {}
    return methods if sha256_of_file(path) in digests else {}


def _inspect_pt2(path: Path) -> dict[str, Any]:
    from assay.toolchain.graph.operators import count_operators

    _know_quantized_operators()
    try:
        exported = load_exported(path)
    except UntrustedFile:
        raise
    except Exception as error:
        raise corrupt(path, f"{type(error).__name__} while reading it: {error}") from error
    return {
        "operators": _counted(count_operators(exported)),
        "text": f"{exported.graph_signature}\n\n{exported.graph}",
    }


def _know_quantized_operators() -> None:
    """Lets torch read graphs with quantize and dequantize in them, where torchao is installed."""
    with contextlib.suppress(ImportError):
        import torchao.quantization.pt2e.quantize_pt2e  # noqa: F401


def _inspect_aoti(path: Path) -> dict[str, Any]:
    from assay.toolchain.flows import aoti

    try:
        calls, machine = aoti.count_calls(path), aoti.compiled_for(path)
        sizes = aoti.member_sizes(path)
    except (OSError, ValueError, zipfile.BadZipFile) as error:
        raise corrupt(path, f"{type(error).__name__} while reading it: {error}") from error
    text = "\n".join(f"{size:>12}  {name}" for name, size in sizes.items())
    return {"compiled_for": machine, "operators": _counted(calls), "text": text}


def _inspect_onnx(path: Path) -> dict[str, Any]:
    from assay.toolchain.file_formats import onnx_model

    model = onnx_model.read_onnx(path, wanted_by="looking into an .onnx file")
    return {
        "opset": onnx_model.find_opset(model),
        "ir_version": int(model.ir_version),
        "methods": [_method(onnx_model.get_inputs(model), onnx_model.get_outputs(model))],
        "operators": _counted(onnx_model.count_operators(model)),
        "text": onnx_model.text_from_model(onnx_model.without_weights(model)),
    }


def _inspect_ir(path: Path) -> dict[str, Any]:
    from assay.toolchain.flows.openvino import count_made, values_from_ports

    openvino = import_package("openvino", wanted_by="looking into an .xml file")
    try:
        model = openvino.Core().read_model(str(path))
    except RuntimeError as error:
        raise corrupt(path, f"{type(error).__name__} while reading it: {error}") from error
    inputs, outputs = values_from_ports(model.inputs), values_from_ports(model.outputs)
    return {
        "methods": [_method(inputs, outputs)],
        "operators": _counted(count_made(model)),
        "text": "\n".join(
            f"{node.get_type_name()} {node.get_friendly_name()}" for node in model.get_ordered_ops()
        ),
    }


def _inspect_tflite(path: Path) -> dict[str, Any]:
    from assay.toolchain.file_formats.litert_interpreter import make_interpreter
    from assay.toolchain.flows import litert

    try:
        interpreter = make_interpreter(path, "BUILTIN_WITHOUT_DEFAULT_DELEGATES")
    except (RuntimeError, ValueError) as error:
        raise corrupt(path, f"{type(error).__name__} while reading it: {error}") from error
    nodes = [node["op_name"] for node in interpreter._get_ops_details()]
    return {
        "methods": [_method(*litert.values_from_interpreter(interpreter))],
        "operators": _counted(Counter(nodes)),
        "text": "\n".join(nodes),
    }


def _inspect_tosa(path: Path) -> dict[str, Any]:
    from assay.toolchain.file_formats import tosa

    program = tosa.read_program(path.read_bytes())
    return {
        "methods": [
            _method(
                tosa.values_from_tensors(program.inputs), tosa.values_from_tensors(program.outputs)
            )
        ],
        "operators": _counted(program.operators),
        "text": f"TOSA {program.version}\n"
        + "\n".join(f"{count:>6}  {name}" for name, count in sorted(program.operators.items())),
    }


def _inspect_vgf(path: Path) -> dict[str, Any]:
    from assay.toolchain.file_formats import vgf

    program = vgf.read_program(path)
    inputs, outputs = map(vgf.values_from_tensors, (program.inputs, program.outputs))
    tensors = [*program.inputs, *program.outputs]
    return {
        "methods": [_method(inputs, outputs)],
        "operators": [],
        "text": "\n".join(f"set {t.descriptor_set} binding {t.binding}  {t.name}" for t in tensors),
    }


def _method(inputs: list[dict[str, Any]], outputs: list[dict[str, Any]]) -> dict[str, Any]:
    """The one method of a format that has no methods."""
    return {"name": "forward", "inputs": inputs, "outputs": outputs, "planned_arena_bytes": []}


def _counted(operators: Mapping[str, int]) -> list[dict[str, Any]]:
    return [{"name": name, "count": operators[name]} for name in sorted(operators)]


_FORMATS: dict[str, tuple[str, Callable[[Path], dict[str, Any]]]] = {
    ".pte": ("pte", _inspect_pte),
    AOTI_ENDING: ("aoti", _inspect_aoti),
    ".pt2": ("pt2", _inspect_pt2),
    ".onnx": ("onnx", _inspect_onnx),
    ".xml": ("openvino_ir", _inspect_ir),
    ".tflite": ("tflite", _inspect_tflite),
    ".tosa": ("tosa", _inspect_tosa),
    ".vgf": ("vgf", _inspect_vgf),
}
"""Keyed by the ending of a file's name; the first fit counts: its format, and its reader."""
