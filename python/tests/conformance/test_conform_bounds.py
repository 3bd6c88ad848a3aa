"""Eager itself must hold the bounds, and answers that are wrong must break them."""

import pytest
import torch
from conform_answers import answers_of, one_element_off, ratio_of

from assay.conformance.bounds import NO_RULE, find_rule
from assay.conformance.listing import operator_cases
from assay.conformance.operator_model import make_operator
from assay.conformance.operators import core_overloads, find_reason
from assay.toolchain.tensors import cast_sample

QUICK = [case for case in operator_cases() if case.tier == "quick"]


@pytest.fixture(scope="module")
def answers():
    return {case.name: answers_of(case) for case in QUICK}


def test_eager_holds_the_bounds_of_every_quick_case(answers):
    worst = {
        name: max(ratio_of(own, bounds) for own, bounds in found) for name, found in answers.items()
    }
    assert {name: ratio for name, ratio in worst.items() if not ratio <= 1} == {}


def test_zeros_break_the_bounds_wherever_something_else_is_expected(answers):
    blind = [
        name
        for name, ((own, bounds), _) in answers.items()
        if any(bool((bound.expected != 0).any()) for bound in bounds)
        and ratio_of([torch.zeros_like(one) for one in own], bounds) <= 1
    ]
    assert blind == []


def test_the_answer_to_another_sample_breaks_the_bounds_wherever_it_differs(answers):
    blind = [
        name
        for name, ((own, bounds), (other, _)) in answers.items()
        if any(not torch.equal(a, b) for a, b in zip(own, other, strict=True))
        and ratio_of(other, bounds) <= 1
        and not all(torch.allclose(a, b, equal_nan=True) for a, b in zip(own, other, strict=True))
    ]
    assert blind == []


def test_one_element_off_breaks_the_bounds_wherever_there_is_one(answers):
    blind = [
        name
        for name, ((own, bounds), _) in answers.items()
        if any(bool(bound.expected.isfinite().any()) for bound in bounds)
        and ratio_of(one_element_off(bounds), bounds) <= 1
    ]
    assert blind == []


def test_every_core_operator_with_cases_has_a_rule_with_a_reason():
    without = [
        name
        for name in core_overloads()
        if find_reason(name, "no_case") is None and find_rule(name) is NO_RULE
    ]
    assert without == []
    assert all(find_rule(case.operator).why for case in QUICK)


def test_an_overload_may_have_a_rule_of_its_own():
    assert find_rule("aten.div.Tensor").name == "ulp"
    assert find_rule("aten.div.Tensor_mode").name == "quotient"
    assert find_rule("aten.no_such.default") is NO_RULE


def _bounds(operator, *args, dtype="float32", **kwargs):
    given = [{**arg, "dtype": dtype} if isinstance(arg, dict) else arg for arg in args]
    model = make_operator(operator, {"args": given, "kwargs": kwargs})
    sample = model.make_sample(1, 0)
    with torch.no_grad():
        own = model.module(*sample)
        exact = model.float64_module(*cast_sample(sample, torch.float64))
    return sample, model.bound(sample, own, exact)


def test_a_sum_is_bounded_by_its_magnitudes_not_by_its_value():
    sample, (bound,) = _bounds("aten:sum.dim_IntList", {"shape": [1, 200]}, [1])
    magnitudes = sample[0].double().abs().sum()
    unit = torch.finfo(torch.float32).eps / 2
    assert unit * 200 * magnitudes < bound.limit < unit * 220 * magnitudes


def test_a_16_bit_product_of_matrices_may_be_accumulated_in_16_bits():
    (left, right), (bound,) = _bounds(
        "aten:mm.default", {"shape": [8, 64]}, {"shape": [64, 8]}, dtype="bfloat16"
    )
    answer = torch.zeros(8, 8, dtype=torch.bfloat16)
    for k in range(64):
        answer += left[:, k, None] * right[None, k]
    assert 0 < ratio_of([answer], [bound]) <= 1
    assert ratio_of([torch.zeros(8, 8)], [bound]) > 1


def test_what_overflows_the_type_is_expected_to_be_infinite():
    _, (bound,) = _bounds(
        "aten:mul.Scalar", {"shape": [4], "low": 1.0, "high": 2.0}, 1e38 * 8, dtype="float32"
    )
    assert bound.expected.isinf().all()
    assert (bound.limit == 0).all()


def test_exact_operators_are_bounded_by_nothing():
    _, (bound,) = _bounds("aten:relu.default", {"shape": [5, 5]})
    assert (bound.limit == 0).all()
    assert bound.rule["rule"] == "exact"
