import json
import re
from collections import Counter
from importlib import resources

import pytest

from assay.conformance.bounds import find_rule
from assay.conformance.derived_calls import DYNAMIC
from assay.conformance.listing import list_cases, operator_cases
from assay.conformance.operators import core_overloads, find_reason
from assay.conformance.recorded_calls import DTYPES, read_calls, runs
from assay.conformance.tiers import PLAIN, names_dimension
from assay.toolchain.errors import RequestError

CASES = operator_cases()
QUICK = [case for case in CASES if case.tier == "quick"]
BUDGET = range(600, 900)


def test_names_are_unique_and_say_operator_type_and_sample():
    assert max(Counter(case.name for case in CASES).values()) == 1
    for case in CASES:
        assert re.fullmatch(r"aten\.\w+\.\w+/\w+/[\w.-]+", case.name)
        assert case.name.startswith(f"{case.operator}/{case.dtype}/")


def test_every_core_operator_has_a_quick_case_or_a_reason():
    quick = {case.operator for case in QUICK}
    coverage = list_cases("operators", "full", [], None)["coverage"]
    for row in coverage:
        assert (row["operator"] in quick) == (row["reason"] is None)
        assert (row["cases"] > 0) == (row["reason"] is None)
    assert {row["operator"] for row in coverage} >= set(core_overloads())


def test_core_operators_without_cases_are_those_that_cannot_have_one():
    without = {
        row["operator"]
        for row in list_cases("operators", "full", [], None)["coverage"]
        if not row["cases"] and find_reason(row["operator"], "no_case") is None
    }
    # One writes into an argument, the other changes the running statistics that it is given.
    assert without == {"aten.atan2.out", "aten._native_batch_norm_legit.default"}


@pytest.mark.slow
def test_eager_executes_each_recorded_call():
    plain = [row for row in read_calls() if row.values == "normal" and row.shape_class != DYNAMIC]
    assert [row.name for row in plain if not runs(row, row.dtypes[0])] == []


def test_the_quick_tier_fits_its_budget_and_touches_every_family():
    assert len(QUICK) in BUDGET
    for key in (lambda c: c.dtype, lambda c: c.shape_class, lambda c: c.values):
        everything = {(find_rule(case.operator).why, key(case)) for case in CASES}
        assert {(find_rule(case.operator).why, key(case)) for case in QUICK} == everything


def test_an_operator_stands_in_the_quick_tier_with_a_plain_shape_where_it_has_one():
    """A scalar shows the arguments of a call and hardly its arithmetic."""
    plain: dict[str, set[tuple[str, str]]] = {"quick": set(), "full": set()}
    for case in operator_cases():
        is_copy = bool(case.model["args"].get("unchanged"))
        if case.shape_class in PLAIN and case.values == "normal" and not is_copy:
            plain["quick" if case.tier == "quick" else "full"].add((case.operator, case.dtype))
    float32 = {operator for operator, dtype in plain["full"] if dtype == "float32"}
    assert float32 <= {operator for operator, _ in plain["quick"]}


@pytest.mark.parametrize("operator", ["sum.dim_IntList", "logsumexp.default", "unfold.default"])
def test_the_quick_tier_names_a_dimension_of_a_tensor_that_has_none(operator):
    some = [case for case in QUICK if case.operator == f"aten.{operator}"]
    assert any(case.shape_class == "scalar" and names_dimension(case) for case in some)


def test_types_beside_float32_are_covered():
    assert {case.dtype for case in QUICK} == set(DTYPES)


def test_a_request_chooses_by_pattern_and_type():
    found = list_cases("operators", "full", ["aten.add.*"], ["float16"])["cases"]
    assert {case["operator"] for case in found} == {"aten.add.Scalar", "aten.add.Tensor"}
    assert {case["dtype"] for case in found} == {"float16"}
    (one,) = list_cases("operators", "full", [found[0]["name"]], None)["cases"]
    assert one == found[0]


def test_a_case_is_complete_without_the_list():
    (case,) = list_cases("operators", "quick", [QUICK[0].name], None)["cases"]
    assert case["model"]["ref"].startswith("aten:")
    assert set(case["model"]["args"]) == {"args", "kwargs", "values"}


def test_what_has_no_elements_shares_programs():
    assert {case.joinable for case in QUICK if case.shape_class == "zero_size"} == {True}


def test_what_the_values_shape_is_not_joined():
    found = list_cases("operators", "full", ["aten.nonzero.*"], None)["cases"]
    assert found
    assert not any(case["joinable"] for case in found)


@pytest.mark.parametrize(
    ("suite", "tier", "dtypes", "text"),
    [
        ("operator", "quick", None, "did you mean operators"),
        ("operators", "quik", None, "did you mean quick"),
        ("operators", "quick", ["flaot32"], "did you mean float32"),
    ],
)
def test_a_typing_error_is_answered(suite, tier, dtypes, text):
    with pytest.raises(RequestError, match=text):
        list_cases(suite, tier, [], dtypes)


def test_the_operators_that_are_known_before_a_toolchain_starts_are_those_of_the_suite():
    text = resources.files("assay").joinpath("data/operators/names.json").read_text()
    assert json.loads(text)["operators"] == sorted({case.operator for case in operator_cases()})
