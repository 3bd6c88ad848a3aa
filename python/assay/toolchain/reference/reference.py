"""References: expected outputs of a model, by several ways of computing them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch

from assay.toolchain.dtypes import DTYPES
from assay.toolchain.errors import (
    RequestError,
    Unsupported,
    our_work,
)
from assay.toolchain.flows.base import Flow
from assay.toolchain.flows.registry import FLOWS, POST_LOWERING, find_flow_of_quantization
from assay.toolchain.graph.intermediate_outputs import (
    expose_float_layers,
    expose_layers,
)
from assay.toolchain.graph.isolated_layers import (
    IsolatedLayers,
    isolate_float_layers,
    isolate_layers,
)
from assay.toolchain.models.inputs import (
    input_set_from_json,
    make_labelled_samples,
    read_expected_outputs,
    refuse_shared,
)
from assay.toolchain.models.loader import NO_FAMILIES, Families, load_model, model_spec_from_json
from assay.toolchain.models.sample_files import Port
from assay.toolchain.quantize.quantization import calibration_from_json, run_stage
from assay.toolchain.recipes import recipes
from assay.toolchain.reference.bounds import float64_bounds, step_bounds
from assay.toolchain.reference.evaluation import (
    Outputs,
    evaluate,
    evaluate_float64,
    evaluate_quantized,
)
from assay.toolchain.reference.files import SCHEMA, Content, write_reference
from assay.toolchain.reference.sensitivity import (
    Sensitivity,
    evaluate_wide,
    measure_sensitivity,
)
from assay.toolchain.sampled_model import VALID_SAMPLES, Bound
from assay.toolchain.stages import StageLog
from assay.toolchain.suggest import unknown_name
from assay.toolchain.tensors import (
    Sample,
    find_output_names,
    kept_buffers,
    samples_sha256,
)
from assay.toolchain.types import Evaluate, Lowering, Model, Quantized

KINDS = ("float32", "float64", "qdq", "lowered_eager", "file")


def make_reference(
    *,
    model: Mapping[str, Any] | str,
    quantization: Mapping[str, Any] | str | None,
    lowering: Mapping[str, Any] | None,
    kind: str,
    inputs: Mapping[str, Any],
    calibration: Mapping[str, Any] | None,
    folder: Path,
    stages: StageLog,
    with_layers: bool = False,
    pieces: Sequence[str] = (),
    families: Families = NO_FAMILIES,
) -> dict[str, Any]:
    """Computes the outputs of one kind of reference and writes its files.

    `with_layers`: what the layers of the quantized network compute comes behind its outputs, by
    whatever kind it is computed. `pieces`: these layers by themselves, each fed what the layers
    before it make of the inputs in the quantized network, whatever the kind.

    Raises:
        RequestError: an unknown kind, or inputs that also calibrate.
        Unsupported: this model has no reference of this kind.
    """
    requested = recipes.quantization_from_json(quantization)
    used = choose_quantization(kind, requested)
    plan = recipes.lowering_from_json(lowering)
    evaluation = input_set_from_json(inputs, role="evaluation")
    calibration_set = calibration_from_json(calibration)
    refuse_shared(evaluation, calibration_set)
    with stages.stage("model"):
        made = load_model(model_spec_from_json(model), families)
    quantized = run_stage(made, used, calibration_set, stages, POST_LOWERING)
    whole = quantized
    if (with_layers or pieces) and used != requested:
        whole = run_stage(made, requested, calibration_set, stages, POST_LOWERING)
    if with_layers:
        quantized = with_exposed_layers(made, whole, quantized)
    given_samples, labels = make_labelled_samples(evaluation, made.inputs, made.sampled, made.own)
    task = Task(quantized, given_samples, labels)
    if pieces:
        refuse_kind_of_layers(kind)
        task = task_from_layers(made, whole, pieces, given_samples, requested, plan, stages)
        if used != requested and task.pieces is not None:
            floating = isolate_float_layers(made, task.pieces)
            task = replace(task, quantized=floating, pieces=None)
    all_samples = [_fit(sample, task.quantized) for sample in task.samples]
    samples = all_samples[: count_answered(made, all_samples)]
    function = choose_function(kind, made, task.quantized, used, plan, stages)
    outputs: Sequence[Outputs] = ()
    if kind == "file":
        with kept_buffers(made.module):
            names = find_output_names(made.module, samples[0])
        outputs = read_expected_outputs(evaluation, [Port(name) for name in names], len(samples))
    with stages.stage("reference"):
        own: Sequence[Outputs] = ()
        if kind == "float64":
            with kept_buffers(task.quantized.module):
                own = evaluate(task.quantized.module, samples)
            outputs = evaluate_float64(made, task.quantized.module, samples)
        elif kind == "qdq" and not pieces:  # The inputs of pieces are none of the model's.
            outputs = evaluate_quantized(function, made, samples, stages)
        elif kind != "file":
            with kept_buffers(task.quantized.module):
                outputs = evaluate(function, samples)
        own = own or outputs
        task.check(outputs)
        is_changed = with_layers or bool(pieces)
        bounds = None if is_changed else find_bounds(made, quantized, kind, samples, own, outputs)
        if bounds is not None:
            outputs = [[bound.expected for bound in of_sample] for of_sample in bounds]
        is_plain = bounds is None and not is_changed
        lost = find_sensitivity(made, kind, samples, own, outputs) if is_plain else []
        document = {
            "schema": SCHEMA,
            "kind": kind,
            "quantization": used,
            "model": made.to_json(),
            "input_specs": [spec.to_json() for spec in task.quantized.inputs],
            "inputs": evaluation.document,
            "inputs_sha256": _digest(given_samples),
            "calibration": made.calibration_digest() or None,
            **describe_parts(made),
        }
        content = Content(all_samples, outputs, task.labels, bounds, own, lost)
        with our_work("writing the reference"):
            return write_reference(folder, document, content)


def _digest(samples: Sequence[Sample]) -> str:
    with our_work("digesting the samples"):
        return samples_sha256(samples)


def count_answered(model: Model, samples: Sequence[Sample]) -> int:
    """Counts the samples with an answer: all, or those before the first that eager refuses.

    Only of a model that brings samples to be refused; what it refuses before them is an error.
    """
    if model.sampled is None or model.sampled.invalid_sample is None:
        return len(samples)
    for number, sample in enumerate(samples[VALID_SAMPLES:], start=VALID_SAMPLES):
        try:
            evaluate(model.module, [sample])
        except (IndexError, RuntimeError, ValueError):
            return number
    return len(samples)


def describe_parts(model: Model) -> dict[str, Any]:
    """The document's account of the parts of a model that has some."""
    spans = () if model.sampled is None else model.sampled.parts
    return {"parts": [span.to_json() for span in spans]} if spans else {}


