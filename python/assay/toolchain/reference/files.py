"""The files of a reference: tensors by sample, and the document that names them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from assay.toolchain import identity
from assay.toolchain.dtypes import dtype_name
from assay.toolchain.files import describe_file, number, write_json
from assay.toolchain.reference.bounds import MARKS, rules_from_bounds
from assay.toolchain.reference.sensitivity import Sensitivity
from assay.toolchain.sampled_model import Bound

SCHEMA = "assay/reference/1"
INPUTS, OUTPUTS = "inputs.safetensors", "outputs.safetensors"
LABELS, BOUNDS = "labels.safetensors", "bounds.safetensors"
DOCUMENT = "reference.json"

Tensors = Sequence[Sequence[torch.Tensor]]


@dataclass(frozen=True)
class Content:
    """Has for each sample its inputs, outputs (if there are any), labels and bounds of error.

    `own`: the outputs in the types in which the model itself gives them; empty: those of `outputs`.
    `sensitivity`: what float32 itself loses in each output; empty: not known.
    """

    inputs: Tensors
    outputs: Tensors = ()
    labels: Sequence[torch.Tensor] | None = None
    bounds: Sequence[Sequence[Bound]] | None = None
    own: Tensors = ()
    sensitivity: Sequence[Sensitivity | None] = ()

    def tensors(self) -> dict[str, Tensors]:
        """The tensors of each file, by its name."""
        tensors: dict[str, Tensors] = {INPUTS: self.inputs}
        if self.outputs:
            tensors[OUTPUTS] = self.outputs
        if self.labels is not None:
            tensors[LABELS] = [[label] for label in self.labels]
        if self.bounds is not None:
            tensors[BOUNDS] = [[bound.limit for bound in of_sample] for of_sample in self.bounds]
        return tensors


def write_reference(
    folder: Path, head: Mapping[str, Any], content: Content, more: Sequence[Path] = ()
) -> dict[str, Any]:
    """Writes tensors and the document that begins with `head`, which it returns.

    `more`: further files of the folder, which the document lists as programs.
    """
    tensors, outputs = content.tensors(), content.outputs
    for name, of_samples in tensors.items():
        _save(folder / name, of_samples)
    rules = [] if content.bounds is None else rules_from_bounds(content.bounds)
    document = {
        **head,
        "samples": len(content.inputs),
        "outputs": [
            describe_output(index, outputs)
            | own_type_entry(content, index)
            | sensitivity_entry(content, index)
            | marks_from_rules(rules, index)
            for index in range(len(outputs[0]) if outputs else 0)
        ],
        "nan_count": sum(int(t.isnan().sum()) for sample in outputs for t in sample),
        "producer": identity.describe(),
        "files": [describe_file(folder / name, "tensors") for name in tensors]
        + [describe_file(path, "program") for path in more],
    }
    if rules:
        document["bounds"] = rules
    write_json(folder / DOCUMENT, document)
    return document


def marks_from_rules(rules: Sequence[Mapping[str, Any]], index: int) -> dict[str, bool]:
    """The marks of an output, {constant: true}."""
    return {mark: True for mark in MARKS if rules and rules[index].get(mark)}


def own_type_entry(content: Content, index: int) -> dict[str, str]:
    """{own_dtype} of an output whose reference has another type than the model gives."""
    if not content.own or content.own[0][index].dtype == content.outputs[0][index].dtype:
        return {}
    return {"own_dtype": dtype_name(content.own[0][index].dtype)}


def sensitivity_entry(content: Content, index: int) -> dict[str, Any]:
    """{sensitivity} of an output of which it is known."""
    found = content.sensitivity[index] if index < len(content.sensitivity) else None
    if found is None:
        return {}
    return {"sensitivity": {name: number(value) for name, value in found.items()}}


def describe_output(index: int, outputs: Tensors) -> dict[str, Any]:
    """{name, dtype, shape, rms, abs_max, std_between_inputs} of one output over all samples.

    `std_between_inputs` is the root mean square over elements of the standard deviation over
    samples; null for a single sample, or samples of different shapes. Figures that are not finite
    are null.
    """
    values = [sample[index].double() for sample in outputs]
    first = outputs[0][index]
    is_alike = all(value.shape == first.shape for value in values)
    stacked = torch.stack(values) if is_alike else torch.cat([v.reshape(-1) for v in values])
    has_spread = is_alike and len(values) > 1
    spread = stacked.std(dim=0).square().mean().sqrt() if has_spread else None
    return {
        "name": str(index),
        "dtype": dtype_name(first.dtype),
        "shape": list(first.shape),
        "rms": number(float(stacked.square().mean().sqrt())),
        "abs_max": number(float(stacked.abs().max())) if stacked.numel() else None,
        "std_between_inputs": None if spread is None else number(float(spread)),
    }


def _save(path: Path, samples: Tensors) -> None:
    from safetensors.torch import save_file

    tensors = {
        f"{sample}.{index}": tensor.contiguous().clone()
        for sample, values in enumerate(samples)
        for index, tensor in enumerate(values)
    }
    save_file(tensors, str(path))
