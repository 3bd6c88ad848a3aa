"""Quantization flows: a float model in, the module that is exported and lowered out.

The result depends on the model, the quantization and the calibration inputs only, so a build and a
reference job get the same graph.
"""

import copy
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import torch

from assay.toolchain import executorch_recipes
from assay.toolchain.errors import RequestError, Unsupported
from assay.toolchain.flows.base import LateQuantization
from assay.toolchain.flows.registry import LATE
from assay.toolchain.models.dynamic_shapes import dynamic_shapes
from assay.toolchain.models.inputs import (
    DTYPES,
    InputSet,
    InputSpec,
    Sample,
    cast_sample,
    input_set_from_json,
    samples_of,
)
from assay.toolchain.models.loader import Model
from assay.toolchain.models.plugins import import_object
from assay.toolchain.quantize import nncf
from assay.toolchain.sampled_model import CALIBRATION_SEED, OWN
from assay.toolchain.stages import StageLog
from assay.toolchain.suggest import check_keys, unknown_name

DEFAULT_CALIBRATION = InputSet("normal", CALIBRATION_SEED, 8, "calibration")
"""Eight batches: what a request without calibration gets."""


@dataclass(frozen=True)
class Quantized:
    """The module to export and the inputs that it takes.

    `finish` is for a quantization of what the lowering makes, which this is before: it takes what
    was lowered and returns it quantized. A second argument makes of a calibration sample what the
    module takes, where that is not what the model takes.
    """

    module: torch.nn.Module
    inputs: tuple[InputSpec, ...]
    example: Sample
    finish: Callable[..., Any] | None = None


def calibration_from_json(document: Mapping[str, Any] | None) -> InputSet:
    """Reads a request's calibration inputs."""
    if document is None:
        return DEFAULT_CALIBRATION
    return input_set_from_json(document, role="calibration")


def calibration_samples(model: Model, calibration: InputSet) -> list[Sample]:
    """The samples that calibrate: the model's own where it has some and nothing else is asked."""
    if model.brought is not None and calibration == DEFAULT_CALIBRATION:
        calibration = replace(calibration, generator=OWN)
    return samples_of(calibration, model.inputs, model.brought, model.own)


def quantize(model: Model, quantization: dict[str, Any] | None, calibration: InputSet) -> Quantized:
    """Applies a quantization; None leaves the model as it is.

    Raises:
        RequestError: an unknown flow or option.
        Unsupported: the flow declares that it does not do this.
    """
    if quantization is None:
        return Quantized(model.module, model.inputs, model.example)
    options = dict(quantization)
    flow = str(options.pop("flow", None))
    late = LATE[flow].late if flow in LATE else None
    if late is not None:
        return _late(model, late, options, calibration)
    if flow not in _FLOWS:
        raise RequestError(unknown_name("quantization flow", flow, (*_FLOWS, *LATE)))
    return _FLOWS[flow](model, options, calibration)


def run_stage(
    model: Model, quantization: dict[str, Any] | None, calibration: InputSet, stages: StageLog
) -> Quantized:
    """`quantize` as a stage of a job; a late quantization has its stage after the lowering."""
    if (quantization or {}).get("flow") in LATE:
        return quantize(model, quantization, calibration)
    with stages.stage("quantize"):
        return quantize(model, quantization, calibration)


def _late(
    model: Model, late: LateQuantization, options: dict[str, Any], calibration: InputSet
) -> Quantized:
    """Leaves the model as it is, and knows what to do with what will be made of it."""
    late.check_options(options)

    def finish(lowered: Any, feed: Callable[[Sample], Sample] = tuple) -> Any:
        samples = [feed(sample) for sample in calibration_samples(model, calibration)]
        return late.apply(lowered, options, samples)

    return Quantized(model.module, model.inputs, model.example, finish)


def _pt2e(model: Model, options: dict[str, Any], calibration: InputSet) -> Quantized:
    """Post-training quantization of the exported graph, calibrated batch by batch."""
    from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e

    quantizer = _quantizer(options)
    graph = _capture(model)
    prepared = prepare_pt2e(graph, quantizer)
    with torch.no_grad():
        for batch in calibration_samples(model, calibration):
            prepared(*batch)
    return Quantized(convert_pt2e(prepared), model.inputs, model.example)