@dataclass(frozen=True)
class Task:
    """A module to evaluate and its samples. `exact`: the whole network's outputs, for pieces."""

    quantized: Quantized
    samples: Sequence[Sample]
    labels: Sequence[torch.Tensor] | None = None
    pieces: IsolatedLayers | None = None
    exact: Sequence[Outputs] = ()

    def check(self, outputs: Sequence[Outputs]) -> None:
        """Holds pieces against the whole network.

        Raises:
            Unsupported: one computes something else.
        """
        if self.pieces is not None:
            for whole, found in zip(self.exact, outputs, strict=True):
                self.pieces.check(whole, found)


def task_from_layers(
    model: Model,
    whole: Quantized,
    wanted: Sequence[str],
    samples: Sequence[Sample],
    quantization: dict[str, Any] | None,
    lowering: Lowering,
    stages: StageLog,
) -> Task:
    """Layers of the network `whole` by themselves, fed what its layers make of `samples`."""
    pieces = isolate_layers(model, whole, wanted)
    marked = replace(whole, module=pieces.marked)
    truth = choose_function("qdq", model, marked, quantization, lowering, stages)
    fitted = [_fit(sample, whole) for sample in samples]
    with stages.stage("reference"):
        exact = evaluate(truth, fitted)
    fed = [pieces.feed(*pair) for pair in zip(fitted, exact, strict=True)]
    return Task(pieces.quantized, fed, None, pieces, exact)


def refuse_kind_of_layers(kind: str) -> None:
    """Layers by themselves are compared with the network as it is, and as it was quantized.

    Raises:
        RequestError: another kind.
    """
    if kind not in ("float32", "qdq"):
        raise RequestError(f"pieces have references of kind float32 and qdq, not {kind}")


