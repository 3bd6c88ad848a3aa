import pytest
import torch

from assay.conformance.calls import tensor_from_json
from assay.conformance.controls import (
    detects_wrong_output,
    expected_bounds,
    is_broken,
    smallest_sample_count,
)
from assay.conformance.listing import operator_cases
from assay.conformance.values import draw_tensor
from assay.toolchain.sampled_model import Bound

QUICK = [case for case in operator_cases() if case.tier == "quick" and not case.refuses]


@pytest.mark.slow
def test_a_wrong_answer_to_any_quick_case_would_show():
    blind = [
        case.name
        for case in QUICK
        if not detects_wrong_output(
            expected_bounds(case.model["ref"], case.model["args"], case.inputs["count"])
        )
    ]
    assert blind == []


def bound(*expected, limit=0.0, constant=False):
    values = torch.tensor(expected, dtype=torch.float64)
    return Bound(
        values, torch.full(values.shape, limit, dtype=torch.float64), {"constant": constant}
    )


@pytest.mark.parametrize(
    ("samples", "tells"),
    [
        ([bound(1.0, 2.0), bound(3.0, 4.0)], True),
        ([bound(1.0, 2.0), bound(1.0, 2.0)], False),
        ([bound(1.0, 2.0, constant=True), bound(1.0, 2.0, constant=True)], True),
        ([bound(0.0), bound(0.0)], False),
        ([bound(0.0, constant=True), bound(0.0, constant=True)], True),
        ([bound(1.0, 2.0, limit=9.0), bound(3.0, 4.0, limit=9.0)], False),
        ([bound(torch.inf, 0.0), bound(0.0, torch.nan)], True),
        ([bound(torch.inf), bound(torch.nan)], True),
        ([bound(), bound()], True),
    ],
)
def test_controls_are_those_of_an_evaluation(samples, tells):
    assert detects_wrong_output([[one] for one in samples]) is tells


def test_special_values_are_right_in_their_place_only():
    assert not is_broken(torch.tensor([torch.nan, 1.0]), bound(torch.nan, 1.0))
    assert is_broken(torch.tensor([1.0, torch.nan]), bound(torch.nan, 1.0, limit=9.0))
    assert not is_broken(torch.tensor([5.0]), bound(1.0, limit=torch.inf))


def test_a_case_gets_as_many_samples_as_it_takes():
    scalar = {"shape": [], "dtype": "float32", "order": "coarse"}
    assert smallest_sample_count("aten:eq.Scalar", {"args": [scalar, 0]}, (1, 24)) == 24
    assert smallest_sample_count("aten:eq.Scalar", {"args": [scalar, 9]}, (3, 24)) is None


@pytest.mark.parametrize("dtype", ["float32", "int8", "bool"])
def test_no_reduction_of_varied_values_is_alike_in_three_samples(dtype):
    one = tensor_from_json({"shape": [4, 16], "dtype": dtype, "order": "varied"})
    drawn = [draw_tensor(one, seed=1, sample=k, place=0) for k in range(3)]
    assert [bool(x.any()) for x in drawn] == [False, True, True]
    assert [bool(x.all()) for x in drawn] == [False, False, True]
    assert len({float(x.double().sum()) for x in drawn}) == 3


def test_half_of_the_numbers_are_trues():
    for dtype in ("float32", "int32"):
        one = tensor_from_json({"shape": [4, 6], "dtype": dtype, "order": "trues"})
        counts = {int((draw_tensor(one, seed=1, sample=k, place=0) != 0).sum()) for k in range(4)}
        assert counts == {12}


def test_few_distinct_values_are_other_ones_in_other_samples():
    one = tensor_from_json({"shape": [1], "dtype": "float32", "order": "distinct"})
    assert len({float(draw_tensor(one, seed=1, sample=k, place=0)) for k in range(6)}) > 2


def test_a_domain_of_floats_has_the_whole_numbers_around_it():
    def values(dtype, low, high):
        one = tensor_from_json({"shape": [200], "dtype": dtype, "low": low, "high": high})
        return set(draw_tensor(one, seed=1, sample=0, place=0).tolist())

    assert values("int32", -0.95, 0.95) == {-1, 0, 1}
    assert values("uint8", -0.95, 0.95) == {0, 1}
    assert values("int64", 2, 5) == {2, 3, 4}
