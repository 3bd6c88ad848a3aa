"""Lowering to a TensorFlow Lite program, for LiteRT: Google's converter over the exported program.

The converter takes a whole program or refuses it. What XNNPACK takes of the program is decided
where it is loaded; the manifest says what this toolchain's own LiteRT decides, here.
"""

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.toolchain.errors import Unsupported, walk_causes
from assay.toolchain.file_formats.litert_interpreter import make_interpreter
from assay.toolchain.flows.base import Flow, LoweringJob, LoweringOutput
from assay.toolchain.flows.program_manifest import describe_source, describe_whole
from assay.toolchain.packages import import_package
from assay.toolchain.quantize import litert as litert_quantize
from assay.toolchain.quantize.post_lowering import PostLoweringQuantization
from assay.toolchain.separate_toolchains import find_separate_toolchain
from assay.toolchain.suggest import check_keys
from assay.toolchain.types import BoundaryValue, Lowering

if TYPE_CHECKING:
    import torch

NAME = "litert"
PROGRAM = "program.tflite"
_REFUSALS = ("lowering not found", "no lowering", "failed to legalize", "not supported")
_WANTED_BY = "the litert lowering"


def _check(lowering: Lowering) -> None:
    check_keys("option of the litert lowering", lowering.options, ())


def lower(exported: "torch.export.ExportedProgram", lowering: Lowering) -> bytes:
    """The program as a flatbuffer, with the shapes that it was exported with.

    Raises:
        MissingDependency: the converter is not installed.
        Unsupported: it has no form of an operator.
    """
    way = find_separate_toolchain(NAME)
    converter = import_package("litert_torch", wanted_by=_WANTED_BY, way=way)
    arguments, _ = exported.example_inputs
    try:
        # With 64 bits, so that inputs keep the types that the model has.
        converted = converter.convert(exported.module(), tuple(arguments), enable_x64=True)
    except Exception as error:
        refusal = next((text for text in walk_causes(error) if _is_refusal(text)), None)
        if refusal is None:
            raise
        raise Unsupported(f"LiteRT has no form of this program: {refusal}") from error
    return bytes(converted.model_content())


def _is_refusal(text: str) -> bool:
    return any(mark in text.lower() for mark in _REFUSALS)


def _make(job: LoweringJob) -> LoweringOutput:
    source = describe_source(job.exported, job.parts)
    model = job.lower(lower)
    files = job.serialize(partial(serialize, model))
    interpreter = make_interpreter(model)
    inputs, outputs = values_from_interpreter(interpreter)
    program = describe_whole(source, files, inputs=inputs, outputs=outputs)
    return files, {**program, **describe_delegation(interpreter)}


def serialize(model: bytes, folder: Path) -> list[Path]:
    """Writes the program."""
    path = folder / PROGRAM
    path.write_bytes(model)
    return [path]


def values_from_interpreter(interpreter: Any) -> tuple[list[BoundaryValue], list[BoundaryValue]]:
    """Inputs and outputs."""
    inputs = [_value(detail) for detail in interpreter.get_input_details()]
    return inputs, [_value(detail) for detail in interpreter.get_output_details()]


def _value(detail: Mapping[str, Any]) -> BoundaryValue:
    return {
        "name": detail["name"],
        "dtype": detail["dtype"].__name__.rstrip("_"),
        "shape": [int(size) for size in detail["shape_signature"]],
        "quantization": None,
    }


def describe_delegation(interpreter: Any) -> dict[str, Any]:
    """Operators of the program, not of the exported one, that XNNPACK took and that it left."""
    from assay.toolchain.file_formats.litert_plan import plan_from_interpreter

    plan = plan_from_interpreter(interpreter)
    delegates = [{"backend": "XNNPACK", "count": plan.delegates}] if plan.delegates else []
    return {
        "delegates": delegates,
        "nodes_delegated": plan.taken.total(),
        "nodes_not_delegated": plan.left.total(),
        "operators_delegated": dict(sorted(plan.taken.items())),
        "operators_left": [
            {"name": name, "count": count, "reason": None}
            for name, count in sorted(plan.left.items())
        ],
    }


FLOW = Flow(
    name=NAME,
    engine="litert",
    product="tflite",
    make=_make,
    check=_check,
    needs=("litert_torch", "ai_edge_litert"),
    post_lowering=PostLoweringQuantization(
        name=litert_quantize.NAME,
        check_options=litert_quantize.check_options,
        lower=lower,
        apply=litert_quantize.apply,
        evaluate=litert_quantize.evaluate,
        needs=("ai_edge_quantizer",),
    ),
)
