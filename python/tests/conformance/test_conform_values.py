import math

import pytest
import torch

from assay.conformance.calls import decode, encode, find_overload, get_tensors, tensor_from_json
from assay.conformance.operator_model import make_operator
from assay.conformance.operator_module import lay_out
from assay.conformance.values import draw_tensor, edge_values
from assay.toolchain.errors import RequestError


def spec(**document):
    return tensor_from_json({"shape": [4, 6], "dtype": "float32", **document})


def draw(one, sample=0, seed=1, **more):
    return draw_tensor(one, seed=seed, sample=sample, place=0, **more)


def test_the_same_place_has_the_same_values_and_no_other_place_has():
    assert torch.equal(draw(spec()), draw(spec()))
    others = [draw(spec(), sample=1), draw(spec(), seed=2)]
    others.append(draw_tensor(spec(), seed=1, sample=0, place=1))
    assert not any(torch.isin(other, draw(spec())).any() for other in others)


def test_a_constant_is_the_same_in_every_sample():
    one = spec(constant=True)
    assert torch.equal(draw(one, sample=0), draw(one, sample=5, seed=9))


@pytest.mark.parametrize("size", [240, 8000, 16001])
@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16", "int64", "int32"])
def test_distinct_values_stay_distinct_in_narrow_types(dtype, size):
    drawn = draw(tensor_from_json({"shape": [size, 1], "dtype": dtype, "order": "distinct"}))
    assert len(drawn.unique()) == size
    assert drawn.isfinite().all()


@pytest.mark.parametrize("dtype", ["int8", "uint8"])
def test_where_a_type_has_too_few_values_no_two_are_alike_along_a_dimension(dtype):
    drawn = draw(tensor_from_json({"shape": [16, 9, 12], "dtype": dtype, "order": "distinct"}))
    for dimension, size in enumerate(drawn.shape):
        lines = drawn.movedim(dimension, -1).reshape(-1, size)
        assert all(len(set(line)) == size for line in lines.tolist())


def test_distinct_indices_stay_within_their_range():
    drawn = draw(spec(dtype="int64", low=0, high=9, order="distinct"))
    assert all(len(set(row)) == len(row) for row in drawn.tolist())
    assert drawn.min() >= 0
    assert drawn.max() < 9


def test_half_of_a_mask_is_true_in_every_sample():
    counts = {int(draw(spec(dtype="bool", order="trues"), sample=k).sum()) for k in range(5)}
    assert counts == {12}


@pytest.mark.parametrize("dtype", ["float32", "float16", "int64", "bool"])
@pytest.mark.parametrize("order", [None, "distinct", "sorted", "away", "coarse", "varied", "trues"])
@pytest.mark.parametrize("values", ["normal", "edge"])
def test_a_scalar_has_no_dimension(dtype, order, values):
    one = tensor_from_json({"shape": [], "dtype": dtype, "order": order})
    assert draw(one, values=values).shape == ()


def test_an_empty_tensor_has_the_strides_of_torch():
    spec = tensor_from_json({"shape": [2, 0, 3], "dtype": "float32"})
    assert draw_tensor(spec, seed=0, sample=0, place=0).stride() == (3, 3, 1)


def test_values_stay_within_the_domain():
    drawn = draw(spec(low=0.05, high=8))
    assert drawn.min() >= 0.05
    assert drawn.max() <= 8
    assert draw(spec(order="away")).abs().min() >= 0.25


def test_special_values_stand_in_edge_cases_only():
    edge = draw(spec(), values="edge")
    assert edge.isnan().any()
    assert edge.isinf().any()
    assert draw(spec()).isfinite().all()
    assert {math.copysign(1, one) for one in edge_values(torch.float32) if one == 0} == {1, -1}
    denormal = min(abs(one) for one in edge_values(torch.float16) if one < 0)
    assert denormal == 2.0**-24


def test_indices_have_no_edges():
    one = spec(dtype="int64", low=0, high=3)
    assert torch.equal(draw(one, values="edge"), draw(one))


@pytest.mark.parametrize("layout", ["transposed", "gapped"])
def test_a_layout_changes_the_memory_and_not_the_values(layout):
    drawn = draw(spec())
    laid = lay_out(drawn, spec(layout=layout))
    assert torch.equal(laid, drawn)
    assert not laid.is_contiguous()


def test_channels_last_needs_four_dimensions():
    with pytest.raises(RequestError, match="needs 4 or 5"):
        spec(layout="channels_last")


@pytest.mark.parametrize("value", [1, 2.5, True, None, "floor", [1, [2]]])
def test_plain_values_stand_as_they_are(value):
    assert decode(encode(value, lambda tensor: None), lambda document: None) == value


@pytest.mark.parametrize("value", [math.inf, -math.inf, torch.float16, torch.channels_last])
def test_what_json_lacks_is_written_and_read(value):
    assert decode(encode(value, lambda tensor: None), lambda document: None) == value


def test_a_typing_error_in_a_tensor_is_named():
    with pytest.raises(RequestError, match="did you mean layout"):
        get_tensors({"args": [{"shape": [1], "dtype": "float32", "layuot": "gapped"}]})
    with pytest.raises(RequestError, match="did you mean float32"):
        tensor_from_json({"shape": [1], "dtype": "flaot32"})


def test_an_unknown_operator_is_named():
    assert str(find_overload("aten.add.Tensor")) == "aten.add.Tensor"
    with pytest.raises(RequestError, match=r"no operator aten\.ad\.Tensor"):
        find_overload("aten.ad.Tensor")
    with pytest.raises(RequestError, match="did you mean Tensor"):
        find_overload("aten.add.Tenser")


def test_a_type_among_the_arguments_widens_with_the_reference():
    args = {"args": [{"shape": [3], "dtype": "float16"}], "kwargs": {"dtype": {"torch": "float32"}}}
    model = make_operator("aten:mean.default", args)
    assert model.module(*model.make_sample(1, 0))[0].dtype == torch.float32
    assert model.float64_module(model.make_sample(1, 0)[0].double())[0].dtype == torch.float64


def test_constants_are_no_inputs():
    args = {
        "args": [
            {"shape": [2, 4], "dtype": "float32"},
            {"shape": [3, 4], "dtype": "float32", "constant": True},
        ]
    }
    model = make_operator("aten:linear.default", args)
    assert len(model.make_sample(1, 0)) == 1
    assert [name for name, _ in model.module.named_buffers()] == ["constant_1"]


def test_a_shape_that_values_decide_is_exported_in_order_of_memory():
    model = make_operator("aten:nonzero.default", {"args": [{"shape": [2, 3], "dtype": "float32"}]})
    program = torch.export.export(model.module, model.make_sample(1, 0))
    (found,) = program.module()(*model.make_sample(1, 0))
    assert found.is_contiguous()
    assert torch.equal(found, torch.nonzero(*model.make_sample(1, 0)))