def choose_function(
    kind: str,
    model: Model,
    quantized: Quantized,
    quantization: Mapping[str, Any] | None,
    lowering: Lowering,
    stages: StageLog,
) -> Evaluate:
    """The function that computes a reference of that kind, quantized by `quantization`."""
    if kind == "lowered_eager":
        recipes.check_pair(quantization, FLOWS[lowering.flow])
        return lowered_function(model, quantized, lowering, stages)
    flow = find_flow_of_quantization(quantization)
    if flow is not None:
        return post_lowering_function(model, quantized, lowering, flow, stages)
    module: Evaluate = quantized.module
    return module


def find_bounds(
    model: Model,
    quantized: Quantized,
    kind: str,
    samples: Sequence[Sample],
    own: Sequence[Outputs],
    outputs: Sequence[Outputs],
) -> list[list[Bound]] | None:
    """Says how far each output may be from this reference; None if it is unknown.

    `own`: what the module answers in its own types.
    """
    sampled = model.sampled
    if sampled is None or sampled.bound is None:
        return None
    if kind == "float64":
        return float64_bounds(sampled, samples, own, outputs)
    if kind == "qdq":
        return step_bounds(sampled, quantized.module, samples, outputs)
    return None


def find_sensitivity(
    model: Model,
    kind: str,
    samples: Sequence[Sample],
    own: Sequence[Outputs],
    outputs: Sequence[Outputs],
) -> list[Sensitivity | None]:
    """The loss of float32 itself in each output of the model; empty if it is unknown."""
    if kind not in ("float32", "float64") or model.exported is not None:
        return []
    exact = outputs if kind == "float64" else evaluate_wide(model.module, samples)
    return measure_sensitivity(own, exact)


def with_exposed_layers(model: Model, whole: Quantized, wanted: Quantized) -> Quantized:
    """`wanted`, the recipe's graph or the float module, with the layers of the recipe's graph.

    Raises:
        Unsupported: there are none.
    """
    marked = expose_layers(model, whole)
    if wanted is whole:
        return marked.quantized
    return replace(wanted, module=expose_float_layers(model, marked))


def choose_quantization(kind: str, quantization: dict[str, Any] | None) -> dict[str, Any] | None:
    """The quantization that a kind of reference applies: the float kinds apply none.

    Raises:
        RequestError: an unknown kind, or qdq without a quantization.
    """
    if kind not in KINDS:
        raise RequestError(unknown_name("kind of reference", kind, KINDS))
    if kind == "qdq" and quantization is None:
        raise RequestError("a qdq reference needs a quantization")
    return quantization if kind in ("qdq", "lowered_eager") else None


def lowered_function(
    model: Model, quantized: Quantized, lowering: Lowering, stages: StageLog
) -> Evaluate:
    """The lowered program as a function that eager executes.

    Raises:
        Unsupported: what the flow makes has no such form.
    """
    flow = FLOWS[lowering.flow]
    flow.check(lowering)
    if flow.eager is None:
        text = f"what the flow {flow.name} makes of a program has no form that eager executes"
        raise Unsupported(text)
    with stages.stage("export"):
        exported = flow.export_program(model, quantized, lowering)
    with stages.stage("lower"):
        return flow.eager(exported, lowering)


def post_lowering_function(
    model: Model, quantized: Quantized, lowering: Lowering, flow: Flow, stages: StageLog
) -> Evaluate:
    """The model lowered by `flow` and quantized afterwards, as a function.

    `lowering` counts where it is of this flow; otherwise the flow's defaults do.
    """
    plan = lowering if lowering.flow == flow.name else Lowering(flow.name)
    flow.check(plan)
    post_lowering, quantize_lowered = flow.post_lowering, quantized.quantize_lowered
    assert post_lowering is not None
    assert quantize_lowered is not None
    with stages.stage("export"):
        exported = flow.export_program(model, quantized, plan)
    with stages.stage("lower"):
        lowered = post_lowering.lower(exported, plan)
    with stages.stage("quantize"):
        return post_lowering.evaluate(quantize_lowered(lowered))


def _fit(sample: Sample, quantized: Quantized) -> Sample:
    """The sample in the types that the quantized module takes (a cast changes them)."""
    dtypes = [DTYPES[spec.dtype] for spec in quantized.inputs]
    return tuple(tensor.to(dtype) for tensor, dtype in zip(sample, dtypes, strict=True))
