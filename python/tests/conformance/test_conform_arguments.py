"""Whether a backend that ignores an argument would be found."""

import pytest
import torch

from assay.conformance.argument_calls import add_argument_calls, is_copy_call, look_at_arguments
from assay.conformance.argument_faults import UNCHANGED, Fault, Witness, find_exception
from assay.conformance.case import operator_case
from assay.conformance.controls import unchanged_passes
from assay.conformance.listing import operator_cases
from assay.conformance.recorded_calls import RecordedCall, read_calls
from assay.toolchain.sampled_model import Bound

ROWS = read_calls()
X = {"shape": [3, 4], "dtype": "case"}


def row(operator, name, *args, **kwargs):
    return RecordedCall(operator, name, {"args": list(args), "kwargs": kwargs}, ("float32",))


def witness(one):
    return Witness(one, "float32", "normal", 3)


def test_a_call_shows_an_argument_that_changes_its_answer():
    scaled = witness(row("aten.add.Tensor", "a", X, X, alpha=2))
    assert scaled.look(Fault("alpha", 1)) == "shown"
    assert scaled.look(Fault("alpha", 2)) == "given"
    plain = witness(row("aten.add.Tensor", "b", X, X))
    assert plain.look(Fault("alpha", 1)) == "given"


def test_a_call_of_one_element_hides_what_it_sums_over():
    one = witness(row("aten.sum.dim_IntList", "a", {"shape": [1, 1], "dtype": "case"}, [0], True))
    assert one.look(Fault("dim", [1])) == "hidden"
    assert one.look(Fault("keepdim", False)) == "shown"


def test_a_shift_by_nothing_is_a_copy():
    assert is_copy_call(row("aten.roll.default", "a", X, [0], [0]), "float32", "normal")
    assert not is_copy_call(row("aten.roll.default", "b", X, [1], [0]), "float32", "normal")


def test_a_value_that_eager_refuses_is_no_fault():
    assert witness(row("aten.chunk.default", "a", X, 2)).look(Fault("chunks", 0)) == "refused"


def test_the_recorder_finds_the_call_that_shows_an_argument():
    shown = look_at_arguments("aten.amax.default", [row("aten.amax.default", "amax-0", X)])
    assert shown.missing == []
    assert [one.name for one in shown.rows] == ["amax-0-dim", "amax-0-keepdim"]
    assert {fault for faults in shown.by_row.values() for fault in faults} >= {
        "dim is []",
        "keepdim is False",
        UNCHANGED,
    }


def test_the_recorder_names_what_no_call_shows():
    kept, missing = add_argument_calls([row("aten.expand.default", "a", X, [3, 4])])
    assert UNCHANGED in missing["aten.expand.default"] or len(kept) > 1


def test_a_copy_says_so_in_its_model():
    copied = RecordedCall(
        "aten.roll.default", "a", {"args": [X, [0], [0]], "kwargs": {}}, copies=("float32",)
    )
    assert operator_case(copied, "float32", "normal").model["args"]["unchanged"] is True
    assert "unchanged" not in operator_case(copied, "int8", "normal").model["args"]


@pytest.mark.parametrize(("limit", "passes"), [(0.0, False), (0.5, True)])
def test_an_input_is_held_against_the_bounds(limit, passes):
    x = torch.tensor([1.0, 2.0])
    near = Bound(x.double() + 0.25, torch.full((2,), limit, dtype=torch.float64), {})
    assert unchanged_passes([(x,)], [[near]]) is passes


def test_no_operator_passes_as_a_copy_but_those_that_copy():
    """In the shipped file, the identity fails a case of each other operator."""
    shown = {one.operator for one in ROWS if UNCHANGED in one.shows}
    excused = {one.operator for one in ROWS if find_exception(one.operator, Fault(UNCHANGED, None))}
    assert {one.operator for one in ROWS} - shown - excused == set()


def test_the_quick_case_of_an_operator_is_no_copy_where_another_is_none():
    names = {
        (case.operator, case.model["args"].get("unchanged", False))
        for case in operator_cases()
        if case.tier == "quick" and case.dtype == "float32" and not case.refuses
    }
    only_copies = {operator for operator, is_copy in names if is_copy} - {
        operator for operator, is_copy in names if not is_copy
    }
    assert all(find_exception(one, Fault(UNCHANGED, None)) for one in only_copies)


@pytest.mark.parametrize(
    ("operator", "fault"),
    [
        ("aten.add.Tensor", "alpha is 1"),
        ("aten.amax.default", "keepdim is False"),
        ("aten.slice.Tensor", "step is 1"),
        ("aten.leaky_relu.default", "negative_slope is 0.01"),
        ("aten.conv1d.default", "stride is 1"),
        ("aten.topk.default", "largest is True"),
        ("aten.roll.default", UNCHANGED),
        ("aten.tile.default", UNCHANGED),
        ("aten.nan_to_num.default", UNCHANGED),
    ],
)
def test_faults_that_once_passed_have_a_case(operator, fault):
    shown = {name for one in ROWS if one.operator == operator for name in one.shows}
    prefix = fault.split(" is ")[0]
    assert fault in shown or any(name.startswith(f"{prefix} is ") for name in shown), shown
