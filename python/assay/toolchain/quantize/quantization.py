"""Quantization flows: a float model in, the module that is exported and lowered out.

The result depends on the model, the quantization and the calibration inputs only, so a build and a
reference job get the same graph.
"""

import copy
from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import torch

from assay.toolchain import executorch_recipes
from assay.toolchain.dtypes import DTYPES
from assay.toolchain.errors import RequestError, Unsupported
from assay.toolchain.graph.written_state import copy_state, restore_state
from assay.toolchain.models.dynamic_shapes import dynamic_shapes
from assay.toolchain.models.inputs import cast_spec, input_set_from_json, make_samples
from assay.toolchain.models.plugins import import_object
from assay.toolchain.quantize import arm, nncf, qnn
from assay.toolchain.quantize.held_weights import check_linear_weights, hold_weights
from assay.toolchain.quantize.post_lowering import PostLoweringQuantization
from assay.toolchain.sampled_model import CALIBRATION_SEED, FROM_MODEL
from assay.toolchain.stages import StageLog
from assay.toolchain.suggest import check_keys, unknown_name
from assay.toolchain.tensors import Sample, cast_sample, kept_buffers, samples_sha256
from assay.toolchain.types import InputSet, Model, Quantized

DEFAULT_CALIBRATION = InputSet("normal", CALIBRATION_SEED, 8, "calibration")
"""Eight batches: what a request without calibration gets."""


PostLowering = Mapping[str, PostLoweringQuantization]
"""Quantizations of lowered programs by name; flows/registry.py has the table."""

NO_POST_LOWERING: PostLowering = MappingProxyType({})


def calibration_from_json(document: Mapping[str, Any] | None) -> InputSet:
    """Reads a request's calibration inputs."""
    if document is None:
        return DEFAULT_CALIBRATION
    return input_set_from_json(document, role="calibration")


def calibration_samples(model: Model, calibration: InputSet) -> list[Sample]:
    """The samples that calibrate: the model's own where it has some and nothing else is asked."""
    if model.sampled is not None and calibration == DEFAULT_CALIBRATION:
        calibration = replace(calibration, generator=FROM_MODEL)
    samples = make_samples(calibration, model.inputs, model.sampled, model.own)
    model.calibrated_by[:] = [samples_sha256(samples)]
    return samples


def quantize(
    model: Model,
    quantization: dict[str, Any] | None,
    calibration: InputSet,
    post_lowering: PostLowering = NO_POST_LOWERING,
) -> Quantized:
    """Applies a quantization; None leaves the model as it is.

    `post_lowering`: the quantizations of lowered programs, which wait for the lowering.

    Raises:
        RequestError: an unknown flow or option.
        Unsupported: the flow declares that it does not do this.
    """
    if quantization is None:
        return Quantized(model.module, model.inputs, model.example)
    options = dict(quantization)
    flow = str(options.pop("flow", None))
    if flow in post_lowering:
        return _postpone(model, post_lowering[flow], options, calibration)
    if flow not in _FLOWS:
        raise RequestError(unknown_name("quantization flow", flow, (*_FLOWS, *post_lowering)))
    with kept_buffers(model.module):  # A graph of the module may share them.
        return _FLOWS[flow](model, options, calibration)


def run_stage(
    model: Model,
    quantization: dict[str, Any] | None,
    calibration: InputSet,
    stages: StageLog,
    post_lowering: PostLowering,
) -> Quantized:
    """Runs `quantize` as a stage of a job; one of a lowered program has its stage later."""
    if (quantization or {}).get("flow") in post_lowering:
        return quantize(model, quantization, calibration, post_lowering)
    with stages.stage("quantize"):
        return quantize(model, quantization, calibration, post_lowering)


def _postpone(
    model: Model,
    flow: PostLoweringQuantization,
    options: dict[str, Any],
    calibration: InputSet,
) -> Quantized:
    """Leaves the model as it is and keeps the function that quantizes the lowered program."""
    flow.check_options(options)

    def quantize_lowered(lowered: Any, feed: Callable[[Sample], Sample] = tuple) -> Any:
        samples = [feed(sample) for sample in calibration_samples(model, calibration)]
        return flow.apply(lowered, options, samples)

    return Quantized(model.module, model.inputs, model.example, quantize_lowered)


