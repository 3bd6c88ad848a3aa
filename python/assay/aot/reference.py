"""References: expected outputs of a model, by several ways of computing them."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch

from assay.aot import toolchain
from assay.aot.errors import RequestError, Unsupported
from assay.aot.files import describe_file, number, write_json
from assay.aot.inputs import InputSet, Sample
from assay.aot.models import Model
from assay.aot.quantize import Quantized, cast_sample

SCHEMA = "assay/reference/1"
KINDS = ("float32", "float64", "qdq", "lowered_eager")
INPUTS, OUTPUTS, DOCUMENT = "inputs.safetensors", "outputs.safetensors", "reference.json"

Outputs = list[torch.Tensor]


def check_kind(kind: str, quantization: dict[str, Any] | None) -> None:
    """Refuses kinds that make no sense of the request.

    Raises:
        RequestError: qdq without a quantization.
    """
    if kind == "qdq" and quantization is None:
        raise RequestError("a qdq reference needs a quantization")


def evaluate(module: Callable[..., Any], samples: Sequence[Sample]) -> list[Outputs]:
    """The flat tensor outputs for each sample."""
    results = []
    for sample in samples:
        with torch.no_grad():
            leaves = torch.utils._pytree.tree_leaves(module(*sample))
        results.append([leaf.detach() for leaf in leaves if isinstance(leaf, torch.Tensor)])
    return results


def evaluate_double(model: Model, samples: Sequence[Sample]) -> list[Outputs]:
    """The model in float64, on the same inputs widened."""
    if model.exported is not None:
        raise Unsupported("an exported program has its types baked in; no float64 reference of it")
    module = model.module.double()
    return evaluate(module, [cast_sample(sample, torch.float64) for sample in samples])


def write_reference(
    folder: Path,
    *,
    model: Model,
    quantized: Quantized,
    kind: str,
    quantization: dict[str, Any] | None,
    inputs: InputSet,
    samples: Sequence[Sample],
    outputs: Sequence[Outputs],
) -> dict[str, Any]:
    """Writes the three files of a reference and returns its document."""
    _save(folder / INPUTS, samples)
    _save(folder / OUTPUTS, outputs)
    document = {
        "schema": SCHEMA,
        "kind": kind,
        "quantization": quantization,
        "model": model.to_json(),
        "input_specs": [spec.to_json() for spec in quantized.inputs],
        "inputs": inputs.document,
        "samples": len(samples),
        "outputs": [describe_output(index, outputs) for index in range(len(outputs[0]))],
        "nan_count": sum(int(t.isnan().sum()) for sample in outputs for t in sample),
        "producer": toolchain.describe(),
        "files": [describe_file(folder / name, "tensors") for name in (INPUTS, OUTPUTS)],
    }
    write_json(folder / DOCUMENT, document)
    return document


def describe_output(index: int, outputs: Sequence[Outputs]) -> dict[str, Any]:
    """{name, dtype, shape, rms, abs_max, std_between_inputs} of one output over all samples.

    `std_between_inputs` is the root mean square over elements of the standard deviation over
    samples; null for a single sample. Figures that are not finite are null.
    """
    stacked = torch.stack([sample[index].double() for sample in outputs])
    spread = stacked.std(dim=0).square().mean().sqrt() if len(outputs) > 1 else None
    first = outputs[0][index]
    return {
        "name": str(index),
        "dtype": str(first.dtype).removeprefix("torch."),
        "shape": list(first.shape),
        "rms": number(float(stacked.square().mean().sqrt())),
        "abs_max": number(float(stacked.abs().max())) if stacked.numel() else None,
        "std_between_inputs": None if spread is None else number(float(spread)),
    }


def _save(path: Path, samples: Sequence[Sequence[torch.Tensor]]) -> None:
    from safetensors.torch import save_file

    tensors = {
        f"{sample}.{index}": tensor.contiguous().clone()
        for sample, values in enumerate(samples)
        for index, tensor in enumerate(values)
    }
    save_file(tensors, str(path))
