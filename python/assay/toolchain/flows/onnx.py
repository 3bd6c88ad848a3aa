"""Lowering to ONNX, for ONNX Runtime: torch's own exporter over the exported program.

The exporter takes a whole program or refuses it.
"""

import re
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.toolchain.errors import JobError, RequestError, Unsupported, walk_causes
from assay.toolchain.file_formats.onnx_model import (
    count_operators,
    find_opset,
    get_inputs,
    get_outputs,
    is_too_large,
    walk_nodes,
)
from assay.toolchain.flows.base import Flow, LoweringJob, LoweringOutput
from assay.toolchain.flows.program_manifest import describe_source, describe_whole
from assay.toolchain.packages import import_package
from assay.toolchain.quantize import onnx as onnx_quantize
from assay.toolchain.quantize.post_lowering import PostLoweringQuantization
from assay.toolchain.suggest import check_keys
from assay.toolchain.types import Lowering

if TYPE_CHECKING:
    import torch

PROGRAM, DATA = "program.onnx", "program.onnx.data"
OPTIONS = ("opset",)
"""`opset`: version of the standard operator set; torch's default unless given."""

SCOPES = "pkg.torch.onnx.name_scopes"
"""Key of a node's metadata: the names of the torch modules around it, and its own."""

_REFUSAL = "No ONNX function found"
_OPERATOR = re.compile(r"target=torch\.ops\.([\w.]+)")
_WANTED_BY = "the onnx lowering"


def _check(lowering: Lowering) -> None:
    check_keys("option of the onnx lowering", lowering.options, OPTIONS)
    opset = lowering.options.get("opset")
    if opset is not None and type(opset) is not int:
        raise RequestError(f"opset takes int, not {opset!r}")


def lower(exported: "torch.export.ExportedProgram", lowering: Lowering) -> Any:
    """The program as an onnx.ModelProto.

    Raises:
        MissingDependency: onnx or onnxscript is not installed.
        Unsupported: ONNX has no form of an operator, or not in the opset that was asked for.
    """
    import_package("onnx", wanted_by=_WANTED_BY)
    import_package("onnxscript", wanted_by=_WANTED_BY)
    import torch

    asked = lowering.options.get("opset")
    try:
        program = torch.onnx.export(exported, dynamo=True, opset_version=asked, verbose=False)
    except torch.onnx.OnnxExporterError as error:
        raise _job_error_from_export(error) from error
    model = program.model_proto
    if asked is not None and find_opset(model) != asked:
        raise Unsupported(
            f"torch's exporter cannot make opset {asked} of this program; "
            f"opset {find_opset(model)} is what it makes"
        )
    _forget_places(model)
    return model


def _job_error_from_export(error: BaseException) -> JobError:
    """The cause of a failed export, with the operator where it is known."""
    texts = list(walk_causes(error))
    refusal = next((text for text in texts if _REFUSAL in text), None)
    if refusal is not None:
        return Unsupported(f"ONNX has no form of this program: {refusal}")
    operators = [match[1] for match in map(_OPERATOR.search, texts) if match]
    where = f" at {operators[0]}" if operators else ""
    text = f"torch's exporter to ONNX failed{where}: {texts[-1]}"
    return JobError(text, reason_code="lower_failed")


def _forget_places(model: Any) -> None:
    """Leaves of a node's notes its place in the torch module: others name this machine's paths."""
    nodes = [model.graph.node, *(function.node for function in model.functions)]
    for node in (node for some in nodes for node in walk_nodes(some)):
        kept = [entry for entry in node.metadata_props if entry.key == SCOPES]
        del node.metadata_props[:]
        node.metadata_props.extend(kept)


def serialize(model: Any, folder: Path) -> list[Path]:
    """Writes the program; weights lie next to it when they are too many for one file.

    Returns:
        The files, the program first.
    """
    import onnx

    path, data = folder / PROGRAM, folder / DATA
    data.unlink(missing_ok=True)
    is_split = is_too_large(model)
    onnx.save_model(model, str(path), save_as_external_data=is_split, location=DATA)
    return [path, data] if is_split else [path]


def _make(job: LoweringJob) -> LoweringOutput:
    source = describe_source(job.exported, job.parts)
    model = job.lower(lower)
    described: dict[str, Any] = {
        "made": count_operators(model),
        "inputs": get_inputs(model),
        "outputs": get_outputs(model),
    }
    files = job.serialize(partial(serialize, model))
    return files, describe_whole(source, files, **described)


FLOW = Flow(
    name="onnx",
    engine="onnxruntime",
    product="onnx",
    make=_make,
    check=_check,
    needs=("onnx", "onnxscript"),
    post_lowering=PostLoweringQuantization(
        name=onnx_quantize.NAME,
        check_options=onnx_quantize.check_options,
        lower=lower,
        apply=onnx_quantize.apply,
        evaluate=onnx_quantize.evaluate,
        needs=("onnxruntime",),
    ),
)
