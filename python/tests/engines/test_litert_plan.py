"""Finds what computes which operator, from nodes as LiteRT's interpreter shows them."""

from collections import Counter

from assay.toolchain.file_formats.litert_plan import read_plan


def node(name, inputs, outputs):
    return {"op_name": name, "inputs": inputs, "outputs": outputs}


CHAIN = [
    node("CONV_2D", [0, 10, 11], [1]),
    node("CUMSUM", [1], [2]),
    node("RELU", [2], [3]),
    node("ADD", [3, 1], [4]),
]
"""0 -> CONV_2D -> 1 -> CUMSUM -> 2 -> RELU -> 3 -> ADD(3, 1) -> 4; 10 and 11 are weights."""


def test_without_a_delegate_all_is_left():
    plan = read_plan(CHAIN)
    assert (plan.taken, plan.delegates) == (Counter(), 0)
    assert plan.left == Counter(CONV_2D=1, CUMSUM=1, RELU=1, ADD=1)
    assert (
        plan.to_text() == "XNNPACK took 0 of 4 operators; left: 1 ADD, 1 CONV_2D, 1 CUMSUM, 1 RELU"
    )


def test_a_delegate_has_what_lies_between_its_inputs_and_outputs():
    plan = read_plan([*CHAIN, node("DELEGATE", [2, 1], [4])])
    assert plan.taken == Counter(RELU=1, ADD=1)
    assert plan.left == Counter(CONV_2D=1, CUMSUM=1)


def test_several_delegates_are_counted_together():
    delegates = [node("DELEGATE", [0, 10, 11], [1]), node("DELEGATE", [1, 2], [4])]
    plan = read_plan([*CHAIN, *delegates])
    assert (plan.left, plan.delegates) == (Counter(CUMSUM=1), 2)
    assert plan.to_text() == "XNNPACK took 3 of 4 operators; left: 1 CUMSUM"


def test_one_delegate_may_have_all():
    plan = read_plan([*CHAIN, node("DELEGATE", [0, 10, 11], [4])])
    assert (plan.taken.total(), plan.left.total()) == (4, 0)
    assert plan.to_text() == "XNNPACK took 4 of 4 operators"


def test_without_xnnpack_what_it_was_to_take_is_left():
    from collections import Counter

    from assay.engines.litert.engine import effective_options
    from assay.toolchain.file_formats.litert_plan import Plan

    plan = Plan(Counter(), Counter({"ADD": 2}), 0)
    assert effective_options({"xnnpack": False}, plan)["operators_left"] == {"ADD": 2}
    assert "operators_left" not in effective_options({"xnnpack": True}, plan)
