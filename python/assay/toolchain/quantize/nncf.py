"""Post-training quantization by NNCF, of the exported graph: OpenVINO's own quantization.

NNCF writes quantize and dequantize into the torch graph, so that the same graph is converted for
the engine and evaluated in eager.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import torch

from assay.toolchain.errors import MissingDependency, RequestError, Unsupported
from assay.toolchain.suggest import check_keys, unknown_name
from assay.toolchain.tensors import Sample

FLOW = "nncf"
OPTIONS = ("preset", "is_per_channel", "fast_bias_correction", "model_type", "smooth_quant")
PRESETS = ("performance", "mixed")
"""`performance`: symmetric activations; `mixed`: asymmetric ones. Weights are symmetric."""

_LEFT_OUT = ("layer_norm", "group_norm")
"""NNCF quantizes the weights of these, and of a torch graph cuts positive ones to half: it finds
them unsigned, up to 255, and writes them as int8. They are a few bytes, and compute in float."""


def quantize(
    graph: torch.fx.GraphModule, options: Mapping[str, Any], samples: Sequence[Sample]
) -> torch.nn.Module:
    """The graph with quantize and dequantize in it, calibrated by all of `samples`.

    Raises:
        RequestError: an unknown option or value.
        MissingDependency: NNCF is not installed.
        Unsupported: NNCF does not understand the graph.
    """
    check_keys("option of nncf", options, OPTIONS)
    preset = str(options.get("preset", "performance"))
    if preset not in PRESETS:
        raise RequestError(unknown_name("preset of nncf", preset, PRESETS))
    try:
        import nncf
    except ImportError as error:
        raise MissingDependency(f"this quantization needs nncf: {error}") from error
    model_type = nncf.ModelType.TRANSFORMER if options.get("model_type") == "transformer" else None
    try:
        quantized: torch.nn.Module = nncf.quantize(
            graph,
            nncf.Dataset(list(samples)),
            preset=nncf.QuantizationPreset(preset),
            subset_size=len(samples),
            fast_bias_correction=bool(options.get("fast_bias_correction", True)),
            model_type=model_type,
            ignored_scope=nncf.IgnoredScope(types=list(_LEFT_OUT), validate=False),
            advanced_parameters=_advanced(options),
        )
    except TypeError as error:
        raise Unsupported(
            "NNCF cannot quantize this graph, as it cannot those of recurrent layers, whose "
            f"operators give several tensors; take a recipe of another engine ({error})"
        ) from error
    return quantized


def _advanced(options: Mapping[str, Any]) -> Any:
    from nncf.quantization.advanced_parameters import (
        AdvancedQuantizationParameters,
        AdvancedSmoothQuantParameters,
        QuantizationParameters,
    )

    is_per_channel = bool(options.get("is_per_channel", True))
    smoothing = AdvancedSmoothQuantParameters()
    if not options.get("smooth_quant", True):
        smoothing = AdvancedSmoothQuantParameters(convolution=-1, matmul=-1)  # No strength: off.
    return AdvancedQuantizationParameters(
        weights_quantization_params=QuantizationParameters(per_channel=is_per_channel),
        smooth_quant_alphas=smoothing,
    )