def _pt2e(model: Model, options: dict[str, Any], calibration: InputSet) -> Quantized:
    """Post-training quantization of the exported graph, calibrated batch by batch."""
    from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e

    # Arm's quantizers refuse the call of guards that a graph begins with.
    keeps_guards = options.get("quantizer") not in (arm.NAME, arm.CORTEX_M)
    quantizer = _quantizer(options)
    graph = _capture(model, keeps_guards=keeps_guards)

    def calibrate(graph: torch.fx.GraphModule) -> torch.nn.Module:
        prepared = prepare_pt2e(graph, quantizer)
        with torch.no_grad():
            for batch in calibration_samples(model, calibration):
                prepared(*batch)
        converted: torch.nn.Module = convert_pt2e(prepared)
        return converted

    return Quantized(_quantize_graph(graph, calibrate), model.inputs, model.example)


def _quantize_graph(
    graph: torch.fx.GraphModule, change: Callable[[torch.fx.GraphModule], torch.nn.Module]
) -> torch.nn.Module:
    """The graph as `change` quantized it: in the state that it was in, with weights that hold."""
    weights, state = hold_weights(graph), copy_state(graph)
    quantized = change(graph)
    restore_state(quantized, state)
    weights.check(quantized)
    return quantized


def _capture(model: Model, *, keeps_guards: bool = True) -> torch.fx.GraphModule:
    if model.exported is not None:
        module: Any = model.exported.module(check_guards=keeps_guards)
        return module
    with torch.no_grad():
        shapes = dynamic_shapes(model.module, model.sampled)
        exported = torch.export.export(model.module, model.example, dynamic_shapes=shapes)
        # A sample beyond the bounds of an open size has an answer, too: eager gives one.
        return exported.module(check_guards=keeps_guards and shapes is None)


def _quantizer(options: dict[str, Any]) -> Any:
    """The quantizer that options name, or "package.module:Class", with its arguments."""
    name = options.pop("quantizer", "xnnpack")
    if name in _QUANTIZERS:
        return _QUANTIZERS[name](options)
    if ":" in name:
        return import_object(name)(**options)
    raise RequestError(unknown_name("quantizer", name, (*_QUANTIZERS, "package.module:Class")))


def _xnnpack_quantizer(options: dict[str, Any]) -> Any:
    from executorch.backends.xnnpack.quantizer.xnnpack_quantizer import (
        XNNPACKQuantizer,
        get_symmetric_quantization_config,
    )

    known = ["is_per_channel", "is_dynamic", "act_qmin", "act_qmax", "weight_qmin", "weight_qmax"]
    check_keys("option of the xnnpack quantizer", options, known)
    return XNNPACKQuantizer().set_global(get_symmetric_quantization_config(**options))


_QUANTIZERS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "xnnpack": _xnnpack_quantizer,
    qnn.NAME: qnn.make_quantizer,
    arm.NAME: arm.make_quantizer,
    arm.CORTEX_M: arm.make_cortex_m_quantizer,
}


def _torchao(model: Model, options: dict[str, Any], calibration: InputSet) -> Quantized:
    """Torchao's quantize_: weights of linear layers, before export."""
    from torchao.quantization import quantize_
    from torchao.utils import unwrap_tensor_subclass

    if model.exported is not None:
        raise Unsupported("torchao quantizes modules; an exported program has none left")
    config = _torchao_config(options)
    module = copy.deepcopy(model.module)
    quantize_(module, config)
    check_linear_weights(model.module, module)
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
    samples = calibration_samples(model, calibration)
    with kept_buffers(model.module):
        module = executorch_recipes.run_quantize(recipe, model, samples)
    if isinstance(module, torch.fx.GraphModule):
        module = _quantize_graph(_capture(model), lambda _: module)
    return Quantized(module, model.inputs, model.example)


def _nncf(model: Model, options: dict[str, Any], calibration: InputSet) -> Quantized:
    """NNCF's post-training quantization of the exported graph."""
    samples = calibration_samples(model, calibration)
    module = _quantize_graph(_capture(model), lambda graph: nncf.quantize(graph, options, samples))
    return Quantized(module, model.inputs, model.example)


_FLOWS: dict[str, Callable[[Model, dict[str, Any], InputSet], Quantized]] = {
    "pt2e": _pt2e,
    "torchao": _torchao,
    "cast": _cast,
    nncf.FLOW: _nncf,
    executorch_recipes.FLOW: _native,
}
