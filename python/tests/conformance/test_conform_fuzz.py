import pytest
from conform_answers import answers_of, ratio_of
from hypothesis import HealthCheck, given, settings

from assay.conformance.case import operator_case
from assay.conformance.fuzz import calls, draw_cases, is_taken
from assay.conformance.listing import list_cases
from assay.conformance.recorded_calls import read_calls
from assay.toolchain.errors import RequestError

FEW = [row for row in read_calls() if row.operator in ("aten.add.Tensor", "aten.mm.default")]


def listed(seed, count=6, match=("aten.mul.*", "aten.addmm.*"), dtypes=None):
    return list_cases("operators", "fuzz", list(match), dtypes, seed=seed, count=count)["cases"]


def test_a_seed_draws_the_same_cases_and_another_draws_others():
    first = listed(1)
    assert first == listed(1)
    assert {case["name"] for case in first} != {case["name"] for case in listed(2)}


def test_operators_come_in_turn_and_in_the_types_that_are_asked_for():
    cases = listed(1, dtypes=["float16"])
    assert len(cases) == len({case["name"] for case in cases}) == 6
    assert {case["operator"].split(".")[1] for case in cases} == {"mul", "addmm"}
    assert {case["dtype"] for case in cases} == {"float16"}
    assert {case["tier"] for case in cases} == {"fuzz"}


def test_a_name_is_that_of_the_call():
    cases = draw_cases(FEW, ["float32"], 5, 4)
    again = draw_cases(FEW[:], ["float32", "int64"], 5, 12)
    models = {case.name: case.model for case in [*cases, *again]}
    assert all(case.model == models[case.name] for case in again)
    assert all("/fuzz-" in case.name for case in cases)


def test_nothing_is_drawn_of_models():
    with pytest.raises(RequestError, match="has no tier fuzz"):
        list_cases("models", "fuzz", [], None)


@settings(
    max_examples=60,
    derandomize=True,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
@given(calls())
def test_eager_holds_its_bounds_whatever_is_drawn(one):
    if is_taken(one):
        case = operator_case(one.row, one.dtype, one.values)
        for own, bounds in answers_of(case):
            assert ratio_of(own, bounds) <= 1
