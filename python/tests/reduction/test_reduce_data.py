"""Elements of a tensor that are written out in a call."""

import math

import pytest
import torch

from assay.conformance.calls import tensor_from_json
from assay.conformance.values import draw_tensor
from assay.toolchain.errors import RequestError


def drawn(data, dtype="float32", shape=(2,), values="normal"):
    spec = tensor_from_json({"shape": list(shape), "dtype": dtype, "data": data})
    assert tensor_from_json(spec.to_json()).to_json() == spec.to_json()
    return draw_tensor(spec, seed=3, sample=1, place=0, values=values)


@pytest.mark.parametrize("values", ["normal", "edge"])
def test_data_is_what_is_drawn_in_every_sample(values):
    assert drawn([0.1, 7], values=values).tolist() == torch.tensor([0.1, 7.0]).tolist()


def test_what_json_lacks_has_a_name():
    found = drawn([{"number": "nan"}, {"number": "-inf"}])
    assert math.isnan(found[0])
    assert found[1] == -math.inf


def test_integers_and_truth_values_keep_their_kind():
    assert drawn([-3, 2**40], "int64").tolist() == [-3, 2**40]
    assert drawn([0, 1], "bool").tolist() == [False, True]
    assert drawn([4], "uint8", shape=()).shape == ()


def test_data_of_another_size_is_refused():
    with pytest.raises(RequestError, match="3 elements of data do not fill the shape"):
        drawn([1, 2, 3])
    with pytest.raises(RequestError, match="a number"):
        drawn([{"shape": [1], "dtype": "float32"}, 1])
