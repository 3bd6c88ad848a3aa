"""Inputs of finished programs: by their own signature, or from files with what these expect."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch

from assay.toolchain.dtypes import dtype_name
from assay.toolchain.errors import RequestError, reading
from assay.toolchain.file_formats.bundled_program import read_bundle
from assay.toolchain.models.inputs import (
    NoExpectedOutputs,
    input_set_from_json,
    input_spec_from_json,
    make_labelled_samples,
    read_expected_outputs,
)
from assay.toolchain.models.sample_files import read_sample_file
from assay.toolchain.programs.signature import (
    Signature,
    bind_dimensions,
    bind_inputs,
    read_signature,
)
from assay.toolchain.reference.files import SCHEMA, Content, write_reference
from assay.toolchain.stages import StageLog
from assay.toolchain.suggest import check_keys, unknown_name
from assay.toolchain.tensors import samples_sha256
from assay.toolchain.types import InputSet, InputSpec

KINDS = ("inputs", "file")
BUNDLE = ".bpte"
BUNDLED_PROGRAM = "program.pte"


def make_stimulus(
    *,
    program: Mapping[str, Any],
    kind: str,
    inputs: Mapping[str, Any],
    folder: Path,
    stages: StageLog,
) -> dict[str, Any]:
    """Writes inputs.safetensors, with kind "file" outputs.safetensors, and reference.json.

    Where a file has inputs and no outputs, reference.json says why under "missing_outputs".
    A bundled program is taken out of its bundle, too. `program` is {ref, inputs, dimensions}.

    Raises:
        RequestError: a dimension stays open, or the samples do not fit the program.
        JobError: the program or the samples are corrupt.
    """
    if kind not in KINDS:
        raise RequestError(unknown_name("kind of stimulus", kind, KINDS))
    path, given, dimensions = _program_from_json(program)
    evaluation = input_set_from_json(inputs, role="evaluation")
    with stages.stage("reference"):
        signature = read_signature(path)
        if signature is None and given is None and evaluation.file is not None:
            specs = _specs_from_file(evaluation.file)
        else:
            bind = bind_inputs if evaluation.file is None else bind_dimensions
            specs = bind(signature, given, dimensions)
        samples, labels = make_labelled_samples(evaluation, specs)
        outputs, missing = _expected(evaluation, signature, samples) if kind == "file" else ([], "")
        head = {
            "schema": SCHEMA,
            "kind": kind,
            "quantization": None,
            "model": {"ref": str(path), "dimensions": dimensions},
            "input_specs": [spec.to_json() for spec in specs],
            "binds": describe_binding(signature, samples),
            "inputs": evaluation.document,
            "inputs_sha256": samples_sha256(samples),
            **({"missing_outputs": missing} if missing else {}),
        }
        more = [_take_out(path, folder)] if path.name.endswith(BUNDLE) else []
        return write_reference(folder, head, Content(samples, outputs, labels), more)


@reading("the program")
def _program_from_json(
    document: Mapping[str, Any],
) -> tuple[Path, list[InputSpec] | None, dict[str, int]]:
    check_keys("key of a program", document, ("ref", "inputs", "dimensions"))
    inputs = document.get("inputs")
    sizes = {name: int(size) for name, size in (document.get("dimensions") or {}).items()}
    specs = None if inputs is None else [input_spec_from_json(entry) for entry in inputs]
    return Path(str(document["ref"])), specs, sizes


def _specs_from_file(file: str) -> tuple[InputSpec, ...]:
    """Inputs as a file has them, for a program that does not tell its own; of any size."""
    first = read_sample_file(Path(file)).inputs[0]
    return tuple(
        InputSpec((-1,) * tensor.dim(), dtype_name(tensor.dtype), name=name)
        for name, tensor in first
    )


def _expected(
    evaluation: InputSet, signature: Signature | None, samples: Sequence[object]
) -> tuple[list[tuple[torch.Tensor, ...]], str]:
    """The expected outputs, or why there are none."""
    ports = None if signature is None else [one.to_port() for one in signature.outputs]
    try:
        return read_expected_outputs(evaluation, ports, len(samples)), ""
    except NoExpectedOutputs as missing:
        return [], str(missing)


def describe_binding(signature: Signature | None, samples: Sequence[Sequence[torch.Tensor]]) -> str:
    """The engines' option input_shapes, "x:1x3;mask:1x16", where the program leaves sizes open.

    Empty where it leaves none, or where the samples differ in shape.
    """
    shapes = {tuple(tuple(tensor.shape) for tensor in sample) for sample in samples}
    if signature is None or len(shapes) != 1:
        return ""
    return ";".join(
        f"{one.name}:{'x'.join(map(str, shape))}"
        for one, shape in zip(signature.inputs, shapes.pop(), strict=True)
        if one.name and shape and one.is_open()
    )


def _take_out(bundle: Path, folder: Path) -> Path:
    path = folder / BUNDLED_PROGRAM
    path.write_bytes(read_bundle(bundle).program)
    return path