def _capture(model: Model) -> torch.fx.GraphModule:
    if model.exported is not None:
        module: Any = model.exported.module()
        return module
    with torch.no_grad():
        shapes = dynamic_shapes(model.module, model.brought)
        exported = torch.export.export(model.module, model.example, dynamic_shapes=shapes)
        # A sample beyond the bounds of an open size has an answer, too: eager gives one.
        return exported.module(check_guards=shapes is None)


def _quantizer(options: dict[str, Any]) -> Any:
    """The quantizer that options name: "xnnpack", or "package.module:Class" with its arguments."""
    name = options.pop("quantizer", "xnnpack")
    if name == "xnnpack":
        return _xnnpack_quantizer(options)
    if ":" in name:
        return import_object(name)(**options)
    raise RequestError(unknown_name("quantizer", name, ("xnnpack", "package.module:Class")))


def _xnnpack_quantizer(options: dict[str, Any]) -> Any:
    from executorch.backends.xnnpack.quantizer.xnnpack_quantizer import (
        XNNPACKQuantizer,
        get_symmetric_quantization_config,
    )

    known = ["is_per_channel", "is_dynamic", "act_qmin", "act_qmax", "weight_qmin", "weight_qmax"]
    check_keys("option of the xnnpack quantizer", options, known)
    return XNNPACKQuantizer().set_global(get_symmetric_quantization_config(**options))


def _torchao(model: Model, options: dict[str, Any], calibration: InputSet) -> Quantized:
    """Torchao's quantize_: weights of linear layers, before export."""
    from torchao.quantization import quantize_
    from torchao.utils import unwrap_tensor_subclass

    if model.exported is not None:
        raise Unsupported("torchao quantizes modules; an exported program has none left")
    config = _torchao_config(options)
    module = copy.deepcopy(model.module)
    quantize_(module, config)
    return Quantized(unwrap_tensor_subclass(module), model.inputs, model.example)


def _torchao_config(options: dict[str, Any]) -> Any:
    from torchao.quantization.granularity import PerAxis, PerGroup
    from torchao.quantization.quant_api import Int8DynamicActivationIntxWeightConfig

    check_keys("option of torchao", options, ("config", "group_size"))
    kinds = {"8da4w": torch.int4, "8da8w": torch.int8}
    kind, group_size = options.get("config"), options.get("group_size")
    if kind not in kinds:
        raise RequestError(unknown_name("torchao config", str(kind), kinds))
    granularity = PerAxis(0) if group_size is None else PerGroup(int(group_size))
    return Int8DynamicActivationIntxWeightConfig(
        weight_dtype=kinds[kind], weight_granularity=granularity
    )


def _cast(model: Model, options: dict[str, Any], calibration: InputSet) -> Quantized:
    """Weights, activations and floating inputs in a smaller floating type."""
    check_keys("option of cast", options, ("dtype",))
    name = str(options.get("dtype"))
    if name not in ("float16", "bfloat16"):
        raise RequestError(unknown_name("dtype to cast to", name, ("float16", "bfloat16")))
    if model.exported is not None:
        raise Unsupported("an exported program has its types baked in; cast the module")
    module = copy.deepcopy(model.module).to(DTYPES[name])
    inputs = tuple(cast_spec(spec, name) for spec in model.inputs)
    return Quantized(module, inputs, cast_sample(model.example, DTYPES[name]))


def _native(model: Model, options: dict[str, Any], calibration: InputSet) -> Quantized:
    """The quantization of one of executorch's own recipes."""
    check_keys("key of an executorch recipe", options, ("recipe", "options"))
    asked = dict(options.get("options") or {})
    recipe = executorch_recipes.make_recipe(str(options.get("recipe")), asked)
    module = executorch_recipes.run_quantize(recipe, model, calibration_samples(model, calibration))
    return Quantized(module, model.inputs, model.example)


def _nncf(model: Model, options: dict[str, Any], calibration: InputSet) -> Quantized:
    """NNCF's post-training quantization of the exported graph."""
    graph = _capture(model)
    module = nncf.quantize(graph, options, calibration_samples(model, calibration))
    return Quantized(module, model.inputs, model.example)


def cast_spec(spec: InputSpec, dtype: str) -> InputSpec:
    """The spec with `dtype` where it was floating."""
    return replace(spec, dtype=dtype) if DTYPES[spec.dtype].is_floating_point else spec


_FLOWS: dict[str, Callable[[Model, dict[str, Any], InputSet], Quantized]] = {
    "pt2e": _pt2e,
    "torchao": _torchao,
    "cast": _cast,
    nncf.FLOW: _nncf,
    executorch_recipes.FLOW: _native,
}
