"""The recipes that this package adds to Assay by the entry point group `assay.plugins`."""

from typing import Any

_PARTITIONER = "fixedpoint.partitioner:FixedPointPartitioner"
"""Integers only: an operator that is left in floating point ends the lowering with its name and the
reason, because what converts at its sides has no kernel in Assay's runner."""

recipes: list[dict[str, Any]] = [
    {
        "name": "executorch/fixedpoint-int8",
        "engine": "executorch",
        "description": "Fixed-point delegate, integers only, int8 (PT2E), weights per channel; "
        "give its runtime with --library",
        "quantization": {
            "flow": "pt2e",
            "quantizer": "fixedpoint.quantizer:FixedPointQuantizer",
            "observer": "histogram",
        },
        "lowering": {"partitioner": _PARTITIONER, "options": {"require_integer": True}},
        "produces": "pte",
    },
    {
        "name": "executorch/fixedpoint-int8x7",
        "engine": "executorch",
        "description": "Fixed-point delegate, integers only, int8 activations and weights of seven "
        "bits (PT2E) per channel: faster on AVX2 without VNNI; give its runtime with --library",
        "quantization": {
            "flow": "pt2e",
            "quantizer": "fixedpoint.quantizer:FixedPointQuantizer",
            "observer": "histogram",
            "weight_bits": 7,
        },
        "lowering": {"partitioner": _PARTITIONER, "options": {"require_integer": True}},
        "produces": "pte",
    },
    {
        "name": "executorch/fixedpoint-int8-pow2",
        "engine": "executorch",
        "description": "Fixed-point delegate in Q formats: scales are powers of two, zero points 0,"
        " requantization is a shift; give its runtime with --library",
        "quantization": {
            "flow": "pt2e",
            "quantizer": "fixedpoint.quantizer:FixedPointQuantizer",
            "observer": "histogram",
            "scales": "power_of_two",
        },
        "lowering": {
            "partitioner": _PARTITIONER,
            "options": {"bias": "int32", "require_integer": True},
        },
        "produces": "pte",
    },
    {
        "name": "executorch/fixedpoint-int16x8",
        "engine": "executorch",
        "description": "Fixed-point delegate, integers only, int16 activations and int8 weights "
        "(PT2E), weights per channel; give its runtime with --library",
        "quantization": {
            "flow": "pt2e",
            "quantizer": "fixedpoint.quantizer:FixedPointQuantizer",
            "observer": "minmax",
            "activations": "int16",
            "headroom_bits": 1,
        },
        "lowering": {"partitioner": _PARTITIONER, "options": {"require_integer": True}},
        "produces": "pte",
    },
]
