import numpy as np

from assay.engines.litert.engine import spec_from_detail


def detail(dtype, scales, zero_points, axis=0):
    return {
        "name": "y",
        "dtype": dtype,
        "shape_signature": np.array([1, 3]),
        "quantization_parameters": {
            "scales": np.array(scales, np.float32),
            "zero_points": np.array(zero_points, np.int32),
            "quantized_dimension": axis,
        },
    }


def test_integers_that_stand_for_real_values_have_their_steps():
    one = spec_from_detail(detail(np.int8, [0.5], [-3])).quantization
    assert one == {"scales": [0.5], "zero_points": [-3], "axis": -1}
    each = spec_from_detail(detail(np.int8, [0.5, 1, 2], [0, 1, 2], axis=1)).quantization
    assert each == {"scales": [0.5, 1, 2], "zero_points": [0, 1, 2], "axis": 1}


def test_what_is_no_such_integer_has_none():
    assert spec_from_detail(detail(np.int8, [], [])).quantization is None
    assert spec_from_detail(detail(np.int32, [], [])).quantization is None
    assert spec_from_detail(detail(np.float32, [0.5], [0])).quantization is None
