"""What this package adds to Assay: recipes. Named by the entry point group `assay.plugins`."""

_PARTITIONER = "fixedpoint.partitioner:FixedPointPartitioner"

recipes = [
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
        "lowering": {"partitioner": _PARTITIONER, "options": {}},
        "produces": "pte",
    },
]
